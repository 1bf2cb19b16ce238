// SPDX-License-Identifier: GPL-2.0
/*
 * The ATON ring in the kernel: glue between the pure ring core and those who use
 * it. See pw_aton.h for who owns what.
 *
 *   submit -> ring core queue -> napi_schedule
 *   pw_aton_poll -> pw_ring_run(n steps) -> reap -> registers, mapped page
 *                -> waiter (completion) or file (list, poll)
 */
#include <linux/ethtool.h>
#include <linux/mm.h>
#include <linux/rtnetlink.h>
#include <linux/sched/clock.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <linux/packetway_netlink.h>

#include "ring/ring_param.h"
#include "pw_aton.h"
#include "pw_mon.h"
#include "pw_priv.h"
#include "pw_time.h"
#include "pw_trace.h"

/*
 * Work of one poll, see pw_ring_run(): about 70,000 instructions. The kernel handles
 * softirqs up to ten times in a row with bottom halves off.
 */
#define PW_ATON_FAST_STEPS	8192U
/* the first of them, 9,000 instructions at most, pass before the clock is read */
#define PW_ATON_FREE_STEPS	1024U
#define PW_ATON_RTL_STEPS	1024U
/* what a tick of the timer costs, in times of its handler: that and a poll, not counted if short */
#define PW_ATON_TICK_COST	4
/* commands taken off the ring with its lock held */
#define PW_ATON_REAP		128
/* commands queued at one interface and at all interfaces of a ring */
#define PW_ATON_QUEUE_PORT	4096
#define PW_ATON_QUEUE_RING	16384
/* bit times that one poll may go on for, beside those that the ring's length takes */
#define PW_ATON_HORIZON		4096
/* interfaces up to which bit-by-bit stepping is offered */
#define PW_ATON_RTL_MAX		4096
/* room for captured ring packets; rtl divides it among the interfaces */
#define PW_ATON_TAP_SIZE	SZ_256K

#define PW_X_NAME(field, name) name,
const char pw_ring_stat_names[PW_RING_STAT_NUM][ETH_GSTRING_LEN] = {
	PW_RING_COUNTERS(PW_X_NAME)
	PW_RING_LEASES_REFUSED
};

/* number on the ring of the station at @port: stations sit in port order */
static u32 pw_aton_index(const struct pw_aton *aton, u32 port)
{
	return bitmap_weight(aton->attached, port);
}

/* port of an interface of the ring; that of a block, which has none: the number of ports */
static u32 pw_aton_port(const struct pw_aton *aton, u32 interface)
{
	u32 nports = aton->san->nports, i;
	unsigned long word;

	for (i = 0; i < BITS_TO_LONGS(nports); i++) {
		word = aton->attached[i];
		if (interface >= hweight_long(word)) {
			interface -= hweight_long(word);
			continue;
		}
		while (interface--)
			word &= word - 1;
		return i * BITS_PER_LONG + __ffs(word);
	}
	return nports;
}

static u32 pw_aton_budget(const struct pw_aton *aton)
{
	/* a bit time of all interfaces is the least that rtl can step */
	if (aton->params.engine == PW_RING_RTL)
		return max(PW_ATON_RTL_STEPS, pw_ring_interfaces(aton->ring) + PACKETWAY_PORTS_MAX);
	return PW_ATON_FAST_STEPS;
}

/*
 * Bit time up to which a ring with commands may run at once: a few ring packets. If they are for
 * a later time (SO_TXTIME of a frame), the time until then does not cost a poll.
 */
static u64 pw_aton_horizon(const struct pw_aton *aton)
{
	return pw_ring_due(aton->ring) + 8 * pw_ring_latency(aton->ring) + PW_ATON_HORIZON;
}

/**
 * pw_aton_publish - show a result in the mapped page
 * @slot: where; aton->lock held
 * @cmd: command that has ended
 * @time: bit time of its end
 */
void pw_aton_publish(struct packetway_aton_slot *slot, const struct pw_ring_cmd *cmd, u64 time)
{
	u32 seq = slot->seq;

	WRITE_ONCE(slot->seq, seq + 1);
	smp_wmb();	/* programs that see a new value see the odd number, too */
	WRITE_ONCE(slot->status, cmd->err | (u32)cmd->flags << 8);
	WRITE_ONCE(slot->runs, slot->runs + 1);
	if (!cmd->err) {
		WRITE_ONCE(slot->counter, cmd->counter);
		WRITE_ONCE(slot->v1, cmd->v1);
		WRITE_ONCE(slot->v2, cmd->v2);
	}
	WRITE_ONCE(slot->wait, cmd->wait);
	WRITE_ONCE(slot->ring_bits, cmd->ring_bits);
	WRITE_ONCE(slot->time, time);
	smp_wmb();	/* and the even one only after all values */
	WRITE_ONCE(slot->seq, seq + 2);
}

/*
 * A standing command has run; has its result changed? The slot belongs to the station: at the
 * first run it holds the result of another command.
 */
static bool pw_aton_standing_changed(const struct packetway_aton_slot *slot,
				     struct pw_aton_req *req)
{
	const struct pw_ring_cmd *cmd = &req->cmd;
	bool first = !req->has_run;

	req->has_run = true;
	if (first || (slot->status & 0xff) != cmd->err)
		return true;
	return !cmd->err && (slot->counter != cmd->counter || slot->v1 != cmd->v1 ||
			     slot->v2 != cmd->v2);
}

/* a command has ended, and its time has come; aton->lock held */
static void pw_aton_show(struct pw_aton_req *req, struct list_head *ended)
{
	struct pw_aton_interface *aif = (struct pw_aton_interface *)(uintptr_t)req->cmd.cookie;
	struct packetway_aton_page *page;

	/* a half-router has no page */
	if (aif->results) {
		page = page_address(aif->results);
		pw_aton_publish(&page->command, &req->cmd, req->cmd.done);
	}
	/* the last command of a step ends the others, too */
	if (!req->pending || !--*req->pending)
		list_add_tail(&req->ended, ended);
}

/* ---- lockstep: aton->lock held ---- */

/* virtual time of a bit time */
static u64 pw_aton_time(const struct pw_aton *aton, u64 bits)
{
	return aton->zero + (bits - aton->zero_bits) * NSEC_PER_USEC / PW_ATON_BITS_PER_US;
}

/* of the clock, which is locked: time stands still until pw_aton_poll() has run */
static void pw_aton_alarm(struct pw_time *t, struct pw_time_alarm *a)
{
	struct pw_aton *aton = container_of(a, struct pw_aton, alarm);

	pw_time_alarm_hold(t, &aton->held);
	napi_schedule(&aton->napi);
}

/* is it the ring's turn? */
static bool pw_aton_held(struct pw_aton *aton)
{
	bool held;

	if (likely(!aton->clock))
		return false;
	spin_lock(&aton->clock->lock);
	held = aton->held;
	spin_unlock(&aton->clock->lock);
	return held;
}

static void pw_aton_disarm(struct pw_aton *aton)
{
	aton->gate = false;
	if (!aton->clock)
		return;
	pw_time_alarm_stop(aton->clock, &aton->alarm);
	pw_time_unhold(aton->clock, &aton->held);
	pw_time_put(aton->clock);
	aton->clock = NULL;
}

/*
 * A command is queued. Return: true if the clock starts the ring, at the next cycle; false
 * if time is free or has no participants. RCU held
 */
static noinline bool pw_aton_gate(struct pw_aton *aton)
{
	struct pw_time *t = rcu_dereference(aton->san->time);
	struct pw_aton_req *req;

	if (aton->clock != t) {
		pw_aton_disarm(aton);
		/* they waited for a time of the other clock */
		list_for_each_entry(req, &aton->ripe, ended)
			req->due = 0;
		/* a ring without a past: where its token is depends on what was before */
		if (t && refcount_inc_not_zero(&t->users)) {
			aton->clock = t;
			pw_ring_restart(aton->ring);
		}
	}
	if (!aton->clock)
		return false;
	/* what waits already takes the command along */
	if (aton->gate || pw_aton_held(aton))
		return true;
	aton->gate = pw_time_alarm_start(aton->clock, &aton->alarm, 1);
	return aton->gate;
}

/* the ring was idle until now, unless it is ahead of the clock */
static void pw_aton_turn(struct pw_aton *aton)
{
	u64 now = pw_time_now(aton->clock), bits = pw_ring_now(aton->ring);

	aton->gate = false;
	if (list_empty(&aton->ripe) || now > pw_aton_time(aton, bits)) {
		aton->zero = now;
		aton->zero_bits = bits;
	}
}

/*
 * Some of the commands whose time has come, or of all: their owners are informed. Return: true
 * if there are more of them.
 */
static bool pw_aton_ripen(struct pw_aton *aton, struct list_head *ended, bool all)
{
	struct pw_aton_req *req, *next;
	int n = 0;

	list_for_each_entry_safe(req, next, &aton->ripe, ended) {
		if (!all && req->due > pw_time_now(aton->clock))
			return false;
		if (n++ == PW_ATON_REAP)
			return true;
		list_del(&req->ended);
		req->ripe = false;
		pw_aton_show(req, ended);
	}
	return false;
}

/*
 * The ring has run what was queued: the next command is due at a later time. Return: true if
 * more of them are due now.
 */
static bool pw_aton_wait_next(struct pw_aton *aton, struct list_head *ended)
{
	struct pw_aton_req *req;
	u64 now;

	if (pw_aton_ripen(aton, ended, false))
		return true;
	req = list_first_entry_or_null(&aton->ripe, struct pw_aton_req, ended);
	if (!req)
		return false;
	now = pw_time_now(aton->clock);
	if (pw_time_alarm_start(aton->clock, &aton->alarm, req->due - now))
		return false;
	/* time has no participants now */
	return pw_aton_ripen(aton, ended, true);
}

/* ---- what has ended ---- */

static void pw_aton_frame_ended(struct pw_aton *aton, struct pw_ring_cmd *cmd)
{
	struct pw_aton_frame *frame = container_of(cmd, struct pw_aton_frame, cmd);

	aton->demand--;
	frame->ops->ended(frame);
}

/* take some of what has ended off the ring; @turn: it runs by the clock. aton->lock held */
static void pw_aton_reap(struct pw_aton *aton, bool turn, struct list_head *ended)
{
	struct packetway_aton_page *page;
	struct pw_aton_req *req;
	struct pw_aton_interface *aif;
	struct pw_ring_cmd *cmd;
	int i;

	for (i = 0; i < PW_ATON_REAP && (cmd = pw_ring_reap(aton->ring)); i++) {
		u64 time = cmd->done;

		if (cmd->op == PW_ATON_PASSIVE) {
			pw_aton_frame_ended(aton, cmd);
			continue;
		}
		req = container_of(cmd, struct pw_aton_req, cmd);
		aif = (struct pw_aton_interface *)(uintptr_t)cmd->cookie;
		page = aif->results ? page_address(aif->results) : NULL;
		trace_pw_aton_command(aton->san, cmd, time);
		if (cmd->ring_bits)
			trace_pw_token(aton->san, cmd->interface, time - cmd->ring_bits, time,
				       pw_ring_stats(aton->ring)->tokens_lost);
		if (cmd->standing) {
			bool changed = pw_aton_standing_changed(&page->standing, req);

			pw_aton_publish(&page->standing, cmd, time);
			/* NULL: the command was removed since */
			if (req->aif)
				req->ran(req, changed);
			continue;
		}
		aton->demand--;
		if (likely(!turn)) {
			pw_aton_show(req, ended);
			continue;
		}
		req->due = pw_aton_time(aton, time);
		req->ripe = true;
		list_add_tail(&req->ended, &aton->ripe);
	}
}

static void pw_aton_finish(struct list_head *ended)
{
	struct pw_aton_req *req, *next;

	list_for_each_entry_safe(req, next, ended, ended) {
		list_del(&req->ended);
		if (req->pending) {
			/* the last touch: the round may be freed now */
			req->complete(req);
			continue;
		}
		if (req->complete)
			req->complete(req);
		/* likewise */
		complete_all(&req->done);
	}
}

/* up to where the ring may run now; aton->lock held */
static u64 pw_aton_until(const struct pw_aton *aton)
{
	/* commands wait: run a horizon at a time */
	if (aton->demand)
		return max(aton->pace_until, pw_aton_horizon(aton));
	return aton->pace_until;
}

/*
 * Run the ring for @steps; true: it has more to do. @start gets when its time began.
 * aton->lock held
 *
 * Most polls are for one command on a short ring. They end within PW_ATON_FREE_STEPS, in
 * less than PW_SHARE_FREE, and need no clock: @start is 0.
 */
static bool pw_aton_run(struct pw_aton *aton, u32 steps, u64 *start)
{
	u64 until = pw_aton_until(aton);

	*start = 0;
	if (aton->params.engine == PW_RING_FAST) {
		if (pw_ring_run(aton->ring, until, PW_ATON_FREE_STEPS) == PW_RING_IDLE)
			return false;
		steps -= PW_ATON_FREE_STEPS;
	}
	*start = local_clock();
	return pw_ring_run(aton->ring, until, steps) == PW_RING_MORE;
}

/* count the poll, see pw_share_used(); without a clock it took PW_SHARE_FREE at most */
static bool pw_aton_used(struct pw_aton *aton, u64 start, bool more, bool leave)
{
	if (!start && !more)
		return pw_share_idle(&aton->share);
	return pw_share_used(&aton->share, start ? local_clock() - start : PW_SHARE_FREE, more,
			     leave);
}

/*
 * Threads that were woken run, so time goes on when they are blocked again. What they have
 * queued meanwhile waits for that, too.
 */
static void pw_aton_turn_ends(struct pw_aton *aton)
{
	spin_lock(&aton->lock);
	if (aton->clock) {
		if (aton->demand && !aton->gate)
			aton->gate = pw_time_alarm_start(aton->clock, &aton->alarm, 1);
		pw_time_unhold(aton->clock, &aton->held);
	}
	if (aton->demand && !aton->gate)
		pw_share_wake(&aton->share);
	spin_unlock(&aton->lock);
}

/* does the ring wait for the clock, or is it frozen? aton->lock held */
static bool pw_aton_stands(const struct pw_aton *aton)
{
	return unlikely(aton->gate || aton->frozen);
}

static int pw_aton_poll(struct napi_struct *napi, int budget)
{
	struct pw_aton *aton = container_of(napi, struct pw_aton, napi);
	LIST_HEAD(ended);
	bool more, leave, turn;
	u64 start = 0;
	u32 steps;

	pw_kcov_section();

	spin_lock(&aton->lock);
	turn = pw_aton_held(aton);
	if (unlikely(turn) && aton->gate)
		pw_aton_turn(aton);
	steps = pw_aton_budget(aton);
	/* commands that wait for the clock start by the alarm */
	more = !pw_aton_stands(aton) && pw_aton_run(aton, steps, &start);
	/* a poll of such a long ring takes more than a softirq should */
	leave = more && aton->params.engine == PW_RING_RTL && steps > PW_ATON_RTL_STEPS;
	pw_aton_reap(aton, turn, &ended);
	more = !pw_aton_stands(aton) && (more || aton->demand || pw_ring_ended(aton->ring));
	if (unlikely(turn) && !more)
		more = pw_aton_wait_next(aton, &ended);
	else if (unlikely(!aton->clock && !list_empty(&aton->ripe)))
		more |= pw_aton_ripen(aton, &ended, true);
	leave = pw_aton_used(aton, start, more, leave);
	spin_unlock(&aton->lock);
	pw_aton_finish(&ended);
	if (unlikely(turn) && !more)
		pw_aton_turn_ends(aton);

	/* returning the full budget makes NAPI poll again at once */
	if (more && !leave)
		return budget;
	napi_complete_done(napi, 0);
	if (leave)
		pw_share_again(&aton->share);
	return 0;
}

/* process context, BH on: the poll usually runs before this returns */
static void pw_aton_kick(struct pw_aton *aton)
{
	spin_lock_bh(&aton->lock);
	pw_share_wake(&aton->share);
	spin_unlock_bh(&aton->lock);
}

/* one period from now, whether or not it runs already; aton->lock held */
static void pw_aton_arm(struct pw_aton *aton)
{
	hrtimer_start(&aton->timer, ns_to_ktime((u64)aton->period * NSEC_PER_USEC),
		      HRTIMER_MODE_REL_SOFT);
}

/*
 * Standing commands run when the ring is idle, at the pace of a ring of nominal
 * speed: each tick lets ring time go on by one period. A ring that has not caught
 * up gets no more, so the load is bounded by one poll per tick.
 */
static enum hrtimer_restart pw_aton_tick(struct hrtimer *timer)
{
	struct pw_aton *aton = container_of(timer, struct pw_aton, timer);
	u64 late, start;

	spin_lock(&aton->lock);
	late = aton->standing ? pw_share_late() : 0;
	if (late) {
		hrtimer_start(&aton->timer, ns_to_ktime(late), HRTIMER_MODE_REL_SOFT);
	} else if (aton->standing && aton->period) {
		u64 now = pw_ring_now(aton->ring);

		start = local_clock();
		if (now >= aton->pace_until)
			aton->pace_until = now + (u64)aton->period * PW_ATON_BITS_PER_US;
		/*
		 * A command that comes to stand starts the timer, too, maybe just
		 * now: under the lock either may be first. HRTIMER_RESTART is for
		 * timers that only their callback restarts.
		 */
		pw_aton_arm(aton);
		pw_share_wake(&aton->share);
		pw_share_acted(PW_ATON_TICK_COST * (local_clock() - start));
	}
	spin_unlock(&aton->lock);
	return HRTIMER_NORESTART;
}

/**
 * pw_aton_unlock - release the lock of a ring and finish what has ended
 * @aton: the ring, locked with BH off; process context
 *
 * All of what had ended then is finished on return, by this task or by the poll.
 */
void pw_aton_unlock(struct pw_aton *aton)
	__releases(&aton->lock)
{
	LIST_HEAD(ended);
	bool more;

	for (;;) {
		pw_aton_reap(aton, false, &ended);
		more = pw_aton_ripen(aton, &ended, true);
		more |= pw_ring_ended(aton->ring);
		spin_unlock_bh(&aton->lock);
		pw_aton_finish(&ended);
		if (!more)
			return;
		cond_resched();
		spin_lock_bh(&aton->lock);
		if (!aton->ring) {
			/* the SAN was deleted meanwhile, after the last command had ended */
			spin_unlock_bh(&aton->lock);
			return;
		}
	}
}

/* the registers that programs write are in the mapped page; aton->lock held if @aif is live */
static void pw_aton_registers(struct pw_aton_interface *aif, const struct page *page)
{
	const struct packetway_aton_operands *op = page_address(page);

	aif->port.operands = op->operand;
	aif->port.group = &op->group;
}

/**
 * pw_aton_pages_alloc - memory for the registers of a station
 * @page: gets the pages
 *
 * Return: 0 or -ENOMEM.
 */
int pw_aton_pages_alloc(struct page *page[2])
{
	page[0] = alloc_page(PW_GFP | __GFP_ZERO);
	page[1] = alloc_page(PW_GFP | __GFP_ZERO);
	if (page[0] && page[1])
		return 0;
	pw_aton_pages_free(page);
	return -ENOMEM;
}

/* both may be NULL; mappings hold references of their own */
void pw_aton_pages_free(struct page *page[2])
{
	if (page[0])
		__free_page(page[0]);
	if (page[1])
		__free_page(page[1]);
}

/**
 * pw_aton_pages_give - a file is to be bound to a station, whose registers need memory now
 * @st: the station; RCU held
 * @page: pages of zeros; NULL afterwards, unless the station goes or has pages already
 */
void pw_aton_pages_give(struct pw_station *st, struct page *page[2])
{
	struct pw_aton_interface *aif = &st->aton;

	spin_lock_bh(&st->san->aton->lock);
	if (aif->live && !aif->operands) {
		swap(aif->operands, page[0]);
		swap(aif->results, page[1]);
		pw_aton_registers(aif, aif->operands);
	}
	spin_unlock_bh(&st->san->aton->lock);
}

/* all registers are 0 until a file is bound to the station */
int pw_aton_station_add(struct pw_station *st)
{
	struct pw_aton *aton = st->san->aton;
	struct pw_aton_interface *aif = &st->aton;
	u32 pos;
	int err;

	INIT_LIST_HEAD(&aif->leases);
	aif->port = (struct pw_ring_sender) { .taken = &aton->taken };
	pw_aton_registers(aif, ZERO_PAGE(0));

	spin_lock_bh(&aton->lock);
	pw_ring_break(aton->ring);
	pos = pw_aton_index(aton, st->port);
	err = pw_ring_attach(aton->ring, pos, 1, st->addr, 0);
	if (!err) {
		__set_bit(st->port, aton->attached);
		aif->live = true;
		pw_ring_set_up(aton->ring, pos, false);
		err = pw_ring_bind(aton->ring, pos, &aif->port);
		WARN_ON_ONCE(err);
	}
	pw_aton_unlock(aton);
	/* the ring packet that was under way is to be sent again */
	pw_aton_kick(aton);
	return err;
}

/* shortest period of all standing commands; aton->lock held */
static void pw_aton_repace(struct pw_aton *aton)
{
	struct pw_station *st;
	u32 port;

	aton->period = U32_MAX;
	rcu_read_lock();
	for_each_set_bit(port, aton->attached, aton->san->nports) {
		st = pw_port_station(&aton->san->port[port]);
		if (st && st->aton.standing)
			aton->period = min(aton->period, st->aton.period);
	}
	rcu_read_unlock();
}

/* remove the standing command of an interface; aton->lock held */
static void pw_aton_let_go(struct pw_aton *aton, struct pw_aton_interface *aif)
{
	if (pw_ring_stand(aton->ring, aif->port.interface, NULL) == -EBUSY) {
		pw_ring_break(aton->ring);
		pw_ring_stand(aton->ring, aif->port.interface, NULL);
	}
	aif->standing->aif = NULL;
	aif->standing = NULL;
	aton->standing--;
	pw_limit_uncharge(aton->san->net, PW_LIMIT_STANDING, 1);
	pw_aton_repace(aton);
}

/*
 * The station is withdrawn: what is queued ends, and nothing is submitted any longer by
 * those who found the station before, because it is not live.
 */
void pw_aton_station_remove(struct pw_station *st)
{
	struct pw_aton *aton = st->san->aton;
	struct page *page[2];
	u32 pos;

	spin_lock_bh(&aton->lock);
	pw_ring_break(aton->ring);
	pos = pw_aton_index(aton, st->port);
	if (st->aton.standing)
		pw_aton_let_go(aton, &st->aton);
	pw_aton_leases_end(aton, &st->aton);
	st->aton.live = false;
	pw_ring_detach(aton->ring, pos, 1);
	__clear_bit(st->port, aton->attached);
	pw_aton_unlock(aton);
	pw_aton_kick(aton);
	/* not live: it gets no pages any longer */
	page[0] = st->aton.operands;
	page[1] = st->aton.results;
	pw_aton_pages_free(page);
}

/**
 * pw_aton_half_add - a half-router gets an interface, which sends and is in no region
 * @san: its SAN; RTNL
 * @aif: its interface
 * @port: its port
 * @addr: its address
 */
void pw_aton_half_add(struct pw_san *san, struct pw_aton_interface *aif, u32 port, u32 addr)
{
	struct pw_aton *aton = san->aton;
	u32 pos;
	int err;

	INIT_LIST_HEAD(&aif->leases);
	spin_lock_bh(&aton->lock);
	pw_ring_break(aton->ring);
	pos = pw_aton_index(aton, port);
	err = pw_ring_attach(aton->ring, pos, 1, addr, 0);
	if (!err) {
		__set_bit(port, aton->attached);
		aif->live = true;
		pw_ring_set_mute(aton->ring, pos, true);
		pw_ring_bind(aton->ring, pos, &aif->port);
	}
	pw_aton_unlock(aton);
	pw_aton_kick(aton);
}

/**
 * pw_aton_half_remove - a half-router leaves the ring; what is queued there ends
 * @san: its SAN; RTNL
 * @aif: its interface
 * @port: its port
 */
void pw_aton_half_remove(struct pw_san *san, struct pw_aton_interface *aif, u32 port)
{
	struct pw_aton *aton = san->aton;

	spin_lock_bh(&aton->lock);
	if (aif->live) {
		pw_ring_break(aton->ring);
		aif->live = false;
		pw_ring_detach(aton->ring, pw_aton_index(aton, port), 1);
		__clear_bit(port, aton->attached);
	}
	pw_aton_unlock(aton);
	pw_aton_kick(aton);
}

void pw_aton_station_up(struct pw_station *st, bool up)
{
	struct pw_aton *aton = st->san->aton;

	spin_lock_bh(&aton->lock);
	pw_ring_set_up(aton->ring, pw_aton_index(aton, st->port), up);
	pw_aton_unlock(aton);
	/* a ring packet may be waiting for its sender to leave */
	pw_aton_kick(aton);
}

/**
 * pw_aton_req_drop - a command no longer needs its ring
 * @req: the command, the caller's
 */
void pw_aton_req_drop(struct pw_aton_req *req)
{
	if (req->aton)
		pw_aton_put(req->aton);
	req->aton = NULL;
}

/* a command was queued; aton->lock and RCU held, BH off */
static void pw_aton_queued(struct pw_aton *aton)
{
	if (likely(!rcu_access_pointer(aton->san->time) && !aton->clock) || !pw_aton_gate(aton))
		pw_share_wake(&aton->share);
}

/**
 * pw_aton_submit_at - queue a command at an interface
 * @aton: the ring
 * @aif: the interface
 * @port: its port
 * @req: the command, the ring's until @req->done is signalled or
 *	pw_aton_cancel() gives it back
 *
 * The ring runs when the caller enables bottom halves.
 *
 * Return: 0 or a negative errno. RCU held, BH off.
 */
int pw_aton_submit_at(struct pw_aton *aton, struct pw_aton_interface *aif, u32 port,
		      struct pw_aton_req *req)
{
	int err = -ENODEV;

	req->cmd.cookie = (uintptr_t)aif;
	spin_lock(&aton->lock);
	if (aif->live)
		err = req->cmd.mods & PW_ATON_PREFIX ? pw_aton_latch_may(aton, aif, req) : 0;
	if (!err)
		err = pw_ring_submit(aton->ring, pw_aton_index(aton, port), &req->cmd);
	if (!err) {
		aton->demand++;
		refcount_inc(&aton->refs);
		req->aton = aton;
		pw_aton_queued(aton);
	}
	spin_unlock(&aton->lock);
	return err;
}

/**
 * pw_aton_submit - queue a command at a station's interface
 * @st: the station
 * @req: the command
 *
 * Return: as pw_aton_submit_at().
 */
int pw_aton_submit(struct pw_station *st, struct pw_aton_req *req)
{
	return pw_aton_submit_at(st->san->aton, &st->aton, st->port, req);
}

/**
 * pw_aton_submit_round - queue commands of a round at a station's interface
 * @st: the station
 * @req: the commands; as in pw_aton_submit_at(), but they do not hold the ring
 * @n: how many
 * @sent: gets the number of those that were queued
 *
 * Return: 0, or why not all were queued, a negative errno. RCU and aton->lock held, BH off.
 */
int pw_aton_submit_round(struct pw_station *st, struct pw_aton_req *req, u32 n, u32 *sent)
{
	struct pw_aton *aton = st->san->aton;
	int err = st->aton.live ? 0 : -ENODEV;
	u32 i, interface;

	interface = pw_aton_index(aton, st->port);
	for (i = 0; i < n && !err; i++) {
		req[i].cmd.cookie = (uintptr_t)&st->aton;
		err = pw_ring_submit(aton->ring, interface, &req[i].cmd);
		if (err)
			break;
		req[i].aton = aton;
	}
	*sent = i;
	aton->demand += i;
	if (i)
		pw_aton_queued(aton);
	return err;
}

/**
 * pw_aton_cancel - take a command back
 * @req: the command, which was submitted
 * @force: even if it is on the ring
 *
 * Return: true if it is the caller's again; false if it is on the ring or has
 * ended: @req->done will be signalled, or has been.
 */
bool pw_aton_cancel(struct pw_aton_req *req, bool force)
{
	struct pw_aton *aton = req->aton;
	int err = -ENOENT;

	spin_lock_bh(&aton->lock);
	/* it has ended at a time that has not come */
	if (unlikely(req->ripe)) {
		req->ripe = false;
		list_del(&req->ended);
		spin_unlock_bh(&aton->lock);
		return true;
	}
	/* that of a round is not signalled; the ring does not find one that has ended */
	if (aton->ring && !completion_done(&req->done))
		err = pw_ring_cancel(aton->ring, &req->cmd);
	if (err == -EBUSY && force) {
		pw_ring_break(aton->ring);
		err = pw_ring_cancel(aton->ring, &req->cmd);
	}
	if (!err)
		aton->demand--;
	spin_unlock_bh(&aton->lock);
	return !err;
}

/**
 * pw_aton_stand - install a station's standing command
 * @st: the station; RCU held
 * @req: the command; its file stays until pw_aton_unstand()
 * @period: microseconds from one run to the next
 *
 * Return: 0; -EBUSY: it has one already; or as pw_aton_submit().
 */
int pw_aton_stand(struct pw_station *st, struct pw_aton_req *req, u32 period)
{
	struct pw_aton *aton = st->san->aton;
	int err = -ENODEV;

	req->cmd.cookie = (uintptr_t)&st->aton;
	req->cmd.gap = (u64)period * PW_ATON_BITS_PER_US;
	spin_lock_bh(&aton->lock);
	if (st->aton.live)
		err = st->aton.standing ? -EBUSY :
		      req->cmd.mods & PW_ATON_PREFIX ? pw_aton_latch_may(aton, &st->aton, req) : 0;
	if (!err)
		err = pw_limit_charge(st->san->net, PW_LIMIT_STANDING, 1, NULL);
	if (!err) {
		err = pw_ring_stand(aton->ring, pw_aton_index(aton, st->port), &req->cmd);
		if (err)
			pw_limit_uncharge(st->san->net, PW_LIMIT_STANDING, 1);
	}
	if (!err) {
		refcount_inc(&aton->refs);
		req->aton = aton;
		req->aif = &st->aton;
		st->aton.standing = req;
		st->aton.period = period;
		aton->standing++;
		pw_aton_repace(aton);
		/* count from now, not from when the ring became idle */
		aton->pace_until = pw_ring_now(aton->ring);
		pw_aton_arm(aton);
	}
	spin_unlock_bh(&aton->lock);
	return err;
}

/**
 * pw_aton_unstand - take a standing command back
 * @req: the command, which was installed; then the caller's again
 */
void pw_aton_unstand(struct pw_aton_req *req)
{
	struct pw_aton *aton = req->aton;

	spin_lock_bh(&aton->lock);
	if (!aton->ring) {
		/* the SAN has gone */
		spin_unlock_bh(&aton->lock);
		return;
	}
	/* a station that has left let go of it; the ring may still have its last result to give */
	if (req->aif)
		pw_aton_let_go(aton, req->aif);
	pw_aton_unlock(aton);
	pw_aton_kick(aton);
}

/* RCU held; the program's values were checked */
int pw_aton_set_registers(struct pw_station *st, const struct pw_file *pf,
			  const struct packetway_aton_set *set)
{
	struct pw_aton *aton = st->san->aton;
	const struct pw_aton_lease *lease = NULL;
	struct packetway_aton_operands *op, *to;
	int err = 0;

	spin_lock_bh(&aton->lock);
	if (!st->aton.live) {
		err = -ENODEV;
		goto out;
	}
	if (set->flags & PACKETWAY_ATON_SET_OPERAND)
		lease = st->aton.owner[set->reg];
	if ((lease && lease->pf != pf) ||
	    (set->flags & PACKETWAY_ATON_SET_GROUP &&
	     set->group & aton->taken & ~pw_aton_lease_bits(&st->aton, pf))) {
		aton->leases_refused++;
		err = -EBUSY;
		goto out;
	}
	op = page_address(st->aton.operands);
	to = lease ? page_address(lease->page) : op;
	if (set->flags & PACKETWAY_ATON_SET_OPERAND)
		WRITE_ONCE(to->operand[set->reg], set->value);
	if (set->flags & PACKETWAY_ATON_SET_GROUP) {
		/* pairs with pw_ring_group(): not before the operand */
		smp_store_release(&op->group, set->group);
	}
out:
	spin_unlock_bh(&aton->lock);
	return err;
}

/* RCU held */
int pw_aton_get_registers(struct pw_station *st, struct packetway_aton_get *get)
{
	struct pw_aton *aton = st->san->aton;
	const struct pw_ring_sender *port = &st->aton.port;
	const struct packetway_aton_operands *op;
	u32 i;

	spin_lock_bh(&aton->lock);
	if (!st->aton.live) {
		spin_unlock_bh(&aton->lock);
		return -ENODEV;
	}
	op = page_address(st->aton.operands);
	for (i = 0; i < PACKETWAY_ATON_REGS; i++)
		get->out_operand[i] = READ_ONCE(*(port->leased & BIT(i) ? port->lease[i] :
									  &op->operand[i]));
	get->out_counter = port->counter;
	get->out_v1 = port->v1;
	get->out_v2 = port->v2;
	get->out_ring_time = port->ring_time;
	get->out_command = port->command;
	get->out_status = port->status;
	get->out_id = st->addr;
	get->out_group = (READ_ONCE(op->group) & PW_ATON_GROUP_MASK & ~aton->taken) | port->joined;
	get->out_interfaces = pw_ring_interfaces(aton->ring);
	get->out_irq_mask = !!st->aton.standing;
	spin_unlock_bh(&aton->lock);
	return 0;
}

int pw_aton_fault(struct pw_aton *aton, const struct pw_ring_fault *fault)
{
	int err;

	spin_lock_bh(&aton->lock);
	err = pw_ring_fault(aton->ring, fault);
	spin_unlock_bh(&aton->lock);
	return err;
}

#define PW_X_OFFSET(field, name) offsetof(struct pw_ring_stats, field),
static const u16 pw_ring_stat_offset[PW_RING_STAT_NUM - 1] = {
	PW_RING_COUNTERS(PW_X_OFFSET)
};

void pw_aton_stats(struct pw_aton *aton, u64 *data)
{
	const void *stats;
	int i;

	spin_lock_bh(&aton->lock);
	stats = pw_ring_stats(aton->ring);
	for (i = 0; i < PW_RING_STAT_NUM - 1; i++)
		data[i] = *(const u64 *)(stats + pw_ring_stat_offset[i]);
	data[i] = aton->leases_refused;
	spin_unlock_bh(&aton->lock);
}

u32 pw_aton_engine(const struct pw_aton *aton)
{
	return aton->params.engine == PW_RING_RTL ? PACKETWAY_ENGINE_RTL : PACKETWAY_ENGINE_FAST;
}

/*
 * Replace the ring by one with other parameters, which takes over its interfaces and
 * what is queued. RTNL.
 */
static int pw_aton_replace(struct pw_aton *aton, const struct pw_ring_params *params)
{
	struct pw_ring *ring;
	void *mem;
	int err;

	ASSERT_RTNL();
	mem = __vmalloc(pw_ring_size(params), PW_GFP | __GFP_ZERO);
	if (!mem)
		return -ENOMEM;
	ring = pw_ring_init(mem, params);

	spin_lock_bh(&aton->lock);
	err = pw_ring_move(ring, aton->ring);
	if (!err) {
		pw_ring_tap(ring, aton->tap, PW_ATON_TAP_SIZE);
		swap(aton->ring, ring);
		aton->params = *params;
	}
	pw_aton_unlock(aton);
	pw_aton_kick(aton);
	vfree(ring);
	return err;
}

/* parameters of the ring, see core/ring/ring_param.c; RTNL */
const struct pw_ring_params *pw_aton_params(const struct pw_aton *aton)
{
	return &aton->params;
}

/* take over what users may choose; returns whether it differs */
static bool pw_aton_like(struct pw_ring_params *params, const struct pw_ring_params *like)
{
	bool differs = false;
	u32 i, v;

	for (i = 0; i < pw_ring_param_num; i++) {
		v = pw_ring_param_get(like, &pw_ring_param[i]);
		differs |= v != pw_ring_param_get(params, &pw_ring_param[i]);
		pw_ring_param_set(params, &pw_ring_param[i], v);
	}
	return differs;
}

int pw_aton_set(struct pw_aton *aton, u32 engine, const struct pw_ring_params *like,
		struct netlink_ext_ack *extack)
{
	struct pw_ring_params params = aton->params;
	bool differs = pw_aton_like(&params, like);

	if (engine == PACKETWAY_ENGINE_NONE) {
		NL_SET_ERR_MSG(extack, "A ring is run by the fast or the rtl engine");
		return -EINVAL;
	}
	params.engine = engine == PACKETWAY_ENGINE_RTL ? PW_RING_RTL : PW_RING_FAST;
	if (params.engine == aton->params.engine && !differs)
		return 0;
	params.extra = params.engine == PW_RING_RTL ? aton->extra : 0;
	if (params.capacity + params.extra > PW_ATON_RTL_MAX) {
		NL_SET_ERR_MSG(extack, "The ring is too long to be stepped bit by bit");
		return -EOPNOTSUPP;
	}
	return pw_aton_replace(aton, &params);
}

/**
 * pw_aton_block_alloc - make ring-only interfaces
 * @count: how many
 * @regs: operand registers of each
 *
 * This may take long and is charged to the caller's memory cgroup. No lock held.
 *
 * Return: the block, on no ring, or NULL.
 */
struct pw_aton_block *pw_aton_block_alloc(u32 count, u32 regs)
{
	struct pw_aton_block *block = kzalloc(sizeof(*block), PW_GFP);

	if (!block)
		return NULL;
	block->ring.operand = __vmalloc(array3_size(count, regs, sizeof(u64)),
					PW_GFP | __GFP_ZERO);
	if (!block->ring.operand) {
		kfree(block);
		return NULL;
	}
	block->ring.count = count;
	block->ring.nregs = regs;
	return block;
}

/**
 * pw_aton_block_free - free a block
 * @block: the block, on no ring; may be NULL
 */
void pw_aton_block_free(struct pw_aton_block *block)
{
	if (!block)
		return;
	if (block->aton)
		pw_aton_put(block->aton);
	vfree(block->ring.operand);
	kfree(block);
}

/* the lowest ring addresses that no station and no other block has; RTNL */
static int pw_aton_block_addr(struct pw_aton *aton, struct pw_ring_block *ring)
{
	u32 addr = aton->san->bias < 0x400000 ? 0x400000 : 1;
	struct pw_aton_block *b;
	bool clash;

	do {
		clash = false;
		list_for_each_entry(b, &aton->blocks, entry) {
			if (addr < b->ring.addr + b->ring.count &&
			    b->ring.addr < addr + ring->count) {
				addr = b->ring.addr + b->ring.count;
				clash = true;
			}
		}
	} while (clash);
	if (addr + ring->count > 0x7fffff)
		return -ENOSPC;
	ring->addr = addr;
	return 0;
}

/**
 * pw_aton_block_add - put ring-only interfaces behind a SAN's stations
 * @san: the SAN
 * @block: the block; gets its address
 *
 * Return: 0 or a negative errno. RTNL. The block keeps the SAN.
 */
int pw_aton_block_add(struct pw_san *san, struct pw_aton_block *block)
{
	struct pw_aton *aton = san->aton;
	struct pw_ring_params params = aton->params;
	u32 count = block->ring.count;
	int err;

	if (count > PACKETWAY_RING_IFACES_MAX - aton->extra)
		return -ENOSPC;
	if (params.engine == PW_RING_RTL) {
		params.extra = aton->extra + count;
		if (san->nports + params.extra > PW_ATON_RTL_MAX)
			return -EOPNOTSUPP;
	}
	err = pw_limit_charge(san->net, PW_LIMIT_INTERFACES, count, NULL);
	if (err)
		return err;
	err = pw_aton_block_addr(aton, &block->ring);
	if (!err && params.extra > aton->params.extra)
		err = pw_aton_replace(aton, &params);
	if (err)
		goto err_limit;

	spin_lock_bh(&aton->lock);
	pw_ring_break(aton->ring);
	err = pw_ring_append(aton->ring, &block->ring);
	block->live = !err;
	pw_aton_unlock(aton);
	pw_aton_kick(aton);
	if (err)
		goto err_limit;
	refcount_inc(&aton->refs);
	block->aton = aton;
	list_add_tail(&block->entry, &aton->blocks);
	aton->extra += count;
	block->san = san;
	san->users++;
	return 0;

err_limit:
	pw_limit_uncharge(san->net, PW_LIMIT_INTERFACES, count);
	return err;
}

/* RTNL */
void pw_aton_block_remove(struct pw_aton_block *block)
{
	struct pw_aton *aton = block->aton;

	if (!block->san)
		return;
	spin_lock_bh(&aton->lock);
	pw_ring_break(aton->ring);
	pw_ring_remove(aton->ring, &block->ring);
	block->live = false;
	pw_aton_unlock(aton);
	pw_aton_kick(aton);
	list_del(&block->entry);
	aton->extra -= block->ring.count;
	pw_limit_uncharge(block->san->net, PW_LIMIT_INTERFACES, block->ring.count);
	pw_san_put(block->san);
	block->san = NULL;
}

/* the SAN's namespace ends: take the interfaces away from its files. RTNL */
void pw_aton_blocks_kill(struct pw_san *san)
{
	struct pw_aton_block *block, *next;

	list_for_each_entry_safe(block, next, &san->aton->blocks, entry)
		pw_aton_block_remove(block);
}

/**
 * pw_aton_block_rw - write or read operands of ring-only interfaces
 * @block: the interfaces
 * @reg: operand register
 * @first: first interface of the block
 * @count: how many
 * @buf: operands
 * @write: which way
 *
 * Return: 0, -EINVAL, or -ENODEV.
 */
int pw_aton_block_rw(struct pw_aton_block *block, u32 reg, u32 first, u32 count, u64 *buf,
		     bool write)
{
	struct pw_ring_block *ring = &block->ring;
	struct pw_aton *aton = block->aton;
	u64 *regs;
	int err = 0;
	u32 i;

	if (first > ring->count || count > ring->count - first || reg >= ring->nregs)
		return -EINVAL;
	regs = ring->operand + (size_t)reg * ring->count + first;
	spin_lock_bh(&aton->lock);
	if (!block->live)
		err = -ENODEV;
	for (i = 0; !err && i < count; i++) {
		if (write)
			regs[i] = buf[i];
		else
			buf[i] = regs[i];
	}
	spin_unlock_bh(&aton->lock);
	return err;
}

/* a captured ring packet leaves an interface; aton->lock held */
static void pw_aton_record(void *ctx, u32 interface, u64 when, const u8 *packet, u32 bytes)
{
	struct pw_aton *aton = ctx;

	if (pw_mon_on())
		pw_mon_ring(aton->san, aton->params.width, interface, when, packet, bytes);
}

/**
 * pw_aton_tap - record ring packets for pwmon devices, or stop that
 * @aton: the ring; RTNL
 * @on: which; without memory nothing is recorded
 */
void pw_aton_tap(struct pw_aton *aton, bool on)
{
	void *mem = NULL;

	if (on == !!aton->tap)
		return;
	if (on) {
		mem = __vmalloc(PW_ATON_TAP_SIZE, PW_GFP);
		if (!mem)
			return;
	}
	spin_lock_bh(&aton->lock);
	swap(aton->tap, mem);
	pw_ring_tap(aton->ring, aton->tap, PW_ATON_TAP_SIZE);
	spin_unlock_bh(&aton->lock);
	vfree(mem);
}

/* a passive packet has passed an interface in its region; aton->lock held */
static void pw_aton_arrived(void *ctx, u32 interface, const struct pw_ring_cmd *cmd, u64 when)
{
	struct pw_aton_frame *frame = container_of(cmd, struct pw_aton_frame, cmd);
	struct pw_aton *aton = ctx;
	u32 port = pw_aton_port(aton, interface);

	if (port < aton->san->nports)
		frame->ops->arrived(frame, port, when);
}

/**
 * pw_aton_frame_send - queue a passive packet at the interface of a port
 * @aton: the ring; its lock held, BH off
 * @port: the port
 * @frame: the packet, the ring's until @frame->ops->ended() or pw_aton_frame_back()
 *
 * Return: 0 or a negative errno: no interface or a bypassed one, or too many bytes.
 */
int pw_aton_frame_send(struct pw_aton *aton, u32 port, struct pw_aton_frame *frame)
{
	int err;

	if (!test_bit(port, aton->attached))
		return -ENODEV;
	err = pw_ring_submit(aton->ring, pw_aton_index(aton, port), &frame->cmd);
	if (err)
		return err;
	aton->demand++;
	pw_share_wake(&aton->share);
	return 0;
}

/**
 * pw_aton_frame_back - take a passive packet back, also from the ring
 * @aton: the ring; its lock held, BH off
 * @frame: the packet
 *
 * Return: true if it is the caller's again; false if it has ended: pw_aton_unlock() finishes it.
 */
bool pw_aton_frame_back(struct pw_aton *aton, struct pw_aton_frame *frame)
{
	int err = pw_ring_cancel(aton->ring, &frame->cmd);

	if (err == -EBUSY) {
		pw_ring_break(aton->ring);
		err = pw_ring_cancel(aton->ring, &frame->cmd);
		/* the other packets on the ring are sent again */
		pw_share_wake(&aton->share);
	}
	if (!err)
		aton->demand--;
	return !err;
}

/**
 * pw_aton_settle - let stations that came up send at once
 * @aton: the ring
 *
 * Without this an interface is bypassed until no packet is on the ring.
 */
void pw_aton_settle(struct pw_aton *aton)
{
	spin_lock_bh(&aton->lock);
	pw_ring_break(aton->ring);
	pw_aton_unlock(aton);
	pw_aton_kick(aton);
}

/**
 * pw_aton_freeze - let the ring stand still, or run again
 * @aton: the ring
 * @on: which
 */
void pw_aton_freeze(struct pw_aton *aton, bool on)
{
	spin_lock_bh(&aton->lock);
	aton->frozen = on;
	if (!on)
		pw_share_wake(&aton->share);
	spin_unlock_bh(&aton->lock);
}

/**
 * pw_aton_now - bit time of the ring
 * @aton: the ring
 */
u64 pw_aton_now(struct pw_aton *aton)
{
	u64 now;

	spin_lock_bh(&aton->lock);
	now = pw_ring_now(aton->ring);
	spin_unlock_bh(&aton->lock);
	return now;
}

struct pw_aton *pw_aton_create(struct pw_san *san, u32 engine, const struct pw_ring_params *like)
{
	struct pw_aton *aton;
	void *mem;

	aton = kzalloc(sizeof(*aton), PW_GFP);
	if (!aton)
		return ERR_PTR(-ENOMEM);
	aton->params = (struct pw_ring_params) {
		.engine = engine == PACKETWAY_ENGINE_RTL ? PW_RING_RTL : PW_RING_FAST,
		.nregs = PW_ATON_REGS,
		.capacity = san->nports,
		.max_bytes = PW_ATON_PASSIVE_MAX,
		.queue_sender = PW_ATON_QUEUE_PORT,
		.queue_ring = PW_ATON_QUEUE_RING,
		.deliver = pw_aton_arrived,
		.latch = pw_aton_latch,
		.tap = pw_aton_record,
		.ctx = aton,
	};
	pw_aton_like(&aton->params, like);
	mem = __vmalloc(pw_ring_size(&aton->params), PW_GFP | __GFP_ZERO);
	aton->dummy = pw_dummy_netdev_alloc();
	if (!mem || !aton->dummy) {
		pw_dummy_netdev_free(aton->dummy);
		vfree(mem);
		kfree(aton);
		return ERR_PTR(-ENOMEM);
	}
	aton->ring = pw_ring_init(mem, &aton->params);
	aton->san = san;
	refcount_set(&aton->refs, 1);
	spin_lock_init(&aton->lock);
	INIT_LIST_HEAD(&aton->blocks);
	INIT_LIST_HEAD(&aton->ripe);
	INIT_LIST_HEAD(&aton->alarm.entry);
	aton->alarm.fire = pw_aton_alarm;
	hrtimer_setup(&aton->timer, pw_aton_tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	netif_napi_add(aton->dummy, &aton->napi, pw_aton_poll);
	pw_share_setup(&aton->share, &aton->napi);
	napi_enable(&aton->napi);
	return aton;
}

/* the last station and block have gone: nothing is queued */
void pw_aton_destroy(struct pw_aton *aton)
{
	void *mem;

	hrtimer_cancel(&aton->timer);
	napi_disable(&aton->napi);
	pw_share_stop(&aton->share, &aton->lock);
	netif_napi_del(&aton->napi);
	pw_dummy_netdev_free(aton->dummy);
	/* files may still hold commands that have ended here */
	spin_lock_bh(&aton->lock);
	pw_aton_disarm(aton);
	mem = aton->ring;
	aton->ring = NULL;
	spin_unlock_bh(&aton->lock);
	vfree(mem);
	vfree(aton->tap);
	pw_aton_put(aton);
}
