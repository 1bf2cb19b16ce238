// SPDX-License-Identifier: GPL-2.0
/*
 * ATON ring: what one more interface costs the fast engine, beside a plain C loop
 * over the same operands, in the same process; and the rtl engine for scale.
 *   aton_bench [operands to visit per measurement, default 40000000]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ring/ring.h"

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* not inlined, so that repeating it is not optimised away */
static noinline u64 loop(const u64 *x, u32 n)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

static struct pw_ring *make(int engine, u32 n, struct pw_ring_sender *port, void **mem)
{
	struct pw_ring_params p = { .engine = engine, .nregs = 1, .capacity = n };
	struct pw_ring *ring;
	u32 i;

	*mem = malloc(pw_ring_size(&p));
	if (!*mem)
		exit(1);
	ring = pw_ring_init(*mem, &p);
	memset(port, 0, sizeof(*port));
	pw_ring_attach(ring, 0, n, 1, 0);
	pw_ring_bind(ring, 0, port);
	for (i = 0; i < n; i++)
		pw_ring_operands(ring, 0)[i] = i * 2654435761u;
	return ring;
}

/* nanoseconds of one command over @n interfaces */
static double command(int engine, int op, u32 n, u32 times)
{
	struct pw_ring_cmd cmd = { .op = op, .dst = PW_ATON_RING };
	struct pw_ring_sender port;
	struct pw_ring *ring;
	double t;
	void *mem;
	u32 i;

	ring = make(engine, n, &port, &mem);
	t = cpu();
	for (i = 0; i < times; i++) {
		pw_ring_submit(ring, 0, &cmd);
		while (pw_ring_run(ring, ~0ULL, 1u << 30) == PW_RING_MORE)
			;
		if (pw_ring_reap(ring) != &cmd || cmd.err || cmd.counter != n)
			exit(1);
	}
	t = cpu() - t;
	free(mem);
	return t / times * 1e9;
}

static double best(int engine, int op, u32 n, u32 times)
{
	double t, min = 1e30;
	int i;

	for (i = 0; i < 5; i++) {
		t = command(engine, op, n, (times + 4) / 5);
		if (t < min)
			min = t;
	}
	return min;
}

static double plain(u32 n, u32 times)
{
	struct pw_ring_sender port;
	struct pw_ring *ring;
	volatile u64 sink;
	double t, min = 1e30;
	void *mem;
	u32 i, k;

	ring = make(PW_RING_FAST, n, &port, &mem);
	for (k = 0; k < 5; k++) {
		t = cpu();
		for (i = 0; i < (times + 4) / 5; i++)
			sink = loop(pw_ring_operands(ring, 0), n);
		t = (cpu() - t) / ((times + 4) / 5) * 1e9;
		if (t < min)
			min = t;
	}
	(void)sink;
	free(mem);
	return min;
}

int main(int argc, char **argv)
{
	static const u32 size[] = { 8, 64, 1024, 1000000 };
	unsigned long visits = argc > 1 ? strtoul(argv[1], NULL, 0) : 40000000;
	u32 i;

	printf("%8s %12s %12s %10s %10s %7s %10s %12s\n", "n", "loop ns", "fast ADD ns",
	       "loop/if", "fast/if", "ratio", "MAX/if", "rtl ADD ns");
	for (i = 0; i < ARRAY_SIZE(size); i++) {
		u32 n = size[i], times = visits / n < 5 ? 5 : visits / n;
		double l, f, m, r = 0;

		if (times > 500000)
			times = 500000;
		l = plain(n, times);
		f = best(PW_RING_FAST, PW_ATON_ADD, n, times);
		m = best(PW_RING_FAST, PW_ATON_MAX, n, times);
		if (n <= 1024)
			r = best(PW_RING_RTL, PW_ATON_ADD, n, 20000 / n + 5);
		printf("%8u %12.1f %12.1f %10.3f %10.3f %7.2f %10.3f ", n, l, f, l / n, f / n,
		       f / l, m / n);
		if (r)
			printf("%12.0f\n", r);
		else
			printf("%12s\n", "-");
	}
	return 0;
}
