// SPDX-License-Identifier: GPL-2.0
/* Routers between SANs, the routes that they know, and the nodes. */
#include <arpa/inet.h>
#include <ctype.h>
#include <linux/genetlink.h>
#include <netdb.h>

#include "pwctl.h"

#define ATTRS 32

static void index_attrs(const struct nlattr *nest, const struct nlattr **tb)
{
	const struct nlattr *a;

	memset(tb, 0, ATTRS * sizeof(*tb));
	mnl_attr_for_each_nested(a, nest)
		if (mnl_attr_get_type(a) < ATTRS)
			tb[mnl_attr_get_type(a)] = a;
}

static void put_u32(json_t *j, const char *name, const struct nlattr *a)
{
	if (a)
		json_object_set_new(j, name, json_integer(mnl_attr_get_u32(a)));
}

static void put_addr(json_t *j, const char *name, const struct nlattr *a)
{
	if (a)
		json_object_set_new(j, name, j_addr(mnl_attr_get_u32(a)));
}

json_t *j_hex(const void *data, size_t len)
{
	char *text = malloc(2 * len + 1);
	json_t *j;
	size_t i;

	for (i = 0; text && i < len; i++)
		sprintf(text + 2 * i, "%02x", ((const uint8_t *)data)[i]);
	if (text)
		text[2 * len] = 0;
	j = json_string(text ? text : "");
	free(text);
	return j;
}

/* Making and deleting ------------------------------------------------------- */

struct half_words {
	uint32_t san, port, mtu;
	bool have_port;
};

struct trunk_words {
	struct sockaddr_storage end[2];
	socklen_t len[2];
	uint32_t ifindex, id;
	bool given, keyed, insecure;
	uint8_t key[PACKETWAY_TRUNK_KEY_LEN];
};

/* "SAN" or "SAN:PORT" */
static int parse_half(const char *text, struct half_words *h)
{
	char buf[64], *colon;

	snprintf(buf, sizeof(buf), "%s", text);
	colon = strchr(buf, ':');
	if (colon)
		*colon++ = 0;
	memset(h, 0, sizeof(*h));
	h->have_port = colon;
	if (parse_u32(buf, &h->san) || (colon && parse_u32(colon, &h->port)))
		return usage("router add: \"%s\" is not SAN or SAN:PORT", text);
	return EX_OK_;
}

/* "ADDRESS:PORT", "[ADDRESS]:PORT"; numbers only */
static int parse_end(const char *text, struct sockaddr_storage *sa, socklen_t *len)
{
	struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_DGRAM,
	}, *ai;
	char buf[128], *port, *host = buf;

	snprintf(buf, sizeof(buf), "%s", text);
	port = strrchr(buf, ':');
	if (!port || !port[1])
		return usage("trunk udp: \"%s\" is not ADDRESS:PORT", text);
	*port++ = 0;
	if (*host == '[' && host[strlen(host) - 1] == ']') {
		host[strlen(host) - 1] = 0;
		host++;
	} else if (strchr(host, ':')) {
		return usage("trunk udp: write [%s]:%s", host, port);
	}
	if (getaddrinfo(host, port, &hints, &ai))
		return usage("trunk udp: \"%s\" is not ADDRESS:PORT", text);
	memcpy(sa, ai->ai_addr, ai->ai_addrlen);
	*len = ai->ai_addrlen;
	freeaddrinfo(ai);
	return EX_OK_;
}

static int parse_secret(const char *text, struct trunk_words *t)
{
	size_t i;

	for (i = 0; i < sizeof(t->key); i++) {
		unsigned int b;

		if (!isxdigit((unsigned char)text[2 * i]) ||
		    !isxdigit((unsigned char)text[2 * i + 1]))
			break;
		sscanf(text + 2 * i, "%2x", &b);
		t->key[i] = b;
	}
	if (i < sizeof(t->key) || text[2 * i])
		return usage("secret: %zu hexadecimal digits are needed", 2 * sizeof(t->key));
	t->keyed = true;
	return EX_OK_;
}

/* the first line of a file; "-": standard input */
static int read_secret(const char *file, struct trunk_words *t)
{
	FILE *f = strcmp(file, "-") ? fopen(file, "re") : stdin;
	char line[256] = "";
	int err;

	if (!f)
		return fail(errno, "%s", file);
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f != stdin)
		fclose(f);
	line[strcspn(line, "\r\n")] = 0;
	err = parse_secret(line, t);
	memset(line, 0, sizeof(line));
	return err;
}

/* argv[*i] is behind the word "trunk" */
static int parse_trunk(int argc, char **argv, int *i, struct trunk_words *t)
{
	const char *v;
	int err, n;

	t->given = true;
	if (flagword(argc, argv, i, "udp")) {
		if (*i + 2 > argc)
			return usage("trunk udp: LOCAL:PORT REMOTE:PORT");
		for (n = 0; n < 2; n++) {
			err = parse_end(argv[(*i)++], &t->end[n], &t->len[n]);
			if (err)
				return err;
		}
		return EX_OK_;
	}
	if (keyword(argc, argv, i, "dev", &v)) {
		t->ifindex = if_nametoindex(v);
		return t->ifindex ? EX_OK_ : fail(errno, "%s", v);
	}
	return usage("trunk: `udp LOCAL:PORT REMOTE:PORT` or `dev ETH`");
}

static int trunk_option(int argc, char **argv, int *i, struct trunk_words *t)
{
	const char *v;

	if (keyword(argc, argv, i, "secret", &v))
		return parse_secret(v, t);
	if (keyword(argc, argv, i, "secret-file", &v))
		return read_secret(v, t);
	if (keyword(argc, argv, i, "id", &v))
		return parse_u32(v, &t->id) ? usage("id: \"%s\" is not a number", v) : EX_OK_;
	if (flagword(argc, argv, i, "insecure")) {
		t->insecure = true;
		return EX_OK_;
	}
	return usage("router add: what is \"%s\"?", argv[*i]);
}

static void put_trunk(struct nlmsghdr *h, const struct trunk_words *t)
{
	struct nlattr *nest = mnl_attr_nest_start(h, PACKETWAY_A_ROUTER_TRUNK);

	if (t->ifindex) {
		mnl_attr_put_u32(h, PACKETWAY_A_TRUNK_DEV, t->ifindex);
		mnl_attr_put_u32(h, PACKETWAY_A_TRUNK_ID, t->id);
	} else {
		mnl_attr_put(h, PACKETWAY_A_TRUNK_LOCAL, t->len[0], &t->end[0]);
		mnl_attr_put(h, PACKETWAY_A_TRUNK_REMOTE, t->len[1], &t->end[1]);
	}
	if (t->keyed)
		mnl_attr_put(h, PACKETWAY_A_TRUNK_KEY, sizeof(t->key), t->key);
	if (t->insecure)
		mnl_attr_put(h, PACKETWAY_A_TRUNK_INSECURE, 0, NULL);
	mnl_attr_nest_end(h, nest);
}

static void put_half(struct nlmsghdr *h, const struct half_words *w)
{
	struct nlattr *nest = mnl_attr_nest_start(h, PACKETWAY_A_ROUTER_HALF);

	mnl_attr_put_u32(h, PACKETWAY_A_HALF_SAN, w->san);
	if (w->have_port)
		mnl_attr_put_u32(h, PACKETWAY_A_HALF_PORT, w->port);
	if (w->mtu)
		mnl_attr_put_u32(h, PACKETWAY_A_HALF_MTU, w->mtu);
	mnl_attr_nest_end(h, nest);
}

static int router_add(int argc, char **argv)
{
	char buf[2048] __attribute__((aligned(8)));
	struct trunk_words t = {};
	struct half_words half[2];
	const char *v, *name = NULL;
	int i = 0, n = 0, k, err = EX_OK_;
	struct nlattr *nest;
	struct nlmsghdr *h;
	struct genl g;

	while (!err && i < argc) {
		if (!name) {
			name = argv[i++];
		} else if (keyword(argc, argv, &i, "san", &v)) {
			if (n + t.given == 2)
				return usage("router add: a router has two halves");
			err = parse_half(v, &half[n++]);
		} else if (n && keyword(argc, argv, &i, "mtu", &v)) {
			if (parse_u32(v, &half[n - 1].mtu))
				return usage("mtu: \"%s\" is not a number", v);
		} else if (!t.given && n == 1 && flagword(argc, argv, &i, "trunk")) {
			err = parse_trunk(argc, argv, &i, &t);
		} else if (t.given) {
			err = trunk_option(argc, argv, &i, &t);
		} else {
			return usage("router add: what is \"%s\"?", argv[i]);
		}
	}
	if (err)
		return err;
	if (!name || n + t.given != 2)
		return usage("router add: NAME san A[:PORT] and san B[:PORT] or trunk ...");
	err = genl_open(&g);
	if (err)
		return err;
	h = genl_request(&g, buf, PACKETWAY_CMD_ROUTER_NEW, 0);
	nest = mnl_attr_nest_start(h, PACKETWAY_A_ROUTER);
	mnl_attr_put_strz(h, PACKETWAY_A_ROUTER_NAME, name);
	for (k = 0; k < n; k++)
		put_half(h, &half[k]);
	if (t.given)
		put_trunk(h, &t);
	mnl_attr_nest_end(h, nest);
	err = nl_do(&g.nl, h, NULL, NULL, name);
	nl_close(&g.nl);
	return err;
}

static int router_del(int argc, char **argv)
{
	char buf[1024] __attribute__((aligned(8)));
	struct nlattr *nest;
	struct nlmsghdr *h;
	struct genl g;
	int err;

	if (argc != 1)
		return usage("router del: which one?");
	err = genl_open(&g);
	if (err)
		return err;
	h = genl_request(&g, buf, PACKETWAY_CMD_ROUTER_DEL, 0);
	nest = mnl_attr_nest_start(h, PACKETWAY_A_ROUTER);
	mnl_attr_put_strz(h, PACKETWAY_A_ROUTER_NAME, argv[0]);
	mnl_attr_nest_end(h, nest);
	err = nl_do(&g.nl, h, NULL, NULL, argv[0]);
	nl_close(&g.nl);
	return err;
}

/* Showing ------------------------------------------------------------------- */

/* in the order of PACKETWAY_A_HALF_STAT_*, from RX on */
static const char *const half_counters[] = {
	"rx", "forward-l3", "forward-l2", "forward-group", "sent", "drop-unknown",
	"drop-bad-l2rh", "drop-too-big", "drop-hops", "drop-malformed", "drop-full",
	"drop-nomem", "drop-group", "drop-down", "ei-marked", "hop-trace", "err-sent",
	"err-limited", "rrp-rx", "rrp-tx", "rrp-malformed", "rrp-refused", "rrp-limited",
	"tables-taken", "tables-ignored", "hrdown", "echo",
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

static json_t *counters(const struct nlattr *nest, const char *const *names, int n, int first)
{
	json_t *j = json_object();
	const struct nlattr *a;

	mnl_attr_for_each_nested(a, nest) {
		int i = mnl_attr_get_type(a) - first;

		if (i >= 0 && i < n)
			json_object_set_new(j, names[i], j_u64(mnl_attr_get_u64(a)));
	}
	return j;
}

static void put_end(json_t *j, const char *name, const struct nlattr *a)
{
	char host[64], port[16], text[96];

	if (!a || getnameinfo(mnl_attr_get_payload(a), mnl_attr_get_payload_len(a), host,
			      sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	snprintf(text, sizeof(text), strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
	json_object_set_new(j, name, json_string(text));
}

static json_t *half_json(const struct nlattr *nest)
{
	const struct nlattr *tb[ATTRS];
	json_t *j = json_object();

	index_attrs(nest, tb);
	put_u32(j, "san", tb[PACKETWAY_A_HALF_SAN]);
	put_u32(j, "port", tb[PACKETWAY_A_HALF_PORT]);
	put_addr(j, "addr", tb[PACKETWAY_A_HALF_ADDR]);
	put_u32(j, "mtu", tb[PACKETWAY_A_HALF_MTU_NOW]);
	put_u32(j, "tables", tb[PACKETWAY_A_HALF_TABLES]);
	if (tb[PACKETWAY_A_HALF_STATS])
		json_object_set_new(j, "stats",
				    counters(tb[PACKETWAY_A_HALF_STATS], half_counters,
					     N(half_counters), PACKETWAY_A_HALF_STAT_RX));
	return j;
}

static json_t *trunk_json(const struct nlattr *nest)
{
	const struct nlattr *tb[ATTRS];
	json_t *j = json_object();
	char name[IF_NAMESIZE];
	uint32_t dev;

	index_attrs(nest, tb);
	json_object_set_new(j, "kind", json_string(tb[PACKETWAY_A_TRUNK_DEV] ? "dev" : "udp"));
	put_end(j, "local", tb[PACKETWAY_A_TRUNK_LOCAL]);
	put_end(j, "remote", tb[PACKETWAY_A_TRUNK_REMOTE]);
	if (tb[PACKETWAY_A_TRUNK_DEV]) {
		dev = mnl_attr_get_u32(tb[PACKETWAY_A_TRUNK_DEV]);
		json_object_set_new(j, "dev", if_indextoname(dev, name) ? json_string(name) :
				    json_integer(dev));
	}
	put_u32(j, "id", tb[PACKETWAY_A_TRUNK_ID]);
	put_u32(j, "mtu", tb[PACKETWAY_A_TRUNK_MTU]);
	if (tb[PACKETWAY_A_TRUNK_PEER] && mnl_attr_get_u32(tb[PACKETWAY_A_TRUNK_PEER]))
		put_addr(j, "peer", tb[PACKETWAY_A_TRUNK_PEER]);
	json_object_set_new(j, "up", json_boolean(!!tb[PACKETWAY_A_TRUNK_UP]));
	json_object_set_new(j, "secret", json_boolean(!!tb[PACKETWAY_A_TRUNK_KEYED]));
	json_object_set_new(j, "insecure", json_boolean(!!tb[PACKETWAY_A_TRUNK_INSECURE]));
	if (tb[PACKETWAY_A_TRUNK_STATS])
		json_object_set_new(j, "stats",
				    counters(tb[PACKETWAY_A_TRUNK_STATS], trunk_counters,
					     N(trunk_counters), PACKETWAY_A_TRUNK_STAT_TX));
	return j;
}

json_t *router_json(const struct nlattr *nest)
{
	json_t *j = json_object(), *halves = json_array();
	const struct nlattr *a;

	mnl_attr_for_each_nested(a, nest) {
		switch (mnl_attr_get_type(a)) {
		case PACKETWAY_A_ROUTER_NAME:
			json_object_set_new(j, "name", json_string(mnl_attr_get_str(a)));
			break;
		case PACKETWAY_A_ROUTER_HALF:
			json_array_append_new(halves, half_json(a));
			break;
		case PACKETWAY_A_ROUTER_TRUNK:
			json_object_set_new(j, "trunk", trunk_json(a));
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
	printf("router %s\n", json_string_value(json_object_get(j, "name")));
	json_array_foreach(json_object_get(j, "halves"), i, v)
		out_part("  san", v, stats);
	v = json_object_get(j, "trunk");
	if (v)
		out_part("  trunk", v, stats);
	json_decref(j);
}

json_t *route_json(const struct nlattr *nest)
{
	const struct nlattr *tb[ATTRS];
	json_t *j = json_object(), *via;
	const uint8_t *p;
	uint32_t addr;
	size_t n, i;

	index_attrs(nest, tb);
	put_u32(j, "san", tb[PACKETWAY_A_ROUTE_SAN]);
	put_addr(j, "first", tb[PACKETWAY_A_ROUTE_FIRST]);
	put_addr(j, "last", tb[PACKETWAY_A_ROUTE_LAST]);
	put_addr(j, "half-router", tb[PACKETWAY_A_ROUTE_HR]);
	put_u32(j, "quality", tb[PACKETWAY_A_ROUTE_QUALITY]);
	put_u32(j, "mtu", tb[PACKETWAY_A_ROUTE_MTU]);
	put_u32(j, "serial", tb[PACKETWAY_A_ROUTE_SERIAL]);
	if (tb[PACKETWAY_A_ROUTE_VIA]) {
		via = json_array();
		p = mnl_attr_get_payload(tb[PACKETWAY_A_ROUTE_VIA]);
		n = mnl_attr_get_payload_len(tb[PACKETWAY_A_ROUTE_VIA]) / sizeof(addr);
		for (i = 0; i < n; i++) {
			memcpy(&addr, p + i * sizeof(addr), sizeof(addr));
			json_array_append_new(via, j_addr(addr));
		}
		json_object_set_new(j, "via", via);
	}
	if (tb[PACKETWAY_A_ROUTE_L2RH])
		json_object_set_new(j, "l2rh",
				    j_hex(mnl_attr_get_payload(tb[PACKETWAY_A_ROUTE_L2RH]),
					  mnl_attr_get_payload_len(tb[PACKETWAY_A_ROUTE_L2RH])));
	json_object_set_new(j, "static", json_boolean(!!tb[PACKETWAY_A_ROUTE_STATIC]));
	json_object_set_new(j, "best", json_boolean(!!tb[PACKETWAY_A_ROUTE_BEST]));
	return j;
}

/* an event about a router or a route, or NULL */
json_t *router_event(const struct nlmsghdr *h, const char **what, const char **action)
{
	const struct genlmsghdr *gh = mnl_nlmsg_get_payload(h);
	const struct nlattr *a, *tb[ATTRS];

	mnl_attr_for_each(a, h, sizeof(*gh)) {
		if (mnl_attr_get_type(a) == PACKETWAY_A_ROUTER) {
			*what = "router";
			*action = gh->cmd == PACKETWAY_CMD_ROUTER_DEL ? "del" : "new";
			return router_json(a);
		}
		if (mnl_attr_get_type(a) == PACKETWAY_A_ROUTE) {
			index_attrs(a, tb);
			*what = "route";
			*action = tb[PACKETWAY_A_ROUTE_GONE] ? "del" : "new";
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
	[PW_CAPA_POETS] = "poets",
};

/* what CAPA and LADR records of a node say */
static void records_json(json_t *j, const uint8_t *p, size_t len)
{
	json_t *can = json_array(), *groups = json_array();
	size_t off, size, end, i;
	char num[16];

	for (off = 0; off + PW_RRP_HDR_LEN <= len; off += size) {
		const uint8_t *body = p + off + PW_RRP_OFF_BODY;

		size = PW_RRP_HDR_LEN + 8 * (p[off + PW_RRP_OFF_RL] << 8 |
					     p[off + PW_RRP_OFF_RL + 1]);
		if (off + size > len || p[off + PW_RRP_OFF_PL] > size)
			break;
		end = size - PW_RRP_OFF_BODY - p[off + PW_RRP_OFF_PL];
		if (p[off] == PW_RRP_CAPA) {
			snprintf(num, sizeof(num), "%u", body[0]);
			json_array_append_new(can, json_string(body[0] < N(capas) &&
							       capas[body[0]] ?
							       capas[body[0]] : num));
		}
		for (i = 0; p[off] == PW_RRP_LADR && i + 4 <= end; i += 4)
			json_array_append_new(groups, j_addr(body[i + 1] << 16 |
							     body[i + 2] << 8 | body[i + 3]));
	}
	json_object_set_new(j, "can", can);
	json_object_set_new(j, "groups", groups);
}

static json_t *node_json(const struct nlattr *nest)
{
	const struct nlattr *tb[ATTRS];
	json_t *j = json_object();

	index_attrs(nest, tb);
	put_addr(j, "addr", tb[PACKETWAY_A_NODE_ADDR]);
	if (tb[PACKETWAY_A_NODE_NAME])
		json_object_set_new(j, "name",
				    json_string(mnl_attr_get_str(tb[PACKETWAY_A_NODE_NAME])));
	put_u32(j, "san", tb[PACKETWAY_A_NODE_SAN]);
	json_object_set_new(j, "local", json_boolean(!!tb[PACKETWAY_A_NODE_LOCAL]));
	if (tb[PACKETWAY_A_NODE_RECORDS])
		records_json(j, mnl_attr_get_payload(tb[PACKETWAY_A_NODE_RECORDS]),
			     mnl_attr_get_payload_len(tb[PACKETWAY_A_NODE_RECORDS]));
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

/* a request with @text (a name, or the number of a SAN), or a dump of everything */
static int show(int cmd, int flags, int nest_type, int attr, const char *text, bool stats)
{
	char buf[1024] __attribute__((aligned(8)));
	struct nlattr *nest;
	struct nlmsghdr *h;
	uint32_t san = 0;
	struct genl g;
	int err;

	if (text && cmd != PACKETWAY_CMD_ROUTER_GET && parse_u32(text, &san))
		return usage("\"%s\" is not the number of a SAN", text);
	err = genl_open(&g);
	if (err)
		return err;
	h = genl_request(&g, buf, cmd, flags);
	if (text) {
		nest = mnl_attr_nest_start(h, nest_type);
		if (cmd == PACKETWAY_CMD_ROUTER_GET)
			mnl_attr_put_strz(h, attr, text);
		else
			mnl_attr_put_u32(h, attr, san);
		mnl_attr_nest_end(h, nest);
	}
	out_begin(false);
	err = nl_do(&g.nl, h, show_cb, &stats, text ? text : "dump");
	if (!err)
		out_end();
	nl_close(&g.nl);
	return err;
}

static int router_show(int argc, char **argv)
{
	const char *name = NULL;
	bool stats = false;
	int i = 0;

	while (i < argc) {
		if (flagword(argc, argv, &i, "stats"))
			stats = true;
		else if (!name)
			name = argv[i++];
		else
			return usage("router show: what is \"%s\"?", argv[i]);
	}
	return show(PACKETWAY_CMD_ROUTER_GET, name ? 0 : NLM_F_DUMP, PACKETWAY_A_ROUTER,
		    PACKETWAY_A_ROUTER_NAME, name, stats);
}

/* "[san] N" */
static int which_san(int argc, char **argv, const char **san)
{
	int i = 0;

	*san = NULL;
	if (i < argc && !keyword(argc, argv, &i, "san", san))
		*san = argv[i++];
	return i == argc ? EX_OK_ : usage("what is \"%s\"?", argv[i]);
}

static int route_show(int argc, char **argv)
{
	const char *san;

	return which_san(argc, argv, &san) ?:
	       show(PACKETWAY_CMD_ROUTE_GET, NLM_F_DUMP, PACKETWAY_A_ROUTE,
		    PACKETWAY_A_ROUTE_SAN, san, false);
}

static int name_show(int argc, char **argv)
{
	const char *san;

	return which_san(argc, argv, &san) ?:
	       show(PACKETWAY_CMD_NODE_GET, NLM_F_DUMP, PACKETWAY_A_NODE, PACKETWAY_A_NODE_SAN,
		    san, false);
}

/* Routes by hand -------------------------------------------------------------- */

/* "ADDR" or "FIRST-LAST" */
static int parse_range(const char *text, uint32_t *first, uint32_t *last)
{
	char buf[64], *dash;

	snprintf(buf, sizeof(buf), "%s", text);
	dash = strchr(buf, '-');
	if (dash)
		*dash++ = 0;
	if (parse_addr(buf, first) || (dash && parse_addr(dash, last)))
		return -EINVAL;
	if (!dash)
		*last = *first;
	return 0;
}

static int route_change(int cmd, int argc, char **argv)
{
	uint32_t san = 0, first = 0, last = 0, hr = 0, quality = 0, mtu = 0;
	char buf[1024] __attribute__((aligned(8)));
	const char *v, *to = NULL, *via = NULL;
	struct nlattr *nest;
	struct nlmsghdr *h;
	bool have_san = false;
	struct genl g;
	int i = 0, err;

	while (i < argc) {
		if (keyword(argc, argv, &i, "san", &v)) {
			if (parse_u32(v, &san))
				return usage("san: \"%s\" is not a number", v);
			have_san = true;
		} else if (keyword(argc, argv, &i, "via", &v)) {
			if (parse_addr(v, &hr))
				return usage("via: \"%s\" is not an address", v);
			via = v;
		} else if (keyword(argc, argv, &i, "quality", &v)) {
			if (parse_u32(v, &quality))
				return usage("quality: \"%s\" is not a number", v);
		} else if (keyword(argc, argv, &i, "mtu", &v)) {
			if (parse_u32(v, &mtu))
				return usage("mtu: \"%s\" is not a number", v);
		} else if (!to && !parse_range(argv[i], &first, &last)) {
			to = argv[i++];
		} else {
			return usage("route: what is \"%s\"?", argv[i]);
		}
	}
	if (!to || !via || !have_san)
		return usage("route: ADDR[-LAST] san N via HALF-ROUTER");
	err = genl_open(&g);
	if (err)
		return err;
	h = genl_request(&g, buf, cmd, 0);
	nest = mnl_attr_nest_start(h, PACKETWAY_A_ROUTE);
	mnl_attr_put_u32(h, PACKETWAY_A_ROUTE_SAN, san);
	mnl_attr_put_u32(h, PACKETWAY_A_ROUTE_FIRST, first);
	mnl_attr_put_u32(h, PACKETWAY_A_ROUTE_LAST, last);
	mnl_attr_put_u32(h, PACKETWAY_A_ROUTE_HR, hr);
	mnl_attr_put_u32(h, PACKETWAY_A_ROUTE_QUALITY, quality);
	mnl_attr_put_u32(h, PACKETWAY_A_ROUTE_MTU, mtu);
	mnl_attr_nest_end(h, nest);
	err = nl_do(&g.nl, h, NULL, NULL, to);
	nl_close(&g.nl);
	return err;
}

static int route_add(int argc, char **argv)
{
	return route_change(PACKETWAY_CMD_ROUTE_NEW, argc, argv);
}

static int route_del(int argc, char **argv)
{
	return route_change(PACKETWAY_CMD_ROUTE_DEL, argc, argv);
}

/* Verbs ----------------------------------------------------------------------- */

int cmd_router(int argc, char **argv)
{
	static const struct verb v[] = {
		{ "show", router_show, "[NAME] [stats]", "routers of the namespace, or one" },
		{ "add", router_add, "NAME san A[:PORT] [mtu N] san B[:PORT] [mtu N] |\n"
		  "                   NAME san A[:PORT] trunk udp LOCAL:PORT REMOTE:PORT KEY |\n"
		  "                   NAME san A[:PORT] trunk dev ETH [id N] KEY",
		  "two half-routers; with a trunk the other one is on another host.\n"
		  "        KEY: secret HEX | secret-file FILE | insecure | nothing on one's own link\n"
		  "        pwctl router add ab san 1:15 san 2:15\n"
		  "        pwctl router add t san 1 trunk udp 10.0.0.1:7777 10.0.0.2:7777 secret-file k\n"
		  "        pwctl router add t san 1 trunk dev eth0" },
		{ "del", router_del, "NAME", "delete it; routes through it are withdrawn" },
	};

	return dispatch("router", v, N(v), argc, argv);
}

int cmd_route(int argc, char **argv)
{
	static const struct verb v[] = {
		{ "show", route_show, "[san N]", "ways that half-routers know, or of one SAN" },
		{ "add", route_add, "ADDR[-LAST] san N via HALF-ROUTER [quality N] [mtu N]",
		  "a way by hand; quality 0 is best, learnt ways have 1 and more\n"
		  "        pwctl route add 00:03:01-00:03:10 san 1 via 00:01:10" },
		{ "del", route_del, "ADDR[-LAST] san N via HALF-ROUTER", "delete one made by hand" },
	};

	return dispatch("route", v, N(v), argc, argv);
}

int cmd_name(int argc, char **argv)
{
	static const struct verb v[] = {
		{ "show", name_show, "[san N]",
		  "nodes that half-routers know: addresses, names, what they can do" },
	};

	return dispatch("name", v, N(v), argc, argv);
}

/* by asking the kernel that has the SAN */
static int resolve_san(const char *what, uint32_t san)
{
	char buf[1024] __attribute__((aligned(8)));
	struct nlattr *nest;
	struct nlmsghdr *h;
	bool stats = false;
	struct genl g;
	uint32_t addr;
	int err;

	err = genl_open(&g);
	if (err)
		return err;
	h = genl_request(&g, buf, PACKETWAY_CMD_RESOLVE, 0);
	nest = mnl_attr_nest_start(h, PACKETWAY_A_NODE);
	mnl_attr_put_u32(h, PACKETWAY_A_NODE_SAN, san);
	if (parse_addr(what, &addr))
		mnl_attr_put_strz(h, PACKETWAY_A_NODE_NAME, what);
	else
		mnl_attr_put_u32(h, PACKETWAY_A_NODE_ADDR, addr);
	mnl_attr_nest_end(h, nest);
	out_begin(false);
	err = nl_do(&g.nl, h, show_cb, &stats, what);
	if (!err)
		out_end();
	nl_close(&g.nl);
	return err;
}

/* by asking half-routers, from a station */
static int resolve_dev(const char *what, const char *dev, int timeout)
{
	struct source_route r;
	struct rrp_node node[16];
	struct pwl_sock *k;
	struct station st;
	uint32_t addr = 0;
	json_t *j;
	int i, n;

	n = pick_station(dev, &st);
	if (n)
		return n;
	n = pwl_sock_open(&k, st.name);
	if (n)
		return fail(n, "%s", st.name);
	n = rrp_tell(k, 0, parse_addr(what, &addr) ? what : NULL, addr, node, N(node), timeout);
	if (n <= 0) {
		pwl_sock_close(k);
		fail(0, "%s: %s", what, n == -ETIMEDOUT ? "no half-router answers" :
		     "no half-router of this SAN knows the node");
		return n == -ETIMEDOUT ? EX_SILENCE_ : EX_REFUSED_;
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
	return EX_OK_;
}

int cmd_resolve(int argc, char **argv)
{
	const char *what = NULL, *v, *dev = NULL;
	uint32_t san = 0, timeout = 1000;
	bool by_san = false;
	int i = 0;

	while (i < argc) {
		if (keyword(argc, argv, &i, "san", &v)) {
			if (parse_u32(v, &san))
				return usage("san: \"%s\" is not a number", v);
			by_san = true;
		} else if (keyword(argc, argv, &i, "timeout", &v)) {
			if (parse_u32(v, &timeout))
				return usage("timeout: \"%s\" is not a number", v);
		} else if (keyword(argc, argv, &i, "dev", &dev)) {
			continue;
		} else if (flagword(argc, argv, &i, "help")) {
			printf("  pwctl resolve NAME|ADDR [dev NAME] [timeout MS]\n"
			       "        the half-routers of a station's SAN are asked (TELL, GVL2)\n"
			       "  pwctl resolve NAME|ADDR san N\n"
			       "        all ways from a SAN of this namespace; the kernel is asked\n"
			       "        pwctl resolve b1 san 1\n");
			return EX_OK_;
		} else if (!what) {
			what = argv[i++];
		} else {
			return usage("resolve: what is \"%s\"?", argv[i]);
		}
	}
	if (!what)
		return usage("resolve: an address or a name");
	if (by_san && dev)
		return usage("resolve: a SAN or a station");
	return by_san ? resolve_san(what, san) : resolve_dev(what, dev, timeout);
}
