// SPDX-License-Identifier: GPL-2.0
/* checkpatch-ignore: FUNCTION_ARGUMENTS (functions that dlsym() finds) */
/*
 * libpwmpi: MPI collectives on the ring, by PMPI interposition.
 *
 *   LD_PRELOAD=libpwmpi.so, with one rank per station, all on one ring
 *
 * Ranks meet in rounds (PACKETWAY_IOC_ATON_ROUND): each brings some words and waits. When
 * all are there the kernel stores the words in the operand registers of all, sends one packet
 * for each word and hands the results to all ranks.
 *
 * The registers are leased: the same numbers at all ranks of the job. Each communicator
 * leases a group bit, so that others are not in its results, and counts its own rounds. A rank
 * waits in one round at a time, so its communicators may share its registers. The kernel gives
 * leases back when a process ends, so a job starts with registers and bits that are its own.
 *
 * With MPI_THREAD_MULTIPLE, threads of a rank may be in rounds of two communicators at once.
 * So registers are not shared then: a lane of them belongs to one communicator from its first
 * collective until it is freed. MPI itself forbids two threads in one communicator. A
 * communicator that gets no lane is not on the ring. The lock is not held while a rank waits
 * for others.
 *
 * Collectives that do not wait, if one round is enough for them, leave their words in the kernel
 * (request.h). A rank may be in rounds of several communicators then; the kernel sees to it that
 * they do not use the same registers at the same time. Those of MPI_COMM_WORLD have a group bit
 * of their own: communicators that are like it share its rounds, and MPI lets ranks begin
 * collectives of two communicators that do not wait in any order. It lets them start persistent
 * collectives in any order, too, so each of these has a group bit of its own.
 *
 * The kernel compares how many interfaces took part with the ranks of the communicator. If
 * they differ, or a rank has given its bit back, one has died or its station has left. There
 * is no result then, the error handler of the communicator is called, and the ring is not used
 * again.
 *
 * All ranks must decide alike whether a collective goes to the ring. Reductions
 * have the same count, type and operation everywhere, a broadcast the same number
 * of bytes; the decision depends on nothing else. A call that MPI forbids goes to the MPI
 * library, which says what is wrong with it.
 *
 *   PW_COLL	off: nothing; probe (default): if all ranks can; force: or else abort
 *   PW_STATION	netdevice of the rank, default pw0
 *   PW_COLL_REGS	registers to lease, 4 to 14; default half of the free ones, at most 8
 *   PW_COLL_MAX	elements up to which collectives are offloaded; default: where that
 *		costs less than messages, 4096 at most
 *   PW_FLOAT	exact: sums of floating-point numbers on the ring, exact and rounded once;
 *		off: none; default: exact where the ring costs less than messages
 *   PW_BCAST_MAX	bytes up to which broadcasts are, default 64
 *   PW_COLL_LOG	file that gets a line of JSON for each communicator
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <packetway.h>

#include "exact.h"
#include "request.h"
#include "sum32.h"

#define SLOTS	PACKETWAY_ATON_ROUND_WORDS	/* most registers of a round */
#define LONG	PACKETWAY_ATON_ROUND_LONG_WORDS	/* most words of a long round */
#define REGS_MIN	4
#define REGS_MAX	14
#define REGS_DEFAULT	8	/* leaves some for other jobs */
#define BITS	20
#define OPEN_BITS	1U	/* left to programs that lease none */
#define LANE	2		/* registers of a lane */
#define LANES	(REGS_MAX / LANE)
#define SPARE_BITS	7	/* that persistent collectives leave to communicators and other jobs */
#define TRIES	32		/* another job may take what was free a moment ago */
#define LAST_LOOKS	10	/* for messages, before a rank leaves virtual time */

/*
 * A broadcast costs a packet for each word, and each rank a call for each round. Without the
 * ring each rank but the root gets one message, whatever its size. A message costs about as
 * much as four calls or packets, so the words of a round are what the ring carries with less
 * work (Documentation/networking/packetway-performance.rst).
 */
#define BCAST_MAX	64	/* bytes */

/*
 * A sum of floating-point numbers takes three words for the range and about two for each
 * number. More numbers than these cost less as messages.
 */
#define FLOAT_MAX	2

/*
 * What a message, a rank's call of a round, and a word of @n ranks cost, in tens of instructions
 * (Documentation/networking/packetway-performance.rst). Messages cost a fifth more than that: what
 * goes to the ring is to be worth it.
 */
#define MESSAGE	2600
#define CALL	700
#define WORD(n)	(140 + 6 * (n))

enum why { DONE, OFF, COMM, TYPE, PRODUCT, OP, SIZE, WRONG, FORM, WHYS };

static const char *const why_name[WHYS] = {
	"done", "not available", "communicator", "type", "operation MPI_PROD", "operation",
	"size", "arguments", "non-blocking or persistent form"
};

enum coll {
	BARRIER, BCAST, ALLREDUCE, REDUCE, REDUCE_SCATTER_BLOCK, REDUCE_SCATTER, ALLGATHER, GATHER,
	SCAN, EXSCAN, OTHER_FORM, COLLS
};

static const char *const coll_name[COLLS] = {
	"barrier", "bcast", "allreduce", "reduce", "reduce_scatter_block", "reduce_scatter",
	"allgather", "gather", "scan", "exscan", "other"
};

/* of one collective in one communicator; only its own thread is there */
struct stats {
	unsigned long count[WHYS];
	uint64_t bytes;		/* operands of those on the ring */
	uint64_t packets;	/* that this rank sent for them */
	uint64_t ns[2];		/* time in the library, on the ring */
};

/* one call */
struct call {
	struct stats *st;
	bool on;
	uint64_t start, packets;
};

/* registers of a communicator or, without threads, of all */
struct lane {
	const uint32_t *reg;
	int slots;		/* registers of a round */
	enum { TAKEN, WANTED, FREE } state;	/* of a communicator; under the lock */
};

/* a communicator on the ring */
struct ring {
	struct lane *lane;
	uint32_t region;
	int bit;		/* -1: it is not */
	int rank, n;
	struct pwl_round waits;	/* the last round that waits: what never changes is there */
	struct pw_exact_guess guess;	/* of sums of floating-point numbers */
	struct pw_queue queue;	/* collectives that do not wait */
	struct pw_persistent *persistent;	/* NULL: this is no ring of one */
	struct ring *next;	/* in pw.others, under the lock */
	struct stats st[COLLS];
};

enum op { SUM, MIN, MAX, BAND, BOR, LAND, LOR, LXOR, MINLOC, MAXLOC, OPS };

/* a part of a pair */
struct part {
	int at, size;
	bool real;		/* a floating-point number; else an integer with a sign */
};

/* a type for MINLOC and MAXLOC */
struct pair {
	MPI_Datatype t;
	struct part value, index;
	int extent;
	unsigned int ops;
};

static struct {
	struct pwl *s;
	pthread_mutex_t lock;	/* of s and the states of lanes */
	_Atomic bool on;
	bool threads;		/* a rank has MPI_THREAD_MULTIPLE */
	bool longs;		/* rounds may have more words than registers */
	const char *reason;	/* why it is not on */
	int rank, n;
	int keyval;		/* MPI_Comm: struct ring */
	struct ring world;
	struct ring later;	/* the world's collectives that do not wait */
	struct ring none;	/* counts of communicators that were never asked for a bit */
	struct ring *others;	/* communicators that are not freed */
	struct persistent *persistent;
	const char *log;
	int lanes;
	struct lane lane[LANES];
	uint32_t reg[REGS_MAX];
	long max, bcast_max, float_max;
	bool by_cost;		/* of any size that costs less on the ring */
	MPI_Comm quiet;		/* what is tried here calls no error handler of the program */
	bool allreduce_alias, reduce_alias;	/* it takes one buffer for both */
	pid_t pid;		/* of the process that the library was loaded into */
	bool force;
	bool started;		/* MPI_Init was intercepted */
	bool ending;		/* no message is under way, and none will be */
	_Atomic unsigned long count[WHYS];
	int ntypes;
	struct {
		MPI_Datatype t;
		int size;
		bool sign;
		unsigned int ops;	/* bit i: this MPI has ops[i] for it */
		uint64_t truth;		/* what it stores for true */
	} type[48];
	int npairs;
	struct pair pair[16];
	int nfloats;
	struct {
		MPI_Datatype t;
		enum pw_exact_kind kind;
		int parts;	/* 2: complex */
	} floats[16];
} pw = { .none.bit = -1, .later.bit = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

static __thread uint64_t packets;	/* that this thread sent */

static MPI_Op mpi_op(enum op op)
{
	/* handles are no constants in all MPIs */
	const MPI_Op ops[OPS] = {
		[SUM] = MPI_SUM, [MIN] = MPI_MIN, [MAX] = MPI_MAX, [BAND] = MPI_BAND,
		[BOR] = MPI_BOR, [LAND] = MPI_LAND, [LOR] = MPI_LOR, [LXOR] = MPI_LXOR,
		[MINLOC] = MPI_MINLOC, [MAXLOC] = MPI_MAXLOC,
	};

	return ops[op];
}

/* OPS: not one of those */
static enum op search_op(MPI_Op op)
{
	enum op i;

	for (i = 0; i < OPS && mpi_op(i) != op; i++)
		;
	return i;
}

static inline enum op which_op(MPI_Op op)
{
	/* a collective asks several times, and the next one is often like it */
	static __thread struct { bool known; MPI_Op op; enum op i; } last;

	if (last.known && last.op == op)
		return last.i;
	last.i = search_op(op);
	last.op = op;
	last.known = true;
	return last.i;
}

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void give_up(const char *what, int err)
{
	fprintf(stderr, "pwmpi: rank %d: %s: %s\n", pw.rank, what, strerror(-err));
	PMPI_Abort(MPI_COMM_WORLD, 1);
}

/* a command; lost and damaged packets are sent again */
static int try_command(const struct pwl_aton *c, struct pwl_result *r)
{
	int tries, err = 0;

	for (tries = 0; tries < 1000; tries++) {
		pthread_mutex_lock(&pw.lock);
		packets++;
		err = pwl_aton(pw.s, c, r);
		pthread_mutex_unlock(&pw.lock);
		if (err != -EBADMSG && err != -EIO && err != -EINTR)
			break;
	}
	return err;
}

/* the ring has failed under a collective: what the program wants done about errors */
static int failed(MPI_Comm comm, int err)
{
	fprintf(stderr, "pwmpi: rank %d: %s\n", pw.rank, err == -EPIPE ?
		"a rank has ended, or its station has left the ring" : strerror(-err));
	pw.on = false;
	pw.reason = "a rank has left the ring, or the ring does not work";
	PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
	return MPI_ERR_OTHER;
}

/* how many of the next @words words make a round */
static int next_words(const struct ring *g, long words)
{
	int most = pw.longs ? LONG : g->lane->slots;

	return words < most ? words : most;
}

/*
 * A round in virtual time. How long a call may wait counts host time, so it does not wait: this
 * rank looks again when something has happened.
 */
static int virtual_round(struct pwl_round *r)
{
	int err = pwl_aton_round_start(pw.s, r);

	while (err == -EINPROGRESS || err == -ETIMEDOUT || err == -EINTR) {
		pw_let_messages_go();
		sched_yield();
		err = pwl_aton_round_test(pw.s, r);
	}
	return err;
}

/*
 * A round of @n words, at @long_words if that is not NULL. Lost and damaged packets come to an end
 * with the same error at all ranks, which repeat the round. 0 or -errno
 *
 * A look at the clock costs as much as the rest of this library, so a time serves several rounds.
 * If it is over before the round has ended, there is a new one.
 */
static int wait_round(struct pwl_round *r, uint64_t *long_words, int n)
{
	static __thread uint64_t until = 1;
	int err, tries = 0, busy = 0;

	do {
		err = long_words ? pwl_aton_round_long(pw.s, r, long_words, n) :
		      pw_virtual ? virtual_round(r) : pwl_aton_round_until(pw.s, r, until);
		if (!err) {
			packets += n;
			return 0;
		}
		if (err == -ETIMEDOUT) {
			pw_let_messages_go();
			until = clock_ns() + PW_ROUND_MS * 1000000ULL;
		} else if (err == -EBUSY && busy++ < 16) {
			sched_yield();	/* packets of another round need the registers */
		} else if (err == -EBUSY) {
			usleep(1000);	/* the ring has as many commands as it takes */
		} else if (err == -EBADMSG || err == -EIO) {
			tries++;
		} else if (err != -EINTR) {
			break;
		}
	} while (tries < 1000);
	return err;
}

/* as ring_round(), of more words than there are registers */
static int long_round(struct ring *g, uint64_t *w, int n, bool gets)
{
	uint64_t words[LONG];

	g->waits.count = g->lane->slots;
	/* without results they stay as they are */
	if (gets)
		return wait_round(&g->waits, w, n);
	memcpy(words, w, n * sizeof(*w));
	return wait_round(&g->waits, words, n);
}

/* what was called before comes first, at all ranks */
static inline struct pwl_round *next_round(struct ring *g, uint32_t op, uint32_t mods)
{
	struct pwl_round *r = &g->waits;

	if (g->queue.last)
		pw_request_drain(&g->queue, false);
	r->round++;
	r->op = op;
	r->mods = mods;
	return r;
}

/*
 * @n <= next_words() words in, results out in their place if this rank @gets them; 0 or -errno. Not
 * under the lock, which other threads need meanwhile.
 */
static int ring_round(struct ring *g, uint32_t op, uint32_t mods, uint64_t *w, int n, bool gets)
{
	struct pwl_round *r = next_round(g, op, mods);
	int i, err;

	if (n > g->lane->slots)
		return long_round(g, w, n, gets);
	r->count = n;
	for (i = 0; i < n; i++)
		r->word[i] = w[i];
	err = wait_round(r, NULL, n);
	for (i = 0; gets && !err && i < n; i++)
		w[i] = r->word[i];
	return err;
}

static uint64_t load(const void *p, int size, bool sign)
{
	int64_t v = 0;

	switch (size) {
	case 1:
		return sign ? (uint64_t)(int64_t)*(const int8_t *)p : *(const uint8_t *)p;
	case 2:
		return sign ? (uint64_t)(int64_t)*(const int16_t *)p : *(const uint16_t *)p;
	case 4:
		return sign ? (uint64_t)(int64_t)*(const int32_t *)p : *(const uint32_t *)p;
	default:
		memcpy(&v, p, 8);
		return v;
	}
}

static void store(void *p, int size, uint64_t v)
{
	switch (size) {
	case 1:
		*(uint8_t *)p = v;
		break;
	case 2:
		*(uint16_t *)p = v;
		break;
	case 4:
		*(uint32_t *)p = v;
		break;
	default:
		memcpy(p, &v, 8);
	}
}

/* Init ----------------------------------------------------------------------- */

/* which operations this MPI has for a type: one rank alone asks */
static unsigned int learn_ops(MPI_Datatype t, enum op first, enum op last)
{
	uint64_t in[4] = { 0 }, out[4];
	unsigned int ops = 0;
	enum op i;

	for (i = first; i <= last; i++)
		if (PMPI_Allreduce(in, out, 1, t, mpi_op(i), pw.quiet) == MPI_SUCCESS)
			ops |= 1U << i;
	return ops;
}

/*
 * Integer types, logical types and MPI_BYTE. Which operations a type has, whether it has a
 * sign and what stands for true is asked of the MPI library itself: Open MPI 4.1 compares
 * MPI_UNSIGNED_LONG as if it had a sign, and results must be the same with the ring and
 * without.
 */
static void learn_types(void)
{
	MPI_Datatype types[] = {
		MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG,
		MPI_UNSIGNED_LONG_LONG, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_SIGNED_CHAR,
		MPI_UNSIGNED_CHAR, MPI_INT8_T, MPI_UINT8_T, MPI_INT16_T, MPI_UINT16_T,
		MPI_INT32_T, MPI_UINT32_T, MPI_INT64_T, MPI_UINT64_T, MPI_INTEGER, MPI_INTEGER1,
		MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_AINT, MPI_COUNT, MPI_OFFSET,
		MPI_BYTE, MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL,
#ifdef MPI_LOGICAL1
		MPI_LOGICAL1,
#endif
#ifdef MPI_LOGICAL2
		MPI_LOGICAL2,
#endif
#ifdef MPI_LOGICAL4
		MPI_LOGICAL4,
#endif
#ifdef MPI_LOGICAL8
		MPI_LOGICAL8,
#endif
	};
	unsigned char ones[8], zeros[8];
	unsigned int k, ops;
	int i = 0, size;

	for (k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
		/* an MPI without Fortran has not all of them */
		if (types[k] == MPI_DATATYPE_NULL ||
		    PMPI_Type_size(types[k], &size) != MPI_SUCCESS || size < 1 || size > 8)
			continue;
		ops = learn_ops(types[k], SUM, LXOR);
		pw.type[i].t = types[k];
		pw.type[i].size = size;
		pw.type[i].ops = ops;
		memset(ones, 0xff, sizeof(ones));
		memset(zeros, 0, sizeof(zeros));
		if (ops & 1U << MAX) {
			PMPI_Reduce_local(ones, zeros, 1, types[k], MPI_MAX);
			pw.type[i].sign = !zeros[0];
		}
		memset(zeros, 0, sizeof(zeros));
		store(ones, size, 1);
		if (ops & 1U << LOR)
			PMPI_Reduce_local(ones, zeros, 1, types[k], MPI_LOR);
		pw.type[i++].truth = load(zeros, size, false);
	}
	pw.ntypes = i;
}

/* pairs of a value and an index, by all names that this MPI has for them */
static void learn_pairs(void)
{
	struct { short v; int i; } s;
	struct { long v; int i; } l;
	struct { float v; int i; } f;
	struct { double v; int i; } d;
	struct { int v, i; } n;
	const struct pair types[] = {
		{ MPI_2INT, { 0, 4, false }, { 4, 4, false }, sizeof(n), 0 },
		{ MPI_SHORT_INT, { 0, 2, false }, { (char *)&s.i - (char *)&s, 4, false },
		  sizeof(s), 0 },
		{ MPI_LONG_INT, { 0, sizeof(long), false }, { (char *)&l.i - (char *)&l, 4, false },
		  sizeof(l), 0 },
		{ MPI_FLOAT_INT, { 0, 4, true }, { (char *)&f.i - (char *)&f, 4, false },
		  sizeof(f), 0 },
		{ MPI_DOUBLE_INT, { 0, 8, true }, { (char *)&d.i - (char *)&d, 4, false },
		  sizeof(d), 0 },
		{ MPI_2INTEGER, { 0, 4, false }, { 4, 4, false }, 8, 0 },
		{ MPI_2REAL, { 0, 4, true }, { 4, 4, true }, 8, 0 },
		{ MPI_2DOUBLE_PRECISION, { 0, 8, true }, { 8, 8, true }, 16, 0 },
	};
	MPI_Aint low, extent;
	unsigned int i;
	int size;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		/* a Fortran compiler may have been told to use other sizes */
		if (types[i].t == MPI_DATATYPE_NULL ||
		    PMPI_Type_size(types[i].t, &size) != MPI_SUCCESS ||
		    size != types[i].value.size + types[i].index.size ||
		    PMPI_Type_get_extent(types[i].t, &low, &extent) != MPI_SUCCESS ||
		    low || extent != types[i].extent)
			continue;
		pw.pair[pw.npairs] = types[i];
		pw.pair[pw.npairs++].ops = learn_ops(types[i].t, MINLOC, MAXLOC);
	}
}

/* types of the two formats that the ring adds, by all names that this MPI has for them */
static void learn_floats(void)
{
	const struct {
		MPI_Datatype t;
		enum pw_exact_kind kind;
		int parts;
	} types[] = {
		{ MPI_FLOAT, PW_EXACT_FLOAT, 1 },
		{ MPI_DOUBLE, PW_EXACT_DOUBLE, 1 },
		{ MPI_C_FLOAT_COMPLEX, PW_EXACT_FLOAT, 2 },
		{ MPI_C_DOUBLE_COMPLEX, PW_EXACT_DOUBLE, 2 },
		{ MPI_REAL, PW_EXACT_FLOAT, 1 },
		{ MPI_DOUBLE_PRECISION, PW_EXACT_DOUBLE, 1 },
		{ MPI_COMPLEX, PW_EXACT_FLOAT, 2 },
		{ MPI_DOUBLE_COMPLEX, PW_EXACT_DOUBLE, 2 },
	};
	unsigned int i;
	int size;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i].t == MPI_DATATYPE_NULL ||
		    PMPI_Type_size(types[i].t, &size) != MPI_SUCCESS ||
		    size != types[i].parts * pw_exact_size(types[i].kind))
			continue;
		pw.floats[pw.nfloats].t = types[i].t;
		pw.floats[pw.nfloats].kind = types[i].kind;
		pw.floats[pw.nfloats++].parts = types[i].parts;
	}
}

/*
 * One buffer for operands and results is forbidden. Open MPI 4.1 takes it for some
 * collectives, and then so do we: other ranks of the same call may be on the ring.
 */
static void learn_buffers(void)
{
	int x = 1;

	pw.allreduce_alias = PMPI_Allreduce(&x, &x, 1, MPI_INT, MPI_SUM, pw.quiet) == MPI_SUCCESS;
	pw.reduce_alias = PMPI_Reduce(&x, &x, 1, MPI_INT, MPI_SUM, 0, pw.quiet) == MPI_SUCCESS;
}

/* the same random number at all ranks, not 0: what a group bit is leased with */
static uint64_t agree_key(MPI_Comm comm)
{
	uint64_t key = 0;
	int rank;

	PMPI_Comm_rank(comm, &rank);
	if (!rank && getrandom(&key, sizeof(key), 0) != sizeof(key))
		key = (uint64_t)(MPI_Wtime() * 1e9) ^ (uint64_t)getpid() << 40;
	key |= 1;
	PMPI_Bcast(&key, 1, MPI_UINT64_T, 0, comm);
	return key;
}

/* what is free at all ranks of a communicator */
static void agree_free(MPI_Comm comm, uint32_t *regs, uint32_t *bits)
{
	uint32_t free[2] = { 0, 0 };

	pthread_mutex_lock(&pw.lock);
	if (pwl_lease_look(pw.s, &free[0], &free[1]))
		memset(free, 0, sizeof(free));
	pthread_mutex_unlock(&pw.lock);
	PMPI_Allreduce(MPI_IN_PLACE, free, 2, MPI_UINT32_T, MPI_BAND, comm);
	*regs = free[0];
	*bits = free[1] & ~OPEN_BITS;
}

static int lease(uint32_t regs, uint32_t bits, uint64_t key)
{
	int err;

	pthread_mutex_lock(&pw.lock);
	err = key ? pwl_lease(pw.s, regs, bits, key) : pwl_lease_return(pw.s, regs, bits);
	pthread_mutex_unlock(&pw.lock);
	return err;
}

static void lease_return(uint32_t regs, uint32_t bits)
{
	lease(regs, bits, 0);
}

/* all ranks of a communicator lease this, or none keeps it */
static bool lease_together(MPI_Comm comm, uint32_t regs, uint32_t bits)
{
	uint64_t key = agree_key(comm);
	int ok, all;

	ok = !lease(regs, bits, key);
	PMPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, comm);
	if (ok && !all)
		lease_return(regs, bits);
	return all;
}

static void set_group(struct ring *g, int bit)
{
	int i;

	g->bit = bit;
	g->region = PW_ADDR_LOGICAL_MIN | 1U << bit;
	g->waits.bit = bit;
	g->waits.members = g->n;
	g->waits.timeout_ms = PW_ROUND_MS;
	for (i = 0; i < g->lane->slots && i < SLOTS; i++)
		g->waits.reg[i] = g->lane->reg[i];
}

/* what it was; a free one is wanted now */
static int want_lane(struct lane *l)
{
	int was;

	pthread_mutex_lock(&pw.lock);
	was = l->state;
	if (was == FREE)
		l->state = WANTED;
	pthread_mutex_unlock(&pw.lock);
	return was;
}

static void set_lane(struct lane *l, int state)
{
	pthread_mutex_lock(&pw.lock);
	l->state = state;
	pthread_mutex_unlock(&pw.lock);
}

/*
 * A lane for a communicator, the same at all its ranks; NULL: there is none. Two that look
 * for one at the same time may each get it at some ranks; they try again after different
 * times.
 */
static struct lane *find_lane(MPI_Comm comm)
{
	int was, all, i, tries;
	bool again = true;

	if (!pw.threads)
		return pw.lane;
	for (tries = 0; tries < 64 && again; tries++) {
		if (tries)
			usleep(1000 + agree_key(comm) % 20000);
		again = false;
		for (i = 1; i < pw.lanes; i++) {
			was = want_lane(&pw.lane[i]);
			PMPI_Allreduce(&was, &all, 1, MPI_INT, MPI_MIN, comm);
			if (all == FREE)
				return &pw.lane[i];
			if (was == FREE)
				set_lane(&pw.lane[i], FREE);
			again |= all == WANTED;
		}
	}
	return NULL;
}

/*
 * A bit for a communicator, if @spare others are free. Two that look for one at the same time
 * start at different bits; if they meet, the kernel gives the bit to one of them.
 */
static bool find_bit(struct ring *g, MPI_Comm comm, int spare)
{
	uint32_t regs, bits;
	int i, bit, from;

	agree_free(comm, &regs, &bits);
	if (__builtin_popcount(bits) <= spare)
		return false;
	from = agree_key(comm) >> 1 & 0xffff;
	for (i = 0; i < BITS; i++) {
		bit = (from + i) % BITS;
		if (!(bits >> bit & 1) || !lease_together(comm, 0, 1U << bit))
			continue;
		set_group(g, bit);
		return true;
	}
	return false;
}

/* registers and a bit for a communicator */
static void find_group(struct ring *g, MPI_Comm comm)
{
	g->lane = find_lane(comm);
	if (!g->lane)
		return;
	if (find_bit(g, comm, 0))
		set_lane(g->lane, TAKEN);
	else if (pw.threads)
		set_lane(g->lane, FREE);
}

/* the registers with the highest numbers: programs that lease none use the lowest */
static uint32_t choose_regs(uint32_t free)
{
	const char *env = getenv("PW_COLL_REGS");
	int i, n = __builtin_popcount(free), want = n / 2;
	uint32_t regs = 0;

	if (want > REGS_DEFAULT)
		want = REGS_DEFAULT;
	if (env)
		want = atoi(env);
	if (want < REGS_MIN)
		want = REGS_MIN;
	if (want > REGS_MAX)
		want = REGS_MAX;
	want &= ~1;
	if (n < want)
		want = n & ~1;
	if (want < REGS_MIN)
		return 0;
	for (i = PACKETWAY_ATON_REGS - 1, n = 0; n < want; i--) {
		if (!(free >> i & 1))
			continue;
		regs |= 1U << i;
		pw.reg[n++] = i;
	}
	pw.lanes = pw.threads ? want / LANE : 1;
	for (i = 0; i < pw.lanes; i++) {
		pw.lane[i].state = i ? FREE : TAKEN;
		pw.lane[i].reg = pw.reg + i * LANE;
		pw.lane[i].slots = pw.threads ? LANE : want < SLOTS ? want : SLOTS;
	}
	pw.world.lane = pw.lane;
	pw.later.lane = pw.lane;
	return regs;
}

/* registers for the job, and a bit for its world or, @later, two; NULL, or why it has none */
static const char *start_leases(bool later)
{
	struct pwl_aton ask = { .op = PW_ATON_OP_OR };
	uint32_t free, bits, regs, group = 0;
	const char *why = NULL;
	struct pwl_result r;
	int i, ok, bit = -1;

	for (i = 0; i < TRIES; i++) {
		/*
		 * Another job ends, or gives back what it could not get at all stations. Jobs that
		 * start at the same time choose the same: they try again after different times.
		 */
		if (i)
			usleep(1000 + agree_key(MPI_COMM_WORLD) % (2000U << (i < 6 ? i : 6)));
		agree_free(MPI_COMM_WORLD, &free, &bits);
		/* ranks that see the same choose the same */
		regs = choose_regs(free);
		why = "other jobs have all registers or group bits of the ring";
		if (!regs || !bits)
			continue;
		bit = 31 - __builtin_clz(bits);
		group = 1U << bit;
		/* another one, if there is one, for what may be under way at the same time */
		bits &= ~group;
		if (later && bits)
			group |= 1U << (31 - __builtin_clz(bits));
		why = "the ranks are not on one ring, one per station";
		if (lease_together(MPI_COMM_WORLD, regs, group))
			break;
	}
	if (i == TRIES)
		return why;
	set_group(&pw.world, bit);
	group &= ~(1U << bit);
	if (group)
		set_group(&pw.later, __builtin_ctz(group));
	/* ranks on several rings have the same bit on each */
	ask.dst = pw.world.region;
	ok = pw.rank || (!try_command(&ask, &r) && r.counter == (uint64_t)pw.n);
	PMPI_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (ok)
		return NULL;
	lease_return(regs, group | 1U << bit);
	return "the ranks are not on one ring, one per station";
}

/* of what is reduced and scattered: the part of this rank */
struct own_part {
	int first, count;
	long total;		/* of all ranks */
};

/* a persistent collective */
struct persistent {
	struct pw_persistent p;
	struct ring ring;
	enum coll coll;
	MPI_Comm comm;
	const void *in;		/* operands, in place or not */
	void *out;
	bool gets;		/* this rank gets the result */
	int count, out_count;
	struct own_part own;
	MPI_Datatype t, out_t;
	MPI_Datatype own_t, own_out_t;	/* to be freed, or MPI_DATATYPE_NULL */
	MPI_Op op;
	int root;
	long bytes;		/* of this rank; of a block */
	struct persistent *next;	/* in pw.persistent, under the lock */
};

/* the program may free a communicator before its persistent collectives */
static void forget_in_persistent(MPI_Comm comm)
{
	struct persistent *p;

	pthread_mutex_lock(&pw.lock);
	for (p = pw.persistent; p; p = p->next)
		if (p->comm == comm)
			p->comm = MPI_COMM_WORLD;
	pthread_mutex_unlock(&pw.lock);
}

/* "name": {...} of one collective, if there was one */
static void log_coll(FILE *f, enum coll coll, const struct stats *st, bool *first)
{
	unsigned long total = 0;
	const char *sep = "";
	int i;

	for (i = 0; i < WHYS; i++)
		total += st->count[i];
	if (!total)
		return;
	fprintf(f, "%s\"%s\": {\"calls\": %lu, \"ring\": %lu, \"not\": {", *first ? "" : ", ",
		coll_name[coll], total, st->count[DONE]);
	for (i = DONE + 1; i < WHYS; i++) {
		if (!st->count[i])
			continue;
		fprintf(f, "%s\"%s\": %lu", sep, why_name[i], st->count[i]);
		sep = ", ";
	}
	fprintf(f, "}, \"bytes\": %llu, \"packets\": %llu, \"ring_ns\": %llu, \"library_ns\": %llu}",
		(unsigned long long)st->bytes, (unsigned long long)st->packets,
		(unsigned long long)st->ns[1], (unsigned long long)st->ns[0]);
	*first = false;
}

/* a line of a communicator, by its rank 0, in one piece: others write to the same file */
static void log_comm(const struct ring *g, const char *name, int n)
{
	bool first = true;
	char *line = NULL;
	size_t len = 0;
	FILE *f;
	int i, fd;

	if (!pw.log)
		return;
	f = open_memstream(&line, &len);
	if (!f)
		return;
	fprintf(f, "{\"rank\": %d, \"communicator\": \"%s\", \"ranks\": %d, \"group\": %d, ", pw.rank,
		name, n, g->bit);
	if (pw.reason)
		fprintf(f, "\"reason\": \"%s\", ", pw.reason);
	fprintf(f, "\"collectives\": {");
	for (i = 0; i < COLLS; i++)
		log_coll(f, i, &g->st[i], &first);
	fprintf(f, "}}\n");
	fclose(f);
	fd = first ? -1 : open(pw.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd >= 0 && write(fd, line, len) != (ssize_t)len)
		fprintf(stderr, "pwmpi: %s: %s\n", pw.log, strerror(errno));
	else if (fd < 0 && !first)
		fprintf(stderr, "pwmpi: %s: %s\n", pw.log, strerror(errno));
	if (fd >= 0)
		close(fd);
	free(line);
}

/* a communicator goes, and its bit is free again */
static int forget(MPI_Comm comm, int keyval, void *val, void *extra)
{
	struct ring *g = val, **at;

	forget_in_persistent(comm);
	if (g == &pw.world)
		return MPI_SUCCESS;
	pthread_mutex_lock(&pw.lock);
	for (at = &pw.others; *at && *at != g; at = &(*at)->next)
		;
	if (*at)
		*at = g->next;
	pthread_mutex_unlock(&pw.lock);
	if (!g->rank)
		log_comm(g, "other", g->n);
	pw_request_drain(&g->queue, true);
	if (g->bit >= 0 && pw.s) {
		if (pw.threads)
			set_lane(g->lane, FREE);
		lease_return(0, 1U << g->bit);
	}
	free(g);
	return MPI_SUCCESS;
}

static void set_up(int threads)
{
	const char *mode = getenv("PW_COLL"), *dev = getenv("PW_STATION");
	const char *max = getenv("PW_COLL_MAX"), *bcast_max = getenv("PW_BCAST_MAX");
	const char *floats = getenv("PW_FLOAT");
	struct packetway_info info;
	const char *why;
	int ok, all;

	pw.started = true;
	pw.world.bit = -1;
	pw.log = getenv("PW_COLL_LOG");
	if (pw.log && !*pw.log)
		pw.log = NULL;
	PMPI_Comm_rank(MPI_COMM_WORLD, &pw.rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &pw.n);
	PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &pw.keyval, NULL);
	PMPI_Comm_dup(MPI_COMM_SELF, &pw.quiet);
	PMPI_Comm_set_errhandler(pw.quiet, MPI_ERRORS_RETURN);
	pw.by_cost = !max || !*max;
	pw.max = pw.by_cost ? 4096 : atol(max);
	pw.bcast_max = bcast_max ? atol(bcast_max) : BCAST_MAX;
	pw.float_max = !floats ? FLOAT_MAX : !strcmp(floats, "exact") ? pw.max : 0;
	learn_types();
	learn_pairs();
	if (pw.float_max)
		learn_floats();
	learn_buffers();
	ok = !(mode && !strcmp(mode, "off"));
	PMPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (!all) {
		pw.reason = "PW_COLL=off";
		return;
	}
	/* MPI may give each rank another level */
	ok = threads == MPI_THREAD_MULTIPLE;
	PMPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	pw.threads = all;
	ok = 1;
	if (pwl_open(&pw.s, dev ? dev : "pw0") || pwl_map(pw.s)) {
		ok = 0;
		pw.reason = "no station of ours here";
	}
	if (ok && (pwl_info(pw.s, &info) || !(info.out_features & PACKETWAY_FEATURE_ROUND))) {
		ok = 0;
		pw.reason = "this module has no rounds";
	}
	if (ok && info.out_features & PACKETWAY_FEATURE_NOWAIT)
		ok = info.out_features & PACKETWAY_FEATURE_LONG_256 ? 3 : 2;
	PMPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (all) {
		pw.world.n = pw.n;
		pw.later.n = pw.n;
		pw.later.rank = pw.rank;
		/* the last member of a long round works in the kernel, which stops the time */
		pw.longs = all == 3 && !pw_virtual;
		why = start_leases(all >= 2);
		pw.on = !why;
		pw.reason = why;
	} else if (!pw.reason) {
		pw.reason = "a rank has no station";
	}
	if (pw.on) {
		PMPI_Barrier(MPI_COMM_WORLD);
	} else if (pw.force) {
		if (!pw.rank)
			fprintf(stderr, "pwmpi: PW_COLL=force, but %s\n", pw.reason);
		/* another rank's abort would end rank 0 before it has said why */
		PMPI_Barrier(MPI_COMM_WORLD);
		PMPI_Abort(MPI_COMM_WORLD, 1);
	}
}

/*
 * `pwrun --virtual`: ranks have found each other in the host's time, by the launcher's
 * connections. They enter virtual time together, before their first message.
 */
static void enter_time(void)
{
	int (*begin)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "pwl_time_begin");
	int err = begin ? begin() : 0;

	if (err < 0)
		give_up("virtual time", err);
	pw_virtual = err > 0;
}

static void leave_time(void)
{
	void (*end)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "pwl_time_end");
	int i;

	if (!pw_virtual)
		return;
	/* the last messages of all ranks are of the run, and what acknowledges them */
	PMPI_Barrier(MPI_COMM_WORLD);
	for (i = 0; i < LAST_LOOKS; i++) {
		usleep(100);
		pw_let_messages_go();
	}
	pw_virtual = false;
	end();
}

/* MPI_Wtime() of Open MPI counts from MPI_Init() on, which is in the host's time */
double MPI_Wtime(void)
{
	struct timespec t;

	if (!pw_virtual)
		return PMPI_Wtime();
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int MPI_Init(int *argc, char ***argv)
{
	int err = PMPI_Init(argc, argv);

	if (err == MPI_SUCCESS) {
		enter_time();
		set_up(MPI_THREAD_SINGLE);
	}
	return err;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int err = PMPI_Init_thread(argc, argv, required, provided);

	if (err == MPI_SUCCESS) {
		enter_time();
		set_up(*provided);
	}
	return err;
}

static unsigned long intercepted(void)
{
	unsigned long total = 0;
	int i;

	for (i = 0; i < WHYS; i++)
		total += pw.count[i];
	return total;
}

__attribute__((constructor)) static void loaded(void)
{
	const char *mode = getenv("PW_COLL");

	pw.force = mode && !strcmp(mode, "force");
	pw.pid = getpid();
}

/*
 * Who forces the ring learns that this library was in vain: a program that calls PMPI_*
 * directly never comes here. Processes that the program forked are not asked.
 */
__attribute__((destructor)) static void unloaded(void)
{
	int mpi = 0;

	if (!pw.force || pw.pid != getpid() || intercepted())
		return;
	if (PMPI_Initialized(&mpi) != MPI_SUCCESS || !mpi)
		return;
	fprintf(stderr, "pwmpi: PW_COLL=force, but %s of this program was intercepted\n",
		pw.started ? "no collective" : "nothing");
	fflush(NULL);
	_exit(1);
}

/* in one piece: mpirun mixes what ranks write */
static void report(void)
{
	unsigned long total = intercepted();
	char rest[512] = "";
	int i, n = 0;

	if (!pw.on)
		n = snprintf(rest, sizeof(rest), " (%s)", pw.reason);
	for (i = OFF + 1; i < WHYS && n < (int)sizeof(rest); i++)
		if (pw.count[i])
			n += snprintf(rest + n, sizeof(rest) - n, ", not for their %s: %lu",
				      why_name[i], pw.count[i]);
	fprintf(stderr, "pwmpi: %lu of %lu collectives on the ring%s\n", pw.count[DONE], total,
		rest);
}

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200000
/*
 * MPICH before 4.2 with UCX waits until each connection is flushed, which takes an answer of
 * the other rank, and then in its process manager, where a rank answers no longer. So a rank that
 * is early lets another one wait for ever. The connections end with their worker, too: what MPICH
 * calls here does nothing in MPI_Finalize().
 */
void *ucp_disconnect_nb(void *ep);
void *ucp_disconnect_nb(void *ep)
{
	void *(*disconnect)(void *ep) = (void *(*)(void *))dlsym(RTLD_NEXT, "ucp_disconnect_nb");

	return pw.ending ? NULL : disconnect(ep);
}

/*
 * All messages must have arrived then. Those of before the second barrier have, or a rank would
 * not come to it, and its own are too short to wait in a rank.
 */
static void let_messages_arrive(void)
{
	PMPI_Barrier(MPI_COMM_WORLD);
	PMPI_Barrier(MPI_COMM_WORLD);
	pw.ending = true;
}
#else
static void let_messages_arrive(void)
{
}
#endif

int MPI_Finalize(void)
{
	struct ring *g;

	if (!pw.rank) {
		report();
		log_comm(&pw.world, "MPI_COMM_WORLD", pw.n);
		log_comm(&pw.none, "not on the ring", 0);
	}
	for (g = pw.others; g; g = g->next)
		if (!g->rank)
			log_comm(g, "other", g->n);
	pw.log = NULL;
	/* a rank that closes its file ends the rounds that others wait in */
	if (pw.on)
		PMPI_Barrier(MPI_COMM_WORLD);
	pw.on = false;
	pw_request_stop();
	pwl_close(pw.s);
	pw.s = NULL;
	if (pw.started)
		PMPI_Comm_free(&pw.quiet);
	leave_time();
	if (pw.started)
		let_messages_arrive();
	return PMPI_Finalize();
}

/* What can go to the ring ------------------------------------------------------ */

/* where a communicator is on the ring; NULL: nowhere. Its members ask together. */
static struct ring *ring_of(MPI_Comm comm)
{
	int flag = 0, result = MPI_UNEQUAL, inter, n;
	struct ring *g = NULL;

	if (comm == MPI_COMM_WORLD)
		return &pw.world;
	if (comm == MPI_COMM_NULL ||
	    PMPI_Comm_get_attr(comm, pw.keyval, &g, &flag) != MPI_SUCCESS)
		return NULL;
	if (flag)
		return g->bit < 0 ? NULL : g;
	if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS ||
	    PMPI_Comm_size(comm, &n) != MPI_SUCCESS)
		return NULL;
	/* one that is like the world shares its rounds, unless another thread may be there */
	if (!inter && !pw.threads)
		PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
	g = &pw.world;
	if (result == MPI_UNEQUAL) {
		g = calloc(1, sizeof(*g));
		if (!g)
			give_up("communicator", -ENOMEM);
		g->bit = -1;
		g->n = n;
		PMPI_Comm_rank(comm, &g->rank);
		pthread_mutex_lock(&pw.lock);
		g->next = pw.others;
		pw.others = g;
		pthread_mutex_unlock(&pw.lock);
		if (!inter && n > 1)
			find_group(g, comm);
	}
	PMPI_Comm_set_attr(comm, pw.keyval, g);
	return g->bit < 0 ? NULL : g;
}

static inline uint64_t now(void)
{
	return pw.log ? clock_ns() : 0;
}

/* where the calls of a communicator are counted; the world has no attribute */
static struct ring *counted_in(MPI_Comm comm)
{
	struct ring *g = NULL;
	int flag = 0;

	if (comm == MPI_COMM_WORLD)
		return &pw.world;
	if (!pw.log || !pw.started || comm == MPI_COMM_NULL ||
	    PMPI_Comm_get_attr(comm, pw.keyval, &g, &flag) != MPI_SUCCESS || !flag)
		return &pw.none;
	return g;
}

/* it is decided where a collective of @bytes is executed */
static struct call begin(enum coll coll, MPI_Comm comm, enum why why, uint64_t bytes)
{
	struct call c = { .on = why == DONE, .packets = packets, .start = now() };

	pw.count[why]++;
	if (!pw.log)
		return c;
	c.st = &counted_in(comm)->st[coll];
	__atomic_add_fetch(&c.st->count[why], 1, __ATOMIC_RELAXED);
	if (c.on)
		c.st->bytes += bytes;
	return c;
}

static void end(const struct call *c)
{
	if (!c->st)
		return;
	__atomic_add_fetch(&c->st->ns[c->on], now() - c->start, __ATOMIC_RELAXED);
	c->st->packets += packets - c->packets;
}

/* the end of a call that went to the library */
static int passed(const struct call *c, int err)
{
	end(c);
	return err;
}

static uint64_t type_bytes(MPI_Datatype t, long count)
{
	int size = 0;

	if (pw.log)
		PMPI_Type_size(t, &size);
	return (uint64_t)size * count;
}

static int rank_in(MPI_Comm comm)
{
	int rank = -1;

	PMPI_Comm_rank(comm, &rank);
	return rank;
}

/* may data of this type be sent? There is no call that only asks. */
static bool usable(MPI_Datatype t)
{
	int ints, addresses, types, combiner, pos = 0;
	char in[8], out[8];

	if (t == MPI_DATATYPE_NULL)
		return false;
	if (PMPI_Type_get_envelope(t, &ints, &addresses, &types, &combiner) != MPI_SUCCESS)
		return false;
	return combiner == MPI_COMBINER_NAMED ||
	       PMPI_Pack(in, 0, t, out, sizeof(out), &pos, pw.quiet) == MPI_SUCCESS;
}

static bool is_root(const struct ring *g, int root)
{
	return root >= 0 && root < g->n;
}

/* buffers that this MPI allows; @gets: this rank gets the result; @alias: in @in's place */
static bool buffers(const void *in, const void *out, bool gets, bool alias)
{
	if (!gets)
		return in && in != MPI_IN_PLACE;
	return in && out && out != MPI_IN_PLACE && (alias || in != out);
}

/* where a type is in pw.type, pw.pair and pw.floats, or -1 */
struct place {
	MPI_Datatype t;
	signed char integer, pair, real;
};

static void search_type(struct place *p)
{
	for (p->integer = pw.ntypes - 1; p->integer >= 0; p->integer--)
		if (pw.type[p->integer].t == p->t)
			break;
	for (p->pair = pw.npairs - 1; p->pair >= 0; p->pair--)
		if (pw.pair[p->pair].t == p->t)
			break;
	for (p->real = pw.nfloats - 1; p->real >= 0; p->real--)
		if (pw.floats[p->real].t == p->t)
			break;
}

/*
 * A collective asks several times, and the next one is often of the same type. Other types may
 * get the handle of one that was freed, but those that are in a table are never freed.
 */
static inline const struct place *place_of(MPI_Datatype t)
{
	static __thread struct place last = { .integer = -1, .pair = -1, .real = -1 };

	if (last.t != t) {
		last.t = t;
		search_type(&last);
	}
	return &last;
}

/* index in pw.type, or -1 */
static int int_type(MPI_Datatype t)
{
	return place_of(t)->integer;
}

/* index in pw.pair, or -1 */
static int pair_type(MPI_Datatype t)
{
	return place_of(t)->pair;
}

/* exclusive or of truths is the lowest bit of their sum */
static uint32_t ring_op(enum op op)
{
	static const uint32_t ops[OPS] = {
		[SUM] = PW_ATON_OP_ADD, [MIN] = PW_ATON_OP_MIN, [MAX] = PW_ATON_OP_MAX,
		[BAND] = PW_ATON_OP_AND, [BOR] = PW_ATON_OP_OR, [LAND] = PW_ATON_OP_AND,
		[LOR] = PW_ATON_OP_OR, [LXOR] = PW_ATON_OP_ADD, [MINLOC] = PW_ATON_OP_MIN,
		[MAXLOC] = PW_ATON_OP_MAX,
	};

	return ops[op];
}

/* index in pw.floats, or -1 */
static int float_type(MPI_Datatype t)
{
	return place_of(t)->real;
}

/* complex numbers have no order */
static enum why fits_float(int f, MPI_Op op, int count)
{
	long max = op == MPI_SUM ? pw.float_max / pw.floats[f].parts : pw.max;

	if (op != MPI_SUM && (pw.floats[f].parts > 1 || (op != MPI_MIN && op != MPI_MAX)))
		return OP;
	return count < 1 || count > max ? SIZE : DONE;
}

static enum why fits(MPI_Comm comm, MPI_Datatype t, MPI_Op op, int count, struct ring **g)
{
	unsigned int ops;

	if (!pw.on)
		return OFF;
	*g = ring_of(comm);
	if (!*g)
		return COMM;
	/* the ring has no multiplier */
	if (op == MPI_PROD)
		return PRODUCT;
	if (float_type(t) >= 0)
		return fits_float(float_type(t), op, count);
	if (int_type(t) < 0 && pair_type(t) < 0)
		return TYPE;
	ops = int_type(t) >= 0 ? pw.type[int_type(t)].ops : pw.pair[pair_type(t)].ops;
	if (!(ops >> which_op(op) & 1))
		return OP;
	/* MPI leaves a true operand of one rank as it is; the ring would make 1 of it */
	if ((*g)->n == 1 && which_op(op) >= LAND && which_op(op) <= LXOR)
		return OP;
	return count < 1 || count > pw.max ? SIZE : DONE;
}

/* any number of words, a round for each few of them; 0 or -errno */
static int exchange(struct ring *g, uint32_t op, uint64_t *w, long count, bool gets)
{
	int n, err = 0;

	for (; count && !err; count -= n, w += n) {
		n = next_words(g, count);
		err = ring_round(g, op, 0, w, n, gets);
	}
	return err;
}

/* words of floating-point numbers, see exact.h */
static int combine(void *g, enum pw_exact_op op, uint64_t *w, long count, bool gets)
{
	static const uint32_t ops[] = {
		[PW_EXACT_ADD] = PW_ATON_OP_ADD, [PW_EXACT_MIN] = PW_ATON_OP_MIN,
		[PW_EXACT_MAX] = PW_ATON_OP_MAX, [PW_EXACT_OR] = PW_ATON_OP_OR,
	};

	return exchange(g, ops[op], w, count, gets);
}

static int float_reduce(struct ring *g, int f, const void *in, void *out, int count, MPI_Op op)
{
	enum pw_exact_kind kind = pw.floats[f].kind;
	int err;

	count *= pw.floats[f].parts;
	g->guess.room = next_words(g, LONG);
	err = op == MPI_SUM ? pw_exact_sum(kind, in, out, count, g->n, &g->guess, combine, g) :
			      pw_exact_extremes(kind, in, out, count, op == MPI_MAX, combine, g);
	return err;
}

/* an unsigned integer of as many bits in the same order; zeros of both signs are one number */
static uint64_t part_image(const struct part *p, const char *x, bool max)
{
	enum pw_exact_kind kind = p->size == 4 ? PW_EXACT_FLOAT : PW_EXACT_DOUBLE;
	uint64_t sign = 1ULL << (8 * p->size - 1), mask = sign | (sign - 1), bits;

	bits = load(x + p->at, p->size, false);
	if (!p->real)
		return bits ^ sign;
	if (bits == sign)
		return pw_exact_image(kind, &(uint64_t) { 0 }, max) & mask;
	return pw_exact_image(kind, x + p->at, max) & mask;
}

static void part_from_image(const struct part *p, uint64_t image, bool max, char *x)
{
	enum pw_exact_kind kind = p->size == 4 ? PW_EXACT_FLOAT : PW_EXACT_DOUBLE;
	uint64_t sign = 1ULL << (8 * p->size - 1), mask = sign | (sign - 1);

	if (!p->real)
		store(x + p->at, p->size, image ^ sign);
	else
		pw_exact_from_image(kind, max && image == mask ? UINT64_MAX : image, max, x + p->at);
}

/*
 * The extreme value, and the lowest index of those that have it. Value and index of 64 bits
 * together are one word, the value above. For the maximum the index is counted down from the
 * top, so that the lowest one wins.
 */
static bool is_short(const struct pair *p)
{
	return p->value.size <= 4 && p->index.size <= 4;
}

static void pair_words(const struct pair *p, const char *in, uint64_t *w, int count, bool max)
{
	uint64_t flip = max ? UINT32_MAX : 0;
	int i;

	for (i = 0; i < count; i++)
		w[i] = part_image(&p->value, in + i * p->extent, max) << 32 |
		       (part_image(&p->index, in + i * p->extent, false) ^ flip);
}

static void pair_results(const struct pair *p, const uint64_t *w, char *out, int count, bool max)
{
	uint64_t flip = max ? UINT32_MAX : 0;
	int i;

	for (i = 0; i < count; i++) {
		part_from_image(&p->value, w[i] >> 32, max, out + i * p->extent);
		part_from_image(&p->index, (uint32_t)w[i] ^ flip, false, out + i * p->extent);
	}
}

static int short_pairs(struct ring *g, const struct pair *p, const char *in, char *out, int count,
		       bool max)
{
	uint64_t *w = calloc(count, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	pair_words(p, in, w, count, max);
	err = exchange(g, max ? PW_ATON_OP_MAX : PW_ATON_OP_MIN, w, count, out);
	if (out && !err)
		pair_results(p, w, out, count, max);
	free(w);
	return err;
}

/* all ranks learn the extreme value; those that have it name their index */
static int long_pairs(struct ring *g, const struct pair *p, const char *in, char *out, int count,
		      bool max)
{
	uint64_t *w = calloc(2 * (size_t)count, sizeof(*w)), *index = w + count;
	int i, err;

	if (!w)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		w[i] = part_image(&p->value, in + i * p->extent, max);
	err = exchange(g, max ? PW_ATON_OP_MAX : PW_ATON_OP_MIN, w, count, true);
	for (i = 0; i < count; i++)
		index[i] = w[i] == part_image(&p->value, in + i * p->extent, max) ?
			   part_image(&p->index, in + i * p->extent, false) : UINT64_MAX;
	if (!err)
		err = exchange(g, PW_ATON_OP_MIN, index, count, out);
	for (i = 0; i < count && out && !err; i++) {
		part_from_image(&p->value, w[i], max, out + i * p->extent);
		part_from_image(&p->index, index[i], false, out + i * p->extent);
	}
	free(w);
	return err;
}

static int pair_reduce(struct ring *g, const struct pair *p, const void *in, void *out, int count,
		       enum op op)
{
	int err;

	if (is_short(p))
		err = short_pairs(g, p, in, out, count, op == MAXLOC);
	else
		err = long_pairs(g, p, in, out, count, op == MAXLOC);
	return err;
}

/* one bit for each element: 64 of them are a word, which was 0 */
static void truth_words(int type, const char *in, uint64_t *w, int count)
{
	int i, size = pw.type[type].size;

	for (i = 0; i < count; i++)
		if (load(in + (size_t)i * size, size, false))
			w[i / 64] |= 1ULL << i % 64;
}

static void truth_results(int type, const uint64_t *w, char *out, int count)
{
	int i, size = pw.type[type].size;

	for (i = 0; i < count; i++)
		store(out + (size_t)i * size, size,
		      w[i / 64] >> i % 64 & 1 ? pw.type[type].truth : 0);
}

static int truth_reduce(struct ring *g, int type, const char *in, char *out, int count, enum op op)
{
	int words = (count + 63) / 64, err;
	uint64_t *w = calloc(words, sizeof(*w));

	if (!w)
		return -ENOMEM;
	truth_words(type, in, w, count);
	err = exchange(g, ring_op(op), w, words, out);
	if (out && !err)
		truth_results(type, w, out, count);
	free(w);
	return err;
}

/* all other operations of integers */
static void int_words(int type, enum op op, const char *in, uint64_t *w, int count)
{
	int i, size = pw.type[type].size;

	if (size == 8 && op != LXOR) {
		memcpy(w, in, (size_t)count * size);
		return;
	}
	for (i = 0; i < count; i++) {
		w[i] = load(in + (size_t)i * size, size, pw.type[type].sign);
		if (op == LXOR)
			w[i] = !!w[i];
	}
}

static void int_results(int type, enum op op, const uint64_t *w, char *out, int count)
{
	int i, size = pw.type[type].size;

	if (size == 8 && op != LXOR) {
		memcpy(out, w, (size_t)count * size);
		return;
	}
	for (i = 0; i < count; i++)
		store(out + (size_t)i * size, size,
		      op != LXOR ? w[i] : w[i] & 1 ? pw.type[type].truth : 0);
}

static uint32_t int_mods(int type, enum op op)
{
	return pw.type[type].sign && (op == MIN || op == MAX) ? PACKETWAY_ATON_SIGNED : 0;
}

/*
 * Do integers of 32 bits go two in a word (sum32.h)? Not if there is a register for each: a rank
 * that repeats its last allreduce takes a word for each then, and the others do not know that.
 */
static bool is_sum32(const struct ring *g, int type, long count, enum op op)
{
	return op == SUM && pw.type[type].size == 4 && count > g->lane->slots;
}

static int sum32_reduce(struct ring *g, const uint32_t *from, uint32_t *to, int count)
{
	uint64_t w[LONG];
	int n, err = 0;

	for (; count && !err; count -= n, from += n) {
		n = pw_sum32_most(g->n, count, next_words(g, LONG));
		pw_sum32_pack(g->n, from, w, n);
		err = ring_round(g, PW_ATON_OP_ADD, 0, w, pw_sum32_words(g->n, n), to);
		if (!to || err)
			continue;
		pw_sum32_unpack(g->n, w, to, n);
		to += n;
	}
	return err;
}

static int int_reduce(struct ring *g, int type, const char *from, char *to, int count, enum op op)
{
	int n, err = 0, size = pw.type[type].size;
	uint64_t w[LONG];

	if (is_sum32(g, type, count, op))
		return sum32_reduce(g, (const uint32_t *)from, (uint32_t *)to, count);
	for (; count && !err; count -= n, from += (size_t)n * size) {
		n = next_words(g, count);
		int_words(type, op, from, w, n);
		err = ring_round(g, ring_op(op), int_mods(type, op), w, n, to);
		if (!to || err)
			continue;
		int_results(type, op, w, to, n);
		to += (size_t)n * size;
	}
	return err;
}

/* @out may be NULL; 0 or -errno */
static int reduce(struct ring *g, const void *in, void *out, int count, MPI_Datatype t,
		  MPI_Op mpi_op)
{
	const struct place *p = place_of(t);
	enum op op = which_op(mpi_op);

	if (p->real >= 0)
		return float_reduce(g, p->real, in, out, count, mpi_op);
	if (p->pair >= 0)
		return pair_reduce(g, &pw.pair[p->pair], in, out, count, op);
	if (op == LAND || op == LOR)
		return truth_reduce(g, p->integer, in, out, count, op);
	return int_reduce(g, p->integer, in, out, count, op);
}

/*
 * Whether @words words cost less than @messages messages of all ranks together. A round costs
 * each rank a call, and a word is a packet that each rank's station takes.
 */
static bool pays(const struct ring *g, long words, long messages)
{
	long most = next_words(g, LONG), rounds = (words + most - 1) / most;

	return words <= pw.max &&
	       CALL * rounds * g->n + WORD(g->n) * words <= MESSAGE * messages;
}

/* of all ranks together, in as many steps as the highest rank has bits */
static long tree_messages(const struct ring *g)
{
	return g->n < 2 ? 0 : (long)g->n * (32 - __builtin_clz(g->n - 1));
}

/*
 * Is a reduction of integers, or of pairs of them, dearer than @messages messages? PW_COLL_MAX and
 * PW_FLOAT=exact mean that the user has decided. A pair takes a word or two.
 */
static bool dear(const struct ring *g, MPI_Datatype t, MPI_Op op, long count, long messages)
{
	const struct place *p = place_of(t);
	long words = p->pair >= 0 ? 2 * count : count;

	if (!pw.by_cost || (p->real >= 0 && pw.float_max > FLOAT_MAX))
		return false;
	if (p->integer >= 0 && is_sum32(g, p->integer, count, which_op(op)))
		words = pw_sum32_words(g->n, count);
	return !pays(g, words, messages);
}

/*
 * A program often repeats an allreduce of a few integers of all ranks. That it goes to the ring,
 * and how, is the same as long as the ring is on: types and operations that the ring knows are
 * never freed.
 */
static __thread struct {
	MPI_Datatype t;
	MPI_Op op;
	int count;		/* 0: there was none */
	int size;
	bool sign;
	uint32_t ring_op, mods;
} last;

/* an allreduce has gone to the ring */
static void remember(const struct ring *g, int count, MPI_Datatype t, MPI_Op mpi_op)
{
	enum op op = which_op(mpi_op);
	int type = int_type(t);

	if (g != &pw.world || type < 0 || op >= LAND || count > g->lane->slots || pw.log)
		return;
	last.t = t;
	last.op = mpi_op;
	last.count = count;
	last.size = pw.type[type].size;
	last.sign = pw.type[type].sign;
	last.ring_op = ring_op(op);
	last.mods = int_mods(type, op);
}

static inline bool is_like_last(int count, MPI_Datatype t, MPI_Op op, MPI_Comm comm)
{
	return comm == MPI_COMM_WORLD && count && count == last.count && t == last.t &&
	       op == last.op && pw.on;
}

/* 0 or -errno */
static inline int reduce_like_last(const char *in, char *out)
{
	struct pwl_round *r = next_round(&pw.world, last.ring_op, last.mods);
	int i, err;

	pw.count[DONE]++;
	r->count = last.count;
	for (i = 0; i < last.count; i++)
		r->word[i] = load(in + i * last.size, last.size, last.sign);
	err = wait_round(r, NULL, last.count);
	for (i = 0; i < last.count && !err; i++)
		store(out + i * last.size, last.size, r->word[i]);
	return err;
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype t, MPI_Op op, MPI_Comm comm)
{
	struct call call;
	struct ring *g;
	enum why why;
	int err;

	if (is_like_last(count, t, op, comm) && buffers(in, out, true, pw.allreduce_alias)) {
		err = reduce_like_last(in == MPI_IN_PLACE ? out : in, out);
		return err ? failed(comm, err) : MPI_SUCCESS;
	}
	why = fits(comm, t, op, count, &g);
	if (why == DONE && dear(g, t, op, count, tree_messages(g)))
		why = SIZE;
	if (why == DONE && !buffers(in, out, true, pw.allreduce_alias))
		why = WRONG;
	call = begin(ALLREDUCE, comm, why, why == DONE ? type_bytes(t, count) : 0);
	if (why != DONE)
		return passed(&call, PMPI_Allreduce(in, out, count, t, op, comm));
	err = reduce(g, in == MPI_IN_PLACE ? out : in, out, count, t, op);
	end(&call);
	if (err)
		return failed(comm, err);
	remember(g, count, t, op);
	return MPI_SUCCESS;
}

int MPI_Reduce(const void *in, void *out, int count, MPI_Datatype t, MPI_Op op, int root,
	       MPI_Comm comm)
{
	struct call call;
	int err, rank = -1;
	struct ring *g;
	enum why why;

	why = fits(comm, t, op, count, &g);
	if (why == DONE && dear(g, t, op, count, g->n - 1))
		why = SIZE;
	if (why == DONE) {
		PMPI_Comm_rank(comm, &rank);
		if (!is_root(g, root) || !buffers(in, out, rank == root, pw.reduce_alias))
			why = WRONG;
	}
	call = begin(REDUCE, comm, why, why == DONE ? type_bytes(t, count) : 0);
	if (why != DONE)
		return passed(&call, PMPI_Reduce(in, out, count, t, op, root, comm));
	err = reduce(g, in == MPI_IN_PLACE ? out : in, rank == root ? out : NULL, count, t, op);
	end(&call);
	return err ? failed(comm, err) : MPI_SUCCESS;
}

int MPI_Barrier(MPI_Comm comm)
{
	struct call call;
	struct ring *g = pw.on ? ring_of(comm) : NULL;
	enum why why = !pw.on ? OFF : g ? DONE : COMM;
	uint64_t nothing = 0;
	int err;

	call = begin(BARRIER, comm, why, 0);
	if (why != DONE)
		return passed(&call, PMPI_Barrier(comm));
	err = ring_round(g, PW_ATON_OP_OR, 0, &nothing, 1, false);
	end(&call);
	return err ? failed(comm, err) : MPI_SUCCESS;
}

/* a reduction by OR: the root stores its bytes, the others store 0 */
int MPI_Bcast(void *buf, int count, MPI_Datatype t, int root, MPI_Comm comm)
{
	struct call call;
	int rank, size, bytes, room, pos = 0, i, n, err;
	struct ring *g = pw.on ? ring_of(comm) : NULL;
	enum why why = OFF;
	uint64_t *words;
	long left;

	if (pw.on && !g) {
		why = COMM;
	} else if (pw.on && (!is_root(g, root) || !usable(t))) {
		why = WRONG;
	} else if (pw.on) {
		PMPI_Type_size(t, &size);
		left = (long)size * count;
		why = left < 1 || left > pw.max * 8 || left > pw.bcast_max ? SIZE : DONE;
	}
	call = begin(BCAST, comm, why, why == DONE ? type_bytes(t, count) : 0);
	if (why != DONE)
		return passed(&call, PMPI_Bcast(buf, count, t, root, comm));

	PMPI_Comm_rank(comm, &rank);
	bytes = size * count;
	PMPI_Pack_size(count, t, comm, &room);
	words = calloc(1, (room > bytes ? room : bytes) + 8 * SLOTS);
	if (!words)
		give_up("broadcast", -ENOMEM);
	if (rank == root)
		PMPI_Pack(buf, count, t, words, room, &pos, comm);
	err = 0;
	for (i = 0; i < (bytes + 7) / 8 && !err; i += n) {
		n = next_words(g, (bytes + 7) / 8 - i);
		err = ring_round(g, PW_ATON_OP_OR, 0, words + i, n, rank != root);
	}
	pos = 0;
	if (rank != root && !err)
		PMPI_Unpack(words, bytes, &pos, buf, count, t, comm);
	free(words);
	end(&call);
	return err ? failed(comm, err) : MPI_SUCCESS;
}

/* Parts of results ------------------------------------------------------------- */

/* elements first to first + own - 1 of the result: all ranks store all, each asks for its own */
static int reduce_part(struct ring *g, const void *in, void *out, int count, int first, int own,
		       MPI_Datatype t, MPI_Op mpi_op)
{
	int i, n, at, err, type = int_type(t), size = pw.type[type].size;
	enum op op = which_op(mpi_op);
	const char *from = in;
	uint64_t w[LONG];
	char *to = out;

	err = 0;
	for (at = 0; at < count && !err; at += n) {
		n = next_words(g, count - at);
		int_words(type, op, from + (size_t)at * size, w, n);
		err = ring_round(g, ring_op(op), int_mods(type, op), w, n,
				 at < first + own && at + n > first);
		/* in place: what is overwritten was stored on the ring before */
		for (i = 0; i < n && !err; i++)
			if (at + i >= first && at + i < first + own)
				store(to + (size_t)(at + i - first) * size, size, w[i]);
	}
	return err;
}

/* @count elements at all ranks together */
static enum why fits_part(const struct ring *g, MPI_Datatype t, MPI_Op op, long count)
{
	/* those are of bits or of pairs */
	if (int_type(t) < 0)
		return TYPE;
	if (which_op(op) >= LAND)
		return OP;
	return count < 1 || !pays(g, count, tree_messages(g)) ? SIZE : DONE;
}

int MPI_Reduce_scatter_block(const void *in, void *out, int count, MPI_Datatype t, MPI_Op op,
			     MPI_Comm comm)
{
	struct call call;
	struct ring *g = NULL;
	int err, rank = 0;
	enum why why;

	why = fits(comm, t, op, 1, &g);
	if (why == DONE)
		why = fits_part(g, t, op, (long)count * g->n);
	if (why == DONE && !buffers(in, out, true, false))
		why = WRONG;
	call = begin(REDUCE_SCATTER_BLOCK, comm, why, why == DONE ? type_bytes(t, count * g->n) : 0);
	if (why != DONE)
		return passed(&call, PMPI_Reduce_scatter_block(in, out, count, t, op, comm));
	PMPI_Comm_rank(comm, &rank);
	err = reduce_part(g, in == MPI_IN_PLACE ? out : in, out, count * g->n, count * rank, count,
			  t, op);
	end(&call);
	return err ? failed(comm, err) : MPI_SUCCESS;
}

/* any number of elements for each rank; @rank: this one */
static enum why fits_parts(const struct ring *g, int rank, const void *in, const void *out,
			   const int counts[], MPI_Datatype t, MPI_Op op, struct own_part *own)
{
	enum why why;
	int i;

	*own = (struct own_part) { 0 };
	for (i = 0; i < g->n; i++) {
		if (!counts || counts[i] < 0)
			return WRONG;
		if (i < rank)
			own->first += counts[i];
		own->total += counts[i];
	}
	why = fits_part(g, t, op, own->total);
	if (why != DONE)
		return why;
	own->count = counts[rank];
	/* a rank that gets nothing may have no buffer; all must decide alike */
	return own->count && !buffers(in, out, true, false) ? WRONG : DONE;
}

int MPI_Reduce_scatter(const void *in, void *out, const int counts[], MPI_Datatype t, MPI_Op op,
		       MPI_Comm comm)
{
	struct own_part own = { 0 };
	struct ring *g = NULL;
	struct call call;
	enum why why;
	int err;

	why = fits(comm, t, op, 1, &g);
	if (why == DONE)
		why = fits_parts(g, rank_in(comm), in, out, counts, t, op, &own);
	call = begin(REDUCE_SCATTER, comm, why, why == DONE ? type_bytes(t, own.total) : 0);
	if (why != DONE)
		return passed(&call, PMPI_Reduce_scatter(in, out, counts, t, op, comm));
	err = reduce_part(g, in == MPI_IN_PLACE ? out : in, out, own.total, own.first, own.count, t,
			  op);
	end(&call);
	return err ? failed(comm, err) : MPI_SUCCESS;
}

/*
 * Blocks of all ranks, one after another, by OR: each rank stores its own and zeros around it.
 * This rank gets those of the first @wanted ranks.
 */
static int blocks(struct ring *g, int bytes, uint64_t *words, int wanted)
{
	long i, n, total = ((long)bytes * g->n + 7) / 8;
	int err;

	err = 0;
	for (i = 0; i < total && !err; i += n) {
		n = next_words(g, total - i);
		err = ring_round(g, PW_ATON_OP_OR, 0, words + i, n, i * 8 < (long)bytes * wanted);
	}
	return err;
}

static uint64_t *block_words(const struct ring *g, int bytes)
{
	uint64_t *w = calloc(((size_t)bytes * g->n + 7) / 8 + SLOTS, sizeof(*w));

	if (!w)
		give_up("blocks", -ENOMEM);
	return w;
}

/* bytes of what a rank sends; -1: MPI has something to say about it */
static long block_bytes(int count, MPI_Datatype t)
{
	int size;

	if (count < 0 || !usable(t) || PMPI_Type_size(t, &size) != MPI_SUCCESS)
		return -1;
	return (long)size * count;
}

/* @out is not looked at unless this rank @gets the blocks */
static int gather(struct ring *g, const void *in, int count, MPI_Datatype t, char *out,
		  int out_count, MPI_Datatype out_t, bool gets, long bytes, MPI_Comm comm)
{
	uint64_t *w = block_words(g, bytes);
	MPI_Aint low, extent = 0;
	int i, err, rank, pos;

	PMPI_Comm_rank(comm, &rank);
	if (gets)
		PMPI_Type_get_extent(out_t, &low, &extent);
	pos = rank * bytes;
	if (in == MPI_IN_PLACE)
		PMPI_Pack(out + rank * out_count * extent, out_count, out_t, w, bytes * g->n, &pos,
			  comm);
	else
		PMPI_Pack(in, count, t, w, bytes * g->n, &pos, comm);
	err = blocks(g, bytes, w, gets ? g->n : 0);
	for (i = 0, pos = 0; i < g->n && gets && !err; i++)
		PMPI_Unpack(w, bytes * g->n, &pos, out + i * out_count * extent, out_count, out_t,
			    comm);
	free(w);
	return err;
}

/*
 * One buffer for both is forbidden, but rank 0 of many programs has it: no library minds. @bytes:
 * of a block
 */
static enum why fits_allgather(const struct ring *g, const void *in, int count, MPI_Datatype t,
			       const void *out, int out_count, MPI_Datatype out_t, long *bytes)
{
	long words;

	*bytes = block_bytes(out_count, out_t);
	if (*bytes < 0 || out == MPI_IN_PLACE ||
	    (in != MPI_IN_PLACE && block_bytes(count, t) != *bytes))
		return WRONG;
	words = (*bytes * g->n + 7) / 8;
	return *bytes && pays(g, words, tree_messages(g)) ? DONE : SIZE;
}

int MPI_Allgather(const void *in, int count, MPI_Datatype t, void *out, int out_count,
		  MPI_Datatype out_t, MPI_Comm comm)
{
	struct call call;
	struct ring *g = pw.on ? ring_of(comm) : NULL;
	enum why why = !pw.on ? OFF : g ? DONE : COMM;
	long bytes = 0;
	int err;

	if (why == DONE)
		why = fits_allgather(g, in, count, t, out, out_count, out_t, &bytes);
	call = begin(ALLGATHER, comm, why, bytes);
	if (why != DONE)
		return passed(&call, PMPI_Allgather(in, count, t, out, out_count, out_t, comm));
	err = gather(g, in, count, t, out, out_count, out_t, true, bytes, comm);
	end(&call);
	return err ? failed(comm, err) : MPI_SUCCESS;
}

static enum why fits_gather(const struct ring *g, const void *in, int count, MPI_Datatype t,
			    const void *out, int out_count, MPI_Datatype out_t, int root, int rank,
			    long *bytes)
{
	long words;

	if (!is_root(g, root))
		return WRONG;
	*bytes = in == MPI_IN_PLACE ? block_bytes(out_count, out_t) : block_bytes(count, t);
	if (*bytes < 0 || (in == MPI_IN_PLACE && rank != root) ||
	    (rank == root && (out == MPI_IN_PLACE || block_bytes(out_count, out_t) != *bytes)))
		return WRONG;
	words = (*bytes * g->n + 7) / 8;
	return *bytes && pays(g, words, g->n - 1) ? DONE : SIZE;
}

int MPI_Gather(const void *in, int count, MPI_Datatype t, void *out, int out_count,
	       MPI_Datatype out_t, int root, MPI_Comm comm)
{
	struct call call;
	struct ring *g = pw.on ? ring_of(comm) : NULL;
	enum why why = !pw.on ? OFF : g ? DONE : COMM;
	int err, rank = -1;
	long bytes = 0;

	if (why == DONE) {
		PMPI_Comm_rank(comm, &rank);
		why = fits_gather(g, in, count, t, out, out_count, out_t, root, rank, &bytes);
	}
	call = begin(GATHER, comm, why, bytes);
	if (why != DONE)
		return passed(&call, PMPI_Gather(in, count, t, out, out_count, out_t, root, comm));
	err = gather(g, in, count, t, out, out_count, out_t, rank == root, bytes, comm);
	end(&call);
	return err ? failed(comm, err) : MPI_SUCCESS;
}

/* integers only: sums of others depend on the order */
static enum why fits_scan(MPI_Comm comm, const void *in, const void *out, int count,
			  MPI_Datatype t, MPI_Op op, struct ring **g)
{
	enum why why = fits(comm, t, op, count, g);
	long words;

	if (why != DONE)
		return why;
	if (int_type(t) < 0)
		return TYPE;
	words = ((long)count * pw.type[int_type(t)].size * (*g)->n + 7) / 8;
	if (!pays(*g, words, (*g)->n - 1))
		return SIZE;
	return buffers(in, out, true, false) ? DONE : WRONG;
}

/* the first @n blocks; the library combines them */
static void combine_blocks(const uint64_t *w, void *out, int count, int bytes, int n, MPI_Datatype t,
			   MPI_Op op)
{
	const char *from = (const char *)w;
	int i;

	for (i = 0; i < n; i++) {
		if (i)
			PMPI_Reduce_local(from + i * bytes, out, count, t, op);
		else
			memcpy(out, from, bytes);
	}
}

/* of the ranks before this one, and of this one if @own */
static int scan(struct ring *g, const void *in, void *out, int count, MPI_Datatype t, MPI_Op op,
		bool own, MPI_Comm comm)
{
	int err, rank, bytes = count * pw.type[int_type(t)].size;
	uint64_t *w = block_words(g, bytes);

	PMPI_Comm_rank(comm, &rank);
	memcpy((char *)w + rank * bytes, in, bytes);
	err = blocks(g, bytes, w, rank + own);
	if (!err)
		combine_blocks(w, out, count, bytes, rank + own, t, op);
	free(w);
	return err;
}

int MPI_Scan(const void *in, void *out, int count, MPI_Datatype t, MPI_Op op, MPI_Comm comm)
{
	struct call call;
	struct ring *g = NULL;
	enum why why = fits_scan(comm, in, out, count, t, op, &g);
	int err;

	call = begin(SCAN, comm, why, why == DONE ? type_bytes(t, count) : 0);
	if (why != DONE)
		return passed(&call, PMPI_Scan(in, out, count, t, op, comm));
	err = scan(g, in == MPI_IN_PLACE ? out : in, out, count, t, op, true, comm);
	end(&call);
	return err ? failed(comm, err) : MPI_SUCCESS;
}

int MPI_Exscan(const void *in, void *out, int count, MPI_Datatype t, MPI_Op op, MPI_Comm comm)
{
	struct call call;
	struct ring *g = NULL;
	enum why why = fits_scan(comm, in, out, count, t, op, &g);
	int err;

	call = begin(EXSCAN, comm, why, why == DONE ? type_bytes(t, count) : 0);
	if (why != DONE)
		return passed(&call, PMPI_Exscan(in, out, count, t, op, comm));
	err = scan(g, in == MPI_IN_PLACE ? out : in, out, count, t, op, false, comm);
	end(&call);
	return err ? failed(comm, err) : MPI_SUCCESS;
}

/* Forms that do not wait ---------------------------------------------------------- */

/* a collective of one round */
struct later {
	struct pw_request x;
	enum { WHOLE, PACKED, PART, PREFIX, BLOCKS } form;	/* of the result */
	void *out;
	int count;		/* of the result, or of a block */
	MPI_Datatype t;		/* PACKED, BLOCKS: our own */
	enum op op;		/* of a reduction */
	int first, own;		/* PART: this rank's */
	int bytes;		/* BLOCKS, PREFIX: of a block */
	int wanted;		/* PACKED, BLOCKS, PREFIX: blocks for this rank, from that of rank 0 on */
};

/*
 * Where they go; NULL: to the MPI library. To find a ring for a communicator is to wait, so it
 * must have one from its collectives before. One that shares the rounds of the world has none of
 * its own: collectives of two communicators that do not wait may begin in any order.
 */
static struct ring *later_ring(MPI_Comm comm, const MPI_Request *r)
{
	struct ring *g = NULL;
	int flag = 0;

	if (!pw.on || !r || pw.later.bit < 0 || comm == MPI_COMM_NULL)
		return NULL;
	if (comm == MPI_COMM_WORLD)
		return &pw.later;
	if (PMPI_Comm_get_attr(comm, pw.keyval, &g, &flag) != MPI_SUCCESS || !flag)
		return NULL;
	return g->bit < 0 || g == &pw.world ? NULL : g;
}

static void later_failed(struct pw_request *x)
{
	failed(x->comm, x->err);
}

/* the result of a reduction */
static void store_whole(struct later *l, uint64_t *w)
{
	int f = float_type(l->t), pair = pair_type(l->t), type = int_type(l->t), i;
	char *to = l->out;

	if (f >= 0) {
		for (i = 0; i < l->count; i++)
			pw_exact_from_image(pw.floats[f].kind, w[i], l->op == MAX,
					    to + i * pw_exact_size(pw.floats[f].kind));
	} else if (pair >= 0) {
		pair_results(&pw.pair[pair], w, to, l->count, l->op == MAXLOC);
	} else if (l->op == LAND || l->op == LOR) {
		truth_results(type, w, to, l->count);
	} else {
		int_results(type, l->op, w, to, l->count);
	}
}

static void later_store(struct pw_request *x)
{
	struct later *l = (struct later *)x;
	uint64_t *w = x->round.word;
	MPI_Aint low, extent = 0;
	int i, pos = 0;
	char *to = l->out;

	switch (l->form) {
	case WHOLE:
		store_whole(l, w);
		break;
	case PART:
		int_results(int_type(l->t), l->op, w + l->first, to, l->own);
		break;
	case PREFIX:
		combine_blocks(w, to, l->count, l->bytes, l->wanted, l->t, mpi_op(l->op));
		break;
	case PACKED:
	case BLOCKS:
		PMPI_Type_get_extent(l->t, &low, &extent);
		for (i = 0; i < l->wanted; i++)
			PMPI_Unpack(w, sizeof(x->round.word), &pos, to + i * l->count * extent,
				    l->count, l->t, x->comm);
		PMPI_Type_free(&l->t);
	}
}

/* do so many bytes of all ranks take more than one round? */
static bool too_long(const struct ring *g, long bytes)
{
	return bytes > 8 * g->lane->slots;
}

/* words of a reduction; 0: it takes more than one round. Nothing is stored without @w. */
static int later_words(const struct ring *g, const char *in, int count, MPI_Datatype t, enum op op,
		       uint64_t *w)
{
	int f = float_type(t), pair = pair_type(t), type = int_type(t), i;
	bool truth = op == LAND || op == LOR;
	int words = truth ? (count + 63) / 64 : count;

	if (words > g->lane->slots || (f >= 0 && op == SUM) ||
	    (pair >= 0 && !is_short(&pw.pair[pair])))
		return 0;
	if (!w)
		return words;
	if (f >= 0)
		for (i = 0; i < count; i++)
			w[i] = pw_exact_image(pw.floats[f].kind,
					      in + i * pw_exact_size(pw.floats[f].kind), op == MAX);
	else if (pair >= 0)
		pair_words(&pw.pair[pair], in, w, count, op == MAXLOC);
	else if (truth)
		truth_words(type, in, w, count);
	else
		int_words(type, op, in, w, count);
	return words;
}

static struct later *new_later(MPI_Comm comm)
{
	struct later *l = calloc(1, sizeof(*l));

	if (!l)
		give_up("request", -ENOMEM);
	l->x.comm = comm;
	l->x.fail = later_failed;
	return l;
}

/* @words words of @l, by @op, go to the ring */
static int start_later(struct ring *g, struct later *l, uint32_t op, uint32_t mods, int words,
		       const struct call *call, MPI_Request *r)
{
	struct pwl_round *round = &l->x.round;
	int i, err;

	round->bit = g->bit;
	round->members = g->n;
	round->round = ++g->waits.round;
	round->op = op;
	round->mods = mods;
	round->count = words;
	for (i = 0; i < words; i++)
		round->reg[i] = g->lane->reg[i];
	/* MPI_BOTTOM is NULL */
	l->x.store = l->out || l->wanted ? later_store : NULL;
	l->x.of = g->persistent;
	packets += words;
	err = pw_request_start(pw.s, pw.threads, &g->queue, &l->x, r);
	if (err != MPI_SUCCESS) {
		g->waits.round--;
		if (l->form == PACKED || l->form == BLOCKS)
			PMPI_Type_free(&l->t);
		free(l);
	}
	end(call);
	return err;
}

static int reduce_later(struct ring *g, const void *in, void *out, int count, MPI_Datatype t,
			MPI_Op mpi_op, MPI_Comm comm, const struct call *call, MPI_Request *r)
{
	struct later *l = new_later(comm);
	enum op op = which_op(mpi_op);
	uint32_t mods = int_type(t) >= 0 && float_type(t) < 0 ? int_mods(int_type(t), op) : 0;
	int words;

	l->out = out;
	l->count = count;
	l->t = t;
	l->op = op;
	words = later_words(g, in, count, t, op, l->x.round.word);
	return start_later(g, l, ring_op(op), mods, words, call, r);
}

/* as begin(), of what does not wait or is persistent */
static struct call begin_form(enum coll coll, MPI_Comm comm, enum why why, uint64_t bytes)
{
	return begin(why == FORM ? OTHER_FORM : coll, comm, why, bytes);
}

/* of @count elements */
static struct call begin_elements(enum coll coll, MPI_Comm comm, enum why why, MPI_Datatype t,
				  long count)
{
	return begin_form(coll, comm, why, why == DONE ? type_bytes(t, count) : 0);
}

/*
 * What does not wait and what is persistent have the same rules. @g: as later_ring() and
 * persistent_ring() say
 */
static enum why fits_form(const struct ring *g)
{
	return !pw.on ? OFF : g ? DONE : FORM;
}

/* as fits() */
static enum why fits_later(const struct ring *g, MPI_Comm comm, MPI_Datatype t, MPI_Op op, int count)
{
	enum why why = fits_form(g);
	struct ring *waits;

	if (why == DONE)
		why = fits(comm, t, op, count, &waits);
	if (why == DONE && !later_words(g, NULL, count, t, which_op(op), NULL))
		why = FORM;
	return why;
}

static enum why fits_allreduce_later(const struct ring *g, const void *in, const void *out,
				     int count, MPI_Datatype t, MPI_Op op, MPI_Comm comm)
{
	enum why why = fits_later(g, comm, t, op, count);

	if (why == DONE && dear(g, t, op, count, tree_messages(g)))
		why = SIZE;
	if (why == DONE && !buffers(in, out, true, pw.allreduce_alias))
		why = WRONG;
	return why;
}

static enum why fits_reduce_later(const struct ring *g, const void *in, const void *out, int count,
				  MPI_Datatype t, MPI_Op op, int root, MPI_Comm comm)
{
	enum why why = fits_later(g, comm, t, op, count);

	if (why == DONE && dear(g, t, op, count, g->n - 1))
		why = SIZE;
	if (why == DONE && (!is_root(g, root) ||
			    !buffers(in, out, rank_in(comm) == root, pw.reduce_alias)))
		why = WRONG;
	return why;
}

/* as MPI_Bcast(), if the words are for one round */
static enum why fits_bcast_later(const struct ring *g, int count, MPI_Datatype t, int root,
				 long *bytes)
{
	enum why why = fits_form(g);

	if (why != DONE)
		return why;
	*bytes = block_bytes(count, t);
	if (!is_root(g, root) || *bytes < 0)
		return WRONG;
	if (!*bytes || *bytes > pw.max * 8 || *bytes > pw.bcast_max)
		return SIZE;
	return too_long(g, *bytes) ? FORM : DONE;
}

static enum why fits_allgather_later(const struct ring *g, const void *in, int count,
				     MPI_Datatype t, const void *out, int out_count,
				     MPI_Datatype out_t, long *bytes)
{
	enum why why = fits_form(g);

	if (why == DONE)
		why = fits_allgather(g, in, count, t, out, out_count, out_t, bytes);
	return why == DONE && too_long(g, *bytes * g->n) ? FORM : why;
}

static enum why fits_gather_later(const struct ring *g, const void *in, int count, MPI_Datatype t,
				  const void *out, int out_count, MPI_Datatype out_t, int root,
				  MPI_Comm comm, long *bytes)
{
	enum why why = fits_form(g);

	if (why == DONE)
		why = fits_gather(g, in, count, t, out, out_count, out_t, root, rank_in(comm), bytes);
	return why == DONE && too_long(g, *bytes * g->n) ? FORM : why;
}

static enum why fits_scan_later(const struct ring *g, MPI_Comm comm, const void *in,
				const void *out, int count, MPI_Datatype t, MPI_Op op)
{
	enum why why = fits_form(g);
	struct ring *waits;

	if (why == DONE)
		why = fits_scan(comm, in, out, count, t, op, &waits);
	if (why == DONE && too_long(g, (long)count * pw.type[int_type(t)].size * g->n))
		why = FORM;
	return why;
}

static enum why fits_part_later(const struct ring *g, MPI_Comm comm, const void *in,
				const void *out, int count, MPI_Datatype t, MPI_Op op)
{
	enum why why = fits_later(g, comm, t, op, 1);

	if (why == DONE)
		why = fits_part(g, t, op, (long)count * g->n);
	if (why == DONE && !buffers(in, out, true, false))
		why = WRONG;
	if (why == DONE && (long)count * g->n > g->lane->slots)
		why = FORM;
	return why;
}

static enum why fits_parts_later(const struct ring *g, MPI_Comm comm, const void *in,
				 const void *out, const int counts[], MPI_Datatype t, MPI_Op op,
				 struct own_part *own)
{
	enum why why = fits_later(g, comm, t, op, 1);

	if (why == DONE)
		why = fits_parts(g, rank_in(comm), in, out, counts, t, op, own);
	return why == DONE && own->total > g->lane->slots ? FORM : why;
}

int MPI_Iallreduce(const void *in, void *out, int count, MPI_Datatype t, MPI_Op op, MPI_Comm comm,
		   MPI_Request *r)
{
	struct ring *g = later_ring(comm, r);
	enum why why = fits_allreduce_later(g, in, out, count, t, op, comm);
	struct call call = begin_elements(ALLREDUCE, comm, why, t, count);

	if (why != DONE)
		return passed(&call, PMPI_Iallreduce(in, out, count, t, op, comm, r));
	return reduce_later(g, in == MPI_IN_PLACE ? out : in, out, count, t, op, comm, &call, r);
}

int MPI_Ireduce(const void *in, void *out, int count, MPI_Datatype t, MPI_Op op, int root,
		MPI_Comm comm, MPI_Request *r)
{
	struct ring *g = later_ring(comm, r);
	enum why why = fits_reduce_later(g, in, out, count, t, op, root, comm);
	struct call call = begin_elements(REDUCE, comm, why, t, count);

	if (why != DONE)
		return passed(&call, PMPI_Ireduce(in, out, count, t, op, root, comm, r));
	return reduce_later(g, in == MPI_IN_PLACE ? out : in, g->rank == root ? out : NULL, count, t,
			    op, comm, &call, r);
}

static int barrier_later(struct ring *g, MPI_Comm comm, const struct call *call, MPI_Request *r)
{
	return start_later(g, new_later(comm), PW_ATON_OP_OR, 0, 1, call, r);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *r)
{
	struct ring *g = later_ring(comm, r);
	enum why why = fits_form(g);
	struct call call = begin_form(BARRIER, comm, why, 0);

	if (why != DONE)
		return passed(&call, PMPI_Ibarrier(comm, r));
	return barrier_later(g, comm, &call, r);
}

static int bcast_later(struct ring *g, void *buf, int count, MPI_Datatype t, int root, long bytes,
		       MPI_Comm comm, const struct call *call, MPI_Request *r)
{
	struct later *l = new_later(comm);
	int room = 0, pos = 0;
	char *packed;

	if (g->rank == root) {
		PMPI_Pack_size(count, t, comm, &room);
		packed = malloc(room > bytes ? room : bytes);
		if (!packed)
			give_up("broadcast", -ENOMEM);
		PMPI_Pack(buf, count, t, packed, room, &pos, comm);
		memcpy(l->x.round.word, packed, bytes);
		free(packed);
	} else {
		l->form = PACKED;
		l->out = buf;
		l->count = count;
		l->wanted = 1;
		/* the program may free its own at once */
		PMPI_Type_dup(t, &l->t);
	}
	return start_later(g, l, PW_ATON_OP_OR, 0, (bytes + 7) / 8, call, r);
}

int MPI_Ibcast(void *buf, int count, MPI_Datatype t, int root, MPI_Comm comm, MPI_Request *r)
{
	struct ring *g = later_ring(comm, r);
	long bytes = 0;
	enum why why = fits_bcast_later(g, count, t, root, &bytes);
	struct call call = begin_form(BCAST, comm, why, bytes);

	if (why != DONE)
		return passed(&call, PMPI_Ibcast(buf, count, t, root, comm, r));
	return bcast_later(g, buf, count, t, root, bytes, comm, &call, r);
}

/* blocks of all ranks, one after another: this rank's goes to the ring */
static int blocks_later(struct ring *g, const void *in, int count, MPI_Datatype t, char *out,
			int out_count, MPI_Datatype out_t, bool gets, int bytes, MPI_Comm comm,
			const struct call *call, MPI_Request *r)
{
	struct later *l = new_later(comm);
	uint64_t *w = l->x.round.word;
	MPI_Aint low, extent = 0;
	int pos = g->rank * bytes;

	if (gets)
		PMPI_Type_get_extent(out_t, &low, &extent);
	if (in == MPI_IN_PLACE)
		PMPI_Pack(out + g->rank * out_count * extent, out_count, out_t, w, bytes * g->n, &pos,
			  comm);
	else
		PMPI_Pack(in, count, t, w, bytes * g->n, &pos, comm);
	if (gets) {
		l->form = BLOCKS;
		l->out = out;
		l->count = out_count;
		l->wanted = g->n;
		PMPI_Type_dup(out_t, &l->t);
	}
	return start_later(g, l, PW_ATON_OP_OR, 0, (bytes * g->n + 7) / 8, call, r);
}

int MPI_Iallgather(const void *in, int count, MPI_Datatype t, void *out, int out_count,
		   MPI_Datatype out_t, MPI_Comm comm, MPI_Request *r)
{
	struct ring *g = later_ring(comm, r);
	long bytes = 0;
	enum why why = fits_allgather_later(g, in, count, t, out, out_count, out_t, &bytes);
	struct call call = begin_form(ALLGATHER, comm, why, bytes);

	if (why != DONE)
		return passed(&call, PMPI_Iallgather(in, count, t, out, out_count, out_t, comm, r));
	return blocks_later(g, in, count, t, out, out_count, out_t, true, bytes, comm, &call, r);
}

int MPI_Igather(const void *in, int count, MPI_Datatype t, void *out, int out_count,
		MPI_Datatype out_t, int root, MPI_Comm comm, MPI_Request *r)
{
	struct ring *g = later_ring(comm, r);
	long bytes = 0;
	enum why why = fits_gather_later(g, in, count, t, out, out_count, out_t, root, comm, &bytes);
	struct call call = begin_form(GATHER, comm, why, bytes);

	if (why != DONE)
		return passed(&call, PMPI_Igather(in, count, t, out, out_count, out_t, root, comm, r));
	return blocks_later(g, in, count, t, out, out_count, out_t, g->rank == root, bytes, comm,
			    &call, r);
}

static int scan_later(struct ring *g, const void *in, void *out, int count, MPI_Datatype t,
		      MPI_Op op, bool own, MPI_Comm comm, const struct call *call, MPI_Request *r)
{
	int bytes = count * pw.type[int_type(t)].size;
	struct later *l = new_later(comm);

	memcpy((char *)l->x.round.word + g->rank * bytes, in == MPI_IN_PLACE ? out : in, bytes);
	l->form = PREFIX;
	l->out = out;
	l->count = count;
	l->t = t;
	l->op = which_op(op);
	l->bytes = bytes;
	l->wanted = g->rank + own;
	return start_later(g, l, PW_ATON_OP_OR, 0, (bytes * g->n + 7) / 8, call, r);
}

int MPI_Iscan(const void *in, void *out, int count, MPI_Datatype t, MPI_Op op, MPI_Comm comm,
	      MPI_Request *r)
{
	struct ring *g = later_ring(comm, r);
	enum why why = fits_scan_later(g, comm, in, out, count, t, op);
	struct call call = begin_elements(SCAN, comm, why, t, count);

	if (why != DONE)
		return passed(&call, PMPI_Iscan(in, out, count, t, op, comm, r));
	return scan_later(g, in, out, count, t, op, true, comm, &call, r);
}

int MPI_Iexscan(const void *in, void *out, int count, MPI_Datatype t, MPI_Op op, MPI_Comm comm,
		MPI_Request *r)
{
	struct ring *g = later_ring(comm, r);
	enum why why = fits_scan_later(g, comm, in, out, count, t, op);
	struct call call = begin_elements(EXSCAN, comm, why, t, count);

	if (why != DONE)
		return passed(&call, PMPI_Iexscan(in, out, count, t, op, comm, r));
	return scan_later(g, in, out, count, t, op, false, comm, &call, r);
}

static int part_later(struct ring *g, const void *in, void *out, const struct own_part *own,
		      MPI_Datatype t, MPI_Op op, MPI_Comm comm, const struct call *call,
		      MPI_Request *r)
{
	struct later *l = new_later(comm);

	l->form = PART;
	l->out = out;
	l->t = t;
	l->op = which_op(op);
	l->first = own->first;
	l->own = own->count;
	int_words(int_type(t), l->op, in == MPI_IN_PLACE ? out : in, l->x.round.word, own->total);
	return start_later(g, l, ring_op(l->op), int_mods(int_type(t), l->op), own->total, call, r);
}

/* parts of one size */
static struct own_part equal_part(const struct ring *g, int count)
{
	return (struct own_part) { count * g->rank, count, (long)count * g->n };
}

int MPI_Ireduce_scatter_block(const void *in, void *out, int count, MPI_Datatype t, MPI_Op op,
			      MPI_Comm comm, MPI_Request *r)
{
	struct ring *g = later_ring(comm, r);
	enum why why = fits_part_later(g, comm, in, out, count, t, op);
	struct call call = begin_elements(REDUCE_SCATTER_BLOCK, comm, why, t,
					  g ? (long)count * g->n : 0);
	struct own_part own;

	if (why != DONE)
		return passed(&call, PMPI_Ireduce_scatter_block(in, out, count, t, op, comm, r));
	own = equal_part(g, count);
	return part_later(g, in, out, &own, t, op, comm, &call, r);
}

int MPI_Ireduce_scatter(const void *in, void *out, const int counts[], MPI_Datatype t, MPI_Op op,
			MPI_Comm comm, MPI_Request *r)
{
	struct ring *g = later_ring(comm, r);
	struct own_part own = { 0 };
	enum why why = fits_parts_later(g, comm, in, out, counts, t, op, &own);
	struct call call = begin_elements(REDUCE_SCATTER, comm, why, t, own.total);

	if (why != DONE)
		return passed(&call, PMPI_Ireduce_scatter(in, out, counts, t, op, comm, r));
	return part_later(g, in, out, &own, t, op, comm, &call, r);
}

/* Persistent forms ------------------------------------------------------------------- */

#if PW_PERSISTENT
static int start_persistent(struct pw_persistent *x)
{
	struct persistent *p = (struct persistent *)x;
	struct ring *g = &p->ring;
	struct call call;

	/* the library does not know this collective */
	if (!pw.on || x->under_way) {
		PMPI_Comm_call_errhandler(p->comm, x->under_way ? MPI_ERR_REQUEST : MPI_ERR_OTHER);
		return x->under_way ? MPI_ERR_REQUEST : MPI_ERR_OTHER;
	}
	call = begin(p->coll, p->comm, DONE, p->bytes);
	switch (p->coll) {
	case BCAST:
		return bcast_later(g, p->out, p->count, p->t, p->root, p->bytes, p->comm, &call,
				   NULL);
	case ALLREDUCE:
	case REDUCE:
		return reduce_later(g, p->in, p->gets ? p->out : NULL, p->count, p->t, p->op,
				    p->comm, &call, NULL);
	case REDUCE_SCATTER_BLOCK:
	case REDUCE_SCATTER:
		return part_later(g, p->in, p->out, &p->own, p->t, p->op, p->comm, &call, NULL);
	case ALLGATHER:
	case GATHER:
		return blocks_later(g, p->in, p->count, p->t, p->out, p->out_count, p->out_t,
				    p->gets, p->bytes, p->comm, &call, NULL);
	case SCAN:
	case EXSCAN:
		return scan_later(g, p->in, p->out, p->count, p->t, p->op, p->coll == SCAN, p->comm,
				  &call, NULL);
	default:
		return barrier_later(g, p->comm, &call, NULL);
	}
}

static void free_persistent(struct persistent *p)
{
	struct persistent **at;

	pthread_mutex_lock(&pw.lock);
	for (at = &pw.persistent; *at && *at != p; at = &(*at)->next)
		;
	if (*at)
		*at = p->next;
	pthread_mutex_unlock(&pw.lock);
	if (p->own_t != MPI_DATATYPE_NULL)
		PMPI_Type_free(&p->own_t);
	if (p->own_out_t != MPI_DATATYPE_NULL)
		PMPI_Type_free(&p->own_out_t);
	if (p->ring.bit >= 0 && pw.s)
		lease_return(0, 1U << p->ring.bit);
	free(p);
}

static void end_persistent(struct pw_persistent *x)
{
	struct persistent *p = (struct persistent *)x;

	pw_request_drain(&p->ring.queue, true);
	free_persistent(p);
}

/* the ring that a persistent collective is decided for: it has the registers, and gets a bit */
static struct ring *persistent_ring(MPI_Comm comm, const MPI_Request *r)
{
	return pw.on && r && pw.later.bit >= 0 ? ring_of(comm) : NULL;
}

/* with a bit of its own; NULL: there is none, at no rank. @g: that of its communicator */
static struct persistent *new_persistent(enum coll coll, const struct ring *g, MPI_Comm comm)
{
	struct persistent *p = calloc(1, sizeof(*p));

	if (!p)
		give_up("persistent collective", -ENOMEM);
	p->p.start = start_persistent;
	p->p.end = end_persistent;
	p->coll = coll;
	p->comm = comm;
	p->own_t = MPI_DATATYPE_NULL;
	p->own_out_t = MPI_DATATYPE_NULL;
	p->ring.lane = g->lane;
	p->ring.n = g->n;
	p->ring.rank = rank_in(comm);
	p->ring.bit = -1;
	p->ring.persistent = &p->p;
	if (find_bit(&p->ring, comm, SPARE_BITS))
		return p;
	free(p);
	return NULL;
}

/* the program gets the handle of what is on the ring */
static int give_persistent(struct persistent *p, MPI_Request *r)
{
	int err = pw_persistent_make(&p->p, pw.quiet, r);

	if (err != MPI_SUCCESS) {
		free_persistent(p);
		return err;
	}
	pthread_mutex_lock(&pw.lock);
	p->next = pw.persistent;
	pw.persistent = p;
	pthread_mutex_unlock(&pw.lock);
	return MPI_SUCCESS;
}

/* it goes to the library: for @why, or because there is no bit for it */
static struct call pass_persistent(enum coll coll, MPI_Comm comm, enum why why)
{
	return begin_form(coll, comm, why == DONE ? FORM : why, 0);
}

/* a reduction, scan or part */
static int give_reduction(struct persistent *p, const void *in, void *out, bool gets, int count,
			  MPI_Datatype t, MPI_Op op, long elements, MPI_Request *r)
{
	p->in = in == MPI_IN_PLACE ? out : in;
	p->out = out;
	p->gets = gets;
	p->count = count;
	p->t = t;
	p->op = op;
	p->bytes = type_bytes(t, elements);
	return give_persistent(p, r);
}

int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *r)
{
	struct ring *g = persistent_ring(comm, r);
	enum why why = fits_form(g);
	struct persistent *p = why == DONE ? new_persistent(BARRIER, g, comm) : NULL;
	struct call call;

	if (p)
		return give_persistent(p, r);
	call = pass_persistent(BARRIER, comm, why);
	return passed(&call, PMPI_Barrier_init(comm, info, r));
}

int MPI_Bcast_init(void *buf, int n, MPI_Datatype t, int root, MPI_Comm comm, MPI_Info info,
		   MPI_Request *r)
{
	struct ring *g = persistent_ring(comm, r);
	long bytes = 0;
	enum why why = fits_bcast_later(g, n, t, root, &bytes);
	struct persistent *p = why == DONE ? new_persistent(BCAST, g, comm) : NULL;
	struct call call;

	if (p) {
		p->out = buf;
		p->count = n;
		p->root = root;
		p->bytes = bytes;
		/* the program may free its own */
		PMPI_Type_dup(t, &p->own_t);
		p->t = p->own_t;
		return give_persistent(p, r);
	}
	call = pass_persistent(BCAST, comm, why);
	return passed(&call, PMPI_Bcast_init(buf, n, t, root, comm, info, r));
}

int MPI_Allreduce_init(const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm,
		       MPI_Info info, MPI_Request *r)
{
	struct ring *g = persistent_ring(comm, r);
	enum why why = fits_allreduce_later(g, in, out, n, t, op, comm);
	struct persistent *p = why == DONE ? new_persistent(ALLREDUCE, g, comm) : NULL;
	struct call call;

	if (p)
		return give_reduction(p, in, out, true, n, t, op, n, r);
	call = pass_persistent(ALLREDUCE, comm, why);
	return passed(&call, PMPI_Allreduce_init(in, out, n, t, op, comm, info, r));
}

int MPI_Reduce_init(const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, int root,
		    MPI_Comm comm, MPI_Info info, MPI_Request *r)
{
	struct ring *g = persistent_ring(comm, r);
	enum why why = fits_reduce_later(g, in, out, n, t, op, root, comm);
	struct persistent *p = why == DONE ? new_persistent(REDUCE, g, comm) : NULL;
	struct call call;

	if (p)
		return give_reduction(p, in, out, p->ring.rank == root, n, t, op, n, r);
	call = pass_persistent(REDUCE, comm, why);
	return passed(&call, PMPI_Reduce_init(in, out, n, t, op, root, comm, info, r));
}

int MPI_Scan_init(const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm,
		  MPI_Info info, MPI_Request *r)
{
	struct ring *g = persistent_ring(comm, r);
	enum why why = fits_scan_later(g, comm, in, out, n, t, op);
	struct persistent *p = why == DONE ? new_persistent(SCAN, g, comm) : NULL;
	struct call call;

	if (p)
		return give_reduction(p, in, out, true, n, t, op, n, r);
	call = pass_persistent(SCAN, comm, why);
	return passed(&call, PMPI_Scan_init(in, out, n, t, op, comm, info, r));
}

int MPI_Exscan_init(const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm,
		    MPI_Info info, MPI_Request *r)
{
	struct ring *g = persistent_ring(comm, r);
	enum why why = fits_scan_later(g, comm, in, out, n, t, op);
	struct persistent *p = why == DONE ? new_persistent(EXSCAN, g, comm) : NULL;
	struct call call;

	if (p)
		return give_reduction(p, in, out, true, n, t, op, n, r);
	call = pass_persistent(EXSCAN, comm, why);
	return passed(&call, PMPI_Exscan_init(in, out, n, t, op, comm, info, r));
}

int MPI_Reduce_scatter_block_init(const void *in, void *out, int n, MPI_Datatype t, MPI_Op op,
				  MPI_Comm comm, MPI_Info info, MPI_Request *r)
{
	struct ring *g = persistent_ring(comm, r);
	enum why why = fits_part_later(g, comm, in, out, n, t, op);
	struct persistent *p = why == DONE ? new_persistent(REDUCE_SCATTER_BLOCK, g, comm) : NULL;
	struct call call;

	if (p) {
		p->own = equal_part(&p->ring, n);
		return give_reduction(p, in, out, true, n, t, op, p->own.total, r);
	}
	call = pass_persistent(REDUCE_SCATTER_BLOCK, comm, why);
	return passed(&call, PMPI_Reduce_scatter_block_init(in, out, n, t, op, comm, info, r));
}

int MPI_Reduce_scatter_init(const void *in, void *out, const int n[], MPI_Datatype t, MPI_Op op,
			    MPI_Comm comm, MPI_Info info, MPI_Request *r)
{
	struct ring *g = persistent_ring(comm, r);
	struct own_part own;
	enum why why = fits_parts_later(g, comm, in, out, n, t, op, &own);
	struct persistent *p = why == DONE ? new_persistent(REDUCE_SCATTER, g, comm) : NULL;
	struct call call;

	if (p) {
		p->own = own;
		return give_reduction(p, in, out, true, own.count, t, op, own.total, r);
	}
	call = pass_persistent(REDUCE_SCATTER, comm, why);
	return passed(&call, PMPI_Reduce_scatter_init(in, out, n, t, op, comm, info, r));
}

/* types that have no meaning at this rank are not looked at */
static int give_blocks(struct persistent *p, const void *in, int n, MPI_Datatype t, void *out,
		       int m, MPI_Datatype u, bool gets, long bytes, MPI_Request *r)
{
	p->in = in;
	p->out = out;
	p->gets = gets;
	p->count = n;
	p->out_count = m;
	p->bytes = bytes;
	if (in != MPI_IN_PLACE)
		PMPI_Type_dup(t, &p->own_t);
	if (gets)
		PMPI_Type_dup(u, &p->own_out_t);
	p->t = p->own_t;
	p->out_t = p->own_out_t;
	return give_persistent(p, r);
}

int MPI_Allgather_init(const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u,
		       MPI_Comm comm, MPI_Info info, MPI_Request *r)
{
	struct ring *g = persistent_ring(comm, r);
	long bytes = 0;
	enum why why = fits_allgather_later(g, in, n, t, out, m, u, &bytes);
	struct persistent *p = why == DONE ? new_persistent(ALLGATHER, g, comm) : NULL;
	struct call call;

	if (p)
		return give_blocks(p, in, n, t, out, m, u, true, bytes, r);
	call = pass_persistent(ALLGATHER, comm, why);
	return passed(&call, PMPI_Allgather_init(in, n, t, out, m, u, comm, info, r));
}

int MPI_Gather_init(const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u,
		    int root, MPI_Comm comm, MPI_Info info, MPI_Request *r)
{
	struct ring *g = persistent_ring(comm, r);
	long bytes = 0;
	enum why why = fits_gather_later(g, in, n, t, out, m, u, root, comm, &bytes);
	struct persistent *p = why == DONE ? new_persistent(GATHER, g, comm) : NULL;
	struct call call;

	if (p)
		return give_blocks(p, in, n, t, out, m, u, p->ring.rank == root, bytes, r);
	call = pass_persistent(GATHER, comm, why);
	return passed(&call, PMPI_Gather_init(in, n, t, out, m, u, root, comm, info, r));
}
#endif

/* Counts of type MPI_Count ------------------------------------------------------------ */

#if MPI_VERSION >= 4
/*
 * Those that an int holds are as without: another rank may call the function of int. Counts that
 * have no meaning at a rank may be anything.
 */
static bool is_int(MPI_Count n)
{
	return n >= INT_MIN && n <= INT_MAX;
}

#define LIST(...)	__VA_ARGS__
#define LARGE(name, coll, fit, params, args)					\
int MPI_##name##_c(params)							\
{										\
	struct call call;							\
										\
	if (fit)								\
		return MPI_##name(args);					\
	call = begin(coll, comm, pw.on ? SIZE : OFF, 0);			\
	return passed(&call, PMPI_##name##_c(args));				\
}

/* what waits, what does not, and what is persistent */
#define LARGE_FORMS(name, i_name, coll, fit, params, args)			\
LARGE(name, coll, fit, LIST(params), LIST(args))				\
LARGE(i_name, coll, fit, LIST(params, MPI_Request *r), LIST(args, r))		\
LARGE(name##_init, coll, fit, LIST(params, MPI_Info info, MPI_Request *r), LIST(args, info, r))

LARGE_FORMS(Bcast, Ibcast, BCAST, is_int(n),
	    LIST(void *buf, MPI_Count n, MPI_Datatype t, int root, MPI_Comm comm),
	    LIST(buf, n, t, root, comm))
LARGE_FORMS(Allreduce, Iallreduce, ALLREDUCE, is_int(n),
	    LIST(const void *in, void *out, MPI_Count n, MPI_Datatype t, MPI_Op op, MPI_Comm comm),
	    LIST(in, out, n, t, op, comm))
LARGE_FORMS(Reduce, Ireduce, REDUCE, is_int(n),
	    LIST(const void *in, void *out, MPI_Count n, MPI_Datatype t, MPI_Op op, int root,
		 MPI_Comm comm),
	    LIST(in, out, n, t, op, root, comm))
LARGE_FORMS(Scan, Iscan, SCAN, is_int(n),
	    LIST(const void *in, void *out, MPI_Count n, MPI_Datatype t, MPI_Op op, MPI_Comm comm),
	    LIST(in, out, n, t, op, comm))
LARGE_FORMS(Exscan, Iexscan, EXSCAN, is_int(n),
	    LIST(const void *in, void *out, MPI_Count n, MPI_Datatype t, MPI_Op op, MPI_Comm comm),
	    LIST(in, out, n, t, op, comm))
LARGE_FORMS(Reduce_scatter_block, Ireduce_scatter_block, REDUCE_SCATTER_BLOCK, is_int(n),
	    LIST(const void *in, void *out, MPI_Count n, MPI_Datatype t, MPI_Op op, MPI_Comm comm),
	    LIST(in, out, n, t, op, comm))
LARGE_FORMS(Allgather, Iallgather, ALLGATHER, (in == MPI_IN_PLACE || is_int(n)) && is_int(m),
	    LIST(const void *in, MPI_Count n, MPI_Datatype t, void *out, MPI_Count m, MPI_Datatype u,
		 MPI_Comm comm),
	    LIST(in, n, t, out, m, u, comm))
LARGE_FORMS(Gather, Igather, GATHER,
	    (in == MPI_IN_PLACE || is_int(n)) && (is_int(m) || rank_in(comm) != root),
	    LIST(const void *in, MPI_Count n, MPI_Datatype t, void *out, MPI_Count m, MPI_Datatype u,
		 int root, MPI_Comm comm),
	    LIST(in, n, t, out, m, u, root, comm))
#endif
