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

#define NET_SLOTS	64U	/* cycles of the wheel; bits of its words, too */
#define SEL_TO_TRY	(PW_BMX_SELECT + PW_BMX_DECIDE)	/* from selection to attempt */
/* from a refused attempt to the next one: selection in the next cycle */
#define RETRY		(1 + SEL_TO_TRY)
/* from an attempt of a port to byte 0 of its next cell: accepted, refused */
#define NEXT_CELL	(PW_BMX_CELL - PW_BMX_DECIDE)
#define NEXT_TRY	(PW_BMX_REFUND - PW_BMX_DECIDE)
/* pw_bmx_fast_wake() looks this far ahead: the attempt, RETRY later, is in the wheel */
#define WAKE_AHEAD	50

/* place of the cell that is @i after the head of queue @qi */
static inline struct pw_bmx_fcell *cell_at(const struct pw_bmx_fast *f, u32 qi, u32 i)
{
	return &f->cell[((size_t)qi << f->shift) + ((f->queue[qi].head + i) & f->mask)];
}

/* word of the wheel with the bit of source @x in the slot of cycle @at */
static inline u64 *wheel_word(const struct pw_bmx_fast *f, u32 x, u64 at)
{
	return &f->wheel[(x & ~(NET_SLOTS - 1)) | (at & (NET_SLOTS - 1))];
}

/* the next attempt of source @x, which has none, is in cycle @at */
static inline void schedule(struct pw_bmx_fast *f, struct pw_bmx_fsrc *s, u32 x, u64 at)
{
	s->at = at;
	s->state = PENDING;
	*wheel_word(f, x, at) |= 1ULL << x % 64;
	f->slots |= 1ULL << at % NET_SLOTS;
}

/* first set bit of @mask after bit @rr, round robin */
static inline u32 next_lane(u32 mask, u32 rr)
{
	u32 above = mask & ~(BIT(rr + 1) - 1);

	return __ffs64(above ? above : mask);
}

/*
 * The cell at the head of queue @q, of lane @lane of source @x, which entered it in cycle @t, was
 * accepted downstream in cycle @now.
 */
static inline void cell_sent(struct pw_bmx_fast *f, struct pw_bmx_fsrc *x, struct pw_bmx_fqueue *q,
			     u32 lane, u64 t, u64 now)
{
	x->sent++;
	x->last_c = now - SEL_TO_TRY;
	x->last_t = t;
	x->last_q = lane;
	q->head = (q->head + 1) & f->mask;
	if (!--q->n)
		x->ne ^= 1U << lane;
}

#endif /* PW_CORE_BMX_EVENT_H */
