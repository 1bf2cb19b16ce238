/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event-driven BMX network of any topology. For bmx_fast.c, whose functions call these for a
 * network with a topology: they have the same arguments and results.
 */
#ifndef PW_CORE_BMX_TOPO_H
#define PW_CORE_BMX_TOPO_H

#include "arena.h"
#include "bmx_fast.h"

struct pw_bmx_fast *pw_bmx_topo_layout(struct pw_arena *a, const struct pw_bmx_cfg *cfg);
void pw_bmx_topo_init(struct pw_bmx_fast *f);
int pw_bmx_topo_offer(struct pw_bmx_fast *f, u32 port, u64 t, u32 vpi, u32 cookie, u32 flags);
int pw_bmx_topo_wake(struct pw_bmx_fast *f, u32 port, u64 cycle);
u32 pw_bmx_topo_cycle(struct pw_bmx_fast *f, u64 cycle);
u32 pw_bmx_topo_qsize(struct pw_bmx_fast *f, u32 ppd, u32 q);
void pw_bmx_topo_count(struct pw_bmx_fast *f, u32 rank, u64 *cells, u64 *refused);

#endif /* PW_CORE_BMX_TOPO_H */
