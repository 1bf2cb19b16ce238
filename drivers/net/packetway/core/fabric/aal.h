/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AAL unit (ATM adaptation layer) of one port of the BMX fabric: segmentation,
 * sequence numbers, acknowledgments, retransmission, reassembly.
 *
 * Eleven controllers work on two buffers of cell blocks; aal_ctl.h has their
 * states. pw_aal_step() runs one cycle of all of them, register by register.
 * pw_aal_fast_*() compute the same by events: a controller runs only in cycles in
 * which it does something that another controller or the network can see.
 *
 * The published state tables were rebuilt from traces of two short messages and
 * leave some cases open. The choices made here are:
 *  - a message is released together with its last remaining block;
 *  - while a put waits for memory, controller 5 passes blocks that are not ready
 *    (else acknowledged blocks would never be released);
 *  - if controller 5 releases the block that the search of controller 7 is at, the
 *    search moves to the next block;
 *  - no message becomes obsolete while controller 8 searches, nor while it is read;
 *  - a first cell without a free descriptor is kept like one that is ahead.
 *
 * Multicast connections are not part of the published AAL, whose tables allow them. A
 * connection has sequence numbers of its own: those of broadcast cells count the cells that
 * every port receives, and a port that is not a member would wait for the numbers it never
 * sees. A connection has one sender, so a receiver keeps one expected number for each. The
 * acknowledgment names the connection in its flag. Everything else is as for a broadcast, with
 * the members in place of all ports.
 */
#ifndef PW_CORE_AAL_H
#define PW_CORE_AAL_H

#include "pw_os.h"
#include "aal_ctl.h"
#include "arena.h"
#include "cell.h"
#include "topo.h"

#define PW_AAL_CTLS		11
#define PW_AAL_BLOCKS		1887
#define PW_AAL_RESEND		400000	/* cycles until a cell is sent again */
#define PW_AAL_KEEP		40000	/* cycles a complete message is kept */
#define PW_AAL_DESCS		32	/* message descriptors per source */
#define PW_AAL_SERVED		10	/* instances remembered per message */
#define PW_AAL_ACK_CYCLES	35	/* cycles in state C7_HOLD */
/*
 * bound for what controller 7 does for one acknowledgment or data cell apart from
 * walking along the buffers: at most 3 + 6 + 35 or 3 + 9 + 9 + 2 + 35 cycles, doubled
 */
#define PW_AAL_ACK_MAX		128
#define PW_AAL_HDR_WORDS	5
#define PW_AAL_NONE		0xffff
#define PW_AAL_COM_NONE		0xff	/* communication type of a block without header */
#define PW_AAL_NEVER		U64_MAX

/* commands of the host */
enum pw_aal_cmd {
	PW_AAL_INITSEND,
	PW_AAL_PUTINT,
	PW_AAL_PUTSHORT,
	PW_AAL_PUTLONG,
	PW_AAL_PUTFLOAT,
	PW_AAL_PUTDFLOAT,
	PW_AAL_PUTCPLX,
	PW_AAL_PUTDCPLX,
	PW_AAL_PUTBYTES,
	PW_AAL_PUTSTRING,
	PW_AAL_GETINT,
	PW_AAL_GETSHORT,
	PW_AAL_GETLONG,
	PW_AAL_GETFLOAT,
	PW_AAL_GETDFLOAT,
	PW_AAL_GETCPLX,
	PW_AAL_GETDCPLX,
	PW_AAL_GETBYTES,
	PW_AAL_GETSTRING,
	PW_AAL_SND,
	PW_AAL_RCV,
	PW_AAL_SETDST,
};

/* departures from the published machine, for use as a network device */
#define PW_AAL_F_KEEP_UNREAD	BIT(0)	/* an unread message never times out */
#define PW_AAL_F_RELEASE_READ	BIT(1)	/* a message is obsolete once it was read */
#define PW_AAL_F_DISCARD	BIT(2)	/* a cell without a block is dropped, not refused */
/* the buffers have no memory at first, see pw_aal_fill_og() and pw_aal_fill_ic() */
#define PW_AAL_F_SPARSE		BIT(3)

/* free receive blocks below which an AAL unit with sparse buffers calls ops->low */
#define PW_AAL_SPARE		72

/* how an AAL unit chooses the path of a cell that has none from its message */
enum pw_aal_route {
	PW_AAL_ROUTE_TURN = 1,	/* one after the other: the published path counter */
	PW_AAL_ROUTE_FIXED,	/* always the same between two ports */
	PW_AAL_ROUTE_RANDOM,	/* this and all above: random, with that seed */
	/*
	 * the path whose queue at the first switch held the fewest bytes at the end of the
	 * cycle before controller 3 chooses; among equal ones the next in turn
	 */
	PW_AAL_ROUTE_LEAST = 0x10000,
};

/**
 * struct pw_aal_cfg - sizes and times of an AAL unit; 0 takes the published value
 * @port: own port number
 * @ports: ports of the fabric
 * @paths: paths per destination
 * @route: enum pw_aal_route, or a seed
 * @shift: bits of the header word below the VPI
 * @og_blocks: blocks of the send buffer
 * @ic_blocks: blocks of the receive buffer
 * @resend: retransmission timer in cycles
 * @keep: lifetime of a complete message in cycles
 * @descs: message descriptors per source
 * @gap_word: fast: idle cycles of the process before every put and every get
 * @window: limit of outstanding acknowledgments above which an AAL unit holds back
 *	broadcast cells that were never sent, and those of connections. These are sent in the
 *	order of their
 *	numbers: otherwise receive buffers could fill up with cells that are ahead of
 *	one held back, and these would be repeated without end. 0: no limit
 * @flags: PW_AAL_F_*
 * @conns: multicast connections of the fabric
 * @conn: the connections
 * @engine: &pw_aal_rtl or &pw_aal_fast
 */
struct pw_aal_cfg {
	u16 port;
	u16 ports;
	u16 paths;
	u16 shift;
	u32 og_blocks;
	u32 ic_blocks;
	u32 resend;
	u32 keep;
	u32 descs;
	u32 gap_word;
	u32 route;
	u32 window;
	u32 flags;
	u32 conns;
	const struct pw_topo_conn *conn;
	const struct pw_aal_engine *engine;
};

/* the record that an AAL unit shares with its host */
struct pw_aal_dev {
	u32 bus;
	u8 nbytes;
	u8 cmd;
	bool busi, busy;
	bool read, readi;
	bool rlcked, wlcked;
	bool nomem, exit;
	s8 path;	/* with SETDST: path, -1 for the path counter */
	u32 id;		/* with SETDST: the host's number of the message, for the callbacks */
};

/* a cell without its bytes */
struct pw_aal_cell {
	u32 id;		/* the host's number of the message */
	u16 sqn;
	u16 src;
	u16 dst;
	u16 flag;
	u8 type;
};

/* a block of the send buffer */
struct pw_aal_og {
	u64 due;	/* running timer: cycle in which it reaches 0 */
	u16 next, prev;
	u16 dst, sqn;
	u16 msg;	/* slot of the message */
	u16 acknum;
	u16 vpi;
	u8 flag;
	u8 comtype;
	s8 ready;	/* -1 not ready, 0 to be sent, 1 timer running */
	bool tofr;	/* to be released */
	bool sent;
	/* fast engine */
	u16 same;	/* next block with the same hash */
	u32 seat;	/* place in the busy list */
};

/* a block of the receive buffer */
struct pw_aal_ic {
	u32 id;
	u16 next, prev;
	u16 chain;	/* next block of the message */
	u16 type, flag, sqn, src, dst;
	bool inmsg;	/* part of a message, or free */
	bool tofr;	/* to be released */
	bool acked;	/* its acknowledgment was handed to controller 5 */
	bool kept;	/* was ahead at least once */
	u32 seat;	/* fast engine: place in the busy list */
};

/* a message in the receive buffer, incomplete or complete */
struct pw_aal_msg {
	u64 due;	/* complete: cycle in which its lifetime ends */
	u32 hdr[PW_AAL_HDR_WORDS];
	u32 served[PW_AAL_SERVED];
	u16 src, dst;
	u16 first, last;
	u16 next;	/* of the same source, oldest first */
	u16 cells;
	u8 nserved;
	bool complete;
	u8 unread;	/* several processes: those that have not read it yet */
	u32 id;		/* the host's number of the message */
};

/* a message in the send buffer */
struct pw_aal_txm {
	u32 id;
	u16 left;	/* blocks not yet released */
	u16 next;	/* free list */
};

/**
 * struct pw_aal_send - a message for the fast engine
 * @id: the host's number of the message
 * @len: data bytes
 * @dst: destination port, or multicast connection
 * @com: PW_CELL_COM_ALL, PW_CELL_COM_ONE or PW_CELL_COM_MC
 * @path: path, -1 for the path counter
 * @gap_lock: idle cycles before init-send
 * @gap_init: idle cycles after init-send
 */
struct pw_aal_send {
	u32 id;
	u32 len;
	u16 dst;
	u8 com;
	s8 path;
	u32 gap_lock;
	u32 gap_init;
};

/*
 * Order of the blocks of a busy list. Each block has a seat in a ring of bits, so that
 * the number of blocks between two of them is a count of bits.
 */
struct pw_aal_seats {
	u64 *busy;		/* seat taken */
	u64 *hot;		/* a walk along the list may have to stop there */
	u16 *blk;		/* block of a seat */
	u32 size;		/* a power of two */
	u32 next;		/* first seat that was never given */
};

struct pw_aal;

/**
 * struct pw_aal_ops - callbacks of an AAL unit; every member may be NULL
 * @ready: message segmented, write lock released
 * @cell_out: byte 0 of a cell was fetched for sending
 * @cell_in: last byte of a good cell was taken in
 * @bad_cell: last byte of a cell with a wrong CRC or destination was taken in
 * @refused: an outgoing or, with @in, an incoming cell was refused
 * @acked: an acknowledgment matched its cell
 * @complete: message complete
 * @granted: a receive request was answered
 * @got: fast engine: the last get is done
 * @room: a receive block became free and is the only free one
 * @obsolete: message dropped from the receive buffer
 * @freed: a receive block that belonged to a message was released
 * @low: sparse buffers: less than PW_AAL_SPARE receive blocks with memory are free
 * @released: all cells of a sent message are acknowledged and released
 * @tx: fast engine: offer a cell with byte 0 on the link in cycle @t; the owner
 *	calls pw_aal_fast_accepted() when the network has accepted it
 * @fill: for PW_AAL_ROUTE_LEAST: bytes at the end of the last cycle in the queue of the first
 *	switch that cells with @vpi enter; the largest one if they enter several
 */
struct pw_aal_ops {
	void (*ready)(void *ctx, struct pw_aal *u, u32 id);
	void (*cell_out)(void *ctx, struct pw_aal *u, const struct pw_aal_cell *c, bool again);
	void (*cell_in)(void *ctx, struct pw_aal *u, const struct pw_aal_cell *c);
	void (*bad_cell)(void *ctx, struct pw_aal *u);
	void (*refused)(void *ctx, struct pw_aal *u, bool in);
	void (*acked)(void *ctx, struct pw_aal *u, u32 id, u16 sqn, u16 from);
	void (*complete)(void *ctx, struct pw_aal *u, u16 desc);
	void (*granted)(void *ctx, struct pw_aal *u, bool read);
	void (*got)(void *ctx, struct pw_aal *u);
	void (*room)(void *ctx, struct pw_aal *u);
	void (*obsolete)(void *ctx, struct pw_aal *u, u16 desc);
	void (*freed)(void *ctx, struct pw_aal *u);
	void (*low)(void *ctx, struct pw_aal *u);
	void (*released)(void *ctx, struct pw_aal *u, u32 id);
	void (*tx)(void *ctx, struct pw_aal *u, const struct pw_aal_cell *c, u16 vpi, u64 t);
	u32 (*fill)(void *ctx, struct pw_aal *u, u32 vpi);
};

/* counters of an AAL unit */
struct pw_aal_stats {
	u64 cells_out, cells_in;	/* data */
	u64 acks_out, acks_in;
	u64 resent, refused_out, refused_in;
	u64 bad_crc, bad_dst;
	u64 ahead, duplicate, overrun;
	u64 taken;			/* cells not refused, counted with byte PW_BMX_DECIDE */
	u64 msgs_out, msgs_in, obsolete, nomem;
	u64 stray_ack;
};

/*
 * struct pw_aal - the AAL unit
 *
 * Registers have their published names where there is one. A list is empty when its
 * count is 0; its pointers then keep their last value. st[] holds the states of the
 * controllers, enum c0_state to enum c10_state.
 */
struct pw_aal {
	struct pw_aal_cfg cfg;
	const struct pw_aal_ops *ops;
	void *ctx;
	u64 now;
	u8 st[PW_AAL_CTLS];
	struct pw_aal_dev dev;
	struct pw_aal_stats stats;

	/* links */
	u8 ogbyte, icbyte, buf;
	bool ogbytei, ogsuspend, icbytei, icsuspend, bufi;

	/* send buffer */
	struct pw_aal_og *og;
	void *og_mem;		/* sparse: memory of the buffer */
	u32 og_cap;		/* blocks that have memory */
	u8 *og_cell;
	u32 *ackdesc;		/* ackw words per block */
	u32 ackw;
	u16 ogbblknum, ogfinum;
	u16 ogfb, oglb, ogfi, ogli;
	u16 ogcurmsg, cursnd;
	u16 ogoffset, ogmsgnum;
	u16 *lastotosqnto;
	u16 lastotasqn;
	u16 nextotasqn;		/* lowest number of the broadcast cells never sent */
	u16 *lastmcsqn, *nextmcsqn;	/* the same for each multicast connection */
	struct pw_aal_txm *txm;
	u16 txm_free, txm_cur;
	u32 outstanding;	/* missing acknowledgments of cells that were sent */

	/* controller 0 */
	u8 t;			/* byte of the bus */
	u8 run24, last24;	/* header words in a row, and their command */
	u32 d, e, f, g, j;
	u16 dstreg, comtype;
	s8 path;
	/* controllers 1 to 4 */
	u16 c1blk, c2blk;
	u16 rcount;		/* path counter k; state of random paths */
	u16 vp4, vp7;
	u16 h;
	bool sync12, sync23, sync73, sync75;
	bool vp4i, vp7d, vp7i, hd, hi;
	/* controllers 5 and 6 */
	u8 idx, count;
	bool skip;		/* no block for the incoming cell */
	u16 ogcrc, iccrc;
	u8 ackbuf[PW_BMX_CELL], ackbld[PW_BMX_CELL];
	struct pw_aal_cell ackcell, ackbldcell;
	u16 ackvpi, ackbldvpi;
	/* receive buffer */
	struct pw_aal_ic *ic;
	void *ic_mem;		/* sparse: memory of the buffer */
	u32 ic_cap;		/* blocks that have memory */
	u32 ic_low;		/* ops->low is called with fewer free blocks; 0: never */
	u8 *ic_cell;
	u16 icbblknum, icfinum;
	u16 icfb, iclb, icfi, icli;
	u16 iccurb, icblkinmsgnum, ictofrnum;
	u16 icoffset, currcv;
	u16 *msgnumfrm;
	u16 *lastotosqnfrm, *lastotasqnfrm;
	u16 *lastmcsqnfrm;	/* expected numbers of multicast connections */
	struct pw_aal_msg *msg;
	u16 *msg_head, *msg_tail;	/* per source */
	u16 *msg_num;
	u16 msg_free;
	u16 curmsg;		/* message being read */
	/* controller 7 */
	u16 type, flag, sqn, srcpn, dstpn;
	u16 srch;		/* send block of the search */
	u16 c7cnt;		/* cycles in C7_HOLD */
	u16 c7msg;		/* message of the cell, or PW_AAL_NONE */
	/* controllers 8 and 10 */
	u16 c8src, c8msg;
	u32 want[PW_AAL_HDR_WORDS];
	bool asking;		/* a receive request is not yet answered */
	u16 c10src, c10msg, c10left;

	/*
	 * Fast engine. wake[]: cycle in which a controller runs next. Controllers
	 * 5, 7, 8 and 10 are evaluated lazily: their registers are those at the
	 * beginning of cycle cNat and are brought forward before they are used.
	 */
	u64 wake[PW_AAL_CTLS];
	u64 rare;		/* first of wake[1], [2], [8] and [10] */
	u64 c0base;		/* first cycle of the first put, were there no waiting */
	u64 c0plan;		/* cycle in which the next block is needed */
	u32 c0len, c0cells;	/* message: bytes, cells */
	u32 c0word;		/* word that needs the next block */
	u32 c0gap;		/* idle cycles of the process */
	u16 c0dst, c0com;
	s8 c0path;
	u32 c0id;
	u64 c5at, c7at, c8at, c10at;
	u8 c5mode, c7mode;
	u8 c5then;		/* what the walk of controller 5 ends with in cycle c5hit */
	u64 c5hit;		/* NEVER: not known */
	u16 c5blk;		/* block of that cycle */
	u16 c7blk;		/* the same for controller 7 in cycle wake[7]; NONE: not known */
	u64 ackend;		/* cycle in which the last byte of the cell is fetched */
	u64 due_min;		/* no timer of a send block ends before */
	/* controller 3: cycles of the requests and grants, first cycle of its next LOOK */
	u64 ask2, ask7, grant2, grant7, c3free;
	bool c7hold;		/* 7 waits until 5 has sent the acknowledgment before */
	u64 c7found;		/* COMPARE finds the block; TAKE and ACKED are one event */
	struct pw_aal_seats ogs;	/* hot: controller 5 may stop without a timer */
	struct pw_aal_seats ics;	/* hot: not in a message, or to be released */
	u16 *hash;		/* send blocks by number and destination */
	u32 hashes;
	u16 og_all;		/* cells to several ports in the send buffer */
	bool least3;		/* controller 3 chooses in the cycle of a grant */
	u32 nmsgs;		/* complete messages */
	u64 srcmap[4];		/* sources with complete messages */
	struct pw_aal_cell rxcell;	/* incoming cell */
	bool rxbad;		/* its CRC is wrong */
};

/**
 * struct pw_aal_engine - how the controllers of an AAL unit are carried out
 * @layout_og: memory of the engine for a send buffer of @blocks; with an arena that only
 *	counts, @u has cfg only
 * @layout_ic: the same for a receive buffer
 * @init: initialize its registers, which are zeroed; may be NULL
 * @grown_og: @u has a larger send buffer than @old, in memory that is zeroed; the shared
 *	part of it is complete
 * @grown_ic: the same for the receive buffer
 * @read_header: message header from the first cell, in receive block @b
 *
 * The shared part calls an engine through this table only, so that it depends on none.
 * Each engine has functions of its own to run it: pw_aal_step(), pw_aal_fast_*().
 */
struct pw_aal_engine {
	void (*layout_og)(struct pw_arena *a, struct pw_aal *u, u32 blocks);
	void (*layout_ic)(struct pw_arena *a, struct pw_aal *u, u32 blocks);
	void (*init)(struct pw_aal *u);
	void (*grown_og)(struct pw_aal *u, const struct pw_aal *old);
	void (*grown_ic)(struct pw_aal *u, const struct pw_aal *old);
	void (*read_header)(const struct pw_aal *u, u16 b, u32 *hdr);
};

extern const struct pw_aal_engine pw_aal_rtl;	/* register by register */
extern const struct pw_aal_engine pw_aal_fast;	/* by events; blocks hold no bytes */

size_t pw_aal_size(const struct pw_aal_cfg *cfg);
int pw_aal_cfg_check(const struct pw_aal_cfg *cfg);
struct pw_aal *pw_aal_init(void *mem, const struct pw_aal_cfg *cfg, const struct pw_aal_ops *ops,
			   void *ctx);
u32 pw_aal_descs(const struct pw_aal_cfg *cfg);
size_t pw_aal_og_bytes(const struct pw_aal *u, u32 blocks);
size_t pw_aal_ic_bytes(const struct pw_aal *u, u32 blocks);
void pw_aal_fill_og(struct pw_aal *g, void *mem, u32 blocks);
void pw_aal_fill_ic(struct pw_aal *g, void *mem, u32 blocks);
void *pw_aal_use_og(struct pw_aal *u, const struct pw_aal *g);
void *pw_aal_use_ic(struct pw_aal *u, const struct pw_aal *g);
void pw_aal_read_done(struct pw_aal *u);
void pw_aal_discard(struct pw_aal *u, u16 desc);

/* shared by the two engines */
void pw_aal_og_release(struct pw_aal *u, u16 b);
bool pw_aal_put_block(struct pw_aal *u, bool first);
void pw_aal_header(struct pw_aal *u, u16 b);
void pw_aal_og_cell(const struct pw_aal *u, u16 b, struct pw_aal_cell *c);
void pw_aal_take_ack(struct pw_aal *u, u16 b);
u16 pw_aal_other_path(struct pw_aal *u, bool ack);
bool pw_aal_admits(const struct pw_aal *u, const struct pw_aal_og *b);
void pw_aal_sent(struct pw_aal *u, u16 b);
void pw_aal_ic_append(struct pw_aal *u, u16 b);
void pw_aal_ic_release(struct pw_aal *u, u16 b);
void pw_aal_build_ack(struct pw_aal *u);
void pw_aal_reassemble(struct pw_aal *u);
bool pw_aal_commit(struct pw_aal *u);
bool pw_aal_match(const struct pw_aal *u, u16 b);
bool pw_aal_served(const struct pw_aal_msg *p, u32 instance);
bool pw_aal_expired(const struct pw_aal *u, u16 m);
void pw_aal_obsolete(struct pw_aal *u, u16 m);
u8 pw_aal_c8_next(const struct pw_aal *u, u8 st, u16 *src, u16 *msg);
void pw_aal_ctl8(struct pw_aal *u);
void pw_aal_ctl10(struct pw_aal *u);
void pw_aal_ctl10_skip(struct pw_aal *u, u32 n);

/* register engine */
void pw_aal_step(struct pw_aal *u);
bool pw_aal_idle(const struct pw_aal *u);

/* event-driven engine */
u64 pw_aal_fast_run(struct pw_aal *u, u64 now);
void pw_aal_fast_send(struct pw_aal *u, u64 now, const struct pw_aal_send *s);
void pw_aal_fast_recv(struct pw_aal *u, u64 now, const u32 *want, u32 len, u32 gap);
void pw_aal_fast_read_done(struct pw_aal *u);
void pw_aal_fast_discard(struct pw_aal *u, u16 desc);
u64 pw_aal_fast_accepted(struct pw_aal *u, u64 t);
bool pw_aal_fast_rx(struct pw_aal *u, u64 t, const struct pw_aal_cell *c, bool bad);
bool pw_aal_fast_idle(const struct pw_aal *u);
u64 pw_aal_fast_passed(struct pw_aal *u, u16 src, u64 complete, u64 read);

/* cycle of the next event, PW_AAL_NEVER if there is none */
static inline u64 pw_aal_fast_next(const struct pw_aal *u)
{
	return min(min(min(u->wake[0], u->wake[5]), min(u->wake[6], u->wake[7])), u->rare);
}

static inline u16 pw_aal_og_next(const struct pw_aal *u, u16 b)
{
	return b == u->oglb ? u->ogfb : u->og[b].next;
}

static inline u16 pw_aal_ic_next(const struct pw_aal *u, u16 b)
{
	return b == u->iclb ? u->icfb : u->ic[b].next;
}

/* does a cell for @dst belong to this AAL unit? */
static inline bool pw_aal_takes(const struct pw_aal *u, u16 dst)
{
	if (likely(dst == u->cfg.port || dst == PW_CELL_DST_ALL))
		return true;
	dst ^= PW_CELL_DST_MC;
	return dst < u->cfg.conns && pw_topo_member(&u->cfg.conn[dst], u->cfg.port);
}

/* destination of the cells to several ports that the acknowledgment in controller 7 is for */
static inline u16 pw_aal_ack_dst(const struct pw_aal *u)
{
	return u->flag == PW_CELL_COM_ALL ? PW_CELL_DST_ALL :
					    PW_CELL_DST_MC | (u->flag - PW_CELL_COM_MC);
}

/* lowest number never sent of the cells that are numbered like block @b, to several ports */
static inline u16 pw_aal_next_sqn(const struct pw_aal *u, const struct pw_aal_og *b)
{
	return b->dst == PW_CELL_DST_ALL ? u->nextotasqn : u->nextmcsqn[b->dst ^ PW_CELL_DST_MC];
}

/* expected number of the cell that controller 7 is processing */
static inline u16 *pw_aal_expected(const struct pw_aal *u)
{
	if (u->dstpn == PW_CELL_DST_ALL)
		return &u->lastotasqnfrm[u->srcpn];
	if (unlikely(u->dstpn & PW_CELL_DST_MC))
		return &u->lastmcsqnfrm[u->dstpn ^ PW_CELL_DST_MC];
	return &u->lastotosqnfrm[u->srcpn];
}

/**
 * pw_aal_order() - compare the cell that controller 7 is processing with the expected one
 * @u: AAL unit
 *
 * Return: 0 expected, > 0 ahead (also if there is no descriptor for it), < 0 duplicate.
 */
static inline int pw_aal_order(const struct pw_aal *u)
{
	int diff = (s16)(u16)(u->sqn - *pw_aal_expected(u));

	if (!diff && u->flag & PW_CELL_F_FIRST &&
	    (u->msg_num[u->srcpn] >= u->cfg.descs || u->msg_free == PW_AAL_NONE))
		return 1;
	return diff;
}

/**
 * pw_aal_path() - choose a path
 * @u: AAL unit
 * @ack: for the acknowledgment being built, else for the message being segmented
 *
 * The policy of the AAL unit serves all cells but those of a message that asks for a path.
 *
 * Return: VPI of the first stage.
 */
static inline u16 pw_aal_path(struct pw_aal *u, bool ack)
{
	u16 k = u->rcount;

	if (unlikely(u->cfg.route != PW_AAL_ROUTE_TURN) ||
	    (!ack && (u->path >= 0 || u->comtype != PW_CELL_COM_ONE)))
		return pw_aal_other_path(u, ack);
	u->rcount = k + 1 == u->cfg.paths ? 0 : k + 1;
	return u->cfg.paths * (ack ? u->srcpn : u->dstreg) + k;
}

static inline bool pw_aal_ackdesc(const struct pw_aal *u, u16 b, u16 port)
{
	return u->ackdesc[(size_t)b * u->ackw + port / 32] >> port % 32 & 1;
}

/* timer of a send block after cycle u->now: -1 not ready, 0 to be sent, else cycles left */
static inline s64 pw_aal_blktime(const struct pw_aal *u, u16 blk)
{
	const struct pw_aal_og *b = &u->og[blk];

	if (b->ready <= 0)
		return b->ready;
	return u->now >= b->due ? 0 : (s64)(b->due - u->now);
}

/* is a block to be sent, as controller 5 sees its timer in cycle u->now? */
static inline bool pw_aal_due(const struct pw_aal *u, const struct pw_aal_og *b)
{
	return !b->ready || (b->ready > 0 && u->now > b->due);
}

/* may a ready block be sent in cycle u->now: is its timer 0, and does the window admit it? */
static inline bool pw_aal_sendable(const struct pw_aal *u, const struct pw_aal_og *b)
{
	return pw_aal_due(u, b) &&
	       (likely(b->comtype == PW_CELL_COM_ONE) || b->sent || pw_aal_admits(u, b));
}

/* may controller 10 drop a complete message once its lifetime has ended? */
static inline bool pw_aal_mortal(const struct pw_aal *u, const struct pw_aal_msg *p)
{
	return !(u->cfg.flags & PW_AAL_F_KEEP_UNREAD) || (p->nserved && !p->unread);
}

/* first complete message of a source, from @m on */
static inline u16 pw_aal_complete_from(const struct pw_aal *u, u16 m)
{
	while (m != PW_AAL_NONE && !u->msg[m].complete)
		m = u->msg[m].next;
	return m;
}

/**
 * pw_aal_c10_next() - next state of controller 10 in cycle u->now
 * @u: AAL unit
 * @st: state
 * @src: source
 * @msg: message of the source
 * @left: complete messages of the source not yet examined
 *
 * Moves @src, @msg and @left and changes nothing else, so that the fast engine can look
 * ahead. Inline: the register engine calls it in every cycle, the fast one in a loop.
 *
 * Return: the state after @st.
 */
static inline u8 pw_aal_c10_next(const struct pw_aal *u, u8 st, u16 *src, u16 *msg, u16 *left)
{
	switch (st) {
	case C10_START:
		*src = 0;
		return C10_SOURCE;
	case C10_SOURCE:
		return *src == u->cfg.ports ? C10_START : C10_FIRST;
	case C10_FIRST:
		*left = u->msgnumfrm[*src];
		*msg = pw_aal_complete_from(u, u->msg_head[*src]);
		return C10_EXPIRED;
	case C10_EXPIRED:
		if (!*left || *msg == PW_AAL_NONE)
			return C10_NEXT_SOURCE;
		return pw_aal_expired(u, *msg) ? C10_DROP : C10_NEXT_MSG;
	case C10_DROP:
	case C10_NEXT_MSG:
		*msg = pw_aal_complete_from(u, u->msg[*msg].next);
		--*left;
		return C10_EXPIRED;
	default:
		++*src;
		return C10_SOURCE;
	}
}

#endif /* PW_CORE_AAL_H */
