// SPDX-License-Identifier: GPL-2.0
/*
 * The two ATON engines side by side, and an oracle beside both: random rings,
 * random commands in random batches at random times, interfaces coming and going,
 * and every kind of fault. Results, flags, errors, ring time, token wait, the order
 * of completions, passive deliveries, latches and the clock must be the same throughout.
 */
#include <stdlib.h>
#include "tap.h"
#include "aton_naive.h"

/* how many at scale 100; the plain build does the full million */
#if defined(__SANITIZE_ADDRESS__)
#define COMMANDS 15000
#elif __SIZEOF_POINTER__ < 8
#define COMMANDS 10000
#else
#define COMMANDS 1000000
#endif
#define MAXN 64
#define BATCH 6

struct delivery {
	u32 interface;
	u64 cookie, when;
};

struct latched {
	u32 interface, counter, src, flags;
	u64 cookie, when, before, with;
};

struct side {
	struct pw_ring *ring;
	void *mem;
	struct pw_ring_sender port[MAXN];
	struct pw_ring_cmd cmd[BATCH], standing;
	u64 out[BATCH + 1][MAXN];
	u32 parts[BATCH + 1][64];
	struct delivery got[BATCH * MAXN];
	u32 ngot;
	struct latched latch[2 * BATCH * MAXN];
	u32 nlatch;
	/* the last one of each command of a batch, for the oracle */
	struct latched last[BATCH][MAXN];
};

static unsigned long long seed;
static struct side side[2];
static struct naive_interface model[MAXN];
static u64 mapped[MAXN][PW_ATON_REGS];
static u32 kept[MAXN];
static u8 bytes[64];
static u8 nodes[BATCH + 1][1u << PW_ATON_NODE_HEIGHTS];
static unsigned long by_node, narrow, overlaps, alike;
static unsigned long commands, by_op[32], by_err[8], oracle_checked, standing_runs;
static unsigned long latches, latches_checked;

static u32 rnd(u32 n)
{
	return tap_rand(&seed) % n;
}

static void on_deliver(void *ctx, u32 interface, const struct pw_ring_cmd *cmd, u64 when)
{
	struct side *s = ctx;

	if (s->ngot < ARRAY_SIZE(s->got))
		s->got[s->ngot] = (struct delivery){ interface, cmd->cookie, when };
	s->ngot++;
}

static void on_latch(void *ctx, struct pw_ring_sender *sender, u32 interface,
		     const struct pw_ring_cmd *cmd, const struct pw_ring_latch *l, u64 when)
{
	struct side *s = ctx;
	struct latched now = {
		.interface = interface, .counter = l->counter, .src = l->src, .flags = l->flags,
		.cookie = cmd->cookie, .when = when, .before = l->before, .with = l->with,
	};

	if (s->nlatch < ARRAY_SIZE(s->latch))
		s->latch[s->nlatch] = now;
	s->nlatch++;
	if (cmd->cookie < BATCH)
		s->last[cmd->cookie][interface] = now;
}

/* parameters of the rings of a scenario */
static struct pw_ring_params like;

static void make(struct side *s, int engine, u32 propagation)
{
	struct pw_ring_params p = {
		.engine = engine, .nregs = PW_ATON_REGS, .capacity = MAXN,
		.propagation = propagation, .max_bytes = sizeof(bytes),
		.width = like.width, .bitsum = like.bitsum, .release = like.release,
		.deliver = on_deliver, .latch = on_latch, .ctx = s,
	};

	s->mem = malloc(pw_ring_size(&p));
	s->ring = pw_ring_init(s->mem, &p);
	memset(s->port, 0, sizeof(s->port));
	memset(&s->standing, 0, sizeof(s->standing));
}

static u64 operand(void)
{
	switch (rnd(5)) {
	case 0:
		return rnd(4);
	case 1:
		return -(u64)rnd(4);
	case 2:
		return (1ULL << (naive_width - 1)) + rnd(3) - 1;
	case 3:
		return 1ULL << rnd(64);
	}
	return tap_rand(&seed);
}

static void random_cmd(struct pw_ring_cmd *c, u32 n, int i)
{
	static const u8 ops[] = { 1, 2, 3, 4, 5, 6, 7, 8, 1, 4, 5, 8, 0, 16, 17, 18 };
	u32 h;

	memset(c, 0, sizeof(*c));
	c->op = ops[rnd(ARRAY_SIZE(ops))];
	c->reg = rnd(4) ? 0 : rnd(PW_ATON_REGS);
	c->mods = rnd(4);
	if (c->op <= PW_ATON_COUNT_LE ? c->op && !rnd(3) : !rnd(100))
		c->mods |= PW_ATON_PREFIX;	/* others are refused with it */
	c->comparand = rnd(2) ? operand() : model[rnd(n)].x[c->reg];
	switch (rnd(4)) {
	default:
		c->dst = PW_ATON_RING;
		break;
	case 1:
		c->dst = rnd(n) * 3 + 1;
		break;
	case 2:
		c->dst = PW_ATON_GROUP | (rnd(2) ? rnd(1 << 20) : 1u << rnd(20));
		break;
	}
	c->cookie = i;
	if (c->op == PW_ATON_PASSIVE) {
		c->reg = 0;
		c->data = bytes;
		c->len = rnd(sizeof(bytes) + 1);
	}
	c->room = rnd(3) ? MAXN : rnd(n + 1);
	c->heights = rnd(8) ? ilog2(n) : rnd(7);
	for (h = 0; h < c->heights; h++)
		c->ops[h] = 1 + rnd(5);
	if (c->op != PW_ATON_TREE || rnd(2))
		return;
	/* an expression; the standing command has the last one */
	i = i < BATCH ? i : BATCH;
	c->nodes = nodes[i];
	for (h = 0; h < sizeof(nodes[i]); h++)
		nodes[i][h] = 1 + rnd(5);
}

static void set_operands(u32 n)
{
	u32 i, r;

	for (i = 0; i < n; i++)
		for (r = 0; r < PW_ATON_REGS; r++) {
			if (r && rnd(4))
				continue;
			model[i].x[r] = rnd(3) || !i ? operand() : model[i - 1].x[r];
			mapped[i][r] = model[i].x[r];
			pw_ring_set_operand(side[0].ring, i, r, model[i].x[r]);
			pw_ring_set_operand(side[1].ring, i, r, model[i].x[r]);
		}
}

/* the same call on both sides must answer the same */
static const char *unlike;

#define BOTH(call) do {								\
	struct side *s = &side[0];						\
	int _a = (call);							\
										\
	s = &side[1];								\
	if (_a != (call) && !unlike)						\
		unlike = "calls answer differently: " #call;			\
} while (0)

/* print what differs */
static const char *differs(const char *what, const struct pw_ring_cmd *a,
			   const struct pw_ring_cmd *b)
{
	const struct pw_ring_cmd *c[] = { a, b };
	int i;

	for (i = 0; i < 2; i++) {
		diag("%s: #%llu op %u interface %u dst %06x len %u submit %llu", i ? "fast" : "rtl ",
		     (unsigned long long)c[i]->cookie, c[i]->op, c[i]->interface, c[i]->dst, c[i]->len,
		     (unsigned long long)c[i]->submit);
		diag("      err %u counter %u v1 %llx v2 %llx flags %u wait %llu bits %llu",
		     c[i]->err, c[i]->counter, (unsigned long long)c[i]->v1,
		     (unsigned long long)c[i]->v2, c[i]->flags, (unsigned long long)c[i]->wait,
		     (unsigned long long)c[i]->ring_bits);
	}
	return what;
}

static int by_delivery(const void *a, const void *b)
{
	const struct delivery *p = a, *q = b;

	return p->when < q->when ? -1 : p->when > q->when ? 1 : (int)p->interface - (int)q->interface;
}

static int by_latch(const void *a, const void *b)
{
	const struct latched *p = a, *q = b;

	return p->when < q->when ? -1 : p->when > q->when ? 1 : (int)p->interface - (int)q->interface;
}

/* packets that are on the ring at the same time: fast reports one after the other */
static void in_order(struct side *s)
{
	qsort(s->got, min_t(u32, s->ngot, ARRAY_SIZE(s->got)), sizeof(s->got[0]), by_delivery);
	qsort(s->latch, min_t(u32, s->nlatch, ARRAY_SIZE(s->latch)), sizeof(s->latch[0]), by_latch);
}

static const char *compare(void)
{
	struct pw_ring_cmd *a, *b;
	u64 last_done = 0;
	u32 i, k;

	if (like.release) {
		in_order(&side[0]);
		in_order(&side[1]);
	}

	for (;;) {
		a = pw_ring_reap(side[0].ring);
		b = pw_ring_reap(side[1].ring);
		if (unlike)
			return unlike;
		if (!a != !b)
			return "number of completions";
		if (!a)
			break;
		commands++;
		if (getenv("PW_DEBUG"))
			differs("", a, b);
		if (a == &side[0].standing)
			standing_runs += a->runs;
		by_op[a->op]++;
		by_node += a->nodes && !a->err;
		by_err[a->err]++;
		if (a->cookie != b->cookie)
			return differs("order of completions", a, b);
		/* it began before the one that ended last was back */
		overlaps += a->submit + a->wait + 24 < last_done;
		last_done = a->done;
		if (a->err != b->err)
			return differs("error", a, b);
		if (a->submit != b->submit || a->wait != b->wait)
			return differs("token wait", a, b);
		if (a->ring_bits != b->ring_bits || a->done != b->done)
			return differs("ring time", a, b);
		if (a->done != a->submit + a->wait + a->ring_bits)
			return differs("sum of times", a, b);
		if (a->runs != b->runs)
			return differs("runs", a, b);
		if (a->counter != b->counter || a->v1 != b->v1 || a->v2 != b->v2 ||
		    a->flags != b->flags)
			return differs("results", a, b);
		if (!a->err && a->op == PW_ATON_SORT &&
		    memcmp(a->out, b->out, a->counter * sizeof(u64)))
			return differs("sorted operands", a, b);
		if (!a->err && a->op == PW_ATON_BITSUM &&
		    memcmp(a->parts, b->parts, 64 * sizeof(u32)))
			return differs("bit sums", a, b);
	}
	if (pw_ring_now(side[0].ring) != pw_ring_now(side[1].ring))
		return "clock";
	if (side[0].ngot != side[1].ngot ||
	    memcmp(side[0].got, side[1].got,
		   min_t(u32, side[0].ngot, ARRAY_SIZE(side[0].got)) * sizeof(struct delivery))) {
		for (k = 0; k < 2; k++)
			for (i = 0; i < side[k].ngot && i < 20; i++)
				diag("%s: #%llu to %u at %llu", k ? "fast" : "rtl ",
				     (unsigned long long)side[k].got[i].cookie,
				     side[k].got[i].interface, (unsigned long long)side[k].got[i].when);
		return "deliveries";
	}
	side[0].ngot = 0;
	side[1].ngot = 0;
	k = min_t(u32, side[0].nlatch, ARRAY_SIZE(side[0].latch));
	if (side[0].nlatch != side[1].nlatch ||
	    memcmp(side[0].latch, side[1].latch, k * sizeof(struct latched))) {
		diag("%u and %u latches", side[0].nlatch, side[1].nlatch);
		return "latches";
	}
	latches += side[0].nlatch;
	side[0].nlatch = 0;
	side[1].nlatch = 0;
	return NULL;
}

/* the latch of one interface after a command that ended well: the result of those up to it */
static bool latch_agrees(u32 n, const struct pw_ring_cmd *c)
{
	static struct naive_interface part[MAXN];
	static struct naive_result before, with;
	u32 k = rnd(n), i = (c->interface + k) % n, hop;
	const struct latched *l = &side[0].last[c->cookie][i];
	bool count = c->op >= PW_ATON_COUNT_EQ;

	latches_checked++;
	memcpy(part, model, sizeof(part));
	for (hop = k + 1; hop < n; hop++)
		part[(c->interface + hop) % n].up = false;
	naive(part, n, c->interface, c, &with);
	part[i].up = false;
	naive(part, n, c->interface, c, &before);
	/* one that is not in the region has no latch */
	if (with.counter == before.counter)
		return !l->when;
	return l->when && l->counter == before.counter && l->src == model[c->interface].addr &&
	       l->with == (count ? with.v2 : with.v1) &&
	       l->before == (count ? before.v2 : before.v1) &&
	       !(l->flags & PW_ATON_F_OVERFLOW) == !with.overflow;
}

static const char *batch(u32 n, u32 prop, int *nfault)
{
	u64 now = pw_ring_now(side[0].ring), turn = max_t(u64, 24, n * (1 + prop)), until;
	static struct naive_result want;
	struct pw_ring_fault fault = { 0 };
	u32 i, k = 1 + rnd(BATCH), from = 0, later;
	bool up, same = true, row = !rnd(4);
	const char *err;

	for (i = 0; i < 2; i++)
		memset(side[i].last, 0, sizeof(side[i].last));
	if (!rnd(6)) {
		i = rnd(n);
		model[i].up = rnd(3);
		BOTH(pw_ring_set_up(s->ring, i, model[i].up));
	}
	if (!rnd(3)) {
		fault.kind = rnd(5);
		switch (fault.kind) {
		case PW_FAULT_FLIP:
			fault.hop = rnd(n);
			fault.bit = rnd(4) ? rnd(144 + 2 * naive_width) : rnd(4) ? rnd(24) : rnd(5000);
			break;
		case PW_FAULT_STUCK:
			fault.hop = rnd(n);
			break;
		case PW_FAULT_LEAVE:
			fault.bit = rnd(3) ? rnd(2 * turn) : rnd(turn + 1);
			break;
		case PW_FAULT_LOSE:
			fault.at = now + (rnd(2) ? 0 : rnd(4 * turn + 400));
			break;
		}
		BOTH(pw_ring_fault(s->ring, &fault));
		if (getenv("PW_DEBUG"))
			diag("fault kind %u hop %u bit %llu at %llu", fault.kind, fault.hop,
			     (unsigned long long)fault.bit, (unsigned long long)fault.at);
		*nfault += 1;
	}
	if (!rnd(8)) {
		i = rnd(n);
		random_cmd(&side[0].standing, n, 99);
		side[0].standing.gap = rnd(2) ? 0 : rnd(20 * turn);
		side[1].standing = side[0].standing;
		BOTH((s->standing.out = s->out[BATCH], s->standing.parts = s->parts[BATCH], 0));
		BOTH(pw_ring_stand(s->ring, i, &s->standing));
		side[0].standing.cookie = 99;
		until = now + rnd(12 * turn) + 2000;
		BOTH((int)pw_ring_run(s->ring, until, 1u << 30));
		BOTH(pw_ring_stand(s->ring, i, NULL));
		err = compare();
		if (err)
			return err;
		now = pw_ring_now(side[0].ring);
	}
	/* all at once, or about a time that may be when a lost token is replaced */
	later = rnd(3) ? 0 : rnd(5000);
	for (i = 0; i < k; i++) {
		random_cmd(&side[0].cmd[i], n, i);
		side[0].cmd[i].when = now + (rnd(2) ? 0 : later +
							 rnd(3 * turn + 600) / (1 + rnd(9)));
		/* in a row: reductions of one group, one after another from one interface */
		if (row && (!i || rnd(8))) {
			side[0].cmd[i].op = PW_ATON_ADD + rnd(5);
			side[0].cmd[i].mods = rnd(20) ? rnd(2) : PW_ATON_PREFIX;
			side[0].cmd[i].dst = i ? side[0].cmd[0].dst : PW_ATON_GROUP | 1u << rnd(20);
			if (rnd(4))
				side[0].cmd[i].when = now;
		}
		side[1].cmd[i] = side[0].cmd[i];
		BOTH((s->cmd[i].out = s->out[i], s->cmd[i].parts = s->parts[i], 0));
		if (!row || !i)
			from = rnd(n);
		else
			alike += side[0].cmd[i].dst == side[0].cmd[i - 1].dst;
		BOTH(pw_ring_submit(s->ring, from, &s->cmd[i]));
	}
	if (!rnd(8)) {
		i = rnd(k);
		BOTH(pw_ring_cancel(s->ring, &s->cmd[i]));
	}
	if (!rnd(4)) {
		until = now + rnd(3 * turn + 900);
		BOTH((int)pw_ring_run(s->ring, until, 1u << 30));
		err = compare();
		if (err)
			return err;
		if (!rnd(3)) {
			i = rnd(n);
			up = rnd(4);
			same = false;
			BOTH(pw_ring_set_up(s->ring, i, up));
		}
	}
	for (i = 0; i < 2; i++)
		while (pw_ring_run(side[i].ring, ~0ULL, i && rnd(3) ? 1 + rnd(100) : 1u << 20) ==
		       PW_RING_MORE)
			;
	err = compare();
	if (err)
		return err;
	for (i = 0; i < n; i++) {
		up = pw_ring_is_up(side[0].ring, i);
		if (up != pw_ring_is_up(side[1].ring, i))
			return "who is up";
		same &= up == model[i].up;
	}
	/* with the same interfaces up throughout, the oracle knows every result */
	for (i = 0; i < k && same; i++) {
		struct pw_ring_cmd *c = &side[0].cmd[i];

		if (!c->runs || (c->err && c->err < PW_ATON_E_SHAPE))
			continue;
		naive(model, n, c->interface, c, &want);
		if (!naive_agrees(&want, c))
			return differs("oracle", c, &side[1].cmd[i]);
		if (c->mods & PW_ATON_PREFIX && !c->err && !latch_agrees(n, c))
			return differs("oracle of a latch", c, &side[1].cmd[i]);
		oracle_checked++;
	}
	for (i = 0; i < n; i++)
		model[i].up = pw_ring_is_up(side[0].ring, i);
	return NULL;
}

static const char *scenario(u32 n, u32 prop, int batches, int *nfault)
{
	u32 i, b, len = n;
	const char *err = NULL;
	bool keep;

	memset(model, 0, sizeof(model));
	memset(mapped, 0, sizeof(mapped));
	make(&side[0], PW_RING_RTL, prop);
	make(&side[1], PW_RING_FAST, prop);
	for (i = 0; i < n; i++) {
		model[i].addr = 3 * i + 1;
		model[i].group = rnd(1 << 20) & rnd(1 << 20);
		model[i].up = true;
		kept[i] = model[i].group;
		keep = !rnd(3);
		BOTH(pw_ring_attach(s->ring, i, 1, model[i].addr, keep ? ~kept[i] : kept[i]));
		if (keep)
			BOTH((s->port[i].group = &kept[i], 0));
		if (!rnd(3))
			BOTH((s->port[i].operands = mapped[i], 0));
		BOTH(pw_ring_bind(s->ring, i, &s->port[i]));
	}
	for (b = 0; b < batches && !err; b++) {
		set_operands(n);
		err = batch(n, prop, nfault);
		/* one leaves for good, now and then */
		if (!err && !rnd(12) && n > 1) {
			i = rnd(n);
			BOTH(pw_ring_detach(s->ring, i, 1));
			memmove(&model[i], &model[i + 1], (n - 1 - i) * sizeof(model[0]));
			break;
		}
	}
	if (err)
		diag("n %u of %u, propagation %u, release %u, width %u, bitsum %u, batch %u", n,
		     len, prop, like.release, naive_width, naive_part, b);
	free(side[0].mem);
	free(side[1].mem);
	return err;
}

/* every other scenario as published, the others with operands and counts of other sizes */
static void random_format(u32 n)
{
	like.release = rnd(2) ? PW_RING_APPENDED : PW_RING_BACK;
	like.width = 0;
	like.bitsum = 0;
	naive_width = PW_ATON_WIDTH;
	naive_part = PW_ATON_BITSUM_BITS;
	if (rnd(2))
		return;
	if (rnd(4))
		like.width = naive_width = 1 + rnd(PW_ATON_WIDTH);
	switch (rnd(3)) {
	case 1:
		like.bitsum = naive_part = 1 + rnd(rnd(2) ? 5 : PW_ATON_BITSUM_BITS);
		break;
	case 2:
		like.bitsum = PW_RING_BITSUM_FIT;
		for (naive_part = 1; 1u << naive_part <= n; naive_part++)
			;
		break;
	}
	narrow++;
}

int main(void)
{
	const char *first = getenv("PW_SCENARIO");	/* to look at one again */
	unsigned long want = tap_scaled(COMMANDS / (TAP_BIG_ENDIAN ? 5 : 1));
	unsigned long scen = first ? strtoul(first, NULL, 0) : 0;
	const char *err = NULL;
	int nfault = 0;
	u32 i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = i * 37;
	while (commands < want && !err) {
		u32 n, prop = rnd(1);

		seed = 0x9e3779b97f4a7c15ULL * (scen + 1);
		n = rnd(3) ? 1 + rnd(12) : 1 + rnd(MAXN);
		prop = rnd(3) ? 0 : rnd(8);
		if (!rnd(16))
			prop = 20 + rnd(40);	/* a ring longer than its packets */
		random_format(n);
		err = scenario(n, prop, 12, &nfault);
		if (err)
			diag("scenario %lu", scen);
		scen++;
	}
	ok(!err, "both engines agree: %s", err ? err : "results, flags, errors, times, order");
	diag("%lu commands in %lu scenarios, %d faults, %lu held to the oracle, %lu standing runs",
	     commands, scen, nfault, oracle_checked, standing_runs);
	for (i = 0; i <= PW_ATON_TREE; i++)
		if (i <= PW_ATON_COUNT_LE || i >= PW_ATON_SORT)
			ok(by_op[i] > 0, "opcode %u was among them (%lu times)", i, by_op[i]);
	for (i = 0; i <= PW_ATON_E_ROOM; i++)
		ok(by_err[i] > 0, "ending %u was among them (%lu times)", i, by_err[i]);
	ok(narrow > scen / 3, "operands and counts of other widths in %lu scenarios", narrow);
	ok(overlaps > commands / 20, "%lu packets began before the last one was back", overlaps);
	ok(alike > commands / 20, "%lu packets went where the one before them did", alike);
	ok(by_node > 0, "trees with an operation for each node were among them (%lu times)", by_node);
	ok(latches > commands && latches_checked > commands / 20,
	   "%lu latches are the same, %lu were held to the oracle", latches, latches_checked);
	ok(oracle_checked > commands / 4, "enough of them were held to the oracle");
	return tap_done();
}
