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
 * between two stages is its own inverse: place[].wire leads from a source to the PPD that it
 * drives, and from a PPD to that source. Source x of the last stage sends to a port: its wire
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
	head.shift = fls(depth - 1);
	head.mask = BIT(head.shift) - 1;
	head.words = DIV_ROUND_UP(n * ALL_STAGES, 64);
	head.wheel = pw_arena_take(a, sizeof(*head.wheel) * NET_SLOTS * head.words);
	head.src = pw_arena_take(a, sizeof(*head.src) * ALL_STAGES * n);
	head.queue = pw_arena_take(a, sizeof(*head.queue) * PW_BMX_STAGES * n * k);
	head.cell = pw_arena_take(a, (sizeof(*head.cell) * PW_BMX_STAGES * n * k) << head.shift);
	head.offer = pw_arena_take(a, sizeof(*head.offer) * n);
	head.place = pw_arena_take(a, sizeof(*head.place) * ALL_STAGES * n);
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
		if (stage)
			f->src[x].q0 = (x - n) * f->k;
		f->place[x].lane = x % n % f->k;
		f->place[x].wire = x;
		if (stage == PW_BMX_STAGES)
			continue;
		f->place[x].base = x + n - f->place[x].lane;
		if (stage)
			f->place[x].wire = stage * n + pw_bmx_wire(f->k, x % n);
	}
	return f;
}

static inline struct pw_bmx_fcell *head_of(const struct pw_bmx_fast *f, u32 qi)
{
	return cell_at(f, qi, 0);
}

static inline u32 out_mask(const struct pw_bmx_fast *f, u8 out)
{
	return likely(out != PW_BMX_OUT_ALL) ? 1U << out : (1U << f->k) - 1;
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
	if (x >= f->ports) {
		div_u64_rem(n, hweight32(s->ne), &left);
		while (left--)
			s->rr = next_lane(s->ne, s->rr);
	}
	if (f->ops->suspended)
		f->ops->suspended(f->ctx, f->place[x].wire, n, s->last_fail - PW_BMX_DECIDE);
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
	u16 full = f->place[f->place[x].wire].full;
	u32 mask, stage = x / f->ports;

	if (!full)
		return false;
	if (!stage)
		return full & out_mask(f, f->offer[x].out[0]);
	for (mask = s->ne; mask; mask &= mask - 1)
		if (!(full & out_mask(f, head_of(f, s->q0 + __ffs64(mask))->out[stage])))
			return false;
	return true;
}

/* cell @c, accepted by PPD @ppd in cycle @now, enters its queue @q */
static __always_inline void arrive(struct pw_bmx_fast *f, u32 ppd, u32 q,
				   const struct pw_bmx_fcell *c, u64 now)
{
	struct pw_bmx_fplace *place = &f->place[ppd];
	u32 x = place->base + q, p = place->lane, qi;
	struct pw_bmx_fsrc *s = &f->src[x];
	struct pw_bmx_fcell *to;

	if (likely(s->state == IDLE))
		schedule(f, s, x, max(now + 1, s->free) + SEL_TO_TRY);
	else if (unlikely(s->state == ASLEEP) && !(s->ne & BIT(p)))
		wake(f, x, now);
	qi = s->q0 + p;
	to = cell_at(f, qi, f->queue[qi].n);
	*to = *c;
	to->t = now;
	if (unlikely(++f->queue[qi].n == f->depth))
		place->full |= 1U << q;
	s->ne |= 1U << p;
}

static noinline void arrive_all(struct pw_bmx_fast *f, u32 ppd, const struct pw_bmx_fcell *c)
{
	u32 q;

	for (q = 0; q < f->k; q++)
		arrive(f, ppd, q, c, f->now);
}

/* tell the owner of a cell that is accepted, if it asks; true if a fault drops the cell */
static noinline bool ppd_watch(struct pw_bmx_fast *f, u32 ppd, struct pw_bmx_fcell *c)
{
	u32 stage = ppd / f->ports, copies;

	if (f->ops->hop)
		f->ops->hop(f->ctx, ppd, c->cookie, f->now - PW_BMX_DECIDE);
	if (!f->ops->fault)
		return false;
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

/* @ppd accepts cell @c, which leaves it by output @out, in cycle @now */
static __always_inline void ppd_accept(struct pw_bmx_fast *f, u32 ppd, u8 out,
				       struct pw_bmx_fcell *c, u64 now)
{
	if (unlikely(f->ops->hop || f->ops->fault) && ppd_watch(f, ppd, c))
		return;
	if (likely(out != PW_BMX_OUT_ALL))
		arrive(f, ppd, out, c, now);
	else
		arrive_all(f, ppd, c);
}

/* queue @q of @ppd is no longer full: there is room from the next cycle on */
static noinline void room(struct pw_bmx_fast *f, u32 ppd, u32 q)
{
	u32 x = f->place[ppd].wire;

	f->place[ppd].full &= ~BIT(q);
	if (f->src[x].state == ASLEEP && !all_blocked(f, x))
		wake(f, x, f->now + 1);
}

static noinline void refuse(struct pw_bmx_fast *f, u32 x, bool asleep)
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
		f->ops->suspended(f->ctx, f->place[x].wire, 1, f->now - PW_BMX_DECIDE);
}

static noinline void refuse_offer(struct pw_bmx_fast *f, u32 x)
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

static noinline void try_port_in(struct pw_bmx_fast *f, u32 x, u64 now)
{
	struct pw_bmx_fsrc *s = &f->src[x];
	struct pw_bmx_fcell *c = &f->offer[x];

	if (unlikely(f->place[x].full & out_mask(f, c->out[0]))) {
		refuse_offer(f, x);
		return;
	}
	s->sent++;
	s->state = IDLE;
	s->free = now + NEXT_CELL;
	ppd_accept(f, x, c->out[0], c, now);
	if (f->ops->accepted)
		f->ops->accepted(f->ctx, x, c->cookie, now - PW_BMX_DECIDE);
}

static noinline u32 selected_of(const struct pw_bmx_fast *f, const struct pw_bmx_fsrc *s, u64 at)
{
	u32 p, lane = s->rr;

	for (p = 0; p < f->k; p++) {
		lane = next_lane(s->ne, lane);
		if (head_of(f, s->q0 + lane)->t + SEL_TO_TRY < at)
			break;
	}
	return lane;
}

/* the lane that an SPD selected SEL_TO_TRY cycles before its attempt in cycle @at */
static inline u32 selected(const struct pw_bmx_fast *f, const struct pw_bmx_fsrc *s, u64 at)
{
	u32 ne = s->ne;

	/* only one lane has cells */
	return likely(!(ne & (ne - 1))) ? __ffs64(ne) : selected_of(f, s, at);
}

/* the first cell of lane @lane of SPD @x, which came in cycle @t, was accepted downstream */
static __always_inline void spd_sent(struct pw_bmx_fast *f, struct pw_bmx_fsrc *s, u32 x,
				     u32 lane, u64 t, u64 now)
{
	struct pw_bmx_fqueue *q = &f->queue[s->q0 + lane];

	cell_sent(f, s, q, lane, t, now);
	if (s->ne) {
		schedule(f, s, x, now + PW_BMX_CELL);
	} else {
		s->state = IDLE;
		s->free = now - SEL_TO_TRY + PW_BMX_CELL;
	}
	if (unlikely(q->n == f->depth - 1))
		room(f, x - f->ports - f->place[x].lane + lane, f->place[x].lane);
}

/* attempt of an SPD that drives a PPD of stage @stage */
static noinline void try_spd(struct pw_bmx_fast *f, u32 x, u32 stage, u64 now)
{
	struct pw_bmx_fsrc *s = &f->src[x];
	u32 lane = selected(f, s, now), qi = s->q0 + lane, to = f->place[x].wire;
	struct pw_bmx_fcell *c = head_of(f, qi);
	u8 out = c->out[stage];

	s->rr = lane;
	if (unlikely(f->place[to].full & out_mask(f, out))) {
		refuse(f, x, all_blocked(f, x));
		return;
	}
	spd_sent(f, s, x, lane, c->t, now);
	/* the place of the cell is free, but nothing has been written to it */
	ppd_accept(f, to, out, c, now);
}

/* attempt of an SPD of the last stage, which sends to a port */
static noinline void try_port_out(struct pw_bmx_fast *f, u32 x, u64 now)
{
	struct pw_bmx_fsrc *s = &f->src[x];
	u32 lane = selected(f, s, now);
	struct pw_bmx_fcell *c = head_of(f, s->q0 + lane);
	enum pw_bmx_rx rx;

	s->rr = lane;
	rx = f->ops->rx(f->ctx, x - PW_BMX_STAGES * f->ports, c->cookie, now - PW_BMX_DECIDE,
			c->flags);
	if (unlikely(rx != PW_BMX_RX_ACCEPT)) {
		refuse(f, x, rx == PW_BMX_RX_BLOCK);
		return;
	}
	spd_sent(f, s, x, lane, c->t, now);
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
	u32 r = (f->now + 1) & (NET_SLOTS - 1);
	u64 rot;

	if (!f->slots)
		return PW_BMX_NEVER;
	rot = r ? f->slots >> r | f->slots << (NET_SLOTS - r) : f->slots;
	return f->now + 1 + __ffs64(rot);
}

/**
 * pw_bmx_fast_attempts() - one cycle with attempts
 * @f: network
 * @cycle: the cycle; its slot in the wheel is not empty, and everything before it is done
 *
 * Return: attempts carried out.
 */
u32 pw_bmx_fast_attempts(struct pw_bmx_fast *f, u64 cycle)
{
	u64 *word = wheel_word(f, 0, cycle), bits;
	u32 ports = f->ports, n = 0, first = 0, x;

	if (unlikely(f->topo))
		return pw_bmx_topo_cycle(f, cycle);
	f->now = cycle;
	/* by ascending stage: a cell that arrives may wake an SPD later in this cycle */
	do {
		for (; (bits = *word); n++) {
			*word = bits & (bits - 1);
			x = first + __ffs64(bits);
			if (x < ports)
				try_port_in(f, x, cycle);
			else if (x < 2 * ports)
				try_spd(f, x, PW_BMX_MIDDLE, cycle);
			else if (x < PW_BMX_STAGES * ports)
				try_spd(f, x, PW_BMX_LAST, cycle);
			else
				try_port_out(f, x, cycle);
		}
		first += 64;
		word += NET_SLOTS;
	} while (unlikely(first < 64 * f->words));
	f->slots &= ~(1ULL << cycle % NET_SLOTS);
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
	if (f->slots & BIT_ULL(cycle % NET_SLOTS))
		return pw_bmx_fast_attempts(f, cycle);
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

	while ((at = pw_bmx_fast_next(f)) <= cycle)
		pw_bmx_fast_attempts(f, at);
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
	u32 x = f->place[ppd].base + q, p = f->place[ppd].lane, qi, j;
	struct pw_bmx_fsrc *s = &f->src[x];
	u64 size = 0, now = f->now;

	qi = s->q0 + p;
	for (j = 0; j < f->queue[qi].n; j++)
		size += min_t(u64, now - cell_at(f, qi, j)->t + 1, PW_BMX_CELL);
	/* the cell taken last may still be partly in the queue */
	if (s->sent && s->last_q == p && now - s->last_c < PW_BMX_CELL)
		size += min_t(u64, now - s->last_t + 1, PW_BMX_CELL) - (now - s->last_c);
	if (s->state == IDLE)
		return size;
	/* less the bytes fetched of a cell whose attempt is pending or was refused just now */
	settle_now(f, x);
	if (s->refused && s->last_fail == now && s->rr == p)
		size -= PW_BMX_REFUND;
	else if (s->at - SEL_TO_TRY < now && selected(f, s, s->at) == p)
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
	x = f->place[rank].wire;
	settle_now(f, x);
	*cells = f->src[x].sent;
	*refused = f->src[x].refused;
}
