// SPDX-License-Identifier: GPL-2.0
/* The clock of SANs in lockstep, and its participants. See pw_time.h. */
#include <linux/compat.h>
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <asm/syscall.h>
#include <asm/unistd.h>

#include "pw_priv.h"
#include "pw_time.h"

/* alarms that are called, participants that are forgotten, with the clock locked once */
#define PW_TIME_SLICE	64

/* clocks of a thread: at each switch the scheduler calls a notifier of each, interrupts off */
#define PW_TIME_CLOCKS_MAX	16

/*
 * How the thread of a participant ends. Both bits change together: who has seen PW_TIME_DEAD knows
 * that the thread's last sched_out is not about to queue it once more.
 */
#define PW_TIME_DEAD	BIT(0)	/* its notifier is not called again */
#define PW_TIME_QUEUED	BIT(1)	/* pw_time_reap() is to look at it */

/**
 * struct pw_time_thread - a participant
 * @pn: its preempt notifier
 * @t: the clock
 * @task: the thread
 * @entry: in pw_time.threads
 * @hash: in pw_time.by_task
 * @file: clock file through which it joined; only compared
 * @port: of its station
 * @order: among the senders of that station
 * @exec: it stays over exec
 * @exec_id: program that joined
 * @blocked: sched_out found it asleep; written by the thread itself
 * @rests: it waits for a time and is not asleep yet, see pw_time_rest(); xchg
 * @left: it is no participant, but its notifier is still registered
 * @gone: in pw_time.gone, if PW_TIME_QUEUED
 * @end: PW_TIME_DEAD, PW_TIME_QUEUED
 * @charged: it counts against the limit of the namespace; pw_time.lock
 * @since: virtual time of the last change of @blocked
 * @rcu: sched_out reads @pn after it has marked the thread as dead
 */
struct pw_time_thread {
	struct preempt_notifier pn;
	struct pw_time *t;
	struct task_struct *task;
	struct list_head entry;
	struct hlist_node hash;
	const void *file;
	u32 port;
	u32 order;
	bool exec;
	u64 exec_id;
	bool blocked;
	u32 rests;
	bool left;
	struct llist_node gone;
	atomic_t end;
	bool charged;
	u64 since;
	struct rcu_head rcu;
};

/* ---- what the scheduler says; a run queue is locked ---- */

static void pw_time_runs(struct pw_time *t)
{
	atomic_inc(&t->running);
	atomic_inc_return(&t->switches);
}

/* before what marks the thread as blocked, see pw_time.h */
static void pw_time_switch(struct pw_time *t)
{
	atomic_inc_return(&t->switches);
}

static void pw_time_blocks(struct pw_time *t)
{
	if (atomic_dec_and_test(&t->running))
		irq_work_queue(&t->kick);
}

static void pw_time_sched_in(struct preempt_notifier *pn, int cpu)
{
	struct pw_time_thread *p = container_of(pn, struct pw_time_thread, pn);

	if (!p->blocked)
		return;
	pw_time_runs(p->t);
	WRITE_ONCE(p->since, READ_ONCE(p->t->page->now));
	WRITE_ONCE(p->blocked, false);
}

/* the thread ends, or is another program: it is no participant from here on */
static void pw_time_sched_gone(struct pw_time_thread *p, bool dead)
{
	int end = PW_TIME_QUEUED | (dead ? PW_TIME_DEAD : 0);
	struct pw_time *t = p->t;

	if (!p->left) {
		atomic64_set(&t->left, READ_ONCE(t->page->now));
		pw_time_switch(t);
		WRITE_ONCE(p->left, true);
		atomic_dec(&t->running);
	}
	/*
	 * @p may be freed after a grace period, which does not end before this returns. If it is
	 * queued already, pw_time_reap() looks at it after this.
	 */
	if (!(atomic_fetch_or(end, &p->end) & PW_TIME_QUEUED))
		llist_add(&p->gone, &t->gone);
	irq_work_queue(&t->kick);
}

/*
 * The file of a descriptor of the current thread. Interrupts are off, which keeps what another
 * thread closes meanwhile.
 */
static struct file *pw_time_file(unsigned int fd)
{
	struct files_struct *files = READ_ONCE(current->files);

	return files ? files_lookup_fd_raw(files, fd) : NULL;
}

/* Does a descriptor refer to a file on a disk? */
static bool pw_time_on_disk(unsigned int fd)
{
	struct file *file = pw_time_file(fd);
	struct inode *inode = file ? READ_ONCE(file->f_inode) : NULL;

	/* timerfd, eventfd and the like: since 6.16 they are regular files, too */
	return inode && !IS_PRIVATE(inode) &&
	       (S_ISREG(inode->i_mode) || S_ISDIR(inode->i_mode));
}

/* Would a call on this descriptor return instead of waiting? */
static bool pw_time_nonblock(unsigned int fd)
{
	struct file *file = pw_time_file(fd);

	return file && READ_ONCE(file->f_flags) & O_NONBLOCK;
}

/*
 * Is the current thread, which sleeps, in a system call that waits for other programs or
 * for time? FUSE and network file systems sleep interruptibly as well, in page faults, too.
 */
static bool pw_time_waits(void)
{
	struct pt_regs *regs = task_pt_regs(current);
	int nr = syscall_get_nr(current, regs);
	unsigned long arg[6];

	/* a page fault; the numbers of another ABI are not looked at */
	if (nr < 0 || in_compat_syscall())
		return nr >= 0;
	/* a path is looked up, for a socket in the file system */
	if (current->nameidata)
		return false;
	switch (nr) {
	case __NR_read:
	case __NR_write:
	case __NR_readv:
	case __NR_writev:
	case __NR_ioctl:
		syscall_get_arguments(current, regs, arg);
		return !pw_time_on_disk(arg[0]);
	case __NR_connect:
		syscall_get_arguments(current, regs, arg);
		return !pw_time_nonblock(arg[0]);
#ifdef __NR_poll
	case __NR_poll:
#endif
#ifdef __NR_select
	case __NR_select:
#endif
#ifdef __NR_epoll_wait
	case __NR_epoll_wait:
#endif
#ifdef __NR_pause
	case __NR_pause:
#endif
#ifdef __NR_accept
	case __NR_accept:
#endif
#ifdef __NR_semop
	case __NR_semop:
#endif
	/* on s390x these are what accept() and semop() may come as */
#ifdef __NR_socketcall
	case __NR_socketcall:
#endif
#ifdef __NR_ipc
	case __NR_ipc:
#endif
	case __NR_accept4:
	case __NR_clock_nanosleep:
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
	case __NR_fcntl:
	case __NR_flock:
	case __NR_futex:
	case __NR_futex_waitv:
	case __NR_io_getevents:
	case __NR_io_uring_enter:
	case __NR_mq_timedreceive:
	case __NR_mq_timedsend:
	case __NR_msgrcv:
	case __NR_msgsnd:
	case __NR_nanosleep:
	case __NR_ppoll:
	case __NR_pselect6:
	case __NR_recvfrom:
	case __NR_recvmmsg:
	case __NR_recvmsg:
	case __NR_restart_syscall:
	case __NR_rt_sigsuspend:
	case __NR_rt_sigtimedwait:
	case __NR_semtimedop:
	case __NR_sendfile:
	case __NR_sendmmsg:
	case __NR_sendmsg:
	case __NR_sendto:
	case __NR_splice:
	case __NR_tee:
	case __NR_wait4:
	case __NR_waitid:
		return true;
	}
	return false;
}

static void pw_time_sched_out(struct preempt_notifier *pn, struct task_struct *next)
{
	struct pw_time_thread *p = container_of(pn, struct pw_time_thread, pn);
	unsigned int state = READ_ONCE(current->__state);

	if (state == TASK_DEAD) {
		pw_time_sched_gone(p, true);
		return;
	}
	if (p->left)
		return;
	if (!p->exec && p->exec_id != current->self_exec_id) {
		pw_time_sched_gone(p, false);
		return;
	}
	if (pw_task_is_runnable(current) || !(state & TASK_INTERRUPTIBLE) || !pw_time_waits())
		return;
	/* one that rests has woken no other since it was marked */
	if (!READ_ONCE(p->rests))
		pw_time_switch(p->t);
	WRITE_ONCE(p->since, READ_ONCE(p->t->page->now));
	WRITE_ONCE(p->blocked, true);
	/* one that rests is counted already; that mark does not go before this one is there */
	if (!xchg(&p->rests, 0))
		pw_time_blocks(p->t);
}

static struct preempt_ops pw_time_preempt_ops = {
	.sched_in = pw_time_sched_in,
	.sched_out = pw_time_sched_out,
};

/* Is it blocked now? A wake-up has changed the state of the task before sched_in. */
static bool pw_time_sleeps(const struct pw_time_thread *p)
{
	/* a signal ends its wait before it has begun; pairs with the xchg() behind @blocked */
	if (smp_load_acquire(&p->rests))
		return !signal_pending(p->task);
	if (!READ_ONCE(p->blocked))
		return false;
	/* pairs with the atomic_inc_return() before @blocked was set */
	smp_rmb();
	return READ_ONCE(p->task->__state) & TASK_INTERRUPTIBLE;
}

static bool pw_time_fire(struct pw_time *t, u64 now);

/* ---- life of a clock ---- */

static void pw_time_kick_fn(struct irq_work *work)
{
	struct pw_time *t = container_of(work, struct pw_time, kick);

	if (!llist_empty(&t->gone))
		queue_work(pw_wq, &t->reap);
	pw_time_engine_poll(t);
}

/* pw_time.lock held */
static void pw_time_uncharge(struct pw_time *t, struct pw_time_thread *p)
{
	if (!p->charged)
		return;
	p->charged = false;
	t->nthreads--;
	if (t->net)
		pw_limit_uncharge(t->net, PW_LIMIT_PARTICIPANTS, 1);
}

static void pw_time_thread_free(struct rcu_head *rcu)
{
	struct pw_time_thread *p = container_of(rcu, struct pw_time_thread, rcu);

	put_task_struct(p->task);
	pw_time_put(p->t);
	kfree(p);
	module_put(THIS_MODULE);
}

/* pw_time.lock held; the notifier is not called again */
static void pw_time_thread_drop(struct pw_time *t, struct pw_time_thread *p)
{
	pw_time_uncharge(t, p);
	list_del_init(&p->entry);
	hash_del(&p->hash);
	/* pw_time_reap() calls this again if it is queued */
	if (!(atomic_fetch_or(PW_TIME_DEAD, &p->end) & PW_TIME_QUEUED))
		call_rcu(&p->rcu, pw_time_thread_free);
}

/* it has ended, or is no participant although it goes on; pw_time.lock held */
static void pw_time_thread_gone(struct pw_time *t, struct pw_time_thread *p)
{
	/* pairs with pw_time_sched_gone(): what that has written before is seen */
	if (atomic_fetch_andnot(PW_TIME_QUEUED, &p->end) & PW_TIME_DEAD) {
		pw_time_thread_drop(t, p);
		return;
	}
	pw_time_uncharge(t, p);
	/* a thread that lives on costs nothing at each event */
	list_move_tail(&p->entry, &t->gone_on);
}

/* some of those that are queued */
static struct llist_node *pw_time_reap_some(struct pw_time *t, struct llist_node *first)
{
	struct pw_time_thread *p;
	u32 n;

	spin_lock_bh(&t->lock);
	for (n = 0; first && n < PW_TIME_SLICE; n++) {
		p = llist_entry(first, struct pw_time_thread, gone);
		first = first->next;
		pw_time_thread_gone(t, p);
	}
	spin_unlock_bh(&t->lock);
	return first;
}

static void pw_time_reap(struct work_struct *work)
{
	struct pw_time *t = container_of(work, struct pw_time, reap);
	struct llist_node *first = llist_del_all(&t->gone);

	while (first) {
		first = pw_time_reap_some(t, first);
		cond_resched();
	}
}

static void pw_time_stall_fn(struct work_struct *work)
{
	struct pw_time *t = container_of(to_delayed_work(work), struct pw_time, stall);
	int switches;

	if (!pw_time_quiet(t, &switches))
		return;
	spin_lock_bh(&t->lock);
	if (t->idle && t->idle_switches == switches && t->nthreads)
		pw_time_flag(t, PACKETWAY_TIME_F_STALLED, 0);
	spin_unlock_bh(&t->lock);
	wake_up_interruptible_all(&t->wait);
}

/*
 * The scheduler calls preempt notifiers behind a static key. A change of the key patches the
 * scheduler and interrupts every CPU of the machine several times. The key stays on for a
 * while after the last clock has gone, so a user who makes and deletes clocks in a loop does
 * not interrupt the others.
 */
#define PW_TIME_KEY_KEEP	(10 * HZ)

static void pw_time_key_off(struct work_struct *work);

static struct {
	struct mutex lock;	/* all below */
	u32 clocks;
	bool on;
	struct delayed_work off;
} pw_time_key = {
	.lock = __MUTEX_INITIALIZER(pw_time_key.lock),
	.off = __DELAYED_WORK_INITIALIZER(pw_time_key.off, pw_time_key_off, 0),
};

static void pw_time_key_off(struct work_struct *work)
{
	mutex_lock(&pw_time_key.lock);
	if (!pw_time_key.clocks && pw_time_key.on) {
		preempt_notifier_dec();
		pw_time_key.on = false;
	}
	mutex_unlock(&pw_time_key.lock);
}

static void pw_time_key_get(void)
{
	mutex_lock(&pw_time_key.lock);
	if (!pw_time_key.clocks++ && !pw_time_key.on) {
		preempt_notifier_inc();
		pw_time_key.on = true;
	}
	mutex_unlock(&pw_time_key.lock);
}

static void pw_time_key_put(void)
{
	mutex_lock(&pw_time_key.lock);
	if (!--pw_time_key.clocks)
		mod_delayed_work(system_dfl_wq, &pw_time_key.off, PW_TIME_KEY_KEEP);
	mutex_unlock(&pw_time_key.lock);
}

/**
 * pw_time_exit - switch the preempt notifiers off, if clocks have switched them on
 *
 * All clocks are freed.
 */
void pw_time_exit(void)
{
	cancel_delayed_work_sync(&pw_time_key.off);
	pw_time_key_off(NULL);
}

static void pw_time_free(struct work_struct *work)
{
	struct pw_time *t = container_of(work, struct pw_time, free);

	irq_work_sync(&t->kick);
	cancel_work_sync(&t->reap);
	cancel_delayed_work_sync(&t->stall);
	pw_time_key_put();
	/* pw_time_file.c looks clocks up under RCU */
	synchronize_rcu();
	free_page((unsigned long)t->page);
	kfree(t);
}

/**
 * pw_time_new - make a clock
 * @net: namespace that its participants are charged to, until pw_time_end()
 * @now: virtual time in nanoseconds
 * @extack: where a refusal is explained
 *
 * Return: the clock, with one reference, or an ERR_PTR. Process context, not under RTNL.
 */
struct pw_time *pw_time_new(struct net *net, u64 now, struct netlink_ext_ack *extack)
{
	struct pw_time *t;

	BUILD_BUG_ON(sizeof(*t->page) > PAGE_SIZE);
	if (!IS_ENABLED(CONFIG_PREEMPT_NOTIFIERS)) {
		NL_SET_ERR_MSG(extack,
			       "Lockstep needs CONFIG_PREEMPT_NOTIFIERS, which this kernel lacks");
		return ERR_PTR(-EOPNOTSUPP);
	}
	t = kzalloc(sizeof(*t), PW_GFP);
	if (!t)
		return ERR_PTR(-ENOMEM);
	t->page = (void *)get_zeroed_page(PW_GFP);
	if (!t->page) {
		kfree(t);
		return ERR_PTR(-ENOMEM);
	}
	refcount_set(&t->users, 1);
	spin_lock_init(&t->run);
	INIT_LIST_HEAD(&t->members);
	t->at = PW_TIME_NEVER;
	t->net = net;
	spin_lock_init(&t->lock);
	INIT_LIST_HEAD(&t->threads);
	init_llist_head(&t->gone);
	INIT_LIST_HEAD(&t->gone_on);
	INIT_LIST_HEAD(&t->files);
	hash_init(t->by_task);
	INIT_LIST_HEAD(&t->waiters);
	INIT_LIST_HEAD(&t->woken);
	t->alarms = RB_ROOT_CACHED;
	t->own = RB_ROOT_CACHED;
	t->page->now = now;
	t->page->quantum = PACKETWAY_TIME_QUANTUM_DEFAULT;
	t->stall_ms = PACKETWAY_TIME_STALL_DEFAULT;
	init_waitqueue_head(&t->wait);
	/* in an interrupt, with PREEMPT_RT as well: NAPI is not scheduled with BH on */
	t->kick = IRQ_WORK_INIT_HARD(pw_time_kick_fn);
	INIT_WORK(&t->reap, pw_time_reap);
	INIT_DELAYED_WORK(&t->stall, pw_time_stall_fn);
	INIT_WORK(&t->free, pw_time_free);
	pw_time_key_get();
	return t;
}

void pw_time_get(struct pw_time *t)
{
	refcount_inc(&t->users);
}

/* any context */
void pw_time_put(struct pw_time *t)
{
	if (t && refcount_dec_and_test(&t->users))
		queue_work(pw_wq, &t->free);
}

static void pw_time_choose(struct pw_time *t)
{
	struct pw_time_member *m = list_first_entry_or_null(&t->members, struct pw_time_member,
							    entry);

	rcu_assign_pointer(t->napi, m ? m->napi : NULL);
	/* no fabric is on its way to a time that the others did not agree on */
	t->at = PW_TIME_NEVER;
}

/**
 * pw_time_attach - a fabric runs by the clock from now on
 * @t: the clock; pw_time.run held
 * @m: the fabric
 */
void pw_time_attach(struct pw_time *t, struct pw_time_member *m)
{
	struct pw_time_member *other;

	list_for_each_entry(other, &t->members, entry)
		if (other->san > m->san)
			break;
	list_add_tail(&m->entry, &other->entry);
	pw_time_choose(t);
}

/**
 * pw_time_detach - a fabric does not run by the clock any longer
 * @t: the clock; pw_time.run held
 * @m: the fabric, whose poll may be scheduled until a grace period is over
 */
void pw_time_detach(struct pw_time *t, struct pw_time_member *m)
{
	list_del(&m->entry);
	pw_time_choose(t);
}

/* those that read some of the files return. Return: true if more do; pw_time.lock held */
static bool pw_time_end_files(struct pw_time *t)
{
	struct pw_time_reader *r;
	u32 n;

	for (n = 0; n < PW_TIME_SLICE; n++) {
		r = list_first_entry_or_null(&t->files, struct pw_time_reader, entry);
		if (!r)
			return false;
		list_del_init(&r->entry);
		wake_up_interruptible_all(&r->wait);
	}
	return true;
}

/**
 * pw_time_end - the clock stands still from now on
 * @t: the clock, which the engine does not use any longer; process context
 *
 * Waiting threads return, participants stay registered until they end or leave.
 */
void pw_time_end(struct pw_time *t)
{
	struct pw_time_thread *p;
	bool more;

	RCU_INIT_POINTER(t->napi, NULL);
	spin_lock_bh(&t->lock);
	list_for_each_entry(p, &t->threads, entry)
		pw_time_uncharge(t, p);
	pw_limit_uncharge(t->net, PW_LIMIT_CLOCK_FILES, t->nfiles);
	t->net = NULL;
	t->idle = false;
	pw_time_flag(t, PACKETWAY_TIME_F_ENDED, 0);
	spin_unlock_bh(&t->lock);
	/* none is added from here on */
	do {
		spin_lock_bh(&t->lock);
		more = pw_time_fire(t, U64_MAX) || pw_time_end_files(t);
		spin_unlock_bh(&t->lock);
		cond_resched();
	} while (more);
	wake_up_interruptible_all(&t->wait);
	/* the engine may be freed: no kick finds it */
	synchronize_rcu();
}

/**
 * pw_time_file_add - a clock file is opened
 * @t: the clock
 * @r: of the file
 *
 * Return: 0; -ENODEV: the clock has ended; -ENOSPC: the namespace has too many.
 */
int pw_time_file_add(struct pw_time *t, struct pw_time_reader *r)
{
	int err = -ENODEV;

	spin_lock_bh(&t->lock);
	if (t->net)
		err = pw_limit_charge(t->net, PW_LIMIT_CLOCK_FILES, 1, NULL);
	if (!err) {
		t->nfiles++;
		list_add_tail(&r->entry, &t->files);
	}
	spin_unlock_bh(&t->lock);
	return err;
}

/**
 * pw_time_file_del - a clock file is closed
 * @t: the clock
 * @r: of the file
 */
void pw_time_file_del(struct pw_time *t, struct pw_time_reader *r)
{
	spin_lock_bh(&t->lock);
	t->nfiles--;
	list_del_init(&r->entry);
	if (t->net)
		pw_limit_uncharge(t->net, PW_LIMIT_CLOCK_FILES, 1);
	spin_unlock_bh(&t->lock);
}

/**
 * pw_time_kick - let the engine look at the clock
 * @t: the clock; any context
 */
void pw_time_kick(struct pw_time *t)
{
	irq_work_queue(&t->kick);
}

/**
 * pw_time_kick_idle - the same, unless a participant runs: the last one that blocks does it
 * @t: the clock, after what the engine is to see has changed
 */
void pw_time_kick_idle(struct pw_time *t)
{
	/* pairs with the atomic_dec_and_test() of the participant that blocks */
	smp_mb();
	if (!atomic_read(&t->running))
		pw_time_kick(t);
}

bool pw_time_ended(const struct pw_time *t)
{
	return READ_ONCE(t->page->flags) & PACKETWAY_TIME_F_ENDED;
}

/* ---- the page ---- */

static void pw_time_page_begin(struct packetway_time_page *page)
{
	WRITE_ONCE(page->seq, page->seq + 1);
	/* readers see the odd number before what changes */
	smp_wmb();
}

static void pw_time_page_end(struct packetway_time_page *page)
{
	/* readers see what has changed before the even number */
	smp_wmb();
	WRITE_ONCE(page->seq, page->seq + 1);
}

/**
 * pw_time_flag - change the flags of the page
 * @t: the clock; its lock held
 * @set: flags to set
 * @clear: flags to clear
 */
void pw_time_flag(struct pw_time *t, u32 set, u32 clear)
{
	struct packetway_time_page *page = t->page;

	pw_time_page_begin(page);
	WRITE_ONCE(page->flags, (page->flags & ~clear) | set);
	pw_time_page_end(page);
}

/* pw_time.lock held */
static void __pw_time_publish(struct pw_time *t, u64 now)
{
	struct packetway_time_page *page = t->page;

	if (now <= page->now)
		return;
	pw_time_page_begin(page);
	WRITE_ONCE(page->now, now);
	WRITE_ONCE(page->flags, page->flags & ~PACKETWAY_TIME_F_STALLED);
	pw_time_page_end(page);
}

/**
 * pw_time_publish - show the time to programs
 * @t: the clock
 * @now: virtual time in nanoseconds; an earlier one than before is ignored
 */
void pw_time_publish(struct pw_time *t, u64 now)
{
	spin_lock(&t->lock);
	__pw_time_publish(t, now);
	spin_unlock(&t->lock);
}

static struct pw_time_alarm *pw_time_first(const struct rb_root_cached *tree)
{
	struct rb_node *node = rb_first_cached(tree);

	return node ? rb_entry(node, struct pw_time_alarm, node) : NULL;
}

/*
 * The alarm that is called next of those up to @now. The kernel's own come first, and what they
 * hold the time for is done before a thread wakes up: a thread that looks whether a ring command
 * has ended finds it. pw_time.lock held
 */
static struct pw_time_alarm *pw_time_due_first(struct pw_time *t, u64 now)
{
	struct pw_time_alarm *a = pw_time_first(&t->own);

	if (a && a->at <= now)
		return a;
	/* a clock that has ended wakes all */
	if (t->holds && t->net)
		return NULL;
	a = pw_time_first(&t->alarms);
	if (a && a->at <= now)
		return a;
	return list_first_entry_or_null(&t->woken, struct pw_time_alarm, entry);
}

/* calls some of the alarms up to @now. Return: true if more are due; pw_time.lock held */
static bool pw_time_fire(struct pw_time *t, u64 now)
{
	struct pw_time_alarm *a;
	int n;

	for (n = 0; n < PW_TIME_SLICE; n++) {
		a = pw_time_due_first(t, now);
		if (!a)
			return false;
		pw_time_alarm_del(t, a);
		a->fire(t, a);
	}
	return true;
}

/* ---- of the engine; BH off ---- */

/**
 * pw_time_quiet - are all participants blocked?
 * @t: the clock
 * @switches: gets a number for pw_time_still()
 *
 * If not, the last of them kicks the engine when it blocks.
 */
bool pw_time_quiet(struct pw_time *t, int *switches)
{
	struct pw_time_thread *p;
	bool quiet = true;

	*switches = atomic_read(&t->switches);
	/* participants are looked at after this, see pw_time.h */
	smp_rmb();
	if (atomic_read(&t->running) || READ_ONCE(t->due))
		return false;
	spin_lock_bh(&t->lock);
	list_for_each_entry(p, &t->threads, entry) {
		if (!READ_ONCE(p->left) && !pw_time_sleeps(p)) {
			quiet = false;
			break;
		}
	}
	spin_unlock_bh(&t->lock);
	/* the number is compared after that */
	smp_rmb();
	return quiet && pw_time_still(t, *switches);
}

/**
 * pw_time_next - when is the next alarm?
 * @t: the clock
 *
 * Return: virtual time in nanoseconds, or PW_TIME_NEVER.
 */
u64 pw_time_next(struct pw_time *t)
{
	struct pw_time_alarm *a, *own;
	u64 at = PW_TIME_NEVER;

	spin_lock(&t->lock);
	a = pw_time_first(&t->alarms);
	own = pw_time_first(&t->own);
	if (a)
		at = a->at;
	if (own)
		at = min(at, own->at);
	spin_unlock(&t->lock);
	return at > PACKETWAY_TIME_NS_MAX ? PW_TIME_NEVER : at;
}

/**
 * pw_time_stop - the fabric has stopped for an event
 * @t: the clock
 * @now: virtual time in nanoseconds
 *
 * Shows the time. pw_time_due() then wakes those that wait for it or for any event.
 */
void pw_time_stop(struct pw_time *t, u64 now)
{
	spin_lock(&t->lock);
	t->idle = false;
	t->stops++;
	__pw_time_publish(t, now);
	list_splice_tail_init(&t->waiters, &t->woken);
	WRITE_ONCE(t->due, true);
	spin_unlock(&t->lock);
}

/**
 * pw_time_due - wake those for whom the fabric has stopped
 * @t: the clock
 *
 * Called when the stations have taken what has arrived. A busy waiter that wakes up looks
 * once and waits for the next event: it must find the frame of this one.
 *
 * Return: true if some are left. The fabric does not run before all have been woken. Those that
 * wait for the end of a hold are left, too: it kicks the engine.
 */
bool pw_time_due(struct pw_time *t)
{
	bool more;

	if (!READ_ONCE(t->due))
		return false;
	spin_lock(&t->lock);
	more = pw_time_fire(t, t->page->now);
	WRITE_ONCE(t->due, more || t->holds);
	spin_unlock(&t->lock);
	return more;
}

/**
 * pw_time_idle - no event is pending
 * @t: the clock
 * @switches: of pw_time_quiet(), which returned true
 *
 * The clock is stalled if this lasts.
 */
void pw_time_idle(struct pw_time *t, int switches)
{
	spin_lock(&t->lock);
	if (t->nthreads && t->net && (!t->idle || t->idle_switches != switches)) {
		t->idle = true;
		t->idle_switches = switches;
		mod_delayed_work(pw_wq, &t->stall, msecs_to_jiffies(t->stall_ms));
	}
	spin_unlock(&t->lock);
}

static struct pw_time_thread *pw_time_find(struct pw_time *t, const struct task_struct *task)
{
	struct pw_time_thread *p;

	hash_for_each_possible(t->by_task, p, hash, (unsigned long)task)
		if (p->task == task)
			return p;
	return NULL;
}

/**
 * pw_time_rest - the current thread is about to wait for an alarm
 * @t: the clock; its lock held
 *
 * The last participant that runs is marked as blocked here, before it sleeps. The engine then runs
 * in its context, and if the alarm is the next event, the thread does not sleep at all.
 *
 * Return: the participant, for pw_time_engine_poll() and pw_time_rested(); NULL: it sleeps.
 */
struct pw_time_thread *pw_time_rest(struct pw_time *t)
{
	struct pw_time_thread *p;

	if (atomic_read(&t->running) != 1)
		return NULL;
	p = pw_time_find(t, current);
	if (!p || READ_ONCE(p->left))
		return NULL;
	pw_time_switch(t);
	WRITE_ONCE(p->since, t->page->now);
	WRITE_ONCE(p->rests, 1);
	/* others may have begun to run: the last one of them kicks */
	atomic_dec(&t->running);
	return p;
}

/**
 * pw_time_rested - the alarm has expired, or the thread waits no longer
 * @p: of pw_time_rest(), or NULL
 */
void pw_time_rested(struct pw_time_thread *p)
{
	if (p && xchg(&p->rests, 0))
		pw_time_runs(p->t);
}

/**
 * pw_time_engine_poll - let the engine run here, as soon as BH are on
 * @t: the clock; BH or interrupts off
 */
void pw_time_engine_poll(struct pw_time *t)
{
	struct napi_struct *napi;

	rcu_read_lock();
	napi = rcu_dereference(t->napi);
	if (napi)
		napi_schedule(napi);
	rcu_read_unlock();
}

/**
 * pw_time_sender - order of the sender of a frame among those of its station
 * @t: the clock; called where the frame is sent
 *
 * Replies that the kernel makes in softirqs are first: they are of the moment at which
 * the frame arrived.
 */
u32 pw_time_sender(struct pw_time *t)
{
	struct pw_time_thread *p;
	u32 order = U32_MAX;

	if (in_serving_softirq())
		return 0;
	spin_lock(&t->lock);
	p = pw_time_find(t, current);
	if (p && !p->left)
		order = min(p->order, U32_MAX - 2) + 1;
	else if (t->nthreads)
		atomic64_inc(&t->outside);
	spin_unlock(&t->lock);
	return order;
}

/* ---- alarms; pw_time.lock held ---- */

static struct rb_root_cached *pw_time_tree(struct pw_time *t, const struct pw_time_alarm *a)
{
	return a->own ? &t->own : &t->alarms;
}

/**
 * pw_time_alarm_add - queue an alarm behind those of the same time
 * @t: the clock
 * @a: the alarm, which is not queued; its time is in the future
 */
void pw_time_alarm_add(struct pw_time *t, struct pw_time_alarm *a)
{
	struct rb_root_cached *tree = pw_time_tree(t, a);
	struct rb_node **link = &tree->rb_root.rb_node, *parent = NULL;
	bool first = true;

	while (*link) {
		parent = *link;
		if (rb_entry(parent, struct pw_time_alarm, node)->at <= a->at) {
			link = &parent->rb_right;
			first = false;
		} else {
			link = &parent->rb_left;
		}
	}
	rb_link_node(&a->node, parent, link);
	rb_insert_color_cached(&a->node, tree, first);
	a->queued = true;
}

/**
 * pw_time_alarm_del - take an alarm back, if it is queued
 * @t: the clock
 * @a: the alarm
 */
void pw_time_alarm_del(struct pw_time *t, struct pw_time_alarm *a)
{
	if (a->queued)
		rb_erase_cached(&a->node, pw_time_tree(t, a));
	a->queued = false;
	list_del_init(&a->entry);
}

/**
 * pw_time_alarm_start - let an alarm of the kernel expire after some time
 * @t: the clock
 * @a: the alarm; queued anew if it is queued
 * @ns: virtual time until then
 *
 * Not without participants: a periodic alarm alone would let time run as fast as it can.
 *
 * Return: false if the clock has ended or has no participants. BH off.
 */
bool pw_time_alarm_start(struct pw_time *t, struct pw_time_alarm *a, u64 ns)
{
	bool can;

	spin_lock(&t->lock);
	pw_time_alarm_del(t, a);
	can = t->net && t->nthreads;
	if (can) {
		a->own = true;
		a->at = t->page->now + max_t(u64, ns, 1);
		pw_time_alarm_add(t, a);
	}
	spin_unlock(&t->lock);
	if (can)
		pw_time_kick_idle(t);
	return can;
}

/**
 * pw_time_alarm_stop - take an alarm of the kernel back
 * @t: the clock
 * @a: the alarm, which is not called after this. BH off
 */
void pw_time_alarm_stop(struct pw_time *t, struct pw_time_alarm *a)
{
	spin_lock(&t->lock);
	pw_time_alarm_del(t, a);
	spin_unlock(&t->lock);
}

/* ---- participants ---- */

/* the notifier of the current thread; pw_time.lock held, hence no preemption */
static void pw_time_thread_leave(struct pw_time *t, struct pw_time_thread *p)
{
	preempt_disable();
	preempt_notifier_unregister(&p->pn);
	if (!p->left) {
		atomic64_set(&t->left, t->page->now);
		pw_time_switch(t);
		WRITE_ONCE(p->left, true);
		pw_time_blocks(t);
	}
	preempt_enable();
	pw_time_thread_drop(t, p);
}

/*
 * A clock whose notifier the current thread has in vain, because the clock has ended or the thread
 * has left it by exec; with a reference. NULL: there is none, and *@n gets the number of others.
 */
static struct pw_time *pw_time_in_vain(u32 *n)
{
	struct pw_time *found = NULL;
#ifdef CONFIG_PREEMPT_NOTIFIERS
	const struct pw_time_thread *p;
	struct preempt_notifier *pn;

	*n = 0;
	/* only the thread itself takes notifiers from the list */
	hlist_for_each_entry(pn, &current->preempt_notifiers, link) {
		if (pn->ops != &pw_time_preempt_ops)
			continue;
		p = container_of(pn, struct pw_time_thread, pn);
		if (!READ_ONCE(p->left) && !pw_time_ended(p->t)) {
			++*n;
			continue;
		}
		found = p->t;
		pw_time_get(found);
		break;
	}
#endif
	return found;
}

/* the current thread lets go of those; return: how many clocks it has still */
static u32 pw_time_tidy(void)
{
	struct pw_time *t;
	u32 n = 0;

	while ((t = pw_time_in_vain(&n))) {
		pw_time_leave(t, NULL);
		pw_time_put(t);
	}
	return n;
}

static int pw_time_thread_start(struct pw_time *t, struct pw_time_thread *p, u32 clocks)
{
	int err;

	if (!t->net)
		return -ENODEV;
	if (clocks >= PW_TIME_CLOCKS_MAX)
		return -EBUSY;
	err = pw_limit_charge(t->net, PW_LIMIT_PARTICIPANTS, 1, NULL);
	if (err)
		return err;
	p->charged = true;
	p->since = t->page->now;
	t->nthreads++;
	list_add_tail(&p->entry, &t->threads);
	hash_add(t->by_task, &p->hash, (unsigned long)p->task);
	preempt_disable();
	pw_time_runs(t);
	preempt_notifier_register(&p->pn);
	preempt_enable();
	return 0;
}

/**
 * pw_time_join - the current thread becomes a participant
 * @t: the clock
 * @file: clock file through which it joins
 * @port: of its station
 * @order: among the senders of that station
 * @exec: it stays over exec
 *
 * Return: 0; -EALREADY: it is one; -ENODEV: the clock has ended; -EBUSY: it is one of
 * PW_TIME_CLOCKS_MAX clocks; -ENOSPC or -ENOMEM.
 */
int pw_time_join(struct pw_time *t, const void *file, u32 port, u32 order, bool exec)
{
	u32 clocks = pw_time_tidy();
	struct pw_time_thread *p, *old;
	int err = -EALREADY;

	p = kzalloc(sizeof(*p), PW_GFP);
	if (!p)
		return -ENOMEM;
	/* the notifier runs code of this module until the thread ends */
	__module_get(THIS_MODULE);
	preempt_notifier_init(&p->pn, &pw_time_preempt_ops);
	pw_time_get(t);
	p->t = t;
	p->task = get_task_struct(current);
	p->file = file;
	p->port = port;
	p->order = order;
	p->exec = exec;
	p->exec_id = current->self_exec_id;

	spin_lock_bh(&t->lock);
	old = pw_time_find(t, current);
	/* it has called exec since */
	if (old && !old->exec && old->exec_id != current->self_exec_id) {
		pw_time_thread_leave(t, old);
		old = NULL;
	}
	if (old) {
		/* the program that it has become joins as well, in the old place */
		old->port = port;
		old->file = file;
		if (old->exec_id != current->self_exec_id)
			err = 0;
		old->exec_id = current->self_exec_id;
	} else {
		err = pw_time_thread_start(t, p, clocks);
		if (!err)
			p = NULL;
	}
	spin_unlock_bh(&t->lock);
	if (p)
		pw_time_thread_free(&p->rcu);
	return err;
}

/**
 * pw_time_leave - the current thread is no participant any longer
 * @t: the clock
 * @file: NULL, or leave only if it joined through this file and not over exec
 *
 * Return: 0 or -ESRCH.
 */
int pw_time_leave(struct pw_time *t, const void *file)
{
	struct pw_time_thread *p;
	int err = -ESRCH;

	spin_lock_bh(&t->lock);
	p = pw_time_find(t, current);
	if (p && (!file || (p->file == file && !p->exec))) {
		err = p->left ? -ESRCH : 0;
		pw_time_thread_leave(t, p);
	}
	spin_unlock_bh(&t->lock);
	return err;
}

/**
 * pw_time_hold - keep the time where it is, or no longer
 * @t: the clock
 * @n: number of holds, negative: given back
 */
void pw_time_hold(struct pw_time *t, int n)
{
	if (!n)
		return;
	atomic_inc_return(&t->switches);
	if (!atomic_add_return(n, &t->running))
		pw_time_kick(t);
}

/**
 * pw_time_alarm_hold - an alarm of the kernel has expired: keep the time until its work is done
 * @t: the clock; its lock held
 * @held: whether it has a hold already
 */
void pw_time_alarm_hold(struct pw_time *t, bool *held)
{
	if (*held)
		return;
	*held = true;
	t->holds++;
	pw_time_hold(t, 1);
}

/**
 * pw_time_unhold - give back the hold that an alarm of the kernel may have
 * @t: the clock; BH off
 * @held: whether it has one; changes under pw_time.lock
 */
void pw_time_unhold(struct pw_time *t, bool *held)
{
	bool was;

	spin_lock(&t->lock);
	was = *held;
	*held = false;
	t->holds -= was;
	spin_unlock(&t->lock);
	if (was)
		pw_time_hold(t, -1);
}

/**
 * pw_time_list - the participants
 * @t: the clock
 * @entry: gets them
 * @room: as many at most
 *
 * Return: how many there are.
 */
u32 pw_time_list(struct pw_time *t, struct packetway_time_entry *entry, u32 room)
{
	struct pw_time_thread *p;
	u32 n = 0;

	spin_lock_bh(&t->lock);
	list_for_each_entry(p, &t->threads, entry) {
		if (READ_ONCE(p->left))
			continue;
		if (n < room)
			entry[n] = (struct packetway_time_entry) {
				.pid = task_pid_vnr(p->task),
				.order = p->order,
				.port = p->port,
				.blocked = pw_time_sleeps(p),
				.since = READ_ONCE(p->since),
			};
		n++;
	}
	spin_unlock_bh(&t->lock);
	return n;
}
