// SPDX-License-Identifier: GPL-2.0
/*
 * Into the SAN: a frame from the stack or from the kernel's own protocols is
 * completed if the device built its header, looked at just far enough to know
 * where it goes, and handed to the engine.
 *
 *   pw_xmit_one -> pw_finish : padding and TAIL behind a header that we made
 *               -> pw_send_flags : pw_source_push (source route of the station),
 *                                  pw_classify (first word, own L2RH) -> engine->xmit
 *   pw_xmit     -> pw_xmit_one, or pw_xmit_wait if the station is full
 *
 * What cannot be sent is counted, answered with ERR to the source it names and
 * freed: pw_refuse(). ERRs are rate limited, never sent in answer to an ERR or to a
 * broadcast, and only to a source that gave its address.
 */
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <net/dst.h>
#include <net/sch_generic.h>

#include "pw_mon.h"
#include "pw_priv.h"
#include "pw_router.h"

/* pw_classify(): the frame can go; everything else is an enum pw_drop */
#define PW_SEND (-1)

/*
 * Padding and TAIL are all zero. Linear frames get them in their tailroom,
 * others as one more fragment, of the zero page: no copy of the data.
 */
static int pw_append_zeros(struct sk_buff *skb, unsigned int n)
{
	if (skb_is_nonlinear(skb) &&
	    (skb_has_frag_list(skb) || skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS) &&
	    skb_linearize(skb))
		return -ENOMEM;

	if (!skb_is_nonlinear(skb)) {
		if ((skb_cloned(skb) || skb_tailroom(skb) < n) &&
		    pskb_expand_head(skb, 0, n, GFP_ATOMIC))
			return -ENOMEM;
		skb_put_zero(skb, n);
		return 0;
	}

	/* the table of fragments is shared with clones, and TCP keeps one */
	if (skb_unclone(skb, GFP_ATOMIC))
		return -ENOMEM;
	get_page(ZERO_PAGE(0));
	skb_fill_page_desc(skb, skb_shinfo(skb)->nr_frags, ZERO_PAGE(0), 0, n);
	skb->len += n;
	skb->data_len += n;
	return 0;
}

/* length of the data that a header announces */
static u32 pw_data_len(const u8 *hdr)
{
	u32 field = get_unaligned_be32(hdr + PW_EEP_OFF_EPLDL);

	return (field & PW_EEP_DL_MASK) * 8 - ((field & PW_EEP_PL_MASK) >> PW_EEP_PL_SHIFT);
}

/**
 * pw_tx_whole - may a frame cross the SAN without checksum and segments?
 * @st: the station that sends it
 * @skb: the frame, before pw_finish()
 *
 * Between two stations of an untimed SAN nothing can damage a frame, and cells do not
 * exist: as with veth, IP need not compute a checksum, nor cut TCP data into segments.
 * A pwmon device gets what the wire would carry. The header must be the device's own, for
 * this frame: the receiver removes only what pw_finish() adds. BH off or RCU held.
 *
 * Return: false if the stack, or the sender, has to do both.
 */
bool pw_tx_whole(const struct pw_station *st, const struct sk_buff *skb)
{
	const struct pw_san *san = st->san;
	const struct pw_end *e = NULL;
	const u8 *hdr = skb->data;
	u32 addr;
	int port;

	if (pw_mon_on() || skb_headlen(skb) < PW_EEP_HDR_LEN ||
	    (skb->protocol != htons(ETH_P_IP) && skb->protocol != htons(ETH_P_IPV6)) ||
	    pw_eep_first(hdr) != PW_EEP_PHYS || hdr[PW_EEP_OFF_HRZ] & PW_EEP_H ||
	    get_unaligned_be16(hdr + PW_EEP_OFF_PT) != PW_PT_IP ||
	    pw_data_len(hdr) != skb->len - PW_EEP_HDR_LEN)
		return false;
	/* what a packet socket says of the inside must be behind the header */
	if (skb_network_offset(skb) != PW_EEP_HDR_LEN ||
	    (skb->ip_summed == CHECKSUM_PARTIAL &&
	     skb_checksum_start_offset(skb) < (int)(PW_EEP_HDR_LEN + sizeof(struct iphdr))))
		return false;
	/* TAIL may need a fragment */
	if (skb_has_frag_list(skb) || skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS)
		return false;
	addr = get_unaligned_be24(hdr + PW_EEP_OFF_DT);
	/* a source route may lead anywhere first */
	if (pw_source_has(st, addr))
		return false;
	port = pw_san_port_of(san, addr);
	rcu_read_lock();
	if (port >= 0 && rcu_dereference(san->engine)->ops == &pw_engine_none)
		e = pw_port_end(&san->port[port]);
	if (e && !e->dev)
		e = NULL;
	rcu_read_unlock();
	return e;
}

/*
 * pw_header_create() left a frame that ends with its data; if GSO has cut it
 * since, every piece has the header of the whole. A whole message is longer by a
 * TAIL at least, so the two cannot be confused.
 */
static int pw_finish(struct sk_buff *skb)
{
	u32 field, words, data, len;
	u8 p;

	if (skb_headlen(skb) < PW_EEP_HDR_LEN)
		return 0;
	field = get_unaligned_be32(skb->data + PW_EEP_OFF_EPLDL);
	words = field & PW_EEP_DL_MASK;
	data = pw_data_len(skb->data);
	len = skb->len - PW_EEP_HDR_LEN;
	if (len > data)
		return 0;
	/* packet sockets set the priority after the header is made */
	p = pw_eep_p_from_prio(skb->priority);
	if (len < data || (skb->data[PW_EEP_OFF_VP] & PW_EEP_P_MASK) != p) {
		if (skb_cow_head(skb, 0))
			return -ENOMEM;
		words = pw_eep_dl(len);
		field &= ~(PW_EEP_DL_MASK | PW_EEP_PL_MASK);
		field |= words | pw_eep_pl(len) << PW_EEP_PL_SHIFT;
		put_unaligned_be32(field, skb->data + PW_EEP_OFF_EPLDL);
		skb->data[PW_EEP_OFF_VP] &= ~PW_EEP_P_MASK;
		skb->data[PW_EEP_OFF_VP] |= p;
	}
	return pw_append_zeros(skb, words * 8 - len + PW_EEP_TAIL_LEN);
}

static int pw_to_port(const struct pw_san *san, struct pw_skb_cb *cb, unsigned int port)
{
	if (!pw_port_takes(san, port))
		return PW_DROP_UNKNOWN_DST;
	cb->dst_port = port;
	return PW_SEND;
}

/* the message begins with an EEP header: forward by address */
static __always_inline int pw_classify_header(const struct pw_san *san, struct pw_skb_cb *cb,
					      const u8 *hdr)
{
	int port;

	cb->prio = hdr[PW_EEP_OFF_VP] & PW_EEP_P_MASK;
	cb->dt = get_unaligned_be24(hdr + PW_EEP_OFF_DT);
	switch (pw_addr_kind(cb->dt)) {
	case PW_ADDR_KIND_PHYS:
		port = pw_san_port_of(san, cb->dt);
		if (port < 0)
			port = pw_fib_lookup(san, cb->dt);
		if (port < 0)
			return PW_DROP_NO_ROUTE;
		return pw_to_port(san, cb, port);
	case PW_ADDR_KIND_HEYYOU:
	case PW_ADDR_KIND_BROADCAST:
	case PW_ADDR_KIND_LOGICAL:
		cb->dst_port = PW_PORT_GROUP;
		return PW_SEND;
	default:
		return PW_DROP_BAD_DST;
	}
}

/* P of the header behind L2RHs; 0 if it cannot be found */
static u8 pw_prio_behind(struct sk_buff *skb, u32 off)
{
	u32 need;
	int at;

	do {
		at = pw_eep_find_header(skb->data, skb_headlen(skb), skb->len, off, &need);
	} while (at == -EAGAIN && pskb_may_pull(skb, need));
	return at < 0 ? 0 : skb->data[at + PW_EEP_OFF_VP] & PW_EEP_P_MASK;
}

/*
 * The message begins with prefixes. The first L2RH, with the symbols before it,
 * is the native route in the sender's own SAN and is consumed here. Symbols with
 * no L2RH behind them are for the receiving host; they stay.
 */
static noinline_for_stack int pw_classify_prefixed(const struct pw_san *san, struct sk_buff *skb)
{
	struct pw_skb_cb *cb = pw_cb(skb);
	struct pw_eep_hop hop;
	int err, why;

	do {
		err = pw_eep_consume_l2rh(skb->data, skb_headlen(skb), skb->len, &hop);
	} while (err == -EAGAIN && pskb_may_pull(skb, hop.need));

	if (err == PW_EEP_E_NO_L2RH) {
		do {
			err = pw_eep_consume_symbols(skb->data, skb_headlen(skb), skb->len, &hop);
		} while (err == -EAGAIN && pskb_may_pull(skb, hop.need));
		if (!err && !pskb_may_pull(skb, hop.consumed + 4))
			return PW_DROP_TX_MALFORMED;
		if (err)
			return err == -EAGAIN ? PW_DROP_TX_NOMEM : PW_DROP_TX_MALFORMED;
		why = pw_classify_header(san, cb, skb->data + hop.consumed);
		if (hop.prio >= 0)
			cb->prio = hop.prio;
		return why;
	}
	if (err == -EAGAIN)
		return PW_DROP_TX_NOMEM;
	if (err)
		return PW_DROP_TX_MALFORMED;

	if (pw_san_native_route(san, skb->data + hop.route_off, hop.route_len, cb))
		return PW_DROP_BAD_L2RH;
	cb->prio = hop.prio >= 0 ? hop.prio : pw_prio_behind(skb, hop.consumed);
	why = pw_to_port(san, cb, cb->dst_port);
	if (why == PW_SEND)
		__skb_pull(skb, hop.consumed);
	return why;
}

static int pw_classify(const struct pw_san *san, struct sk_buff *skb)
{
	if (!pskb_may_pull(skb, 4))
		return PW_DROP_TX_MALFORMED;
	switch (pw_eep_first(skb->data)) {
	case PW_EEP_PHYS:
	case PW_EEP_LOGICAL:
		return pw_classify_header(san, pw_cb(skb), skb->data);
	case PW_EEP_L2RH:
	case PW_EEP_SYMBOL:
		return pw_classify_prefixed(san, skb);
	default:
		return PW_DROP_BAD_DST;
	}
}

/**
 * pw_send_err - answer a message with ERR
 * @st: station that answers
 * @skb: the message as it was met, at its first prefix or header; not consumed
 * @te: which error
 *
 * BH off, RCU held.
 */
void pw_send_err(struct pw_station *st, struct sk_buff *skb, u16 te)
{
	struct pw_eep_view v;
	struct sk_buff *err;

	if (!pw_skb_err_wanted(skb, &v))
		return;
	if (!__ratelimit(&st->err_limit)) {
		pw_count(st, PW_STAT_ERR_LIMITED);
		return;
	}
	err = pw_skb_err(skb, &v, te, st->addr, READ_ONCE(st->dev->mtu), false);
	if (!err)
		return;
	if (pw_send_own(st, err))
		pw_count(st, PW_STAT_ERR_SENT);
}

/* drop a frame; answer with ERR if its source can correct that */
static void pw_refuse(struct pw_station *st, struct sk_buff *skb, enum pw_drop why)
{
	switch (why) {
	case PW_DROP_UNKNOWN_DST:
	case PW_DROP_NO_ROUTE:
	case PW_DROP_BAD_DST:
		pw_send_err(st, skb, PW_TE_ERR_UNK);
		break;
	case PW_DROP_BAD_L2RH:
		pw_send_err(st, skb, PW_TE_ERR_BADL2RH);
		break;
	case PW_DROP_TX_MALFORMED:
		pw_send_err(st, skb, PW_TE_ERR_GENERAL);
		break;
	default:
		break;
	}
	pw_drop(st, skb, why);
}

/**
 * pw_tx_wake - the station can send again, or never again: wake POETS files that wait
 * @st: the station; RCU held or RTNL
 */
void pw_tx_wake(struct pw_station *st)
{
	struct pw_poets *po;
	int i;

	for (i = 0; i < PW_POETS_ROLES; i++)
		hlist_for_each_entry_rcu(po, &st->poets[i], node, lockdep_rtnl_is_held())
			wake_up_interruptible_poll(&po->wait, EPOLLOUT | EPOLLWRNORM);
}

/* Has the station a qdisc, which keeps frames while the queue is stopped? BH off or RCU */
static bool pw_tx_has_qdisc(const struct net_device *dev)
{
	return rcu_dereference_bh_check(netdev_get_tx_queue(dev, 0)->qdisc,
					rcu_read_lock_held())->enqueue;
}

/**
 * pw_tx_room - receivers have taken enough: the station sends again
 * @e: the station; BH off, RCU held
 *
 * Frames that wait go first, in the station's poll.
 */
void pw_tx_room(struct pw_end *e)
{
	struct pw_station *st = container_of(e, struct pw_station, end);
	bool none;

	spin_lock(&st->waiting.lock);
	none = skb_queue_empty(&st->waiting) && !st->sending;
	if (none)
		WRITE_ONCE(e->full, false);
	spin_unlock(&st->waiting.lock);
	if (!none) {
		napi_schedule(&e->napi);
		return;
	}
	netif_wake_queue(e->dev);
	pw_tx_wake(st);
}

/**
 * pw_tx_let_go - frames of a full station hold closed sockets no longer
 * @e: the station; BH off, RCU held
 *
 * A fabric that stands still calls this now and then. What waits in a qdisc is out of reach: after
 * PW_TX_STUCK it comes here, and what has no room is dropped.
 */
void pw_tx_let_go(struct pw_end *e)
{
	struct pw_station *st = container_of(e, struct pw_station, end);
	const struct netdev_queue *queue = netdev_get_tx_queue(st->dev, 0);
	struct sk_buff *skb;

	spin_lock(&st->waiting.lock);
	skb_queue_walk(&st->waiting, skb)
		pw_skb_let_go(skb);
	spin_unlock(&st->waiting.lock);
	if (netif_tx_queue_stopped(queue) &&
	    time_after(jiffies, READ_ONCE(queue->trans_start) + PW_TX_STUCK))
		netif_wake_queue(st->dev);
}

/* a port with too many frames in the SAN is full until half of them have left it */
static void pw_tx_charge(struct pw_station *st, struct sk_buff *skb)
{
	struct pw_port *port = &st->san->port[st->port];

	if (likely(pw_port_charge(port, skb) < PW_INFLIGHT_STOP))
		return;
	if (READ_ONCE(st->end.full))
		return;
	spin_lock(&st->waiting.lock);
	WRITE_ONCE(st->end.full, true);
	spin_unlock(&st->waiting.lock);
	if (pw_tx_has_qdisc(st->dev)) {
		WRITE_ONCE(netdev_get_tx_queue(st->dev, 0)->trans_start, jiffies);
		netif_stop_queue(st->dev);
	}
	pw_count(st, PW_STAT_TX_STOPPED);
	/* pairs with the barrier in pw_port_release() */
	smp_mb();
	if (pw_port_frames(port) <= PW_INFLIGHT_WAKE)
		pw_tx_room(&st->end);
}

void pw_tx_open(struct pw_station *st)
{
	WRITE_ONCE(st->end.full, false);
	netif_start_queue(st->dev);
	pw_tx_wake(st);
}

/* the station is down, its poll has ended: frames that wait are not sent */
void pw_tx_close(struct pw_station *st)
{
	struct sk_buff *skb;

	netif_stop_queue(st->dev);
	/* there may be PW_TX_WAITING_MAX of them: BH is off for one at a time */
	while ((skb = skb_dequeue(&st->waiting))) {
		local_bh_disable();
		pw_drop(st, skb, PW_DROP_TX_FULL);
		local_bh_enable();
	}
	WRITE_ONCE(st->end.full, false);
	pw_tx_wake(st);
}

/* send a whole message, at its first prefix or header; consumed. BH off, RCU held */
static void pw_send_flags(struct pw_station *st, struct sk_buff *skb, u8 flags)
{
	struct pw_skb_cb *cb = pw_cb(skb);
	struct pw_san *san = st->san;
	struct pw_engine *eng;
	bool nomem;
	int why;

	*cb = (struct pw_skb_cb) {
		.src_port = st->port,
		.path = -1,
		.flags = flags,
		.net = dev_net(st->dev),
	};
	/* pw_tx_whole() found no source route */
	nomem = !(flags & PW_CB_WHOLE) && pw_source_push(st, skb);
	pw_mon_out(san, PACKETWAY_MON_STATION, st->port, skb);
	why = nomem ? PW_DROP_TX_NOMEM : pw_classify(san, skb);
	/* received here and sent on to here (XDP_TX, tc): it would come back for ever */
	if (why == PW_SEND && unlikely(cb->dst_port == st->port) &&
	    skb->skb_iif == st->dev->ifindex)
		why = PW_DROP_LOOPED;
	eng = rcu_dereference(san->engine);
	/* the SAN got another engine since pw_tx_whole() */
	if (unlikely(flags & PW_CB_WHOLE && eng->ops != &pw_engine_none))
		why = PW_DROP_TOO_BIG;
	if (unlikely(why != PW_SEND)) {
		pw_refuse(st, skb, why);
		return;
	}
	/* PW_STAT_TX_UNICAST is what is not counted as PW_STAT_TX_GROUP */
	dev_sw_netstats_tx_add(st->dev, 1, skb->len);
	if (cb->dst_port == PW_PORT_GROUP)
		pw_count(st, PW_STAT_TX_GROUP);
	pw_tx_charge(st, skb);
	if (flags & PW_CB_OWN)
		atomic_add(pw_port_own_cost(skb->len), &san->port[st->port].own);
	pw_engine_xmit(eng, skb);
}

/**
 * pw_own_full - has a station as many kernel-made messages under way as it may?
 * @st: the station
 * @len: length of the next one
 */
bool pw_own_full(const struct pw_station *st, unsigned int len)
{
	const struct pw_port *p = &st->san->port[st->port];

	return pw_port_frames(p) >= PW_INFLIGHT_OWN ||
	       atomic_read(&p->own) > PW_OWN_BYTES - pw_port_own_cost(len);
}

/**
 * pw_send_own - send a message that the kernel made at a station
 * @st: the station
 * @skb: the whole message; consumed
 *
 * It does not pass the qdisc, but a capture sees it like any other. A message
 * beyond the limits of pw_own_full() is dropped and counted. BH off, RCU held.
 *
 * Return: was it sent?
 */
bool pw_send_own(struct pw_station *st, struct sk_buff *skb)
{
	if (unlikely(pw_own_full(st, skb->len))) {
		pw_count(st, PW_STAT_TX_OWN_LIMITED);
		consume_skb(skb);
		return false;
	}
	skb->dev = st->dev;
	skb->protocol = htons(ETH_P_PACKETWAY);
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	if (dev_nit_active(st->dev))
		dev_queue_xmit_nit(skb, st->dev);
	pw_count(st, PW_STAT_TX_OWN);
	pw_send_flags(st, skb, PW_CB_OWN);
	return true;
}

/*
 * Complete a frame that pw_features_check() was not asked for: XDP_TX sends what it received
 * from another station as it is, perhaps with other bytes in front.
 */
static int pw_tx_checksum(struct sk_buff *skb)
{
	int off = skb_checksum_start_offset(skb);

	if (skb_is_gso(skb) || off < PW_EEP_HDR_LEN || off >= (int)skb_headlen(skb))
		return -EINVAL;
	return skb_checksum_help(skb);
}

/**
 * __pw_tx_stamp - tell the sender of a frame when the SAN got it
 * @skb: the frame, before it leaves its port
 * @ns: virtual time in nanoseconds
 *
 * Once: a router sends the same frame into another SAN. BH off.
 */
void __pw_tx_stamp(struct sk_buff *skb, u64 ns)
{
	struct skb_shared_hwtstamps stamp = { .hwtstamp = ns_to_ktime(ns) };

	pw_cb(skb)->flags &= ~PW_CB_STAMP;
	skb_tstamp_tx(skb, &stamp);
}

/* does the SAN say when it gets a frame of this station? An untimed one has no clock. RCU held */
static bool pw_tx_stamped(const struct pw_station *st)
{
	return READ_ONCE(st->stamp_sent) && rcu_dereference(st->san->engine)->ops->time;
}

/* a frame from the stack; BH off */
static __always_inline void pw_xmit_one(struct pw_station *st, struct sk_buff *skb)
{
	u8 flags = 0;

	if (unlikely(pw_pmtu_check(st, skb))) {
		pw_drop(st, skb, PW_DROP_TOO_BIG);
		return;
	}
	if (skb->ip_summed == CHECKSUM_PARTIAL || skb_is_gso(skb)) {
		if (pw_tx_whole(st, skb)) {
			flags = PW_CB_WHOLE;
		} else if (pw_tx_checksum(skb)) {
			pw_drop(st, skb, PW_DROP_TOO_BIG);
			return;
		}
	}
	/* only pw_pmtu_check() needs the route, to inform the sender */
	skb_dst_drop(skb);
	/* a frame may wait for long, and a namespace ends when its connections are free */
	nf_reset_ct(skb);
	if (skb->protocol != htons(ETH_P_PACKETWAY) && unlikely(pw_finish(skb))) {
		pw_drop(st, skb, PW_DROP_TX_NOMEM);
		return;
	}
	rcu_read_lock();
	if (unlikely(skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP) && pw_tx_stamped(st)) {
		skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
		flags |= PW_CB_STAMP;
	}
	skb_tx_timestamp(skb);
	pw_send_flags(st, skb, flags);
	rcu_read_unlock();
}

/* the same for frames that have waited: a call of its own keeps pw_xmit() short */
static noinline void pw_xmit_late(struct pw_station *st, struct sk_buff *skb)
{
	pw_xmit_one(st, skb);
}

/*
 * The station is full: the frame waits behind the others. The sender is told if there are
 * too many, as a qdisc would do. BH off
 */
static noinline netdev_tx_t pw_xmit_wait(struct pw_station *st, struct sk_buff *skb)
{
	u32 max = min_t(u32, READ_ONCE(st->dev->tx_queue_len), PW_TX_WAITING_MAX);
	bool full, room;

	spin_lock(&st->waiting.lock);
	full = st->end.full;
	room = skb_queue_len(&st->waiting) < max;
	if (full && room)
		__skb_queue_tail(&st->waiting, skb);
	spin_unlock(&st->waiting.lock);
	if (!full) {
		pw_xmit_late(st, skb);
	} else if (!room) {
		pw_drop(st, skb, PW_DROP_TX_FULL);
		return (netdev_tx_t)NET_XMIT_DROP;
	}
	return NETDEV_TX_OK;
}

/**
 * pw_tx_waiting - send frames that wait for room, in their order
 * @st: the station; in its poll
 * @budget: so many at most
 *
 * While one is on its way the station stays full, so that no other frame passes it.
 *
 * Return: how many were sent.
 */
int pw_tx_waiting(struct pw_station *st, int budget)
{
	const struct pw_port *port = &st->san->port[st->port];
	struct sk_buff *skb = NULL;
	bool more;
	int n = 0;

	do {
		if (skb)
			pw_xmit_late(st, skb);
		more = n < budget && pw_port_frames(port) < PW_INFLIGHT_STOP;
		spin_lock(&st->waiting.lock);
		skb = more ? __skb_dequeue(&st->waiting) : NULL;
		st->sending = skb;
		spin_unlock(&st->waiting.lock);
		n += !!skb;
	} while (skb);
	if (more) {
		rcu_read_lock();
		pw_tx_room(&st->end);
		rcu_read_unlock();
	}
	return n;
}

netdev_tx_t pw_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct pw_station *st = netdev_priv(dev);

	if (unlikely(READ_ONCE(st->end.full)))
		return pw_xmit_wait(st, skb);
	pw_xmit_one(st, skb);
	return NETDEV_TX_OK;
}
