// SPDX-License-Identifier: GPL-2.0
/* Generic netlink: source routes of stations. */
#include <linux/rtnetlink.h>
#include <net/sock.h>

#include "pw_genl.h"
#include "pw_priv.h"

static int pw_source_fill(struct sk_buff *msg, const struct pw_station *st,
			  const struct pw_source *e, u32 portid, u32 seq, int flags, u8 cmd,
			  bool gone)
{
	struct nlattr *nest;
	void *hdr;

	hdr = genlmsg_put(msg, portid, seq, &pw_genl_family, flags, cmd);
	if (!hdr)
		return -EMSGSIZE;
	nest = nla_nest_start(msg, PACKETWAY_A_ROUTE);
	if (!nest ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_SAN, st->san->id) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_IFINDEX, st->dev->ifindex) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_FIRST, e->min) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_LAST, e->max) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_MTU, e->mtu) ||
	    nla_put(msg, PACKETWAY_A_ROUTE_L2RH, e->len, e->row) ||
	    nla_put_flag(msg, PACKETWAY_A_ROUTE_STATIC) ||
	    (gone && nla_put_flag(msg, PACKETWAY_A_ROUTE_GONE))) {
		genlmsg_cancel(msg, hdr);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	genlmsg_end(msg, hdr);
	return 0;
}

static void pw_source_notify(const struct pw_station *st, const struct pw_source *e, bool gone)
{
	struct net *net = dev_net(st->dev);
	struct sk_buff *msg;

	if (!genl_has_listeners(&pw_genl_family, net, 0))
		return;
	msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (msg && pw_source_fill(msg, st, e, 0, 0, 0, PACKETWAY_CMD_ROUTE_NTF, gone)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	pw_genl_notify(net, msg);
}

/* range, row and MTU of a request, which the kernel has checked against the policy */
static int pw_source_parse(struct nlattr **tb, struct pw_source_conf *c,
			   struct netlink_ext_ack *extack)
{
	const struct nlattr *row = tb[PACKETWAY_A_ROUTE_L2RH], *mtu = tb[PACKETWAY_A_ROUTE_MTU];

	if (tb[PACKETWAY_A_ROUTE_SAN] || tb[PACKETWAY_A_ROUTE_HR] ||
	    tb[PACKETWAY_A_ROUTE_QUALITY]) {
		NL_SET_ERR_MSG(extack, "A source route has no SAN, half-router or quality");
		return -EINVAL;
	}
	if (!tb[PACKETWAY_A_ROUTE_FIRST]) {
		NL_SET_ERR_MSG(extack, "The first address of the source route is missing");
		return -EINVAL;
	}
	c->min = nla_get_u32(tb[PACKETWAY_A_ROUTE_FIRST]);
	c->max = tb[PACKETWAY_A_ROUTE_LAST] ? nla_get_u32(tb[PACKETWAY_A_ROUTE_LAST]) : c->min;
	if (c->min > c->max) {
		NL_SET_ERR_MSG(extack, "The last address comes before the first one");
		return -ERANGE;
	}
	c->mtu = mtu ? nla_get_u32(mtu) : 0;
	c->len = row ? nla_len(row) : 0;
	c->row = row ? nla_data(row) : NULL;
	return 0;
}

/**
 * pw_genl_source_change - ROUTE_NEW or ROUTE_DEL of a source route
 * @info: the request
 * @tb: attributes of its route, IFINDEX among them
 * @add: ROUTE_NEW
 *
 * Return: 0 or a negative errno. Under RTNL.
 */
int pw_genl_source_change(struct genl_info *info, struct nlattr **tb, bool add)
{
	struct nlattr *index = tb[PACKETWAY_A_ROUTE_IFINDEX];
	const struct pw_source *e;
	struct pw_source_conf c;
	struct net_device *dev;
	struct pw_station *st;
	struct pw_source *old;
	int err;

	dev = __dev_get_by_index(genl_info_net(info), nla_get_u32(index));
	if (!dev || !pw_netdev_is(dev)) {
		NL_SET_ERR_MSG_ATTR(info->extack, index,
				    "There is no such station in this namespace");
		return -ENODEV;
	}
	err = pw_source_parse(tb, &c, info->extack);
	if (err)
		return err;
	st = netdev_priv(dev);
	if (add) {
		e = pw_source_add(st, &c, info->extack);
		if (IS_ERR(e))
			return PTR_ERR(e);
		pw_source_notify(st, e, false);
		return 0;
	}
	old = pw_source_del(st, &c);
	if (!old) {
		NL_SET_ERR_MSG(info->extack, "The station has no source route to these addresses");
		return -ENOENT;
	}
	pw_source_notify(st, old, true);
	pw_source_free(old);
	return 0;
}

/* *@done: how many of them the dump has */
static int pw_source_fill_station(struct sk_buff *skb, struct netlink_callback *cb,
				  const struct pw_station *st, long *done)
{
	const struct pw_source *e;
	long n = 0;
	int err;

	hlist_for_each_entry(e, &st->sources, node) {
		if (n++ < *done)
			continue;
		err = pw_source_fill(skb, st, e, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				     NLM_F_MULTI, PACKETWAY_CMD_ROUTE_GET, false);
		if (err)
			return err;
		*done = n;
	}
	return 0;
}

/**
 * pw_genl_source_dump - source routes of the stations of a namespace
 * @skb: the message
 * @cb: the dump
 * @only: index of the only station, 0: all
 * @san: number of the only SAN, -1: all
 * @at: two numbers that are 0 at first: stations done, routes of the next one done
 *
 * Return: 0 or -EMSGSIZE.
 */
int pw_genl_source_dump(struct sk_buff *skb, struct netlink_callback *cb, u32 only, long san,
			long *at)
{
	struct net *net = sock_net(skb->sk);
	const struct pw_station *st;
	struct net_device *dev;
	int err = 0;
	long i = 0;

	rtnl_lock();
	for_each_netdev(net, dev) {
		if (!pw_netdev_is(dev) || i++ < at[0])
			continue;
		st = netdev_priv(dev);
		if ((!only || (u32)dev->ifindex == only) &&
		    (san < 0 || (st->san->net == net && st->san->id == san)))
			err = pw_source_fill_station(skb, cb, st, &at[1]);
		if (err)
			break;
		at[0] = i;
		at[1] = 0;
	}
	rtnl_unlock();
	return err;
}
