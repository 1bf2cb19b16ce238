// SPDX-License-Identifier: GPL-2.0
/* Reductions over rings: messages, and how results are put together. See reduce.h. */
#include "reduce.h"

#define VERSION		1

/*
 * Both begin with version(8) kind(8), and have the id at byte 8: born(64) seq(64).
 *
 * A request: op(8) mods(8) reg(8) hops(8) n(16); at 24 comparand(64) ms(32) starter(32), then
 * n addresses of SANs (32 each), which grow.
 * An answer: err(8) flags(8) sans(16) missing(16); at 24 counter(64) v1(64) v2(64) san(32)
 * zero(96).
 */
enum { KIND_REQUEST = 1, KIND_ANSWER = 2 };

/**
 * pw_reduce_cmd_valid - may this command cross rings?
 * @cmd: the command
 */
bool pw_reduce_cmd_valid(const struct pw_reduce_cmd *cmd)
{
	if (cmd->op < PW_ATON_ADD || cmd->op > PW_ATON_COUNT_LE || cmd->reg >= PW_ATON_REGS ||
	    cmd->mods & ~(PW_ATON_SIGNED | PW_ATON_COMPARAND))
		return false;
	/* the comparand of a count is one for all rings */
	return cmd->op < PW_ATON_COUNT_EQ || cmd->mods & PW_ATON_COMPARAND;
}

static int parse_request(const u8 *data, u32 len, struct pw_reduce_msg *m)
{
	u32 i, last = 0;

	m->cmd = (struct pw_reduce_cmd) {
		.op = data[2], .mods = data[3], .reg = data[4],
		.comparand = get_unaligned_be64(data + 24),
	};
	m->hops = data[5];
	m->n = get_unaligned_be16(data + 6);
	m->ms = get_unaligned_be32(data + 32);
	m->starter = get_unaligned_be32(data + 36);
	m->sans = data + PW_REDUCE_REQUEST;
	if (!m->n || m->n > PW_REDUCE_SANS || len != PW_REDUCE_REQUEST + 4 * m->n ||
	    m->hops > PW_REDUCE_HOPS || !m->ms || m->ms > PW_REDUCE_MS_MAX ||
	    !pw_reduce_cmd_valid(&m->cmd))
		return -EINVAL;
	for (i = 0; i < m->n; i++) {
		if (i && pw_reduce_msg_san(m, i) <= last)
			return -EINVAL;
		last = pw_reduce_msg_san(m, i);
	}
	return 0;
}

static int parse_answer(const u8 *data, u32 len, struct pw_reduce_msg *m)
{
	m->result = (struct pw_reduce_result) {
		.err = data[2], .flags = data[3],
		.sans = get_unaligned_be16(data + 4),
		.missing = get_unaligned_be16(data + 6),
		.counter = get_unaligned_be64(data + 24),
		.v1 = get_unaligned_be64(data + 32),
		.v2 = get_unaligned_be64(data + 40),
		.san = get_unaligned_be32(data + 48),
	};
	if (len != PW_REDUCE_ANSWER || m->result.err >= PW_REDUCE_E_NUM ||
	    !m->result.err != !m->result.missing ||
	    m->result.flags & ~(PW_ATON_F_OVERFLOW | PW_ATON_F_RECOGNISED))
		return -EINVAL;
	return 0;
}

/**
 * pw_reduce_parse - take a message apart
 * @data: the message
 * @len: its length; messages are padded to whole words, that is not counted
 * @m: result; points into @data
 *
 * Return: 0 or -EINVAL.
 */
int pw_reduce_parse(const u8 *data, u32 len, struct pw_reduce_msg *m)
{
	*m = (struct pw_reduce_msg) {};
	if (len < PW_REDUCE_REQUEST || data[0] != VERSION)
		return -EINVAL;
	m->id.born = get_unaligned_be64(data + 8);
	m->id.seq = get_unaligned_be64(data + 16);
	/* 0 stands for no request in struct pw_reduce_seen */
	if (!m->id.born)
		return -EINVAL;
	m->answer = data[1] == KIND_ANSWER;
	if (!m->answer && data[1] != KIND_REQUEST)
		return -EINVAL;
	if (m->answer && len < PW_REDUCE_ANSWER)
		return -EINVAL;
	return m->answer ? parse_answer(data, len, m) : parse_request(data, len, m);
}

static void put_head(u8 *to, u8 kind, const struct pw_reduce_id *id)
{
	to[0] = VERSION;
	to[1] = kind;
	put_unaligned_be64(id->born, to + 8);
	put_unaligned_be64(id->seq, to + 16);
}

/**
 * pw_reduce_put_request - write a request
 * @to: PW_REDUCE_MSG_MAX bytes
 * @m: what it says; its list is not looked at
 * @sans: the list, growing; m->n of them
 *
 * Return: its length.
 */
u32 pw_reduce_put_request(u8 *to, const struct pw_reduce_msg *m, const u32 *sans)
{
	u32 i;

	put_head(to, KIND_REQUEST, &m->id);
	to[2] = m->cmd.op;
	to[3] = m->cmd.mods;
	to[4] = m->cmd.reg;
	to[5] = m->hops;
	put_unaligned_be16(m->n, to + 6);
	put_unaligned_be64(m->cmd.comparand, to + 24);
	put_unaligned_be32(m->ms, to + 32);
	put_unaligned_be32(m->starter, to + 36);
	for (i = 0; i < m->n; i++)
		put_unaligned_be32(sans[i], to + PW_REDUCE_REQUEST + 4 * i);
	return PW_REDUCE_REQUEST + 4 * m->n;
}

/**
 * pw_reduce_put_answer - write an answer
 * @to: PW_REDUCE_ANSWER bytes
 * @id: of the request
 * @r: the result
 *
 * Return: its length.
 */
u32 pw_reduce_put_answer(u8 *to, const struct pw_reduce_id *id, const struct pw_reduce_result *r)
{
	memset(to, 0, PW_REDUCE_ANSWER);
	put_head(to, KIND_ANSWER, id);
	to[2] = r->err;
	to[3] = r->flags;
	put_unaligned_be16(r->sans, to + 4);
	put_unaligned_be16(r->missing, to + 6);
	put_unaligned_be64(r->counter, to + 24);
	put_unaligned_be64(r->v1, to + 32);
	put_unaligned_be64(r->v2, to + 40);
	put_unaligned_be32(r->san, to + 48);
	return PW_REDUCE_ANSWER;
}

/**
 * pw_reduce_zero - the result of no SAN
 * @r: the result
 * @cmd: the command
 */
void pw_reduce_zero(struct pw_reduce_result *r, const struct pw_reduce_cmd *cmd)
{
	u64 top = cmd->mods & PW_ATON_SIGNED ? BIT_ULL(63) : 0;

	*r = (struct pw_reduce_result) {};
	switch (cmd->op) {
	case PW_ATON_AND:
		r->v1 = ~0ULL;
		break;
	case PW_ATON_MAX:
		r->v1 = top;
		break;
	case PW_ATON_MIN:
		r->v1 = ~top;
		break;
	case PW_ATON_COUNT_EQ:
	case PW_ATON_COUNT_LT:
	case PW_ATON_COUNT_LE:
		r->v1 = cmd->comparand;
		break;
	}
}

/* does @r select another interface than @sum? Of equals the highest address, then SAN */
static bool selects(const struct pw_reduce_result *sum, const struct pw_reduce_cmd *cmd,
		    const struct pw_reduce_result *r)
{
	u64 top = cmd->mods & PW_ATON_SIGNED ? BIT_ULL(63) : 0;

	if (!r->counter || !sum->counter)
		return r->counter;
	if (sum->v1 != r->v1)
		return ((r->v1 ^ top) > (sum->v1 ^ top)) == (cmd->op == PW_ATON_MAX);
	return r->v2 != sum->v2 ? r->v2 > sum->v2 : r->san > sum->san;
}

/**
 * pw_reduce_add - put the result of other SANs to a result
 * @sum: the result
 * @cmd: the command
 * @r: the other one; the order in which results are put together does not matter
 */
void pw_reduce_add(struct pw_reduce_result *sum, const struct pw_reduce_cmd *cmd,
		   const struct pw_reduce_result *r)
{
	switch (cmd->op) {
	case PW_ATON_ADD:
		sum->v1 += r->v1;
		if (sum->v1 < r->v1)
			sum->flags |= PW_ATON_F_OVERFLOW;
		break;
	case PW_ATON_AND:
		sum->v1 &= r->v1;
		break;
	case PW_ATON_OR:
		sum->v1 |= r->v1;
		break;
	case PW_ATON_MAX:
	case PW_ATON_MIN:
		if (!selects(sum, cmd, r))
			break;
		sum->v1 = r->v1;
		sum->v2 = r->v2;
		sum->san = r->san;
		break;
	default:
		sum->v2 += r->v2;
		break;
	}
	sum->flags |= r->flags;
	sum->counter += r->counter;
	sum->sans += r->sans;
	pw_reduce_miss(sum, r->missing, r->err);
}

/**
 * pw_reduce_miss - some SANs take no part
 * @sum: the result
 * @sans: how many; 0: nothing happens
 * @err: enum pw_reduce_error
 */
void pw_reduce_miss(struct pw_reduce_result *sum, u32 sans, u8 err)
{
	if (!sans)
		return;
	sum->missing += sans;
	if (!sum->err)
		sum->err = err;
}
