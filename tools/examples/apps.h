/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the applications (work, gvt, query, find) share besides ring.h: EEP
 * messages between their processes, and problems made from a seed. A program
 * called as "NAME --sequential SEED" solves the same problem alone, without a
 * station, and prints the same result; lines that begin with # say how it was
 * found and may differ.
 *
 * Messages are structures in the byte order of the machine.
 */
#ifndef APPS_H
#define APPS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "ring.h"

#define PT_APPS	1600	/* a packet type of ours; TE is the kind of message */

struct app {
	struct ring r;
	struct pwl_sock *k;
	char buf[2048];		/* of the message last received */
};

/* the next number of the sequence that begins with @seed (splitmix64) */
static inline uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* number @i of kind @kind in the problem that @seed makes */
static inline uint64_t pick(uint64_t seed, uint32_t kind, uint32_t i)
{
	return mix(mix(seed) ^ mix((uint64_t)kind << 32 | i));
}

/*
 * Arguments are STATION STATIONS SEED or --sequential SEED: returns false for the
 * latter. Else the process has joined, has leased registers 0 to @regs - 1, and
 * can send and receive.
 */
static inline bool app_start(struct app *a, int argc, char **argv, int regs, uint64_t *seed)
{
	int bytes = 8 << 20;

	if (argc == 3 && !strcmp(argv[1], "--sequential")) {
		*seed = strtoull(argv[2], NULL, 0);
		return false;
	}
	if (argc != 4)
		errx(2, "usage: %s STATION STATIONS SEED, or %s --sequential SEED", argv[0], argv[0]);
	*seed = strtoull(argv[3], NULL, 0);
	join(&a->r, argv[1], argv[2]);
	check(pwl_lease(a->r.s, (1U << regs) - 1, 0, 0), "registers");
	check(pwl_sock_open(&a->k, argv[1]), argv[1]);
	/* room for what arrives while the process does not run */
	if (setsockopt(pwl_sock_fd(a->k), SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		err(1, "receive buffer");
	return true;
}

static inline void app_end(struct app *a)
{
	leave(&a->r);
	pwl_sock_close(a->k);
}

static inline void post(struct app *a, uint32_t to, uint16_t te, const void *data, size_t len)
{
	struct pwl_eep m = { .dst = to, .pt = PT_APPS, .te = te, .data = data, .len = len };
	int e;

	do {
		e = pwl_send(a->k, &m);
		if (e == -ENOBUFS)	/* the station is full: its SAN empties it */
			usleep(1000);
	} while (e == -ENOBUFS);
	check(e, "message");
}

/* the next message of ours, at most after @ms: true. Its data are good until the next call */
static inline bool collect(struct app *a, struct pwl_eep *m, int ms)
{
	int got;

	do {
		got = pwl_recv(a->k, a->buf, sizeof(a->buf), m, ms);
		check(got, "message");
	} while (got && (m->pt != PT_APPS || m->dst != pwl_sock_addr(a->k)));
	if (!got && ms >= 100)		/* is the other one still there? */
		all_here(&a->r);
	return got;
}

static inline void post_others(struct app *a, uint16_t te, const void *data, size_t len)
{
	unsigned int i;

	for (i = 0; i < a->r.n; i++)
		if (i != a->r.place)
			post(a, a->r.addr[i], te, data, len);
}

/* takes a message of its program, at most after @ms; true: there was one */
typedef bool (*hear_fn)(void *program, int ms);

/* barrier: answers messages until all processes have called it */
static inline void serve(struct app *a, hear_fn hear, void *program)
{
	arrive(&a->r);
	while (!all_here(&a->r))
		hear(program, 5);
}

/* copy a message that is one structure */
static inline void take(const struct pwl_eep *m, void *into, size_t size)
{
	if (m->len != size)
		errx(1, "message of %zu bytes instead of %zu", m->len, size);
	memcpy(into, m->data, size);
}

#endif
