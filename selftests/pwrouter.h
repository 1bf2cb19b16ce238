/* SPDX-License-Identifier: GPL-2.0 */
/* SANs, routers, routes and nodes by generic netlink, for C selftests. */
#ifndef PWROUTER_H
#define PWROUTER_H

#include "pwgenl.h"

#include <arpa/inet.h>
#include <linux/veth.h>
#include <netinet/in.h>

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

/* @quality: of both halves; 0: not given */
static PW_UNUSED int pw_router_add_q(struct pw_genl *g, const char *name, struct pw_half_req a,
				     struct pw_half_req b, long quality)
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
		if (quality)
			pw_req_u32(&r, PACKETWAY_A_HALF_QUALITY, quality);
		pw_req_end(&r, half);
	}
	pw_req_end(&r, nest);
	return pw_nl_talk(&g->nl, &r);
}

static PW_UNUSED int pw_router_add(struct pw_genl *g, const char *name, struct pw_half_req a,
				   struct pw_half_req b)
{
	return pw_router_add_q(g, name, a, b, 0);
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

/* until @san knows a route to @addr; 0 or a negative errno */
static PW_UNUSED int pw_wait_route(struct pw_genl *g, uint32_t san, uint32_t addr)
{
	double end = pw_now() + SOON / 1000;
	int err;

	while ((err = pw_resolve(g, san, addr, NULL)) == -ENOENT && pw_now() < end)
		usleep(5000);
	return err;
}

/* a router whose peer half is behind a trunk */
struct pw_trunk_req {
	const char *name;
	uint32_t san;
	long port;			/* of the half, -1: not given */
	uint32_t local, remote;		/* IPv4; of a trunk by UDP */
	uint16_t local_port, remote_port;
	uint32_t dev, id;		/* of a trunk over a device; 0: by UDP */
	const uint8_t *key;		/* 32 bytes, or NULL */
	bool insecure;
};

static PW_UNUSED void pw_trunk_build(struct pw_genl *g, struct pw_req *r,
				     const struct pw_trunk_req *t)
{
	struct sockaddr_in me = { .sin_family = AF_INET, .sin_port = htons(t->local_port),
				  .sin_addr.s_addr = htonl(t->local) };
	struct sockaddr_in peer = { .sin_family = AF_INET, .sin_port = htons(t->remote_port),
				    .sin_addr.s_addr = htonl(t->remote) };
	struct rtattr *nest, *half, *trunk;

	pw_genl_init(r, g->family, PACKETWAY_CMD_ROUTER_NEW, NLM_F_ACK);
	nest = pw_genl_nest(r, PACKETWAY_A_ROUTER);
	pw_req_put(r, PACKETWAY_A_ROUTER_NAME, t->name, strlen(t->name) + 1);
	half = pw_genl_nest(r, PACKETWAY_A_ROUTER_HALF);
	pw_req_u32(r, PACKETWAY_A_HALF_SAN, t->san);
	if (t->port >= 0)
		pw_req_u32(r, PACKETWAY_A_HALF_PORT, t->port);
	pw_req_end(r, half);
	trunk = pw_genl_nest(r, PACKETWAY_A_ROUTER_TRUNK);
	if (t->dev) {
		pw_req_u32(r, PACKETWAY_A_TRUNK_DEV, t->dev);
		pw_req_u32(r, PACKETWAY_A_TRUNK_ID, t->id);
	} else {
		pw_req_put(r, PACKETWAY_A_TRUNK_LOCAL, &me, sizeof(me));
		pw_req_put(r, PACKETWAY_A_TRUNK_REMOTE, &peer, sizeof(peer));
	}
	if (t->key)
		pw_req_put(r, PACKETWAY_A_TRUNK_KEY, t->key, 32);
	if (t->insecure)
		pw_req_put(r, PACKETWAY_A_TRUNK_INSECURE, NULL, 0);
	pw_req_end(r, trunk);
	pw_req_end(r, nest);
}

static PW_UNUSED int pw_trunk_add(struct pw_genl *g, const struct pw_trunk_req *t)
{
	struct pw_req r;

	pw_trunk_build(g, &r, t);
	return pw_nl_talk(&g->nl, &r);
}

/* the trunk of a router, in the answer that is in g->nl.buf; NULL if there is none */
static PW_UNUSED struct rtattr *pw_trunk_get(struct pw_genl *g, const char *name)
{
	if (pw_router_cmd(g, PACKETWAY_CMD_ROUTER_GET, name))
		return NULL;
	return pw_attr_in(pw_genl_attr((void *)g->nl.buf, PACKETWAY_A_ROUTER),
			  PACKETWAY_A_ROUTER_TRUNK);
}

static PW_UNUSED bool pw_trunk_up(struct pw_genl *g, const char *name)
{
	return pw_attr_in(pw_trunk_get(g, name), PACKETWAY_A_TRUNK_UP);
}

/* all ones if it is not there */
static PW_UNUSED uint64_t pw_trunk_stat(struct pw_genl *g, const char *name, int stat)
{
	struct rtattr *a;
	uint64_t v = ~0ULL;

	a = pw_attr_in(pw_attr_in(pw_trunk_get(g, name), PACKETWAY_A_TRUNK_STATS), stat);
	if (a)
		memcpy(&v, RTA_DATA(a), sizeof(v));
	return v;
}

/*
 * RTBL of SAN 2 (256 addresses from 513 on) with one node, 517 "far", as the half-router @sa
 * sends it to @dt; its length
 */
static PW_UNUSED int pw_table(uint8_t *b, uint32_t dt, uint32_t sa, uint32_t serial)
{
	uint8_t r[256] = {};
	int l = 0;

	pw_put(r + l, 8, 0x18ULL << 56 | 1ULL << 32 | 1 << 24 | 512);
	pw_put(r + l + 8, 4, serial);
	l += 16;
	pw_put(r + l, 8, 0x1502ULL << 48);		/* SRQR, no L2RH, quality 0 */
	l += 8;
	pw_put(r + l, 8, 0x16ULL << 56);		/* MTUR 0 */
	l += 8;
	pw_put(r + l, 8, 0x17ULL << 56 | 1 << 24 | sa);	/* RCVF: the sender */
	l += 8;
	/* ADDR { NAME SRQR { L2RH } } */
	pw_put(r + l, 8, 0x11ULL << 56 | 3ULL << 32 | 1 << 24 | 517);
	l += 8;
	pw_put(r + l, 8, 0x1201ULL << 48);
	memcpy(r + l + 4, "far", 3);
	l += 8;
	pw_put(r + l, 8, 0x1502ULL << 48 | 1ULL << 32);
	l += 8;
	l += pw_put_l2rh(r + l, (uint8_t []) { 0, 1, 0 }, 3);
	/* the range of the SAN */
	pw_put(r + l, 8, 0x1104ULL << 48 | 2ULL << 32 | 2 << 24 | 513);
	pw_put(r + l + 8, 4, 3 << 24 | 768);
	pw_put(r + l + 16, 8, 0x1502ULL << 48 | 0x100);
	l += 24;
	return pw_msg(b, dt, sa, PW_PT_RRP, PW_TE_RTBL, 63, r, l);
}

/* a static route from @san to a range, through half-router @hr */
static PW_UNUSED int pw_route_add(struct pw_genl *g, uint32_t san, uint32_t first, uint32_t last,
				  uint32_t hr)
{
	const struct pw_attr a[] = {
		{ PACKETWAY_A_ROUTE_SAN, san }, { PACKETWAY_A_ROUTE_FIRST, first },
		{ PACKETWAY_A_ROUTE_LAST, last }, { PACKETWAY_A_ROUTE_HR, hr },
	};

	return pw_genl_ask(g, PACKETWAY_CMD_ROUTE_NEW, NLM_F_ACK, PACKETWAY_A_ROUTE, a, 4);
}

/*
 * Both ends of a veth pair are up. What is sent before a work item of the kernel has seen the
 * carrier is dropped: wait until it has.
 */
static PW_UNUSED bool pw_veth_up(struct pw_nl *nl, struct pw_nl *peer)
{
	double end = pw_now() + SOON / 1000;
	struct rtattr *a, *b;
	bool up;

	if (pw_link_up(nl, "v0") || pw_link_up(peer, "v1"))
		return false;
	do {
		a = pw_link_get(nl, "v0", IFLA_OPERSTATE, NULL);
		up = a && *(uint8_t *)RTA_DATA(a) == IF_OPER_UP;
		b = pw_link_get(peer, "v1", IFLA_OPERSTATE, NULL);
		up = up && b && *(uint8_t *)RTA_DATA(b) == IF_OPER_UP;
		if (!up)
			usleep(1000);
	} while (!up && pw_now() < end);
	return up;
}

/* a veth pair: v0 here, v1 in @peer_ns */
static PW_UNUSED int pw_veth_add(struct pw_nl *nl, int peer_ns)
{
	struct rtattr *info, *data, *peer;
	struct ifinfomsg ifi = {};
	struct pw_req r;

	pw_req_init(&r, RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
	pw_req_put(&r, IFLA_IFNAME, "v0", 3);
	info = pw_req_put(&r, IFLA_LINKINFO, NULL, 0);
	pw_req_put(&r, IFLA_INFO_KIND, "veth", 4);
	data = pw_req_put(&r, IFLA_INFO_DATA, NULL, 0);
	peer = pw_req_put(&r, VETH_INFO_PEER, &ifi, sizeof(ifi));
	pw_req_put(&r, IFLA_IFNAME, "v1", 3);
	pw_req_u32(&r, IFLA_NET_NS_FD, peer_ns);
	pw_req_end(&r, peer);
	pw_req_end(&r, data);
	pw_req_end(&r, info);
	return pw_nl_talk(nl, &r);
}

/* a UDP socket at a port of the loopback address, or -1 */
static PW_UNUSED int pw_udp_open(uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return bind(fd, (void *)&a, sizeof(a)) ? -1 : fd;
}

#endif
