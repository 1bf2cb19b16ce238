// SPDX-License-Identifier: GPL-2.0
/*
 * Cells as who listens to the fabric sees them: the same bytes at the same units in
 * the same cycles from both engines, and the fabric's own times do not change.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "tap.h"

typedef unsigned long long ull;

struct seen {
	struct pw_fabric *f;
	u32 ports;
	u32 drop, corrupt;	/* per 1000 cells at the input units of each stage */
	bool all;		/* messages to all ports */
	u64 seed;
	ull sum;		/* over all records, whatever their order */
	ull times;		/* over deliveries */
	unsigned int cells[4], acks, lost, bad, first, wrong;
	unsigned int delivered;
};

static u8 pattern(u64 cookie, u32 off)
{
	return (u32)(cookie * 2654435761u + off * 40503u) >> 11;
}

static ull mix(ull h, ull v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static void deliver(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
		    const struct pw_fabric_times *t)
{
	struct seen *s = ctx;

	s->delivered++;
	s->times += mix(mix(cycle, dst << 8 | src), cookie);
}

static void fetch(void *ctx, u16 src, u64 cookie, u32 off, u8 *buf, u32 n)
{
	for (u32 i = 0; i < n; i++)
		buf[i] = pattern(cookie, off + i);
}

static enum pw_bmx_fault fault(void *ctx, u32 ppd, u64 t)
{
	struct seen *s = ctx;
	u32 v = (mix(mix(s->seed, t), ppd) >> 20) % 1000;

	if (v < s->drop)
		return PW_BMX_FAULT_DROP;
	return v < s->drop + s->corrupt ? PW_BMX_FAULT_CORRUPT : PW_BMX_FAULT_NONE;
}

static void cell(void *ctx, u32 unit, u64 cycle, bool lost, const u8 *bytes)
{
	struct seen *s = ctx;
	u32 ports = s->ports;
	ull h = mix(mix(unit, cycle), lost);
	struct pw_cell_hdr hdr;

	for (unsigned int i = 0; i < PW_BMX_CELL; i++)
		h = mix(h, bytes[i]);
	s->sum += h;
	pw_cell_parse(bytes, 4, &hdr);
	s->cells[unit / ports]++;
	s->acks += hdr.type == PW_CELL_T_ACK;
	s->lost += lost;
	s->bad += !pw_cell_crc_ok(bytes);
	s->first += hdr.type == PW_CELL_T_DATA && hdr.flag & PW_CELL_F_FIRST;
	if (hdr.src >= ports || (hdr.dst >= ports && hdr.dst != PW_CELL_DST_ALL))
		s->wrong++;
}

static const struct pw_fabric_ops ops = {
	.deliver = deliver, .fetch = fetch, .fault = fault, .cell = cell,
};

static void run(struct seen *s, u32 k, u32 flags, unsigned int messages, bool tap)
{
	struct pw_fabric_params p = { .k = k, .flags = PW_FABRIC_F_DEVICE | flags };
	ull r = s->seed;
	unsigned int i;
	void *mem;

	s->ports = k * k;
	/* without faults nothing is repeated: cells of messages that ended have no data */
	if (s->drop || s->corrupt)
		p.resend = 4000;
	mem = pw_fabric_check(&p) ? NULL : malloc(pw_fabric_size(&p));
	if (!mem)
		abort();
	memset(mem, 0xa5, pw_fabric_size(&p));
	s->f = pw_fabric_init(mem, &p, &ops, s);
	pw_fabric_tap(s->f, tap);
	for (i = 0; i < messages; i++) {
		u32 ports = k * k, src, dst, len;

		r = mix(r, i);
		src = r % ports;
		dst = (r >> 20) % ports;
		len = (r >> 40) % 300;
		if (dst == src)
			dst = (dst + 1) % ports;
		if (s->all)
			dst = PW_FABRIC_ALL;
		pw_fabric_send(s->f, src, dst, PW_FABRIC_AUTO, len, i, NULL);
		pw_fabric_run(s->f, pw_fabric_now(s->f) + (r >> 50) % 200, 1 << 30);
	}
	pw_fabric_run(s->f, pw_fabric_now(s->f) + 200000, 1 << 30);
	free(mem);
}

static void compare(const char *what, u32 k, u32 drop, u32 corrupt, bool all, unsigned int messages)
{
	static ull state = 20251;
	struct seen fast, rtl, deaf;
	unsigned int i, same = 1;

	memset(&fast, 0, sizeof(fast));
	fast.drop = drop;
	fast.corrupt = corrupt;
	fast.all = all;
	fast.seed = tap_rand(&state);
	rtl = fast;
	deaf = fast;
	run(&fast, k, PW_FABRIC_F_FAST, messages, true);
	run(&rtl, k, 0, messages, true);
	run(&deaf, k, PW_FABRIC_F_FAST, messages, false);
	for (i = 0; i < 4; i++)
		same &= fast.cells[i] == rtl.cells[i];
	diag("%s: %u messages, cells at stages %u %u %u and ports %u, acks %u, lost %u, damaged %u",
	     what, messages, fast.cells[0], fast.cells[1], fast.cells[2], fast.cells[3],
	     fast.acks, fast.lost, fast.bad);
	ok(same && fast.sum == rtl.sum, "%s: both engines show the same cells at every hop", what);
	ok(fast.bad == rtl.bad && fast.lost == rtl.lost, "%s: and the same damage", what);
	ok(fast.cells[0] && fast.cells[3] && fast.first && fast.acks && !fast.wrong,
	   "%s: data and acknowledgments, with ports that exist", what);
	ok(!drop == !fast.lost && !corrupt == !fast.bad, "%s: faults show, and only faults", what);
	ok(deaf.times == fast.times && deaf.times == rtl.times && !deaf.cells[0],
	   "%s: listening changes no time", what);
}

int main(void)
{
	compare("k=2", 2, 0, 0, false, tap_scaled(60));
	compare("k=4", 4, 0, 0, false, tap_scaled(60));
	compare("k=4, to all", 4, 0, 0, true, tap_scaled(12));
	compare("k=4, drops", 4, 20, 0, false, max(tap_scaled(60), 36UL));
	compare("k=4, damage", 4, 0, 20, false, max(tap_scaled(60), 36UL));
	compare("k=2, both", 2, 10, 10, false, max(tap_scaled(60), 36UL));
	return tap_done();
}
