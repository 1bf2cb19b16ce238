// SPDX-License-Identifier: GPL-2.0
/*
 * ATON: arbitrary calls on both engines, which must agree; and arbitrary noise on
 * the wires of the rtl engine, after which every command must still end and, when
 * the noise stops, the ring must work.
 */
#include <stdint.h>
#include <stdlib.h>
#include "ring/ring_priv.h"

#define N 9
#define CMDS 8

struct rig {
	void *mem;
	struct pw_ring *ring;
	struct pw_ring_sender port[N];
	struct pw_ring_cmd cmd[CMDS];
	u64 out[CMDS][N];
	u32 parts[CMDS][64];
	u32 ncmd;
};

static const uint8_t *in, *in_end;

static u32 get(u32 n)
{
	return (in < in_end ? *in++ : 0) % n;
}

static void make(struct rig *r, int engine, u32 n, u32 propagation, u32 kind)
{
	struct pw_ring_params p = {
		.engine = engine, .nregs = 2, .capacity = N, .propagation = propagation,
		.max_bytes = 8, .release = kind & 1, .width = kind >> 1 & 63,
		.bitsum = kind & 128 ? PW_RING_BITSUM_FIT : 0,
	};
	u32 i;

	memset(r, 0, sizeof(*r));
	r->mem = malloc(pw_ring_size(&p));
	if (!r->mem)
		abort();
	r->ring = pw_ring_init(r->mem, &p);
	for (i = 0; i < n; i++) {
		pw_ring_attach(r->ring, i, 1, i + 1, 1u << i);
		pw_ring_bind(r->ring, i, &r->port[i]);
	}
}

static void cook(struct pw_ring_cmd *c)
{
	static const u8 data[8] = "eight by";
	u32 i;

	memset(c, 0, sizeof(*c));
	c->op = get(20);
	c->reg = get(3);
	c->mods = get(4);
	c->dst = get(3) ? PW_ATON_RING : get(2) ? get(N) : PW_ATON_GROUP | get(256);
	c->heights = get(5);
	for (i = 0; i < 5; i++)
		c->ops[i] = get(7);
	c->len = get(10);
	c->data = data;
	c->room = get(N + 1);
	c->comparand = get(4);
	c->when = get(256);
}

static void submit(struct rig *r, u32 interface, const struct pw_ring_cmd *c, u64 base)
{
	struct pw_ring_cmd *d = &r->cmd[r->ncmd];

	*d = *c;
	d->when += base;
	d->out = r->out[r->ncmd];
	d->parts = r->parts[r->ncmd];
	d->cookie = r->ncmd;
	if (!pw_ring_submit(r->ring, interface, d))
		r->ncmd++;
}

static void settle(struct rig *r)
{
	while (pw_ring_run(r->ring, ~0ULL, 1 << 16) == PW_RING_MORE)
		;
}

static void agree(struct rig *a, struct rig *b)
{
	struct pw_ring_cmd *x, *y;

	for (;;) {
		x = pw_ring_reap(a->ring);
		y = pw_ring_reap(b->ring);
		if (!x != !y)
			abort();
		if (!x)
			break;
		if (x->cookie != y->cookie || x->err != y->err || x->wait != y->wait ||
		    x->ring_bits != y->ring_bits || x->v1 != y->v1 || x->v2 != y->v2 ||
		    x->counter != y->counter || x->flags != y->flags)
			abort();
	}
	if (pw_ring_now(a->ring) != pw_ring_now(b->ring))
		abort();
	a->ncmd = 0;
	b->ncmd = 0;
}

static void both(void)
{
	u32 n = 1 + get(N), p = get(4) ? 0 : get(64), kind = get(256), interface;
	struct pw_ring_fault f = { 0 };
	struct pw_ring_cmd c;
	struct rig a, b;
	int rounds = 40;

	make(&a, PW_RING_RTL, n, p, kind);
	make(&b, PW_RING_FAST, n, p, kind);
	while (in < in_end && rounds--) {
		u64 now = pw_ring_now(a.ring);
		u64 until;

		switch (get(8)) {
		case 0:
			interface = get(n);
			f.at = get(2);
			pw_ring_set_up(a.ring, interface, f.at);
			pw_ring_set_up(b.ring, interface, f.at);
			break;
		case 1:
			f.kind = get(6);
			f.hop = get(N);
			f.bit = get(256) * (1 + get(3));
			f.at = now + get(256);
			if (pw_ring_fault(a.ring, &f) != pw_ring_fault(b.ring, &f))
				abort();
			break;
		case 2:
			interface = get(n);
			f.at = get(256);
			pw_ring_set_operand(a.ring, interface, 0, -f.at);
			pw_ring_set_operand(b.ring, interface, 0, -f.at);
			break;
		case 3:
			until = now + get(256) * 4;
			pw_ring_run(a.ring, until, 1u << 30);
			pw_ring_run(b.ring, until, 1u << 30);
			if (pw_ring_now(a.ring) != pw_ring_now(b.ring))
				abort();
			break;
		default:
			cook(&c);
			interface = get(n);
			submit(&a, interface, &c, now);
			submit(&b, interface, &c, now);
		}
		if (a.ncmd == CMDS) {
			settle(&a);
			settle(&b);
			agree(&a, &b);
		}
	}
	settle(&a);
	settle(&b);
	agree(&a, &b);
	free(a.mem);
	free(b.mem);
}

static void noise(void)
{
	u32 n = 1 + get(N), i, ended = 0, kind = get(256);
	struct pw_ring_cmd c = { 0 };
	struct rig r;

	make(&r, PW_RING_RTL, n, 1, kind);
	for (i = 0; i < CMDS; i++) {
		cook(&c);
		submit(&r, get(n), &c, 0);
	}
	while (in < in_end) {
		u8 sym = get(256);

		if (pw_ring_run(r.ring, ~0ULL, n * (1 + (sym >> 2))) == PW_RING_IDLE)
			break;
		r.ring->rtl.wire[get(n)] = sym & 3;
	}
	settle(&r);
	while (pw_ring_reap(r.ring))
		ended++;
	if (ended != r.ncmd)
		abort();
	/* remnants may still destroy one token; a second command must do */
	for (i = 0; i < 2; i++) {
		r.ncmd = 0;
		c = (struct pw_ring_cmd){ .op = PW_ATON_ADD, .dst = PW_ATON_RING };
		submit(&r, 0, &c, pw_ring_now(r.ring));
		settle(&r);
		if (pw_ring_reap(r.ring) != &r.cmd[0])
			abort();
	}
	if (r.cmd[0].err || r.cmd[0].counter != n)
		abort();
	free(r.mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 4 || size > 4096)
		return 0;
	in = data + 1;
	in_end = data + size;
	if (data[0] & 1)
		noise();
	else
		both();
	return 0;
}
