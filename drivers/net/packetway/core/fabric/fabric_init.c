// SPDX-License-Identifier: GPL-2.0
/* Whole BMX fabric: its memory and its engine. Only this file knows both engines. */
#include "fabric_priv.h"

static const struct pw_fabric_engine *engine_of(const struct pw_fabric_params *p)
{
	return p->flags & PW_FABRIC_F_FAST ? &pw_fabric_fast : &pw_fabric_rtl;
}

static void fill_params(struct pw_fabric_params *p)
{
	if (p->topo)
		p->k = p->topo->k;
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
	c->topo = p->topo;
}

static void aal_cfg(const struct pw_fabric_params *p, u32 port, struct pw_aal_cfg *c)
{
	memset(c, 0, sizeof(*c));
	c->port = port;
	c->ports = pw_fabric_ports(p);
	c->paths = pw_fabric_paths(p);
	c->shift = p->topo ? p->topo->shift : pw_bmx_vpi_shift(p->k);
	c->og_blocks = p->og_blocks;
	c->ic_blocks = p->ic_blocks;
	c->resend = p->resend;
	c->keep = p->keep;
	c->descs = p->descs;
	c->gap_word = p->gap_word;
	c->route = p->route;
	c->conns = pw_fabric_conns(p);
	c->conn = p->topo ? p->topo->conn : NULL;
	c->engine = engine_of(p)->aal;
	if (p->flags & PW_FABRIC_F_DEVICE) {
		c->flags = PW_AAL_F_KEEP_UNREAD | PW_AAL_F_RELEASE_READ | PW_AAL_F_DISCARD;
		c->window = p->credit;
	}
	if (p->flags & PW_FABRIC_F_SPARSE)
		c->flags |= PW_AAL_F_SPARSE;
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
	aal_cfg(&q, 0, &ac);
	if (pw_aal_cfg_check(&ac))
		return -EINVAL;
	if ((u64)q.queue * pw_fabric_ports(&q) >= NONE)
		return -EINVAL;
	/* otherwise kept cells could leave no block for the one that they wait for */
	if (q.flags & PW_FABRIC_F_DEVICE &&
	    (q.ic_blocks < 2 * PW_FABRIC_SLACK || q.credit > q.ic_blocks - PW_FABRIC_SLACK))
		return -EINVAL;
	if (q.flags & PW_FABRIC_F_POLL && q.flags & PW_FABRIC_F_FAST)
		return -EINVAL;
	if (q.flags & PW_FABRIC_F_SPARSE && !(q.flags & PW_FABRIC_F_DEVICE))
		return -EINVAL;
	return 0;
}

static struct pw_fabric *layout(struct pw_arena *a, struct pw_fabric *tmp,
				const struct pw_fabric_params *p)
{
	struct pw_fabric *f = pw_arena_take(a, sizeof(*f));
	struct pw_fabric *v = f ? f : tmp;
	struct pw_fabric_params q = *p;
	struct pw_bmx_cfg nc;
	struct pw_aal_cfg ac;
	u32 i;
	u8 *m;

	fill_params(&q);
	if (f)
		memset(f, 0, sizeof(*f));
	v->p = q;
	v->engine = engine_of(&q);
	v->ports = pw_fabric_ports(&q);
	v->ranks = pw_fabric_ranks(&q);
	v->sparse = q.flags & PW_FABRIC_F_SPARSE;
	net_cfg(&q, &nc);
	v->port = pw_arena_take(a, sizeof(*v->port) * v->ports);
	v->msg = pw_arena_take(a, sizeof(*v->msg) * q.queue * v->ports);
	v->grown = v->sparse ? pw_arena_take(a, sizeof(*v->grown)) : NULL;
	v->engine->layout(a, v, &nc);
	for (i = 0; i < v->ports; i++) {
		u16 *ready;
		u32 cap;

		aal_cfg(&q, i, &ac);
		cap = pw_aal_descs(&ac);
		ready = pw_arena_take(a, sizeof(u16) * cap);
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
 * Return: bytes to hand to pw_fabric_init(); with PW_FABRIC_F_SPARSE what it needs at first.
 */
size_t pw_fabric_size(const struct pw_fabric_params *p)
{
	struct pw_fabric tmp = {};
	struct pw_arena a = {};

	layout(&a, &tmp, p);
	return a.used;
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
	for (i = 0; i < f->ports; i++) {
		struct fport *q = &f->port[i];

		aal_cfg(&f->p, i, &ac);
		q->u = pw_aal_init(q->u, &ac, f->engine->aal_ops, f);
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
	net_cfg(&f->p, &nc);
	f->engine->init(f, &nc);
	pw_fabric_callbacks(f, true, true);
	f->cap = f->p.ic_blocks - PW_FABRIC_SLACK;
	n = f->p.queue * f->ports;
	for (i = 0; i < n; i++) {
		f->msg[i].used = false;
		f->msg[i].gen = 0;
		f->msg[i].next = i + 1 < n ? i + 1 : NONE;
	}
	return f;
}
