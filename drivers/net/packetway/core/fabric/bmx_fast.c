// SPDX-License-Identifier: GPL-2.0
/*
 * Event-driven BMX network.
 *
 * The registers as seen from outside; c is the cycle in which an SPD selects a queue:
 *
 *  - The SPD fetches in c+1..c+53; byte 0 is on its link in t = c+2 and the PPD or
 *    port downstream decides in c+5 = t+3. If refused, the SPD takes its five bytes back
 *    and selects again in c+6. If accepted, it selects again in c+53.
 *  - A cell accepted into a queue in cycle T can be selected from T+1 on.
 *  - A queue is full at size >= 53*depth-5. When the writer begins a cell, all cells
 *    before are complete (the last byte was pushed in the cycle before), so only the
 *    head can be partly gone: a queue of depth cells is full until the reader can no
 *    longer be suspended, which is in cycle c+6, one after the decision downstream.
 *    Hence "full" is a count of cells: incremented when a cell is accepted, decremented
 *    when it is accepted downstream.
 *  - The decrement of cycle c+6 happens before the PPDs of that cycle look, the
 *    acceptance of c+5 after them. Handling the attempts of a cycle by ascending stage
 *    gives that order: the writer of a queue is handled before its reader.
 *
 * So the attempt is the only event. The queue that an SPD selected is computed at the
 * attempt, from the cells that had arrived before cycle c.
 *
 * A source sleeps while all its head cells are blocked. Its attempts in that time (one
 * every RETRY cycles, round robin over its queues) are all refused; they are added up
 * when a queue of the PPD gets room or when a cell reaches one of its empty queues. The
 * source of a port that answered PW_BMX_RX_BLOCK sleeps as well.
 */
#include "arena.h"
#include "bmx_event.h"
#include "bmx_topo.h"

#define ALL_STAGES	(PW_BMX_STAGES + 1)	/* stage 3: the output ports */

static struct pw_bmx_fast *layout(struct pw_arena *a, const struct pw_bmx_cfg *cfg)
{
	u32 k = pw_bmx_cfg_k(cfg), n = k * k, depth = pw_bmx_cfg_depth(cfg);
	struct pw_bmx_fast head = {}, *f;

	if (cfg->topo)
		return pw_bmx_topo_layout(a, cfg);
	f = pw_arena_take(a, sizeof(*f));
	head.k = k;
	head.ports = n;
	head.depth = depth;
	head.words = DIV_ROUND_UP(n, 64);
	head.wheel = pw_arena_take(a, sizeof(*head.wheel) * SLOTS * ALL_STAGES * head.words);
	head.src = pw_arena_take(a, sizeof(*head.src) * ALL_STAGES * n);
	head.queue = pw_arena_take(a, sizeof(*head.queue) * PW_BMX_STAGES * n * k);
	head.cell = pw_arena_take(a, sizeof(*head.cell) * PW_BMX_STAGES * n * k * depth);
	head.offer = pw_arena_take(a, sizeof(*head.offer) * n);
	head.full = pw_arena_take(a, sizeof(*head.full) * PW_BMX_STAGES * n);
	head.wire = pw_arena_take(a, sizeof(*head.wire) * n);
	head.base = pw_arena_take(a, sizeof(*head.base) * n);
	head.lane = pw_arena_take(a, sizeof(*head.lane) * n);
	if (f) {
		memset(f, 0, a->used);
		*f = head;
	}
	return f;
}

/**
 * pw_bmx_fast_size() - memory that a network needs
 * @cfg: sizes, checked by pw_bmx_cfg_check()
 *
 * Return: bytes to hand to pw_bmx_fast_init().
 */
size_t pw_bmx_fast_size(const struct pw_bmx_cfg *cfg)
{
	struct pw_arena a = {};

	layout(&a, cfg);
	return a.used;
}

/**
 * pw_bmx_fast_init() - network after reset, cycle 0 done
 * @mem: pw_bmx_fast_size() bytes, aligned to 8
 * @cfg: sizes, checked by pw_bmx_cfg_check()
 * @ops: callbacks
 * @ctx: their first argument
 *
 * Return: the network (at @mem).
 */
struct pw_bmx_fast *pw_bmx_fast_init(void *mem, const struct pw_bmx_cfg *cfg,
				     const struct pw_bmx_fast_ops *ops, void *ctx)
{
	struct pw_arena a = { .base = mem };
	struct pw_bmx_fast *f;
	u32 i;

	f = layout(&a, cfg);
	f->ops = ops;
	f->ctx = ctx;
	if (f->topo) {
		pw_bmx_topo_init(f);
		return f;
	}
	for (i = 0; i < f->ports; i++) {
		f->wire[i] = pw_bmx_wire(f->k, i);
		f->base[i] = i - i % f->k;
		f->lane[i] = i % f->k;
	}
	return f;
}

static struct pw_bmx_fsrc *src_of(struct pw_bmx_fast *f, u32 stage, u32 i)
{
	return &f->src[stage * f->ports + i];
}

/* queue of lane @p of SPD @i of @stage */
static u32 queue_of(const struct pw_bmx_fast *f, u32 stage, u32 i, u32 p)
{
	return (stage * f->ports + i) * f->k + p;
}

static struct pw_bmx_fcell *head_of(struct pw_bmx_fast *f, u32 qi)
{
	return &f->cell[qi * f->depth + f->queue[qi].head];
}

static u16 out_mask(const struct pw_bmx_fast *f, u8 out)
{
	return out == PW_BMX_OUT_ALL ? BIT(f->k) - 1 : BIT(out);
}

static void schedule(struct pw_bmx_fast *f, struct pw_bmx_fsrc *x, u32 stage, u32 i, u64 at)
{
	u32 slot = at & (SLOTS - 1);

	x->at = at;
	x->state = PENDING;
	f->wheel[(slot * ALL_STAGES + stage) * f->words + i / 64] |= BIT_ULL(i % 64);
	f->slots |= BIT_ULL(slot);
}

/* the PPD (or port) that source @i of @stage sends to, as a rank over all stages */
static u32 target_rank(const struct pw_bmx_fast *f, u32 stage, u32 i)
{
	return stage * f->ports + (stage == 0 || stage == PW_BMX_STAGES ? i : f->wire[i]);
}

/* count the attempts of a sleeping source before @cycle, all of which were refused */
static void settle(struct pw_bmx_fast *f, struct pw_bmx_fsrc *x, u32 stage, u32 i, u64 cycle)
{
	u32 m, left;
	u64 n;

	if (x->at >= cycle)
		return;
	n = div_u64(cycle - x->at + RETRY - 1, RETRY);
	x->at += n * RETRY;
	x->refused += n;
	x->last_fail = x->at - RETRY;
	if (stage) {
		m = hweight32(x->ne);
		div_u64_rem(n, m, &left);
		while (left--)
			x->rr = next_lane(x->ne, x->rr);
	}
	if (f->ops->suspended)
		f->ops->suspended(f->ctx, target_rank(f, stage, i), n,
				  x->last_fail - PW_BMX_DECIDE);
}

/* wake a sleeping source: its next attempt is in @cycle or later */
static void wake(struct pw_bmx_fast *f, struct pw_bmx_fsrc *x, u32 stage, u32 i, u64 cycle)
{
	settle(f, x, stage, i, cycle);
	schedule(f, x, stage, i, x->at);
}

/* does the PPD refuse every cell that source @i of @stage could send? */
static bool all_blocked(struct pw_bmx_fast *f, struct pw_bmx_fsrc *x, u32 stage, u32 i)
{
	u16 full = f->full[target_rank(f, stage, i)];
	u32 mask, p, q0;

	if (!full)
		return false;
	if (!stage)
		return full & out_mask(f, f->offer[i].out[0]);
	q0 = queue_of(f, stage - 1, i, 0);
	for (mask = x->ne; mask; mask &= mask - 1) {
		p = __ffs64(mask);
		if (!(full & out_mask(f, head_of(f, q0 + p)->out[stage])))
			return false;
	}
	return true;
}

/* cell @c, accepted in cycle f->now, enters lane @p of SPD @i of @stage */
static inline void arrive(struct pw_bmx_fast *f, u32 stage, u32 i, u32 p,
			  const struct pw_bmx_fcell *c)
{
	struct pw_bmx_fsrc *x = src_of(f, stage + 1, i);
	u32 qi = queue_of(f, stage, i, p), pos;
	struct pw_bmx_fqueue *q = &f->queue[qi];

	if (likely(x->state == IDLE))
		schedule(f, x, stage + 1, i, max(c->t + 1, x->free) + SEL_TO_TRY);
	else if (unlikely(x->state == ASLEEP) && !(x->ne & BIT(p)))
		wake(f, x, stage + 1, i, f->now);
	pos = q->head + q->n;
	if (pos >= f->depth)
		pos -= f->depth;
	f->cell[qi * f->depth + pos] = *c;
	if (unlikely(++q->n == f->depth))
		f->full[stage * f->ports + f->base[i] + p] |= BIT(f->lane[i]);
	x->ne |= BIT(p);
}

/* call ops->fault for a cell that is accepted; true if the cell is dropped */
static bool ppd_fault(struct pw_bmx_fast *f, u32 stage, u32 rank, struct pw_bmx_fcell *c)
{
	u32 copies;

	switch (f->ops->fault(f->ctx, rank, f->now - PW_BMX_DECIDE)) {
	case PW_BMX_FAULT_DROP:
		f->dropped[stage]++;
		/* a broadcast branches in the middle and in the last stage */
		copies = c->out[2] != PW_BMX_OUT_ALL ? 1 : stage == 2 ? f->k : f->ports;
		if (f->ops->dropped)
			f->ops->dropped(f->ctx, rank, c->cookie, copies);
		return true;
	case PW_BMX_FAULT_CORRUPT:
		f->corrupted[stage]++;
		c->flags |= PW_BMX_CELL_CORRUPT;
		return false;
	default:
		return false;
	}
}

/* PPD @i of @stage accepts cell @c in cycle f->now */
static inline void ppd_accept(struct pw_bmx_fast *f, u32 stage, u32 i, struct pw_bmx_fcell *c)
{
	u32 rank = stage * f->ports + i, base = f->base[i], lane = f->lane[i], q;
	u8 out = c->out[stage];

	c->t = f->now;
	if (unlikely(f->ops->hop))
		f->ops->hop(f->ctx, rank, c->cookie, f->now - PW_BMX_DECIDE);
	if (unlikely(f->ops->fault) && ppd_fault(f, stage, rank, c))
		return;
	if (likely(out != PW_BMX_OUT_ALL)) {
		arrive(f, stage, base + out, lane, c);
		return;
	}
	for (q = 0; q < f->k; q++)
		arrive(f, stage, base + q, lane, c);
}

/* a queue of PPD @i of @stage is no longer full: there is room from the next cycle on */
static void room(struct pw_bmx_fast *f, u32 stage, u32 i)
{
	u32 up = stage ? f->wire[i] : i;
	struct pw_bmx_fsrc *x = src_of(f, stage, up);

	if (x->state == ASLEEP && !all_blocked(f, x, stage, up))
		wake(f, x, stage, up, f->now + 1);
}

static void refuse(struct pw_bmx_fast *f, struct pw_bmx_fsrc *x, u32 stage, u32 i, bool asleep)
{
	x->refused++;
	x->last_fail = f->now;
	if (asleep) {
		x->at = f->now + RETRY;
		x->state = ASLEEP;
	} else {
		schedule(f, x, stage, i, f->now + RETRY);
	}
	if (f->ops->suspended)
		f->ops->suspended(f->ctx, target_rank(f, stage, i), 1, f->now - PW_BMX_DECIDE);
}

static void try_port_in(struct pw_bmx_fast *f, u32 i)
{
	struct pw_bmx_fsrc *x = src_of(f, 0, i);
	struct pw_bmx_fcell c = f->offer[i];

	if (f->full[i] & out_mask(f, c.out[0])) {
		refuse(f, x, 0, i, true);
		if (!(x->offer_flags & PW_BMX_OFFER_ONCE))
			return;
		x->state = IDLE;
		x->free = f->now + NEXT_TRY;
		if (f->ops->refused)
			f->ops->refused(f->ctx, i, c.cookie, f->now - PW_BMX_DECIDE);
		return;
	}
	x->sent++;
	x->state = IDLE;
	x->free = f->now + NEXT_CELL;
	ppd_accept(f, 0, i, &c);
	if (f->ops->accepted)
		f->ops->accepted(f->ctx, i, c.cookie, f->now - PW_BMX_DECIDE);
}

/* the lane that an SPD selected SEL_TO_TRY cycles before its attempt in cycle @at */
static inline u32 selected(struct pw_bmx_fast *f, struct pw_bmx_fsrc *x, u32 stage, u32 i, u64 at)
{
	u32 q0, p, lane = x->rr;

	/* only one lane has cells */
	if (likely(!(x->ne & (x->ne - 1))))
		return __ffs64(x->ne);
	q0 = queue_of(f, stage - 1, i, 0);
	for (p = 0; p < f->k; p++) {
		lane = next_lane(x->ne, lane);
		if (head_of(f, q0 + lane)->t + SEL_TO_TRY < at)
			break;
	}
	return lane;
}

static void try_spd(struct pw_bmx_fast *f, u32 stage, u32 i)
{
	struct pw_bmx_fsrc *x = src_of(f, stage, i);
	u32 lane = selected(f, x, stage, i, f->now);
	u32 qi = queue_of(f, stage - 1, i, lane), to = i;
	struct pw_bmx_fqueue *q = &f->queue[qi];
	struct pw_bmx_fcell c = *head_of(f, qi);
	enum pw_bmx_rx rx;
	u32 up;

	x->rr = lane;
	if (stage < PW_BMX_STAGES) {
		to = f->wire[i];
		if (f->full[stage * f->ports + to] & out_mask(f, c.out[stage])) {
			refuse(f, x, stage, i, all_blocked(f, x, stage, i));
			return;
		}
	} else {
		rx = f->ops->rx(f->ctx, i, c.cookie, f->now - PW_BMX_DECIDE, c.flags);
		if (rx != PW_BMX_RX_ACCEPT) {
			refuse(f, x, stage, i, rx == PW_BMX_RX_BLOCK);
			return;
		}
	}

	cell_sent(f, x, q, lane, c.t);
	if (x->ne) {
		schedule(f, x, stage, i, f->now + PW_BMX_CELL);
	} else {
		x->state = IDLE;
		x->free = x->last_c + PW_BMX_CELL;
	}
	if (unlikely(q->n == f->depth - 1)) {
		up = f->base[i] + lane;
		f->full[(stage - 1) * f->ports + up] &= ~BIT(f->lane[i]);
		room(f, stage - 1, up);
	}
	if (stage < PW_BMX_STAGES)
		ppd_accept(f, stage, to, &c);
}

/**
 * pw_bmx_fast_offer() - a port starts to send a cell
 * @f: network
 * @port: input port
 * @t: cycle with byte 0 on the link, less than PW_BMX_HORIZON ahead
 * @vpi: pw_bmx_vpi_one() or pw_bmx_vpi_all()
 * @cookie: identifies the cell in the callbacks
 * @flags: PW_BMX_OFFER_ONCE or 0
 *
 * A refused cell is sent again every six cycles until it is accepted, unless
 * PW_BMX_OFFER_ONCE is given.
 *
 * Return: 0; -EINVAL for a port or VPI without a path; -EBUSY if an earlier cell is on
 * the link; -ERANGE if @t + PW_BMX_DECIDE is in the past or too far ahead (run the network
 * first).
 */
int pw_bmx_fast_offer(struct pw_bmx_fast *f, u32 port, u64 t, u32 vpi, u32 cookie, u32 flags)
{
	struct pw_bmx_fcell *c;
	struct pw_bmx_fsrc *x;
	u32 k = f->k, d;

	if (unlikely(f->topo))
		return pw_bmx_topo_offer(f, port, t, vpi, cookie, flags);
	if (port >= f->ports || vpi >= (f->ports + 1) * k)
		return -EINVAL;
	x = src_of(f, 0, port);
	c = &f->offer[port];
	if (x->state != IDLE || t < x->free)
		return -EBUSY;
	if (t + PW_BMX_DECIDE <= f->now || t + PW_BMX_DECIDE > f->now + PW_BMX_HORIZON)
		return -ERANGE;
	c->cookie = cookie;
	c->flags = 0;
	c->out[0] = vpi % k;
	d = vpi / k;
	if (d < f->ports) {
		c->out[1] = d / k;
		c->out[2] = d % k;
	} else {
		c->out[1] = PW_BMX_OUT_ALL;
		c->out[2] = PW_BMX_OUT_ALL;
	}
	x->offer_flags = flags;
	schedule(f, x, 0, port, t + PW_BMX_DECIDE);
	return 0;
}

/**
 * pw_bmx_fast_wake() - a port that answered PW_BMX_RX_BLOCK can take cells again
 * @f: network
 * @port: output port
 * @cycle: ops->rx is called again for attempts from this cycle on; in the future, at
 *	most 50 cycles ahead
 *
 * Return: 0 (also if nothing waits there), -EINVAL, -ERANGE.
 */
int pw_bmx_fast_wake(struct pw_bmx_fast *f, u32 port, u64 cycle)
{
	struct pw_bmx_fsrc *x;

	if (unlikely(f->topo))
		return pw_bmx_topo_wake(f, port, cycle);
	if (port >= f->ports)
		return -EINVAL;
	if (cycle <= f->now || cycle > f->now + WAKE_AHEAD)
		return -ERANGE;
	x = src_of(f, PW_BMX_STAGES, port);
	if (x->state == ASLEEP)
		wake(f, x, PW_BMX_STAGES, port, cycle);
	return 0;
}

/**
 * pw_bmx_fast_next() - cycle of the next event
 * @f: network
 *
 * Return: cycle of the next attempt, PW_BMX_NEVER if there is none.
 */
u64 pw_bmx_fast_next(const struct pw_bmx_fast *f)
{
	u32 r = (f->now + 1) & (SLOTS - 1);
	u64 rot;

	if (!f->slots)
		return PW_BMX_NEVER;
	rot = r ? f->slots >> r | f->slots << (SLOTS - r) : f->slots;
	return f->now + 1 + __ffs64(rot);
}

static u32 run_cycle(struct pw_bmx_fast *f, u64 cycle)
{
	u32 slot = cycle & (SLOTS - 1), n = 0, w, stage, i;
	u64 *word = &f->wheel[slot * ALL_STAGES * f->words], bits;

	f->now = cycle;
	f->slots &= ~BIT_ULL(slot);
	/* by ascending stage; nothing is scheduled for the cycle that is run */
	for (w = 0; w < ALL_STAGES * f->words; w++) {
		bits = word[w];
		if (!bits)
			continue;
		word[w] = 0;
		stage = f->words == 1 ? w : w / f->words;
		for (; bits; bits &= bits - 1, n++) {
			i = (w - stage * f->words) * 64 + __ffs64(bits);
			if (stage)
				try_spd(f, stage, i);
			else
				try_port_in(f, i);
		}
	}
	f->events += n;
	return n;
}

/**
 * pw_bmx_fast_cycle() - one cycle
 * @f: network
 * @cycle: the cycle; everything before it is done
 *
 * Return: attempts carried out.
 */
u32 pw_bmx_fast_cycle(struct pw_bmx_fast *f, u64 cycle)
{
	if (f->slots & BIT_ULL(cycle & (SLOTS - 1)))
		return unlikely(f->topo) ? pw_bmx_topo_cycle(f, cycle) : run_cycle(f, cycle);
	f->now = cycle;
	return 0;
}

/**
 * pw_bmx_fast_run_until() - run up to a cycle
 * @f: network
 * @cycle: last cycle to run
 */
void pw_bmx_fast_run_until(struct pw_bmx_fast *f, u64 cycle)
{
	u64 at;

	while ((at = pw_bmx_fast_next(f)) <= cycle) {
		if (unlikely(f->topo))
			pw_bmx_topo_cycle(f, at);
		else
			run_cycle(f, at);
	}
	if (f->now < cycle)
		f->now = cycle;
}

static void settle_now(struct pw_bmx_fast *f, struct pw_bmx_fsrc *x, u32 stage, u32 i)
{
	if (x->state == ASLEEP)
		settle(f, x, stage, i, f->now + 1);
}

static u32 stages_qsize(struct pw_bmx_fast *f, u32 ppd, u32 q)
{
	u32 stage = ppd / f->ports, r = ppd % f->ports;
	u32 i = f->base[r] + q, p = f->lane[r], qi = queue_of(f, stage, i, p), j;
	struct pw_bmx_fsrc *x = src_of(f, stage + 1, i);
	struct pw_bmx_fcell *c = &f->cell[qi * f->depth];
	u64 size = 0, now = f->now;

	for (j = 0; j < f->queue[qi].n; j++)
		size += min_t(u64, now - c[(f->queue[qi].head + j) % f->depth].t + 1,
			      PW_BMX_CELL);
	/* the cell taken last may still be partly in the queue */
	if (x->sent && x->last_q == p && now - x->last_c < PW_BMX_CELL)
		size += min_t(u64, now - x->last_t + 1, PW_BMX_CELL) - (now - x->last_c);
	if (x->state == IDLE)
		return size;
	/* less the bytes fetched of a cell whose attempt is pending or was refused just now */
	settle_now(f, x, stage + 1, i);
	if (x->refused && x->last_fail == now && x->rr == p)
		size -= PW_BMX_REFUND;
	else if (x->at - SEL_TO_TRY < now && selected(f, x, stage + 1, i, x->at) == p)
		size -= now - (x->at - SEL_TO_TRY);
	return size;
}

/**
 * pw_bmx_fast_qsize() - bytes in a queue at the end of cycle @f->now
 * @f: network
 * @ppd: rank of the PPD that writes it, 0..3*ports-1 or as in the topology
 * @q: its queue
 *
 * Return: what the size register of the cross-point memory holds.
 */
u32 pw_bmx_fast_qsize(struct pw_bmx_fast *f, u32 ppd, u32 q)
{
	return f->topo ? pw_bmx_topo_qsize(f, ppd, q) : stages_qsize(f, ppd, q);
}

/**
 * pw_bmx_fast_count() - counters of a PPD or output port
 * @f: network
 * @rank: PPD rank, or 3*ports (topology: ranks) + output port
 * @cells: cells it accepted
 * @refused: attempts it refused
 *
 * Both as of the end of cycle @f->now.
 */
void pw_bmx_fast_count(struct pw_bmx_fast *f, u32 rank, u64 *cells, u64 *refused)
{
	u32 stage = rank / f->ports, i = rank % f->ports;
	struct pw_bmx_fsrc *x;

	if (f->topo) {
		pw_bmx_topo_count(f, rank, cells, refused);
		return;
	}
	if (stage == 1 || stage == 2)
		i = f->wire[i];
	x = src_of(f, stage, i);
	settle_now(f, x, stage, i);
	*cells = x->sent;
	*refused = x->refused;
}
