// SPDX-License-Identifier: GPL-2.0
/*
 * Topology of a SAN in a request: a generator by its name, a file as the plan that
 * struct packetway_topology describes, and its multicast connections.
 */
#include "pwctl.h"
#include "topo_file.h"
#include "topology.h"

/* outputs of one input and path; PW_TOPO_NO_OUT: no cell needs it */
struct rows {
	uint8_t *out;		/* stations of each row */
	uint32_t n, stations;
};

/* does row @row of the table have @want wherever both are needed? */
static bool fits(const struct rows *t, uint32_t row, const uint8_t *want)
{
	const uint8_t *have = t->out + (size_t)row * t->stations;
	uint32_t i;

	for (i = 0; i < t->stations; i++)
		if (have[i] != want[i] && have[i] != PW_TOPO_NO_OUT && want[i] != PW_TOPO_NO_OUT)
			return false;
	return true;
}

/* row that has @want, a new one if there is none */
static uint32_t add_row(struct rows *t, const uint8_t *want)
{
	uint8_t *have;
	uint32_t row, i;

	for (row = 0; row < t->n && !fits(t, row, want); row++)
		;
	have = t->out + (size_t)row * t->stations;
	if (row == t->n) {
		t->n++;
		memset(have, PW_TOPO_NO_OUT, t->stations);
	}
	for (i = 0; i < t->stations; i++)
		if (want[i] != PW_TOPO_NO_OUT)
			have[i] = want[i];
	return row;
}

/* outputs of input @x by path @r that cells need, of a plan that was checked */
static void outputs(const struct pw_topo_plan *p, uint32_t x, uint32_t r, uint8_t *want)
{
	uint32_t d;

	for (d = 0; d < p->z.ports; d++)
		want[d] = *pw_topo_label(p, x, d, r) == PW_TOPO_NONE ? PW_TOPO_NO_OUT :
			  *pw_topo_via(p, x, d, r);
}

/* the plan at @to; its bytes, 0 if there are more than @cap or no memory for the rows */
static size_t encode(const struct pw_topo_plan *p, struct packetway_topology *to, size_t cap)
{
	uint32_t n = p->ranks, lists = n * p->z.paths, bytes = (p->z.ports + 1) / 2, i, d;
	size_t fixed = sizeof(*to) + 2 * (2 * p->z.ports + n + lists);
	struct rows t = { .stations = p->z.ports };
	uint16_t *word = (uint16_t *)(to + 1);
	uint8_t want[PW_TOPO_PORTS], *out;

	if (fixed > cap)
		return 0;
	t.out = malloc((size_t)lists * t.stations);
	if (!t.out)
		return 0;
	word = mempcpy(word, p->in, 2 * p->z.ports);
	word = mempcpy(word, p->out, 2 * p->z.ports);
	word = mempcpy(word, p->peer, 2 * n);
	for (i = 0; i < lists; i++) {
		outputs(p, i / p->z.paths, i % p->z.paths, want);
		*word++ = add_row(&t, want);
	}
	*to = (struct packetway_topology) { p->z.units, p->z.k, p->z.ports, p->z.paths, t.n };
	if (fixed + (size_t)t.n * bytes <= cap) {
		out = memset(word, 0, (size_t)t.n * bytes);
		for (i = 0; i < t.n; i++)
			for (d = 0; d < t.stations; d++)
				out[i * bytes + d / 2] |=
					(t.out[i * t.stations + d] & 15) << 4 * (d % 2);
		fixed += (size_t)t.n * bytes;
	} else {
		fixed = 0;
	}
	free(t.out);
	return fixed;
}

/* bytes of a connection in a request, and of its members */
static size_t members_bytes(const struct pw_topo_plan *p)
{
	return (p->z.ports + 7) / 8;
}

static size_t conn_bytes(const struct pw_topo_plan *p)
{
	return 3 * MNL_ATTR_HDRLEN + sizeof(uint32_t) + MNL_ALIGN(members_bytes(p));
}

static enum status put_conn(struct nlmsghdr *h, const struct pw_topo_plan *p,
			    const struct pw_topo_conn *c)
{
	struct nlattr *nest = mnl_attr_nest_start(h, PACKETWAY_A_MULTICAST_CONNECTION);
	uint8_t to[PW_TOPO_PORTS / 8] = {};
	uint32_t from = c->src, d;
	enum status st;

	for (d = 0; d < p->z.ports; d++)
		to[d / 8] |= pw_topo_member(c, d) << d % 8;
	st = nl_put_long(h, PACKETWAY_A_CONNECTION_FROM, &from, sizeof(from));
	if (!st)
		st = nl_put_long(h, PACKETWAY_A_CONNECTION_TO, to, members_bytes(p));
	mnl_attr_nest_end(h, nest);
	return st;
}

static enum status put_multicast(struct nlmsghdr *h, const struct pw_topo_plan *p)
{
	struct nlattr *nest;
	enum status st = ST_OK;
	uint32_t i;

	if (!p->z.conns)
		return ST_OK;
	nest = mnl_attr_nest_start(h, PACKETWAY_A_SAN_MULTICAST);
	for (i = 0; !st && i < p->z.conns; i++)
		st = put_conn(h, p, &p->conn[i]);
	mnl_attr_nest_end(h, nest);
	return st;
}

static enum status put_plan(struct nlmsghdr *h, const char *file, const struct pw_topo_plan *p)
{
	const char *name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	char text[PACKETWAY_TOPOLOGY_NAME_MAX + 1];
	static uint32_t plan[TOPOLOGY_PLAN_MAX / 4];
	size_t len, conns = p->z.conns ? MNL_ATTR_HDRLEN + p->z.conns * conn_bytes(p) : 0;
	enum status st;

	len = encode(p, (void *)plan, sizeof(plan) - conns);
	if (!len)
		return usage("topology: the routes of %s%s take more than %zu bytes in a request",
			     file, conns ? " and its connections" : "", sizeof(plan));
	snprintf(text, sizeof(text), "%s", name);
	st = nl_put_text(h, PACKETWAY_A_SAN_TOPOLOGY, text);
	if (!st)
		st = nl_put_long(h, PACKETWAY_A_SAN_TOPOLOGY_PLAN, plan, len);
	return st ? st : put_multicast(h, p);
}

enum status put_topology(void *h, char **values)
{
	struct pw_topo_fault fault;
	struct pw_topo_spec spec;
	struct pw_topo_plan *p;
	char why[512];
	enum status st;

	if (!strcmp(values[0], "default"))
		return nl_put_text(h, PACKETWAY_A_SAN_TOPOLOGY, values[0]);
	p = topo_file_plan(values[0], why, sizeof(why));
	if (!p)
		return usage("topology: %s", why);
	if (pw_topo_parse(values[0], &spec, &fault))
		st = put_plan(h, values[0], p);
	else
		st = nl_put_text(h, PACKETWAY_A_SAN_TOPOLOGY, values[0]);
	free(p);
	return st;
}

json_t *connections_json(const struct nlattr *multicast)
{
	const struct nlattr *a;

	mnl_attr_for_each_nested(a, multicast)
		if (mnl_attr_get_type(a) == PACKETWAY_A_MULTICAST_CONNECTIONS)
			return json_integer(mnl_attr_get_u32(a));
	return NULL;
}

static json_t *members_json(const uint8_t *to, size_t bytes)
{
	json_t *list = json_array();
	size_t d;

	for (d = 0; d < 8 * bytes; d++)
		if (to[d / 8] >> d % 8 & 1)
			json_array_append_new(list, json_integer(d));
	return list;
}

static json_t *connection_json(const struct nlattr *connection)
{
	json_t *j = json_object();
	const struct nlattr *a;

	mnl_attr_for_each_nested(a, connection) {
		if (mnl_attr_get_type(a) == PACKETWAY_A_CONNECTION_FROM)
			json_object_set_new(j, "from", json_integer(mnl_attr_get_u32(a)));
		if (mnl_attr_get_type(a) == PACKETWAY_A_CONNECTION_TO)
			json_object_set_new(j, "to", members_json(mnl_attr_get_payload(a),
								  mnl_attr_get_payload_len(a)));
	}
	return j;
}

json_t *multicast_json(const struct nlattr *multicast)
{
	const struct nlattr *a;
	json_t *list = NULL;

	mnl_attr_for_each_nested(a, multicast) {
		if (mnl_attr_get_type(a) != PACKETWAY_A_MULTICAST_CONNECTION)
			continue;
		if (!list)
			list = json_array();
		json_array_append_new(list, connection_json(a));
	}
	return list;
}
