// SPDX-License-Identifier: GPL-2.0
/*
 * AAL unit, register engine: one function per controller and cycle. The states are in
 * aal_ctl.h.
 */
#include "aal.h"
#include "aal_ctl.h"
#include "arena.h"

/* the CRC of an outgoing cell is computed this many bytes ahead */
#define CRC_AHEAD	4

/* ---- memory ---- */

static void rtl_layout_og(struct pw_arena *a, struct pw_aal *u, u32 blocks)
{
	u->og_cell = pw_arena_take(a, (size_t)PW_BMX_CELL * blocks);
}

static void rtl_layout_ic(struct pw_arena *a, struct pw_aal *u, u32 blocks)
{
	u->ic_cell = pw_arena_take(a, (size_t)PW_BMX_CELL * blocks);
}

static void rtl_grown_og(struct pw_aal *u, const struct pw_aal *old)
{
	if (old->og_cap)
		memcpy(u->og_cell, old->og_cell, (size_t)PW_BMX_CELL * old->og_cap);
}

static void rtl_grown_ic(struct pw_aal *u, const struct pw_aal *old)
{
	if (old->ic_cap)
		memcpy(u->ic_cell, old->ic_cell, (size_t)PW_BMX_CELL * old->ic_cap);
}

static void rtl_read_header(const struct pw_aal *u, u16 b, u32 *hdr)
{
	const u8 *p = u->ic_cell + (size_t)b * PW_BMX_CELL + PW_CELL_DATA;
	u32 i;

	for (i = 0; i < PW_AAL_HDR_WORDS; i++)
		hdr[i] = get_unaligned_be32(p + 4 * i);
}

const struct pw_aal_engine pw_aal_rtl = {
	.layout_og = rtl_layout_og,
	.layout_ic = rtl_layout_ic,
	.grown_og = rtl_grown_og,
	.grown_ic = rtl_grown_ic,
	.read_header = rtl_read_header,
};

/* ---- controller 0: host commands ---- */

/* a header word of snd or rcv; the fifth in a row starts controller 1 or 8 */
static void c0_word(struct pw_aal *u)
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
		u->st[1] = C1_NAME0;
		return;
	}
	u->want[0] = u->j;
	u->want[1] = u->g;
	u->want[2] = u->f;
	u->want[3] = u->e;
	u->want[4] = u->d;
	u->st[8] = C8_START;
}

static u8 c0_decode(u8 cmd)
{
	switch (cmd) {
	case PW_AAL_INITSEND:
		return C0_INIT;
	case PW_AAL_PUTINT ... PW_AAL_PUTSTRING:
		return C0_PUT;
	case PW_AAL_GETINT ... PW_AAL_GETSTRING:
		return C0_GET;
	case PW_AAL_SND:
	case PW_AAL_RCV:
		return C0_WORD;
	default:
		return C0_DEST;
	}
}

/* bits of the bus below byte t; the first byte is the most significant one */
static u32 bus_shift(const struct pw_aal *u)
{
	return 24 - 8 * (u->t & 3);
}

/* put states of controller 0; returns the next state, C0_IDLE at the end of the command */
static u8 c0_put(struct pw_aal *u, u8 st)
{
	switch (st) {
	case C0_PUT:
		return u->t == u->dev.nbytes ? C0_IDLE : C0_PUT_BLOCK;
	case C0_PUT_BLOCK:
		if (u->ogoffset == PW_CELL_DATA_LEN && !pw_aal_put_block(u, false))
			return C0_PUT_BLOCK;
		return C0_PUT_BYTE;
	case C0_PUT_BYTE:
		u->og_cell[(size_t)u->oglb * PW_BMX_CELL + PW_CELL_DATA + u->ogoffset] =
			u->dev.bus >> bus_shift(u);
		return C0_PUT_STEP;
	default:
		u->ogoffset++;
		u->t++;
		return C0_PUT;
	}
}

/* block to bus; past the end of the message the host reads 0 */
static void get_byte(struct pw_aal *u)
{
	u32 shift = bus_shift(u);
	u8 v = 0;

	if (u->icoffset < PW_CELL_DATA_LEN)
		v = u->ic_cell[(size_t)u->currcv * PW_BMX_CELL + PW_CELL_DATA + u->icoffset];
	u->dev.bus = (u->dev.bus & ~(0xffU << shift)) | (u32)v << shift;
}

/* get states of controller 0; returns the next state, C0_IDLE at the end of the command */
static u8 c0_get(struct pw_aal *u, u8 st)
{
	u16 b;

	switch (st) {
	case C0_GET:
		return u->t == u->dev.nbytes ? C0_IDLE : C0_GET_BLOCK;
	case C0_GET_BLOCK:
		b = u->ic[u->currcv].chain;
		if (u->icoffset == PW_CELL_DATA_LEN && b != PW_AAL_NONE) {
			u->currcv = b;
			u->icoffset = 0;
		}
		return C0_GET_BYTE;
	case C0_GET_BYTE:
		get_byte(u);
		return C0_GET_STEP;
	default:
		if (u->icoffset < PW_CELL_DATA_LEN)
			u->icoffset++;
		u->t++;
		return C0_GET;
	}
}

/* destination in the upper half of the bus, communication type in the lower half */
static void c0_dest(struct pw_aal *u)
{
	u->dstreg = u->dev.bus >> 16;
	u->comtype = u->dev.bus & 0xffff ? PW_CELL_COM_ONE : PW_CELL_COM_ALL;
	if ((u->dev.bus & 0xffff) == PW_CELL_COM_MC && u->dstreg < u->cfg.conns)
		u->comtype = PW_CELL_COM_MC;
	else if (u->dstreg >= u->cfg.ports)
		u->dstreg = 0;
	u->path = u->dev.path;
}

static void ctl0(struct pw_aal *u)
{
	u8 *st = &u->st[0];

	switch (*st) {
	case C0_IDLE:
		if (u->dev.busi) {
			u->dev.busy = true;
			u->dev.busi = false;
			*st = C0_DECODE;
		}
		return;
	case C0_DECODE:
		*st = c0_decode(u->dev.cmd);
		if (*st != C0_WORD)
			u->run24 = 0;
		u->t = 0;
		return;
	case C0_INIT:
		if (!pw_aal_put_block(u, true))
			return;
		*st = C0_IDLE;
		break;
	case C0_PUT ... C0_PUT_STEP:
		*st = c0_put(u, *st);
		break;
	case C0_GET ... C0_GET_STEP:
		*st = c0_get(u, *st);
		break;
	case C0_WORD:
		c0_word(u);
		*st = C0_IDLE;
		break;
	default:
		c0_dest(u);
		*st = C0_IDLE;
		break;
	}
	if (*st == C0_IDLE)
		u->dev.busy = false;
}

/* ---- controllers 1 to 4: headers ---- */

/* one word of the message header, in the order of the states C1_NAME0 ... C1_ID */
static void c1_word(struct pw_aal *u, u8 st)
{
	const u32 word[PW_AAL_HDR_WORDS] = { u->j, u->g, u->f, u->e, u->d };
	u8 *data = u->og_cell + (size_t)u->ogcurmsg * PW_BMX_CELL + PW_CELL_DATA;
	u32 i = st - C1_NAME0;

	put_unaligned_be32(word[i], data + 4 * i);
	u->c1blk = u->ogcurmsg;
	if (st == C1_ID)
		u->txm[u->txm_cur].id = u->dev.id;
}

static void ctl1(struct pw_aal *u)
{
	u8 *cell = u->og_cell + (size_t)u->c1blk * PW_BMX_CELL, *st = &u->st[1];

	switch (*st) {
	case C1_NAME0 ... C1_ID:
		c1_word(u, *st);
		++*st;
		break;
	case C1_TYPE:
		pw_aal_header(u, u->c1blk);
		put_unaligned_be16(PW_CELL_T_DATA, cell + PW_CELL_TYPE);
		put_unaligned_be16(u->og[u->c1blk].flag, cell + PW_CELL_FLAG);
		*st = C1_SQN;
		break;
	case C1_SQN:
		put_unaligned_be16(u->og[u->c1blk].sqn, cell + PW_CELL_SQN);
		*st = C1_PORTS;
		break;
	case C1_PORTS:
		put_unaligned_be16(u->cfg.port, cell + PW_CELL_SRC);
		put_unaligned_be16(u->og[u->c1blk].dst, cell + PW_CELL_DST);
		*st = C1_NEXT;
		break;
	case C1_NEXT:
		if (u->c1blk == u->oglb) {
			u->sync12 = true;
			*st = C1_IDLE;
		} else {
			u->c1blk = u->og[u->c1blk].next;
			*st = C1_TYPE;
		}
		break;
	default:
		break;
	}
}

/* the header word of a block is there; after the last block the message is ready */
static u8 c2_write(struct pw_aal *u)
{
	struct pw_aal_og *p = &u->og[u->c2blk];

	put_unaligned_be16(u->h, u->og_cell + (size_t)u->c2blk * PW_BMX_CELL + PW_CELL_VPI);
	p->vpi = u->h >> u->cfg.shift;
	p->ready = 0;
	if (u->c2blk != u->oglb)
		return C2_NEXT;
	u->ogmsgnum++;
	u->stats.msgs_out++;
	u->dev.wlcked = false;
	if (u->ops->ready)
		u->ops->ready(u->ctx, u, u->txm[p->msg].id);
	return C2_IDLE;
}

static void ctl2(struct pw_aal *u)
{
	u8 *st = &u->st[2];

	switch (*st) {
	case C2_IDLE:
		if (!u->sync12)
			break;
		u->sync12 = false;
		u->c2blk = u->ogcurmsg;
		u->sync23 = true;
		*st = C2_WAIT;
		break;
	case C2_WAIT:
		if (u->hi)
			*st = C2_WRITE;
		break;
	case C2_NEXT:
		u->c2blk = u->og[u->c2blk].next;
		u->sync23 = true;
		*st = C2_WAIT;
		break;
	default:
		*st = c2_write(u);
		break;
	}
}

static u8 c3_look(const struct pw_aal *u)
{
	if (u->sync73)
		return u->sync23 ? C3_BOTH : C3_ACK;
	return u->sync23 ? C3_DATA : C3_LOOK;
}

static void ctl3(struct pw_aal *u)
{
	u8 *st = &u->st[3];

	switch (*st) {
	case C3_LOOK:
		u->vp7d = false;
		*st = c3_look(u);
		break;
	case C3_ACK:
		u->vp7 = pw_aal_path(u, true);
		u->vp7d = true;
		u->sync73 = false;
		*st = C3_LOOK;
		break;
	case C3_DATA:
		u->vp4 = pw_aal_path(u, false);
		u->vp4i = true;
		u->sync23 = false;
		*st = C3_LOOK;
		break;
	default:
		*st = C3_ACK;
		break;
	}
}

static void ctl4(struct pw_aal *u)
{
	if (u->st[4] == C4_DONE) {
		u->hd = false;
		u->st[4] = C4_MAKE;
	} else if (u->vp4i) {
		u->vp4i = false;
		u->h = u->vp4 << u->cfg.shift;
		u->hd = true;
		u->st[4] = C4_DONE;
	}
}

/* ---- controller 5: transmission ---- */

/*
 * Next byte of @cell to buf. The CRC runs CRC_AHEAD bytes ahead of it, so that the check
 * bytes are there when their turn comes. Returns true after the last byte.
 */
static bool send_byte(struct pw_aal *u, u8 *cell)
{
	u32 n = u->idx;

	if (!n)
		u->ogcrc = 0;
	if (n + CRC_AHEAD >= PW_CELL_TYPE && n + CRC_AHEAD < PW_CELL_CRC)
		u->ogcrc = pw_cell_crc_byte(u->ogcrc, cell[n + CRC_AHEAD]);
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

/* the input unit refused the cell: start again with byte 0 in the next cycle */
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
 * pw_aal_og_cell() - describe a send block as a cell
 * @u: AAL unit
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

/* report the cell whose byte 0 is fetched now */
static void note_out(struct pw_aal *u)
{
	struct pw_aal_cell c;

	if (!u->ops->cell_out || u->idx)
		return;
	if (u->st[5] == C5_ACK_SEND) {
		u->ops->cell_out(u->ctx, u, &u->ackcell, false);
		return;
	}
	pw_aal_og_cell(u, u->cursnd, &c);
	u->ops->cell_out(u->ctx, u, &c, u->og[u->cursnd].sent);
}

/* what block cursnd needs */
static u8 c5_choose(const struct pw_aal *u)
{
	u8 pass = u->cursnd == u->oglb ? C5_PASS_TAIL : C5_PASS;
	const struct pw_aal_og *b = &u->og[u->cursnd];

	if (!u->ogmsgnum)
		return C5_LOOK;
	if (b->tofr)
		return C5_RELEASE;
	if (b->ready < 0)
		return u->dev.nomem ? pass : C5_LOOK;
	return pw_aal_sendable(u, b) ? C5_CELL_BEGIN : pass;
}

static void ctl5(struct pw_aal *u)
{
	u8 *st = &u->st[5];

	switch (*st) {
	case C5_LOOK:
		*st = u->sync75 ? C5_ACK_BEGIN : c5_choose(u);
		u->sync75 = false;
		break;
	case C5_ACK_BEGIN:
	case C5_CELL_BEGIN:
		u->idx = 0;
		++*st;
		break;
	case C5_ACK_SEND:
		if (suspended(u))
			break;
		note_out(u);
		if (send_byte(u, u->ackbuf))
			*st = C5_ACK_END;
		break;
	case C5_CELL_SEND:
		if (suspended(u))
			break;
		note_out(u);
		if (send_byte(u, u->og_cell + (size_t)u->cursnd * PW_BMX_CELL))
			*st = u->cursnd == u->oglb ? C5_CELL_END_TAIL : C5_CELL_END;
		break;
	case C5_ACK_END:
		u->bufi = false;
		u->stats.acks_out++;
		*st = C5_LOOK;
		break;
	case C5_CELL_END_TAIL:
	case C5_CELL_END:
		u->bufi = false;
		pw_aal_sent(u, u->cursnd);
		fallthrough;
	case C5_PASS_TAIL:
	case C5_PASS:
		u->cursnd = pw_aal_og_next(u, u->cursnd);
		*st = C5_LOOK;
		break;
	default:
		pw_aal_og_release(u, u->cursnd);
		*st = C5_LOOK;
		break;
	}
}

/* ---- controller 6: reception ---- */

static void bad_cell(struct pw_aal *u, u64 *counter)
{
	++*counter;
	if (u->ops->bad_cell)
		u->ops->bad_cell(u->ctx, u);
}

/* the last byte of a cell is in: keep a good cell, leave the block free otherwise */
static void take_cell(struct pw_aal *u, const u8 *cell)
{
	struct pw_aal_ic *p = &u->ic[u->icfi];
	struct pw_cell_hdr h;
	struct pw_aal_cell c;

	pw_cell_parse(cell, u->cfg.shift, &h);
	if (get_unaligned_be16(cell + PW_CELL_CRC) != u->iccrc) {
		bad_cell(u, &u->stats.bad_crc);
		return;
	}
	if (!pw_aal_takes(u, h.dst) || h.src >= u->cfg.ports || h.type > PW_CELL_T_ACK ||
	    (h.type == PW_CELL_T_ACK && h.dst & PW_CELL_DST_MC)) {
		bad_cell(u, &u->stats.bad_dst);
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

/* byte PW_BMX_DECIDE of a cell is in: refuse the cell if there is no block for it */
static void admit_cell(struct pw_aal *u)
{
	u->skip = !u->icfinum;
	if (!u->skip || u->cfg.flags & PW_AAL_F_DISCARD) {
		u->stats.taken++;
		return;
	}
	u->icsuspend = true;
	u->stats.refused_in++;
	if (u->ops->refused)
		u->ops->refused(u->ctx, u, true);
}

static void ctl6(struct pw_aal *u)
{
	u8 *cell = u->ic_cell + (size_t)u->icfi * PW_BMX_CELL;
	u32 n = u->count;

	if (!u->icbytei) {
		u->icsuspend = false;
		return;
	}
	/* the byte after a refusal belongs to the refused cell */
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
	if (n == PW_BMX_DECIDE)
		admit_cell(u);
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

/* release block iccurb and start over at the first busy block */
static u8 c7_drop(struct pw_aal *u)
{
	pw_aal_ic_release(u, u->iccurb);
	u->iccurb = u->icfb;
	return C7_LOOK;
}

static u8 c7_next(struct pw_aal *u)
{
	u->iccurb = pw_aal_ic_next(u, u->iccurb);
	return C7_LOOK;
}

static u8 c7_look(struct pw_aal *u)
{
	struct pw_aal_ic *p = &u->ic[u->iccurb];
	u16 next;

	if (u->icbblknum == u->icblkinmsgnum && !u->ictofrnum)
		return C7_LOOK;
	if (!p->tofr)
		return p->inmsg ? C7_PASS : C7_TYPE;
	next = pw_aal_ic_next(u, u->iccurb);
	pw_aal_ic_release(u, u->iccurb);
	u->iccurb = next;
	return C7_LOOK;
}

static u8 c7_read(struct pw_aal *u, u8 st)
{
	const struct pw_aal_ic *p = &u->ic[u->iccurb];

	if (st == C7_TYPE) {
		u->type = p->type;
		u->flag = p->flag;
		return C7_PORTS;
	}
	u->sqn = p->sqn;
	u->srcpn = p->src;
	u->dstpn = p->dst;
	if (u->type == PW_CELL_T_ACK)
		return C7_SEARCH;
	return p->acked ? C7_ORDER : C7_ACK_TYPE;
}

static u8 c7_stray(struct pw_aal *u)
{
	u->stats.stray_ack++;
	return C7_HOLD;
}

/* an acknowledgment: find the send block and mark it when it was the last one missing */
static u8 c7_search(struct pw_aal *u, u8 st)
{
	switch (st) {
	case C7_SEARCH:
		u->srch = u->ogbblknum ? u->ogfb : PW_AAL_NONE;
		return C7_COMPARE;
	case C7_COMPARE:
		u->c7cnt = 0;
		if (u->srch == PW_AAL_NONE)
			return c7_stray(u);
		if (pw_aal_match(u, u->srch))
			return C7_MISSING;
		return u->srch == u->oglb ? c7_stray(u) : C7_SEARCH_NEXT;
	case C7_SEARCH_NEXT:
		u->srch = u->srch == u->oglb ? PW_AAL_NONE : u->og[u->srch].next;
		return C7_COMPARE;
	case C7_MISSING:
		return pw_aal_ackdesc(u, u->srch, u->srcpn) ? C7_TAKE : c7_stray(u);
	case C7_TAKE:
		pw_aal_take_ack(u, u->srch);
		return C7_COUNT;
	case C7_COUNT:
		return u->og[u->srch].acknum ? C7_HOLD : C7_ACKED;
	default:
		u->og[u->srch].tofr = true;
		return C7_HOLD;
	}
}

static u8 c7_hold(struct pw_aal *u)
{
	if (++u->c7cnt < PW_AAL_ACK_CYCLES)
		return C7_HOLD;
	u->c7cnt = 0;
	return u->type == PW_CELL_T_ACK ? c7_drop(u) : C7_LOOK;
}

/* all fields of the acknowledgment at once; the states after ACK_TYPE only take time */
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

/* a data cell: build its acknowledgment and hand it to controller 5 */
static u8 c7_ack(struct pw_aal *u, u8 st)
{
	switch (st) {
	case C7_ACK_TYPE:
		c7_build(u);
		break;
	case C7_ACK_PORTS:
		u->sync73 = true;
		break;
	case C7_VPI_WAIT:
		return u->vp7i ? C7_VPI : C7_VPI_WAIT;
	case C7_VPI:
		u->ackbldvpi = u->vp7;
		pw_cell_set_vpi(u->ackbld, u->vp7, u->cfg.shift);
		break;
	case C7_ACK_HAND:
		if (u->sync75 || u->st[5] == C5_ACK_BEGIN || u->st[5] == C5_ACK_SEND)
			return C7_ACK_HAND;
		memcpy(u->ackbuf, u->ackbld, PW_BMX_CELL);
		u->ackcell = u->ackbldcell;
		u->ackvpi = u->ackbldvpi;
		u->sync75 = true;
		u->ic[u->iccurb].acked = true;
		return C7_ORDER;
	default:
		break;
	}
	return st + 1;
}

/* a data cell that is acknowledged: is it the expected one of its source? */
static u8 c7_order(struct pw_aal *u, u8 st)
{
	struct pw_aal_ic *p = &u->ic[u->iccurb];
	int diff;

	switch (st) {
	case C7_ORDER:
		diff = pw_aal_order(u);
		if (!diff)
			return C7_EXPECTED;
		return diff > 0 ? C7_KEEP : C7_DUPLICATE;
	case C7_KEEP:
		if (!p->kept)
			u->stats.ahead++;
		p->kept = true;
		return c7_next(u);
	case C7_DUPLICATE:
		u->stats.duplicate++;
		return c7_drop(u);
	case C7_EXPECTED:
		return u->dstpn & PW_CELL_DST_MC ? C7_STEP_ALL : C7_STEP_ONE;
	default:
		++*pw_aal_expected(u);
		return C7_FIRST;
	}
}

/* the expected data cell: to a new message or to the one that it continues */
static u8 c7_join(struct pw_aal *u, u8 st)
{
	switch (st) {
	case C7_FIRST:
		return u->flag & PW_CELL_F_FIRST ? C7_NEW : C7_APPEND;
	case C7_NEW:
	case C7_APPEND:
		pw_aal_reassemble(u);
		return st + 1;
	case C7_NEW4:
	case C7_APPEND4:
		return C7_LINKED;
	case C7_COMMIT:
		pw_aal_commit(u);
		return C7_END;
	case C7_END:
		u->c7cnt = 0;
		if (u->flag & PW_CELL_F_LAST)
			u->iccurb = u->icfb;
		return u->flag & (PW_CELL_F_FIRST | PW_CELL_F_LAST) ? C7_LOOK : C7_HOLD;
	default:
		return st + 1;
	}
}

static void ctl7(struct pw_aal *u)
{
	u8 st = u->st[7];

	switch (st) {
	case C7_LOOK:
		st = c7_look(u);
		break;
	case C7_TYPE ... C7_PORTS:
		st = c7_read(u, st);
		break;
	case C7_SEARCH ... C7_ACKED:
		st = c7_search(u, st);
		break;
	case C7_HOLD:
		st = c7_hold(u);
		break;
	case C7_ACK_TYPE ... C7_ACK_HAND:
		st = c7_ack(u, st);
		break;
	case C7_ORDER ... C7_STEP_ONE:
	case C7_DUPLICATE:
		st = c7_order(u, st);
		break;
	case C7_PASS:
		st = c7_next(u);
		break;
	default:
		st = c7_join(u, st);
		break;
	}
	u->st[7] = st;
}

/**
 * pw_aal_step() - one cycle of all controllers
 * @u: AAL unit; the owner has set icbyte, icbytei and ogsuspend and takes ogbyte,
 *	ogbytei and icsuspend afterwards
 *
 * Controller 9, the timers, has no code: a timer is the cycle in which it reaches 0.
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
	if (u->st[8] != C8_IDLE)
		pw_aal_ctl8(u);
	ctl7(u);
	ctl6(u);
	ctl0(u);
}

/**
 * pw_aal_idle() - is the AAL unit idle?
 * @u: AAL unit
 *
 * Return: true if nothing is stored, sent or taken in; only controller 10 moves.
 */
bool pw_aal_idle(const struct pw_aal *u)
{
	return !u->ogbblknum && !u->icbblknum && !u->dev.busy && !u->dev.busi &&
	       u->st[5] == C5_LOOK && u->st[7] == C7_LOOK && u->st[8] == C8_IDLE &&
	       !u->ogbytei && !u->bufi && !u->count && !u->sync75;
}
