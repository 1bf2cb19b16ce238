// SPDX-License-Identifier: GPL-2.0
/* What comes of a message that is alone in the fabric: see fabric_lone.h. */
#include "fabric_lone.h"

/* sources that cells from @s to @d and back may meet: how many there are */
static u32 sources(const struct pw_bmx_fast *net, u32 s, u32 d)
{
	return 4 + 2 * net->k * (net->base[s] == net->base[d] ? 1 : 2);
}

/*
 * The @i-th of them: input and output of the two ports; then the output units of their
 * switches, and those of the middle switches towards these.
 */
static struct pw_bmx_fsrc *source(const struct pw_bmx_fast *net, u32 s, u32 d, u32 i)
{
	u32 n = net->ports, k = net->k, port = i & 1 ? d : s;

	if (i < 4)
		return &net->src[(i < 2 ? 0 : PW_BMX_STAGES * n) + port];
	i -= 4;
	if (i >= 2 * k) {
		i -= 2 * k;
		s = d;
	}
	if (i < k)
		return &net->src[n + net->base[s] + i];
	return &net->src[2 * n + net->base[s] / k + (i - k) * k];
}

/*
 * Those whose choice of a queue matters, the first ones: cells of a message and their
 * acknowledgments meet where both ports have the same switch. Elsewhere, and in the
 * middle, a source sees them one by one or in one queue.
 */
static u32 choosers(const struct pw_bmx_fast *net, u32 s, u32 d)
{
	return net->base[s] == net->base[d] ? 4 + net->k : 0;
}

/**
 * pw_lone_key() - what becomes of a message depends on this
 * @key: result
 * @way: units it meets, idle
 * @len: data bytes
 * @route: route asked for
 */
void pw_lone_key(struct pw_lone_key *key, const struct pw_lone_way *way, u32 len, int route)
{
	u32 s = way->u[0]->cfg.port, d = way->u[1]->cfg.port, i;

	memset(key, 0, sizeof(*key));
	key->len = len;
	key->src = s;
	key->dst = d;
	key->route = route;
	key->rcount[0] = way->u[0]->rcount;
	key->rcount[1] = way->u[1]->rcount;
	for (i = 0; i < choosers(way->net, s, d); i++)
		key->rr[i] = source(way->net, s, d, i)->rr;
}

static u32 slot(const struct pw_lone_key *key)
{
	u32 h = key->len * 31 + key->src * 7 + key->dst * 13 + key->rcount[0] * 3 + key->rcount[1];

	return (h * 0x9e3779b1U >> 16) % PW_LONE_ENTRIES;
}

/**
 * pw_lone_find() - has there been a message like this?
 * @table: PW_LONE_ENTRIES, zero at first
 * @key: the message
 *
 * Return: what came of it, or NULL.
 */
const struct pw_lone *pw_lone_find(const struct pw_lone *table, const struct pw_lone_key *key)
{
	const struct pw_lone *e = &table[slot(key)];

	return e->t.delivered && !memcmp(&e->key, key, sizeof(*key)) ? e : NULL;
}

/**
 * pw_lone_begin() - a lone message starts, see what comes of it
 * @w: notes
 * @way: units it meets, idle
 * @key: the message
 */
void pw_lone_begin(struct pw_lone_watch *w, const struct pw_lone_way *way,
		   const struct pw_lone_key *key)
{
	const struct pw_bmx_fsrc *x;
	u32 i;

	w->key = *key;
	for (i = 0; i < sources(way->net, key->src, key->dst); i++) {
		x = source(way->net, key->src, key->dst, i);
		w->sent[i] = x->sent;
		w->refused[i] = x->refused;
	}
	for (i = 0; i < 2; i++)
		w->stats[i] = way->u[i]->stats;
}

/**
 * pw_lone_learn() - the fabric is idle again: remember
 * @table: PW_LONE_ENTRIES
 * @w: notes of pw_lone_begin()
 * @way: units the message has met
 * @t: when
 *
 * One whose cells were refused is forgotten: sources count refusals by time.
 */
void pw_lone_learn(struct pw_lone *table, const struct pw_lone_watch *w,
		   const struct pw_lone_way *way, const struct pw_lone_times *t)
{
	struct pw_lone *e = &table[slot(&w->key)];
	const struct pw_bmx_fsrc *x;
	const u64 *now, *then;
	u32 i, j;

	e->t.delivered = 0;
	for (i = 0; i < sources(way->net, w->key.src, w->key.dst); i++) {
		x = source(way->net, w->key.src, w->key.dst, i);
		if (x->refused != w->refused[i])
			return;
		e->sent[i] = x->sent - w->sent[i];
		e->rr[i] = x->rr;
	}
	for (i = 0; i < 2; i++) {
		now = (const u64 *)&way->u[i]->stats;
		then = (const u64 *)&w->stats[i];
		for (j = 0; j < PW_LONE_STATS; j++)
			e->stats[i][j] = now[j] - then[j];
		e->rcount[i] = way->u[i]->rcount;
	}
	/* controller 10 counts by itself */
	e->stats[1][offsetof(struct pw_aal_stats, obsolete) / sizeof(u64)] = 0;
	e->key = w->key;
	e->t = *t;
}

/**
 * pw_lone_apply() - another message like this has passed
 * @e: what came of the first one
 * @way: units it has met
 */
void pw_lone_apply(const struct pw_lone *e, const struct pw_lone_way *way)
{
	u32 s = e->key.src, d = e->key.dst, cells = pw_cell_count(e->key.len), i, j;
	struct pw_bmx_fsrc *x;
	u64 *stats;

	for (i = 0; i < sources(way->net, s, d); i++) {
		x = source(way->net, s, d, i);
		x->sent += e->sent[i];
		if (e->sent[i])
			x->rr = e->rr[i];
	}
	for (i = 0; i < 2; i++) {
		stats = (u64 *)&way->u[i]->stats;
		for (j = 0; j < PW_LONE_STATS; j++)
			stats[j] += e->stats[i][j];
		way->u[i]->rcount = e->rcount[i];
	}
	way->u[0]->lastotosqnto[d] += cells;
	way->u[1]->lastotosqnfrm[s] += cells;
}
