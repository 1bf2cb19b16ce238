// SPDX-License-Identifier: GPL-2.0
/*
 * Topologies of a fabric by name or from a YAML file:
 *
 *	generator: torus
 *	dims: [4, 4]
 *
 * or the switches and links themselves:
 *
 *	switches: 2
 *	ports: 3		inputs, and outputs, of a switch
 *	paths: 1		between two stations; may be left out
 *	stations:		switch and input, switch and output
 *	  - [0, 0, 0, 0]
 *	links:			switch and output, switch and input
 *	  - [0, 2, 1, 2]
 *	routes:			from, to, path, then the output of each switch; may be left out
 *	  - [0, 1, 0, 2, 0]
 *
 * Both may have multicast connections, which are numbered from 0:
 *
 *	multicast:		from, then the stations that it leads to
 *	  - [0, 1, 2]
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "topo_file.h"

static struct pw_topo_plan *new_plan(const struct pw_topo_sizes *z)
{
	void *mem = malloc(pw_topo_plan_size(z));

	return mem ? pw_topo_plan_init(mem, z) : NULL;
}

static struct pw_topo_plan *generate(const struct pw_topo_spec *spec, u32 conns,
				     struct pw_topo_fault *why)
{
	struct pw_topo_plan *p;
	struct pw_topo_sizes z;

	if (pw_topo_gen_sizes(spec, &z, why))
		return NULL;
	z.conns = conns;
	if (pw_topo_sizes_check(&z, why))
		return NULL;
	p = new_plan(&z);
	if (p)
		pw_topo_gen(p, spec);
	return p;
}

/* names of all generators, each with its sizes */
static void list_names(char *text, size_t cap)
{
	size_t n = 0;

	for (u32 i = 0; i < PW_TOPO_KINDS && n < cap; i++)
		n += snprintf(text + n, cap - n, "%s%s:%s", i ? ", " : "", pw_topo_kind_name[i],
			      pw_topo_kind_dims[i]);
}

u32 topo_file_stages(const char *what)
{
	struct pw_topo_fault why;
	struct pw_topo_spec s;

	if (pw_topo_parse(what, &s, &why) || s.kind != PW_TOPO_CLOS || s.dims != 3 ||
	    s.dim[0] != s.dim[1] || s.dim[0] != s.dim[2] || s.dim[0] < PW_BMX_KMIN ||
	    s.dim[0] > PW_BMX_KMAX)
		return 0;
	return s.dim[0];
}

#ifndef PWM_WITHOUT_NET
#include "yaml_text.h"

#define KEYS	9

enum key { GENERATOR, DIMS, SWITCHES, PORTS, PATHS, STATIONS, LINKS, ROUTES, MULTICAST };

static const char *const key_name[KEYS] = {
	"generator", "dims", "switches", "ports", "paths", "stations", "links", "routes", "multicast"
};

struct reader {
	const char *file;
	yaml_document_t doc;
	int node[KEYS];		/* 0: not in the file */
	char *why;
	size_t cap;
};

static bool __attribute__((format(printf, 3, 4)))
bad(struct reader *r, int node, const char *fmt, ...)
{
	char text[192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(r->why, r->cap, "%s:%zu: %s", r->file, yaml_line(&r->doc, node), text);
	return false;
}

static bool number(struct reader *r, int node, u32 max, u32 *v)
{
	const char *text = yaml_text(&r->doc, node);
	unsigned long n;
	char *end;

	if (!text || !isdigit((unsigned char)*text))
		return bad(r, node, "a number is needed");
	errno = 0;
	n = strtoul(text, &end, 10);
	if (*end || errno || n > max)
		return bad(r, node, "'%s' is not 0..%u", text, max);
	*v = n;
	return true;
}

static u32 items(struct reader *r, int node, yaml_node_item_t **first)
{
	yaml_node_t *n = yaml_document_get_node(&r->doc, node);

	if (!n || n->type != YAML_SEQUENCE_NODE)
		return 0;
	*first = n->data.sequence.items.start;
	return n->data.sequence.items.top - n->data.sequence.items.start;
}

/* a row of @min to @max numbers below the limits; the last limit is that of all further ones */
static bool row(struct reader *r, int node, u32 min, u32 max, const u32 *limit, u32 limits, u32 *v,
		u32 *n)
{
	yaml_node_item_t *item = NULL;

	*n = items(r, node, &item);
	if (*n < min || *n > max)
		return bad(r, node, "a list of %u%s numbers is needed", min, max > min ? " or more" : "");
	for (u32 i = 0; i < *n; i++)
		if (!number(r, item[i], limit[i < limits ? i : limits - 1] - 1, &v[i]))
			return false;
	return true;
}

static bool read_keys(struct reader *r)
{
	yaml_node_t *m = yaml_document_get_root_node(&r->doc);
	yaml_node_pair_t *p;
	u32 i;

	if (!m || m->type != YAML_MAPPING_NODE)
		return bad(r, 1, "keys and values are needed");
	for (p = m->data.mapping.pairs.start; p < m->data.mapping.pairs.top; p++) {
		const char *name = yaml_text(&r->doc, p->key);

		for (i = 0; i < KEYS && (!name || strcmp(name, key_name[i])); i++)
			;
		if (i == KEYS)
			return bad(r, p->key, "unknown key '%s'", name ? name : "");
		if (r->node[i])
			return bad(r, p->key, "'%s' twice", name);
		r->node[i] = p->value;
	}
	return true;
}

static struct pw_topo_plan *read_generator(struct reader *r)
{
	const char *name = yaml_text(&r->doc, r->node[GENERATOR]);
	struct pw_topo_spec spec = {};
	yaml_node_item_t *item = NULL;
	struct pw_topo_plan *p;
	struct pw_topo_fault why;
	char text[256];

	while (!name || strcmp(name, pw_topo_kind_name[spec.kind])) {
		if (name && ++spec.kind < PW_TOPO_KINDS)
			continue;
		bad(r, r->node[GENERATOR], "unknown generator '%s'", name ? name : "");
		return NULL;
	}
	spec.dims = items(r, r->node[DIMS], &item);
	if (spec.dims > PW_TOPO_DIMS) {
		bad(r, r->node[DIMS], "at most %u sizes are possible", PW_TOPO_DIMS);
		return NULL;
	}
	for (u32 i = 0; i < spec.dims; i++)
		if (!number(r, item[i], 65535, &spec.dim[i]))
			return NULL;
	p = generate(&spec, items(r, r->node[MULTICAST], &item), &why);
	if (!p) {
		pw_topo_text(&why, text, sizeof(text));
		bad(r, r->node[GENERATOR], "%s", text);
	}
	return p;
}

static bool read_stations(struct reader *r, struct pw_topo_plan *p)
{
	const u32 limit[] = { p->z.units, p->z.k, p->z.units, p->z.k };
	yaml_node_item_t *item = NULL;
	u32 v[4], n;

	items(r, r->node[STATIONS], &item);
	for (u32 i = 0; i < p->z.ports; i++) {
		if (!row(r, item[i], 4, 4, limit, 4, v, &n))
			return false;
		if (p->peer[v[2] * p->z.k + v[3]] != PW_TOPO_NONE)
			return bad(r, item[i], "output %u of switch %u is used twice", v[3], v[2]);
		p->in[i] = v[0] * p->z.k + v[1];
		p->out[i] = v[2] * p->z.k + v[3];
		p->peer[p->out[i]] = PW_TOPO_PORT | i;
	}
	return true;
}

static bool read_links(struct reader *r, struct pw_topo_plan *p)
{
	const u32 limit[] = { p->z.units, p->z.k, p->z.units, p->z.k };
	yaml_node_item_t *item = NULL;
	u32 count = items(r, r->node[LINKS], &item), v[4], n;

	for (u32 i = 0; i < count; i++) {
		if (!row(r, item[i], 4, 4, limit, 4, v, &n))
			return false;
		if (p->peer[v[0] * p->z.k + v[1]] != PW_TOPO_NONE)
			return bad(r, item[i], "output %u of switch %u is used twice", v[1], v[0]);
		p->peer[v[0] * p->z.k + v[1]] = v[2] * p->z.k + v[3];
	}
	return true;
}

static bool read_route(struct reader *r, struct pw_topo_plan *p, int node)
{
	const u32 limit[] = { p->z.ports, p->z.ports, p->z.paths, p->z.k };
	u32 v[3 + TOPO_FILE_HOPS], n, x;
	u8 *via;

	if (!row(r, node, 4, 3 + TOPO_FILE_HOPS, limit, 4, v, &n))
		return false;
	x = p->in[v[0]];
	for (u32 i = 3; i < n; i++) {
		if (x >= p->ranks)
			return bad(r, node, "the route ends before its output number %u", i - 2);
		via = pw_topo_via(p, x, v[1], v[2]);
		if (*via != PW_TOPO_NO_OUT && *via != v[i])
			return bad(r, node,
				   "at input %u of switch %u cells for station %u by path %u take output %u already",
				   x % p->z.k, x / p->z.k, v[1], v[2], *via);
		*via = v[i];
		x = p->peer[x - x % p->z.k + v[i]];
	}
	if (x != (PW_TOPO_PORT | v[1]))
		return bad(r, node, "the route does not end at station %u", v[1]);
	return true;
}

static struct pw_topo_plan *read_switches(struct reader *r)
{
	struct pw_topo_sizes z = { .paths = 1 };
	yaml_node_item_t *item = NULL;
	struct pw_topo_fault why;
	struct pw_topo_plan *p;
	char text[256];
	bool good;

	for (u32 i = SWITCHES; i <= LINKS; i++) {
		if (i == PATHS || r->node[i])
			continue;
		bad(r, 1, "'%s' is missing", key_name[i]);
		return NULL;
	}
	if (!number(r, r->node[SWITCHES], PW_TOPO_RANKS, &z.units) ||
	    !number(r, r->node[PORTS], PW_BMX_KMAX, &z.k) ||
	    (r->node[PATHS] && !number(r, r->node[PATHS], PW_TOPO_PATHS, &z.paths)))
		return NULL;
	z.ports = items(r, r->node[STATIONS], &item);
	z.conns = items(r, r->node[MULTICAST], &item);
	if (pw_topo_sizes_check(&z, &why)) {
		pw_topo_text(&why, text, sizeof(text));
		bad(r, 1, "%s", text);
		return NULL;
	}
	p = new_plan(&z);
	if (!p) {
		bad(r, 1, "out of memory");
		return NULL;
	}
	good = read_stations(r, p) && read_links(r, p);
	if (good && r->node[ROUTES]) {
		u32 n = items(r, r->node[ROUTES], &item);

		for (u32 i = 0; good && i < n; i++)
			good = read_route(r, p, item[i]);
	} else if (good) {
		pw_topo_route(p);
	}
	if (good)
		return p;
	free(p);
	return NULL;
}

static bool read_multicast(struct reader *r, struct pw_topo_plan *p)
{
	u32 v[1 + PW_TOPO_PORTS], n;
	yaml_node_item_t *item = NULL;

	if (r->node[MULTICAST] && !items(r, r->node[MULTICAST], &item))
		return bad(r, r->node[MULTICAST], "multicast: a list of connections is needed");
	for (u32 i = 0; i < p->z.conns; i++) {
		if (!row(r, item[i], 2, ARRAY_SIZE(v), &p->z.ports, 1, v, &n))
			return false;
		p->conn[i].src = v[0];
		for (u32 k = 1; k < n; k++) {
			if (v[k] == v[0])
				return bad(r, item[i], "station %u is the sender of the connection",
					   v[k]);
			if (pw_topo_member(&p->conn[i], v[k]))
				return bad(r, item[i], "station %u twice", v[k]);
			pw_topo_join(&p->conn[i], v[k]);
		}
	}
	return true;
}

static struct pw_topo_plan *read_file(const char *file, FILE *f, char *why, size_t cap)
{
	struct reader r = { .file = file, .why = why, .cap = cap };
	struct pw_topo_plan *p = NULL;
	yaml_parser_t parser;

	if (!yaml_parser_initialize(&parser))
		return NULL;
	yaml_parser_set_input_file(&parser, f);
	if (!yaml_parser_load(&parser, &r.doc)) {
		snprintf(why, cap, "%s:%zu: %s", file, parser.problem_mark.line + 1,
			 parser.problem ? parser.problem : "no YAML");
	} else {
		if (read_keys(&r))
			p = r.node[GENERATOR] ? read_generator(&r) : read_switches(&r);
		if (p && !read_multicast(&r, p)) {
			free(p);
			p = NULL;
		}
		yaml_document_delete(&r.doc);
	}
	yaml_parser_delete(&parser);
	return p;
}
#else
static struct pw_topo_plan *read_file(const char *file, FILE *f, char *why, size_t cap)
{
	snprintf(why, cap, "%s: this build reads no files", file);
	return NULL;
}
#endif

static struct pw_topo_plan *from_name_or_file(const char *what, char *why, size_t cap)
{
	struct pw_topo_plan *p = NULL;
	struct pw_topo_fault fault;
	struct pw_topo_spec spec;
	char text[256];
	FILE *f;

	if (!pw_topo_parse(what, &spec, &fault)) {
		fault.what = PW_TOPO_OK;
		p = generate(&spec, 0, &fault);
		if (p || fault.what == PW_TOPO_OK)
			return p;
	} else if (fault.what == PW_TOPO_E_NAME) {
		f = fopen(what, "r");
		list_names(text, sizeof(text));
		snprintf(why, cap, "'%s' is neither a file nor one of %s", what, text);
		if (f) {
			p = read_file(what, f, why, cap);
			fclose(f);
		}
		return p;
	}
	pw_topo_text(&fault, text, sizeof(text));
	if (fault.what == PW_TOPO_E_DIMS)
		snprintf(why, cap, "%s: %s, it is %s:%s", what, text, pw_topo_kind_name[spec.kind],
			 pw_topo_kind_dims[spec.kind]);
	else
		snprintf(why, cap, "%s: %s", what, text);
	return NULL;
}

struct pw_topo_plan *topo_file_plan(const char *what, char *why, size_t cap)
{
	struct pw_topo_plan *p;
	struct pw_topo_fault fault;
	char text[256];

	snprintf(why, cap, "out of memory");
	p = from_name_or_file(what, why, cap);
	if (!p || !pw_topo_check(p, &fault))
		return p;
	pw_topo_text(&fault, text, sizeof(text));
	snprintf(why, cap, "%s: %s", what, text);
	free(p);
	return NULL;
}

struct pw_topo *topo_file_load(const char *what, char *why, size_t cap)
{
	struct pw_topo_plan *p = topo_file_plan(what, why, cap);
	struct pw_topo *t = NULL;
	void *mem;

	if (!p)
		return NULL;
	mem = malloc(pw_topo_size(p));
	if (mem)
		t = pw_topo_make(mem, p);
	else
		snprintf(why, cap, "out of memory");
	free(p);
	return t;
}

/* level of the inputs of each switch, if they all have one; otherwise there is no such array */
static json_t *columns(const struct pw_topo *t)
{
	json_t *list = json_array();
	u32 w, i, n;
	int at;

	for (w = 0; w < t->units; w++) {
		at = -1;
		for (i = 0; i < t->k; i++) {
			/* inputs without rows are not used */
			n = w * t->k + i;
			if (t->first[n] == t->first[n + 1])
				continue;
			if (at >= 0 && at != t->level[n]) {
				json_decref(list);
				return NULL;
			}
			at = t->level[n];
		}
		json_array_append_new(list, json_integer(max(at, 0)));
	}
	return list;
}

json_t *topo_file_json(const struct pw_topo *t, const char *name)
{
	json_t *in = json_array(), *peer = json_array(), *j, *list = columns(t);
	u32 i;

	for (i = 0; i < t->ports; i++)
		json_array_append_new(in, json_integer(t->in[i]));
	for (i = 0; i < t->ranks; i++)
		json_array_append_new(peer, json_integer(t->peer[i] == PW_TOPO_NONE ? -1 :
			pw_topo_is_port(t->peer[i]) ? -2 - (t->peer[i] & ~PW_TOPO_PORT) :
						      t->peer[i]));
	j = json_pack("{s:s, s:i, s:i, s:i, s:o, s:o}", "topology", name, "ports", (int)t->ports,
		      "switches", (int)t->units, "switch-ports", (int)t->k, "in", in, "peer", peer);
	if (j && list)
		json_object_set(j, "columns", list);
	json_decref(list);
	return j;
}

/* an array of @n integers from @lo to @hi - 1? */
static bool numbers(const json_t *a, size_t n, json_int_t lo, json_int_t hi)
{
	size_t i;

	for (i = 0; json_array_size(a) == n && i < n; i++) {
		const json_t *v = json_array_get(a, i);

		if (!json_is_integer(v) || json_integer_value(v) < lo || json_integer_value(v) >= hi)
			return false;
	}
	return i == n;
}

bool topo_file_json_good(const json_t *j)
{
	json_int_t ports = json_integer_value(json_object_get(j, "ports"));
	json_int_t units = json_integer_value(json_object_get(j, "switches"));
	json_int_t k = json_integer_value(json_object_get(j, "switch-ports"));
	const json_t *list = json_object_get(j, "columns");

	if (!json_is_string(json_object_get(j, "topology")) || ports < 1 || ports > PW_TOPO_PORTS ||
	    k < 1 || k > PW_BMX_KMAX || units < 1 || units * k > PW_TOPO_RANKS)
		return false;
	return numbers(json_object_get(j, "in"), ports, 0, units * k) &&
	       numbers(json_object_get(j, "peer"), units * k, -1 - ports, units * k) &&
	       (!list || numbers(list, units, 0, PW_TOPO_LEVELS));
}

void topo_file_print(const struct pw_topo_plan *p, FILE *f)
{
	u32 k = p->z.k, i, s, d, r, x, to;

	fprintf(f, "switches: %u\nports: %u\npaths: %u\n", p->z.units, k, p->z.paths);
	fputs("stations: # switch, input, switch, output\n", f);
	for (i = 0; i < p->z.ports; i++)
		fprintf(f, "  - [%u, %u, %u, %u]\n", p->in[i] / k, p->in[i] % k, p->out[i] / k,
			p->out[i] % k);
	fputs("links: # switch, output, switch, input\n", f);
	for (i = 0; i < p->ranks; i++) {
		to = p->peer[i];
		if (to < p->ranks)
			fprintf(f, "  - [%u, %u, %u, %u]\n", i / k, i % k, to / k, to % k);
	}
	fputs("routes: # from, to, path, output of each switch\n", f);
	for (s = 0; s < p->z.ports; s++) {
		for (d = 0; d < p->z.ports; d++) {
			for (r = 0; r < p->z.paths; r++) {
				fprintf(f, "  - [%u, %u, %u", s, d, r);
				for (x = p->in[s]; x < p->ranks;) {
					to = *pw_topo_via(p, x, d, r);
					fprintf(f, ", %u", to);
					x = p->peer[x - x % k + to];
				}
				fputs("]\n", f);
			}
		}
	}
	if (p->z.conns)
		fputs("multicast: # from, to\n", f);
	for (i = 0; i < p->z.conns; i++) {
		fprintf(f, "  - [%u", p->conn[i].src);
		for (d = 0; d < p->z.ports; d++)
			if (pw_topo_member(&p->conn[i], d))
				fprintf(f, ", %u", d);
		fputs("]\n", f);
	}
}
