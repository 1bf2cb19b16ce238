// SPDX-License-Identifier: GPL-2.0
/*
 * Ring packets as a tap sees them: both engines show the same bytes at the
 * same interfaces at the same times, the last hop shows the result, and neither
 * results nor times depend on being listened to.
 */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include "ring/ring_priv.h"
#include "tap.h"

typedef unsigned long long ull;

#define MAXN 20

struct packet {
	u32 interface, bytes;
	u64 when;
	u8 data[512];
};

struct side {
	struct pw_ring *ring;
	struct pw_ring_sender port[MAXN];
	struct pw_ring_cmd cmd;
	u64 out[MAXN];
	u32 parts[64];
	struct packet seen[4 * MAXN];
	u32 n;
	u64 mem[8192];
};

static ull state = 77;
static struct side side[3];	/* rtl, fast, fast without a tap */
static u8 bytes[40];

static u32 rnd(u32 n)
{
	return tap_rand(&state) % n;
}

static void on_tap(void *ctx, u32 interface, u64 when, const u8 *packet, u32 len)
{
	struct side *s = ctx;
	struct packet *p = &s->seen[s->n];

	if (s->n++ >= ARRAY_SIZE(s->seen) || len > sizeof(p->data))
		return;
	p->interface = interface;
	p->when = when;
	p->bytes = len;
	memcpy(p->data, packet, len);
}

static int by_time(const void *a, const void *b)
{
	const struct packet *p = a, *q = b;

	return p->when < q->when ? -1 : p->when > q->when;
}

/* is the CRC right that ends a packet of so many bits? */
static bool crc_good(const u8 *p, u32 bits)
{
	u32 crc = ~0u, got = 0, i, b;

	for (i = 0; i < bits; i++) {
		b = p[i / 8] >> (7 - i % 8) & 1;
		if (i < bits - 32)
			crc = pw_aton_crc(crc, b);
		else
			got = got << 1 | b;
	}
	return crc == got;
}

/* value of a field that was sent least significant bit first */
static u64 lsb(const u8 *p, u32 bits)
{
	u64 v = 0;
	u32 i;

	for (i = 0; i < bits; i++)
		v |= (u64)(p[i / 8] >> (7 - i % 8) & 1) << i;
	return v;
}

static u8 nodes[1 << PW_ATON_NODE_HEIGHTS];

static void one(u8 op, u32 n, u32 prop, ull *bad, ull *packets)
{
	static const int engine[] = { PW_RING_RTL, PW_RING_FAST, PW_RING_FAST };
	struct pw_ring_cmd c = { .op = op, .dst = PW_ATON_RING, .mods = rnd(4), .room = MAXN };
	struct pw_aton_format fmt = PW_ATON_FORMAT;
	u32 i, k, from = rnd(n), down = rnd(3) ? n : rnd(n);
	u64 x;

	if (rnd(2)) {
		fmt.width = 1 + rnd(PW_ATON_WIDTH);
		fmt.part = 1 + rnd(PW_ATON_BITSUM_BITS);
	}

	if (op == PW_ATON_PASSIVE) {
		c.data = bytes;
		c.len = rnd(sizeof(bytes) + 1);
	}
	if (!rnd(3))
		c.dst = PW_ATON_GROUP | (1 + rnd(7));
	while (1u << c.heights < n)
		c.heights++;
	for (i = 0; i < c.heights; i++)
		c.ops[i] = 1 + rnd(5);
	for (i = 0; i < sizeof(nodes); i++)
		nodes[i] = 1 + rnd(5);
	if (op == PW_ATON_TREE && rnd(2))
		c.nodes = nodes;
	c.comparand = rnd(4);
	for (k = 0; k < 3; k++) {
		struct side *s = &side[k];
		struct pw_ring_params p = {
			.engine = engine[k], .nregs = 1, .capacity = MAXN, .propagation = prop,
			.max_bytes = sizeof(bytes), .tap = on_tap, .ctx = s,
			.width = fmt.width, .bitsum = fmt.part,
		};

		memset(s, 0, sizeof(*s));
		s->ring = pw_ring_init(malloc(pw_ring_size(&p)), &p);
		s->cmd = c;
		s->cmd.out = s->out;
		s->cmd.parts = s->parts;
	}
	for (i = 0; i < n; i++) {
		x = rnd(2) ? rnd(5) : tap_rand(&state);
		for (k = 0; k < 3; k++) {
			pw_ring_attach(side[k].ring, i, 1, i + 1, 1 << i % 3);
			pw_ring_bind(side[k].ring, i, &side[k].port[i]);
			pw_ring_set_operand(side[k].ring, i, 0, x);
		}
	}
	for (k = 0; k < 3; k++) {
		if (down != from && down < n)
			pw_ring_set_up(side[k].ring, down, false);
		if (k < 2)
			pw_ring_tap(side[k].ring, side[k].mem, sizeof(side[k].mem));
		pw_ring_submit(side[k].ring, from, &side[k].cmd);
		while (pw_ring_run(side[k].ring, ~0ULL, 1 << 20) == PW_RING_MORE)
			;
		qsort(side[k].seen, min_t(u32, side[k].n, ARRAY_SIZE(side[k].seen)),
		      sizeof(side[k].seen[0]), by_time);
	}
	*packets += side[1].n;
	bad[0] += side[0].n != n || side[1].n != n || side[2].n != 0;
	for (i = 0; i < n && i < side[0].n && i < side[1].n; i++) {
		const struct packet *p = &side[0].seen[i], *q = &side[1].seen[i];
		u64 bits;

		bad[1] += p->interface != q->interface || p->when != q->when || p->bytes != q->bytes ||
			  memcmp(p->data, q->data, p->bytes);
		bad[2] += p->interface != (from + i) % n;
		bits = pw_aton_format_bits(fmt, op, lsb(p->data + 8, 24), pw_aton_heights(&c)) - 16;
		bad[3] += p->bytes != DIV_ROUND_UP(bits, 8) || !crc_good(p->data, bits);
	}
	if (side[1].n == n) {
		const struct packet *p = &side[1].seen[n - 1];
		const struct pw_ring_cmd *r = &side[1].cmd;

		bad[4] += !r->err && lsb(p->data + 8, 24) != r->counter;
		if (op && op <= PW_ATON_OR)
			bad[4] += pw_aton_extend(lsb(p->data + 11, fmt.width), fmt.width,
						 c.mods & PW_ATON_SIGNED) != r->v1;
		if (op == PW_ATON_SORT && !r->err && fmt.width == 64)
			for (i = 0; i < r->counter; i++)
				bad[4] += get_unaligned_be64(p->data + 11 + 8 * i) != r->out[i];
	}
	bad[5] += side[1].cmd.done != side[2].cmd.done || side[0].cmd.done != side[2].cmd.done ||
		  side[1].cmd.v1 != side[2].cmd.v1 || side[1].cmd.err != side[2].cmd.err;
	for (k = 0; k < 3; k++)
		free(side[k].ring);
}

int main(void)
{
	static const u8 ops[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 18 };
	unsigned long rounds = tap_scaled(40), r;
	u32 o;

	for (o = 0; o < sizeof(bytes); o++)
		bytes[o] = o * 37;
	for (o = 0; o < ARRAY_SIZE(ops); o++) {
		ull bad[6] = {}, packets = 0;

		for (r = 0; r < rounds; r++)
			one(ops[o], 1 + rnd(MAXN), rnd(3) ? 0 : rnd(60), bad, &packets);
		diag("opcode %u: %llu packets at interfaces", ops[o], packets);
		is(bad[0], 0, "opcode %u: one packet for every hop, none without a tap", ops[o]);
		is(bad[1], 0, "opcode %u: both engines show the same bytes and times", ops[o]);
		is(bad[2] + bad[3], 0, "opcode %u: in ring order, with good CRCs", ops[o]);
		is(bad[4], 0, "opcode %u: the last hop shows the result", ops[o]);
		is(bad[5], 0, "opcode %u: being listened to changes nothing", ops[o]);
	}
	return tap_done();
}
