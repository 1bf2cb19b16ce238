// SPDX-License-Identifier: GPL-2.0
/*
 * AAL unit, event-driven engine.
 *
 * The same machine as pw_aal_step(), cycle for cycle. What takes a known number of cycles
 * and is private to a controller is computed at once (a run of puts, a search through a
 * list, C7_HOLD). Controllers that walk in circles while they wait (5 over the send
 * buffer, 7 over the receive buffer, 8 and 10 over the messages) are evaluated lazily:
 * cN_predict() finds the cycle of the next event if nothing else changes. Before
 * something changes that the controller looks at, cN_sync() brings its registers forward
 * to that cycle; afterwards cN_predict() runs again.
 *
 * Order within a cycle: 5, 3, 2, 1, 10, 8, 7, 6, 0. Before a controller changes something
 * in cycle x, those that run earlier are brought forward to the end of x, those that run
 * later to the end of x - 1.
 */
#include "aal.h"
#include "aal_ctl.h"

#define NEVER PW_AAL_NEVER
#define C5_FEW	4	/* blocks that are passed one by one: faster than a count of bits */

/* what controller 5 does between events */
enum c5_mode {
	C5_MODE_STAY,	/* waits in C5_LOOK */
	C5_MODE_WALK,	/* passes blocks: C5_LOOK, C5_PASS in turn */
	C5_MODE_BUSY,	/* in the state st[5] until cycle wake[5] */
};

/* how a walk of controller 5 ends in cycle c5hit */
enum c5_then {
	C5_THEN_LOOK,	/* c5_choose() decides in that cycle */
	C5_THEN_RELEASE,	/* C5_RELEASE in the next cycle */
	C5_THEN_STAY,	/* waits at that block */
};

/* what controller 7 does between events */
enum c7_mode {
	C7_MODE_STAY,	/* waits in C7_LOOK: no block to examine or release */
	C7_MODE_WALK,	/* passes blocks in messages and kept blocks */
	C7_MODE_SEARCH,	/* looks for a send block: C7_COMPARE, C7_SEARCH_NEXT in turn */
	C7_MODE_BUSY,	/* in the state st[7] until cycle wake[7] */
};

/* cycles of a put or get of four bytes, with what the process takes before it */
static u32 word_time(const struct pw_aal *u)
{
	return CYC_WORD + u->cfg.gap_word;
}

/* cycles of the commands that put or get @n bytes, four at a time */
static u64 word_cycles(const struct pw_aal *u, u32 n)
{
	u32 r = n % 4;

	return word_time(u) * (u64)(n / 4) +
	       (r ? u->cfg.gap_word + CYC_COMMAND + CYC_BYTE * r : 0);
}

/*
 * Controller @ctl, 1, 2, 8 or 10, runs next in cycle @at. Those have few events: the first one of
 * them is kept, so that an event of another controller need not ask all four.
 */
static void wake_rare(struct pw_aal *u, u32 ctl, u64 at)
{
	u->wake[ctl] = at;
	u->rare = min(min(u->wake[1], u->wake[2]), min(u->wake[8], u->wake[10]));
}

/* ---- order of the busy lists ---- */

static u64 *seat_word(const struct pw_aal_seats *s, u64 *map, u32 seat)
{
	return &map[(seat & (s->size - 1)) / 64];
}

static void seat_set(const struct pw_aal_seats *s, u64 *map, u32 seat)
{
	*seat_word(s, map, seat) |= BIT_ULL(seat % 64);
}

static void seat_clear(const struct pw_aal_seats *s, u64 *map, u32 seat)
{
	*seat_word(s, map, seat) &= ~BIT_ULL(seat % 64);
}

/* bits of @map from @from to the end of its word, at most to @to; returns their number */
static u32 seat_part(const struct pw_aal_seats *s, u64 *map, u32 from, u32 to, u64 *bits)
{
	u32 len = min_t(u32, 64 - from % 64, to - from);

	*bits = *seat_word(s, map, from) >> from % 64;
	if (len < 64)
		*bits &= BIT_ULL(len) - 1;
	return len;
}

static noinline u32 seat_count_far(const struct pw_aal_seats *s, u32 from, u32 to)
{
	u32 n = 0;
	u64 bits;

	while (from != to) {
		from += seat_part(s, s->busy, from, to, &bits);
		n += hweight64(bits);
	}
	return n;
}

/* number of blocks with seats from @from on, before @to */
static inline u32 seat_count(const struct pw_aal_seats *s, u32 from, u32 to)
{
	u64 bits;

	if (from == to)
		return 0;
	if (unlikely((from ^ (to - 1)) >= 64))
		return seat_count_far(s, from, to);
	bits = *seat_word(s, s->busy, from) >> from % 64;
	return hweight64(bits & (~0ULL >> (64 - (to - from))));
}

static noinline u32 seat_hot_far(const struct pw_aal_seats *s, u32 from, u32 to)
{
	u64 bits;
	u32 len;

	while (from != to) {
		len = seat_part(s, s->hot, from, to, &bits);
		if (bits)
			return from + __ffs64(bits);
		from += len;
	}
	return to;
}

/* first hot seat from @from on, or @to */
static inline u32 seat_hot(const struct pw_aal_seats *s, u32 from, u32 to)
{
	u64 bits;

	if (from == to)
		return to;
	bits = *seat_word(s, s->hot, from) >> from % 64;
	if (likely(bits))
		return min(from + (u32)__ffs64(bits), to);
	return seat_hot_far(s, from, to);
}

static u16 seat_block(const struct pw_aal_seats *s, u32 seat)
{
	return s->blk[seat & (s->size - 1)];
}

/* the block @n blocks after that of seat @from; there is one */
static u16 seat_skip(const struct pw_aal_seats *s, u32 from, u32 n)
{
	u32 len, w;
	u64 bits;

	for (;;) {
		len = seat_part(s, s->busy, from, s->next, &bits);
		w = hweight64(bits);
		if (n < w)
			break;
		n -= w;
		from += len;
	}
	while (n--)
		bits &= bits - 1;
	return seat_block(s, from + __ffs64(bits));
}

/* append block @b; returns its seat */
static u32 seat_give(struct pw_aal_seats *s, u16 b, bool hot)
{
	u32 seat = s->next++;

	s->blk[seat & (s->size - 1)] = b;
	seat_set(s, s->busy, seat);
	if (hot)
		seat_set(s, s->hot, seat);
	return seat;
}

static void seat_leave(const struct pw_aal_seats *s, u32 seat)
{
	seat_clear(s, s->busy, seat);
	seat_clear(s, s->hot, seat);
}

/* no seat left because of gaps, @first being the first one in use: remove all seats */
static bool seats_full(struct pw_aal_seats *s, u32 first)
{
	if (s->next - first < s->size)
		return false;
	memset(s->busy, 0, s->size / 8);
	memset(s->hot, 0, s->size / 8);
	s->next = 0;
	return true;
}

/* a cell to several ports that waits for one with a lower number? */
static bool og_behind(const struct pw_aal *u, const struct pw_aal_og *p)
{
	return !p->ready && p->comtype != PW_CELL_COM_ONE && !p->sent && u->cfg.window &&
	       p->sqn != pw_aal_next_sqn(u, p);
}

static void og_seat(struct pw_aal *u, u16 b)
{
	struct pw_aal_og *p = &u->og[b];

	p->seat = seat_give(&u->ogs, b, p->tofr || (p->ready <= 0 && !og_behind(u, p)));
}

/* block oglb was appended to the busy list of send blocks */
static void og_seat_new(struct pw_aal *u)
{
	u16 b;

	if (u->ogbblknum > 1 && seats_full(&u->ogs, u->og[u->ogfb].seat))
		for (b = u->ogfb; b != u->oglb; b = u->og[b].next)
			og_seat(u, b);
	og_seat(u, u->oglb);
}

static void ic_seat(struct pw_aal *u, u16 b)
{
	struct pw_aal_ic *p = &u->ic[b];

	p->seat = seat_give(&u->ics, b, p->tofr || !p->inmsg);
}

/* block iclb was appended to the busy list of receive blocks */
static void ic_seat_new(struct pw_aal *u)
{
	u16 b;

	if (u->icbblknum > 1 && seats_full(&u->ics, u->ic[u->icfb].seat))
		for (b = u->icfb; b != u->iclb; b = u->ic[b].next)
			ic_seat(u, b);
	ic_seat(u, u->iclb);
}

static void ic_leave(struct pw_aal *u, u16 b)
{
	seat_leave(&u->ics, u->ic[b].seat);
	pw_aal_ic_release(u, b);
}

/* ---- send blocks by number ---- */

static u32 hash_of(const struct pw_aal *u, u16 sqn, u16 dst)
{
	return (sqn + (u32)dst * 97) & (u->hashes - 1);
}

static void hash_add(struct pw_aal *u, u16 b)
{
	struct pw_aal_og *p = &u->og[b];
	u16 *head = &u->hash[hash_of(u, p->sqn, p->dst)];

	p->same = *head;
	*head = b;
	u->og_all += p->comtype != PW_CELL_COM_ONE;
}

static void hash_del(struct pw_aal *u, u16 b)
{
	struct pw_aal_og *p = &u->og[b];
	u16 *at = &u->hash[hash_of(u, p->sqn, p->dst)];

	while (*at != b)
		at = &u->og[*at].same;
	*at = p->same;
	u->og_all -= p->comtype != PW_CELL_COM_ONE;
}

/* find the send block acknowledged by the cell that controller 7 is processing */
static u16 hash_match(const struct pw_aal *u)
{
	u16 dst = likely(u->flag == PW_CELL_COM_ONE) ? u->srcpn : pw_aal_ack_dst(u);
	u16 b = u->hash[hash_of(u, u->sqn, dst)];

	/* as pw_aal_match(): all blocks with a hash have a header */
	while (b != PW_AAL_NONE && (u->og[b].sqn != u->sqn || u->og[b].dst != dst))
		b = u->og[b].same;
	return b;
}

/* cell @sent to several ports was sent: controller 5 may stop at the one that follows it now */
static void og_next_all(struct pw_aal *u, const struct pw_aal_og *sent)
{
	u16 next = pw_aal_next_sqn(u, sent), b = u->hash[hash_of(u, next, sent->dst)];
	const struct pw_aal_og *p;

	for (; b != PW_AAL_NONE; b = p->same) {
		p = &u->og[b];
		if (p->dst == sent->dst && p->sqn == next && p->ready <= 0)
			seat_set(&u->ogs, u->ogs.hot, p->seat);
	}
}

/* ---- controller 5 ---- */

/* move cursnd by @n blocks, less than there are; short distances without counting bits */
static void c5_advance(struct pw_aal *u, u32 n)
{
	u32 head = u->og[u->ogfb].seat, at = u->og[u->cursnd].seat, tail;

	if (n < C5_FEW) {
		while (n--)
			u->cursnd = pw_aal_og_next(u, u->cursnd);
		return;
	}
	tail = seat_count(&u->ogs, at, u->ogs.next);
	if (n < tail)
		u->cursnd = seat_skip(&u->ogs, at, n);
	else
		u->cursnd = seat_skip(&u->ogs, head, n - tail);
}

static noinline void c5_walk_sync(struct pw_aal *u, u64 last)
{
	u32 n = u->ogbblknum, moves;
	bool there;
	u64 left;

	there = u->c5then != C5_THEN_LOOK && last >= u->c5hit;
	if (there)
		last = u->c5hit - 1;
	/* C5_PASS is the second half of the visit of a block */
	left = last + 1 - u->c5at + (u->st[5] == C5_PASS);
	u->c5at = last + 1;
	u->st[5] = left % CYC_C5_PASS ? C5_PASS : C5_LOOK;
	if (left >= CYC_C5_PASS && n) {
		left /= CYC_C5_PASS;
		moves = left;
		if (left >= n)
			div_u64_rem(left, n, &moves);
		c5_advance(u, moves);
	}
	if (!there)
		return;
	if (u->c5then == C5_THEN_STAY) {
		u->c5mode = C5_MODE_STAY;
		u->wake[5] = NEVER;
	} else {
		u->c5mode = C5_MODE_BUSY;
		u->st[5] = C5_RELEASE;
		u->wake[5] = u->c5hit + 1;
	}
}

/* bring the walk of controller 5 forward: registers as of the end of cycle @last */
static inline void c5_sync(struct pw_aal *u, u64 last)
{
	if (u->c5mode == C5_MODE_WALK && u->c5at <= last)
		c5_walk_sync(u, last);
}

/* does C5_LOOK end the walk at block @b in cycle @t? */
static bool c5_hit(const struct pw_aal *u, const struct pw_aal_og *b, u64 t)
{
	if (b->tofr)
		return true;
	if (b->ready < 0)
		return !u->dev.nomem;
	if (b->ready > 0)
		return t > b->due;
	return pw_aal_sendable(u, b);
}

/* the walk ends at block @b, where C5_LOOK runs in cycle @t */
static void c5_plan(struct pw_aal *u, u16 blk, u64 t)
{
	const struct pw_aal_og *b = &u->og[blk];

	u->c5hit = t;
	u->c5blk = blk;
	u->wake[5] = t;
	if (b->tofr) {
		u->c5then = C5_THEN_RELEASE;
		u->wake[5] = t + 1;
	} else if (b->ready < 0) {
		u->c5then = C5_THEN_STAY;
		u->wake[5] = NEVER;
	}
}

/* timers are about to end: examine all blocks, from @b in cycle @t on */
static void c5_predict_timers(struct pw_aal *u, u16 b, u64 t)
{
	u32 n = u->ogbblknum, turn = CYC_C5_PASS * n, i, rem;
	u64 best = NEVER, due = NEVER, v;
	const struct pw_aal_og *p;
	u16 hit = b;

	for (i = 0; i < n; i++, t += CYC_C5_PASS, b = pw_aal_og_next(u, b)) {
		p = &u->og[b];
		if (p->ready > 0)
			due = min(due, p->due);
		if (t >= best)
			continue;
		if (c5_hit(u, p, t)) {
			best = t;
			hit = b;
			continue;
		}
		if (p->ready <= 0 || p->due + 1 >= best)
			continue;
		/* first visit after the timer has ended */
		v = p->due + 1 - t;
		div_u64_rem(v, turn, &rem);
		v = t + v + (rem ? turn - rem : 0);
		if (v < best) {
			best = v;
			hit = b;
		}
	}
	u->due_min = due;
	if (best == NEVER)
		u->wake[5] = NEVER;
	else
		c5_plan(u, hit, best);
}

/* no timer ends soon: examine the blocks where the walk may end, from @b in cycle @t on */
static noinline void c5_predict_seats(struct pw_aal *u, u16 b, u64 t)
{
	u32 head = u->og[u->ogfb].seat, from = u->og[b].seat, tail = u->ogs.next, dist = 0;
	u32 at = from, x = seat_hot(&u->ogs, at, tail);
	u64 v;

	/* to the end of the list, then from its beginning */
	for (;;) {
		if (x == tail) {
			if (tail != u->ogs.next || from == head)
				break;
			dist += seat_count(&u->ogs, at, tail);
			tail = from;
			at = head;
			x = seat_hot(&u->ogs, at, tail);
			continue;
		}
		dist += seat_count(&u->ogs, at, x);
		at = x;
		b = seat_block(&u->ogs, x);
		v = t + CYC_C5_PASS * (u64)dist;
		if (v > u->due_min)
			break;
		if (c5_hit(u, &u->og[b], v)) {
			c5_plan(u, b, v);
			return;
		}
		x = seat_hot(&u->ogs, x + 1, tail);
	}
	/* nothing until the first timer ends; then c5_predict_timers() */
	u->wake[5] = u->due_min == NEVER ? NEVER : u->due_min + 1;
}

/* cycle of the event that ends the walk of controller 5 */
static void c5_predict(struct pw_aal *u)
{
	u64 t = u->c5at;
	u16 b = u->cursnd;

	if (u->c5mode == C5_MODE_BUSY)
		return;
	u->c5mode = C5_MODE_WALK;
	u->c5then = C5_THEN_LOOK;
	u->c5hit = NEVER;
	if (u->st[5] == C5_PASS) {
		b = pw_aal_og_next(u, b);
		t++;
	}
	if (u->sync75 || !u->ogmsgnum) {
		u->wake[5] = t;
		return;
	}
	if (u->due_min < t)
		c5_predict_timers(u, b, t);
	else if (c5_hit(u, &u->og[b], t))
		c5_plan(u, b, t);
	else
		c5_predict_seats(u, b, t);
}

static void c5_choose(struct pw_aal *u);

/*
 * If controller 5 takes a cell in the next cycle and nothing can change that, do it now
 * and save an event. Only controller 7 could change it, if it has yet to run in this
 * cycle.
 */
static void c5_early(struct pw_aal *u)
{
	const struct pw_aal_og *b = &u->og[u->cursnd];

	if (u->wake[5] != u->now + 1 || u->c5mode != C5_MODE_WALK ||
	    u->c5then != C5_THEN_LOOK || u->st[5] != C5_LOOK)
		return;
	if (!u->sync75 && (u->wake[7] == u->now || !u->ogmsgnum || b->ready < 0 || b->tofr ||
			   !c5_hit(u, b, u->now + 1)))
		return;
	u->now++;
	c5_choose(u);
	u->now--;
}

/* something that controller 5 looks at changed in this cycle after controller 5 had run */
static void c5_signal(struct pw_aal *u)
{
	if (u->c5mode == C5_MODE_BUSY)
		return;
	c5_sync(u, u->now);
	if (u->c5mode == C5_MODE_BUSY)
		return;
	if (u->c5mode == C5_MODE_STAY) {
		u->c5at = u->now + 1;
		u->st[5] = C5_LOOK;
	}
	c5_predict(u);
	c5_early(u);
}

/* C5_LOOK in the next cycle */
static void c5_resume(struct pw_aal *u)
{
	u->st[5] = C5_LOOK;
	u->c5at = u->now + 1;
	if (!u->sync75 && !u->ogmsgnum) {
		u->c5mode = C5_MODE_STAY;
		u->wake[5] = NEVER;
		return;
	}
	u->c5mode = C5_MODE_WALK;
	c5_predict(u);
	c5_early(u);
}

static void c7_release_og(struct pw_aal *u, u16 b);

/* offer a cell to the network; pw_aal_fast_accepted() continues */
static void c5_offer(struct pw_aal *u, const struct pw_aal_cell *c, u16 vpi, u8 st, bool again)
{
	u->c5mode = C5_MODE_BUSY;
	u->st[5] = st;
	u->wake[5] = NEVER;
	u->ackend = NEVER;
	if (u->ops->cell_out)
		u->ops->cell_out(u->ctx, u, c, again);
	u->ops->tx(u->ctx, u, c, vpi, u->now + CYC_C5_LINK);
}

/* C5_LOOK in this cycle */
static void c5_choose(struct pw_aal *u)
{
	struct pw_aal_og *b = &u->og[u->cursnd];
	struct pw_aal_cell c;

	if (u->sync75) {
		u->sync75 = false;
		c5_offer(u, &u->ackcell, u->ackvpi, C5_ACK_SEND, false);
		return;
	}
	if (!u->ogmsgnum || (b->ready < 0 && !b->tofr && !u->dev.nomem)) {
		u->c5mode = C5_MODE_STAY;
		return;
	}
	if (b->tofr) {
		u->c5mode = C5_MODE_BUSY;
		u->st[5] = C5_RELEASE;
		u->wake[5] = u->now + 1;
	} else if (b->ready >= 0 && pw_aal_sendable(u, b)) {
		pw_aal_og_cell(u, u->cursnd, &c);
		c5_offer(u, &c, b->vpi, C5_CELL_SEND, b->sent);
	} else {
		u->st[5] = C5_PASS;
		u->c5at = u->now + 1;
		c5_predict(u);
	}
}

/* C5_CELL_END or C5_CELL_END_TAIL */
static void c5_sent(struct pw_aal *u)
{
	u16 b = u->cursnd;

	u->cursnd = pw_aal_og_next(u, b);
	pw_aal_sent(u, b);
	u->due_min = min(u->due_min, u->og[b].due);
	if (!u->og[b].tofr)
		seat_clear(&u->ogs, u->ogs.hot, u->og[b].seat);
	if (u->og[b].comtype != PW_CELL_COM_ONE)
		og_next_all(u, &u->og[b]);
	c5_resume(u);
}

/* the walk of controller 5 ends in this cycle or the one before; false: not at a known block */
static bool c5_arrive(struct pw_aal *u)
{
	if (u->c5then == C5_THEN_RELEASE) {
		u->c5mode = C5_MODE_BUSY;
		u->st[5] = C5_RELEASE;
	} else if (u->c5hit == u->now) {
		u->st[5] = C5_LOOK;
	} else {
		return false;
	}
	u->cursnd = u->c5blk;
	return true;
}

static void run5(struct pw_aal *u)
{
	if (u->c5mode == C5_MODE_WALK && !c5_arrive(u))
		c5_sync(u, u->now - 1);
	u->wake[5] = NEVER;
	if (u->c5mode != C5_MODE_BUSY) {
		u->c5at = u->now;
		if (u->st[5] == C5_PASS)
			c5_predict(u);
		else
			c5_choose(u);
		return;
	}
	switch (u->st[5]) {
	case C5_ACK_SEND:
		u->stats.acks_out++;
		c5_resume(u);
		return;
	case C5_CELL_SEND:
		c5_sent(u);
		return;
	default:
		c7_release_og(u, u->cursnd);
		u->wake[0] = u->dev.nomem ? u->now : u->wake[0];
		c5_resume(u);
		return;
	}
}

/**
 * pw_aal_fast_accepted() - the network has accepted the offered cell
 * @u: AAL unit
 * @t: cycle with byte 0 on the link
 *
 * Return: cycle of the first event that follows from it.
 */
u64 pw_aal_fast_accepted(struct pw_aal *u, u64 t)
{
	/* controller 7, which runs after 5, may hand over the next one in this cycle */
	u->ackend = t + CYC_C5_LAST;
	u->wake[5] = t + CYC_C5_END;
	if (!u->c7hold || u->st[5] != C5_ACK_SEND)
		return u->wake[5];
	u->wake[7] = u->ackend;
	return u->ackend;
}

/* ---- controllers 1 to 4 ---- */

/*
 * Controller 3 serves requests in the order in which it sees them. C3_LOOK runs from cycle
 * c3free on, sees a request one cycle after it was made and grants it in the cycle after
 * that. Two requests seen at once cost a cycle more; controller 7 is served first.
 * Requests are known in advance, so the grants are computed. The path counter advances
 * in the order of the grants.
 */
static __always_inline void c3_grants(struct pw_aal *u)
{
	u64 see2 = max(u->ask2 + CYC_SEE, u->c3free), see7 = max(u->ask7 + CYC_SEE, u->c3free);

	if (u->ask7 == NEVER) {
		u->grant2 = see2 + CYC_GRANT;
	} else if (u->ask2 == NEVER) {
		u->grant7 = see7 + CYC_GRANT;
	} else if (see2 < see7) {
		u->grant2 = see2 + CYC_GRANT;
		u->grant7 = max(see7, u->grant2 + CYC_AGAIN) + CYC_GRANT;
	} else if (see7 < see2) {
		u->grant7 = see7 + CYC_GRANT;
		u->grant2 = max(see2, u->grant7 + CYC_AGAIN) + CYC_GRANT;
	} else {
		u->grant7 = see7 + CYC_GRANT_BOTH;
		u->grant2 = u->grant7 + CYC_AGAIN + CYC_GRANT;
	}
}

/*
 * With PW_AAL_ROUTE_LEAST the path depends on queues of the network. Then it is chosen in an
 * event of its own in the cycle of the grant, and waits in vp4 or vp7.
 */
static noinline void c3_plan_least(struct pw_aal *u)
{
	if (u->ask2 != NEVER)
		wake_rare(u, 2, u->grant2 + (u->vp4i ? CYC_GRANT_WRITE : 0));
	if (u->ask7 != NEVER)
		u->wake[7] = u->grant7 + (u->vp7i ? CYC_GRANT_HAND : 0);
}

static void c3_plan(struct pw_aal *u)
{
	c3_grants(u);
	if (unlikely(u->least3)) {
		c3_plan_least(u);
		return;
	}
	if (u->ask2 != NEVER)
		wake_rare(u, 2, u->grant2 + CYC_GRANT_WRITE);
	if (u->ask7 != NEVER)
		u->wake[7] = u->grant7 + CYC_GRANT_HAND;
}

/* least queue: C3_DATA in this cycle? */
static bool c3_least2(struct pw_aal *u)
{
	if (u->vp4i) {
		u->vp4i = false;
		return false;
	}
	u->vp4 = pw_aal_path(u, false);
	u->vp4i = true;
	c3_plan_least(u);
	return true;
}

/* least queue: C3_ACK in this cycle? */
static bool c3_least7(struct pw_aal *u)
{
	if (u->vp7i || u->ask7 == NEVER)
		return false;
	u->vp7 = pw_aal_path(u, true);
	u->vp7i = true;
	c3_plan_least(u);
	return true;
}

/* the request of controller 7 was granted */
static void c3_use7(struct pw_aal *u)
{
	u->ackbldvpi = likely(!u->least3) ? pw_aal_path(u, true) : u->vp7;
	u->vp7i = false;
	u->c3free = u->grant7 + CYC_AGAIN;
	u->ask7 = NEVER;
}

/* C2_WRITE: the headers of a cell are complete */
static void run2(struct pw_aal *u)
{
	struct pw_aal_og *p = &u->og[u->c2blk];

	wake_rare(u, 2, NEVER);
	if (unlikely(u->least3) && c3_least2(u))
		return;
	/* an earlier grant of controller 7 counts first; its event may still be pending */
	if (u->ask7 != NEVER && u->grant7 < u->grant2)
		c3_use7(u);
	p->vpi = likely(!u->least3) ? pw_aal_path(u, false) : u->vp4;
	u->c3free = u->grant2 + CYC_AGAIN;
	p->ready = 0;
	if (og_behind(u, p))
		seat_clear(&u->ogs, u->ogs.hot, p->seat);
	if (u->c2blk != u->oglb) {
		u->c2blk = p->next;
		u->ask2 = u->now + 1;
		c3_plan(u);
		c5_signal(u);
		return;
	}
	u->ask2 = NEVER;
	u->ogmsgnum++;
	u->stats.msgs_out++;
	u->dev.wlcked = false;
	c5_signal(u);
	if (u->ops->ready)
		u->ops->ready(u->ctx, u, u->txm[p->msg].id);
}

static void c7_bring(struct pw_aal *u, u64 last);
static void c7_search_predict(struct pw_aal *u);

/* bring controller 7 forward, if it walks or searches: registers as of the end of cycle @last */
static inline void c7_sync(struct pw_aal *u, u64 last)
{
	if (u->c7at <= last)
		c7_bring(u, last);
}

/* all headers of a message at once, in the cycle of the last C1_NEXT */
static void run1(struct pw_aal *u)
{
	u16 b = u->ogcurmsg;

	wake_rare(u, 1, NEVER);
	if (u->c7mode == C7_MODE_SEARCH)
		c7_sync(u, u->now - 1);
	u->txm[u->txm_cur].id = u->c0id;
	u->dstreg = u->c0dst;
	u->comtype = u->c0com;
	u->path = u->c0path;
	for (;;) {
		pw_aal_header(u, b);
		hash_add(u, b);
		if (b == u->oglb)
			break;
		b = u->og[b].next;
	}
	if (u->c7mode == C7_MODE_SEARCH)
		c7_search_predict(u);
	u->c2blk = u->ogcurmsg;
	u->ask2 = u->now + 1;
	c3_plan(u);
}

/* ---- controller 10 ---- */

/* first source with complete messages from @s on, or the number of ports */
static u32 next_source(const struct pw_aal *u, u32 s)
{
	u32 w = s / 64;
	u64 m;

	if (s >= u->cfg.ports)
		return u->cfg.ports;
	m = u->srcmap[w] & (~0ULL << s % 64);
	while (!m) {
		if (++w * 64 >= u->cfg.ports)
			return u->cfg.ports;
		m = u->srcmap[w];
	}
	return w * 64 + __ffs64(m);
}

/*
 * Pass whole turns, sources and messages, @left cycles at most, of which the last one is
 * left over: only there C10_EXPIRED may find a message that has expired, see c10_predict().
 */
static void c10_pass(struct pw_aal *u, u64 left)
{
	u32 turn = CYC_C10_TURN + CYC_C10_SOURCE * u->cfg.ports + CYC_C10_MSG * u->nmsgs;
	u64 at = u->c10at;
	u32 n, t, rem;

	left--;
	/* not within a source: it may have got messages that this visit does not count */
	if (u->st[10] != C10_EXPIRED && left >= turn) {
		div_u64_rem(left, turn, &rem);
		at += left - rem;
		left = rem;
	}
	if (u->st[10] == C10_EXPIRED) {
		for (; left >= CYC_C10_MSG && u->c10left && u->c10msg != PW_AAL_NONE;
		     left -= CYC_C10_MSG, at += CYC_C10_MSG) {
			u->c10msg = pw_aal_complete_from(u, u->msg[u->c10msg].next);
			u->c10left--;
		}
	}
	while (u->st[10] == C10_SOURCE) {
		n = min_t(u64, next_source(u, u->c10src) - u->c10src, left / CYC_C10_SOURCE);
		u->c10src += n;
		at += CYC_C10_SOURCE * n;
		left -= CYC_C10_SOURCE * n;
		if (u->c10src == u->cfg.ports)
			break;
		t = CYC_C10_SOURCE + CYC_C10_MSG * u->msgnumfrm[u->c10src];
		if (left < t)
			break;
		u->c10src++;
		at += t;
		left -= t;
	}
	u->c10at = at;
}

/* bring controller 10 forward: registers as of the end of cycle @last */
static void c10_sync(struct pw_aal *u, u64 last)
{
	u64 now = u->now;

	while (u->c10at <= last) {
		if (u->st[10] == C10_SOURCE || u->st[10] == C10_EXPIRED ||
		    u->st[10] == C10_START)
			c10_pass(u, last - u->c10at + 1);
		u->now = u->c10at++;
		pw_aal_ctl10(u);
	}
	u->now = now;
}

/* cycle of the first C10_EXPIRED that finds an obsolete message; there is one */
static u64 c10_find(struct pw_aal *u)
{
	u16 src = u->c10src, left = u->c10left, msg = u->c10msg;
	u64 at = u->c10at, now = u->now;
	u8 st = u->st[10];
	u32 n;

	for (;; at++) {
		if (st == C10_SOURCE) {
			n = next_source(u, src) - src;
			src += n;
			at += CYC_C10_SOURCE * n;
		}
		u->now = at;
		st = pw_aal_c10_next(u, st, &src, &msg, &left);
		if (st == C10_DROP)
			break;
	}
	u->now = now;
	return at;
}

/* cycle from which on a message may expire */
static u64 c10_due(const struct pw_aal *u)
{
	u64 due = NEVER;
	u32 s;
	u16 m;

	for (s = next_source(u, 0); s < u->cfg.ports; s = next_source(u, s + 1)) {
		m = pw_aal_complete_from(u, u->msg_head[s]);
		for (; m != PW_AAL_NONE; m = pw_aal_complete_from(u, u->msg[m].next)) {
			const struct pw_aal_msg *p = &u->msg[m];

			if (u->curmsg == m && u->dev.rlcked)
				continue;
			if (pw_aal_mortal(u, p))
				due = min(due, p->due);
		}
	}
	return due;
}

/* cycle of the next C10_DROP; earlier if it is not yet known when the message is visited */
static void c10_predict(struct pw_aal *u)
{
	u64 due;

	wake_rare(u, 10, NEVER);
	if (u->st[10] == C10_DROP) {
		wake_rare(u, 10, u->c10at);
		return;
	}
	if (u->asking || !u->nmsgs)
		return;
	due = c10_due(u);
	if (due != NEVER)
		wake_rare(u, 10, due >= u->c10at ? due + 1 : c10_find(u) + 1);
}

/* a request was answered in this cycle: messages expire again */
static void c10_answered(struct pw_aal *u)
{
	if (u->wake[10] == NEVER && c10_due(u) == NEVER)
		return;
	u->asking = true;
	c10_sync(u, u->now);
	u->asking = false;
	c10_predict(u);
}

/* ---- controller 8 ---- */

/* sources without messages that controller 8 passes from @src on; it examines the last one */
static u32 c8_skip(const struct pw_aal *u, u32 src)
{
	u32 next = next_source(u, src);

	return next < u->cfg.ports ? next - src : u->cfg.ports - 1 - src;
}

/* bring controller 8 forward: registers as of the end of cycle @last */
static void c8_sync(struct pw_aal *u, u64 last)
{
	u32 n;

	while (u->st[8] != C8_IDLE && u->c8at <= last) {
		if (u->st[8] == C8_SOURCE) {
			n = min_t(u64, c8_skip(u, u->c8src), (last - u->c8at) / CYC_C8_SOURCE);
			u->c8src += n;
			u->c8at += CYC_C8_SOURCE * n;
		}
		u->c8at++;
		pw_aal_ctl8(u);
	}
}

/* cycle of the answer if nothing changes */
static void c8_predict(struct pw_aal *u)
{
	u16 src = u->c8src, msg = u->c8msg;
	u64 at = u->c8at;
	u8 st = u->st[8];
	u32 n;

	wake_rare(u, 8, NEVER);
	if (st == C8_IDLE)
		return;
	while (st != C8_GRANT && st != C8_DENY) {
		if (st == C8_SOURCE) {
			n = c8_skip(u, src);
			src += n;
			at += CYC_C8_SOURCE * n;
		}
		st = pw_aal_c8_next(u, st, &src, &msg);
		at++;
	}
	wake_rare(u, 8, at);
}

static void c7_before(struct pw_aal *u, u64 last);
static void c7_after(struct pw_aal *u, u64 from);

static void run10(struct pw_aal *u)
{
	u32 before = u->nmsgs;
	u16 m, b;

	c10_sync(u, u->now - 1);
	m = u->c10msg;
	if (u->st[10] == C10_DROP) {
		c7_before(u, u->now - 1);
		c8_sync(u, u->now - 1);
	}
	if (u->c10at == u->now) {
		u->c10at++;
		pw_aal_ctl10(u);
	}
	if (u->nmsgs != before) {
		for (b = u->msg[m].first; b != PW_AAL_NONE; b = u->ic[b].chain)
			seat_set(&u->ics, u->ics.hot, u->ic[b].seat);
		c7_after(u, u->now);
		c8_predict(u);
	}
	c10_predict(u);
}

static void run8(struct pw_aal *u)
{
	u8 last;

	c8_sync(u, u->now - 1);
	last = u->st[8];
	if (last != C8_GRANT && last != C8_DENY) {
		c8_predict(u);
		return;
	}
	wake_rare(u, 8, NEVER);
	u->c8at++;
	pw_aal_ctl8(u);
	if (u->dev.read) {
		u->st[0] = C0_GET;
		u->wake[0] = u->now + u->c0gap + word_cycles(u, u->c0len);
	} else {
		u->dev.rlcked = false;
		u->dev.readi = false;
	}
	c10_answered(u);
}

/* ---- controller 7 ---- */

/* C7_TYPE and C7_PORTS: header fields of block @b */
static void c7_load(struct pw_aal *u, u16 b)
{
	const struct pw_aal_ic *p = &u->ic[b];

	u->type = p->type;
	u->flag = p->flag;
	u->sqn = p->sqn;
	u->srcpn = p->src;
	u->dstpn = p->dst;
}

/* is the kept block @b no longer ahead? */
static noinline bool c7_hit_kept(struct pw_aal *u, u16 b)
{
	c7_load(u, b);
	return pw_aal_order(u) <= 0;
}

/* does C7_LOOK end the walk at block @b? */
static inline bool c7_hit(struct pw_aal *u, u16 b)
{
	const struct pw_aal_ic *p = &u->ic[b];

	if (p->tofr)
		return true;
	if (p->inmsg)
		return false;
	return !p->acked || p->type == PW_CELL_T_ACK || c7_hit_kept(u, b);
}

/* no block to examine or release? */
static bool c7_nothing(const struct pw_aal *u)
{
	return u->icbblknum == u->icblkinmsgnum && !u->ictofrnum;
}

/* one cycle of a walk past blocks in messages and kept blocks */
static void c7_walk_step(struct pw_aal *u)
{
	u8 *st = &u->st[7];

	switch (*st) {
	case C7_LOOK:
		*st = u->ic[u->iccurb].inmsg ? C7_PASS : C7_TYPE;
		break;
	case C7_TYPE:
		*st = C7_PORTS;
		break;
	case C7_PORTS:
		*st = C7_ORDER;
		break;
	case C7_ORDER:
		*st = C7_KEEP;
		break;
	default:
		u->iccurb = pw_aal_ic_next(u, u->iccurb);
		*st = C7_LOOK;
		break;
	}
}

/* bring the walk of controller 7 forward */
static void c7_walk_sync(struct pw_aal *u, u64 last)
{
	const struct pw_aal_seats *s = &u->ics;
	u32 kept, turn, rem, at, x, n;
	u64 left = last - u->c7at + 1;

	u->c7at = last + 1;
	kept = u->icbblknum - u->icblkinmsgnum;
	turn = CYC_C7_PASS * u->icblkinmsgnum + CYC_C7_KEPT * kept;
	if (u->wake[7] == NEVER && left > turn && turn) {
		div_u64_rem(left, turn, &rem);
		left = rem;
	}
	for (; left && u->st[7] != C7_LOOK; left--)
		c7_walk_step(u);
	/* whole blocks: those in messages up to a kept one, then that one */
	while (left >= CYC_C7_PASS) {
		at = u->ic[u->iccurb].seat;
		x = seat_hot(s, at, s->next);
		n = seat_count(s, at, x);
		if (n > left / CYC_C7_PASS) {
			u->iccurb = seat_skip(s, at, left / CYC_C7_PASS);
			left %= CYC_C7_PASS;
			break;
		}
		left -= CYC_C7_PASS * n;
		u->iccurb = x == s->next ? u->icfb : seat_block(s, x);
		if (x == s->next)
			continue;
		if (left < CYC_C7_KEPT)
			break;
		left -= CYC_C7_KEPT;
		u->iccurb = pw_aal_ic_next(u, u->iccurb);
	}
	for (; left; left--)
		c7_walk_step(u);
}

/* bring the search of controller 7 forward */
static void c7_search_sync(struct pw_aal *u, u64 last)
{
	u32 left;

	if (u->st[7] == C7_SEARCH) {
		u->srch = u->ogbblknum ? u->ogfb : PW_AAL_NONE;
		u->st[7] = C7_COMPARE;
		if (++u->c7at > last)
			return;
	}
	left = last + 1 - u->c7at + (u->st[7] == C7_SEARCH_NEXT);
	u->c7at = last + 1;
	u->st[7] = left % CYC_C7_SEARCH ? C7_SEARCH_NEXT : C7_COMPARE;
	if (left < CYC_C7_SEARCH)
		return;
	/* the blocks after it were released meanwhile: the search is past the end */
	if (u->srch == u->oglb)
		u->srch = PW_AAL_NONE;
	else
		u->srch = seat_skip(&u->ogs, u->og[u->srch].seat, left / CYC_C7_SEARCH);
}

static noinline void c7_bring(struct pw_aal *u, u64 last)
{
	if (u->c7mode == C7_MODE_WALK) {
		c7_walk_sync(u, last);
	} else if (u->c7mode == C7_MODE_SEARCH && u->c7found > last) {
		c7_search_sync(u, last);
	} else if (u->c7mode == C7_MODE_SEARCH) {
		u->srch = u->c7blk;
		u->st[7] = C7_ACKED;
		u->c7mode = C7_MODE_BUSY;
	}
}

/* the end of a walk as in c7_walk_from(), which is not at block @b */
static noinline void c7_walk_seats(struct pw_aal *u, u16 b, u64 t)
{
	const struct pw_aal_seats *s = &u->ics;
	u32 head = u->ic[u->icfb].seat, from = u->ic[b].seat, tail = s->next, at = from, x;

	/* to the end of the list, then from its beginning */
	for (;;) {
		x = seat_hot(s, at, tail);
		t += CYC_C7_PASS * (u64)seat_count(s, at, x);
		if (x == tail) {
			if (tail != s->next || from == head)
				return;
			tail = from;
			at = head;
			continue;
		}
		b = seat_block(s, x);
		if (c7_hit(u, b)) {
			u->wake[7] = t;
			u->c7blk = b;
			return;
		}
		t += CYC_C7_KEPT;
		at = x + 1;
	}
}

/* cycle of the C7_LOOK that ends a walk, which looks at block @b in cycle @t */
static void c7_walk_from(struct pw_aal *u, u16 b, u64 t)
{
	u->c7mode = C7_MODE_WALK;
	u->c7blk = PW_AAL_NONE;
	u->wake[7] = t;
	if (c7_nothing(u))
		return;
	if (c7_hit(u, b)) {
		u->c7blk = b;
		return;
	}
	u->wake[7] = NEVER;
	c7_walk_seats(u, b, t);
}

/* cycle of the event that ends the walk of controller 7, whatever its state is now */
static void c7_walk_predict(struct pw_aal *u)
{
	u16 b = u->iccurb;
	u64 t = u->c7at;

	switch (u->st[7]) {
	case C7_LOOK:
		c7_walk_from(u, b, t);
		return;
	case C7_PASS:
	case C7_KEEP:
		c7_walk_from(u, pw_aal_ic_next(u, b), t + 1);
		return;
	case C7_TYPE:
		t += 2;
		break;
	case C7_PORTS:
		t++;
		break;
	default:
		break;
	}
	/* a kept block, C7_ORDER in cycle t */
	c7_load(u, b);
	if (pw_aal_order(u) > 0) {
		c7_walk_from(u, pw_aal_ic_next(u, b), t + 2);
		return;
	}
	u->c7mode = C7_MODE_BUSY;
	u->st[7] = C7_ORDER;
	u->wake[7] = t;
}

/* cycle in which the search finds the block or the end of the list */
static void c7_search_predict(struct pw_aal *u)
{
	u16 from = u->srch, match = hash_match(u), to = match;
	u64 t = u->c7at;

	if (u->st[7] == C7_SEARCH) {
		from = u->ogbblknum ? u->ogfb : PW_AAL_NONE;
		t++;
	}
	if (to == PW_AAL_NONE)
		to = u->oglb;
	if (u->st[7] == C7_SEARCH_NEXT && from == u->oglb)
		t++;
	else if (from != PW_AAL_NONE)
		t += CYC_C7_SEARCH * (u64)seat_count(&u->ogs, u->og[from].seat, u->og[to].seat) -
		     (u->st[7] == C7_SEARCH_NEXT);
	/*
	 * C7_TAKE and C7_ACKED follow. Without broadcast cells no other controller can
	 * see C7_TAKE, so one event does for both.
	 */
	u->c7found = NEVER;
	if (match != PW_AAL_NONE && !u->og_all && pw_aal_ackdesc(u, match, u->srcpn)) {
		u->c7found = t;
		u->c7blk = match;
		t += CYC_C7_TAKE + CYC_C7_ACKED;
	}
	u->wake[7] = t;
}

/* the receive buffer is about to change; controller 7 has run up to the end of cycle @last */
static void c7_before(struct pw_aal *u, u64 last)
{
	if (u->c7mode == C7_MODE_WALK)
		c7_sync(u, last);
}

/* the receive buffer has changed; controller 7 sees that from cycle @from on */
static void c7_after(struct pw_aal *u, u64 from)
{
	if (u->c7mode == C7_MODE_STAY) {
		u->c7mode = C7_MODE_WALK;
		u->st[7] = C7_LOOK;
		u->c7at = max(u->c7at, from);
	}
	if (u->c7mode == C7_MODE_WALK)
		c7_walk_predict(u);
}

/* C5_RELEASE; controller 7 may be searching at that block */
static void c7_release_og(struct pw_aal *u, u16 b)
{
	if (u->c7mode == C7_MODE_SEARCH)
		c7_sync(u, u->now - 1);
	seat_leave(&u->ogs, u->og[b].seat);
	hash_del(u, b);
	pw_aal_og_release(u, b);
	if (u->c7mode == C7_MODE_SEARCH)
		c7_search_predict(u);
}

/* C7_LOOK in cycle @at */
static void c7_resume(struct pw_aal *u, u64 at)
{
	u->st[7] = C7_LOOK;
	u->c7at = at;
	if (c7_nothing(u)) {
		u->c7mode = C7_MODE_STAY;
		u->wake[7] = NEVER;
		return;
	}
	u->c7mode = C7_MODE_WALK;
	c7_walk_predict(u);
}

/* state @st runs @in cycles from now and does not depend on other controllers until then */
static void c7_go(struct pw_aal *u, u8 st, u32 in)
{
	u->c7mode = C7_MODE_BUSY;
	u->st[7] = st;
	u->wake[7] = u->now + in;
}

/* C7_LOOK finds a block to examine in cycle @at */
static void c7_new(struct pw_aal *u, u64 at)
{
	const struct pw_aal_ic *p = &u->ic[u->iccurb];

	c7_load(u, u->iccurb);
	if (p->type == PW_CELL_T_ACK) {
		u->c7mode = C7_MODE_SEARCH;
		u->st[7] = C7_SEARCH;
		u->c7at = at + CYC_C7_READ;
		c7_search_predict(u);
	} else if (p->acked) {
		c7_go(u, C7_ORDER, at + CYC_C7_READ - u->now);
	} else {
		/* c3_plan() sets the cycle of C7_ACK_HAND */
		u->c7mode = C7_MODE_BUSY;
		u->st[7] = C7_ACK_HAND;
		u->ask7 = at + CYC_C7_ASK;
		c3_plan(u);
	}
}

/*
 * If C7_LOOK examines a block in the next cycle, begin now and save an event. Only
 * controller 10 could change that before.
 */
static void c7_early(struct pw_aal *u)
{
	const struct pw_aal_ic *p = &u->ic[u->iccurb];

	if (u->wake[7] == u->now + 1 && u->c7at == u->now + 1 && u->c7mode == C7_MODE_WALK &&
	    u->st[7] == C7_LOOK && u->wake[10] != u->now + 1 && !c7_nothing(u) && !p->inmsg &&
	    !p->tofr)
		c7_new(u, u->now + 1);
}

/* C7_LOOK at the end of a walk */
static void c7_look(struct pw_aal *u)
{
	struct pw_aal_ic *p;
	u16 next;

	if (likely(u->c7blk != PW_AAL_NONE)) {
		u->iccurb = u->c7blk;
		u->st[7] = C7_LOOK;
		u->c7at = u->now;
	} else {
		c7_sync(u, u->now - 1);
	}
	if (c7_nothing(u)) {
		u->c7mode = C7_MODE_STAY;
		u->wake[7] = NEVER;
		return;
	}
	p = &u->ic[u->iccurb];
	if (p->tofr) {
		next = pw_aal_ic_next(u, u->iccurb);
		ic_leave(u, u->iccurb);
		u->iccurb = next;
		c7_resume(u, u->now + 1);
		c7_early(u);
		return;
	}
	c7_new(u, u->now);
}

/* C7_COMPARE at the end of a search */
static void c7_found(struct pw_aal *u)
{
	if (u->srch == PW_AAL_NONE || !pw_aal_match(u, u->srch)) {
		u->stats.stray_ack++;
		c7_go(u, C7_HOLD, PW_AAL_ACK_CYCLES);
	} else if (!pw_aal_ackdesc(u, u->srch, u->srcpn)) {
		c7_go(u, C7_MISSING, 1);
	} else {
		c7_go(u, C7_TAKE, CYC_C7_TAKE);
	}
}

static void c7_take(struct pw_aal *u)
{
	pw_aal_take_ack(u, u->srch);
	c5_signal(u);
	if (u->og[u->srch].acknum)
		c7_go(u, C7_HOLD, 1 + PW_AAL_ACK_CYCLES);
	else
		c7_go(u, C7_ACKED, CYC_C7_ACKED);
}

static void c7_acked(struct pw_aal *u)
{
	struct pw_aal_og *p = &u->og[u->srch];

	/* C7_TAKE was part of this event, see c7_search_predict() */
	if (p->acknum) {
		u->now -= CYC_C7_ACKED;
		pw_aal_take_ack(u, u->srch);
		u->now += CYC_C7_ACKED;
	}
	p->tofr = true;
	seat_set(&u->ogs, u->ogs.hot, p->seat);
	c5_signal(u);
	c7_go(u, C7_HOLD, PW_AAL_ACK_CYCLES);
}

/* C7_ORDER runs @in cycles from now */
static void c7_ordered(struct pw_aal *u, u32 in)
{
	int diff = pw_aal_order(u);

	if (diff) {
		c7_go(u, diff > 0 ? C7_KEEP : C7_DUPLICATE, in + 1);
		return;
	}
	++*pw_aal_expected(u);
	pw_aal_reassemble(u);
	c7_go(u, C7_COMMIT, in + CYC_C7_COMMIT);
}

/* C7_ACK_HAND: hand an acknowledgment to controller 5 once that has sent the one before */
static void c7_ack(struct pw_aal *u)
{
	struct pw_aal_ic *p = &u->ic[u->iccurb];

	if (unlikely(u->least3) && c3_least7(u))
		return;
	if (u->ask7 != NEVER)
		c3_use7(u);
	u->c7hold = u->sync75 || (u->st[5] == C5_ACK_SEND && u->c5mode == C5_MODE_BUSY &&
				  u->now < u->ackend);
	if (u->c7hold) {
		u->wake[7] = u->sync75 ? NEVER : u->ackend;
		return;
	}
	pw_aal_build_ack(u);
	u->ackcell = u->ackbldcell;
	u->ackvpi = u->ackbldvpi;
	u->sync75 = true;
	p->acked = true;
	c5_signal(u);
	/* no descriptor: controller 10 may free one before the next cycle's C7_ORDER */
	if (u->flag & PW_CELL_F_FIRST && pw_aal_order(u) == 1)
		c7_go(u, C7_ORDER, 1);
	else
		c7_ordered(u, 1);
}

static void c7_commit(struct pw_aal *u)
{
	u16 b = u->iccurb;

	if (u->flag & PW_CELL_F_LAST) {
		c10_sync(u, u->now);
		c8_sync(u, u->now);
		pw_aal_commit(u);
		c10_predict(u);
		c8_predict(u);
		u->iccurb = u->icfb;
	} else {
		pw_aal_commit(u);
	}
	if (u->ic[b].inmsg)
		seat_clear(&u->ics, u->ics.hot, u->ic[b].seat);
	/* a middle cell takes C7_HOLD in addition */
	c7_resume(u, u->now + CYC_C7_END + (u->flag & (PW_CELL_F_FIRST | PW_CELL_F_LAST) ?
					    0 : PW_AAL_ACK_CYCLES));
}

static void run7(struct pw_aal *u)
{
	struct pw_aal_ic *p = &u->ic[u->iccurb];

	if (u->c7mode == C7_MODE_WALK) {
		c7_look(u);
		return;
	}
	u->wake[7] = NEVER;
	if (u->c7mode == C7_MODE_SEARCH)
		c7_sync(u, u->now - 1);
	if (u->c7mode == C7_MODE_SEARCH) {
		c7_found(u);
		return;
	}
	switch (u->st[7]) {
	case C7_MISSING:
		u->stats.stray_ack++;
		c7_go(u, C7_HOLD, PW_AAL_ACK_CYCLES);
		break;
	case C7_TAKE:
		c7_take(u);
		break;
	case C7_ACKED:
		c7_acked(u);
		break;
	case C7_HOLD:
		ic_leave(u, u->iccurb);
		u->iccurb = u->icfb;
		c7_resume(u, u->now + 1);
		c7_early(u);
		break;
	case C7_ACK_HAND:
		c7_ack(u);
		break;
	case C7_ORDER:
		c7_ordered(u, 0);
		break;
	case C7_KEEP:
		if (!p->kept)
			u->stats.ahead++;
		p->kept = true;
		u->iccurb = pw_aal_ic_next(u, u->iccurb);
		c7_resume(u, u->now + 1);
		break;
	case C7_DUPLICATE:
		u->stats.duplicate++;
		ic_leave(u, u->iccurb);
		u->iccurb = u->icfb;
		c7_resume(u, u->now + 1);
		break;
	default:
		c7_commit(u);
		break;
	}
}

/* ---- controller 6 ---- */

/**
 * pw_aal_fast_rx() - accept or refuse an incoming cell
 * @u: AAL unit
 * @t: cycle with byte 0 on the link; the call is made in cycle @t + PW_BMX_DECIDE
 * @c: cell
 * @bad: its CRC is wrong
 *
 * Return: false to refuse it.
 */
bool pw_aal_fast_rx(struct pw_aal *u, u64 t, const struct pw_aal_cell *c, bool bad)
{
	u->skip = !u->icfinum;
	if (u->skip && !(u->cfg.flags & PW_AAL_F_DISCARD))
		return false;
	u->stats.taken++;
	u->rxcell = *c;
	u->rxbad = bad;
	u->wake[6] = t + PW_BMX_CELL - 1;
	return true;
}

static void run6(struct pw_aal *u)
{
	const struct pw_aal_cell *c = &u->rxcell;
	struct pw_aal_ic *p = &u->ic[u->icfi];

	u->wake[6] = NEVER;
	if (u->skip) {
		u->stats.overrun++;
		return;
	}
	if (u->rxbad) {
		u->stats.bad_crc++;
		if (u->ops->bad_cell)
			u->ops->bad_cell(u->ctx, u);
		return;
	}
	if (!pw_aal_takes(u, c->dst)) {
		u->stats.bad_dst++;
		if (u->ops->bad_cell)
			u->ops->bad_cell(u->ctx, u);
		return;
	}
	c7_before(u, u->now);
	p->id = c->id;
	p->type = c->type;
	p->flag = c->flag;
	p->sqn = c->sqn;
	p->src = c->src;
	p->dst = c->dst;
	pw_aal_ic_append(u, u->icfi);
	ic_seat_new(u);
	c7_after(u, u->now + 1);
	c7_early(u);
	if (u->ops->cell_in)
		u->ops->cell_in(u->ctx, u, c);
}

/* ---- controller 0 and the process ---- */

/* plan the next C0_PUT_BLOCK that needs a block, or the last C1_NEXT of the message */
static void c0_next(struct pw_aal *u)
{
	u32 words = DIV_ROUND_UP(u->c0len, 4);

	if (u->c0word < words) {
		u->st[0] = C0_PUT_BLOCK;
		u->c0plan = u->c0base + word_time(u) * (u64)u->c0word +
			    u->cfg.gap_word + CYC_TO_BLOCK;
		u->wake[0] = u->c0plan;
		return;
	}
	u->st[0] = C0_IDLE;
	u->wake[0] = NEVER;
	/* last cycle of the last put, then the other commands and controller 1 */
	wake_rare(u, 1, u->c0base + word_cycles(u, u->c0len) - 1 + CYC_HEADERS + CYC_C1_MSG +
			CYC_C1_CELL * (u64)u->c0cells);
}

/* C0_INIT or C0_PUT_BLOCK; C5_RELEASE runs it again if there is no memory */
static bool c0_block(struct pw_aal *u, bool first)
{
	bool got, was = u->dev.nomem;

	c5_sync(u, u->now);
	if (u->c7mode == C7_MODE_SEARCH)
		c7_sync(u, u->now);
	got = pw_aal_put_block(u, first);
	if (got)
		og_seat_new(u);
	if (got || !was)
		c5_signal(u);
	if (u->c7mode == C7_MODE_SEARCH)
		c7_search_predict(u);
	return got;
}

static void run0(struct pw_aal *u)
{
	u->wake[0] = NEVER;
	switch (u->st[0]) {
	case C0_INIT:
		if (!c0_block(u, true))
			return;
		u->c0base = u->now + u->c0gap + 1;
		u->c0word = (PW_CELL_DATA_LEN - PW_CELL_MSG_HDR) / 4;
		c0_next(u);
		break;
	case C0_PUT_BLOCK:
		if (!c0_block(u, false))
			return;
		u->c0base += u->now - u->c0plan;
		u->c0word += PW_CELL_DATA_LEN / 4;
		c0_next(u);
		break;
	case C0_GET:
		u->st[0] = C0_IDLE;
		if (u->ops->got)
			u->ops->got(u->ctx, u);
		break;
	default:
		break;
	}
}

/**
 * pw_aal_fast_send() - a process takes the write lock and sends a message
 * @u: AAL unit; neither lock is set
 * @now: cycle that has just ended
 * @s: message
 */
void pw_aal_fast_send(struct pw_aal *u, u64 now, const struct pw_aal_send *s)
{
	u->now = now;
	u->dev.wlcked = true;
	u->c0id = s->id;
	u->c0len = s->len;
	u->c0cells = pw_cell_count(s->len);
	u->c0dst = s->dst;
	u->c0com = s->com;
	u->c0path = s->path;
	u->c0gap = s->gap_init;
	u->st[0] = C0_INIT;
	u->wake[0] = now + s->gap_lock + CYC_COMMAND;
}

/**
 * pw_aal_fast_recv() - a process takes the receive lock and requests a message
 * @u: AAL unit; neither lock is set
 * @now: cycle that has just ended
 * @want: header words of the request
 * @len: bytes that the process gets; ops->granted may change c0len
 * @gap: idle cycles before the first get
 */
void pw_aal_fast_recv(struct pw_aal *u, u64 now, const u32 *want, u32 len, u32 gap)
{
	u->now = now;
	/* while a request is not answered no message expires */
	if (u->wake[10] != NEVER) {
		c10_sync(u, now);
		u->asking = true;
		c10_predict(u);
	}
	u->asking = true;
	u->dev.rlcked = true;
	memcpy(u->want, want, sizeof(u->want));
	u->c0len = len;
	u->c0gap = gap;
	u->st[8] = C8_START;
	u->c8at = now + CYC_REQUEST;
	c8_predict(u);
}

/**
 * pw_aal_fast_read_done() - the process releases the receive lock
 * @u: AAL unit
 */
void pw_aal_fast_read_done(struct pw_aal *u)
{
	c10_sync(u, u->now);
	pw_aal_read_done(u);
	c10_predict(u);
}

/**
 * pw_aal_fast_discard() - drop a complete message unread
 * @u: AAL unit
 * @desc: message
 */
void pw_aal_fast_discard(struct pw_aal *u, u16 desc)
{
	c10_sync(u, u->now);
	pw_aal_discard(u, desc);
	c10_predict(u);
}

/**
 * pw_aal_fast_idle() - is the AAL unit idle?
 * @u: AAL unit
 *
 * Idle AAL units differ only in their sequence numbers, their path counters and the place
 * of controller 10.
 *
 * Return: true if nothing is stored and no event is due.
 */
bool pw_aal_fast_idle(const struct pw_aal *u)
{
	return !u->ogbblknum && !u->icbblknum && !u->nmsgs && !u->dev.wlcked && !u->dev.rlcked &&
	       pw_aal_fast_next(u) == NEVER;
}

/**
 * pw_aal_fast_passed() - account for a message that arrived and was read without events
 * @u: idle AAL unit of a device (PW_AAL_F_KEEP_UNREAD and PW_AAL_F_RELEASE_READ)
 * @src: its sender
 * @complete: cycle in which it was complete
 * @read: cycle of the last get
 *
 * Controller 10 passes the message until it is read and drops it afterwards.
 *
 * Return: the cycle of C10_DROP.
 */
u64 pw_aal_fast_passed(struct pw_aal *u, u16 src, u64 complete, u64 read)
{
	struct pw_aal_msg *p = &u->msg[u->msg_free];

	c10_sync(u, complete);
	u->msg_head[src] = u->msg_free;
	u->msg_tail[src] = u->msg_free;
	u->msg_free = p->next;
	p->next = PW_AAL_NONE;
	p->src = src;
	p->first = PW_AAL_NONE;
	p->nserved = 1;
	p->complete = true;
	p->due = NEVER;
	u->msg_num[src]++;
	u->msgnumfrm[src]++;
	u->srcmap[src / 64] |= BIT_ULL(src % 64);
	u->nmsgs++;
	c10_sync(u, read);
	p->due = read;
	c10_predict(u);
	u->now = u->wake[10];
	wake_rare(u, 10, NEVER);
	c10_sync(u, u->now);
	return u->now;
}

/* twice as many seats as blocks: seats are renumbered at most once in @blocks allocations */
static u32 seats_of(u32 blocks)
{
	return max_t(u32, 64, 1U << fls(2 * blocks - 1));
}

static void seats_layout(struct pw_arena *a, struct pw_aal_seats *s, u32 blocks)
{
	s->size = seats_of(blocks);
	s->busy = pw_arena_take(a, s->size / 8);
	s->hot = pw_arena_take(a, s->size / 8);
	s->blk = pw_arena_take(a, sizeof(u16) * s->size);
}

static void fast_layout_og(struct pw_arena *a, struct pw_aal *u, u32 blocks)
{
	seats_layout(a, &u->ogs, blocks);
	/* the same for any number of blocks that have memory: entries need not move */
	u->hashes = max_t(u32, 64, seats_of(u->cfg.og_blocks) / 8);
	u->hash = pw_arena_take(a, sizeof(u16) * u->hashes);
}

static void fast_layout_ic(struct pw_arena *a, struct pw_aal *u, u32 blocks)
{
	seats_layout(a, &u->ics, blocks);
}

/* the blocks get seats in the new ring, in their order */
static void fast_grown_og(struct pw_aal *u, const struct pw_aal *old)
{
	u32 i;
	u16 b;

	for (i = 0; i < u->hashes; i++)
		u->hash[i] = old->og_cap ? old->hash[i] : PW_AAL_NONE;
	u->ogs.next = 0;
	for (i = 0, b = u->ogfb; i < u->ogbblknum; i++, b = u->og[b].next)
		og_seat(u, b);
}

static void fast_grown_ic(struct pw_aal *u, const struct pw_aal *old)
{
	u32 i;
	u16 b;

	u->ics.next = 0;
	for (i = 0, b = u->icfb; i < u->icbblknum; i++, b = u->ic[b].next)
		ic_seat(u, b);
}

/* no event is due */
static void fast_init(struct pw_aal *u)
{
	u32 i;

	for (i = 0; i < PW_AAL_CTLS; i++)
		u->wake[i] = NEVER;
	u->rare = NEVER;
	u->c5at = 1;
	u->c7at = 1;
	u->c8at = 1;
	u->c10at = 1;
	u->c5mode = C5_MODE_STAY;
	u->c7mode = C7_MODE_STAY;
	u->due_min = NEVER;
	u->ask2 = NEVER;
	u->ask7 = NEVER;
	u->least3 = u->cfg.route == PW_AAL_ROUTE_LEAST;
}

/* cells carry the identifier only */
static void fast_read_header(const struct pw_aal *u, u16 b, u32 *hdr)
{
	memset(hdr, 0, sizeof(*hdr) * (PW_AAL_HDR_WORDS - 1));
	hdr[PW_AAL_HDR_WORDS - 1] = u->ic[b].id;
}

const struct pw_aal_engine pw_aal_fast = {
	.layout_og = fast_layout_og,
	.layout_ic = fast_layout_ic,
	.init = fast_init,
	.grown_og = fast_grown_og,
	.grown_ic = fast_grown_ic,
	.read_header = fast_read_header,
};

/* controllers with few events that run in this cycle */
static noinline void run_rare(struct pw_aal *u)
{
	if (u->wake[2] == u->now)
		run2(u);
	if (u->wake[1] == u->now)
		run1(u);
	if (u->wake[10] == u->now)
		run10(u);
	if (u->wake[8] == u->now)
		run8(u);
}

/**
 * pw_aal_fast_run() - run the events of one cycle
 * @u: AAL unit
 * @now: that cycle
 *
 * Return: cycle of its next event, PW_AAL_NEVER if there is none.
 */
u64 pw_aal_fast_run(struct pw_aal *u, u64 now)
{
	u->now = now;
	if (u->wake[5] == now)
		run5(u);
	if (u->rare == now)
		run_rare(u);
	if (u->wake[7] == now)
		run7(u);
	if (u->wake[6] == now)
		run6(u);
	if (u->wake[0] == now)
		run0(u);
	return pw_aal_fast_next(u);
}
