// SPDX-License-Identifier: GPL-2.0
/*
 * Random and mutated packets into trunks with and without a secret, and random RRP messages into
 * half-routers. Each packet is counted once by what became of it, and each message once; the
 * sums are exact. A soak sends ten million packets, half of them with a secret, and ten million
 * messages, on the debug kernel as on others; the KCSAN kernel gets a tenth of that.
 */
#include "pwtest.h"
#include "pwrouter.h"
#include "pwharness.h"

#include <netinet/udp.h>

#define HDR	32
#define HELLO	2
#define FRAME	1
#define SANS	8		/* each has one half-router, whose trunk the test is the peer of */
#define MTU	1500
#define BATCH	64
#define SEGMENTS 64		/* packets of one length that one call sends, and their bytes */
#define BYTES	60000
#define LENGTHS	1280
#define LONG	10000000L
#define ADDR(san, port) ((uint32_t)(san) * 256 + (port) + 1)
#define PEER	ADDR(40, 9)
#define SESSION	0x1111

static const uint8_t key[32] = "a secret of thirty-two bytes....";
static uint8_t buf[4096];

FIXTURE(fuzz) {
	int ns;
	struct pw_nl nl;
	struct pw_genl g;
	int raw[SANS];		/* station at port 0 */
	int sk[SANS];		/* peer of the trunk */
};

static const char *name_of(int i)
{
	static char name[8];

	snprintf(name, sizeof(name), "t%d", i);
	return name;
}

/* the trunk of SAN i + 1 */
static int trunk_add(struct pw_genl *g, int i, const uint8_t *secret)
{
	const struct pw_trunk_req t = {
		.name = name_of(i), .san = i + 1, .port = 9, .key = secret,
		.local = INADDR_LOOPBACK, .remote = INADDR_LOOPBACK,
		.local_port = 7000 + i, .remote_port = 8000 + i,
	};

	return pw_trunk_add(g, &t);
}

FIXTURE_SETUP(fuzz)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char name[8];
	int i;

	/* each part draws numbers of its own */
	pw_seed += 0x9e3779b97f4a7c15ULL * pw_part(NULL);
	ASSERT_EQ(0, unshare(CLONE_NEWNET));
	self->ns = pw_ns_self();
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_genl_open(&self->g, self->ns));
	ASSERT_EQ(0, pw_link_up(&self->nl, "lo"));
	for (i = 0; i < SANS; i++) {
		ASSERT_EQ(0, pw_san_cmd(&self->g, PACKETWAY_CMD_SAN_NEW, i + 1, 16,
					PACKETWAY_ENGINE_NONE));
		snprintf(name, sizeof(name), "s%d", i);
		ASSERT_EQ(0, pw_station_add(&self->nl, name, i + 1, 0, self->ns));
		ASSERT_EQ(0, pw_link_up(&self->nl, name));
		self->raw[i] = pw_packet_open(self->ns, SOCK_RAW, 0,
					      pw_link_index(&self->nl, name));
		ASSERT_GE(self->raw[i], 0);
		self->sk[i] = pw_udp_open(8000 + i);
		ASSERT_GE(self->sk[i], 0);
		to.sin_port = htons(7000 + i);
		ASSERT_EQ(0, connect(self->sk[i], (void *)&to, sizeof(to)));
	}
}

FIXTURE_TEARDOWN(fuzz)
{
	int i;

	for (i = 0; i < SANS; i++) {
		close(self->raw[i]);
		close(self->sk[i]);
	}
	close(self->nl.fd);
	close(self->g.nl.fd);
	close(self->ns);
}

/* @n packets or messages, in a soak @most; of these, one of the parts that guests share */
static long many(long n, long min, long most)
{
	const char *flavour = getenv("PW_FLAVOUR");
	unsigned int parts;

	if (!pw_long())
		return pw_count(n, min);
	if (flavour && !strcmp(flavour, "kcsan"))
		most /= 10;
	return pw_part(&parts) ? most / parts : most;
}

/* what takes long is one of so many: a soak is about the others */
static int rare(void)
{
	return pw_long() ? 64 : 8;
}

/* packets of one length that wait until one call sends them; those of each length are apart */
struct bucket {
	uint8_t *b;
	int n;
};

/* packets of the session that was begun at trunk @trunk */
struct sender {
	int fd;
	uint64_t seq;
	bool number;		/* give numbers when they are sent */
	bool old;		/* some have an old number */
	long sent;		/* packets, and messages of the station */
	struct bucket of[LENGTHS];
};

static struct sender senders[SANS];

/*
 * One message that UDP divides into packets of @len bytes: it passes the way down to the
 * loopback device and up to the socket once, and the trunk gets each packet by itself.
 */
static bool send_segments(int fd, const uint8_t *b, int n, int len)
{
	union {
		char buf[CMSG_SPACE(sizeof(uint16_t))];
		struct cmsghdr align;
	} control = {};
	struct iovec iov = { (void *)b, (size_t)n * len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (n > 1) {
		m.msg_control = control.buf;
		m.msg_controllen = sizeof(control.buf);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_UDP;
		c->cmsg_type = UDP_SEGMENT;
		c->cmsg_len = CMSG_LEN(sizeof(uint16_t));
		*(uint16_t *)CMSG_DATA(c) = len;
	}
	return sendmsg(fd, &m, 0) == (ssize_t)n * len;
}

static bool flush(struct sender *s, int len)
{
	struct bucket *of = &s->of[len];
	int i, n = of->n;
	uint8_t *b;

	for (i = 0; s->number && i < n; i++) {
		b = of->b + (size_t)i * len;
		/* a number far ahead would make all later ones old */
		if (len >= 24 && pw_get(b + 8, 8) == SESSION)
			pw_put(b + 16, 8, !s->old || pw_below(8) || s->seq < 2000 ?
					  ++s->seq : s->seq - pw_below(2000));
	}
	of->n = 0;
	s->sent += n;
	return !n || send_segments(s->fd, of->b, n, len);
}

static bool flush_all(struct sender *s)
{
	bool ok = true;
	int len;

	for (len = 1; len < LENGTHS; len++)
		ok = flush(s, len) && ok;
	return ok;
}

/* the half-router @k has got what was sent to it: it keeps a thousand frames that wait, not more */
static bool settle(struct pw_genl *g, int k)
{
	double end = pw_now() + SOON / 1000.0;

	while (pw_half_stat(g, name_of(k), 0, PACKETWAY_A_HALF_STAT_RRP_RX) < senders[k].sent) {
		if (pw_now() > end)
			return false;
		usleep(1000);
	}
	return true;
}

/*
 * As flush_all(), of all trunks, with half-routers that must drop nothing. They take turns: a trunk
 * that is silent for some seconds has lost its peer.
 */
static bool flush_gently(struct pw_genl *g)
{
	int len, k;

	for (len = 1; len < LENGTHS; len++) {
		for (k = 0; k < SANS; k++)
			if (!flush(&senders[k], len))
				return false;
		for (k = 0; k < SANS; k++)
			if (senders[k].of[len].b && !settle(g, k))
				return false;
	}
	return true;
}

/* a packet; false: it or others of its length could not be sent */
static bool put(struct sender *s, const uint8_t *b, int len)
{
	int most = SEGMENTS * len < BYTES ? SEGMENTS : BYTES / len;
	struct bucket *of = &s->of[len];

	if (len >= LENGTHS)
		return false;
	if (!of->b)
		of->b = malloc((size_t)most * len);
	if (!of->b)
		return false;
	memcpy(of->b + (size_t)of->n++ * len, b, len);
	return of->n < most || flush(s, len);
}

/* records, some of no kind, some longer than what there is */
static int some_records(uint8_t *b, int room)
{
	int n = 0, rl, i;

	while (n + 8 <= room && pw_below(6)) {
		rl = pw_below(4) ? pw_below(4) : pw_below(40);
		if (n + 8 + 8 * rl > room)
			break;
		b[n] = pw_below(8) ? PW_RRP_ADDR + pw_below(8) : pw_below(256);
		b[n + 1] = pw_below(4) ? 0 : pw_below(8);
		/* what follows lies inside of it, or it says more than there is */
		pw_put(b + n + 2, 2, pw_below(16) ? rl : pw_below(0x10000));
		pw_put(b + n + 4, 4, pw_below(2) ? pw_rnd() :
		       (1 + pw_below(4)) << 24 | ADDR(40, pw_below(16)));
		for (i = 0; i < 8 * rl; i += 8)
			pw_put(b + n + 8 + i, 8, pw_rnd());
		if (rl && pw_below(2))
			rl = 0;		/* records inside */
		n += 8 + 8 * rl;
	}
	return n;
}

/* one that names an address */
static int put_addr(uint8_t *b, uint32_t addr)
{
	pw_put(b, 8, (uint64_t)PW_RRP_ADDR << 56 | 1 << 24 | addr);
	return 8;
}

/* the records that a message should have, of which one bit may be wrong */
static int good_records(uint8_t *b, bool err, int te, uint32_t dt, uint32_t sa)
{
	uint8_t m[512];
	int n;

	if (!err && te == PW_TE_RTBL) {
		n = pw_table(m, dt, sa, pw_below(16)) - 24;
		memcpy(b, m + 16, n);
	} else {
		n = put_addr(b, pw_below(2) ? sa : ADDR(40, pw_below(16)));
		if (err)
			n += put_addr(b + n, ADDR(40, pw_below(16)));
	}
	if (pw_below(2))
		b[pw_below(n)] ^= 1 << pw_below(8);
	return n;
}

/* an RRP message, or an ERR that half-routers tell each other, to the half-router @dt */
static int some_rrp(uint8_t *b, uint32_t dt, uint32_t sa)
{
	bool err = !pw_below(8);
	int te = pw_below(12), len;
	uint8_t data[1024];

	/* these take fifty times as long as others: tables are made anew, all nodes looked at */
	if ((te == PW_TE_TELL || te == PW_TE_INFO) && pw_below(rare()))
		te = PW_TE_RTBL;
	if (err)
		te = PW_TE_ERR_HRDOWN + pw_below(2);
	len = pw_below(2) ? good_records(data, err, te, dt, sa) :
			    some_records(data, pw_below(8) ? 200 : sizeof(data));
	return pw_msg(b, dt, sa, err ? PW_PT_ERR : PW_PT_RRP, te, pw_below(64), data, len);
}

static void mutate(uint8_t *b, int *len)
{
	switch (pw_below(5)) {
	case 0:
		*len = 1 + pw_below(*len);
		break;
	case 1:
		b[pw_below(*len)] ^= 1 << pw_below(8);
		break;
	case 2:
		b[pw_below(*len < HDR ? *len : HDR)] = pw_rnd();
		break;
	case 3:
		pw_put(b + pw_below(*len), 1, pw_rnd());
		break;
	default:
		break;
	}
}

/* a packet for trunk @i without a secret */
static int some_packet(uint8_t *b, int i)
{
	int len = HDR + 24;

	memset(b, 0, HDR);
	b[0] = 'P';
	b[1] = 1;
	b[2] = pw_below(8) ? FRAME : pw_below(4);
	b[3] = pw_below(4) ? pw_below(2) : pw_below(256);
	b[4] = pw_below(8) ? 0 : pw_below(256);
	b[5] = pw_below(64);
	pw_put(b + 8, 8, pw_below(16) ? SESSION : pw_rnd());
	pw_put(b + 24, 8, pw_below(4) ? 0 : pw_rnd());
	if (b[2] != HELLO)
		len = HDR + some_rrp(b + HDR, pw_below(4) ? ADDR(i + 1, 9) : ADDR(i + 1, 0), PEER);
	if (!pw_below(3))
		mutate(b, &len);
	/* a hello that is wrong inside counts twice: as one, and as malformed */
	if (len == HDR + 24) {
		pw_put(b + HDR + 16, 4, PEER);
		pw_put(b + HDR + 20, 4, MTU);
	}
	return len;
}

/* packets that a trunk has got, by what became of them */
static long taken(struct pw_genl *g, int i)
{
	static const int what[] = {
		PACKETWAY_A_TRUNK_STAT_RX, PACKETWAY_A_TRUNK_STAT_HELLO_RX,
		PACKETWAY_A_TRUNK_STAT_DROP_PEER, PACKETWAY_A_TRUNK_STAT_DROP_VERSION,
		PACKETWAY_A_TRUNK_STAT_DROP_AUTH, PACKETWAY_A_TRUNK_STAT_DROP_SESSION,
		PACKETWAY_A_TRUNK_STAT_DROP_REPLAY, PACKETWAY_A_TRUNK_STAT_DROP_MALFORMED,
	};
	long n = 0;
	unsigned int k;

	for (k = 0; k < sizeof(what) / sizeof(what[0]); k++)
		n += pw_trunk_stat(g, name_of(i), what[k]);
	return n;
}

/* a counter of the half-routers that there are */
static long rrp_stat(struct pw_genl *g, int halves, int stat)
{
	long n = 0;
	int k;

	for (k = 0; k < halves; k++)
		n += pw_half_stat(g, name_of(k), 0, stat);
	return n;
}

/* RRP messages that half-routers have got, by what became of them */
static long rrp_fates(struct pw_genl *g, int halves)
{
	return rrp_stat(g, halves, PACKETWAY_A_HALF_STAT_RRP_DONE) +
	       rrp_stat(g, halves, PACKETWAY_A_HALF_STAT_RRP_MALFORMED) +
	       rrp_stat(g, halves, PACKETWAY_A_HALF_STAT_RRP_REFUSED) +
	       rrp_stat(g, halves, PACKETWAY_A_HALF_STAT_RRP_LIMITED);
}

static void log_fates(struct pw_genl *g, int halves, struct __test_metadata *_metadata)
{
	TH_LOG("RRP messages: %ld done, %ld malformed, %ld refused, %ld over limits",
	       rrp_stat(g, halves, PACKETWAY_A_HALF_STAT_RRP_DONE),
	       rrp_stat(g, halves, PACKETWAY_A_HALF_STAT_RRP_MALFORMED),
	       rrp_stat(g, halves, PACKETWAY_A_HALF_STAT_RRP_REFUSED),
	       rrp_stat(g, halves, PACKETWAY_A_HALF_STAT_RRP_LIMITED));
}

/* the next hello of a trunk into buf; its length or -1 */
static int hear(int fd)
{
	int len;

	do
		len = pw_recv(fd, buf, sizeof(buf), NULL, SOON);
	while (len >= 0 && buf[2] != HELLO);
	return len;
}

/* what trunks say meanwhile is not for us */
static void drain(int fd)
{
	while (recv(fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
}

/* the test is the other half: a hello that answers that of the trunk */
static bool join_trunk(int fd)
{
	uint64_t challenge;

	if (hear(fd) != HDR + 24)
		return false;
	challenge = pw_get(buf + HDR, 8);
	memset(buf, 0, HDR);
	buf[0] = 'P';
	buf[1] = 1;
	buf[2] = HELLO;
	pw_put(buf + 8, 8, SESSION);
	pw_put(buf + 16, 8, 1);
	pw_put(buf + HDR, 8, 0x2222);
	pw_put(buf + HDR + 8, 8, challenge);
	pw_put(buf + HDR + 16, 4, PEER);
	pw_put(buf + HDR + 20, 4, MTU);
	return send(fd, buf, HDR + 24, 0) == HDR + 24;
}

TEST_F_TIMEOUT(fuzz, trunk_packets, 40000)
{
	struct sender *s = &senders[0];
	long n = many(20000, 1000, LONG / 2), i, rx;
	double start;
	int len;

	ASSERT_EQ(0, trunk_add(&self->g, 0, NULL));
	ASSERT_TRUE(join_trunk(self->sk[0]));
	EXPECT_SOON(1L, taken(&self->g, 0));
	*s = (struct sender) { .fd = self->sk[0], .seq = 1, .number = true, .old = true };
	start = pw_now();
	for (i = 0; i < n; i++) {
		len = some_packet(buf, 0);
		ASSERT_TRUE(put(s, buf, len));
		if (!(i % BATCH))
			drain(self->sk[0]);
	}
	ASSERT_TRUE(flush_all(s));
	EXPECT_SOON(n + 1, taken(&self->g, 0));
	rx = pw_trunk_stat(&self->g, "t0", PACKETWAY_A_TRUNK_STAT_RX);
	TH_LOG("%ld packets, %ld taken as frames, %.0f a second", n, rx, n / (pw_now() - start));
	/* most were of the session and whole */
	EXPECT_LT(n / 4, rx);
	/* frames that the trunk took are forwarded or handled in turn: RRP of a half-router that counts */
	EXPECT_SOON(0L, rrp_stat(&self->g, 1, PACKETWAY_A_HALF_STAT_RRP_RX) - rrp_fates(&self->g, 1));
	EXPECT_LT(n / 16, rrp_stat(&self->g, 1, PACKETWAY_A_HALF_STAT_RRP_RX));
	log_fates(&self->g, 1, _metadata);
}

/* the two ends are of this host; hellos and frames between them are changed and repeated */
TEST_F_TIMEOUT(fuzz, keyed_packets, 40000)
{
	static struct { uint8_t b[2048]; int len; } rec[64];
	long n = many(20000, 1000, LONG / 2), i, sent = 0;
	struct sender *s = &senders[0];
	struct pollfd p[2];
	int k, recs = 0, len;
	double end, start;

	for (k = 0; k < 2; k++) {
		ASSERT_EQ(0, trunk_add(&self->g, k, key));
		p[k] = (struct pollfd) { .fd = self->sk[k], .events = POLLIN };
	}
	end = pw_now() + 600;
	while (recs < 64 && pw_now() < end) {
		/* frames for the other SAN, as soon as there is a route */
		len = pw_msg(buf, ADDR(2, 0), ADDR(1, 0), 1500, 1, 5, "frame", 5);
		send(self->raw[0], buf, len, 0);
		poll(p, 2, 20);
		for (k = 0; k < 2; k++)
			while ((len = recv(self->sk[k], buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
				if (!k && recs < 64 && len <= (int)sizeof(rec[0].b)) {
					memcpy(rec[recs].b, buf, len);
					rec[recs++].len = len;
				}
				ASSERT_EQ(len, send(self->sk[!k], buf, len, 0));
				sent += !k;
			}
	}
	ASSERT_EQ(64, recs);
	EXPECT_SOON(sent, taken(&self->g, 1));
	*s = (struct sender) { .fd = self->sk[1] };
	start = pw_now();
	for (i = 0; i < n; i++) {
		k = pw_below(recs);
		len = rec[k].len;
		memcpy(buf, rec[k].b, len);
		if (pw_below(4))
			mutate(buf, &len);
		ASSERT_TRUE(put(s, buf, len));
		if (!(i % BATCH)) {
			drain(self->sk[0]);
			drain(self->sk[1]);
		}
	}
	ASSERT_TRUE(flush_all(s));
	EXPECT_SOON(sent + n, taken(&self->g, 1));
	TH_LOG("%ld packets with a secret, %.0f a second", n, n / (pw_now() - start));
}

/* a message for half-router @k from its station, some with the address of another node */
static bool from_station(int fd, int k)
{
	int len = some_rrp(buf, ADDR(k + 1, 9), pw_below(4) ? ADDR(k + 1, 0) : pw_below(1 << 23));

	while (send(fd, buf, len, 0) != len) {
		if (errno != ENOBUFS && errno != EAGAIN)
			return false;
		usleep(100);
	}
	senders[k].sent++;
	return true;
}

/* one over its trunk, from the peer half or a node behind it */
static bool from_trunk(struct sender *s, int k)
{
	int len;

	memset(buf, 0, HDR);
	buf[0] = 'P';
	buf[1] = 1;
	buf[2] = FRAME;
	/* a table that is believed takes fifty times as long as what is refused */
	buf[3] = !pw_below(rare());
	buf[5] = pw_below(64);
	pw_put(buf + 8, 8, SESSION);
	len = HDR + some_rrp(buf + HDR, ADDR(k + 1, 9), pw_below(4) ? PEER : pw_below(1 << 23));
	return put(s, buf, len);
}

/* few messages come from stations, one call for each; the others over trunks */
TEST_F_TIMEOUT(fuzz, rrp_messages, 40000)
{
	long n = many(5000, 1000, LONG), i;
	double start;
	int k;

	for (k = 0; k < SANS; k++) {
		ASSERT_EQ(0, trunk_add(&self->g, k, NULL));
		ASSERT_TRUE(join_trunk(self->sk[k]));
		EXPECT_SOON(1L, taken(&self->g, k));
		senders[k] = (struct sender) { .fd = self->sk[k], .seq = 1, .number = true };
	}
	start = pw_now();
	for (i = 0; i < n; i++) {
		k = i % SANS;
		ASSERT_TRUE(pw_below(rare()) ? from_trunk(&senders[k], k) :
					       from_station(self->raw[k], k)) {
			TH_LOG("message %ld: %s", i, strerror(errno));
		}
		if (!(i / SANS % BATCH)) {
			drain(self->sk[k]);
			ASSERT_TRUE(settle(&self->g, k));
		}
	}
	ASSERT_TRUE(flush_gently(&self->g));
	EXPECT_SOON(n, rrp_stat(&self->g, SANS, PACKETWAY_A_HALF_STAT_RRP_RX));
	EXPECT_SOON(n, rrp_fates(&self->g, SANS));
	TH_LOG("%ld messages, %.0f a second", n, n / (pw_now() - start));
	log_fates(&self->g, SANS, _metadata);
}

TEST_HARNESS_MAIN
