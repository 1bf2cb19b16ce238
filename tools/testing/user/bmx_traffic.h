/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The same random traffic for both engines of the BMX network: senders,
 * receivers that suspend, faults. Every decision is a function of the seed and
 * of what both engines must agree on (port, number of the cell, cycle).
 */
#ifndef BMX_TRAFFIC_H
#define BMX_TRAFFIC_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fabric/bmx_net.h"
#include "fabric/bmx_fast.h"

#define TR_PORTS	(PW_BMX_KMAX * PW_BMX_KMAX)

struct tr_cfg {
	u32 k, depth;
	const struct pw_topo *topo;	/* NULL: three stages of k switches */
	u32 load;		/* per mille of the link rate and port */
	u32 bcast;		/* per mille of the cells */
	u32 mcast;		/* per mille of the other cells of stations with connections */
	u32 hot;		/* per mille of the cells go to port 0 */
	u32 rx_refuse;		/* per mille of the attempts at a port */
	u32 rx_window;		/* per mille of the windows a port is closed */
	bool rx_block;		/* a closed port answers BLOCK instead of REFUSE */
	u32 drop, corrupt;	/* per 100000 hops */
	u64 seed;
};

struct tr_rec {
	u64 t;
	u32 cookie;
	u32 flags;
};

/* log of what a port received */
struct tr_log {
	struct tr_rec *rec;
	size_t n, cap, done;
};

struct tr_gen {
	u64 rng;
	u64 at;			/* when the next cell wants to start */
	u32 seq;
	u32 vpi, cookie;
};

static inline u64 tr_hash(u64 a, u64 b, u64 c)
{
	u64 x = a ^ b * 0x9e3779b97f4a7c15ULL ^ c * 0xc2b2ae3d27d4eb4fULL;

	x ^= x >> 31;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static inline u64 tr_rand(u64 *s)
{
	*s ^= *s >> 12;
	*s ^= *s << 25;
	*s ^= *s >> 27;
	return *s * 2685821657736338717ULL;
}

/* a random connection of @port, NULL if it has none */
static inline const struct pw_topo_conn *tr_conn(const struct tr_cfg *c, struct tr_gen *g, u32 port)
{
	const struct pw_topo *t = c->topo;
	u32 n = 0, i;

	for (i = 0; t && i < t->conns; i++)
		n += t->conn[i].src == port;
	if (!n || (tr_rand(&g->rng) >> 33) % 1000 >= c->mcast)
		return NULL;
	n = (tr_rand(&g->rng) >> 33) % n;
	for (i = 0; t->conn[i].src != port || n--; i++)
		;
	return &t->conn[i];
}

static inline void tr_next(const struct tr_cfg *c, struct tr_gen *g, u32 port)
{
	u32 ports = c->topo ? c->topo->ports : c->k * c->k;
	u32 paths = c->topo ? c->topo->paths : c->k, span, r;
	const struct pw_topo_conn *conn;

	/* mean distance 53/load: 53 and an even spread above it */
	span = 2 * (53000 / c->load - 53) + 1;
	g->at += 53 + (tr_rand(&g->rng) >> 33) % span;
	r = (tr_rand(&g->rng) >> 33) % paths;
	conn = c->mcast ? tr_conn(c, g, port) : NULL;
	if ((tr_rand(&g->rng) >> 33) % 1000 < c->bcast)
		g->vpi = paths * ports + r;
	else if (conn)
		g->vpi = paths * pw_topo_conn_dest(ports, conn) + r;
	else if ((tr_rand(&g->rng) >> 33) % 1000 < c->hot)
		g->vpi = pw_bmx_vpi_one(paths, 0, r);
	else
		g->vpi = pw_bmx_vpi_one(paths, (tr_rand(&g->rng) >> 33) % ports, r);
	g->cookie = port << 24 | (g->seq++ & 0xffffff);
}

static inline void tr_start(const struct tr_cfg *c, struct tr_gen *g, u32 port)
{
	memset(g, 0, sizeof(*g));
	g->rng = tr_hash(c->seed, port, 1) | 1;
	tr_rand(&g->rng);
	g->at = 5 + tr_hash(c->seed, port, 2) % 60;
	tr_next(c, g, port);
}

#define TR_WINDOW	700

static inline bool tr_closed(const struct tr_cfg *c, u32 port, u64 cycle)
{
	return c->rx_window &&
	       tr_hash(c->seed + 3, port, cycle / TR_WINDOW) % 1000 < c->rx_window;
}

static inline bool tr_refuses(const struct tr_cfg *c, u32 port, u64 cycle)
{
	if (tr_closed(c, port, cycle))
		return true;
	return c->rx_refuse && tr_hash(c->seed + 4, port, cycle) % 1000 < c->rx_refuse;
}

static inline enum pw_bmx_fault tr_fault(const struct tr_cfg *c, u32 ppd, u64 t)
{
	u32 h = tr_hash(c->seed + 5, ppd, t) % 100000;

	return h < c->drop ? PW_BMX_FAULT_DROP :
	       h < c->drop + c->corrupt ? PW_BMX_FAULT_CORRUPT : PW_BMX_FAULT_NONE;
}

static inline void tr_record(struct tr_log *l, u64 t, u32 cookie, u32 flags)
{
	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 64;
		l->rec = realloc(l->rec, l->cap * sizeof(*l->rec));
		if (!l->rec)
			abort();
	}
	l->rec[l->n++] = (struct tr_rec){ t, cookie, flags };
}

/* ---- register-level network, stepped ---- */

struct tr_tx {
	struct tr_gen g;
	u64 start;
	u8 cell[PW_BMX_CELL];
	u8 idx, buf, bufi;
};

struct tr_rx {
	u64 first;
	u8 cell[PW_BMX_CELL];
	u8 idx;
};

struct tr_rtl {
	const struct tr_cfg *c;
	struct pw_bmx_net *net;
	struct tr_tx tx[TR_PORTS];
	struct tr_rx rx[TR_PORTS];
	struct tr_log log[TR_PORTS];
	bool keep;		/* log deliveries */
	u64 delivered, sent, mangled;
};

static inline void tr_fill(u8 *cell, u32 vpi, u32 shift, u32 cookie)
{
	put_unaligned_be16(vpi << shift, cell);
	memset(cell + 2, 0, 3);
	put_unaligned_be32(cookie, cell + 5);
	for (int i = 9; i < PW_BMX_CELL; i++)
		cell[i] = cookie * 7 + i;
}

/* 0 intact, PW_BMX_CELL_CORRUPT if a data byte differs */
static inline u32 tr_check(const u8 *cell, u32 cookie)
{
	for (int i = 9; i < PW_BMX_CELL; i++)
		if (cell[i] != (u8)(cookie * 7 + i))
			return PW_BMX_CELL_CORRUPT;
	return 0;
}

static enum pw_bmx_fault tr_rtl_fault(void *ctx, u32 ppd, u64 t)
{
	return tr_fault(((struct tr_rtl *)ctx)->c, ppd, t);
}

static inline struct tr_rtl *tr_rtl_new(const struct tr_cfg *c, bool keep)
{
	struct pw_bmx_cfg cfg = { .k = c->k, .depth = c->depth, .topo = c->topo };
	struct tr_rtl *s = calloc(1, sizeof(*s));
	void *mem = malloc(pw_bmx_net_size(&cfg));
	u32 p;

	if (!s || !mem)
		abort();
	s->c = c;
	s->keep = keep;
	s->net = pw_bmx_net_init(mem, &cfg);
	if (c->drop || c->corrupt) {
		s->net->fault = tr_rtl_fault;
		s->net->fault_ctx = s;
	}
	for (p = 0; p < s->net->ports; p++) {
		tr_start(c, &s->tx[p].g, p);
		s->tx[p].start = s->tx[p].g.at;
		tr_fill(s->tx[p].cell, s->tx[p].g.vpi, s->net->shift, s->tx[p].g.cookie);
	}
	return s;
}

static inline void tr_tx_step(struct tr_rtl *s, u32 p)
{
	struct pw_bmx_net *net = s->net;
	struct tr_tx *x = &s->tx[p];
	u64 now = net->cycle;

	net->in_byte[p] = x->buf;
	net->in_byteind[p] = x->bufi;
	if (net->in_suspend[p]) {
		x->bufi = 0;
		x->idx = 0;
	} else if (now + 1 >= x->start) {
		x->buf = x->cell[x->idx];
		x->bufi = 1;
		if (++x->idx == PW_BMX_CELL) {
			x->idx = 0;
			s->sent++;
			tr_next(s->c, &x->g, p);
			x->start = max(x->g.at, now + 2);
			tr_fill(x->cell, x->g.vpi, net->shift, x->g.cookie);
		}
	} else {
		x->bufi = 0;
	}
}

static inline void tr_rx_step(struct tr_rtl *s, u32 p)
{
	struct pw_bmx_net *net = s->net;
	struct tr_rx *r = &s->rx[p];
	u32 cookie, flags;

	if (!net->out_byteind[p])
		return;
	if (net->out_suspend[p]) {
		net->out_suspend[p] = 0;
		r->idx = 0;
		return;
	}
	if (!r->idx)
		r->first = net->cycle;
	r->cell[r->idx] = net->out_byte[p];
	if (r->idx == 3 && tr_refuses(s->c, p, net->cycle))
		net->out_suspend[p] = 1;
	if (++r->idx < PW_BMX_CELL)
		return;
	r->idx = 0;
	cookie = get_unaligned_be32(r->cell + 5);
	flags = tr_check(r->cell, cookie);
	s->mangled += flags && !s->c->corrupt;
	s->mangled += r->cell[0] || r->cell[1];
	s->delivered++;
	if (s->keep)
		tr_record(&s->log[p], r->first, cookie, flags);
}

static inline void tr_rtl_run(struct tr_rtl *s, u64 cycle)
{
	u32 p;

	while (s->net->cycle < cycle) {
		pw_bmx_net_step_spd(s->net);
		for (p = 0; p < s->net->ports; p++) {
			tr_tx_step(s, p);
			tr_rx_step(s, p);
		}
		pw_bmx_net_step_ppd(s->net);
	}
}

static inline void tr_rtl_free(struct tr_rtl *s)
{
	for (u32 p = 0; p < s->net->ports; p++)
		free(s->log[p].rec);
	free(s->net);
	free(s);
}

/* ---- event-driven network ---- */

struct tr_fast {
	const struct tr_cfg *c;
	struct pw_bmx_fast *f;
	struct tr_gen g[TR_PORTS];
	u64 due[TR_PORTS];	/* offer not yet made, or never */
	u64 wake[TR_PORTS];
	u64 next;		/* earliest of the above */
	struct tr_log log[TR_PORTS];
	bool keep;
	u64 delivered, sent, lost;
	u64 errors;
};

static enum pw_bmx_rx tr_fast_rx(void *ctx, u32 port, u32 cookie, u64 t, u32 flags)
{
	struct tr_fast *s = ctx;
	u64 w;

	if (tr_refuses(s->c, port, t + 3)) {
		if (!s->c->rx_block || !tr_closed(s->c, port, t + 3))
			return PW_BMX_RX_REFUSE;
		w = t + 3;
		do
			w = (w / TR_WINDOW + 1) * TR_WINDOW;
		while (tr_closed(s->c, port, w));
		s->wake[port] = w;
		if (w < s->next)
			s->next = w;
		return PW_BMX_RX_BLOCK;
	}
	s->delivered++;
	if (s->keep)
		tr_record(&s->log[port], t, cookie, flags);
	return PW_BMX_RX_ACCEPT;
}

static inline void tr_fast_offer(struct tr_fast *s, u32 p, u64 t)
{
	if (t + 3 <= s->f->now + PW_BMX_HORIZON) {
		if (pw_bmx_fast_offer(s->f, p, t, s->g[p].vpi, s->g[p].cookie, 0))
			s->errors++;
		s->due[p] = PW_BMX_NEVER;
		return;
	}
	s->due[p] = t;
	if (t < s->next)
		s->next = t;
}

static void tr_fast_accepted(void *ctx, u32 port, u32 cookie, u64 t)
{
	struct tr_fast *s = ctx;

	s->sent++;
	tr_next(s->c, &s->g[port], port);
	tr_fast_offer(s, port, max(s->g[port].at, t + PW_BMX_CELL));
}

static void tr_fast_dropped(void *ctx, u32 ppd, u32 cookie, u32 copies)
{
	((struct tr_fast *)ctx)->lost += copies;
}

static enum pw_bmx_fault tr_fast_fault(void *ctx, u32 ppd, u64 t)
{
	return tr_fault(((struct tr_fast *)ctx)->c, ppd, t);
}

static const struct pw_bmx_fast_ops tr_ops = {
	.rx = tr_fast_rx,
	.accepted = tr_fast_accepted,
};

static const struct pw_bmx_fast_ops tr_ops_fault = {
	.rx = tr_fast_rx,
	.accepted = tr_fast_accepted,
	.dropped = tr_fast_dropped,
	.fault = tr_fast_fault,
};

static inline struct tr_fast *tr_fast_new(const struct tr_cfg *c, bool keep)
{
	struct pw_bmx_cfg cfg = { .k = c->k, .depth = c->depth, .topo = c->topo };
	struct tr_fast *s = calloc(1, sizeof(*s));
	void *mem = malloc(pw_bmx_fast_size(&cfg));
	u32 p;

	if (!s || !mem)
		abort();
	s->c = c;
	s->keep = keep;
	s->next = PW_BMX_NEVER;
	s->f = pw_bmx_fast_init(mem, &cfg, c->drop || c->corrupt ? &tr_ops_fault : &tr_ops, s);
	for (p = 0; p < s->f->ports; p++) {
		s->wake[p] = PW_BMX_NEVER;
		tr_start(c, &s->g[p], p);
		tr_fast_offer(s, p, s->g[p].at);
	}
	return s;
}

static inline void tr_fast_run(struct tr_fast *s, u64 cycle)
{
	u64 next, at;
	u32 p;

	for (;;) {
		/* what is due in cycle n must be known before n is run */
		while ((at = pw_bmx_fast_next(s->f)) < s->next && at <= cycle)
			pw_bmx_fast_run_until(s->f, at);
		if (s->next > cycle)
			break;
		next = s->next;
		pw_bmx_fast_run_until(s->f, next - 1);
		s->next = PW_BMX_NEVER;
		for (p = 0; p < s->f->ports; p++) {
			if (s->wake[p] <= next) {
				if (pw_bmx_fast_wake(s->f, p, s->wake[p]))
					s->errors++;
				s->wake[p] = PW_BMX_NEVER;
			}
			if (s->due[p] <= next)
				tr_fast_offer(s, p, s->due[p]);
			s->next = min(s->next, min(s->due[p], s->wake[p]));
		}
	}
	pw_bmx_fast_run_until(s->f, cycle);
}

static inline void tr_fast_free(struct tr_fast *s)
{
	for (u32 p = 0; p < s->f->ports; p++)
		free(s->log[p].rec);
	free(s->f);
	free(s);
}

#endif /* BMX_TRAFFIC_H */
