// SPDX-License-Identifier: GPL-2.0
/*
 * ESP packets and instructions.
 *
 * An instruction is worked out in a transaction: reads see the writes before
 * them, so operands that name the same tag behave as if the steps were done one
 * after the other, and nothing is in the store before all of it can be.
 * All arithmetic is modulo 2^64.
 */
#include "esp.h"

const struct pw_esp_desc pw_esp_desc[PW_ESP_OPCODES] = {
	[0] = { .name = "unknown" },
	[PW_ESP_COUNT] = {
		"count", PW_ESP_OPK_NONE, 2,
		{ PW_ESP_F_TAG, PW_ESP_F_THRESH },
	},
	[PW_ESP_COMPARE] = {
		"compare", PW_ESP_OPK_COMPARE, 2,
		{ PW_ESP_F_TAG, PW_ESP_F_VAL },
	},
	[PW_ESP_COLLECT] = {
		"collect", PW_ESP_OPK_REDUCE, 3,
		{ PW_ESP_F_VAL_TAG, PW_ESP_F_CNT_TAG, PW_ESP_F_VAL },
	},
	[PW_ESP_RCHLD] = {
		"rchld", PW_ESP_OPK_NONE, 4,
		{ PW_ESP_F_SIB_TAG, PW_ESP_F_FWD_TAG, PW_ESP_F_FWD_THRESH, PW_ESP_F_PKT_ID },
	},
	[PW_ESP_RCOLLECT] = {
		"rcollect", PW_ESP_OPK_REDUCE, 6,
		{ PW_ESP_F_SIB_TAG, PW_ESP_F_FWD_TAG, PW_ESP_F_FWD_THRESH, PW_ESP_F_COMP_TAG,
		  PW_ESP_F_VAL, PW_ESP_F_PKT_ID },
	},
};

/**
 * pw_esp_op_name - what an operator is called
 * @kind: which set of operators
 * @op: its code
 *
 * Return: its name, or NULL where there is no such operator.
 */
const char *pw_esp_op_name(enum pw_esp_op_kind kind, u8 op)
{
	static const char *const compare[] = {
		[PW_ESP_REL_LT] = "lt", [PW_ESP_REL_LE] = "le", [PW_ESP_REL_EQ] = "eq",
		[PW_ESP_REL_NE] = "ne", [PW_ESP_REL_GE] = "ge", [PW_ESP_REL_GT] = "gt",
	};
	static const char *const reduce[] = {
		[PW_ESP_OP_ADD] = "add", [PW_ESP_OP_AND] = "and", [PW_ESP_OP_OR] = "or",
		[PW_ESP_OP_MAX] = "max", [PW_ESP_OP_MIN] = "min", [PW_ESP_OP_XOR] = "xor",
	};

	if (kind == PW_ESP_OPK_COMPARE)
		return op < ARRAY_SIZE(compare) ? compare[op] : NULL;
	if (kind == PW_ESP_OPK_REDUCE)
		return op < ARRAY_SIZE(reduce) ? reduce[op] : NULL;
	return op ? NULL : "none";
}

/**
 * pw_esp_op_valid - is this an operator?
 * @kind: which set of operators
 * @op: its code
 *
 * Return: whether an instruction that takes @kind may carry @op.
 */
bool pw_esp_op_valid(enum pw_esp_op_kind kind, u8 op)
{
	return pw_esp_op_name(kind, op);
}

static bool compare(u8 op, u64 stored, u64 carried)
{
	switch (op) {
	case PW_ESP_REL_LT:
		return stored < carried;
	case PW_ESP_REL_LE:
		return stored <= carried;
	case PW_ESP_REL_EQ:
		return stored == carried;
	case PW_ESP_REL_NE:
		return stored != carried;
	case PW_ESP_REL_GE:
		return stored >= carried;
	default:
		return stored > carried;
	}
}

static u64 reduce(u8 op, u64 a, u64 b)
{
	switch (op) {
	case PW_ESP_OP_ADD:
		return a + b;
	case PW_ESP_OP_AND:
		return a & b;
	case PW_ESP_OP_OR:
		return a | b;
	case PW_ESP_OP_MAX:
		return max(a, b);
	case PW_ESP_OP_MIN:
		return min(a, b);
	default:
		return a ^ b;
	}
}

/**
 * pw_esp_parse - read a packet
 * @buf: the packet
 * @len: bytes of it
 * @in: what it says; fields that the instruction does not have are 0
 *
 * Return: PW_ESP_R_OK, or why it cannot be executed. @in then holds what could
 * be read; in the case of PW_ESP_R_SHORT, nothing.
 */
enum pw_esp_reason pw_esp_parse(const void *buf, size_t len, struct pw_esp_insn *in)
{
	const struct pw_esp_desc *d;
	const u8 *p = buf;
	unsigned int i;
	u32 op;

	memset(in, 0, sizeof(*in));
	if (len < PW_ESP_HDR_LEN)
		return PW_ESP_R_SHORT;
	in->ctl = p[0];
	in->opcode = p[1];
	if (FIELD_GET(PW_ESP_LOC_MASK, in->ctl) > PW_ESP_LOC_ENDS)
		return PW_ESP_R_LOCATION;
	if (!in->opcode || in->opcode >= PW_ESP_OPCODES)
		return PW_ESP_R_OPCODE;
	d = &pw_esp_desc[in->opcode];
	if (get_unaligned_be16(p + 2) != 1 + 2 * d->n || len < PW_ESP_HDR_LEN + 4 + 8 * d->n)
		return PW_ESP_R_LENGTH;
	op = get_unaligned_be32(p + PW_ESP_HDR_LEN);
	if (op > U8_MAX || !pw_esp_op_valid(d->op_kind, op))
		return PW_ESP_R_OPERATOR;
	in->op = op;
	for (i = 0; i < d->n; i++)
		in->f[d->field[i]] = get_unaligned_be64(p + PW_ESP_HDR_LEN + 4 + 8 * i);
	return PW_ESP_R_OK;
}

/* Is it the tag of a value that the node itself has? */
static bool is_fact(const struct pw_esp_store *st, u64 tag)
{
	return unlikely(tag >= PW_ESP_TAG_NODE) && st->facts;
}

/* a value of the node; facts_known() was true */
static u64 fact(const struct pw_esp_store *st, u64 tag, u64 node_id)
{
	u64 v = st->facts[(tag & ~(PW_ESP_TAG_NODE | PW_ESP_TAG_NAMED)) - 1];

	if (tag & PW_ESP_TAG_NAMED)
		v = min(v, BIT_ULL(40) - 1) << 24 | (node_id & (BIT(24) - 1));
	return v;
}

/* the operand of an instruction that only reads, if it has one */
static enum pw_esp_field readable(u8 opcode)
{
	switch (opcode) {
	case PW_ESP_COMPARE:
		return PW_ESP_F_TAG;
	case PW_ESP_COLLECT:
		return PW_ESP_F_VAL_TAG;
	default:
		return PW_ESP_F_COUNT;
	}
}

/* Are all tags of the node itself known, and where they are read? */
static bool facts_known(const struct pw_esp_store *st, const struct pw_esp_insn *in)
{
	static const u8 tags[] = { PW_ESP_F_TAG, PW_ESP_F_VAL_TAG, PW_ESP_F_CNT_TAG,
				   PW_ESP_F_SIB_TAG, PW_ESP_F_FWD_TAG, PW_ESP_F_COMP_TAG };
	unsigned int i;
	u64 which;

	for (i = 0; i < ARRAY_SIZE(tags); i++) {
		if (!is_fact(st, in->f[tags[i]]))
			continue;
		which = in->f[tags[i]] & ~(PW_ESP_TAG_NODE | PW_ESP_TAG_NAMED);
		if (tags[i] != readable(in->opcode) || !which || which > PW_ESP_FACTS)
			return false;
	}
	return true;
}

static void count_one(struct pw_esp_txn *t, u64 tag, u64 *v)
{
	pw_esp_txn_get(t, tag, v);
	pw_esp_txn_put(t, tag, ++*v);
}

static enum pw_esp_verdict exec_count(struct pw_esp_txn *t, struct pw_esp_insn *in)
{
	u64 v;

	count_one(t, in->f[PW_ESP_F_TAG], &v);
	return v <= in->f[PW_ESP_F_THRESH] ? PW_ESP_V_FORWARD : PW_ESP_V_DISCARD;
}

static enum pw_esp_verdict exec_compare(struct pw_esp_txn *t, struct pw_esp_insn *in, u64 node_id)
{
	u64 v;

	if (is_fact(t->st, in->f[PW_ESP_F_TAG]))
		return compare(in->op, fact(t->st, in->f[PW_ESP_F_TAG], node_id),
			       in->f[PW_ESP_F_VAL]) ? PW_ESP_V_FORWARD : PW_ESP_V_DISCARD;
	if (pw_esp_txn_get(t, in->f[PW_ESP_F_TAG], &v) &&
	    !compare(in->op, v, in->f[PW_ESP_F_VAL]))
		return PW_ESP_V_DISCARD;
	pw_esp_txn_put(t, in->f[PW_ESP_F_TAG], in->f[PW_ESP_F_VAL]);
	return PW_ESP_V_FORWARD;
}

static u64 accumulate(struct pw_esp_txn *t, u64 tag, const struct pw_esp_insn *in)
{
	u64 val = in->f[PW_ESP_F_VAL];
	u64 cur;

	if (pw_esp_txn_get(t, tag, &cur))
		val = reduce(in->op, cur, val);
	pw_esp_txn_put(t, tag, val);
	return val;
}

static enum pw_esp_verdict exec_collect(struct pw_esp_txn *t, struct pw_esp_insn *in,
					u64 node_id, u32 *changed)
{
	u64 cur, count;

	if (is_fact(t->st, in->f[PW_ESP_F_VAL_TAG]))
		cur = reduce(in->op, fact(t->st, in->f[PW_ESP_F_VAL_TAG], node_id),
			     in->f[PW_ESP_F_VAL]);
	else
		cur = accumulate(t, in->f[PW_ESP_F_VAL_TAG], in);
	if (!pw_esp_txn_get(t, in->f[PW_ESP_F_CNT_TAG], &count))
		return PW_ESP_V_ABORT;
	pw_esp_txn_put(t, in->f[PW_ESP_F_CNT_TAG], --count);
	if (count)
		return PW_ESP_V_DISCARD;
	in->f[PW_ESP_F_VAL] = cur;
	*changed = BIT(PW_ESP_F_VAL);
	return PW_ESP_V_FORWARD;
}

static enum pw_esp_verdict exec_rchld(struct pw_esp_txn *t, struct pw_esp_insn *in,
				      u64 node_id, u32 *changed)
{
	u64 mark = pw_esp_mark_tag(t->st, in->f[PW_ESP_F_SIB_TAG], in->f[PW_ESP_F_PKT_ID]);
	u64 v;

	if (!pw_esp_txn_get(t, mark, &v)) {
		pw_esp_txn_put(t, mark, 1);
		count_one(t, in->f[PW_ESP_F_SIB_TAG], &v);
	}
	count_one(t, in->f[PW_ESP_F_FWD_TAG], &v);
	if (v > in->f[PW_ESP_F_FWD_THRESH])
		return PW_ESP_V_DISCARD;
	in->f[PW_ESP_F_PKT_ID] = node_id;
	*changed = BIT(PW_ESP_F_PKT_ID);
	return PW_ESP_V_FORWARD;
}

static enum pw_esp_verdict exec_rcollect(struct pw_esp_txn *t, struct pw_esp_insn *in,
					 u64 node_id, u32 *changed)
{
	u64 mark = pw_esp_mark_tag(t->st, in->f[PW_ESP_F_SIB_TAG], in->f[PW_ESP_F_PKT_ID]);
	u64 marked, sib, total, fwd;

	if (!pw_esp_txn_get(t, mark, &marked) ||
	    !pw_esp_txn_get(t, in->f[PW_ESP_F_SIB_TAG], &sib))
		return PW_ESP_V_ABORT;
	if (marked == 1) {
		pw_esp_txn_put(t, mark, 0);
		pw_esp_txn_put(t, in->f[PW_ESP_F_SIB_TAG], --sib);
		accumulate(t, in->f[PW_ESP_F_COMP_TAG], in);
	}
	if (sib)
		return PW_ESP_V_DISCARD;
	/* a late duplicate may find that the total has expired before the rest */
	if (!pw_esp_txn_get(t, in->f[PW_ESP_F_COMP_TAG], &total))
		return PW_ESP_V_ABORT;
	count_one(t, in->f[PW_ESP_F_FWD_TAG], &fwd);
	if (fwd > in->f[PW_ESP_F_FWD_THRESH])
		return PW_ESP_V_DISCARD;
	in->f[PW_ESP_F_PKT_ID] = node_id;
	in->f[PW_ESP_F_VAL] = total;
	*changed = BIT(PW_ESP_F_PKT_ID) | BIT(PW_ESP_F_VAL);
	return PW_ESP_V_FORWARD;
}

/**
 * pw_esp_exec - execute one instruction
 * @st: the store
 * @node_id: of the node that executes it
 * @now: time
 * @in: the instruction, as pw_esp_parse() returned it without complaint;
 *	operands are changed where it is forwarded, control bits never
 * @res: what happened
 *
 * Return: PW_ESP_V_FORWARD, PW_ESP_V_DISCARD or PW_ESP_V_ABORT. After an abort
 * the store is as it was.
 */
enum pw_esp_verdict pw_esp_exec(struct pw_esp_store *st, u64 node_id, u64 now,
				struct pw_esp_insn *in, struct pw_esp_result *res)
{
	/* the only operands that instructions write */
	u64 val = in->f[PW_ESP_F_VAL], pkt_id = in->f[PW_ESP_F_PKT_ID];
	struct pw_esp_txn t;
	u32 changed = 0;

	res->reason = PW_ESP_R_OK;
	res->opcode = in->opcode;
	res->changed = 0;
	if (unlikely(st->facts && !facts_known(st, in))) {
		res->reason = PW_ESP_R_READONLY;
		res->verdict = PW_ESP_V_ABORT;
		return res->verdict;
	}
	pw_esp_txn_begin(&t, st, now);
	switch (in->opcode) {
	case PW_ESP_COUNT:
		res->verdict = exec_count(&t, in);
		break;
	case PW_ESP_COMPARE:
		res->verdict = exec_compare(&t, in, node_id);
		break;
	case PW_ESP_COLLECT:
		res->verdict = exec_collect(&t, in, node_id, &changed);
		break;
	case PW_ESP_RCHLD:
		res->verdict = exec_rchld(&t, in, node_id, &changed);
		break;
	case PW_ESP_RCOLLECT:
		res->verdict = exec_rcollect(&t, in, node_id, &changed);
		break;
	default:
		res->opcode = 0;
		res->reason = PW_ESP_R_OPCODE;
		res->verdict = PW_ESP_V_ABORT;
		return res->verdict;
	}
	if (res->verdict == PW_ESP_V_ABORT) {
		res->reason = PW_ESP_R_STATE;
	} else if (pw_esp_txn_commit(&t)) {
		in->f[PW_ESP_F_VAL] = val;
		in->f[PW_ESP_F_PKT_ID] = pkt_id;
		res->reason = PW_ESP_R_FULL;
		res->verdict = PW_ESP_V_ABORT;
	} else {
		res->changed = changed;
	}
	return res->verdict;
}

/* must this node execute it? The location has been checked for validity. */
static bool location_matches(u8 ctl, bool router)
{
	switch (FIELD_GET(PW_ESP_LOC_MASK, ctl)) {
	case PW_ESP_LOC_ROUTERS:
		return router;
	case PW_ESP_LOC_ENDS:
		return !router;
	default:
		return true;
	}
}

/**
 * pw_esp_node_input - a packet arrives at a node
 * @node: the node
 * @now: time
 * @buf: the packet, changed in place
 * @len: bytes of it
 * @res: what happened; may be looked at by counters and traces
 *
 * A packet is executed if Execute is set, Error is not, and the location is
 * that of the node. What is not to be executed is not inspected. An instruction
 * that cannot be executed sets Error and clears Execute, so that no later node tries.
 *
 * Return: the verdict. On PW_ESP_V_DISCARD and PW_ESP_V_DROP the packet is gone;
 * otherwise it goes on: a router forwards it, an end system that it is addressed
 * to calls pw_esp_reflect() and sends it back or delivers it.
 */
enum pw_esp_verdict pw_esp_node_input(const struct pw_esp_node *node, u64 now, void *buf,
				      size_t len, struct pw_esp_result *res)
{
	const struct pw_esp_desc *d;
	struct pw_esp_insn in;
	enum pw_esp_reason r;
	u8 *p = buf;
	unsigned int i;

	res->verdict = PW_ESP_V_PASS;
	res->reason = PW_ESP_R_OK;
	res->opcode = 0;
	res->changed = 0;
	if (len < PW_ESP_HDR_LEN) {
		res->reason = PW_ESP_R_SHORT;
		res->verdict = PW_ESP_V_DROP;
		return res->verdict;
	}
	if ((p[0] & (PW_ESP_EXECUTE | PW_ESP_ERROR)) != PW_ESP_EXECUTE)
		return res->verdict;
	r = pw_esp_parse(buf, len, &in);
	if (r != PW_ESP_R_LOCATION && !location_matches(p[0], node->router))
		return res->verdict;
	if (r != PW_ESP_R_OK) {
		res->reason = r;
		res->opcode = in.opcode < PW_ESP_OPCODES ? in.opcode : 0;
		res->verdict = PW_ESP_V_ABORT;
	} else {
		pw_esp_exec(node->store, node->id, now, &in, res);
	}

	if (res->verdict == PW_ESP_V_ABORT) {
		p[0] |= PW_ESP_ERROR;
		p[0] &= ~PW_ESP_EXECUTE;
	}
	if (res->changed) {
		d = &pw_esp_desc[in.opcode];
		for (i = 0; i < d->n; i++)
			if (res->changed & BIT(d->field[i]))
				put_unaligned_be64(in.f[d->field[i]],
						   p + PW_ESP_HDR_LEN + 4 + 8 * i);
	}
	return res->verdict;
}

/**
 * pw_esp_reflect - a packet has arrived at the end system it is addressed to
 * @buf: the packet, changed in place
 * @len: bytes of it
 *
 * Called after pw_esp_node_input(). The end system does not execute the packet
 * again when it sends it back. Where Error is set, Execute takes its value all
 * the same, and Error keeps all nodes on the way back from executing.
 *
 * Return: whether the caller must exchange source and destination and send the
 * packet back; otherwise it is for the local receiver.
 */
bool pw_esp_reflect(void *buf, size_t len)
{
	u8 *p = buf;

	if (len < PW_ESP_HDR_LEN || !(p[0] & PW_ESP_REFLECT))
		return false;
	p[0] &= ~(PW_ESP_REFLECT | PW_ESP_EXECUTE);
	if (p[0] & PW_ESP_EXEC_ON_REFLECT)
		p[0] |= PW_ESP_EXECUTE;
	return true;
}

/**
 * pw_esp_names_node - may a packet read values of the node itself?
 * @buf: the packet
 * @len: bytes of it
 *
 * Return: false if pw_esp_store.facts is not needed to execute it.
 */
bool pw_esp_names_node(const void *buf, size_t len)
{
	size_t end = min_t(size_t, len, PW_ESP_LEN_MAX), off;

	for (off = PW_ESP_HDR_LEN + 4; off + 8 <= end; off += 8)
		if (get_unaligned_be64((const u8 *)buf + off) >= PW_ESP_TAG_NODE)
			return true;
	return false;
}
