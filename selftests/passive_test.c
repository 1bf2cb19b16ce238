// SPDX-License-Identifier: GPL-2.0
/*
 * Engine ring: frames are passive packets on the ATON ring. Who gets what, MTU, times by closed
 * form, commands beside frames, backpressure, faults, stations and namespaces that end in the
 * middle, other engines, routers; refusals first.
 */
#include <pthread.h>

#include "pwtest.h"
#include "pwip.h"
#include "pwring.h"
#include "pwrouter.h"
#include "pwsan.h"
#include "pwharness.h"

#define PT_TEST	1500
#define SAN	2
#define N	4		/* stations, on the first ports */
#define TURN	24		/* bit times once around: the ring is shorter than a token */
#define ADD	272		/* bits of an ADD packet */
#define PASSIVE(bytes) (144 + 8 * (bytes))

static uint8_t tx[70000], rx[70000];

FIXTURE(passive) {
	int ns;
	struct pw_nl nl;
	struct pw_genl g;
	struct ring_if st[N];
	int idx[N];
	int raw[N];
};

FIXTURE_VARIANT(passive) {
	int engine;	/* of the ring */
};

FIXTURE_VARIANT_ADD(passive, fast) { .engine = PACKETWAY_ENGINE_FAST };
FIXTURE_VARIANT_ADD(passive, rtl) { .engine = PACKETWAY_ENGINE_RTL };

static const char * const name[N] = { "s0", "s1", "s2", "s3" };

static uint32_t addr_of(int i)
{
	return SAN * 256 + i + 1;
}

static int san_set(struct pw_genl *g, int attr, uint32_t value)
{
	return pw_gsan_set2_of(g, SAN, attr, value, 0, 0);
}

#define FREEZE(on) ASSERT_EQ(0, san_set(&self->g, PACKETWAY_A_SAN_FROZEN, on))
#define STAT(who, what) pw_stat(self->raw[who], name[who], what)

FIXTURE_SETUP(passive)
{
	int i;

	self->ns = pw_ns_new();
	ASSERT_GE(self->ns, 0);
	ASSERT_EQ(0, setns(self->ns, CLONE_NEWNET));
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_genl_open(&self->g, self->ns));
	ASSERT_EQ(0, pw_san_cmd(&self->g, PACKETWAY_CMD_SAN_NEW, SAN, 16, PACKETWAY_ENGINE_RING));
	ASSERT_EQ(0, san_set(&self->g, PACKETWAY_A_SAN_RING_ENGINE, variant->engine));
	for (i = 0; i < N; i++) {
		ASSERT_EQ(0, pw_station_add(&self->nl, name[i], SAN, i, -1)) {
			TH_LOG("%s", self->nl.ext);
		}
		ASSERT_EQ(0, pw_link_up(&self->nl, name[i]));
		self->idx[i] = pw_link_index(&self->nl, name[i]);
		ASSERT_EQ(0, ring_open(&self->st[i], self->idx[i]));
		self->raw[i] = pw_timed_open(self->ns, self->idx[i]);
		ASSERT_GE(self->raw[i], 0);
	}
}

FIXTURE_TEARDOWN(passive)
{
	int i;

	for (i = 0; i < N; i++) {
		ring_close(&self->st[i]);
		close(self->raw[i]);
	}
	close(self->nl.fd);
	close(self->g.nl.fd);
	close(self->ns);
}

/* a message with a number in @len bytes of data; its length */
static int message(uint32_t to, int from, uint32_t mark, int len)
{
	static uint8_t data[5000];

	memcpy(data, &mark, sizeof(mark));
	return pw_msg(tx, to, addr_of(from), PT_TEST, 0, 0, data, len);
}

/* the number in the next frame, -1: none came. @ns: its time, or NULL */
static long mark_of(int fd, uint64_t *ns, int ms)
{
	uint32_t mark;
	uint64_t at;
	int n = pw_timed_recv(fd, rx, sizeof(rx), &at, ms);

	if (n < 24 + 8)
		return -1;
	memcpy(&mark, rx + 16, sizeof(mark));
	if (ns)
		*ns = at;
	return mark;
}

#define SEND(who, to, mark, len) do {						\
	int n_ = message(to, who, mark, len);					\
	ASSERT_EQ(n_, pw_timed_send(self->raw[who], tx, n_, 0));		\
} while (0)
#define EXPECT_MARK(who, mark) EXPECT_EQ(mark, mark_of(self->raw[who], NULL, SOON))
#define EXPECT_NOTHING(who) EXPECT_EQ(-1, mark_of(self->raw[who], NULL, NEVER))

/* a time in ns of so many bits at 16 Mbit/s; halves are cut */
static bool is_bits(uint64_t ns, uint64_t bits)
{
	return ns * 2 + 2 >= bits * 125 && ns * 2 <= bits * 125 + 2;
}

TEST_F(passive, refusals)
{
	struct pw_link big = PW_LINK("big");

	big.san = SAN;
	big.mtu = 4073;
	EXPECT_EQ(-EINVAL, pw_link_add(&self->nl, &big));
	EXPECT_STREQ("mtu: a SAN with engine ring carries at most 4072 bytes", self->nl.ext);
	EXPECT_EQ(-EINVAL, pw_link_mtu(&self->nl, "s0", 4073));
	/* the largest one, whole */
	EXPECT_EQ(0, pw_link_mtu(&self->nl, "s0", 4072));
	EXPECT_EQ(0, pw_link_mtu(&self->nl, "s1", 4072));
	SEND(0, addr_of(1), 77, 4072);
	EXPECT_EQ(4096, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON));
	EXPECT_EQ(-EOPNOTSUPP,
		  san_set(&self->g, PACKETWAY_A_SAN_CLOCK, PACKETWAY_CLOCK_LOCKSTEP));
	EXPECT_STREQ("Lockstep needs virtual time: engine fast or rtl, real 0", self->g.nl.ext);
	EXPECT_EQ(-ERANGE, san_set(&self->g, PACKETWAY_A_SAN_RING_ENGINE, PACKETWAY_ENGINE_RING));
	EXPECT_EQ(-ERANGE, san_set(&self->g, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_RING + 1));
	/* on another SAN stations may have more, as long as it has another engine */
	big.san = 3;
	big.mtu = 9000;
	EXPECT_EQ(0, pw_link_add(&self->nl, &big));
	EXPECT_EQ(-EINVAL, pw_gsan_set2_of(&self->g, 3, PACKETWAY_A_SAN_ENGINE,
					   PACKETWAY_ENGINE_RING, 0, 0));
	EXPECT_STREQ("mtu: a SAN with engine ring carries at most 4072 bytes", self->g.nl.ext);
	EXPECT_EQ(0, pw_link_mtu(&self->nl, "big", 4072));
	EXPECT_EQ(0, pw_gsan_set2_of(&self->g, 3, PACKETWAY_A_SAN_ENGINE,
				     PACKETWAY_ENGINE_RING, 0, 0));
	EXPECT_EQ(-EINVAL, pw_link_mtu(&self->nl, "big", 4073));
	EXPECT_EQ(0, pw_gsan_set2_of(&self->g, 3, PACKETWAY_A_SAN_ENGINE,
				     PACKETWAY_ENGINE_NONE, 0, 0));
	EXPECT_EQ(0, pw_link_mtu(&self->nl, "big", 9000));
}

TEST_F(passive, one_and_many)
{
	uint64_t packets = STAT(0, "ring_packets");
	uint32_t group = PW_ADDR_LOGICAL_MIN + 5;
	int i, j;

	/* one, also to itself */
	for (i = 0; i < N; i++)
		for (j = 0; j < N; j++) {
			SEND(i, addr_of(j), i * N + j, 100);
			EXPECT_MARK(j, i * N + j);
		}
	for (i = 0; i < N; i++)
		EXPECT_NOTHING(i);
	EXPECT_EQ(packets + N * N, STAT(0, "ring_packets"));
	/* all others */
	SEND(1, PW_ADDR_BROADCAST, 1000, 100);
	for (i = 0; i < N; i++)
		if (i != 1)
			EXPECT_MARK(i, 1000);
	EXPECT_NOTHING(1);
	/* those that listen */
	ASSERT_EQ(0, pw_packet_join(self->raw[3], self->idx[3], PACKET_MR_MULTICAST, group, false));
	SEND(1, group, 1001, 100);
	EXPECT_MARK(3, 1001);
	EXPECT_NOTHING(0);
	EXPECT_NOTHING(2);
	/* one packet each, whatever the number of receivers */
	EXPECT_EQ(packets + N * N + 2, STAT(0, "ring_packets"));
	EXPECT_EQ(0, STAT(1, "drop_tx_lost"));
}

/* a receiver that goes down while the frame waits: its sender has it back, and answers */
TEST_F(passive, unclaimed)
{
	struct pw_hdr h;

	FREEZE(1);
	SEND(0, addr_of(2), 1, 100);
	SEND(0, addr_of(1), 2, 100);
	ASSERT_EQ(0, pw_link_down(&self->nl, "s2"));
	EXPECT_NOTHING(1);
	FREEZE(0);
	EXPECT_MARK(1, 2);
	ASSERT_GT(pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON), 24);
	pw_hdr_get(rx, &h);
	EXPECT_EQ(PW_PT_ERR, h.pt);
	EXPECT_EQ(PW_TE_ERR_UNK, h.te);
}

/*
 * A sender has the token once in a revolution, and gives it away when its packet is back: from
 * one of its frames to the next it takes the packet, a revolution, and the revolution of the
 * token.
 */
TEST_F(passive, times)
{
	static const int len[] = { 8, 104, 1000, 1496 };
	uint64_t at[3], from;
	uint32_t i, k;

	for (i = 0; i < ARRAY_SIZE(len); i++) {
		FREEZE(1);
		for (k = 0; k < 3; k++)
			SEND(0, addr_of(2), k, len[i]);
		FREEZE(0);
		for (k = 0; k < 3; k++)
			EXPECT_EQ(k, mark_of(self->raw[2], &at[k], SOON));
		for (k = 1; k < 3; k++)
			EXPECT_TRUE(is_bits(at[k] - at[k - 1], PASSIVE(len[i] + 24) + 2 * TURN));
	}
	/* the SAN's virtual time is that of the ring, and SO_TXTIME is in it */
	from = at[2] + 1000000000;
	k = message(addr_of(2), 0, 5, 100);
	ASSERT_EQ(k, pw_timed_send(self->raw[0], tx, k, from));
	EXPECT_EQ(5, mark_of(self->raw[2], &at[0], SOON));
	EXPECT_GT(at[0], from);
	EXPECT_LT(at[0], from + 100000);
}

#define CMDS 8

/* commands of @who whose results were awaited, in order; false: one is wrong */
static bool results(int fd, struct packetway_aton_result *r, uint64_t sum)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int got = 0, n;

	while (got < CMDS) {
		if (poll(&p, 1, SOON) != 1)
			return false;
		n = read(fd, r + got, (CMDS - got) * sizeof(*r));
		if (n <= 0 || n % sizeof(*r))
			return false;
		got += n / sizeof(*r);
	}
	for (n = 0; n < CMDS; n++)
		if (r[n].error || r[n].v1 != sum || r[n].counter != N)
			return false;
	return true;
}

/*
 * Commands of station 0 while others have frames to send: each of these sends one between two
 * commands. So the time from one result to the next is that of both packets, a revolution for
 * each, and one of the token.
 */
TEST_F(passive, commands_beside_frames)
{
	struct packetway_aton_command c[CMDS];
	struct packetway_aton_submit s = {
		.size = sizeof(s), .commands = (uintptr_t)c, .count = CMDS, .stride = sizeof(c[0]),
	};
	struct packetway_aton_result r[CMDS];
	int load, i, k, len = 1000;
	uint64_t bits, step;

	for (i = 0; i < N; i++)
		self->st[i].op->operand[0] = 10 + i;
	for (load = 0; load < N; load++) {
		FREEZE(1);
		for (i = 1; i <= load; i++)
			for (k = 0; k < CMDS; k++)
				SEND(i, addr_of((i + 1) % N), k, len);
		for (k = 0; k < CMDS; k++)
			c[k] = ring_cmd(PW_ATON_OP_ADD);
		ASSERT_EQ(0, ioctl(self->st[0].fd, PACKETWAY_IOC_ATON_SUBMIT, &s));
		ASSERT_EQ(CMDS, s.out_queued);
		FREEZE(0);
		ASSERT_TRUE(results(self->st[0].fd, r, 10 + 11 + 12 + 13));
		bits = ADD + TURN + TURN + load * (PASSIVE(len + 24) + TURN);
		for (k = 1; k < CMDS; k++) {
			EXPECT_EQ(ADD + N, r[k].ring_bits);
			step = r[k].wait + r[k].ring_bits - r[k - 1].wait - r[k - 1].ring_bits;
			EXPECT_EQ(bits, step);
		}
		TH_LOG("%d senders of %d bytes: %llu bit times from command to command", load, len,
		       (unsigned long long)step);
		for (i = 1; i <= load; i++)
			for (k = 0; k < CMDS; k++)
				EXPECT_MARK((i + 1) % N, k);
	}
}

typedef FIXTURE_DATA(passive) fixture;

/* bit time at which the standing command has first run, beside frames @gap ns apart */
static int first_idle(struct __test_metadata *_metadata, fixture *self, uint64_t gap,
		      uint64_t *idle, uint64_t *first, uint64_t *last)
{
	struct packetway_aton_stand s = {
		.size = sizeof(s), .op = PW_ATON_OP_ADD, .dst = PACKETWAY_ATON_RING_ALL,
		/* it runs once: the page has the time of the last run */
		.period = 100000000,
	};
	struct pollfd p = { .fd = self->st[0].fd, .events = POLLIN };
	struct packetway_aton_result r;
	uint64_t now, at;
	int i, k, n;

	SEND(3, addr_of(3), 0, 100);
	ASSERT_EQ(0, mark_of(self->raw[3], &now, SOON));
	FREEZE(1);
	ASSERT_EQ(0, ioctl(p.fd, PACKETWAY_IOC_ATON_STAND, &s));
	for (k = 0; k < 20; k++)
		for (i = 1; i < N; i++) {
			n = message(addr_of(0), i, k * N + i, 1000);
			ASSERT_EQ(n, pw_timed_send(self->raw[i], tx, n, now + k * gap));
		}
	FREEZE(0);
	*first = ~0ULL;
	*last = 0;
	for (k = 0; k < 20 * (N - 1); k++) {
		ASSERT_GE(mark_of(self->raw[0], &at, SOON), 0);
		*first = at < *first ? at : *first;
		*last = at > *last ? at : *last;
	}
	ASSERT_EQ(1, poll(&p, 1, SOON));
	ASSERT_EQ(sizeof(r), read(p.fd, &r, sizeof(r)));
	EXPECT_TRUE(r.flags & PACKETWAY_ATON_F_STANDING);
	*idle = self->st[0].res->standing.time * 125 / 2;
	s.op = 0;
	return ioctl(p.fd, PACKETWAY_IOC_ATON_STAND, &s);
}

/* an idle-time command waits until the frames leave it a revolution of the token */
TEST_F(passive, idle_time)
{
	uint64_t idle, first, last;

	ASSERT_EQ(0, first_idle(_metadata, self, 0, &idle, &first, &last));
	EXPECT_GT(idle, last);
	TH_LOG("saturated for %llu ns, idle-time command %lld ns later",
	       (unsigned long long)(last - first), (long long)(idle - last));
	/* three frames of 1000 bytes take 1.6 ms */
	ASSERT_EQ(0, first_idle(_metadata, self, 3000000, &idle, &first, &last));
	EXPECT_GT(idle, first);
	EXPECT_LT(idle, first + 3000000);
	TH_LOG("half loaded: idle-time command %lld ns after the first frame",
	       (long long)(idle - first));
}

/* more than may wait: what was taken arrives, in its order */
TEST_F(passive, backpressure)
{
	int sent, i, n, err = 0;

	FREEZE(1);
	for (sent = 0; sent < 10000; sent++) {
		n = message(addr_of(1), 0, sent, 8);
		if (send(self->raw[0], tx, n, MSG_DONTWAIT) != n) {
			err = errno;
			break;
		}
	}
	EXPECT_EQ(ENOBUFS, err);
	EXPECT_GE(sent, 256 + 1000);
	EXPECT_EQ(1, STAT(0, "eep_tx_stopped"));
	FREEZE(0);
	/* braces: an ASSERT is two statements, and ends a loop only from inside */
	for (i = 0; i < sent; i++) {
		ASSERT_EQ(i, mark_of(self->raw[1], NULL, SOON)) {
			TH_LOG("of %d", sent);
		}
	}
	EXPECT_NOTHING(1);
	EXPECT_EQ(0, STAT(0, "drop_tx_lost"));
}

/* frames that the ring damages are lost, and counted by the sender */
TEST_F(passive, faults)
{
	ASSERT_EQ(0, ring_fault(self->ns, SAN, "flip 1 200"));
	SEND(0, addr_of(2), 1, 100);
	EXPECT_SOON(1, STAT(0, "drop_tx_lost"));
	EXPECT_NOTHING(2);
	/* behind the receiver it does not matter */
	ASSERT_EQ(0, ring_fault(self->ns, SAN, "flip 3 200"));
	SEND(0, addr_of(2), 2, 100);
	EXPECT_MARK(2, 2);
	/* some of many receivers lack it */
	ASSERT_EQ(0, ring_fault(self->ns, SAN, "flip 1 200"));
	SEND(0, PW_ADDR_BROADCAST, 3, 100);
	EXPECT_SOON(2, STAT(0, "drop_tx_lost"));
	EXPECT_MARK(1, 3);
	EXPECT_NOTHING(2);
	SEND(0, addr_of(2), 4, 100);
	EXPECT_MARK(2, 4);
	EXPECT_EQ(2, STAT(0, "drop_tx_lost"));
}

/* a station goes with frames from it and to it on the ring */
TEST_F(passive, station_gone)
{
	uint64_t down = STAT(0, "ring_err_down");
	int i, k;

	for (k = 0; k < 2; k++) {
		FREEZE(1);
		for (i = 0; i < 300; i++) {
			SEND(1, i % 3 ? addr_of(2) : PW_ADDR_BROADCAST, i, 100);
			if (i < 50)
				SEND(2, addr_of(1), i, 100);
			if (i < 50)
				SEND(2, addr_of(3), i, 100);
		}
		if (k)
			FREEZE(0);
		ring_close(&self->st[1]);
		close(self->raw[1]);
		ASSERT_EQ(0, pw_link_del(&self->nl, "s1"));
		if (!k)
			EXPECT_EQ(down + 256, STAT(0, "ring_err_down"));
		FREEZE(0);
		for (i = 0; i < 50;) {
			long mark = mark_of(self->raw[3], NULL, SOON);

			ASSERT_GE(mark, 0);
			i += pw_get(rx + 13, 3) == addr_of(2);
		}
		/* its port is charged with none of them */
		ASSERT_EQ(0, pw_station_add(&self->nl, "s1", SAN, 1, -1));
		ASSERT_EQ(0, pw_link_up(&self->nl, "s1"));
		self->idx[1] = pw_link_index(&self->nl, "s1");
		ASSERT_EQ(0, ring_open(&self->st[1], self->idx[1]));
		self->raw[1] = pw_timed_open(self->ns, self->idx[1]);
		while (pw_recv(self->raw[0], rx, sizeof(rx), NULL, NEVER) >= 0)
			;
		FREEZE(1);
		for (i = 0; i < 255; i++)
			SEND(1, addr_of(0), i, 8);
		EXPECT_EQ(0, STAT(1, "eep_tx_stopped"));
		FREEZE(0);
		for (i = 0; i < 255; i++) {
			ASSERT_EQ(i, mark_of(self->raw[0], NULL, SOON));
		}
	}
}

/* frames of closed sockets on a frozen ring do not keep their namespace */
TEST_F(passive, namespace_gone)
{
	int ns = pw_ns_new(), i, fd;
	double end = pw_now() + SOON / 1000;
	struct pw_genl g;
	struct pw_nl nl;
	struct stat st;
	char path[128];

	ASSERT_GE(ns, 0);
	ASSERT_EQ(0, fstat(ns, &st));
	snprintf(path, sizeof(path), "/sys/kernel/debug/packetway/net%lu-san%d",
		 (unsigned long)st.st_ino, SAN);
	ASSERT_EQ(0, pw_nl_open(&nl, ns));
	ASSERT_EQ(0, pw_genl_open(&g, ns));
	ASSERT_EQ(0, pw_san_cmd(&g, PACKETWAY_CMD_SAN_NEW, SAN, 16, PACKETWAY_ENGINE_RING));
	ASSERT_EQ(0, san_set(&g, PACKETWAY_A_SAN_RING_ENGINE, variant->engine));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, pw_station_add(&nl, name[i], SAN, i, ns));
		ASSERT_EQ(0, pw_link_up(&nl, name[i]));
	}
	ASSERT_EQ(0, san_set(&g, PACKETWAY_A_SAN_FROZEN, 1));
	fd = pw_packet_open(ns, SOCK_RAW, ETH_P_PACKETWAY, pw_link_index(&nl, "s0"));
	ASSERT_GE(fd, 0);
	for (i = 0; i < 600; i++) {
		int n = message(addr_of(1), 0, i, 100);

		ASSERT_EQ(n, send(fd, tx, n, 0));
	}
	ASSERT_EQ(0, access(path, F_OK));
	close(fd);
	close(nl.fd);
	close(g.nl.fd);
	close(ns);
	while (!access(path, F_OK) && pw_now() < end)
		usleep(10000);
	EXPECT_NE(0, access(path, F_OK));
}

/* another engine gets the frames of this one, each once, and back */
TEST_F(passive, other_engines)
{
	static const int engine[] = {
		PACKETWAY_ENGINE_NONE, PACKETWAY_ENGINE_FAST, PACKETWAY_ENGINE_RTL,
	};
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);
	uint32_t e, i, frozen;

	for (e = 0; e < 2 * ARRAY_SIZE(engine); e++) {
		frozen = e % 2;
		FREEZE(frozen);
		for (i = 0; i < 100; i++) {
			SEND(0, addr_of(1), i, 1000);
			SEND(1, PW_ADDR_BROADCAST, 1000 + i, 100);
		}
		ASSERT_EQ(0, pw_gsan_set2_of(&self->g, SAN, PACKETWAY_A_SAN_ENGINE, engine[e / 2],
					     PACKETWAY_A_SAN_FROZEN, 0));
		for (i = 0; i < 100; i++) {
			ASSERT_EQ(i, mark_of(self->raw[1], NULL, SOON));
			ASSERT_EQ(1000 + i, mark_of(self->raw[0], NULL, SOON));
			ASSERT_EQ(1000 + i, mark_of(self->raw[3], NULL, SOON));
		}
		/* the ring is not frozen without this engine */
		FREEZE(1);
		EXPECT_EQ(0, ring_run(self->st[0].fd, &c));
		for (i = 0; i < 100; i++)
			SEND(2, addr_of(0), i, 100);
		ASSERT_EQ(0, pw_gsan_set2_of(&self->g, SAN, PACKETWAY_A_SAN_ENGINE,
					     PACKETWAY_ENGINE_RING, PACKETWAY_A_SAN_FROZEN, 0));
		for (i = 0; i < 100; i++)
			EXPECT_MARK(0, i);
		for (i = 0; i < 100; i++)
			EXPECT_MARK(2, 1000 + i);
		EXPECT_EQ(0, ring_run(self->st[0].fd, &c));
	}
	for (i = 0; i < N; i++)
		EXPECT_NOTHING(i);
	/* an engine of the ring takes them over, too */
	FREEZE(1);
	for (i = 0; i < 100; i++)
		SEND(0, addr_of(1), i, 100);
	ASSERT_EQ(0, san_set(&self->g, PACKETWAY_A_SAN_RING_ENGINE,
			     PACKETWAY_ENGINE_FAST + PACKETWAY_ENGINE_RTL - variant->engine));
	FREEZE(0);
	for (i = 0; i < 100; i++)
		EXPECT_MARK(1, i);
}

struct sender {
	int fd, from, count;
	bool stop;
};

/* frames by the thousand, to the next station */
static void *sends(void *arg)
{
	struct sender *s = arg;
	uint8_t b[200];

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		int n = pw_msg(b, addr_of(s->from + 1), addr_of(s->from), PT_TEST, 0, 0,
			       &s->count, 100);

		if (send(s->fd, b, n, 0) == n)
			s->count++;
		else
			usleep(1000);
	}
	return NULL;
}

/* both at once, as they come, while a station joins and leaves: each result is right */
TEST_F(passive, together)
{
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);
	long i, rounds = pw_count(200, 50), got = 0;
	struct sender s = { .fd = self->raw[1], .from = 1 };
	pthread_t thread;

	for (i = 0; i < N; i++)
		self->st[i].op->operand[0] = 10 + i;
	ASSERT_EQ(0, pthread_create(&thread, NULL, sends, &s));
	for (i = 0; i < rounds; i++) {
		ASSERT_EQ(0, ring_run(self->st[0].fd, &c));
		ASSERT_EQ(10 + 11 + 12 + 13, c.out_v1);
		if (i % 16 == 0) {
			ASSERT_EQ(0, pw_station_add(&self->nl, "x", SAN, 9, -1));
		} else if (i % 16 == 8) {
			ASSERT_EQ(0, pw_link_del(&self->nl, "x"));
		}
		while (got < s.count && mark_of(self->raw[2], NULL, 0) == got)
			got++;
	}
	__atomic_store_n(&s.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	for (; got < s.count; got++) {
		ASSERT_EQ(got, mark_of(self->raw[2], NULL, SOON));
	}
	EXPECT_NOTHING(2);
	EXPECT_EQ(0, STAT(1, "drop_tx_lost"));
	TH_LOG("%ld commands beside %ld frames", rounds, got);
}

/* a router between this SAN and one of cells */
TEST_F(passive, router)
{
	struct pw_link far = PW_LINK("far");
	struct pw_hdr h;
	uint32_t to = 3 * 256 + 1;
	int raw, n, i;

	far.san = 3;
	far.port = 0;
	far.mtu = 9000;
	ASSERT_EQ(0, pw_link_add(&self->nl, &far));
	ASSERT_EQ(0, pw_link_up(&self->nl, "far"));
	raw = pw_timed_open(self->ns, pw_link_index(&self->nl, "far"));
	ASSERT_GE(raw, 0);
	ASSERT_EQ(0, pw_router_add(&self->g, "r", (struct pw_half_req){ SAN, 12, -1 },
				   (struct pw_half_req){ 3, 5, -1 })) {
		TH_LOG("%s", self->g.nl.ext);
	}
	ASSERT_EQ(0, pw_wait_route(&self->g, SAN, to));
	ASSERT_EQ(0, pw_wait_route(&self->g, 3, addr_of(0)));
	for (i = 0; i < 100; i++) {
		SEND(0, to, i, 200);
		n = pw_msg(tx, addr_of(0), to, PT_TEST, 0, 0, &i, 200);
		ASSERT_EQ(n, pw_timed_send(raw, tx, n, 0));
	}
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(i, mark_of(raw, NULL, SOON));
		ASSERT_EQ(i, mark_of(self->raw[0], NULL, SOON));
	}
	/* the half-router knows what the ring carries */
	n = pw_msg(tx, addr_of(0), to, PT_TEST, 0, 0, rx, 5000);
	ASSERT_EQ(n, pw_timed_send(raw, tx, n, 0));
	ASSERT_GT(pw_recv(raw, rx, sizeof(rx), NULL, SOON), 24);
	pw_hdr_get(rx, &h);
	EXPECT_EQ(PW_PT_ERR, h.pt);
	EXPECT_EQ(PW_TE_ERR_TOOBIG, h.te);
	EXPECT_NOTHING(0);
	/* and is in no command */
	for (i = 0; i < N; i++)
		self->st[i].op->operand[0] = 1;
	{
		struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);

		EXPECT_EQ(0, ring_run(self->st[0].fd, &c));
		EXPECT_EQ(N, c.out_counter);
		EXPECT_EQ(ADD + N + 1, c.out_ring_bits);
	}
	close(raw);
}

TEST_HARNESS_MAIN
