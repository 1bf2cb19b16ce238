// SPDX-License-Identifier: GPL-2.0
/*
 * Reductions over the rings of three SANs, against plain values in this test: joined by
 * routers, and by trunks over the loopback device through relays that are threads of this test,
 * which count and lose what passes.
 *
 *   SAN 1 --- SAN 2
 *      \       /
 *        SAN 3
 */
#include "pwtest.h"
#include "pwrelay.h"
#include "pwreduce.h"
#include "pwharness.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <linux/capability.h>

#define SANS	3
#define PER	4		/* stations of a SAN */
#define ADDR(san, port) ((uint32_t)(san) * 256 + (port) + 1)

/* trunk k joins these; its ends are 2k and 2k + 1 */
static const int link_of[3][2] = { { 1, 2 }, { 2, 3 }, { 1, 3 } };

static struct pw_relay relay;
static volatile long reduced[3];	/* packets of reductions on each trunk */

static struct ring_if st[SANS + 1][PER];
static uint64_t x[SANS + 1][PER];	/* operands in register 2 */

/* nothing more is lost; packets of reductions are counted */
static bool count(int end, uint8_t *p, int len)
{
	if (p[2] == PW_RELAY_FRAME && len >= 40 && pw_get(p + 38, 2) == PW_PT_REDUCE)
		reduced[end / 2]++;
	return false;
}

static void operands(bool small)
{
	int s, i;

	for (s = 1; s <= SANS; s++)
		for (i = 0; i < PER; i++) {
			x[s][i] = small || pw_below(3) ? pw_below(9) : pw_rnd();
			__atomic_store_n(&st[s][i].op->operand[2], x[s][i], __ATOMIC_RELEASE);
		}
}

static struct packetway_aton_reduce command(unsigned int op)
{
	return (struct packetway_aton_reduce) {
		.size = sizeof(struct packetway_aton_reduce), .op = op, .reg = 2, .sans = SANS,
		.timeout_ms = pw_slow_kernel() ? 60000 : 20000,
	};
}

/* is a result that of the SANs in @mask, as they are? */
static const char *wrong(const struct packetway_aton_reduce *c, unsigned int mask)
{
	const struct pw_reduce_plain p = { .x = x[1], .sans = SANS, .per = PER };

	return pw_reduce_wrong(c, &p, mask);
}

static int all_stations(struct pw_nl *nl, int ns)
{
	char name[8];
	int s, i, err;

	for (s = 1; s <= SANS; s++)
		for (i = 0; i < PER; i++) {
			snprintf(name, sizeof(name), "s%d%d", s, i);
			err = pw_station_add(nl, name, s, i, ns) ?: pw_link_up(nl, name) ?:
			      ring_open(&st[s][i], pw_link_index(nl, name));
			if (err)
				return err;
		}
	return 0;
}

static int add_router(struct pw_genl *g, int k)
{
	char name[8];

	snprintf(name, sizeof(name), "r%d", k);
	return pw_router_add(g, name, (struct pw_half_req){ link_of[k][0], 10 + k, -1 },
			     (struct pw_half_req){ link_of[k][1], 10 + k, -1 });
}

static int add_trunk(struct pw_genl *g, int k)
{
	return pw_relay_trunk(g, k, link_of[k][0], link_of[k][1]);
}

/* all SANs have routes to all others */
static int wait_routes(struct pw_genl *g)
{
	int a, b, err = 0;

	for (a = 1; a <= SANS && !err; a++)
		for (b = 1; b <= SANS && !err; b++)
			if (a != b)
				err = pw_wait_route(g, a, ADDR(b, 0));
	return err;
}

static uint64_t half_sum(struct pw_genl *g, int stat)
{
	uint64_t sum = 0;
	char name[8];
	int e;

	for (e = 0; e < 6; e++) {
		snprintf(name, sizeof(name), "t%d", e);
		sum += pw_half_stat(g, name, 0, stat);
	}
	return sum;
}

FIXTURE(reduce) {
	int ns;
	struct pw_nl nl;
	struct pw_genl g;
};

FIXTURE_SETUP(reduce)
{
	ASSERT_EQ(0, unshare(CLONE_NEWNET));
	self->ns = pw_ns_self();
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_genl_open(&self->g, self->ns));
	ASSERT_EQ(0, pw_link_up(&self->nl, "lo"));
	memset((void *)reduced, 0, sizeof(reduced));
	relay = (struct pw_relay) { .drops = count };
	ASSERT_EQ(0, pw_relay_start(&relay, 6));
	ASSERT_EQ(0, all_stations(&self->nl, self->ns));
	operands(false);
}

FIXTURE_TEARDOWN(reduce)
{
	int s, i;

	pw_relay_stop(&relay);
	for (s = 1; s <= SANS; s++)
		for (i = 0; i < PER; i++)
			ring_close(&st[s][i]);
	close(self->nl.fd);
	close(self->g.nl.fd);
	close(self->ns);
}

/* @n random commands of random stations; how many failed. None is wrong */
#define RANDOM_COMMANDS(n, failed) do {							\
	long _i;									\
	for (_i = 0; _i < (n); _i++) {							\
		struct packetway_aton_reduce _c = command(PW_ATON_OP_ADD + pw_below(8));	\
		int _s = 1 + pw_below(SANS), _k = pw_below(PER), _err;			\
		const char *_w;								\
		if (pw_below(2))							\
			_c.mods |= PACKETWAY_ATON_SIGNED;				\
		if (pw_below(2)) {							\
			_c.mods |= PACKETWAY_ATON_COMPARAND;				\
			_c.comparand = pw_below(9);					\
		}									\
		operands(pw_below(2));							\
		_err = pw_reduce(st[_s][_k].fd, &_c);					\
		if (_err) {								\
			(failed)++;							\
			continue;							\
		}									\
		_w = wrong(&_c, 0xe);							\
		ASSERT_EQ(NULL, _w) {							\
			TH_LOG("command %ld, op %u: wrong %s", _i, _c.op, _w);		\
		}									\
		if (_c.op >= PW_ATON_OP_COUNT_EQ) {					\
			ASSERT_EQ(_c.mods & PACKETWAY_ATON_COMPARAND ? _c.comparand :	\
				  x[_s][_k], _c.out_v1);				\
		}									\
	}										\
} while (0)

/* what is refused, and that nothing else changes by it */
TEST_F(reduce, refusals)
{
	struct packetway_aton_reduce c = command(PW_ATON_OP_ADD);
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = {};
	struct packetway_info info = { .size = sizeof(info) };
	int fd = open(PW_DEV, O_RDWR | O_CLOEXEC);

	ASSERT_EQ(0, ioctl(fd, PACKETWAY_IOC_GET_INFO, &info));
	EXPECT_NE(0, (int)(info.out_features & PACKETWAY_FEATURE_REDUCE));
	EXPECT_EQ(-ENOTCONN, pw_reduce(fd, &c));
	close(fd);
	fd = st[1][0].fd;
	c.sans = 0;
	c.op = PW_ATON_OP_SORT;
	EXPECT_EQ(-EINVAL, pw_reduce(fd, &c));
	c.op = 0;
	EXPECT_EQ(-EINVAL, pw_reduce(fd, &c));
	c.op = PW_ATON_OP_ADD;
	c.reg = PACKETWAY_ATON_REGS;
	EXPECT_EQ(-EINVAL, pw_reduce(fd, &c));
	c.reg = 2;
	c.flags = 2;
	EXPECT_EQ(-EINVAL, pw_reduce(fd, &c));
	c.flags = 0;
	c.__reserved = 1;
	EXPECT_EQ(-EINVAL, pw_reduce(fd, &c));
	c.__reserved = 0;
	c.timeout_ms = PACKETWAY_ATON_REDUCE_MS_MAX + 1;
	EXPECT_EQ(-EINVAL, pw_reduce(fd, &c));
	c.timeout_ms = 0;
	c.size = sizeof(c) - 8;
	EXPECT_EQ(-EINVAL, pw_reduce(fd, &c));
	c.size = sizeof(c);
	/* without routers it is a command of the own ring */
	ASSERT_EQ(0, pw_reduce(fd, &c));
	EXPECT_EQ(NULL, wrong(&c, 1 << 1));
	EXPECT_EQ(0, c.out_missing);
	/* others are expected */
	c.sans = 3;
	EXPECT_EQ(-ENETUNREACH, pw_reduce(fd, &c));
	EXPECT_EQ(2, c.out_missing);
	EXPECT_EQ(PACKETWAY_ATON_R_ROUTE, c.out_reason);
	c.flags = PACKETWAY_ATON_REDUCE_PARTIAL;
	ASSERT_EQ(0, pw_reduce(fd, &c));
	EXPECT_EQ(NULL, wrong(&c, 1 << 1));
	EXPECT_EQ(2, c.out_missing);
	/* the ring itself fails */
	ASSERT_EQ(0, pw_link_down(&self->nl, "s10"));
	c.flags = 0;
	c.sans = 0;
	EXPECT_EQ(-ENETDOWN, pw_reduce(fd, &c));
	EXPECT_EQ(PACKETWAY_ATON_E_DOWN, c.out_error);
	ASSERT_EQ(0, syscall(SYS_capset, &h, none));
	EXPECT_EQ(-EPERM, pw_reduce(st[1][1].fd, &c));
}

/* half-routers are on the ring, and take no part in its commands */
TEST_F(reduce, not_counted)
{
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);
	uint64_t sum = x[1][0] + x[1][1] + x[1][2] + x[1][3];
	unsigned long long bits;

	c.reg = 2;
	ASSERT_EQ(0, ring_run(st[1][0].fd, &c));
	EXPECT_EQ(PER, c.out_counter);
	bits = c.out_ring_bits;
	ASSERT_EQ(0, add_router(&self->g, 0));
	ASSERT_EQ(0, add_router(&self->g, 2));
	ASSERT_EQ(0, ring_run(st[1][0].fd, &c));
	EXPECT_EQ(PER, c.out_counter);
	EXPECT_EQ(sum, c.out_v1);
	/* each delays the ring packet by a bit */
	EXPECT_EQ(bits + 2, c.out_ring_bits);
	ASSERT_EQ(0, pw_router_del(&self->g, "r0"));
	ASSERT_EQ(0, ring_run(st[1][0].fd, &c));
	EXPECT_EQ(bits + 1, c.out_ring_bits);
}

/* two SANs, then a triangle of routers on one host */
TEST_F(reduce, routers)
{
	struct packetway_aton_reduce c = command(PW_ATON_OP_ADD);
	long failed = 0;

	ASSERT_EQ(0, add_router(&self->g, 0));
	ASSERT_EQ(0, pw_wait_route(&self->g, 1, ADDR(2, 0)));
	ASSERT_EQ(0, pw_wait_route(&self->g, 2, ADDR(1, 0)));
	c.sans = 2;
	ASSERT_EQ(0, pw_reduce(st[2][1].fd, &c));
	EXPECT_EQ(NULL, wrong(&c, 6));
	ASSERT_EQ(0, add_router(&self->g, 1));
	ASSERT_EQ(0, add_router(&self->g, 2));
	ASSERT_EQ(0, wait_routes(&self->g));
	RANDOM_COMMANDS(pw_count(2000, 200), failed);
	EXPECT_EQ(0, failed);
}

/* a triangle of trunks: two packets on each of those that the tree has, none on the third */
TEST_F(reduce, trunks)
{
	struct packetway_aton_reduce c = command(PW_ATON_OP_ADD);
	long failed = 0, n = pw_count(1000, 100), i, packets;
	uint64_t asked, repeated;
	int k;

	for (k = 0; k < 3; k++)
		ASSERT_EQ(0, add_trunk(&self->g, k));
	ASSERT_EQ(0, wait_routes(&self->g));
	RANDOM_COMMANDS(n, failed);
	EXPECT_EQ(0, failed);
	asked = half_sum(&self->g, PACKETWAY_A_HALF_STAT_REDUCE_ASKED);
	repeated = half_sum(&self->g, PACKETWAY_A_HALF_STAT_REDUCE_REPEATED);
	packets = reduced[0] + reduced[1] + reduced[2];
	TH_LOG("%ld commands: %ld packets, %llu requests repeated", n, packets,
	       (unsigned long long)repeated);
	EXPECT_EQ(2 * n, (long)asked);
	/* a request that is repeated may be answered again */
	EXPECT_GE(packets, 4 * n);
	EXPECT_LE(packets, 4 * n + 2 * (long)repeated);
	/* one starter: the trunk between the other two is not used */
	reduced[0] = reduced[1] = reduced[2] = 0;
	for (i = 0; i < 20; i++)
		ASSERT_EQ(0, pw_reduce(st[1][0].fd, &c));
	repeated = half_sum(&self->g, PACKETWAY_A_HALF_STAT_REDUCE_REPEATED) - repeated;
	EXPECT_EQ(0, reduced[1]);
	EXPECT_LE(reduced[0] + reduced[2], 80 + 2 * (long)repeated);
	EXPECT_GE(reduced[0], 40);
	EXPECT_GE(reduced[2], 40);
}

/* some packets are lost, then many: right, or an error */
TEST_F(reduce, loss)
{
	long failed = 0, n = pw_count(400, 60);
	int k;

	for (k = 0; k < 3; k++)
		ASSERT_EQ(0, add_trunk(&self->g, k));
	ASSERT_EQ(0, wait_routes(&self->g));
	for (k = 0; k < 3; k++)
		relay.percent[k] = 1;
	RANDOM_COMMANDS(n, failed);
	EXPECT_EQ(0, failed);
	for (k = 0; k < 3; k++)
		relay.percent[k] = 20;
	RANDOM_COMMANDS(n / 10, failed);
	TH_LOG("%ld commands, %ld failed; %llu requests repeated", n + n / 10, failed,
	       (unsigned long long)half_sum(&self->g, PACKETWAY_A_HALF_STAT_REDUCE_REPEATED));
	EXPECT_NE(0, half_sum(&self->g, PACKETWAY_A_HALF_STAT_REDUCE_REPEATED));
	EXPECT_LE(failed, n / 20);
}

/* SAN 3 is behind SAN 2, and becomes silent: an error in time, or a result that says so */
TEST_F(reduce, silent)
{
	struct packetway_aton_reduce c = command(PW_ATON_OP_ADD);
	double start;

	ASSERT_EQ(0, add_router(&self->g, 0));
	ASSERT_EQ(0, add_trunk(&self->g, 1));
	ASSERT_EQ(0, wait_routes(&self->g));
	ASSERT_EQ(0, pw_reduce(st[1][0].fd, &c));
	EXPECT_EQ(NULL, wrong(&c, 0xe));
	relay.percent[1] = 100;
	c.timeout_ms = 1000;
	start = pw_now();
	EXPECT_NE(0, pw_reduce(st[1][0].fd, &c));
	EXPECT_LT(pw_now() - start, pw_slow_kernel() ? 100 : 20);
	EXPECT_EQ(1, c.out_missing);
	c.flags = PACKETWAY_ATON_REDUCE_PARTIAL;
	c.timeout_ms = pw_slow_kernel() ? 20000 : 4000;
	ASSERT_EQ(0, pw_reduce(st[1][0].fd, &c));
	EXPECT_EQ(NULL, wrong(&c, 6));
	EXPECT_EQ(1, c.out_missing);
	EXPECT_NE(PACKETWAY_ATON_R_NONE, c.out_reason);
}

static volatile bool go_on;
static volatile long ran, refused, bad;

/* commands of one station, as fast as they end */
static void *commands(void *arg)
{
	struct ring_if *r = arg;

	while (go_on) {
		struct packetway_aton_reduce c = command(PW_ATON_OP_ADD + pw_below(5));
		int err;

		c.timeout_ms = 2000;
		err = pw_reduce(r->fd, &c);
		if (err)
			__atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
		else if (wrong(&c, 0xe))
			__atomic_add_fetch(&bad, 1, __ATOMIC_RELAXED);
		else
			__atomic_add_fetch(&ran, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* a router is deleted and made again while commands run from everywhere */
TEST_F(reduce, deleted)
{
	struct packetway_aton_reduce c = command(PW_ATON_OP_ADD);
	long n = pw_count(20, 5), i, before;
	pthread_t t[SANS];

	ASSERT_EQ(0, add_router(&self->g, 0));
	ASSERT_EQ(0, add_router(&self->g, 1));
	ASSERT_EQ(0, wait_routes(&self->g));
	go_on = true;
	for (i = 0; i < SANS; i++)
		ASSERT_EQ(0, pthread_create(&t[i], NULL, commands, &st[i + 1][0]));
	for (i = 0; i < n; i++) {
		before = ran;
		EXPECT_SOON(true, ran > before + 3);
		ASSERT_EQ(0, pw_router_del(&self->g, "r1"));
		before = refused;
		EXPECT_SOON(true, refused > before + 3);
		ASSERT_EQ(0, add_router(&self->g, 1));
	}
	before = ran;
	EXPECT_SOON(true, ran > before + 3);
	go_on = false;
	for (i = 0; i < SANS; i++)
		pthread_join(t[i], NULL);
	TH_LOG("%ld right, %ld refused, %ld wrong", ran, refused, bad);
	EXPECT_EQ(0, bad);
	ASSERT_EQ(0, pw_reduce(st[3][0].fd, &c));
	EXPECT_EQ(NULL, wrong(&c, 0xe));
}

static volatile int reached[SANS + 1];
static volatile int ahead;
#define ROUNDS	pw_count(60, 10)

/* a barrier: all have stored the number of the round when its minimum says so */
static void *barrier(void *arg)
{
	int san = (long)arg, round, s, rounds = ROUNDS;
	struct packetway_aton_reduce c;

	for (round = 1; round <= rounds; round++) {
		reached[san] = round;
		__atomic_store_n(&st[san][0].op->operand[3], round, __ATOMIC_RELEASE);
		do {
			c = command(PW_ATON_OP_MIN);
			c.reg = 3;
			if (pw_reduce(st[san][0].fd, &c))
				return (void *)1;
		} while ((int)c.out_v1 < round);
		for (s = 1; s <= SANS; s++)
			if (reached[s] < round)
				__atomic_add_fetch(&ahead, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST_F(reduce, barrier)
{
	pthread_t t[SANS + 1];
	void *ret;
	long s;
	int i;

	ASSERT_EQ(0, add_router(&self->g, 0));
	ASSERT_EQ(0, add_trunk(&self->g, 1));
	ASSERT_EQ(0, wait_routes(&self->g));
	for (s = 1; s <= SANS; s++)
		for (i = 0; i < PER; i++)
			st[s][i].op->operand[3] = i ? 1000000 : 0;
	for (s = 1; s <= SANS; s++)
		ASSERT_EQ(0, pthread_create(&t[s], NULL, barrier, (void *)s));
	for (s = 1; s <= SANS; s++) {
		pthread_join(t[s], &ret);
		EXPECT_EQ(NULL, ret);
	}
	EXPECT_EQ(0, ahead);
}

/* stations cannot ask a half-router, nor answer for one, also not by way of the other half */
TEST_F(reduce, forged)
{
	uint8_t body[64] = { 1, 1, PW_ATON_OP_ADD, 0, 2, 4, 0, 1 }, b[256];
	struct packetway_aton_reduce c = command(PW_ATON_OP_ADD);
	int fd, len;

	ASSERT_EQ(0, add_router(&self->g, 0));
	ASSERT_EQ(0, pw_wait_route(&self->g, 1, ADDR(2, 0)));
	pw_put(body + 8, 8, 77);
	pw_put(body + 16, 8, 64);
	pw_put(body + 32, 4, 1000);
	pw_put(body + 40, 4, 512);
	fd = pw_packet_open(self->ns, SOCK_RAW, ETH_P_PACKETWAY, pw_link_index(&self->nl, "s10"));
	ASSERT_GE(fd, 0);
	len = pw_msg(b, ADDR(1, 10), ADDR(1, 0), PW_PT_REDUCE, PW_TE_REDUCE_ASK, 0, body, 44);
	ASSERT_EQ(len, send(fd, b, len, 0));
	EXPECT_SOON(1, pw_half_stat(&self->g, "r0", 0, PACKETWAY_A_HALF_STAT_REDUCE_DROPPED));
	/* as if it came from the peer half */
	len = pw_msg(b, ADDR(2, 10), ADDR(1, 10), PW_PT_REDUCE, PW_TE_REDUCE_ASK, 0, body, 44);
	ASSERT_EQ(len, send(fd, b, len, 0));
	EXPECT_SOON(1, pw_half_stat(&self->g, "r0", 1, PACKETWAY_A_HALF_STAT_REDUCE_DROPPED));
	EXPECT_EQ(0, pw_half_stat(&self->g, "r0", 1, PACKETWAY_A_HALF_STAT_REDUCE_ANSWERED));
	close(fd);
	c.sans = 2;
	ASSERT_EQ(0, pw_wait_route(&self->g, 2, ADDR(1, 0)));
	ASSERT_EQ(0, pw_reduce(st[1][0].fd, &c));
	EXPECT_EQ(NULL, wrong(&c, 6));
}

/* the station goes while its command waits for a SAN that is silent */
TEST_F(reduce, station_goes)
{
	pthread_t t;
	int i;

	ASSERT_EQ(0, add_router(&self->g, 0));
	ASSERT_EQ(0, add_trunk(&self->g, 1));
	ASSERT_EQ(0, wait_routes(&self->g));
	relay.percent[1] = 100;
	go_on = true;
	ASSERT_EQ(0, pthread_create(&t, NULL, commands, &st[1][0]));
	for (i = 0; i < PER; i++) {
		char name[8];

		usleep(200000);
		snprintf(name, sizeof(name), "s1%d", i);
		ASSERT_EQ(0, pw_link_del(&self->nl, name));
	}
	ASSERT_EQ(0, pw_router_del(&self->g, "r0"));
	go_on = false;
	pthread_join(t, NULL);
	EXPECT_EQ(0, bad);
}

static void *long_command(void *arg)
{
	struct packetway_aton_reduce c = command(PW_ATON_OP_ADD);

	c.sans = 0;
	c.timeout_ms = 60000;
	*(int *)arg = pw_reduce(st[1][0].fd, &c);
	return NULL;
}

static void nothing(int sig)
{
}

/* programs that are interrupted leave reductions behind, which wait: not without limit */
TEST_F(reduce, left_behind)
{
	const struct itimerval soon = { { 0, 200 }, { 0, 200 } }, never = {};
	const struct sigaction quiet = { .sa_handler = nothing };
	struct packetway_aton_reduce c;
	int i, err = 0, ended[4];
	pthread_t t[4];
	sigset_t set;

	ASSERT_EQ(0, ring_san_set(self->ns, 1, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_RING));
	ASSERT_EQ(0, ring_san_set(self->ns, 1, PACKETWAY_A_SAN_FROZEN, 1));
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&t[i], NULL, long_command, &ended[i]));
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	sigaction(SIGALRM, &quiet, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	for (i = 0; i < 2000 && (!err || err == -EINTR); i++) {
		c = command(PW_ATON_OP_ADD);
		c.sans = 0;
		c.timeout_ms = 60000;
		err = pw_reduce(st[1][1].fd, &c);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	EXPECT_EQ(-EBUSY, err);
	EXPECT_LE(1000, i);
	ASSERT_EQ(0, ring_san_set(self->ns, 1, PACKETWAY_A_SAN_FROZEN, 0));
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		EXPECT_EQ(0, ended[i]);
	}
	/* those that nothing waits for go, and there is room again */
	c = command(PW_ATON_OP_ADD);
	c.sans = 0;
	ASSERT_EQ(0, pw_reduce(st[1][1].fd, &c));
	EXPECT_EQ(NULL, wrong(&c, 2));
}

TEST_HARNESS_MAIN
