// SPDX-License-Identifier: GPL-2.0
/*
 * ATON by computation: the same results, errors and bit times as ring_rtl.c, with
 * a few word operations per interface instead of hundreds of bit times.
 *
 * Between packets the place of the token is a function of time: the interface that takes it
 * next is computed without walking along the ring. A packet is a pass over the operands,
 * which may be spread over many calls. Times count from the first symbol leaving the
 * T-interface: the packet is back after its bits and one revolution.
 *
 * Operands narrower than 64 bits are in the upper bits of a word while a packet is computed, so
 * that carries and signs are where those of 64 bits are.
 */
#include "ring_priv.h"

/* least number of adjacent operands that are combined in place */
#define FAST_RUN	4

/* costs, in visits with a simple operation of about seven instructions */
#define COST_PACKET	256	/* start a packet */
#define COST_AGAIN	64	/* start another one of the same interface */
#define COST_MEMBER	3	/* visit: an interface that is known to be in the group */
#define COST_STANDING	16	/* look at a standing command */
#define COST_SORT	2	/* visit: copy */
#define COST_DEEP	12	/* visit: BITSUM, TREE */
#define COST_REGION	8	/* visit: is it in the region? */
#define COST_SIFT	64	/* of a heap of 65,536 */
#define COST_LATCH	16	/* visit: latch the partial result */
#define COST_DELIVER	64	/* visit: the caller takes a passive packet */
#define COST_TAP	8192	/* render a packet */

enum fast_phase { FAST_IDLE, FAST_SCAN, FAST_HEAPIFY, FAST_EXTRACT, FAST_DONE };

/* ---- token: which interface takes it next, and when ---- */

/* first bit time at or after @t at which the token passes @interface */
static u64 visit(const struct pw_ring *ring, u32 interface, u64 t)
{
	u64 first = ring->tok_at + pw_ring_dist(ring, ring->tok_from, interface);

	if (t <= first)
		return first;
	return first + div64_u64(t - first + ring->turn - 1, ring->turn) * ring->turn;
}

/* first interface that the token passes at or after @t */
static u32 interface_at(const struct pw_ring *ring, u64 t)
{
	u64 hop = 1 + ring->p.propagation;
	u32 to_wrap = ring->n - ring->tok_from;	/* hops after which the pad counts */
	u64 e = 1, h;

	if (t > ring->tok_at) {
		e = t - ring->tok_at - 1;
		e = e - div64_u64(e, ring->turn) * ring->turn + 1;
	}
	if (e <= (to_wrap - 1) * hop)
		h = div64_u64(e + hop - 1, hop);
	else
		h = e > ring->pad ? max_t(u64, to_wrap, div64_u64(e - ring->pad + hop - 1, hop)) :
				    to_wrap;
	h += ring->tok_from;
	return h >= ring->n ? h - ring->n : h;
}

static u32 next_ready(const struct pw_ring *ring, u32 from)
{
	u32 words = DIV_ROUND_UP(ring->own, 64);
	u32 w = from / 64;
	u64 bits;

	/* interfaces of a block send nothing */
	if (from >= ring->own) {
		from = 0;
		w = 0;
	}
	bits = ring->ready[w] & (~0ULL << from % 64);
	while (!bits) {
		w = w + 1 < words ? w + 1 : 0;
		bits = ring->ready[w];
	}
	return w * 64 + __ffs64(bits);
}

/* bit time and interface of the standing command that is triggered first, if no other packet is */
static u64 next_standing(const struct pw_ring *ring, u64 t, u32 *interface)
{
	const struct pw_ring_sender *sender;
	u64 best = PW_RING_NEVER;
	u64 second, s;

	for (sender = ring->standing; sender; sender = sender->next_standing) {
		if (!pw_ring_bit(ring->up, sender->interface))
			continue;
		/* triggered by the second token in a row; the first one passes without effect */
		second = ring->tok_at + pw_ring_dist(ring, ring->tok_from, sender->interface) +
			 ring->turn;
		s = visit(ring, sender->interface, max(second, max(t, sender->standing_after)));
		if (s < best) {
			best = s;
			*interface = sender->interface;
		}
	}
	return best;
}

/* the packet that started first is back */
static void end_first(struct pw_ring *ring)
{
	struct pw_ring_packet *pkt = ring->flight;

	pw_ring_end(ring, pkt, pkt->err, pkt->end);
}

/* bit time at which the last packet on the ring is back */
static u64 last_back(const struct pw_ring *ring)
{
	const struct pw_ring_packet *pkt = ring->flight;

	while (pkt->next)
		pkt = pkt->next;
	return pkt->end;
}

/*
 * next_packet() for an interface that gets the token that it has released, because no other one
 * has something to send and nothing else can happen meanwhile.
 *
 * Return: whether this was the case, and its packet has started.
 */
static bool next_again(struct pw_ring *ring, u64 until)
{
	u64 start = ring->tok_at + ring->turn;
	u32 t = ring->tok_from;

	if (ring->state != PW_RING_TOKEN || ring->nready != 1 || t >= ring->own ||
	    !pw_ring_bit(ring->ready, t) || ring->future || ring->standing || ring->flight ||
	    ring->lose || ring->now > start || start > until)
		return false;
	pw_ring_begin(ring, t, start);
	return true;
}

/*
 * Find the next interface to take the token, and start its packet.
 *
 * Return: whether there was one that may start by @until.
 */
static bool next_packet(struct pw_ring *ring, u64 until)
{
	u64 t = ring->now;
	u64 start, end, due, lose, s;
	u32 interface, i = 0;

	while (ring->state != PW_RING_DARK) {
		pw_ring_promote(ring, t);
		interface = 0;
		start = PW_RING_NEVER;
		if (ring->nready) {
			interface = next_ready(ring, interface_at(ring, t));
			start = visit(ring, interface, t);
		}
		s = next_standing(ring, t, &i);
		if (s < start) {
			start = s;
			interface = i;
		}
		/* which comes first: a packet is back, a command is due, or the token is taken? */
		due = ring->future ? ring->future->head->submit : PW_RING_NEVER;
		due = due <= min(start, until) ? due : PW_RING_NEVER;
		if (ring->flight && (ring->state == PW_RING_LOST ||
				     (ring->flight->end <= due &&
				      (ring->flight->end <= start || start > until)))) {
			end_first(ring);
			continue;
		}
		if (start == PW_RING_NEVER && !ring->future)
			break;
		if (ring->state == PW_RING_LOST) {
			if (ring->lost_at + ring->timeout >= until)
				goto late;
			pw_ring_reissue(ring, ring->lost_at + ring->timeout);
			t = max(t, ring->now);
			continue;
		}
		/* the token may vanish while it is being taken, but not beside a packet */
		end = start > until ? until : start + PW_ATON_DECIDE + 1;
		lose = ring->flight ? max(ring->lose_at, last_back(ring)) : ring->lose_at;
		if (ring->lose && lose < end && lose <= due) {
			if (!ring->flight)
				pw_ring_lose(ring);
			while (ring->flight)
				end_first(ring);
			continue;
		}
		if (due != PW_RING_NEVER) {
			t = due;
			continue;
		}
		if (start > until)
			goto late;
		pw_ring_begin(ring, interface, start);
		return true;
	}
	pw_ring_idle(ring);
	return false;

late:
	ring->now = max(ring->now, until + 1);
	pw_ring_idle(ring);
	return false;
}

/* ---- one pass over the operands ---- */

static u64 sign_flip(const struct pw_ring_cmd *cmd)
{
	return cmd->mods & PW_ATON_SIGNED ? BIT_ULL(63) : 0;
}

/* bits below an operand in its word */
static u32 below(const struct pw_ring *ring)
{
	return 64 - ring->fmt.width;
}

static u64 tree_node(struct pw_ring_packet *pkt, u8 op, u64 a, u64 b)
{
	u64 flip = sign_flip(pkt->cmd);

	switch (op) {
	case PW_ATON_ADD:
		if (a + b < a)
			pkt->trailer |= PW_TRL_OVERFLOW;
		return a + b;
	case PW_ATON_AND:
		return a & b;
	case PW_ATON_OR:
		return a | b;
	case PW_ATON_MAX:
		return (a ^ flip) > (b ^ flip) ? a : b;
	default:
		return (a ^ flip) < (b ^ flip) ? a : b;
	}
}

/* leaf number @index, counted from 1, completes every subtree that ends with it */
static void tree_leaf(struct pw_ring *ring, u32 index, u64 x)
{
	struct pw_ring_packet *pkt = ring->pkt;
	u32 depth = __ffs64(index);
	u32 heights = pkt->cmd->heights;
	u32 h;

	for (h = 0; h < depth && h < heights; h++)
		x = tree_node(pkt, pw_aton_node_op(pkt->cmd, h, pw_aton_node_at(index, h)),
			      ring->fast.level[h], x);
	if (depth >= heights)
		pkt->v1 = x;
	else
		ring->fast.level[depth] = x;
}

/* 64 counters at once: bit k of all of them is in plane[k] */
static void bitsum(u64 *plane, u64 x)
{
	u64 carry;

	for (; x; plane++) {
		carry = *plane & x;
		*plane ^= x;
		x = carry;
	}
}

/* ADD, AND, OR: Variable-1 takes in @count operands */
static inline void fold(struct pw_ring_packet *pkt, const u64 *x, u32 count)
{
	u64 v = pkt->v1;
	u64 over = 0;
	u32 i;

	switch (pkt->cmd->op) {
	case PW_ATON_ADD:
		for (i = 0; i < count; i++) {
			v += x[i];
			over |= v < x[i];
		}
		if (over)
			pkt->trailer |= PW_TRL_OVERFLOW;
		break;
	case PW_ATON_AND:
		for (i = 0; i < count; i++)
			v &= x[i];
		break;
	case PW_ATON_OR:
		for (i = 0; i < count; i++)
			v |= x[i];
		break;
	}
	pkt->v1 = v;
}

/*
 * MAX, MIN: Variable-1 becomes the extreme of itself and @count operands. Returns the index
 * of the last operand that has this value, @count if Variable-1 stays the extreme.
 */
static inline u32 extreme(struct pw_ring_packet *pkt, const u64 *x, u32 count)
{
	u64 flip = sign_flip(pkt->cmd);
	u64 v = pkt->v1;
	u32 last = count;
	u32 i;

	if (pkt->cmd->op == PW_ATON_MAX) {
		for (i = 0; i < count; i++)
			if ((x[i] ^ flip) >= (v ^ flip)) {
				v = x[i];
				last = i;
			}
	} else {
		for (i = 0; i < count; i++)
			if ((x[i] ^ flip) <= (v ^ flip)) {
				v = x[i];
				last = i;
			}
	}
	pkt->v1 = v;
	return last;
}

/* COUNT_EQ, COUNT_LT, COUNT_LE: how many operands have the relation to Variable-1 */
static inline u64 count_hits(const struct pw_ring_packet *pkt, const u64 *x, u32 count)
{
	u64 flip = sign_flip(pkt->cmd);
	u64 v = pkt->v1;
	u64 n = 0;
	u32 i;

	switch (pkt->cmd->op) {
	case PW_ATON_COUNT_EQ:
		for (i = 0; i < count; i++)
			n += v == x[i];
		break;
	case PW_ATON_COUNT_LT:
		for (i = 0; i < count; i++)
			n += (v ^ flip) < (x[i] ^ flip);
		break;
	case PW_ATON_COUNT_LE:
		for (i = 0; i < count; i++)
			n += (v ^ flip) <= (x[i] ^ flip);
		break;
	}
	return n;
}

/* SORT: append @count operands to the result, which is sorted at the end */
static inline void append(struct pw_ring *ring, const u64 *x, u32 count)
{
	struct pw_ring_packet *pkt = ring->pkt;
	struct pw_ring_cmd *cmd = pkt->cmd;
	u32 i;

	for (i = 0; i < count; i++)
		if (pkt->counter + i < cmd->room)
			cmd->out[pkt->counter + i] = x[i];
	ring->fast.extra += count;
}

/* as combine(), with operands in the upper bits */
static void combine_upper(struct pw_ring *ring, const u64 *x, u32 count, u32 base, const u8 *pos)
{
	struct pw_ring_packet *pkt = ring->pkt;
	u32 i;

	switch (pkt->cmd->op) {
	case PW_ATON_ADD:
	case PW_ATON_AND:
	case PW_ATON_OR:
		fold(pkt, x, count);
		break;
	case PW_ATON_MAX:
	case PW_ATON_MIN:
		i = extreme(pkt, x, count);
		if (i < count)
			pkt->v2 = pw_ring_id(ring, base + (pos ? pos[i] : i));
		break;
	case PW_ATON_COUNT_EQ:
	case PW_ATON_COUNT_LT:
	case PW_ATON_COUNT_LE:
		pkt->v2 += count_hits(pkt, x, count);
		break;
	case PW_ATON_SORT:
		append(ring, x, count);
		break;
	case PW_ATON_BITSUM:
		for (i = 0; i < count; i++)
			bitsum(ring->fast.plane, x[i]);
		/* a count that has become too large for its bits */
		for (i = ring->fmt.part; i < ARRAY_SIZE(ring->fast.plane); i++)
			if (ring->fast.plane[i])
				pkt->trailer |= PW_TRL_OVERFLOW;
		break;
	case PW_ATON_TREE:
		for (i = 0; i < count; i++)
			tree_leaf(ring, pkt->counter + 1 + i, x[i]);
		break;
	}
	pkt->counter += count;
	pkt->trailer |= PW_TRL_RECOGNISED;
}

/*
 * @count operands of interfaces that take part, in ring order: those of the interfaces
 * from @base on, or of the interfaces @base + @pos[0], @base + @pos[1], ...
 */
static void combine(struct pw_ring *ring, const u64 *x, u32 count, u32 base, const u8 *pos)
{
	u32 shift = below(ring);
	u64 upper[16];
	u32 i, n;

	if (likely(!shift)) {
		combine_upper(ring, x, count, base, pos);
		return;
	}
	while (count) {
		n = min_t(u32, count, ARRAY_SIZE(upper));
		for (i = 0; i < n; i++)
			upper[i] = x[i] << shift;
		combine_upper(ring, upper, n, base, pos);
		x += n;
		count -= n;
		if (pos)
			pos += n;
		else
			base += n;
	}
}

/* is the packet undamaged, and its T-interface there, when it has passed an interface at @when? */
static bool passes(const struct pw_ring *ring, u64 when)
{
	u64 leave;

	return !ring->fast.damaged && !(pw_ring_may_leave(ring, &leave) && when >= leave + 2);
}

/* as combine(); under PW_ATON_PREFIX each interface latches what passes it */
static void combine_latch(struct pw_ring *ring, const u64 *x, u32 count, u32 base, const u8 *pos)
{
	struct pw_ring_packet *pkt = ring->pkt;
	bool is_count = pkt->cmd->op >= PW_ATON_COUNT_EQ;
	const u64 *v = is_count ? &pkt->v2 : &pkt->v1;
	u32 shift = is_count ? 0 : below(ring);
	struct pw_ring_latch latch;
	u32 i, interface;
	u64 when;

	if (!(pkt->cmd->mods & PW_ATON_PREFIX)) {
		combine(ring, x, count, base, pos);
		return;
	}
	for (i = 0; i < count; i++) {
		interface = base + (pos ? pos[i] : i);
		when = pkt->start + pw_ring_dist(ring, pkt->t, interface) + pkt->bits;
		latch.before = *v >> shift;
		latch.counter = pkt->counter;
		combine(ring, x + i, 1, interface, NULL);
		latch.with = *v >> shift;
		latch.flags = pkt->trailer & PW_TRL_OVERFLOW ? PW_ATON_F_OVERFLOW : 0;
		if (passes(ring, when))
			pw_ring_latched(ring, pkt, interface, &latch, when);
	}
}

/* which interfaces of word @w are in the region, of those in @mask */
static u64 members(const struct pw_ring *ring, u32 w, u64 mask)
{
	u32 dst = ring->fast.dst;
	u64 m = ring->up[w] & mask;
	u64 bits;

	if (ring->pkt->cmd->op != PW_ATON_PASSIVE)
		m &= ~ring->mute[w];
	if (dst == PW_ATON_RING)
		return m;
	for (bits = m; bits; bits &= bits - 1) {
		u32 i = w * 64 + __ffs64(bits);

		if (!pw_aton_in_region(dst, ring->addr[i], pw_ring_group_own(ring, i)))
			m &= ~(bits & -bits);
	}
	return m;
}

/* how many bits in a row are set from @i on */
static u32 run_length(u64 bits, u32 i)
{
	u64 gap = ~(bits >> i);

	return gap ? __ffs64(gap) : 64;
}

/*
 * Operands of some interfaces of one word: used in place where enough of them are
 * next to each other in the ring's memory, else gathered.
 */
static void visit_word(struct pw_ring *ring, u32 w, u64 m)
{
	u32 reg = ring->pkt->cmd->reg;
	const u64 *bank = ring->operand + (size_t)reg * ring->p.capacity + w * 64;
	u64 plain = m & ~ring->mapped[w];
	u32 count = 0;
	u64 x[64];
	u8 pos[64];
	u32 i, run;

	while (m) {
		i = __ffs64(m);
		run = run_length(plain, i);
		if (run < FAST_RUN) {
			pos[count] = i;
			x[count++] = plain >> i & 1 ? bank[i] :
				     pw_ring_fetch_mapped(ring, w * 64 + i, reg);
			m &= m - 1;
			continue;
		}
		if (count)
			combine_latch(ring, x, count, w * 64, pos);
		count = 0;
		combine_latch(ring, bank + i, run, w * 64 + i, NULL);
		m = i + run < 64 ? m & (~0ULL << (i + run)) : 0;
	}
	if (count)
		combine_latch(ring, x, count, w * 64, pos);
}

/* a passive packet passes the interfaces of one word that are in its region */
static void deliver_word(struct pw_ring *ring, u32 w, u64 m)
{
	struct pw_ring_packet *pkt = ring->pkt;
	u64 when;
	u32 i;

	for (; m; m &= m - 1) {
		i = w * 64 + __ffs64(m);
		pkt->trailer |= PW_TRL_RECOGNISED;
		when = pkt->start + pw_ring_dist(ring, pkt->t, i) + pkt->bits;
		if (passes(ring, when) && ring->p.deliver)
			ring->p.deliver(ring->p.ctx, i, pkt->cmd, when);
	}
}

/*
 * The first interface from @from on, before @to, that is down or mute or has a sender with
 * operands; or @to.
 */
static u32 plain_until(const struct pw_ring *ring, u32 from, u32 to)
{
	u32 w = from / 64;
	u64 other = (~ring->up[w] | ring->mapped[w] | ring->mute[w]) >> from % 64;

	if (other)
		return min_t(u32, to, from + __ffs64(other));
	while (++w * 64 < to) {
		other = ~ring->up[w] | ring->mapped[w] | ring->mute[w];
		if (other)
			return min_t(u32, to, w * 64 + __ffs64(other));
	}
	return to;
}

/* visit the interfaces of one block from @from on, before @to */
static void visit_block(struct pw_ring *ring, const struct pw_ring_block *block, u32 from, u32 to)
{
	struct pw_ring_packet *pkt = ring->pkt;
	const struct pw_ring_cmd *cmd = pkt->cmd;
	u32 dst = ring->fast.dst;
	u64 when;

	if (cmd->op != PW_ATON_PASSIVE && cmd->reg >= block->nregs)
		return;
	/* they are in no group: the region is the whole ring or one address */
	if (dst != PW_ATON_RING) {
		if (dst < block->addr || dst - block->addr >= block->count)
			return;
		dst = block->first + (dst - block->addr);
		if (dst < from || dst >= to)
			return;
		from = dst;
		to = dst + 1;
	}
	if (cmd->op != PW_ATON_PASSIVE) {
		combine(ring, block->operand + (size_t)cmd->reg * block->count +
			(from - block->first), to - from, from, NULL);
		return;
	}
	pkt->trailer |= PW_TRL_RECOGNISED;
	for (; from < to; from++) {
		when = pkt->start + pw_ring_dist(ring, pkt->t, from) + pkt->bits;
		if (passes(ring, when) && ring->p.deliver)
			ring->p.deliver(ring->p.ctx, from, pkt->cmd, when);
	}
}

/* visit the interfaces in no block from @from on, before @to */
static void visit_range(struct pw_ring *ring, u32 from, u32 to)
{
	struct pw_ring_cmd *cmd = ring->pkt->cmd;
	bool passive = cmd->op == PW_ATON_PASSIVE;
	const u64 *bank = ring->operand + (size_t)cmd->reg * ring->p.capacity;
	u32 w, end;
	u64 mask;

	for (; from < to; from = end) {
		/* region is the whole ring: combine as many plain operands as there are */
		if (ring->fast.dst == PW_ATON_RING && !passive) {
			end = plain_until(ring, from, to);
			if (end == to || end - from >= FAST_RUN) {
				combine_latch(ring, bank + from, end - from, from, NULL);
				continue;
			}
		}
		w = from / 64;
		end = min_t(u32, to, w * 64 + 64);
		mask = ~0ULL << from % 64;
		if (end % 64)
			mask &= ~(~0ULL << end % 64);
		mask = members(ring, w, mask);
		if (!mask)
			continue;
		if (passive)
			deliver_word(ring, w, mask);
		else
			visit_word(ring, w, mask);
	}
}

/*
 * A fault flips a symbol of the packet that leaves this hop. Interfaces relay a packet with
 * a damaged control field (symbols 8 to 23); a damaged destination (24 to 47) is another
 * region.
 */
static void flip_packet(struct pw_ring *ring)
{
	u64 bit = ring->pkt_flip_bit;

	if (bit >= ring->pkt->bits + (u64)ring->fmt.width * ring->fast.extra)
		return;
	ring->fast.damaged = true;
	if (bit >= 8 && bit < 24)
		ring->fast.relayed = true;
	else if (bit >= 24 && bit < 48)
		ring->fast.dst ^= 1u << (47 - bit);
}

static void begin_scan(struct pw_ring *ring)
{
	struct pw_ring_packet *pkt = ring->pkt;
	struct pw_fast *f = &ring->fast;

	memset(f, 0, offsetof(struct pw_fast, level));
	if (pkt->cmd->op == PW_ATON_TREE)
		memset(f->level, 0, sizeof(f->level));
	else if (pkt->cmd->op == PW_ATON_BITSUM)
		memset(f->plane, 0, sizeof(f->plane));
	f->phase = FAST_SCAN;
	f->dst = pkt->cmd->dst;
	f->hop = 1;
	f->end = ring->n;
	pkt->x <<= below(ring);
	pkt->v1 <<= below(ring);
	if (ring->pkt_stuck) {
		f->end = ring->stuck_interface > pkt->t ? ring->stuck_interface - pkt->t :
						     ring->n - pkt->t + ring->stuck_interface;
	}
	if (pkt->in_region) {
		switch (pkt->cmd->op) {
		case PW_ATON_SORT:
			if (pkt->cmd->room)
				pkt->cmd->out[0] = pkt->x;
			break;
		case PW_ATON_BITSUM:
			bitsum(f->plane, pkt->x);
			break;
		case PW_ATON_TREE:
			tree_leaf(ring, 1, pkt->x);
			break;
		}
	}
	if (ring->pkt_flip && !ring->pkt_flip_hop)
		flip_packet(ring);
	if (unlikely(ring->tap.mem) && !f->damaged)
		pw_ring_fast_tap(ring, pkt->t);
}

/* cost of a visit */
static u32 visit_cost(const struct pw_ring *ring, bool in_block)
{
	u32 cost = 1;

	switch (ring->pkt->cmd->op) {
	case PW_ATON_SORT:
		cost = COST_SORT;
		break;
	case PW_ATON_BITSUM:
	case PW_ATON_TREE:
		cost = COST_DEEP;
		break;
	case PW_ATON_PASSIVE:
		return ring->p.deliver && ring->fast.dst == PW_ATON_RING && !in_block ?
		       COST_DELIVER : COST_REGION;
	}
	if (ring->pkt->cmd->mods & PW_ATON_PREFIX && !in_block)
		cost += COST_LATCH;
	return ring->fast.dst == PW_ATON_RING || in_block ? cost : cost + COST_REGION;
}

/* visit at least one interface, more within @budget; returns the cost */
static u32 visit_next(struct pw_ring *ring, u32 budget)
{
	const struct pw_ring_block *block = NULL;
	struct pw_fast *f = &ring->fast;
	u32 from, end, cost, most;

	from = ring->pkt->t + f->hop;
	end = f->end;
	if (from < ring->n)
		end = min(end, ring->n - ring->pkt->t);
	else
		from -= ring->n;
	if (ring->pkt_flip && f->hop <= ring->pkt_flip_hop)
		end = min(end, ring->pkt_flip_hop + 1);
	if (from < ring->own) {
		end = min(end, f->hop + (ring->own - from));
	} else {
		block = pw_ring_block(ring, from);
		end = min(end, f->hop + (block->first + block->count - from));
	}
	cost = visit_cost(ring, block);
	most = max(budget / cost, 1U);
	/* at most one interface of the block is in the region: no cost for the others */
	if (block && f->dst != PW_ATON_RING)
		most = U32_MAX;
	/* the tap shows every hop */
	if (unlikely(ring->tap.mem))
		most = 1;
	end = min_t(u64, end, (u64)f->hop + most);
	if (block)
		visit_block(ring, block, from, from + (end - f->hop));
	else
		visit_range(ring, from, from + (end - f->hop));
	cost *= most == U32_MAX ? 1 : end - f->hop;
	f->hop = end;
	if (ring->pkt_flip && end == ring->pkt_flip_hop + 1)
		flip_packet(ring);
	if (unlikely(ring->tap.mem) && !f->damaged) {
		pw_ring_fast_tap(ring, from);
		cost += COST_TAP;
	}
	return cost;
}

static u32 scan(struct pw_ring *ring, u32 budget)
{
	struct pw_fast *f = &ring->fast;
	u32 op = ring->pkt->cmd->op;
	u32 used = 1;

	/* nothing uses the result of a damaged packet; only a SORT packet still grows */
	if (f->relayed || (f->damaged && op != PW_ATON_SORT))
		f->hop = f->end;
	if (f->hop < f->end)
		used = visit_next(ring, budget);
	if (f->hop < f->end)
		return used;
	f->phase = FAST_DONE;
	if (op == PW_ATON_SORT && !f->damaged && ring->pkt->counter <= ring->pkt->cmd->room) {
		f->phase = FAST_HEAPIFY;
		f->heap = ring->pkt->counter / 2;
	}
	return used;
}

/* ---- heap sort in place, one sift at a time ---- */

static void sift(u64 *heap, u32 i, u32 n, u64 flip)
{
	u64 x = heap[i];
	u32 child;

	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && (heap[child + 1] ^ flip) > (heap[child] ^ flip))
			child++;
		if ((heap[child] ^ flip) <= (x ^ flip))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = x;
}

static void heapify(struct pw_ring *ring)
{
	struct pw_ring_packet *pkt = ring->pkt;
	struct pw_fast *f = &ring->fast;

	if (f->heap) {
		f->heap--;
		sift(pkt->cmd->out, f->heap, pkt->counter, sign_flip(pkt->cmd));
	} else {
		f->heap = pkt->counter;
		f->phase = FAST_EXTRACT;
	}
}

/* a sorted operand as the caller gets it */
static u64 lower(const struct pw_ring *ring, u64 v)
{
	return pw_aton_extend(v >> below(ring), ring->fmt.width,
			      ring->pkt->cmd->mods & PW_ATON_SIGNED);
}

static void extract(struct pw_ring *ring)
{
	u64 *out = ring->pkt->cmd->out;
	struct pw_fast *f = &ring->fast;

	if (f->heap > 1) {
		f->heap--;
		swap(out[0], out[f->heap]);
		sift(out, 0, f->heap, sign_flip(ring->pkt->cmd));
		out[f->heap] = lower(ring, out[f->heap]);
	} else {
		if (f->heap)
			out[0] = lower(ring, out[0]);
		f->phase = FAST_DONE;
	}
}

/* counts of a BITSUM; one that does not fit is modulo its size */
static void put_parts(struct pw_ring *ring)
{
	const u64 *plane = ring->fast.plane;
	u32 *parts = ring->pkt->cmd->parts;
	u32 i, k;

	memset(parts, 0, PW_ATON_PARTS * sizeof(*parts));
	for (k = 0; k < ring->fmt.part; k++)
		for (i = 0; i < ring->fmt.width; i++)
			parts[i] |= (u32)(plane[k] >> (i + below(ring)) & 1) << k;
}

static void finish(struct pw_ring *ring)
{
	struct pw_ring_packet *pkt = ring->pkt;
	struct pw_ring_cmd *cmd = pkt->cmd;
	struct pw_fast *f = &ring->fast;
	u8 err = PW_ATON_OK;
	u64 when;

	f->phase = FAST_IDLE;
	pkt->v1 >>= below(ring);
	/* those before it are back sooner */
	while (pkt->hold && ring->flight != pkt)
		end_first(ring);
	if (ring->pkt_stuck) {
		pw_ring_end(ring, pkt, PW_ATON_E_LOST, pw_ring_give_up(ring, pkt));
		return;
	}
	if (pw_ring_may_leave(ring, &when)) {
		pw_ring_abandon(ring, when);
		if (ring->state == PW_RING_ORPHAN)
			pw_ring_reissue(ring, pkt->start + pkt->bits + ring->turn +
					pw_ring_dist(ring, pkt->t, ring->monitor));
		return;
	}
	if (f->damaged)
		err = PW_ATON_E_CRC;
	else if (cmd->op == PW_ATON_TREE && pkt->counter != 1u << cmd->heights)
		err = PW_ATON_E_SHAPE;
	else if (cmd->op == PW_ATON_SORT && pkt->counter > cmd->room)
		err = PW_ATON_E_ROOM;
	if (cmd->op == PW_ATON_BITSUM)
		put_parts(ring);
	pkt->err = err;
	pkt->end = pkt->start + pkt->bits + (u64)ring->fmt.width * f->extra + ring->turn;
	if (pkt->hold)
		end_first(ring);
	else
		pw_ring_pass_on(ring, pkt->start + pkt->bits);
}

/* ---- packets to a group, one after another ---- */

/* does the command do nothing but reduce the operands of the interfaces at @dst? */
static bool is_plain(const struct pw_ring_cmd *cmd, u32 dst)
{
	return cmd->op >= PW_ATON_ADD && cmd->op <= PW_ATON_MIN && !(cmd->mods & PW_ATON_PREFIX) &&
	       cmd->dst == dst;
}

/* does the packet do nothing but reduce the operands of a group, seen by no tap? */
static bool is_reduction(const struct pw_ring *ring)
{
	const struct pw_ring_cmd *cmd = ring->pkt->cmd;

	return is_plain(cmd, PW_ATON_GROUP | (cmd->dst & PW_ATON_GROUP_MASK)) &&
	       ring->p.release == PW_RING_BACK && !ring->changed && !ring->pkt_flip &&
	       !ring->pkt_stuck && !ring->leaving && !ring->tap.mem;
}

/* the interfaces from @from on, before @to, that are in the region; false: too many */
static bool gather(struct pw_ring *ring, u32 from, u32 to)
{
	struct pw_ring_group *g = &ring->in_group;
	u32 w, end;
	u64 mask;

	for (; from < to; from = end) {
		w = from / 64;
		end = min_t(u32, to, w * 64 + 64);
		mask = ~0ULL << from % 64;
		if (end % 64)
			mask &= ~(~0ULL << end % 64);
		for (mask = members(ring, w, mask); mask; mask &= mask - 1) {
			u32 i = w * 64 + __ffs64(mask);

			if (g->n == PW_RING_GROUP_MAX)
				return false;
			g->mapped[g->n] = pw_ring_bit(ring->mapped, i) ? ring->sender[i] : NULL;
			g->interface[g->n++] = i;
		}
	}
	return true;
}

/* in ring order, all but the T-interface; false: the group is too large for this */
static bool gather_group(struct pw_ring *ring)
{
	const struct pw_ring_packet *pkt = ring->pkt;
	struct pw_ring_group *g = &ring->in_group;
	u32 dst = pkt->cmd->dst, i;

	/* interfaces of blocks are in no group, but may have this address */
	for (i = 0; i < ring->nblocks; i++)
		if (dst >= ring->block[i]->addr &&
		    dst - ring->block[i]->addr < ring->block[i]->count)
			return false;
	ring->fast.dst = dst;
	g->n = 0;
	g->dst = dst;
	g->t = pkt->t;
	g->known = gather(ring, pkt->t + 1, ring->own) && gather(ring, 0, pkt->t);
	return g->known;
}

/* a packet to a group passes all interfaces, and is back; returns the cost */
static u32 pass_group(struct pw_ring *ring, struct pw_ring_packet *pkt)
{
	const struct pw_ring_group *g = &ring->in_group;
	const struct pw_ring_cmd *cmd = pkt->cmd;
	const u64 *bank = ring->operand + (size_t)cmd->reg * ring->p.capacity;
	u32 shift = below(ring), reg = cmd->reg, i, k, count;
	const struct pw_ring_sender *sender;
	u64 x[64];

	pkt->v1 <<= shift;
	for (i = 0; i < g->n; i += count) {
		count = min_t(u32, g->n - i, ARRAY_SIZE(x));
		for (k = 0; k < count; k++) {
			sender = g->mapped[i + k];
			x[k] = likely(sender) ? pw_ring_fetch_sender(sender, reg) :
						bank[g->interface[i + k]];
		}
		for (k = 0; unlikely(shift) && k < count; k++)
			x[k] <<= shift;
		if (cmd->op <= PW_ATON_OR) {
			fold(pkt, x, count);
			continue;
		}
		k = extreme(pkt, x, count);
		if (k < count)
			pkt->v2 = ring->addr[g->interface[i + k]];
	}
	pkt->v1 >>= shift;
	pkt->counter += g->n;
	if (g->n)
		pkt->trailer |= PW_TRL_RECOGNISED;
	pkt->err = PW_ATON_OK;
	pkt->end = pkt->start + pkt->bits + ring->turn;
	return g->n * COST_MEMBER;
}

/*
 * Does the interface that sent the last packet to a group get its token back, and can nothing but
 * its next packet happen then? What is asked here does not change before the ring's caller is back.
 */
static bool is_alone(const struct pw_ring *ring)
{
	const struct pw_ring_group *g = &ring->in_group;

	return g->known && ring->tok_from == g->t && ring->state == PW_RING_TOKEN &&
	       !ring->flight && !ring->standing && !ring->changed && !ring->leaving &&
	       !ring->flip && !ring->stuck && !ring->leave && !ring->lose && !ring->dup;
}

/*
 * The next packets of an interface that has sent one to the same group: as start_packet() does one
 * of them. Returns the cost; 0: there is none.
 */
static u32 pass_again(struct pw_ring *ring, u64 until, u32 budget)
{
	const struct pw_ring_group *g = &ring->in_group;
	struct pw_ring_sender *sender;
	struct pw_ring_packet *pkt;
	u32 cost = 0;

	if (!is_alone(ring))
		return 0;
	sender = ring->sender[g->t];
	pkt = &sender->pkt;
	while (ring->nready == 1 && !ring->future && pw_ring_bit(ring->ready, g->t) &&
	       is_plain(sender->head, g->dst)) {
		pkt->start = ring->tok_at + ring->turn;
		if (ring->now > pkt->start || pkt->start > until)
			break;
		pw_ring_reload(ring, pkt, sender->head);
		cost += COST_AGAIN + pass_group(ring, pkt);
		pw_ring_again(ring, pkt);
		if (cost >= budget)
			break;
	}
	return cost;
}

/*
 * Start a packet, and if it goes to the group that the one before it went to, from the same
 * interface, let it pass as well, and those that follow it. An interface that joins or leaves a
 * group by its group mask register between them does so before or after all of them.
 *
 * Return: the cost; 0: there is none that may start by @until.
 */
static u32 start_packet(struct pw_ring *ring, u64 until, u32 budget)
{
	struct pw_ring_group *g = &ring->in_group;
	u32 cost = pass_again(ring, until, budget);

	if (cost)
		return cost;
	cost = COST_AGAIN;
	g->known = false;
	if (!next_again(ring, until)) {
		if (!next_packet(ring, until))
			return 0;
		cost = COST_PACKET + COST_STANDING * ring->nstanding;
	}
	if (!is_reduction(ring)) {
		begin_scan(ring);
		return max_t(u32, cost, COST_PACKET);
	}
	cost += ring->own * (COST_REGION + 1);
	if (!gather_group(ring)) {
		begin_scan(ring);
		return cost;
	}
	cost += pass_group(ring, ring->pkt);
	end_first(ring);
	return cost;
}

static enum pw_ring_progress fast_run(struct pw_ring *ring, u64 until, u32 budget)
{
	struct pw_fast *f = &ring->fast;
	u32 used;

	until = min(until, PW_RING_NEVER - 2 * PW_ATON_TOKEN);
	/* members of a group may have changed since the last call */
	ring->in_group.known = false;
	for (; budget; budget -= min(used, budget)) {
		used = 1;
		switch (f->phase) {
		case FAST_IDLE:
			used = start_packet(ring, until, budget);
			if (!used)
				return PW_RING_IDLE;
			break;
		case FAST_SCAN:
			used = scan(ring, budget);
			break;
		case FAST_HEAPIFY:
			heapify(ring);
			used = COST_SIFT;
			break;
		case FAST_EXTRACT:
			extract(ring);
			used = COST_SIFT;
			break;
		case FAST_DONE:
			finish(ring);
			break;
		}
	}
	return PW_RING_MORE;
}

static void fast_wipe(struct pw_ring *ring)
{
	memset(&ring->fast, 0, sizeof(ring->fast));
}

/* a duplicate token circulates without effect: count it if the ring has room for two */
static void fast_token(struct pw_ring *ring)
{
	if (ring->dup)
		ring->stats.tokens_dup += ring->turn >= 2 * PW_ATON_TOKEN;
	ring->dup = false;
}

static void fast_tap_reset(struct pw_ring *ring)
{
	ring->tap.sorted = 0;
}

const struct pw_ring_engine pw_ring_fast = {
	.run = fast_run,
	.wipe = fast_wipe,
	.token = fast_token,
	.tap_reset = fast_tap_reset,
};
