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

/*
 * Sources have the numbers of their order: input ports, SPDs of the first, middle and last
 * stage. PPDs have their ranks. Both have ports * stage + place in the stage, and the wiring
 * between two stages is its own inverse: wire[] leads from a source to the PPD that it
 * drives, and from a PPD to that source. Source x of the last stage sends to a port: wire[x]
 * is x, its number in callbacks.
 */
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
	head.words = DIV_ROUND_UP(n * ALL_STAGES, 64);
	head.wheel = pw_arena_take(a, sizeof(*head.wheel) * SLOTS * head.words);
	head.src = pw_arena_take(a, sizeof(*head.src) * ALL_STAGES * n);
	head.queue = pw_arena_take(a, sizeof(*head.queue) * PW_BMX_STAGES * n * k);
	head.cell = pw_arena_take(a, sizeof(*head.cell) * PW_BMX_STAGES * n * k * depth);
	head.offer = pw_arena_take(a, sizeof(*head.offer) * n);
	head.full = pw_arena_take(a, sizeof(*head.full) * PW_BMX_STAGES * n);
	head.wire = pw_arena_take(a, sizeof(*head.wire) * ALL_STAGES * n);
	head.base = pw_arena_take(a, sizeof(*head.base) * PW_BMX_STAGES * n);
	head.lane = pw_arena_take(a, sizeof(*head.lane) * ALL_STAGES * n);
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
	u32 n, x, stage;

	f = layout(&a, cfg);
	f->ops = ops;
	f->ctx = ctx;
	if (f->topo) {
		pw_bmx_topo_init(f);
		return f;
	}
	n = f->ports;
	for (x = 0; x < ALL_STAGES * n; x++) {
		stage = x / n;
		f->src[x].stage = stage;
		f->lane[x] = x % n % f->k;
		f->wire[x] = x;
		if (stage == PW_BMX_STAGES)
			continue;
		f->base[x] = x + n - f->lane[x];
		if (stage)
			f->wire[x] = stage * n + pw_bmx_wire(f->k, x % n);
	}
	return f;
}

/* queue of lane @p of SPD @x */
static inline u32 queue_of(const struct pw_bmx_fast *f, u32 x, u32 p)
{
	return (x - f->ports) * f->k + p;
}

static inline struct pw_bmx_fcell *head_of(struct pw_bmx_fast *f, u32 qi)
{
	return &f->cell[qi * f->depth + f->queue[qi].head];
}

static inline u16 out_mask(const struct pw_bmx_fast *f, u8 out)
{
	return likely(out != PW_BMX_OUT_ALL) ? BIT(out) : BIT(f->k) - 1;
}

static inline void schedule(struct pw_bmx_fast *f, struct pw_bmx_fsrc *s, u32 x, u64 at)
{
	u32 slot = at & (SLOTS - 1);

	s->at = at;
	s->state = PENDING;
	f->wheel[slot * f->words + x / 64] |= BIT_ULL(x % 64);
	f->slots |= BIT_ULL(slot);
}

/* count the attempts of sleeping source @x before @cycle, all of which were refused */
static void settle(struct pw_bmx_fast *f, u32 x, u64 cycle)
{
	struct pw_bmx_fsrc *s = &f->src[x];
	u32 left;
	u64 n;

	if (s->at >= cycle)
		return;
	n = div_u64(cycle - s->at + RETRY - 1, RETRY);
	s->at += n * RETRY;
	s->refused += n;
	s->last_fail = s->at - RETRY;
	if (s->stage) {
		div_u64_rem(n, hweight32(s->ne), &left);
		while (left--)
			s->rr = next_lane(s->ne, s->rr);
	}
	if (f->ops->suspended)
		f->ops->suspended(f->ctx, f->wire[x], n, s->last_fail - PW_BMX_DECIDE);
}

/* wake a sleeping source: its next attempt is in @cycle or later */
static void wake(struct pw_bmx_fast *f, u32 x, u64 cycle)
{
	settle(f, x, cycle);
	schedule(f, &f->src[x], x, f->src[x].at);
}

/* does the PPD refuse every cell that source @x could send? */
static bool all_blocked(struct pw_bmx_fast *f, u32 x)
{
	const struct pw_bmx_fsrc *s = &f->src[x];
	u16 full = f->full[f->wire[x]];
	u32 mask, q0;

	if (!full)
		return false;
	if (!s->stage)
		return full & out_mask(f, f->offer[x].out[0]);
	q0 = queue_of(f, x, 0);
	for (mask = s->ne; mask; mask &= mask - 1)
		if (!(full & out_mask(f, head_of(f, q0 + __ffs64(mask))->out[s->stage])))
			return false;
	return true;
}

/* cell @c, accepted by PPD @ppd in cycle f->now, enters its queue @q */
static __always_inline void arrive(struct pw_bmx_fast *f, u32 ppd, u32 q,
				   const struct pw_bmx_fcell *c)
{
	u32 x = f->base[ppd] + q, p = f->lane[ppd], qi = queue_of(f, x, p), pos;
	struct pw_bmx_fqueue *queue = &f->queue[qi];
	struct pw_bmx_fsrc *s = &f->src[x];

	if (likely(s->state == IDLE))
		schedule(f, s, x, max(c->t + 1, s->free) + SEL_TO_TRY);
	else if (unlikely(s->state == ASLEEP) && !(s->ne & BIT(p)))
		wake(f, x, f->now);
	pos = queue->head + queue->n;
	if (pos >= f->depth)
		pos -= f->depth;
	f->cell[qi * f->depth + pos] = *c;
	if (unlikely(++queue->n == f->depth))
		f->full[ppd] |= BIT(q);
	s->ne |= BIT(p);
}

static noinline void arrive_all(struct pw_bmx_fast *f, u32 ppd, const struct pw_bmx_fcell *c)
{
	u32 q;

	for (q = 0; q < f->k; q++)
		arrive(f, ppd, q, c);
}

/* call ops->fault for a cell that is accepted; true if the cell is dropped */
static bool ppd_fault(struct pw_bmx_fast *f, u32 ppd, struct pw_bmx_fcell *c)
{
	u32 stage = f->src[ppd].stage, copies;

	switch (f->ops->fault(f->ctx, ppd, f->now - PW_BMX_DECIDE)) {
	case PW_BMX_FAULT_DROP:
		f->dropped[stage]++;
		/* a broadcast branches in the middle and in the last stage */
		copies = c->out[2] != PW_BMX_OUT_ALL ? 1 : stage == 2 ? f->k : f->ports;
		if (f->ops->dropped)
			f->ops->dropped(f->ctx, ppd, c->cookie, copies);
		return true;
	case PW_BMX_FAULT_CORRUPT:
		f->corrupted[stage]++;
		c->flags |= PW_BMX_CELL_CORRUPT;
		return false;
	default:
		return false;
	}
}

/* @ppd accepts cell @c, which leaves it by output @out, in cycle f->now */
static __always_inline void ppd_accept(struct pw_bmx_fast *f, u32 ppd, u8 out,
				       struct pw_bmx_fcell *c)
{
	c->t = f->now;
	if (unlikely(f->ops->hop))
		f->ops->hop(f->ctx, ppd, c->cookie, f->now - PW_BMX_DECIDE);
	if (unlikely(f->ops->fault) && ppd_fault(f, ppd, c))
		return;
	if (likely(out != PW_BMX_OUT_ALL))
		arrive(f, ppd, out, c);
	else
		arrive_all(f, ppd, c);
}

/* queue @q of @ppd is no longer full: there is room from the next cycle on */
static void room(struct pw_bmx_fast *f, u32 ppd, u32 q)
{
	u32 x = f->wire[ppd];

	f->full[ppd] &= ~BIT(q);
	if (f->src[x].state == ASLEEP && !all_blocked(f, x))
		wake(f, x, f->now + 1);
}

static void refuse(struct pw_bmx_fast *f, u32 x, bool asleep)
{
	struct pw_bmx_fsrc *s = &f->src[x];

	s->refused++;
	s->last_fail = f->now;
	if (asleep) {
		s->at = f->now + RETRY;
		s->state = ASLEEP;
	} else {
		schedule(f, s, x, f->now + RETRY);
	}
	if (f->ops->suspended)
		f->ops->suspended(f->ctx, f->wire[x], 1, f->now - PW_BMX_DECIDE);
}

static void refuse_offer(struct pw_bmx_fast *f, u32 x)
{
	struct pw_bmx_fsrc *s = &f->src[x];

	refuse(f, x, true);
	if (!(s->offer_flags & PW_BMX_OFFER_ONCE))
		return;
	s->state = IDLE;
	s->free = f->now + NEXT_TRY;
	if (f->ops->refused)
		f->ops->refused(f->ctx, x, f->offer[x].cookie, f->now - PW_BMX_DECIDE);
}

static inline void try_port_in(struct pw_bmx_fast *f, u32 x)
{
	struct pw_bmx_fsrc *s = &f->src[x];
	struct pw_bmx_fcell *c = &f->offer[x];

	if (unlikely(f->full[x] & out_mask(f, c->out[0]))) {
		refuse_offer(f, x);
		return;
	}
	s->sent++;
	s->state = IDLE;
	s->free = f->now + NEXT_CELL;
	ppd_accept(f, x, c->out[0], c);
	if (f->ops->accepted)
		f->ops->accepted(f->ctx, x, c->cookie, f->now - PW_BMX_DECIDE);
}

/* the lane that an SPD selected SEL_TO_TRY cycles before its attempt in cycle @at */
static inline u32 selected(struct pw_bmx_fast *f, const struct pw_bmx_fsrc *s, u32 x, u64 at)
{
	u32 q0, p, lane = s->rr;

	/* only one lane has cells */
	if (likely(!(s->ne & (s->ne - 1))))
		return __ffs64(s->ne);
	q0 = queue_of(f, x, 0);
	for (p = 0; p < f->k; p++) {
		lane = next_lane(s->ne, lane);
		if (head_of(f, q0 + lane)->t + SEL_TO_TRY < at)
			break;
	}
	return lane;
}

static inline void try_spd(struct pw_bmx_fast *f, u32 x)
{
	struct pw_bmx_fsrc *s = &f->src[x];
	u32 lane = selected(f, s, x, f->now), qi = queue_of(f, x, lane), to = f->wire[x];
	struct pw_bmx_fqueue *q = &f->queue[qi];
	struct pw_bmx_fcell *c = head_of(f, qi);
	bool last = s->stage == PW_BMX_STAGES;
	enum pw_bmx_rx rx;
	u8 out = 0;

	s->rr = lane;
	if (!last) {
		out = c->out[s->stage];
		if (unlikely(f->full[to] & out_mask(f, out))) {
			refuse(f, x, all_blocked(f, x));
			return;
		}
	} else {
		rx = f->ops->rx(f->ctx, x - PW_BMX_STAGES * f->ports, c->cookie,
				f->now - PW_BMX_DECIDE, c->flags);
		if (rx != PW_BMX_RX_ACCEPT) {
			refuse(f, x, rx == PW_BMX_RX_BLOCK);
			return;
		}
	}
	cell_sent(f, s, q, lane, c->t);
	if (s->ne) {
		schedule(f, s, x, f->now + PW_BMX_CELL);
	} else {
		s->state = IDLE;
		s->free = s->last_c + PW_BMX_CELL;
	}
	if (unlikely(q->n == f->depth - 1))
		room(f, x - f->ports - f->lane[x] + lane, f->lane[x]);
	/* the place of the cell is free, but nothing has been written to it */
	if (!last)
		ppd_accept(f, to, out, c);
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
	x = &f->src[port];
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
	schedule(f, x, port, t + PW_BMX_DECIDE);
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
	u32 x;

	if (unlikely(f->topo))
		return pw_bmx_topo_wake(f, port, cycle);
	if (port >= f->ports)
		return -EINVAL;
	if (cycle <= f->now || cycle > f->now + WAKE_AHEAD)
		return -ERANGE;
	x = PW_BMX_STAGES * f->ports + port;
	if (f->src[x].state == ASLEEP)
		wake(f, x, cycle);
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

/* @words: f->words */
static __always_inline u32 run_words(struct pw_bmx_fast *f, u32 slot, u32 words)
{
	u64 *word = &f->wheel[slot * words], bits;
	u32 n = 0, w, x;

	/* by ascending stage: a cell that arrives may wake an SPD later in this cycle */
	for (w = 0; w < words; w++) {
		for (; (bits = word[w]); n++) {
			word[w] = bits & (bits - 1);
			x = w * 64 + __ffs64(bits);
			if (x >= f->ports)
				try_spd(f, x);
			else
				try_port_in(f, x);
		}
	}
	f->slots &= ~BIT_ULL(slot);
	f->events += n;
	return n;
}

static u32 run_cycle(struct pw_bmx_fast *f, u64 cycle)
{
	u32 slot = cycle & (SLOTS - 1);

	f->now = cycle;
	return f->words == 1 ? run_words(f, slot, 1) : run_words(f, slot, f->words);
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

static void settle_now(struct pw_bmx_fast *f, u32 x)
{
	if (f->src[x].state == ASLEEP)
		settle(f, x, f->now + 1);
}

static u32 stages_qsize(struct pw_bmx_fast *f, u32 ppd, u32 q)
{
	u32 x = f->base[ppd] + q, p = f->lane[ppd], qi = queue_of(f, x, p), j;
	struct pw_bmx_fcell *c = &f->cell[qi * f->depth];
	struct pw_bmx_fsrc *s = &f->src[x];
	u64 size = 0, now = f->now;

	for (j = 0; j < f->queue[qi].n; j++)
		size += min_t(u64, now - c[(f->queue[qi].head + j) % f->depth].t + 1,
			      PW_BMX_CELL);
	/* the cell taken last may still be partly in the queue */
	if (s->sent && s->last_q == p && now - s->last_c < PW_BMX_CELL)
		size += min_t(u64, now - s->last_t + 1, PW_BMX_CELL) - (now - s->last_c);
	if (s->state == IDLE)
		return size;
	/* less the bytes fetched of a cell whose attempt is pending or was refused just now */
	settle_now(f, x);
	if (s->refused && s->last_fail == now && s->rr == p)
		size -= PW_BMX_REFUND;
	else if (s->at - SEL_TO_TRY < now && selected(f, s, x, s->at) == p)
		size -= now - (s->at - SEL_TO_TRY);
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
	u32 x;

	if (f->topo) {
		pw_bmx_topo_count(f, rank, cells, refused);
		return;
	}
	x = f->wire[rank];
	settle_now(f, x);
	*cells = f->src[x].sent;
	*refused = f->src[x].refused;
}
