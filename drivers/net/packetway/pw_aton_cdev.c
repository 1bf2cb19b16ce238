// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/packetway: ATON commands, registers and ring-only interfaces.
 *
 * Every request belongs to the file or to the task that waits for it. A station
 * that goes ends what is queued at it, so a request always comes to its end. See
 * pw_cdev.h for who owns what.
 */
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/rtnetlink.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "pw_cdev.h"
#include "pw_priv.h"
#include "pw_reduce.h"

static_assert(PACKETWAY_ATON_REGS == PW_ATON_REGS);
static_assert(PACKETWAY_ATON_HEIGHTS == PW_ATON_HEIGHTS);
static_assert(PACKETWAY_ATON_SIGNED == PW_ATON_SIGNED);
static_assert(PACKETWAY_ATON_COMPARAND == PW_ATON_COMPARAND);
static_assert(PACKETWAY_ATON_PREFIX == PW_ATON_PREFIX);
static_assert(PACKETWAY_ATON_F_OVERFLOW == PW_ATON_F_OVERFLOW);
static_assert(PACKETWAY_ATON_F_RECOGNISED == PW_ATON_F_RECOGNISED);
static_assert((int)PACKETWAY_ATON_E_CRC == (int)PW_ATON_E_CRC);
static_assert((int)PACKETWAY_ATON_E_ROOM == (int)PW_ATON_E_ROOM);
static_assert(sizeof(struct packetway_aton_operands) <= PAGE_SIZE);
static_assert(sizeof(struct packetway_aton_page) <= PAGE_SIZE);

/* operands moved per lock hold of RING_OPERANDS */
#define PW_ATON_COPY_CHUNK 4096

void pw_aton_file_init(struct pw_file *pf)
{
	spin_lock_init(&pf->aton_lock);
	INIT_LIST_HEAD(&pf->aton_queued);
	INIT_LIST_HEAD(&pf->aton_done);
	init_waitqueue_head(&pf->wait);
}

static struct pw_aton_req *pw_aton_req_alloc(void)
{
	struct pw_aton_req *req = kzalloc(sizeof(*req), PW_GFP);

	if (req) {
		init_completion(&req->done);
		INIT_LIST_HEAD(&req->entry);
	}
	return req;
}

/* what pw_aton_fill() allocated, and the ring that it holds */
static void pw_aton_req_empty(struct pw_aton_req *req)
{
	pw_aton_req_drop(req);
	kvfree(req->out);
	kfree(req->parts);
	kfree(req->nodes);
}

static void pw_aton_req_free(struct pw_aton_req *req)
{
	if (!req)
		return;
	pw_aton_req_empty(req);
	kfree(req);
}

/* the operations of the nodes of a TREE; the ring checks them */
static int pw_aton_fill_nodes(struct pw_aton_req *req, const struct packetway_aton_command *c)
{
	req->nodes = kmalloc(c->room, PW_GFP);
	if (!req->nodes)
		return -ENOMEM;
	if (copy_from_user(req->nodes, u64_to_user_ptr(c->data), c->room))
		return -EFAULT;
	req->cmd.nodes = req->nodes;
	return 0;
}

/* counts of a BITSUM, or operations of the nodes of a TREE */
static u32 pw_aton_room(const struct packetway_aton_command *c)
{
	if (c->op == PW_ATON_BITSUM)
		return PW_ATON_PARTS;
	return (1u << c->heights) - 1;
}

/* What may stand in a command of any kind. */
static int pw_aton_fill(struct pw_aton_req *req, const struct packetway_aton_command *c,
			bool batch)
{
	struct pw_ring_cmd *cmd = &req->cmd;
	bool tree = c->op == PW_ATON_TREE;
	bool sort = c->op == PW_ATON_SORT;
	bool bitsum = c->op == PW_ATON_BITSUM;
	bool nodes = tree && c->mods & PACKETWAY_ATON_NODES;
	u32 mods = c->mods & ~(nodes ? PACKETWAY_ATON_NODES : 0);

	if (c->flags || c->__reserved ||
	    mods & ~(PW_ATON_SIGNED | PW_ATON_COMPARAND | PW_ATON_PREFIX) ||
	    c->reg >= PW_ATON_REGS || c->dst > PACKETWAY_ATON_RING_ALL ||
	    c->op == PW_ATON_PASSIVE || c->op > U8_MAX)
		return -EINVAL;
	if (tree ? !c->heights || c->heights > (nodes ? PW_ATON_NODE_HEIGHTS : PW_ATON_HEIGHTS) :
	    c->heights)
		return -EINVAL;
	if (sort ? !c->room || c->room > PACKETWAY_ATON_SORT_MAX :
	    c->room != (bitsum || nodes ? pw_aton_room(c) : 0))
		return -EINVAL;
	if (!c->data == (sort || bitsum || nodes))
		return -EINVAL;
	if (batch && (c->data || c->deadline))
		return -EINVAL;

	cmd->op = c->op;
	cmd->reg = c->reg;
	cmd->mods = mods;
	cmd->dst = c->dst;
	cmd->comparand = c->comparand;
	cmd->heights = c->heights;
	memcpy(cmd->ops, c->ops, sizeof(cmd->ops));
	req->user_data = c->user_data;
	if (sort) {
		req->out = kvcalloc(c->room, sizeof(u64), PW_GFP);
		if (!req->out)
			return -ENOMEM;
		cmd->out = req->out;
		cmd->room = c->room;
	}
	if (bitsum) {
		req->parts = kcalloc(PW_ATON_PARTS, sizeof(u32), PW_GFP);
		if (!req->parts)
			return -ENOMEM;
		cmd->parts = req->parts;
	}
	return nodes ? pw_aton_fill_nodes(req, c) : 0;
}

/* hand a request to the ring of the bound station; @period: of a standing command, else 0 */
static int pw_aton_hand_over(struct pw_file *pf, struct pw_aton_req *req, u32 period)
{
	struct pw_station *st;
	int err;

	req->by = pf;
	/*
	 * The ring runs at local_bh_enable(), and wakes tasks whose commands end. They
	 * may preempt this task at once: were it still a reader, every grace period
	 * would have to wait until it has its turn again.
	 */
	local_bh_disable();
	rcu_read_lock();
	st = pw_file_admin(pf);
	if (IS_ERR(st))
		err = PTR_ERR(st);
	else if (period)
		err = pw_aton_stand(st, req, period);
	else
		err = pw_aton_submit(st, req);
	rcu_read_unlock();
	local_bh_enable();
	return err;
}

/* make the request the caller's again, or wait for its end */
static bool pw_aton_take_back(struct pw_aton_req *req)
{
	bool force = false;

	/* a ring packet ends soon, unless the ring is interrupted all the time */
	while (!pw_aton_cancel(req, force)) {
		if (wait_for_completion_timeout(&req->done, HZ))
			return false;
		force = true;
	}
	return true;
}

/**
 * pw_aton_timeout - jiffies until a deadline
 * @deadline: CLOCK_MONOTONIC nanoseconds, 0: none
 */
long pw_aton_timeout(u64 deadline)
{
	u64 now;

	if (!deadline)
		return MAX_SCHEDULE_TIMEOUT;
	now = ktime_get_ns();
	if (deadline <= now)
		return 0;
	/* a long of 32 bits holds less than some deadlines */
	return min_t(u64, nsecs_to_jiffies64(deadline - now), MAX_SCHEDULE_TIMEOUT - 1) + 1;
}

/* wait for the end of a command; then it is the caller's again */
static int pw_aton_wait(struct pw_aton_req *req, u64 deadline)
{
	long left;

	left = wait_for_completion_interruptible_timeout(&req->done, pw_aton_timeout(deadline));
	if (left > 0)
		return 0;
	if (pw_aton_take_back(req))
		return left ? -EINTR : -ETIMEDOUT;
	return 0;
}

/**
 * pw_aton_errno - what a command returns
 * @err: enum pw_aton_error
 */
int pw_aton_errno(u8 err)
{
	switch (err) {
	case PW_ATON_OK:
		return 0;
	case PW_ATON_E_CRC:
		return -EBADMSG;
	case PW_ATON_E_DOWN:
		return -ENETDOWN;
	case PW_ATON_E_SHAPE:
		return -EINVAL;
	case PW_ATON_E_ROOM:
		return -EMSGSIZE;
	default:
		return -EIO;
	}
}

static int pw_aton_copy_data(const struct pw_aton_req *req, void __user *to)
{
	const struct pw_ring_cmd *cmd = &req->cmd;

	if (cmd->err)
		return 0;
	if (req->out &&
	    copy_to_user(to, req->out, min(cmd->counter, cmd->room) * sizeof(u64)))
		return -EFAULT;
	if (req->parts && copy_to_user(to, req->parts, PW_ATON_PARTS * sizeof(u32)))
		return -EFAULT;
	return 0;
}

int pw_ioc_aton_command(struct pw_file *pf, void *arg)
{
	struct packetway_aton_command *c = arg;
	/* the ring has let go of it when pw_aton_wait() returns */
	struct pw_aton_req req = {};
	int err;

	c->out_error = 0;
	c->out_flags = 0;
	c->out_counter = 0;
	c->out_v1 = 0;
	c->out_v2 = 0;
	c->out_wait = 0;
	c->out_ring_bits = 0;

	init_completion(&req.done);
	/* only commands with data allocate memory; the others ask once, below */
	err = c->data ? pw_file_may(pf) : 0;
	if (!err)
		err = pw_aton_fill(&req, c, false);
	if (!err)
		err = pw_aton_hand_over(pf, &req, 0);
	if (!err)
		err = pw_aton_wait(&req, c->deadline);
	if (err)
		goto out;

	c->out_error = req.cmd.err;
	c->out_wait = req.cmd.wait;
	c->out_ring_bits = req.cmd.ring_bits;
	if (!req.cmd.err) {
		c->out_flags = req.cmd.flags;
		c->out_counter = req.cmd.counter;
		c->out_v1 = req.cmd.v1;
		c->out_v2 = req.cmd.v2;
	}
	err = pw_aton_copy_data(&req, u64_to_user_ptr(c->data));
	if (!err)
		err = pw_aton_errno(req.cmd.err);
out:
	pw_aton_req_empty(&req);
	return err;
}

/* the comparand of a count is the station's operand, if none is given; RCU held */
static int pw_aton_reduce_operand(struct pw_station *st, struct pw_reduce_cmd *cmd)
{
	struct packetway_aton_get get = {};
	int err;

	if (cmd->op < PW_ATON_COUNT_EQ || cmd->mods & PW_ATON_COMPARAND)
		return 0;
	err = pw_aton_get_registers(st, &get);
	cmd->comparand = get.out_operand[cmd->reg];
	cmd->mods |= PW_ATON_COMPARAND;
	return err;
}

/* start a reduction at the bound station; @run: the caller's share of it */
static int pw_aton_reduce_start(struct pw_file *pf, const struct packetway_aton_reduce *c,
				struct pw_reduce_run **run)
{
	struct pw_station *st;
	u32 n;
	int err;

	do {
		rcu_read_lock();
		st = pw_file_admin(pf);
		n = IS_ERR(st) ? 0 : pw_reduce_count(st->san);
		rcu_read_unlock();
		if (!n)
			return PTR_ERR(st);
		*run = pw_reduce_new(n);
		if (!*run)
			return -ENOMEM;
		(*run)->job.cmd = (struct pw_reduce_cmd) {
			.op = c->op, .reg = c->reg, .mods = c->mods, .comparand = c->comparand,
		};
		rcu_read_lock();
		st = pw_file_admin(pf);
		err = PTR_ERR_OR_ZERO(st);
		if (!err)
			err = pw_aton_reduce_operand(st, &(*run)->job.cmd);
		if (!err)
			err = pw_reduce_start(st, *run, c->timeout_ms ?: PACKETWAY_ATON_REDUCE_MS);
		rcu_read_unlock();
		if (err)
			pw_reduce_put(*run);
		cond_resched();
	} while (err == -EAGAIN && !signal_pending(current));
	return err;
}

static int pw_aton_reduce_errno(const struct packetway_aton_reduce *c)
{
	switch (c->out_reason) {
	case PACKETWAY_ATON_R_NONE:
		return 0;
	case PACKETWAY_ATON_R_ROUTE:
		return -ENETUNREACH;
	case PACKETWAY_ATON_R_TIME:
		return -ETIMEDOUT;
	default:
		return c->out_error ? pw_aton_errno(c->out_error) : -EREMOTEIO;
	}
}

/* wait for the end of a reduction; 0: @r has its result */
static int pw_aton_reduce_wait(struct pw_reduce_run *run, u32 ms, struct pw_reduce_result *r)
{
	long left;

	/* a second more than it has: others may keep it from beginning */
	left = wait_for_completion_interruptible_timeout(&run->ended, msecs_to_jiffies(ms) + HZ);
	if (left <= 0) {
		WRITE_ONCE(run->dropped, true);
		return left ? -EINTR : -ETIMEDOUT;
	}
	*r = run->job.sum;
	return run->err;
}

int pw_ioc_aton_reduce(struct pw_file *pf, void *arg)
{
	struct packetway_aton_reduce *c = arg;
	struct pw_reduce_result r = {};
	struct pw_reduce_run *run;
	int err;

	memset_startat(c, 0, out_error);
	if (c->flags & ~PACKETWAY_ATON_REDUCE_PARTIAL || c->__reserved ||
	    c->op < PW_ATON_ADD || c->op > PW_ATON_COUNT_LE || c->reg >= PW_ATON_REGS ||
	    c->mods & ~(PW_ATON_SIGNED | PW_ATON_COMPARAND) ||
	    c->timeout_ms > PACKETWAY_ATON_REDUCE_MS_MAX || c->sans > PW_REDUCE_SANS + 1)
		return -EINVAL;
	err = pw_aton_reduce_start(pf, c, &run);
	if (err)
		return err;
	err = pw_aton_reduce_wait(run, c->timeout_ms ?: PACKETWAY_ATON_REDUCE_MS, &r);
	if (!err)
		c->out_error = run->job.ring_err;
	if (err == -ETIMEDOUT) {
		r = (struct pw_reduce_result) { .missing = run->n, .err = PW_REDUCE_E_TIME };
		err = 0;
	}
	pw_reduce_put(run);
	if (err)
		return err;
	if (c->sans > r.sans + r.missing)
		pw_reduce_miss(&r, c->sans - r.sans - r.missing, PW_REDUCE_E_ROUTE);
	c->out_flags = r.flags;
	c->out_sans = r.sans;
	c->out_missing = r.missing;
	c->out_reason = r.err;
	c->out_san = r.san;
	c->out_counter = r.counter;
	c->out_v1 = r.v1;
	c->out_v2 = r.v2;
	/* a partial result has at least one SAN */
	return c->flags && r.sans ? 0 : pw_aton_reduce_errno(c);
}

/* a command of a batch has ended; BH off */
static void pw_aton_file_done(struct pw_aton_req *req)
{
	struct pw_file *pf = req->pf;

	spin_lock_bh(&pf->aton_lock);
	list_move_tail(&req->entry, &pf->aton_done);
	spin_unlock_bh(&pf->aton_lock);
	wake_up_interruptible_poll(&pf->wait, EPOLLIN);
}

static void pw_aton_result(struct packetway_aton_result *r, const struct pw_aton_req *req)
{
	*r = (struct packetway_aton_result) {
		.user_data = req->user_data,
		.error = req->cmd.err,
		.wait = req->cmd.wait,
		.ring_bits = req->cmd.ring_bits,
	};
	if (!req->cmd.err) {
		r->flags = req->cmd.flags;
		r->counter = req->cmd.counter;
		r->v1 = req->cmd.v1;
		r->v2 = req->cmd.v2;
	}
}

/* the file's standing command has run; pw_aton.lock held */
static void pw_aton_file_ran(struct pw_aton_req *req, bool changed)
{
	struct pw_file *pf = req->pf;

	spin_lock(&pf->aton_lock);
	pw_aton_result(&pf->news, req);
	pf->news.flags |= PACKETWAY_ATON_F_STANDING;
	if (changed)
		WRITE_ONCE(pf->standing_news, true);
	spin_unlock(&pf->aton_lock);
	if (changed)
		wake_up_interruptible_poll(&pf->wait, EPOLLIN);
}

/* one command of a batch */
static int pw_aton_queue(struct pw_file *pf, const struct packetway_aton_command *c)
{
	struct pw_aton_req *req;
	int err;

	req = pw_aton_req_alloc();
	if (!req)
		return -ENOMEM;
	err = pw_aton_fill(req, c, true);
	if (err)
		goto err_free;
	req->pf = pf;
	req->complete = pw_aton_file_done;

	/* counted and listed first: the ring may be done with it at once */
	spin_lock_bh(&pf->aton_lock);
	if (pf->aton_count >= PACKETWAY_ATON_QUEUE) {
		err = -EBUSY;
	} else {
		pf->aton_count++;
		list_add_tail(&req->entry, &pf->aton_queued);
	}
	spin_unlock_bh(&pf->aton_lock);
	if (err)
		goto err_free;

	err = pw_aton_hand_over(pf, req, 0);
	if (!err)
		return 0;
	spin_lock_bh(&pf->aton_lock);
	list_del(&req->entry);
	pf->aton_count--;
	spin_unlock_bh(&pf->aton_lock);
	/* a reader may have waited for its result */
	wake_up_interruptible_poll(&pf->wait, EPOLLHUP | EPOLLERR);
err_free:
	pw_aton_req_free(req);
	return err;
}

int pw_ioc_aton_submit(struct pw_file *pf, void *arg)
{
	struct packetway_aton_submit *s = arg;
	struct packetway_aton_command c;
	int err;
	u32 i;

	s->out_queued = 0;
	if (s->flags || s->__reserved || !s->count || s->count > PACKETWAY_ATON_QUEUE ||
	    s->stride < sizeof(c))
		return -EINVAL;
	if (s->stride > PAGE_SIZE)
		return -E2BIG;
	err = pw_file_may(pf);
	if (err)
		return err;

	for (i = 0; i < s->count; i++) {
		err = copy_struct_from_user(&c, sizeof(c),
					    u64_to_user_ptr(s->commands + (u64)i * s->stride),
					    s->stride);
		if (!err && c.size != s->stride)
			err = -EINVAL;
		if (!err)
			err = pw_aton_queue(pf, &c);
		if (err)
			break;
		if (signal_pending(current)) {
			i++;
			break;
		}
		cond_resched();
	}
	s->out_queued = i;
	return i ? 0 : err;
}

/* the next result for read(): of a command, else a new one of the standing command */
static bool pw_aton_next_result(struct pw_file *pf, struct packetway_aton_result *r)
{
	struct pw_aton_req *req;
	bool news = false;

	spin_lock_bh(&pf->aton_lock);
	req = list_first_entry_or_null(&pf->aton_done, struct pw_aton_req, entry);
	if (req) {
		list_del(&req->entry);
		pf->aton_count--;
	} else if (pf->standing_news) {
		*r = pf->news;
		WRITE_ONCE(pf->standing_news, false);
		news = true;
	}
	spin_unlock_bh(&pf->aton_lock);
	if (!req)
		return news;
	/* pw_aton_finish() may still be about to signal it */
	wait_for_completion(&req->done);
	pw_aton_result(r, req);
	pw_aton_req_free(req);
	return true;
}

static bool pw_aton_readable(struct pw_file *pf)
{
	return !list_empty_careful(&pf->aton_done) || READ_ONCE(pf->standing_news);
}

/* the station has gone, and all commands have ended: nothing more will be readable */
static bool pw_aton_hung_up(struct pw_file *pf)
{
	return pw_file_gone(pf) && list_empty_careful(&pf->aton_queued);
}

ssize_t pw_aton_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	struct pw_file *pf = file->private_data;
	struct packetway_aton_result r;
	size_t done = 0;
	int err;

	if (len < sizeof(r))
		return -EINVAL;
	for (;;) {
		while (len - done >= sizeof(r) && pw_aton_next_result(pf, &r)) {
			if (copy_to_user(buf + done, &r, sizeof(r)))
				return done ?: -EFAULT;
			done += sizeof(r);
			/* others may queue commands of this file meanwhile */
			if (signal_pending(current))
				break;
		}
		if (done)
			return done;
		/* a command that ended before this was seen is readable */
		if (pw_aton_hung_up(pf) && !pw_aton_readable(pf))
			return -ENODEV;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(pf->wait,
					       pw_aton_readable(pf) || pw_aton_hung_up(pf));
		if (err)
			return err;
	}
}

__poll_t pw_aton_file_poll(struct file *file, struct poll_table_struct *wait)
{
	struct pw_file *pf = file->private_data;
	__poll_t mask = 0;

	poll_wait(file, &pf->wait, wait);
	if (pw_aton_hung_up(pf))
		mask |= EPOLLHUP | EPOLLERR;
	if (pw_aton_readable(pf))
		mask |= EPOLLIN | EPOLLRDNORM;
	/* the lease of a file is freed after it was taken from there */
	spin_lock_bh(&pf->aton_lock);
	if (pf->lease && READ_ONCE(pf->lease->ended))
		mask |= EPOLLPRI;
	spin_unlock_bh(&pf->aton_lock);
	return mask;
}

/**
 * pw_aton_drop_standing - remove the standing command of a file, if it has one
 * @pf: the file; its lock is held, or it is being closed
 */
void pw_aton_drop_standing(struct pw_file *pf)
{
	if (!pf->standing)
		return;
	pw_aton_unstand(pf->standing);
	pw_aton_req_free(pf->standing);
	pf->standing = NULL;
	spin_lock_bh(&pf->aton_lock);
	WRITE_ONCE(pf->standing_news, false);
	spin_unlock_bh(&pf->aton_lock);
}

int pw_ioc_aton_stand(struct pw_file *pf, void *arg)
{
	struct packetway_aton_stand *s = arg;
	struct packetway_aton_command c = {
		.op = s->op,
		.reg = s->reg,
		.mods = s->mods,
		.dst = s->dst,
		.comparand = s->comparand,
		.user_data = s->user_data,
	};
	struct pw_aton_req *req;
	int err;

	if (s->flags || s->__reserved)
		return -EINVAL;
	if (s->op && (s->op > PW_ATON_COUNT_LE || s->period < PACKETWAY_ATON_PERIOD_MIN))
		return -EINVAL;
	err = pw_file_lock(pf);
	if (err)
		return err;
	err = pw_file_may(pf);
	if (err)
		goto out;
	if (!s->op) {
		err = pf->standing ? 0 : -ENOENT;
		pw_aton_drop_standing(pf);
		goto out;
	}
	req = pw_aton_req_alloc();
	if (!req) {
		err = -ENOMEM;
		goto out;
	}
	req->pf = pf;
	req->ran = pw_aton_file_ran;
	err = pw_aton_fill(req, &c, true);
	if (!err) {
		pw_aton_drop_standing(pf);
		err = pw_aton_hand_over(pf, req, s->period);
	}
	if (err)
		pw_aton_req_free(req);
	else
		pf->standing = req;
out:
	mutex_unlock(&pf->lock);
	return err;
}

int pw_ioc_aton_set(struct pw_file *pf, void *arg)
{
	struct packetway_aton_set *s = arg;
	struct pw_station *st;
	int err;

	if (s->flags & ~(PACKETWAY_ATON_SET_OPERAND | PACKETWAY_ATON_SET_GROUP) || !s->flags ||
	    s->reg >= PACKETWAY_ATON_REGS || s->group > PW_ATON_GROUP_MASK)
		return -EINVAL;

	rcu_read_lock();
	st = pw_file_admin(pf);
	err = IS_ERR(st) ? PTR_ERR(st) : pw_aton_set_registers(st, pf, s);
	rcu_read_unlock();
	return err;
}

int pw_ioc_aton_get(struct pw_file *pf, void *arg)
{
	struct packetway_aton_get *g = arg;
	struct pw_station *st;
	int err;

	if (g->flags)
		return -EINVAL;
	rcu_read_lock();
	st = pw_file_station(pf);
	err = IS_ERR(st) ? PTR_ERR(st) : pw_aton_get_registers(st, g);
	rcu_read_unlock();
	return err;
}

int pw_ioc_aton_get_latch(struct pw_file *pf, void *arg)
{
	struct packetway_aton_get_latch *g = arg;
	struct pw_station *st;
	int err;

	memset_startat(g, 0, out_op);
	if (g->flags || g->reg >= PACKETWAY_ATON_REGS)
		return -EINVAL;
	rcu_read_lock();
	st = pw_file_station(pf);
	err = IS_ERR(st) ? PTR_ERR(st) : pw_aton_latch_get(st, pf, g);
	rcu_read_unlock();
	return err;
}

/**
 * pw_aton_drop_lease - give back all that a file has leased
 * @pf: the file; its lock is held, or it is being closed
 */
void pw_aton_drop_lease(struct pw_file *pf)
{
	struct pw_aton_lease *lease = pf->lease;

	spin_lock_bh(&pf->aton_lock);
	pf->lease = NULL;
	spin_unlock_bh(&pf->aton_lock);
	pw_aton_lease_free(lease);
}

/* a lease for this file at the station it is bound to; pf->lock held */
static int pw_aton_lease_more(struct pw_file *pf, struct packetway_aton_lease *l)
{
	struct pw_aton_lease *lease = pf->lease, *new = NULL;
	struct pw_station *st;
	int err;

	if (!lease) {
		new = pw_aton_lease_alloc(pf);
		if (!new)
			return -ENOMEM;
		lease = new;
	}
	rcu_read_lock();
	st = pw_file_admin(pf);
	err = IS_ERR(st) ? PTR_ERR(st) : pw_aton_lease_take(st, lease, l);
	rcu_read_unlock();
	if (err) {
		pw_aton_lease_free(new);
		return err;
	}
	spin_lock_bh(&pf->aton_lock);
	pf->lease = lease;
	spin_unlock_bh(&pf->aton_lock);
	return 0;
}

/* is the file's lease of a station that it was bound to before? pf->lock held */
static bool pw_aton_lease_stale(struct pw_file *pf)
{
	struct pw_station *st;
	bool stale;

	rcu_read_lock();
	st = pw_file_station(pf);
	stale = pf->lease && (IS_ERR(st) || READ_ONCE(pf->lease->aif) != &st->aton);
	rcu_read_unlock();
	return stale;
}

int pw_ioc_aton_lease(struct pw_file *pf, void *arg)
{
	struct packetway_aton_lease *l = arg;
	struct pw_station *st;
	int err;

	l->out_regs_free = 0;
	l->out_group_free = 0;
	if (l->flags & ~PACKETWAY_ATON_LEASE_RETURN || l->regs >> PACKETWAY_ATON_REGS ||
	    l->group > PW_ATON_GROUP_MASK)
		return -EINVAL;
	/* without a key all would have the same one; it is of use only for group bits */
	if (!l->key == (l->group && !l->flags))
		return -EINVAL;
	err = pw_file_lock(pf);
	if (err)
		return err;
	err = pw_file_may(pf);
	if (err)
		goto out;
	/* a station that has gone took its leases with it */
	if (pw_aton_lease_stale(pf))
		pw_aton_drop_lease(pf);
	if ((l->regs || l->group) && !l->flags) {
		err = pw_aton_lease_more(pf, l);
		goto out;
	}
	if (l->flags && !pf->lease) {
		err = -ENOENT;
		goto out;
	}
	rcu_read_lock();
	st = pw_file_admin(pf);
	if (IS_ERR(st))
		err = PTR_ERR(st);
	else if (l->flags)
		err = pw_aton_lease_return(st, pf->lease, l);
	else
		err = pw_aton_lease_look(st, l);
	rcu_read_unlock();
out:
	mutex_unlock(&pf->lock);
	return err;
}

int pw_ioc_ring_create(struct pw_file *pf, void *arg)
{
	struct packetway_ring_create *r = arg;
	struct pw_aton_block *block;
	struct pw_station *st;
	int err;

	r->out_address = 0;
	if (r->flags || r->__reserved || !r->count || r->count > PACKETWAY_RING_IFACES_MAX ||
	    !r->regs || r->regs > PACKETWAY_ATON_REGS)
		return -EINVAL;
	err = pw_file_may(pf);
	if (err)
		return err;

	/* a hundred megabytes take long: before RTNL */
	block = pw_aton_block_alloc(r->count, r->regs);
	if (!block)
		return -ENOMEM;
	err = pw_file_lock(pf);
	if (err)
		goto out_free;
	if (pf->block) {
		err = -EBUSY;
		goto out;
	}
	rtnl_lock();
	st = pw_file_admin(pf);
	err = IS_ERR(st) ? PTR_ERR(st) : pw_aton_block_add(st->san, block);
	rtnl_unlock();
	if (!err) {
		r->out_address = block->ring.addr;
		pf->block = block;
		block = NULL;
	}
out:
	mutex_unlock(&pf->lock);
out_free:
	pw_aton_block_free(block);
	return err;
}

/* the file may have been passed on since the interfaces were made */
static int pw_aton_block_admin(const struct pw_aton_block *block)
{
	int err = 0;

	rtnl_lock();
	if (block->san && !ns_capable(block->san->net->user_ns, CAP_NET_ADMIN))
		err = -EPERM;
	rtnl_unlock();
	return err;
}

int pw_ioc_ring_operands(struct pw_file *pf, void *arg)
{
	struct packetway_ring_operands *r = arg;
	u64 __user *user = u64_to_user_ptr(r->operands);
	bool write = !(r->flags & PACKETWAY_RING_READ);
	u32 first = r->first, left = r->count, n;
	u64 *buf;
	int err;

	if (r->flags & ~PACKETWAY_RING_READ || r->__reserved || r->reg >= PACKETWAY_ATON_REGS)
		return -EINVAL;
	buf = kvmalloc_array(PW_ATON_COPY_CHUNK, sizeof(u64), PW_GFP);
	if (!buf)
		return -ENOMEM;

	err = pw_file_lock(pf);
	if (err)
		goto out;
	if (!pf->block)
		err = -ENOENT;
	else if (first > pf->block->ring.count || left > pf->block->ring.count - first)
		err = -EINVAL;
	else if (write)
		err = pw_aton_block_admin(pf->block);
	while (!err && left) {
		n = min_t(u32, left, PW_ATON_COPY_CHUNK);
		if (write && copy_from_user(buf, user, n * sizeof(u64))) {
			err = -EFAULT;
			break;
		}
		err = pw_aton_block_rw(pf->block, r->reg, first, n, buf, write);
		if (!err && !write && copy_to_user(user, buf, n * sizeof(u64)))
			err = -EFAULT;
		first += n;
		user += n;
		left -= n;
		if (!err && signal_pending(current))
			err = -EINTR;
	}
	mutex_unlock(&pf->lock);
out:
	kvfree(buf);
	return err;
}

/* the operands of the file's lease, held, or NULL */
static struct page *pw_aton_lease_page(struct pw_file *pf)
{
	struct page *page = NULL;

	spin_lock_bh(&pf->aton_lock);
	if (pf->lease) {
		page = pf->lease->page;
		get_page(page);
	}
	spin_unlock_bh(&pf->aton_lock);
	return page;
}

/* page 0: operands, page 1: results, page 2: operands that the file has leased */
int pw_aton_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct pw_file *pf = file->private_data;
	unsigned long pages = vma_pages(vma);
	struct page *page = NULL;
	struct pw_station *st;
	int err;

	if (pages != 1 || vma->vm_pgoff > 2 || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_pgoff == 1) {
		if (vma->vm_flags & VM_WRITE)
			return -EACCES;
		vm_flags_mod(vma, 0, VM_MAYWRITE);
	}
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY, VM_MAYEXEC);

	rcu_read_lock();
	st = pw_file_admin(pf);
	if (IS_ERR(st)) {
		rcu_read_unlock();
		return PTR_ERR(st);
	}
	if (vma->vm_pgoff == 2) {
		page = pw_aton_lease_page(pf);
		rcu_read_unlock();
		if (!page)
			return -ENOENT;
		goto insert;
	}
	spin_lock_bh(&st->san->aton->lock);
	if (st->aton.live) {
		page = vma->vm_pgoff ? st->aton.results : st->aton.operands;
		get_page(page);
	}
	spin_unlock_bh(&st->san->aton->lock);
	rcu_read_unlock();
	if (!page)
		return -ENODEV;
insert:
	err = vm_insert_page(vma, vma->vm_start, page);
	put_page(page);
	return err;
}

void pw_aton_file_release(struct pw_file *pf)
{
	struct pw_aton_req *req, *next;

	/* no program has the file open, but the ring may end commands meanwhile */
	for (;;) {
		spin_lock_bh(&pf->aton_lock);
		req = list_first_entry_or_null(&pf->aton_queued, struct pw_aton_req, entry);
		spin_unlock_bh(&pf->aton_lock);
		if (!req)
			break;
		if (pw_aton_take_back(req)) {
			spin_lock_bh(&pf->aton_lock);
			list_del(&req->entry);
			spin_unlock_bh(&pf->aton_lock);
			pw_aton_req_free(req);
		}
	}
	list_for_each_entry_safe(req, next, &pf->aton_done, entry) {
		list_del(&req->entry);
		wait_for_completion(&req->done);
		pw_aton_req_free(req);
	}

	if (pf->block) {
		rtnl_lock();
		pw_aton_block_remove(pf->block);
		rtnl_unlock();
		pw_aton_block_free(pf->block);
	}
}
