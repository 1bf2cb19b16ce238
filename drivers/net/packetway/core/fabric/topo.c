// SPDX-License-Identifier: GPL-2.0
/* Topology of a BMX network: check of a plan, tables. See topo.h. */
#include "arena.h"
#include "topo.h"

static int wrong(struct pw_topo_fault *why, enum pw_topo_wrong what, u32 a, u32 b, u32 c, u32 d)
{
	*why = (struct pw_topo_fault) { what, a, b, c, d };
	return -EINVAL;
}

/**
 * pw_topo_sizes_check() - check the sizes of a plan
 * @z: sizes
 * @why: result: what is wrong
 *
 * Return: 0 or -EINVAL.
 */
int pw_topo_sizes_check(const struct pw_topo_sizes *z, struct pw_topo_fault *why)
{
	why->what = PW_TOPO_OK;
	if (z->conns > PW_TOPO_CONNS)
		return wrong(why, PW_TOPO_E_CONNS, z->conns, 0, 0, 0);
	if (z->k < PW_BMX_KMIN || z->k > PW_BMX_KMAX || z->ports < 2 ||
	    z->ports > PW_TOPO_PORTS || !z->paths || z->paths > PW_TOPO_PATHS || !z->units ||
	    z->units > PW_TOPO_RANKS / z->k)
		return wrong(why, PW_TOPO_E_SIZES, z->units, z->k, z->ports, z->paths);
	if (z->units * z->k > PW_TOPO_CELLS / (z->ports + z->conns) / z->paths)
		return wrong(why, PW_TOPO_E_LARGE, z->units * z->k, z->ports + z->conns, z->paths,
			     z->conns);
	return 0;
}

static struct pw_topo_plan *plan_layout(struct pw_arena *a, const struct pw_topo_sizes *z)
{
	struct pw_topo_plan head = { .z = *z }, *p;
	size_t n = z->units * z->k, all = (size_t)z->ports * z->paths;

	p = pw_arena_take(a, sizeof(*p));
	head.ranks = n;
	head.peer = pw_arena_take(a, sizeof(u16) * n);
	head.in = pw_arena_take(a, sizeof(u16) * z->ports);
	head.out = pw_arena_take(a, sizeof(u16) * z->ports);
	head.via = pw_arena_take(a, n * all);
	head.conn = pw_arena_take(a, sizeof(*head.conn) * z->conns);
	head.label = pw_arena_take(a, sizeof(u16) * n * pw_topo_kinds(z) * z->paths);
	head.turn = pw_arena_take(a, sizeof(u16) * n * z->paths);
	head.sel = pw_arena_take(a, sizeof(u16) * n);
	head.from = pw_arena_take(a, sizeof(u16) * n);
	head.level = pw_arena_take(a, n);
	head.list = pw_arena_take(a, sizeof(u16) * n);
	head.parent = pw_arena_take(a, sizeof(u16) * n);
	head.wait = pw_arena_take(a, sizeof(u16) * n);
	head.seen = pw_arena_take(a, sizeof(u16) * n);
	head.copies = pw_arena_take(a, sizeof(u16) * n);
	if (p)
		*p = head;
	return p;
}

/**
 * pw_topo_plan_size() - memory of a plan
 * @z: sizes, checked
 *
 * Return: bytes to hand to pw_topo_plan_init().
 */
size_t pw_topo_plan_size(const struct pw_topo_sizes *z)
{
	struct pw_arena a = {};

	plan_layout(&a, z);
	return a.used;
}

/**
 * pw_topo_plan_init() - plan without links, stations and routes
 * @mem: pw_topo_plan_size() bytes, aligned to 8
 * @z: sizes, checked
 *
 * Return: the plan (at @mem).
 */
struct pw_topo_plan *pw_topo_plan_init(void *mem, const struct pw_topo_sizes *z)
{
	struct pw_arena a = { .base = mem };
	struct pw_topo_plan *p = plan_layout(&a, z);

	memset(p->peer, 0xff, sizeof(u16) * p->ranks);
	memset(p->in, 0xff, sizeof(u16) * z->ports);
	memset(p->out, 0xff, sizeof(u16) * z->ports);
	memset(p->via, PW_TOPO_NO_OUT, (size_t)p->ranks * z->ports * z->paths);
	memset(p->conn, 0, sizeof(*p->conn) * z->conns);
	return p;
}

static u32 base_of(const struct pw_topo_plan *p, u32 rank)
{
	return rank - rank % p->z.k;
}

/* a cell for station d is of kind d; this is the kind of one from station @s to all */
static u32 kind_all(const struct pw_topo_plan *p, u32 s)
{
	return p->z.ports + s;
}

static u32 kind_conn(const struct pw_topo_plan *p, u32 c)
{
	return 2 * p->z.ports + c;
}

/* each input is driven once, each station has its own input and output */
static int check_links(struct pw_topo_plan *p, struct pw_topo_fault *why)
{
	u32 k = p->z.k, i, to;

	memset(p->from, 0xff, sizeof(u16) * p->ranks);
	memset(p->seen, 0, sizeof(u16) * p->ranks);
	for (i = 0; i < p->z.ports; i++) {
		if (p->in[i] >= p->ranks || p->out[i] >= p->ranks ||
		    p->peer[p->out[i]] != (PW_TOPO_PORT | i))
			return wrong(why, PW_TOPO_E_STATION, i, 0, 0, 0);
		if (p->seen[p->in[i]]++)
			return wrong(why, PW_TOPO_E_INPUT, p->in[i] / k, p->in[i] % k, 0, 0);
	}
	for (i = 0; i < p->ranks; i++) {
		to = p->peer[i];
		if (to == PW_TOPO_NONE)
			continue;
		if (pw_topo_is_port(to)) {
			to &= ~PW_TOPO_PORT;
			if (to >= p->z.ports || p->out[to] != i)
				return wrong(why, PW_TOPO_E_STATION, to, 0, 0, 0);
			continue;
		}
		if (to >= p->ranks || p->seen[to]++)
			return wrong(why, PW_TOPO_E_INPUT, to / k, to % k, 0, 0);
		p->from[to] = i;
	}
	return 0;
}

/* follow the cells from @s to @d by path @r to where others for @d have come by */
static int check_route(struct pw_topo_plan *p, u32 s, u32 d, u32 r, struct pw_topo_fault *why)
{
	u32 x = p->in[s], o, to;
	u16 *label;

	for (;;) {
		label = pw_topo_label(p, x, d, r);
		if (*label != PW_TOPO_NONE)
			return 0;
		*label = 0;
		o = *pw_topo_via(p, x, d, r);
		to = o < p->z.k ? p->peer[base_of(p, x) + o] : PW_TOPO_NONE;
		if (to == PW_TOPO_NONE)
			return wrong(why, PW_TOPO_E_ROUTE, s, d, r, x / p->z.k);
		p->turn[x * p->z.paths + r] |= BIT(o);
		if (!pw_topo_is_port(to)) {
			x = to;
			continue;
		}
		if ((to & ~PW_TOPO_PORT) != d)
			return wrong(why, PW_TOPO_E_ASTRAY, s, d, r, to & ~PW_TOPO_PORT);
		return 0;
	}
}

/* outputs that cells of input @x take by any path */
static u32 turns_of(const struct pw_topo_plan *p, u32 x)
{
	u32 r, all = 0;

	for (r = 0; r < p->z.paths; r++)
		all |= p->turn[x * p->z.paths + r];
	return all;
}

/* input @x has its final level: hand it on to the outputs that its cells take */
static u32 hand_on(struct pw_topo_plan *p, u32 x, u32 level, u32 n)
{
	u32 mask, out;

	for (mask = turns_of(p, x); mask; mask &= mask - 1) {
		out = base_of(p, x) + __ffs64(mask);
		p->level[out] = max_t(u32, p->level[out], min_t(u32, level + 1, U8_MAX));
		if (!--p->wait[out])
			p->list[n++] = out;
	}
	return n;
}

/* an output in a circle: from any that was not reached, back to those that it waits for */
static u32 in_circle(const struct pw_topo_plan *p)
{
	u32 k = p->z.k, out = 0, n, x, base;

	while (!p->wait[out])
		out++;
	for (n = 0; n < p->ranks; n++) {
		base = base_of(p, out);
		for (x = base; x < base + k; x++)
			if (p->from[x] != PW_TOPO_NONE && p->wait[p->from[x]] &&
			    turns_of(p, x) & BIT(out - base))
				break;
		out = p->from[x];
	}
	return out;
}

/* levels of the outputs by Kahn's algorithm; links that wait in a circle get none */
static int check_order(struct pw_topo_plan *p, struct pw_topo_fault *why)
{
	u32 n = 0, used = 0, i, mask, to;

	memset(p->level, 0, p->ranks);
	memset(p->wait, 0, sizeof(u16) * p->ranks);
	for (i = 0; i < p->ranks; i++)
		for (mask = turns_of(p, i); mask; mask &= mask - 1)
			used += !p->wait[base_of(p, i) + __ffs64(mask)]++;
	pw_topo_rest(p);
	for (i = 0; i < p->z.ports; i++)
		n = hand_on(p, p->in[i], 0, n);
	for (i = 0; i < n; i++) {
		to = p->peer[p->list[i]];
		if (!pw_topo_is_port(to))
			n = hand_on(p, to, p->level[p->list[i]], n);
	}
	if (n < used) {
		i = in_circle(p);
		return wrong(why, PW_TOPO_E_CIRCLE, i / p->z.k, i % p->z.k, 0, 0);
	}
	p->levels = 0;
	for (i = 0; i < p->ranks; i++)
		p->levels = max_t(u32, p->levels, p->level[i]);
	if (p->levels > PW_TOPO_LEVELS)
		return wrong(why, PW_TOPO_E_DEEP, p->levels, 0, 0, 0);
	for (i = 0; i < p->z.ports; i++)
		p->level[p->out[i]] = p->levels;
	return 0;
}

/* tree of kind @kind leads to station @d */
static bool leads_to(const struct pw_topo_plan *p, u32 kind, u32 d)
{
	return kind < kind_conn(p, 0) || pw_topo_member(&p->conn[kind - kind_conn(p, 0)], d);
}

static u32 root_of(const struct pw_topo_plan *p, u32 kind)
{
	return kind < kind_conn(p, 0) ? kind - kind_all(p, 0) : p->conn[kind - kind_conn(p, 0)].src;
}

/*
 * Tree of kind @kind, from a station to all stations or to the members of a connection, by
 * turns that cells of path @r take anyway, so that no link waits for one more. Result: p->list
 * of its inputs, p->sel and p->copies of each.
 */
static u32 grow_tree(struct pw_topo_plan *p, u32 kind, u32 r)
{
	u32 n = 1, id = (kind - kind_all(p, 0)) * p->z.paths + r + 1, i, x, mask, out, to;

	p->list[0] = p->in[root_of(p, kind)];
	for (i = 0; i < n; i++) {
		x = p->list[i];
		p->sel[x] = 0;
		p->copies[x] = 0;
		for (mask = p->turn[x * p->z.paths + r]; mask; mask &= mask - 1) {
			out = base_of(p, x) + __ffs64(mask);
			to = p->peer[out];
			if (pw_topo_is_port(to)) {
				if (p->wait[out] == id || !leads_to(p, kind, to & ~PW_TOPO_PORT))
					continue;
				p->wait[out] = id;
				p->copies[x]++;
			} else {
				if (p->seen[to] == id)
					continue;
				p->seen[to] = id;
				p->parent[to] = x;
				p->list[n++] = to;
			}
			p->sel[x] |= BIT(out - base_of(p, x));
		}
	}
	/* branches without stations go */
	while (--i) {
		x = p->list[i];
		if (p->copies[x])
			p->copies[p->parent[x]] += p->copies[x];
		else
			p->sel[p->parent[x]] &= ~BIT(p->from[x] % p->z.k);
	}
	return n;
}

/* forget the trees grown before */
static void clear_trees(const struct pw_topo_plan *p)
{
	memset(p->seen, 0, sizeof(u16) * p->ranks);
	memset(p->wait, 0, sizeof(u16) * p->ranks);
}

/* VPIs at the input of station @s; returns their number */
static u32 number_own(struct pw_topo_plan *p, u32 s)
{
	u32 paths = p->z.paths, dest = p->z.ports + 1, c, r;

	for (r = 0; r < paths; r++)
		*pw_topo_label(p, p->in[s], kind_all(p, s), r) = p->z.ports * paths + r;
	for (c = 0; c < p->z.conns; c++) {
		if (p->conn[c].src != s)
			continue;
		dest = pw_topo_conn_dest(p->z.ports, &p->conn[c]) + 1;
		for (r = 0; r < paths; r++)
			*pw_topo_label(p, p->in[s], kind_conn(p, c), r) = (dest - 1) * paths + r;
	}
	return dest * paths;
}

/* number the VPIs in use at each input; those at a station's input are given */
static int number_rows(struct pw_topo_plan *p, struct pw_topo_fault *why)
{
	u32 all = pw_topo_kinds(&p->z) * p->z.paths, x, i, n, s;
	u64 rows = 0;

	for (x = 0; x < p->ranks; x++) {
		u16 *label = pw_topo_label(p, x, 0, 0);

		pw_topo_rest(p);
		for (i = 0, n = 0; i < all; i++)
			if (label[i] != PW_TOPO_NONE)
				label[i] = n++;
		for (s = 0; s < p->z.ports && p->in[s] != x; s++)
			;
		if (s < p->z.ports)
			n = number_own(p, s);
		if (n > PW_TOPO_ENTRIES)
			return wrong(why, PW_TOPO_E_ENTRIES, x / p->z.k, x % p->z.k, n, 0);
		p->entries = max(p->entries, n);
		rows += n;
	}
	if (rows > PW_TOPO_ROWS)
		return wrong(why, PW_TOPO_E_ROWS, rows, 0, 0, 0);
	p->rows = rows;
	return 0;
}

/* sender and members of the connections */
static int check_conns(struct pw_topo_plan *p, struct pw_topo_fault *why)
{
	u16 *own = p->list;	/* connections of a station */
	struct pw_topo_conn *c;
	u32 i, d;

	memset(own, 0, sizeof(u16) * p->ranks);
	for (i = 0; i < p->z.conns; i++) {
		c = &p->conn[i];
		if (c->src >= p->z.ports)
			return wrong(why, PW_TOPO_E_SENDER, i, c->src, 0, 0);
		c->num = 0;
		for (d = 0; d < PW_TOPO_PORTS; d++) {
			if (!pw_topo_member(c, d))
				continue;
			if (d >= p->z.ports || d == c->src)
				return wrong(why, PW_TOPO_E_MEMBER, i, d, c->src, 0);
			c->num++;
		}
		if (!c->num)
			return wrong(why, PW_TOPO_E_MEMBERS, i, c->src, 0, 0);
		c->nth = own[c->src]++;
	}
	return 0;
}

/**
 * pw_topo_check() - check a plan, prepare it for pw_topo_make()
 * @p: plan with links, stations, routes and connections
 * @why: result: what is wrong
 *
 * Every input is driven at most once, every station is reached from every station by every
 * path, no links wait for each other in a circle, connections have members, and the tables
 * fit.
 *
 * Return: 0 or -EINVAL.
 */
int pw_topo_check(struct pw_topo_plan *p, struct pw_topo_fault *why)
{
	u32 all = pw_topo_kinds(&p->z) * p->z.paths, s, d, r, i, n, kind;
	int err;

	why->what = PW_TOPO_OK;
	p->entries = 0;
	err = check_links(p, why);
	if (err)
		return err;
	err = check_conns(p, why);
	if (err)
		return err;
	for (i = 0; i < p->ranks; i++) {
		pw_topo_rest(p);
		memset(pw_topo_label(p, i, 0, 0), 0xff, sizeof(u16) * all);
	}
	memset(p->turn, 0, sizeof(u16) * p->ranks * p->z.paths);
	for (s = 0; s < p->z.ports; s++) {
		pw_topo_rest(p);
		for (d = 0; d < p->z.ports; d++)
			for (r = 0; r < p->z.paths && !err; r++)
				err = check_route(p, s, d, r, why);
	}
	if (err)
		return err;
	err = check_order(p, why);
	if (err)
		return err;
	clear_trees(p);
	for (kind = kind_all(p, 0); kind < pw_topo_kinds(&p->z); kind++) {
		for (r = 0; r < p->z.paths; r++) {
			pw_topo_rest(p);
			n = grow_tree(p, kind, r);
			for (i = 0; i < n; i++)
				if (p->copies[p->list[i]])
					*pw_topo_label(p, p->list[i], kind, r) = 0;
		}
	}
	return number_rows(p, why);
}

static struct pw_topo *topo_layout(struct pw_arena *a, const struct pw_topo_plan *p)
{
	struct pw_topo head = {}, *t;

	t = pw_arena_take(a, sizeof(*t));
	head.k = p->z.k;
	head.units = p->z.units;
	head.ranks = p->ranks;
	head.ports = p->z.ports;
	head.paths = p->z.paths;
	head.levels = p->levels;
	/* as pw_bmx_vpi_shift(): 12 bits of VPI, or 13 */
	head.shift = p->entries > PW_TOPO_ENTRIES / 2 ? 3 : 4;
	head.peer = pw_arena_take(a, sizeof(u16) * p->ranks);
	head.in = pw_arena_take(a, sizeof(u16) * p->z.ports);
	head.out = pw_arena_take(a, sizeof(u16) * p->z.ports);
	head.level = pw_arena_take(a, p->ranks);
	head.order = pw_arena_take(a, sizeof(u16) * p->ranks);
	head.first = pw_arena_take(a, sizeof(u32) * (p->ranks + 1));
	head.row = pw_arena_take(a, sizeof(u16) * p->rows * (1 + p->z.k));
	head.copies = pw_arena_take(a, sizeof(u16) * p->rows);
	head.conns = p->z.conns;
	head.conn = pw_arena_take(a, sizeof(*head.conn) * p->z.conns);
	if (t)
		*t = head;
	return t;
}

/**
 * pw_topo_size() - memory of a topology
 * @p: plan, checked
 *
 * Return: bytes to hand to pw_topo_make().
 */
size_t pw_topo_size(const struct pw_topo_plan *p)
{
	struct pw_arena a = {};

	topo_layout(&a, p);
	return a.used;
}

/* number of rows of input @x */
static u32 rows_of(const struct pw_topo_plan *p, u32 x)
{
	u32 all = pw_topo_kinds(&p->z) * p->z.paths, i, n = 0;
	const u16 *label = pw_topo_label(p, x, 0, 0);

	for (i = 0; i < all; i++)
		if (label[i] != PW_TOPO_NONE)
			n = max_t(u32, n, label[i] + 1);
	return n;
}

static void put_row(struct pw_topo *t, const struct pw_topo_plan *p, u32 x, u32 kind, u32 r,
		    u32 sel, u32 copies)
{
	u32 n = t->first[x] + *pw_topo_label(p, x, kind, r), o, to;
	u16 *row = t->row + (size_t)n * (1 + t->k);

	row[0] = sel;
	t->copies[n] = copies;
	for (; sel; sel &= sel - 1) {
		o = __ffs64(sel);
		to = p->peer[base_of(p, x) + o];
		row[1 + o] = pw_topo_is_port(to) ? 0 : *pw_topo_label(p, to, kind, r);
	}
}

/**
 * pw_topo_make() - topology of a plan
 * @mem: pw_topo_size() bytes, aligned to 8
 * @p: plan, checked
 *
 * Return: the topology (at @mem), which does not refer to the plan.
 */
struct pw_topo *pw_topo_make(void *mem, const struct pw_topo_plan *p)
{
	struct pw_arena a = { .base = mem };
	struct pw_topo *t = topo_layout(&a, p);
	struct pw_topo_plan tree = *p;
	u32 x, d, r, i, n, kind;

	memcpy(t->peer, p->peer, sizeof(u16) * p->ranks);
	memcpy(t->in, p->in, sizeof(u16) * p->z.ports);
	memcpy(t->out, p->out, sizeof(u16) * p->z.ports);
	memcpy(t->conn, p->conn, sizeof(*p->conn) * p->z.conns);
	memset(t->copies, 0, sizeof(u16) * p->rows);
	memset(t->level, 0, p->ranks);
	for (x = 0, n = 0; x < p->ranks; x++) {
		pw_topo_rest(p);
		t->first[x] = n;
		n += rows_of(p, x);
		memset(t->row + (size_t)t->first[x] * (1 + t->k), 0,
		       sizeof(u16) * (n - t->first[x]) * (1 + t->k));
		if (p->from[x] != PW_TOPO_NONE)
			t->level[x] = p->level[p->from[x]];
	}
	t->first[x] = n;
	for (i = 1; i <= p->levels; i++)
		for (x = 0; x < p->ranks; x++)
			if (p->level[x] == i)
				t->order[t->norder++] = x;
	for (x = 0; x < p->ranks; x++) {
		pw_topo_rest(p);
		for (d = 0; d < p->z.ports; d++)
			for (r = 0; r < p->z.paths; r++)
				if (*pw_topo_label(p, x, d, r) != PW_TOPO_NONE)
					put_row(t, p, x, d, r, BIT(*pw_topo_via(p, x, d, r)), 1);
	}
	clear_trees(p);
	for (kind = kind_all(p, 0); kind < pw_topo_kinds(&p->z); kind++) {
		for (r = 0; r < p->z.paths; r++) {
			pw_topo_rest(p);
			n = grow_tree(&tree, kind, r);
			for (i = 0; i < n; i++) {
				x = p->list[i];
				if (p->copies[x])
					put_row(t, p, x, kind, r, p->sel[x], p->copies[x]);
			}
		}
	}
	return t;
}
