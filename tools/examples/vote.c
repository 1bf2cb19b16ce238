// SPDX-License-Identifier: GPL-2.0
/*
 * Majority vote: vote STATION STATIONS BALLOT
 *
 * Two ring packets, whatever the number of stations: how often each bit is set,
 * then how many hold the value that these bits make.
 */
#include "ring.h"

int main(int argc, char **argv)
{
	struct pwl_aton c = { .reg = 0 };
	struct pwl_result res;
	struct ring r;
	uint64_t value;
	int won;

	if (argc != 4)
		errx(2, "usage: vote STATION STATIONS BALLOT");
	join(&r, argv[1], argv[2]);
	check(pwl_set(r.s, 0, strtoull(argv[3], NULL, 0)), "ballot");
	meet(&r);

	won = pwl_aton_majority(r.s, &c, &value, &res);
	check(won, "vote");
	if (won)
		printf("%llu wins with %llu of %llu\n", (unsigned long long)value,
		       (unsigned long long)res.v2, (unsigned long long)res.counter);
	else
		printf("no majority among %llu\n", (unsigned long long)res.counter);
	leave(&r);
	return 0;
}
