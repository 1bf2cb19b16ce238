// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/packetway: sessions with stations, after the model of tun. The table of commands.
 *
 * An open file is bound to at most one station. The station does not depend on
 * the file: when it goes, the file learns of it (pw_file_station_gone) and its
 * commands return ENODEV. The file does not pin the station either; see pw_cdev.h.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>

#include "pw_cdev.h"
#include "pw_priv.h"
#include "pw_time.h"

static int pw_ioc_get_info(struct pw_file *pf, void *arg)
{
	struct packetway_info *info = arg;
	struct pw_station *st;

	if (info->flags || info->__reserved)
		return -EINVAL;

	*info = (struct packetway_info) {
		.size = info->size,
		.out_features = PACKETWAY_FEATURE_EEP | PACKETWAY_FEATURE_ATON |
				PACKETWAY_FEATURE_ESP | PACKETWAY_FEATURE_POETS |
				PACKETWAY_FEATURE_LEASE | PACKETWAY_FEATURE_HALF |
				PACKETWAY_FEATURE_REDUCE | PACKETWAY_FEATURE_ROUND |
				PACKETWAY_FEATURE_PREFIX | PACKETWAY_FEATURE_NODES |
				PACKETWAY_FEATURE_NOWAIT | PACKETWAY_FEATURE_LONG |
				PACKETWAY_FEATURE_LONG_256 |
				(IS_ENABLED(CONFIG_PREEMPT_NOTIFIERS) ? PACKETWAY_FEATURE_TIME : 0),
		.out_san_max = PACKETWAY_SAN_MAX,
		.out_ports_max = PACKETWAY_PORTS_MAX,
		.out_mtu_max = PACKETWAY_MTU_MAX,
	};

	rcu_read_lock();
	st = pw_file_station(pf);
	if (!IS_ERR(st) && net_eq(dev_net(st->dev), current->nsproxy->net_ns)) {
		info->out_ifindex = st->dev->ifindex;
		info->out_san = st->san->id;
		info->out_port = st->port;
		info->out_addr = st->addr;
	}
	rcu_read_unlock();
	return 0;
}

static int pw_ioc_bind(struct pw_file *pf, void *arg)
{
	struct packetway_bind *bind = arg;
	struct net *net = current->nsproxy->net_ns;
	struct page *page[2];
	struct net_device *dev;
	int err;

	if (bind->flags || bind->__reserved || bind->ifindex > INT_MAX)
		return -EINVAL;
	if (!ns_capable(net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	err = pw_aton_pages_alloc(page);
	if (err)
		return err;
	err = pw_file_lock(pf);
	if (err)
		goto out;

	rcu_read_lock();
	dev = dev_get_by_index_rcu(net, bind->ifindex);
	if (dev && pw_netdev_is(dev)) {
		pw_aton_pages_give(netdev_priv(dev), page);
		err = pw_file_bind(pf, netdev_priv(dev));
	} else {
		err = -ENODEV;
	}
	rcu_read_unlock();
	mutex_unlock(&pf->lock);
out:
	/* the station has pages, or there is none */
	pw_aton_pages_free(page);
	return err;
}

static int pw_ioc_unbind(struct pw_file *pf, void *arg)
{
	struct packetway_unbind *unbind = arg;
	int err;

	if (unbind->flags)
		return -EINVAL;
	err = pw_file_lock(pf);
	if (err)
		return err;
	if (pf->was_bound) {
		pw_aton_drop_standing(pf);
		pw_aton_drop_lease(pf);
		pw_file_unbind(pf);
	} else {
		err = -ENOTCONN;
	}
	WRITE_ONCE(pf->was_bound, false);
	mutex_unlock(&pf->lock);
	return err;
}

#define PW_IOCTL_OP(nr, fn, type, last) \
	[nr] = { .size = PW_IOCTL_SIZE(type, last), .handler = fn }

static const struct pw_ioctl_op pw_ioctl_ops[] = {
	PW_IOCTL_OP(PACKETWAY_IOCNR_GET_INFO, pw_ioc_get_info, packetway_info, __reserved),
	PW_IOCTL_OP(PACKETWAY_IOCNR_BIND, pw_ioc_bind, packetway_bind, __reserved),
	PW_IOCTL_OP(PACKETWAY_IOCNR_UNBIND, pw_ioc_unbind, packetway_unbind, flags),
	PW_IOCTL_OP(PACKETWAY_IOCNR_ATON_COMMAND, pw_ioc_aton_command, packetway_aton_command,
		    out_ring_bits),
	PW_IOCTL_OP(PACKETWAY_IOCNR_ATON_REDUCE, pw_ioc_aton_reduce, packetway_aton_reduce,
		    out_v2),
	PW_IOCTL_OP(PACKETWAY_IOCNR_ATON_SUBMIT, pw_ioc_aton_submit, packetway_aton_submit,
		    __reserved),
	PW_IOCTL_OP(PACKETWAY_IOCNR_ATON_STAND, pw_ioc_aton_stand, packetway_aton_stand,
		    __reserved),
	PW_IOCTL_OP(PACKETWAY_IOCNR_ATON_SET, pw_ioc_aton_set, packetway_aton_set, value),
	PW_IOCTL_OP(PACKETWAY_IOCNR_ATON_GET, pw_ioc_aton_get, packetway_aton_get, out_irq_mask),
	PW_IOCTL_OP(PACKETWAY_IOCNR_ATON_GET_LATCH, pw_ioc_aton_get_latch,
		    packetway_aton_get_latch, out_time),
	PW_IOCTL_OP(PACKETWAY_IOCNR_ATON_LEASE, pw_ioc_aton_lease, packetway_aton_lease,
		    out_group_free),
	PW_IOCTL_OP(PACKETWAY_IOCNR_ATON_ROUND, pw_ioc_aton_round, packetway_aton_round, out_v2),
	PW_IOCTL_OP(PACKETWAY_IOCNR_RING_CREATE, pw_ioc_ring_create, packetway_ring_create,
		    __reserved),
	PW_IOCTL_OP(PACKETWAY_IOCNR_RING_OPERANDS, pw_ioc_ring_operands, packetway_ring_operands,
		    operands),
	[PACKETWAY_IOCNR_POETS_OPEN] = {
		.size = PW_IOCTL_SIZE(packetway_poets_open, __reserved),
		.handler = pw_ioc_poets_open,
		/* the new descriptor is installed: no error after that */
		.no_out = true,
	},
	[PACKETWAY_IOCNR_HALF_OPEN] = {
		.size = PW_IOCTL_SIZE(packetway_half_open, name),
		.handler = pw_ioc_half_open,
		.no_out = true,
	},
	[PACKETWAY_IOCNR_TIME_OPEN] = {
		.size = PW_IOCTL_SIZE(packetway_time_open, __reserved),
		.handler = pw_ioc_time_open,
		/* likewise */
		.no_out = true,
	},
};

/* every structure, on the stack of the dispatcher */
union pw_ioctl_arg {
	struct packetway_info info;
	struct packetway_bind bind;
	struct packetway_unbind unbind;
	struct packetway_aton_command command;
	struct packetway_aton_reduce reduce;
	struct packetway_aton_submit submit;
	struct packetway_aton_stand stand;
	struct packetway_aton_set set;
	struct packetway_aton_get get;
	struct packetway_aton_get_latch get_latch;
	struct packetway_aton_lease lease;
	struct packetway_aton_round round;
	struct packetway_ring_create create;
	struct packetway_ring_operands operands;
	struct packetway_poets_open poets_open;
	struct packetway_half_open half_open;
	struct packetway_time_open time_open;
};

/*
 * A round is what most programs call most often. A size that the compiler knows needs no check of
 * the copies. Return: true if the structure has this size; @ret is the result then.
 */
static bool pw_ioctl_round(struct pw_file *pf, struct packetway_aton_round __user *user, long *ret)
{
	struct packetway_aton_round round PW_UNINIT;

	/* a smaller one may be at the end of a mapping */
	if (copy_from_user(&round, user, sizeof(round)) || round.size != sizeof(round))
		return false;
	*ret = pw_ioc_aton_round(pf, &round);
	if (copy_to_user(&user->out_error, &round.out_error,
			 sizeof(round) - offsetof(struct packetway_aton_round, out_error)))
		*ret = -EFAULT;
	return true;
}

static long pw_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	const struct pw_ioctl_op *op;
	/* pw_ioctl_get() fills what the command has of it */
	union pw_ioctl_arg karg PW_UNINIT;
	int nr, err;
	u32 usize;
	long ret;

	if (cmd == PACKETWAY_IOC_ATON_ROUND &&
	    pw_ioctl_round(file->private_data, (void __user *)arg, &ret))
		return ret;
	nr = pw_ioctl_nr(cmd, 0, ARRAY_SIZE(pw_ioctl_ops));
	if (nr < 0 || !pw_ioctl_ops[nr].handler)
		return -ENOTTY;
	op = &pw_ioctl_ops[nr];
	err = pw_ioctl_get(arg, &op->size, &karg, &usize);
	if (err)
		return err;

	err = op->handler(file->private_data, &karg);
	/* the outputs of a failed ATON command say how it failed */
	if (op->no_out || (err < 0 && nr != PACKETWAY_IOCNR_ATON_COMMAND &&
			   nr != PACKETWAY_IOCNR_ATON_ROUND && nr != PACKETWAY_IOCNR_ATON_REDUCE))
		return err;
	return pw_ioctl_put(arg, &op->size, &karg, usize) ?: err;
}

static int pw_cdev_open(struct inode *inode, struct file *file)
{
	struct pw_file *pf;

	pf = kzalloc(sizeof(*pf), PW_GFP);
	if (!pf)
		return -ENOMEM;
	mutex_init(&pf->lock);
	INIT_LIST_HEAD(&pf->entry);
	pw_aton_file_init(pf);
	file->private_data = pf;
	return nonseekable_open(inode, file);
}

static int pw_cdev_release(struct inode *inode, struct file *file)
{
	struct pw_file *pf = file->private_data;

	pw_aton_file_release(pf);
	pw_aton_drop_standing(pf);
	pw_aton_drop_lease(pf);
	pw_file_unbind(pf);
	kfree(pf);
	return 0;
}

static const struct file_operations pw_cdev_fops = {
	.owner = THIS_MODULE,
	.open = pw_cdev_open,
	.release = pw_cdev_release,
	.read = pw_aton_read,
	.poll = pw_aton_file_poll,
	.mmap = pw_aton_mmap,
	.unlocked_ioctl = pw_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/* anyone may open it: what a command does is guarded by capabilities */
static struct miscdevice pw_cdev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = PACKETWAY_DEVICE,
	.nodename = PACKETWAY_DEVICE,
	.mode = 0666,
	.fops = &pw_cdev_fops,
};

int pw_cdev_register(void)
{
	return misc_register(&pw_cdev);
}

void pw_cdev_unregister(void)
{
	misc_deregister(&pw_cdev);
}
