// SPDX-License-Identifier: GPL-2.0
/* The file of a sweep: YAML to lists of values, and the combinations of them. */
#include "sweep.h"
#include "yaml_node.h"

const char *const sweep_engine_name[SWEEP_ENGINES] = { "fast", "rtl" };

/* the file under work, for messages */
static const char *file_name;
static yaml_document_t doc;

#define bad(node, ...) yaml_bad(file_name, &doc, node, __VA_ARGS__)
#define scalar(node) yaml_text(&doc, node)

/* Values ------------------------------------------------------------------------------- */

/* a way to read one value; @node for messages */
typedef enum status (*reader)(int node, const char *key, const char *text, const void *arg,
			      uint32_t *v);

struct range {
	uint32_t min, max;
};

static enum status read_number(int node, const char *key, const char *text, const void *arg,
			       uint32_t *v)
{
	const struct range *r = arg;

	if (!text || parse_u32(text, v) || *v < r->min || *v > r->max)
		return bad(node, "%s: '%s' is not %u..%u", key, text ?: "", r->min, r->max);
	return ST_OK;
}

/* the same, or the name of a route policy */
static enum status read_route(int node, const char *key, const char *text, const void *arg,
			      uint32_t *v)
{
	const struct range *r = arg;

	if (text && pw_fabric_route_named(text, v))
		return ST_OK;
	if (!text || parse_u32(text, v))
		return bad(node, "%s: '%s' is neither turn, fixed, random or least nor %u..%u", key,
			   text ?: "", r->min, r->max);
	return read_number(node, key, text, arg, v);
}

static enum status read_millionths(int node, const char *key, const char *text, const void *arg,
				   uint32_t *v)
{
	const struct range *r = arg;
	uint64_t x;

	if (!text || !parse_millionths(text, &x) || x < r->min || x > r->max)
		return bad(node, "%s: '%s' is not %g..%g", key, text ?: "",
			   (double)r->min / LOAD_UNIT, (double)r->max / LOAD_UNIT);
	*v = x;
	return ST_OK;
}

struct names {
	const char *const *name;
	uint32_t n;
};

static enum status read_name(int node, const char *key, const char *text, const void *arg,
			     uint32_t *v)
{
	const struct names *names = arg;
	char all[160] = "";
	uint32_t i;

	for (i = 0; i < names->n; i++) {
		if (text && !strcmp(text, names->name[i])) {
			*v = i;
			return ST_OK;
		}
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? ", " : "",
			 names->name[i]);
	}
	return bad(node, "%s: '%s' is not one of %s", key, text ?: "", all);
}

static enum status take_value(struct axis *a, int node, uint32_t v)
{
	uint32_t i;

	for (i = 0; i < a->n; i++)
		if (a->v[i] == v)
			return bad(node, "%s: the same value twice", a->name);
	if (a->n == SWEEP_VALUES)
		return bad(node, "%s: more than %d values", a->name, SWEEP_VALUES);
	a->v[a->n++] = v;
	return ST_OK;
}

/* one value or a list of them */
static enum status read_list(int node, struct axis *a, reader read, const void *arg)
{
	yaml_node_t *n = yaml_document_get_node(&doc, node);
	yaml_node_item_t *i;
	enum status st = ST_OK;
	uint32_t v;

	a->n = 0;
	if (n->type != YAML_SEQUENCE_NODE)
		return read(node, a->name, scalar(node), arg, &v) ?: take_value(a, node, v);
	for (i = n->data.sequence.items.start; !st && i < n->data.sequence.items.top; i++)
		st = read(*i, a->name, scalar(*i), arg, &v) ?: take_value(a, *i, v);
	if (!st && !a->n)
		st = bad(node, "%s: an empty list", a->name);
	return st;
}

/* Keys --------------------------------------------------------------------------------- */

static const struct range any_load = { 1, 4 * LOAD_UNIT }, load_or_none = { 0, 4 * LOAD_UNIT };

/* a list, or {from: A, to: B, steps: N} */
static enum status read_loads(int node, struct axis *a, const struct range *range)
{
	yaml_node_t *n = yaml_document_get_node(&doc, node);
	const struct range steps = { 2, SWEEP_VALUES };
	uint32_t from = 0, to = 0, count = 0, i;
	yaml_node_pair_t *p;
	enum status st = ST_OK;

	if (n->type != YAML_MAPPING_NODE)
		return read_list(node, a, read_millionths, range);
	for (p = n->data.mapping.pairs.start; !st && p < n->data.mapping.pairs.top; p++) {
		const char *key = scalar(p->key) ?: "", *v = scalar(p->value);

		if (!strcmp(key, "from"))
			st = read_millionths(p->value, key, v, &any_load, &from);
		else if (!strcmp(key, "to"))
			st = read_millionths(p->value, key, v, &any_load, &to);
		else if (!strcmp(key, "steps"))
			st = read_number(p->value, key, v, &steps, &count);
		else
			st = bad(p->key, "load: unknown key '%s'", key);
	}
	if (st)
		return st;
	if (!count || !from || from >= to)
		return bad(node, "load: from, to (larger) and steps are needed");
	a->n = 0;
	for (i = 0; !st && i < count; i++)
		st = take_value(a, node, from + (uint64_t)(to - from) * i / (count - 1));
	return st;
}

/* a count, 1 to N, or a list */
static enum status read_seeds(int node, struct axis *a)
{
	const struct range count = { 1, SWEEP_VALUES }, any = { 0, UINT32_MAX };
	uint32_t i, n;

	if (!scalar(node))
		return read_list(node, a, read_number, &any);
	if (read_number(node, "seeds", scalar(node), &count, &n))
		return ST_USAGE;
	for (a->n = 0, i = 1; i <= n; i++)
		a->v[a->n++] = i;
	return ST_OK;
}

static struct axis *behind(struct sweep *s, uint32_t i)
{
	return &s->axis[AXIS_PARAM + pw_fabric_param_num + i];
}

static enum status read_params(int node, struct sweep *s)
{
	yaml_node_t *n = yaml_document_get_node(&doc, node);
	yaml_node_pair_t *p;
	enum status st = ST_OK;

	if (n->type != YAML_MAPPING_NODE)
		return bad(node, "parameters: names and values are needed");
	for (p = n->data.mapping.pairs.start; !st && p < n->data.mapping.pairs.top; p++) {
		const char *key = scalar(p->key) ?: "";
		const struct pw_fabric_param *d = pw_fabric_param_find(key);
		const struct pw_fabric_param *fault = pw_fabric_fault_find(key);
		struct range r;

		if (!d && !fault)
			return bad(p->key, "parameters: unknown name '%s'", key);
		if (fault) {
			r = (struct range) { fault->min, fault->max };
			st = read_list(p->value, behind(s, BEHIND_FAULT + (fault - pw_fabric_fault_param)),
				       read_number, &r);
			s->fault_seed |= fault == pw_fabric_fault_find("fault-seed");
			continue;
		}
		r = (struct range) { d->min, d->max };
		st = read_list(p->value, &s->axis[AXIS_PARAM + (d - pw_fabric_param)],
			       pw_fabric_param_named(d) ? read_route : read_number, &r);
	}
	return st;
}

/* one of the lists of a sweep of the ring */
static enum status read_ring_axis(struct sweep *s, int key_node, int node, const char *where)
{
	const char *key = scalar(key_node) ?: "";
	struct range r;
	uint32_t i;

	for (i = 0; i < RING_AXES && strcmp(key, ring_axis[i].name); i++)
		;
	if (i == RING_AXES)
		return bad(key_node, "%sunknown %s '%s'", where, *where ? "name" : "key", key);
	if (ring_axis[i].names) {
		struct names names = { ring_axis[i].names, ring_axis[i].n };

		return read_list(node, &s->axis[i], read_name, &names);
	}
	if (i == RING_LOAD)
		return read_loads(node, &s->axis[i], &load_or_none);
	r = (struct range) { ring_axis[i].min, ring_axis[i].max };
	return read_list(node, &s->axis[i], read_number, &r);
}

static enum status read_ring_params(int node, struct sweep *s)
{
	yaml_node_t *n = yaml_document_get_node(&doc, node);
	yaml_node_pair_t *p;
	enum status st = ST_OK;

	if (n->type != YAML_MAPPING_NODE)
		return bad(node, "parameters: names and values are needed");
	for (p = n->data.mapping.pairs.start; !st && p < n->data.mapping.pairs.top; p++)
		st = read_ring_axis(s, p->key, p->value, "parameters: ");
	return st;
}

/* a name such as torus:4x4, or a file beside that of the sweep */
static enum status read_topology(int node, const char *key, const char *text, const void *arg,
				 uint32_t *v)
{
	const char *slash = strrchr(file_name, '/');
	struct sweep *s = (struct sweep *)arg;
	char path[PATH_MAX], why[512];
	struct sweep_topo *t;

	*v = behind(s, BEHIND_TOPOLOGY)->n;
	if (*v == SWEEP_VALUES)
		return bad(node, "%s: more than %d values", key, SWEEP_VALUES);
	t = &s->topo[*v];
	if (!text || !*text || strlen(text) >= sizeof(t->name) || strpbrk(text, ",\"\\\n"))
		return bad(node, "%s: a name such as torus:4x4 or a file is needed", key);
	for (uint32_t i = 0; i < *v; i++)
		if (!strcmp(s->topo[i].name, text))
			return bad(node, "%s: the same value twice", key);
	strcpy(t->name, text);
	t->k = topo_file_stages(text);
	if (t->k)
		return ST_OK;
	snprintf(path, sizeof(path), "%.*s%s",
		 strchr(text, ':') || !slash || *text == '/' ? 0 : (int)(slash - file_name + 1),
		 file_name, text);
	t->t = topo_file_load(path, why, sizeof(why));
	return t->t ? ST_OK : bad(node, "%s: %s", key, why);
}

static enum status read_x(int node, struct sweep *s)
{
	const char *text = scalar(node) ?: "";

	for (s->x = 0; s->x < s->naxis; s->x++)
		if (!strcmp(s->axis[s->x].name, text))
			break;
	if (s->ring && (s->x == s->naxis || ring_axis[s->x].names))
		return bad(node, "x: '%s' is not a list of numbers of the ring", text);
	if (s->ring)
		return ST_OK;
	if (s->x == s->naxis || s->x == AXIS_MACHINE ||
	    s->x == AXIS_PARAM + pw_fabric_param_num + BEHIND_TOPOLOGY ||
	    s->x == AXIS_PARAM + pw_fabric_param_num + BEHIND_TRAFFIC)
		return bad(node, "x: '%s' is neither load nor bytes nor a parameter", text);
	return ST_OK;
}

/* a file beside that of the sweep, unless its name begins with a slash */
static enum status read_trace(int node, struct sweep *s)
{
	const char *text = scalar(node), *slash = strrchr(file_name, '/');
	enum status st;

	if (!text || !*text)
		return bad(node, "trace: the name of a file is needed");
	if (s->trace.n)
		return bad(node, "trace: given twice");
	snprintf(s->trace_path, sizeof(s->trace_path), "%.*s%s",
		 slash && *text != '/' ? (int)(slash - file_name + 1) : 0, file_name, text);
	st = messages_read(s->trace_path, MESSAGES_ANY_SAN, &s->trace);
	if (!st && s->trace.open)
		fprintf(stderr, "pwctl: %s: frames that did not arrive and are left out: %zu\n",
			s->trace_path, s->trace.open);
	return st;
}

static enum status read_key(struct sweep *s, int key_node, int node)
{
	static const struct names engines = { sweep_engine_name, SWEEP_ENGINES };
	static const struct names machines = { pw_fabric_machine, PW_FABRIC_MACHINES };
	static const struct names traffics = { traffic_name, TRAFFICS };
	static const struct range bytes = { 0, PW_FABRIC_MAX_LEN }, cycles = { 1000, 100000000 };
	static const struct range burst = { 1, 1000 }, share = { 0, LOAD_UNIT };
	const char *key = scalar(key_node) ?: "", *v = scalar(node);

	if (!strcmp(key, "name")) {
		if (!v || strlen(v) >= sizeof(s->name) || strpbrk(v, "'\"\\\n"))
			return bad(node, "name: a short text without quotes is needed");
		strcpy(s->name, v);
		return ST_OK;
	}
	if (!strcmp(key, "model"))
		return ST_OK;
	if (!strcmp(key, "engine"))
		return read_name(node, key, v, &engines, &s->engine);
	if (!strcmp(key, "seeds"))
		return read_seeds(node, &s->seed);
	if (!strcmp(key, "x"))
		return read_x(node, s);
	if (s->ring && !strcmp(key, "bits"))
		return read_number(node, key, v, &cycles, &s->cycles);
	if (s->ring && !strcmp(key, "parameters"))
		return read_ring_params(node, s);
	if (s->ring)
		return read_ring_axis(s, key_node, node, "");
	if (!strcmp(key, "machine"))
		return read_list(node, &s->axis[AXIS_MACHINE], read_name, &machines);
	if (!strcmp(key, "parameters"))
		return read_params(node, s);
	if (!strcmp(key, "topology"))
		return read_list(node, behind(s, BEHIND_TOPOLOGY), read_topology, s);
	if (!strcmp(key, "traffic"))
		return read_list(node, behind(s, BEHIND_TRAFFIC), read_name, &traffics);
	if (!strcmp(key, "bytes"))
		return read_list(node, behind(s, BEHIND_BYTES), read_number, &bytes);
	if (!strcmp(key, "load"))
		return read_loads(node, behind(s, BEHIND_LOAD), &any_load);
	if (!strcmp(key, "cycles"))
		return read_number(node, key, v, &cycles, &s->cycles);
	if (!strcmp(key, "burst"))
		return read_number(node, key, v, &burst, &s->burst);
	if (!strcmp(key, "hotspot"))
		return read_millionths(node, key, v, &share, &s->hotspot);
	if (!strcmp(key, "trace"))
		return read_trace(node, s);
	return bad(key_node, "unknown key '%s'", key);
}

/* what holds where the file says nothing */
static void defaults(struct sweep *s)
{
	uint32_t i;

	memset(s, 0, sizeof(*s));
	s->cycles = 100000;
	s->hotspot = LOAD_UNIT / 5;
	s->burst = 8;
	s->seed = (struct axis) { "seed", 1, { 1 } };
	s->axis[AXIS_MACHINE] = (struct axis) { "machine", 1, { PW_FABRIC_DEVICE } };
	for (i = 0; i < pw_fabric_param_num; i++)
		s->axis[AXIS_PARAM + i] = (struct axis) { pw_fabric_param[i].name, 1 };
	for (i = 0; i < PW_FABRIC_FAULT_PARAMS; i++)
		*behind(s, BEHIND_FAULT + i) = (struct axis) { pw_fabric_fault_param[i].name, 1 };
	*behind(s, BEHIND_TOPOLOGY) = (struct axis) { "topology", 1 };
	*behind(s, BEHIND_TRAFFIC) = (struct axis) { "traffic", 1, { UNIFORM } };
	*behind(s, BEHIND_BYTES) = (struct axis) { "bytes", 1, { 16 } };
	*behind(s, BEHIND_LOAD) = (struct axis) { "load", 1, { LOAD_UNIT / 2 } };
	s->naxis = AXIS_PARAM + pw_fabric_param_num + BEHIND;
	s->x = s->naxis - BEHIND + BEHIND_LOAD;
}

static void ring_defaults(struct sweep *s)
{
	uint32_t i;

	s->ring = 1;
	s->cycles = 1000000;
	for (i = 0; i < RING_AXES; i++)
		s->axis[i] = (struct axis) { ring_axis[i].name, 1, { ring_axis[i].value } };
	s->naxis = RING_AXES;
	s->x = RING_N;
}

/* Combinations ------------------------------------------------------------------------- */

/* the last axis runs fastest; a parameter that the file does not set has its default */
void sweep_point(const struct sweep *s, uint32_t i, struct point *p)
{
	uint32_t a, f;

	memset(p, 0, sizeof(*p));
	for (a = s->naxis; a--;) {
		p->at[a] = i % s->axis[a].n;
		i /= s->axis[a].n;
	}
	if (s->ring)
		return;
	p->p.flags = s->engine == SWEEP_FAST ? PW_FABRIC_F_FAST : 0;
	if (s->axis[AXIS_MACHINE].v[p->at[AXIS_MACHINE]] == PW_FABRIC_DEVICE)
		p->p.flags |= PW_FABRIC_F_DEVICE;
	for (a = 0; a < pw_fabric_param_num; a++)
		pw_fabric_param_set(&p->p, &pw_fabric_param[a],
				    s->axis[AXIS_PARAM + a].v[p->at[AXIS_PARAM + a]]);
	a = AXIS_PARAM + pw_fabric_param_num;
	for (f = 0; f < PW_FABRIC_FAULT_PARAMS; f++)
		pw_fabric_fault_set(&p->faults, &pw_fabric_fault_param[f],
				    s->axis[a + BEHIND_FAULT + f].v[p->at[a + BEHIND_FAULT + f]]);
	p->topo = s->axis[a + BEHIND_TOPOLOGY].v[p->at[a + BEHIND_TOPOLOGY]];
	p->p.topo = s->topo[p->topo].t;
	if (p->p.topo)
		p->p.k = p->p.topo->k;
	else if (s->topo[p->topo].k)
		p->p.k = s->topo[p->topo].k;
	if (!p->p.k)
		p->p.k = PW_BMX_K;
	p->traffic = s->axis[a + BEHIND_TRAFFIC].v[p->at[a + BEHIND_TRAFFIC]];
	p->bytes = s->axis[a + BEHIND_BYTES].v[p->at[a + BEHIND_BYTES]];
	p->load = s->axis[a + BEHIND_LOAD].v[p->at[a + BEHIND_LOAD]];
	if (p->traffic == TRACE)
		p->bytes = s->trace.mean;
}

const char *axis_text(const struct sweep *s, uint32_t axis, uint32_t i, char *buf, size_t cap)
{
	uint32_t v = s->axis[axis].v[i], b = axis - AXIS_PARAM - pw_fabric_param_num;

	if (s->ring) {
		if (ring_axis[axis].names)
			return ring_axis[axis].names[v];
		if (axis == RING_LOAD)
			snprintf(buf, cap, "%.7g", (double)v / LOAD_UNIT);
		else
			snprintf(buf, cap, "%u", v);
		return buf;
	}
	if (axis == AXIS_MACHINE)
		return pw_fabric_machine[v];
	if (axis > AXIS_PARAM && b == BEHIND_TOPOLOGY)
		return s->topo[v].name;
	if (axis > AXIS_PARAM && b == BEHIND_TRAFFIC)
		return traffic_name[v];
	if (axis > AXIS_PARAM && b == BEHIND_LOAD)
		snprintf(buf, cap, "%.7g", (double)v / LOAD_UNIT);
	else
		snprintf(buf, cap, "%u", v);
	return buf;
}

const char *topology_text(const struct sweep *s, const struct point *p, char *buf, size_t cap)
{
	if (*s->topo[p->topo].name)
		return s->topo[p->topo].name;
	snprintf(buf, cap, "clos:%ux%ux%u", p->p.k, p->p.k, p->p.k);
	return buf;
}

static enum status check_traffic(const struct sweep *s, const struct point *p)
{
	uint32_t n = pw_fabric_ports(&p->p), side = 1;

	if (p->traffic == TRACE && !s->trace.n)
		return fail(0, "%s: traffic trace needs the key trace", file_name), ST_USAGE;
	if (p->traffic == TRACE && s->trace.ports > n && *s->topo[p->topo].name)
		return fail(0, "%s: trace: port %u, but %s has %u", file_name, s->trace.ports - 1,
			    s->topo[p->topo].name, n), ST_USAGE;
	if (p->traffic == TRACE && s->trace.ports > n)
		return fail(0, "%s: trace: port %u, but k is %u", file_name, s->trace.ports - 1,
			    p->p.k), ST_USAGE;
	while (side * side < n)
		side++;
	if (p->traffic == TRANSPOSE && side * side != n)
		return fail(0, "%s: traffic transpose: the %u stations of %s are no square",
			    file_name, n, s->topo[p->topo].name), ST_USAGE;
	return ST_OK;
}

static enum status check_points(struct sweep *s)
{
	const struct pw_fabric_param *d;
	uint64_t n = s->seed.n;
	struct point p;
	uint32_t a, i, lo, hi;
	char name[64];

	for (i = 0; i < s->naxis; i++) {
		n *= s->axis[i].n;
		if (n > SWEEP_RUNS)
			return fail(0, "%s: more than %d runs", file_name, SWEEP_RUNS), ST_USAGE;
	}
	s->points = n / s->seed.n;
	for (i = 0; s->ring && i < s->points; i++) {
		sweep_point(s, i, &p);
		a = s->axis[RING_N].v[p.at[RING_N]];
		if (s->axis[RING_STANDING].v[p.at[RING_STANDING]] > a)
			return fail(0, "%s: standing: more than %u interfaces", file_name, a), ST_USAGE;
	}
	if (s->ring)
		return ST_OK;
	a = AXIS_PARAM + (pw_fabric_param_find("k") - pw_fabric_param);
	if (*s->topo[0].name && s->axis[a].v[0])
		return fail(0, "%s: k: the topology determines it", file_name), ST_USAGE;
	a = AXIS_PARAM + pw_fabric_param_num + BEHIND_TRAFFIC;
	for (i = 0; i < s->axis[a].n; i++)
		if (s->axis[a].v[i] == TRACE && s->axis[a - BEHIND_TRAFFIC + BEHIND_BYTES].n > 1)
			return fail(0, "%s: bytes: a trace has its own", file_name), ST_USAGE;
	for (i = 0; i < s->points; i++) {
		sweep_point(s, i, &p);
		if (check_traffic(s, &p))
			return ST_USAGE;
		if (p.traffic == MULTICAST && !pw_fabric_conns(&p.p))
			return fail(0, "%s: traffic multicast: topology %s has no connections",
				    file_name, topology_text(s, &p, name, sizeof(name))), ST_USAGE;
		d = pw_fabric_param_wrong(&p.p);
		if (!d)
			continue;
		pw_fabric_param_range(&p.p, d, &lo, &hi);
		if (lo > hi)
			fail(0, "%s: %s: the machine '%s' has no such parameter", file_name, d->name,
			     pw_fabric_machine[pw_fabric_machine_of(&p.p)]);
		else
			fail(0, "%s: %s: %u is not %u..%u %s (k is %u)", file_name, d->name,
			     pw_fabric_param_get(&p.p, d), lo, hi, d->unit, p.p.k);
		return ST_USAGE;
	}
	return ST_OK;
}

static enum status read_root(struct sweep *s)
{
	static const char *const model[] = { "fabric", "ring" };
	static const struct names models = { model, 2 };
	yaml_node_t *root = yaml_document_get_root_node(&doc);
	yaml_node_pair_t *p;
	enum status st = ST_OK;
	uint32_t v;

	if (!root || root->type != YAML_MAPPING_NODE)
		return bad(1, "keys and values are needed");
	/* it decides which keys there are, wherever it stands */
	for (p = root->data.mapping.pairs.start; !st && p < root->data.mapping.pairs.top; p++) {
		if (strcmp(scalar(p->key) ?: "", "model"))
			continue;
		st = read_name(p->value, "model", scalar(p->value), &models, &v);
		if (!st && v)
			ring_defaults(s);
	}
	for (p = root->data.mapping.pairs.start; !st && p < root->data.mapping.pairs.top; p++)
		st = read_key(s, p->key, p->value);
	return st ?: check_points(s);
}

enum status sweep_read(const char *file, struct sweep *s)
{
	yaml_parser_t parser;
	enum status st;
	FILE *f = fopen(file, "re");

	if (!f)
		return fail(errno, "%s", file);
	file_name = file;
	defaults(s);
	yaml_parser_initialize(&parser);
	yaml_parser_set_input_file(&parser, f);
	if (!yaml_parser_load(&parser, &doc)) {
		fprintf(stderr, "pwctl: %s:%zu: %s\n", file, parser.problem_mark.line + 1,
			parser.problem ? parser.problem : "not YAML");
		st = ST_USAGE;
	} else {
		st = read_root(s);
		yaml_document_delete(&doc);
	}
	yaml_parser_delete(&parser);
	fclose(f);
	return st;
}

/* does the file have faults? */
static bool has_faults(const struct sweep *s)
{
	const struct axis *a = &s->axis[AXIS_PARAM + pw_fabric_param_num + BEHIND_FAULT];
	uint32_t i;

	for (i = 0; !s->ring && i < PW_FABRIC_FAULT_PARAMS; i++)
		if (a[i].n > 1 || a[i].v[0])
			return true;
	return false;
}

static void mix(uint64_t *h, uint64_t v)
{
	*h = (*h ^ v) * 0x100000001b3ull;
	*h ^= *h >> 29;
}

/* what decides about the results, so that a journal of another sweep is recognized */
uint64_t sweep_hash(const struct sweep *s)
{
	const char *version = pwl_version();
	uint64_t h = 0xcbf29ce484222325ull;
	uint32_t a, i, first = AXIS_PARAM + pw_fabric_param_num + BEHIND_FAULT;
	bool faults = has_faults(s);
	size_t m;

	for (; *version; version++)
		mix(&h, *version);
	for (i = 0; i < SWEEP_VALUES; i++)
		for (m = 0; m < sizeof(s->topo[i].name); m++)
			mix(&h, s->topo[i].name[m]);
	for (i = 0; i < SWEEP_VALUES && *s->topo[i].name; i++)
		for (m = 0; s->topo[i].t && m < s->topo[i].t->first[s->topo[i].t->ranks]; m++)
			mix(&h, s->topo[i].t->row[m * (1 + s->topo[i].t->k)]);
	mix(&h, s->engine);
	if (s->ring)
		mix(&h, s->ring);
	mix(&h, s->cycles);
	mix(&h, s->hotspot);
	mix(&h, s->burst);
	for (m = 0; m < s->trace.n; m++) {
		mix(&h, s->trace.m[m].cycle);
		mix(&h, (uint64_t)s->trace.m[m].bytes << 32 | s->trace.m[m].src << 16 |
			s->trace.m[m].dst);
	}
	if (faults)
		mix(&h, s->fault_seed);
	for (a = 0; a <= s->naxis; a++) {
		const struct axis *x = a < s->naxis ? &s->axis[a] : &s->seed;

		/* the hash of a sweep without faults is that of versions that had none */
		if (!s->ring && !faults && a - first < PW_FABRIC_FAULT_PARAMS)
			continue;
		mix(&h, x->n);
		for (i = 0; i < x->n; i++)
			mix(&h, x->v[i]);
	}
	return h;
}
