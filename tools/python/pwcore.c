// SPDX-License-Identifier: GPL-2.0
/*
 * What libpwcore exports for other languages: functions with plain structures, which do
 * not change with the cores.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ring/ring.h"

/**
 * struct pwc_ring - a command on a ring of the model, and what came of it
 * @engine: 0 fast, 1 rtl
 * @propagation: extra bit times per hop
 * @op: enum pw_aton_op
 * @mods: PW_ATON_SIGNED, PW_ATON_COMPARAND
 * @heights: TREE: number of heights
 * @ops: TREE: the operation of each height, leaves first
 * @comparand: of a count under PW_ATON_COMPARAND
 * @error: enum pw_aton_error; the rest holds only when it is 0
 * @flags: PW_ATON_F_*
 * @counter: interfaces that took part
 * @v1: Variable-1
 * @v2: Variable-2
 * @ring_bits: bit times on the ring
 */
struct pwc_ring {
	u32 engine;
	u32 propagation;
	u32 op;
	u32 mods;
	u32 heights;
	u8 ops[32];
	u64 comparand;
	u32 error;
	u32 flags;
	u64 counter;
	u64 v1;
	u64 v2;
	u64 ring_bits;
};

int pwc_ring_run(struct pwc_ring *c, const u64 *operands, u32 n, u64 *sorted);

/* run @c on a ring of @n interfaces; @sorted: room for @n operands; 0 or a negative errno */
int pwc_ring_run(struct pwc_ring *c, const u64 *operands, u32 n, u64 *sorted)
{
	struct pw_ring_params params = { .engine = c->engine ? PW_RING_RTL : PW_RING_FAST,
					 .nregs = 1, .capacity = n,
					 .propagation = c->propagation };
	u32 parts[PW_ATON_PARTS], i;
	struct pw_ring_sender port = { 0 };
	struct pw_ring_cmd cmd = { 0 };
	struct pw_ring *ring;
	void *mem;
	int err;

	if (!n || n > PW_ATON_MAX_INTERFACES || c->heights > PW_ATON_HEIGHTS ||
	    c->heights > sizeof(c->ops) || c->propagation > 1u << 16)
		return -EINVAL;
	mem = malloc(pw_ring_size(&params));
	if (!mem)
		return -ENOMEM;
	ring = pw_ring_init(mem, &params);
	pw_ring_attach(ring, 0, n, 1, 0);
	pw_ring_bind(ring, 0, &port);
	for (i = 0; i < n; i++)
		pw_ring_set_operand(ring, i, 0, operands[i]);
	cmd.op = c->op;
	cmd.mods = c->mods;
	cmd.dst = PW_ATON_RING;
	cmd.comparand = c->comparand;
	cmd.heights = c->heights;
	memcpy(cmd.ops, c->ops, c->heights);
	cmd.room = n;
	cmd.out = sorted;
	cmd.parts = parts;
	err = pw_ring_submit(ring, 0, &cmd);
	if (!err) {
		while (pw_ring_run(ring, ~0ULL, 1u << 30) == PW_RING_MORE)
			;
		pw_ring_reap(ring);
	}
	c->error = cmd.err;
	c->flags = cmd.flags;
	c->counter = cmd.counter;
	c->v1 = cmd.v1;
	c->v2 = cmd.v2;
	c->ring_bits = cmd.ring_bits;
	free(mem);
	return err ? -EINVAL : 0;
}
