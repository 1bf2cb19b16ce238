// SPDX-License-Identifier: GPL-2.0
/* Stations: rtnetlink. */
#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "pwctl.h"

struct stations {
	struct station *list;
	int n;
};

static bool parse_link(const struct nlmsghdr *h, struct station *st)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(h);
	const struct nlattr *a, *b, *c, *data = NULL;
	bool ours = false;

	memset(st, 0, sizeof(*st));
	st->ifindex = ifi->ifi_index;
	st->up = ifi->ifi_flags & IFF_UP;
	mnl_attr_for_each(a, h, sizeof(*ifi)) {
		switch (mnl_attr_get_type(a)) {
		case IFLA_IFNAME:
			snprintf(st->name, sizeof(st->name), "%s", mnl_attr_get_str(a));
			break;
		case IFLA_MTU:
			st->mtu = mnl_attr_get_u32(a);
			break;
		case IFLA_STATS64:
			/* older kernels have fewer counters */
			memcpy(&st->link, mnl_attr_get_payload(a),
			       mnl_attr_get_payload_len(a) < sizeof(st->link) ?
			       mnl_attr_get_payload_len(a) : sizeof(st->link));
			break;
		case IFLA_LINKINFO:
			mnl_attr_for_each_nested(b, a) {
				if (mnl_attr_get_type(b) == IFLA_INFO_KIND)
					ours = !strncmp(mnl_attr_get_payload(b), PACKETWAY_KIND,
							mnl_attr_get_payload_len(b));
				if (mnl_attr_get_type(b) == IFLA_INFO_DATA)
					data = b;
			}
			break;
		}
	}
	if (!ours || !data)
		return false;
	mnl_attr_for_each_nested(c, data) {
		switch (mnl_attr_get_type(c)) {
		case IFLA_PACKETWAY_SAN:
			st->san = mnl_attr_get_u32(c);
			break;
		case IFLA_PACKETWAY_PORT:
			st->port = mnl_attr_get_u32(c);
			break;
		case IFLA_PACKETWAY_ADDR:
			st->addr = mnl_attr_get_u32(c);
			break;
		case IFLA_PACKETWAY_ORDER:
			st->order = mnl_attr_get_u32(c);
			break;
		}
	}
	return true;
}

static int station_cb(const struct nlmsghdr *h, void *data)
{
	struct stations *s = data;
	struct station st, *more;

	if (h->nlmsg_type != RTM_NEWLINK || !parse_link(h, &st))
		return MNL_CB_OK;
	more = realloc(s->list, (s->n + 1) * sizeof(st));
	if (!more)
		return MNL_CB_ERROR;
	s->list = more;
	s->list[s->n++] = st;
	return MNL_CB_OK;
}

int stations(struct station **list)
{
	char buf[512] __attribute__((aligned(8)));
	struct stations s = {};
	struct nlmsghdr *h;
	struct nlattr *info;
	struct nl nl;
	int err;

	*list = NULL;
	err = nl_open(&nl, NETLINK_ROUTE);
	if (err)
		return err;
	h = nl_request(&nl, buf, RTM_GETLINK, NLM_F_DUMP);
	mnl_nlmsg_put_extra_header(h, sizeof(struct ifinfomsg));
	info = mnl_attr_nest_start(h, IFLA_LINKINFO);
	mnl_attr_put_str(h, IFLA_INFO_KIND, PACKETWAY_KIND);
	mnl_attr_nest_end(h, info);
	err = nl_talk(&nl, h, station_cb, &s);
	nl_close(&nl);
	/* without the module the kind is unknown, and there are no stations */
	if (err && err != -EOPNOTSUPP) {
		free(s.list);
		return err;
	}
	*list = s.list;
	return s.n;
}

enum status pick_station(const char *name, struct station *st)
{
	enum status ret = ST_OK;
	struct station *list;
	int n, i;

	n = stations(&list);
	if (n < 0)
		return fail(n, "stations");
	for (i = 0; name && i < n; i++)
		if (!strcmp(list[i].name, name))
			break;
	if (name && i == n)
		ret = fail(0, "there is no station %s in this namespace", name);
	else if (!n)
		ret = fail(0, "there is no station in this namespace");
	else if (!name && n > 1)
		ret = usage("there are several stations; add 'dev NAME'");
	else
		*st = list[name ? i : 0];
	free(list);
	return ret;
}

enum status open_sock(const char *dev, struct pwl_sock **k, struct station *st)
{
	enum status ret = pick_station(dev, st);
	int err;

	if (ret)
		return ret;
	err = pwl_sock_open(k, st->name);
	return err ? fail(err, "%s", st->name) : ST_OK;
}

#define ORDERS "as-sent|big|little"

json_t *station_json(const struct station *st)
{
	json_t *j = json_object();
	const char *order;
	int len = choice(ORDERS, st->order, &order);

	json_object_set_new(j, "ifname", json_string(st->name));
	json_object_set_new(j, "ifindex", json_integer(st->ifindex));
	json_object_set_new(j, "san", json_integer(st->san));
	json_object_set_new(j, "port", json_integer(st->port));
	json_object_set_new(j, "addr", j_addr(st->addr));
	json_object_set_new(j, "mtu", json_integer(st->mtu));
	json_object_set_new(j, "order", len ? json_stringn(order, len) : json_string("?"));
	json_object_set_new(j, "state", json_string(st->up ? "up" : "down"));
	return j;
}

json_t *link_event(const struct nlmsghdr *h, const char **action)
{
	struct station st;

	if ((h->nlmsg_type != RTM_NEWLINK && h->nlmsg_type != RTM_DELLINK) || !parse_link(h, &st))
		return NULL;
	*action = h->nlmsg_type == RTM_NEWLINK ? "set" : "del";
	return station_json(&st);
}

struct station_args {
	const char *name;
	long san, port, mtu, order;
	bool up;
};

#define AT(m) offsetof(struct station_args, m)

static enum status station_show(const struct verb *v, int argc, char **argv)
{
	struct station_args a = {};
	struct station *list, st;
	enum status ret;
	int n, i;

	ret = words(v, argc, argv, &a);
	if (!ret && a.name)
		ret = pick_station(a.name, &st);
	if (ret)
		return ret;
	if (a.name)
		return out_one("station", station_json(&st));
	n = stations(&list);
	if (n < 0)
		return fail(n, "stations");
	out_begin(false);
	for (i = 0; i < n; i++)
		out_item("station", station_json(&list[i]));
	out_end();
	free(list);
	return ST_OK;
}

enum status station_add(struct nl *nl, const char *name, long san, long port, long order, long mtu,
			int netns)
{
	char buf[NL_REQUEST] __attribute__((aligned(8)));
	struct nlattr *info, *data;
	struct nlmsghdr *h;
	enum status st;

	h = nl_request(nl, buf, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	mnl_nlmsg_put_extra_header(h, sizeof(struct ifinfomsg));
	if (mtu >= 0)
		mnl_attr_put_u32(h, IFLA_MTU, mtu);
	if (netns >= 0)
		mnl_attr_put_u32(h, IFLA_NET_NS_FD, netns);
	info = mnl_attr_nest_start(h, IFLA_LINKINFO);
	mnl_attr_put_str(h, IFLA_INFO_KIND, PACKETWAY_KIND);
	data = mnl_attr_nest_start(h, IFLA_INFO_DATA);
	if (san >= 0)
		mnl_attr_put_u32(h, IFLA_PACKETWAY_SAN, san);
	if (port >= 0)
		mnl_attr_put_u32(h, IFLA_PACKETWAY_PORT, port);
	if (order >= 0)
		mnl_attr_put_u32(h, IFLA_PACKETWAY_ORDER, order);
	mnl_attr_nest_end(h, data);
	mnl_attr_nest_end(h, info);
	st = name ? nl_put_text(h, IFLA_IFNAME, name) : ST_OK;
	return st ? st : nl_do(nl, h, NULL, NULL, name ? name : "station");
}

static enum status change_link(struct nl *nl, int type, const char *name, unsigned int flags,
			       const char *alias)
{
	char buf[NL_REQUEST] __attribute__((aligned(8)));
	struct ifinfomsg *ifi;
	struct nlmsghdr *h;
	enum status st;

	h = nl_request(nl, buf, type, 0);
	ifi = mnl_nlmsg_put_extra_header(h, sizeof(*ifi));
	ifi->ifi_flags = flags;
	ifi->ifi_change = flags;
	st = nl_put_text(h, IFLA_IFNAME, name);
	if (!st && alias)
		st = nl_put_text(h, IFLA_IFALIAS, alias);
	return st ? st : nl_do(nl, h, NULL, NULL, name);
}

enum status link_up(struct nl *nl, const char *name)
{
	return change_link(nl, RTM_NEWLINK, name, IFF_UP, NULL);
}

enum status link_del(struct nl *nl, const char *name)
{
	return change_link(nl, RTM_DELLINK, name, 0, NULL);
}

enum status link_alias(struct nl *nl, const char *name, const char *alias)
{
	return change_link(nl, RTM_NEWLINK, name, 0, alias);
}

/* into another network namespace, a file descriptor */
enum status link_move(struct nl *nl, const char *name, int netns)
{
	char buf[NL_REQUEST] __attribute__((aligned(8)));
	struct nlmsghdr *h;
	enum status st;

	h = nl_request(nl, buf, RTM_NEWLINK, 0);
	mnl_nlmsg_put_extra_header(h, sizeof(struct ifinfomsg));
	mnl_attr_put_u32(h, IFLA_NET_NS_FD, netns);
	st = nl_put_text(h, IFLA_IFNAME, name);
	return st ? st : nl_do(nl, h, NULL, NULL, name);
}

enum status link_addr_add(struct nl *nl, uint32_t ifindex, const char *text)
{
	char buf[256] __attribute__((aligned(8))), ip[64];
	unsigned char bytes[16];
	struct ifaddrmsg *ifa;
	uint32_t plen = 0;
	struct nlmsghdr *h;
	char *slash;
	int family;

	snprintf(ip, sizeof(ip), "%s", text);
	slash = strchr(ip, '/');
	if (slash)
		*slash = 0;
	family = strchr(ip, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(family, ip, bytes) != 1 || (slash && parse_u32(slash + 1, &plen)) ||
	    plen > (family == AF_INET ? 32 : 128))
		return usage("'%s' is not an IP address with a prefix length", text);
	h = nl_request(nl, buf, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
	ifa = mnl_nlmsg_put_extra_header(h, sizeof(*ifa));
	ifa->ifa_family = family;
	ifa->ifa_prefixlen = slash ? plen : family == AF_INET ? 32 : 128;
	ifa->ifa_index = ifindex;
	if (family == AF_INET6) {
		ifa->ifa_flags = IFA_F_NODAD;
		mnl_attr_put_u32(h, IFA_FLAGS, IFA_F_NODAD);
	}
	mnl_attr_put(h, IFA_LOCAL, family == AF_INET ? 4 : 16, bytes);
	mnl_attr_put(h, IFA_ADDRESS, family == AF_INET ? 4 : 16, bytes);
	return nl_do(nl, h, NULL, NULL, text);
}

/* the bytes of an IP address with or without a prefix length; its family, or 0 */
static int parse_host(const char *text, uint8_t *bytes)
{
	int family;
	char ip[64];

	snprintf(ip, sizeof(ip), "%.*s", (int)strcspn(text, "/"), text);
	family = strchr(ip, ':') ? AF_INET6 : AF_INET;
	return inet_pton(family, ip, bytes) == 1 ? family : 0;
}

/*
 * TCP to this IP address acknowledges at once, and sends again after a minute only: it has no timers
 * that expire where nothing is lost.
 */
enum status link_route_quiet(struct nl *nl, uint32_t ifindex, const char *text)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlattr *metrics;
	struct nlmsghdr *h;
	uint8_t bytes[16];
	struct rtmsg *rt;
	int family = parse_host(text, bytes);

	if (!family)
		return usage("'%s' is not an IP address", text);
	h = nl_request(nl, buf, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE);
	rt = mnl_nlmsg_put_extra_header(h, sizeof(*rt));
	rt->rtm_family = family;
	rt->rtm_dst_len = family == AF_INET ? 32 : 128;
	rt->rtm_table = RT_TABLE_MAIN;
	rt->rtm_protocol = RTPROT_STATIC;
	rt->rtm_scope = RT_SCOPE_LINK;
	rt->rtm_type = RTN_UNICAST;
	mnl_attr_put(h, RTA_DST, family == AF_INET ? 4 : 16, bytes);
	mnl_attr_put_u32(h, RTA_OIF, ifindex);
	metrics = mnl_attr_nest_start(h, RTA_METRICS);
	/* the kernel takes a minimum only if it is locked */
	mnl_attr_put_u32(h, RTAX_LOCK, 1U << RTAX_RTO_MIN);
	mnl_attr_put_u32(h, RTAX_RTO_MIN, 60000);
	mnl_attr_put_u32(h, RTAX_QUICKACK, 1);
	mnl_attr_nest_end(h, metrics);
	return nl_do(nl, h, NULL, NULL, text);
}

/* an IP address, with or without a prefix length, is that of PacketWay address @lladdr */
enum status link_neigh_add(struct nl *nl, int ifindex, const char *text, uint32_t lladdr)
{
	uint8_t bytes[16], ll[3] = { lladdr >> 16, lladdr >> 8, lladdr };
	int family = parse_host(text, bytes);
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *h;
	struct ndmsg *nd;

	if (!family)
		return usage("'%s' is not an IP address", text);
	h = nl_request(nl, buf, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
	nd = mnl_nlmsg_put_extra_header(h, sizeof(*nd));
	nd->ndm_family = family;
	nd->ndm_ifindex = ifindex;
	nd->ndm_state = NUD_PERMANENT;
	mnl_attr_put(h, NDA_DST, family == AF_INET ? 4 : 16, bytes);
	mnl_attr_put(h, NDA_LLADDR, sizeof(ll), ll);
	return nl_do(nl, h, NULL, NULL, text);
}

static enum status cmd_add(const struct verb *v, int argc, char **argv)
{
	struct station_args a = { .san = -1, .port = -1, .mtu = -1, .order = -1 };
	enum status st;
	struct nl nl;

	st = words(v, argc, argv, &a);
	if (!st)
		st = rtnl_open(&nl);
	if (st)
		return st;
	st = station_add(&nl, a.name, a.san, a.port, a.order, a.mtu, -1);
	if (!st && a.up)
		st = link_up(&nl, a.name);
	nl_close(&nl);
	return st;
}

static enum status cmd_del(const struct verb *v, int argc, char **argv)
{
	struct station_args a = {};
	struct station st;
	enum status ret;
	struct nl nl;

	ret = words(v, argc, argv, &a);
	/* only stations are deleted, not other devices */
	if (!ret)
		ret = pick_station(a.name, &st);
	if (!ret)
		ret = rtnl_open(&nl);
	if (ret)
		return ret;
	ret = link_del(&nl, st.name);
	nl_close(&nl);
	return ret;
}

static enum status take_order(void *to, char **values)
{
	const struct word w = { "order", ORDERS, W_CHOICE };
	struct station_args *a = to;
	uint32_t order = 0;
	enum status st = word_store(&order, &w, values);

	a->order = order;
	return st;
}

static const struct word which[] = { { NULL, "NAME", W_TEXT, AT(name) }, {} };
static const struct word one[] = { { NULL, "NAME", W_TEXT, AT(name), WORD_NEEDED }, {} };

static const struct word new_station[] = {
	{ NULL, "NAME", W_TEXT, AT(name), WORD_NEEDED },
	{ "san", "N", W_LONG, AT(san) },
	{ "port", "N", W_LONG, AT(port) },
	{ "order", ORDERS, W_CALL, .max = 1, .call = take_order },
	{ "mtu", "N", W_LONG, AT(mtu) },
	{ "up", NULL, W_FLAG, AT(up) },
	{}
};

const struct verb station_verbs[] = {
	{ "show", station_show, 0, which, "all stations of the namespace, or one" },
	{ "add", cmd_add, 0, new_station, "a station on a port, the next free one by default" },
	{ "del", cmd_del, 0, one, "delete a station" },
	{}
};
