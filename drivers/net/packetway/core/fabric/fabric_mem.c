// SPDX-License-Identifier: GPL-2.0
/*
 * Whole BMX fabric: memory of sparse buffers. A buffer grows by replacing its memory with a
 * larger piece; pieces are given by the owner and taken back at the end.
 */
#include "fabric_priv.h"

/* blocks of the smallest pieces, which take 8 KiB at most; each piece has twice as many */
#define OG_FIRST	64
#define IC_FIRST	96

static_assert(PW_AAL_SPARE < IC_FIRST);
/* a port takes in at most one cell per step; low() is called when PW_AAL_SPARE are left */
static_assert(PW_FABRIC_STEPS + 1 < PW_AAL_SPARE);

/* ask for memory for @blocks send (@og) or receive blocks of @port, or the next size of a piece */
static void ask(struct pw_fabric *f, u32 port, bool og, u32 blocks)
{
	u32 n = og ? OG_FIRST : IC_FIRST;

	while (n < blocks)
		n *= 2;
	f->lack_og = og;
	f->lack_port = port;
	f->lack_blocks = min(n, og ? f->p.og_blocks : f->p.ic_blocks);
}

/* bytes that @port lacks for @need send blocks */
static size_t lacks_og(struct pw_fabric *f, u32 port, u32 need)
{
	const struct pw_aal *u = f->port[port].u;

	need = min(need, f->p.og_blocks);
	if (likely(need <= u->og_cap))
		return 0;
	ask(f, port, true, need);
	return pw_aal_og_bytes(u, f->lack_blocks);
}

/* bytes that @port lacks for @need receive blocks */
static size_t lacks_ic(struct pw_fabric *f, u32 port, u32 need)
{
	const struct pw_aal *u = f->port[port].u;

	need = min(need, f->p.ic_blocks);
	if (likely(need <= u->ic_cap))
		return 0;
	ask(f, port, false, need);
	return pw_aal_ic_bytes(u, f->lack_blocks);
}

/*
 * Blocks that a buffer needs for a message of @n, @want being those of the messages that are
 * in the fabric. admit() lets in messages of at most credit blocks together, or a single one.
 * A message that is sent @later may meet more messages than there are now.
 */
static u32 needs(const struct pw_fabric *f, u32 want, u32 n, bool later)
{
	u32 most = max(f->p.credit, n);

	return later ? most : min(want + n, most);
}

/* the same at a port that takes in cells, with room for repeated ones */
static size_t lacks_in(struct pw_fabric *f, const struct fmsg *m, u32 port, bool later)
{
	const struct fport *p = &f->port[port];
	u32 want = p->u->ic_cap - (p->u->ic_cap ? PW_AAL_SPARE : 0) - p->ic_left;
	u32 n = pw_fabric_demand(f, m, port);

	return lacks_ic(f, port, needs(f, want, n, later) + PW_AAL_SPARE);
}

/**
 * pw_fabric_message_lacks() - memory that sparse buffers lack for a message
 * @f: fabric
 * @m: message, planned
 *
 * Return: as pw_fabric_lacks().
 */
size_t pw_fabric_message_lacks(struct pw_fabric *f, const struct fmsg *m)
{
	const struct fport *p = &f->port[m->src];
	bool later = !pw_fabric_has_place(f, p);
	size_t bytes;
	u32 i;

	bytes = lacks_og(f, m->src, needs(f, p->u->og_cap - p->og_left, m->cells, later));
	if (!bytes)
		bytes = lacks_in(f, m, m->src, later);
	if (pw_fabric_to_one(m))
		return bytes ? bytes : lacks_in(f, m, m->dst, later);
	for (i = 0; i < f->ports && !bytes; i++)
		if (pw_fabric_goes_to(f, m, i))
			bytes = lacks_in(f, m, i, later);
	return bytes;
}

/**
 * pw_fabric_lacks() - memory that sparse buffers lack for a message
 * @f: fabric
 * @src: sending port
 * @dst: destination, as for pw_fabric_send()
 * @len: data bytes
 *
 * pw_fabric_send() refuses the message with -ENOMEM as long as something lacks. To be called
 * before a message is held back without pw_fabric_send() because others of its port wait for
 * ops->room(); when it is sent, the buffers still have what it needs.
 *
 * Return: bytes of a piece for pw_fabric_give(), after which the next one may be lacking; 0
 * if nothing is, or if the fabric can never carry the message.
 */
size_t pw_fabric_lacks(struct pw_fabric *f, u16 src, u16 dst, u32 len)
{
	if (!f->sparse || pw_fabric_plan(f, &f->plan, src, dst, PW_FABRIC_AUTO, len))
		return 0;
	return pw_fabric_message_lacks(f, &f->plan);
}

/**
 * pw_fabric_low() - memory that sparse receive buffers lack because of repeated cells
 * @f: fabric
 *
 * Return: as pw_fabric_lacks().
 */
size_t pw_fabric_low(struct pw_fabric *f)
{
	const struct pw_aal *u;
	u32 w, port;

	if (likely(!f->lows))
		return 0;
	for (w = 0; w < MAP_WORDS; w++) {
		while (f->low[w]) {
			port = 32 * w + fls(f->low[w] & -f->low[w]) - 1;
			u = f->port[port].u;
			if (u->icfinum < u->ic_low)
				return lacks_ic(f, port, u->ic_cap + 1);
			map_clear(f->low, port);
		}
	}
	f->lows = false;
	return 0;
}

/**
 * pw_fabric_ask() - the piece that was asked for last will be given
 * @f: fabric, not inside of pw_fabric_run(), and not run until pw_fabric_give()
 *
 * For an owner that has a lock: this and pw_fabric_give() need it. What takes long is done by
 * pw_fabric_fill() in between, without the lock; numbers of the fabric may be read meanwhile.
 */
void pw_fabric_ask(struct pw_fabric *f)
{
	/* the fast engine's network catches up when its queues are read: now, and not later */
	f->engine->qsize(f, 0, 0);
	*f->grown = *f->port[f->lack_port].u;
	f->filled = NULL;
}

/**
 * pw_fabric_fill() - fill the piece that pw_fabric_ask() has announced
 * @f: fabric
 * @mem: the piece, aligned to 8
 */
void pw_fabric_fill(struct pw_fabric *f, void *mem)
{
	if (f->lack_og)
		pw_aal_fill_og(f->grown, mem, f->lack_blocks);
	else
		pw_aal_fill_ic(f->grown, mem, f->lack_blocks);
	f->filled = mem;
}

/**
 * pw_fabric_give() - give the piece that was asked for last
 * @f: fabric, not inside of pw_fabric_run()
 * @mem: the piece, aligned to 8; NULL: it is refused. If pw_fabric_fill() has not filled it,
 *	that is done here
 *
 * After a refusal the message must not be sent; pw_fabric_low() asks again when the next cell
 * arrives at that port.
 *
 * Return: a piece that is no longer used, or NULL.
 */
void *pw_fabric_give(struct pw_fabric *f, void *mem)
{
	struct fport *p = &f->port[f->lack_port];

	if (!f->lack_og)
		map_clear(f->low, f->lack_port);
	if (!mem)
		return NULL;
	if (f->filled != mem) {
		*f->grown = *p->u;
		pw_fabric_fill(f, mem);
	}
	f->filled = NULL;
	if (f->lack_og) {
		p->og_left += f->lack_blocks - p->u->og_cap;
		return pw_aal_use_og(p->u, f->grown);
	}
	p->ic_left += f->lack_blocks - (p->u->ic_cap ? p->u->ic_cap : PW_AAL_SPARE);
	return pw_aal_use_ic(p->u, f->grown);
}

/**
 * pw_fabric_take() - take back a piece of a fabric that is no longer used
 * @f: fabric; only pw_fabric_take() may be called from now on
 *
 * Return: a piece, NULL if there is none left.
 */
void *pw_fabric_take(struct pw_fabric *f)
{
	struct pw_aal *u;
	void *mem;

	for (; f->taken < f->ports; f->taken++) {
		u = f->port[f->taken].u;
		mem = u->og_mem ? u->og_mem : u->ic_mem;
		if (mem == u->og_mem)
			u->og_mem = NULL;
		else
			u->ic_mem = NULL;
		if (mem)
			return mem;
	}
	return NULL;
}
