/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The share of a CPU that engines may take in softirqs.
 *
 * Softirqs come before every task. An engine that always has something to step would
 * leave little of a CPU to others, however short its polls are, and many SANs together
 * nothing at all. So engines run in softirqs as long as those of one CPU together take
 * less than a quarter of a tick. After that an engine that has used more than a small
 * part of the tick itself is polled by a work item, which competes with tasks as a task;
 * an engine that is seldom used still runs at once. A task may step an engine that waits for
 * the work item: that takes its own time. Short polls that leave nothing to do are not
 * counted: they cost what forwarding a frame costs, and frames that had to wait for a work
 * item would meet in the fabric, where each of them costs many times as much.
 *
 * Timers of standing commands and of reports count as engines. They are short, and many of them
 * would take a CPU for themselves: when the share is used up, they come in a later tick.
 *
 * The caller's lock, the one that its poll takes, guards struct pw_share.
 */
#ifndef PW_SHARE_H
#define PW_SHARE_H

#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

/* an engine that used less of a tick (in ns) stays in softirqs */
#define PW_SHARE_ONE	(TICK_NSEC / 80)
/* a poll that leaves nothing to do and is shorter, as for one frame, is not counted */
#define PW_SHARE_FREE	(20 * NSEC_PER_USEC)

/**
 * struct pw_share - what an engine used
 * @napi: its poll
 * @work: polls it instead
 * @tick: the tick that @used belongs to
 * @used: nanoseconds
 * @on: the work is queued, or runs
 */
struct pw_share {
	struct napi_struct *napi;
	struct work_struct work;
	unsigned long tick;
	u64 used;
	bool on;
};

/* pw_share.c APIs */
int pw_share_init(void);
void pw_share_exit(void);
void pw_share_setup(struct pw_share *s, struct napi_struct *napi);
void pw_share_stop(struct pw_share *s, spinlock_t *lock);
bool __pw_share_wake(struct pw_share *s);
bool pw_share_used(struct pw_share *s, u64 ns, bool more, bool leave);
void pw_share_again(struct pw_share *s);
u64 pw_share_late(void);
void pw_share_acted(u64 ns);

/**
 * pw_share_wake - let the engine be polled, in a softirq or by the work item
 * @s: its share; the caller's lock held, BH off
 *
 * Return: true if the work item does it.
 */
static inline bool pw_share_wake(struct pw_share *s)
{
	unsigned long now = jiffies;

	if (s->on)
		return true;
	if (unlikely(s->used > PW_SHARE_ONE && s->tick == now))
		return __pw_share_wake(s);
	napi_schedule(s->napi);
	return false;
}

/**
 * pw_share_idle - a poll is about to end that took so little that it is not counted
 * @s: share of the engine, which has nothing to do; the caller's lock held, BH off
 *
 * Return: false, as pw_share_used() does for such a poll.
 */
static inline bool pw_share_idle(struct pw_share *s)
{
	s->on = false;
	return false;
}

#endif
