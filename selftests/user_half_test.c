// SPDX-License-Identifier: GPL-2.0
/*
 * A half-router in user space: this program has port 9 of SAN 1, and pretends to be the other
 * side, with SAN 2. Stations "a" and "b" are at ports 0 and 1.
 */
#include "pwtest.h"
#include "pwrouter.h"
#include "pwharness.h"

#include <pthread.h>

#define PT_TEST 1500
#define ADDR(san, port) ((uint32_t)(san) * 256 + (port) + 1)
#define HALF ADDR(1, 9)
#define PEER ADDR(2, 9)
#define FAR ADDR(2, 4)

static uint8_t tx[70000], rx[70000];

/* a new descriptor or a negative errno */
static int half_open(int ns, struct packetway_half_open *o)
{
	int save = pw_ns_self(), fd, ret;

	fd = open("/dev/packetway", O_RDWR | O_CLOEXEC);
	if (fd < 0 || setns(ns, CLONE_NEWNET))
		return -EIO;
	ret = ioctl(fd, PACKETWAY_IOC_HALF_OPEN, o);
	if (ret < 0)
		ret = -errno;
	if (setns(save, CLONE_NEWNET))
		ret = -EIO;
	close(save);
	close(fd);
	return ret;
}

/* what is said in the brackets replaces what stands before it */
#pragma GCC diagnostic ignored "-Woverride-init"
#define OPEN(...) ((struct packetway_half_open) { .size = sizeof(struct packetway_half_open), \
	.flags = PACKETWAY_HALF_NONBLOCK, .san = 1, .port = 9, .peer = PEER, .name = "u", __VA_ARGS__ })

FIXTURE(user) {
	int ns;
	struct pw_nl nl;
	struct pw_genl g;
	int raw[2];
	int fd;
};

FIXTURE_SETUP(user)
{
	struct packetway_half_open o = OPEN();
	int i;

	self->ns = pw_ns_new();
	ASSERT_GE(self->ns, 0);
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_genl_open(&self->g, self->ns));
	for (i = 0; i < 2; i++) {
		const char *name = i ? "b" : "a";

		ASSERT_EQ(0, pw_station_add(&self->nl, name, 1, i, self->ns));
		ASSERT_EQ(0, pw_link_up(&self->nl, name));
		self->raw[i] = pw_packet_open(self->ns, SOCK_RAW, ETH_P_PACKETWAY,
					      pw_link_index(&self->nl, name));
		ASSERT_GE(self->raw[i], 0);
	}
	self->fd = half_open(self->ns, &o);
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(user)
{
	close(self->fd);
	close(self->raw[0]);
	close(self->raw[1]);
	close(self->nl.fd);
	close(self->g.nl.fd);
	close(self->ns);
}

/* the next frame that is not RRP, or with @te the next RRP message of this type; its length */
static int half_read(int fd, int te, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	double end = pw_now() + ms / 1000.0 * (pw_slow_kernel() ? 4 : 1);
	struct pw_hdr h;
	int l;

	while (pw_now() < end) {
		l = read(fd, rx, sizeof(rx));
		if (l < 0 && errno != EAGAIN)
			return -errno;
		if (l < 0) {
			poll(&p, 1, 20);
			continue;
		}
		pw_hdr_get(rx, &h);
		if (te ? h.pt == PW_PT_RRP && h.te == te : rx[1] >= 0x80 || h.pt != PW_PT_RRP)
			return l;
	}
	return -1;
}

static int half_write(int fd, int len)
{
	int l = write(fd, tx, len);

	return l < 0 ? -errno : l;
}

/* until the SAN knows "far", or not */
static int knows(struct pw_genl *g, bool want)
{
	double end = pw_now() + SOON / 1000;
	int err;

	while ((!(err = pw_resolve(g, 1, 0, "far"))) != want && pw_now() < end)
		usleep(5000);
	return err;
}

#define HSTAT(what) ((long)pw_half_stat(&self->g, "u", 0, PACKETWAY_A_HALF_STAT_##what))

TEST_F(user, refusals)
{
	struct packetway_half_get g = { .size = sizeof(g) };
	struct packetway_half_open o;
	int fd, i;
	static const struct {
		struct packetway_half_open o;
		int err;
	} bad[] = {
		{ OPEN(.flags = 4), EINVAL },
		{ OPEN(.__reserved = 1), EINVAL },
		{ OPEN(.name = ""), EINVAL },
		{ OPEN(.name = "12345678901234567890123456789012"), EINVAL },
		{ OPEN(.port = 256), EINVAL },
		{ OPEN(.san = PACKETWAY_SAN_MAX + 1), EINVAL },
		{ OPEN(.mtu = 8), EINVAL },
		{ OPEN(.quality = 65536), EINVAL },
		{ OPEN(.peer = PW_ADDR_BROADCAST), EINVAL },
		{ OPEN(.size = 4), EINVAL },
		{ OPEN(.name = "v"), EBUSY },
		{ OPEN(.name = "v", .port = 0), EBUSY },
		{ OPEN(.port = 8), EEXIST },
		{ OPEN(.name = "v", .port = 200), ERANGE },
		{ OPEN(.name = "v", .port = 8, .peer = ADDR(1, 3)), ERANGE },
	};

	for (i = 0; i < (int)(sizeof(bad) / sizeof(bad[0])); i++) {
		o = bad[i].o;
		EXPECT_EQ(-bad[i].err, half_open(self->ns, &o)) TH_LOG("refusal %d", i);
	}
	/* without a port the lowest one that is free */
	o = OPEN(.name = "v", .port = PACKETWAY_HALF_ANY_PORT, .peer = 0, .mtu = 512);
	fd = half_open(self->ns, &o);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, ioctl(fd, PACKETWAY_IOC_HALF_GET, &g));
	EXPECT_EQ(1, g.out_san);
	EXPECT_EQ(256, g.out_bias);
	EXPECT_EQ(16, g.out_ports);
	EXPECT_EQ(2, g.out_port);
	EXPECT_EQ(ADDR(1, 2), g.out_addr);
	EXPECT_EQ(512, g.out_mtu);
	g = (struct packetway_half_get) { .size = sizeof(g), .flags = 1 };
	EXPECT_EQ(-1, ioctl(fd, PACKETWAY_IOC_HALF_GET, &g));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(fd, PACKETWAY_IOC_GET_INFO, &g));
	EXPECT_EQ(ENOTTY, errno);
	/* both are in the list of routers, with a program */
	EXPECT_EQ(2, pw_genl_dump(&self->g, PACKETWAY_CMD_ROUTER_GET, 0, 0, -1, NULL, NULL));
	ASSERT_EQ(0, pw_router_cmd(&self->g, PACKETWAY_CMD_ROUTER_GET, "u"));
	EXPECT_EQ(PEER, pw_attr_u32(pw_attr_in(pw_genl_attr((void *)self->g.nl.buf,
							    PACKETWAY_A_ROUTER),
					       PACKETWAY_A_ROUTER_USER), PACKETWAY_A_USER_PEER));
	close(fd);
	EXPECT_EQ(-ENOENT, pw_router_cmd(&self->g, PACKETWAY_CMD_ROUTER_GET, "v"));

	/* refused without CAP_NET_ADMIN there */
	o = OPEN(.name = "v", .port = 8);
	if (!fork()) {
		if (setresuid(65534, 65534, 65534))
			_exit(1);
		fd = open("/dev/packetway", O_RDWR);
		_exit(ioctl(fd, PACKETWAY_IOC_HALF_OPEN, &o) != -1 || errno != EPERM);
	}
	ASSERT_LT(0, wait(&i));
	EXPECT_EQ(0, i);
}

TEST_F(user, frames)
{
	struct pollfd p = { .fd = self->fd, .events = POLLIN | POLLOUT };
	uint8_t data[9000], small[30];
	struct pw_hdr h;
	int i, l, front;

	for (i = 0; i < (int)sizeof(data); i++)
		data[i] = i * 7;
	ASSERT_EQ(0, pw_route_add(&self->g, 1, ADDR(2, 0), ADDR(2, 255), HALF));
	while (half_read(self->fd, 0, NEVER) > 0)
		;
	EXPECT_EQ(-1, read(self->fd, rx, sizeof(rx)));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(1, poll(&p, 1, 0));
	EXPECT_EQ(POLLOUT, p.revents);

	/* out and in, by address */
	for (i = 0; i <= 1448; i += 181) {
		l = pw_msg(tx, FAR, ADDR(1, 0), PT_TEST, 1, 5, data, i);
		ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
		ASSERT_EQ(l, half_read(self->fd, 0, SOON));
		EXPECT_EQ(0, memcmp(tx, rx, l));
		l = pw_msg(tx, ADDR(1, 0), FAR, PT_TEST, 1, 5, data, i);
		ASSERT_EQ(l, half_write(self->fd, l));
		ASSERT_EQ(l, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
		EXPECT_EQ(0, memcmp(tx, rx, l));
	}
	/* a buffer that is too small: the frame stays */
	l = pw_msg(tx, FAR, ADDR(1, 0), PT_TEST, 1, 5, data, 100);
	tx[l - 1] = 1;		/* EI */
	ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
	p.events = POLLIN;
	ASSERT_EQ(1, poll(&p, 1, SOON));
	EXPECT_EQ(-1, read(self->fd, small, sizeof(small)));
	EXPECT_EQ(EMSGSIZE, errno);
	ASSERT_EQ(l, half_read(self->fd, 0, SOON));
	/* one router was passed */
	EXPECT_EQ(2, rx[l - 1]);

	/* by source route: port 9 is switch 2, output 1 */
	front = pw_put_l2rh(tx, (uint8_t []) { 1, 2, 1 }, 3);
	i = pw_put_l2rh(tx + front, (uint8_t []) { 9, 9 }, 2);
	l = front + i + pw_msg(tx + front + i, FAR, ADDR(1, 0), PT_TEST, 1, 5, data, 100);
	ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
	ASSERT_EQ(l - front, half_read(self->fd, 0, SOON));
	EXPECT_EQ(0, memcmp(tx + front, rx, l - front));
	front = pw_put_l2rh(tx, (uint8_t []) { 1, 0, 1 }, 3);
	l = front + pw_msg(tx + front, ADDR(1, 1), FAR, PT_TEST, 1, 5, data, 100);
	ASSERT_EQ(l, half_write(self->fd, l));
	ASSERT_EQ(l - front, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON));

	/* no station has this address: ERR to the sender, on both sides */
	l = pw_msg(tx, ADDR(1, 5), FAR, PT_TEST, 1, 5, data, 100);
	ASSERT_EQ(l, half_write(self->fd, l));
	ASSERT_LT(0, half_read(self->fd, 0, SOON));
	pw_hdr_get(rx, &h);
	EXPECT_EQ(PW_PT_ERR, h.pt);
	EXPECT_EQ(PW_TE_ERR_UNK, h.te);
	EXPECT_EQ(FAR, h.dt);
	EXPECT_EQ(HALF, h.sa);
	l = pw_msg(tx, ADDR(7, 5), FAR, PT_TEST, 1, 5, data, 100);
	ASSERT_EQ(l, half_write(self->fd, l));
	ASSERT_LT(0, half_read(self->fd, 0, SOON));
	pw_hdr_get(rx, &h);
	EXPECT_EQ(PW_TE_ERR_UNK, h.te);
	/* the program's own ERR reaches the station */
	l = pw_msg(tx, ADDR(1, 0), HALF, PW_PT_ERR, PW_TE_ERR_UNK, 5, data, 8);
	ASSERT_EQ(l, half_write(self->fd, l));
	ASSERT_EQ(l, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	/* more than the SAN takes */
	l = pw_msg(tx, FAR, ADDR(1, 0), PT_TEST, 1, 5, data, 1500);
	ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
	ASSERT_EQ(l, half_read(self->fd, 0, SOON));
	/* echo of the half-router: the kernel answers */
	l = pw_msg(tx, HALF, ADDR(1, 0), PW_PT_ECHO, PW_TE_ECHO_REQUEST, 5, data, 10);
	ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
	ASSERT_EQ(l, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));

	/* also to the other side */
	l = pw_msg(tx, HALF, FAR, PW_PT_ECHO, PW_TE_ECHO_REQUEST, 5, data, 10);
	ASSERT_EQ(l, half_write(self->fd, l));
	ASSERT_EQ(l, half_read(self->fd, 0, SOON));
	pw_hdr_get(rx, &h);
	EXPECT_EQ(FAR, h.dt);
	EXPECT_EQ(PW_TE_ECHO_REPLY, h.te);

	/* more than a station of the SAN takes, the other way */
	ASSERT_EQ(0, pw_link_mtu(&self->nl, "a", 512));
	for (i = 0; i < 1000; i++) {
		l = pw_msg(tx, ADDR(1, 0), FAR, PT_TEST, 1, 5, data, 1000);
		ASSERT_EQ(l, half_write(self->fd, l));
		/* the half-router learns of the new MTU a little later */
		if (half_read(self->fd, 0, 20) > 0)
			break;
	}
	pw_hdr_get(rx, &h);
	EXPECT_EQ(PW_PT_ERR, h.pt);
	EXPECT_EQ(PW_TE_ERR_TOOBIG, h.te);
	while (pw_recv(self->raw[0], rx, sizeof(rx), NULL, NEVER) >= 0)
		;

	/* what is not a message of this version, and what is not for the half-router */
	EXPECT_EQ(-EINVAL, half_write(self->fd, 8));
	l = pw_msg(tx, ADDR(1, 0), FAR, PT_TEST, 1, 5, data, 100);
	tx[0] |= 0x40;
	EXPECT_EQ(-EINVAL, half_write(self->fd, l));
	l = pw_msg(tx, HALF, FAR, PW_PT_RRP, PW_TE_WRU, 5, NULL, 0);
	EXPECT_EQ(-EINVAL, half_write(self->fd, l));
	l = pw_msg(tx, HALF, PEER, PW_PT_RRP, PW_TE_WRU, 5, NULL, 0);
	EXPECT_EQ(-EINVAL, half_write(self->fd, l));
	l = pw_msg(tx, PEER, HALF, PT_TEST, 1, 5, data, 100);
	EXPECT_EQ(-EINVAL, half_write(self->fd, l));
	memset(tx, 0, sizeof(tx));
	EXPECT_EQ(-EMSGSIZE, half_write(self->fd, sizeof(tx)));
	EXPECT_EQ(-1, pw_recv(self->raw[0], rx, sizeof(rx), NULL, NEVER));
}

/* with PACKETWAY_HALF_HEAD each frame says how many half-routers it has passed */
TEST_F(user, head)
{
	struct packetway_half_open o = OPEN(.flags = PACKETWAY_HALF_NONBLOCK | PACKETWAY_HALF_HEAD);
	struct pollfd p;
	int l, i;

	close(self->fd);
	self->fd = half_open(self->ns, &o);
	ASSERT_GE(self->fd, 0);
	/* HRDOWN of the other one */
	ASSERT_LT(0, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	ASSERT_EQ(0, pw_route_add(&self->g, 1, ADDR(2, 0), ADDR(2, 255), HALF));
	p = (struct pollfd) { .fd = self->fd, .events = POLLIN };
	l = pw_msg(tx, FAR, ADDR(1, 0), PT_TEST, 1, 5, "out", 3);
	ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
	/* behind RRP of the kernel, which has passed none */
	do {
		ASSERT_EQ(1, poll(&p, 1, SOON));
		errno = 0;
		EXPECT_EQ(-1, read(self->fd, rx, 8 + 23));
		EXPECT_EQ(EMSGSIZE, errno);
		i = read(self->fd, rx, sizeof(rx));
		ASSERT_LT(8, i);
	} while (pw_get(rx + 8 + 6, 2) != PT_TEST);
	EXPECT_EQ(8 + l, i);
	EXPECT_EQ(0, memcmp(rx, "\1\0\0\0\0\0\0\0", 8));
	EXPECT_EQ(0, memcmp(rx + 8, tx, l));

	/* the other way: as many as a frame may pass */
	memset(tx, 0, 8);
	tx[0] = 64;
	l = pw_msg(tx + 8, ADDR(1, 0), FAR, PT_TEST, 1, 5, "in", 2);
	EXPECT_EQ(8 + l, half_write(self->fd, 8 + l));
	ASSERT_EQ(l, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	EXPECT_EQ(0, memcmp(rx, tx + 8, l));
	/* and one more at the next router, back through this half */
	i = pw_put_l2rh(tx + 8, (uint8_t []) { 1, 2, 1 }, 3);
	i += pw_put_l2rh(tx + 8 + i, (uint8_t []) { 9, 9 }, 2);
	l = i + pw_msg(tx + 8 + i, ADDR(3, 0), FAR, PT_TEST, 1, 5, "in", 2);
	EXPECT_EQ(8 + l, half_write(self->fd, 8 + l));
	EXPECT_SOON(1L, HSTAT(DROP_HOPS));
	tx[0] = 65;
	EXPECT_EQ(-EINVAL, half_write(self->fd, 8 + l));
	tx[0] = 1;
	tx[7] = 1;
	EXPECT_EQ(-EINVAL, half_write(self->fd, 8 + l));
	tx[7] = 0;
	EXPECT_EQ(-EINVAL, half_write(self->fd, 7));
	EXPECT_EQ(-EINVAL, half_write(self->fd, 8 + 8));
	EXPECT_EQ(-1, pw_recv(self->raw[0], rx, sizeof(rx), NULL, NEVER));
}

/* symbols in front of a frame */
TEST_F(user, symbols)
{
	int l;

	l = pw_put_sym(tx, PW_SYM_PRIO, (uint8_t []) { 63 }, 1);
	l += pw_msg(tx + l, ADDR(1, 0), FAR, PT_TEST, 1, 5, "symbol", 6);
	ASSERT_EQ(l, half_write(self->fd, l));
	EXPECT_EQ(l - 8, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	/* symbols alone are no message */
	for (l = 0; l < 24; )
		l += pw_put_sym(tx + l, PW_SYM_PRIO, (uint8_t []) { 63 }, 1);
	EXPECT_EQ(-EINVAL, half_write(self->fd, l));
}

/* what the kernel does with RRP before the program reads it */
TEST_F(user, rrp_from_nodes)
{
	struct pw_hdr h;
	uint8_t rec[32];
	double end;
	int l;

	/* records that are longer than the message: an answer, and nothing is read */
	pw_put(rec, 8, 0x1100000501000201ULL);
	l = pw_msg(tx, HALF, ADDR(1, 0), PW_PT_RRP, PW_TE_GVL2, 5, rec, 8);
	ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
	ASSERT_EQ(16 + l + 8, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	pw_hdr_get(rx, &h);
	EXPECT_EQ(PW_PT_ERR, h.pt);
	EXPECT_EQ(PW_TE_ERR_GENERAL, h.te);
	EXPECT_EQ(1L, HSTAT(RRP_MALFORMED));
	EXPECT_EQ(-1, half_read(self->fd, PW_TE_GVL2, NEVER));

	/* "b" says that it is "me": the SAN knows, and the program reads it */
	pw_put(rec, 8, 0x1100000101000000ULL | ADDR(1, 1));
	pw_put(rec + 8, 8, 0x120200006d650000ULL);
	l = pw_msg(tx, HALF, ADDR(1, 1), PW_PT_RRP, PW_TE_INFO, 5, rec, 16);
	ASSERT_EQ(l, send(self->raw[1], tx, l, 0));
	ASSERT_EQ(l, half_read(self->fd, PW_TE_INFO, SOON));
	EXPECT_EQ(0, memcmp(tx, rx, l));
	end = pw_now() + SOON / 1000;
	while (pw_resolve(&self->g, 1, 0, "me") && pw_now() < end)
		usleep(5000);
	EXPECT_EQ(0, pw_resolve(&self->g, 1, 0, "me"));
	/* "a" may not say it of "b" */
	l = pw_msg(tx, HALF, ADDR(1, 0), PW_PT_RRP, PW_TE_INFO, 5, rec, 16);
	ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_SOON(1L, HSTAT(RRP_REFUSED));
	EXPECT_SOON(0L, HSTAT(RRP_RX) - HSTAT(RRP_DONE) - HSTAT(RRP_REFUSED) -
			HSTAT(RRP_MALFORMED));
}

TEST_F(user, tables)
{
	uint8_t pair[16];
	struct pw_hdr h;
	int l, i;

	/* the table of this SAN: as soon as it is made, and when it is asked for */
	ASSERT_LT(0, half_read(self->fd, PW_TE_RTBL, SOON));
	pw_hdr_get(rx, &h);
	EXPECT_EQ(PEER, h.dt);
	EXPECT_EQ(HALF, h.sa);
	while (half_read(self->fd, PW_TE_RTBL, NEVER) > 0)
		;
	l = pw_msg(tx, HALF, PEER, PW_PT_RRP, PW_TE_GVRT, 63, NULL, 0);
	ASSERT_EQ(l, half_write(self->fd, l));
	l = half_read(self->fd, PW_TE_RTBL, SOON);
	ASSERT_LT(0, l);
	/* NAME of "a" */
	for (i = 16; i < l && memcmp(rx + i, "\x12\x03\0\0a\0\0\0", 8); i += 8)
		;
	EXPECT_LT(i, l);

	/* a table of the peer; not one of another node */
	l = pw_table(tx, HALF, ADDR(2, 8), 5);
	EXPECT_EQ(-EINVAL, half_write(self->fd, l));
	EXPECT_EQ(-ENOENT, pw_resolve(&self->g, 1, 0, "far"));
	l = pw_table(tx, HALF, PEER, 5);
	ASSERT_EQ(l, half_write(self->fd, l));
	EXPECT_EQ(0, knows(&self->g, true));
	l = pw_msg(tx, FAR, ADDR(1, 1), PT_TEST, 1, 5, "by name", 7);
	ASSERT_EQ(l, send(self->raw[1], tx, l, 0));
	ASSERT_EQ(l, half_read(self->fd, 0, SOON));
	EXPECT_EQ(0, memcmp(tx, rx, l));

	/* a station asks: the program has to answer */
	l = pw_msg(tx, HALF, ADDR(1, 0), PW_PT_RRP, PW_TE_WRU, 5, NULL, 0);
	ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
	ASSERT_EQ(l, half_read(self->fd, PW_TE_WRU, SOON));
	/* and lies in the name of a half-router: the program does not get it */
	l = pw_table(tx, HALF, ADDR(1, 0), 6);
	ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_SOON(1, HSTAT(RRP_REFUSED));
	EXPECT_EQ(-1, half_read(self->fd, PW_TE_RTBL, NEVER));

	/* the router's other side has gone */
	pw_put(pair, 8, 0x11ULL << 56 | 1 << 24 | PEER);
	pw_put(pair + 8, 8, 0x11ULL << 56 | 1 << 24 | HALF);
	l = pw_msg(tx, HALF, PEER, PW_PT_ERR, PW_TE_ERR_HRDOWN, 63, pair, 16);
	ASSERT_EQ(l, half_write(self->fd, l));
	EXPECT_EQ(-ENOENT, knows(&self->g, false));
}

/* a router of the kernel on the same SAN */
TEST_F(user, neighbour)
{
	struct pw_half_req x = { 1, 12, -1 }, y = { 3, 12, -1 };
	struct pw_hdr h;
	int l;

	ASSERT_EQ(0, pw_router_add(&self->g, "k", x, y));
	/* it asks for tables, and gives those of SAN 3 */
	do {
		l = half_read(self->fd, PW_TE_GVRT, SOON);
		ASSERT_LT(0, l);
		pw_hdr_get(rx, &h);
	} while (h.sa != ADDR(1, 12));
	l = pw_msg(tx, ADDR(1, 12), HALF, PW_PT_RRP, PW_TE_GVRT, 63, NULL, 0);
	ASSERT_EQ(l, half_write(self->fd, l));
	do {
		l = half_read(self->fd, PW_TE_RTBL, SOON);
		ASSERT_LT(0, l);
		pw_hdr_get(rx, &h);
	} while (h.sa != ADDR(1, 12));
	EXPECT_EQ(HALF, h.dt);
	/* it takes the table of this half-router, with the route through it */
	l = pw_table(tx, ADDR(1, 12), HALF, 7);
	ASSERT_EQ(l, half_write(self->fd, l));
	EXPECT_EQ(0, knows(&self->g, true));
	ASSERT_EQ(0, pw_wait_route(&self->g, 3, FAR));
	/* HRDOWN, broadcast by the program */
	l = pw_msg(tx, PW_ADDR_BROADCAST, HALF, PW_PT_ERR, PW_TE_ERR_HRDOWN, 63,
		   (uint8_t []) { 0x11, 0, 0, 0, 1, HALF >> 8 >> 8, HALF >> 8 & 255, HALF & 255,
				  0x11, 0, 0, 0, 1, PEER >> 8 >> 8, PEER >> 8 & 255, PEER & 255 }, 16);
	ASSERT_EQ(l, half_write(self->fd, l));
	EXPECT_EQ(-ENOENT, knows(&self->g, false));
	/* again, then the descriptor is closed without a word: the kernel says HRDOWN */
	l = pw_table(tx, ADDR(1, 12), HALF, 9);
	ASSERT_EQ(l, half_write(self->fd, l));
	EXPECT_EQ(0, knows(&self->g, true));
	while (pw_recv(self->raw[0], rx, sizeof(rx), NULL, NEVER) >= 0)
		;
	close(self->fd);
	self->fd = -1;
	do {
		ASSERT_LT(0, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
		pw_hdr_get(rx, &h);
	} while (h.pt != PW_PT_ERR || h.te != PW_TE_ERR_HRDOWN || h.sa != HALF);
	EXPECT_EQ(-ENOENT, knows(&self->g, false));
	EXPECT_EQ(-ENOENT, pw_router_cmd(&self->g, PACKETWAY_CMD_ROUTER_GET, "u"));
}

static void *reader(void *arg)
{
	uint8_t buf[2048];
	long n;

	do {
		n = read((long)arg, buf, sizeof(buf));
	} while (n > 0);
	return (void *)(n < 0 ? (long)-errno : n);
}

/* deleted from outside: readers end, poll() says so, the port is free */
TEST_F(user, gone)
{
	struct packetway_half_get g = { .size = sizeof(g) };
	struct packetway_half_open o = OPEN(.flags = 0, .name = "w", .port = 10);
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	int fd = half_open(self->ns, &o), l;
	pthread_t t;
	void *ret;

	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, pthread_create(&t, NULL, reader, (void *)(long)fd));
	usleep(50000);
	ASSERT_EQ(0, pw_router_del(&self->g, "w"));
	ASSERT_EQ(0, pthread_join(t, &ret));
	EXPECT_EQ(-ENODEV, (long)ret);
	ASSERT_EQ(0, pw_router_del(&self->g, "u"));
	ASSERT_EQ(1, poll(&p, 1, SOON));
	EXPECT_EQ(POLLHUP, p.revents & (POLLHUP | POLLIN | POLLOUT));
	EXPECT_EQ(-1, read(self->fd, rx, sizeof(rx)));
	EXPECT_EQ(ENODEV, errno);
	l = pw_msg(tx, ADDR(1, 0), FAR, PT_TEST, 1, 5, NULL, 0);
	EXPECT_EQ(-ENODEV, half_write(self->fd, l));
	EXPECT_EQ(-1, ioctl(self->fd, PACKETWAY_IOC_HALF_GET, &g));
	EXPECT_EQ(ENODEV, errno);
	close(fd);
	/* the same place again; this time the namespace ends under it */
	o = OPEN();
	fd = half_open(self->ns, &o);
	ASSERT_GE(fd, 0);
	close(self->raw[0]);
	close(self->raw[1]);
	close(self->nl.fd);
	close(self->g.nl.fd);
	close(self->ns);
	self->raw[0] = -1;
	self->raw[1] = -1;
	self->nl.fd = -1;
	self->g.nl.fd = -1;
	self->ns = -1;
	p.fd = fd;
	/* frames may wait, too */
	p.events = 0;
	ASSERT_EQ(1, poll(&p, 1, SOON));
	EXPECT_TRUE(p.revents & POLLHUP);
	close(fd);
}

/* a program that does not read: its queue is bounded, and others are not held up */
TEST_F(user, full)
{
	struct packetway_half_get g = { .size = sizeof(g) };
	uint8_t data[1400] = {};
	int i, l, tries;

	ASSERT_EQ(0, pw_route_add(&self->g, 1, ADDR(2, 0), ADDR(2, 255), HALF));
	l = pw_msg(tx, FAR, ADDR(1, 0), PT_TEST, 1, 5, data, 1400);
	for (i = 0; i < 3000; i++)
		for (tries = 0; send(self->raw[0], tx, l, 0) != l; tries++) {
			ASSERT_EQ(ENOBUFS, errno);
			ASSERT_GT(10000, tries);
			usleep(1000);
		}
	l = pw_msg(tx, ADDR(1, 1), ADDR(1, 0), PT_TEST, 1, 0, data, 10);
	ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_EQ(l, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON));
	EXPECT_LT(1000, HSTAT(DROP_FULL));
	ASSERT_EQ(0, ioctl(self->fd, PACKETWAY_IOC_HALF_GET, &g));
	EXPECT_GE(1024, g.out_queued);
	EXPECT_LT(500, g.out_queued);
	for (i = 0; half_read(self->fd, 0, NEVER) > 0; i++)
		;
	EXPECT_LT(500, i);
	ASSERT_EQ(0, ioctl(self->fd, PACKETWAY_IOC_HALF_GET, &g));
	EXPECT_EQ(0, g.out_queued);
}

/* storms of messages that are wrong in all ways, while routers come and go */
TEST_F(user, storm)
{
	struct pw_half_req x = { 1, 12, -1 }, y = { 3, 12, -1 };
	long n = pw_count(40000, 2000), i, taken = 0;
	int l, k;

	ASSERT_EQ(0, pw_router_add(&self->g, "k", x, y));
	ASSERT_EQ(0, pw_route_add(&self->g, 1, ADDR(2, 0), ADDR(2, 255), HALF));
	for (i = 0; i < n; i++) {
		static const uint32_t to[] = { ADDR(1, 0), HALF, ADDR(1, 12), PW_ADDR_BROADCAST,
					       PW_ADDR_HEYYOU, PEER, ADDR(3, 12), 0xe00001 };
		uint32_t dt = to[pw_below(8)], sa = pw_below(2) ? HALF : pw_below(2) ? PEER : FAR;

		switch (pw_below(4)) {
		case 0:
			l = pw_table(tx, dt, sa, i);
			break;
		case 1:
			l = pw_msg(tx, dt, sa, PW_PT_RRP, pw_below(11), 63, tx + 5000, pw_below(64) * 8);
			break;
		case 2:
			l = pw_msg(tx, dt, sa, PW_PT_ERR, pw_below(9), 63, tx + 5000, pw_below(16) * 8);
			break;
		default:
			k = pw_put_l2rh(tx, (uint8_t []) { 1, pw_below(5), pw_below(5) }, 3);
			l = k + pw_msg(tx + k, dt, sa, PT_TEST, 1, 5, NULL, pw_below(500));
			break;
		}
		for (k = pw_below(4); k; k--)
			tx[pw_below(l)] ^= 1 << pw_below(8);
		if (!pw_below(8))
			for (k = 0; k < l; k++)
				tx[k] = pw_rnd();
		if (!pw_below(4))
			l = pw_below(l + 1);
		k = half_write(self->fd, l);
		ASSERT_TRUE(k == l || k == -EINVAL || k == -ENOBUFS || k == -ENOMEM) TH_LOG("%d", k);
		taken += k == l;
		if (!(i % 64)) {
			while (read(self->fd, rx, sizeof(rx)) > 0)
				;
			while (pw_recv(self->raw[0], rx, sizeof(rx), NULL, 0) >= 0)
				;
		}
		if (!(i % 1000) && !pw_router_del(&self->g, "k"))
			ASSERT_EQ(0, pw_router_add(&self->g, "k", x, y));
	}
	TH_LOG("%ld of %ld were taken", taken, n);
	EXPECT_LT(n / 10, taken);
	while (pw_recv(self->raw[0], rx, sizeof(rx), NULL, 500) >= 0)
		;
	l = pw_msg(tx, ADDR(1, 0), FAR, PT_TEST, 1, 5, "after", 5);
	ASSERT_EQ(l, half_write(self->fd, l));
	EXPECT_EQ(l, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
}

TEST_HARNESS_MAIN
