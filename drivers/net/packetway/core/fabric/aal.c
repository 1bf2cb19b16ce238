// SPDX-License-Identifier: GPL-2.0
/*
 * AAL unit: storage that both engines share, and controllers 8 and 10, which both of them
 * step. The states are in aal_ctl.h.
 */
#include "aal.h"
#include "aal_ctl.h"
#include "arena.h"

static void cfg_defaults(struct pw_aal_cfg *c)
{
	if (!c->ports)
		c->ports = PW_BMX_K * PW_BMX_K;
	if (!c->paths)
		c->paths = PW_BMX_K;
	if (!c->route)
		c->route = PW_AAL_ROUTE_TURN;
	if (!c->shift)
		c->shift = 4;
	if (!c->og_blocks)
		c->og_blocks = PW_AAL_BLOCKS;
	if (!c->ic_blocks)
		c->ic_blocks = PW_AAL_BLOCKS;
	if (!c->resend)
		c->resend = PW_AAL_RESEND;
	if (!c->keep)
		c->keep = PW_AAL_KEEP;
	if (!c->descs)
		c->descs = PW_AAL_DESCS;
}

/**
 * pw_aal_cfg_check() - check the sizes of an AAL unit
 * @cfg: sizes
 *
 * Return: 0 or -EINVAL.
 */
int pw_aal_cfg_check(const struct pw_aal_cfg *cfg)
{
	struct pw_aal_cfg c = *cfg;

	cfg_defaults(&c);
	if (!c.engine || c.ports > 256 || c.port >= c.ports || c.paths > PW_BMX_KMAX ||
	    c.route > PW_AAL_ROUTE_LEAST)
		return -EINVAL;
	if (c.og_blocks < 2 || c.og_blocks >= PW_AAL_NONE ||
	    c.ic_blocks < 2 || c.ic_blocks >= PW_AAL_NONE)
		return -EINVAL;
	if (c.resend > INT_MAX || c.keep > INT_MAX)
		return -EINVAL;
	return 0;
}

/**
 * pw_aal_descs() - message descriptors of an AAL unit
 * @cfg: sizes, checked
 *
 * A message has at least one receive block. With a window the owner admits a single message,
 * or several with at most @window cells in all.
 *
 * Return: their number.
 */
u32 pw_aal_descs(const struct pw_aal_cfg *cfg)
{
	struct pw_aal_cfg c = *cfg;
	u32 n;

	cfg_defaults(&c);
	n = min_t(u64, (u64)c.ports * c.descs, c.ic_blocks);
	return c.window ? min(n, c.window + 1) : n;
}

/* descriptors of a receive buffer with memory for @blocks; PW_AAL_SPARE of them begin no message */
static u32 descs_of(const struct pw_aal *u, u32 blocks)
{
	u32 n = pw_aal_descs(&u->cfg);

	if (!blocks || blocks == u->cfg.ic_blocks)
		return blocks ? n : 0;
	return min(n, blocks - PW_AAL_SPARE);
}

/* ---- memory ---- */

static void layout_og(struct pw_arena *a, struct pw_aal *u, u32 blocks)
{
	u->og = pw_arena_take(a, sizeof(*u->og) * blocks);
	u->ackdesc = pw_arena_take(a, sizeof(u32) * u->ackw * blocks);
	u->txm = pw_arena_take(a, sizeof(*u->txm) * blocks);
	u->lastotosqnto = pw_arena_take(a, sizeof(u16) * u->cfg.ports);
	u->lastmcsqn = pw_arena_take(a, sizeof(u16) * u->cfg.conns);
	u->nextmcsqn = pw_arena_take(a, sizeof(u16) * u->cfg.conns);
	u->cfg.engine->layout_og(a, u, blocks);
}

static void layout_ic(struct pw_arena *a, struct pw_aal *u, u32 blocks)
{
	u->ic = pw_arena_take(a, sizeof(*u->ic) * blocks);
	u->lastotosqnfrm = pw_arena_take(a, sizeof(u16) * u->cfg.ports);
	u->lastotasqnfrm = pw_arena_take(a, sizeof(u16) * u->cfg.ports);
	u->lastmcsqnfrm = pw_arena_take(a, sizeof(u16) * u->cfg.conns);
	u->msg_tail = pw_arena_take(a, sizeof(u16) * u->cfg.ports);
	u->msg_num = pw_arena_take(a, sizeof(u16) * u->cfg.ports);
	u->msg = pw_arena_take(a, sizeof(*u->msg) * descs_of(u, blocks));
	u->cfg.engine->layout_ic(a, u, blocks);
}

/* memory of an AAL unit without its buffers; what controller 10 of an idle one reads */
static struct pw_aal *layout(struct pw_arena *a, struct pw_aal *tmp, const struct pw_aal_cfg *cfg)
{
	struct pw_aal *u = pw_arena_take(a, sizeof(*u));
	struct pw_aal *v = u ? u : tmp;

	v->cfg = *cfg;
	cfg_defaults(&v->cfg);
	v->ackw = DIV_ROUND_UP(v->cfg.ports, 32);
	v->msgnumfrm = pw_arena_take(a, sizeof(u16) * v->cfg.ports);
	v->msg_head = pw_arena_take(a, sizeof(u16) * v->cfg.ports);
	return u;
}

/**
 * pw_aal_size() - memory that an AAL unit needs
 * @cfg: sizes, checked
 *
 * Return: bytes to hand to pw_aal_init(); with PW_AAL_F_SPARSE without the buffers.
 */
size_t pw_aal_size(const struct pw_aal_cfg *cfg)
{
	struct pw_arena a = {};
	struct pw_aal tmp;

	layout(&a, &tmp, cfg);
	if (!(cfg->flags & PW_AAL_F_SPARSE)) {
		layout_og(&a, &tmp, tmp.cfg.og_blocks);
		layout_ic(&a, &tmp, tmp.cfg.ic_blocks);
	}
	return a.used;
}

/**
 * pw_aal_og_bytes() - memory of a send buffer
 * @u: AAL unit
 * @blocks: its blocks
 *
 * Return: bytes to hand to pw_aal_fill_og().
 */
size_t pw_aal_og_bytes(const struct pw_aal *u, u32 blocks)
{
	struct pw_arena a = {};
	struct pw_aal tmp;

	tmp.cfg = u->cfg;
	tmp.ackw = u->ackw;
	layout_og(&a, &tmp, blocks);
	return a.used;
}

/**
 * pw_aal_ic_bytes() - memory of a receive buffer
 * @u: AAL unit
 * @blocks: its blocks; more than PW_AAL_SPARE, or all
 *
 * Return: bytes to hand to pw_aal_fill_ic().
 */
size_t pw_aal_ic_bytes(const struct pw_aal *u, u32 blocks)
{
	struct pw_arena a = {};
	struct pw_aal tmp;

	tmp.cfg = u->cfg;
	layout_ic(&a, &tmp, blocks);
	return a.used;
}

/* replace @n words of an array; an array that is new begins with @init in each */
static void move_words(u16 *to, const u16 *from, u32 n, u16 init)
{
	u32 i;

	for (i = 0; i < n; i++)
		to[i] = from ? from[i] : init;
}

/* the send buffer has @blocks from now on, more than before, in memory at @mem */
static noinline void set_og(struct pw_aal *u, void *mem, u32 blocks)
{
	struct pw_arena a = { .base = mem };
	struct pw_aal old = *u;
	u32 i, had = u->og_cap;

	memset(mem, 0, pw_aal_og_bytes(u, blocks));
	layout_og(&a, u, blocks);
	if (had) {
		memcpy(u->og, old.og, sizeof(*u->og) * had);
		memcpy(u->ackdesc, old.ackdesc, sizeof(u32) * u->ackw * had);
		memcpy(u->txm, old.txm, sizeof(*u->txm) * had);
	}
	move_words(u->lastotosqnto, old.lastotosqnto, u->cfg.ports, 1);
	move_words(u->lastmcsqn, old.lastmcsqn, u->cfg.conns, 1);
	move_words(u->nextmcsqn, old.nextmcsqn, u->cfg.conns, 1);
	for (i = had; i < blocks; i++) {
		u->og[i].next = i + 1;
		u->og[i].ready = -1;
		u->og[i].comtype = PW_AAL_COM_NONE;
		u->txm[i].next = i + 1 < blocks ? i + 1 : u->txm_free;
	}
	u->txm_free = had;
	if (u->ogfinum)
		u->og[u->ogli].next = had;
	else
		u->ogfi = had;
	u->ogli = blocks - 1;
	u->ogfinum += blocks - had;
	u->og_cap = blocks;
	u->cfg.engine->grown_og(u, &old);
}

/* the receive buffer has @blocks from now on, more than before, in memory at @mem */
static noinline void set_ic(struct pw_aal *u, void *mem, u32 blocks)
{
	u32 i, had = u->ic_cap, msgs = descs_of(u, had), n = descs_of(u, blocks);
	struct pw_arena a = { .base = mem };
	struct pw_aal old = *u;

	memset(mem, 0, pw_aal_ic_bytes(u, blocks));
	layout_ic(&a, u, blocks);
	if (had) {
		memcpy(u->ic, old.ic, sizeof(*u->ic) * had);
		memcpy(u->msg, old.msg, sizeof(*u->msg) * msgs);
	}
	move_words(u->lastotosqnfrm, old.lastotosqnfrm, u->cfg.ports, 1);
	move_words(u->lastotasqnfrm, old.lastotasqnfrm, u->cfg.ports, 1);
	move_words(u->lastmcsqnfrm, old.lastmcsqnfrm, u->cfg.conns, 1);
	move_words(u->msg_tail, old.msg_tail, u->cfg.ports, PW_AAL_NONE);
	move_words(u->msg_num, old.msg_num, u->cfg.ports, 0);
	for (i = had; i < blocks; i++) {
		u->ic[i].next = i + 1;
		u->ic[i].inmsg = true;
	}
	if (u->icfinum)
		u->ic[u->icli].next = had;
	else
		u->icfi = had;
	u->icli = blocks - 1;
	u->icfinum += blocks - had;
	for (i = msgs; i < n; i++)
		u->msg[i].next = i + 1 < n ? i + 1 : u->msg_free;
	if (msgs < n)
		u->msg_free = msgs;
	u->ic_cap = blocks;
	u->ic_low = blocks < u->cfg.ic_blocks ? PW_AAL_SPARE : 0;
	u->cfg.engine->grown_ic(u, &old);
}

/**
 * pw_aal_fill_og() - make a larger send buffer beside the one in use
 * @g: copy of an AAL unit with PW_AAL_F_SPARSE; no controller runs until pw_aal_use_og()
 * @mem: pw_aal_og_bytes() bytes, aligned to 8
 * @blocks: blocks, more than it has and at most all
 */
void pw_aal_fill_og(struct pw_aal *g, void *mem, u32 blocks)
{
	set_og(g, mem, blocks);
	g->og_mem = mem;
}

/* the same for the receive buffer */
void pw_aal_fill_ic(struct pw_aal *g, void *mem, u32 blocks)
{
	set_ic(g, mem, blocks);
	g->ic_mem = mem;
}

/**
 * pw_aal_use_og() - use a send buffer that was made
 * @u: AAL unit
 * @g: its copy, from pw_aal_fill_og(); what that changes is in this list
 *
 * Return: the memory that it had before and that is no longer used, or NULL.
 */
void *pw_aal_use_og(struct pw_aal *u, const struct pw_aal *g)
{
	void *old = u->og_mem;

	u->og = g->og;
	u->ackdesc = g->ackdesc;
	u->txm = g->txm;
	u->lastotosqnto = g->lastotosqnto;
	u->lastmcsqn = g->lastmcsqn;
	u->nextmcsqn = g->nextmcsqn;
	u->og_cell = g->og_cell;
	u->ogs = g->ogs;
	u->hash = g->hash;
	u->hashes = g->hashes;
	u->txm_free = g->txm_free;
	u->ogfi = g->ogfi;
	u->ogli = g->ogli;
	u->ogfinum = g->ogfinum;
	u->og_cap = g->og_cap;
	u->og_mem = g->og_mem;
	return old;
}

/* the same for the receive buffer */
void *pw_aal_use_ic(struct pw_aal *u, const struct pw_aal *g)
{
	void *old = u->ic_mem;

	u->ic = g->ic;
	u->lastotosqnfrm = g->lastotosqnfrm;
	u->lastotasqnfrm = g->lastotasqnfrm;
	u->lastmcsqnfrm = g->lastmcsqnfrm;
	u->msg_tail = g->msg_tail;
	u->msg_num = g->msg_num;
	u->msg = g->msg;
	u->ic_cell = g->ic_cell;
	u->ics = g->ics;
	u->icfi = g->icfi;
	u->icli = g->icli;
	u->icfinum = g->icfinum;
	u->msg_free = g->msg_free;
	u->ic_cap = g->ic_cap;
	u->ic_low = g->ic_low;
	u->ic_mem = g->ic_mem;
	return old;
}

/**
 * pw_aal_init() - AAL unit after reset
 * @mem: pw_aal_size() bytes, aligned to 8
 * @cfg: sizes, checked
 * @ops: callbacks
 * @ctx: first argument of the callbacks
 *
 * Return: the AAL unit (at @mem).
 */
struct pw_aal *pw_aal_init(void *mem, const struct pw_aal_cfg *cfg, const struct pw_aal_ops *ops,
			   void *ctx)
{
	struct pw_arena a = { .base = mem };
	struct pw_aal *u;
	u32 i;

	memset(mem, 0, pw_aal_size(cfg));
	u = layout(&a, NULL, cfg);
	u->ops = ops;
	u->ctx = ctx;
	u->dev.path = -1;
	u->path = -1;
	if (u->cfg.route >= PW_AAL_ROUTE_RANDOM && u->cfg.route < PW_AAL_ROUTE_LEAST)
		u->rcount = (u->cfg.route * 0x9e3779b1U + u->cfg.port * 0x85ebca6bU) >> 16;
	u->lastotasqn = 1;
	u->nextotasqn = 1;
	for (i = 0; i < u->cfg.ports; i++)
		u->msg_head[i] = PW_AAL_NONE;
	u->txm_free = PW_AAL_NONE;
	u->msg_free = PW_AAL_NONE;
	u->curmsg = PW_AAL_NONE;
	u->c7msg = PW_AAL_NONE;
	u->c8msg = PW_AAL_NONE;
	u->c10msg = PW_AAL_NONE;
	u->srch = PW_AAL_NONE;
	if (u->cfg.engine->init)
		u->cfg.engine->init(u);
	if (!(cfg->flags & PW_AAL_F_SPARSE)) {
		set_og(u, pw_arena_take(&a, pw_aal_og_bytes(u, u->cfg.og_blocks)),
		       u->cfg.og_blocks);
		set_ic(u, pw_arena_take(&a, pw_aal_ic_bytes(u, u->cfg.ic_blocks)),
		       u->cfg.ic_blocks);
	}
	return u;
}

/* move the first free send block to the tail of the busy list; PW_AAL_NONE: none is free */
static u16 og_alloc(struct pw_aal *u)
{
	struct pw_aal_og *b;
	u16 n = u->ogfi;

	if (!u->ogfinum)
		return PW_AAL_NONE;
	b = &u->og[n];
	if (--u->ogfinum)
		u->ogfi = b->next;
	b->prev = u->oglb;
	b->next = PW_AAL_NONE;
	if (u->ogbblknum++) {
		u->og[u->oglb].next = n;
	} else {
		u->ogfb = n;
		u->cursnd = n;
	}
	u->oglb = n;
	b->ready = -1;
	b->comtype = PW_AAL_COM_NONE;
	b->tofr = false;
	b->sent = false;
	b->acknum = 0;
	memset(&u->ackdesc[(size_t)n * u->ackw], 0, u->ackw * sizeof(u32));
	if (u->og_cell)
		memset(u->og_cell + (size_t)n * PW_BMX_CELL, 0, PW_BMX_CELL);
	return n;
}

/**
 * pw_aal_og_release() - move a send block from the busy list to the tail of the free list
 * @u: AAL unit
 * @b: block
 *
 * cursnd and a search of controller 7 that are at the block move to the next one.
 */
void pw_aal_og_release(struct pw_aal *u, u16 b)
{
	struct pw_aal_og *p = &u->og[b];
	struct pw_aal_txm *m = &u->txm[p->msg];
	u16 next = b == u->oglb ? PW_AAL_NONE : p->next;

	if (u->srch == b && (u->st[7] == C7_COMPARE || u->st[7] == C7_SEARCH_NEXT)) {
		u->srch = next;
		u->st[7] = C7_COMPARE;
	}
	if (b == u->ogfb)
		u->ogfb = next == PW_AAL_NONE ? b : next;
	else
		u->og[p->prev].next = p->next;
	if (next == PW_AAL_NONE)
		u->oglb = b == u->ogfb ? b : p->prev;
	else
		u->og[next].prev = p->prev;
	u->ogbblknum--;
	if (u->cursnd == b)
		u->cursnd = next == PW_AAL_NONE ? u->ogfb : next;
	if (u->ogfinum++)
		u->og[u->ogli].next = b;
	else
		u->ogfi = b;
	u->ogli = b;
	p->next = PW_AAL_NONE;
	p->tofr = false;
	p->ready = -1;
	if (--m->left)
		return;
	u->ogmsgnum--;
	m->next = u->txm_free;
	u->txm_free = p->msg;
	if (u->ops->released)
		u->ops->released(u->ctx, u, m->id);
}

/* first block of a message */
static bool begin_message(struct pw_aal *u)
{
	u16 b = og_alloc(u);

	if (b == PW_AAL_NONE)
		return false;
	u->txm_cur = u->txm_free;
	u->txm_free = u->txm[u->txm_cur].next;
	u->txm[u->txm_cur].left = 1;
	u->og[b].msg = u->txm_cur;
	u->ogcurmsg = b;
	u->ogoffset = PW_CELL_MSG_HDR;
	return true;
}

/* next block of the message being packed */
static bool next_block(struct pw_aal *u)
{
	u16 b = og_alloc(u);

	if (b == PW_AAL_NONE)
		return false;
	u->txm[u->txm_cur].left++;
	u->og[b].msg = u->txm_cur;
	u->ogoffset = 0;
	return true;
}

/* set nomem and exit; exit: no other message could release a block */
static void note_memory(struct pw_aal *u, bool got)
{
	if (!got && !u->dev.nomem)
		u->stats.nomem++;
	u->dev.nomem = !got;
	u->dev.exit = !got && !u->ogmsgnum;
}

/**
 * pw_aal_put_block() - allocate a block of the message being packed
 * @u: AAL unit
 * @first: first block of the message
 *
 * Return: false if there is no free block; nomem is then set.
 */
bool pw_aal_put_block(struct pw_aal *u, bool first)
{
	bool got = first ? begin_message(u) : next_block(u);

	note_memory(u, got);
	return got;
}

/**
 * pw_aal_header() - set the SAR header fields of a block of the message being segmented
 * @u: AAL unit
 * @b: block
 */
void pw_aal_header(struct pw_aal *u, u16 b)
{
	u32 *desc = &u->ackdesc[(size_t)b * u->ackw];
	struct pw_aal_og *p = &u->og[b];
	const struct pw_topo_conn *c;
	u16 i;

	p->flag = (b == u->ogcurmsg ? PW_CELL_F_FIRST : 0) | (b == u->oglb ? PW_CELL_F_LAST : 0);
	p->comtype = u->comtype;
	if (likely(u->comtype == PW_CELL_COM_ONE)) {
		p->sqn = u->lastotosqnto[u->dstreg]++;
		p->dst = u->dstreg;
		p->acknum = 1;
		desc[u->dstreg / 32] |= 1U << u->dstreg % 32;
	} else if (u->comtype == PW_CELL_COM_ALL) {
		p->sqn = u->lastotasqn++;
		p->dst = PW_CELL_DST_ALL;
		p->acknum = u->cfg.ports;
		for (i = 0; i < u->cfg.ports; i++)
			desc[i / 32] |= 1U << i % 32;
	} else {
		c = &u->cfg.conn[u->dstreg];
		p->sqn = u->lastmcsqn[u->dstreg]++;
		p->dst = PW_CELL_DST_MC | u->dstreg;
		p->acknum = c->num;
		memcpy(desc, c->to, sizeof(*desc) * u->ackw);
	}
}

/* path of the emptiest queue for destination @to, from the next one in turn on */
static u32 least_path(struct pw_aal *u, u32 to)
{
	u32 k = u->rcount, best = U32_MAX, i, n;

	for (i = 0; i < u->cfg.paths && best; i++) {
		k = k + 1 < u->cfg.paths ? k + 1 : 0;
		n = u->ops->fill ? u->ops->fill(u->ctx, u, u->cfg.paths * to + k) : 0;
		if (n >= best)
			continue;
		best = n;
		u->rcount = k;
	}
	return u->rcount;
}

/* next path to destination @to, as pw_aal_path() counts them, that is not in turn */
static noinline u32 other_path(struct pw_aal *u, u32 to)
{
	if (u->cfg.route == PW_AAL_ROUTE_LEAST)
		return least_path(u, to);
	if (u->cfg.route == PW_AAL_ROUTE_FIXED)
		return (u->cfg.port + to) % u->cfg.paths;
	/* all 65536 states come once; the low bits of such a sequence are not random */
	u->rcount = u->rcount * 25173 + 13849;
	return (u->rcount >> 8) * u->cfg.paths >> 8;
}

/* destination in a VPI of the message being segmented, which goes to several ports */
static noinline u32 several(const struct pw_aal *u)
{
	if (u->comtype == PW_CELL_COM_ALL)
		return u->cfg.ports;
	return pw_topo_conn_dest(u->cfg.ports, &u->cfg.conn[u->dstreg]);
}

/**
 * pw_aal_other_path() - choose a path that is not simply the next one in turn
 * @u: AAL unit
 * @ack: for the acknowledgment being built, else for the message being segmented
 *
 * Return: VPI of the first stage.
 */
u16 pw_aal_other_path(struct pw_aal *u, bool ack)
{
	u16 k = u->rcount;
	u32 to = u->dstreg;

	if (ack)
		to = u->srcpn;
	else if (unlikely(u->comtype != PW_CELL_COM_ONE))
		to = several(u);
	if (!ack && u->path >= 0)
		k = u->path;
	else if (unlikely(u->cfg.route != PW_AAL_ROUTE_TURN))
		k = other_path(u, to);
	else if (++u->rcount == u->cfg.paths)
		u->rcount = 0;
	return u->cfg.paths * to + k;
}

/**
 * pw_aal_admits() - does the window admit a cell to several ports that was never sent?
 * @u: AAL unit
 * @b: its block
 *
 * Return: true if it does.
 */
bool pw_aal_admits(const struct pw_aal *u, const struct pw_aal_og *b)
{
	if (!u->cfg.window)
		return true;
	return b->sqn == pw_aal_next_sqn(u, b) &&
	       (!u->outstanding || u->outstanding + b->acknum <= u->cfg.window);
}

/*
 * Addition to the timer of a cell to several ports with a window: cycles that controller 7 needs
 * for all outstanding acknowledgments. For each it passes both buffers. Twice, because
 * the cell also reaches its own port and queues there behind them, and so does its
 * acknowledgment. With a shorter timer repeated cells would add acknowledgments faster
 * than controller 7 takes them.
 */
static u64 ack_cycles(const struct pw_aal *u)
{
	u32 each = CYC_C7_PASS * (u32)u->icblkinmsgnum + CYC_C7_SEARCH * (u32)u->ogbblknum +
		   PW_AAL_ACK_MAX;

	return u->cfg.window ? 2 * (u64)u->outstanding * each : 0;
}

/* a cell to several ports is sent for the first time */
static noinline void first_time(struct pw_aal *u, const struct pw_aal_og *p)
{
	if (p->dst == PW_CELL_DST_ALL)
		u->nextotasqn = p->sqn + 1;
	else
		u->nextmcsqn[p->dst ^ PW_CELL_DST_MC] = p->sqn + 1;
}

/**
 * pw_aal_sent() - start the timer of a block whose last byte was fetched
 * @u: AAL unit
 * @b: block
 */
void pw_aal_sent(struct pw_aal *u, u16 b)
{
	struct pw_aal_og *p = &u->og[b];

	if (p->sent) {
		u->stats.resent++;
	} else {
		p->sent = true;
		u->outstanding += p->acknum;
		if (unlikely(p->dst & PW_CELL_DST_MC))
			first_time(u, p);
	}
	p->ready = 1;
	/* controller 9 runs after 5 and counts this cycle, too */
	p->due = u->now + u->cfg.resend - 1;
	if (p->comtype != PW_CELL_COM_ONE)
		p->due += ack_cycles(u);
	u->stats.cells_out++;
}

/**
 * pw_aal_ic_append() - move block icfi, which holds a good cell, to the busy list
 * @u: AAL unit
 * @b: icfi
 */
void pw_aal_ic_append(struct pw_aal *u, u16 b)
{
	struct pw_aal_ic *p = &u->ic[b];

	if (--u->icfinum)
		u->icfi = p->next;
	p->prev = u->iclb;
	p->next = PW_AAL_NONE;
	p->chain = PW_AAL_NONE;
	p->inmsg = false;
	p->acked = false;
	p->kept = false;
	p->tofr = false;
	if (u->icbblknum++) {
		u->ic[u->iclb].next = b;
	} else {
		u->icfb = b;
		u->iccurb = b;
	}
	u->iclb = b;
	if (p->type == PW_CELL_T_ACK)
		u->stats.acks_in++;
	else
		u->stats.cells_in++;
	if (unlikely(u->icfinum < u->ic_low) && u->ops->low)
		u->ops->low(u->ctx, u);
}

/**
 * pw_aal_ic_release() - move a receive block from the busy list to the tail of the free list
 * @u: AAL unit
 * @b: block
 */
void pw_aal_ic_release(struct pw_aal *u, u16 b)
{
	struct pw_aal_ic *p = &u->ic[b];
	u16 next = b == u->iclb ? PW_AAL_NONE : p->next;
	bool inmsg = p->inmsg;

	if (b == u->icfb)
		u->icfb = next == PW_AAL_NONE ? b : next;
	else
		u->ic[p->prev].next = p->next;
	if (next == PW_AAL_NONE)
		u->iclb = b == u->icfb ? b : p->prev;
	else
		u->ic[next].prev = p->prev;
	u->icbblknum--;
	if (inmsg)
		u->icblkinmsgnum--;
	if (p->tofr)
		u->ictofrnum--;
	if (u->icfinum++)
		u->ic[u->icli].next = b;
	else
		u->icfi = b;
	u->icli = b;
	p->next = PW_AAL_NONE;
	p->tofr = false;
	p->inmsg = true;
	if (u->icfinum == 1 && u->ops->room)
		u->ops->room(u->ctx, u);
	if (inmsg && u->ops->freed)
		u->ops->freed(u->ctx, u);
}

/**
 * pw_aal_build_ack() - acknowledge the cell that controller 7 is processing
 * @u: AAL unit
 */
void pw_aal_build_ack(struct pw_aal *u)
{
	struct pw_aal_cell *c = &u->ackbldcell;

	c->id = 0;
	c->type = PW_CELL_T_ACK;
	c->flag = PW_CELL_COM_ONE;
	if (u->dstpn == PW_CELL_DST_ALL)
		c->flag = PW_CELL_COM_ALL;
	else if (unlikely(u->dstpn & PW_CELL_DST_MC))
		c->flag = PW_CELL_COM_MC + (u->dstpn ^ PW_CELL_DST_MC);
	c->sqn = u->sqn;
	c->src = u->cfg.port;
	c->dst = u->srcpn;
}

/* new descriptor with block @b, newest of its source */
static void new_message(struct pw_aal *u, u16 b)
{
	struct pw_aal_msg *p;
	u16 m = u->msg_free;

	u->c7msg = m;
	p = &u->msg[m];
	u->msg_free = p->next;
	u->cfg.engine->read_header(u, b, p->hdr);
	p->id = p->hdr[PW_AAL_HDR_WORDS - 1];
	p->unread = 0;
	p->src = u->srcpn;
	p->dst = u->dstpn;
	p->first = b;
	p->last = b;
	p->next = PW_AAL_NONE;
	p->cells = 1;
	p->nserved = 0;
	p->complete = false;
	if (u->msg_head[p->src] == PW_AAL_NONE)
		u->msg_head[p->src] = m;
	else
		u->msg[u->msg_tail[p->src]].next = m;
	u->msg_tail[p->src] = m;
	u->msg_num[p->src]++;
}

/**
 * pw_aal_reassemble() - add block iccurb to a new or to the oldest incomplete message
 * @u: AAL unit
 *
 * The cell is the expected one. Sets c7msg to the message, to PW_AAL_NONE if the cell
 * continues none.
 */
void pw_aal_reassemble(struct pw_aal *u)
{
	const struct pw_aal_msg *p;
	u16 m;

	if (u->flag & PW_CELL_F_FIRST) {
		new_message(u, u->iccurb);
		return;
	}
	for (m = u->msg_head[u->srcpn]; m != PW_AAL_NONE; m = p->next) {
		p = &u->msg[m];
		if (!p->complete && p->dst == u->dstpn)
			break;
	}
	u->c7msg = m;
	if (m == PW_AAL_NONE)
		return;
	u->ic[u->msg[m].last].chain = u->iccurb;
	u->msg[m].last = u->iccurb;
	u->msg[m].cells++;
}

/**
 * pw_aal_commit() - state C7_COMMIT: the block belongs to the message
 * @u: AAL unit
 *
 * Return: true if that completed the message.
 */
bool pw_aal_commit(struct pw_aal *u)
{
	struct pw_aal_msg *p;

	if (u->c7msg == PW_AAL_NONE) {
		/* the cell continues no message */
		u->ic[u->iccurb].tofr = true;
		u->ictofrnum++;
		return false;
	}
	u->ic[u->iccurb].inmsg = true;
	u->icblkinmsgnum++;
	if (!(u->flag & PW_CELL_F_LAST))
		return false;
	p = &u->msg[u->c7msg];
	p->complete = true;
	p->due = u->now + u->cfg.keep;
	u->msgnumfrm[p->src]++;
	u->srcmap[p->src / 64] |= BIT_ULL(p->src % 64);
	u->nmsgs++;
	u->stats.msgs_in++;
	if (u->ops->complete)
		u->ops->complete(u->ctx, u, u->c7msg);
	return true;
}

/**
 * pw_aal_match() - does the acknowledgment that controller 7 is processing match a send block?
 * @u: AAL unit
 * @b: block
 *
 * Return: true if communication type, number and destination agree.
 */
bool pw_aal_match(const struct pw_aal *u, u16 b)
{
	const struct pw_aal_og *p = &u->og[b];

	if (p->sqn != u->sqn || p->comtype == PW_AAL_COM_NONE)
		return false;
	return p->dst == (likely(u->flag == PW_CELL_COM_ONE) ? u->srcpn : pw_aal_ack_dst(u));
}

/**
 * pw_aal_take_ack() - state C7_TAKE: one acknowledgment less is missing
 * @u: AAL unit
 * @b: acknowledged send block
 */
void pw_aal_take_ack(struct pw_aal *u, u16 b)
{
	u->ackdesc[(size_t)b * u->ackw + u->srcpn / 32] &= ~(1U << u->srcpn % 32);
	u->og[b].acknum--;
	if (u->outstanding && u->og[b].sent)
		u->outstanding--;
	if (u->ops->acked)
		u->ops->acked(u->ctx, u, u->txm[u->og[b].msg].id, u->sqn, u->srcpn);
}

/**
 * pw_aal_expired() - does controller 10 drop a complete message in cycle u->now?
 * @u: AAL unit
 * @m: message
 *
 * Return: true if it does.
 */
bool pw_aal_expired(const struct pw_aal *u, u16 m)
{
	const struct pw_aal_msg *p = &u->msg[m];

	if (u->now <= p->due)
		return false;
	if (u->curmsg == m && u->dev.rlcked)
		return false;
	if (u->asking)
		return false;
	return pw_aal_mortal(u, p);
}

/**
 * pw_aal_obsolete() - drop a complete message
 * @u: AAL unit
 * @m: message
 */
void pw_aal_obsolete(struct pw_aal *u, u16 m)
{
	struct pw_aal_msg *p = &u->msg[m];
	u16 b, i, prev = PW_AAL_NONE;

	for (b = p->first; b != PW_AAL_NONE; b = u->ic[b].chain) {
		u->ic[b].tofr = true;
		u->ictofrnum++;
	}
	for (i = u->msg_head[p->src]; i != m; i = u->msg[i].next)
		prev = i;
	if (prev == PW_AAL_NONE)
		u->msg_head[p->src] = p->next;
	else
		u->msg[prev].next = p->next;
	if (u->msg_tail[p->src] == m)
		u->msg_tail[p->src] = prev;
	u->msg_num[p->src]--;
	u->nmsgs--;
	if (!--u->msgnumfrm[p->src])
		u->srcmap[p->src / 64] &= ~BIT_ULL(p->src % 64);
	p->complete = false;
	if (u->curmsg == m)
		u->curmsg = PW_AAL_NONE;
	u->stats.obsolete++;
	if (u->ops->obsolete)
		u->ops->obsolete(u->ctx, u, m);
	p->next = u->msg_free;
	u->msg_free = m;
}

/**
 * pw_aal_read_done() - host: release the receive lock after the last get
 * @u: AAL unit
 *
 * A message that several processes read is obsolete after the last of them.
 */
void pw_aal_read_done(struct pw_aal *u)
{
	struct pw_aal_msg *p;

	u->dev.rlcked = false;
	if (u->curmsg == PW_AAL_NONE)
		return;
	p = &u->msg[u->curmsg];
	if (p->unread && --p->unread)
		return;
	if (u->cfg.flags & PW_AAL_F_RELEASE_READ)
		p->due = u->now;
}

/**
 * pw_aal_discard() - host: drop a complete message unread
 * @u: AAL unit
 * @desc: message
 */
void pw_aal_discard(struct pw_aal *u, u16 desc)
{
	struct pw_aal_msg *p = &u->msg[desc];

	if (!p->nserved) {
		p->nserved = 1;
		p->served[0] = 0;
	}
	p->unread = 0;
	p->due = u->now;
}

/* ---- controller 8: message server ---- */

/**
 * pw_aal_served() - was a message served to this instance before?
 * @p: message
 * @instance: instance of a process
 *
 * Return: true if it was.
 */
bool pw_aal_served(const struct pw_aal_msg *p, u32 instance)
{
	u32 i;

	for (i = 0; i < p->nserved; i++)
		if (p->served[i] == instance)
			return true;
	return false;
}

/* does the message match the request? U32_MAX: for any instance */
static bool wanted(const struct pw_aal *u, const struct pw_aal_msg *p)
{
	return p->hdr[0] == u->want[0] && p->hdr[1] == u->want[1] && p->hdr[2] == u->want[2] &&
	       (p->hdr[3] == u->want[3] || p->hdr[3] == U32_MAX) && p->hdr[4] == u->want[4];
}

/**
 * pw_aal_c8_next() - next state of controller 8
 * @u: AAL unit
 * @st: state
 * @src: source being searched
 * @msg: message being examined
 *
 * Moves @src and @msg and changes nothing else, so that the fast engine can look ahead.
 *
 * Return: the state after @st.
 */
u8 pw_aal_c8_next(const struct pw_aal *u, u8 st, u16 *src, u16 *msg)
{
	switch (st) {
	case C8_START:
		*src = 0;
		return C8_SOURCE;
	case C8_SOURCE:
		*msg = PW_AAL_NONE;
		return C8_ANY;
	case C8_ANY:
		*msg = pw_aal_complete_from(u, u->msg_head[*src]);
		return *msg == PW_AAL_NONE ? C8_NEXT_SOURCE : C8_MATCH;
	case C8_MATCH:
		return wanted(u, &u->msg[*msg]) ? C8_SERVED : C8_NEXT_MSG;
	case C8_SERVED:
		return pw_aal_served(&u->msg[*msg], u->want[3]) ? C8_NEXT_MSG : C8_MARK;
	case C8_MARK:
		return C8_GRANT;
	case C8_NEXT_MSG:
		*msg = pw_aal_complete_from(u, u->msg[*msg].next);
		return *msg == PW_AAL_NONE ? C8_NEXT_SOURCE : C8_MATCH;
	case C8_NEXT_SOURCE:
		++*src;
		return C8_LAST;
	case C8_LAST:
		return *src == u->cfg.ports ? C8_DENY : C8_SOURCE;
	default:
		return C8_IDLE;
	}
}

static void answer(struct pw_aal *u, bool read)
{
	u->dev.read = read;
	u->dev.readi = true;
	u->asking = false;
	if (u->ops->granted)
		u->ops->granted(u->ctx, u, read);
}

/**
 * pw_aal_ctl8() - one cycle of controller 8
 * @u: AAL unit
 */
void pw_aal_ctl8(struct pw_aal *u)
{
	struct pw_aal_msg *p;
	u8 st = u->st[8];

	if (st == C8_IDLE)
		return;
	u->st[8] = pw_aal_c8_next(u, st, &u->c8src, &u->c8msg);
	switch (st) {
	case C8_MARK:
		p = &u->msg[u->c8msg];
		if (p->nserved < PW_AAL_SERVED)
			p->served[p->nserved++] = u->want[3];
		break;
	case C8_GRANT:
		u->curmsg = u->c8msg;
		u->currcv = u->msg[u->c8msg].first;
		u->icoffset = PW_CELL_MSG_HDR;
		answer(u, true);
		break;
	case C8_DENY:
		answer(u, false);
		break;
	default:
		break;
	}
}

/* ---- controller 10: obsolete messages ---- */

/**
 * pw_aal_ctl10() - one cycle of controller 10
 * @u: AAL unit
 */
void pw_aal_ctl10(struct pw_aal *u)
{
	u16 msg = u->c10msg;
	u8 st = u->st[10];

	u->st[10] = pw_aal_c10_next(u, st, &u->c10src, &u->c10msg, &u->c10left);
	if (st == C10_DROP)
		pw_aal_obsolete(u, msg);
}

/**
 * pw_aal_ctl10_skip() - cycles of controller 10 of an idle unit
 * @u: AAL unit without messages in its receive buffer
 * @n: cycles
 */
void pw_aal_ctl10_skip(struct pw_aal *u, u32 n)
{
	u32 sources;

	while (n) {
		sources = 0;
		if (u->st[10] == C10_SOURCE)
			sources = min_t(u32, u->cfg.ports - u->c10src, n / CYC_C10_SOURCE);
		if (sources) {
			u->c10src += sources;
			n -= CYC_C10_SOURCE * sources;
		} else {
			pw_aal_ctl10(u);
			n--;
		}
	}
}
