// SPDX-License-Identifier: GPL-2.0
/* pwmodel net: many SANs joined by routers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pwmodel.h"
#include "pwmodel_net.h"

/* largest value of a bin, see NET_HIST */
static u64 bin_top(u32 bin)
{
	u32 half = 1u << (NET_HIST_BITS - 1), shift;

	if (bin < 2 * half)
		return bin;
	shift = (bin - 2 * half) / half + 1;
	return (((u64)(bin - 2 * half) % half + half + 1) << shift) - 1;
}

/* least latency that @millis thousandths of the messages do not exceed */
static u64 percentile(const struct net_totals *t, const u64 *hist, u32 millis)
{
	u64 rank = t->delivered / 1000 * millis + (t->delivered % 1000 * millis + 999) / 1000;
	u64 n = 0;

	for (u32 i = 0; i < NET_HIST; i++) {
		n += hist[i];
		if (n >= rank && n)
			return min(bin_top(i), t->latency_max);
	}
	return t->latency_max;
}

/* a / b with three decimals, rounded down */
static void print_ratio(u64 a, u64 b)
{
	u64 rest = b ? a % b : 0;

	printf("%" PRIu64 ".%03" PRIu64, b ? a / b : 0, b ? rest * 1000 / b : 0);
}

static void print(const struct net_spec *s, const struct net_totals *t, const u64 *hist)
{
	printf("{\"sans\":%u,\"ports\":%u,\"engine\":\"%s\",\"topology\":\"%s\",\"routers\":%zu,"
	       "\"stations\":%u,\"latency\":%u,", s->sans, s->ports,
	       s->params.flags & PW_FABRIC_F_FAST ? "fast" : "rtl", net_topology_name[s->topology],
	       s->links, s->base[s->sans], s->latency);
	if (s->cut_through)
		printf("\"cut_through\":%u,", s->cut_through);
	printf("\"sent\":%" PRIu64 ",\"delivered\":%" PRIu64 ",\"bytes\":%" PRIu64
	       ",\"cells\":%" PRIu64 ",\"acks\":%" PRIu64 ",\"resent\":%" PRIu64
	       ",\"crossings\":%" PRIu64 ",\"router_queue_max\":%" PRIu64 ",\"events\":%" PRIu64
	       ",\"last_cycle\":%" PRIu64 ",", t->sent, t->delivered, t->bytes, t->cells, t->acks,
	       t->resent, t->crossings, t->queue_max, t->events, t->last);
	printf("\"cycles\":{\"mean\":");
	print_ratio(t->latency, t->delivered);
	printf(",\"sum\":%" PRIu64 ",\"min\":%" PRIu64 ",\"p50\":%" PRIu64 ",\"p90\":%" PRIu64
	       ",\"p99\":%" PRIu64 ",\"p999\":%" PRIu64 ",\"max\":%" PRIu64 "},", t->latency,
	       t->delivered ? ~t->latency_min : 0, percentile(t, hist, 500),
	       percentile(t, hist, 900), percentile(t, hist, 990), percentile(t, hist, 999),
	       t->latency_max);
	printf("\"digest\":\"%016" PRIx64 "\"}\n", t->digest);
}

/* memory of this process in KiB; pages that SANs share count once */
static u64 memory(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "re");
	unsigned long long v = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Pss: %llu", &v) == 1)
			break;
	if (f)
		fclose(f);
	return v;
}

/* time in microseconds */
static u64 micros(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

/* these differ from run to run, so they are not part of the result */
static void print_stats(const struct net *n, const struct net_totals *t, u64 start)
{
	u64 cost[2] = { memory(), micros(CLOCK_PROCESS_CPUTIME_ID) };
	double took = (micros(CLOCK_MONOTONIC) - start) / 1e6, busy;

	net_comm_sum(cost, 2);
	busy = cost[1] / 1e6;
	if (net_rank)
		return;
	fprintf(stderr, "processes %u, threads %u each, windows %" PRIu64 ", %.3f s, %.3f s of CPU, "
		"%.0f events and %.0f cells per second of CPU, %.1f MiB, %.3f MiB per SAN\n",
		net_size, n->threads, n->total_windows, took, busy, t->events / busy,
		(t->cells + t->acks) / busy, cost[0] / 1024.0, cost[0] / 1024.0 / n->s->sans);
}

static u32 threads(const char *arg)
{
	u64 v = pwm_u64(arg, "--threads");

	if (!v || v > NET_THREADS)
		pwm_fail("--threads: %s is not 1..%u", arg, NET_THREADS);
	return v;
}

int pwm_net(int argc, char **argv)
{
	struct net_spec s;
	struct net n = { .s = &s, .threads = 1 };
	u64 *hist = net_alloc(NET_HIST, sizeof(*hist));
	struct net_totals t;
	bool stats = false;
	const char *file = NULL;
	u64 start;

	net_comm_start();
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--stats"))
			stats = true;
		else if (!strcmp(argv[i], "--threads") && i + 1 < argc)
			n.threads = threads(argv[++i]);
		else if (!strncmp(argv[i], "--", 2))
			pwm_fail("%s: unknown option or argument missing", argv[i]);
		else if (file)
			pwm_fail("net: '%s': one file only", argv[i]);
		else
			file = argv[i];
	}
	if (!file)
		pwm_fail("net: FILE.yaml is missing");
	if (net_size > 1 && !strcmp(file, "-"))
		pwm_fail("net: only one of %u processes has the standard input", net_size);
	net_read(file, &s);
	net_comm_good();
	n.lo = (u64)s.sans * net_rank / net_size;
	n.hi = (u64)s.sans * (net_rank + 1) / net_size;
	start = micros(CLOCK_MONOTONIC);
	net_run(&n, &t, hist);
	if (t.sent != t.delivered)
		pwm_fail("internal error: %" PRIu64 " of %" PRIu64 " messages did not arrive",
			 t.sent - t.delivered, t.sent);
	if (stats)
		print_stats(&n, &t, start);
	if (!net_rank)
		print(&s, &t, hist);
	net_comm_stop();
	return 0;
}
