// SPDX-License-Identifier: GPL-2.0
/*
 * RRP in half-routers and stations: nodes, their descriptions, and routes to them.
 *
 *   station up, renamed, new groups -> pw_rrp_register -> pw_port.info
 *	-> pw_rrp_work (a moment later, many changes at once)
 *	-> own table of every half-router on the SAN -> its peer half -> neighbours -> ...
 *
 * The table of a SAN lists its nodes, each with the L2RH that leads there, and
 * last the range of all its addresses: by address a frame reaches the SAN of a
 * node that is not known, and is refused there.
 *
 *   message for a half-router -> pw_rrp_receive -> pw_half.rrpq -> pw_rrp_in_work
 *	-> pw_rrp_handle, then once for all of them: routes, listeners, pw_rrp_pass
 *
 * Between half-routers only messages that a half-router made itself count
 * (PW_CB_HALF; stations cannot set it): GVRT, RTBL, HRDOWN and LINKDOWN of
 * other nodes are refused. A node may describe itself by INFO, and no other node.
 */
#include <linux/bsearch.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "pw_genl.h"
#include "pw_router.h"

#define PW_RRP_LATER		(HZ / 5)	/* HRDOWN has reached all nodes by then */
#define PW_RRP_TURN		64		/* messages that are handled in one turn */
#define PW_RRP_FEW		16		/* half-routers of a SAN whose routes are cheap */
#define PW_RRP_ANSWER_MAX	1400		/* bytes of records in an answer to a node */
#define PW_RRP_GROUPS_MAX	16		/* of a station, in its description */
#define PW_RRP_TELL_MAX		16		/* criteria of one TELL */
#define PW_RRP_TELL_NODES	4096		/* nodes times criteria that it looks at */
#define PW_BEYOND_MAX		PW_RRP_MAX_GROUPS	/* logical addresses behind a peer half */
#define PW_RRP_PRIO		PW_EEP_P_MAX	/* of routers among themselves */

/* --- descriptions of nodes ------------------------------------------------- */

/* @new: NULL removes it; only @force replaces what a node itself sent in an INFO */
static void pw_info_replace(struct pw_san *san, u32 port, struct pw_info *new, bool force)
{
	struct pw_info *old;

	spin_lock_bh(&san->info_lock);
	old = rcu_dereference_protected(san->port[port].info, lockdep_is_held(&san->info_lock));
	if (old && old->told && !force)
		old = new;
	else
		rcu_assign_pointer(san->port[port].info, new);
	spin_unlock_bh(&san->info_lock);
	if (old)
		kfree_rcu(old, rcu);
}

static void pw_rrp_put_capa32(struct pw_rrp_buf *b, u8 code, u32 param)
{
	u8 bytes[4];

	put_unaligned_be32(param, bytes);
	pw_rrp_put_capa(b, code, bytes, sizeof(bytes));
}

/* what a station can do for others; under RTNL */
static void pw_rrp_put_features(struct pw_rrp_buf *b, const struct pw_station *st)
{
	const u8 registers = PACKETWAY_ATON_REGS;
	const struct pw_poets *po;
	u32 devices = 0;

	pw_rrp_put_capa(b, PW_CAPA_COMPUTE, NULL, 0);
	pw_rrp_put_capa(b, PW_CAPA_ATON, &registers, 1);
	/* a station that is up has a store */
	pw_rrp_put_capa32(b, PW_CAPA_ESP, st->esp.store.capacity);
	hlist_for_each_entry(po, &st->poets[PW_POETS_R_SWITCH], node)
		devices += po->sw.max_devices;
	if (devices)
		pw_rrp_put_capa32(b, PW_CAPA_POETS, devices);
}

/**
 * pw_rrp_register - a station describes itself: name or alias, capabilities
 * @st: the station, up; under RTNL
 *
 * If its host has described it by INFO, that holds until the station goes down.
 */
void pw_rrp_register(struct pw_station *st)
{
	const struct dev_ifalias *alias;
	struct pw_rrp_buf b;
	struct pw_info *new;
	int len;

	new = kmalloc(struct_size(new, rec, PW_INFO_MAX), PW_GFP);
	if (!new)
		return;
	pw_rrp_buf_init(&b, new->rec, PW_INFO_MAX);
	rcu_read_lock();
	alias = rcu_dereference(st->dev->ifalias);
	if (alias)
		pw_rrp_put_name(&b, alias->ifalias, strnlen(alias->ifalias, 127));
	else
		pw_rrp_put_name(&b, st->dev->name, strlen(st->dev->name));
	rcu_read_unlock();
	pw_rrp_put_features(&b, st);
	len = pw_rrp_buf_done(&b);
	if (len < 0) {
		kfree(new);
		return;
	}
	new->len = len;
	new->told = false;
	pw_info_replace(st->san, st->port, new, false);
	pw_san_changed(st->san);
}

/* the capabilities of a station have changed; under RTNL */
void pw_rrp_station_changed(struct pw_station *st)
{
	if (netif_running(st->dev))
		pw_rrp_register(st);
}

/* the station goes down; under RTNL */
void pw_rrp_unregister(struct pw_station *st)
{
	pw_info_replace(st->san, st->port, NULL, true);
	pw_san_changed(st->san);
}

/* description of the node at @port into the ADDR that is open; RCU held */
static void pw_rrp_put_info(struct pw_rrp_buf *b, const struct pw_san *san, u32 port)
{
	const struct pw_station *st = pw_port_station(&san->port[port]);
	const struct pw_info *info = rcu_dereference(san->port[port].info);
	struct pw_rrp_entry e[PW_RRP_GROUPS_MAX];
	const struct pw_groups *g;
	struct pw_rrp_rec rec;
	struct pw_rrp_iter it;
	bool ladr = false;
	u32 i, n = 0;

	if (info) {
		pw_rrp_iter_init(&it, info->rec, info->len);
		while (pw_rrp_next(&it, &rec) > 0) {
			pw_rrp_put_copy(b, &rec);
			ladr |= rec.type == PW_RRP_LADR;
		}
	}
	g = st && !ladr ? rcu_dereference(st->groups) : NULL;
	for (i = 0; g && i < g->n && n < PW_RRP_GROUPS_MAX; i++) {
		if (pw_addr_kind(g->addr[i]) != PW_ADDR_KIND_LOGICAL)
			continue;
		e[n].at = PW_RRP_AT_SINGLE;
		e[n++].addr = g->addr[i];
	}
	if (n)
		pw_rrp_put_entries(b, PW_RRP_LADR, e, n);
}

/* a half-router's own description into the ADDR that is open */
void pw_rrp_put_self(struct pw_rrp_buf *b, const struct pw_half *h)
{
	u8 sans[4];

	put_unaligned_be16(h->san->id, sans);
	if (h->peer)
		put_unaligned_be16(h->peer->san->id, sans + 2);
	pw_rrp_put_name(b, h->router->name, strlen(h->router->name));
	/* the number of a SAN on another host means nothing here */
	pw_rrp_put_capa(b, PW_CAPA_ROUTER, sans, h->peer ? 4 : 2);
}

/* --- messages --------------------------------------------------------------- */

static struct sk_buff *pw_rrp_msg(const struct pw_half *h, u16 pt, u16 te, u32 dt, u8 p,
				  const u8 *records, u32 len)
{
	struct pw_eep_hdr hdr = {
		.pt = pt, .te = te, .dt = dt, .sa = h->addr, .p = p, .data_len = len,
	};
	struct sk_buff *skb;
	u8 *body;

	skb = pw_skb_new(&hdr, &body);
	if (skb && len)
		memcpy(body, records, len);
	return skb;
}

/* what was collected under the lock goes out; BH off, RCU held */
static void pw_rrp_flush(struct pw_half *h, struct sk_buff_head *out)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(out))) {
		pw_half_count(h, PW_HALF_RRP_TX);
		pw_half_send_own(h, skb);
	}
}

static void pw_rrp_collect(struct pw_half *h, struct sk_buff_head *out, struct sk_buff *skb)
{
	if (skb) {
		__skb_queue_tail(out, skb);
		return;
	}
	/* no memory for the message: ask for all tables again later */
	h->resync = true;
	pw_san_changed(h->san);
}

/* a table as a message; NULL without memory */
static struct sk_buff *pw_rrp_table_msg(const struct pw_half *h, const struct pw_rrp_table *t,
					u32 dt)
{
	struct pw_eep_hdr hdr = {
		.pt = PW_PT_RRP, .te = PW_TE_RTBL, .dt = dt, .sa = h->addr, .p = PW_RRP_PRIO,
		.data_len = pw_rrp_export_len(t),
	};
	struct pw_rrp_buf b;
	struct sk_buff *skb;
	u8 *body;

	skb = pw_skb_new(&hdr, &body);
	if (!skb)
		return NULL;
	pw_rrp_buf_init(&b, body, hdr.data_len);
	pw_rrp_db_export(t, &b);
	if (pw_rrp_buf_done(&b) == (int)hdr.data_len)
		return skb;
	kfree_skb(skb);
	return NULL;
}

/* the address of the @i-th port if another half-router is there, else 0; RCU held */
static u32 pw_rrp_neighbour_rcu(const struct pw_half *h, u32 i)
{
	const struct pw_half *b = pw_port_half(&h->san->port[i]);

	return b && b != h ? b->addr : 0;
}

/* table @k, if it is in use, to @dt */
static void pw_rrp_send_table(struct pw_half *h, u32 k, u32 dt)
{
	struct pw_rrp_table *t = &h->db.table[k];
	struct sk_buff *skb = NULL;
	bool used, far = false;

	local_bh_disable();
	rcu_read_lock();
	spin_lock(&h->lock);
	used = t->used;
	if (used) {
		far = t->far;
		skb = pw_rrp_table_msg(h, t, dt);
		/* no memory for the message: ask for all tables again later */
		if (!skb)
			h->resync = true;
	}
	spin_unlock(&h->lock);
	if (skb) {
		pw_half_count(h, PW_HALF_RRP_TX);
		pw_half_send_as(h, skb, far ? PW_CB_FAR : 0);
	} else if (used) {
		pw_san_changed(h->san);
	}
	rcu_read_unlock();
	local_bh_enable();
}

/* the neighbour at port @i: its address, or 0 */
static u32 pw_rrp_neighbour(const struct pw_half *h, u32 i)
{
	u32 addr;

	rcu_read_lock();
	addr = pw_rrp_neighbour_rcu(h, i);
	rcu_read_unlock();
	return addr;
}

/* Must table @k be passed on? Clears the mark; the caller does so. */
static bool pw_rrp_fresh(struct pw_half *h, u32 k, bool *from_peer)
{
	struct pw_rrp_table *t = &h->db.table[k];
	bool fresh;

	spin_lock_bh(&h->lock);
	fresh = t->used && t->fresh;
	*from_peer = t->from_peer;
	t->fresh = false;
	spin_unlock_bh(&h->lock);
	return fresh;
}

static bool pw_rrp_table_given(struct pw_half *h, u32 k, bool to_peer)
{
	bool gives;

	spin_lock_bh(&h->lock);
	gives = pw_rrp_gives(&h->db.table[k], to_peer);
	spin_unlock_bh(&h->lock);
	return gives;
}

/* tables that were asked for; @port: of the neighbour, or that of @h itself for the peer half */
static void pw_rrp_give(struct pw_half *h, u32 port)
{
	u32 dt = port == h->port ? READ_ONCE(h->peer_addr) : pw_rrp_neighbour(h, port), k;

	for (k = 0; dt && k < h->db.ntables; k++) {
		if (pw_rrp_table_given(h, k, port == h->port))
			pw_rrp_send_table(h, k, dt);
		cond_resched();
	}
}

/* tables to pass on, then tables that were asked for; false: the rest must wait */
static bool pw_rrp_pass(struct pw_half *h)
{
	bool from_peer, peer;
	u32 i, k, addr;

	for (k = 0; k < h->db.ntables; k++) {
		if (pw_half_busy(h))
			return false;
		if (!pw_rrp_fresh(h, k, &from_peer))
			continue;
		if (pw_rrp_tell(from_peer) == PW_RRP_TELL_PEER) {
			pw_rrp_send_table(h, k, READ_ONCE(h->peer_addr));
			continue;
		}
		for (i = 0; i < h->san->nports; i++) {
			addr = pw_rrp_neighbour(h, i);
			if (addr)
				pw_rrp_send_table(h, k, addr);
			cond_resched();
		}
	}
	for (i = 0; i < h->san->nports; i++) {
		if (pw_half_busy(h))
			return false;
		spin_lock_bh(&h->lock);
		peer = __test_and_clear_bit(i, h->asked);
		spin_unlock_bh(&h->lock);
		if (peer)
			pw_rrp_give(h, i);
	}
	/* limit the rate: over a trunk the answer is much longer than the request */
	if (h->trunk && READ_ONCE(h->asked_peer) && time_before(jiffies, h->gave + PW_RRP_LATER))
		return false;
	spin_lock_bh(&h->lock);
	peer = h->asked_peer;
	h->asked_peer = false;
	spin_unlock_bh(&h->lock);
	if (peer) {
		h->gave = jiffies;
		pw_rrp_give(h, h->port);
	}
	return true;
}

/* ask all neighbours of this half for their tables */
static void pw_rrp_ask_all(struct pw_half *h, struct sk_buff_head *out)
{
	u32 i, neighbour;

	pw_rrp_collect(h, out, pw_rrp_msg(h, PW_PT_RRP, PW_TE_GVRT, READ_ONCE(h->peer_addr),
					  PW_RRP_PRIO, NULL, 0));
	for (i = 0; i < h->san->nports; i++) {
		neighbour = pw_rrp_neighbour_rcu(h, i);
		if (neighbour)
			pw_rrp_collect(h, out, pw_rrp_msg(h, PW_PT_RRP, PW_TE_GVRT, neighbour,
							  PW_RRP_PRIO, NULL, 0));
	}
}

/* --- logical addresses behind the peer half ---------------------------------------- */

static int pw_beyond_cmp(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Is a node behind the peer half in this group? RCU held */
bool pw_half_beyond(const struct pw_half *h, u32 addr)
{
	const struct pw_groups *g = rcu_dereference(h->beyond);

	return g && bsearch(&addr, g->addr, g->n, sizeof(addr), pw_beyond_cmp);
}

static void pw_beyond_update(struct pw_half *h)
{
	struct pw_groups *new, *old;

	lockdep_assert_held(&h->lock);
	h->beyond_old = false;
	new = pw_memcg_alloc(h->san->memcg, struct_size(new, addr, PW_BEYOND_MAX));
	if (!new)
		return;
	new->n = pw_rrp_db_groups(&h->db, h->san->bias, new->addr, PW_BEYOND_MAX);
	old = rcu_replace_pointer(h->beyond, new, lockdep_is_held(&h->lock));
	if (old)
		kfree_rcu(old, rcu);
}

/* --- the own table ------------------------------------------------------------ */

/* with the nodes' descriptions, or addresses and routes only */
static int pw_rrp_build_own(struct pw_half *h, bool detail)
{
	const struct pw_san *san = h->san;
	const struct pw_station *st;
	const struct pw_half *o;
	struct pw_rrp_buf b;
	u8 l2rh[8];
	u32 i;

	pw_rrp_buf_init(&b, h->scratch, PW_HALF_NODES_CAP);
	for (i = 0; i < san->nports; i++) {
		st = pw_port_station(&san->port[i]);
		o = pw_port_half(&san->port[i]);
		if (!o && !(st && netif_running(st->dev)))
			continue;
		pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, pw_san_addr(san, i), 0);
		if (detail && o)
			pw_rrp_put_self(&b, o);
		else if (detail)
			pw_rrp_put_info(&b, san, i);
		pw_rrp_put_srqr(&b, PW_RRP_Q_BEST, l2rh, pw_san_l2rh(san, i, l2rh));
		pw_rrp_end_addr(&b);
	}
	pw_rrp_put_addr(&b, PW_RRP_AT_MIN, pw_san_addr(san, 0), pw_san_addr(san, san->nports - 1));
	pw_rrp_put_srqr(&b, PW_RANGE_Q, NULL, 0);
	return pw_rrp_buf_done(&b);
}

/* what every station of a SAN takes; RCU held */
static u32 pw_rrp_san_mtu(const struct pw_san *san)
{
	const struct pw_station *st;
	u32 i, mtu = PACKETWAY_MTU_MAX;

	for (i = 0; i < san->nports; i++) {
		st = pw_port_station(&san->port[i]);
		if (st && netif_running(st->dev))
			mtu = min(mtu, READ_ONCE(st->dev->mtu));
	}
	return mtu;
}

/* the nodes of the own SAN, if they have changed, to the peer half; BH off, RCU held */
static void pw_rrp_own_update(struct pw_half *h)
{
	const struct pw_rrp_table *t;
	struct sk_buff_head out;
	int len;
	u32 mtu;

	__skb_queue_head_init(&out);
	mtu = h->mtu_set ? h->mtu_set : pw_rrp_san_mtu(h->san);
	WRITE_ONCE(h->mtu, mtu);

	spin_lock(&h->lock);
	len = pw_rrp_build_own(h, true);
	if (len == -ENOSPC)
		len = pw_rrp_build_own(h, false);
	t = pw_rrp_db_own_table(&h->db);
	if (len >= 0 && (!t || t->nodes_len != len || t->mtu != mtu / 8 ||
			 memcmp(t->nodes, h->scratch, len))) {
		if (!pw_rrp_db_own(&h->db, h->san->bias, ++h->serial, mtu / 8, h->scratch, len)) {
			t = pw_rrp_db_own_table(&h->db);
			pw_rrp_collect(h, &out, pw_rrp_table_msg(h, t, READ_ONCE(h->peer_addr)));
		}
	}
	if (h->resync) {
		h->resync = false;
		pw_rrp_ask_all(h, &out);
	}
	spin_unlock(&h->lock);
	pw_rrp_flush(h, &out);
}

static void pw_rrp_work(struct work_struct *work)
{
	struct pw_san *san = container_of(to_delayed_work(work), struct pw_san, rrp_work);
	struct mem_cgroup *old = pw_memcg_enter(san->memcg);
	struct pw_half *h;
	u32 i;

	pw_kcov_section();

	for (i = 0; i < san->nports; i++) {
		local_bh_disable();
		rcu_read_lock();
		h = pw_port_half(&san->port[i]);
		if (h)
			pw_rrp_own_update(h);
		rcu_read_unlock();
		local_bh_enable();
		cond_resched();
	}
	pw_fib_update(san);
	pw_fib_notify_diff(san);
	pw_memcg_leave(old);
}

void pw_rrp_san_init(struct pw_san *san)
{
	mutex_init(&san->fib_lock);
	spin_lock_init(&san->info_lock);
	INIT_DELAYED_WORK(&san->rrp_work, pw_rrp_work);
}

/* the SAN has no node left */
void pw_rrp_san_exit(struct pw_san *san)
{
	u32 i;

	cancel_delayed_work_sync(&san->rrp_work);
	pw_fib_free(san);
	for (i = 0; i < san->nports; i++)
		kfree(rcu_dereference_protected(san->port[i].info, true));
}

/* a half-router is at its port; under RTNL */
void pw_rrp_half_up(struct pw_half *h)
{
	struct sk_buff_head out;

	__skb_queue_head_init(&out);
	local_bh_disable();
	rcu_read_lock();
	pw_rrp_own_update(h);
	spin_lock(&h->lock);
	pw_rrp_ask_all(h, &out);
	spin_unlock(&h->lock);
	pw_rrp_flush(h, &out);
	rcu_read_unlock();
	local_bh_enable();
	pw_san_changed(h->san);
}

static struct sk_buff *pw_rrp_down_msg(const struct pw_half *h, u16 te, u32 dt, u32 a, u32 c)
{
	struct pw_rrp_buf b;
	u8 rec[16];

	pw_rrp_buf_init(&b, rec, sizeof(rec));
	pw_rrp_put_pair(&b, a, c);
	return pw_rrp_msg(h, PW_PT_ERR, te, dt, PW_RRP_PRIO, rec, sizeof(rec));
}

/* announce the end of a half-router to neighbours and to nodes with routes through it; RTNL */
void pw_rrp_half_down(struct pw_half *h)
{
	struct sk_buff_head out;

	__skb_queue_head_init(&out);
	local_bh_disable();
	rcu_read_lock();
	spin_lock(&h->lock);
	WRITE_ONCE(h->leaving, true);
	pw_rrp_collect(h, &out, pw_rrp_down_msg(h, PW_TE_ERR_HRDOWN, PW_ADDR_BROADCAST, h->addr,
						READ_ONCE(h->peer_addr)));
	if (h->trunk && READ_ONCE(h->peer_addr))
		pw_rrp_collect(h, &out, pw_rrp_down_msg(h, PW_TE_ERR_HRDOWN,
							READ_ONCE(h->peer_addr), h->addr,
							READ_ONCE(h->peer_addr)));
	spin_unlock(&h->lock);
	pw_rrp_flush(h, &out);
	rcu_read_unlock();
	local_bh_enable();
}

/**
 * pw_rrp_trunk - a trunk has reached or lost the peer half
 * @h: the half-router on this host
 * @up: whether the other one answers; process context
 */
void pw_rrp_trunk(struct pw_half *h, bool up)
{
	u32 peer = up ? READ_ONCE(h->peer_addr) : PW_ADDR_UNDEF;
	const struct pw_rrp_table *t;
	struct sk_buff_head out;
	bool lost = false;

	__skb_queue_head_init(&out);
	local_bh_disable();
	rcu_read_lock();
	spin_lock(&h->lock);
	if (h->trunk_peer && h->trunk_peer != peer) {
		pw_rrp_db_linkdown(&h->db, 0, h->addr, h->trunk_peer);
		pw_rrp_collect(h, &out, pw_rrp_down_msg(h, PW_TE_ERR_LINKDOWN, PW_ADDR_BROADCAST,
							h->addr, h->trunk_peer));
		pw_beyond_update(h);
		lost = true;
	}
	if (peer && h->trunk_peer != peer) {
		h->db.peer = peer;
		t = pw_rrp_db_own_table(&h->db);
		if (t)
			pw_rrp_collect(h, &out, pw_rrp_table_msg(h, t, peer));
		pw_rrp_ask_all(h, &out);
	}
	h->trunk_peer = peer;
	spin_unlock(&h->lock);
	pw_rrp_flush(h, &out);
	rcu_read_unlock();
	local_bh_enable();
	if (lost) {
		pw_fib_update(h->san);
		pw_san_routes_changed(h->san);
	}
}

/* --- what comes in -------------------------------------------------------------- */

/* one message that was received */
struct pw_rrp_in {
	const struct pw_eep_view *v;
	const u8 *data;
	u32 len;
	bool trusted;		/* a half-router made it */
	bool from_peer;
	bool far;		/* over a trunk */
	u32 from;		/* trusted: who; else a node of this SAN, or 0 */
	u32 port;		/* of that node */
};

static void pw_rrp_answer(struct pw_half *h, const struct pw_rrp_in *in, u16 pt, u16 te, int len,
			  struct sk_buff_head *out)
{
	if (len < 0 || pw_addr_kind(in->v->sa) != PW_ADDR_KIND_PHYS)
		return;
	pw_rrp_collect(h, out, pw_rrp_msg(h, pt, te, in->v->sa, in->v->p, h->scratch, len));
}

/* answer that the first record of the message names an unknown node */
static void pw_rrp_unknown(struct pw_half *h, const struct pw_rrp_in *in, struct sk_buff_head *out)
{
	struct pw_rrp_buf b;

	pw_rrp_buf_init(&b, h->scratch, PW_RRP_ANSWER_MAX);
	pw_rrp_put_unknown(&b, in->data, in->len);
	if (b.len)
		pw_rrp_answer(h, in, PW_PT_ERR, PW_TE_ERR_UNK, pw_rrp_buf_done(&b), out);
}

static void pw_rrp_redirect(struct pw_half *h, const struct pw_rrp_in *in, u32 addr, u32 hr,
			    struct sk_buff_head *out)
{
	struct pw_rrp_buf b;

	pw_rrp_buf_init(&b, h->scratch, PW_RRP_ANSWER_MAX);
	pw_rrp_put_pair(&b, addr, hr);
	pw_rrp_answer(h, in, PW_PT_RRP, PW_TE_RDRC, pw_rrp_buf_done(&b), out);
}

static void pw_rrp_hrto(struct pw_half *h, const struct pw_rrp_in *in, struct sk_buff_head *out)
{
	u32 addr = pw_rrp_first_addr(in->data, in->len);
	int port = -1;

	if (pw_addr_kind(addr) == PW_ADDR_KIND_PHYS) {
		port = pw_san_port_of(h->san, addr);
		if (port < 0)
			port = pw_fib_lookup(h->san, addr);
	}
	/* a node of the same SAN needs no half-router */
	if (port < 0 || !pw_port_takes(h->san, port))
		pw_rrp_unknown(h, in, out);
	else
		pw_rrp_redirect(h, in, addr, pw_san_addr(h->san, port), out);
}

static void pw_rrp_gvl2(struct pw_half *h, const struct pw_rrp_in *in, struct sk_buff_head *out)
{
	u32 addr = pw_rrp_first_addr(in->data, in->len), neighbour;
	struct pw_rrp_access access = { .mtu = READ_ONCE(h->mtu) / 8 };
	enum pw_rrp_routes routes = PW_RRP_NO_ROUTE;
	struct pw_rrp_buf b;
	u8 l2rh[8];

	access.l2rh = l2rh;
	access.l2rh_len = pw_san_l2rh(h->san, h->port, l2rh);
	pw_rrp_buf_init(&b, h->scratch, PW_RRP_ANSWER_MAX);
	/* routes begin on this SAN: a node elsewhere cannot use them */
	if (in->from)
		routes = pw_rrp_answer_gvl2(&h->db, addr, &access, PW_HALF_PER_SAN, &b, &neighbour);
	switch (routes) {
	case PW_RRP_ROUTES:
		pw_rrp_answer(h, in, PW_PT_RRP, PW_TE_L2SR, pw_rrp_buf_done(&b), out);
		break;
	case PW_RRP_ASK_NEIGHBOUR:
		pw_rrp_redirect(h, in, addr, neighbour, out);
		break;
	case PW_RRP_NO_ROUTE:
		pw_rrp_unknown(h, in, out);
		break;
	}
}

static void pw_rrp_wru(struct pw_half *h, const struct pw_rrp_in *in, struct sk_buff_head *out)
{
	struct pw_rrp_buf b;

	pw_rrp_buf_init(&b, h->scratch, PW_RRP_ANSWER_MAX);
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, h->addr, 0);
	pw_rrp_put_self(&b, h);
	pw_rrp_answer(h, in, PW_PT_RRP, PW_TE_INFO, pw_rrp_buf_done(&b), out);
}

/* limit TELLs: their rate, and by @budget the nodes that one of them may search */
static bool pw_rrp_tell_allowed(struct pw_half *h, const struct pw_rrp_in *in, u32 *budget)
{
	u32 n = 1;

	while (n <= PW_RRP_TELL_MAX && !pw_rrp_count_within(in->data, in->len, n))
		n++;
	*budget = PW_RRP_TELL_NODES / n;
	return n <= PW_RRP_TELL_MAX && __ratelimit(&h->tell_limit);
}

/* every table is searched with the lock held for it alone */
static void pw_rrp_tell_info(struct pw_half *h, const struct pw_rrp_in *in, u32 budget,
			     struct sk_buff_head *out)
{
	struct pw_rrp_buf b;
	bool room = true;
	u8 *rec;
	u32 k;

	rec = kmalloc(PW_RRP_ANSWER_MAX, GFP_KERNEL);
	if (!rec)
		return;
	pw_rrp_buf_init(&b, rec, PW_RRP_ANSWER_MAX);
	for (k = 0; k < h->db.ntables && room; k++) {
		spin_lock_bh(&h->lock);
		room = pw_rrp_answer_tell(&h->db, k, in->data, in->len, &b, &budget);
		spin_unlock_bh(&h->lock);
		cond_resched();
	}
	spin_lock_bh(&h->lock);
	if (b.len && pw_rrp_buf_done(&b) > 0) {
		memcpy(h->scratch, rec, b.len);
		pw_rrp_answer(h, in, PW_PT_RRP, PW_TE_INFO, b.len, out);
	} else {
		pw_rrp_unknown(h, in, out);
	}
	spin_unlock_bh(&h->lock);
	kfree(rec);
}

/* a node of this SAN says what it is; true: its description has changed */
static bool pw_rrp_info(struct pw_half *h, const struct pw_rrp_in *in)
{
	const struct pw_info *had;
	struct pw_rrp_iter it;
	struct pw_rrp_rec node;
	struct pw_info *new;
	bool same;

	if (!in->from || in->trusted || pw_rrp_first_addr(in->data, in->len) != in->from)
		return false;
	pw_rrp_iter_init(&it, in->data, in->len);
	if (pw_rrp_next(&it, &node) <= 0 || node.data_len > PW_INFO_MAX)
		return false;
	had = rcu_dereference(h->san->port[in->port].info);
	same = had && had->len == node.data_len && !memcmp(had->rec, node.data, had->len);
	if (same)
		return true;
	new = pw_memcg_alloc(h->san->memcg, struct_size(new, rec, node.data_len));
	if (!new)
		return false;
	new->len = node.data_len;
	new->told = true;
	memcpy(new->rec, node.data, node.data_len);
	pw_info_replace(h->san, in->port, new, true);
	pw_san_changed(h->san);
	return true;
}

/* answered at the end of the turn */
static void pw_rrp_gvrt(struct pw_half *h, const struct pw_rrp_in *in)
{
	if (in->from_peer)
		WRITE_ONCE(h->asked_peer, true);
	else
		__set_bit(in->port, h->asked);
}

/* orders tables by when they were taken */
static atomic64_t pw_rrp_clock;

/* true: the routes from this SAN may have changed */
static bool pw_rrp_rtbl(struct pw_half *h, const struct pw_rrp_in *in)
{
	struct pw_rrp_link link = {
		.from = in->from, .peer = in->from_peer, .q = PW_LINK_Q, .far = in->far,
	};
	const struct pw_rrp_table *kept;
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;
	u8 l2rh[8];

	/* the own SAN needs no table from others */
	pw_rrp_iter_init(&it, in->data, in->len);
	if (pw_rrp_next(&it, &rec) <= 0 || rec.addr == h->san->bias)
		goto ignored;
	if (!in->from_peer) {
		link.l2rh = l2rh;
		link.l2rh_len = pw_san_l2rh(h->san, in->port, l2rh);
		link.mtu = READ_ONCE(h->mtu) / 8;
	} else if (h->trunk) {
		link.mtu = READ_ONCE(h->trunk_mtu) / 8;
	}
	link.now = atomic64_inc_return(&pw_rrp_clock);
	if (pw_rrp_db_receive(&h->db, &link, in->data, in->len, &kept) != PW_RRP_TAKEN)
		goto ignored;
	pw_half_count(h, PW_HALF_TABLES_TAKEN);
	h->beyond_old = true;
	return true;

ignored:
	pw_half_count(h, PW_HALF_TABLES_IGNORED);
	return false;
}

/* a router or a link is gone; true: the routes from this SAN may have changed */
static bool pw_rrp_down(struct pw_half *h, const struct pw_rrp_in *in, struct sk_buff_head *out)
{
	u16 te = in->v->te;
	struct pw_rrp_rec rec[2];
	struct pw_rrp_iter it;
	u32 dt, n;

	pw_rrp_iter_init(&it, in->data, in->len);
	if (pw_rrp_next(&it, &rec[0]) <= 0 || pw_rrp_next(&it, &rec[1]) <= 0)
		return false;
	pw_half_count(h, PW_HALF_HRDOWN);
	/* a neighbour can withdraw only tables that came from it */
	if (te == PW_TE_ERR_HRDOWN)
		n = pw_rrp_db_hrdown(&h->db, in->from, rec[0].addr, rec[1].addr);
	else
		n = pw_rrp_db_linkdown(&h->db, in->from, rec[0].addr, rec[1].addr);
	/* if the sender itself ends, all routes through it end */
	if (te == PW_TE_ERR_HRDOWN && (in->from == rec[0].addr || in->from == rec[1].addr))
		n += pw_rrp_db_hrdown(&h->db, 0, in->from, 0);
	if (!n)
		return false;
	dt = PW_ADDR_BROADCAST;
	if (pw_rrp_tell(in->from_peer) == PW_RRP_TELL_PEER)
		dt = READ_ONCE(h->peer_addr);
	pw_rrp_collect(h, out, pw_rrp_down_msg(h, te, dt, rec[0].addr, rec[1].addr));
	h->beyond_old = true;
	/* there may be room for routes that were refused before: ask again */
	h->resync = true;
	return true;
}

static bool pw_rrp_dispatch(struct pw_half *h, const struct pw_rrp_in *in,
			    struct sk_buff_head *out, enum pw_half_stat *bad)
{
	lockdep_assert_held(&h->lock);
	switch (in->v->te) {
	case PW_TE_GVL2:
		pw_rrp_gvl2(h, in, out);
		return false;
	case PW_TE_HRTO:
		pw_rrp_hrto(h, in, out);
		return false;
	case PW_TE_WRU:
		pw_rrp_wru(h, in, out);
		return false;
	case PW_TE_INFO:
		if (!in->trusted && !pw_rrp_info(h, in))
			*bad = PW_HALF_RRP_REFUSED;
		return false;
	case PW_TE_GVRT:
		if (in->trusted)
			pw_rrp_gvrt(h, in);
		else
			*bad = PW_HALF_RRP_REFUSED;
		return false;
	case PW_TE_RTBL:
		if (in->trusted)
			return pw_rrp_rtbl(h, in);
		*bad = PW_HALF_RRP_REFUSED;
		return false;
	default:	/* answers to requests that half-routers do not send */
		*bad = PW_HALF_RRP_REFUSED;
		return false;
	}
}

/* find out who sent a message, and whether it is trusted */
static void pw_rrp_identify(const struct pw_half *h, const struct sk_buff *skb,
			    const struct pw_eep_view *v, struct pw_rrp_in *in)
{
	const struct pw_skb_cb *cb = pw_cb(skb);

	*in = (struct pw_rrp_in) {
		.v = v,
		.data = skb->data + v->db_off,
		.len = v->data_len,
		.trusted = cb->flags & PW_CB_HALF,
		.from_peer = cb->flags & PW_CB_PEER,
		.far = cb->flags & PW_CB_FAR,
	};
	if (in->from_peer) {
		in->from = in->trusted ? READ_ONCE(h->peer_addr) : 0;
		in->far |= !!h->trunk;
	} else if (pw_san_addr(h->san, cb->src_port) == v->sa) {
		in->from = v->sa;
		in->port = cb->src_port;
	} else {
		in->trusted = false;
	}
}

/* one message; true: the routes from this SAN may have changed */
static bool pw_rrp_handle(struct pw_half *h, struct sk_buff *skb)
{
	enum pw_half_stat bad = PW_HALF_STAT_NUM;
	struct sk_buff_head out;
	struct pw_eep_view v;
	struct pw_rrp_in in;
	bool changed = false;
	u32 budget;

	__skb_queue_head_init(&out);
	local_bh_disable();
	rcu_read_lock();
	if (pw_eep_parse(skb->data, skb->len, &v)) {
		pw_half_drop(h, skb, PW_HALF_RRP_MALFORMED, 0);
		goto unlock;
	}
	pw_rrp_identify(h, skb, &v, &in);
	if (pw_rrp_check_msg(v.pt, v.te, in.data, in.len)) {
		pw_half_drop(h, skb, PW_HALF_RRP_MALFORMED, PW_TE_ERR_GENERAL);
		goto unlock;
	}
	if (v.pt == PW_PT_RRP && v.te == PW_TE_TELL) {
		rcu_read_unlock();
		local_bh_enable();
		if (pw_rrp_tell_allowed(h, &in, &budget))
			pw_rrp_tell_info(h, &in, budget, &out);
		else
			bad = PW_HALF_RRP_LIMITED;
		local_bh_disable();
		rcu_read_lock();
	} else {
		spin_lock(&h->lock);
		/* after HRDOWN was sent, forwarding a table would re-announce this router */
		if (h->leaving)
			bad = PW_HALF_RRP_REFUSED;
		else if (v.pt == PW_PT_RRP)
			changed = pw_rrp_dispatch(h, &in, &out, &bad);
		else if (in.trusted)
			changed = pw_rrp_down(h, &in, &out);
		else
			bad = PW_HALF_RRP_REFUSED;
		if (changed)
			WRITE_ONCE(h->san->fib_old, true);
		spin_unlock(&h->lock);
	}
	if (bad != PW_HALF_STAT_NUM)
		pw_half_count(h, bad);
	pw_rrp_flush(h, &out);
	consume_skb(skb);
unlock:
	rcu_read_unlock();
	local_bh_enable();
	return changed;
}

/* the next message; those of half-routers and of nodes take turns */
static struct sk_buff *pw_rrp_next_in(struct pw_half *h, u32 n)
{
	struct sk_buff *skb = skb_dequeue(&h->rrpq[n & 1]);

	return skb ? skb : skb_dequeue(&h->rrpq[!(n & 1)]);
}

static void pw_rrp_turn(struct pw_half *h)
{
	bool changed = false, told = false, resync, done;
	struct sk_buff *skb;
	u32 n;

	for (n = 0; n < PW_RRP_TURN && !READ_ONCE(h->leaving); n++) {
		skb = pw_rrp_next_in(h, n);
		if (!skb)
			break;
		changed |= pw_rrp_handle(h, skb);
		told |= changed;
		/* routes of a table that is visible are in use, unless that costs too much */
		if (changed && READ_ONCE(h->san->nhalves) <= PW_RRP_FEW) {
			pw_fib_update(h->san);
			changed = false;
		}
		cond_resched();
	}
	if (READ_ONCE(h->leaving))
		return;
	if (changed)
		pw_fib_update(h->san);
	spin_lock_bh(&h->lock);
	if (h->beyond_old)
		pw_beyond_update(h);
	resync = h->resync;
	spin_unlock_bh(&h->lock);
	if (told || resync)
		queue_delayed_work(system_percpu_wq, &h->san->rrp_work,
				   resync ? PW_RRP_LATER : PW_SAN_SOON);
	done = pw_rrp_pass(h);
	if (!done || !skb_queue_empty_lockless(&h->rrpq[0]) ||
	    !skb_queue_empty_lockless(&h->rrpq[1]))
		queue_delayed_work(system_dfl_wq, &h->rrp_in,
				   done && READ_ONCE(h->san->nhalves) <= PW_RRP_FEW ? 1 :
				   PW_SAN_SOON);
}

static void pw_rrp_in_work(struct work_struct *work)
{
	struct pw_half *h = container_of(to_delayed_work(work), struct pw_half, rrp_in);
	struct mem_cgroup *old = pw_memcg_enter(h->san->memcg);

	pw_kcov_section();

	pw_rrp_turn(h);
	pw_memcg_leave(old);
}

void pw_rrp_half_init(struct pw_half *h)
{
	skb_queue_head_init(&h->rrpq[0]);
	skb_queue_head_init(&h->rrpq[1]);
	INIT_DELAYED_WORK(&h->rrp_in, pw_rrp_in_work);
	h->gave = jiffies - PW_RRP_LATER;
}

/* the end of the half-router is announced: drop messages that wait */
void pw_rrp_half_stop(struct pw_half *h)
{
	cancel_delayed_work_sync(&h->rrp_in);
	skb_queue_purge(&h->rrpq[0]);
	skb_queue_purge(&h->rrpq[1]);
}

/* a message of a half-router was dropped: ask for everything again, a while later */
static void pw_rrp_missed(struct pw_half *h)
{
	spin_lock(&h->lock);
	h->resync = true;
	spin_unlock(&h->lock);
	queue_delayed_work(system_percpu_wq, &h->san->rrp_work, HZ);
}

/* Does a half-router process this type from this sender? */
static bool pw_rrp_welcome(const struct pw_eep_view *v, const struct pw_rrp_in *in)
{
	if (v->pt == PW_PT_ERR)
		return in->trusted;
	switch (v->te) {
	case PW_TE_GVRT:
	case PW_TE_RTBL:
		return in->trusted;
	case PW_TE_GVL2:
	case PW_TE_HRTO:
	case PW_TE_WRU:
	case PW_TE_TELL:
		return true;
	case PW_TE_INFO:
		return !in->trusted;
	default:	/* answers to requests that half-routers do not send */
		return false;
	}
}

/**
 * pw_rrp_receive - an RRP or ERR message for a half-router
 * @h: the half-router
 * @skb: the message, linear; consumed
 * @v: its fields
 *
 * It is handled later. BH off, RCU held.
 */
void pw_rrp_receive(struct pw_half *h, struct sk_buff *skb, const struct pw_eep_view *v)
{
	enum pw_half_stat bad = PW_HALF_RRP_LIMITED;
	struct sk_buff_head *q;
	struct pw_rrp_in in;

	pw_half_count(h, PW_HALF_RRP_RX);
	if (v->pt == PW_PT_ERR && v->te != PW_TE_ERR_HRDOWN && v->te != PW_TE_ERR_LINKDOWN) {
		consume_skb(skb);
		return;
	}
	pw_rrp_identify(h, skb, v, &in);
	if (!in.trusted && !__ratelimit(&h->rrp_limit))
		goto drop;
	if (in.trusted && in.from_peer && h->trunk && !__ratelimit(&h->peer_limit)) {
		pw_rrp_missed(h);
		goto drop;
	}
	if (READ_ONCE(h->leaving) || !pw_rrp_welcome(v, &in)) {
		bad = in.trusted && v->te == PW_TE_INFO ? PW_HALF_STAT_NUM : PW_HALF_RRP_REFUSED;
		goto drop;
	}
	if (in.len > PW_RRP_MSG_MAX) {
		pw_half_drop(h, skb, PW_HALF_RRP_MALFORMED, PW_TE_ERR_GENERAL);
		return;
	}
	q = &h->rrpq[!in.trusted];
	if (skb_queue_len_lockless(q) >= (in.trusted ? PW_HALF_RRP_QUEUE : PW_HALF_ASK_QUEUE)) {
		if (in.trusted)
			pw_rrp_missed(h);
		goto drop;
	}
	skb_queue_tail(q, skb);
	/* a turn that has just begun finds it */
	queue_delayed_work(system_dfl_wq, &h->rrp_in, 0);
	return;

drop:
	if (bad != PW_HALF_STAT_NUM)
		pw_half_count(h, bad);
	consume_skb(skb);
}

/**
 * pw_rrp_station_wru - a station is asked who it is
 * @st: the station
 * @v: the question
 *
 * BH off, RCU held.
 */
void pw_rrp_station_wru(struct pw_station *st, const struct pw_eep_view *v)
{
	struct pw_eep_hdr hdr = {
		.pt = PW_PT_RRP, .te = PW_TE_INFO, .dt = v->sa, .sa = st->addr, .p = v->p,
	};
	struct pw_rrp_buf b;
	struct sk_buff *skb;
	u8 *rec, *body;
	int len;

	if (pw_addr_kind(v->sa) != PW_ADDR_KIND_PHYS || !__ratelimit(&st->echo_limit))
		return;
	rec = kmalloc(PW_INFO_MAX + 128, GFP_ATOMIC | __GFP_NOWARN);
	if (!rec)
		return;
	pw_rrp_buf_init(&b, rec, PW_INFO_MAX + 128);
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, st->addr, 0);
	pw_rrp_put_info(&b, st->san, st->port);
	len = pw_rrp_buf_done(&b);
	if (len > 0) {
		hdr.data_len = len;
		skb = pw_skb_new(&hdr, &body);
		if (skb) {
			memcpy(body, rec, len);
			pw_send_own(st, skb);
		}
	}
	kfree(rec);
}
