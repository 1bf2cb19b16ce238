// SPDX-License-Identifier: GPL-2.0
/* checkpatch-ignore: TRAILING_STATEMENTS,REPEATED_WORD (lists of cases; comments name arguments) */
/*
 * The calls of the fuzzer: rtnetlink, generic netlink, /dev/packetway and the files
 * that it gives, packet sockets, the peer of a trunk, namespaces, debugfs, the module
 * itself. Each takes its arguments as they are; what they mean is said in the
 * table at the end. An argument 'M' is a defect: (offset << 8 | xor) of one byte of
 * what goes to the kernel; 0: none.
 */
#include "pwtest.h"

#include <netinet/in.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <linux/bpf.h>
#include <linux/genetlink.h>
#include <linux/net_tstamp.h>
#include <linux/packetway_netlink.h>
#include <linux/pkt_sched.h>
#include <linux/veth.h>

#include "fuzz.h"

#define MS 1000000ULL
#define PORT 7000

bool fuzz_reloaded;

/* shared by the threads of a program; races on it are meant */
static struct world {
	int file[FUZZ_SLOTS], po[FUZZ_SLOTS], sock[FUZZ_SLOTS], ns[FUZZ_SLOTS], peer[FUZZ_SLOTS];
	int half[FUZZ_SLOTS], time[FUZZ_SLOTS];
	void *map[FUZZ_SLOTS];
	struct {
		uint64_t session, seq, challenge;
	} end[FUZZ_SLOTS];
} w;

static long page;

void world_init(void)
{
	int i;

	page = sysconf(_SC_PAGESIZE);
	for (i = 0; i < FUZZ_SLOTS; i++) {
		w.file[i] = w.po[i] = w.sock[i] = w.ns[i] = w.peer[i] = -1;
		w.half[i] = w.time[i] = -1;
		w.map[i] = MAP_FAILED;
	}
	w.ns[0] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

static void keep(int *slot, int fd)
{
	int old;

	if (fd < 0)
		return;
	old = __atomic_exchange_n(slot, fd, __ATOMIC_RELAXED);
	if (old >= 0)
		close(old);
}

#define SLOT(kind, i) (&w.kind[(i) % FUZZ_SLOTS])

static const char *name_of(char kind, uint64_t i)
{
	static __thread char name[4][16];
	static __thread unsigned int n;

	n = (n + 1) % 4;
	snprintf(name[n], sizeof(name[n]), "%c%u", kind, (unsigned int)(i % 8));
	return name[n];
}

/* --- netlink ------------------------------------------------------------------- */

struct nlb {
	union {
		struct nlmsghdr h;
		char b[2048];
	};
};

static void nl_begin(struct nlb *m, int type, int flags, const void *hdr, int len)
{
	memset(&m->h, 0, sizeof(m->h));
	m->h.nlmsg_len = NLMSG_LENGTH(len);
	m->h.nlmsg_type = type;
	m->h.nlmsg_flags = NLM_F_REQUEST | flags;
	memcpy(NLMSG_DATA(&m->h), hdr, len);
}

static struct nlattr *nl_put(struct nlb *m, int type, const void *data, int len)
{
	struct nlattr *a = (void *)(m->b + NLMSG_ALIGN(m->h.nlmsg_len));

	if (NLMSG_ALIGN(m->h.nlmsg_len) + NLA_HDRLEN + NLA_ALIGN(len) > (int)sizeof(m->b))
		return a;
	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	memset((char *)a + NLA_HDRLEN, 0, NLA_ALIGN(len));
	if (len)
		memcpy((char *)a + NLA_HDRLEN, data, len);
	m->h.nlmsg_len = NLMSG_ALIGN(m->h.nlmsg_len) + NLA_ALIGN(a->nla_len);
	return a;
}

static void nl_u32(struct nlb *m, int type, uint32_t v)
{
	nl_put(m, type, &v, sizeof(v));
}

static void nl_u64(struct nlb *m, int type, uint64_t v)
{
	nl_put(m, type, &v, sizeof(v));
}

static void nl_str(struct nlb *m, int type, const char *s)
{
	nl_put(m, type, s, strlen(s) + 1);
}

static void nl_end(struct nlb *m, struct nlattr *nest)
{
	nest->nla_len = m->b + m->h.nlmsg_len - (char *)nest;
}

/* the defect, behind the message's own header */
static void spoil(void *from, int len, uint64_t how)
{
	uint8_t *p = from;

	if (how && len > 0)
		p[(how >> 8) % len] ^= how & 0xff ? how : 0x80;
}

static void nl_run(int fd, struct nlb *m, uint64_t how)
{
	char buf[8192];
	int i;

	spoil(m->b + NLMSG_HDRLEN, m->h.nlmsg_len - NLMSG_HDRLEN, how);
	if (send(fd, m, m->h.nlmsg_len, MSG_DONTWAIT) < 0)
		return;
	/* an answer is there when send() returns; each read takes a dump further */
	for (i = 0; i < 64 && recv(fd, buf, sizeof(buf), MSG_DONTWAIT) > 0; i++)
		;
}

/* where the number of a group is behind the head of its nest */
static int mcast_id(const char *nest)
{
	const struct nlattr *a = (const void *)nest;

	/* name and number, in any order */
	return NLA_HDRLEN + (a->nla_type == CTRL_ATTR_MCAST_GRP_ID ? 0 : NLA_ALIGN(a->nla_len));
}

/* *@group: its first multicast group */
static uint16_t family_of(int fd, const char *name, uint32_t *group)
{
	struct genlmsghdr g = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 };
	char buf[8192];
	struct nlmsghdr *h = (void *)buf;
	uint16_t id = 0;
	struct nlattr *a;
	struct nlb m;
	int len;

	nl_begin(&m, GENL_ID_CTRL, 0, &g, sizeof(g));
	nl_str(&m, CTRL_ATTR_FAMILY_NAME, name);
	if (send(fd, &m, m.h.nlmsg_len, 0) < 0)
		return 0;
	len = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
	if (len < NLMSG_LENGTH(GENL_HDRLEN) || h->nlmsg_type == NLMSG_ERROR)
		return 0;
	for (a = (void *)(buf + NLMSG_LENGTH(GENL_HDRLEN)); (char *)a + 4 < buf + len && a->nla_len >= 4;
	     a = (void *)((char *)a + NLA_ALIGN(a->nla_len)))
		if (a->nla_type == CTRL_ATTR_FAMILY_ID)
			memcpy(&id, (char *)a + NLA_HDRLEN, sizeof(id));
		/* a nest of nests */
		else if ((a->nla_type & ~NLA_F_NESTED) == CTRL_ATTR_MCAST_GROUPS && a->nla_len >= 4 * NLA_HDRLEN)
			memcpy(group, (char *)a + 2 * NLA_HDRLEN + mcast_id((char *)a + 2 * NLA_HDRLEN), 4);
	return id;
}

static void sockets(struct thr *t)
{
	int one = 1;

	close(t->rt);
	close(t->ge);
	close(t->dg);
	t->rt = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	t->ge = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	t->dg = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	setsockopt(t->rt, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(t->ge, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
}

void thr_init(struct thr *t)
{
	struct ifreq ifr = { .ifr_name = "lo" };

	t->rt = t->ge = t->dg = -1;
	sockets(t);
	if (!t->id && !ioctl(t->dg, SIOCGIFFLAGS, &ifr)) {
		ifr.ifr_flags |= IFF_UP;
		ioctl(t->dg, SIOCSIFFLAGS, &ifr);
	}
	t->family = family_of(t->ge, PACKETWAY_GENL_NAME, &t->group);
}

static int index_of(struct thr *t, const char *name)
{
	struct ifreq ifr = {};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%.15s", name);
	return ioctl(t->dg, SIOCGIFINDEX, &ifr) ? 0 : ifr.ifr_ifindex;
}

static void rt_begin(struct nlb *m, int type, int flags, int index)
{
	struct ifinfomsg i = { .ifi_index = index };

	nl_begin(m, type, NLM_F_ACK | flags, &i, sizeof(i));
}

static struct nlattr *rt_kind(struct nlb *m, const char *kind, struct nlattr **info)
{
	*info = nl_put(m, IFLA_LINKINFO, NULL, 0);
	nl_str(m, IFLA_INFO_KIND, kind);
	return nl_put(m, IFLA_INFO_DATA, NULL, 0);
}

static void link_up(struct thr *t, const char *name, bool up)
{
	struct ifreq ifr = {};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%.15s", name);
	if (ioctl(t->dg, SIOCGIFFLAGS, &ifr))
		return;
	ifr.ifr_flags = up ? ifr.ifr_flags | IFF_UP : ifr.ifr_flags & ~IFF_UP;
	ioctl(t->dg, SIOCSIFFLAGS, &ifr);
}

/* station namespace SAN port order MTU up defect; namespace 0: here */
static void do_newlink(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct nlattr *info, *data;
	struct nlb m;

	rt_begin(&m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, 0);
	nl_str(&m, IFLA_IFNAME, name_of('s', a[0]));
	if (a[1] && *SLOT(ns, a[1]) >= 0)
		nl_u32(&m, IFLA_NET_NS_FD, *SLOT(ns, a[1]));
	if (a[5])
		nl_u32(&m, IFLA_MTU, a[5]);
	data = rt_kind(&m, PACKETWAY_KIND, &info);
	nl_u32(&m, IFLA_PACKETWAY_SAN, a[2]);
	if (a[3])
		nl_u32(&m, IFLA_PACKETWAY_PORT, a[3] - 1);
	if (a[4])
		nl_u32(&m, IFLA_PACKETWAY_ORDER, a[4]);
	nl_end(&m, data);
	nl_end(&m, info);
	nl_run(t->rt, &m, a[7]);
	if (a[6])
		link_up(t, name_of('s', a[0]), true);
}

/* device (bit 3: monitor) and raw attributes of its kind */
static void do_newlink_raw(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct nlattr *info, *data;
	struct nlb m;

	rt_begin(&m, RTM_NEWLINK, a[1], 0);
	nl_str(&m, IFLA_IFNAME, name_of(a[0] & 8 ? 'm' : 's', a[0]));
	data = rt_kind(&m, a[0] & 8 ? PACKETWAY_MON_KIND : PACKETWAY_KIND, &info);
	memcpy(m.b + m.h.nlmsg_len, c->blob, c->blen);
	m.h.nlmsg_len += NLMSG_ALIGN(c->blen);
	nl_end(&m, data);
	nl_end(&m, info);
	nl_run(t->rt, &m, 0);
}

/* station what value: one change of a link */
static void do_setlink(struct thr *t, const uint64_t *a, const struct call *c)
{
	const char *name = name_of('s', a[0]);
	uint8_t mac[3] = { a[2] >> 16, a[2] >> 8, a[2] };
	struct nlattr *info, *data;
	struct ifreq ifr = {};
	struct nlb m;

	if (a[1] < 2) {
		link_up(t, name, a[1]);
		return;
	}
	rt_begin(&m, RTM_NEWLINK, 0, 0);
	nl_str(&m, IFLA_IFNAME, name);
	switch (a[1]) {
	case 2:
		nl_u32(&m, IFLA_MTU, a[2]);
		break;
	case 3:
		data = rt_kind(&m, PACKETWAY_KIND, &info);
		nl_u32(&m, IFLA_PACKETWAY_ORDER, a[2]);
		nl_end(&m, data);
		nl_end(&m, info);
		break;
	case 4:
		nl_put(&m, IFLA_ADDRESS, mac, 3);
		break;
	case 5:
		nl_u32(&m, IFLA_TXQLEN, a[2] % 1000);
		break;
	case 6:
		snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%.15s", name);
		if (!ioctl(t->dg, SIOCGIFFLAGS, &ifr)) {
			ifr.ifr_flags ^= a[2] & 1 ? IFF_PROMISC : IFF_ALLMULTI;
			ioctl(t->dg, SIOCSIFFLAGS, &ifr);
		}
		return;
	case 7:		/* a rename */
		nl_begin(&m, RTM_NEWLINK, NLM_F_ACK, &(struct ifinfomsg) { .ifi_index = index_of(t, name) },
			 sizeof(struct ifinfomsg));
		nl_str(&m, IFLA_IFNAME, name_of('s', a[2]));
		break;
	default:
		data = rt_kind(&m, PACKETWAY_KIND, &info);
		nl_u32(&m, 1 + a[1] % 5, a[2]);
		nl_end(&m, data);
		nl_end(&m, info);
	}
	nl_run(t->rt, &m, a[3]);
}

static void do_dellink(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct nlb m;

	rt_begin(&m, RTM_DELLINK, 0, 0);
	nl_str(&m, IFLA_IFNAME, name_of("smv"[a[1] % 3], a[0]));
	nl_run(t->rt, &m, 0);
}

static void do_getlink(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct nlb m;

	rt_begin(&m, RTM_GETLINK, a[1] & 1 ? NLM_F_DUMP : 0, 0);
	if (!(a[1] & 1))
		nl_str(&m, IFLA_IFNAME, name_of(a[1] & 2 ? 'm' : 's', a[0]));
	nl_run(t->rt, &m, 0);
}

static void do_movelink(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct nlb m;

	if (*SLOT(ns, a[1]) < 0)
		return;
	rt_begin(&m, RTM_NEWLINK, 0, 0);
	nl_str(&m, IFLA_IFNAME, name_of("sm"[a[2] & 1], a[0]));
	nl_u32(&m, IFLA_NET_NS_FD, *SLOT(ns, a[1]));
	nl_run(t->rt, &m, 0);
}

/* monitor ring cells: a monitor, up, and a socket that listens */
static void do_newmon(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct nlattr *info, *data;
	uint8_t on;
	struct nlb m;

	rt_begin(&m, RTM_NEWLINK, a[3] & 1 ? 0 : NLM_F_CREATE, 0);
	nl_str(&m, IFLA_IFNAME, name_of('m', a[0]));
	data = rt_kind(&m, PACKETWAY_MON_KIND, &info);
	on = a[1] & 1;
	nl_put(&m, IFLA_PWMON_RING, &on, 1);
	on = a[2] & 1;
	nl_put(&m, IFLA_PWMON_CELLS, &on, 1);
	nl_end(&m, data);
	nl_end(&m, info);
	nl_run(t->rt, &m, a[4]);
	link_up(t, name_of('m', a[0]), !(a[3] & 2));
}

static void do_veth(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct ifinfomsg i = {};
	struct nlattr *info, *data, *peer;
	struct nlb m;

	rt_begin(&m, RTM_NEWLINK, NLM_F_CREATE, 0);
	nl_str(&m, IFLA_IFNAME, "v0");
	data = rt_kind(&m, "veth", &info);
	peer = nl_put(&m, VETH_INFO_PEER, &i, sizeof(i));
	nl_str(&m, IFLA_IFNAME, "v1");
	nl_end(&m, peer);
	nl_end(&m, data);
	nl_end(&m, info);
	nl_run(t->rt, &m, 0);
	link_up(t, "v0", true);
	link_up(t, "v1", a[0] & 1);
}

/* IPv4 address 10.9.0.N of a station */
static void do_addr(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct ifaddrmsg i = { .ifa_family = AF_INET, .ifa_prefixlen = 24,
			       .ifa_index = index_of(t, name_of('s', a[0])) };
	uint8_t ip[4] = { 10, 9, 0, 1 + a[1] % 8 };
	struct nlb m;

	nl_begin(&m, a[2] & 1 ? RTM_DELADDR : RTM_NEWADDR, NLM_F_CREATE | NLM_F_ACK, &i, sizeof(i));
	nl_put(&m, IFA_LOCAL, ip, 4);
	nl_put(&m, IFA_ADDRESS, ip, 4);
	nl_run(t->rt, &m, 0);
}

static void do_udp(struct thr *t, const uint64_t *a, const struct call *c)
{
	static const uint8_t data[2000];
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT + a[1] % 4) };
	const char *dev = name_of('s', a[2]);

	to.sin_addr.s_addr = htonl(0x0a090001 + a[0] % 8);
	setsockopt(t->dg, SOL_SOCKET, SO_BINDTODEVICE, dev, strlen(dev));
	sendto(t->dg, data, a[3] % sizeof(data), MSG_DONTWAIT, (void *)&to, sizeof(to));
	setsockopt(t->dg, SOL_SOCKET, SO_BINDTODEVICE, "", 0);
}

/* station action: a generic XDP program of two instructions; 5: none */
static void do_xdp(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct bpf_insn insn[2] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = a[1] },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_XDP, .insns = (uintptr_t)insn, .insn_cnt = 2,
				.license = (uintptr_t)"GPL" };
	struct nlattr *nest;
	struct nlb m;
	int fd = -1;

	if (a[1] < 5) {
		fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
		if (fd < 0)
			return;
	}
	rt_begin(&m, RTM_NEWLINK, 0, index_of(t, name_of('s', a[0])));
	nest = nl_put(&m, IFLA_XDP | NLA_F_NESTED, NULL, 0);
	nl_u32(&m, IFLA_XDP_FD, fd);
	nl_u32(&m, IFLA_XDP_FLAGS, 1U << 1);
	nl_end(&m, nest);
	nl_run(t->rt, &m, 0);
	if (fd >= 0)
		close(fd);
}

/* station kind: another queueing discipline */
static void do_qdisc(struct thr *t, const uint64_t *a, const struct call *c)
{
	static const char * const kinds[] = { "pfifo", "prio", "fq_codel", "noqueue", "netem" };
	struct tcmsg q = { .tcm_parent = TC_H_ROOT, .tcm_handle = 0x10000,
			   .tcm_ifindex = index_of(t, name_of('s', a[0])) };
	struct tc_netem_qopt netem = { .limit = 100, .duplicate = ~0U / 4, .loss = ~0U / 8, .gap = 0 };
	struct nlb m;

	nl_begin(&m, a[1] > 4 ? RTM_DELQDISC : RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK, &q,
		 sizeof(q));
	nl_str(&m, TCA_KIND, kinds[a[1] % 5]);
	if (a[1] == 4)
		nl_put(&m, TCA_OPTIONS, &netem, sizeof(netem));
	nl_run(t->rt, &m, 0);
}

/* --- generic netlink ------------------------------------------------------------- */

static struct nlattr *ge_begin(struct thr *t, struct nlb *m, int cmd, int flags, int nest)
{
	struct genlmsghdr g = { .cmd = cmd, .version = 1 };

	nl_begin(m, t->family, NLM_F_ACK | flags, &g, sizeof(g));
	return nl_put(m, nest | NLA_F_NESTED, NULL, 0);
}

static void ge_end(struct thr *t, struct nlb *m, struct nlattr *nest, uint64_t how)
{
	if (nest)
		nl_end(m, nest);
	nl_run(t->ge, m, how);
}

static int dump_flag(uint64_t v)
{
	return v & 1 ? NLM_F_DUMP : 0;
}

/* command SAN ports engine ring-engine rate real frozen bias given dump or clock defect */
static void do_san(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct nlattr *nest;
	struct nlb m;

	nest = ge_begin(t, &m, PACKETWAY_CMD_SAN_GET + a[0] % 4, a[0] % 4 ? 0 : dump_flag(a[10]),
			PACKETWAY_A_SAN);
	nl_u32(&m, PACKETWAY_A_SAN_ID, a[1]);
	if (a[9] & 1)
		nl_u32(&m, PACKETWAY_A_SAN_PORTS, a[2] < 17 ? a[2] * a[2] : a[2]);
	if (a[9] & 2)
		nl_u32(&m, PACKETWAY_A_SAN_ENGINE, a[3]);
	if (a[9] & 4)
		nl_u32(&m, PACKETWAY_A_SAN_RING_ENGINE, a[4]);
	if (a[9] & 8)
		nl_u64(&m, PACKETWAY_A_SAN_RATE, a[5]);
	if (a[9] & 16)
		nl_u32(&m, PACKETWAY_A_SAN_REAL, a[6]);
	if (a[9] & 32)
		nl_u32(&m, PACKETWAY_A_SAN_FROZEN, a[7]);
	if (a[9] & 64)
		nl_u32(&m, PACKETWAY_A_SAN_BIAS, a[8]);
	if (a[9] & 128)
		nl_u32(&m, PACKETWAY_A_SAN_CLOCK, a[10]);
	ge_end(t, &m, nest, a[11]);
}

/* command SAN flags dump defect: what asks for more, or deletes more */
static void do_san_flags(struct thr *t, const uint64_t *a, const struct call *c)
{
	static const int flags[] = {
		PACKETWAY_A_SAN_WITH_STAGES, PACKETWAY_A_SAN_WITH_MULTICAST, PACKETWAY_A_SAN_WITH_STATIONS,
	};
	struct nlattr *nest;
	struct nlb m;
	int i;

	nest = ge_begin(t, &m, PACKETWAY_CMD_SAN_GET + a[0] % 4, a[0] % 4 ? 0 : dump_flag(a[3]), PACKETWAY_A_SAN);
	nl_u32(&m, PACKETWAY_A_SAN_ID, a[1]);
	for (i = 0; i < 3; i++)
		if (a[2] >> i & 1)
			nl_put(&m, flags[i], NULL, 0);
	ge_end(t, &m, nest, a[4]);
}

/* new SAN ports engine parameter value parameter value defect */
static void do_san_sizes(struct thr *t, const uint64_t *a, const struct call *c)
{
	const uint32_t first = PACKETWAY_A_SAN_DEPTH;
	const uint32_t n = PACKETWAY_A_SAN_GAP_WORD - first + 1;
	static const uint32_t more[] = {
		PACKETWAY_A_SAN_ROUTE, PACKETWAY_A_SAN_RING_PROPAGATION, PACKETWAY_A_SAN_RING_RELEASE,
		PACKETWAY_A_SAN_RING_WIDTH, PACKETWAY_A_SAN_RING_BITSUM,
		PACKETWAY_A_SAN_DROP, PACKETWAY_A_SAN_CORRUPT, PACKETWAY_A_SAN_FAULT_SEED,
		PACKETWAY_A_SAN_CUT_THROUGH, PACKETWAY_A_SAN_CLOCK,
	};
	uint32_t which;
	struct nlattr *nest;
	struct nlb m;
	int i;

	nest = ge_begin(t, &m, a[0] & 1 ? PACKETWAY_CMD_SAN_NEW : PACKETWAY_CMD_SAN_SET, 0,
			PACKETWAY_A_SAN);
	nl_u32(&m, PACKETWAY_A_SAN_ID, a[1]);
	if (a[0] & 1)
		nl_u32(&m, PACKETWAY_A_SAN_PORTS, a[2] < 17 ? a[2] * a[2] : a[2]);
	nl_u32(&m, PACKETWAY_A_SAN_ENGINE, a[3]);
	for (i = 4; i < 8; i += 2) {
		which = a[i] % (n + sizeof(more) / sizeof(more[0]));
		nl_u32(&m, which < n ? first + which : more[which - n], a[i + 1]);
	}
	ge_end(t, &m, nest, a[8]);
}

/*
 * new SAN engine name plan: the bytes of the blob are flipped in it, and are connections; bytes
 * left out, defect
 */
static void do_san_topology(struct thr *t, const uint64_t *a, const struct call *c)
{
	static const char *const names[] = {
		"default", "torus:4x4", "ring:6", "clos:4x3x5", "benes:16", "butterfly:4x2",
		"crossbar:16", "mesh:2x2x2", "fattree:2x4", "torus:0x4", "clos:4", "x:1",
	};
	/* two switches of two ports with a station each, joined */
	struct {
		struct packetway_topology head;
		uint16_t word[12];
		uint8_t output[2];
	} plan = {
		.head = { 2, 2, 2, 1, 2 },
		.word = { 0, 2, 0, 2, 0x8000, 3, 0x8001, 1, 0, 0, 1, 1 },
		.output = { 0x10, 0x01 },
	};
	int len = offsetof(typeof(plan), output) + 2, i;
	struct nlattr *nest;
	struct nlb m;

	nest = ge_begin(t, &m, a[0] & 1 ? PACKETWAY_CMD_SAN_NEW : PACKETWAY_CMD_SAN_SET, 0,
			PACKETWAY_A_SAN);
	nl_u32(&m, PACKETWAY_A_SAN_ID, a[1]);
	nl_u32(&m, PACKETWAY_A_SAN_ENGINE, a[2]);
	nl_str(&m, PACKETWAY_A_SAN_TOPOLOGY, names[a[3] % (sizeof(names) / sizeof(names[0]))]);
	if (a[4] & 1) {
		for (i = 0; i < len && i < c->blen; i++)
			((uint8_t *)&plan)[i] ^= c->blob[i] & 3 ? 0 : c->blob[i] >> 2;
		nl_put(&m, PACKETWAY_A_SAN_TOPOLOGY_PLAN, &plan, len - (a[4] & 8 ? a[5] % len : 0));
	}
	if (a[4] & 2) {
		struct nlattr *all = nl_put(&m, PACKETWAY_A_SAN_MULTICAST | NLA_F_NESTED, NULL, 0);
		int bytes = a[4] & 4 ? 1 + a[5] % 33 : 2;
		struct nlattr *one;

		for (i = 0; i + bytes < c->blen; i += 1 + bytes) {
			one = nl_put(&m, PACKETWAY_A_MULTICAST_CONNECTION | NLA_F_NESTED, NULL, 0);
			nl_u32(&m, PACKETWAY_A_CONNECTION_FROM, c->blob[i] % 17);
			nl_put(&m, PACKETWAY_A_CONNECTION_TO, c->blob + i + 1, bytes);
			nl_end(&m, one);
		}
		nl_end(&m, all);
	}
	ge_end(t, &m, nest, a[6]);
}

/* command station node capacity lifetime given dump defect */
static void do_esp(struct thr *t, const uint64_t *a, const struct call *c)
{
	int cmd = PACKETWAY_CMD_ESP_GET + a[0] % 3;
	struct nlattr *nest;
	struct nlb m;

	nest = ge_begin(t, &m, cmd, cmd == PACKETWAY_CMD_ESP_BINDING_GET ? NLM_F_DUMP :
			cmd == PACKETWAY_CMD_ESP_GET ? dump_flag(a[6]) : 0, PACKETWAY_A_ESP);
	if (a[5] & 1)
		nl_u32(&m, PACKETWAY_A_ESP_IFINDEX, index_of(t, name_of('s', a[1])));
	if (a[5] & 2)
		nl_u32(&m, PACKETWAY_A_ESP_NODE, a[2]);
	if (a[5] & 4)
		nl_u32(&m, PACKETWAY_A_ESP_CAPACITY, a[3]);
	if (a[5] & 8)
		nl_u32(&m, PACKETWAY_A_ESP_LIFETIME, a[4]);
	ge_end(t, &m, nest, a[7]);
}

static void put_half(struct nlb *m, uint64_t san, uint64_t port, uint64_t mtu, uint64_t quality)
{
	struct nlattr *h = nl_put(m, PACKETWAY_A_ROUTER_HALF | NLA_F_NESTED, NULL, 0);

	nl_u32(m, PACKETWAY_A_HALF_SAN, san);
	if (port)
		nl_u32(m, PACKETWAY_A_HALF_PORT, port - 1);
	if (mtu)
		nl_u32(m, PACKETWAY_A_HALF_MTU, mtu);
	if (quality)
		nl_u32(m, PACKETWAY_A_HALF_QUALITY, quality);
	nl_end(m, h);
}

/* router SAN port MTU SAN port MTU defect quality */
static void do_router(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct nlattr *nest;
	struct nlb m;

	nest = ge_begin(t, &m, PACKETWAY_CMD_ROUTER_NEW, 0, PACKETWAY_A_ROUTER);
	nl_str(&m, PACKETWAY_A_ROUTER_NAME, name_of('r', a[0]));
	put_half(&m, a[1], a[2], a[3], a[8]);
	put_half(&m, a[4], a[5], a[6], a[8]);
	ge_end(t, &m, nest, a[7]);
}

static void trunk_addr(struct nlb *m, int type, int port, bool six)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port),
				    .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	nl_put(m, type, six ? (void *)&in6 : (void *)&in, six ? sizeof(in6) : sizeof(in));
}

/* trunk SAN port MTU kind keyed insecure id defect peer; kinds: UDP, UDP on IPv6, device, bare */
static void do_trunk(struct thr *t, const uint64_t *a, const struct call *c)
{
	unsigned int i = a[0] % FUZZ_SLOTS;
	struct nlattr *nest, *trunk;
	uint8_t key[32];
	struct nlb m;

	nest = ge_begin(t, &m, PACKETWAY_CMD_ROUTER_NEW, 0, PACKETWAY_A_ROUTER);
	nl_str(&m, PACKETWAY_A_ROUTER_NAME, name_of('t', i));
	put_half(&m, a[1], a[2], a[3], 0);
	trunk = nl_put(&m, PACKETWAY_A_ROUTER_TRUNK | NLA_F_NESTED, NULL, 0);
	if (a[4] == 2 || a[4] == 3) {
		nl_u32(&m, PACKETWAY_A_TRUNK_DEV, index_of(t, i & 1 ? "v1" : "v0"));
		if (a[4] == 3)
			nl_put(&m, PACKETWAY_A_TRUNK_BARE, NULL, 0);
	} else {
		trunk_addr(&m, PACKETWAY_A_TRUNK_LOCAL, PORT + i, a[4]);
		trunk_addr(&m, PACKETWAY_A_TRUNK_REMOTE, PORT + (i ^ 1), a[4]);
	}
	if (a[5] & 1) {
		fuzz_key(key);
		nl_put(&m, PACKETWAY_A_TRUNK_KEY, key, 32);
	}
	if (a[6] & 1)
		nl_put(&m, PACKETWAY_A_TRUNK_INSECURE, NULL, 0);
	if (a[7])
		nl_u32(&m, PACKETWAY_A_TRUNK_ID, a[7]);
	if (a[9])
		nl_u32(&m, PACKETWAY_A_TRUNK_PEER, a[9]);
	nl_end(&m, trunk);
	ge_end(t, &m, nest, a[8]);
}

/* what router dump */
static void do_router_get(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct nlattr *nest;
	struct nlb m;

	nest = ge_begin(t, &m, a[0] & 1 ? PACKETWAY_CMD_ROUTER_DEL : PACKETWAY_CMD_ROUTER_GET,
			a[0] & 1 ? 0 : dump_flag(a[2]), PACKETWAY_A_ROUTER);
	nl_str(&m, PACKETWAY_A_ROUTER_NAME, name_of(a[0] & 2 ? 't' : 'r', a[1]));
	ge_end(t, &m, nest, a[3]);
}

/* what SAN first last half-router quality MTU defect */
static void do_route(struct thr *t, const uint64_t *a, const struct call *c)
{
	static const int cmds[] = { PACKETWAY_CMD_ROUTE_NEW, PACKETWAY_CMD_ROUTE_DEL, PACKETWAY_CMD_ROUTE_GET };
	int cmd = cmds[a[0] % 3];
	struct nlattr *nest;
	struct nlb m;

	nest = ge_begin(t, &m, cmd, cmd == PACKETWAY_CMD_ROUTE_GET ? NLM_F_DUMP : 0, PACKETWAY_A_ROUTE);
	if (a[1])
		nl_u32(&m, PACKETWAY_A_ROUTE_SAN, a[1] - 1);
	if (cmd != PACKETWAY_CMD_ROUTE_GET) {
		nl_u32(&m, PACKETWAY_A_ROUTE_FIRST, a[2]);
		if (a[3])
			nl_u32(&m, PACKETWAY_A_ROUTE_LAST, a[3]);
		nl_u32(&m, PACKETWAY_A_ROUTE_HR, a[4]);
	}
	if (cmd == PACKETWAY_CMD_ROUTE_NEW) {
		nl_u32(&m, PACKETWAY_A_ROUTE_QUALITY, a[5]);
		nl_u32(&m, PACKETWAY_A_ROUTE_MTU, a[6]);
	}
	ge_end(t, &m, nest, a[7]);
}

/* what station first last L2RHs routes MTU defect; what: 2 a dump, 3 a dump of all stations */
static void do_source(struct thr *t, const uint64_t *a, const struct call *c)
{
	static const int cmds[] = {
		PACKETWAY_CMD_ROUTE_NEW, PACKETWAY_CMD_ROUTE_DEL, PACKETWAY_CMD_ROUTE_GET, PACKETWAY_CMD_ROUTE_GET,
	};
	int cmd = cmds[a[0] % 4];
	struct nlattr *nest;
	uint8_t row[64];
	struct nlb m;

	nest = ge_begin(t, &m, cmd, cmd == PACKETWAY_CMD_ROUTE_GET ? NLM_F_DUMP : 0, PACKETWAY_A_ROUTE);
	if (a[0] % 4 != 3)
		nl_u32(&m, PACKETWAY_A_ROUTE_IFINDEX, index_of(t, name_of('s', a[1])));
	if (a[0] % 4 < 2) {
		nl_u32(&m, PACKETWAY_A_ROUTE_FIRST, a[2]);
		if (a[3])
			nl_u32(&m, PACKETWAY_A_ROUTE_LAST, a[3]);
	}
	if (a[0] % 4 == 0) {
		nl_put(&m, PACKETWAY_A_ROUTE_L2RH, row, prefix_build(row, a[4], a[5]));
		nl_u32(&m, PACKETWAY_A_ROUTE_MTU, a[6]);
	}
	ge_end(t, &m, nest, a[7]);
}

/* what SAN address name defect */
static void do_node(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct nlattr *nest;
	char name[130] = "";
	struct nlb m;

	if (a[0] % 3 == 2) {
		nest = ge_begin(t, &m, PACKETWAY_CMD_POETS_GET, NLM_F_DUMP, PACKETWAY_A_POETS);
		if (a[1])
			nl_u32(&m, PACKETWAY_A_POETS_IFINDEX, index_of(t, name_of('s', a[1])));
		ge_end(t, &m, nest, a[4]);
		return;
	}
	nest = ge_begin(t, &m, a[0] % 3 ? PACKETWAY_CMD_RESOLVE : PACKETWAY_CMD_NODE_GET,
			a[0] % 3 ? 0 : NLM_F_DUMP, PACKETWAY_A_NODE);
	if (a[1])
		nl_u32(&m, PACKETWAY_A_NODE_SAN, a[1] - 1);
	if (a[3]) {
		memcpy(name, c->blob, c->blen < 129 ? c->blen : 129);
		nl_str(&m, PACKETWAY_A_NODE_NAME, name);
	} else {
		nl_u32(&m, PACKETWAY_A_NODE_ADDR, a[2]);
	}
	ge_end(t, &m, nest, a[4]);
}

/* the notifications of the family from now on */
static void do_listen(struct thr *t, const uint64_t *a, const struct call *c)
{
	setsockopt(t->ge, SOL_NETLINK, a[0] & 1 ? NETLINK_ADD_MEMBERSHIP : NETLINK_DROP_MEMBERSHIP, &t->group,
		   sizeof(t->group));
}

/* command flags nest: raw attributes */
static void do_genl_raw(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct genlmsghdr g = { .cmd = a[0], .version = a[3] };
	struct nlattr *nest = NULL;
	struct nlb m;

	nl_begin(&m, t->family, a[1], &g, sizeof(g));
	if (a[2])
		nest = nl_put(&m, a[2] | NLA_F_NESTED, NULL, 0);
	memcpy(m.b + m.h.nlmsg_len, c->blob, c->blen);
	m.h.nlmsg_len += NLMSG_ALIGN(c->blen);
	ge_end(t, &m, nest, 0);
}

/* --- /dev/packetway ---------------------------------------------------------------- */

static void do_open(struct thr *t, const uint64_t *a, const struct call *c)
{
	keep(SLOT(file, a[0]), open("/dev/" PACKETWAY_DEVICE, (a[1] & 1 ? O_NONBLOCK : 0) | O_RDWR | O_CLOEXEC));
}

#define IOCTL(fd, cmd, s, how) ({ \
	(s).size = sizeof(s); \
	spoil(&(s), sizeof(s), how); \
	ioctl(fd, cmd, &(s)); })

static void do_bind(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_bind b = { .ifindex = index_of(t, name_of('s', a[1])) };

	IOCTL(*SLOT(file, a[0]), PACKETWAY_IOC_BIND, b, a[2]);
}

static void do_unbind(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_unbind u = {};

	IOCTL(*SLOT(file, a[0]), PACKETWAY_IOC_UNBIND, u, a[1]);
}

/* file what defect register */
static void do_info(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_aton_get_latch l = { .reg = a[3] };
	struct packetway_aton_get g = {};
	struct packetway_info i = {};

	if (a[1] & 2)
		IOCTL(*SLOT(file, a[0]), PACKETWAY_IOC_ATON_GET_LATCH, l, a[2]);
	else if (a[1] & 1)
		IOCTL(*SLOT(file, a[0]), PACKETWAY_IOC_GET_INFO, i, a[2]);
	else
		IOCTL(*SLOT(file, a[0]), PACKETWAY_IOC_ATON_GET, g, a[2]);
}

static uint64_t result[PACKETWAY_ATON_SORT_MAX];

static struct packetway_aton_command command_of(const uint64_t *a)
{
	struct packetway_aton_command k = {
		.size = sizeof(k), .op = a[0], .reg = a[1], .mods = a[2], .dst = a[3], .comparand = a[4],
	};
	static uint8_t nodes[128];
	unsigned int i;

	if (a[0] == PW_ATON_OP_SORT)
		k.room = a[5];
	else if (a[0] == PW_ATON_OP_BITSUM)
		k.room = 64;
	if (a[0] == PW_ATON_OP_TREE) {
		k.heights = a[5] % 22;
		for (i = 0; i < k.heights && i < PACKETWAY_ATON_HEIGHTS; i++)
			k.ops[i] = 1 + (a[4] >> i) % 8;
	}
	if (a[0] == PW_ATON_OP_TREE && a[2] & PACKETWAY_ATON_NODES) {
		k.heights %= PACKETWAY_ATON_NODE_HEIGHTS + 2;
		k.room = (1 << k.heights) - 1;
		memset(k.ops, 0, sizeof(k.ops));
		for (i = 0; i < sizeof(nodes); i++)
			nodes[i] = 1 + (a[4] >> i % 32) % 8;
		k.data = (uintptr_t)nodes;
	}
	return k;
}

/* the same on all rings that routers join */
static void do_reduce(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_aton_reduce k = {
		.op = a[1], .reg = a[2], .mods = a[3], .comparand = a[5], .sans = a[6] % 4,
		.timeout_ms = 1 + a[7] % 100, .flags = a[4] & PACKETWAY_ATON_REDUCE_PARTIAL,
	};

	IOCTL(*SLOT(file, a[0]), PACKETWAY_IOC_ATON_REDUCE, k, a[8]);
}

/*
 * File op register modifiers destination comparand room milliseconds (255: for ever; from 192
 * on: on all rings) defect.
 */
static void do_aton(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_aton_command k = command_of(a + 1);
	struct timespec ts;

	if (a[7] >= 192 && a[7] < 255) {
		do_reduce(t, a, c);
		return;
	}
	if (k.room && !k.data)
		k.data = (uintptr_t)result;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	if (a[7] != 255)
		k.deadline = ts.tv_sec * 1000 * MS + ts.tv_nsec + (a[7] & 127) * MS;
	IOCTL(*SLOT(file, a[0]), PACKETWAY_IOC_ATON_COMMAND, k, a[8]);
}

/* file op register modifiers destination comparand room count defect */
static void do_submit(struct thr *t, const uint64_t *a, const struct call *c)
{
	static __thread struct packetway_aton_command k[64];
	struct packetway_aton_submit s = { .commands = (uintptr_t)k, .stride = sizeof(k[0]),
					   .count = 1 + a[7] % 64 };
	int i;

	for (i = 0; i < 64; i++) {
		k[i] = command_of(a + 1);
		k[i].user_data = i;
		if (a[8] & 0x10000)
			spoil(&k[i], sizeof(k[i]), a[8] + i * 256);
	}
	IOCTL(*SLOT(file, a[0]), PACKETWAY_IOC_ATON_SUBMIT, s, a[8] & 0x10000 ? 0 : a[8]);
}

/* file op register modifiers destination comparand period defect */
static void do_stand(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_aton_stand s = { .op = a[1], .reg = a[2], .mods = a[3], .dst = a[4],
					  .comparand = a[5], .period = 1000 + a[6] % 9000 };

	if (!a[1])
		s.period = 0;
	IOCTL(*SLOT(file, a[0]), PACKETWAY_IOC_ATON_STAND, s, a[7]);
}

/* file what register group value defect */
static void do_set(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_aton_set s = { .flags = a[1], .reg = a[2], .group = a[3], .value = a[4] };

	IOCTL(*SLOT(file, a[0]), PACKETWAY_IOC_ATON_SET, s, a[5]);
}

/* file return registers bits key defect; few keys and bits, so that files share them */
static void do_lease(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_aton_lease l = {
		.flags = a[1] & PACKETWAY_ATON_LEASE_RETURN, .regs = a[2] & 0x1ffff,
		.group = a[3] & 7, .key = a[4] & 1,
	};

	IOCTL(*SLOT(file, a[0]), PACKETWAY_IOC_ATON_LEASE, l, a[5]);
}

/* file bit members op modifiers words register milliseconds and flags, defect */
static void do_round(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_aton_round r = {
		.bit = a[1], .members = a[2], .op = a[3], .mods = a[4], .count = a[5] % 10,
		.flags = a[7] >> 5 & (PACKETWAY_ATON_ROUND_NOWAIT | PACKETWAY_ATON_ROUND_FETCH |
				      PACKETWAY_ATON_ROUND_LONG),
	};
	uint64_t words[PACKETWAY_ATON_ROUND_LONG_WORDS + 1] = {};
	struct timespec ts;
	unsigned int i;

	for (i = 0; i < r.count && i < PACKETWAY_ATON_ROUND_WORDS; i++)
		r.reg[i] = a[6] + i;
	if (r.flags & PACKETWAY_ATON_ROUND_LONG) {
		r.regs = r.count;
		r.count = a[6] * 17 % (PACKETWAY_ATON_ROUND_LONG_WORDS + 2);
		r.data = (uintptr_t)words;
	}
	clock_gettime(CLOCK_MONOTONIC, &ts);
	r.deadline = ts.tv_sec * 1000 * MS + ts.tv_nsec + (a[7] & 31) * MS;
	IOCTL(*SLOT(file, a[0]), PACKETWAY_IOC_ATON_ROUND, r, a[8]);
}

/* file count registers defect */
static void do_ring_create(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_ring_create r = { .count = a[1], .regs = a[2] };

	IOCTL(*SLOT(file, a[0]), PACKETWAY_IOC_RING_CREATE, r, a[3]);
}

/* file read register first count defect */
static void do_ring_operands(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_ring_operands r = { .flags = a[1], .reg = a[2], .first = a[3], .count = a[4],
					     .operands = (uintptr_t)result };

	if (r.count > PACKETWAY_ATON_SORT_MAX)
		r.operands = 0;
	IOCTL(*SLOT(file, a[0]), PACKETWAY_IOC_RING_OPERANDS, r, a[5]);
}

/* of each kind that read() and ioctl() may be tried on */
static int *any_slot(uint64_t i)
{
	int *slots[] = { w.file, w.po, w.sock, w.peer, w.half, w.time, w.file, w.po };

	return slots[i >> 2 & 7] + i % FUZZ_SLOTS;
}

static int any_fd(uint64_t i)
{
	return *any_slot(i);
}

/* descriptor, see any_fd(); number size: given bytes as the structure */
static void do_ioctl_raw(struct thr *t, const uint64_t *a, const struct call *c)
{
	static __thread uint8_t arg[512];
	uint32_t size = a[2];

	memset(arg, 0, sizeof(arg));
	memcpy(arg + 4, c->blob, c->blen);
	memcpy(arg, &size, 4);
	ioctl(any_fd(a[0]), a[1] & 0x100 ? a[3] : _IO(PACKETWAY_IOC_TYPE, a[1] & 0xff), arg);
}

/* slot file page protection (16: of a clock file) pages */
static void do_mmap(struct thr *t, const uint64_t *a, const struct call *c)
{
	void *p = mmap(NULL, page * (1 + a[4] % 3), a[3] & (PROT_READ | PROT_WRITE), a[3] & 8 ? MAP_PRIVATE : MAP_SHARED,
		       a[3] & 16 ? *SLOT(time, a[1]) : *SLOT(file, a[1]), page * (a[2] % 4));

	/* an old map stays: it goes with the process */
	if (p != MAP_FAILED)
		*SLOT(map, a[0]) = p;
}

static void do_munmap(struct thr *t, const uint64_t *a, const struct call *c)
{
	void *p = __atomic_exchange_n(SLOT(map, a[0]), MAP_FAILED, __ATOMIC_RELAXED);

	if (p != MAP_FAILED)
		munmap(p, page);
}

/*
 * slot word value: through the kernel, so that a page that has gone or must not be
 * written is an errno and no signal
 */
static void do_poke(struct thr *t, const uint64_t *a, const struct call *c)
{
	void *p = *SLOT(map, a[0]);
	struct iovec local = { (void *)&a[2], 8 }, remote = { (char *)p + a[1] % 64 * 8, 8 };
	uint64_t v;

	if (p == MAP_FAILED)
		return;
	process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
	local.iov_base = &v;
	process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
}

/* descriptor bytes milliseconds */
static void do_read(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct pollfd p = { .fd = any_fd(a[0]), .events = POLLIN | POLLOUT };
	char buf[8192];

	if (p.fd < 0)
		return;
	poll(&p, 1, a[2] & 63);
	/* may block if there is nothing: the end of the program is then a signal, so only seldom */
	if (p.revents & (POLLIN | POLLHUP | POLLERR) || (a[2] & 0xfc) == 0x40)
		if (read(p.fd, buf, a[1] % sizeof(buf)) < 0)
			return;
}

/* descriptor duplicate: of that only a duplicate is closed */
static void do_close(struct thr *t, const uint64_t *a, const struct call *c)
{
	int fd = a[1] & 1 ? fcntl(any_fd(a[0]), F_DUPFD_CLOEXEC, 0) :
			    __atomic_exchange_n(any_slot(a[0]), -1, __ATOMIC_RELAXED);

	if (fd >= 0)
		close(fd);
}

/* --- POETS ------------------------------------------------------------------------- */

/* slot file flags devices pins queue mothership interval defect task */
static void do_poets_open(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_poets_open o = { .flags = a[2] | PACKETWAY_POETS_NONBLOCK, .devices = a[3],
					  .pins = a[4], .queue = a[5], .mothership = a[6], .interval = a[7],
					  .task = a[2] & PACKETWAY_POETS_TASK ? a[9] : 0 };

	if (a[2] & PACKETWAY_POETS_MOTHERSHIP)
		o.devices = o.pins = o.mothership = o.interval = 0;
	keep(SLOT(po, a[0]), IOCTL(*SLOT(file, a[1]), PACKETWAY_IOC_POETS_OPEN, o, a[8]));
}

/* slot devices pins edges defect */
static void do_poets_load(struct thr *t, const uint64_t *a, const struct call *c)
{
	static __thread uint32_t pins[64], edges[1024];
	struct packetway_poets_load l = { .pins = (uintptr_t)pins, .edges = (uintptr_t)edges,
					  .devices = a[1] % 64, .total = a[1] % 64 * (a[2] % 16) };
	int i;

	for (i = 0; i < 64; i++)
		pins[i] = a[2] % 16;
	for (i = 0; i < 1024; i++)
		edges[i] = a[3];
	IOCTL(*SLOT(po, a[0]), PACKETWAY_IOC_POETS_LOAD, l, a[4]);
}

/* slot command value value text defect */
static void do_poets_ioctl(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_poets_simple s = {};
	struct packetway_poets_set set = { .flags = a[2] & 3, .interval = a[3], .mothership = a[4] };
	struct packetway_poets_get get = {};
	struct packetway_poets_log log = { .text = (uintptr_t)c->blob, .len = c->blen, .device = a[2] };
	struct packetway_poets_count count = { .send_handlers = a[2], .idle = a[3] };
	int fd = *SLOT(po, a[0]);

	switch (a[1] % 7) {
	case 0: IOCTL(fd, PACKETWAY_IOC_POETS_START, s, a[5]); break;
	case 1: IOCTL(fd, PACKETWAY_IOC_POETS_KILL, s, a[5]); break;
	case 2: IOCTL(fd, PACKETWAY_IOC_POETS_RESET, s, a[5]); break;
	case 3: IOCTL(fd, PACKETWAY_IOC_POETS_SET, set, a[5]); break;
	case 4: IOCTL(fd, PACKETWAY_IOC_POETS_GET, get, a[5]); break;
	case 5: IOCTL(fd, PACKETWAY_IOC_POETS_LOG, log, a[5]); break;
	case 6: IOCTL(fd, PACKETWAY_IOC_POETS_COUNT, count, a[5]); break;
	}
}

/* slot hardware software pin length packets defect */
static void do_poets_write(struct thr *t, const uint64_t *a, const struct call *c)
{
	static __thread struct packetway_poets_packet p[64];
	int n = 1 + a[5] % 64, i;

	for (i = 0; i < n; i++)
		p[i] = (struct packetway_poets_packet) { .hw_addr = a[1], .sw_addr = a[2], .pin_addr = a[3],
							 .len = a[4] };
	spoil(p, n * sizeof(p[0]), a[6]);
	if (write(*SLOT(po, a[0]), p, n * sizeof(p[0]) - (a[6] & 1)) < 0)
		return;
}

/* --- half-routers in user space ------------------------------------------------------ */

/* slot file SAN port MTU quality peer defect */
static void do_half_open(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_half_open o = { .flags = PACKETWAY_HALF_NONBLOCK |
						  (a[0] & 1 ? PACKETWAY_HALF_HEAD : 0),
					 .san = a[2], .mtu = a[4],
					 .port = a[3] ? a[3] - 1 : PACKETWAY_HALF_ANY_PORT,
					 .quality = a[5], .peer = a[6] };

	snprintf(o.name, sizeof(o.name), "%s", name_of('h', a[0]));
	keep(SLOT(half, a[0]), IOCTL(*SLOT(file, a[1]), PACKETWAY_IOC_HALF_OPEN, o, a[7]));
}

static void do_half_get(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_half_get g = {};

	IOCTL(*SLOT(half, a[0]), PACKETWAY_IOC_HALF_GET, g, a[1]);
}

/* --- clocks of SANs in lockstep ------------------------------------------------------ */

/* slot file (4: a clock file) station flags defect; station 7: any */
static void do_time_open(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_time_open o = { .flags = a[3] & 1 ? PACKETWAY_TIME_NONBLOCK : 0 };
	bool again = a[1] & 4;

	if (!again && a[2] % 8 != 7)
		o.ifindex = index_of(t, name_of('s', a[2]));
	keep(SLOT(time, a[0]), IOCTL(again ? *SLOT(time, a[1]) : *SLOT(file, a[1]), PACKETWAY_IOC_TIME_OPEN,
				     o, a[4]));
}

/* slot leave flags order defect */
static void do_time_join(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_time_join j = { .flags = a[2], .order = a[2] & PACKETWAY_TIME_JOIN_HOLD ? 0 : a[3] };
	struct packetway_time_leave l = { .flags = a[2] & PACKETWAY_TIME_JOIN_HOLD };

	if (a[1] & 1)
		IOCTL(*SLOT(time, a[0]), PACKETWAY_IOC_TIME_LEAVE, l, a[4]);
	else
		IOCTL(*SLOT(time, a[0]), PACKETWAY_IOC_TIME_JOIN, j, a[4]);
}

/*
 * slot how order milliseconds: a child joins, and ends, is another program, waits or is stopped;
 * then it is killed. 4: it stays over exec, 8: it is still there when the program ends
 */
static void do_time_fork(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct packetway_time_join j = { .size = sizeof(j), .order = a[2],
					 .flags = a[1] & 4 ? PACKETWAY_TIME_JOIN_EXEC : 0 };
	struct packetway_time_wait wait = { .size = sizeof(wait), .until = 1000000 };
	int fd = *SLOT(time, a[0]), pid;

	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ioctl(fd, PACKETWAY_IOC_TIME_JOIN, &j);
		switch (a[1] & 3) {
		case 1:
			execl("/bin/sleep", "sleep", "1", NULL);
			break;
		case 2:
			ioctl(fd, PACKETWAY_IOC_TIME_WAIT, &wait);
			break;
		case 3:
			kill(getpid(), SIGSTOP);
			break;
		}
		_exit(0);
	}
	if (pid < 0 || a[1] & 8)
		return;
	usleep(a[3] % 16 * 1000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* slot command flags value value defect; a wait may last until the program is killed */
static void do_time_ioctl(struct thr *t, const uint64_t *a, const struct call *c)
{
	static __thread struct packetway_time_entry entry[64];
	struct packetway_time_wait wait = { .flags = a[2], .until = a[3] };
	struct packetway_time_alarm alarm = { .flags = a[2] & 1, .at = a[3], .interval = a[4] };
	struct packetway_time_get get = {};
	struct packetway_time_set set = { .flags = a[2], .stall_ms = a[3], .quantum = a[4] };
	struct packetway_time_list list = { .entries = (uintptr_t)entry, .room = a[3] };
	int fd = *SLOT(time, a[0]);

	if (list.room > 64)
		list.entries = 0;
	switch (a[1] % 6) {
	case 0: IOCTL(fd, PACKETWAY_IOC_TIME_GET, get, a[5]); break;
	case 1: IOCTL(fd, PACKETWAY_IOC_TIME_SET, set, a[5]); break;
	case 2: IOCTL(fd, PACKETWAY_IOC_TIME_LIST, list, a[5]); break;
	case 3: IOCTL(fd, PACKETWAY_IOC_TIME_ALARM, alarm, a[5]); break;
	default: IOCTL(fd, PACKETWAY_IOC_TIME_WAIT, wait, a[5]); break;
	}
}

/* --- packet sockets ------------------------------------------------------------------ */

/* slot device type */
static void do_sock(struct thr *t, const uint64_t *a, const struct call *c)
{
	static const char kinds[] = "ssmv";
	struct sockaddr_ll sll = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int fd = socket(AF_PACKET, (a[2] & 1 ? SOCK_DGRAM : SOCK_RAW) | SOCK_CLOEXEC, 0), v;

	if (fd < 0)
		return;
	sll.sll_ifindex = index_of(t, name_of(kinds[a[2] >> 1 & 3], a[1]));
	if (sll.sll_ifindex && bind(fd, (void *)&sll, sizeof(sll))) {
		close(fd);
		return;
	}
	v = SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE |
	    SOF_TIMESTAMPING_TX_SOFTWARE;
	if (a[2] & 8)
		setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &v, sizeof(v));
	v = 1;
	if (a[2] & 16)
		setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &v, sizeof(v));
	if (a[2] & 32)
		setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &v, sizeof(v));
	keep(SLOT(sock, a[0]), fd);
}

static void do_join(struct thr *t, const uint64_t *a, const struct call *c)
{
	pw_packet_join(*SLOT(sock, a[0]), index_of(t, name_of('s', a[1])), PACKET_MR_MULTICAST + a[4] % 3,
		       a[2], a[3] & 1);
}

static struct frame_spec spec_of(const uint64_t *a, const struct call *c)
{
	/* types and bodies that belong together are tried more often */
	static const struct {
		uint16_t pt, te;
		uint8_t body;
	} usual[] = {
		{ PW_PT_RRP, PW_TE_WRU, 0 }, { PW_PT_RRP, PW_TE_INFO, 1 }, { PW_PT_RRP, PW_TE_TELL, 2 },
		{ PW_PT_RRP, PW_TE_GVL2, 2 }, { PW_PT_RRP, PW_TE_HRTO, 2 }, { PW_PT_RRP, PW_TE_GVRT, 0 },
		{ PW_PT_RRP, PW_TE_RTBL, 3 }, { PW_PT_ERR, PW_TE_ERR_HRDOWN, 4 },
		{ PW_PT_ERR, PW_TE_ERR_LINKDOWN, 4 }, { PW_PT_ESP, 0, 5 }, { PW_PT_POETS, 0, 6 },
		{ PW_PT_IP, 0, 7 }, { PW_PT_IP, 0, 8 }, { PW_PT_EMBEDDED, 0, 9 },
		{ PW_PT_ECHO, PW_TE_ECHO_REQUEST, 11 }, { PW_PT_ERR, PW_TE_ERR_TOOBIG, 4 },
		{ PW_PT_RRP, PW_TE_RDRC, 10 }, { PW_PT_RRP, PW_TE_L2SR, 3 }, { PW_PT_ERR, PW_TE_ERR_UNK, 9 },
		{ 1500, 0, 11 }, { PW_PT_REDUCE, PW_TE_REDUCE_ASK, 12 }, { PW_PT_REDUCE, PW_TE_REDUCE_ANSWER, 12 },
	};
	unsigned int n = sizeof(usual) / sizeof(usual[0]), u = a[0];
	struct frame_spec s = {
		.pt = u < n ? usual[u].pt : u, .te = u < n ? usual[u].te : a[5], .body = u < n ? usual[u].body : u >> 16,
		.dt = a[1], .sa = a[2], .a = a[3], .b = a[4], .len = a[5], .e = a[6], .p = a[6] >> 8,
		.opts = a[6] >> 16, .prefix = a[6] >> 24, .blob = c->blob, .blen = c->blen,
	};

	return s;
}

static void frame_write(int fd, bool sock, const uint64_t *a, const struct call *c)
{
	uint8_t b[FUZZ_FRAME + 1024] = {};
	struct frame_spec s = spec_of(a + 1, c);
	int n = frame_build(b, &s), i;

	spoil(b, n, a[9]);
	if (a[9] & 0x10000)
		n -= a[9] >> 17 & 15;
	for (i = 0; i <= (int)(a[8] & 63) && n > 0; i++)
		if ((sock ? send(fd, b, n, MSG_DONTWAIT) : write(fd, b, n)) < 0 && !sock)
			break;
}

/* slot what destination source word word length flags count defect */
static void do_frame(struct thr *t, const uint64_t *a, const struct call *c)
{
	frame_write(*SLOT(sock, a[0]), true, a, c);
}

/* the same of a half-router */
static void do_half_write(struct thr *t, const uint64_t *a, const struct call *c)
{
	frame_write(*SLOT(half, a[0]), false, a, c);
}

/* slot address protocol length: a datagram that the station makes a message of */
static void do_dgram(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(a[2]), .sll_halen = 3,
				  .sll_addr = { a[1] >> 16, a[1] >> 8, a[1] },
				  .sll_ifindex = index_of(t, name_of('s', a[4])) };
	static const uint8_t data[65536];

	sendto(*SLOT(sock, a[0]), data, a[3] % sizeof(data), MSG_DONTWAIT, (void *)&to, sizeof(to));
}

/* station what: ethtool and time stamps */
static void do_ethtool(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct ethtool_ts_info ts = { .cmd = ETHTOOL_GET_TS_INFO };
	struct ethtool_drvinfo drv = { .cmd = ETHTOOL_GDRVINFO };
	struct ethtool_value link = { .cmd = ETHTOOL_GLINK };
	struct hwtstamp_config hw = { .tx_type = a[2] & 3, .rx_filter = a[2] >> 2 & 15 };
	struct ifreq ifr = {};
	struct pw_stats *s;

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%.15s", name_of('s', a[0]));
	switch (a[1] % 6) {
	case 0:
		s = malloc(sizeof(*s));
		/* not thread-safe inside; the numbers do not matter */
		if (s)
			pw_stats_read(t->dg, ifr.ifr_name, s);
		free(s);
		return;
	case 1: ifr.ifr_data = (void *)&ts; break;
	case 2: ifr.ifr_data = (void *)&drv; break;
	case 3: ifr.ifr_data = (void *)&link; break;
	case 4:
	case 5:
		ifr.ifr_data = (void *)&hw;
		ioctl(t->dg, a[1] % 6 == 4 ? SIOCSHWTSTAMP : SIOCGHWTSTAMP, &ifr);
		return;
	}
	ioctl(t->dg, SIOCETHTOOL, &ifr);
}

/* --- the other end of a trunk ----------------------------------------------------------- */

/* trunk kind: takes the place of the trunk's peer */
static void do_peer(struct thr *t, const uint64_t *a, const struct call *c)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(PORT + ((a[0] % 4) ^ 1)) };
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT + a[0] % 4) };
	struct sockaddr_ll ll = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_PACKETWAY),
				  .sll_halen = 6, .sll_addr = { 255, 255, 255, 255, 255, 255 } };
	int fd;

	in.sin_addr.s_addr = to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (a[1] & 1) {
		fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		ll.sll_ifindex = index_of(t, a[0] & 1 ? "v0" : "v1");
		if (fd >= 0 && bind(fd, (void *)&ll, sizeof(ll))) {
			close(fd);
			return;
		}
	} else {
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (fd >= 0 && (bind(fd, (void *)&in, sizeof(in)) || connect(fd, (void *)&to, sizeof(to)))) {
			close(fd);
			return;
		}
	}
	keep(SLOT(peer, a[0]), fd);
}

static void peer_send(struct thr *t, unsigned int i, const void *b, int n)
{
	struct sockaddr_ll ll = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_PACKETWAY),
				  .sll_halen = 6, .sll_addr = { 255, 255, 255, 255, 255, 255 } };

	if (send(w.peer[i], b, n, MSG_DONTWAIT) >= 0 || errno != EDESTADDRREQ)
		return;
	ll.sll_ifindex = index_of(t, i & 1 ? "v0" : "v1");
	sendto(w.peer[i], b, n, MSG_DONTWAIT, (void *)&ll, sizeof(ll));
}

static void trunk_hdr(uint8_t *h, unsigned int i, int type, uint64_t flags)
{
	memset(h, 0, 32);
	h[0] = 'P';
	h[1] = 1;
	h[2] = type;
	h[3] = flags & 1;
	h[4] = flags >> 8;
	h[5] = flags >> 16;
	pw_put(h + 6, 2, flags >> 24 & 1);
	if (!w.end[i].session)
		w.end[i].session = 0x1111 * (i + 1);
	pw_put(h + 8, 8, w.end[i].session);
	pw_put(h + 16, 8, ++w.end[i].seq);
}

/* trunk keyed address MTU how defect; how: 1 a wrong echo, 2 a new session, 4 an old number */
static void do_hello(struct thr *t, const uint64_t *a, const struct call *c)
{
	unsigned int i = a[0] % FUZZ_SLOTS;
	uint8_t b[4096], p[4096], h[32];
	struct pollfd f = { .fd = w.peer[i], .events = POLLIN };
	int n, k;

	if (f.fd < 0)
		return;
	poll(&f, 1, 300);
	for (k = 0; k < 32 && (n = recv(f.fd, b, sizeof(b), MSG_DONTWAIT)) > 0; k++)
		if (n >= 56 && b[2] == 2 && trunk_unseal(p, b, n) == 24)
			w.end[i].challenge = pw_get(p, 8);
	if (a[4] & 2)
		w.end[i].session += 0x10001;
	if (a[4] & 4)
		w.end[i].seq = 0;
	trunk_hdr(h, i, 2, 0);
	pw_put(p, 8, 0x4242 + w.end[i].seq);
	pw_put(p + 8, 8, w.end[i].challenge + (a[4] & 1));
	pw_put(p + 16, 4, a[2]);
	pw_put(p + 20, 4, a[3] ? a[3] : 1500);
	n = trunk_seal(b, h, p, 24, a[1] & 1);
	spoil(b, n, a[5]);
	peer_send(t, i, b, n);
}

/* trunk keyed flags what destination source word word length flags count defect */
static void do_trunk_frame(struct thr *t, const uint64_t *a, const struct call *c)
{
	unsigned int i = a[0] % FUZZ_SLOTS, k;
	struct frame_spec s = spec_of(a + 3, c);
	uint8_t b[FUZZ_FRAME + 1024], f[FUZZ_FRAME + 1024] = {}, h[32];
	int n = frame_build(f, &s), l;

	for (k = 0; k <= (a[10] & 31) && n > 0; k++) {
		trunk_hdr(h, i, 1, a[2]);
		l = trunk_seal(b, h, f, n, a[1] & 1);
		spoil(b, l, a[11]);
		peer_send(t, i, b, l);
	}
}

/*
 * trunk what destination source word word length flags count defect: as it is, to its device
 * (count 64) or to all
 */
static void do_bare_frame(struct thr *t, const uint64_t *a, const struct call *c)
{
	unsigned int i = a[0] % FUZZ_SLOTS, k;
	struct frame_spec s = spec_of(a + 1, c);
	struct sockaddr_ll ll = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_PACKETWAY),
				  .sll_halen = 6, .sll_addr = { 255, 255, 255, 255, 255, 255 } };
	uint8_t b[FUZZ_FRAME + 1024] = {};
	struct ifreq ifr = {};
	int n = frame_build(b, &s);

	ll.sll_ifindex = index_of(t, i & 1 ? "v0" : "v1");
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", i & 1 ? "v1" : "v0");
	if (a[8] & 64 && !ioctl(t->dg, SIOCGIFHWADDR, &ifr))
		memcpy(ll.sll_addr, ifr.ifr_hwaddr.sa_data, 6);
	spoil(b, n, a[9]);
	for (k = 0; k <= (a[8] & 31) && n > 0; k++)
		if (sendto(w.peer[i], b, n, MSG_DONTWAIT, (void *)&ll, sizeof(ll)) < 0)
			break;
}

/* --- namespaces, debugfs, module ----------------------------------------------------------- */

static void do_ns_new(struct thr *t, const uint64_t *a, const struct call *c)
{
	int home = pw_ns_self();

	if (home < 0)
		return;
	if (!unshare(CLONE_NEWNET)) {
		keep(SLOT(ns, a[0]), pw_ns_self());
		if (a[1] & 1 || setns(home, CLONE_NEWNET)) {
			t->ns = a[0] % FUZZ_SLOTS;
			sockets(t);
		}
	}
	close(home);
}

static void do_ns_enter(struct thr *t, const uint64_t *a, const struct call *c)
{
	if (*SLOT(ns, a[0]) >= 0 && !setns(*SLOT(ns, a[0]), CLONE_NEWNET)) {
		t->ns = a[0] % FUZZ_SLOTS;
		sockets(t);
	}
}

static void do_ns_drop(struct thr *t, const uint64_t *a, const struct call *c)
{
	int fd = __atomic_exchange_n(SLOT(ns, 1 + a[0] % 3), -1, __ATOMIC_RELAXED);

	if (fd >= 0)
		close(fd);
}

/* SAN what number number */
static void do_debugfs(struct thr *t, const uint64_t *a, const struct call *c)
{
	static const struct {
		const char *file, *text;
	} how[] = {
		{ "ring_fault", "flip" }, { "ring_fault", "stuck" }, { "ring_fault", "leave" },
		{ "ring_fault", "lose" }, { "ring_fault", "dup" }, { "fabric_fault", "100000" },
		{ "fabric_fault", "0" }, { "fabric_queues", NULL }, { "frame_fault", "" },
	};
	char path[128], text[4096];
	struct stat st;
	int ns = pw_ns_self(), fd, n;

	if (ns < 0)
		return;
	n = fstat(ns, &st);
	close(ns);
	if (n)
		return;
	snprintf(path, sizeof(path), "/sys/kernel/debug/packetway/net%lu-san%u/%s", (unsigned long)st.st_ino,
		 (unsigned int)a[0], how[a[1] % 9].file);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		fd = open(path, (how[a[1] % 9].text ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	if (fd < 0)
		return;
	if (how[a[1] % 9].text) {
		if (a[1] & 0x100)
			n = snprintf(text, sizeof(text), "%.*s", c->blen, (const char *)c->blob);
		else if (!*how[a[1] % 9].text)
			n = snprintf(text, sizeof(text), "%u", (unsigned int)a[2]);
		else
			n = snprintf(text, sizeof(text), "%s %u %u", how[a[1] % 9].text, (unsigned int)a[2],
				     (unsigned int)a[3]);
		n = write(fd, text, n);
	} else {
		n = read(fd, text, sizeof(text));
	}
	close(fd);
}

/* which value write: a limit of this namespace, and what counts against it */
static void do_sysctl(struct thr *t, const uint64_t *a, const struct call *c)
{
	static const char * const names[] = {
		"sans", "stations", "routers", "trunks", "monitors", "interfaces", "files", "standing", "switches",
		"participants", "clock_files", "leases",
	};
	char path[64], text[64];
	int fd, n;

	snprintf(path, sizeof(path), "/proc/sys/net/packetway/%s_%s", a[0] & 16 ? "nr" : "max", names[a[0] % 12]);
	fd = open(path, (a[2] & 1 ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text));
	if (n >= 0 && a[2] & 1 && pwrite(fd, text, snprintf(text, sizeof(text), "%llu", (unsigned long long)a[1]), 0) < 0)
		errno = 0;
	close(fd);
}

/* the PTP clock of a SAN */
static void do_ptp(struct thr *t, const uint64_t *a, const struct call *c)
{
	char path[32];
	struct timespec ts;
	int fd;

	snprintf(path, sizeof(path), "/dev/ptp%u", (unsigned int)(a[0] % 4));
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!clock_gettime((~(clockid_t)fd << 3) | 3, &ts) && (a[1] & 1))
		clock_settime((~(clockid_t)fd << 3) | 3, &ts);
	close(fd);
}

int fuzz_module(bool in)
{
	const char *ko = getenv("PW_KO");
	int fd, err;

	if (!in)
		return syscall(SYS_delete_module, "packetway", O_NONBLOCK);
	fd = ko ? open(ko, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return -1;
	err = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return err;
}

static void do_module(struct thr *t, const uint64_t *a, const struct call *c)
{
	if (!getenv("PW_KO"))
		return;
	fuzz_module(a[0] & 1);
	t->family = family_of(t->ge, PACKETWAY_GENL_NAME, &t->group);
}

static void do_sleep(struct thr *t, const uint64_t *a, const struct call *c)
{
	usleep(a[0] % 64 * 1000);
}

/* letters: see gen_arg() in fuzz.c */
const struct call_desc fuzz_calls[] = {
	{ .name = "newlink", .run = do_newlink, .args = "snNPoMbD", .weight = 12 },
	{ .name = "newlink_raw", .run = do_newlink_raw, .args = "xf", .weight = 2, .blob = true },
	{ .name = "setlink", .run = do_setlink, .args = "s8uD", .weight = 8 },
	{ .name = "dellink", .run = do_dellink, .args = "s3", .weight = 5 },
	{ .name = "getlink", .run = do_getlink, .args = "s3", .weight = 2 },
	{ .name = "movelink", .run = do_movelink, .args = "snb", .weight = 4, .nofail = true },
	{ .name = "newmon", .run = do_newmon, .args = "sbb3D", .weight = 4 },
	{ .name = "veth", .run = do_veth, .args = "b", .weight = 2, .nofail = true },
	{ .name = "addr", .run = do_addr, .args = "s8b", .weight = 3 },
	{ .name = "udp", .run = do_udp, .args = "88sl", .weight = 3 },
	{ .name = "xdp", .run = do_xdp, .args = "s5", .weight = 2, .nofail = true },
	{ .name = "qdisc", .run = do_qdisc, .args = "s5", .weight = 1, .nofail = true },
	{ .name = "san", .run = do_san, .args = "3NkeeUbbuxbD", .weight = 10 },
	{ .name = "san_sizes", .run = do_san_sizes, .args = "bNkexlxvD", .weight = 4 },
	{ .name = "san_topology", .run = do_san_topology, .args = "bNexxxD", .weight = 4, .blob = true },
	{ .name = "san_flags", .run = do_san_flags, .args = "3N8bD", .weight = 2 },
	{ .name = "esp", .run = do_esp, .args = "3sauuxbD", .weight = 5 },
	{ .name = "router", .run = do_router, .args = "8NPMNPMDw", .weight = 8 },
	{ .name = "trunk", .run = do_trunk, .args = "3NPM3bbwDa", .weight = 6 },
	{ .name = "router_get", .run = do_router_get, .args = "38bD", .weight = 5 },
	{ .name = "route", .run = do_route, .args = "3NaaauuD", .weight = 5 },
	{ .name = "source", .run = do_source, .args = "3saaxUMD", .weight = 5 },
	{ .name = "node", .run = do_node, .args = "3NabD", .weight = 4, .blob = true },
	{ .name = "listen", .run = do_listen, .args = "b", .weight = 2 },
	{ .name = "genl_raw", .run = do_genl_raw, .args = "cf8b", .weight = 4, .blob = true },
	{ .name = "open", .run = do_open, .args = "3b", .weight = 5 },
	{ .name = "bind", .run = do_bind, .args = "3sD", .weight = 8 },
	{ .name = "unbind", .run = do_unbind, .args = "3D", .weight = 3 },
	{ .name = "info", .run = do_info, .args = "33Dr", .weight = 3 },
	{ .name = "aton", .run = do_aton, .args = "3OrmauvtD", .weight = 10 },
	{ .name = "submit", .run = do_submit, .args = "3OrmauvxD", .weight = 6 },
	{ .name = "stand", .run = do_stand, .args = "3OrmauuD", .weight = 6 },
	{ .name = "set", .run = do_set, .args = "33ruUD", .weight = 4 },
	{ .name = "lease", .run = do_lease, .args = "3bu33D", .weight = 5 },
	{ .name = "round", .run = do_round, .args = "333OmxrxD", .weight = 6 },
	{ .name = "ring_create", .run = do_ring_create, .args = "3vrD", .weight = 4 },
	{ .name = "ring_operands", .run = do_ring_operands, .args = "3brvvD", .weight = 3 },
	{ .name = "ioctl_raw", .run = do_ioctl_raw, .args = "xizu", .weight = 3, .blob = true },
	{ .name = "mmap", .run = do_mmap, .args = "33xx3", .weight = 4 },
	{ .name = "munmap", .run = do_munmap, .args = "3", .weight = 2 },
	{ .name = "poke", .run = do_poke, .args = "3xU", .weight = 4 },
	{ .name = "read", .run = do_read, .args = "xlx", .weight = 6 },
	{ .name = "close", .run = do_close, .args = "xb", .weight = 5 },
	{ .name = "poets_open", .run = do_poets_open, .args = "338vvvauD3", .weight = 6 },
	{ .name = "poets_load", .run = do_poets_load, .args = "3xxuD", .weight = 4 },
	{ .name = "poets_ioctl", .run = do_poets_ioctl, .args = "38uuaD", .weight = 6, .blob = true },
	{ .name = "poets_write", .run = do_poets_write, .args = "3apulxD", .weight = 6 },
	{ .name = "half_open", .run = do_half_open, .args = "33NPMuaD", .weight = 4 },
	{ .name = "half_get", .run = do_half_get, .args = "3D", .weight = 2 },
	{ .name = "half_write", .run = do_half_write, .args = "3TaaUUlFtD", .weight = 6, .blob = true },
	{ .name = "time_open", .run = do_time_open, .args = "38sbD", .weight = 5 },
	{ .name = "time_join", .run = do_time_join, .args = "3b8tD", .weight = 6 },
	{ .name = "time_ioctl", .run = do_time_ioctl, .args = "383UUD", .weight = 8 },
	{ .name = "time_fork", .run = do_time_fork, .args = "3x8x", .weight = 3, .nofail = true },
	{ .name = "sock", .run = do_sock, .args = "3sx", .weight = 8 },
	{ .name = "join", .run = do_join, .args = "3sab3", .weight = 3 },
	{ .name = "frame", .run = do_frame, .args = "3TaaUUlFtD", .weight = 22, .blob = true },
	{ .name = "dgram", .run = do_dgram, .args = "3aTls", .weight = 3 },
	{ .name = "ethtool", .run = do_ethtool, .args = "s8x", .weight = 3 },
	{ .name = "peer", .run = do_peer, .args = "3b", .weight = 3 },
	{ .name = "hello", .run = do_hello, .args = "3baM8D", .weight = 5 },
	{ .name = "trunk_frame", .run = do_trunk_frame, .args = "3bFTaaUUlFtD", .weight = 8, .blob = true },
	{ .name = "bare_frame", .run = do_bare_frame, .args = "3TaaUUlFtD", .weight = 4, .blob = true },
	{ .name = "ns_new", .run = do_ns_new, .args = "3b", .weight = 4 },
	{ .name = "ns_enter", .run = do_ns_enter, .args = "3", .weight = 4 },
	{ .name = "ns_drop", .run = do_ns_drop, .args = "3", .weight = 3 },
	{ .name = "debugfs", .run = do_debugfs, .args = "Nxuu", .weight = 2, .blob = true, .root = true },
	{ .name = "sysctl", .run = do_sysctl, .args = "xub", .weight = 2 },
	{ .name = "ptp", .run = do_ptp, .args = "3b", .weight = 1, .root = true },
	{ .name = "module", .run = do_module, .args = "b", .weight = 1, .nofail = true, .root = true },
	{ .name = "sleep", .run = do_sleep, .args = "x", .weight = 2 },
};

const unsigned int fuzz_ncalls = sizeof(fuzz_calls) / sizeof(fuzz_calls[0]);

void call_run(struct thr *t, const struct call *c)
{
	fuzz_calls[c->op].run(t, c->arg, c);
}
