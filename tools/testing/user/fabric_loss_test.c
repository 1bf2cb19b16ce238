// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of random size among 16 ports, 1 % of the cells corrupted and 1 %
 * dropped on the way: all arrive once, in order for each pair, intact.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fabric/fabric.h"
#include "tap.h"

typedef unsigned long long ull;

#define PORTS 16

struct loss {
	struct pw_fabric *f;
	unsigned long long rnd;
	u32 next[PORTS][PORTS];		/* number of the next message sent / expected */
	u32 want[PORTS][PORTS];
	u64 sent, delivered, expected, done, wrong, bytes, retransmissions;
	unsigned long long fault_rnd;
};

/* cookie: number in its pair, broadcast or not, length */
static u64 make_cookie(u32 n, bool all, u32 len)
{
	return (u64)n << 24 | (u64)all << 20 | len;
}

static void deliver(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
		    const struct pw_fabric_times *t)
{
	struct loss *l = ctx;

	l->delivered++;
	l->bytes += len;
	if (len != (cookie & 0xfffff) || t->delivered != cycle)
		l->wrong++;
	/* numbers are per sender: a receiver sees them grow */
	if ((u32)(cookie >> 24) < l->want[src][dst])
		l->wrong++;
	l->want[src][dst] = (u32)(cookie >> 24) + 1;
}

static void done(void *ctx, u16 src, u64 cookie, u64 cycle, const struct pw_fabric_times *t)
{
	((struct loss *)ctx)->done++;
}

static void fetch(void *ctx, u16 src, u64 cookie, u32 off, u8 *buf, u32 n)
{
	for (u32 i = 0; i < n; i++)
		buf[i] = (u8)((cookie >> 24) * 7 + (off + i) * 13 + src);
}

static void trace(void *ctx, const struct pw_fabric_trace *t)
{
	struct loss *l = ctx;

	l->retransmissions += t->ev == PW_FABRIC_EV_RESEND;
}

/* 1 % and 1 % of the cells that enter the network */
static enum pw_bmx_fault fault(void *ctx, u32 ppd, u64 t)
{
	struct loss *l = ctx;
	unsigned int v;

	if (ppd >= PORTS)
		return PW_BMX_FAULT_NONE;
	v = tap_rand(&l->fault_rnd) % 100;
	return v == 0 ? PW_BMX_FAULT_DROP : v == 1 ? PW_BMX_FAULT_CORRUPT : PW_BMX_FAULT_NONE;
}

static const struct pw_fabric_ops ops = {
	.deliver = deliver, .done = done, .fetch = fetch, .fault = fault, .trace = trace,
};

static void loss(u32 flags, const char *name, u64 messages, u32 maxlen, u32 resend)
{
	struct pw_fabric_params p = { .flags = PW_FABRIC_F_DEVICE | flags, .resend = resend };
	struct loss l = { .rnd = 4711, .fault_rnd = 815 };
	void *mem = malloc(pw_fabric_size(&p));
	u64 resent = 0, bad = 0, dup = 0, dropped = 0, corrupted = 0;
	struct pw_fabric_stats st;
	struct pw_fabric_stage sg;
	struct pw_aal_stats s;
	u32 number[PORTS] = {};
	struct timespec a, b;
	double secs;
	int idle = 0;

	l.f = pw_fabric_init(mem, &p, &ops, &l);
	clock_gettime(CLOCK_MONOTONIC, &a);
	while (l.sent < messages) {
		u16 src = tap_rand(&l.rnd) % PORTS, dst = tap_rand(&l.rnd) % PORTS;
		u32 len = tap_rand(&l.rnd) % 3 ? tap_rand(&l.rnd) % 100 :
						 tap_rand(&l.rnd) % (maxlen + 1);
		bool all = tap_rand(&l.rnd) % 200 == 0;
		u64 now = pw_fabric_now(l.f);

		if (pw_fabric_send(l.f, src, all ? PW_FABRIC_ALL : dst, PW_FABRIC_AUTO, len,
				   make_cookie(number[src], all, len), NULL)) {
			while (pw_fabric_now(l.f) < now + 200)
				pw_fabric_run(l.f, now + 200, 1000);
			continue;
		}
		number[src]++;
		l.sent++;
		l.expected += all ? PORTS - 1 : 1;
	}
	while (l.done < l.sent && idle < 2) {
		u64 next = pw_fabric_next(l.f);

		idle += next == PW_FABRIC_NEVER;
		pw_fabric_run(l.f, pw_fabric_now(l.f) + 10000, 10000);
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	secs = b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9;
	for (u32 i = 0; i < PORTS; i++) {
		pw_fabric_port_stats(l.f, i, &s);
		resent += s.resent;
		bad += s.bad_crc;
		dup += s.duplicate;
	}
	pw_fabric_stage(l.f, 0, &sg);
	dropped = sg.dropped;
	corrupted = sg.corrupted;
	pw_fabric_stats(l.f, &st);
	is(l.done, l.sent, "%s: every message is acknowledged", name);
	is(l.delivered, l.expected, "%s: %llu messages make %llu deliveries, each once", name,
	   (ull)l.sent, (ull)l.expected);
	is(l.wrong, 0, "%s: in order for each pair", name);
	is(st.mismatch, 0, "%s: %llu bytes intact%s", name, (ull)l.bytes,
	   flags & PW_FABRIC_F_FAST ? " (by reference)" : "");
	ok(dropped && corrupted, "%s: %llu cells dropped, %llu corrupted of %llu", name,
	   (ull)dropped, (ull)corrupted, (ull)sg.cells);
	is(bad >= corrupted, 1, "%s: every corrupted copy was noticed", name);
	ok(resent >= dropped / 2, "%s: %llu retransmissions", name, (ull)resent);
	ok(l.retransmissions >= resent, "%s: the trace shows them", name);
	diag("%llu cells seen twice, %llu cycles, %.2f s, %.1f million cycles/s, %.0f messages/s",
	     (ull)dup, (ull)pw_fabric_now(l.f), secs, pw_fabric_now(l.f) / secs / 1e6,
	     l.sent / secs);
	free(mem);
}

int main(void)
{
	loss(PW_FABRIC_F_FAST, "fast", tap_scaled(10000), 3000, 0);
	loss(PW_FABRIC_F_FAST, "fast, short timer", tap_scaled(1000), 1500, 60000);
	/* fewer would meet no fault of each kind */
	loss(0, "rtl", max(tap_scaled(200), 80UL), 1000, 6000);
	return tap_done();
}
