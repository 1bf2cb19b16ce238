/* SPDX-License-Identifier: GPL-2.0 */
/* Floods from several stations at once, many frames per system call. */
#ifndef PWFLOOD_H
#define PWFLOOD_H

#include "pwtest.h"

#include <pthread.h>

#define FLOOD_SENDERS 8
#define FLOOD_BATCH 32
#define FLOOD_FRAME 128

/* seconds within which everything has arrived; a million takes its time */
#define FLOOD_SECONDS (pw_long() ? 3000 : 150)

/* a frame of sender @from into @b, from random bits; returns its length */
typedef int (*flood_fn)(uint8_t *b, int from, uint64_t x);

struct flood {
	flood_fn build;
	long each;		/* frames of a sender */
	int fd[FLOOD_SENDERS];	/* packet sockets */
	uint64_t seed;
	long lost;		/* frames that could not be sent at all */
	int from;		/* set for each thread */
	struct flood *all;
};

static inline uint64_t flood_next(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

static PW_UNUSED void *flood_thread(void *arg)
{
	uint8_t frame[FLOOD_BATCH][FLOOD_FRAME];
	struct mmsghdr m[FLOOD_BATCH];
	struct iovec iov[FLOOD_BATCH];
	struct flood *f = arg;
	uint64_t x = f->seed + 0x9e3779b97f4a7c15ULL * (f->from + 1);
	int one = 1, fd = f->fd[f->from], i, n, done;
	long left;

	/* a queueing discipline may drop what it has accepted */
	setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one));
	for (left = f->each; left; left -= n) {
		n = left < FLOOD_BATCH ? left : FLOOD_BATCH;
		memset(m, 0, sizeof(m));
		for (i = 0; i < n; i++) {
			x = flood_next(x);
			iov[i].iov_base = frame[i];
			iov[i].iov_len = f->build(frame[i], f->from, x);
			m[i].msg_hdr.msg_iov = &iov[i];
			m[i].msg_hdr.msg_iovlen = 1;
		}
		for (i = 0; i < n;) {
			done = sendmmsg(fd, m + i, n - i, 0);
			if (done > 0) {
				i += done;
			} else if (errno == ENOBUFS || errno == EAGAIN) {
				usleep(500);
			} else {
				__sync_fetch_and_add(&f->all->lost, n - i);
				break;
			}
		}
	}
	return NULL;
}

/* all senders at once; 0: every frame went out */
static PW_UNUSED int flood_run(struct flood *f)
{
	struct flood part[FLOOD_SENDERS];
	pthread_t t[FLOOD_SENDERS];
	int i;

	f->lost = 0;
	for (i = 0; i < FLOOD_SENDERS; i++) {
		part[i] = *f;
		part[i].from = i;
		part[i].all = f;
		if (pthread_create(&t[i], NULL, flood_thread, &part[i]))
			return -1;
	}
	for (i = 0; i < FLOOD_SENDERS; i++)
		pthread_join(t[i], NULL);
	f->seed = flood_next(f->seed + 1);
	return f->lost ? -1 : 0;
}

/* until there is not more than @before and what a checking kernel keeps; how much more */
static PW_UNUSED long slab_growth(long before)
{
	long slack = pw_slow_kernel() ? 16384 : 4096;
	int i;

	for (i = 0; i < 50 && pw_meminfo("Slab") > before + slack; i++)
		usleep(100000);
	return pw_meminfo("Slab") > before + slack ? pw_meminfo("Slab") - before : 0;
}

#endif
