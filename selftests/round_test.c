// SPDX-License-Identifier: GPL-2.0
/*
 * PACKETWAY_IOC_ATON_ROUND: a reduction whose result all members of a group get, with one
 * packet for each word. Members that differ, leave, end or are late get an error, and no member
 * gets another result.
 */
#include "pwring.h"
#include "pwharness.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#define SAN	9
#define N	8
#define BIT_USED	5
#define BIT_OTHER	6
#define NOWAIT	PACKETWAY_ATON_ROUND_NOWAIT
#define FETCH	PACKETWAY_ATON_ROUND_FETCH
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
	WRONG(flags, 8);
	WRONG(flags, PACKETWAY_ATON_ROUND_LONG);
	WRONG(regs, 1);
	WRONG(data, (uintptr_t)self);
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

#define LONG_WORDS	PACKETWAY_ATON_ROUND_LONG_WORDS

/* a member of a long round: @count words in @regs registers */
static struct packetway_aton_round ask_long(uint64_t number, unsigned int count, unsigned int regs,
					    uint64_t *words)
{
	struct packetway_aton_round c = ask(N, number, 0);
	unsigned int i;

	c.flags = PACKETWAY_ATON_ROUND_LONG;
	c.count = count;
	c.regs = regs;
	c.data = (uintptr_t)words;
	for (i = 0; i < regs && i < PACKETWAY_ATON_ROUND_WORDS; i++)
		c.reg[i] = 8 + (i * 3) % 8;
	return c;
}

static uint64_t words[N][LONG_WORDS], given[N][LONG_WORDS];

static void fill_words(uint64_t seed)
{
	int i, k;

	for (i = 0; i < N; i++)
		for (k = 0; k < LONG_WORDS; k++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			words[i][k] = seed;
		}
	memcpy(given, words, sizeof(given));
}

/* words at a member that differ from the results; or, @sent, from what it sent */
static int other_words(int member, unsigned int op, unsigned int mods, unsigned int count, bool sent)
{
	uint64_t want;
	int i, k, n = 0;

	for (k = 0; k < LONG_WORDS; k++) {
		want = given[member][k];
		for (i = 0; i < N && !sent && k < (int)count; i++)
			want = i ? reduce(op, mods, want, given[i][k]) : given[0][k];
		n += words[member][k] != want;
	}
	return n;
}

TEST_F(round, long_refusals)
{
	struct packetway_aton_round good = ask_long(1, 20, 8, words[0]), c;

	WRONG(flags, PACKETWAY_ATON_ROUND_LONG | NOWAIT);
	WRONG(flags, PACKETWAY_ATON_ROUND_LONG | FETCH);
	WRONG(regs, 0);
	WRONG(regs, 9);
	WRONG(regs, 7);
	WRONG(count, 0);
	WRONG(count, LONG_WORDS + 1);
	c = good;
	c.data = 0;
	EXPECT_EQ(-EFAULT, run_round(self->fd[0], &c));
	c = good;
	c.reg[2] = 7;
	EXPECT_EQ(-ENOENT, run_round(self->fd[0], &c));
	c = good;
	c.deadline = 1;
	fill_words(1);
	EXPECT_EQ(-ETIMEDOUT, run_round(self->fd[0], &c));
	EXPECT_EQ(0, other_words(0, c.op, 0, c.count, true));
}

/* more words than registers: all results at all members, still one packet for each word */
TEST_F(round, long_results)
{
	static const struct { unsigned int op, mods, count, regs; } way[] = {
		{ PW_ATON_OP_ADD, 0, LONG_WORDS, 8 }, { PW_ATON_OP_MAX, PACKETWAY_ATON_SIGNED, 9, 8 },
		{ PW_ATON_OP_MIN, PACKETWAY_ATON_SIGNED, LONG_WORDS - 1, 5 },
		{ PW_ATON_OP_MIN, 0, 8, 8 }, { PW_ATON_OP_OR, 0, 1, 8 }, { PW_ATON_OP_AND, 0, 20, 3 },
		{ PW_ATON_OP_ADD, 0, 17, 1 },
	};
	struct packetway_aton_round c;
	struct member m[N];
	uint64_t before;
	unsigned int w;
	int i;

	for (w = 0; w < ARRAY_SIZE(way); w++) {
		fill_words(w + 3);
		before = packets();
		for (i = 0; i < N; i++) {
			c = ask_long(w + 1, way[w].count, way[w].regs, words[i]);
			c.op = way[w].op;
			c.mods = way[w].mods;
			ASSERT_EQ(0, start(&m[i], self->fd[i], c));
		}
		for (i = 0; i < N; i++) {
			EXPECT_EQ(0, end(&m[i]));
			EXPECT_EQ(0, other_words(i, way[w].op, way[w].mods, way[w].count, false));
			EXPECT_EQ(m[0].c.out_ring_bits, m[i].c.out_ring_bits);
			EXPECT_LT(way[w].count, m[i].c.out_ring_bits);
		}
		EXPECT_EQ(before + way[w].count, packets());
	}
}

/* a damaged packet, members that differ: no member has other words than before */
TEST_F(round, long_errors)
{
	struct packetway_aton_round c;
	struct member m[N];
	int i;

	fill_words(2);
	ASSERT_EQ(0, ring_fault(self->ns, SAN, "flip 2 100\n"));
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, start(&m[i], self->fd[i], ask_long(1, 30, 8, words[i])));
	for (i = 0; i < N; i++) {
		EXPECT_EQ(-EBADMSG, end(&m[i]));
		EXPECT_EQ(PACKETWAY_ATON_E_CRC, m[i].c.out_error);
		EXPECT_EQ(0, other_words(i, PW_ATON_OP_ADD, 0, 30, true));
	}
	ASSERT_EQ(0, start(&m[0], self->fd[0], ask_long(2, 8, 8, words[0])));
	ASSERT_TRUE(waits(&m[0]));
	/* as many words and registers, but not long */
	c = ask_long(2, 8, 8, words[1]);
	c.flags = 0;
	c.regs = 0;
	c.data = 0;
	EXPECT_EQ(-EPROTO, run_round(self->fd[1], &c));
	EXPECT_EQ(-EPROTO, end(&m[0]));
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, start(&m[i], self->fd[i], ask_long(3, 30, 8, words[i])));
	for (i = 0; i < N; i++) {
		EXPECT_EQ(0, end(&m[i]));
		EXPECT_EQ(0, other_words(i, PW_ATON_OP_ADD, 0, 30, false));
	}
}

/* a member gives the bit back, or is killed, at any time: all have the results, or EPIPE */
TEST_F(round, long_member_goes)
{
	int i, t, err, status, done = 0, broken = 0;
	struct packetway_aton_round c;
	struct member m[N];
	pid_t pid;

	for (t = 0; t < 24; t++) {
		fill_words(t);
		pid = 0;
		if (t % 2) {
			/* the last member is a process: its file is its own */
			close(self->fd[N - 1]);
			pid = fork();
			if (!pid) {
				int fd = open_member(self->ifindex[N - 1]);

				c = ask_long(t, LONG_WORDS, 8, words[N - 1]);
				_exit(fd < 0 || run_round(fd, &c));
			}
		}
		for (i = 0; i < N - !!pid; i++)
			ASSERT_EQ(0, start(&m[i], self->fd[i], ask_long(t, LONG_WORDS, 8, words[i])));
		usleep(t * 100);
		if (pid)
			kill(pid, SIGKILL);
		else
			lease(self->fd[N - 1], PACKETWAY_ATON_LEASE_RETURN, 0, 1U << BIT_USED);
		for (i = 0; i < N - !!pid; i++) {
			err = end(&m[i]);
			done += !err;
			broken += err == -EPIPE;
			/* the one that gave it back may have come later */
			EXPECT_TRUE(!err || err == -EPIPE || (err == -ENOENT && i == N - 1));
			EXPECT_EQ(0, other_words(i, PW_ATON_OP_ADD, 0, LONG_WORDS, err));
		}
		if (pid) {
			waitpid(pid, &status, 0);
			self->fd[N - 1] = open_member(self->ifindex[N - 1]);
			ASSERT_LE(0, self->fd[N - 1]);
		} else {
			ASSERT_EQ(0, lease(self->fd[N - 1], 0, 0, 1U << BIT_USED));
		}
	}
	TH_LOG("%d with results, %d without", done, broken);
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, start(&m[i], self->fd[i], ask_long(99, 9, 8, words[i])));
	for (i = 0; i < N; i++)
		EXPECT_EQ(0, end(&m[i]));
}

/* a round of two members, so that the second one sends its packets */
static struct packetway_aton_round two(uint64_t number, uint64_t *own)
{
	struct packetway_aton_round c = ask_long(number, LONG_WORDS, 8, own);

	c.members = 2;
	return c;
}

static bool died(pid_t pid)
{
	int i, status;

	for (i = 0; i < HANG * 5; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return true;
		usleep(100000);
	}
	return false;
}

/*
 * The ring stands still, and with it the packets that the last member has sent. The first one is
 * killed: it is gone soon, and the other gets EPIPE.
 */
TEST_F(round, long_killed)
{
	struct packetway_aton_round again;
	struct member first, last;
	int t, err = -EIO;
	pid_t pid;

	fill_words(3);
	ASSERT_EQ(0, ring_san_set(self->ns, SAN, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_RING));
	ASSERT_EQ(0, ring_san_set(self->ns, SAN, PACKETWAY_A_SAN_FROZEN, 1));
	for (t = 1; t < 20 && err == -EIO; t++) {
		first = (struct member) { .fd = self->fd[0], .c = two(t, words[0]) };
		pid = fork();
		if (!pid) {
			member_thread(&first);
			_exit(0);
		}
		ASSERT_TRUE(waits(&first));
		ASSERT_EQ(0, start(&last, self->fd[1], two(t, words[1])));
		usleep(t * 20000);
		kill(pid, SIGKILL);
		EXPECT_TRUE(died(pid)) {
			/* let both go on */
			ring_san_set(self->ns, SAN, PACKETWAY_A_SAN_FROZEN, 0);
		}
		/* if the second one came too late it is alone: both get EIO, once more */
		again = two(t, words[2]);
		again.deadline = 1;
		run_round(self->fd[0], &again);
		err = end(&last);
	}
	EXPECT_EQ(-EPIPE, err);
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

#define BITS 20

/* each of the 20 bits of a ring has a round that waits for its second member; then all end */
static int fill_with_rounds(const int *ifindex)
{
	struct packetway_aton_lease l = { .size = sizeof(l), .key = KEY };
	struct member m[BITS];
	int i, j, bad = 0;

	for (i = 0; i < BITS; i++) {
		m[i].c = ask(2, 1, 1);
		m[i].c.bit = i;
		m[i].c.count = 8;
		for (j = 0; j < 8; j++)
			m[i].c.reg[j] = 8 * (i % 2) + j;
		l.regs = i % 2 ? 0xff00 : 0x00ff;
		l.group = 1U << i;
		m[i].fd = open(PW_DEV, O_RDWR | O_CLOEXEC);
		if (m[i].fd < 0 || pw_bind(m[i].fd, ifindex[i / 2]) ||
		    ioctl(m[i].fd, PACKETWAY_IOC_ATON_LEASE, &l) ||
		    pthread_create(&m[i].thread, NULL, member_thread, &m[i]))
			return -1;
	}
	for (i = 0; i < BITS; i++) {
		bad += !waits(&m[i]);
		bad += lease(m[i].fd, PACKETWAY_ATON_LEASE_RETURN, 0, 1U << i) != 0;
		bad += end(&m[i]) != -EPIPE;
		close(m[i].fd);
	}
	return bad;
}

/* a round of eight words takes 4 KiB: what 20 of them take is free again when they end */
TEST_F(round, memory)
{
	int i, n = pw_count(40, 30), ifindex[BITS / 2 + 1], second;
	char name[16];
	long most;

	for (i = 0; i <= BITS / 2; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		ASSERT_EQ(0, pw_station_add(&self->nl, name, SAN + 1, i, -1));
		ASSERT_EQ(0, pw_link_up(&self->nl, name));
		ifindex[i] = pw_link_index(&self->nl, name);
	}
	second = open(PW_DEV, O_RDWR | O_CLOEXEC);
	ASSERT_EQ(0, pw_bind(second, ifindex[BITS / 2]));
	ASSERT_EQ(0, lease(second, 0, 0, (1U << BITS) - 1));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, fill_with_rounds(ifindex));
	most = pw_meminfo("SUnreclaim") + n * BITS * 4 / 2;
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, fill_with_rounds(ifindex));
	/* KASAN keeps what is freed on the debug kernel; kmemleak looks there */
	if (pw_slow_kernel())
		most += 65536;
	/* files are freed a little later */
	for (i = 0; i < 50 && pw_meminfo("SUnreclaim") > most; i++)
		usleep(100000);
	EXPECT_GE(most, pw_meminfo("SUnreclaim"));
	close(second);
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

/* a member leaves its word, or asks for the results of what it has left */
static int call(int fd, uint32_t flags, struct packetway_aton_round c)
{
	c.flags = flags;
	return run_round(fd, &c);
}

static bool can_fetch(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLPRI };

	return poll(&p, 1, 0) == 1 && p.revents & POLLPRI;
}

/* the result of a round of all that members @from to @to - 1 have left: the sum of their numbers */
static void expect_sum(struct __test_metadata *_metadata, const int *fd, uint64_t number, int from,
		       int to)
{
	struct pollfd p = { .events = POLLPRI };
	struct packetway_aton_round c;
	int i;

	for (i = from; i < to; i++) {
		/* the last one starts the ring, which may run in a work item */
		p.fd = fd[i];
		EXPECT_EQ(1, poll(&p, 1, HANG * 1000));
		EXPECT_EQ(POLLPRI, p.revents);
		c = ask(N, number, i);
		c.flags = i % 2 ? FETCH : FETCH | NOWAIT;
		EXPECT_EQ(0, run_round(fd[i], &c));
		EXPECT_EQ(N * (N - 1) / 2, c.out_v1[0]);
		EXPECT_FALSE(can_fetch(fd[i]));
		/* once only */
		EXPECT_EQ(-ENOENT, call(fd[i], FETCH, ask(N, number, i)));
	}
}

/* members leave their words and fetch the result later; one packet, sent when the last one comes */
TEST_F(round, nowait)
{
	struct packetway_aton_round c;
	struct member m[N];
	uint64_t before;
	int i, k, err;

	EXPECT_EQ(-ENOENT, call(self->fd[0], FETCH, ask(N, 1, 0)));
	for (k = 1; k <= 2; k++) {
		before = packets();
		for (i = 0; i < N - 1; i++)
			EXPECT_EQ(-EINPROGRESS, call(self->fd[i], NOWAIT, ask(N, k, i)));
		for (i = 0; i < N - 1; i++) {
			EXPECT_FALSE(can_fetch(self->fd[i]));
			EXPECT_EQ(-EINPROGRESS, call(self->fd[i], FETCH | NOWAIT, ask(N, k, i)));
			/* another round than the one that was left; one more; one that waits */
			EXPECT_EQ(-ENOENT, call(self->fd[i], FETCH, ask(N, k + 1, i)));
			EXPECT_EQ(-EBUSY, call(self->fd[i], NOWAIT, ask(N, k, i)));
			EXPECT_EQ(-EBUSY, call(self->fd[i], 0, ask(N, k, i)));
			/* those that wait in vain stay in it */
			c = ask(N, k, i);
			c.flags = FETCH;
			c.deadline = 1;
			EXPECT_EQ(-ETIMEDOUT, run_round(self->fd[i], &c));
		}
		EXPECT_EQ(before, packets());
		c = ask(N, k, N - 1);
		if (k == 1) {
			/* the last one waits */
			EXPECT_EQ(0, run_round(self->fd[N - 1], &c));
			EXPECT_EQ(N * (N - 1) / 2, c.out_v1[0]);
			expect_sum(_metadata, self->fd, k, 0, N - 1);
		} else {
			c.flags = NOWAIT;
			err = run_round(self->fd[N - 1], &c);
			if (err) {
				EXPECT_EQ(-EINPROGRESS, err);
			} else {
				EXPECT_EQ(N * (N - 1) / 2, c.out_v1[0]);
			}
			expect_sum(_metadata, self->fd, k, 0, err ? N : N - 1);
		}
		EXPECT_EQ(before + 1, packets());
	}
	/* a file that has not fetched cannot be in the next one; fetched, it can */
	for (i = 0; i < N; i++) {
		if (i % 2 == 0) {
			EXPECT_EQ(-EINPROGRESS, call(self->fd[i], NOWAIT, ask(N, 3, i)));
			continue;
		}
		ASSERT_EQ(0, start(&m[i], self->fd[i], ask(N, 3, i)));
		if (i < N - 1)
			ASSERT_TRUE(waits(&m[i]));
	}
	for (i = 1; i < N; i += 2) {
		EXPECT_EQ(0, end(&m[i]));
		EXPECT_EQ(N * (N - 1) / 2, m[i].c.out_v1[0]);
	}
	for (i = 0; i < N; i += 2)
		EXPECT_EQ(-EBUSY, call(self->fd[i], NOWAIT, ask(N, 4, i)));
	for (i = 0; i < N; i += 2)
		expect_sum(_metadata, self->fd, 3, i, i + 1);
}

/* all errors come to those that do not wait, too; one that ends is missing for the others */
TEST_F(round, nowait_errors)
{
	struct packetway_aton_round c;
	struct member m;
	int i, how, err;

	for (how = 0; how < 5; how++) {
		for (i = 0; i < N - 2; i++)
			EXPECT_EQ(-EINPROGRESS, call(self->fd[i], NOWAIT, ask(N, how, 1)));
		/* one that waits for what it has left */
		c = ask(N, how, 1);
		c.flags = FETCH;
		ASSERT_EQ(0, start(&m, self->fd[1], c));
		err = -EPIPE;
		switch (how) {
		case 0:		/* members differ */
			c = ask(N, how, 1);
			c.call++;
			err = -EPROTO;
			EXPECT_EQ(err, call(self->fd[N - 1], NOWAIT, c));
			break;
		case 1:		/* one that has not come is closed */
			close(self->fd[N - 1]);
			break;
		case 2:		/* one that has left its word is closed */
			close(self->fd[0]);
			self->fd[0] = open_member(self->ifindex[0]);
			ASSERT_GE(self->fd[0], 0);
			break;
		case 3:		/* gives the bit back */
			EXPECT_EQ(0, lease(self->fd[0], PACKETWAY_ATON_LEASE_RETURN, 0,
					   1U << BIT_USED));
			break;
		case 4:		/* its station goes */
			EXPECT_EQ(0, pw_link_del(&self->nl, "r0"));
			break;
		}
		EXPECT_EQ(err, end(&m));
		for (i = 2; i < N - 2; i++) {
			EXPECT_TRUE(can_fetch(self->fd[i]));
			EXPECT_EQ(err, call(self->fd[i], FETCH | NOWAIT, ask(N, how, 1)));
			EXPECT_FALSE(can_fetch(self->fd[i]));
		}
		i = how == 2 ? -ENOENT : how == 4 ? -ENODEV : err;
		EXPECT_EQ(i, call(self->fd[0], FETCH, ask(N, how, 1)));
		if (how == 1) {
			self->fd[N - 1] = open_member(self->ifindex[N - 1]);
			ASSERT_GE(self->fd[N - 1], 0);
		} else if (how == 3) {
			EXPECT_EQ(0, lease(self->fd[0], 0, 0, 1U << BIT_USED));
		}
	}
}

/*
 * A member gives its register or its bit back, and takes it again, while the packets of a round
 * wait: they would sum up what is in the register then. All get an error instead.
 */
TEST_F(round, given_back)
{
	static const struct { uint32_t regs, group; bool before; } way[] = {
		{ 1U << 8, 0, true },		/* before the last member comes */
		{ 1U << 8, 0, false },
		{ 0, 1U << BIT_USED, false },
		{ REGS, 1U << BIT_USED, false },
	};
	int i, k;

	ASSERT_EQ(0, ring_san_set(self->ns, SAN, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_RING));
	for (k = 0; k < (int)ARRAY_SIZE(way); k++) {
		ASSERT_EQ(0, ring_san_set(self->ns, SAN, PACKETWAY_A_SAN_FROZEN, 1));
		for (i = 0; i < N; i++) {
			if (i == N - 1 && way[k].before)
				EXPECT_EQ(0, lease(self->fd[0], PACKETWAY_ATON_LEASE_RETURN,
						   way[k].regs, way[k].group));
			EXPECT_EQ(i == N - 1 && way[k].before ? -EPIPE : -EINPROGRESS,
				  call(self->fd[i], NOWAIT, ask(N, k, i + 1)));
		}
		if (!way[k].before)
			EXPECT_EQ(0, lease(self->fd[0], PACKETWAY_ATON_LEASE_RETURN, way[k].regs,
					   way[k].group));
		EXPECT_EQ(0, lease(self->fd[0], 0, way[k].regs, way[k].group));
		ASSERT_EQ(0, ring_san_set(self->ns, SAN, PACKETWAY_A_SAN_FROZEN, 0));
		for (i = 0; i < N - way[k].before; i++)
			EXPECT_EQ(-EPIPE, call(self->fd[i], FETCH, ask(N, k, i + 1)));
	}
	/* the next one is right */
	for (i = 0; i < N - 1; i++)
		EXPECT_EQ(-EINPROGRESS, call(self->fd[i], NOWAIT, ask(N, k, i)));
	EXPECT_EQ(0, call(self->fd[N - 1], 0, ask(N, k, N - 1)));
	expect_sum(_metadata, self->fd, k, 0, N - 1);
}

/* a damaged packet: all get the same error, and repeat the round */
TEST_F(round, nowait_damaged)
{
	struct packetway_aton_round c;
	int i;

	ASSERT_EQ(0, ring_fault(self->ns, SAN, "flip 2 100\n"));
	for (i = 0; i < N - 1; i++)
		EXPECT_EQ(-EINPROGRESS, call(self->fd[i], NOWAIT, ask(N, 1, i)));
	EXPECT_EQ(-EBADMSG, call(self->fd[N - 1], 0, ask(N, 1, N - 1)));
	for (i = 0; i < N - 1; i++) {
		c = ask(N, 1, i);
		c.flags = FETCH;
		EXPECT_EQ(-EBADMSG, run_round(self->fd[i], &c));
		EXPECT_EQ(PACKETWAY_ATON_E_CRC, c.out_error);
		EXPECT_EQ(0, c.out_v1[0]);
	}
	for (i = 0; i < N - 1; i++)
		EXPECT_EQ(-EINPROGRESS, call(self->fd[i], NOWAIT, ask(N, 1, i)));
	EXPECT_EQ(0, call(self->fd[N - 1], 0, ask(N, 1, N - 1)));
	expect_sum(_metadata, self->fd, 1, 0, N - 1);
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

/*
 * Rounds of two groups at once with the same registers, left in another order by each member:
 * neither has an operand of the other.
 */
static void *nowait_thread(void *arg)
{
	struct storm *s = arg;
	struct packetway_aton_round c[2];
	struct timespec t;
	int i, k, w, err;

	for (i = 1; i <= s->rounds; i++) {
		for (k = 0; k < 2; k++) {
			c[k] = ask(N, i, 0);
			c[k].bit = k ? BIT_OTHER : BIT_USED;
			c[k].count = 2;
			for (w = 0; w < 2; w++) {
				c[k].reg[w] = 8 + w;
				c[k].word[w] = (uint64_t)i * (s->id + 1) + 1000000 * k + w;
			}
		}
		for (k = 0; k < 2; k++) {
			w = k ^ (s->id + i) % 2;
			do {
				c[w].flags = NOWAIT;
				err = run_round(s->fd, &c[w]);
				/* packets of the other round have the registers: the ring needs a CPU */
				if (err == -EBUSY)
					usleep(100);
			} while (err == -EBUSY);
			c[w].flags = FETCH;
			if (err && err != -EINPROGRESS)
				s->wrong++;
			/* the last one may have its results */
			if (!err)
				c[w].flags = 0;
		}
		for (k = 0; k < 2; k++) {
			clock_gettime(CLOCK_MONOTONIC, &t);
			c[k].deadline = (t.tv_sec + HANG) * 1000000000ULL;
			err = c[k].flags ? run_round(s->fd, &c[k]) : 0;
			if (err) {
				fprintf(stderr, "# member %d, round %d of bit %d: %s\n", s->id, i,
					c[k].bit, strerror(-err));
				s->wrong++;
			}
			for (w = 0; w < 2; w++)
				s->wrong += c[k].out_v1[w] != (uint64_t)i * (N * (N + 1) / 2) +
							      N * (1000000 * k + w);
		}
		if (s->wrong)
			return NULL;
		s->done++;
	}
	return NULL;
}

TEST_F(round, nowait_storm)
{
	struct storm s[N];
	int i;

	for (i = 0; i < N; i++)
		ASSERT_EQ(0, lease(self->fd[i], 0, 0, 1U << BIT_OTHER));
	for (i = 0; i < N; i++) {
		s[i] = (struct storm) { .fd = self->fd[i], .id = i, .rounds = pw_count(100, 30) };
		ASSERT_EQ(0, pthread_create(&s[i].thread, NULL, nowait_thread, &s[i]));
	}
	for (i = 0; i < N; i++) {
		pthread_join(s[i].thread, NULL);
		EXPECT_EQ(0, s[i].wrong);
		EXPECT_EQ(s[i].rounds, s[i].done);
	}
}

TEST_HARNESS_MAIN
