/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of libpwtime share. */
#ifndef PW_VIRTUAL_H
#define PW_VIRTUAL_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <linux/packetway.h>

#define PUBLIC __attribute__((visibility("default")))
#define NSEC 1000000000ULL
/* the realtime clock of every run begins on 1 January 2000 */
#define EPOCH 946684800ULL
#define NEVER UINT64_MAX

/* the function that this library stands before */
#define REAL(name) ({						\
	static typeof(name) *real_##name;			\
	if (!real_##name)					\
		real_##name = dlsym(RTLD_NEXT, #name);		\
	real_##name;						\
})

/* pwtime.c; times count from the begin of the run */
extern const volatile struct packetway_time_page *virtual_page;
extern int virtual_clock;
bool virtual_on(void);
uint64_t virtual_now(void);
/* nanoseconds between the zero of a clock and that of the station's; -1: not our clock */
int64_t virtual_base(clockid_t id);
/* a clock file of the library */
int virtual_open(uint32_t flags);
/* @at 0: never */
int virtual_alarm(int fd, uint64_t at, uint64_t interval);
int virtual_thread(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);

/* timers.c */
void virtual_timers_forget(void);

static inline uint64_t from_ts(const struct timespec *ts)
{
	if (ts->tv_sec < 0)
		return 0;
	return ts->tv_sec > (time_t)(PACKETWAY_TIME_NS_MAX / NSEC) ? NEVER :
	       ts->tv_sec * NSEC + ts->tv_nsec;
}

static inline struct timespec to_ts(uint64_t ns)
{
	return (struct timespec) { ns / NSEC, ns % NSEC };
}

#endif
