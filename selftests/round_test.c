// SPDX-License-Identifier: GPL-2.0
/*
 * PACKETWAY_IOC_ATON_ROUND: a reduction whose result all members of a group get, with one
 * packet for each word. Members that differ, leave, end or are late get an error, and no member
 * gets another result.
 */
#include "pwring.h"
#include "pwharness.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#define SAN	9
#define N	8
#define BIT_USED	5
#define KEY	0x1122334455667788ULL
#define REGS	0xff00U
#define HANG	60		/* seconds */

FIXTURE(round) {
	int ns, fd[N], ifindex[N];
	struct pw_nl nl;
};

FIXTURE_VARIANT(round) {
	unsigned int engine;
};

FIXTURE_VARIANT_ADD(round, fast) { .engine = PACKETWAY_ENGINE_FAST };
FIXTURE_VARIANT_ADD(round, rtl) { .engine = PACKETWAY_ENGINE_RTL };

static void station_name(char *name, int i)
{
	sprintf(name, "r%d", i);
}

static int lease(int fd, uint32_t flags, uint32_t regs, uint32_t group)
{
	struct packetway_aton_lease l = {
		.size = sizeof(l), .flags = flags, .regs = regs, .group = group,
		.key = group && !flags ? KEY : 0,
	};

	return ioctl(fd, PACKETWAY_IOC_ATON_LEASE, &l) ? -errno : 0;
}

static int open_member(int ifindex)
{
	int fd = open(PW_DEV, O_RDWR | O_CLOEXEC);

	if (fd < 0 || pw_bind(fd, ifindex) || lease(fd, 0, REGS, 1U << BIT_USED))
		return -1;
	return fd;
}

/* what a member asks for: a sum of one word */
static struct packetway_aton_round ask(unsigned int members, uint64_t number, uint64_t word)
{
	return (struct packetway_aton_round) {
		.size = sizeof(struct packetway_aton_round),
		.bit = BIT_USED, .members = members, .round = number, .call = 77,
		.op = PW_ATON_OP_ADD, .count = 1, .reg = { 8 }, .word = { word },
	};
}

static int run_round(int fd, struct packetway_aton_round *c)
{
	memset(c->out_v1, 0x5a, sizeof(c->out_v1));
	return ioctl(fd, PACKETWAY_IOC_ATON_ROUND, c) ? -errno : 0;
}

/* a member in a thread */
struct member {
	pthread_t thread;
	struct packetway_aton_round c;
	int fd, err;
};

static void *member_thread(void *arg)
{
	struct member *m = arg;

	/* waits() takes the place for a moment */
	do {
		m->err = run_round(m->fd, &m->c);
	} while (m->err == -EBUSY);
	return NULL;
}

static int start(struct member *m, int fd, struct packetway_aton_round c)
{
	m->fd = fd;
	m->c = c;
	return pthread_create(&m->thread, NULL, member_thread, m);
}

static int end(struct member *m)
{
	pthread_join(m->thread, NULL);
	return m->err;
}

/* wait until a member is in the round: another one of the same file is refused */
static bool waits(const struct member *m)
{
	struct packetway_aton_round again;
	int i, err;

	for (i = 0; i < HANG * 1000; i++) {
		again = m->c;
		again.deadline = 1;
		err = run_round(m->fd, &again);
		if (err == -EBUSY)
			return true;
		if (err != -ETIMEDOUT)
			return false;
		usleep(1000);
	}
	return false;
}

static uint64_t packets(void)
{
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t v = pw_stat(s, "r0", "ring_packets");

	close(s);
	return v;
}

FIXTURE_SETUP(round)
{
	char name[16];
	int i;

	alarm(10 * HANG);
	ASSERT_EQ(0, unshare(CLONE_NEWNET));
	self->ns = pw_ns_self();
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	for (i = 0; i < N; i++) {
		station_name(name, i);
		ASSERT_EQ(0, pw_station_add(&self->nl, name, SAN, i, -1));
		ASSERT_EQ(0, pw_link_up(&self->nl, name));
		self->ifindex[i] = pw_link_index(&self->nl, name);
		self->fd[i] = open_member(self->ifindex[i]);
		ASSERT_GE(self->fd[i], 0);
	}
	ASSERT_EQ(0, ring_san_set(self->ns, SAN, PACKETWAY_A_SAN_RING_ENGINE, variant->engine));
}

FIXTURE_TEARDOWN(round)
{
	int i;

	for (i = 0; i < N; i++)
		close(self->fd[i]);
	close(self->nl.fd);
	close(self->ns);
}

/* all fields of a wrong command are refused, and no member waits afterwards */
TEST_F(round, refusals)
{
	struct packetway_aton_round good = ask(1, 1, 5), c;
	int fd;

#define WRONG(field, value) \
	do { \
		c = good; \
		c.field = value; \
		EXPECT_EQ(-EINVAL, run_round(self->fd[0], &c)); \
	} while (0)
	WRONG(flags, 1);
	WRONG(__reserved, 1);
	WRONG(bit, 20);
	WRONG(members, 0);
	WRONG(members, 257);
	WRONG(op, 0);
	WRONG(op, PW_ATON_OP_COUNT_EQ);
	WRONG(op, PW_ATON_OP_SORT);
	WRONG(mods, 2);
	WRONG(count, 0);
	WRONG(count, PACKETWAY_ATON_ROUND_WORDS + 1);
	WRONG(reg[0], 16);
	WRONG(reg[1], 9);
	c = good;
	c.count = 2;
	c.reg[1] = 8;
	EXPECT_EQ(-EINVAL, run_round(self->fd[0], &c));
	/* not leased: a register, the bit, all; not bound */
	c = good;
	c.reg[0] = 7;
	EXPECT_EQ(-ENOENT, run_round(self->fd[0], &c));
	c = good;
	c.bit = BIT_USED + 1;
	EXPECT_EQ(-ENOENT, run_round(self->fd[0], &c));
	fd = open(PW_DEV, O_RDWR | O_CLOEXEC);
	EXPECT_EQ(-ENOTCONN, run_round(fd, &good));
	EXPECT_EQ(0, pw_bind(fd, self->ifindex[0]));
	EXPECT_EQ(-ENOENT, run_round(fd, &good));
	close(fd);
	/* eight members have the bit: a round of one or of nine is none of theirs */
	EXPECT_EQ(-EPIPE, run_round(self->fd[0], &good));
	c = ask(N + 1, 1, 5);
	EXPECT_EQ(-EPIPE, run_round(self->fd[0], &c));
}

static uint64_t reduce(unsigned int op, unsigned int mods, uint64_t a, uint64_t b)
{
	bool less = mods ? (int64_t)b < (int64_t)a : b < a;

	switch (op) {
	case PW_ATON_OP_ADD:
		return a + b;
	case PW_ATON_OP_AND:
		return a & b;
	case PW_ATON_OP_OR:
		return a | b;
	case PW_ATON_OP_MAX:
		return less ? a : b;
	default:
		return less ? b : a;
	}
}

/* the result of all operations at all members; one packet for each word */
TEST_F(round, results)
{
	static const unsigned int ops[] = {
		PW_ATON_OP_ADD, PW_ATON_OP_AND, PW_ATON_OP_OR, PW_ATON_OP_MAX, PW_ATON_OP_MIN,
	};
	const struct packetway_aton_page *page[N];
	long size = sysconf(_SC_PAGESIZE);
	struct member m[N];
	uint64_t before, want, number = 0, seed = 1;
	int i, k, o, count;

	for (i = 0; i < N; i++) {
		page[i] = mmap(NULL, size, PROT_READ, MAP_SHARED, self->fd[i], size);
		ASSERT_NE(MAP_FAILED, page[i]);
	}
	for (o = 0; o < 10; o++) {
		unsigned int op = ops[o % 5], mods = o / 5 ? PACKETWAY_ATON_SIGNED : 0;

		count = 1 + o % PACKETWAY_ATON_ROUND_WORDS;
		before = packets();
		number++;
		for (i = 0; i < N; i++) {
			struct packetway_aton_round c = ask(N, number, 0);

			c.op = op;
			c.mods = mods;
			c.count = count;
			for (k = 0; k < count; k++) {
				seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
				c.reg[k] = 8 + (k * 3) % 8;
				c.word[k] = seed;
			}
			ASSERT_EQ(0, start(&m[i], self->fd[i], c));
		}
		for (i = 0; i < N; i++)
			ASSERT_EQ(0, end(&m[i]));
		EXPECT_EQ(before + count, packets());
		for (k = 0; k < count; k++) {
			want = m[0].c.word[k];
			for (i = 1; i < N; i++)
				want = reduce(op, mods, want, m[i].c.word[k]);
			for (i = 0; i < N; i++)
				EXPECT_EQ(want, m[i].c.out_v1[k]);
		}
		/* the mapped pages of all have the last one */
		for (i = 0; i < N; i++) {
			EXPECT_EQ(m[i].c.out_v1[count - 1], page[i]->command.v1);
			EXPECT_EQ(N, page[i]->command.counter);
		}
	}
	for (i = 0; i < N; i++)
		munmap((void *)page[i], size);
}

/* members that are not of one mind: all are told, and the next round works */
TEST_F(round, members_differ)
{
	struct packetway_aton_round c;
	struct member m[N];
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, start(&m[i], self->fd[i], ask(N, 1, 1)));
		ASSERT_TRUE(waits(&m[i]));
	}
	c = ask(N, 1, 1);
	c.call++;
	EXPECT_EQ(-EPROTO, run_round(self->fd[3], &c));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(-EPROTO, end(&m[i]));
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, start(&m[i], self->fd[i], ask(N, 2, i)));
	for (i = 0; i < N; i++) {
		EXPECT_EQ(0, end(&m[i]));
		EXPECT_EQ(N * (N - 1) / 2, m[i].c.out_v1[0]);
	}
}

/* a member that is late: the first one leaves after its time, and comes again */
TEST_F(round, late)
{
	struct packetway_aton_round c = ask(N, 1, 100);
	struct member m[N];
	uint64_t before = packets();
	int i;

	c.deadline = 1;
	EXPECT_EQ(-ETIMEDOUT, run_round(self->fd[0], &c));
	EXPECT_EQ(-ETIMEDOUT, run_round(self->fd[0], &c));
	for (i = 1; i < N; i++) {
		ASSERT_EQ(0, start(&m[i], self->fd[i], ask(N, 1, i)));
		ASSERT_TRUE(waits(&m[i]));
	}
	EXPECT_EQ(before, packets());
	c.deadline = 0;
	EXPECT_EQ(0, run_round(self->fd[0], &c));
	EXPECT_EQ(100 + N * (N - 1) / 2, c.out_v1[0]);
	for (i = 1; i < N; i++) {
		EXPECT_EQ(0, end(&m[i]));
		EXPECT_EQ(c.out_v1[0], m[i].c.out_v1[0]);
	}
	EXPECT_EQ(before + 1, packets());
}

/* however a member goes, the others get EPIPE */
static void expect_pipe(struct __test_metadata *_metadata, struct member *m, int n)
{
	int i;

	for (i = 0; i < n; i++)
		EXPECT_EQ(-EPIPE, end(&m[i]));
}

TEST_F(round, member_goes)
{
	struct member m[N];
	int i, how;

	for (how = 0; how < 4; how++) {
		for (i = 0; i < N - 2; i++) {
			ASSERT_EQ(0, start(&m[i], self->fd[i], ask(N, how, 1)));
			ASSERT_TRUE(waits(&m[i]));
		}
		switch (how) {
		case 0:		/* gives the bit back */
			EXPECT_EQ(0, lease(self->fd[N - 1], PACKETWAY_ATON_LEASE_RETURN, 0,
					   1U << BIT_USED));
			break;
		case 1:		/* is closed */
			close(self->fd[N - 1]);
			break;
		case 2:		/* one that waits is closed by another thread: it leaves */
			EXPECT_EQ(0, lease(self->fd[0], PACKETWAY_ATON_LEASE_RETURN, 0,
					   1U << BIT_USED));
			break;
		case 3:		/* its station goes */
			EXPECT_EQ(0, pw_link_del(&self->nl, "r6"));
			break;
		}
		expect_pipe(_metadata, m, N - 2);
		/* one that comes now does not wait for it */
		m[1].c = ask(N, how, 1);
		EXPECT_EQ(-EPIPE, run_round(self->fd[1], &m[1].c));
		if (how == 0) {
			EXPECT_EQ(0, lease(self->fd[N - 1], 0, 0, 1U << BIT_USED));
		} else if (how == 1) {
			self->fd[N - 1] = open_member(self->ifindex[N - 1]);
			ASSERT_GE(self->fd[N - 1], 0);
		} else if (how == 2) {
			EXPECT_EQ(0, lease(self->fd[0], 0, 0, 1U << BIT_USED));
		}
	}
	/* the others go on without it */
	for (i = 0; i < N - 2; i++)
		ASSERT_EQ(0, start(&m[i], self->fd[i], ask(N - 1, 9, i)));
	ASSERT_EQ(0, start(&m[N - 1], self->fd[N - 1], ask(N - 1, 9, 100)));
	for (i = 0; i < N; i++) {
		if (i == N - 2)
			continue;
		EXPECT_EQ(0, end(&m[i]));
		EXPECT_EQ(100 + (N - 2) * (N - 3) / 2, m[i].c.out_v1[0]);
	}
}

/* a station that is down is not in the result */
TEST_F(round, station_down)
{
	struct member m[N];
	int i;

	ASSERT_EQ(0, pw_link_down(&self->nl, "r3"));
	for (i = 0; i < N; i++) {
		ASSERT_EQ(0, start(&m[i], self->fd[i], ask(N, 1, 1)));
		if (i < N - 1)
			ASSERT_TRUE(waits(&m[i]));
	}
	expect_pipe(_metadata, m, N);
	ASSERT_EQ(0, pw_link_up(&self->nl, "r3"));
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, start(&m[i], self->fd[i], ask(N, 1, 1)));
	for (i = 0; i < N; i++) {
		EXPECT_EQ(0, end(&m[i]));
		EXPECT_EQ(N, m[i].c.out_v1[0]);
	}
}

/* a damaged packet: all get the same error, and the same round once more works */
TEST_F(round, damaged)
{
	struct member m[N];
	int i, err;

	ASSERT_EQ(0, ring_fault(self->ns, SAN, "flip 2 100\n"));
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, start(&m[i], self->fd[i], ask(N, 1, i)));
	for (i = 0; i < N; i++) {
		err = end(&m[i]);
		EXPECT_EQ(-EBADMSG, err);
		EXPECT_EQ(PACKETWAY_ATON_E_CRC, m[i].c.out_error);
		EXPECT_EQ(0, m[i].c.out_v1[0]);
	}
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, start(&m[i], self->fd[i], ask(N, 1, i)));
	for (i = 0; i < N; i++) {
		EXPECT_EQ(0, end(&m[i]));
		EXPECT_EQ(N * (N - 1) / 2, m[i].c.out_v1[0]);
	}
}

static void nothing(int sig)
{
}

/* a signal ends the wait; a kill ends the member, and the others get EPIPE */
TEST_F(round, signals)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct member m[N];
	int i, status, ready[2];
	char c = 0;
	pid_t pid;

	sigaction(SIGUSR1, &sa, NULL);
	ASSERT_EQ(0, start(&m[0], self->fd[0], ask(N, 1, 1)));
	ASSERT_TRUE(waits(&m[0]));
	pthread_kill(m[0].thread, SIGUSR1);
	EXPECT_EQ(-EINTR, end(&m[0]));

	close(self->fd[1]);
	ASSERT_EQ(0, pipe(ready));
	pid = fork();
	if (!pid) {
		struct packetway_aton_round r = ask(N, 1, 1);
		int fd = open_member(self->ifindex[1]);

		for (i = 0; i < N; i++)
			if (i != 1)
				close(self->fd[i]);
		if (write(ready[1], &c, 1) == 1)
			run_round(fd, &r);
		_exit(1);
	}
	ASSERT_EQ(1, read(ready[0], &c, 1));
	close(ready[0]);
	close(ready[1]);
	/* a child that waits: those that come later wait with it */
	for (i = 2; i < N; i++) {
		ASSERT_EQ(0, start(&m[i], self->fd[i], ask(N, 1, 1)));
		ASSERT_TRUE(waits(&m[i]));
	}
	usleep(100000);
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	expect_pipe(_metadata, &m[2], N - 2);
	self->fd[1] = open_member(self->ifindex[1]);
	ASSERT_GE(self->fd[1], 0);
}

struct storm {
	struct __test_metadata *meta;
	pthread_t thread;
	int fd, id, rounds;
	unsigned long wrong, done;
	int err;
};

/* rounds of all, some with a short deadline that is repeated until they come to their end */
static void *storm_thread(void *arg)
{
	struct storm *s = arg;
	unsigned int seed = s->id + 1;
	struct packetway_aton_round c;
	struct timespec t;
	int i, k, err;

	for (i = 1; i <= s->rounds; i++) {
		c = ask(N, i, 0);
		c.count = 1 + i % PACKETWAY_ATON_ROUND_WORDS;
		for (k = 0; k < (int)c.count; k++) {
			c.reg[k] = 8 + k;
			c.word[k] = (uint64_t)i * (s->id + 1) + k;
		}
		do {
			clock_gettime(CLOCK_MONOTONIC, &t);
			c.deadline = rand_r(&seed) % 4 ? 0 :
				     t.tv_sec * 1000000000ULL + t.tv_nsec + rand_r(&seed) % 1000000;
			err = run_round(s->fd, &c);
			/*
			 * EIO: a member whose time was over has taken the packets back, a second
			 * after all had come. A busy machine takes that long, and all come again.
			 */
		} while (err == -ETIMEDOUT || err == -EINTR || err == -EIO);
		if (err) {
			s->err = err;
			s->wrong++;
			return NULL;
		}
		for (k = 0; k < (int)c.count; k++)
			s->wrong += c.out_v1[k] != (uint64_t)i * (N * (N + 1) / 2) + N * k;
		s->done++;
	}
	return NULL;
}

TEST_F(round, storm)
{
	struct storm s[N];
	int i;

	for (i = 0; i < N; i++) {
		s[i] = (struct storm) { .fd = self->fd[i], .id = i, .rounds = pw_count(300, 50) };
		ASSERT_EQ(0, pthread_create(&s[i].thread, NULL, storm_thread, &s[i]));
	}
	for (i = 0; i < N; i++) {
		pthread_join(s[i].thread, NULL);
		EXPECT_EQ(0, s[i].wrong) {
			TH_LOG("member %d: error %d", i, s[i].err);
		}
		EXPECT_EQ(s[i].rounds, s[i].done);
	}
}

TEST_HARNESS_MAIN
