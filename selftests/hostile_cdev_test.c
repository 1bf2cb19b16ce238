// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/packetway in hostile hands: structures of any size, a station that goes while
 * results are pending, rings of 900,000 interfaces, and threads that bind, unbind,
 * install standing commands and close the same file at once.
 *
 * The last part is bounded by time: five seconds, a minute in a soak. Memory that is
 * used after it was freed is found by slub_debug and KFENCE.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "pwharness.h"
#include "pwring.h"

#define BIG 900000

FIXTURE(hostile) {
	int ns;
	struct pw_nl nl;
};

/* stations s0, s1 at ports 0, 1 of SAN 2, up */
FIXTURE_SETUP(hostile)
{
	self->ns = pw_ns_new();
	ASSERT_GE(self->ns, 0);
	ASSERT_EQ(0, setns(self->ns, CLONE_NEWNET));
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_station_add(&self->nl, "s0", 2, 0, -1));
	ASSERT_EQ(0, pw_station_add(&self->nl, "s1", 2, 1, -1));
	ASSERT_EQ(0, pw_link_up(&self->nl, "s0"));
	ASSERT_EQ(0, pw_link_up(&self->nl, "s1"));
}

FIXTURE_TEARDOWN(hostile)
{
	close(self->nl.fd);
	close(self->ns);
}

static int do_stand(int fd, unsigned int op)
{
	struct packetway_aton_stand s = {
		.size = sizeof(s), .op = op, .dst = PACKETWAY_ATON_RING_ALL,
		.period = PACKETWAY_ATON_PERIOD_MIN,
	};

	return ioctl(fd, PACKETWAY_IOC_ATON_STAND, &s) ? -errno : 0;
}

static int do_create(int fd, unsigned int count, unsigned int regs)
{
	struct packetway_ring_create r = { .size = sizeof(r), .count = count, .regs = regs };

	return ioctl(fd, PACKETWAY_IOC_RING_CREATE, &r) ? -errno : 0;
}

/* over a page: E2BIG, even if all of it is 0 and there */
TEST_F(hostile, size)
{
	static const unsigned long file[] = {
		PACKETWAY_IOC_GET_INFO, PACKETWAY_IOC_BIND, PACKETWAY_IOC_UNBIND,
		PACKETWAY_IOC_ATON_COMMAND, PACKETWAY_IOC_ATON_SUBMIT, PACKETWAY_IOC_ATON_STAND,
		PACKETWAY_IOC_ATON_SET, PACKETWAY_IOC_ATON_GET, PACKETWAY_IOC_RING_CREATE,
		PACKETWAY_IOC_RING_OPERANDS, PACKETWAY_IOC_ATON_LEASE, PACKETWAY_IOC_POETS_OPEN,
		PACKETWAY_IOC_ATON_GET_LATCH, PACKETWAY_IOC_ATON_ROUND, PACKETWAY_IOC_ATON_REDUCE,
		PACKETWAY_IOC_HALF_OPEN, PACKETWAY_IOC_TIME_OPEN,
	};
	static const unsigned long poets[] = {
		PACKETWAY_IOC_POETS_LOAD, PACKETWAY_IOC_POETS_START, PACKETWAY_IOC_POETS_SET,
		PACKETWAY_IOC_POETS_GET, PACKETWAY_IOC_POETS_LOG, PACKETWAY_IOC_POETS_KILL,
		PACKETWAY_IOC_POETS_COUNT, PACKETWAY_IOC_POETS_RESET,
	};
	struct packetway_poets_open o = { .size = sizeof(o), .devices = 1, .pins = 1 };
	struct packetway_aton_command c[2] = { ring_cmd(PW_ATON_OP_ADD) };
	struct packetway_aton_submit sub = {
		.size = sizeof(sub), .commands = (uintptr_t)c, .count = 1,
	};
	size_t page = sysconf(_SC_PAGESIZE), len = 64 << 20, i;
	struct ring_if r;
	uint32_t *arg;
	int fd;

	ASSERT_EQ(0, ring_open(&r, pw_link_index(&self->nl, "s0")));
	fd = ioctl(r.fd, PACKETWAY_IOC_POETS_OPEN, &o);
	ASSERT_GE(fd, 0);
	arg = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, arg);
	for (i = 0; i < ARRAY_SIZE(file); i++) {
		*arg = page + 8;
		EXPECT_EQ(-1, ioctl(r.fd, file[i], arg));
		EXPECT_EQ(E2BIG, errno);
		*arg = len;
		EXPECT_EQ(-1, ioctl(r.fd, file[i], arg));
		EXPECT_EQ(E2BIG, errno);
	}
	for (i = 0; i < ARRAY_SIZE(poets); i++) {
		*arg = page + 8;
		EXPECT_EQ(-1, ioctl(fd, poets[i], arg));
		EXPECT_EQ(E2BIG, errno);
	}
	*arg = page;
	EXPECT_EQ(0, ioctl(r.fd, PACKETWAY_IOC_GET_INFO, arg));
	sub.stride = page + 8;
	EXPECT_EQ(-1, ioctl(r.fd, PACKETWAY_IOC_ATON_SUBMIT, &sub));
	EXPECT_EQ(E2BIG, errno);
	munmap(arg, len);
	close(fd);
	ring_close(&r);
}

/* news of a standing command are pending when the station goes */
TEST_F(hostile, gone)
{
	int ifindex = pw_link_index(&self->nl, "s0");
	struct packetway_aton_result r;
	struct pollfd p = { .fd = open(PW_DEV, O_RDWR | O_NONBLOCK), .events = POLLIN };

	ASSERT_GE(p.fd, 0);
	ASSERT_EQ(0, pw_bind(p.fd, ifindex));
	ASSERT_EQ(0, do_stand(p.fd, PW_ATON_OP_ADD));
	ASSERT_EQ(1, poll(&p, 1, 60000));
	EXPECT_EQ(POLLIN, p.revents);
	ASSERT_EQ(0, pw_link_del(&self->nl, "s0"));
	ASSERT_EQ(1, poll(&p, 1, 0));
	EXPECT_EQ(POLLIN | POLLHUP | POLLERR, p.revents);
	/* the last result, then the end */
	EXPECT_EQ(sizeof(r), read(p.fd, &r, sizeof(r)));
	EXPECT_EQ(PACKETWAY_ATON_F_STANDING, r.flags & PACKETWAY_ATON_F_STANDING);
	ASSERT_EQ(-1, read(p.fd, &r, sizeof(r)));
	ASSERT_EQ(ENODEV, errno);
	/* only now: a read that would never end could not be killed */
	ASSERT_EQ(0, fcntl(p.fd, F_SETFL, 0));
	EXPECT_EQ(-1, read(p.fd, &r, sizeof(r)));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(1, poll(&p, 1, 0));
	EXPECT_EQ(POLLHUP | POLLERR, p.revents);
	close(p.fd);
}

/* a descriptor is installed only if the program learns its number */
TEST_F(hostile, poets_fd)
{
	long page = sysconf(_SC_PAGESIZE);
	struct packetway_poets_open *o;
	struct ring_if r;
	int fd;

	ASSERT_EQ(0, ring_open(&r, pw_link_index(&self->nl, "s0")));
	o = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, o);
	*o = (struct packetway_poets_open) { .size = sizeof(*o), .devices = 1, .pins = 1 };
	ASSERT_EQ(0, mprotect(o, page, PROT_READ));
	fd = ioctl(r.fd, PACKETWAY_IOC_POETS_OPEN, o);
	EXPECT_GE(fd, 0);
	close(fd);
	munmap(o, page);
	ring_close(&r);
}

/* interfaces join and leave while more is queued than a minute can do */
TEST_F_TIMEOUT(hostile, rtnl, 3600)
{
	enum { QUEUED = 256 };
	struct packetway_aton_command *c = calloc(QUEUED, sizeof(*c));
	struct packetway_aton_submit s = {
		.size = sizeof(s), .commands = (uintptr_t)c, .count = QUEUED, .stride = sizeof(*c),
	};
	struct packetway_aton_command add = ring_cmd(PW_ATON_OP_ADD);
	struct packetway_aton_result r;
	struct ring_if a, b;
	int i, ended = 0;

	ASSERT_EQ(0, ring_open(&a, pw_link_index(&self->nl, "s0")));
	ASSERT_EQ(0, ring_open(&b, pw_link_index(&self->nl, "s1")));
	ASSERT_EQ(0, do_create(a.fd, BIG, 1));
	for (i = 0; i < QUEUED; i++) {
		c[i] = ring_cmd(PW_ATON_OP_TREE);
		c[i].heights = PACKETWAY_ATON_HEIGHTS;
		memset(c[i].ops, PW_ATON_OP_MAX, PACKETWAY_ATON_HEIGHTS);
	}
	ASSERT_EQ(0, ioctl(a.fd, PACKETWAY_IOC_ATON_SUBMIT, &s));
	ASSERT_EQ(QUEUED, s.out_queued);

	EXPECT_EQ(0, do_create(b.fd, 1, 1));
	EXPECT_EQ(0, pw_station_add(&self->nl, "s2", 2, 2, -1));
	EXPECT_EQ(0, pw_link_up(&self->nl, "s2"));
	EXPECT_EQ(0, pw_link_del(&self->nl, "s2"));
	ring_close(&b);
	ASSERT_EQ(0, fcntl(a.fd, F_SETFL, O_NONBLOCK));
	while (read(a.fd, &r, sizeof(r)) == sizeof(r))
		ended++;
	EXPECT_LT(ended, QUEUED) {
		TH_LOG("membership of the ring changed only after all commands had ended");
	}

	/* what was on the ring was sent again, and closing takes the rest back */
	ASSERT_EQ(0, ring_open(&b, pw_link_index(&self->nl, "s1")));
	ASSERT_EQ(0, ring_run(b.fd, &add));
	EXPECT_EQ(BIG + 2, add.out_counter);
	EXPECT_EQ(272 + BIG + 2, add.out_ring_bits);
	ring_close(&a);
	ASSERT_EQ(0, ring_run(b.fd, &add));
	EXPECT_EQ(2, add.out_counter);
	ring_close(&b);
	free(c);
}

/* shortest time of a few in which a station joins the ring, in seconds */
static double join_time(struct pw_nl *nl)
{
	double best = 1e9, t;
	int i;

	for (i = 0; i < 5; i++) {
		t = pw_now();
		if (pw_station_add(nl, "s2", 2, 2, -1))
			return -1;
		t = pw_now() - t;
		if (t < best)
			best = t;
		if (pw_link_del(nl, "s2"))
			return -1;
	}
	return best;
}

/* a station joins a ring of any length as fast as a short one */
TEST_F_TIMEOUT(hostile, join, 3600)
{
	double small, large;
	struct ring_if a;

	ASSERT_EQ(0, ring_open(&a, pw_link_index(&self->nl, "s0")));
	small = join_time(&self->nl);
	ASSERT_EQ(0, do_create(a.fd, BIG, PACKETWAY_ATON_REGS));
	large = join_time(&self->nl);
	TH_LOG("%.1f ms, with %d interfaces %.1f ms", small * 1e3, BIG, large * 1e3);
	ASSERT_GT(small, 0);
	ASSERT_GT(large, 0);
	EXPECT_LT(large, 20 * small);
	ring_close(&a);
}

/* --- one file, many threads ------------------------------------------------ */

static int shared, ifindex[2];
static atomic_bool stop;
static atomic_long stood, bound, closed;

static void *stander(void *arg)
{
	while (!stop) {
		stood += !do_stand(shared, PW_ATON_OP_ADD);
		if (!arg)
			do_stand(shared, 0);
	}
	return NULL;
}

static void *binder(void *arg)
{
	int i = (uintptr_t)arg;

	while (!stop) {
		bound += !pw_bind(shared, ifindex[i]);
		pw_unbind(shared);
	}
	return NULL;
}

/* the file behind the number goes while others use it */
static void *closer(void *arg)
{
	struct packetway_aton_result r;
	int fd;

	while (!stop) {
		usleep(500);
		if (read(shared, &r, sizeof(r)) < 0)
			errno = 0;
		fd = open(PW_DEV, O_RDWR | O_NONBLOCK);
		if (fd < 0)
			continue;
		dup2(fd, shared);
		close(fd);
		closed++;
	}
	return NULL;
}

TEST_F_TIMEOUT(hostile, race, 3600)
{
	static void *(*const role[])(void *) = {
		stander, stander, stander, binder, binder, binder, closer,
	};
	enum { THREADS = ARRAY_SIZE(role) };
	pthread_t t[THREADS];
	int i;

	ifindex[0] = pw_link_index(&self->nl, "s0");
	ifindex[1] = pw_link_index(&self->nl, "s1");
	shared = open(PW_DEV, O_RDWR | O_NONBLOCK);
	ASSERT_GE(shared, 0);
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&t[i], NULL, role[i], (void *)(uintptr_t)(i % 2)));
	sleep(pw_count(6, 5));
	stop = true;
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	close(shared);
	TH_LOG("%ld stood, %ld bound, %ld closed", (long)stood, (long)bound, (long)closed);
	EXPECT_GT(stood, 0);
	EXPECT_GT(bound, 0);
	EXPECT_GT(closed, 0);
}

TEST_HARNESS_MAIN
