// SPDX-License-Identifier: GPL-2.0
/*
 * ATON, register by register: what every interface does in every bit time.
 *
 * In bit time c each interface takes in one symbol and sets the one that it sends
 * in bit time c + 1. Its parts, in the order in which a symbol passes them:
 *
 *   modem            window of the last eight symbols, for delimiters
 *   access control   takes the token, sends it, times the packet out
 *   gate             active monitor: stops a second token and an orphan
 *   input machine    bit and field counters, address and opcode recognition, CRC in
 *   output machine   adder, comparison and selection, shift register, CRC out
 *
 * This is the reference for ring_fast.c, and shares no arithmetic with it.
 */
#include "ring_priv.h"

enum access_mode { REPEAT, SEND, AWAIT, TOKEN, STRIPPED };
enum frame_kind { FRAME_NONE, FRAME_TOKEN, FRAME_PACKET, FRAME_RELAY };
enum gate_kind { GATE_OPEN, GATE_TOKEN, GATE_PACKET };

struct pw_rtl_interface {
	/* modem */
	u16 window;
	u8 out;			/* the one bit of delay */

	/* access control */
	u8 mode;
	u8 tokens;		/* a token passed and no packet since */
	u8 gate;
	u64 next_token;		/* no token is due before this bit time */
	u64 open_at;		/* active monitor: the gate stops what begins before */
	u64 behind;		/* unless it begins then, right behind a packet, */
	bool follows;		/* as it does */
	u32 train;		/* packets that have followed one another */
	struct pw_ring_packet *pkt;	/* own packet, until it is back */
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
	bool gt, lt;		/* TeSet: operand greater, less than the stream */
	bool inserting;		/* shift register in the path */
	u8 drain;
	u8 depth;		/* TREE: heights that this interface works at */
	u32 crc_out;
	u64 x;			/* operand; TREE: what is accumulated */
	u64 next_x;
	u64 before, with;	/* latch: the result that passes, as it comes in and goes out */
	u64 sr0, sr1, sr_crc;	/* shift register: an operand's symbols; of the CRC? */
};

static size_t rtl_size(const struct pw_ring_params *params)
{
	return ((size_t)params->capacity + params->extra) *
	       (sizeof(struct pw_rtl_interface) + params->propagation);
}

static void rtl_init(struct pw_ring *ring, void *mem)
{
	ring->rtl.interface = mem;
	ring->rtl.wire = (u8 *)(ring->rtl.interface + ring->p.capacity + ring->p.extra);
	ring->rtl.taking_at = PW_RING_NEVER;
	ring->rtl.flip_at = PW_RING_NEVER;
	ring->rtl.back_at = PW_RING_NEVER;
	ring->rtl.strip_at = PW_RING_NEVER;
}

/*
 * The tap shows packets at every interface that sends or relays one: bits in the order in
 * which they are on the ring, eight to a byte, the first one most significant, without the
 * delimiters. Zeros fill the last byte. This is the packet that one interface sends.
 */
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

/* reset interfaces and wires: neither token nor packet is on the ring */
static void rtl_wipe(struct pw_ring *ring)
{
	struct pw_rtl *rtl = &ring->rtl;

	memset(rtl->interface, 0, ring->n * sizeof(*rtl->interface));
	memset(rtl->wire, 0, (size_t)ring->n * ring->p.propagation);
	memset(rtl->pad, 0, sizeof(rtl->pad));
	rtl->wire_at = 0;
	rtl->pad_at = 0;
	rtl->quiet = 0;
	rtl->dup = false;
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

/* a token is issued; a fault has it sent twice if the ring has room for two */
static void rtl_token(struct pw_ring *ring)
{
	ring->rtl.dup = ring->dup && ring->turn >= 2 * PW_ATON_TOKEN;
	ring->stats.tokens_dup += ring->rtl.dup;
	ring->dup = false;
}

/* ---- modem ---- */

static u32 wrong_symbols(u16 window, u16 delim)
{
	u16 diff = window ^ delim;

	return hweight32((diff | diff >> 1) & 0x5555);
}

static bool is_delim(u16 window, u16 delim)
{
	return wrong_symbols(window, delim) <= 1;
}

/* violations in the last seven symbols as in J K 0 J K 0 K, which begins a token only */
static bool is_token_head(u16 window)
{
	return (window & 0x2aaa) == 0x28a2;
}

static bool violation(u8 sym)
{
	return sym >= PW_SYM_J;
}

/* ---- transmitter of the T-interface ---- */

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
		return pw_aton_heights(cmd);
	case PW_FLD_TREE_OP:
		return pw_aton_node_op(cmd, tx->index, tx->node);
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

static u8 transmit(struct pw_ring *ring, struct pw_rtl_interface *self)
{
	const struct pw_ring_packet *pkt = self->pkt;
	struct pw_aton_place *tx = &self->tx;
	u64 k = self->sent++;
	u8 sym;

	if (k < PW_ATON_DELIM)
		return delim_symbol(PW_ATON_SD, k);
	if (unlikely(!pkt)) {	/* noise that looked like it has come back */
		self->mode = AWAIT;
		return 0;
	}
	if (self->sent == pkt->bits)
		self->mode = AWAIT;
	if (tx->field == PW_FLD_END)
		return delim_symbol(PW_ATON_ED, tx->bit++);
	if (tx->field == PW_FLD_CRC) {
		sym = self->tx_crc >> 31;
		self->tx_crc <<= 1;
	} else {
		if (tx->field == PW_FLD_TREE_OP && !tx->node)
			tx->tree_op = tx_value(pkt, tx);
		sym = tx_value(pkt, tx) >> pw_aton_bit(tx) & 1;
		self->tx_crc = pw_aton_crc(self->tx_crc, sym);
	}
	pw_aton_advance(tx);
	return sym;
}

/* TD, access byte, ED; a duplicate follows at once */
static u8 transmit_token(struct pw_ring *ring, struct pw_rtl_interface *self)
{
	u32 k = self->sent++;

	if (k == PW_ATON_TOKEN - 1) {
		self->mode = self->pkt ? AWAIT : REPEAT;
		if (ring->rtl.dup) {
			self->mode = TOKEN;
			self->sent = 0;
			ring->rtl.dup = false;
		}
	}
	if (k < 8)
		return delim_symbol(PW_ATON_TD, k);
	if (k < 16)
		return PW_ATON_AC >> (15 - k) & 1;
	return delim_symbol(PW_ATON_ED, k - 16);
}

/* ---- access control ---- */

/* would this interface take a token whose first symbol it would send at @start? */
static bool wants_token(struct pw_ring *ring, u32 i, u64 start, u64 until)
{
	const struct pw_rtl_interface *self = &ring->rtl.interface[i];
	const struct pw_ring_sender *sender = i < ring->own ? ring->sender[i] : NULL;

	if (!sender || !pw_ring_bit(ring->up, i) || self->mode != REPEAT ||
	    start < self->next_token || start < ring->rtl.not_before || start > until)
		return false;
	if (pw_ring_take(ring, i, start))
		return true;
	return sender->standing && self->tokens && start >= sender->standing_after;
}

static void take_token(struct pw_ring *ring, u32 i, u64 start)
{
	struct pw_rtl_interface *self = &ring->rtl.interface[i];

	pw_ring_begin(ring, i, start);
	ring->rtl.taking_at = PW_RING_NEVER;
	/* a symbol behind the packet belongs to a token, or to another packet; a SORT grows */
	if (ring->pkt_flip && ring->pkt->cmd->op != PW_ATON_SORT &&
	    ring->pkt_flip_bit >= ring->pkt->bits)
		ring->rtl.flip_at = PW_RING_NEVER;
	self->pkt = ring->pkt;
	self->mode = SEND;
	self->sent = PW_ATON_DECIDE + 1;
	self->tx_crc = ~0u;
	memset(&self->tx, 0, sizeof(self->tx));
	self->tx.fmt = ring->fmt;
	self->tx.op = self->pkt->cmd->op;
	self->tx.repeat = self->pkt->counter;
	self->tx.heights = pw_aton_heights(self->pkt->cmd);
}

/* ---- input machine ---- */

static void begin_packet(struct pw_ring *ring, u32 i)
{
	struct pw_rtl_interface *self = &ring->rtl.interface[i];

	self->frame = FRAME_PACKET;
	self->mine = false;
	self->bad = self->window != PW_ATON_SD;
	self->all_ones = true;
	self->equal = true;
	self->group_space = true;
	self->group_hit = false;
	self->group = pw_ring_group(ring, i);	/* once: a program may store another one */
	self->addr = pw_ring_id(ring, i);
	self->value = 0;
	self->crc_in = ~0u;
	self->crc_out = ~0u;
	self->overflow = false;
	self->before = 0;
	self->with = 0;
	self->depth = 0;
	memset(&self->at, 0, sizeof(self->at));
	self->at.fmt = ring->fmt;
	if (self->pkt) {
		self->at.op = self->pkt->cmd->op;
		self->at.heights = pw_aton_heights(self->pkt->cmd);
	}
}

/* address recognition, bit by bit: all ones, own address, mask of a group */
static void recognise(struct pw_ring *ring, u32 i, u8 in, u32 k)
{
	struct pw_rtl_interface *self = &ring->rtl.interface[i];

	self->all_ones &= in;
	self->equal &= in == (self->addr >> k & 1);
	if (k >= 20)
		self->group_space &= in == (PW_ATON_GROUP >> k & 1);
	else
		self->group_hit |= in & (self->group >> k);
	if (!k && (self->all_ones || self->equal || (self->group_space && self->group_hit)))
		self->mine = self->mode == REPEAT &&
			     (i >= ring->own || self->at.op == PW_ATON_PASSIVE ||
			      !pw_ring_bit(ring->mute, i));
}

/* the T-interface's own packet is back: keep a field in the result registers */
static void keep_result(struct pw_rtl_interface *self)
{
	struct pw_ring_packet *pkt = self->pkt;
	struct pw_ring_cmd *cmd = pkt->cmd;

	switch (self->at.field) {
	case PW_FLD_CONTROL:
		self->bad |= self->value != pkt->control;
		break;
	case PW_FLD_DST:
		self->bad |= self->value != cmd->dst;
		break;
	case PW_FLD_SRC:
		self->bad |= self->value != pkt->addr;
		break;
	case PW_FLD_COUNTER:
		pkt->counter = self->value;
		break;
	case PW_FLD_V1:
		pkt->v1 = self->value;
		break;
	case PW_FLD_V2:
		pkt->v2 = self->value;
		break;
	case PW_FLD_OPERAND:
		if (self->at.index < cmd->room)
			cmd->out[self->at.index] = pw_aton_extend(self->value, self->at.fmt.width,
								  cmd->mods & PW_ATON_SIGNED);
		break;
	case PW_FLD_PART:
		cmd->parts[self->at.index] = self->value;
		break;
	case PW_FLD_HEIGHTS:
		self->bad |= self->value != pw_aton_heights(cmd);
		break;
	case PW_FLD_TRAILER:
		pkt->trailer = self->value;
		break;
	}
}

/* TeSet starts anew: operand and stream are equal so far */
static inline void compare_anew(struct pw_rtl_interface *self)
{
	self->gt = false;
	self->lt = false;
}

/* the control field is complete: an interface that cannot execute it relays the packet */
static inline void control_done(struct pw_rtl_interface *self)
{
	self->control = self->value;
	if (self->pkt)
		return;
	self->at.op = pw_aton_opcode(self->control);
	if (!pw_aton_control_ok(self->control))
		self->frame = FRAME_RELAY;
}

/*
 * The destination is complete: an interface in the region fetches its operand. One that has left
 * the group since the packet began has no operand for it: its lease may have ended.
 */
static inline void dst_done(struct pw_ring *ring, u32 i)
{
	struct pw_rtl_interface *self = &ring->rtl.interface[i];
	u32 reg = (self->control & PW_CTL_REG) >> 6;

	if (!self->mine || self->at.op == PW_ATON_PASSIVE)
		return;
	self->mine = pw_ring_has(ring, i, reg) &&
		     pw_aton_in_region(self->value, self->addr, pw_ring_group(ring, i));
	if (self->mine)
		self->x = pw_ring_fetch(ring, i, reg) & pw_aton_mask(ring->fmt.width);
}

/* the Counter is complete: heights of a TREE, shift register of a SORT */
static inline void counter_done(struct pw_rtl_interface *self)
{
	self->count = self->value;
	self->at.repeat = self->value;
	self->carry = false;
	compare_anew(self);
	if (!self->mine)
		return;
	self->depth = __ffs64(self->value + 1);
	if (self->at.op == PW_ATON_SORT) {
		self->inserting = true;
		self->sr0 = self->x;
		self->sr1 = 0;
		self->sr_crc = 0;
	}
}

/* Variable-1 is complete: a sum may overflow, a count's hit is carried into Variable-2 */
static inline void v1_done(struct pw_rtl_interface *self)
{
	if (self->at.op == PW_ATON_ADD)
		self->overflow |= self->carry;
	self->carry = (self->at.op == PW_ATON_COUNT_EQ && !self->gt && !self->lt) ||
		    (self->at.op == PW_ATON_COUNT_LT && self->gt) ||
		    (self->at.op == PW_ATON_COUNT_LE && !self->lt);
}

/* a field of a passing packet is complete: what follows from it */
static void field_done(struct pw_ring *ring, u32 i)
{
	struct pw_rtl_interface *self = &ring->rtl.interface[i];

	if (self->pkt)
		keep_result(self);
	switch (self->at.field) {
	case PW_FLD_CONTROL:
		control_done(self);
		break;
	case PW_FLD_DST:
		dst_done(ring, i);
		break;
	case PW_FLD_SRC:
		/* a carry into the Counter: one more takes part */
		self->carry = self->mine && self->at.op != PW_ATON_PASSIVE;
		break;
	case PW_FLD_COUNTER:
		counter_done(self);
		break;
	case PW_FLD_V1:
		v1_done(self);
		break;
	case PW_FLD_OPERAND:
		compare_anew(self);
		break;
	case PW_FLD_PART:
		self->overflow |= self->mine && self->carry;
		break;
	case PW_FLD_HEIGHTS:
		if (!self->pkt)
			self->at.heights = self->value;
		break;
	case PW_FLD_TREE_OP:
		/* of the nodes of a height, the one that this interface reads or stores for */
		if (pw_aton_nodes(self->at.heights, self->at.index) == 1 ||
		    self->at.node == pw_aton_node_at(self->count + 1, self->at.index))
			self->at.tree_op = self->value;
		self->next_x = 0;
		self->carry = false;
		compare_anew(self);
		break;
	case PW_FLD_LEVEL:
		if (self->mine && self->at.index < self->depth) {
			self->x = self->next_x;
			self->overflow |= self->at.tree_op == PW_ATON_ADD && self->carry;
		}
		break;
	}
	self->value = 0;
}

/* ---- output machine ---- */

static u8 full_adder(struct pw_rtl_interface *self, u8 in, u8 x)
{
	u8 sum = in ^ x ^ self->carry;

	self->carry = (in & x) | (in & self->carry) | (x & self->carry);
	return sum;
}

/* TeSet: the first bit where the operand and the stream differ decides */
static void test_and_set(struct pw_rtl_interface *self, u8 in, u8 x, bool sign_bit)
{
	if (self->gt || self->lt || in == x)
		return;
	if (sign_bit)
		swap(in, x);
	self->gt = x > in;
	self->lt = x < in;
}

static bool at_sign(const struct pw_rtl_interface *self, u32 k)
{
	return k == self->at.fmt.width - 1 && (self->control & PW_CTL_SIGNED);
}

/* one bit of one of the operations that an expression tree may use */
static u8 operate(struct pw_rtl_interface *self, u8 op, u8 in, u8 x, u32 k)
{
	switch (op) {
	case PW_ATON_ADD:
		return full_adder(self, in, x);
	case PW_ATON_AND:
		return in & x;
	case PW_ATON_OR:
		return in | x;
	case PW_ATON_MAX:
		test_and_set(self, in, x, at_sign(self, k));
		return self->gt ? x : in;
	case PW_ATON_MIN:
		test_and_set(self, in, x, at_sign(self, k));
		return self->lt ? x : in;
	}
	return in;
}

/* SORT: send the smaller one of the passing operand and the held one, keep the other */
static u8 exchange(struct pw_rtl_interface *self, u8 in, u32 k)
{
	u8 held = self->sr0 >> (self->at.fmt.width - 1) & 1;
	u8 out;

	test_and_set(self, in, held, at_sign(self, k));
	out = self->lt ? held : in;
	self->sr0 = self->sr0 << 1 | (self->lt ? in : held);
	return out;
}

/* what an interface in the region does to the bit; @k is its weight */
static u8 compute(struct pw_ring *ring, u32 i, u8 in, u32 k)
{
	struct pw_rtl_interface *self = &ring->rtl.interface[i];
	u8 x = self->x >> (k & 63) & 1;
	u8 op = self->at.op;

	switch (self->at.field) {
	case PW_FLD_COUNTER:
		return full_adder(self, in, 0);
	case PW_FLD_V1:
		if (op == PW_ATON_TREE)
			return self->depth >= (self->at.heights & ~PW_TREE_NODES) ? x : in;
		if (op <= PW_ATON_MIN)
			return operate(self, op, in, x, k);
		test_and_set(self, in, x, at_sign(self, k));
		return in;
	case PW_FLD_V2:
		if (op == PW_ATON_MAX ? !self->lt : op == PW_ATON_MIN && !self->gt)
			return k < 24 ? self->addr >> k & 1 : 0;
		return op >= PW_ATON_COUNT_EQ ? full_adder(self, in, 0) : in;
	case PW_FLD_OPERAND:
		return exchange(self, in, k);
	case PW_FLD_PART:
		if (!k)
			self->carry = self->x >> self->at.index & 1;
		return full_adder(self, in, 0);
	case PW_FLD_LEVEL:
		if (self->at.index < self->depth)
			self->next_x |= (u64)operate(self, self->at.tree_op, in, x, k) << k;
		return self->at.index == self->depth ? x : in;
	case PW_FLD_TRAILER:
		return in | (k == 6 && self->overflow) | (k == 5);
	}
	return in;
}

/* latch of an interface in the region: one bit of Variable-1, of a count of Variable-2 */
static void latch_bit(struct pw_rtl_interface *self, u8 in, u8 out, u32 k)
{
	u8 field = self->at.op >= PW_ATON_COUNT_EQ ? PW_FLD_V2 : PW_FLD_V1;

	if (self->control & PW_CTL_PREFIX && self->at.field == field) {
		self->before |= (u64)in << k;
		self->with |= (u64)out << k;
	}
	if (self->at.field == PW_FLD_TRAILER && k == 6)
		self->overflow = out;
}

/* the shift register of a sorting interface */
static u8 delay(struct pw_rtl_interface *self, u8 sym, bool *crc)
{
	u32 last = self->at.fmt.width - 1;
	u8 out = (self->sr0 >> last & 1) | (self->sr1 >> last & 1) << 1;
	bool out_crc = self->sr_crc >> last & 1;

	self->sr0 = self->sr0 << 1 | (sym & 1);
	self->sr1 = self->sr1 << 1 | sym >> 1;
	self->sr_crc = self->sr_crc << 1 | *crc;
	*crc = out_crc;
	if (self->drain && !--self->drain)
		self->inserting = false;
	return out;
}

/*
 * CRC generator: covers the symbols that are sent. In the CRC field @sym is 1 to send the
 * bit inverted; the bit itself is known here only.
 */
static u8 cover(struct pw_rtl_interface *self, u8 sym, bool crc)
{
	if (crc) {
		sym ^= self->crc_out >> 31;
		self->crc_out <<= 1;
	} else if (!violation(sym)) {
		self->crc_out = pw_aton_crc(self->crc_out, sym);
	}
	return sym;
}

/* one data bit of a packet through input and output machine */
static u8 packet_bit(struct pw_ring *ring, u32 i, u8 in)
{
	struct pw_rtl_interface *self = &ring->rtl.interface[i];
	struct pw_aton_place *at = &self->at;
	u32 k = pw_aton_bit(at);
	bool direct = !self->inserting;
	bool crc = false;
	u8 sym = in;

	if (at->field == PW_FLD_CRC) {
		/* from the first mismatch on, all bits are sent inverted */
		self->bad |= in != self->crc_in >> 31;
		self->crc_in <<= 1;
		crc = true;
		sym = self->bad;
	} else {
		self->crc_in = pw_aton_crc(self->crc_in, in);
		self->value |= (u64)in << k;
		if (at->field == PW_FLD_DST)
			recognise(ring, i, in, k);
		else if (self->mine)
			sym = compute(ring, i, in, k);
		if (self->mine)
			latch_bit(self, in, sym, k);
		direct |= at->field == PW_FLD_OPERAND;
	}
	if (!direct)
		sym = delay(self, sym, &crc);
	sym = cover(self, sym, crc);
	if (at->bit == pw_aton_width(at) - 1)
		field_done(ring, i);
	pw_aton_advance(at);
	return sym;
}

/* one symbol through the interface; the rest of a malformed packet passes unchanged */
static u8 relay(struct pw_ring *ring, u32 i, u8 in)
{
	struct pw_rtl_interface *self = &ring->rtl.interface[i];
	bool crc = false;

	if (self->frame == FRAME_PACKET && self->at.field != PW_FLD_END) {
		if (!violation(in))
			return packet_bit(ring, i, in);
		self->frame = FRAME_RELAY;
	}
	if (self->frame == FRAME_PACKET && self->at.bit < U8_MAX)
		self->at.bit++;
	if (self->inserting) {
		in = delay(self, in, &crc);
		in = cover(self, in, crc);
	}
	return in;
}

/* ---- complete delimiters ---- */

/* the packet that passes an interface, by the bit time at which it began to */
static const struct pw_ring_packet *passing(const struct pw_ring *ring, u32 i)
{
	const struct pw_ring_packet *pkt;

	for (pkt = ring->flight; pkt; pkt = pkt->next)
		if (pkt->t != i && pkt->start + pw_ring_dist(ring, pkt->t, i) ==
				   ring->rtl.interface[i].frame_start)
			break;
	return pkt;
}

/* an undamaged packet has passed an interface in its region */
static void passed(struct pw_ring *ring, u32 i)
{
	const struct pw_ring_packet *pkt = passing(ring, i);
	struct pw_rtl_interface *self = &ring->rtl.interface[i];
	u64 when = ring->rtl.cycle + 2;
	struct pw_ring_latch latch = {
		.before = self->before,
		.with = self->with,
		.counter = self->count,
		.flags = self->overflow ? PW_ATON_F_OVERFLOW : 0,
	};

	if (!pkt || (pkt == ring->pkt && ring->pkt_stuck && i == ring->stuck_interface))
		return;
	if (self->at.op == PW_ATON_PASSIVE && ring->p.deliver)
		ring->p.deliver(ring->p.ctx, i, pkt->cmd, when);
	if (self->at.op != PW_ATON_PASSIVE && self->control & PW_CTL_PREFIX && i < ring->own)
		pw_ring_latched(ring, pkt, i, &latch, when);
}

static void frame_ends(struct pw_ring *ring, u32 i)
{
	struct pw_rtl_interface *self = &ring->rtl.interface[i];
	struct pw_rtl *rtl = &ring->rtl;
	bool good;

	good = self->frame == FRAME_PACKET && self->at.field == PW_FLD_END &&
	       self->at.bit == PW_ATON_DELIM && self->window == PW_ATON_ED && !self->bad;
	/* a token that cannot be taken is none */
	if (i == ring->monitor && self->gate == GATE_OPEN &&
	    (self->frame != FRAME_TOKEN || ring->state == PW_RING_TOKEN))
		rtl->quiet = 0;
	if (self->frame == FRAME_TOKEN) {
		/* what may follow was decided when it began */
	} else if (self->pkt) {
		rtl->back_at = rtl->cycle + 2;
		rtl->back = self->pkt;
		rtl->back_good = good;
		/* what follows is another's; one that has the token sends it first */
		if (!self->pkt->hold && self->mode == AWAIT)
			self->mode = STRIPPED;
		self->pkt = NULL;
	} else if (self->mode == REPEAT) {
		self->open_at = rtl->cycle + 2 + ring->turn;
		if (self->gate == GATE_PACKET)
			rtl->strip_at = rtl->cycle + 2;
		else if (self->train++ < ring->n)
			self->behind = rtl->cycle + 2;
		self->follows = false;
		if (good && self->mine)
			passed(ring, i);
	}
	if (self->inserting)
		self->drain = self->at.fmt.width;
	self->frame = FRAME_NONE;
	self->gate = GATE_OPEN;
	self->window = 0;
}

static void delimiter(struct pw_ring *ring, u32 i, bool shut)
{
	struct pw_rtl_interface *self = &ring->rtl.interface[i];
	u64 start = ring->rtl.cycle - 6;

	if (is_delim(self->window, PW_ATON_TD)) {
		self->frame = FRAME_TOKEN;
		self->frame_start = start;
		/* no interface takes a damaged token: the active monitor removes it */
		if (i == ring->monitor && self->mode == REPEAT && self->window != PW_ATON_TD)
			shut = true;
		self->gate = shut ? GATE_TOKEN : GATE_OPEN;
		self->train = 0;
		if (start >= self->next_token) {
			self->tokens = self->mode == REPEAT;
			self->next_token = start + ring->turn;
			if (!shut)
				self->open_at = start + ring->turn;
		}
	} else if (is_delim(self->window, PW_ATON_SD)) {
		self->frame_start = start;
		if (start >= self->open_at)
			self->train = 0;
		self->tokens = 0;
		begin_packet(ring, i);
		self->gate = shut ? GATE_PACKET : GATE_OPEN;
		if (shut || (!pw_ring_up(ring, i) && self->mode == REPEAT))
			self->frame = FRAME_RELAY;
	} else if (self->frame != FRAME_NONE && is_delim(self->window, PW_ATON_ED)) {
		frame_ends(ring, i);
	}
}

/*
 * The first symbol of the token has reached an interface that will take it. An armed flip
 * hits its packet; the time and place of the symbol are known now.
 */
static void will_take(struct pw_ring *ring, u32 i, u64 start)
{
	struct pw_rtl *rtl = &ring->rtl;

	/* interfaces behind see that symbol, too, before the token is taken */
	if (rtl->taking_at != PW_RING_NEVER)
		return;
	rtl->taking_at = start;
	if (!ring->flip || ring->flip_hop >= ring->n)
		return;
	rtl->flip_interface = (i + ring->flip_hop) % ring->n;
	rtl->flip_at = start + ring->flip_bit;
	if (ring->flip_hop)
		rtl->flip_at += pw_ring_dist(ring, i, rtl->flip_interface);
}

/*
 * Does the active monitor stop what comes in? A token that is appended, or the packet that took
 * it, begins right behind a packet.
 */
static bool gate_shut(const struct pw_ring *ring, const struct pw_rtl_interface *self)
{
	u64 c = ring->rtl.cycle + 1;

	if (self->gate)
		return true;
	if (self->frame != FRAME_NONE || c >= self->open_at)
		return false;
	return ring->p.release == PW_RING_BACK || !self->follows ||
	       c - self->behind >= PW_ATON_DELIM;
}

/* an interface that has swallowed a packet from its first symbol on */
static bool stuck(const struct pw_ring *ring, u32 i)
{
	return ring->state == PW_RING_PACKET && ring->pkt_stuck && i == ring->stuck_interface &&
	       ring->rtl.cycle + 1 >= ring->pkt->start + pw_ring_dist(ring, ring->pkt->t, i);
}

static void step(struct pw_ring *ring, u32 i, u8 in, u64 until)
{
	struct pw_rtl_interface *self = &ring->rtl.interface[i];
	u64 c = ring->rtl.cycle;
	bool shut;
	u8 sym;

	/* shortcut: only fill passes an interface that repeats */
	if (!in && !(self->window & 0x2aaa) && self->frame == FRAME_NONE && !self->inserting &&
	    self->mode == REPEAT) {
		self->window <<= 2;
		self->out = 0;
		return;
	}
	self->window = self->window << 2 | in;
	if (c + 1 == self->behind)
		self->follows = violation(in);
	shut = i == ring->monitor && self->mode == REPEAT && gate_shut(ring, self);
	if (self->frame == FRAME_NONE && !shut && ring->state == PW_RING_TOKEN) {
		if (violation(in) && !(self->window & 0xaaa8) && wants_token(ring, i, c + 1, until))
			will_take(ring, i, c + 1);
		if (is_token_head(self->window) && wants_token(ring, i, c - PW_ATON_DECIDE, until))
			take_token(ring, i, c - PW_ATON_DECIDE);
	}
	sym = relay(ring, i, shut ? 0 : in);
	if (self->window & 0xaaaa)
		delimiter(ring, i, shut);
	switch (self->mode) {
	case REPEAT:
		self->out = sym;
		break;
	case SEND:
		self->out = transmit(ring, self);
		break;
	case AWAIT:
		self->out = 0;
		break;
	case TOKEN:
		self->out = transmit_token(ring, self);
		break;
	case STRIPPED:
		self->out = 0;
		self->mode = REPEAT;
		break;
	}
	if (stuck(ring, i))
		self->out = 0;
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
		sym = ring->rtl.interface[i].out;
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
			if (t->bits && DIV_ROUND_UP(t->bits, 8) <= room)
				ring->p.tap(ring->p.ctx, i, t->start, t->byte,
					    DIV_ROUND_UP(t->bits, 8));
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

/* one bit time of all interfaces */
static void bit_time(struct pw_ring *ring, u64 until)
{
	struct pw_rtl *rtl = &ring->rtl;
	const struct pw_rtl_interface *m;
	u8 last = rtl->interface[ring->n - 1].out;
	u32 i;

	for (i = ring->n - 1; i; i--)
		step(ring, i, wire(ring, i, rtl->interface[i - 1].out), until);
	step(ring, 0, wire(ring, 0, last), until);
	if (ring->p.propagation && ++rtl->wire_at == ring->p.propagation)
		rtl->wire_at = 0;
	if (ring->pad && ++rtl->pad_at == ring->pad)
		rtl->pad_at = 0;
	rtl->cycle++;
	if (rtl->cycle == rtl->flip_at)
		rtl->interface[rtl->flip_interface].out ^= 1;
	if (unlikely(ring->tap.mem))
		tap_symbols(ring);
	if (ring->monitor < ring->n) {
		m = &rtl->interface[ring->monitor];
		rtl->quiet = m->mode == REPEAT ? rtl->quiet + 1 : 0;
	}
}

/* how the command ends whose packet is back */
static u8 verdict(const struct pw_ring *ring, const struct pw_ring_packet *pkt)
{
	if (!ring->rtl.back_good)
		return PW_ATON_E_CRC;
	if (pkt->cmd->op == PW_ATON_TREE && pkt->counter != 1u << pkt->cmd->heights)
		return PW_ATON_E_SHAPE;
	if (pkt->cmd->op == PW_ATON_SORT && pkt->counter > pkt->cmd->room)
		return PW_ATON_E_ROOM;
	return PW_ATON_OK;
}

static void end_packet(struct pw_ring *ring, struct pw_ring_packet *pkt, u8 err)
{
	struct pw_rtl *rtl = &ring->rtl;
	struct pw_rtl_interface *self = &rtl->interface[pkt->t];

	if (self->mode != TOKEN)
		self->mode = REPEAT;
	self->pkt = NULL;
	if (rtl->back == pkt) {
		rtl->back_at = PW_RING_NEVER;
		rtl->back = NULL;
	}
	if (pkt == ring->pkt)
		rtl->flip_at = PW_RING_NEVER;
	pw_ring_end(ring, pkt, err, rtl->cycle);
}

/* packets that are back or lost, an interface that leaves, a token to be appended */
static void flight_events(struct pw_ring *ring)
{
	struct pw_rtl *rtl = &ring->rtl;
	u64 c = rtl->cycle;
	u64 when;

	ring->now = c;
	if (c == rtl->back_at) {
		end_packet(ring, rtl->back, verdict(ring, rtl->back));
	} else if (c >= pw_ring_give_up(ring, ring->flight)) {
		end_packet(ring, ring->flight, PW_ATON_E_LOST);
	} else if (ring->state == PW_RING_PACKET && ring->leaving && !ring->flight->next &&
		   pw_ring_may_leave(ring, &when) && c >= when) {
		rtl->interface[ring->pkt->t].mode = REPEAT;
		rtl->interface[ring->pkt->t].pkt = NULL;
		pw_ring_abandon(ring, c);
	}
	if (ring->state == PW_RING_PACKET && !ring->pkt->hold &&
	    c >= ring->pkt->start + ring->pkt->bits)
		pw_ring_pass_on(ring, c);
}

/* timers and faults that fall into this bit time */
static void events(struct pw_ring *ring)
{
	struct pw_rtl *rtl = &ring->rtl;
	struct pw_rtl_interface *self;
	u64 c = rtl->cycle;

	if (ring->flight) {
		flight_events(ring);
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
	/* neither token nor packet: what is left has no end or no beginning, and is purged */
	if (ring->state != PW_RING_DARK && !ring->flight && rtl->quiet >= ring->timeout) {
		rtl_wipe(ring);
		pw_ring_reissue(ring, c);
	}
	if (ring->state == PW_RING_TOKEN && c == ring->tok_at) {
		self = &rtl->interface[ring->tok_from];
		self->mode = TOKEN;
		self->sent = 0;
		self->tokens = 0;
		self->next_token = c + ring->turn;
		self->open_at = c + ring->turn;
		self->out = transmit_token(ring, self);
		rtl->quiet = 0;
	}
}

/* first bit time at which an interface might do more than relay the token */
static u64 next_due(const struct pw_ring *ring)
{
	const struct pw_ring_sender *sender;
	u64 due = PW_RING_NEVER;

	if (ring->nready)
		return 0;
	if (ring->future)
		due = ring->future->head->submit;
	for (sender = ring->standing; sender; sender = sender->next_standing)
		if (pw_ring_bit(ring->up, sender->interface))
			due = min(due, sender->standing_after);
	return due;
}

/* skip revolutions of the token in which nothing happens, or the silence without a token */
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
		rtl->interface[i].frame_start += turns;
		rtl->interface[i].next_token += turns;
		rtl->interface[i].open_at += turns;
	}
}

/* is the token sure to be taken? */
static bool taking(struct pw_rtl *rtl)
{
	if (rtl->taking_at != PW_RING_NEVER && rtl->cycle > rtl->taking_at + PW_ATON_DECIDE)
		rtl->taking_at = PW_RING_NEVER;	/* the interface has gone down */
	return rtl->taking_at != PW_RING_NEVER;
}

static enum pw_ring_progress idle(struct pw_ring *ring)
{
	pw_ring_idle(ring);
	if (ring->last_end)
		ring->rtl.not_before = ring->now;
	return PW_RING_IDLE;
}

/* a budget of less than interfaces plus standing commands is not enough for a bit time */
static enum pw_ring_progress rtl_run(struct pw_ring *ring, u64 until, u32 budget)
{
	struct pw_rtl *rtl = &ring->rtl;
	/* next_due() looks at every standing command */
	u32 cost = ring->n + ring->nstanding;
	const struct pw_ring_packet *had;
	u8 was;

	until = min(until, PW_RING_NEVER - 2 * PW_ATON_TOKEN);
	for (;;) {
		if (!ring->flight && ring->state != PW_RING_ORPHAN) {
			if (ring->state == PW_RING_DARK || next_due(ring) == PW_RING_NEVER)
				return idle(ring);
			skip(ring, until);
			/* an interface that starts by then has seen the first symbol */
			if (rtl->cycle >= until && !taking(rtl)) {
				ring->now = max(ring->now, until + 1);
				return idle(ring);
			}
		}
		if (budget < cost)
			return PW_RING_MORE;
		budget -= cost;
		was = ring->state;
		had = ring->flight;
		events(ring);
		if (ring->state == was && ring->flight == had)
			bit_time(ring, until);
	}
}

const struct pw_ring_engine pw_ring_rtl = {
	.per_interface = true,
	.size = rtl_size,
	.init = rtl_init,
	.start = rtl_start,
	.run = rtl_run,
	.wipe = rtl_wipe,
	.token = rtl_token,
	.tap_reset = rtl_tap_reset,
};
