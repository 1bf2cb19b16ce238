// SPDX-License-Identifier: GPL-2.0
/*
 * Leases: operand registers of a station and group bits of a ring that belong to a file.
 *
 * Programs that share a ring must not see each other's operands. A leased register is
 * in a page of the file that leased it, so no mapping of another file reaches it. A
 * group bit is leased on the whole ring, by files that know one key: the ranks of a job.
 *
 * A lease is owned by its file and listed at the station's interface. The station ends
 * it when it goes; its memory stays the file's. See pw_cdev.h.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "pw_aton.h"
#include "pw_priv.h"

/**
 * pw_aton_lease_alloc - make a lease of nothing
 * @pf: the file
 *
 * Return: the lease, at no station, or NULL.
 */
struct pw_aton_lease *pw_aton_lease_alloc(const struct pw_file *pf)
{
	struct pw_aton_lease *lease = kzalloc(sizeof(*lease), PW_GFP);

	if (!lease)
		return NULL;
	lease->page = alloc_page(PW_GFP | __GFP_ZERO);
	if (!lease->page) {
		kfree(lease);
		return NULL;
	}
	INIT_LIST_HEAD(&lease->entry);
	lease->pf = pf;
	return lease;
}

/**
 * pw_aton_lease_bits - group bits that the files of a station have
 * @aif: its interface; aton->lock held
 * @pf: of this file only; NULL: of all
 */
u32 pw_aton_lease_bits(const struct pw_aton_interface *aif, const struct pw_file *pf)
{
	const struct pw_aton_lease *lease;
	u32 bits = 0;

	list_for_each_entry(lease, &aif->leases, entry)
		if (!pf || lease->pf == pf)
			bits |= lease->group;
	return bits;
}

/* aton->lock held, here and below */
static void pw_aton_lease_free_masks(const struct pw_aton *aton,
				     const struct pw_aton_interface *aif,
				     struct packetway_aton_lease *l)
{
	l->out_regs_free = GENMASK(PACKETWAY_ATON_REGS - 1, 0) & ~aif->port.leased;
	l->out_group_free = PW_ATON_GROUP_MASK & ~aton->taken;
}

/* poll() of a file: the result of a round that it left can be fetched */
static void pw_aton_round_tell(struct pw_aton_lease *lease, u32 bit)
{
	WRITE_ONCE(lease->ended, lease->ended | BIT(bit));
	wake_up_interruptible_poll(lease->left[bit]->wait, EPOLLPRI);
}

/**
 * pw_aton_round_end - a round ends for all its members
 * @aton: the ring; aton->lock held
 * @r: the round
 * @err: 0 or -errno for all of them
 *
 * The last of them may have freed the round on return.
 */
void pw_aton_round_end(struct pw_aton *aton, struct pw_aton_round *r, int err)
{
	u32 bit = r->what.bit, regs = r->complete ? r->regs : 0;
	struct pw_aton_member *m;
	struct hlist_node *next;

	r->err = err;
	aton->round[bit] = NULL;
	hlist_for_each_entry_safe(m, next, &r->members, entry) {
		hlist_del_init(&m->entry);
		if (m->lease) {
			m->lease->rounds &= ~BIT(bit);
			m->lease->busy &= ~regs;
			if (m->lease->left[bit] == m)
				pw_aton_round_tell(m->lease, bit);
		}
		/* the last touch: the task may return now */
		if (m->sleeps) {
			m->ended = true;
			complete(&m->done);
		} else {
			/* pairs with pw_aton_round_ended() */
			smp_store_release(&m->ended, true);
		}
	}
}

/*
 * A file gives registers back whose operands packets of a round are under way for: they find
 * others there, or those of the file that leases the registers next.
 */
static void pw_aton_round_spoil(struct pw_aton *aton, const struct pw_aton_lease *lease, u32 regs)
{
	unsigned long bits = lease->rounds;
	struct pw_aton_round *r;
	unsigned int i;

	for_each_set_bit(i, &bits, PW_ATON_GROUP_BITS) {
		r = aton->round[i];
		if (r && r->complete && r->regs & regs)
			r->err = r->err ?: -EPIPE;
	}
}

/* a file gives a group bit back: a round of that group cannot become complete */
static void pw_aton_round_left(struct pw_aton *aton, u32 bit, struct pw_aton_lease *lease)
{
	struct pw_aton_round *r = aton->round[bit];
	struct pw_aton_member *m;

	if (!r)
		return;
	if (!r->complete) {
		pw_aton_round_end(aton, r, -EPIPE);
		return;
	}
	/*
	 * If another file takes the bit before the packets have passed, their Counter is right
	 * and the sum is not.
	 */
	r->err = r->err ?: -EPIPE;
	hlist_for_each_entry(m, &r->members, entry) {
		if (m->lease != lease)
			continue;
		m->lease = NULL;
		lease->busy &= ~r->regs;
		/* it ends soon, without the lease */
		if (lease->left[bit] == m)
			pw_aton_round_tell(lease, bit);
	}
	lease->rounds &= ~BIT(bit);
}

static void pw_aton_lease_drop(struct pw_aton *aton, struct pw_aton_lease *lease, u32 regs,
			       u32 group)
{
	struct pw_aton_interface *aif = lease->aif;
	unsigned long bits = regs;
	unsigned int i;

	if (regs & lease->busy)
		pw_aton_round_spoil(aton, lease, regs);
	for_each_set_bit(i, &bits, PACKETWAY_ATON_REGS) {
		aif->owner[i] = NULL;
		aif->port.lease[i] = NULL;
	}
	aif->port.leased &= ~regs;
	lease->regs &= ~regs;

	bits = group;
	for_each_set_bit(i, &bits, PW_ATON_GROUP_BITS) {
		pw_aton_round_left(aton, i, lease);
		if (--aton->group_users[i])
			continue;
		aton->group_key[i] = 0;
		aton->taken &= ~BIT(i);
	}
	lease->group &= ~group;
	/* another file of the station may have the same bit */
	aif->port.joined = pw_aton_lease_bits(aif, NULL);
}

static void pw_aton_lease_end(struct pw_aton *aton, struct pw_aton_lease *lease)
{
	pw_aton_lease_drop(aton, lease, lease->regs, lease->group);
	list_del_init(&lease->entry);
	WRITE_ONCE(lease->aif, NULL);
	pw_limit_uncharge(aton->san->net, PW_LIMIT_LEASES, 1);
}

/**
 * pw_aton_leases_end - a station goes: so do the leases there
 * @aton: its ring; aton->lock held
 * @aif: its interface
 */
void pw_aton_leases_end(struct pw_aton *aton, struct pw_aton_interface *aif)
{
	struct pw_aton_lease *lease, *next;
	LIST_HEAD(leases);

	/* with an empty list the group bits that remain are found at once */
	list_splice_init(&aif->leases, &leases);
	list_for_each_entry_safe(lease, next, &leases, entry)
		pw_aton_lease_end(aton, lease);
}

/**
 * pw_aton_lease_free - give back all of a lease, and its memory
 * @lease: the lease; may be NULL
 */
void pw_aton_lease_free(struct pw_aton_lease *lease)
{
	struct pw_aton *aton;
	u32 i;

	if (!lease)
		return;
	aton = lease->aton;
	if (aton) {
		spin_lock_bh(&aton->lock);
		if (lease->aif)
			pw_aton_lease_end(aton, lease);
		spin_unlock_bh(&aton->lock);
		pw_aton_put(aton);
	}
	/* a task that waits for one of them took it before, and does not put it back now */
	for (i = 0; i < PW_ATON_GROUP_BITS; i++)
		if (lease->left[i])
			lease->left[i]->drop(lease->left[i]);
	/* a mapping holds the page by itself */
	put_page(lease->page);
	kfree(lease);
}

/* does another file have one of these? */
static bool pw_aton_lease_clash(const struct pw_aton *aton, const struct pw_aton_interface *aif,
				const struct pw_aton_lease *lease,
				const struct packetway_aton_lease *l)
{
	unsigned long bits = l->group & aton->taken;
	unsigned int i;

	if (l->regs & aif->port.leased & ~lease->regs)
		return true;
	for_each_set_bit(i, &bits, PW_ATON_GROUP_BITS)
		if (aton->group_key[i] != l->key)
			return true;
	return false;
}

static void pw_aton_lease_add(struct pw_aton *aton, struct pw_aton_lease *lease,
			      const struct packetway_aton_lease *l)
{
	struct packetway_aton_leased *own = page_address(lease->page);
	struct packetway_aton_operands *op = &own->operands;
	struct pw_aton_interface *aif = lease->aif;
	unsigned long bits;
	unsigned int i;

	bits = l->regs & ~lease->regs;
	for_each_set_bit(i, &bits, PACKETWAY_ATON_REGS) {
		WRITE_ONCE(op->operand[i], 0);
		memset(&own->latch[i], 0, sizeof(own->latch[i]));
		aif->owner[i] = lease;
		aif->port.lease[i] = &op->operand[i];
	}
	aif->port.leased |= l->regs;
	lease->regs |= l->regs;

	bits = l->group & ~lease->group;
	for_each_set_bit(i, &bits, PW_ATON_GROUP_BITS) {
		aton->group_users[i]++;
		aton->group_key[i] = l->key;
	}
	aton->taken |= l->group;
	lease->group |= l->group;
	aif->port.joined |= l->group;
}

/**
 * pw_aton_lease_take - lease registers and group bits at a station
 * @st: the station; RCU held
 * @lease: of the file, new or at this station
 * @l: what is asked for; gets what is free then
 *
 * Return: 0; -EBUSY: another file has some of it; -ENOSPC, -ENODEV. On error nothing
 * has changed.
 */
int pw_aton_lease_take(struct pw_station *st, struct pw_aton_lease *lease,
		       struct packetway_aton_lease *l)
{
	struct pw_aton *aton = st->san->aton;
	struct pw_aton_interface *aif = &st->aton;
	int err = 0;

	spin_lock_bh(&aton->lock);
	if (!aif->live || (lease->aton && lease->aif != aif)) {
		err = -ENODEV;
	} else if (pw_aton_lease_clash(aton, aif, lease, l)) {
		aton->leases_refused++;
		err = -EBUSY;
	} else if (!lease->aif) {
		err = pw_limit_charge(st->san->net, PW_LIMIT_LEASES, 1, NULL);
		if (!err) {
			refcount_inc(&aton->refs);
			lease->aton = aton;
			lease->aif = aif;
			list_add_tail(&lease->entry, &aif->leases);
		}
	}
	if (!err) {
		pw_aton_lease_add(aton, lease, l);
		pw_aton_lease_free_masks(aton, aif, l);
	}
	spin_unlock_bh(&aton->lock);
	return err;
}

/**
 * pw_aton_lease_return - give back a part of a lease
 * @st: the station; RCU held
 * @lease: of the file
 * @l: what is given back; gets what is free then
 *
 * Return: 0; -ENOENT: the file has not all of it, and keeps it; or -ENODEV.
 */
int pw_aton_lease_return(struct pw_station *st, struct pw_aton_lease *lease,
			 struct packetway_aton_lease *l)
{
	struct pw_aton *aton = st->san->aton;
	int err = 0;

	spin_lock_bh(&aton->lock);
	if (lease->aif != &st->aton) {
		err = -ENODEV;
	} else if (l->regs & ~lease->regs || l->group & ~lease->group) {
		err = -ENOENT;
	} else {
		pw_aton_lease_drop(aton, lease, l->regs, l->group);
		pw_aton_lease_free_masks(aton, &st->aton, l);
	}
	spin_unlock_bh(&aton->lock);
	return err;
}

/**
 * pw_aton_lease_look - what is free at a station?
 * @st: the station; RCU held
 * @l: gets it
 *
 * Return: 0 or -ENODEV.
 */
int pw_aton_lease_look(struct pw_station *st, struct packetway_aton_lease *l)
{
	struct pw_aton *aton = st->san->aton;
	int err = 0;

	spin_lock_bh(&aton->lock);
	if (st->aton.live)
		pw_aton_lease_free_masks(aton, &st->aton, l);
	else
		err = -ENODEV;
	spin_unlock_bh(&aton->lock);
	return err;
}
