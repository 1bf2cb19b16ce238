// SPDX-License-Identifier: GPL-2.0
/* pwmodel net: one SAN, its traffic and its ends of routers. */
#include <stdlib.h>
#include <string.h>

#include "pwmodel.h"
#include "pwmodel_net.h"
#include "traffic.h"

#define NO_CELL	U32_MAX		/* end of the free list */

struct net_transit *net_fifo_add(struct net_fifo *q)
{
	if (q->head == q->n)
		q->head = q->n = 0;
	if (q->n == q->cap) {
		/* a list that never becomes empty moves to its start instead of growing */
		if (q->head > q->n / 2) {
			q->n -= q->head;
			memmove(q->m, q->m + q->head, q->n * sizeof(*q->m));
			q->head = 0;
		} else {
			q->cap = q->cap ? 2 * q->cap : 4;
			q->m = realloc(q->m, q->cap * sizeof(*q->m));
			if (!q->m)
				pwm_fail("out of memory");
		}
	}
	return &q->m[q->n++];
}

/* ---- heap: the next event of each port ---- */

static void heap_push(struct net_san *a, u64 cycle, u32 port)
{
	u64 key = cycle << 8 | port;
	u32 i = a->heaped++;

	for (; i && a->heap[(i - 1) / 2] > key; i = (i - 1) / 2)
		a->heap[i] = a->heap[(i - 1) / 2];
	a->heap[i] = key;
}

static void heap_pop(struct net_san *a)
{
	u64 key = a->heap[--a->heaped];
	u32 i = 0, j;

	for (; (j = 2 * i + 1) < a->heaped; i = j) {
		if (j + 1 < a->heaped && a->heap[j + 1] < a->heap[j])
			j++;
		if (a->heap[j] >= key)
			break;
		a->heap[i] = a->heap[j];
	}
	a->heap[i] = key;
}

static u64 heap_cycle(const struct net_san *a)
{
	return a->heaped ? a->heap[0] >> 8 : NET_NEVER;
}

/* ---- sources ---- */

/* upper half of a product */
static u64 mul_high(u64 a, u64 b)
{
	u64 al = (u32)a, ah = a >> 32, bl = (u32)b, bh = b >> 32;
	u64 mid = ah * bl + (al * bl >> 32);
	u64 low = al * bh + (u32)mid;

	return ah * bh + (mid >> 32) + (low >> 32);
}

void net_chances(struct net *n)
{
	n->chance[0] = ~load_chance(n->s->load, n->s->bytes, 1);
	for (int i = 1; i < 32; i++)
		n->chance[i] = mul_high(n->chance[i - 1], n->chance[i - 1]);
}

/*
 * Cycles until the next message: each has the same chance. The number of cycles without
 * one is the largest power of chance[0] above a random number, found bit by bit in
 * integers, so that no rounding depends on the machine.
 */
static u64 interval(const struct net *n, u64 *rnd)
{
	u64 r = draw(rnd), left = U64_MAX, next, cycles = 1;

	for (int i = 31; i >= 0; i--) {
		next = mul_high(left, n->chance[i]);
		if (next <= r)
			continue;
		left = next;
		cycles += 1ull << i;
	}
	return cycles;
}

/* station to which the next message of a source goes */
static u32 destination(const struct net_spec *s, u32 src, u64 *rnd)
{
	u32 d = below(rnd, s->base[s->sans] - 1);

	return d + (d >= src);
}

static u32 san_of(const struct net_spec *s, u32 station)
{
	u32 lo = 0, hi = s->sans;

	while (hi - lo > 1) {
		u32 mid = lo + (hi - lo) / 2;

		if (s->base[mid] <= station)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static struct net_fifo *list_of(struct net_san *a, u32 port)
{
	return &a->list[a->net->s->ports - 1 - port];
}

static bool is_full(const struct net_san *a, u32 port)
{
	return a->full[port / 64] >> port % 64 & 1;
}

/* hand a message to the fabric; false if that has no room */
static bool send(struct net_san *a, u32 port, const struct net_transit *m)
{
	const struct net_spec *s = a->net->s;
	u32 to = san_of(s, m->dst), i = a->inside_free;
	u32 dst_port = to == a->id ? m->dst - s->base[a->id] : s->ports - 1 - a->hop[to];
	int err;

	if (i == NO_CELL) {
		u32 cap = a->inside_cap ? 2 * a->inside_cap : 64;

		a->inside = realloc(a->inside, cap * sizeof(*a->inside));
		if (!a->inside)
			pwm_fail("out of memory");
		for (u32 j = a->inside_cap; j < cap; j++)
			a->inside[j].next = j + 1 < cap ? j + 1 : NO_CELL;
		i = a->inside_cap;
		a->inside_cap = cap;
	}
	err = pw_fabric_send(a->f, port, dst_port, PW_FABRIC_AUTO, m->bytes, i, NULL);
	if (err == -EBUSY) {
		a->inside_free = i;
		a->full[port / 64] |= 1ull << port % 64;
		return false;
	}
	if (err)
		pwm_fail("bytes: %u do not fit into the buffers of a fabric", m->bytes);
	a->inside_free = a->inside[i].next;
	a->inside[i] = (struct net_inside) {
		.at = m->at, .created = m->created, .src = m->src, .dst = m->dst,
		.bytes = m->bytes, .hops = m->hops, .cut = m->cut,
	};
	return true;
}

/* send what waits at a port, as far as the fabric has room */
static void drain(struct net_san *a, u32 port)
{
	const struct net_spec *s = a->net->s;
	u32 src = s->base[a->id] + port;
	struct net_source *q;
	struct net_fifo *l;

	if (s->ports - 1 - port < a->lists) {
		l = list_of(a, port);
		for (; l->head < l->n && !is_full(a, port); l->head++) {
			if (!send(a, port, &l->m[l->head]))
				return;
		}
		return;
	}
	q = &a->source[port];
	while (q->waiting && !is_full(a, port)) {
		u64 rnd = q->send_rnd;
		const struct net_transit m = {
			.created = q->send, .src = src, .dst = destination(s, src, &rnd),
			.bytes = s->bytes,
		};

		if (!send(a, port, &m))
			return;
		q->send += interval(a->net, &rnd);
		q->send_rnd = rnd;
		q->waiting--;
	}
}

/* a message comes up at a source, whatever the fabric does */
static void arrival(struct net_san *a, u32 port)
{
	struct net_source *q = &a->source[port];

	destination(a->net->s, 0, &q->arrival_rnd);
	q->arrival += interval(a->net, &q->arrival_rnd);
	if (q->arrival <= a->net->s->cycles)
		heap_push(a, q->arrival, port);
	q->waiting++;
	a->t.sent++;
	a->t.bytes += a->net->s->bytes;
	drain(a, port);
}

/* ---- callbacks of the fabric ---- */

static u64 mix(u64 h, u64 v)
{
	h ^= v;
	return draw(&h);
}

static u32 bin_of(u64 v)
{
	u32 shift;

	if (v < 1u << NET_HIST_BITS)
		return v;
	shift = 63 - __builtin_clzll(v) - (NET_HIST_BITS - 1);
	v = (1u << NET_HIST_BITS) + (shift - 1) * (1u << (NET_HIST_BITS - 1)) +
	    (v >> shift) - (1u << (NET_HIST_BITS - 1));
	return min_t(u64, v, NET_HIST - 1);
}

static void arrived(struct net_san *a, const struct net_inside *m, u64 cycle)
{
	u64 latency;

	a->t.last = max(a->t.last, cycle);
	/* the digest has times as the messages count them */
	cycle -= m->cut.saved;
	latency = cycle - m->created;
	a->t.delivered++;
	a->t.crossings += m->hops;
	a->t.latency += latency;
	a->t.latency_min = max(a->t.latency_min, ~latency);
	a->t.latency_max = max(a->t.latency_max, latency);
	a->hist[bin_of(latency)]++;
	a->t.digest = mix(mix(mix(a->t.digest, (u64)m->src << 32 | m->dst), m->created),
			  cycle ^ (u64)m->bytes << 44);
}

/* a message leaves a SAN: what it and the one before have both counted, and what comes next */
static void cut(const struct net_spec *s, struct net_inside *m, u64 cycle,
		const struct pw_fabric_times *times)
{
	u64 first;

	if (m->cut.first)
		m->cut.saved += min_t(u64, m->cut.first,
				      m->cut.last + max(times->segmented, m->at) - m->at);
	m->cut.first = 0;
	if (!s->cut_through || !times->first_in)
		return;
	first = cycle - times->first_in;
	m->cut.first = first > s->cut_through ? min_t(u64, first - s->cut_through, U32_MAX) : 0;
	m->cut.last = min_t(u64, cycle - times->reassembled, U32_MAX);
}

static void deliver(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
		    const struct pw_fabric_times *times)
{
	struct net_san *a = ctx;
	struct net_inside *m = &a->inside[cookie];
	struct net_transit *x;

	cut(a->net->s, m, cycle, times);
	if (dst < a->stations) {
		arrived(a, m, cycle);
		return;
	}
	x = net_fifo_add(&a->out[a->net->s->ports - 1 - dst][a->window & 1]);
	*x = (struct net_transit) {
		.at = cycle + a->net->s->latency, .created = m->created, .src = m->src,
		.dst = m->dst, .bytes = m->bytes, .hops = m->hops + 1, .cut = m->cut,
	};
}

static void done(void *ctx, u16 src, u64 cookie, u64 cycle, const struct pw_fabric_times *t)
{
	struct net_san *a = ctx;

	a->inside[cookie].next = a->inside_free;
	a->inside_free = cookie;
}

static void room(void *ctx, u16 src, u64 cycle)
{
	struct net_san *a = ctx;

	a->full[src / 64] &= ~(1ull << src % 64);
	drain(a, src);
}

static enum pw_bmx_fault fault(void *ctx, u32 ppd, u64 t)
{
	const struct net_san *a = ctx;
	struct pw_fabric_faults own = a->net->s->faults;

	own.seed += a->id;
	return pw_fabric_fault(&own, ppd, t);
}

const struct pw_fabric_ops net_san_ops = {
	.deliver = deliver, .done = done, .room = room, .fault = fault,
};

/* ---- windows ---- */

/* what crossed towards end @i in the window before */
static struct net_fifo *incoming(struct net_san *a, u32 i)
{
	const struct net_spec *s = a->net->s;
	const struct net_end *e = &s->end[s->first[a->id] + i];

	if (e->san < a->net->lo || e->san >= a->net->hi)
		return &a->in[i];
	return &a->net->san[e->san - a->net->lo]->out[e->end][!(a->window & 1)];
}

static void take_event(struct net_san *a, u32 port)
{
	const struct net_spec *s = a->net->s;
	struct net_fifo *in, *l;

	if (port < a->stations) {
		arrival(a, port);
		return;
	}
	in = incoming(a, s->ports - 1 - port);
	l = list_of(a, port);
	*net_fifo_add(l) = in->m[in->head++];
	a->t.queue_max = max_t(u64, a->t.queue_max, l->n - l->head);
	if (in->head < in->n)
		heap_push(a, in->m[in->head].at, port);
	drain(a, port);
}

/* cycle of the next message of the file's list */
static u64 message_cycle(const struct net_san *a)
{
	return a->message < a->messages ? a->net->s->message[a->message].cycle : NET_NEVER;
}

static void take_message(struct net_san *a)
{
	const struct net_spec *s = a->net->s;
	const struct net_message *m = &s->message[a->message++];

	*net_fifo_add(list_of(a, m->port)) = (struct net_transit) {
		.created = m->cycle, .src = s->base[m->san] + m->port,
		.dst = s->base[m->dst_san] + m->dst_port, .bytes = m->bytes,
	};
	a->t.sent++;
	a->t.bytes += m->bytes;
	drain(a, m->port);
}

/* run a fabric up to a cycle */
static void advance(struct net_san *a, u64 cycle)
{
	while (pw_fabric_now(a->f) < cycle)
		pw_fabric_run(a->f, cycle, U32_MAX);
}

/*
 * Run up to and including cycle @end. In a cycle the fabric comes first, then messages of
 * the list, then sources and routers by port.
 * Return: the cycle of the next event, here or at the other end of a router.
 */
u64 net_san_window(struct net_san *a, u64 end)
{
	const struct net_spec *s = a->net->s;
	u64 next = NET_NEVER, t;

	a->window++;
	for (u32 i = 0; i < a->ends; i++) {
		struct net_fifo *in = incoming(a, i);

		/* the list that this window fills was read in the window before */
		a->out[i][a->window & 1].head = a->out[i][a->window & 1].n = 0;
		if (in->head < in->n)
			heap_push(a, in->m[in->head].at, s->ports - 1 - i);
	}
	while ((t = min(heap_cycle(a), message_cycle(a))) <= end) {
		advance(a, t);
		while (message_cycle(a) == t)
			take_message(a);
		while (heap_cycle(a) == t) {
			u32 port = a->heap[0] & 0xff;

			heap_pop(a);
			take_event(a, port);
		}
	}
	advance(a, end);
	for (u32 i = 0; i < a->ends; i++) {
		struct net_fifo *out = &a->out[i][a->window & 1];

		if (out->n)
			next = min(next, out->m[0].at);
	}
	return min(min(next, t), pw_fabric_next(a->f));
}

/* cycle of the first event */
u64 net_san_first(const struct net_san *a)
{
	return min(heap_cycle(a), message_cycle(a));
}

/* ---- memory ---- */

/* what is in front of the fabric: the SAN, its sources, its heap */
size_t net_san_size(const struct net_spec *s)
{
	return round_up(sizeof(struct net_san) + s->ports * (sizeof(struct net_source) +
							     sizeof(u64)), 64);
}

void net_san_init(struct net *n, struct net_san *a, u32 id)
{
	const struct net_spec *s = n->s;

	a->net = n;
	a->id = id;
	a->ends = s->first[id + 1] - s->first[id];
	a->stations = s->ports - a->ends;
	a->lists = s->pattern == NET_MESSAGES ? s->ports : a->ends;
	a->list = net_alloc(a->lists, sizeof(*a->list));
	a->out = net_alloc(a->ends, sizeof(*a->out));
	a->in = net_alloc(a->ends, sizeof(*a->in));
	a->hop = net_alloc(s->sans, 1);
	net_hops(s, id, a->hop);
	a->inside_free = NO_CELL;
	a->t.digest = id;
	if (s->pattern == NET_MESSAGES) {
		while (a->message < s->messages && s->message[a->message].san < id)
			a->message++;
		a->messages = a->message;
		while (a->messages < s->messages && s->message[a->messages].san == id)
			a->messages++;
		return;
	}
	for (u32 i = 0; i < a->stations; i++) {
		struct net_source *q = &a->source[i];

		q->arrival_rnd = mix(mix(0, s->seed), s->base[id] + i);
		q->arrival = interval(n, &q->arrival_rnd);
		q->send_rnd = q->arrival_rnd;
		q->send = q->arrival;
		if (q->arrival <= s->cycles)
			heap_push(a, q->arrival, i);
	}
}

/* counters of the fabric, once it is idle */
void net_san_end(struct net_san *a)
{
	struct pw_fabric_stage stage;
	struct pw_fabric_stats st;
	struct pw_aal_stats u;

	pw_fabric_stats(a->f, &st);
	a->t.events = st.events;
	for (u32 i = 0; i <= PW_BMX_STAGES; i++) {
		pw_fabric_stage(a->f, i, &stage);
		a->t.events += stage.cells;
	}
	for (u32 i = 0; i < a->net->s->ports; i++) {
		pw_fabric_port_stats(a->f, i, &u);
		a->t.cells += u.cells_out;
		a->t.acks += u.acks_out;
		a->t.resent += u.resent;
	}
	a->t.digest = mix(a->t.digest, a->t.delivered);
}
