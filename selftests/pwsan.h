/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A SAN's settings by generic netlink, and frames in its virtual time: sent with
 * an arrival cycle (SO_TXTIME), received with a delivery cycle (timestamp).
 */
#ifndef PWSAN_H
#define PWSAN_H

#include "pwgenl.h"

#include <sys/stat.h>

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>

/* up to two settings of a SAN at once; type 0: no second one */
static PW_UNUSED int pw_gsan_set2_of(struct pw_genl *g, uint32_t id, int t1, uint64_t v1, int t2,
				     uint64_t v2)
{
	const struct { int type; uint64_t value; } a[2] = { { t1, v1 }, { t2, v2 } };
	struct rtattr *nest;
	struct pw_req r;
	int i;

	pw_genl_init(&r, g->family, PACKETWAY_CMD_SAN_SET, NLM_F_ACK);
	nest = pw_genl_nest(&r, PACKETWAY_A_SAN);
	pw_req_u32(&r, PACKETWAY_A_SAN_ID, id);
	for (i = 0; i < 2; i++) {
		if (a[i].type == PACKETWAY_A_SAN_RATE)
			pw_req_put(&r, a[i].type, &a[i].value, sizeof(a[i].value));
		else if (a[i].type)
			pw_req_u32(&r, a[i].type, a[i].value);
	}
	pw_req_end(&r, nest);
	return pw_nl_talk(&g->nl, &r);
}

/* the same for SAN 0 */
static PW_UNUSED int pw_gsan_set2(struct pw_genl *g, int t1, uint64_t v1, int t2, uint64_t v2)
{
	return pw_gsan_set2_of(g, 0, t1, v1, t2, v2);
}

static PW_UNUSED int pw_gsan_set(struct pw_genl *g, int type, uint64_t v)
{
	return pw_gsan_set2(g, type, v, 0, 0);
}

/* SAN 0 of @ns: what a test floods is a receiver, not the cell fabric before it */
static PW_UNUSED int pw_gsan_untimed(int ns)
{
	struct pw_genl g;
	int err = pw_genl_open(&g, ns);

	if (!err) {
		err = pw_gsan_set(&g, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_NONE);
		close(g.nl.fd);
	}
	return err;
}

/* one attribute of SAN 0; all ones if it is not there */
static PW_UNUSED uint64_t pw_gsan_get(struct pw_genl *g, int type)
{
	struct pw_attr id = { PACKETWAY_A_SAN_ID, 0 };

	if (pw_genl_ask(g, PACKETWAY_CMD_SAN_GET, 0, PACKETWAY_A_SAN, &id, 1))
		return ~0ULL;
	return pw_genl_number((void *)g->nl.buf, PACKETWAY_A_SAN, type);
}

/* drops and corruptions per million cells and input unit, in a SAN of namespace @ns */
static PW_UNUSED int pw_gsan_fault_in(int ns, int san, unsigned int drop, unsigned int corrupt,
				      unsigned int seed)
{
	char path[128], text[64];
	struct stat st;
	int fd, n, ret;

	if (fstat(ns, &st))
		return -1;
	snprintf(path, sizeof(path), "/sys/kernel/debug/packetway/net%lu-san%d/fabric_fault",
		 (unsigned long)st.st_ino, san);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -1;
	n = snprintf(text, sizeof(text), "%u %u %u\n", drop, corrupt, seed);
	ret = write(fd, text, n) == n ? 0 : -1;
	close(fd);
	return ret;
}

/* the same in SAN 0 */
static PW_UNUSED int pw_gsan_fault(int ns, unsigned int drop, unsigned int corrupt,
				   unsigned int seed)
{
	return pw_gsan_fault_in(ns, 0, drop, corrupt, seed);
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
