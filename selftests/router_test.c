// SPDX-License-Identifier: GPL-2.0
/*
 * Routers between SANs: by address and by source route, what may change on the
 * route and what not, what is refused, RRP with every node that may send it, groups
 * and IP across, a router deleted under load, hostile messages.
 *
 * user_router_test.c has the same tests with a program in place of each router.
 */
#include "pwtest.h"
#include "pwip.h"
#include "pwrouter.h"
#include "pwsan.h"
#include "pwharness.h"

#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/stat.h>

#define PT_TEST 1500

/* 1: a router is a program (user_router_test.c), with two half-routers of its own */
#ifndef PROGRAM
#define PROGRAM 0
#endif

static uint8_t tx[70000], rx[70000];

/* port and SAN to address, as SANs number by default */
#define ADDR(san, port) ((uint32_t)(san) * 256 + (port) + 1)

/* an ERR of kind @te at @fd */
static int recv_err(int fd, struct pw_hdr *h, int te)
{
	int len = pw_recv(fd, rx, sizeof(rx), NULL, SOON);

	if (len < 24)
		return -1;
	pw_hdr_get(rx, h);
	return h->pt == PW_PT_ERR && h->te == te ? len : -1;
}

/* record header word */
static int put_rec(uint8_t *b, int type, int pl, int rl, uint32_t body)
{
	b[0] = type;
	b[1] = pl;
	pw_put(b + 2, 2, rl);
	pw_put(b + 4, 4, body);
	return 8;
}

/* a dump of @cmd, not read yet: the kernel has made its first part. The socket, or -1 */
static int dump_begin(struct pw_genl *g, int ns, int cmd)
{
	/* the kernel makes messages as long as the longest read so far: a new socket */
	int fd = pw_ns_socket(ns, AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	struct pw_req r;

	pw_genl_init(&r, g->family, cmd, NLM_F_DUMP);
	return fd < 0 || send(fd, &r, r.n.nlmsg_len, 0) < 0 ? -1 : fd;
}

/*
 * The rest of it: its parts, or -1 if it has ended with an error. *@said: it was interrupted.
 * Closes the socket.
 */
static int dump_end(int fd, bool *said)
{
	int parts, len, done = 0;
	struct nlmsghdr *h;
	char buf[8192];

	*said = false;
	for (parts = 0; !done; parts++) {
		len = recv(fd, buf, sizeof(buf), 0);
		if (len < 0)
			break;
		for (h = (void *)buf; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
			*said |= h->nlmsg_flags & NLM_F_DUMP_INTR;
			if (h->nlmsg_type == NLMSG_DONE)
				done = *(int *)NLMSG_DATA(h) < 0 ? -1 : 1;
			else if (h->nlmsg_type == NLMSG_ERROR)
				done = -1;
		}
	}
	close(fd);
	return done > 0 ? parts : -1;
}

/* --- two SANs, one router: "a" on SAN 1, "b" on SAN 2 ------------------------ */

FIXTURE(pair) {
	int ns;
	struct pw_nl nl;
	struct pw_genl g;
	int idx[2];
	int raw[2];
	uint32_t addr[2];
	uint32_t hr[2];
};

static const char * const pname[2] = { "a", "b" };

FIXTURE_SETUP(pair)
{
	int i;

	self->ns = pw_ns_new();
	ASSERT_GE(self->ns, 0);
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_genl_open(&self->g, self->ns));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, pw_station_add(&self->nl, pname[i], i + 1, 0, self->ns));
		ASSERT_EQ(0, pw_link_up(&self->nl, pname[i]));
		self->idx[i] = pw_link_index(&self->nl, pname[i]);
		self->raw[i] = pw_packet_open(self->ns, SOCK_RAW, ETH_P_PACKETWAY, self->idx[i]);
		ASSERT_GE(self->raw[i], 0);
		self->addr[i] = ADDR(i + 1, 0);
		self->hr[i] = ADDR(i + 1, 5 + i);
	}
	ASSERT_EQ(0, pw_router_add(&self->g, "r", (struct pw_half_req){ 1, 5, -1 },
				   (struct pw_half_req){ 2, 6, -1 })) {
		TH_LOG("%s", self->g.nl.ext);
	}
	ASSERT_EQ(0, pw_wait_route(&self->g, 1, self->addr[1]));
	ASSERT_EQ(0, pw_wait_route(&self->g, 2, self->addr[0]));
}

FIXTURE_TEARDOWN(pair)
{
	int i;

	for (i = 0; i < 2; i++)
		close(self->raw[i]);
	close(self->nl.fd);
	close(self->g.nl.fd);
	close(self->ns);
}

#define HSTAT(which, what) pw_half_stat(&self->g, "r", which, PACKETWAY_A_HALF_STAT_##what)

/* the next frame at @who is these bytes */
#define EXPECT_FRAME(who, want, n) do {							\
	int _l = pw_recv(self->raw[who], rx, sizeof(rx), NULL, SOON);			\
	EXPECT_EQ((int)(n), _l);							\
	if (_l == (int)(n))								\
		EXPECT_EQ(0, memcmp(rx, want, n));					\
} while (0)
#define EXPECT_NOTHING(who) EXPECT_EQ(-1, pw_recv(self->raw[who], rx, sizeof(rx), NULL, NEVER))

TEST_F(pair, refusals)
{
	struct pw_half_req a = { 1, 7, -1 }, b = { 2, 7, -1 };

	if (PROGRAM)
		SKIP(return, "what netlink refuses; user_half_test has what HALF_OPEN refuses");
	EXPECT_EQ(-EEXIST, pw_router_add(&self->g, "r", a, b));
	EXPECT_EQ(-EINVAL, pw_router_add(&self->g, NULL, a, b));
	EXPECT_EQ(-EINVAL, pw_router_add(&self->g, "", a, b));
	b.san = 1;
	b.port = 8;
	EXPECT_EQ(-EINVAL, pw_router_add(&self->g, "x", a, b));
	EXPECT_STREQ("A router joins two different SANs", self->g.nl.ext);
	b = (struct pw_half_req){ 2, 16, -1 };
	EXPECT_EQ(-ERANGE, pw_router_add(&self->g, "x", a, b));
	b.port = 0;
	EXPECT_EQ(-EBUSY, pw_router_add(&self->g, "x", a, b));
	b.port = 6;
	EXPECT_EQ(-EBUSY, pw_router_add(&self->g, "x", a, b));
	b = (struct pw_half_req){ -1, 3, -1 };
	EXPECT_EQ(-EINVAL, pw_router_add(&self->g, "x", a, b));
	b = (struct pw_half_req){ 2, 3, 63 };
	EXPECT_EQ(-ERANGE, pw_router_add(&self->g, "x", a, b));
	b.mtu = 65529;
	EXPECT_EQ(-ERANGE, pw_router_add(&self->g, "x", a, b));
	EXPECT_EQ(-ENOENT, pw_router_del(&self->g, "x"));
	/* a station cannot take a router's port */
	EXPECT_EQ(-EBUSY, pw_station_add(&self->nl, "x", 1, 5, self->ns));
	EXPECT_STREQ("The port has a router already", self->nl.ext);
	EXPECT_EQ(-ENOENT, pw_resolve(&self->g, 1, 0x123456, NULL));
	EXPECT_EQ(-ENOENT, pw_resolve(&self->g, 77, 1, NULL));
	EXPECT_EQ(-ENOENT, pw_resolve(&self->g, 1, 0, "nobody"));
	EXPECT_EQ(0, pw_resolve(&self->g, 1, 0, "b"));
}

/* the route with the least sum of qualities is taken, whatever the order of ports */
TEST_F(pair, quality)
{
	struct pw_half_req a = { 1, 2, -1 }, b = { 2, 2, -1 };
	double end = pw_now() + SOON / 1000;
	int i, l;

	if (!PROGRAM)
		EXPECT_EQ(-ERANGE, pw_router_add_q(&self->g, "s", a, b, 65536));
	ASSERT_EQ(0, pw_router_add_q(&self->g, "s", a, b, 9));
	EXPECT_EQ(9, (int)pw_attr_u32(pw_router_half(&self->g, "s", 0), PACKETWAY_A_HALF_QUALITY));
	EXPECT_EQ(1, (int)pw_attr_u32(pw_router_half(&self->g, "r", 0), PACKETWAY_A_HALF_QUALITY));
	/* until it knows SAN 2 */
	while (pw_attr_u32(pw_router_half(&self->g, "s", 0), PACKETWAY_A_HALF_TABLES) < 2 &&
	       pw_now() < end)
		usleep(5000);
	ASSERT_EQ(0, pw_resolve(&self->g, 1, self->addr[1], NULL));
	for (i = 0; i < 3; i++) {
		l = pw_msg(tx, self->addr[1], self->addr[0], PT_TEST, 9, 0, &i, sizeof(i));
		EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
		EXPECT_FRAME(1, tx, l);
	}
	EXPECT_SOON(3, (int)HSTAT(1, FORWARD_L3));
	EXPECT_EQ(0, (int)pw_half_stat(&self->g, "s", 1, PACKETWAY_A_HALF_STAT_FORWARD_L3));
	/* the other one is there if it is needed */
	ASSERT_EQ(0, pw_router_del(&self->g, "r"));
	ASSERT_EQ(0, pw_wait_route(&self->g, 1, self->addr[1]));
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	/* behind HRDOWN of the one that went */
	do {
		i = pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON);
	} while (i > 0 && pw_get(rx + 6, 2) == PW_PT_ERR);
	EXPECT_EQ(l, i);
	EXPECT_SOON(1, (int)pw_half_stat(&self->g, "s", 1, PACKETWAY_A_HALF_STAT_FORWARD_L3));
}

/* data of @n words behind an announced CRC32; the length of the frame */
static int put_crc_msg(uint8_t *b, uint32_t dt, uint32_t sa, int n)
{
	uint8_t crc[4];
	int l = 16, db;

	pw_msg(b, dt, sa, PT_TEST, 0, 0, NULL, 0);
	b[12] |= 0x80;
	pw_put(b + 8, 4, n);
	l += pw_put_opt(b + l, PW_OH_CRC32, true, true, NULL, 0);
	db = l;
	for (; l < db + 8 * n; l++)
		b[l] = l * 7;
	pw_put(crc, 4, pw_crc32c(b + db, 8 * n));
	l += pw_put_opt(b + l, PW_OH_CRC32, true, true, crc, 4);
	memset(b + l, 0, 8);
	return l + 8;
}

/* the next frame to a port of a SAN is damaged */
static int damage(int ns, int san, int port)
{
	char path[128], text[16];
	struct stat st;
	int fd, ret;

	if (fstat(ns, &st))
		return -1;
	snprintf(path, sizeof(path), "/sys/kernel/debug/packetway/net%lu-san%d/frame_fault",
		 (unsigned long)st.st_ino, san);
	snprintf(text, sizeof(text), "%d", port);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ret = write(fd, text, strlen(text)) < 0 ? -1 : 0;
	close(fd);
	return ret;
}

/* EI says how many routers are behind the damage */
TEST_F(pair, ei_names_the_router)
{
	struct { int san, port; uint8_t ei; } hop[] = {
		{ 1, 5, 2 },	/* on the way to r: seen there, one more router follows */
		{ 2, 2, 1 },	/* on the way to s */
		{ 3, 3, 1 },	/* on the way to c, which sees it itself */
		{ 0, 0, 0 },	/* nowhere */
	};
	uint64_t before, marked;
	int i, l, raw;

	ASSERT_EQ(0, pw_san_cmd(&self->g, PACKETWAY_CMD_SAN_NEW, 3, 16, PACKETWAY_ENGINE_NONE));
	ASSERT_EQ(0, pw_station_add(&self->nl, "c", 3, 3, self->ns));
	ASSERT_EQ(0, pw_link_up(&self->nl, "c"));
	ASSERT_EQ(0, pw_router_add(&self->g, "s", (struct pw_half_req){ 2, 2, -1 },
				   (struct pw_half_req){ 3, 2, -1 }));
	ASSERT_EQ(0, pw_wait_route(&self->g, 1, ADDR(3, 3)));
	raw = pw_packet_open(self->ns, SOCK_RAW, ETH_P_PACKETWAY, pw_link_index(&self->nl, "c"));
	ASSERT_GE(raw, 0);
	if (damage(self->ns, 1, 99) < 0 && errno == ENOENT)
		SKIP(return, "no debugfs");
	EXPECT_EQ(-1, damage(self->ns, 1, 99));
	EXPECT_EQ(EINVAL, errno);
	for (i = 0; i < (int)ARRAY_SIZE(hop); i++) {
		before = HSTAT(0, EI_MARKED);
		marked = pw_half_stat(&self->g, "s", 0, PACKETWAY_A_HALF_STAT_EI_MARKED);
		if (hop[i].san)
			ASSERT_EQ(0, damage(self->ns, hop[i].san, hop[i].port));
		l = put_crc_msg(tx, ADDR(3, 3), self->addr[0], 5);
		EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
		ASSERT_EQ(l, pw_recv(raw, rx, sizeof(rx), NULL, SOON));
		EXPECT_EQ(hop[i].ei, rx[l - 1]) {
			TH_LOG("hop %d", i);
		}
		EXPECT_EQ(!!hop[i].san, !!memcmp(tx, rx, l - 8));
		EXPECT_EQ(before + (hop[i].san == 1), HSTAT(0, EI_MARKED));
		/* r's mark moves on at s */
		EXPECT_EQ(marked + (hop[i].san == 1 || hop[i].san == 2),
			  pw_half_stat(&self->g, "s", 0, PACKETWAY_A_HALF_STAT_EI_MARKED));
	}
	close(raw);
}

TEST_F(pair, by_address)
{
	static const int sizes[] = { 0, 1, 7, 8, 9, 64, 1400, 1493, 1500 };
	uint8_t data[1500];
	int i, l;

	for (i = 0; i < 1500; i++)
		data[i] = i * 7 + 3;
	for (i = 0; i < (int)ARRAY_SIZE(sizes); i++) {
		l = pw_msg(tx, self->addr[1], self->addr[0], PT_TEST, 9, i, data, sizes[i]);
		EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
		EXPECT_FRAME(1, tx, l);
	}
	EXPECT_SOON(i, (int)HSTAT(0, RX));
	EXPECT_SOON(i, (int)HSTAT(1, FORWARD_L3));

	/* options and trailers too: a CRC over the data, a self-defined OT */
	l = pw_msg(tx, self->addr[1], self->addr[0], PT_TEST, 0, 0, NULL, 0);
	tx[12] |= 0x80;
	l = 16 + pw_put_opt(tx + 16, PW_OH_CRC32, true, false, NULL, 0);
	l += pw_put_opt(tx + l, 40, false, true, data, 30);
	pw_put(tx + 8, 4, 2);
	memcpy(tx + l, data, 16);
	l += 16;
	pw_put(data + 100, 4, pw_crc32c(data, 16));
	l += pw_put_opt(tx + l, PW_OH_CRC32, true, false, data + 100, 4);
	l += pw_put_opt(tx + l, 41, false, true, data, 20);
	memset(tx + l, 0, 8);
	l += 8;
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_FRAME(1, tx, l);

	/* symbols before the header are the host's */
	l = pw_put_sym(tx, PW_SYM_PRIO, (uint8_t []){ 63 }, 1);
	l += pw_msg(tx + l, self->addr[1], self->addr[0], PT_TEST, 9, 1, data, 20);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_FRAME(1, tx + 8, l - 8);

	/* echo, to the station and to both halves */
	for (i = 0; i < 3; i++) {
		uint32_t to[3] = { self->addr[1], self->hr[0], self->hr[1] };

		l = pw_msg(tx, to[i], self->addr[0], PW_PT_ECHO, PW_TE_ECHO_REQUEST, 3, data, 50);
		EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
		pw_msg(tx, self->addr[0], to[i], PW_PT_ECHO, PW_TE_ECHO_REPLY, 3, data, 50);
		EXPECT_FRAME(0, tx, l);
	}
}

TEST_F(pair, by_source_route)
{
	/* 5 = switch 1, output 1; then SAN 2: port 0 */
	const uint8_t to_hr[3] = { 2, 1, 1 }, to_b[3] = { 3, 0, 0 };
	struct pw_hdr h;
	int l, front;

	front = pw_put_l2rh(tx, to_hr, 3);
	front += pw_put_l2rh(tx + front, to_b, 3);
	l = front + pw_msg(tx + front, self->addr[1], self->addr[0], PT_TEST, 1, 5, "routed", 6);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_FRAME(1, tx + front, l - front);
	EXPECT_SOON(1, (int)HSTAT(1, FORWARD_L2));

	/* a symbol goes with the L2RH it precedes */
	front = pw_put_l2rh(tx, to_hr, 3);
	front += pw_put_sym(tx + front, PW_SYM_TRACE, NULL, 0);
	front += pw_put_l2rh(tx + front, to_b, 3);
	l = front + pw_msg(tx + front, self->addr[1], self->addr[0], PT_TEST, 1, 5, "routed", 6);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_FRAME(1, tx + front, l - front);
	EXPECT_SOON(1, (int)HSTAT(1, TRACED));
	EXPECT_EQ(0, (int)HSTAT(0, TRACED));

	/* by L2RH to the router, by address from there */
	front = pw_put_l2rh(tx, to_hr, 3);
	l = front + pw_msg(tx + front, self->addr[1], self->addr[0], PT_TEST, 1, 5, "mixed", 5);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_FRAME(1, tx + front, l - front);
	/* and to a node of the SAN it is on */
	l = front + pw_msg(tx + front, self->addr[0], self->addr[0], PT_TEST, 1, 5, "back", 4);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_FRAME(0, tx + front, l - front);

	/* routes that SAN 2 does not have: no such switch, empty port, too short */
	{
		const uint8_t wrong[3][3] = { { 4, 0, 0 }, { 0, 3, 3 }, { 0, 0, 0 } };
		int i;

		for (i = 0; i < 3; i++) {
			front = pw_put_l2rh(tx, to_hr, 3);
			front += pw_put_l2rh(tx + front, wrong[i], i == 2 ? 2 : 3);
			l = front + pw_msg(tx + front, self->addr[1], self->addr[0], PT_TEST, 1, 5,
					   "wrong", 5);
			EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
			EXPECT_LT(0, recv_err(self->raw[0], &h, PW_TE_ERR_BADL2RH));
			EXPECT_EQ(self->hr[1], h.sa);
		}
	}
	EXPECT_SOON(3, (int)HSTAT(1, DROP_BADL2RH));
	EXPECT_NOTHING(1);
}

TEST_F(pair, errors_to_the_source)
{
	struct pw_hdr h;
	int l;

	/* that port of SAN 2 is empty: the far half reports it */
	l = pw_msg(tx, ADDR(2, 9), self->addr[0], PT_TEST, 1, 5, "x", 1);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_LT(0, recv_err(self->raw[0], &h, PW_TE_ERR_UNK));
	EXPECT_EQ(self->hr[1], h.sa);
	EXPECT_EQ(ADDR(2, 9), pw_get(rx + 16 + 5, 3));

	/* no such SAN at all: the station itself */
	l = pw_msg(tx, 0x123456, self->addr[0], PT_TEST, 1, 5, "x", 1);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_LT(0, recv_err(self->raw[0], &h, PW_TE_ERR_UNK));
	EXPECT_EQ(self->addr[0], h.sa);

	/* too big: SAN 2's stations take 1000 bytes */
	ASSERT_EQ(0, pw_link_mtu(&self->nl, "b", 1000));
	{
		double end = pw_now() + SOON / 1000;

		while (pw_attr_u32(pw_router_half(&self->g, "r", 1), PACKETWAY_A_HALF_MTU_NOW) !=
		       1000 && pw_now() < end)
			usleep(5000);
	}
	l = pw_msg(tx, self->addr[1], self->addr[0], PT_TEST, 1, 5, tx + 2000, 1001);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_LT(0, recv_err(self->raw[0], &h, PW_TE_ERR_TOOBIG));
	/* the half that knows the MTU of SAN 2 */
	EXPECT_EQ(self->hr[PROGRAM], h.sa);
	EXPECT_EQ(PW_RRP_MTUR, rx[16]);
	EXPECT_EQ(125, (int)pw_get(rx + 20, 4));
	EXPECT_EQ(PW_RRP_ADDR, rx[24]);
	EXPECT_EQ(self->addr[1], pw_get(rx + 29, 3));
	l = pw_msg(tx, self->addr[1], self->addr[0], PT_TEST, 1, 5, tx + 2000, 1000);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_FRAME(1, tx, l);

	/* no ERR in answer to an ERR, or without a source */
	l = pw_msg(tx, ADDR(2, 9), self->addr[0], PW_PT_ERR, PW_TE_ERR_UNK, 5, "x", 1);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	l = pw_msg(tx, ADDR(2, 9), 0, PT_TEST, 0, 5, "x", 1);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_NOTHING(0);
	EXPECT_SOON(3, (int)HSTAT(1, DROP_UNKNOWN));
}

/*
 * A frame waits in the fabric of SAN 2. The router that sent it there and the station that it is
 * for go: another router tells its source.
 */
static void sender_and_receiver_go(struct __test_metadata *_metadata, struct _test_data_pair *self,
				   int engine)
{
	uint64_t before = HSTAT(1, FORWARD_L3);
	struct pw_hdr h;
	int l;

	ASSERT_EQ(0, pw_gsan_set2_of(&self->g, 2, PACKETWAY_A_SAN_ENGINE, engine,
				     PACKETWAY_A_SAN_FROZEN, 1));
	l = pw_msg(tx, self->addr[1], self->addr[0], PT_TEST, 1, 5, "x", 1);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_SOON(before + 1, HSTAT(1, FORWARD_L3));
	ASSERT_EQ(0, pw_router_add(&self->g, "other", (struct pw_half_req){ 1, 7, -1 },
				   (struct pw_half_req){ 2, 8, -1 }));
	EXPECT_EQ(0, pw_router_del(&self->g, "r"));
	ASSERT_EQ(0, pw_wait_route(&self->g, 2, self->addr[0]));
	close(self->raw[1]);
	EXPECT_EQ(0, pw_link_del(&self->nl, "b"));
	ASSERT_EQ(0, pw_gsan_set2_of(&self->g, 2, PACKETWAY_A_SAN_FROZEN, 0, 0, 0));
	/* HRDOWNs come as well */
	do {
		l = pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON);
		ASSERT_LE(24, l);
		pw_hdr_get(rx, &h);
	} while (h.pt != PW_PT_ERR || h.te != PW_TE_ERR_UNK);
	EXPECT_EQ(ADDR(2, 8), h.sa);
	EXPECT_EQ(self->addr[1], pw_get(rx + 16 + 5, 3));
}

TEST_F(pair, sender_and_receiver_go_fast)
{
	sender_and_receiver_go(_metadata, self, PACKETWAY_ENGINE_FAST);
}

TEST_F(pair, sender_and_receiver_go_rtl)
{
	sender_and_receiver_go(_metadata, self, PACKETWAY_ENGINE_RTL);
}

TEST_F(pair, loop_and_marks)
{
	const uint8_t to_hr[3] = { 0, 1, 1 }, to_b[3] = { 0, 0, 0 };
	const uint8_t back1[3] = { 0, 1, 2 };	/* the router's own port on SAN 2 */
	const uint8_t hop[12] = { 0, 1, 2, 3 };
	const uint8_t back0[3] = { 0, 1, 1 };	/* and on SAN 1 */
	uint8_t want[256];
	struct pw_hdr h;
	int i, l, front;

	/* round and round: ends after 64 routers with an ERR */
	l = pw_put_l2rh(tx, to_hr, 3);
	for (i = 0; i < 80; i++)
		l += pw_put_l2rh(tx + l, i & 1 ? back0 : back1, 3);
	l += pw_msg(tx + l, self->addr[1], self->addr[0], PT_TEST, 1, 5, "loop", 4);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_LT(0, recv_err(self->raw[0], &h, PW_TE_ERR_GENERAL));
	EXPECT_SOON(1, (int)(HSTAT(0, DROP_HOPS) + HSTAT(1, DROP_HOPS)));

	/* EI moves by one for each router; data that is shared stays as it is */
	l = pw_msg(tx, self->addr[1], self->addr[0], PT_TEST, 1, 5, "marked", 6);
	tx[l - 1] = 5;
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	memcpy(want, tx, l);
	want[l - 1] = 10;
	EXPECT_FRAME(1, want, l);
	/* three routers, there and back and there */
	front = pw_put_l2rh(tx, to_hr, 3);
	front += pw_put_l2rh(tx + front, back1, 3);
	front += pw_put_l2rh(tx + front, back0, 3);
	front += pw_put_l2rh(tx + front, to_b, 3);
	l = front + pw_msg(tx + front, self->addr[1], self->addr[0], PT_TEST, 1, 5, "marked", 6);
	tx[l - 1] = 1;
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	memcpy(want, tx + front, l - front);
	want[l - front - 1] = 8;
	EXPECT_FRAME(1, want, l - front);
	/* a top bit that is set stays */
	l = pw_msg(tx, self->addr[1], self->addr[0], PT_TEST, 1, 5, "marked", 6);
	tx[l - 8] = 0x80;
	tx[l - 1] = 1;
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_FRAME(1, tx, l);

	/* hop trace: written if it is optional and has room */
	l = 16;
	pw_msg(tx, self->addr[1], self->addr[0], PT_TEST, 1, 5, NULL, 0);
	tx[12] |= 0x80;
	l += pw_put_opt(tx + l, PW_OH_HOPTRACE, false, true, hop, 12);
	memset(tx + l, 0, 8);
	l += 8;
	memcpy(want, tx, l);
	pw_put(want + 16 + 2 + 4, 4, self->hr[0]);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_FRAME(1, want, l);
	tx[16] |= 0x80;		/* mandatory: hands off */
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_FRAME(1, tx, l);
}

/* --- RRP ------------------------------------------------------------------------ */

/* send @len bytes of records at tx + 16 */
#define RRP(who, dt, te, len) do {							\
	int _l = pw_msg(tx, dt, self->addr[who], PW_PT_RRP, te, 0, tx + 16, len);	\
	EXPECT_EQ(_l, send(self->raw[who], tx, _l, 0));					\
} while (0)

static int recv_rrp(int fd, struct pw_hdr *h, int te)
{
	int len = pw_recv(fd, rx, sizeof(rx), NULL, SOON);

	if (len < 24)
		return -1;
	pw_hdr_get(rx, h);
	return h->pt == PW_PT_RRP && h->te == te ? (int)h->dl * 8 : -1;
}

TEST_F(pair, rrp_routes)
{
	struct pw_hdr h;
	int l;

	/* HRTO: use the half-router; a node of the own SAN is its own route */
	l = put_rec(tx + 16, PW_RRP_ADDR, 0, 0, PW_RRP_AT_SINGLE << 24 | self->addr[1]);
	RRP(0, self->hr[0], PW_TE_HRTO, l);
	ASSERT_EQ(16, recv_rrp(self->raw[0], &h, PW_TE_RDRC));
	EXPECT_EQ(self->addr[1], pw_get(rx + 21, 3));
	EXPECT_EQ(self->hr[0], pw_get(rx + 29, 3));
	put_rec(tx + 16, PW_RRP_ADDR, 0, 0, PW_RRP_AT_SINGLE << 24 | self->addr[0]);
	RRP(0, self->hr[0], PW_TE_HRTO, l);
	ASSERT_EQ(16, recv_rrp(self->raw[0], &h, PW_TE_RDRC));
	EXPECT_EQ(self->addr[0], pw_get(rx + 29, 3));
	put_rec(tx + 16, PW_RRP_ADDR, 0, 0, PW_RRP_AT_SINGLE << 24 | 0x123456);
	RRP(0, self->hr[0], PW_TE_HRTO, l);
	EXPECT_EQ(32, recv_err(self->raw[0], &h, PW_TE_ERR_UNK));
	EXPECT_EQ(0x123456, (int)pw_get(rx + 21, 3));

	/* GVL2: ADDR { SRQR, MTUR } with both hops, and it works */
	put_rec(tx + 16, PW_RRP_ADDR, 0, 0, PW_RRP_AT_SINGLE << 24 | self->addr[1]);
	RRP(0, self->hr[0], PW_TE_GVL2, l);
	ASSERT_EQ(40, recv_rrp(self->raw[0], &h, PW_TE_L2SR));
	EXPECT_EQ(PW_RRP_ADDR, rx[16]);
	EXPECT_EQ(4, (int)pw_get(rx + 18, 2));
	EXPECT_EQ(PW_RRP_SRQR, rx[24]);
	EXPECT_EQ(2, (int)pw_get(rx + 26, 2));
	EXPECT_EQ(PW_RRP_MTUR, rx[48]);
	EXPECT_EQ(1500 / 8, (int)pw_get(rx + 52, 4));
	memcpy(tx, rx + 32, 16);
	l = 16 + pw_msg(tx + 16, self->addr[1], self->addr[0], PT_TEST, 1, 5, "fetched", 7);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_FRAME(1, tx + 16, l - 16);
	/* a node that is not there has no route, though its SAN has */
	l = put_rec(tx + 16, PW_RRP_ADDR, 0, 0, PW_RRP_AT_SINGLE << 24 | ADDR(2, 9));
	RRP(0, self->hr[0], PW_TE_GVL2, l);
	EXPECT_EQ(32, recv_err(self->raw[0], &h, PW_TE_ERR_UNK));
	/* routes begin on the half-router's SAN: no use for others */
	put_rec(tx + 16, PW_RRP_ADDR, 0, 0, PW_RRP_AT_SINGLE << 24 | self->addr[1]);
	RRP(0, self->hr[1], PW_TE_GVL2, l);
	EXPECT_EQ(32, recv_err(self->raw[0], &h, PW_TE_ERR_UNK));
	/* the same by netlink */
	ASSERT_EQ(0, pw_resolve(&self->g, 1, 0, "b"));
	{
		struct rtattr *route = pw_genl_attr((void *)self->g.nl.buf, PACKETWAY_A_ROUTE);
		struct rtattr *a = pw_attr_in(route, PACKETWAY_A_ROUTE_L2RH);

		ASSERT_NE(NULL, a);
		EXPECT_EQ(16, (int)RTA_PAYLOAD(a));
		EXPECT_EQ(self->hr[0], pw_attr_u32(route, PACKETWAY_A_ROUTE_HR));
		EXPECT_EQ(1496, pw_attr_u32(route, PACKETWAY_A_ROUTE_MTU));
	}
	EXPECT_EQ(2, pw_genl_dump(&self->g, PACKETWAY_CMD_ROUTE_GET, PACKETWAY_A_ROUTE,
				  PACKETWAY_A_ROUTE_SAN, -1, NULL, NULL));
	EXPECT_EQ(1, pw_genl_dump(&self->g, PACKETWAY_CMD_ROUTE_GET, PACKETWAY_A_ROUTE,
				  PACKETWAY_A_ROUTE_SAN, 2, NULL, NULL));
	EXPECT_EQ(4, pw_genl_dump(&self->g, PACKETWAY_CMD_NODE_GET, PACKETWAY_A_NODE,
				  PACKETWAY_A_NODE_SAN, 1, NULL, NULL));
	EXPECT_EQ(1 + PROGRAM,
		  pw_genl_dump(&self->g, PACKETWAY_CMD_ROUTER_GET, 0, 0, -1, NULL, NULL));
}

TEST_F(pair, rrp_nodes)
{
	struct pw_hdr h;
	double end;
	int l;

	/* WRU: a half-router, and the far station by address */
	RRP(0, self->hr[0], PW_TE_WRU, 0);
	ASSERT_LT(0, recv_rrp(self->raw[0], &h, PW_TE_INFO));
	EXPECT_EQ(self->hr[0], pw_get(rx + 21, 3));
	EXPECT_EQ(PW_RRP_NAME, rx[24]);
	EXPECT_EQ('r', rx[28]);
	EXPECT_EQ(PW_RRP_CAPA, rx[32]);
	EXPECT_EQ(PW_CAPA_ROUTER, rx[36]);
	RRP(0, self->addr[1], PW_TE_WRU, 0);
	ASSERT_LT(0, recv_rrp(self->raw[0], &h, PW_TE_INFO));
	EXPECT_EQ(self->addr[1], h.sa);
	EXPECT_EQ('b', rx[28]);
	EXPECT_LT(0, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON));

	/* TELL by name and by capability */
	l = put_rec(tx + 16, PW_RRP_NAME, 3, 0, 'b' << 24);
	RRP(0, self->hr[0], PW_TE_TELL, l);
	ASSERT_LT(0, recv_rrp(self->raw[0], &h, PW_TE_INFO));
	EXPECT_EQ(self->addr[1], pw_get(rx + 21, 3));
	l = put_rec(tx + 16, PW_RRP_CAPA, 3, 0, PW_CAPA_ATON << 24);
	RRP(0, self->hr[0], PW_TE_TELL, l);
	ASSERT_EQ(96, recv_rrp(self->raw[0], &h, PW_TE_INFO));
	l = put_rec(tx + 16, PW_RRP_CAPA, 3, 0, PW_CAPA_PRINTER << 24);
	RRP(0, self->hr[0], PW_TE_TELL, l);
	EXPECT_EQ(32, recv_err(self->raw[0], &h, PW_TE_ERR_UNK));

	/*
	 * INFO: "b" says that it is the printer "Super"; no other node may. That holds
	 * when the station describes itself anew, as after a change of its MTU.
	 */
	l = put_rec(tx + 16, PW_RRP_ADDR, 0, 3, PW_RRP_AT_SINGLE << 24 | self->addr[1]);
	l += put_rec(tx + 16 + l, PW_RRP_NAME, 7, 1, 0x53757065);
	tx[16 + l++] = 'r';
	memset(tx + 16 + l, 0, 7);
	l += 7;
	l += put_rec(tx + 16 + l, PW_RRP_CAPA, 3, 0, PW_CAPA_PRINTER << 24);
	RRP(0, self->hr[0], PW_TE_INFO, l);
	EXPECT_EQ(l + 24, send(self->raw[0], tx, l + 24, 0));
	RRP(1, self->hr[1], PW_TE_INFO, l);
	end = pw_now() + SOON / 1000;
	while (pw_resolve(&self->g, 1, 0, "Super") && pw_now() < end)
		usleep(5000);
	EXPECT_EQ(0, pw_resolve(&self->g, 1, 0, "Super"));
	EXPECT_EQ(-ENOENT, pw_resolve(&self->g, 1, 0, "b"));
	EXPECT_SOON(2, (int)HSTAT(0, RRP_REFUSED));
	ASSERT_EQ(0, pw_link_mtu(&self->nl, "b", 1400));
	end = pw_now() + SOON / 1000;
	while (pw_attr_u32(pw_router_half(&self->g, "r", 1), PACKETWAY_A_HALF_MTU_NOW) != 1400 &&
	       pw_now() < end)
		usleep(5000);
	EXPECT_EQ(1400, (int)pw_attr_u32(pw_router_half(&self->g, "r", 1),
					 PACKETWAY_A_HALF_MTU_NOW));
	usleep(50000);
	EXPECT_EQ(0, pw_resolve(&self->g, 1, 0, "Super"));
	EXPECT_EQ(-ENOENT, pw_resolve(&self->g, 1, 0, "b"));
	l = put_rec(tx + 16, PW_RRP_CAPA, 3, 0, PW_CAPA_PRINTER << 24);
	RRP(0, self->hr[0], PW_TE_TELL, l);
	ASSERT_EQ(32, recv_rrp(self->raw[0], &h, PW_TE_INFO));

	/* tables and bad news are between routers */
	RRP(0, self->hr[0], PW_TE_GVRT, 0);
	l = put_rec(tx + 16, PW_RRP_ADDR, 0, 0, PW_RRP_AT_SINGLE << 24 | self->hr[0]);
	l += put_rec(tx + 24, PW_RRP_ADDR, 0, 0, PW_RRP_AT_SINGLE << 24 | self->hr[1]);
	l = pw_msg(tx, self->hr[0], self->addr[0], PW_PT_ERR, PW_TE_ERR_HRDOWN, 0, tx + 16, l);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	pw_put(tx + 13, 3, self->hr[1]);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_NOTHING(0);
	EXPECT_SOON(5, (int)HSTAT(0, RRP_REFUSED));
	EXPECT_EQ(0, pw_resolve(&self->g, 1, self->addr[1], NULL));

	/* malformed: the message comes back */
	l = put_rec(tx + 16, PW_RRP_ADDR, 0, 5, PW_RRP_AT_SINGLE << 24 | self->addr[1]);
	RRP(0, self->hr[0], PW_TE_GVL2, l);
	EXPECT_EQ(16 + 32 + 8, recv_err(self->raw[0], &h, PW_TE_ERR_GENERAL));
	EXPECT_SOON(1, (int)HSTAT(0, RRP_MALFORMED));

	/* down is gone, and comes back */
	ASSERT_EQ(0, pw_link_down(&self->nl, "b"));
	end = pw_now() + SOON / 1000;
	while (!pw_resolve(&self->g, 1, self->addr[1], NULL) && pw_now() < end)
		usleep(5000);
	EXPECT_EQ(-ENOENT, pw_resolve(&self->g, 1, self->addr[1], NULL));
	ASSERT_EQ(0, pw_link_up(&self->nl, "b"));
	EXPECT_EQ(0, pw_wait_route(&self->g, 1, self->addr[1]));
	EXPECT_EQ(0, pw_resolve(&self->g, 1, 0, "b"));
}

/* the parameter of capability @code that SAN 1's half-router tells of @addr; -1: none */
static long told_capa(int fd, uint32_t me, uint32_t hr, uint32_t addr, int code)
{
	struct pw_hdr h;
	int l, len, k;

	l = put_rec(tx + 16, PW_RRP_CAPA, 3, 0, (uint32_t)code << 24);
	l = pw_msg(tx, hr, me, PW_PT_RRP, PW_TE_TELL, 0, tx + 16, l);
	if (send(fd, tx, l, 0) != l)
		return -1;
	len = recv_rrp(fd, &h, PW_TE_INFO);
	for (k = 16, l = 0; k < 16 + len; k += 8) {
		if (rx[k] == PW_RRP_ADDR) {
			l = pw_get(rx + k + 5, 3) == addr;
			continue;
		}
		if (l && rx[k] == PW_RRP_CAPA && rx[k + 4] == code)
			return pw_get(rx + k + 5, 4);
		k += 8 * pw_get(rx + k + 2, 2);
	}
	return -1;
}

/* until the far station's capability is told as @want */
static long wait_capa(int fd, uint32_t me, uint32_t hr, uint32_t addr, int code, long want)
{
	double end = pw_now() + SOON / 1000;
	long got;

	while ((got = told_capa(fd, me, hr, addr, code)) != want && pw_now() < end)
		usleep(20000);
	return got;
}

TEST_F(pair, features)
{
	struct packetway_poets_open o = { .size = sizeof(o), .devices = 7, .pins = 1 };
	struct packetway_bind b = { .size = sizeof(b), .ifindex = self->idx[1] };
	struct rtattr *nest;
	struct pw_req r;
	int ctl, sw;

	/* a station that is up has a store for ESP, and its size is told */
	EXPECT_LT(0, told_capa(self->raw[0], self->addr[0], self->hr[0], self->addr[1],
			       PW_CAPA_ESP));
	pw_genl_init(&r, self->g.family, PACKETWAY_CMD_ESP_SET, NLM_F_ACK);
	nest = pw_genl_nest(&r, PACKETWAY_A_ESP);
	pw_req_u32(&r, PACKETWAY_A_ESP_IFINDEX, self->idx[1]);
	pw_req_u32(&r, PACKETWAY_A_ESP_CAPACITY, 100);
	pw_req_end(&r, nest);
	ASSERT_EQ(0, pw_nl_talk(&self->g.nl, &r));
	EXPECT_EQ(100, wait_capa(self->raw[0], self->addr[0], self->hr[0], self->addr[1],
				 PW_CAPA_ESP, 100));

	/* a softswitch as long as it is open */
	EXPECT_EQ(-1, told_capa(self->raw[0], self->addr[0], self->hr[0], self->addr[1],
				PW_CAPA_POETS));
	ASSERT_EQ(0, setns(self->ns, CLONE_NEWNET));
	ctl = open("/dev/" PACKETWAY_DEVICE, O_RDWR);
	ASSERT_LE(0, ctl);
	ASSERT_EQ(0, ioctl(ctl, PACKETWAY_IOC_BIND, &b));
	sw = ioctl(ctl, PACKETWAY_IOC_POETS_OPEN, &o);
	ASSERT_LE(0, sw);
	EXPECT_EQ(7, wait_capa(self->raw[0], self->addr[0], self->hr[0], self->addr[1],
			       PW_CAPA_POETS, 7));
	close(sw);
	EXPECT_EQ(-1, wait_capa(self->raw[0], self->addr[0], self->hr[0], self->addr[1],
				PW_CAPA_POETS, -1));
	close(ctl);
}

/* what a half-router does not process is counted and answered */
TEST_F(pair, not_understood)
{
	uint64_t before = HSTAT(0, DROP_TYPE);
	struct pw_hdr h;
	int l;

	l = pw_msg(tx, self->hr[0], self->addr[0], PT_TEST, 1, 5, "what", 4);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_LT(0, recv_err(self->raw[0], &h, PW_TE_ERR_GENERAL));
	EXPECT_EQ(self->hr[0], h.sa);
	EXPECT_SOON(before + 1, HSTAT(0, DROP_TYPE));
	/* of the half-router behind it, too */
	l = pw_msg(tx, self->hr[1], self->addr[0], PT_TEST, 1, 5, "what", 4);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_LT(0, recv_err(self->raw[0], &h, PW_TE_ERR_GENERAL));
	EXPECT_EQ(self->hr[1], h.sa);
	/* an echo reply is counted only */
	l = pw_msg(tx, self->hr[0], self->addr[0], PW_PT_ECHO, PW_TE_ECHO_REPLY, 5, "x", 1);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_SOON(before + 2, HSTAT(0, DROP_TYPE));
	EXPECT_NOTHING(0);
	/* an unknown mandatory OH */
	l = pw_msg(tx, self->hr[0], self->addr[0], PW_PT_ECHO, PW_TE_ECHO_REQUEST, 5, NULL, 0);
	memmove(tx + 24, tx + 16, l - 16);
	memset(tx + 16, 0, 8);
	tx[12] |= 0x80;
	tx[16] = 0xc0 | 33;
	l += 8;
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_LT(0, recv_err(self->raw[0], &h, PW_TE_ERR_BADOPT));
	EXPECT_EQ(self->hr[0], h.sa);
	/* half-routers have a store for ESP, and say which SANs they join as tables do */
	RRP(0, self->hr[0], PW_TE_WRU, 0);
	l = recv_rrp(self->raw[0], &h, PW_TE_INFO);
	ASSERT_EQ(48, l);
	EXPECT_EQ(PW_CAPA_ROUTER, rx[36]);
	EXPECT_EQ(256, (int)pw_get(rx + 37, 3));
	EXPECT_EQ(512, (int)pw_get(rx + 40, 3));
	EXPECT_EQ(PW_CAPA_ESP, rx[52]);
}

TEST_F(pair, groups)
{
	double end;
	int l, got;

	/* broadcasts and groups without listeners stay */
	l = pw_msg(tx, PW_ADDR_BROADCAST, self->addr[0], PT_TEST, 1, 5, "all", 3);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	l = pw_msg(tx, 0xe00042, self->addr[0], PT_TEST, 1, 5, "some", 4);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_NOTHING(1);
	/* "b" listens: its SAN's routers tell, and the message crosses once */
	ASSERT_EQ(0, pw_packet_join(self->raw[1], self->idx[1], PACKET_MR_MULTICAST, 0xe00042,
				    false));
	end = pw_now() + (pw_slow_kernel() ? 40 : 10);
	do {
		EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
		got = pw_recv(self->raw[1], rx, sizeof(rx), NULL, 10);
	} while (got < 0 && pw_now() < end);
	EXPECT_EQ(l, got);
	while (pw_recv(self->raw[1], rx, sizeof(rx), NULL, NEVER) >= 0)
		;
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_FRAME(1, tx, l);
	EXPECT_NOTHING(1);
}

/* --- a SAN whose table is longer than a message ------------------------------------- */

#define LARGE 140
#define LARGE_GROUPS 40
#define LARGE_GROUP(i) (0xe01000u + 16 * (i))

FIXTURE(large) {
	int ns;
	struct pw_nl nl;
	struct pw_genl g;
	int raw[2], idx[2];	/* of the last station of SAN 1, and of "b" */
};

FIXTURE_SETUP(large)
{
	char name[16];
	int ns, i;

	ns = pw_ns_new();
	ASSERT_GE(ns, 0);
	ASSERT_EQ(0, pw_nl_open(&self->nl, ns));
	ASSERT_EQ(0, pw_genl_open(&self->g, ns));
	self->ns = ns;
	for (i = 1; i < 3; i++)
		ASSERT_EQ(0, pw_san_cmd(&self->g, PACKETWAY_CMD_SAN_NEW, i, i == 1 ? 256 : 16,
					PACKETWAY_ENGINE_NONE));
	for (i = 0; i < LARGE; i++) {
		snprintf(name, sizeof(name), "large%03d", i);
		ASSERT_EQ(0, pw_station_add(&self->nl, name, 1, i, ns));
		ASSERT_EQ(0, pw_link_up(&self->nl, name));
	}
	ASSERT_EQ(0, pw_station_add(&self->nl, "b", 2, 0, ns));
	ASSERT_EQ(0, pw_link_up(&self->nl, "b"));
	ASSERT_EQ(0, pw_router_add(&self->g, "r", (struct pw_half_req){ 1, 255, -1 },
				   (struct pw_half_req){ 2, 15, -1 }));
	for (i = 0; i < 2; i++) {
		self->idx[i] = pw_link_index(&self->nl, i ? "b" : name);
		self->raw[i] = pw_packet_open(ns, SOCK_RAW, ETH_P_PACKETWAY, self->idx[i]);
		ASSERT_GE(self->raw[i], 0);
	}
	ASSERT_EQ(0, pw_wait_route(&self->g, 2, ADDR(1, LARGE - 1)));
}

FIXTURE_TEARDOWN(large)
{
	close(self->raw[0]);
	close(self->raw[1]);
	close(self->nl.fd);
	close(self->g.nl.fd);
	close(self->ns);
}

/* ask for all computing nodes from @from on; how many are told, *more: where the rest begins */
static int tell_page(int fd, uint32_t from, uint32_t *last, uint32_t *more)
{
	struct pw_hdr h;
	int l, n = 0, at;

	l = put_rec(tx + 16, PW_RRP_ADDR, 4, 2, PW_RRP_AT_MIN << 24 | from);
	l += put_rec(tx + 16 + l, PW_RRP_AT_MIN + 1, 0, 0, 0);
	pw_put(tx + 25, 3, PW_ADDR_HEYYOU - 1);
	l += put_rec(tx + 16 + l, PW_RRP_CAPA, 3, 0, PW_CAPA_COMPUTE << 24);
	l = pw_msg(tx, ADDR(2, 15), ADDR(2, 0), PW_PT_RRP, PW_TE_TELL, 0, tx + 16, l);
	if (send(fd, tx, l, 0) != l)
		return -1;
	l = recv_rrp(fd, &h, PW_TE_INFO);
	*more = 0;
	for (at = 16; at < 16 + l; at += 8 + 8 * pw_get(rx + at + 2, 2)) {
		uint32_t addr = pw_get(rx + at + 5, 3);

		if (rx[at] != PW_RRP_ADDR || *more)
			return -1;
		if (rx[at + 4] == PW_RRP_AT_MIN) {
			*more = addr;
			continue;
		}
		if (addr <= *last)
			return -1;
		*last = addr;
		n++;
	}
	return n;
}

TEST_F(large, names_and_nodes)
{
	uint32_t from = 1, last = 0, more;
	int i, n, all = 0, pages = 0;
	double end;
	char name[16];

	/* every name crosses */
	end = pw_now() + (pw_slow_kernel() ? 60 : 20);
	snprintf(name, sizeof(name), "large%03d", LARGE - 1);
	while (pw_resolve(&self->g, 2, 0, name) && pw_now() < end)
		usleep(20000);
	for (i = 0; i < LARGE; i++) {
		snprintf(name, sizeof(name), "large%03d", i);
		EXPECT_EQ(0, pw_resolve(&self->g, 2, 0, name)) {
			TH_LOG("%s", name);
		}
	}
	/* TELL: page by page, each node once */
	do {
		n = tell_page(self->raw[1], from, &last, &more);
		ASSERT_LT(0, n);
		if (more)
			ASSERT_LT(from, more);
		all += n;
		from = more;
		pages++;
	} while (more);
	EXPECT_EQ(LARGE + 1, all);
	EXPECT_LT(1, pages);
}

/* a node that is no longer there moves the others: who asked for them is told */
TEST_F(large, dump_of_nodes)
{
	double end = pw_now() + SOON / 1000;
	bool said;
	int fd;

	/* the nodes are announced one after the other; then nothing changes */
	do {
		fd = dump_begin(&self->g, self->ns, PACKETWAY_CMD_NODE_GET);
		ASSERT_LE(0, fd);
		EXPECT_LT(2, dump_end(fd, &said));
	} while (said && pw_now() < end);
	EXPECT_FALSE(said);
	fd = dump_begin(&self->g, self->ns, PACKETWAY_CMD_NODE_GET);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pw_link_del(&self->nl, "large003"));
	EXPECT_SOON(-ENOENT, pw_resolve(&self->g, 1, 0, "large003"));
	EXPECT_LT(2, dump_end(fd, &said));
	EXPECT_TRUE(said);
}

TEST_F(large, groups)
{
	uint64_t before;
	int i, l, got;
	double end;

	/* more groups than an old description had */
	for (i = 0; i < LARGE_GROUPS; i++)
		ASSERT_EQ(0, pw_packet_join(self->raw[0], self->idx[0], PACKET_MR_MULTICAST,
					    LARGE_GROUP(i), false));
	/* send to each until one frame has come; those of other groups may still be under way */
	for (i = LARGE_GROUPS - 1; i >= 0; i--) {
		l = pw_msg(tx, LARGE_GROUP(i), ADDR(2, 0), PT_TEST, 1, 5, &i, sizeof(i));
		end = pw_now() + SOON / 1000;
		do {
			ASSERT_EQ(l, send(self->raw[1], tx, l, 0));
			do {
				got = pw_recv(self->raw[0], rx, sizeof(rx), NULL, 500);
			} while (got >= 0 && memcmp(rx + 16, &i, sizeof(i)));
		} while (got < 0 && pw_now() < end);
		EXPECT_EQ(l, got) {
			TH_LOG("group %d", i);
		}
	}
	while (pw_recv(self->raw[0], rx, sizeof(rx), NULL, 3000) >= 0)
		;
	/*
	 * and each frame once; one at a time, because each is under way 140 times until all
	 * stations have looked at it, and a half-router has 1024 frames under way at most
	 */
	for (i = 0; i < LARGE_GROUPS; i++) {
		l = pw_msg(tx, LARGE_GROUP(i), ADDR(2, 0), PT_TEST, 1, 5, &i, sizeof(i));
		ASSERT_EQ(l, send(self->raw[1], tx, l, 0));
		ASSERT_EQ(l, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
		EXPECT_EQ(0, memcmp(rx + 16, &i, sizeof(i)));
	}
	EXPECT_EQ(-1, pw_recv(self->raw[0], rx, sizeof(rx), NULL, NEVER));
	/* a range that a node tells of by INFO attracts frames; its neighbours do not */
	l = put_rec(tx + 16, PW_RRP_ADDR, 0, 2, PW_RRP_AT_SINGLE << 24 | ADDR(1, LARGE - 1));
	l += put_rec(tx + 16 + l, PW_RRP_LADR, 4, 1, PW_RRP_AT_MIN << 24 | 0xe05000);
	l += put_rec(tx + 16 + l, PW_RRP_AT_MIN + 1, 0, 0, 0);
	pw_put(tx + 33, 3, 0xe05fff);
	l = pw_msg(tx, ADDR(1, 255), ADDR(1, LARGE - 1), PW_PT_RRP, PW_TE_INFO, 0, tx + 16, l);
	ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
	before = pw_half_stat(&self->g, "r", 0, PACKETWAY_A_HALF_STAT_FORWARD_GROUP);
	l = pw_msg(tx, 0xe05123, ADDR(2, 0), PT_TEST, 1, 5, "range", 5);
	do {
		ASSERT_EQ(l, send(self->raw[1], tx, l, 0));
		usleep(20000);
		got = pw_half_stat(&self->g, "r", 0, PACKETWAY_A_HALF_STAT_FORWARD_GROUP) != before;
	} while (!got && pw_now() < end);
	EXPECT_EQ(1, got);
	before = pw_half_stat(&self->g, "r", 1, PACKETWAY_A_HALF_STAT_DROP_GROUP);
	pw_put(tx + 1, 3, 0xe06000);
	ASSERT_EQ(l, send(self->raw[1], tx, l, 0));
	EXPECT_SOON(before + 1, pw_half_stat(&self->g, "r", 1,
					     PACKETWAY_A_HALF_STAT_DROP_GROUP));
	/* what it joined still crosses */
	i = 3;
	l = pw_msg(tx, LARGE_GROUP(i), ADDR(2, 0), PT_TEST, 1, 5, &i, sizeof(i));
	ASSERT_EQ(l, send(self->raw[1], tx, l, 0));
	EXPECT_EQ(l, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
}

static int route_cmd(struct pw_genl *g, int cmd, long san, uint32_t first, uint32_t last,
		     uint32_t hr)
{
	struct rtattr *nest;
	struct pw_req r;

	pw_genl_init(&r, g->family, cmd, NLM_F_ACK);
	nest = pw_genl_nest(&r, PACKETWAY_A_ROUTE);
	if (san >= 0)
		pw_req_u32(&r, PACKETWAY_A_ROUTE_SAN, san);
	pw_req_u32(&r, PACKETWAY_A_ROUTE_FIRST, first);
	pw_req_u32(&r, PACKETWAY_A_ROUTE_LAST, last);
	pw_req_u32(&r, PACKETWAY_A_ROUTE_HR, hr);
	pw_req_end(&r, nest);
	return pw_nl_talk(&g->nl, &r);
}

/* the next event about a route to @first: 1 it came or changed, 0 it went, -1 none */
static int route_event(struct pw_genl *g, uint32_t first, uint32_t *hr)
{
	static char buf[8192];
	double end = pw_now() + (pw_slow_kernel() ? 20 : 5);
	struct rtattr *nest;
	struct nlmsghdr *h;
	int len;

	while (pw_now() < end) {
		len = recv(g->nl.fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (len < 0) {
			usleep(2000);
			continue;
		}
		for (h = (void *)buf; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
			nest = pw_genl_attr(h, PACKETWAY_A_ROUTE);
			if (!nest || pw_attr_u32(nest, PACKETWAY_A_ROUTE_SAN) != 1 ||
			    pw_attr_u32(nest, PACKETWAY_A_ROUTE_FIRST) != first)
				continue;
			*hr = pw_attr_u32(nest, PACKETWAY_A_ROUTE_HR);
			return !pw_attr_in(nest, PACKETWAY_A_ROUTE_GONE);
		}
	}
	return -1;
}

TEST_F(pair, static_routes)
{
	const uint32_t first = ADDR(2, 0), last = ADDR(2, 15), far = 0x5000;
	struct pw_genl ev;
	struct pw_hdr h;
	uint32_t hr;
	int i, l;

	EXPECT_EQ(-EINVAL, route_cmd(&self->g, PACKETWAY_CMD_ROUTE_NEW, -1, first, last,
				     self->hr[0]));
	EXPECT_EQ(-ENOENT, route_cmd(&self->g, PACKETWAY_CMD_ROUTE_NEW, 7, first, last,
				     self->hr[0]));
	EXPECT_EQ(-ERANGE, route_cmd(&self->g, PACKETWAY_CMD_ROUTE_NEW, 1, last, first,
				     self->hr[0]));
	EXPECT_EQ(-ERANGE, route_cmd(&self->g, PACKETWAY_CMD_ROUTE_NEW, 1, first, 0xe00001,
				     self->hr[0]));
	EXPECT_EQ(-ERANGE, route_cmd(&self->g, PACKETWAY_CMD_ROUTE_NEW, 1, first, last,
				     self->hr[1]));
	EXPECT_EQ(-ENOENT, route_cmd(&self->g, PACKETWAY_CMD_ROUTE_NEW, 1, first, last,
				     ADDR(1, 9)));
	EXPECT_EQ(-ENOENT, route_cmd(&self->g, PACKETWAY_CMD_ROUTE_DEL, 1, first, last,
				     self->hr[0]));

	/* addresses that no table tells of: the next SAN decides */
	ASSERT_EQ(0, pw_genl_open(&ev, self->ns));
	ASSERT_EQ(0, setsockopt(ev.nl.fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &ev.group,
				sizeof(ev.group)));
	l = pw_msg(tx, far + 3, self->addr[0], PT_TEST, 1, 5, "far", 3);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_LT(0, recv_err(self->raw[0], &h, PW_TE_ERR_UNK));
	EXPECT_EQ(self->addr[0], h.sa);
	EXPECT_EQ(0, route_cmd(&self->g, PACKETWAY_CMD_ROUTE_NEW, 1, far, far + 15, self->hr[0]));
	EXPECT_EQ(-EEXIST, route_cmd(&self->g, PACKETWAY_CMD_ROUTE_NEW, 1, far, far + 15,
				     self->hr[0]));
	EXPECT_EQ(1, route_event(&ev, far, &hr));
	EXPECT_EQ(self->hr[0], hr);
	EXPECT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_LT(0, recv_err(self->raw[0], &h, PW_TE_ERR_UNK));
	EXPECT_EQ(self->hr[1], h.sa);
	EXPECT_EQ(2, pw_genl_dump(&self->g, PACKETWAY_CMD_ROUTE_GET, PACKETWAY_A_ROUTE,
				  PACKETWAY_A_ROUTE_SAN, 1, NULL, NULL));
	/* as many as fit and no more */
	for (i = 1; i < 64; i++)
		EXPECT_EQ(0, route_cmd(&self->g, PACKETWAY_CMD_ROUTE_NEW, 1, far + 32 * i,
				       far + 32 * i + 1, self->hr[0]));
	EXPECT_EQ(-ENOSPC, route_cmd(&self->g, PACKETWAY_CMD_ROUTE_NEW, 1, far + 32 * i,
				     far + 32 * i + 1, self->hr[0]));
	EXPECT_EQ(65, pw_genl_dump(&self->g, PACKETWAY_CMD_ROUTE_GET, PACKETWAY_A_ROUTE,
				   PACKETWAY_A_ROUTE_SAN, 1, NULL, NULL));
	EXPECT_EQ(0, route_cmd(&self->g, PACKETWAY_CMD_ROUTE_DEL, 1, far, far + 15, self->hr[0]));
	EXPECT_EQ(0, route_event(&ev, far, &hr));
	/* the router goes, and with it the last route to SAN 2 */
	EXPECT_EQ(0, pw_router_del(&self->g, "r"));
	EXPECT_EQ(0, route_event(&ev, first, &hr));
	close(ev.nl.fd);
}

/* an entry that goes between two parts of a dump hides another one: that is said */
TEST_F(pair, dumps_of_lists)
{
	char name[8];
	bool said;
	int i, fd;

	for (i = 8; i < 15; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		ASSERT_EQ(0, pw_router_add(&self->g, name, (struct pw_half_req){ 1, i, -1 },
					   (struct pw_half_req){ 2, i, -1 }));
	}
	fd = dump_begin(&self->g, self->ns, PACKETWAY_CMD_ROUTER_GET);
	ASSERT_LE(0, fd);
	EXPECT_LT(1, dump_end(fd, &said));
	EXPECT_FALSE(said);
	fd = dump_begin(&self->g, self->ns, PACKETWAY_CMD_ROUTER_GET);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pw_router_del(&self->g, "r8"));
	EXPECT_LT(1, dump_end(fd, &said));
	EXPECT_TRUE(said);

	for (i = 0; i < 64; i++)
		ASSERT_EQ(0, route_cmd(&self->g, PACKETWAY_CMD_ROUTE_NEW, 1, 0x5000 + 32 * i,
				       0x5001 + 32 * i, self->hr[0]));
	fd = dump_begin(&self->g, self->ns, PACKETWAY_CMD_ROUTE_GET);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, route_cmd(&self->g, PACKETWAY_CMD_ROUTE_DEL, 1, 0x5000, 0x5001, self->hr[0]));
	EXPECT_LT(1, dump_end(fd, &said));
	EXPECT_TRUE(said);
	/* stations are counted, too */
	fd = dump_begin(&self->g, self->ns, PACKETWAY_CMD_ESP_GET);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pw_link_del(&self->nl, "a"));
	EXPECT_LT(1, dump_end(fd, &said));
	EXPECT_TRUE(said);
}

TEST_F_TIMEOUT(pair, hostile, 3600)
{
	long n = pw_count(10000, 10000), i;
	unsigned int seed = 12345;
	struct pw_hdr h;
	double end;
	int l, k, len;

	for (i = 0; i < n; i++) {
		len = 8 * (rand_r(&seed) % 30);
		for (k = 0; k < len; k++)
			tx[16 + k] = rand_r(&seed);
		/* mostly records that look like some */
		for (k = 0; k + 8 <= len && rand_r(&seed) % 8; ) {
			int rl = rand_r(&seed) % 4;

			put_rec(tx + 16 + k, 0x11 + rand_r(&seed) % 8,
				rand_r(&seed) % 3 ? 0 : rand_r(&seed) % 8, rl,
				(1 + rand_r(&seed) % 5) << 24 | (256 + rand_r(&seed) % 600));
			k += 8 + 8 * (rand_r(&seed) % 3 ? rl : 0);
		}
		l = pw_msg(tx, i % 5 ? self->hr[i & 1] : PW_ADDR_BROADCAST, self->addr[0],
			   i % 7 ? PW_PT_RRP : PW_PT_ERR, 1 + rand_r(&seed) % 10, 0, tx + 16, len);
		/* well formed, but not for a station to say */
		if (i % 16 == 4)
			l = pw_msg(tx, self->hr[0], self->addr[0], PW_PT_RRP, PW_TE_GVRT, 0, NULL, 0);
		send(self->raw[0], tx, l, 0);
	}
	/* still there: both halves answer, tables are bounded, routes as before */
	end = pw_now() + SOON / 1000;
	do {
		l = pw_msg(tx, self->hr[1], self->addr[0], PW_PT_ECHO, PW_TE_ECHO_REQUEST, 63,
			   "alive", 5);
		send(self->raw[0], tx, l, 0);
		do {
			len = pw_recv(self->raw[0], rx, sizeof(rx), NULL, 200);
			if (len >= 24)
				pw_hdr_get(rx, &h);
		} while (len >= 0 && (h.pt != PW_PT_ECHO || h.te != PW_TE_ECHO_REPLY));
	} while (len < 0 && pw_now() < end);
	EXPECT_LE(24, len);
	EXPECT_GE(64, (int)pw_attr_u32(pw_router_half(&self->g, "r", 0), PACKETWAY_A_HALF_TABLES));
	EXPECT_EQ(2, (int)pw_attr_u32(pw_router_half(&self->g, "r", 0), PACKETWAY_A_HALF_TABLES));
	EXPECT_LT(0, (int)HSTAT(0, RRP_MALFORMED));
	EXPECT_LT(0, (int)HSTAT(0, RRP_REFUSED));
	TH_LOG("%ld hostile messages: %lu malformed, %lu refused, %lu limited", n,
	       (unsigned long)HSTAT(0, RRP_MALFORMED), (unsigned long)HSTAT(0, RRP_REFUSED),
	       (unsigned long)HSTAT(0, RRP_LIMITED));
}

/* --- IP across a router ------------------------------------------------------------ */

FIXTURE(ip) {
};

FIXTURE_VARIANT(ip) {
	long engine;
	long bytes;
};

FIXTURE_VARIANT_ADD(ip, untimed) {
	.engine = PACKETWAY_ENGINE_NONE,
	.bytes = 4000000,
};

/* every cell of every frame is worked out, in three SANs */
FIXTURE_VARIANT_ADD(ip, fast) {
	.engine = PACKETWAY_ENGINE_FAST,
	.bytes = 100000,
};

/* passive packets on three rings */
FIXTURE_VARIANT_ADD(ip, ring) {
	.engine = PACKETWAY_ENGINE_RING,
	.bytes = 100000,
};

FIXTURE_SETUP(ip)
{
}

FIXTURE_TEARDOWN(ip)
{
}

TEST_F_TIMEOUT(ip, across, 3600)
{
	const uint8_t v4[4] = { 10, 9, 0, 2 };
	const uint8_t v6[2][16] = { { 0xfd, [15] = 1 }, { 0xfd, [15] = 2 } };
	long bytes = pw_count(variant->bytes, 100000);
	struct pw_nl home, nl[2];
	struct pw_genl g;
	int ns[3], idx, i;

	for (i = 0; i < 3; i++)
		ns[i] = pw_ns_new();
	ASSERT_EQ(0, pw_nl_open(&home, ns[2]));
	ASSERT_EQ(0, pw_genl_open(&g, ns[2]));
	for (i = 1; i <= 3; i++)
		ASSERT_EQ(0, pw_san_cmd(&g, PACKETWAY_CMD_SAN_NEW, i, 16, variant->engine));
	for (i = 0; i < 2; i++) {
		uint8_t a4[4] = { 10, 9, 0, 1 + i }, a6[16] = { 0xfd, [15] = 1 + i };

		ASSERT_EQ(0, pw_nl_open(&nl[i], ns[i]));
		ASSERT_EQ(0, pw_station_add(&home, pname[i], 1 + 2 * i, i, ns[i]));
		ASSERT_EQ(0, pw_link_up(&nl[i], pname[i]));
		idx = pw_link_index(&nl[i], pname[i]);
		ASSERT_EQ(0, pw_ip_add(&nl[i], idx, AF_INET, a4, 4, 24));
		ASSERT_EQ(0, pw_ip_add(&nl[i], idx, AF_INET6, a6, 16, 64));
	}
	/* SAN 1 - r1 - SAN 2 - r2 - SAN 3, and a second route round */
	ASSERT_EQ(0, pw_router_add(&g, "r1", (struct pw_half_req){ 1, -1, -1 },
				   (struct pw_half_req){ 2, -1, -1 }));
	ASSERT_EQ(0, pw_router_add(&g, "r2", (struct pw_half_req){ 2, -1, -1 },
				   (struct pw_half_req){ 3, -1, -1 }));
	ASSERT_EQ(0, pw_wait_route(&g, 1, ADDR(3, 1)));
	ASSERT_EQ(0, pw_wait_route(&g, 3, ADDR(1, 0)));
	TH_LOG("IPv4, IPv6, then with a path MTU");
	EXPECT_EQ(bytes, pw_tcp_across(ns[0], ns[1], AF_INET, v4, 4, bytes));
	EXPECT_EQ(bytes, pw_tcp_across(ns[1], ns[0], AF_INET6, v6[0], 16, bytes));
	/* SAN 2 takes less: the path MTU is learnt */
	ASSERT_EQ(0, pw_router_del(&g, "r1"));
	ASSERT_EQ(0, pw_router_add(&g, "r1", (struct pw_half_req){ 1, -1, -1 },
				   (struct pw_half_req){ 2, -1, 1304 }));
	ASSERT_EQ(0, pw_wait_route(&g, 1, ADDR(3, 1)));
	ASSERT_EQ(0, pw_wait_route(&g, 3, ADDR(1, 0)));
	EXPECT_EQ(bytes, pw_tcp_across(ns[0], ns[1], AF_INET, v4, 4, bytes));
	EXPECT_EQ(bytes, pw_tcp_across(ns[0], ns[1], AF_INET6, v6[1], 16, bytes));
	EXPECT_LT(0, (int)pw_half_stat(&g, "r1", PROGRAM, PACKETWAY_A_HALF_STAT_DROP_TOOBIG));
	for (i = 0; i < 3; i++)
		close(ns[i]);
}

/* --- three SANs in a triangle, two routers per pair ---------------------------------- */

#define SANS 3
#define NMAX 16

FIXTURE(triangle) {
	int ns;
	long engine;
	struct pw_nl nl;
	struct pw_genl g;
	int n;			/* stations of a SAN */
	int raw[SANS][NMAX];
};

static const char * const rname[6] = { "ab0", "ab1", "bc0", "bc1", "ca0", "ca1" };

FIXTURE_VARIANT(triangle) {
	long engine;
};

FIXTURE_VARIANT_ADD(triangle, untimed) {
	.engine = PACKETWAY_ENGINE_NONE,
};

FIXTURE_VARIANT_ADD(triangle, fast) {
	.engine = PACKETWAY_ENGINE_FAST,
};

/* SANs 1..3; stations on ports 0.., routers on the highest ports of 25 */
/* counts routes in use whose half-router joins the SAN with the one they lead to */
static void count_direct(struct nlmsghdr *h, void *arg)
{
	struct rtattr *route = pw_genl_attr(h, PACKETWAY_A_ROUTE);
	uint32_t from, to, port;
	int *n = arg;

	if (!route || !pw_attr_in(route, PACKETWAY_A_ROUTE_BEST))
		return;
	from = pw_attr_u32(route, PACKETWAY_A_ROUTE_SAN);
	to = pw_attr_u32(route, PACKETWAY_A_ROUTE_FIRST) / 256;
	port = pw_attr_u32(route, PACKETWAY_A_ROUTE_HR) % 256 - 1;
	*n += to == from % SANS + 1 ? port == 24 || port == 23 : port == 22 || port == 21;
}

/*
 * Until every SAN uses its own routers to both others. Frames that are sent while routes
 * still become shorter may be lost on the way.
 */
static int wait_direct(struct pw_genl *g)
{
	double end = pw_now() + SOON / 1000;
	int n;

	do {
		n = 0;
		pw_genl_dump(g, PACKETWAY_CMD_ROUTE_GET, PACKETWAY_A_ROUTE, PACKETWAY_A_ROUTE_SAN,
			     -1, count_direct, &n);
		if (n == SANS * (SANS - 1))
			return 0;
		usleep(5000);
	} while (pw_now() < end);
	return n;
}

FIXTURE_SETUP(triangle)
{
	char name[16];
	int s, i, idx;

	self->n = (pw_slow_kernel() || PROGRAM) && !pw_long() ? 4 : NMAX;
	self->engine = variant->engine;
	self->ns = pw_ns_new();
	ASSERT_GE(self->ns, 0);
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_genl_open(&self->g, self->ns));
	for (s = 0; s < SANS; s++) {
		ASSERT_EQ(0, pw_san_cmd(&self->g, PACKETWAY_CMD_SAN_NEW, s + 1, 25, self->engine));
		for (i = 0; i < self->n; i++) {
			snprintf(name, sizeof(name), "s%dn%d", s + 1, i);
			ASSERT_EQ(0, pw_station_add(&self->nl, name, s + 1, i, self->ns));
			ASSERT_EQ(0, pw_link_up(&self->nl, name));
			idx = pw_link_index(&self->nl, name);
			self->raw[s][i] = pw_packet_open(self->ns, SOCK_RAW, ETH_P_PACKETWAY, idx);
			ASSERT_GE(self->raw[s][i], 0);
		}
	}
	for (i = 0; i < 6; i++) {
		s = i / 2;
		ASSERT_EQ(0, pw_router_add(&self->g, rname[i],
					   (struct pw_half_req){ s + 1, 24 - (i & 1), -1 },
					   (struct pw_half_req){ (s + 1) % 3 + 1, 22 - (i & 1),
								 -1 })) {
			TH_LOG("%s", self->g.nl.ext);
		}
	}
	for (s = 0; s < SANS; s++) {
		for (i = 0; i < SANS; i++)
			ASSERT_EQ(0, pw_wait_route(&self->g, s + 1, ADDR(i + 1, self->n - 1)));
	}
	ASSERT_EQ(0, wait_direct(&self->g));
}

FIXTURE_TEARDOWN(triangle)
{
	int s, i;

	for (s = 0; s < SANS; s++)
		for (i = 0; i < self->n; i++)
			close(self->raw[s][i]);
	close(self->nl.fd);
	close(self->g.nl.fd);
	close(self->ns);
}

/* echo replies at station (s, i) until none of @missing is left; number left */
static int collect_replies(int fd, const char *text, int missing, char *seen)
{
	struct pw_hdr h;
	int len;

	while (missing && (len = pw_recv(fd, rx, sizeof(rx), NULL, SOON)) >= 0) {
		pw_hdr_get(rx, &h);
		if (h.pt != PW_PT_ECHO || h.te != PW_TE_ECHO_REPLY || memcmp(rx + 16, text, 8))
			continue;
		if (seen[h.sa]++)
			return -1;	/* twice */
		missing--;
	}
	return missing;
}

TEST_F_TIMEOUT(triangle, any_to_any_by_address, 3600)
{
	static char seen[2048];
	int s, i, d, k, l, left;
	long pairs = 0;

	for (s = 0; s < SANS; s++) {
		for (i = 0; i < self->n; i++) {
			memset(seen, 0, sizeof(seen));
			for (d = 0; d < SANS; d++)
				for (k = 0; k < self->n; k++) {
					if (d == s && k == i)
						continue;
					l = pw_msg(tx, ADDR(d + 1, k), ADDR(s + 1, i), PW_PT_ECHO,
						   PW_TE_ECHO_REQUEST, 0, "by addr.", 8);
					EXPECT_EQ(l, send(self->raw[s][i], tx, l, 0));
					pairs++;
				}
			left = collect_replies(self->raw[s][i], "by addr.", SANS * self->n - 1,
					       seen);
			EXPECT_EQ(0, left) {
				TH_LOG("station %d of SAN %d misses %d replies", i, s + 1, left);
			}
		}
	}
	TH_LOG("%ld pairs by address", pairs);
}

/* the L2RHs to @dst for stations of SAN @s + 1, from GVL2, following RDRC; bytes or -1 */
static int fetch_route(int fd, uint32_t me, uint32_t hr, uint32_t dst, uint8_t *route)
{
	struct pw_hdr h;
	int l, len, n, tries;

	for (tries = 0; tries < 3; tries++) {
		put_rec(tx + 16, PW_RRP_ADDR, 0, 0, PW_RRP_AT_SINGLE << 24 | dst);
		l = pw_msg(tx, hr, me, PW_PT_RRP, PW_TE_GVL2, 0, tx + 16, 8);
		if (send(fd, tx, l, 0) != l)
			return -1;
		len = pw_recv(fd, rx, sizeof(rx), NULL, SOON);
		if (len < 24)
			return -1;
		pw_hdr_get(rx, &h);
		if (h.pt != PW_PT_RRP)
			return -1;
		if (h.te == PW_TE_RDRC) {
			hr = pw_get(rx + 29, 3);
			continue;
		}
		if (h.te != PW_TE_L2SR || rx[24] != PW_RRP_SRQR)
			return -1;
		n = 8 * pw_get(rx + 26, 2);
		memcpy(route, rx + 32, n);
		return n;
	}
	return -1;
}

TEST_F_TIMEOUT(triangle, any_to_any_by_source_route, 3600)
{
	static uint8_t route[SANS][NMAX][256];
	static int rlen[SANS][NMAX];
	static char seen[2048];
	int s, i, d, k, l, left;
	long pairs = 0;

	for (s = 0; s < SANS; s++) {
		for (d = 0; d < SANS; d++)
			for (k = 0; k < self->n; k++) {
				rlen[d][k] = fetch_route(self->raw[s][0], ADDR(s + 1, 0),
							 ADDR(s + 1, 24), ADDR(d + 1, k),
							 route[d][k]);
				EXPECT_EQ(d == s ? 8 : 16, rlen[d][k]) {
					TH_LOG("route from SAN %d to node %d of SAN %d", s + 1, k,
					       d + 1);
				}
			}
		for (i = 0; i < self->n; i++) {
			memset(seen, 0, sizeof(seen));
			for (d = 0; d < SANS; d++)
				for (k = 0; k < self->n; k++) {
					if ((d == s && k == i) || rlen[d][k] <= 0)
						continue;
					memcpy(tx, route[d][k], rlen[d][k]);
					l = rlen[d][k];
					l += pw_msg(tx + l, ADDR(d + 1, k), ADDR(s + 1, i),
						    PW_PT_ECHO, PW_TE_ECHO_REQUEST, 0,
						    "by route", 8);
					EXPECT_EQ(l, send(self->raw[s][i], tx, l, 0));
					pairs++;
				}
			left = collect_replies(self->raw[s][i], "by route", SANS * self->n - 1,
					       seen);
			EXPECT_EQ(0, left);
		}
	}
	EXPECT_LT(0, (int)pw_half_stat(&self->g, "ab0", 1, PACKETWAY_A_HALF_STAT_FORWARD_L2));
	TH_LOG("%ld pairs by source route", pairs);
}

/* senders on SAN 1 to SAN 2, numbered, never more under way than any queue takes */
struct load {
	int (*raw)[NMAX];
	int n;
	long sent, got, twice, bad, errs, down;
	long mark, after;	/* arrived of those that were sent from @mark on */
	int pause;		/* us between rounds */
	volatile bool stop;
	uint8_t seen[1 << 20];
};

#define LOAD_DATA 64
#define LOAD_WINDOW 256

/* one message at its receiver */
static void load_take(struct load *ld, int i, int len)
{
	struct pw_hdr h;
	long seq;
	int k;

	pw_hdr_get(rx, &h);
	ld->down += h.pt == PW_PT_ERR && h.te == PW_TE_ERR_HRDOWN;
	if (h.pt != PT_TEST)
		return;
	seq = pw_get(rx + 16, 8);
	for (k = 8; k < LOAD_DATA && rx[16 + k] == (uint8_t)(seq * 31 + k * 7); k++)
		;
	if (len != 16 + LOAD_DATA + 8 || k != LOAD_DATA || seq >= ld->sent ||
	    h.sa != ADDR(1, i) || h.dt != ADDR(2, i) || h.p != i) {
		ld->bad++;
		return;
	}
	ld->twice += ld->seen[seq];
	ld->seen[seq] = 1;
	ld->got++;
	ld->after += seq >= ld->mark;
}

/* everything that is there by now; the number of messages not accounted for */
static long load_collect(struct load *ld)
{
	struct pw_hdr h;
	int i, len;

	for (i = 0; i < ld->n; i++) {
		while ((len = recv(ld->raw[1][i], rx, sizeof(rx), MSG_DONTWAIT | MSG_TRUNC)) >= 0)
			load_take(ld, i, len);
		while ((len = recv(ld->raw[0][i], rx, sizeof(rx), MSG_DONTWAIT | MSG_TRUNC)) >= 0) {
			pw_hdr_get(rx, &h);
			if (h.pt == PW_PT_ERR && h.te == PW_TE_ERR_HRDOWN)
				ld->down++;
			else
				ld->errs += h.pt == PW_PT_ERR;
		}
	}
	return ld->sent - ld->got - ld->bad - ld->errs;
}

/* until at most @rest are missing */
static long load_wait(struct load *ld, long rest, double seconds)
{
	double end = pw_now() + (pw_slow_kernel() ? 4 : 1) * seconds;
	long left;

	while ((left = load_collect(ld)) > rest && pw_now() < end)
		usleep(2000);
	return left;
}

static void *load_run(void *arg)
{
	uint8_t b[256], data[LOAD_DATA];
	struct load *ld = arg;
	int i, k, l;

	while (!ld->stop && ld->sent + ld->n < (long)sizeof(ld->seen)) {
		if (load_wait(ld, LOAD_WINDOW - ld->n, 20) > LOAD_WINDOW - ld->n)
			break;
		for (i = 0; i < ld->n; i++) {
			memset(data, 0, sizeof(data));
			pw_put(data, 8, ld->sent);
			for (k = 8; k < LOAD_DATA; k++)
				data[k] = ld->sent * 31 + k * 7;
			l = pw_msg(b, ADDR(2, i), ADDR(1, i), PT_TEST, 7, i, data, LOAD_DATA);
			if (send(ld->raw[0][i], b, l, 0) == l)
				ld->sent++;
		}
		usleep(ld->pause);
	}
	return NULL;
}

/*
 * Errors that were not sent: over the rate, or __ratelimit() did not get its lock because
 * another error was being sent at that moment.
 */
static long load_limited(struct pw_genl *g, int ns, int n)
{
	int fd = pw_ns_socket(ns, AF_INET, SOCK_DGRAM, 0), i;
	struct pw_stats s;
	char name[16];
	long sum = 0;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "s1n%d", i);
		if (!pw_stats_read(fd, name, &s))
			sum += pw_stats_get(&s, "err_rate_limited");
	}
	close(fd);
	for (i = 2; i < 6; i++)
		sum += pw_half_stat(g, rname[i], 0, PACKETWAY_A_HALF_STAT_ERR_LIMITED) +
		       pw_half_stat(g, rname[i], 1, PACKETWAY_A_HALF_STAT_ERR_LIMITED);
	return sum;
}

/* all that the halves of a router counted, to see where something went */
static void log_half(struct __test_metadata *_metadata, struct pw_genl *g, const char *name)
{
	char line[400];
	int which, stat, n;

	for (which = 0; which < 2; which++) {
		n = 0;
		for (stat = 1; stat <= PACKETWAY_A_HALF_STAT_MAX && n < (int)sizeof(line) - 40; stat++) {
			uint64_t v = pw_half_stat(g, name, which, stat);

			if (v)
				n += snprintf(line + n, sizeof(line) - n, " %d:%llu", stat,
					      (unsigned long long)v);
		}
		TH_LOG("%s, half %d, counters:%.*s", name, which, n, line);
	}
}

TEST_F_TIMEOUT(triangle, router_deleted_under_load, 3600)
{
	static struct load ld;
	long left, limited;
	pthread_t thread;
	int i;

	memset(&ld, 0, sizeof(ld));
	ld.raw = self->raw;
	ld.n = self->n;
	ld.mark = LONG_MAX;
	/* a fabric whose port is one router's is slower than its stations */
	ld.pause = self->engine == PACKETWAY_ENGINE_NONE ? 500 : pw_slow_kernel() ? 100000 : 5000;
	ASSERT_EQ(0, pthread_create(&thread, NULL, load_run, &ld));
	usleep(300000);
	/* the better of the two, then the other: by way of SAN 3 from then on */
	EXPECT_EQ(0, pw_router_del(&self->g, "ab1"));
	usleep(300000);
	EXPECT_EQ(0, pw_router_del(&self->g, "ab0"));
	usleep(pw_slow_kernel() ? 3000000 : 600000);
	EXPECT_EQ(0, pw_wait_route(&self->g, 1, ADDR(2, 0)));
	/* the thread stands still while @mark is set */
	ld.stop = true;
	pthread_join(thread, NULL);
	load_wait(&ld, 0, 40);
	ld.mark = ld.sent;
	ld.stop = false;
	ASSERT_EQ(0, pthread_create(&thread, NULL, load_run, &ld));
	usleep(300000);
	/* a busy machine may not have let it send yet */
	for (i = 0; i < SOON / 10 && __atomic_load_n(&ld.sent, __ATOMIC_RELAXED) == ld.mark; i++)
		usleep(10000);
	ld.stop = true;
	pthread_join(thread, NULL);

	load_wait(&ld, 0, 40);
	/* and nothing comes twice */
	usleep(NEVER * 1000);
	left = load_collect(&ld);
	limited = load_limited(&self->g, self->ns, self->n);
	TH_LOG("%ld sent, %ld arrived, %ld told by ERR, %ld not told again, %ld HRDOWN heard; %ld of %ld afterwards",
	       ld.sent, ld.got, ld.errs, limited, ld.down, ld.after, ld.sent - ld.mark);
	/* every one has arrived, or its source knows */
	EXPECT_EQ(limited, left) {
		for (i = 2; i < 6; i++)
			log_half(_metadata, &self->g, rname[i]);
	}
	EXPECT_EQ(0, ld.twice);
	EXPECT_EQ(0, ld.bad);
	EXPECT_LE(4 * self->n, ld.down);
	EXPECT_LT(0, ld.after);
	EXPECT_EQ(ld.sent - ld.mark, ld.after);
	for (i = 2; i < 6; i++) {
		EXPECT_EQ(0, (int)pw_half_stat(&self->g, rname[i], 0,
					       PACKETWAY_A_HALF_STAT_DROP_FULL));
		EXPECT_EQ(0, (int)pw_half_stat(&self->g, rname[i], 1,
					       PACKETWAY_A_HALF_STAT_DROP_FULL));
	}
	EXPECT_LT(0, (int)pw_half_stat(&self->g, "ca0", 1, PACKETWAY_A_HALF_STAT_HRDOWN));
	/* and by way of SAN 3 it is */
	EXPECT_LE(1, (int)(pw_half_stat(&self->g, "bc0", 0, PACKETWAY_A_HALF_STAT_FORWARD_L3) +
			   pw_half_stat(&self->g, "bc1", 0, PACKETWAY_A_HALF_STAT_FORWARD_L3)));
}

TEST_HARNESS_MAIN
