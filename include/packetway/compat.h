/* SPDX-License-Identifier: GPL-2.0 */
/* checkpatch-ignore: OPEN_ENDED_LINE,LINE_SPACING (macros that make functions) */
/*
 * What older kernels lack, in the words of the newest one: the driver is written
 * for that. Stable updates and distributions take changes back to older versions, so
 * a version number does not tell which form a kernel has. Names are looked for in
 * its headers (PW_HAS_*, in Kbuild), signatures are asked of the type.
 */
#ifndef PACKETWAY_COMPAT_H
#define PACKETWAY_COMPAT_H

#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/rtnetlink.h>
#include <net/udp_tunnel.h>
#ifdef PW_HAS_NETDEV_LOCK_H
#include <net/netdev_lock.h>
#endif
#ifdef PW_HAS_IPV6_STUBS_H
#include <net/ipv6_stubs.h>
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "packetway needs Linux 6.1 or later"
#endif

/*
 * header_ops.parse got the device as an argument in a stable update; which form
 * a kernel has is asked of the type, since version numbers do not tell.
 */
#define PW_HEADER_PARSE(without_dev, with_dev)						\
	__builtin_choose_expr(__builtin_types_compatible_p(				\
		typeof(((struct header_ops *)0)->parse),				\
		int (*)(const struct sk_buff *, const struct net_device *, unsigned char *)), \
		with_dev, without_dev)

/* a net_device that only carries a NAPI */
#ifndef PW_HAS_ALLOC_NETDEV_DUMMY
static inline struct net_device *pw_dummy_netdev_alloc(void)
{
	struct net_device *dev = kzalloc(sizeof(*dev), GFP_KERNEL_ACCOUNT);

	if (dev)
		init_dummy_netdev(dev);
	return dev;
}

static inline void pw_dummy_netdev_free(struct net_device *dev)
{
	kfree(dev);
}
#else
static inline struct net_device *pw_dummy_netdev_alloc(void)
{
	return alloc_netdev_dummy(0);
}

static inline void pw_dummy_netdev_free(struct net_device *dev)
{
	if (dev)
		free_netdev(dev);
}
#endif

#ifndef PW_HAS_KERNEL_ETHTOOL_TS_INFO
#define kernel_ethtool_ts_info ethtool_ts_info
#endif

#ifndef PW_HAS_VM_FLAGS_MOD
static inline void vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

/* attributes of a dump request */
#ifndef PW_HAS_GENL_INFO_DUMP
#define genl_info_dump(cb) genl_dumpit_info(cb)
#endif

/* the size is known by an empty entry at the end, or told */
#ifndef PW_HAS_REGISTER_NET_SYSCTL_SZ
#define pw_register_net_sysctl(net, path, table, n) register_net_sysctl(net, path, table)
#else
#define pw_register_net_sysctl(net, path, table, n) register_net_sysctl_sz(net, path, table, n)
#endif

/* transmission without the lock of the device */
static inline void pw_netdev_lltx(struct net_device *dev)
{
#ifndef PW_HAS_NETDEV_LLTX
	dev->features |= NETIF_F_LLTX;
#else
	dev->lltx = true;
#endif
}

/* what a sysctl handler gets */
#ifndef PW_HAS_CONST_CTL_TABLE
#define PW_CTL_TABLE struct ctl_table
#else
#define PW_CTL_TABLE const struct ctl_table
#endif

/* __assign_str() took the string again, beside the field */
#ifndef PW_HAS_ASSIGN_STR_ONE
#define pw_assign_str(dst, src) __assign_str(dst, src)
#else
#define pw_assign_str(dst, src) __assign_str(dst)
#endif

/* a message has no room for numbers there: the attribute that it points to has to do */
#ifndef PW_HAS_ERR_MSG_ATTR_FMT
#define NL_SET_ERR_MSG_ATTR_FMT(extack, attr, fmt, ...)	\
	NL_SET_ERR_MSG_ATTR(extack, attr, "The value is out of its range")
#endif

#ifndef PW_HAS_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

#ifndef PW_HAS_SYSTEM_PERCPU_WQ
#define system_percpu_wq system_wq
#define system_dfl_wq system_unbound_wq
#endif

/* a task that is dequeued late sleeps already */
#ifndef PW_HAS_TASK_IS_RUNNABLE
#define pw_task_is_runnable(task) READ_ONCE((task)->on_rq)
#else
#define pw_task_is_runnable(task) task_is_runnable(task)
#endif

/* without them no SAN is in lockstep, and nothing of this is called */
#ifndef CONFIG_PREEMPT_NOTIFIERS
struct preempt_notifier;
struct preempt_ops {
	void (*sched_in)(struct preempt_notifier *notifier, int cpu);
	void (*sched_out)(struct preempt_notifier *notifier, struct task_struct *next);
};

struct preempt_notifier {
	const struct preempt_ops *ops;
};

static inline void preempt_notifier_inc(void) {}
static inline void preempt_notifier_dec(void) {}
static inline void preempt_notifier_register(struct preempt_notifier *notifier) {}
static inline void preempt_notifier_unregister(struct preempt_notifier *notifier) {}
static inline void preempt_notifier_init(struct preempt_notifier *notifier,
					 const struct preempt_ops *ops)
{
	notifier->ops = ops;
}
#endif

/*
 * PW_NEWLINK(fn) makes fn_op, which rtnl_link_ops.newlink takes, of fn(dev, params,
 * extack).
 */
#ifndef PW_HAS_NEWLINK_PARAMS
struct rtnl_newlink_params {
	struct net *src_net;
	struct nlattr **tb;
	struct nlattr **data;
};

static inline struct net *rtnl_newlink_link_net(struct rtnl_newlink_params *params)
{
	return params->src_net;
}

#define PW_NEWLINK(fn)									\
static int fn##_op(struct net *src_net, struct net_device *dev, struct nlattr *tb[],	\
		   struct nlattr *data[], struct netlink_ext_ack *extack)		\
{											\
	struct rtnl_newlink_params params = {						\
		.src_net = src_net, .tb = tb, .data = data,				\
	};										\
											\
	return fn(dev, &params, extack);						\
}
#else
#define PW_NEWLINK(fn)									\
static int fn##_op(struct net_device *dev, struct rtnl_newlink_params *params,		\
		   struct netlink_ext_ack *extack)					\
{											\
	return fn(dev, params, extack);							\
}
#endif

/*
 * PW_HWTSTAMP(get, set) makes the members of net_device_ops, PW_HWTSTAMP_OPS(get, set), of
 * get(dev, config) and set(dev, config, extack).
 */
#ifdef PW_HAS_NDO_HWTSTAMP
#define PW_HWTSTAMP(get, set)
#define PW_HWTSTAMP_OPS(get, set) .ndo_hwtstamp_get = get, .ndo_hwtstamp_set = set
#else
struct kernel_hwtstamp_config {
	int flags;
	int tx_type;
	int rx_filter;
};

#define PW_HWTSTAMP(get, set)								\
static int get##_ioctl(struct net_device *dev, struct ifreq *ifr, int cmd)		\
{											\
	struct kernel_hwtstamp_config k = {};						\
	struct hwtstamp_config c;							\
	int err;									\
											\
	if (cmd != SIOCGHWTSTAMP && cmd != SIOCSHWTSTAMP)				\
		return -EOPNOTSUPP;							\
	if (cmd == SIOCGHWTSTAMP) {							\
		err = get(dev, &k);							\
	} else {									\
		if (copy_from_user(&c, ifr->ifr_data, sizeof(c)))			\
			return -EFAULT;							\
		k.flags = c.flags;							\
		k.tx_type = c.tx_type;							\
		k.rx_filter = c.rx_filter;						\
		err = set(dev, &k, NULL);						\
	}										\
	if (err)									\
		return err;								\
	c.flags = k.flags;								\
	c.tx_type = k.tx_type;								\
	c.rx_filter = k.rx_filter;							\
	return copy_to_user(ifr->ifr_data, &c, sizeof(c)) ? -EFAULT : 0;		\
}
#define PW_HWTSTAMP_OPS(get, set) .ndo_eth_ioctl = get##_ioctl
#endif

/* PW_EXIT_RTNL(fn) makes the member of pernet_operations, PW_EXIT_RTNL_OP(fn), of fn(net, kill) */
#ifdef PW_HAS_EXIT_RTNL
#define PW_EXIT_RTNL(fn)
#define PW_EXIT_RTNL_OP(fn) .exit_rtnl = fn
#elif defined(PW_HAS_EXIT_BATCH_RTNL)
#define PW_EXIT_RTNL(fn)								\
static void __net_exit fn##_batch(struct list_head *nets, struct list_head *kill)	\
{											\
	struct net *net;								\
											\
	list_for_each_entry(net, nets, exit_list)					\
		fn(net, kill);								\
}
#define PW_EXIT_RTNL_OP(fn) .exit_batch_rtnl = fn##_batch
#else
#error "packetway needs pernet exit under RTNL: Linux 6.1.80, 6.6.19, 6.8 or later"
#endif

/* IPv6 may be a module there, which ours must not depend on */
#ifdef PW_HAS_IPV6_STUBS_H
#define ip6_dst_lookup_flow(net, sk, fl, dst) ipv6_stub->ipv6_dst_lookup_flow(net, sk, fl, dst)
#endif

/* tunnel sockets were given as struct socket */
static inline void pw_setup_udp_tunnel_sock(struct net *net, struct sock *sk,
					    struct udp_tunnel_sock_cfg *cfg)
{
	setup_udp_tunnel_sock(net,
			      __builtin_choose_expr(__builtin_types_compatible_p(
					typeof(setup_udp_tunnel_sock),
					void (struct net *, struct socket *,
					      struct udp_tunnel_sock_cfg *)),
				sk->sk_socket, sk),
			      cfg);
}

static inline void pw_udp_tunnel_sock_release(struct sock *sk)
{
	udp_tunnel_sock_release(__builtin_choose_expr(__builtin_types_compatible_p(
					typeof(udp_tunnel_sock_release), void (struct socket *)),
				sk->sk_socket, sk));
}

#define setup_udp_tunnel_sock pw_setup_udp_tunnel_sock
#define udp_tunnel_sock_release pw_udp_tunnel_sock_release

/* the flags for IPCB came as the last argument */
#ifndef PW_HAS_UDP_TUNNEL_IPCB
#define udp_tunnel_xmit_skb(rt, sk, skb, src, dst, tos, ttl, df, sport, dport, xnet,	\
			    nocheck, flags)						\
	udp_tunnel_xmit_skb(rt, sk, skb, src, dst, tos, ttl, df, sport, dport, xnet, nocheck)
#define udp_tunnel6_xmit_skb(dst, sk, skb, dev, src, to, prio, ttl, label, sport,	\
			     dport, nocheck, flags)					\
	udp_tunnel6_xmit_skb(dst, sk, skb, dev, src, to, prio, ttl, label, sport, dport, nocheck)
#endif

#endif
