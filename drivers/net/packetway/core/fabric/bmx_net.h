/* SPDX-License-Identifier: GPL-2.0 */
/*
 * BMX network, register by register: three stages with k*k ports, or any topology (topo.h).
 *
 * Ranks of the three-stage network: stage s owns PPDs and SPDs s*k*k .. (s+1)*k*k-1,
 * its switch w the k ranks from s*k*k + w*k. Input port i drives PPD i, SPD 2*k*k+i
 * drives output port i, output x of switch w goes to input w of switch x of the next
 * stage.
 *
 * Per cycle the caller runs pw_bmx_net_step_spd(), then its ports, then
 * pw_bmx_net_step_ppd(), or their steps for a range of units at a time. A port reads
 * out_byte/out_byteind (this cycle's) and in_suspend (last cycle's) and writes
 * in_byte/in_byteind (taken by the PPD in the same cycle) and out_suspend (acts on the SPD in
 * the next cycle).
 */
#ifndef PW_CORE_BMX_NET_H
#define PW_CORE_BMX_NET_H

#include "pw_os.h"
#include "bmx.h"
#include "arena.h"
#include "topo.h"

#define PW_BMX_STAGES	3
enum pw_bmx_stage { PW_BMX_FIRST, PW_BMX_MIDDLE, PW_BMX_LAST };

/* cycles from byte 0 on the input link to byte 0 on the output link, idle network */
#define PW_BMX_LATENCY	(PW_BMX_STAGES * PW_BMX_HOP)
/* byte that a fault damages in stage @s; differs, so that two faults never cancel */
#define PW_BMX_FLIP(s)	(50 - (s))
/* stages that a network may have */
#define PW_BMX_STAGES_MAX	PW_TOPO_LEVELS

/**
 * struct pw_bmx_cfg - sizes of a network or switch
 * @k: ports of a switch, PW_BMX_KMIN..PW_BMX_KMAX; 0 for the default
 * @depth: cells in a queue, 1..PW_BMX_DEPTH_MAX; 0 for the default
 * @entries: table entries; 0 for the default, raised to what the paths need
 * @topo: topology, which also determines @k and @entries; NULL: three stages of k switches
 */
struct pw_bmx_cfg {
	u32 k;
	u32 depth;
	u32 entries;
	const struct pw_topo *topo;
};

/* fault of a cell that a PPD accepts */
enum pw_bmx_fault {
	PW_BMX_FAULT_NONE,
	PW_BMX_FAULT_DROP,	/* taken from the link, stored nowhere */
	PW_BMX_FAULT_CORRUPT,	/* a data bit flips, the CRC becomes wrong */
};

/*
 * Called once per cell and PPD, never for a refused attempt. @ppd: rank, @t: cycle
 * with byte 0 on the PPD's link. Both engines pass the same arguments, so that a
 * decision that depends on them alone gives the same run.
 */
typedef enum pw_bmx_fault (*pw_bmx_fault_fn)(void *ctx, u32 ppd, u64 t);

/**
 * struct pw_bmx_net - the network
 * @k: ports of a switch
 * @ports: k * k, or the stations of the topology
 * @ranks: input units, and output units
 * @depth: cells in a queue
 * @shift: bits of the header word below the VPI (see pw_bmx_vpi_shift())
 * @topo: topology; NULL: three stages
 * @cycle: cycle being run; the first one after reset is 1
 * @in_byte: link into the PPD of port p, written by the port
 * @in_byteind: valid bit of it
 * @in_suspend: suspend of that PPD towards the port
 * @out_byte: link from the SPD of port p to the port
 * @out_byteind: valid bit of it
 * @out_suspend: suspend of the port, written by it
 * @ppd: input units
 * @spd: output units
 * @xpm: queues: queue q of PPD r is xpm[r * k + q]
 * @peer: PPD that SPD r drives; PW_TOPO_PORT + p: port p; PW_TOPO_NONE
 * @in: PPD that port p drives
 * @out: SPD that drives port p
 * @fault: chooses the fault of a cell; NULL: no faults
 * @fault_ctx: its first argument
 * @dropped: cells dropped by faults, per stage
 * @corrupted: cells damaged by faults, per stage
 */
struct pw_bmx_net {
	u32 k;
	u32 ports;
	u32 ranks;
	u32 depth;
	u32 shift;
	const struct pw_topo *topo;
	u64 cycle;
	u8 *in_byte, *in_byteind, *in_suspend;
	u8 *out_byte, *out_byteind, *out_suspend;
	struct pw_bmx_ppd *ppd;
	struct pw_bmx_spd *spd;
	struct pw_bmx_xpm *xpm;
	u16 *peer, *in, *out;
	pw_bmx_fault_fn fault;
	void *fault_ctx;
	u64 dropped[PW_BMX_STAGES_MAX], corrupted[PW_BMX_STAGES_MAX];
};

static inline u32 pw_bmx_cfg_k(const struct pw_bmx_cfg *cfg)
{
	if (cfg->topo)
		return cfg->topo->k;
	return cfg->k ? cfg->k : PW_BMX_K;
}

static inline u32 pw_bmx_cfg_ports(const struct pw_bmx_cfg *cfg)
{
	return cfg->topo ? cfg->topo->ports : pw_bmx_cfg_k(cfg) * pw_bmx_cfg_k(cfg);
}

static inline u32 pw_bmx_cfg_depth(const struct pw_bmx_cfg *cfg)
{
	return cfg->depth ? cfg->depth : PW_BMX_DEPTH;
}

/* VPI at the sender: point-to-point to port @d by path @r, broadcast by path @r */
static inline u32 pw_bmx_vpi_one(u32 k, u32 d, u32 r)
{
	return k * d + r;
}

static inline u32 pw_bmx_vpi_all(u32 k, u32 r)
{
	return k * k * k + r;
}

/* bits below the VPI in the header word: with k = 16 a VPI needs 13 bits */
static inline u32 pw_bmx_vpi_shift(u32 k)
{
	return k < 16 ? 4 : 3;
}

/* PPD rank within the next stage that SPD rank @i within its stage drives */
static inline u32 pw_bmx_wire(u32 k, u32 i)
{
	return k * (i % k) + i / k;
}

/* queue 0 of SPD @r: the queues of one SPD lie k apart in its switch */
static inline struct pw_bmx_xpm *pw_bmx_spd_queue(struct pw_bmx_xpm *xpm, u32 k, u32 r)
{
	return &xpm[(size_t)(r - r % k) * k + r % k];
}

/* n PPDs and SPDs of k queues each */
struct pw_bmx_units {
	struct pw_bmx_ppd *ppd;
	struct pw_bmx_spd *spd;
	struct pw_bmx_xpm *xpm;
};

void pw_bmx_units_layout(struct pw_arena *a, const struct pw_bmx_cfg *cfg, u32 n, u32 entries,
			 u32 stride, struct pw_bmx_units *u);
u32 pw_bmx_entries_needed(u32 k);
int pw_bmx_cfg_check(const struct pw_bmx_cfg *cfg);
size_t pw_bmx_net_size(const struct pw_bmx_cfg *cfg);
struct pw_bmx_net *pw_bmx_net_init(void *mem, const struct pw_bmx_cfg *cfg);
void pw_bmx_net_step_spd(struct pw_bmx_net *net);
void pw_bmx_net_step_ppd(struct pw_bmx_net *net);
void pw_bmx_net_spds(struct pw_bmx_net *net, u32 from, u32 end);
void pw_bmx_net_faults(struct pw_bmx_net *net, u32 from, u32 end);
void pw_bmx_net_ppds_in(struct pw_bmx_net *net, u32 from, u32 end);
void pw_bmx_net_ppds(struct pw_bmx_net *net, u32 from, u32 end);
u32 pw_bmx_net_stage(const struct pw_bmx_net *net, u32 ppd);
bool pw_bmx_net_idle(const struct pw_bmx_net *net);

/* bmx_tools.c: not in the module */

/* ranks of the input and output units on a path, in the order in which a cell passes them */
struct pw_bmx_path {
	u16 ppd[PW_BMX_STAGES];
	u16 spd[PW_BMX_STAGES];
};

int pw_bmx_path(u32 k, u32 s, u32 d, u32 r, struct pw_bmx_path *path);
int pw_bmx_outputs(u32 k, u32 d, u32 r, u8 out[PW_BMX_STAGES]);
int pw_bmx_outputs_parse(u32 k, const u8 *out, u32 len, u32 *d, u32 *r);

/**
 * struct pw_bmx_switch - one k x k switch by itself
 * @k: ports
 * @cycle: cycle being run
 * @ppd: k input units
 * @spd: k output units
 * @xpm: queue q of PPD p is xpm[p * k + q]
 */
struct pw_bmx_switch {
	u32 k;
	u64 cycle;
	struct pw_bmx_ppd *ppd;
	struct pw_bmx_spd *spd;
	struct pw_bmx_xpm *xpm;
};

size_t pw_bmx_switch_size(const struct pw_bmx_cfg *cfg);
struct pw_bmx_switch *pw_bmx_switch_init(void *mem, const struct pw_bmx_cfg *cfg);
void pw_bmx_switch_step(struct pw_bmx_switch *sw, const u8 *byte, const u8 *byteind,
			const u8 *suspend);

#endif /* PW_CORE_BMX_NET_H */
