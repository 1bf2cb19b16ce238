// SPDX-License-Identifier: GPL-2.0
/* ATM adaptation unit: storage, and its controllers register by register. */
#include "aal.h"
#include "bmx_arena.h"

static void cfg_defaults(struct pw_aal_cfg *c)
{
	if (!c->ports)
		c->ports = PW_BMX_K * PW_BMX_K;
	if (!c->routes)
		c->routes = PW_BMX_K;
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
 * pw_aal_cfg_check() - are the sizes possible?
 * @cfg: sizes
 *
 * Return: 0 or -EINVAL.
 */
int pw_aal_cfg_check(const struct pw_aal_cfg *cfg)
{
	struct pw_aal_cfg c = *cfg;

	cfg_defaults(&c);
	if (c.ports > 256 || c.port >= c.ports || c.routes > PW_BMX_KMAX)
		return -EINVAL;
	if (c.og_blocks < 2 || c.og_blocks >= PW_AAL_NONE ||
	    c.ic_blocks < 2 || c.ic_blocks >= PW_AAL_NONE)
		return -EINVAL;
	if (c.resend > INT_MAX || c.keep > INT_MAX)
		return -EINVAL;
	return 0;
}

/*
 * A message takes a receive block at least. With a window, its owner lets in either a
 * single message or as many cells as the window has.
 */
static u32 msg_pool(const struct pw_aal_cfg *c)
{
	u32 n = min_t(u64, (u64)c->ports * c->descs, c->ic_blocks);

	return c->window ? min(n, c->window + 1) : n;
}

/* twice as many seats as blocks: gaps are closed once in as many turns as there are blocks */
static void seats(struct pw_arena *a, struct pw_aal_seats *s, u32 blocks)
{
	s->size = max_t(u32, 64, 1U << fls(2 * blocks - 1));
	s->busy = pw_arena_take(a, s->size / 8);
	s->hot = pw_arena_take(a, s->size / 8);
	s->blk = pw_arena_take(a, sizeof(u16) * s->size);
}

static struct pw_aal *layout(struct pw_arena *a, const struct pw_aal_cfg *cfg)
{
	struct pw_aal *u = pw_arena_take(a, sizeof(*u)), tmp;
	struct pw_aal *v = u ? u : &tmp;

	v->cfg = *cfg;
	cfg_defaults(&v->cfg);
	cfg = &v->cfg;
	v->ackw = DIV_ROUND_UP(cfg->ports, 32);
	v->og = pw_arena_take(a, sizeof(*v->og) * cfg->og_blocks);
	v->ackdesc = pw_arena_take(a, sizeof(u32) * v->ackw * cfg->og_blocks);
	v->txm = pw_arena_take(a, sizeof(*v->txm) * cfg->og_blocks);
	v->ic = pw_arena_take(a, sizeof(*v->ic) * cfg->ic_blocks);
	v->og_cell = NULL;
	v->ic_cell = NULL;
	if (cfg->fast) {
		seats(a, &v->ogs, cfg->og_blocks);
		seats(a, &v->ics, cfg->ic_blocks);
		v->hashes = max_t(u32, 64, v->ogs.size / 8);
		v->hash = pw_arena_take(a, sizeof(u16) * v->hashes);
	} else {
		v->og_cell = pw_arena_take(a, (size_t)PW_BMX_CELL * cfg->og_blocks);
		v->ic_cell = pw_arena_take(a, (size_t)PW_BMX_CELL * cfg->ic_blocks);
	}
	v->lastotosqnto = pw_arena_take(a, sizeof(u16) * cfg->ports);
	v->msgnumfrm = pw_arena_take(a, sizeof(u16) * cfg->ports);
	v->lastotosqnfrm = pw_arena_take(a, sizeof(u16) * cfg->ports);
	v->lastotasqnfrm = pw_arena_take(a, sizeof(u16) * cfg->ports);
	v->msg_head = pw_arena_take(a, sizeof(u16) * cfg->ports);
	v->msg_tail = pw_arena_take(a, sizeof(u16) * cfg->ports);
	v->msg_num = pw_arena_take(a, sizeof(u16) * cfg->ports);
	v->msg = pw_arena_take(a, sizeof(*v->msg) * msg_pool(cfg));
	return u;
}

/**
 * pw_aal_size() - memory a unit needs
 * @cfg: sizes, checked
 *
 * Return: bytes to hand to pw_aal_init().
 */
size_t pw_aal_size(const struct pw_aal_cfg *cfg)
{
	struct pw_arena a = {};

	layout(&a, cfg);
	return a.used;
}

/**
 * pw_aal_init() - unit after reset
 * @mem: pw_aal_size() bytes, aligned to 8
 * @cfg: sizes, checked
 * @ops: callbacks
 * @ctx: their first argument
 *
 * Return: the unit (at @mem).
 */
struct pw_aal *pw_aal_init(void *mem, const struct pw_aal_cfg *cfg, const struct pw_aal_ops *ops,
			   void *ctx)
{
	struct pw_arena a = { .base = mem };
	struct pw_aal *u;
	u32 i, n;

	memset(mem, 0, pw_aal_size(cfg));
	u = layout(&a, cfg);
	u->ops = ops;
	u->ctx = ctx;
	u->dev.route = -1;
	u->route = -1;
	for (i = 0; i < u->cfg.og_blocks; i++) {
		u->og[i].next = i + 1;
		u->og[i].ready = -1;
		u->og[i].comtype = PW_AAL_COM_NONE;
		u->txm[i].next = i + 1 < u->cfg.og_blocks ? i + 1 : PW_AAL_NONE;
	}
	u->ogfinum = u->cfg.og_blocks;
	u->ogli = u->cfg.og_blocks - 1;
	for (i = 0; i < u->cfg.ic_blocks; i++) {
		u->ic[i].next = i + 1;
		u->ic[i].inmsg = true;
	}
	u->icfinum = u->cfg.ic_blocks;
	u->icli = u->cfg.ic_blocks - 1;
	u->lastotasqn = 1;
	u->nextotasqn = 1;
	for (i = 0; i < u->cfg.ports; i++) {
		u->lastotosqnto[i] = 1;
		u->lastotosqnfrm[i] = 1;
		u->lastotasqnfrm[i] = 1;
		u->msg_head[i] = PW_AAL_NONE;
		u->msg_tail[i] = PW_AAL_NONE;
	}
	n = msg_pool(&u->cfg);
	for (i = 0; i < n; i++)
		u->msg[i].next = i + 1 < n ? i + 1 : PW_AAL_NONE;
	u->curmsg = PW_AAL_NONE;
	u->c7msg = PW_AAL_NONE;
	u->c8msg = PW_AAL_NONE;
	u->c10msg = PW_AAL_NONE;
	u->srch = PW_AAL_NONE;
	pw_aal_fast_init(u);
	return u;
}

/**
 * pw_aal_blktime() - timer register of a send block after cycle u->now
 * @u: unit
 * @blk: block
 *
 * Return: -1 not ready, 0 to be sent, else cycles left.
 */
s64 pw_aal_blktime(const struct pw_aal *u, u16 blk)
{
	const struct pw_aal_og *b = &u->og[blk];

	if (b->ready <= 0)
		return b->ready;
	return u->now >= b->due ? 0 : (s64)(b->due - u->now);
}

/**
 * pw_aal_og_alloc() - first free send block to the tail of the busy list
 * @u: unit
 *
 * Return: the block or PW_AAL_NONE.
 */
u16 pw_aal_og_alloc(struct pw_aal *u)
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
 * pw_aal_og_release() - send block out of the busy list, to the tail of the free list
 * @u: unit
 * @b: block
 *
 * Steps cursnd and a search of controller 7 past the block.
 */
void pw_aal_og_release(struct pw_aal *u, u16 b)
{
	struct pw_aal_og *p = &u->og[b];
	struct pw_aal_txm *m = &u->txm[p->msg];
	u16 next = b == u->oglb ? PW_AAL_NONE : p->next;

	if (u->srch == b && (u->st[7] == 4 || u->st[7] == 5)) {
		u->srch = next;
		u->st[7] = 4;
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

/* a message begins: its first block */
static bool begin_message(struct pw_aal *u)
{
	u16 b = pw_aal_og_alloc(u);

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

static bool next_block(struct pw_aal *u)
{
	u16 b = pw_aal_og_alloc(u);

	if (b == PW_AAL_NONE)
		return false;
	u->txm[u->txm_cur].left++;
	u->og[b].msg = u->txm_cur;
	u->ogoffset = 0;
	return true;
}

static void note_memory(struct pw_aal *u, bool got)
{
	if (!got && !u->dev.nomem)
		u->stats.nomem++;
	u->dev.nomem = !got;
	u->dev.exit = !got && !u->ogmsgnum;
}

/**
 * pw_aal_put_block() - block for the first or the next bytes of a message
 * @u: unit
 * @first: a message begins
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
 * pw_aal_header() - SAR header facts of a block of the message being segmented
 * @u: unit
 * @b: block
 */
void pw_aal_header(struct pw_aal *u, u16 b)
{
	u32 *desc = &u->ackdesc[(size_t)b * u->ackw];
	struct pw_aal_og *p = &u->og[b];
	u16 i;

	p->flag = (b == u->ogcurmsg ? PW_CELL_F_FIRST : 0) | (b == u->oglb ? PW_CELL_F_LAST : 0);
	p->comtype = u->comtype;
	if (u->comtype == PW_CELL_COM_ALL) {
		p->sqn = u->lastotasqn++;
		p->dst = PW_CELL_DST_ALL;
		p->acknum = u->cfg.ports;
		for (i = 0; i < u->cfg.ports; i++)
			desc[i / 32] |= 1U << i % 32;
	} else {
		p->sqn = u->lastotosqnto[u->dstreg]++;
		p->dst = u->dstreg;
		p->acknum = 1;
		desc[u->dstreg / 32] |= 1U << u->dstreg % 32;
	}
}

/**
 * pw_aal_route() - next VPI from the route counter
 * @u: unit
 * @ack: for the acknowledgment under construction, else for the message
 *
 * Return: the VPI.
 */
u16 pw_aal_route(struct pw_aal *u, bool ack)
{
	u16 k = u->rcount;

	if (!ack && u->route >= 0)
		k = u->route;
	else if (++u->rcount == u->cfg.routes)
		u->rcount = 0;
	if (ack)
		return u->cfg.routes * u->srcpn + k;
	if (u->comtype == PW_CELL_COM_ALL)
		return u->cfg.routes * u->cfg.ports + k;
	return u->cfg.routes * u->dstreg + k;
}

/**
 * pw_aal_sendable() - is a ready block to be sent now?
 * @u: unit
 * @b: block
 *
 * Return: true if its timer is 0 and the window is open for it.
 */
bool pw_aal_sendable(const struct pw_aal *u, const struct pw_aal_og *b)
{
	if (!pw_aal_due(u, b))
		return false;
	if (b->sent || b->comtype != PW_CELL_COM_ALL || !u->cfg.window)
		return true;
	return b->sqn == u->nextotasqn &&
	       (!u->outstanding || u->outstanding + b->acknum <= u->cfg.window);
}

/*
 * With a window: cycles until controller 7 has gone through the acknowledgments that
 * are outstanding, each after a walk along both buffers; twice, since the cell reaches
 * its own port, too, where it waits among them before its acknowledgment does. A
 * broadcast cell that were sent again before would only add to them, faster than they
 * can be taken in.
 */
static u64 ack_cycles(const struct pw_aal *u)
{
	u32 each = 2 * ((u32)u->icblkinmsgnum + u->ogbblknum) + PW_AAL_ACK_MAX;

	return u->cfg.window ? 2 * (u64)u->outstanding * each : 0;
}

/**
 * pw_aal_sent() - the last byte of a block is on its way
 * @u: unit
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
		if (p->comtype == PW_CELL_COM_ALL)
			u->nextotasqn = p->sqn + 1;
	}
	p->ready = 1;
	p->due = u->now + u->cfg.resend - 1;
	if (p->comtype == PW_CELL_COM_ALL)
		p->due += ack_cycles(u);
	u->stats.cells_out++;
}

/**
 * pw_aal_ic_append() - block icfi, filled with a good cell, to the busy list
 * @u: unit
 * @b: block icfi
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
}

/**
 * pw_aal_ic_release() - receive block out of the busy list, to the tail of the free list
 * @u: unit
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
 * pw_aal_build_ack() - acknowledgment for the cell controller 7 is at
 * @u: unit
 */
void pw_aal_build_ack(struct pw_aal *u)
{
	struct pw_aal_cell *c = &u->ackbldcell;

	c->id = 0;
	c->type = PW_CELL_T_ACK;
	c->flag = u->dstpn == PW_CELL_DST_ALL ? PW_CELL_COM_ALL : PW_CELL_COM_ONE;
	c->sqn = u->sqn;
	c->src = u->cfg.port;
	c->dst = u->srcpn;
}

/**
 * pw_aal_order() - place of the cell controller 7 is at in its sequence
 * @u: unit
 *
 * Return: 0 expected, > 0 to be kept for later, < 0 a duplicate.
 */
int pw_aal_order(const struct pw_aal *u)
{
	u16 want = u->dstpn == PW_CELL_DST_ALL ? u->lastotasqnfrm[u->srcpn] :
						 u->lastotosqnfrm[u->srcpn];
	int diff = (s16)(u16)(u->sqn - want);

	if (!diff && u->flag & PW_CELL_F_FIRST &&
	    (u->msg_num[u->srcpn] >= u->cfg.descs || u->msg_free == PW_AAL_NONE))
		return 1;
	return diff;
}

/* five header words of the message whose first cell is in block @b */
static void read_header(const struct pw_aal *u, u16 b, u32 *hdr)
{
	const u8 *p;
	u32 i;

	if (u->cfg.fast) {
		memset(hdr, 0, sizeof(*hdr) * 4);
		hdr[4] = u->ic[b].id;
		return;
	}
	p = u->ic_cell + (size_t)b * PW_BMX_CELL + PW_CELL_DATA;
	for (i = 0; i < PW_AAL_HDR_WORDS; i++)
		hdr[i] = get_unaligned_be32(p + 4 * i);
}

static void new_message(struct pw_aal *u, u16 b)
{
	struct pw_aal_msg *p;
	u16 m = u->msg_free;

	u->c7msg = m;
	p = &u->msg[m];
	u->msg_free = p->next;
	read_header(u, b, p->hdr);
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
 * pw_aal_reassemble() - block iccurb to a new or to the oldest incomplete message
 * @u: unit
 *
 * The cell is the expected one. Sets c7msg, PW_AAL_NONE for a cell that
 * continues nothing.
 */
void pw_aal_reassemble(struct pw_aal *u)
{
	bool all = u->dstpn == PW_CELL_DST_ALL;
	const struct pw_aal_msg *p;
	u16 m;

	if (u->flag & PW_CELL_F_FIRST) {
		new_message(u, u->iccurb);
		return;
	}
	for (m = u->msg_head[u->srcpn]; m != PW_AAL_NONE; m = p->next) {
		p = &u->msg[m];
		if (p->complete)
			continue;
		if (all ? p->dst == PW_CELL_DST_ALL : p->dst != PW_CELL_DST_ALL)
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
 * pw_aal_commit() - state 42: the block belongs to the message
 * @u: unit
 *
 * Return: true if that completed the message.
 */
bool pw_aal_commit(struct pw_aal *u)
{
	struct pw_aal_msg *p;

	if (u->c7msg == PW_AAL_NONE) {
		/* nothing to continue: the block is of no use */
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
 * pw_aal_match() - does a send block match the acknowledgment controller 7 is at?
 * @u: unit
 * @b: block
 *
 * Return: true if it does.
 */
bool pw_aal_match(const struct pw_aal *u, u16 b)
{
	const struct pw_aal_og *p = &u->og[b];

	return p->comtype == u->flag && p->sqn == u->sqn &&
	       (p->comtype == PW_CELL_COM_ALL || p->dst == u->srcpn);
}

/**
 * pw_aal_take_ack() - state 7: one acknowledgment less is missing
 * @u: unit
 * @b: block it is for
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
 * pw_aal_expired() - is a complete message obsolete in cycle u->now?
 * @u: unit
 * @m: message
 *
 * Return: true if controller 10 is to drop it.
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
	return p->nserved || !(u->cfg.flags & PW_AAL_F_KEEP_UNREAD);
}

/**
 * pw_aal_obsolete() - drop a complete message
 * @u: unit
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
 * pw_aal_read_done() - host: last get done, receive lock released
 * @u: unit
 */
void pw_aal_read_done(struct pw_aal *u)
{
	u->dev.rlcked = false;
	if (u->curmsg != PW_AAL_NONE && u->cfg.flags & PW_AAL_F_RELEASE_READ)
		u->msg[u->curmsg].due = u->now;
}

/**
 * pw_aal_discard() - host: nobody will read this complete message
 * @u: unit
 * @desc: message
 */
void pw_aal_discard(struct pw_aal *u, u16 desc)
{
	u->msg[desc].nserved = 1;
	u->msg[desc].served[0] = 0;
	u->msg[desc].due = u->now;
}

/* ---- controller 0: host commands ---- */

static void shift_words(struct pw_aal *u)
{
	u->j = u->g;
	u->g = u->f;
	u->f = u->e;
	u->e = u->d;
	u->d = u->dev.bus;
	u->run24 = u->dev.cmd == u->last24 ? u->run24 + 1 : 1;
	u->last24 = u->dev.cmd;
	if (u->run24 < PW_AAL_HDR_WORDS)
		return;
	u->run24 = 0;
	if (u->dev.cmd == PW_AAL_SND) {
		u->st[1] = 1;
		return;
	}
	u->want[0] = u->j;
	u->want[1] = u->g;
	u->want[2] = u->f;
	u->want[3] = u->e;
	u->want[4] = u->d;
	u->st[8] = 1;
}

static u8 decode(u8 cmd)
{
	switch (cmd) {
	case PW_AAL_INITSEND:
		return 2;
	case PW_AAL_PUTINT ... PW_AAL_PUTSTRING:
		return 4;
	case PW_AAL_GETINT ... PW_AAL_GETSTRING:
		return 17;
	case PW_AAL_SND:
	case PW_AAL_RCV:
		return 24;
	default:
		return 25;
	}
}

static void get_byte(struct pw_aal *u)
{
	u32 shift = 24 - 8 * (u->t & 3);
	u8 v = 0;

	if (u->icoffset < PW_CELL_DATA_LEN)
		v = u->ic_cell[(size_t)u->currcv * PW_BMX_CELL + PW_CELL_DATA + u->icoffset];
	u->dev.bus = (u->dev.bus & ~(0xffU << shift)) | (u32)v << shift;
}

static void ctl0(struct pw_aal *u)
{
	u8 *st = &u->st[0];
	u16 b;

	switch (*st) {
	case 0:
		if (u->dev.busi) {
			u->dev.busy = true;
			u->dev.busi = false;
			*st = 1;
		}
		return;
	case 1:
		*st = decode(u->dev.cmd);
		if (*st != 24)
			u->run24 = 0;
		u->t = 0;
		return;
	case 2:
		if (!pw_aal_put_block(u, true))
			return;
		break;
	case 4:
		if (u->t != u->dev.nbytes) {
			*st = 5;
			return;
		}
		break;
	case 5:
		if (u->ogoffset == PW_CELL_DATA_LEN && !pw_aal_put_block(u, false))
			return;
		*st = 6;
		return;
	case 6:
		u->og_cell[(size_t)u->oglb * PW_BMX_CELL + PW_CELL_DATA + u->ogoffset] =
			u->dev.bus >> (24 - 8 * (u->t & 3));
		*st = 7;
		return;
	case 7:
		u->ogoffset++;
		u->t++;
		*st = 4;
		return;
	case 17:
		if (u->t != u->dev.nbytes) {
			*st = 18;
			return;
		}
		break;
	case 18:
		b = u->ic[u->currcv].chain;
		if (u->icoffset == PW_CELL_DATA_LEN && b != PW_AAL_NONE) {
			u->currcv = b;
			u->icoffset = 0;
		}
		*st = 19;
		return;
	case 19:
		get_byte(u);
		*st = 23;
		return;
	case 23:
		if (u->icoffset < PW_CELL_DATA_LEN)
			u->icoffset++;
		u->t++;
		*st = 17;
		return;
	case 24:
		shift_words(u);
		break;
	case 25:
		u->dstreg = u->dev.bus >> 16;
		u->comtype = u->dev.bus & 0xffff ? PW_CELL_COM_ONE : PW_CELL_COM_ALL;
		if (u->dstreg >= u->cfg.ports)
			u->dstreg = 0;
		u->route = u->dev.route;
		break;
	default:
		break;
	}
	u->dev.busy = false;
	*st = 0;
}

/* ---- controllers 1 to 4: headers ---- */

static void ctl1(struct pw_aal *u)
{
	u8 *st = &u->st[1], *cell;
	struct pw_aal_og *p;
	u32 word;

	switch (*st) {
	case 1 ... 5:
		word = *st == 1 ? u->j : *st == 2 ? u->g : *st == 3 ? u->f : *st == 4 ? u->e : u->d;
		cell = u->og_cell + (size_t)u->ogcurmsg * PW_BMX_CELL + PW_CELL_DATA;
		put_unaligned_be32(word, cell + 4 * (*st - 1));
		u->c1blk = u->ogcurmsg;
		if (*st == 5)
			u->txm[u->txm_cur].id = u->d;
		++*st;
		break;
	case 6:
		pw_aal_header(u, u->c1blk);
		p = &u->og[u->c1blk];
		cell = u->og_cell + (size_t)u->c1blk * PW_BMX_CELL;
		put_unaligned_be16(PW_CELL_T_DATA, cell + PW_CELL_TYPE);
		put_unaligned_be16(p->flag, cell + PW_CELL_FLAG);
		*st = 7;
		break;
	case 7:
		cell = u->og_cell + (size_t)u->c1blk * PW_BMX_CELL;
		put_unaligned_be16(u->og[u->c1blk].sqn, cell + PW_CELL_SQN);
		*st = 8;
		break;
	case 8:
		cell = u->og_cell + (size_t)u->c1blk * PW_BMX_CELL;
		put_unaligned_be16(u->cfg.port, cell + PW_CELL_SRC);
		put_unaligned_be16(u->og[u->c1blk].dst, cell + PW_CELL_DST);
		*st = 9;
		break;
	case 9:
		if (u->c1blk == u->oglb) {
			u->sync12 = true;
			*st = 0;
		} else {
			u->c1blk = u->og[u->c1blk].next;
			*st = 6;
		}
		break;
	default:
		break;
	}
}

static void ctl2(struct pw_aal *u)
{
	u8 *st = &u->st[2];
	struct pw_aal_og *p;
	u8 *cell;

	switch (*st) {
	case 0:
		if (!u->sync12)
			break;
		u->sync12 = false;
		u->c2blk = u->ogcurmsg;
		u->sync23 = true;
		*st = 1;
		break;
	case 1:
		if (u->hi)
			*st = 5;
		break;
	case 2:
		u->c2blk = u->og[u->c2blk].next;
		u->sync23 = true;
		*st = 1;
		break;
	case 5:
		p = &u->og[u->c2blk];
		cell = u->og_cell + (size_t)u->c2blk * PW_BMX_CELL;
		put_unaligned_be16(u->h, cell);
		p->vpi = u->h >> u->cfg.shift;
		p->ready = 0;
		*st = 2;
		if (u->c2blk != u->oglb)
			break;
		u->ogmsgnum++;
		u->stats.msgs_out++;
		u->dev.wlcked = false;
		*st = 0;
		if (u->ops->ready)
			u->ops->ready(u->ctx, u, u->txm[p->msg].id);
		break;
	default:
		break;
	}
}

static void ctl3(struct pw_aal *u)
{
	u8 *st = &u->st[3];

	switch (*st) {
	case 0:
		u->vp7d = false;
		*st = u->sync73 && u->sync23 ? 3 : u->sync73 ? 1 : u->sync23 ? 2 : 0;
		break;
	case 1:
		u->vp7 = pw_aal_route(u, true);
		u->vp7d = true;
		u->sync73 = false;
		*st = 0;
		break;
	case 2:
		u->vp4 = pw_aal_route(u, false);
		u->vp4i = true;
		u->sync23 = false;
		*st = 0;
		break;
	default:
		*st = 1;
		break;
	}
}

static void ctl4(struct pw_aal *u)
{
	if (u->st[4]) {
		u->hd = false;
		u->st[4] = 0;
	} else if (u->vp4i) {
		u->vp4i = false;
		u->h = u->vp4 << u->cfg.shift;
		u->hd = true;
		u->st[4] = 1;
	}
}

/* ---- controller 5: transmission ---- */

/* next byte of @cell; the CRC runs four bytes ahead */
static bool send_byte(struct pw_aal *u, u8 *cell)
{
	u32 n = u->idx;

	if (!n)
		u->ogcrc = 0;
	if (n + 4 >= PW_CELL_TYPE && n + 4 < PW_CELL_CRC)
		u->ogcrc = pw_cell_crc_byte(u->ogcrc, cell[n + 4]);
	if (n == PW_CELL_CRC - 2)
		cell[PW_CELL_CRC] = u->ogcrc >> 8;
	if (n == PW_CELL_CRC - 1)
		cell[PW_CELL_CRC + 1] = u->ogcrc;
	u->buf = cell[n];
	u->bufi = true;
	if (++u->idx < PW_BMX_CELL)
		return false;
	u->idx = 0;
	return true;
}

static bool suspended(struct pw_aal *u)
{
	if (!u->ogsuspend)
		return false;
	u->bufi = false;
	u->idx = 0;
	u->stats.refused_out++;
	if (u->ops->refused)
		u->ops->refused(u->ctx, u, false);
	return true;
}

/**
 * pw_aal_og_cell() - a send block as a cell
 * @u: unit
 * @b: block
 * @c: result
 */
void pw_aal_og_cell(const struct pw_aal *u, u16 b, struct pw_aal_cell *c)
{
	const struct pw_aal_og *p = &u->og[b];

	c->id = u->txm[p->msg].id;
	c->sqn = p->sqn;
	c->src = u->cfg.port;
	c->dst = p->dst;
	c->type = PW_CELL_T_DATA;
	c->flag = p->flag;
}

static void note_out(struct pw_aal *u)
{
	struct pw_aal_cell c;

	if (!u->ops->cell_out || u->idx)
		return;
	if (u->st[5] == 2) {
		u->ops->cell_out(u->ctx, u, &u->ackcell, false);
		return;
	}
	pw_aal_og_cell(u, u->cursnd, &c);
	u->ops->cell_out(u->ctx, u, &c, u->og[u->cursnd].sent);
}

static u8 choose(const struct pw_aal *u)
{
	const struct pw_aal_og *b = &u->og[u->cursnd];
	u8 on = u->cursnd == u->oglb ? 9 : 10;

	if (!u->ogmsgnum)
		return 0;
	if (b->tofr)
		return 16;
	if (b->ready < 0)
		return u->dev.nomem ? on : 0;
	return pw_aal_sendable(u, b) ? 4 : on;
}

static void ctl5(struct pw_aal *u)
{
	u8 *st = &u->st[5];

	switch (*st) {
	case 0:
		if (u->sync75) {
			u->sync75 = false;
			*st = 1;
		} else {
			*st = choose(u);
		}
		break;
	case 1:
	case 4:
		u->idx = 0;
		++*st;
		break;
	case 2:
		if (suspended(u))
			break;
		note_out(u);
		if (send_byte(u, u->ackbuf))
			*st = 3;
		break;
	case 5:
		if (suspended(u))
			break;
		note_out(u);
		if (send_byte(u, u->og_cell + (size_t)u->cursnd * PW_BMX_CELL))
			*st = u->cursnd == u->oglb ? 6 : 8;
		break;
	case 3:
		u->bufi = false;
		u->stats.acks_out++;
		*st = 0;
		break;
	case 6:
	case 8:
		u->bufi = false;
		pw_aal_sent(u, u->cursnd);
		u->cursnd = pw_aal_og_next(u, u->cursnd);
		*st = 0;
		break;
	case 9:
	case 10:
		u->cursnd = pw_aal_og_next(u, u->cursnd);
		*st = 0;
		break;
	default:
		pw_aal_og_release(u, u->cursnd);
		*st = 0;
		break;
	}
}

/* ---- controller 6: reception ---- */

static void take_cell(struct pw_aal *u, const u8 *cell)
{
	struct pw_aal_ic *p = &u->ic[u->icfi];
	struct pw_cell_hdr h;
	struct pw_aal_cell c;

	pw_cell_parse(cell, u->cfg.shift, &h);
	if (get_unaligned_be16(cell + PW_CELL_CRC) != u->iccrc) {
		u->stats.bad_crc++;
		if (u->ops->bad_cell)
			u->ops->bad_cell(u->ctx, u);
		return;
	}
	if ((h.dst != u->cfg.port && h.dst != PW_CELL_DST_ALL) || h.src >= u->cfg.ports ||
	    h.type > PW_CELL_T_ACK || (h.type == PW_CELL_T_ACK && h.dst == PW_CELL_DST_ALL)) {
		u->stats.bad_dst++;
		if (u->ops->bad_cell)
			u->ops->bad_cell(u->ctx, u);
		return;
	}
	p->type = h.type;
	p->flag = h.flag;
	p->sqn = h.sqn;
	p->src = h.src;
	p->dst = h.dst;
	p->id = 0;
	pw_aal_ic_append(u, u->icfi);
	if (u->ops->cell_in) {
		c.id = 0;
		c.sqn = h.sqn;
		c.src = h.src;
		c.dst = h.dst;
		c.type = h.type;
		c.flag = h.flag;
		u->ops->cell_in(u->ctx, u, &c);
	}
}

static void ctl6(struct pw_aal *u)
{
	u8 *cell = u->ic_cell + (size_t)u->icfi * PW_BMX_CELL;
	u32 n = u->count;

	if (!u->icbytei) {
		u->icsuspend = false;
		return;
	}
	if (u->icsuspend) {
		u->icsuspend = false;
		u->count = 0;
		return;
	}
	if (!n)
		u->iccrc = 0;
	if (u->icfinum)
		cell[n] = u->icbyte;
	if (n >= PW_CELL_TYPE && n < PW_CELL_CRC)
		u->iccrc = pw_cell_crc_byte(u->iccrc, u->icbyte);
	if (n == 3)
		u->skip = !u->icfinum;
	if (n == 3 && u->skip && !(u->cfg.flags & PW_AAL_F_DISCARD)) {
		u->icsuspend = true;
		u->stats.refused_in++;
		if (u->ops->refused)
			u->ops->refused(u->ctx, u, true);
	} else if (n == 3) {
		u->stats.taken++;
	}
	u->count = n + 1;
	if (n == PW_BMX_CELL - 1) {
		u->count = 0;
		if (u->skip)
			u->stats.overrun++;
		else
			take_cell(u, cell);
	}
}

/* ---- controller 7: acknowledgments and reassembly ---- */

static void c7_idle(struct pw_aal *u)
{
	struct pw_aal_ic *p = &u->ic[u->iccurb];
	u16 next;

	if (u->icbblknum == u->icblkinmsgnum && !u->ictofrnum)
		return;
	if (p->tofr) {
		next = pw_aal_ic_next(u, u->iccurb);
		pw_aal_ic_release(u, u->iccurb);
		u->iccurb = next;
	} else {
		u->st[7] = p->inmsg ? 46 : 1;
	}
}

static u8 c7_order(struct pw_aal *u)
{
	int diff = pw_aal_order(u);

	return !diff ? 29 : diff > 0 ? 28 : 43;
}

static void c7_build(struct pw_aal *u)
{
	u8 *a = u->ackbld;

	pw_aal_build_ack(u);
	memset(a, 0, PW_BMX_CELL);
	put_unaligned_be16(u->ackbldcell.type, a + PW_CELL_TYPE);
	put_unaligned_be16(u->ackbldcell.flag, a + PW_CELL_FLAG);
	put_unaligned_be16(u->ackbldcell.sqn, a + PW_CELL_SQN);
	put_unaligned_be16(u->ackbldcell.src, a + PW_CELL_SRC);
	put_unaligned_be16(u->ackbldcell.dst, a + PW_CELL_DST);
}

static void ctl7(struct pw_aal *u)
{
	struct pw_aal_ic *p = &u->ic[u->iccurb];
	u8 *st = &u->st[7];

	switch (*st) {
	case 0:
		c7_idle(u);
		break;
	case 46:
		u->iccurb = pw_aal_ic_next(u, u->iccurb);
		*st = 0;
		break;
	case 1:
		u->type = p->type;
		u->flag = p->flag;
		*st = 2;
		break;
	case 2:
		u->sqn = p->sqn;
		u->srcpn = p->src;
		u->dstpn = p->dst;
		*st = u->type == PW_CELL_T_ACK ? 3 : p->acked ? 27 : 17;
		break;
	case 3:
		u->srch = u->ogbblknum ? u->ogfb : PW_AAL_NONE;
		*st = 4;
		break;
	case 4:
		u->c7cnt = 0;
		if (u->srch == PW_AAL_NONE)
			*st = 16;
		else if (pw_aal_match(u, u->srch))
			*st = 6;
		else
			*st = u->srch == u->oglb ? 16 : 5;
		if (*st == 16)
			u->stats.stray_ack++;
		break;
	case 5:
		u->srch = u->srch == u->oglb ? PW_AAL_NONE : u->og[u->srch].next;
		*st = 4;
		break;
	case 6:
		*st = pw_aal_ackdesc(u, u->srch, u->srcpn) ? 7 : 16;
		if (*st == 16)
			u->stats.stray_ack++;
		break;
	case 7:
		pw_aal_take_ack(u, u->srch);
		*st = 8;
		break;
	case 8:
		*st = u->og[u->srch].acknum ? 16 : 9;
		break;
	case 9:
		u->og[u->srch].tofr = true;
		*st = 16;
		break;
	case 16:
		if (++u->c7cnt < PW_AAL_ACK_CYCLES)
			break;
		u->c7cnt = 0;
		if (u->type == PW_CELL_T_ACK) {
			pw_aal_ic_release(u, u->iccurb);
			u->iccurb = u->icfb;
		}
		*st = 0;
		break;
	case 17:
		c7_build(u);
		*st = 18;
		break;
	case 18:
		*st = 19;
		break;
	case 19:
		u->sync73 = true;
		*st = 20;
		break;
	case 20:
		if (u->vp7i)
			*st = 23;
		break;
	case 23:
		u->ackbldvpi = u->vp7;
		pw_cell_set_vpi(u->ackbld, u->vp7, u->cfg.shift);
		*st = 24;
		break;
	case 24:
	case 25:
		++*st;
		break;
	case 26:
		if (u->sync75 || u->st[5] == 1 || u->st[5] == 2)
			break;
		memcpy(u->ackbuf, u->ackbld, PW_BMX_CELL);
		u->ackcell = u->ackbldcell;
		u->ackvpi = u->ackbldvpi;
		u->sync75 = true;
		p->acked = true;
		*st = 27;
		break;
	case 27:
		*st = c7_order(u);
		break;
	case 28:
		if (!p->kept)
			u->stats.ahead++;
		p->kept = true;
		u->iccurb = pw_aal_ic_next(u, u->iccurb);
		*st = 0;
		break;
	case 43:
		u->stats.duplicate++;
		pw_aal_ic_release(u, u->iccurb);
		u->iccurb = u->icfb;
		*st = 0;
		break;
	case 29:
		*st = u->dstpn == PW_CELL_DST_ALL ? 30 : 31;
		break;
	case 30:
		u->lastotasqnfrm[u->srcpn]++;
		*st = 32;
		break;
	case 31:
		u->lastotosqnfrm[u->srcpn]++;
		*st = 32;
		break;
	case 32:
		*st = u->flag & PW_CELL_F_FIRST ? 33 : 37;
		break;
	case 33:
	case 37:
		pw_aal_reassemble(u);
		++*st;
		break;
	case 34:
	case 35:
	case 38:
	case 39:
		++*st;
		break;
	case 36:
	case 40:
		*st = 41;
		break;
	case 41:
		*st = 42;
		break;
	case 42:
		pw_aal_commit(u);
		*st = 45;
		break;
	default:
		u->c7cnt = 0;
		if (u->flag & PW_CELL_F_LAST)
			u->iccurb = u->icfb;
		*st = u->flag & (PW_CELL_F_FIRST | PW_CELL_F_LAST) ? 0 : 16;
		break;
	}
}

/* ---- controller 8: message server ---- */

static bool served(const struct pw_aal_msg *p, u32 instance)
{
	u32 i;

	for (i = 0; i < p->nserved; i++)
		if (p->served[i] == instance)
			return true;
	return false;
}

static bool wanted(const struct pw_aal *u, const struct pw_aal_msg *p)
{
	return p->hdr[0] == u->want[0] && p->hdr[1] == u->want[1] && p->hdr[2] == u->want[2] &&
	       (p->hdr[3] == u->want[3] || p->hdr[3] == U32_MAX) && p->hdr[4] == u->want[4];
}

static void answer(struct pw_aal *u, bool read)
{
	u->dev.read = read;
	u->dev.readi = true;
	u->asking = false;
	u->st[8] = 0;
	if (u->ops->granted)
		u->ops->granted(u->ctx, u, read);
}

/**
 * pw_aal_ctl8() - one cycle of controller 8
 * @u: unit
 */
void pw_aal_ctl8(struct pw_aal *u)
{
	u8 *st = &u->st[8];
	struct pw_aal_msg *p;

	switch (*st) {
	case 1:
		u->c8src = 0;
		*st = 2;
		break;
	case 2:
		u->c8msg = PW_AAL_NONE;
		*st = 3;
		break;
	case 3:
		u->c8msg = pw_aal_complete_from(u, u->msg_head[u->c8src]);
		*st = u->c8msg == PW_AAL_NONE ? 13 : 4;
		break;
	case 4:
		*st = wanted(u, &u->msg[u->c8msg]) ? 5 : 12;
		break;
	case 5:
		*st = served(&u->msg[u->c8msg], u->want[3]) ? 12 : 6;
		break;
	case 6:
		p = &u->msg[u->c8msg];
		if (p->nserved < PW_AAL_SERVED)
			p->served[p->nserved++] = u->want[3];
		*st = 7;
		break;
	case 7:
		u->curmsg = u->c8msg;
		u->currcv = u->msg[u->c8msg].first;
		u->icoffset = PW_CELL_MSG_HDR;
		answer(u, true);
		break;
	case 12:
		u->c8msg = pw_aal_complete_from(u, u->msg[u->c8msg].next);
		*st = u->c8msg == PW_AAL_NONE ? 13 : 4;
		break;
	case 13:
		u->c8src++;
		*st = 14;
		break;
	case 14:
		*st = u->c8src == u->cfg.ports ? 15 : 2;
		break;
	case 15:
		answer(u, false);
		break;
	default:
		break;
	}
}

/* ---- controller 10: obsolete messages ---- */

/**
 * pw_aal_ctl10() - one cycle of controller 10
 * @u: unit
 */
void pw_aal_ctl10(struct pw_aal *u)
{
	u8 *st = &u->st[10];
	u16 next;

	switch (*st) {
	case 0:
		u->c10src = 0;
		*st = 1;
		break;
	case 1:
		*st = u->c10src == u->cfg.ports ? 0 : 2;
		break;
	case 2:
		u->c10left = u->msgnumfrm[u->c10src];
		u->c10msg = pw_aal_complete_from(u, u->msg_head[u->c10src]);
		*st = 3;
		break;
	case 3:
		if (!u->c10left || u->c10msg == PW_AAL_NONE)
			*st = 19;
		else
			*st = pw_aal_expired(u, u->c10msg) ? 4 : 18;
		break;
	case 4:
		next = pw_aal_complete_from(u, u->msg[u->c10msg].next);
		pw_aal_obsolete(u, u->c10msg);
		u->c10msg = next;
		u->c10left--;
		*st = 3;
		break;
	case 18:
		u->c10msg = pw_aal_complete_from(u, u->msg[u->c10msg].next);
		u->c10left--;
		*st = 3;
		break;
	default:
		u->c10src++;
		*st = 1;
		break;
	}
}

/**
 * pw_aal_step() - one cycle
 * @u: unit; the owner has set icbyte, icbytei and ogsuspend and takes ogbyte,
 *	ogbytei and icsuspend afterwards
 *
 * Controller 9, the timers, has no code of its own: a timer is kept as the
 * cycle in which it reaches 0.
 */
void pw_aal_step(struct pw_aal *u)
{
	u->now++;
	u->ogbyte = u->buf;
	u->ogbytei = u->bufi;
	ctl5(u);
	u->hi = u->hd;
	ctl4(u);
	u->vp7i = u->vp7d;
	ctl3(u);
	ctl2(u);
	ctl1(u);
	pw_aal_ctl10(u);
	pw_aal_ctl8(u);
	ctl7(u);
	ctl6(u);
	ctl0(u);
}
