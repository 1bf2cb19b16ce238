// SPDX-License-Identifier: GPL-2.0
/*
 * Distributed sort: sort STATION STATIONS KEY
 *
 * One packet collects all keys in order on its way round. A station's place in
 * the ring is the number of stations with a smaller address; it takes the key
 * of that place, so that the keys lie sorted along the ring.
 */
#include "ring.h"

int main(int argc, char **argv)
{
	struct pwl_aton key = { .reg = 0 };
	struct pwl_aton before = { .op = PW_ATON_OP_COUNT_LE, .reg = 1 };
	struct packetway_info info;
	struct pwl_result res;
	uint64_t *keys;
	struct ring r;
	int n, place;

	if (argc != 4)
		errx(2, "usage: sort STATION STATIONS KEY");
	join(&r, argv[1], argv[2]);
	check(pwl_info(r.s, &info), argv[1]);
	check(pwl_set(r.s, 0, strtoull(argv[3], NULL, 0)), "key");
	check(pwl_set(r.s, 1, info.out_addr), "address");
	meet(&r);

	keys = calloc(r.n, sizeof(*keys));
	if (!keys)
		err(1, "keys");
	n = pwl_aton_sort(r.s, &key, keys, r.n, &res);
	check(n, "sort");
	/* our address <= theirs: we and those behind us */
	check(pwl_aton(r.s, &before, &res), "place");
	place = n - res.v2;
	meet(&r);
	check(pwl_set(r.s, 0, keys[place]), "key");
	printf("place %d: had %s, now %llu\n", place, argv[3], (unsigned long long)keys[place]);
	free(keys);
	leave(&r);
	return 0;
}
