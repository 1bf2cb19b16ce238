// SPDX-License-Identifier: GPL-2.0
/*
 * Load balancing: balance STATION STATIONS LOAD
 *
 * Each station stores its load in register 0. One ADD gives every station the
 * average, one MIN the station that should get the next piece of work.
 */
#include "ring.h"

int main(int argc, char **argv)
{
	struct pwl_result sum, least;
	char addr[PWL_ADDR_STRLEN];
	struct ring r;
	uint64_t load;

	if (argc != 4)
		errx(2, "usage: balance STATION STATIONS LOAD");
	join(&r, argv[1], argv[2]);
	load = strtoull(argv[3], NULL, 0);
	check(pwl_set(r.s, 0, load), "load");
	meet(&r);

	check(pwl_aton_op(r.s, PW_ATON_OP_ADD, 0, &sum), "sum");
	check(pwl_aton_op(r.s, PW_ATON_OP_MIN, 0, &least), "least");
	printf("load %llu, average %llu.%02llu, least loaded %s with %llu: %s\n",
	       (unsigned long long)load, (unsigned long long)(sum.v1 / sum.counter),
	       (unsigned long long)(sum.v1 % sum.counter * 100 / sum.counter),
	       pwl_addr_str(least.v2, addr), (unsigned long long)least.v1,
	       load * sum.counter > sum.v1 ? "send work away" : "keep");
	leave(&r);
	return 0;
}
