// SPDX-License-Identifier: GPL-2.0
/*
 * Event-driven BMX network of any topology. bmx_fast.c explains the events; it computes links
 * and routes of the three-stage network, which are looked up in the topology here.
 *
 * Sources have the numbers of their order: the input ports, then the outputs as in
 * topo->order. Handling the attempts of a cycle by ascending number gives the order that the
 * engine needs: the writer of a queue is handled before its reader, because the reader sends
 * cells of the writer and therefore has a higher level.
 *
 * Queue of lane p of source x: queue[x * k + p]. A cell carries the VPI for the next input.
 */
#include "bmx_event.h"
#include "bmx_topo.h"

/**
 * pw_bmx_topo_layout() - memory of a network with a topology
 * @a: arena
 * @cfg: sizes and topology
 *
 * Return: the network, or NULL if memory is only counted.
 */
struct pw_bmx_fast *pw_bmx_topo_layout(struct pw_arena *a, const struct pw_bmx_cfg *cfg)
{
	const struct pw_topo *t = cfg->topo;
	u32 k = t->k, n = t->ports + t->norder, depth = pw_bmx_cfg_depth(cfg);
	struct pw_bmx_fast head = {}, *f;

	f = pw_arena_take(a, sizeof(*f));
	head.topo = t;
	head.k = k;
	head.ports = t->ports;
	head.depth = depth;
	head.shift = fls(depth - 1);
	head.mask = BIT(head.shift) - 1;
	head.words = DIV_ROUND_UP(n, 64);
	head.wheel = pw_arena_take(a, sizeof(*head.wheel) * NET_SLOTS * head.words);
	head.src = pw_arena_take(a, sizeof(*head.src) * n);
	head.queue = pw_arena_take(a, sizeof(*head.queue) * n * k);
	head.cell = pw_arena_take(a, (sizeof(*head.cell) * n * k) << head.shift);
	head.offer = pw_arena_take(a, sizeof(*head.offer) * t->ports);
	head.place = pw_arena_take(a, sizeof(*head.place) * max(n, t->ranks));
	head.src_in = pw_arena_take(a, sizeof(*head.src_in) * t->ranks);
	head.src_out = pw_arena_take(a, sizeof(*head.src_out) * t->ranks);
	if (f) {
		memset(f, 0, a->used);
		*f = head;
	}
	return f;
}

/**
 * pw_bmx_topo_init() - links of a network with a topology
 * @f: network, zero except for its layout
 */
void pw_bmx_topo_init(struct pw_bmx_fast *f)
{
	const struct pw_topo *t = f->topo;
	u32 x, out;

	memset(f->src_in, 0xff, sizeof(*f->src_in) * t->ranks);
	memset(f->src_out, 0xff, sizeof(*f->src_out) * t->ranks);
	for (x = 0; x < t->ports; x++) {
		f->place[x].wire = t->in[x];
		f->src_in[t->in[x]] = x;
	}
	for (; x < t->ports + t->norder; x++) {
		out = t->order[x - t->ports];
		f->src_out[out] = x;
		f->place[x].base = out - out % t->k;
		f->place[x].lane = out % t->k;
		f->place[x].wire = t->peer[out];
		if (!pw_topo_is_port(t->peer[out]))
			f->src_in[t->peer[out]] = x;
	}
}

static u32 vpi_of(const struct pw_bmx_fcell *c)
{
	return c->out[0] | c->out[1] << 8;
}

static void set_vpi(struct pw_bmx_fcell *c, u32 vpi)
{
	c->out[0] = vpi;
	c->out[1] = vpi >> 8;
}

/* queues that input @ppd selects for a cell */
static u32 mask_of(const struct pw_bmx_fast *f, u32 ppd, const struct pw_bmx_fcell *c)
{
	const u16 *row = pw_topo_row(f->topo, ppd, vpi_of(c));

	return row ? row[0] : 0;
}

static bool to_port(const struct pw_bmx_fast *f, u32 x)
{
	return f->place[x].wire & PW_TOPO_PORT;
}

/* where source @x sends to, as callbacks name it */
static u32 target_rank(const struct pw_bmx_fast *f, u32 x)
{
	u32 to = f->place[x].wire;

	return to_port(f, x) ? f->topo->ranks + (to & ~PW_TOPO_PORT) : to;
}

static struct pw_bmx_fcell *head_of(struct pw_bmx_fast *f, u32 qi)
{
	return cell_at(f, qi, 0);
}

/* count the attempts of a sleeping source before @cycle, all of which were refused */
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
		f->ops->suspended(f->ctx, target_rank(f, x), n, s->last_fail - PW_BMX_DECIDE);
}

/* wake a sleeping source: its next attempt is in @cycle or later */
static void wake(struct pw_bmx_fast *f, u32 x, u64 cycle)
{
	settle(f, x, cycle);
	schedule(f, &f->src[x], x, f->src[x].at);
}

/* does the input refuse every cell that source @x, which drives it, could send? */
static bool all_blocked(struct pw_bmx_fast *f, u32 x)
{
	u32 ppd = f->place[x].wire, full = f->place[ppd].full, mask;

	if (!full)
		return false;
	if (x < f->ports)
		return full & mask_of(f, ppd, &f->offer[x]);
	for (mask = f->src[x].ne; mask; mask &= mask - 1)
		if (!(full & mask_of(f, ppd, head_of(f, x * f->k + __ffs64(mask)))))
			return false;
	return true;
}

/* cell @c, accepted in cycle f->now, enters queue @q of input @ppd */
static void arrive(struct pw_bmx_fast *f, u32 ppd, u32 q, const struct pw_bmx_fcell *c)
{
	u32 p = ppd % f->k, x = f->src_out[ppd - p + q], qi = x * f->k + p;
	struct pw_bmx_fqueue *queue = &f->queue[qi];
	struct pw_bmx_fsrc *s = &f->src[x];

	if (likely(s->state == IDLE))
		schedule(f, s, x, max(c->t + 1, s->free) + SEL_TO_TRY);
	else if (unlikely(s->state == ASLEEP) && !(s->ne & BIT(p)))
		wake(f, x, f->now);
	*cell_at(f, qi, queue->n) = *c;
	if (unlikely(++queue->n == f->depth))
		f->place[ppd].full |= BIT(q);
	s->ne |= BIT(p);
}

/* call ops->fault for a cell that is accepted; true if the cell is dropped */
static bool ppd_fault(struct pw_bmx_fast *f, u32 ppd, struct pw_bmx_fcell *c)
{
	u32 stage = f->topo->level[ppd];

	switch (f->ops->fault(f->ctx, ppd, f->now - PW_BMX_DECIDE)) {
	case PW_BMX_FAULT_DROP:
		f->dropped[stage]++;
		if (f->ops->dropped)
			f->ops->dropped(f->ctx, ppd, c->cookie,
					f->topo->copies[f->topo->first[ppd] + vpi_of(c)]);
		return true;
	case PW_BMX_FAULT_CORRUPT:
		f->corrupted[stage]++;
		c->flags |= PW_BMX_CELL_CORRUPT;
		return false;
	default:
		return false;
	}
}

/* input @ppd accepts cell @c in cycle f->now */
static void ppd_accept(struct pw_bmx_fast *f, u32 ppd, struct pw_bmx_fcell *c)
{
	const u16 *row = pw_topo_row(f->topo, ppd, vpi_of(c));
	u32 mask, q;

	c->t = f->now;
	if (unlikely(f->ops->hop))
		f->ops->hop(f->ctx, ppd, c->cookie, f->now - PW_BMX_DECIDE);
	if (unlikely(f->ops->fault) && ppd_fault(f, ppd, c))
		return;
	for (mask = row ? row[0] : 0; mask; mask &= mask - 1) {
		q = __ffs64(mask);
		set_vpi(c, row[1 + q]);
		arrive(f, ppd, q, c);
	}
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
		f->ops->suspended(f->ctx, target_rank(f, x), 1, f->now - PW_BMX_DECIDE);
}

static void try_in(struct pw_bmx_fast *f, u32 x)
{
	struct pw_bmx_fsrc *s = &f->src[x];
	struct pw_bmx_fcell c = f->offer[x];

	if (f->place[f->place[x].wire].full & mask_of(f, f->place[x].wire, &c)) {
		refuse(f, x, true);
		if (!(s->offer_flags & PW_BMX_OFFER_ONCE))
			return;
		s->state = IDLE;
		s->free = f->now + NEXT_TRY;
		if (f->ops->refused)
			f->ops->refused(f->ctx, x, c.cookie, f->now - PW_BMX_DECIDE);
		return;
	}
	s->sent++;
	s->state = IDLE;
	s->free = f->now + NEXT_CELL;
	ppd_accept(f, f->place[x].wire, &c);
	if (f->ops->accepted)
		f->ops->accepted(f->ctx, x, c.cookie, f->now - PW_BMX_DECIDE);
}

/* the lane that an output selected SEL_TO_TRY cycles before its attempt in cycle @at */
static u32 selected(struct pw_bmx_fast *f, u32 x, u64 at)
{
	const struct pw_bmx_fsrc *s = &f->src[x];
	u32 p, lane = s->rr;

	if (likely(!(s->ne & (s->ne - 1))))
		return __ffs64(s->ne);
	for (p = 0; p < f->k; p++) {
		lane = next_lane(s->ne, lane);
		if (head_of(f, x * f->k + lane)->t + SEL_TO_TRY < at)
			break;
	}
	return lane;
}

/* queue @q of input @ppd is no longer full: there is room from the next cycle on */
static void room(struct pw_bmx_fast *f, u32 ppd, u32 q)
{
	u32 x = f->src_in[ppd];

	f->place[ppd].full &= ~BIT(q);
	if (f->src[x].state == ASLEEP && !all_blocked(f, x))
		wake(f, x, f->now + 1);
}

static void try_out(struct pw_bmx_fast *f, u32 x)
{
	u32 lane = selected(f, x, f->now), qi = x * f->k + lane, to = f->place[x].wire;
	struct pw_bmx_fcell c = *head_of(f, qi);
	struct pw_bmx_fqueue *q = &f->queue[qi];
	struct pw_bmx_fsrc *s = &f->src[x];
	enum pw_bmx_rx rx;

	s->rr = lane;
	if (!to_port(f, x)) {
		if (f->place[to].full & mask_of(f, to, &c)) {
			refuse(f, x, all_blocked(f, x));
			return;
		}
	} else {
		rx = f->ops->rx(f->ctx, to & ~PW_TOPO_PORT, c.cookie, f->now - PW_BMX_DECIDE,
				c.flags);
		if (rx != PW_BMX_RX_ACCEPT) {
			refuse(f, x, rx == PW_BMX_RX_BLOCK);
			return;
		}
	}
	cell_sent(f, s, q, lane, c.t, f->now);
	if (s->ne) {
		schedule(f, s, x, f->now + PW_BMX_CELL);
	} else {
		s->state = IDLE;
		s->free = s->last_c + PW_BMX_CELL;
	}
	if (unlikely(q->n == f->depth - 1))
		room(f, f->place[x].base + lane, f->place[x].lane);
	if (!to_port(f, x))
		ppd_accept(f, to, &c);
}

/**
 * pw_bmx_topo_offer() - as pw_bmx_fast_offer()
 * @f: network
 * @port: input port
 * @t: cycle with byte 0 on the link
 * @vpi: paths * destination + path; destination: station, all (ports) or a connection of the
 *	port, see pw_topo_conn_dest()
 * @cookie: identifies the cell in the callbacks
 * @flags: PW_BMX_OFFER_ONCE or 0
 *
 * Return: 0, -EINVAL, -EBUSY or -ERANGE.
 */
int pw_bmx_topo_offer(struct pw_bmx_fast *f, u32 port, u64 t, u32 vpi, u32 cookie, u32 flags)
{
	struct pw_bmx_fcell *c;
	struct pw_bmx_fsrc *s;

	if (port >= f->ports || !pw_topo_row(f->topo, f->topo->in[port], vpi))
		return -EINVAL;
	s = &f->src[port];
	c = &f->offer[port];
	if (s->state != IDLE || t < s->free)
		return -EBUSY;
	if (t + PW_BMX_DECIDE <= f->now || t + PW_BMX_DECIDE > f->now + PW_BMX_HORIZON)
		return -ERANGE;
	c->cookie = cookie;
	c->flags = 0;
	set_vpi(c, vpi);
	s->offer_flags = flags;
	schedule(f, s, port, t + PW_BMX_DECIDE);
	return 0;
}

/**
 * pw_bmx_topo_wake() - as pw_bmx_fast_wake()
 * @f: network
 * @port: output port
 * @cycle: ops->rx is called again for attempts from this cycle on
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int pw_bmx_topo_wake(struct pw_bmx_fast *f, u32 port, u64 cycle)
{
	u32 x;

	if (port >= f->ports)
		return -EINVAL;
	if (cycle <= f->now || cycle > f->now + WAKE_AHEAD)
		return -ERANGE;
	x = f->src_out[f->topo->out[port]];
	if (f->src[x].state == ASLEEP)
		wake(f, x, cycle);
	return 0;
}

/**
 * pw_bmx_topo_cycle() - one cycle with attempts
 * @f: network
 * @cycle: the cycle
 *
 * Return: attempts carried out.
 */
u32 pw_bmx_topo_cycle(struct pw_bmx_fast *f, u64 cycle)
{
	u32 n = 0, first, x;
	u64 *word;

	f->now = cycle;
	f->slots &= ~BIT_ULL(cycle % NET_SLOTS);
	/* a writer may wake its reader, which has a higher number, in the cycle that is run */
	for (first = 0; first < f->words * 64; first += 64) {
		word = wheel_word(f, first, cycle);
		for (; *word; n++) {
			x = first + __ffs64(*word);
			*word &= *word - 1;
			if (x < f->ports)
				try_in(f, x);
			else
				try_out(f, x);
		}
	}
	f->events += n;
	return n;
}

static void settle_now(struct pw_bmx_fast *f, u32 x)
{
	if (f->src[x].state == ASLEEP)
		settle(f, x, f->now + 1);
}

/**
 * pw_bmx_topo_qsize() - bytes in a queue at the end of cycle @f->now
 * @f: network
 * @ppd: rank of the input that writes it
 * @q: its queue
 *
 * Return: what the size register of the cross-point memory holds.
 */
u32 pw_bmx_topo_qsize(struct pw_bmx_fast *f, u32 ppd, u32 q)
{
	u32 p = ppd % f->k, x = f->src_out[ppd - p + q], qi, j, size = 0;
	struct pw_bmx_fsrc *s;
	u64 now = f->now;

	if (x == PW_TOPO_NONE)
		return 0;
	qi = x * f->k + p;
	s = &f->src[x];
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
	else if (s->at - SEL_TO_TRY < now && selected(f, x, s->at) == p)
		size -= now - (s->at - SEL_TO_TRY);
	return size;
}

/**
 * pw_bmx_topo_count() - counters of an input or output port
 * @f: network
 * @rank: rank of the input, or ranks + output port
 * @cells: cells it accepted
 * @refused: attempts it refused
 */
void pw_bmx_topo_count(struct pw_bmx_fast *f, u32 rank, u64 *cells, u64 *refused)
{
	const struct pw_topo *t = f->topo;
	u32 x = rank < t->ranks ? f->src_in[rank] : f->src_out[t->out[rank - t->ranks]];

	*cells = 0;
	*refused = 0;
	if (x == PW_TOPO_NONE)
		return;
	settle_now(f, x);
	*cells = f->src[x].sent;
	*refused = f->src[x].refused;
}
