// SPDX-License-Identifier: GPL-2.0
/* Whole messages through the fabric: closed-form delay, published table, both engines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fabric/fabric.h"
#include "fabric/fabric_fault.h"
#include "tap.h"

typedef unsigned long long ull;

#define MAXMSG 4096

struct record {
	u64 delivered[16];
	u32 times;		/* that it was handed over */
	struct pw_fabric_times t;
	bool done;
};

struct run {
	struct pw_fabric *f;
	struct record *rec;
};

static void deliver(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
		    const struct pw_fabric_times *t)
{
	struct record *rec = &((struct run *)ctx)->rec[cookie];

	rec->delivered[dst] = cycle;
	rec->times++;
}

static void done(void *ctx, u16 src, u64 cookie, u64 cycle, const struct pw_fabric_times *t)
{
	struct run *r = ctx;

	r->rec[cookie].done = true;
	r->rec[cookie].t = *t;
}

static const struct pw_fabric_ops ops = {
	.deliver = deliver, .done = done,
};

static void open_run(struct run *r, const struct pw_fabric_params *p)
{
	void *mem = pw_fabric_check(p) ? NULL : malloc(pw_fabric_size(p));

	if (!mem)
		abort();
	memset(mem, 0xa5, pw_fabric_size(p));
	r->rec = calloc(MAXMSG, sizeof(*r->rec));
	r->f = pw_fabric_init(mem, p, &ops, r);
}

static void close_run(struct run *r)
{
	free(r->rec);
	free(r->f);
	memset(r, 0, sizeof(*r));
}

static int send(struct run *r, u64 cookie, u16 src, u16 dst, int path, u32 len)
{
	return pw_fabric_send(r->f, src, dst, path, len, cookie, NULL);
}

/* ---- one message at a time: the closed form ---- */

static u64 one(struct run *r, u64 cookie, u16 src, u16 dst, u32 len)
{
	u64 start = pw_fabric_now(r->f);

	if (send(r, cookie, src, dst, PW_FABRIC_AUTO, len))
		return 0;
	while (!r->rec[cookie].done && pw_fabric_next(r->f) != PW_FABRIC_NEVER)
		pw_fabric_run(r->f, pw_fabric_now(r->f) + 4096, 4096);
	/* let the receiver forget the message: the search would step over it */
	pw_fabric_run(r->f, pw_fabric_now(r->f) + 8192, 100000);
	return r->rec[cookie].delivered[dst] - start;
}

static void closed_form(u32 flags, const char *name, u32 step)
{
	struct pw_fabric_params p = { .flags = flags | PW_FABRIC_F_DEVICE };
	unsigned int n = 0, bad = 0;
	struct run r = {};

	open_run(&r, &p);
	is(one(&r, 0, 0, 5, 4), 193, "%s: 4 bytes take 193 cycles", name);
	is(r.rec[0].t.segmented - r.rec[0].t.start, 55, "%s: 55 cycles to the cell ready", name);
	is(r.rec[0].t.first_out - r.rec[0].t.start, 58, "%s: 58 to its first byte", name);
	is(r.rec[0].t.first_in - r.rec[0].t.start, 129, "%s: 129 to its last byte taken in", name);
	is(r.rec[0].t.reassembled - r.rec[0].t.start, 152, "%s: 152 to the message", name);
	for (u32 len = 0; len <= 2000; len += len < 120 ? 1 : step) {
		u64 d = one(&r, ++n, 0, 4 + len % 12, len);

		if (d != pw_fabric_delay(len) && bad++ < 5)
			diag("%u bytes: %llu instead of %llu", len, (ull)d,
			     (ull)pw_fabric_delay(len));
	}
	is(bad, 0, "%s: closed form for %u sizes up to 2000 bytes", name, n);
	is(one(&r, ++n, 3, 9, 4), 193 + 12, "%s: a sender at port 3 costs 4 cycles per port passed",
	   name);
	close_run(&r);
}

static void table_11_1(u32 flags, const char *name, u32 max)
{
	struct pw_fabric_params p = { .flags = flags | PW_FABRIC_F_DEVICE };
	FILE *f = fopen(PW_GOLDEN "/T11/table_11_1.csv", "r");
	unsigned int len, measured, theory, rows = 0, cookie = 0;
	struct run r = {};
	char line[100];

	if (!ok(f, "table 11.1 is there"))
		return;
	open_run(&r, &p);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%u,%u,%u", &len, &measured, &theory) != 3 || len > max)
			continue;
		rows++;
		/* printed with the header bytes forgotten: one cell less */
		if (len == 45000)
			theory += 10 + 61;
		is(one(&r, cookie++, 0, 5, len), theory, "%s: table 11.1, %u bytes", name, len);
	}
	fclose(f);
	ok(rows, "%s: %u rows of table 11.1", name, rows);
	is(one(&r, cookie++, 0, 5, 65600), pw_fabric_delay(65600), "%s: 65600 bytes fit", name);
	is(send(&r, cookie, 0, 5, PW_FABRIC_AUTO, 65601), -EMSGSIZE, "%s: 65601 do not", name);
	close_run(&r);
}

/* ---- to all, however long ---- */

/* the last delivery of a broadcast, 0 if it did not reach all or needed a cell twice */
static u64 broadcast(u32 flags, u32 k, u32 len)
{
	struct pw_fabric_params p = { .k = k, .flags = flags | PW_FABRIC_F_DEVICE };
	u64 last = 0, limit = 400000000;
	struct pw_aal_stats s;
	struct run r = {};

	open_run(&r, &p);
	if (send(&r, 0, 1, PW_FABRIC_ALL, PW_FABRIC_AUTO, len))
		abort();
	while (!r.rec[0].done && pw_fabric_now(r.f) < limit)
		pw_fabric_run(r.f, pw_fabric_now(r.f) + 4096, 4096);
	pw_fabric_port_stats(r.f, 1, &s);
	if (r.rec[0].done && r.rec[0].times == k * k - 1 && !s.resent && !s.stray_ack)
		last = r.rec[0].t.delivered;
	else
		diag("%u of %u have it, %llu cells were sent again, %llu acknowledgments in vain",
		     r.rec[0].times, k * k - 1, (ull)s.resent, (ull)s.stray_ack);
	close_run(&r);
	return last;
}

/*
 * Every cell has as many acknowledgments as there are ports; sent again while they wait,
 * it has twice as many, and so on for ever.
 */
static void broadcasts(void)
{
	u32 len = tap_scaled(100) > 100 ? 20000 : 6000;
	u64 rtl = broadcast(0, 2, len);

	ok(rtl, "rtl: a broadcast of %u bytes reaches 4 ports, no cell goes twice", len);
	is(broadcast(PW_FABRIC_F_FAST, 2, len), rtl, "and takes as long in fast");
	for (u32 k = 2; k <= 4; k++)
		ok(broadcast(PW_FABRIC_F_FAST, k, 65600),
		   "a broadcast of 65600 bytes reaches %u ports, no cell goes twice", k * k);
}

/* ---- what is under way when the fabric goes ---- */

static void flush(u32 flags, const char *name)
{
	struct pw_fabric_params p = { .flags = flags | PW_FABRIC_F_DEVICE };
	u32 n = 60, cut, i, wrong = 0, early = 0;
	struct run r;

	for (cut = 0; cut < 20; cut++) {
		open_run(&r, &p);
		pw_fabric_attach(r.f, 3, false);
		for (i = 0; i < n; i++)
			if (send(&r, i, i % 7, i % 5 ? (i + 3) % 16 : PW_FABRIC_ALL, -1, 20 * i))
				abort();
		pw_fabric_run(r.f, 1500 * cut, U32_MAX);
		for (i = 0; i < n; i++)
			early += r.rec[i].done;
		pw_fabric_flush(r.f, U32_MAX);
		for (i = 0; i < n; i++) {
			u32 want = i % 5 ? (i + 3) % 16 != 3 : i % 7 == 3 ? 15 : 14;

			wrong += !r.rec[i].done || r.rec[i].times != want;
		}
		close_run(&r);
	}
	ok(!wrong && early && early < n * cut,
	   "%s: all of %u messages were handed over once, %u of them before the flush", name,
	   n * cut, early);
}

/* ---- large cycles in parts ---- */

struct digest {
	u64 hash;
	u32 delivered;
};

static void digest_add(struct digest *d, u64 v)
{
	d->hash = (d->hash ^ v) * 0x100000001b3ULL;
}

static void digest_deliver(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
			   const struct pw_fabric_times *t)
{
	struct digest *d = ctx;

	d->delivered++;
	digest_add(d, cycle);
	digest_add(d, (u64)dst << 48 | (u64)src << 32 | cookie);
}

static void digest_done(void *ctx, u16 src, u64 cookie, u64 cycle, const struct pw_fabric_times *t)
{
	digest_add(ctx, cycle);
	digest_add(ctx, cookie);
}

static void digest_trace(void *ctx, const struct pw_fabric_trace *t)
{
	digest_add(ctx, t->cycle);
	digest_add(ctx, (u64)t->ev << 32 | t->unit);
}

static void digest_cell(void *ctx, u32 unit, u64 cycle, bool lost, const u8 *cell)
{
	digest_add(ctx, cycle);
	digest_add(ctx, (u64)lost << 32 | unit);
}

static enum pw_bmx_fault digest_fault(void *ctx, u32 ppd, u64 t)
{
	static const struct pw_fabric_faults faults = { 500, 500, 3 };

	return pw_fabric_fault(&faults, ppd, t);
}

/* broadcasts of all sizes and messages from all ports; returns how often a cycle was left */
static u32 run_in_parts(bool parts, const struct pw_fabric_params *p, u32 n, struct digest *d)
{
	static const struct pw_fabric_ops digest_ops = {
		.deliver = digest_deliver, .done = digest_done, .trace = digest_trace,
		.cell = digest_cell, .fault = digest_fault,
	};
	u32 i, inside = 0, ports = pw_fabric_ports(p);
	bool rtl = !(p->flags & PW_FABRIC_F_FAST);
	void *mem = malloc(pw_fabric_size(p));
	struct pw_fabric *f;

	*d = (struct digest) { .hash = 14695981039346656037ULL };
	f = pw_fabric_init(mem, p, &digest_ops, d);
	pw_fabric_callbacks(f, rtl, rtl);
	pw_fabric_tap(f, rtl);
	for (i = 0; i < n; i++)
		if (pw_fabric_send(f, i * 37 % ports, i % 4 ? i * 91 % ports : PW_FABRIC_ALL,
				   PW_FABRIC_AUTO, 50 * i, i, NULL))
			abort();
	while (pw_fabric_next(f) != PW_FABRIC_NEVER) {
		if (!parts) {
			pw_fabric_run(f, pw_fabric_now(f) + 4096, U32_MAX);
		} else if (!pw_fabric_run_part(f, pw_fabric_now(f) + 4096, 1)) {
			u32 stage = inside++ % 4;
			struct pw_fabric_stage st;

			/* looking at it changes nothing */
			pw_fabric_stage(f, stage, &st);
			pw_fabric_lone(f, U64_MAX);
		}
	}
	free(mem);
	return inside;
}

static void parts(void)
{
	/* rtl has 108 input units: two parts for most steps */
	static const struct pw_fabric_params p[] = {
		{ .k = 16, .flags = PW_FABRIC_F_FAST | PW_FABRIC_F_DEVICE },
		{ .k = 6, .flags = PW_FABRIC_F_DEVICE, .resend = 5000,
		  .route = PW_AAL_ROUTE_LEAST },
	};
	u32 i, inside, ports, n = max_t(u32, 8, tap_scaled(40));
	struct digest whole, part;

	for (i = 0; i < ARRAY_SIZE(p); i++) {
		if (i)
			n = 8;
		ports = pw_fabric_ports(&p[i]);
		run_in_parts(false, &p[i], n, &whole);
		inside = run_in_parts(true, &p[i], n, &part);
		ok(inside > 1000 && whole.delivered == part.delivered &&
		   whole.delivered >= n / 4 * (ports - 1) && whole.hash == part.hash,
		   "%u ports: a cycle left %u times gives the same %u arrivals and cycles", ports,
		   inside, part.delivered);
	}
}

int main(void)
{
	parts();
	flush(0, "rtl");
	flush(PW_FABRIC_F_FAST, "fast");
	broadcasts();
	closed_form(0, "rtl", tap_scaled(100) > 100 ? 1 : 397);
	closed_form(PW_FABRIC_F_FAST, "fast", tap_scaled(100) >= 40 ? 1 : 7);
	table_11_1(0, "rtl", tap_scaled(100) > 100 ? 65000 : 1000);
	table_11_1(PW_FABRIC_F_FAST, "fast", 65000);
	return tap_done();
}
