// SPDX-License-Identifier: GPL-2.0
/* pwmon devices: what goes on in a SAN, for tcpdump; see pw_mon.h. */
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <net/rtnetlink.h>

#include "pw_mon.h"

/* rings of a namespace make bytes if and only if a pwmon device takes them; RTNL */
static void pw_mon_sync(struct net *net)
{
	bool ring = pw_mon_wants_ring(net);
	struct pw_san *san;
	unsigned long id;

	for (id = 0; (san = pw_san_next(net, &id)); id++)
		pw_aton_tap(san->aton, ring);
}

static int pw_mon_open(struct net_device *dev)
{
	struct pw_mon *mon = netdev_priv(dev);
	int err = pw_limit_charge(dev_net(dev), PW_LIMIT_MONITORS, 1, NULL);

	if (err)
		return err;
	/* every frame and cell looks at all of them, with BH off, hence the limit */
	list_add_tail_rcu(&mon->entry, &pw_net(dev_net(dev))->mons);
	static_branch_inc(&pw_mon_key.key);
	pw_mon_sync(dev_net(dev));
	return 0;
}

static int pw_mon_stop(struct net_device *dev)
{
	struct pw_mon *mon = netdev_priv(dev);

	list_del_rcu(&mon->entry);
	static_branch_slow_dec_deferred(&pw_mon_key);
	pw_limit_uncharge(dev_net(dev), PW_LIMIT_MONITORS, 1);
	pw_mon_sync(dev_net(dev));
	/* it may come up again at once, on the same list */
	synchronize_net();
	return 0;
}

/* nothing is sent through a pwmon device */
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
	pw_mon_sync(dev_net(dev));
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

/* all devices of this kind are gone; the key may still wait to be switched off */
void pw_mon_exit(void)
{
	static_key_deferred_flush(&pw_mon_key);
}
