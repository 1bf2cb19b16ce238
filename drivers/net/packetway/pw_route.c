// SPDX-License-Identifier: GPL-2.0
/*
 * The ways from a SAN to others: made from the tables of its half-routers
 * whenever one of them has changed, read by stations and half-routers for each
 * frame that leaves by address.
 */
#include <linux/slab.h>
#include <linux/sort.h>

#include "pw_genl.h"
#include "pw_router.h"

#define PW_FIB_MAX	256	/* ranges that one SAN knows ways to */
#define PW_ROUTES_MAX	64	/* of them made by hand */

/**
 * pw_fib_find - best way from a SAN to an address elsewhere
 * @san: the SAN; RCU held
 * @addr: physical address, not of this SAN
 *
 * The narrowest range that holds the address decides.
 *
 * Return: the entry or NULL.
 */
const struct pw_fib_entry *pw_fib_find(const struct pw_san *san, u32 addr)
{
	const struct pw_fib *fib = rcu_dereference(san->fib);
	u32 i;

	if (!fib)
		return NULL;
	for (i = 0; i < fib->n; i++)
		if (addr - fib->e[i].min <= fib->e[i].max - fib->e[i].min)
			return &fib->e[i];
	return NULL;
}

/* port of the half-router to use, or -1 */
int pw_fib_lookup(const struct pw_san *san, u32 addr)
{
	const struct pw_fib_entry *e = pw_fib_find(san, addr);

	return e ? e->port : -1;
}

static bool pw_fib_better(const struct pw_fib_entry *a, const struct pw_fib_entry *b)
{
	return a->q != b->q ? a->q < b->q : a->hops != b->hops ? a->hops < b->hops :
	       a->port < b->port;
}

static void pw_fib_add(struct pw_fib *fib, const struct pw_fib_entry *e)
{
	u32 i;

	for (i = 0; i < fib->n; i++) {
		if (fib->e[i].min != e->min || fib->e[i].max != e->max)
			continue;
		if (pw_fib_better(e, &fib->e[i]))
			fib->e[i] = *e;
		return;
	}
	if (fib->n < PW_FIB_MAX)
		fib->e[fib->n++] = *e;
}

/* the ranges of one table */
static void pw_fib_add_table(struct pw_fib *fib, const struct pw_half *h,
			     const struct pw_rrp_table *t)
{
	struct pw_fib_entry e = {
		.san = t->san, .port = h->port, .q = t->q, .mtu = t->mtu, .hops = t->nrcvf,
	};
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;

	pw_rrp_iter_init(&it, t->nodes, t->nodes_len);
	while (pw_rrp_next(&it, &rec) > 0) {
		if (rec.type != PW_RRP_ADDR || rec.at != PW_RRP_AT_MIN || rec.addr > rec.addr2 ||
		    pw_addr_kind(rec.addr) != PW_ADDR_KIND_PHYS ||
		    pw_addr_kind(rec.addr2) != PW_ADDR_KIND_PHYS)
			continue;
		e.min = rec.addr;
		e.max = rec.addr2;
		pw_fib_add(fib, &e);
	}
}

static int pw_fib_cmp(const void *x, const void *y)
{
	const struct pw_fib_entry *a = x, *b = y;
	u32 wa = a->max - a->min, wb = b->max - b->min;

	if (wa != wb)
		return wa < wb ? -1 : 1;
	return a->min < b->min ? -1 : a->min > b->min;
}

/**
 * pw_fib_update - a half-router of a SAN has other tables now
 * @san: the SAN
 *
 * No lock of a half-router is held. Without memory the old ways stay until the
 * next change; frames to a half-router that is gone are refused all the same.
 */
void pw_fib_update(struct pw_san *san)
{
	struct pw_fib *new, *old;
	struct pw_half *h;
	u32 i, k;

	new = kmalloc(struct_size(new, e, PW_FIB_MAX), GFP_ATOMIC | __GFP_NOWARN);
	if (!new) {
		pw_rrp_san_changed(san);
		return;
	}
	new->n = 0;

	rcu_read_lock();
	spin_lock_bh(&san->fib_lock);
	for (i = 0; i < san->nports; i++) {
		h = rcu_dereference(san->port[i].half);
		if (!h)
			continue;
		spin_lock(&h->lock);
		for (k = 0; k < h->db.ntables; k++) {
			const struct pw_rrp_table *t = &h->db.table[k];

			/* a way that a buddy offered is that buddy's to walk */
			if (t->used && !t->own && t->from_twin && t->san != san->bias)
				pw_fib_add_table(new, h, t);
		}
		spin_unlock(&h->lock);
	}
	for (i = 0; san->routes && i < san->routes->n; i++)
		if (rcu_access_pointer(san->port[san->routes->e[i].port].half))
			pw_fib_add(new, &san->routes->e[i]);
	sort(new->e, new->n, sizeof(new->e[0]), pw_fib_cmp, NULL);
	old = rcu_replace_pointer(san->fib, new, lockdep_is_held(&san->fib_lock));
	spin_unlock_bh(&san->fib_lock);
	rcu_read_unlock();
	if (old)
		kfree_rcu(old, rcu);
}

/* the SAN goes; nobody looks any more */
void pw_fib_free(struct pw_san *san)
{
	kfree(rcu_dereference_protected(san->fib, true));
	RCU_INIT_POINTER(san->fib, NULL);
	kfree(san->routes);
	kfree(san->fib_told);
}

static bool pw_fib_same_range(const struct pw_fib_entry *a, const struct pw_fib_entry *b)
{
	return a->min == b->min && a->max == b->max;
}

/**
 * pw_fib_route_add - a way made by hand
 * @san: the SAN on which it begins
 * @e: the way; its half-router need not be there yet
 * @extack: where a refusal is explained
 *
 * Return: 0 or a negative errno. Under RTNL.
 */
int pw_fib_route_add(struct pw_san *san, const struct pw_fib_entry *e,
		     struct netlink_ext_ack *extack)
{
	struct pw_fib *r = san->routes;
	u32 i;

	if (!r) {
		r = kzalloc(struct_size(r, e, PW_ROUTES_MAX), GFP_KERNEL_ACCOUNT);
		if (!r)
			return -ENOMEM;
	}
	for (i = 0; i < r->n; i++) {
		if (pw_fib_same_range(&r->e[i], e) && r->e[i].port == e->port) {
			NL_SET_ERR_MSG(extack, "There is such a route already");
			return -EEXIST;
		}
	}
	if (r->n == PW_ROUTES_MAX) {
		NL_SET_ERR_MSG(extack, "The SAN has as many routes by hand as it can have");
		return -ENOSPC;
	}
	spin_lock_bh(&san->fib_lock);
	r->e[r->n++] = *e;
	san->routes = r;
	spin_unlock_bh(&san->fib_lock);
	pw_fib_update(san);
	pw_rrp_routes_changed(san);
	return 0;
}

/**
 * pw_fib_route_del - a way made by hand goes
 * @san: the SAN
 * @e: range and port are compared
 *
 * Return: 0 or -ENOENT. Under RTNL.
 */
int pw_fib_route_del(struct pw_san *san, const struct pw_fib_entry *e)
{
	struct pw_fib *r = san->routes;
	u32 i;

	for (i = 0; r && i < r->n; i++)
		if (pw_fib_same_range(&r->e[i], e) && r->e[i].port == e->port)
			break;
	if (!r || i == r->n)
		return -ENOENT;
	spin_lock_bh(&san->fib_lock);
	r->e[i] = r->e[--r->n];
	spin_unlock_bh(&san->fib_lock);
	pw_fib_update(san);
	pw_rrp_routes_changed(san);
	return 0;
}

static const struct pw_fib_entry *pw_fib_of_range(const struct pw_fib *fib,
						  const struct pw_fib_entry *e)
{
	u32 i;

	for (i = 0; fib && i < fib->n; i++)
		if (pw_fib_same_range(&fib->e[i], e))
			return &fib->e[i];
	return NULL;
}

static bool pw_fib_same_way(const struct pw_fib_entry *a, const struct pw_fib_entry *b)
{
	return a->san == b->san && a->port == b->port && a->q == b->q && a->mtu == b->mtu &&
	       a->hops == b->hops && a->fixed == b->fixed;
}

/**
 * pw_fib_tell - notify how the ways from a SAN differ from those told before
 * @san: the SAN; from its rrp_work only
 */
void pw_fib_tell(struct pw_san *san)
{
	const struct pw_fib_entry *e;
	struct pw_fib *now = NULL, *was = san->fib_told;
	const struct pw_fib *fib;
	u32 i;

	rcu_read_lock();
	fib = rcu_dereference(san->fib);
	if (fib)
		now = kmemdup(fib, struct_size(fib, e, fib->n), GFP_ATOMIC | __GFP_NOWARN);
	rcu_read_unlock();
	/* without memory they are told the next time */
	if (!now)
		return;
	for (i = 0; i < now->n; i++) {
		e = pw_fib_of_range(was, &now->e[i]);
		if (!e || !pw_fib_same_way(e, &now->e[i]))
			pw_genl_route_notify(san, &now->e[i], false);
	}
	for (i = 0; was && i < was->n; i++)
		if (!pw_fib_of_range(now, &was->e[i]))
			pw_genl_route_notify(san, &was->e[i], true);
	san->fib_told = now;
	kfree(was);
}

/**
 * pw_san_l2rh - write the L2RH that leads to a port
 * @san: the SAN that consumes it
 * @port: the port
 * @out: one word
 *
 * Return: bytes written.
 */
u32 pw_san_l2rh(const struct pw_san *san, u32 port, u8 out[8])
{
	u8 route[3] = { port % san->radix, port / san->radix, port % san->radix };

	return pw_eep_put_l2rh(out, 8, route, sizeof(route));
}
