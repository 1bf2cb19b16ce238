// SPDX-License-Identifier: GPL-2.0
/*
 * Reductions over an internet of SANs, against a plain sum: random topologies with loops, routes
 * that are old or wrong, messages that are lost, doubled, delayed and overtake each other,
 * routers and SANs that are made anew, rings that fail.
 *
 * What holds in every run:
 *  - a result without missing SANs is that of all SANs that the starter named;
 *  - one with missing SANs is that of exactly as many others as it says, each once;
 *  - operands count as they were while the command ran, never as before;
 *  - each command ends in its time;
 *  - without loss a router on the tree carries one request and one answer, any other none, and
 *    each ring one command.
 *
 * A failure prints the seed of its run, and "reduce_test SEED" repeats it.
 */
#include <stdlib.h>
#include <string.h>
#include "reduce.h"
#include "tap.h"

#define SANS	8
#define EDGES	16
#define QUEUE	4096
#define SLACK	300	/* ms that a ring may need after the end */

struct job {
	struct pw_reduce_job core;	/* first */
	struct pw_reduce_part part[PW_REDUCE_SANS];
	struct pw_reduce_item item[PW_REDUCE_SANS];
	struct pw_ring_cmd cmd;
	bool on_ring, root, ended;
	u64 ring_at, started;
	int san;
	u32 named;		/* a mask of SANs */
	u32 generation;
	struct job *next;
};

struct san {
	struct pw_reduce_agent agent;
	int route[SANS];	/* edge that leads to a SAN, or -1 */
	u64 x[4];		/* operands */
	u32 n;
};

struct edge {
	int san[2];
	bool up;
	struct pw_reduce_seen seen[2][PW_REDUCE_JOBS];
	u32 packets;
};

struct packet {
	int edge, to;		/* side */
	u64 due;
	u32 len;
	u8 data[PW_REDUCE_REQUEST + 4 * SANS + 64];
};

static struct {
	struct san san[SANS];
	struct edge edge[EDGES];
	struct packet queue[QUEUE];
	u32 nsans, nedges, nqueue, rings;
	u64 now, born;
	u32 loss, dup, delay, bad_ring;
	unsigned long long rnd;
	struct job *jobs;
	const char *broken;
} w;

static unsigned long long good, partial, ended;

static u64 rnd(u64 n)
{
	return tap_rand(&w.rnd) % n;
}

static void broken(const char *why)
{
	if (!w.broken)
		w.broken = why;
}

static u32 addr_of(int san)
{
	return 256 * (san + 1);
}

static int san_of(u32 addr)
{
	return addr / 256 - 1;
}

static int side_of(const struct edge *e, const struct san *s)
{
	return &w.san[e->san[1]] == s;
}

static int op_route(void *ctx, u32 san)
{
	struct san *s = ctx;
	int i = san_of(san);

	return i < 0 || i >= (int)w.nsans ? -1 : s->route[i];
}

static bool op_send(void *ctx, int port, enum pw_reduce_kind kind, const u8 *data, u32 len)
{
	struct edge *e = &w.edge[port];
	u32 copies = 1, i;

	(void)kind;
	if (!e->up)
		return false;
	e->packets++;
	if (rnd(100) < w.loss)
		copies = 0;
	if (rnd(100) < w.dup)
		copies += 1 + rnd(2);
	for (i = 0; i < copies && w.nqueue < QUEUE; i++) {
		struct packet *p = &w.queue[w.nqueue++];

		p->edge = port;
		p->to = !side_of(e, ctx);
		p->due = w.now + 1 + rnd(w.delay);
		/* now and then a copy that comes long after */
		if (i && !rnd(3))
			p->due += rnd(8000);
		p->len = len;
		memcpy(p->data, data, len);
	}
	return true;
}

/* the command on a ring: at some moment between now and its end */
static void ring_run(struct job *j)
{
	struct san *s = &w.san[j->san];
	struct pw_ring_cmd *c = &j->cmd;
	struct pw_reduce_result r;
	u32 i;

	pw_reduce_zero(&r, &j->core.cmd);
	c->v1 = r.v1;
	for (i = 0; i < s->n; i++) {
		u64 x = s->x[i];
		bool sig = j->core.cmd.mods & PW_ATON_SIGNED;

		c->counter++;
		switch (j->core.cmd.op) {
		case PW_ATON_ADD:
			c->v1 += x;
			break;
		case PW_ATON_AND:
			c->v1 &= x;
			break;
		case PW_ATON_OR:
			c->v1 |= x;
			break;
		case PW_ATON_MAX:
			if (i && (sig ? (s64)x < (s64)c->v1 : x < c->v1))
				break;
			c->v1 = x;
			c->v2 = addr_of(j->san) + 1 + i;
			break;
		case PW_ATON_MIN:
			if (i && (sig ? (s64)x > (s64)c->v1 : x > c->v1))
				break;
			c->v1 = x;
			c->v2 = addr_of(j->san) + 1 + i;
			break;
		default:
			c->v2 += j->core.cmd.comparand == x;
		}
	}
	c->err = rnd(1000) < w.bad_ring ? PW_ATON_E_CRC : PW_ATON_OK;
}

static int op_ring(void *ctx, struct pw_reduce_job *core)
{
	struct job *j = (void *)core;

	j->san = (struct san *)ctx - w.san;
	j->on_ring = true;
	j->ring_at = w.now + rnd(20);
	w.rings++;
	return 0;
}

static bool op_ring_stop(void *ctx, struct pw_reduce_job *core)
{
	struct job *j = (void *)core;

	(void)ctx;
	if (rnd(2))
		return false;
	j->on_ring = false;
	return true;
}

static u32 op_halves(void *ctx)
{
	struct san *s = ctx;
	u32 i, n = 0;

	for (i = 0; i < w.nedges; i++)
		n += w.edge[i].up &&
		     (&w.san[w.edge[i].san[0]] == s || &w.san[w.edge[i].san[1]] == s);
	return n;
}

static struct pw_reduce_seen *op_seen(void *ctx, int port)
{
	struct edge *e = &w.edge[port];

	return e->up ? e->seen[side_of(e, ctx)] : NULL;
}

static void op_done(void *ctx, struct pw_reduce_job *core)
{
	(void)ctx;
	((struct job *)core)->ended = true;
}

static const struct pw_reduce_ops ops = {
	.route = op_route, .send = op_send, .ring = op_ring, .ring_stop = op_ring_stop,
	.halves = op_halves, .seen = op_seen, .done = op_done,
};

static struct job *new_job(void)
{
	struct job *j = calloc(1, sizeof(*j));

	j->core.part = j->part;
	j->core.item = j->item;
	j->next = w.jobs;
	w.jobs = j;
	return j;
}

/* free jobs that have ended; with @san >= 0 all jobs of that SAN */
static void reap(int san)
{
	struct job **p = &w.jobs, *j;

	while ((j = *p)) {
		if ((san >= 0 && j->san == san) || (j->ended && !j->root && !j->on_ring)) {
			*p = j->next;
			free(j);
		} else {
			p = &j->next;
		}
	}
}

static void routes(int from)
{
	int dist[SANS], i, k, turn;
	struct san *s = &w.san[from];

	for (i = 0; i < SANS; i++) {
		dist[i] = i == from ? 0 : 1000;
		s->route[i] = -1;
	}
	for (turn = 0; turn < SANS; turn++)
		for (i = 0; i < (int)w.nedges; i++)
			for (k = 0; k < 2; k++) {
				struct edge *e = &w.edge[i];
				int a = e->san[k], b = e->san[!k];

				if (!e->up || dist[a] + 1 >= dist[b])
					continue;
				dist[b] = dist[a] + 1;
				s->route[b] = a == from ? i : s->route[a];
			}
}

static void birth(int i)
{
	pw_reduce_init(&w.san[i].agent, &ops, &w.san[i], addr_of(i), ++w.born);
}

static void deliver(struct packet p)
{
	struct edge *e = &w.edge[p.edge];
	struct san *s = &w.san[e->san[p.to]];
	struct pw_reduce_msg m;
	struct job *j;

	if (!e->up)
		return;
	if (pw_reduce_parse(p.data, p.len, &m)) {
		broken("a message that was sent is malformed");
		return;
	}
	if (pw_reduce_receive(&s->agent, p.edge, &m) != PW_REDUCE_START)
		return;
	j = new_job();
	j->san = s - w.san;
	if (!pw_reduce_request(&s->agent, p.edge, &m, &j->core, w.now))
		broken("a job that could start did not");
}

static void step(void)
{
	struct job *j;
	u32 i;

	w.now++;
	for (i = 0; i < w.nqueue;) {
		struct packet p = w.queue[i];

		if (p.due > w.now) {
			i++;
			continue;
		}
		w.queue[i] = w.queue[--w.nqueue];
		deliver(p);
	}
	for (j = w.jobs; j; j = j->next)
		if (j->on_ring && j->ring_at <= w.now) {
			j->on_ring = false;
			ring_run(j);
			pw_reduce_ring_done(&w.san[j->san].agent, &j->core, &j->cmd);
		}
	for (i = 0; i < w.nsans; i++)
		pw_reduce_tick(&w.san[i].agent, w.now);
	reap(-1);
}

/* bucket of a SAN in a sum: three bits, so that one that is counted twice shows */
static u64 bucket(int san, u32 generation)
{
	return (1 + (u64)generation % 3) << (7 * san);
}

static void operands(u32 generation)
{
	u32 i, k;

	for (i = 0; i < w.nsans; i++) {
		w.san[i].n = 1 + rnd(4);
		for (k = 0; k < w.san[i].n; k++)
			w.san[i].x[k] = rnd(3) ? rnd(6) : tap_rand(&w.rnd);
		if (generation) {
			w.san[i].n = 1;
			w.san[i].x[0] = bucket(i, generation);
		}
	}
}

static struct job *start(int san, const struct pw_reduce_cmd *cmd, u32 ms)
{
	struct job *j = new_job();
	u32 i, n = 0;

	j->root = true;
	j->san = san;
	j->started = w.now;
	j->core.cmd = *cmd;
	j->core.starter = addr_of(san) + 1;
	for (i = 0; i < w.nsans; i++)
		if ((int)i == san || w.san[san].route[i] >= 0) {
			j->item[n++].san = addr_of(i);
			j->named |= 1u << i;
		}
	pw_reduce_begin(&w.san[san].agent, &j->core, n, ms, w.now);
	return j;
}

/* a sum of buckets: which SANs are in it */
static void check_sum(const struct job *j, u32 generation)
{
	const struct pw_reduce_result *r = &j->core.sum;
	u32 i, in = 0;
	u64 left = r->v1, want;

	for (i = 0; i < w.nsans; i++) {
		u64 part = left >> (7 * i) & 0x7f;

		want = bucket(i, generation) >> (7 * i);
		if (!part)
			continue;
		if (part != want)
			broken("a SAN counts twice, or with an operand of before");
		if (!(j->named >> i & 1))
			broken("a SAN that was not named is in the sum");
		in++;
	}
	if (in != r->sans || in + r->missing != (u32)__builtin_popcount(j->named))
		broken("the result does not say how many SANs it has");
	if (r->counter != in)
		broken("Counter is wrong");
	if (!r->missing != !r->err)
		broken("a result is partial and does not say so, or the reverse");
	*(r->missing ? &partial : &good) += 1;
}

/* a complete result of any command, against all operands of the SANs named */
static void check_any(const struct job *j)
{
	const struct pw_reduce_result *r = &j->core.sum;
	const struct pw_reduce_cmd *cmd = &j->core.cmd;
	bool sig = cmd->mods & PW_ATON_SIGNED, found = false;
	u64 sum = 0, and = ~0ULL, or = 0, most = 0, least = 0, eq = 0, n = 0, want, x;
	u32 i, k;

	/* a tenth is lost at most: what is repeated for eight seconds arrives */
	if (r->missing) {
		broken("SANs are missing, though messages were repeated");
		return;
	}
	good++;
	for (i = 0; i < w.nsans; i++)
		for (k = 0; (j->named >> i & 1) && k < w.san[i].n; k++) {
			x = w.san[i].x[k];
			sum += x;
			and &= x;
			or |= x;
			if (!n || (sig ? (s64)x > (s64)most : x > most))
				most = x;
			if (!n || (sig ? (s64)x < (s64)least : x < least))
				least = x;
			eq += x == cmd->comparand;
			n++;
		}
	if (r->counter != n || r->sans != __builtin_popcount(j->named))
		broken("Counter or the number of SANs is wrong");
	want = cmd->op == PW_ATON_ADD ? sum : cmd->op == PW_ATON_AND ? and :
	       cmd->op == PW_ATON_OR ? or : cmd->op == PW_ATON_MAX ? most :
	       cmd->op == PW_ATON_MIN ? least : cmd->comparand;
	if (r->v1 != want)
		broken("Variable-1 is wrong");
	if (cmd->op == PW_ATON_COUNT_EQ && r->v2 != eq)
		broken("a count is wrong");
	if (cmd->op != PW_ATON_MAX && cmd->op != PW_ATON_MIN)
		return;
	i = san_of(r->v2);
	k = r->v2 - addr_of(i) - 1;
	found = i < w.nsans && k < w.san[i].n && w.san[i].x[k] == want && r->san == addr_of(i);
	if (!found)
		broken("the address is not that of the extreme operand");
	for (i++; i < w.nsans; i++)
		for (k = 0; (j->named >> i & 1) && k < w.san[i].n; k++)
			if (w.san[i].x[k] == want)
				broken("of equals it is not the highest address");
}

/* run until the job has ended, or its SAN was made anew (then the job is no more) */
static bool finish(struct job *j, u32 ms)
{
	u64 end = w.now + ms + SLACK;

	while (!j->ended && w.now < end && !w.broken)
		step();
	if (!j->ended)
		broken("a command does not end in its time");
	ended++;
	return j->ended;
}

static void discard(struct job *j)
{
	j->root = false;
	reap(-1);
}

static void topology(void)
{
	u32 i;

	w.nsans = 2 + rnd(SANS - 1);
	w.nedges = 0;
	for (i = 1; i < w.nsans; i++)
		w.edge[w.nedges++] = (struct edge) { .san = { rnd(i), i }, .up = true };
	for (i = rnd(EDGES - w.nedges); i > 0; i--) {
		int a = rnd(w.nsans), b = rnd(w.nsans);

		if (a != b)
			w.edge[w.nedges++] = (struct edge) { .san = { a, b }, .up = true };
	}
	for (i = 0; i < w.nsans; i++) {
		birth(i);
		routes(i);
	}
}

/* between two commands: routers go and come, SANs are made anew, routes are found or lost */
static void trouble(void)
{
	struct edge *e = &w.edge[rnd(w.nedges)];
	int i = rnd(w.nsans);

	switch (rnd(8)) {
	case 0:
		e->up = false;
		break;
	case 1:
	case 2:
		e->up = true;
		memset(e->seen, 0, sizeof(e->seen));
		break;
	case 3:
		reap(i);
		birth(i);
		break;
	case 4:
		/* any route, also a wrong one */
		w.san[i].route[rnd(w.nsans)] = rnd(w.nedges);
		for (i = 0; i < (int)w.nsans; i++)
			for (u32 k = 0; k < w.nsans; k++)
				if (w.san[i].route[k] >= 0 &&
				    w.edge[w.san[i].route[k]].san[0] != i &&
				    w.edge[w.san[i].route[k]].san[1] != i)
					w.san[i].route[k] = -1;
		break;
	default:
		routes(i);
	}
}

static void begin_run(unsigned long long seed)
{
	while (w.jobs) {
		struct job *j = w.jobs;

		w.jobs = j->next;
		free(j);
	}
	memset(&w, 0, sizeof(w));
	w.rnd = seed * 2 + 1;
	tap_rand(&w.rnd);
	w.delay = 10;
	w.born = 100;
	topology();
}

/* messages come twice, some of them late: the rings have one command each all the same */
static void run_doubled(void)
{
	struct pw_reduce_cmd cmd = { .op = PW_ATON_ADD };
	struct job *j;
	u32 k, i;

	w.dup = 50;
	for (k = 0; k < 5 && !w.broken; k++) {
		operands(k + 1);
		w.rings = 0;
		j = start(rnd(w.nsans), &cmd, 5000);
		if (!finish(j, 5000))
			return;
		check_sum(j, k + 1);
		for (i = 0; i < 8100; i++)
			step();
		if (j->core.sum.missing || w.rings != w.nsans)
			broken("a command ran twice on a ring");
		discard(j);
	}
}

/* nothing is lost: the packets of each router and ring are counted */
static void run_quiet(void)
{
	struct pw_reduce_cmd cmd = { .op = PW_ATON_ADD };
	u32 i, n, k, total = 0;
	struct job *j;

	for (k = 0; k < 10 && !w.broken; k++) {
		operands(k + 1);
		for (i = 0; i < w.nedges; i++)
			w.edge[i].packets = 0;
		w.rings = 0;
		j = start(rnd(w.nsans), &cmd, 5000);
		if (!finish(j, 5000))
			return;
		check_sum(j, k + 1);
		if (j->core.sum.missing)
			broken("SANs are missing, and nothing was lost");
		for (i = 0, n = 0; i < w.nedges; i++) {
			n += w.edge[i].packets == 2;
			total = w.edge[i].packets;
			if (total != 0 && total != 2)
				broken("a router has more than a request and an answer");
		}
		if (n != w.nsans - 1 || w.rings != w.nsans)
			broken("packets do not form a tree");
		discard(j);
	}
}

static void run_sums(void)
{
	struct pw_reduce_cmd cmd = { .op = PW_ATON_ADD };
	struct job *j;
	u32 k, t, ms;

	w.loss = rnd(3) * 15;
	w.dup = rnd(3) * 20;
	w.delay = 1 + rnd(400);
	w.bad_ring = rnd(2) * 20;
	for (k = 0; k < 20 && !w.broken; k++) {
		operands(k + 1);
		ms = 500 + rnd(5000);
		j = start(rnd(w.nsans), &cmd, ms);
		/* in the middle of it */
		for (t = rnd(100); t > 0 && !j->ended; t--)
			step();
		if (rnd(2)) {
			struct edge *e = &w.edge[rnd(w.nedges)];

			e->up = rnd(2);
			memset(e->seen, 0, sizeof(e->seen));
		}
		if (!finish(j, ms))
			return;
		check_sum(j, k + 1);
		discard(j);
		for (t = rnd(4); t > 0; t--)
			trouble();
	}
}

/* several commands of all kinds at the same time */
static void run_any(void)
{
	struct job *j[12];
	u32 k, n, i;

	w.loss = rnd(2) * 10;
	w.dup = rnd(2) * 20;
	for (k = 0; k < 6 && !w.broken; k++) {
		operands(0);
		n = 1 + rnd(ARRAY_SIZE(j));
		for (i = 0; i < n; i++) {
			struct pw_reduce_cmd cmd = {
				.op = PW_ATON_ADD + rnd(6), .comparand = rnd(6),
				.mods = rnd(2) * PW_ATON_SIGNED,
			};

			if (cmd.op == PW_ATON_COUNT_EQ)
				cmd.mods |= PW_ATON_COMPARAND;
			j[i] = start(rnd(w.nsans), &cmd, 8000);
		}
		for (i = 0; i < n; i++)
			finish(j[i], 8000);
		for (i = 0; i < n && !w.broken; i++) {
			check_any(j[i]);
			discard(j[i]);
		}
	}
}

static void runs(const char *name, void (*run)(void), unsigned long n, unsigned long long seed)
{
	unsigned long long s;
	unsigned long bad = 0;

	good = 0;
	partial = 0;
	ended = 0;
	for (s = seed; s < seed + n && !bad; s++) {
		begin_run(s);
		run();
		if (w.broken) {
			diag("seed %llu: %s", s, w.broken);
			bad++;
		}
	}
	ok(!bad && good, "%s: %llu commands, %llu complete, %llu partial", name, ended, good,
	   partial);
}

static void messages(void)
{
	static const u8 bad[] = { 2, 3, 16, 4, 16, 17 };
	static u8 buf[PW_REDUCE_MSG_MAX + 8];
	u32 sans[PW_REDUCE_SANS], i, len;
	struct pw_reduce_msg m = {
		.id = { 7, 9 }, .cmd = { PW_ATON_COUNT_LT, 3, PW_ATON_COMPARAND, 77 },
		.hops = 5, .ms = 1000, .starter = 257, .n = PW_REDUCE_SANS,
	}, got;
	struct pw_reduce_result r = {
		.err = PW_REDUCE_E_TIME, .flags = 1, .sans = 3, .missing = 4, .counter = 5,
		.v1 = ~0ULL, .v2 = 8, .san = 256,
	};

	for (i = 0; i < PW_REDUCE_SANS; i++)
		sans[i] = 256 * i + 256;
	len = pw_reduce_put_request(buf, &m, sans);
	ok(!pw_reduce_parse(buf, len, &got) && !got.answer && got.n == m.n && got.ms == 1000 &&
	   got.cmd.op == m.cmd.op && got.cmd.reg == 3 && got.cmd.comparand == 77 &&
	   got.hops == 5 && got.starter == 257 && got.id.born == 7 && got.id.seq == 9 &&
	   pw_reduce_msg_san(&got, 255) == sans[255], "a request as it was written");
	ok(pw_reduce_parse(buf, len - 4, &got) && pw_reduce_parse(buf, len + 4, &got),
	   "a request of another length is refused");
	put_unaligned_be32(sans[0], buf + PW_REDUCE_REQUEST + 4);
	ok(pw_reduce_parse(buf, len, &got), "a SAN twice in a request is refused");
	for (i = 0; i < 6; i++) {
		m.n = 1;
		len = pw_reduce_put_request(buf, &m, sans);
		buf[i] = bad[i];
		ok(pw_reduce_parse(buf, len, &got), "byte %u of a request is checked", i);
	}
	m.cmd.mods = 0;
	len = pw_reduce_put_request(buf, &m, sans);
	ok(pw_reduce_parse(buf, len, &got), "a count without a comparand is refused");
	len = pw_reduce_put_answer(buf, &m.id, &r);
	ok(!pw_reduce_parse(buf, len, &got) && got.answer &&
	   !memcmp(&got.result.counter, &r.counter, 24) && got.result.san == 256 &&
	   got.result.sans == 3 && got.result.missing == 4 && got.result.err == r.err,
	   "an answer as it was written");
	buf[2] = 0;
	ok(pw_reduce_parse(buf, len, &got), "a partial answer without a reason is refused");
}

/* one more than there is room for */
static void full(void)
{
	struct pw_reduce_cmd cmd = { .op = PW_ATON_ADD };
	u32 i;

	begin_run(5);
	w.loss = 100;
	for (i = 0; i < PW_REDUCE_JOBS; i++)
		start(0, &cmd, 1000);
	is(w.san[0].agent.njobs, PW_REDUCE_JOBS, "as many jobs as there is room for");
	ok(!pw_reduce_begin(&w.san[0].agent, &new_job()->core, 0, 1000, w.now),
	   "and not one more");
	for (i = 0; i < 1000 + SLACK; i++)
		step();
	is(w.san[0].agent.njobs, 0, "all of them end");
}

/* requests at a half-router of SAN 0 until one is refused: how many are not */
static u32 ask_all(int edge)
{
	struct pw_reduce_cmd cmd = { .op = PW_ATON_ADD };
	u32 i, started = 0;

	for (i = 0; i < 2 * PW_REDUCE_JOBS; i++) {
		struct pw_reduce_msg m = { .id = { 99, i }, .cmd = cmd, .hops = 1, .ms = 60000, .n = 1 };
		struct job *j;
		u8 san[4];

		/* its own ring runs it, and does not end before step() */
		put_unaligned_be32(addr_of(0), san);
		m.sans = san;
		if (pw_reduce_receive(&w.san[0].agent, edge, &m) != PW_REDUCE_START)
			break;
		j = new_job();
		j->san = 0;
		started += pw_reduce_request(&w.san[0].agent, edge, &m, &j->core, w.now);
	}
	return started;
}

/* what others ask for leaves room for stations, and for others than them */
static void asked(void)
{
	struct pw_reduce_cmd cmd = { .op = PW_ATON_ADD };
	u32 i, n, all = 0, least = PW_REDUCE_JOBS;

	begin_run(5);
	w.loss = 100;
	w.nsans = 2;
	w.nedges = 3;
	for (i = 0; i < w.nedges; i++)
		w.edge[i] = (struct edge) { .san = { 0, 1 }, .up = true };
	for (i = 0; i < w.nedges; i++) {
		n = ask_all(i);
		least = min(least, n);
		all += n;
	}
	is(least, (PW_REDUCE_JOBS - PW_REDUCE_OWN) / 4, "each of three half-routers has its share");
	/* one more comes */
	w.edge[w.nedges++] = (struct edge) { .san = { 0, 1 }, .up = true };
	n = ask_all(3);
	all += n;
	ok(n, "a new half-router finds %u places", n);
	/* and many: those that ask last find none, and there is no more room than for all */
	while (w.nedges < EDGES)
		w.edge[w.nedges++] = (struct edge) { .san = { 0, 1 }, .up = true };
	for (i = 4; i < EDGES; i++)
		all += ask_all(i);
	ok(all <= PW_REDUCE_JOBS - PW_REDUCE_OWN, "requests do not take all places");
	start(0, &cmd, 1000);
	is(w.san[0].agent.njobs, all + 1, "a station finds one");
}

/* a SAN with as many half-routers as it can have: which SANs each was asked for */
static struct {
	u32 sent;
	u8 named[PW_REDUCE_SANS];
	bool bad, ended;
} wide;

#define WIDE_PORTS 255

static int wide_route(void *ctx, u32 san)
{
	(void)ctx;
	return 37 * san % WIDE_PORTS;
}

static bool wide_send(void *ctx, int port, enum pw_reduce_kind kind, const u8 *data, u32 len)
{
	struct pw_reduce_msg m;
	u32 i, san;

	(void)ctx;
	if (kind == PW_REDUCE_TELL)
		return true;
	wide.sent++;
	if (pw_reduce_parse(data, len, &m)) {
		wide.bad = true;
		return true;
	}
	for (i = 0; i < m.n; i++) {
		san = pw_reduce_msg_san(&m, i);
		wide.bad |= san > PW_REDUCE_SANS || wide_route(NULL, san) != port;
		if (!wide.bad && kind == PW_REDUCE_ASK)
			wide.bad |= wide.named[san - 1]++;
	}
	return true;
}

static void wide_done(void *ctx, struct pw_reduce_job *core)
{
	(void)ctx;
	(void)core;
	wide.ended = true;
}

/* a list that leads to many half-routers: each is asked once, and not all in one call */
static void many_parts(void)
{
	static const struct pw_reduce_ops wide_ops = {
		.route = wide_route, .send = wide_send, .done = wide_done,
	};
	static struct pw_reduce_part part[PW_REDUCE_SANS];
	static struct pw_reduce_item item[PW_REDUCE_SANS];
	struct pw_reduce_job job = { .cmd.op = PW_ATON_ADD, .part = part, .item = item };
	u32 i, named = 0, most;
	static struct pw_reduce_agent a;
	u64 now = 1000, next;

	memset(&wide, 0, sizeof(wide));
	pw_reduce_init(&a, &wide_ops, NULL, 1 << 20, 77);
	for (i = 0; i < PW_REDUCE_SANS; i++)
		item[i].san = i + 1;
	pw_reduce_begin(&a, &job, PW_REDUCE_SANS, 1000, now);
	is(job.nparts, WIDE_PORTS, "every half-router is to be asked");
	most = wide.sent;
	ok(a.unsent, "%u are asked at once, the others soon", most);
	for (i = 0; i < 10; i++) {
		u32 before = wide.sent;

		next = pw_reduce_tick(&a, now);
		most = max(most, wide.sent - before);
		if (next > now)
			break;
	}
	ok(most <= PW_REDUCE_ASKS, "one call sends %u requests at most", most);
	is(wide.sent, job.nparts, "all are asked by calls without a pause");
	for (i = 0; i < PW_REDUCE_SANS; i++)
		named += wide.named[i];
	ok(!wide.bad && named == PW_REDUCE_SANS, "each SAN is in one request");
	pw_reduce_tick(&a, now + 1000);
	ok(wide.ended && job.sum.missing == PW_REDUCE_SANS, "none answers: all are missing");
}

/* many requests are due at the same time: a few in each call */
static void repeated(void)
{
	struct pw_reduce_cmd cmd = { .op = PW_ATON_ADD };
	u32 i, calls, sent, most = 0, all = 0;
	u64 next;

	begin_run(5);
	w.loss = 100;
	for (i = 0; i < PW_REDUCE_JOBS; i++)
		start(0, &cmd, 1000);
	w.now += PW_REDUCE_AGAIN_MIN;
	for (calls = 0; calls < 1000; calls++) {
		for (i = 0; i < w.nedges; i++)
			w.edge[i].packets = 0;
		next = pw_reduce_tick(&w.san[0].agent, w.now);
		for (i = 0, sent = 0; i < w.nedges; i++)
			sent += w.edge[i].packets;
		most = max(most, sent);
		all += sent;
		if (next > w.now)
			break;
	}
	ok(most <= PW_REDUCE_ASKS && all > PW_REDUCE_ASKS && next > w.now,
	   "requests are repeated a few at a time: %u of %u", most, all);
}

int main(int argc, char **argv)
{
	unsigned long long seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	unsigned long n = argc > 1 ? 1 : tap_scaled(200);

	messages();
	full();
	asked();
	repeated();
	many_parts();
	runs("nothing is lost", run_quiet, n, seed);
	runs("duplicates", run_doubled, n / 4 + 1, seed);
	runs("loss, duplicates, restarts, wrong routes", run_sums, n, seed);
	runs("many at the same time", run_any, n, seed);
	begin_run(1);
	return tap_done();
}
