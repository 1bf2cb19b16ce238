// SPDX-License-Identifier: GPL-2.0
/* Generic netlink family "packetway": the table of commands. */
#include <linux/module.h>

#include "pw_genl.h"
#include "pw_router.h"

static const struct nla_policy pw_genl_policy[PACKETWAY_A_MAX + 1] = {
	[PACKETWAY_A_SAN] = NLA_POLICY_NESTED(pw_san_policy),
	[PACKETWAY_A_ESP] = NLA_POLICY_NESTED(pw_esp_policy),
	[PACKETWAY_A_ROUTER] = NLA_POLICY_NESTED(pw_router_policy),
	[PACKETWAY_A_ROUTE] = NLA_POLICY_NESTED(pw_route_policy),
	[PACKETWAY_A_NODE] = NLA_POLICY_NESTED(pw_node_policy),
	[PACKETWAY_A_POETS] = NLA_POLICY_NESTED(pw_poets_policy),
};

static const struct genl_small_ops pw_genl_ops[] = {
	{
		.cmd = PACKETWAY_CMD_SAN_GET,
		.doit = pw_genl_san_get,
		.dumpit = pw_genl_san_dump,
	},
	{
		.cmd = PACKETWAY_CMD_SAN_NEW,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = pw_genl_san_new,
	},
	{
		.cmd = PACKETWAY_CMD_SAN_SET,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = pw_genl_san_set,
	},
	{
		.cmd = PACKETWAY_CMD_SAN_DEL,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = pw_genl_san_del,
	},
	{
		.cmd = PACKETWAY_CMD_ESP_GET,
		.doit = pw_genl_esp_get,
		.dumpit = pw_genl_esp_dump,
	},
	{
		.cmd = PACKETWAY_CMD_ESP_SET,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = pw_genl_esp_set,
	},
	{
		.cmd = PACKETWAY_CMD_ESP_BINDING_GET,
		.flags = GENL_UNS_ADMIN_PERM,
		.dumpit = pw_genl_esp_binding_dump,
	},
	{
		.cmd = PACKETWAY_CMD_ROUTER_GET,
		.doit = pw_genl_router_get,
		.dumpit = pw_genl_router_dump,
	},
	{
		.cmd = PACKETWAY_CMD_ROUTER_NEW,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = pw_genl_router_new,
	},
	{
		.cmd = PACKETWAY_CMD_ROUTER_DEL,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = pw_genl_router_del,
	},
	{
		.cmd = PACKETWAY_CMD_ROUTE_GET,
		.dumpit = pw_genl_route_dump,
	},
	{
		.cmd = PACKETWAY_CMD_ROUTE_NEW,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = pw_genl_route_new,
	},
	{
		.cmd = PACKETWAY_CMD_ROUTE_DEL,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = pw_genl_route_del,
	},
	{
		.cmd = PACKETWAY_CMD_NODE_GET,
		.dumpit = pw_genl_node_dump,
	},
	{
		.cmd = PACKETWAY_CMD_RESOLVE,
		.doit = pw_genl_resolve,
	},
	{
		.cmd = PACKETWAY_CMD_POETS_GET,
		.dumpit = pw_genl_poets_dump,
	},
};

static const struct genl_multicast_group pw_genl_groups[] = {
	{ .name = PACKETWAY_MCGRP_EVENTS },
};

struct genl_family pw_genl_family __ro_after_init = {
	.name = PACKETWAY_GENL_NAME,
	.version = PACKETWAY_GENL_VERSION,
	.maxattr = PACKETWAY_A_MAX,
	.policy = pw_genl_policy,
	.netnsok = true,
	/* RTNL orders what needs an order; who waits here must not stop other families */
	.parallel_ops = true,
	.module = THIS_MODULE,
	.small_ops = pw_genl_ops,
	.n_small_ops = ARRAY_SIZE(pw_genl_ops),
	.resv_start_op = PACKETWAY_CMD_UNSPEC + 1,
	.mcgrps = pw_genl_groups,
	.n_mcgrps = ARRAY_SIZE(pw_genl_groups),
};

/**
 * pw_genl_dump_begin - a part of a dump begins
 * @cb: the dump
 * @net: namespace whose objects it has
 * @tables: tables of half-routers are among these
 *
 * Dumps count the entries that they have sent. If an entry before these goes, another one is
 * missed: then the next message says NLM_F_DUMP_INTR, and who asked has to ask again.
 */
void pw_genl_dump_begin(struct netlink_callback *cb, struct net *net, bool tables)
{
	struct pw_net *pn = pw_net(net);

	cb->seq = atomic_read(&pn->lists) + READ_ONCE(net->dev_base_seq);
	if (tables)
		cb->seq += atomic_read(&pn->tables);
	/* 0 stands for no number */
	if (!cb->seq)
		cb->seq = 1;
}

/**
 * pw_genl_dump_end - a part of a dump ends
 * @skb: its message
 * @cb: the dump
 * @err: its last record did not fit
 *
 * Return: what the dump has to. The next part goes on with that record; one that does not fit an
 * empty message ends the dump with an error.
 */
int pw_genl_dump_end(struct sk_buff *skb, struct netlink_callback *cb, int err)
{
	if (!skb->len)
		return err;
	nl_dump_check_consistent(cb, nlmsg_hdr(skb));
	return skb->len;
}

void pw_genl_notify(struct net *net, struct sk_buff *msg)
{
	if (msg)
		genlmsg_multicast_netns(&pw_genl_family, net, msg, 0, 0, GFP_KERNEL);
}

int __init pw_genl_register(void)
{
	pw_fib_notify = pw_genl_route_notify;
	pw_router_notify = pw_genl_router_notify;
	return genl_register_family(&pw_genl_family);
}

void pw_genl_unregister(void)
{
	genl_unregister_family(&pw_genl_family);
}
