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
	if (z->k < PW_BMX_KMIN || z->k > PW_BMX_KMAX || z->ports < 2 ||
	    z->ports > PW_TOPO_PORTS || !z->paths || z->paths > PW_TOPO_PATHS || !z->units ||
	    z->units > PW_TOPO_RANKS / z->k)
		return wrong(why, PW_TOPO_E_SIZES, z->units, z->k, z->ports, z->paths);
	if (z->units * z->k > PW_TOPO_CELLS / z->ports / z->paths)
		return wrong(why, PW_TOPO_E_LARGE, z->units * z->k, z->ports, z->paths, 0);
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
	head.label = pw_arena_take(a, sizeof(u16) * n * 2 * all);
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
	return p;
}

static u32 base_of(const struct pw_topo_plan *p, u32 rank)
{
	return rank - rank % p->z.k;
}

/* VPI at input @x of a cell for station @d by path @r; with @all from it to all stations */
static u16 *label_of(const struct pw_topo_plan *p, u32 x, bool all, u32 d, u32 r)
{
	return &p->label[((2 * (size_t)x + all) * p->z.ports + d) * p->z.paths + r];
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
		label = label_of(p, x, false, d, r);
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

/*
 * Tree from station @s to all stations by turns that cells of path @r take anyway, so that no
 * link waits for one more. Result: p->list of its inputs, p->sel and p->copies of each.
 */
static u32 grow_tree(struct pw_topo_plan *p, u32 s, u32 r)
{
	u32 n = 1, id = s * p->z.paths + r + 1, i, x, mask, out, to;

	p->list[0] = p->in[s];
	for (i = 0; i < n; i++) {
		x = p->list[i];
		p->sel[x] = 0;
		p->copies[x] = 0;
		for (mask = p->turn[x * p->z.paths + r]; mask; mask &= mask - 1) {
			out = base_of(p, x) + __ffs64(mask);
			to = p->peer[out];
			if (pw_topo_is_port(to)) {
				if (p->wait[out] == id)
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

/* number the VPIs in use at each input; those at a station's input are given */
static int number_rows(struct pw_topo_plan *p, struct pw_topo_fault *why)
{
	u32 all = p->z.ports * p->z.paths, x, i, n, s;
	u64 rows = 0;

	for (x = 0; x < p->ranks; x++) {
		u16 *label = label_of(p, x, false, 0, 0);

		for (i = 0, n = 0; i < 2 * all; i++)
			if (label[i] != PW_TOPO_NONE)
				label[i] = n++;
		for (s = 0; s < p->z.ports && p->in[s] != x; s++)
			;
		if (s < p->z.ports) {
			n = all + p->z.paths;
			for (i = 0; i < p->z.paths; i++)
				*label_of(p, x, true, s, i) = all + i;
		}
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

/**
 * pw_topo_check() - check a plan, prepare it for pw_topo_make()
 * @p: plan with links, stations and routes
 * @why: result: what is wrong
 *
 * Every input is driven at most once, every station is reached from every station by every
 * path, no links wait for each other in a circle, and the tables fit.
 *
 * Return: 0 or -EINVAL.
 */
int pw_topo_check(struct pw_topo_plan *p, struct pw_topo_fault *why)
{
	u32 s, d, r, i, n;
	int err;

	why->what = PW_TOPO_OK;
	p->entries = 0;
	err = check_links(p, why);
	if (err)
		return err;
	memset(p->label, 0xff, sizeof(u16) * p->ranks * 2 * p->z.ports * p->z.paths);
	memset(p->turn, 0, sizeof(u16) * p->ranks * p->z.paths);
	for (s = 0; s < p->z.ports; s++)
		for (d = 0; d < p->z.ports; d++)
			for (r = 0; r < p->z.paths && !err; r++)
				err = check_route(p, s, d, r, why);
	if (err)
		return err;
	err = check_order(p, why);
	if (err)
		return err;
	clear_trees(p);
	for (s = 0; s < p->z.ports; s++) {
		for (r = 0; r < p->z.paths; r++) {
			n = grow_tree(p, s, r);
			for (i = 0; i < n; i++)
				if (p->copies[p->list[i]])
					*label_of(p, p->list[i], true, s, r) = 0;
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
	u32 all = p->z.ports * p->z.paths, i, n = 0;
	const u16 *label = label_of(p, x, false, 0, 0);

	for (i = 0; i < 2 * all; i++)
		if (label[i] != PW_TOPO_NONE)
			n = max_t(u32, n, label[i] + 1);
	return n;
}

static void put_row(struct pw_topo *t, const struct pw_topo_plan *p, u32 x, bool all, u32 d, u32 r,
		    u32 sel, u32 copies)
{
	u32 n = t->first[x] + *label_of(p, x, all, d, r), o, to;
	u16 *row = t->row + (size_t)n * (1 + t->k);

	row[0] = sel;
	t->copies[n] = copies;
	for (; sel; sel &= sel - 1) {
		o = __ffs64(sel);
		to = p->peer[base_of(p, x) + o];
		row[1 + o] = pw_topo_is_port(to) ? 0 : *label_of(p, to, all, d, r);
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
	u32 x, d, r, i, n;

	memcpy(t->peer, p->peer, sizeof(u16) * p->ranks);
	memcpy(t->in, p->in, sizeof(u16) * p->z.ports);
	memcpy(t->out, p->out, sizeof(u16) * p->z.ports);
	memset(t->row, 0, sizeof(u16) * p->rows * (1 + p->z.k));
	memset(t->copies, 0, sizeof(u16) * p->rows);
	memset(t->level, 0, p->ranks);
	for (x = 0, n = 0; x < p->ranks; x++) {
		t->first[x] = n;
		n += rows_of(p, x);
		if (p->from[x] != PW_TOPO_NONE)
			t->level[x] = p->level[p->from[x]];
	}
	t->first[x] = n;
	for (i = 1; i <= p->levels; i++)
		for (x = 0; x < p->ranks; x++)
			if (p->level[x] == i)
				t->order[t->norder++] = x;
	for (x = 0; x < p->ranks; x++)
		for (d = 0; d < p->z.ports; d++)
			for (r = 0; r < p->z.paths; r++)
				if (*label_of(p, x, false, d, r) != PW_TOPO_NONE)
					put_row(t, p, x, false, d, r,
						BIT(*pw_topo_via(p, x, d, r)), 1);
	clear_trees(p);
	for (d = 0; d < p->z.ports; d++) {
		for (r = 0; r < p->z.paths; r++) {
			n = grow_tree(&tree, d, r);
			for (i = 0; i < n; i++) {
				x = p->list[i];
				if (p->copies[x])
					put_row(t, p, x, true, d, r, p->sel[x], p->copies[x]);
			}
		}
	}
	return t;
}

/**
 * pw_topo_text() - what is wrong, as a sentence
 * @why: result of a check or of pw_topo_parse()
 * @text: result
 * @cap: its size
 */
void pw_topo_text(const struct pw_topo_fault *why, char *text, size_t cap)
{
	u32 a = why->a, b = why->b, c = why->c, d = why->d;

	switch (why->what) {
	case PW_TOPO_OK:
		scnprintf(text, cap, "nothing is wrong");
		break;
	case PW_TOPO_E_SIZES:
		scnprintf(text, cap,
			  "%u switches of %u ports, %u stations, %u paths: there may be 2..%u ports, 2..%u stations, 1..%u paths and %u inputs in all",
			  a, b, c, d, PW_BMX_KMAX, PW_TOPO_PORTS, PW_TOPO_PATHS, PW_TOPO_RANKS);
		break;
	case PW_TOPO_E_LARGE:
		scnprintf(text, cap,
			  "%u inputs times %u stations times %u paths are more than %u", a, b, c,
			  PW_TOPO_CELLS);
		break;
	case PW_TOPO_E_NAME:
		scnprintf(text, cap, "unknown topology");
		break;
	case PW_TOPO_E_DIMS:
		scnprintf(text, cap, "sizes are missing, too many or out of range");
		break;
	case PW_TOPO_E_STATION:
		scnprintf(text, cap, "station %u has no place, or shares its place", a);
		break;
	case PW_TOPO_E_INPUT:
		scnprintf(text, cap,
			  "input %u of switch %u does not exist or is driven twice", b, a);
		break;
	case PW_TOPO_E_ROUTE:
		scnprintf(text, cap,
			  "no route from station %u to %u by path %u, it ends at switch %u",
			  a, b, c, d);
		break;
	case PW_TOPO_E_ASTRAY:
		scnprintf(text, cap,
			  "the route from station %u to %u by path %u ends at station %u",
			  a, b, c, d);
		break;
	case PW_TOPO_E_CIRCLE:
		scnprintf(text, cap,
			  "deadlock: links wait for each other in a circle, among them output %u of switch %u",
			  b, a);
		break;
	case PW_TOPO_E_DEEP:
		scnprintf(text, cap, "%u switches in a row, at most %u are possible", a,
			  PW_TOPO_LEVELS);
		break;
	case PW_TOPO_E_ENTRIES:
		scnprintf(text, cap,
			  "the table of input %u of switch %u has %u rows, at most %u fit",
			  b, a, c, PW_TOPO_ENTRIES);
		break;
	case PW_TOPO_E_ROWS:
		scnprintf(text, cap, "the tables have %u rows, at most %u fit", a, PW_TOPO_ROWS);
		break;
	}
}
