/* SPDX-License-Identifier: GPL-2.0 */
/* ATON packets: symbols, delimiters, fields and their order on the wire. */
#ifndef PW_CORE_RING_PACKET_H
#define PW_CORE_RING_PACKET_H

#include "ring.h"

/* what a wire carries in one bit time; J and K are code violations */
enum pw_aton_symbol { PW_SYM_0, PW_SYM_1, PW_SYM_J, PW_SYM_K };

#define PW_SYMS(a, b, c, d, e, f, g, h)						\
	((a) << 14 | (b) << 12 | (c) << 10 | (d) << 8 | (e) << 6 | (f) << 4 | (g) << 2 | (h))

/*
 * Eight symbols each, the first one in the top bits. The token's delimiter becomes a start
 * delimiter by changing its last two symbols. Damage turns 0 into 1, J into K or the
 * reverse: a delimiter with one damaged symbol differs from all others in two or more.
 */
#define PW_ATON_SD	PW_SYMS(2, 3, 0, 2, 3, 0, 0, 0)	/* J K 0 J K 0 0 0 */
#define PW_ATON_TD	PW_SYMS(2, 3, 0, 2, 3, 0, 3, 2)	/* J K 0 J K 0 K J */
#define PW_ATON_ED	PW_SYMS(2, 3, 1, 2, 3, 1, 1, 1)	/* J K 1 J K 1 1 1 */
#define PW_ATON_AC	0x10				/* access byte of a token */
#define PW_ATON_DELIM	8
#define PW_ATON_TOKEN	24

/* control field, 16 bits, most significant bit first */
#define PW_CTL_ACTIVE		0x8000
#define PW_CTL_OPCODE		0x7c00
#define PW_CTL_REG		0x03c0
#define PW_CTL_SIGNED		0x0020
#define PW_CTL_COMPARAND	0x0010
#define PW_CTL_PREFIX		0x0008
#define PW_CTL_PARITY		0x0001	/* odd over the whole field */

/* TREE: in the field of heights: operations of the nodes of a height in front of its level */
#define PW_TREE_NODES		0x80

/* trailer control, 8 bits, most significant bit first */
#define PW_TRL_OVERFLOW		0x40
#define PW_TRL_RECOGNISED	0x20

enum pw_aton_field {
	PW_FLD_CONTROL,
	PW_FLD_DST,
	PW_FLD_SRC,
	PW_FLD_COUNTER,
	PW_FLD_V1,
	PW_FLD_V2,
	PW_FLD_OPERAND,		/* SORT: Counter of them */
	PW_FLD_PART,		/* BITSUM: one for each operand bit */
	PW_FLD_HEIGHTS,		/* TREE: how many (operation, level) pairs follow */
	PW_FLD_TREE_OP,
	PW_FLD_LEVEL,
	PW_FLD_BYTE,		/* PASSIVE: Counter of them */
	PW_FLD_TRAILER,
	PW_FLD_CRC,
	PW_FLD_END,
};

/* how wide the fields are that parameters of the ring decide on */
struct pw_aton_format {
	u8 width;		/* bits of an operand */
	u8 part;		/* bits of a count in a BITSUM; it has one for each operand bit */
};

/* as published */
#define PW_ATON_FORMAT	((struct pw_aton_format){ PW_ATON_WIDTH, PW_ATON_BITSUM_BITS })

/* place in a packet, with everything that decides which field comes next */
struct pw_aton_place {
	struct pw_aton_format fmt;
	u8 op;			/* of the control field, once it is known */
	u8 field;
	u8 bit;			/* within the field */
	u8 heights;
	u8 tree_op;		/* of the level that follows */
	u32 index;		/* of a repeated field */
	u32 node;		/* of the operation, among those of its height */
	u32 repeat;		/* Counter, for SORT and PASSIVE */
};

u16 pw_aton_control(const struct pw_ring_cmd *cmd);
bool pw_aton_control_ok(u16 control);
u64 pw_aton_format_bits(struct pw_aton_format fmt, u8 op, u32 repeat, u8 heights);
bool pw_aton_advance(struct pw_aton_place *at);
u32 pw_aton_width(const struct pw_aton_place *at);

/* length of a packet of the published format, see pw_aton_format_bits() */
static inline u64 pw_aton_packet_bits(u8 op, u32 repeat, u8 heights)
{
	return pw_aton_format_bits(PW_ATON_FORMAT, op, repeat, heights);
}

/* all bits of an operand */
static inline u64 pw_aton_mask(u32 width)
{
	return ~0ULL >> (64 - width);
}

/* an operand of @width bits as a number of 64 */
static inline u64 pw_aton_extend(u64 v, u32 width, bool is_signed)
{
	u64 top = is_signed ? BIT_ULL(width - 1) : 0;

	return ((v & pw_aton_mask(width)) ^ top) - top;
}

static inline u8 pw_aton_opcode(u16 control)
{
	return control & PW_CTL_ACTIVE ? (control & PW_CTL_OPCODE) >> 10 : PW_ATON_PASSIVE;
}

/* the field of heights of a TREE */
static inline u8 pw_aton_heights(const struct pw_ring_cmd *cmd)
{
	return cmd->heights | (cmd->nodes ? PW_TREE_NODES : 0);
}

/* nodes of height @h that have an operation of their own, by the field of heights */
static inline u32 pw_aton_nodes(u8 heights, u32 h)
{
	u32 all = heights & ~PW_TREE_NODES;

	if (!(heights & PW_TREE_NODES) || all > PW_ATON_NODE_HEIGHTS || h >= all)
		return 1;
	return 1u << (all - 1 - h);
}

/* the operation of node @node of height @h; one that is not there has the last node's */
static inline u8 pw_aton_node_op(const struct pw_ring_cmd *cmd, u32 h, u32 node)
{
	if (!cmd->nodes)
		return cmd->ops[h];
	node = min_t(u32, node, pw_aton_nodes(pw_aton_heights(cmd), h) - 1);
	return cmd->nodes[(1u << cmd->heights) - (1u << (cmd->heights - h)) + node];
}

/*
 * The node that decides on the order of the bits in level @h at leaf @leaf, counted from 1: the
 * one that reads the level there, if the leaf ends a subtree of that height, else the one that
 * will read what this leaf stores.
 */
static inline u32 pw_aton_node_at(u32 leaf, u32 h)
{
	u32 node = leaf >> (h + 1);

	return leaf & ((2u << h) - 1) ? node : node - 1;
}

static inline bool pw_aton_lsb_op(u8 op)
{
	return op == PW_ATON_ADD || op == PW_ATON_AND || op == PW_ATON_OR;
}

/* which bit of the field's value is on the wire at @at */
static inline u32 pw_aton_bit(const struct pw_aton_place *at)
{
	bool lsb;

	switch (at->field) {
	case PW_FLD_COUNTER:
	case PW_FLD_V2:
	case PW_FLD_PART:
		lsb = true;
		break;
	case PW_FLD_V1:
		lsb = pw_aton_lsb_op(at->op) || at->op == PW_ATON_TREE;
		break;
	case PW_FLD_LEVEL:
		lsb = pw_aton_lsb_op(at->tree_op);
		break;
	default:
		lsb = false;
	}
	return lsb ? at->bit : pw_aton_width(at) - 1 - at->bit;
}

static inline u32 pw_aton_crc(u32 crc, u32 bit)
{
	return (crc << 1) ^ ((crc >> 31) ^ bit ? 0x04c11db7u : 0);
}

/* what a result of @op begins with, in @width bits: Variable-1, of a count Variable-2 */
static inline u64 pw_aton_identity(u8 op, bool is_signed, u32 width)
{
	u64 top = is_signed ? BIT_ULL(width - 1) : 0;

	switch (op) {
	case PW_ATON_AND:
		return pw_aton_mask(width);
	case PW_ATON_MAX:
		return top;
	case PW_ATON_MIN:
		return pw_aton_mask(width) ^ top;
	}
	return 0;
}

/* is the interface with this address and group mask in region @dst? */
static inline bool pw_aton_in_region(u32 dst, u32 addr, u32 group)
{
	if (dst == PW_ATON_RING || dst == addr)
		return true;
	return (dst & ~PW_ATON_GROUP_MASK) == PW_ATON_GROUP && (dst & group & PW_ATON_GROUP_MASK);
}

/* does a count of @op include operand @x against comparand @c, both of @width bits? */
static inline bool pw_aton_relation(u8 op, bool is_signed, u32 width, u64 c, u64 x)
{
	u64 flip = is_signed ? BIT_ULL(width - 1) : 0;

	if (op == PW_ATON_COUNT_EQ)
		return c == x;
	c ^= flip;
	x ^= flip;
	return op == PW_ATON_COUNT_LT ? c < x : c <= x;
}

#endif /* PW_CORE_RING_PACKET_H */
