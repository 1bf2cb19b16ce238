// SPDX-License-Identifier: GPL-2.0
/*
 * Any plan of a topology: the check refuses it or its tables lead every cell to its station,
 * upwards through the levels. With routes of the input, or up* / down* ones.
 */
#include <stdlib.h>
#include <string.h>
#include "fabric/topo.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static const u8 *in;
static size_t left;

static u32 take(u32 below)
{
	if (!left)
		return 0;
	left--;
	return *in++ % below;
}

static u32 follow(const struct pw_topo *t, u32 x, u32 vpi)
{
	const u16 *row = pw_topo_row(t, x, vpi);
	u32 n = 0, o, to;

	if (!row || !row[0])
		__builtin_trap();
	for (o = 0; o < t->k; o++) {
		if (!(row[0] >> o & 1))
			continue;
		to = t->peer[x - x % t->k + o];
		if (pw_topo_is_port(to)) {
			n++;
			continue;
		}
		if (to >= t->ranks || t->level[to] <= t->level[x])
			__builtin_trap();
		n += follow(t, to, row[1 + o]);
	}
	return n;
}

static void check_topo(const struct pw_topo *t)
{
	u32 s, v, c, all = t->ports * t->paths;

	for (s = 0; s < t->ports; s++)
		for (v = 0; v < all + t->paths; v++)
			if (follow(t, t->in[s], v) != (v < all ? 1 : t->ports))
				__builtin_trap();
	for (c = 0; c < t->conns; c++)
		for (v = 0; v < t->paths; v++)
			if (follow(t, t->in[t->conn[c].src],
				   t->paths * pw_topo_conn_dest(t->ports, &t->conn[c]) + v) !=
			    t->conn[c].num)
				__builtin_trap();
}

static void fill(struct pw_topo_plan *p, bool routes)
{
	u32 i, n = take(256), x;

	for (i = 0; i < p->z.ports; i++) {
		p->in[i] = take(p->ranks + (n == 255));
		p->out[i] = take(p->ranks);
		p->peer[p->out[i]] = PW_TOPO_PORT | i;
	}
	for (i = 0; i < n; i++) {
		x = take(p->ranks);
		if (p->peer[x] == PW_TOPO_NONE || n == 255)
			p->peer[x] = take(p->ranks);
	}
	if (!routes) {
		for (x = 0; x < p->ranks; x++)
			if (p->peer[x] >= p->ranks && !pw_topo_is_port(p->peer[x]))
				p->peer[x] = PW_TOPO_NONE;
		pw_topo_route(p);
		return;
	}
	for (x = 0; x < p->ranks; x++)
		for (i = 0; i < p->z.ports * p->z.paths; i++)
			p->via[x * p->z.ports * p->z.paths + i] = take(p->z.k + 1);
}

static void connect(struct pw_topo_plan *p)
{
	u32 c, n;

	for (c = 0; c < p->z.conns; c++) {
		p->conn[c].src = take(p->z.ports + 1);
		for (n = take(4); n; n--)
			pw_topo_join(&p->conn[c], take(p->z.ports + 1));
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct pw_topo_sizes z;
	struct pw_topo_fault why;
	struct pw_topo_plan *p;
	struct pw_topo_spec spec;
	char text[256] = "";
	void *mem;
	bool routes;

	in = data;
	left = size;
	if (take(4) == 0) {
		memcpy(text, in, left < 40 ? left : 40);
		if (pw_topo_parse(text, &spec, &why) || pw_topo_gen_sizes(&spec, &z, &why) ||
		    z.units * z.k * z.ports * z.paths > 200000)
			return 0;
		p = pw_topo_plan_init(malloc(pw_topo_plan_size(&z)), &z);
		pw_topo_gen(p, &spec);
	} else {
		z.units = 1 + take(6);
		z.k = take(5);
		z.ports = take(8);
		z.paths = take(4);
		z.conns = take(5);
		routes = take(2);
		if (pw_topo_sizes_check(&z, &why))
			return 0;
		p = pw_topo_plan_init(malloc(pw_topo_plan_size(&z)), &z);
		fill(p, routes);
		connect(p);
	}
	if (pw_topo_check(p, &why)) {
		pw_topo_text(&why, text, sizeof(text));
	} else {
		mem = malloc(pw_topo_size(p));
		check_topo(pw_topo_make(mem, p));
		free(mem);
	}
	free(p);
	return 0;
}
