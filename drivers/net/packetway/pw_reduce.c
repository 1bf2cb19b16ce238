// SPDX-License-Identifier: GPL-2.0
/*
 * Reductions over all rings: glue between the pure core (core/reduce.h), rings and
 * half-routers.
 *
 *   PACKETWAY_IOC_ATON_REDUCE -> pw_reduce_start -> waiting \
 *   message of a peer half -> pw_half_local -> pw_reduce_in -> queue -> pw_reduce_work
 *   ring: req->complete -> pw_reduce_ring_ended              /
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/workqueue.h>

#include "pw_reduce.h"
#include "pw_router.h"
#include "pw_trunk.h"

static_assert((int)PACKETWAY_ATON_R_ROUTE == (int)PW_REDUCE_E_ROUTE);
static_assert((int)PACKETWAY_ATON_R_RING == (int)PW_REDUCE_E_RING);
static_assert(PACKETWAY_ATON_REDUCE_MS_MAX == PW_REDUCE_MS_MAX);
static_assert(PACKETWAY_PORTS_MAX == PW_REDUCE_PORTS);

#define PW_REDUCE_TURN	64	/* messages, and reductions of stations, in one turn */
/* what stations have started and waits, also if its program has gone: until its time is over */
#define PW_REDUCE_WAITING	1024

/**
 * struct pw_reduce - the reductions of a SAN
 * @agent: for the core; the work's
 * @san: the SAN
 * @work: runs the agent
 * @queue: messages of peer halves
 * @queued: how many of these are for the half-router at a port
 * @lock: @waiting and @nwaiting
 * @waiting: what stations have started, in order
 * @nwaiting: how many that are
 * @roots: what stations have running; the work's
 * @ended: jobs that are to be freed; the work's
 */
struct pw_reduce {
	struct pw_reduce_agent agent;
	struct pw_san *san;
	struct delayed_work work;
	struct sk_buff_head queue;
	atomic_t queued[PACKETWAY_PORTS_MAX];
	spinlock_t lock;	/* waiting */
	struct list_head waiting;
	u32 nwaiting;
	u32 roots;
	struct list_head ended;
};

/* as many workers as CPUs, for all SANs together: see pw_rrp_wq */
static struct workqueue_struct *pw_reduce_wq;

static u64 pw_reduce_now(void)
{
	return ktime_to_ms(ktime_get());
}

static void pw_reduce_wake(struct pw_reduce *rd)
{
	mod_delayed_work(pw_reduce_wq, &rd->work, 0);
}

/**
 * pw_reduce_new - memory of a reduction
 * @n: SANs that it may name
 *
 * Return: the reduction, with one user, or NULL.
 */
struct pw_reduce_run *pw_reduce_new(u32 n)
{
	struct pw_reduce_run *run;

	run = kzalloc(sizeof(*run) + n * (sizeof(*run->job.part) + sizeof(*run->job.item)),
		      PW_GFP);
	if (!run)
		return NULL;
	run->job.part = (void *)(run + 1);
	run->job.item = (void *)(run->job.part + n);
	run->port = -1;
	run->n = n;
	refcount_set(&run->users, 1);
	init_completion(&run->ended);
	init_completion(&run->req.done);
	return run;
}

/* its last user frees it */
void pw_reduce_put(struct pw_reduce_run *run)
{
	if (refcount_dec_and_test(&run->users))
		kfree(run);
}

static struct pw_reduce_run *pw_reduce_run(struct pw_reduce_job *job)
{
	return container_of(job, struct pw_reduce_run, job);
}

/* --- what the core needs; BH off, RCU held ------------------------------------------ */

static int pw_reduce_op_route(void *ctx, u32 san)
{
	struct pw_reduce *rd = ctx;

	return pw_fib_san_port(rd->san, san);
}

/* the half-router at a port whose peer half can be asked, or NULL */
static struct pw_half *pw_reduce_half(const struct pw_reduce *rd, int port)
{
	struct pw_half *h = pw_port_half(&rd->san->port[port]);

	/* a half-router of a program takes no part in reductions */
	if (!h || h->user || READ_ONCE(h->leaving) || !READ_ONCE(h->peer_addr))
		return NULL;
	return h->trunk && !READ_ONCE(h->trunk->up) ? NULL : h;
}

static bool pw_reduce_op_send(void *ctx, int port, enum pw_reduce_kind kind, const u8 *data,
			      u32 len)
{
	static const enum pw_half_stat stat[] = {
		[PW_REDUCE_ASK] = PW_HALF_REDUCE_ASKED,
		[PW_REDUCE_ASK_AGAIN] = PW_HALF_REDUCE_REPEATED,
		[PW_REDUCE_TELL] = PW_HALF_REDUCE_ANSWERED,
	};
	struct pw_half *h = pw_reduce_half(ctx, port);
	struct pw_eep_hdr hdr = {
		.pt = PW_PT_REDUCE, .p = PW_EEP_P_MAX, .data_len = len,
		.te = kind == PW_REDUCE_TELL ? PW_TE_REDUCE_ANSWER : PW_TE_REDUCE_ASK,
	};
	struct sk_buff *skb;
	u8 *body;

	if (!h)
		return false;
	hdr.dt = READ_ONCE(h->peer_addr);
	hdr.sa = h->addr;
	skb = pw_skb_new(&hdr, &body);
	/* without memory the message is lost; the request is repeated */
	if (!skb)
		return true;
	memcpy(body, data, len);
	pw_half_count(h, stat[kind]);
	pw_half_send_own(h, skb);
	return true;
}

/* the ring has ended a command; BH off */
static void pw_reduce_ring_ended(struct pw_aton_req *req)
{
	struct pw_reduce_run *run = container_of(req, struct pw_reduce_run, req);

	WRITE_ONCE(run->ring_ended, true);
	pw_reduce_wake(run->reduce);
}

static int pw_reduce_op_ring(void *ctx, struct pw_reduce_job *job)
{
	struct pw_reduce_run *run = pw_reduce_run(job);
	struct pw_reduce *rd = ctx;
	struct pw_station *st;
	struct pw_half *h;

	run->req.cmd.op = job->cmd.op;
	run->req.cmd.reg = job->cmd.reg;
	run->req.cmd.mods = job->cmd.mods;
	run->req.cmd.dst = PW_ATON_RING;
	run->req.cmd.comparand = job->cmd.comparand;
	run->req.complete = pw_reduce_ring_ended;
	if (job->from < 0) {
		st = pw_port_station(&rd->san->port[run->port]);
		return st ? pw_aton_submit(st, &run->req) : -ENODEV;
	}
	h = pw_port_half(&rd->san->port[job->from]);
	return h ? pw_aton_submit_at(rd->san->aton, &h->aton, h->port, &run->req) : -ENODEV;
}

static bool pw_reduce_op_ring_stop(void *ctx, struct pw_reduce_job *job)
{
	struct pw_reduce_run *run = pw_reduce_run(job);

	if (!pw_aton_cancel(&run->req, true))
		return false;
	pw_aton_req_drop(&run->req);
	return true;
}

static u32 pw_reduce_op_halves(void *ctx)
{
	struct pw_reduce *rd = ctx;

	/* a message of one that has just gone may be left */
	return max(READ_ONCE(rd->san->nhalves), 1U);
}

static struct pw_reduce_seen *pw_reduce_op_seen(void *ctx, int port)
{
	struct pw_reduce *rd = ctx;
	struct pw_half *h = pw_port_half(&rd->san->port[port]);

	return h ? h->seen : NULL;
}

static void pw_reduce_op_done(void *ctx, struct pw_reduce_job *job)
{
	struct pw_reduce *rd = ctx;

	list_add_tail(&pw_reduce_run(job)->entry, &rd->ended);
}

static const struct pw_reduce_ops pw_reduce_ops = {
	.route = pw_reduce_op_route,
	.send = pw_reduce_op_send,
	.ring = pw_reduce_op_ring,
	.ring_stop = pw_reduce_op_ring_stop,
	.halves = pw_reduce_op_halves,
	.seen = pw_reduce_op_seen,
	.done = pw_reduce_op_done,
};

/* --- the work ------------------------------------------------------------------------ */

static void pw_reduce_enter(void)
	__acquires(RCU)
{
	local_bh_disable();
	rcu_read_lock();
}

/* the ring runs when BH is enabled */
static void pw_reduce_leave(void)
	__releases(RCU)
{
	rcu_read_unlock();
	local_bh_enable();
}

/* a reduction is over: its program learns that */
static void pw_reduce_finish(struct pw_reduce *rd, struct pw_reduce_run *run, int err)
{
	run->err = err;
	complete_all(&run->ended);
	pw_reduce_put(run);
}

static void pw_reduce_free_ended(struct pw_reduce *rd)
{
	struct pw_reduce_run *run, *next;

	list_for_each_entry_safe(run, next, &rd->ended, entry) {
		list_del(&run->entry);
		if (run->port >= 0)
			rd->roots--;
		pw_reduce_finish(rd, run, 0);
	}
}

/* rings that have ended a command */
static void pw_reduce_rings(struct pw_reduce *rd)
{
	struct pw_reduce_run *run;
	u32 i;

	for (i = 0; i < PW_REDUCE_JOBS; i++) {
		if (!rd->agent.job[i])
			continue;
		run = pw_reduce_run(rd->agent.job[i]);
		if (!run->job.ring || !READ_ONCE(run->ring_ended))
			continue;
		/* the ring signals it right after it has called pw_reduce_ring_ended() */
		wait_for_completion(&run->req.done);
		pw_aton_req_drop(&run->req);
		pw_reduce_enter();
		pw_reduce_ring_done(&rd->agent, &run->job, &run->req.cmd);
		pw_reduce_leave();
	}
}

static struct pw_reduce_run *pw_reduce_next(struct pw_reduce *rd)
{
	struct pw_reduce_run *run;

	spin_lock(&rd->lock);
	run = list_first_entry_or_null(&rd->waiting, struct pw_reduce_run, entry);
	if (run) {
		list_del(&run->entry);
		rd->nwaiting--;
	}
	spin_unlock(&rd->lock);
	return run;
}

/* start what waits, as far as it may; true: there may be more */
static bool pw_reduce_roots(struct pw_reduce *rd)
{
	struct pw_reduce_run *run;
	u64 now;
	u32 n;

	/* at a station that is down they end at once, as fast as programs start them */
	for (n = 0; n < PW_REDUCE_TURN; n++) {
		if (rd->roots >= PW_REDUCE_ROOTS || rd->agent.njobs >= PW_REDUCE_JOBS)
			return false;
		run = pw_reduce_next(rd);
		if (!run)
			return false;
		cond_resched();
		now = pw_reduce_now();
		if (READ_ONCE(run->dropped) || now >= run->deadline) {
			pw_reduce_finish(rd, run, -ETIMEDOUT);
			continue;
		}
		rd->roots++;
		pw_reduce_enter();
		pw_reduce_begin(&rd->agent, &run->job, run->n, run->deadline - now, now);
		pw_reduce_leave();
		pw_reduce_free_ended(rd);
	}
	return true;
}

static void pw_reduce_dropped(struct pw_reduce *rd, int port)
{
	struct pw_half *h;

	pw_reduce_enter();
	h = pw_port_half(&rd->san->port[port]);
	if (h)
		pw_half_count(h, PW_HALF_REDUCE_DROPPED);
	pw_reduce_leave();
}

static void pw_reduce_message(struct pw_reduce *rd, struct sk_buff *skb)
{
	enum pw_reduce_verdict verdict = PW_REDUCE_IGNORED;
	int port = pw_cb(skb)->dst_port;
	struct pw_reduce_run *run = NULL;
	struct pw_reduce_msg m;
	struct pw_eep_view v;
	bool started = false;

	if (pw_eep_parse(skb->data, skb->len, &v) ||
	    pw_reduce_parse(skb->data + v.db_off, v.data_len, &m))
		goto out;
	pw_reduce_enter();
	verdict = pw_reduce_receive(&rd->agent, port, &m);
	pw_reduce_leave();
	if (verdict != PW_REDUCE_START)
		goto out;
	verdict = PW_REDUCE_FULL;
	run = pw_reduce_new(m.n);
	if (!run)
		goto out;
	run->reduce = rd;
	pw_reduce_enter();
	started = pw_reduce_request(&rd->agent, port, &m, &run->job, pw_reduce_now());
	pw_reduce_leave();
	if (started)
		verdict = PW_REDUCE_HANDLED;
	else
		pw_reduce_put(run);
out:
	if (verdict != PW_REDUCE_HANDLED)
		pw_reduce_dropped(rd, port);
	consume_skb(skb);
}

static void pw_reduce_turn(struct pw_reduce *rd)
{
	struct sk_buff *skb;
	u64 now, next;
	bool more;
	u32 n;

	pw_reduce_rings(rd);
	for (n = 0; n < PW_REDUCE_TURN; n++) {
		skb = skb_dequeue(&rd->queue);
		if (!skb)
			break;
		atomic_dec(&rd->queued[pw_cb(skb)->dst_port]);
		pw_reduce_message(rd, skb);
		pw_reduce_free_ended(rd);
		cond_resched();
	}
	pw_reduce_enter();
	now = pw_reduce_now();
	next = pw_reduce_tick(&rd->agent, now);
	pw_reduce_leave();
	pw_reduce_free_ended(rd);
	more = pw_reduce_roots(rd);
	if (more || !skb_queue_empty_lockless(&rd->queue))
		next = now;
	else if (rd->agent.njobs)
		/* what has begun just now */
		next = min(next, rd->agent.unsent ? now : now + PW_REDUCE_AGAIN_MIN);
	/* a wakeup meanwhile has queued it already */
	if (next != U64_MAX)
		queue_delayed_work(pw_reduce_wq, &rd->work,
				   next > now ? msecs_to_jiffies(next - now) : 0);
}

static void pw_reduce_work(struct work_struct *work)
{
	struct pw_reduce *rd = container_of(to_delayed_work(work), struct pw_reduce, work);
	struct mem_cgroup *old = pw_memcg_enter(rd->san->memcg);

	pw_kcov_section();

	pw_reduce_turn(rd);
	pw_memcg_leave(old);
}

/* --- interface ------------------------------------------------------------------------ */

/*
 * Does the message have a place in the queue? Each half-router has a share, and at least what the
 * jobs of a SAN can have asked it for at once.
 */
static bool pw_reduce_room(struct pw_reduce *rd, const struct pw_half *h)
{
	u32 share = max_t(u32, PW_REDUCE_QUEUE / (READ_ONCE(h->san->nhalves) + 1), PW_REDUCE_JOBS);

	return skb_queue_len_lockless(&rd->queue) < PW_REDUCE_QUEUE &&
	       (u32)atomic_read(&rd->queued[h->port]) < share;
}

/**
 * pw_reduce_in - a message of reductions for a half-router
 * @h: the half-router
 * @skb: the message, linear; consumed
 * @v: its fields
 *
 * Only the peer half may send one. BH off, RCU held.
 */
void pw_reduce_in(struct pw_half *h, struct sk_buff *skb, const struct pw_eep_view *v)
{
	const u8 need = PW_CB_HALF | PW_CB_PEER;
	struct pw_reduce *rd = h->san->reduce;

	if ((pw_cb(skb)->flags & need) != need || v->sa != READ_ONCE(h->peer_addr) || h->user) {
		pw_half_drop(h, skb, PW_HALF_REDUCE_DROPPED, PW_TE_ERR_GENERAL);
		return;
	}
	if (READ_ONCE(h->leaving) || !pw_reduce_room(rd, h) ||
	    v->data_len > PW_REDUCE_MSG_MAX || !__ratelimit(&h->reduce_limit)) {
		pw_half_drop(h, skb, PW_HALF_REDUCE_DROPPED, 0);
		return;
	}
	pw_cb(skb)->dst_port = h->port;
	atomic_inc(&rd->queued[h->port]);
	skb_queue_tail(&rd->queue, skb);
	pw_reduce_wake(rd);
}

/**
 * pw_reduce_count - how many SANs does a reduction have?
 * @san: where it starts; RCU held
 */
u32 pw_reduce_count(const struct pw_san *san)
{
	return 1 + pw_fib_sans(san, NULL, 0);
}

static int pw_reduce_cmp(const void *x, const void *y)
{
	const struct pw_reduce_item *a = x, *b = y;

	return a->san < b->san ? -1 : a->san > b->san;
}

/**
 * pw_reduce_start - start a reduction at a station
 * @st: the station; RCU held
 * @run: its command is set; gets another user
 * @ms: time that it may take
 *
 * Return: 0; run->ended follows. -EAGAIN: there are more SANs than @run has room for. -E2BIG:
 * more than a request can name. -EBUSY: PW_REDUCE_WAITING reductions wait already.
 */
int pw_reduce_start(struct pw_station *st, struct pw_reduce_run *run, u32 ms)
{
	struct pw_reduce *rd = st->san->reduce;
	struct pw_reduce_item *item = run->job.item;
	u32 n, i, *sans = (u32 *)run->job.part;
	bool full;

	/* parts are larger than numbers: a place for the list before it is sorted */
	n = pw_fib_sans(st->san, sans, run->n - 1);
	if (n > run->n - 1)
		return -EAGAIN;
	/* a request has room for no more */
	if (n > PW_REDUCE_SANS)
		return -E2BIG;
	for (i = 0; i < n; i++)
		item[i].san = sans[i];
	item[n++].san = st->san->bias;
	sort(item, n, sizeof(*item), pw_reduce_cmp, NULL);
	run->n = n;
	run->reduce = rd;
	run->port = st->port;
	run->deadline = pw_reduce_now() + ms;
	run->job.starter = st->addr;
	spin_lock(&rd->lock);
	full = rd->nwaiting >= PW_REDUCE_WAITING;
	if (!full) {
		refcount_inc(&run->users);
		list_add_tail(&run->entry, &rd->waiting);
		rd->nwaiting++;
	}
	spin_unlock(&rd->lock);
	if (full)
		return -EBUSY;
	pw_reduce_wake(rd);
	return 0;
}

/* the agent of a new SAN */
int pw_reduce_san_init(struct pw_san *san)
{
	struct pw_reduce *rd = kzalloc(sizeof(*rd), PW_GFP);

	if (!rd)
		return -ENOMEM;
	rd->san = san;
	pw_reduce_init(&rd->agent, &pw_reduce_ops, rd, san->bias, get_random_u64() | 1);
	INIT_DELAYED_WORK(&rd->work, pw_reduce_work);
	skb_queue_head_init(&rd->queue);
	spin_lock_init(&rd->lock);
	INIT_LIST_HEAD(&rd->waiting);
	INIT_LIST_HEAD(&rd->ended);
	san->reduce = rd;
	return 0;
}

/* the SAN has no node left: all commands on its ring have ended. The second time: nothing */
void pw_reduce_san_exit(struct pw_san *san)
{
	struct pw_reduce *rd = san->reduce;
	struct pw_reduce_run *run;
	u32 i;

	if (!rd)
		return;
	san->reduce = NULL;
	cancel_delayed_work_sync(&rd->work);
	for (i = 0; i < PW_REDUCE_JOBS; i++) {
		if (!rd->agent.job[i])
			continue;
		run = pw_reduce_run(rd->agent.job[i]);
		if (!run->job.ring)
			continue;
		wait_for_completion(&run->req.done);
		pw_aton_req_drop(&run->req);
	}
	/* a ring may have queued the work again; none is left that could do so now */
	cancel_delayed_work_sync(&rd->work);
	for (i = 0; i < PW_REDUCE_JOBS; i++)
		if (rd->agent.job[i])
			pw_reduce_finish(rd, pw_reduce_run(rd->agent.job[i]), -ENODEV);
	while ((run = pw_reduce_next(rd)))
		pw_reduce_finish(rd, run, -ENODEV);
	skb_queue_purge(&rd->queue);
	kfree(rd);
}

int __init pw_reduce_work_init(void)
{
	pw_reduce_wq = alloc_workqueue("packetway_reduce", WQ_UNBOUND | WQ_SYSFS,
				       num_possible_cpus());
	return pw_reduce_wq ? 0 : -ENOMEM;
}

/* all SANs are freed */
void pw_reduce_work_exit(void)
{
	destroy_workqueue(pw_reduce_wq);
}
