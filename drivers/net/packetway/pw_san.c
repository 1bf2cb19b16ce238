// SPDX-License-Identifier: GPL-2.0
/*
 * SANs: the networks that stations and half-routers sit on. How they are found, shared and
 * addressed; pw_san_make.c makes them.
 */
#include <linux/debugfs.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "pw_priv.h"

/* SAN @id of a namespace, or NULL; under RTNL */
struct pw_san *pw_san_find(struct net *net, u32 id)
{
	ASSERT_RTNL();
	return xa_load(&pw_net(net)->sans, id);
}

/* first SAN of a namespace with a number of at least *@id, or NULL; under RTNL */
struct pw_san *pw_san_next(struct net *net, unsigned long *id)
{
	ASSERT_RTNL();
	return xa_find(&pw_net(net)->sans, id, ULONG_MAX, XA_PRESENT);
}

/**
 * pw_san_put - give back a share of a SAN; the last one frees it
 * @san: the SAN; under RTNL
 *
 * What takes long is done by a work item, after a grace period and without RTNL. The
 * SAN counts against the limit of its namespace until then.
 */
void pw_san_put(struct pw_san *san)
{
	ASSERT_RTNL();
	if (--san->users)
		return;
	xa_erase(&pw_net(san->net)->sans, san->id);
	atomic_inc(&pw_net(san->net)->lists);
	/* waits for writers */
	debugfs_remove(san->debugfs);
	pw_ptp_destroy(san->ptp);
	pw_dying_add(san->net);
	queue_rcu_work(pw_wq, &san->gone);
}

/**
 * pw_san_keep - keep the structure of a SAN, not the SAN
 * @san: the SAN; under RTNL
 *
 * It may end, and need not wait for pw_san_forget().
 */
void pw_san_keep(struct pw_san *san)
{
	ASSERT_RTNL();
	refcount_inc(&san->memory);
}

/* the end of pw_san_keep(), or of the SAN */
void pw_san_forget(struct pw_san *san)
{
	if (refcount_dec_and_test(&san->memory))
		kfree(san);
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
		if (!rcu_access_pointer(san->port[i].end))
			return i;
	NL_SET_ERR_MSG(extack,
		       "Every port of this SAN has a station or router; choose another SAN");
	return -ENOSPC;
}

/**
 * pw_san_native_route - read an L2RH's bytes as a route of this SAN
 * @san: the SAN that consumes the L2RH
 * @route: routing bytes
 * @len: their number
 * @cb: gets path and dst_port
 *
 * The native route of a three-stage BMX network is its list of output ports:
 * middle switch, output switch, output. Of any other topology it is the path, then the port as
 * two digits of base radix, which stay the same when the topology changes.
 *
 * Return: 0, or -EINVAL for a route that this SAN does not have.
 */
int pw_san_native_route(const struct pw_san *san, const u8 *route, unsigned int len,
			struct pw_skb_cb *cb)
{
	u32 port;

	/* pw_san_l2rh() writes paths below radix, whatever the topology */
	if (len != 3 || route[0] >= max(san->radix, READ_ONCE(san->paths)) ||
	    route[1] >= san->radix || route[2] >= san->radix)
		return -EINVAL;
	port = route[1] * san->radix + route[2];
	if (port >= san->nports)
		return -EINVAL;
	cb->path = route[0];
	cb->dst_port = port;
	return 0;
}

/**
 * pw_san_l2rh - write the L2RH that leads to a port
 * @san: the SAN that consumes it
 * @port: the port
 * @out: one word
 *
 * Return: bytes written.
 */
u32 pw_san_l2rh(const struct pw_san *san, u32 port, u8 out[8])
{
	u8 route[3] = { port % san->radix, port / san->radix, port % san->radix };

	return pw_eep_put_l2rh(out, 8, route, sizeof(route));
}

/**
 * pw_san_changed - nodes of a SAN have come, gone or changed
 * @san: the SAN; any context
 */
void pw_san_changed(struct pw_san *san)
{
	if (READ_ONCE(san->nhalves))
		queue_delayed_work(system_percpu_wq, &san->rrp_work, PW_SAN_SOON);
}

/* the routes from a SAN have changed: report them, also if no router is left */
void pw_san_routes_changed(struct pw_san *san)
{
	queue_delayed_work(system_percpu_wq, &san->rrp_work, PW_SAN_SOON);
}
