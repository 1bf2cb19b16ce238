/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reductions over all rings that routers and trunks join, in the kernel. core/reduce.h
 * describes them.
 *
 * Each SAN has a struct pw_reduce, made and freed with it. A work item alone runs its agent:
 * what a station starts waits in a list for it, messages wait in a queue, and a ring that has
 * ended a command queues it. It finds stations and half-routers by their port, under RCU and
 * with BH off for one event at a time.
 */
#ifndef PW_REDUCE_GLUE_H
#define PW_REDUCE_GLUE_H

#include "pw_priv.h"
#include "reduce.h"

#define PW_REDUCE_ROOTS	4	/* that the stations of a SAN have running */
#define PW_REDUCE_QUEUE	1024	/* messages that wait */

struct pw_half;

/**
 * struct pw_reduce_run - a reduction of a station or for a half-router
 * @job: for the core
 * @req: the command on the own ring
 * @entry: in a list of pw_reduce
 * @reduce: the SAN's
 * @port: of the station that starts it; -1: for a half-router
 * @n: SANs in the list
 * @deadline: end of its time, in ms; of a station
 * @ring_ended: the ring is about to let go of @req; READ_ONCE
 * @users: the program that waits, and the work
 * @ended: signalled when job.sum has the result; of a station
 * @err: 0, or -ENODEV: the SAN has gone before
 * @dropped: the program waits no longer; READ_ONCE
 */
struct pw_reduce_run {
	struct pw_reduce_job job;
	struct pw_aton_req req;
	struct list_head entry;
	struct pw_reduce *reduce;
	int port;
	u32 n;
	u64 deadline;
	bool ring_ended;
	refcount_t users;
	struct completion ended;
	int err;
	bool dropped;
};

int pw_reduce_work_init(void);
void pw_reduce_work_exit(void);
int pw_reduce_san_init(struct pw_san *san);
void pw_reduce_san_exit(struct pw_san *san);
struct pw_reduce_run *pw_reduce_new(u32 n);
void pw_reduce_put(struct pw_reduce_run *run);
u32 pw_reduce_count(const struct pw_san *san);
int pw_reduce_start(struct pw_station *st, struct pw_reduce_run *run, u32 ms);
void pw_reduce_in(struct pw_half *h, struct sk_buff *skb, const struct pw_eep_view *v);

#endif
