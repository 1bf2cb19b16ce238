// SPDX-License-Identifier: GPL-2.0
/* Routers between SANs, the routes that they know, and the nodes. */
#include <netdb.h>

#include "rrp.h"
#include "pwctl.h"

/* Making and deleting ------------------------------------------------------- */

struct router_args {
	const char *name;
	struct half_args {
		uint32_t san, port, mtu, quality;
		bool have_port;
	} half[2];
	int halves;
	bool trunk;
	struct sockaddr_storage end[2];
	socklen_t len[2];
	uint32_t ifindex, id;
	uint8_t key[PACKETWAY_TRUNK_KEY_LEN];
	bool keyed, insecure, bare;
	uint32_t peer;
	bool stats;		/* show */
};

#define AT(m) offsetof(struct router_args, m)

/* "SAN" or "SAN:PORT" */
static enum status take_san(void *to, char **values)
{
	struct router_args *a = to;
	struct half_args *h = &a->half[a->halves];
	char buf[64], *colon;

	if (a->halves + a->trunk == 2)
		return usage("router add: a router has two halves");
	snprintf(buf, sizeof(buf), "%s", values[0]);
	colon = strchr(buf, ':');
	if (colon)
		*colon++ = 0;
	h->have_port = colon;
	if (parse_u32(buf, &h->san) || (colon && parse_u32(colon, &h->port)))
		return usage("san: '%s' is not SAN or SAN:PORT", values[0]);
	a->halves++;
	return ST_OK;
}

/* of the half before it */
static enum status take_mtu(void *to, char **values)
{
	const struct word w = { "mtu", "N", W_U32 };
	struct router_args *a = to;

	if (!a->halves || a->trunk)
		return usage("router add: mtu stands behind a SAN");
	return word_store(&a->half[a->halves - 1].mtu, &w, values);
}

static enum status take_quality(void *to, char **values)
{
	const struct word w = { "quality", "N", W_U32 };
	struct router_args *a = to;

	if (!a->halves || a->trunk)
		return usage("router add: quality stands behind a SAN");
	return word_store(&a->half[a->halves - 1].quality, &w, values);
}

/* "ADDRESS:PORT", "[ADDRESS]:PORT"; numbers only */
static enum status parse_end(const char *text, struct sockaddr_storage *sa, socklen_t *len)
{
	struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_DGRAM,
	}, *ai;
	char buf[128], *port, *host = buf;

	snprintf(buf, sizeof(buf), "%s", text);
	port = strrchr(buf, ':');
	if (!port || !port[1])
		return usage("udp: '%s' is not ADDRESS:PORT", text);
	*port++ = 0;
	if (*host == '[' && host[strlen(host) - 1] == ']') {
		host[strlen(host) - 1] = 0;
		host++;
	} else if (strchr(host, ':')) {
		return usage("udp: write [%s]:%s", host, port);
	}
	if (getaddrinfo(host, port, &hints, &ai))
		return usage("udp: '%s' is not ADDRESS:PORT", text);
	memcpy(sa, ai->ai_addr, ai->ai_addrlen);
	*len = ai->ai_addrlen;
	freeaddrinfo(ai);
	return ST_OK;
}

static enum status take_udp(void *to, char **values)
{
	struct router_args *a = to;
	enum status st = parse_end(values[0], &a->end[0], &a->len[0]);

	return st ? st : parse_end(values[1], &a->end[1], &a->len[1]);
}

static enum status take_dev(void *to, char **values)
{
	struct router_args *a = to;

	a->ifindex = if_nametoindex(values[0]);
	return a->ifindex ? ST_OK : fail(errno, "%s", values[0]);
}

static enum status take_secret(void *to, char **values)
{
	struct router_args *a = to;

	if (strlen(values[0]) != 2 * sizeof(a->key) ||
	    parse_hex(values[0], a->key, sizeof(a->key)) != sizeof(a->key))
		return usage("secret: %zu hexadecimal digits are needed", 2 * sizeof(a->key));
	a->keyed = true;
	return ST_OK;
}

/* the first line of a file; "-": standard input */
static enum status take_secret_file(void *to, char **values)
{
	FILE *f = strcmp(values[0], "-") ? fopen(values[0], "re") : stdin;
	char line[256] = "", *text = line;
	enum status st;

	if (!f)
		return fail(errno, "%s", values[0]);
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f != stdin)
		fclose(f);
	line[strcspn(line, "\r\n")] = 0;
	st = take_secret(to, &text);
	explicit_bzero(line, sizeof(line));
	return st;
}

static void put_trunk(struct nlmsghdr *h, const struct router_args *a)
{
	struct nlattr *nest = mnl_attr_nest_start(h, PACKETWAY_A_ROUTER_TRUNK);

	if (a->ifindex) {
		mnl_attr_put_u32(h, PACKETWAY_A_TRUNK_DEV, a->ifindex);
		if (!a->bare || a->id)
			mnl_attr_put_u32(h, PACKETWAY_A_TRUNK_ID, a->id);
	} else {
		mnl_attr_put(h, PACKETWAY_A_TRUNK_LOCAL, a->len[0], &a->end[0]);
		mnl_attr_put(h, PACKETWAY_A_TRUNK_REMOTE, a->len[1], &a->end[1]);
	}
	if (a->keyed)
		mnl_attr_put(h, PACKETWAY_A_TRUNK_KEY, sizeof(a->key), a->key);
	if (a->insecure)
		mnl_attr_put(h, PACKETWAY_A_TRUNK_INSECURE, 0, NULL);
	if (a->bare)
		mnl_attr_put(h, PACKETWAY_A_TRUNK_BARE, 0, NULL);
	if (a->peer)
		mnl_attr_put_u32(h, PACKETWAY_A_TRUNK_PEER, a->peer);
	mnl_attr_nest_end(h, nest);
}

static void put_half(struct nlmsghdr *h, const struct half_args *w)
{
	struct nlattr *nest = mnl_attr_nest_start(h, PACKETWAY_A_ROUTER_HALF);

	mnl_attr_put_u32(h, PACKETWAY_A_HALF_SAN, w->san);
	if (w->have_port)
		mnl_attr_put_u32(h, PACKETWAY_A_HALF_PORT, w->port);
	if (w->mtu)
		mnl_attr_put_u32(h, PACKETWAY_A_HALF_MTU, w->mtu);
	if (w->quality)
		mnl_attr_put_u32(h, PACKETWAY_A_HALF_QUALITY, w->quality);
	mnl_attr_nest_end(h, nest);
}

static enum status router_add(const struct verb *v, int argc, char **argv)
{
	struct router_args a = {};
	enum status st;
	struct genl g;
	int i;

	st = words(v, argc, argv, &a);
	if (st)
		return st;
	if (a.halves + a.trunk != 2)
		return usage("router add: the second half is missing: san B[:PORT] or trunk");
	if (a.trunk != (a.len[1] || a.ifindex))
		return usage("router add: a trunk is `trunk udp LOCAL REMOTE` or `trunk dev ETH`");
	genl_begin(&g, PACKETWAY_CMD_ROUTER_NEW, 0, PACKETWAY_A_ROUTER);
	/* the rest is short: the name goes last */
	for (i = 0; i < a.halves; i++)
		put_half(g.h, &a.half[i]);
	if (a.trunk)
		put_trunk(g.h, &a);
	st = nl_put_text(g.h, PACKETWAY_A_ROUTER_NAME, a.name);
	return genl_end(&g, st, NULL, NULL, a.name);
}

/* a command whose words are attributes; arg: which one, nest: of which object */
static enum status change(const struct verb *v, int nest, int argc, char **argv)
{
	struct genl g;

	genl_begin(&g, v->arg, 0, nest);
	return genl_end(&g, words_each(v, argc, argv, put_word, g.h), NULL, NULL, v->name);
}

static enum status router_del(const struct verb *v, int argc, char **argv)
{
	return change(v, PACKETWAY_A_ROUTER, argc, argv);
}

/* Does the nest that is open in a request have this attribute? */
static bool has(const struct genl *g, int type)
{
	const char *end = mnl_nlmsg_get_payload_tail(g->h);
	const struct nlattr *a = mnl_attr_get_payload(g->nest);

	for (; mnl_attr_ok(a, end - (const char *)a); a = mnl_attr_next(a))
		if (mnl_attr_get_type(a) == type)
			return true;
	return false;
}

/* a static route of a SAN, or a source route of a station */
static enum status route_change(const struct verb *v, int argc, char **argv)
{
	bool add = v->arg == PACKETWAY_CMD_ROUTE_NEW, dev;
	enum status st;
	struct genl g;

	genl_begin(&g, v->arg, 0, PACKETWAY_A_ROUTE);
	st = words_each(v, argc, argv, put_word, g.h);
	if (!st) {
		dev = has(&g, PACKETWAY_A_ROUTE_IFINDEX);
		if (dev == has(&g, PACKETWAY_A_ROUTE_SAN) || dev == has(&g, PACKETWAY_A_ROUTE_HR))
			st = usage("route %s: give `san` and `via`, or `dev`", v->name);
		else if (add && dev != has(&g, PACKETWAY_A_ROUTE_L2RH))
			st = usage("route add: `dev` and `l2rhs` go together");
	}
	return genl_end(&g, st, NULL, NULL, v->name);
}

static enum status put_l2rhs(void *h, char **values)
{
	struct source_route r = {};
	enum status st = route_parse("l2rhs", values[0], &r);

	return st ? st : nl_put(h, PACKETWAY_A_ROUTE_L2RH, r.bytes, r.len);
}

/* "ADDR" or "FIRST-LAST" */
static enum status put_range(void *h, char **values)
{
	uint32_t first, last;
	char buf[64], *dash;

	snprintf(buf, sizeof(buf), "%s", values[0]);
	dash = strchr(buf, '-');
	if (dash)
		*dash++ = 0;
	if (parse_addr(buf, &first) || parse_addr(dash ? dash : buf, &last))
		return usage("'%s' is not an address or FIRST-LAST", values[0]);
	mnl_attr_put_u32(h, PACKETWAY_A_ROUTE_FIRST, first);
	mnl_attr_put_u32(h, PACKETWAY_A_ROUTE_LAST, last);
	return ST_OK;
}

/* Showing ------------------------------------------------------------------- */

/* in the order of PACKETWAY_A_HALF_STAT_*, from RX on */
static const char *const half_counters[] = {
	"rx", "forward-l3", "forward-l2", "forward-group", "sent", "drop-unknown",
	"drop-bad-l2rh", "drop-too-big", "drop-hops", "drop-malformed", "drop-full",
	"drop-nomem", "drop-group", "drop-down", "ei-marked", "hop-trace", "err-sent",
	"err-limited", "rrp-rx", "rrp-tx", "rrp-malformed", "rrp-refused", "rrp-limited",
	"tables-taken", "tables-ignored", "hrdown", "echo", "tables-asked", "tables-stale",
	"drop-type", "echo-limited", "traced", "reduce-asked", "reduce-repeated",
	"reduce-answered", "reduce-dropped", "rrp-done",
};

/* likewise PACKETWAY_A_TRUNK_STAT_*, from TX on */
static const char *const trunk_counters[] = {
	"tx", "rx", "hello-tx", "hello-rx", "drop-peer", "drop-version", "drop-auth",
	"drop-session", "drop-replay", "drop-malformed", "drop-tx",
};

_Static_assert(N(half_counters) == PACKETWAY_A_HALF_STAT_MAX - PACKETWAY_A_HALF_STAT_PAD,
	       "a name for each counter of a half-router");
_Static_assert(N(trunk_counters) == PACKETWAY_A_TRUNK_STAT_MAX - PACKETWAY_A_TRUNK_STAT_PAD,
	       "a name for each counter of a trunk");

static const char *half_counter(int i)
{
	return i < N(half_counters) ? half_counters[i] : NULL;
}

static const char *trunk_counter(int i)
{
	return i < N(trunk_counters) ? trunk_counters[i] : NULL;
}

static const struct word half_fields[] = {
	{ "san", NULL, W_U32, PACKETWAY_A_HALF_SAN },
	{ "port", NULL, W_U32, PACKETWAY_A_HALF_PORT },
	{ "addr", NULL, W_ADDR, PACKETWAY_A_HALF_ADDR },
	{ "mtu", NULL, W_U32, PACKETWAY_A_HALF_MTU_NOW },
	{ "quality", NULL, W_U32, PACKETWAY_A_HALF_QUALITY },
	{ "tables", NULL, W_U32, PACKETWAY_A_HALF_TABLES },
	{ "stats", NULL, W_COUNTERS, PACKETWAY_A_HALF_STATS, .counter = half_counter },
	{}
};

static const struct word trunk_fields[] = {
	{ "local", NULL, W_SOCKADDR, PACKETWAY_A_TRUNK_LOCAL },
	{ "remote", NULL, W_SOCKADDR, PACKETWAY_A_TRUNK_REMOTE },
	{ "dev", NULL, W_DEV, PACKETWAY_A_TRUNK_DEV },
	{ "id", NULL, W_U32, PACKETWAY_A_TRUNK_ID },
	{ "mtu", NULL, W_U32, PACKETWAY_A_TRUNK_MTU },
	{ "peer", NULL, W_ADDR, PACKETWAY_A_TRUNK_PEER },
	{ "up", NULL, W_FLAG, PACKETWAY_A_TRUNK_UP },
	{ "secret", NULL, W_FLAG, PACKETWAY_A_TRUNK_KEYED },
	{ "insecure", NULL, W_FLAG, PACKETWAY_A_TRUNK_INSECURE },
	{ "bare", NULL, W_FLAG, PACKETWAY_A_TRUNK_BARE },
	{ "stats", NULL, W_COUNTERS, PACKETWAY_A_TRUNK_STATS, .counter = trunk_counter },
	{}
};

static const struct word user_fields[] = {
	{ "peer", NULL, W_ADDR, PACKETWAY_A_USER_PEER },
	{ "queued", NULL, W_U32, PACKETWAY_A_USER_QUEUED },
	{}
};

static const struct word route_fields[] = {
	{ "san", NULL, W_U32, PACKETWAY_A_ROUTE_SAN },
	{ "dev", NULL, W_DEV, PACKETWAY_A_ROUTE_IFINDEX },
	{ "first", NULL, W_ADDR, PACKETWAY_A_ROUTE_FIRST },
	{ "last", NULL, W_ADDR, PACKETWAY_A_ROUTE_LAST },
	{ "half-router", NULL, W_ADDR, PACKETWAY_A_ROUTE_HR },
	{ "quality", NULL, W_U32, PACKETWAY_A_ROUTE_QUALITY },
	{ "mtu", NULL, W_U32, PACKETWAY_A_ROUTE_MTU },
	{ "serial", NULL, W_U32, PACKETWAY_A_ROUTE_SERIAL },
	{ "via", NULL, W_ADDRS, PACKETWAY_A_ROUTE_VIA },
	{ "l2rh", NULL, W_BYTES, PACKETWAY_A_ROUTE_L2RH },
	{ "static", NULL, W_FLAG, PACKETWAY_A_ROUTE_STATIC },
	{ "best", NULL, W_FLAG, PACKETWAY_A_ROUTE_BEST },
	{}
};

static const struct word gone_field[] = {
	{ "gone", NULL, W_FLAG, PACKETWAY_A_ROUTE_GONE },
	{}
};

static const struct word node_fields[] = {
	{ "addr", NULL, W_ADDR, PACKETWAY_A_NODE_ADDR },
	{ "name", NULL, W_TEXT, PACKETWAY_A_NODE_NAME },
	{ "san", NULL, W_U32, PACKETWAY_A_NODE_SAN },
	{ "local", NULL, W_FLAG, PACKETWAY_A_NODE_LOCAL },
	{}
};

static json_t *trunk_json(const struct nlattr *nest)
{
	json_t *j = json_object();

	json_object_set_new(j, "kind", json_null());
	fields_json(j, trunk_fields, nest);
	json_object_set_new(j, "kind", json_string(json_object_get(j, "dev") ? "dev" : "udp"));
	/* until the other side has said its address */
	if (!strcmp(json_string_value(json_object_get(j, "peer")) ?: "", "00:00:00"))
		json_object_del(j, "peer");
	return j;
}

static json_t *router_json(const struct nlattr *nest)
{
	json_t *j = json_object(), *halves = json_array();
	const struct nlattr *a;

	mnl_attr_for_each_nested(a, nest) {
		switch (mnl_attr_get_type(a)) {
		case PACKETWAY_A_ROUTER_NAME:
			json_object_set_new(j, "name", json_string(mnl_attr_get_str(a)));
			break;
		case PACKETWAY_A_ROUTER_HALF:
			json_array_append_new(halves, fields_json(json_object(), half_fields, a));
			break;
		case PACKETWAY_A_ROUTER_TRUNK:
			json_object_set_new(j, "trunk", trunk_json(a));
			break;
		case PACKETWAY_A_ROUTER_USER:
			json_object_set_new(j, "program", fields_json(json_object(), user_fields, a));
			break;
		}
	}
	json_object_set_new(j, "halves", halves);
	return j;
}

/* one part of a router on a line, counters that are not 0 on another */
static void out_part(const char *what, json_t *part, bool stats)
{
	json_t *copy = json_deep_copy(part), *s = json_object(), *v;
	const char *key;

	json_object_foreach(json_object_get(part, "stats"), key, v)
		if (!json_is_integer(v) || json_integer_value(v))
			json_object_set(s, key, v);
	json_object_del(copy, "stats");
	out_item(what, copy);
	if (stats && json_object_size(s)) {
		printf("      ");
		out_item("", s);
	} else {
		json_decref(s);
	}
}

static void out_router(json_t *j, bool stats)
{
	json_t *v;
	size_t i;

	if (opt_json) {
		out_item("router", j);
		return;
	}
	printf("router %s%s%s\n", color(C_NAME), json_string_value(json_object_get(j, "name")),
	       color(C_NONE));
	json_array_foreach(json_object_get(j, "halves"), i, v)
		out_part("  san", v, stats);
	v = json_object_get(j, "trunk");
	if (v)
		out_part("  trunk", v, stats);
	v = json_object_get(j, "program");
	if (v)
		out_part("  program", v, stats);
	json_decref(j);
}

static json_t *route_json(const struct nlattr *nest)
{
	return fields_json(json_object(), route_fields, nest);
}

/* an event about a router or a route, or NULL */
json_t *router_event(const struct nlmsghdr *h, const char **what, const char **action)
{
	const struct genlmsghdr *gh = mnl_nlmsg_get_payload(h);
	const struct nlattr *a;
	json_t *gone;

	mnl_attr_for_each(a, h, sizeof(*gh)) {
		if (mnl_attr_get_type(a) == PACKETWAY_A_ROUTER) {
			*what = "router";
			*action = gh->cmd == PACKETWAY_CMD_ROUTER_DEL ? "del" : "new";
			return router_json(a);
		}
		if (mnl_attr_get_type(a) == PACKETWAY_A_ROUTE) {
			gone = fields_json(json_object(), gone_field, a);
			*what = "route";
			*action = json_is_true(json_object_get(gone, "gone")) ? "del" : "new";
			json_decref(gone);
			return route_json(a);
		}
	}
	return NULL;
}

static const char *const capas[] = {
	[PW_CAPA_COMPUTE] = "compute", [PW_CAPA_ROUTER] = "router", [PW_CAPA_SERVER] = "server",
	[PW_CAPA_MULTICAST] = "multicast", [PW_CAPA_NFS] = "nfs", [PW_CAPA_PAGING] = "paging",
	[PW_CAPA_FLOAT_DSP] = "float-dsp", [PW_CAPA_FIXED_DSP] = "fixed-dsp",
	[PW_CAPA_PRINTER] = "printer", [PW_CAPA_ATON] = "aton", [PW_CAPA_ESP] = "esp",
	[PW_CAPA_POETS] = "poets", [PW_CAPA_TABLES] = "tables",
};

const char *capa_name(unsigned int code)
{
	return code < N(capas) ? capas[code] : NULL;
}

/* what CAPA and LADR records of a node say */
static void records_json(json_t *j, const struct nlattr *a)
{
	json_t *can = json_array(), *groups = json_array();
	struct pw_rrp_entry e;
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;
	char num[16];
	uint32_t i;

	if (pw_rrp_iter_init(&it, mnl_attr_get_payload(a), mnl_attr_get_payload_len(a)))
		it.len = 0;
	while (pw_rrp_next(&it, &rec) > 0) {
		if (rec.type == PW_RRP_CAPA) {
			snprintf(num, sizeof(num), "%u", rec.code);
			json_array_append_new(can, json_string(capa_name(rec.code) ?
							       capa_name(rec.code) : num));
		}
		for (i = 0; rec.type == PW_RRP_LADR && pw_rrp_entry_at(&rec, i, &e); i++)
			json_array_append_new(groups, j_addr(e.addr));
	}
	json_object_set_new(j, "can", can);
	json_object_set_new(j, "groups", groups);
}

static json_t *node_json(const struct nlattr *nest)
{
	json_t *j = fields_json(json_object(), node_fields, nest);
	const struct nlattr *a;

	mnl_attr_for_each_nested(a, nest)
		if (mnl_attr_get_type(a) == PACKETWAY_A_NODE_RECORDS)
			records_json(j, a);
	return j;
}

static int show_cb(const struct nlmsghdr *h, void *data)
{
	const struct nlattr *a;
	const bool *stats = data;

	mnl_attr_for_each(a, h, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(a)) {
		case PACKETWAY_A_ROUTER:
			out_router(router_json(a), *stats);
			break;
		case PACKETWAY_A_ROUTE:
			out_item("route san", route_json(a));
			break;
		case PACKETWAY_A_NODE:
			out_item("node", node_json(a));
			break;
		}
	}
	return MNL_CB_OK;
}

static int list_cb(const struct nlmsghdr *h, void *data)
{
	const struct nlattr *a;

	mnl_attr_for_each(a, h, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(a) == PACKETWAY_A_ROUTER)
			json_array_append_new(data, router_json(a));
	return MNL_CB_OK;
}

enum status router_list(json_t *list)
{
	return genl_dump(PACKETWAY_CMD_ROUTER_GET, list_cb, list, "routers");
}

static enum status show(struct genl *g, enum status st, const char *what, bool stats)
{
	out_begin(false);
	st = genl_end(g, st, show_cb, &stats, what);
	if (!st)
		out_end();
	return st;
}

static enum status router_show(const struct verb *v, int argc, char **argv)
{
	struct router_args a = {};
	enum status st;
	struct genl g;

	st = words(v, argc, argv, &a);
	if (st)
		return st;
	genl_begin(&g, PACKETWAY_CMD_ROUTER_GET, a.name ? 0 : NLM_F_DUMP,
		   a.name ? PACKETWAY_A_ROUTER : 0);
	if (a.name)
		st = nl_put_text(g.h, PACKETWAY_A_ROUTER_NAME, a.name);
	return show(&g, st, a.name ? a.name : "routers", a.stats);
}

/* routes or nodes, of all SANs or of one; arg: the command */
static enum status dump(const struct verb *v, int argc, char **argv)
{
	struct genl g;

	genl_begin(&g, v->arg, NLM_F_DUMP, !argc ? 0 :
		   v->arg == PACKETWAY_CMD_ROUTE_GET ? PACKETWAY_A_ROUTE : PACKETWAY_A_NODE);
	return show(&g, words_each(v, argc, argv, put_word, g.h), v->name, false);
}

/* Resolving -------------------------------------------------------------------- */

struct resolve_args {
	const char *what, *dev;
	long san;
	uint32_t timeout;
};

#define RAT(m) offsetof(struct resolve_args, m)

const struct word resolve_words[] = {
	{ NULL, "NAME|ADDR", W_TEXT, RAT(what), WORD_NEEDED },
	{ "dev", "NAME", W_TEXT, RAT(dev) },
	{ "san", "N", W_LONG, RAT(san) },
	{ "timeout", "MS", W_U32, RAT(timeout) },
	{}
};

/* ask the kernel that has the SAN */
static enum status resolve_san(const char *what, uint32_t san)
{
	enum status st;
	struct genl g;
	uint32_t addr;

	genl_begin(&g, PACKETWAY_CMD_RESOLVE, 0, PACKETWAY_A_NODE);
	mnl_attr_put_u32(g.h, PACKETWAY_A_NODE_SAN, san);
	st = parse_addr(what, &addr) ? nl_put_text(g.h, PACKETWAY_A_NODE_NAME, what) :
				       nl_put(g.h, PACKETWAY_A_NODE_ADDR, &addr, sizeof(addr));
	return show(&g, st, what, false);
}

/* ask half-routers, from a station */
static enum status resolve_dev(const char *what, const char *dev, int timeout)
{
	struct source_route r;
	struct rrp_node node[16];
	struct pwl_sock *k;
	struct station st;
	uint32_t addr = 0;
	enum status ret;
	bool by_name;
	json_t *j;
	int i, n;

	ret = open_sock(dev, &k, &st);
	if (ret)
		return ret;
	by_name = parse_addr(what, &addr);
	n = rrp_tell(k, 0, by_name ? what : NULL, addr, node, N(node), timeout);
	if (n <= 0) {
		pwl_sock_close(k);
		fail(0, "%s: %s", what, n == -ETIMEDOUT ? "no half-router answers" :
		     "no half-router of this SAN knows the node");
		return n == -ETIMEDOUT ? ST_SILENT : ST_REFUSED;
	}
	out_begin(false);
	for (i = 0; i < n; i++) {
		j = json_object();
		json_object_set_new(j, "addr", j_addr(node[i].addr));
		if (node[i].name[0])
			json_object_set_new(j, "name", json_string(node[i].name));
		json_object_set_new(j, "router", json_boolean(node[i].router));
		if (!rrp_route(k, node[i].addr, &r, timeout)) {
			json_object_set_new(j, "hops", json_integer(route_hops(&r) - 1));
			json_object_set_new(j, "quality", json_integer(r.quality));
			json_object_set_new(j, "mtu", json_integer(r.mtu));
			json_object_set_new(j, "l2rh", j_hex(r.bytes, r.len));
		}
		out_item("node", j);
	}
	out_end();
	pwl_sock_close(k);
	return ST_OK;
}

enum status cmd_resolve(const struct verb *v, int argc, char **argv)
{
	struct resolve_args a = { .san = -1, .timeout = 1000 };
	enum status st = words(v, argc, argv, &a);

	if (st)
		return st;
	if (a.san >= 0 && a.dev)
		return usage("resolve: give dev or san, not both");
	return a.san >= 0 ? resolve_san(a.what, a.san) : resolve_dev(a.what, a.dev, a.timeout);
}

/* Tables ----------------------------------------------------------------------- */

static const struct word router_which[] = {
	{ NULL, "NAME", W_TEXT, AT(name) },
	{ "stats", NULL, W_FLAG, AT(stats) },
	{}
};

static const struct word router_new[] = {
	{ NULL, "NAME", W_TEXT, AT(name), WORD_NEEDED },
	{ "san", "A[:PORT]", W_CALL, 0, WORD_NEEDED | WORD_MANY, 1, take_san },
	{ "mtu", "N", W_CALL, 0, WORD_MANY, 1, take_mtu },
	{ "quality", "N", W_CALL, 0, WORD_MANY, 1, take_quality },
	{ "trunk", NULL, W_FLAG, AT(trunk) },
	{ "udp", "LOCAL:PORT REMOTE:PORT", W_CALL, .max = 2, .call = take_udp },
	{ "dev", "ETH", W_CALL, .max = 1, .call = take_dev },
	{ "id", "N", W_U32, AT(id) },
	{ "secret", "HEX", W_CALL, .max = 1, .call = take_secret },
	{ "secret-file", "FILE", W_CALL, .max = 1, .call = take_secret_file },
	{ "insecure", NULL, W_FLAG, AT(insecure) },
	{ "bare", NULL, W_FLAG, AT(bare) },
	{ "peer", "ADDR", W_ADDR, AT(peer) },
	{}
};

static const struct word router_one[] = {
	{ NULL, "NAME", W_TEXT, PACKETWAY_A_ROUTER_NAME, WORD_NEEDED },
	{}
};

const struct verb router_verbs[] = {
	{ "show", router_show, 0, router_which, "routers of the namespace, or one" },
	{ "add", router_add, 0, router_new,
	  "two half-routers on two SANs; with a trunk the other half is on another host",
	  "a trunk goes over UDP or over Ethernet frames (dev); it needs a secret, or\n"
	  "        insecure, unless the other end is on this host or its links; with dev and bare it\n"
	  "        has no header of its own, for other implementations, and RRP of peer counts" },
	{ "del", router_del, PACKETWAY_CMD_ROUTER_DEL, router_one,
	  "delete a router; routes through it are withdrawn" },
	{}
};

#define ROUTE \
	{ NULL, "ADDR[-LAST]", W_CALL, 0, WORD_NEEDED, 1, put_range }, \
	{ "san", "N", W_U32, PACKETWAY_A_ROUTE_SAN }, \
	{ "via", "HALF-ROUTER", W_ADDR, PACKETWAY_A_ROUTE_HR }, \
	{ "dev", "NAME", W_DEV, PACKETWAY_A_ROUTE_IFINDEX }

static const struct word route_which[] = {
	{ "san", "N", W_U32, PACKETWAY_A_ROUTE_SAN, WORD_KEY },
	{ "dev", "NAME", W_DEV, PACKETWAY_A_ROUTE_IFINDEX },
	{}
};

static const struct word route_new[] = {
	ROUTE,
	{ "l2rhs", "HEX", W_CALL, 0, 0, 1, put_l2rhs },
	{ "quality", "N", W_U32, PACKETWAY_A_ROUTE_QUALITY },
	{ "mtu", "N", W_U32, PACKETWAY_A_ROUTE_MTU },
	{}
};

static const struct word route_one[] = { ROUTE, {} };

const struct verb route_verbs[] = {
	{ "show", dump, PACKETWAY_CMD_ROUTE_GET, route_which,
	  "routes that half-routers know, and source routes of stations; of all or of one" },
	{ "add", route_change, PACKETWAY_CMD_ROUTE_NEW, route_new,
	  "a static route (san, via, quality), or a source route of a station (dev, l2rhs)",
	  "quality 0 is the best and the default, learnt routes have 1 or more; what the station\n"
	  "        sends to the addresses of its source route has these L2RHs in front, also IP" },
	{ "del", route_change, PACKETWAY_CMD_ROUTE_DEL, route_one,
	  "delete a static route (san, via), or a source route (dev)" },
	{}
};

static const struct word name_which[] = {
	{ "san", "N", W_U32, PACKETWAY_A_NODE_SAN, WORD_KEY },
	{}
};

const struct verb name_verbs[] = {
	{ "show", dump, PACKETWAY_CMD_NODE_GET, name_which,
	  "nodes that half-routers know: addresses, names, capabilities" },
	{}
};
