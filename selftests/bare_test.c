// SPDX-License-Identifier: GPL-2.0
/*
 * Bare EEP: a half-router of SAN 1 in one namespace, and in the other one, behind a veth
 * pair, a program that sends EEP messages in Ethernet frames and has addresses of SAN 2.
 */
#include "pwtest.h"
#include "pwrouter.h"
#include "pwharness.h"

#include <libgen.h>
#include <linux/if_tun.h>
#include <net/if_arp.h>

#define PT_TEST 1500
#define ADDR(san, port) ((uint32_t)(san) * 256 + (port) + 1)
#define HALF ADDR(1, 9)
#define PEER ADDR(2, 9)

static uint8_t tx[4096], rx[4096];

FIXTURE(bare) {
	int ns[2];
	struct pw_nl nl[2];
	struct pw_genl g;
	int raw;		/* station of SAN 1 */
	int wire;		/* the foreign end of the link */
	int dev;
	uint8_t mac[6], far[6];
};

struct bare_req {
	uint32_t peer, dev, id;
	bool bare, key, udp;
};

static int bare_add(struct pw_genl *g, const char *name, uint32_t port, const struct bare_req *b)
{
	struct sockaddr_in end = { .sin_family = AF_INET, .sin_port = htons(7777),
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rtattr *nest, *half, *trunk;
	uint8_t key[32] = { 1 };
	struct pw_req r;

	pw_genl_init(&r, g->family, PACKETWAY_CMD_ROUTER_NEW, NLM_F_ACK);
	nest = pw_genl_nest(&r, PACKETWAY_A_ROUTER);
	pw_req_put(&r, PACKETWAY_A_ROUTER_NAME, name, strlen(name) + 1);
	half = pw_genl_nest(&r, PACKETWAY_A_ROUTER_HALF);
	pw_req_u32(&r, PACKETWAY_A_HALF_SAN, 1);
	pw_req_u32(&r, PACKETWAY_A_HALF_PORT, port);
	pw_req_end(&r, half);
	trunk = pw_genl_nest(&r, PACKETWAY_A_ROUTER_TRUNK);
	if (b->dev)
		pw_req_u32(&r, PACKETWAY_A_TRUNK_DEV, b->dev);
	if (b->udp) {
		pw_req_put(&r, PACKETWAY_A_TRUNK_LOCAL, &end, sizeof(end));
		pw_req_put(&r, PACKETWAY_A_TRUNK_REMOTE, &end, sizeof(end));
	}
	if (b->id)
		pw_req_u32(&r, PACKETWAY_A_TRUNK_ID, b->id);
	if (b->bare)
		pw_req_put(&r, PACKETWAY_A_TRUNK_BARE, NULL, 0);
	if (b->peer)
		pw_req_u32(&r, PACKETWAY_A_TRUNK_PEER, b->peer);
	if (b->key)
		pw_req_put(&r, PACKETWAY_A_TRUNK_KEY, key, sizeof(key));
	pw_req_end(&r, trunk);
	pw_req_end(&r, nest);
	return pw_nl_talk(&g->nl, &r);
}

/* a frame on the wire; the Ethernet header lies before @msg */
static bool wire_send(int fd, const uint8_t *dst, const uint8_t *src, const uint8_t *msg, int len)
{
	static uint8_t f[4096];

	memcpy(f, dst, 6);
	memcpy(f + 6, src, 6);
	pw_put(f + 12, 2, ETH_P_PACKETWAY);
	memcpy(f + 14, msg, len);
	return send(fd, f, 14 + len, 0) == 14 + len;
}

/* the next message on the wire for @dt within @ms; its length, the Ethernet header in @eth */
static int wire_recv(int fd, uint32_t dt, uint8_t *eth, int ms)
{
	double end = pw_now() + ms / 1000.0 * (pw_slow_kernel() ? 4 : 1);
	static uint8_t f[4096];
	int l;

	while ((l = pw_recv(fd, f, sizeof(f), NULL, ms)) >= 0) {
		if (l >= 14 + 24 && pw_get(f + 14 + 1, 3) == dt) {
			memcpy(eth, f, 14);
			memcpy(rx, f + 14, l - 14);
			return l - 14;
		}
		if (pw_now() > end)
			break;
	}
	return -1;
}

#define TSTAT(what) ((long)pw_trunk_stat(&self->g, "x", PACKETWAY_A_TRUNK_STAT_##what))

static const uint8_t all[6] = { 255, 255, 255, 255, 255, 255 };
static const uint8_t third[6] = { 2, 0, 0, 0, 0, 3 };

FIXTURE_SETUP(bare)
{
	struct rtattr *a;
	int i;

	for (i = 0; i < 2; i++) {
		self->ns[i] = pw_ns_new();
		ASSERT_GE(self->ns[i], 0);
		ASSERT_EQ(0, pw_nl_open(&self->nl[i], self->ns[i]));
	}
	ASSERT_EQ(0, pw_genl_open(&self->g, self->ns[0]));
	ASSERT_EQ(0, pw_veth_add(&self->nl[0], self->ns[1]));
	ASSERT_TRUE(pw_veth_up(&self->nl[0], &self->nl[1]));
	self->dev = pw_link_index(&self->nl[0], "v0");
	ASSERT_EQ(0, pw_station_add(&self->nl[0], "a", 1, 0, self->ns[0]));
	ASSERT_EQ(0, pw_link_up(&self->nl[0], "a"));
	self->raw = pw_packet_open(self->ns[0], SOCK_RAW, ETH_P_PACKETWAY,
				   pw_link_index(&self->nl[0], "a"));
	self->wire = pw_packet_open(self->ns[1], SOCK_RAW, ETH_P_PACKETWAY,
				    pw_link_index(&self->nl[1], "v1"));
	ASSERT_GE(self->raw, 0);
	ASSERT_GE(self->wire, 0);
	for (i = 0; i < 2; i++) {
		ASSERT_LT(0, pw_link_index(&self->nl[i], i ? "v1" : "v0"));
		a = pw_link_get(&self->nl[i], i ? "v1" : "v0", IFLA_ADDRESS, NULL);
		ASSERT_NE(NULL, a);
		memcpy(i ? self->far : self->mac, RTA_DATA(a), 6);
	}
}

FIXTURE_TEARDOWN(bare)
{
	int i;

	close(self->raw);
	close(self->wire);
	close(self->g.nl.fd);
	for (i = 0; i < 2; i++) {
		close(self->nl[i].fd);
		close(self->ns[i]);
	}
}

/* an Ethernet device that can become one of another type, as bonds and teams can, too */
static int tap_open(int ns)
{
	struct ifreq ifr = { .ifr_name = "tap", .ifr_flags = IFF_TAP | IFF_NO_PI };
	int save = pw_ns_self(), fd = -1;

	if (!setns(ns, CLONE_NEWNET))
		fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	if (fd >= 0 && ioctl(fd, TUNSETIFF, &ifr)) {
		close(fd);
		fd = -1;
	}
	if (setns(save, CLONE_NEWNET))
		perror("# setns");
	close(save);
	return fd;
}

static int tap_type(int fd, unsigned long type)
{
	return ioctl(fd, TUNSETLINK, type) ? -errno : 0;
}

/* a device stays Ethernet as long as it carries a trunk */
TEST_F(bare, type)
{
	struct bare_req b = { .bare = true };
	int fd = tap_open(self->ns[0]);

	if (fd < 0)
		SKIP(return, "no tap");
	b.dev = pw_link_index(&self->nl[0], "tap");
	ASSERT_LT(0, (int)b.dev);
	ASSERT_EQ(0, bare_add(&self->g, "x", 9, &b));
	EXPECT_EQ(-EBUSY, tap_type(fd, ARPHRD_INFINIBAND));
	ASSERT_EQ(0, pw_router_del(&self->g, "x"));
	EXPECT_EQ(0, tap_type(fd, ARPHRD_INFINIBAND));
	EXPECT_EQ(-EOPNOTSUPP, bare_add(&self->g, "x", 9, &b));
	close(fd);
}

TEST_F(bare, refusals)
{
	uint32_t dev = self->dev;

	EXPECT_EQ(-EINVAL, bare_add(&self->g, "x", 9, &(struct bare_req) {
		.bare = true, .dev = dev, .key = true }));
	EXPECT_EQ(-EINVAL, bare_add(&self->g, "x", 9, &(struct bare_req) {
		.bare = true, .dev = dev, .id = 7 }));
	EXPECT_EQ(-EINVAL, bare_add(&self->g, "x", 9, &(struct bare_req) {
		.bare = true, .udp = true }));
	EXPECT_EQ(-EINVAL, bare_add(&self->g, "x", 9, &(struct bare_req) {
		.dev = dev, .peer = PEER }));
	EXPECT_EQ(-ERANGE, bare_add(&self->g, "x", 9, &(struct bare_req) {
		.bare = true, .dev = dev, .peer = ADDR(1, 3) }));
	EXPECT_EQ(-ERANGE, bare_add(&self->g, "x", 9, &(struct bare_req) {
		.bare = true, .dev = dev, .peer = PW_ADDR_BROADCAST }));
	EXPECT_EQ(-ENODEV, bare_add(&self->g, "x", 9, &(struct bare_req) {
		.bare = true, .dev = 4711 }));
	/* a device has one of the two kinds */
	ASSERT_EQ(0, bare_add(&self->g, "x", 9, &(struct bare_req) { .bare = true, .dev = dev }));
	EXPECT_EQ(-EBUSY, bare_add(&self->g, "y", 8, &(struct bare_req) { .dev = dev }));
	EXPECT_EQ(-EBUSY, bare_add(&self->g, "y", 8, &(struct bare_req) {
		.bare = true, .dev = dev }));
	ASSERT_EQ(0, pw_router_del(&self->g, "x"));
	ASSERT_EQ(0, bare_add(&self->g, "y", 8, &(struct bare_req) { .dev = dev, .id = 3 }));
	EXPECT_EQ(-EBUSY, bare_add(&self->g, "x", 9, &(struct bare_req) {
		.bare = true, .dev = dev }));
}

/* a program that knows nothing of this module; its frame arrives, and an ERR comes back */
TEST_F(bare, stranger)
{
	char path[512], cmd[1024], out[4096] = "";
	int save = pw_ns_self(), l;
	struct pw_hdr h;
	FILE *f;

	l = readlink("/proc/self/exe", path, sizeof(path) - 1);
	ASSERT_LT(0, l);
	path[l] = 0;
	dirname(path);
	ASSERT_EQ(0, bare_add(&self->g, "x", 9, &(struct bare_req) {
		.bare = true, .dev = self->dev }));
	ASSERT_EQ(0, pw_route_add(&self->g, 1, ADDR(2, 0), ADDR(2, 255), HALF));
	for (int known = 0; known < 2; known++) {
		snprintf(cmd, sizeof(cmd), "%s/bare_peer v1 %02x:%02x:%02x:%02x:%02x:%02x %#x %#x",
			 path, self->mac[0], self->mac[1], self->mac[2], self->mac[3], self->mac[4],
			 self->mac[5], known ? ADDR(1, 0) : ADDR(1, 5), ADDR(2, 4));
		ASSERT_EQ(0, setns(self->ns[1], CLONE_NEWNET));
		f = popen(cmd, "r");
		ASSERT_EQ(0, setns(save, CLONE_NEWNET));
		ASSERT_NE(NULL, f);
		if (known) {
			l = pw_recv(self->raw, rx, sizeof(rx), NULL, SOON);
			ASSERT_EQ(32, l);
			EXPECT_EQ(0, memcmp(rx + 16, "stranger", 8));
			/* the station answers */
			l = pw_msg(tx, ADDR(2, 4), ADDR(1, 0), PT_TEST, 2, 5, "hello!!!", 8);
			ASSERT_EQ(l, send(self->raw, tx, l, 0));
		}
		ASSERT_NE(NULL, fgets(out, sizeof(out), f));
		EXPECT_EQ(0, pclose(f));
		for (l = 0; l < 32; l++)
			ASSERT_EQ(1, sscanf(out + 2 * l, "%2hhx", &rx[l]));
		pw_hdr_get(rx, &h);
		EXPECT_EQ(ADDR(2, 4), h.dt);
		EXPECT_EQ(known ? PT_TEST : PW_PT_ERR, h.pt);
		EXPECT_EQ(known ? 2 : PW_TE_ERR_UNK, h.te);
		EXPECT_EQ(known ? ADDR(1, 0) : HALF, h.sa);
	}
	close(save);
}

/* a frame that is sent as soon as the link is up, before the trunk has looked at it again */
TEST_F(bare, link_again)
{
	uint8_t eth[14];
	int l;

	ASSERT_EQ(0, bare_add(&self->g, "x", 9, &(struct bare_req) {
		.bare = true, .dev = self->dev }));
	ASSERT_EQ(0, pw_route_add(&self->g, 1, ADDR(2, 0), ADDR(2, 255), HALF));
	l = pw_msg(tx, ADDR(2, 4), ADDR(1, 0), PT_TEST, 1, 5, "frame", 5);
	for (int i = 0; i < 10; i++) {
		ASSERT_EQ(0, pw_link_down(&self->nl[0], "v0"));
		EXPECT_SOON(false, pw_trunk_up(&self->g, "x"));
		ASSERT_TRUE(pw_veth_up(&self->nl[0], &self->nl[1]));
		ASSERT_EQ(l, send(self->raw, tx, l, 0));
		ASSERT_EQ(l, wire_recv(self->wire, ADDR(2, 4), eth, SOON));
	}
}

TEST_F(bare, frames)
{
	uint8_t eth[14], data[1500], v1[32];
	struct pw_hdr h;
	int i, l, front;
	long had;

	for (i = 0; i < 1500; i++)
		data[i] = i * 7;
	ASSERT_EQ(0, bare_add(&self->g, "x", 9, &(struct bare_req) {
		.bare = true, .dev = self->dev }));
	ASSERT_EQ(0, pw_route_add(&self->g, 1, ADDR(2, 0), ADDR(2, 255), HALF));

	/* out: to all as long as no station is known */
	l = pw_msg(tx, ADDR(2, 4), ADDR(1, 0), PT_TEST, 1, 5, data, 100);
	ASSERT_EQ(l, send(self->raw, tx, l, 0));
	ASSERT_EQ(l, wire_recv(self->wire, ADDR(2, 4), eth, SOON));
	EXPECT_EQ(0, memcmp(tx, rx, l));
	EXPECT_EQ(0, memcmp(eth, all, 6));
	EXPECT_EQ(0, memcmp(eth + 6, self->mac, 6));

	/* in: of all sizes, filled up to the least that Ethernet has */
	for (i = 0; i <= 1472; i += 8) {
		memset(tx, 0, sizeof(tx));
		l = pw_msg(tx, ADDR(1, 0), ADDR(2, 4), PT_TEST, 1, 5, data, i);
		ASSERT_TRUE(wire_send(self->wire, self->mac, self->far, tx, l < 46 ? 46 : l));
		ASSERT_EQ(l, pw_recv(self->raw, rx, sizeof(rx), NULL, SOON));
		EXPECT_EQ(0, memcmp(tx, rx, l));
		if (i > 64)
			i += 240;
	}
	/* out: now to that station; another address of a third one */
	l = pw_msg(tx, ADDR(1, 0), ADDR(2, 5), PT_TEST, 1, 5, data, 50);
	ASSERT_TRUE(wire_send(self->wire, self->mac, third, tx, l));
	ASSERT_EQ(l, pw_recv(self->raw, rx, sizeof(rx), NULL, SOON));
	l = pw_msg(tx, ADDR(2, 4), ADDR(1, 0), PT_TEST, 1, 5, data, 1000);
	ASSERT_EQ(l, send(self->raw, tx, l, 0));
	ASSERT_EQ(l, wire_recv(self->wire, ADDR(2, 4), eth, SOON));
	EXPECT_EQ(0, memcmp(eth, self->far, 6));
	/* 00:02:06 and 00:03:06 share a place in the table of stations */
	ASSERT_EQ(0, pw_route_add(&self->g, 1, ADDR(3, 0), ADDR(3, 255), HALF));
	l = pw_msg(tx, ADDR(3, 5), ADDR(1, 0), PT_TEST, 1, 5, data, 10);
	ASSERT_EQ(l, send(self->raw, tx, l, 0));
	ASSERT_EQ(l, wire_recv(self->wire, ADDR(3, 5), eth, SOON));
	EXPECT_EQ(0, memcmp(eth, all, 6));

	/* the device's MTU, without any header */
	l = pw_msg(tx, ADDR(2, 4), ADDR(1, 0), PT_TEST, 1, 5, data, 1472);
	ASSERT_EQ(l, send(self->raw, tx, l, 0));
	ASSERT_EQ(l, wire_recv(self->wire, ADDR(2, 4), eth, SOON));
	l = pw_msg(tx, ADDR(2, 4), ADDR(1, 0), PT_TEST, 1, 5, data, 1473);
	ASSERT_EQ(l, send(self->raw, tx, l, 0));
	ASSERT_LT(0, pw_recv(self->raw, rx, sizeof(rx), NULL, SOON));
	pw_hdr_get(rx, &h);
	EXPECT_EQ(PW_PT_ERR, h.pt);
	EXPECT_EQ(PW_TE_ERR_TOOBIG, h.te);

	/* by source route, both ways; an L2RH that this SAN has no use for */
	front = pw_put_l2rh(tx, (uint8_t []) { 0, 0, 0 }, 3);
	l = front + pw_msg(tx + front, ADDR(1, 0), ADDR(2, 4), PT_TEST, 1, 5, data, 40);
	ASSERT_TRUE(wire_send(self->wire, self->mac, self->far, tx, l));
	ASSERT_EQ(l - front, pw_recv(self->raw, rx, sizeof(rx), NULL, SOON));
	front = pw_put_l2rh(tx, (uint8_t []) { 0, 2, 1 }, 3);
	i = pw_put_l2rh(tx + front, (uint8_t []) { 9, 9, 9, 9 }, 4);
	l = front + i + pw_msg(tx + front + i, ADDR(2, 4), ADDR(1, 0), PT_TEST, 1, 5, data, 40);
	ASSERT_EQ(l, send(self->raw, tx, l, 0));
	ASSERT_EQ(l - front, wire_recv(self->wire, pw_get(tx + front + 1, 3), eth, SOON));
	EXPECT_EQ(0, memcmp(tx + front, rx, l - front));
	front = pw_put_l2rh(tx, (uint8_t []) { 200, 200, 200, 1 }, 4);
	l = front + pw_msg(tx + front, ADDR(1, 0), ADDR(2, 4), PT_TEST, 1, 5, data, 40);
	ASSERT_TRUE(wire_send(self->wire, self->mac, self->far, tx, l));
	ASSERT_LT(0, wire_recv(self->wire, ADDR(2, 4), eth, SOON));
	pw_hdr_get(rx, &h);
	EXPECT_EQ(PW_TE_ERR_BADL2RH, h.te);

	/* an unknown destination: ERR, unless the frame was for all on the link */
	l = pw_msg(tx, ADDR(7, 0), ADDR(2, 4), PT_TEST, 1, 5, data, 40);
	had = TSTAT(DROP_PEER);
	ASSERT_TRUE(wire_send(self->wire, all, self->far, tx, l));
	EXPECT_EQ(-1, wire_recv(self->wire, ADDR(2, 4), eth, NEVER));
	EXPECT_SOON(had + 1, TSTAT(DROP_PEER));
	ASSERT_TRUE(wire_send(self->wire, self->mac, self->far, tx, l));
	ASSERT_LT(0, wire_recv(self->wire, ADDR(2, 4), eth, SOON));
	pw_hdr_get(rx, &h);
	EXPECT_EQ(PW_TE_ERR_UNK, h.te);
	/* to a station of the SAN it is taken also so */
	l = pw_msg(tx, ADDR(1, 0), ADDR(2, 4), PT_TEST, 1, 5, data, 40);
	ASSERT_TRUE(wire_send(self->wire, all, self->far, tx, l));
	ASSERT_EQ(l, pw_recv(self->raw, rx, sizeof(rx), NULL, SOON));
	/* to another station of the link: not ours; another version; too short */
	ASSERT_TRUE(wire_send(self->wire, third, self->far, tx, l));
	memcpy(v1, tx, 32);
	v1[0] |= 0x40;
	ASSERT_TRUE(wire_send(self->wire, self->mac, self->far, v1, 32));
	EXPECT_SOON(1, TSTAT(DROP_VERSION));
	ASSERT_TRUE(wire_send(self->wire, self->mac, self->far, tx, 16));
	EXPECT_SOON(1, TSTAT(DROP_MALFORMED));
	EXPECT_EQ(-1, pw_recv(self->raw, rx, sizeof(rx), NULL, NEVER));

	/* more than a station of the SAN takes */
	ASSERT_EQ(0, pw_link_mtu(&self->nl[0], "a", 512));
	for (i = 0; i < 1000; i++) {
		l = pw_msg(tx, ADDR(1, 0), ADDR(2, 4), PT_TEST, 1, 5, data, 1000);
		ASSERT_TRUE(wire_send(self->wire, self->mac, self->far, tx, l));
		/* the half-router learns of the new MTU a little later */
		if (wire_recv(self->wire, ADDR(2, 4), eth, 20) > 0)
			break;
	}
	pw_hdr_get(rx, &h);
	EXPECT_EQ(PW_PT_ERR, h.pt);
	EXPECT_EQ(PW_TE_ERR_TOOBIG, h.te);
	EXPECT_EQ(512 / 8, (int)pw_get(rx + 20, 4));

	/* a link that is down carries nothing */
	ASSERT_EQ(0, pw_link_down(&self->nl[1], "v1"));
	had = TSTAT(DROP_TX);
	l = pw_msg(tx, ADDR(2, 4), ADDR(1, 0), PT_TEST, 1, 5, data, 8);
	for (i = 0; i < 1000 && TSTAT(DROP_TX) == had; i++) {
		ASSERT_EQ(l, send(self->raw, tx, l, 0));
		usleep(10000);
	}
	EXPECT_LT(had, TSTAT(DROP_TX));
	/* the router goes with its device */
	ASSERT_EQ(0, pw_link_del(&self->nl[0], "v0"));
	EXPECT_EQ(-ENOENT, pw_router_cmd(&self->g, PACKETWAY_CMD_ROUTER_GET, "x"));
}

TEST_F(bare, peer)
{
	uint8_t eth[14];
	struct pw_hdr h;
	double end;
	int l, te;

	ASSERT_EQ(0, bare_add(&self->g, "x", 9, &(struct bare_req) {
		.bare = true, .dev = self->dev, .peer = PEER }));
	/* it is asked for its tables, and gets those of this side */
	for (te = 0; te != (1 << PW_TE_GVRT | 1 << PW_TE_RTBL);) {
		ASSERT_LT(0, wire_recv(self->wire, PEER, eth, SOON));
		pw_hdr_get(rx, &h);
		EXPECT_EQ(HALF, h.sa);
		if (h.pt == PW_PT_RRP && (h.te == PW_TE_GVRT || h.te == PW_TE_RTBL))
			te |= 1 << h.te;
	}
	/* a table of another node is refused */
	l = pw_table(tx, HALF, ADDR(2, 8), 5);
	ASSERT_TRUE(wire_send(self->wire, self->mac, self->far, tx, l));
	EXPECT_SOON(1, (long)pw_half_stat(&self->g, "x", 0, PACKETWAY_A_HALF_STAT_RRP_REFUSED));
	EXPECT_EQ(-ENOENT, pw_resolve(&self->g, 1, 0, "far"));
	/* that of the peer counts */
	l = pw_table(tx, HALF, PEER, 5);
	ASSERT_TRUE(wire_send(self->wire, self->mac, self->far, tx, l));
	for (end = pw_now() + SOON / 1000; pw_resolve(&self->g, 1, 0, "far") && pw_now() < end;)
		usleep(5000);
	EXPECT_EQ(0, pw_resolve(&self->g, 1, 0, "far"));
	l = pw_msg(tx, ADDR(2, 4), ADDR(1, 0), PT_TEST, 1, 5, "by name", 7);
	ASSERT_EQ(l, send(self->raw, tx, l, 0));
	ASSERT_EQ(l, wire_recv(self->wire, ADDR(2, 4), eth, SOON));
	/* without a link its table ends */
	ASSERT_EQ(0, pw_link_down(&self->nl[1], "v1"));
	for (end = pw_now() + SOON / 1000; !pw_resolve(&self->g, 1, 0, "far") && pw_now() < end;)
		usleep(5000);
	EXPECT_EQ(-ENOENT, pw_resolve(&self->g, 1, 0, "far"));
	ASSERT_EQ(0, pw_link_up(&self->nl[1], "v1"));
	/* the socket reports once that its link was down */
	ASSERT_EQ(0, getsockopt(self->wire, SOL_SOCKET, SO_ERROR, &l, &(socklen_t) { sizeof(l) }));
	/* and the peer is asked again */
	do {
		ASSERT_LT(0, wire_recv(self->wire, PEER, eth, SOON));
		pw_hdr_get(rx, &h);
	} while (h.pt != PW_PT_RRP || h.te != PW_TE_GVRT);
	/* HRDOWN when the router goes */
	ASSERT_EQ(0, pw_router_del(&self->g, "x"));
	do {
		ASSERT_LT(0, wire_recv(self->wire, PEER, eth, SOON));
		pw_hdr_get(rx, &h);
	} while (h.pt != PW_PT_ERR || h.te != PW_TE_ERR_HRDOWN);
}

/* damaged frames of all kinds */
TEST_F(bare, rubbish)
{
	long n = pw_count(20000, 1000), i;
	int l, k;

	ASSERT_EQ(0, bare_add(&self->g, "x", 9, &(struct bare_req) {
		.bare = true, .dev = self->dev, .peer = PEER }));
	ASSERT_EQ(0, pw_route_add(&self->g, 1, ADDR(2, 0), ADDR(2, 255), HALF));
	for (i = 0; i < n; i++) {
		l = i % 2 ? pw_table(tx, HALF, PEER, i) :
		    pw_msg(tx, ADDR(1, 0), ADDR(2, 4), PT_TEST, 1, 5, tx + 2000, pw_below(200));
		for (k = pw_below(4); k; k--)
			tx[pw_below(l)] ^= 1 << pw_below(8);
		if (!pw_below(8))
			for (k = 0; k < l; k++)
				tx[k] = pw_rnd();
		if (!pw_below(4))
			l = pw_below(l + 1);
		ASSERT_TRUE(wire_send(self->wire, pw_below(4) ? self->mac : all, self->far, tx, l));
		if (!(i % 64)) {
			usleep(1000);
			while (pw_recv(self->raw, rx, sizeof(rx), NULL, 0) >= 0)
				;
			while (pw_recv(self->wire, rx, sizeof(rx), NULL, 0) >= 0)
				;
		}
	}
	while (pw_recv(self->raw, rx, sizeof(rx), NULL, 500) >= 0)
		;
	l = pw_msg(tx, ADDR(1, 0), ADDR(2, 4), PT_TEST, 1, 5, "after", 5);
	ASSERT_TRUE(wire_send(self->wire, self->mac, self->far, tx, l));
	EXPECT_EQ(l, pw_recv(self->raw, rx, sizeof(rx), NULL, SOON));
}

TEST_HARNESS_MAIN
