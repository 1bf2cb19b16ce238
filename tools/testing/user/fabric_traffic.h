/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random messages for a whole fabric. Load 1: at every port packing and unpacking alone
 * take all the time there is (a cell of 36 bytes keeps both processes busy for 342 cycles
 * and a link for 106, its acknowledgment included; links are never the limit).
 */
#ifndef PW_FABRIC_TRAFFIC_H
#define PW_FABRIC_TRAFFIC_H

#include "fabric/fabric.h"
#include "tap.h"

#define FT_PORTS 16

struct ft_cfg {
	u32 load;		/* per mille */
	u32 k, ports, maxlen;
	u32 bcast, hot;		/* per cent of the messages */
	u32 hosts;		/* ports that send to each other, any path; 0: all */
	u32 lens;		/* different lengths, 0: any */
	u32 mcast;		/* per cent of the other messages go to a connection */
	const struct pw_topo *topo;	/* which has the connections */
};

struct ft_msg {
	u64 at;
	u16 src, dst;
	int path;
	u32 len;
};

struct ft_gen {
	struct ft_cfg c;
	unsigned long long rnd;
	u64 next[FT_PORTS];
};

/* three apart: with k = 4 some of one switch, some not */
static inline u32 ft_host(const struct ft_cfg *c, u32 i)
{
	return 3 * i % c->ports;
}

static inline void ft_init(struct ft_gen *g, const struct ft_cfg *c, u64 seed)
{
	u32 i;

	g->c = *c;
	g->rnd = seed * 2654435761u + 1;
	for (i = 0; i < c->ports; i++)
		g->next[i] = c->hosts ? U64_MAX : tap_rand(&g->rnd) % 5000;
	for (i = 0; i < c->hosts; i++)
		g->next[ft_host(c, i)] = tap_rand(&g->rnd) % 5000;
}

/* cycles that the processes at both ends are at work on a message */
static inline u64 ft_work(u32 len)
{
	return 38 * (u64)(len / 4) + 60 + 10 * pw_cell_count(len);
}

/* send @m by a random connection, if its sender has one; returns half the number of receivers */
static inline u32 ft_connect(struct ft_gen *g, struct ft_msg *m)
{
	const struct pw_topo *t = g->c.topo;
	u32 n = t->conns, i, c = tap_rand(&g->rnd) % n;

	for (i = 0; i < n; i++, c = (c + 1) % n) {
		if (t->conn[c].src == m->src) {
			m->dst = PW_FABRIC_MC + c;
			return (1 + t->conn[c].num) / 2;
		}
	}
	return 1;
}

static inline void ft_next(struct ft_gen *g, struct ft_msg *m)
{
	const struct ft_cfg *c = &g->c;
	u32 i, src = 0;
	u64 gap;

	for (i = 1; i < c->ports; i++)
		if (g->next[i] < g->next[src])
			src = i;
	m->src = src;
	m->at = g->next[src];
	m->dst = tap_rand(&g->rnd) % c->ports;
	m->len = tap_rand(&g->rnd) % (tap_rand(&g->rnd) % 4 ? c->maxlen + 1 : 40);
	if (c->lens)
		m->len = (1 + m->len % c->lens) * c->maxlen / c->lens;
	m->path = tap_rand(&g->rnd) % 8 ? PW_FABRIC_AUTO : (int)(tap_rand(&g->rnd) % c->k);
	if (c->hosts) {
		m->path = PW_FABRIC_AUTO;
		do
			m->dst = ft_host(c, tap_rand(&g->rnd) % c->hosts);
		while (m->dst == src);
	}
	gap = ft_work(m->len);
	if (tap_rand(&g->rnd) % 100 < c->bcast) {
		m->dst = PW_FABRIC_ALL;
		gap *= (1 + c->ports) / 2;
	} else if (tap_rand(&g->rnd) % 100 < c->hot) {
		m->dst = 0;
	}
	if (c->mcast && m->dst != PW_FABRIC_ALL && tap_rand(&g->rnd) % 100 < c->mcast)
		gap *= ft_connect(g, m);
	g->next[src] += 1 + div_u64(gap * (500 + tap_rand(&g->rnd) % 1001), c->load);
	/* now and then all hosts together */
	if (c->hosts && !(tap_rand(&g->rnd) % 6))
		for (i = 0; i < c->hosts; i++)
			g->next[ft_host(c, i)] = g->next[src];
}

#endif /* PW_FABRIC_TRAFFIC_H */
