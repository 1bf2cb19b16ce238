/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RRP: the logical addresses that the nodes of tables listen to, as ranges.
 *
 * A single address, a range and a value with a mask all become ranges; of a mask that is
 * not a prefix the smallest range that holds all its addresses is taken. If there are more
 * ranges than room, the set becomes that of all logical addresses: a listener may get
 * frames that it did not ask for, never too few.
 */
#ifndef PW_CORE_RRP_GROUPS_H
#define PW_CORE_RRP_GROUPS_H

#include "rrp_table.h"

struct pw_rrp_range {
	u32 lo;
	u32 hi;
};

/**
 * struct pw_rrp_groups - a set of logical addresses
 * @r: ranges, memory of the caller; in order and apart after pw_rrp_groups_done()
 * @n: their number
 * @cap: room there; the set itself has half as many at most
 * @all: it is the set of all logical addresses
 */
struct pw_rrp_groups {
	struct pw_rrp_range *r;
	u32 n;
	u32 cap;
	bool all;
};

void pw_rrp_groups_init(struct pw_rrp_groups *g, struct pw_rrp_range *r, u32 cap);
void pw_rrp_groups_add(struct pw_rrp_groups *g, const struct pw_rrp_table *t);
void pw_rrp_groups_done(struct pw_rrp_groups *g);
bool pw_rrp_ranges_have(const struct pw_rrp_range *r, u32 n, u32 addr);

#endif /* PW_CORE_RRP_GROUPS_H */
