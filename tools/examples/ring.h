/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the examples share: one process per station, all of them run the same
 * program. They lease a group of the ring, so that a command to the group leaves
 * out stations without a process, and a second program is refused. They meet on
 * the ring itself: each stores the number of the meeting that it has come to, and
 * a count tells how many have.
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

#define GROUP_BIT	(1U << 19)
#define GROUP		(PW_ADDR_LOGICAL_MIN | GROUP_BIT)
#define PLACES		64	/* most processes that places() finds */

/* leased registers; those below are the program's */
enum { R_ADDRESS = 13, R_BYE, R_MEETING };

struct ring {
	struct pwl *s;
	unsigned int n;		/* processes */
	uint64_t meeting;
	uint64_t seen;		/* processes that took part in the last command */
	uint64_t addr[PLACES];	/* of all processes in ascending order, after places() */
	unsigned int place;	/* which of these is this process */
};

static inline void check(int e, const char *what)
{
	if (e < 0) {
		errno = -e;
		err(1, "%s", what);
	}
}

static inline void set(struct ring *r, uint32_t reg, uint64_t value)
{
	check(pwl_set(r->s, reg, value), "register");
}

/* a process that ends is no longer in the group: then its part of the result is missing */
static inline struct pwl_result run_command(struct ring *r, struct pwl_aton *c)
{
	struct pwl_result res;

	c->dst = GROUP;
	c->timeout_ms = 60000;
	check(pwl_aton(r->s, c, &res), pwl_aton_op_name(c->op));
	if (res.counter < r->seen)
		errx(1, "a process has left");
	r->seen = res.counter;
	return res;
}

/* a command over the operands of all processes */
static inline struct pwl_result ask(struct ring *r, uint32_t op, uint32_t reg)
{
	struct pwl_aton c = { .op = op, .reg = reg };

	return run_command(r, &c);
}

/* v2 of the result: how many processes have at least @least in @reg */
static inline struct pwl_result count(struct ring *r, uint32_t reg, uint64_t least)
{
	struct pwl_aton c = {
		.op = PW_ATON_OP_COUNT_LE,	/* comparand <= operand */
		.reg = reg,
		.mods = PACKETWAY_ATON_COMPARAND,
		.comparand = least,
	};

	return run_command(r, &c);
}

/* wait until all processes have at least @least in @reg */
static inline void await(struct ring *r, uint32_t reg, uint64_t least)
{
	while (count(r, reg, least).v2 < r->n)
		usleep(2000);
}

/* the two halves of a barrier: what a process does between them is up to it */
static inline void arrive(struct ring *r)
{
	set(r, R_MEETING, ++r->meeting);
}

static inline int all_here(struct ring *r)
{
	return count(r, R_MEETING, r->meeting).v2 >= r->n;
}

/* barrier: returns when all processes have called it */
static inline void meet(struct ring *r)
{
	arrive(r);
	await(r, R_MEETING, r->meeting);
}

static inline void join(struct ring *r, const char *station, const char *n)
{
	struct packetway_info info;
	uint64_t key = 1;
	const char *c;

	*r = (struct ring) { .n = atoi(n) };
	if (!r->n)
		errx(2, "%s: how many stations?", n);
	for (c = __BASE_FILE__; *c; c++)	/* the key of the group says which program */
		key = key * 31 + *c;
	check(pwl_open(&r->s, station), station);
	check(pwl_map(r->s), "registers");
	check(pwl_info(r->s, &info), station);
	check(pwl_lease(r->s, 1 << R_ADDRESS | 1 << R_BYE | 1 << R_MEETING, 0, 0), "registers 13-15");
	set(r, R_ADDRESS, info.out_addr);
	check(pwl_lease(r->s, 0, GROUP_BIT, key), "group of the examples");
}

/* barrier, and the addresses of all processes in one SORT */
static inline void places(struct ring *r)
{
	struct pwl_aton c = { .reg = R_ADDRESS, .dst = GROUP, .timeout_ms = 60000 };
	uint64_t own;
	int n;

	meet(r);
	n = pwl_aton_sort(r->s, &c, r->addr, PLACES, NULL);
	check(n, "places");
	if (n != r->n)
		errx(1, "%d processes instead of %u", n, r->n);
	check(pwl_get(r->s, R_ADDRESS, &own), "address");
	while (r->addr[r->place] != own)
		r->place++;
}

/* the group stays complete until the last process has seen the last meeting */
static inline void leave(struct ring *r)
{
	struct pwl_result res;

	meet(r);
	set(r, R_BYE, 1);
	do {
		usleep(1000);
		r->seen = 0;	/* others leave, too */
		res = count(r, R_BYE, 1);
	} while (res.v2 < res.counter);
	pwl_close(r->s);
}

#endif
