/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lockstep: a clock that advances only while every participant is blocked.
 *
 * A participant is a thread with a preempt notifier. Its sched_out decides: a thread that
 * leaves its CPU in an interruptible sleep, in a system call that waits for other programs
 * or for time, is blocked. Every other one (preempted, in a page fault, in a call that reads
 * a disk, in an uninterruptible sleep, stopped, traced, frozen) is running. The state changes
 * back to running with the wake-up, long before sched_in: the waker sets task->__state. So a
 * participant is blocked if its sched_out said so and its task still sleeps.
 *
 *   pw_time.running	participants that sched_out has not found blocked, and holds
 *   pw_time.switches	changes of that, to detect a change during a look at all of them
 *
 * The notifiers are called with a run queue locked. They change these two counters, and
 * when the last participant blocks, an irq_work schedules the poll of the engine. That
 * looks at all participants (pw_time_quiet), runs the fabric to the next event, publishes
 * the time (pw_time_stop) and hands frames over. It runs on when the polls of all stations
 * have ended and all participants are blocked again.
 *
 * Two participants that wake each other cannot be mistaken for blocked ones: the waker
 * increments @switches before it is marked as blocked, so a look that has seen the mark
 * sees another number at its end, unless it began after the wake-up and saw that, too.
 *
 * The last participant that waits for an alarm need not sleep before that (pw_time_rest): it is
 * marked as blocked, the engine runs in its context, and if its alarm expires, it goes on.
 *
 * The SANs of a namespace that are in lockstep share one clock. The poll of any of their
 * engines runs the fabrics of all of them: each to the same time, that of the next event of
 * all. So a frame that crosses a router leaves one fabric and enters the other at one time.
 *
 * The clock is referenced by its SANs, their engines, by clock files and by participants.
 * When the last SAN leaves lockstep or goes, the clock has ended: it stands still and keeps
 * no namespace.
 *
 *  pw_time.run		members, @at; their fabrics	BH off; pw_fab.lock is taken inside
 *			run one by one
 *  pw_time.lock	participants, alarms, page	BH off; also inside pw_fab.lock,
 *							pw_poets.lock and pw_aton.lock
 */
#ifndef PW_TIME_H
#define PW_TIME_H

#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <linux/packetway.h>

struct file;
struct napi_struct;
struct net;
struct netlink_ext_ack;
struct pw_time_thread;

/* the lookahead of alarms: none is due */
#define PW_TIME_NEVER	U64_MAX
/* threads that wait in PACKETWAY_IOC_TIME_WAIT, of one clock */
#define PW_TIME_WAITERS_MAX	4096

/* SANs that share a clock: a poll looks at all of them with BH off, and runs a part of each */
#define PW_TIME_SANS_MAX	16

/**
 * struct pw_time_member - a fabric that runs by a clock
 * @entry: in pw_time.members
 * @san: number of its SAN
 * @napi: its poll
 */
struct pw_time_member {
	struct list_head entry;
	u32 san;
	struct napi_struct *napi;
};

/**
 * struct pw_time_reader - a clock file
 * @entry: in pw_time.files, or empty when the clock has ended
 * @wait: threads that read or poll it
 */
struct pw_time_reader {
	struct list_head entry;
	wait_queue_head_t wait;
};

/**
 * struct pw_time - the clock of a namespace's SANs in lockstep
 * @users: references
 * @sans: SANs that use it; pw_san_make.c
 * @run: see above
 * @members: struct pw_time_member by number of their SANs
 * @at: time that the fabrics run to; PW_TIME_NEVER: all have reached it
 * @running: participants that are not blocked, and holds
 * @switches: see above
 * @napi: the poll of the first member; NULL: there is none, or the clock has ended
 * @net: namespace that pays for participants; NULL likewise; @lock
 * @lock: everything below
 * @threads: struct pw_time_thread
 * @by_task: the same by their task
 * @nthreads: how many of them have not left
 * @alarms: struct pw_time_alarm by time
 * @own: likewise, the kernel's own
 * @holds: of @running, those of expired alarms in @own
 * @waiters: those that end at the next event
 * @woken: those that end at the event that was last
 * @due: some of these are due and have not been called
 * @files: struct pw_time_reader of the clock files
 * @nfiles: how many they are
 * @nwaiters: threads in PACKETWAY_IOC_TIME_WAIT
 * @page: mapped by clock files
 * @stops: times that the fabric stopped for an event
 * @left: virtual time at which a participant has left last
 * @outside: frames of threads that are not participants
 * @stall_ms: real time after which a clock without an event is stalled
 * @idle: nothing is pending since @idle_switches
 * @idle_switches: value of @switches then
 * @gone: participants that have ended or left by themselves
 * @gone_on: those of them that live on
 * @wait: files that wait for a stall
 * @kick: schedules @napi
 * @reap: forgets participants that have ended
 * @stall: the real-time limit
 * @free: frees the clock
 */
struct pw_time {
	refcount_t users;
	u32 sans;
	spinlock_t run;		/* see above */
	struct list_head members;
	u64 at;
	atomic_t running;
	atomic_t switches;
	struct napi_struct __rcu *napi;
	struct net *net;
	spinlock_t lock;	/* see above */
	struct list_head threads;
	DECLARE_HASHTABLE(by_task, 8);
	u32 nthreads;
	struct rb_root_cached alarms;
	struct rb_root_cached own;
	u32 holds;
	struct list_head waiters;
	struct list_head woken;
	bool due;
	struct list_head files;
	u32 nfiles;
	u32 nwaiters;
	struct packetway_time_page *page;
	u64 stops;
	atomic64_t left;
	atomic64_t outside;
	u32 stall_ms;
	bool idle;
	int idle_switches;
	struct llist_head gone;
	struct list_head gone_on;
	wait_queue_head_t wait;
	struct irq_work kick;
	struct work_struct reap;
	struct delayed_work stall;
	struct work_struct free;
};

/**
 * struct pw_time_alarm - something that is to happen at a virtual time
 * @node: in pw_time.alarms or pw_time.own, if @queued
 * @entry: in pw_time.waiters, or empty
 * @at: when
 * @queued: it is in the tree
 * @own: of the kernel, not of a program
 * @fire: called once, pw_time.lock held; it may queue the alarm again
 */
struct pw_time_alarm {
	struct rb_node node;
	struct list_head entry;
	u64 at;
	bool queued;
	bool own;
	void (*fire)(struct pw_time *t, struct pw_time_alarm *a);
};

/* pw_time.c APIs: the clock */
void pw_time_exit(void);
struct pw_time *pw_time_new(struct net *net, u64 now, struct netlink_ext_ack *extack);
void pw_time_get(struct pw_time *t);
void pw_time_put(struct pw_time *t);
void pw_time_end(struct pw_time *t);
void pw_time_attach(struct pw_time *t, struct pw_time_member *m);
void pw_time_detach(struct pw_time *t, struct pw_time_member *m);
void pw_time_engine_poll(struct pw_time *t);
void pw_time_kick(struct pw_time *t);
void pw_time_kick_idle(struct pw_time *t);
bool pw_time_ended(const struct pw_time *t);
void pw_time_flag(struct pw_time *t, u32 set, u32 clear);
int pw_time_file_add(struct pw_time *t, struct pw_time_reader *r);
void pw_time_file_del(struct pw_time *t, struct pw_time_reader *r);

/* of the engine */
bool pw_time_quiet(struct pw_time *t, int *switches);
u64 pw_time_next(struct pw_time *t);
void pw_time_publish(struct pw_time *t, u64 now);
void pw_time_stop(struct pw_time *t, u64 now);
bool pw_time_due(struct pw_time *t);
void pw_time_idle(struct pw_time *t, int switches);
u32 pw_time_sender(struct pw_time *t);

/* nothing has changed since pw_time_quiet() returned true */
static inline bool pw_time_still(const struct pw_time *t, int switches)
{
	return !atomic_read(&t->running) && atomic_read(&t->switches) == switches;
}

/* virtual time in nanoseconds */
static inline u64 pw_time_now(const struct pw_time *t)
{
	return READ_ONCE(t->page->now);
}

/* a frame comes from where other clocks are */
static inline void pw_time_outside(struct pw_time *t)
{
	if (READ_ONCE(t->nthreads))
		atomic64_inc(&t->outside);
}

/* alarms of the kernel itself */
bool pw_time_alarm_start(struct pw_time *t, struct pw_time_alarm *a, u64 ns);
void pw_time_alarm_stop(struct pw_time *t, struct pw_time_alarm *a);

/* a thread that waits for an alarm */
struct pw_time_thread *pw_time_rest(struct pw_time *t);
void pw_time_rested(struct pw_time_thread *p);

/* alarms; pw_time.lock held */
void pw_time_alarm_add(struct pw_time *t, struct pw_time_alarm *a);
void pw_time_alarm_del(struct pw_time *t, struct pw_time_alarm *a);

/* participants */
int pw_time_join(struct pw_time *t, const void *file, u32 port, u32 order, bool exec);
int pw_time_leave(struct pw_time *t, const void *file);
void pw_time_hold(struct pw_time *t, int n);
void pw_time_alarm_hold(struct pw_time *t, bool *held);
void pw_time_unhold(struct pw_time *t, bool *held);
u32 pw_time_list(struct pw_time *t, struct packetway_time_entry *entry, u32 room);

/* pw_time_file.c APIs */
struct pw_file;
int pw_ioc_time_open(struct pw_file *pf, void *arg);

#endif
