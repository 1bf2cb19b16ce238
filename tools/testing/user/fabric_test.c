// SPDX-License-Identifier: GPL-2.0
/* Whole messages through the fabric: closed-form delay, both engines, faults. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fabric.h"
#include "tap.h"

typedef unsigned long long ull;

#define MAXMSG 4096
#define DEV PW_FABRIC_F_DEVICE

/* what a message should carry: a function of its number and the position */
static u8 pattern(u64 cookie, u32 off)
{
	u32 v = (u32)cookie * 2654435761u + off * 40503u;

	return v >> 13 ^ v >> 21;
}

struct record {
	u64 delivered[16];
	u16 src, dst;
	u32 len;
	u64 hash;
	struct pw_fabric_times t;
	bool done;
};

struct run {
	struct pw_fabric *f;
	struct record *rec;
	u64 expect[16][16];	/* next number per pair */
	unsigned int delivered, done, wrong, disorder, rooms;
	u64 hash;		/* over all deliveries, in order */
	unsigned int drop, corrupt;	/* per 1000 cells and hop 0 */
	u64 seed;
};

static void mix(struct run *r, u64 v)
{
	r->hash = (r->hash ^ v) * 0x9e3779b97f4a7c15ull;
	r->hash ^= r->hash >> 29;
}

static void deliver(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
		    const struct pw_fabric_times *t)
{
	struct run *r = ctx;
	struct record *rec = &r->rec[cookie];

	r->delivered++;
	if (rec->src != src || rec->len != len || rec->delivered[dst] ||
	    (rec->dst != dst && rec->dst != PW_FABRIC_ALL))
		r->wrong++;
	rec->delivered[dst] = cycle;
	if (r->expect[src][dst] > cookie)
		r->disorder++;
	r->expect[src][dst] = cookie + 1;
	mix(r, cycle << 16 | dst << 8 | src);
	mix(r, cookie);
}

static void done(void *ctx, u16 src, u64 cookie, u64 cycle, const struct pw_fabric_times *t)
{
	struct run *r = ctx;

	r->done++;
	r->rec[cookie].done = true;
	r->rec[cookie].t = *t;
	mix(r, t->start);
	mix(r, t->segmented);
	mix(r, t->first_out);
	mix(r, t->first_in);
	mix(r, t->reassembled);
	mix(r, t->acked);
	mix(r, cycle ^ cookie << 40);
}

static void room(void *ctx, u16 src, u64 cycle)
{
	struct run *r = ctx;

	r->rooms++;
	mix(r, cycle << 8 | src);
}

static void fetch(void *ctx, u16 src, u64 cookie, u32 off, u8 *buf, u32 n)
{
	for (u32 i = 0; i < n; i++)
		buf[i] = pattern(cookie, off + i);
}

/* depends on place and time only, so both engines see the same faults */
static enum pw_bmx_fault fault(void *ctx, u32 ppd, u64 t)
{
	struct run *r = ctx;
	u64 s = (r->seed ^ (t * 1000003 + ppd)) * 0x9e3779b97f4a7c15ull;
	unsigned int v;

	if (ppd >= 16)
		return PW_BMX_FAULT_NONE;
	s ^= s >> 31;
	s *= 0xbf58476d1ce4e5b9ull;
	v = (s >> 33) % 1000;
	if (v < r->drop)
		return PW_BMX_FAULT_DROP;
	return v < r->drop + r->corrupt ? PW_BMX_FAULT_CORRUPT : PW_BMX_FAULT_NONE;
}

static const struct pw_fabric_ops ops = {
	.deliver = deliver, .done = done, .room = room, .fetch = fetch,
};
static const struct pw_fabric_ops ops_fault = {
	.deliver = deliver, .done = done, .room = room, .fetch = fetch, .fault = fault,
};

static void open_run(struct run *r, const struct pw_fabric_params *p, bool faults)
{
	void *mem = pw_fabric_check(p) ? NULL : malloc(pw_fabric_size(p));

	if (!mem)
		abort();
	memset(mem, 0xa5, pw_fabric_size(p));
	r->rec = calloc(MAXMSG, sizeof(*r->rec));
	r->hash = 1;
	r->f = pw_fabric_init(mem, p, faults ? &ops_fault : &ops, r);
}

static void close_run(struct run *r)
{
	free(r->rec);
	free(r->f);
	memset(r, 0, sizeof(*r));
}

static int send(struct run *r, u64 cookie, u16 src, u16 dst, int route, u32 len)
{
	int err = pw_fabric_send(r->f, src, dst, route, len, cookie, NULL);

	if (!err) {
		r->rec[cookie].src = src;
		r->rec[cookie].dst = dst;
		r->rec[cookie].len = len;
	}
	return err;
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

	open_run(&r, &p, false);
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
	open_run(&r, &p, false);
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

/* ---- random traffic, the two engines side by side ---- */

struct mix {
	unsigned int messages, ports, maxlen, broadcast, gap, drop, corrupt;
	u32 flags, ic_blocks, og_blocks, resend, queue, keep, k, depth, credit;
	bool hot;	/* nearly everything goes to port 0 */
	const char *name;
};

static u64 drive(struct run *r, const struct mix *m, u64 seed, u64 *cycles)
{
	unsigned int ports = m->ports ? m->ports : 16, k = m->k ? m->k : 4;
	unsigned long long rnd = seed;
	u64 at = 0;
	unsigned int sent = 0;

	while (sent < m->messages) {
		u16 src = tap_rand(&rnd) % ports;
		u16 dst = tap_rand(&rnd) % ports;
		u32 len = tap_rand(&rnd) % 4 ? tap_rand(&rnd) % (m->maxlen + 1) :
					       tap_rand(&rnd) % 40;
		int route = tap_rand(&rnd) % 8 ? PW_FABRIC_AUTO : (int)(tap_rand(&rnd) % k);

		if (tap_rand(&rnd) % 100 < m->broadcast)
			dst = PW_FABRIC_ALL;
		else if (m->hot && tap_rand(&rnd) % 8)
			dst = 0;
		at += tap_rand(&rnd) % (m->gap + 1);
		while (pw_fabric_now(r->f) < at)
			pw_fabric_run(r->f, at, 1000);
		while (send(r, sent, src, dst, route, len) == -EBUSY) {
			at = pw_fabric_now(r->f) + 100;
			while (pw_fabric_now(r->f) < at)
				pw_fabric_run(r->f, at, 1000);
		}
		sent++;
		if (sent % 16 == 0)
			for (u32 i = 0; i < 3 * k * k * k; i++)
				mix(r, pw_fabric_qsize(r->f, i / k, i % k));
	}
	for (u64 limit = at + 50000000; pw_fabric_now(r->f) < limit;) {
		u64 next = pw_fabric_next(r->f);

		if (next == PW_FABRIC_NEVER || r->done == sent)
			break;
		at = pw_fabric_now(r->f) + 1000;
		while (pw_fabric_now(r->f) < at)
			pw_fabric_run(r->f, at, 1000);
	}
	*cycles = pw_fabric_now(r->f);
	for (u32 i = 0; i < k * k; i++) {
		struct pw_aal_stats s;

		pw_fabric_port_stats(r->f, i, &s);
		for (u32 j = 0; j < sizeof(s) / 8; j++)
			mix(r, ((u64 *)&s)[j]);
	}
	for (u32 i = 0; i < 4; i++) {
		struct pw_fabric_stage s;

		pw_fabric_stage(r->f, i, &s);
		mix(r, s.cells);
		mix(r, s.refused);
		mix(r, s.dropped);
		mix(r, s.corrupted);
	}
	return r->hash;
}

static u64 compared;

struct sums {
	unsigned int rounds, rtl_bad, fast_bad, differ, delivered;
	u64 cycles, resent, ahead, stray, busy, overrun;
};

static void show_difference(const struct run *a, const struct run *b, unsigned int i, int d)
{
	const struct pw_fabric_times *x = &a->rec[i].t, *y = &b->rec[i].t;

	diag("message %u (%u to %u, %u bytes) at %d: rtl %llu fast %llu", i, a->rec[i].src,
	     a->rec[i].dst, a->rec[i].len, d, (ull)a->rec[i].delivered[d],
	     (ull)b->rec[i].delivered[d]);
	diag("  rtl  %llu %llu %llu %llu %llu %llu", (ull)x->start, (ull)x->segmented,
	     (ull)x->first_out, (ull)x->first_in, (ull)x->reassembled, (ull)x->acked);
	diag("  fast %llu %llu %llu %llu %llu %llu", (ull)y->start, (ull)y->segmented,
	     (ull)y->first_out, (ull)y->first_in, (ull)y->reassembled, (ull)y->acked);
}

static void differ(const struct mix *m, u64 seed, struct sums *sum)
{
	struct pw_fabric_params p = {
		.k = m->k, .depth = m->depth, .flags = m->flags, .ic_blocks = m->ic_blocks,
		.og_blocks = m->og_blocks, .resend = m->resend, .queue = m->queue, .keep = m->keep,
		.credit = m->credit,
	};
	unsigned int shown = 0, want = m->flags & PW_FABRIC_F_DEVICE ? m->messages : 0;
	struct run a = {}, b = {};
	struct pw_fabric_stats st;
	struct pw_aal_stats s;
	u64 ca, cb;

	a.seed = seed;
	b.seed = seed;
	a.drop = m->drop;
	b.drop = m->drop;
	a.corrupt = m->corrupt;
	b.corrupt = m->corrupt;
	open_run(&a, &p, m->drop || m->corrupt);
	p.flags |= PW_FABRIC_F_FAST;
	open_run(&b, &p, m->drop || m->corrupt);
	drive(&a, m, seed, &ca);
	drive(&b, m, seed, &cb);
	pw_fabric_stats(a.f, &st);
	sum->rounds++;
	sum->cycles += ca;
	sum->delivered += a.delivered;
	sum->busy += st.busy;
	compared += ca;
	/* the published machine may forget messages nobody read in time */
	sum->rtl_bad += (want && a.done != want) || a.wrong || a.disorder || st.mismatch;
	sum->fast_bad += (want && b.done != want) || b.wrong || b.disorder;
	for (u32 i = 0; i < pw_fabric_ports(a.f); i++) {
		pw_fabric_port_stats(a.f, i, &s);
		sum->resent += s.resent;
		sum->stray += s.stray_ack;
		sum->ahead += s.ahead;
		sum->overrun += s.overrun;
	}
	if (a.hash != b.hash || a.delivered != b.delivered) {
		sum->differ++;
		diag("seed %llu: rtl %u fast %u done", (ull)seed, a.done, b.done);
		for (unsigned int i = 0; i < m->messages && shown < 3; i++)
			for (int d = 0; d < 16 && shown < 3; d++)
				if (a.rec[i].delivered[d] != b.rec[i].delivered[d] ||
				    memcmp(&a.rec[i].t, &b.rec[i].t, sizeof(a.rec[i].t))) {
					show_difference(&a, &b, i, d);
					shown++;
				}
		for (u32 i = 0; i < pw_fabric_ports(a.f); i++) {
			struct pw_aal_stats t;

			pw_fabric_port_stats(a.f, i, &s);
			pw_fabric_port_stats(b.f, i, &t);
			for (u32 j = 0; j < sizeof(s) / 8 && shown < 6; j++)
				if (((u64 *)&s)[j] != ((u64 *)&t)[j]) {
					diag("port %u counter %u: rtl %llu fast %llu", i, j,
					     (ull)((u64 *)&s)[j], (ull)((u64 *)&t)[j]);
					shown++;
				}
		}
	}
	close_run(&a);
	close_run(&b);
}

static void differ_rounds(const struct mix *m, unsigned int rounds)
{
	struct sums s = {};

	for (unsigned int i = 0; i < rounds; i++)
		differ(m, 1000003 * (i + 1) + m->messages, &s);
	is(s.rtl_bad, 0, "%s: rtl delivers everything once, in order, intact", m->name);
	is(s.fast_bad, 0, "%s: so does fast", m->name);
	is(s.differ, 0, "%s: same cycles, counters and queue sizes over %llu cycles", m->name,
	   (ull)s.cycles);
	diag("%u rounds, %u deliveries, %llu cells sent again, %llu kept for later, %llu stray acknowledgments, %llu refusals of send, %llu overruns",
	     s.rounds, s.delivered, (ull)s.resent, (ull)s.ahead, (ull)s.stray, (ull)s.busy,
	     (ull)s.overrun);
}

int main(void)
{
	static const struct mix mixes[] = {
		{ .name = "sparse", .messages = 100, .maxlen = 200, .gap = 4000, .flags = DEV },
		{ .name = "busy", .messages = 200, .maxlen = 600, .gap = 200, .flags = DEV },
		{ .name = "crowded", .messages = 200, .maxlen = 100, .gap = 20, .flags = DEV },
		{ .name = "broadcast", .messages = 40, .maxlen = 300, .broadcast = 40, .gap = 2000,
		  .flags = DEV | PW_FABRIC_F_SELF },
		{ .name = "two ports", .messages = 60, .ports = 2, .maxlen = 1500, .gap = 100,
		  .flags = DEV },
		{ .name = "lossy", .messages = 150, .maxlen = 300, .gap = 300, .drop = 10,
		  .corrupt = 10, .resend = 8000, .flags = DEV },
		{ .name = "lossy broadcast", .messages = 40, .maxlen = 200, .broadcast = 30,
		  .gap = 1000, .drop = 20, .corrupt = 20, .resend = 20000, .flags = DEV },
		{ .name = "small buffers", .messages = 100, .ports = 6, .maxlen = 700, .gap = 50,
		  .ic_blocks = 200, .og_blocks = 40, .queue = 4, .flags = DEV },
		{ .name = "small lossy buffers", .messages = 100, .ports = 6, .maxlen = 700,
		  .gap = 50, .ic_blocks = 200, .og_blocks = 40, .queue = 4, .drop = 20,
		  .corrupt = 20, .resend = 5000, .flags = DEV },
		{ .name = "impatient sender", .messages = 80, .ports = 8, .maxlen = 900, .gap = 100,
		  .resend = 900, .flags = DEV },
		{ .name = "overrun", .messages = 100, .ports = 8, .maxlen = 700, .gap = 30,
		  .ic_blocks = 128, .resend = 700, .queue = 8, .hot = true,
		  .flags = DEV },
		{ .name = "published", .messages = 120, .maxlen = 300, .gap = 600, .keep = 3000,
		  .broadcast = 10 },
		{ .name = "published, full", .messages = 80, .ports = 5, .maxlen = 600, .gap = 300,
		  .keep = 2000, .ic_blocks = 60, .og_blocks = 60 },
		{ .name = "published, lossy", .messages = 80, .maxlen = 300, .gap = 600,
		  .keep = 3000, .drop = 10, .corrupt = 10, .resend = 9000 },
		{ .name = "2 x 2 switches, short queues", .messages = 80, .k = 2, .depth = 2,
		  .ports = 4, .maxlen = 400, .broadcast = 10, .gap = 200, .flags = DEV },
		{ .name = "3 x 3 switches, lossy", .messages = 80, .k = 3, .depth = 3, .ports = 9,
		  .maxlen = 400, .broadcast = 10, .gap = 300, .drop = 10, .corrupt = 10,
		  .resend = 9000, .flags = DEV },
	};

	closed_form(0, "rtl", tap_scaled(100) > 100 ? 1 : 397);
	closed_form(PW_FABRIC_F_FAST, "fast", 1);
	table_11_1(0, "rtl", tap_scaled(100) > 100 ? 65000 : 1000);
	table_11_1(PW_FABRIC_F_FAST, "fast", 65000);
	for (unsigned int i = 0; i < ARRAY_SIZE(mixes); i++)
		differ_rounds(&mixes[i], tap_scaled(100) / 100 ? tap_scaled(100) / 100 : 1);
	diag("%llu cycles compared", (ull)compared);
	return tap_done();
}
