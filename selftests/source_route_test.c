// SPDX-License-Identifier: GPL-2.0
/*
 * Source routes of stations: what is refused, IP, POETS and other messages over routers that
 * they would not pass by address, path MTU, errors, a station that goes with its routes.
 *
 * Three SANs, each pair joined by a router. By address SAN 1 and SAN 3 use "ac"; the source
 * routes lead over "ab", SAN 2 and "bc". Station a is on SAN 1, c on SAN 3, each in a namespace
 * of its own; SANs and routers are in a third one.
 */
#include "pwpoets.h"
#include "pwip.h"
#include "pwrouter.h"
#include "pwharness.h"

#include <linux/virtio_net.h>

#define PT_TEST 1500
#define LONG_IP 8000	/* more than a page: the rest of a frame is in others */

static uint8_t tx[2048], rx[70000];

#define ADDR(san, port) ((uint32_t)(san) * 256 + (port) + 1)
#define A ADDR(1, 0)
#define C ADDR(3, 1)
/* 16 ports: four switches of four outputs */
#define HOP(port) { 0, 0x83, 0, (port) / 4, (port) % 4 }

/* to c over ab and bc, to a over bc and ab, to SAN 2 over ab and on by address */
static const uint8_t row_c[3][8] = { HOP(11), HOP(12), HOP(1) };
static const uint8_t row_a[3][8] = { HOP(12), HOP(11), HOP(0) };
static const uint8_t row_2[2][8] = { HOP(11), HOP(12) };

static const char * const name[2] = { "a", "c" };

FIXTURE(route) {
	int ns[3];
	struct pw_nl home, nl[2];
	struct pw_genl g, st[2];	/* of SANs and routers, of a and c */
	int idx[2], raw[2], sock[2];
};

FIXTURE_VARIANT(route) {
	long engine;
};

FIXTURE_VARIANT_ADD(route, untimed) {
	.engine = PACKETWAY_ENGINE_NONE,
};

FIXTURE_VARIANT_ADD(route, fast) {
	.engine = PACKETWAY_ENGINE_FAST,
};

FIXTURE_SETUP(route)
{
	const uint32_t port[2] = { 0, 1 };
	int i;

	for (i = 0; i < 3; i++) {
		self->ns[i] = pw_ns_new();
		ASSERT_GE(self->ns[i], 0);
	}
	ASSERT_EQ(0, pw_nl_open(&self->home, self->ns[2]));
	ASSERT_EQ(0, pw_genl_open(&self->g, self->ns[2]));
	for (i = 1; i <= 3; i++)
		ASSERT_EQ(0, pw_san_cmd(&self->g, PACKETWAY_CMD_SAN_NEW, i, 16, variant->engine));
	for (i = 0; i < 2; i++) {
		uint8_t a4[4] = { 10, 9, 0, 1 + i }, a6[16] = { 0xfd, [15] = 1 + i };

		ASSERT_EQ(0, pw_nl_open(&self->nl[i], self->ns[i]));
		ASSERT_EQ(0, pw_genl_open(&self->st[i], self->ns[i]));
		ASSERT_EQ(0, pw_station_add(&self->home, name[i], 1 + 2 * i, port[i], self->ns[i]));
		ASSERT_EQ(0, pw_link_up(&self->nl[i], name[i]));
		self->idx[i] = pw_link_index(&self->nl[i], name[i]);
		ASSERT_EQ(0, pw_ip_add(&self->nl[i], self->idx[i], AF_INET, a4, 4, 24));
		ASSERT_EQ(0, pw_ip_add(&self->nl[i], self->idx[i], AF_INET6, a6, 16, 64));
		self->raw[i] = pw_packet_open(self->ns[i], SOCK_RAW, ETH_P_PACKETWAY, self->idx[i]);
		ASSERT_GE(self->raw[i], 0);
		self->sock[i] = pw_ns_socket(self->ns[i], AF_INET, SOCK_DGRAM, 0);
		ASSERT_GE(self->sock[i], 0);
	}
	ASSERT_EQ(0, pw_router_add(&self->g, "ac", (struct pw_half_req){ 1, 10, -1 },
				   (struct pw_half_req){ 3, 10, -1 }));
	ASSERT_EQ(0, pw_router_add(&self->g, "ab", (struct pw_half_req){ 1, 11, -1 },
				   (struct pw_half_req){ 2, 11, -1 }));
	ASSERT_EQ(0, pw_router_add(&self->g, "bc", (struct pw_half_req){ 2, 12, -1 },
				   (struct pw_half_req){ 3, 12, -1 }));
}

FIXTURE_TEARDOWN(route)
{
	int i;

	for (i = 0; i < 2; i++) {
		close(self->raw[i]);
		close(self->sock[i]);
		close(self->nl[i].fd);
		close(self->st[i].nl.fd);
	}
	close(self->home.fd);
	close(self->g.nl.fd);
	for (i = 0; i < 3; i++)
		close(self->ns[i]);
}

/* counts routes in use between SANs 1 and 3 that begin at router ac */
static void count_direct(struct nlmsghdr *h, void *arg)
{
	struct rtattr *route = pw_genl_attr(h, PACKETWAY_A_ROUTE);
	uint32_t hr = pw_attr_u32(route, PACKETWAY_A_ROUTE_HR);

	if (route && pw_attr_in(route, PACKETWAY_A_ROUTE_BEST) &&
	    pw_attr_u32(route, PACKETWAY_A_ROUTE_SAN) != 2 &&
	    pw_attr_u32(route, PACKETWAY_A_ROUTE_FIRST) / 256 != 2)
		*(int *)arg += hr == ADDR(1, 10) || hr == ADDR(3, 10);
}

/* until SANs 1 and 3 use ac, also after the longer routes were there first */
static int wait_direct(struct pw_genl *g)
{
	double end = pw_now() + SOON / 1000;
	int n;

	do {
		n = 0;
		pw_genl_dump(g, PACKETWAY_CMD_ROUTE_GET, PACKETWAY_A_ROUTE, PACKETWAY_A_ROUTE_SAN,
			     -1, count_direct, &n);
		if (n == 2)
			return pw_wait_route(g, 1, C) || pw_wait_route(g, 3, A) ||
			       pw_wait_route(g, 2, A) || pw_wait_route(g, 2, C);
		usleep(5000);
	} while (pw_now() < end);
	return -1;
}

/* a request about a source route; 0 and -1 in a member: not given */
struct ask {
	uint32_t idx, first, last;
	const void *row;
	int len;
	long mtu, san, hr;
};

static int source_cmd(struct pw_genl *g, int cmd, struct ask a)
{
	struct rtattr *nest;
	struct pw_req r;

	pw_genl_init(&r, g->family, cmd, NLM_F_ACK);
	nest = pw_genl_nest(&r, PACKETWAY_A_ROUTE);
	if (a.idx)
		pw_req_u32(&r, PACKETWAY_A_ROUTE_IFINDEX, a.idx);
	if (a.first)
		pw_req_u32(&r, PACKETWAY_A_ROUTE_FIRST, a.first);
	if (a.last)
		pw_req_u32(&r, PACKETWAY_A_ROUTE_LAST, a.last);
	if (a.row)
		pw_req_put(&r, PACKETWAY_A_ROUTE_L2RH, a.row, a.len);
	if (a.mtu)
		pw_req_u32(&r, PACKETWAY_A_ROUTE_MTU, a.mtu);
	if (a.san)
		pw_req_u32(&r, PACKETWAY_A_ROUTE_SAN, a.san);
	if (a.hr)
		pw_req_u32(&r, PACKETWAY_A_ROUTE_HR, a.hr);
	pw_req_end(&r, nest);
	return pw_nl_talk(&g->nl, &r);
}

static int source_add(struct pw_genl *g, uint32_t idx, uint32_t first, uint32_t last,
		      const void *row, int len)
{
	return source_cmd(g, PACKETWAY_CMD_ROUTE_NEW,
			  (struct ask) { .idx = idx, .first = first, .last = last, .row = row,
					 .len = len });
}

static int source_del(struct pw_genl *g, uint32_t idx, uint32_t first, uint32_t last)
{
	return source_cmd(g, PACKETWAY_CMD_ROUTE_DEL,
			  (struct ask) { .idx = idx, .first = first, .last = last });
}

/* source routes that a dump has */
static int sources(struct pw_genl *g, int attr, long value)
{
	return pw_genl_dump(g, PACKETWAY_CMD_ROUTE_GET, PACKETWAY_A_ROUTE, attr, value, NULL, NULL);
}

#define ALL(g) sources(g, PACKETWAY_A_ROUTE_SAN, -1)
#define OF(g, idx) sources(g, PACKETWAY_A_ROUTE_IFINDEX, idx)

/* frames that router @r has sent by L2RH, and by address, in both directions */
#define BY(r, what) ((int)(pw_half_stat(&self->g, r, 0, PACKETWAY_A_HALF_STAT_FORWARD_##what) + \
			   pw_half_stat(&self->g, r, 1, PACKETWAY_A_HALF_STAT_FORWARD_##what)))
#define SENT() ((int)pw_stat(self->sock[0], "a", "eep_tx_source_route"))

TEST_F_TIMEOUT(route, refusals, 3600)
{
	static const uint8_t none[3][8] = { HOP(11), { 0, 0xf0, 0, 1 }, HOP(1) };
	static const uint8_t version[2][8] = { HOP(11), { 0x40, 0x83 } };
	static const uint8_t empty[2][8] = { HOP(11), { 0, 0x80 } };
	static const uint8_t past[2][8] = { HOP(11), { 0, 0xbf } };
	static const uint8_t header[2][8] = { HOP(11), { 0, 0, 1, 1 } };
	static const uint8_t far[1][8] = { { 0, 0x83, 0, 4, 0 } };
	static const uint8_t small[1][8] = { { 0, 0x82, 0, 0 } };
	static const char row[] = "A source route is a row of L2RHs, of at most 512 bytes";
	static const char first[] = "The first L2RH is not a route on the SAN of the station";
	const struct {
		const void *row;
		int len;
		const char *why;
	} bad[] = {
		{ NULL, 0, row }, { row_c, 0, row }, { row_c, 7, row }, { row_c, 23, row },
		{ none, 24, row }, { version, 16, row }, { empty, 16, row }, { past, 16, row },
		{ header, 16, row }, { far, 8, first }, { small, 8, first },
	};
	struct pw_genl *g = &self->st[0];
	static uint8_t many[65][8];
	int i, idx = self->idx[0];

	for (i = 0; i < (int)(sizeof(bad) / sizeof(bad[0])); i++) {
		EXPECT_EQ(-EINVAL, source_add(g, idx, C, C, bad[i].row, bad[i].len)) {
			TH_LOG("row %d", i);
		}
		EXPECT_STREQ(bad[i].why, g->nl.ext);
	}
	for (i = 0; i < 65; i++)
		memcpy(many[i], row_c[0], 8);
	EXPECT_EQ(-ERANGE, source_add(g, idx, C, C, many, sizeof(many)));
	EXPECT_EQ(0, source_add(g, idx, C, C, many, sizeof(many) - 8));
	EXPECT_EQ(-EEXIST, source_add(g, idx, C, C, row_c, sizeof(row_c)));
	EXPECT_EQ(0, source_del(g, idx, C, 0));
	EXPECT_EQ(-ENOENT, source_del(g, idx, C, C));
	EXPECT_STREQ("The station has no source route to these addresses", g->nl.ext);

	EXPECT_EQ(-EINVAL, source_add(g, idx, 0, 0, row_c, sizeof(row_c)));
	EXPECT_EQ(-ERANGE, source_add(g, idx, C, A, row_c, sizeof(row_c)));
	EXPECT_EQ(-ERANGE, source_add(g, idx, C, PW_ADDR_BROADCAST, row_c, sizeof(row_c)));
	EXPECT_EQ(-ENODEV, source_add(g, 1, C, C, row_c, sizeof(row_c)));
	EXPECT_EQ(-ENODEV, source_add(g, 999, C, C, row_c, sizeof(row_c)));
	EXPECT_STREQ("There is no such station in this namespace", g->nl.ext);
	/* where the SAN is at home the station is not */
	EXPECT_EQ(-ENODEV, source_add(&self->g, idx, C, C, row_c, sizeof(row_c)));
	EXPECT_EQ(-ERANGE, source_cmd(g, PACKETWAY_CMD_ROUTE_NEW,
				      (struct ask) { .idx = idx, .first = C, .row = row_c,
						     .len = sizeof(row_c), .mtu = 63 }));
	EXPECT_EQ(-EINVAL, source_cmd(g, PACKETWAY_CMD_ROUTE_NEW,
				      (struct ask) { .idx = idx, .first = C, .row = row_c,
						     .len = sizeof(row_c), .san = 1 }));
	EXPECT_EQ(-EINVAL, source_cmd(&self->g, PACKETWAY_CMD_ROUTE_NEW,
				      (struct ask) { .first = C, .row = row_c, .len = sizeof(row_c),
						     .san = 1, .hr = ADDR(1, 10) }));
	EXPECT_STREQ("A source route is that of a station, which is missing", self->g.nl.ext);
	EXPECT_EQ(0, ALL(g));

	/* as many as fit and no more */
	for (i = 0; i < PACKETWAY_SOURCE_ROUTES_MAX; i++)
		EXPECT_EQ(0, source_add(g, idx, C + i, C + i, many, sizeof(many) - 8));
	EXPECT_EQ(-ENOSPC, source_add(g, idx, C + i, C + i, row_c, sizeof(row_c)));
	EXPECT_EQ(PACKETWAY_SOURCE_ROUTES_MAX, ALL(g));
	EXPECT_EQ(PACKETWAY_SOURCE_ROUTES_MAX, OF(g, idx));
	EXPECT_EQ(0, OF(g, 1));
	EXPECT_EQ(0, ALL(&self->st[1]));
	/* the SAN is not one of this namespace */
	EXPECT_EQ(0, sources(g, PACKETWAY_A_ROUTE_SAN, 1));
	for (i = 0; i < PACKETWAY_SOURCE_ROUTES_MAX; i += 2)
		EXPECT_EQ(0, source_del(g, idx, C + i, C + i));
	EXPECT_EQ(PACKETWAY_SOURCE_ROUTES_MAX / 2, ALL(g));
	/* the station goes with the rest */
	EXPECT_EQ(0, pw_link_del(&self->nl[0], "a"));
	EXPECT_EQ(0, ALL(g));
}

/* more than the last frames of a connection that has ended, less than those of a new one: 67 */
#define LATE	60

/* TCP in both directions, and what it was sent over */
TEST_F_TIMEOUT(route, ip, 3600)
{
	const uint8_t v4[4] = { 10, 9, 0, 2 }, v6[16] = { 0xfd, [15] = 1 };
	const long bytes = 100000;
	int l2, l3, ac;

	ASSERT_EQ(0, wait_direct(&self->g));
	EXPECT_EQ(bytes, pw_tcp_across(self->ns[0], self->ns[1], AF_INET, v4, 4, bytes));
	EXPECT_EQ(0, BY("ab", L2));
	EXPECT_EQ(0, BY("bc", L2));
	EXPECT_EQ(0, SENT());

	/* from a by source route; acknowledgments come by address */
	ASSERT_EQ(0, source_add(&self->st[0], self->idx[0], C, C, row_c, sizeof(row_c)));
	EXPECT_EQ(bytes, pw_tcp_across(self->ns[0], self->ns[1], AF_INET, v4, 4, bytes));
	EXPECT_LT(bytes / 1500, SENT());
	EXPECT_SOON(SENT(), BY("ab", L2));
	EXPECT_SOON(SENT(), BY("bc", L2));

	/* both directions: nothing is left for ac */
	ASSERT_EQ(0, source_add(&self->st[1], self->idx[1], A, A, row_a, sizeof(row_a)));
	/* most acknowledgments of the connection before have arrived when none comes for a while */
	do {
		ac = BY("ac", L3);
		usleep(200000);
	} while (ac != BY("ac", L3));
	EXPECT_EQ(bytes, pw_tcp_across(self->ns[1], self->ns[0], AF_INET6, v6, 16, bytes));
	EXPECT_GT(ac + LATE, BY("ac", L3));
	EXPECT_LT(2 * bytes / 1500, BY("bc", L2));

	/* over ab to SAN 2, then by address to SAN 3 */
	ASSERT_EQ(0, source_del(&self->st[0], self->idx[0], C, C));
	ASSERT_EQ(0, source_add(&self->st[0], self->idx[0], ADDR(3, 0), ADDR(3, 15), row_2,
				sizeof(row_2)));
	EXPECT_EQ(bytes, pw_tcp_across(self->ns[0], self->ns[1], AF_INET, v4, 4, bytes));
	EXPECT_GT(ac + LATE, BY("ac", L3));

	/* without routes by address again */
	ASSERT_EQ(0, source_del(&self->st[0], self->idx[0], ADDR(3, 0), ADDR(3, 15)));
	ASSERT_EQ(0, source_del(&self->st[1], self->idx[1], A, A));
	l2 = BY("bc", L2);
	l3 = BY("bc", L3);
	EXPECT_EQ(bytes, pw_tcp_across(self->ns[0], self->ns[1], AF_INET, v4, 4, bytes));
	EXPECT_GT(l2 + LATE, BY("bc", L2));
	EXPECT_GT(l3 + LATE, BY("bc", L3));
	EXPECT_LT(ac + bytes / 1500, BY("ac", L3));
}

/* the data of @len bytes to c; errno */
static int udp_send(int fd, int len)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(7) };

	inet_pton(AF_INET, "10.9.0.2", &to.sin_addr);
	/* an earlier one was refused: c listens to nothing */
	while (sendto(fd, rx, len, 0, (void *)&to, sizeof(to)) != len)
		if (errno != ECONNREFUSED)
			return errno;
	return 0;
}

static int udp_mtu(int fd)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(7) };
	socklen_t l = sizeof(int);
	int mtu = 0;

	inet_pton(AF_INET, "10.9.0.2", &to.sin_addr);
	connect(fd, (void *)&to, sizeof(to));
	getsockopt(fd, IPPROTO_IP, IP_MTU, &mtu, &l);
	return mtu;
}

/* a route's own MTU */
TEST_F_TIMEOUT(route, path_mtu, 3600)
{
	const int on = IP_PMTUDISC_DO;
	struct pw_genl *g = &self->st[0];

	ASSERT_EQ(0, wait_direct(&self->g));
	ASSERT_EQ(0, setsockopt(self->sock[0], IPPROTO_IP, IP_MTU_DISCOVER, &on, sizeof(on)));
	ASSERT_EQ(0, source_cmd(g, PACKETWAY_CMD_ROUTE_NEW,
				(struct ask) { .idx = self->idx[0], .first = C, .row = row_c,
					       .len = sizeof(row_c), .mtu = 1304 }));
	EXPECT_EQ(0, udp_send(self->sock[0], 1304 - 28));
	EXPECT_EQ(1500, udp_mtu(self->sock[0]));
	EXPECT_EQ(0, (int)pw_stat(self->sock[0], "a", "drop_too_big"));
	/* the address may still be asked for: the frame leaves when it is known */
	udp_send(self->sock[0], 1304 - 27);
	EXPECT_SOON(1, (int)pw_stat(self->sock[0], "a", "drop_too_big"));
	EXPECT_SOON(1304, udp_mtu(self->sock[0]));
	EXPECT_EQ(EMSGSIZE, udp_send(self->sock[0], 1304 - 27));
}

/*
 * A packet socket may leave the IP header to the pages of a frame. Such a frame has no sender to
 * inform, and it is counted as any other that is too long.
 */
TEST_F_TIMEOUT(route, path_mtu_of_pages, 3600)
{
	static struct {
		struct virtio_net_hdr h;
		uint8_t b[16 + LONG_IP];
	} f = { .h.hdr_len = 16 };
	static const uint8_t first[] = { 0x45, 0x65 };	/* IPv4, and what is not */
	struct pw_genl *g = &self->st[0];
	int one = 1, fd, i;

	ASSERT_EQ(0, wait_direct(&self->g));
	ASSERT_EQ(0, source_cmd(g, PACKETWAY_CMD_ROUTE_NEW,
				(struct ask) { .idx = self->idx[0], .first = C, .row = row_c,
					       .len = sizeof(row_c), .mtu = 1304 }));
	ASSERT_EQ(0, pw_link_mtu(&self->nl[0], "a", PACKETWAY_MTU_MAX));
	fd = pw_packet_open(self->ns[0], SOCK_RAW, ETH_P_IP, self->idx[0]);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)));
	pw_msg(f.b, C, A, PT_TEST, 0, 0, NULL, 0);
	for (i = 0; i < 4; i++) {
		f.b[16] = first[i & 1];
		f.b[16 + 6] = i & 2 ? 0x40 : 0;	/* DF */
		ASSERT_EQ(sizeof(f), send(fd, &f, sizeof(f), 0));
	}
	EXPECT_SOON(4, (int)pw_stat(self->sock[0], "a", "drop_too_big"));
	close(fd);
	EXPECT_EQ(0, udp_send(self->sock[0], 100));
}

/* what is left of the largest MTU behind a long row */
TEST_F_TIMEOUT(route, path_mtu_of_a_long_row, 3600)
{
	const int on = IP_PMTUDISC_DO;
	static uint8_t longest[64][8];
	int i;

	ASSERT_EQ(0, wait_direct(&self->g));
	ASSERT_EQ(0, setsockopt(self->sock[0], IPPROTO_IP, IP_MTU_DISCOVER, &on, sizeof(on)));
	ASSERT_EQ(0, pw_link_mtu(&self->nl[0], "a", PACKETWAY_MTU_MAX));
	for (i = 0; i < 64; i++)
		memcpy(longest[i], i & 1 ? row_c[1] : row_c[0], 8);
	ASSERT_EQ(0, source_add(&self->st[0], self->idx[0], C, C, longest, sizeof(longest)));
	/* 65600 less header, TAIL and 63 words */
	EXPECT_SOON(1, ({ udp_send(self->sock[0], 65488 - 28);
			  udp_mtu(self->sock[0]) == 65600 - 24 - 63 * 8; }));
}

/* what a socket and the kernel send, and what is left alone */
TEST_F_TIMEOUT(route, messages, 3600)
{
	struct pw_hdr h;
	int l, at;

	ASSERT_EQ(0, wait_direct(&self->g));
	ASSERT_EQ(0, source_add(&self->st[0], self->idx[0], 1, PW_ADDR_PHYS_MAX, row_2,
				sizeof(row_2[0])));
	ASSERT_EQ(0, source_add(&self->st[0], self->idx[0], ADDR(3, 0), ADDR(3, 15), row_2,
				sizeof(row_2)));
	ASSERT_EQ(0, source_add(&self->st[0], self->idx[0], C, C, row_c, sizeof(row_c)));
	ASSERT_EQ(0, source_add(&self->st[1], self->idx[1], A, A, row_a, sizeof(row_a)));

	/* echo: the kernel answers by its own route, the narrowest range counts */
	l = pw_msg(tx, C, A, PW_PT_ECHO, PW_TE_ECHO_REQUEST, 3, "echo", 4);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	ASSERT_LT(0, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	pw_hdr_get(rx, &h);
	EXPECT_EQ(PW_TE_ECHO_REPLY, h.te);
	EXPECT_EQ(C, h.sa);
	EXPECT_SOON(2, BY("ab", L2));
	EXPECT_SOON(2, BY("bc", L2));
	EXPECT_EQ(1, SENT());

	/* an L2RH of its own stays alone */
	at = pw_put_l2rh(tx, (uint8_t []) { 0, 2, 2 }, 3);
	l = at + pw_msg(tx + at, C, A, PT_TEST, 1, 5, "own", 3);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_EQ(l - at, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON));
	/* so does a group, and the station itself */
	l = pw_msg(tx, PW_ADDR_BROADCAST, A, PT_TEST, 1, 5, "all", 3);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	l = pw_msg(tx, A, A, PT_TEST, 1, 5, "self", 4);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_EQ(l, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	EXPECT_EQ(1, SENT());
	EXPECT_EQ(2, BY("bc", L2));

	/* the widest range: over ab, which knows the SAN of the address */
	l = pw_msg(tx, ADDR(2, 12), A, PW_PT_ECHO, PW_TE_ECHO_REQUEST, 3, "half", 4);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	ASSERT_LT(0, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	pw_hdr_get(rx, &h);
	EXPECT_EQ(ADDR(2, 12), h.sa);
	EXPECT_EQ(2, SENT());
}

/* rows that lead nowhere: the node that cannot go on answers the source */
TEST_F_TIMEOUT(route, errors, 3600)
{
	static const uint8_t vacant[1][8] = { HOP(5) };
	static const uint8_t behind[2][8] = { HOP(11), HOP(5) };
	static const uint8_t station[3][8] = { HOP(10), HOP(1), HOP(1) };
	const struct {
		const void *row;
		int len, te;
		uint32_t by;
	} e[] = {
		{ vacant, sizeof(vacant), PW_TE_ERR_UNK, A },
		{ behind, sizeof(behind), PW_TE_ERR_BADL2RH, ADDR(2, 11) },
		{ station, sizeof(station), PW_TE_ERR_BADL2RH, C },
	};
	struct pw_hdr h;
	int i, l;

	ASSERT_EQ(0, wait_direct(&self->g));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, source_add(&self->st[0], self->idx[0], C, C, e[i].row, e[i].len));
		l = pw_msg(tx, C, A, PT_TEST, 1, 5, "lost", 4);
		EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
		EXPECT_LT(0, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
		pw_hdr_get(rx, &h);
		EXPECT_EQ(PW_PT_ERR, h.pt);
		EXPECT_EQ(e[i].te, h.te);
		EXPECT_EQ(e[i].by, h.sa);
		ASSERT_EQ(0, source_del(&self->st[0], self->idx[0], C, C));
	}
}

/* a softswitch at c and its mothership at a; all packets by source route */
TEST_F_TIMEOUT(route, poets, 3600)
{
	static const uint32_t pins[] = { 1 }, edges[] = { 1 };
	int save = pw_ns_self(), ac, i;
	EVENT ev;

	ASSERT_EQ(0, wait_direct(&self->g));
	ASSERT_EQ(0, source_add(&self->st[0], self->idx[0], C, C, row_c, sizeof(row_c)));
	ASSERT_EQ(0, source_add(&self->st[1], self->idx[1], A, A, row_a, sizeof(row_a)));
	ac = BY("ac", L3);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, setns(self->ns[i], CLONE_NEWNET));
		w.dev[i] = bind_station(self->idx[i]);
		ASSERT_GE(w.dev[i], 0);
	}
	ASSERT_EQ(0, setns(save, CLONE_NEWNET));
	close(save);
	w.ms = poets_open(0, (struct packetway_poets_open) {
		.flags = PACKETWAY_POETS_MOTHERSHIP, .queue = 4096,
	});
	ASSERT_GE(w.ms, 0);
	w.fd[1] = poets_open(1, (struct packetway_poets_open) {
		.devices = 1, .pins = 1, .mothership = A, .queue = 4096,
	});
	ASSERT_GE(w.fd[1], 0);
	ASSERT_EQ(0, load(w.fd[1], 1, pins, 1, edges));
	ASSERT_EQ(0, simple(w.fd[1], PACKETWAY_IOC_POETS_START));
	ASSERT_EQ(0, barrier(1));
	ASSERT_EQ(0, release(C));
	ASSERT_EQ(PACKETWAY_POETS_EV_RELEASED, next_event(w.fd[1], &ev, SOON));
	ASSERT_EQ(0, send_pkt(w.ms, C, DEVICE(0), PIN(0, 0), "hello", 5));
	ASSERT_EQ(PACKETWAY_POETS_EV_PIN, next_event(w.fd[1], &ev, SOON));
	EXPECT_EQ(0, memcmp(ev.payload, "hello", 6));
	EXPECT_EQ(A, ev.src);
	EXPECT_SOON(3, BY("ab", L2));
	EXPECT_SOON(3, BY("bc", L2));
	EXPECT_GT(ac + 3, BY("ac", L3));
	close(w.fd[1]);
	close(w.ms);
	close(w.dev[0]);
	close(w.dev[1]);
}

struct load {
	int sock;
	bool stop;
};

static void *sender(void *arg)
{
	struct load *l = arg;

	while (!__atomic_load_n(&l->stop, __ATOMIC_RELAXED))
		udp_send(l->sock, 100);
	return NULL;
}

/* routes come and go while packets leave, then the station with routes and packets */
TEST_F_TIMEOUT(route, under_load, 3600)
{
	long n = pw_count(300, 20), i;
	struct load load = { .sock = self->sock[0] };
	pthread_t thread;

	ASSERT_EQ(0, wait_direct(&self->g));
	ASSERT_EQ(0, pthread_create(&thread, NULL, sender, &load));
	for (i = 0; i < n; i++) {
		EXPECT_EQ(0, source_add(&self->st[0], self->idx[0], C, C, row_c, sizeof(row_c)));
		EXPECT_EQ(0, source_add(&self->st[0], self->idx[0], 1, ADDR(4, 0), row_2,
					sizeof(row_2)));
		EXPECT_EQ(0, source_del(&self->st[0], self->idx[0], C, C));
		EXPECT_EQ(0, source_del(&self->st[0], self->idx[0], 1, ADDR(4, 0)));
	}
	ASSERT_EQ(0, source_add(&self->st[0], self->idx[0], C, C, row_c, sizeof(row_c)));
	i = SENT();
	while (SENT() < i + 10)
		usleep(1000);
	EXPECT_EQ(0, pw_link_del(&self->nl[0], "a"));
	__atomic_store_n(&load.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, ALL(&self->st[0]));
}

/* the events say what changed */
TEST_F_TIMEOUT(route, events, 3600)
{
	struct pw_genl *g = &self->st[0], ev;
	static char buf[8192];
	struct rtattr *nest, *a;
	int i;

	ASSERT_EQ(0, pw_genl_open(&ev, self->ns[0]));
	ASSERT_EQ(0, setsockopt(ev.nl.fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &ev.group,
				sizeof(ev.group)));
	ASSERT_EQ(0, source_add(g, self->idx[0], C, C + 1, row_c, sizeof(row_c)));
	ASSERT_EQ(0, source_del(g, self->idx[0], C, C + 1));
	for (i = 0; i < 2; i++) {
		ASSERT_LT(0, recv(ev.nl.fd, buf, sizeof(buf), 0));
		nest = pw_genl_attr((void *)buf, PACKETWAY_A_ROUTE);
		ASSERT_TRUE(nest);
		EXPECT_EQ(self->idx[0], (int)pw_attr_u32(nest, PACKETWAY_A_ROUTE_IFINDEX));
		EXPECT_EQ(C, pw_attr_u32(nest, PACKETWAY_A_ROUTE_FIRST));
		EXPECT_EQ(C + 1, pw_attr_u32(nest, PACKETWAY_A_ROUTE_LAST));
		EXPECT_EQ(1, pw_attr_u32(nest, PACKETWAY_A_ROUTE_SAN));
		a = pw_attr_in(nest, PACKETWAY_A_ROUTE_L2RH);
		ASSERT_TRUE(a);
		ASSERT_EQ(sizeof(row_c), RTA_PAYLOAD(a));
		EXPECT_EQ(0, memcmp(row_c, RTA_DATA(a), sizeof(row_c)));
		EXPECT_EQ(i, !!pw_attr_in(nest, PACKETWAY_A_ROUTE_GONE));
	}
	close(ev.nl.fd);
}

TEST_HARNESS_MAIN
