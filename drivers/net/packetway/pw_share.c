// SPDX-License-Identifier: GPL-2.0
/* The share of a CPU that engines may take in softirqs; see pw_share.h. */
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>

#include "pw_share.h"

/* nanoseconds of a tick, of all engines of a CPU together */
#define PW_SHARE_ALL	(TICK_NSEC / 4)
/* timers that are put off to the same tick */
#define PW_SHARE_LATE	128

struct pw_share_cpu {
	unsigned long tick;
	u64 used;
	u32 late;	/* timers that were put off in this tick */
};

static DEFINE_PER_CPU(struct pw_share_cpu, pw_share_cpu);

static struct workqueue_struct *pw_share_wq;

/* polls the engine in this task: softirqs run where BH is turned on again */
static void pw_share_work(struct work_struct *work)
{
	struct pw_share *s = container_of(work, struct pw_share, work);

	local_bh_disable();
	napi_schedule(s->napi);
	local_bh_enable();
}

/* true if the engine has to leave softirqs; BH off */
static bool pw_share_over(const struct pw_share *s)
{
	const struct pw_share_cpu *cpu = this_cpu_ptr(&pw_share_cpu);
	unsigned long now = jiffies;

	return s->tick == now && s->used > PW_SHARE_ONE &&
	       cpu->tick == now && cpu->used > PW_SHARE_ALL;
}

/**
 * pw_share_setup - begin to count
 * @s: share of an engine
 * @napi: its poll
 */
void pw_share_setup(struct pw_share *s, struct napi_struct *napi)
{
	s->napi = napi;
	INIT_WORK(&s->work, pw_share_work);
}

/**
 * pw_share_stop - the engine is not polled after this
 * @s: its share; the NAPI is disabled already. Process context
 * @lock: the engine's
 */
void pw_share_stop(struct pw_share *s, spinlock_t *lock)
{
	/* pw_share_wake() does nothing from now on */
	spin_lock_bh(lock);
	s->on = true;
	spin_unlock_bh(lock);
	/* a poll that has completed may be about to call pw_share_again(), with BH off */
	synchronize_net();
	cancel_work_sync(&s->work);
}

static void pw_share_add(struct pw_share_cpu *cpu, u64 ns)
{
	unsigned long now = jiffies;

	if (cpu->tick != now) {
		cpu->tick = now;
		cpu->used = 0;
		cpu->late = 0;
	}
	cpu->used += ns;
}

/**
 * pw_share_late - has a timer come when engines and timers of this CPU have used their share?
 *
 * BH off.
 *
 * Return: nanoseconds by which it is to be put off; 0: it may act, and calls pw_share_acted() then
 */
u64 pw_share_late(void)
{
	struct pw_share_cpu *cpu = this_cpu_ptr(&pw_share_cpu);
	unsigned long now = jiffies;

	if (cpu->tick != now || cpu->used <= PW_SHARE_ALL)
		return 0;
	/* the more of them, the longer: each costs a little whenever it comes */
	return (1 + cpu->late++ / PW_SHARE_LATE) * TICK_NSEC;
}

/**
 * pw_share_acted - count what a timer has done
 * @ns: time that it took
 *
 * BH off.
 */
void pw_share_acted(u64 ns)
{
	pw_share_add(this_cpu_ptr(&pw_share_cpu), ns);
}

/* pw_share_wake() of an engine that may have to leave softirqs */
bool __pw_share_wake(struct pw_share *s)
{
	s->on = pw_share_over(s);
	if (s->on)
		pw_share_again(s);
	else
		napi_schedule(s->napi);
	return s->on;
}

/**
 * pw_share_used - count a poll that is about to end
 * @s: share of the engine; the caller's lock held, BH off
 * @ns: time that the poll took
 * @more: the engine has more to do
 * @leave: and must not do it in a softirq
 *
 * Return: true if the caller has to end its poll, and call pw_share_again() after that.
 */
bool pw_share_used(struct pw_share *s, u64 ns, bool more, bool leave)
{
	unsigned long now = jiffies;

	if (!more && ns < PW_SHARE_FREE)
		return pw_share_idle(s);
	if (s->tick != now) {
		s->tick = now;
		s->used = 0;
	}
	s->used += ns;
	/* a poll by the work item competes as a task: it is not counted */
	if (!s->on)
		pw_share_add(this_cpu_ptr(&pw_share_cpu), ns);
	s->on = more && (leave || pw_share_over(s));
	return s->on;
}

/**
 * pw_share_again - let the work item poll the engine
 * @s: its share
 */
void pw_share_again(struct pw_share *s)
{
	queue_work(pw_share_wq, &s->work);
}

/* one worker for each CPU, as there is one ksoftirqd; engines take turns */
int __init pw_share_init(void)
{
	pw_share_wq = alloc_workqueue("packetway_engines", WQ_UNBOUND | WQ_SYSFS,
				      num_possible_cpus());
	return pw_share_wq ? 0 : -ENOMEM;
}

void pw_share_exit(void)
{
	destroy_workqueue(pw_share_wq);
}
