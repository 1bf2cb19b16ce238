/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink family "packetway" by hand, for the C selftests: SANs, routers,
 * routes, nodes. Uses struct pw_nl of pwtest.h; messages begin with a genlmsghdr
 * where rtnetlink has an ifinfomsg.
 */
#ifndef PWROUTER_H
#define PWROUTER_H

#include "pwtest.h"

#include <linux/genetlink.h>
#include <linux/packetway_netlink.h>

struct pw_genl {
	struct pw_nl nl;
	int family;
	int group;		/* of the events */
};

static PW_UNUSED void pw_genl_init(struct pw_req *r, int family, int cmd, int flags)
{
	struct genlmsghdr *g;

	memset(r, 0, sizeof(*r));
	r->n.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	r->n.nlmsg_type = family;
	r->n.nlmsg_flags = NLM_F_REQUEST | flags;
	g = NLMSG_DATA(&r->n);
	g->cmd = cmd;
	g->version = 1;
}

static PW_UNUSED struct rtattr *pw_genl_nest(struct pw_req *r, int type)
{
	return pw_req_put(r, type | NLA_F_NESTED, NULL, 0);
}

/* attribute @type in @len bytes at @a */
static PW_UNUSED struct rtattr *pw_attr(void *at, int len, int type)
{
	struct rtattr *a = at;

	for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
		if ((a->rta_type & NLA_TYPE_MASK) == type)
			return a;
	return NULL;
}

static PW_UNUSED struct rtattr *pw_attr_in(struct rtattr *nest, int type)
{
	return nest ? pw_attr(RTA_DATA(nest), RTA_PAYLOAD(nest), type) : NULL;
}

static PW_UNUSED uint32_t pw_attr_u32(struct rtattr *nest, int type)
{
	struct rtattr *a = pw_attr_in(nest, type);

	return a ? *(uint32_t *)RTA_DATA(a) : 0;
}

/* top-level attribute of a message */
static PW_UNUSED struct rtattr *pw_genl_attr(struct nlmsghdr *h, int type)
{
	return pw_attr((char *)NLMSG_DATA(h) + GENL_HDRLEN,
		       h->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN), type);
}

static PW_UNUSED int pw_genl_open(struct pw_genl *g, int ns)
{
	struct timeval tv = { .tv_sec = 60 };
	struct rtattr *a, *grp;
	struct pw_req r;
	int one = 1, left;

	memset(g, 0, sizeof(*g));
	g->nl.fd = pw_ns_socket(ns, AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (g->nl.fd < 0)
		return -1;
	setsockopt(g->nl.fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(g->nl.fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	setsockopt(g->nl.fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	pw_genl_init(&r, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	pw_req_put(&r, CTRL_ATTR_FAMILY_NAME, PACKETWAY_GENL_NAME, sizeof(PACKETWAY_GENL_NAME));
	if (pw_nl_talk(&g->nl, &r))
		return -1;
	a = pw_genl_attr((void *)g->nl.buf, CTRL_ATTR_FAMILY_ID);
	if (!a)
		return -1;
	g->family = *(uint16_t *)RTA_DATA(a);
	a = pw_genl_attr((void *)g->nl.buf, CTRL_ATTR_MCAST_GROUPS);
	if (a) {
		left = RTA_PAYLOAD(a);
		for (grp = RTA_DATA(a); RTA_OK(grp, left); grp = RTA_NEXT(grp, left))
			g->group = pw_attr_u32(grp, CTRL_ATTR_MCAST_GRP_ID);
	}
	return 0;
}

static PW_UNUSED int pw_san_cmd(struct pw_genl *g, int cmd, uint32_t id, long ports, long engine)
{
	struct rtattr *nest;
	struct pw_req r;

	pw_genl_init(&r, g->family, cmd, NLM_F_ACK);
	nest = pw_genl_nest(&r, PACKETWAY_A_SAN);
	pw_req_u32(&r, PACKETWAY_A_SAN_ID, id);
	if (ports >= 0)
		pw_req_u32(&r, PACKETWAY_A_SAN_PORTS, ports);
	if (engine >= 0)
		pw_req_u32(&r, PACKETWAY_A_SAN_ENGINE, engine);
	pw_req_end(&r, nest);
	return pw_nl_talk(&g->nl, &r);
}

/* -1: not given */
struct pw_half_req {
	long san, port, mtu;
};

static PW_UNUSED int pw_router_add(struct pw_genl *g, const char *name, struct pw_half_req a,
				   struct pw_half_req b)
{
	struct pw_half_req h[2] = { a, b };
	struct rtattr *nest, *half;
	struct pw_req r;
	int i;

	pw_genl_init(&r, g->family, PACKETWAY_CMD_ROUTER_NEW, NLM_F_ACK);
	nest = pw_genl_nest(&r, PACKETWAY_A_ROUTER);
	if (name)
		pw_req_put(&r, PACKETWAY_A_ROUTER_NAME, name, strlen(name) + 1);
	for (i = 0; i < 2; i++) {
		half = pw_genl_nest(&r, PACKETWAY_A_ROUTER_HALF);
		if (h[i].san >= 0)
			pw_req_u32(&r, PACKETWAY_A_HALF_SAN, h[i].san);
		if (h[i].port >= 0)
			pw_req_u32(&r, PACKETWAY_A_HALF_PORT, h[i].port);
		if (h[i].mtu >= 0)
			pw_req_u32(&r, PACKETWAY_A_HALF_MTU, h[i].mtu);
		pw_req_end(&r, half);
	}
	pw_req_end(&r, nest);
	return pw_nl_talk(&g->nl, &r);
}

static PW_UNUSED int pw_router_cmd(struct pw_genl *g, int cmd, const char *name)
{
	struct rtattr *nest;
	struct pw_req r;

	pw_genl_init(&r, g->family, cmd, cmd == PACKETWAY_CMD_ROUTER_GET ? 0 : NLM_F_ACK);
	nest = pw_genl_nest(&r, PACKETWAY_A_ROUTER);
	pw_req_put(&r, PACKETWAY_A_ROUTER_NAME, name, strlen(name) + 1);
	pw_req_end(&r, nest);
	return pw_nl_talk(&g->nl, &r);
}

static PW_UNUSED int pw_router_del(struct pw_genl *g, const char *name)
{
	return pw_router_cmd(g, PACKETWAY_CMD_ROUTER_DEL, name);
}

/* half @which of a router, in the answer that is in g->nl.buf; NULL if there is none */
static PW_UNUSED struct rtattr *pw_router_half(struct pw_genl *g, const char *name, int which)
{
	struct rtattr *nest, *a;
	int left;

	if (pw_router_cmd(g, PACKETWAY_CMD_ROUTER_GET, name))
		return NULL;
	nest = pw_genl_attr((void *)g->nl.buf, PACKETWAY_A_ROUTER);
	if (!nest)
		return NULL;
	left = RTA_PAYLOAD(nest);
	for (a = RTA_DATA(nest); RTA_OK(a, left); a = RTA_NEXT(a, left))
		if ((a->rta_type & NLA_TYPE_MASK) == PACKETWAY_A_ROUTER_HALF && !which--)
			return a;
	return NULL;
}

static PW_UNUSED uint64_t pw_half_stat(struct pw_genl *g, const char *name, int which, int stat)
{
	struct rtattr *half = pw_router_half(g, name, which), *a;
	uint64_t v = 0;

	a = pw_attr_in(pw_attr_in(half, PACKETWAY_A_HALF_STATS), stat);
	if (a)
		memcpy(&v, RTA_DATA(a), sizeof(v));
	return v;
}

/* RESOLVE; 0 or a negative errno, the answer is in g->nl.buf */
static PW_UNUSED int pw_resolve(struct pw_genl *g, uint32_t san, uint32_t addr, const char *name)
{
	struct rtattr *nest;
	struct pw_req r;

	pw_genl_init(&r, g->family, PACKETWAY_CMD_RESOLVE, 0);
	nest = pw_genl_nest(&r, PACKETWAY_A_NODE);
	pw_req_u32(&r, PACKETWAY_A_NODE_SAN, san);
	if (name)
		pw_req_put(&r, PACKETWAY_A_NODE_NAME, name, strlen(name) + 1);
	else
		pw_req_u32(&r, PACKETWAY_A_NODE_ADDR, addr);
	pw_req_end(&r, nest);
	return pw_nl_talk(&g->nl, &r);
}

/* a dump: @fn for each message; number of messages or a negative errno */
static PW_UNUSED int pw_genl_dump(struct pw_genl *g, int cmd, int outer, int inner, long san,
				  void (*fn)(struct nlmsghdr *h, void *arg), void *arg)
{
	static char buf[32768];
	struct nlmsghdr *h;
	struct rtattr *nest;
	struct pw_req r;
	int len, n = 0;

	pw_genl_init(&r, g->family, cmd, NLM_F_DUMP);
	if (san >= 0) {
		nest = pw_genl_nest(&r, outer);
		pw_req_u32(&r, inner, san);
		pw_req_end(&r, nest);
	}
	r.n.nlmsg_seq = ++g->nl.seq;
	if (send(g->nl.fd, &r, r.n.nlmsg_len, 0) < 0)
		return -errno;
	for (;;) {
		len = recv(g->nl.fd, buf, sizeof(buf), 0);
		if (len < 0)
			return -errno;
		for (h = (void *)buf; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_seq != g->nl.seq)
				continue;
			if (h->nlmsg_type == NLMSG_DONE)
				return n;
			if (h->nlmsg_type == NLMSG_ERROR)
				return ((struct nlmsgerr *)NLMSG_DATA(h))->error;
			n++;
			if (fn)
				fn(h, arg);
		}
	}
}

#endif
