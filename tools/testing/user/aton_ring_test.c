// SPDX-License-Identifier: GPL-2.0
/*
 * ATON: what the specification says, on both engines: lengths and ring time,
 * results, regions, who wins a tie, faults, membership, standing commands, memory.
 */
#include <stdlib.h>
#include "tap.h"
#include "aton_naive.h"
#include "ring/ring_packet.h"

#define MAXN 600
/* the 32-bit and big-endian builds run in an emulator: there only some of the flips */
#define EVERY (TAP_BIG_ENDIAN ? 29 : __SIZEOF_POINTER__ < 8 ? 7 : 1)

static const char * const engine_name[] = { "rtl", "fast" };

struct rig {
	struct pw_ring *ring;
	void *mem;
	struct pw_ring_sender port[MAXN];
	u64 out[MAXN];
	u32 parts[64];
	u32 got[16], ngot;
	u8 bytes[16];
};

static struct rig rig;
static struct naive_interface model[MAXN];

static void on_deliver(void *ctx, u32 interface, const struct pw_ring_cmd *cmd, u64 when)
{
	struct rig *r = ctx;

	if (r->ngot < ARRAY_SIZE(r->got))
		r->got[r->ngot] = interface;
	r->ngot++;
	if (cmd->len == sizeof(r->bytes))
		memcpy(r->bytes, cmd->data, cmd->len);
}

/* @n interfaces with addresses 1, 2, ... */
static void setup(int engine, u32 n, u32 propagation)
{
	struct pw_ring_params p = {
		.engine = engine, .nregs = PW_ATON_REGS, .capacity = MAXN,
		.propagation = propagation, .max_bytes = 2048, .deliver = on_deliver, .ctx = &rig,
	};
	u32 i;

	free(rig.mem);
	rig.mem = malloc(pw_ring_size(&p));
	rig.ring = pw_ring_init(rig.mem, &p);
	memset(rig.port, 0, sizeof(rig.port));
	rig.ngot = 0;
	pw_ring_attach(rig.ring, 0, n, 1, 0);
	memset(model, 0, sizeof(model));
	for (i = 0; i < n; i++) {
		model[i].addr = i + 1;
		model[i].up = true;
		pw_ring_bind(rig.ring, i, &rig.port[i]);
	}
}

static void operand(u32 i, u32 reg, u64 x)
{
	model[i].x[reg] = x;
	pw_ring_set_operand(rig.ring, i, reg, x);
}

static struct pw_ring_cmd command(int op)
{
	return (struct pw_ring_cmd){ .op = op, .dst = PW_ATON_RING, .out = rig.out, .room = MAXN,
				     .parts = rig.parts };
}

static void settle(void)
{
	while (pw_ring_run(rig.ring, ~0ULL, 1 << 20) == PW_RING_MORE)
		;
}

/* run one command to its end; it is the only one */
static bool run(u32 t, struct pw_ring_cmd *cmd)
{
	if (pw_ring_submit(rig.ring, t, cmd))
		return false;
	settle();
	return pw_ring_reap(rig.ring) == cmd && !pw_ring_reap(rig.ring);
}

static void test_layout(void)
{
	is(pw_aton_packet_bits(PW_ATON_ADD, 0, 0), 272, "a basic command is 272 bits long");
	is(pw_aton_packet_bits(PW_ATON_SORT, 4, 0), 144 + 4 * 64, "SORT: 64 bits per operand");
	is(pw_aton_packet_bits(PW_ATON_BITSUM, 0, 0), 144 + 64 * 24, "BITSUM: 64 counts");
	is(pw_aton_packet_bits(PW_ATON_TREE, 0, 3), 144 + 8 + 3 * 72 + 64, "TREE of three heights");
	is(pw_aton_packet_bits(PW_ATON_TREE, 0, PW_TREE_NODES | 3), 144 + 8 + 7 * 8 + 3 * 64 + 64,
	   "TREE of three heights with seven operations");
	ok(pw_aton_packet_bits(PW_ATON_TREE, 0, PW_TREE_NODES | PW_ATON_NODE_HEIGHTS) <=
	   pw_aton_packet_bits(PW_ATON_BITSUM, 0, 0), "none is longer than a BITSUM");
	is(pw_aton_packet_bits(PW_ATON_PASSIVE, 10, 0), 144 + 80, "passive packet of ten bytes");
}

static void test_ring_time(int e)
{
	static const struct {
		u32 n, p;
		u64 bits;
	} row[] = {
		{ 1, 0, 273 }, { 3, 0, 275 }, { 16, 0, 288 }, { 23, 0, 295 }, { 24, 0, 296 },
		{ 64, 0, 336 }, { 3, 5, 290 }, { 600, 0, 872 }, { 64, 9, 912 },
	};
	u32 i, t;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		bool good = true;

		for (t = 0; t < row[i].n; t += 1 + row[i].n / 3) {
			struct pw_ring_cmd c = command(PW_ATON_ADD);

			setup(e, row[i].n, row[i].p);
			good &= run(t, &c) && !c.err && c.ring_bits == row[i].bits;
			good &= c.done == c.submit + c.wait + c.ring_bits;
		}
		ok(good, "%s: n %u, propagation %u: %llu bit times", engine_name[e], row[i].n,
		   row[i].p, (unsigned long long)row[i].bits);
	}
}

static void test_basic(int e)
{
	struct pw_ring_cmd c;
	u32 kept[] = { 0x3, 0x6 };

	setup(e, 5, 0);
	operand(0, 0, 7);
	operand(1, 0, 9);
	operand(2, 0, -3);
	operand(3, 0, 9);
	operand(4, 0, 2);

	c = command(PW_ATON_ADD);
	ok(run(0, &c) && c.v1 == 24 && c.counter == 5 && c.flags & PW_ATON_F_OVERFLOW,
	   "%s: ADD modulo 2^64, with the overflow told", engine_name[e]);
	c = command(PW_ATON_MAX);
	c.mods = PW_ATON_SIGNED;
	ok(run(0, &c) && c.v1 == 9 && c.v2 == 4, "%s: of equal operands the last in ring order",
	   engine_name[e]);
	c = command(PW_ATON_MAX);
	c.mods = PW_ATON_SIGNED;
	ok(run(2, &c) && c.v1 == 9 && c.v2 == 2, "%s: seen from another T-interface, another one",
	   engine_name[e]);
	c = command(PW_ATON_MAX);
	ok(run(0, &c) && c.v1 == (u64)-3 && c.v2 == 3, "%s: unsigned, -3 is large", engine_name[e]);
	c = command(PW_ATON_MIN);
	c.mods = PW_ATON_SIGNED;
	ok(run(0, &c) && c.v1 == (u64)-3 && c.v2 == 3, "%s: signed, it is the least",
	   engine_name[e]);
	c = command(PW_ATON_COUNT_LT);
	c.mods = PW_ATON_SIGNED;
	ok(run(0, &c) && c.v1 == 7 && c.v2 == 2 && c.counter - c.v2 == 3,
	   "%s: a count and its complement", engine_name[e]);
	c = command(PW_ATON_COUNT_EQ);
	c.mods = PW_ATON_COMPARAND;
	c.comparand = 9;
	ok(run(0, &c) && c.v1 == 9 && c.v2 == 2, "%s: count against a comparand", engine_name[e]);
	ok(rig.port[0].v1 == 9 && rig.port[0].v2 == 2 && rig.port[0].counter == 5 &&
	   rig.port[0].ring_time == c.wait + c.ring_bits && !(rig.port[0].status & 0xff),
	   "%s: the result registers hold it", engine_name[e]);
	c = command(PW_ATON_ADD);
	c.dst = 4;
	ok(run(0, &c) && c.v1 == 9 && c.counter == 1, "%s: a region of one reads its operand",
	   engine_name[e]);
	c = command(PW_ATON_MIN);
	c.dst = 77;
	ok(run(0, &c) && c.v1 == ~0ULL && !c.counter && !(c.flags & PW_ATON_F_RECOGNISED),
	   "%s: a region of none", engine_name[e]);
	operand(3, 5, 1000);
	c = command(PW_ATON_OR);
	c.reg = 5;
	ok(run(1, &c) && c.v1 == 1000, "%s: another operand register", engine_name[e]);
	rig.port[1].group = &kept[0];
	rig.port[4].group = &kept[1];
	c = command(PW_ATON_ADD);
	c.dst = PW_ATON_GROUP | 2;
	ok(run(0, &c) && c.v1 == 11 && c.counter == 2, "%s: a group", engine_name[e]);
	kept[0] = 0;
	ok(run(0, &c) && c.counter == 1, "%s: a mask is the caller's", engine_name[e]);
	kept[0] = 0xfff00002;
	ok(run(0, &c) && c.v1 == 11 && c.counter == 2, "%s: and changes", engine_name[e]);
	pw_ring_set_up(rig.ring, 1, false);
	c = command(PW_ATON_ADD);
	ok(run(0, &c) && c.v1 == 15 && c.counter == 4 && c.ring_bits == 277,
	   "%s: one that is down relays with its bit of delay", engine_name[e]);
	c = command(PW_ATON_ADD);
	is(pw_ring_submit(rig.ring, 1, &c), -ENETDOWN, "%s: and cannot send", engine_name[e]);
	c.op = 99;
	is(pw_ring_submit(rig.ring, 0, &c), -EOPNOTSUPP, "%s: no such opcode", engine_name[e]);
	c = command(PW_ATON_ADD);
	c.reg = 16;
	is(pw_ring_submit(rig.ring, 0, &c), -EINVAL, "%s: no such register", engine_name[e]);
}

/* registers and group bits that are not those of the caller's bank */
static void test_leases(int e)
{
	static u64 bank[PW_ATON_REGS], leased;
	static u32 mask, taken;
	struct pw_ring_cmd c;
	u32 i;

	setup(e, 4, 0);
	for (i = 0; i < 4; i++)
		operand(i, 6, 1);
	memset(bank, 0, sizeof(bank));
	bank[6] = 10;
	leased = 100;
	mask = 0x6;
	taken = 0;
	is(pw_ring_bind(rig.ring, 2, NULL), 0, "%s: unbind", engine_name[e]);
	rig.port[2] = (struct pw_ring_sender) {
		.operands = bank, .group = &mask, .taken = &taken,
	};
	is(pw_ring_bind(rig.ring, 2, &rig.port[2]), 0, "%s: bind", engine_name[e]);
	c = command(PW_ATON_ADD);
	c.reg = 6;
	ok(run(0, &c) && c.v1 == 13, "%s: a register of the bank", engine_name[e]);
	rig.port[2].lease[6] = &leased;
	rig.port[2].leased = 1 << 6;
	ok(run(0, &c) && c.v1 == 103, "%s: it is leased", engine_name[e]);
	bank[6] = 20;
	leased = 200;
	ok(run(2, &c) && c.v1 == 203, "%s: the bank does not count, also at the sender", engine_name[e]);
	c.reg = 5;
	ok(run(0, &c) && !c.v1, "%s: other registers are those of the bank", engine_name[e]);
	c.reg = 6;
	c.dst = PW_ATON_GROUP | 2;
	ok(run(0, &c) && c.v1 == 200 && c.counter == 1, "%s: a group", engine_name[e]);
	taken = 0x2;
	ok(run(0, &c) && !c.counter, "%s: a bit that is leased elsewhere", engine_name[e]);
	c.dst = PW_ATON_GROUP | 4;
	ok(run(0, &c) && c.counter == 1, "%s: other bits count", engine_name[e]);
	c.dst = PW_ATON_GROUP | 2;
	rig.port[2].joined = 0x2;
	mask = 0;
	ok(run(2, &c) && c.v1 == 200 && c.counter == 1, "%s: a bit that is leased here", engine_name[e]);
	rig.port[2].leased = 0;
	ok(run(0, &c) && c.v1 == 20 && c.counter == 1, "%s: the lease has ended", engine_name[e]);
}

/* a lease of register and group bit ends at any time while a command passes */
static void test_lease_ends(int e)
{
	static u64 bank[PW_ATON_REGS], leased;
	u32 with = 0, without = 0, bad = 0;
	static u32 mask, taken = 0x2;
	struct pw_ring_cmd c;
	u64 t;

	setup(e, 4, 0);
	leased = 100;
	bank[6] = 20;
	pw_ring_bind(rig.ring, 2, NULL);
	for (t = 0; t < 400; t++) {
		rig.port[2] = (struct pw_ring_sender) {
			.operands = bank, .group = &mask, .taken = &taken, .joined = 0x2,
			.leased = 1 << 6, .lease[6] = &leased,
		};
		pw_ring_bind(rig.ring, 2, &rig.port[2]);
		c = command(PW_ATON_ADD);
		c.reg = 6;
		c.dst = PW_ATON_GROUP | 2;
		if (pw_ring_submit(rig.ring, 0, &c))
			break;
		/* a step of the RTL engine is a bit time, one of the fast engine a packet or less */
		pw_ring_run(rig.ring, ~0ULL, t);
		rig.port[2].leased = 0;
		rig.port[2].joined = 0;
		settle();
		if (pw_ring_reap(rig.ring) != &c)
			break;
		with += c.counter == 1 && c.v1 == 100;
		without += !c.counter && !c.v1;
		bad += c.counter && c.v1 != 100;
		pw_ring_bind(rig.ring, 2, NULL);
	}
	is(t, 400, "%s: a lease ends in each of 400 bit times", engine_name[e]);
	is(bad, 0, "%s: no interface is counted with an operand that is not leased", engine_name[e]);
	ok(with && without && with + without == 400, "%s: counted with its operand %u times, not counted %u",
	   engine_name[e], with, without);
}

/* packets in a row to a group, also one of more interfaces than are looked up once for them */
static void test_large_group(int e)
{
	static const u32 size[] = { 256, 257, 300 };
	static u32 mask = 0x2;
	struct pw_ring_cmd c[3];
	bool good = true;
	u32 i, k, n;

	for (k = 0; k < ARRAY_SIZE(size); k++) {
		n = size[k];
		setup(e, n, 0);
		for (i = 0; i < n; i++) {
			operand(i, 0, i + 1);
			rig.port[i].group = &mask;
		}
		for (i = 0; i < ARRAY_SIZE(c); i++) {
			c[i] = command(i == 1 ? PW_ATON_MAX : PW_ATON_ADD);
			c[i].dst = PW_ATON_GROUP | mask;
			good &= !pw_ring_submit(rig.ring, 7, &c[i]);
		}
		settle();
		for (i = 0; i < ARRAY_SIZE(c); i++)
			good &= pw_ring_reap(rig.ring) == &c[i] && !c[i].err && c[i].counter == n;
		good &= c[0].v1 == n * (n + 1) / 2 && c[2].v1 == c[0].v1;
		good &= c[1].v1 == n && c[1].v2 == n;
	}
	ok(good, "%s: large groups", engine_name[e]);
}

static void test_algorithms(int e)
{
	static const u64 x[] = { 5, 3, 5, 9, 5, 5, 1, 5 };
	struct pw_ring_cmd c;
	u64 vote = 0;
	bool sorted = true;
	u32 i;

	setup(e, 8, 0);
	for (i = 0; i < 8; i++)
		operand(i, 0, x[i]);
	c = command(PW_ATON_SORT);
	ok(run(3, &c) && c.counter == 8 && c.ring_bits == 144 + 8 * 64 + 8,
	   "%s: SORT takes the bits of all operands", engine_name[e]);
	for (i = 1; i < 8; i++)
		sorted &= rig.out[i - 1] <= rig.out[i];
	ok(sorted && rig.out[0] == 1 && rig.out[7] == 9, "%s: and sorts them", engine_name[e]);
	c = command(PW_ATON_SORT);
	c.room = 7;
	ok(run(3, &c) && c.err == PW_ATON_E_ROOM, "%s: SORT into too small a place",
	   engine_name[e]);
	c = command(PW_ATON_BITSUM);
	ok(run(0, &c) && c.counter == 8 && rig.parts[0] == 8 && rig.parts[2] == 5 &&
	   rig.parts[1] == 1 && rig.parts[3] == 1, "%s: BITSUM", engine_name[e]);
	for (i = 0; i < 64; i++)
		vote |= (u64)(rig.parts[i] > 4) << i;
	c = command(PW_ATON_COUNT_EQ);
	c.mods = PW_ATON_COMPARAND;
	c.comparand = vote;
	ok(run(0, &c) && vote == 5 && c.v2 == 5, "%s: the majority", engine_name[e]);
	c = command(PW_ATON_TREE);
	c.heights = 3;
	c.ops[0] = PW_ATON_ADD;		/* 8 14 10 6 */
	c.ops[1] = PW_ATON_MAX;		/* 14 10 */
	c.ops[2] = PW_ATON_MIN;
	ok(run(0, &c) && c.v1 == 10, "%s: TREE", engine_name[e]);
	c.heights = 2;
	ok(run(0, &c) && c.err == PW_ATON_E_SHAPE, "%s: TREE too low for its leaves",
	   engine_name[e]);
}

/* expressions of every size, each with random operations */
static void test_nodes(int e)
{
	u8 nodes[1 << PW_ATON_NODE_HEIGHTS];
	unsigned long long seed = 5;
	struct naive_result want;
	u32 h, i, k, n, wrong = 0;

	for (h = 0; h <= PW_ATON_NODE_HEIGHTS; h++) {
		n = 1u << h;
		setup(e, n, 0);
		for (k = 0; k < 8; k++) {
			struct pw_ring_cmd c = command(PW_ATON_TREE);

			for (i = 0; i < n; i++) {
				operand(i, 0, tap_rand(&seed));
				nodes[i] = PW_ATON_ADD + tap_rand(&seed) % 5;
			}
			c.heights = h;
			c.nodes = nodes;
			c.mods = k & 1;
			naive(model, n, k % n, &c, &want);
			wrong += !run(k % n, &c) || c.err || !naive_agrees(&want, &c) ||
				 c.ring_bits != 144 + 8 + 8 * (n - 1) + 64 * h + 64 + n;
		}
	}
	ok(!wrong, "%s: TREE with an operation for each node, up to %u leaves", engine_name[e], n);
	nodes[3] = PW_ATON_COUNT_EQ;
	{
		struct pw_ring_cmd c = command(PW_ATON_TREE);

		c.heights = PW_ATON_NODE_HEIGHTS;
		c.nodes = nodes;
		ok(pw_ring_submit(rig.ring, 0, &c) == -EINVAL, "%s: not with a count",
		   engine_name[e]);
		nodes[3] = PW_ATON_ADD;
		c.heights++;
		ok(pw_ring_submit(rig.ring, 0, &c) == -EINVAL, "%s: nor with more heights",
		   engine_name[e]);
	}
}

/* one flipped symbol of every packet position leaving every hop */
static void test_flips(int e, u32 n, int op, unsigned long step, u32 t)
{
	unsigned long tried = 0, crc = 0, same = 0, wrong = 0;
	struct naive_result want;
	struct pw_ring_fault f = { .kind = PW_FAULT_FLIP };
	u64 bit, bits;
	u32 hop, i;

	setup(e, n, 0);
	for (i = 0; i < n; i++)
		operand(i, 0, 0x123456789abcdefULL * (i * i + 3));
	for (hop = 0; hop < n; hop++) {
		bits = pw_aton_packet_bits(op, op == PW_ATON_SORT ? hop + 1 : 0, 4);
		for (bit = hop % step; bit < bits; bit += step) {
			struct pw_ring_cmd c = command(op);

			c.heights = 4;
			for (i = 0; i < 4; i++)
				c.ops[i] = PW_ATON_ADD + i;
			f.hop = hop;
			f.bit = bit;
			pw_ring_fault(rig.ring, &f);
			tried++;
			naive(model, n, t, &c, &want);
			if (!run(t, &c) || (c.err != PW_ATON_E_CRC && c.err))
				wrong++;
			else if (c.err)
				crc++;
			else if (naive_agrees(&want, &c))
				same++;
			else
				wrong++;
		}
	}
	ok(!wrong && tried == crc + same && crc,
	   "%s: opcode %d: %lu flips, CRC error %lu, unchanged %lu, wrong %lu",
	   engine_name[e], op, tried, crc, same, wrong);
}

static void test_passive(int e)
{
	static const u8 data[16] = "sixteen bytes..";
	struct pw_ring_fault f = { .kind = PW_FAULT_FLIP, .hop = 2, .bit = 130 };
	struct pw_ring_cmd c, add;

	setup(e, 5, 0);
	c = command(PW_ATON_PASSIVE);
	c.data = data;
	c.len = 16;
	c.dst = 4;
	ok(run(1, &c) && !c.err && c.flags & PW_ATON_F_RECOGNISED && rig.ngot == 1 &&
	   rig.got[0] == 3 && !memcmp(rig.bytes, data, 16), "%s: a passive packet arrives",
	   engine_name[e]);
	is(c.ring_bits, 144 + 128 + 5, "%s: in its time", engine_name[e]);
	rig.ngot = 0;
	c.dst = PW_ATON_RING;
	ok(run(1, &c) && rig.ngot == 4 && rig.got[0] == 2 && rig.got[3] == 0,
	   "%s: or at all others, in ring order", engine_name[e]);
	rig.ngot = 0;
	pw_ring_fault(rig.ring, &f);
	ok(run(1, &c) && c.err == PW_ATON_E_CRC && rig.ngot == 2 && rig.got[1] == 3,
	   "%s: damaged, only at those before the damage", engine_name[e]);
	rig.ngot = 0;
	c.dst = 4;
	add = command(PW_ATON_ADD);
	ok(!pw_ring_submit(rig.ring, 2, &add) && !pw_ring_submit(rig.ring, 1, &c),
	   "%s: two at once", engine_name[e]);
	settle();
	ok(pw_ring_reap(rig.ring) && pw_ring_reap(rig.ring) && !c.err && !add.err &&
	   add.counter == 5 && rig.ngot == 1, "%s: share the token", engine_name[e]);
	c.len = 2049;
	is(pw_ring_submit(rig.ring, 1, &c), -EMSGSIZE, "%s: too long a packet", engine_name[e]);
}

static void test_token_order(int e)
{
	struct pw_ring_cmd c[6], *d;
	u32 i, order[6] = { 0 }, n = 0;
	static const u32 want[6] = { 1, 2, 3, 4, 5, 0 };

	setup(e, 6, 0);
	for (i = 0; i < 6; i++) {
		c[i] = command(PW_ATON_ADD);
		c[i].cookie = 5 - i;
		pw_ring_submit(rig.ring, 5 - i, &c[i]);
	}
	settle();
	while ((d = pw_ring_reap(rig.ring)))
		order[n++] = d->cookie;
	ok(n == 6 && !memcmp(order, want, sizeof(want)), "%s: the token comes round in ring order",
	   engine_name[e]);
	ok(c[4].wait < c[3].wait && c[3].wait < c[2].wait, "%s: who is later waits longer",
	   engine_name[e]);
	c[0] = command(PW_ATON_ADD);
	pw_ring_submit(rig.ring, 0, &c[0]);
	c[1] = command(PW_ATON_ADD);
	pw_ring_submit(rig.ring, 0, &c[1]);
	ok(!pw_ring_cancel(rig.ring, &c[0]) && pw_ring_cancel(rig.ring, &c[0]) == -ENOENT,
	   "%s: a queued command can be taken back", engine_name[e]);
	settle();
	ok(pw_ring_reap(rig.ring) == &c[1] && !pw_ring_reap(rig.ring), "%s: and the next one goes",
	   engine_name[e]);
}

static void test_faults(int e)
{
	struct pw_ring_fault f = { 0 };
	struct pw_ring_cmd c = command(PW_ATON_ADD), d = command(PW_ATON_ADD);
	const struct pw_ring_stats *st;

	setup(e, 16, 0);
	st = pw_ring_stats(rig.ring);
	f.kind = PW_FAULT_LOSE;
	pw_ring_fault(rig.ring, &f);
	ok(run(5, &c) && !c.err && c.counter == 16 && st->tokens_lost == 1 && c.wait > 1000,
	   "%s: the active monitor regenerates a lost token", engine_name[e]);
	ok(run(5, &d) && !d.err && d.wait < 100, "%s: and all is well again", engine_name[e]);

	setup(e, 60, 0);
	f.kind = PW_FAULT_DUP;
	pw_ring_fault(rig.ring, &f);
	c = command(PW_ATON_ADD);
	d = command(PW_ATON_ADD);
	pw_ring_submit(rig.ring, 20, &c);
	pw_ring_submit(rig.ring, 40, &d);
	settle();
	ok(!c.err && !d.err && c.counter == 60 && d.counter == 60,
	   "%s: a duplicate token does no harm", engine_name[e]);
	is(pw_ring_stats(rig.ring)->tokens_dup, 1, "%s: and is counted", engine_name[e]);

	setup(e, 16, 0);
	f.kind = PW_FAULT_STUCK;
	f.hop = 9;
	pw_ring_fault(rig.ring, &f);
	c = command(PW_ATON_ADD);
	ok(run(3, &c) && c.err == PW_ATON_E_LOST && !pw_ring_is_up(rig.ring, 9),
	   "%s: what a stuck interface swallows is lost, and it is bypassed", engine_name[e]);
	ok(run(3, &c) && !c.err && c.counter == 15, "%s: after which the ring works",
	   engine_name[e]);

	setup(e, 500, 0);
	st = pw_ring_stats(rig.ring);
	f.kind = PW_FAULT_LEAVE;
	f.bit = 300;
	pw_ring_fault(rig.ring, &f);
	c = command(PW_ATON_ADD);
	d = command(PW_ATON_ADD);
	pw_ring_submit(rig.ring, 7, &c);
	pw_ring_submit(rig.ring, 8, &d);
	settle();
	ok(c.err == PW_ATON_E_DOWN && !pw_ring_is_up(rig.ring, 7) && st->orphans == 1,
	   "%s: the sender left: an orphan, which the active monitor strips", engine_name[e]);
	ok(!d.err && d.counter == 499, "%s: and the next one is served", engine_name[e]);
	pw_ring_set_up(rig.ring, 0, false);
	is(pw_ring_monitor(rig.ring), 1, "%s: the next live station is the active monitor", engine_name[e]);
	f.kind = PW_FAULT_LEAVE;
	f.bit = 300;
	pw_ring_fault(rig.ring, &f);
	ok(run(1, &c) && c.err == PW_ATON_E_DOWN && pw_ring_monitor(rig.ring) == 2,
	   "%s: the active monitor itself leaves", engine_name[e]);
	ok(run(300, &c) && !c.err && c.counter == 497 && st->orphans == 2,
	   "%s: and its orphan is stripped by its successor", engine_name[e]);
}

static void test_members(int e)
{
	struct pw_ring_cmd c = command(PW_ATON_ADD), d = command(PW_ATON_ADD);
	u32 i;

	setup(e, 4, 0);
	for (i = 0; i < 4; i++)
		operand(i, 0, 1 << i);
	ok(!pw_ring_attach(rig.ring, 2, 3, 100, 0) && pw_ring_interfaces(rig.ring) == 7 &&
	   pw_ring_addr(rig.ring, 3) == 101 && pw_ring_addr(rig.ring, 6) == 4,
	   "%s: interfaces inserted in the middle", engine_name[e]);
	pw_ring_set_operand(rig.ring, 3, 0, 64);
	ok(run(0, &c) && c.v1 == 15 + 64 && c.counter == 7 && c.ring_bits == 279,
	   "%s: take part", engine_name[e]);
	is(pw_ring_submit(rig.ring, 3, &c), -EINVAL, "%s: without a port they do not send",
	   engine_name[e]);
	pw_ring_submit(rig.ring, 6, &d);
	ok(!pw_ring_detach(rig.ring, 1, 4) && pw_ring_interfaces(rig.ring) == 3,
	   "%s: interfaces removed", engine_name[e]);
	settle();
	ok(pw_ring_reap(rig.ring) == &d && !d.err && d.v1 == 1 + 4 + 8,
	   "%s: what others had queued goes on", engine_name[e]);
	pw_ring_submit(rig.ring, 2, &d);
	pw_ring_detach(rig.ring, 2, 1);
	ok(pw_ring_reap(rig.ring) == &d && d.err == PW_ATON_E_DOWN,
	   "%s: what the removed one had queued ends", engine_name[e]);
	pw_ring_set_up(rig.ring, 0, false);
	pw_ring_set_up(rig.ring, 1, false);
	is(pw_ring_monitor(rig.ring), 2, "%s: a dark ring has no active monitor", engine_name[e]);
	pw_ring_set_up(rig.ring, 0, true);
	ok(run(0, &c) && !c.err && c.v1 == 1, "%s: and lights up again", engine_name[e]);
	ok(pw_ring_run(rig.ring, ~0ULL, 0) != PW_RING_IDLE ||
	   pw_ring_run(rig.ring, ~0ULL, 100) == PW_RING_IDLE, "%s: then idles", engine_name[e]);
	is(pw_ring_attach(rig.ring, 0, MAXN, 1, 0), -ENOSPC, "%s: no room", engine_name[e]);
	is(pw_ring_detach(rig.ring, 1, 2), -EINVAL, "%s: no such interfaces", engine_name[e]);
}

static void test_standing(int e)
{
	struct pw_ring_cmd s = command(PW_ATON_MAX), c = command(PW_ATON_ADD);
	u64 now, busy;
	u32 i, before;

	setup(e, 8, 0);
	for (i = 0; i < 8; i++)
		operand(i, 0, i);
	is(pw_ring_run(rig.ring, ~0ULL, 1000), PW_RING_IDLE, "%s: nothing to do, nothing done",
	   engine_name[e]);
	is(pw_ring_now(rig.ring), 0, "%s: and no time passes", engine_name[e]);
	ok(!pw_ring_stand(rig.ring, 3, &s), "%s: a standing command", engine_name[e]);
	while (pw_ring_run(rig.ring, 100000, 1 << 20) == PW_RING_MORE)
		;
	now = pw_ring_now(rig.ring);
	ok(pw_ring_reap(rig.ring) == &s && !s.err && s.v1 == 7 && s.v2 == 8 && s.runs > 100,
	   "%s: runs by itself (%u times)", engine_name[e], s.runs);
	/* 24 bits of token once seen, once taken, and the packet */
	ok(s.runs <= now / (272 + 24 + 24) + 1, "%s: never without seeing the token twice",
	   engine_name[e]);
	is(pw_ring_stats(rig.ring)->standing, s.runs, "%s: and is counted", engine_name[e]);
	before = s.runs;
	operand(5, 0, 50);
	pw_ring_stand(rig.ring, 3, NULL);
	s.gap = 10000;
	pw_ring_stand(rig.ring, 3, &s);
	busy = pw_ring_stats(rig.ring)->bits;
	while (pw_ring_run(rig.ring, now + 100000, 1 << 20) == PW_RING_MORE)
		;
	busy = pw_ring_stats(rig.ring)->bits - busy;
	ok(s.v1 == 50 && s.v2 == 6 && s.runs >= 9 && s.runs <= 11,
	   "%s: with a gap less often (%u against %u)", engine_name[e], s.runs, before);
	ok(busy < 11 * 320, "%s: the load is bounded (%llu of 100000 bit times)", engine_name[e],
	   (unsigned long long)busy);
	pw_ring_reap(rig.ring);
	pw_ring_submit(rig.ring, 6, &c);
	while (!c.done && pw_ring_run(rig.ring, pw_ring_now(rig.ring) + 500, 1 << 20))
		;
	ok(!c.err && c.counter == 8 && c.v1 == 28 - 5 + 50, "%s: a command asked for goes between",
	   engine_name[e]);
}

static void test_million(void)
{
	struct pw_ring_params p = { .engine = PW_RING_FAST, .nregs = 1, .capacity = 1000000 };
	struct pw_ring_sender port = { 0 };
	struct pw_ring_cmd c = command(PW_ATON_MAX);
	size_t size = pw_ring_size(&p);
	unsigned long calls = 0;
	struct pw_ring *ring;
	void *mem = malloc(size);
	u32 i;

	ring = pw_ring_init(mem, &p);
	ok(!pw_ring_attach(ring, 0, 1000000, 1, 0), "a million interfaces");
	ok(size <= (pw_ring_bytes_per_interface(&p) + 1) * 1000000,
	   "in %zu bytes: %zu each and five bits", size, pw_ring_bytes_per_interface(&p));
	p.nregs = PW_ATON_REGS;
	diag("with sixteen operand registers: %zu bytes each", pw_ring_bytes_per_interface(&p));
	for (i = 0; i < 1000000; i++)
		pw_ring_operands(ring, 0)[i] = (i * 7919ULL) % 1000003;
	pw_ring_bind(ring, 500000, &port);
	pw_ring_submit(ring, 500000, &c);
	while (pw_ring_run(ring, ~0ULL, 4096) == PW_RING_MORE)
		calls++;
	ok(pw_ring_reap(ring) == &c && c.counter == 1000000 && c.v1 == 1000002 &&
	   c.ring_bits == 1000272, "MAX over them in %llu bit times",
	   (unsigned long long)c.ring_bits);
	ok(calls >= 1000000 / 4096, "with bounded work: %lu calls", calls);
	free(mem);
}

/* what a command waits after a restart does not depend on what was before */
static void test_restart(int e)
{
	u64 wait[6];
	u32 i, k, others = 0;

	setup(e, 6, 2);
	for (i = 0; i < ARRAY_SIZE(wait); i++) {
		struct pw_ring_cmd c = command(PW_ATON_ADD);
		bool good = true;

		for (k = 0; k < i; k++) {
			struct pw_ring_cmd before = command(PW_ATON_ADD);

			good &= run((i + k) % 6, &before);
		}
		pw_ring_restart(rig.ring);
		ok(good && run(3, &c) && !c.err, "%s: a command after a restart, %u before it",
		   engine_name[e], i);
		wait[i] = c.wait;
		others += wait[i] != wait[0];
	}
	is(others, 0, "%s: it has waited as long each time", engine_name[e]);
}

int main(void)
{
	static const u8 ops[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	u32 e, i;

	test_layout();
	for (e = 0; e < 2; e++) {
		test_ring_time(e);
		test_basic(e);
		test_leases(e);
		test_lease_ends(e);
		test_large_group(e);
		test_algorithms(e);
		test_nodes(e);
		test_passive(e);
		test_token_order(e);
		test_faults(e);
		test_members(e);
		test_restart(e);
		test_standing(e);
		/* every symbol, every hop, every basic command; from the active monitor and not */
		for (i = 0; i < ARRAY_SIZE(ops); i++)
			test_flips(e, 16, ops[i], EVERY, i % 2 ? 5 : 0);
		test_flips(e, 16, PW_ATON_PASSIVE, EVERY, 3);
		test_flips(e, 16, PW_ATON_TREE, 3 * EVERY, 3);
		test_flips(e, 16, PW_ATON_SORT, 13 * EVERY, 3);
		test_flips(e, 16, PW_ATON_BITSUM, 31 * EVERY, 3);
	}
	test_million();
	free(rig.mem);
	return tap_done();
}
