// SPDX-License-Identifier: GPL-2.0
/*
 * A ring of ranks on one machine: the calls of libpacketway that libpwmpi needs, on
 * memory that the processes share. No module and no guest, so that libpwmpi's way of
 * meeting on a ring is tried with many ranks at full speed.
 *
 * It keeps the promises of the real one and no other: a command sees the registers of
 * one interface after another, while their owners go on storing. To be unkind, it
 * stops for a moment between two of them now and then.
 *
 *   PW_SHM_RING	file that the ranks share, zero-filled before
 *   PW_SHM_COUNT	if set, each rank prints its number of commands at the end
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <packetway.h>

#define STATIONS 64
#define QUEUE 16

struct shm_station {
	uint64_t reg[PACKETWAY_ATON_REGS];
	uint32_t group;
	uint32_t present;
};

struct pwl {
	struct shm_station *ring, *own;
	struct pwl_result queue[QUEUE];
	int queued;
	unsigned int dice;
	unsigned long commands;
};

int pwl_open(struct pwl **sp, const char *dev)
{
	const char *file = getenv("PW_SHM_RING"), *rank = getenv("OMPI_COMM_WORLD_RANK");
	struct pwl *s;
	int fd;

	if (!file || !rank || atoi(rank) >= STATIONS)
		return -ENODEV;
	fd = open(file, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	s = calloc(1, sizeof(*s));
	if (!s || ftruncate(fd, STATIONS * sizeof(*s->ring)))
		return -ENOMEM;
	s->ring = mmap(NULL, STATIONS * sizeof(*s->ring), PROT_READ | PROT_WRITE, MAP_SHARED,
		       fd, 0);
	close(fd);
	if (s->ring == MAP_FAILED)
		return -ENOMEM;
	s->own = &s->ring[atoi(rank)];
	s->dice = atoi(rank) + 1;
	__atomic_store_n(&s->own->present, 1, __ATOMIC_RELEASE);
	*sp = s;
	return 0;
}

void pwl_close(struct pwl *s)
{
	if (!s)
		return;
	if (getenv("PW_SHM_COUNT"))
		fprintf(stderr, "shm_ring: %lu commands\n", s->commands);
	munmap(s->ring, STATIONS * sizeof(*s->ring));
	free(s);
}

int pwl_map(struct pwl *s)
{
	return 0;
}

int pwl_bank(struct pwl *s, struct packetway_aton_get *bank)
{
	memset(bank, 0, sizeof(*bank));
	return 0;
}

int pwl_set(struct pwl *s, uint32_t reg, uint64_t value)
{
	__atomic_store_n(&s->own->reg[reg], value, __ATOMIC_RELEASE);
	return 0;
}

int pwl_set_group(struct pwl *s, uint32_t mask)
{
	__atomic_store_n(&s->own->group, mask, __ATOMIC_RELEASE);
	return 0;
}

static bool in_region(const struct shm_station *st, uint32_t dst)
{
	if (!__atomic_load_n(&st->present, __ATOMIC_ACQUIRE))
		return false;
	return !dst || dst == PACKETWAY_ATON_RING_ALL ||
	       (dst >= PW_ADDR_LOGICAL_MIN &&
		__atomic_load_n(&st->group, __ATOMIC_ACQUIRE) & dst & PW_ADDR_LOGICAL_MASK);
}

static void step(const struct pwl_aton *c, uint64_t v, bool first, struct pwl_result *r)
{
	bool less = c->mods & PACKETWAY_ATON_SIGNED ? (int64_t)v < (int64_t)r->v1 : v < r->v1;

	switch (c->op) {
	case PW_ATON_OP_ADD:
		r->v1 += v;
		break;
	case PW_ATON_OP_AND:
		r->v1 = first ? v : r->v1 & v;
		break;
	case PW_ATON_OP_OR:
		r->v1 |= v;
		break;
	case PW_ATON_OP_MIN:
		if (first || less)
			r->v1 = v;
		break;
	case PW_ATON_OP_MAX:
		if (first || !less)
			r->v1 = v;
		break;
	case PW_ATON_OP_COUNT_EQ:
		r->v2 += v == c->comparand;
		break;
	case PW_ATON_OP_COUNT_LE:
		r->v2 += c->comparand <= v;
		break;
	}
}

int pwl_aton(struct pwl *s, const struct pwl_aton *c, struct pwl_result *r)
{
	uint64_t v;
	int i, at;

	s->commands++;
	memset(r, 0, sizeof(*r));
	r->user_data = c->user_data;
	/* the sender is the last one that its packet passes */
	for (i = 1; i <= STATIONS; i++) {
		at = (s->own - s->ring + i) % STATIONS;
		if (!in_region(&s->ring[at], c->dst))
			continue;
		s->dice = s->dice * 1103515245 + 12345;
		if (!(s->dice >> 16 & 0x1f))
			sched_yield();
		v = __atomic_load_n(&s->ring[at].reg[c->reg], __ATOMIC_ACQUIRE);
		step(c, v, !r->counter, r);
		r->counter++;
	}
	return 0;
}

int pwl_aton_submit(struct pwl *s, const struct pwl_aton *c, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n && s->queued < QUEUE; i++)
		pwl_aton(s, &c[i], &s->queue[s->queued++]);
	return i;
}

int pwl_aton_results(struct pwl *s, struct pwl_result *r, uint32_t n, int timeout_ms)
{
	if (n > (uint32_t)s->queued)
		n = s->queued;
	memcpy(r, s->queue, n * sizeof(*r));
	s->queued -= n;
	memmove(s->queue, s->queue + n, s->queued * sizeof(*r));
	return n;
}
