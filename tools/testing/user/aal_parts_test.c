// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of an adaptation unit that both engines use, each against a model of its own
 * or the figures of the specification: a mistake in them would be the same in both
 * engines, and comparing the engines could not show it.
 */
#include <string.h>

#include "fabric/aal.h"
#include "fabric/aal_ctl.h"
#include "tap.h"

#define BLOCKS 13

static unsigned int released, rooms, freed;

static void on_released(void *ctx, struct pw_aal *u, u32 id) { released++; }
static void on_room(void *ctx, struct pw_aal *u) { rooms++; }
static void on_freed(void *ctx, struct pw_aal *u) { freed++; }

static const struct pw_aal_ops ops = {
	.released = on_released, .room = on_room, .freed = on_freed,
};

static struct pw_aal *unit(u32 og, u32 ic)
{
	struct pw_aal_cfg cfg = {
		.port = 3, .og_blocks = og, .ic_blocks = ic, .descs = 2, .engine = &pw_aal_rtl,
	};
	void *mem = malloc(pw_aal_size(&cfg));

	if (!mem)
		abort();
	memset(mem, 0xa5, pw_aal_size(&cfg));
	return pw_aal_init(mem, &cfg, &ops, NULL);
}

/* ---- lists: a vector of busy blocks, a queue of free ones ---- */

struct lists {
	u16 busy[BLOCKS], free[BLOCKS];
	u32 nb, nf;
};

static void lists_init(struct lists *l)
{
	l->nb = 0;
	for (l->nf = 0; l->nf < BLOCKS; l->nf++)
		l->free[l->nf] = l->nf;
}

static u16 lists_take(struct lists *l)
{
	u16 b = l->free[0];

	memmove(l->free, l->free + 1, --l->nf * sizeof(u16));
	l->busy[l->nb++] = b;
	return b;
}

static void lists_give(struct lists *l, u32 at)
{
	l->free[l->nf++] = l->busy[at];
	memmove(l->busy + at, l->busy + at + 1, (--l->nb - at) * sizeof(u16));
}

static bool og_same(const struct pw_aal *u, const struct lists *l)
{
	u16 b;
	u32 i;

	if (u->ogbblknum != l->nb || u->ogfinum != l->nf)
		return false;
	for (i = 0, b = u->ogfb; i < l->nb; i++, b = u->og[b].next)
		if (b != l->busy[i] || (i && u->og[b].prev != l->busy[i - 1]))
			return false;
	if (l->nb && (u->oglb != l->busy[l->nb - 1] || pw_aal_og_next(u, u->oglb) != u->ogfb))
		return false;
	for (i = 0, b = u->ogfi; i < l->nf; i++, b = u->og[b].next)
		if (b != l->free[i])
			return false;
	return !l->nf || u->ogli == l->free[l->nf - 1];
}

static bool ic_same(const struct pw_aal *u, const struct lists *l)
{
	u16 b;
	u32 i;

	if (u->icbblknum != l->nb || u->icfinum != l->nf)
		return false;
	for (i = 0, b = u->icfb; i < l->nb; i++, b = u->ic[b].next)
		if (b != l->busy[i] || (i && u->ic[b].prev != l->busy[i - 1]))
			return false;
	if (l->nb && (u->iclb != l->busy[l->nb - 1] || pw_aal_ic_next(u, u->iclb) != u->icfb))
		return false;
	for (i = 0, b = u->icfi; i < l->nf; i++, b = u->ic[b].next)
		if (b != l->free[i])
			return false;
	return !l->nf || u->icli == l->free[l->nf - 1];
}

static void send_lists(void)
{
	unsigned long n = tap_scaled(50000), bad = 0, cur = 0, mem = 0, i;
	struct pw_aal *u = unit(BLOCKS, 4);
	unsigned long long rnd = 1;
	u32 at, messages = 0;
	struct lists l;
	u16 b, want;

	lists_init(&l);
	released = 0;
	for (i = 0; i < n; i++) {
		if (tap_rand(&rnd) % 2) {
			/* every block a message of its own */
			mem += pw_aal_put_block(u, true) != (l.nf > 0) || u->dev.nomem != !l.nf;
			if (l.nf)
				bad += lists_take(&l) != u->oglb;
		} else if (l.nb) {
			at = tap_rand(&rnd) % l.nb;
			b = l.busy[at];
			u->ogmsgnum = 1 + l.nb;
			/* it was at this block: on to the next, from the last one to the first */
			u->cursnd = b;
			want = l.nb == 1 ? b : at + 1 < l.nb ? l.busy[at + 1] : l.busy[0];
			pw_aal_og_release(u, b);
			lists_give(&l, at);
			cur += u->cursnd != want;
			messages++;
		}
		bad += !og_same(u, &l);
	}
	is(bad, 0, "%lu times a send block taken or released: the lists of a simple model", n);
	is(cur, 0, "controller 5 steps past a block that goes");
	is(mem, 0, "no memory is told exactly when there is none");
	is(released, messages, "a message is released with its last block");
	free(u);
}

static void receive_lists(void)
{
	unsigned long n = tap_scaled(50000), bad = 0, counts = 0, i;
	struct pw_aal *u = unit(4, BLOCKS);
	unsigned int room = 0, used = 0;
	unsigned long long rnd = 2;
	struct lists l;
	u32 at, inmsg = 0;
	u16 b;

	lists_init(&l);
	rooms = 0;
	freed = 0;
	for (i = 0; i < n; i++) {
		if (tap_rand(&rnd) % 2) {
			if (!l.nf)
				continue;
			b = u->icfi;
			u->ic[b].type = PW_CELL_T_DATA;
			pw_aal_ic_append(u, b);
			bad += lists_take(&l) != b;
			if (tap_rand(&rnd) % 2) {
				u->ic[b].inmsg = true;
				u->icblkinmsgnum++;
				inmsg++;
			}
		} else if (l.nb) {
			at = tap_rand(&rnd) % l.nb;
			b = l.busy[at];
			room += !l.nf;
			used += u->ic[b].inmsg;
			inmsg -= u->ic[b].inmsg;
			pw_aal_ic_release(u, b);
			lists_give(&l, at);
		}
		bad += !ic_same(u, &l);
		counts += u->icblkinmsgnum != inmsg;
	}
	is(bad, 0, "%lu times a receive block taken or released: the lists of a simple model", n);
	is(counts, 0, "blocks in messages are counted");
	is(rooms, room, "room is told when the first block becomes free");
	is(freed, used, "and the end of every block that was in a message");
	is(u->stats.cells_in > 0 && !u->stats.acks_in, 1, "data cells are counted as such");
	free(u);
}

/* ---- headers, paths ---- */

static void message(struct pw_aal *u, u32 blocks, u16 com, u16 dst)
{
	u32 i;
	u16 b;

	u->comtype = com;
	u->dstreg = dst;
	for (i = 0; i < blocks; i++)
		pw_aal_put_block(u, !i);
	for (b = u->ogcurmsg; ; b = u->og[b].next) {
		pw_aal_header(u, b);
		if (b == u->oglb)
			break;
	}
}

static void headers(void)
{
	struct pw_aal *u = unit(64, 4);
	struct pw_aal_og *p;
	struct pw_aal_cell c;
	u32 i, bits = 0;

	message(u, 3, PW_CELL_COM_ONE, 5);
	ok(u->og[0].flag == 1 && u->og[1].flag == 0 && u->og[2].flag == 2,
	   "flags: bit 0 the first cell, bit 1 the last");
	ok(u->og[0].sqn == 1 && u->og[1].sqn == 2 && u->og[2].sqn == 3, "numbers begin with 1");
	ok(u->og[1].dst == 5 && u->og[1].acknum == 1 && pw_aal_ackdesc(u, 1, 5) &&
	   !pw_aal_ackdesc(u, 1, 4), "one acknowledgment from the destination");
	message(u, 1, PW_CELL_COM_ONE, 6);
	ok(u->og[3].flag == 3 && u->og[3].sqn == 1, "an only cell has 3; numbers per destination");
	message(u, 1, PW_CELL_COM_ALL, 0);
	p = &u->og[4];
	for (i = 0; i < 16; i++)
		bits += pw_aal_ackdesc(u, 4, i);
	ok(p->sqn == 1 && p->dst == 0xffff && p->acknum == 16 && bits == 16,
	   "a broadcast has its own numbers and sixteen acknowledgments");
	message(u, 1, PW_CELL_COM_ONE, 5);
	is(u->og[5].sqn, 4, "a destination goes on where it was");
	u->lastotosqnto[5] = 65535;
	message(u, 2, PW_CELL_COM_ONE, 5);
	ok(u->og[6].sqn == 65535 && u->og[7].sqn == 0, "numbers wrap at 16 bits");
	pw_aal_og_cell(u, 4, &c);
	ok(c.type == 0 && c.src == 3 && c.dst == 0xffff && c.sqn == 1 && c.flag == 3,
	   "a block as a cell");

	/* matching: same kind, same number, and from whom it went to */
	u->flag = PW_CELL_COM_ONE;
	u->sqn = 1;
	u->srcpn = 5;
	ok(pw_aal_match(u, 0) && !pw_aal_match(u, 1) && !pw_aal_match(u, 3) && !pw_aal_match(u, 4),
	   "an acknowledgment matches one cell");
	u->flag = PW_CELL_COM_ALL;
	u->srcpn = 9;
	ok(pw_aal_match(u, 4) && !pw_aal_match(u, 0), "that of a broadcast, from any port");
	pw_aal_take_ack(u, 4);
	ok(u->og[4].acknum == 15 && !pw_aal_ackdesc(u, 4, 9) && pw_aal_ackdesc(u, 4, 8),
	   "it is taken off the list");

	/* sending: timer, counters, window */
	u->now = 1000;
	u->og[0].ready = 0;
	ok(pw_aal_sendable(u, &u->og[0]) && pw_aal_blktime(u, 0) == 0, "a ready block is sent");
	pw_aal_sent(u, 0);
	is(pw_aal_blktime(u, 0), 400000 - 1, "its timer runs from 400000");
	u->now += 400000 - 1;
	ok(pw_aal_blktime(u, 0) == 0 && !pw_aal_sendable(u, &u->og[0]), "and ends");
	u->now++;
	ok(pw_aal_sendable(u, &u->og[0]), "in the next cycle it is sent again");
	is(u->stats.resent, 0, "not yet counted as such");
	pw_aal_sent(u, 0);
	is(u->stats.resent, 1, "now it is");
	u->cfg.window = 15;
	u->og[4].ready = 0;
	ok(!pw_aal_sendable(u, &u->og[4]), "a broadcast waits if the window is closed");
	u->outstanding = 0;
	ok(pw_aal_sendable(u, &u->og[4]), "not if nothing is missing");
	free(u);
}

static void paths(void)
{
	struct pw_aal *u = unit(4, 4);
	u32 bad = 0, i;

	u->dstreg = 7;
	u->srcpn = 9;
	u->comtype = PW_CELL_COM_ONE;
	/* one counter for data, broadcast and acknowledgments: 4d + k, 64 + k */
	for (i = 0; i < 12; i++) {
		u->comtype = i % 3 == 1 ? PW_CELL_COM_ALL : PW_CELL_COM_ONE;
		bad += pw_aal_path(u, i % 3 == 2) !=
		       (i % 3 == 0 ? 4 * 7 : i % 3 == 1 ? 64 : 4 * 9) + i % 4;
	}
	is(bad, 0, "paths in turn, one counter for all");
	u->comtype = PW_CELL_COM_ONE;
	u->path = 2;
	ok(pw_aal_path(u, false) == 30 && pw_aal_path(u, false) == 30 && u->rcount == 0,
	   "a path that is asked for leaves the counter alone");
	is(pw_aal_path(u, true), 36, "acknowledgments take no part in it");
	free(u);
}

/* ---- order, reassembly, obsolete messages, server ---- */

static void order(void)
{
	struct pw_aal *u = unit(4, 8);
	unsigned long bad = 0;
	u32 want, d;

	u->srcpn = 2;
	u->dstpn = 3;
	for (want = 0; want < 65536; want += 257) {
		u->lastotosqnfrm[2] = want;
		for (d = 1; d < 32768; d += 211) {
			u->sqn = want + d;
			bad += pw_aal_order(u) <= 0;
			u->sqn = want - d;
			bad += pw_aal_order(u) >= 0;
		}
		u->sqn = want;
		bad += pw_aal_order(u) != 0;
	}
	is(bad, 0, "ahead, expected and behind, all around 16 bits");
	u->dstpn = PW_CELL_DST_ALL;
	u->sqn = 1;
	is(pw_aal_order(u), 0, "broadcasts have their own expectation");
	free(u);
}

/* a cell of a message from @src goes through reassembly */
static void cell(struct pw_aal *u, u16 src, u8 flag, u32 id)
{
	u16 b = u->icfi;

	u->ic[b].type = PW_CELL_T_DATA;
	pw_aal_ic_append(u, b);
	u->iccurb = b;
	u->srcpn = src;
	u->dstpn = 3;
	u->flag = flag;
	put_unaligned_be32(id, u->ic_cell + (size_t)b * PW_BMX_CELL + PW_CELL_DATA + 16);
	put_unaligned_be32(U32_MAX, u->ic_cell + (size_t)b * PW_BMX_CELL + PW_CELL_DATA + 12);
	pw_aal_reassemble(u);
	pw_aal_commit(u);
}

static u32 search(struct pw_aal *u, u32 id)
{
	u32 n = 0;

	u->want[4] = id;
	u->dev.readi = false;
	u->st[8] = C8_START;
	for (; u->st[8] != C8_IDLE; n++)
		pw_aal_ctl8(u);
	return n;
}

static u32 turn(struct pw_aal *u)
{
	u32 n = 0;

	while (u->st[10] != C10_START)
		pw_aal_ctl10(u);
	do {
		pw_aal_ctl10(u);
		n++;
	} while (u->st[10] != C10_START);
	return n;
}

static void messages(void)
{
	struct pw_aal *u = unit(4, 64);
	u16 m;

	memset(u->ic_cell, 0, 64 * PW_BMX_CELL);
	is(search(u, 1), 66, "a fruitless search with no messages takes 66 cycles");
	ok(u->dev.readi && !u->dev.read, "and is denied");
	is(turn(u), 66, "controller 10 goes round in 66");
	cell(u, 0, PW_CELL_F_FIRST, 10);
	cell(u, 0, 0, 0);
	is(u->nmsgs, 0, "a message is not complete before its last cell");
	cell(u, 0, PW_CELL_F_LAST, 0);
	ok(u->nmsgs == 1 && u->msgnumfrm[0] == 1, "then it is");
	m = u->msg_head[0];
	ok(u->msg[m].cells == 3 && u->ic[u->msg[m].first].chain == 1 && u->ic[1].chain == 2 &&
	   u->msg[m].last == 2, "its blocks are chained in order");
	is(search(u, 10), 7, "the first message of source 0 is found in 7");
	ok(u->dev.read && u->curmsg == m && u->icoffset == 20, "and can be read behind its header");
	is(turn(u), 68, "a stored message costs controller 10 two cycles");
	cell(u, 5, PW_CELL_F_FIRST | PW_CELL_F_LAST, 20);
	is(search(u, 20), 7 + 5 * 4 + 2, "each source passed costs 4, a message that does not match 2");
	cell(u, 0, PW_CELL_F_FIRST | PW_CELL_F_LAST, 10);
	is(search(u, 10), 7 + 3, "one that was served before 3");
	u->srcpn = 0;
	u->dstpn = 3;
	u->flag = PW_CELL_F_FIRST;
	u->sqn = u->lastotosqnfrm[0];
	is(pw_aal_order(u), 1, "a first cell without a descriptor is kept for later");

	/* obsolete: 40000 cycles, never the one being read */
	u->now += 40000;
	is(pw_aal_expired(u, m), 0, "a message lives 40000 cycles");
	u->now++;
	is(pw_aal_expired(u, m), 1, "not longer");
	u->asking = true;
	is(pw_aal_expired(u, m), 0, "not while a request is searched for");
	u->asking = false;
	u->curmsg = m;
	u->dev.rlcked = true;
	is(pw_aal_expired(u, m), 0, "nor while it is read");
	u->dev.rlcked = false;
	pw_aal_obsolete(u, m);
	ok(u->ic[0].tofr && u->ic[1].tofr && u->ic[2].tofr && !u->ic[3].tofr && u->ictofrnum == 3,
	   "its blocks are to be released, no others");
	ok(u->nmsgs == 2 && u->msgnumfrm[0] == 1 && u->msg_head[0] != m, "its descriptor is gone");
	is(pw_aal_order(u), 0, "and free for the next");
	free(u);
}

int main(void)
{
	send_lists();
	receive_lists();
	headers();
	paths();
	order();
	messages();
	return tap_done();
}
