// SPDX-License-Identifier: GPL-2.0
/* RRP: logical addresses as ranges; see rrp_groups.h. */
#include "rrp_groups.h"

/**
 * pw_rrp_groups_init - begin with no address
 * @g: set
 * @r: memory
 * @cap: ranges that fit there, at least 2
 */
void pw_rrp_groups_init(struct pw_rrp_groups *g, struct pw_rrp_range *r, u32 cap)
{
	g->r = r;
	g->n = 0;
	g->cap = cap;
	g->all = false;
}

static int pw_rrp_range_cmp(const void *a, const void *b)
{
	const struct pw_rrp_range *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static void pw_rrp_groups_merge(struct pw_rrp_groups *g)
{
	u32 i, n = 0;

	sort(g->r, g->n, sizeof(*g->r), pw_rrp_range_cmp, NULL);
	for (i = 0; i < g->n; i++) {
		if (n && g->r[i].lo <= g->r[n - 1].hi + 1)
			g->r[n - 1].hi = max(g->r[n - 1].hi, g->r[i].hi);
		else
			g->r[n++] = g->r[i];
	}
	g->n = n;
	if (n <= g->cap / 2)
		return;
	g->all = true;
	g->n = 1;
	g->r[0] = (struct pw_rrp_range) { PW_ADDR_LOGICAL_MIN, PW_ADDR_LOGICAL_MAX };
}

static void pw_rrp_groups_put(struct pw_rrp_groups *g, u32 lo, u32 hi)
{
	lo = max(lo, PW_ADDR_LOGICAL_MIN);
	hi = min(hi, PW_ADDR_LOGICAL_MAX);
	if (lo > hi || g->all)
		return;
	if (g->n == g->cap)
		pw_rrp_groups_merge(g);
	if (!g->all)
		g->r[g->n++] = (struct pw_rrp_range) { lo, hi };
}

/* those logical addresses that equal @value under @mask */
static void pw_rrp_groups_masked(struct pw_rrp_groups *g, u32 value, u32 mask)
{
	u32 lo;

	if ((value ^ PW_ADDR_LOGICAL_MIN) & mask & ~PW_ADDR_LOGICAL_MASK)
		return;
	mask &= PW_ADDR_LOGICAL_MASK;
	lo = PW_ADDR_LOGICAL_MIN | (value & mask);
	pw_rrp_groups_put(g, lo, lo | (mask ^ PW_ADDR_LOGICAL_MASK));
}

static void pw_rrp_groups_ladr(struct pw_rrp_groups *g, const struct pw_rrp_rec *ladr)
{
	struct pw_rrp_entry e, f = { 0 };
	u32 i = 0;

	while (pw_rrp_entry_at(ladr, i++, &e)) {
		if (e.at != PW_RRP_AT_SINGLE)
			pw_rrp_entry_at(ladr, i++, &f);
		if (e.at == PW_RRP_AT_SINGLE)
			pw_rrp_groups_put(g, e.addr, e.addr);
		else if (e.at == PW_RRP_AT_MIN)
			pw_rrp_groups_put(g, e.addr, f.addr);
		else
			pw_rrp_groups_masked(g, e.addr, f.addr);
	}
}

/**
 * pw_rrp_groups_add - add what the nodes of a table listen to
 * @g: set
 * @t: table
 */
void pw_rrp_groups_add(struct pw_rrp_groups *g, const struct pw_rrp_table *t)
{
	struct pw_rrp_rec rec, inner;
	struct pw_rrp_iter it, in;

	pw_rrp_iter_init(&it, t->nodes, t->nodes_len);
	while (!g->all && pw_rrp_next(&it, &rec) > 0) {
		if (rec.type != PW_RRP_ADDR)
			continue;
		pw_rrp_iter_nested(&in, &rec);
		while (pw_rrp_next(&in, &inner) > 0)
			if (inner.type == PW_RRP_LADR)
				pw_rrp_groups_ladr(g, &inner);
	}
}

/**
 * pw_rrp_groups_done - put the ranges in order
 * @g: set
 */
void pw_rrp_groups_done(struct pw_rrp_groups *g)
{
	pw_rrp_groups_merge(g);
}

/**
 * pw_rrp_ranges_have - is an address in one of these ranges?
 * @r: ranges, in order and apart
 * @n: their number
 * @addr: address
 *
 * Return: whether it is.
 */
bool pw_rrp_ranges_have(const struct pw_rrp_range *r, u32 n, u32 addr)
{
	u32 lo = 0, hi = n, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (addr > r[mid].hi)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && addr >= r[lo].lo;
}
