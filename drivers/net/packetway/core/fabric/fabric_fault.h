/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Seeded faults of cells. The seed, the input unit and the cycle decide about a cell, nothing
 * else: both engines lose the same cells, although they ask in different orders.
 */
#ifndef PW_CORE_FABRIC_FAULT_H
#define PW_CORE_FABRIC_FAULT_H

#include "bmx_net.h"
#include "fabric_param.h"

#define PW_FABRIC_FAULT_PPM	1000000
#define PW_FABRIC_FAULT_MAX	500000	/* of each kind, so that both together have room */
#define PW_FABRIC_FAULT_SEED	1	/* default */

/**
 * struct pw_fabric_faults - faults of the cells that input units accept
 * @drop: cells that are dropped, in parts per million
 * @corrupt: cells that are damaged, likewise
 * @seed: another seed hits other cells
 */
struct pw_fabric_faults {
	u32 drop;
	u32 corrupt;
	u32 seed;
};

/* as a fabric's parameters; pw_fabric_param.at is an offset in struct pw_fabric_faults */
#define PW_FABRIC_FAULT_PARAMS	3
extern const struct pw_fabric_param pw_fabric_fault_param[PW_FABRIC_FAULT_PARAMS];

const struct pw_fabric_param *pw_fabric_fault_find(const char *name);
void pw_fabric_fault_set(struct pw_fabric_faults *c, const struct pw_fabric_param *d, u32 v);

static inline bool pw_fabric_faults_on(const struct pw_fabric_faults *c)
{
	return c->drop || c->corrupt;
}

/* every bit of the result depends on every bit of @v */
static inline u64 pw_fabric_fault_mix(u64 v)
{
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ULL;
	v = (v ^ v >> 27) * 0x94d049bb133111ebULL;
	return v ^ v >> 31;
}

/**
 * pw_fabric_fault() - fault of a cell, for pw_fabric_ops.fault
 * @c: faults
 * @ppd: rank of the input unit
 * @t: cycle with byte 0 of the cell on its link
 *
 * Return: what happens to the cell.
 */
static inline enum pw_bmx_fault pw_fabric_fault(const struct pw_fabric_faults *c, u32 ppd, u64 t)
{
	u64 unit = pw_fabric_fault_mix((u64)c->seed << 32 | (ppd + 1));
	u64 v = (pw_fabric_fault_mix(unit + t) >> 32) * PW_FABRIC_FAULT_PPM >> 32;

	if (v < c->drop)
		return PW_BMX_FAULT_DROP;
	return v < c->drop + c->corrupt ? PW_BMX_FAULT_CORRUPT : PW_BMX_FAULT_NONE;
}

#endif /* PW_CORE_FABRIC_FAULT_H */
