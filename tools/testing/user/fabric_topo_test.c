// SPDX-License-Identifier: GPL-2.0
/*
 * Every generated topology at two sizes: the fabric by events against the one stepped register
 * by register, with random multicast connections and every route policy. Each message arrives
 * once, whole and in order at every port that it was sent to, and at no other one.
 *   fabric_topo_test [TOPOLOGY [CYCLES]]
 */
#include "fabric_sides.h"
#include "topo_make.h"

#define LEAST PW_AAL_ROUTE_LEAST

static const char *const topologies[] = {
	"clos:4x4x4", "clos:3x5x2", "benes:8", "benes:16", "butterfly:2x3", "butterfly:4x2",
	"crossbar:4", "crossbar:16", "torus:4x4", "torus:2x3x2", "mesh:4x4", "mesh:2x3",
	"fattree:2x3", "fattree:4x2", "ring:5", "ring:8x2",
};

static const struct scene scenes[] = {
	{ .name = "broadcast", .t = { 300, .maxlen = 200, .bcast = 20 }, .route = 1,
	  .flags = DEV | PW_FABRIC_F_SELF },
	{ .name = "multicast", .t = { 500, .maxlen = 300, .mcast = 40, .bcast = 3 }, .route = 1,
	  .flags = DEV },
	{ .name = "one-cell queues, fixed paths", .t = { 700, .maxlen = 300, .bcast = 10 }, .depth = 1,
	  .route = 2, .flags = DEV },
	{ .name = "multicast, one-cell queues, least queue",
	  .t = { 900, .maxlen = 200, .mcast = 60, .hot = 10 }, .depth = 1, .route = LEAST, .flags = DEV },
	{ .name = "lossy, random paths", .t = { 100, .maxlen = 300, .bcast = 5 }, .drop = 10,
	  .corrupt = 10, .resend = 8000, .route = 77, .flags = DEV },
	{ .name = "multicast, lossy, little credit, least queue",
	  .t = { 500, .maxlen = 300, .mcast = 50, .bcast = 2 }, .credit = 16, .descs = 1, .drop = 10,
	  .corrupt = 10, .resend = 8000, .route = LEAST, .flags = DEV },
	{ .name = "published, full, lossy", .t = { 300, .maxlen = 400, .hot = 50 }, .keep = 2000,
	  .ic_blocks = 40, .og_blocks = 40, .drop = 10, .corrupt = 10, .resend = 9000 },
	{ .name = "published, multicast, full, lossy", .t = { 700, .maxlen = 300, .mcast = 30 },
	  .keep = 3000, .ic_blocks = 60, .og_blocks = 40, .drop = 10, .corrupt = 10, .resend = 9000 },
	{ .name = "multicast, faults at all units", .t = { 300, .maxlen = 300, .mcast = 20, .bcast = 3 },
	  .faults = { 4000, 4000, 7 }, .resend = 8000, .route = 1, .flags = DEV },
	{ .name = "hot spot, least queue", .t = { 1000, .maxlen = 500, .hot = 40 }, .depth = 2,
	  .route = LEAST, .flags = DEV },
	{ .name = "little traffic, multicast, slow hosts", .t = { 50, .maxlen = 900, .mcast = 30 },
	  .gap_lock = 7, .gap_init = 5, .gap_get = 12, .gap_word = 9, .flags = DEV },
};

static void run_topology(const char *name, u64 cycles, u32 seed)
{
	struct pw_topo *topo = topo_make_mc(name, 16, seed);
	struct scene s;
	u32 i;

	ok(topo, "topology %s with 16 connections", name);
	if (!topo)
		return;
	topology = name;
	for (i = 0; i < ARRAY_SIZE(scenes); i++) {
		s = scenes[i];
		s.topo = topo;
		s.t.topo = topo;
		s.t.k = topo->paths;
		s.t.ports = topo->ports;
		/* nothing is sent again: cells that block each other would stay */
		if (!lossy(&s))
			s.resend = INT_MAX;
		scene(&s, cycles / ARRAY_SIZE(scenes), 1000 * seed + i);
	}
	free(topo);
}

static void count_arrival(void *ctx, u16 dst, u16 src, u64 c, u32 len, u64 cycle,
			  const struct pw_fabric_times *t)
{
}

static const struct pw_fabric_ops ops_count = { .deliver = count_arrival, .done = done };

/* cells that the input units of all stages and the ports take in for one message, by @flags' engine */
static u64 cells_of(const struct pw_topo *t, u16 dst, u32 flags, struct pw_aal_stats *sender)
{
	struct pw_fabric_params p = { .topo = t, .flags = DEV | flags };
	struct pw_fabric_stage st;
	struct side s = {};
	struct scene sc = { .topo = t };
	u64 n = 0;
	u32 i;

	s.f = pw_fabric_init(malloc(pw_fabric_size(&p)), &p, &ops_count, &s);
	s.sc = &sc;
	if (pw_fabric_send(s.f, 0, dst, PW_FABRIC_AUTO, 100, 0, NULL))
		return 0;
	while (pw_fabric_next(s.f) != PW_FABRIC_NEVER && pw_fabric_now(s.f) < 200000)
		pw_fabric_run(s.f, pw_fabric_now(s.f) + 1000, U32_MAX);
	for (i = 0; i <= t->levels; i++) {
		pw_fabric_stage(s.f, i, &st);
		n += st.cells;
	}
	pw_fabric_port_stats(s.f, 0, sender);
	if (!s.done)
		n = 0;
	free(s.f);
	return n;
}

/*
 * One message of 4 cells to 4 of 64 stations. By broadcast: in each stage 1, 8 and 64 copies, of
 * which 64 reach a port. By connection: to two stations at each of two switches of the last stage.
 * Each receiver sends an acknowledgment through 3 stages to a port.
 */
static void few_of_many(u32 flags)
{
	struct pw_topo_fault why;
	struct pw_topo_plan *p = topo_plan_mc("clos:8x8x8", 1, &why);
	struct pw_aal_stats all, mc;
	struct pw_topo *t;
	u64 n, m;

	if (!p)
		abort();
	pw_topo_join(&p->conn[0], 9);
	pw_topo_join(&p->conn[0], 10);
	pw_topo_join(&p->conn[0], 62);
	pw_topo_join(&p->conn[0], 63);
	t = topo_of(p, &why);
	if (!t)
		abort();
	n = cells_of(t, PW_FABRIC_ALL, flags, &all);
	m = cells_of(t, PW_FABRIC_MC, flags, &mc);
	ok(n == 4 * (1 + 1 + 8 + 64) + 4 * 64 * 4 && m == 4 * (1 + 1 + 2 + 4) + 4 * 4 * 4,
	   "%s: 4 cells to 4 of 64 stations: %llu cells in the network by broadcast, %llu by connection",
	   flags ? "fast" : "rtl", (ull)n, (ull)m);
	ok(all.acks_in == 4 * 64 && mc.acks_in == 4 * 4 && !mc.stray_ack && !all.stray_ack,
	   "%s: %llu acknowledgments by broadcast, %llu by connection, each one awaited",
	   flags ? "fast" : "rtl", (ull)all.acks_in, (ull)mc.acks_in);
	free(t);
}

/* destinations that are refused */
static void refused(void)
{
	struct pw_topo *t = topo_make_mc("ring:5", 2, 3);
	struct pw_fabric_params p = { .topo = t, .flags = DEV | PW_FABRIC_F_FAST };
	struct pw_fabric *f;
	u16 src;

	if (!t)
		abort();
	f = pw_fabric_init(malloc(pw_fabric_size(&p)), &p, &ops_count, NULL);
	src = t->conn[0].src;
	ok(pw_fabric_send(f, (src + 1) % 5, PW_FABRIC_MC, PW_FABRIC_AUTO, 1, 0, NULL) == -EINVAL &&
	   pw_fabric_send(f, src, PW_FABRIC_MC + 2, PW_FABRIC_AUTO, 1, 0, NULL) == -EINVAL &&
	   pw_fabric_send(f, src, 5, PW_FABRIC_AUTO, 1, 0, NULL) == -EINVAL &&
	   pw_fabric_send(f, src, 0xfffe, PW_FABRIC_AUTO, 1, 0, NULL) == -EINVAL,
	   "connections of another station and ones that do not exist are refused");
	free(f);
	free(t);
}

int main(int argc, char **argv)
{
	/*
	 * A soak, with ten times the counts, steps 10^9 cycles in all, one topology in each of 16
	 * parts; see scripts/soak. Less where every access is checked or the machine emulated.
	 */
#if defined(__SANITIZE_ADDRESS__)
	u64 each = tap_scaled(60000);
#else
	u64 each = tap_scaled(TAP_EMULATED ? 20000 : getenv("PW_LONG") ? 6250000 : 400000);
#endif
	const char *s = getenv("PW_PART");
	u32 i, part = 0, parts = 1;

	if (s && (sscanf(s, "%u/%u", &part, &parts) != 2 || !part-- || part >= parts))
		abort();
	few_of_many(0);
	few_of_many(PW_FABRIC_F_FAST);
	refused();
	if (argc > 2)
		each = strtoull(argv[2], NULL, 0);
	for (i = 0; i < ARRAY_SIZE(topologies); i++)
		if (argc < 2 ? i % parts == part : !strcmp(argv[1], topologies[i]))
			run_topology(topologies[i], each, 100 + i);
	diag("%llu cycles stepped, %llu messages delivered, %llu sent by connections, state compared %llu times",
	     (ull)sum.cycles, (ull)sum.delivered, (ull)sum.mcast, (ull)sum.compared);
	diag("suspensions %llu in the network, %llu by full ports; cells lost %llu, corrupted %llu, sent again %llu",
	     (ull)sum.refused, (ull)sum.refused_in, (ull)sum.dropped, (ull)sum.corrupted,
	     (ull)sum.resent);
	ok(sum.mcast && sum.refused && sum.dropped && sum.corrupted && sum.resent,
	   "connections, suspensions, lost and corrupted cells were among it");
	return tap_done();
}
