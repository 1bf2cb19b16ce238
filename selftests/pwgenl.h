/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink for C selftests: requests, answers, dumps. Uses struct pw_nl of
 * pwtest.h; messages begin with a genlmsghdr where rtnetlink has an ifinfomsg.
 */
#ifndef PWGENL_H
#define PWGENL_H

#include "pwtest.h"

#include <linux/genetlink.h>
#include <linux/packetway_netlink.h>

struct pw_genl {
	struct pw_nl nl;
	int family;
	int group;		/* of the events */
};

struct pw_attr {
	int type;
	uint32_t value;
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

/* attribute @type in @len bytes at @at; NULL if it is not there */
static PW_UNUSED struct rtattr *pw_attr_find(void *at, int len, int type)
{
	struct rtattr *a = at;

	for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
		if ((a->rta_type & NLA_TYPE_MASK) == type)
			return a;
	return NULL;
}

static PW_UNUSED struct rtattr *pw_attr_in(struct rtattr *nest, int type)
{
	return nest ? pw_attr_find(RTA_DATA(nest), RTA_PAYLOAD(nest), type) : NULL;
}

static PW_UNUSED uint32_t pw_attr_u32(struct rtattr *nest, int type)
{
	struct rtattr *a = pw_attr_in(nest, type);

	return a ? *(uint32_t *)RTA_DATA(a) : 0;
}

/* top-level attribute of a message */
static PW_UNUSED struct rtattr *pw_genl_attr(struct nlmsghdr *h, int type)
{
	return pw_attr_find((char *)NLMSG_DATA(h) + GENL_HDRLEN,
			    h->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN), type);
}

/* attribute @type of nest @nest; all ones if it is not there */
static PW_UNUSED uint64_t pw_genl_number(struct nlmsghdr *h, int nest, int type)
{
	struct rtattr *a = pw_attr_in(pw_genl_attr(h, nest), type);
	uint64_t v = ~0ULL;

	if (!a)
		return v;
	if (RTA_PAYLOAD(a) != sizeof(v))
		return *(uint32_t *)RTA_DATA(a);
	memcpy(&v, RTA_DATA(a), sizeof(v));
	return v;
}

/* a socket, the number of the family @name and its last multicast group */
static PW_UNUSED int pw_genl_open_family(struct pw_genl *g, int ns, const char *name)
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
	pw_req_put(&r, CTRL_ATTR_FAMILY_NAME, name, strlen(name) + 1);
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

static PW_UNUSED int pw_genl_open(struct pw_genl *g, int ns)
{
	return pw_genl_open_family(g, ns, PACKETWAY_GENL_NAME);
}

/* a command with @n numbers in nest @nest; 0 or a negative errno, the answer is in g->nl.buf */
static PW_UNUSED int pw_genl_ask(struct pw_genl *g, int cmd, int flags, int nest,
				 const struct pw_attr *attr, int n)
{
	struct rtattr *outer = NULL;
	struct pw_req r;
	int i;

	pw_genl_init(&r, g->family, cmd, flags);
	if (nest)
		outer = pw_genl_nest(&r, nest);
	for (i = 0; i < n; i++)
		pw_req_u32(&r, attr[i].type, attr[i].value);
	if (outer)
		pw_req_end(&r, outer);
	return pw_nl_talk(&g->nl, &r);
}

/*
 * A dump, @fn for each message; number of messages or a negative errno. @value: of
 * attribute @inner in nest @outer, -1 for a dump of all
 */
static PW_UNUSED int pw_genl_dump(struct pw_genl *g, int cmd, int outer, int inner, long value,
				  void (*fn)(struct nlmsghdr *h, void *arg), void *arg)
{
	static char buf[32768];
	struct nlmsghdr *h;
	struct rtattr *nest;
	struct pw_req r;
	int len, err, n = 0;

	pw_genl_init(&r, g->family, cmd, NLM_F_DUMP);
	if (value >= 0) {
		nest = pw_genl_nest(&r, outer);
		pw_req_u32(&r, inner, value);
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
			if (h->nlmsg_type == NLMSG_DONE) {
				err = *(int *)NLMSG_DATA(h);
				return err < 0 ? err : n;
			}
			if (h->nlmsg_type == NLMSG_ERROR)
				return ((struct nlmsgerr *)NLMSG_DATA(h))->error;
			n++;
			if (fn)
				fn(h, arg);
		}
	}
}

#endif
