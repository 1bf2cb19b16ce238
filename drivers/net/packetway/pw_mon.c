// SPDX-License-Identifier: GPL-2.0
/* Monitor devices: what goes on in a SAN, for tcpdump; see pw_mon.h. */
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <net/rtnetlink.h>

#include "pw_mon.h"
#include "pw_priv.h"

DEFINE_STATIC_KEY_FALSE(pw_mon_key);

struct pw_mon {
	struct net_device *dev;
	struct list_head entry;	/* pw_net.mons while the device is up */
	bool ring;		/* READ_ONCE; written under RTNL */
	bool cells;
};

static struct list_head *pw_mons(const struct net *net)
{
	return &pw_net(net)->mons;
}

void pw_mon_net_init(struct net *net)
{
	INIT_LIST_HEAD(pw_mons(net));
}

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

/* does a monitor of this kind have a listener? RCU held */
static bool pw_mon_any(const struct net *net, u8 kind)
{
	struct pw_mon *mon;

	list_for_each_entry_rcu(mon, pw_mons(net), entry)
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

static struct sk_buff *pw_mon_alloc(const struct pw_san *san, u8 kind, u32 unit, u8 direction,
				    u64 vtime, u32 len)
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
	h->reserved = 0;
	h->san = cpu_to_be32(san->id);
	h->unit = cpu_to_be32(unit);
	h->vtime_high = cpu_to_be32(upper_32_bits(vtime));
	h->vtime_low = cpu_to_be32(lower_32_bits(vtime));
	skb->protocol = htons(ETH_P_PACKETWAY_MON);
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	return skb;
}

/* to the packet sockets of every monitor that wants it; consumes @skb, NULL: lost */
static void pw_mon_give(const struct net *net, u8 kind, struct sk_buff *skb)
{
	struct net_device *dev;
	struct pw_mon *mon;

	list_for_each_entry_rcu(mon, pw_mons(net), entry) {
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

/**
 * pw_mon_bytes - a ring packet or a cell was seen
 * @san: the SAN
 * @kind: PACKETWAY_MON_RING or PACKETWAY_MON_CELL
 * @unit: where, PACKETWAY_MON_UNIT()
 * @direction: enum packetway_mon_direction
 * @vtime: when, in the model's own unit
 * @bytes: what
 * @len: how much
 */
void pw_mon_bytes(const struct pw_san *san, u8 kind, u32 unit, u8 direction, u64 vtime,
		  const u8 *bytes, u32 len)
{
	struct sk_buff *skb;

	rcu_read_lock();
	if (pw_mon_any(san->net, kind)) {
		skb = pw_mon_alloc(san, kind, unit, direction, vtime, len);
		if (skb)
			skb_put_data(skb, bytes, len);
		pw_mon_give(san->net, kind, skb);
	}
	rcu_read_unlock();
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
		skb = pw_mon_alloc(san, PACKETWAY_MON_EEP, unit, direction, ns, frame->len);
		if (skb && skb_copy_bits(frame, 0, skb_put(skb, frame->len), frame->len)) {
			kfree_skb(skb);
			skb = NULL;
		}
		pw_mon_give(san->net, PACKETWAY_MON_EEP, skb);
	}
	rcu_read_unlock();
}

/* rings of a namespace make bytes if and only if a monitor takes them; RTNL */
static void pw_mon_sync(struct net *net, const struct pw_san *only)
{
	struct pw_san *san;
	struct pw_mon *mon;
	unsigned long id;
	bool ring = false;

	ASSERT_RTNL();
	list_for_each_entry(mon, pw_mons(net), entry)
		ring |= mon->ring;
	for (id = 0; (san = pw_san_next(net, &id)); id++)
		if (!only || only == san)
			pw_aton_tap(san->aton, ring);
}

/* a SAN has been made, perhaps in sight of a monitor; RTNL */
void pw_mon_san_init(struct pw_san *san)
{
	pw_mon_sync(san->net, san);
}

static int pw_mon_open(struct net_device *dev)
{
	struct pw_mon *mon = netdev_priv(dev);
	int err = pw_limit_charge(dev_net(dev), PW_LIMIT_MONITORS, 1, NULL);

	if (err)
		return err;
	/* every frame and cell looks at all of them, with BH off, hence the limit */
	list_add_tail_rcu(&mon->entry, pw_mons(dev_net(dev)));
	static_branch_inc(&pw_mon_key);
	pw_mon_sync(dev_net(dev), NULL);
	return 0;
}

static int pw_mon_stop(struct net_device *dev)
{
	struct pw_mon *mon = netdev_priv(dev);

	list_del_rcu(&mon->entry);
	static_branch_dec(&pw_mon_key);
	pw_limit_uncharge(dev_net(dev), PW_LIMIT_MONITORS, 1);
	pw_mon_sync(dev_net(dev), NULL);
	/* it may come up again at once, on the same list */
	synchronize_net();
	return 0;
}

/* nothing is sent through a monitor */
static netdev_tx_t pw_mon_xmit(struct sk_buff *skb, struct net_device *dev)
{
	DEV_STATS_INC(dev, tx_dropped);
	kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops pw_mon_netdev_ops = {
	.ndo_open = pw_mon_open,
	.ndo_stop = pw_mon_stop,
	.ndo_start_xmit = pw_mon_xmit,
};

bool pw_mon_is(const struct net_device *dev)
{
	return dev->netdev_ops == &pw_mon_netdev_ops;
}

static void pw_mon_setup(struct net_device *dev)
{
	dev->netdev_ops = &pw_mon_netdev_ops;
	dev->needs_free_netdev = true;
	/* libpcap captures cooked, as at a station */
	dev->type = ARPHRD_PACKETWAY;
	dev->flags = IFF_NOARP;
	dev->priv_flags |= IFF_NO_QUEUE;
	dev->features = NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HIGHDMA;
	dev->mtu = PACKETWAY_MTU_MAX;
	dev->min_mtu = 0;
	dev->max_mtu = 0;
}

static const struct nla_policy pw_mon_policy[IFLA_PWMON_MAX + 1] = {
	[IFLA_PWMON_RING] = NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_PWMON_CELLS] = NLA_POLICY_MAX(NLA_U8, 1),
};

static void pw_mon_set(struct pw_mon *mon, struct nlattr *data[])
{
	if (data && data[IFLA_PWMON_RING])
		WRITE_ONCE(mon->ring, nla_get_u8(data[IFLA_PWMON_RING]));
	if (data && data[IFLA_PWMON_CELLS])
		WRITE_ONCE(mon->cells, nla_get_u8(data[IFLA_PWMON_CELLS]));
}

static int pw_mon_newlink(struct net_device *dev, struct rtnl_newlink_params *params,
			  struct netlink_ext_ack *extack)
{
	struct pw_mon *mon = netdev_priv(dev);

	mon->dev = dev;
	pw_mon_set(mon, params->data);
	return register_netdevice(dev);
}

PW_NEWLINK(pw_mon_newlink)

static int pw_mon_changelink(struct net_device *dev, struct nlattr *tb[], struct nlattr *data[],
			     struct netlink_ext_ack *extack)
{
	pw_mon_set(netdev_priv(dev), data);
	pw_mon_sync(dev_net(dev), NULL);
	return 0;
}

static void pw_mon_dellink(struct net_device *dev, struct list_head *head)
{
	unregister_netdevice_queue(dev, head);
}

static size_t pw_mon_get_size(const struct net_device *dev)
{
	return nla_total_size(sizeof(u8)) +	/* IFLA_PWMON_RING */
	       nla_total_size(sizeof(u8));	/* IFLA_PWMON_CELLS */
}

static int pw_mon_fill_info(struct sk_buff *skb, const struct net_device *dev)
{
	const struct pw_mon *mon = netdev_priv(dev);

	if (nla_put_u8(skb, IFLA_PWMON_RING, READ_ONCE(mon->ring)) ||
	    nla_put_u8(skb, IFLA_PWMON_CELLS, READ_ONCE(mon->cells)))
		return -EMSGSIZE;
	return 0;
}

struct rtnl_link_ops pw_mon_link_ops __read_mostly = {
	.kind = PACKETWAY_MON_KIND,
	.priv_size = sizeof(struct pw_mon),
	.setup = pw_mon_setup,
	.maxtype = IFLA_PWMON_MAX,
	.policy = pw_mon_policy,
	.newlink = pw_mon_newlink_op,
	.changelink = pw_mon_changelink,
	.dellink = pw_mon_dellink,
	.get_size = pw_mon_get_size,
	.fill_info = pw_mon_fill_info,
};
