// SPDX-License-Identifier: GPL-2.0
/*
 * Out of the SAN: an engine has put a frame into the receiving station's queue
 * (pw_port_deliver), and the station's NAPI takes it from there.
 *
 *     pw_poll -> pw_rx_one : pw_rx_parse    prefixes, header, options, lengths
 *                          -> pw_rx_accept  is it for us?
 *                          -> pw_rx_check   mandatory options, CRCs, byte order
 *                          -> kernel handler (echo, ESP, POETS), IP stack or packet
 *                             sockets
 *
 * Each step returns PW_OK or a drop reason; pw_rx_one() alone counts and frees.
 */
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/rtnetlink.h>

#include "pw_mon.h"
#include "pw_priv.h"
#include "pw_router.h"
#include "pw_trace.h"

/* what the parser refuses, as drop reasons */
static enum pw_drop pw_rx_parse_drop(int err)
{
	switch (err) {
	case PW_EEP_E_VERSION:
		return PW_DROP_BAD_VERSION;
	case PW_EEP_E_PREFIX_TRUNC:
	case PW_EEP_E_PREFIX_LIMIT:
	case PW_EEP_E_L2RH_LEN:
	case PW_EEP_E_L2RH_OVERRUN:
	case PW_EEP_E_SYM_OVERRUN:
		return PW_DROP_BAD_PREFIX;
	case PW_EEP_E_DT_RESERVED:
	case PW_EEP_E_DT_UNDEF:
		return PW_DROP_RX_BAD_DST;
	case PW_EEP_E_SA:
		return PW_DROP_BAD_SRC;
	case PW_EEP_E_ESIZE:
		return PW_DROP_BAD_ENDIAN;
	case PW_EEP_E_OH_OVERRUN:
	case PW_EEP_E_OH_LAST:
	case PW_EEP_E_OH_LIMIT:
	case PW_EEP_E_OT_OVERRUN:
	case PW_EEP_E_OT_LAST:
	case PW_EEP_E_OT_LIMIT:
	case PW_EEP_E_OT_MISSING:
		return PW_DROP_BAD_OPTION;
	default:
		return PW_DROP_BAD_LENGTH;
	}
}

static int pw_rx_parse(struct sk_buff *skb, struct pw_eep_view *v, u16 *te)
{
	__be64 tail PW_UNINIT;
	const __be64 *p;
	int err;

	if (likely(pw_eep_parse_plain(skb->data, skb_headlen(skb), skb->len, v))) {
		p = skb_header_pointer(skb, v->tail_off, sizeof(tail), &tail);
		if (p)
			v->ei = get_unaligned_be64(p);
		return PW_OK;
	}
	do {
		err = pw_eep_parse_head(skb->data, skb_headlen(skb), skb->len, v);
	} while (err == -EAGAIN && pskb_may_pull(skb, v->need));
	if (err == -EAGAIN)
		return PW_DROP_RX_NOMEM;
	if (!err) {
		/* options are rare: they are worth one copy, not a second parser */
		if (skb_linearize(skb))
			return PW_DROP_RX_NOMEM;
		err = pw_eep_parse_trailer(skb->data + v->ot_off, skb->len - v->ot_off, v);
	}
	if (err) {
		*te = pw_eep_err_te(err);
		return pw_rx_parse_drop(err);
	}
	/* a host is not a half-router: no node behind it could use the route */
	if (v->nl2rh) {
		*te = PW_TE_ERR_BADL2RH;
		return PW_DROP_BAD_PREFIX;
	}
	return PW_OK;
}

static bool pw_rx_in_group(const struct pw_station *st, u32 addr)
{
	const struct pw_groups *g = rcu_dereference(st->groups);
	u32 lo = 0, hi, mid;

	if (!g)
		return false;
	if (unlikely(g->all))
		return true;
	hi = g->n;
	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (g->addr[mid] == addr)
			return true;
		if (g->addr[mid] < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

/**
 * pw_rx_hears - does a station take frames to a logical address? See pw_rx_accept()
 * @e: the station
 * @addr: the address
 *
 * RCU held.
 */
bool pw_rx_hears(const struct pw_end *e, u32 addr)
{
	const struct pw_station *st = container_of(e, struct pw_station, end);

	return READ_ONCE(st->dev->flags) & (IFF_ALLMULTI | IFF_PROMISC) || pw_rx_in_group(st, addr);
}

static int pw_rx_accept(struct pw_station *st, struct sk_buff *skb, const struct pw_eep_view *v)
{
	unsigned int flags = READ_ONCE(st->dev->flags);

	if (v->dt == st->addr || v->dt == PW_ADDR_HEYYOU) {
		skb->pkt_type = PACKET_HOST;
	} else if (v->dt == PW_ADDR_BROADCAST) {
		skb->pkt_type = PACKET_BROADCAST;
	} else if (v->dt >= PW_ADDR_LOGICAL_MIN &&
		   (pw_rx_in_group(st, v->dt) || flags & IFF_ALLMULTI)) {
		skb->pkt_type = PACKET_MULTICAST;
	} else if (flags & IFF_PROMISC) {
		skb->pkt_type = PACKET_OTHERHOST;
		pw_count(st, PW_STAT_RX_OTHERHOST);
	} else {
		return PW_DROP_NOT_FOR_US;
	}
	return PW_OK;
}

static int pw_rx_crc(struct pw_station *st, struct sk_buff *skb, struct pw_eep_view *v)
{
	int err;

	if (!(v->oh_mask & PW_OH_ANNOUNCE_MASK))
		return PW_OK;
	err = pw_eep_crc_verify(skb->data, v);
	if (!err)
		return PW_OK;

	/*
	 * Wrong data is delivered and marked, as a router that saw it would. If EI is set
	 * already it says where that was.
	 */
	pw_count(st, err == PW_EEP_E_CRC64 ? PW_STAT_CRC64_BAD : PW_STAT_CRC32_BAD);
	if (v->ei)
		return PW_OK;
	if (pw_skb_make_writable(skb))
		return PW_DROP_RX_NOMEM;
	v->ei |= 1;
	put_unaligned_be64(v->ei, skb->data + v->tail_off);
	return PW_OK;
}

/* convert the data block to the byte order that the station is set to */
static int pw_rx_order(struct pw_station *st, struct sk_buff *skb, struct pw_eep_view *v)
{
	u32 order = READ_ONCE(st->order);

	/* ESP and POETS have a byte order of their own */
	if (order == PACKETWAY_ORDER_AS_SENT || v->pt == PW_PT_ESP || v->pt == PW_PT_POETS ||
	    !pw_eep_needs_swap(v->e, order == PACKETWAY_ORDER_LITTLE))
		return PW_OK;
	if (pw_skb_make_writable(skb))
		return PW_DROP_RX_NOMEM;
	pw_eep_swap(skb->data + v->db_off, v->data_len, v->e);
	v->e ^= PW_E_LITTLE;
	skb->data[v->hdr_off + PW_EEP_OFF_EPLDL] ^= PW_E_LITTLE << 4;
	pw_count(st, PW_STAT_RX_SWAPPED);
	return PW_OK;
}

/* the symbols in front of the header are for this station */
static noinline_for_stack void pw_rx_symbols(struct pw_station *st, const struct sk_buff *skb)
{
	struct pw_eep_hop hop;

	if (pw_eep_consume_symbols(skb->data, skb_headlen(skb), skb->len, &hop) || !hop.trace)
		return;
	pw_count(st, PW_STAT_TRACED);
	trace_pw_symbol(st->dev->name, st->addr, skb);
}

static int pw_rx_check(struct pw_station *st, struct sk_buff *skb, struct pw_eep_view *v, u16 *te)
{
	int why;

	if (v->data_len > READ_ONCE(st->dev->mtu) &&
	    !(skb_is_gso(skb) && skb_gso_validate_network_len(skb, READ_ONCE(st->dev->mtu)))) {
		*te = PW_TE_ERR_TOOBIG;
		return PW_DROP_RX_TOO_BIG;
	}
	if (unlikely(v->oh_mask | v->ot_mask)) {
		if (pw_eep_unknown_mandatory(v)) {
			*te = PW_TE_ERR_BADOPT;
			return PW_DROP_UNK_OPTION;
		}
		why = pw_rx_crc(st, skb, v);
		if (why != PW_OK)
			return why;
	}
	why = pw_rx_order(st, skb, v);
	if (why == PW_OK && v->ei)
		pw_count(st, PW_STAT_RX_EI);
	return why;
}

/*
 * IP leaves its header, padding and TAIL behind. There is no GRO: it takes
 * hard_header_len bytes for the link header that the packets of a flow share,
 * and ours makes room for TAIL as well.
 */
static int pw_rx_ip(struct pw_station *st, struct sk_buff *skb, const struct pw_eep_view *v,
		    struct pw_up *up)
{
	u8 first;

	if (!v->data_len || !pskb_may_pull(skb, v->db_off + 1))
		return PW_DROP_BAD_PAYLOAD;
	first = skb->data[v->db_off];
	if (v->te == ETH_P_ARP)
		skb->protocol = htons(ETH_P_ARP);
	else if (v->te == 0 && first >> 4 == 4)
		skb->protocol = htons(ETH_P_IP);
	else if (v->te == 0 && first >> 4 == 6)
		skb->protocol = htons(ETH_P_IPV6);
	else
		return PW_DROP_BAD_PAYLOAD;
	if (pskb_trim(skb, v->db_off + v->data_len))
		return PW_DROP_RX_NOMEM;

	__skb_pull(skb, v->hdr_off);
	skb_reset_mac_header(skb);
	__skb_pull(skb, v->db_off - v->hdr_off);
	skb_reset_network_header(skb);
	skb_reset_mac_len(skb);
	pw_count(st, PW_STAT_RX_IP);
	pw_up_add(up, skb);
	return PW_OK;
}

/* echo: the same message back, from us, as a reply */
static void pw_echo_reply(struct pw_station *st, struct sk_buff *skb, const struct pw_eep_view *v)
{
	pw_count(st, PW_STAT_ECHO_REQUEST);
	if (!__ratelimit(&st->echo_limit)) {
		pw_count(st, PW_STAT_ECHO_LIMITED);
		consume_skb(skb);
		return;
	}
	skb = skb_unshare(skb, GFP_ATOMIC);
	if (!skb) {
		pw_count(st, (enum pw_stat)PW_DROP_RX_NOMEM);
		return;
	}
	if (pw_skb_echo_turn(skb, v, st->addr)) {
		pw_drop(st, skb, PW_DROP_RX_NOMEM);
		return;
	}
	if (pw_send_own(st, skb))
		pw_count(st, PW_STAT_ECHO_REPLY);
}

/* Is it an echo request, which the kernel answers? */
static bool pw_rx_is_echo(const struct sk_buff *skb, const struct pw_eep_view *v)
{
	return v->pt == PW_PT_ECHO && v->te == PW_TE_ECHO_REQUEST &&
	       skb->pkt_type == PACKET_HOST && pw_addr_kind(v->sa) == PW_ADDR_KIND_PHYS;
}

static void pw_rx_message(struct pw_station *st, struct sk_buff *skb, const struct pw_eep_view *v,
			  struct pw_up *up)
{
	struct sk_buff *copy;

	pw_skb_strip(skb, v);
	if (v->pt == PW_PT_ERR) {
		pw_count(st, PW_STAT_ERR_RECEIVED);
		if (v->te == PW_TE_ERR_TOOBIG && skb->pkt_type == PACKET_HOST &&
		    pskb_may_pull(skb, skb->len))
			pw_pmtu_learn(st, skb->data + v->db_off - v->hdr_off, v);
	} else if (v->pt == PW_PT_RRP && v->te == PW_TE_WRU) {
		pw_rrp_station_wru(st, v);
	}
	if (!pw_rx_is_echo(skb, v)) {
		pw_up_add(up, skb);
		return;
	}
	/* captures get it, too */
	if (dev_nit_active(st->dev)) {
		copy = skb_clone(skb, GFP_ATOMIC);
		if (copy)
			pw_up_add(up, copy);
	}
	pw_echo_reply(st, skb, v);
}

/*
 * When it arrived, in virtual time, for packet sockets that ask for it. The place
 * for it is shared with clones: the sender's TCP keeps one, and so do the other
 * receivers of a group message.
 */
static int pw_rx_stamp(struct sk_buff *skb)
{
	u64 stamp = pw_cb(skb)->stamp;

	if (!stamp)
		return PW_OK;
	if (skb_unclone(skb, GFP_ATOMIC))
		return PW_DROP_RX_NOMEM;
	skb_hwtstamps(skb)->hwtstamp = ns_to_ktime(stamp);
	return PW_OK;
}

static __always_inline void pw_rx_one(struct pw_station *st, struct sk_buff *skb, struct pw_up *up)
{
	bool group = pw_cb(skb)->dst_port == PW_PORT_GROUP;
	struct net_device *dev = st->dev;
	struct pw_eep_view v PW_UNINIT;	/* pw_rx_parse() fills it */
	unsigned int len = skb->len;
	u16 te = 0;
	int why;

	skb_orphan(skb);
	skb_scrub_packet(skb, dev_net(dev) != pw_cb(skb)->net);
	skb->dev = dev;
	if (!(pw_cb(skb)->flags & PW_CB_WHOLE))
		skb->ip_summed = CHECKSUM_NONE;
	why = pw_rx_stamp(skb);
	if (unlikely(why != PW_OK))
		goto drop;

	why = pw_rx_parse(skb, &v, &te);
	if (why == PW_OK)
		why = pw_rx_accept(st, skb, &v);
	if (why == PW_OK)
		why = pw_rx_check(st, skb, &v, &te);
	if (unlikely(why != PW_OK))
		goto drop;

	if (unlikely(v.nsym))
		pw_rx_symbols(st, skb);
	skb->priority = pw_eep_prio_from_p(v.p);
	if (v.pt == PW_PT_IP)
		why = pw_rx_ip(st, skb, &v, up);
	else if (v.pt == PW_PT_ESP && skb->pkt_type != PACKET_OTHERHOST)
		why = pw_esp_rx(st, skb, &v, up);
	else if (v.pt == PW_PT_POETS && skb->pkt_type != PACKET_OTHERHOST)
		why = pw_poets_rx(st, skb, &v, up);
	else
		pw_rx_message(st, skb, &v, up);
	if (unlikely(why != PW_OK))
		goto drop;
	/* PW_STAT_RX_EEP, too */
	dev_sw_netstats_rx_add(dev, len);
	return;

drop:
	/* a group message has many receivers, which must not all answer */
	if (te && !group)
		pw_send_err(st, skb, te);
	pw_drop(st, skb, why);
}

/* frames for the stack; BH off */
static void pw_rx_up(struct pw_up *up)
{
	if (!up->first)
		return;
	/* a list costs more than its frame where receivers keep up */
	if (likely(list_empty(&up->more))) {
		netif_receive_skb(up->first);
	} else {
		list_add(&up->first->list, &up->more);
		netif_receive_skb_list(&up->more);
	}
}

int pw_poll(struct napi_struct *napi, int budget)
{
	struct pw_station *st = container_of(napi, struct pw_station, end.napi);
	struct sk_buff *frames, *skb;
	int work, sent = 0;
	struct pw_up up PW_UNINIT;

	pw_kcov_section();

	/* netpoll: only transmissions may be completed, and there is nothing to complete */
	if (unlikely(!budget))
		return 0;
	if (unlikely(READ_ONCE(st->end.full)))
		sent = pw_tx_waiting(st, budget);
	up.first = NULL;
	INIT_LIST_HEAD(&up.more);
	frames = pw_end_take(&st->end, budget, &work);
	rcu_read_lock();
	while ((skb = pw_end_next(&frames))) {
		pw_port_done(st->san, skb);
		if (unlikely(pw_cb(skb)->flags & PW_CB_RETURNED)) {
			pw_send_err(st, skb, PW_TE_ERR_UNK);
			pw_drop(st, skb, PW_DROP_UNKNOWN_DST);
			continue;
		}
		pw_mon_record(st->san, PACKETWAY_MON_STATION, st->port, PACKETWAY_MON_IN, skb,
			      pw_cb(skb)->stamp);
		pw_rx_one(st, skb, &up);
	}
	rcu_read_unlock();
	pw_rx_up(&up);

	work = max(work, sent);
	if (work < budget)
		napi_complete_done(napi, work);
	return work;
}
