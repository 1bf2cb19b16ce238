// SPDX-License-Identifier: GPL-2.0
/*
 * ATON, register by register: what every interface does in every bit time.
 *
 * In bit time c each interface takes in one symbol and sets the one that it sends
 * in bit time c + 1. Its units, in the order in which a symbol meets them:
 *
 *   modem            window of the last eight symbols, for delimiters
 *   access control   takes the token, sends it, times the packet out
 *   monitor's gate   keeps out what has no right to be on the ring
 *   input machine    bit and field counters, address and opcode recognition, CRC in
 *   output machine   arithmetic unit, compare/select unit, shift register, CRC out
 *
 * This is the reference for ring_fast.c, and shares no arithmetic with it.
 */
#include "ring_priv.h"

enum access_mode { REPEAT, SEND, AWAIT, TOKEN };
enum frame_kind { FRAME_NONE, FRAME_TOKEN, FRAME_PACKET, FRAME_RELAY };
enum gate_kind { GATE_OPEN, GATE_TOKEN, GATE_PACKET };

struct pw_rtl_if {
	/* modem */
	u16 window;
	u8 out;			/* the one bit of delay */

	/* access control */
	u8 mode;
	u8 tokens;		/* seen in a row */
	u8 gate;
	u64 next_token;		/* none is due before this bit time */
	u64 open_at;		/* no frame is */
	u64 frame_start;
	struct pw_aton_place tx;
	u64 sent;
	u32 tx_crc;

	/* input machine */
	u8 frame;
	bool mine;		/* up and in the region */
	bool bad;		/* CRC or delimiter */
	bool all_ones, equal, group_space, group_hit;
	u32 group;
	u32 addr;
	u16 control;
	u32 count;		/* Counter as it came in */
	u32 crc_in;
	u64 value;		/* of the field coming in */
	struct pw_aton_place at;

	/* output machine */
	bool carry, overflow;
	bool gt, lt;		/* TeSet */
	bool inserting;		/* shift register in the path */
	u8 drain;
	u8 depth;		/* TREE: heights that this interface works at */
	u32 crc_out;
	u64 x;			/* operand; TREE: what is accumulated */
	u64 next_x;
	u64 sr0, sr1, sr_crc;	/* shift register: 64 symbols, 64 "part of the CRC" marks */
};

static size_t rtl_size(const struct pw_ring_params *params)
{
	return ((size_t)params->capacity + params->extra) *
	       (sizeof(struct pw_rtl_if) + params->propagation);
}

static void rtl_init(struct pw_ring *ring, void *mem)
{
	ring->rtl.ifs = mem;
	ring->rtl.wire = (u8 *)mem +
			 ((size_t)ring->p.capacity + ring->p.extra) * sizeof(struct pw_rtl_if);
	ring->rtl.taking_at = PW_RING_NEVER;
	ring->rtl.flip_at = PW_RING_NEVER;
	ring->rtl.back_at = PW_RING_NEVER;
	ring->rtl.strip_at = PW_RING_NEVER;
}

/*
 * A listener sees packets at every interface that sends or relays one: bits in the order in
 * which they are on the ring, eight to a byte, the first one most significant, without the
 * delimiters.
 */

/* what one interface sends */
struct rtl_tap {
	u64 start;
	u32 bits;
	u16 window;
	bool packet;
	u8 byte[];
};

static struct rtl_tap *rtl_tap(const struct pw_ring *ring, u32 i)
{
	return (struct rtl_tap *)((u8 *)ring->tap.mem + (size_t)i * ring->tap.stride);
}

static void rtl_tap_reset(struct pw_ring *ring)
{
	struct pw_ring_tap *t = &ring->tap;
	u32 i;

	t->stride = ring->n ? (t->size / ring->n) & ~(size_t)7 : 0;
	if (t->stride <= sizeof(struct rtl_tap))
		return;
	for (i = 0; i < ring->n; i++)
		memset(rtl_tap(ring, i), 0, sizeof(struct rtl_tap));
}

/* the ring falls silent, which all interfaces notice */
static void rtl_wipe(struct pw_ring *ring)
{
	struct pw_rtl *rtl = &ring->rtl;

	memset(rtl->ifs, 0, ring->n * sizeof(*rtl->ifs));
	memset(rtl->wire, 0, (size_t)ring->n * ring->p.propagation);
	memset(rtl->pad, 0, sizeof(rtl->pad));
	rtl->wire_at = 0;
	rtl->pad_at = 0;
	rtl->quiet = 0;
	rtl->taking_at = PW_RING_NEVER;
	rtl->flip_at = PW_RING_NEVER;
	rtl->back_at = PW_RING_NEVER;
	rtl->strip_at = PW_RING_NEVER;
	if (ring->tap.mem)
		rtl_tap_reset(ring);
}

static void rtl_start(struct pw_ring *ring, u64 now)
{
	ring->rtl.cycle = now;
}

/* modem */

static u32 wrong_symbols(u16 window, u16 delim)
{
	u16 diff = window ^ delim;

	return hweight32((diff | diff >> 1) & 0x5555);
}

static bool is_delim(u16 window, u16 delim)
{
	return wrong_symbols(window, delim) <= 1;
}

/* J K . J K . and then a third violation: six symbols of it, and it is a token */
static bool is_token_head(u16 window)
{
	return (window & 0x2aaa) == 0x28a2;
}

static bool violation(u8 sym)
{
	return sym >= PW_SYM_J;
}

/* transmitter of the T-interface */

static u64 tx_value(const struct pw_ring_packet *pkt, const struct pw_aton_place *tx)
{
	const struct pw_ring_cmd *cmd = pkt->cmd;

	switch (tx->field) {
	case PW_FLD_CONTROL:
		return pkt->control;
	case PW_FLD_DST:
		return cmd->dst;
	case PW_FLD_SRC:
		return pkt->addr;
	case PW_FLD_COUNTER:
		return pkt->counter;
	case PW_FLD_V1:
		return pkt->v1;
	case PW_FLD_V2:
		return pkt->v2;
	case PW_FLD_OPERAND:
		return pkt->x;
	case PW_FLD_PART:
		return pkt->in_region ? pkt->x >> tx->index & 1 : 0;
	case PW_FLD_HEIGHTS:
		return cmd->heights;
	case PW_FLD_TREE_OP:
		return cmd->ops[tx->index];
	case PW_FLD_LEVEL:
		return pkt->in_region && !tx->index ? pkt->x : 0;
	case PW_FLD_BYTE:
		return cmd->data[tx->index];
	case PW_FLD_TRAILER:
		return pkt->trailer;
	}
	return 0;
}

static u8 delim_symbol(u16 delim, u32 k)
{
	return delim >> (14 - 2 * k) & 3;
}

static u8 transmit(struct pw_ring *ring, struct pw_rtl_if *st)
{
	const struct pw_ring_packet *pkt = &ring->pkt;
	struct pw_aton_place *tx = &st->tx;
	u64 k = st->sent++;
	u8 sym;

	if (k < PW_ATON_DELIM)
		return delim_symbol(PW_ATON_SD, k);
	if (st->sent == pkt->bits)
		st->mode = AWAIT;
	if (tx->field == PW_FLD_END)
		return delim_symbol(PW_ATON_ED, tx->bit++);
	if (tx->field == PW_FLD_CRC) {
		sym = st->tx_crc >> 31;
		st->tx_crc <<= 1;
	} else {
		if (tx->field == PW_FLD_TREE_OP)
			tx->tree_op = pkt->cmd->ops[tx->index];
		sym = tx_value(pkt, tx) >> pw_aton_bit(tx) & 1;
		st->tx_crc = pw_aton_crc(st->tx_crc, sym);
	}
	pw_aton_advance(tx);
	return sym;
}

/* TD, access byte, ED; a duplicate follows at once */
static u8 transmit_token(struct pw_ring *ring, struct pw_rtl_if *st)
{
	u32 k = st->sent++;

	if (k == PW_ATON_TOKEN - 1) {
		st->mode = REPEAT;
		if (ring->dup && ring->turn >= 2 * PW_ATON_TOKEN) {
			st->mode = TOKEN;
			st->sent = 0;
			ring->stats.tokens_dup++;
		}
		ring->dup = false;
	}
	if (k < 8)
		return delim_symbol(PW_ATON_TD, k);
	if (k < 16)
		return PW_ATON_AC >> (15 - k) & 1;
	return delim_symbol(PW_ATON_ED, k - 16);
}

/* access control */

/* would this interface take a token whose first symbol it would send at @start? */
static bool wants_token(struct pw_ring *ring, u32 i, u64 start, u64 until)
{
	const struct pw_rtl_if *st = &ring->rtl.ifs[i];
	const struct pw_ring_port *port = i < ring->own ? ring->port[i] : NULL;

	if (!port || !pw_ring_bit(ring->up, i) || st->mode != REPEAT ||
	    start < st->next_token || start > until)
		return false;
	if (pw_ring_take(ring, i, start))
		return true;
	return port->standing && st->tokens && start >= port->standing_after;
}

static void take_token(struct pw_ring *ring, u32 i, u64 start)
{
	struct pw_rtl_if *st = &ring->rtl.ifs[i];

	pw_ring_begin(ring, i, start);
	ring->rtl.taking_at = PW_RING_NEVER;
	st->mode = SEND;
	st->sent = PW_ATON_DECIDE + 1;
	st->tx_crc = ~0u;
	memset(&st->tx, 0, sizeof(st->tx));
	st->tx.op = ring->pkt.cmd->op;
	st->tx.repeat = ring->pkt.counter;
	st->tx.heights = ring->pkt.cmd->heights;
}

/* input machine */

static void begin_packet(struct pw_ring *ring, u32 i)
{
	struct pw_rtl_if *st = &ring->rtl.ifs[i];

	st->frame = FRAME_PACKET;
	st->mine = false;
	st->bad = st->window != PW_ATON_SD;
	st->all_ones = true;
	st->equal = true;
	st->group_space = true;
	st->group_hit = false;
	st->group = pw_ring_group(ring, i);	/* whole, whatever a program stores now */
	st->addr = pw_ring_id(ring, i);
	st->value = 0;
	st->crc_in = ~0u;
	st->crc_out = ~0u;
	st->overflow = false;
	st->depth = 0;
	memset(&st->at, 0, sizeof(st->at));
	if (st->mode != REPEAT) {
		st->at.op = ring->pkt.cmd->op;
		st->at.heights = ring->pkt.cmd->heights;
	}
}

/* address recognition, bit by bit: all ones, own address, mask of a group */
static void recognise(struct pw_ring *ring, u32 i, u8 in, u32 k)
{
	struct pw_rtl_if *st = &ring->rtl.ifs[i];

	st->all_ones &= in;
	st->equal &= in == (st->addr >> k & 1);
	if (k >= 20)
		st->group_space &= in == (PW_ATON_GROUP >> k & 1);
	else
		st->group_hit |= in & (st->group >> k);
	if (!k && (st->all_ones || st->equal || (st->group_space && st->group_hit)))
		st->mine = st->mode == REPEAT;
}

/* the T-interface's own packet is back: its result registers */
static void keep_result(struct pw_ring *ring, struct pw_rtl_if *st)
{
	struct pw_ring_packet *pkt = &ring->pkt;
	struct pw_ring_cmd *cmd = pkt->cmd;

	switch (st->at.field) {
	case PW_FLD_CONTROL:
		st->bad |= st->value != pkt->control;
		break;
	case PW_FLD_DST:
		st->bad |= st->value != cmd->dst;
		break;
	case PW_FLD_SRC:
		st->bad |= st->value != pkt->addr;
		break;
	case PW_FLD_COUNTER:
		pkt->counter = st->value;
		break;
	case PW_FLD_V1:
		pkt->v1 = st->value;
		break;
	case PW_FLD_V2:
		pkt->v2 = st->value;
		break;
	case PW_FLD_OPERAND:
		if (st->at.index < cmd->room)
			cmd->out[st->at.index] = st->value;
		break;
	case PW_FLD_PART:
		cmd->parts[st->at.index] = st->value;
		break;
	case PW_FLD_HEIGHTS:
		st->bad |= st->value != cmd->heights;
		break;
	case PW_FLD_TRAILER:
		pkt->trailer = st->value;
		break;
	}
}

/* TeSet starts anew: operand and stream are equal so far */
static inline void compare_anew(struct pw_rtl_if *st)
{
	st->gt = false;
	st->lt = false;
}

/* the control field is complete: an interface that cannot execute it relays the packet */
static inline void control_done(struct pw_rtl_if *st)
{
	st->control = st->value;
	if (st->mode != REPEAT)
		return;
	st->at.op = pw_aton_opcode(st->control);
	if (!pw_aton_control_ok(st->control))
		st->frame = FRAME_RELAY;
}

/* the destination is complete: an interface in the region fetches its operand */
static inline void dst_done(struct pw_ring *ring, u32 i)
{
	struct pw_rtl_if *st = &ring->rtl.ifs[i];
	u32 reg = (st->control & PW_CTL_REG) >> 6;

	if (!st->mine || st->at.op == PW_ATON_PASSIVE)
		return;
	st->mine = pw_ring_has(ring, i, reg);
	if (st->mine)
		st->x = pw_ring_fetch(ring, i, reg);
}

/* the Counter is complete: heights of a TREE, shift register of a SORT */
static inline void counter_done(struct pw_rtl_if *st)
{
	st->count = st->value;
	st->at.repeat = st->value;
	st->carry = false;
	compare_anew(st);
	if (!st->mine)
		return;
	st->depth = __ffs64(st->value + 1);
	if (st->at.op == PW_ATON_SORT) {
		st->inserting = true;
		st->sr0 = st->x;
		st->sr1 = 0;
		st->sr_crc = 0;
	}
}

/* Variable-1 is complete: a sum may overflow, a count's hit is carried into Variable-2 */
static inline void v1_done(struct pw_rtl_if *st)
{
	if (st->at.op == PW_ATON_ADD)
		st->overflow |= st->carry;
	st->carry = (st->at.op == PW_ATON_COUNT_EQ && !st->gt && !st->lt) ||
		    (st->at.op == PW_ATON_COUNT_LT && st->gt) ||
		    (st->at.op == PW_ATON_COUNT_LE && !st->lt);
}

/* a field of a passing packet is complete: what follows from it */
static void field_done(struct pw_ring *ring, u32 i)
{
	struct pw_rtl_if *st = &ring->rtl.ifs[i];

	if (st->mode != REPEAT)
		keep_result(ring, st);
	switch (st->at.field) {
	case PW_FLD_CONTROL:
		control_done(st);
		break;
	case PW_FLD_DST:
		dst_done(ring, i);
		break;
	case PW_FLD_SRC:
		/* a carry into the Counter: one more takes part */
		st->carry = st->mine && st->at.op != PW_ATON_PASSIVE;
		break;
	case PW_FLD_COUNTER:
		counter_done(st);
		break;
	case PW_FLD_V1:
		v1_done(st);
		break;
	case PW_FLD_OPERAND:
		compare_anew(st);
		break;
	case PW_FLD_HEIGHTS:
		if (st->mode == REPEAT)
			st->at.heights = st->value;
		break;
	case PW_FLD_TREE_OP:
		st->at.tree_op = st->value;
		st->next_x = 0;
		st->carry = false;
		compare_anew(st);
		break;
	case PW_FLD_LEVEL:
		if (st->mine && st->at.index < st->depth) {
			st->x = st->next_x;
			st->overflow |= st->at.tree_op == PW_ATON_ADD && st->carry;
		}
		break;
	}
	st->value = 0;
}

/* output machine */

static u8 full_adder(struct pw_rtl_if *st, u8 in, u8 x)
{
	u8 sum = in ^ x ^ st->carry;

	st->carry = (in & x) | (in & st->carry) | (x & st->carry);
	return sum;
}

/* TeSet: the first bit where the operand and the stream differ decides */
static void test_and_set(struct pw_rtl_if *st, u8 in, u8 x, bool sign_bit)
{
	if (st->gt || st->lt || in == x)
		return;
	if (sign_bit)
		swap(in, x);
	st->gt = x > in;
	st->lt = x < in;
}

static bool at_sign(const struct pw_rtl_if *st, u32 k)
{
	return k == 63 && (st->control & PW_CTL_SIGNED);
}

/* one bit of one of the operations that an expression tree may use */
static u8 operate(struct pw_rtl_if *st, u8 op, u8 in, u8 x, u32 k)
{
	switch (op) {
	case PW_ATON_ADD:
		return full_adder(st, in, x);
	case PW_ATON_AND:
		return in & x;
	case PW_ATON_OR:
		return in | x;
	case PW_ATON_MAX:
		test_and_set(st, in, x, at_sign(st, k));
		return st->gt ? x : in;
	case PW_ATON_MIN:
		test_and_set(st, in, x, at_sign(st, k));
		return st->lt ? x : in;
	}
	return in;
}

/* SORT: the smaller of the operand passing and the one held goes on */
static u8 exchange(struct pw_rtl_if *st, u8 in, u32 k)
{
	u8 held = st->sr0 >> 63;
	u8 out;

	test_and_set(st, in, held, at_sign(st, k));
	out = st->lt ? held : in;
	st->sr0 = st->sr0 << 1 | (st->lt ? in : held);
	return out;
}

/* what an interface in the region does to the bit; @k is its weight */
static u8 compute(struct pw_ring *ring, u32 i, u8 in, u32 k)
{
	struct pw_rtl_if *st = &ring->rtl.ifs[i];
	u8 x = st->x >> (k & 63) & 1;
	u8 op = st->at.op;

	switch (st->at.field) {
	case PW_FLD_COUNTER:
		return full_adder(st, in, 0);
	case PW_FLD_V1:
		if (op == PW_ATON_TREE)
			return st->depth >= st->at.heights ? x : in;
		if (op <= PW_ATON_MIN)
			return operate(st, op, in, x, k);
		test_and_set(st, in, x, at_sign(st, k));
		return in;
	case PW_FLD_V2:
		if (op == PW_ATON_MAX ? !st->lt : op == PW_ATON_MIN && !st->gt)
			return k < 24 ? st->addr >> k & 1 : 0;
		return op >= PW_ATON_COUNT_EQ ? full_adder(st, in, 0) : in;
	case PW_FLD_OPERAND:
		return exchange(st, in, k);
	case PW_FLD_PART:
		if (!k)
			st->carry = st->x >> st->at.index & 1;
		return full_adder(st, in, 0);
	case PW_FLD_LEVEL:
		if (st->at.index < st->depth)
			st->next_x |= (u64)operate(st, st->at.tree_op, in, x, k) << k;
		return st->at.index == st->depth ? x : in;
	case PW_FLD_TRAILER:
		return in | (k == 6 && st->overflow) | (k == 5);
	}
	return in;
}

/* the shift register of a sorting interface */
static u8 delay(struct pw_rtl_if *st, u8 sym, bool *crc)
{
	u8 out = (st->sr0 >> 63) | (st->sr1 >> 63) << 1;
	bool out_crc = st->sr_crc >> 63;

	st->sr0 = st->sr0 << 1 | (sym & 1);
	st->sr1 = st->sr1 << 1 | sym >> 1;
	st->sr_crc = st->sr_crc << 1 | *crc;
	*crc = out_crc;
	if (st->drain && !--st->drain)
		st->inserting = false;
	return out;
}

/*
 * CRC generator: what it covers is what is sent. A CRC bit comes in as "must be
 * inverted", because only here is the CRC known.
 */
static u8 cover(struct pw_rtl_if *st, u8 sym, bool crc)
{
	if (crc) {
		sym ^= st->crc_out >> 31;
		st->crc_out <<= 1;
	} else if (!violation(sym)) {
		st->crc_out = pw_aton_crc(st->crc_out, sym);
	}
	return sym;
}

/* one data bit of a packet through input and output machine */
static u8 packet_bit(struct pw_ring *ring, u32 i, u8 in)
{
	struct pw_rtl_if *st = &ring->rtl.ifs[i];
	struct pw_aton_place *at = &st->at;
	u32 k = pw_aton_bit(at);
	bool direct = !st->inserting;
	bool crc = false;
	u8 sym = in;

	if (at->field == PW_FLD_CRC) {
		/* from the first mismatch on, all bits are sent inverted */
		st->bad |= in != st->crc_in >> 31;
		st->crc_in <<= 1;
		crc = true;
		sym = st->bad;
	} else {
		st->crc_in = pw_aton_crc(st->crc_in, in);
		st->value |= (u64)in << k;
		if (at->field == PW_FLD_DST)
			recognise(ring, i, in, k);
		else if (st->mine)
			sym = compute(ring, i, in, k);
		direct |= at->field == PW_FLD_OPERAND;
	}
	if (!direct)
		sym = delay(st, sym, &crc);
	sym = cover(st, sym, crc);
	if (at->bit == pw_aton_width(at->field) - 1)
		field_done(ring, i);
	pw_aton_advance(at);
	return sym;
}

/* any symbol; packets that make no sense pass unchanged */
static u8 relay(struct pw_ring *ring, u32 i, u8 in)
{
	struct pw_rtl_if *st = &ring->rtl.ifs[i];
	bool crc = false;

	if (st->frame == FRAME_PACKET && st->at.field != PW_FLD_END) {
		if (!violation(in))
			return packet_bit(ring, i, in);
		st->frame = FRAME_RELAY;
	}
	if (st->frame == FRAME_PACKET && st->at.bit < U8_MAX)
		st->at.bit++;
	if (st->inserting) {
		in = delay(st, in, &crc);
		in = cover(st, in, crc);
	}
	return in;
}

/* delimiters, once complete */

static void frame_ends(struct pw_ring *ring, u32 i)
{
	struct pw_rtl_if *st = &ring->rtl.ifs[i];
	struct pw_rtl *rtl = &ring->rtl;
	bool good;

	good = st->frame == FRAME_PACKET && st->at.field == PW_FLD_END &&
	       st->at.bit == PW_ATON_DELIM && st->window == PW_ATON_ED && !st->bad;
	if (st->frame == FRAME_TOKEN) {
		if (st->gate == GATE_OPEN)
			st->open_at = st->frame_start + ring->turn;
	} else if (st->mode != REPEAT) {
		rtl->back_at = rtl->cycle + 2;
		rtl->back_good = good;
	} else {
		st->open_at = rtl->cycle + 2 + ring->turn;
		if (st->gate == GATE_PACKET)
			rtl->strip_at = rtl->cycle + 2;
		if (good && st->mine && st->at.op == PW_ATON_PASSIVE &&
		    ring->state == PW_RING_PACKET && ring->p.deliver &&
		    !(ring->pkt_stuck && i == ring->stuck_iface))
			ring->p.deliver(ring->p.ctx, i, ring->pkt.cmd, rtl->cycle + 2);
	}
	if (st->inserting)
		st->drain = 64;
	st->frame = FRAME_NONE;
	st->gate = GATE_OPEN;
	st->window = 0;
}

static void delimiter(struct pw_ring *ring, u32 i, bool shut)
{
	struct pw_rtl_if *st = &ring->rtl.ifs[i];
	u64 start = ring->rtl.cycle - 6;
	u8 was = st->frame;

	if (is_delim(st->window, PW_ATON_TD)) {
		st->frame = FRAME_TOKEN;
		st->frame_start = start;
		st->gate = shut ? GATE_TOKEN : GATE_OPEN;
		if (start >= st->next_token) {
			st->tokens = st->mode == REPEAT;
			st->next_token = start + ring->turn;
		}
	} else if (is_delim(st->window, PW_ATON_SD)) {
		st->frame_start = start;
		st->tokens = 0;
		begin_packet(ring, i);
		st->gate = shut ? GATE_PACKET : GATE_OPEN;
		if (shut || (!pw_ring_up(ring, i) && st->mode == REPEAT))
			st->frame = FRAME_RELAY;
	} else if (st->frame != FRAME_NONE && is_delim(st->window, PW_ATON_ED)) {
		frame_ends(ring, i);
	}
	if (i == ring->monitor && st->frame != was)
		ring->rtl.quiet = 0;
}

/*
 * The first symbol of the token has reached an interface that will take it. If a
 * flip was ordered, this is the packet, and it is known where the symbol will be.
 */
static void will_take(struct pw_ring *ring, u32 i, u64 start)
{
	struct pw_rtl *rtl = &ring->rtl;

	/* those behind see it too, before they see that it is taken */
	if (rtl->taking_at != PW_RING_NEVER)
		return;
	rtl->taking_at = start;
	if (!ring->flip || ring->flip_hop >= ring->n)
		return;
	rtl->flip_if = (i + ring->flip_hop) % ring->n;
	rtl->flip_at = start + ring->flip_bit;
	if (ring->flip_hop)
		rtl->flip_at += pw_ring_dist(ring, i, rtl->flip_if);
}

static void step(struct pw_ring *ring, u32 i, u8 in, u64 until)
{
	struct pw_rtl_if *st = &ring->rtl.ifs[i];
	u64 c = ring->rtl.cycle;
	bool shut;
	u8 sym;

	/* most of the time most interfaces see nothing but fill */
	if (!in && !(st->window & 0x2aaa) && st->frame == FRAME_NONE && !st->inserting &&
	    st->mode == REPEAT) {
		st->window <<= 2;
		st->out = 0;
		return;
	}
	st->window = st->window << 2 | in;
	shut = i == ring->monitor && st->mode == REPEAT &&
	       (st->gate || (st->frame == FRAME_NONE && c + 1 < st->open_at));
	if (st->frame == FRAME_NONE && !shut && ring->state == PW_RING_TOKEN) {
		if (violation(in) && !(st->window & 0xaaa8) && wants_token(ring, i, c + 1, until))
			will_take(ring, i, c + 1);
		if (is_token_head(st->window) && wants_token(ring, i, c - PW_ATON_DECIDE, until))
			take_token(ring, i, c - PW_ATON_DECIDE);
	}
	sym = relay(ring, i, shut ? 0 : in);
	if (st->window & 0xaaaa)
		delimiter(ring, i, shut);
	switch (st->mode) {
	case REPEAT:
		st->out = sym;
		break;
	case SEND:
		st->out = transmit(ring, st);
		break;
	case AWAIT:
		st->out = 0;
		break;
	case TOKEN:
		st->out = transmit_token(ring, st);
		break;
	}
	if (ring->state == PW_RING_PACKET && ring->pkt_stuck && i == ring->stuck_iface)
		st->out = 0;
}

/* what an interface sends reaches the next one after the propagation delay */
static u8 wire(struct pw_ring *ring, u32 i, u8 sym)
{
	struct pw_rtl *rtl = &ring->rtl;
	u32 p = ring->p.propagation;
	u8 *cell;

	if (p) {
		cell = &rtl->wire[(size_t)i * p + rtl->wire_at];
		swap(*cell, sym);
	}
	if (!i && ring->pad) {
		cell = &rtl->pad[rtl->pad_at];
		swap(*cell, sym);
	}
	return sym;
}

/* one symbol of every interface; rtl->cycle is the bit time in which they are sent */
static void tap_symbols(struct pw_ring *ring)
{
	size_t room = (size_t)ring->tap.stride - sizeof(struct rtl_tap);
	struct rtl_tap *t;
	u8 sym;
	u32 i;

	if (ring->tap.stride <= sizeof(struct rtl_tap))
		return;
	for (i = 0; i < ring->n; i++) {
		t = rtl_tap(ring, i);
		sym = ring->rtl.ifs[i].out;
		if (!sym && !t->packet && !t->window)
			continue;
		t->window = t->window << 2 | sym;
		if (t->window == PW_ATON_SD) {
			t->packet = true;
			t->bits = 0;
			t->start = ring->rtl.cycle - (PW_ATON_DELIM - 1);
			continue;
		}
		if (!t->packet)
			continue;
		if (sym >= PW_SYM_J) {
			t->packet = false;
			if (t->bits && !(t->bits % 8) && t->bits / 8 <= room)
				ring->p.tap(ring->p.ctx, i, t->start, t->byte, t->bits / 8);
			continue;
		}
		if (t->bits / 8 < room) {
			if (!(t->bits % 8))
				t->byte[t->bits / 8] = 0;
			t->byte[t->bits / 8] |= sym << (7 - t->bits % 8);
		}
		t->bits++;
	}
}

/* one bit time */
static void bit_time(struct pw_ring *ring, u64 until)
{
	struct pw_rtl *rtl = &ring->rtl;
	const struct pw_rtl_if *m;
	u8 last = rtl->ifs[ring->n - 1].out;
	u32 i;

	for (i = ring->n - 1; i; i--)
		step(ring, i, wire(ring, i, rtl->ifs[i - 1].out), until);
	step(ring, 0, wire(ring, 0, last), until);
	if (ring->p.propagation && ++rtl->wire_at == ring->p.propagation)
		rtl->wire_at = 0;
	if (ring->pad && ++rtl->pad_at == ring->pad)
		rtl->pad_at = 0;
	rtl->cycle++;
	if (rtl->cycle == rtl->flip_at)
		rtl->ifs[rtl->flip_if].out ^= 1;
	if (unlikely(ring->tap.mem))
		tap_symbols(ring);
	if (ring->monitor < ring->n) {
		m = &rtl->ifs[ring->monitor];
		rtl->quiet = m->mode == REPEAT ? rtl->quiet + 1 : 0;
	}
}

/* the T-interface judges what came back */
static u8 verdict(const struct pw_ring *ring)
{
	const struct pw_ring_packet *pkt = &ring->pkt;

	if (!ring->rtl.back_good)
		return PW_ATON_E_CRC;
	if (pkt->cmd->op == PW_ATON_TREE && pkt->counter != 1u << pkt->cmd->heights)
		return PW_ATON_E_SHAPE;
	if (pkt->cmd->op == PW_ATON_SORT && pkt->counter > pkt->cmd->room)
		return PW_ATON_E_ROOM;
	return PW_ATON_OK;
}

static void end_packet(struct pw_ring *ring, u8 err)
{
	struct pw_rtl *rtl = &ring->rtl;

	rtl->ifs[ring->pkt.t].mode = REPEAT;
	rtl->back_at = PW_RING_NEVER;
	rtl->flip_at = PW_RING_NEVER;
	pw_ring_end(ring, err, rtl->cycle);
}

/* timers and faults that fall into this bit time */
static void events(struct pw_ring *ring)
{
	struct pw_rtl *rtl = &ring->rtl;
	struct pw_rtl_if *st;
	u64 c = rtl->cycle;
	u64 when;

	if (ring->state == PW_RING_PACKET) {
		ring->now = c;
		if (c == rtl->back_at) {
			end_packet(ring, verdict(ring));
		} else if (c == pw_ring_give_up(ring)) {
			end_packet(ring, PW_ATON_E_LOST);
		} else if (ring->leaving && pw_ring_may_leave(ring, &when) && c >= when) {
			rtl->ifs[ring->pkt.t].mode = REPEAT;
			pw_ring_abandon(ring, c);
		}
	} else if (ring->state == PW_RING_ORPHAN) {
		ring->now = c;
		if (c == rtl->strip_at) {
			rtl->strip_at = PW_RING_NEVER;
			pw_ring_reissue(ring, c);
		}
	} else if (ring->state == PW_RING_TOKEN && ring->lose && c >= ring->lose_at) {
		pw_ring_lose(ring);
		rtl->quiet = c - ring->lost_at;
	}
	if (ring->state != PW_RING_DARK && ring->state != PW_RING_PACKET &&
	    rtl->quiet >= ring->timeout)
		pw_ring_reissue(ring, c);
	if (ring->state == PW_RING_TOKEN && c == ring->tok_at) {
		st = &rtl->ifs[ring->tok_from];
		st->mode = TOKEN;
		st->sent = 0;
		st->tokens = 0;
		st->next_token = c + ring->turn;
		st->open_at = c + ring->turn;
		st->out = transmit_token(ring, st);
		rtl->quiet = 0;
	}
}

/* first bit time at which an interface might do more than relay the token */
static u64 next_due(const struct pw_ring *ring)
{
	const struct pw_ring_port *port;
	u64 due = PW_RING_NEVER;

	if (ring->nready)
		return 0;
	if (ring->future)
		due = ring->future->head->submit;
	for (port = ring->standing; port; port = port->next_standing)
		if (pw_ring_bit(ring->up, port->iface))
			due = min(due, port->standing_after);
	return due;
}

/* nothing but the token, or not even that: skip revolutions, or the silence */
static void skip(struct pw_ring *ring, u64 until)
{
	struct pw_rtl *rtl = &ring->rtl;
	u64 to, turns;
	u32 i;

	if (ring->state == PW_RING_LOST) {
		to = rtl->cycle + ring->timeout - rtl->quiet;
		to = min(to, max(rtl->cycle, until));
		rtl->quiet += to - rtl->cycle;
		rtl->cycle = to;
		return;
	}
	to = min(next_due(ring), until);
	if (ring->lose)
		to = min(to, ring->lose_at);
	if (rtl->cycle < ring->tok_at + 3 * ring->turn || to < rtl->cycle + 2 * ring->turn)
		return;
	turns = (div64_u64(to - rtl->cycle, ring->turn) - 1) * ring->turn;
	rtl->cycle += turns;
	for (i = 0; i < ring->n; i++) {
		rtl->ifs[i].frame_start += turns;
		rtl->ifs[i].next_token += turns;
		rtl->ifs[i].open_at += turns;
	}
}

/* is the token being taken, even if that is not decided yet? */
static bool taking(struct pw_rtl *rtl)
{
	if (rtl->taking_at != PW_RING_NEVER && rtl->cycle > rtl->taking_at + PW_ATON_DECIDE)
		rtl->taking_at = PW_RING_NEVER;	/* its taker went down just now */
	return rtl->taking_at != PW_RING_NEVER;
}

/* a budget of less than interfaces plus standing commands is not enough for a bit time */
static enum pw_ring_progress rtl_run(struct pw_ring *ring, u64 until, u32 budget)
{
	struct pw_rtl *rtl = &ring->rtl;
	/* next_due() looks at every standing command */
	u32 cost = ring->n + ring->nstanding;
	u8 was;

	until = min(until, PW_RING_NEVER - 2 * PW_ATON_TOKEN);
	for (;;) {
		if (ring->state != PW_RING_PACKET && ring->state != PW_RING_ORPHAN) {
			if (ring->state == PW_RING_DARK || next_due(ring) == PW_RING_NEVER)
				return PW_RING_IDLE;
			/* who will have started by then has seen the token's first symbol */
			if (rtl->cycle >= until && !taking(rtl)) {
				ring->now = max(ring->now, until + 1);
				return PW_RING_IDLE;
			}
			skip(ring, until);
		}
		if (budget < cost)
			return PW_RING_MORE;
		budget -= cost;
		was = ring->state;
		events(ring);
		if (ring->state == was)
			bit_time(ring, until);
	}
}

const struct pw_ring_engine pw_ring_rtl = {
	.per_iface = true,
	.size = rtl_size,
	.init = rtl_init,
	.start = rtl_start,
	.run = rtl_run,
	.wipe = rtl_wipe,
	.tap_reset = rtl_tap_reset,
};
