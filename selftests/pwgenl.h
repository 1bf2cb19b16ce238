/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module's generic netlink family, for C selftests: a request with one nest
 * of u32 attributes, its answer, or a dump.
 */
#ifndef PWGENL_H
#define PWGENL_H

#include "pwtest.h"

#include <linux/genetlink.h>
#include <linux/packetway_netlink.h>

struct pw_genl {
	struct pw_nl nl;
	int family;
	int len;		/* of the last answer in nl.buf */
};

struct pw_attr {
	int type;
	uint32_t value;
};

static PW_UNUSED struct rtattr *pw_attr_find(void *from, int left, int type)
{
	struct rtattr *a = from;

	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if ((a->rta_type & NLA_TYPE_MASK) == type)
			return a;
	return NULL;
}

static PW_UNUSED void *pw_genl_put(struct nlmsghdr *n, int type, const void *data, int len)
{
	struct rtattr *a = (void *)((char *)n + NLMSG_ALIGN(n->nlmsg_len));

	a->rta_type = type;
	a->rta_len = RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(a), data, len);
	n->nlmsg_len = NLMSG_ALIGN(n->nlmsg_len) + RTA_ALIGN(a->rta_len);
	return a;
}

/* 0 or a negative errno; the first message of the answer is in nl.buf */
static PW_UNUSED int pw_genl_ask(struct pw_genl *g, int family, int cmd, int flags, int nest,
				 const struct pw_attr *attr, int n)
{
	struct {
		struct nlmsghdr n;
		struct genlmsghdr g;
		char room[512];
	} r = {};
	struct nlmsghdr *h = (void *)g->nl.buf;
	struct rtattr *outer = NULL, *msg;
	struct nlmsgerr *e;
	int i, off;

	r.n.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	r.n.nlmsg_type = family;
	r.n.nlmsg_flags = NLM_F_REQUEST | flags;
	r.n.nlmsg_seq = ++g->nl.seq;
	r.g.cmd = cmd;
	r.g.version = 1;
	if (nest)
		outer = pw_genl_put(&r.n, nest | NLA_F_NESTED, NULL, 0);
	for (i = 0; i < n; i++)
		pw_genl_put(&r.n, attr[i].type, &attr[i].value, 4);
	if (outer)
		outer->rta_len = (char *)&r + r.n.nlmsg_len - (char *)outer;
	g->nl.ext[0] = 0;
	if (send(g->nl.fd, &r, r.n.nlmsg_len, 0) < 0)
		return -errno;
	g->len = recv(g->nl.fd, g->nl.buf, sizeof(g->nl.buf), 0);
	if (g->len < 0)
		return -errno;
	if (h->nlmsg_type != NLMSG_ERROR)
		return 0;
	e = NLMSG_DATA(h);
	if (h->nlmsg_flags & NLM_F_ACK_TLVS) {
		off = NLMSG_ALIGN(sizeof(*e));
		if (!(h->nlmsg_flags & NLM_F_CAPPED))
			off += NLMSG_ALIGN(e->msg.nlmsg_len) - NLMSG_HDRLEN;
		msg = pw_attr_find((char *)e + off, h->nlmsg_len - NLMSG_HDRLEN - off,
				   NLMSGERR_ATTR_MSG);
		if (msg)
			snprintf(g->nl.ext, sizeof(g->nl.ext), "%s", (char *)RTA_DATA(msg));
	}
	return e->error;
}

/* a socket and the number of the family @name; its description is in nl.buf */
static PW_UNUSED int pw_genl_open_family(struct pw_genl *g, int ns, const char *name)
{
	struct timeval tv = { .tv_sec = 60 };
	struct {
		struct nlmsghdr n;
		struct genlmsghdr g;
		char room[64];
	} r = {};
	struct nlmsghdr *h = (void *)g->nl.buf;
	struct rtattr *id;
	int one = 1;

	memset(g, 0, sizeof(*g));
	g->nl.fd = pw_ns_socket(ns, AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (g->nl.fd < 0)
		return -1;
	setsockopt(g->nl.fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(g->nl.fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	setsockopt(g->nl.fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	r.n.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	r.n.nlmsg_type = GENL_ID_CTRL;
	r.n.nlmsg_flags = NLM_F_REQUEST;
	r.g.cmd = CTRL_CMD_GETFAMILY;
	r.g.version = 1;
	pw_genl_put(&r.n, CTRL_ATTR_FAMILY_NAME, name, strlen(name) + 1);
	if (send(g->nl.fd, &r, r.n.nlmsg_len, 0) < 0 ||
	    recv(g->nl.fd, g->nl.buf, sizeof(g->nl.buf), 0) < (int)NLMSG_LENGTH(GENL_HDRLEN) ||
	    h->nlmsg_type == NLMSG_ERROR)
		return -1;
	id = pw_attr_find((char *)NLMSG_DATA(h) + GENL_HDRLEN,
			  h->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN), CTRL_ATTR_FAMILY_ID);
	if (!id)
		return -1;
	g->family = *(uint16_t *)RTA_DATA(id);
	return 0;
}

static PW_UNUSED int pw_genl_open(struct pw_genl *g, int ns)
{
	return pw_genl_open_family(g, ns, PACKETWAY_GENL_NAME);
}

/* attribute @type of nest @nest in message @h; NULL if it is not there */
static PW_UNUSED struct rtattr *pw_genl_attr(struct nlmsghdr *h, int nest, int type)
{
	struct rtattr *outer;

	outer = pw_attr_find((char *)NLMSG_DATA(h) + GENL_HDRLEN,
			     h->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN), nest);
	return outer ? pw_attr_find(RTA_DATA(outer), RTA_PAYLOAD(outer), type) : NULL;
}

static PW_UNUSED uint64_t pw_genl_u32(struct nlmsghdr *h, int nest, int type)
{
	struct rtattr *a = pw_genl_attr(h, nest, type);

	return a ? *(uint32_t *)RTA_DATA(a) : ~0ULL;
}

static PW_UNUSED uint64_t pw_genl_u64(struct nlmsghdr *h, int nest, int type)
{
	struct rtattr *a = pw_genl_attr(h, nest, type);
	uint64_t v = ~0ULL;

	if (a)
		memcpy(&v, RTA_DATA(a), sizeof(v));
	return v;
}

/* calls @f for every message of a dump; how many, or a negative errno */
static PW_UNUSED int pw_genl_dump(struct pw_genl *g, int cmd, int nest, const struct pw_attr *attr,
				  int n, void (*f)(struct nlmsghdr *h, void *arg), void *arg)
{
	struct nlmsghdr *h;
	int err, len, count = 0;

	err = pw_genl_ask(g, g->family, cmd, NLM_F_DUMP, nest, attr, n);
	if (err)
		return err;
	for (len = g->len;; len = recv(g->nl.fd, g->nl.buf, sizeof(g->nl.buf), 0)) {
		if (len < 0)
			return -errno;
		for (h = (void *)g->nl.buf; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_type == NLMSG_DONE) {
				err = *(int *)NLMSG_DATA(h);
				return err < 0 ? err : count;
			}
			if (h->nlmsg_type == NLMSG_ERROR)
				return ((struct nlmsgerr *)NLMSG_DATA(h))->error;
			f(h, arg);
			count++;
		}
	}
}

#endif
