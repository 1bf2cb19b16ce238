// SPDX-License-Identifier: GPL-2.0
/* packetway: module init and exit, in the order in which things are needed. */
#include <linux/module.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <net/rtnetlink.h>

#include "pw_genl.h"
#include "pw_mon.h"
#include "pw_reduce.h"
#include "pw_share.h"
#include "pw_time.h"
#include "pw_trunk.h"

static int __net_init pw_net_init(struct net *net)
{
	struct pw_net *pn = pw_net(net);

	xa_init(&pn->sans);
	mutex_init(&pn->san_change);
	INIT_LIST_HEAD(&pn->routers);
	INIT_LIST_HEAD(&pn->mons);
	pw_esp_net_init(&pn->esp);
	return pw_limits_net_init(net);
}

static void __net_exit pw_net_exit(struct net *net)
{
	pw_dying_net_exit(net);
	pw_san_net_exit(net);
	pw_limits_net_exit(net);
}

/*
 * A SAN dies with its home namespace: stations that were moved elsewhere go
 * too, as the far ends of tunnels do.
 */
static void __net_exit pw_net_exit_rtnl(struct net *net, struct list_head *kill)
{
	pw_router_net_kill(net);
	pw_san_net_kill(net, kill);
}

PW_EXIT_RTNL(pw_net_exit_rtnl)

/*
 * The state of a namespace is a subsystem: it exists before the first device of the
 * namespace and after the last one. Device notifiers therefore always find it, also
 * where making a namespace fails and its loopback device is unregistered again.
 */
static struct pernet_operations pw_net_ops = {
	.init = pw_net_init,
	.exit = pw_net_exit,
	.id = &pw_net_id,
	.size = sizeof(struct pw_net),
};

/* SANs are deleted together with the devices of the namespace */
static struct pernet_operations pw_net_dev_ops = {
	PW_EXIT_RTNL_OP(pw_net_exit_rtnl),
};

/*
 * No IPv6 chatter on a link without configuration: stations start without a
 * link-local address (`ip link set ... addrgenmode eui64` asks for one). The
 * setting belongs to the namespace's inet6_dev, which is made anew with each move.
 */
static void pw_dev_registered(struct net_device *dev)
{
	struct inet6_dev *idev = __in6_dev_get(dev);

	if (idev)
		WRITE_ONCE(idev->cnf.addr_gen_mode, IN6_ADDR_GEN_MODE_NONE);
}

static void pw_station_event(struct net_device *dev, unsigned long event)
{
	switch (event) {
	case NETDEV_REGISTER:
		pw_dev_registered(dev);
		break;
	case NETDEV_CHANGE:	/* the alias too */
	case NETDEV_CHANGENAME:
	case NETDEV_CHANGEMTU:
		pw_rrp_station_changed(netdev_priv(dev));
		break;
	}
}

/* any other device may carry trunks */
static int pw_other_event(struct net_device *dev, unsigned long event)
{
	switch (event) {
	case NETDEV_UNREGISTER:
		pw_genl_trunks_gone(dev);
		break;
	case NETDEV_CHANGEMTU:
		pw_trunk_dev_mtu(dev);
		break;
	case NETDEV_PRE_TYPE_CHANGE:
		/* a trunk has addresses of Ethernet, and room for its header */
		if (pw_trunk_on_dev(dev))
			return notifier_from_errno(-EBUSY);
		break;
	}
	return NOTIFY_DONE;
}

static int pw_dev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	if (pw_netdev_is(dev))
		pw_station_event(dev, event);
	else if (pw_mon_is(dev) && event == NETDEV_REGISTER)
		pw_dev_registered(dev);
	else
		return pw_other_event(dev, event);
	return NOTIFY_DONE;
}

/* behind addrconf, which makes the inet6_dev */
static struct notifier_block pw_dev_notifier = {
	.notifier_call = pw_dev_event,
	.priority = -10,
};

/* what all devices share */
static void pw_shared_exit(void)
{
	pw_debugfs_exit();
	destroy_workqueue(pw_wq);
	pw_reduce_work_exit();
	pw_rrp_exit();
	pw_time_exit();
	pw_share_exit();
	pw_passive_exit();
	pw_fab_exit();
}

static int __init pw_shared_init(void)
{
	int err;

	err = pw_fab_init();
	if (err)
		return err;
	err = pw_passive_init();
	if (err)
		goto err_fab;
	err = pw_share_init();
	if (err)
		goto err_passive;
	err = pw_rrp_init();
	if (err)
		goto err_share;
	err = pw_reduce_work_init();
	if (err)
		goto err_rrp;
	pw_wq = alloc_workqueue("packetway", WQ_UNBOUND, 0);
	if (!pw_wq) {
		err = -ENOMEM;
		goto err_reduce;
	}
	pw_debugfs_init();
	return 0;

err_reduce:
	pw_reduce_work_exit();
err_rrp:
	pw_rrp_exit();
err_share:
	pw_share_exit();
err_passive:
	pw_passive_exit();
err_fab:
	pw_fab_exit();
	return err;
}

/* namespaces, and the kinds of devices in them */
static void pw_kinds_exit(void)
{
	rtnl_link_unregister(&pw_mon_link_ops);
	rtnl_link_unregister(&pw_link_ops);
	unregister_netdevice_notifier(&pw_dev_notifier);
	unregister_pernet_device(&pw_net_dev_ops);
	unregister_pernet_subsys(&pw_net_ops);
	pw_mon_exit();
	/* callbacks of RCU live in this module's text */
	rcu_barrier();
}

static int __init pw_kinds_init(void)
{
	int err;

	err = register_pernet_subsys(&pw_net_ops);
	if (err)
		return err;
	pw_limits_start();

	err = register_pernet_device(&pw_net_dev_ops);
	if (err)
		goto err_pernet;

	err = register_netdevice_notifier(&pw_dev_notifier);
	if (err)
		goto err_pernet_dev;

	err = rtnl_link_register(&pw_link_ops);
	if (err)
		goto err_notifier;

	err = rtnl_link_register(&pw_mon_link_ops);
	if (err)
		goto err_link;
	return 0;

err_link:
	rtnl_link_unregister(&pw_link_ops);
err_notifier:
	unregister_netdevice_notifier(&pw_dev_notifier);
err_pernet_dev:
	unregister_pernet_device(&pw_net_dev_ops);
err_pernet:
	unregister_pernet_subsys(&pw_net_ops);
	rcu_barrier();
	return err;
}

static int __init pw_init(void)
{
	struct net_device *dev;
	int err;

	err = pw_shared_init();
	if (err)
		return err;
	err = pw_kinds_init();
	if (err)
		goto err_shared;
	err = pw_genl_register();
	if (err)
		goto err_kinds;
	dev = pw_link_create_default(&init_net);
	if (IS_ERR(dev)) {
		err = PTR_ERR(dev);
		goto err_genl;
	}
	/* last: a file that is open holds a module only if its init has not failed */
	err = pw_cdev_register();
	if (err)
		goto err_genl;
	return 0;

err_genl:
	/* pw_kinds_exit() deletes the station */
	pw_genl_unregister();
err_kinds:
	pw_kinds_exit();
err_shared:
	pw_shared_exit();
	return err;
}

static void __exit pw_exit(void)
{
	pw_cdev_unregister();
	pw_genl_unregister();
	pw_kinds_exit();
	pw_shared_exit();
}

module_init(pw_init);
module_exit(pw_exit);

MODULE_DESCRIPTION("PacketWay system-area network: stations, ATON ring and BMX fabric");
MODULE_AUTHOR("packetway maintainers");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
MODULE_ALIAS_RTNL_LINK("packetway");
MODULE_ALIAS_RTNL_LINK("pwmon");
MODULE_ALIAS("devname:" PACKETWAY_DEVICE);
