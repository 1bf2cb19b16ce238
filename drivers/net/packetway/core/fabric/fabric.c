// SPDX-License-Identifier: GPL-2.0
/* Whole BMX fabric: AAL units, network, processes and the messages between them. */
#include "fabric_priv.h"

/**
 * __pw_fabric_trace() - hand a trace record to the owner
 * @f: fabric; tracing is on
 * @ev: what
 * @unit: port or input unit, as in enum pw_fabric_ev
 * @n: how often
 * @cycle: when
 * @c: cell, NULL if it is not known
 */
void __pw_fabric_trace(struct pw_fabric *f, enum pw_fabric_ev ev, u32 unit, u32 n, u64 cycle,
		       const struct pw_aal_cell *c)
{
	struct pw_fabric_trace t;

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

/**
 * pw_fabric_message_header() - header words of a message
 * @f: fabric
 * @m: message
 * @hdr: result
 */
void pw_fabric_message_header(const struct pw_fabric *f, const struct fmsg *m, u32 *hdr)
{
	if (unlikely(f->procs)) {
		memcpy(hdr, f->procs->msg[m - f->msg], sizeof(*f->procs->msg));
		return;
	}
	hdr[0] = 'p';
	hdr[1] = 'w';
	hdr[2] = 'f';
	hdr[3] = pw_fabric_to_one(m) ? m->dst : U32_MAX;
	hdr[4] = m->id;
}

/**
 * pw_fabric_request() - header words with which a process asks for a message
 * @f: fabric
 * @port: its port
 * @m: message
 * @want: result
 */
void pw_fabric_request(const struct pw_fabric *f, u32 port, const struct fmsg *m, u32 *want)
{
	const struct fproc *q;

	pw_fabric_message_header(f, m, want);
	want[3] = port;
	if (unlikely(f->procs)) {
		q = &f->procs->proc[port];
		memcpy(want, q->hdr[q->asks], sizeof(*q->hdr));
	}
}

/**
 * pw_fabric_message_bytes() - data of a message
 * @f: fabric
 * @m: message
 * @off: first byte
 * @buf: result, zeroed
 * @n: bytes
 */
void pw_fabric_message_bytes(struct pw_fabric *f, const struct fmsg *m, u32 off, u8 *buf, u32 n)
{
	if (m->data)
		memcpy(buf, m->data + off, n);
	else if (f->ops->fetch)
		f->ops->fetch(f->ctx, m->src, m->cookie, off, buf, n);
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

/* sparse buffers: every port that gets message @m needs @n receive blocks more */
static noinline void need_all(struct pw_fabric *f, const struct fmsg *m, s32 n)
{
	u32 i;

	for (i = 0; i < f->ports; i++)
		if (pw_fabric_goes_to(f, m, i))
			f->port[i].ic_left -= n;
}

/* sparse buffers: message @m needs its blocks from now on (@sign 1), or no longer (-1) */
static __always_inline void need_blocks(struct pw_fabric *f, const struct fmsg *m, s32 sign)
{
	struct fport *p = &f->port[m->src];

	if (!f->sparse)
		return;
	p->og_left -= sign * (s32)m->cells;
	p->ic_left -= sign * (s32)m->acks;
	if (likely(pw_fabric_to_one(m)))
		f->port[m->dst].ic_left -= sign * (s32)m->cells;
	else
		need_all(f, m, sign * (s32)m->cells);
}

/**
 * pw_fabric_end_message() - end a message if it is acknowledged and delivered everywhere
 * @f: fabric
 * @m: message
 */
void pw_fabric_end_message(struct pw_fabric *f, struct fmsg *m)
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
	need_blocks(f, m, -1);
	if (f->lone && f->lone->msg == i) {
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

/* hand message @m to the owner at @port */
static void deliver(struct pw_fabric *f, struct fmsg *m, u32 port)
{
	map_set(m->done, port);
	m->t.delivered = f->now;
	m->need--;
	f->stats.delivered++;
	f->ops->deliver(f->ctx, port, m->src, m->cookie, m->len, f->now, &m->t);
}

/**
 * pw_fabric_arrived() - deliver the messages that are in order now
 * @f: fabric
 * @m: message that was read or dropped
 * @port: port at which this happened
 * @read: it was read
 *
 * With several processes at a port the order is that in which they ask.
 */
void pw_fabric_arrived(struct pw_fabric *f, struct fmsg *m, u32 port, bool read)
{
	struct fport *p = &f->port[m->src];
	u16 i, next;

	map_set(m->got, port);
	if (!read) {
		map_set(m->done, port);
		m->need--;
	}
	if (unlikely(f->procs)) {
		if (read)
			deliver(f, m, port);
		pw_fabric_end_message(f, m);
		return;
	}
	for (i = p->q_head; i != NONE; i = next) {
		struct fmsg *e = &f->msg[i];

		next = e->next;
		if (!pw_fabric_goes_to(f, e, port) || map_get(e->done, port))
			continue;
		if (!map_get(e->got, port))
			break;
		deliver(f, e, port);
		next = e->next;
		pw_fabric_end_message(f, e);
	}
	if (m->used && !read)
		pw_fabric_end_message(f, m);
}

/* ---- admission ---- */

static bool fits_at(const struct pw_fabric *f, const struct fmsg *m, u32 port)
{
	u32 n = pw_fabric_demand(f, m, port), held = f->port[port].reserved;

	return !n || !held || held + n <= f->p.credit;
}

/* ports at which a message to one or some needs receive blocks, one word of the map */
static u32 demand_map(const struct pw_fabric *f, const struct fmsg *m, u32 w)
{
	u32 map = m->src / 32 == w ? 1U << m->src % 32 : 0;

	if (pw_fabric_to_conn(m))
		return map | pw_fabric_conn(f, m)->to[w];
	return map | (m->dst / 32 == w ? 1U << m->dst % 32 : 0);
}

/* a port with no reserved block takes a message of any size */
static bool fits(const struct pw_fabric *f, const struct fmsg *m)
{
	u32 i, w, map;

	if (pw_fabric_to_one(m))
		return fits_at(f, m, m->dst) && fits_at(f, m, m->src);
	if (pw_fabric_to_conn(m)) {
		for (w = 0; w < MAP_WORDS; w++)
			for (map = demand_map(f, m, w); map; map &= map - 1)
				if (!fits_at(f, m, 32 * w + __ffs64(map)))
					return false;
		return true;
	}
	for (i = 0; i < f->ports; i++)
		if (!fits_at(f, m, i))
			return false;
	return true;
}

/* do both need receive blocks of some port? Their senders differ. */
static bool overlap(const struct pw_fabric *f, const struct fmsg *a, const struct fmsg *b)
{
	u32 w;

	if (a->dst == PW_FABRIC_ALL || b->dst == PW_FABRIC_ALL)
		return true;
	if (likely(pw_fabric_to_one(a) && pw_fabric_to_one(b)))
		return a->dst == b->dst || a->src == b->dst || a->dst == b->src;
	for (w = 0; w < MAP_WORDS; w++)
		if (demand_map(f, a, w) & demand_map(f, b, w))
			return true;
	return false;
}

/* has no other port waited longer for a port that the message needs, too? */
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
			pw_fabric_want_look(f, i);
}

static bool admit(struct pw_fabric *f, struct fport *p)
{
	struct fmsg *m = &f->msg[p->q_wait];
	u32 i;

	if (!pw_fabric_device(f))
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
	if (pw_fabric_to_one(m))
		f->port[m->dst].reserved += m->cells;
	else
		for (i = 0; i < f->ports; i++)
			f->port[i].reserved += pw_fabric_goes_to(f, m, i) ? m->cells : 0;
	/* another port may have waited only because this one was first in line */
	look_waiting(f);
	return true;
}

static void give_back(struct pw_fabric *f, u32 port, u32 n)
{
	struct fport *p = &f->port[port];

	if (!pw_fabric_device(f))
		return;
	p->reserved -= min(p->reserved, n);
	look_waiting(f);
}

/* ---- complete messages of a port, oldest first ---- */

static void ready_pop(struct fport *p)
{
	if (++p->r_head == p->r_cap)
		p->r_head = 0;
	p->r_num--;
}

/* ---- callbacks of the AAL units ---- */

/**
 * pw_fabric_on_ready() - a message is segmented
 * @ctx: fabric
 * @u: AAL unit
 * @id: its identifier
 */
void pw_fabric_on_ready(void *ctx, struct pw_aal *u, u32 id)
{
	struct pw_fabric *f = ctx;
	struct fmsg *m = pw_fabric_find(f, id);

	if (m)
		m->t.segmented = u->now;
	pw_fabric_want_look(f, u->cfg.port);
}

/**
 * pw_fabric_cell_out() - an AAL unit sends a cell
 * @f: fabric
 * @u: AAL unit
 * @c: cell
 * @again: it was sent before
 * @at: cycle in which byte 0 is fetched
 */
void pw_fabric_cell_out(struct pw_fabric *f, struct pw_aal *u, const struct pw_aal_cell *c,
			bool again, u64 at)
{
	struct fmsg *m;

	if (c->type == PW_CELL_T_ACK) {
		pw_fabric_trace(f, PW_FABRIC_EV_ACK, u->cfg.port, 1, at, c);
		return;
	}
	pw_fabric_trace(f, again ? PW_FABRIC_EV_RESEND : PW_FABRIC_EV_CELL, u->cfg.port, 1, at, c);
	m = c->flag & PW_CELL_F_FIRST ? pw_fabric_find(f, c->id) : NULL;
	if (m && !m->t.first_out) {
		m->t.first_out = at;
		m->sqn = c->sqn;
	}
}

/**
 * pw_fabric_first_in() - a port took in the first cell of a message
 * @f: fabric
 * @u: AAL unit
 * @id: message
 */
void pw_fabric_first_in(struct pw_fabric *f, struct pw_aal *u, u32 id)
{
	struct fmsg *m = pw_fabric_find(f, id);

	if (m && !map_get(m->got, u->cfg.port) && m->t.reassembled <= u->now)
		m->t.first_in = u->now;
}

/**
 * pw_fabric_on_bad_cell() - a bad cell was taken in
 * @ctx: fabric
 * @u: AAL unit
 */
void pw_fabric_on_bad_cell(void *ctx, struct pw_aal *u)
{
	pw_fabric_trace(ctx, PW_FABRIC_EV_BAD, u->cfg.port, 1, u->now, NULL);
}

/**
 * pw_fabric_on_acked() - an acknowledgment matched its cell
 * @ctx: fabric
 * @u: AAL unit
 * @id: message
 * @sqn: number of the cell
 * @from: port that acknowledged it
 */
void pw_fabric_on_acked(void *ctx, struct pw_aal *u, u32 id, u16 sqn, u16 from)
{
	struct pw_aal_cell c = { .sqn = sqn, .src = from, .dst = u->cfg.port };

	pw_fabric_trace(ctx, PW_FABRIC_EV_ACKED, u->cfg.port, 1, u->now, &c);
}

/**
 * pw_fabric_on_complete() - a message is complete
 * @ctx: fabric
 * @u: AAL unit
 * @desc: its descriptor
 */
void pw_fabric_on_complete(void *ctx, struct pw_aal *u, u16 desc)
{
	struct fport *p = &((struct pw_fabric *)ctx)->port[u->cfg.port];
	struct pw_fabric *f = ctx;
	struct fmsg *m;

	if (unlikely(f->procs))
		m = f->procs->complete(f, u, &u->msg[desc]);
	else
		m = pw_fabric_find(f, u->msg[desc].id);
	if (m)
		m->t.reassembled = u->now;
	*pw_fabric_ready_at(p, p->r_num++) = desc;
	pw_fabric_want_look(f, u->cfg.port);
}

/**
 * pw_fabric_on_obsolete() - a message was dropped from the receive buffer
 * @ctx: fabric
 * @u: AAL unit
 * @desc: its descriptor
 */
void pw_fabric_on_obsolete(void *ctx, struct pw_aal *u, u16 desc)
{
	struct pw_fabric *f = ctx;
	struct fport *p = &f->port[u->cfg.port];
	struct fmsg *m;
	u32 i, n = 0;

	/* if it is still in the list, it timed out unread */
	for (i = 0; i < p->r_num; i++) {
		if (*pw_fabric_ready_at(p, i) == desc) {
			f->stats.lost++;
			m = pw_fabric_find(f, u->msg[desc].id);
			if (m && !map_get(m->got, u->cfg.port))
				pw_fabric_arrived(f, m, u->cfg.port, false);
			continue;
		}
		*pw_fabric_ready_at(p, n++) = *pw_fabric_ready_at(p, i);
	}
	p->r_num = n;
}

/**
 * pw_fabric_on_freed() - a receive block of a message became free
 * @ctx: fabric
 * @u: AAL unit
 */
void pw_fabric_on_freed(void *ctx, struct pw_aal *u)
{
	give_back(ctx, u->cfg.port, 1);
}

/**
 * pw_fabric_on_low() - a port with sparse buffers has few free receive blocks
 * @ctx: fabric
 * @u: AAL unit
 */
void pw_fabric_on_low(void *ctx, struct pw_aal *u)
{
	struct pw_fabric *f = ctx;

	map_set(f->low, u->cfg.port);
	f->lows = true;
}

/**
 * pw_fabric_on_released() - all cells of a message are acknowledged
 * @ctx: fabric
 * @u: AAL unit
 * @id: its identifier
 */
void pw_fabric_on_released(void *ctx, struct pw_aal *u, u32 id)
{
	struct pw_fabric *f = ctx;
	struct fmsg *m = pw_fabric_find(f, id);

	if (!m)
		return;
	m->acked = true;
	m->t.acked = u->now;
	give_back(f, m->src, m->acks);
	pw_fabric_end_message(f, m);
}

/* ---- processes ---- */

static void start_tx(struct pw_fabric *f, u32 port)
{
	struct fport *p = &f->port[port];
	struct fmsg *m = &f->msg[p->q_wait];

	p->tx = p->q_wait;
	p->q_wait = m->next;
	p->sent_last = true;
	f->engine->start_tx(f, port, m);
}

static void start_rx(struct pw_fabric *f, u32 port, struct fmsg *m)
{
	struct fport *p = &f->port[port];

	p->rx = m - f->msg;
	p->sent_last = false;
	f->engine->start_rx(f, port, m);
}

/**
 * pw_fabric_read() - the last get of a process is done
 * @f: fabric
 * @port: its port
 */
void pw_fabric_read(struct pw_fabric *f, u32 port)
{
	struct fport *p = &f->port[port];
	struct fmsg *m = &f->msg[p->rx];

	p->rx = NONE;
	if (unlikely(f->procs))
		f->procs->read(f, port, m);
	else
		pw_fabric_arrived(f, m, port, true);
}

/**
 * pw_fabric_unclaimed() - drop a complete message that no process of the port reads
 * @f: fabric
 * @m: the message, NULL if its sender has given it up
 * @port: port
 * @desc: its descriptor there
 */
void pw_fabric_unclaimed(struct pw_fabric *f, struct fmsg *m, u32 port, u16 desc)
{
	f->engine->discard(f, port, desc);
	if (!m)
		return;
	if (m->src != port || m->dst != PW_FABRIC_ALL)
		f->stats.unclaimed++;
	pw_fabric_arrived(f, m, port, false);
}

/* oldest complete message that the process reads; others are dropped */
static struct fmsg *next_ready(struct pw_fabric *f, u32 port)
{
	struct fport *p = &f->port[port];
	struct fmsg *m;
	u16 desc;

	while (p->r_num) {
		desc = p->ready[p->r_head];
		m = pw_fabric_find(f, p->u->msg[desc].id);
		if (m && p->attached && (m->src != port || f->p.flags & PW_FABRIC_F_SELF ||
					 m->dst != PW_FABRIC_ALL))
			return m;
		ready_pop(p);
		pw_fabric_unclaimed(f, m, port, desc);
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
			if (pw_fabric_goes_to(f, m, port) && !map_get(m->got, port) &&
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

	if (p->u->dev.wlcked || p->u->dev.rlcked || !pw_aal_host_idle(&p->host))
		return;
	m = unlikely(f->procs) ? f->procs->next(f, port) : next_ready(f, port);
	if (poll && p->q_wait == NONE)
		m = expected(f, port);
	if (p->q_wait != NONE && !(m && p->sent_last) && admit(f, p)) {
		start_tx(f, port);
		return;
	}
	if (!m)
		return;
	if (p->r_num && !poll && !f->procs)
		ready_pop(p);
	start_rx(f, port, m);
}

/**
 * pw_fabric_look() - run the processes that may have something to do
 * @f: fabric
 * @max: as many at most
 *
 * Each message that ends or is let in lets all ports look that wait for room: in a cycle that may
 * be ports times ports.
 *
 * Return: how many were run; f->looks is set if there may be more.
 */
u32 pw_fabric_look(struct pw_fabric *f, u32 max)
{
	u32 w = f->look_at, words = DIV_ROUND_UP(f->ports, 32), n = 0, bit;

	f->look_at = 0;
	while (f->looks) {
		/* the rest of a pass that was stopped: another one follows */
		if (!w)
			f->looks = false;
		for (; w < words; w++) {
			while (f->look[w]) {
				if (n++ == max) {
					f->look_at = w;
					f->looks = true;
					return max;
				}
				bit = fls(f->look[w] & -f->look[w]) - 1;
				f->look[w] &= ~(1U << bit);
				look(f, 32 * w + bit);
			}
		}
		w = 0;
	}
	return n;
}

/* ---- running ---- */

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
	if (!f->part)
		pw_fabric_look(f, U32_MAX);
	f->engine->run(f, until, max_work, false);
	return f->now;
}

/**
 * pw_fabric_run_part() - run up to a cycle, and stop inside a cycle if that is long
 * @f: fabric
 * @until: last cycle to run
 * @max_work: as for pw_fabric_run(); a part counts as a step
 *
 * A cycle of the fast engine with more than 64 ports may have an event in every one of
 * them; one of rtl steps every unit, in parts of 64 if there are more input units than that.
 * Processes run PW_FABRIC_LOOKS at a time. Until the cycle is complete no message may be sent.
 *
 * Return: true if the last cycle is complete.
 */
bool pw_fabric_run_part(struct pw_fabric *f, u64 until, u32 max_work)
{
	if (!f->part) {
		pw_fabric_look(f, PW_FABRIC_LOOKS);
		if (unlikely(f->looks))
			return false;
	}
	f->engine->run(f, until, max_work, true);
	return !f->part && !f->looks;
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
	pw_fabric_look(f, PW_FABRIC_LOOKS);
	return f->looks ? f->now : f->engine->next(f);
}

/* ---- messages sent, messages flushed ---- */

/* append message @i to the queue of its sender */
static inline void queue_message(struct pw_fabric *f, u16 i)
{
	struct fmsg *m = &f->msg[i];
	struct fport *p = &f->port[m->src];

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
	f->last_src = m->src;
	f->stats.sent++;
	need_blocks(f, m, 1);
	pw_fabric_want_look(f, m->src);
}

/**
 * pw_fabric_send() - hand over a message
 * @f: fabric
 * @src: sending port
 * @dst: destination port, PW_FABRIC_ALL for every port, PW_FABRIC_MC + n for the members of
 *	connection n, which must be one of @src
 * @path: 0..k-1, PW_FABRIC_AUTO for that of the route policy
 * @len: data bytes
 * @cookie: identifies the message in the callbacks
 * @data: its bytes (rtl), may be NULL; must stay until ops->done()
 *
 * Return: 0; -EINVAL for a port, connection or path that does not exist; -EMSGSIZE if it
 * does not fit into the buffers; -ENOMEM if sparse buffers lack memory for it, see
 * pw_fabric_lacks(); -EBUSY if the queue of the port is full, ops->room() is called when it
 * has room again. A message that was refused with -EBUSY is not refused with -ENOMEM later.
 */
int pw_fabric_send(struct pw_fabric *f, u16 src, u16 dst, int path, u32 len, u64 cookie,
		   const void *data)
{
	struct fmsg *m, *plan = &f->plan;
	struct fport *p;
	u16 i, gen;
	int err;

	err = pw_fabric_plan(f, plan, src, dst, path, len);
	if (err)
		return err;
	if (f->sparse && unlikely(!pw_fabric_has_room(f, plan)) && pw_fabric_message_lacks(f, plan))
		return -ENOMEM;
	p = &f->port[src];
	if (p->q_num >= f->p.queue || f->msg_free == NONE) {
		p->full = true;
		f->stats.busy++;
		return -EBUSY;
	}
	if (f->engine->sending)
		f->engine->sending(f);
	i = f->msg_free;
	m = &f->msg[i];
	f->msg_free = m->next;
	gen = m->gen + 1;
	memset(m, 0, sizeof(*m));
	m->src = src;
	m->dst = dst;
	m->path = path;
	m->len = len;
	m->cells = plan->cells;
	m->acks = plan->acks;
	m->need = plan->need;
	m->gen = gen;
	m->used = true;
	m->id = (u32)gen << 16 | i;
	m->cookie = cookie;
	m->data = data;
	queue_message(f, i);
	return 0;
}

/* deliver message @m now at every port that has not got it */
static void hand_over(struct pw_fabric *f, struct fmsg *m)
{
	u32 port;

	for (port = 0; port < f->ports; port++) {
		if (!pw_fabric_goes_to(f, m, port) || map_get(m->done, port) ||
		    !f->port[port].attached)
			continue;
		if (port == m->src && m->dst == PW_FABRIC_ALL && !(f->p.flags & PW_FABRIC_F_SELF))
			continue;
		m->t.delivered = f->now;
		f->stats.delivered++;
		f->ops->deliver(f->ctx, port, m->src, m->cookie, m->len, f->now, &m->t);
	}
}

/**
 * pw_fabric_flush() - deliver the messages that are in the fabric at once
 * @f: fabric; after the first call it can only be flushed
 * @max: how many messages
 *
 * Each is delivered now, in the order in which its port sent them, to the ports that have
 * not got it; the cycles that it would still take are not simulated. ops->deliver and
 * ops->done must not send; ops->room is not called.
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

/**
 * pw_fabric_callbacks() - enable or disable the callbacks that are made for every cell
 * @f: fabric
 * @trace: call ops->trace
 * @fault: call ops->fault
 *
 * After pw_fabric_init() both are enabled, if ops has them. Each costs time for every cell
 * at every input unit.
 */
void pw_fabric_callbacks(struct pw_fabric *f, bool trace, bool fault)
{
	f->tracing = trace && f->ops->trace;
	f->faults = fault && f->ops->fault;
	if (!pw_fabric_unwatched(f))
		pw_fabric_lone_forget(f);
	f->engine->callbacks(f);
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
	on = on && f->ops->cell;
	if (on == f->tapped)
		return;
	pw_fabric_lone_forget(f);
	f->tapped = on;
	if (f->engine->tap_begin)
		f->engine->tap_begin(f);
	f->engine->callbacks(f);
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
	pw_fabric_want_look(f, port);
	pw_fabric_lone_forget(f);
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
	return f->engine->qsize(f, ppd, q);
}

/**
 * pw_fabric_stage() - counters of a stage
 * @f: fabric
 * @stage: input units of a stage, or pw_fabric_stages() for the output ports
 * @s: result
 */
void pw_fabric_stage(struct pw_fabric *f, u32 stage, struct pw_fabric_stage *s)
{
	u32 stages = pw_fabric_stages(&f->p), i;
	u64 cells, refused;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < f->ranks + f->ports; i++) {
		if (stage != (i < f->ranks ? pw_fabric_stage_of(f, i) : stages))
			continue;
		f->engine->count(f, i, &cells, &refused);
		s->cells += cells;
		s->refused += refused;
	}
	if (stage < stages)
		f->engine->lost(f, stage, &s->dropped, &s->corrupted);
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
	/* counted in the network: an AAL unit sees a refusal one cycle later or not at all */
	f->engine->count(f, pw_fabric_entry(f, port), &cells, &s->refused_out);
	f->engine->count(f, f->ranks + port, &cells, &s->refused_in);
}
