// SPDX-License-Identifier: GPL-2.0
/* Generic netlink: routers, routes, nodes. */
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/sock.h>

#include "pw_genl.h"
#include "pw_router.h"
#include "pw_trunk.h"

/* not const: policies of 6.1 have a plain pointer to a range */
static struct netlink_range_validation pw_range_u16 = { .max = U16_MAX };
static struct netlink_range_validation pw_range_quality = { .min = 1, .max = U16_MAX };
static struct netlink_range_validation pw_range_addr = {
	.min = 1, .max = PW_ADDR_PHYS_MAX,
};

static const struct nla_policy pw_half_policy[PACKETWAY_A_HALF_MAX + 1] = {
	[PACKETWAY_A_HALF_SAN] = NLA_POLICY_MAX(NLA_U32, PACKETWAY_SAN_MAX),
	[PACKETWAY_A_HALF_PORT] = NLA_POLICY_MAX(NLA_U32, PACKETWAY_PORTS_MAX - 1),
	[PACKETWAY_A_HALF_MTU] = { .type = NLA_U32 },
	[PACKETWAY_A_HALF_ADDR] = { .type = NLA_REJECT,
				    .reject_message = "The address follows from SAN and port" },
	[PACKETWAY_A_HALF_MTU_NOW] = { .type = NLA_REJECT,
				       .reject_message = "The MTU in force is reply only" },
	[PACKETWAY_A_HALF_TABLES] = { .type = NLA_REJECT,
				      .reject_message = "The number of tables is reply only" },
	[PACKETWAY_A_HALF_STATS] = { .type = NLA_REJECT,
				     .reject_message = "Counters are reply only" },
	[PACKETWAY_A_HALF_QUALITY] = NLA_POLICY_FULL_RANGE(NLA_U32, &pw_range_quality),
};

static const struct nla_policy pw_trunk_policy[PACKETWAY_A_TRUNK_MAX + 1] = {
	[PACKETWAY_A_TRUNK_LOCAL] = NLA_POLICY_MIN_LEN(sizeof(struct sockaddr_in)),
	[PACKETWAY_A_TRUNK_REMOTE] = NLA_POLICY_MIN_LEN(sizeof(struct sockaddr_in)),
	[PACKETWAY_A_TRUNK_KEY] = NLA_POLICY_EXACT_LEN(PACKETWAY_TRUNK_KEY_LEN),
	[PACKETWAY_A_TRUNK_INSECURE] = { .type = NLA_FLAG },
	[PACKETWAY_A_TRUNK_DEV] = NLA_POLICY_MIN(NLA_U32, 1),
	[PACKETWAY_A_TRUNK_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &pw_range_u16),
	[PACKETWAY_A_TRUNK_PEER] = NLA_POLICY_FULL_RANGE(NLA_U32, &pw_range_addr),
	[PACKETWAY_A_TRUNK_BARE] = { .type = NLA_FLAG },
};

const struct nla_policy pw_router_policy[PACKETWAY_A_ROUTER_MAX + 1] = {
	[PACKETWAY_A_ROUTER_NAME] = { .type = NLA_NUL_STRING, .len = PACKETWAY_ROUTER_NAME_MAX },
	[PACKETWAY_A_ROUTER_HALF] = NLA_POLICY_NESTED(pw_half_policy),
	[PACKETWAY_A_ROUTER_TRUNK] = NLA_POLICY_NESTED(pw_trunk_policy),
	[PACKETWAY_A_ROUTER_USER] = { .type = NLA_REJECT,
				      .reject_message = "A program opens its half-router itself" },
};

const struct nla_policy pw_route_policy[PACKETWAY_A_ROUTE_MAX + 1] = {
	[PACKETWAY_A_ROUTE_SAN] = NLA_POLICY_MAX(NLA_U32, PACKETWAY_SAN_MAX),
	[PACKETWAY_A_ROUTE_FIRST] = NLA_POLICY_FULL_RANGE(NLA_U32, &pw_range_addr),
	[PACKETWAY_A_ROUTE_LAST] = NLA_POLICY_FULL_RANGE(NLA_U32, &pw_range_addr),
	[PACKETWAY_A_ROUTE_HR] = NLA_POLICY_FULL_RANGE(NLA_U32, &pw_range_addr),
	[PACKETWAY_A_ROUTE_QUALITY] = NLA_POLICY_FULL_RANGE(NLA_U32, &pw_range_u16),
	[PACKETWAY_A_ROUTE_MTU] = { .type = NLA_U32 },
	[PACKETWAY_A_ROUTE_L2RH] = { .type = NLA_BINARY, .len = PACKETWAY_SOURCE_ROUTE_MAX },
	[PACKETWAY_A_ROUTE_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

const struct nla_policy pw_node_policy[PACKETWAY_A_NODE_MAX + 1] = {
	[PACKETWAY_A_NODE_SAN] = NLA_POLICY_MAX(NLA_U32, PACKETWAY_SAN_MAX),
	[PACKETWAY_A_NODE_ADDR] = { .type = NLA_U32 },
	[PACKETWAY_A_NODE_NAME] = { .type = NLA_NUL_STRING, .len = 127 },
};

/* --- routers ---------------------------------------------------------------- */

static int pw_half_fill(struct sk_buff *msg, struct pw_half *h)
{
	struct nlattr *nest, *stats;
	u64 sum[PW_HALF_STAT_NUM];
	u32 i, tables = 0;

	BUILD_BUG_ON(PACKETWAY_A_HALF_STAT_MAX - PACKETWAY_A_HALF_STAT_PAD != PW_HALF_STAT_NUM);
	spin_lock_bh(&h->lock);
	for (i = 0; i < h->db.ntables; i++)
		tables += h->db.table[i].used;
	spin_unlock_bh(&h->lock);
	pw_half_stats_fold(h, sum);

	nest = nla_nest_start(msg, PACKETWAY_A_ROUTER_HALF);
	if (!nest ||
	    nla_put_u32(msg, PACKETWAY_A_HALF_SAN, h->san->id) ||
	    nla_put_u32(msg, PACKETWAY_A_HALF_PORT, h->port) ||
	    nla_put_u32(msg, PACKETWAY_A_HALF_MTU, h->mtu_set) ||
	    nla_put_u32(msg, PACKETWAY_A_HALF_QUALITY, h->quality) ||
	    nla_put_u32(msg, PACKETWAY_A_HALF_ADDR, h->addr) ||
	    nla_put_u32(msg, PACKETWAY_A_HALF_MTU_NOW, READ_ONCE(h->mtu)) ||
	    nla_put_u32(msg, PACKETWAY_A_HALF_TABLES, tables))
		return -EMSGSIZE;
	stats = nla_nest_start(msg, PACKETWAY_A_HALF_STATS);
	if (!stats)
		return -EMSGSIZE;
	for (i = 0; i < PW_HALF_STAT_NUM; i++)
		if (nla_put_u64_64bit(msg, PACKETWAY_A_HALF_STAT_PAD + 1 + i, sum[i],
				      PACKETWAY_A_HALF_STAT_PAD))
			return -EMSGSIZE;
	nla_nest_end(msg, stats);
	nla_nest_end(msg, nest);
	return 0;
}

static int pw_end_put(struct sk_buff *msg, int type, const union pw_trunk_end *e)
{
	return nla_put(msg, type, e->sa.sa_family == AF_INET ? sizeof(e->in) : sizeof(e->in6), e);
}

static int pw_trunk_fill_ends(struct sk_buff *msg, const struct pw_trunk *t)
{
	if (t->dev)
		return nla_put_u32(msg, PACKETWAY_A_TRUNK_DEV, t->dev->ifindex) ||
		       (!t->conf.bare && nla_put_u32(msg, PACKETWAY_A_TRUNK_ID, t->conf.id));
	return (t->conf.id && nla_put_u32(msg, PACKETWAY_A_TRUNK_ID, t->conf.id)) ||
	       pw_end_put(msg, PACKETWAY_A_TRUNK_LOCAL, &t->conf.local) ||
	       pw_end_put(msg, PACKETWAY_A_TRUNK_REMOTE, &t->conf.remote);
}

static int pw_trunk_fill(struct sk_buff *msg, struct pw_trunk *t)
{
	struct nlattr *nest, *stats;
	u32 i;

	BUILD_BUG_ON(PACKETWAY_A_TRUNK_STAT_MAX - PACKETWAY_A_TRUNK_STAT_PAD != PW_TRUNK_STAT_NUM);
	BUILD_BUG_ON(CHACHA20POLY1305_KEY_SIZE != PACKETWAY_TRUNK_KEY_LEN);
	nest = nla_nest_start(msg, PACKETWAY_A_ROUTER_TRUNK);
	if (!nest || pw_trunk_fill_ends(msg, t) ||
	    nla_put_u32(msg, PACKETWAY_A_TRUNK_MTU, READ_ONCE(t->half->trunk_mtu)) ||
	    (t->conf.keyed && nla_put_flag(msg, PACKETWAY_A_TRUNK_KEYED)) ||
	    (t->conf.insecure && nla_put_flag(msg, PACKETWAY_A_TRUNK_INSECURE)) ||
	    (t->conf.bare && nla_put_flag(msg, PACKETWAY_A_TRUNK_BARE)) ||
	    (READ_ONCE(t->up) && nla_put_flag(msg, PACKETWAY_A_TRUNK_UP)) ||
	    nla_put_u32(msg, PACKETWAY_A_TRUNK_PEER, READ_ONCE(t->half->peer_addr)))
		return -EMSGSIZE;
	stats = nla_nest_start(msg, PACKETWAY_A_TRUNK_STATS);
	if (!stats)
		return -EMSGSIZE;
	for (i = 0; i < PW_TRUNK_STAT_NUM; i++)
		if (nla_put_u64_64bit(msg, PACKETWAY_A_TRUNK_STAT_PAD + 1 + i,
				      atomic64_read(&t->stats[i]), PACKETWAY_A_TRUNK_STAT_PAD))
			return -EMSGSIZE;
	nla_nest_end(msg, stats);
	nla_nest_end(msg, nest);
	return 0;
}

static int pw_user_fill(struct sk_buff *msg, const struct pw_user *u)
{
	struct nlattr *nest = nla_nest_start(msg, PACKETWAY_A_ROUTER_USER);

	if (!nest || nla_put_u32(msg, PACKETWAY_A_USER_PEER, u->peer) ||
	    nla_put_u32(msg, PACKETWAY_A_USER_QUEUED, skb_queue_len_lockless(&u->queue)))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

/* what is on the other side of the first half */
static int pw_router_fill_other(struct sk_buff *msg, struct pw_router *r)
{
	struct pw_half *h = &r->half[0];

	if (h->trunk)
		return pw_trunk_fill(msg, h->trunk);
	return h->user ? pw_user_fill(msg, h->user) : pw_half_fill(msg, &r->half[1]);
}

static int pw_router_fill(struct sk_buff *msg, struct pw_router *r, u32 portid, u32 seq, int flags,
			  u8 cmd)
{
	struct nlattr *nest;
	void *hdr;

	hdr = genlmsg_put(msg, portid, seq, &pw_genl_family, flags, cmd);
	if (!hdr)
		return -EMSGSIZE;
	nest = nla_nest_start(msg, PACKETWAY_A_ROUTER);
	if (!nest || nla_put_string(msg, PACKETWAY_A_ROUTER_NAME, r->name) ||
	    pw_half_fill(msg, &r->half[0]) || pw_router_fill_other(msg, r)) {
		genlmsg_cancel(msg, hdr);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	genlmsg_end(msg, hdr);
	return 0;
}

static struct sk_buff *pw_router_message(struct pw_router *r, u32 portid, u32 seq, u8 cmd)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (msg && pw_router_fill(msg, r, portid, seq, 0, cmd)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

/**
 * pw_genl_router_notify - a program made a router, or lets go of it
 * @r: the router; under RTNL
 * @gone: it is deleted after this
 */
void pw_genl_router_notify(struct pw_router *r, bool gone)
{
	pw_genl_notify(r->net, pw_router_message(r, 0, 0, gone ? PACKETWAY_CMD_ROUTER_DEL :
						 PACKETWAY_CMD_ROUTER_NEW));
}

static int pw_router_parse(struct genl_info *info, struct nlattr **tb)
{
	if (GENL_REQ_ATTR_CHECK(info, PACKETWAY_A_ROUTER))
		return -EINVAL;
	/* the nest was validated with the family's policy */
	nla_parse_nested(tb, PACKETWAY_A_ROUTER_MAX, info->attrs[PACKETWAY_A_ROUTER],
			 pw_router_policy, info->extack);
	if (!tb[PACKETWAY_A_ROUTER_NAME] || !nla_len(tb[PACKETWAY_A_ROUTER_NAME]) ||
	    !*(const char *)nla_data(tb[PACKETWAY_A_ROUTER_NAME])) {
		NL_SET_ERR_MSG(info->extack, "The name of the router is missing");
		return -EINVAL;
	}
	return 0;
}

/* the router that a request names; under RTNL */
static struct pw_router *pw_router_of(struct genl_info *info)
{
	struct nlattr *tb[PACKETWAY_A_ROUTER_MAX + 1];
	struct pw_router *r;
	int err;

	err = pw_router_parse(info, tb);
	if (err)
		return ERR_PTR(err);
	r = pw_router_find(genl_info_net(info), nla_data(tb[PACKETWAY_A_ROUTER_NAME]));
	if (r)
		return r;
	NL_SET_ERR_MSG_ATTR(info->extack, tb[PACKETWAY_A_ROUTER_NAME],
			    "There is no router with this name in this namespace");
	return ERR_PTR(-ENOENT);
}

int pw_genl_router_get(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *msg = NULL;
	struct pw_router *r;

	rtnl_lock();
	r = pw_router_of(info);
	if (!IS_ERR(r))
		msg = pw_router_message(r, info->snd_portid, info->snd_seq,
					PACKETWAY_CMD_ROUTER_GET);
	rtnl_unlock();
	if (IS_ERR(r))
		return PTR_ERR(r);
	return msg ? genlmsg_reply(msg, info) : -ENOMEM;
}

int pw_genl_router_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct pw_router *r;
	int err = 0;
	long i = 0;

	rtnl_lock();
	pw_genl_dump_begin(cb, sock_net(skb->sk), false);
	list_for_each_entry(r, &pw_net(sock_net(skb->sk))->routers, list) {
		if (i++ < cb->args[0])
			continue;
		err = pw_router_fill(skb, r, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				     NLM_F_MULTI, PACKETWAY_CMD_ROUTER_GET);
		if (err)
			break;
		cb->args[0] = i;
	}
	rtnl_unlock();
	return pw_genl_dump_end(skb, cb, err);
}

/* one half of a request: takes a share of its SAN */
static int pw_half_parse(struct genl_info *info, struct nlattr *attr, struct pw_half_config *conf)
{
	struct nlattr *tb[PACKETWAY_A_HALF_MAX + 1];
	int port;

	nla_parse_nested(tb, PACKETWAY_A_HALF_MAX, attr, pw_half_policy, info->extack);
	if (!tb[PACKETWAY_A_HALF_SAN]) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "The SAN of a half-router is missing");
		return -EINVAL;
	}
	if (tb[PACKETWAY_A_HALF_MTU])
		conf->mtu = nla_get_u32(tb[PACKETWAY_A_HALF_MTU]);
	if (conf->mtu && (conf->mtu < PACKETWAY_MTU_MIN || conf->mtu > PACKETWAY_MTU_MAX)) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[PACKETWAY_A_HALF_MTU],
				    "The MTU is not one that a station could have");
		return -ERANGE;
	}
	conf->quality = PW_LINK_Q;
	if (tb[PACKETWAY_A_HALF_QUALITY])
		conf->quality = nla_get_u32(tb[PACKETWAY_A_HALF_QUALITY]);
	conf->san = pw_san_get(genl_info_net(info), nla_get_u32(tb[PACKETWAY_A_HALF_SAN]),
			       info->extack);
	if (IS_ERR(conf->san))
		return PTR_ERR(conf->san);
	if (tb[PACKETWAY_A_HALF_PORT]) {
		conf->port = nla_get_u32(tb[PACKETWAY_A_HALF_PORT]);
		return 0;
	}
	port = pw_san_port_find(conf->san, info->extack);
	if (port < 0) {
		pw_san_put(conf->san);
		return port;
	}
	conf->port = port;
	return 0;
}

static int pw_end_parse(const struct nlattr *attr, union pw_trunk_end *e)
{
	u16 family;

	if (!attr)
		return -EINVAL;
	memset(e, 0, sizeof(*e));
	nla_memcpy(e, attr, sizeof(*e));
	family = e->sa.sa_family;
	if (family == AF_INET)
		return nla_len(attr) == sizeof(e->in) && e->in.sin_port ? 0 : -EINVAL;
	if (family == AF_INET6)
		return nla_len(attr) == sizeof(e->in6) && e->in6.sin6_port ? 0 : -EINVAL;
	return -EAFNOSUPPORT;
}

static int pw_trunk_parse_bare(struct genl_info *info, struct nlattr **tb,
			       struct pw_trunk_config *conf)
{
	if (!tb[PACKETWAY_A_TRUNK_BARE]) {
		if (!tb[PACKETWAY_A_TRUNK_PEER])
			return 0;
		NL_SET_ERR_MSG_ATTR(info->extack, tb[PACKETWAY_A_TRUNK_PEER],
				    "A trunk learns its peer; only a bare one is told");
		return -EINVAL;
	}
	if (conf->keyed) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[PACKETWAY_A_TRUNK_KEY],
				    "Bare EEP has no place for a key");
		return -EINVAL;
	}
	if (!tb[PACKETWAY_A_TRUNK_DEV] || tb[PACKETWAY_A_TRUNK_ID]) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[PACKETWAY_A_TRUNK_BARE],
				    "Bare EEP needs a device and has no id");
		return -EINVAL;
	}
	conf->bare = true;
	if (tb[PACKETWAY_A_TRUNK_PEER])
		conf->peer = nla_get_u32(tb[PACKETWAY_A_TRUNK_PEER]);
	return 0;
}

static int pw_trunk_parse(struct genl_info *info, struct nlattr *attr,
			  struct pw_trunk_config *conf)
{
	struct nlattr *tb[PACKETWAY_A_TRUNK_MAX + 1];
	int err;

	nla_parse_nested(tb, PACKETWAY_A_TRUNK_MAX, attr, pw_trunk_policy, info->extack);
	if (tb[PACKETWAY_A_TRUNK_KEY]) {
		conf->keyed = true;
		nla_memcpy(conf->key, tb[PACKETWAY_A_TRUNK_KEY], sizeof(conf->key));
	}
	if (tb[PACKETWAY_A_TRUNK_ID])
		conf->id = nla_get_u32(tb[PACKETWAY_A_TRUNK_ID]);
	if (tb[PACKETWAY_A_TRUNK_DEV]) {
		conf->ifindex = nla_get_u32(tb[PACKETWAY_A_TRUNK_DEV]);
		if (tb[PACKETWAY_A_TRUNK_LOCAL] || tb[PACKETWAY_A_TRUNK_REMOTE]) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr,
					    "A trunk goes over a device or over UDP");
			return -EINVAL;
		}
	} else {
		err = pw_end_parse(tb[PACKETWAY_A_TRUNK_LOCAL], &conf->local);
		if (!err)
			err = pw_end_parse(tb[PACKETWAY_A_TRUNK_REMOTE], &conf->remote);
		if (!err && conf->local.sa.sa_family != conf->remote.sa.sa_family)
			err = -EINVAL;
		if (err) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr,
					    "A trunk needs address and port of both ends, of one family");
			return err;
		}
	}
	conf->insecure = nla_get_flag(tb[PACKETWAY_A_TRUNK_INSECURE]);
	if (conf->keyed && conf->insecure) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "A trunk has a key or is insecure");
		return -EINVAL;
	}
	return pw_trunk_parse_bare(info, tb, conf);
}

/* wipe the keys of a request: its buffer is freed, and copied into the answer if it fails */
static void pw_router_wipe(const struct nlattr *router)
{
	struct nlattr *trunk, *key;
	int left, rem;

	nla_for_each_nested(trunk, router, left) {
		if (nla_type(trunk) != PACKETWAY_A_ROUTER_TRUNK)
			continue;
		nla_for_each_nested(key, trunk, rem)
			if (nla_type(key) == PACKETWAY_A_TRUNK_KEY)
				memzero_explicit(nla_data(key), nla_len(key));
	}
}

int pw_genl_router_new(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[PACKETWAY_A_ROUTER_MAX + 1];
	struct pw_trunk_config trunk = {};
	struct pw_half_config conf[2] = {};
	struct nlattr *half[2] = {};
	bool trunked;
	struct pw_router *r;
	struct nlattr *attr;
	int err, rem, n = 0;

	err = pw_router_parse(info, tb);
	if (err)
		goto wipe;
	nla_for_each_nested(attr, info->attrs[PACKETWAY_A_ROUTER], rem) {
		if (nla_type(attr) != PACKETWAY_A_ROUTER_HALF)
			continue;
		if (n < 2)
			half[n] = attr;
		n++;
	}
	trunked = tb[PACKETWAY_A_ROUTER_TRUNK];
	if (n != (trunked ? 1 : 2)) {
		NL_SET_ERR_MSG(info->extack, "A router has two halves, or one and a trunk");
		err = -EINVAL;
		goto wipe;
	}
	if (trunked) {
		err = pw_trunk_parse(info, tb[PACKETWAY_A_ROUTER_TRUNK], &trunk);
		if (err)
			goto wipe;
		/* session numbers, and so nonces, must differ from those of the last boot */
		err = trunk.keyed ? wait_for_random_bytes() : 0;
		if (err)
			goto wipe;
	}

	rtnl_lock();
	err = pw_half_parse(info, half[0], &conf[0]);
	if (err)
		goto out;
	err = trunked ? 0 : pw_half_parse(info, half[1], &conf[1]);
	if (err) {
		pw_san_put(conf[0].san);
		goto out;
	}
	r = pw_router_create(genl_info_net(info), nla_data(tb[PACKETWAY_A_ROUTER_NAME]), conf,
			     trunked ? &trunk : NULL, info->extack);
	if (IS_ERR(r)) {
		err = PTR_ERR(r);
		pw_san_put(conf[0].san);
		if (!trunked)
			pw_san_put(conf[1].san);
		goto out;
	}
	pw_genl_notify(genl_info_net(info), pw_router_message(r, 0, 0, PACKETWAY_CMD_ROUTER_NEW));
out:
	rtnl_unlock();
wipe:
	memzero_explicit(&trunk, sizeof(trunk));
	if (info->attrs[PACKETWAY_A_ROUTER])
		pw_router_wipe(info->attrs[PACKETWAY_A_ROUTER]);
	return err;
}

/* delete a router and say so; under RTNL */
static void pw_genl_router_destroy(struct net *net, struct pw_router *r)
{
	struct sk_buff *msg = pw_router_message(r, 0, 0, PACKETWAY_CMD_ROUTER_DEL);

	pw_router_destroy(r);
	pw_genl_notify(net, msg);
}

/**
 * pw_genl_trunks_gone - a device that may carry trunks goes away, and their routers with it
 * @dev: the device; under RTNL
 */
void pw_genl_trunks_gone(struct net_device *dev)
{
	struct net *net = dev_net(dev);
	struct pw_router *r, *next;

	list_for_each_entry_safe(r, next, &pw_net(net)->routers, list)
		if (r->half[0].trunk && r->half[0].trunk->dev == dev)
			pw_genl_router_destroy(net, r);
}

int pw_genl_router_del(struct sk_buff *skb, struct genl_info *info)
{
	struct pw_router *r;

	rtnl_lock();
	r = pw_router_of(info);
	if (!IS_ERR(r))
		pw_genl_router_destroy(genl_info_net(info), r);
	rtnl_unlock();
	/* its SANs and the address of its trunk are free when the command returns */
	if (!IS_ERR(r))
		pw_dying_wait(genl_info_net(info));
	return PTR_ERR_OR_ZERO(r);
}

/* --- walking tables: SAN by SAN, port by port, table by table ---------------- */

#define PW_DUMP_SANS_DONE	LONG_MAX	/* cb->args[0] behind the last SAN */
#define PW_RTNL_BYTES		(64 << 10)	/* of records that are looked at in one go */

typedef int (*pw_table_fn)(struct sk_buff *msg, struct netlink_callback *cb, struct pw_half *h,
			   const struct pw_rrp_table *t);
typedef int (*pw_san_fn)(struct sk_buff *msg, struct netlink_callback *cb, struct pw_san *san);

/* a part of a dump lets others have RTNL, and goes on */
static void pw_table_dump_rest(struct netlink_callback *cb, struct net *net)
{
	unsigned int seq = cb->seq;

	rtnl_unlock();
	cond_resched();
	rtnl_lock();
	pw_genl_dump_begin(cb, net, true);
	/* as if what has changed meanwhile had done so between two parts */
	if (cb->seq != seq && !cb->prev_seq)
		cb->prev_seq = seq;
}

/* the tables of a half-router; @bytes: of them, since RTNL was taken */
static int pw_table_dump_half(struct sk_buff *msg, struct netlink_callback *cb, struct pw_half *h,
			      pw_table_fn fn, u32 *bytes)
{
	const struct pw_rrp_table *t;
	int err = 0;

	for (; cb->args[2] < h->db.ntables; cb->args[2]++) {
		if (*bytes >= PW_RTNL_BYTES)
			return -EAGAIN;
		t = &h->db.table[cb->args[2]];
		mutex_lock(&h->db_lock);
		if (t->used) {
			err = fn(msg, cb, h, t);
			*bytes += t->nodes_len;
		}
		mutex_unlock(&h->db_lock);
		if (err)
			return err;
		cb->args[3] = 0;
	}
	return 0;
}

static int pw_table_dump_san(struct sk_buff *msg, struct netlink_callback *cb, struct pw_san *san,
			     pw_san_fn first, pw_table_fn fn, u32 *bytes)
{
	struct pw_half *h;
	int err;

	err = first ? first(msg, cb, san) : 0;
	for (; !err && cb->args[1] < san->nports; cb->args[1]++) {
		h = pw_port_half(&san->port[cb->args[1]]);
		err = h ? pw_table_dump_half(msg, cb, h, fn, bytes) : 0;
		if (err)
			break;
		cb->args[2] = 0;
		cb->args[3] = 0;
	}
	return err;
}

/*
 * @first, if not NULL, is called for a SAN before its tables. Return: 0 at the end, or -EMSGSIZE.
 * cb->args: [0] SAN, [1] port, [2] table, [3] how far @fn is within the table,
 * [4] only this SAN + 1, [5] how far @first is
 *
 * Many records may make a short message, or none: RTNL is released after PW_RTNL_BYTES of them.
 */
static int pw_table_dump(struct sk_buff *msg, struct netlink_callback *cb, pw_san_fn first,
			 pw_table_fn fn)
{
	struct net *net = sock_net(msg->sk);
	struct pw_san *san;
	u32 bytes = 0;
	int err = 0;

	rtnl_lock();
	while (!err && (san = pw_san_next(net, &cb->args[0]))) {
		if (cb->args[4] && (long)san->id != cb->args[4] - 1) {
			if ((long)san->id > cb->args[4] - 1)
				break;
			cb->args[0] = san->id + 1;
			continue;
		}
		cb->args[0] = san->id;
		err = pw_table_dump_san(msg, cb, san, first, fn, &bytes);
		if (err == -EAGAIN) {
			bytes = 0;
			err = 0;
			pw_table_dump_rest(cb, net);
			continue;
		}
		if (err)
			break;
		cb->args[0] = san->id + 1;
		cb->args[1] = 0;
		cb->args[5] = 0;
	}
	rtnl_unlock();
	return err;
}

/* the SAN that a dump is restricted to */
static int pw_dump_san(struct netlink_callback *cb, int outer, int max,
		       const struct nla_policy *policy, int inner)
{
	struct nlattr *tb[PACKETWAY_A_ROUTE_MAX + 1];
	struct nlattr **attrs = genl_info_dump(cb)->attrs;

	BUILD_BUG_ON(PACKETWAY_A_NODE_MAX > PACKETWAY_A_ROUTE_MAX);
	if (cb->args[4] || !attrs || !attrs[outer])
		return 0;
	if (nla_parse_nested(tb, max, attrs[outer], policy, cb->extack))
		return -EINVAL;
	if (tb[inner])
		cb->args[4] = (long)nla_get_u32(tb[inner]) + 1;
	return 0;
}

/* --- routes -------------------------------------------------------------------- */

/* a route as the SAN has it, without the row of half-routers */
static int pw_route_put_entry(struct sk_buff *msg, const struct pw_san *san,
			      const struct pw_fib_entry *e)
{
	if (nla_put_u32(msg, PACKETWAY_A_ROUTE_SAN, san->id) ||
	    (!e->fixed && nla_put_u32(msg, PACKETWAY_A_ROUTE_TO, e->san)) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_FIRST, e->min) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_LAST, e->max) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_HR, pw_san_addr(san, e->port)) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_QUALITY, e->q) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_MTU, e->mtu * 8) ||
	    (e->fixed && nla_put_flag(msg, PACKETWAY_A_ROUTE_STATIC)))
		return -EMSGSIZE;
	return 0;
}

/* the route to this range that is in use; RCU held */
static const struct pw_fib_entry *pw_route_in_use(const struct pw_san *san, u32 first, u32 last)
{
	const struct pw_fib *fib = rcu_dereference(san->fib);
	u32 i;

	for (i = 0; fib && i < fib->n; i++)
		if (fib->e[i].min == first && fib->e[i].max == last)
			return &fib->e[i];
	return NULL;
}

/* static routes; cb->args[5]: how far */
static int pw_route_fill_fixed(struct sk_buff *msg, struct netlink_callback *cb,
			       struct pw_san *san)
{
	const struct pw_fib_entry *e, *used;
	struct nlattr *nest;
	bool best;
	void *hdr;

	for (; san->routes && cb->args[5] < san->routes->n; cb->args[5]++) {
		e = &san->routes->e[cb->args[5]];
		rcu_read_lock();
		used = pw_route_in_use(san, e->min, e->max);
		best = used && used->fixed && used->port == e->port;
		rcu_read_unlock();
		hdr = genlmsg_put(msg, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				  &pw_genl_family, NLM_F_MULTI, PACKETWAY_CMD_ROUTE_GET);
		if (!hdr)
			return -EMSGSIZE;
		nest = nla_nest_start(msg, PACKETWAY_A_ROUTE);
		if (!nest || pw_route_put_entry(msg, san, e) ||
		    (best && nla_put_flag(msg, PACKETWAY_A_ROUTE_BEST))) {
			genlmsg_cancel(msg, hdr);
			return -EMSGSIZE;
		}
		nla_nest_end(msg, nest);
		genlmsg_end(msg, hdr);
	}
	return 0;
}

static int pw_route_put_table(struct sk_buff *msg, const struct pw_half *h,
			      const struct pw_rrp_table *t)
{
	if (nla_put_u32(msg, PACKETWAY_A_ROUTE_SAN, h->san->id) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_TO, t->san) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_HR, h->addr) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_SERIAL, t->serial) ||
	    nla_put(msg, PACKETWAY_A_ROUTE_VIA, t->nrcvf * sizeof(t->rcvf[0]), t->rcvf))
		return -EMSGSIZE;
	return 0;
}

static int pw_route_fill(struct sk_buff *msg, struct netlink_callback *cb, struct pw_half *h,
			 const struct pw_rrp_table *t)
{
	const struct pw_fib_entry *e;
	struct nlattr *nest;
	bool best;
	void *hdr;

	if (t->own || !t->from_peer || !t->min)
		return 0;
	rcu_read_lock();
	e = pw_route_in_use(h->san, t->min, t->max);
	best = e && !e->fixed && e->port == h->port && e->q == t->q && e->hops == t->nrcvf &&
	       e->san == t->san;
	rcu_read_unlock();

	hdr = genlmsg_put(msg, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &pw_genl_family,
			  NLM_F_MULTI, PACKETWAY_CMD_ROUTE_GET);
	if (!hdr)
		return -EMSGSIZE;
	nest = nla_nest_start(msg, PACKETWAY_A_ROUTE);
	if (!nest || pw_route_put_table(msg, h, t) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_FIRST, t->min) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_LAST, t->max) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_QUALITY, t->q) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_MTU, t->mtu * 8) ||
	    (best && nla_put_flag(msg, PACKETWAY_A_ROUTE_BEST))) {
		genlmsg_cancel(msg, hdr);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	genlmsg_end(msg, hdr);
	return 0;
}

/* the station that a dump is restricted to, 0: none */
static u32 pw_dump_station(struct netlink_callback *cb)
{
	struct nlattr **attrs = genl_info_dump(cb)->attrs, *index;

	/* the policy has seen the nest */
	if (!attrs || !attrs[PACKETWAY_A_ROUTE])
		return 0;
	index = nla_find_nested(attrs[PACKETWAY_A_ROUTE], PACKETWAY_A_ROUTE_IFINDEX);
	return index ? nla_get_u32(index) : 0;
}

/* tables and static routes, then source routes, for which args 1 and 2 count again */
int pw_genl_route_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	u32 station = pw_dump_station(cb);
	int err = pw_dump_san(cb, PACKETWAY_A_ROUTE, PACKETWAY_A_ROUTE_MAX, pw_route_policy,
			      PACKETWAY_A_ROUTE_SAN);

	if (err)
		return err;
	pw_genl_dump_begin(cb, sock_net(skb->sk), true);
	if (cb->args[0] != PW_DUMP_SANS_DONE) {
		err = station ? 0 : pw_table_dump(skb, cb, pw_route_fill_fixed, pw_route_fill);
		if (!err) {
			cb->args[0] = PW_DUMP_SANS_DONE;
			cb->args[1] = 0;
			cb->args[2] = 0;
		}
	}
	if (!err)
		err = pw_genl_source_dump(skb, cb, station, cb->args[4] - 1, &cb->args[1]);
	return pw_genl_dump_end(skb, cb, err);
}

/* what ROUTE_NEW and ROUTE_DEL of a static route say; under RTNL */
static struct pw_san *pw_route_parse(struct genl_info *info, struct nlattr **tb,
				     struct pw_fib_entry *e)
{
	struct pw_san *san;
	int port;

	if (tb[PACKETWAY_A_ROUTE_L2RH]) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[PACKETWAY_A_ROUTE_L2RH],
				    "A source route is that of a station, which is missing");
		return ERR_PTR(-EINVAL);
	}
	if (!tb[PACKETWAY_A_ROUTE_SAN] || !tb[PACKETWAY_A_ROUTE_FIRST] ||
	    !tb[PACKETWAY_A_ROUTE_HR]) {
		NL_SET_ERR_MSG(info->extack,
			       "A route needs a SAN, a first address and a half-router");
		return ERR_PTR(-EINVAL);
	}
	san = pw_san_find(genl_info_net(info), nla_get_u32(tb[PACKETWAY_A_ROUTE_SAN]));
	if (!san) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[PACKETWAY_A_ROUTE_SAN],
				    "There is no SAN with this number in this namespace");
		return ERR_PTR(-ENOENT);
	}
	*e = (struct pw_fib_entry) { .fixed = true };
	e->min = nla_get_u32(tb[PACKETWAY_A_ROUTE_FIRST]);
	e->max = tb[PACKETWAY_A_ROUTE_LAST] ? nla_get_u32(tb[PACKETWAY_A_ROUTE_LAST]) : e->min;
	if (tb[PACKETWAY_A_ROUTE_QUALITY])
		e->q = nla_get_u32(tb[PACKETWAY_A_ROUTE_QUALITY]);
	if (tb[PACKETWAY_A_ROUTE_MTU])
		e->mtu = nla_get_u32(tb[PACKETWAY_A_ROUTE_MTU]) / 8;
	if (e->min > e->max) {
		NL_SET_ERR_MSG(info->extack, "The last address comes before the first one");
		return ERR_PTR(-ERANGE);
	}
	port = pw_san_port_of(san, nla_get_u32(tb[PACKETWAY_A_ROUTE_HR]));
	if (port < 0) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[PACKETWAY_A_ROUTE_HR],
				    "The half-router is not on this SAN");
		return ERR_PTR(-ERANGE);
	}
	e->port = port;
	return san;
}

typedef int (*pw_route_fn)(struct pw_san *san, const struct pw_fib_entry *e,
			   struct netlink_ext_ack *extack);

static int pw_route_change(struct genl_info *info, bool add, pw_route_fn change)
{
	struct nlattr *tb[PACKETWAY_A_ROUTE_MAX + 1];
	struct pw_san *san, *changed = NULL;
	struct pw_fib_entry e;
	u32 ticket = 0;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, PACKETWAY_A_ROUTE))
		return -EINVAL;
	nla_parse_nested(tb, PACKETWAY_A_ROUTE_MAX, info->attrs[PACKETWAY_A_ROUTE],
			 pw_route_policy, info->extack);
	rtnl_lock();
	if (tb[PACKETWAY_A_ROUTE_IFINDEX]) {
		err = pw_genl_source_change(info, tb, add);
	} else {
		san = pw_route_parse(info, tb, &e);
		err = IS_ERR(san) ? PTR_ERR(san) : change(san, &e, info->extack);
		if (!err) {
			changed = san;
			pw_san_keep(san);
			ticket = pw_fib_ticket(san);
		}
	}
	rtnl_unlock();
	if (changed) {
		/* the routes have it when the command returns */
		pw_fib_wait(changed, ticket);
		pw_san_forget(changed);
	}
	return err;
}

static int pw_route_add(struct pw_san *san, const struct pw_fib_entry *e,
			struct netlink_ext_ack *extack)
{
	if (!pw_port_half(&san->port[e->port])) {
		NL_SET_ERR_MSG(extack, "There is no half-router at this address");
		return -ENOENT;
	}
	return pw_fib_route_add(san, e, extack);
}

static int pw_route_del(struct pw_san *san, const struct pw_fib_entry *e,
			struct netlink_ext_ack *extack)
{
	int err = pw_fib_route_del(san, e);

	if (err == -ENOENT)
		NL_SET_ERR_MSG(extack, "No static route matches");
	return err;
}

int pw_genl_route_new(struct sk_buff *skb, struct genl_info *info)
{
	return pw_route_change(info, true, pw_route_add);
}

int pw_genl_route_del(struct sk_buff *skb, struct genl_info *info)
{
	return pw_route_change(info, false, pw_route_del);
}

/**
 * pw_genl_route_notify - the route that a SAN uses to a range is another one
 * @san: the SAN
 * @e: the route
 * @gone: it was the last one, and there is none now; process context
 */
void pw_genl_route_notify(struct pw_san *san, const struct pw_fib_entry *e, bool gone)
{
	struct sk_buff *msg;
	struct nlattr *nest;
	void *hdr;

	if (!genl_has_listeners(&pw_genl_family, san->net, 0))
		return;
	msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return;
	hdr = genlmsg_put(msg, 0, 0, &pw_genl_family, 0, PACKETWAY_CMD_ROUTE_NTF);
	nest = hdr ? nla_nest_start(msg, PACKETWAY_A_ROUTE) : NULL;
	if (!nest || pw_route_put_entry(msg, san, e) ||
	    nla_put_flag(msg, gone ? PACKETWAY_A_ROUTE_GONE : PACKETWAY_A_ROUTE_BEST)) {
		nlmsg_free(msg);
		return;
	}
	nla_nest_end(msg, nest);
	genlmsg_end(msg, hdr);
	pw_genl_notify(san->net, msg);
}

/* --- nodes ----------------------------------------------------------------------- */

/* a node's NAME, CAPA and LADR records stand in front of its SRQR */
static int pw_node_put(struct sk_buff *msg, const struct pw_half *h, const struct pw_rrp_rec *node,
		       bool local)
{
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;
	const u8 *end;

	if (nla_put_u32(msg, PACKETWAY_A_NODE_SAN, h->san->id) ||
	    nla_put_u32(msg, PACKETWAY_A_NODE_ADDR, node->addr) ||
	    (local && nla_put_flag(msg, PACKETWAY_A_NODE_LOCAL)))
		return -EMSGSIZE;
	end = node->data;
	pw_rrp_iter_nested(&it, node);
	while (pw_rrp_next(&it, &rec) > 0 && rec.type != PW_RRP_SRQR) {
		if (rec.type == PW_RRP_NAME) {
			struct nlattr *a;

			a = nla_reserve(msg, PACKETWAY_A_NODE_NAME, rec.data_len + 1);
			if (!a)
				return -EMSGSIZE;
			memcpy(nla_data(a), rec.data, rec.data_len);
			((u8 *)nla_data(a))[rec.data_len] = 0;
		}
		end = rec.raw + rec.size;
	}
	return end > node->data ? nla_put(msg, PACKETWAY_A_NODE_RECORDS, end - node->data,
					  node->data) : 0;
}

/* every SAN is shown by one table: the first half-router's best one */
static bool pw_node_table(const struct pw_half *h, const struct pw_rrp_table *t)
{
	u32 i;

	for (i = 0; i < h->port; i++)
		if (pw_port_half(&h->san->port[i]))
			return false;
	return pw_rrp_db_shows(&h->db, t);
}

static int pw_node_fill(struct sk_buff *msg, struct netlink_callback *cb, struct pw_half *h,
			const struct pw_rrp_table *t)
{
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;
	u32 before = PW_ADDR_UNDEF;
	struct nlattr *nest;
	long i = 0;
	void *hdr;

	if (!pw_node_table(h, t))
		return 0;
	pw_rrp_iter_init(&it, t->nodes, t->nodes_len);
	while (pw_rrp_next(&it, &rec) > 0) {
		/* a node with many logical addresses has further ADDRs */
		if (rec.type != PW_RRP_ADDR || rec.at != PW_RRP_AT_SINGLE || rec.addr == before)
			continue;
		before = rec.addr;
		if (i++ < cb->args[3])
			continue;
		hdr = genlmsg_put(msg, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				  &pw_genl_family, NLM_F_MULTI, PACKETWAY_CMD_NODE_GET);
		if (!hdr)
			return -EMSGSIZE;
		nest = nla_nest_start(msg, PACKETWAY_A_NODE);
		if (!nest || pw_node_put(msg, h, &rec, t->own)) {
			genlmsg_cancel(msg, hdr);
			return -EMSGSIZE;
		}
		nla_nest_end(msg, nest);
		genlmsg_end(msg, hdr);
		cb->args[3] = i;
	}
	return 0;
}

int pw_genl_node_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	int err = pw_dump_san(cb, PACKETWAY_A_NODE, PACKETWAY_A_NODE_MAX, pw_node_policy,
			      PACKETWAY_A_NODE_SAN);

	if (err)
		return err;
	pw_genl_dump_begin(cb, sock_net(skb->sk), true);
	return pw_genl_dump_end(skb, cb, pw_table_dump(skb, cb, NULL, pw_node_fill));
}

/* --- resolve ----------------------------------------------------------------------- */

static bool pw_resolve_is(const struct pw_rrp_rec *node, u32 addr, const char *name)
{
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;

	if (node->type != PW_RRP_ADDR || node->at != PW_RRP_AT_SINGLE)
		return false;
	if (!name)
		return node->addr == addr;
	pw_rrp_iter_nested(&it, node);
	while (pw_rrp_next(&it, &rec) > 0)
		if (rec.type == PW_RRP_NAME && rec.data_len == strlen(name) &&
		    !memcmp(rec.data, name, rec.data_len))
			return true;
	return false;
}

/* the node in one table */
static bool pw_resolve_node(const struct pw_rrp_table *t, u32 addr, const char *name,
			    struct pw_rrp_rec *node)
{
	struct pw_rrp_iter it;

	pw_rrp_iter_init(&it, t->nodes, t->nodes_len);
	while (pw_rrp_next(&it, node) > 0)
		if (pw_resolve_is(node, addr, name))
			return true;
	return false;
}

/**
 * struct pw_resolve - a search in the tables of a SAN
 * @msg: the answer
 * @san: the SAN, kept
 * @addr: the node, also if it was asked for by name
 * @name: its name, NULL: asked for by address
 * @local: it is on this SAN
 * @bytes: records that were looked at since RTNL was taken
 */
struct pw_resolve {
	struct sk_buff *msg;
	struct pw_san *san;
	u32 addr;
	const char *name;
	bool local;
	u32 bytes;
};

typedef int (*pw_resolve_fn)(struct pw_resolve *r, const struct pw_half *h,
			     const struct pw_rrp_table *t);

/* the half-router at a port of a SAN that is kept, or NULL; under RTNL */
static struct pw_half *pw_resolve_at(const struct pw_san *san, u32 port)
{
	return san->users ? pw_port_half(&san->port[port]) : NULL;
}

/*
 * Call @fn for the tables of the half-router at a port until it returns other than 0; what it
 * returned last. Records are looked at one by one: RTNL is released after PW_RTNL_BYTES.
 */
static int pw_resolve_tables(struct pw_resolve *r, u32 port, pw_resolve_fn fn)
{
	struct pw_half *h = pw_resolve_at(r->san, port);
	int ret = 0;
	u32 i;

	for (i = 0; h && i < h->db.ntables && !ret; i++) {
		mutex_lock(&h->db_lock);
		if (h->db.table[i].used) {
			ret = fn(r, h, &h->db.table[i]);
			r->bytes += h->db.table[i].nodes_len;
		}
		mutex_unlock(&h->db_lock);
		if (r->bytes < PW_RTNL_BYTES)
			continue;
		r->bytes = 0;
		rtnl_unlock();
		cond_resched();
		rtnl_lock();
		h = pw_resolve_at(r->san, port);
	}
	return ret;
}

/* put the node into the answer if it is in a table: 1, 0 or an errno */
static int pw_resolve_found(struct pw_resolve *r, const struct pw_half *h,
			    const struct pw_rrp_table *t)
{
	struct pw_rrp_rec node;
	struct nlattr *nest;

	if (!pw_resolve_node(t, r->addr, r->name, &node))
		return 0;
	r->addr = node.addr;
	r->local = t->own;
	nest = nla_nest_start(r->msg, PACKETWAY_A_NODE);
	if (!nest || pw_node_put(r->msg, h, &node, t->own))
		return -EMSGSIZE;
	nla_nest_end(r->msg, nest);
	return 1;
}

static int pw_resolve_route(struct sk_buff *msg, const struct pw_half *h,
			    const struct pw_rrp_route *r)
{
	u8 front[8 + PW_RRP_MAX_CSR];
	struct nlattr *nest, *a;
	u32 len = 0;

	if (!r->table->own) {
		len = pw_san_l2rh(h->san, h->port, front);
		memcpy(front + len, r->table->csr, r->table->csr_len);
		len += r->table->csr_len;
	}
	nest = nla_nest_start(msg, PACKETWAY_A_ROUTE);
	if (!nest || pw_route_put_table(msg, h, r->table) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_QUALITY, r->q) ||
	    nla_put_u32(msg, PACKETWAY_A_ROUTE_MTU,
			8 * pw_rrp_mtu_min(r->mtu, READ_ONCE(h->mtu) / 8)))
		return -EMSGSIZE;
	a = nla_reserve(msg, PACKETWAY_A_ROUTE_L2RH, len + r->own_len);
	if (!a)
		return -EMSGSIZE;
	memcpy(nla_data(a), front, len);
	memcpy(nla_data(a) + len, r->own, r->own_len);
	nla_nest_end(msg, nest);
	return 0;
}

/* the route that a table offers */
static int pw_resolve_offer(struct pw_resolve *r, const struct pw_half *h,
			    const struct pw_rrp_table *t)
{
	struct pw_rrp_route route;

	if (t->own != r->local || (!t->own && !t->from_peer) ||
	    !pw_rrp_table_lookup(t, r->addr, &route) || !route.own_len)
		return 0;
	return pw_resolve_route(r->msg, h, &route);
}

/* the node, and the routes to it: of the own SAN those of the first half-router that knows it */
static int pw_resolve(struct pw_resolve *r, struct genl_info *info)
{
	bool found = false;
	int err = 0;
	void *hdr;
	u32 i;

	hdr = genlmsg_put(r->msg, info->snd_portid, info->snd_seq, &pw_genl_family, 0,
			  PACKETWAY_CMD_RESOLVE);
	if (!hdr)
		return -EMSGSIZE;
	for (i = 0; i < r->san->nports && !err && !(found && r->local); i++) {
		if (!found) {
			err = pw_resolve_tables(r, i, pw_resolve_found);
			if (err <= 0)
				continue;
			found = true;
		}
		err = pw_resolve_tables(r, i, pw_resolve_offer);
	}
	genlmsg_end(r->msg, hdr);
	return err ? err : found ? 0 : -ENOENT;
}

int pw_genl_resolve(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[PACKETWAY_A_NODE_MAX + 1];
	struct pw_resolve r = {};
	struct pw_san *san;
	u32 ticket;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, PACKETWAY_A_NODE))
		return -EINVAL;
	nla_parse_nested(tb, PACKETWAY_A_NODE_MAX, info->attrs[PACKETWAY_A_NODE], pw_node_policy,
			 info->extack);
	if (!tb[PACKETWAY_A_NODE_SAN] ||
	    !tb[PACKETWAY_A_NODE_ADDR] == !tb[PACKETWAY_A_NODE_NAME]) {
		NL_SET_ERR_MSG(info->extack, "A SAN and an address or a name are needed");
		return -EINVAL;
	}
	if (tb[PACKETWAY_A_NODE_NAME])
		r.name = nla_data(tb[PACKETWAY_A_NODE_NAME]);
	else
		r.addr = nla_get_u32(tb[PACKETWAY_A_NODE_ADDR]);

	r.msg = genlmsg_new(NLMSG_DEFAULT_SIZE * 2, GFP_KERNEL);
	if (!r.msg)
		return -ENOMEM;
	rtnl_lock();
	san = pw_san_find(genl_info_net(info), nla_get_u32(tb[PACKETWAY_A_NODE_SAN]));
	if (!san) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[PACKETWAY_A_NODE_SAN],
				    "There is no SAN with this number in this namespace");
		rtnl_unlock();
		nlmsg_free(r.msg);
		return -ENOENT;
	}
	pw_san_keep(san);
	r.san = san;
	err = pw_resolve(&r, info);
	ticket = pw_fib_ticket(san);
	rtnl_unlock();
	/* who is told of a node can send to it */
	if (!err)
		pw_fib_wait(san, ticket);
	pw_san_forget(san);
	if (err == -ENOENT)
		NL_SET_ERR_MSG(info->extack, "No half-router of this SAN knows the node");
	if (err) {
		nlmsg_free(r.msg);
		return err;
	}
	return genlmsg_reply(r.msg, info);
}
