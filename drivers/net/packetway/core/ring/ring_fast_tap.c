// SPDX-License-Identifier: GPL-2.0
/*
 * ATON by computation: packets for the tap. They are rendered from the state of the engine
 * after each hop. A damaged packet is not shown from there on.
 */
#include "ring_priv.h"

/* longest packet to render, in bytes: rendering takes time for every bit */
#define FAST_TAP_MAX	2048

/* SORT: insert the operand that the last hop added into the sorted operands */
static void insert(struct pw_ring *ring, u64 x)
{
	u64 flip = ring->pkt->cmd->mods & PW_ATON_SIGNED ? BIT_ULL(63) : 0;
	u64 *list = ring->tap.mem;
	u32 i = ring->tap.sorted++;

	for (; i && (list[i - 1] ^ flip) > (x ^ flip); i--)
		list[i] = list[i - 1];
	list[i] = x;
}

static u64 value(const struct pw_ring *ring, const struct pw_aton_place *at)
{
	const struct pw_ring_packet *pkt = ring->pkt;
	const struct pw_ring_cmd *cmd = pkt->cmd;
	u32 below = 64 - ring->fmt.width;	/* operands are in the upper bits */
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
		return pkt->v1 >> below;
	case PW_FLD_V2:
		return pkt->v2;
	case PW_FLD_OPERAND:
		return ((u64 *)ring->tap.mem)[at->index] >> below;
	case PW_FLD_PART:
		for (k = 0; k < ARRAY_SIZE(ring->fast.plane); k++)
			n |= (ring->fast.plane[k] >> (at->index + below) & 1) << k;
		return n;
	case PW_FLD_HEIGHTS:
		return pw_aton_heights(cmd);
	case PW_FLD_TREE_OP:
		return pw_aton_node_op(cmd, at->index, at->node);
	case PW_FLD_LEVEL:
		return ring->fast.level[at->index] >> below;
	case PW_FLD_BYTE:
		return cmd->data[at->index];
	case PW_FLD_TRAILER:
		return pkt->trailer;
	}
	return 0;
}

/* the node for which a level was stored last, or will be first */
static u32 stored_for(const struct pw_ring *ring, const struct pw_aton_place *at)
{
	u32 half = ring->pkt->counter >> at->index, nodes = pw_aton_nodes(at->heights, at->index);

	/* leaves that store there are the odd multiples of 2^height */
	return nodes == 1 || !half ? 0 : min((half - 1) / 2, nodes - 1);
}

/* bytes of the packet as it is now, from control field to CRC */
static void render(struct pw_ring *ring, u8 *byte)
{
	struct pw_aton_place at = {
		.fmt = ring->fmt,
		.op = ring->pkt->cmd->op,
		.heights = pw_aton_heights(ring->pkt->cmd),
		.repeat = ring->pkt->counter,
	};
	u32 crc = ~0u;
	u32 n = 0;
	u64 v = 0;
	u8 bit;

	while (at.field != PW_FLD_END) {
		if (!at.bit) {
			v = at.field == PW_FLD_CRC ? crc : value(ring, &at);
			if (at.field == PW_FLD_TREE_OP && at.node == stored_for(ring, &at))
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
 * pw_ring_fast_tap - show the packet that leaves an interface
 * @ring: the ring
 * @interface: the interface
 */
void pw_ring_fast_tap(struct pw_ring *ring, u32 interface)
{
	const struct pw_ring_packet *pkt = ring->pkt;
	const struct pw_ring_cmd *cmd = pkt->cmd;
	size_t list = 0, bytes;
	u64 when = pkt->start;

	bytes = DIV_ROUND_UP(pw_aton_format_bits(ring->fmt, cmd->op, pkt->counter,
						 pw_aton_heights(cmd)) - 2 * PW_ATON_DELIM, 8);
	if (cmd->op == PW_ATON_SORT) {
		if (interface == pkt->t)
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
	if (interface != pkt->t)
		when += pw_ring_dist(ring, pkt->t, interface);
	render(ring, (u8 *)ring->tap.mem + list);
	ring->p.tap(ring->p.ctx, interface, when, (u8 *)ring->tap.mem + list, bytes);
}
