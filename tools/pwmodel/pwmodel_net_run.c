// SPDX-License-Identifier: GPL-2.0
/*
 * pwmodel net: windows of time, through which the threads of a process run its SANs.
 *
 * Between two barriers each thread takes SANs as long as some are left. Which thread runs a
 * SAN has no effect: a SAN writes only to itself, and reads what others wrote in the
 * window before.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "pwmodel.h"
#include "pwmodel_net.h"

struct crew;

struct worker {
	struct crew *crew;
	pthread_t thread;
	u64 *hist;
	u64 next;		/* first event after the window, of the SANs that it ran */
};

/* the threads of a process */
struct crew {
	struct net *n;
	struct worker *worker;
	pthread_barrier_t begin, end;
	atomic_uint taken;	/* SANs taken in this window */
	u32 batch;		/* SANs taken at a time */
	u64 until;		/* last cycle of the window; 0: set up */
	bool stop;
};

static u64 set_up(struct net *n, u32 i)
{
	n->san[i] = net_image_copy(&n->image);
	net_san_init(n, n->san[i], n->lo + i);
	return net_san_first(n->san[i]);
}

static void run_part(struct worker *w)
{
	struct crew *c = w->crew;
	u32 own = c->n->hi - c->n->lo, i, last;

	w->next = NET_NEVER;
	while ((i = atomic_fetch_add(&c->taken, c->batch)) < own) {
		for (last = min(i + c->batch, own); i < last; i++) {
			if (c->until) {
				c->n->san[i]->hist = w->hist;
				w->next = min(w->next, net_san_window(c->n->san[i], c->until));
			} else {
				w->next = min(w->next, set_up(c->n, i));
			}
		}
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;

	for (;;) {
		pthread_barrier_wait(&w->crew->begin);
		if (w->crew->stop)
			return NULL;
		run_part(w);
		pthread_barrier_wait(&w->crew->end);
	}
}

/* run all SANs up to and including cycle @until; return the cycle of the next event */
static u64 run_window(struct crew *c, u64 until)
{
	u64 next = NET_NEVER;

	c->until = until;
	atomic_store(&c->taken, 0);
	if (c->n->threads > 1)
		pthread_barrier_wait(&c->begin);
	run_part(&c->worker[0]);
	if (c->n->threads > 1)
		pthread_barrier_wait(&c->end);
	for (u32 i = 0; i < c->n->threads; i++)
		next = min(next, c->worker[i].next);
	return next;
}

static void start(struct crew *c)
{
	u32 threads = c->n->threads;

	c->worker = net_alloc(threads, sizeof(*c->worker));
	/* large enough to be cheap, small enough that the threads end at the same time */
	c->batch = (c->n->hi - c->n->lo) / (8 * threads);
	c->batch = max_t(u32, 1, min_t(u32, c->batch, 64));
	if (threads > 1 && (pthread_barrier_init(&c->begin, NULL, threads) ||
			    pthread_barrier_init(&c->end, NULL, threads)))
		pwm_fail("--threads: %u are too many", threads);
	for (u32 i = 0; i < threads; i++) {
		c->worker[i].crew = c;
		c->worker[i].hist = net_alloc(NET_HIST, sizeof(u64));
		if (i && pthread_create(&c->worker[i].thread, NULL, work, &c->worker[i]))
			pwm_fail("--threads: %u are too many", threads);
	}
}

static void stop(struct crew *c, u64 *hist)
{
	c->stop = true;
	if (c->n->threads > 1)
		pthread_barrier_wait(&c->begin);
	for (u32 i = 0; i < c->n->threads; i++) {
		if (i)
			pthread_join(c->worker[i].thread, NULL);
		for (u32 j = 0; j < NET_HIST; j++)
			hist[j] += c->worker[i].hist[j];
		free(c->worker[i].hist);
	}
	free(c->worker);
}

static void add(struct net_totals *t, const struct net_totals *a)
{
	u64 *v = (u64 *)t;
	const u64 *w = (const u64 *)a;

	for (size_t i = 0; i < NET_SUMS; i++)
		v[i] += w[i];
	for (size_t i = NET_SUMS; i < NET_SUMS + NET_MAXIMA; i++)
		v[i] = max(v[i], w[i]);
}

/* ---- other processes ---- */

/* what crosses a router to a SAN of another process: this, then the messages */
struct parcel {
	u32 san;
	u32 end;
	u32 n;
	u32 unused;
};

/* an end whose peer SAN belongs to another process */
struct border {
	struct net_san *san;
	u32 end;
	u32 rank;
};

struct borders {
	struct border *b;
	size_t n;
	struct net_bytes *out, in;
};

/* SANs of process r: sans * r / size up to sans * (r + 1) / size - 1 */
static u32 rank_of(const struct net_spec *s, u32 san)
{
	return (((u64)san + 1) * net_size - 1) / s->sans;
}

static void find_borders(const struct net *n, struct borders *b)
{
	const struct net_spec *s = n->s;

	b->out = net_alloc(net_size, sizeof(*b->out));
	b->b = net_alloc(s->first[n->hi] - s->first[n->lo], sizeof(*b->b));
	for (u32 i = n->lo; i < n->hi; i++) {
		for (u32 j = 0; j < s->first[i + 1] - s->first[i]; j++) {
			u32 rank = rank_of(s, s->end[s->first[i] + j].san);

			if (rank != net_rank)
				b->b[b->n++] = (struct border) { n->san[i - n->lo], j, rank };
		}
	}
}

static void append(struct net_bytes *b, const void *p, size_t n)
{
	if (b->n + n > b->cap) {
		b->cap = 2 * (b->n + n);
		b->p = realloc(b->p, b->cap);
		if (!b->p)
			pwm_fail("out of memory");
	}
	memcpy(b->p + b->n, p, n);
	b->n += n;
}

/*
 * Exchange what crossed in the window that has ended. @next: next event of this process;
 * return: that of all.
 */
static u64 exchange(const struct net *n, struct borders *b, u64 next)
{
	const struct net_spec *s = n->s;
	struct parcel p = {};

	if (net_size == 1)
		return next;
	for (u32 i = 0; i < net_size; i++)
		b->out[i].n = 0;
	for (size_t i = 0; i < b->n; i++) {
		const struct border *d = &b->b[i];
		const struct net_fifo *out = &d->san->out[d->end][d->san->window & 1];
		const struct net_end *e = &s->end[s->first[d->san->id] + d->end];

		d->san->in[d->end].head = d->san->in[d->end].n = 0;
		if (!out->n)
			continue;
		p.san = e->san;
		p.end = e->end;
		p.n = out->n;
		append(&b->out[d->rank], &p, sizeof(p));
		append(&b->out[d->rank], out->m, out->n * sizeof(*out->m));
	}
	next = net_comm_exchange(b->out, &b->in, next);
	for (size_t at = 0; at < b->in.n;) {
		struct net_fifo *in;

		memcpy(&p, b->in.p + at, sizeof(p));
		at += sizeof(p);
		in = &n->san[p.san - n->lo]->in[p.end];
		for (u32 i = 0; i < p.n; i++, at += sizeof(*in->m))
			memcpy(net_fifo_add(in), b->in.p + at, sizeof(*in->m));
	}
	return next;
}

void net_run(struct net *n, struct net_totals *t, u64 *hist)
{
	struct crew c = { .n = n };
	struct borders b = {};
	u32 own = n->hi - n->lo;
	u64 next, end = 0;

	net_image_init(&n->image, n->s);
	net_chances(n);
	n->san = net_alloc(own, sizeof(*n->san));
	start(&c);
	next = run_window(&c, 0);
	find_borders(n, &b);
	next = exchange(n, &b, next);
	while (next != NET_NEVER) {
		/* nothing happens before, so the window may begin there */
		end = max(end + 1, next) + n->s->latency - 1;
		next = exchange(n, &b, run_window(&c, end));
		n->total_windows++;
	}
	stop(&c, hist);
	memset(t, 0, sizeof(*t));
	for (u32 i = 0; i < own; i++) {
		net_san_end(n->san[i]);
		add(t, &n->san[i]->t);
	}
	net_comm_sum((u64 *)t, NET_SUMS);
	net_comm_max((u64 *)t + NET_SUMS, NET_MAXIMA);
	net_comm_sum(hist, NET_HIST);
	for (u32 i = 0; i < net_size; i++)
		free(b.out[i].p);
	free(b.out);
	free(b.in.p);
	free(b.b);
}
