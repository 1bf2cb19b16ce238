// SPDX-License-Identifier: GPL-2.0
/*
 * ATON by /dev/packetway: commands against a plain loop, regions, batches, mapped
 * registers, standing commands, ring-only interfaces, faults; negatives first.
 */
#include <pthread.h>

#include "pwharness.h"

#include "pwring.h"

#define N 8

FIXTURE(aton) {
	int ns;
	struct pw_nl nl;
	struct ring_if st[N];
};

/* eight stations on SAN 2 of a namespace of their own, up */
FIXTURE_SETUP(aton)
{
	char name[16];

	self->ns = pw_ns_new();
	ASSERT_GE(self->ns, 0);
	ASSERT_EQ(0, setns(self->ns, CLONE_NEWNET));
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		ASSERT_EQ(0, pw_station_add(&self->nl, name, 2, i, -1)) {
			TH_LOG("%s", self->nl.ext);
		}
		ASSERT_EQ(0, pw_link_up(&self->nl, name));
		ASSERT_EQ(0, ring_open(&self->st[i], pw_link_index(&self->nl, name)));
	}
}

FIXTURE_TEARDOWN(aton)
{
	for (int i = 0; i < N; i++)
		ring_close(&self->st[i]);
	close(self->nl.fd);
	close(self->ns);
}

static uint64_t addr_of(int i)
{
	return 2 * 256 + i + 1;
}

/* what the ring must find, from station @t on, in ring order */
struct expect {
	uint64_t v1, v2, counter;
	bool overflow;
};

static struct expect oracle(const uint64_t *x, int t, unsigned int op, bool sgn)
{
	struct expect e = { .v1 = x[t], .counter = N };

	if (op == PW_ATON_OP_MAX || op == PW_ATON_OP_MIN)
		e.v2 = addr_of(t);
	for (int k = 0; k < N; k++) {
		uint64_t y = x[(t + k) % N], a = x[t], b = y, m = e.v1;

		if (sgn) {
			a ^= 1ULL << 63;
			b ^= 1ULL << 63;
			m ^= 1ULL << 63;
		}
		switch (op) {
		case PW_ATON_OP_ADD:
			if (k) {
				e.overflow |= e.v1 + y < y;
				e.v1 += y;
			}
			break;
		case PW_ATON_OP_AND:
			e.v1 &= y;
			break;
		case PW_ATON_OP_OR:
			e.v1 |= y;
			break;
		case PW_ATON_OP_MAX:
			if (b >= m) {
				e.v1 = y;
				e.v2 = addr_of((t + k) % N);
			}
			break;
		case PW_ATON_OP_MIN:
			if (b <= m) {
				e.v1 = y;
				e.v2 = addr_of((t + k) % N);
			}
			break;
		case PW_ATON_OP_COUNT_EQ:
			e.v2 += a == b;
			break;
		case PW_ATON_OP_COUNT_LT:
			e.v2 += a < b;
			break;
		case PW_ATON_OP_COUNT_LE:
			e.v2 += a <= b;
			break;
		}
	}
	return e;
}

TEST_F(aton, refusals)
{
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);
	uint64_t out[4];
	int fd;

	fd = open(PW_DEV, O_RDWR | O_CLOEXEC);
	ASSERT_GE(fd, 0);
	EXPECT_EQ(-ENOTCONN, ring_run(fd, &c));
	close(fd);
	fd = self->st[0].fd;

	c.op = 0;
	EXPECT_EQ(-EINVAL, ring_run(fd, &c));
	c.op = 9;
	EXPECT_EQ(-EOPNOTSUPP, ring_run(fd, &c));
	c.op = 256 + PW_ATON_OP_ADD;
	EXPECT_EQ(-EINVAL, ring_run(fd, &c));
	c = ring_cmd(PW_ATON_OP_ADD);
	c.reg = PACKETWAY_ATON_REGS;
	EXPECT_EQ(-EINVAL, ring_run(fd, &c));
	c = ring_cmd(PW_ATON_OP_ADD);
	c.mods = 8;
	EXPECT_EQ(-EINVAL, ring_run(fd, &c));
	c = ring_cmd(PW_ATON_OP_ADD);
	c.flags = 1;
	EXPECT_EQ(-EINVAL, ring_run(fd, &c));
	c = ring_cmd(PW_ATON_OP_ADD);
	c.dst = 0x1000000;
	EXPECT_EQ(-EINVAL, ring_run(fd, &c));
	c = ring_cmd(PW_ATON_OP_ADD);
	c.heights = 1;
	EXPECT_EQ(-EINVAL, ring_run(fd, &c));
	c = ring_cmd(PW_ATON_OP_ADD);
	c.data = (uintptr_t)out;
	EXPECT_EQ(-EINVAL, ring_run(fd, &c));
	c = ring_cmd(PW_ATON_OP_SORT);
	EXPECT_EQ(-EINVAL, ring_run(fd, &c));
	c.room = PACKETWAY_ATON_SORT_MAX + 1;
	c.data = (uintptr_t)out;
	EXPECT_EQ(-EINVAL, ring_run(fd, &c));
	c.room = 4;		/* eight operands do not fit */
	EXPECT_EQ(-EMSGSIZE, ring_run(fd, &c));
	EXPECT_EQ(PACKETWAY_ATON_E_ROOM, c.out_error);
	c = ring_cmd(PW_ATON_OP_TREE);
	c.heights = PACKETWAY_ATON_HEIGHTS + 1;
	EXPECT_EQ(-EINVAL, ring_run(fd, &c));
	c.heights = 2;		/* eight leaves need three */
	c.ops[0] = c.ops[1] = PW_ATON_OP_ADD;
	EXPECT_EQ(-EINVAL, ring_run(fd, &c));
	EXPECT_EQ(PACKETWAY_ATON_E_SHAPE, c.out_error);
	c = ring_cmd(PW_ATON_OP_SORT);
	c.room = N;
	c.data = 8;		/* no such memory */
	EXPECT_EQ(-EFAULT, ring_run(fd, &c));
}

TEST_F(aton, basic_commands_both_engines)
{
	static const unsigned int ops[] = { PW_ATON_OP_ADD, PW_ATON_OP_AND, PW_ATON_OP_OR,
		PW_ATON_OP_MAX, PW_ATON_OP_MIN, PW_ATON_OP_COUNT_EQ, PW_ATON_OP_COUNT_LT,
		PW_ATON_OP_COUNT_LE };
	static const unsigned int engines[] = { PACKETWAY_ENGINE_FAST, PACKETWAY_ENGINE_RTL };
	long rounds = pw_count(60, 6);
	uint64_t x[N];

	for (int e = 0; e < 2; e++) {
		ASSERT_EQ(0, ring_san_set(self->ns, 2, PACKETWAY_A_SAN_RING_ENGINE, engines[e]));
		for (long r = 0; r < rounds; r++) {
			int t = pw_below(N), reg = pw_below(PACKETWAY_ATON_REGS);
			bool small = pw_below(2), sgn = pw_below(2);

			for (int i = 0; i < N; i++) {
				x[i] = small ? pw_below(3) : pw_rnd();
				self->st[i].op->operand[reg] = x[i];
			}
			for (int o = 0; o < 8; o++) {
				struct packetway_aton_command c = ring_cmd(ops[o]);
				struct expect want = oracle(x, t, ops[o], sgn);

				c.reg = reg;
				c.mods = sgn ? PACKETWAY_ATON_SIGNED : 0;
				ASSERT_EQ(0, ring_run(self->st[t].fd, &c));
				ASSERT_EQ(want.counter, c.out_counter);
				ASSERT_EQ(want.v1, c.out_v1) {
					TH_LOG("engine %d op %u t %d signed %d", e, ops[o], t, sgn);
				}
				ASSERT_EQ(want.v2, c.out_v2) {
					TH_LOG("engine %d op %u t %d signed %d", e, ops[o], t, sgn);
				}
				ASSERT_EQ(want.overflow,
					  !!(c.out_flags & PACKETWAY_ATON_F_OVERFLOW));
				/* 272 bits and one per interface */
				ASSERT_EQ(272 + N, c.out_ring_bits);
			}
		}
	}
}

TEST_F(aton, one_packet_per_reduction)
{
	int ctl = pw_ns_socket(self->ns, AF_INET, SOCK_DGRAM, 0);
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);
	uint64_t before = pw_stat(ctl, "s0", "ring_packets");

	ASSERT_EQ(0, ring_run(self->st[3].fd, &c));
	EXPECT_EQ(before + 1, pw_stat(ctl, "s0", "ring_packets"));
	close(ctl);
}

TEST_F(aton, regions)
{
	struct packetway_aton_command c;
	struct packetway_aton_set s = { .size = sizeof(s), .flags = PACKETWAY_ATON_SET_GROUP };

	for (int i = 0; i < N; i++) {
		self->st[i].op->operand[0] = 100 + i;
		s.group = i & 1 ? 0x4 : 0x1;
		ASSERT_EQ(0, ioctl(self->st[i].fd, PACKETWAY_IOC_ATON_SET, &s));
	}
	/* one interface: reads its operand */
	c = ring_cmd(PW_ATON_OP_ADD);
	c.dst = addr_of(5);
	ASSERT_EQ(0, ring_run(self->st[1].fd, &c));
	EXPECT_EQ(1, c.out_counter);
	EXPECT_EQ(105, c.out_v1);
	/* a group: the odd ones */
	c = ring_cmd(PW_ATON_OP_ADD);
	c.dst = 0xe00004;
	ASSERT_EQ(0, ring_run(self->st[0].fd, &c));
	EXPECT_EQ(4, c.out_counter);
	EXPECT_EQ(101 + 103 + 105 + 107, c.out_v1);
	/* to no interface */
	c = ring_cmd(PW_ATON_OP_ADD);
	c.dst = 0xe00008;
	ASSERT_EQ(0, ring_run(self->st[0].fd, &c));
	EXPECT_EQ(0, c.out_counter);
	EXPECT_FALSE(c.out_flags & PACKETWAY_ATON_F_RECOGNISED);
	/* a station that is down takes no part and is not counted */
	ASSERT_EQ(0, pw_link_down(&self->nl, "s7"));
	c = ring_cmd(PW_ATON_OP_ADD);
	ASSERT_EQ(0, ring_run(self->st[0].fd, &c));
	EXPECT_EQ(N - 1, c.out_counter);
	EXPECT_EQ(-ENETDOWN, ring_run(self->st[7].fd, &c));
}

TEST_F(aton, sort_majority_tree)
{
	static const uint64_t x[N] = { 7, 3, 7, 9, 7, 7, 1, 7 };
	static const uint64_t sorted[N] = { 1, 3, 7, 7, 7, 7, 7, 9 };
	uint64_t out[N], candidate = 0;
	struct packetway_aton_command c;
	uint32_t parts[64];

	for (int i = 0; i < N; i++)
		self->st[i].op->operand[0] = x[i];
	c = ring_cmd(PW_ATON_OP_SORT);
	c.room = N;
	c.data = (uintptr_t)out;
	ASSERT_EQ(0, ring_run(self->st[2].fd, &c));
	EXPECT_EQ(N, c.out_counter);
	EXPECT_EQ(0, memcmp(out, sorted, sizeof(out)));

	c = ring_cmd(PW_ATON_OP_BITSUM);
	c.room = 64;
	c.data = (uintptr_t)parts;
	ASSERT_EQ(0, ring_run(self->st[2].fd, &c));
	for (int b = 0; b < 64; b++)
		if (parts[b] > N / 2)
			candidate |= 1ULL << b;
	c = ring_cmd(PW_ATON_OP_COUNT_EQ);
	c.mods = PACKETWAY_ATON_COMPARAND;
	c.comparand = candidate;
	ASSERT_EQ(0, ring_run(self->st[2].fd, &c));
	EXPECT_EQ(7, candidate);
	EXPECT_EQ(5, c.out_v2);

	/* max of sums of pairs of sums */
	c = ring_cmd(PW_ATON_OP_TREE);
	c.heights = 3;
	c.ops[0] = c.ops[1] = PW_ATON_OP_ADD;
	c.ops[2] = PW_ATON_OP_MAX;
	ASSERT_EQ(0, ring_run(self->st[0].fd, &c));
	EXPECT_EQ(7 + 3 + 7 + 9, c.out_v1);
}

TEST_F(aton, batch)
{
	struct packetway_aton_command c[32];
	struct packetway_aton_submit s = {
		.size = sizeof(s), .commands = (uintptr_t)c, .count = 32, .stride = sizeof(c[0]),
	};
	struct packetway_aton_result r[64];
	struct pollfd p = { .fd = self->st[4].fd, .events = POLLIN };
	int got = 0, n, queued = 0;
	uint64_t sum = 0;

	EXPECT_EQ(0, fcntl(p.fd, F_SETFL, O_NONBLOCK));
	EXPECT_EQ(-1, read(p.fd, r, sizeof(r)));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(0, poll(&p, 1, 0));
	for (int i = 0; i < N; i++)
		self->st[i].op->operand[1] = i;
	for (int i = 0; i < 32; i++) {
		c[i] = ring_cmd(PW_ATON_OP_ADD);
		c[i].reg = 1;
		c[i].user_data = 1000 + i;
	}
	/* one bad apple: what is before it is queued */
	c[20].deadline = 1;
	ASSERT_EQ(0, ioctl(p.fd, PACKETWAY_IOC_ATON_SUBMIT, &s));
	EXPECT_EQ(20, s.out_queued);
	while (got < 20) {
		ASSERT_EQ(1, poll(&p, 1, SOON));
		n = read(p.fd, r, sizeof(r));
		ASSERT_GT(n, 0);
		ASSERT_EQ(0, n % sizeof(r[0]));
		for (int i = 0; i < n / (int)sizeof(r[0]); i++) {
			EXPECT_EQ(1000 + got + i, r[i].user_data);
			EXPECT_EQ(0, r[i].error);
			EXPECT_EQ(28, r[i].v1);
			sum += r[i].counter;
		}
		got += n / sizeof(r[0]);
	}
	EXPECT_EQ(20 * N, sum);
	/* unread results count: the bound holds */
	c[20].deadline = 0;
	for (int i = 0; i < 40; i++) {
		if (ioctl(p.fd, PACKETWAY_IOC_ATON_SUBMIT, &s)) {
			EXPECT_EQ(EBUSY, errno);
			break;
		}
		queued += s.out_queued;
	}
	EXPECT_EQ(PACKETWAY_ATON_QUEUE, queued);
}

TEST_F(aton, mapped_registers)
{
	long page = sysconf(_SC_PAGESIZE);
	struct packetway_aton_get g = { .size = sizeof(g) };
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_MAX);
	const struct packetway_aton_slot *slot = &self->st[1].res->command;

	EXPECT_EQ(MAP_FAILED, mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED,
				   self->st[1].fd, page));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect((void *)self->st[1].res, page, PROT_READ | PROT_WRITE));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, page, PROT_READ, MAP_SHARED, self->st[1].fd, 2 * page));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, page, PROT_READ, MAP_PRIVATE, self->st[1].fd, 0));

	self->st[6].op->operand[9] = ~0ULL;
	c.reg = 9;
	ASSERT_EQ(0, ring_run(self->st[1].fd, &c));
	EXPECT_EQ(0, slot->seq & 1);
	EXPECT_EQ(1, slot->runs);
	EXPECT_EQ(~0ULL, slot->v1);
	EXPECT_EQ(addr_of(6), slot->v2);
	ASSERT_EQ(0, ioctl(self->st[1].fd, PACKETWAY_IOC_ATON_GET, &g));
	EXPECT_EQ(~0ULL, g.out_v1);
	EXPECT_EQ(addr_of(1), g.out_id);
	EXPECT_EQ(N, g.out_interfaces);
	/* the pages outlive the station */
	ASSERT_EQ(0, pw_link_del(&self->nl, "s1"));
	EXPECT_EQ(~0ULL, slot->v1);
	self->st[1].op->operand[0] = 1;
	EXPECT_EQ(-ENODEV, ring_run(self->st[1].fd, &c));
}

TEST_F(aton, mapped_group)
{
	struct packetway_aton_set s = { .size = sizeof(s), .flags = PACKETWAY_ATON_SET_GROUP };
	struct packetway_aton_get g = { .size = sizeof(g) };
	struct packetway_aton_command c;

	for (int e = 0; e < 2; e++) {
		ASSERT_EQ(0, ring_san_set(self->ns, 2, PACKETWAY_A_SAN_RING_ENGINE,
					  e ? PACKETWAY_ENGINE_RTL : PACKETWAY_ENGINE_FAST));
		for (int i = 0; i < N; i++) {
			self->st[i].op->operand[0] = 100 + i;
			self->st[i].op->group = i < 3 ? 0x80001 : 0x2;
		}
		/* a bit of no group selects no interface */
		self->st[4].op->group = 0xfff00000;
		c = ring_cmd(PW_ATON_OP_ADD);
		c.dst = 0xe80000;
		ASSERT_EQ(0, ring_run(self->st[5].fd, &c));
		EXPECT_EQ(3, c.out_counter);
		EXPECT_EQ(100 + 101 + 102, c.out_v1);
		c.dst = 0xefffff;
		ASSERT_EQ(0, ring_run(self->st[4].fd, &c));
		EXPECT_EQ(N - 1, c.out_counter);
		/* the same register by ioctl */
		ASSERT_EQ(0, ioctl(self->st[4].fd, PACKETWAY_IOC_ATON_GET, &g));
		EXPECT_EQ(0, g.out_group);
		s.group = 0x12345;
		ASSERT_EQ(0, ioctl(self->st[4].fd, PACKETWAY_IOC_ATON_SET, &s));
		EXPECT_EQ(0x12345, self->st[4].op->group);
		ASSERT_EQ(0, ioctl(self->st[4].fd, PACKETWAY_IOC_ATON_GET, &g));
		EXPECT_EQ(0x12345, g.out_group);
	}
	/* another engine, the same registers */
	ASSERT_EQ(0, ring_san_set(self->ns, 2, PACKETWAY_A_SAN_RING_ENGINE, PACKETWAY_ENGINE_FAST));
	c.dst = 0xe00001;
	ASSERT_EQ(0, ring_run(self->st[0].fd, &c));
	EXPECT_EQ(4, c.out_counter);
}

struct adder {
	struct ring_if *r;
	int rank, err;
	uint64_t rounds;
	pthread_t thread;
};

static void *add_up(void *arg)
{
	struct adder *a = arg;
	uint64_t round, sum;

	for (round = 1; round <= a->rounds && !a->err; round++) {
		a->err = ring_sum_of_all(a->r, N, round, round << 8 | a->rank, &sum);
		if (!a->err && sum != (round << 8) * N + N * (N - 1) / 2)
			a->err = -EBADMSG;
	}
	return NULL;
}

/* stores without a lock; no count includes an interface without its operand */
TEST_F(aton, sums_that_tell_who_is_there)
{
	struct adder a[N];

	for (int e = 0; e < 2; e++) {
		ASSERT_EQ(0, ring_san_set(self->ns, 2, PACKETWAY_A_SAN_RING_ENGINE,
					  e ? PACKETWAY_ENGINE_RTL : PACKETWAY_ENGINE_FAST));
		for (int i = 0; i < N; i++) {
			a[i] = (struct adder){ .r = &self->st[i], .rank = i,
					       .rounds = pw_count(e ? 20 : 300, 5) };
			self->st[i].op->group = 0;
		}
		for (int i = 0; i < N; i++)
			ASSERT_EQ(0, pthread_create(&a[i].thread, NULL, add_up, &a[i]));
		for (int i = 0; i < N; i++) {
			pthread_join(a[i].thread, NULL);
			EXPECT_EQ(0, a[i].err);
		}
	}
}

TEST_F(aton, standing)
{
	struct packetway_aton_stand s = {
		.size = sizeof(s), .op = PW_ATON_OP_ADD, .dst = PACKETWAY_ATON_RING_ALL,
		.period = PACKETWAY_ATON_PERIOD_MIN - 1, .user_data = 77,
	};
	const volatile struct packetway_aton_slot *slot = &self->st[0].res->standing;
	struct pollfd p = { .fd = self->st[0].fd, .events = POLLIN };
	struct packetway_aton_result r;
	uint64_t runs;

	EXPECT_EQ(-1, ioctl(p.fd, PACKETWAY_IOC_ATON_STAND, &s));
	EXPECT_EQ(EINVAL, errno);
	s.period = 2000;
	s.op = PW_ATON_OP_SORT;
	EXPECT_EQ(-1, ioctl(p.fd, PACKETWAY_IOC_ATON_STAND, &s));
	s.op = PW_ATON_OP_ADD;
	for (int i = 0; i < N; i++)
		self->st[i].op->operand[0] = 1;
	ASSERT_EQ(0, ioctl(p.fd, PACKETWAY_IOC_ATON_STAND, &s));
	ASSERT_EQ(1, poll(&p, 1, SOON));
	ASSERT_EQ(sizeof(r), read(p.fd, &r, sizeof(r)));
	EXPECT_TRUE(r.flags & PACKETWAY_ATON_F_STANDING);
	EXPECT_EQ(77, r.user_data);
	EXPECT_EQ(N, r.v1);
	/* no news while nothing changes, though it goes on running */
	runs = slot->runs;
	EXPECT_EQ(0, poll(&p, 1, 100));
	EXPECT_GT(slot->runs, runs);
	self->st[5].op->operand[0] = 101;
	ASSERT_EQ(1, poll(&p, 1, SOON));
	ASSERT_EQ(sizeof(r), read(p.fd, &r, sizeof(r)));
	EXPECT_EQ(N + 100, r.v1);
	/* the first result of another one is news, also if it is that of the one before */
	s.user_data = 78;
	ASSERT_EQ(0, ioctl(p.fd, PACKETWAY_IOC_ATON_STAND, &s));
	ASSERT_EQ(1, poll(&p, 1, SOON));
	ASSERT_EQ(sizeof(r), read(p.fd, &r, sizeof(r)));
	EXPECT_EQ(78, r.user_data);
	EXPECT_EQ(N + 100, r.v1);
	/* gone with a word, gone with its file */
	s.op = 0;
	ASSERT_EQ(0, ioctl(p.fd, PACKETWAY_IOC_ATON_STAND, &s));
	runs = slot->runs;
	usleep(50000);
	EXPECT_EQ(runs, slot->runs);
	EXPECT_EQ(-1, ioctl(p.fd, PACKETWAY_IOC_ATON_STAND, &s));
	EXPECT_EQ(ENOENT, errno);
}

TEST_F(aton, ring_only)
{
	long n = pw_count(100000, 1000);
	struct packetway_ring_create r = { .size = sizeof(r), .count = n, .regs = 1 };
	struct packetway_ring_operands o = { .size = sizeof(o), .count = n };
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);
	uint64_t *x = calloc(n, sizeof(*x));
	struct ring_if *st = &self->st[0];

	ASSERT_NE(NULL, x);
	r.count = PACKETWAY_RING_IFACES_MAX + 1;
	EXPECT_EQ(-1, ioctl(st->fd, PACKETWAY_IOC_RING_CREATE, &r));
	r.count = n;
	EXPECT_EQ(-1, ioctl(st->fd, PACKETWAY_IOC_RING_OPERANDS, &o));
	EXPECT_EQ(ENOENT, errno);
	ASSERT_EQ(0, ioctl(st->fd, PACKETWAY_IOC_RING_CREATE, &r));
	EXPECT_EQ(-1, ioctl(st->fd, PACKETWAY_IOC_RING_CREATE, &r));
	EXPECT_EQ(EBUSY, errno);
	for (long i = 0; i < n; i++)
		x[i] = i;
	o.operands = (uintptr_t)x;
	ASSERT_EQ(0, ioctl(st->fd, PACKETWAY_IOC_RING_OPERANDS, &o));
	o.first = 1;
	EXPECT_EQ(-1, ioctl(st->fd, PACKETWAY_IOC_RING_OPERANDS, &o));
	EXPECT_EQ(EINVAL, errno);
	for (int i = 0; i < N; i++)
		self->st[i].op->operand[0] = 1000;
	ASSERT_EQ(0, ring_run(self->st[3].fd, &c));
	EXPECT_EQ(n + N, c.out_counter);
	EXPECT_EQ((uint64_t)n * (n - 1) / 2 + 1000 * N, c.out_v1);
	EXPECT_EQ(272 + n + N, c.out_ring_bits);
	/* they go with their file */
	ring_close(st);
	ASSERT_EQ(0, ring_open(st, pw_link_index(&self->nl, "s0")));
	ASSERT_EQ(0, ring_run(self->st[3].fd, &c));
	EXPECT_EQ(N, c.out_counter);
	free(x);
}

/* more interfaces than rtl once had steps for in one poll */
TEST_F(aton, ring_only_bit_by_bit)
{
	struct packetway_ring_create r = { .size = sizeof(r), .count = 300, .regs = 1 };
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);

	ASSERT_EQ(0, ring_san_set(self->ns, 2, PACKETWAY_A_SAN_RING_ENGINE, PACKETWAY_ENGINE_RTL));
	ASSERT_EQ(0, ioctl(self->st[0].fd, PACKETWAY_IOC_RING_CREATE, &r));
	for (int i = 0; i < N; i++)
		self->st[i].op->operand[0] = i + 1;
	ASSERT_EQ(0, ring_run(self->st[3].fd, &c));
	EXPECT_EQ(r.count + N, c.out_counter);
	EXPECT_EQ(N * (N + 1) / 2, c.out_v1);
	EXPECT_EQ(272 + r.count + N, c.out_ring_bits);
}

TEST_F(aton, faults)
{
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);
	int ctl = pw_ns_socket(self->ns, AF_INET, SOCK_DGRAM, 0);
	uint64_t lost;
	char what[32];

	if (access("/sys/kernel/debug/packetway", F_OK))
		SKIP(return, "no debugfs");
	for (int i = 0; i < N; i++)
		self->st[i].op->operand[0] = i;
	EXPECT_EQ(-EINVAL, ring_fault(self->ns, 2, "nonsense"));
	/* a flipped bit: an error, or the right result; never a wrong one */
	for (int bit = 8; bit < 264; bit += 5) {
		snprintf(what, sizeof(what), "flip %d %d", bit % N, bit);
		ASSERT_EQ(0, ring_fault(self->ns, 2, what));
		switch (ring_run(self->st[bit % 3].fd, &c)) {
		case 0:
			ASSERT_EQ(28, c.out_v1);
			break;
		case -EBADMSG:
			ASSERT_EQ(PACKETWAY_ATON_E_CRC, c.out_error);
			break;
		case -EIO:
			break;
		default:
			ASSERT_EQ(0, errno);
		}
	}
	/* the token: lost and found, or doubled and stripped */
	lost = pw_stat(ctl, "s0", "ring_tokens_lost");
	ASSERT_EQ(0, ring_fault(self->ns, 2, "lose"));
	ASSERT_EQ(0, ring_run(self->st[1].fd, &c));
	ASSERT_EQ(0, ring_run(self->st[1].fd, &c));
	EXPECT_EQ(28, c.out_v1);
	EXPECT_EQ(lost + 1, pw_stat(ctl, "s0", "ring_tokens_lost"));
	ASSERT_EQ(0, ring_fault(self->ns, 2, "dup"));
	ASSERT_EQ(0, ring_run(self->st[1].fd, &c));
	ASSERT_EQ(0, ring_run(self->st[2].fd, &c));
	EXPECT_EQ(28, c.out_v1);
	/* an interface that swallows the packet */
	ASSERT_EQ(0, ring_fault(self->ns, 2, "stuck 5"));
	EXPECT_EQ(-EIO, ring_run(self->st[1].fd, &c));
	EXPECT_EQ(PACKETWAY_ATON_E_LOST, c.out_error);
	/* it is bypassed until it is taken down and up */
	ASSERT_EQ(0, ring_run(self->st[1].fd, &c));
	EXPECT_EQ(28 - 5, c.out_v1);
	ASSERT_EQ(0, pw_link_down(&self->nl, "s5"));
	ASSERT_EQ(0, pw_link_up(&self->nl, "s5"));
	ASSERT_EQ(0, ring_run(self->st[1].fd, &c));
	EXPECT_EQ(28, c.out_v1);
	close(ctl);
}

TEST_F(aton, deadline)
{
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);

	/* long past: the command may still win the race, but nothing is left behind */
	c.deadline = 1;
	for (int i = 0; i < 50; i++) {
		int err = ring_run(self->st[0].fd, &c);

		EXPECT_TRUE(err == 0 || err == -ETIMEDOUT);
	}
}

/* a hop takes longer; the ring keeps its interfaces and operands */
TEST_F(aton, propagation)
{
	static const int engine[2] = { PACKETWAY_ENGINE_FAST, PACKETWAY_ENGINE_RTL };
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);
	uint64_t n, sum;
	int e, p;

	ASSERT_EQ(0, ring_run(self->st[0].fd, &c));
	n = c.out_counter;
	sum = c.out_v1;
	EXPECT_EQ(272 + n, c.out_ring_bits);
	EXPECT_EQ(-ERANGE, ring_san_set(self->ns, 2, PACKETWAY_A_SAN_RING_PROPAGATION, 256));
	for (e = 0; e < 2; e++) {
		ASSERT_EQ(0, ring_san_set(self->ns, 2, PACKETWAY_A_SAN_RING_ENGINE, engine[e]));
		for (p = 0; p < 256; p += 51) {
			ASSERT_EQ(0, ring_san_set(self->ns, 2, PACKETWAY_A_SAN_RING_PROPAGATION, p));
			ASSERT_EQ(0, ring_run(self->st[0].fd, &c));
			EXPECT_EQ(272 + n * (1 + p), c.out_ring_bits);
			EXPECT_EQ(n, c.out_counter);
			EXPECT_EQ(sum, c.out_v1);
		}
	}
}

/* operands, counts and packets of another width */
TEST_F(aton, width)
{
	static const int engine[2] = { PACKETWAY_ENGINE_FAST, PACKETWAY_ENGINE_RTL };
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);
	uint64_t n, sum;
	uint32_t parts[64];
	int e, i;

	for (i = 0; i < N; i++)
		self->st[i].op->operand[0] = i;
	ASSERT_EQ(0, ring_run(self->st[0].fd, &c));
	n = c.out_counter;
	sum = c.out_v1;
	EXPECT_EQ(28, sum);
	for (e = 0; e < 2; e++) {
		ASSERT_EQ(0, ring_san_set(self->ns, 2, PACKETWAY_A_SAN_RING_ENGINE, engine[e]));
		ASSERT_EQ(0, ring_san_set(self->ns, 2, PACKETWAY_A_SAN_RING_WIDTH, 3));
		c = ring_cmd(PW_ATON_OP_ADD);
		ASSERT_EQ(0, ring_run(self->st[0].fd, &c));
		EXPECT_EQ(sum % 8, c.out_v1);
		EXPECT_EQ(PACKETWAY_ATON_F_OVERFLOW, c.out_flags & PACKETWAY_ATON_F_OVERFLOW);
		EXPECT_EQ(144 + 3 + 24 + n, c.out_ring_bits);
		/* 8 interfaces: a count has four bits */
		ASSERT_EQ(0, ring_san_set(self->ns, 2, PACKETWAY_A_SAN_RING_BITSUM, 0));
		c = ring_cmd(PW_ATON_OP_BITSUM);
		c.room = 64;
		c.data = (uintptr_t)parts;
		memset(parts, 0x5a, sizeof(parts));
		ASSERT_EQ(0, ring_run(self->st[0].fd, &c));
		EXPECT_EQ(144 + 3 * 4 + n, c.out_ring_bits);
		EXPECT_EQ(4, parts[0]);
		EXPECT_EQ(4, parts[2]);
		EXPECT_EQ(0, parts[3]);
		EXPECT_EQ(0, parts[63]);
		ASSERT_EQ(0, ring_san_set(self->ns, 2, PACKETWAY_A_SAN_RING_WIDTH, 64));
		ASSERT_EQ(0, ring_san_set(self->ns, 2, PACKETWAY_A_SAN_RING_BITSUM, 24));
	}
}

/*
 * The token behind the packet: when the packet is back, the token is at its sender, too, and
 * passes before the next command is there. Otherwise the sender releases it only then.
 */
TEST_F(aton, appended)
{
	static const int engine[2] = { PACKETWAY_ENGINE_FAST, PACKETWAY_ENGINE_RTL };
	struct packetway_aton_command c;
	uint64_t turn = N * 101, out[N];
	int e, k, i;

	ASSERT_EQ(0, ring_san_set(self->ns, 2, PACKETWAY_A_SAN_RING_PROPAGATION, 100));
	for (i = 0; i < N; i++)
		self->st[i].op->operand[0] = i;
	for (e = 0; e < 2; e++) {
		ASSERT_EQ(0, ring_san_set(self->ns, 2, PACKETWAY_A_SAN_RING_ENGINE, engine[e]));
		for (k = 0; k < 2; k++) {
			ASSERT_EQ(0, ring_san_set(self->ns, 2, PACKETWAY_A_SAN_RING_RELEASE, k));
			for (i = 0; i < 12; i++) {
				c = ring_cmd(PW_ATON_OP_ADD);
				ASSERT_EQ(0, ring_run(self->st[i / 4].fd, &c));
				EXPECT_EQ(28, c.out_v1);
				EXPECT_EQ(272 + turn, c.out_ring_bits);
				if (i % 4)
					EXPECT_EQ(turn - k, c.out_wait);
			}
			/* only fill follows a SORT: its sender keeps the token */
			c = ring_cmd(PW_ATON_OP_SORT);
			c.room = N;
			c.data = (uintptr_t)out;
			ASSERT_EQ(0, ring_run(self->st[2].fd, &c));
			EXPECT_EQ(7, out[7]);
			c = ring_cmd(PW_ATON_OP_ADD);
			ASSERT_EQ(0, ring_run(self->st[2].fd, &c));
			EXPECT_EQ(turn, c.out_wait);
		}
	}
}

/* TREE with an operation for each node: (0 + 1) max (2 min 3), and so on */
TEST_F(aton, tree_nodes)
{
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_TREE), plain;
	uint8_t op[128] = {
		PW_ATON_OP_ADD, PW_ATON_OP_MIN, PW_ATON_OP_ADD, PW_ATON_OP_MAX,
		PW_ATON_OP_MAX, PW_ATON_OP_ADD, PW_ATON_OP_ADD,
	};

	for (int i = 0; i < N; i++)
		self->st[i].op->operand[0] = i;
	c.mods = PACKETWAY_ATON_NODES;
	c.heights = 3;
	c.room = 7;
	c.data = (uintptr_t)op;
	ASSERT_EQ(0, ring_run(self->st[0].fd, &c));
	/* max(0 + 1, min(2, 3)) + ((4 + 5) + max(6, 7)) */
	EXPECT_EQ(2 + 16, c.out_v1);
	EXPECT_EQ(144 + 8 + 7 * 8 + 3 * 64 + 64 + 8, c.out_ring_bits);
	/* what is not a tree of so many nodes */
	plain = c;
	c.room = 6;
	EXPECT_EQ(-EINVAL, ring_run(self->st[0].fd, &c));
	c = plain;
	c.heights = 8;
	c.room = 255;
	EXPECT_EQ(-EINVAL, ring_run(self->st[0].fd, &c));
	c.heights = 33;
	EXPECT_EQ(-EINVAL, ring_run(self->st[0].fd, &c));
	c = plain;
	c.data = 0;
	EXPECT_EQ(-EINVAL, ring_run(self->st[0].fd, &c));
	c.data = 8;
	EXPECT_EQ(-EFAULT, ring_run(self->st[0].fd, &c));
	c = plain;
	op[6] = PW_ATON_OP_COUNT_EQ;
	EXPECT_EQ(-EINVAL, ring_run(self->st[0].fd, &c));
	op[6] = PW_ATON_OP_ADD;
	c.op = PW_ATON_OP_ADD;
	EXPECT_EQ(-EINVAL, ring_run(self->st[0].fd, &c));
	c = plain;
	c.heights = 7;
	c.room = 127;
	memset(op, PW_ATON_OP_ADD, sizeof(op));
	EXPECT_EQ(-EINVAL, ring_run(self->st[0].fd, &c));
	EXPECT_EQ(PACKETWAY_ATON_E_SHAPE, c.out_error);
}

TEST_HARNESS_MAIN
