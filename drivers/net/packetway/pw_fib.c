// SPDX-License-Identifier: GPL-2.0
/*
 * The routes from a SAN to others: made from the tables of its half-routers
 * whenever one of them has changed, read by stations and half-routers for each
 * frame that leaves by address.
 *
 * A SAN is known by one range. If half-routers announce different ranges, routes without a
 * trunk decide, then the range that was announced first. Ranges of different SANs do not
 * overlap, by the same rule; the SAN's own addresses are in no other range.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/wait_bit.h>

#include "pw_router.h"

#define PW_ROUTES_MAX	64	/* static routes of one SAN */
#define PW_FIB_WAIT	(5 * HZ)	/* for routes that are being made */

/* set before the first router can be made: generic netlink makes routers, only they have routes */
void (*pw_fib_notify)(struct pw_san *san, const struct pw_fib_entry *e,
		      bool gone) __ro_after_init;

static bool pw_fib_holds(const struct pw_fib_entry *e, u32 addr)
{
	return addr - e->min <= e->max - e->min;
}

/* the learnt range that holds @addr, or NULL */
static const struct pw_fib_entry *pw_fib_learnt(const struct pw_fib *fib, u32 addr)
{
	const struct pw_fib_entry *e = fib->e;
	u32 n = fib->learnt, half;

	/* the last range that begins at @addr or before is among the @n from @e on */
	for (; n > 1; n -= half) {
		half = n / 2;
		if (e[half].min <= addr)
			e += half;
	}
	return n && pw_fib_holds(e, addr) ? e : NULL;
}

/**
 * pw_fib_lookup - best route from a SAN to an address elsewhere
 * @san: the SAN; RCU held
 * @addr: physical address, not of this SAN
 *
 * The narrowest range that holds the address decides.
 *
 * Return: port of the half-router to use, or -1.
 */
int pw_fib_lookup(const struct pw_san *san, u32 addr)
{
	const struct pw_fib *fib = rcu_dereference(san->fib);
	const struct pw_fib_entry *e, *hand;
	u32 i;

	if (!fib)
		return -1;
	e = pw_fib_learnt(fib, addr);
	/* PW_ROUTES_MAX at most */
	for (i = fib->learnt; i < fib->n; i++) {
		hand = &fib->e[i];
		if (!pw_fib_holds(hand, addr))
			continue;
		if (!e || e->max - e->min > hand->max - hand->min)
			e = hand;
		break;
	}
	return e ? e->port : -1;
}

/* the @i-th learnt route by SAN */
static const struct pw_fib_entry *pw_fib_of_san(const struct pw_fib *fib, u32 i)
{
	return &fib->e[fib->by_san[i]];
}

/* the first of @n places in the order by SAN whose SAN is @san or above */
static u32 pw_fib_san_at(const struct pw_fib *fib, u32 n, u32 san)
{
	u32 lo = 0, hi = n, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (pw_fib_of_san(fib, mid)->san < san)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* put the learnt routes in order by SAN; each leads to another one */
static void pw_fib_index(struct pw_fib *fib)
{
	u32 i, at;

	BUILD_BUG_ON(ARRAY_SIZE(fib->by_san) > U8_MAX + 1);
	for (i = 0; i < fib->learnt; i++) {
		at = pw_fib_san_at(fib, i, fib->e[i].san);
		memmove(&fib->by_san[at + 1], &fib->by_san[at], i - at);
		fib->by_san[at] = i;
	}
}

/**
 * pw_fib_san_port - best route from a SAN to another one
 * @san: the SAN; RCU held
 * @to: address of the other
 *
 * Return: port of the half-router to use, or -1.
 */
int pw_fib_san_port(const struct pw_san *san, u32 to)
{
	const struct pw_fib *fib = rcu_dereference(san->fib);
	u32 i;

	if (!fib)
		return -1;
	i = pw_fib_san_at(fib, fib->learnt, to);
	return i < fib->learnt && pw_fib_of_san(fib, i)->san == to ? pw_fib_of_san(fib, i)->port :
	       -1;
}

/**
 * pw_fib_sans - SANs that routes were learnt to
 * @san: the SAN where these begin; RCU held
 * @sans: result: their addresses
 * @room: how many fit there
 *
 * Return: how many there are.
 */
u32 pw_fib_sans(const struct pw_san *san, u32 *sans, u32 room)
{
	const struct pw_fib *fib = rcu_dereference(san->fib);
	u32 i;

	for (i = 0; fib && i < fib->learnt && i < room; i++)
		sans[i] = fib->e[i].san;
	return fib ? fib->learnt : 0;
}

static bool pw_fib_better(const struct pw_fib_entry *a, const struct pw_fib_entry *b)
{
	return a->q != b->q ? a->q < b->q : a->hops != b->hops ? a->hops < b->hops :
	       a->port < b->port;
}

/* static routes: the narrowest range first */
static int pw_fib_cmp_width(const void *x, const void *y)
{
	const struct pw_fib_entry *a = x, *b = y;
	u32 wa = a->max - a->min, wb = b->max - b->min;

	if (wa != wb)
		return wa < wb ? -1 : 1;
	return a->min < b->min ? -1 : a->min > b->min;
}

/* what counts more first: no trunk on the route, then known for longer */
static int pw_fib_cmp_rank(const struct pw_fib_entry *a, const struct pw_fib_entry *b)
{
	if (a->far != b->far)
		return a->far ? 1 : -1;
	return a->since < b->since ? -1 : a->since > b->since;
}

static int pw_fib_cmp_san(const void *x, const void *y)
{
	const struct pw_fib_entry *a = x, *b = y;

	if (a->san != b->san)
		return a->san < b->san ? -1 : 1;
	return pw_fib_cmp_rank(a, b);
}

static int pw_fib_cmp(const void *x, const void *y)
{
	int ret = pw_fib_cmp_rank(x, y);

	return ret ? ret : pw_fib_cmp_san(x, y);
}

/* the routes that half-routers know; how many. @max: room in @e */
static u32 pw_fib_gather_half(const struct pw_san *san, struct pw_half *h,
			      struct pw_fib_entry *e, u32 n, u32 max)
{
	const struct pw_rrp_table *t;
	u32 k;

	spin_lock_bh(&h->lock);
	for (k = 0; k < h->db.ntables && n < max; k++) {
		t = &h->db.table[k];
		/* skip those of neighbours: these install them themselves */
		if (!t->used || t->own || !t->from_peer || !t->min || t->san == san->bias)
			continue;
		e[n++] = (struct pw_fib_entry) {
			.min = t->min, .max = t->max, .san = t->san, .port = h->port,
			.q = t->q, .mtu = t->mtu, .hops = t->nrcvf, .far = t->far,
			.since = t->since,
		};
	}
	spin_unlock_bh(&h->lock);
	return n;
}

static u32 pw_fib_gather(const struct pw_san *san, struct pw_fib_entry *e, u32 max)
{
	struct pw_half *h;
	u32 i, n = 0;

	for (i = 0; i < san->nports; i++) {
		rcu_read_lock();
		h = pw_port_half(&san->port[i]);
		if (h)
			n = pw_fib_gather_half(san, h, e, n, max);
		rcu_read_unlock();
		cond_resched();
	}
	return n;
}

/* one range for each SAN, and the best route there; sorted by SAN and rank before */
static u32 pw_fib_choose(struct pw_fib_entry *e, u32 n)
{
	u32 i, out = 0;

	for (i = 0; i < n; i++) {
		struct pw_fib_entry *last = out ? &e[out - 1] : NULL;

		if (!last || last->san != e[i].san) {
			e[out++] = e[i];
			continue;
		}
		if (last->far == e[i].far && last->min == e[i].min && last->max == e[i].max &&
		    pw_fib_better(&e[i], last)) {
			e[i].since = last->since;
			*last = e[i];
		}
	}
	return out;
}

/* by address, unless it overlaps what is there; at most PW_FIB_MAX */
static void pw_fib_insert(struct pw_fib *fib, const struct pw_san *san,
			  const struct pw_fib_entry *e)
{
	u32 lo = 0, hi = fib->n, mid;

	if (e->min <= pw_san_addr(san, san->nports - 1) && e->max >= pw_san_addr(san, 0))
		return;
	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (fib->e[mid].max < e->min)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (fib->n == PW_FIB_MAX || (lo < fib->n && fib->e[lo].min <= e->max))
		return;
	memmove(&fib->e[lo + 1], &fib->e[lo], (fib->n - lo) * sizeof(*e));
	fib->e[lo] = *e;
	fib->n++;
}

/* a static route; of the same range as one that was learnt only the better one stays */
static void pw_fib_add_fixed(struct pw_fib *fib, const struct pw_fib_entry *e)
{
	u32 i;

	for (i = 0; i < fib->n; i++) {
		if (fib->e[i].min != e->min || fib->e[i].max != e->max)
			continue;
		if (!pw_fib_better(e, &fib->e[i]))
			return;
		if (i >= fib->learnt) {
			fib->e[i] = *e;
			return;
		}
		memmove(&fib->e[i], &fib->e[i + 1], (fib->n - i - 1) * sizeof(*e));
		fib->learnt--;
		fib->n--;
		break;
	}
	fib->e[fib->n++] = *e;
}

/* static routes into @e; how many */
static u32 pw_fib_copy_fixed(struct pw_san *san, struct pw_fib_entry *e)
{
	u32 n;

	spin_lock(&san->routes_lock);
	n = san->routes ? san->routes->n : 0;
	if (n)
		memcpy(e, san->routes->e, n * sizeof(*e));
	spin_unlock(&san->routes_lock);
	return n;
}

/* @e: room for @max routes that were learnt, and for the static ones */
static void pw_fib_build(struct pw_fib *new, struct pw_san *san, struct pw_fib_entry *e, u32 max)
{
	u32 i, n;

	n = pw_fib_gather(san, e, max);
	sort(e, n, sizeof(*e), pw_fib_cmp_san, NULL);
	n = pw_fib_choose(e, n);
	sort(e, n, sizeof(*e), pw_fib_cmp, NULL);
	new->n = 0;
	for (i = 0; i < n; i++)
		pw_fib_insert(new, san, &e[i]);
	new->learnt = new->n;
	n = pw_fib_copy_fixed(san, e);
	rcu_read_lock();
	for (i = 0; i < n; i++)
		if (pw_port_half(&san->port[e[i].port]))
			pw_fib_add_fixed(new, &e[i]);
	rcu_read_unlock();
	sort(new->e + new->learnt, new->n - new->learnt, sizeof(*e), pw_fib_cmp_width, NULL);
	pw_fib_index(new);
}

/* nothing waits for the builds up to this one any longer */
static void pw_fib_count(struct pw_san *san, u32 done)
{
	/* the routes come first */
	smp_store_release(&san->fib_done, done);
	/* pairs with the one of who begins to wait */
	smp_mb();
	wake_up_var(&san->fib_done);
}

/**
 * pw_fib_update - a half-router of a SAN has other tables now
 * @san: the SAN
 *
 * Process context, without RTNL, and no lock of a half-router is held. Without memory the old
 * routes stay until the next change; frames to a half-router that is gone are refused all the
 * same.
 */
void pw_fib_update(struct pw_san *san)
{
	struct pw_fib *new, *old = NULL;
	struct pw_fib_entry *e;
	u32 max;

	mutex_lock(&san->fib_lock);
	WRITE_ONCE(san->fib_begun, san->fib_begun + 1);
	/* for pw_fib_ticket() */
	smp_wmb();
	/*
	 * A table that changes after it was gathered sets this again, under the half's lock; a
	 * half-router that goes does so in pw_fib_outdate(), whose barrier this one pairs with.
	 */
	smp_store_mb(san->fib_old, false);
	max = READ_ONCE(san->nhalves) * PW_HALF_TABLES;
	e = kvmalloc_array(max + PW_ROUTES_MAX, sizeof(*e), PW_GFP);
	new = kmalloc(struct_size(new, e, PW_FIB_MAX + PW_ROUTES_MAX), PW_GFP);
	if (e && new) {
		pw_fib_build(new, san, e, max);
		old = rcu_replace_pointer(san->fib, new, lockdep_is_held(&san->fib_lock));
	} else {
		kfree(new);
		pw_san_changed(san);
	}
	pw_fib_count(san, san->fib_begun);
	mutex_unlock(&san->fib_lock);
	kvfree(e);
	if (old)
		kfree_rcu(old, rcu);
}

/**
 * pw_fib_outdate - half-routers have gone, or static routes have changed: make the routes anew,
 *	but not here
 * @san: the SAN
 *
 * The caller may hold RTNL, and deletes many routers one by one.
 */
void pw_fib_outdate(struct pw_san *san)
{
	/* pw_fib_update() clears this, then looks for half-routers */
	smp_mb();
	WRITE_ONCE(san->fib_old, true);
	mod_delayed_work(system_percpu_wq, &san->rrp_work, 0);
}

/**
 * pw_fib_settle - let the routes follow all tables that the caller can have seen
 * @san: the SAN
 *
 * Tables change first, routes after that. Process context, without RTNL, and no lock of a
 * half-router is held.
 */
void pw_fib_settle(struct pw_san *san)
{
	bool old;

	/* one that is being built is published when the lock is free */
	mutex_lock(&san->fib_lock);
	old = READ_ONCE(san->fib_old);
	mutex_unlock(&san->fib_lock);
	if (old)
		pw_fib_update(san);
}

/**
 * pw_fib_ticket - when will the routes have all that the caller can have seen?
 * @san: the SAN; under RTNL
 *
 * Who changes a table has the routes made anew soon after that.
 *
 * Return: what to give to pw_fib_wait().
 */
u32 pw_fib_ticket(const struct pw_san *san)
{
	u32 old = READ_ONCE(san->fib_old);

	/* pw_fib_update() counts what it begins, then clears the mark */
	smp_rmb();
	return READ_ONCE(san->fib_begun) + old;
}

/**
 * pw_fib_wait - wait until the routes have what they are to have
 * @san: the SAN, kept by pw_san_keep(); no lock held
 * @ticket: from pw_fib_ticket()
 *
 * Only a work item of the kernel builds routes, so that no program can hold it up. The limit is
 * for a machine that has no time for it.
 */
void pw_fib_wait(struct pw_san *san, u32 ticket)
{
	wait_var_event_timeout(&san->fib_done,
			       /* the routes are read after this */
			       (s32)(smp_load_acquire(&san->fib_done) - ticket) >= 0, PW_FIB_WAIT);
}

/* the SAN is freed; it has no reader left */
void pw_fib_free(struct pw_san *san)
{
	/* more than any ticket says */
	pw_fib_count(san, san->fib_begun + 1);
	kfree(rcu_dereference_protected(san->fib, true));
	RCU_INIT_POINTER(san->fib, NULL);
	kfree(san->routes);
	kfree(san->fib_notified);
}

static bool pw_fib_same_range(const struct pw_fib_entry *a, const struct pw_fib_entry *b)
{
	return a->min == b->min && a->max == b->max;
}

/**
 * pw_fib_route_add - a static route
 * @san: the SAN on which it begins
 * @e: the route; its half-router need not be there yet
 * @extack: where a refusal is explained
 *
 * Return: 0 or a negative errno. Under RTNL; in use after pw_fib_wait().
 */
int pw_fib_route_add(struct pw_san *san, const struct pw_fib_entry *e,
		     struct netlink_ext_ack *extack)
{
	struct pw_fib *r = san->routes;
	u32 i;

	if (!r) {
		r = kzalloc(struct_size(r, e, PW_ROUTES_MAX), PW_GFP);
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
		NL_SET_ERR_MSG(extack, "The SAN has as many static routes as it can have");
		return -ENOSPC;
	}
	spin_lock(&san->routes_lock);
	r->e[r->n++] = *e;
	san->routes = r;
	spin_unlock(&san->routes_lock);
	atomic_inc(&pw_net(san->net)->lists);
	pw_fib_outdate(san);
	return 0;
}

/**
 * pw_fib_route_del - a static route goes
 * @san: the SAN
 * @e: range and port are compared
 *
 * Return: 0 or -ENOENT. Under RTNL; out of use after pw_fib_wait().
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
	spin_lock(&san->routes_lock);
	r->e[i] = r->e[--r->n];
	spin_unlock(&san->routes_lock);
	atomic_inc(&pw_net(san->net)->lists);
	pw_fib_outdate(san);
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

static bool pw_fib_same_route(const struct pw_fib_entry *a, const struct pw_fib_entry *b)
{
	return a->san == b->san && a->port == b->port && a->q == b->q && a->mtu == b->mtu &&
	       a->hops == b->hops && a->fixed == b->fixed;
}

/**
 * pw_fib_notify_diff - notify how the routes from a SAN differ from those reported before
 * @san: the SAN; from its rrp_work only
 */
void pw_fib_notify_diff(struct pw_san *san)
{
	const struct pw_fib_entry *e;
	struct pw_fib *now = NULL, *was = san->fib_notified;
	const struct pw_fib *fib;
	u32 i;

	rcu_read_lock();
	fib = rcu_dereference(san->fib);
	if (fib)
		now = kmemdup(fib, struct_size(fib, e, fib->n), GFP_ATOMIC | __GFP_NOWARN);
	rcu_read_unlock();
	/* without memory, notify at the next change */
	if (!now)
		return;
	for (i = 0; i < now->n; i++) {
		e = pw_fib_of_range(was, &now->e[i]);
		if (!e || !pw_fib_same_route(e, &now->e[i]))
			pw_fib_notify(san, &now->e[i], false);
	}
	for (i = 0; was && i < was->n; i++)
		if (!pw_fib_of_range(now, &was->e[i]))
			pw_fib_notify(san, &was->e[i], true);
	san->fib_notified = now;
	kfree(was);
}
