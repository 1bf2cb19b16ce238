// SPDX-License-Identifier: GPL-2.0
/* checkpatch-ignore: USE_NEGATIVE_ERRNO (functions of libc) */
/*
 * libpwtime: timers that are not descriptors. One thread of the process waits for the
 * earliest of them. It sends the signals of alarm(), setitimer() and timer_create(), and
 * wakes threads whose semaphore, condition variable or futex has a timeout.
 */
#include <errno.h>
#include <limits.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <linux/futex.h>

#include "virtual.h"

/**
 * struct timer - something that happens at a virtual time
 * @next: in the list, which is sorted by @at
 * @at: when
 * @interval: then again after this time, 0: once
 * @queued: it is in the list
 * @fire: called with the list locked
 */
struct timer {
	struct timer *next;
	uint64_t at;
	uint64_t interval;
	bool queued;
	void (*fire)(struct timer *t);
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timer *timers;
static int timer_fd = -1;

/* alarm() may be called by signal handlers */
static void list_lock(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, old);
	pthread_mutex_lock(&lock);
}

static void list_unlock(const sigset_t *old)
{
	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

static void unlink_timer(struct timer *t)
{
	struct timer **p;

	for (p = &timers; *p; p = &(*p)->next) {
		if (*p == t) {
			*p = t->next;
			break;
		}
	}
	t->queued = false;
}

static void link_timer(struct timer *t)
{
	struct timer **p = &timers;

	while (*p && (*p)->at <= t->at)
		p = &(*p)->next;
	t->next = *p;
	*p = t;
	t->queued = true;
}

static void first_alarm(void)
{
	virtual_alarm(timer_fd, timers ? timers->at ?: 1 : 0, 0);
}

static void *timer_run(void *arg)
{
	struct timer *t;
	uint64_t n;

	while (read(timer_fd, &n, sizeof(n)) == sizeof(n)) {
		pthread_mutex_lock(&lock);
		while (timers && timers->at <= virtual_now()) {
			t = timers;
			unlink_timer(t);
			if (t->interval) {
				t->at += t->interval;
				link_timer(t);
			}
			t->fire(t);
		}
		first_alarm();
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

/* the thread that waits; the list is locked */
static int timers_start(void)
{
	pthread_t thread;
	int err;

	if (timer_fd >= 0)
		return 0;
	timer_fd = virtual_open(0);
	if (timer_fd < 0)
		return errno;
	/* it inherits that no signal reaches it */
	err = virtual_thread(&thread, NULL, timer_run, NULL);
	if (!err)
		pthread_detach(thread);
	return err;
}

static int timer_add(struct timer *t, uint64_t at, uint64_t interval)
{
	sigset_t old;
	int err;

	list_lock(&old);
	err = timers_start();
	if (!err) {
		unlink_timer(t);
		t->at = at;
		t->interval = interval;
		if (at != NEVER)
			link_timer(t);
		first_alarm();
	}
	list_unlock(&old);
	return err;
}

static void timer_del(struct timer *t)
{
	sigset_t old;

	list_lock(&old);
	if (t->queued) {
		unlink_timer(t);
		first_alarm();
	}
	list_unlock(&old);
}

static struct itimerspec timer_left(struct timer *t)
{
	uint64_t now = virtual_now();
	struct itimerspec it = {};
	sigset_t old;

	list_lock(&old);
	if (t->queued) {
		it.it_value = to_ts(t->at > now ? t->at - now : 1);
		it.it_interval = to_ts(t->interval);
	}
	list_unlock(&old);
	return it;
}

/* ---- signals ---- */

static void alarm_fire(struct timer *t)
{
	kill(getpid(), SIGALRM);
}

static struct timer itimer = { .fire = alarm_fire };

/* in a child: it has no timers, and no thread for them */
void virtual_timers_forget(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	memcpy(&lock, &unlocked, sizeof(lock));
	timers = NULL;
	itimer.queued = false;
	timer_fd = -1;
}

static uint64_t from_tv(const struct timeval *tv)
{
	return tv->tv_sec * NSEC + tv->tv_usec * 1000;
}

static struct timeval to_tv(struct timespec ts)
{
	return (struct timeval) { ts.tv_sec, ts.tv_nsec / 1000 };
}

static void itimer_set(uint64_t value, uint64_t interval)
{
	timer_add(&itimer, value ? virtual_now() + value : NEVER, interval);
}

PUBLIC unsigned int alarm(unsigned int s)
{
	struct itimerspec old;

	if (!virtual_on())
		return REAL(alarm)(s);
	old = timer_left(&itimer);
	itimer_set(s * NSEC, 0);
	return old.it_value.tv_sec + (old.it_value.tv_nsec >= (long)NSEC / 2 ||
				      (!old.it_value.tv_sec && old.it_value.tv_nsec));
}

PUBLIC useconds_t ualarm(useconds_t us, useconds_t interval)
{
	struct itimerspec old;

	if (!virtual_on())
		return REAL(ualarm)(us, interval);
	old = timer_left(&itimer);
	itimer_set(us * 1000ULL, interval * 1000ULL);
	return old.it_value.tv_sec * 1000000 + old.it_value.tv_nsec / 1000;
}

PUBLIC int getitimer(__itimer_which_t which, struct itimerval *val)
{
	struct itimerspec now;

	if (!virtual_on() || which != ITIMER_REAL)
		return REAL(getitimer)(which, val);
	now = timer_left(&itimer);
	*val = (struct itimerval) { to_tv(now.it_interval), to_tv(now.it_value) };
	return 0;
}

PUBLIC int setitimer(__itimer_which_t which, const struct itimerval *val, struct itimerval *old)
{
	if (!virtual_on() || which != ITIMER_REAL || !val)
		return REAL(setitimer)(which, val, old);
	if (old)
		getitimer(which, old);
	itimer_set(from_tv(&val->it_value), from_tv(&val->it_interval));
	return 0;
}

/* timer_create(): those that send a signal. The number is a pointer */
struct posix_timer {
	struct timer t;
	struct posix_timer *next;
	int signo;
	union sigval value;
	int64_t base;
};

static struct posix_timer *posix_timers;

static void posix_fire(struct timer *t)
{
	struct posix_timer *p = (struct posix_timer *)t;

	if (p->signo)
		sigqueue(getpid(), p->signo, p->value);
}

static struct posix_timer *posix_find(timer_t id)
{
	struct posix_timer *p;
	sigset_t old;

	list_lock(&old);
	for (p = posix_timers; p && p != id; p = p->next)
		;
	list_unlock(&old);
	return p;
}

PUBLIC int timer_create(clockid_t id, struct sigevent *ev, timer_t *timer)
{
	int64_t base = virtual_base(id);
	struct posix_timer *p;
	sigset_t old;

	if (!virtual_on() || base < 0 ||
	    (ev && ev->sigev_notify != SIGEV_SIGNAL && ev->sigev_notify != SIGEV_NONE))
		return REAL(timer_create)(id, ev, timer);
	p = calloc(1, sizeof(*p));
	if (!p)
		return -1;
	p->t.fire = posix_fire;
	p->base = base;
	p->signo = !ev ? SIGALRM : ev->sigev_notify == SIGEV_SIGNAL ? ev->sigev_signo : 0;
	if (ev)
		p->value = ev->sigev_value;
	else
		p->value.sival_ptr = p;
	list_lock(&old);
	p->next = posix_timers;
	posix_timers = p;
	list_unlock(&old);
	*timer = p;
	return 0;
}

PUBLIC int timer_settime(timer_t id, int flags, const struct itimerspec *val,
			 struct itimerspec *old)
{
	struct posix_timer *p = posix_find(id);
	uint64_t at;

	if (!p)
		return REAL(timer_settime)(id, flags, val, old);
	if (old)
		*old = timer_left(&p->t);
	at = from_ts(&val->it_value);
	if (!at)
		at = NEVER;
	else if (at != NEVER && flags & TIMER_ABSTIME)
		at = at > (uint64_t)p->base ? at - p->base : 0;
	else if (at != NEVER)
		at += virtual_now();
	errno = timer_add(&p->t, at, from_ts(&val->it_interval));
	return errno ? -1 : 0;
}

PUBLIC int timer_gettime(timer_t id, struct itimerspec *val)
{
	struct posix_timer *p = posix_find(id);

	if (!p)
		return REAL(timer_gettime)(id, val);
	*val = timer_left(&p->t);
	return 0;
}

PUBLIC int timer_delete(timer_t id)
{
	struct posix_timer *p = posix_find(id), **q;
	sigset_t old;

	if (!p)
		return REAL(timer_delete)(id);
	timer_del(&p->t);
	list_lock(&old);
	for (q = &posix_timers; *q; q = &(*q)->next) {
		if (*q == p) {
			*q = p->next;
			break;
		}
	}
	list_unlock(&old);
	free(p);
	return 0;
}

/* ---- threads that wait with a timeout ---- */

/*
 * A waiting thread. It sleeps when its time comes, as time stands still before. Should it
 * have missed the wake-up all the same, the next one is a quantum later.
 */
struct waiter {
	struct timer t;
	void (*wake)(struct waiter *w);
	bool expired;
	pthread_t thread;
	pthread_cond_t *cond;
	uint32_t *futex;
};

static void waiter_fire(struct timer *t)
{
	struct waiter *w = (struct waiter *)t;

	__atomic_store_n(&w->expired, true, __ATOMIC_RELEASE);
	w->wake(w);
	t->at = virtual_now() + (virtual_page->quantum ?: 1);
	link_timer(t);
}

/* the end of a wait; also if the thread is cancelled in it */
static void waiter_end(void *w)
{
	int err = errno;

	timer_del(&((struct waiter *)w)->t);
	errno = err;
}

/* absolute times of the clocks do not overlap: monotonic ones are small */
static uint64_t deadline(const struct timespec *ts)
{
	uint64_t ns = from_ts(ts), base = ns >= EPOCH * NSEC / 2 ? EPOCH * NSEC : NSEC;

	return ns == NEVER ? NEVER : ns > base ? ns - base : 0;
}

/*
 * Condition variables: every thread that waits for it is woken. The old ones of 32 bits are not
 * looked for: dlsym() alone would find those on some machines.
 */
static void *cond_function(const char *name)
{
	void *f = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");

	return f ?: dlsym(RTLD_NEXT, name);
}

static void cond_wake(struct waiter *w)
{
	pthread_cond_broadcast(w->cond);
}

static int cond_wait_until(pthread_cond_t *c, pthread_mutex_t *m, uint64_t at)
{
	static int (*wait)(pthread_cond_t *c, pthread_mutex_t *m);
	struct waiter w = { .t.fire = waiter_fire, .wake = cond_wake, .cond = c };
	int r;

	if (!wait)
		wait = cond_function("pthread_cond_wait");
	if (at <= virtual_now())
		return ETIMEDOUT;
	r = timer_add(&w.t, at, 0);
	if (r)
		return r;
	pthread_cleanup_push(waiter_end, &w);
	r = wait(c, m);
	pthread_cleanup_pop(1);
	return r ?: w.expired ? ETIMEDOUT : 0;
}

PUBLIC int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *ts)
{
	static typeof(pthread_cond_timedwait) *real;

	if (virtual_on())
		return cond_wait_until(c, m, deadline(ts));
	if (!real)
		real = cond_function("pthread_cond_timedwait");
	return real(c, m, ts);
}

PUBLIC int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t id,
				  const struct timespec *ts)
{
	if (!virtual_on())
		return REAL(pthread_cond_clockwait)(c, m, id, ts);
	return cond_wait_until(c, m, deadline(ts));
}

/* semaphores: a signal ends the wait of the thread */
#define WAKE_SIGNAL (SIGRTMAX - 3)

static void nothing(int signo)
{
}

static void signal_wake(struct waiter *w)
{
	pthread_kill(w->thread, WAKE_SIGNAL);
}

static int sem_wait_until(sem_t *s, uint64_t at)
{
	struct waiter w = { .t.fire = waiter_fire, .wake = signal_wake, .thread = pthread_self() };
	struct sigaction sa = { .sa_handler = nothing };
	sigset_t set, old;
	int r;

	if (!sem_trywait(s))
		return 0;
	if (at <= virtual_now()) {
		errno = ETIMEDOUT;
		return -1;
	}
	errno = timer_add(&w.t, at, 0);
	if (errno)
		return -1;
	sigaction(WAKE_SIGNAL, &sa, NULL);
	sigemptyset(&set);
	sigaddset(&set, WAKE_SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &set, &old);
	pthread_cleanup_push(waiter_end, &w);
	r = sem_wait(s);
	pthread_cleanup_pop(1);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r && errno == EINTR && w.expired)
		errno = ETIMEDOUT;
	return r;
}

PUBLIC int sem_timedwait(sem_t *s, const struct timespec *ts)
{
	return virtual_on() ? sem_wait_until(s, deadline(ts)) : REAL(sem_timedwait)(s, ts);
}

PUBLIC int sem_clockwait(sem_t *s, clockid_t id, const struct timespec *ts)
{
	return virtual_on() ? sem_wait_until(s, deadline(ts)) : REAL(sem_clockwait)(s, id, ts);
}

/* futexes that a program or a language's library waits on by itself */
static void futex_wake(struct waiter *w)
{
	REAL(syscall)(SYS_futex, w->futex, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	REAL(syscall)(SYS_futex, w->futex, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static long futex_wait(uint32_t *futex, long op, long val, const struct timespec *ts, long val3)
{
	struct waiter w = { .t.fire = waiter_fire, .wake = futex_wake, .futex = futex };
	uint64_t at = deadline(ts);
	long r;

	/* FUTEX_WAIT counts from now, FUTEX_WAIT_BITSET is absolute */
	if ((op & FUTEX_CMD_MASK) == FUTEX_WAIT) {
		at = from_ts(ts);
		at = at == NEVER ? NEVER : at + virtual_now();
	}
	errno = timer_add(&w.t, at, 0);
	if (errno)
		return -1;
	pthread_cleanup_push(waiter_end, &w);
	r = REAL(syscall)(SYS_futex, futex, op & ~FUTEX_CLOCK_REALTIME, val, NULL, NULL, val3);
	pthread_cleanup_pop(1);
	if (!r && w.expired) {
		errno = ETIMEDOUT;
		return -1;
	}
	return r;
}

PUBLIC long syscall(long nr, ...)
{
	long a[6];
	va_list ap;
	int i, op;

	va_start(ap, nr);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	op = a[1] & FUTEX_CMD_MASK;
	if (nr == SYS_futex && (op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET) && a[3] && virtual_on())
		return futex_wait((uint32_t *)a[0], a[1], a[2], (struct timespec *)a[3], a[5]);
	return REAL(syscall)(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}
