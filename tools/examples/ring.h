/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the examples share: one process per station, all of them run the same
 * program. They meet on the ring itself: register 15 of each interface holds the
 * number of the meeting that its process has come to, and a count tells how many
 * have. Register 14 is for the good-bye.
 */
#ifndef RING_H
#define RING_H

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <packetway.h>

struct ring {
	struct pwl *s;
	unsigned int n;		/* processes */
	uint64_t meeting;
};

static inline void check(int e, const char *what)
{
	if (e < 0) {
		errno = -e;
		err(1, "%s", what);
	}
}

/* wait until @n interfaces have at least @least in @reg */
static inline void await(struct ring *r, uint32_t reg, uint64_t least)
{
	struct pwl_aton c = {
		.op = PW_ATON_OP_COUNT_LE,	/* comparand <= operand */
		.reg = reg,
		.mods = PACKETWAY_ATON_COMPARAND,
		.comparand = least,
		.timeout_ms = 60000,
	};
	struct pwl_result res;

	for (;;) {
		check(pwl_aton(r->s, &c, &res), "meeting");
		if (res.v2 >= r->n)
			return;
		usleep(2000);
	}
}

/* barrier: returns when all stations have called it */
static inline void meet(struct ring *r)
{
	check(pwl_set(r->s, 15, ++r->meeting), "meeting");
	await(r, 15, r->meeting);
}

static inline void join(struct ring *r, const char *station, const char *n)
{
	*r = (struct ring) { .n = atoi(n) };
	check(pwl_open(&r->s, station), station);
	check(pwl_map(r->s), "registers");
	check(pwl_set(r->s, 14, 0), station);
}

/* registers are as they were before when the last one has left */
static inline void leave(struct ring *r)
{
	meet(r);
	check(pwl_set(r->s, 14, 1), "good-bye");
	await(r, 14, 1);
	check(pwl_set(r->s, 15, 0), "good-bye");
	pwl_close(r->s);
}

#endif
