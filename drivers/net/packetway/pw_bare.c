// SPDX-License-Identifier: GPL-2.0
/*
 * Bare EEP: a trunk without a trunk header. The other side of the half-router is what
 * sends EEP messages in Ethernet frames of type 0x88B5, be it a program or another
 * implementation.
 *
 *   pw_half_to_peer -> pw_bare_send -> dev_queue_xmit
 *   device -> pw_bare_rcv: length, version, for us? -> pw_half_queue_peer
 *
 * There is no hello, no session and no key. If the administrator has named a peer, RRP
 * messages with its source address count as those of a half-router, as on any trunk
 * without a key; the link says nothing about who sent them.
 *
 * A frame goes to the station that last sent a message with the same address as source;
 * if there is none, to all. A frame that was sent to all is taken only if its destination
 * is behind this half-router: others on the link have their own.
 */
#include <linux/etherdevice.h>
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/slab.h>

#include "pw_trunk.h"

/* One u64 of a station: its address of 48 bits, then the upper 16 bits of its EEP address */
static u64 *pw_bare_slot(struct pw_trunk *t, u32 addr)
{
	return &t->stations[addr % PW_BARE_STATIONS];
}

static void pw_bare_learn(struct pw_trunk *t, u32 addr, const u8 *mac)
{
	u64 *slot = pw_bare_slot(t, addr);
	u64 v = ether_addr_to_u64(mac) << 16 | addr / PW_BARE_STATIONS;

	BUILD_BUG_ON(PW_ADDR_PHYS_MAX / PW_BARE_STATIONS > U16_MAX);
	if (pw_addr_kind(addr) != PW_ADDR_KIND_PHYS || pw_san_port_of(t->half->san, addr) >= 0 ||
	    !is_valid_ether_addr(mac))
		return;
	if (READ_ONCE(*slot) != v)
		WRITE_ONCE(*slot, v);
}

/* the station that has @addr, else all */
static void pw_bare_find(struct pw_trunk *t, u32 addr, u8 mac[ETH_ALEN])
{
	u64 v = READ_ONCE(*pw_bare_slot(t, addr));

	if (addr && v && (v & U16_MAX) == addr / PW_BARE_STATIONS)
		u64_to_ether_addr(v >> 16, mac);
	else
		eth_broadcast_addr(mac);
}

/**
 * pw_bare_up - can frames be sent over the device?
 * @t: trunk that is bare
 */
bool pw_bare_up(const struct pw_trunk *t)
{
	return netif_running(t->dev) && netif_carrier_ok(t->dev);
}

/* where a frame goes that starts with these bytes; 0: with an L2RH or a symbol */
static u32 pw_bare_dt(const u8 *head)
{
	switch (pw_eep_first(head)) {
	case PW_EEP_PHYS:
	case PW_EEP_LOGICAL:
		return get_unaligned_be24(head + PW_EEP_OFF_DT);
	default:
		return PW_ADDR_UNDEF;
	}
}

/**
 * pw_bare_send - a frame goes out as it is
 * @t: trunk that is bare
 * @skb: the frame, consumed; BH off, RCU held
 */
void pw_bare_send(struct pw_trunk *t, struct sk_buff *skb)
{
	u32 mtu = READ_ONCE(t->dev->mtu), room = LL_RESERVED_SPACE(t->dev);
	struct sk_buff *out = NULL;
	u8 mac[ETH_ALEN];
	int err;
	u32 dt;

	/* the MTU does not count prefixes and options */
	if (skb->len > mtu) {
		pw_half_drop(t->half, skb, PW_HALF_DROP_TOOBIG, PW_TE_ERR_TOOBIG);
		return;
	}
	/* the work item may not have seen yet that the link is up */
	if (READ_ONCE(t->live) && pw_bare_up(t) && skb->len >= PW_EEP_MIN_LEN)
		out = alloc_skb(room + skb->len + t->dev->needed_tailroom,
				GFP_ATOMIC | __GFP_NOWARN);
	if (!out)
		goto drop;
	skb_reserve(out, room);
	if (skb_copy_bits(skb, 0, skb_put(out, skb->len), skb->len))
		goto drop;
	dt = pw_bare_dt(out->data);
	/* what the half-router says to a peer that it has not */
	if (!dt && pw_eep_first(out->data) == PW_EEP_PHYS)
		goto drop;
	/* the next L2RH is for the peer */
	pw_bare_find(t, dt ? dt : t->conf.peer, mac);
	out->dev = t->dev;
	out->protocol = htons(ETH_P_PACKETWAY);
	skb_reset_network_header(out);
	if (dev_hard_header(out, t->dev, ETH_P_PACKETWAY, mac, t->dev->dev_addr, out->len) < 0)
		goto drop;
	consume_skb(skb);
	err = dev_queue_xmit(out);
	pw_trunk_count(t, net_xmit_eval(err) ? PW_TRUNK_DROP_TX : PW_TRUNK_TX);
	return;

drop:
	pw_trunk_count(t, PW_TRUNK_DROP_TX);
	kfree_skb(out);
	kfree_skb(skb);
}

/* Ethernet fills short frames up: find where the message ends */
static void pw_bare_trim(struct sk_buff *skb)
{
	struct pw_eep_view v;
	u32 len;

	if (skb->len > ETH_ZLEN - ETH_HLEN || !pw_eep_parse(skb->data, skb->len, &v))
		return;
	for (len = PW_EEP_MIN_LEN; len < skb->len; len += 8) {
		if (!pw_eep_parse(skb->data, len, &v)) {
			__skb_trim(skb, len);
			return;
		}
	}
}

/* Is the destination of a frame that was sent to all behind this half-router? */
static bool pw_bare_ours(const struct pw_half *h, u32 dt)
{
	int port;

	if (pw_addr_kind(dt) != PW_ADDR_KIND_PHYS)
		return dt != PW_ADDR_UNDEF;
	if (pw_san_port_of(h->san, dt) >= 0)
		return true;
	port = pw_fib_lookup(h->san, dt);
	return port >= 0 && port != (int)h->port;
}

/* a frame in one piece; consumed */
static void pw_bare_take(struct pw_trunk *t, struct sk_buff *skb, const u8 *mac, bool to_all)
{
	u32 dt, sa = PW_ADDR_UNDEF, need;
	u8 flags = 0, prio = 0;
	int off;

	pw_bare_trim(skb);
	if (skb->len < PW_EEP_MIN_LEN) {
		pw_trunk_count(t, PW_TRUNK_DROP_MALFORMED);
		goto drop;
	}
	/* also packets of trunks: they begin with version 1 */
	if (skb->data[PW_EEP_OFF_VP] & ~PW_EEP_P_MASK) {
		pw_trunk_count(t, PW_TRUNK_DROP_VERSION);
		goto drop;
	}
	dt = pw_bare_dt(skb->data);
	if (to_all && !pw_bare_ours(t->half, dt)) {
		pw_trunk_count(t, PW_TRUNK_DROP_PEER);
		goto drop;
	}
	/* the half-router answers a frame without a header */
	off = pw_eep_find_header(skb->data, skb->len, skb->len, 0, &need);
	if (off >= 0) {
		prio = skb->data[off + PW_EEP_OFF_VP] & PW_EEP_P_MASK;
		sa = get_unaligned_be24(skb->data + off + PW_EEP_OFF_SA);
		pw_bare_learn(t, sa, mac);
	}
	if (!off && t->conf.peer && sa == t->conf.peer)
		flags = PW_CB_HALF;
	*pw_cb(skb) = (struct pw_skb_cb) { .path = -1, .prio = prio, .flags = flags };
	skb->protocol = htons(ETH_P_PACKETWAY);
	pw_trunk_count(t, PW_TRUNK_RX);
	pw_half_queue_peer(t->half, skb);
	return;

drop:
	kfree_skb(skb);
}

/**
 * pw_bare_rcv - a frame of our type at the device
 * @skb: the frame, consumed
 * @dev: the device
 * @pt: of the trunk
 * @orig_dev: not used
 *
 * Return: NET_RX_SUCCESS or NET_RX_DROP.
 */
int pw_bare_rcv(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt,
		struct net_device *orig_dev)
{
	struct pw_trunk *t = container_of(pt, struct pw_trunk, pt);
	struct sk_buff *frame;

	pw_kcov_section();

	if (!READ_ONCE(t->live) || skb_vlan_tag_present(skb) ||
	    (skb->pkt_type != PACKET_HOST && skb->pkt_type != PACKET_BROADCAST))
		goto drop;
	if (skb->len > PW_TRUNK_FRAME_MAX) {
		pw_trunk_count(t, PW_TRUNK_DROP_MALFORMED);
		goto drop;
	}
	/* a copy: taps of the device may share the frame */
	frame = alloc_skb(64 + skb->len, GFP_ATOMIC | __GFP_NOWARN);
	if (!frame)
		goto drop;
	skb_reserve(frame, 64);
	if (skb_copy_bits(skb, 0, skb_put(frame, skb->len), skb->len)) {
		kfree_skb(frame);
		goto drop;
	}
	pw_bare_take(t, frame, eth_hdr(skb)->h_source, skb->pkt_type == PACKET_BROADCAST);
	consume_skb(skb);
	return NET_RX_SUCCESS;

drop:
	kfree_skb(skb);
	return NET_RX_DROP;
}
