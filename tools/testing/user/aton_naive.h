/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An oracle for ATON commands that knows nothing of rings, tokens or bits: loops
 * over an array of operands, straight from the definition of each command.
 */
#ifndef ATON_NAIVE_H
#define ATON_NAIVE_H

#include <stdlib.h>
#include "ring/ring.h"

#define NAIVE_MAX 1024

struct naive_interface {
	u64 x[PW_ATON_REGS];
	u32 addr, group;
	bool up;
};

struct naive_result {
	int err;
	bool overflow, recognised;
	u32 counter, nsorted;
	u64 v1, v2;
	u64 sorted[NAIVE_MAX];
	u32 parts[64];
};

static bool naive_member(const struct naive_interface *f, u32 dst)
{
	if (!f->up)
		return false;
	if (dst == 0xffffff || dst == f->addr)
		return true;
	return dst >= 0xe00000 && dst <= 0xefffff && ((dst - 0xe00000) & f->group);
}

static bool naive_less(u64 a, u64 b, bool is_signed)
{
	return is_signed ? (s64)a < (s64)b : a < b;
}

static int naive_cmp_u(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static int naive_cmp_s(const void *a, const void *b)
{
	s64 x = *(const s64 *)a, y = *(const s64 *)b;

	return (x > y) - (x < y);
}

/* bits of an operand and of a count in a BITSUM */
static u32 naive_width = 64, naive_part = 24;

/* a number modulo 2^width */
static u64 naive_cut(u64 v, bool sg)
{
	u64 rest = naive_width < 64 ? v >> naive_width << naive_width : 0;

	v -= rest;
	if (sg && v >> (naive_width - 1) & 1)
		v -= naive_width < 64 ? 1ULL << naive_width : 0;
	return v;
}

static u64 naive_op(int op, u64 a, u64 b, bool sg, bool *over)
{
	switch (op) {
	case PW_ATON_ADD:
		a = naive_cut(a, false);
		b = naive_cut(b, false);
		*over |= b > naive_cut(~a, false);
		return naive_cut(a + b, sg);
	case PW_ATON_AND:
		return a & b;
	case PW_ATON_OR:
		return a | b;
	case PW_ATON_MAX:
		return naive_less(a, b, sg) ? b : a;
	case PW_ATON_MIN:
		return naive_less(b, a, sg) ? b : a;
	}
	abort();
}

/* what @cmd, triggered at interface @t of @n, must yield if nothing goes wrong */
static inline void naive(const struct naive_interface *f, u32 n, u32 t, const struct pw_ring_cmd *cmd,
			 struct naive_result *r)
{
	bool sg = cmd->mods & PW_ATON_SIGNED;
	static u64 x[NAIVE_MAX];
	static u32 who[NAIVE_MAX];
	const u8 *node = cmd->nodes;
	u32 m = 0, i, k, h;
	u64 c, v;

	memset(r, 0, sizeof(*r));
	for (i = 0; i < n; i++) {
		const struct naive_interface *g = &f[(t + i) % n];

		if (!naive_member(g, cmd->dst) || (cmd->op == PW_ATON_PASSIVE && !i))
			continue;
		x[m] = naive_cut(g->x[cmd->reg], sg);
		who[m++] = g->addr;
	}
	r->counter = m;
	r->recognised = m > 0;
	c = naive_cut(cmd->mods & PW_ATON_COMPARAND ? cmd->comparand : f[t].x[cmd->reg], sg);
	switch (cmd->op) {
	case PW_ATON_PASSIVE:
		r->counter = cmd->len;
		break;
	case PW_ATON_ADD:
		for (i = 0; i < m; i++)
			r->v1 = naive_op(PW_ATON_ADD, r->v1, x[i], sg, &r->overflow);
		break;
	case PW_ATON_AND:
		r->v1 = naive_cut(~0ULL, sg);
		for (i = 0; i < m; i++)
			r->v1 &= x[i];
		break;
	case PW_ATON_OR:
		for (i = 0; i < m; i++)
			r->v1 |= x[i];
		break;
	case PW_ATON_MAX:
	case PW_ATON_MIN:
		if (!m) {
			if (cmd->op == PW_ATON_MAX)
				r->v1 = sg ? naive_cut(1ULL << (naive_width - 1), sg) : 0;
			else
				r->v1 = naive_cut(~0ULL, false) >> sg;
			break;
		}
		r->v1 = x[0];
		for (i = 1; i < m; i++)
			r->v1 = naive_op(cmd->op, r->v1, x[i], sg, &r->overflow);
		for (i = 0; i < m; i++)
			if (x[i] == r->v1)
				r->v2 = who[i];
		break;
	case PW_ATON_COUNT_EQ:
	case PW_ATON_COUNT_LT:
	case PW_ATON_COUNT_LE:
		r->v1 = c;
		for (i = 0; i < m; i++) {
			bool lt = naive_less(c, x[i], sg), eq = c == x[i];

			r->v2 += cmd->op == PW_ATON_COUNT_EQ ? eq :
				 cmd->op == PW_ATON_COUNT_LT ? lt : lt || eq;
		}
		break;
	case PW_ATON_SORT:
		if (m > cmd->room) {
			r->err = PW_ATON_E_ROOM;
			break;
		}
		memcpy(r->sorted, x, m * sizeof(*x));
		qsort(r->sorted, m, sizeof(*x), sg ? naive_cmp_s : naive_cmp_u);
		r->nsorted = m;
		break;
	case PW_ATON_BITSUM:
		for (k = 0; k < naive_width; k++) {
			for (i = 0; i < m; i++)
				r->parts[k] += x[i] >> k & 1;
			r->overflow |= r->parts[k] >> naive_part;
			r->parts[k] %= 1u << naive_part;
		}
		break;
	case PW_ATON_TREE:
		if (m != 1u << cmd->heights) {
			r->err = PW_ATON_E_SHAPE;
			break;
		}
		for (h = 0; h < cmd->heights; h++)
			for (m /= 2, i = 0; i < m; i++) {
				u8 op = cmd->nodes ? *node++ : cmd->ops[h];

				v = naive_op(op, x[2 * i], x[2 * i + 1], sg, &r->overflow);
				x[i] = v;
			}
		r->v1 = x[0];
		break;
	}
}

/* does a command that ended well hold exactly that? */
static inline bool naive_agrees(const struct naive_result *r, const struct pw_ring_cmd *cmd)
{
	if (r->err || cmd->err)
		return r->err == cmd->err;
	if (cmd->counter != r->counter || cmd->v1 != r->v1 || cmd->v2 != r->v2 ||
	    !(cmd->flags & PW_ATON_F_OVERFLOW) != !r->overflow ||
	    !(cmd->flags & PW_ATON_F_RECOGNISED) != !r->recognised)
		return false;
	if (cmd->op == PW_ATON_SORT && r->nsorted)
		return !memcmp(cmd->out, r->sorted, r->nsorted * sizeof(u64));
	if (cmd->op == PW_ATON_BITSUM)
		return !memcmp(cmd->parts, r->parts, sizeof(r->parts));
	return true;
}

#endif
