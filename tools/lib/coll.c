// SPDX-License-Identifier: GPL-2.0
/*
 * libpacketway: collectives among processes, one at each of some stations of a ring.
 *
 * Members meet in rounds of the kernel (PACKETWAY_IOC_ATON_ROUND): when all are there, all get
 * the results. Registers and the group bit are leased: the kernel takes a member out of the
 * group when its file is closed, however the process ends, and ends the round for the others.
 * The group has a random key that only its members ever knew, so a result of n members is of
 * all of them. The kernel compares what members call, too.
 *
 * MPI gives libpwmpi messages to agree on registers, bit and key. Here members know a name
 * and their number only. They agree on the ring, each until @limit, then all over again:
 *
 *   meet	lease a group bit with a key made of name and number. Each tries the bits in
 *		the same order, again and again, and keeps the first that it gets, so all come
 *		to the same one. A member that finds more than n there leaves for a while.
 *   lock	another bit, with the same key: one name at a time goes on.
 *   control	lease free registers, and store a word made of the name in each, from the
 *		highest to the lowest. The highest register in which all n have it is for
 *		control: it holds the word plus the number of a step. A member goes on to the next
 *		step when all have come to this one.
 *   step 1	all have stored: registers in which all n have the word are common. Some of
 *		them are kept.
 *   step 2	all know them. Each stores a random number and the group bits that are free.
 *   step 3	all have stored: the largest number and the bits that all have are read.
 *   step 4	all have read, and delete their numbers. Each leases the group bit with a key
 *		made of the number and all that was agreed on.
 *   open	all n are in that group, and have a round.
 *
 * Whatever happens on the way, a member that opens has seen n members in a group whose key
 * says that they have agreed on the same registers; and as all had deleted their numbers by
 * then, no process can join later, not even in place of a member that ends.
 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "exact.h"
#include "packetway.h"

#define SLOTS	PACKETWAY_ATON_ROUND_WORDS	/* most registers of a round */
#define LONG	PACKETWAY_ATON_ROUND_LONG_WORDS	/* most words of a long round */
#define REGS_MIN	3			/* control, number, bits of a meeting */
#define REGS_FIRST	0xfff0U		/* programs that lease none use the lowest */
#define REGS_ALL	0xfffeU		/* if there are too few */
#define BITS	20
#define LOCK_BIT	8		/* neither for meetings nor for groups */
#define OPEN_BIT	0		/* left to programs that lease none */
#define OUR_BITS	(PW_ADDR_LOGICAL_MASK & ~(1U << LOCK_BIT | 1U << OPEN_BIT))
#define MS	1000000ULL		/* nanoseconds */
#define LOCK_MS	2000			/* without the lock it takes more attempts */
#define ATTEMPT_MS	2000		/* the first one; then more */
#define TRIES	1000			/* of a command that is lost or damaged */

enum call { RANK, BARRIER, BCAST, REDUCE, REDUCE_SIGNED, FLOAT, DOUBLE, SCAN, SCAN_SIGNED };

struct pwl_coll {
	struct pwl *s;			/* NULL: it has failed */
	uint32_t n, rank, addr;
	uint32_t bit, region;
	uint32_t slots, most;		/* registers and words of a round */
	bool longs;			/* there may be more words */
	uint8_t reg[SLOTS];
	uint64_t round;
	uint64_t call;			/* what members compare */
	struct pw_exact_guess guess;	/* of sums of floating-point numbers */
	int timeout_ms;
	uint64_t deadline;		/* 0: none */
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void start_clock(struct pwl_coll *c)
{
	c->deadline = c->timeout_ms < 0 ? 0 : now() + c->timeout_ms * MS;
}

static bool expired(const struct pwl_coll *c)
{
	return c->deadline && now() >= c->deadline;
}

/* milliseconds, at least 1; 0: no limit */
static uint32_t time_left(const struct pwl_coll *c)
{
	uint64_t t = now();

	if (!c->deadline)
		return 0;
	return t >= c->deadline ? 1 : (c->deadline - t) / MS + 1;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/*
 * The @spins-th question had the wrong answer: others first. A question costs a packet, and many
 * members that ask often keep the ring from those that they wait for.
 */
static void pause_a_little(int spins)
{
	if (spins < 16)
		sched_yield();
	else
		usleep(spins < 200 ? 50 : spins < 1000 ? 200 : 1000);
}

/* a command; lost and damaged packets are sent again */
static int ask(const struct pwl_coll *c, struct pwl_aton *a, struct pwl_result *r)
{
	int tries, err = -EIO;

	for (tries = 0; tries < TRIES; tries++) {
		a->timeout_ms = time_left(c);
		err = pwl_aton(c->s, a, r);
		if (err != -EBADMSG && err != -EIO && err != -EINTR && err != -EBUSY)
			return err;
		if (expired(c))
			return -ETIMEDOUT;
		/* the ring has as many commands as it takes */
		if (err == -EBUSY)
			pause_a_little(1000);
	}
	return err;
}

/* how many of a region have this in a register; *@there: how many there are */
static int64_t count(const struct pwl_coll *c, uint32_t region, uint32_t op, uint32_t reg,
		     uint64_t comparand, uint64_t *there)
{
	struct pwl_aton a = {
		.op = op, .reg = reg, .dst = region, .mods = PACKETWAY_ATON_COMPARAND,
		.comparand = comparand,
	};
	struct pwl_result r;
	int err = ask(c, &a, &r);

	if (err)
		return err;
	*there = r.counter;
	return r.v2;
}

/* Rounds ------------------------------------------------------------------- */

/*
 * @n <= most words, results in their place. Lost and damaged packets are an error at all
 * members, which repeat the round.
 */
static int one_round(struct pwl_coll *c, uint32_t op, uint32_t mods, uint64_t *w, int n)
{
	bool is_long = n > (int)c->slots;
	struct pwl_round r = {
		.bit = c->bit, .members = c->n, .round = ++c->round, .call = c->call, .op = op,
		.mods = mods, .count = is_long ? (int)c->slots : n,
	};
	int err, tries = 0;

	memcpy(r.reg, c->reg, r.count);
	if (!is_long)
		memcpy(r.word, w, n * sizeof(*w));
	do {
		r.timeout_ms = time_left(c);
		err = is_long ? pwl_aton_round_long(c->s, &r, w, n) : pwl_aton_round(c->s, &r);
		if (err == -EBUSY)
			pause_a_little(1000);	/* the ring has as many commands as it takes */
		else if (err == -EBADMSG || err == -EIO)
			tries++;
		else if (err != -EINTR)
			break;
		if (expired(c))
			return -ETIMEDOUT;
	} while (tries < TRIES);
	if (!err && !is_long)
		memcpy(w, r.word, n * sizeof(*w));
	return err;
}

/* any number of words, results in their place */
static int exchange(struct pwl_coll *c, uint32_t op, uint32_t mods, uint64_t *w, long words)
{
	int n, err = 0;

	for (; words && !err; words -= n, w += n) {
		n = words < c->most ? words : c->most;
		err = one_round(c, op, mods, w, n);
	}
	return err;
}

/*
 * @n <= slots words; their prefixes in place. After a round the operands are in the registers of
 * all. Ranks are in the order of the ring, so rank 0 sends a command for each word, and all have
 * latched what passed them when they meet in the next round.
 */
static int scan_round(struct pwl_coll *c, uint32_t op, uint32_t mods, uint64_t *w, int n,
		      bool exclusive)
{
	struct pwl_aton a = { .op = op, .mods = mods | PACKETWAY_ATON_PREFIX, .dst = c->region };
	uint64_t all[SLOTS], nothing = 0;
	struct pwl_result r;
	struct pwl_latch l;
	int i, err;

	memcpy(all, w, n * sizeof(*w));
	err = one_round(c, op, mods, all, n);
	for (i = 0; i < n && !c->rank && !err; i++) {
		a.reg = c->reg[i];
		err = ask(c, &a, &r);
		if (!err && r.counter != c->n)
			err = -EPIPE;
	}
	if (!err)
		err = one_round(c, PW_ATON_OP_OR, 0, &nothing, 1);
	for (i = 0; i < n && !err; i++) {
		err = pwl_aton_latch(c->s, c->reg[i], &l);
		/* as many as there are ranks before this one */
		err = err < 0 ? err : l.counter == c->rank ? 0 : -EPIPE;
		w[i] = exclusive ? l.before : l.with;
	}
	return err;
}

/* all members must call the same */
static void set_call(struct pwl_coll *c, enum call call, uint32_t op, uint32_t words, uint32_t root)
{
	c->call = call | (uint64_t)op << 8 | (uint64_t)words << 16 | (uint64_t)root << 48;
}

/* -ENOTCONN: it has failed before */
static int begin(struct pwl_coll *c, enum call call, uint32_t op, uint32_t words, uint32_t root)
{
	if (!c->s)
		return -ENOTCONN;
	start_clock(c);
	set_call(c, call, op, words, root);
	return 0;
}

/* after an error the others must not wait for this member */
static int end(struct pwl_coll *c, int err)
{
	if (err) {
		pwl_close(c->s);
		c->s = NULL;
	}
	return err;
}

static bool reduces(uint32_t op)
{
	return op == PW_ATON_OP_ADD || op == PW_ATON_OP_AND || op == PW_ATON_OP_OR ||
	       op == PW_ATON_OP_MAX || op == PW_ATON_OP_MIN;
}

static int reduce(struct pwl_coll *c, enum call call, uint32_t op, uint64_t *w, uint32_t words)
{
	uint32_t mods = 0;
	int err;

	if (!reduces(op))
		return -EINVAL;
	if (call == REDUCE_SIGNED && (op == PW_ATON_OP_MAX || op == PW_ATON_OP_MIN))
		mods = PACKETWAY_ATON_SIGNED;
	err = begin(c, call, op, words, 0);
	return err ? err : end(c, exchange(c, op, mods, w, words));
}

int pwl_coll_u64(struct pwl_coll *c, uint32_t op, uint64_t *w, uint32_t words)
{
	return reduce(c, REDUCE, op, w, words);
}

int pwl_coll_i64(struct pwl_coll *c, uint32_t op, int64_t *w, uint32_t words)
{
	return reduce(c, REDUCE_SIGNED, op, (uint64_t *)w, words);
}

static int scan(struct pwl_coll *c, enum call call, uint32_t op, uint64_t *w, uint32_t words,
		bool exclusive)
{
	uint32_t mods = 0;
	int err, n;

	if (!reduces(op))
		return -EINVAL;
	if (call == SCAN_SIGNED && (op == PW_ATON_OP_MAX || op == PW_ATON_OP_MIN))
		mods = PACKETWAY_ATON_SIGNED;
	err = begin(c, call, op, words, exclusive);
	if (err)
		return err;
	for (; words && !err; words -= n, w += n) {
		n = words < c->slots ? words : c->slots;
		err = scan_round(c, op, mods, w, n, exclusive);
	}
	return end(c, err);
}

int pwl_coll_scan_u64(struct pwl_coll *c, uint32_t op, uint64_t *w, uint32_t words, int exclusive)
{
	return scan(c, SCAN, op, w, words, exclusive);
}

int pwl_coll_scan_i64(struct pwl_coll *c, uint32_t op, int64_t *w, uint32_t words, int exclusive)
{
	return scan(c, SCAN_SIGNED, op, (uint64_t *)w, words, exclusive);
}

/* words of floating-point numbers, see exact.h */
static int combine(void *c, enum pw_exact_op op, uint64_t *w, long words, bool gets)
{
	static const uint32_t ops[] = {
		[PW_EXACT_ADD] = PW_ATON_OP_ADD, [PW_EXACT_MIN] = PW_ATON_OP_MIN,
		[PW_EXACT_MAX] = PW_ATON_OP_MAX, [PW_EXACT_OR] = PW_ATON_OP_OR,
	};
	return exchange(c, ops[op], 0, w, words);
}

static int real(struct pwl_coll *c, enum call call, uint32_t op, void *x, uint32_t numbers)
{
	enum pw_exact_kind kind = call == FLOAT ? PW_EXACT_FLOAT : PW_EXACT_DOUBLE;
	int err;

	if (op != PW_ATON_OP_ADD && op != PW_ATON_OP_MAX && op != PW_ATON_OP_MIN)
		return -EINVAL;
	if (numbers > INT32_MAX / 64)
		return -EMSGSIZE;
	err = begin(c, call, op, numbers, 0);
	if (err || !numbers)
		return err;
	c->guess.room = c->most;
	err = op == PW_ATON_OP_ADD ? pw_exact_sum(kind, x, x, numbers, c->n, &c->guess, combine, c) :
				     pw_exact_extremes(kind, x, x, numbers, op == PW_ATON_OP_MAX,
						       combine, c);
	return end(c, err);
}

int pwl_coll_double(struct pwl_coll *c, uint32_t op, double *x, uint32_t numbers)
{
	return real(c, DOUBLE, op, x, numbers);
}

int pwl_coll_float(struct pwl_coll *c, uint32_t op, float *x, uint32_t numbers)
{
	return real(c, FLOAT, op, x, numbers);
}

/* a reduction by OR: the root stores its words, the others store 0 */
int pwl_coll_bcast(struct pwl_coll *c, uint32_t root, uint64_t *w, uint32_t words)
{
	int err;

	if (root >= c->n)
		return -EINVAL;
	err = begin(c, BCAST, 0, words, root);
	if (err)
		return err;
	if (c->rank != root)
		memset(w, 0, words * sizeof(*w));
	return end(c, exchange(c, PW_ATON_OP_OR, 0, w, words));
}

int pwl_coll_barrier(struct pwl_coll *c)
{
	int err = begin(c, BARRIER, 0, 0, 0);
	uint64_t nothing = 0;

	return err ? err : end(c, one_round(c, PW_ATON_OP_OR, 0, &nothing, 1));
}

uint32_t pwl_coll_rank(const struct pwl_coll *c)
{
	return c->rank;
}

uint32_t pwl_coll_size(const struct pwl_coll *c)
{
	return c->n;
}

void pwl_coll_timeout(struct pwl_coll *c, int timeout_ms)
{
	c->timeout_ms = timeout_ms;
}

void pwl_coll_close(struct pwl_coll *c)
{
	if (!c)
		return;
	pwl_close(c->s);
	free(c);
}

/* Open --------------------------------------------------------------------- */

/**
 * struct meeting - members agree on the ring
 * @c: what they agree on
 * @key: of the name and the number of members; what the meeting's bit is leased with
 * @word: likewise; step k is @word + k in the control register
 * @bit: index in the order of bits; BITS: none
 * @region: the group of that bit
 * @locked: the lock is ours
 * @regs: registers that are leased
 * @control: register for control
 * @kept: registers of the collective, the control register among them
 * @level: how often there were too few registers
 * @limit: end of the attempt
 * @why: -errno when the time is over
 * @dice: for waits
 */
struct meeting {
	struct pwl_coll *c;
	uint64_t key;
	uint64_t word;
	uint32_t bit;
	uint32_t region;
	bool locked;
	uint32_t regs;
	uint32_t control;
	uint32_t kept;
	unsigned int level;
	uint64_t limit;
	int why;
	uint64_t dice;
};

static uint64_t random_word(void)
{
	uint64_t x;

	if (getrandom(&x, sizeof(x), 0) != sizeof(x))
		x = mix(now() ^ (uint64_t)getpid() << 40);
	return x;
}

static void doze(struct meeting *m, unsigned int ms)
{
	m->dice = mix(m->dice + 0x9e3779b97f4a7c15ULL);
	usleep(1000 + m->dice % (1000 * ms));
}

/* the @i-th bit that members of this name try: high ones, programs that lease none use the low */
static uint32_t nth_bit(const struct meeting *m, uint32_t i)
{
	return (BITS - 1 - m->key % 8 + BITS - i) % BITS;
}

static void leave_bit(struct meeting *m)
{
	if (m->bit < BITS)
		pwl_lease_return(m->c->s, 0, 1U << nth_bit(m, m->bit));
	m->bit = BITS;
}

/* the first bit in the order that can be had; -EBUSY: none */
static int find_bit(struct meeting *m)
{
	uint32_t i;
	int err;

	for (i = 0; i < m->bit; i++) {
		if (!(OUR_BITS >> nth_bit(m, i) & 1))
			continue;
		err = pwl_lease(m->c->s, 0, 1U << nth_bit(m, i), m->key);
		if (err == -EBUSY)
			continue;
		if (err)
			return err;
		leave_bit(m);
		m->bit = i;
		m->region = PW_ADDR_LOGICAL_MIN | 1U << nth_bit(m, i);
	}
	return m->bit < BITS ? 0 : -EBUSY;
}

/* how many are in a group; or -errno */
static int64_t in_group(const struct pwl_coll *c, uint32_t region)
{
	struct pwl_aton a = { .op = PW_ATON_OP_OR, .dst = region };
	struct pwl_result r;
	int err = ask(c, &a, &r);

	return err ? err : (int64_t)r.counter;
}

/* until n members are at one bit */
static int meet(struct meeting *m)
{
	int err, spins;
	int64_t n;

	for (spins = 0; !expired(m->c); spins++) {
		/* a bit that comes first in the order may have become free */
		err = m->bit && spins % 8 == 0 ? find_bit(m) : 0;
		if (err && err != -EBUSY)
			return err;
		n = err ? 0 : in_group(m->c, m->region);
		if (n < 0)
			return n;
		if (n == m->c->n)
			return 0;
		if (n > m->c->n) {
			leave_bit(m);
			doze(m, 30);
			spins = -1;
			continue;
		}
		m->why = err ? -EBUSY : -ETIMEDOUT;
		if (spins < 64)
			sched_yield();
		else
			usleep(spins < 1000 ? 1000 : 5000);
	}
	return -ETIMEDOUT;
}

/* one name at a time; a bit that another program keeps is not waited for */
static int lock(struct meeting *m)
{
	uint64_t end = now() + LOCK_MS * MS;
	int err;

	while (!expired(m->c) && now() < end) {
		err = pwl_lease(m->c->s, 0, 1U << LOCK_BIT, m->key);
		m->locked = !err;
		if (err != -EBUSY)
			return err;
		doze(m, 4);
	}
	return 0;
}

/* as count() over the meeting. More than n: one has come too much, and will leave */
static int64_t count_here(const struct meeting *m, uint32_t reg, uint64_t word)
{
	uint64_t there = 0;
	int64_t n;

	while (now() < m->limit) {
		n = count(m->c, m->region, PW_ATON_OP_COUNT_EQ, reg, word, &there);
		if (n < 0 || there == m->c->n)
			return n;
		if (there < m->c->n)
			return -EAGAIN;
		pause_a_little(1000);
	}
	return -EAGAIN;
}

/*
 * Do all have this word in a register? One may be in the next step already. The next step is
 * counted first: a member that goes on in between is missed, not counted twice.
 */
static int all_have(const struct meeting *m, uint32_t reg, uint64_t word)
{
	int64_t ahead, here;

	ahead = count_here(m, reg, word + 1);
	if (ahead < 0)
		return ahead;
	here = count_here(m, reg, word);
	return here < 0 ? here : ahead + here == m->c->n;
}

/* this member is in a step; until all are */
static int step(struct meeting *m, uint64_t k)
{
	int err, spins;

	err = pwl_set(m->c->s, m->control, m->word + k);
	for (spins = 0; !err; spins++) {
		err = all_have(m, m->control, m->word + k);
		if (err)
			return err < 0 ? err : 0;
		if (now() >= m->limit)
			return -EAGAIN;
		pause_a_little(spins);
	}
	return err;
}

/* not enough registers are free at all stations: more of them in the next attempt */
static int too_few(struct meeting *m)
{
	m->why = -EBUSY;
	m->level++;
	return -EAGAIN;
}

/* lease what is free, and store the word there */
static int take_registers(struct meeting *m)
{
	uint32_t free, mask = m->level ? REGS_ALL : REGS_FIRST;
	int i, err;

	do {
		err = pwl_lease_look(m->c->s, &free, NULL);
		free &= mask;
		if (!err)
			err = free ? pwl_lease(m->c->s, free, 0, 0) : -EBUSY;
		if (err == -EBUSY)
			doze(m, 2);
	} while (err == -EBUSY && now() < m->limit);
	if (err)
		return err == -EBUSY ? too_few(m) : err;
	m->regs = free;
	for (i = PACKETWAY_ATON_REGS - 1; i >= 0 && !err; i--)
		if (free >> i & 1)
			err = pwl_set(m->c->s, i, m->word);
	return err;
}

/*
 * Is there one without this word in a register, for sure? The next step is counted last: a
 * member that goes on in between is counted twice.
 */
static int one_lacks(const struct meeting *m, uint32_t reg, uint64_t word)
{
	int64_t ahead, here;

	here = count_here(m, reg, word);
	if (here < 0)
		return here;
	ahead = count_here(m, reg, word + 1);
	return ahead < 0 ? ahead : here + ahead < m->c->n;
}

/* whether all have the word in a register, when all have stored there what they will store */
static int is_common(const struct meeting *m, uint32_t reg)
{
	int all, lacks;

	do {
		all = all_have(m, reg, m->word);
		/* a register that an interface of the ring does not have */
		if (all)
			return all == -EINVAL ? 0 : all;
		lacks = one_lacks(m, reg, m->word);
	} while (!lacks);
	return lacks < 0 ? lacks : 0;
}

/* all have stored the word in a register that this member has: one of them; -ENOENT: not yet */
static int any_common(const struct meeting *m)
{
	int i, all;

	for (i = PACKETWAY_ATON_REGS - 1; i >= 0; i--) {
		all = m->regs >> i & 1 ? all_have(m, i, m->word) : 0;
		if (all && all != -EINVAL)
			return all < 0 ? all : i;
	}
	return -ENOENT;
}

static int find_control(struct meeting *m)
{
	int reg, last, all = 0, spins = 0;

	while ((last = any_common(m)) == -ENOENT) {
		if (now() >= m->limit)
			return too_few(m);
		pause_a_little(spins++);
	}
	if (last < 0)
		return last;
	/* all members have stored it in all higher registers that they have: each gets the same answer */
	for (reg = PACKETWAY_ATON_REGS; !all && reg-- > last;)
		all = m->regs >> reg & 1 ? is_common(m, reg) : 0;
	m->control = reg;
	return all < 0 ? all : all ? 0 : -EAGAIN;
}

/* which registers the collective gets: half of the common ones; -EAGAIN: there are too few */
static int keep_registers(struct meeting *m)
{
	struct pwl_coll *c = m->c;
	uint32_t common[PACKETWAY_ATON_REGS], n = 1, want, i;
	int reg, all;

	common[0] = m->control;
	for (reg = PACKETWAY_ATON_REGS - 1; reg >= 0; reg--) {
		if (!(m->regs >> reg & 1) || reg == (int)m->control)
			continue;
		all = is_common(m, reg);
		if (all < 0)
			return all;
		if (all)
			common[n++] = reg;
	}
	if (n < REGS_MIN)
		return too_few(m);
	want = n / 2 > SLOTS ? SLOTS : n / 2 < REGS_MIN ? REGS_MIN : n / 2;
	m->kept = 0;
	for (i = 0; i < want; i++) {
		m->kept |= 1U << common[i];
		c->reg[i] = common[i];
	}
	c->slots = want;
	c->most = c->longs ? LONG : want;
	return 0;
}

/* the largest number of all members, or the bits that all have */
static int look(const struct meeting *m, uint32_t op, uint32_t reg, uint64_t *v)
{
	struct pwl_aton a = { .op = op, .reg = reg, .dst = m->region };
	struct pwl_result r;
	int err;

	do {
		err = ask(m->c, &a, &r);
		if (err)
			return err;
		*v = r.v1;
		if (r.counter == m->c->n)
			return 0;
		pause_a_little(1000);
	} while (r.counter > m->c->n && now() < m->limit);
	return -EAGAIN;
}

/* a number that only those know who are in step 3 together, and the bits that are free */
static int share_number(struct meeting *m, uint64_t *number, uint64_t *bits)
{
	struct pwl_coll *c = m->c;
	uint32_t own = c->reg[1], reg = c->reg[2], free;
	int err;

	err = pwl_lease_look(c->s, NULL, &free);
	if (!err)
		err = pwl_set(c->s, own, random_word());
	if (!err)
		err = pwl_set(c->s, reg, free & OUR_BITS);
	if (!err)
		err = step(m, 3);
	if (!err)
		err = look(m, PW_ATON_OP_MAX, own, number);
	if (!err)
		err = look(m, PW_ATON_OP_AND, reg, bits);
	if (!err)
		err = step(m, 4);
	if (!err)
		err = pwl_set(c->s, own, 0);
	if (!err)
		err = pwl_set(c->s, reg, 0);
	return err;
}

/* one of the bits; all members choose the same */
static uint32_t choose_bit(uint32_t bits, uint64_t number)
{
	uint32_t n;

	/* programs that lease none use the low ones */
	if (bits >> 10)
		bits &= ~0U << 10;
	for (n = number % __builtin_popcount(bits); n; n--)
		bits &= bits - 1;
	return __builtin_ctz(bits);
}

/* until all are in the group of the collective */
static int gather(const struct meeting *m)
{
	struct pwl_coll *c = m->c;
	bool gone = false;
	int spins = 0;
	int64_t n;

	do {
		n = in_group(c, c->region);
		if (n < 0)
			return n;
		if (n == c->n)
			return 0;
		if (gone)
			return -EAGAIN;
		/* a member leaves the meeting when all have been in the group */
		n = n < c->n ? in_group(c, m->region) : c->n;
		if (n < 0)
			return n;
		gone = n < c->n;
		pause_a_little(spins++);
	} while (now() < m->limit);
	return -EAGAIN;
}

static int agree(struct meeting *m)
{
	struct pwl_coll *c = m->c;
	uint64_t number, bits;
	uint32_t bit;
	int err;

	err = take_registers(m);
	if (!err)
		err = find_control(m);
	if (!err)
		err = step(m, 1);
	if (!err)
		err = keep_registers(m);
	if (!err)
		err = step(m, 2);
	if (!err && m->regs & ~m->kept) {
		err = pwl_lease_return(c->s, m->regs & ~m->kept, 0);
		m->regs &= m->kept;
	}
	if (!err)
		err = share_number(m, &number, &bits);
	if (err)
		return err;
	if (!bits) {
		m->why = -EBUSY;
		return -EAGAIN;
	}
	bit = choose_bit(bits, number);
	/* who has agreed on something else has another key */
	number += mix((uint64_t)m->kept << 48 | (uint64_t)m->control << 40 | bit << 20 | c->n);
	err = pwl_lease(c->s, 0, 1U << bit, mix(number) | 1);
	if (err)
		return err == -EBUSY ? -EAGAIN : err;
	c->bit = bit;
	c->region = PW_ADDR_LOGICAL_MIN | 1U << bit;
	c->round = 0;
	return gather(m);
}

/*
 * The rank: how many have a lower address. After the round the addresses are in the registers
 * of all, until all come to the next round. A round is of all members or of none: -EPIPE if one
 * has begun again, because its time was over before it saw the last one in the group.
 */
static int learn_rank(struct pwl_coll *c)
{
	uint64_t addr = c->addr, there = 0;
	int64_t n;
	int err;

	set_call(c, RANK, 0, 1, 0);
	err = one_round(c, PW_ATON_OP_MAX, 0, &addr, 1);
	if (err)
		return err;
	n = count(c, c->region, PW_ATON_OP_COUNT_LT, c->reg[0], c->addr, &there);
	if (n < 0)
		return n;
	if (there != c->n)
		return -EPIPE;
	c->rank = c->n - 1 - n;
	/* one that closes the collective at once must not be missing in the count of another */
	return one_round(c, PW_ATON_OP_OR, 0, &addr, 1);
}

/* a session with nothing leased */
static int new_session(struct pwl_coll *c, const char *station)
{
	struct packetway_info info;
	int err;

	pwl_close(c->s);
	err = pwl_open(&c->s, station);
	if (err)
		return err;
	err = pwl_map(c->s);
	/* the halves of a word one after the other: by system calls then */
	if (err == -EOPNOTSUPP)
		err = 0;
	if (!err)
		err = pwl_info(c->s, &info);
	if (err)
		return err;
	c->addr = info.out_addr;
	c->longs = info.out_features & PACKETWAY_FEATURE_LONG_256;
	return 0;
}

static int open_attempt(struct meeting *m, unsigned int attempt)
{
	struct pwl_coll *c = m->c;
	int err;

	err = meet(m);
	if (!err)
		err = lock(m);
	if (err)
		return err;
	m->limit = now() + (ATTEMPT_MS << (attempt < 3 ? attempt : 3)) * MS;
	if (c->deadline && m->limit > c->deadline)
		m->limit = c->deadline;
	err = agree(m);
	if (err)
		return err;
	leave_bit(m);
	if (m->locked)
		pwl_lease_return(c->s, 0, 1U << LOCK_BIT);
	m->why = -ETIMEDOUT;
	err = learn_rank(c);
	return err == -EPIPE ? -EAGAIN : err;
}

static int open_named(struct pwl_coll *c, const char *station, const char *name)
{
	struct meeting m = { .c = c, .key = 0xcbf29ce484222325ULL, .why = -ETIMEDOUT };
	unsigned int attempt;
	int err;

	for (; *name; name++)
		m.key = (m.key ^ (unsigned char)*name) * 0x100000001b3ULL;
	m.key = mix(m.key + c->n);
	/* room for the steps */
	m.word = mix(m.key) << 4;
	m.key |= 1;
	m.dice = random_word();
	start_clock(c);
	for (attempt = 0;; attempt++) {
		m.bit = BITS;
		m.locked = false;
		m.regs = 0;
		err = new_session(c, station);
		if (!err)
			err = open_attempt(&m, attempt);
		if (err == -ETIMEDOUT || (err == -EAGAIN && expired(c)))
			return m.why;
		if (err != -EAGAIN)
			return err;
		/* all others see that this member has left, and begin again */
		pwl_close(c->s);
		c->s = NULL;
		doze(&m, 20 << (attempt < 5 ? attempt : 5));
	}
}

int pwl_coll_open(struct pwl_coll **cp, const char *station, const char *name, uint32_t n,
		  int timeout_ms)
{
	struct pwl_coll *c;
	int err;

	*cp = NULL;
	if (!station || !name || !*name || !n || n > PW_EXACT_RANKS)
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->n = n;
	c->timeout_ms = timeout_ms;
	err = open_named(c, station, name);
	if (err) {
		pwl_close(c->s);
		free(c);
		return err;
	}
	*cp = c;
	return 0;
}
