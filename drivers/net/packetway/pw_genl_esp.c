// SPDX-License-Identifier: GPL-2.0
/* Generic netlink: ESP stores of stations, and the defaults of a namespace. */
#include <linux/rtnetlink.h>
#include <net/netns/generic.h>
#include <net/sock.h>

#include "pw_genl.h"
#include "pw_priv.h"

#define PW_ESP_REPLY_ONLY \
	{ .type = NLA_REJECT, .reject_message = "This attribute is reply only" }

static struct netlink_range_validation pw_esp_capacity_range = {
	.max = PACKETWAY_ESP_CAPACITY_MAX,
};

static struct netlink_range_validation pw_esp_lifetime_range = {
	.max = PACKETWAY_ESP_LIFETIME_MAX,
};

const struct nla_policy pw_esp_policy[PACKETWAY_A_ESP_MAX + 1] = {
	[PACKETWAY_A_ESP_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[PACKETWAY_A_ESP_NODE] = PW_ESP_REPLY_ONLY,
	[PACKETWAY_A_ESP_CAPACITY] = NLA_POLICY_FULL_RANGE(NLA_U32, &pw_esp_capacity_range),
	[PACKETWAY_A_ESP_LIFETIME] = NLA_POLICY_FULL_RANGE(NLA_U32, &pw_esp_lifetime_range),
	[PACKETWAY_A_ESP_USED] = PW_ESP_REPLY_ONLY,
	[PACKETWAY_A_ESP_TAG] = PW_ESP_REPLY_ONLY,
	[PACKETWAY_A_ESP_VALUE] = PW_ESP_REPLY_ONLY,
	[PACKETWAY_A_ESP_LEFT] = PW_ESP_REPLY_ONLY,
};

/* @st NULL: the defaults of the namespace; RTNL */
static int pw_esp_put_info(struct sk_buff *msg, const struct net *net, struct pw_station *st)
{
	const struct pw_net *pn = net_generic(net, pw_net_id);
	struct pw_esp_info info = {
		.capacity = pn->esp.capacity,
		.lifetime = pn->esp.lifetime,
	};

	if (st)
		pw_esp_node_info(&st->esp, net, &info);
	if (nla_put_u32(msg, PACKETWAY_A_ESP_CAPACITY, info.capacity) ||
	    nla_put_u32(msg, PACKETWAY_A_ESP_LIFETIME, info.lifetime))
		return -EMSGSIZE;
	if (st && (nla_put_u32(msg, PACKETWAY_A_ESP_IFINDEX, st->dev->ifindex) ||
		   nla_put_u32(msg, PACKETWAY_A_ESP_NODE, st->addr) ||
		   nla_put_u32(msg, PACKETWAY_A_ESP_USED, info.used)))
		return -EMSGSIZE;
	return 0;
}

static int pw_esp_fill(struct sk_buff *msg, const struct net *net, struct pw_station *st,
		       u32 portid, u32 seq, int flags, u8 cmd)
{
	struct nlattr *nest;
	void *hdr;

	hdr = genlmsg_put(msg, portid, seq, &pw_genl_family, flags, cmd);
	if (!hdr)
		return -EMSGSIZE;
	nest = nla_nest_start(msg, PACKETWAY_A_ESP);
	if (!nest || pw_esp_put_info(msg, net, st)) {
		genlmsg_cancel(msg, hdr);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	genlmsg_end(msg, hdr);
	return 0;
}

static struct sk_buff *pw_esp_message(const struct net *net, struct pw_station *st, u32 portid,
				      u32 seq, u8 cmd)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (msg && pw_esp_fill(msg, net, st, portid, seq, 0, cmd)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

/* the station of a request, NULL for the namespace, or an ERR_PTR; RTNL */
static struct pw_station *pw_esp_station(struct net *net, struct nlattr *attr,
					 struct netlink_ext_ack *extack)
{
	struct net_device *dev;

	if (!attr)
		return NULL;
	dev = __dev_get_by_index(net, nla_get_u32(attr));
	if (dev && pw_netdev_is(dev))
		return netdev_priv(dev);
	NL_SET_ERR_MSG_ATTR(extack, attr, "There is no such station in this namespace");
	return ERR_PTR(-ENODEV);
}

static int pw_esp_attrs(struct genl_info *info, struct nlattr **tb)
{
	memset(tb, 0, (PACKETWAY_A_ESP_MAX + 1) * sizeof(*tb));
	if (!info->attrs[PACKETWAY_A_ESP])
		return 0;
	return nla_parse_nested(tb, PACKETWAY_A_ESP_MAX, info->attrs[PACKETWAY_A_ESP],
				pw_esp_policy, info->extack);
}

int pw_genl_esp_get(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[PACKETWAY_A_ESP_MAX + 1];
	struct net *net = genl_info_net(info);
	struct sk_buff *msg = NULL;
	struct pw_station *st;
	int err;

	err = pw_esp_attrs(info, tb);
	if (err)
		return err;
	rtnl_lock();
	st = pw_esp_station(net, tb[PACKETWAY_A_ESP_IFINDEX], info->extack);
	if (IS_ERR(st))
		err = PTR_ERR(st);
	else
		msg = pw_esp_message(net, st, info->snd_portid, info->snd_seq,
				     PACKETWAY_CMD_ESP_GET);
	rtnl_unlock();
	if (err)
		return err;
	return msg ? genlmsg_reply(msg, info) : -ENOMEM;
}

int pw_genl_esp_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct net *net = sock_net(skb->sk);
	struct net_device *dev;
	long skip = cb->args[0];
	long i = 0;

	rtnl_lock();
	for_each_netdev(net, dev) {
		if (!pw_netdev_is(dev) || i++ < skip)
			continue;
		if (pw_esp_fill(skb, net, netdev_priv(dev), NETLINK_CB(cb->skb).portid,
				cb->nlh->nlmsg_seq, NLM_F_MULTI, PACKETWAY_CMD_ESP_GET))
			break;
		cb->args[0] = i;
	}
	rtnl_unlock();
	return skb->len;
}

static int pw_esp_set_net(struct net *net, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	struct pw_net *pn = net_generic(net, pw_net_id);
	struct pw_esp_conf conf = pn->esp;

	if (tb[PACKETWAY_A_ESP_CAPACITY])
		conf.capacity = nla_get_u32(tb[PACKETWAY_A_ESP_CAPACITY]);
	if (tb[PACKETWAY_A_ESP_LIFETIME])
		conf.lifetime = nla_get_u32(tb[PACKETWAY_A_ESP_LIFETIME]);
	if (!conf.capacity || !conf.lifetime) {
		NL_SET_ERR_MSG(extack, "A namespace's capacity and lifetime are not 0");
		return -EINVAL;
	}
	pn->esp = conf;
	return 0;
}

static int pw_esp_set_station(struct net *net, struct pw_station *st, struct nlattr **tb,
			      struct netlink_ext_ack *extack)
{
	struct pw_esp_conf conf = st->esp.conf;

	if (tb[PACKETWAY_A_ESP_CAPACITY])
		conf.capacity = nla_get_u32(tb[PACKETWAY_A_ESP_CAPACITY]);
	if (tb[PACKETWAY_A_ESP_LIFETIME])
		conf.lifetime = nla_get_u32(tb[PACKETWAY_A_ESP_LIFETIME]);
	return pw_esp_node_set(&st->esp, net, &conf, extack);
}

int pw_genl_esp_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[PACKETWAY_A_ESP_MAX + 1];
	struct net *net = genl_info_net(info);
	struct pw_station *st;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, PACKETWAY_A_ESP))
		return -EINVAL;
	err = pw_esp_attrs(info, tb);
	if (err)
		return err;
	rtnl_lock();
	st = pw_esp_station(net, tb[PACKETWAY_A_ESP_IFINDEX], info->extack);
	if (IS_ERR(st))
		err = PTR_ERR(st);
	else if (st)
		err = pw_esp_set_station(net, st, tb, info->extack);
	else
		err = pw_esp_set_net(net, tb, info->extack);
	if (!err)
		pw_genl_notify(net, pw_esp_message(net, st, 0, 0, PACKETWAY_CMD_ESP_SET));
	rtnl_unlock();
	return err;
}

static int pw_esp_fill_binding(struct sk_buff *skb, struct netlink_callback *cb,
			       const struct pw_station *st, u64 tag, u64 val, u64 left)
{
	struct nlattr *nest;
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &pw_genl_family,
			  NLM_F_MULTI, PACKETWAY_CMD_ESP_BINDING_GET);
	if (!hdr)
		return -EMSGSIZE;
	nest = nla_nest_start(skb, PACKETWAY_A_ESP);
	if (!nest ||
	    nla_put_u32(skb, PACKETWAY_A_ESP_IFINDEX, st->dev->ifindex) ||
	    nla_put_u64_64bit(skb, PACKETWAY_A_ESP_TAG, tag, PACKETWAY_A_ESP_PAD) ||
	    nla_put_u64_64bit(skb, PACKETWAY_A_ESP_VALUE, val, PACKETWAY_A_ESP_PAD) ||
	    nla_put_u32(skb, PACKETWAY_A_ESP_LEFT, div_u64(left, NSEC_PER_MSEC))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	genlmsg_end(skb, hdr);
	return 0;
}

/* args: 0: stations done, 1: bindings of the next one done */
int pw_genl_esp_binding_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *nest = pw_genl_dump_attrs(cb)[PACKETWAY_A_ESP];
	struct nlattr *tb[PACKETWAY_A_ESP_MAX + 1] = {};
	struct net *net = sock_net(skb->sk);
	struct pw_station *only, *st;
	struct net_device *dev;
	u64 tag, val, left;
	long i = 0;
	int err;

	if (nest) {
		err = nla_parse_nested(tb, PACKETWAY_A_ESP_MAX, nest, pw_esp_policy, cb->extack);
		if (err)
			return err;
	}
	rtnl_lock();
	only = pw_esp_station(net, tb[PACKETWAY_A_ESP_IFINDEX], cb->extack);
	if (IS_ERR(only)) {
		rtnl_unlock();
		return PTR_ERR(only);
	}
	for_each_netdev(net, dev) {
		if (!pw_netdev_is(dev) || i++ < cb->args[0])
			continue;
		st = netdev_priv(dev);
		while ((!only || st == only) &&
		       pw_esp_node_peek(&st->esp, cb->args[1], &tag, &val, &left)) {
			if (pw_esp_fill_binding(skb, cb, st, tag, val, left))
				goto out;
			cb->args[1]++;
		}
		cb->args[0] = i;
		cb->args[1] = 0;
	}
out:
	rtnl_unlock();
	return skb->len;
}
