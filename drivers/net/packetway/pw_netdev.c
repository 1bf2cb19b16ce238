// SPDX-License-Identifier: GPL-2.0
/* The station as a netdevice: its identity, its header, its life. */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "pw_priv.h"
#include "pw_router.h"

static void pw_dev_drop(struct pw_end *e, struct sk_buff *skb, enum pw_drop why)
{
	pw_drop(container_of(e, struct pw_station, end), skb, why);
}

static const struct pw_end_ops pw_dev_end_ops = {
	.drop = pw_dev_drop,
	.room = pw_tx_room,
	.let_go = pw_tx_let_go,
	.hears = pw_rx_hears,
};

static int pw_dev_init(struct net_device *dev)
{
	struct pw_station *st = netdev_priv(dev);
	int err;

	err = pw_end_init(&st->end, &pw_dev_end_ops, dev);
	if (err)
		return err;
	st->stats = kzalloc(sizeof(*st->stats), PW_GFP);
	err = st->stats ? pw_aton_station_add(st) : -ENOMEM;
	if (err) {
		kfree(st->stats);
		pw_rxq_free(&st->end.rxq);
		return err;
	}

	INIT_LIST_HEAD(&st->files);
	skb_queue_head_init(&st->waiting);
	/* per station and second; bursts of one poll are answered in full */
	ratelimit_state_init(&st->err_limit, HZ, 100);
	ratelimit_state_init(&st->echo_limit, HZ, 10000);
	ratelimit_state_init(&st->pmtu_limit, HZ, 100);
	ratelimit_set_flags(&st->err_limit, RATELIMIT_MSG_ON_RELEASE);
	ratelimit_set_flags(&st->pmtu_limit, RATELIMIT_MSG_ON_RELEASE);
	ratelimit_set_flags(&st->echo_limit, RATELIMIT_MSG_ON_RELEASE);
	pw_esp_node_init(&st->esp, st->san, st->addr, false);
	netif_napi_add(dev, &st->end.napi, pw_poll);
	netdev_lockdep_set_classes(dev);

	dev->max_mtu = READ_ONCE(st->san->mtu);
	st->attached = true;
	rcu_assign_pointer(st->san->port[st->port].end, &st->end);
	return 0;
}

static void pw_dev_uninit(struct net_device *dev)
{
	struct pw_station *st = netdev_priv(dev);

	RCU_INIT_POINTER(st->san->port[st->port].end, NULL);
	pw_file_station_gone(st);
	pw_poets_station_gone(st);
	/*
	 * Unregistering waits for a grace period between this and the end of the memory,
	 * once for all devices that go together. A registration that fails does not.
	 * The NAPI is disabled. Deleted here, it needs no grace period of its own.
	 */
	__netif_napi_del(&st->end.napi);
	if (dev->reg_state != NETREG_UNREGISTERING)
		synchronize_net();
	pw_aton_station_remove(st);
	pw_limit_uncharge(st->san->net, PW_LIMIT_STATIONS, 1);
	pw_san_put(st->san);
}

static void pw_dev_free(struct net_device *dev)
{
	struct pw_station *st = netdev_priv(dev);

	kfree(rcu_dereference_protected(st->groups, true));
	pw_pmtu_free(st);
	pw_source_free_all(st);
	kfree(st->stats);
	pw_rxq_free(&st->end.rxq);
}

static int pw_open(struct net_device *dev)
{
	struct pw_station *st = netdev_priv(dev);
	int err;

	err = pw_esp_node_up(&st->esp, dev_net(dev));
	if (err)
		return err;
	napi_enable(&st->end.napi);
	pw_end_open(&st->end);
	pw_tx_open(st);
	netif_carrier_on(dev);
	pw_aton_station_up(st, true);
	/* frames may travel on the ring: its interface comes first */
	pw_engine_port_up(st->san, st->port, true);
	pw_rrp_register(st);
	return 0;
}

static int pw_stop(struct net_device *dev)
{
	struct pw_station *st = netdev_priv(dev);

	pw_aton_station_up(st, false);
	pw_engine_port_up(st->san, st->port, false);
	pw_rrp_unregister(st);
	netif_carrier_off(dev);
	pw_end_close(&st->end, st->san);
	napi_disable(&st->end.napi);
	pw_tx_close(st);
	pw_esp_node_down(&st->esp);
	return 0;
}

static int pw_cmp_addr(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/*
 * The device multicast list in a form that the receive side can search without
 * the address lock. Without memory for it the old list stays, and the next
 * change tries again. This runs with BH off: a list beyond PW_GROUPS_MAX is not
 * sorted, the station then receives every group.
 */
static void pw_set_rx_mode(struct net_device *dev)
{
	struct pw_station *st = netdev_priv(dev);
	struct pw_groups *new = NULL, *old;
	struct netdev_hw_addr *ha;
	int count = netdev_mc_count(dev);

	if (count > PW_GROUPS_MAX) {
		old = rcu_dereference_protected(st->groups,
						lockdep_is_held(&dev->addr_list_lock));
		if (old && old->all)
			return;
		new = kzalloc(sizeof(*new), GFP_ATOMIC | __GFP_ACCOUNT);
		if (!new)
			return;
		new->all = true;
	} else if (count) {
		new = kmalloc(struct_size(new, addr, count), GFP_ATOMIC | __GFP_ACCOUNT);
		if (!new)
			return;
		new->all = false;
		new->n = 0;
		netdev_for_each_mc_addr(ha, dev)
			new->addr[new->n++] = get_unaligned_be24(ha->addr);
		sort(new->addr, new->n, sizeof(new->addr[0]), pw_cmp_addr, NULL);
	}
	old = rcu_replace_pointer(st->groups, new, lockdep_is_held(&dev->addr_list_lock));
	if (old)
		kfree_rcu(old, rcu);
	pw_san_changed(st->san);
}

static noinline netdev_features_t pw_features_whole(const struct sk_buff *skb,
						    const struct net_device *dev,
						    netdev_features_t features)
{
	if (pw_tx_whole(netdev_priv(dev), skb))
		return features;
	return features & ~(NETIF_F_CSUM_MASK | NETIF_F_GSO_MASK);
}

/*
 * A raw EEP message has no network layer of its own: the message is the payload.
 * Packet sockets guess hard_header_len bytes of header; without this a cooked
 * capture at the sender would lose them.
 */
static netdev_features_t pw_features_check(struct sk_buff *skb, struct net_device *dev,
					   netdev_features_t features)
{
	if (skb->protocol == htons(ETH_P_PACKETWAY))
		skb_reset_network_header(skb);
	if (skb->ip_summed == CHECKSUM_PARTIAL || skb_is_gso(skb))
		return pw_features_whole(skb, dev, features);
	return features;
}

/*
 * SIOCGHWTSTAMP and SIOCSHWTSTAMP. Every frame that arrives carries its virtual time, whether it
 * was asked for or not. RTNL held
 */
static int pw_hwtstamp_get(struct net_device *dev, struct kernel_hwtstamp_config *c)
{
	const struct pw_station *st = netdev_priv(dev);

	c->flags = 0;
	c->tx_type = st->stamp_sent ? HWTSTAMP_TX_ON : HWTSTAMP_TX_OFF;
	c->rx_filter = st->stamp_asked ? HWTSTAMP_FILTER_ALL : HWTSTAMP_FILTER_NONE;
	return 0;
}

static int pw_hwtstamp_set(struct net_device *dev, struct kernel_hwtstamp_config *c,
			   struct netlink_ext_ack *extack)
{
	struct pw_station *st = netdev_priv(dev);

	if (c->tx_type != HWTSTAMP_TX_OFF && c->tx_type != HWTSTAMP_TX_ON) {
		NL_SET_ERR_MSG(extack, "tx_type is OFF or ON: a station changes no frame");
		return -ERANGE;
	}
	WRITE_ONCE(st->stamp_sent, c->tx_type == HWTSTAMP_TX_ON);
	st->stamp_asked = c->rx_filter != HWTSTAMP_FILTER_NONE;
	/* more than some ask for, which they may be told */
	if (st->stamp_asked)
		c->rx_filter = HWTSTAMP_FILTER_ALL;
	return 0;
}

PW_HWTSTAMP(pw_hwtstamp_get, pw_hwtstamp_set)

static const struct net_device_ops pw_netdev_ops = {
	.ndo_init = pw_dev_init,
	.ndo_uninit = pw_dev_uninit,
	.ndo_open = pw_open,
	.ndo_stop = pw_stop,
	.ndo_start_xmit = pw_xmit,
	.ndo_set_rx_mode = pw_set_rx_mode,
	.ndo_features_check = pw_features_check,
	.ndo_get_stats64 = pw_get_stats64,
	PW_HWTSTAMP_OPS(pw_hwtstamp_get, pw_hwtstamp_set),
};

/*
 * For SOCK_DGRAM and for IP the device builds the EEP header here, padding and
 * TAIL in pw_xmit(). IP is packet type 5; ARP shares it with the EtherType in
 * TE, since the version nibble tells only 4 from 6. Any other protocol number
 * of a packet socket is the packet type itself.
 */
static int pw_header_create(struct sk_buff *skb, struct net_device *dev, unsigned short type,
			    const void *daddr, const void *saddr, unsigned int len)
{
	const struct pw_station *st = netdev_priv(dev);
	struct pw_eep_hdr hdr = {
		.p = pw_eep_p_from_prio(skb->priority),
		.data_len = len,
		.pt = type,
		.sa = st->addr,
	};

	if (!daddr)
		return -EDESTADDRREQ;
	/* marks whole messages, which pw_finish() leaves alone: not a packet type */
	if (type == ETH_P_PACKETWAY)
		return -EPROTOTYPE;
	hdr.dt = get_unaligned_be24(daddr);
	switch (type) {
	case ETH_P_ARP:
		hdr.te = ETH_P_ARP;
		fallthrough;
	case ETH_P_IP:
	case ETH_P_IPV6:
		hdr.pt = PW_PT_IP;
		break;
	}
	if (saddr)
		hdr.sa = get_unaligned_be24(saddr);

	return pw_eep_build_header(&hdr, skb_push(skb, PW_EEP_HDR_LEN), PW_EEP_HDR_LEN);
}

static int __maybe_unused pw_header_parse(const struct sk_buff *skb, unsigned char *haddr)
{
	const u8 *p = skb_mac_header(skb);

	/* a frame that is sent may have prefixes before the header */
	if (skb_tail_pointer(skb) - p < PW_EEP_HDR_LEN || (p[1] & 0x80 && (p[1] & 0xf0) != 0xe0))
		return 0;
	memcpy(haddr, p + PW_EEP_OFF_SA, PW_ADDR_LEN);
	return PW_ADDR_LEN;
}

static int __maybe_unused pw_header_parse_dev(const struct sk_buff *skb,
					      const struct net_device *dev, unsigned char *haddr)
{
	return pw_header_parse(skb, haddr);
}

static __be16 pw_header_parse_protocol(const struct sk_buff *skb)
{
	return htons(ETH_P_PACKETWAY);
}

/* packet sockets ask this for frames shorter than hard_header_len */
static bool pw_header_validate(const char *ll_header, unsigned int len)
{
	return true;
}

static const struct header_ops pw_header_ops = {
	.create = pw_header_create,
	.parse = PW_HEADER_PARSE(pw_header_parse, pw_header_parse_dev),
	.parse_protocol = pw_header_parse_protocol,
	.validate = pw_header_validate,
};

/**
 * pw_netdev_setup - what every station has in common
 * @dev: fresh device
 */
void pw_netdev_setup(struct net_device *dev)
{
	static const u8 broadcast[PW_ADDR_LEN] = { 0x7f, 0xff, 0xff };

	dev->netdev_ops = &pw_netdev_ops;
	dev->header_ops = &pw_header_ops;
	dev->ethtool_ops = &pw_ethtool_ops;
	dev->needs_free_netdev = true;
	dev->priv_destructor = pw_dev_free;
	dev->pcpu_stat_type = NETDEV_PCPU_STAT_TSTATS;

	dev->type = ARPHRD_PACKETWAY;
	dev->flags = IFF_BROADCAST | IFF_MULTICAST;
	dev->addr_len = PW_ADDR_LEN;
	memcpy(dev->broadcast, broadcast, PW_ADDR_LEN);
	dev->hard_header_len = PW_FRAME_ROOM;
	dev->needed_tailroom = PW_EEP_TAIL_LEN + 7;
	dev->mtu = PACKETWAY_MTU_DEFAULT;
	dev->min_mtu = PACKETWAY_MTU_MIN;
	dev->max_mtu = PACKETWAY_MTU_MAX;
	dev->tx_queue_len = PW_TX_QUEUE_LEN;
	dev->hw_features = NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HIGHDMA | NETIF_F_HW_CSUM |
			   NETIF_F_ALL_TSO | NETIF_F_GSO_UDP_L4;
	dev->features = dev->hw_features | NETIF_F_VLAN_CHALLENGED;
	/* pw_xmit() keeps what finds no room, and needs no lock of the device */
	dev->priv_flags |= IFF_NO_QUEUE;
	pw_netdev_lltx(dev);
	/* netpoll sends with interrupts off, perhaps from inside an engine's lock */
	dev->priv_flags |= IFF_DISABLE_NETPOLL;
	netif_keep_dst(dev);
	netif_carrier_off(dev);
}

/**
 * pw_netdev_is - is this device one of ours?
 * @dev: any device
 */
bool pw_netdev_is(const struct net_device *dev)
{
	return dev->netdev_ops == &pw_netdev_ops;
}
