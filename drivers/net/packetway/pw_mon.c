// SPDX-License-Identifier: GPL-2.0
/* Records of what goes on in a SAN, for the pwmon devices of pw_mon_dev.c; see pw_mon.h. */
#include <linux/rtnetlink.h>

#include "pw_mon.h"
#include "pw_priv.h"

/* a change of the key patches code and interrupts every CPU: it stays on for ten seconds */
DEFINE_STATIC_KEY_DEFERRED_FALSE(pw_mon_key, 10 * HZ);

static bool pw_mon_wants(const struct pw_mon *mon, u8 kind)
{
	switch (kind) {
	case PACKETWAY_MON_RING:
		return READ_ONCE(mon->ring);
	case PACKETWAY_MON_CELL:
		return READ_ONCE(mon->cells);
	default:
		return true;
	}
}

/* does a pwmon device that takes this kind have a packet socket? RCU held */
static bool pw_mon_any(const struct net *net, u8 kind)
{
	struct pw_mon *mon;

	list_for_each_entry_rcu(mon, &pw_net(net)->mons, entry)
		if (pw_mon_wants(mon, kind) && dev_nit_active(mon->dev))
			return true;
	return false;
}

bool pw_mon_wants_cells(const struct pw_san *san)
{
	bool any;

	rcu_read_lock();
	any = pw_mon_any(san->net, PACKETWAY_MON_CELL);
	rcu_read_unlock();
	return any;
}

/* does a pwmon device of this namespace take ring packets? RTNL */
bool pw_mon_wants_ring(const struct net *net)
{
	const struct pw_mon *mon;
	bool ring = false;

	ASSERT_RTNL();
	list_for_each_entry(mon, &pw_net(net)->mons, entry)
		ring |= mon->ring;
	return ring;
}

static struct sk_buff *pw_mon_alloc(const struct pw_san *san, u8 kind, u8 width, u32 unit,
				    u8 direction, u64 vtime, u32 len)
{
	struct packetway_mon_hdr *h;
	struct sk_buff *skb;

	skb = alloc_skb(sizeof(*h) + len, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	h = skb_put(skb, sizeof(*h));
	h->version = PACKETWAY_MON_VERSION;
	h->kind = kind;
	h->direction = direction;
	h->width = width;
	h->san = cpu_to_be32(san->id);
	h->unit = cpu_to_be32(unit);
	h->vtime_high = cpu_to_be32(upper_32_bits(vtime));
	h->vtime_low = cpu_to_be32(lower_32_bits(vtime));
	skb->protocol = htons(ETH_P_PACKETWAY_MON);
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	return skb;
}

/* to the packet sockets of every pwmon device that takes it; consumes @skb, NULL: lost */
static void pw_mon_give(const struct net *net, u8 kind, struct sk_buff *skb)
{
	struct net_device *dev;
	struct pw_mon *mon;

	list_for_each_entry_rcu(mon, &pw_net(net)->mons, entry) {
		dev = mon->dev;
		if (!pw_mon_wants(mon, kind) || !dev_nit_active(dev))
			continue;
		if (!skb) {
			DEV_STATS_INC(dev, rx_dropped);
			continue;
		}
		skb->dev = dev;
		DEV_STATS_INC(dev, rx_packets);
		DEV_STATS_ADD(dev, rx_bytes, skb->len);
		dev_queue_xmit_nit(skb, dev);
	}
	consume_skb(skb);
}

static void pw_mon_record_bytes(const struct pw_san *san, u8 kind, u8 width, u32 unit,
				u8 direction, u64 vtime, const u8 *bytes, u32 len)
{
	struct sk_buff *skb;

	rcu_read_lock();
	if (pw_mon_any(san->net, kind)) {
		skb = pw_mon_alloc(san, kind, width, unit, direction, vtime, len);
		if (skb)
			skb_put_data(skb, bytes, len);
		pw_mon_give(san->net, kind, skb);
	}
	rcu_read_unlock();
}

/**
 * pw_mon_bytes - a cell was seen
 * @san: the SAN
 * @kind: PACKETWAY_MON_CELL
 * @unit: where, PACKETWAY_MON_UNIT()
 * @direction: enum packetway_mon_direction
 * @vtime: when, in the model's own unit
 * @bytes: what
 * @len: how much
 */
void pw_mon_bytes(const struct pw_san *san, u8 kind, u32 unit, u8 direction, u64 vtime,
		  const u8 *bytes, u32 len)
{
	pw_mon_record_bytes(san, kind, 0, unit, direction, vtime, bytes, len);
}

/**
 * pw_mon_ring - a ring packet was seen
 * @san: the SAN
 * @width: bits of an operand
 * @interface: the interface that sent it
 * @vtime: when, in bit times
 * @bytes: what
 * @len: how much
 */
void pw_mon_ring(const struct pw_san *san, u32 width, u32 interface, u64 vtime, const u8 *bytes,
		 u32 len)
{
	pw_mon_record_bytes(san, PACKETWAY_MON_RING, width % PW_ATON_WIDTH,
			    PACKETWAY_MON_UNIT(PACKETWAY_MON_INTERFACE, interface),
			    PACKETWAY_MON_OUT, vtime, bytes, len);
}

/**
 * __pw_mon_frame - a frame was seen
 * @san: the SAN
 * @unit: where
 * @direction: enum packetway_mon_direction
 * @frame: the frame, at its first prefix or header
 * @ns: when, in virtual time
 */
void __pw_mon_frame(struct pw_san *san, u32 unit, u8 direction, const struct sk_buff *frame, u64 ns)
{
	struct sk_buff *skb;

	rcu_read_lock();
	if (pw_mon_any(san->net, PACKETWAY_MON_EEP)) {
		skb = pw_mon_alloc(san, PACKETWAY_MON_EEP, 0, unit, direction, ns, frame->len);
		if (skb && skb_copy_bits(frame, 0, skb_put(skb, frame->len), frame->len)) {
			kfree_skb(skb);
			skb = NULL;
		}
		pw_mon_give(san->net, PACKETWAY_MON_EEP, skb);
	}
	rcu_read_unlock();
}

