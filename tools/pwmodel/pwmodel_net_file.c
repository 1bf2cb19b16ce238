// SPDX-License-Identifier: GPL-2.0
/* pwmodel net: the file of a network. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric_fault.h"
#include "fabric/fabric_param.h"
#include "pwmodel.h"
#include "pwmodel_net.h"
#include "traffic.h"
#include "yaml_text.h"

const char *const net_topology_name[NET_TOPOLOGIES] = {
	"none", "ring", "torus", "tree", "full", "links"
};
const char *const net_pattern_name[NET_PATTERNS] = { "uniform", "messages" };

/* what is read of a file */
struct reader {
	struct net_spec *s;
	yaml_document_t doc;
	size_t routers_line, links_line, load_line, bytes_line;
	bool links, arity, messages;
	const char *topology;	/* name as given, or NULL */
	size_t param_line[32];
	size_t fault_line[PW_FABRIC_FAULT_PARAMS];
};

static void __attribute__((noreturn))
vbad(const struct net_spec *s, size_t line, const char *fmt, va_list ap)
{
	char text[256];

	vsnprintf(text, sizeof(text), fmt, ap);
	pwm_fail("%s:%zu: %s", s->file, line, text);
}

void net_bad(const struct net_spec *s, size_t line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vbad(s, line, fmt, ap);
}

static void __attribute__((noreturn, format(printf, 3, 4)))
bad(struct reader *r, int node, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vbad(r->s, yaml_line(&r->doc, node), fmt, ap);
}

/* ---- values ---- */

static u64 number(struct reader *r, int node, const char *key, u64 min, u64 max)
{
	const char *text = yaml_text(&r->doc, node);
	unsigned long long v;
	char *end;

	if (!text)
		bad(r, node, "%s: a number is needed", key);
	errno = 0;
	v = strtoull(text, &end, 0);
	if (!isdigit((unsigned char)*text) || *end || errno || v < min || v > max)
		bad(r, node, "%s: '%s' is not %llu..%llu", key, text, (unsigned long long)min,
		    (unsigned long long)max);
	return v;
}

static u32 word(struct reader *r, int node, const char *key, const char *const *name, u32 n)
{
	const char *text = yaml_text(&r->doc, node);
	char all[160] = "";

	for (u32 i = 0; i < n; i++) {
		if (text && !strcmp(text, name[i]))
			return i;
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? ", " : "",
			 name[i]);
	}
	bad(r, node, "%s: '%s' is not one of %s", key, text ? text : "", all);
}

/* items of a list: @n numbers, or as many as there are if @n is 0 */
static u32 items(struct reader *r, int node, const char *key, u32 n, int *item)
{
	yaml_node_t *l = yaml_document_get_node(&r->doc, node);
	u32 have;

	if (!l || l->type != YAML_SEQUENCE_NODE)
		bad(r, node, "%s: a list is needed", key);
	have = l->data.sequence.items.top - l->data.sequence.items.start;
	if (!n)
		return have;
	if (have != n)
		bad(r, node, "%s: %u values instead of %u", key, have, n);
	for (u32 i = 0; i < n; i++)
		item[i] = l->data.sequence.items.start[i];
	return n;
}

/* ---- keys ---- */

struct key {
	const char *name;
	void (*read)(struct reader *r, int node, const char *key);
	bool needed;
};

/* a mapping with these keys; @what is its own name, or NULL for the whole file */
static void read_map(struct reader *r, int node, const char *what, const struct key *key, u32 n)
{
	yaml_node_t *m = yaml_document_get_node(&r->doc, node);
	const char *sep = what ? ": " : "";
	u32 seen = 0, i;

	what = what ? what : "";
	if (!m || m->type != YAML_MAPPING_NODE)
		bad(r, node, "%s%skeys and values are needed", what, sep);
	for (yaml_node_pair_t *p = m->data.mapping.pairs.start; p < m->data.mapping.pairs.top; p++) {
		const char *name = yaml_text(&r->doc, p->key);

		for (i = 0; i < n && (!name || strcmp(name, key[i].name)); i++)
			;
		if (i == n)
			bad(r, p->key, "%s%sunknown key '%s'", what, sep, name ? name : "");
		if (seen >> i & 1)
			bad(r, p->key, "%s%s'%s' twice", what, sep, name);
		seen |= 1u << i;
		key[i].read(r, p->value, key[i].name);
	}
	for (i = 0; i < n; i++)
		if (key[i].needed && !(seen >> i & 1))
			bad(r, node, "%s%s'%s' is missing", what, sep, key[i].name);
}

#define READ_MAP(r, node, what, keys) \
	read_map(r, node, what, keys, sizeof(keys) / sizeof(*(keys)))

static void read_name(struct reader *r, int node, const char *key)
{
	if (!yaml_text(&r->doc, node))
		bad(r, node, "%s: a text is needed", key);
}

static void read_count(struct reader *r, int node, const char *key)
{
	r->s->sans = number(r, node, key, 1, NET_SANS);
}

static void read_ports(struct reader *r, int node, const char *key)
{
	struct net_spec *s = r->s;
	u32 k = PW_BMX_KMIN;

	s->ports = number(r, node, key, PW_BMX_KMIN * PW_BMX_KMIN, PW_BMX_KMAX * PW_BMX_KMAX);
	while (k * k < s->ports)
		k++;
	if (k * k != s->ports)
		bad(r, node, "%s: %u is not a square number", key, s->ports);
	s->params.k = k;
}

static void read_engine(struct reader *r, int node, const char *key)
{
	static const char *const name[] = { "rtl", "fast" };

	if (word(r, node, key, name, 2))
		r->s->params.flags |= PW_FABRIC_F_FAST;
	else
		r->s->params.flags &= ~(u32)PW_FABRIC_F_FAST;
}

static void read_fault(struct reader *r, const yaml_node_pair_t *p, const struct pw_fabric_param *d)
{
	size_t *line = &r->fault_line[d - pw_fabric_fault_param];

	if (*line)
		bad(r, p->key, "parameters: '%s' twice", d->name);
	*line = yaml_line(&r->doc, p->value);
	pw_fabric_fault_set(&r->s->faults, d, number(r, p->value, d->name, d->min, d->max));
}

static void read_parameters(struct reader *r, int node, const char *key)
{
	yaml_node_t *m = yaml_document_get_node(&r->doc, node);

	if (!m || m->type != YAML_MAPPING_NODE)
		bad(r, node, "%s: names and values are needed", key);
	for (yaml_node_pair_t *p = m->data.mapping.pairs.start; p < m->data.mapping.pairs.top; p++) {
		const char *name = yaml_text(&r->doc, p->key);
		const struct pw_fabric_param *d = name ? pw_fabric_param_find(name) : NULL;
		const struct pw_fabric_param *fault = name ? pw_fabric_fault_find(name) : NULL;
		const char *v;
		u32 route;

		if (fault) {
			read_fault(r, p, fault);
			continue;
		}
		if (!d)
			bad(r, p->key, "%s: unknown name '%s'", key, name ? name : "");
		if (!strcmp(name, "k"))
			bad(r, p->key, "%s: 'k' follows from 'ports'", key);
		if (!pw_fabric_param_has(d, PW_FABRIC_DEVICE))
			bad(r, p->key, "%s: the machine '%s' has no '%s'", key,
			    pw_fabric_machine[PW_FABRIC_DEVICE], name);
		if (r->param_line[d - pw_fabric_param])
			bad(r, p->key, "%s: '%s' twice", key, name);
		r->param_line[d - pw_fabric_param] = yaml_line(&r->doc, p->value);
		v = yaml_text(&r->doc, p->value);
		if (!v || !pw_fabric_param_named(d) || !pw_fabric_route_named(v, &route))
			route = number(r, p->value, name, d->min, d->max);
		pw_fabric_param_set(&r->s->params, d, route);
	}
}

/* as the key of a SAN in a lab: on, off, or the cycles that a look-up takes */
static void read_cut_through(struct reader *r, int node, const char *key)
{
	const char *v = yaml_text(&r->doc, node);

	if (v && (!strcmp(v, "on") || !strcmp(v, "off")))
		r->s->cut_through = !strcmp(v, "on");
	else
		r->s->cut_through = number(r, node, key, 1, NET_LOOKUP);
}

static void read_sans(struct reader *r, int node, const char *key)
{
	static const struct key keys[] = {
		{ "count", read_count, true },
		{ "ports", read_ports, true },
		{ "engine", read_engine, false },
		{ "parameters", read_parameters, false },
		{ "cut-through", read_cut_through, false },
	};

	READ_MAP(r, node, key, keys);
}

static void read_topology(struct reader *r, int node, const char *key)
{
	r->s->topology = word(r, node, key, net_topology_name, NET_LIST);
	r->topology = net_topology_name[r->s->topology];
}

/* [a, b] for each router; the numbers are checked when the number of SANs is known */
static void read_links(struct reader *r, int node, const char *key)
{
	struct net_spec *s = r->s;
	u32 n = items(r, node, key, 0, NULL);
	yaml_node_t *l = yaml_document_get_node(&r->doc, node);

	r->links = true;
	r->links_line = yaml_line(&r->doc, node);
	s->link = net_alloc(n, sizeof(*s->link));
	s->link_cap = n;
	for (; s->links < n; s->links++) {
		int pair[2], at = l->data.sequence.items.start[s->links];

		items(r, at, key, 2, pair);
		s->link[s->links].a = number(r, pair[0], key, 0, s->sans - 1);
		s->link[s->links].b = number(r, pair[1], key, 0, s->sans - 1);
		if (s->link[s->links].a == s->link[s->links].b)
			bad(r, at, "%s: SAN %u to itself", key, s->link[s->links].a);
	}
}

static void read_dims(struct reader *r, int node, const char *key)
{
	struct net_spec *s = r->s;
	int item[NET_DIMS];
	u64 product = 1;

	s->dims = items(r, node, key, 0, NULL);
	if (!s->dims || s->dims > NET_DIMS)
		bad(r, node, "%s: %u dimensions are not 1..%u", key, s->dims, NET_DIMS);
	items(r, node, key, s->dims, item);
	for (u32 i = 0; i < s->dims; i++) {
		s->dim[i] = number(r, item[i], key, 1, NET_SANS);
		product = min_t(u64, product * s->dim[i], U32_MAX);
	}
	if (product != s->sans)
		bad(r, node, "%s: their product is not %u", key, s->sans);
}

static void read_arity(struct reader *r, int node, const char *key)
{
	r->s->arity = number(r, node, key, 1, PW_BMX_KMAX * PW_BMX_KMAX);
	r->arity = true;
}

static void read_latency(struct reader *r, int node, const char *key)
{
	r->s->latency = number(r, node, key, 1, NET_LATENCY);
}

static void read_routers(struct reader *r, int node, const char *key)
{
	static const struct key keys[] = {
		{ "topology", read_topology, false },
		{ "links", read_links, false },
		{ "dims", read_dims, false },
		{ "arity", read_arity, false },
		{ "latency", read_latency, false },
	};

	if (!r->s->sans)
		bad(r, node, "%s: 'sans' must come first", key);
	r->routers_line = yaml_line(&r->doc, node);
	READ_MAP(r, node, key, keys);
	if (r->links && r->topology)
		bad(r, node, "%s: 'topology' or 'links', not both", key);
	if (r->s->dims && r->s->topology != NET_TORUS)
		bad(r, node, "%s: 'dims' needs the topology 'torus'", key);
	if (r->arity && r->s->topology != NET_TREE)
		bad(r, node, "%s: 'arity' needs the topology 'tree'", key);
}

static void read_pattern(struct reader *r, int node, const char *key)
{
	word(r, node, key, net_pattern_name, NET_MESSAGES);
	r->s->pattern = NET_UNIFORM;
}

static void read_load(struct reader *r, int node, const char *key)
{
	const char *text = yaml_text(&r->doc, node);
	u64 v;

	if (!text || !parse_millionths(text, &v) || !v || v > 4 * LOAD_UNIT)
		bad(r, node, "%s: '%s' is not 0.000001..4", key, text ? text : "");
	r->s->load = v;
	r->load_line = yaml_line(&r->doc, node);
}

static void read_bytes(struct reader *r, int node, const char *key)
{
	r->s->bytes = number(r, node, key, 0, PW_FABRIC_MAX_LEN);
	r->bytes_line = yaml_line(&r->doc, node);
}

static void read_seed(struct reader *r, int node, const char *key)
{
	r->s->seed = number(r, node, key, 0, U64_MAX);
}

static void read_cycles(struct reader *r, int node, const char *key)
{
	r->s->cycles = number(r, node, key, 1, NET_CYCLES);
}

/* [cycle, SAN, port, SAN, port, bytes] for each message */
static void read_messages(struct reader *r, int node, const char *key)
{
	struct net_spec *s = r->s;
	u32 n = items(r, node, key, 0, NULL);
	yaml_node_t *l = yaml_document_get_node(&r->doc, node);

	if (!n)
		bad(r, node, "%s: an empty list", key);
	r->messages = true;
	s->pattern = NET_MESSAGES;
	s->message = net_alloc(n, sizeof(*s->message));
	for (; s->messages < n; s->messages++) {
		struct net_message *m = &s->message[s->messages];
		int v[6], at = l->data.sequence.items.start[s->messages];

		items(r, at, key, 6, v);
		m->cycle = number(r, v[0], "messages: cycle", 0, NET_CYCLES);
		m->san = number(r, v[1], "messages: SAN", 0, s->sans - 1);
		m->port = number(r, v[2], "messages: port", 0, s->ports - 1);
		m->dst_san = number(r, v[3], "messages: SAN", 0, s->sans - 1);
		m->dst_port = number(r, v[4], "messages: port", 0, s->ports - 1);
		m->bytes = number(r, v[5], "messages: bytes", 0, PW_FABRIC_MAX_LEN);
		m->line = yaml_line(&r->doc, at);
	}
}

static void read_traffic(struct reader *r, int node, const char *key)
{
	static const struct key keys[] = {
		{ "pattern", read_pattern, false },
		{ "load", read_load, false },
		{ "bytes", read_bytes, false },
		{ "seed", read_seed, false },
		{ "cycles", read_cycles, false },
		{ "messages", read_messages, false },
	};
	struct net_spec *s = r->s;

	if (!s->sans)
		bad(r, node, "%s: 'sans' must come first", key);
	s->pattern = NET_PATTERNS;
	READ_MAP(r, node, key, keys);
	if (r->messages && (s->pattern == NET_UNIFORM || s->load || r->bytes_line || s->cycles))
		bad(r, node, "%s: 'messages' stands alone", key);
	if (r->messages)
		return;
	s->pattern = NET_UNIFORM;
	if (!s->load || !r->bytes_line || !s->cycles)
		bad(r, node, "%s: '%s' is missing", key,
		    !s->load ? "load" : !r->bytes_line ? "bytes" : "cycles");
}

/* ---- the whole ---- */

/* the parameters of a fabric depend on each other */
static void check_params(struct reader *r)
{
	struct net_spec *s = r->s;
	const struct pw_fabric_param *d = pw_fabric_param_wrong(&s->params);
	u32 lo, hi;

	if (!d)
		return;
	pw_fabric_param_range(&s->params, d, &lo, &hi);
	net_bad(s, r->param_line[d - pw_fabric_param], "%s: %u is not %u..%u %s (%u ports)", d->name,
		pw_fabric_param_get(&s->params, d), lo, hi, d->unit, s->ports);
}

/* does a message of that size fit into the buffers? pw_fabric_send() says the same */
static void check_bytes(struct reader *r, u32 bytes, bool self, size_t line)
{
	const struct net_spec *s = r->s;
	u32 cells = pw_cell_count(bytes);
	u32 ic = s->params.ic_blocks ? s->params.ic_blocks : PW_FABRIC_IC_BLOCKS;
	u32 og = s->params.og_blocks ? s->params.og_blocks : PW_AAL_BLOCKS;

	if (cells > og || cells * (self ? 2 : 1) > ic - PW_FABRIC_SLACK)
		net_bad(s, line, "bytes: %u do not fit into the buffers of a fabric", bytes);
}

static int by_san(const void *a, const void *b)
{
	const struct net_message *x = a, *y = b;

	if (x->san != y->san)
		return x->san < y->san ? -1 : 1;
	if (x->cycle != y->cycle)
		return x->cycle < y->cycle ? -1 : 1;
	return 0;
}

/* by SAN and cycle, else as in the file: qsort() need not keep that order */
static void sort_messages(struct net_message *m, size_t n, struct net_message *tmp)
{
	size_t h = n / 2, i = 0, j = h, k = 0;

	if (n < 2)
		return;
	sort_messages(m, h, tmp);
	sort_messages(m + h, n - h, tmp);
	while (i < h && j < n)
		tmp[k++] = by_san(&m[i], &m[j]) <= 0 ? m[i++] : m[j++];
	while (i < h)
		tmp[k++] = m[i++];
	memcpy(m, tmp, k * sizeof(*m));
}

static void check_messages(struct reader *r)
{
	struct net_spec *s = r->s;
	struct net_message *tmp;

	for (size_t i = 0; i < s->messages; i++) {
		const struct net_message *m = &s->message[i];
		u32 from = s->base[m->san + 1] - s->base[m->san];
		u32 to = s->base[m->dst_san + 1] - s->base[m->dst_san];

		if (m->port >= from || m->dst_port >= to)
			net_bad(s, m->line, "messages: port %u of SAN %u belongs to a router",
				m->port >= from ? m->port : m->dst_port,
				m->port >= from ? m->san : m->dst_san);
		check_bytes(r, m->bytes, m->san == m->dst_san && m->port == m->dst_port, m->line);
	}
	tmp = net_alloc(s->messages, sizeof(*tmp));
	sort_messages(s->message, s->messages, tmp);
	free(tmp);
}

/* two dimensions as equal as possible */
static void square(struct net_spec *s)
{
	s->dims = 2;
	for (u32 i = 1; i * i <= s->sans; i++)
		if (s->sans % i == 0)
			s->dim[0] = i;
	s->dim[1] = s->sans / s->dim[0];
}

static void check_routers(struct reader *r)
{
	struct net_spec *s = r->s;
	u8 *hop;

	if (r->links)
		s->topology = NET_LIST;
	else if (!r->topology)
		s->topology = s->sans > 1 ? NET_RING : NET_NONE;
	if (s->topology == NET_TORUS && !s->dims)
		square(s);
	if (s->topology == NET_FULL && s->sans > s->ports)
		net_bad(s, r->routers_line,
			"topology: %u SANs of %u ports cannot all be joined to each other", s->sans,
			s->ports);
	net_links(s);
	net_map(s, r->links ? r->links_line : r->routers_line);
	hop = net_alloc(s->sans, 1);
	net_hops(s, 0, hop);
	for (u32 i = 0; i < s->sans; i++)
		if (hop[i] == NET_NO_END)
			net_bad(s, r->links ? r->links_line : r->routers_line,
				"routers: no way from SAN 0 to SAN %u", i);
	free(hop);
}

static void read_root(struct reader *r)
{
	static const struct key keys[] = {
		{ "name", read_name, false },
		{ "sans", read_sans, true },
		{ "routers", read_routers, false },
		{ "traffic", read_traffic, true },
	};
	struct net_spec *s = r->s;

	READ_MAP(r, 1, NULL, keys);
	check_params(r);
	check_routers(r);
	if (s->pattern == NET_MESSAGES) {
		check_messages(r);
		return;
	}
	check_bytes(r, s->bytes, false, r->bytes_line);
	if (s->base[s->sans] < 2)
		net_bad(s, r->load_line, "traffic: a single station has no other one");
}

void net_read(const char *file, struct net_spec *s)
{
	struct reader r = { .s = s };
	yaml_parser_t parser;
	size_t len;
	char *text;

	memset(s, 0, sizeof(*s));
	s->file = file;
	s->params.flags = PW_FABRIC_F_DEVICE | PW_FABRIC_F_FAST;
	s->faults.seed = PW_FABRIC_FAULT_SEED;
	s->arity = 2;
	s->seed = 1;
	/*
	 * A router takes as long as the shortest message takes from init-send to the last get
	 * in an idle fabric.
	 */
	s->latency = pw_fabric_delay(0);
	text = pwm_slurp(file, &len);
	if (!yaml_parser_initialize(&parser))
		pwm_fail("out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	if (!yaml_parser_load(&parser, &r.doc))
		net_bad(s, parser.problem_mark.line + 1, "%s",
			parser.problem ? parser.problem : "not YAML");
	if (!yaml_document_get_root_node(&r.doc))
		net_bad(s, 1, "keys and values are needed");
	read_root(&r);
	yaml_document_delete(&r.doc);
	yaml_parser_delete(&parser);
	free(text);
}
