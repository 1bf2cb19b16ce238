// SPDX-License-Identifier: GPL-2.0
/*
 * Interfaces in blocks are interfaces like all others: a ring that has its last ones
 * in blocks gives the same results at the same bit times as a ring that has none, with
 * either engine and whatever the work is divided into. Then what is particular to
 * blocks, a ring that is interrupted, and a ring that takes another's place.
 */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include "ring/ring_priv.h"
#include "tap.h"

#define OWN	5
#define MAXN	64
#define BLOCKS	3
#define REGS	2
#define FIRST	1000	/* address of the first interface in a block */

struct side {
	struct pw_ring *ring;
	struct pw_ring_sender port[OWN];
	struct pw_ring_block block[BLOCKS];
	u64 mem[BLOCKS][REGS * MAXN];
	struct pw_ring_cmd cmd[OWN];
	u64 out[OWN][MAXN];
	u32 parts[OWN][64];
};

static unsigned long long state = 4711;
static struct side side[4];	/* rtl, fast; with blocks: rtl, fast */
static const char * const engine_name[] = { "rtl", "fast" };

static u32 rnd(u32 n)
{
	return tap_rand(&state) % n;
}

static struct pw_ring *new_ring(u8 engine, u32 capacity, u32 extra, u32 propagation)
{
	struct pw_ring_params p = {
		.engine = engine, .nregs = REGS, .capacity = capacity, .extra = extra,
		.propagation = propagation, .max_bytes = 64,
	};

	return pw_ring_init(malloc(pw_ring_size(&p)), &p);
}

/* run to the end, in pieces of any size */
static u32 run(struct pw_ring *ring, u32 piece)
{
	u32 n = 0;

	while (pw_ring_run(ring, 1u << 30, piece) == PW_RING_MORE)
		n++;
	return n;
}

/* a command that is the same at all four */
static struct pw_ring_cmd any_command(u32 n)
{
	static const u8 ops[] = {
		PW_ATON_ADD, PW_ATON_AND, PW_ATON_OR, PW_ATON_MAX, PW_ATON_MIN,
		PW_ATON_COUNT_EQ, PW_ATON_COUNT_LT, PW_ATON_COUNT_LE, PW_ATON_SORT,
		PW_ATON_BITSUM, PW_ATON_TREE,
	};
	struct pw_ring_cmd c = { .op = ops[rnd(ARRAY_SIZE(ops))], .reg = rnd(REGS) };

	c.dst = rnd(3) ? PW_ATON_RING :
		rnd(2) ? PW_ATON_GROUP | 1u << rnd(3) : rnd(2) ? 1 + rnd(OWN) : FIRST + rnd(n);
	c.when = rnd(500);
	if (c.op != PW_ATON_BITSUM && c.op != PW_ATON_TREE && rnd(2))
		c.mods = PW_ATON_SIGNED;
	if (c.op == PW_ATON_TREE) {
		c.heights = 1 + rnd(5);
		memset(c.ops, PW_ATON_ADD + rnd(5), sizeof(c.ops));
	}
	c.room = rnd(4) ? MAXN : 1 + rnd(MAXN);
	return c;
}

static void make_sides(u32 *counts, u32 n, u32 propagation)
{
	u32 i, b, r, k, at;
	u64 x;

	memset(side, 0, sizeof(side));
	for (k = 0; k < 4; k++) {
		struct side *s = &side[k];
		bool blocks = k >= 2;

		s->ring = new_ring(k % 2 ? PW_RING_FAST : PW_RING_RTL, blocks ? OWN : OWN + n,
				   blocks ? n : 0, propagation);
		for (b = 0, at = 0; b < BLOCKS; at += counts[b++]) {
			s->block[b] = (struct pw_ring_block) {
				.operand = s->mem[b], .count = counts[b], .nregs = REGS,
				.addr = FIRST + at,
			};
			if (blocks)
				pw_ring_append(s->ring, &s->block[b]);
		}
		for (i = 0; i < OWN; i++) {
			pw_ring_attach(s->ring, i, 1, 1 + i, i);
			pw_ring_bind(s->ring, i, &s->port[i]);
		}
		if (!blocks)
			pw_ring_attach(s->ring, OWN, n, FIRST, 0);
	}
	for (r = 0; r < REGS; r++)
		for (i = 0; i < OWN + n; i++) {
			x = rnd(3) ? rnd(20) : tap_rand(&state);
			for (b = 0, at = OWN; b < BLOCKS && i >= at + counts[b]; b++)
				at += counts[b];
			for (k = 0; k < 4; k++) {
				if (i < OWN || k < 2)
					pw_ring_set_operand(side[k].ring, i, r, x);
				else
					side[k].mem[b][r * counts[b] + (i - at)] = x;
			}
		}
}

static const char *compare(const struct side *a, const struct side *b, u32 i)
{
	const struct pw_ring_cmd *x = &a->cmd[i], *y = &b->cmd[i];

	if (!x->runs || x->runs != y->runs)
		return "runs";
	if (x->err != y->err || x->flags != y->flags)
		return "error";
	if (x->submit != y->submit || x->wait != y->wait || x->done != y->done ||
	    x->ring_bits != y->ring_bits)
		return "times";
	if (x->counter != y->counter || x->v1 != y->v1 || x->v2 != y->v2)
		return "values";
	if (!x->err && x->op == PW_ATON_SORT &&
	    memcmp(a->out[i], b->out[i], x->counter * sizeof(u64)))
		return "order";
	if (!x->err && x->op == PW_ATON_BITSUM && memcmp(a->parts[i], b->parts[i], 64 * 4))
		return "parts";
	return NULL;
}

static void test_same(void)
{
	unsigned long rounds = tap_scaled(400), done = 0, t;
	u32 counts[BLOCKS], n, i, k, down;
	const char *err = NULL;

	for (t = 0; t < rounds && !err; t++) {
		for (i = 0, n = 0; i < BLOCKS; i++) {
			counts[i] = 1 + rnd(15);
			n += counts[i];
		}
		make_sides(counts, n, rnd(3));
		down = rnd(OWN + 2);
		for (k = 0; k < 4; k++)
			pw_ring_set_up(side[k].ring, down < OWN ? down : OWN + n, false);
		for (i = 0; i < OWN; i++) {
			struct pw_ring_cmd c = any_command(n);

			if (i == down)
				continue;
			for (k = 0; k < 4; k++) {
				side[k].cmd[i] = c;
				side[k].cmd[i].out = side[k].out[i];
				side[k].cmd[i].parts = side[k].parts[i];
				pw_ring_submit(side[k].ring, i, &side[k].cmd[i]);
			}
		}
		for (k = 0; k < 4; k++)
			run(side[k].ring, k % 2 ? 1 + rnd(300) : 2 * (OWN + n) + rnd(500));
		for (i = 0; i < OWN && !err; i++) {
			if (i == down)
				continue;
			done++;
			for (k = 1; k < 4 && !err; k++)
				err = compare(&side[0], &side[k], i);
			if (err)
				diag("round %lu interface %u side %u op %u dst %x: %s", t, i, k - 1,
				     side[0].cmd[i].op, side[0].cmd[i].dst, err);
		}
		for (k = 0; k < 4; k++) {
			if (pw_ring_addr(side[k].ring, OWN + n - 1) != FIRST + n - 1 ||
			    pw_ring_interfaces(side[k].ring) != OWN + n)
				err = "addresses";
			free(side[k].ring);
		}
	}
	ok(!err, "with and without blocks, rtl and fast: %lu commands end alike", done);
}

static void test_break(u8 e)
{
	u32 counts[BLOCKS] = { 10, 20, 30 }, n = 60, i;
	struct side *s = &side[2 + e];
	struct pw_ring_cmd *c = &s->cmd[1];
	struct pw_ring *to;
	u64 now;

	make_sides(counts, n, 0);
	*c = (struct pw_ring_cmd) { .op = PW_ATON_SORT, .dst = PW_ATON_RING, .out = s->out[1],
				    .room = MAXN };
	pw_ring_remove(s->ring, &s->block[2]);
	pw_ring_submit(s->ring, 1, c);
	for (i = 0; i < 5000 && !pw_ring_busy(s->ring); i++)
		pw_ring_run(s->ring, 1 << 20, 2 * (OWN + n));
	ok(pw_ring_busy(s->ring), "%s: a packet is on the ring", engine_name[e]);
	is(pw_ring_append(s->ring, &s->block[2]), -EBUSY, "%s: nothing joins", engine_name[e]);
	is(pw_ring_remove(s->ring, &s->block[0]), -EBUSY, "%s: nothing leaves", engine_name[e]);
	is(pw_ring_cancel(s->ring, c), -EBUSY, "%s: nothing is taken back", engine_name[e]);
	pw_ring_break(s->ring);
	ok(!pw_ring_busy(s->ring) && !pw_ring_ended(s->ring), "%s: interrupted", engine_name[e]);
	is(pw_ring_remove(s->ring, &s->block[0]), 0, "%s: a block leaves", engine_name[e]);
	is(pw_ring_detach(s->ring, 0, 1), 0, "%s: and an interface", engine_name[e]);
	run(s->ring, 2 * (OWN + n));
	ok(pw_ring_reap(s->ring) == c && !c->err && c->counter == OWN - 1 + 20 && c->runs == 1,
	   "%s: the command was repeated, on the new ring", engine_name[e]);
	is(c->ring_bits, pw_aton_packet_bits(PW_ATON_SORT, c->counter, 0) + OWN - 1 + 20,
	   "%s: in its time", engine_name[e]);

	/* interrupted and taken back, though its interface has another number now */
	pw_ring_submit(s->ring, 0, c);
	for (i = 0; i < 5000 && !pw_ring_busy(s->ring); i++)
		pw_ring_run(s->ring, 1 << 20, 2 * (OWN + n));
	pw_ring_break(s->ring);
	pw_ring_attach(s->ring, 0, 1, 99, 0);
	is(pw_ring_cancel(s->ring, c), 0, "%s: taken back", engine_name[e]);
	is(pw_ring_cancel(s->ring, c), -ENOENT, "%s: once", engine_name[e]);

	/* a ring of the other engine goes on where this one was */
	pw_ring_submit(s->ring, 1, c);
	s->cmd[2] = *c;
	s->cmd[2].op = PW_ATON_ADD;
	pw_ring_submit(s->ring, 2, &s->cmd[2]);
	for (i = 0; i < 5000 && !pw_ring_busy(s->ring); i++)
		pw_ring_run(s->ring, 1 << 20, 2 * (OWN + n));
	now = pw_ring_now(s->ring);
	to = new_ring(!e, OWN - 1, n, 0);
	is(pw_ring_move(to, s->ring), -ENOSPC, "%s: another ring is too small", engine_name[e]);
	free(to);
	to = new_ring(!e, OWN, n, 0);
	is(pw_ring_move(to, s->ring), 0, "%s: another takes its place", engine_name[e]);
	ok(pw_ring_now(to) >= now, "%s: time goes on", engine_name[e]);
	is(pw_ring_cancel(to, &s->cmd[2]), 0, "%s: what was queued can be taken back",
	   engine_name[e]);
	run(to, 2 * (OWN + n));
	ok(pw_ring_reap(to) == c && !c->err && c->counter == OWN + 20 && c->done > now,
	   "%s: and what was on the old ring ends on the new one", engine_name[e]);
	free(to);
	for (i = 0; i < 4; i++)
		free(side[i].ring);
}

static void test_limits(void)
{
	struct pw_ring_params p = {
		.engine = PW_RING_FAST, .nregs = 16, .capacity = 2, .queue_sender = 3,
		.queue_ring = 4,
	};
	static struct pw_ring_block many[PW_RING_BLOCKS + 1];
	struct pw_ring *ring = pw_ring_init(malloc(pw_ring_size(&p)), &p);
	struct pw_ring_sender port[2] = {};
	struct pw_ring_cmd c[6] = {};
	u64 x[3] = { 1, 2, 4 };
	u32 i;

	pw_ring_attach(ring, 0, 2, 1, 0);
	for (i = 0; i < 2; i++)
		pw_ring_bind(ring, i, &port[i]);
	for (i = 0; i <= PW_RING_BLOCKS; i++) {
		many[i] = (struct pw_ring_block) { .operand = x, .count = 1, .nregs = 1,
						   .addr = FIRST + i };
		if (pw_ring_append(ring, &many[i]))
			break;
	}
	is(i, PW_RING_BLOCKS, "so many blocks");
	for (i = 0; i < 6; i++)
		c[i] = (struct pw_ring_cmd) { .op = PW_ATON_ADD, .dst = PW_ATON_RING };
	c[0].reg = 1;
	is(pw_ring_submit(ring, 0, &c[0]), -EINVAL, "a register that a block lacks");
	for (i = 0; i < PW_RING_BLOCKS; i++)
		pw_ring_remove(ring, &many[i]);
	is(pw_ring_remove(ring, &many[0]), -EINVAL, "no such block");
	is(pw_ring_submit(ring, 0, &c[0]), 0, "that was the last one");
	/* a block that lacks a register joins after the command was queued */
	pw_ring_append(ring, &many[0]);
	many[1] = (struct pw_ring_block) { .operand = x, .count = 1, .nregs = 3,
					   .addr = FIRST + 1 };
	pw_ring_append(ring, &many[1]);
	run(ring, 100);
	ok(pw_ring_reap(ring) == &c[0] && c[0].counter == 3 && c[0].v1 == 2,
	   "interfaces without the register take no part");
	for (i = 1; i < 4; i++)
		pw_ring_submit(ring, 0, &c[i]);
	is(pw_ring_submit(ring, 0, &c[4]), -EBUSY, "an interface's queue is full");
	is(pw_ring_submit(ring, 1, &c[4]), 0, "the ring's is not");
	is(pw_ring_submit(ring, 1, &c[5]), -EBUSY, "now it is");
	is(pw_ring_stats(ring)->refused, 2, "refused commands are counted");
	run(ring, 100);
	is(pw_ring_submit(ring, 1, &c[5]), 0, "and empties");
	free(ring);
}

/* work in pieces: no call visits more than it may */
static void test_pieces(void)
{
	u32 n = 1000000;
	struct pw_ring_block block = { .count = n, .nregs = 1, .addr = FIRST };
	struct pw_ring_sender port = {};
	struct pw_ring *ring = new_ring(PW_RING_FAST, 1, 0, 0);
	struct pw_ring_cmd c = { .op = PW_ATON_TREE, .dst = PW_ATON_RING, .heights = 2 };
	u32 calls;

	memset(c.ops, PW_ATON_ADD, sizeof(c.ops));
	block.operand = calloc(n, sizeof(u64));
	pw_ring_attach(ring, 0, 1, 1, 0);
	pw_ring_bind(ring, 0, &port);
	is(pw_ring_append(ring, &block), 0, "a million interfaces in a block");
	pw_ring_submit(ring, 0, &c);
	calls = run(ring, 24576);
	ok(calls >= 12 * n / 24576 && c.runs == 1 && c.err == PW_ATON_E_SHAPE,
	   "a tree over a million leaves: %u calls", calls);
	c = (struct pw_ring_cmd) { .op = PW_ATON_ADD, .dst = FIRST + n - 1 };
	pw_ring_submit(ring, 0, &c);
	calls = run(ring, 24576);
	ok(calls < 3 && c.counter == 1, "one of them: %u calls", calls);
	free(block.operand);
	free(ring);
}

int main(void)
{
	test_same();
	test_break(PW_RING_RTL);
	test_break(PW_RING_FAST);
	test_limits();
	test_pieces();
	return tap_done();
}
