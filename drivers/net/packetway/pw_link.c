// SPDX-License-Identifier: GPL-2.0
/* rtnetlink: `ip link add ... type packetway`. Every refusal says why. */
#include <linux/rtnetlink.h>
#include <net/rtnetlink.h>

#include "pw_router.h"

static const struct nla_policy pw_link_policy[IFLA_PACKETWAY_MAX + 1] = {
	[IFLA_PACKETWAY_SAN] = NLA_POLICY_MAX(NLA_U32, PACKETWAY_SAN_MAX),
	[IFLA_PACKETWAY_PORT] = NLA_POLICY_MAX(NLA_U32, PACKETWAY_PORTS_MAX - 1),
	[IFLA_PACKETWAY_ADDR] = { .type = NLA_REJECT,
				  .reject_message = "The address follows from SAN and port" },
	[IFLA_PACKETWAY_ORDER] = NLA_POLICY_MAX(NLA_U32, __PACKETWAY_ORDER_MAX - 1),
};

static int pw_validate(struct nlattr *tb[], struct nlattr *data[],
		       struct netlink_ext_ack *extack)
{
	if (tb[IFLA_ADDRESS]) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS],
				    "The address follows from SAN and port and cannot be set");
		return -EOPNOTSUPP;
	}
	if (tb[IFLA_BROADCAST]) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_BROADCAST],
				    "The broadcast address is 7f:ff:ff and cannot be set");
		return -EOPNOTSUPP;
	}
	return 0;
}

static int pw_pick_port(struct pw_san *san, struct nlattr *attr,
			struct netlink_ext_ack *extack)
{
	u32 port;

	if (!attr)
		return pw_san_port_find(san, extack);

	port = nla_get_u32(attr);
	if (port >= san->nports) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "The SAN has no such port");
		return -ERANGE;
	}
	if (pw_port_station(&san->port[port])) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "The port has a station already");
		return -EBUSY;
	}
	if (pw_port_half(&san->port[port])) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "The port has a router already");
		return -EBUSY;
	}
	return port;
}

static int pw_newlink(struct net_device *dev, struct rtnl_newlink_params *params,
		      struct netlink_ext_ack *extack)
{
	struct pw_station *st = netdev_priv(dev);
	struct nlattr *none[IFLA_PACKETWAY_MAX + 1] = {};
	struct nlattr **data = params->data;
	u8 addr[PW_ADDR_LEN];
	struct pw_san *san;
	u32 id = 0;
	int port;
	int err;

	if (!data)
		data = none;
	if (data[IFLA_PACKETWAY_SAN])
		id = nla_get_u32(data[IFLA_PACKETWAY_SAN]);

	san = pw_san_get(rtnl_newlink_link_net(params), id, extack);
	if (IS_ERR(san))
		return PTR_ERR(san);

	port = pw_pick_port(san, data[IFLA_PACKETWAY_PORT], extack);
	if (port < 0) {
		err = port;
		goto err_san;
	}

	if (dev->mtu > san->mtu) {
		NL_SET_ERR_MSG_ATTR(extack, params->tb[IFLA_MTU], PW_SAN_MTU_RING);
		err = -EINVAL;
		goto err_san;
	}
	err = pw_limit_charge(san->net, PW_LIMIT_STATIONS, 1, extack);
	if (err)
		goto err_san;
	st->dev = dev;
	st->san = san;
	st->port = port;
	st->addr = pw_san_addr(san, port);
	if (data[IFLA_PACKETWAY_ORDER])
		st->order = nla_get_u32(data[IFLA_PACKETWAY_ORDER]);
	put_unaligned_be24(st->addr, addr);
	__dev_addr_set(dev, addr, PW_ADDR_LEN);

	err = register_netdevice(dev);
	if (err) {
		/* once ndo_init has run, ndo_uninit has given the SAN back */
		if (!st->attached)
			goto err_limit;
		return err;
	}
	return 0;

err_limit:
	pw_limit_uncharge(san->net, PW_LIMIT_STATIONS, 1);
err_san:
	pw_san_put(san);
	return err;
}

PW_NEWLINK(pw_newlink)

static int pw_changelink(struct net_device *dev, struct nlattr *tb[], struct nlattr *data[],
			 struct netlink_ext_ack *extack)
{
	struct pw_station *st = netdev_priv(dev);

	if (!data)
		return 0;
	if (data[IFLA_PACKETWAY_SAN] && nla_get_u32(data[IFLA_PACKETWAY_SAN]) != st->san->id) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_PACKETWAY_SAN],
				    "A station cannot change its SAN; delete it and add another");
		return -EOPNOTSUPP;
	}
	if (data[IFLA_PACKETWAY_PORT] && nla_get_u32(data[IFLA_PACKETWAY_PORT]) != st->port) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_PACKETWAY_PORT],
				    "A station cannot change its port; delete it and add another");
		return -EOPNOTSUPP;
	}
	if (data[IFLA_PACKETWAY_ORDER])
		WRITE_ONCE(st->order, nla_get_u32(data[IFLA_PACKETWAY_ORDER]));
	return 0;
}

static void pw_dellink(struct net_device *dev, struct list_head *head)
{
	unregister_netdevice_queue(dev, head);
}

static size_t pw_get_size(const struct net_device *dev)
{
	return nla_total_size(sizeof(u32)) +	/* IFLA_PACKETWAY_SAN */
	       nla_total_size(sizeof(u32)) +	/* IFLA_PACKETWAY_PORT */
	       nla_total_size(sizeof(u32)) +	/* IFLA_PACKETWAY_ADDR */
	       nla_total_size(sizeof(u32));	/* IFLA_PACKETWAY_ORDER */
}

static int pw_fill_info(struct sk_buff *skb, const struct net_device *dev)
{
	const struct pw_station *st = netdev_priv(dev);

	if (nla_put_u32(skb, IFLA_PACKETWAY_SAN, st->san->id) ||
	    nla_put_u32(skb, IFLA_PACKETWAY_PORT, st->port) ||
	    nla_put_u32(skb, IFLA_PACKETWAY_ADDR, st->addr) ||
	    nla_put_u32(skb, IFLA_PACKETWAY_ORDER, READ_ONCE(st->order)))
		return -EMSGSIZE;
	return 0;
}

static struct net *pw_get_link_net(const struct net_device *dev)
{
	const struct pw_station *st = netdev_priv(dev);

	return READ_ONCE(st->san->net);
}

struct rtnl_link_ops pw_link_ops __read_mostly = {
	.kind = PACKETWAY_KIND,
	.priv_size = sizeof(struct pw_station),
	.setup = pw_netdev_setup,
	.maxtype = IFLA_PACKETWAY_MAX,
	.policy = pw_link_policy,
	.validate = pw_validate,
	.newlink = pw_newlink_op,
	.changelink = pw_changelink,
	.dellink = pw_dellink,
	.get_size = pw_get_size,
	.fill_info = pw_fill_info,
	.get_link_net = pw_get_link_net,
};

/**
 * pw_link_create_default - the station that comes with the module
 * @net: namespace in which it appears
 *
 * Return: pw0 on port 0 of SAN 0, or an ERR_PTR.
 */
struct net_device *pw_link_create_default(struct net *net)
{
	struct nlattr *tb[IFLA_MAX + 1] = {};
	struct rtnl_newlink_params params = { .src_net = net, .tb = tb };
	struct net_device *dev;
	int err;

	rtnl_lock();
	dev = rtnl_create_link(net, "pw%d", NET_NAME_ENUM, &pw_link_ops, tb, NULL);
	if (IS_ERR(dev))
		goto out;
	err = pw_newlink(dev, &params, NULL);
	if (err) {
		free_netdev(dev);
		dev = ERR_PTR(err);
		goto out;
	}
	err = rtnl_configure_link(dev, NULL, 0, NULL);
	if (err) {
		unregister_netdevice(dev);
		dev = ERR_PTR(err);
	}
out:
	rtnl_unlock();
	return dev;
}
