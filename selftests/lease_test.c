// SPDX-License-Identifier: GPL-2.0
/*
 * PACKETWAY_IOC_ATON_LEASE: registers and group bits that belong to a file. What others
 * store has no effect on them, and they are free again however the owner ends.
 */
#include "pwring.h"
#include "pwharness.h"

#include <signal.h>
#include <sys/wait.h>

#define SYSCTL	"/proc/sys/net/packetway/"
#define SAN	7
#define ALL_REGS	0xffffU
#define ALL_BITS	0xfffffU
#define KEY	0x1234567890abcdefULL

/* three stations of one SAN in a namespace of their own, and one of the same SAN elsewhere */
FIXTURE(lease) {
	int ns, far, fd[4], ifindex[4];
	struct pw_nl nl, far_nl;
};

static const char *const name[4] = { "a", "b", "c", "far" };

static int do_bind(int fd, int ifindex)
{
	struct packetway_bind b = { .size = sizeof(b), .ifindex = ifindex };

	return ioctl(fd, PACKETWAY_IOC_BIND, &b) ? -errno : 0;
}

static int do_unbind(int fd)
{
	struct packetway_unbind u = { .size = sizeof(u) };

	return ioctl(fd, PACKETWAY_IOC_UNBIND, &u) ? -errno : 0;
}

static int open_at(int ifindex)
{
	int fd = open(PW_DEV, O_RDWR | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = do_bind(fd, ifindex);
	if (err)
		close(fd);
	return err ?: fd;
}

static int lease_cmd(int fd, uint32_t flags, uint32_t regs, uint32_t group, uint64_t key,
		     struct packetway_aton_lease *l)
{
	*l = (struct packetway_aton_lease) {
		.size = sizeof(*l), .flags = flags, .regs = regs, .group = group, .key = key,
		.out_regs_free = 0x5a5a5a5a, .out_group_free = 0x5a5a5a5a,
	};
	return ioctl(fd, PACKETWAY_IOC_ATON_LEASE, l) ? -errno : 0;
}

static int take(int fd, uint32_t regs, uint32_t group, uint64_t key)
{
	struct packetway_aton_lease l;

	return lease_cmd(fd, 0, regs, group, key, &l);
}

static int give_back(int fd, uint32_t regs, uint32_t group)
{
	struct packetway_aton_lease l;

	return lease_cmd(fd, PACKETWAY_ATON_LEASE_RETURN, regs, group, 0, &l);
}

/* what is free: registers in the upper half, group bits in the lower; or -errno */
static int64_t look(int fd)
{
	struct packetway_aton_lease l;
	int err = lease_cmd(fd, 0, 0, 0, 0, &l);

	return err ?: (int64_t)((uint64_t)l.out_regs_free << 32 | l.out_group_free);
}

#define FREE(regs, bits) ((int64_t)((uint64_t)(regs) << 32 | (bits)))

static int do_set(int fd, uint32_t reg, uint64_t value)
{
	struct packetway_aton_set s = {
		.size = sizeof(s), .flags = PACKETWAY_ATON_SET_OPERAND, .reg = reg, .value = value,
	};

	return ioctl(fd, PACKETWAY_IOC_ATON_SET, &s) ? -errno : 0;
}

static int do_group(int fd, uint32_t group)
{
	struct packetway_aton_set s = {
		.size = sizeof(s), .flags = PACKETWAY_ATON_SET_GROUP, .group = group,
	};

	return ioctl(fd, PACKETWAY_IOC_ATON_SET, &s) ? -errno : 0;
}

static void *map(int fd, int at)
{
	long page = sysconf(_SC_PAGESIZE);

	return mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at * page);
}

static void unmap(void *p)
{
	munmap(p, sysconf(_SC_PAGESIZE));
}

/* a sum over a region: its value, and in *@n how many took part */
static int64_t sum(int fd, uint32_t dst, uint32_t reg, uint64_t *n)
{
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);
	int err;

	c.dst = dst;
	c.reg = reg;
	err = ring_run(fd, &c);
	*n = c.out_counter;
	return err ?: (int64_t)c.out_v1;
}

static uint64_t refused(const char *dev)
{
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	uint64_t v = pw_stat(s, dev, "ring_leases_refused");

	close(s);
	return v;
}

/* in use, and in *@no how often the limit was met */
static long nr(long *no)
{
	char text[64] = "";
	int fd = open(SYSCTL "nr_leases", O_RDONLY);
	long used = -1;

	*no = -1;
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0 ||
	    sscanf(text, "%ld %ld", &used, no) != 2)
		used = -1;
	close(fd);
	return used;
}

static long in_use(void)
{
	long no;

	return nr(&no);
}

FIXTURE_SETUP(lease)
{
	int i;

	self->far = pw_ns_new();
	ASSERT_GE(self->far, 0);
	ASSERT_EQ(0, unshare(CLONE_NEWNET));
	self->ns = pw_ns_self();
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_nl_open(&self->far_nl, self->far));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pw_station_add(&self->nl, name[i], SAN, i, i == 3 ? self->far : -1));
	ASSERT_EQ(0, setns(self->far, CLONE_NEWNET));
	ASSERT_EQ(0, pw_link_up(&self->far_nl, name[3]));
	self->ifindex[3] = pw_link_index(&self->far_nl, name[3]);
	self->fd[3] = open_at(self->ifindex[3]);
	ASSERT_GE(self->fd[3], 0);
	ASSERT_EQ(0, setns(self->ns, CLONE_NEWNET));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, pw_link_up(&self->nl, name[i]));
		self->ifindex[i] = pw_link_index(&self->nl, name[i]);
		self->fd[i] = open_at(self->ifindex[i]);
		ASSERT_GE(self->fd[i], 0);
	}
}

FIXTURE_TEARDOWN(lease)
{
	int i;

	for (i = 0; i < 4; i++)
		close(self->fd[i]);
	EXPECT_EQ(0, in_use());
	close(self->nl.fd);
	close(self->far_nl.fd);
	close(self->far);
	close(self->ns);
}

TEST_F(lease, refusals)
{
	struct packetway_aton_lease l;
	int loose = open(PW_DEV, O_RDWR | O_CLOEXEC);

	ASSERT_GE(loose, 0);
	EXPECT_EQ(-ENOTCONN, take(loose, 1, 0, 0));
	EXPECT_EQ(-ENOTCONN, look(loose));
	EXPECT_EQ(-EINVAL, take(self->fd[0], 1U << 16, 0, 0));
	EXPECT_EQ(-EINVAL, take(self->fd[0], 0, 1U << 20, KEY));
	/* bits need a key, and nothing else has one */
	EXPECT_EQ(-EINVAL, take(self->fd[0], 0, 1, 0));
	EXPECT_EQ(-EINVAL, take(self->fd[0], 1, 0, KEY));
	EXPECT_EQ(-EINVAL, lease_cmd(self->fd[0], PACKETWAY_ATON_LEASE_RETURN, 0, 1, KEY, &l));
	EXPECT_EQ(-EINVAL, lease_cmd(self->fd[0], 2, 1, 0, 0, &l));
	EXPECT_EQ(-ENOENT, give_back(self->fd[0], 1, 0));
	EXPECT_EQ(MAP_FAILED, map(self->fd[0], 2));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(FREE(ALL_REGS, ALL_BITS), look(self->fd[0]));
	EXPECT_EQ(0, in_use());
	EXPECT_EQ(0, refused("a"));
	close(loose);
}

TEST_F(lease, registers)
{
	struct packetway_aton_get g = { .size = sizeof(g) };
	int other = open_at(self->ifindex[0]);
	struct packetway_aton_operands *shared, *own;
	uint64_t n;

	ASSERT_GE(other, 0);
	shared = map(other, 0);
	ASSERT_NE(MAP_FAILED, shared);
	shared->operand[3] = 1000;
	EXPECT_EQ(0, take(self->fd[0], 1 << 3 | 1 << 4, 0, 0));
	EXPECT_EQ(FREE(ALL_REGS & ~0x18, ALL_BITS), look(other));
	/* the other file cannot have one of them, and gets none of what it asks for */
	EXPECT_EQ(-EBUSY, take(other, 1 << 4 | 1 << 5, 0, 0));
	EXPECT_EQ(FREE(ALL_REGS & ~0x18, ALL_BITS), look(other));
	EXPECT_EQ(1, refused("a"));
	/* another station has registers of its own */
	EXPECT_EQ(0, take(self->fd[1], ALL_REGS, 0, 0));
	EXPECT_EQ(0, give_back(self->fd[1], ALL_REGS, 0));

	/* it starts with 0, and what others store does not count */
	EXPECT_EQ(0, sum(other, PACKETWAY_ATON_RING_ALL, 3, &n));
	shared->operand[3] = 2000;
	EXPECT_EQ(-EBUSY, do_set(other, 3, 3000));
	EXPECT_EQ(2, refused("a"));
	EXPECT_EQ(0, sum(other, PACKETWAY_ATON_RING_ALL, 3, &n));
	EXPECT_EQ(0, do_set(other, 5, 50));
	EXPECT_EQ(0, do_set(self->fd[0], 3, 7));
	EXPECT_EQ(7, sum(other, PACKETWAY_ATON_RING_ALL, 3, &n));
	own = map(self->fd[0], 2);
	ASSERT_NE(MAP_FAILED, own);
	EXPECT_EQ(7, own->operand[3]);
	own->operand[3] = 8;
	own->operand[5] = 9;
	EXPECT_EQ(8, sum(self->fd[1], PACKETWAY_ATON_RING_ALL, 3, &n));
	EXPECT_EQ(4, n);
	EXPECT_EQ(50, sum(self->fd[1], PACKETWAY_ATON_RING_ALL, 5, &n));
	EXPECT_EQ(0, ioctl(other, PACKETWAY_IOC_ATON_GET, &g));
	EXPECT_EQ(8, g.out_operand[3]);
	EXPECT_EQ(50, g.out_operand[5]);

	/* to ask for what one has changes nothing; what was given back starts anew */
	EXPECT_EQ(0, take(self->fd[0], 1 << 3, 0, 0));
	EXPECT_EQ(8, sum(other, PACKETWAY_ATON_RING_ALL, 3, &n));
	EXPECT_EQ(-ENOENT, give_back(self->fd[0], 1 << 3 | 1 << 6, 0));
	EXPECT_EQ(0, give_back(self->fd[0], 1 << 3, 0));
	EXPECT_EQ(2000, sum(other, PACKETWAY_ATON_RING_ALL, 3, &n));
	EXPECT_EQ(0, take(self->fd[0], 1 << 3, 0, 0));
	EXPECT_EQ(0, sum(other, PACKETWAY_ATON_RING_ALL, 3, &n));
	unmap(own);
	unmap(shared);
	close(other);
}

TEST_F(lease, group_bits)
{
	struct packetway_aton_get g = { .size = sizeof(g) };
	int second = open_at(self->ifindex[0]);
	uint64_t n;
	int i;

	ASSERT_GE(second, 0);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, do_set(self->fd[i], 0, 1 << i));
	/* it was in the group before, and no longer counts */
	EXPECT_EQ(0, do_group(self->fd[2], 0x6));
	EXPECT_EQ(0, take(self->fd[0], 0, 0x2, KEY));
	EXPECT_EQ(0, take(self->fd[1], 0, 0x2, KEY));
	EXPECT_EQ(3, sum(self->fd[0], PW_ADDR_LOGICAL_MIN | 2, 0, &n));
	EXPECT_EQ(2, n);
	EXPECT_EQ(4, sum(self->fd[0], PW_ADDR_LOGICAL_MIN | 4, 0, &n));
	EXPECT_EQ(0, ioctl(self->fd[2], PACKETWAY_IOC_ATON_GET, &g));
	EXPECT_EQ(4, g.out_group);
	EXPECT_EQ(0, ioctl(self->fd[0], PACKETWAY_IOC_ATON_GET, &g));
	EXPECT_EQ(2, g.out_group);
	/* nor can it come in: by its mask, or with another key */
	EXPECT_EQ(-EBUSY, do_group(self->fd[2], 0x2));
	EXPECT_EQ(-EBUSY, take(self->fd[2], 1, 0x3, KEY + 1));
	EXPECT_EQ(2, refused("c"));
	EXPECT_EQ(FREE(ALL_REGS, ALL_BITS & ~2), look(self->fd[2]));
	EXPECT_EQ(4, sum(self->fd[0], PW_ADDR_LOGICAL_MIN | 4, 0, &n));
	/* the other namespace of the ring neither, unless it knows the key */
	EXPECT_EQ(-EBUSY, take(self->fd[3], 0, 0x2, KEY - 1));
	EXPECT_EQ(3, sum(self->fd[0], PW_ADDR_LOGICAL_MIN | 2, 0, &n));
	EXPECT_EQ(0, take(self->fd[3], 0, 0x2, KEY));
	EXPECT_EQ(11, sum(self->fd[0], PW_ADDR_LOGICAL_MIN | 2, 0, &n));
	EXPECT_EQ(3, n);

	/* two files of a station: it stays until both have gone, and counts once */
	EXPECT_EQ(0, take(second, 0, 0x2, KEY));
	EXPECT_EQ(11, sum(self->fd[0], PW_ADDR_LOGICAL_MIN | 2, 0, &n));
	EXPECT_EQ(0, give_back(self->fd[0], 0, 0x2));
	EXPECT_EQ(11, sum(self->fd[0], PW_ADDR_LOGICAL_MIN | 2, 0, &n));
	close(second);
	EXPECT_EQ(10, sum(self->fd[0], PW_ADDR_LOGICAL_MIN | 2, 0, &n));
	/* the last one gives the bit back to the masks */
	EXPECT_EQ(0, give_back(self->fd[1], 0, 0x2));
	EXPECT_EQ(8, sum(self->fd[0], PW_ADDR_LOGICAL_MIN | 2, 0, &n));
	EXPECT_EQ(0, give_back(self->fd[3], 0, 0x2));
	EXPECT_EQ(4, sum(self->fd[0], PW_ADDR_LOGICAL_MIN | 2, 0, &n));
	EXPECT_EQ(0, take(self->fd[2], 0, ALL_BITS, KEY + 1));
	EXPECT_EQ(FREE(ALL_REGS, 0), look(self->fd[3]));
	EXPECT_EQ(-EBUSY, take(self->fd[3], 0, 1, KEY));
}

/* a child that leases all and is killed, asleep or with commands on the ring */
TEST_F(lease, killed)
{
	int i, n = pw_count(40, 10), p[2];
	pid_t pid;
	char c;

	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, pipe2(p, O_CLOEXEC));
		pid = fork();
		ASSERT_GE(pid, 0);
		if (!pid) {
			int fd = open_at(self->ifindex[0]);
			uint64_t k;

			if (take(fd, ALL_REGS, ALL_BITS, KEY + i) || map(fd, 2) == MAP_FAILED)
				_exit(1);
			if (write(p[1], "x", 1) != 1)
				_exit(1);
			for (;;)
				if (i % 2)
					sum(fd, PACKETWAY_ATON_RING_ALL, 0, &k);
				else
					pause();
		}
		close(p[1]);
		ASSERT_EQ(1, read(p[0], &c, 1));
		close(p[0]);
		EXPECT_EQ(FREE(0, 0), look(self->fd[0]));
		EXPECT_EQ(FREE(ALL_REGS, 0), look(self->fd[1]));
		EXPECT_EQ(1, in_use());
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
		/* the last reference to a file may go a little later than its process */
		EXPECT_SOON(FREE(ALL_REGS, ALL_BITS), look(self->fd[0]));
		EXPECT_EQ(0, in_use());
	}
}

/* a child has the same file: the lease ends with the last of them */
TEST_F(lease, forked)
{
	int p[2], fd = open_at(self->ifindex[0]);
	int status;
	void *own;
	pid_t pid;
	char c;

	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, take(fd, 0xff, 0xf, KEY));
	ASSERT_EQ(0, pipe2(p, O_CLOEXEC));
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		close(p[1]);
		/* until the parent ends it */
		_exit(read(p[0], &c, 1) || do_set(fd, 1, 5) || take(fd, 0xf00, 0, 0));
	}
	close(p[0]);
	close(fd);
	EXPECT_EQ(FREE(0xff00, ALL_BITS & ~0xf), look(self->fd[0]));
	EXPECT_EQ(-EBUSY, take(self->fd[0], 1, 0, 0));
	close(p[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_SOON(FREE(ALL_REGS, ALL_BITS), look(self->fd[0]));

	/* a mapping is a user of the file, too */
	fd = open_at(self->ifindex[0]);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, take(fd, 1, 0, 0));
	own = map(fd, 2);
	ASSERT_NE(MAP_FAILED, own);
	close(fd);
	EXPECT_EQ(FREE(ALL_REGS & ~1, ALL_BITS), look(self->fd[0]));
	unmap(own);
	EXPECT_EQ(FREE(ALL_REGS, ALL_BITS), look(self->fd[0]));
}

TEST_F(lease, limit)
{
	int fd = open(SYSCTL "max_leases", O_WRONLY | O_CLOEXEC);
	long no;

	ASSERT_GE(fd, 0);
	ASSERT_EQ(2, write(fd, "2\n", 2));
	close(fd);
	EXPECT_EQ(0, take(self->fd[0], 1, 0, 0));
	/* charged where the SAN is at home, also from the other namespace */
	EXPECT_EQ(0, take(self->fd[3], 1, 1, KEY));
	EXPECT_EQ(-ENOSPC, take(self->fd[1], 1, 2, KEY));
	EXPECT_EQ(2, nr(&no));
	EXPECT_EQ(1, no);
	EXPECT_EQ(FREE(ALL_REGS, ALL_BITS & ~1), look(self->fd[1]));
	/* more for a file that has a lease is no more files */
	EXPECT_EQ(0, take(self->fd[0], 2, 2, KEY));
	EXPECT_EQ(0, do_unbind(self->fd[0]));
	EXPECT_EQ(1, in_use());
	EXPECT_EQ(0, take(self->fd[1], 1, 2, KEY + 1));
	EXPECT_EQ(2, in_use());
	EXPECT_EQ(0, do_bind(self->fd[0], self->ifindex[0]));
	EXPECT_EQ(FREE(ALL_REGS, ALL_BITS & ~3), look(self->fd[0]));
}

TEST_F(lease, station_goes)
{
	struct packetway_aton_operands *own;
	uint64_t n;

	EXPECT_EQ(0, take(self->fd[0], 1, 1, KEY));
	EXPECT_EQ(0, take(self->fd[1], 1, 3, KEY));
	own = map(self->fd[1], 2);
	ASSERT_NE(MAP_FAILED, own);
	own->operand[0] = 5;
	EXPECT_EQ(5, sum(self->fd[0], PW_ADDR_LOGICAL_MIN | 1, 0, &n));
	EXPECT_EQ(2, n);
	EXPECT_EQ(0, pw_link_del(&self->nl, "b"));
	EXPECT_EQ(1, in_use());
	EXPECT_EQ(FREE(ALL_REGS & ~1, ALL_BITS & ~1), look(self->fd[0]));
	EXPECT_EQ(0, sum(self->fd[0], PW_ADDR_LOGICAL_MIN | 1, 0, &n));
	EXPECT_EQ(1, n);
	EXPECT_EQ(-ENODEV, take(self->fd[1], 1, 0, 0));
	EXPECT_EQ(-ENODEV, give_back(self->fd[1], 1, 0));
	/* the page stays mapped, and means nothing */
	own->operand[0] = 6;
	/* bound to another station the file leases there */
	EXPECT_EQ(0, do_bind(self->fd[1], self->ifindex[2]));
	EXPECT_EQ(FREE(ALL_REGS, ALL_BITS & ~1), look(self->fd[1]));
	EXPECT_EQ(-ENOENT, give_back(self->fd[1], 1, 0));
	EXPECT_EQ(0, take(self->fd[1], 1, 1, KEY));
	EXPECT_EQ(0, sum(self->fd[0], PW_ADDR_LOGICAL_MIN | 1, 0, &n));
	EXPECT_EQ(2, n);
	EXPECT_EQ(2, in_use());
	unmap(own);
	/* a station that moves keeps them */
	EXPECT_EQ(0, pw_link_move(&self->nl, "c", self->far));
	EXPECT_EQ(2, in_use());
	EXPECT_EQ(FREE(ALL_REGS & ~1, ALL_BITS & ~1), look(self->fd[0]));
}

static int scan(int fd, uint32_t dst, uint32_t reg)
{
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);

	c.dst = dst;
	c.reg = reg;
	c.mods = PACKETWAY_ATON_PREFIX;
	return ring_run(fd, &c);
}

static int get_latch(int fd, uint32_t reg, struct packetway_aton_get_latch *g)
{
	memset(g, 0x5a, sizeof(*g));
	g->size = sizeof(*g);
	g->flags = 0;
	g->reg = reg;
	return ioctl(fd, PACKETWAY_IOC_ATON_GET_LATCH, g) ? -errno : 0;
}

/* how often a register has latched something, or -errno */
static int64_t runs(int fd, uint32_t reg)
{
	struct packetway_aton_get_latch g;
	int err = get_latch(fd, reg, &g);

	return err ?: (int64_t)g.out_runs;
}

/* a scan over the whole ring, begun by the second of four stations, on either engine */
TEST_F(lease, latch)
{
	static const uint64_t before[4] = { 14, 0, 2, 6 }, place[4] = { 3, 0, 1, 2 };
	static const int engine[2] = { PACKETWAY_ENGINE_FAST, PACKETWAY_ENGINE_RTL };
	struct packetway_aton_get bank = { .size = sizeof(bank) };
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_SORT);
	struct packetway_aton_reduce r = {
		.size = sizeof(r), .op = PW_ATON_OP_ADD, .mods = PACKETWAY_ATON_PREFIX,
	};
	const struct packetway_aton_page *page;
	struct packetway_aton_get_latch g;
	int i, e, loose = open(PW_DEV, O_RDWR | O_CLOEXEC);
	uint64_t n, room[8];

	ASSERT_EQ(0, ioctl(self->fd[1], PACKETWAY_IOC_ATON_GET, &bank));
	page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, self->fd[2],
		    sysconf(_SC_PAGESIZE));
	ASSERT_NE(MAP_FAILED, page);
	for (e = 0; e < 2; e++) {
		ASSERT_EQ(0, ring_san_set(self->ns, SAN, PACKETWAY_A_SAN_RING_ENGINE, engine[e]));
		for (i = 0; i < 4; i++) {
			EXPECT_EQ(0, do_set(self->fd[i], 7, 1 << i));
			EXPECT_EQ(e, runs(self->fd[i], 7));
		}
		EXPECT_EQ(0, scan(self->fd[1], PACKETWAY_ATON_RING_ALL, 7));
		for (i = 0; i < 4; i++) {
			EXPECT_EQ(0, get_latch(self->fd[i], 7, &g));
			EXPECT_EQ(PW_ATON_OP_ADD, g.out_op);
			EXPECT_EQ(0, g.out_flags);
			EXPECT_EQ(bank.out_id, g.out_src);
			EXPECT_EQ(e + 1, g.out_runs);
			EXPECT_EQ(place[i], g.out_counter);
			EXPECT_EQ(before[i], g.out_before);
			EXPECT_EQ(before[i] + (1 << i), g.out_with);
			EXPECT_EQ(0, runs(self->fd[i], 8));
		}
		EXPECT_EQ(g.out_runs, page->latch[7].runs);
		EXPECT_EQ(2, page->latch[7].before);
		EXPECT_EQ(6, page->latch[7].with);
		EXPECT_EQ(0, page->latch[7].seq & 1);
		/* no other command latches anything */
		EXPECT_EQ(15, sum(self->fd[0], PACKETWAY_ATON_RING_ALL, 7, &n));
		EXPECT_EQ(e + 1, runs(self->fd[0], 7));
	}
	/* only who is in the region */
	EXPECT_EQ(0, scan(self->fd[0], bank.out_id, 7));
	EXPECT_EQ(3, runs(self->fd[1], 7));
	EXPECT_EQ(2, runs(self->fd[0], 7));
	EXPECT_EQ(2, runs(self->fd[2], 7));

	c.mods = PACKETWAY_ATON_PREFIX;
	c.room = 8;
	c.data = (uintptr_t)room;
	EXPECT_EQ(-EINVAL, ring_run(self->fd[0], &c));
	EXPECT_EQ(-1, ioctl(self->fd[0], PACKETWAY_IOC_ATON_REDUCE, &r));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-EINVAL, runs(self->fd[0], PACKETWAY_ATON_REGS));
	EXPECT_EQ(-ENOTCONN, runs(loose, 0));
	close(loose);
	unmap((void *)page);
}

/* a job's latches are its own */
TEST_F(lease, latch_leased)
{
	int other = open_at(self->ifindex[0]), i;
	struct packetway_aton_stand stand = {
		.size = sizeof(stand), .op = PW_ATON_OP_ADD, .reg = 5,
		.mods = PACKETWAY_ATON_PREFIX, .dst = PW_ADDR_LOGICAL_MIN | 2, .period = 1000,
	};
	static const int job[3] = { 0, 1, 3 };
	struct packetway_aton_leased *own;
	struct packetway_aton_get_latch g;
	uint64_t n;

	ASSERT_GE(other, 0);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, take(self->fd[job[i]], 1 << 5, 0x2, KEY));
		EXPECT_EQ(0, do_set(self->fd[job[i]], 5, 1 << i));
	}
	own = map(self->fd[1], 2);
	ASSERT_NE(MAP_FAILED, own);
	EXPECT_EQ(0, scan(self->fd[0], PW_ADDR_LOGICAL_MIN | 2, 5));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, get_latch(self->fd[job[i]], 5, &g));
		EXPECT_EQ(1, g.out_runs);
		EXPECT_EQ(i, g.out_counter);
		EXPECT_EQ((1 << i) - 1, g.out_before);
		EXPECT_EQ((2 << i) - 1, g.out_with);
	}
	EXPECT_EQ(1, own->latch[5].before);
	EXPECT_EQ(3, own->latch[5].with);
	EXPECT_EQ(1, own->latch[5].runs);

	/* others neither read nor change them: not through the group, the ring or an address */
	EXPECT_EQ(-EBUSY, runs(other, 5));
	EXPECT_EQ(-EBUSY, scan(self->fd[2], PW_ADDR_LOGICAL_MIN | 2, 5));
	EXPECT_EQ(-EBUSY, scan(other, PW_ADDR_LOGICAL_MIN | 3, 5));
	EXPECT_EQ(2, refused("a"));
	EXPECT_EQ(-1, ioctl(self->fd[2], PACKETWAY_IOC_ATON_STAND, &stand));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ(7, sum(self->fd[2], PW_ADDR_LOGICAL_MIN | 2, 5, &n));
	EXPECT_EQ(0, scan(self->fd[2], PACKETWAY_ATON_RING_ALL, 5));
	EXPECT_EQ(0, scan(self->fd[2], 1, 5));
	EXPECT_EQ(0, take(self->fd[2], 0, 0x4, KEY + 1));
	EXPECT_EQ(0, take(other, 0, 0x4, KEY + 1));
	EXPECT_EQ(0, scan(self->fd[2], PW_ADDR_LOGICAL_MIN | 4, 5));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(1, runs(self->fd[job[i]], 5));
	/* station c has not leased the register: it is a part of the scans that it is in */
	EXPECT_EQ(2, runs(self->fd[2], 5));
	/* one scan for two jobs is none */
	EXPECT_EQ(0, take(self->fd[2], 0, 0x2, KEY));
	EXPECT_EQ(-EINVAL, scan(self->fd[2], PW_ADDR_LOGICAL_MIN | 6, 5));
	EXPECT_EQ(0, scan(self->fd[2], PW_ADDR_LOGICAL_MIN | 2, 5));
	EXPECT_EQ(2, runs(self->fd[0], 5));

	/* a standing scan of a job that has gone does not reach the next one with its bit */
	EXPECT_EQ(0, ioctl(self->fd[2], PACKETWAY_IOC_ATON_STAND, &stand));
	EXPECT_SOON(1, runs(self->fd[0], 5) > 2);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, give_back(self->fd[job[i]], 1 << 5, 0x2));
	EXPECT_EQ(0, give_back(self->fd[2], 0, 0x2));
	EXPECT_EQ(0, take(self->fd[0], 1 << 5, 0x2, KEY + 2));
	n = own->latch[5].runs;
	usleep(100000);
	EXPECT_EQ(0, runs(self->fd[0], 5));
	EXPECT_EQ(n, own->latch[5].runs);
	/* and what a register has latched does not stay for its next owner */
	EXPECT_EQ(0, scan(self->fd[0], PW_ADDR_LOGICAL_MIN | 2, 5));
	EXPECT_EQ(1, runs(self->fd[0], 5));
	EXPECT_EQ(0, give_back(self->fd[0], 1 << 5, 0));
	EXPECT_EQ(0, take(self->fd[0], 1 << 5, 0, 0));
	EXPECT_EQ(0, runs(self->fd[0], 5));
	unmap(own);
	close(other);
}

TEST_HARNESS_MAIN
