// SPDX-License-Identifier: GPL-2.0
/*
 * Topologies of SANs: made from the name of a generator, or from a plan that a request has.
 *
 * The largest plan takes 80 MiB and some 10^8 instructions, so no lock is held meanwhile, and
 * others may run after each input or station (pw_topo_plan.rest).
 */
#include <linux/sched.h>
#include <linux/vmalloc.h>
#include <net/netlink.h>

#include "pw_san_topo.h"

#define PW_SAN_MEMBERS	(PACKETWAY_PORTS_MAX / 8)	/* bytes of PACKETWAY_A_CONNECTION_TO */

static_assert(PACKETWAY_CONNECTIONS_MAX == PW_TOPO_CONNS);

static const struct nla_policy pw_connection_policy[PACKETWAY_A_CONNECTION_MAX + 1] = {
	[PACKETWAY_A_CONNECTION_FROM] = { .type = NLA_U32 },
	[PACKETWAY_A_CONNECTION_TO] = { .type = NLA_BINARY, .len = PW_SAN_MEMBERS },
};

const struct nla_policy pw_multicast_policy[PACKETWAY_A_MULTICAST_MAX + 1] = {
	[PACKETWAY_A_MULTICAST_CONNECTIONS] = {
		.type = NLA_REJECT,
		.reject_message = "The number of connections is reply only",
	},
	[PACKETWAY_A_MULTICAST_CONNECTION] = NLA_POLICY_NESTED(pw_connection_policy),
};

/* sentences without numbers: pwctl checks a topology before it sends it, and has them */
static void pw_san_topo_wrong(const struct pw_topo_fault *why, const struct nlattr *attr,
			      struct netlink_ext_ack *extack)
{
	switch (why->what) {
	case PW_TOPO_E_SIZES:
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "topology: switches have 2 to 16 ports and 4096 inputs in all, there are 2 to 256 stations and 1 to 16 paths");
		break;
	case PW_TOPO_E_LARGE:
		if (why->d)
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "multicast: inputs times stations and connections times paths are more than 16000000");
		else
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "topology: inputs times stations times paths are more than 16000000");
		break;
	case PW_TOPO_E_NAME:
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "topology: generators are clos, benes, butterfly, crossbar, torus, mesh, fattree and ring");
		break;
	case PW_TOPO_E_DIMS:
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "topology: sizes are missing, too many or out of range");
		break;
	case PW_TOPO_E_STATION:
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "topology: a station has no place, or shares its place");
		break;
	case PW_TOPO_E_INPUT:
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "topology: an input does not exist or is driven twice");
		break;
	case PW_TOPO_E_ROUTE:
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "topology: there is no route between two stations");
		break;
	case PW_TOPO_E_ASTRAY:
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "topology: a route ends at another station");
		break;
	case PW_TOPO_E_CIRCLE:
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "topology: links wait for each other in a circle");
		break;
	case PW_TOPO_E_DEEP:
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "topology: more than 32 switches wait for each other in a row");
		break;
	case PW_TOPO_E_CONNS:
		NL_SET_ERR_MSG_ATTR(extack, attr, "multicast: more than 1024 connections");
		break;
	case PW_TOPO_E_SENDER:
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "multicast: the sender of a connection does not exist");
		break;
	case PW_TOPO_E_MEMBER:
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "multicast: a member of a connection does not exist or is its sender");
		break;
	case PW_TOPO_E_MEMBERS:
		NL_SET_ERR_MSG_ATTR(extack, attr, "multicast: a connection has no members");
		break;
	default:
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "topology: the tables of the switches are too large");
		break;
	}
}

/* is it a connection that is wrong, not the topology? */
static bool pw_san_topo_of_conns(const struct pw_topo_fault *why)
{
	return why->what >= PW_TOPO_E_CONNS || (why->what == PW_TOPO_E_LARGE && why->d);
}

static void pw_san_topo_rest(void)
{
	cond_resched();
}

static struct pw_topo_plan *pw_san_topo_plan_new(const struct pw_topo_sizes *z)
{
	void *mem = __vmalloc(pw_topo_plan_size(z), PW_GFP);
	struct pw_topo_plan *p;

	if (!mem)
		return ERR_PTR(-ENOMEM);
	p = pw_topo_plan_init(mem, z);
	p->rest = pw_san_topo_rest;
	return p;
}

static struct pw_topo_plan *pw_san_topo_generate(const struct pw_topo_spec *spec, u32 conns,
						 struct pw_topo_fault *why)
{
	struct pw_topo_plan *p;
	struct pw_topo_sizes z;

	if (pw_topo_gen_sizes(spec, &z, why))
		return ERR_PTR(-EINVAL);
	z.conns = conns;
	if (pw_topo_sizes_check(&z, why))
		return ERR_PTR(-EINVAL);
	p = pw_san_topo_plan_new(&z);
	if (!IS_ERR(p))
		pw_topo_gen(p, spec);
	return p;
}

/* what follows the head of a plan, see struct packetway_topology */
struct pw_san_topo_parts {
	const u16 *in;
	const u16 *out;
	const u16 *peer;
	const u16 *row;
	const u8 *output;
};

/* false: the plan does not have the length that its sizes say */
static bool pw_san_topo_split(const struct nlattr *attr, const struct pw_topo_sizes *z,
			      struct pw_san_topo_parts *parts)
{
	const struct packetway_topology *h = nla_data(attr);
	u32 ranks = z->units * z->k, words = 2 * z->ports + ranks * (1 + z->paths);

	parts->in = (const void *)(h + 1);
	parts->out = parts->in + z->ports;
	parts->peer = parts->out + z->ports;
	parts->row = parts->peer + ranks;
	parts->output = (const void *)(parts->in + words);
	return (u64)h->rows * DIV_ROUND_UP(z->ports, 2) + sizeof(u16) * words + sizeof(*h) ==
	       (u32)nla_len(attr);
}

/* false: a row is missing */
static bool pw_san_topo_routes(struct pw_topo_plan *p, const struct pw_san_topo_parts *parts,
			       u32 rows)
{
	u32 bytes = DIV_ROUND_UP(p->z.ports, 2), x, d, r, row;
	const u8 *output;

	for (x = 0; x < p->ranks; x++) {
		pw_topo_rest(p);
		for (r = 0; r < p->z.paths; r++) {
			row = parts->row[x * p->z.paths + r];
			if (row >= rows)
				return false;
			output = parts->output + (size_t)row * bytes;
			for (d = 0; d < p->z.ports; d++)
				*pw_topo_via(p, x, d, r) = output[d / 2] >> 4 * (d % 2) & 15;
		}
	}
	return true;
}

static struct pw_topo_plan *pw_san_topo_read(const struct nlattr *attr, u32 conns,
					     struct pw_topo_fault *why,
					     struct netlink_ext_ack *extack)
{
	const struct packetway_topology *h = nla_data(attr);
	struct pw_san_topo_parts parts;
	struct pw_topo_plan *p;
	struct pw_topo_sizes z;

	z = (struct pw_topo_sizes) { h->switches, h->switch_ports, h->stations, h->paths, conns };
	if (pw_topo_sizes_check(&z, why))
		return ERR_PTR(-EINVAL);
	if (!pw_san_topo_split(attr, &z, &parts)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "topology: the plan is not as long as its sizes say");
		return ERR_PTR(-EINVAL);
	}
	p = pw_san_topo_plan_new(&z);
	if (IS_ERR(p))
		return p;
	memcpy(p->in, parts.in, sizeof(u16) * z.ports);
	memcpy(p->out, parts.out, sizeof(u16) * z.ports);
	memcpy(p->peer, parts.peer, sizeof(u16) * p->ranks);
	if (pw_san_topo_routes(p, &parts, h->rows))
		return p;
	vfree(p);
	NL_SET_ERR_MSG_ATTR(extack, attr, "topology: an input has a row that the plan lacks");
	return ERR_PTR(-EINVAL);
}

/* connections of a request, which may have none */
static u32 pw_san_topo_conns(const struct nlattr *multicast)
{
	const struct nlattr *a;
	int left;
	u32 n = 0;

	if (multicast)
		nla_for_each_nested(a, multicast, left)
			n += nla_type(a) == PACKETWAY_A_MULTICAST_CONNECTION;
	return n;
}

/* senders and members into a plan that has room for them; the family's policy has seen them */
static int pw_san_topo_connect(struct pw_topo_plan *p, const struct nlattr *multicast,
			       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[PACKETWAY_A_CONNECTION_MAX + 1];
	struct pw_topo_conn *c = p->conn;
	const struct nlattr *a;
	const u8 *to;
	u32 d, n;
	int left;

	if (!p->z.conns)
		return 0;
	nla_for_each_nested(a, multicast, left) {
		if (nla_type(a) != PACKETWAY_A_MULTICAST_CONNECTION)
			continue;
		nla_parse_nested(tb, PACKETWAY_A_CONNECTION_MAX, a, pw_connection_policy, extack);
		if (!tb[PACKETWAY_A_CONNECTION_FROM] || !tb[PACKETWAY_A_CONNECTION_TO]) {
			NL_SET_ERR_MSG_ATTR(extack, a,
					    "multicast: a connection needs a sender and members");
			return -EINVAL;
		}
		c->src = min_t(u32, nla_get_u32(tb[PACKETWAY_A_CONNECTION_FROM]), U16_MAX);
		to = nla_data(tb[PACKETWAY_A_CONNECTION_TO]);
		n = 8 * nla_len(tb[PACKETWAY_A_CONNECTION_TO]);
		for (d = 0; d < n; d++)
			if (to[d / 8] >> d % 8 & 1)
				pw_topo_join(c, d);
		c++;
	}
	return 0;
}

/* topology of a plan, which is consumed; the name is left open */
static struct pw_san_topo *pw_san_topo_finish(struct pw_topo_plan *p, struct pw_topo_fault *why)
{
	struct pw_san_topo *topo;
	size_t size;

	if (pw_topo_check(p, why)) {
		vfree(p);
		return ERR_PTR(-EINVAL);
	}
	size = ALIGN(sizeof(*topo), 8) + pw_topo_size(p);
	topo = __vmalloc(size, PW_GFP | __GFP_ZERO);
	if (topo) {
		topo->size = size;
		topo->t = pw_topo_make((void *)topo + ALIGN(sizeof(*topo), 8), p);
	}
	vfree(p);
	return topo ?: ERR_PTR(-ENOMEM);
}

/* three stages of k switches, which a fabric has without a topology? */
static bool pw_san_topo_is_default(const struct pw_topo_spec *s)
{
	return s->kind == PW_TOPO_CLOS && s->dims == 3 && s->dim[0] == s->dim[1] &&
	       s->dim[0] == s->dim[2] && s->dim[0] >= PW_BMX_KMIN && s->dim[0] <= PW_BMX_KMAX;
}

static void pw_san_topo_spec_name(const struct pw_topo_spec *s, char *name, size_t cap)
{
	int n = scnprintf(name, cap, "%s", pw_topo_kind_name[s->kind]);
	u32 i;

	for (i = 0; i < s->dims; i++)
		n += scnprintf(name + n, cap - n, "%c%u", i ? 'x' : ':', s->dim[i]);
}

/**
 * pw_san_topo_make - topology that a request asks for
 * @name: its name, or the name of a generator with sizes; may be NULL with a plan
 * @plan: switches, links and routes; may be NULL
 * @multicast: connections; may be NULL
 * @topo: result; NULL: three stages
 * @ports: result: number of stations; 0: three stages with as many as the SAN has
 * @extack: where a refusal is explained
 *
 * No lock held.
 *
 * Return: 0 or a negative errno.
 */
int pw_san_topo_make(const struct nlattr *name, const struct nlattr *plan,
		     const struct nlattr *multicast, struct pw_san_topo **topo, u32 *ports,
		     struct netlink_ext_ack *extack)
{
	struct pw_topo_fault why = { PW_TOPO_OK };
	u32 conns = pw_san_topo_conns(multicast);
	const struct nlattr *attr = plan ?: name;
	struct pw_topo_spec spec = {};
	struct pw_topo_plan *p;
	struct pw_san_topo *t;
	int err;

	*topo = NULL;
	*ports = 0;
	if (!plan && !nla_strcmp(name, "default")) {
		if (!conns)
			return 0;
		NL_SET_ERR_MSG_ATTR(extack, multicast,
				    "multicast: connections need the sizes of the topology, such as clos:4x4x4");
		return -EINVAL;
	}
	if (plan) {
		p = pw_san_topo_read(plan, conns, &why, extack);
	} else {
		/* the policy has seen that it ends */
		if (pw_topo_parse(nla_data(name), &spec, &why)) {
			pw_san_topo_wrong(&why, attr, extack);
			return -EINVAL;
		}
		if (!conns && pw_san_topo_is_default(&spec)) {
			*ports = spec.dim[0] * spec.dim[0];
			return 0;
		}
		p = pw_san_topo_generate(&spec, conns, &why);
	}
	err = IS_ERR(p) ? 0 : pw_san_topo_connect(p, multicast, extack);
	if (err) {
		vfree(p);
		return err;
	}
	t = IS_ERR(p) ? ERR_CAST(p) : pw_san_topo_finish(p, &why);
	if (IS_ERR(t)) {
		if (why.what != PW_TOPO_OK)
			pw_san_topo_wrong(&why, pw_san_topo_of_conns(&why) ? multicast : attr,
					  extack);
		else if (PTR_ERR(t) == -ENOMEM)
			NL_SET_ERR_MSG_ATTR(extack, attr, "No memory for the topology");
		return PTR_ERR(t);
	}
	t->generated = !plan;
	if (!plan)
		pw_san_topo_spec_name(&spec, t->name, sizeof(t->name));
	else if (name)
		nla_strscpy(t->name, name, sizeof(t->name));
	*topo = t;
	*ports = t->t->ports;
	return 0;
}

/**
 * pw_san_topo_free - free a topology that no fabric uses
 * @topo: the topology, or NULL
 */
void pw_san_topo_free(struct pw_san_topo *topo)
{
	vfree(topo);
}

static bool pw_san_topo_same_conns(const struct pw_topo *a, const struct pw_topo *b)
{
	u32 i;

	if (a->conns != b->conns)
		return false;
	for (i = 0; i < a->conns; i++)
		if (a->conn[i].src != b->conn[i].src ||
		    memcmp(a->conn[i].to, b->conn[i].to, sizeof(a->conn[i].to)))
			return false;
	return true;
}

/**
 * pw_san_topo_same - are both made by a generator with the same sizes and connections?
 * @a: topology, or NULL for three stages
 * @b: likewise
 *
 * Return: true if a fabric with one need not be made anew for the other.
 */
bool pw_san_topo_same(const struct pw_san_topo *a, const struct pw_san_topo *b)
{
	if (!a || !b)
		return a == b;
	return a->generated && b->generated && !strcmp(a->name, b->name) &&
	       pw_san_topo_same_conns(a->t, b->t);
}

/**
 * pw_san_topo_multicast_size - bytes of a reply that lists the connections of a topology
 * @topo: the topology, or NULL for three stages
 */
size_t pw_san_topo_multicast_size(const struct pw_san_topo *topo)
{
	size_t one = nla_total_size(nla_total_size(4) + nla_total_size(PW_SAN_MEMBERS));

	return topo ? topo->t->conns * one : 0;
}

static int pw_san_topo_put_conn(struct sk_buff *msg, const struct pw_topo_conn *c, u32 ports)
{
	struct nlattr *nest = nla_nest_start(msg, PACKETWAY_A_MULTICAST_CONNECTION);
	u8 to[PW_SAN_MEMBERS] = {};
	u32 d;

	for (d = 0; d < ports; d++)
		to[d / 8] |= pw_topo_member(c, d) << d % 8;
	if (!nest ||
	    nla_put_u32(msg, PACKETWAY_A_CONNECTION_FROM, c->src) ||
	    nla_put(msg, PACKETWAY_A_CONNECTION_TO, DIV_ROUND_UP(ports, 8), to))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

/**
 * pw_san_topo_put_multicast - put the connections of a topology into a reply
 * @msg: the reply
 * @topo: the topology, or NULL for three stages
 * @list: each of them, not only their number
 *
 * Return: 0 or -EMSGSIZE.
 */
int pw_san_topo_put_multicast(struct sk_buff *msg, const struct pw_san_topo *topo, bool list)
{
	struct nlattr *nest = nla_nest_start(msg, PACKETWAY_A_SAN_MULTICAST);
	u32 i, n = topo ? topo->t->conns : 0;
	int err;

	if (!nest)
		return -EMSGSIZE;
	err = nla_put_u32(msg, PACKETWAY_A_MULTICAST_CONNECTIONS, n);
	for (i = 0; list && i < n && !err; i++)
		err = pw_san_topo_put_conn(msg, &topo->t->conn[i], topo->t->ports);
	nla_nest_end(msg, nest);
	return err;
}

/**
 * pw_san_topo_name - name of a topology
 * @topo: the topology, or NULL for three stages
 * @k: ports of a switch of three stages
 * @name: result
 * @cap: its size
 */
void pw_san_topo_name(const struct pw_san_topo *topo, u32 k, char *name, size_t cap)
{
	if (topo)
		strscpy(name, topo->name, cap);
	else
		scnprintf(name, cap, "%s:%ux%ux%u", pw_topo_kind_name[PW_TOPO_CLOS], k, k, k);
}
