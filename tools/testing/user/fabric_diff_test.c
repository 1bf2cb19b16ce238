// SPDX-License-Identifier: GPL-2.0
/*
 * The whole fabric (adaptation units, network, processes) by events against the one
 * stepped register by register, side by side under the same random traffic: every
 * delivery, every time of every message, every refusal of a send; at random cycles the
 * size of every queue, the buffers of every unit and every counter. Messages that are
 * alone go through the one at once wherever it knows what comes of them.
 *
 * In a device, the one or the other has sparse buffers, which take memory as they fill.
 * fabric_topo_test does the same with other topologies and multicast connections.
 */
#include "fabric_sides.h"

int main(int argc, char **argv)
{
	static const u32 loads[] = { 50, 100, 300, 500, 700, 900, 1000 };
	static const struct scene scenes[] = {
		{ .name = "unicast", .t.maxlen = 300, .flags = DEV },
		{ .name = "long messages", .t.maxlen = 3000, .flags = DEV },
		{ .name = "broadcast", .t.maxlen = 200, .t.bcast = 20,
		  .flags = DEV | PW_FABRIC_F_SELF },
		{ .name = "hot spot", .t.maxlen = 200, .t.hot = 40, .t.bcast = 2, .flags = DEV },
		{ .name = "one-cell queues", .t.maxlen = 300, .depth = 1, .t.bcast = 10, .flags = DEV },
		{ .name = "lossy", .t.maxlen = 300, .t.bcast = 5, .drop = 10, .corrupt = 10,
		  .resend = 8000, .flags = DEV },
		{ .name = "full buffers, lossy", .t.maxlen = 700, .ic_blocks = 200, .og_blocks = 40,
		  .queue = 4, .drop = 20, .corrupt = 20, .resend = 5000, .flags = DEV },
		{ .name = "impatient sender", .t.maxlen = 900, .resend = 900, .flags = DEV },
		{ .name = "overrun", .t.maxlen = 700, .ic_blocks = 128, .resend = 700, .queue = 8,
		  .t.hot = 90, .flags = DEV },
		{ .name = "published", .t.maxlen = 300, .keep = 3000, .t.bcast = 10 },
		{ .name = "published, full, lossy", .t.maxlen = 400, .keep = 2000, .ic_blocks = 40,
		  .og_blocks = 40, .t.hot = 50, .drop = 10, .corrupt = 10, .resend = 9000 },
		{ .name = "slow hosts", .t.maxlen = 300, .t.bcast = 5, .gap_lock = 7, .gap_init = 5,
		  .gap_get = 12, .gap_word = 9, .og_blocks = 30, .flags = DEV },
		{ .name = "published, slow hosts", .t.maxlen = 200, .keep = 4000, .gap_init = 5,
		  .gap_get = 12, .gap_word = 3 },
		{ .name = "few descriptors, little credit", .t.maxlen = 200, .t.hot = 30, .t.bcast = 5,
		  .descs = 1, .credit = 12, .depth = 2, .flags = DEV },
		{ .name = "fixed paths", .t.maxlen = 300, .t.bcast = 5, .depth = 2, .route = 2,
		  .flags = DEV },
		{ .name = "random paths", .t.maxlen = 300, .t.bcast = 5, .depth = 2, .route = 77,
		  .flags = DEV },
		{ .name = "least queue", .t.maxlen = 400, .t.bcast = 5, .depth = 2, .t.hot = 10,
		  .route = PW_AAL_ROUTE_LEAST, .flags = DEV },
		{ .name = "faults at all units", .t.maxlen = 300, .t.bcast = 5,
		  .faults = { 4000, 4000, 7 }, .resend = 8000, .flags = DEV },
		{ .name = "published, faults at all units", .t.maxlen = 200, .keep = 9000,
		  .faults = { 9000, 3000, 0 }, .resend = 7000 },
	};
	/* few hosts, few lengths, little traffic: what is alone has been so before */
	static const struct scene alone[] = {
		{ .name = "alone", .t = { 60, 4, 16, 150, .hosts = 3, .lens = 2 }, .flags = DEV },
		{ .name = "alone", .t = { 90, 4, 16, 99, .hosts = 2, .lens = 3 }, .flags = DEV },
		{ .name = "alone", .t = { 30, 2, 4, 1000, .hosts = 2, .lens = 1 }, .flags = DEV },
		{ .name = "alone or not", .t = { 50, 2, 4, 60, .hosts = 4, .lens = 1 }, .flags = DEV },
		{ .name = "alone or not", .t = { 60, 2, 4, 16, .hosts = 4, .lens = 2 }, .flags = DEV },
		{ .name = "alone or not, one-cell queues",
		  .t = { 60, 3, 9, 60, .hosts = 3, .lens = 1 }, .depth = 1, .flags = DEV },
		{ .name = "alone or not, impatient",
		  .t = { 90, 2, 4, 300, .hosts = 4, .lens = 1 }, .resend = 400, .flags = DEV },
		{ .name = "alone, slow hosts", .t = { 40, 4, 16, 150, .hosts = 3, .lens = 2 },
		  .gap_lock = 3, .gap_init = 5, .gap_get = 12, .gap_word = 4, .flags = DEV },
		{ .name = "alone, fixed paths", .t = { 60, 4, 16, 150, .hosts = 3, .lens = 2 },
		  .route = 2, .flags = DEV },
		{ .name = "alone or not, random paths", .t = { 50, 2, 4, 60, .hosts = 4, .lens = 1 },
		  .route = 5, .flags = DEV },
		{ .name = "alone, least queue", .t = { 60, 4, 16, 150, .hosts = 3, .lens = 2 },
		  .route = PW_AAL_ROUTE_LEAST, .flags = DEV },
		{ .name = "alone or not, least queue", .t = { 50, 2, 4, 60, .hosts = 4, .lens = 1 },
		  .route = PW_AAL_ROUTE_LEAST, .flags = DEV },
	};
	/*
	 * -O2: 10^8 cycles stepped in all, in about a minute; less where every access is
	 * checked or the machine emulated
	 */
#if defined(__SANITIZE_ADDRESS__)
	u64 big = tap_scaled(6000), small = tap_scaled(12000), want = 0;
#else
	u64 big = max_t(u64, tap_scaled(TAP_EMULATED ? 1500 : 110000), 600);
	u64 small = max_t(u64, tap_scaled(TAP_EMULATED ? 3000 : 600000), 1200);
	u64 want = TAP_EMULATED ? 0 : tap_scaled(100000000);
#endif
	struct scene s;
	size_t i, j;

	only = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	for (i = 0; i < ARRAY_SIZE(scenes); i++) {
		for (j = 0; j < ARRAY_SIZE(loads); j++) {
			s = scenes[i];
			s.t.load = loads[j];
			s.t.k = 4;
			s.t.ports = 16;
			scene(&s, big, 100 * i + j);
			s.t.k = 2;
			s.t.ports = 4;
			scene(&s, small, 10000 + 100 * i + j);
		}
	}
	s = scenes[5];
	s.t.load = 800;
	s.t.k = 3;
	s.t.ports = 9;
	s.depth = 3;
	scene(&s, big, 77);
	for (i = 0; i < ARRAY_SIZE(alone); i++)
		scene(&alone[i], 5 * big, 30000 + i);
	for (i = 0; !only && sum.cycles < want; i++) {
		s = scenes[i % ARRAY_SIZE(scenes)];
		s.t.load = loads[i % ARRAY_SIZE(loads)];
		s.t.k = 2;
		s.t.ports = 4;
		scene(&s, small, 20000 + i);
	}
	diag("%llu cycles stepped, %llu deliveries, %llu events, state compared %llu times",
	     (ull)sum.cycles, (ull)sum.delivered, (ull)sum.events, (ull)sum.compared);
	diag("%llu messages alone, done at once; %llu pieces of memory for messages, %llu for repeated cells",
	     (ull)sum.lone, (ull)sum.pieces, (ull)sum.low);
	diag("suspensions %llu in the network, %llu by full ports; cells lost %llu, corrupted %llu, sent again %llu",
	     (ull)sum.refused, (ull)sum.refused_in, (ull)sum.dropped, (ull)sum.corrupted,
	     (ull)sum.resent);
	diag("kept for later %llu, duplicates %llu, stray acknowledgments %llu, overruns %llu, send buffer full %llu, queue full %llu, messages timed out %llu",
	     (ull)sum.ahead, (ull)sum.duplicate, (ull)sum.stray, (ull)sum.overrun, (ull)sum.nomem,
	     (ull)sum.busy, (ull)sum.lost);
	ok(only || (sum.refused && sum.dropped && sum.corrupted && sum.resent && sum.ahead &&
		    sum.duplicate && sum.stray),
	   "suspensions, lost and corrupted cells were among it");
	ok(only || sum.pieces, "and buffers that grew");
	if (sum.cycles >= 10000000)
		ok(sum.low && sum.refused_in && sum.overrun && sum.nomem && sum.busy && sum.lost && sum.lone,
		   "and full ports, buffers and queues, messages not read and messages done at once");
	return tap_done();
}
