// SPDX-License-Identifier: GPL-2.0
/* Whole BMX fabric: AAL units, network, processes and the messages between them. */
#include "aal_ctl.h"
#include "arena.h"
#include "fabric_priv.h"

#define IDLE_EVERY 64	/* rtl: cycles between two checks for an idle fabric */

static bool fast(const struct pw_fabric *f)
{
	return f->p.flags & PW_FABRIC_F_FAST;
}

/* inside a cycle the network has not run it yet */
static u64 net_now(const struct pw_fabric *f)
{
	return f->now - !!f->part;
}

static bool device(const struct pw_fabric *f)
{
	return f->p.flags & PW_FABRIC_F_DEVICE;
}

static void map_set(u32 *map, u32 i)
{
	map[i / 32] |= 1U << i % 32;
}

static void map_clear(u32 *map, u32 i)
{
	map[i / 32] &= ~(1U << i % 32);
}

static bool map_get(const u32 *map, u32 i)
{
	return map[i / 32] >> i % 32 & 1;
}

static void want_look(struct pw_fabric *f, u32 port)
{
	map_set(f->look, port);
	f->looks = true;
}

/* ---- set-up ---- */

static void fill_params(struct pw_fabric_params *p)
{
	if (!p->k)
		p->k = PW_BMX_K;
	if (!p->depth)
		p->depth = PW_BMX_DEPTH;
	if (!p->og_blocks)
		p->og_blocks = PW_AAL_BLOCKS;
	if (!p->ic_blocks)
		p->ic_blocks = p->flags & PW_FABRIC_F_DEVICE ? PW_FABRIC_IC_BLOCKS : PW_AAL_BLOCKS;
	if (!p->descs)
		p->descs = PW_AAL_DESCS;
	if (!p->credit)
		p->credit = min_t(u32, PW_FABRIC_CREDIT,
				  max_t(u32, p->ic_blocks, 2 * PW_FABRIC_SLACK) - PW_FABRIC_SLACK);
	if (!p->queue)
		p->queue = PW_FABRIC_QUEUE;
}

static void net_cfg(const struct pw_fabric_params *p, struct pw_bmx_cfg *c)
{
	memset(c, 0, sizeof(*c));
	c->k = p->k;
	c->depth = p->depth;
}

static void unit_cfg(const struct pw_fabric_params *p, u32 port, struct pw_aal_cfg *c)
{
	memset(c, 0, sizeof(*c));
	c->port = port;
	c->ports = p->k * p->k;
	c->routes = p->k;
	c->shift = pw_bmx_vpi_shift(p->k);
	c->og_blocks = p->og_blocks;
	c->ic_blocks = p->ic_blocks;
	c->resend = p->resend;
	c->keep = p->keep;
	c->descs = p->descs;
	c->engine = p->flags & PW_FABRIC_F_FAST ? &pw_aal_fast : &pw_aal_rtl;
	if (p->flags & PW_FABRIC_F_DEVICE) {
		c->flags = PW_AAL_F_KEEP_UNREAD | PW_AAL_F_RELEASE_READ | PW_AAL_F_DISCARD;
		c->window = p->credit;
	}
}

/**
 * pw_fabric_check() - check the sizes of a fabric
 * @p: sizes
 *
 * Return: 0 or -EINVAL.
 */
int pw_fabric_check(const struct pw_fabric_params *p)
{
	struct pw_fabric_params q = *p;
	struct pw_bmx_cfg nc;
	struct pw_aal_cfg ac;

	fill_params(&q);
	if (q.k < PW_BMX_KMIN || q.k > PW_BMX_KMAX)
		return -EINVAL;
	net_cfg(&q, &nc);
	if (pw_bmx_cfg_check(&nc))
		return -EINVAL;
	unit_cfg(&q, 0, &ac);
	if (pw_aal_cfg_check(&ac))
		return -EINVAL;
	if ((u64)q.queue * q.k * q.k >= NONE)
		return -EINVAL;
	/* otherwise kept cells could leave no block for the one that they wait for */
	if (q.flags & PW_FABRIC_F_DEVICE &&
	    (q.ic_blocks < 2 * PW_FABRIC_SLACK || q.credit > q.ic_blocks - PW_FABRIC_SLACK))
		return -EINVAL;
	if (q.flags & PW_FABRIC_F_POLL && q.flags & PW_FABRIC_F_FAST)
		return -EINVAL;
	return 0;
}

static u32 cell_pool(const struct pw_fabric_params *p)
{
	return p->k * p->k * (PW_BMX_STAGES * p->k * p->depth + 4);
}

static struct pw_fabric *layout(struct pw_arena *a, struct pw_fabric *tmp,
				const struct pw_fabric_params *p)
{
	struct pw_fabric *f = pw_arena_take(a, sizeof(*f));
	struct pw_fabric *v = f ? f : tmp;
	struct pw_fabric_params q = *p;
	struct pw_bmx_cfg nc;
	struct pw_aal_cfg ac;
	bool by_events;
	u32 i;
	u8 *m;

	fill_params(&q);
	if (f)
		memset(f, 0, sizeof(*f));
	v->p = q;
	v->ports = q.k * q.k;
	net_cfg(&q, &nc);
	v->port = pw_arena_take(a, sizeof(*v->port) * v->ports);
	v->msg = pw_arena_take(a, sizeof(*v->msg) * q.queue * v->ports);
	by_events = q.flags & PW_FABRIC_F_FAST;
	m = pw_arena_take(a, by_events ? pw_bmx_fast_size(&nc) : pw_bmx_net_size(&nc));
	v->cell = pw_arena_take(a, by_events ? sizeof(*v->cell) * cell_pool(&q) : 0);
	v->tap = pw_arena_take(a, by_events ? 0 : TAPS * v->ports * sizeof(*v->tap));
	v->lone = pw_arena_take(a, by_events ? sizeof(*v->lone) : 0);
	v->words = DIV_ROUND_UP(v->ports, 64);
	v->slot = pw_arena_take(a, sizeof(*v->slot) * SLOTS * v->words);
	if (f && by_events)
		f->fnet = (void *)m;
	else
		v->net = (void *)m;
	for (i = 0; i < v->ports; i++) {
		u32 cap = min_t(u32, v->ports * q.descs, q.ic_blocks);
		u16 *ready = pw_arena_take(a, sizeof(u16) * cap);

		unit_cfg(&q, i, &ac);
		m = pw_arena_take(a, pw_aal_size(&ac));
		if (!f)
			continue;
		memset(&f->port[i], 0, sizeof(f->port[i]));
		f->port[i].ready = ready;
		f->port[i].r_cap = cap;
		f->port[i].u = (void *)m;
	}
	return f;
}

/**
 * pw_fabric_size() - memory that a fabric needs
 * @p: sizes, checked
 *
 * Return: bytes to hand to pw_fabric_init().
 */
size_t pw_fabric_size(const struct pw_fabric_params *p)
{
	struct pw_fabric tmp = {};
	struct pw_arena a = {};

	layout(&a, &tmp, p);
	return a.used;
}

/* ---- tracing ---- */

static void trace(struct pw_fabric *f, enum pw_fabric_ev ev, u32 unit, u32 n, u64 cycle,
		  const struct pw_aal_cell *c)
{
	struct pw_fabric_trace t;

	if (likely(!f->tracing))
		return;
	t.cycle = cycle;
	t.ev = ev;
	t.unit = unit;
	t.n = n;
	t.src = c ? c->src : NONE;
	t.dst = c ? c->dst : NONE;
	t.sqn = c ? c->sqn : 0;
	f->ops->trace(f->ctx, &t);
}

/* ---- messages ---- */

static struct fmsg *find(struct pw_fabric *f, u32 id)
{
	u32 i = id & 0xffff;

	if (i >= f->p.queue * f->ports || !f->msg[i].used || f->msg[i].id != id)
		return NULL;
	return &f->msg[i];
}

/* ---- tap: cells as bytes ---- */

static void message_header(const struct fmsg *m, u32 *hdr)
{
	hdr[0] = 'p';
	hdr[1] = 'w';
	hdr[2] = 'f';
	hdr[3] = m->dst == PW_FABRIC_ALL ? U32_MAX : m->dst;
	hdr[4] = m->id;
}

static void message_bytes(struct pw_fabric *f, const struct fmsg *m, u32 off, u8 *buf, u32 n)
{
	if (m->data)
		memcpy(buf, m->data + off, n);
	else if (f->ops->fetch)
		f->ops->fetch(f->ctx, m->src, m->cookie, off, buf, n);
}

/* data of a cell of the fast engine; none if its message has ended */
static u32 cell_data(struct pw_fabric *f, const struct pw_aal_cell *c, u8 *data)
{
	struct fmsg *m = c->type == PW_CELL_T_DATA ? find(f, c->id) : NULL;
	u32 hdr[PW_AAL_HDR_WORDS], i, off, n;

	if (!m)
		return 0;
	i = (u16)(c->sqn - m->sqn);
	off = i * PW_CELL_DATA_LEN;
	n = PW_CELL_DATA_LEN;
	if (!i) {
		message_header(m, hdr);
		for (i = 0; i < PW_AAL_HDR_WORDS; i++)
			put_unaligned_be32(hdr[i], data + 4 * i);
		data += PW_CELL_MSG_HDR;
		n -= PW_CELL_MSG_HDR;
	} else {
		off -= PW_CELL_MSG_HDR;
	}
	if (off < m->len)
		message_bytes(f, m, off, data, min(n, m->len - off));
	return PW_CELL_DATA_LEN;
}

/* VPI of a cell on the link into @unit; see fill_tables() of bmx_net.c */
static u32 cell_vpi(const struct pw_fabric *f, const struct fcell *cell, u32 unit)
{
	u32 k = f->p.k, s = cell->c.src;
	bool all = cell->c.dst == PW_CELL_DST_ALL;

	switch (unit / f->ports) {
	case 0:
		return cell->vpi;
	case 1:
		return (f->ports + 1) * (s % k) + (all ? f->ports : cell->c.dst);
	case 2:
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
	u32 s;

	pw_cell_build(bytes, &h, pw_bmx_vpi_shift(f->p.k), data, cell_data(f, &cell->c, data));
	for (s = 0; s < PW_BMX_STAGES && s < unit / f->ports; s++)
		if (cell->damage & BIT(s))
			bytes[PW_BMX_FLIP(s)] ^= 1;
	f->ops->cell(f->ctx, unit, cycle, lost, bytes);
}

/* rtl: a byte on the link into a unit, which has taken @count bytes of the cell */
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
	/* not the next byte: the unit has refused the cell */
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

	for (i = 0; i < f->ports; i++)
		tap_byte(f, i, net->in_byte[i], net->in_byteind[i], net->ppd[i].count);
	for (i = 0; i < 2 * f->ports; i++) {
		ppd = net->peer[i];
		tap_byte(f, ppd, net->spd[i].byte, net->spd[i].byteind, net->ppd[ppd].count);
	}
	/* a port of a device refuses no cell */
	for (i = 0; i < f->ports; i++) {
		n = f->tap[PW_BMX_STAGES * f->ports + i].n;
		tap_byte(f, PW_BMX_STAGES * f->ports + i, net->out_byte[i], net->out_byteind[i],
			 n == PW_BMX_CELL - 1 ? 0 : n + 1);
	}
}

/**
 * pw_fabric_tapped() - is the tap on?
 * @f: fabric
 *
 * Return: true if ops->cell is called for every cell.
 */
bool pw_fabric_tapped(const struct pw_fabric *f)
{
	return f->tapped;
}

/* ---- delivery ---- */

static bool goes_to(const struct pw_fabric *f, const struct fmsg *m, u32 port)
{
	return m->dst == PW_FABRIC_ALL || m->dst == port;
}

/* end a message that is acknowledged and delivered everywhere */
static void end_message(struct pw_fabric *f, struct fmsg *m)
{
	struct fport *p = &f->port[m->src];
	u16 i = m - f->msg;

	if (!m->acked || m->need || m->ended)
		return;
	m->ended = true;
	if (m->prev == NONE)
		p->q_head = m->next;
	else
		f->msg[m->prev].next = m->next;
	if (m->next == NONE)
		p->q_tail = m->prev;
	else
		f->msg[m->next].prev = m->prev;
	p->q_num--;
	f->nmsgs--;
	if (fast(f) && f->lone->msg == i) {
		f->lone->t = m->t;
		f->lone->ended = true;
	}
	if (f->ops->done)
		f->ops->done(f->ctx, m->src, m->cookie, f->now, &m->t);
	m->used = false;
	m->next = f->msg_free;
	f->msg_free = i;
	if (p->full) {
		p->full = false;
		if (f->ops->room)
			f->ops->room(f->ctx, m->src, f->now);
	}
}

/* message @m was read (or dropped) at @port: deliver the messages that are in order now */
static void arrived(struct pw_fabric *f, struct fmsg *m, u32 port, bool read)
{
	struct fport *p = &f->port[m->src];
	u16 i, next;

	map_set(m->got, port);
	if (!read) {
		map_set(m->done, port);
		m->need--;
	}
	for (i = p->q_head; i != NONE; i = next) {
		struct fmsg *e = &f->msg[i];

		next = e->next;
		if (!goes_to(f, e, port) || map_get(e->done, port))
			continue;
		if (!map_get(e->got, port))
			break;
		map_set(e->done, port);
		e->t.delivered = f->now;
		e->need--;
		f->stats.delivered++;
		f->ops->deliver(f->ctx, port, e->src, e->cookie, e->len, f->now, &e->t);
		next = e->next;
		end_message(f, e);
	}
	if (m->used && !read)
		end_message(f, m);
}

/* ---- admission ---- */

/* receive blocks that message @m needs at @port */
static u32 demand(const struct pw_fabric *f, const struct fmsg *m, u32 port)
{
	return (goes_to(f, m, port) ? m->cells : 0) + (port == m->src ? m->acks : 0);
}

static bool fits_at(const struct pw_fabric *f, const struct fmsg *m, u32 port)
{
	u32 n = demand(f, m, port), held = f->port[port].reserved;

	return !n || !held || held + n <= f->p.credit;
}

/* a port with no reserved block takes a message of any size */
static bool fits(const struct pw_fabric *f, const struct fmsg *m)
{
	u32 i;

	if (m->dst != PW_FABRIC_ALL)
		return fits_at(f, m, m->dst) && fits_at(f, m, m->src);
	for (i = 0; i < f->ports; i++)
		if (!fits_at(f, m, i))
			return false;
	return true;
}

static bool overlap(const struct pw_fabric *f, const struct fmsg *a, const struct fmsg *b)
{
	if (a->dst == PW_FABRIC_ALL || b->dst == PW_FABRIC_ALL)
		return true;
	return a->dst == b->dst || a->src == b->dst || a->dst == b->src;
}

/* does no other port wait longer for one of the same ports? */
static bool first_in_line(const struct pw_fabric *f, const struct fport *p)
{
	const struct fmsg *m = &f->msg[p->q_wait];
	u32 i;

	if (f->nwaiting == p->waiting)
		return true;
	for (i = 0; i < f->ports; i++) {
		const struct fport *o = &f->port[i];

		if (o != p && o->waiting && (!p->waiting || o->ticket < p->ticket) &&
		    overlap(f, m, &f->msg[o->q_wait]))
			return false;
	}
	return true;
}

/* ports whose message was not admitted try again */
static void look_waiting(struct pw_fabric *f)
{
	u32 i;

	if (likely(!f->nwaiting))
		return;
	for (i = 0; i < f->ports; i++)
		if (f->port[i].waiting)
			want_look(f, i);
}

static bool admit(struct pw_fabric *f, struct fport *p)
{
	struct fmsg *m = &f->msg[p->q_wait];
	u32 i;

	if (!device(f))
		return true;
	if (!fits(f, m) || !first_in_line(f, p)) {
		if (!p->waiting) {
			p->ticket = f->tickets++;
			p->waiting = true;
			f->nwaiting++;
		}
		return false;
	}
	if (p->waiting) {
		p->waiting = false;
		f->nwaiting--;
	}
	f->port[m->src].reserved += m->acks;
	if (m->dst != PW_FABRIC_ALL)
		f->port[m->dst].reserved += m->cells;
	else
		for (i = 0; i < f->ports; i++)
			f->port[i].reserved += m->cells;
	/* another port may have waited only because this one was first in line */
	look_waiting(f);
	return true;
}

static void give_back(struct pw_fabric *f, u32 port, u32 n)
{
	struct fport *p = &f->port[port];

	if (!device(f))
		return;
	p->reserved -= min(p->reserved, n);
	look_waiting(f);
}

/* ---- complete messages of a port, oldest first ---- */

static u16 *ready_at(struct fport *p, u32 i)
{
	i += p->r_head;
	return &p->ready[i < p->r_cap ? i : i - p->r_cap];
}

static void ready_pop(struct fport *p)
{
	if (++p->r_head == p->r_cap)
		p->r_head = 0;
	p->r_num--;
}

/* ---- callbacks of the AAL units ---- */

static void on_ready(void *ctx, struct pw_aal *u, u32 id)
{
	struct pw_fabric *f = ctx;
	struct fmsg *m = find(f, id);

	if (m)
		m->t.segmented = u->now;
	want_look(f, u->cfg.port);
}

static void on_cell_out(void *ctx, struct pw_aal *u, const struct pw_aal_cell *c, bool again)
{
	struct pw_fabric *f = ctx;
	struct fmsg *m;
	/* the fast engine reports in C5_LOOK, the register engine when byte 0 is fetched */
	u64 at = fast(f) ? u->now + CYC_C5_FETCH : u->now;

	if (c->type == PW_CELL_T_ACK) {
		trace(f, PW_FABRIC_EV_ACK, u->cfg.port, 1, at, c);
		return;
	}
	trace(f, again ? PW_FABRIC_EV_RESEND : PW_FABRIC_EV_CELL, u->cfg.port, 1, at, c);
	m = c->flag & PW_CELL_F_FIRST ? find(f, c->id) : NULL;
	if (m && !m->t.first_out) {
		m->t.first_out = at;
		m->sqn = c->sqn;
	}
}

static void on_cell_in(void *ctx, struct pw_aal *u, const struct pw_aal_cell *c)
{
	struct pw_fabric *f = ctx;
	struct fmsg *m;
	u32 id = c->id;

	if (c->type == PW_CELL_T_ACK || !(c->flag & PW_CELL_F_FIRST))
		return;
	if (!fast(f))
		id = get_unaligned_be32(u->ic_cell + (size_t)u->iclb * PW_BMX_CELL +
					PW_CELL_DATA + 4 * (PW_AAL_HDR_WORDS - 1));
	m = find(f, id);
	if (m && !map_get(m->got, u->cfg.port) && m->t.reassembled <= u->now)
		m->t.first_in = u->now;
}

static void on_bad_cell(void *ctx, struct pw_aal *u)
{
	trace(ctx, PW_FABRIC_EV_BAD, u->cfg.port, 1, u->now, NULL);
}

static void on_refused(void *ctx, struct pw_aal *u, bool in)
{
	struct pw_fabric *f = ctx;

	/* the sender sees the suspend a cycle after the decision */
	trace(f, PW_FABRIC_EV_SUSPEND, in ? PW_BMX_STAGES * f->ports + u->cfg.port : u->cfg.port,
	      1, u->now - PW_BMX_DECIDE - !in, NULL);
}

static void on_acked(void *ctx, struct pw_aal *u, u32 id, u16 sqn, u16 from)
{
	struct pw_aal_cell c = { .sqn = sqn, .src = from, .dst = u->cfg.port };

	trace(ctx, PW_FABRIC_EV_ACKED, u->cfg.port, 1, u->now, &c);
}

static void on_complete(void *ctx, struct pw_aal *u, u16 desc)
{
	struct fport *p = &((struct pw_fabric *)ctx)->port[u->cfg.port];
	struct fmsg *m = find(ctx, u->msg[desc].hdr[4]);
	struct pw_fabric *f = ctx;

	if (m)
		m->t.reassembled = u->now;
	*ready_at(p, p->r_num++) = desc;
	want_look(f, u->cfg.port);
}

static void on_obsolete(void *ctx, struct pw_aal *u, u16 desc)
{
	struct pw_fabric *f = ctx;
	struct fport *p = &f->port[u->cfg.port];
	struct fmsg *m;
	u32 i, n = 0;

	/* if it is still in the list, it timed out unread */
	for (i = 0; i < p->r_num; i++) {
		if (*ready_at(p, i) == desc) {
			f->stats.lost++;
			m = find(f, u->msg[desc].hdr[4]);
			if (m && !map_get(m->got, u->cfg.port))
				arrived(f, m, u->cfg.port, false);
			continue;
		}
		*ready_at(p, n++) = *ready_at(p, i);
	}
	p->r_num = n;
}

static void on_freed(void *ctx, struct pw_aal *u)
{
	give_back(ctx, u->cfg.port, 1);
}

static void on_released(void *ctx, struct pw_aal *u, u32 id)
{
	struct pw_fabric *f = ctx;
	struct fmsg *m = find(f, id);

	if (!m)
		return;
	m->acked = true;
	m->t.acked = u->now;
	give_back(f, m->src, m->acks);
	end_message(f, m);
}

static void on_room(void *ctx, struct pw_aal *u)
{
	struct pw_fabric *f = ctx;

	if (fast(f))
		pw_bmx_fast_wake(f->fnet, u->cfg.port, f->now);
}

static void on_got(void *ctx, struct pw_aal *u)
{
	struct pw_fabric *f = ctx;

	map_set(f->end, u->cfg.port);
	f->ends = true;
}

static void on_granted(void *ctx, struct pw_aal *u, bool read)
{
	struct pw_fabric *f = ctx;

	if (fast(f) && !read) {
		f->port[u->cfg.port].rx = NONE;
		want_look(f, u->cfg.port);
	}
}

/* ---- callbacks of the fast network ---- */

static void on_tx(void *ctx, struct pw_aal *u, const struct pw_aal_cell *c, u16 vpi, u64 t)
{
	struct pw_fabric *f = ctx;
	u32 i = f->cell_free;

	f->cell_free = f->cell[i].next;
	f->cell[i].c = *c;
	f->cell[i].vpi = vpi;
	f->cell[i].damage = 0;
	f->cell[i].copies = c->dst == PW_CELL_DST_ALL ? f->ports : 1;
	pw_bmx_fast_offer(f->fnet, u->cfg.port, t, vpi, i, 0);
}

static void cell_put(struct pw_fabric *f, u32 i, u32 copies)
{
	f->cell[i].copies -= copies;
	if (f->cell[i].copies)
		return;
	f->cell[i].next = f->cell_free;
	f->cell_free = i;
}

static void replan(struct pw_fabric *f, u32 port);

static enum pw_bmx_rx net_rx(void *ctx, u32 port, u32 cookie, u64 t, u32 flags)
{
	struct pw_fabric *f = ctx;
	bool bad = flags & PW_BMX_CELL_CORRUPT;

	if (!pw_aal_fast_rx(f->port[port].u, t, &f->cell[cookie].c, bad))
		return PW_BMX_RX_BLOCK;
	if (unlikely(f->tapped))
		tap_cell(f, cookie, PW_BMX_STAGES * f->ports + port, t, false);
	cell_put(f, cookie, 1);
	replan(f, port);
	return PW_BMX_RX_ACCEPT;
}

static void net_accepted(void *ctx, u32 port, u32 cookie, u64 t)
{
	struct pw_fabric *f = ctx;

	pw_aal_fast_accepted(f->port[port].u, t);
	replan(f, port);
}

static void net_dropped(void *ctx, u32 ppd, u32 cookie, u32 copies)
{
	struct pw_fabric *f = ctx;

	trace(f, PW_FABRIC_EV_DROP, ppd, copies, f->now, &f->cell[cookie].c);
	if (f->tapped)
		tap_cell(f, cookie, ppd, f->hop_at, true);
	cell_put(f, cookie, copies);
}

static void net_hop(void *ctx, u32 ppd, u32 cookie, u64 t)
{
	struct pw_fabric *f = ctx;

	trace(f, PW_FABRIC_EV_HOP, ppd, 1, t, &f->cell[cookie].c);
	if (f->tapped)
		tap_cell(f, cookie, ppd, t, false);
	f->hop_cell = cookie;
	f->hop_at = t;
}

static void net_suspended(void *ctx, u32 ppd, u64 tries, u64 t)
{
	trace(ctx, PW_FABRIC_EV_SUSPEND, ppd, tries, t, NULL);
}

static enum pw_bmx_fault net_fault(void *ctx, u32 ppd, u64 t)
{
	struct pw_fabric *f = ctx;
	enum pw_bmx_fault what = PW_BMX_FAULT_NONE;

	if (f->faults)
		what = f->ops->fault(f->ctx, ppd, t);
	if (fast(f)) {
		/* net_hop() was called just before for the same cell */
		if (what == PW_BMX_FAULT_CORRUPT)
			f->cell[f->hop_cell].damage |= BIT(ppd / f->ports);
	} else {
		f->tap[ppd].lost = what == PW_BMX_FAULT_DROP;
		if (what == PW_BMX_FAULT_DROP)
			trace(f, PW_FABRIC_EV_DROP, ppd, 1, f->now, NULL);
		trace(f, PW_FABRIC_EV_HOP, ppd, 1, t, NULL);
	}
	return what;
}

static const struct pw_aal_ops unit_ops = {
	.ready = on_ready,
	.cell_out = on_cell_out,
	.cell_in = on_cell_in,
	.bad_cell = on_bad_cell,
	.refused = on_refused,
	.acked = on_acked,
	.complete = on_complete,
	.granted = on_granted,
	.got = on_got,
	.room = on_room,
	.obsolete = on_obsolete,
	.freed = on_freed,
	.released = on_released,
	.tx = on_tx,
};

/* ---- processes ---- */

static void host_fetch(void *ctx, struct pw_aal_host *h, u32 off, u8 *buf, u32 n)
{
	struct pw_fabric *f = ctx;
	struct fmsg *m = &f->msg[f->port[h->u->cfg.port].tx];

	message_bytes(f, m, off, buf, n);
}

static void host_store(void *ctx, struct pw_aal_host *h, u32 off, const u8 *buf, u32 n)
{
	struct pw_fabric *f = ctx;
	struct fmsg *m = &f->msg[f->port[h->u->cfg.port].rx];
	u8 want[4] = {};
	u32 i;

	message_bytes(f, m, off, want, n);
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
	arrived(f, m, h->u->cfg.port, true);
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

static void start_tx(struct pw_fabric *f, u32 port)
{
	struct fport *p = &f->port[port];
	struct fmsg *m = &f->msg[p->q_wait];
	struct pw_aal_job job;
	struct pw_aal_send s;

	p->tx = p->q_wait;
	p->q_wait = m->next;
	p->sent_last = true;
	if (fast(f)) {
		m->t.start = f->now + f->p.gap_lock;
		s.id = m->id;
		s.len = m->len;
		s.dst = m->dst;
		s.com = m->dst == PW_FABRIC_ALL ? PW_CELL_COM_ALL : PW_CELL_COM_ONE;
		s.route = m->route;
		s.gap_lock = f->p.gap_lock;
		s.gap_init = f->p.gap_init;
		pw_aal_fast_send(p->u, f->now, &s);
		replan(f, port);
		return;
	}
	memset(&job, 0, sizeof(job));
	message_header(m, job.hdr);
	job.len = m->len;
	job.dst = m->dst;
	job.all = m->dst == PW_FABRIC_ALL;
	job.route = m->route;
	job.gap_lock = f->p.gap_lock;
	job.gap_init = f->p.gap_init;
	pw_aal_host_send(&p->host, &job);
	pw_aal_host_step(&p->host);
}

static void start_rx(struct pw_fabric *f, u32 port, struct fmsg *m)
{
	struct fport *p = &f->port[port];
	struct pw_aal_job job;

	p->rx = m - f->msg;
	p->sent_last = false;
	if (fast(f)) {
		pw_aal_fast_recv(p->u, f->now, m->id, m->len, f->p.gap_get);
		replan(f, port);
		return;
	}
	memset(&job, 0, sizeof(job));
	message_header(m, job.hdr);
	job.hdr[3] = port;
	job.len = m->len;
	job.gap_get = f->p.gap_get;
	pw_aal_host_recv(&p->host, &job);
	pw_aal_host_step(&p->host);
}

/* oldest complete message that the process reads; others are dropped */
static struct fmsg *next_ready(struct pw_fabric *f, u32 port)
{
	struct fport *p = &f->port[port];
	struct fmsg *m;
	u16 desc;

	while (p->r_num) {
		desc = p->ready[p->r_head];
		m = find(f, p->u->msg[desc].hdr[4]);
		if (m && p->attached && (m->src != port || f->p.flags & PW_FABRIC_F_SELF ||
					 m->dst != PW_FABRIC_ALL))
			return m;
		ready_pop(p);
		if (fast(f)) {
			p->u->now = f->now;
			pw_aal_fast_discard(p->u, desc);
			replan(f, port);
		} else {
			pw_aal_discard(p->u, desc);
		}
		if (!m)
			continue;
		if (m->src != port || m->dst != PW_FABRIC_ALL)
			f->stats.unclaimed++;
		arrived(f, m, port, false);
	}
	return NULL;
}

/* polling: the oldest message sent to this port and not yet read */
static struct fmsg *expected(struct pw_fabric *f, u32 port)
{
	struct fmsg *m, *best = NULL;
	u32 i;
	u16 j;

	if (!f->port[port].attached)
		return NULL;
	for (i = 0; i < f->ports; i++) {
		for (j = f->port[i].q_head; j != NONE; j = f->msg[j].next) {
			m = &f->msg[j];
			if (goes_to(f, m, port) && !map_get(m->got, port) &&
			    (i != port || f->p.flags & PW_FABRIC_F_SELF || m->dst == port) &&
			    (!best || m->t.start < best->t.start))
				best = m;
		}
	}
	return best;
}

/* an idle process receives or sends, in turn if there is both */
static void look(struct pw_fabric *f, u32 port)
{
	bool poll = f->p.flags & PW_FABRIC_F_POLL;
	struct fport *p = &f->port[port];
	struct fmsg *m;

	if (p->u->dev.wlcked || p->u->dev.rlcked || (!fast(f) && !pw_aal_host_idle(&p->host)))
		return;
	m = next_ready(f, port);
	if (poll && p->q_wait == NONE)
		m = expected(f, port);
	if (p->q_wait != NONE && !(m && p->sent_last) && admit(f, p)) {
		start_tx(f, port);
		return;
	}
	if (!m)
		return;
	if (p->r_num && !poll)
		ready_pop(p);
	start_rx(f, port, m);
}

static void look_all(struct pw_fabric *f)
{
	u32 w, bit;

	while (f->looks) {
		f->looks = false;
		for (w = 0; w < MAP_WORDS; w++)
			while (f->look[w]) {
				bit = fls(f->look[w] & -f->look[w]) - 1;
				f->look[w] &= ~(1U << bit);
				look(f, 32 * w + bit);
			}
	}
}

/* ---- units by next event ---- */

static void forget(struct pw_fabric *f, u32 port)
{
	struct fport *p = &f->port[port];
	u32 slot, i;
	u64 *w, any;

	if (p->noted == IN_WHEEL) {
		slot = p->next % SLOTS;
		w = &f->slot[slot * f->words];
		w[port / 64] &= ~BIT_ULL(port % 64);
		for (i = 0, any = 0; i < f->words; i++)
			any |= w[i];
		if (!any)
			f->slots &= ~BIT_ULL(slot);
	} else if (p->noted == FAR_AWAY) {
		map_clear(f->far, port);
	}
	p->noted = NOT_NOTED;
}

static inline void note(struct pw_fabric *f, u32 port, u64 next)
{
	struct fport *p = &f->port[port];
	u32 slot = next % SLOTS;

	p->next = next;
	if (likely(next - f->now < SLOTS)) {
		f->slot[slot * f->words + port / 64] |= BIT_ULL(port % 64);
		f->slots |= BIT_ULL(slot);
		p->noted = IN_WHEEL;
	} else if (next != NEVER) {
		map_set(f->far, port);
		f->far_next = min(f->far_next, next);
		p->noted = FAR_AWAY;
	}
}

/* the next event of the unit of @port may have changed */
static void replan(struct pw_fabric *f, u32 port)
{
	u64 next = pw_aal_fast_next(f->port[port].u);

	if (next == f->port[port].next)
		return;
	forget(f, port);
	note(f, port, next);
}

/* move the units whose next event is near now to the wheel */
static void far_scan(struct pw_fabric *f)
{
	u32 w, bits, port;

	f->far_next = NEVER;
	for (w = 0; w < DIV_ROUND_UP(f->ports, 32); w++) {
		for (bits = f->far[w]; bits; bits &= bits - 1) {
			port = 32 * w + fls(bits & -bits) - 1;
			forget(f, port);
			note(f, port, f->port[port].next);
		}
	}
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
		for (i = f->ports; i < PW_BMX_STAGES * f->ports; i++)
			if (net->ppd[i].suspend)
				trace(f, PW_FABRIC_EV_SUSPEND, i, 1, f->now - PW_BMX_DECIDE, NULL);
	for (i = 0; i < f->ports; i++) {
		if (!pw_aal_host_idle(&f->port[i].host)) {
			pw_aal_host_step(&f->port[i].host);
			if (pw_aal_host_idle(&f->port[i].host))
				want_look(f, i);
		}
	}
	if (f->p.flags & PW_FABRIC_F_POLL)
		for (i = 0; i < f->ports; i++)
			want_look(f, i);
	look_all(f);
}

/* is nothing stored or under way anywhere? */
static bool rtl_idle(const struct pw_fabric *f)
{
	const struct pw_bmx_net *net = f->net;
	u32 i;

	if (f->looks)
		return false;
	for (i = 0; i < f->ports; i++) {
		const struct pw_aal *u = f->port[i].u;

		if (u->ogbblknum || u->icbblknum || u->dev.busy || u->dev.busi ||
		    u->st[5] != C5_LOOK || u->st[7] != C7_LOOK || u->st[8] != C8_IDLE ||
		    u->ogbytei || u->bufi || u->count || u->sync75 ||
		    !pw_aal_host_idle(&f->port[i].host) || f->port[i].q_num)
			return false;
	}
	for (i = 0; i < PW_BMX_STAGES * f->ports; i++) {
		const struct pw_bmx_ppd *p = &net->ppd[i];
		const struct pw_bmx_spd *s = &net->spd[i];

		if (p->aind || p->bind || p->cind || p->dind || p->oind || p->pind || p->qind ||
		    p->count || p->suspend || s->bufind || s->byteind || s->trsmit)
			return false;
	}
	for (i = 0; i < PW_BMX_STAGES * f->ports * f->p.k; i++)
		if (net->xpm[i].size)
			return false;
	return true;
}

/* idle fabric: only controller 10 moves, a turn after the other */
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

/* cycle of the next event; the wheels of units and network have the same size */
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
	for (w = 0; w < MAP_WORDS; w++) {
		while (f->end[w]) {
			struct fport *p;
			struct fmsg *m;

			i = 32 * w + fls(f->end[w] & -f->end[w]) - 1;
			map_clear(f->end, i);
			p = &f->port[i];
			p->u->now = f->now;
			pw_aal_fast_read_done(p->u);
			replan(f, i);
			m = &f->msg[p->rx];
			p->rx = NONE;
			want_look(f, i);
			arrived(f, m, i, true);
		}
	}
}

/* run the units with a bit in @bits; bit 0 is port @first */
static u32 run_units(struct pw_fabric *f, u32 first, u64 bits)
{
	struct fport *p;
	u32 n = 0, port;

	for (; bits; bits &= bits - 1, n++) {
		port = first + __ffs64(bits);
		p = &f->port[port];
		/* its bit is cleared; a unit runs once per cycle */
		p->noted = NOT_NOTED;
		pw_aal_fast_run(p->u, f->now);
		note(f, port, pw_aal_fast_next(p->u));
	}
	return n;
}

/* run the events of one cycle: units, network, processes */
static inline u32 fast_cycle(struct pw_fabric *f, u64 now)
{
	u32 slot = now % SLOTS, work = 0, i;
	u64 bits;

	/* the network has no event before this cycle either */
	f->fnet->now = now - 1;
	f->now = now;
	if (unlikely(f->far_next <= now))
		far_scan(f);
	if (f->slots & BIT_ULL(slot)) {
		f->slots &= ~BIT_ULL(slot);
		for (i = slot * f->words; i < (slot + 1) * f->words; i++) {
			bits = f->slot[i];
			f->slot[i] = 0;
			work += run_units(f, 64 * (i - slot * f->words), bits);
		}
		f->stats.events += work;
	}
	work += pw_bmx_fast_cycle(f->fnet, now);
	if (unlikely(f->ends))
		fast_ends(f);
	if (unlikely(f->looks))
		look_all(f);
	return work;
}

/* Cycle @now in parts, in the order of fast_cycle(): see fast_part(). */
static void fast_begin(struct pw_fabric *f, u64 now)
{
	u32 slot = now % SLOTS;

	f->fnet->now = now - 1;
	f->now = now;
	if (unlikely(f->far_next <= now))
		far_scan(f);
	f->part = f->words + 1;
	if (f->slots & BIT_ULL(slot)) {
		f->slots &= ~BIT_ULL(slot);
		f->part = 1;
	}
}

/* parts 1 to words: up to 64 units each; the last one: network, processes */
static u32 fast_part(struct pw_fabric *f)
{
	u32 work, i = f->now % SLOTS * f->words + f->part - 1;
	u64 bits;

	if (f->part <= f->words) {
		bits = f->slot[i];
		f->slot[i] = 0;
		work = run_units(f, 64 * (f->part - 1), bits);
		f->stats.events += work;
		f->part++;
		return work;
	}
	f->part = 0;
	work = pw_bmx_fast_cycle(f->fnet, f->now);
	if (f->ends)
		fast_ends(f);
	if (f->looks)
		look_all(f);
	return work;
}

/* @parts: may stop inside a cycle of many ports */
static void fast_run(struct pw_fabric *f, u64 until, u32 max_work, bool parts)
{
	u32 work = 0;
	u64 at;

	parts &= f->words > 1;
	for (;;) {
		if (unlikely(f->part)) {
			work += fast_part(f);
			if (parts && work >= max_work)
				return;
			continue;
		}
		if (f->now >= until || work >= max_work)
			return;
		at = fast_next(f);
		if (at > until) {
			f->now = until;
			return;
		}
		if (parts)
			fast_begin(f, at);
		else
			work += fast_cycle(f, at);
	}
}

/**
 * pw_fabric_run() - run up to a cycle
 * @f: fabric
 * @until: last cycle to run
 * @max_work: stop after about this many steps: cycles (rtl), events (fast)
 *
 * Callbacks are made from here. Time over which nothing happens costs nothing.
 *
 * Return: the cycle reached, less than @until if @max_work was.
 */
u64 pw_fabric_run(struct pw_fabric *f, u64 until, u32 max_work)
{
	u32 work = 0;

	if (fast(f)) {
		if (!f->part)
			look_all(f);
		fast_run(f, until, max_work, false);
		return f->now;
	}
	look_all(f);
	while (f->now < until && work < max_work) {
		if (!(work % IDLE_EVERY) && rtl_idle(f)) {
			rtl_skip(f, until - f->now);
			break;
		}
		rtl_cycle(f);
		work++;
	}
	return f->now;
}

/**
 * pw_fabric_run_part() - run up to a cycle, and stop inside a cycle if that is long
 * @f: fabric
 * @until: last cycle to run
 * @max_work: as for pw_fabric_run()
 *
 * A cycle of the fast engine with more than 64 ports may have an event in every one of
 * them. Until the cycle is complete no message may be sent.
 *
 * Return: true if the last cycle is complete.
 */
bool pw_fabric_run_part(struct pw_fabric *f, u64 until, u32 max_work)
{
	if (!fast(f)) {
		pw_fabric_run(f, until, max_work);
		return true;
	}
	if (!f->part)
		look_all(f);
	fast_run(f, until, max_work, true);
	return !f->part;
}

/**
 * pw_fabric_next() - cycle of the next event
 * @f: fabric
 *
 * Return: the cycle, PW_FABRIC_NEVER if there is none without a new message.
 */
u64 pw_fabric_next(struct pw_fabric *f)
{
	if (f->part)
		return f->now;
	look_all(f);
	if (fast(f))
		return fast_next(f);
	return rtl_idle(f) ? NEVER : f->now + 1;
}

/* ---- a message alone in the fabric (fast engine) ---- */

/*
 * Bound for the time after the last get until the message is dropped, apart from the
 * sources that controller 10 passes: the rest of a turn, the message itself (EXPIRED,
 * DROP) and a margin of four cycles. Controller 7 then releases a block in each cycle.
 */
#define LONE_AFTER	(CYC_C10_TURN + CYC_C10_MSG + 4)

/* no trace, fault hook or tap needs single cells */
static bool unwatched(const struct pw_fabric *f)
{
	return !f->tracing && !f->faults && !f->tapped;
}

static void lone_forget(struct pw_fabric *f)
{
	if (fast(f))
		f->lone->msg = NONE;
}

static void lone_way(struct pw_fabric *f, u16 src, u16 dst, struct pw_lone_way *way)
{
	way->net = f->fnet;
	way->u[0] = f->port[src].u;
	way->u[1] = f->port[dst].u;
}

static bool lone_idle(struct pw_fabric *f, const struct pw_lone_way *way)
{
	return fast_next(f) == NEVER && pw_aal_fast_idle(way->u[0]) && pw_aal_fast_idle(way->u[1]);
}

/* before another message: store the result of the watched one if it was alone to its end */
static void lone_learn(struct pw_fabric *f)
{
	struct flone *l = f->lone;
	struct pw_lone_times t;
	struct pw_lone_way way;

	if (!fast(f) || l->msg == NONE)
		return;
	l->msg = NONE;
	lone_way(f, l->watch.key.src, l->watch.key.dst, &way);
	if (!l->ended || !lone_idle(f, &way))
		return;
	t.start = l->t.start - l->begin;
	t.segmented = l->t.segmented - l->begin;
	t.first_out = l->t.first_out - l->begin;
	t.first_in = l->t.first_in - l->begin;
	t.reassembled = l->t.reassembled - l->begin;
	t.delivered = l->t.delivered - l->begin;
	t.acked = l->t.acked - l->begin;
	t.quiet = way.u[0]->now - l->begin;
	pw_lone_learn(l->known, &l->watch, &way, &t);
}

/* the only message in the fabric, if it is not yet started and qualifies; or NULL */
static struct fmsg *lone_message(struct pw_fabric *f)
{
	struct fport *p = &f->port[f->last_src];
	struct fmsg *m;

	if (f->nmsgs != 1 || p->q_wait == NONE || !fast(f) || !device(f) || !unwatched(f))
		return NULL;
	m = &f->msg[p->q_wait];
	if (m->dst == PW_FABRIC_ALL || m->dst == m->src || !f->port[m->dst].attached)
		return NULL;
	return m;
}

/* apply the stored result of lone message @m, from its start to the idle fabric */
static void lone_play(struct pw_fabric *f, struct fmsg *m, const struct pw_lone *e,
		      const struct pw_lone_way *way)
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
	pw_lone_apply(e, way);
	f->now = begin + e->t.delivered;
	gone = pw_aal_fast_passed(way->u[1], m->src, m->t.reassembled, f->now);
	m->acked = acked <= f->now;
	arrived(f, m, m->dst, true);
	if (acked > f->now) {
		f->now = acked;
		m->acked = true;
		end_message(f, m);
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
	struct pw_lone_way way;
	struct pw_lone_key key;
	u64 last;

	if (!m || f->part)
		return false;
	lone_way(f, m->src, m->dst, &way);
	if (!lone_idle(f, &way))
		return false;
	pw_lone_key(&key, &way, m->len, m->route);
	e = pw_lone_find(f->lone->known, &key);
	if (!e) {
		f->lone->msg = m - f->msg;
		f->lone->begin = f->now;
		f->lone->ended = false;
		pw_lone_begin(&f->lone->watch, &way, &key);
		return false;
	}
	last = f->now + e->t.delivered + CYC_C10_SOURCE * f->ports + LONE_AFTER + m->cells;
	if (max(last, f->now + e->t.quiet) > until)
		return false;
	lone_play(f, m, e, &way);
	return true;
}

/**
 * pw_fabric_send() - hand over a message
 * @f: fabric
 * @src: sending port
 * @dst: destination port, PW_FABRIC_ALL for every port
 * @route: 0..k-1, PW_FABRIC_AUTO for the next in turn
 * @len: data bytes
 * @cookie: identifies the message in the callbacks
 * @data: its bytes (rtl), may be NULL; must stay until ops->done()
 *
 * Return: 0; -EINVAL for a port or route that does not exist; -EMSGSIZE if it
 * does not fit into the buffers; -EBUSY if the queue of the port is full, ops->room() is
 * called when it has room again.
 */
int pw_fabric_send(struct pw_fabric *f, u16 src, u16 dst, int route, u32 len, u64 cookie,
		   const void *data)
{
	struct fport *p;
	struct fmsg *m, probe;
	u32 i;

	if (src >= f->ports || (dst >= f->ports && dst != PW_FABRIC_ALL) || route >= (int)f->p.k ||
	    route < PW_FABRIC_AUTO)
		return -EINVAL;
	p = &f->port[src];
	memset(&probe, 0, sizeof(probe));
	probe.src = src;
	probe.dst = dst;
	if (len > PW_FABRIC_MAX_LEN)
		return -EMSGSIZE;
	probe.cells = pw_cell_count(len);
	probe.acks = probe.cells;
	if (dst == PW_FABRIC_ALL)
		probe.acks = min(probe.cells * f->ports, f->window);
	if (probe.cells > f->p.og_blocks || probe.cells > f->p.ic_blocks)
		return -EMSGSIZE;
	/* the sender needs most if it is one of the receivers */
	if (device(f) && probe.acks + (goes_to(f, &probe, src) ? probe.cells : 0) > f->cap)
		return -EMSGSIZE;
	if (p->q_num >= f->p.queue || f->msg_free == NONE) {
		p->full = true;
		f->stats.busy++;
		return -EBUSY;
	}
	lone_learn(f);
	i = f->msg_free;
	m = &f->msg[i];
	f->msg_free = m->next;
	probe.gen = m->gen + 1;
	*m = probe;
	m->used = true;
	m->id = (u32)m->gen << 16 | i;
	m->cookie = cookie;
	m->data = data;
	m->len = len;
	m->route = route;
	m->need = dst == PW_FABRIC_ALL ? f->ports : 1;
	m->next = NONE;
	m->prev = p->q_tail;
	if (p->q_tail == NONE)
		p->q_head = i;
	else
		f->msg[p->q_tail].next = i;
	p->q_tail = i;
	if (p->q_wait == NONE)
		p->q_wait = i;
	p->q_num++;
	f->nmsgs++;
	f->last_src = src;
	f->stats.sent++;
	want_look(f, src);
	return 0;
}

/**
 * pw_fabric_init() - fabric after reset, a process at every port
 * @mem: pw_fabric_size() bytes, aligned to 8
 * @p: sizes, checked
 * @ops: callbacks
 * @ctx: first argument of the callbacks
 *
 * Return: the fabric (at @mem).
 */
struct pw_fabric *pw_fabric_init(void *mem, const struct pw_fabric_params *p,
				 const struct pw_fabric_ops *ops, void *ctx)
{
	struct pw_arena a = { .base = mem };
	struct pw_fabric *f = layout(&a, NULL, p);
	struct pw_bmx_cfg nc;
	struct pw_aal_cfg ac;
	u32 i, n;

	f->ops = ops;
	f->ctx = ctx;
	f->tracing = ops->trace;
	f->far_next = NEVER;
	memset(f->slot, 0, sizeof(*f->slot) * SLOTS * f->words);
	net_cfg(&f->p, &nc);
	if (fast(f)) {
		f->fnet_ops.rx = net_rx;
		f->fnet_ops.accepted = net_accepted;
		f->fnet_ops.dropped = net_dropped;
		f->fnet = pw_bmx_fast_init(f->fnet, &nc, &f->fnet_ops, f);
		n = cell_pool(&f->p);
		for (i = 0; i < n; i++)
			f->cell[i].next = i + 1;
		memset(f->lone, 0, sizeof(*f->lone));
		f->lone->msg = NONE;
	} else {
		f->net = pw_bmx_net_init(f->net, &nc);
	}
	pw_fabric_hooks(f, true, true);
	for (i = 0; i < f->ports; i++) {
		struct fport *q = &f->port[i];

		unit_cfg(&f->p, i, &ac);
		q->u = pw_aal_init(q->u, &ac, &unit_ops, f);
		pw_aal_host_init(&q->host, q->u, &host_ops, f);
		q->q_head = NONE;
		q->q_tail = NONE;
		q->q_wait = NONE;
		q->tx = NONE;
		q->rx = NONE;
		q->attached = true;
		q->next = NEVER;
		q->noted = NOT_NOTED;
		f->window = ac.window;
	}
	f->cap = f->p.ic_blocks - PW_FABRIC_SLACK;
	n = f->p.queue * f->ports;
	for (i = 0; i < n; i++) {
		f->msg[i].used = false;
		f->msg[i].gen = 0;
		f->msg[i].next = i + 1 < n ? i + 1 : NONE;
	}
	return f;
}

/* hand message @m over wherever it has not been, without the rest of its way */
static void hand_over(struct pw_fabric *f, struct fmsg *m)
{
	u32 port;

	for (port = 0; port < f->ports; port++) {
		if (!goes_to(f, m, port) || map_get(m->done, port) || !f->port[port].attached)
			continue;
		if (port == m->src && m->dst == PW_FABRIC_ALL && !(f->p.flags & PW_FABRIC_F_SELF))
			continue;
		m->t.delivered = f->now;
		f->stats.delivered++;
		f->ops->deliver(f->ctx, port, m->src, m->cookie, m->len, f->now, &m->t);
	}
}

/**
 * pw_fabric_flush() - give messages up that are in the fabric
 * @f: fabric; after the first call it can only be flushed
 * @max: how many messages
 *
 * Each is handed over now, in the order of its sender, to those that have not got it
 * yet: what is left of its way is not worked out. ops->deliver and ops->done must not
 * send; ops->room is not called.
 *
 * Return: true if there may be more.
 */
bool pw_fabric_flush(struct pw_fabric *f, u32 max)
{
	struct fmsg *m;
	struct fport *p;

	for (; f->flushed < f->ports; f->flushed++) {
		p = &f->port[f->flushed];
		while (p->q_head != NONE) {
			if (!max--)
				return true;
			m = &f->msg[p->q_head];
			hand_over(f, m);
			p->q_head = m->next;
			if (f->ops->done)
				f->ops->done(f->ctx, m->src, m->cookie, f->now, &m->t);
		}
	}
	return false;
}

/* set the callbacks of the network that are needed for every cell */
static void set_hooks(struct pw_fabric *f)
{
	if (fast(f)) {
		/* net_fault() finds the damaged cell by its hop */
		f->fnet_ops.hop = f->tracing || f->tapped || (f->faults && f->ops->cell) ? net_hop :
											   NULL;
		f->fnet_ops.suspended = f->tracing ? net_suspended : NULL;
		f->fnet_ops.fault = f->faults ? net_fault : NULL;
	} else {
		f->net->fault = f->tracing || f->tapped || f->faults ? net_fault : NULL;
		f->net->fault_ctx = f;
	}
}

/**
 * pw_fabric_hooks() - enable or disable the callbacks for every cell
 * @f: fabric
 * @trace: call ops->trace
 * @fault: call ops->fault
 *
 * After pw_fabric_init() every hook that ops provides is enabled. Both cost time for
 * every cell at every input unit.
 */
void pw_fabric_hooks(struct pw_fabric *f, bool trace, bool fault)
{
	f->tracing = trace && f->ops->trace;
	f->faults = fault && f->ops->fault;
	if (!unwatched(f))
		lone_forget(f);
	set_hooks(f);
}

/**
 * pw_fabric_tap() - switch the tap on or off
 * @f: fabric
 * @on: call ops->cell with the bytes of every cell
 *
 * Cells of messages that have ended (repeated cells) have no data in the fast engine. The
 * tap changes no cycle.
 */
void pw_fabric_tap(struct pw_fabric *f, bool on)
{
	u32 i;

	on = on && f->ops->cell;
	if (on == f->tapped)
		return;
	lone_forget(f);
	f->tapped = on;
	for (i = 0; !fast(f) && i < TAPS * f->ports; i++)
		f->tap[i].n = TAP_WAIT;
	set_hooks(f);
}

/**
 * pw_fabric_attach() - attach or detach the process of a port
 * @f: fabric
 * @port: port
 * @on: attach; without a process, messages for the port are acknowledged and dropped
 *
 * Return: 0 or -EINVAL.
 */
int pw_fabric_attach(struct pw_fabric *f, u16 port, bool on)
{
	if (port >= f->ports)
		return -EINVAL;
	f->port[port].attached = on;
	want_look(f, port);
	lone_forget(f);
	return 0;
}

/**
 * pw_fabric_now() - virtual time
 * @f: fabric
 *
 * Return: number of the last cycle done.
 */
u64 pw_fabric_now(const struct pw_fabric *f)
{
	return f->now;
}

/**
 * pw_fabric_qsize() - bytes in a queue of the network
 * @f: fabric
 * @ppd: input unit
 * @q: its queue
 *
 * Return: the size after the last cycle done.
 */
u32 pw_fabric_qsize(struct pw_fabric *f, u32 ppd, u32 q)
{
	if (!fast(f))
		return f->net->xpm[(size_t)ppd * f->p.k + q].size;
	if (f->fnet->now < f->now)
		pw_bmx_fast_run_until(f->fnet, net_now(f));
	return pw_bmx_fast_qsize(f->fnet, ppd, q);
}

/**
 * pw_fabric_stage() - counters of a stage
 * @f: fabric
 * @stage: 0..2 input units of the stages, 3 output ports
 * @s: result
 */
void pw_fabric_stage(struct pw_fabric *f, u32 stage, struct pw_fabric_stage *s)
{
	u64 cells, refused;
	u32 i;

	memset(s, 0, sizeof(*s));
	if (fast(f) && f->fnet->now < f->now)
		pw_bmx_fast_run_until(f->fnet, net_now(f));
	for (i = 0; i < f->ports; i++) {
		if (fast(f)) {
			pw_bmx_fast_count(f->fnet, stage * f->ports + i, &cells, &refused);
		} else if (stage < PW_BMX_STAGES) {
			cells = f->net->ppd[stage * f->ports + i].cells;
			refused = f->net->ppd[stage * f->ports + i].refused;
		} else {
			refused = f->port[i].u->stats.refused_in;
			cells = f->port[i].u->stats.taken;
		}
		s->cells += cells;
		s->refused += refused;
	}
	if (stage < PW_BMX_STAGES) {
		s->dropped = fast(f) ? f->fnet->dropped[stage] : f->net->dropped[stage];
		s->corrupted = fast(f) ? f->fnet->corrupted[stage] : f->net->corrupted[stage];
	}
}

/**
 * pw_fabric_port_stats() - counters of a port
 * @f: fabric
 * @port: port
 * @s: result
 */
void pw_fabric_port_stats(struct pw_fabric *f, u16 port, struct pw_aal_stats *s)
{
	u64 cells;

	*s = f->port[port].u->stats;
	if (!fast(f)) {
		/* counted in the input unit; the AAL unit sees it one cycle later */
		s->refused_out = f->net->ppd[port].refused;
		return;
	}
	if (f->fnet->now < f->now)
		pw_bmx_fast_run_until(f->fnet, net_now(f));
	pw_bmx_fast_count(f->fnet, port, &cells, &s->refused_out);
	pw_bmx_fast_count(f->fnet, PW_BMX_STAGES * f->ports + port, &cells, &s->refused_in);
}
