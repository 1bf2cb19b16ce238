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
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <linux/packetway_netlink.h>

#include "pw_aton.h"
#include "pw_mon.h"
#include "pw_priv.h"
#include "pw_trace.h"

/* hops that one poll may compute, or in rtl, interfaces times bit times */
#define PW_ATON_FAST_STEPS	65536U
#define PW_ATON_RTL_STEPS	16384U
/* bit times that one poll may go on for, beside those that the ring's length takes */
#define PW_ATON_HORIZON		4096
/* interfaces up to which bit-by-bit stepping is offered */
#define PW_ATON_RTL_MAX		4096
#define PW_ATON_PASSIVE_MAX	4096
/* room for packets as somebody wants to see them; rtl divides it among the interfaces */
#define PW_ATON_TAP_SIZE	SZ_256K

#define PW_X_NAME(field, name) name,
const char pw_ring_stat_names[PW_RING_STAT_NUM][ETH_GSTRING_LEN] = {
	PW_RING_COUNTERS(PW_X_NAME)
};

/* number on the ring of the station at @port: stations sit in port order */
static u32 pw_aton_index(const struct pw_aton *aton, u32 port)
{
	return bitmap_weight(aton->attached, port);
}

static u32 pw_aton_budget(const struct pw_aton *aton)
{
	/* a bit time of all interfaces is the least that rtl can step */
	if (aton->params.engine == PW_RING_RTL)
		return max(PW_ATON_RTL_STEPS, 4 * pw_ring_ifaces(aton->ring));
	return PW_ATON_FAST_STEPS;
}

/* bit time up to which a ring that is wanted may run in one go: a few packets */
static u64 pw_aton_horizon(const struct pw_aton *aton)
{
	return pw_ring_now(aton->ring) + 8 * pw_ring_latency(aton->ring) + PW_ATON_HORIZON;
}

/* the result of a command as programs see it in the mapped page */
static void pw_aton_publish(struct packetway_aton_slot *slot, const struct pw_ring_cmd *cmd,
			    u64 time)
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

/* a standing command has run; has its result changed? */
static bool pw_aton_standing_changed(const struct packetway_aton_slot *slot,
				     const struct pw_ring_cmd *cmd)
{
	if (!slot->runs || (slot->status & 0xff) != cmd->err)
		return true;
	return !cmd->err && (slot->counter != cmd->counter || slot->v1 != cmd->v1 ||
			     slot->v2 != cmd->v2);
}

/* take what has ended off the ring; aton->lock held */
static void pw_aton_reap(struct pw_aton *aton, struct list_head *ended)
{
	struct packetway_aton_page *page;
	struct pw_aton_req *req;
	struct pw_aton_if *aif;
	struct pw_ring_cmd *cmd;

	while ((cmd = pw_ring_reap(aton->ring))) {
		u64 time = aton->epoch + cmd->done;

		req = container_of(cmd, struct pw_aton_req, cmd);
		aif = (struct pw_aton_if *)(uintptr_t)cmd->cookie;
		page = page_address(aif->results);
		trace_pw_aton_command(aton->san, cmd, time);
		if (cmd->ring_bits)
			trace_pw_token(aton->san, cmd->iface, time - cmd->ring_bits, time,
				       pw_ring_stats(aton->ring)->tokens_lost);
		if (cmd->standing) {
			bool changed = pw_aton_standing_changed(&page->standing, cmd);

			pw_aton_publish(&page->standing, cmd, time);
			if (aif->standing_file)
				pw_aton_file_standing(aif->standing_file, changed);
			continue;
		}
		pw_aton_publish(&page->command, cmd, time);
		aton->demand--;
		list_add_tail(&req->ended, ended);
	}
}

static void pw_aton_finish(struct list_head *ended)
{
	struct pw_aton_req *req, *next;

	list_for_each_entry_safe(req, next, ended, ended) {
		list_del(&req->ended);
		if (req->pf)
			pw_aton_file_done(req);
		/* the last touch: the owner may free it now */
		complete_all(&req->done);
	}
}

/* up to where the ring may run now; aton->lock held */
static u64 pw_aton_until(const struct pw_aton *aton)
{
	/* whoever waits asks again */
	if (aton->demand)
		return max(aton->pace_until, pw_aton_horizon(aton));
	return aton->pace_until;
}

static int pw_aton_poll(struct napi_struct *napi, int budget)
{
	struct pw_aton *aton = container_of(napi, struct pw_aton, napi);
	LIST_HEAD(ended);
	bool more;

	spin_lock(&aton->lock);
	more = pw_ring_run(aton->ring, pw_aton_until(aton), pw_aton_budget(aton)) == PW_RING_MORE;
	pw_aton_reap(aton, &ended);
	more = more || aton->demand;
	spin_unlock(&aton->lock);
	pw_aton_finish(&ended);

	/* a full budget asks to be polled again */
	if (more)
		return budget;
	napi_complete_done(napi, 0);
	return 0;
}

/* process context, BH on: the poll usually runs before this returns */
static void pw_aton_kick(struct pw_aton *aton)
{
	local_bh_disable();
	napi_schedule(&aton->napi);
	local_bh_enable();
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
	bool on;

	spin_lock(&aton->lock);
	on = aton->standing && aton->period;
	if (on) {
		u64 now = pw_ring_now(aton->ring);

		if (now >= aton->pace_until)
			aton->pace_until = now + (u64)aton->period * PW_ATON_BITS_PER_US;
		/*
		 * A command that comes to stand starts the timer, too, maybe just
		 * now: under the lock either may be first. HRTIMER_RESTART is for
		 * timers that nobody else starts.
		 */
		pw_aton_arm(aton);
	}
	spin_unlock(&aton->lock);
	if (on)
		napi_schedule(&aton->napi);
	return HRTIMER_NORESTART;
}

/*
 * Interfaces come and go only while no packet is on the ring: run it that far.
 * Returns with aton->lock held; a packet always ends, so this does too.
 */
static void pw_aton_settle(struct pw_aton *aton)
	__acquires(&aton->lock)
{
	LIST_HEAD(ended);

	for (;;) {
		spin_lock_bh(&aton->lock);
		if (!pw_ring_busy(aton->ring))
			return;
		/* the packet that is there ends, and no other starts */
		pw_ring_run(aton->ring, pw_ring_now(aton->ring), pw_aton_budget(aton));
		pw_aton_reap(aton, &ended);
		spin_unlock_bh(&aton->lock);
		pw_aton_finish(&ended);
		cond_resched();
	}
}

static void pw_aton_unlock(struct pw_aton *aton)
	__releases(&aton->lock)
{
	LIST_HEAD(ended);

	/* what was queued at an interface that left has ended */
	pw_aton_reap(aton, &ended);
	spin_unlock_bh(&aton->lock);
	pw_aton_finish(&ended);
}

/* the registers that programs write are in the mapped page */
static void pw_aton_registers(struct pw_aton_if *aif)
{
	const struct packetway_aton_operands *op = page_address(aif->operands);

	aif->port = (struct pw_ring_port) {
		.operands = op->operand,
		.group = &op->group,
	};
}

int pw_aton_station_add(struct pw_station *st)
{
	struct pw_aton *aton = st->san->aton;
	struct pw_aton_if *aif = &st->aton;
	u32 pos;
	int err;

	aif->operands = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	aif->results = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!aif->operands || !aif->results) {
		err = -ENOMEM;
		goto err_free;
	}
	pw_aton_registers(aif);

	pw_aton_settle(aton);
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
	if (!err)
		return 0;
err_free:
	if (aif->operands)
		__free_page(aif->operands);
	if (aif->results)
		__free_page(aif->results);
	return err;
}

/* nobody submits any more (the station is withdrawn); what is queued ends */
void pw_aton_station_remove(struct pw_station *st)
{
	struct pw_aton *aton = st->san->aton;
	u32 pos;

	pw_aton_settle(aton);
	pos = pw_aton_index(aton, st->port);
	if (st->aton.standing) {
		pw_ring_stand(aton->ring, pos, NULL);
		st->aton.standing = NULL;
		st->aton.standing_file = NULL;
		aton->standing--;
		pw_limit_uncharge(st->san->net, PW_LIMIT_STANDING, 1);
	}
	st->aton.live = false;
	pw_ring_detach(aton->ring, pos, 1);
	__clear_bit(st->port, aton->attached);
	pw_aton_unlock(aton);
	/* mappings hold the pages by themselves */
	__free_page(st->aton.operands);
	__free_page(st->aton.results);
}

void pw_aton_station_up(struct pw_station *st, bool up)
{
	struct pw_aton *aton = st->san->aton;

	spin_lock_bh(&aton->lock);
	pw_ring_set_up(aton->ring, pw_aton_index(aton, st->port), up);
	pw_aton_unlock(aton);
	/* a packet may be waiting for its sender to leave */
	pw_aton_kick(aton);
}

/* May this station's interface take a command? aton->lock held */
static int pw_aton_ready(const struct pw_aton *aton, const struct pw_station *st)
{
	if (!st->aton.live)
		return -ENODEV;
	return aton->frozen ? -EAGAIN : 0;
}

/**
 * pw_aton_submit - queue a command at a station's interface
 * @st: the station
 * @req: the command, the ring's until @req->done is signalled or
 *	pw_aton_cancel() gives it back
 *
 * The ring runs when the caller lets softirqs come again.
 *
 * Return: 0 or a negative errno; -EAGAIN: the ring is being replaced. RCU held, BH
 * off.
 */
int pw_aton_submit(struct pw_station *st, struct pw_aton_req *req)
{
	struct pw_aton *aton = st->san->aton;
	int err;

	req->cmd.cookie = (uintptr_t)&st->aton;
	spin_lock(&aton->lock);
	err = pw_aton_ready(aton, st);
	if (!err)
		err = pw_ring_submit(aton->ring, pw_aton_index(aton, st->port), &req->cmd);
	if (!err)
		aton->demand++;
	spin_unlock(&aton->lock);
	if (!err)
		napi_schedule(&aton->napi);
	return err;
}

/**
 * pw_aton_cancel - take a command back
 * @aton: the ring
 * @req: the command
 *
 * Return: true if it is the caller's again; false if it is on the ring or has
 * ended: @req->done will be signalled, or has been.
 */
bool pw_aton_cancel(struct pw_aton *aton, struct pw_aton_req *req)
{
	bool ours;

	spin_lock_bh(&aton->lock);
	ours = !completion_done(&req->done) && !pw_ring_cancel(aton->ring, &req->cmd);
	if (ours)
		aton->demand--;
	spin_unlock_bh(&aton->lock);
	return ours;
}

/* shortest period of all standing commands; aton->lock held */
static void pw_aton_repace(struct pw_aton *aton)
{
	struct pw_station *st;
	u32 port;

	aton->period = U32_MAX;
	for_each_set_bit(port, aton->attached, aton->san->nports) {
		st = rcu_dereference_check(aton->san->port[port].station,
					   lockdep_is_held(&aton->lock));
		if (st && st->aton.standing)
			aton->period = min(aton->period, st->aton.period);
	}
}

/**
 * pw_aton_stand - install a station's standing command
 * @st: the station; RCU held
 * @pf: file whose it is
 * @req: the command
 * @period: microseconds from one run to the next
 *
 * Return: 0; -EBUSY: it has one already; or as pw_aton_submit().
 */
int pw_aton_stand(struct pw_station *st, struct pw_file *pf, struct pw_aton_req *req, u32 period)
{
	struct pw_aton *aton = st->san->aton;
	int err;

	req->cmd.cookie = (uintptr_t)&st->aton;
	req->cmd.gap = (u64)period * PW_ATON_BITS_PER_US;
	spin_lock_bh(&aton->lock);
	err = pw_aton_ready(aton, st);
	if (!err && st->aton.standing)
		err = -EBUSY;
	if (!err)
		err = pw_limit_charge(st->san->net, PW_LIMIT_STANDING, 1, NULL);
	if (!err) {
		err = pw_ring_stand(aton->ring, pw_aton_index(aton, st->port), &req->cmd);
		if (err)
			pw_limit_uncharge(st->san->net, PW_LIMIT_STANDING, 1);
	}
	if (!err) {
		st->aton.standing = req;
		st->aton.standing_file = pf;
		st->aton.period = period;
		aton->standing++;
		pw_aton_repace(aton);
		/* from now, however long the ring was left alone */
		aton->pace_until = pw_ring_now(aton->ring);
		pw_aton_arm(aton);
	}
	spin_unlock_bh(&aton->lock);
	return err;
}

/**
 * pw_aton_unstand - remove a file's standing command from a station
 * @st: the station; RTNL
 * @pf: the file
 *
 * Return: the command, the caller's again, or NULL if there is none of this file.
 */
struct pw_aton_req *pw_aton_unstand(struct pw_station *st, struct pw_file *pf)
{
	struct pw_aton *aton = st->san->aton;
	struct pw_aton_req *req = NULL;

	pw_aton_settle(aton);
	if (st->aton.standing_file == pf) {
		req = st->aton.standing;
		pw_ring_stand(aton->ring, pw_aton_index(aton, st->port), NULL);
		st->aton.standing = NULL;
		st->aton.standing_file = NULL;
		aton->standing--;
		pw_limit_uncharge(st->san->net, PW_LIMIT_STANDING, 1);
		pw_aton_repace(aton);
	}
	pw_aton_unlock(aton);
	return req;
}

/* RCU held; the program's values were checked */
int pw_aton_set_registers(struct pw_station *st, const struct packetway_aton_set *set)
{
	struct pw_aton *aton = st->san->aton;
	struct packetway_aton_operands *op;
	int err = 0;

	spin_lock_bh(&aton->lock);
	if (!st->aton.live) {
		err = -ENODEV;
		goto out;
	}
	op = page_address(st->aton.operands);
	if (set->flags & PACKETWAY_ATON_SET_OPERAND)
		WRITE_ONCE(op->operand[set->reg], set->value);
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
	const struct pw_ring_port *port = &st->aton.port;
	const struct packetway_aton_operands *op;
	u32 i;

	spin_lock_bh(&aton->lock);
	if (!st->aton.live) {
		spin_unlock_bh(&aton->lock);
		return -ENODEV;
	}
	op = page_address(st->aton.operands);
	for (i = 0; i < PACKETWAY_ATON_REGS; i++)
		get->out_operand[i] = READ_ONCE(op->operand[i]);
	get->out_counter = port->counter;
	get->out_v1 = port->v1;
	get->out_v2 = port->v2;
	get->out_ring_time = port->ring_time;
	get->out_command = port->command;
	get->out_status = port->status;
	get->out_id = st->addr;
	get->out_group = READ_ONCE(op->group) & PW_ATON_GROUP_MASK;
	get->out_interfaces = pw_ring_ifaces(aton->ring);
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
static const u16 pw_ring_stat_offset[PW_RING_STAT_NUM] = {
	PW_RING_COUNTERS(PW_X_OFFSET)
};

static void pw_aton_stats_add(const struct pw_ring *ring, u64 *sum)
{
	const void *s = pw_ring_stats(ring);
	int i;

	for (i = 0; i < PW_RING_STAT_NUM; i++)
		sum[i] += *(const u64 *)(s + pw_ring_stat_offset[i]);
}

void pw_aton_stats(struct pw_aton *aton, u64 *data)
{
	spin_lock_bh(&aton->lock);
	memcpy(data, aton->past, sizeof(aton->past));
	pw_aton_stats_add(aton->ring, data);
	spin_unlock_bh(&aton->lock);
}

u32 pw_aton_engine(const struct pw_aton *aton)
{
	return aton->params.engine == PW_RING_RTL ? PACKETWAY_ENGINE_RTL : PACKETWAY_ENGINE_FAST;
}

/*
 * Replace the ring by one with other parameters. Waits until nothing but standing
 * commands is queued. RTNL: stations and blocks stay as they are.
 */
static int pw_aton_replace(struct pw_aton *aton, const struct pw_ring_params *params)
{
	struct pw_ring *old = aton->ring, *ring;
	struct pw_aton_block *block;
	struct pw_station *st;
	u32 i, r, n;
	void *mem;

	ASSERT_RTNL();
	mem = __vmalloc(pw_ring_size(params), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!mem)
		return -ENOMEM;
	ring = pw_ring_init(mem, params);

	/* what is long to write is written before the lock is taken */
	n = 0;
	for_each_set_bit(i, aton->attached, aton->san->nports) {
		st = rtnl_dereference(aton->san->port[i].station);
		pw_ring_attach(ring, n++, 1, st->addr, 0);
	}
	list_for_each_entry(block, &aton->blocks, entry) {
		pw_ring_attach(ring, n, block->count, block->addr, 0);
		n += block->count;
	}

	spin_lock_bh(&aton->lock);
	aton->frozen = true;
	spin_unlock_bh(&aton->lock);
	for (;;) {
		pw_aton_settle(aton);
		if (!aton->demand)
			break;
		spin_unlock_bh(&aton->lock);
		pw_aton_kick(aton);
		cond_resched();
	}

	n = 0;
	for_each_set_bit(i, aton->attached, aton->san->nports) {
		st = rtnl_dereference(aton->san->port[i].station);
		pw_ring_set_up(ring, n, pw_ring_is_up(old, n));
		if (st->aton.standing)
			pw_ring_stand(old, n, NULL);
		pw_ring_bind(old, n, NULL);
		pw_aton_registers(&st->aton);
		pw_ring_bind(ring, n, &st->aton.port);
		if (st->aton.standing)
			pw_ring_stand(ring, n, &st->aton.standing->cmd);
		n++;
	}
	/* operands of the ring-only interfaces that the old ring had */
	n = pw_ring_ifaces(old) - n;
	for (r = 0; n && r < min(params->nregs, aton->params.nregs); r++)
		memcpy(pw_ring_operands(ring, r) + pw_aton_index(aton, aton->san->nports),
		       pw_ring_operands(old, r) + pw_aton_index(aton, aton->san->nports),
		       n * sizeof(u64));
	aton->epoch += pw_ring_now(old);
	pw_aton_stats_add(old, aton->past);
	aton->pace_until = 0;
	pw_ring_tap(ring, aton->tap, PW_ATON_TAP_SIZE);
	aton->ring = ring;
	swap(aton->mem, mem);
	aton->params = *params;
	aton->frozen = false;
	spin_unlock_bh(&aton->lock);
	vfree(mem);
	return 0;
}

int pw_aton_set_engine(struct pw_aton *aton, u32 engine, struct netlink_ext_ack *extack)
{
	struct pw_ring_params params = aton->params;

	if (engine == PACKETWAY_ENGINE_NONE) {
		NL_SET_ERR_MSG(extack, "A ring is run by the fast or the rtl engine");
		return -EINVAL;
	}
	params.engine = engine == PACKETWAY_ENGINE_RTL ? PW_RING_RTL : PW_RING_FAST;
	if (params.engine == aton->params.engine)
		return 0;
	if (params.engine == PW_RING_RTL && params.capacity > PW_ATON_RTL_MAX) {
		NL_SET_ERR_MSG(extack, "The ring is too long to be stepped bit by bit");
		return -EOPNOTSUPP;
	}
	return pw_aton_replace(aton, &params);
}

/**
 * pw_aton_block_add - put ring-only interfaces behind a SAN's stations
 * @san: the SAN
 * @block: count and regs; gets its address
 * @extack: where a refusal is explained
 *
 * Return: 0 or a negative errno. RTNL. The block keeps the SAN.
 */
int pw_aton_block_add(struct pw_san *san, struct pw_aton_block *block,
		      struct netlink_ext_ack *extack)
{
	struct pw_aton *aton = san->aton;
	struct pw_ring_params params = aton->params;
	struct pw_aton_block *last;
	int err;

	if (block->count > PACKETWAY_RING_IFACES_MAX - aton->extra)
		return -ENOSPC;
	params.capacity = san->nports + aton->extra + block->count;
	if (params.engine == PW_RING_RTL && params.capacity > PW_ATON_RTL_MAX)
		return -EOPNOTSUPP;
	params.nregs = aton->extra ? min_t(u32, params.nregs, block->regs) : block->regs;

	/* ring addresses that no station of this SAN has */
	block->addr = san->bias < 0x400000 ? 0x400000 : 1;
	if (!list_empty(&aton->blocks)) {
		last = list_last_entry(&aton->blocks, struct pw_aton_block, entry);
		block->addr = last->addr + last->count;
	}
	if (block->addr + block->count > 0x7fffff)
		return -ENOSPC;
	err = pw_limit_charge(san->net, PW_LIMIT_INTERFACES, block->count, extack);
	if (err)
		return err;
	list_add_tail(&block->entry, &aton->blocks);
	err = pw_aton_replace(aton, &params);
	if (err) {
		list_del(&block->entry);
		pw_limit_uncharge(san->net, PW_LIMIT_INTERFACES, block->count);
		return err;
	}
	aton->extra += block->count;
	block->san = san;
	san->users++;
	return 0;
}

/* first ring-only interface of a block; RTNL or aton->lock */
static u32 pw_aton_block_pos(struct pw_aton *aton, const struct pw_aton_block *block)
{
	struct pw_aton_block *b;
	u32 pos = pw_aton_index(aton, aton->san->nports);

	list_for_each_entry(b, &aton->blocks, entry) {
		if (b == block)
			break;
		pos += b->count;
	}
	return pos;
}

/* RTNL; the ring stays as large as it was until the SAN goes */
void pw_aton_block_remove(struct pw_aton_block *block)
{
	struct pw_aton *aton;

	if (!block->san)
		return;
	aton = block->san->aton;
	pw_aton_settle(aton);
	pw_ring_detach(aton->ring, pw_aton_block_pos(aton, block), block->count);
	list_del(&block->entry);
	pw_aton_unlock(aton);
	aton->extra -= block->count;
	pw_limit_uncharge(block->san->net, PW_LIMIT_INTERFACES, block->count);
	pw_san_put(block->san);
	block->san = NULL;
}

/* the SAN's namespace goes: its files find their interfaces gone. RTNL */
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
 * Return: 0, -EINVAL, or -ENODEV. RTNL.
 */
int pw_aton_block_rw(struct pw_aton_block *block, u32 reg, u32 first, u32 count, u64 *buf,
		     bool write)
{
	struct pw_aton *aton;
	u64 *regs;
	u32 i;

	if (!block->san)
		return -ENODEV;
	aton = block->san->aton;
	if (first > block->count || count > block->count - first)
		return -EINVAL;
	spin_lock_bh(&aton->lock);
	regs = pw_ring_operands(aton->ring, reg);
	if (regs) {
		regs += pw_aton_block_pos(aton, block) + first;
		for (i = 0; i < count; i++) {
			if (write)
				regs[i] = buf[i];
			else
				buf[i] = regs[i];
		}
	}
	spin_unlock_bh(&aton->lock);
	return regs ? 0 : -EINVAL;
}

/* a packet leaves an interface, and somebody wants to see it; aton->lock held */
static void pw_aton_seen(void *ctx, u32 iface, u64 when, const u8 *packet, u32 bytes)
{
	struct pw_aton *aton = ctx;

	if (pw_mon_on())
		pw_mon_bytes(aton->san, PACKETWAY_MON_RING,
			     PACKETWAY_MON_UNIT(PACKETWAY_MON_INTERFACE, iface), PACKETWAY_MON_OUT,
			     aton->epoch + when, packet, bytes);
}

/**
 * pw_aton_tap - ring packets are to be seen, or not
 * @aton: the ring; RTNL
 * @on: which; without memory for it nothing is seen
 */
void pw_aton_tap(struct pw_aton *aton, bool on)
{
	void *mem = NULL;

	if (on == !!aton->tap)
		return;
	if (on) {
		mem = __vmalloc(PW_ATON_TAP_SIZE, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
		if (!mem)
			return;
	}
	spin_lock_bh(&aton->lock);
	swap(aton->tap, mem);
	pw_ring_tap(aton->ring, aton->tap, PW_ATON_TAP_SIZE);
	spin_unlock_bh(&aton->lock);
	vfree(mem);
}

struct pw_aton *pw_aton_create(struct pw_san *san, u32 engine, struct netlink_ext_ack *extack)
{
	struct pw_aton *aton;

	aton = kzalloc(sizeof(*aton), GFP_KERNEL_ACCOUNT);
	if (!aton)
		return ERR_PTR(-ENOMEM);
	aton->params = (struct pw_ring_params) {
		.engine = engine == PACKETWAY_ENGINE_RTL ? PW_RING_RTL : PW_RING_FAST,
		.nregs = PW_ATON_REGS,
		.capacity = san->nports,
		.max_bytes = PW_ATON_PASSIVE_MAX,
		.tap = pw_aton_seen,
		.ctx = aton,
	};
	aton->mem = __vmalloc(pw_ring_size(&aton->params), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	aton->dummy = pw_dummy_netdev_alloc();
	if (!aton->mem || !aton->dummy) {
		pw_dummy_netdev_free(aton->dummy);
		vfree(aton->mem);
		kfree(aton);
		return ERR_PTR(-ENOMEM);
	}
	aton->ring = pw_ring_init(aton->mem, &aton->params);
	aton->san = san;
	spin_lock_init(&aton->lock);
	INIT_LIST_HEAD(&aton->blocks);
	hrtimer_setup(&aton->timer, pw_aton_tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	netif_napi_add(aton->dummy, &aton->napi, pw_aton_poll);
	napi_enable(&aton->napi);
	return aton;
}

/* the last station and block have gone: nothing is queued */
void pw_aton_destroy(struct pw_aton *aton)
{
	hrtimer_cancel(&aton->timer);
	napi_disable(&aton->napi);
	netif_napi_del(&aton->napi);
	pw_dummy_netdev_free(aton->dummy);
	vfree(aton->mem);
	vfree(aton->tap);
	kfree(aton);
}
