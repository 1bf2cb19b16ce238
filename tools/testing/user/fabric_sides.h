/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two engines of the whole fabric side by side under the same random messages. Everything
 * that can be seen from outside is compared, and each side by itself is held to deliver every
 * message once, whole and in the order in which it was sent. With several processes at a port
 * each that a message is for reads it once, in the order in which messages of a type were sent
 * to it from a port in the same way (to it, to all, by a connection).
 */
#ifndef FABRIC_SIDES_H
#define FABRIC_SIDES_H

#include <string.h>

#include "fabric/fabric_fault.h"
#include "fabric_pieces.h"
#include "fabric_traffic.h"

typedef unsigned long long ull;

#define DEV PW_FABRIC_F_DEVICE

struct scene {
	const char *name;
	const struct pw_topo *topo;	/* NULL: three stages of t.k switches */
	struct ft_cfg t;
	u32 depth;
	u32 drop, corrupt;	/* per 1000 cells and input unit of the first stage */
	struct pw_fabric_faults faults;	/* at all input units, instead of these */
	u32 flags, ic_blocks, og_blocks, resend, queue, keep, descs, credit;
	u32 gap_lock, gap_init, gap_get, gap_word;
	u32 route;
	u32 procs;		/* processes at a port, 0: one without a name */
};

/* several processes at a port: at most so many, and types of their messages */
#define PROCS 4
#define TYPES 3
#define CONNS 16

/* a message that was taken, and the ports at which it has arrived */
struct sent {
	u16 src, dst;
	u16 got;
	u64 read;		/* bit of each process that has read it */
};

struct side {
	struct pw_fabric *f;
	const struct scene *sc;
	u64 hash, delivered, done, wrong, rooms, pieces;
	u64 last[FT_PORTS][FT_PORTS];
	struct sent *sent;		/* by number; number 0 is not used */
	u64 nsent, cap;
	void *procs;
	struct last {
		u64 n[FT_PORTS][TYPES][2 + CONNS];
	} *read;		/* last message that a process has read: by source, type and way */
	u64 reads, overtaken;
	u64 newest[FT_PORTS];
};

static_assert(FT_PORTS <= 16 && FT_PORTS * PROCS <= 64);

static struct {
	u64 cycles, delivered, busy, refused, dropped, corrupted, resent, ahead, duplicate, stray;
	u64 overrun, lost, refused_in, nomem, compared, events, lone, pieces, low, mcast;
	u64 reads, overtaken;
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

/* process @i of @port: two names in turn */
static void proc_name(u32 port, u32 i, u8 *name, u32 *instance)
{
	memcpy(name, i % 2 ? "srv" : "wrk", PW_FABRIC_NAME);
	*instance = 8 * port + i / 2;
}

/* the processes that message @n to @dst is for: one, a name, or now and then none */
static void to_of(const struct scene *sc, u64 n, u16 dst, struct pw_fabric_to *to)
{
	u32 v = n * 0x9e3779b97f4a7c15ull >> 40;

	proc_name(dst % sc->t.ports, v % sc->procs, to->name, &to->instance);
	v /= PROCS;
	if (dst >= PW_FABRIC_MC ? v % 8 : !(v % 4))
		to->instance = PW_FABRIC_ANY;
	v /= 8;
	if (!(v % 16))
		to->name[2]++;
	to->type = v / 16 % TYPES;
}

static bool is_for(const struct scene *sc, const struct pw_fabric_to *to, u32 port, u32 i)
{
	u8 name[PW_FABRIC_NAME];
	u32 instance;

	proc_name(port, i, name, &instance);
	return !memcmp(name, to->name, PW_FABRIC_NAME) &&
	       (to->instance == PW_FABRIC_ANY || to->instance == instance);
}

/* ports that a message from @src to @dst must reach */
static u16 receivers(const struct scene *sc, u16 src, u16 dst)
{
	if (dst == PW_FABRIC_ALL)
		return (BIT(sc->t.ports) - 1) & ~(sc->flags & PW_FABRIC_F_SELF ? 0 : BIT(src));
	return dst >= PW_FABRIC_MC ? sc->topo->conn[dst - PW_FABRIC_MC].to[0] : BIT(dst);
}

static void note_sent(struct side *s, const struct ft_msg *m)
{
	if (s->nsent + 1 >= s->cap) {
		s->cap = s->cap ? 2 * s->cap : 1024;
		s->sent = realloc(s->sent, s->cap * sizeof(*s->sent));
		if (!s->sent)
			abort();
	}
	s->sent[++s->nsent] = (struct sent) { m->src, m->dst, 0, 0 };
}

/* bits of the processes that must read message @n */
static u64 readers(const struct side *s, u64 n)
{
	const struct sent *m = &s->sent[n];
	u16 ports = receivers(s->sc, m->src, m->dst);
	struct pw_fabric_to to;
	u64 bits = 0;
	u32 i;

	to_of(s->sc, n, m->dst, &to);
	for (i = 0; i < s->sc->t.ports * PROCS; i++)
		if (ports >> i / PROCS & 1 && i % PROCS < s->sc->procs &&
		    is_for(s->sc, &to, i / PROCS, i % PROCS))
			bits |= BIT_ULL(i);
	return bits;
}

/* ports at which message @n must be delivered */
static u16 expected(const struct side *s, u64 n)
{
	u16 ports = 0;
	u64 bits;
	u32 i;

	if (!s->sc->procs)
		return receivers(s->sc, s->sent[n].src, s->sent[n].dst);
	bits = readers(s, n);
	for (i = 0; i < s->sc->t.ports; i++)
		if (bits >> i * PROCS & (BIT(PROCS) - 1))
			ports |= BIT(i);
	return ports;
}

/* a delivery that should not be: of no message, from elsewhere, a second one, at a wrong port */
static bool stray(struct side *s, u64 n, u16 src, u16 dst)
{
	struct sent *m = &s->sent[n];

	if (!n || n > s->nsent || m->src != src || m->got >> dst & 1 ||
	    !(expected(s, n) >> dst & 1))
		return true;
	m->got |= BIT(dst);
	return false;
}

/* messages that did not arrive everywhere */
static u64 missing(const struct side *s)
{
	u64 i, n = 0;

	for (i = 1; i <= s->nsent; i++)
		n += s->sent[i].got != expected(s, i) ||
		     (s->sc->procs && s->sent[i].read != readers(s, i));
	return n;
}

static void served(void *ctx, u16 dst, const u8 *name, u32 instance, u64 c, u64 cycle)
{
	struct side *s = ctx;
	u64 n = c >> 17, *last;
	struct pw_fabric_to to;
	struct sent *m;
	u32 i;

	mix(s, cycle << 16 | dst << 8 | name[0]);
	mix(s, c ^ (u64)instance << 48);
	s->reads++;
	for (i = 0; i < s->sc->procs; i++) {
		memcpy(to.name, name, PW_FABRIC_NAME);
		to.instance = instance;
		if (is_for(s->sc, &to, dst, i))
			break;
	}
	m = &s->sent[n];
	if (!n || n > s->nsent || i == s->sc->procs ||
	    !((readers(s, n) & ~m->read) >> (dst * PROCS + i) & 1)) {
		s->wrong++;
		return;
	}
	m->read |= BIT_ULL(dst * PROCS + i);
	to_of(s->sc, n, m->dst, &to);
	last = &s->read[dst * PROCS + i].n[m->src][to.type][m->dst == PW_FABRIC_ALL ? 1 :
		m->dst >= PW_FABRIC_MC ? 2 + (m->dst & ~PW_FABRIC_MC) : 0];
	s->wrong += n <= *last;
	*last = n;
	/* types, sources and processes overtake each other: else there were nothing to see */
	s->overtaken += n < s->newest[dst];
	s->newest[dst] = max(s->newest[dst], n);
}

static void deliver(void *ctx, u16 dst, u16 src, u64 c, u32 len, u64 cycle,
		    const struct pw_fabric_times *t)
{
	struct side *s = ctx;

	s->delivered++;
	/* once, in order, whole */
	if (len != (c & 0x1ffff) || (c >> 17 <= s->last[src][dst] && !s->sc->procs) ||
	    t->delivered != cycle ||
	    stray(s, c >> 17, src, dst))
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

	if (pw_fabric_faults_on(&sc->faults))
		return pw_fabric_fault(&sc->faults, ppd, t);
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
	.deliver = deliver, .done = done, .room = room, .fetch = fetch, .served = served,
};
static const struct pw_fabric_ops ops_fault = {
	.deliver = deliver, .done = done, .room = room, .fetch = fetch, .served = served,
	.fault = fault,
};

static bool lossy(const struct scene *sc)
{
	return sc->drop || sc->corrupt || pw_fabric_faults_on(&sc->faults);
}

static void open_procs(struct side *s)
{
	const struct scene *sc = s->sc;
	u8 name[PW_FABRIC_NAME];
	u32 i, instance;

	s->procs = malloc(pw_fabric_procs_size(s->f));
	s->read = calloc(sc->t.ports * PROCS, sizeof(*s->read));
	if (!s->procs || !s->read)
		abort();
	memset(s->procs, 0xa5, pw_fabric_procs_size(s->f));
	pw_fabric_procs(s->f, s->procs);
	for (i = 0; i < sc->t.ports * sc->procs; i++) {
		proc_name(i / sc->procs, i % sc->procs, name, &instance);
		if (pw_fabric_proc(s->f, i / sc->procs, name, instance))
			abort();
	}
}

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
	s->f = pw_fabric_init(mem, &p, lossy(sc) ? &ops_fault : &ops, s);
	if (sc->procs)
		open_procs(s);
}

static void run_to(struct side *s, u64 at)
{
	pw_fabric_lone(s->f, at);
	pieces_run(s->f, at, &s->pieces);
}

static int send(struct side *s, const struct ft_msg *m, u64 c)
{
	struct pw_fabric_to to;

	sum.pieces += pieces_for(s->f, m->src, m->dst, m->len);
	if (s->sc->procs) {
		to_of(s->sc, c >> 17, m->dst, &to);
		return pw_fabric_send_to(s->f, m->src, m->dst, m->path, m->len, c, NULL, &to);
	}
	return pw_fabric_send(s->f, m->src, m->dst, m->path, m->len, c, NULL);
}

static void close_side(struct side *s)
{
	sum.low += s->pieces;
	free(s->sent);
	free(s->procs);
	free(s->read);
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
	sum.reads += a->reads;
	sum.overtaken += a->overtaken;
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
	u64 at, n = 0, until;
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
		if (!why && !e) {
			n++;
			note_sent(&a, &m);
			note_sent(&b, &m);
			sum.mcast += m.dst >= PW_FABRIC_MC && m.dst != PW_FABRIC_ALL;
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
	if (!why && sc->flags & DEV && (a.done != n || b.done != n || missing(&a) || missing(&b)))
		why = "a message is missing";
	add_up(&a, &b);
	ok(!why && n, "%s k %u load %.2f %s: %llu cycles, %llu messages", sc->topo ? topology : "three stages,",
	   sc->topo ? sc->topo->k : sc->t.k, sc->t.load / 1000.0, sc->name, (ull)stepped(&a), (ull)n);
	if (why)
		diag("cycle %llu: %s", (ull)pw_fabric_now(a.f), why);
	close_side(&a);
	close_side(&b);
}

#endif /* FABRIC_SIDES_H */
