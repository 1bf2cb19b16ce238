// SPDX-License-Identifier: GPL-2.0
/*
 * Mute interfaces: they send, and are in no region of a command; passive packets reach them. Both engines give the same results at the
 * same bit times, and these are those of a plain loop over the interfaces that are not mute.
 */
#include <stdlib.h>
#include <string.h>
#include "ring/ring_priv.h"
#include "tap.h"

#define MAXN	200

static unsigned long long state = 2026;

static u32 rnd(u32 n)
{
	return tap_rand(&state) % n;
}

static struct {
	u32 n;
	bool mute[MAXN], up[MAXN];
	u64 x[MAXN], bank[MAXN][PW_ATON_REGS];
	bool mapped[MAXN];
	struct pw_ring *ring[2];
	struct pw_ring_sender sender[2][MAXN];
} w;

/* which interfaces a passive packet has reached, on both rings, and the last bit time */
static u32 reached[2][MAXN];
static u64 reached_at[2];

static void deliver(void *ctx, u32 interface, const struct pw_ring_cmd *cmd, u64 when)
{
	reached[(uintptr_t)ctx][interface]++;
	reached_at[(uintptr_t)ctx] = when;
}

static struct pw_ring *new_ring(u8 engine, u32 capacity)
{
	struct pw_ring_params p = {
		.engine = engine, .nregs = 1, .capacity = capacity, .max_bytes = 64,
		.queue_sender = 1, .queue_ring = 1, .deliver = deliver,
		.ctx = (void *)(uintptr_t)(engine == PW_RING_FAST),
	};

	return pw_ring_init(malloc(pw_ring_size(&p)), &p);
}

static void make(void)
{
	u32 i, k;

	w.n = 1 + rnd(MAXN);
	for (i = 0; i < w.n; i++) {
		w.mute[i] = !rnd(3);
		w.up[i] = rnd(5) != 0;
		w.mapped[i] = rnd(2);
		w.x[i] = rnd(2) ? rnd(8) : tap_rand(&state);
		w.bank[i][0] = w.x[i];
	}
	for (k = 0; k < 2; k++) {
		w.ring[k] = new_ring(k ? PW_RING_FAST : PW_RING_RTL, w.n);
		pw_ring_attach(w.ring[k], 0, w.n, 1, 0);
		for (i = 0; i < w.n; i++) {
			w.sender[k][i] = (struct pw_ring_sender) {
				.operands = w.mapped[i] ? w.bank[i] : NULL,
			};
			pw_ring_bind(w.ring[k], i, &w.sender[k][i]);
			pw_ring_set_operand(w.ring[k], i, 0, w.x[i]);
			pw_ring_set_mute(w.ring[k], i, w.mute[i]);
			pw_ring_set_up(w.ring[k], i, w.up[i]);
		}
	}
}

/* what a command with a comparand must give */
static void plain(u32 t, struct pw_ring_cmd *c)
{
	u32 i, k;

	c->v1 = c->op == PW_ATON_AND || c->op == PW_ATON_MIN ? ~0ULL : 0;
	if (c->op >= PW_ATON_COUNT_EQ)
		c->v1 = c->comparand;
	for (k = 0; k < w.n; k++) {
		i = (t + k) % w.n;
		if (!w.up[i] || w.mute[i] || (c->dst != PW_ATON_RING && c->dst != 1 + i))
			continue;
		c->counter++;
		switch (c->op) {
		case PW_ATON_ADD:
			c->v1 += w.x[i];
			break;
		case PW_ATON_AND:
			c->v1 &= w.x[i];
			break;
		case PW_ATON_OR:
			c->v1 |= w.x[i];
			break;
		case PW_ATON_MAX:
		case PW_ATON_MIN:
			if (c->op == PW_ATON_MAX ? w.x[i] >= c->v1 : w.x[i] <= c->v1) {
				c->v1 = w.x[i];
				c->v2 = 1 + i;
			}
			break;
		default:
			c->v2 += pw_aton_relation(c->op, false, PW_ATON_WIDTH, c->comparand, w.x[i]);
		}
	}
}

static bool same(const struct pw_ring_cmd *a, const struct pw_ring_cmd *b)
{
	return a->err == b->err && a->flags == b->flags && a->counter == b->counter &&
	       a->v1 == b->v1 && a->v2 == b->v2 && a->wait == b->wait &&
	       a->ring_bits == b->ring_bits;
}

/* a passive packet to one interface or to all; returns how many interfaces it missed or hit wrongly */
static u32 passive(u32 *mutes)
{
	static const u8 data[64];
	struct pw_ring_cmd c[2], more[2], other = { .op = PW_ATON_ADD, .dst = PW_ATON_RING };
	u32 t = rnd(w.n), to = rnd(w.n), all = rnd(2), k, i, bad = 0;

	if (!w.up[t] || t == to)
		return 0;
	memset(reached, 0, sizeof(reached));
	for (k = 0; k < 2; k++) {
		c[k] = (struct pw_ring_cmd) {
			.op = PW_ATON_PASSIVE, .dst = all ? PW_ATON_RING : 1 + to, .len = rnd(65),
			.data = data,
		};
		c[k].len = k ? c[0].len : c[k].len;
		more[k] = other;
		/* one command may be queued, and any number of passive packets */
		bad += pw_ring_submit(w.ring[k], t, &c[k]) != 0;
		bad += pw_ring_submit(w.ring[k], t, &more[k]) != 0;
		bad += pw_ring_submit(w.ring[k], t, &other) != -EBUSY;
		pw_ring_run(w.ring[k], pw_ring_now(w.ring[k]) + 100000, 1u << 30);
		bad += pw_ring_reap(w.ring[k]) != &c[k] || pw_ring_reap(w.ring[k]) != &more[k];
	}
	for (i = 0; i < w.n; i++) {
		bool in = w.up[i] && i != t && (all || i == to);

		bad += reached[0][i] != in || reached[1][i] != in;
		*mutes += in && w.mute[i];
	}
	return bad + !same(&c[0], &c[1]) + (reached_at[0] != reached_at[1]);
}

/* an idle ring: the time of what is queued for later is known */
static bool due(void)
{
	struct pw_ring_cmd c = { .op = PW_ATON_ADD, .dst = PW_ATON_RING };
	bool good = true;
	u32 k, t;

	for (t = 0; t < w.n && !w.up[t]; t++)
		;
	for (k = 0; t < w.n && k < 2; k++) {
		good &= pw_ring_due(w.ring[k]) == pw_ring_now(w.ring[k]);
		c.when = pw_ring_now(w.ring[k]) + 1000000;
		pw_ring_submit(w.ring[k], t, &c);
		good &= pw_ring_due(w.ring[k]) == c.when;
		pw_ring_run(w.ring[k], c.when + 100000, 1u << 30);
		good &= pw_ring_reap(w.ring[k]) == &c && c.submit == c.when;
	}
	return good;
}

int main(void)
{
	unsigned long runs = tap_scaled(400), wrong = 0, differ = 0, by_mute = 0, i, j;
	unsigned long astray = 0, early = 0;
	u32 mutes = 0;

	for (i = 0; i < runs; i++) {
		make();
		for (j = 0; j < 8; j++) {
			struct pw_ring_cmd c[2], want = {
				.op = PW_ATON_ADD + rnd(8), .mods = PW_ATON_COMPARAND,
				.dst = rnd(4) ? PW_ATON_RING : 1 + rnd(w.n),
				.comparand = rnd(8),
			};
			u32 t = rnd(w.n), k;

			if (want.op < PW_ATON_COUNT_EQ)
				want.mods = 0;
			for (k = 0; k < 2; k++) {
				c[k] = want;
				if (pw_ring_submit(w.ring[k], t, &c[k]))
					break;
				pw_ring_run(w.ring[k], pw_ring_now(w.ring[k]) + 100000, 1u << 30);
				if (pw_ring_reap(w.ring[k]) != &c[k])
					wrong++;
			}
			if (k < 2)
				continue;
			by_mute += w.mute[t];
			plain(t, &want);
			differ += !same(&c[0], &c[1]);
			wrong += c[1].err || c[1].counter != want.counter || c[1].v1 != want.v1 ||
				 c[1].v2 != want.v2;
		}
		for (j = 0; j < 4; j++)
			astray += passive(&mutes);
		early += !due();
		free(w.ring[0]);
		free(w.ring[1]);
	}
	is(differ, 0, "both engines agree on rings with mute interfaces");
	is(wrong, 0, "results are those of the interfaces that are not mute");
	ok(by_mute, "mute interfaces have sent commands (%lu)", by_mute);
	is(astray, 0, "passive packets reach every interface in their region, at the same bit times");
	ok(mutes, "mute ones among them (%u)", mutes);
	is(early, 0, "the bit time at which there is something to send is known");
	make();
	is(pw_ring_set_mute(w.ring[0], w.n, true), -EINVAL, "no such interface");
	free(w.ring[0]);
	free(w.ring[1]);
	return tap_done();
}
