// SPDX-License-Identifier: GPL-2.0
/* Whole BMX fabric by events: a cell is a handle, and an AAL unit runs when it has an event. */
#include "aal_ctl.h"
#include "fabric_priv.h"

/* ---- tap: cells as bytes ---- */

/* data of a cell; none if its message has ended */
static u32 cell_data(struct pw_fabric *f, const struct pw_aal_cell *c, u8 *data)
{
	struct fmsg *m = c->type == PW_CELL_T_DATA ? pw_fabric_find(f, c->id) : NULL;
	u32 hdr[PW_AAL_HDR_WORDS], i, off, n;

	if (!m)
		return 0;
	i = (u16)(c->sqn - m->sqn);
	off = i * PW_CELL_DATA_LEN;
	n = PW_CELL_DATA_LEN;
	if (!i) {
		pw_fabric_message_header(f, m, hdr);
		for (i = 0; i < PW_AAL_HDR_WORDS; i++)
			put_unaligned_be32(hdr[i], data + 4 * i);
		data += PW_CELL_MSG_HDR;
		n -= PW_CELL_MSG_HDR;
	} else {
		off -= PW_CELL_MSG_HDR;
	}
	if (off < m->len)
		pw_fabric_message_bytes(f, m, off, data, min(n, m->len - off));
	return PW_CELL_DATA_LEN;
}

/* VPI of a cell on the link into @unit of a topology: search from the sender on */
static u32 topo_vpi(const struct pw_topo *t, const struct fcell *cell, u32 unit)
{
	u16 at[PW_TOPO_LEVELS], vpi[PW_TOPO_LEVELS], left[PW_TOPO_LEVELS];
	u32 n = 0, x = t->in[cell->c.src], v = cell->vpi, o, to;

	for (;;) {
		if (x == unit)
			return v;
		at[n] = x;
		vpi[n] = v;
		left[n++] = *pw_topo_row(t, x, v);
		do {
			while (n && !left[n - 1])
				n--;
			if (!n)
				return 0;
			o = __ffs64(left[n - 1]);
			left[n - 1] &= left[n - 1] - 1;
			to = t->peer[at[n - 1] - at[n - 1] % t->k + o];
		} while (pw_topo_is_port(to));
		v = pw_topo_row(t, at[n - 1], vpi[n - 1])[1 + o];
		x = to;
	}
}

/* VPI of a cell on the link into @unit; see fill_tables() of bmx_net.c */
static u32 cell_vpi(const struct pw_fabric *f, const struct fcell *cell, u32 unit)
{
	u32 k = f->p.k, s = cell->c.src;
	bool all = cell->c.dst == PW_CELL_DST_ALL;

	if (f->p.topo)
		return unit < f->ranks ? topo_vpi(f->p.topo, cell, unit) : 0;
	switch (unit / f->ports) {
	case PW_BMX_FIRST:
		return cell->vpi;
	case PW_BMX_MIDDLE:
		return (f->ports + 1) * (s % k) + (all ? f->ports : cell->c.dst);
	case PW_BMX_LAST:
		return (k + 1) * s + (all ? k : cell->c.dst % k);
	default:
		return 0;
	}
}

static void tap_cell(struct pw_fabric *f, u32 i, u32 unit, u64 cycle, bool lost)
{
	const struct fcell *cell = &f->cell[i];
	struct pw_cell_hdr h = {
		.vpi = cell_vpi(f, cell, unit),
		.type = cell->c.type,
		.flag = cell->c.flag,
		.sqn = cell->c.sqn,
		.src = cell->c.src,
		.dst = cell->c.dst,
	};
	u8 data[PW_CELL_DATA_LEN] = {};
	u8 bytes[PW_BMX_CELL];
	u32 s, end;

	pw_cell_build(bytes, &h, f->port[0].u->cfg.shift, data, cell_data(f, &cell->c, data));
	end = unit < f->ranks ? pw_fabric_stage_of(f, unit) : pw_fabric_stages(&f->p);
	for (s = 0; s < end; s++)
		if (cell->damage & BIT(s))
			bytes[PW_BMX_FLIP(s)] ^= 1;
	f->ops->cell(f->ctx, unit, cycle, lost, bytes);
}

/* ---- AAL units by next event ---- */

static void forget(struct pw_fabric *f, u32 port)
{
	struct fport *p = &f->port[port];
	u32 slot = p->next % SLOTS, i;
	u64 *w, any;

	if (p->noted == IN_WHEEL) {
		w = &f->slot[slot * f->words];
		w[port / 64] &= ~BIT_ULL(port % 64);
		for (i = 1, any = w[0]; unlikely(i < f->words); i++)
			any |= w[i];
		if (!any)
			f->slots &= ~BIT_ULL(slot);
	} else if (p->noted == FAR_AWAY) {
		map_clear(f->far, port);
	}
}

/* enter an AAL unit that is not entered; @words: f->words, where that is 1 the caller says so */
static __always_inline void note(struct pw_fabric *f, struct fport *p, u32 port, u64 now, u64 next,
				 u32 words)
{
	u32 slot = next % SLOTS;

	p->next = next;
	if (likely(next - now < SLOTS)) {
		f->slot[words == 1 ? slot : slot * words + port / 64] |= 1ULL << port % 64;
		f->slots |= 1ULL << slot;
		p->noted = IN_WHEEL;
		return;
	}
	p->noted = NOT_NOTED;
	if (next != NEVER) {
		map_set(f->far, port);
		f->far_next = min(f->far_next, next);
		p->noted = FAR_AWAY;
	}
}

/* the AAL unit of @port has an event in cycle @at, and none before but that it has already */
static void note_also(struct pw_fabric *f, u32 port, u64 at)
{
	struct fport *p = &f->port[port];

	if (at >= p->next)
		return;
	forget(f, port);
	note(f, p, port, f->now, at, f->words);
}

/* the next event of the AAL unit of @port may have changed */
static void replan(struct pw_fabric *f, u32 port)
{
	struct fport *p = &f->port[port];
	u64 next = pw_aal_fast_next(p->u);

	if (next == p->next)
		return;
	forget(f, port);
	note(f, p, port, f->now, next, f->words);
}

/* move the AAL units whose next event has come near to the wheel */
static noinline void far_scan(struct pw_fabric *f)
{
	u32 w, bits, port;
	struct fport *p;

	f->far_next = NEVER;
	for (w = 0; w < DIV_ROUND_UP(f->ports, 32); w++) {
		for (bits = f->far[w]; bits; bits &= bits - 1) {
			port = 32 * w + fls(bits & -bits) - 1;
			p = &f->port[port];
			if (p->next - f->now >= SLOTS) {
				f->far_next = min(f->far_next, p->next);
				continue;
			}
			map_clear(f->far, port);
			note(f, p, port, f->now, p->next, f->words);
		}
	}
}

/* ---- callbacks of the AAL units ---- */

/* an AAL unit calls the network, which has done everything before this cycle */
static inline void net_before(struct pw_fabric *f)
{
	f->fnet->now = f->now - 1;
}

static void on_cell_out(void *ctx, struct pw_aal *u, const struct pw_aal_cell *c, bool again)
{
	/* reported in C5_LOOK */
	pw_fabric_cell_out(ctx, u, c, again, u->now + CYC_C5_FETCH);
}

static void on_cell_in(void *ctx, struct pw_aal *u, const struct pw_aal_cell *c)
{
	if (c->type != PW_CELL_T_ACK && c->flag & PW_CELL_F_FIRST)
		pw_fabric_first_in(ctx, u, c->id);
}

static void on_room(void *ctx, struct pw_aal *u)
{
	struct pw_fabric *f = ctx;

	net_before(f);
	pw_bmx_fast_wake(f->fnet, u->cfg.port, f->now);
}

static void on_got(void *ctx, struct pw_aal *u)
{
	struct pw_fabric *f = ctx;

	map_set(f->end, u->cfg.port);
	f->ends = true;
	f->looks = true;
}

static void on_granted(void *ctx, struct pw_aal *u, bool read)
{
	struct pw_fabric *f = ctx;

	if (read) {
		if (unlikely(f->procs))
			u->c0len = f->procs->granted(f, u->cfg.port)->len;
		return;
	}
	f->port[u->cfg.port].rx = NONE;
	pw_fabric_want_look(f, u->cfg.port);
}

static void on_tx(void *ctx, struct pw_aal *u, const struct pw_aal_cell *c, u16 vpi, u64 t)
{
	struct pw_fabric *f = ctx;
	u32 i = f->cell_free;

	f->cell_free = f->cell[i].next;
	f->cell[i].c = *c;
	f->cell[i].vpi = vpi;
	f->cell[i].damage = 0;
	f->cell[i].copies = c->dst == PW_CELL_DST_ALL ? f->ports : 1;
	if (unlikely(pw_cell_is_mc(c->dst)))
		f->cell[i].copies = f->p.topo->conn[c->dst ^ PW_CELL_DST_MC].num;
	net_before(f);
	pw_bmx_fast_offer(f->fnet, u->cfg.port, t, vpi, i, 0);
}

/* called in a cycle that the network has not run yet */
static u32 on_fill(void *ctx, struct pw_aal *u, u32 vpi)
{
	struct pw_fabric *f = ctx;
	u32 mask = pw_fabric_first_queues(f, u->cfg.port, vpi), most = 0;

	net_before(f);
	for (; mask; mask &= mask - 1)
		most = max(most, pw_bmx_fast_qsize(f->fnet, pw_fabric_entry(f, u->cfg.port),
						   __ffs64(mask)));
	return most;
}

static const struct pw_aal_ops aal_ops = {
	.ready = pw_fabric_on_ready,
	.cell_out = on_cell_out,
	.cell_in = on_cell_in,
	.bad_cell = pw_fabric_on_bad_cell,
	.acked = pw_fabric_on_acked,
	.complete = pw_fabric_on_complete,
	.granted = on_granted,
	.got = on_got,
	.room = on_room,
	.obsolete = pw_fabric_on_obsolete,
	.freed = pw_fabric_on_freed,
	.low = pw_fabric_on_low,
	.released = pw_fabric_on_released,
	.tx = on_tx,
	.fill = on_fill,
};

/* ---- callbacks of the network ---- */

static void cell_put(struct pw_fabric *f, u32 i, u32 copies)
{
	f->cell[i].copies -= copies;
	if (f->cell[i].copies)
		return;
	f->cell[i].next = f->cell_free;
	f->cell_free = i;
}

static enum pw_bmx_rx net_rx(void *ctx, u32 port, u32 cookie, u64 t, u32 flags)
{
	struct pw_fabric *f = ctx;
	bool bad = flags & PW_BMX_CELL_CORRUPT;

	if (!pw_aal_fast_rx(f->port[port].u, t, &f->cell[cookie].c, bad))
		return PW_BMX_RX_BLOCK;
	if (unlikely(f->tapped))
		tap_cell(f, cookie, f->ranks + port, t, false);
	cell_put(f, cookie, 1);
	note_also(f, port, t + PW_BMX_CELL - 1);
	return PW_BMX_RX_ACCEPT;
}

static void net_accepted(void *ctx, u32 port, u32 cookie, u64 t)
{
	struct pw_fabric *f = ctx;

	note_also(f, port, pw_aal_fast_accepted(f->port[port].u, t));
}

static void net_dropped(void *ctx, u32 ppd, u32 cookie, u32 copies)
{
	struct pw_fabric *f = ctx;

	pw_fabric_trace(f, PW_FABRIC_EV_DROP, ppd, copies, f->now, &f->cell[cookie].c);
	if (f->tapped)
		tap_cell(f, cookie, ppd, f->hop_at, true);
	cell_put(f, cookie, copies);
}

static void net_hop(void *ctx, u32 ppd, u32 cookie, u64 t)
{
	struct pw_fabric *f = ctx;

	pw_fabric_trace(f, PW_FABRIC_EV_HOP, ppd, 1, t, &f->cell[cookie].c);
	if (f->tapped)
		tap_cell(f, cookie, ppd, t, false);
	f->hop_cell = cookie;
	f->hop_at = t;
}

static void net_suspended(void *ctx, u32 ppd, u64 tries, u64 t)
{
	pw_fabric_trace(ctx, PW_FABRIC_EV_SUSPEND, ppd, tries, t, NULL);
}

static enum pw_bmx_fault net_fault(void *ctx, u32 ppd, u64 t)
{
	struct pw_fabric *f = ctx;
	enum pw_bmx_fault what = f->ops->fault(f->ctx, ppd, t);

	/* net_hop() was called just before for the same cell */
	if (what == PW_BMX_FAULT_CORRUPT)
		f->cell[f->hop_cell].damage |= BIT(pw_fabric_stage_of(f, ppd));
	return what;
}

/* ---- processes ---- */

static void fast_start_tx(struct pw_fabric *f, u32 port, struct fmsg *m)
{
	struct pw_aal_send s = {
		.id = m->id,
		.len = m->len,
		.dst = m->dst,
		.com = m->dst == PW_FABRIC_ALL ? PW_CELL_COM_ALL : PW_CELL_COM_ONE,
		.path = m->path,
		.gap_lock = f->p.gap_lock,
		.gap_init = f->p.gap_init,
	};

	if (unlikely(pw_fabric_to_conn(m))) {
		s.dst = m->dst ^ PW_FABRIC_MC;
		s.com = PW_CELL_COM_MC;
	}
	m->t.start = f->now + f->p.gap_lock;
	pw_aal_fast_send(f->port[port].u, f->now, &s);
	replan(f, port);
}

static void fast_start_rx(struct pw_fabric *f, u32 port, struct fmsg *m)
{
	/* cells carry the identifier only, unless there are several processes */
	u32 want[PW_AAL_HDR_WORDS] = { [PW_AAL_HDR_WORDS - 1] = m->id };

	if (unlikely(f->procs))
		pw_fabric_request(f, port, m, want);
	pw_aal_fast_recv(f->port[port].u, f->now, want, m->len, f->p.gap_get);
	replan(f, port);
}

static void fast_discard(struct pw_fabric *f, u32 port, u16 desc)
{
	struct pw_aal *u = f->port[port].u;

	u->now = f->now;
	pw_aal_fast_discard(u, desc);
	replan(f, port);
}

/* ---- running ---- */

/* cycle of the next event; the wheels of AAL units and network have the same size */
static inline u64 fast_next(struct pw_fabric *f)
{
	u64 slots = f->slots | f->fnet->slots;

	if (unlikely(f->far_next < f->now + SLOTS || !slots)) {
		far_scan(f);
		slots = f->slots | f->fnet->slots;
		if (!slots)
			return f->far_next;
	}
	return f->now + __ffs64(ror64(slots, f->now % SLOTS));
}

/* processes whose last get is done release the lock */
static void fast_ends(struct pw_fabric *f)
{
	u32 w, i;

	f->ends = false;
	for (w = 0; w < DIV_ROUND_UP(f->ports, 32); w++) {
		while (f->end[w]) {
			struct fport *p;

			i = 32 * w + fls(f->end[w] & -f->end[w]) - 1;
			map_clear(f->end, i);
			p = &f->port[i];
			p->u->now = f->now;
			pw_aal_fast_read_done(p->u);
			replan(f, i);
			pw_fabric_want_look(f, i);
			pw_fabric_read(f, i);
		}
	}
}

/*
 * Run the AAL units with a bit in @bits, which are entered no longer; bit 0 is port @first.
 * An event of an AAL unit changes nothing in the plans of another one.
 */
static __always_inline u32 run_aals(struct pw_fabric *f, u32 first, u64 bits, u64 now, u32 words)
{
	struct fport *p;
	u32 n = 0, port;

	for (; bits; bits &= bits - 1, n++) {
		port = first + __ffs64(bits);
		p = &f->port[port];
		note(f, p, port, now, pw_aal_fast_run(p->u, now), words);
	}
	return n;
}

/* run the events of one cycle: AAL units, network, processes */
static __always_inline u32 fast_cycle(struct pw_fabric *f, u64 now, u32 words)
{
	u32 slot = now % SLOTS, work = 0, i;
	u64 bits;

	f->now = now;
	if (unlikely(f->far_next <= now))
		far_scan(f);
	if (f->slots >> slot & 1) {
		f->slots &= ~(1ULL << slot);
		for (i = 0; i < words; i++) {
			bits = f->slot[slot * words + i];
			f->slot[slot * words + i] = 0;
			work += run_aals(f, 64 * i, bits, now, words);
		}
		f->stats.events += work;
	}
	if (f->fnet->slots >> slot & 1)
		work += pw_bmx_fast_attempts(f->fnet, now);
	return work;
}

/* begin cycle @now in parts; fast_part() runs them in the order of fast_cycle() */
static void fast_begin(struct pw_fabric *f, u64 now)
{
	u32 slot = now % SLOTS;

	f->now = now;
	if (unlikely(f->far_next <= now))
		far_scan(f);
	f->part = f->words + 1;
	if (f->slots & BIT_ULL(slot)) {
		f->slots &= ~BIT_ULL(slot);
		f->part = 1;
	}
}

/* parts 1 to words: up to 64 AAL units each; the last one: network, processes */
static u32 fast_part(struct pw_fabric *f)
{
	u32 work, i = f->now % SLOTS * f->words + f->part - 1;
	u64 bits;

	if (f->part <= f->words) {
		bits = f->slot[i];
		f->slot[i] = 0;
		work = run_aals(f, 64 * (f->part - 1), bits, f->now, f->words);
		f->stats.events += work;
		f->part++;
		return work;
	}
	f->part = 0;
	return pw_bmx_fast_cycle(f->fnet, f->now);
}

/* processes at the end of a cycle, f->looks being set; returns how many ran */
static noinline u32 fast_looks(struct pw_fabric *f, bool parts)
{
	if (f->ends)
		fast_ends(f);
	return pw_fabric_look(f, parts ? PW_FABRIC_LOOKS : U32_MAX);
}

/* fabric of at most 64 ports */
static void fast_run_small(struct pw_fabric *f, u64 until, u32 max_work, bool parts)
{
	u32 work = 0;
	u64 at;

	if (f->now >= until)
		return;
	while (work < max_work) {
		at = fast_next(f);
		if (at > until) {
			f->now = until;
			return;
		}
		work += fast_cycle(f, at, 1);
		if (likely(!f->looks))
			continue;
		work += fast_looks(f, parts);
		if (f->looks)
			return;
	}
}

/* @parts: may stop inside a cycle of many ports or messages */
static void fast_run(struct pw_fabric *f, u64 until, u32 max_work, bool parts)
{
	u32 work = 0;
	u64 at;

	if (likely(f->words == 1)) {
		fast_run_small(f, until, max_work, parts);
		return;
	}
	for (;;) {
		if (unlikely(f->part)) {
			work += fast_part(f);
		} else {
			if (f->now >= until || work >= max_work)
				return;
			at = fast_next(f);
			if (at > until) {
				f->now = until;
				return;
			}
			if (parts) {
				fast_begin(f, at);
				continue;
			}
			work += fast_cycle(f, at, f->words);
		}
		if (!f->part && f->looks) {
			work += fast_looks(f, parts);
			if (f->looks)
				return;
		}
		if (parts && work >= max_work)
			return;
	}
}

/* ---- a message alone in the fabric ---- */

/*
 * Bound for the time after the last get until the message is dropped, apart from the
 * sources that controller 10 passes: the rest of a turn, the message itself (EXPIRED,
 * DROP) and a margin of four cycles. Controller 7 then releases a block in each cycle.
 */
#define LONE_AFTER	(CYC_C10_TURN + CYC_C10_MSG + 4)

static void lone_pair(struct pw_fabric *f, u16 src, u16 dst, struct pw_lone_pair *pair)
{
	pair->net = f->fnet;
	pair->u[0] = f->port[src].u;
	pair->u[1] = f->port[dst].u;
}

static bool lone_idle(struct pw_fabric *f, const struct pw_lone_pair *pair)
{
	return fast_next(f) == NEVER && pw_aal_fast_idle(pair->u[0]) &&
	       pw_aal_fast_idle(pair->u[1]);
}

/* before another message: store the result of the watched one if it was alone to its end */
static void lone_learn(struct pw_fabric *f)
{
	struct flone *l = f->lone;
	struct pw_lone_times t;
	struct pw_lone_pair pair;

	if (l->msg == NONE)
		return;
	l->msg = NONE;
	lone_pair(f, l->watch.key.src, l->watch.key.dst, &pair);
	if (!l->ended || !lone_idle(f, &pair))
		return;
	t.start = l->t.start - l->begin;
	t.segmented = l->t.segmented - l->begin;
	t.first_out = l->t.first_out - l->begin;
	t.first_in = l->t.first_in - l->begin;
	t.reassembled = l->t.reassembled - l->begin;
	t.delivered = l->t.delivered - l->begin;
	t.acked = l->t.acked - l->begin;
	t.quiet = pair.u[0]->now - l->begin;
	pw_lone_learn(l->known, &l->watch, &pair, &t);
}

/* the only message in the fabric, if it is not yet started and qualifies; or NULL */
static struct fmsg *lone_message(struct pw_fabric *f)
{
	struct fport *p = &f->port[f->last_src];
	struct fmsg *m;

	/* lone.c knows the paths of the three-stage network and one process at a port only */
	if (f->nmsgs != 1 || p->q_wait == NONE || !f->lone || f->p.topo || f->procs ||
	    !pw_fabric_device(f) || !pw_fabric_unwatched(f))
		return NULL;
	m = &f->msg[p->q_wait];
	if (!pw_fabric_to_one(m) || m->dst == m->src || !f->port[m->dst].attached)
		return NULL;
	return m;
}

/* apply the stored result of lone message @m, from its start to the idle fabric */
static void lone_play(struct pw_fabric *f, struct fmsg *m, const struct pw_lone *e,
		      const struct pw_lone_pair *pair)
{
	struct fport *p = &f->port[m->src], *q = &f->port[m->dst];
	u64 begin = f->now, gone, acked = begin + e->t.acked;
	u32 cells = m->cells;

	p->q_wait = NONE;
	p->sent_last = true;
	q->sent_last = false;
	m->t.start = begin + e->t.start;
	m->t.segmented = begin + e->t.segmented;
	m->t.first_out = begin + e->t.first_out;
	m->t.first_in = begin + e->t.first_in;
	m->t.reassembled = begin + e->t.reassembled;
	m->t.acked = acked;
	pw_lone_apply(e, pair);
	f->now = begin + e->t.delivered;
	gone = pw_aal_fast_passed(pair->u[1], m->src, m->t.reassembled, f->now);
	m->acked = acked <= f->now;
	pw_fabric_arrived(f, m, m->dst, true);
	if (acked > f->now) {
		f->now = acked;
		m->acked = true;
		pw_fabric_end_message(f, m);
	}
	/* controller 7 releases a block in each cycle */
	f->now = max(begin + e->t.quiet, gone + cells - 1);
	f->stats.lone++;
}

/**
 * pw_fabric_lone() - complete a lone message at once
 * @f: fabric
 * @until: nothing is sent up to and including this cycle
 *
 * If the fabric is idle except for one message that is not yet started, and the result of
 * an equal one is stored, the message is delivered and the fabric is left as
 * pw_fabric_run() would leave it in the cycle in which it is idle again.
 * ops->deliver, ops->done and ops->room must not send meanwhile.
 *
 * Return: true if the message was completed.
 */
bool pw_fabric_lone(struct pw_fabric *f, u64 until)
{
	struct fmsg *m = lone_message(f);
	const struct pw_lone *e;
	struct pw_lone_pair pair;
	struct pw_lone_key key;
	u64 last;

	if (!m || f->part)
		return false;
	lone_pair(f, m->src, m->dst, &pair);
	if (!lone_idle(f, &pair))
		return false;
	pw_lone_key(&key, &pair, m->len, m->path);
	e = pw_lone_find(f->lone->known, &key);
	if (!e) {
		f->lone->msg = m - f->msg;
		f->lone->begin = f->now;
		f->lone->ended = false;
		pw_lone_begin(&f->lone->watch, &pair, &key);
		return false;
	}
	last = f->now + e->t.delivered + CYC_C10_SOURCE * f->ports + LONE_AFTER + m->cells;
	if (max(last, f->now + e->t.quiet) > until)
		return false;
	lone_play(f, m, e, &pair);
	return true;
}

/* ---- memory, callbacks, counters ---- */

static u32 cell_pool(const struct pw_fabric_params *p)
{
	return pw_fabric_ports(p) * 4 + pw_fabric_ranks(p) * p->k * p->depth;
}

static void fast_layout(struct pw_arena *a, struct pw_fabric *f, const struct pw_bmx_cfg *cfg)
{
	f->words = DIV_ROUND_UP(f->ports, 64);
	f->fnet = pw_arena_take(a, pw_bmx_fast_size(cfg));
	f->cell = pw_arena_take(a, sizeof(*f->cell) * cell_pool(&f->p));
	f->lone = pw_arena_take(a, sizeof(*f->lone));
	f->slot = pw_arena_take(a, sizeof(*f->slot) * SLOTS * f->words);
}

static void fast_init(struct pw_fabric *f, const struct pw_bmx_cfg *cfg)
{
	u32 i, n = cell_pool(&f->p);

	f->fnet_ops.rx = net_rx;
	f->fnet_ops.accepted = net_accepted;
	f->fnet_ops.dropped = net_dropped;
	f->fnet = pw_bmx_fast_init(f->fnet, cfg, &f->fnet_ops, f);
	for (i = 0; i < n; i++)
		f->cell[i].next = i + 1;
	memset(f->lone, 0, sizeof(*f->lone));
	f->lone->msg = NONE;
	f->far_next = NEVER;
	memset(f->slot, 0, sizeof(*f->slot) * SLOTS * f->words);
}

static void fast_callbacks(struct pw_fabric *f)
{
	/* net_fault() finds the damaged cell by its hop */
	f->fnet_ops.hop = f->tracing || f->tapped || (f->faults && f->ops->cell) ? net_hop : NULL;
	f->fnet_ops.suspended = f->tracing ? net_suspended : NULL;
	f->fnet_ops.fault = f->faults ? net_fault : NULL;
}

/* the network has no event that is not done; inside a cycle, up to the end of the cycle before */
static void net_sync(struct pw_fabric *f)
{
	f->fnet->now = f->now - !!f->part;
}

static u32 fast_qsize(struct pw_fabric *f, u32 ppd, u32 q)
{
	net_sync(f);
	return pw_bmx_fast_qsize(f->fnet, ppd, q);
}

static void fast_count(struct pw_fabric *f, u32 unit, u64 *cells, u64 *refused)
{
	net_sync(f);
	pw_bmx_fast_count(f->fnet, unit, cells, refused);
}

static void fast_lost(struct pw_fabric *f, u32 stage, u64 *dropped, u64 *corrupted)
{
	*dropped = f->fnet->dropped[stage];
	*corrupted = f->fnet->corrupted[stage];
}

const struct pw_fabric_engine pw_fabric_fast = {
	.aal = &pw_aal_fast,
	.aal_ops = &aal_ops,
	.layout = fast_layout,
	.init = fast_init,
	.start_tx = fast_start_tx,
	.start_rx = fast_start_rx,
	.discard = fast_discard,
	.sending = lone_learn,
	.next = fast_next,
	.run = fast_run,
	.callbacks = fast_callbacks,
	.qsize = fast_qsize,
	.count = fast_count,
	.lost = fast_lost,
};
