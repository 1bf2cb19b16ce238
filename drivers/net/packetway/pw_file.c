// SPDX-License-Identifier: GPL-2.0
/*
 * What the commands of an open /dev/packetway share: the station that the file is bound
 * to, and the structures of ioctls. See pw_cdev.h for who owns what.
 */
#include <linux/capability.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/rtnetlink.h>
#include <linux/uaccess.h>

#include "pw_cdev.h"
#include "pw_priv.h"

/* which file is bound to which station */
static DEFINE_SPINLOCK(pw_bind_lock);

/**
 * pw_file_station - the station a file is bound to
 * @pf: the file
 *
 * Return: the station, ERR_PTR(-ENOTCONN) or ERR_PTR(-ENODEV). RCU held, or RTNL.
 */
struct pw_station *pw_file_station(struct pw_file *pf)
{
	struct pw_station *st = rcu_dereference_rtnl(pf->station);

	return st ?: ERR_PTR(READ_ONCE(pf->was_bound) ? -ENODEV : -ENOTCONN);
}

/**
 * pw_file_admin - the same for commands that change something
 * @pf: the file
 *
 * A file may be passed on, so the capability is asked for at each use, in the
 * user namespace that owns the station's network namespace now.
 *
 * Return: as pw_file_station(), or ERR_PTR(-EPERM). RCU held, or RTNL.
 */
struct pw_station *pw_file_admin(struct pw_file *pf)
{
	struct pw_station *st = pw_file_station(pf);

	if (!IS_ERR(st) && !ns_capable(dev_net(st->dev)->user_ns, CAP_NET_ADMIN))
		return ERR_PTR(-EPERM);
	return st;
}

/**
 * pw_file_may - would pw_file_admin() find a station?
 * @pf: the file
 *
 * For commands that allocate first. The answer may be another one afterwards.
 *
 * Return: 0 or a negative errno.
 */
int pw_file_may(struct pw_file *pf)
{
	struct pw_station *st;

	rcu_read_lock();
	st = pw_file_admin(pf);
	rcu_read_unlock();
	return PTR_ERR_OR_ZERO(st);
}

/**
 * pw_file_lock - take pf->lock
 * @pf: the file
 *
 * Another holder may wait for user memory, so a signal ends this.
 *
 * Return: 0 or -ERESTARTSYS.
 */
int pw_file_lock(struct pw_file *pf)
{
	return mutex_lock_interruptible(&pf->lock) ? -ERESTARTSYS : 0;
}

/**
 * pw_file_gone - was the file bound to a station that has gone?
 * @pf: the file
 */
bool pw_file_gone(struct pw_file *pf)
{
	return READ_ONCE(pf->was_bound) && !rcu_access_pointer(pf->station);
}

/**
 * pw_file_bind - bind a file to a station
 * @pf: the file; its lock is held
 * @st: the station; RCU held
 *
 * Return: 0; -ENODEV: the station goes away; -EISCONN: the file is bound; or -ENOSPC.
 */
int pw_file_bind(struct pw_file *pf, struct pw_station *st)
{
	int err = 0;

	spin_lock(&pw_bind_lock);
	/*
	 * Uninit withdraws the station from its port first and takes this lock
	 * second: a station still seen there will find the file on its list.
	 */
	if (rcu_access_pointer(st->san->port[st->port].end) != &st->end)
		err = -ENODEV;
	else if (rcu_access_pointer(pf->station))
		err = -EISCONN;
	if (!err)
		err = pw_limit_charge(st->san->net, PW_LIMIT_FILES, 1, NULL);
	if (!err) {
		rcu_assign_pointer(pf->station, st);
		list_add(&pf->entry, &st->files);
		WRITE_ONCE(pf->was_bound, true);
	}
	spin_unlock(&pw_bind_lock);
	return err;
}

/**
 * pw_file_unbind - let go of the station, if it is still there
 * @pf: the file without a standing command; its lock is held, or it is being closed
 */
void pw_file_unbind(struct pw_file *pf)
{
	struct pw_station *st;

	spin_lock(&pw_bind_lock);
	/* a station waits for this lock before it lets go of its SAN */
	st = rcu_dereference_protected(pf->station, lockdep_is_held(&pw_bind_lock));
	if (st) {
		pw_limit_uncharge(st->san->net, PW_LIMIT_FILES, 1);
		RCU_INIT_POINTER(pf->station, NULL);
		list_del_init(&pf->entry);
	}
	spin_unlock(&pw_bind_lock);
}

/**
 * pw_file_station_gone - a station is going away; its files learn of it
 * @st: the station, already withdrawn from its port
 */
void pw_file_station_gone(struct pw_station *st)
{
	struct pw_file *pf, *next;

	spin_lock(&pw_bind_lock);
	list_for_each_entry_safe(pf, next, &st->files, entry) {
		pw_limit_uncharge(st->san->net, PW_LIMIT_FILES, 1);
		RCU_INIT_POINTER(pf->station, NULL);
		list_del_init(&pf->entry);
		wake_up_interruptible_poll(&pf->wait, EPOLLHUP | EPOLLERR);
	}
	spin_unlock(&pw_bind_lock);
}

/**
 * pw_ioctl_nr - which command of a table is meant
 * @cmd: as the program gave it
 * @first: number of the first one in the table
 * @n: how many there are
 *
 * The number has only the command: direction and size must be 0.
 *
 * Return: its index, safe against speculation, or -ENOTTY.
 */
int pw_ioctl_nr(unsigned int cmd, unsigned int first, unsigned int n)
{
	unsigned int nr = _IOC_NR(cmd) - first;

	if (cmd != _IO(PACKETWAY_IOC_TYPE, _IOC_NR(cmd)) || nr >= n)
		return -ENOTTY;
	return array_index_nospec(nr, n);
}

/**
 * pw_ioctl_get - take the structure of a command from user space
 * @arg: where it is
 * @size: how large it is
 * @karg: where to
 * @usize: how large the program has it; more than a page: -E2BIG
 *
 * Return: 0 or a negative errno.
 */
int pw_ioctl_get(unsigned long arg, const struct pw_ioctl_size *size, void *karg, u32 *usize)
{
	void __user *uarg = (void __user *)arg;

	if (get_user(*usize, (u32 __user *)uarg))
		return -EFAULT;
	if (*usize < size->first)
		return -EINVAL;
	/* what is beyond the known part is looked at, in case it is not 0 */
	if (*usize > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(karg, size->now, uarg, *usize);
}

/**
 * pw_ioctl_put - give it back, as much of it as the program knows
 * @arg: where to
 * @size: how large it is
 * @karg: the structure
 * @usize: how large the program has it
 *
 * Return: 0 or -EFAULT.
 */
int pw_ioctl_put(unsigned long arg, const struct pw_ioctl_size *size, const void *karg, u32 usize)
{
	return copy_to_user((void __user *)arg, karg, min_t(size_t, usize, size->now)) ?
	       -EFAULT : 0;
}
