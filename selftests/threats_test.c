// SPDX-License-Identifier: GPL-2.0
/*
 * The lines of Documentation/networking/packetway-threats.rst that no other test
 * covers: users without CAP_NET_ADMIN over the network namespace, owners of another
 * namespace, descriptors passed to them, and what a station that has gone leaves.
 */
#include "pwrouter.h"
#include "pwharness.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define NOBODY 65534

/* a request with the nest @nest: a number, and for routers a name */
static int change(struct pw_genl *g, int command, int nest, int attr, uint32_t v)
{
	struct rtattr *outer, *half;
	struct pw_req r;

	pw_genl_init(&r, g->family, command, NLM_F_ACK);
	outer = pw_genl_nest(&r, nest);
	if (nest == PACKETWAY_A_ROUTER) {
		pw_req_put(&r, attr, command == PACKETWAY_CMD_ROUTER_DEL ? "r" : "r2",
			   command == PACKETWAY_CMD_ROUTER_DEL ? 2 : 3);
		for (v = 1; command == PACKETWAY_CMD_ROUTER_NEW && v < 3; v++) {
			half = pw_genl_nest(&r, PACKETWAY_A_ROUTER_HALF);
			pw_req_u32(&r, PACKETWAY_A_HALF_SAN, v);
			pw_req_end(&r, half);
		}
	} else {
		pw_req_u32(&r, attr, v);
	}
	if (nest == PACKETWAY_A_ROUTE) {
		pw_req_u32(&r, PACKETWAY_A_ROUTE_FIRST, 0x900);
		pw_req_u32(&r, PACKETWAY_A_ROUTE_LAST, 0x9ff);
		pw_req_u32(&r, PACKETWAY_A_ROUTE_HR, 0x100 + 2);
	}
	if (command == PACKETWAY_CMD_SAN_SET)
		pw_req_u32(&r, PACKETWAY_A_SAN_FROZEN, 1);
	pw_req_end(&r, outer);
	return pw_nl_talk(&g->nl, &r);
}

/* messages of a dump, or a negative errno */
static int dump(struct pw_genl *g, int command)
{
	struct nlmsghdr *h;
	struct pw_req r;
	int len, n = 0;

	pw_genl_init(&r, g->family, command, NLM_F_DUMP);
	r.n.nlmsg_seq = ++g->nl.seq;
	if (send(g->nl.fd, &r, r.n.nlmsg_len, 0) < 0)
		return -errno;
	for (;;) {
		len = recv(g->nl.fd, g->nl.buf, sizeof(g->nl.buf), 0);
		if (len < 0)
			return -errno;
		for (h = (void *)g->nl.buf; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_type == NLMSG_DONE)
				return n;
			if (h->nlmsg_type == NLMSG_ERROR)
				return ((struct nlmsgerr *)NLMSG_DATA(h))->error;
			n++;
		}
	}
}

static const struct {
	int command, nest, attr;
	uint32_t v;
} changes[] = {
	{ PACKETWAY_CMD_SAN_NEW, PACKETWAY_A_SAN, PACKETWAY_A_SAN_ID, 7 },
	{ PACKETWAY_CMD_SAN_SET, PACKETWAY_A_SAN, PACKETWAY_A_SAN_ID, 3 },
	{ PACKETWAY_CMD_SAN_DEL, PACKETWAY_A_SAN, PACKETWAY_A_SAN_ID, 3 },
	{ PACKETWAY_CMD_ESP_SET, PACKETWAY_A_ESP, PACKETWAY_A_ESP_CAPACITY, 5 },
	{ PACKETWAY_CMD_ROUTER_NEW, PACKETWAY_A_ROUTER, PACKETWAY_A_ROUTER_NAME, 0 },
	{ PACKETWAY_CMD_ROUTER_DEL, PACKETWAY_A_ROUTER, PACKETWAY_A_ROUTER_NAME, 0 },
	{ PACKETWAY_CMD_ROUTE_NEW, PACKETWAY_A_ROUTE, PACKETWAY_A_ROUTE_SAN, 1 },
	{ PACKETWAY_CMD_ROUTE_DEL, PACKETWAY_A_ROUTE, PACKETWAY_A_ROUTE_SAN, 1 },
	{ PACKETWAY_CMD_ROUTE_NEW, PACKETWAY_A_ROUTE, PACKETWAY_A_ROUTE_IFINDEX, 2 },
	{ PACKETWAY_CMD_ROUTE_DEL, PACKETWAY_A_ROUTE, PACKETWAY_A_ROUTE_IFINDEX, 2 },
};

static const int dumps[] = {
	PACKETWAY_CMD_SAN_GET, PACKETWAY_CMD_ROUTER_GET, PACKETWAY_CMD_ROUTE_GET,
	PACKETWAY_CMD_NODE_GET, PACKETWAY_CMD_ESP_GET, PACKETWAY_CMD_POETS_GET,
};

#define COUNT_OF(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* a namespace with stations on SANs 1 and 2, a router between them, and SAN 3 */
FIXTURE(threats) {
	int ns, fd, state[COUNT_OF(dumps)];
	struct pw_nl nl;
	struct pw_genl g;
};

typedef FIXTURE_DATA(threats) fixture;

static void state_of(struct pw_genl *g, int *state)
{
	int i;

	for (i = 0; i < COUNT_OF(dumps); i++)
		state[i] = dump(g, dumps[i]);
}

FIXTURE_SETUP(threats)
{
	struct packetway_ring_create c = { .size = sizeof(c), .count = 8, .regs = 1 };
	double end = pw_now() + SOON / 1000;
	int now[COUNT_OF(dumps)];

	ASSERT_EQ(0, unshare(CLONE_NEWNET));
	self->ns = pw_ns_self();
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_genl_open(&self->g, self->ns));
	ASSERT_EQ(0, pw_station_add(&self->nl, "a", 1, 0, -1));
	ASSERT_EQ(0, pw_station_add(&self->nl, "b", 2, 0, -1));
	ASSERT_EQ(0, pw_link_up(&self->nl, "a"));
	ASSERT_EQ(0, pw_link_up(&self->nl, "b"));
	ASSERT_EQ(0, pw_router_add(&self->g, "r", (struct pw_half_req){ 1, 1, -1 },
				   (struct pw_half_req){ 2, 1, -1 }));
	ASSERT_EQ(0, pw_san_cmd(&self->g, PACKETWAY_CMD_SAN_NEW, 3, 4, -1));
	self->fd = open(PW_DEV, O_RDWR);
	ASSERT_EQ(0, pw_bind(self->fd, pw_link_index(&self->nl, "a")));
	ASSERT_EQ(0, pw_ioctl(self->fd, PACKETWAY_IOC_RING_CREATE, &c));
	/* what nodes and routers tell each other has come to rest */
	state_of(&self->g, self->state);
	for (;;) {
		usleep(300000);
		state_of(&self->g, now);
		if (!memcmp(now, self->state, sizeof(now)) || pw_now() > end)
			break;
		memcpy(self->state, now, sizeof(now));
	}
}

FIXTURE_TEARDOWN(threats)
{
	close(self->fd);
	close(self->nl.fd);
	close(self->g.nl.fd);
	close(self->ns);
}

/* the status of a child that ran @f with @arg; 0: all as it must be */
static int in_child(int (*f)(void *arg), void *arg)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(f(arg));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int become_nobody(void)
{
	return setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY) ||
	       prctl(PR_SET_DUMPABLE, 1);
}

/* --- no capability over the network namespace ------------------------------------ */

/* in the namespace it is in: to enter one takes a capability */
static int plain_socket(struct pw_nl *nl, int protocol)
{
	struct timeval tv = { .tv_sec = 60 };

	memset(nl, 0, sizeof(*nl));
	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	return nl->fd < 0 ? -1 : setsockopt(nl->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
}

/* from 20 on: number of the command that was not refused; 60 on: of the dump */
static int refused_everything(void *arg)
{
	fixture *t = arg;
	struct pw_genl g;
	struct pw_nl nl;
	int i, err;

	if (plain_socket(&nl, NETLINK_ROUTE) || plain_socket(&g.nl, NETLINK_GENERIC))
		return 1;
	g.family = t->g.family;
	for (i = 0; i < COUNT_OF(changes); i++) {
		err = change(&g, changes[i].command, changes[i].nest, changes[i].attr, changes[i].v);
		if (err != -EPERM)
			return 20 + changes[i].command;
	}
	/* bindings' tags are capabilities; the rest may be seen */
	if (dump(&g, PACKETWAY_CMD_ESP_BINDING_GET) != -EPERM)
		return 3;
	for (i = 0; i < COUNT_OF(dumps); i++)
		if (dump(&g, dumps[i]) != t->state[i])
			return 60 + i;
	if (pw_station_add(&nl, "evil", 1, 5, -1) != -EPERM)
		return 4;
	if (pw_link_del(&nl, "a") != -EPERM || pw_link_down(&nl, "a") != -EPERM ||
	    pw_link_mtu(&nl, "a", 100) != -EPERM || pw_link_order(&nl, "a", 1) != -EPERM)
		return 5;
	if (socket(AF_PACKET, SOCK_RAW, 0) >= 0)
		return 6;
	return 0;
}

static int as_nobody(void *arg)
{
	return become_nobody() ? 10 : refused_everything(arg);
}

/* root of a user namespace of its own, which does not own the network namespace */
static int as_root_elsewhere(void *arg)
{
	return become_nobody() || unshare(CLONE_NEWUSER) ? 10 : refused_everything(arg);
}

TEST_F(threats, netlink_without_capability)
{
	int now[COUNT_OF(dumps)];

	EXPECT_EQ(0, in_child(as_nobody, self));
	EXPECT_EQ(0, in_child(as_root_elsewhere, self));
	/* nothing has changed */
	state_of(&self->g, now);
	EXPECT_EQ(0, memcmp(now, self->state, sizeof(now)));
	EXPECT_GT(pw_link_index(&self->nl, "a"), 0);
	/* the same requests are good ones: the host's administrator is not refused */
	EXPECT_EQ(0, change(&self->g, PACKETWAY_CMD_SAN_NEW, PACKETWAY_A_SAN, PACKETWAY_A_SAN_ID, 7));
	EXPECT_EQ(0, change(&self->g, PACKETWAY_CMD_SAN_SET, PACKETWAY_A_SAN, PACKETWAY_A_SAN_ID, 3));
	EXPECT_EQ(0, change(&self->g, PACKETWAY_CMD_ESP_SET, PACKETWAY_A_ESP,
			    PACKETWAY_A_ESP_CAPACITY, 5));
	EXPECT_EQ(0, change(&self->g, PACKETWAY_CMD_ROUTE_NEW, PACKETWAY_A_ROUTE,
			    PACKETWAY_A_ROUTE_SAN, 1)) {
		TH_LOG("said: %s", self->g.nl.ext);
	}
	EXPECT_EQ(0, change(&self->g, PACKETWAY_CMD_ROUTE_DEL, PACKETWAY_A_ROUTE,
			    PACKETWAY_A_ROUTE_SAN, 1));
	EXPECT_EQ(0, change(&self->g, PACKETWAY_CMD_ROUTER_NEW, PACKETWAY_A_ROUTER,
			    PACKETWAY_A_ROUTER_NAME, 0));
	EXPECT_EQ(0, change(&self->g, PACKETWAY_CMD_ROUTER_DEL, PACKETWAY_A_ROUTER,
			    PACKETWAY_A_ROUTER_NAME, 0));
	EXPECT_EQ(0, change(&self->g, PACKETWAY_CMD_SAN_DEL, PACKETWAY_A_SAN, PACKETWAY_A_SAN_ID, 3));
}

/* every command of a bound descriptor that changes something */
static int refused_commands(void *arg)
{
	fixture *t = arg;
	struct packetway_aton_command c = { .size = sizeof(c), .op = PW_ATON_OP_ADD,
					    .dst = PACKETWAY_ATON_RING_ALL };
	struct packetway_aton_submit s = { .size = sizeof(s), .commands = (uintptr_t)&c, .count = 1,
					   .stride = sizeof(c) };
	struct packetway_aton_stand st = { .size = sizeof(st), .op = PW_ATON_OP_ADD,
					   .dst = PACKETWAY_ATON_RING_ALL, .period = 1000 };
	struct packetway_aton_set set = { .size = sizeof(set), .flags = PACKETWAY_ATON_SET_OPERAND,
					  .value = 5 };
	struct packetway_aton_get get = { .size = sizeof(get) };
	struct packetway_ring_create rc = { .size = sizeof(rc), .count = 1, .regs = 1 };
	struct packetway_poets_open o = { .size = sizeof(o), .devices = 1 };
	struct packetway_aton_lease lease = { .size = sizeof(lease), .regs = 1 };
	struct packetway_aton_round round = { .size = sizeof(round), .members = 1,
					      .op = PW_ATON_OP_ADD, .count = 1 };
	struct packetway_aton_reduce reduce = { .size = sizeof(reduce), .op = PW_ATON_OP_ADD };
	struct packetway_aton_get_latch latch = { .size = sizeof(latch) };
	struct packetway_half_open half = { .size = sizeof(half), .san = 1, .name = "evil",
					    .port = PACKETWAY_HALF_ANY_PORT };
	struct packetway_time_open clk = { .size = sizeof(clk) };
	struct packetway_info info = { .size = sizeof(info) };
	uint64_t v[8] = { 1, 2, 3 };
	struct packetway_ring_operands ro = { .size = sizeof(ro), .count = 8,
					      .operands = (uintptr_t)v };
	int fd;

	if (pw_ioctl(t->fd, PACKETWAY_IOC_ATON_COMMAND, &c) != -EPERM)
		return 1;
	if (pw_ioctl(t->fd, PACKETWAY_IOC_ATON_SUBMIT, &s) != -EPERM)
		return 2;
	if (pw_ioctl(t->fd, PACKETWAY_IOC_ATON_STAND, &st) != -EPERM)
		return 3;
	if (pw_ioctl(t->fd, PACKETWAY_IOC_ATON_SET, &set) != -EPERM)
		return 4;
	if (pw_ioctl(t->fd, PACKETWAY_IOC_RING_CREATE, &rc) != -EPERM)
		return 5;
	if (pw_ioctl(t->fd, PACKETWAY_IOC_POETS_OPEN, &o) != -EPERM)
		return 6;
	if (pw_ioctl(t->fd, PACKETWAY_IOC_RING_OPERANDS, &ro) != -EPERM)
		return 7;
	if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, 0) != MAP_FAILED ||
	    errno != EPERM)
		return 8;
	if (pw_ioctl(t->fd, PACKETWAY_IOC_ATON_LEASE, &lease) != -EPERM)
		return 14;
	if (pw_ioctl(t->fd, PACKETWAY_IOC_ATON_ROUND, &round) != -EPERM)
		return 15;
	if (pw_ioctl(t->fd, PACKETWAY_IOC_ATON_REDUCE, &reduce) != -EPERM)
		return 16;
	/* what it may: look */
	if (pw_ioctl(t->fd, PACKETWAY_IOC_ATON_GET_LATCH, &latch))
		return 17;
	if (pw_ioctl(t->fd, PACKETWAY_IOC_ATON_GET, &get) || get.out_operand[0] != 9)
		return 9;
	if (pw_ioctl(t->fd, PACKETWAY_IOC_GET_INFO, &info))
		return 10;
	fd = open(PW_DEV, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 11;
	if (pw_bind(fd, 1) != -EPERM || pw_bind(fd, 12345) != -EPERM)
		return 12;
	if (pw_ioctl(fd, PACKETWAY_IOC_ATON_COMMAND, &c) != -ENOTCONN)
		return 13;
	if (pw_ioctl(fd, PACKETWAY_IOC_HALF_OPEN, &half) != -EPERM)
		return 18;
	if (pw_ioctl(fd, PACKETWAY_IOC_TIME_OPEN, &clk) != -EPERM)
		return 19;
	return 0;
}

static int passed_to_nobody(void *arg)
{
	return become_nobody() ? 30 : refused_commands(arg);
}

/* who owns another network namespace has no more rights over this station */
static int passed_to_owner(void *arg)
{
	if (become_nobody() || unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return 20;
	return refused_commands(arg) == 12 ? 0 : 21;
}

TEST_F(threats, descriptor_passed_on)
{
	struct packetway_aton_set set = { .size = sizeof(set), .flags = PACKETWAY_ATON_SET_OPERAND,
					  .value = 9 };
	struct packetway_aton_get get = { .size = sizeof(get) };
	uint64_t v[8];
	struct packetway_ring_operands ro = { .size = sizeof(ro), .count = 8,
					      .flags = PACKETWAY_RING_READ,
					      .operands = (uintptr_t)v };
	int i;

	ASSERT_EQ(0, pw_ioctl(self->fd, PACKETWAY_IOC_ATON_SET, &set));
	EXPECT_EQ(0, in_child(passed_to_nobody, self));
	/* bind() is refused by the missing device there: it may ask in its own namespace */
	EXPECT_EQ(0, in_child(passed_to_owner, self));
	EXPECT_EQ(0, pw_ioctl(self->fd, PACKETWAY_IOC_ATON_GET, &get));
	EXPECT_EQ(9, get.out_operand[0]);
	EXPECT_EQ(0, get.out_irq_mask);
	EXPECT_EQ(0, pw_ioctl(self->fd, PACKETWAY_IOC_RING_OPERANDS, &ro));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(0, v[i]);
}

/* --- namespaces are apart ------------------------------------------------------------ */

/* an owner of a namespace with the same SANs as the one next door */
static int next_door(void *arg)
{
	fixture *t = arg;
	int idx = pw_link_index(&t->nl, "a"), raw, fd, i;
	uint8_t b[256];
	struct pw_genl g;
	struct pw_nl nl;

	if (become_nobody() || unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return 1;
	if (pw_nl_open(&nl, pw_ns_self()) || pw_genl_open(&g, pw_ns_self()))
		return 2;
	for (i = 0; i < COUNT_OF(dumps); i++)
		if (dump(&g, dumps[i]))
			return 40 + i;
	if (pw_san_cmd(&g, PACKETWAY_CMD_SAN_GET, 1, -1, -1) != -ENOENT ||
	    pw_san_cmd(&g, PACKETWAY_CMD_SAN_SET, 1, -1, 0) != -ENOENT ||
	    pw_san_cmd(&g, PACKETWAY_CMD_SAN_DEL, 3, -1, -1) != -ENOENT ||
	    pw_router_del(&g, "r") != -ENOENT || pw_resolve(&g, 1, 0x101, NULL) != -ENOENT)
		return 3;
	fd = open(PW_DEV, O_RDWR | O_CLOEXEC);
	if (pw_bind(fd, idx) != -ENODEV)
		return 4;
	/* its own SAN 1 is another SAN */
	if (pw_station_add(&nl, "x", 1, 3, -1) || pw_link_up(&nl, "x"))
		return 5;
	raw = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	i = pw_msg(b, PW_ADDR_BROADCAST, 0x104, 77, 0, 0, "evil", 4);
	{
		struct sockaddr_ll sll = { .sll_family = AF_PACKET,
					   .sll_protocol = htons(ETH_P_PACKETWAY),
					   .sll_ifindex = pw_link_index(&nl, "x") };

		if (bind(raw, (void *)&sll, sizeof(sll)) || send(raw, b, i, 0) != i)
			return 6;
		pw_put(b + 1, 3, 0x101);
		if (send(raw, b, i, 0) != i)
			return 7;
	}
	/* stations cannot be pushed into a namespace that is not one's own */
	if (pw_link_move(&nl, "x", t->ns) != -EPERM)
		return 8;
	/* things of the whole host: no clock, no debugfs */
	if (pw_san_cmd(&g, PACKETWAY_CMD_SAN_GET, 1, -1, -1))
		return 9;
	if (pw_attr_in(pw_genl_attr((void *)g.nl.buf, PACKETWAY_A_SAN), PACKETWAY_A_SAN_PHC))
		return 10;
	if (!access("/sys/kernel/debug/packetway", R_OK | X_OK))
		return 11;
	return 0;
}

TEST_F(threats, namespaces_apart)
{
	int raw = pw_packet_open(self->ns, SOCK_RAW, ETH_P_PACKETWAY, pw_link_index(&self->nl, "a"));
	int now[COUNT_OF(dumps)], n;
	struct pw_hdr h;
	uint8_t b[256];

	ASSERT_GE(raw, 0);
	EXPECT_EQ(0, in_child(next_door, self));
	/* routers may talk to the station; the frames of next door do not come */
	while ((n = pw_recv(raw, b, sizeof(b), NULL, 200)) >= 24) {
		pw_hdr_get(b, &h);
		EXPECT_NE(77, h.pt);
	}
	state_of(&self->g, now);
	EXPECT_EQ(0, memcmp(now, self->state, sizeof(now)));
	close(raw);
}

/* a station lent to another namespace: its SAN stays the lender's */
static int borrower(void *arg)
{
	int *pipes = arg;
	struct pw_genl g;
	struct pw_nl nl;
	char c;

	if (become_nobody() || unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return 1;
	if (write(pipes[1], "n", 1) != 1 || read(pipes[2], &c, 1) != 1)
		return 2;
	if (pw_nl_open(&nl, pw_ns_self()) || pw_genl_open(&g, pw_ns_self()))
		return 3;
	if (pw_link_index(&nl, "b") <= 0 || pw_link_up(&nl, "b"))
		return 4;
	if (dump(&g, PACKETWAY_CMD_SAN_GET) || dump(&g, PACKETWAY_CMD_NODE_GET))
		return 5;
	if (pw_san_cmd(&g, PACKETWAY_CMD_SAN_SET, 2, -1, 0) != -ENOENT)
		return 6;
	/* another station on that SAN: it gets one on a SAN of its own */
	if (pw_station_add(&nl, "b2", 2, 0, -1))
		return 7;
	return pw_link_del(&nl, "b") ? 8 : 0;
}

TEST_F(threats, station_lent)
{
	int to[2], from[2], pipes[4], status, ns;
	char path[64], c;
	pid_t pid;

	ASSERT_EQ(0, pipe(to) | pipe(from));
	pipes[1] = from[1];
	pipes[2] = to[0];
	pid = fork();
	if (!pid)
		_exit(borrower(pipes));
	ASSERT_EQ(1, read(from[0], &c, 1));
	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(ns, 0);
	ASSERT_EQ(0, pw_link_move(&self->nl, "b", ns));
	close(ns);
	ASSERT_EQ(1, write(to[1], "g", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status) {
		TH_LOG("borrower ended with %d", WEXITSTATUS(status));
	}
	/* the SAN and its router are here still */
	EXPECT_EQ(self->state[0], dump(&self->g, PACKETWAY_CMD_SAN_GET));
	EXPECT_EQ(self->state[1], dump(&self->g, PACKETWAY_CMD_ROUTER_GET));
}

/* --- what a frame says, and what netlink does not ----------------------------------------- */

/* SA is what the sender writes: receivers must not take it for proof */
TEST_F(threats, source_is_not_proof)
{
	int to, from, n;
	struct pw_hdr h;
	uint8_t b[256];

	ASSERT_EQ(0, pw_station_add(&self->nl, "a2", 1, 3, -1));
	ASSERT_EQ(0, pw_link_up(&self->nl, "a2"));
	to = pw_packet_open(self->ns, SOCK_RAW, ETH_P_PACKETWAY, pw_link_index(&self->nl, "a2"));
	from = pw_packet_open(self->ns, SOCK_RAW, ETH_P_PACKETWAY, pw_link_index(&self->nl, "a"));
	n = pw_msg(b, 0x104, 0x1234, 77, 0, 0, "who", 3);
	ASSERT_EQ(n, send(from, b, n, 0));
	do {
		n = pw_recv(to, b, sizeof(b), NULL, SOON);
		ASSERT_LE(24, n);
		pw_hdr_get(b, &h);
	} while (h.pt != 77);
	EXPECT_EQ(0x1234, h.sa);
	close(to);
	close(from);
}

TEST_F(threats, key_is_not_shown)
{
	struct sockaddr_in me = { .sin_family = AF_INET, .sin_port = htons(7100) }, peer = me;
	struct rtattr *nest, *half, *trunk;
	uint8_t key[PACKETWAY_TRUNK_KEY_LEN];
	struct pw_req r;
	int i;

	for (i = 0; i < PACKETWAY_TRUNK_KEY_LEN; i++)
		key[i] = 0xa0 ^ 7 * i;
	me.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	ASSERT_EQ(0, pw_link_up(&self->nl, "lo"));
	pw_genl_init(&r, self->g.family, PACKETWAY_CMD_ROUTER_NEW, NLM_F_ACK);
	nest = pw_genl_nest(&r, PACKETWAY_A_ROUTER);
	pw_req_put(&r, PACKETWAY_A_ROUTER_NAME, "t", 2);
	half = pw_genl_nest(&r, PACKETWAY_A_ROUTER_HALF);
	pw_req_u32(&r, PACKETWAY_A_HALF_SAN, 1);
	pw_req_end(&r, half);
	trunk = pw_genl_nest(&r, PACKETWAY_A_ROUTER_TRUNK);
	pw_req_put(&r, PACKETWAY_A_TRUNK_LOCAL, &me, sizeof(me));
	pw_req_put(&r, PACKETWAY_A_TRUNK_REMOTE, &peer, sizeof(peer));
	pw_req_put(&r, PACKETWAY_A_TRUNK_KEY, key, sizeof(key));
	pw_req_end(&r, trunk);
	pw_req_end(&r, nest);
	ASSERT_EQ(0, pw_nl_talk(&self->g.nl, &r)) {
		TH_LOG("said: %s", self->g.nl.ext);
	}
	memset(self->g.nl.buf, 0, sizeof(self->g.nl.buf));
	ASSERT_EQ(0, pw_router_cmd(&self->g, PACKETWAY_CMD_ROUTER_GET, "t"));
	trunk = pw_attr_in(pw_genl_attr((void *)self->g.nl.buf, PACKETWAY_A_ROUTER),
			   PACKETWAY_A_ROUTER_TRUNK);
	ASSERT_NE(NULL, trunk);
	EXPECT_NE(NULL, pw_attr_in(trunk, PACKETWAY_A_TRUNK_KEYED));
	EXPECT_EQ(NULL, pw_attr_in(trunk, PACKETWAY_A_TRUNK_KEY));
	EXPECT_EQ(NULL, memmem(self->g.nl.buf, sizeof(self->g.nl.buf), key, sizeof(key)));
	EXPECT_EQ(0, pw_router_del(&self->g, "t"));
}

/* --- what a station leaves --------------------------------------------------------------- */

TEST_F(threats, pages_of_a_station_gone)
{
	long page = sysconf(_SC_PAGESIZE);
	volatile uint64_t *op = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);
	const volatile uint64_t *res = mmap(NULL, page, PROT_READ, MAP_SHARED, self->fd, page);
	struct packetway_aton_command c = { .size = sizeof(c), .op = PW_ATON_OP_ADD,
					    .dst = PACKETWAY_ATON_RING_ALL };
	uint64_t before[64];
	int i, fd;

	ASSERT_NE(MAP_FAILED, (void *)op);
	ASSERT_NE(MAP_FAILED, (void *)res);
	/* the results cannot be made writable later */
	EXPECT_EQ(-1, mprotect((void *)res, page, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	op[0] = 11;
	EXPECT_EQ(0, pw_ioctl(self->fd, PACKETWAY_IOC_ATON_COMMAND, &c));
	EXPECT_EQ(11, c.out_v1);
	for (i = 0; i < 64; i++)
		before[i] = res[i];
	ASSERT_EQ(0, pw_link_del(&self->nl, "a"));
	EXPECT_EQ(-ENODEV, pw_ioctl(self->fd, PACKETWAY_IOC_ATON_COMMAND, &c));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, page, PROT_READ, MAP_SHARED, self->fd, 0));
	EXPECT_EQ(ENODEV, errno);
	/* the next station at this port has pages of its own */
	ASSERT_EQ(0, pw_station_add(&self->nl, "a", 1, 0, -1));
	ASSERT_EQ(0, pw_link_up(&self->nl, "a"));
	fd = open(PW_DEV, O_RDWR | O_CLOEXEC);
	ASSERT_EQ(0, pw_bind(fd, pw_link_index(&self->nl, "a")));
	op[0] = 12345;
	EXPECT_EQ(0, pw_ioctl(fd, PACKETWAY_IOC_ATON_COMMAND, &c));
	EXPECT_EQ(0, c.out_v1);
	for (i = 0; i < 64; i++)
		EXPECT_EQ(before[i], res[i]);
	close(fd);
}

TEST_HARNESS_MAIN
