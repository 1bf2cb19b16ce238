// SPDX-License-Identifier: GPL-2.0
/*
 * Topologies: sizes of the generators, tables that reach every station once, plans that must be
 * refused, and the three-stage network as data against the one that is built in.
 */
#include <string.h>

#include "tap.h"
#include "bmx_traffic.h"
#include "topo_make.h"

/* stations that a cell with @vpi at input @x reaches, each counted in @got */
static u32 reach(const struct pw_topo *t, u32 x, u32 vpi, u32 *got, u32 depth)
{
	const u16 *row = pw_topo_row(t, x, vpi);
	u32 n = 0, o, to;

	if (!row || depth > PW_TOPO_LEVELS)
		return 0;
	for (o = 0; o < t->k; o++) {
		if (!(row[0] >> o & 1))
			continue;
		to = t->peer[x - x % t->k + o];
		if (pw_topo_is_port(to)) {
			got[to & ~PW_TOPO_PORT]++;
			n += !row[1 + o];
		} else {
			if (to < t->ranks && t->level[to] <= t->level[x])
				return 0;
			n += reach(t, to, row[1 + o], got, depth + 1);
		}
	}
	return n == t->copies[t->first[x] + vpi] ? n : 0;
}

static bool tables_good(const struct pw_topo *t)
{
	u32 got[PW_TOPO_PORTS], s, d, r, i, c;

	for (s = 0; s < t->ports; s++) {
		for (r = 0; r < t->paths; r++) {
			for (d = 0; d <= t->ports; d++) {
				memset(got, 0, sizeof(got));
				if (reach(t, t->in[s], t->paths * d + r, got, 0) !=
				    (d < t->ports ? 1 : t->ports))
					return false;
				for (i = 0; i < t->ports; i++)
					if (got[i] != (d == i || d == t->ports))
						return false;
			}
		}
	}
	for (c = 0; c < t->conns; c++) {
		for (r = 0; r < t->paths; r++) {
			d = pw_topo_conn_dest(t->ports, &t->conn[c]);
			memset(got, 0, sizeof(got));
			if (reach(t, t->in[t->conn[c].src], t->paths * d + r, got, 0) !=
			    t->conn[c].num)
				return false;
			for (i = 0; i < t->ports; i++)
				if (got[i] != pw_topo_member(&t->conn[c], i))
					return false;
		}
	}
	return true;
}

static void sizes(const char *name, u32 units, u32 k, u32 ports, u32 paths, u32 levels)
{
	struct pw_topo *t = topo_make(name);
	bool good = t && t->units == units && t->k == k && t->ports == ports &&
		    t->paths == paths && t->levels == levels;

	ok(good, "%s: %u switches of %u ports, %u stations, %u paths, %u levels", name, units, k,
	   ports, paths, levels);
	if (t && !good)
		diag("%u switches of %u ports, %u stations, %u paths, %u levels", t->units, t->k,
		     t->ports, t->paths, t->levels);
	ok(t && tables_good(t), "%s: each table entry leads where it says, once", name);
	free(t);
	t = topo_make_mc(name, 20, units);
	ok(t && t->conns == 20 && t->levels == levels && tables_good(t),
	   "%s: so do those of 20 connections, to their members only", name);
	free(t);
}

static void connect_wrong(u32 conns, u32 src, u32 member, const char *want)
{
	struct pw_topo_fault why;
	struct pw_topo_plan *p = topo_plan_mc("clos:2", conns, &why);
	struct pw_topo *t = NULL;
	char text[256];

	if (p) {
		topo_connect(p, 1);
		memset(&p->conn[1], 0, sizeof(p->conn[1]));
		p->conn[1].src = src;
		if (member < PW_TOPO_PORTS)
			pw_topo_join(&p->conn[1], member);
		t = topo_of(p, &why);
	}
	pw_topo_text(&why, text, sizeof(text));
	ok(!t && strstr(text, want), "%u connections: %s", conns, text);
	free(t);
}

static void refused(const char *name, const char *want)
{
	struct pw_topo_fault why;
	struct pw_topo_plan *p = topo_plan(name, &why);
	struct pw_topo *t = p ? topo_of(p, &why) : NULL;
	char text[256];

	pw_topo_text(&why, text, sizeof(text));
	ok(!t && strstr(text, want), "'%s' is refused: %s", name, text);
	free(t);
}

/* the plan of @name after @spoil */
static void spoiled(const char *name, void (*spoil)(struct pw_topo_plan *p), const char *want)
{
	struct pw_topo_fault why;
	struct pw_topo_plan *p = topo_plan(name, &why);
	struct pw_topo *t;
	char text[256];

	if (!p)
		abort();
	spoil(p);
	t = topo_of(p, &why);
	pw_topo_text(&why, text, sizeof(text));
	ok(!t && strstr(text, want), "%s: %s", name, text);
	free(t);
}

/* all cells of a ring in one direction: the classical deadlock */
static void one_way(struct pw_topo_plan *p)
{
	for (u32 x = 0; x < p->ranks; x++)
		for (u32 d = 0; d < p->z.ports; d++)
			*pw_topo_via(p, x, d, 0) = x / p->z.k == d ? 0 : 1;
}

/* the shorter way around, from and to every switch */
static void shortest(struct pw_topo_plan *p)
{
	for (u32 x = 0; x < p->ranks; x++) {
		for (u32 d = 0; d < p->z.ports; d++) {
			u32 n = p->z.units, up = (d + n - x / p->z.k) % n;

			*pw_topo_via(p, x, d, 0) = !up ? 0 : 2 * up <= n ? 1 : 2;
		}
	}
}

static void loop(struct pw_topo_plan *p)
{
	/* station 1 of a ring of 4 is not reached: up and down between switches 2 and 3 */
	for (u32 x = 0; x < p->ranks; x++)
		*pw_topo_via(p, x, 1, 0) = x / p->z.k == 3 ? 2 : 1;
}

static void no_route(struct pw_topo_plan *p)
{
	*pw_topo_via(p, p->in[2], 3, 0) = PW_TOPO_NO_OUT;
}

static void open_end(struct pw_topo_plan *p)
{
	p->peer[1] = PW_TOPO_NONE;
}

static void astray(struct pw_topo_plan *p)
{
	*pw_topo_via(p, p->in[0], 3, 0) = 2;
}

static void twice(struct pw_topo_plan *p)
{
	p->peer[p->z.k + 1] = p->peer[1];
}

static void same_input(struct pw_topo_plan *p)
{
	p->in[1] = p->in[0];
}

static void same_output(struct pw_topo_plan *p)
{
	p->out[1] = p->out[0];
}

static void beyond(struct pw_topo_plan *p)
{
	p->peer[1] = p->ranks;
}

/* the three-stage network as data: every cell, queue and counter as in the one built in */
static void same_as_built_in(u32 k, u32 depth, u64 cycles)
{
	char name[16];
	struct tr_cfg c = { .k = k, .depth = depth, .load = 800, .bcast = 30, .rx_refuse = 50,
			    .drop = 500, .corrupt = 500, .seed = k };
	struct tr_cfg d = c;
	struct tr_fast *a, *b;
	struct pw_topo *t;
	u64 bad = 0, n = 0, x[2], y[2];
	u32 p, r, q;

	snprintf(name, sizeof(name), "clos:%ux%ux%u", k, k, k);
	t = topo_make(name);
	if (!t)
		abort();
	d.topo = t;
	a = tr_fast_new(&c, true);
	b = tr_fast_new(&d, true);
	for (u64 now = 0; now < cycles && !bad;) {
		now += 997;
		tr_fast_run(a, now);
		tr_fast_run(b, now);
		for (r = 0; r < t->ranks + k * k; r++) {
			pw_bmx_fast_count(a->f, r, &x[0], &x[1]);
			pw_bmx_fast_count(b->f, r, &y[0], &y[1]);
			bad += memcmp(x, y, sizeof(x)) != 0;
			for (q = 0; q < k && r < t->ranks; q++)
				bad += pw_bmx_fast_qsize(a->f, r, q) != pw_bmx_fast_qsize(b->f, r, q);
		}
	}
	for (p = 0; p < k * k; p++) {
		n += a->log[p].n;
		if (a->log[p].n != b->log[p].n ||
		    memcmp(a->log[p].rec, b->log[p].rec, a->log[p].n * sizeof(*a->log[p].rec)))
			bad++;
	}
	ok(!bad && n && a->lost == b->lost && a->lost, "%s is the three-stage network: %llu cells",
	   name, (unsigned long long)n);
	tr_fast_free(a);
	tr_fast_free(b);
	free(t);
}

static u32 rests;

static void count_rest(void)
{
	rests++;
}

/* after each station, tree and input, which are walked through four times */
static void lets_others_run(const char *name)
{
	struct pw_topo_fault why;
	struct pw_topo_plan *p = topo_plan(name, &why);
	u32 least = 4 * p->ranks + p->z.ports + 2 * p->z.ports * p->z.paths, most = least + 1;
	struct pw_topo *t;

	rests = 0;
	p->rest = count_rest;
	t = topo_of(p, &why);
	ok(t && rests >= least && rests <= most, "%s: %u pauses between steps, %u expected", name,
	   rests, least);
	free(t);
}

int main(void)
{
	sizes("clos:2", 6, 2, 4, 2, 3);
	sizes("clos:4x4x4", 12, 4, 16, 4, 3);
	sizes("clos:3x5x2", 9, 5, 6, 5, 3);
	sizes("clos:4x2x8", 18, 8, 32, 2, 3);
	sizes("benes:2", 1, 2, 2, 1, 1);
	sizes("benes:16", 56, 2, 16, 8, 7);
	sizes("benes:64", 352, 2, 64, 16, 11);
	sizes("butterfly:2x3", 12, 2, 8, 1, 3);
	sizes("butterfly:4x3", 48, 4, 64, 1, 3);
	sizes("crossbar:16", 1, 16, 16, 1, 1);
	sizes("torus:2x2", 4, 5, 4, 1, 3);
	sizes("torus:4x4", 16, 5, 16, 1, 9);
	sizes("torus:3x3x3", 27, 7, 27, 1, 4);
	sizes("torus:8x8", 64, 5, 64, 1, 17);
	sizes("mesh:4x4", 16, 5, 16, 1, 7);
	sizes("mesh:16x16", 256, 5, 256, 1, 31);
	sizes("fattree:2x3", 12, 4, 8, 4, 5);
	sizes("fattree:4x2", 8, 8, 16, 4, 3);
	sizes("ring:8", 8, 3, 8, 1, 9);
	sizes("ring:8x2", 8, 4, 16, 1, 9);
	lets_others_run("mesh:4x4x4x4");
	lets_others_run("benes:64");
	refused("star:4", "unknown topology");
	refused("", "unknown topology");
	refused("torus", "sizes");
	refused("torus:", "sizes");
	refused("torus:4x", "sizes");
	refused("torus:4,4", "sizes");
	refused("torus:1x4", "sizes");
	refused("torus:2x2x2x2x2", "sizes");
	refused("benes:6", "sizes");
	refused("butterfly:2x99999", "sizes");
	refused("clos:4294967300", "sizes");
	refused("crossbar:17", "2..16 ports");
	refused("torus:32x32", "2..256 stations");
	refused("torus:256x256x256x256", "switches");
	refused("ring:32", "33 switches in a row");
	refused("fattree:2x8", "more than");
	refused("benes:256", "the tables have");
	spoiled("ring:5", one_way, "deadlock");
	spoiled("ring:5", shortest, "deadlock");
	spoiled("ring:4", loop, "deadlock");
	spoiled("torus:2x2", no_route, "no route from station 2 to 3");
	spoiled("ring:4", open_end, "no route");
	spoiled("crossbar:4", astray, "from station 0 to 3 by path 0 ends at station 2");
	spoiled("ring:4", twice, "driven twice");
	spoiled("ring:4", beyond, "driven twice");
	spoiled("ring:4", same_input, "driven twice");
	spoiled("ring:4", same_output, "station 1");
	connect_wrong(2, 4, 0, "connection 1: there is no station 4");
	connect_wrong(2, 3, 4, "connection 1: there is no station 4");
	connect_wrong(2, 3, 3, "station 3 is its sender");
	connect_wrong(2, 3, PW_TOPO_PORTS, "has no members");
	connect_wrong(PW_TOPO_CONNS + 1, 0, 1, "at most 1024");
	same_as_built_in(2, 1, tap_scaled(50000));
	same_as_built_in(4, 8, tap_scaled(50000));
	same_as_built_in(5, 2, tap_scaled(30000));
	return tap_done();
}
