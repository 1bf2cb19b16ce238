// SPDX-License-Identifier: GPL-2.0
/*
 * Clock files: how a thread joins the clock of a SAN in lockstep, reads it and waits for
 * it. A file refers to the clock, not to the SAN: when the SAN leaves lockstep or goes, the
 * clock has ended and the commands return ENODEV.
 */
#include <linux/anon_inodes.h>
#include <linux/capability.h>
#include <linux/completion.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include "pw_cdev.h"
#include "pw_priv.h"
#include "pw_time.h"

/* entries that a list may have */
#define PW_TIME_LIST_MAX	4096
#define PW_TIME_STALL_MAX	3600000
/* holds of one file */
#define PW_TIME_HOLDS_MAX	1024

/**
 * struct pw_time_file - an open clock file
 * @t: the clock
 * @port: of the station that it was opened by
 * @holds: that keep the time where it is; pw_time.lock
 * @alarm: its alarm; pw_time.lock
 * @interval: the alarm expires again after this time
 * @expired: how often it did since the last read
 * @reader: threads that wait for that
 */
struct pw_time_file {
	struct pw_time *t;
	u32 port;
	u32 holds;
	struct pw_time_alarm alarm;
	u64 interval;
	u64 expired;
	struct pw_time_reader reader;
};

/* a thread that waits in PACKETWAY_IOC_TIME_WAIT */
struct pw_time_waiter {
	struct pw_time_alarm alarm;
	struct completion done;
	struct pw_time_thread *thread;	/* of pw_time_rest(); pw_time.lock */
};

static void pw_time_waiter_fire(struct pw_time *t, struct pw_time_alarm *a)
{
	struct pw_time_waiter *w = container_of(a, struct pw_time_waiter, alarm);

	/* it runs from here on */
	pw_time_rested(w->thread);
	complete(&w->done);
}

static void pw_time_file_fire(struct pw_time *t, struct pw_time_alarm *a)
{
	struct pw_time_file *tf = container_of(a, struct pw_time_file, alarm);
	u64 late;

	if (t->net) {
		/* one stop may pass many intervals */
		late = tf->interval ? div64_u64(t->page->now - a->at, tf->interval) : 0;
		tf->expired += late + 1;
		if (tf->interval) {
			a->at += (late + 1) * tf->interval;
			pw_time_alarm_add(t, a);
		}
	}
	wake_up_interruptible_all(&tf->reader.wait);
}

static int pw_time_ioc_join(struct pw_time_file *tf, void *arg)
{
	struct packetway_time_join *j = arg;
	struct pw_time *t = tf->t;
	int err = 0;

	if (j->__reserved || j->flags & ~(PACKETWAY_TIME_JOIN_EXEC | PACKETWAY_TIME_JOIN_HOLD |
					  PACKETWAY_TIME_JOIN_HELD))
		return -EINVAL;
	if (j->flags & PACKETWAY_TIME_JOIN_HOLD) {
		if (j->flags != PACKETWAY_TIME_JOIN_HOLD || j->order)
			return -EINVAL;
		spin_lock_bh(&t->lock);
		if (tf->holds >= PW_TIME_HOLDS_MAX) {
			err = -EBUSY;
		} else {
			/* before another thread can give it back: other files have holds, too */
			pw_time_hold(t, 1);
			tf->holds++;
		}
		spin_unlock_bh(&t->lock);
		return err;
	}
	err = pw_time_join(t, tf, tf->port, j->order, j->flags & PACKETWAY_TIME_JOIN_EXEC);
	if (j->flags & PACKETWAY_TIME_JOIN_HELD) {
		bool held;

		spin_lock_bh(&t->lock);
		held = tf->holds;
		if (held)
			tf->holds--;
		spin_unlock_bh(&t->lock);
		if (held)
			pw_time_hold(t, -1);
	}
	return err;
}

static int pw_time_ioc_leave(struct pw_time_file *tf, void *arg)
{
	struct packetway_time_leave *l = arg;
	struct pw_time *t = tf->t;
	bool held;

	if (!l->flags)
		return pw_time_leave(t, NULL);
	if (l->flags != PACKETWAY_TIME_JOIN_HOLD)
		return -EINVAL;
	spin_lock_bh(&t->lock);
	held = tf->holds;
	if (held)
		tf->holds--;
	spin_unlock_bh(&t->lock);
	if (!held)
		return -ESRCH;
	pw_time_hold(t, -1);
	return 0;
}

static int pw_time_ioc_wait(struct pw_time_file *tf, void *arg)
{
	struct packetway_time_wait *w = arg;
	struct pw_time_waiter waiter = { .alarm.fire = pw_time_waiter_fire };
	struct pw_time *t = tf->t;
	int err = 0;
	u64 now;

	if (w->flags & ~(PACKETWAY_TIME_WAIT_EVENT | PACKETWAY_TIME_WAIT_FOR))
		return -EINVAL;
	init_completion(&waiter.done);
	INIT_LIST_HEAD(&waiter.alarm.entry);
	local_bh_disable();
	spin_lock(&t->lock);
	now = t->page->now;
	waiter.alarm.at = w->until;
	if (w->flags & PACKETWAY_TIME_WAIT_FOR)
		waiter.alarm.at = w->until > U64_MAX - now ? U64_MAX : now + w->until;
	if (!t->net)
		err = -ENODEV;
	else if (t->nwaiters >= PW_TIME_WAITERS_MAX)
		err = -EBUSY;
	else if (waiter.alarm.at <= now)
		complete(&waiter.done);
	else
		pw_time_alarm_add(t, &waiter.alarm);
	t->nwaiters += !err;
	if (waiter.alarm.queued && w->flags & PACKETWAY_TIME_WAIT_EVENT)
		list_add_tail(&waiter.alarm.entry, &t->waiters);
	if (waiter.alarm.queued)
		waiter.thread = pw_time_rest(t);
	spin_unlock(&t->lock);
	if (waiter.thread)
		pw_time_engine_poll(t);
	local_bh_enable();
	if (err)
		return err;

	if (!waiter.thread)
		pw_time_kick_idle(t);
	err = wait_for_completion_interruptible(&waiter.done);
	pw_time_rested(waiter.thread);
	spin_lock_bh(&t->lock);
	/* it expired before the signal was seen */
	if (err && !waiter.alarm.queued)
		err = 0;
	pw_time_alarm_del(t, &waiter.alarm);
	t->nwaiters--;
	if (!t->net)
		err = -ENODEV;
	w->out_now = t->page->now;
	spin_unlock_bh(&t->lock);
	return err ? (err == -ENODEV ? err : -EINTR) : 0;
}

static int pw_time_ioc_alarm(struct pw_time_file *tf, void *arg)
{
	struct packetway_time_alarm *r = arg;
	struct pw_time *t = tf->t;
	int err = 0;

	if (r->flags & ~PACKETWAY_TIME_ALARM_GET)
		return -EINVAL;
	if ((r->flags && (r->at || r->interval)) || r->interval > PACKETWAY_TIME_NS_MAX)
		return -EINVAL;
	spin_lock_bh(&t->lock);
	r->out_at = tf->alarm.queued ? tf->alarm.at : 0;
	r->out_interval = tf->interval;
	if (!t->net) {
		err = -ENODEV;
	} else if (!r->flags) {
		pw_time_alarm_del(t, &tf->alarm);
		tf->expired = 0;
		tf->interval = r->interval;
		tf->alarm.at = r->at;
		if (r->at > t->page->now)
			pw_time_alarm_add(t, &tf->alarm);
		else if (r->at)
			pw_time_file_fire(t, &tf->alarm);
	}
	spin_unlock_bh(&t->lock);
	if (!err)
		pw_time_kick_idle(t);
	return err;
}

static int pw_time_ioc_get(struct pw_time_file *tf, void *arg)
{
	struct packetway_time_get *g = arg;
	struct pw_time *t = tf->t;

	if (g->flags)
		return -EINVAL;
	spin_lock_bh(&t->lock);
	*g = (struct packetway_time_get) {
		.size = g->size,
		.out_now = t->page->now,
		.out_stops = t->stops,
		.out_outside = atomic64_read(&t->outside),
		.out_participants = t->nthreads,
		.out_running = max(atomic_read(&t->running), 0),
		.out_flags = t->page->flags,
		.out_stall_ms = t->stall_ms,
		.out_quantum = t->page->quantum,
		.out_left = atomic64_read(&t->left),
	};
	spin_unlock_bh(&t->lock);
	return 0;
}

static int pw_time_ioc_set(struct pw_time_file *tf, void *arg)
{
	struct packetway_time_set *s = arg;
	struct pw_time *t = tf->t;

	if (s->__reserved || s->flags & ~(PACKETWAY_TIME_SET_STALL | PACKETWAY_TIME_SET_QUANTUM))
		return -EINVAL;
	if (s->flags & PACKETWAY_TIME_SET_STALL &&
	    (!s->stall_ms || s->stall_ms > PW_TIME_STALL_MAX))
		return -EINVAL;
	if (s->flags & PACKETWAY_TIME_SET_QUANTUM && (!s->quantum || s->quantum > NSEC_PER_SEC))
		return -EINVAL;
	spin_lock_bh(&t->lock);
	if (s->flags & PACKETWAY_TIME_SET_STALL)
		t->stall_ms = s->stall_ms;
	if (s->flags & PACKETWAY_TIME_SET_QUANTUM)
		WRITE_ONCE(t->page->quantum, s->quantum);
	pw_time_flag(t, 0, PACKETWAY_TIME_F_STALLED);
	/* the limit counts anew */
	t->idle = false;
	spin_unlock_bh(&t->lock);
	pw_time_kick(t);
	return 0;
}

static int pw_time_ioc_list(struct pw_time_file *tf, void *arg)
{
	struct packetway_time_list *l = arg;
	struct packetway_time_entry *entry;
	int err = 0;
	u32 n;

	if (l->flags || l->room > PW_TIME_LIST_MAX)
		return -EINVAL;
	entry = kvcalloc(max(l->room, 1U), sizeof(*entry), PW_GFP);
	if (!entry)
		return -ENOMEM;
	n = pw_time_list(tf->t, entry, l->room);
	if (copy_to_user(u64_to_user_ptr(l->entries), entry, min(n, l->room) * sizeof(*entry)))
		err = -EFAULT;
	l->out_count = n;
	kvfree(entry);
	return err;
}

static int pw_time_ioc_open(struct pw_time_file *tf, void *arg);

static const struct {
	struct pw_ioctl_size size;
	int (*handler)(struct pw_time_file *tf, void *arg);
	bool no_out;
} pw_time_ops[] = {
#define PW_TIME_OP(nr, fn, type, last)					\
	[PACKETWAY_IOCNR_TIME_##nr - PACKETWAY_IOCNR_TIME_OPEN] =	\
		{ .size = PW_IOCTL_SIZE(type, last), .handler = fn }
	/* the new descriptor is installed: no error after that */
	[0] = { .size = PW_IOCTL_SIZE(packetway_time_open, __reserved),
		.handler = pw_time_ioc_open, .no_out = true },
	PW_TIME_OP(JOIN, pw_time_ioc_join, packetway_time_join, __reserved),
	PW_TIME_OP(LEAVE, pw_time_ioc_leave, packetway_time_leave, flags),
	PW_TIME_OP(WAIT, pw_time_ioc_wait, packetway_time_wait, out_now),
	PW_TIME_OP(ALARM, pw_time_ioc_alarm, packetway_time_alarm, out_interval),
	PW_TIME_OP(GET, pw_time_ioc_get, packetway_time_get, out_left),
	PW_TIME_OP(SET, pw_time_ioc_set, packetway_time_set, quantum),
	PW_TIME_OP(LIST, pw_time_ioc_list, packetway_time_list, out_count),
};

union pw_time_arg {
	struct packetway_time_open open;
	struct packetway_time_join join;
	struct packetway_time_leave leave;
	struct packetway_time_wait wait;
	struct packetway_time_alarm alarm;
	struct packetway_time_get get;
	struct packetway_time_set set;
	struct packetway_time_list list;
};

static long pw_time_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	int nr = pw_ioctl_nr(cmd, PACKETWAY_IOCNR_TIME_OPEN, ARRAY_SIZE(pw_time_ops));
	union pw_time_arg karg;
	u32 usize;
	int err;

	if (nr < 0 || !pw_time_ops[nr].handler)
		return -ENOTTY;
	err = pw_ioctl_get(arg, &pw_time_ops[nr].size, &karg, &usize);
	if (err)
		return err;
	err = pw_time_ops[nr].handler(file->private_data, &karg);
	if (err || pw_time_ops[nr].no_out)
		return err;
	return pw_ioctl_put(arg, &pw_time_ops[nr].size, &karg, usize);
}

static __poll_t pw_time_poll(struct file *file, struct poll_table_struct *wait)
{
	struct pw_time_file *tf = file->private_data;
	u32 flags;
	__poll_t mask = 0;

	poll_wait(file, &tf->reader.wait, wait);
	poll_wait(file, &tf->t->wait, wait);
	flags = READ_ONCE(tf->t->page->flags);
	if (READ_ONCE(tf->expired))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (flags & PACKETWAY_TIME_F_STALLED)
		mask |= EPOLLPRI;
	if (flags & PACKETWAY_TIME_F_ENDED)
		mask |= EPOLLHUP;
	return mask;
}

static u64 pw_time_file_take(struct pw_time_file *tf)
{
	u64 n;

	spin_lock_bh(&tf->t->lock);
	n = tf->expired;
	tf->expired = 0;
	spin_unlock_bh(&tf->t->lock);
	return n;
}

static ssize_t pw_time_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	struct pw_time_file *tf = file->private_data;
	u64 n;
	int err;

	if (len < sizeof(n))
		return -EINVAL;
	while (!(n = pw_time_file_take(tf))) {
		if (pw_time_ended(tf->t))
			return -ENODEV;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(tf->reader.wait, READ_ONCE(tf->expired) ||
					       pw_time_ended(tf->t));
		if (err)
			return err;
	}
	return copy_to_user(buf, &n, sizeof(n)) ? -EFAULT : sizeof(n);
}

static int pw_time_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct pw_time_file *tf = file->private_data;

	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	return vm_insert_page(vma, vma->vm_start, virt_to_page(tf->t->page));
}

/* a descriptor is closed, also by exec and exit: a participant of the file leaves */
static int pw_time_flush(struct file *file, fl_owner_t id)
{
	struct pw_time_file *tf = file->private_data;

	pw_time_leave(tf->t, tf);
	return 0;
}

static int pw_time_release(struct inode *inode, struct file *file)
{
	struct pw_time_file *tf = file->private_data;
	struct pw_time *t = tf->t;

	spin_lock_bh(&t->lock);
	pw_time_alarm_del(t, &tf->alarm);
	spin_unlock_bh(&t->lock);
	pw_time_hold(t, -(int)tf->holds);
	pw_time_file_del(t, &tf->reader);
	pw_time_put(t);
	kfree(tf);
	return 0;
}

static const struct file_operations pw_time_fops = {
	.owner = THIS_MODULE,
	.flush = pw_time_flush,
	.release = pw_time_release,
	.read = pw_time_read,
	.poll = pw_time_poll,
	.mmap = pw_time_mmap,
	.unlocked_ioctl = pw_time_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/* the clock of a station, with a reference; RCU held */
static struct pw_time *pw_time_of(struct net_device *dev, u32 *port)
{
	struct pw_station *st = netdev_priv(dev);
	struct pw_time *t;

	/* a station that goes away has no SAN */
	if (!pw_netdev_is(dev) || dev->reg_state != NETREG_REGISTERED)
		return NULL;
	t = rcu_dereference(st->san->time);
	if (!t || !refcount_inc_not_zero(&t->users))
		return NULL;
	*port = st->port;
	return t;
}

static struct pw_time *pw_time_lookup(struct net *net, u32 ifindex, u32 *port)
{
	struct pw_time *t = ERR_PTR(-ENODEV);
	struct net_device *dev;

	rcu_read_lock();
	if (ifindex) {
		dev = dev_get_by_index_rcu(net, ifindex);
		if (dev && pw_netdev_is(dev))
			t = pw_time_of(dev, port) ?: ERR_PTR(-EOPNOTSUPP);
	} else {
		for_each_netdev_rcu(net, dev) {
			if (!pw_netdev_is(dev))
				continue;
			t = pw_time_of(dev, port) ?: ERR_PTR(-EOPNOTSUPP);
			if (!IS_ERR(t))
				break;
		}
	}
	rcu_read_unlock();
	return t;
}

/* a new file of a clock, whose reference it takes; closed again if there is an error */
static int pw_time_file_make(struct pw_time *t, u32 port, u32 flags)
{
	struct pw_time_file *tf;
	int fd;

	fd = -ENOMEM;
	tf = kzalloc(sizeof(*tf), PW_GFP);
	if (!tf)
		goto err_put;
	init_waitqueue_head(&tf->reader.wait);
	fd = pw_time_file_add(t, &tf->reader);
	if (fd)
		goto err_free;
	INIT_LIST_HEAD(&tf->alarm.entry);
	tf->alarm.fire = pw_time_file_fire;
	tf->t = t;
	tf->port = port;
	fd = anon_inode_getfd("[packetway-time]", &pw_time_fops, tf, O_RDWR | O_CLOEXEC |
			      (flags & PACKETWAY_TIME_NONBLOCK ? O_NONBLOCK : 0));
	if (fd >= 0)
		return fd;
	pw_time_file_del(t, &tf->reader);
err_free:
	kfree(tf);
err_put:
	pw_time_put(t);
	return fd;
}

/* another file of the same clock and station, for a program that has given privileges up */
static int pw_time_ioc_open(struct pw_time_file *tf, void *arg)
{
	struct packetway_time_open *o = arg;

	if (o->__reserved || o->flags & ~PACKETWAY_TIME_NONBLOCK || o->ifindex)
		return -EINVAL;
	pw_time_get(tf->t);
	return pw_time_file_make(tf->t, tf->port, o->flags);
}

/* may the caller stop the time of this SAN? Its namespace may be another one */
static int pw_time_allowed(struct pw_time *t)
{
	struct user_namespace *ns = NULL;
	int err;

	spin_lock_bh(&t->lock);
	if (t->net)
		ns = get_user_ns(t->net->user_ns);
	spin_unlock_bh(&t->lock);
	if (!ns)
		return -ENODEV;
	err = ns_capable(ns, CAP_NET_ADMIN) ? 0 : -EPERM;
	put_user_ns(ns);
	return err;
}

int pw_ioc_time_open(struct pw_file *pf, void *arg)
{
	struct packetway_time_open *o = arg;
	struct net *net = current->nsproxy->net_ns;
	struct pw_time *t;
	u32 port;
	int err;

	if (o->__reserved || o->flags & ~PACKETWAY_TIME_NONBLOCK || o->ifindex > INT_MAX)
		return -EINVAL;
	if (!ns_capable(net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	t = pw_time_lookup(net, o->ifindex, &port);
	if (IS_ERR(t))
		return PTR_ERR(t);
	err = pw_time_allowed(t);
	if (err) {
		pw_time_put(t);
		return err;
	}
	return pw_time_file_make(t, port, o->flags);
}
