/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between the kernels we support (6.1 and 6.12) and cannot be
 * hidden in a shadow header under include/compat/. The logic has no version
 * checks of its own.
 */
#ifndef PACKETWAY_COMPAT_H
#define PACKETWAY_COMPAT_H

#include <linux/ethtool.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <net/genetlink.h>

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
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
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

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define pw_ts_info ethtool_ts_info
#else
#define pw_ts_info kernel_ethtool_ts_info
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void pw_vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				   unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#else
static inline void pw_vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				   unsigned long clear)
{
	vm_flags_mod(vma, set, clear);
}
#endif

/* attributes of a dump request */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define pw_genl_dump_attrs(cb) (genl_dumpit_info(cb)->attrs)
#else
#define pw_genl_dump_attrs(cb) (genl_info_dump(cb)->attrs)
#endif

/* the size is known by an empty entry at the end, or told */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define pw_register_net_sysctl(net, path, table, n) register_net_sysctl(net, path, table)
#else
#define pw_register_net_sysctl(net, path, table, n) register_net_sysctl_sz(net, path, table, n)
#endif

/* what a sysctl handler gets */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define PW_CTL_TABLE struct ctl_table
#else
#define PW_CTL_TABLE const struct ctl_table
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define pw_assign_str(dst, src) __assign_str(dst, src)
#else
#define pw_assign_str(dst, src) __assign_str(dst)
#endif

#endif
