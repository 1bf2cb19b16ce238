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

static void tap_links(struct pw_fabric *f)
{
	const struct pw_bmx_net *net = f->net;
	u32 i, n, ppd;

	for (i = 0; i < f->ports; i++) {
		ppd = net->in[i];
		tap_byte(f, ppd, net->in_byte[i], net->in_byteind[i], net->ppd[ppd].count);
	}
	for (i = 0; i < f->ranks; i++) {
		ppd = net->peer[i];
		if (ppd < f->ranks)
			tap_byte(f, ppd, net->spd[i].byte, net->spd[i].byteind,
				 net->ppd[ppd].count);
	}
	/* a port of a device refuses no cell */
	for (i = 0; i < f->ports; i++) {
		n = f->tap[f->ranks + i].n;
		tap_byte(f, f->ranks + i, net->out_byte[i], net->out_byteind[i],
			 n == PW_BMX_CELL - 1 ? 0 : n + 1);
	}
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

	if (c->type != PW_CELL_T_ACK && c->flag & PW_CELL_F_FIRST)
		pw_fabric_first_in(ctx, u, get_unaligned_be32(hdr + 4 * (PW_AAL_HDR_WORDS - 1)));
}

static void on_refused(void *ctx, struct pw_aal *u, bool in)
{
	struct pw_fabric *f = ctx;
	u32 unit = in ? f->ranks + u->cfg.port : pw_fabric_entry(f, u->cfg.port);

	/* the sender sees the suspend a cycle after the decision */
	pw_fabric_trace(f, PW_FABRIC_EV_SUSPEND, unit, 1, u->now - PW_BMX_DECIDE - !in, NULL);
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

static void host_received(void *ctx, struct pw_aal_host *h)
{
	struct pw_fabric *f = ctx;
	struct fport *p = &f->port[h->u->cfg.port];
	struct fmsg *m = &f->msg[p->rx];

	p->rx = NONE;
	pw_fabric_arrived(f, m, h->u->cfg.port, true);
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
	.received = host_received,
	.denied = host_denied,
};

static void rtl_start_tx(struct pw_fabric *f, u32 port, struct fmsg *m)
{
	struct fport *p = &f->port[port];
	struct pw_aal_job job;

	memset(&job, 0, sizeof(job));
	pw_fabric_message_header(m, job.hdr);
	job.len = m->len;
	job.dst = m->dst;
	job.all = m->dst == PW_FABRIC_ALL;
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
	pw_fabric_message_header(m, job.hdr);
	job.hdr[3] = port;
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

static void rtl_cycle(struct pw_fabric *f)
{
	struct pw_bmx_net *net = f->net;
	u32 i;

	f->now++;
	f->stats.events++;
	pw_bmx_net_step_spd(net);
	for (i = 0; i < f->ports; i++) {
		struct pw_aal *u = f->port[i].u;

		u->icbyte = net->out_byte[i];
		u->icbytei = net->out_byteind[i];
		u->ogsuspend = net->in_suspend[i];
		pw_aal_step(u);
		net->in_byte[i] = u->ogbyte;
		net->in_byteind[i] = u->ogbytei;
		net->out_suspend[i] = u->icsuspend;
	}
	pw_bmx_net_step_ppd(net);
	if (unlikely(f->tapped))
		tap_links(f);
	if (unlikely(f->tracing))
		for (i = 0; i < f->ranks; i++)
			if (net->ppd[i].suspend && pw_fabric_stage_of(f, i))
				pw_fabric_trace(f, PW_FABRIC_EV_SUSPEND, i, 1,
						f->now - PW_BMX_DECIDE, NULL);
	for (i = 0; i < f->ports; i++) {
		if (!pw_aal_host_idle(&f->port[i].host)) {
			pw_aal_host_step(&f->port[i].host);
			if (pw_aal_host_idle(&f->port[i].host))
				pw_fabric_want_look(f, i);
		}
	}
	if (f->p.flags & PW_FABRIC_F_POLL)
		for (i = 0; i < f->ports; i++)
			pw_fabric_want_look(f, i);
	pw_fabric_look_all(f);
}

/* is nothing stored or in flight anywhere? */
static bool rtl_idle(const struct pw_fabric *f)
{
	u32 i;

	if (f->looks)
		return false;
	for (i = 0; i < f->ports; i++)
		if (!pw_aal_idle(f->port[i].u) || !pw_aal_host_idle(&f->port[i].host) ||
		    f->port[i].q_num)
			return false;
	return pw_bmx_net_idle(f->net);
}

/* skip cycles of an idle fabric: only controller 10 moves, in turns of equal length */
static void rtl_skip(struct pw_fabric *f, u64 cycles)
{
	u32 turn = CYC_C10_TURN + CYC_C10_SOURCE * f->ports, rem, i, n;

	div_u64_rem(cycles, turn, &rem);
	for (i = 0; i < f->ports; i++) {
		struct pw_aal *u = f->port[i].u;

		u->now += cycles;
		for (n = 0; n < rem; n++)
			pw_aal_ctl10(u);
	}
	f->net->cycle += cycles;
	f->now += cycles;
}

static void rtl_run(struct pw_fabric *f, u64 until, u32 max_work, bool parts)
{
	u32 work;

	for (work = 0; f->now < until && work < max_work; work++) {
		if (!(work % IDLE_EVERY) && rtl_idle(f)) {
			rtl_skip(f, until - f->now);
			break;
		}
		rtl_cycle(f);
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
}

static void rtl_init(struct pw_fabric *f, const struct pw_bmx_cfg *cfg)
{
	u32 i;

	f->net = pw_bmx_net_init(f->net, cfg);
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
