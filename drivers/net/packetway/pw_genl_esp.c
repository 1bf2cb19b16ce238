// SPDX-License-Identifier: GPL-2.0
/* Generic netlink: ESP stores of nodes, and the defaults of a namespace. */
#include <linux/rtnetlink.h>
#include <net/sock.h>

#include "pw_genl.h"
#include "pw_router.h"

#define PW_ESP_REPLY_ONLY \
	{ .type = NLA_REJECT, .reject_message = "This attribute is reply only" }

static struct netlink_range_validation pw_esp_capacity_range = {
	.max = PACKETWAY_ESP_CAPACITY_MAX,
};

static struct netlink_range_validation pw_esp_node_range = {
	.max = PW_ADDR_PHYS_MAX,
};

static struct netlink_range_validation pw_esp_lifetime_range = {
	.max = PACKETWAY_ESP_LIFETIME_MAX,
};

const struct nla_policy pw_esp_policy[PACKETWAY_A_ESP_MAX + 1] = {
	[PACKETWAY_A_ESP_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[PACKETWAY_A_ESP_NODE] = NLA_POLICY_FULL_RANGE(NLA_U32, &pw_esp_node_range),
	[PACKETWAY_A_ESP_CAPACITY] = NLA_POLICY_FULL_RANGE(NLA_U32, &pw_esp_capacity_range),
	[PACKETWAY_A_ESP_LIFETIME] = NLA_POLICY_FULL_RANGE(NLA_U32, &pw_esp_lifetime_range),
	[PACKETWAY_A_ESP_USED] = PW_ESP_REPLY_ONLY,
	[PACKETWAY_A_ESP_TAG] = PW_ESP_REPLY_ONLY,
	[PACKETWAY_A_ESP_VALUE] = PW_ESP_REPLY_ONLY,
	[PACKETWAY_A_ESP_LEFT] = PW_ESP_REPLY_ONLY,
	[PACKETWAY_A_ESP_ROUTER] = PW_ESP_REPLY_ONLY,
	[PACKETWAY_A_ESP_STATS] = PW_ESP_REPLY_ONLY,
};

/* what a request or reply is about; all NULL: the defaults of the namespace */
struct pw_esp_who {
	struct pw_esp *esp;
	struct pw_station *st;
	struct pw_half *half;
};

static struct pw_esp_who pw_esp_who_station(struct net_device *dev)
{
	struct pw_station *st = netdev_priv(dev);

	return (struct pw_esp_who) { .esp = &st->esp, .st = st };
}

static struct pw_esp_who pw_esp_who_half(struct pw_half *h)
{
	return (struct pw_esp_who) { .esp = &h->esp, .half = h };
}

static int pw_esp_put_stats(struct sk_buff *msg, const struct pw_esp_info *info)
{
	struct nlattr *nest = nla_nest_start(msg, PACKETWAY_A_ESP_STATS);
	int op, v, type = PACKETWAY_A_ESP_STAT_UNKNOWN_FORWARD;

	BUILD_BUG_ON(PACKETWAY_A_ESP_STAT_MAX - PACKETWAY_A_ESP_STAT_UNKNOWN_FORWARD + 1 !=
		     PW_ESP_OPCODES * PW_ESP_VERDICTS);
	if (!nest)
		return -EMSGSIZE;
	for (op = 0; op < PW_ESP_OPCODES; op++)
		for (v = 0; v < PW_ESP_VERDICTS; v++)
			if (nla_put_u64_64bit(msg, type++, info->done[op][v],
					      PACKETWAY_A_ESP_STAT_PAD))
				return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

/* which node a message is about */
static int pw_esp_put_who(struct sk_buff *msg, const struct pw_esp_who *who)
{
	if (nla_put_u32(msg, PACKETWAY_A_ESP_NODE, who->esp->id))
		return -EMSGSIZE;
	return who->st ? nla_put_u32(msg, PACKETWAY_A_ESP_IFINDEX, who->st->dev->ifindex) :
			 nla_put_string(msg, PACKETWAY_A_ESP_ROUTER, who->half->router->name);
}

static int pw_esp_put_info(struct sk_buff *msg, const struct net *net,
			   const struct pw_esp_who *who)
{
	const struct pw_net *pn = pw_net(net);
	struct pw_esp_info info = {
		.capacity = pn->esp.capacity,
		.lifetime = pn->esp.lifetime,
	};

	if (who->esp)
		pw_esp_node_info(who->esp, net, &info);
	if (nla_put_u32(msg, PACKETWAY_A_ESP_CAPACITY, info.capacity) ||
	    nla_put_u32(msg, PACKETWAY_A_ESP_LIFETIME, info.lifetime))
		return -EMSGSIZE;
	if (who->esp && (pw_esp_put_who(msg, who) ||
			 nla_put_u32(msg, PACKETWAY_A_ESP_USED, info.used)))
		return -EMSGSIZE;
	return who->half ? pw_esp_put_stats(msg, &info) : 0;
}

static int pw_esp_fill(struct sk_buff *msg, const struct net *net, const struct pw_esp_who *who,
		       u32 portid, u32 seq, int flags, u8 cmd)
{
	struct nlattr *nest;
	void *hdr;

	hdr = genlmsg_put(msg, portid, seq, &pw_genl_family, flags, cmd);
	if (!hdr)
		return -EMSGSIZE;
	nest = nla_nest_start(msg, PACKETWAY_A_ESP);
	if (!nest || pw_esp_put_info(msg, net, who)) {
		genlmsg_cancel(msg, hdr);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	genlmsg_end(msg, hdr);
	return 0;
}

static struct sk_buff *pw_esp_message(const struct net *net, const struct pw_esp_who *who,
				      u32 portid, u32 seq, u8 cmd)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (msg && pw_esp_fill(msg, net, who, portid, seq, 0, cmd)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

/* half-router @addr of the namespace; RTNL */
static struct pw_half *pw_esp_half(struct net *net, u32 addr)
{
	struct pw_router *r;
	unsigned int i;

	list_for_each_entry(r, &pw_net(net)->routers, list)
		for (i = 0; i < r->nhalves; i++)
			if (r->half[i].addr == addr)
				return &r->half[i];
	return NULL;
}

/* the station or half-router that a request names; RTNL */
static int pw_esp_find(struct net *net, struct nlattr **tb, struct pw_esp_who *who,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *dev_attr = tb[PACKETWAY_A_ESP_IFINDEX];
	struct nlattr *node_attr = tb[PACKETWAY_A_ESP_NODE];
	struct net_device *dev;
	struct pw_half *half;

	*who = (struct pw_esp_who) {};
	if (dev_attr && node_attr) {
		NL_SET_ERR_MSG_ATTR(extack, node_attr, "A station or a half-router, not both");
		return -EINVAL;
	}
	if (dev_attr) {
		dev = __dev_get_by_index(net, nla_get_u32(dev_attr));
		if (!dev || !pw_netdev_is(dev)) {
			NL_SET_ERR_MSG_ATTR(extack, dev_attr,
					    "There is no such station in this namespace");
			return -ENODEV;
		}
		*who = pw_esp_who_station(dev);
	} else if (node_attr) {
		half = pw_esp_half(net, nla_get_u32(node_attr));
		if (!half) {
			NL_SET_ERR_MSG_ATTR(extack, node_attr,
					    "No half-router of this namespace has this address");
			return -ENODEV;
		}
		*who = pw_esp_who_half(half);
	}
	return 0;
}

typedef int (*pw_esp_dump_fn)(struct sk_buff *skb, struct netlink_callback *cb,
			      const struct pw_esp_who *who, const struct pw_esp_who *only);

/*
 * Call @fn for each node of a namespace but the first cb->args[0], until it fails: stations,
 * then half-routers, an order that holds as long as none is added or removed. RTNL
 */
static int pw_esp_dump_nodes(struct sk_buff *skb, struct netlink_callback *cb, pw_esp_dump_fn fn,
			     const struct pw_esp_who *only)
{
	struct net *net = sock_net(skb->sk);
	struct net_device *dev;
	struct pw_esp_who who;
	struct pw_router *r;
	unsigned int i;
	long nth = 0;
	int err;

	pw_genl_dump_begin(cb, net, false);
	for_each_netdev(net, dev) {
		if (!pw_netdev_is(dev) || nth++ < cb->args[0])
			continue;
		who = pw_esp_who_station(dev);
		err = fn(skb, cb, &who, only);
		if (err)
			return err;
		cb->args[0]++;
	}
	list_for_each_entry(r, &pw_net(net)->routers, list)
		for (i = 0; i < r->nhalves; i++) {
			if (nth++ < cb->args[0])
				continue;
			who = pw_esp_who_half(&r->half[i]);
			err = fn(skb, cb, &who, only);
			if (err)
				return err;
			cb->args[0]++;
		}
	return 0;
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
	struct pw_esp_who who;
	int err;

	err = pw_esp_attrs(info, tb);
	if (err)
		return err;
	rtnl_lock();
	err = pw_esp_find(net, tb, &who, info->extack);
	if (!err)
		msg = pw_esp_message(net, &who, info->snd_portid, info->snd_seq,
				     PACKETWAY_CMD_ESP_GET);
	rtnl_unlock();
	if (err)
		return err;
	return msg ? genlmsg_reply(msg, info) : -ENOMEM;
}

static int pw_esp_dump_node(struct sk_buff *skb, struct netlink_callback *cb,
			    const struct pw_esp_who *who, const struct pw_esp_who *only)
{
	return pw_esp_fill(skb, sock_net(skb->sk), who, NETLINK_CB(cb->skb).portid,
			   cb->nlh->nlmsg_seq, NLM_F_MULTI, PACKETWAY_CMD_ESP_GET);
}

int pw_genl_esp_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	int err;

	rtnl_lock();
	err = pw_esp_dump_nodes(skb, cb, pw_esp_dump_node, NULL);
	rtnl_unlock();
	return pw_genl_dump_end(skb, cb, err);
}

/* what is given changes, the rest stays */
static void pw_esp_conf_attrs(struct nlattr **tb, struct pw_esp_conf *conf)
{
	if (tb[PACKETWAY_A_ESP_CAPACITY])
		conf->capacity = nla_get_u32(tb[PACKETWAY_A_ESP_CAPACITY]);
	if (tb[PACKETWAY_A_ESP_LIFETIME])
		conf->lifetime = nla_get_u32(tb[PACKETWAY_A_ESP_LIFETIME]);
}

static int pw_esp_set_net(struct net *net, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	struct pw_net *pn = pw_net(net);
	struct pw_esp_conf conf = pn->esp;

	pw_esp_conf_attrs(tb, &conf);
	if (!conf.capacity || !conf.lifetime) {
		NL_SET_ERR_MSG(extack, "A namespace's capacity and lifetime are not 0");
		return -EINVAL;
	}
	pn->esp = conf;
	return 0;
}

static int pw_esp_set_node(struct net *net, struct pw_esp *esp, struct nlattr **tb,
			   struct netlink_ext_ack *extack)
{
	struct pw_esp_conf conf = esp->conf;

	pw_esp_conf_attrs(tb, &conf);
	return pw_esp_node_set(esp, net, &conf, extack);
}

int pw_genl_esp_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[PACKETWAY_A_ESP_MAX + 1];
	struct net *net = genl_info_net(info);
	struct pw_esp_who who;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, PACKETWAY_A_ESP))
		return -EINVAL;
	err = pw_esp_attrs(info, tb);
	if (err)
		return err;
	rtnl_lock();
	err = pw_esp_find(net, tb, &who, info->extack);
	if (!err)
		err = who.esp ? pw_esp_set_node(net, who.esp, tb, info->extack) :
				pw_esp_set_net(net, tb, info->extack);
	if (!err && who.st)
		pw_rrp_station_changed(who.st);
	if (!err)
		pw_genl_notify(net, pw_esp_message(net, &who, 0, 0, PACKETWAY_CMD_ESP_SET));
	rtnl_unlock();
	return err;
}

static int pw_esp_fill_binding(struct sk_buff *skb, struct netlink_callback *cb,
			       const struct pw_esp_who *who, u64 tag, u64 val, u64 left)
{
	struct nlattr *nest;
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &pw_genl_family,
			  NLM_F_MULTI, PACKETWAY_CMD_ESP_BINDING_GET);
	if (!hdr)
		return -EMSGSIZE;
	nest = nla_nest_start(skb, PACKETWAY_A_ESP);
	if (!nest || pw_esp_put_who(skb, who) ||
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

/* args: 0: nodes done, 1: bindings of the next one done */
static int pw_esp_dump_bindings(struct sk_buff *skb, struct netlink_callback *cb,
				const struct pw_esp_who *who, const struct pw_esp_who *only)
{
	u64 tag, val, left;
	int err;

	if (only->esp && who->esp != only->esp)
		return 0;
	while (pw_esp_node_peek(who->esp, cb->args[1], &tag, &val, &left)) {
		err = pw_esp_fill_binding(skb, cb, who, tag, val, left);
		if (err)
			return err;
		cb->args[1]++;
	}
	cb->args[1] = 0;
	return 0;
}

int pw_genl_esp_binding_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *nest = genl_info_dump(cb)->attrs[PACKETWAY_A_ESP];
	struct nlattr *tb[PACKETWAY_A_ESP_MAX + 1] = {};
	struct pw_esp_who only;
	int err;

	if (nest) {
		err = nla_parse_nested(tb, PACKETWAY_A_ESP_MAX, nest, pw_esp_policy, cb->extack);
		if (err)
			return err;
	}
	rtnl_lock();
	err = pw_esp_find(sock_net(skb->sk), tb, &only, cb->extack);
	if (err) {
		rtnl_unlock();
		return err;
	}
	err = pw_esp_dump_nodes(skb, cb, pw_esp_dump_bindings, &only);
	rtnl_unlock();
	return pw_genl_dump_end(skb, cb, err);
}
