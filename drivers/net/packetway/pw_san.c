// SPDX-License-Identifier: GPL-2.0
/* SANs: the networks that stations sit on. */
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/netns/generic.h>

#include "pw_priv.h"

static struct xarray *pw_sans(struct net *net)
{
	struct pw_net *pn = net_generic(net, pw_net_id);

	return &pn->sans;
}

static struct pw_san *pw_san_create(struct net *net, u32 id, struct netlink_ext_ack *extack)
{
	u32 nports = PACKETWAY_PORTS_DEFAULT;
	struct pw_san *san;
	int err;

	san = kzalloc(struct_size(san, port, nports), GFP_KERNEL_ACCOUNT);
	if (!san)
		return ERR_PTR(-ENOMEM);

	san->engine = &pw_engine_none;
	san->id = id;
	san->net = net;
	san->nports = nports;
	san->radix = int_sqrt(nports);
	/*
	 * A SAN numbers its nodes 1..n and adds a bias, so that an address tells
	 * its SAN. 256 apart leaves room for the largest SAN.
	 */
	san->bias = id * PACKETWAY_PORTS_MAX;

	err = xa_insert(pw_sans(net), id, san, GFP_KERNEL_ACCOUNT);
	if (err) {
		NL_SET_ERR_MSG(extack, "No memory to register the SAN");
		kfree(san);
		return ERR_PTR(err);
	}
	return san;
}

/**
 * pw_san_get - find SAN @id of a namespace, or make it, and take a share of it
 * @net: home namespace
 * @id: SAN number, already checked against PACKETWAY_SAN_MAX
 * @extack: where a refusal is explained
 *
 * Return: the SAN, or an ERR_PTR. Under RTNL; pw_san_put() gives the share back.
 */
struct pw_san *pw_san_get(struct net *net, u32 id, struct netlink_ext_ack *extack)
{
	struct pw_san *san;

	ASSERT_RTNL();
	san = xa_load(pw_sans(net), id);
	if (!san) {
		san = pw_san_create(net, id, extack);
		if (IS_ERR(san))
			return san;
	}
	san->users++;
	return san;
}

/**
 * pw_san_put - give back a share of a SAN; the last one frees it
 * @san: the SAN; under RTNL
 */
void pw_san_put(struct pw_san *san)
{
	ASSERT_RTNL();
	if (--san->users)
		return;
	xa_erase(pw_sans(san->net), san->id);
	kfree_rcu(san, rcu);
}

/**
 * pw_san_port_find - lowest free port of a SAN
 * @san: the SAN; under RTNL
 * @extack: where a refusal is explained
 *
 * Return: a port number or -ENOSPC.
 */
int pw_san_port_find(struct pw_san *san, struct netlink_ext_ack *extack)
{
	u32 i;

	for (i = 0; i < san->nports; i++)
		if (!rtnl_dereference(san->port[i].station))
			return i;
	NL_SET_ERR_MSG(extack, "Every port of this SAN has a station; choose another SAN");
	return -ENOSPC;
}

/**
 * pw_san_native_route - read an L2RH's bytes as a route of this SAN
 * @san: the SAN that consumes the L2RH
 * @route: routing bytes
 * @len: their number
 * @cb: gets route and dst_port
 *
 * The native route of a three-stage BMX network is its list of output ports:
 * middle switch, output switch, output.
 *
 * Return: 0, or -EINVAL for a route that this SAN does not have.
 */
int pw_san_native_route(const struct pw_san *san, const u8 *route, unsigned int len,
			struct pw_skb_cb *cb)
{
	if (len != 3 || route[0] >= san->radix || route[1] >= san->radix ||
	    route[2] >= san->radix)
		return -EINVAL;
	cb->route = route[0];
	cb->dst_port = route[1] * san->radix + route[2];
	return 0;
}

void pw_san_net_init(struct net *net)
{
	xa_init(pw_sans(net));
}

void pw_san_net_exit(struct net *net)
{
	WARN_ON_ONCE(!xa_empty(pw_sans(net)));
	xa_destroy(pw_sans(net));
}

/**
 * pw_san_net_kill - queue every station of a namespace's SANs for deletion
 * @net: namespace that is going away
 * @kill: list for unregister_netdevice_many(); under RTNL
 */
void pw_san_net_kill(struct net *net, struct list_head *kill)
{
	struct pw_station *st;
	struct pw_san *san;
	unsigned long id;
	u32 i;

	xa_for_each(pw_sans(net), id, san) {
		for (i = 0; i < san->nports; i++) {
			st = rtnl_dereference(san->port[i].station);
			if (st)
				unregister_netdevice_queue(st->dev, kill);
		}
	}
}
