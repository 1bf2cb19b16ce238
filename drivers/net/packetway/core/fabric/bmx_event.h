/* SPDX-License-Identifier: GPL-2.0 */
/* What the event-driven networks share, for bmx_fast.c and bmx_topo.c only. */
#ifndef PW_CORE_BMX_EVENT_H
#define PW_CORE_BMX_EVENT_H

#include "bmx_fast.h"

enum src_state {
	IDLE,		/* no cell */
	PENDING,	/* its attempt is in the wheel */
	ASLEEP,		/* blocked: attempts are refused and only counted */
};

#define SLOTS		64	/* cycles of the wheel */
#define SEL_TO_TRY	(PW_BMX_SELECT + PW_BMX_DECIDE)	/* from selection to attempt */
/* from a refused attempt to the next one: selection in the next cycle */
#define RETRY		(1 + SEL_TO_TRY)
/* from an attempt of a port to byte 0 of its next cell: accepted, refused */
#define NEXT_CELL	(PW_BMX_CELL - PW_BMX_DECIDE)
#define NEXT_TRY	(PW_BMX_REFUND - PW_BMX_DECIDE)
/* pw_bmx_fast_wake() looks this far ahead: the attempt, RETRY later, is in the wheel */
#define WAKE_AHEAD	50

/* first set bit of @mask after bit @rr, round robin */
static inline u32 next_lane(u32 mask, u32 rr)
{
	u32 above = mask & ~(BIT(rr + 1) - 1);

	return __ffs64(above ? above : mask);
}

/* the cell at the head of queue @q, of lane @lane of source @x, was accepted downstream */
static inline void cell_sent(struct pw_bmx_fast *f, struct pw_bmx_fsrc *x, struct pw_bmx_fqueue *q,
			     u32 lane, u64 t)
{
	x->sent++;
	x->last_c = f->now - SEL_TO_TRY;
	x->last_t = t;
	x->last_q = lane;
	if (++q->head == f->depth)
		q->head = 0;
	if (!--q->n)
		x->ne &= ~BIT(lane);
}

#endif /* PW_CORE_BMX_EVENT_H */
