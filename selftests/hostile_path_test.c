// SPDX-License-Identifier: GPL-2.0
/*
 * What a station, a program at it or its owner can do to the data path, and the
 * limit that each of them meets: frames that would circle for ever, kernel-made
 * replies that pile up, long lists of groups, many monitors.
 */
#include "pwsan.h"
#include "pwharness.h"

#include <dirent.h>
#include <sys/syscall.h>

#include <linux/bpf.h>
#include <linux/pkt_sched.h>

#define SENDERS 5

static uint8_t tx[70000], rx[70000];

FIXTURE(path) {
	int ns;
	struct pw_nl nl;
	struct pw_genl san;
	int fd[SENDERS + 1];	/* packet sockets at h0, h1, ...; addresses 1, 2, ... */
	int idx[SENDERS + 1];
};

FIXTURE_SETUP(path)
{
	char name[8];
	int i;

	self->ns = pw_ns_new();
	ASSERT_LE(0, self->ns);
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	for (i = 0; i <= SENDERS; i++) {
		snprintf(name, sizeof(name), "h%d", i);
		ASSERT_EQ(0, pw_station_add(&self->nl, name, 0, i, self->ns));
		ASSERT_EQ(0, pw_link_mtu(&self->nl, name, 65528));
		ASSERT_EQ(0, pw_link_up(&self->nl, name));
		self->idx[i] = pw_link_index(&self->nl, name);
		self->fd[i] = pw_packet_open(self->ns, SOCK_RAW, ETH_P_PACKETWAY, self->idx[i]);
		ASSERT_LE(0, self->fd[i]);
	}
	ASSERT_EQ(0, pw_genl_open(&self->san, self->ns));
}

FIXTURE_TEARDOWN(path)
{
	int i;

	for (i = 0; i <= SENDERS; i++)
		close(self->fd[i]);
	close(self->san.nl.fd);
	close(self->nl.fd);
	close(self->ns);
}

#define STAT(i, name) ({						\
	char dev_[8];							\
	snprintf(dev_, sizeof(dev_), "h%d", i);				\
	pw_stat(self->fd[i], dev_, name);				\
})

static int xdp_load(int verdict)
{
	const struct bpf_insn prog[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = verdict },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr a = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insns = (uintptr_t)prog,
		.insn_cnt = 2,
		.license = (uintptr_t)"GPL",
	};

	return syscall(SYS_bpf, BPF_PROG_LOAD, &a, sizeof(a));
}

static int xdp_attach(struct pw_nl *nl, int idx, int prog)
{
	uint32_t flags = XDP_FLAGS_SKB_MODE;
	struct rtattr *nest;
	struct pw_req r;

	pw_req_init(&r, RTM_SETLINK, NLM_F_ACK);
	r.i.ifi_index = idx;
	nest = pw_req_put(&r, IFLA_XDP | NLA_F_NESTED, NULL, 0);
	pw_req_put(&r, IFLA_XDP_FD, &prog, sizeof(prog));
	pw_req_put(&r, IFLA_XDP_FLAGS, &flags, sizeof(flags));
	pw_req_end(&r, nest);
	return pw_nl_talk(nl, &r);
}

/* one's own address is an address like any other; what came from it does not go there again */
TEST_F(path, xdp_tx_to_own_address)
{
	struct rtnl_link_stats64 s;
	int n, prog;

	n = pw_msg(tx, 1, 1, 1500, 0, 0, "self", 4);
	ASSERT_EQ(n, send(self->fd[0], tx, n, 0));
	EXPECT_EQ(n, pw_recv(self->fd[0], rx, sizeof(rx), NULL, SOON));

	prog = xdp_load(XDP_TX);
	if (prog < 0)
		SKIP(return, "no bpf: %s", strerror(errno));
	ASSERT_EQ(0, xdp_attach(&self->nl, self->idx[0], prog));
	/* its own, and one of h1, which it sends on to itself */
	ASSERT_EQ(n, send(self->fd[0], tx, n, 0));
	n = pw_msg(tx, 1, 2, 1500, 0, 0, "other", 5);
	ASSERT_EQ(n, send(self->fd[1], tx, n, 0));
	EXPECT_EQ(2, pw_stat_wait(self->fd[0], "h0", "drop_looped", 2));
	usleep(200000);
	ASSERT_EQ(0, pw_link_stats(&self->nl, "h0", &s));
	EXPECT_GE(5, s.rx_packets);
	EXPECT_EQ(0, xdp_attach(&self->nl, self->idx[0], -1));
	close(prog);
}

/* the thread that polls station @name; 0 if there is none */
static int poll_thread(const char *name)
{
	char path[300], comm[32], want[32];
	DIR *d = opendir("/proc");
	struct dirent *e;
	int pid = 0, fd, n;

	snprintf(want, sizeof(want), "napi/%s-", name);
	while (!pid && d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		fd = open(path, O_RDONLY);
		if (fd < 0)
			continue;
		n = read(fd, comm, sizeof(comm) - 1);
		comm[n > 0 ? n : 0] = 0;
		close(fd);
		if (!strncmp(comm, want, strlen(want)))
			pid = atoi(e->d_name);
	}
	if (d)
		closedir(d);
	return pid;
}

/* h0's poll runs in a thread, on the CPU of this program and only when this sleeps */
static int hold_polls(int ns)
{
	struct sched_param p = { .sched_priority = 10 };
	cpu_set_t cpu;
	int save = pw_ns_self(), pid, err = 0;

	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu) ||
	    pw_write_file("/proc/sys/kernel/sched_rt_runtime_us", "-1"))
		err = -1;
	/* sysfs shows the devices of the namespace in which it was mounted */
	if (!err && (setns(ns, CLONE_NEWNET) || unshare(CLONE_NEWNS) ||
		     mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		     mount("sysfs", "/mnt", "sysfs", 0, NULL) ||
		     pw_write_file("/mnt/class/net/h0/threaded", "1")))
		err = -1;
	setns(save, CLONE_NEWNET);
	close(save);
	pid = err ? 0 : poll_thread("h0");
	if (!pid || sched_setaffinity(pid, sizeof(cpu), &cpu) ||
	    sched_setscheduler(0, SCHED_FIFO, &p))
		return -1;
	return 0;
}

static void release_polls(void)
{
	struct sched_param p = {};

	sched_setscheduler(0, SCHED_OTHER, &p);
	pw_write_file("/proc/sys/kernel/sched_rt_runtime_us", "950000");
}

/* requests wait at h0; it sees them when the fabric stands still */
static uint64_t replies(struct _test_data_path *self, int len, int each)
{
	int i, j, n;

	pw_gsan_set2(&self->san, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_NONE,
		     PACKETWAY_A_SAN_FROZEN, 1);
	if (hold_polls(self->ns))
		return 0;
	for (i = 1; i <= SENDERS; i++) {
		n = pw_msg(tx, 1, i + 1, PW_PT_ECHO, PW_TE_ECHO_REQUEST, 0, NULL, len);
		for (j = 0; j < each; j++)
			if (send(self->fd[i], tx, n, MSG_DONTWAIT) != n)
				break;
	}
	pw_gsan_set(&self->san, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_FAST);
	release_polls();
	pw_stat_wait(self->fd[0], "h0", "echo_requests", SENDERS * each);
	return pw_stat(self->fd[0], "h0", "eep_tx_own");
}

/* replies that came through before the fabric stood still: the poll may have begun by then */
static uint64_t delivered(struct _test_data_path *self)
{
	uint64_t n = 0;
	int i;

	for (i = 1; i <= SENDERS; i++)
		n += STAT(i, "eep_rx_messages");
	return n;
}

TEST_F(path, replies_by_number)
{
	uint64_t n = replies(self, 8, 240);

	if (!n)
		SKIP(return, "no threaded polls");
	EXPECT_LT(1000, STAT(0, "echo_requests"));
	/* PW_INFLIGHT_OWN */
	EXPECT_GE(1024, n - delivered(self));
	/* a sender that found its queue full has sent fewer requests */
	if (STAT(0, "echo_requests") > 1024 + delivered(self))
		EXPECT_LT(0, STAT(0, "eep_tx_own_limited"));
	EXPECT_EQ(STAT(0, "echo_requests"), n + STAT(0, "eep_tx_own_limited") +
		  STAT(0, "echo_rate_limited"));
	EXPECT_SOON(n, STAT(0, "echo_replies_sent"));
}

TEST_F(path, replies_by_bytes)
{
	uint64_t n = replies(self, 60000, 20);

	if (!n)
		SKIP(return, "no threaded polls");
	EXPECT_LT(50, STAT(0, "echo_requests"));
	/* PW_OWN_BYTES */
	EXPECT_GE(1024 * 1024 / 60000, n - delivered(self));
	EXPECT_LT(0, STAT(0, "eep_tx_own_limited"));
	/* what was sent arrives, and then there is room again */
	EXPECT_EQ(0, pw_gsan_set2(&self->san, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_NONE,
				  PACKETWAY_A_SAN_FROZEN, 0));
	n = pw_msg(tx, 1, 2, PW_PT_ECHO, PW_TE_ECHO_REQUEST, 0, NULL, 8);
	EXPECT_EQ(n, send(self->fd[1], tx, n, 0));
	EXPECT_LT(0, pw_recv(self->fd[1], rx, sizeof(rx), NULL, SOON));
}

/* a list that is too long to be sorted with BH off stands for all groups */
TEST_F(path, many_groups)
{
	int i, n;

	ASSERT_EQ(0, pw_gsan_set(&self->san, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_NONE));
	n = pw_msg(tx, 0xe0ffff, 2, 1500, 0, 0, "group", 5);
	for (i = 0; i <= 1024; i++) {
		if (i == 1024) {
			ASSERT_EQ(n, send(self->fd[1], tx, n, 0));
			EXPECT_EQ(-1, pw_recv(self->fd[0], rx, sizeof(rx), NULL, 100));
		}
		ASSERT_EQ(0, pw_packet_join(self->fd[0], self->idx[0], PACKET_MR_MULTICAST,
					    0xe00001 + i, false));
	}
	ASSERT_EQ(n, send(self->fd[1], tx, n, 0));
	EXPECT_EQ(n, pw_recv(self->fd[0], rx, sizeof(rx), NULL, SOON));
	ASSERT_EQ(0, pw_packet_join(self->fd[0], self->idx[0], PACKET_MR_MULTICAST, 0xe00001,
				    true));
	ASSERT_EQ(n, send(self->fd[1], tx, n, 0));
	EXPECT_EQ(-1, pw_recv(self->fd[0], rx, sizeof(rx), NULL, 100));
}

/* every frame looks at all pwmon devices: at most 16 are up */
TEST_F(path, many_monitors)
{
	char name[8];
	int i;

	for (i = 0; i < 17; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		ASSERT_EQ(0, pw_mon_add(&self->nl, name, false));
		EXPECT_EQ(i < 16 ? 0 : -ENOSPC, pw_link_up(&self->nl, name));
	}
	EXPECT_EQ(0, pw_link_down(&self->nl, "m0"));
	EXPECT_EQ(0, pw_link_up(&self->nl, "m16"));
}

/* give a device this qdisc */
static int qdisc_set(struct pw_nl *nl, const char *dev, const char *kind)
{
	struct pw_req r;
	struct tcmsg *t = NLMSG_DATA(&r.n);

	pw_req_init(&r, RTM_NEWQDISC, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE);
	/* the message is longer than that of a link */
	r.n.nlmsg_len = NLMSG_LENGTH(sizeof(*t));
	t->tcm_ifindex = pw_link_index(nl, dev);
	t->tcm_parent = TC_H_ROOT;
	pw_req_put(&r, TCA_KIND, kind, strlen(kind) + 1);
	return pw_nl_talk(nl, &r);
}

/* the station at @port is made anew here: the namespace where it was has ended */
static bool port_free(struct _test_data_path *self, const char *name, int port)
{
	int i;

	for (i = 0; i < SOON / 10 && pw_station_add(&self->nl, name, 0, port, self->ns); i++)
		usleep(10000);
	return i < SOON / 10;
}

/*
 * Frames that wait in a fabric or for room in it hold neither a closed socket nor, by it, a
 * namespace without users: a frozen fabric would keep both for ever. @qdisc: of the station, NULL:
 * none. @count: 256 are in the fabric at most.
 */
static void frozen_namespace(struct __test_metadata *_metadata, struct _test_data_path *self,
			     const char *qdisc, int count)
{
	int ns = pw_ns_new(), fd, i, n, room = 4 << 20;
	struct pw_nl nl;

	ASSERT_LE(0, ns);
	ASSERT_EQ(0, pw_nl_open(&nl, ns));
	ASSERT_EQ(0, pw_station_add(&self->nl, "guest", 0, 9, ns));
	if (qdisc)
		ASSERT_EQ(0, qdisc_set(&nl, "guest", qdisc));
	ASSERT_EQ(0, pw_link_up(&nl, "guest"));
	ASSERT_EQ(0, pw_gsan_set2(&self->san, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_FAST,
				  PACKETWAY_A_SAN_FROZEN, 1));
	fd = pw_packet_open(ns, SOCK_RAW, ETH_P_PACKETWAY, pw_link_index(&nl, "guest"));
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)));
	n = pw_msg(tx, 1, 10, 1500, 0, 0, "stay", 4);
	for (i = 0; i < count; i++)
		ASSERT_EQ(n, send(fd, tx, n, MSG_DONTWAIT));
	EXPECT_EQ(-EBUSY, pw_station_add(&self->nl, "next", 0, 9, self->ns));
	close(fd);
	close(nl.fd);
	close(ns);
	EXPECT_TRUE(port_free(self, "next", 9));
}

TEST_F(path, frozen_namespace_ends)
{
	frozen_namespace(_metadata, self, NULL, 100);
}

TEST_F(path, frozen_namespace_ends_with_frames_waiting)
{
	frozen_namespace(_metadata, self, NULL, 600);
}

TEST_F_TIMEOUT(path, frozen_namespace_ends_with_a_qdisc, 3600)
{
	frozen_namespace(_metadata, self, "pfifo", 600);
}

/* run a command in a namespace */
static int ns_run(int ns, const char *command)
{
	int save = pw_ns_self(), ret = -1;

	if (!setns(ns, CLONE_NEWNET)) {
		ret = system(command);
		if (setns(save, CLONE_NEWNET))
			abort();
	}
	close(save);
	return ret;
}

/*
 * Frames hold no tracked connection either: the end of a namespace waits for its connections, and
 * the ends of all other namespaces of the host wait behind it.
 */
TEST_F(path, frozen_namespace_ends_with_conntrack)
{
	static const char * const setup[] = {
		"ip link set guest up", "ip addr add 10.9.0.1/24 dev guest",
		"ip neigh add 10.9.0.2 lladdr 00:00:01 dev guest", "tc qdisc add dev guest clsact",
		"tc filter add dev guest egress matchall action ct commit",
	};
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
	int ns = pw_ns_new(), next = pw_ns_new(), fd;
	size_t i;

	ASSERT_LE(0, ns);
	ASSERT_LE(0, next);
	ASSERT_EQ(0, pw_station_add(&self->nl, "guest", 0, 9, ns));
	ASSERT_EQ(0, pw_station_add(&self->nl, "guest", 0, 10, next));
	ASSERT_EQ(0, pw_gsan_set2(&self->san, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_FAST,
				  PACKETWAY_A_SAN_FROZEN, 1));
	for (i = 0; i < ARRAY_SIZE(setup); i++)
		if (ns_run(ns, setup[i]))
			SKIP(return, "no act_ct");
	fd = pw_ns_socket(ns, AF_INET, SOCK_DGRAM, 0);
	ASSERT_LE(0, fd);
	to.sin_addr.s_addr = htonl(0x0a090002);
	ASSERT_EQ(4, sendto(fd, "stay", 4, 0, (void *)&to, sizeof(to)));
	close(fd);
	close(ns);
	EXPECT_TRUE(port_free(self, "next", 9));
	usleep(500000);
	close(next);
	EXPECT_TRUE(port_free(self, "other", 10));
	/* where that fails nothing else could free the connection */
	EXPECT_EQ(0, pw_gsan_set2(&self->san, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_NONE,
				  PACKETWAY_A_SAN_FROZEN, 0));
}

TEST_HARNESS_MAIN
