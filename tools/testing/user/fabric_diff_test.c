// SPDX-License-Identifier: GPL-2.0
/*
 * The whole fabric (adaptation units, network, processes) by events against the one
 * stepped register by register, side by side under the same random traffic: every
 * delivery, every time of every message, every refusal of a send; at random cycles the
 * size of every queue, the buffers of every unit and every counter. Messages that are
 * alone go through the one at once wherever it knows what comes of them.
 *
 * In a device, the one or the other has sparse buffers, which take memory as they fill.
 */
#include <string.h>

#include "fabric_pieces.h"
#include "fabric_traffic.h"
#include "topo_make.h"

typedef unsigned long long ull;

#define DEV PW_FABRIC_F_DEVICE

struct scene {
	const char *name;
	const struct pw_topo *topo;	/* NULL: three stages of t.k switches */
	struct ft_cfg t;
	u32 depth;
	u32 drop, corrupt;	/* per 1000 cells and input unit of the first stage */
	u32 flags, ic_blocks, og_blocks, resend, queue, keep, descs, credit;
	u32 gap_lock, gap_init, gap_get, gap_word;
	u32 route;
};

struct side {
	struct pw_fabric *f;
	const struct scene *sc;
	u64 hash, delivered, done, wrong, rooms, pieces;
	u64 last[FT_PORTS][FT_PORTS];
};

static struct {
	u64 cycles, delivered, busy, refused, dropped, corrupted, resent, ahead, duplicate, stray;
	u64 overrun, lost, refused_in, nomem, compared, events, lone, pieces, low;
} sum;

static void mix(struct side *s, u64 v)
{
	s->hash = (s->hash ^ v) * 0x9e3779b97f4a7c15ull;
	s->hash ^= s->hash >> 29;
}

/* a message is named by its number and its length */
static u64 cookie(u64 n, u32 len)
{
	return n << 17 | len;
}

static void deliver(void *ctx, u16 dst, u16 src, u64 c, u32 len, u64 cycle,
		    const struct pw_fabric_times *t)
{
	struct side *s = ctx;

	s->delivered++;
	/* once, in order, whole */
	if (len != (c & 0x1ffff) || c >> 17 <= s->last[src][dst] || t->delivered != cycle)
		s->wrong++;
	s->last[src][dst] = c >> 17;
	mix(s, cycle << 16 | dst << 8 | src);
	mix(s, c);
}

static void done(void *ctx, u16 src, u64 c, u64 cycle, const struct pw_fabric_times *t)
{
	struct side *s = ctx;

	s->done++;
	mix(s, t->start);
	mix(s, t->segmented);
	mix(s, t->first_out);
	mix(s, t->first_in);
	mix(s, t->reassembled);
	mix(s, t->acked);
	mix(s, cycle ^ c << 20);
}

static void room(void *ctx, u16 src, u64 cycle)
{
	struct side *s = ctx;

	s->rooms++;
	mix(s, cycle << 8 | src);
}

static void fetch(void *ctx, u16 src, u64 c, u32 off, u8 *buf, u32 n)
{
	u32 v = (u32)(c >> 17) * 2654435761u + off * 40503u;

	while (n--) {
		*buf++ = v >> 13 ^ v >> 21;
		v += 40503u;
	}
}

/* depends on place and time only, so both sides see the same faults */
static enum pw_bmx_fault fault(void *ctx, u32 ppd, u64 t)
{
	const struct scene *sc = ((struct side *)ctx)->sc;
	u64 s = (t * 1000003 + ppd) * 0x9e3779b97f4a7c15ull;
	unsigned int v;

	if (sc->topo ? sc->topo->level[ppd] : ppd >= sc->t.ports)
		return PW_BMX_FAULT_NONE;
	s ^= s >> 31;
	s *= 0xbf58476d1ce4e5b9ull;
	v = (s >> 33) % 1000;
	if (v < sc->drop)
		return PW_BMX_FAULT_DROP;
	return v < sc->drop + sc->corrupt ? PW_BMX_FAULT_CORRUPT : PW_BMX_FAULT_NONE;
}

static const struct pw_fabric_ops ops = {
	.deliver = deliver, .done = done, .room = room, .fetch = fetch,
};
static const struct pw_fabric_ops ops_fault = {
	.deliver = deliver, .done = done, .room = room, .fetch = fetch, .fault = fault,
};

static void open_side(struct side *s, const struct scene *sc, u32 flags)
{
	struct pw_fabric_params p = {
		.k = sc->t.k, .topo = sc->topo, .depth = sc->depth, .flags = sc->flags | flags, .keep = sc->keep,
		.ic_blocks = sc->ic_blocks, .og_blocks = sc->og_blocks, .resend = sc->resend,
		.queue = sc->queue, .descs = sc->descs, .credit = sc->credit,
		.gap_lock = sc->gap_lock, .gap_init = sc->gap_init, .gap_get = sc->gap_get,
		.gap_word = sc->gap_word, .route = sc->route,
	};
	void *mem = pw_fabric_check(&p) ? NULL : malloc(pw_fabric_size(&p));

	if (!mem)
		abort();
	memset(mem, 0xa5, pw_fabric_size(&p));
	memset(s, 0, sizeof(*s));
	s->sc = sc;
	s->hash = 1;
	s->f = pw_fabric_init(mem, &p, sc->drop + sc->corrupt ? &ops_fault : &ops, s);
}

static void run_to(struct side *s, u64 at)
{
	pw_fabric_lone(s->f, at);
	pieces_run(s->f, at, &s->pieces);
}

static int send(struct side *s, const struct ft_msg *m, u64 c)
{
	sum.pieces += pieces_for(s->f, m->src, m->dst, m->len);
	return pw_fabric_send(s->f, m->src, m->dst, m->path, m->len, c, NULL);
}

static void close_side(struct side *s)
{
	sum.low += s->pieces;
	pieces_free(s->f);
	free(s->f);
}

static u64 stepped(const struct side *s)
{
	struct pw_fabric_stats st;

	pw_fabric_stats(s->f, &st);
	return st.events;
}

/* what differs between the two now, in words; NULL if nothing does */
static const char *difference(struct side *a, struct side *b)
{
	const struct pw_topo *topo = a->sc->topo;
	u32 k = topo ? topo->k : a->sc->t.k, ports = a->sc->t.ports, i, j;
	u32 ranks = topo ? topo->ranks : 3 * ports, stages = topo ? topo->levels : 3;
	struct pw_fabric_stage x, y;
	struct pw_aal_stats s, t;
	static char text[160];

	sum.compared++;
	if (a->hash != b->hash || a->delivered != b->delivered || a->done != b->done) {
		snprintf(text, sizeof(text), "deliveries: rtl %llu/%llu, fast %llu/%llu",
			 (ull)a->delivered, (ull)a->done, (ull)b->delivered, (ull)b->done);
		return text;
	}
	for (i = 0; i < ranks * k; i++) {
		u32 q = pw_fabric_qsize(a->f, i / k, i % k), r = pw_fabric_qsize(b->f, i / k, i % k);

		if (q == r)
			continue;
		snprintf(text, sizeof(text), "queue %u of unit %u: rtl %u, fast %u", i % k, i / k,
			 q, r);
		return text;
	}
	for (i = 0; i < ports; i++) {
		const struct pw_aal *u = pw_fabric_aal(a->f, i), *v = pw_fabric_aal(b->f, i);

		pw_fabric_port_stats(a->f, i, &s);
		pw_fabric_port_stats(b->f, i, &t);
		for (j = 0; j < sizeof(s) / 8; j++) {
			if (((u64 *)&s)[j] == ((u64 *)&t)[j])
				continue;
			snprintf(text, sizeof(text), "port %u counter %u: rtl %llu, fast %llu", i,
				 j, (ull)((u64 *)&s)[j], (ull)((u64 *)&t)[j]);
			return text;
		}
		if (u->ogbblknum == v->ogbblknum && u->icbblknum == v->icbblknum &&
		    u->icblkinmsgnum == v->icblkinmsgnum && u->ogmsgnum == v->ogmsgnum &&
		    u->nmsgs == v->nmsgs)
			continue;
		snprintf(text, sizeof(text), "port %u: rtl %u+%u blocks, fast %u+%u", i,
			 u->ogbblknum, u->icbblknum, v->ogbblknum, v->icbblknum);
		return text;
	}
	for (i = 0; i <= stages; i++) {
		pw_fabric_stage(a->f, i, &x);
		pw_fabric_stage(b->f, i, &y);
		if (!memcmp(&x, &y, sizeof(x)))
			continue;
		snprintf(text, sizeof(text), "stage %u: rtl %llu cells %llu refused, fast %llu %llu",
			 i, (ull)x.cells, (ull)x.refused, (ull)y.cells, (ull)y.refused);
		return text;
	}
	return NULL;
}

static void add_up(struct side *a, struct side *b)
{
	u32 ports = a->sc->t.ports, stages = a->sc->topo ? a->sc->topo->levels : 3, i;
	struct pw_fabric_stats st;
	struct pw_fabric_stage x;
	struct pw_aal_stats s;

	pw_fabric_stats(a->f, &st);
	sum.busy += st.busy;
	sum.lost += st.lost;
	sum.cycles += st.events;
	sum.events += stepped(b);
	pw_fabric_stats(b->f, &st);
	sum.lone += st.lone;
	sum.delivered += a->delivered;
	for (i = 0; i < ports; i++) {
		pw_fabric_port_stats(a->f, i, &s);
		sum.resent += s.resent;
		sum.ahead += s.ahead;
		sum.duplicate += s.duplicate;
		sum.stray += s.stray_ack;
		sum.overrun += s.overrun;
		sum.refused_in += s.refused_in;
		sum.nomem += s.nomem;
	}
	for (i = 0; i < stages; i++) {
		pw_fabric_stage(a->f, i, &x);
		sum.refused += x.refused;
		sum.dropped += x.dropped;
		sum.corrupted += x.corrupted;
	}
}

static const char *topology;
static unsigned long only, number;	/* run the only-th, compare at every message */

static void scene(const struct scene *sc, u64 cycles, u64 seed)
{
	u64 at, n = 0, expected = 0, until;
	unsigned long long rnd = seed + 1;
	struct pw_fabric_stats st;
	const char *why = NULL;
	struct side a, b;
	struct ft_gen g;
	struct ft_msg m;
	int e, f;

	if (only && ++number != only)
		return;
	open_side(&a, sc, sc->flags & DEV && seed % 2 ? PW_FABRIC_F_SPARSE : 0);
	open_side(&b, sc, PW_FABRIC_F_FAST |
			  (sc->flags & DEV && !(seed % 2) ? PW_FABRIC_F_SPARSE : 0));
	ft_init(&g, &sc->t, seed);
	while (!why && stepped(&a) < cycles) {
		ft_next(&g, &m);
		run_to(&a, m.at);
		run_to(&b, m.at);
		at = cookie(n + 1, m.len);
		e = send(&a, &m, at);
		f = send(&b, &m, at);
		if (e != f)
			why = "one takes a message, the other does not";
		if (!e) {
			n++;
			if (m.dst != PW_FABRIC_ALL)
				expected++;
			else
				expected += sc->t.ports - !(sc->flags & PW_FABRIC_F_SELF);
		}
		if (!why && (tap_rand(&rnd) % 16 == 0 || only))
			why = difference(&a, &b);
	}
	/* let it run dry: then everything must be there (published: a message that is not read is lost) */
	at = pw_fabric_now(a.f);
	until = at + (sc->flags & DEV ? 20000000 : 60000);
	while (!why && a.done < n && at < until && pw_fabric_next(a.f) != PW_FABRIC_NEVER) {
		at += only ? 1 : 1000;
		run_to(&a, at);
		run_to(&b, at);
		if (only)
			why = difference(&a, &b);
	}
	if (!why)
		why = difference(&a, &b);
	pw_fabric_stats(a.f, &st);
	if (!why && (a.wrong || b.wrong || st.mismatch))
		why = "a message came twice, changed or out of order";
	if (!why && sc->flags & DEV && (a.done != n || a.delivered != expected))
		why = "a message is missing";
	add_up(&a, &b);
	ok(!why && n, "%s k %u load %.2f %s: %llu cycles, %llu messages", sc->topo ? topology : "three stages,",
	   sc->topo ? sc->topo->k : sc->t.k, sc->t.load / 1000.0, sc->name, (ull)stepped(&a), (ull)n);
	if (why)
		diag("cycle %llu: %s", (ull)pw_fabric_now(a.f), why);
	close_side(&a);
	close_side(&b);
}

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
	u64 topo_each = tap_scaled(4000);
#else
	u64 big = max_t(u64, tap_scaled(TAP_EMULATED ? 1500 : 110000), 600);
	u64 small = max_t(u64, tap_scaled(TAP_EMULATED ? 3000 : 600000), 1200);
	u64 topo_each = max_t(u64, tap_scaled(TAP_EMULATED ? 1000 : 250000), 600);
	u64 want = TAP_EMULATED ? 0 : tap_scaled(100000000);
#endif
	static const char *const topologies[] = {
		"clos:4x4x4", "clos:3x5x2", "benes:8", "benes:16", "butterfly:2x3", "butterfly:4x2",
		"crossbar:4", "crossbar:16", "torus:4x4", "torus:2x3x2", "mesh:4x4", "mesh:2x3",
		"fattree:2x3", "fattree:4x2", "ring:5", "ring:8x2",
	};
	/* of scenes above: broadcast, one-cell queues, faults, full buffers */
	static const u32 topo_scenes[] = { 2, 4, 5, 10 };
	struct pw_topo *topo;
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
	for (i = 0; i < ARRAY_SIZE(topologies); i++) {
		topology = topologies[i];
		topo = topo_make(topology);
		if (!topo) {
			ok(false, "topology %s", topology);
			continue;
		}
		for (j = 0; j < ARRAY_SIZE(topo_scenes); j++) {
			s = scenes[topo_scenes[j]];
			s.topo = topo;
			s.t.load = loads[(i + 2 * j) % ARRAY_SIZE(loads)];
			s.t.k = topo->paths;
			s.t.ports = topo->ports;
			s.route = 1 + (i + j) % 3;
			/* nothing is sent again: cells that block each other would stay */
			if (!s.drop)
				s.resend = INT_MAX;
			scene(&s, topo_each, 40000 + 10 * i + j);
		}
		free(topo);
	}
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
