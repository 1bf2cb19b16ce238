// SPDX-License-Identifier: GPL-2.0
/*
 * BMX: arbitrary link bytes, suspends and table writes into one switch (memory
 * safety; streams that no unit would send included), and arbitrary traffic
 * through both engines, which must agree.
 */
#include <stdint.h>
#include <stdlib.h>
#include "fabric/cell.h"
#include "bmx_traffic.h"

static void fuzz_switch(const uint8_t *p, size_t n)
{
	struct pw_bmx_cfg cfg = { .k = 2 + p[0] % 15, .depth = 1 + p[1] % 8, .entries = 64 };
	u8 byte[PW_BMX_KMAX], ind[PW_BMX_KMAX], susp[PW_BMX_KMAX];
	struct pw_bmx_switch *sw;
	void *mem = malloc(pw_bmx_switch_size(&cfg));
	size_t i, port;

	if (!mem)
		abort();
	sw = pw_bmx_switch_init(mem, &cfg);
	for (i = 2; i + 2 < n; i += 3) {
		port = p[i] % cfg.k;
		memset(ind, p[i] >> 7, sizeof(ind));
		memset(byte, p[i + 1], sizeof(byte));
		memset(susp, 0, sizeof(susp));
		byte[port] = p[i + 2];
		susp[port] = p[i] >> 6 & 1;
		if (p[i] & 0x20) {
			struct pw_bmx_tab *t = &sw->ppd[port].tab;

			t->wadr = p[i + 1];
			t->datain.sel = (p[i + 2] | p[i + 1] << 8) & (BIT(cfg.k) - 1);
			t->datain.vpi[p[i + 2] % cfg.k] = p[i + 1];
			t->wcmd = true;
		}
		pw_bmx_switch_step(sw, byte, ind, susp);
	}
	free(mem);
}

static void fuzz_engines(const uint8_t *p, size_t n)
{
	struct tr_cfg c = {
		.k = 2 + p[0] % 4, .depth = 1 + p[1] % 8, .load = 20 + p[2] * 980 / 255,
		.bcast = p[3] * 2, .hot = p[4] * 3, .rx_refuse = p[5] * 3, .rx_window = p[6] * 3,
		.rx_block = p[7] & 1, .drop = p[8] * 40, .corrupt = p[9] * 40,
		.seed = get_unaligned_be32(p + 10),
	};
	struct tr_rtl *a = tr_rtl_new(&c, true);
	struct tr_fast *b = tr_fast_new(&c, true);
	u64 now = 0, cells, refused;
	size_t i, m;
	u32 r, q;

	for (m = 14; m < n && now < 4000; m++) {
		now += 1 + p[m];
		tr_rtl_run(a, now);
		tr_fast_run(b, now);
		for (r = 0; r < 3 * a->net->ports; r++) {
			for (q = 0; q < c.k; q++)
				if (a->net->xpm[r * c.k + q].size != pw_bmx_fast_qsize(b->f, r, q))
					abort();
			pw_bmx_fast_count(b->f, r, &cells, &refused);
			if (cells != a->net->ppd[r].cells || refused != a->net->ppd[r].refused)
				abort();
		}
	}
	for (r = 0; r < a->net->ports; r++) {
		if (a->log[r].n > b->log[r].n)
			abort();
		for (i = 0; i < a->log[r].n; i++)
			if (memcmp(&a->log[r].rec[i], &b->log[r].rec[i], sizeof(struct tr_rec)))
				abort();
	}
	if (b->errors || a->mangled)
		abort();
	tr_rtl_free(a);
	tr_fast_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct pw_cell_hdr h;
	u32 d, r;

	if (n < 16)
		return 0;
	if (p[0] & 1) {
		fuzz_switch(p + 1, n - 1);
	} else if (p[0] & 2) {
		fuzz_engines(p + 1, n - 1);
	} else {
		if (n >= PW_BMX_CELL) {
			pw_cell_parse(p, 4, &h);
			pw_cell_crc_ok(p);
		}
		if (!pw_bmx_outputs_parse(2 + p[1] % 15, p + 3, p[2] % 8, &d, &r) && d >= 256)
			abort();
	}
	return 0;
}
