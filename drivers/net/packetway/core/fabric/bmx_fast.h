/* SPDX-License-Identifier: GPL-2.0 */
/*
 * BMX network driven by events: same cycles, same queue sizes, same
 * counters as bmx_net, with work per cell and hop instead of per PPD, SPD and cycle.
 *
 * Cells are 32-bit cookies; their bytes stay with the caller. A cell whose byte 0 is on
 * a link in cycle t is finally accepted or refused in cycle t + PW_BMX_DECIDE. That
 * decision, an "attempt", is the only kind of event; bmx_fast.c says why that suffices.
 */
#ifndef PW_CORE_BMX_FAST_H
#define PW_CORE_BMX_FAST_H

#include "pw_os.h"
#include "bmx.h"
#include "bmx_net.h"

#define PW_BMX_NEVER	U64_MAX
#define PW_BMX_HORIZON	63	/* longest time from an offer to its attempt */

/* answer of a port to a cell on its output link */
enum pw_bmx_rx {
	PW_BMX_RX_ACCEPT,
	PW_BMX_RX_REFUSE,	/* suspend; the next attempt is six cycles later */
	/*
	 * suspend all attempts until pw_bmx_fast_wake(); they are counted without
	 * further calls, except that a cell from another input of the last switch may
	 * cause one
	 */
	PW_BMX_RX_BLOCK,
};

#define PW_BMX_CELL_CORRUPT	1	/* the CRC of this copy is wrong */

#define PW_BMX_OFFER_ONCE	1	/* do not repeat a refused cell, call ops->refused */

/**
 * struct pw_bmx_fast_ops - callbacks of the network
 * @rx: cell @cookie had its byte 0 on the output link of @port in cycle @t; called in
 *	cycle @t + PW_BMX_DECIDE, when the port may still refuse. The last byte arrives
 *	in @t + 52. Must be set.
 * @accepted: an offered cell was accepted; its byte 0 was on the link in cycle @t
 *	(later than offered if it had been refused). The next cell may have its
 *	byte 0 on the link in @t + 53. May be NULL.
 * @refused: a cell offered with PW_BMX_OFFER_ONCE was refused; the next one may
 *	start in @t + 5. May be NULL.
 * @dropped: a fault dropped the cell at PPD @ppd; @copies ports do not get it.
 *	May be NULL.
 * @hop: PPD @ppd accepted the cell with byte 0 in cycle @t. May be NULL.
 * @suspended: PPD @ppd (or port @ppd - ranks, 3 * ports) refused; @tries attempts are
 *	reported at once, the last one with byte 0 in cycle @t. May be NULL.
 * @fault: chooses the fault of a cell, see bmx_net.h. May be NULL.
 */
struct pw_bmx_fast_ops {
	enum pw_bmx_rx (*rx)(void *ctx, u32 port, u32 cookie, u64 t, u32 flags);
	void (*accepted)(void *ctx, u32 port, u32 cookie, u64 t);
	void (*refused)(void *ctx, u32 port, u32 cookie, u64 t);
	void (*dropped)(void *ctx, u32 ppd, u32 cookie, u32 copies);
	void (*hop)(void *ctx, u32 ppd, u32 cookie, u64 t);
	void (*suspended)(void *ctx, u32 ppd, u64 tries, u64 t);
	pw_bmx_fault_fn fault;
};

struct pw_bmx_fcell {
	u64 t;			/* cycle of the acceptance: first push */
	u32 cookie;
	u8 out[PW_BMX_STAGES];	/* output per stage or PW_BMX_OUT_ALL */
	u8 flags;
};

#define PW_BMX_OUT_ALL	0xff

/* what a source drives and where it is, and the queues of a PPD; both by number */
struct pw_bmx_fplace {
	u16 wire;		/* PPD that source x drives; its own inverse */
	u16 base;		/* first SPD of the switch that a PPD belongs to */
	u16 lane;		/* place of a PPD or SPD within its switch */
	u16 full;		/* bit q: queue q of that PPD is full */
};

struct pw_bmx_fqueue {
	u8 head;
	u8 n;			/* cells accepted here and not yet downstream */
};

/* source of a link: an input port or an SPD */
struct pw_bmx_fsrc {
	u64 at;			/* pending: next attempt; asleep: next one not yet counted */
	u64 free;		/* idle: earliest cycle of the next selection */
	u64 last_c;		/* selection cycle of the cell taken last */
	u64 last_t;		/* when that cell was accepted into the queue */
	u64 last_fail;		/* cycle of the last refusal */
	u64 sent;
	u64 refused;
	u16 ne;			/* queues that hold a cell */
	u16 q0;			/* its first queue; three stages only */
	u8 rr;			/* queue selected last */
	u8 state;
	u8 last_q;
	u8 offer_flags;
};

/**
 * struct pw_bmx_fast - the network
 * @k: ports of a switch
 * @ports: k * k
 * @depth: cells in a queue
 * @mask: a power of two less 1; a queue has one place more than that, at least @depth
 * @shift: binary logarithm of these places
 * @words: 64-bit words for a bit per source
 * @now: last cycle done
 * @events: attempts carried out since reset
 * @ops: callbacks
 * @ctx: their first argument
 * @slots: bit i: wheel slot i is not empty
 * @wheel: a bit for each source with an attempt: source x in word (x / 64) * 64 + slot
 * @src: sources of stage s from src[s * ports]; stage 3 sends to the ports
 * @queue: queue of lane p of SPD x: queue[(x - ports) * k + p]
 * @cell: the places of each queue
 * @offer: cell offered at an input port
 * @place: by number of a source or PPD
 * @topo: topology; NULL: three stages. With one, sources and what belongs to them are numbered
 *	as bmx_topo.c explains.
 * @src_in: source that drives an input of a switch (topology only)
 * @src_out: source that is an output of a switch (topology only)
 * @dropped: cells dropped by faults, per stage
 * @corrupted: cells damaged by faults, per stage
 */
struct pw_bmx_fast {
	u32 k;
	u32 ports;
	u32 depth;
	u32 mask;
	u32 shift;
	u32 words;
	u64 now;
	u64 events;
	const struct pw_bmx_fast_ops *ops;
	void *ctx;
	u64 slots;
	u64 *wheel;
	struct pw_bmx_fsrc *src;
	struct pw_bmx_fqueue *queue;
	struct pw_bmx_fcell *cell;
	struct pw_bmx_fcell *offer;
	struct pw_bmx_fplace *place;
	const struct pw_topo *topo;
	u16 *src_in;
	u16 *src_out;
	u64 dropped[PW_BMX_STAGES_MAX], corrupted[PW_BMX_STAGES_MAX];
};

size_t pw_bmx_fast_size(const struct pw_bmx_cfg *cfg);
struct pw_bmx_fast *pw_bmx_fast_init(void *mem, const struct pw_bmx_cfg *cfg,
				     const struct pw_bmx_fast_ops *ops, void *ctx);
int pw_bmx_fast_offer(struct pw_bmx_fast *f, u32 port, u64 t, u32 vpi, u32 cookie, u32 flags);
int pw_bmx_fast_wake(struct pw_bmx_fast *f, u32 port, u64 cycle);
u64 pw_bmx_fast_next(const struct pw_bmx_fast *f);
u32 pw_bmx_fast_attempts(struct pw_bmx_fast *f, u64 cycle);
u32 pw_bmx_fast_cycle(struct pw_bmx_fast *f, u64 cycle);
void pw_bmx_fast_run_until(struct pw_bmx_fast *f, u64 cycle);
u32 pw_bmx_fast_qsize(struct pw_bmx_fast *f, u32 ppd, u32 q);
void pw_bmx_fast_count(struct pw_bmx_fast *f, u32 rank, u64 *cells, u64 *refused);

/* bmx_tools.c: not in the module */
u32 pw_bmx_fast_run(struct pw_bmx_fast *f, u64 cycle, u32 budget);

#endif /* PW_CORE_BMX_FAST_H */
