// SPDX-License-Identifier: GPL-2.0
/* BMX: wiring, paths, tables, latency, flow control, cell layout, engine API. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tap.h"
#include "fabric/cell.h"
#include "bmx_traffic.h"

static struct pw_bmx_net *new_net(u32 k, u32 depth)
{
	struct pw_bmx_cfg cfg = { .k = k, .depth = depth };
	void *mem = malloc(pw_bmx_net_size(&cfg));

	if (!mem)
		abort();
	return pw_bmx_net_init(mem, &cfg);
}

static void test_wiring(void)
{
	/* the table of the machine: SPD, PPD */
	static const u8 want[][2] = {
		{ 0, 16 }, { 1, 20 }, { 2, 24 }, { 3, 28 }, { 4, 17 }, { 5, 21 }, { 6, 25 },
		{ 7, 29 }, { 8, 18 }, { 9, 22 }, { 10, 26 }, { 11, 30 }, { 12, 19 }, { 13, 23 },
		{ 14, 27 }, { 15, 31 }, { 16, 32 }, { 17, 36 }, { 18, 40 }, { 19, 44 }, { 20, 33 },
		{ 21, 37 }, { 22, 41 }, { 23, 45 }, { 24, 34 }, { 25, 38 }, { 26, 42 }, { 27, 46 },
		{ 28, 35 }, { 29, 39 }, { 30, 43 }, { 31, 47 },
	};
	static const u16 path[4][6] = {
		{ 5, 4, 17, 19, 44, 46 }, { 5, 5, 21, 23, 45, 46 },
		{ 5, 6, 25, 27, 46, 46 }, { 5, 7, 29, 31, 47, 46 },
	};
	struct pw_bmx_net *net = new_net(0, 0);
	struct pw_bmx_path p;
	u32 i, bad = 0, s, d, r, k;
	u8 out[3];

	for (i = 0; i < ARRAY_SIZE(want); i++)
		bad += net->peer[want[i][0]] != want[i][1];
	is(bad, 0, "wiring of the 16-port network");
	free(net);
	for (r = 0, bad = 0; r < 4; r++) {
		pw_bmx_path(4, 5, 14, r, &p);
		for (i = 0; i < 3; i++)
			bad += p.ppd[i] != path[r][2 * i] || p.spd[i] != path[r][2 * i + 1];
	}
	is(bad, 0, "four paths from port 5 to port 14");
	for (k = 2, bad = 0; k <= 16; k++) {
		for (s = 0; s < k * k; s += k + 1)
			for (d = 0; d < k * k; d++)
				for (r = 0; r < k; r++) {
					pw_bmx_path(k, s, d, r, &p);
					bad += p.ppd[1] != k * k + pw_bmx_wire(k, p.spd[0]);
					bad += p.ppd[2] != 2 * k * k +
					       pw_bmx_wire(k, p.spd[1] - k * k);
					bad += p.spd[2] - 2 * k * k != d;
				}
	}
	is(bad, 0, "every path follows the wires, k = 2..16");
	ok(pw_bmx_path(4, 16, 0, 0, &p) == -ERANGE && pw_bmx_path(4, 0, 16, 0, &p) == -ERANGE &&
	   pw_bmx_path(4, 0, 0, 4, &p) == -ERANGE, "no path to what does not exist");
	for (k = 2, bad = 0; k <= 16; k++)
		for (d = 0; d < k * k; d++)
			for (r = 0; r < k; r++) {
				u32 d2 = ~0, r2 = ~0;

				bad += pw_bmx_outputs(k, d, r, out) != 0;
				bad += pw_bmx_outputs_parse(k, out, 3, &d2, &r2) != 0;
				bad += d2 != d || r2 != r;
			}
	is(bad, 0, "list of outputs and back, k = 2..16");
	out[0] = 0; out[1] = 4; out[2] = 0;
	is(pw_bmx_outputs_parse(4, out, 3, &d, &r), -ERANGE, "an output no switch has");
	is(pw_bmx_outputs_parse(4, out, 2, &d, &r), -EINVAL, "a list that is too short");
}

/* reserve entries one by one in the published order and look for them */
static u32 check_tables(u32 k)
{
	u32 n = k * k, s, d, r, j, bad = 0, mid, last, vf, vm, vl, i;
	u32 *next = calloc(3 * n, sizeof(*next));
	struct pw_bmx_net *net = new_net(k, 1);
	struct pw_bmx_entry e;

	for (s = 0; s < n; s++) {
		for (d = 0; d < n; d++) {
			for (r = 0; r < k; r++) {
				mid = n + k * r + s / k;
				last = 2 * n + k * (d / k) + r;
				vl = next[last]++;
				vm = next[mid]++;
				vf = next[s]++;
				bad += vf != pw_bmx_vpi_one(k, d, r);
				pw_bmx_tab_get(&net->ppd[s].tab, vf, k, &e);
				bad += e.sel != BIT(r) || e.vpi[r] != vm;
				pw_bmx_tab_get(&net->ppd[mid].tab, vm, k, &e);
				bad += e.sel != BIT(d / k) || e.vpi[d / k] != vl;
				pw_bmx_tab_get(&net->ppd[last].tab, vl, k, &e);
				bad += e.sel != BIT(d % k) || e.vpi[d % k] != 0;
			}
		}
		for (r = 0; r < k; r++) {
			mid = n + k * r + s / k;
			vl = 0;
			for (j = 0; j < k; j++) {
				u32 v = next[2 * n + k * j + r]++;

				bad += j && v != vl;
				vl = v;
			}
			vm = next[mid]++;
			vf = next[s]++;
			bad += vf != pw_bmx_vpi_all(k, r);
			pw_bmx_tab_get(&net->ppd[s].tab, vf, k, &e);
			bad += e.sel != BIT(r) || e.vpi[r] != vm;
			pw_bmx_tab_get(&net->ppd[mid].tab, vm, k, &e);
			bad += e.sel != BIT(k) - 1;
			for (i = 0; i < k; i++)
				bad += e.vpi[i] != vl;
			for (j = 0; j < k; j++) {
				pw_bmx_tab_get(&net->ppd[2 * n + k * j + r].tab, vl, k, &e);
				bad += e.sel != BIT(k) - 1 || e.vpi[0] || e.vpi[k - 1];
			}
		}
	}
	for (i = 0; i < 3 * n; i++) {
		bad += next[i] > pw_bmx_entries_needed(k);
		bad += next[i] > BIT(16 - pw_bmx_vpi_shift(k));
	}
	if (k == 4)
		bad += next[0] != 68 || next[16] != 68 || next[32] != 80;
	free(next);
	free(net);
	return bad;
}

/* one cell alone through the network; returns ports that got it right in time */
static u32 send_one(struct pw_bmx_net *net, u32 s, u32 vpi, u32 low, u32 *others)
{
	u8 cell[PW_BMX_CELL], got[TR_PORTS][PW_BMX_CELL];
	u64 t0 = net->cycle + 1;
	u32 good = 0, i, p, cnt[TR_PORTS] = {};
	u64 first[TR_PORTS] = {};

	tr_fill(cell, vpi, net->shift, 0xc0ffee00 + vpi);
	cell[1] |= low;
	for (i = 0; i < 80; i++) {
		pw_bmx_net_step_spd(net);
		net->in_byte[s] = i < PW_BMX_CELL ? cell[i] : 0;
		net->in_byteind[s] = i < PW_BMX_CELL;
		for (p = 0; p < net->ports; p++) {
			if (!net->out_byteind[p] || cnt[p] == PW_BMX_CELL)
				continue;
			if (!cnt[p])
				first[p] = net->cycle;
			got[p][cnt[p]++] = net->out_byte[p];
		}
		pw_bmx_net_step_ppd(net);
	}
	cell[0] = 0;
	cell[1] = low;
	*others = 0;
	for (p = 0; p < net->ports; p++) {
		if (!cnt[p])
			continue;
		if (cnt[p] == PW_BMX_CELL && first[p] == t0 + PW_BMX_LATENCY &&
		    !memcmp(got[p], cell, PW_BMX_CELL))
			good++;
		else
			++*others;
	}
	return good;
}

static void test_routes(void)
{
	static const u32 ks[] = { 2, 3, 4, 5, 16 };
	u32 i, s, d, r, k, bad, others, tried;

	for (k = 2; k <= 16; k++)
		is(check_tables(k), 0, "k = %u: tables hold what reserving one by one gives", k);
	for (i = 0; i < ARRAY_SIZE(ks); i++) {
		struct pw_bmx_net *net = new_net(ks[i], 2);
		u32 step = ks[i] > 4 ? ks[i] * ks[i] / 3 + 1 : 1;

		k = ks[i];
		bad = 0;
		tried = 0;
		for (s = 0; s < k * k; s += step) {
			for (r = 0; r < k; r += k > 5 ? 7 : 1) {
				for (d = 0; d < k * k; d += k > 5 ? 37 : 1, tried++) {
					bad += send_one(net, s, pw_bmx_vpi_one(k, d, r), 0,
							&others) != 1;
					bad += others;
				}
				bad += send_one(net, s, pw_bmx_vpi_all(k, r), k < 16 ? 0xa : 5,
						&others) != k * k;
				bad += others;
				tried++;
			}
		}
		is(bad, 0, "k = %u: %u paths deliver in 18 cycles, VPI 0, low bits kept", k,
		   tried);
		free(net);
	}
}

static void test_threshold(void)
{
	struct tr_cfg c = { .k = 4, .depth = 8, .load = 1000, .bcast = 100, .hot = 200, .seed = 5 };
	u32 full, i, top;

	for (full = 419; full <= 420; full++) {
		struct tr_rtl *s = tr_rtl_new(&c, false);

		for (i = 0; i < 48; i++)
			s->net->ppd[i].full = full;
		for (top = 0; s->net->cycle < max_t(u64, 60000, tap_scaled(60000));) {
			tr_rtl_run(s, s->net->cycle + 1);
			for (i = 0; i < 192; i++)
				top = max_t(u32, top, s->net->xpm[i].size);
		}
		if (full == 419)
			is(top, 424, "a loaded network fills queues to 424 bytes and not beyond");
		else
			ok(top > 424, "with 420 as threshold they overflow (%u)", top);
		tr_rtl_free(s);
	}
}

/* SPD into PPD: full by the first cell, broadcast refused again and again */
static void test_tandem(void)
{
	struct pw_bmx_cfg cfg = {};
	struct pw_bmx_switch *up = pw_bmx_switch_init(malloc(pw_bmx_switch_size(&cfg)), &cfg);
	struct pw_bmx_switch *dn = pw_bmx_switch_init(malloc(pw_bmx_switch_size(&cfg)), &cfg);
	struct pw_bmx_ppd *p = &dn->ppd[0];
	struct pw_bmx_spd *s = &up->spd[0];
	struct pw_bmx_entry e;
	u8 cell[3][PW_BMX_CELL];
	u32 c, i, first = 0, gap_bad = 0, last = 0;

	pw_bmx_entry_unpack(0x00003630000004, &e);
	pw_bmx_tab_set(&p->tab, 1, &e);
	pw_bmx_entry_unpack(0x0708506304102f, &e);
	is(pw_bmx_entry_pack(&e), 0x0708506304102f, "table entry from and to its 56-bit form");
	pw_bmx_tab_set(&p->tab, 2, &e);
	pw_bmx_entry_unpack(0x00000000100002, &e);
	pw_bmx_tab_set(&p->tab, 3, &e);
	for (i = 0; i < 3; i++)
		tr_fill(cell[i], i + 1, 4, i);
	dn->xpm[2].size = 371;
	dn->xpm[2].tail = 371;
	for (c = 1; c <= 400; c++) {
		/* unicast to queue 2, a broadcast, a unicast to queue 1 */
		if (c >= 2 && c < 55)
			pw_bmx_xpm_push(&up->xpm[2 * 4], cell[0][c - 2]);
		if (c >= 30 && c < 83)
			pw_bmx_xpm_push(&up->xpm[3 * 4], cell[1][c - 30]);
		if (c >= 140 && c < 193)
			pw_bmx_xpm_push(&up->xpm[1 * 4], cell[2][c - 140]);
		pw_bmx_spd_step(s, p->suspend, up->xpm, 4);
		pw_bmx_ppd_step(p, s->byte, s->byteind, dn->xpm);
		if (p->suspend) {
			if (!first)
				first = c;
			else if (c - last != 6 && c - last != 59)
				gap_bad++;
			last = c;
		}
	}
	is(dn->xpm[2].size, 424, "tandem: the first cell fills queue 2");
	is(dn->xpm[1].size, 53, "tandem: the unicast passes the blocked broadcast");
	ok(!dn->xpm[0].size && !dn->xpm[3].size, "tandem: nothing of the broadcast is stored");
	is(up->xpm[3 * 4].size + (s->siqnum == 3 ? s->iqcnt[3] : 0), 53,
	   "tandem: the broadcast is still whole upstream");
	ok(first && !gap_bad, "tandem: refused every 6 cycles, 59 around the unicast");
	ok(p->refused > 40 && p->cells == 2, "tandem: %llu refusals, 2 cells accepted",
	   (unsigned long long)p->refused);
	free(up);
	free(dn);
}

static void test_cell(void)
{
	struct pw_cell_hdr h = { .vpi = 64, .flag = 3, .sqn = 1, .src = 1, .dst = 0xffff }, g;
	u8 cell[PW_BMX_CELL], data[36] = {};
	u32 i, bit, missed = 0;

	is(crc_itu_t(0, (const u8 *)"123456789", 9), 0x31c3, "CRC check value");
	put_unaligned_be32('r', data);
	put_unaligned_be32('c', data + 4);
	put_unaligned_be32('v', data + 8);
	put_unaligned_be32(-1, data + 12);
	put_unaligned_be32(1, data + 16);
	put_unaligned_be32(285, data + 20);
	pw_cell_build(cell, &h, 4, data, 24);
	is(get_unaligned_be16(cell + 51), 0x4a78, "CRC of the printed broadcast cell");
	is(cell[0], 0x04, "its first byte");
	pw_cell_parse(cell, 4, &g);
	ok(!memcmp(&g, &h, sizeof(g)), "header fields there and back");
	for (i = 40; i < 424; i++) {
		cell[i / 8] ^= 0x80 >> i % 8;
		missed += pw_cell_crc_ok(cell);
		cell[i / 8] ^= 0x80 >> i % 8;
	}
	is(missed, 0, "every flipped bit of bytes 5..52 is seen");
	for (bit = 1, missed = 0; bit < 8; bit++) {
		/* the damage the fault hooks can do, one bit in each of three bytes */
		for (i = 0; i < 3; i++)
			if (bit & BIT(i))
				cell[50 - i] ^= 1;
		missed += pw_cell_crc_ok(cell);
		for (i = 0; i < 3; i++)
			if (bit & BIT(i))
				cell[50 - i] ^= 1;
	}
	is(missed, 0, "damage in any set of stages is seen");

	h = (struct pw_cell_hdr){ .vpi = 20, .flag = 3, .sqn = 1, .src = 1, .dst = 5 };
	put_unaligned_be32(1, data + 12);
	put_unaligned_be32(544, data + 20);
	put_unaligned_be32(0x44a22e98, data + 24);	/* 1297.456 */
	pw_cell_build(cell, &h, 4, data, 28);
	is(get_unaligned_be16(cell + 51), 0xdfbd, "CRC of the printed point-to-point cell");
	is(cell[0], 0x01, "its first byte");
	h = (struct pw_cell_hdr){ .vpi = 4, .type = 1, .flag = 0, .sqn = 1, .src = 1, .dst = 1 };
	pw_cell_build(cell, &h, 4, NULL, 0);
	is(get_unaligned_be16(cell + 51), 0xbe22, "CRC of a printed ack");
	ok(pw_cell_count(0) == 1 && pw_cell_count(16) == 1 && pw_cell_count(17) == 2 &&
	   pw_cell_count(45000) == 1251, "cells per message");
}

struct probe {
	u32 rx, accepted, refused, dropped, copies;
	u64 rx_t, acc_t, ref_t, tries;
	enum pw_bmx_rx answer;
	enum pw_bmx_fault fault;
	u32 flags, hops;
};

static enum pw_bmx_rx probe_rx(void *ctx, u32 port, u32 cookie, u64 t, u32 flags)
{
	struct probe *p = ctx;

	if (p->answer == PW_BMX_RX_ACCEPT) {
		p->rx++;
		p->rx_t = t;
		p->flags = flags;
	}
	return p->answer;
}

static void probe_accepted(void *ctx, u32 port, u32 cookie, u64 t)
{
	struct probe *p = ctx;

	p->accepted++;
	p->acc_t = t;
}

static void probe_refused(void *ctx, u32 port, u32 cookie, u64 t)
{
	struct probe *p = ctx;

	p->refused++;
	p->ref_t = t;
}

static void probe_dropped(void *ctx, u32 ppd, u32 cookie, u32 copies)
{
	struct probe *p = ctx;

	p->dropped++;
	p->copies += copies;
}

static void probe_hop(void *ctx, u32 ppd, u32 cookie, u64 t)
{
	((struct probe *)ctx)->hops++;
}

static void probe_suspended(void *ctx, u32 ppd, u64 tries, u64 t)
{
	((struct probe *)ctx)->tries += tries;
}

static enum pw_bmx_fault probe_fault(void *ctx, u32 ppd, u64 t)
{
	return ((struct probe *)ctx)->fault;
}

static const struct pw_bmx_fast_ops probe_ops = {
	probe_rx, probe_accepted, probe_refused, probe_dropped, probe_hop, probe_suspended,
	probe_fault,
};

static void test_fast_api(void)
{
	struct pw_bmx_cfg cfg = {}, odd;
	struct probe pr = {};
	struct pw_bmx_fast *f;
	u64 cells, refused, ev, t, total;
	u32 i, one = pw_bmx_vpi_one(4, 9, 2);

	f = pw_bmx_fast_init(malloc(pw_bmx_fast_size(&cfg)), &cfg, &probe_ops, &pr);
	ok(pw_bmx_fast_next(f) == PW_BMX_NEVER, "an empty network has no events");
	pw_bmx_fast_run_until(f, 1000000000000000ULL);
	ok(f->now == 1000000000000000ULL && !f->events, "10^15 idle cycles cost nothing");
	t = f->now + 10;
	is(pw_bmx_fast_offer(f, 16, t, one, 1, 0), -EINVAL, "offer: no such port");
	is(pw_bmx_fast_offer(f, 0, t, 68, 1, 0), -EINVAL, "offer: no such VPI");
	is(pw_bmx_fast_offer(f, 0, t - 20, one, 1, 0), -ERANGE, "offer: in the past");
	is(pw_bmx_fast_offer(f, 0, t + 60, one, 1, 0), -ERANGE, "offer: too far ahead");
	is(pw_bmx_fast_offer(f, 0, t, one, 1, 0), 0, "offer: taken");
	is(pw_bmx_fast_offer(f, 0, t + 53, one, 2, 0), -EBUSY, "offer: one at a time");
	is(pw_bmx_fast_next(f), t + 3, "it decides with its fourth byte");
	pw_bmx_fast_run_until(f, t + 3);
	ok(pr.accepted == 1 && pr.acc_t == t, "accepted when it was sent");
	is(pw_bmx_fast_offer(f, 0, t + 52, one, 2, 0), -EBUSY, "offer: the link is still in use");
	pw_bmx_fast_run_until(f, t + 100);
	ok(pr.rx == 1 && pr.rx_t == t + PW_BMX_LATENCY, "delivered 18 cycles later");
	is(pr.hops, 3, "three hops reported");
	is(f->events, 4, "one event per hop");

	/* a port that blocks for a very long time */
	pr = (struct probe){ .answer = PW_BMX_RX_BLOCK };
	t = f->now + 1;
	pw_bmx_fast_offer(f, 3, t, one, 7, 0);
	ev = f->events;
	pw_bmx_fast_run_until(f, t + 600000000000ULL);
	is(f->events - ev, 4, "a cell blocked for 6*10^11 cycles costs no events");
	pw_bmx_fast_count(f, 48 + 9, &cells, &refused);
	/* first attempt three cycles after byte 0 got there, then every six */
	is(refused, 1 + (600000000000ULL - 21) / 6, "its attempts are all counted");
	is(pr.tries, refused, "and reported");
	pr.answer = PW_BMX_RX_ACCEPT;
	is(pw_bmx_fast_wake(f, 9, f->now), -ERANGE, "wake: in the past");
	is(pw_bmx_fast_wake(f, 16, f->now + 1), -EINVAL, "wake: no such port");
	is(pw_bmx_fast_wake(f, 9, f->now + 1), 0, "wake: taken");
	pw_bmx_fast_run_until(f, f->now + 6);
	ok(pr.rx == 1 && (pr.rx_t - t - PW_BMX_LATENCY) % 6 == 0, "delivered at the next attempt");

	/* fill a path until the first stage refuses, with single offers */
	pr = (struct probe){ .answer = PW_BMX_RX_BLOCK };
	for (i = 0; i < 60 && !pr.refused; i++) {
		pw_bmx_fast_offer(f, 3, f->now + 60, one, i, PW_BMX_OFFER_ONCE);
		pw_bmx_fast_run_until(f, f->now + 63);
	}
	is(pr.accepted, 24, "three queues of eight cells hold 24");
	is(pr.refused, 1, "the next one is refused");
	is(pw_bmx_fast_offer(f, 3, pr.ref_t + 4, one, 99, 0), -EBUSY, "offer: too early");
	is(pw_bmx_fast_offer(f, 3, pr.ref_t + 5, one, 99, 0), 0, "offer: five cycles after it");
	pw_bmx_fast_run_until(f, f->now + 1000);
	pr.answer = PW_BMX_RX_ACCEPT;
	pw_bmx_fast_wake(f, 9, f->now + 1);
	while (pw_bmx_fast_next(f) != PW_BMX_NEVER)
		pw_bmx_fast_run(f, f->now + 1000, 3);
	is(pr.rx, 25, "all come out, the last offer too, in small doses of work");
	pw_bmx_fast_run_until(f, f->now + 60);
	for (i = 0, total = 0; i < 192; i++)
		total += pw_bmx_fast_qsize(f, i / 4, i % 4);
	is(total, 0, "and leave empty queues");

	/* faults */
	pr = (struct probe){ .fault = PW_BMX_FAULT_CORRUPT };
	pw_bmx_fast_offer(f, 1, f->now + 1, pw_bmx_vpi_all(4, 1), 5, 0);
	pw_bmx_fast_run_until(f, f->now + 100);
	ok(pr.rx == 16 && pr.flags == PW_BMX_CELL_CORRUPT, "a damaged broadcast arrives, marked");
	pr = (struct probe){ .fault = PW_BMX_FAULT_DROP };
	pw_bmx_fast_offer(f, 1, f->now + 1, pw_bmx_vpi_all(4, 1), 6, 0);
	pw_bmx_fast_run_until(f, f->now + 100);
	ok(!pr.rx && pr.dropped == 1 && pr.copies == 16, "a dropped one: 16 lost copies");
	free(f);

	odd = (struct pw_bmx_cfg){ .k = 17 };
	is(pw_bmx_cfg_check(&odd), -EINVAL, "k = 17 is refused");
	odd = (struct pw_bmx_cfg){ .k = 1 };
	is(pw_bmx_cfg_check(&odd), -EINVAL, "k = 1 is refused");
	odd = (struct pw_bmx_cfg){ .depth = PW_BMX_DEPTH_MAX + 1 };
	is(pw_bmx_cfg_check(&odd), -EINVAL, "too deep a queue is refused");
	odd = (struct pw_bmx_cfg){ .entries = 4097 };
	is(pw_bmx_cfg_check(&odd), -EINVAL, "more entries than VPIs are refused");
}

int main(void)
{
	test_wiring();
	test_routes();
	test_threshold();
	test_tandem();
	test_cell();
	test_fast_api();
	return tap_done();
}
