/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the C selftests share: network namespaces by file descriptor, stations by
 * rtnetlink (with the sentence of a refusal), counters, packet sockets, and a
 * builder of EEP messages of its own, so that a mistake in the module's codec is
 * not made twice. No processes are started: they are dear in an emulated guest.
 */
#ifndef PWTEST_H
#define PWTEST_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>

#include <linux/packetway.h>
#include <linux/packetway_eep.h>

#define PW_UNUSED __attribute__((unused))

/* --- time and counts ------------------------------------------------------ */

#define SOON 120000	/* ms within which something must come: a limit for hangs */
#define NEVER 80	/* ms after which nothing will come: delivery is a softirq away */

static PW_UNUSED double pw_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* PW_SCALE percent of @n, at least @min */
static PW_UNUSED long pw_count(long n, long min)
{
	const char *s = getenv("PW_SCALE");
	long scale = s ? atol(s) : 100;

	n = (long)((long long)n * (scale > 0 ? scale : 100) / 100);
	return n > min ? n : min;
}

/* a soak does what takes minutes as well */
static PW_UNUSED bool pw_long(void)
{
	const char *s = getenv("PW_LONG");

	return s && *s;
}

/* PW_PART=I/N: the guest does the I-th of @parts parts of a soak. 0: all of it */
static PW_UNUSED unsigned int pw_part(unsigned int *parts)
{
	const char *s = getenv("PW_PART");
	unsigned int part, n;

	if (!s || sscanf(s, "%u/%u", &part, &n) != 2 || !part || part > n)
		return 0;
	if (parts)
		*parts = n;
	return part;
}

/* a slow kernel gets more time for the same thing */
static PW_UNUSED bool pw_slow_kernel(void)
{
	const char *s = getenv("PW_FLAVOUR");

	return s && strcmp(s, "stock");
}

/* --- random numbers ------------------------------------------------------- */

/* not 0; the same seed gives the same numbers */
static PW_UNUSED uint64_t pw_seed = 88172645463325252ULL;

/* xorshift */
static PW_UNUSED uint64_t pw_rnd(void)
{
	pw_seed ^= pw_seed << 13;
	pw_seed ^= pw_seed >> 7;
	pw_seed ^= pw_seed << 17;
	return pw_seed;
}

static PW_UNUSED uint32_t pw_below(uint32_t n)
{
	return (pw_rnd() >> 33) % n;
}

/* --- files ---------------------------------------------------------------- */

/* @text into a file that exists, as one write; 0 or a negative errno */
static PW_UNUSED int pw_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), len = strlen(text), n, err;

	if (fd < 0)
		return -errno;
	n = write(fd, text, len);
	err = n < 0 ? -errno : n < len ? -EIO : 0;
	close(fd);
	return err;
}

/* a line of /proc/meminfo in KiB, -1: there is none */
static PW_UNUSED long pw_meminfo(const char *what)
{
	FILE *f = fopen("/proc/meminfo", "r");
	size_t len = strlen(what);
	char line[128];
	long kb = -1;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, what, len) && line[len] == ':') {
			kb = atol(line + len + 1);
			break;
		}
	if (f)
		fclose(f);
	return kb;
}

/* --- /dev/packetway ------------------------------------------------------- */

#define PW_DEV "/dev/" PACKETWAY_DEVICE

/* what ioctl() returns, or a negative errno */
static PW_UNUSED int pw_ioctl(int fd, unsigned long nr, void *arg)
{
	int ret = ioctl(fd, nr, arg);

	return ret < 0 ? -errno : ret;
}

static PW_UNUSED int pw_bind(int fd, int ifindex)
{
	struct packetway_bind b = { .size = sizeof(b), .ifindex = ifindex };

	return pw_ioctl(fd, PACKETWAY_IOC_BIND, &b);
}

static PW_UNUSED int pw_unbind(int fd)
{
	struct packetway_unbind u = { .size = sizeof(u) };

	return pw_ioctl(fd, PACKETWAY_IOC_UNBIND, &u);
}

/* --- namespaces ----------------------------------------------------------- */

static PW_UNUSED int pw_ns_self(void)
{
	return open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
}

/* a new network namespace; the caller stays where it is */
static PW_UNUSED int pw_ns_new(void)
{
	int save = pw_ns_self(), fd = -1;

	if (save < 0)
		return -1;
	if (!unshare(CLONE_NEWNET)) {
		fd = pw_ns_self();
		if (setns(save, CLONE_NEWNET))
			abort();
	}
	close(save);
	return fd;
}

static PW_UNUSED int pw_ns_socket(int ns, int domain, int type, int protocol)
{
	int save = pw_ns_self(), fd = -1, err;

	if (!setns(ns, CLONE_NEWNET)) {
		fd = socket(domain, type | SOCK_CLOEXEC, protocol);
		err = errno;
		if (setns(save, CLONE_NEWNET))
			abort();
		errno = err;
	}
	close(save);
	return fd;
}

/* --- rtnetlink ------------------------------------------------------------ */

struct pw_nl {
	int fd;
	unsigned int seq;
	char ext[256];		/* the sentence of the last answer, if any */
	char buf[8192];		/* the last answer */
};

struct pw_req {
	struct nlmsghdr n;
	struct ifinfomsg i;
	char attr[1024];
};

/* -1 in a member: not given */
struct pw_link {
	const char *kind;
	const char *name;
	long san, port, order, addr;
	long mtu;
	int ns;
	const uint8_t *lladdr, *brd;
};

#define PW_LINK(n) { .kind = PACKETWAY_KIND, .name = (n), .san = -1, .port = -1, .order = -1, \
		     .addr = -1, .mtu = -1, .ns = -1 }

static PW_UNUSED int pw_nl_open(struct pw_nl *nl, int ns)
{
	struct timeval tv = { .tv_sec = 60 };
	int one = 1;

	memset(nl, 0, sizeof(*nl));
	nl->fd = pw_ns_socket(ns, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	if (nl->fd < 0)
		return -1;
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	setsockopt(nl->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	return 0;
}

static PW_UNUSED struct rtattr *pw_req_put(struct pw_req *r, int type, const void *data, int len)
{
	struct rtattr *a = (void *)((char *)r + NLMSG_ALIGN(r->n.nlmsg_len));

	a->rta_type = type;
	a->rta_len = RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(a), data, len);
	r->n.nlmsg_len = NLMSG_ALIGN(r->n.nlmsg_len) + RTA_ALIGN(a->rta_len);
	return a;
}

static PW_UNUSED void pw_req_u32(struct pw_req *r, int type, uint32_t v)
{
	pw_req_put(r, type, &v, sizeof(v));
}

static PW_UNUSED void pw_req_end(struct pw_req *r, struct rtattr *nest)
{
	nest->rta_len = (char *)r + r->n.nlmsg_len - (char *)nest;
}

static PW_UNUSED void pw_req_init(struct pw_req *r, int type, int flags)
{
	memset(r, 0, sizeof(*r));
	r->n.nlmsg_len = NLMSG_LENGTH(sizeof(r->i));
	r->n.nlmsg_type = type;
	r->n.nlmsg_flags = NLM_F_REQUEST | flags;
	r->i.ifi_family = AF_UNSPEC;
}

/* send, wait for the answer; 0 or a negative errno */
static PW_UNUSED int pw_nl_talk(struct pw_nl *nl, struct pw_req *r)
{
	struct nlmsghdr *h = (void *)nl->buf;
	struct nlmsgerr *e;
	struct rtattr *a;
	int len, left;

	nl->ext[0] = 0;
	r->n.nlmsg_seq = ++nl->seq;
	if (send(nl->fd, r, r->n.nlmsg_len, 0) < 0)
		return -errno;
	do {
		len = recv(nl->fd, nl->buf, sizeof(nl->buf), 0);
		if (len < 0)
			return -errno;
	} while (h->nlmsg_seq != nl->seq);
	if (h->nlmsg_type != NLMSG_ERROR)
		return 0;
	e = NLMSG_DATA(h);
	if (h->nlmsg_flags & NLM_F_ACK_TLVS) {
		int off = NLMSG_ALIGN(sizeof(*e));

		if (!(h->nlmsg_flags & NLM_F_CAPPED))
			off += NLMSG_ALIGN(e->msg.nlmsg_len) - NLMSG_HDRLEN;
		a = (void *)((char *)e + off);
		left = h->nlmsg_len - NLMSG_HDRLEN - off;
		for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
			if (a->rta_type == NLMSGERR_ATTR_MSG)
				snprintf(nl->ext, sizeof(nl->ext), "%.*s",
					 (int)RTA_PAYLOAD(a), (char *)RTA_DATA(a));
	}
	return e->error;
}

static PW_UNUSED int pw_link_send(struct pw_nl *nl, const struct pw_link *l, int flags)
{
	struct rtattr *info, *data;
	struct pw_req r;

	pw_req_init(&r, RTM_NEWLINK, NLM_F_ACK | flags);
	if (l->name)
		pw_req_put(&r, IFLA_IFNAME, l->name, strlen(l->name) + 1);
	if (l->mtu >= 0)
		pw_req_u32(&r, IFLA_MTU, l->mtu);
	if (l->ns >= 0)
		pw_req_u32(&r, IFLA_NET_NS_FD, l->ns);
	if (l->lladdr)
		pw_req_put(&r, IFLA_ADDRESS, l->lladdr, PW_EEP_ALEN);
	if (l->brd)
		pw_req_put(&r, IFLA_BROADCAST, l->brd, PW_EEP_ALEN);
	if (l->kind) {
		info = pw_req_put(&r, IFLA_LINKINFO, NULL, 0);
		pw_req_put(&r, IFLA_INFO_KIND, l->kind, strlen(l->kind));
		data = pw_req_put(&r, IFLA_INFO_DATA, NULL, 0);
		if (l->san >= 0)
			pw_req_u32(&r, IFLA_PACKETWAY_SAN, l->san);
		if (l->port >= 0)
			pw_req_u32(&r, IFLA_PACKETWAY_PORT, l->port);
		if (l->order >= 0)
			pw_req_u32(&r, IFLA_PACKETWAY_ORDER, l->order);
		if (l->addr >= 0)
			pw_req_u32(&r, IFLA_PACKETWAY_ADDR, l->addr);
		pw_req_end(&r, data);
		pw_req_end(&r, info);
	}
	return pw_nl_talk(nl, &r);
}

static PW_UNUSED int pw_link_add(struct pw_nl *nl, const struct pw_link *l)
{
	return pw_link_send(nl, l, NLM_F_CREATE | NLM_F_EXCL);
}

/* a station on @port of SAN @san of the caller's side, put into namespace @ns */
static PW_UNUSED int pw_station_add(struct pw_nl *nl, const char *name, long san, long port, int ns)
{
	struct pw_link l = PW_LINK(name);

	l.san = san;
	l.port = port;
	l.ns = ns;
	return pw_link_add(nl, &l);
}

/* a pwmon device, down; @all: it takes ring packets and cells, too */
static PW_UNUSED int pw_mon_add(struct pw_nl *nl, const char *name, bool all)
{
	struct rtattr *info, *data;
	uint8_t on = all;
	struct pw_req r;

	pw_req_init(&r, RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
	pw_req_put(&r, IFLA_IFNAME, name, strlen(name) + 1);
	info = pw_req_put(&r, IFLA_LINKINFO, NULL, 0);
	pw_req_put(&r, IFLA_INFO_KIND, PACKETWAY_MON_KIND, sizeof(PACKETWAY_MON_KIND));
	data = pw_req_put(&r, IFLA_INFO_DATA, NULL, 0);
	pw_req_put(&r, IFLA_PWMON_RING, &on, 1);
	pw_req_put(&r, IFLA_PWMON_CELLS, &on, 1);
	pw_req_end(&r, data);
	pw_req_end(&r, info);
	return pw_nl_talk(nl, &r);
}

static PW_UNUSED int pw_link_del(struct pw_nl *nl, const char *name)
{
	struct pw_req r;

	pw_req_init(&r, RTM_DELLINK, NLM_F_ACK);
	pw_req_put(&r, IFLA_IFNAME, name, strlen(name) + 1);
	return pw_nl_talk(nl, &r);
}

static PW_UNUSED int pw_link_flags(struct pw_nl *nl, const char *name, unsigned int flags,
				   unsigned int mask)
{
	struct pw_req r;

	pw_req_init(&r, RTM_NEWLINK, NLM_F_ACK);
	r.i.ifi_flags = flags;
	r.i.ifi_change = mask;
	pw_req_put(&r, IFLA_IFNAME, name, strlen(name) + 1);
	return pw_nl_talk(nl, &r);
}

static PW_UNUSED int pw_link_up(struct pw_nl *nl, const char *name)
{
	return pw_link_flags(nl, name, IFF_UP, IFF_UP);
}

static PW_UNUSED int pw_link_down(struct pw_nl *nl, const char *name)
{
	return pw_link_flags(nl, name, 0, IFF_UP);
}

static PW_UNUSED int pw_link_mtu(struct pw_nl *nl, const char *name, long mtu)
{
	struct pw_link l = PW_LINK(name);

	l.kind = NULL;
	l.mtu = mtu;
	return pw_link_send(nl, &l, 0);
}

static PW_UNUSED int pw_link_order(struct pw_nl *nl, const char *name, long order)
{
	struct pw_link l = PW_LINK(name);

	l.order = order;
	return pw_link_send(nl, &l, 0);
}

static PW_UNUSED int pw_link_move(struct pw_nl *nl, const char *name, int ns)
{
	struct pw_link l = PW_LINK(name);

	l.kind = NULL;
	l.ns = ns;
	return pw_link_send(nl, &l, 0);
}

/* what RTM_GETLINK says; NULL if there is no such attribute or link */
static PW_UNUSED struct rtattr *pw_link_get(struct pw_nl *nl, const char *name, int type,
					    struct ifinfomsg *ifi)
{
	struct nlmsghdr *h = (void *)nl->buf;
	struct ifinfomsg *i = NLMSG_DATA(h);
	struct rtattr *a;
	struct pw_req r;
	int left;

	pw_req_init(&r, RTM_GETLINK, 0);
	pw_req_put(&r, IFLA_IFNAME, name, strlen(name) + 1);
	if (pw_nl_talk(nl, &r) || h->nlmsg_type != RTM_NEWLINK)
		return NULL;
	if (ifi)
		*ifi = *i;
	a = IFLA_RTA(i);
	left = IFLA_PAYLOAD(h);
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if ((a->rta_type & NLA_TYPE_MASK) == type)
			return a;
	return NULL;
}

static PW_UNUSED int pw_link_index(struct pw_nl *nl, const char *name)
{
	struct ifinfomsg ifi;

	return pw_link_get(nl, name, IFLA_IFNAME, &ifi) ? ifi.ifi_index : 0;
}

static PW_UNUSED int pw_link_stats(struct pw_nl *nl, const char *name,
				   struct rtnl_link_stats64 *s)
{
	struct rtattr *a = pw_link_get(nl, name, IFLA_STATS64, NULL);
	size_t len;

	if (!a)
		return -1;
	memset(s, 0, sizeof(*s));
	len = RTA_PAYLOAD(a);
	memcpy(s, RTA_DATA(a), len < sizeof(*s) ? len : sizeof(*s));
	return 0;
}

/* --- the model's counters (ethtool -S) ------------------------------------- */

#define PW_STATS_MAX 256

struct pw_stats {
	int n;
	uint64_t v[PW_STATS_MAX];
	char name[PW_STATS_MAX][ETH_GSTRING_LEN];
};

/* @fd: any socket in the station's namespace */
static PW_UNUSED int pw_stats_read(int fd, const char *name, struct pw_stats *s)
{
	struct {
		struct ethtool_sset_info h;
		__u32 n;
	} info = { { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_STATS }, 0 };
	static union {
		struct ethtool_gstrings s;
		struct ethtool_stats v;
		char room[sizeof(struct ethtool_stats) + PW_STATS_MAX * ETH_GSTRING_LEN];
	} u;
	struct ifreq ifr = {};
	int i;

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	ifr.ifr_data = (void *)&info;
	if (ioctl(fd, SIOCETHTOOL, &ifr) || !info.h.sset_mask)
		return -1;
	s->n = info.n < PW_STATS_MAX ? info.n : PW_STATS_MAX;
	memset(&u, 0, sizeof(u));
	u.s.cmd = ETHTOOL_GSTRINGS;
	u.s.string_set = ETH_SS_STATS;
	u.s.len = s->n;
	ifr.ifr_data = (void *)&u;
	if (ioctl(fd, SIOCETHTOOL, &ifr))
		return -1;
	for (i = 0; i < s->n; i++)
		memcpy(s->name[i], u.s.data + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
	memset(&u, 0, sizeof(u));
	u.v.cmd = ETHTOOL_GSTATS;
	u.v.n_stats = s->n;
	if (ioctl(fd, SIOCETHTOOL, &ifr))
		return -1;
	for (i = 0; i < s->n; i++)
		s->v[i] = u.v.data[i];
	return 0;
}

/* a counter by name; a name that is not there ends the test */
static PW_UNUSED uint64_t pw_stats_get(const struct pw_stats *s, const char *name)
{
	int i;

	for (i = 0; i < s->n; i++)
		if (!strcmp(s->name[i], name))
			return s->v[i];
	fprintf(stderr, "# no counter %s\n", name);
	abort();
}

static PW_UNUSED uint64_t pw_stat(int fd, const char *dev, const char *name)
{
	static struct pw_stats s;

	if (pw_stats_read(fd, dev, &s)) {
		fprintf(stderr, "# no counters of %s: %s\n", dev, strerror(errno));
		abort();
	}
	return pw_stats_get(&s, name);
}

/* until the counter has reached @want or the time is over; returns it */
static PW_UNUSED uint64_t pw_stat_wait(int fd, const char *dev, const char *name, uint64_t want)
{
	double end = pw_now() + SOON / 1000;
	uint64_t v;

	while ((v = pw_stat(fd, dev, name)) < want && pw_now() < end)
		usleep(2000);
	return v;
}

/* --- packet sockets -------------------------------------------------------- */

/* bound to @ifindex; the address is for sends without one */
static PW_UNUSED int pw_packet_open(int ns, int type, int protocol, int ifindex)
{
	struct sockaddr_ll sll = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(protocol),
		.sll_ifindex = ifindex,
	};
	int buf = 16 << 20, one = 1;
	int fd;

	fd = pw_ns_socket(ns, AF_PACKET, type, 0);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buf, sizeof(buf)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &buf, sizeof(buf)))
		perror("# socket buffers");
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one));
	if (bind(fd, (void *)&sll, sizeof(sll))) {
		close(fd);
		return -1;
	}
	return fd;
}

static PW_UNUSED int pw_packet_join(int fd, int ifindex, int what, uint32_t addr, bool drop)
{
	struct packet_mreq m = {
		.mr_ifindex = ifindex,
		.mr_type = what,
		.mr_alen = PW_EEP_ALEN,
		.mr_address = { addr >> 16, addr >> 8, addr },
	};

	return setsockopt(fd, SOL_PACKET, drop ? PACKET_DROP_MEMBERSHIP : PACKET_ADD_MEMBERSHIP,
			  &m, sizeof(m));
}

/* one frame within @ms; -1 if none came */
static PW_UNUSED int pw_recv(int fd, void *buf, size_t len, struct sockaddr_ll *from, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	socklen_t flen = sizeof(*from);

	if (poll(&p, 1, pw_slow_kernel() ? ms * 4 : ms) != 1)
		return -1;
	return recvfrom(fd, buf, len, MSG_DONTWAIT | MSG_TRUNC, (void *)from, from ? &flen : NULL);
}

/* --- EEP messages ---------------------------------------------------------- */

static PW_UNUSED void pw_put(uint8_t *p, int bytes, uint64_t v)
{
	while (bytes--) {
		p[bytes] = v;
		v >>= 8;
	}
}

static PW_UNUSED uint64_t pw_get(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

struct pw_hdr {
	uint32_t dt, sa, dl;
	uint16_t te, pt;
	uint8_t v, p, e, pl, h;
};

static PW_UNUSED void pw_hdr_put(uint8_t *b, const struct pw_hdr *h)
{
	b[0] = h->v << 6 | h->p;
	pw_put(b + 1, 3, h->dt);
	pw_put(b + 4, 2, h->te);
	pw_put(b + 6, 2, h->pt);
	pw_put(b + 8, 4, (uint32_t)h->e << 28 | (uint32_t)h->pl << 25 | h->dl);
	b[12] = h->h << 7;
	pw_put(b + 13, 3, h->sa);
}

static PW_UNUSED void pw_hdr_get(const uint8_t *b, struct pw_hdr *h)
{
	uint32_t f = pw_get(b + 8, 4);

	*h = (struct pw_hdr) {
		.v = b[0] >> 6, .p = b[0] & 63, .dt = pw_get(b + 1, 3), .te = pw_get(b + 4, 2),
		.pt = pw_get(b + 6, 2), .e = f >> 28, .pl = f >> 25 & 7, .dl = f & 0x1ffffff,
		.h = b[12] >> 7, .sa = pw_get(b + 13, 3),
	};
}

/* a plain message: header, data block with padding, TAIL of zeros; its length */
static PW_UNUSED int pw_msg(uint8_t *b, uint32_t dt, uint32_t sa, int pt, int te, int p,
			    const void *data, int len)
{
	struct pw_hdr h = {
		.dt = dt, .sa = sa, .pt = pt, .te = te, .p = p, .dl = (len + 7) / 8, .pl = -len & 7,
	};
	int total = 16 + (int)h.dl * 8 + 8;

	memset(b + 16 + len, 0, total - 16 - len);
	if (len && data)
		memcpy(b + 16, data, len);
	pw_hdr_put(b, &h);
	return total;
}

static PW_UNUSED int pw_put_l2rh(uint8_t *b, const uint8_t *route, int len)
{
	int size = (len + 9) / 8 * 8;

	memset(b, 0, size);
	b[1] = 0x80 | len;
	memcpy(b + 2, route, len);
	return size;
}

static PW_UNUSED int pw_put_sym(uint8_t *b, uint32_t type, const uint8_t *data, int len)
{
	int size = (len + 12) / 8 * 8;

	memset(b, 0, size);
	b[1] = 0xf0 | type >> 16;
	b[2] = type >> 8;
	b[3] = type;
	b[4] = len;
	if (len)
		memcpy(b + 5, data, len);
	return size;
}

static PW_UNUSED int pw_put_opt(uint8_t *b, int type, bool mandatory, bool last, const uint8_t *data,
				int len)
{
	int size = (len + 9) / 8 * 8;

	memset(b, 0, size);
	b[0] = mandatory << 7 | last << 6 | type;
	b[1] = len;
	if (len && data)
		memcpy(b + 2, data, len);
	return size;
}

/* bit by bit, from the definitions */
static PW_UNUSED uint32_t pw_crc32c(const uint8_t *p, int len)
{
	uint32_t c = ~0U;
	int i;

	while (len--) {
		c ^= *p++;
		for (i = 0; i < 8; i++)
			c = c >> 1 ^ (c & 1 ? 0x82f63b78 : 0);
	}
	return ~c;
}

static PW_UNUSED uint64_t pw_crc64we(const uint8_t *p, int len)
{
	uint64_t c = ~0ULL;
	int i;

	while (len--) {
		c ^= (uint64_t)*p++ << 56;
		for (i = 0; i < 8; i++)
			c = c << 1 ^ (c >> 63 ? 0x42f0e1eba9ea3693ULL : 0);
	}
	return ~c;
}

#endif
