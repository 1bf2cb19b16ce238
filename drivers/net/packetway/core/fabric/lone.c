// SPDX-License-Identifier: GPL-2.0
/* Results of a message that is alone in the fabric, see lone.h. */
#include "lone.h"

#define PORT_SOURCES	4	/* input and output of both ports */

/* number of sources on all paths from @s to @d and back */
static u32 sources(const struct pw_bmx_fast *net, u32 s, u32 d)
{
	return PORT_SOURCES + 2 * net->k * (net->place[s].base == net->place[d].base ? 1 : 2);
}

/*
 * Source @i of them: input and output of the two ports, then for the switch of each port
 * its k output units and the k output units of the middle switches that lead to it.
 */
static struct pw_bmx_fsrc *source(const struct pw_bmx_fast *net, u32 s, u32 d, u32 i)
{
	u32 n = net->ports, k = net->k, port = i & 1 ? d : s;

	if (i < PORT_SOURCES)
		return &net->src[(i < 2 ? 0 : PW_BMX_STAGES * n) + port];
	i -= PORT_SOURCES;
	if (i >= 2 * k) {
		i -= 2 * k;
		s = d;
	}
	if (i < k)
		return &net->src[net->place[s].base + i];
	return &net->src[2 * n + (net->place[s].base - n) / k + (i - k) * k];
}

/*
 * Number of sources, from source 0 on, that may choose between queues. Cells of a message
 * and their acknowledgments meet only if both ports are at the same switch, and only in
 * the output units of that switch. Any other source has cells in one queue at a time.
 */
static u32 choosers(const struct pw_bmx_fast *net, u32 s, u32 d)
{
	return net->place[s].base == net->place[d].base ? PORT_SOURCES + net->k : 0;
}

/**
 * pw_lone_key() - key of a message in the present state
 * @key: result
 * @pair: its sender and receiver, idle
 * @len: data bytes
 * @path: requested path
 */
void pw_lone_key(struct pw_lone_key *key, const struct pw_lone_pair *pair, u32 len, int path)
{
	u32 s = pair->u[0]->cfg.port, d = pair->u[1]->cfg.port, i;

	memset(key, 0, sizeof(*key));
	key->len = len;
	key->src = s;
	key->dst = d;
	key->path = path;
	key->rcount[0] = pair->u[0]->rcount;
	key->rcount[1] = pair->u[1]->rcount;
	for (i = 0; i < choosers(pair->net, s, d); i++)
		key->rr[i] = source(pair->net, s, d, i)->rr;
}

static u32 slot(const struct pw_lone_key *key)
{
	u32 h = key->len * 31 + key->src * 7 + key->dst * 13 + key->rcount[0] * 3 + key->rcount[1];

	return (h * 0x9e3779b1U >> 16) % PW_LONE_ENTRIES;
}

/**
 * pw_lone_find() - look a result up
 * @table: PW_LONE_ENTRIES, zero at first
 * @key: the message
 *
 * Return: the stored result or NULL.
 */
const struct pw_lone *pw_lone_find(const struct pw_lone *table, const struct pw_lone_key *key)
{
	const struct pw_lone *e = &table[slot(key)];

	return e->t.delivered && !memcmp(&e->key, key, sizeof(*key)) ? e : NULL;
}

/**
 * pw_lone_begin() - record the state before a lone message
 * @w: result
 * @pair: its sender and receiver, idle
 * @key: the message
 */
void pw_lone_begin(struct pw_lone_watch *w, const struct pw_lone_pair *pair,
		   const struct pw_lone_key *key)
{
	const struct pw_bmx_fsrc *x;
	u32 i;

	w->key = *key;
	for (i = 0; i < sources(pair->net, key->src, key->dst); i++) {
		x = source(pair->net, key->src, key->dst, i);
		w->sent[i] = x->sent;
		w->refused[i] = x->refused;
	}
	for (i = 0; i < 2; i++)
		w->stats[i] = pair->u[i]->stats;
}

/**
 * pw_lone_learn() - store the result of a lone message; the fabric is idle again
 * @table: PW_LONE_ENTRIES
 * @w: state of pw_lone_begin()
 * @pair: its sender and receiver
 * @t: times of its events
 *
 * A message with refused cells is not stored: the times of refusals are registers, too.
 */
void pw_lone_learn(struct pw_lone *table, const struct pw_lone_watch *w,
		   const struct pw_lone_pair *pair, const struct pw_lone_times *t)
{
	struct pw_lone *e = &table[slot(&w->key)];
	const struct pw_bmx_fsrc *x;
	const u64 *now, *then;
	u32 i, j;

	e->t.delivered = 0;
	for (i = 0; i < sources(pair->net, w->key.src, w->key.dst); i++) {
		x = source(pair->net, w->key.src, w->key.dst, i);
		if (x->refused != w->refused[i])
			return;
		e->sent[i] = x->sent - w->sent[i];
		e->rr[i] = x->rr;
	}
	for (i = 0; i < 2; i++) {
		now = (const u64 *)&pair->u[i]->stats;
		then = (const u64 *)&w->stats[i];
		for (j = 0; j < PW_LONE_STATS; j++)
			e->stats[i][j] = now[j] - then[j];
		e->rcount[i] = pair->u[i]->rcount;
	}
	/* pw_aal_fast_passed() runs controller 10, which counts this one */
	e->stats[1][offsetof(struct pw_aal_stats, obsolete) / sizeof(u64)] = 0;
	e->key = w->key;
	e->t = *t;
}

/**
 * pw_lone_apply() - apply a stored result
 * @e: result
 * @pair: sender and receiver of the message
 */
void pw_lone_apply(const struct pw_lone *e, const struct pw_lone_pair *pair)
{
	u32 s = e->key.src, d = e->key.dst, cells = pw_cell_count(e->key.len), i, j;
	struct pw_bmx_fsrc *x;
	u64 *stats;

	for (i = 0; i < sources(pair->net, s, d); i++) {
		x = source(pair->net, s, d, i);
		x->sent += e->sent[i];
		if (e->sent[i])
			x->rr = e->rr[i];
	}
	for (i = 0; i < 2; i++) {
		stats = (u64 *)&pair->u[i]->stats;
		for (j = 0; j < PW_LONE_STATS; j++)
			stats[j] += e->stats[i][j];
		pair->u[i]->rcount = e->rcount[i];
	}
	pair->u[0]->lastotosqnto[d] += cells;
	pair->u[1]->lastotosqnfrm[s] += cells;
}
