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
	/* nobody has loaded the module: the kind is not known, and there are none */
	if (err && err != -EOPNOTSUPP) {
		free(s.list);
		return err;
	}
	*list = s.list;
	return s.n;
}

int pick_station(const char *name, struct station *st)
{
	struct station *list;
	int n, i, err = EX_OK_;

	n = stations(&list);
	if (n < 0)
		return fail(n, "stations");
	for (i = 0; name && i < n; i++)
		if (!strcmp(list[i].name, name))
			break;
	if (name && i == n)
		err = fail(0, "there is no station %s in this namespace", name);
	else if (!n)
		err = fail(0, "there is no station in this namespace");
	else if (!name && n > 1)
		err = usage("there are several stations; say `dev NAME`");
	else
		*st = list[name ? i : 0];
	free(list);
	return err;
}

static const char *const orders[] = { "as-sent", "big", "little" };

json_t *station_json(const struct station *st)
{
	json_t *j = json_object();

	json_object_set_new(j, "ifname", json_string(st->name));
	json_object_set_new(j, "ifindex", json_integer(st->ifindex));
	json_object_set_new(j, "san", json_integer(st->san));
	json_object_set_new(j, "port", json_integer(st->port));
	json_object_set_new(j, "addr", j_addr(st->addr));
	json_object_set_new(j, "mtu", json_integer(st->mtu));
	json_object_set_new(j, "order",
			    json_string(st->order < N(orders) ? orders[st->order] : "?"));
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

static int station_show(int argc, char **argv)
{
	struct station *list, st;
	int n, i;

	if (argc) {
		i = pick_station(argv[0], &st);
		if (i)
			return i;
		out_begin(false);
		out_item("station", station_json(&st));
		out_end();
		return EX_OK_;
	}
	n = stations(&list);
	if (n < 0)
		return fail(n, "stations");
	out_begin(false);
	for (i = 0; i < n; i++)
		out_item("station", station_json(&list[i]));
	out_end();
	free(list);
	return EX_OK_;
}

int station_add(struct nl *nl, const char *name, long san, long port, long order, long mtu,
		int netns)
{
	char buf[1024] __attribute__((aligned(8)));
	struct nlattr *info, *data;
	struct nlmsghdr *h;

	h = nl_request(nl, buf, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	mnl_nlmsg_put_extra_header(h, sizeof(struct ifinfomsg));
	if (name)
		mnl_attr_put_strz(h, IFLA_IFNAME, name);
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
	return nl_do(nl, h, NULL, NULL, name ? name : "station");
}

static int change_link(struct nl *nl, int type, const char *name, unsigned int flags)
{
	char buf[256] __attribute__((aligned(8)));
	struct ifinfomsg *ifi;
	struct nlmsghdr *h;

	h = nl_request(nl, buf, type, 0);
	ifi = mnl_nlmsg_put_extra_header(h, sizeof(*ifi));
	ifi->ifi_flags = flags;
	ifi->ifi_change = flags;
	mnl_attr_put_strz(h, IFLA_IFNAME, name);
	return nl_do(nl, h, NULL, NULL, name);
}

int station_up(struct nl *nl, const char *name)
{
	return change_link(nl, RTM_NEWLINK, name, IFF_UP);
}

int link_del(struct nl *nl, const char *name)
{
	return change_link(nl, RTM_DELLINK, name, 0);
}

int link_addr_add(struct nl *nl, uint32_t ifindex, const char *text)
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
		return usage("\"%s\" is not an IP address with its prefix length", text);
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

static int station_cmd_add(int argc, char **argv)
{
	uint32_t san = 0, port = 0, mtu = 0;
	long l_san = -1, l_port = -1, l_order = -1, l_mtu = -1;
	const char *name = NULL, *v;
	bool up = false;
	struct nl nl;
	int i = 0, k, err;

	while (i < argc) {
		if (keyword(argc, argv, &i, "san", &v)) {
			if (parse_u32(v, &san))
				return usage("san: \"%s\" is not a number", v);
			l_san = san;
		} else if (keyword(argc, argv, &i, "port", &v)) {
			if (parse_u32(v, &port))
				return usage("port: \"%s\" is not a number", v);
			l_port = port;
		} else if (keyword(argc, argv, &i, "mtu", &v)) {
			if (parse_u32(v, &mtu))
				return usage("mtu: \"%s\" is not a number", v);
			l_mtu = mtu;
		} else if (keyword(argc, argv, &i, "order", &v)) {
			for (k = 0; k < N(orders) && strcmp(orders[k], v); k++)
				;
			if (k == N(orders))
				return usage("order is as-sent, big or little");
			l_order = k;
		} else if (flagword(argc, argv, &i, "up")) {
			up = true;
		} else if (!name) {
			name = argv[i++];
		} else {
			return usage("station add: what is \"%s\"?", argv[i]);
		}
	}
	if (!name)
		return usage("station add: which name?");
	err = nl_open(&nl, NETLINK_ROUTE);
	if (err)
		return fail(err, "rtnetlink");
	err = station_add(&nl, name, l_san, l_port, l_order, l_mtu, -1);
	if (!err && up)
		err = station_up(&nl, name);
	nl_close(&nl);
	return err;
}

static int station_del(int argc, char **argv)
{
	struct station st;
	struct nl nl;
	int err;

	if (argc != 1)
		return usage("station del: which one?");
	/* nothing but stations is deleted by this name */
	err = pick_station(argv[0], &st);
	if (err)
		return err;
	err = nl_open(&nl, NETLINK_ROUTE);
	if (err)
		return fail(err, "rtnetlink");
	err = link_del(&nl, st.name);
	nl_close(&nl);
	return err;
}

int cmd_station(int argc, char **argv)
{
	static const struct verb v[] = {
		{ "show", station_show, "[NAME]", "all stations of the namespace, or one" },
		{ "add", station_cmd_add,
		  "NAME [san N] [port N] [order as-sent|big|little] [mtu N] [up]",
		  "a station on a port, the next free one by default" },
		{ "del", station_del, "NAME", "delete it" },
	};

	return dispatch("station", v, N(v), argc, argv);
}
