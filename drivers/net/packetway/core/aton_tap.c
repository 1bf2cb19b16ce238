// SPDX-License-Identifier: GPL-2.0
/*
 * ATON packets as a listener on the ring sees them: at every interface that
 * sends or relays one, its bits in the order in which they are on the ring, eight
 * to a byte, the first one most significant, without the delimiters.
 *
 * The rtl engine has them on its wires. The fast engine makes them from what it
 * knows after each hop; it does not follow a packet any further once that has been
 * damaged.
 */
#include "aton_ring.h"

/* longest packet that the fast engine renders: that is done bit by bit */
#define FAST_TAP_MAX	2048

/* rtl: what one interface sends */
struct rtl_tap {
	u64 start;
	u32 bits;
	u16 window;
	bool packet;
	u8 byte[];
};

static struct rtl_tap *rtl_tap(const struct pw_ring *ring, u32 i)
{
	return (struct rtl_tap *)((u8 *)ring->tap.mem + (size_t)i * ring->tap.stride);
}

/**
 * pw_ring_tap_reset - all listeners start anew
 * @ring: the ring; its interfaces or what is on it have changed
 */
void pw_ring_tap_reset(struct pw_ring *ring)
{
	struct pw_ring_tap *t = &ring->tap;
	u32 i;

	t->sorted = 0;
	t->stride = ring->n ? (t->size / ring->n) & ~(size_t)7 : 0;
	if (ring->p.engine != PW_RING_RTL || t->stride <= sizeof(struct rtl_tap))
		return;
	for (i = 0; i < ring->n; i++)
		memset(rtl_tap(ring, i), 0, sizeof(struct rtl_tap));
}

/**
 * pw_ring_tap - packets are told to params->tap from now on, or not
 * @ring: the ring
 * @mem: memory to work with, aligned for a u64; NULL: stop
 * @size: of @mem; packets that do not fit into it are not told. rtl needs it for
 *	each interface.
 */
void pw_ring_tap(struct pw_ring *ring, void *mem, size_t size)
{
	ring->tap.mem = ring->p.tap ? mem : NULL;
	ring->tap.size = size;
	if (ring->tap.mem)
		pw_ring_tap_reset(ring);
}

/**
 * pw_rtl_tap - one symbol of every interface
 * @ring: the ring; rtl->cycle is the bit time in which they are sent
 */
void pw_rtl_tap(struct pw_ring *ring)
{
	size_t room = (size_t)ring->tap.stride - sizeof(struct rtl_tap);
	struct rtl_tap *t;
	u8 sym;
	u32 i;

	if (ring->tap.stride <= sizeof(struct rtl_tap))
		return;
	for (i = 0; i < ring->n; i++) {
		t = rtl_tap(ring, i);
		sym = pw_rtl_symbol(ring, i);
		if (!sym && !t->packet && !t->window)
			continue;
		t->window = t->window << 2 | sym;
		if (t->window == PW_ATON_SD) {
			t->packet = true;
			t->bits = 0;
			t->start = ring->rtl.cycle - (PW_ATON_DELIM - 1);
			continue;
		}
		if (!t->packet)
			continue;
		if (sym >= PW_SYM_J) {
			t->packet = false;
			if (t->bits && !(t->bits % 8) && t->bits / 8 <= room)
				ring->p.tap(ring->p.ctx, i, t->start, t->byte, t->bits / 8);
			continue;
		}
		if (t->bits / 8 < room) {
			if (!(t->bits % 8))
				t->byte[t->bits / 8] = 0;
			t->byte[t->bits / 8] |= sym << (7 - t->bits % 8);
		}
		t->bits++;
	}
}

/* SORT: one operand has been added at most since the last hop; those here are in order */
static void insert(struct pw_ring *ring, u64 x)
{
	u64 flip = ring->pkt.cmd->mods & PW_ATON_SIGNED ? BIT_ULL(63) : 0;
	u64 *list = ring->tap.mem;
	u32 i = ring->tap.sorted++;

	for (; i && (list[i - 1] ^ flip) > (x ^ flip); i--)
		list[i] = list[i - 1];
	list[i] = x;
}

static u64 value(const struct pw_ring *ring, const struct pw_aton_place *at)
{
	const struct pw_ring_packet *pkt = &ring->pkt;
	const struct pw_ring_cmd *cmd = pkt->cmd;
	u64 n = 0;
	u32 k;

	switch (at->field) {
	case PW_FLD_CONTROL:
		return pkt->control;
	case PW_FLD_DST:
		return cmd->dst;
	case PW_FLD_SRC:
		return pkt->addr;
	case PW_FLD_COUNTER:
		return pkt->counter;
	case PW_FLD_V1:
		return pkt->v1;
	case PW_FLD_V2:
		return pkt->v2;
	case PW_FLD_OPERAND:
		return ((u64 *)ring->tap.mem)[at->index];
	case PW_FLD_PART:
		for (k = 0; k < ARRAY_SIZE(ring->fast.plane); k++)
			n |= (ring->fast.plane[k] >> at->index & 1) << k;
		return n;
	case PW_FLD_HEIGHTS:
		return cmd->heights;
	case PW_FLD_TREE_OP:
		return cmd->ops[at->index];
	case PW_FLD_LEVEL:
		return ring->fast.level[at->index];
	case PW_FLD_BYTE:
		return cmd->data[at->index];
	case PW_FLD_TRAILER:
		return pkt->trailer;
	}
	return 0;
}

/* the packet as it is now, from control field to CRC */
static void render(struct pw_ring *ring, u8 *byte)
{
	struct pw_aton_place at = {
		.op = ring->pkt.cmd->op,
		.heights = ring->pkt.cmd->heights,
		.repeat = ring->pkt.counter,
	};
	u32 crc = ~0u;
	u32 n = 0;
	u64 v = 0;
	u8 bit;

	while (at.field != PW_FLD_END) {
		if (!at.bit) {
			v = at.field == PW_FLD_CRC ? crc : value(ring, &at);
			if (at.field == PW_FLD_TREE_OP)
				at.tree_op = v;
		}
		bit = v >> pw_aton_bit(&at) & 1;
		if (at.field != PW_FLD_CRC)
			crc = pw_aton_crc(crc, bit);
		if (!(n % 8))
			byte[n / 8] = 0;
		byte[n / 8] |= bit << (7 - n % 8);
		n++;
		pw_aton_advance(&at);
	}
}

/**
 * pw_fast_tap - the packet leaves an interface
 * @ring: the ring
 * @iface: the interface
 */
void pw_fast_tap(struct pw_ring *ring, u32 iface)
{
	const struct pw_ring_packet *pkt = &ring->pkt;
	const struct pw_ring_cmd *cmd = pkt->cmd;
	size_t list = 0, bytes;
	u64 when = pkt->start;

	bytes = (pw_aton_packet_bits(cmd->op, pkt->counter, cmd->heights) - 2 * PW_ATON_DELIM) / 8;
	if (cmd->op == PW_ATON_SORT) {
		if (iface == pkt->t)
			ring->tap.sorted = 0;
		list = (size_t)pkt->counter * sizeof(u64);
		if (pkt->counter > cmd->room || bytes > FAST_TAP_MAX ||
		    list + bytes > ring->tap.size || pkt->counter > ring->tap.sorted + 1)
			return;
		if (pkt->counter > ring->tap.sorted)
			insert(ring, cmd->out[pkt->counter - 1]);
	}
	if (list + bytes > ring->tap.size || bytes > FAST_TAP_MAX)
		return;
	if (iface != pkt->t)
		when += pw_ring_dist(ring, pkt->t, iface);
	render(ring, (u8 *)ring->tap.mem + list);
	ring->p.tap(ring->p.ctx, iface, when, (u8 *)ring->tap.mem + list, bytes);
}
