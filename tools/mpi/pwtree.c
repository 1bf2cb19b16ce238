// SPDX-License-Identifier: GPL-2.0
/*
 * libpwtree: MPI_Allreduce over several rings, by PMPI interposition.
 *
 *   LD_PRELOAD=libpwtree.so:libpwmpi.so, with one rank at each station of all SANs
 *
 * libpwmpi needs all ranks on one ring. Here they are on the rings of several SANs, perhaps of
 * several hosts, which routers and trunks join, and commands with scope tree reduce over all of
 * them. The rank with the lowest number on a SAN is its leader. A round r:
 *
 *   - each rank stores some words in its registers, then r in ARRIVED;
 *   - a leader asks its own ring until all ranks there have arrived, then all rings until all
 *     ranks have, then all rings for each result; it stores the results, then r in READY;
 *   - the other ranks ask their own ring until their leader is ready, then for the results.
 *
 * Only leaders send packets through trunks. A rank arrives in round r + 1 when it has the results
 * of round r, so two banks of registers for words and results are enough: nothing of round r is
 * read when round r + 2 stores into the same bank.
 *
 * Commands with scope tree have no groups: every station of the SANs must have a rank. Counter
 * says whether that is so, at the start and in each result.
 *
 * Sum, minimum, maximum, bitwise AND and OR of integers of 4 and 8 bytes in MPI_COMM_WORLD are
 * done here; all other calls go to the next library. The decision is the same at all ranks.
 */
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <packetway.h>

#define SLOTS	3		/* words of a round; calls with more are cheaper as messages */
#define REGS	(4 * SLOTS + 2)	/* two banks of words and results, ARRIVED, READY */

enum { WORDS, RESULTS };

static struct {
	bool asked, on;
	const char *reason;	/* why it is not on */
	struct pwl *s;
	int rank, n, sans;
	int near;		/* ranks on the own ring */
	bool leader;
	uint32_t reg[REGS];
	uint64_t round;
	/* calls, those that were reduced here, commands over all rings */
	unsigned long calls, done, commands;
} pt;

static uint32_t reg_of(int what, int slot)
{
	return pt.reg[(pt.round % 2 * 2 + what) * SLOTS + slot];
}

static uint32_t arrived_reg(void)
{
	return pt.reg[4 * SLOTS];
}

static uint32_t ready_reg(void)
{
	return pt.reg[4 * SLOTS + 1];
}

/* --- commands -------------------------------------------------------------------------- */

/* on all rings; 0 or a negative errno, -EPIPE: not all ranks took part */
static int on_tree(const struct pwl_aton *c, uint64_t *v1, uint64_t *v2)
{
	struct pwl_reduced r = {};
	int err;

	do {
		pt.commands++;
		err = pwl_aton_reduce(pt.s, c, 0, pt.sans, &r);
	} while (err == -EINTR);
	if (err)
		return err;
	*v1 = r.v1;
	*v2 = r.v2;
	return r.counter == (uint64_t)pt.n ? 0 : -EPIPE;
}

/* on the own ring; lost and damaged packets are sent again */
static int on_ring(const struct pwl_aton *c, uint64_t *v1, uint64_t *v2)
{
	struct pwl_result r = {};
	int tries, err = 0;

	for (tries = 0; tries < 1000; tries++) {
		err = pwl_aton(pt.s, c, &r);
		if (err != -EBADMSG && err != -EIO && err != -EINTR)
			break;
	}
	if (err)
		return err;
	*v1 = r.v1;
	*v2 = r.v2;
	return r.counter == (uint64_t)pt.near ? 0 : -EPIPE;
}

/*
 * Others first; messages of MPI go on meanwhile. A question to the own ring costs little, one to
 * all rings two packets on each trunk of the tree.
 */
static void pause_a_little(int spins, bool tree)
{
	int flag;

	if (tree)
		usleep(1000U << (spins < 4 ? spins : 4));
	else if (spins < 32)
		sched_yield();
	else
		usleep(spins < 200 ? 100 : 1000);
	if (tree || spins % 16 == 15)
		PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* until @want interfaces have this round or a later one in a register; 0 or a negative errno */
static int wait_for(int (*ask)(const struct pwl_aton *c, uint64_t *v1, uint64_t *v2),
		    uint32_t reg, uint64_t want)
{
	struct pwl_aton c = {
		.op = PW_ATON_OP_COUNT_LE, .reg = reg, .mods = PACKETWAY_ATON_COMPARAND,
		.comparand = pt.round,
	};
	uint64_t v1, count;
	int err, spins = 0;

	while (!(err = ask(&c, &v1, &count)) && count < want)
		pause_a_little(spins++, ask == on_tree);
	return err;
}

/* --- a round --------------------------------------------------------------------------- */

/* the results of all ranks in place of the words; 0 or a negative errno */
static int lead(uint32_t op, uint32_t mods, uint64_t *w, int n)
{
	uint64_t v2;
	int i, err;

	err = wait_for(on_ring, arrived_reg(), pt.near);
	if (!err)
		err = wait_for(on_tree, arrived_reg(), pt.n);
	for (i = 0; i < n && !err; i++) {
		struct pwl_aton c = { .op = op, .reg = reg_of(WORDS, i), .mods = mods };

		err = on_tree(&c, &w[i], &v2);
		if (!err)
			err = pwl_set(pt.s, reg_of(RESULTS, i), w[i]);
	}
	return err ? err : pwl_set(pt.s, ready_reg(), pt.round);
}

static int follow(uint64_t *w, int n)
{
	uint64_t v2;
	int i, err;

	err = wait_for(on_ring, ready_reg(), 1);
	for (i = 0; i < n && !err; i++) {
		/* 0 at all but the leader */
		struct pwl_aton c = { .op = PW_ATON_OP_OR, .reg = reg_of(RESULTS, i) };

		err = on_ring(&c, &w[i], &v2);
	}
	return err;
}

static int one_round(uint32_t op, uint32_t mods, uint64_t *w, int n)
{
	int i, err = 0;

	pt.round++;
	for (i = 0; i < n && !err; i++)
		err = pwl_set(pt.s, reg_of(WORDS, i), w[i]);
	if (!err)
		err = pwl_set(pt.s, arrived_reg(), pt.round);
	if (err)
		return err;
	return pt.leader ? lead(op, mods, w, n) : follow(w, n);
}

/* --- start ----------------------------------------------------------------------------- */

static bool all_agree(bool ok)
{
	int all, one = ok;

	PMPI_Allreduce(&one, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	return all;
}

/* which ranks are on this SAN, and how many SANs there are */
static bool find_sans(uint32_t addr)
{
	uint32_t *san = malloc(pt.n * sizeof(*san)), mine = addr >> 8;
	int i, k;

	if (!san)
		PMPI_Abort(MPI_COMM_WORLD, 1);
	PMPI_Allgather(&mine, 1, MPI_UINT32_T, san, 1, MPI_UINT32_T, MPI_COMM_WORLD);
	pt.leader = true;
	for (i = 0; i < pt.n; i++) {
		for (k = 0; k < i && san[k] != san[i]; k++)
			;
		pt.sans += k == i;
		pt.near += san[i] == mine;
		pt.leader &= san[i] != mine || i >= pt.rank;
	}
	free(san);
	return pt.sans > 1;
}

/* the same registers at all ranks, all 0 */
static bool take_registers(void)
{
	uint32_t free = 0, regs = 0;
	int i, n = 0, err;

	if (pwl_lease_look(pt.s, &free, NULL))
		free = 0;
	PMPI_Allreduce(MPI_IN_PLACE, &free, 1, MPI_UINT32_T, MPI_BAND, MPI_COMM_WORLD);
	for (i = PACKETWAY_ATON_REGS - 1; i >= 0 && n < REGS; i--)
		if (free >> i & 1) {
			pt.reg[n++] = i;
			regs |= 1U << i;
		}
	if (n < REGS)
		return false;
	err = pwl_lease(pt.s, regs, 0, 0);
	for (i = 0; i < REGS && !err; i++)
		err = pwl_set(pt.s, pt.reg[i], 0);
	return all_agree(!err);
}

/* a command over all rings finds all ranks, and no other station */
static bool tree_works(void)
{
	struct pwl_aton c = { .op = PW_ATON_OP_OR, .reg = pt.reg[0], .timeout_ms = 20000 };
	uint64_t v1, v2;

	return all_agree(!pt.leader || !on_tree(&c, &v1, &v2));
}

/* in the first call: it is one of all ranks */
static void set_up(void)
{
	const char *env = getenv("PW_COLL"), *station = getenv("PW_STATION");
	struct packetway_aton_get bank = { .size = sizeof(bank) };
	bool ok;

	pt.asked = true;
	PMPI_Comm_rank(MPI_COMM_WORLD, &pt.rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &pt.n);
	if (!all_agree(!env || strcmp(env, "off")))
		pt.reason = "PW_COLL=off";
	if (pt.reason)
		return;
	ok = !pwl_open(&pt.s, station ? station : "pw0") && !pwl_bank(pt.s, &bank);
	if (!all_agree(ok))
		pt.reason = "a rank has no station";
	else if (!find_sans(bank.out_id))
		pt.reason = "all ranks are on one ring";
	else if (!take_registers())
		pt.reason = "the registers are not free at all stations";
	else if (!tree_works())
		pt.reason = "not every station of the SANs has a rank, or a SAN is not reached";
	pt.on = !pt.reason;
	if (!pt.on && pt.s) {
		pwl_close(pt.s);
		pt.s = NULL;
	}
	/* tree_works() has ended at all leaders: counters begin here */
	pt.commands = 0;
}

/* --- MPI ------------------------------------------------------------------------------- */

static uint32_t ring_op(MPI_Op op)
{
	if (op == MPI_SUM)
		return PW_ATON_OP_ADD;
	if (op == MPI_MIN)
		return PW_ATON_OP_MIN;
	if (op == MPI_MAX)
		return PW_ATON_OP_MAX;
	if (op == MPI_BAND)
		return PW_ATON_OP_AND;
	return op == MPI_BOR ? PW_ATON_OP_OR : 0;
}

/* size of an integer type, 0: another one; *@sign: it has one */
static int type_size(MPI_Datatype t, bool *sign)
{
	*sign = t == MPI_INT || t == MPI_INT32_T || t == MPI_INT64_T || t == MPI_LONG ||
		t == MPI_LONG_LONG;
	if (t == MPI_INT || t == MPI_INT32_T || t == MPI_UNSIGNED || t == MPI_UINT32_T)
		return 4;
	if (t == MPI_LONG || t == MPI_UNSIGNED_LONG)
		return sizeof(long);
	return *sign || t == MPI_UINT64_T || t == MPI_UNSIGNED_LONG_LONG ? 8 : 0;
}

static uint64_t get_word(const void *from, int i, int size, bool sign)
{
	uint64_t v8;
	uint32_t v4;

	if (size == 8) {
		memcpy(&v8, (const char *)from + 8 * i, 8);
		return v8;
	}
	memcpy(&v4, (const char *)from + 4 * i, 4);
	return sign ? (uint64_t)(int64_t)(int32_t)v4 : v4;
}

static void put_word(void *to, int i, int size, uint64_t v)
{
	uint32_t v4 = v;

	memcpy((char *)to + size * i, size == 8 ? (void *)&v : (void *)&v4, size);
}

static int reduce(const void *in, void *out, int count, int size, bool sign, uint32_t op)
{
	uint32_t mods = sign ? PACKETWAY_ATON_SIGNED : 0;
	uint64_t w[SLOTS];
	int i, err;

	for (i = 0; i < count; i++)
		w[i] = get_word(in, i, size, sign);
	err = one_round(op, mods, w, count);
	for (i = 0; i < count && !err; i++)
		put_word(out, i, size, w[i]);
	return err;
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	static int (*next)(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
			   MPI_Comm comm);
	bool sign, ours;
	int size, err;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "MPI_Allreduce");
	size = type_size(type, &sign);
	ours = comm == MPI_COMM_WORLD && size && ring_op(op) && count > 0 && count <= SLOTS &&
	       in && out && in != out;
	if (ours && !pt.asked)
		set_up();
	pt.calls++;
	if (!ours || !pt.on)
		return next ? next(in, out, count, type, op, comm) :
			      PMPI_Allreduce(in, out, count, type, op, comm);
	err = reduce(in == MPI_IN_PLACE ? out : in, out, count, size, sign, ring_op(op));
	if (!err) {
		pt.done++;
		return MPI_SUCCESS;
	}
	fprintf(stderr, "pwtree: rank %d: %s\n", pt.rank, err == -EPIPE ?
		"a station has left its ring, or another one has joined" : strerror(-err));
	pt.on = false;
	PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
	return MPI_ERR_OTHER;
}

int MPI_Finalize(void)
{
	int (*next)(void);
	unsigned long commands = pt.commands;

	if (pt.asked) {
		PMPI_Reduce(&pt.commands, &commands, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0,
			    MPI_COMM_WORLD);
		if (!pt.rank && pt.done)
			fprintf(stderr, "pwtree: %lu of %lu MPI_Allreduce over %d SANs, %lu commands over all rings\n",
				pt.done, pt.calls, pt.sans, commands);
		else if (!pt.rank)
			fprintf(stderr, "pwtree: 0 of %lu MPI_Allreduce over all rings (%s)\n",
				pt.calls, pt.reason ? pt.reason : "none was suitable");
		/* registers are needed until all ranks have their results */
		PMPI_Barrier(MPI_COMM_WORLD);
		if (pt.s)
			pwl_close(pt.s);
	}
	*(void **)&next = dlsym(RTLD_NEXT, "MPI_Finalize");
	return next ? next() : PMPI_Finalize();
}
