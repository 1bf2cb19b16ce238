/* SPDX-License-Identifier: GPL-2.0 */
/* Whole BMX fabric: its state. Not for users of the fabric: see fabric.h. */
#ifndef PW_CORE_FABRIC_PRIV_H
#define PW_CORE_FABRIC_PRIV_H

#include "arena.h"
#include "fabric.h"
#include "lone.h"

#define NONE PW_AAL_NONE
#define NEVER PW_FABRIC_NEVER
#define MAP_WORDS 8	/* bits for 256 ports */
#define SLOTS 64	/* cycles that the wheel of AAL units covers */

/* a message from pw_fabric_send() to ops->done() */
struct fmsg {
	u64 cookie;
	const u8 *data;
	struct pw_fabric_times t;
	u32 len;
	u32 id;
	u32 cells;
	u32 acks;		/* receive blocks set aside at the sender */
	u16 src, dst;
	u16 next, prev;
	u16 need;		/* deliveries outstanding */
	u16 gen;
	u16 sqn;		/* of its first cell */
	s8 path;
	bool used, acked, ended;
	u32 got[MAP_WORDS];	/* read by the process of that port */
	u32 done[MAP_WORDS];	/* handed to the owner */
};

/* a cell in the network of the fast engine */
struct fcell {
	union {
		struct pw_aal_cell c;
		u32 next;	/* free */
	};
	u16 copies;
	u16 vpi;		/* at the sender */
	u32 damage;		/* bit s: PPD of stage s flipped a bit */
};

/* a tapped link of the rtl engine */
struct ftap {
	u64 start;
	u8 n;			/* bytes of the current cell, or TAP_WAIT */
	bool lost;
	u8 cell[PW_BMX_CELL];
};

#define TAP_WAIT	0xff	/* ignore bytes until the link is idle */

struct fport {
	struct pw_aal *u;
	/* fast engine: next event of the AAL unit, and enum noted */
	u64 next;
	u8 noted;
	struct pw_aal_host host;
	u16 *ready;		/* complete messages, oldest first */
	u16 r_head, r_num, r_cap;
	u16 q_head, q_tail;	/* messages of this sender */
	u16 q_wait;		/* first one not started */
	u16 q_num;
	u16 tx, rx;		/* message being packed, read */
	u32 reserved;
	/*
	 * Sparse: blocks that messages from pw_fabric_send() to ops->done() may need in
	 * addition to those that they need now. Negative: they do not need all at once.
	 */
	s32 og_left, ic_left;
	bool attached;
	bool sent_last;
	bool full;		/* a send was refused */
	bool waiting;		/* its message may not be let in yet */
	u64 ticket;
};

/* where the next event of an AAL unit is entered */
enum noted {
	NOT_NOTED,
	IN_WHEEL,	/* in the slot of its cycle */
	FAR_AWAY,	/* in far, beyond the wheel */
};

/* fast engine: results of lone messages, and the lone message in flight */
struct flone {
	struct pw_lone known[PW_LONE_ENTRIES];
	struct pw_lone_watch watch;
	struct pw_fabric_times t;	/* of the watched message, once it has ended */
	u64 begin;
	u16 msg;			/* watched message or NONE */
	bool ended;
};

/**
 * struct pw_fabric_engine - how AAL units and network are carried out
 * @aal: engine of the AAL units
 * @aal_ops: callbacks of the AAL units
 * @layout: memory of the engine; with an arena that only counts, nothing is written to it
 * @init: initialize it; the AAL units are initialized already
 * @start_tx: the process of a port sends a message; neither lock of its AAL unit is set
 * @start_rx: the process of a port asks for a complete message
 * @discard: drop a complete message of a port unread
 * @sending: a message is about to be handed over; may be NULL
 * @next: cycle of the next event, NEVER if there is none
 * @run: run up to a cycle or for about max_work steps; @parts: may stop inside a cycle
 * @callbacks: tracing, faults or tapped has changed
 * @tap_begin: the tap was switched; may be NULL
 * @qsize: bytes in queue @q of input unit @ppd
 * @count: cells that input unit @unit (ranks + p: port p) took in and refused
 * @lost: cells that faults dropped and damaged in a stage
 *
 * The shared part calls an engine through this table only, so that it depends on none.
 */
struct pw_fabric_engine {
	const struct pw_aal_engine *aal;
	const struct pw_aal_ops *aal_ops;
	void (*layout)(struct pw_arena *a, struct pw_fabric *f, const struct pw_bmx_cfg *cfg);
	void (*init)(struct pw_fabric *f, const struct pw_bmx_cfg *cfg);
	void (*start_tx)(struct pw_fabric *f, u32 port, struct fmsg *m);
	void (*start_rx)(struct pw_fabric *f, u32 port, struct fmsg *m);
	void (*discard)(struct pw_fabric *f, u32 port, u16 desc);
	void (*sending)(struct pw_fabric *f);
	u64 (*next)(struct pw_fabric *f);
	void (*run)(struct pw_fabric *f, u64 until, u32 max_work, bool parts);
	void (*callbacks)(struct pw_fabric *f);
	void (*tap_begin)(struct pw_fabric *f);
	u32 (*qsize)(struct pw_fabric *f, u32 ppd, u32 q);
	void (*count)(struct pw_fabric *f, u32 unit, u64 *cells, u64 *refused);
	void (*lost)(struct pw_fabric *f, u32 stage, u64 *dropped, u64 *corrupted);
};

/**
 * struct fprocs - several processes at a port
 * @complete: a message is complete at a port; returns it or NULL
 * @next: message that the next process of an idle port asks for, or NULL
 * @granted: controller 8 has found a message for that process
 * @read: that process has read it
 * @sent: message of a cell that a port takes in, or NULL
 * @proc: processes of each port
 * @msg: header words of each message
 *
 * The shared part calls it through this table only: the module has no such processes.
 */
struct fprocs {
	struct fmsg *(*complete)(struct pw_fabric *f, struct pw_aal *u, struct pw_aal_msg *p);
	struct fmsg *(*next)(struct pw_fabric *f, u32 port);
	struct fmsg *(*granted)(struct pw_fabric *f, u32 port);
	void (*read)(struct pw_fabric *f, u32 port, struct fmsg *m);
	struct fmsg *(*sent)(struct pw_fabric *f, u16 src, u16 dst, u16 sqn);
	struct fproc {
		u8 num;
		u8 asks;		/* the one that asks or reads */
		u8 last;		/* the one that was served last */
		u32 hdr[PW_AAL_SERVED][PW_AAL_HDR_WORDS - 1];	/* name and instance */
	} *proc;
	u32 (*msg)[PW_AAL_HDR_WORDS];
};

struct pw_fabric {
	struct pw_fabric_params p;
	const struct pw_fabric_engine *engine;
	const struct pw_fabric_ops *ops;
	void *ctx;
	u64 now;
	u32 ports;
	u32 ranks;		/* input units */
	u32 cap;		/* receive blocks that may be set aside */
	u32 window;
	u64 tickets;
	u32 flushed;		/* ports whose messages have been given up */
	struct pw_bmx_net *net;
	struct pw_bmx_fast *fnet;
	struct pw_bmx_fast_ops fnet_ops;
	struct fport *port;
	struct fmsg plan;	/* of the message that is handed over: too large for the stack */
	struct fmsg *msg;
	u16 msg_free;
	struct fcell *cell;
	u32 cell_free;
	struct ftap *tap;	/* rtl: links into input units and ports */
	u16 *fill;		/* rtl, least queue: bytes in the queues that ports write */
	bool tapped;
	u32 hop_cell;		/* fast: last cell that a PPD accepted, and when */
	u64 hop_at;
	u32 look[MAP_WORDS];	/* ports whose process may have something to do */
	u32 end[MAP_WORDS];	/* fast: processes whose last get is done */
	bool looks, ends;	/* any bit set in look, end; ends: looks, too */
	u32 look_at;		/* word of look in which pw_fabric_look() has stopped */
	bool tracing;
	bool faults;
	u32 nwaiting;		/* ports whose message may not be let in yet */
	u32 nmsgs;		/* messages from pw_fabric_send() to ops->done() */
	u16 last_src;		/* sender of the last one */
	struct flone *lone;	/* rtl: NULL */
	struct fprocs *procs;	/* NULL: one process at a port */
	bool sparse;
	/* sparse: ports that have few free receive blocks */
	bool lows;
	u32 low[MAP_WORDS];
	/* sparse: the piece of memory asked for: send or receive buffer of a port, its blocks */
	bool lack_og;
	u16 lack_port;
	u32 lack_blocks;
	struct pw_aal *grown;	/* copy of its AAL unit, which pw_fabric_fill() gives the piece */
	void *filled;		/* the piece that it has got */
	u32 taken;		/* ports whose memory was taken back */
	/*
	 * Fast engine: AAL units by the cycle of their next event. Those of the next
	 * SLOTS cycles have a bit in the slot of the cycle, the others one in far;
	 * far_next is not later than the first of them.
	 */
	u64 slots;
	u64 *slot;
	u32 words;		/* per slot */
	u32 part;		/* of the cycle that is next to run; 0: the cycle is complete */
	u32 step;		/* rtl: the step of the cycle that the part belongs to */
	u64 busy;		/* rtl: 1 + the cycle that was found not to be idle; 0: none */
	u64 far_next;
	u32 far[MAP_WORDS];
	struct pw_fabric_stats stats;
};

static inline bool pw_fabric_device(const struct pw_fabric *f)
{
	return f->p.flags & PW_FABRIC_F_DEVICE;
}

/* input unit that a port drives */
static inline u32 pw_fabric_entry(const struct pw_fabric *f, u32 port)
{
	return f->p.topo ? f->p.topo->in[port] : port;
}

/* queues of its input unit that a cell with @vpi of a port enters */
static inline u32 pw_fabric_first_queues(const struct pw_fabric *f, u32 port, u32 vpi)
{
	if (f->p.topo)
		return *pw_topo_row(f->p.topo, f->p.topo->in[port], vpi);
	return BIT(vpi % f->p.k);
}

/* stage of an input unit */
static inline u32 pw_fabric_stage_of(const struct pw_fabric *f, u32 unit)
{
	return f->p.topo ? f->p.topo->level[unit] : unit / f->ports;
}

static inline void map_set(u32 *map, u32 i)
{
	map[i / 32] |= 1U << i % 32;
}

static inline void map_clear(u32 *map, u32 i)
{
	map[i / 32] &= ~(1U << i % 32);
}

static inline bool map_get(const u32 *map, u32 i)
{
	return map[i / 32] >> i % 32 & 1;
}

/* the process of a port may have something to do */
static inline void pw_fabric_want_look(struct pw_fabric *f, u32 port)
{
	map_set(f->look, port);
	f->looks = true;
}

void __pw_fabric_trace(struct pw_fabric *f, enum pw_fabric_ev ev, u32 unit, u32 n, u64 cycle,
		       const struct pw_aal_cell *c);

static inline void pw_fabric_trace(struct pw_fabric *f, enum pw_fabric_ev ev, u32 unit, u32 n,
				   u64 cycle, const struct pw_aal_cell *c)
{
	if (unlikely(f->tracing))
		__pw_fabric_trace(f, ev, unit, n, cycle, c);
}

/* complete messages of a port, oldest first */
static inline u16 *pw_fabric_ready_at(struct fport *p, u32 i)
{
	i += p->r_head;
	return &p->ready[i < p->r_cap ? i : i - p->r_cap];
}

/* message with that identifier, NULL if it has ended */
static inline struct fmsg *pw_fabric_find(struct pw_fabric *f, u32 id)
{
	u32 i = id & 0xffff;

	if (i >= f->p.queue * f->ports || !f->msg[i].used || f->msg[i].id != id)
		return NULL;
	return &f->msg[i];
}

/* does the message go to the members of a multicast connection? */
static inline bool pw_fabric_to_conn(const struct fmsg *m)
{
	return pw_cell_is_mc(m->dst);
}

static inline const struct pw_topo_conn *pw_fabric_conn(const struct pw_fabric *f,
							const struct fmsg *m)
{
	return &f->p.topo->conn[m->dst ^ PW_FABRIC_MC];
}

/* to one port only? */
static inline bool pw_fabric_to_one(const struct fmsg *m)
{
	return m->dst < PW_FABRIC_MC;
}

static inline bool pw_fabric_goes_to(const struct pw_fabric *f, const struct fmsg *m, u32 port)
{
	if (unlikely(pw_fabric_to_conn(m)))
		return pw_topo_member(pw_fabric_conn(f, m), port);
	return m->dst == PW_FABRIC_ALL || m->dst == port;
}

/* ports, cells and acknowledgments of a message; an error if the fabric can never carry it */
static inline int pw_fabric_plan(const struct pw_fabric *f, struct fmsg *m, u16 src, u16 dst,
				 int path, u32 len)
{
	u32 own;

	if (src >= f->ports || path >= (int)pw_fabric_paths(&f->p) || path < PW_FABRIC_AUTO)
		return -EINVAL;
	if (unlikely(dst >= f->ports) && dst != PW_FABRIC_ALL) {
		dst ^= PW_FABRIC_MC;
		if (dst >= pw_fabric_conns(&f->p) || f->p.topo->conn[dst].src != src)
			return -EINVAL;
		dst ^= PW_FABRIC_MC;
	}
	if (len > PW_FABRIC_MAX_LEN)
		return -EMSGSIZE;
	m->src = src;
	m->dst = dst;
	m->path = path;
	m->len = len;
	m->cells = pw_cell_count(len);
	m->acks = m->cells;
	m->need = 1;
	if (dst == PW_FABRIC_ALL) {
		m->acks = min(m->cells * f->ports, f->window);
		m->need = f->ports;
	} else if (unlikely(pw_fabric_to_conn(m))) {
		m->need = pw_fabric_conn(f, m)->num;
		m->acks = min(m->cells * m->need, f->window);
	}
	if (m->cells > f->p.og_blocks || m->cells > f->p.ic_blocks)
		return -EMSGSIZE;
	/* the sender needs most if it is one of the receivers */
	own = pw_fabric_goes_to(f, m, src) ? m->cells : 0;
	return pw_fabric_device(f) && m->acks + own > f->cap ? -EMSGSIZE : 0;
}

/* receive blocks that message @m needs at @port */
static inline u32 pw_fabric_demand(const struct pw_fabric *f, const struct fmsg *m, u32 port)
{
	return (pw_fabric_goes_to(f, m, port) ? m->cells : 0) + (port == m->src ? m->acks : 0);
}

/* is a message from @p taken, and does none wait for that? */
static inline bool pw_fabric_has_place(const struct pw_fabric *f, const struct fport *p)
{
	return !p->full && p->q_num < f->p.queue;
}

/* sparse: is there memory for message @m? If not, pw_fabric_message_lacks() says how much lacks */
static inline bool pw_fabric_has_room(const struct pw_fabric *f, const struct fmsg *m)
{
	const struct fport *p = &f->port[m->src];
	s32 n = m->cells;

	return m->dst != m->src && pw_fabric_to_one(m) && pw_fabric_has_place(f, p) &&
	       n <= p->og_left && n <= p->ic_left && n <= f->port[m->dst].ic_left;
}

size_t pw_fabric_message_lacks(struct pw_fabric *f, const struct fmsg *m);

/* neither trace nor fault nor tap has a callback for single cells */
static inline bool pw_fabric_unwatched(const struct pw_fabric *f)
{
	return !f->tracing && !f->faults && !f->tapped;
}

/* the watched message is no longer a lone one: its result is not stored */
static inline void pw_fabric_lone_forget(struct pw_fabric *f)
{
	if (f->lone)
		f->lone->msg = NONE;
}

void pw_fabric_message_header(const struct pw_fabric *f, const struct fmsg *m, u32 *hdr);
void pw_fabric_request(const struct pw_fabric *f, u32 port, const struct fmsg *m, u32 *want);
void pw_fabric_read(struct pw_fabric *f, u32 port);
void pw_fabric_message_bytes(struct pw_fabric *f, const struct fmsg *m, u32 off, u8 *buf, u32 n);
void pw_fabric_end_message(struct pw_fabric *f, struct fmsg *m);
void pw_fabric_arrived(struct pw_fabric *f, struct fmsg *m, u32 port, bool read);
void pw_fabric_unclaimed(struct pw_fabric *f, struct fmsg *m, u32 port, u16 desc);

/* processes that run in one part of a cycle: each looks at all ports and at all that wait */
#define PW_FABRIC_LOOKS	4
u32 pw_fabric_look(struct pw_fabric *f, u32 max);

/* callbacks of the AAL units that both engines use */
void pw_fabric_cell_out(struct pw_fabric *f, struct pw_aal *u, const struct pw_aal_cell *c,
			bool again, u64 at);
void pw_fabric_first_in(struct pw_fabric *f, struct pw_aal *u, u32 id);
void pw_fabric_on_ready(void *ctx, struct pw_aal *u, u32 id);
void pw_fabric_on_bad_cell(void *ctx, struct pw_aal *u);
void pw_fabric_on_acked(void *ctx, struct pw_aal *u, u32 id, u16 sqn, u16 from);
void pw_fabric_on_complete(void *ctx, struct pw_aal *u, u16 desc);
void pw_fabric_on_obsolete(void *ctx, struct pw_aal *u, u16 desc);
void pw_fabric_on_freed(void *ctx, struct pw_aal *u);
void pw_fabric_on_low(void *ctx, struct pw_aal *u);
void pw_fabric_on_released(void *ctx, struct pw_aal *u, u32 id);

extern const struct pw_fabric_engine pw_fabric_rtl;
extern const struct pw_fabric_engine pw_fabric_fast;

#endif /* PW_CORE_FABRIC_PRIV_H */
