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
 *
 * INFO among half-routers says what tables the other one should have (core/rrp_news.h):
 * the list at the end of a turn that changed it (pw_rrp_say_lists), the sum of it every
 * PW_RRP_BEAT (pw_rrp_beat_work), and in the hellos of a trunk.
 */
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "pw_genl.h"
#include "pw_router.h"
#include "pw_trunk.h"

#define PW_RRP_LATER		(HZ / 5)	/* HRDOWN has reached all nodes by then */
#define PW_RRP_BEAT		(2 * HZ)	/* between sums for neighbours */
#define PW_RRP_BEAT_MANY	(8 * HZ)	/* if there are many */
#define PW_RRP_QUIET		(3 * HZ / 2)	/* without a table before it is asked again */
#define PW_RRP_GUARD		HZ		/* a list is no later than this */
#define PW_RRP_TURN		64		/* messages that are handled in one turn */
#define PW_RRP_FEW		16		/* half-routers of a SAN whose routes are cheap */
#define PW_RRP_ANSWER_MAX	1400		/* bytes of records in an answer to a node */
#define PW_RRP_LADR_MAX		128		/* logical addresses in one ADDR */
#define PW_RRP_WRU_MAX		(PW_INFO_MAX + 4 * PW_RRP_LADR_MAX + 128)
#define PW_RRP_TELL_MAX		16		/* criteria of one TELL */
#define PW_RRP_TELL_NODES	4096		/* nodes times criteria that it looks at */
#define PW_RRP_PRIO		PW_EEP_P_MAX	/* of routers among themselves */

/*
 * Messages may wait at many half-routers at one time. Each has its work items, and the scheduler
 * gives a worker as much as a cgroup of programs: there are as many as there are CPUs.
 */
static struct workqueue_struct *pw_rrp_wq;

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
	u8 rec[PW_INFO_MAX];
	struct pw_rrp_buf b;
	struct pw_info *new;
	int len;

	pw_rrp_buf_init(&b, rec, sizeof(rec));
	rcu_read_lock();
	alias = rcu_dereference(st->dev->ifalias);
	if (alias)
		pw_rrp_put_name(&b, alias->ifalias, strnlen(alias->ifalias, 127));
	else
		pw_rrp_put_name(&b, st->dev->name, strlen(st->dev->name));
	rcu_read_unlock();
	pw_rrp_put_features(&b, st);
	len = pw_rrp_buf_done(&b);
	if (len < 0)
		return;
	new = kmalloc(struct_size(new, rec, len), PW_GFP);
	if (!new)
		return;
	memcpy(new->rec, rec, len);
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

/* what a node listens to, in pieces of one LADR each */
struct pw_rrp_listen {
	const struct pw_groups *g;
	const struct pw_info *told;
	u32 next;		/* of @g */
};

static void pw_rrp_listen_init(struct pw_rrp_listen *l, const struct pw_san *san, u32 port)
{
	const struct pw_station *st = pw_port_station(&san->port[port]);

	l->g = st ? rcu_dereference(st->groups) : NULL;
	l->told = rcu_dereference(san->port[port].info);
	l->next = 0;
}

/* entries of the LADRs that a node told by INFO */
static u32 pw_rrp_listen_told(const struct pw_info *info, struct pw_rrp_entry *e)
{
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;
	u32 i, n = 0;

	BUILD_BUG_ON(PW_INFO_MAX / 4 + 2 > PW_RRP_LADR_MAX);
	pw_rrp_iter_init(&it, info->rec, info->len);
	while (pw_rrp_next(&it, &rec) > 0)
		for (i = 0; rec.type == PW_RRP_LADR && pw_rrp_entry_at(&rec, i, &e[n]); i++)
			n++;
	return n;
}

/* the next piece: its entries, 0 after the last; RCU held */
static u32 pw_rrp_listen_next(struct pw_rrp_listen *l, struct pw_rrp_entry e[PW_RRP_LADR_MAX])
{
	u32 n = 0;

	if (l->told) {
		n = pw_rrp_listen_told(l->told, e);
		l->told = NULL;
	}
	if (l->g && l->g->all) {
		e[n++] = (struct pw_rrp_entry) { PW_RRP_AT_MIN, PW_ADDR_LOGICAL_MIN };
		e[n++] = (struct pw_rrp_entry) { PW_RRP_AT_MIN + 1, PW_ADDR_LOGICAL_MAX };
		l->g = NULL;
	}
	for (; l->g && l->next < l->g->n && n < PW_RRP_LADR_MAX; l->next++)
		if (pw_addr_kind(l->g->addr[l->next]) == PW_ADDR_KIND_LOGICAL)
			e[n++] = (struct pw_rrp_entry) { PW_RRP_AT_SINGLE, l->g->addr[l->next] };
	return n;
}

/* description of the node at @port into the ADDR that is open; RCU held */
static void pw_rrp_put_info(struct pw_rrp_buf *b, const struct pw_san *san, u32 port)
{
	const struct pw_info *info = rcu_dereference(san->port[port].info);
	struct pw_rrp_rec rec;
	struct pw_rrp_iter it;

	if (!info)
		return;
	pw_rrp_iter_init(&it, info->rec, info->len);
	while (pw_rrp_next(&it, &rec) > 0)
		if (rec.type != PW_RRP_LADR)
			pw_rrp_put_copy(b, &rec);
}

/* a half-router's own description into the ADDR that is open */
void pw_rrp_put_self(struct pw_rrp_buf *b, const struct pw_half *h)
{
	u8 sans[2 * PW_ADDR_LEN];

	put_unaligned_be24(h->san->bias, sans);
	if (h->peer)
		put_unaligned_be24(h->peer->san->bias, sans + PW_ADDR_LEN);
	pw_rrp_put_name(b, h->router->name, strlen(h->router->name));
	/* a trunk: the tables say which SAN is behind it */
	pw_rrp_put_capa(b, PW_CAPA_ROUTER, sans, h->peer ? sizeof(sans) : PW_ADDR_LEN);
	pw_rrp_put_capa32(b, PW_CAPA_ESP, h->esp.store.capacity);
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

/* process context */
static void pw_rrp_count(struct pw_half *h, enum pw_half_stat id)
{
	local_bh_disable();
	pw_half_count(h, id);
	local_bh_enable();
}

/* one message; process context */
static void pw_rrp_send(struct pw_half *h, struct sk_buff *skb, u8 flags)
{
	local_bh_disable();
	rcu_read_lock();
	pw_half_count(h, PW_HALF_RRP_TX);
	pw_half_send_as(h, skb, flags);
	rcu_read_unlock();
	local_bh_enable();
}

/* send what was collected, with BH off for each message alone */
static void pw_rrp_flush(struct pw_half *h, struct sk_buff_head *out)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(out)))
		pw_rrp_send(h, skb, 0);
}

/* set whether to ask for all tables again later; whether that was so before */
static bool pw_rrp_resync(struct pw_half *h, bool now)
{
	bool old;

	spin_lock_bh(&h->lock);
	old = h->resync;
	WRITE_ONCE(h->resync, now);
	spin_unlock_bh(&h->lock);
	return old;
}

static void pw_rrp_collect(struct pw_half *h, struct sk_buff_head *out, struct sk_buff *skb)
{
	if (skb) {
		__skb_queue_tail(out, skb);
		return;
	}
	/* no memory for the message */
	pw_rrp_resync(h, true);
	pw_san_changed(h->san);
}

/* Does a message to @dt go over the trunk? */
static bool pw_rrp_is_far(const struct pw_half *h, u32 dt)
{
	return h->trunk && dt == READ_ONCE(h->peer_addr);
}

/* a part of a table as a message; NULL without memory */
static struct sk_buff *pw_rrp_table_msg(const struct pw_half *h, const struct pw_rrp_table *t,
					const struct pw_rrp_cut *cut, u32 parts, u32 dt)
{
	struct pw_eep_hdr hdr = {
		.pt = PW_PT_RRP, .te = PW_TE_RTBL, .dt = dt, .sa = h->addr, .p = PW_RRP_PRIO,
		.data_len = pw_rrp_cut_size(t, cut),
	};
	struct pw_rrp_buf b;
	struct sk_buff *skb;
	u8 *body;

	skb = pw_skb_new(&hdr, &body);
	if (!skb)
		return NULL;
	pw_rrp_buf_init(&b, body, hdr.data_len);
	pw_rrp_cut_export(t, cut, parts, &b);
	if (pw_rrp_buf_done(&b) == (int)hdr.data_len)
		return skb;
	kfree_skb(skb);
	return NULL;
}

/* a table as messages, as many as the link needs; false: no memory, there are none */
static bool pw_rrp_table_msgs(const struct pw_half *h, const struct pw_rrp_table *t, u32 dt,
			      struct sk_buff_head *out)
{
	u32 room = PW_RRP_PART, head = pw_rrp_export_len(t) - t->nodes_len, mtu, parts;
	struct pw_rrp_cut cut = {};
	struct sk_buff *skb;

	if (pw_rrp_is_far(h, dt)) {
		mtu = READ_ONCE(h->trunk_mtu);
		room = clamp(mtu - min(mtu, head), PW_RRP_PART_MIN, PW_RRP_PART);
	}
	parts = pw_rrp_cut_count(t, room);
	while (pw_rrp_cut_next(t, room, &cut)) {
		skb = pw_rrp_table_msg(h, t, &cut, parts, dt);
		if (!skb) {
			__skb_queue_purge(out);
			return false;
		}
		__skb_queue_tail(out, skb);
	}
	return true;
}

/* the address of the @i-th port if another half-router is there, else 0; RCU held */
static u32 pw_rrp_neighbour_rcu(const struct pw_half *h, u32 i)
{
	const struct pw_half *b = pw_port_half(&h->san->port[i]);

	/* its program speaks with them */
	if (h->user)
		return 0;
	return b && b != h ? b->addr : 0;
}

/* table @k, if it is in use, to @dt */
static void pw_rrp_send_table(struct pw_half *h, u32 k, u32 dt)
{
	struct pw_rrp_table *t = &h->db.table[k];
	struct sk_buff_head out;
	struct sk_buff *skb;

	if (!dt)
		return;
	__skb_queue_head_init(&out);
	mutex_lock(&h->db_lock);
	/* after HRDOWN was sent, a table would re-announce this router */
	if (!t->used || READ_ONCE(h->leaving))
		goto unlock;
	if (!pw_rrp_table_msgs(h, t, dt, &out)) {
		/* no memory for the messages */
		pw_rrp_resync(h, true);
		pw_san_changed(h->san);
	}
	if (pw_rrp_is_far(h, dt))
		h->paced += skb_queue_len(&out);
	while ((skb = __skb_dequeue(&out)))
		pw_rrp_send(h, skb, t->far ? PW_CB_FAR : 0);
unlock:
	mutex_unlock(&h->db_lock);
}

/* the other end of a trunk refuses what exceeds its rate: must further tables wait? */
static bool pw_rrp_paced(struct pw_half *h)
{
	if (!h->trunk)
		return false;
	if (time_after(jiffies, h->paced_at + HZ)) {
		h->paced_at = jiffies;
		h->paced = 0;
	}
	return h->paced >= PW_HALF_PACE;
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

	mutex_lock(&h->db_lock);
	fresh = t->used && t->fresh;
	*from_peer = t->from_peer;
	t->fresh = false;
	mutex_unlock(&h->db_lock);
	return fresh;
}

static void pw_rrp_say(struct pw_half *h, u32 dt, bool list);

static bool pw_rrp_table_given(struct pw_half *h, u32 k, bool to_peer)
{
	bool gives;

	mutex_lock(&h->db_lock);
	gives = pw_rrp_gives(&h->db.table[k], to_peer);
	mutex_unlock(&h->db_lock);
	return gives;
}

/* tables that a neighbour asked for */
static void pw_rrp_give(struct pw_half *h, u32 port)
{
	u32 dt = pw_rrp_neighbour(h, port), k;

	for (k = 0; dt && k < h->db.ntables; k++) {
		if (pw_rrp_table_given(h, k, false))
			pw_rrp_send_table(h, k, dt);
		cond_resched();
	}
	pw_rrp_say(h, dt, true);
}

/* tables that the peer half asked for; false: the rest must wait */
static bool pw_rrp_give_peer(struct pw_half *h)
{
	h->list_peer |= h->give_next < h->db.ntables;
	for (; h->give_next < h->db.ntables; h->give_next++) {
		if (pw_rrp_paced(h))
			return false;
		if (pw_rrp_table_given(h, h->give_next, true))
			pw_rrp_send_table(h, h->give_next, READ_ONCE(h->peer_addr));
		cond_resched();
	}
	return true;
}

/* tables to pass on, then tables that were asked for; false: the rest must wait */
static bool pw_rrp_pass(struct pw_half *h)
{
	bool from_peer, peer;
	u32 i, k, addr;

	for (k = 0; k < h->db.ntables; k++) {
		if (pw_half_busy(h) || pw_rrp_paced(h))
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
		mutex_lock(&h->db_lock);
		peer = __test_and_clear_bit(i, h->asked);
		mutex_unlock(&h->db_lock);
		if (peer)
			pw_rrp_give(h, i);
	}
	/* what it asked for before comes first */
	if (h->give_next < h->db.ntables)
		return pw_rrp_give_peer(h) && !READ_ONCE(h->asked_peer);
	/* limit the rate: the answer to a trunk or a program is much longer than the request */
	if (!h->peer && READ_ONCE(h->asked_peer) && time_before(jiffies, h->gave + PW_RRP_LATER))
		return false;
	mutex_lock(&h->db_lock);
	peer = h->asked_peer;
	WRITE_ONCE(h->asked_peer, false);
	mutex_unlock(&h->db_lock);
	if (peer) {
		h->gave = jiffies;
		h->give_next = 0;
	}
	return pw_rrp_give_peer(h);
}

/* ask an adjacent half-router for its tables; under db_lock */
static void pw_rrp_ask(struct pw_half *h, u32 port, u32 dt, struct sk_buff_head *out)
{
	struct pw_adjacent *a = &h->adjacent[port];

	lockdep_assert_held(&h->db_lock);
	a->heard.refused = 0;
	a->quiet = jiffies;
	pw_rrp_collect(h, out, pw_rrp_msg(h, PW_PT_RRP, PW_TE_GVRT, dt, PW_RRP_PRIO, NULL, 0));
}

/* ask the peer half and all neighbours for their tables; under db_lock, RCU held */
static void pw_rrp_ask_all(struct pw_half *h, struct sk_buff_head *out)
{
	u32 i, neighbour;

	pw_rrp_ask(h, h->port, READ_ONCE(h->peer_addr), out);
	for (i = 0; i < h->san->nports; i++) {
		neighbour = pw_rrp_neighbour_rcu(h, i);
		if (neighbour)
			pw_rrp_ask(h, i, neighbour, out);
	}
}

/* --- what adjacent half-routers should have ------------------------------------------ */

/* an adjacent half-router says the sum of its tables: ask for them if it is a new one */
static void pw_rrp_hear_sum(struct pw_half *h, u32 port, u32 dt, u32 sum, struct sk_buff_head *out)
{
	struct pw_adjacent *a = &h->adjacent[port];

	lockdep_assert_held(&h->db_lock);
	if (!sum || sum == a->heard.sum || time_before(jiffies, a->quiet + PW_RRP_QUIET))
		return;
	pw_rrp_count(h, PW_HALF_TABLES_ASKED);
	pw_rrp_ask(h, port, dt, out);
}

/* the sum of what the peer half gets; process context */
u32 pw_rrp_sum(struct pw_half *h)
{
	u32 sum;

	spin_lock_bh(&h->lock);
	sum = pw_rrp_news_sum(&h->db, true);
	spin_unlock_bh(&h->lock);
	return sum;
}

/* the sum or the list, to @dt */
static void pw_rrp_say(struct pw_half *h, u32 dt, bool list)
{
	bool to_peer = dt == READ_ONCE(h->peer_addr);
	struct sk_buff *skb = NULL;
	struct pw_rrp_buf b;
	int len;

	/* a program gives tables that are not known here */
	if (!dt || h->user)
		return;
	mutex_lock(&h->db_lock);
	pw_rrp_buf_init(&b, h->scratch, PW_RRP_ANSWER_MAX);
	pw_rrp_put_news(&b, &h->db, to_peer, list);
	len = pw_rrp_buf_done(&b);
	if (len > 0)
		skb = pw_rrp_msg(h, PW_PT_RRP, PW_TE_INFO, dt, PW_RRP_PRIO, h->scratch, len);
	mutex_unlock(&h->db_lock);
	/* without memory for it the next sum makes the other one ask */
	if (skb)
		pw_rrp_send(h, skb, 0);
}

/* what changed is passed on: the lists of it */
static void pw_rrp_say_lists(struct pw_half *h)
{
	u32 i, peer, near;

	spin_lock_bh(&h->lock);
	peer = pw_rrp_news_sum(&h->db, true);
	near = pw_rrp_news_sum(&h->db, false);
	spin_unlock_bh(&h->lock);
	if (h->list_peer || peer != h->told_peer)
		pw_rrp_say(h, READ_ONCE(h->peer_addr), true);
	h->list_peer = false;
	h->told_peer = peer;
	for (i = 0; near != h->told_near && i < h->san->nports; i++) {
		pw_rrp_say(h, pw_rrp_neighbour(h, i), true);
		cond_resched();
	}
	h->told_near = near;
}

/* the tables are others now; under h->lock */
static void pw_rrp_changed(struct pw_half *h)
{
	lockdep_assert_held(&h->lock);
	h->beyond_old = true;
	atomic_inc(&pw_net(h->san->net)->tables);
}

/* tables of neighbours that are no longer at their ports: HRDOWN was lost */
static bool pw_rrp_forget_gone(struct pw_half *h)
{
	const struct pw_rrp_table *t;
	u32 i, n = 0;
	int port;

	mutex_lock(&h->db_lock);
	rcu_read_lock();
	spin_lock_bh(&h->lock);
	for (i = 0; i < h->db.ntables; i++) {
		t = &h->db.table[i];
		if (!t->used || t->own || t->from_peer)
			continue;
		port = pw_san_port_of(h->san, t->via);
		if (port >= 0 && pw_port_half(&h->san->port[port]))
			continue;
		if (port >= 0)
			h->adjacent[port].heard.sum = 0;
		n += pw_rrp_db_hrdown(&h->db, 0, t->via, 0);
	}
	if (n) {
		pw_rrp_changed(h);
		WRITE_ONCE(h->resync, true);
		WRITE_ONCE(h->san->fib_old, true);
	}
	spin_unlock_bh(&h->lock);
	rcu_read_unlock();
	mutex_unlock(&h->db_lock);
	for (i = 0; i < n; i++)
		pw_rrp_count(h, PW_HALF_TABLES_STALE);
	return n;
}

static void pw_rrp_beat_work(struct work_struct *work)
{
	struct pw_half *h = container_of(to_delayed_work(work), struct pw_half, beat);
	struct mem_cgroup *old = pw_memcg_enter(h->san->memcg);
	u32 i;

	pw_kcov_section();

	if (pw_rrp_forget_gone(h)) {
		pw_fib_update(h->san);
		queue_delayed_work(pw_rrp_wq, &h->rrp_in, 0);
		queue_delayed_work(system_percpu_wq, &h->san->rrp_work, PW_RRP_LATER);
	}
	/* a trunk's hellos say the sum; a bare one has none */
	if (h->peer || (h->trunk && h->trunk->conf.bare))
		pw_rrp_say(h, READ_ONCE(h->peer_addr), false);
	for (i = 0; i < h->san->nports; i++) {
		if (pw_half_busy(h))
			break;
		pw_rrp_say(h, pw_rrp_neighbour(h, i), false);
		cond_resched();
	}
	queue_delayed_work(pw_rrp_wq, &h->beat, READ_ONCE(h->san->nhalves) <= PW_RRP_FEW ?
			   PW_RRP_BEAT : PW_RRP_BEAT_MANY);
	pw_memcg_leave(old);
}

/* --- logical addresses behind the peer half ---------------------------------------- */

/* Is a node behind the peer half in this group? RCU held */
bool pw_half_beyond(const struct pw_half *h, u32 addr)
{
	const struct pw_beyond *y = rcu_dereference(h->beyond);

	return y && pw_rrp_ranges_have(y->r, y->n, addr);
}

/* set whether the logical addresses are to be gathered anew; whether they were before */
static bool pw_rrp_beyond_old(struct pw_half *h, bool now)
{
	bool old;

	spin_lock_bh(&h->lock);
	old = h->beyond_old;
	h->beyond_old = now;
	spin_unlock_bh(&h->lock);
	return old;
}

/* rrp_in: db_lock is held for each table alone */
static void pw_beyond_update(struct pw_half *h)
{
	struct pw_beyond *new, *old;
	struct pw_rrp_range *r;
	struct pw_rrp_groups g;
	u32 k;

	r = kvmalloc_array(2 * PW_BEYOND_MAX, sizeof(*r), PW_GFP);
	if (!r)
		goto again;
	pw_rrp_groups_init(&g, r, 2 * PW_BEYOND_MAX);
	for (k = 0; k < h->db.ntables; k++) {
		const struct pw_rrp_table *t = &h->db.table[k];

		mutex_lock(&h->db_lock);
		if (t->used && !t->own && t->from_peer && t->san != h->san->bias)
			pw_rrp_groups_add(&g, t);
		mutex_unlock(&h->db_lock);
		cond_resched();
	}
	pw_rrp_groups_done(&g);
	new = kvmalloc(struct_size(new, r, g.n), PW_GFP);
	if (!new)
		goto again;
	new->n = g.n;
	memcpy(new->r, r, g.n * sizeof(*r));
	kvfree(r);
	old = rcu_replace_pointer(h->beyond, new, true);
	if (old)
		kvfree_rcu(old, rcu);
	return;

again:
	kvfree(r);
	pw_rrp_beyond_old(h, true);
}

/* --- the own table ------------------------------------------------------------ */

/* an ADDR of the node at a port: its description if that is the first one, LADR, route */
static void pw_rrp_put_own_node(struct pw_rrp_buf *b, const struct pw_san *san, u32 port,
				bool first, const struct pw_rrp_entry *e, u32 n)
{
	const struct pw_half *o = pw_port_half(&san->port[port]);
	u8 l2rh[8];

	pw_rrp_put_addr(b, PW_RRP_AT_SINGLE, pw_san_addr(san, port), 0);
	if (first && o)
		pw_rrp_put_self(b, o);
	else if (first)
		pw_rrp_put_info(b, san, port);
	if (n)
		pw_rrp_put_entries(b, PW_RRP_LADR, e, n);
	pw_rrp_put_srqr(b, PW_RRP_Q_BEST, l2rh, pw_san_l2rh(san, port, l2rh));
	pw_rrp_end_addr(b);
}

/*
 * With what each node listens to, or with all logical addresses in the range of the SAN: then
 * the descriptions of 256 nodes fit, and every group crosses.
 */
static int pw_rrp_build_own(struct pw_half *h, bool each)
{
	static const struct pw_rrp_entry all[] = {
		{ PW_RRP_AT_MIN, PW_ADDR_LOGICAL_MIN }, { PW_RRP_AT_MIN + 1, PW_ADDR_LOGICAL_MAX },
	};
	struct pw_rrp_entry e[PW_RRP_LADR_MAX];
	const struct pw_san *san = h->san;
	const struct pw_station *st;
	struct pw_rrp_listen l;
	struct pw_rrp_buf b;
	u32 i, n;

	pw_rrp_buf_init(&b, h->scratch, PW_HALF_NODES_CAP);
	for (i = 0; i < san->nports && !b.err; i++) {
		rcu_read_lock();
		st = pw_port_station(&san->port[i]);
		if (pw_port_half(&san->port[i]) || (st && netif_running(st->dev))) {
			pw_rrp_listen_init(&l, san, i);
			n = each ? pw_rrp_listen_next(&l, e) : 0;
			pw_rrp_put_own_node(&b, san, i, true, e, n);
			/* an ADDR has one LADR: the node has further ADDRs for the rest */
			while (n && !b.err && (n = pw_rrp_listen_next(&l, e)))
				pw_rrp_put_own_node(&b, san, i, false, e, n);
		}
		rcu_read_unlock();
		cond_resched();
	}
	pw_rrp_put_addr(&b, PW_RRP_AT_MIN, pw_san_addr(san, 0), pw_san_addr(san, san->nports - 1));
	if (!each)
		pw_rrp_put_entries(&b, PW_RRP_LADR, all, ARRAY_SIZE(all));
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

/* what takes long was done before, without the spinlock */
static void pw_rrp_own_put(struct pw_half *h, u32 mtu, u32 len, const struct pw_rrp_span *span)
{
	spin_lock_bh(&h->lock);
	pw_rrp_db_set_own(&h->db, h->san->bias, ++h->serial, mtu / 8, h->scratch, len, span);
	h->db.table[0].fresh = true;
	atomic_inc(&pw_net(h->san->net)->tables);
	spin_unlock_bh(&h->lock);
}

/* the nodes of the own SAN, if they have changed; true: the peer half has to get them */
static bool pw_rrp_own_set(struct pw_half *h, u32 mtu)
{
	struct pw_rrp_table *t = &h->db.table[0];
	struct pw_rrp_span span;
	int len;

	lockdep_assert_held(&h->db_lock);
	len = pw_rrp_build_own(h, true);
	if (len == -ENOSPC)
		len = pw_rrp_build_own(h, false);
	if (len < 0 || (t->nodes_len == len && t->mtu == mtu / 8 &&
			!memcmp(t->nodes, h->scratch, len)) ||
	    pw_rrp_check_own(h->san->bias, h->scratch, len, &span))
		return false;
	pw_rrp_own_put(h, mtu, len, &span);
	return true;
}

/* process context; true: rrp_in has to pass the own table on */
static bool pw_rrp_own_update(struct pw_half *h)
{
	struct sk_buff_head out;
	bool changed;
	u32 mtu;

	__skb_queue_head_init(&out);
	mutex_lock(&h->db_lock);
	rcu_read_lock();
	mtu = min(h->mtu_set ? h->mtu_set : pw_rrp_san_mtu(h->san), READ_ONCE(h->san->mtu));
	rcu_read_unlock();
	WRITE_ONCE(h->mtu, mtu);
	changed = pw_rrp_own_set(h, mtu);
	rcu_read_lock();
	if (pw_rrp_resync(h, false))
		pw_rrp_ask_all(h, &out);
	rcu_read_unlock();
	pw_rrp_flush(h, &out);
	mutex_unlock(&h->db_lock);
	return changed;
}

static void pw_rrp_work(struct work_struct *work)
{
	struct pw_san *san = container_of(to_delayed_work(work), struct pw_san, rrp_work);
	struct mem_cgroup *old = pw_memcg_enter(san->memcg);
	struct pw_half *h;
	u32 i;

	pw_kcov_section();

	for (i = 0; i < san->nports; i++) {
		rcu_read_lock();
		h = pw_port_half(&san->port[i]);
		if (h) {
			WRITE_ONCE(h->own_old, true);
			/* it is cancelled a grace period after the half-router left its port */
			mod_delayed_work(pw_rrp_wq, &h->rrp_in, 0);
		}
		rcu_read_unlock();
		cond_resched();
	}
	pw_fib_update(san);
	pw_fib_notify_diff(san);
	pw_memcg_leave(old);
}

void pw_rrp_san_init(struct pw_san *san)
{
	mutex_init(&san->fib_lock);
	spin_lock_init(&san->routes_lock);
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
	if (pw_rrp_own_update(h))
		queue_delayed_work(pw_rrp_wq, &h->rrp_in, 0);
	mutex_lock(&h->db_lock);
	rcu_read_lock();
	pw_rrp_ask_all(h, &out);
	rcu_read_unlock();
	pw_rrp_flush(h, &out);
	mutex_unlock(&h->db_lock);
	queue_delayed_work(pw_rrp_wq, &h->beat, PW_RRP_BEAT);
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
	mutex_lock(&h->db_lock);
	WRITE_ONCE(h->leaving, true);
	pw_rrp_collect(h, &out, pw_rrp_down_msg(h, PW_TE_ERR_HRDOWN, PW_ADDR_BROADCAST, h->addr,
						READ_ONCE(h->peer_addr)));
	if (h->trunk && READ_ONCE(h->peer_addr))
		pw_rrp_collect(h, &out, pw_rrp_down_msg(h, PW_TE_ERR_HRDOWN,
							READ_ONCE(h->peer_addr), h->addr,
							READ_ONCE(h->peer_addr)));
	pw_rrp_flush(h, &out);
	mutex_unlock(&h->db_lock);
}

/**
 * pw_rrp_trunk - a trunk has reached or lost the peer half
 * @h: the half-router on this host
 * @up: whether the other one answers; process context
 */
void pw_rrp_trunk(struct pw_half *h, bool up)
{
	u32 peer = up ? READ_ONCE(h->peer_addr) : PW_ADDR_UNDEF;
	bool lost = false, found = false;
	struct sk_buff_head out;

	__skb_queue_head_init(&out);
	mutex_lock(&h->db_lock);
	rcu_read_lock();
	if (h->leaving)
		goto unlock;
	if (h->trunk_peer && h->trunk_peer != peer) {
		spin_lock_bh(&h->lock);
		pw_rrp_db_linkdown(&h->db, 0, h->addr, h->trunk_peer);
		pw_rrp_changed(h);
		spin_unlock_bh(&h->lock);
		h->adjacent[h->port].heard.sum = 0;
		pw_rrp_collect(h, &out, pw_rrp_down_msg(h, PW_TE_ERR_LINKDOWN, PW_ADDR_BROADCAST,
							h->addr, h->trunk_peer));
		lost = true;
	}
	if (peer && h->trunk_peer != peer) {
		h->db.peer = peer;
		WRITE_ONCE(h->asked_peer, true);
		found = true;
		pw_rrp_ask_all(h, &out);
	}
	if (peer)
		pw_rrp_hear_sum(h, h->port, peer, xchg(&h->peer_sum, 0), &out);
	h->trunk_peer = peer;
	pw_rrp_flush(h, &out);
unlock:
	/*
	 * rrp_in gives the tables to the other end, or forgets what it listens to. It is
	 * cancelled a grace period after the half-router began to leave.
	 */
	if (lost || found)
		queue_delayed_work(pw_rrp_wq, &h->rrp_in, 0);
	rcu_read_unlock();
	mutex_unlock(&h->db_lock);
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
	/* all routes, if this SAN can carry them: the tables of a SAN are few */
	pw_rrp_buf_init(&b, h->scratch, clamp(READ_ONCE(h->mtu), PW_RRP_ANSWER_MAX, PW_RRP_PART));
	/* routes begin on this SAN: a node elsewhere cannot use them */
	if (in->from)
		routes = pw_rrp_answer_gvl2(&h->db, addr, &access, PW_HALF_TABLES, &b, &neighbour);
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

static void pw_rrp_tell_info(struct pw_half *h, const struct pw_rrp_in *in, u32 budget,
			     struct sk_buff_head *out)
{
	u32 san = 0, more = 0;
	struct pw_rrp_buf b;
	bool room = true;
	int k;

	/* there is always room to say that there are more nodes */
	pw_rrp_buf_init(&b, h->scratch, PW_RRP_ANSWER_MAX - 2 * PW_RRP_HDR_LEN);
	do {
		k = pw_rrp_db_next_san(&h->db, san);
		if (k >= 0) {
			san = h->db.table[k].san + 1;
			room = pw_rrp_answer_tell(&h->db, k, in->data, in->len, &b, &budget,
						  &more);
		}
		cond_resched();
	} while (k >= 0 && room);
	if (!room) {
		b.cap = PW_RRP_ANSWER_MAX;
		pw_rrp_put_more(&b, more);
	}
	if (b.len && pw_rrp_buf_done(&b) > 0)
		pw_rrp_answer(h, in, PW_PT_RRP, PW_TE_INFO, b.len, out);
	else
		pw_rrp_unknown(h, in, out);
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

static void pw_stage_empty(struct pw_rrp_stage *s)
{
	u32 i;

	for (i = 0; i <= s->last; i++) {
		kvfree(s->part[i]);
		s->part[i] = NULL;
	}
	s->used = false;
	s->bytes = 0;
}

/* room for @len bytes more in all stages: the oldest of the others give way */
static bool pw_stage_room(struct pw_half *h, const struct pw_rrp_stage *s, u32 len)
{
	struct pw_rrp_stage *o, *oldest;
	u32 i, all;

	if (s->bytes + len > PW_HALF_NODES_CAP)
		return false;
	for (;;) {
		all = len;
		oldest = NULL;
		for (i = 0; i < PW_HALF_STAGES; i++) {
			o = &h->stages[i];
			all += o->used ? o->bytes : 0;
			if (o->used && o != s && (!oldest || (s32)(o->age - oldest->age) < 0))
				oldest = o;
		}
		if (all <= PW_HALF_STAGES_ALL || !oldest)
			return all <= PW_HALF_STAGES_ALL;
		pw_stage_empty(oldest);
	}
}

/*
 * A part of a table. rrp_in only. Returns the whole table, of @len bytes, if this part was
 * the last one that was missing; NULL: not yet, or @ignored.
 */
static u8 *pw_rrp_part_in(struct pw_half *h, const struct pw_rrp_in *in, u32 *len, bool *ignored)
{
	struct pw_rrp_stage *s;
	struct pw_rrp_part p;
	u8 *copy, *all = NULL;

	*ignored = true;
	if (!pw_rrp_part_parse(in->data, in->len, &p))
		return NULL;
	if (!h->stages)
		h->stages = kvcalloc(PW_HALF_STAGES, sizeof(*h->stages), PW_GFP);
	if (!h->stages)
		return NULL;
	s = pw_rrp_stage_pick(h->stages, PW_HALF_STAGES, in->from, PW_HALF_STAGES_FROM, &p);
	if (!pw_rrp_stage_is(s, in->from, &p)) {
		pw_stage_empty(s);
		pw_rrp_stage_begin(s, in->from, h->stage_age++, &p);
	}
	if (s->part[p.part]) {
		*ignored = false;
		return NULL;
	}
	if (!pw_stage_room(h, s, p.nodes_len))
		return NULL;
	copy = kvmalloc(max(p.nodes_len, 1U), PW_GFP);
	if (!copy)
		return NULL;
	*ignored = false;
	if (!pw_rrp_stage_put(s, &p, copy))
		return NULL;
	*len = pw_rrp_stage_size(s);
	all = kvmalloc(*len, PW_GFP);
	if (all)
		pw_rrp_stage_join(s, all);
	*ignored = !all;
	pw_stage_empty(s);
	return all;
}

/* Is there room for @len bytes of nodes more? Under db_lock. */
static bool pw_rrp_nodes_room(const struct pw_half *h, u32 len)
{
	u32 i, all = len;

	lockdep_assert_held(&h->db_lock);
	for (i = 1; i < h->db.ntables; i++)
		all += h->db.table[i].nodes_cap;
	return len <= PW_HALF_NODES_CAP && all <= PW_HALF_NODES_ALL;
}

/* memory of tables that are not in use */
static void pw_rrp_reap(struct pw_half *h)
{
	struct pw_rrp_table *t;
	u8 *nodes;
	u32 i;

	for (i = 1; i < h->db.ntables; i++) {
		t = &h->db.table[i];
		nodes = NULL;
		mutex_lock(&h->db_lock);
		if (!t->used) {
			spin_lock_bh(&h->lock);
			swap(t->nodes, nodes);
			t->nodes_cap = 0;
			spin_unlock_bh(&h->lock);
		}
		mutex_unlock(&h->db_lock);
		kvfree(nodes);
	}
}

/* a table that was checked */
static enum pw_rrp_taken pw_rrp_take(struct pw_half *h, const struct pw_rrp_link *link,
				     const struct pw_rrp_pieces *pieces,
				     const struct pw_rrp_table **kept)
{
	enum pw_rrp_taken taken;

	spin_lock_bh(&h->lock);
	taken = pw_rrp_db_take(&h->db, link, pieces, kept);
	if (taken == PW_RRP_TAKEN) {
		pw_rrp_changed(h);
		WRITE_ONCE(h->san->fib_old, true);
	}
	spin_unlock_bh(&h->lock);
	return taken;
}

/* a whole table; true: the routes from this SAN may have changed. Under db_lock */
static bool pw_rrp_rtbl(struct pw_half *h, const struct pw_rrp_in *in, const u8 *data, u32 len,
			struct pw_rrp_mem *mem)
{
	struct pw_rrp_link link = {
		.from = in->from, .peer = in->from_peer, .q = h->quality, .far = in->far,
		.mem = mem, .ticks = jiffies,
	};
	struct pw_adjacent *a = &h->adjacent[in->from_peer ? h->port : in->port];
	const struct pw_rrp_table *kept = NULL;
	struct pw_rrp_pieces pieces;
	enum pw_rrp_taken taken;
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;
	u8 l2rh[8];

	a->quiet = jiffies;
	/* the own SAN needs no table from others */
	pw_rrp_iter_init(&it, data, len);
	if (pw_rrp_next(&it, &rec) <= 0 || rec.addr == h->san->bias ||
	    !pw_rrp_nodes_room(h, len))
		goto ignored;
	if (!in->from_peer) {
		link.l2rh = l2rh;
		link.l2rh_len = pw_san_l2rh(h->san, in->port, l2rh);
		link.mtu = READ_ONCE(h->mtu) / 8;
	} else if (h->trunk) {
		link.mtu = READ_ONCE(h->trunk_mtu) / 8;
	}
	link.now = atomic64_inc_return(&pw_rrp_clock);
	/* what takes long, without the spinlock */
	taken = pw_rrp_check_table(h->addr, &link, data, len, &pieces);
	if (taken != PW_RRP_TAKEN)
		goto ignored;
	taken = pw_rrp_take(h, &link, &pieces, &kept);
	if (taken == PW_RRP_OLD && kept->serial == rec.serial) {
		pw_rrp_count(h, PW_HALF_TABLES_IGNORED);
		return false;
	}
	if (taken != PW_RRP_TAKEN)
		goto ignored;
	pw_rrp_count(h, PW_HALF_TABLES_TAKEN);
	pw_rrp_news_taken(&a->heard);
	return true;

ignored:
	pw_rrp_news_refused(&a->heard, data, len);
	pw_rrp_count(h, PW_HALF_TABLES_IGNORED);
	return false;
}

/* tables went; under both locks */
static void pw_rrp_lost(struct pw_half *h)
{
	pw_rrp_changed(h);
	/* there may be room for routes that were refused before: ask again */
	WRITE_ONCE(h->resync, true);
	WRITE_ONCE(h->san->fib_old, true);
}

/* an adjacent half-router says what it gives; true: the routes may have changed */
static bool pw_rrp_news_in(struct pw_half *h, const struct pw_rrp_in *in, struct sk_buff_head *out)
{
	u32 port = in->from_peer ? h->port : in->port, dropped = 0, i;
	struct pw_adjacent *a = &h->adjacent[port];
	struct pw_rrp_news news;

	if (!pw_rrp_news_parse(in->data, in->len, in->from, &news))
		return false;
	spin_lock_bh(&h->lock);
	if (news.list && !pw_rrp_news_take(&h->db, in->from, jiffies, PW_RRP_GUARD, &news,
					   &a->heard, &dropped))
		a->heard.sum = 0;
	if (dropped)
		pw_rrp_lost(h);
	spin_unlock_bh(&h->lock);
	pw_rrp_hear_sum(h, port, in->from, news.sum, out);
	for (i = 0; i < dropped; i++)
		pw_rrp_count(h, PW_HALF_TABLES_STALE);
	return dropped;
}

/* a table or a part of one, from a half-router; under db_lock */
static bool pw_rrp_table_in(struct pw_half *h, const struct pw_rrp_in *in,
			    enum pw_half_stat *bad)
{
	struct pw_rrp_mem mem = {};
	const u8 *data = in->data;
	bool changed = false, ignored = false;
	struct pw_rrp_iter it;
	struct pw_rrp_rec rthd;
	u32 len = in->len;
	u8 *all = NULL;

	pw_rrp_iter_init(&it, data, len);
	if (pw_rrp_next(&it, &rthd) > 0 && rthd.last) {
		all = pw_rrp_part_in(h, in, &len, &ignored);
		if (ignored)
			*bad = PW_HALF_TABLES_IGNORED;
		if (!all)
			return false;
		data = all;
	}
	mem.cap = len;
	mem.p = kvmalloc(len, PW_GFP);
	if (mem.p)
		changed = pw_rrp_rtbl(h, in, data, len, &mem);
	else
		*bad = PW_HALF_TABLES_IGNORED;
	kvfree(mem.p);
	kvfree(all);
	return changed;
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
	pw_rrp_count(h, PW_HALF_HRDOWN);
	spin_lock_bh(&h->lock);
	/* a neighbour can withdraw only tables that came from it */
	if (te == PW_TE_ERR_HRDOWN)
		n = pw_rrp_db_hrdown(&h->db, in->from, rec[0].addr, rec[1].addr);
	else
		n = pw_rrp_db_linkdown(&h->db, in->from, rec[0].addr, rec[1].addr);
	/* if the sender itself ends, all routes through it end */
	if (te == PW_TE_ERR_HRDOWN && (in->from == rec[0].addr || in->from == rec[1].addr))
		n += pw_rrp_db_hrdown(&h->db, 0, in->from, 0);
	if (n)
		pw_rrp_lost(h);
	spin_unlock_bh(&h->lock);
	h->adjacent[in->from_peer ? h->port : in->port].heard.sum = 0;
	if (!n)
		return false;
	dt = PW_ADDR_BROADCAST;
	if (pw_rrp_tell(in->from_peer) == PW_RRP_TELL_PEER)
		dt = READ_ONCE(h->peer_addr);
	pw_rrp_collect(h, out, pw_rrp_down_msg(h, te, dt, rec[0].addr, rec[1].addr));
	return true;
}

/* under db_lock, RCU held */
static bool pw_rrp_dispatch(struct pw_half *h, const struct pw_rrp_in *in,
			    struct sk_buff_head *out, enum pw_half_stat *bad)
{
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
		if (in->trusted)
			return pw_rrp_news_in(h, in, out);
		if (!pw_rrp_info(h, in))
			*bad = PW_HALF_RRP_REFUSED;
		return false;
	case PW_TE_GVRT:
		if (in->trusted)
			pw_rrp_gvrt(h, in);
		else
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
		in->far |= !h->peer;
	} else if (pw_san_addr(h->san, cb->src_port) == v->sa) {
		in->from = v->sa;
		in->port = cb->src_port;
	} else {
		in->trusted = false;
	}
}

/* a message that was checked; under db_lock. True: the routes may have changed */
static bool pw_rrp_act(struct pw_half *h, const struct pw_rrp_in *in, struct sk_buff_head *out,
		       enum pw_half_stat *bad)
{
	bool changed = false;
	u32 budget;

	/* after HRDOWN was sent, forwarding a table would re-announce this router */
	if (READ_ONCE(h->leaving) || (in->v->pt != PW_PT_RRP && !in->trusted)) {
		*bad = PW_HALF_RRP_REFUSED;
	} else if (in->v->pt != PW_PT_RRP) {
		changed = pw_rrp_down(h, in, out);
	} else if (in->v->te == PW_TE_TELL) {
		if (pw_rrp_tell_allowed(h, in, &budget))
			pw_rrp_tell_info(h, in, budget, out);
		else
			*bad = PW_HALF_RRP_LIMITED;
	} else if (in->v->te == PW_TE_RTBL && in->trusted) {
		changed = pw_rrp_table_in(h, in, bad);
	} else {
		rcu_read_lock();
		changed = pw_rrp_dispatch(h, in, out, bad);
		rcu_read_unlock();
	}
	return changed;
}

static void pw_rrp_malformed(struct pw_half *h, struct sk_buff *skb, u16 te)
{
	local_bh_disable();
	rcu_read_lock();
	pw_half_drop(h, skb, PW_HALF_RRP_MALFORMED, te);
	rcu_read_unlock();
	local_bh_enable();
}

/* one message; true: the routes from this SAN may have changed */
static bool pw_rrp_handle(struct pw_half *h, struct sk_buff *skb)
{
	enum pw_half_stat bad = PW_HALF_STAT_NUM;
	struct sk_buff_head out;
	struct pw_eep_view v;
	struct pw_rrp_in in;
	bool changed = false;

	__skb_queue_head_init(&out);
	if (pw_eep_parse(skb->data, skb->len, &v)) {
		pw_rrp_malformed(h, skb, 0);
		return false;
	}
	pw_rrp_identify(h, skb, &v, &in);
	if (pw_rrp_check_msg(v.pt, v.te, in.data, in.len)) {
		pw_rrp_malformed(h, skb, PW_TE_ERR_GENERAL);
		return false;
	}
	mutex_lock(&h->db_lock);
	changed = pw_rrp_act(h, &in, &out, &bad);
	if (bad != PW_HALF_STAT_NUM)
		pw_rrp_count(h, bad);
	if (bad != PW_HALF_RRP_REFUSED && bad != PW_HALF_RRP_LIMITED)
		pw_rrp_count(h, PW_HALF_RRP_DONE);
	pw_rrp_flush(h, &out);
	mutex_unlock(&h->db_lock);
	consume_skb(skb);
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

	if (READ_ONCE(h->own_old) && !READ_ONCE(h->leaving)) {
		WRITE_ONCE(h->own_old, false);
		pw_rrp_own_update(h);
	}
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
	resync = READ_ONCE(h->resync);
	if (pw_rrp_beyond_old(h, false)) {
		pw_beyond_update(h);
		pw_rrp_reap(h);
	}
	if (told || resync)
		queue_delayed_work(system_percpu_wq, &h->san->rrp_work,
				   resync ? PW_RRP_LATER : PW_SAN_SOON);
	done = pw_rrp_pass(h);
	if (done)
		pw_rrp_say_lists(h);
	if (!done || !skb_queue_empty_lockless(&h->rrpq[0]) ||
	    !skb_queue_empty_lockless(&h->rrpq[1]))
		queue_delayed_work(pw_rrp_wq, &h->rrp_in,
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
	INIT_DELAYED_WORK(&h->beat, pw_rrp_beat_work);
	h->gave = jiffies - PW_RRP_LATER;
	h->give_next = PW_HALF_TABLES;
	h->paced_at = jiffies;
}

/* memory of its tables and parts */
void pw_rrp_half_free(struct pw_half *h)
{
	u32 i;

	for (i = 0; h->stages && i < PW_HALF_STAGES; i++)
		pw_stage_empty(&h->stages[i]);
	kvfree(h->stages);
	for (i = 1; i < h->db.ntables; i++)
		kvfree(h->db.table[i].nodes);
}

/* the end of the half-router is announced: drop messages that wait */
void pw_rrp_half_stop(struct pw_half *h)
{
	cancel_delayed_work_sync(&h->beat);
	cancel_delayed_work_sync(&h->rrp_in);
	skb_queue_purge(&h->rrpq[0]);
	skb_queue_purge(&h->rrpq[1]);
}

/* a message of a half-router was dropped: ask for everything again, a while later */
static void pw_rrp_missed(struct pw_half *h)
{
	spin_lock(&h->lock);
	WRITE_ONCE(h->resync, true);
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
	case PW_TE_INFO:
		return true;
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
 * It is handled later. RRP_RX counts it, and so does one of RRP_DONE, RRP_MALFORMED, RRP_REFUSED
 * and RRP_LIMITED. BH off, RCU held.
 */
void pw_rrp_receive(struct pw_half *h, struct sk_buff *skb, const struct pw_eep_view *v)
{
	enum pw_half_stat bad = PW_HALF_RRP_LIMITED;
	struct sk_buff_head *q;
	struct pw_rrp_in in;

	pw_half_count(h, PW_HALF_RRP_RX);
	if (v->pt == PW_PT_ERR && v->te != PW_TE_ERR_HRDOWN && v->te != PW_TE_ERR_LINKDOWN) {
		pw_half_count(h, PW_HALF_RRP_DONE);
		consume_skb(skb);
		return;
	}
	pw_rrp_identify(h, skb, v, &in);
	if (!in.trusted && !__ratelimit(&h->rrp_limit))
		goto drop;
	if (in.trusted && in.from_peer && !h->peer && !__ratelimit(&h->peer_limit)) {
		pw_rrp_missed(h);
		goto drop;
	}
	if (READ_ONCE(h->leaving) || !pw_rrp_welcome(v, &in)) {
		bad = PW_HALF_RRP_REFUSED;
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
	queue_delayed_work(pw_rrp_wq, &h->rrp_in, 0);
	return;

drop:
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
	struct pw_rrp_entry e[PW_RRP_LADR_MAX];
	struct pw_rrp_listen l;
	struct pw_rrp_buf b;
	struct sk_buff *skb;
	u8 *rec, *body;
	int len;
	u32 n;

	if (pw_addr_kind(v->sa) != PW_ADDR_KIND_PHYS || !__ratelimit(&st->echo_limit))
		return;
	rec = kmalloc(PW_RRP_WRU_MAX, GFP_ATOMIC | __GFP_NOWARN);
	if (!rec)
		return;
	pw_rrp_buf_init(&b, rec, PW_RRP_WRU_MAX);
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, st->addr, 0);
	pw_rrp_put_info(&b, st->san, st->port);
	pw_rrp_listen_init(&l, st->san, st->port);
	n = pw_rrp_listen_next(&l, e);
	if (n)
		pw_rrp_put_entries(&b, PW_RRP_LADR, e, n);
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

int __init pw_rrp_init(void)
{
	pw_rrp_wq = alloc_workqueue("packetway_rrp", WQ_UNBOUND | WQ_SYSFS, num_possible_cpus());
	return pw_rrp_wq ? 0 : -ENOMEM;
}

/* all half-routers are freed */
void pw_rrp_exit(void)
{
	destroy_workqueue(pw_rrp_wq);
}
