// SPDX-License-Identifier: GPL-2.0
/* Whole BMX fabric, register by register: the bytes of a message travel. */
#include "aal_ctl.h"
#include "fabric_priv.h"

#define IDLE_EVERY 64	/* cycles between two checks for an idle fabric */

/* ---- tap ---- */

/* a byte on the link into PPD @unit or a port, which has taken @count bytes of the cell */
static void tap_byte(struct pw_fabric *f, u32 unit, u8 byte, bool valid, u32 count)
{
	struct ftap *t = &f->tap[unit];

	if (!valid) {
		if (t->n == TAP_WAIT)
			t->n = 0;
		return;
	}
	if (t->n == TAP_WAIT)
		return;
	if (count == 1) {
		t->start = f->now;
		t->n = 0;
		t->lost = false;
	}
	/* not the next byte: the cell was refused */
	if (count ? count != t->n + 1 : t->n != PW_BMX_CELL - 1) {
		t->n = 0;
		return;
	}
	t->cell[t->n++] = byte;
	if (t->n < PW_BMX_CELL)
		return;
	t->n = 0;
	f->ops->cell(f->ctx, unit, t->start, false, t->cell);
	if (t->lost)
		f->ops->cell(f->ctx, unit, t->start, true, t->cell);
}

/* link @i: from ports, from output units, then to ports */
static void tap_link(struct pw_fabric *f, u32 i)
{
	const struct pw_bmx_net *net = f->net;
	u32 n, ppd;

	if (i < f->ports) {
		ppd = net->in[i];
		tap_byte(f, ppd, net->in_byte[i], net->in_byteind[i], net->ppd[ppd].count);
		return;
	}
	i -= f->ports;
	if (i < f->ranks) {
		ppd = net->peer[i];
		if (ppd < f->ranks)
			tap_byte(f, ppd, net->spd[i].byte, net->spd[i].byteind,
				 net->ppd[ppd].count);
		return;
	}
	/* a port of a device refuses no cell */
	n = f->tap[i].n;
	i -= f->ranks;
	tap_byte(f, f->ranks + i, net->out_byte[i], net->out_byteind[i],
		 n == PW_BMX_CELL - 1 ? 0 : n + 1);
}

static void tap_begin(struct pw_fabric *f)
{
	u32 i;

	for (i = 0; i < f->ranks + f->ports; i++)
		f->tap[i].n = TAP_WAIT;
}

/* ---- callbacks of the AAL units and of the network ---- */

static void on_cell_out(void *ctx, struct pw_aal *u, const struct pw_aal_cell *c, bool again)
{
	pw_fabric_cell_out(ctx, u, c, again, u->now);
}

static void on_cell_in(void *ctx, struct pw_aal *u, const struct pw_aal_cell *c)
{
	const u8 *hdr = u->ic_cell + (size_t)u->iclb * PW_BMX_CELL + PW_CELL_DATA;
	struct pw_fabric *f = ctx;
	struct fmsg *m;

	if (c->type == PW_CELL_T_ACK || !(c->flag & PW_CELL_F_FIRST))
		return;
	if (likely(!f->procs)) {
		pw_fabric_first_in(f, u, get_unaligned_be32(hdr + 4 * (PW_AAL_HDR_WORDS - 1)));
		return;
	}
	m = f->procs->sent(f, c->src, c->dst, c->sqn);
	if (m)
		pw_fabric_first_in(f, u, m->id);
}

static void on_refused(void *ctx, struct pw_aal *u, bool in)
{
	struct pw_fabric *f = ctx;
	u32 unit = in ? f->ranks + u->cfg.port : pw_fabric_entry(f, u->cfg.port);

	/* the sender sees the suspend a cycle after the decision */
	pw_fabric_trace(f, PW_FABRIC_EV_SUSPEND, unit, 1, u->now - PW_BMX_DECIDE - !in, NULL);
}

static u32 on_fill(void *ctx, struct pw_aal *u, u32 vpi)
{
	struct pw_fabric *f = ctx;
	u32 mask = pw_fabric_first_queues(f, u->cfg.port, vpi), most = 0;

	for (; mask; mask &= mask - 1)
		most = max_t(u32, most, f->fill[u->cfg.port * f->p.k + __ffs64(mask)]);
	return most;
}

static const struct pw_aal_ops aal_ops = {
	.ready = pw_fabric_on_ready,
	.cell_out = on_cell_out,
	.cell_in = on_cell_in,
	.bad_cell = pw_fabric_on_bad_cell,
	.refused = on_refused,
	.acked = pw_fabric_on_acked,
	.complete = pw_fabric_on_complete,
	.obsolete = pw_fabric_on_obsolete,
	.freed = pw_fabric_on_freed,
	.low = pw_fabric_on_low,
	.released = pw_fabric_on_released,
	.fill = on_fill,
};

static enum pw_bmx_fault net_fault(void *ctx, u32 ppd, u64 t)
{
	struct pw_fabric *f = ctx;
	enum pw_bmx_fault what = PW_BMX_FAULT_NONE;

	if (f->faults)
		what = f->ops->fault(f->ctx, ppd, t);
	f->tap[ppd].lost = what == PW_BMX_FAULT_DROP;
	if (what == PW_BMX_FAULT_DROP)
		pw_fabric_trace(f, PW_FABRIC_EV_DROP, ppd, 1, f->now, NULL);
	pw_fabric_trace(f, PW_FABRIC_EV_HOP, ppd, 1, t, NULL);
	return what;
}

/* ---- processes ---- */

static void host_fetch(void *ctx, struct pw_aal_host *h, u32 off, u8 *buf, u32 n)
{
	struct pw_fabric *f = ctx;
	struct fmsg *m = &f->msg[f->port[h->u->cfg.port].tx];

	pw_fabric_message_bytes(f, m, off, buf, n);
}

static void host_store(void *ctx, struct pw_aal_host *h, u32 off, const u8 *buf, u32 n)
{
	struct pw_fabric *f = ctx;
	struct fmsg *m = &f->msg[f->port[h->u->cfg.port].rx];
	u8 want[4] = {};
	u32 i;

	pw_fabric_message_bytes(f, m, off, want, n);
	for (i = 0; i < n; i++)
		f->stats.mismatch += buf[i] != want[i];
}

static void host_started(void *ctx, struct pw_aal_host *h)
{
	struct pw_fabric *f = ctx;

	f->msg[f->port[h->u->cfg.port].tx].t.start = f->now;
}

static void host_granted(void *ctx, struct pw_aal_host *h)
{
	struct pw_fabric *f = ctx;

	if (unlikely(f->procs))
		h->job.len = f->procs->granted(f, h->u->cfg.port)->len;
}

static void host_received(void *ctx, struct pw_aal_host *h)
{
	pw_fabric_read(ctx, h->u->cfg.port);
}

/* a polling receiver stops when it has a message to send */
static bool host_denied(void *ctx, struct pw_aal_host *h)
{
	struct pw_fabric *f = ctx;
	struct fport *p = &f->port[h->u->cfg.port];

	if (f->p.flags & PW_FABRIC_F_POLL && p->q_wait == NONE)
		return true;
	p->rx = NONE;
	return false;
}

static const struct pw_aal_host_ops host_ops = {
	.fetch = host_fetch,
	.store = host_store,
	.started = host_started,
	.granted = host_granted,
	.received = host_received,
	.denied = host_denied,
};

static void rtl_start_tx(struct pw_fabric *f, u32 port, struct fmsg *m)
{
	struct fport *p = &f->port[port];
	struct pw_aal_job job;

	memset(&job, 0, sizeof(job));
	pw_fabric_message_header(f, m, job.hdr);
	job.id = m->id;
	job.len = m->len;
	job.dst = pw_fabric_to_conn(m) ? m->dst ^ PW_FABRIC_MC : m->dst;
	job.all = m->dst == PW_FABRIC_ALL;
	job.mc = pw_fabric_to_conn(m);
	job.path = m->path;
	job.gap_lock = f->p.gap_lock;
	job.gap_init = f->p.gap_init;
	job.gap_word = f->p.gap_word;
	pw_aal_host_send(&p->host, &job);
	pw_aal_host_step(&p->host);
}

static void rtl_start_rx(struct pw_fabric *f, u32 port, struct fmsg *m)
{
	struct fport *p = &f->port[port];
	struct pw_aal_job job;

	memset(&job, 0, sizeof(job));
	pw_fabric_request(f, port, m, job.hdr);
	job.len = m->len;
	job.gap_get = f->p.gap_get;
	job.gap_word = f->p.gap_word;
	pw_aal_host_recv(&p->host, &job);
	pw_aal_host_step(&p->host);
}

static void rtl_discard(struct pw_fabric *f, u32 port, u16 desc)
{
	pw_aal_discard(f->port[port].u, desc);
}

/* ---- running ---- */

/* steps of a cycle, each for all units or ports before the next one begins */
enum rtl_step {
	STEP_SPD,	/* output units */
	STEP_AAL,	/* AAL units */
	STEP_FAULT,	/* faults of the cells that input units accept */
	STEP_PPD_IN,	/* input units that ports drive */
	STEP_PPD,	/* those that output units drive */
	STEP_FILL,	/* least queue: sizes of queues that AAL units see in the next cycle */
	STEP_TAP,
	STEP_TRACE,
	STEP_HOST,	/* processes */
	STEPS,
};

/* units or ports of a part of a step */
#define PART_UNITS 64

/* units or ports that a step has */
static u32 step_size(const struct pw_fabric *f, u32 step)
{
	switch (step) {
	case STEP_SPD:
	case STEP_PPD:
		return f->ranks;
	case STEP_FAULT:
		return f->net->fault ? f->ranks : 0;
	case STEP_FILL:
		return f->fill ? f->ports : 0;
	case STEP_TAP:
		return f->tapped ? f->ports + f->ranks + f->ports : 0;
	case STEP_TRACE:
		return f->tracing ? f->ranks : 0;
	default:
		return f->ports;
	}
}

static void step_aal(struct pw_fabric *f, u32 i)
{
	struct pw_bmx_net *net = f->net;
	struct pw_aal *u = f->port[i].u;

	u->icbyte = net->out_byte[i];
	u->icbytei = net->out_byteind[i];
	u->ogsuspend = net->in_suspend[i];
	pw_aal_step(u);
	net->in_byte[i] = u->ogbyte;
	net->in_byteind[i] = u->ogbytei;
	net->out_suspend[i] = u->icsuspend;
}

static void step_fill(struct pw_fabric *f, u32 i)
{
	u32 k = f->p.k, q;

	for (q = 0; q < k; q++)
		f->fill[i * k + q] = f->net->xpm[(size_t)f->net->in[i] * k + q].size;
}

static void step_trace(struct pw_fabric *f, u32 i)
{
	if (f->net->ppd[i].suspend && pw_fabric_stage_of(f, i))
		pw_fabric_trace(f, PW_FABRIC_EV_SUSPEND, i, 1, f->now - PW_BMX_DECIDE, NULL);
}

static void step_host(struct pw_fabric *f, u32 i)
{
	struct pw_aal_host *h = &f->port[i].host;

	if (!pw_aal_host_idle(h)) {
		pw_aal_host_step(h);
		if (pw_aal_host_idle(h))
			pw_fabric_want_look(f, i);
	}
	if (f->p.flags & PW_FABRIC_F_POLL)
		pw_fabric_want_look(f, i);
}

/* units or ports @i to @end - 1 of a step */
static void rtl_step(struct pw_fabric *f, u32 step, u32 i, u32 end)
{
	switch (step) {
	case STEP_SPD:
		pw_bmx_net_spds(f->net, i, end);
		break;
	case STEP_AAL:
		for (; i < end; i++)
			step_aal(f, i);
		break;
	case STEP_FAULT:
		pw_bmx_net_faults(f->net, i, end);
		break;
	case STEP_PPD_IN:
		pw_bmx_net_ppds_in(f->net, i, end);
		break;
	case STEP_PPD:
		pw_bmx_net_ppds(f->net, i, end);
		break;
	case STEP_FILL:
		for (; i < end; i++)
			step_fill(f, i);
		break;
	case STEP_TAP:
		for (; i < end; i++)
			tap_link(f, i);
		break;
	case STEP_TRACE:
		for (; i < end; i++)
			step_trace(f, i);
		break;
	case STEP_HOST:
		for (; i < end; i++)
			step_host(f, i);
		break;
	}
}

static void rtl_begin(struct pw_fabric *f)
{
	f->now++;
	f->stats.events++;
}

static void rtl_cycle(struct pw_fabric *f)
{
	u32 step, size;

	rtl_begin(f);
	for (step = 0; step < STEPS; step++) {
		size = step_size(f, step);
		if (size)
			rtl_step(f, step, 0, size);
	}
}

/* one part of the cycle that is being run: f->part - 1 is the first unit or port of f->step */
static void rtl_part(struct pw_fabric *f)
{
	u32 from = f->part - 1, size = step_size(f, f->step), end = min(from + PART_UNITS, size);

	if (from < end)
		rtl_step(f, f->step, from, end);
	if (end < size) {
		f->part = end + 1;
		return;
	}
	f->part = 1;
	do {
		f->step++;
	} while (f->step < STEPS && !step_size(f, f->step));
	if (f->step == STEPS) {
		f->step = 0;
		f->part = 0;
	}
}

/* is nothing stored or in flight anywhere? A large network is searched once in a cycle. */
static bool rtl_idle(struct pw_fabric *f)
{
	u32 i;

	if (f->looks || f->nmsgs || f->busy == f->now + 1)
		return false;
	f->busy = f->now + 1;
	for (i = 0; i < f->ports; i++)
		if (!pw_aal_idle(f->port[i].u) || !pw_aal_host_idle(&f->port[i].host))
			return false;
	if (!pw_bmx_net_idle(f->net))
		return false;
	f->busy = 0;
	return true;
}

/* skip cycles of an idle fabric: only controller 10 moves, in turns of equal length */
static void rtl_skip(struct pw_fabric *f, u64 cycles)
{
	u32 turn = CYC_C10_TURN + CYC_C10_SOURCE * f->ports, rem, i;

	div_u64_rem(cycles, turn, &rem);
	for (i = 0; i < f->ports; i++) {
		struct pw_aal *u = f->port[i].u;

		u->now += cycles;
		pw_aal_ctl10_skip(u, rem);
	}
	f->net->cycle += cycles;
	f->now += cycles;
}

/* @parts: may stop inside a cycle of a large network or of many messages */
static void rtl_run(struct pw_fabric *f, u64 until, u32 max_work, bool parts)
{
	bool split = parts && f->ranks > PART_UNITS;
	u32 work;

	for (work = 0;; work++) {
		if (unlikely(f->part)) {
			if (split && work >= max_work)
				return;
			rtl_part(f);
		} else {
			if (f->now >= until || work >= max_work)
				return;
			if ((split || !(work % IDLE_EVERY)) && rtl_idle(f)) {
				rtl_skip(f, until - f->now);
				return;
			}
			if (split) {
				rtl_begin(f);
				f->part = 1;
				rtl_part(f);
			} else {
				rtl_cycle(f);
			}
		}
		if (!f->part && unlikely(f->looks)) {
			work += pw_fabric_look(f, parts ? PW_FABRIC_LOOKS : U32_MAX);
			if (unlikely(f->looks))
				return;
		}
	}
}

static u64 rtl_next(struct pw_fabric *f)
{
	return rtl_idle(f) ? NEVER : f->now + 1;
}

/* ---- memory, callbacks, counters ---- */

static void rtl_layout(struct pw_arena *a, struct pw_fabric *f, const struct pw_bmx_cfg *cfg)
{
	f->net = pw_arena_take(a, pw_bmx_net_size(cfg));
	f->tap = pw_arena_take(a, (f->ranks + f->ports) * sizeof(*f->tap));
	if (f->p.route == PW_AAL_ROUTE_LEAST)
		f->fill = pw_arena_take(a, sizeof(*f->fill) * f->ports * f->p.k);
}

static void rtl_init(struct pw_fabric *f, const struct pw_bmx_cfg *cfg)
{
	u32 i;

	f->net = pw_bmx_net_init(f->net, cfg);
	if (f->fill)
		memset(f->fill, 0, sizeof(*f->fill) * f->ports * f->p.k);
	for (i = 0; i < f->ports; i++)
		pw_aal_host_init(&f->port[i].host, f->port[i].u, &host_ops, f);
}

static void rtl_callbacks(struct pw_fabric *f)
{
	f->net->fault = f->tracing || f->tapped || f->faults ? net_fault : NULL;
	f->net->fault_ctx = f;
}

static u32 rtl_qsize(struct pw_fabric *f, u32 ppd, u32 q)
{
	return f->net->xpm[(size_t)ppd * f->p.k + q].size;
}

static void rtl_count(struct pw_fabric *f, u32 unit, u64 *cells, u64 *refused)
{
	const struct pw_aal_stats *s;

	if (unit < f->ranks) {
		*cells = f->net->ppd[unit].cells;
		*refused = f->net->ppd[unit].refused;
		return;
	}
	s = &f->port[unit - f->ranks].u->stats;
	*cells = s->taken;
	*refused = s->refused_in;
}

static void rtl_lost(struct pw_fabric *f, u32 stage, u64 *dropped, u64 *corrupted)
{
	*dropped = f->net->dropped[stage];
	*corrupted = f->net->corrupted[stage];
}

const struct pw_fabric_engine pw_fabric_rtl = {
	.aal = &pw_aal_rtl,
	.aal_ops = &aal_ops,
	.layout = rtl_layout,
	.init = rtl_init,
	.start_tx = rtl_start_tx,
	.start_rx = rtl_start_rx,
	.discard = rtl_discard,
	.next = rtl_next,
	.run = rtl_run,
	.callbacks = rtl_callbacks,
	.tap_begin = tap_begin,
	.qsize = rtl_qsize,
	.count = rtl_count,
	.lost = rtl_lost,
};
