// SPDX-License-Identifier: GPL-2.0
/* Generators of topologies: links, stations and routes by a name and sizes. */
#include "topo.h"

const char *const pw_topo_kind_name[PW_TOPO_KINDS] = {
	[PW_TOPO_CLOS] = "clos",
	[PW_TOPO_BENES] = "benes",
	[PW_TOPO_BUTTERFLY] = "butterfly",
	[PW_TOPO_CROSSBAR] = "crossbar",
	[PW_TOPO_TORUS] = "torus",
	[PW_TOPO_MESH] = "mesh",
	[PW_TOPO_FATTREE] = "fattree",
	[PW_TOPO_RING] = "ring",
};

/* sizes of each generator, as in its name */
const char *const pw_topo_kind_dims[PW_TOPO_KINDS] = {
	[PW_TOPO_CLOS] = "ExMxR",
	[PW_TOPO_BENES] = "N",
	[PW_TOPO_BUTTERFLY] = "KxS",
	[PW_TOPO_CROSSBAR] = "N",
	[PW_TOPO_TORUS] = "AxB[xC[xD]]",
	[PW_TOPO_MESH] = "AxB[xC[xD]]",
	[PW_TOPO_FATTREE] = "KxS",
	[PW_TOPO_RING] = "N[xS]",
};

static const struct {
	u8 min, max;
} dims[PW_TOPO_KINDS] = {
	[PW_TOPO_CLOS] = { 1, 3 },
	[PW_TOPO_BENES] = { 1, 1 },
	[PW_TOPO_BUTTERFLY] = { 2, 2 },
	[PW_TOPO_CROSSBAR] = { 1, 1 },
	[PW_TOPO_TORUS] = { 1, PW_TOPO_DIMS },
	[PW_TOPO_MESH] = { 1, PW_TOPO_DIMS },
	[PW_TOPO_FATTREE] = { 2, 2 },
	[PW_TOPO_RING] = { 1, 2 },
};

static int wrong(struct pw_topo_fault *why, enum pw_topo_wrong what)
{
	*why = (struct pw_topo_fault) { .what = what };
	return -EINVAL;
}

/**
 * pw_topo_parse() - generator and sizes of a name like torus:4x4
 * @text: name
 * @spec: result
 * @why: result: what is wrong
 *
 * Return: 0 or -EINVAL.
 */
int pw_topo_parse(const char *text, struct pw_topo_spec *spec, struct pw_topo_fault *why)
{
	size_t len = strcspn(text, ":");
	u32 v, digits;

	memset(spec, 0, sizeof(*spec));
	while (strncmp(text, pw_topo_kind_name[spec->kind], len) ||
	       pw_topo_kind_name[spec->kind][len])
		if (++spec->kind == PW_TOPO_KINDS)
			return wrong(why, PW_TOPO_E_NAME);
	text += len;
	while (*text) {
		if (*text != (spec->dims ? 'x' : ':') || spec->dims == PW_TOPO_DIMS)
			return wrong(why, PW_TOPO_E_DIMS);
		text++;
		for (v = 0, digits = 0; *text >= '0' && *text <= '9' && digits < 5; digits++)
			v = 10 * v + *text++ - '0';
		if (!digits)
			return wrong(why, PW_TOPO_E_DIMS);
		spec->dim[spec->dims++] = v;
	}
	if (spec->kind == PW_TOPO_CLOS && spec->dims == 1) {
		spec->dims = 3;
		spec->dim[1] = spec->dim[0];
		spec->dim[2] = spec->dim[0];
	}
	return 0;
}

/* @k to the power of @n, or more than PW_TOPO_RANKS */
static u32 power(u32 k, u32 n)
{
	u32 v = 1;

	while (n-- && v <= PW_TOPO_RANKS)
		v *= k;
	return v;
}

/* digit @i of @v in base @k */
static u32 digit(u32 v, u32 k, u32 i)
{
	while (i--)
		v /= k;
	return v % k;
}

/* @v with digit @i set to @to */
static u32 with_digit(u32 v, u32 k, u32 i, u32 to)
{
	return v + (to - digit(v, k, i)) * power(k, i);
}

/* @v without digit @i */
static u32 less_digit(u32 v, u32 k, u32 i)
{
	u32 w = power(k, i);

	return v / (w * k) * w + v % w;
}

/* largest power of @k that is a number of paths, of at most @n digits */
static u32 paths_of(u32 k, u32 n)
{
	u32 v = 1;

	while (n-- && v * k <= PW_TOPO_PATHS)
		v *= k;
	return v;
}

/* choice @i of path @r, if the path has one: a digit of its number; else @def */
static u32 choice(const struct pw_topo_plan *p, u32 r, u32 k, u32 i, u32 def)
{
	return power(k, i) < p->z.paths ? digit(r, k, i) : def;
}

static void station(struct pw_topo_plan *p, u32 s, u32 in, u32 out)
{
	p->in[s] = in;
	p->out[s] = out;
	p->peer[out] = PW_TOPO_PORT | s;
}

/* ---- Clos: R switches of E stations, M switches in the middle, R switches of E stations ---- */

enum { CLOS_E, CLOS_M, CLOS_R };

static void clos_wire(struct pw_topo_plan *p, const u32 *dim)
{
	u32 e = dim[CLOS_E], m = dim[CLOS_M], n = dim[CLOS_R], k = p->z.k, i, j;

	for (i = 0; i < n; i++) {
		for (j = 0; j < e; j++)
			station(p, i * e + j, i * k + j, (n + m + i) * k + j);
		for (j = 0; j < m; j++) {
			p->peer[i * k + j] = (n + j) * k + i;
			p->peer[(n + j) * k + i] = (n + m + i) * k + j;
		}
	}
}

static u32 clos_out(const struct pw_topo_plan *p, const u32 *dim, u32 x, u32 d, u32 r)
{
	u32 e = dim[CLOS_E], unit = x / p->z.k;

	return unit < dim[CLOS_R] ? r : unit < dim[CLOS_R] + dim[CLOS_M] ? d / e : d % e;
}

/*
 * ---- butterfly and Benes network: lines with numbers of S digits in base K ----
 *
 * A switch of a stage joins the K lines that differ in one digit only and sets that digit.
 * Butterfly: each digit once, the highest one first. Benes: from the highest to the lowest
 * and back; the stages before the lowest digit are free to choose.
 */

static u32 lines_digit(u32 stage, u32 digits)
{
	return stage < digits ? digits - 1 - stage : stage - digits + 1;
}

static void lines_wire(struct pw_topo_plan *p, u32 base, u32 digits, u32 stages)
{
	u32 per = p->z.ports / base, k = p->z.k, line, stage, d, in, last;

	for (line = 0; line < p->z.ports; line++) {
		last = PW_TOPO_NONE;
		for (stage = 0; stage < stages; stage++) {
			d = lines_digit(stage, digits);
			in = (stage * per + less_digit(line, base, d)) * k + digit(line, base, d);
			if (stage)
				p->peer[last] = in;
			else
				p->in[line] = in;
			last = in;	/* the output of the same number */
		}
		station(p, line, p->in[line], last);
	}
}

static u32 lines_out(const struct pw_topo_plan *p, u32 base, u32 digits, u32 stages, u32 x, u32 d,
		     u32 r)
{
	u32 stage = x / p->z.k / (p->z.ports / base), free = stages - digits;

	if (stage < free)
		return choice(p, r, base, stage, x % p->z.k);
	return digit(d, base, lines_digit(stage, digits));
}

static u32 benes_digits(const u32 *dim)
{
	return fls(dim[0]) - 1;
}

static void benes_wire(struct pw_topo_plan *p, const u32 *dim)
{
	u32 n = benes_digits(dim);

	lines_wire(p, 2, n, 2 * n - 1);
}

static u32 benes_out(const struct pw_topo_plan *p, const u32 *dim, u32 x, u32 d, u32 r)
{
	u32 n = benes_digits(dim);

	return lines_out(p, 2, n, 2 * n - 1, x, d, r);
}

static void butterfly_wire(struct pw_topo_plan *p, const u32 *dim)
{
	lines_wire(p, dim[0], dim[1], dim[1]);
}

static u32 butterfly_out(const struct pw_topo_plan *p, const u32 *dim, u32 x, u32 d, u32 r)
{
	return lines_out(p, dim[0], dim[1], dim[1], x, d, r);
}

/* ---- crossbar: one switch ---- */

static void crossbar_wire(struct pw_topo_plan *p, const u32 *dim)
{
	u32 i;

	for (i = 0; i < p->z.ports; i++)
		station(p, i, i, i);
}

static u32 crossbar_out(const struct pw_topo_plan *p, const u32 *dim, u32 x, u32 d, u32 r)
{
	return d;
}

/*
 * ---- mesh, torus and ring of switches ----
 *
 * Outputs: the stations of the switch, then up and down for each dimension. Cells pass one
 * dimension after the other (dimension order). In a ring of a torus, no cell passes straight
 * through the switch at which the ring is cut, it only begins or ends there: so the links of
 * either direction wait for each other in a row, not in a circle. Hence a cell between two
 * other switches stays on its side of the cut, and a cell from or to the switch at the cut
 * takes the shorter way. The cuts of different rings lie at different places.
 */

struct grid {
	const u32 *dim;
	u32 dims;
	u32 stations;	/* of a switch */
	bool wrap;
};

static struct grid grid_of(const struct pw_topo_plan *p, const u32 *dim, bool wrap)
{
	struct grid g = { .dim = dim, .wrap = wrap };
	u32 n = 1;

	/* all switches have a station, but those of a ring have dim[1] */
	while (g.dims < PW_TOPO_DIMS && n < p->z.units)
		n *= dim[g.dims++];
	g.stations = p->z.ports / p->z.units;
	return g;
}

static u32 grid_at(const struct grid *g, u32 unit, u32 dim)
{
	u32 i;

	for (i = 0; i < dim; i++)
		unit /= g->dim[i];
	return unit % g->dim[dim];
}

static u32 grid_move(const struct grid *g, u32 unit, u32 dim, u32 to)
{
	u32 w = 1, i;

	for (i = 0; i < dim; i++)
		w *= g->dim[i];
	return unit + (to - grid_at(g, unit, dim)) * w;
}

static void grid_wire(struct pw_topo_plan *p, const struct grid *g)
{
	u32 k = p->z.k, unit, i, at, up, next;

	for (unit = 0; unit < p->z.units; unit++) {
		for (i = 0; i < g->stations; i++)
			station(p, unit * g->stations + i, unit * k + i, unit * k + i);
		for (i = 0; i < g->dims; i++) {
			at = grid_at(g, unit, i);
			up = g->stations + 2 * i;
			if (at + 1 == g->dim[i] && !g->wrap)
				continue;
			next = grid_move(g, unit, i, at + 1 == g->dim[i] ? 0 : at + 1);
			p->peer[unit * k + up] = next * k + up + 1;
			p->peer[next * k + up + 1] = unit * k + up;
		}
	}
}

/* place of the cut in the ring of @unit in @dim */
static u32 grid_cut(const struct grid *g, u32 unit, u32 dim)
{
	u32 sum = 0, i;

	for (i = 0; i < g->dims; i++)
		if (i != dim)
			sum += grid_at(g, unit, i);
	return sum % g->dim[dim];
}

/* up from @at to @to? */
static bool grid_up(const struct grid *g, u32 unit, u32 dim, u32 at, u32 to)
{
	u32 n = g->dim[dim], cut;

	if (!g->wrap)
		return at < to;
	cut = grid_cut(g, unit, dim);
	at = (at + n - cut) % n;
	to = (to + n - cut) % n;
	if (!at)
		return 2 * to <= n;
	if (!to)
		return 2 * at >= n;
	return at < to;
}

static u32 grid_out(const struct pw_topo_plan *p, const struct grid *g, u32 x, u32 d)
{
	u32 unit = x / p->z.k, there = d / g->stations, i, at, to;

	for (i = 0; i < g->dims; i++) {
		at = grid_at(g, unit, i);
		to = grid_at(g, there, i);
		if (at != to)
			return g->stations + 2 * i + !grid_up(g, unit, i, at, to);
	}
	return d % g->stations;
}

static void torus_wire(struct pw_topo_plan *p, const u32 *dim)
{
	struct grid g = grid_of(p, dim, true);

	grid_wire(p, &g);
}

static u32 torus_out(const struct pw_topo_plan *p, const u32 *dim, u32 x, u32 d, u32 r)
{
	struct grid g = grid_of(p, dim, true);

	return grid_out(p, &g, x, d);
}

static void mesh_wire(struct pw_topo_plan *p, const u32 *dim)
{
	struct grid g = grid_of(p, dim, false);

	grid_wire(p, &g);
}

static u32 mesh_out(const struct pw_topo_plan *p, const u32 *dim, u32 x, u32 d, u32 r)
{
	struct grid g = grid_of(p, dim, false);

	return grid_out(p, &g, x, d);
}

/*
 * ---- fat tree: S levels of switches with K ports down and K ports up ----
 *
 * A switch of level l has a number of S - 1 digits; it is joined to the K switches of level
 * l + 1 that differ from it in digit l only. A cell climbs until the station is below.
 */

static void fattree_wire(struct pw_topo_plan *p, const u32 *dim)
{
	u32 k = dim[0], per = p->z.ports / k, l, w, u, above;

	for (w = 0; w < p->z.ports; w++)
		station(p, w, w / k * p->z.k + w % k, w / k * p->z.k + w % k);
	for (l = 0; l + 1 < dim[1]; l++) {
		for (w = 0; w < per; w++) {
			for (u = 0; u < k; u++) {
				above = (l + 1) * per + with_digit(w, k, l, u);
				p->peer[(l * per + w) * p->z.k + k + u] =
					above * p->z.k + digit(w, k, l);
				p->peer[above * p->z.k + digit(w, k, l)] =
					(l * per + w) * p->z.k + k + u;
			}
		}
	}
}

static u32 fattree_out(const struct pw_topo_plan *p, const u32 *dim, u32 x, u32 d, u32 r)
{
	u32 k = dim[0], per = p->z.ports / k, unit = x / p->z.k, l = unit / per, w = unit % per;

	/* the digits from l on of the switch are those of the station above its lowest one */
	if (w / power(k, l) == d / k / power(k, l))
		return digit(d, k, l);
	return k + choice(p, r, k, l, digit(w, k, l));
}

static const struct {
	void (*wire)(struct pw_topo_plan *p, const u32 *dim);
	u32 (*out)(const struct pw_topo_plan *p, const u32 *dim, u32 x, u32 d, u32 r);
} gen[PW_TOPO_KINDS] = {
	[PW_TOPO_CLOS] = { clos_wire, clos_out },
	[PW_TOPO_BENES] = { benes_wire, benes_out },
	[PW_TOPO_BUTTERFLY] = { butterfly_wire, butterfly_out },
	[PW_TOPO_CROSSBAR] = { crossbar_wire, crossbar_out },
	[PW_TOPO_TORUS] = { torus_wire, torus_out },
	[PW_TOPO_MESH] = { mesh_wire, mesh_out },
	[PW_TOPO_FATTREE] = { fattree_wire, fattree_out },
	[PW_TOPO_RING] = { torus_wire, torus_out },
};

static void grid_sizes(const struct pw_topo_spec *spec, u32 n, struct pw_topo_sizes *z)
{
	u32 i;

	z->units = 1;
	for (i = 0; i < n; i++)
		z->units *= spec->dim[i];
	z->k = 1 + 2 * n;
	z->ports = z->units;
	z->paths = 1;
}

/**
 * pw_topo_gen_sizes() - sizes of a generated topology
 * @spec: generator
 * @z: result, checked, without connections; to add some, set conns and check again
 * @why: result: what is wrong
 *
 * Return: 0 or -EINVAL.
 */
int pw_topo_gen_sizes(const struct pw_topo_spec *spec, struct pw_topo_sizes *z,
		      struct pw_topo_fault *why)
{
	u32 a = spec->dim[0], b = spec->dim[1], c = spec->dim[2], i;

	z->conns = 0;
	if (spec->dims < dims[spec->kind].min || spec->dims > dims[spec->kind].max)
		return wrong(why, PW_TOPO_E_DIMS);
	for (i = 0; i < spec->dims; i++)
		if (!spec->dim[i] || spec->dim[i] > PW_TOPO_PORTS)
			return wrong(why, PW_TOPO_E_DIMS);
	switch (spec->kind) {
	case PW_TOPO_CLOS:
		*z = (struct pw_topo_sizes) { 2 * c + b, max_t(u32, max(a, b), max_t(u32, c, 2)),
					      a * c, b, 0 };
		break;
	case PW_TOPO_BENES:
		if (a < 2 || !is_power_of_2(a))
			return wrong(why, PW_TOPO_E_DIMS);
		i = fls(a) - 1;
		*z = (struct pw_topo_sizes) { a / 2 * (2 * i - 1), 2, a, paths_of(2, i - 1), 0 };
		break;
	case PW_TOPO_BUTTERFLY:
		if (a < 2 || b > 8)
			return wrong(why, PW_TOPO_E_DIMS);
		*z = (struct pw_topo_sizes) { power(a, b - 1) * b, a, power(a, b), 1, 0 };
		break;
	case PW_TOPO_CROSSBAR:
		*z = (struct pw_topo_sizes) { 1, a, a, 1, 0 };
		break;
	case PW_TOPO_TORUS:
	case PW_TOPO_MESH:
		for (i = 0; i < spec->dims; i++)
			if (spec->dim[i] < 2)
				return wrong(why, PW_TOPO_E_DIMS);
		grid_sizes(spec, spec->dims, z);
		break;
	case PW_TOPO_RING:
		if (a < 2)
			return wrong(why, PW_TOPO_E_DIMS);
		grid_sizes(spec, 1, z);
		if (spec->dims == 2) {
			z->k = b + 2;
			z->ports = a * b;
		}
		break;
	case PW_TOPO_FATTREE:
		if (a < 2 || b > 8)
			return wrong(why, PW_TOPO_E_DIMS);
		*z = (struct pw_topo_sizes) { power(a, b - 1) * b, 2 * a, power(a, b),
					      paths_of(a, b - 1), 0 };
		break;
	default:
		return wrong(why, PW_TOPO_E_NAME);
	}
	return pw_topo_sizes_check(z, why);
}

/**
 * pw_topo_gen() - links, stations and routes of a generated topology
 * @p: plan with the sizes of pw_topo_gen_sizes(), empty
 * @spec: generator
 */
void pw_topo_gen(struct pw_topo_plan *p, const struct pw_topo_spec *spec)
{
	u32 s, d, r, x, o;
	u8 *via;

	gen[spec->kind].wire(p, spec->dim);
	for (s = 0; s < p->z.ports; s++) {
		pw_topo_rest(p);
		for (d = 0; d < p->z.ports; d++) {
			for (r = 0; r < p->z.paths; r++) {
				for (x = p->in[s]; x < p->ranks; x = p->peer[o]) {
					via = pw_topo_via(p, x, d, r);
					if (*via != PW_TOPO_NO_OUT)
						break;
					*via = gen[spec->kind].out(p, spec->dim, x, d, r);
					o = x - x % p->z.k + *via;
				}
			}
		}
	}
}
