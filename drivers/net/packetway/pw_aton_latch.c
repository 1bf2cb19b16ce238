// SPDX-License-Identifier: GPL-2.0
/*
 * Latches: what a command with the modifier prefix leaves at each interface.
 *
 * The latch of a register is where programs read it: in the read-only page of the station, or,
 * if a file has leased the register, in the page of that lease. A job that has leased a group
 * and its registers shares its latches with no other: only files that have the group send such
 * a command to it, and only the command of a file with the same key changes a latch there.
 */
#include <linux/bitops.h>
#include <linux/mm.h>

#include "pw_aton.h"
#include "pw_priv.h"

static_assert(sizeof(struct packetway_aton_leased) <= PAGE_SIZE);

/**
 * pw_aton_latch_may - may a file send this command with the modifier prefix?
 * @aton: the ring; aton->lock held
 * @aif: interface that it is sent from
 * @req: the command; gets the key of the region
 *
 * Return: 0; -EBUSY: the region is a group that others have leased; -EINVAL: it is a union of
 * groups with different keys.
 */
int pw_aton_latch_may(struct pw_aton *aton, const struct pw_aton_interface *aif,
		      struct pw_aton_req *req)
{
	u32 dst = req->cmd.dst;
	unsigned long bits;
	unsigned int i;

	req->key = 0;
	if ((dst & ~PW_ATON_GROUP_MASK) != PW_ATON_GROUP)
		return 0;
	bits = dst & PW_ATON_GROUP_MASK & aton->taken;
	if (!bits)
		return 0;
	if (bits & ~pw_aton_lease_bits(aif, req->by)) {
		aton->leases_refused++;
		return -EBUSY;
	}
	req->key = aton->group_key[__ffs(bits)];
	for_each_set_bit(i, &bits, PW_ATON_GROUP_BITS)
		if (aton->group_key[i] != req->key)
			return -EINVAL;
	return 0;
}

/* the latch that a command may change; NULL: none */
static struct packetway_aton_latch *pw_aton_latch_of(const struct pw_aton *aton,
						     const struct pw_aton_interface *aif,
						     const struct pw_aton_req *req)
{
	const struct pw_aton_lease *lease = aif->owner[req->cmd.reg];
	struct packetway_aton_leased *own;
	struct packetway_aton_page *page;
	u32 bits;

	if (!lease) {
		page = aif->results ? page_address(aif->results) : NULL;
		return page ? &page->latch[req->cmd.reg] : NULL;
	}
	/* with a key the region is a group; the bit may have another owner by now */
	bits = lease->group & req->cmd.dst;
	if (!req->key || !bits || aton->group_key[__ffs(bits)] != req->key)
		return NULL;
	own = page_address(lease->page);
	return &own->latch[req->cmd.reg];
}

/**
 * pw_aton_latch - an interface has latched a partial result
 * @ctx: struct pw_aton; its lock held
 * @sender: in the interface; NULL: none
 * @interface: its number
 * @cmd: the command, of a struct pw_aton_req
 * @latch: what it has latched
 * @when: bit time
 */
void pw_aton_latch(void *ctx, struct pw_ring_sender *sender, u32 interface,
		   const struct pw_ring_cmd *cmd, const struct pw_ring_latch *latch, u64 when)
{
	const struct pw_aton_req *req = container_of(cmd, struct pw_aton_req, cmd);
	const struct pw_aton_interface *aif;
	struct packetway_aton_latch *l;
	u32 seq;

	if (!sender)
		return;
	aif = container_of(sender, struct pw_aton_interface, port);
	l = pw_aton_latch_of(ctx, aif, req);
	if (!l)
		return;
	/* a program may store into the page of its lease: it gets what it stored, no other does */
	seq = READ_ONCE(l->seq) & ~1U;
	WRITE_ONCE(l->seq, seq + 1);
	smp_wmb();	/* programs that see a new value see the odd number, too */
	WRITE_ONCE(l->status, cmd->op | (u32)latch->flags << 8);
	WRITE_ONCE(l->runs, READ_ONCE(l->runs) + 1);
	WRITE_ONCE(l->counter, latch->counter);
	WRITE_ONCE(l->before, latch->before);
	WRITE_ONCE(l->with, latch->with);
	WRITE_ONCE(l->time, when);
	WRITE_ONCE(l->src, latch->src);
	smp_wmb();	/* and the even one only after all values */
	WRITE_ONCE(l->seq, seq + 2);
}

/**
 * pw_aton_latch_get - read a latch
 * @st: the station; RCU held
 * @pf: file that asks
 * @g: the register, below PACKETWAY_ATON_REGS; gets the values
 *
 * Return: 0; -EBUSY: another file has leased the register; -ENODEV.
 */
int pw_aton_latch_get(struct pw_station *st, const struct pw_file *pf,
		      struct packetway_aton_get_latch *g)
{
	const struct packetway_aton_latch *l = NULL;
	const struct packetway_aton_leased *own;
	const struct packetway_aton_page *page;
	struct pw_aton *aton = st->san->aton;
	const struct pw_aton_lease *lease;
	int err = 0;

	spin_lock_bh(&aton->lock);
	lease = st->aton.owner[g->reg];
	if (!st->aton.live) {
		err = -ENODEV;
	} else if (lease && lease->pf != pf) {
		err = -EBUSY;
	} else if (lease) {
		own = page_address(lease->page);
		l = &own->latch[g->reg];
	} else {
		page = page_address(st->aton.results);
		l = &page->latch[g->reg];
	}
	if (l) {
		g->out_op = READ_ONCE(l->status) & 0xff;
		g->out_flags = READ_ONCE(l->status) >> 8;
		g->out_runs = READ_ONCE(l->runs);
		g->out_counter = READ_ONCE(l->counter);
		g->out_before = READ_ONCE(l->before);
		g->out_with = READ_ONCE(l->with);
		g->out_time = READ_ONCE(l->time);
		g->out_src = READ_ONCE(l->src);
	}
	spin_unlock_bh(&aton->lock);
	return err;
}
