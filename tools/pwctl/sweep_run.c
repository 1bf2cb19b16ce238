// SPDX-License-Identifier: GPL-2.0
/*
 * One run of a sweep: an open loop. Messages come up at each port with a fixed chance in
 * every cycle, or when a trace says so, whatever the fabric does, and wait in a list without
 * end if it is full.
 */
#include "sweep.h"

const char *const traffic_name[TRAFFICS] = {
	"uniform", "transpose", "hotspot", "neighbour", "bursty", "trace", "multicast"
};

struct waiting {
	uint64_t at;
	uint32_t bytes;
	uint16_t dst;
};

struct source {
	uint64_t rnd;
	uint64_t next;		/* cycle in which the next messages come up */
	struct waiting *list;	/* head .. n - 1 are not in the fabric yet */
	size_t head, n, cap;
	bool full;
	size_t first, line;	/* trace: the first message of the port, and the one that is next */
	uint64_t start;		/* trace: cycle in which this repetition of it began */
};

/* what is known at the end of a bin, since the start */
struct bin {
	uint64_t offered, delivered, latency;
	uint64_t fill[PW_BMX_STAGES];	/* at this moment */
	uint64_t refused[SWEEP_STAGES], cells[SWEEP_STAGES];
};

struct sim {
	const struct sweep *s;
	const struct point *p;
	struct pw_fabric_faults faults;
	struct pw_fabric *f;
	uint32_t ports;
	uint64_t chance;	/* of messages in a cycle, in 2^-64 */
	uint64_t period;	/* trace: cycles from one repetition to the next */
	size_t *follows;	/* trace: see trace_links() */
	struct source *src;
	uint32_t *latency;	/* of each delivered message, in their order */
	size_t cap;
	int err;
	uint64_t offered, delivered, sum;
	struct bin bin[SWEEP_BINS + 1];
};

/*
 * Time of a trace is stretched so that its senders have the load of the point in the mean: a
 * repetition takes as long as that load needs for the work of all messages.
 */
static uint64_t trace_period(const struct messages *t, uint32_t load)
{
	bool sends[PACKETWAY_PORTS_MAX] = {};
	uint64_t work = 0, senders = 0;
	size_t i;

	for (i = 0; i < t->n; i++) {
		work += message_work(t->m[i].bytes);
		senders += !sends[t->m[i].src];
		sends[t->m[i].src] = true;
	}
	return work * LOAD_UNIT / load / senders + 1;
}

/* which message of the trace follows at the same port; the last one is followed by the first */
static int trace_links(struct sim *m)
{
	const struct messages *t = &m->s->trace;
	size_t last[PACKETWAY_PORTS_MAX], i;

	m->follows = malloc(t->n * sizeof(*m->follows));
	if (!m->follows)
		return -ENOMEM;
	for (i = 0; i < m->ports; i++)
		last[i] = SIZE_MAX;
	for (i = 0; i < t->n; i++) {
		struct source *q = &m->src[t->m[i].src];

		if (last[t->m[i].src] == SIZE_MAX)
			q->first = i;
		else
			m->follows[last[t->m[i].src]] = i;
		last[t->m[i].src] = i;
	}
	for (i = 0; i < m->ports; i++)
		if (last[i] != SIZE_MAX)
			m->follows[last[i]] = m->src[i].first;
	return 0;
}

static uint64_t next_of_trace(struct sim *m, struct source *q)
{
	const struct messages *t = &m->s->trace;
	size_t before = q->line;

	if (q->first == SIZE_MAX)
		return UINT64_MAX;
	q->line = before == SIZE_MAX ? q->first : m->follows[before];
	if (before != SIZE_MAX && q->line <= before)
		q->start += m->period;
	if (!t->m[t->n - 1].cycle)
		return q->start + 1;
	/* a mean gap lies between the last message and the first of the next repetition */
	return q->start + 1 + (uint64_t)((__uint128_t)t->m[q->line].cycle * m->period *
					 (t->n - 1) / t->m[t->n - 1].cycle / t->n);
}

static uint64_t next_cycle(struct sim *m, struct source *q, uint64_t now)
{
	if (m->p->traffic == TRACE)
		return next_of_trace(m, q);
	do
		now++;
	while (now <= m->s->cycles && draw(&q->rnd) >= m->chance);
	return now;
}

static uint16_t other_port(struct sim *m, struct source *q, uint32_t src)
{
	uint32_t d = below(&q->rnd, m->ports - 1);

	return d + (d >= src);
}

/* one of the connections of @src; a station without connections sends to any one other */
static uint16_t connection(struct sim *m, struct source *q, uint32_t src)
{
	const struct pw_topo *t = m->p->p.topo;
	uint32_t n = 0, i;

	for (i = 0; i < t->conns; i++)
		n += t->conn[i].src == src;
	if (!n)
		return other_port(m, q, src);
	n = below(&q->rnd, n);
	for (i = 0; t->conn[i].src != src || n--; i++)
		;
	return PW_FABRIC_MC + i;
}

/* ports that get a message */
static uint32_t receivers(const struct sim *m, uint16_t dst)
{
	if (dst == PW_FABRIC_ALL)
		return m->ports - 1;
	return dst < PW_FABRIC_MC ? 1 : m->p->p.topo->conn[dst - PW_FABRIC_MC].num;
}

static uint16_t destination(struct sim *m, struct source *q, uint32_t src)
{
	uint32_t k = 1;

	switch (m->p->traffic) {
	case TRANSPOSE:
		while (k * k < m->ports)
			k++;
		return src % k * k + src / k;
	case NEIGHBOUR:
		return (src + 1) % m->ports;
	case TRACE:
		return m->s->trace.m[q->line].dst;
	case MULTICAST:
		return connection(m, q, src);
	case HOTSPOT:
		if (src && below(&q->rnd, LOAD_UNIT) < m->s->hotspot)
			return 0;
		return other_port(m, q, src);
	default:
		return other_port(m, q, src);
	}
}

static void drain(struct sim *m, uint32_t port)
{
	struct source *q = &m->src[port];

	while (q->head < q->n && !q->full && !m->err) {
		const struct waiting *w = &q->list[q->head];
		int err = pw_fabric_send(m->f, port, w->dst, PW_FABRIC_AUTO, w->bytes, w->at,
					 NULL);

		if (!err)
			q->head++;
		else if (err == -EBUSY)
			q->full = true;
		else
			m->err = err;
	}
}

/* messages come up at a port: one, or a burst to one destination */
static void come_up(struct sim *m, uint32_t port, uint64_t now)
{
	struct source *q = &m->src[port];
	uint16_t dst = destination(m, q, port);
	uint32_t n = 1, burst = m->s->burst, bytes = m->p->bytes;

	if (m->p->traffic == TRACE)
		bytes = m->s->trace.m[q->line].bytes;
	while (m->p->traffic == BURSTY && burst > 1 && below(&q->rnd, burst))
		n++;
	for (; n; n--) {
		if (q->head == q->n)
			q->head = q->n = 0;
		if (q->n == q->cap) {
			size_t cap = q->cap ? 2 * q->cap : 64;
			struct waiting *list = realloc(q->list, cap * sizeof(*list));

			if (!list) {
				m->err = -ENOMEM;
				return;
			}
			q->list = list;
			q->cap = cap;
		}
		q->list[q->n++] = (struct waiting) { now, bytes, dst };
		/* each receiver counts */
		m->offered += receivers(m, dst);
	}
	drain(m, port);
}

static void run_deliver(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
			const struct pw_fabric_times *t)
{
	struct sim *m = ctx;

	if (m->delivered == m->cap) {
		size_t cap = m->cap ? 2 * m->cap : 4096;
		uint32_t *list = realloc(m->latency, cap * sizeof(*list));

		if (!list) {
			m->err = -ENOMEM;
			return;
		}
		m->latency = list;
		m->cap = cap;
	}
	m->latency[m->delivered++] = cycle - cookie;
	m->sum += cycle - cookie;
}

static void run_room(void *ctx, u16 src, u64 cycle)
{
	struct sim *m = ctx;

	m->src[src].full = false;
	drain(m, src);
}

static enum pw_bmx_fault run_fault(void *ctx, u32 ppd, u64 t)
{
	const struct sim *m = ctx;

	return pw_fabric_fault(&m->faults, ppd, t);
}

static const struct pw_fabric_ops run_ops = {
	.deliver = run_deliver, .room = run_room, .fault = run_fault,
};

static void run_to(struct pw_fabric *f, uint64_t cycle)
{
	while (pw_fabric_now(f) < cycle)
		pw_fabric_run(f, cycle, UINT32_MAX);
}

static void end_bin(struct sim *m, struct bin *b)
{
	struct pw_fabric_stage st;
	uint32_t stages = pw_fabric_stages(&m->p->p), ranks = pw_fabric_ranks(&m->p->p);
	uint32_t i, q, s, to, k = m->p->p.k;
	const struct pw_topo *t = m->p->p.topo;

	b->offered = m->offered;
	b->delivered = m->delivered;
	b->latency = m->sum;
	for (s = 0; s <= stages; s++) {
		to = s == stages ? SWEEP_STAGES - 1 : t ? s > 0 : s;
		pw_fabric_stage(m->f, s, &st);
		b->refused[to] += st.refused;
		b->cells[to] += st.cells;
	}
	for (i = 0; i < ranks; i++)
		for (q = 0; q < k; q++)
			b->fill[t ? t->level[i] > 0 : i / m->ports] += pw_fabric_qsize(m->f, i, q);
}

static void simulate(struct sim *m)
{
	uint32_t i, first, n = 1;
	uint64_t end;

	while (!m->err) {
		first = 0;
		for (i = 1; i < m->ports; i++)
			if (m->src[i].next < m->src[first].next)
				first = i;
		for (; n <= SWEEP_BINS; n++) {
			end = (uint64_t)m->s->cycles * n / SWEEP_BINS;
			if (m->src[first].next <= end)
				break;
			run_to(m->f, end);
			end_bin(m, &m->bin[n]);
		}
		if (n > SWEEP_BINS)
			return;
		run_to(m->f, m->src[first].next);
		come_up(m, first, m->src[first].next);
		m->src[first].next = next_cycle(m, &m->src[first], m->src[first].next);
	}
}

/*
 * Bins before the steady state: the cut behind which the means of the bins have the
 * smallest standard error (MSER). No more than half of the bins are cut off. @count and @sum: what
 * was counted until the start of the first bin and the end of each.
 */
uint32_t sweep_warm_up(const uint64_t *count, const uint64_t *sum)
{
	double best = 0;
	uint32_t cut, n, i, at = 0;

	for (cut = 0; cut <= SWEEP_BINS / 2; cut++) {
		double y[SWEEP_BINS], mean = 0, err = 0;

		for (i = cut, n = 0; i < SWEEP_BINS; i++) {
			if (count[i + 1] == count[i])
				continue;
			y[n] = (double)(sum[i + 1] - sum[i]) / (double)(count[i + 1] - count[i]);
			mean += y[n++];
		}
		if (n < 2)
			break;
		mean /= n;
		for (i = 0; i < n; i++)
			err += (y[i] - mean) * (y[i] - mean);
		err /= (double)n * n;
		if (!cut || err < best) {
			best = err;
			at = cut;
		}
	}
	return at;
}

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void sum_up(struct sim *m, struct result *r)
{
	uint64_t count[SWEEP_BINS + 1], sum[SWEEP_BINS + 1];
	const struct bin *a, *z = &m->bin[SWEEP_BINS];
	struct pw_fabric_stats st;
	uint32_t cut, i, s;

	for (i = 0; i <= SWEEP_BINS; i++) {
		count[i] = m->bin[i].delivered;
		sum[i] = m->bin[i].latency;
	}
	cut = sweep_warm_up(count, sum);
	a = &m->bin[cut];
	memset(r, 0, sizeof(*r));
	r->warmup = (uint64_t)m->s->cycles * cut / SWEEP_BINS;
	r->window = m->s->cycles - r->warmup;
	r->offered = z->offered - a->offered;
	r->delivered = z->delivered - a->delivered;
	r->latency = z->latency - a->latency;
	if (r->delivered) {
		uint32_t *l = m->latency + a->delivered;

		qsort(l, r->delivered, sizeof(*l), by_size);
		r->p99 = l[(r->delivered - 1) * 99 / 100];
		r->worst = l[r->delivered - 1];
	}
	for (i = cut + 1; i <= SWEEP_BINS; i++, r->samples++)
		for (s = 0; s < PW_BMX_STAGES; s++)
			r->fill[s] += m->bin[i].fill[s];
	for (s = 0; s < SWEEP_STAGES; s++) {
		r->refused[s] = z->refused[s] - a->refused[s];
		r->cells[s] = z->cells[s] - a->cells[s];
	}
	pw_fabric_stats(m->f, &st);
	r->lost = st.lost;
	for (i = 0; i < m->ports; i++)
		r->waiting += m->src[i].n - m->src[i].head;
}

/* 0, or a negative errno */
int sweep_run(const struct sweep *s, const struct point *p, uint32_t seed, struct result *r)
{
	struct sim *m = calloc(1, sizeof(*m));
	void *mem = malloc(pw_fabric_size(&p->p));
	uint32_t i;
	int err = -ENOMEM;

	if (!m || !mem)
		goto out;
	m->s = s;
	m->p = p;
	m->ports = pw_fabric_ports(&p->p);
	m->src = calloc(m->ports, sizeof(*m->src));
	if (!m->src)
		goto out;
	m->chance = load_chance(p->load, p->bytes, p->traffic == BURSTY ? s->burst : 1);
	for (i = 0; i < m->ports; i++)
		m->src[i].first = m->src[i].line = SIZE_MAX;
	if (p->traffic == TRACE)
		m->period = trace_period(&s->trace, p->load);
	err = p->traffic == TRACE ? trace_links(m) : 0;
	if (err)
		goto out_src;
	m->faults = p->faults;
	if (!s->fault_seed)
		m->faults.seed = seed;
	m->f = pw_fabric_init(mem, &p->p, &run_ops, m);
	pw_fabric_callbacks(m->f, false, pw_fabric_faults_on(&m->faults));
	for (i = 0; i < m->ports; i++) {
		/* each port has its own sequence */
		m->src[i].rnd = (uint64_t)seed << 32 | i;
		m->src[i].rnd = draw(&m->src[i].rnd);
		m->src[i].next = next_cycle(m, &m->src[i], 0);
	}
	simulate(m);
	err = m->err;
	if (!err)
		sum_up(m, r);
	for (i = 0; i < m->ports; i++)
		free(m->src[i].list);
	free(m->latency);
	free(m->follows);
out_src:
	free(m->src);
out:
	free(m);
	free(mem);
	return err;
}
