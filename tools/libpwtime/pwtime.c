// SPDX-License-Identifier: GPL-2.0
/* checkpatch-ignore: USE_NEGATIVE_ERRNO,FUNCTION_ARGUMENTS (functions of libc) */
/*
 * libpwtime: a program lives in the virtual time of its station's SAN.
 *
 * Preloaded by `pwctl virtual`. Each thread joins the clock of the SAN (a participant, see
 * Documentation/networking/packetway-lockstep.rst). Clocks are read from a mapped page.
 * Sleeps wait in PACKETWAY_IOC_TIME_WAIT. Calls with a timeout wait without one, together
 * with an alarm of a clock file of the thread.
 *
 *	PW_TIME		"1": on; "await": from pwl_time_begin() on; else the library does
 *			nothing
 *	PW_TIME_DEV	station, default: the first one whose SAN is in lockstep
 *	PW_TIME_ZERO	virtual time at which the program's clocks begin
 *	PW_TIME_ORDER	place among the senders of a station
 *	PW_TIME_CPU	virtual time per CPU time, default 0
 *	PW_TIME_LOOKS	"free": only yields and reads of the clock rest, see look_in_vain()
 *	PW_TIME_HELD	descriptor with a hold of the parent, see spawn_begin()
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/sockios.h>

#include "pwtime.h"
#include "virtual.h"

/* descriptors of the library are out of the way of those of the program */
#define FD_FIRST 400
#define FDS 1024

const volatile struct packetway_time_page *virtual_page;
int virtual_clock = -1;
static uint32_t ifindex;
static uint64_t zero;
static double cpu_factor;
static bool looks_free;
static uint32_t order_next;
/* this thread lives in virtual time; those that were there before pwl_time_begin() do not */
static __thread bool member;
static __thread uint32_t order_own;
static __thread int alarm_fd = -1;
/* with free looks: a busy waiter yields so often before virtual time passes */
#define YIELDS 16
static __thread unsigned int yields;
/* looks for input in vain since the last wait */
static __thread unsigned int looks;
/* reads of a clock at the same time, which a busy waiter would do for ever */
#define READS_FREE 1000
/*
 * The same with free looks. Open MPI waits without a yield for a long message to be sent, and
 * libfabric reads the clock in each round of that loop.
 */
#define READS_IN_LOOP 100
static __thread unsigned int reads;
static __thread uint64_t read_at;
static __thread uint64_t cpu_last;
static pthread_key_t thread_key;
static struct {
	uint64_t timeout;	/* SO_RCVTIMEO in virtual nanoseconds, 0: none */
	bool ours;		/* a descriptor of the library */
	bool timer;		/* a clock file in the place of a timerfd */
	bool realtime;
} fds[FDS];

/* ---- the clock ---- */

uint64_t virtual_now(void)
{
	uint32_t seq;
	uint64_t t;

	do {
		while ((seq = virtual_page->seq) & 1)
			;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		t = virtual_page->now;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (seq != virtual_page->seq);
	return t > zero ? t - zero : 0;
}

bool virtual_on(void)
{
	return member && virtual_page && !(virtual_page->flags & PACKETWAY_TIME_F_ENDED);
}

/* one of ours, above the descriptors that programs know */
static int out_of_the_way(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FIRST);

	if (high >= 0) {
		REAL(close)(fd);
		fd = high;
	}
	if (fd < FDS)
		fds[fd].ours = true;
	return fd;
}

static void close_ours(int fd)
{
	int err = errno;

	if (fd >= 0 && fd < FDS)
		fds[fd].ours = false;
	REAL(close)(fd);
	errno = err;
}

/* the first file of the process */
static int clock_first(void)
{
	struct packetway_time_open o = { .size = sizeof(o), .ifindex = ifindex };
	int dev = open("/dev/" PACKETWAY_DEVICE, O_RDWR | O_CLOEXEC), fd, err;

	if (dev < 0)
		return -1;
	fd = ioctl(dev, PACKETWAY_IOC_TIME_OPEN, &o);
	err = errno;
	REAL(close)(dev);
	errno = err;
	return fd;
}

/* another one: the program may have given its privileges up */
static int clock_open(uint32_t flags)
{
	struct packetway_time_open o = { .size = sizeof(o), .flags = flags };

	return ioctl(virtual_clock, PACKETWAY_IOC_TIME_OPEN, &o);
}

int virtual_open(uint32_t flags)
{
	int fd = clock_open(flags);

	return fd < 0 ? fd : out_of_the_way(fd);
}

/* 0, -1 with EINTR, or the clock has ended */
static int wait_until(uint64_t t, uint32_t flags)
{
	struct packetway_time_wait w = {
		.size = sizeof(w), .flags = flags,
		.until = t == NEVER || flags & PACKETWAY_TIME_WAIT_FOR ? t : t + zero,
	};

	return ioctl(virtual_clock, PACKETWAY_IOC_TIME_WAIT, &w);
}

PUBLIC int pwl_charge(uint64_t ns)
{
	int err = errno, r = 0;

	if (!virtual_on() || !ns)
		return 0;
	if (wait_until(ns, PACKETWAY_TIME_WAIT_FOR))
		r = -errno;
	errno = err;
	return r;
}

/* PW_TIME_CPU: what the thread has computed since the last call takes virtual time */
static void computed(void)
{
	struct timespec ts;
	uint64_t t;

	if (!(cpu_factor > 0))
		return;
	REAL(clock_gettime)(CLOCK_THREAD_CPUTIME_ID, &ts);
	t = ts.tv_sec * NSEC + ts.tv_nsec;
	if (t > cpu_last)
		pwl_charge((uint64_t)((double)(t - cpu_last) * cpu_factor));
	cpu_last = t;
}

/* with free looks: the program has done something, or time has passed */
static void idle_again(void)
{
	if (looks_free)
		yields = reads = 0;
}

/* the result of a call that moves data. The end of a connection can be read for ever */
static ssize_t moved(ssize_t r)
{
	if (r > 0)
		idle_again();
	return r;
}

/* a busy waiter: until something happens, or for a little while */
static void rest(void)
{
	int err = errno;

	wait_until(virtual_page->quantum, PACKETWAY_TIME_WAIT_FOR | PACKETWAY_TIME_WAIT_EVENT);
	errno = err;
	idle_again();
}

/*
 * A look that finds nothing: the first one after a wait is free, a loop of them gets on. Open
 * MPI looks at descriptors of its launcher as often as a counter of the CPU says, which no two
 * runs have in common, and yields when it has nothing to do: there all looks are free.
 */
static void look_in_vain(void)
{
	if (!looks_free && looks++)
		rest();
}

int virtual_alarm(int fd, uint64_t at, uint64_t interval)
{
	struct packetway_time_alarm a = {
		.size = sizeof(a), .at = at ? at + zero : 0, .interval = interval,
	};

	return ioctl(fd, PACKETWAY_IOC_TIME_ALARM, &a);
}

/* the thread's own clock file, for calls with a timeout */
static int own_alarm(uint64_t at)
{
	if (alarm_fd < 0) {
		alarm_fd = virtual_open(PACKETWAY_TIME_NONBLOCK);
		if (alarm_fd < 0)
			return -1;
		pthread_setspecific(thread_key, (void *)1);
	}
	return virtual_alarm(alarm_fd, at ? at : 1, 0) ? -1 : alarm_fd;
}

static void own_alarm_off(void)
{
	int err = errno;

	if (alarm_fd >= 0)
		virtual_alarm(alarm_fd, 0, 0);
	errno = err;
}

static void thread_end(void *arg)
{
	if (alarm_fd >= 0)
		close_ours(alarm_fd);
	alarm_fd = -1;
}

static int join(uint32_t flags, uint32_t order)
{
	struct packetway_time_join j = { .size = sizeof(j), .flags = flags, .order = order };

	return ioctl(virtual_clock, PACKETWAY_IOC_TIME_JOIN, &j);
}

static void hold_end(void)
{
	struct packetway_time_leave l = { .size = sizeof(l), .flags = PACKETWAY_TIME_JOIN_HOLD };
	int err = errno;

	ioctl(virtual_clock, PACKETWAY_IOC_TIME_LEAVE, &l);
	errno = err;
}

static uint32_t order_new(void)
{
	return order_own * 31 + __atomic_add_fetch(&order_next, 1, __ATOMIC_RELAXED);
}

/* the hold that the parent took for this program */
static void spawn_joined(int fd)
{
	struct packetway_time_leave l = { .size = sizeof(l), .flags = PACKETWAY_TIME_JOIN_HOLD };

	ioctl(fd, PACKETWAY_IOC_TIME_LEAVE, &l);
	REAL(close)(fd);
}

/* what the thread has computed so far is not of the run */
static void cpu_from_here(void)
{
	struct timespec ts;

	REAL(clock_gettime)(CLOCK_THREAD_CPUTIME_ID, &ts);
	cpu_last = ts.tv_sec * NSEC + ts.tv_nsec;
}

/* the calling thread joins the clock of its station. False: it has none */
static bool begin(void)
{
	const char *s = getenv("PW_TIME_DEV");
	void *p;

	ifindex = s ? if_nametoindex(s) : 0;
	virtual_clock = clock_first();
	if (virtual_clock < 0) {
		/* a program between namespaces, such as ip: what it starts may have a station */
		if (errno == ENODEV || errno == EOPNOTSUPP)
			return false;
		fprintf(stderr, "libpwtime: no clock: %s\n", strerror(errno));
		_exit(125);
	}
	virtual_clock = out_of_the_way(virtual_clock);
	p = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, virtual_clock, 0);
	if (p == MAP_FAILED) {
		fprintf(stderr, "libpwtime: the clock cannot be mapped: %s\n", strerror(errno));
		_exit(125);
	}
	s = getenv("PW_TIME_ZERO");
	zero = s ? strtoull(s, NULL, 10) : 0;
	s = getenv("PW_TIME_CPU");
	cpu_factor = s ? strtod(s, NULL) : 0;
	s = getenv("PW_TIME_LOOKS");
	looks_free = s && !strcmp(s, "free");
	s = getenv("PW_TIME_ORDER");
	order_own = s ? strtoul(s, NULL, 10) : 0;
	pthread_key_create(&thread_key, thread_end);
	virtual_page = p;
	if (join(PACKETWAY_TIME_JOIN_EXEC, order_own) && errno != EALREADY) {
		fprintf(stderr, "libpwtime: cannot join the clock: %s\n", strerror(errno));
		_exit(125);
	}
	member = true;
	return true;
}

__attribute__((constructor)) static void start(void)
{
	const char *s = getenv("PW_TIME");

	if (!s || strcmp(s, "1") || !begin())
		return;
	s = getenv("PW_TIME_HELD");
	if (s) {
		spawn_joined(atoi(s));
		unsetenv("PW_TIME_HELD");
	}
}

PUBLIC int pwl_time_begin(void)
{
	const char *s = getenv("PW_TIME");

	if (!s || strcmp(s, "await") || virtual_page)
		return 0;
	if (!begin())
		return -ENODEV;
	/* what it starts is in the run from its first line on */
	setenv("PW_TIME", "1", 1);
	/* `pwctl virtual await` lets time run when all are here */
	while (wait_until(0, 0) && errno == EINTR)
		;
	cpu_from_here();
	return 1;
}

PUBLIC void pwl_time_end(void)
{
	struct packetway_time_leave l = { .size = sizeof(l) };

	if (!member)
		return;
	ioctl(virtual_clock, PACKETWAY_IOC_TIME_LEAVE, &l);
	member = false;
}

/* ---- reading clocks ---- */

/* nanoseconds between the zero of a clock and that of the station's; -1: not our clock */
int64_t virtual_base(clockid_t id)
{
	switch (id) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_TAI:
		return EPOCH * NSEC;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
		return NSEC;
	}
	return -1;
}

/* what a program reads. Over the limit each read waits, until time has passed otherwise */
static uint64_t read_now(void)
{
	uint64_t now;

	computed();
	now = virtual_now();
	if (now != read_at)
		reads = 0;
	else if (++reads > (looks_free ? READS_IN_LOOP : READS_FREE))
		rest();
	read_at = virtual_now();
	return read_at;
}

PUBLIC int clock_gettime(clockid_t id, struct timespec *ts)
{
	int64_t base = virtual_base(id);

	if (!virtual_on() || base < 0)
		return REAL(clock_gettime)(id, ts);
	*ts = to_ts(base + read_now());
	return 0;
}

PUBLIC int clock_getres(clockid_t id, struct timespec *ts)
{
	if (!virtual_on() || virtual_base(id) < 0)
		return REAL(clock_getres)(id, ts);
	if (ts)
		*ts = to_ts(1);
	return 0;
}

PUBLIC int timespec_get(struct timespec *ts, int base)
{
	if (!virtual_on() || base != TIME_UTC)
		return REAL(timespec_get)(ts, base);
	*ts = to_ts(EPOCH * NSEC + read_now());
	return base;
}

PUBLIC int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	uint64_t t;

	if (!virtual_on())
		return REAL(gettimeofday)(tv, tz);
	t = EPOCH * NSEC + read_now();
	*tv = (struct timeval) { t / NSEC, t % NSEC / 1000 };
	return 0;
}

PUBLIC time_t time(time_t *t)
{
	time_t s;

	if (!virtual_on())
		return REAL(time)(t);
	s = EPOCH + read_now() / NSEC;
	if (t)
		*t = s;
	return s;
}

/* ---- sleeping ---- */

/* 0 or EINTR */
static int sleep_until(uint64_t t)
{
	computed();
	looks = 0;
	return wait_until(t, 0) && errno == EINTR ? EINTR : 0;
}

PUBLIC int clock_nanosleep(clockid_t id, int flags, const struct timespec *req, struct timespec *rem)
{
	int64_t base = virtual_base(id);
	uint64_t t, ns, end;
	int err;

	if (!virtual_on() || base < 0)
		return REAL(clock_nanosleep)(id, flags, req, rem);
	if (req->tv_sec < 0 || req->tv_nsec < 0 || req->tv_nsec >= (long)NSEC)
		return EINVAL;
	ns = from_ts(req);
	t = virtual_now();
	if (flags & TIMER_ABSTIME)
		end = ns == NEVER ? NEVER : ns > (uint64_t)base ? ns - base : 0;
	else
		end = ns == NEVER ? NEVER : t + ns;
	err = sleep_until(end);
	t = virtual_now();
	if (err && rem && !(flags & TIMER_ABSTIME))
		*rem = to_ts(end > t ? end - t : 0);
	return err;
}

PUBLIC int nanosleep(const struct timespec *req, struct timespec *rem)
{
	int err;

	if (!virtual_on())
		return REAL(nanosleep)(req, rem);
	err = clock_nanosleep(CLOCK_MONOTONIC, 0, req, rem);
	if (!err)
		return 0;
	errno = err;
	return -1;
}

PUBLIC int usleep(useconds_t us)
{
	struct timespec ts = to_ts(us * 1000ULL);

	return virtual_on() ? nanosleep(&ts, NULL) : REAL(usleep)(us);
}

PUBLIC unsigned int sleep(unsigned int s)
{
	struct timespec ts = { s, 0 }, rem = {};

	if (!virtual_on())
		return REAL(sleep)(s);
	return nanosleep(&ts, &rem) ? rem.tv_sec + !!rem.tv_nsec : 0;
}

/*
 * Open MPI does not yield after a round of its loop in which its launcher has sent something, and
 * needs several rounds for some messages (one to take it, one to see that the answer is gone).
 * All that it can do at a time is done before the next: else a round more or less would cost time.
 * So yields, and reads of the clock, count from the last time that it sent or received.
 */
PUBLIC int sched_yield(void)
{
	if (!virtual_on())
		return REAL(sched_yield)();
	/* a loop that yields gets on by that: it may read the clock as often as it likes */
	reads = 0;
	if (!looks_free || ++yields >= YIELDS)
		rest();
	return 0;
}

/* ---- waiting for descriptors ---- */

/*
 * ppoll() with a timeout in virtual nanoseconds. What is ready is returned at once; a
 * timeout of 0 that finds nothing waits a little, so that a loop around it gets on.
 */
static int virtual_poll(struct pollfd *p, nfds_t n, uint64_t timeout, const sigset_t *mask)
{
	static const struct timespec none;
	struct pollfd small[17], *all = small;
	int r, alarm;

	computed();
	if (timeout == NEVER) {
		looks = 0;
		return REAL(ppoll)(p, n, NULL, mask);
	}
	r = REAL(ppoll)(p, n, &none, mask);
	if (r) {
		looks = 0;
		return r;
	}
	if (!timeout) {
		look_in_vain();
		return REAL(ppoll)(p, n, &none, mask);
	}
	looks = 0;
	alarm = own_alarm(virtual_now() + timeout);
	if (alarm < 0)
		return -1;
	if (n + 1 > sizeof(small) / sizeof(small[0])) {
		all = malloc((n + 1) * sizeof(*all));
		if (!all) {
			errno = ENOMEM;
			return -1;
		}
	}
	memcpy(all, p, n * sizeof(*p));
	all[n] = (struct pollfd) { .fd = alarm, .events = POLLIN };
	r = REAL(ppoll)(all, n + 1, NULL, mask);
	if (r > 0) {
		r -= !!all[n].revents;
		memcpy(p, all, n * sizeof(*p));
	}
	if (all != small)
		free(all);
	own_alarm_off();
	return r;
}

PUBLIC int poll(struct pollfd *p, nfds_t n, int ms)
{
	if (!virtual_on())
		return REAL(poll)(p, n, ms);
	return virtual_poll(p, n, ms < 0 ? NEVER : ms * 1000000ULL, NULL);
}

PUBLIC int ppoll(struct pollfd *p, nfds_t n, const struct timespec *ts, const sigset_t *mask)
{
	if (!virtual_on())
		return REAL(ppoll)(p, n, ts, mask);
	return virtual_poll(p, n, ts ? from_ts(ts) : NEVER, mask);
}

/* what fortified programs call */
PUBLIC int __poll_chk(struct pollfd *p, nfds_t n, int ms, size_t size);
PUBLIC int __poll_chk(struct pollfd *p, nfds_t n, int ms, size_t size)
{
	if (size / sizeof(*p) < n)
		abort();
	return poll(p, n, ms);
}

PUBLIC int __ppoll_chk(struct pollfd *p, nfds_t n, const struct timespec *ts, const sigset_t *mask,
		       size_t size);
PUBLIC int __ppoll_chk(struct pollfd *p, nfds_t n, const struct timespec *ts, const sigset_t *mask,
		       size_t size)
{
	if (size / sizeof(*p) < n)
		abort();
	return ppoll(p, n, ts, mask);
}

static int virtual_select(int n, fd_set *in, fd_set *out, fd_set *ex, uint64_t timeout,
			  const sigset_t *mask)
{
	static const struct timespec none;
	fd_set i, o, e;
	int r, alarm;

#define COPY(to, from) do { if (from) (to) = *(from); else FD_ZERO(&(to)); } while (0)
#define RESULT() do { if (in) *in = i; if (out) *out = o; if (ex) *ex = e; } while (0)
	computed();
	if (timeout == NEVER) {
		looks = 0;
		return REAL(pselect)(n, in, out, ex, NULL, mask);
	}
	COPY(i, in);
	COPY(o, out);
	COPY(e, ex);
	r = REAL(pselect)(n, &i, &o, &e, &none, mask);
	if (!r && !timeout) {
		look_in_vain();
		COPY(i, in);
		COPY(o, out);
		COPY(e, ex);
		r = REAL(pselect)(n, &i, &o, &e, &none, mask);
	}
	if (r || !timeout) {
		if (r >= 0)
			RESULT();
		if (r)
			looks = 0;
		return r;
	}
	looks = 0;
	alarm = own_alarm(virtual_now() + timeout);
	if (alarm < 0 || alarm >= FD_SETSIZE)
		return -1;
	COPY(i, in);
	COPY(o, out);
	COPY(e, ex);
	FD_SET(alarm, &i);
	r = REAL(pselect)(alarm >= n ? alarm + 1 : n, &i, &o, &e, NULL, mask);
	own_alarm_off();
	if (r < 0)
		return r;
	if (FD_ISSET(alarm, &i)) {
		FD_CLR(alarm, &i);
		r--;
	}
	RESULT();
	return r;
}

PUBLIC int select(int n, fd_set *in, fd_set *out, fd_set *ex, struct timeval *tv)
{
	struct timespec ts;
	uint64_t begin, t;
	int r;

	if (!virtual_on() || !tv)
		return REAL(select)(n, in, out, ex, tv);
	ts = (struct timespec) { tv->tv_sec + tv->tv_usec / 1000000, tv->tv_usec % 1000000 * 1000 };
	t = from_ts(&ts);
	begin = virtual_now();
	r = virtual_select(n, in, out, ex, t, NULL);
	/* Linux writes back what is left */
	begin = virtual_now() - begin;
	ts = to_ts(begin < t ? t - begin : 0);
	*tv = (struct timeval) { ts.tv_sec, ts.tv_nsec / 1000 };
	return r;
}

PUBLIC int pselect(int n, fd_set *in, fd_set *out, fd_set *ex, const struct timespec *ts,
		   const sigset_t *mask)
{
	if (!virtual_on() || !ts)
		return REAL(pselect)(n, in, out, ex, ts, mask);
	return virtual_select(n, in, out, ex, from_ts(ts), mask);
}

/* an epoll descriptor can be polled as well */
static int virtual_epoll(int fd, struct epoll_event *ev, int max, uint64_t timeout,
			 const sigset_t *mask)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int r = REAL(epoll_pwait)(fd, ev, max, 0, mask);

	if (r)
		return r;
	if (timeout == NEVER) {
		looks = 0;
		return REAL(epoll_pwait)(fd, ev, max, -1, mask);
	}
	r = virtual_poll(&p, 1, timeout, mask);
	return r < 0 ? r : REAL(epoll_pwait)(fd, ev, max, 0, mask);
}

PUBLIC int epoll_wait(int fd, struct epoll_event *ev, int max, int ms)
{
	if (!virtual_on())
		return REAL(epoll_wait)(fd, ev, max, ms);
	return virtual_epoll(fd, ev, max, ms < 0 ? NEVER : ms * 1000000ULL, NULL);
}

PUBLIC int epoll_pwait(int fd, struct epoll_event *ev, int max, int ms, const sigset_t *mask)
{
	if (!virtual_on())
		return REAL(epoll_pwait)(fd, ev, max, ms, mask);
	return virtual_epoll(fd, ev, max, ms < 0 ? NEVER : ms * 1000000ULL, mask);
}

PUBLIC int epoll_pwait2(int fd, struct epoll_event *ev, int max, const struct timespec *ts,
			const sigset_t *mask)
{
	if (!virtual_on())
		return REAL(epoll_pwait2)(fd, ev, max, ts, mask);
	return virtual_epoll(fd, ev, max, ts ? from_ts(ts) : NEVER, mask);
}

/* ---- timeouts of sockets ---- */

/*
 * SO_RCVTIMEO is kept here. Timestamps of the host's clock would be mixed with virtual
 * ones, so those options are taken and not set: programs then read the clock.
 */
PUBLIC int setsockopt(int fd, int level, int name, const void *val, socklen_t len)
{
	const struct timeval *tv = val;

	if (!virtual_on() || level != SOL_SOCKET || fd < 0 || fd >= FDS)
		return REAL(setsockopt)(fd, level, name, val, len);
	if (name == SO_TIMESTAMP || name == SO_TIMESTAMPNS)
		return 0;
	if (name != SO_RCVTIMEO || len < sizeof(*tv))
		return REAL(setsockopt)(fd, level, name, val, len);
	fds[fd].timeout = tv->tv_sec * NSEC + tv->tv_usec * 1000;
	return 0;
}

/* wait for input as a blocking call with SO_RCVTIMEO does; -1: errno is set */
static int input_wait(int fd, int flags)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int r;

	if (!virtual_on() || fd < 0 || fd >= FDS || flags & MSG_ERRQUEUE)
		return 0;
	computed();
	if (flags & MSG_DONTWAIT || fcntl(fd, F_GETFL) & O_NONBLOCK) {
		static const struct timespec none;

		if (looks_free)
			return 0;
		/* a busy waiter asks again and again */
		if (!REAL(ppoll)(&p, 1, &none, NULL))
			look_in_vain();
		else
			looks = 0;
		return 0;
	}
	looks = 0;
	if (!fds[fd].timeout)
		return 0;
	r = virtual_poll(&p, 1, fds[fd].timeout, NULL);
	if (!r)
		errno = EAGAIN;
	return r > 0 ? 0 : -1;
}

PUBLIC ssize_t recv(int fd, void *buf, size_t len, int flags)
{
	return input_wait(fd, flags) ? -1 : moved(REAL(recv)(fd, buf, len, flags));
}

PUBLIC ssize_t recvfrom(int fd, void *buf, size_t len, int flags, struct sockaddr *from,
			socklen_t *flen)
{
	return input_wait(fd, flags) ? -1 : moved(REAL(recvfrom)(fd, buf, len, flags, from, flen));
}

PUBLIC ssize_t __recv_chk(int fd, void *buf, size_t len, size_t size, int flags);
PUBLIC ssize_t __recv_chk(int fd, void *buf, size_t len, size_t size, int flags)
{
	if (len > size)
		abort();
	return recv(fd, buf, len, flags);
}

PUBLIC ssize_t __recvfrom_chk(int fd, void *buf, size_t len, size_t size, int flags,
			      struct sockaddr *from, socklen_t *flen);
PUBLIC ssize_t __recvfrom_chk(int fd, void *buf, size_t len, size_t size, int flags,
			      struct sockaddr *from, socklen_t *flen)
{
	if (len > size)
		abort();
	return recvfrom(fd, buf, len, flags, from, flen);
}

PUBLIC ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	return input_wait(fd, flags) ? -1 : moved(REAL(recvmsg)(fd, m, flags));
}

PUBLIC int accept(int fd, struct sockaddr *from, socklen_t *flen)
{
	return input_wait(fd, 0) ? -1 : REAL(accept)(fd, from, flen);
}

PUBLIC int accept4(int fd, struct sockaddr *from, socklen_t *flen, int flags)
{
	return input_wait(fd, 0) ? -1 : REAL(accept4)(fd, from, flen, flags);
}

/* what is sent is of the time to which the thread has computed */
PUBLIC ssize_t send(int fd, const void *buf, size_t len, int flags)
{
	computed();
	return moved(REAL(send)(fd, buf, len, flags));
}

PUBLIC ssize_t sendto(int fd, const void *buf, size_t len, int flags, const struct sockaddr *to,
		      socklen_t tlen)
{
	computed();
	return moved(REAL(sendto)(fd, buf, len, flags, to, tlen));
}

PUBLIC ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	computed();
	return moved(REAL(sendmsg)(fd, m, flags));
}

/* the time of the last frame is of the host's clock: programs then read theirs */
PUBLIC int ioctl(int fd, unsigned long cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (virtual_page && (cmd == SIOCGSTAMP_OLD || cmd == SIOCGSTAMPNS_OLD ||
			     cmd == SIOCGSTAMP_NEW || cmd == SIOCGSTAMPNS_NEW)) {
		errno = ENOENT;
		return -1;
	}
	return REAL(ioctl)(fd, cmd, arg);
}

PUBLIC ssize_t read(int fd, void *buf, size_t len)
{
	if (virtual_on() && fd >= 0 && fd < FDS && fds[fd].timeout && input_wait(fd, 0))
		return -1;
	return REAL(read)(fd, buf, len);
}

PUBLIC int close(int fd)
{
	if (virtual_page && fd >= 0 && fd < FDS) {
		/* a program that closes all that it does not know */
		if (fds[fd].ours) {
			errno = EBADF;
			return -1;
		}
		memset(&fds[fd], 0, sizeof(fds[fd]));
	}
	return REAL(close)(fd);
}

/* ---- timerfd: a clock file in its place ---- */

PUBLIC int timerfd_create(int id, int flags)
{
	int64_t base = virtual_base(id);
	int fd;

	if (!virtual_on() || base < 0)
		return REAL(timerfd_create)(id, flags);
	fd = clock_open(flags & TFD_NONBLOCK ? PACKETWAY_TIME_NONBLOCK : 0);
	if (fd < 0)
		return -1;
	if (!(flags & TFD_CLOEXEC))
		fcntl(fd, F_SETFD, 0);
	if (fd < FDS) {
		fds[fd].timer = true;
		fds[fd].realtime = base != (int64_t)NSEC;
	}
	return fd;
}

static uint64_t timer_base(int fd)
{
	return fds[fd].realtime ? EPOCH * NSEC : NSEC;
}

PUBLIC int timerfd_gettime(int fd, struct itimerspec *cur)
{
	struct packetway_time_alarm a = { .size = sizeof(a), .flags = PACKETWAY_TIME_ALARM_GET };
	uint64_t t = virtual_now();

	if (!virtual_on() || fd < 0 || fd >= FDS || !fds[fd].timer)
		return REAL(timerfd_gettime)(fd, cur);
	if (ioctl(fd, PACKETWAY_IOC_TIME_ALARM, &a))
		return -1;
	cur->it_interval = to_ts(a.out_interval);
	cur->it_value = to_ts(a.out_at > t + zero ? a.out_at - t - zero : 0);
	return 0;
}

PUBLIC int timerfd_settime(int fd, int flags, const struct itimerspec *val, struct itimerspec *old)
{
	uint64_t at, base;

	if (!virtual_on() || fd < 0 || fd >= FDS || !fds[fd].timer)
		return REAL(timerfd_settime)(fd, flags, val, old);
	if (old && timerfd_gettime(fd, old))
		return -1;
	at = from_ts(&val->it_value);
	base = timer_base(fd);
	if (at && flags & TFD_TIMER_ABSTIME)
		at = at > base ? at - base : 1;
	else if (at)
		at += virtual_now();
	return virtual_alarm(fd, at, from_ts(&val->it_interval));
}

/* ---- threads and children join by themselves ---- */

struct thread_start {
	void *(*fn)(void *);
	void *arg;
	uint32_t order;
};

static void *thread_run(void *arg)
{
	struct thread_start s = *(struct thread_start *)arg;

	free(arg);
	member = true;
	order_own = s.order;
	if (join(PACKETWAY_TIME_JOIN_EXEC | PACKETWAY_TIME_JOIN_HELD, s.order))
		hold_end();
	return s.fn(s.arg);
}

/* time stands still from here until the thread has joined */
int virtual_thread(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	struct thread_start *s = malloc(sizeof(*s));
	int err;

	if (!s)
		return EAGAIN;
	*s = (struct thread_start) { fn, arg, order_new() };
	join(PACKETWAY_TIME_JOIN_HOLD, 0);
	err = REAL(pthread_create)(t, attr, thread_run, s);
	if (err) {
		hold_end();
		free(s);
	}
	return err;
}

PUBLIC int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	return virtual_on() ? virtual_thread(t, attr, fn, arg) :
			      REAL(pthread_create)(t, attr, fn, arg);
}

/*
 * A child holds the time from its start until it has joined: the parent takes a hold in a
 * file of its own that the child inherits, and closes it. The library closes it in the child
 * when that has joined. If it never does, the hold ends with the child.
 */
static int spawn_begin(char *text, size_t cap)
{
	struct packetway_time_join j = { .size = sizeof(j), .flags = PACKETWAY_TIME_JOIN_HOLD };
	int fd = virtual_open(0);

	if (fd < 0)
		return -1;
	ioctl(fd, PACKETWAY_IOC_TIME_JOIN, &j);
	if (text) {
		fcntl(fd, F_SETFD, 0);
		snprintf(text, cap, "PW_TIME_HELD=%d", fd);
	}
	return fd;
}

static void spawn_end(int fd)
{
	if (fd >= 0)
		close_ours(fd);
}

PUBLIC pid_t fork(void)
{
	uint32_t order;
	pid_t pid;
	int hold;

	if (!virtual_on())
		return REAL(fork)();
	order = order_new();
	hold = spawn_begin(NULL, 0);
	pid = REAL(fork)();
	if (!pid) {
		/* alarms are the parent's */
		thread_end(NULL);
		virtual_timers_forget();
		order_own = order;
		order_next = 0;
		cpu_last = 0;
		join(PACKETWAY_TIME_JOIN_EXEC, order);
	}
	spawn_end(hold);
	return pid;
}

/* a child of vfork() shares the memory of its parent, which waits for it */
PUBLIC pid_t vfork(void)
{
	return fork();
}

/* posix_spawn() and what is made of it start the child inside of libc */
typedef int spawn_fn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);

static int spawn(spawn_fn *real, pid_t *pid, const char *path,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
		 char *const argv[], char *const envp[])
{
	char text[32], **env;
	int fd, n = 0, err;

	if (!virtual_on())
		return real(pid, path, actions, attr, argv, envp);
	while (envp && envp[n])
		n++;
	env = calloc(n + 2, sizeof(*env));
	if (!env)
		return ENOMEM;
	if (n)
		memcpy(env, envp, n * sizeof(*env));
	fd = spawn_begin(text, sizeof(text));
	env[n] = fd >= 0 ? text : NULL;
	err = real(pid, path, actions, attr, argv, env);
	spawn_end(fd);
	free(env);
	return err;
}

PUBLIC int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	return spawn(REAL(posix_spawn), pid, path, actions, attr, argv, envp);
}

PUBLIC int posix_spawnp(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	return spawn(REAL(posix_spawnp), pid, path, actions, attr, argv, envp);
}

PUBLIC int system(const char *command)
{
	char text[32];
	int fd, r;

	if (!virtual_on() || !command)
		return REAL(system)(command);
	fd = spawn_begin(text, sizeof(text));
	if (fd >= 0)
		setenv("PW_TIME_HELD", strchr(text, '=') + 1, 1);
	r = REAL(system)(command);
	unsetenv("PW_TIME_HELD");
	spawn_end(fd);
	return r;
}

PUBLIC FILE *popen(const char *command, const char *mode)
{
	char text[32];
	FILE *f;
	int fd;

	if (!virtual_on())
		return REAL(popen)(command, mode);
	fd = spawn_begin(text, sizeof(text));
	if (fd >= 0)
		setenv("PW_TIME_HELD", strchr(text, '=') + 1, 1);
	f = REAL(popen)(command, mode);
	unsetenv("PW_TIME_HELD");
	spawn_end(fd);
	return f;
}
