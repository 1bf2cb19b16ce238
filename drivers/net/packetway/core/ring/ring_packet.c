// SPDX-License-Identifier: GPL-2.0
/* ATON packets: symbols, delimiters, fields and their order on the wire. */
#include "ring_packet.h"

static const u8 field_width[] = {
	[PW_FLD_CONTROL] = 16,
	[PW_FLD_DST] = 24,
	[PW_FLD_SRC] = 24,
	[PW_FLD_COUNTER] = 24,
	[PW_FLD_HEIGHTS] = 8,
	[PW_FLD_TREE_OP] = 8,
	[PW_FLD_BYTE] = 8,
	[PW_FLD_TRAILER] = 8,
	[PW_FLD_CRC] = 32,
	[PW_FLD_END] = 8,
};

/* bits of Variable-2: an address or a count must fit, however narrow operands are */
static u32 v2_width(struct pw_aton_format fmt)
{
	return max_t(u32, fmt.width, PW_ATON_V2_MIN);
}

/**
 * pw_aton_width - bits of a field
 * @at: place in the packet
 */
u32 pw_aton_width(const struct pw_aton_place *at)
{
	switch (at->field) {
	case PW_FLD_V1:
	case PW_FLD_OPERAND:
	case PW_FLD_LEVEL:
		return at->fmt.width;
	case PW_FLD_V2:
		return v2_width(at->fmt);
	case PW_FLD_PART:
		return at->fmt.part;
	default:
		return field_width[at->field];
	}
}

/**
 * pw_aton_control - the control field of a command
 * @cmd: the command
 */
u16 pw_aton_control(const struct pw_ring_cmd *cmd)
{
	u16 control = 0;

	if (cmd->op != PW_ATON_PASSIVE)
		control = PW_CTL_ACTIVE | cmd->op << 10 | cmd->reg << 6;
	if (cmd->mods & PW_ATON_SIGNED)
		control |= PW_CTL_SIGNED;
	if (cmd->mods & PW_ATON_COMPARAND)
		control |= PW_CTL_COMPARAND;
	if (cmd->mods & PW_ATON_PREFIX)
		control |= PW_CTL_PREFIX;
	return control | (hweight32(control) & 1 ? 0 : 1);
}

/**
 * pw_aton_control_ok - may an interface act on this control field?
 * @control: the field as it came in
 *
 * The parity bit answers this before the data arrive. The CRC comes too late.
 */
bool pw_aton_control_ok(u16 control)
{
	u8 op = pw_aton_opcode(control);

	if (!(hweight32(control) & 1))
		return false;
	return op <= PW_ATON_COUNT_LE || (op >= PW_ATON_SORT && op <= PW_ATON_TREE);
}

/**
 * pw_aton_format_bits - length of a packet, delimiters included
 * @fmt: how wide its fields are
 * @op: its opcode
 * @repeat: operands of a SORT, bytes of a passive packet
 * @heights: TREE: its field of heights
 */
u64 pw_aton_format_bits(struct pw_aton_format fmt, u8 op, u32 repeat, u8 heights)
{
	u64 bits = 8 + 16 + 24 + 24 + 24 + 8 + 32 + 8;
	u32 h;

	switch (op) {
	case PW_ATON_PASSIVE:
		return bits + (u64)repeat * 8;
	case PW_ATON_SORT:
		return bits + (u64)repeat * fmt.width;
	case PW_ATON_BITSUM:
		return bits + fmt.width * fmt.part;
	case PW_ATON_TREE:
		for (h = 0; h < (heights & ~PW_TREE_NODES); h++)
			bits += 8 * pw_aton_nodes(heights, h) + fmt.width;
		return bits + 8 + fmt.width;
	default:
		return bits + fmt.width + v2_width(fmt);
	}
}

static u8 first_data_field(struct pw_aton_place *at)
{
	at->index = 0;
	switch (at->op) {
	case PW_ATON_PASSIVE:
		return at->repeat ? PW_FLD_BYTE : PW_FLD_TRAILER;
	case PW_ATON_SORT:
		return at->repeat ? PW_FLD_OPERAND : PW_FLD_TRAILER;
	case PW_ATON_BITSUM:
		return PW_FLD_PART;
	case PW_ATON_TREE:
		return PW_FLD_HEIGHTS;
	default:
		return PW_FLD_V1;
	}
}

static u8 next_field(struct pw_aton_place *at)
{
	switch (at->field) {
	case PW_FLD_COUNTER:
		return first_data_field(at);
	case PW_FLD_V1:
		return at->op == PW_ATON_TREE ? PW_FLD_TRAILER : PW_FLD_V2;
	case PW_FLD_OPERAND:
		return ++at->index < at->repeat ? PW_FLD_OPERAND : PW_FLD_TRAILER;
	case PW_FLD_BYTE:
		return ++at->index < at->repeat ? PW_FLD_BYTE : PW_FLD_TRAILER;
	case PW_FLD_PART:
		return ++at->index < at->fmt.width ? PW_FLD_PART : PW_FLD_TRAILER;
	case PW_FLD_HEIGHTS:
		return at->heights & ~PW_TREE_NODES ? PW_FLD_TREE_OP : PW_FLD_V1;
	case PW_FLD_TREE_OP:
		if (++at->node < pw_aton_nodes(at->heights, at->index))
			return PW_FLD_TREE_OP;
		at->node = 0;
		return PW_FLD_LEVEL;
	case PW_FLD_LEVEL:
		return ++at->index < (at->heights & ~PW_TREE_NODES) ? PW_FLD_TREE_OP : PW_FLD_V1;
	case PW_FLD_V2:
		return PW_FLD_TRAILER;
	default:	/* CONTROL, DST, SRC, TRAILER, CRC: the next one */
		return at->field + 1;
	}
}

/**
 * pw_aton_advance - advance the bit and field counters by one bit
 * @at: place in the packet; fmt must be set, and op, repeat and heights by the end of
 *	the fields that carry them. Stays in PW_FLD_END.
 *
 * Return: whether a field ended.
 */
bool pw_aton_advance(struct pw_aton_place *at)
{
	if (at->field == PW_FLD_END || ++at->bit < pw_aton_width(at))
		return false;
	at->bit = 0;
	at->field = next_field(at);
	return true;
}
