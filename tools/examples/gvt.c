// SPDX-License-Identifier: GPL-2.0
/*
 * Global virtual time (Time Warp): gvt STATION STATIONS STEP
 *
 * Each station simulates events, STEP apart, and has its local clock in register
 * 0: one store per event, no system call. A standing MIN keeps the global virtual
 * time in each station's mapped page: one load tells which past can be
 * forgotten. It never runs ahead of a clock and never goes back.
 */
#include "ring.h"

#define END 1000

int main(int argc, char **argv)
{
	struct pwl_aton min = { .op = PW_ATON_OP_MIN };
	uint64_t clock = 0, gvt = 0, runs, looks = 0;
	struct pwl_result res;
	struct ring r;
	int step;

	if (argc != 4 || atoi(argv[3]) < 1)
		errx(2, "usage: gvt STATION STATIONS STEP");
	join(&r, argv[1], argv[2]);
	step = atoi(argv[3]);
	check(pwl_set(r.s, 0, 0), "clock");
	meet(&r);
	check(pwl_aton_stand(r.s, &min, 1000), "standing command");

	while (gvt < END) {
		if (clock < END) {
			clock = clock + step < END ? clock + step : END;
			check(pwl_set(r.s, 0, clock), "clock");
		}
		usleep(1000);
		if (pwl_standing(r.s, &res, &runs) != 1 || res.error)
			continue;
		looks++;
		if (res.v1 < gvt)
			errx(1, "global virtual time went back from %llu to %llu",
			     (unsigned long long)gvt, (unsigned long long)res.v1);
		if (res.v1 > clock)
			errx(1, "global virtual time %llu is ahead of the clock %llu",
			     (unsigned long long)res.v1, (unsigned long long)clock);
		gvt = res.v1;
	}
	printf("clock %llu, global virtual time %llu: %s\n", (unsigned long long)clock,
	       (unsigned long long)gvt, looks ? "never ahead, never back" : "never seen");
	check(pwl_aton_unstand(r.s), "standing command");
	leave(&r);
	return 0;
}
