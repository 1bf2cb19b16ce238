// SPDX-License-Identifier: GPL-2.0
/* Generic netlink: state of softswitches and motherships. */
#include <linux/rtnetlink.h>
#include <net/sock.h>

#include "pw_genl.h"
#include "pw_priv.h"

const struct nla_policy pw_poets_policy[PACKETWAY_A_POETS_MAX + 1] = {
	[PACKETWAY_A_POETS_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* a nest of 64-bit counters, the first one of type 2 */
static int pw_poets_put_counters(struct sk_buff *msg, int nest_type, const u64 *v, int n, int pad)
{
	struct nlattr *nest = nla_nest_start(msg, nest_type);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < n; i++)
		if (nla_put_u64_64bit(msg, pad + 1 + i, v[i], pad))
			return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int pw_poets_put_switch(struct sk_buff *msg, const struct pw_poets_info *info)
{
	u64 counters[PW_POETS_C_COUNT];
	int i;

	BUILD_BUG_ON(PACKETWAY_A_POETS_DROP_MAX - PACKETWAY_A_POETS_DROP_PAD !=
		     PW_SOFTSWITCH_DROPS - 1);
	BUILD_BUG_ON(PACKETWAY_A_POETS_COUNTER_MAX - PACKETWAY_A_POETS_COUNTER_PAD !=
		     PW_POETS_C_BLOCKED + 1);
	for (i = 0; i < PW_POETS_C_COUNT; i++)
		counters[i] = info->counters[i];
	if (nla_put_u32(msg, PACKETWAY_A_POETS_STATE, info->state) ||
	    nla_put_u32(msg, PACKETWAY_A_POETS_DEVICES, info->devices) ||
	    nla_put_u32(msg, PACKETWAY_A_POETS_PINS, info->pins) ||
	    nla_put_u32(msg, PACKETWAY_A_POETS_MOTHERSHIP, info->mothership) ||
	    nla_put_u32(msg, PACKETWAY_A_POETS_INTERVAL, info->interval))
		return -EMSGSIZE;
	return pw_poets_put_counters(msg, PACKETWAY_A_POETS_COUNTERS, counters,
				     PW_POETS_C_BLOCKED + 1, PACKETWAY_A_POETS_COUNTER_PAD);
}

static int pw_poets_fill(struct sk_buff *msg, struct netlink_callback *cb,
			 const struct pw_station *st, struct pw_poets *po)
{
	struct pw_poets_info info;
	struct nlattr *nest;
	void *hdr;

	pw_poets_info(po, &info);
	hdr = genlmsg_put(msg, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &pw_genl_family,
			  NLM_F_MULTI, PACKETWAY_CMD_POETS_GET);
	if (!hdr)
		return -EMSGSIZE;
	nest = nla_nest_start(msg, PACKETWAY_A_POETS);
	if (!nest ||
	    nla_put_u32(msg, PACKETWAY_A_POETS_IFINDEX, st->dev->ifindex) ||
	    nla_put_u32(msg, PACKETWAY_A_POETS_ADDR, st->addr) ||
	    nla_put_u32(msg, PACKETWAY_A_POETS_ROLE, po->role) ||
	    (!po->any &&
	     nla_put_u32(msg, PACKETWAY_A_POETS_TASK, pw_poets_task(po->task))) ||
	    nla_put_u32(msg, PACKETWAY_A_POETS_QUEUE, info.queue) ||
	    nla_put_u32(msg, PACKETWAY_A_POETS_QUEUED, info.queued) ||
	    nla_put_u64_64bit(msg, PACKETWAY_A_POETS_LOST, info.lost, PACKETWAY_A_POETS_PAD) ||
	    (po->role == PW_POETS_R_SWITCH && pw_poets_put_switch(msg, &info)) ||
	    pw_poets_put_counters(msg, PACKETWAY_A_POETS_DROPS, info.drops + 1,
				  PW_SOFTSWITCH_DROPS - 1, PACKETWAY_A_POETS_DROP_PAD)) {
		genlmsg_cancel(msg, hdr);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	genlmsg_end(msg, hdr);
	return 0;
}

/* the files of one station; args 1: how many of them are done */
static int pw_poets_fill_station(struct sk_buff *skb, struct netlink_callback *cb,
				 const struct pw_station *st)
{
	struct pw_poets *po;
	long n = 0;
	int i, err;

	for (i = 0; i < PW_POETS_ROLES; i++) {
		hlist_for_each_entry(po, &st->poets[i], node) {
			if (n++ < cb->args[1])
				continue;
			err = pw_poets_fill(skb, cb, st, po);
			if (err)
				return err;
			cb->args[1] = n;
		}
	}
	return 0;
}

/* args: 0: stations done, 1: files of the next one done */
int pw_genl_poets_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *nest = genl_info_dump(cb)->attrs[PACKETWAY_A_POETS];
	struct nlattr *tb[PACKETWAY_A_POETS_MAX + 1] = {};
	struct net *net = sock_net(skb->sk);
	struct net_device *dev;
	struct pw_station *st;
	int only = 0, err = 0;
	long i = 0;

	if (nest) {
		err = nla_parse_nested(tb, PACKETWAY_A_POETS_MAX, nest, pw_poets_policy,
				       cb->extack);
		if (err)
			return err;
	}
	if (tb[PACKETWAY_A_POETS_IFINDEX])
		only = nla_get_u32(tb[PACKETWAY_A_POETS_IFINDEX]);

	rtnl_lock();
	pw_genl_dump_begin(cb, net, false);
	for_each_netdev(net, dev) {
		if (!pw_netdev_is(dev) || i++ < cb->args[0])
			continue;
		st = netdev_priv(dev);
		if (!only || dev->ifindex == only)
			err = pw_poets_fill_station(skb, cb, st);
		if (err)
			goto out;
		cb->args[0] = i;
		cb->args[1] = 0;
	}
out:
	rtnl_unlock();
	return pw_genl_dump_end(skb, cb, err);
}
