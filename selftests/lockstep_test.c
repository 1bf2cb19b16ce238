// SPDX-License-Identifier: GPL-2.0
/*
 * A SAN in lockstep: its time advances only while every participant is blocked, and what
 * participants see does not depend on when Linux runs them.
 */
#include "pwsan.h"
#include "pwring.h"
#include "pwrouter.h"
#include "pwharness.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/userfaultfd.h>

#define STATIONS	5
#define PT_TEST		0x0777
#define MSEC		1000000ULL
#define SEC		(1000 * MSEC)

FIXTURE(lockstep) {
	int ns, ifindex[STATIONS], fd[STATIONS], clk;
	struct pw_nl nl;
	struct pw_genl g;
	volatile struct packetway_time_page *page;
};

FIXTURE_VARIANT(lockstep) {
	int engine;
};

FIXTURE_VARIANT_ADD(lockstep, fast) {
	.engine = PACKETWAY_ENGINE_FAST,
};

FIXTURE_VARIANT_ADD(lockstep, rtl) {
	.engine = PACKETWAY_ENGINE_RTL,
};

/* ---- the interface ---- */

static int time_open(int ifindex)
{
	struct packetway_time_open o = { .size = sizeof(o), .ifindex = ifindex };
	int dev = open(PW_DEV, O_RDWR | O_CLOEXEC), fd;

	if (dev < 0)
		return -errno;
	fd = ioctl(dev, PACKETWAY_IOC_TIME_OPEN, &o);
	fd = fd < 0 ? -errno : fd;
	close(dev);
	return fd;
}

static int join_as(int fd, uint32_t flags, uint32_t order)
{
	struct packetway_time_join j = { .size = sizeof(j), .flags = flags, .order = order };

	return ioctl(fd, PACKETWAY_IOC_TIME_JOIN, &j) ? -errno : 0;
}

static int join(int fd)
{
	return join_as(fd, 0, 0);
}

static int leave_as(int fd, uint32_t flags)
{
	struct packetway_time_leave l = { .size = sizeof(l), .flags = flags };

	return ioctl(fd, PACKETWAY_IOC_TIME_LEAVE, &l) ? -errno : 0;
}

static int leave(int fd)
{
	return leave_as(fd, 0);
}

static int wait_flags(int fd, uint32_t flags, uint64_t until, uint64_t *now)
{
	struct packetway_time_wait w = { .size = sizeof(w), .flags = flags, .until = until };
	int err = ioctl(fd, PACKETWAY_IOC_TIME_WAIT, &w) ? -errno : 0;

	if (now)
		*now = w.out_now;
	return err;
}

static int wait_until(int fd, uint64_t until)
{
	return wait_flags(fd, 0, until, NULL);
}

static struct packetway_time_get get(int fd)
{
	struct packetway_time_get g = { .size = sizeof(g) };

	if (ioctl(fd, PACKETWAY_IOC_TIME_GET, &g))
		g.out_participants = 9999;
	return g;
}

static int participants(int fd)
{
	return get(fd).out_participants;
}

static int running(int fd)
{
	return get(fd).out_running;
}

static int set_stall(int fd, uint32_t ms)
{
	struct packetway_time_set s = {
		.size = sizeof(s), .flags = PACKETWAY_TIME_SET_STALL, .stall_ms = ms,
	};

	return ioctl(fd, PACKETWAY_IOC_TIME_SET, &s) ? -errno : 0;
}

static int alarm_set(int fd, uint64_t at, uint64_t interval)
{
	struct packetway_time_alarm a = { .size = sizeof(a), .at = at, .interval = interval };

	return ioctl(fd, PACKETWAY_IOC_TIME_ALARM, &a) ? -errno : 0;
}

/* the time as a program reads it */
static uint64_t now(volatile struct packetway_time_page *page)
{
	uint32_t seq;
	uint64_t t;

	do {
		while ((seq = page->seq) & 1)
			;
		__sync_synchronize();
		t = page->now;
		__sync_synchronize();
	} while (seq != page->seq);
	return t;
}

/* no sleep: that would be a block */
static void spin(unsigned int us)
{
	double end = pw_now() + us / 1e6;

	while (pw_now() < end)
		;
}

static int send_to(int fd, int from, int to, const void *data, int len)
{
	uint8_t b[256];
	int n = pw_msg(b, to + 1, from + 1, PT_TEST, 0, 0, data, len);

	return send(fd, b, n, 0) == n ? 0 : -errno;
}

static volatile struct packetway_time_page *map_page(int fd)
{
	return mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
}

FIXTURE_SETUP(lockstep)
{
	struct packetway_info info = { .size = sizeof(info) };
	int i, dev, err;
	char name[8];

	ASSERT_EQ(0, unshare(CLONE_NEWNET));
	self->ns = pw_ns_self();
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_genl_open(&self->g, self->ns));
	for (i = 0; i < STATIONS; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		ASSERT_EQ(0, pw_station_add(&self->nl, name, 0, i, -1));
		ASSERT_EQ(0, pw_link_up(&self->nl, name));
		self->ifindex[i] = pw_link_index(&self->nl, name);
		self->fd[i] = pw_timed_open(self->ns, self->ifindex[i]);
		ASSERT_GE(self->fd[i], 0);
	}
	EXPECT_EQ(-EOPNOTSUPP, time_open(self->ifindex[0]));
	ASSERT_EQ(0, pw_gsan_set(&self->g, PACKETWAY_A_SAN_ENGINE, variant->engine));
	dev = open(PW_DEV, O_RDWR | O_CLOEXEC);
	ASSERT_GE(dev, 0);
	ASSERT_EQ(0, ioctl(dev, PACKETWAY_IOC_GET_INFO, &info));
	close(dev);
	err = pw_gsan_set(&self->g, PACKETWAY_A_SAN_CLOCK, PACKETWAY_CLOCK_LOCKSTEP);
	if (!(info.out_features & PACKETWAY_FEATURE_TIME)) {
		EXPECT_EQ(-EOPNOTSUPP, err);
		SKIP(return, "this kernel has no CONFIG_PREEMPT_NOTIFIERS");
	}
	ASSERT_EQ(0, err);
	ASSERT_EQ(PACKETWAY_CLOCK_LOCKSTEP, pw_gsan_get(&self->g, PACKETWAY_A_SAN_CLOCK));
	self->clk = time_open(self->ifindex[0]);
	ASSERT_GE(self->clk, 0);
	self->page = map_page(self->clk);
	ASSERT_NE(MAP_FAILED, (void *)self->page);
}

FIXTURE_TEARDOWN(lockstep)
{
	int i;

	/* a test that forgets a participant would stop the others */
	if (self->clk > 0)
		EXPECT_SOON(0, participants(self->clk));
	for (i = 0; i < STATIONS; i++)
		close(self->fd[i]);
	close(self->clk);
	close(self->nl.fd);
	close(self->g.nl.fd);
	close(self->ns);
}

/* ---- refusals ---- */

TEST_F(lockstep, refusals)
{
	struct packetway_time_open o = { .size = sizeof(o), .flags = 2 };
	struct packetway_time_set s = { .size = sizeof(s), .flags = PACKETWAY_TIME_SET_STALL };
	struct packetway_time_list l = { .size = sizeof(l), .room = 4097 };
	struct packetway_time_alarm a = { .size = sizeof(a), .interval = ~0ULL };
	struct pw_trunk_req trunk = {
		.name = "t", .port = 9, .local = INADDR_LOOPBACK, .local_port = 7001,
		.remote = INADDR_LOOPBACK, .remote_port = 7002, .insecure = true,
	};
	int dev = open(PW_DEV, O_RDWR | O_CLOEXEC);
	uint64_t n;

	EXPECT_EQ(0, pw_link_up(&self->nl, "lo"));
	EXPECT_EQ(-1, ioctl(dev, PACKETWAY_IOC_TIME_OPEN, &o));
	EXPECT_EQ(EINVAL, errno);
	/* commands of clock files are none of the device */
	EXPECT_EQ(-ENOTTY, join(dev));
	close(dev);
	EXPECT_EQ(-1, ioctl(self->clk, PACKETWAY_IOC_TIME_OPEN, &o));
	EXPECT_EQ(EINVAL, errno);
	o = (struct packetway_time_open) { .size = sizeof(o), .ifindex = self->ifindex[0] };
	EXPECT_EQ(-1, ioctl(self->clk, PACKETWAY_IOC_TIME_OPEN, &o));
	EXPECT_EQ(EINVAL, errno);
	o = (struct packetway_time_open) { .size = sizeof(o), .__reserved = 1 };
	EXPECT_EQ(-1, ioctl(self->clk, PACKETWAY_IOC_TIME_OPEN, &o));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-ENODEV, time_open(1));
	EXPECT_EQ(-ENODEV, time_open(99999));
	EXPECT_EQ(-EINVAL, join_as(self->clk, 8, 0));
	EXPECT_EQ(-EINVAL, join_as(self->clk, PACKETWAY_TIME_JOIN_HOLD, 1));
	EXPECT_EQ(-ESRCH, leave(self->clk));
	EXPECT_EQ(-ESRCH, leave_as(self->clk, PACKETWAY_TIME_JOIN_HOLD));
	EXPECT_EQ(-EINVAL, leave_as(self->clk, 1));
	EXPECT_EQ(-EINVAL, wait_flags(self->clk, 4, 1, NULL));
	EXPECT_EQ(-1, ioctl(self->clk, PACKETWAY_IOC_TIME_SET, &s));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(self->clk, PACKETWAY_IOC_TIME_LIST, &l));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(self->clk, PACKETWAY_IOC_TIME_ALARM, &a));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED,
				   self->clk, 0));
	EXPECT_EQ(-1, mprotect((void *)self->page, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE));
	EXPECT_EQ(-1, read(self->clk, &n, 4));
	EXPECT_EQ(EINVAL, errno);

	/* what the time depends on */
	EXPECT_EQ(-EBUSY, pw_gsan_set(&self->g, PACKETWAY_A_SAN_ENGINE,
				      variant->engine == PACKETWAY_ENGINE_RTL ?
				      PACKETWAY_ENGINE_FAST : PACKETWAY_ENGINE_RTL));
	EXPECT_EQ(-EBUSY, pw_gsan_set(&self->g, PACKETWAY_A_SAN_RATE, 1000000));
	EXPECT_EQ(-EBUSY, pw_gsan_set(&self->g, PACKETWAY_A_SAN_DEPTH, 7));
	EXPECT_EQ(-EOPNOTSUPP, pw_gsan_set(&self->g, PACKETWAY_A_SAN_REAL, 1));
	/* what comes over a trunk has another clock */
	EXPECT_EQ(-EOPNOTSUPP, pw_trunk_add(&self->g, &trunk));
	EXPECT_EQ(0, pw_gsan_set(&self->g, PACKETWAY_A_SAN_CLOCK, PACKETWAY_CLOCK_FREE));
	EXPECT_EQ(0, pw_trunk_add(&self->g, &trunk));
	EXPECT_EQ(-EOPNOTSUPP, pw_gsan_set(&self->g, PACKETWAY_A_SAN_CLOCK,
					   PACKETWAY_CLOCK_LOCKSTEP));
	EXPECT_EQ(0, pw_router_del(&self->g, "t"));
	EXPECT_EQ(0, pw_gsan_set(&self->g, PACKETWAY_A_SAN_REAL, 1));
	EXPECT_EQ(-EOPNOTSUPP, pw_gsan_set(&self->g, PACKETWAY_A_SAN_CLOCK,
					   PACKETWAY_CLOCK_LOCKSTEP));
	EXPECT_EQ(-ERANGE, pw_gsan_set(&self->g, PACKETWAY_A_SAN_CLOCK, 2));
}

/* ---- who is a participant ---- */

struct thread_arg {
	int clk, err;
	uint64_t until;
};

static void *join_and_end(void *arg)
{
	struct thread_arg *a = arg;

	a->err = join(a->clk);
	if (a->until)
		a->err = a->err ?: wait_until(a->clk, a->until);
	return NULL;
}

TEST_F(lockstep, join_and_leave)
{
	struct thread_arg a = { .clk = self->clk };
	int other = time_open(0);
	pthread_t t;

	ASSERT_GE(other, 0);
	EXPECT_EQ(0, participants(self->clk));
	EXPECT_EQ(0, join(self->clk));
	EXPECT_EQ(-EALREADY, join(self->clk));
	EXPECT_EQ(1, participants(self->clk));
	EXPECT_EQ(1, running(self->clk));
	EXPECT_EQ(0, leave(self->clk));
	EXPECT_EQ(-ESRCH, leave(self->clk));
	EXPECT_EQ(0, participants(self->clk));
	EXPECT_EQ(0, running(self->clk));

	/* by closing the file */
	EXPECT_EQ(0, join(other));
	EXPECT_EQ(1, participants(self->clk));
	close(other);
	EXPECT_EQ(0, participants(self->clk));

	/* a thread that ends */
	ASSERT_EQ(0, pthread_create(&t, NULL, join_and_end, &a));
	pthread_join(t, NULL);
	EXPECT_EQ(0, a.err);
	EXPECT_SOON(0, participants(self->clk));
	EXPECT_SOON(0, running(self->clk));

	/* holds */
	EXPECT_EQ(0, join_as(self->clk, PACKETWAY_TIME_JOIN_HOLD, 0));
	EXPECT_EQ(1, running(self->clk));
	EXPECT_EQ(0, join_as(self->clk, PACKETWAY_TIME_JOIN_HELD, 0));
	EXPECT_EQ(1, running(self->clk));
	EXPECT_EQ(0, leave(self->clk));
	EXPECT_EQ(0, running(self->clk));
	other = time_open(0);
	EXPECT_EQ(0, join_as(other, PACKETWAY_TIME_JOIN_HOLD, 0));
	EXPECT_EQ(1, running(self->clk));
	close(other);
	EXPECT_SOON(0, running(self->clk));
}

/* a child that joins, tells so, and does something for ever */
static pid_t child(int clk, void (*then)(void))
{
	int p[2];
	pid_t pid;
	char c;

	if (pipe(p))
		return -1;
	pid = fork();
	if (pid) {
		close(p[1]);
		if (read(p[0], &c, 1) != 1)
			pid = -1;
		close(p[0]);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (join(clk) || write(p[1], "j", 1) != 1)
		_exit(1);
	then();
	_exit(0);
}

static void for_ever(void)
{
	for (;;)
		;
}

static void sleep_for_ever(void)
{
	for (;;)
		pause();
}

static void run_sleep(void)
{
	execl("/bin/sleep", "sleep", "1000", NULL);
}

TEST_F(lockstep, kill)
{
	pid_t pid = child(self->clk, for_ever);

	ASSERT_GT(pid, 0);
	EXPECT_EQ(1, participants(self->clk));
	EXPECT_EQ(1, running(self->clk));
	kill(pid, SIGKILL);
	EXPECT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_SOON(0, participants(self->clk));
	EXPECT_SOON(0, running(self->clk));

	pid = child(self->clk, sleep_for_ever);
	ASSERT_GT(pid, 0);
	EXPECT_SOON(0, running(self->clk));
	EXPECT_EQ(1, participants(self->clk));
	kill(pid, SIGKILL);
	EXPECT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_SOON(0, participants(self->clk));
	EXPECT_EQ(0, running(self->clk));
}

TEST_F(lockstep, exec)
{
	pid_t pid = child(self->clk, run_sleep);

	ASSERT_GT(pid, 0);
	EXPECT_SOON(0, participants(self->clk));
	EXPECT_SOON(0, running(self->clk));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	EXPECT_EQ(0, running(self->clk));
}

static int clock_of_child;

static void *close_clock(void *arg)
{
	close(clock_of_child);
	return NULL;
}

/*
 * The last descriptor of the clock is closed by another thread, so the participant has not left;
 * exec makes it another program, which ends at once.
 */
static void run_and_end(void)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, close_clock, NULL) && !pthread_join(t, NULL))
		execl("/bin/true", "true", NULL);
}

/* a participant that leaves by exec and ends before that was noticed */
TEST_F_TIMEOUT(lockstep, exec_and_end, 3000)
{
	int i, n = pw_count(20, 4);
	pid_t pid;

	for (i = 0; i < n; i++) {
		clock_of_child = self->clk;
		pid = child(self->clk, run_and_end);
		ASSERT_GT(pid, 0);
		EXPECT_EQ(pid, waitpid(pid, NULL, 0));
	}
	EXPECT_SOON(0, participants(self->clk));
	EXPECT_SOON(0, running(self->clk));
}

/* ---- time ---- */

TEST_F(lockstep, waits)
{
	uint64_t t0 = now(self->page), t;
	double start = pw_now();

	EXPECT_EQ(0, join(self->clk));
	/* an hour of virtual time passes at once */
	EXPECT_EQ(0, wait_flags(self->clk, 0, t0 + 3600 * SEC, &t));
	EXPECT_EQ(t0 + 3600 * SEC, t);
	EXPECT_EQ(t, now(self->page));
	EXPECT_EQ(0, wait_flags(self->clk, PACKETWAY_TIME_WAIT_FOR, 77, &t));
	EXPECT_EQ(t0 + 3600 * SEC + 77, t);
	/* the past */
	EXPECT_EQ(0, wait_until(self->clk, t0));
	EXPECT_EQ(t, now(self->page));
	EXPECT_EQ(t, pw_gsan_get(&self->g, PACKETWAY_A_SAN_TIME));
	EXPECT_EQ(0, leave(self->clk));
	EXPECT_LT(pw_now() - start, 3600);
}

TEST_F(lockstep, waits_in_order)
{
	struct thread_arg a[4];
	uint64_t t0 = now(self->page);
	pthread_t t[4];
	int i;

	EXPECT_EQ(0, join(self->clk));
	for (i = 0; i < 4; i++) {
		a[i] = (struct thread_arg) { .clk = self->clk, .until = t0 + (4 - i) * SEC };
		ASSERT_EQ(0, pthread_create(&t[i], NULL, join_and_end, &a[i]));
	}
	/* time stands still as long as this thread runs */
	while (participants(self->clk) < 5)
		sched_yield();
	EXPECT_EQ(t0, now(self->page));
	EXPECT_EQ(0, wait_until(self->clk, t0 + 5 * SEC));
	EXPECT_EQ(t0 + 5 * SEC, now(self->page));
	EXPECT_EQ(0, leave(self->clk));
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		EXPECT_EQ(0, a[i].err);
	}
}

static void on_signal(int sig)
{
}

TEST_F(lockstep, signals)
{
	struct sigaction sa = { .sa_handler = on_signal };
	pid_t self_pid = getpid(), pid;
	uint64_t t0 = now(self->page);
	int status;

	sigaction(SIGUSR1, &sa, NULL);
	/* a participant that runs holds the time, so that only the signal can end the wait */
	EXPECT_EQ(0, join_as(self->clk, PACKETWAY_TIME_JOIN_HOLD, 0));
	pid = fork();
	if (!pid) {
		usleep(100000);
		kill(self_pid, SIGUSR1);
		_exit(0);
	}
	EXPECT_EQ(-EINTR, wait_until(self->clk, t0 + SEC));
	EXPECT_EQ(t0, now(self->page));
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, leave_as(self->clk, PACKETWAY_TIME_JOIN_HOLD));
	EXPECT_EQ(0, wait_until(self->clk, t0 + SEC));
}

TEST_F(lockstep, running_holds_the_time)
{
	uint64_t t0 = now(self->page), ns;
	uint8_t buf[256];
	int i;

	EXPECT_EQ(0, join(self->clk));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, send_to(self->fd[1], 1, 0, "x", 1));
	spin(50000);
	EXPECT_EQ(t0, now(self->page));
	EXPECT_EQ(-1, pw_timed_recv(self->fd[0], buf, sizeof(buf), &ns, 0));
	/* recv with a limit blocks, so the messages arrive */
	for (i = 0; i < 3; i++)
		EXPECT_GT(pw_timed_recv(self->fd[0], buf, sizeof(buf), &ns, SOON), 0);
	EXPECT_LE(t0 + 155, ns);
	EXPECT_LE(ns, now(self->page));
	EXPECT_EQ(0, leave(self->clk));
}

TEST_F(lockstep, stop)
{
	pid_t pid = child(self->clk, sleep_for_ever);
	struct thread_arg a = { .clk = self->clk, .until = now(self->page) + SEC };
	uint64_t t0 = now(self->page);
	pthread_t t;

	ASSERT_GT(pid, 0);
	EXPECT_SOON(0, running(self->clk));
	kill(pid, SIGSTOP);
	EXPECT_EQ(pid, waitpid(pid, NULL, WUNTRACED));
	/* a stopped thread is not blocked */
	EXPECT_SOON(1, running(self->clk));
	ASSERT_EQ(0, pthread_create(&t, NULL, join_and_end, &a));
	EXPECT_SOON(2, participants(self->clk));
	EXPECT_SOON(1, running(self->clk));
	usleep(NEVER * 1000);
	EXPECT_EQ(t0, now(self->page));
	kill(pid, SIGCONT);
	pthread_join(t, NULL);
	EXPECT_EQ(0, a.err);
	EXPECT_EQ(t0 + SEC, now(self->page));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST_F(lockstep, alarms)
{
	struct pollfd p = { .fd = self->clk, .events = POLLIN };
	uint64_t t0 = now(self->page), n;

	EXPECT_EQ(0, join(self->clk));
	EXPECT_EQ(0, poll(&p, 1, 0));
	EXPECT_EQ(0, alarm_set(self->clk, t0 + SEC, 0));
	EXPECT_EQ(1, poll(&p, 1, -1));
	EXPECT_EQ(POLLIN, p.revents);
	EXPECT_EQ(t0 + SEC, now(self->page));
	EXPECT_EQ(8, read(self->clk, &n, 8));
	EXPECT_EQ(1, n);
	/* again and again; what is not read adds up */
	EXPECT_EQ(0, alarm_set(self->clk, t0 + 2 * SEC, SEC));
	EXPECT_EQ(0, wait_until(self->clk, t0 + 5 * SEC));
	EXPECT_EQ(8, read(self->clk, &n, 8));
	EXPECT_EQ(4, n);
	EXPECT_EQ(8, read(self->clk, &n, 8));
	EXPECT_EQ(1, n);
	EXPECT_EQ(t0 + 6 * SEC, now(self->page));
	EXPECT_EQ(0, alarm_set(self->clk, 0, 0));
	/* the past */
	EXPECT_EQ(0, alarm_set(self->clk, 1, 0));
	EXPECT_EQ(8, read(self->clk, &n, 8));
	EXPECT_EQ(t0 + 6 * SEC, now(self->page));
	EXPECT_EQ(0, leave(self->clk));
}

static void *read_alarm(void *arg)
{
	struct thread_arg *a = arg;
	uint64_t n;

	a->err = read(a->clk, &n, sizeof(n)) < 0 ? -errno : 0;
	return NULL;
}

/* a thread reads a file without an alarm when the clock ends: it returns as well */
TEST_F(lockstep, read_of_no_alarm)
{
	struct thread_arg a = { .clk = self->clk, .err = 1 };
	pthread_t t;

	ASSERT_EQ(0, pthread_create(&t, NULL, read_alarm, &a));
	usleep(100000);
	EXPECT_EQ(1, *(volatile int *)&a.err);
	EXPECT_EQ(0, pw_gsan_set(&self->g, PACKETWAY_A_SAN_CLOCK, PACKETWAY_CLOCK_FREE));
	EXPECT_SOON(-ENODEV, *(volatile int *)&a.err);
	if (a.err == 1)
		pthread_cancel(t);
	pthread_join(t, NULL);
}

TEST_F(lockstep, busy_wait)
{
	uint64_t t0 = now(self->page), t, ns;
	uint8_t buf[256];

	EXPECT_EQ(0, join(self->clk));
	EXPECT_EQ(0, wait_flags(self->clk, PACKETWAY_TIME_WAIT_FOR | PACKETWAY_TIME_WAIT_EVENT, 1000,
				&t));
	EXPECT_EQ(t0 + 1000, t);
	EXPECT_EQ(0, send_to(self->fd[1], 1, 0, "x", 1));
	/* the message arrives before the hour is over */
	EXPECT_EQ(0, wait_flags(self->clk, PACKETWAY_TIME_WAIT_FOR | PACKETWAY_TIME_WAIT_EVENT,
				3600 * SEC, &t));
	EXPECT_GT(pw_timed_recv(self->fd[0], buf, sizeof(buf), &ns, SOON), 0);
	EXPECT_EQ(t, ns);
	EXPECT_EQ(0, leave(self->clk));
}

/* ---- a stall ---- */

static void *recv_one(void *arg)
{
	struct thread_arg *a = arg;
	char c;

	a->err = join(a->clk);
	if (!a->err && read((int)a->until, &c, 1) != 1)
		a->err = -errno;
	return NULL;
}

TEST_F(lockstep, stall)
{
	struct packetway_time_entry e[4] = {};
	struct packetway_time_list l = {
		.size = sizeof(l), .entries = (uintptr_t)e, .room = 4,
	};
	struct pollfd p = { .fd = self->clk, .events = POLLPRI };
	int pipes[2], round;
	struct thread_arg a;
	pthread_t t;

	ASSERT_EQ(0, pipe(pipes));
	EXPECT_EQ(0, set_stall(self->clk, 50));
	for (round = 0; round < 5; round++) {
		a = (struct thread_arg) { .clk = self->clk, .until = pipes[0] };
		ASSERT_EQ(0, pthread_create(&t, NULL, recv_one, &a));
		EXPECT_EQ(1, poll(&p, 1, SOON));
		EXPECT_EQ(POLLPRI, p.revents);
		EXPECT_TRUE(self->page->flags & PACKETWAY_TIME_F_STALLED);
		EXPECT_EQ(0, ioctl(self->clk, PACKETWAY_IOC_TIME_LIST, &l));
		EXPECT_EQ(1, l.out_count);
		EXPECT_EQ(1, e[0].blocked);
		EXPECT_NE(0, e[0].pid);
		EXPECT_EQ(0, e[0].port);
		EXPECT_EQ(1, write(pipes[1], "x", 1));
		pthread_join(t, NULL);
		EXPECT_EQ(0, a.err);
		EXPECT_SOON(0, participants(self->clk));
		EXPECT_EQ(0, set_stall(self->clk, 50));
		EXPECT_FALSE(self->page->flags & PACKETWAY_TIME_F_STALLED);
	}
	close(pipes[0]);
	close(pipes[1]);
}

TEST_F(lockstep, no_stall)
{
	struct pollfd p = { .fd = self->clk, .events = POLLPRI };
	pid_t pid = child(self->clk, for_ever);

	/* a thread that runs is no stall, and neither is a clock without participants */
	ASSERT_GT(pid, 0);
	EXPECT_EQ(0, set_stall(self->clk, 1));
	EXPECT_EQ(0, poll(&p, 1, NEVER));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	EXPECT_EQ(0, poll(&p, 1, NEVER));
}

/* ---- the end ---- */

TEST_F(lockstep, end)
{
	struct pollfd p = { .fd = self->clk, .events = POLLIN };
	struct thread_arg a = { .clk = self->clk, .until = now(self->page) + SEC };
	pthread_t t;

	EXPECT_EQ(0, join_as(self->clk, PACKETWAY_TIME_JOIN_HOLD, 0));
	ASSERT_EQ(0, pthread_create(&t, NULL, join_and_end, &a));
	EXPECT_SOON(1, participants(self->clk));
	EXPECT_SOON(1, running(self->clk));
	EXPECT_EQ(0, pw_gsan_set(&self->g, PACKETWAY_A_SAN_CLOCK, PACKETWAY_CLOCK_FREE));
	pthread_join(t, NULL);
	EXPECT_EQ(-ENODEV, a.err);
	EXPECT_EQ(-ENODEV, join(self->clk));
	EXPECT_EQ(-ENODEV, wait_until(self->clk, ~0ULL));
	EXPECT_EQ(-ENODEV, alarm_set(self->clk, 1, 0));
	EXPECT_EQ(1, poll(&p, 1, 0));
	EXPECT_EQ(POLLHUP, p.revents);
	EXPECT_TRUE(self->page->flags & PACKETWAY_TIME_F_ENDED);
}

TEST_F(lockstep, san_goes)
{
	char name[8];
	int i;

	EXPECT_EQ(0, join(self->clk));
	for (i = 0; i < STATIONS; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		EXPECT_EQ(0, pw_link_del(&self->nl, name));
	}
	EXPECT_SOON(-ENODEV, wait_until(self->clk, ~0ULL));
	EXPECT_EQ(0, leave(self->clk));
}

/* ---- the same again ---- */

#define LEN	40
#define THINK	100000

/* a fabric without a past */
static int fresh(struct pw_genl *g, int engine)
{
	return pw_gsan_set(g, PACKETWAY_A_SAN_CLOCK, PACKETWAY_CLOCK_FREE) ?:
	       pw_gsan_set(g, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_NONE) ?:
	       pw_gsan_set(g, PACKETWAY_A_SAN_ENGINE, engine);
}

static int send_then(int fd, int from, int to, uint64_t at)
{
	uint8_t b[256];
	int n = pw_msg(b, to + 1, from + 1, PT_TEST, 0, 0, NULL, LEN);

	return pw_timed_send(fd, b, n, at) == n ? 0 : -errno;
}

struct player {
	int clk, fd, port, turns;
	unsigned int us;
	volatile struct packetway_time_page *page;
	uint64_t seen[64], sent[64];
};

/* answer what comes after a virtual time */
static void *echo(void *arg)
{
	struct player *p = arg;
	uint8_t data[LEN] = {}, buf[256];
	int i;

	join(p->clk);
	for (i = 0; i < p->turns; i++) {
		if (recv(p->fd, buf, sizeof(buf), 0) < 0)
			break;
		p->seen[i] = now(p->page);
		spin(pw_below(p->us));
		/* some messages are alone, others are not */
		if (i % 3)
			wait_flags(p->clk, PACKETWAY_TIME_WAIT_FOR, THINK, NULL);
		p->sent[i] = now(p->page);
		if (send_to(p->fd, p->port, 1 - p->port, data, LEN))
			break;
	}
	leave(p->clk);
	return NULL;
}

TEST_F(lockstep, ping_pong)
{
	struct player a = { .clk = self->clk, .fd = self->fd[0], .port = 0, .turns = 10, .us = 3000,
			    .page = self->page };
	struct player b = { .clk = self->clk, .fd = self->fd[1], .port = 1, .turns = 10, .us = 3000,
			    .page = self->page };
	uint64_t t0, ns;
	uint8_t data[LEN] = {}, buf[256];
	pthread_t t[2];
	int i;

	ASSERT_EQ(0, fresh(&self->g, variant->engine));
	EXPECT_EQ(0, pw_gsan_set(&self->g, PACKETWAY_A_SAN_CLOCK, PACKETWAY_CLOCK_LOCKSTEP));
	a.clk = time_open(self->ifindex[0]);
	b.clk = time_open(self->ifindex[1]);
	ASSERT_GE(b.clk, 0);
	a.page = map_page(a.clk);
	b.page = a.page;
	EXPECT_EQ(0, join(a.clk));
	ASSERT_EQ(0, pthread_create(&t[0], NULL, echo, &a));
	ASSERT_EQ(0, pthread_create(&t[1], NULL, echo, &b));
	while (participants(a.clk) < 3)
		sched_yield();
	EXPECT_EQ(0, wait_flags(a.clk, PACKETWAY_TIME_WAIT_FOR, 100000, &t0));
	EXPECT_EQ(0, send_to(self->fd[0], 0, 1, data, LEN));
	EXPECT_EQ(0, leave(a.clk));
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	EXPECT_SOON(0, participants(a.clk));
	/* the last answer */
	EXPECT_GT(pw_timed_recv(self->fd[1], buf, sizeof(buf), &ns, SOON), 0);
	close(a.clk);
	close(b.clk);

	/* the same messages, known beforehand: the machine has the same times */
	ASSERT_EQ(0, fresh(&self->g, variant->engine));
	EXPECT_EQ(0, pw_gsan_set(&self->g, PACKETWAY_A_SAN_FROZEN, 1));
	EXPECT_EQ(0, send_then(self->fd[0], 0, 1, t0));
	for (i = 0; i < 10; i++)
		EXPECT_EQ(0, send_then(self->fd[1], 1, 0, b.sent[i]));
	for (i = 0; i < 9; i++)
		EXPECT_EQ(0, send_then(self->fd[0], 0, 1, a.sent[i]));
	EXPECT_EQ(0, pw_gsan_set(&self->g, PACKETWAY_A_SAN_FROZEN, 0));
	for (i = 0; i < 10; i++) {
		EXPECT_GT(pw_timed_recv(self->fd[1], buf, sizeof(buf), &ns, SOON), 0);
		EXPECT_EQ(ns, b.seen[i]);
		EXPECT_GT(pw_timed_recv(self->fd[0], buf, sizeof(buf), &ns, SOON), 0);
		EXPECT_EQ(ns, a.seen[i]);
	}
}

struct sender {
	struct player p;
	uint64_t at;
};

/* at one virtual time, in an order that the scheduler chooses */
static void *send_at(void *arg)
{
	struct sender *s = arg;
	uint8_t data[LEN] = { s->p.port };

	join(s->p.clk);
	wait_until(s->p.clk, s->at);
	spin(pw_below(s->p.us));
	send_to(s->p.fd, s->p.port, 0, data, LEN);
	leave(s->p.clk);
	return NULL;
}

TEST_F(lockstep, order_of_senders)
{
	uint64_t first[STATIONS] = {}, ns, t0;
	uint8_t order[STATIONS], buf[256];
	struct sender s[STATIONS];
	pthread_t t[STATIONS];
	int clk[STATIONS], i, j, round;

	for (i = 1; i < STATIONS; i++)
		clk[i] = time_open(self->ifindex[i]);
	for (round = 0; round < 8; round++) {
		EXPECT_EQ(0, join(self->clk));
		/* the fabric is the same at each begin */
		EXPECT_EQ(0, wait_flags(self->clk, PACKETWAY_TIME_WAIT_FOR, SEC, &t0));
		t0 += SEC - t0 % SEC;
		for (j = 1; j < STATIONS; j++) {
			i = 1 + (round + j) % (STATIONS - 1);
			s[i] = (struct sender) {
				.p = { .clk = clk[i], .fd = self->fd[i], .port = i, .us = 2000 },
				.at = t0,
			};
			ASSERT_EQ(0, pthread_create(&t[i], NULL, send_at, &s[i]));
		}
		while (participants(self->clk) < STATIONS)
			sched_yield();
		for (i = 1; i < STATIONS; i++) {
			ASSERT_GT(pw_timed_recv(self->fd[0], buf, sizeof(buf), &ns, SOON), 0);
			if (!round) {
				first[i] = ns - t0;
				order[i] = buf[16];
			}
			EXPECT_EQ(order[i], buf[16]);
			EXPECT_EQ(first[i], ns - t0);
		}
		EXPECT_EQ(0, leave(self->clk));
		for (i = 1; i < STATIONS; i++)
			pthread_join(t[i], NULL);
		EXPECT_SOON(0, participants(self->clk));
	}
	EXPECT_EQ(0, get(self->clk).out_outside);
	for (i = 1; i < STATIONS; i++)
		close(clk[i]);
}

/* ---- the ring ---- */

struct ringer {
	struct ring_if r;
	int clk, turns, port;
	volatile struct packetway_time_page *page;
	uint64_t seen[32], wait[32], sum[32];
	int err;
};

/* some commands in a row, others after a time; each sees what all have set */
static void *ring_turns(void *arg)
{
	struct ringer *g = arg;
	struct packetway_aton_command c;
	int i;

	g->err = join_as(g->clk, PACKETWAY_TIME_JOIN_HELD, 0);
	for (i = 0; i < g->turns && !g->err; i++) {
		spin(pw_below(2000));
		__atomic_store_n(&g->r.op->operand[0], 100 * i + g->port, __ATOMIC_RELAXED);
		if (i % 3)
			wait_flags(g->clk, PACKETWAY_TIME_WAIT_FOR, 7000 * (i % 3 + g->port), NULL);
		c = ring_cmd(PW_ATON_OP_ADD);
		g->err = ring_run(g->r.fd, &c);
		g->seen[i] = now(g->page);
		g->wait[i] = c.out_wait;
		g->sum[i] = c.out_v1;
	}
	leave(g->clk);
	return NULL;
}

TEST_F(lockstep, ring)
{
	enum { RINGERS = 3, TURNS = 12 };
	struct ringer g[RINGERS], first[RINGERS];
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);
	pthread_t t[RINGERS];
	int i, k, n, round;
	uint64_t t0, took;

	/* a command takes its bit times, from the next cycle on */
	for (i = 0; i < RINGERS; i++)
		ASSERT_EQ(0, ring_open(&g[i].r, self->ifindex[i]));
	EXPECT_EQ(0, join(self->clk));
	t0 = now(self->page);
	EXPECT_EQ(0, ring_run(g[0].r.fd, &c));
	took = now(self->page) - t0;
	EXPECT_LE((c.out_wait + c.out_ring_bits) * 125 / 2, took);
	EXPECT_GE((c.out_wait + c.out_ring_bits) * 125 / 2 + 3, took);
	EXPECT_EQ(0, leave(self->clk));

	for (round = 0; round < 5; round++) {
		/* a clock, a fabric and a ring without a past */
		EXPECT_EQ(0, fresh(&self->g, variant->engine));
		EXPECT_EQ(0, pw_gsan_set(&self->g, PACKETWAY_A_SAN_CLOCK,
					 PACKETWAY_CLOCK_LOCKSTEP));
		k = time_open(self->ifindex[0]);
		ASSERT_GE(k, 0);
		EXPECT_EQ(0, join(k));
		for (i = 0; i < RINGERS; i++) {
			n = (round + i) % RINGERS;
			g[n].clk = k;
			g[n].turns = TURNS;
			g[n].port = n;
			g[n].page = map_page(k);
			__atomic_store_n(&g[n].r.op->operand[0], 0, __ATOMIC_RELAXED);
		}
		for (i = 0; i < RINGERS; i++) {
			n = (round + i) % RINGERS;
			EXPECT_EQ(0, join_as(k, PACKETWAY_TIME_JOIN_HOLD, 0));
			ASSERT_EQ(0, pthread_create(&t[n], NULL, ring_turns, &g[n]));
		}
		EXPECT_EQ(0, leave(k));
		for (i = 0; i < RINGERS; i++) {
			pthread_join(t[i], NULL);
			EXPECT_EQ(0, g[i].err);
			munmap((void *)g[i].page, sysconf(_SC_PAGESIZE));
			if (!round)
				first[i] = g[i];
			for (n = 0; n < TURNS; n++) {
				EXPECT_EQ(first[i].seen[n], g[i].seen[n]);
				EXPECT_EQ(first[i].wait[n], g[i].wait[n]);
				EXPECT_EQ(first[i].sum[n], g[i].sum[n]);
			}
		}
		EXPECT_SOON(0, participants(k));
		close(k);
	}
	for (i = 0; i < RINGERS; i++)
		ring_close(&g[i].r);
}

static void *ring_command(void *arg)
{
	struct ringer *g = arg;
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);

	g->err = ring_run(g->r.fd, &c);
	return NULL;
}

/* a command that waits ends with the clock, and one can be interrupted */
TEST_F(lockstep, ring_ends)
{
	struct ringer g = {};
	pthread_t t;
	pid_t pid;

	ASSERT_EQ(0, ring_open(&g.r, self->ifindex[0]));
	/* without participants the ring runs at once */
	EXPECT_EQ(0, (ring_command(&g), g.err));
	EXPECT_EQ(0, join(self->clk));
	pid = fork();
	if (!pid) {
		ring_command(&g);
		_exit(1);
	}
	/* this thread runs: the command does not begin */
	spin(100000);
	EXPECT_EQ(0, waitpid(pid, NULL, WNOHANG));
	kill(pid, SIGKILL);
	EXPECT_EQ(pid, waitpid(pid, NULL, 0));
	ASSERT_EQ(0, pthread_create(&t, NULL, ring_command, &g));
	spin(100000);
	EXPECT_EQ(0, pw_gsan_set(&self->g, PACKETWAY_A_SAN_CLOCK, PACKETWAY_CLOCK_FREE));
	pthread_join(t, NULL);
	EXPECT_EQ(0, g.err);
	EXPECT_EQ(0, leave(self->clk));
	ring_close(&g.r);
}

/* ---- SANs of a namespace share a clock ---- */

#define FAR	256	/* port 0 of SAN 1, as send_to() counts */

/* a station "far" on SAN 1, whose cycles are longer, behind a router */
struct joined {
	int fd, clk;
};

static int set_clock(struct pw_genl *g, int san, int clock)
{
	return pw_gsan_set2_of(g, san, PACKETWAY_A_SAN_CLOCK, clock, 0, 0);
}

static int joined_setup(struct joined *j, struct pw_nl *nl, struct pw_genl *g, int ns, int engine)
{
	int err = pw_station_add(nl, "far", 1, 0, -1) ?: pw_link_up(nl, "far");

	err = err ?: pw_gsan_set2_of(g, 1, PACKETWAY_A_SAN_RATE, 3000000000ULL,
				     PACKETWAY_A_SAN_ENGINE, engine);
	err = err ?: set_clock(g, 1, PACKETWAY_CLOCK_LOCKSTEP);
	err = err ?: pw_router_add(g, "r", (struct pw_half_req) { 0, 9, -1 },
				   (struct pw_half_req) { 1, 9, -1 });
	err = err ?: pw_wait_route(g, 0, FAR + 1) ?: pw_wait_route(g, 1, 1);
	if (err)
		return err;
	j->fd = pw_timed_open(ns, pw_link_index(nl, "far"));
	j->clk = time_open(pw_link_index(nl, "far"));
	return j->clk < 0 ? j->clk : 0;
}

static void joined_end(struct joined *j)
{
	close(j->fd);
	close(j->clk);
}

TEST_F(lockstep, one_clock)
{
	struct joined j;
	uint64_t t0, n;

	ASSERT_EQ(0, joined_setup(&j, &self->nl, &self->g, self->ns, variant->engine));
	/* a participant of one SAN stops the time of the other */
	EXPECT_EQ(0, join(self->clk));
	EXPECT_EQ(1, participants(j.clk));
	t0 = now(self->page);
	EXPECT_EQ(t0, get(j.clk).out_now);
	EXPECT_EQ(0, alarm_set(j.clk, t0 + MSEC, 0));
	spin(100000);
	EXPECT_EQ(t0, get(j.clk).out_now);
	EXPECT_EQ(0, wait_until(self->clk, t0 + 2 * MSEC));
	EXPECT_EQ(sizeof(n), read(j.clk, &n, sizeof(n)));
	EXPECT_EQ(now(self->page), get(j.clk).out_now);
	/* the clock goes on as long as one SAN has it */
	EXPECT_EQ(0, set_clock(&self->g, 0, PACKETWAY_CLOCK_FREE));
	EXPECT_EQ(0, wait_until(self->clk, t0 + 3 * MSEC));
	EXPECT_EQ(0, set_clock(&self->g, 0, PACKETWAY_CLOCK_LOCKSTEP));
	EXPECT_EQ(0, wait_until(self->clk, t0 + 4 * MSEC));
	EXPECT_EQ(0, set_clock(&self->g, 1, PACKETWAY_CLOCK_FREE));
	EXPECT_EQ(0, wait_until(j.clk, t0 + 5 * MSEC));
	EXPECT_LE(t0 + 5 * MSEC, now(self->page));
	EXPECT_EQ(0, set_clock(&self->g, 0, PACKETWAY_CLOCK_FREE));
	EXPECT_EQ(-ENODEV, wait_until(j.clk, ~0ULL));
	EXPECT_EQ(0, leave(self->clk));
	/* the next one is another clock */
	EXPECT_EQ(0, set_clock(&self->g, 1, PACKETWAY_CLOCK_LOCKSTEP));
	EXPECT_EQ(-ENODEV, join(j.clk));
	joined_end(&j);
}

struct crosser {
	struct player p;
	int to;
};

/* sends at times of its own and answers nothing */
static void *cross(void *arg)
{
	struct crosser *c = arg;
	uint8_t data[LEN] = { c->p.port };
	int i;

	for (i = 0; i < c->p.turns; i++) {
		spin(pw_below(c->p.us));
		if (send_to(c->p.fd, c->p.port, c->to, data, LEN))
			break;
		if (i % 4)
			wait_flags(c->p.clk, PACKETWAY_TIME_WAIT_FOR, 277 * (i % 3), NULL);
	}
	leave(c->p.clk);
	return NULL;
}

static void *joins_and_crosses(void *arg)
{
	struct crosser *c = arg;

	join_as(c->p.clk, PACKETWAY_TIME_JOIN_HELD, 0);
	return cross(arg);
}

/* two stations of SAN 0 and one of SAN 1 send through the router, in both directions */
TEST_F(lockstep, crossing)
{
	enum { TURNS = 6, THREADS = 3 };
	const int rounds = pw_count(4, 3);
	uint64_t seen[THREADS * TURNS] = {}, ns;
	struct crosser c[THREADS];
	uint8_t from[THREADS * TURNS], buf[256];
	pthread_t t[THREADS];
	struct joined j;
	int i, n, round;

	ASSERT_EQ(0, joined_setup(&j, &self->nl, &self->g, self->ns, variant->engine));
	for (round = 0; round < rounds; round++) {
		/* a clock and fabrics without a past */
		EXPECT_EQ(0, set_clock(&self->g, 0, PACKETWAY_CLOCK_FREE));
		EXPECT_EQ(0, set_clock(&self->g, 1, PACKETWAY_CLOCK_FREE));
		for (i = 0; i < 2; i++)
			EXPECT_EQ(0, pw_gsan_set2_of(&self->g, i, PACKETWAY_A_SAN_ENGINE,
						     PACKETWAY_ENGINE_NONE, 0, 0));
		for (i = 0; i < 2; i++)
			EXPECT_EQ(0, pw_gsan_set2_of(&self->g, i, PACKETWAY_A_SAN_ENGINE,
						     variant->engine, PACKETWAY_A_SAN_CLOCK,
						     PACKETWAY_CLOCK_LOCKSTEP));
		close(j.clk);
		j.clk = time_open(self->ifindex[0]);
		ASSERT_GE(j.clk, 0);
		EXPECT_EQ(0, join(j.clk));
		EXPECT_EQ(0, wait_until(j.clk, SEC));
		for (i = 0; i < THREADS; i++) {
			n = (round + i) % THREADS;
			c[n] = (struct crosser) {
				.p = { .clk = j.clk, .fd = n ? self->fd[n] : j.fd,
				       .port = n ? n : FAR, .turns = TURNS, .us = 1000 },
				.to = n ? FAR : 0,
			};
			EXPECT_EQ(0, join_as(c[n].p.clk, PACKETWAY_TIME_JOIN_HOLD, 0));
			ASSERT_EQ(0, pthread_create(&t[n], NULL, joins_and_crosses, &c[n]));
		}
		EXPECT_EQ(0, leave(j.clk));
		for (i = 0; i < THREADS * TURNS; i++) {
			n = i < TURNS ? self->fd[0] : j.fd;
			ASSERT_GT(pw_timed_recv(n, buf, sizeof(buf), &ns, SOON), 0);
			if (!round) {
				seen[i] = ns;
				from[i] = buf[16];
			}
			EXPECT_EQ(seen[i], ns);
			EXPECT_EQ(from[i], buf[16]);
		}
		for (i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
		EXPECT_SOON(0, participants(j.clk));
	}
	EXPECT_EQ(0, get(j.clk).out_outside);
	joined_end(&j);
}

/* what crosses from a SAN whose time is free is counted */
TEST_F(lockstep, free_neighbour)
{
	uint8_t data[LEN] = {}, buf[256];
	struct joined j;
	uint64_t ns;

	ASSERT_EQ(0, joined_setup(&j, &self->nl, &self->g, self->ns, variant->engine));
	EXPECT_EQ(0, set_clock(&self->g, 1, PACKETWAY_CLOCK_FREE));
	EXPECT_EQ(0, join(self->clk));
	EXPECT_EQ(0, send_to(j.fd, FAR, 0, data, LEN));
	EXPECT_GT(pw_timed_recv(self->fd[0], buf, sizeof(buf), &ns, SOON), 0);
	EXPECT_EQ(1, get(self->clk).out_outside);
	/* and the other direction is not */
	EXPECT_EQ(0, send_to(self->fd[0], 0, FAR, data, LEN));
	EXPECT_GT(pw_timed_recv(j.fd, buf, sizeof(buf), &ns, SOON), 0);
	EXPECT_EQ(1, get(self->clk).out_outside);
	EXPECT_EQ(0, leave(self->clk));
	joined_end(&j);
}

/* ---- a storm ---- */

struct storm {
	int clk, rounds;
	volatile struct packetway_time_page *page;
	bool back;
};

static void *storm_thread(void *arg)
{
	struct storm *s = arg;
	uint64_t last = now(s->page), t;
	int i;

	for (i = 0; i < s->rounds; i++) {
		if (join(s->clk))
			break;
		switch (pw_below(4)) {
		case 0:
			wait_flags(s->clk, PACKETWAY_TIME_WAIT_FOR, pw_below(1000), NULL);
			break;
		case 1:
			wait_flags(s->clk, PACKETWAY_TIME_WAIT_FOR | PACKETWAY_TIME_WAIT_EVENT,
				   1000, NULL);
			break;
		case 2:
			sched_yield();
			break;
		}
		t = now(s->page);
		if (t < last)
			s->back = true;
		last = t;
		leave(s->clk);
	}
	return NULL;
}

/* processes that join are killed, stopped and replaced while threads come and go */
TEST_F_TIMEOUT(lockstep, storm, 3000)
{
	static void (*const what[])(void) = { for_ever, sleep_for_ever, run_sleep };
	struct storm s = { .clk = self->clk, .rounds = pw_count(400, 50), .page = self->page };
	int i, n = pw_long() ? 1000 : pw_count(40, 6);
	uint64_t t0 = now(self->page);
	pthread_t t[4];
	pid_t pid;

	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&t[i], NULL, storm_thread, &s));
	for (i = 0; i < n; i++) {
		pid = child(self->clk, what[i % 3]);
		ASSERT_GT(pid, 0);
		if (i & 1) {
			kill(pid, SIGSTOP);
			waitpid(pid, NULL, WUNTRACED);
			if (i & 2)
				kill(pid, SIGCONT);
		}
		kill(pid, SIGKILL);
		EXPECT_EQ(pid, waitpid(pid, NULL, 0));
	}
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	EXPECT_FALSE(s.back);
	EXPECT_GT(now(self->page), t0);
	EXPECT_SOON(0, participants(self->clk));
	EXPECT_SOON(0, running(self->clk));
}

/* a poll looks at all SANs of a clock: there are not more than 16 */
TEST_F(lockstep, too_many_sans)
{
	char name[16];
	int i;

	for (i = 1; i <= 16; i++) {
		sprintf(name, "more%d", i);
		ASSERT_EQ(0, pw_station_add(&self->nl, name, i, 0, -1));
		EXPECT_EQ(0, pw_gsan_set2_of(&self->g, i, PACKETWAY_A_SAN_ENGINE, variant->engine, 0, 0));
		EXPECT_EQ(i < 16 ? 0 : -ENOSPC, set_clock(&self->g, i, PACKETWAY_CLOCK_LOCKSTEP));
	}
	/* the other ones are not disturbed, and one that leaves makes room */
	EXPECT_EQ(0, set_clock(&self->g, 3, PACKETWAY_CLOCK_FREE));
	EXPECT_EQ(0, set_clock(&self->g, 16, PACKETWAY_CLOCK_LOCKSTEP));
	EXPECT_EQ(-ENOSPC, set_clock(&self->g, 3, PACKETWAY_CLOCK_LOCKSTEP));
}

static int san_cmd(struct pw_genl *g, int cmd, uint32_t id)
{
	const struct pw_attr a[] = {
		{ PACKETWAY_A_SAN_ID, id },
		{ PACKETWAY_A_SAN_PORTS, 4 },
		{ PACKETWAY_A_SAN_CLOCK, PACKETWAY_CLOCK_LOCKSTEP },
	};

	return pw_genl_ask(g, cmd, NLM_F_ACK, PACKETWAY_A_SAN, a,
			   cmd == PACKETWAY_CMD_SAN_NEW ? 3 : 1);
}

/* one of several that make a SAN in lockstep at the same time, again and again */
struct racer {
	struct pw_genl g;
	pthread_barrier_t *start, *end;
	int id, rounds, err;
};

static void *race(void *arg)
{
	struct racer *r = arg;
	int i;

	for (i = 0; i < r->rounds; i++) {
		pthread_barrier_wait(r->start);
		r->err = san_cmd(&r->g, PACKETWAY_CMD_SAN_NEW, r->id);
		pthread_barrier_wait(r->end);
		/* main() counts */
		pthread_barrier_wait(r->start);
		if (!r->err)
			r->err = san_cmd(&r->g, PACKETWAY_CMD_SAN_DEL, r->id);
		pthread_barrier_wait(r->end);
	}
	return NULL;
}

#define RACERS	8

/* nor if several requests make one at the same time */
TEST_F_TIMEOUT(lockstep, too_many_sans_at_once, 3000)
{
	int i, j, n, worst = 0, rounds = pw_count(100, 10);
	pthread_barrier_t start, end;
	struct racer r[RACERS] = {};
	pthread_t t[RACERS];

	for (i = 1; i < 15; i++)
		ASSERT_EQ(0, san_cmd(&self->g, PACKETWAY_CMD_SAN_NEW, i));
	pthread_barrier_init(&start, NULL, RACERS + 1);
	pthread_barrier_init(&end, NULL, RACERS + 1);
	for (i = 0; i < RACERS; i++) {
		ASSERT_EQ(0, pw_genl_open(&r[i].g, self->ns));
		r[i].start = &start;
		r[i].end = &end;
		r[i].id = 100 + i;
		r[i].rounds = rounds;
		ASSERT_EQ(0, pthread_create(&t[i], NULL, race, &r[i]));
	}
	for (j = 0; j < rounds; j++) {
		pthread_barrier_wait(&start);
		pthread_barrier_wait(&end);
		for (i = 0, n = 0; i < RACERS; i++) {
			n += !r[i].err;
			EXPECT_TRUE(!r[i].err || r[i].err == -ENOSPC);
		}
		worst = n > worst ? n : worst;
		pthread_barrier_wait(&start);
		pthread_barrier_wait(&end);
	}
	EXPECT_EQ(1, worst);
	for (i = 0; i < RACERS; i++) {
		pthread_join(t[i], NULL);
		close(r[i].g.nl.fd);
	}
}

/* SANs enter and leave lockstep and routers come and go while threads wait and frames cross */
TEST_F_TIMEOUT(lockstep, storm_of_sans, 3000)
{
	struct storm s = { .clk = self->clk, .rounds = pw_count(300, 40), .page = self->page };
	uint8_t data[LEN] = {}, buf[256];
	int i, n = pw_long() ? 1000 : pw_count(40, 8);
	struct joined j;
	pthread_t t[2];

	ASSERT_EQ(0, joined_setup(&j, &self->nl, &self->g, self->ns, variant->engine));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&t[i], NULL, storm_thread, &s));
	for (i = 0; i < n; i++) {
		EXPECT_EQ(0, send_to(j.fd, FAR, 0, data, LEN));
		EXPECT_EQ(0, send_to(self->fd[0], 0, FAR, data, LEN));
		EXPECT_EQ(0, set_clock(&self->g, 1, i & 1 ? PACKETWAY_CLOCK_LOCKSTEP :
							    PACKETWAY_CLOCK_FREE));
		if (i % 4 == 3) {
			EXPECT_EQ(0, pw_router_del(&self->g, "r"));
			EXPECT_EQ(0, pw_router_add(&self->g, "r", (struct pw_half_req) { 0, 9, -1 },
						   (struct pw_half_req) { 1, 9, -1 }));
		}
		while (recv(j.fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
			;
		while (recv(self->fd[0], buf, sizeof(buf), MSG_DONTWAIT) > 0)
			;
	}
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	EXPECT_FALSE(s.back);
	EXPECT_SOON(0, participants(self->clk));
	EXPECT_SOON(0, running(self->clk));
	joined_end(&j);
}

/* ---- who may ---- */

static int open_again(int clk)
{
	struct packetway_time_open o = { .size = sizeof(o), .flags = PACKETWAY_TIME_NONBLOCK };
	int fd = ioctl(clk, PACKETWAY_IOC_TIME_OPEN, &o);

	return fd < 0 ? -errno : fd;
}

/* 0, or the number of the check that failed */
static int in_child(int (*fn)(int clk, int ifindex), int clk, int ifindex)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid)
		_exit(fn(clk, ifindex));
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static int without_privileges(int clk, int ifindex)
{
	int fd;

	if (setgid(65534) || setuid(65534))
		return 1;
	/* only root opens the device, and only with the capability a clock */
	fd = time_open(ifindex);
	if (fd != -EACCES && fd != -EPERM)
		return 2;
	fd = open_again(clk);
	if (fd < 0)
		return 3;
	if (join(fd) || wait_flags(fd, PACKETWAY_TIME_WAIT_FOR, MSEC, NULL) || leave(fd))
		return 4;
	return 0;
}

TEST_F(lockstep, given_up_privileges)
{
	EXPECT_EQ(0, in_child(without_privileges, self->clk, self->ifindex[0]));
}

/* a station was moved into the network namespace of another user namespace */
TEST_F(lockstep, other_user)
{
	int p[2], q[2], ns, status = -1;
	char path[64], c;
	pid_t pid;

	ASSERT_EQ(0, pipe(p));
	ASSERT_EQ(0, pipe(q));
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNET) || write(p[1], "u", 1) != 1 ||
		    read(q[0], &c, 1) != 1)
			_exit(1);
		/* its own namespace has the station, but not the SAN */
		_exit(time_open(0) == -EPERM ? 0 : 2);
	}
	ASSERT_EQ(1, read(p[0], &c, 1));
	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(ns, 0);
	EXPECT_EQ(0, pw_link_move(&self->nl, "s4", ns));
	ASSERT_EQ(1, write(q[1], "m", 1));
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
	close(ns);
	close(p[0]);
	close(p[1]);
	close(q[0]);
	close(q[1]);
}

/* ---- what is no block ---- */

struct fault {
	int clk, err;
	volatile char *page;
};

static void *touch(void *arg)
{
	struct fault *f = arg;

	f->err = join(f->clk);
	(void)f->page[0];
	f->err = f->err ?: leave(f->clk);
	return NULL;
}

/* a thread that waits for a page sleeps interruptibly, but no other program can wake it */
TEST_F(lockstep, page_fault)
{
	long size = sysconf(_SC_PAGESIZE);
	struct uffdio_api api = { .api = UFFD_API };
	struct fault f = { .clk = self->clk };
	struct uffdio_register r = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_zeropage z = {};
	struct uffd_msg m;
	uint64_t t0;
	pthread_t t;
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		SKIP(return, "this kernel has no userfaultfd");
	ASSERT_EQ(0, ioctl(fd, UFFDIO_API, &api));
	f.page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)f.page);
	r.range.start = (uintptr_t)f.page;
	r.range.len = size;
	ASSERT_EQ(0, ioctl(fd, UFFDIO_REGISTER, &r));
	t0 = now(self->page);
	ASSERT_EQ(0, pthread_create(&t, NULL, touch, &f));
	ASSERT_EQ(sizeof(m), read(fd, &m, sizeof(m)));
	EXPECT_EQ(UFFD_EVENT_PAGEFAULT, m.event);
	EXPECT_EQ(0, alarm_set(self->clk, t0 + MSEC, 0));
	usleep(100000);
	EXPECT_EQ(1, running(self->clk));
	EXPECT_EQ(t0, now(self->page));
	z.range = r.range;
	EXPECT_EQ(0, ioctl(fd, UFFDIO_ZEROPAGE, &z));
	pthread_join(t, NULL);
	EXPECT_EQ(0, f.err);
	EXPECT_SOON(t0 + MSEC, now(self->page));
	close(fd);
	munmap((void *)f.page, size);
}

/* ---- limits ---- */

/* more alarms in one cycle than are called at once */
TEST_F(lockstep, many_alarms)
{
	enum { N = 200 };
	uint64_t t0, n;
	int fd[N], i;

	for (i = 0; i < N; i++) {
		fd[i] = open_again(self->clk);
		ASSERT_GE(fd[i], 0);
	}
	EXPECT_EQ(0, join(self->clk));
	t0 = now(self->page);
	for (i = 0; i < N; i++)
		EXPECT_EQ(0, alarm_set(fd[i], t0 + MSEC, 0));
	EXPECT_EQ(0, wait_until(self->clk, t0 + 2 * MSEC));
	for (i = 0; i < N; i++) {
		EXPECT_EQ(sizeof(n), read(fd[i], &n, sizeof(n)));
		EXPECT_EQ(1, n);
		close(fd[i]);
	}
	EXPECT_EQ(0, leave(self->clk));
	EXPECT_LE(t0 + 2 * MSEC, get(self->clk).out_left);
}

static int module_users(void)
{
	char text[32] = "-1";
	int fd = open("/sys/module/packetway/refcnt", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		return -1;
	close(fd);
	return atoi(text);
}

/*
 * The scheduler calls a notifier of each clock that a thread has joined, with interrupts off: clocks
 * that have ended must leave none behind
 */
TEST_F(lockstep, clocks_that_ended)
{
	int i, clk, users = module_users();

	ASSERT_LT(0, users);
	for (i = 0; i < 24; i++) {
		clk = time_open(self->ifindex[0]);
		ASSERT_LE(0, clk);
		EXPECT_EQ(0, join_as(clk, PACKETWAY_TIME_JOIN_EXEC, 0));
		EXPECT_EQ(0, pw_gsan_set(&self->g, PACKETWAY_A_SAN_CLOCK, PACKETWAY_CLOCK_FREE));
		close(clk);
		EXPECT_EQ(0, pw_gsan_set(&self->g, PACKETWAY_A_SAN_CLOCK, PACKETWAY_CLOCK_LOCKSTEP));
	}
	/* each participant holds the module; that of the last clock is still there */
	EXPECT_SOON(true, module_users() <= users + 2);
}

/* a clock of a namespace of its own, which lasts as long as *@ns */
static int clock_elsewhere(int engine, int *ns)
{
	struct pw_genl g;
	struct pw_nl nl;
	int clk = -1;

	if (unshare(CLONE_NEWNET))
		return -errno;
	*ns = pw_ns_self();
	if (pw_nl_open(&nl, *ns))
		return -EIO;
	if (!pw_genl_open(&g, *ns)) {
		if (!pw_station_add(&nl, "s0", 0, 0, -1) &&
		    !pw_gsan_set(&g, PACKETWAY_A_SAN_ENGINE, engine) &&
		    !pw_gsan_set(&g, PACKETWAY_A_SAN_CLOCK, PACKETWAY_CLOCK_LOCKSTEP))
			clk = time_open(0);
		close(g.nl.fd);
	}
	close(nl.fd);
	return clk;
}

/* a thread takes part in 16 clocks at most */
TEST_F(lockstep, clocks_of_a_thread)
{
	int clk[17], ns[17], i;

	for (i = 0; i < 17; i++) {
		clk[i] = clock_elsewhere(variant->engine, &ns[i]);
		ASSERT_LE(0, clk[i]);
		EXPECT_EQ(i < 16 ? 0 : -EBUSY, join(clk[i]));
	}
	EXPECT_EQ(-EALREADY, join(clk[3]));
	EXPECT_EQ(0, leave(clk[3]));
	EXPECT_EQ(0, join(clk[16]));
	for (i = 0; i < 17; i++) {
		EXPECT_EQ(i == 3 ? -ESRCH : 0, leave(clk[i]));
		close(clk[i]);
		close(ns[i]);
	}
}

TEST_F(lockstep, limit)
{
	EXPECT_EQ(0, pw_write_file("/proc/sys/net/packetway/max_clock_files", "1"));
	EXPECT_EQ(-ENOSPC, time_open(self->ifindex[0]));
	EXPECT_EQ(-ENOSPC, open_again(self->clk));
	EXPECT_EQ(0, pw_write_file("/proc/sys/net/packetway/max_participants", "0"));
	EXPECT_EQ(-ENOSPC, join(self->clk));
	EXPECT_EQ(0, running(self->clk));
	EXPECT_EQ(0, pw_write_file("/proc/sys/net/packetway/max_participants", "1"));
	EXPECT_EQ(0, join(self->clk));
	EXPECT_EQ(0, leave(self->clk));
	EXPECT_EQ(0, join(self->clk));
	EXPECT_EQ(0, leave(self->clk));
}

TEST_HARNESS_MAIN
