/* SPDX-License-Identifier: GPL-2.0 */
/* Whole BMX fabric: its state. Not for users of the fabric: see fabric.h. */
#ifndef PW_CORE_FABRIC_PRIV_H
#define PW_CORE_FABRIC_PRIV_H

#include "fabric.h"
#include "lone.h"

#define NONE PW_AAL_NONE
#define NEVER PW_FABRIC_NEVER
#define MAP_WORDS 8	/* bits for 256 ports */
#define SLOTS 64	/* cycles that the wheel of units covers */

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
	s8 route;
	bool used, acked, ended;
	u32 got[MAP_WORDS];	/* read by the process of that port */
	u32 done[MAP_WORDS];	/* handed to the owner */
};

/* a cell in the network of the fast engine */
struct fcell {
	struct pw_aal_cell c;
	u32 next;
	u16 copies;
	u16 vpi;		/* at the sender */
	u8 damage;		/* bit s: PPD of stage s flipped a bit */
};

/* a tapped link of the rtl engine */
struct ftap {
	u64 start;
	u8 n;			/* bytes of the current cell, or TAP_WAIT */
	bool lost;
	u8 cell[PW_BMX_CELL];
};

#define TAP_WAIT	0xff	/* ignore bytes until the link is idle */
#define TAPS		(PW_BMX_STAGES + 1)	/* links per port: into each stage, to the port */

struct fport {
	struct pw_aal *u;
	struct pw_aal_host host;
	u16 *ready;		/* complete messages, oldest first */
	u16 r_head, r_num, r_cap;
	u16 q_head, q_tail;	/* messages of this sender */
	u16 q_wait;		/* first one not started */
	u16 q_num;
	u16 tx, rx;		/* message being packed, read */
	u32 reserved;
	bool attached;
	bool sent_last;
	bool full;		/* a send was refused */
	bool waiting;		/* its message may not be let in yet */
	u64 ticket;
	/* fast engine: next event of the unit, and enum noted */
	u8 noted;
	u64 next;
};

/* where the next event of a unit is entered */
enum noted {
	NOT_NOTED,
	IN_WHEEL,	/* in the slot of its cycle */
	FAR_AWAY,	/* in far, beyond the wheel */
};

/* fast engine: results of lone messages, and the lone message under way */
struct flone {
	struct pw_lone known[PW_LONE_ENTRIES];
	struct pw_lone_watch watch;
	struct pw_fabric_times t;	/* of the watched message, once it has ended */
	u64 begin;
	u16 msg;			/* watched message or NONE */
	bool ended;
};

struct pw_fabric {
	struct pw_fabric_params p;
	const struct pw_fabric_ops *ops;
	void *ctx;
	u64 now;
	u32 ports;
	u32 cap;		/* receive blocks that may be set aside */
	u32 window;
	u64 tickets;
	u32 flushed;		/* ports whose messages have been given up */
	struct pw_bmx_net *net;
	struct pw_bmx_fast *fnet;
	struct pw_bmx_fast_ops fnet_ops;
	struct fport *port;
	struct fmsg *msg;
	u16 msg_free;
	struct fcell *cell;
	u32 cell_free;
	struct ftap *tap;	/* rtl: 4 * ports */
	bool tapped;
	u32 hop_cell;		/* fast: last cell that a PPD accepted, and when */
	u64 hop_at;
	u32 look[MAP_WORDS];	/* ports whose process may have something to do */
	u32 end[MAP_WORDS];	/* fast: processes whose last get is done */
	bool looks, ends;	/* any bit set in look, end */
	bool tracing;
	bool faults;
	u32 nwaiting;		/* ports whose message may not be let in yet */
	u32 nmsgs;		/* messages from pw_fabric_send() to ops->done() */
	u16 last_src;		/* sender of the last one */
	struct flone *lone;
	/*
	 * Fast engine: units by the cycle of their next event. Those of the next
	 * SLOTS cycles have a bit in the slot of the cycle, the others one in far;
	 * far_next is not later than the first of them.
	 */
	u64 slots;
	u64 *slot;
	u32 words;		/* per slot */
	u32 part;		/* of the cycle that is next to run; 0: the cycle is complete */
	u64 far_next;
	u32 far[MAP_WORDS];
	struct pw_fabric_stats stats;
};

#endif /* PW_CORE_FABRIC_PRIV_H */
