/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A SAN's settings by generic netlink, and frames in its virtual time: sent with
 * an arrival cycle (SO_TXTIME), received with a delivery cycle (timestamp).
 */
#ifndef PWSAN_H
#define PWSAN_H

#include "pwtest.h"

#include <sys/stat.h>

#include <linux/errqueue.h>
#include <linux/genetlink.h>
#include <linux/net_tstamp.h>

#include <linux/packetway_netlink.h>

struct pw_gsan {
	int fd;
	int family;
	unsigned int seq;
};

struct pw_gsan_req {
	struct nlmsghdr n;
	struct genlmsghdr g;
	char attr[256];
};

static PW_UNUSED struct nlattr *pw_gsan_put(struct pw_gsan_req *r, int type, const void *data,
					    int len)
{
	struct nlattr *a = (void *)((char *)r + NLMSG_ALIGN(r->n.nlmsg_len));

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	if (len)
		memcpy((char *)a + NLA_HDRLEN, data, len);
	r->n.nlmsg_len = NLMSG_ALIGN(r->n.nlmsg_len) + NLA_ALIGN(a->nla_len);
	return a;
}

static PW_UNUSED int pw_gsan_talk(struct pw_gsan *s, struct pw_gsan_req *r, char *buf, int size)
{
	struct nlmsghdr *h = (void *)buf;
	struct nlmsgerr *e;
	int len;

	r->n.nlmsg_seq = ++s->seq;
	if (send(s->fd, r, r->n.nlmsg_len, 0) < 0)
		return -errno;
	do {
		len = recv(s->fd, buf, size, 0);
		if (len < 0)
			return -errno;
	} while (h->nlmsg_seq != s->seq);
	if (h->nlmsg_type != NLMSG_ERROR)
		return len;
	e = NLMSG_DATA(h);
	return e->error;
}

static PW_UNUSED void pw_gsan_req(struct pw_gsan_req *r, int type, int cmd, int flags)
{
	memset(r, 0, sizeof(*r));
	r->n.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	r->n.nlmsg_type = type;
	r->n.nlmsg_flags = NLM_F_REQUEST | flags;
	r->g.cmd = cmd;
	r->g.version = 1;
}

/* the attribute of @type at @a; NULL if there is none */
static PW_UNUSED struct nlattr *pw_gsan_find(void *from, int left, int type)
{
	struct nlattr *a = from;

	while (left >= NLA_HDRLEN && a->nla_len >= NLA_HDRLEN && a->nla_len <= left) {
		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a;
		left -= NLA_ALIGN(a->nla_len);
		a = (void *)((char *)a + NLA_ALIGN(a->nla_len));
	}
	return NULL;
}

static PW_UNUSED int pw_gsan_open(struct pw_gsan *s, int ns)
{
	struct timeval tv = { .tv_sec = 60 };
	struct pw_gsan_req r;
	struct nlattr *a;
	char buf[4096];
	int len;

	memset(s, 0, sizeof(*s));
	s->fd = pw_ns_socket(ns, AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (s->fd < 0)
		return -errno;
	setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	pw_gsan_req(&r, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	pw_gsan_put(&r, CTRL_ATTR_FAMILY_NAME, PACKETWAY_GENL_NAME, sizeof(PACKETWAY_GENL_NAME));
	len = pw_gsan_talk(s, &r, buf, sizeof(buf));
	if (len < 0)
		return len;
	a = pw_gsan_find(buf + NLMSG_LENGTH(GENL_HDRLEN), len - NLMSG_LENGTH(GENL_HDRLEN),
			 CTRL_ATTR_FAMILY_ID);
	if (!a)
		return -ENOENT;
	s->family = *(uint16_t *)((char *)a + NLA_HDRLEN);
	return 0;
}

/* up to two settings of SAN 0 at once; type 0: no second one */
static PW_UNUSED int pw_gsan_set2(struct pw_gsan *s, int t1, uint64_t v1, int t2, uint64_t v2)
{
	struct pw_gsan_req r;
	struct nlattr *nest;
	uint32_t id = 0;
	char buf[4096];
	int i, type;

	pw_gsan_req(&r, s->family, PACKETWAY_CMD_SAN_SET, NLM_F_ACK);
	nest = pw_gsan_put(&r, PACKETWAY_A_SAN | NLA_F_NESTED, NULL, 0);
	pw_gsan_put(&r, PACKETWAY_A_SAN_ID, &id, 4);
	for (i = 0; i < 2; i++) {
		uint64_t v = i ? v2 : v1;
		uint32_t v32 = v;

		type = i ? t2 : t1;
		if (type == PACKETWAY_A_SAN_RATE)
			pw_gsan_put(&r, type, &v, 8);
		else if (type)
			pw_gsan_put(&r, type, &v32, 4);
	}
	nest->nla_len = (char *)&r + r.n.nlmsg_len - (char *)nest;
	return pw_gsan_talk(s, &r, buf, sizeof(buf));
}

static PW_UNUSED int pw_gsan_set(struct pw_gsan *s, int type, uint64_t v)
{
	return pw_gsan_set2(s, type, v, 0, 0);
}

/* SAN 0 of @ns: what a test floods is a receiver, not the cell fabric before it */
static PW_UNUSED int pw_gsan_untimed(int ns)
{
	struct pw_gsan san;
	int err = pw_gsan_open(&san, ns);

	if (!err) {
		err = pw_gsan_set(&san, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_NONE);
		close(san.fd);
	}
	return err;
}

/* one attribute of SAN 0; all ones if it is not there */
static PW_UNUSED uint64_t pw_gsan_get(struct pw_gsan *s, int type)
{
	struct pw_gsan_req r;
	struct nlattr *a;
	uint64_t v = ~0ULL;
	uint32_t id = 0;
	char buf[4096];
	int len;

	pw_gsan_req(&r, s->family, PACKETWAY_CMD_SAN_GET, 0);
	a = pw_gsan_put(&r, PACKETWAY_A_SAN | NLA_F_NESTED, NULL, 0);
	pw_gsan_put(&r, PACKETWAY_A_SAN_ID, &id, 4);
	a->nla_len = (char *)&r + r.n.nlmsg_len - (char *)a;
	len = pw_gsan_talk(s, &r, buf, sizeof(buf));
	if (len < 0)
		return v;
	a = pw_gsan_find(buf + NLMSG_LENGTH(GENL_HDRLEN), len - NLMSG_LENGTH(GENL_HDRLEN),
			 PACKETWAY_A_SAN);
	if (a)
		a = pw_gsan_find((char *)a + NLA_HDRLEN, a->nla_len - NLA_HDRLEN, type);
	if (!a)
		return v;
	v = 0;
	if (a->nla_len == NLA_HDRLEN + 8)
		memcpy(&v, (char *)a + NLA_HDRLEN, 8);
	else
		v = *(uint32_t *)((char *)a + NLA_HDRLEN);
	return v;
}

/* drops and corruptions per million cells and input unit, in SAN 0 of namespace @ns */
static PW_UNUSED int pw_gsan_fault(int ns, unsigned int drop, unsigned int corrupt,
				   unsigned int seed)
{
	char path[128], text[64];
	struct stat st;
	int fd, n, ret;

	if (fstat(ns, &st))
		return -1;
	snprintf(path, sizeof(path), "/sys/kernel/debug/packetway/net%lu-san0/fabric_fault",
		 (unsigned long)st.st_ino);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -1;
	n = snprintf(text, sizeof(text), "%u %u %u\n", drop, corrupt, seed);
	ret = write(fd, text, n) == n ? 0 : -1;
	close(fd);
	return ret;
}

/* --- frames in virtual time ------------------------------------------------- */

static PW_UNUSED int pw_timed_open(int ns, int ifindex)
{
	int fd = pw_packet_open(ns, SOCK_RAW, ETH_P_PACKETWAY, ifindex);
	int flags = SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
	struct sock_txtime t = { .clockid = CLOCK_MONOTONIC };

	if (fd < 0)
		return fd;
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TXTIME, &t, sizeof(t))) {
		close(fd);
		return -1;
	}
	return fd;
}

static PW_UNUSED int pw_timed_send(int fd, const void *buf, int len, uint64_t ns)
{
	char ctl[CMSG_SPACE(sizeof(uint64_t))] = {};
	struct iovec iov = { (void *)buf, len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl,
			    .msg_controllen = sizeof(ctl) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_TXTIME;
	c->cmsg_len = CMSG_LEN(sizeof(ns));
	memcpy(CMSG_DATA(c), &ns, sizeof(ns));
	return sendmsg(fd, &m, 0);
}

/* one frame within @ms and its timestamp; -1 if none came */
static PW_UNUSED int pw_timed_recv(int fd, void *buf, int len, uint64_t *ns, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct iovec iov = { buf, len };
	char ctl[256];
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl,
			    .msg_controllen = sizeof(ctl) };
	struct scm_timestamping t;
	struct cmsghdr *c;
	int n;

	*ns = ~0ULL;
	n = recvmsg(fd, &m, MSG_DONTWAIT);
	if (n < 0 && ms) {
		if (poll(&p, 1, pw_slow_kernel() ? ms * 4 : ms) != 1)
			return -1;
		n = recvmsg(fd, &m, MSG_DONTWAIT);
	}
	if (n < 0)
		return -1;
	for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPING)
			continue;
		memcpy(&t, CMSG_DATA(c), sizeof(t));
		*ns = (uint64_t)t.ts[2].tv_sec * 1000000000 + t.ts[2].tv_nsec;
	}
	return n;
}

#endif
