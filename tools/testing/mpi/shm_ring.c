// SPDX-License-Identifier: GPL-2.0
/*
 * A ring of ranks on one machine: the calls of libpacketway that libpwmpi needs, on
 * memory that the processes share. No module and no guest, so that libpwmpi's way of
 * meeting on a ring is tried with many ranks at full speed.
 *
 * It keeps the promises of the real one and no other: a command sees the registers of
 * one interface after another, while their owners go on storing. To be unkind, it
 * stops for a moment between two of them now and then. Processes of several jobs may be
 * at one station; leases of processes that have ended are free.
 *
 *   PW_SHM_RING	file that the ranks share, zero-filled before
 *   station	a number, or that of the rank
 *   PW_SHM_COUNT	if set, each rank prints its number of commands at the end
 *   PW_SHM_PAUSE	milliseconds: each process sleeps once, after its first question to a group
 *			with another key than that of its first one, as on a machine with other work
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <packetway.h>

#define STATIONS 64
#define BITS 20

struct shm_station {
	uint64_t reg[PACKETWAY_ATON_REGS];
	uint64_t leased[PACKETWAY_ATON_REGS];	/* of the owner, in place of those */
	uint32_t group;
	uint32_t present;
	pid_t reg_owner[PACKETWAY_ATON_REGS];	/* 0: not leased */
	pid_t bit_owner[BITS];
	struct pwl_latch latch[PACKETWAY_ATON_REGS];	/* of leased registers, under the lock */
};

/* a member that has not read its result is not in the next round: a few results suffice */
#define EPOCHS 4

struct shm_round {
	uint64_t epoch;			/* rounds that have ended */
	uint32_t arrived;
	pid_t member[STATIONS];		/* who has arrived at a station; 0: none */
	struct pwl_round what;
	uint64_t word[STATIONS][PACKETWAY_ATON_ROUND_WORDS];
	struct pwl_round result[EPOCHS];
	int err[EPOCHS];
};

struct shm {
	struct shm_round round[BITS];
	pid_t lock;			/* of all leases: who has it */
	uint32_t taken;			/* group bits that are leased */
	uint64_t key[BITS];
	struct shm_station st[STATIONS];
};

struct pwl {
	struct shm *shm;
	struct shm_station *ring, *own;
	unsigned int dice;
	unsigned long commands;
	uint64_t left[BITS];		/* number of the round that no thread waits for, 0: none */
	unsigned int tests;
	uint64_t first_key;		/* of the bits that it leases, 0: none yet */
	uint32_t later;			/* bits with another key */
};

static __thread bool nowait;		/* this thread leaves a round */

int pwl_open(struct pwl **sp, const char *dev)
{
	const char *file = getenv("PW_SHM_RING"), *rank = getenv("OMPI_COMM_WORLD_RANK");
	struct pwl *s;
	int fd;

	/* Hydra's, of MPICH */
	if (!rank)
		rank = getenv("PMI_RANK");
	if (isdigit((unsigned char)*dev))
		rank = dev;
	if (!file || !rank || atoi(rank) >= STATIONS)
		return -ENODEV;
	fd = open(file, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	s = calloc(1, sizeof(*s));
	if (!s || ftruncate(fd, sizeof(*s->shm)))
		return -ENOMEM;
	s->shm = mmap(NULL, sizeof(*s->shm), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (s->shm == MAP_FAILED)
		return -ENOMEM;
	s->ring = s->shm->st;
	s->own = &s->ring[atoi(rank)];
	s->dice = atoi(rank) + 1;
	__atomic_store_n(&s->own->present, 1, __ATOMIC_RELEASE);
	*sp = s;
	return 0;
}

static bool has(pid_t owner)
{
	return owner && (owner == getpid() || !kill(owner, 0) || errno != ESRCH);
}

/* take it from @owner, 0: it is free */
static bool take_lock(struct shm *shm, pid_t owner)
{
	return __atomic_compare_exchange_n(&shm->lock, &owner, getpid(), false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void lock(struct shm *shm)
{
	pid_t owner;

	while (!take_lock(shm, 0)) {
		/* one that was killed while it had the lock */
		owner = __atomic_load_n(&shm->lock, __ATOMIC_RELAXED);
		if (owner && !has(owner) && take_lock(shm, owner))
			return;
		sched_yield();
	}
}

static void unlock(struct shm *shm)
{
	__atomic_store_n(&shm->lock, 0, __ATOMIC_RELEASE);
}

/* what is leased: of processes that exist, but for @except; the lock is held */
static void leased(struct shm *shm, pid_t except)
{
	uint32_t taken = 0;
	pid_t *o;
	int i, k;

	for (i = 0; i < STATIONS; i++) {
		for (k = 0; k < PACKETWAY_ATON_REGS; k++) {
			o = &shm->st[i].reg_owner[k];
			if (*o && (*o == except || !has(*o)))
				*o = 0;
		}
		for (k = 0; k < BITS; k++) {
			o = &shm->st[i].bit_owner[k];
			if (*o && (*o == except || !has(*o)))
				*o = 0;
			if (*o)
				taken |= 1U << k;
		}
	}
	__atomic_store_n(&shm->taken, taken, __ATOMIC_RELEASE);
}

int pwl_lease_look(struct pwl *s, uint32_t *regs, uint32_t *group)
{
	uint32_t r = 0;
	int k;

	lock(s->shm);
	leased(s->shm, 0);
	for (k = 0; k < PACKETWAY_ATON_REGS; k++)
		if (!s->own->reg_owner[k])
			r |= 1U << k;
	if (regs)
		*regs = r;
	if (group)
		*group = ~s->shm->taken & PW_ADDR_LOGICAL_MASK;
	unlock(s->shm);
	return 0;
}

int pwl_lease(struct pwl *s, uint32_t regs, uint32_t group, uint64_t key)
{
	struct shm *shm = s->shm;
	int k, err = 0;

	lock(shm);
	leased(shm, 0);
	for (k = 0; k < PACKETWAY_ATON_REGS; k++)
		if (regs >> k & 1 && s->own->reg_owner[k] && s->own->reg_owner[k] != getpid())
			err = -EBUSY;
	for (k = 0; k < BITS; k++)
		if ((group & shm->taken) >> k & 1 &&
		    (shm->key[k] != key || s->own->bit_owner[k]))
			err = -EBUSY;
	for (k = 0; k < PACKETWAY_ATON_REGS && !err; k++) {
		if (!(regs >> k & 1) || s->own->reg_owner[k])
			continue;
		__atomic_store_n(&s->own->leased[k], 0, __ATOMIC_RELEASE);
		memset(&s->own->latch[k], 0, sizeof(s->own->latch[k]));
		__atomic_store_n(&s->own->reg_owner[k], getpid(), __ATOMIC_RELEASE);
	}
	for (k = 0; k < BITS && !err; k++) {
		if (!(group >> k & 1))
			continue;
		shm->key[k] = key;
		__atomic_store_n(&s->own->bit_owner[k], getpid(), __ATOMIC_RELEASE);
		s->first_key = s->first_key ? s->first_key : key;
		s->later = (s->later & ~(1U << k)) | (uint32_t)(key != s->first_key) << k;
	}
	leased(shm, 0);
	unlock(shm);
	return err;
}

int pwl_lease_return(struct pwl *s, uint32_t regs, uint32_t group)
{
	int k;

	lock(s->shm);
	for (k = 0; k < PACKETWAY_ATON_REGS; k++)
		if (regs >> k & 1 && s->own->reg_owner[k] == getpid())
			s->own->reg_owner[k] = 0;
	for (k = 0; k < BITS; k++)
		if (group >> k & 1 && s->own->bit_owner[k] == getpid())
			__atomic_store_n(&s->own->bit_owner[k], 0, __ATOMIC_RELEASE);
	leased(s->shm, 0);
	unlock(s->shm);
	return 0;
}

void pwl_close(struct pwl *s)
{
	if (!s)
		return;
	lock(s->shm);
	leased(s->shm, getpid());
	unlock(s->shm);
	if (getenv("PW_SHM_COUNT"))
		fprintf(stderr, "shm_ring: %lu commands\n", s->commands);
	munmap(s->shm, sizeof(*s->shm));
	free(s);
}

int pwl_map(struct pwl *s)
{
	return 0;
}

int pwl_info(struct pwl *s, struct packetway_info *info)
{
	memset(info, 0, sizeof(*info));
	info->out_addr = s->own - s->ring + 1;
	info->out_features = PACKETWAY_FEATURE_ROUND | PACKETWAY_FEATURE_NOWAIT |
			     PACKETWAY_FEATURE_LONG | PACKETWAY_FEATURE_LONG_256;
	return 0;
}

int pwl_bank(struct pwl *s, struct packetway_aton_get *bank)
{
	memset(bank, 0, sizeof(*bank));
	return 0;
}

int pwl_set(struct pwl *s, uint32_t reg, uint64_t value)
{
	bool mine = s->own->reg_owner[reg] == getpid();

	__atomic_store_n(mine ? &s->own->leased[reg] : &s->own->reg[reg], value, __ATOMIC_RELEASE);
	return 0;
}

static uint64_t operand(const struct shm_station *st, uint32_t reg)
{
	bool leased = __atomic_load_n(&st->reg_owner[reg], __ATOMIC_ACQUIRE);

	return __atomic_load_n(leased ? &st->leased[reg] : &st->reg[reg], __ATOMIC_ACQUIRE);
}

int pwl_set_group(struct pwl *s, uint32_t mask)
{
	__atomic_store_n(&s->own->group, mask, __ATOMIC_RELEASE);
	return 0;
}

static bool in_region(const struct pwl *s, const struct shm_station *st, uint32_t dst)
{
	uint32_t mask, k;

	if (!__atomic_load_n(&st->present, __ATOMIC_ACQUIRE))
		return false;
	if (!dst || dst == PACKETWAY_ATON_RING_ALL)
		return true;
	mask = __atomic_load_n(&st->group, __ATOMIC_ACQUIRE) &
	       ~__atomic_load_n(&s->shm->taken, __ATOMIC_ACQUIRE);
	for (k = 0; k < BITS; k++)
		if (dst >> k & 1 && has(__atomic_load_n(&st->bit_owner[k], __ATOMIC_ACQUIRE)))
			mask |= 1U << k;
	return dst >= PW_ADDR_LOGICAL_MIN && mask & dst & PW_ADDR_LOGICAL_MASK;
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
	case PW_ATON_OP_COUNT_LT:
		r->v2 += c->comparand < v;
		break;
	case PW_ATON_OP_COUNT_LE:
		r->v2 += c->comparand <= v;
		break;
	}
}

/* what a reduction begins with */
static uint64_t identity(const struct pwl_aton *c)
{
	uint64_t top = c->mods & PACKETWAY_ATON_SIGNED ? 1ULL << 63 : 0;

	return c->op == PW_ATON_OP_AND ? ~0ULL : c->op == PW_ATON_OP_MAX ? top :
	       c->op == PW_ATON_OP_MIN ? ~top : 0;
}

/* a station latches what passes it, if the register is leased there */
static void latch(const struct pwl *s, struct shm_station *st, const struct pwl_aton *c,
		  const struct pwl_result *before, const struct pwl_result *with)
{
	bool count = c->op >= PW_ATON_OP_COUNT_EQ;
	struct pwl_latch *l = &st->latch[c->reg];

	lock(s->shm);
	if (has(st->reg_owner[c->reg])) {
		l->op = c->op;
		l->src = s->own - s->ring + 1;
		l->counter = before->counter;
		l->before = count ? before->v2 : before->counter ? before->v1 : identity(c);
		l->with = count ? with->v2 : with->v1;
		l->runs++;
	}
	unlock(s->shm);
}

int pwl_aton_latch(struct pwl *s, uint32_t reg, struct pwl_latch *l)
{
	lock(s->shm);
	*l = s->own->latch[reg];
	unlock(s->shm);
	return l->runs != 0;
}

/* PW_SHM_PAUSE */
static void pause_once(const struct pwl *s, uint32_t dst)
{
	const char *ms = getenv("PW_SHM_PAUSE");
	static bool done;

	if (!ms || done || dst < PW_ADDR_LOGICAL_MIN || !(dst & s->later))
		return;
	done = true;
	usleep(1000 * atoi(ms));
}

int pwl_aton(struct pwl *s, const struct pwl_aton *c, struct pwl_result *r)
{
	bool prefix = c->mods & PACKETWAY_ATON_PREFIX;
	struct pwl_result before;
	uint64_t v;
	int i, at;

	s->commands++;
	memset(r, 0, sizeof(*r));
	r->user_data = c->user_data;
	/* the sender is the last one that its packet passes, but the first one of a scan */
	for (i = !prefix; i < STATIONS + !prefix; i++) {
		at = (s->own - s->ring + i) % STATIONS;
		if (!in_region(s, &s->ring[at], c->dst))
			continue;
		s->dice = s->dice * 1103515245 + 12345;
		if (!(s->dice >> 16 & 0x1f))
			sched_yield();
		v = operand(&s->ring[at], c->reg);
		/* the ring sees operand and group at once, also of one that ends meanwhile */
		if (!in_region(s, &s->ring[at], c->dst))
			continue;
		before = *r;
		step(c, v, !r->counter, r);
		if (prefix)
			latch(s, &s->ring[at], c, &before, r);
		r->counter++;
	}
	pause_once(s, c->dst);
	return 0;
}

/* as in <linux/packetway.h>; the last member to arrive computes the results of all */

static bool same(const struct pwl_round *a, const struct pwl_round *b)
{
	return a->members == b->members && a->round == b->round && a->call == b->call &&
	       a->op == b->op && a->mods == b->mods && a->count == b->count &&
	       !memcmp(a->reg, b->reg, a->count);
}

/* the round ends for all that wait in it; the lock is held */
static void end_round(struct shm_round *m, int err)
{
	m->err[m->epoch % EPOCHS] = err;
	m->arrived = 0;
	memset(m->member, 0, sizeof(m->member));
	__atomic_store_n(&m->epoch, m->epoch + 1, __ATOMIC_RELEASE);
}

/* files that have the bit; the lock is held */
static uint32_t users(struct shm *shm, uint32_t bit)
{
	uint32_t n = 0;
	int i;

	leased(shm, 0);
	for (i = 0; i < STATIONS; i++)
		n += !!shm->st[i].bit_owner[bit];
	return n;
}

/*
 * A member that was killed while it waited has left its words. If all others return the bit
 * before they come to the round, members of the next group that has the bit find them here.
 * The lock is held, and users() was asked.
 */
static void drop_dead(struct shm *shm, struct shm_round *m, uint32_t bit)
{
	int i;

	for (i = 0; i < STATIONS; i++)
		if (m->member[i] && m->member[i] != shm->st[i].bit_owner[bit]) {
			end_round(m, -EPIPE);
			return;
		}
}

static void run_round(struct pwl *s, struct shm_round *m)
{
	struct pwl_round *r = &m->what, *to = &m->result[m->epoch % EPOCHS];
	struct pwl_aton c = {
		.op = r->op, .mods = r->mods, .dst = PW_ADDR_LOGICAL_MIN | 1U << r->bit,
	};
	struct pwl_result one;
	int err = 0, i, k;

	for (i = 0; i < STATIONS; i++)
		for (k = 0; k < (int)r->count && s->ring[i].bit_owner[r->bit]; k++)
			__atomic_store_n(&s->ring[i].leased[r->reg[k]], m->word[i][k],
					 __ATOMIC_RELEASE);
	for (k = 0; k < (int)r->count; k++) {
		c.reg = r->reg[k];
		pwl_aton(s, &c, &one);
		if (one.counter != r->members)
			err = -EPIPE;
		to->word[k] = one.v1;
		to->v2[k] = one.v2;
	}
	end_round(m, err);
}

/* 0: the round has ended, or -errno; the lock is held before and after */
static int wait_round(struct pwl *s, struct shm_round *m, uint64_t epoch, uint32_t timeout_ms)
{
	struct timespec t;
	uint64_t end = 0, now;
	int spins;

	for (spins = 1; m->epoch == epoch; spins++) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		now = t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
		if (!end)
			end = now + timeout_ms;
		if (timeout_ms && now > end) {
			m->arrived--;
			m->member[s->own - s->ring] = 0;
			return -ETIMEDOUT;
		}
		if (spins % 64 == 0 && users(s->shm, m->what.bit) < m->what.members) {
			end_round(m, -EPIPE);
			break;
		}
		unlock(s->shm);
		sched_yield();
		lock(s->shm);
	}
	return 0;
}

int pwl_aton_round(struct pwl *s, struct pwl_round *r)
{
	struct shm_round *m = &s->shm->round[r->bit];
	int at = s->own - s->ring, err = 0;
	const struct pwl_round *from;
	uint64_t epoch;
	uint32_t n;

	lock(s->shm);
	n = users(s->shm, r->bit);
	drop_dead(s->shm, m, r->bit);
	epoch = m->epoch;
	if (n < r->members)
		err = -EPIPE;
	else if (m->arrived && !same(&m->what, r))
		err = -EPROTO;
	if (err) {
		if (m->arrived)
			end_round(m, err);
		unlock(s->shm);
		return err;
	}
	m->what = *r;
	memcpy(m->word[at], r->word, sizeof(r->word));
	m->member[at] = getpid();
	if (++m->arrived == r->members)
		run_round(s, m);
	else if (nowait)
		err = -EINPROGRESS;
	else
		err = wait_round(s, m, epoch, r->timeout_ms);
	if (err == -EINPROGRESS)
		s->left[r->bit] = epoch + 1;
	if (!err)
		err = m->err[epoch % EPOCHS];
	from = &m->result[epoch % EPOCHS];
	if (!err) {
		memcpy(r->word, from->word, sizeof(r->word));
		memcpy(r->v2, from->v2, sizeof(r->v2));
	}
	unlock(s->shm);
	return err;
}

int pwl_aton_round_until(struct pwl *s, struct pwl_round *r, uint64_t until)
{
	struct timespec t;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC, &t);
	now = t.tv_sec * 1000000000ULL + t.tv_nsec;
	r->timeout_ms = !until ? 0 : until > now ? (until - now) / 1000000 + 1 : 1;
	return pwl_aton_round(s, r);
}

int pwl_aton_round_start(struct pwl *s, struct pwl_round *r)
{
	int err;

	if (s->left[r->bit])
		return -EBUSY;
	nowait = true;
	err = pwl_aton_round(s, r);
	nowait = false;
	return err;
}

int pwl_aton_round_test(struct pwl *s, struct pwl_round *r)
{
	struct shm_round *m = &s->shm->round[r->bit];
	uint64_t epoch = s->left[r->bit] - 1;
	int at = epoch % EPOCHS, err;

	if (!s->left[r->bit])
		return -ENOENT;
	lock(s->shm);
	if (m->epoch == epoch && ++s->tests % 64 == 0 && users(s->shm, r->bit) < r->members)
		end_round(m, -EPIPE);
	err = m->epoch == epoch ? -EINPROGRESS : m->err[at];
	if (!err) {
		memcpy(r->word, m->result[at].word, sizeof(r->word));
		memcpy(r->v2, m->result[at].v2, sizeof(r->v2));
	}
	if (err != -EINPROGRESS)
		s->left[r->bit] = 0;
	unlock(s->shm);
	return err;
}

int pwl_aton_round_wait(struct pwl *s, struct pwl_round *r)
{
	struct timespec t;
	uint64_t start = 0, now;
	int err;

	while ((err = pwl_aton_round_test(s, r)) == -EINPROGRESS) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		now = t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
		start = start ? start : now;
		if (r->timeout_ms && now > start + r->timeout_ms)
			return -ETIMEDOUT;
		sched_yield();
	}
	return err;
}

/* as many rounds as there are steps; once the first one is complete there is no way out */
int pwl_aton_round_long(struct pwl *s, struct pwl_round *r, uint64_t *words, uint32_t count)
{
	uint64_t result[PACKETWAY_ATON_ROUND_LONG_WORDS];
	struct pwl_round step = *r;
	uint32_t at;
	int err;

	for (at = 0; at < count; at += step.count) {
		step.count = count - at < r->count ? count - at : r->count;
		do {
			memcpy(step.word, words + at, step.count * sizeof(*words));
			err = pwl_aton_round(s, &step);
		} while (err == -ETIMEDOUT && at);
		if (err)
			return err;
		memcpy(result + at, step.word, step.count * sizeof(*words));
	}
	memcpy(words, result, count * sizeof(*words));
	return 0;
}
