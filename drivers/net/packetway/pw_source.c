// SPDX-License-Identifier: GPL-2.0
/*
 * Source routes of a station: rows of L2RHs that stand in front of each message to a range of
 * addresses, whatever made it: IP, POETS, a socket, the kernel itself.
 *
 *   pw_xmit_one, pw_send_own -> pw_send_flags -> pw_source_push : row in front
 *                                             -> pw_classify    : consumes the first L2RH
 *
 * The list is short, the narrowest range first. A station without one pays one load per message.
 */
#include <linux/netlink.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include <linux/packetway_netlink.h>

#include "pw_priv.h"

/* the route to @addr, or NULL; a station reaches itself without one. RCU held */
static const struct pw_source *pw_source_find(const struct pw_station *st, u32 addr)
{
	const struct pw_source *e;

	if (addr == st->addr)
		return NULL;
	/* PACKETWAY_SOURCE_ROUTES_MAX at most */
	hlist_for_each_entry_rcu(e, &st->sources, node)
		if (addr - e->min <= e->max - e->min)
			return e;
	return NULL;
}

/* pw_source_has() where the station has source routes */
bool __pw_source_has(const struct pw_station *st, u32 addr)
{
	bool has;

	rcu_read_lock();
	has = pw_source_find(st, addr);
	rcu_read_unlock();
	return has;
}

/**
 * pw_source_mtu - largest data block that the source route to an address takes
 * @st: the station
 * @addr: the address
 *
 * Stations and half-routers do not count L2RHs against the MTU, but no fabric takes a message of
 * more than PW_FABRIC_MAX_LEN bytes. The first L2RH is consumed before that.
 *
 * Return: bytes; U32_MAX if there is no source route to @addr.
 */
u32 pw_source_mtu(const struct pw_station *st, u32 addr)
{
	const struct pw_source *e;
	u32 mtu = U32_MAX;

	rcu_read_lock();
	e = pw_source_find(st, addr);
	if (e) {
		mtu = PW_FABRIC_MAX_LEN - PW_OVERHEAD - e->len +
		      pw_l2rh_size(e->row[1] & PW_L2RH_LEN_MASK);
		if (e->mtu)
			mtu = min(mtu, e->mtu);
	}
	rcu_read_unlock();
	return mtu;
}

/* pw_source_push() where the station has source routes */
int __pw_source_push(struct pw_station *st, struct sk_buff *skb)
{
	const struct pw_source *e;

	/* what is too short is refused by pw_classify() */
	if (!pskb_may_pull(skb, PW_EEP_WORD) || pw_eep_first(skb->data) != PW_EEP_PHYS)
		return 0;
	e = pw_source_find(st, get_unaligned_be24(skb->data + PW_EEP_OFF_DT));
	if (!e)
		return 0;
	if (skb_cow_head(skb, e->len))
		return -ENOMEM;
	memcpy(skb_push(skb, e->len), e->row, e->len);
	pw_count(st, PW_STAT_TX_SOURCE);
	return 0;
}

static int pw_source_check(const struct pw_station *st, const struct pw_source_conf *c,
			   struct netlink_ext_ack *extack)
{
	struct pw_skb_cb cb;

	BUILD_BUG_ON(PACKETWAY_SOURCE_ROUTE_MAX != 512);
	if (!c->len || c->len > PACKETWAY_SOURCE_ROUTE_MAX || pw_eep_check_l2rhs(c->row, c->len)) {
		NL_SET_ERR_MSG(extack, "A source route is a row of L2RHs, of at most 512 bytes");
		return -EINVAL;
	}
	if (pw_san_native_route(st->san, c->row + PW_L2RH_HDR_LEN,
				c->row[1] & PW_L2RH_LEN_MASK, &cb)) {
		NL_SET_ERR_MSG(extack, "The first L2RH is not a route on the SAN of the station");
		return -EINVAL;
	}
	BUILD_BUG_ON(PACKETWAY_MTU_MIN != 64 || PACKETWAY_MTU_MAX != 65528);
	if (c->mtu && (c->mtu < PACKETWAY_MTU_MIN || c->mtu > PACKETWAY_MTU_MAX)) {
		NL_SET_ERR_MSG(extack, "The MTU of a source route is 64 to 65528, or 0");
		return -ERANGE;
	}
	return 0;
}

/* the route to exactly this range, or NULL; under RTNL */
static struct pw_source *pw_source_of(struct pw_station *st, u32 min, u32 max)
{
	struct pw_source *e;

	hlist_for_each_entry(e, &st->sources, node)
		if (e->min == min && e->max == max)
			return e;
	return NULL;
}

/* behind all ranges that are not wider */
static void pw_source_insert(struct pw_station *st, struct pw_source *new)
{
	struct pw_source *e, *last = NULL;

	hlist_for_each_entry(e, &st->sources, node) {
		if (e->max - e->min > new->max - new->min)
			break;
		last = e;
	}
	if (last)
		hlist_add_behind_rcu(&new->node, &last->node);
	else
		hlist_add_head_rcu(&new->node, &st->sources);
	st->nsources++;
	atomic_inc(&pw_net(dev_net(st->dev))->lists);
}

/**
 * pw_source_add - set a source route of a station
 * @st: the station
 * @c: the route; its row is copied
 * @extack: where a refusal is explained
 *
 * The L2RHs behind the first one belong to other SANs, which may be elsewhere: only their form
 * is checked.
 *
 * Return: the route, valid under RTNL, or an error pointer. Under RTNL.
 */
const struct pw_source *pw_source_add(struct pw_station *st, const struct pw_source_conf *c,
				      struct netlink_ext_ack *extack)
{
	struct pw_source *new;
	int err;

	err = pw_source_check(st, c, extack);
	if (err)
		return ERR_PTR(err);
	if (pw_source_of(st, c->min, c->max)) {
		NL_SET_ERR_MSG(extack, "The station has a source route to these addresses already");
		return ERR_PTR(-EEXIST);
	}
	if (st->nsources == PACKETWAY_SOURCE_ROUTES_MAX) {
		NL_SET_ERR_MSG(extack, "The station has as many source routes as it can have");
		return ERR_PTR(-ENOSPC);
	}
	new = kmalloc(struct_size(new, row, c->len), PW_GFP);
	if (!new)
		return ERR_PTR(-ENOMEM);
	new->min = c->min;
	new->max = c->max;
	new->mtu = c->mtu;
	new->len = c->len;
	memcpy(new->row, c->row, c->len);
	pw_source_insert(st, new);
	return new;
}

/**
 * pw_source_del - take a source route of a station out of use
 * @st: the station
 * @c: range
 *
 * Return: the route, which pw_source_free() frees, or NULL. Under RTNL.
 */
struct pw_source *pw_source_del(struct pw_station *st, const struct pw_source_conf *c)
{
	struct pw_source *e = pw_source_of(st, c->min, c->max);

	if (e) {
		hlist_del_rcu(&e->node);
		st->nsources--;
		atomic_inc(&pw_net(dev_net(st->dev))->lists);
	}
	return e;
}

/* messages may still read it */
void pw_source_free(struct pw_source *e)
{
	kfree_rcu(e, rcu);
}

/* the station is freed, messages of it are gone */
void pw_source_free_all(struct pw_station *st)
{
	struct hlist_node *next;
	struct pw_source *e;

	hlist_for_each_entry_safe(e, next, &st->sources, node)
		kfree(e);
}
