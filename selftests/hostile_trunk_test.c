// SPDX-License-Identifier: GPL-2.0
/*
 * The other end of a trunk is an enemy, or an enemy sits between the ends. The test
 * program is the network: a trunk's peer is one of its sockets, on which it relays,
 * records and repeats packets, or makes its own.
 *
 */
#include "pwtest.h"
#include "pwrouter.h"
#include "pwharness.h"

#include <netinet/in.h>

#define PT_TEST 1500
#define HDR 32
#define F_HALF 1
#define HELLO 2
#define FRAME 1
#define RRP_PER_SECOND 256	/* of a trunk's peer, see PW_HALF_PEER_RATE */
#define INFLIGHT_MAX 1024	/* PW_HALF_INFLIGHT_MAX */
#define INFLIGHT_BYTES (8 << 20)	/* PW_HALF_INFLIGHT_BYTES */

#define ADDR(san, port) ((uint32_t)(san) * 256 + (port) + 1)
#define PEER ADDR(40, 9)	/* the enemy's half-router */

static const uint8_t key[32] = "a secret of thirty-two bytes....";
static uint8_t tx[70000], rx[70000];
static int hello_mtu = 1500;	/* of the enemy's half-router */

/* packets on the wire, as they were */
#define RECORDS 64
static struct {
	uint8_t b[2048];
	int len;
} record[2][RECORDS];
static int nrecord[2];

FIXTURE(hostile) {
	int ns;
	struct pw_nl nl;
	struct pw_genl g;
	int raw[2];		/* stations a on SAN 1, b on SAN 2 */
	int sk[2];		/* what the trunks take for their peers */
	uint64_t session, seq, challenge, echo;	/* of the enemy */
};

static int udp_open(int ns, int port, int to)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = pw_ns_socket(ns, AF_INET, SOCK_DGRAM, 0), buf = 4 << 20;

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (void *)&sin, sizeof(sin)))
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buf, sizeof(buf));
	sin.sin_port = htons(to);
	return connect(fd, (void *)&sin, sizeof(sin)) ? -1 : fd;
}

/* the trunk of SAN @san: 127.0.0.1:700x to 127.0.0.1:800x, with or without a key */
static struct pw_trunk_req trunk_of(const char *name, int san, const uint8_t *secret)
{
	return (struct pw_trunk_req){ .name = name, .san = san, .port = 9,
				      .local = INADDR_LOOPBACK, .remote = INADDR_LOOPBACK,
				      .local_port = 7000 + san, .remote_port = 8000 + san,
				      .key = secret };
}

static int trunk_add(struct pw_genl *g, const char *name, int san, const uint8_t *secret)
{
	struct pw_trunk_req t = trunk_of(name, san, secret);

	return pw_trunk_add(g, &t);
}

#define TSTAT(name, what) ((long)pw_trunk_stat(&self->g, name, PACKETWAY_A_TRUNK_STAT_##what))
#define HSTAT(name, what) ((long)pw_half_stat(&self->g, name, 0, PACKETWAY_A_HALF_STAT_##what))

FIXTURE_SETUP(hostile)
{
	int i;

	self->ns = pw_ns_new();
	ASSERT_GE(self->ns, 0);
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_genl_open(&self->g, self->ns));
	ASSERT_EQ(0, pw_link_up(&self->nl, "lo"));
	for (i = 0; i < 2; i++) {
		const char *name = i ? "b" : "a";

		ASSERT_EQ(0, pw_san_cmd(&self->g, PACKETWAY_CMD_SAN_NEW, i + 1, 16,
					PACKETWAY_ENGINE_NONE));
		ASSERT_EQ(0, pw_station_add(&self->nl, name, i + 1, 0, self->ns));
		ASSERT_EQ(0, pw_link_up(&self->nl, name));
		self->raw[i] = pw_packet_open(self->ns, SOCK_RAW, ETH_P_PACKETWAY,
					      pw_link_index(&self->nl, name));
		ASSERT_GE(self->raw[i], 0);
		self->sk[i] = udp_open(self->ns, 8001 + i, 7001 + i);
		ASSERT_GE(self->sk[i], 0);
		nrecord[i] = 0;
	}
	self->session = 0x1111;
	self->challenge = 0x2222;
}

FIXTURE_TEARDOWN(hostile)
{
	int i;

	for (i = 0; i < 2; i++) {
		close(self->raw[i]);
		close(self->sk[i]);
	}
	close(self->nl.fd);
	close(self->g.nl.fd);
	close(self->ns);
}

/* --- between two honest ends ---------------------------------------------------- */

/* packets pass for @ms; those of type @keep are recorded by where they go */
static void relay(int *sk, int ms, int keep)
{
	double end = pw_now() + ms / 1000.0;
	uint8_t b[2048];
	int i, len;

	do {
		struct pollfd p[2] = { { sk[0], POLLIN, 0 }, { sk[1], POLLIN, 0 } };

		poll(p, 2, 10);
		for (i = 0; i < 2; i++) {
			while ((len = recv(sk[i], b, sizeof(b), MSG_DONTWAIT)) > 0) {
				if (b[2] == keep && nrecord[!i] < RECORDS) {
					memcpy(record[!i][nrecord[!i]].b, b, len);
					record[!i][nrecord[!i]++].len = len;
				}
				if (send(sk[!i], b, len, 0) != len)
					perror("# relay");
			}
		}
	} while (pw_now() < end);
}

/* until both ends are up, or have given each other up (nothing passes) */
static bool settle(int *sk, struct pw_genl *g, bool up)
{
	int i;

	for (i = 0; i < 1200; i++) {
		if (up)
			relay(sk, 50, 0);
		else
			usleep(50000);
		if (pw_trunk_up(g, "t1") == up && pw_trunk_up(g, "t2") == up)
			break;
	}
	if (!up)
		while (recv(sk[0], rx, sizeof(rx), MSG_DONTWAIT) > 0 ||
		       recv(sk[1], rx, sizeof(rx), MSG_DONTWAIT) > 0)
			;
	return i < 1200;
}

/* test frames that station b gets within a moment, while packets pass or not */
static int got(int *sk, int raw, bool pass)
{
	struct pw_hdr h;
	int n = 0, k;

	for (k = 0; k < 3; k++) {
		if (pass)
			relay(sk, 50, 0);
		while (pw_recv(raw, rx, sizeof(rx), NULL, NEVER) > 0) {
			pw_hdr_get(rx, &h);
			n += h.pt == PT_TEST;
		}
	}
	return n;
}

static void repeat(int fd, int where)
{
	int i;

	for (i = 0; i < nrecord[where]; i++)
		if (send(fd, record[where][i].b, record[where][i].len, 0) < 0)
			perror("# repeat");
}

/* what was recorded before an outage or a re-creation is never taken after it */
TEST_F_TIMEOUT(hostile, replay, 3600)
{
	int i, l;

	ASSERT_EQ(0, trunk_add(&self->g, "t1", 1, key));
	ASSERT_EQ(0, trunk_add(&self->g, "t2", 2, key));
	ASSERT_TRUE(settle(self->sk, &self->g, true));
	for (i = 0; i < 200 && pw_resolve(&self->g, 1, ADDR(2, 0), NULL); i++)
		relay(self->sk, 50, 0);
	ASSERT_GT(200, i);
	for (i = 0; i < 20; i++) {
		l = pw_msg(tx, ADDR(2, 0), ADDR(1, 0), PT_TEST, 1, 5, "once", 4);
		ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
	}
	relay(self->sk, 300, FRAME);
	EXPECT_EQ(20, got(self->sk, self->raw[1], true));
	ASSERT_LE(20, nrecord[1]);
	repeat(self->sk[1], 1);
	EXPECT_EQ(0, got(self->sk, self->raw[1], false));

	/* an outage, then both find each other again */
	ASSERT_TRUE(settle(self->sk, &self->g, false));
	ASSERT_TRUE(settle(self->sk, &self->g, true));
	repeat(self->sk[1], 1);
	EXPECT_EQ(0, got(self->sk, self->raw[1], false));

	/* the receiver is made anew, while the sender goes on */
	for (i = 0; i < 200 && pw_resolve(&self->g, 1, ADDR(2, 0), NULL); i++)
		relay(self->sk, 50, 0);
	nrecord[1] = 0;
	for (i = 0; i < 20; i++)
		ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
	relay(self->sk, 300, FRAME);
	EXPECT_EQ(20, got(self->sk, self->raw[1], true));
	ASSERT_EQ(0, pw_router_del(&self->g, "t2"));
	ASSERT_EQ(0, trunk_add(&self->g, "t2", 2, key));
	ASSERT_TRUE(settle(self->sk, &self->g, true));
	repeat(self->sk[1], 1);
	EXPECT_EQ(0, got(self->sk, self->raw[1], false));
	/* and the trunk is in order */
	for (i = 0; i < 200 && pw_resolve(&self->g, 1, ADDR(2, 0), NULL); i++)
		relay(self->sk, 50, 0);
	ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
	EXPECT_EQ(1, got(self->sk, self->raw[1], true));
}

/* --- the enemy is the peer --------------------------------------------------------- */

static int put_hdr(uint8_t *b, int type, int flags, int id, uint64_t session, uint64_t seq)
{
	memset(b, 0, HDR);
	b[0] = 'P';
	b[1] = 1;
	b[2] = type;
	b[3] = flags;
	pw_put(b + 6, 2, id);
	pw_put(b + 8, 8, session);
	pw_put(b + 16, 8, seq);
	return HDR;
}

static void say_hello(int fd, int id, uint64_t session, uint64_t seq, uint64_t challenge,
		      uint64_t echo)
{
	uint8_t b[HDR + 24];

	put_hdr(b, HELLO, 0, id, session, seq);
	pw_put(b + HDR, 8, challenge);
	pw_put(b + HDR + 8, 8, echo);
	pw_put(b + HDR + 16, 4, PEER);
	pw_put(b + HDR + 20, 4, hello_mtu);
	if (send(fd, b, sizeof(b), 0) != sizeof(b))
		perror("# hello");
}

/* the next hello of the trunk: what it echoes; its challenge into @challenge */
static bool hear_hello(int fd, uint64_t *challenge, uint64_t *echo)
{
	uint8_t b[2048];
	int len, i;

	for (i = 0; i < 2000; i++) {
		len = pw_recv(fd, b, sizeof(b), NULL, SOON);
		if (len < 0)
			return false;
		if (len != HDR + 24 || b[2] != HELLO)
			continue;
		*challenge = pw_get(b + HDR, 8);
		*echo = pw_get(b + HDR + 8, 8);
		return true;
	}
	return false;
}

/* the enemy is taken for the other half of "t1" */
#define JOIN() do {									\
	uint64_t _echo;									\
	ASSERT_EQ(0, trunk_add(&self->g, "t1", 1, NULL));				\
	ASSERT_TRUE(hear_hello(self->sk[0], &self->echo, &_echo));			\
	say_hello(self->sk[0], 0, self->session, ++self->seq, self->challenge, self->echo); \
	for (i = 0; i < 200 && !pw_trunk_up(&self->g, "t1"); i++)			\
		usleep(20000);								\
	ASSERT_GT(200, i);								\
} while (0)

static void say_frame(int fd, int flags, uint64_t session, uint64_t seq, const uint8_t *frame, int len)
{
	static uint8_t b[HDR + 20000];

	put_hdr(b, FRAME, flags, 0, session, seq);
	memcpy(b + HDR, frame, len);
	if (send(fd, b, HDR + len, 0) != HDR + len)
		perror("# frame");
}

#define SAY(flags, frame, len) \
	say_frame(self->sk[0], flags, self->session, ++self->seq, frame, len)

static int rec(uint8_t *b, int type, int pad, int more, uint64_t body)
{
	b[0] = type;
	b[1] = pad;
	pw_put(b + 2, 2, more);
	pw_put(b + 4, 4, body);
	return 8;
}

/* ADDR of a range with its SRQR */
static int rec_range(uint8_t *b, uint32_t min, uint32_t max)
{
	memset(b, 0, 24);
	rec(b, PW_RRP_ADDR, 4, 2, PW_RRP_AT_MIN << 24 | min);
	pw_put(b + 8, 4, PW_RRP_AT_MAX << 24 | max);
	rec(b + 16, PW_RRP_SRQR, 2, 0, 0x100);
	return 24;
}

/* ADDR of a node with its SRQR, one L2RH */
static int rec_node(uint8_t *b, uint32_t addr)
{
	memset(b, 0, 24);
	rec(b, PW_RRP_ADDR, 0, 2, PW_RRP_AT_SINGLE << 24 | addr);
	rec(b + 8, PW_RRP_SRQR, 2, 1, 0);
	pw_put_l2rh(b + 16, (uint8_t []) { 0, 0, 0 }, 3);
	return 24;
}

/* the records in front of a table's nodes; the enemy and @via are its route */
static int rec_table(uint8_t *b, uint32_t san, uint32_t serial, uint32_t via)
{
	int n;

	memset(b, 0, 64);
	n = rec(b, PW_RRP_RTHD, 0, 1, PW_RRP_AT_SINGLE << 24 | san);
	pw_put(b + n, 4, serial);
	n += 8;
	n += rec(b + n, PW_RRP_SRQR, 2, 0, 0);
	n += rec(b + n, PW_RRP_MTUR, 0, 0, 0);
	n += rec(b + n, PW_RRP_RCVF, via ? 4 : 0, !!via, PW_RRP_AT_SINGLE << 24 | PEER);
	if (via) {
		pw_put(b + n, 4, PW_RRP_AT_SINGLE << 24 | via);
		n += 8;
	}
	return n;
}

static int rtbl(uint8_t *b, const uint8_t *data, int len)
{
	return pw_msg(b, ADDR(1, 9), PEER, PW_PT_RRP, PW_TE_RTBL, 63, data, len);
}

/* a fabric that stands still: what enters it stays */
static int freeze(struct pw_genl *g)
{
	struct rtattr *nest;
	struct pw_req r;

	pw_genl_init(&r, g->family, PACKETWAY_CMD_SAN_SET, NLM_F_ACK);
	nest = pw_genl_nest(&r, PACKETWAY_A_SAN);
	pw_req_u32(&r, PACKETWAY_A_SAN_ID, 1);
	pw_req_u32(&r, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_FAST);
	pw_req_u32(&r, PACKETWAY_A_SAN_FROZEN, 1);
	pw_req_end(&r, nest);
	return pw_nl_talk(&g->nl, &r);
}

/* @n frames with @data bytes each: at most @most of them enter the SAN */
static void flood(struct __test_metadata *_metadata, struct _test_data_hostile *self, long n,
		  int data, long most)
{
	int l = pw_msg(tx, ADDR(1, 0), PEER, PT_TEST, 1, 5, rx, data);
	long i, sent;

	for (i = 0; i < n; i++) {
		SAY(F_HALF, tx, l);
		if (!(i % 64))
			usleep(1000);
	}
	for (i = 0; i < 100 && HSTAT("t1", SENT) + HSTAT("t1", DROP_FULL) < n; i++)
		usleep(20000);
	sent = HSTAT("t1", SENT);
	TH_LOG("%ld frames sent, %ld taken, %ld refused", n, sent, HSTAT("t1", DROP_FULL));
	EXPECT_LE(sent, most);
	EXPECT_LT(0, HSTAT("t1", DROP_FULL));
}

/* what a peer's flag says exempts nothing from the limit of frames under way */
TEST_F_TIMEOUT(hostile, inflight, 3600)
{
	int i;

	ASSERT_EQ(0, freeze(&self->g));
	JOIN();
	flood(_metadata, self, 4000, 1000, 2 * INFLIGHT_MAX + 64);
}

/* large frames are fewer: no socket is charged for their memory */
TEST_F_TIMEOUT(hostile, inflight_bytes, 3600)
{
	int i;

	ASSERT_EQ(0, pw_link_mtu(&self->nl, "a", 32000));
	ASSERT_EQ(0, freeze(&self->g));
	hello_mtu = 32000;
	JOIN();
	hello_mtu = 1500;
	flood(_metadata, self, 1000, 19000, INFLIGHT_BYTES / 19000 + 64);
}

/* a packet may have any number: none of them keeps the receiver busy for ever */
TEST_F_TIMEOUT(hostile, last_number, 3600)
{
	int l = pw_msg(tx, ADDR(1, 0), PEER, PT_TEST, 1, 5, "last", 4), i;

	JOIN();
	self->seq = UINT64_MAX - 2;
	for (i = 0; i < 2; i++)
		SAY(0, tx, l);
	EXPECT_EQ(2, got(self->sk, self->raw[0], false));
	EXPECT_EQ(2, TSTAT("t1", RX));
}

/* best of a few tries: seconds for 20 frames of @len bytes, with another serial each */
static double cost(int fd, uint64_t session, uint64_t *seq, uint8_t *msg, int len, uint32_t *serial)
{
	double best = 1e9, t;
	int k, i;

	for (k = 0; k < 8; k++) {
		t = pw_now();
		for (i = 0; i < 20; i++) {
			pw_put(msg + 16 + 8, 4, ++*serial);
			say_frame(fd, F_HALF, session, ++*seq, msg, len);
		}
		t = pw_now() - t;
		if (t < best)
			best = t;
		usleep(200000);
	}
	return best;
}

/* tables of a peer are work for later, and not for all of them */
TEST_F_TIMEOUT(hostile, tables, 3600)
{
	uint32_t serial = 1000;
	double frames, tables, start, took;
	long taken, n;
	uint8_t data[9000];
	int i, k, l, d;

	JOIN();
	/* 63 tables of 250 nodes and a range each */
	for (i = 0; i < 63; i++) {
		d = rec_table(data, (50 + i) * 256, 1, 0);
		for (k = 0; k < 250; k++)
			d += rec_node(data + d, ADDR(50 + i, k));
		d += rec_range(data + d, ADDR(50 + i, 0), ADDR(50 + i, 249));
		l = rtbl(tx, data, d);
		SAY(F_HALF, tx, l);
		usleep(10000);
	}
	for (i = 0; i < 500 && HSTAT("t1", TABLES_TAKEN) < 63; i++)
		usleep(20000);
	EXPECT_SOON(63, HSTAT("t1", TABLES_TAKEN));
	/* a second of quiet: the limit starts anew */
	usleep(1200000);
	/* a frame that ends here at once, as long as a short table */
	d = rec_table(data, 50 * 256, 1, 0);
	d += rec_range(data + d, ADDR(50, 0), ADDR(50, 15));
	l = pw_msg(tx, ADDR(1, 9), PEER, PT_TEST, 1, 5, data, d);
	frames = cost(self->sk[0], self->session, &self->seq, tx, l, &serial);
	l = rtbl(tx, data, d);
	tables = cost(self->sk[0], self->session, &self->seq, tx, l, &serial);
	TH_LOG("a table costs %.0f us, %.1f times a frame", tables * 5e4, tables / frames);
	EXPECT_GT(20, tables / frames);
	/* a flood */
	usleep(1200000);
	taken = HSTAT("t1", TABLES_TAKEN);
	start = pw_now();
	for (n = 0; n < 6000 && pw_now() - start < 4; n++) {
		pw_put(tx + 16 + 8, 4, ++serial);
		SAY(F_HALF, tx, l);
	}
	usleep(500000);
	took = pw_now() - start;
	taken = HSTAT("t1", TABLES_TAKEN) - taken;
	TH_LOG("%ld tables in %.1f s: %ld taken, %ld limited", n, took, taken,
	       HSTAT("t1", RRP_LIMITED));
	EXPECT_LE(taken, RRP_PER_SECOND * (long)(took + 2));
	if (n > RRP_PER_SECOND * (long)(took + 2))
		EXPECT_LT(0, HSTAT("t1", RRP_LIMITED));
}

#define LISTED	256	/* PW_REDUCE_SANS */
#define HALVES	4	/* of programs, each with as many tables as a half-router takes */
#define TABLES	63

/* half-routers of programs at SAN 1 that know @HALVES times @TABLES SANs; 0 or -1 */
static int know_many(int ns, int fd[HALVES])
{
	struct packetway_half_open o = { .size = sizeof(o), .flags = PACKETWAY_HALF_NONBLOCK,
					 .san = 1, .peer = PEER };
	int save = pw_ns_self(), dev, i, k, d, l;
	uint8_t data[200];

	if (setns(ns, CLONE_NEWNET))
		return -1;
	dev = open(PW_DEV, O_RDWR | O_CLOEXEC);
	for (i = 0; i < HALVES; i++) {
		o.port = 10 + i;
		snprintf(o.name, sizeof(o.name), "u%d", i);
		fd[i] = ioctl(dev, PACKETWAY_IOC_HALF_OPEN, &o);
		for (k = 0; k < TABLES; k++) {
			uint32_t san = 256 * (1000 + i * TABLES + k);

			d = rec_table(data, san, 1, 0);
			d += rec_node(data + d, san + 1);
			d += rec_range(data + d, san + 1, san + 16);
			l = pw_msg(tx, ADDR(1, o.port), PEER, PW_PT_RRP, PW_TE_RTBL, 63, data, d);
			if (write(fd[i], tx, l) != l)
				return -1;
			usleep(1000);
		}
	}
	close(dev);
	i = setns(save, CLONE_NEWNET);
	close(save);
	return i;
}

/* a request for @n SANs that no route leads to */
static int ask_reduction(uint8_t *b, uint64_t seq, int n)
{
	uint8_t body[40 + 4 * LISTED] = { 1, 1, PW_ATON_OP_ADD, 0, 2, 4 };
	int i;

	pw_put(body + 6, 2, n);
	pw_put(body + 8, 8, 77);
	pw_put(body + 16, 8, seq);
	pw_put(body + 32, 4, 60000);
	for (i = 0; i < n; i++)
		pw_put(body + 40 + 4 * i, 4, 0x700000 + 256 * i);
	return pw_msg(b, ADDR(1, 9), PEER, PW_PT_REDUCE, PW_TE_REDUCE_ASK, 63, body, 40 + 4 * n);
}

/* the time in which 20 requests for @n SANs are answered, the best of a few; -1: they are not */
static double cost_reduction(int fd, uint64_t session, uint64_t *seq, uint64_t *nth, int n)
{
	double best = 1e9, t;
	struct pw_hdr h;
	int i, k, l, got;

	for (k = 0; k < 10; k++) {
		t = pw_now();
		for (i = 0; i < 20; i++) {
			l = ask_reduction(tx, ++*nth, n);
			say_frame(fd, F_HALF, session, ++*seq, tx, l);
		}
		for (got = 0; got < 20;) {
			l = pw_recv(fd, rx, sizeof(rx), NULL, SOON);
			if (l < 0)
				return -1;
			pw_hdr_get(rx + HDR, &h);
			got += rx[2] == FRAME && h.pt == PW_PT_REDUCE;
		}
		t = pw_now() - t;
		if (t < best)
			best = t;
	}
	return best;
}

/* a request that names many SANs does not look at every route for each of them */
TEST_F_TIMEOUT(hostile, reductions, 3600)
{
	uint32_t last = 256 * (1000 + HALVES * TABLES - 1);
	int i, fd[HALVES];
	double one, many;
	uint64_t nth = 0;

	ASSERT_EQ(0, know_many(self->ns, fd));
	ASSERT_EQ(0, pw_wait_route(&self->g, 1, last + 1));
	JOIN();
	one = cost_reduction(self->sk[0], self->session, &self->seq, &nth, 1);
	many = cost_reduction(self->sk[0], self->session, &self->seq, &nth, LISTED);
	ASSERT_LT(0, one);
	TH_LOG("a request costs %.0f us, one for %d SANs %.1f times as much", one * 5e4, LISTED,
	       many / one);
	EXPECT_LT(0, many);
	EXPECT_GT(5, many / one);
	for (i = 0; i < HALVES; i++)
		close(fd[i]);
}

/* test frames from a to b of SAN 2 that go where they should */
static int reach(int a, int b, int n)
{
	int i, l, k, ok = 0;
	struct pw_hdr h;

	l = pw_msg(tx, ADDR(2, 0), ADDR(1, 0), PT_TEST, 1, 5, "to b", 4);
	for (i = 0; i < n; i++) {
		if (send(a, tx, l, 0) != l)
			return -1;
		/* what half-routers say to all is not meant */
		while ((k = pw_recv(b, rx, sizeof(rx), NULL, SOON)) > 0) {
			pw_hdr_get(rx, &h);
			if (h.pt == PT_TEST)
				break;
		}
		ok += k == l;
	}
	return ok;
}

/* SANs that are reached without the peer are not the peer's to describe or to take down */
TEST_F_TIMEOUT(hostile, takeover, 3600)
{
	uint8_t data[2000];
	long rx0;
	int i, l, d;

	ASSERT_EQ(0, pw_router_add(&self->g, "r", (struct pw_half_req) { 1, 8, -1 },
				   (struct pw_half_req) { 2, 8, -1 }));
	for (i = 0; i < 300 && pw_resolve(&self->g, 1, ADDR(2, 0), NULL); i++)
		usleep(20000);
	ASSERT_GT(300, i);
	JOIN();
	ASSERT_EQ(5, reach(self->raw[0], self->raw[1], 5));

	/* a route to a SAN of its own is welcome */
	d = rec_table(data, 9 * 256, 1, 0);
	d += rec_node(data + d, ADDR(9, 0));
	d += rec_range(data + d, ADDR(9, 0), ADDR(9, 15));
	l = rtbl(tx, data, d);
	SAY(F_HALF, tx, l);
	for (i = 0; i < 300 && pw_resolve(&self->g, 1, ADDR(9, 0), NULL); i++)
		usleep(20000);
	EXPECT_GT(300, i);
	rx0 = TSTAT("t1", TX);
	l = pw_msg(tx, ADDR(9, 0), ADDR(1, 0), PT_TEST, 1, 5, "to 9", 4);
	for (i = 0; i < 300 && TSTAT("t1", TX) < rx0 + 3; i++) {
		ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
		usleep(20000);
	}
	EXPECT_GT(300, i);

	/* SAN 2 with the best quality; a SAN in the middle of it; all there is */
	d = rec_table(data, 2 * 256, 0x7fffffff, 0);
	d += rec_node(data + d, ADDR(2, 0));
	d += rec_range(data + d, ADDR(2, 0), ADDR(2, 15));
	l = rtbl(tx, data, d);
	SAY(F_HALF, tx, l);
	d = rec_table(data, 2 * 256, 0x7ffffffe, ADDR(77, 0));
	d += rec_range(data + d, ADDR(2, 0), ADDR(2, 0));
	l = rtbl(tx, data, d);
	SAY(F_HALF, tx, l);
	d = rec_table(data, 60 * 256, 1, 0);
	d += rec_range(data + d, ADDR(2, 0), ADDR(2, 0));
	l = rtbl(tx, data, d);
	SAY(F_HALF, tx, l);
	d = rec_table(data, ADDR(2, 0) - 1, 1, ADDR(78, 0));
	d += rec_range(data + d, ADDR(2, 0), ADDR(2, 1));
	l = rtbl(tx, data, d);
	SAY(F_HALF, tx, l);
	usleep(500000);
	EXPECT_EQ(5, reach(self->raw[0], self->raw[1], 5));

	/* the router in between is said to be gone; a table that passes it makes it believable */
	d = rec_table(data, 61 * 256, 1, ADDR(1, 8));
	d += rec_range(data + d, ADDR(61, 0), ADDR(61, 15));
	l = rtbl(tx, data, d);
	SAY(F_HALF, tx, l);
	usleep(300000);
	rec(data, PW_RRP_ADDR, 0, 0, PW_RRP_AT_SINGLE << 24 | ADDR(1, 8));
	rec(data + 8, PW_RRP_ADDR, 0, 0, PW_RRP_AT_SINGLE << 24 | ADDR(2, 8));
	l = pw_msg(tx, ADDR(1, 9), PEER, PW_PT_ERR, PW_TE_ERR_HRDOWN, 63, data, 16);
	SAY(F_HALF, tx, l);
	usleep(60000);
	EXPECT_EQ(5, reach(self->raw[0], self->raw[1], 5));
	EXPECT_EQ(0, pw_resolve(&self->g, 1, ADDR(2, 0), NULL));
	/* nor may it speak in the name of this half to the router */
	rec(data, PW_RRP_ADDR, 0, 0, PW_RRP_AT_SINGLE << 24 | ADDR(1, 8));
	rec(data + 8, PW_RRP_ADDR, 0, 0, PW_RRP_AT_SINGLE << 24 | ADDR(2, 8));
	l = pw_msg(tx, ADDR(1, 8), ADDR(1, 9), PW_PT_ERR, PW_TE_ERR_HRDOWN, 63, data, 16);
	rx0 = HSTAT("r", RRP_REFUSED);
	SAY(F_HALF, tx, l);
	for (i = 0; i < 100 && HSTAT("r", RRP_REFUSED) == rx0; i++)
		usleep(20000);
	EXPECT_GT(100, i);
	EXPECT_EQ(5, reach(self->raw[0], self->raw[1], 5));
}

/* hellos of a session that is not in use: answered, but neither at once nor instead */
TEST_F_TIMEOUT(hostile, hellos, 3600)
{
	uint64_t challenge, echo;
	int i, live = 0, old = 0;
	double start, took;
	long n;

	JOIN();
	while (recv(self->sk[0], rx, sizeof(rx), MSG_DONTWAIT) > 0)
		;
	for (i = 0; i < 8; i++) {
		say_hello(self->sk[0], 0, 0x9999, 1, 0x8888, 0x7777);
		ASSERT_TRUE(hear_hello(self->sk[0], &challenge, &echo));
		live += echo == self->challenge;
		old += echo == 0x8888;
	}
	TH_LOG("8 hellos: %d for the session in use, %d for the other", live, old);
	EXPECT_LE(3, live);
	EXPECT_LE(3, old);
	n = TSTAT("t1", HELLO_TX);
	start = pw_now();
	for (i = 0; i < 400; i++) {
		say_hello(self->sk[0], 0, 0x9999, 1, 0x8800 + i, 0x7777);
		usleep(2000);
	}
	took = pw_now() - start;
	n = TSTAT("t1", HELLO_TX) - n;
	TH_LOG("400 hellos in %.1f s, %ld answers", took, n);
	EXPECT_LE(n, 20 * (long)(took + 1) + 2);
	/* another trunk's */
	n = TSTAT("t1", HELLO_RX);
	say_hello(self->sk[0], 5, 0x9999, 1, 0x8888, 0x7777);
	usleep(100000);
	EXPECT_SOON(n, TSTAT("t1", HELLO_RX));
	EXPECT_SOON(1, TSTAT("t1", DROP_PEER));
}

/* messages with the key */
static void find_key(struct nlmsghdr *h, void *arg)
{
	int *found = arg;

	*found += !!memmem(h, h->nlmsg_len, key, sizeof(key));
}

/* the answer to a request that fails repeats the request, but not its key */
TEST_F_TIMEOUT(hostile, key, 3600)
{
	struct nlmsghdr *h = (void *)self->g.nl.buf;
	struct pw_trunk_req t = trunk_of("t1", 1, key);
	int off = 0, i, l, found = 0;
	struct pw_genl ev;
	struct pw_req r;

	ASSERT_EQ(0, pw_genl_open(&ev, self->ns));
	ASSERT_EQ(0, setsockopt(ev.nl.fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &ev.group,
				sizeof(ev.group)));
	ASSERT_EQ(0, trunk_add(&self->g, "t1", 1, key));
	setsockopt(self->g.nl.fd, SOL_NETLINK, NETLINK_CAP_ACK, &off, sizeof(off));
	pw_trunk_build(&self->g, &r, &t);
	EXPECT_EQ(-EEXIST, pw_nl_talk(&self->g.nl, &r));
	EXPECT_LT(r.n.nlmsg_len, h->nlmsg_len);
	for (i = 0; i + 32 <= (int)h->nlmsg_len; i++)
		found += !memcmp(self->g.nl.buf + i, key, 32);
	EXPECT_EQ(0, found);
	/* nor does a router tell its own */
	EXPECT_EQ(0, pw_router_cmd(&self->g, PACKETWAY_CMD_ROUTER_GET, "t1"));
	for (i = 0; i + 32 <= (int)h->nlmsg_len; i++)
		found += !memcmp(self->g.nl.buf + i, key, 32);
	EXPECT_EQ(0, found);
	EXPECT_EQ(1, pw_genl_dump(&self->g, PACKETWAY_CMD_ROUTER_GET, 0, 0, -1, find_key, &found));
	EXPECT_EQ(0, found);
	/* nor do the events that it has come and gone, to those who listen */
	ASSERT_EQ(0, pw_router_del(&self->g, "t1"));
	for (i = 0; i < 2; ) {
		l = pw_recv(ev.nl.fd, rx, sizeof(rx), NULL, SOON);
		ASSERT_LT(0, l);
		find_key((void *)rx, &found);
		i += !!pw_genl_attr((void *)rx, PACKETWAY_A_ROUTER);
	}
	EXPECT_EQ(0, found);
	close(ev.nl.fd);
}

/* a node whose description is longer than a message: a dump says so, and does not just end */
TEST_F_TIMEOUT(hostile, dump, 3600)
{
	uint8_t data[8000];
	struct nlmsghdr *h;
	char buf[4096];
	struct pw_req r;
	int i, l, d, end = 1, len, left;

	JOIN();
	d = rec_table(data, 9 * 256, 1, 0);
	memset(data + d, 0, 6016);
	rec(data + d, PW_RRP_ADDR, 0, 751, PW_RRP_AT_SINGLE << 24 | ADDR(9, 0));
	rec(data + d + 8, PW_RRP_CAPA, 7, 749, 0x50000000);
	rec(data + d + 8 + 750 * 8, PW_RRP_SRQR, 2, 0, 0);
	d += 752 * 8;
	d += rec_range(data + d, ADDR(9, 0), ADDR(9, 15));
	l = rtbl(tx, data, d);
	SAY(F_HALF, tx, l);
	for (i = 0; i < 300 && HSTAT("t1", TABLES_TAKEN) < 1; i++)
		usleep(20000);
	ASSERT_GT(300, i);
	/* the kernel makes messages as long as the longest read so far: a new socket */
	close(self->g.nl.fd);
	self->g.nl.fd = pw_ns_socket(self->ns, AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	ASSERT_GE(self->g.nl.fd, 0);
	pw_genl_init(&r, self->g.family, PACKETWAY_CMD_NODE_GET, NLM_F_DUMP);
	ASSERT_LT(0, send(self->g.nl.fd, &r, r.n.nlmsg_len, 0));
	for (i = 0; i < 100 && end > 0; i++) {
		len = recv(self->g.nl.fd, buf, sizeof(buf), 0);
		ASSERT_LT(0, len);
		left = len;
		for (h = (void *)buf; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
			if (h->nlmsg_type == NLMSG_DONE)
				end = *(int *)NLMSG_DATA(h);
			else if (h->nlmsg_type == NLMSG_ERROR)
				end = ((struct nlmsgerr *)NLMSG_DATA(h))->error;
		}
	}
	EXPECT_EQ(-EMSGSIZE, end);
}

TEST_HARNESS_MAIN
