// SPDX-License-Identifier: GPL-2.0
/*
 * BMX switch and network: functions for tools and tests, not in the module. A switch by
 * itself, paths as lists of ranks and outputs, the published form of a table entry.
 */
#include "arena.h"
#include "cell.h"
#include "bmx_fast.h"
#include "bmx_net.h"

/* published form of a table entry: a select bit and a 12-bit VPI for each output */
#define RAW_VPI(i)	(PW_BMX_K + 12 * (i))
#define RAW_MASK	0xfff

/**
 * pw_bmx_path() - input and output units on a path, in the order in which a cell passes them
 * @k: ports of a switch
 * @s: source port
 * @d: destination port
 * @r: path 0..k-1, the middle switch
 * @path: result
 *
 * Return: 0, or -ERANGE for a port or path that does not exist.
 */
int pw_bmx_path(u32 k, u32 s, u32 d, u32 r, struct pw_bmx_path *path)
{
	u32 n = k * k;

	if (s >= n || d >= n || r >= k)
		return -ERANGE;
	path->ppd[0] = s;
	path->spd[0] = k * (s / k) + r;
	path->ppd[1] = n + k * r + s / k;
	path->spd[1] = n + k * r + d / k;
	path->ppd[2] = 2 * n + k * (d / k) + r;
	path->spd[2] = 2 * n + d;
	return 0;
}

/**
 * pw_bmx_outputs() - source route as the list of switch outputs
 * @k: ports of a switch
 * @d: destination port
 * @r: path
 * @out: output of the first, middle and last switch
 *
 * Return: 0, or -ERANGE for a port or path that does not exist.
 */
int pw_bmx_outputs(u32 k, u32 d, u32 r, u8 out[PW_BMX_STAGES])
{
	if (d >= k * k || r >= k)
		return -ERANGE;
	out[0] = r;
	out[1] = d / k;
	out[2] = d % k;
	return 0;
}

/**
 * pw_bmx_outputs_parse() - destination and path from a list of switch outputs
 * @k: ports of a switch
 * @out: list
 * @len: its length
 * @d: result: destination port
 * @r: result: path
 *
 * Return: 0, -EINVAL if the list has not one output per stage, -ERANGE if it
 * names an output that a switch does not have.
 */
int pw_bmx_outputs_parse(u32 k, const u8 *out, u32 len, u32 *d, u32 *r)
{
	if (len != PW_BMX_STAGES)
		return -EINVAL;
	if (out[0] >= k || out[1] >= k || out[2] >= k)
		return -ERANGE;
	*r = out[0];
	*d = k * out[1] + out[2];
	return 0;
}

static struct pw_bmx_switch *switch_layout(struct pw_arena *a, const struct pw_bmx_cfg *cfg)
{
	struct pw_bmx_switch *sw = pw_arena_take(a, sizeof(*sw));
	u32 k = pw_bmx_cfg_k(cfg);
	struct pw_bmx_units u;

	pw_bmx_units_layout(a, cfg, k, cfg->entries ? cfg->entries : PW_BMX_ENTRIES, 1 + k, &u);
	if (sw) {
		sw->k = k;
		sw->cycle = 0;
		sw->ppd = u.ppd;
		sw->spd = u.spd;
		sw->xpm = u.xpm;
	}
	return sw;
}

/**
 * pw_bmx_switch_size() - memory that a lone switch needs
 * @cfg: sizes, checked
 *
 * Return: bytes to hand to pw_bmx_switch_init().
 */
size_t pw_bmx_switch_size(const struct pw_bmx_cfg *cfg)
{
	struct pw_arena a = {};

	switch_layout(&a, cfg);
	return a.used;
}

/**
 * pw_bmx_switch_init() - reset switch with empty tables
 * @mem: pw_bmx_switch_size() bytes, aligned to 8
 * @cfg: sizes, checked
 *
 * Return: the switch (at @mem).
 */
struct pw_bmx_switch *pw_bmx_switch_init(void *mem, const struct pw_bmx_cfg *cfg)
{
	struct pw_arena a = { .base = mem };

	return switch_layout(&a, cfg);
}

/**
 * pw_bmx_switch_step() - one cycle of a lone switch
 * @sw: switch
 * @byte: k input links
 * @byteind: their valid bits
 * @suspend: k suspends into the output units
 */
void pw_bmx_switch_step(struct pw_bmx_switch *sw, const u8 *byte, const u8 *byteind,
			const u8 *suspend)
{
	u32 i;

	sw->cycle++;
	for (i = 0; i < sw->k; i++)
		pw_bmx_spd_step(&sw->spd[i], suspend[i], pw_bmx_spd_queue(sw->xpm, sw->k, i),
				sw->k);
	for (i = 0; i < sw->k; i++)
		pw_bmx_ppd_step(&sw->ppd[i], byte[i], byteind[i], &sw->xpm[i * sw->k]);
}

/**
 * pw_bmx_entry_unpack() - entry from its 56-bit form
 * @raw: four 12-bit VPIs (output 3 first) above four select bits
 * @e: result
 */
void pw_bmx_entry_unpack(u64 raw, struct pw_bmx_entry *e)
{
	u32 i;

	memset(e, 0, sizeof(*e));
	e->sel = raw & (BIT(PW_BMX_K) - 1);
	for (i = 0; i < PW_BMX_K; i++)
		e->vpi[i] = raw >> RAW_VPI(i) & RAW_MASK;
}

/**
 * pw_bmx_entry_pack() - 56-bit form of an entry of a 4x4 switch
 * @e: entry; outputs beyond 3 and VPI bits beyond 12 are left out
 *
 * Return: the 56-bit number.
 */
u64 pw_bmx_entry_pack(const struct pw_bmx_entry *e)
{
	u64 raw = e->sel & (BIT(PW_BMX_K) - 1);
	u32 i;

	for (i = 0; i < PW_BMX_K; i++)
		raw |= (u64)(e->vpi[i] & RAW_MASK) << RAW_VPI(i);
	return raw;
}

/**
 * pw_bmx_fast_run() - run up to a cycle, with a bounded amount of work
 * @f: network
 * @cycle: last cycle to run
 * @budget: stop after the cycle in which this many attempts are reached
 *
 * Return: attempts carried out. @f->now is the cycle reached.
 */
u32 pw_bmx_fast_run(struct pw_bmx_fast *f, u64 cycle, u32 budget)
{
	u64 at = pw_bmx_fast_next(f);
	u32 n = 0;

	while (at <= cycle && n < budget) {
		n += pw_bmx_fast_cycle(f, at);
		at = pw_bmx_fast_next(f);
	}
	if (at > cycle && f->now < cycle)
		f->now = cycle;
	return n;
}

/**
 * pw_cell_crc_ok() - check the CRC of a cell
 * @cell: 53 bytes
 *
 * Return: true if bytes 51 and 52 hold the CRC of bytes 5..50.
 */
bool pw_cell_crc_ok(const u8 *cell)
{
	return get_unaligned_be16(cell + PW_CELL_CRC) == pw_cell_crc(cell);
}
