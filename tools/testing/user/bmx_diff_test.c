// SPDX-License-Identifier: GPL-2.0
/*
 * Event-driven network against the register-level one, same random traffic:
 * every delivery (port, cell, cycle, damage), the size of every queue at random
 * cycles, accepted cells and refusals of every PPD.
 */
#include "tap.h"
#include "bmx_traffic.h"
#include "topo_make.h"

struct totals {
	u64 cycles, delivered, refused, sizes, dropped, corrupted, events;
};

static struct totals sum;

static u64 compare_logs(struct tr_rtl *a, struct tr_fast *b)
{
	u64 bad = 0;

	for (u32 p = 0; p < a->net->ports; p++) {
		struct tr_log *x = &a->log[p], *y = &b->log[p];
		size_t n = min(x->n, y->n), i;

		for (i = 0; i < n; i++) {
			if (x->rec[i].t == y->rec[i].t && x->rec[i].cookie == y->rec[i].cookie &&
			    x->rec[i].flags == y->rec[i].flags)
				continue;
			if (!bad++)
				diag("port %u: rtl %08x at %llu (%u), fast %08x at %llu (%u)",
				     p, x->rec[i].cookie, (unsigned long long)x->rec[i].t,
				     x->rec[i].flags, y->rec[i].cookie,
				     (unsigned long long)y->rec[i].t, y->rec[i].flags);
		}
		/* fast reports at byte 3, rtl at byte 52: at most one cell apart */
		if (y->n < x->n || y->n > x->n + 1) {
			if (!bad++)
				diag("port %u: rtl %zu cells, fast %zu", p, x->n, y->n);
		}
		sum.delivered += n;
		if (!n)
			continue;
		memmove(x->rec, x->rec + n, (x->n - n) * sizeof(*x->rec));
		memmove(y->rec, y->rec + n, (y->n - n) * sizeof(*y->rec));
		x->n -= n;
		y->n -= n;
	}
	return bad;
}

static u64 compare_sizes(struct tr_rtl *a, struct tr_fast *b, u64 *fill)
{
	u32 k = a->net->k, n = a->net->ranks, r, q;
	u64 bad = 0;

	for (r = 0; r < n; r++) {
		for (q = 0; q < k; q++) {
			u32 want = a->net->xpm[r * k + q].size, got = pw_bmx_fast_qsize(b->f, r, q);

			if (want > *fill)
				*fill = want;
			if (want != got && !bad++)
				diag("cycle %llu PPD %u queue %u: rtl %u bytes, fast %u",
				     (unsigned long long)a->net->cycle, r, q, want, got);
		}
	}
	sum.sizes += n * k;
	return bad;
}

static u64 compare_counts(struct tr_rtl *a, struct tr_fast *b, bool total)
{
	u64 cells, refused, bad = 0;
	u32 r;

	for (r = 0; r < a->net->ranks; r++) {
		struct pw_bmx_ppd *p = &a->net->ppd[r];

		pw_bmx_fast_count(b->f, r, &cells, &refused);
		if ((p->cells != cells || p->refused != refused) && !bad++)
			diag("cycle %llu PPD %u: rtl %llu cells %llu refused, fast %llu, %llu",
			     (unsigned long long)a->net->cycle, r, (unsigned long long)p->cells,
			     (unsigned long long)p->refused, (unsigned long long)cells,
			     (unsigned long long)refused);
		if (total)
			sum.refused += refused;
	}
	for (r = 0; r < PW_BMX_STAGES_MAX; r++)
		if (a->net->dropped[r] != b->f->dropped[r] ||
		    a->net->corrupted[r] != b->f->corrupted[r])
			bad++;
	return bad;
}

static void scenario(const struct tr_cfg *c, const char *name, u64 cycles)
{
	struct tr_rtl *a = tr_rtl_new(c, true);
	struct tr_fast *b = tr_fast_new(c, true);
	u64 now = 0, logs = 0, sizes = 0, counts = 0, fill = 0, seed = c->seed | 1;
	bool good;

	while (now < cycles && !(logs | sizes | counts)) {
		now += 1 + tr_rand(&seed) % 1500;
		tr_rtl_run(a, now);
		tr_fast_run(b, now);
		logs += compare_logs(a, b);
		sizes += compare_sizes(a, b, &fill);
		counts += compare_counts(a, b, false);
	}
	compare_counts(a, b, true);
	for (int i = 0; i < PW_BMX_STAGES_MAX; i++) {
		sum.dropped += b->f->dropped[i];
		sum.corrupted += b->f->corrupted[i];
	}
	sum.cycles += now;
	sum.events += b->f->events;
	good = !logs && !sizes && !counts && !a->mangled && !b->errors &&
	       fill <= c->depth * PW_BMX_CELL && a->sent && a->delivered;
	ok(good, "%s k %u depth %u load %.2f bcast %u mcast %u hot %u refuse %u shut %u%s fault %u: %llu equal",
	   name, a->net->k, c->depth, c->load / 1000.0, c->bcast, c->mcast, c->hot, c->rx_refuse, c->rx_window,
	   c->rx_block ? " blocking" : "", c->drop + c->corrupt, (unsigned long long)now);
	if (!good)
		diag("logs %llu sizes %llu counts %llu mangled %llu err %llu fill %llu %llu>%llu",
		     (unsigned long long)logs, (unsigned long long)sizes,
		     (unsigned long long)counts, (unsigned long long)a->mangled,
		     (unsigned long long)b->errors, (unsigned long long)fill,
		     (unsigned long long)a->sent, (unsigned long long)a->delivered);
	tr_rtl_free(a);
	tr_fast_free(b);
}

int main(void)
{
	static const u32 loads[] = { 50, 100, 300, 500, 700, 900, 1000 };
	static const struct tr_cfg mix[] = {
		/* unicast; a little broadcast; much of it; hot spot */
		{ .bcast = 0 },
		{ .bcast = 20 },
		{ .bcast = 300 },
		{ .hot = 300 },
		/* suspending ports */
		{ .bcast = 10, .rx_refuse = 100 },
		{ .bcast = 10, .rx_refuse = 700, .hot = 100 },
		{ .bcast = 10, .rx_window = 200 },
		{ .bcast = 10, .rx_window = 200, .rx_block = true },
		{ .bcast = 50, .rx_window = 600, .rx_block = true, .rx_refuse = 50 },
		/* faults */
		{ .bcast = 20, .drop = 1000, .corrupt = 1000 },
		{ .bcast = 20, .hot = 200, .rx_window = 300, .rx_block = true,
		  .drop = 5000, .corrupt = 5000 },
	};
	static const struct tr_cfg odd[] = {
		{ .k = 2, .depth = 8 }, { .k = 2, .depth = 1 }, { .k = 3, .depth = 2 },
		{ .k = 4, .depth = 1 }, { .k = 4, .depth = 3 }, { .k = 5, .depth = 4 },
		{ .k = 8, .depth = 8 }, { .k = 9, .depth = 2 }, { .k = 16, .depth = 2 },
	};
	/* every generator at two sizes at least */
	static const char *const topologies[] = {
		"clos:4x4x4", "clos:3x5x2", "benes:8", "benes:16", "butterfly:2x3", "butterfly:4x2",
		"crossbar:4", "crossbar:16", "torus:4x4", "torus:3x3x3", "mesh:4x4", "mesh:2x3",
		"fattree:2x3", "fattree:4x2", "ring:5", "ring:8x2", "torus:2x2", "torus:8x8",
	};
	static const struct tr_cfg topo_mix[] = {
		{ .depth = 8, .load = 1000 },
		{ .depth = 1, .load = 700, .bcast = 50 },
		{ .depth = 2, .load = 300, .bcast = 20, .hot = 200, .rx_refuse = 100 },
		{ .depth = 3, .load = 500, .bcast = 100, .rx_window = 300, .rx_block = true,
		  .drop = 2000, .corrupt = 2000 },
		{ .depth = 2, .load = 600, .bcast = 10, .mcast = 400, .rx_refuse = 50 },
		{ .depth = 1, .load = 900, .mcast = 700, .drop = 2000, .corrupt = 2000 },
	};
	/*
	 * -O2: 2.5 * 10^7 cycles in all (fabric_diff_test does 10^8 of the network
	 * together with its adaptation layer); less where every access is checked,
	 * and where an emulator runs the 32-bit build
	 */
#if defined(__SANITIZE_ADDRESS__)
	u64 each = tap_scaled(40000), each_topo = tap_scaled(4000);
#else
	u64 each = max_t(u64, tap_scaled(TAP_EMULATED ? 5000 : 310000), 2000);
	u64 each_topo = max_t(u64, tap_scaled(TAP_EMULATED ? 1000 : 250000), 500);
#endif
	struct tr_cfg c;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(loads); i++) {
		for (j = 0; j < ARRAY_SIZE(mix); j++) {
			c = mix[j];
			c.k = 4;
			c.depth = 8;
			c.load = loads[i];
			c.seed = 1000 * i + j;
			scenario(&c, "three stages,", each);
		}
	}
	for (i = 0; i < ARRAY_SIZE(odd); i++) {
		for (j = 0; j < 3; j++) {
			c = mix[j == 0 ? 1 : j == 1 ? 7 : 10];
			c.k = odd[i].k;
			c.depth = odd[i].depth;
			c.load = j == 0 ? 1000 : j == 1 ? 400 : 800;
			c.seed = 77 * i + j;
			scenario(&c, "three stages,", each * 2 / (c.k * c.k) + 3000);
		}
	}
	for (i = 0; i < ARRAY_SIZE(topologies); i++) {
		struct pw_topo *t = topo_make_mc(topologies[i], 24, i);

		for (j = 0; t && j < ARRAY_SIZE(topo_mix); j++) {
			c = topo_mix[j];
			c.topo = t;
			c.seed = 5000 + 10 * i + j;
			scenario(&c, topologies[i], each_topo);
		}
		if (!t)
			ok(false, "topology %s", topologies[i]);
		free(t);
	}
	diag("%llu cycles, %llu cells, %llu refusals, %llu sizes, %llu+%llu faults, %llu tries",
	     (unsigned long long)sum.cycles, (unsigned long long)sum.delivered,
	     (unsigned long long)sum.refused, (unsigned long long)sum.sizes,
	     (unsigned long long)sum.dropped, (unsigned long long)sum.corrupted,
	     (unsigned long long)sum.events);
	return tap_done();
}
