// SPDX-License-Identifier: GPL-2.0
/* checkpatch-ignore: YIELD (a round that is not yet complete, twice) */
/*
 * Rounds: reductions whose result all members of a group get.
 *
 *   ioctl -> arrive; not the last one: wait
 *	   -> last one: operands of all into their registers, one command for each word
 *   pw_aton_poll -> pw_aton_round_command_ended -> the last command: wake all members
 *
 * Members are files that have leased the same group bit. A bit has one round at a time, made
 * by the member that comes first. Members stay in it until its commands have ended; until it
 * is complete they may leave. A file that gives the bit back ends it for all.
 *
 * All of a round is under aton->lock, but its results do not change after the members are
 * woken. The last member to read them frees it.
 */
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "pw_aton.h"
#include "pw_cdev.h"
#include "pw_priv.h"

/*
 * A member gives the CPU to others so often before it sleeps. With fewer CPUs than members each
 * of them has arrived by then, and to sleep and to be woken would cost eight members on one CPU
 * 20,000 of 70,000 instructions.
 */
#define PW_ATON_ROUND_YIELDS	2

/* the mapped pages of all members show the last result; aton->lock held */
static void pw_aton_round_show(struct pw_aton_round *r, const struct pw_ring_cmd *cmd)
{
	struct packetway_aton_page *page;
	struct pw_aton_interface *aif;
	struct pw_aton_member *m;

	list_for_each_entry(m, &r->members, entry) {
		aif = m->lease ? m->lease->aif : NULL;
		/* the sender's shows it already */
		if (!aif || !aif->results || cmd->cookie == (uintptr_t)aif)
			continue;
		page = page_address(aif->results);
		pw_aton_publish(&page->command, cmd, cmd->done);
	}
}

/* -errno of a round whose commands have ended */
static int pw_aton_round_verdict(const struct pw_aton_round *r)
{
	u32 i;

	if (r->err)
		return r->err;
	for (i = 0; i < r->what.count; i++)
		if (r->req[i].cmd.err)
			return pw_aton_errno(r->req[i].cmd.err);
	for (i = 0; i < r->what.count; i++)
		if (r->req[i].cmd.counter != r->what.members)
			return -EPIPE;
	return 0;
}

/* BH off */
static void pw_aton_round_command_ended(struct pw_aton_req *req)
{
	struct pw_aton_round *r = (struct pw_aton_round *)(uintptr_t)req->user_data;
	struct pw_aton *aton = req->aton;
	int err;

	spin_lock(&aton->lock);
	if (!--r->pending) {
		err = pw_aton_round_verdict(r);
		if (!err)
			pw_aton_round_show(r, &r->req[r->what.count - 1].cmd);
		pw_aton_round_end(aton, r, err);
	}
	spin_unlock(&aton->lock);
}

static struct pw_aton_round *pw_aton_round_alloc(const struct packetway_aton_round *what)
{
	struct pw_aton_round *r = kzalloc(struct_size(r, req, what->count), PW_GFP);
	struct pw_aton_req *req;
	u32 i;

	if (!r)
		return NULL;
	r->what = *what;
	INIT_LIST_HEAD(&r->members);
	for (i = 0; i < what->count; i++) {
		req = &r->req[i];
		init_completion(&req->done);
		req->cmd.op = what->op;
		req->cmd.mods = what->mods;
		req->cmd.reg = what->reg[i];
		req->cmd.dst = PW_ATON_GROUP | BIT(what->bit);
		req->complete = pw_aton_round_command_ended;
		req->user_data = (uintptr_t)r;
	}
	return r;
}

/* no member is in it */
static void pw_aton_round_free(struct pw_aton_round *r)
{
	u32 i;

	if (!r)
		return;
	for (i = 0; i < r->what.count; i++) {
		if (!r->req[i].aton)
			continue;
		/* pw_aton_finish() may still be about to signal it */
		wait_for_completion(&r->req[i].done);
		pw_aton_req_drop(&r->req[i]);
	}
	kfree(r);
}

static bool pw_aton_round_same(const struct packetway_aton_round *a,
			       const struct packetway_aton_round *b)
{
	return a->members == b->members && a->round == b->round && a->call == b->call &&
	       a->op == b->op && a->mods == b->mods && a->count == b->count &&
	       !memcmp(a->reg, b->reg, sizeof(a->reg));
}

/* has the file leased what the round needs? aton->lock held */
static bool pw_aton_round_leased(const struct pw_aton_lease *lease,
				 const struct packetway_aton_round *what)
{
	u32 regs = 0, i;

	for (i = 0; i < what->count; i++)
		regs |= BIT(what->reg[i]);
	return lease->group & BIT(what->bit) && !(regs & ~lease->regs);
}

/*
 * The lease of @pf at @st, or NULL. A lease ends under aton->lock, which is held, after
 * pf->lease was cleared.
 */
static struct pw_aton_lease *pw_aton_round_lease(struct pw_file *pf, struct pw_station *st)
{
	struct pw_aton_lease *lease;

	spin_lock(&pf->aton_lock);
	lease = pf->lease;
	if (lease && lease->aif != &st->aton)
		lease = NULL;
	spin_unlock(&pf->aton_lock);
	return lease;
}

/*
 * A file arrives at the round of its group. @new: a round, used and set to NULL if there is
 * none. Returns the round that it is in, or an error: -EAGAIN: there is no round, and no @new.
 * aton->lock held
 */
static struct pw_aton_round *pw_aton_round_arrive(struct pw_aton *aton, struct pw_aton_lease *lease,
						  const struct packetway_aton_round *what,
						  struct pw_aton_member *m,
						  struct pw_aton_round **new)
{
	struct pw_aton_round *r = aton->round[what->bit];

	if (!lease || !pw_aton_round_leased(lease, what))
		return ERR_PTR(-ENOENT);
	if (aton->group_users[what->bit] < what->members)
		return ERR_PTR(-EPIPE);
	if (r && (r->complete || lease->rounds & BIT(what->bit)))
		return ERR_PTR(-EBUSY);
	if (r && !pw_aton_round_same(&r->what, what)) {
		pw_aton_round_end(aton, r, -EPROTO);
		return ERR_PTR(-EPROTO);
	}
	if (!r) {
		if (!*new)
			return ERR_PTR(-EAGAIN);
		r = *new;
		*new = NULL;
		aton->round[what->bit] = r;
	}
	m->lease = lease;
	lease->rounds |= BIT(what->bit);
	list_add_tail(&m->entry, &r->members);
	r->readers++;
	if (++r->arrived == what->members) {
		r->complete = true;
		r->pending = what->count;
	}
	return r;
}

/* all members are there: their operands go to their registers; aton->lock held */
static void pw_aton_round_store(struct pw_aton_round *r)
{
	struct packetway_aton_operands *op;
	struct pw_aton_member *m;
	u32 i;

	list_for_each_entry(m, &r->members, entry) {
		op = page_address(m->lease->page);
		for (i = 0; i < r->what.count; i++)
			WRITE_ONCE(op->operand[r->what.reg[i]], m->word[i]);
	}
}

/* send the commands of a complete round from @st; RCU held, BH off */
static void pw_aton_round_send(struct pw_station *st, struct pw_aton_round *r)
{
	struct pw_aton *aton = st->san->aton;
	u32 i, n = r->what.count;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = pw_aton_submit(st, &r->req[i]);
	if (!err)
		return;
	/* the last one and those behind it were not sent */
	spin_lock(&aton->lock);
	r->err = err;
	r->pending -= n - (i - 1);
	if (!r->pending)
		pw_aton_round_end(aton, r, err);
	spin_unlock(&aton->lock);
}

/* join the round of the bound station's group, and send it if all are there */
static struct pw_aton_round *pw_aton_round_join(struct pw_file *pf,
						const struct packetway_aton_round *what,
						struct pw_aton_member *m,
						struct pw_aton **aton, struct pw_aton_round **new)
{
	struct pw_aton_round *r;
	struct pw_station *st;
	bool complete = false;

	/* as in pw_aton_hand_over(): the ring runs at local_bh_enable() */
	local_bh_disable();
	rcu_read_lock();
	st = pw_file_admin(pf);
	if (IS_ERR(st)) {
		r = ERR_CAST(st);
		goto out;
	}
	*aton = st->san->aton;
	spin_lock(&(*aton)->lock);
	r = pw_aton_round_arrive(*aton, pw_aton_round_lease(pf, st), what, m, new);
	if (!IS_ERR(r)) {
		refcount_inc(&(*aton)->refs);
		complete = r->complete;
	}
	if (complete)
		pw_aton_round_store(r);
	spin_unlock(&(*aton)->lock);
	if (complete)
		pw_aton_round_send(st, r);
out:
	rcu_read_unlock();
	local_bh_enable();
	return r;
}

/* leave a round that is not complete; false: it is, or has ended */
static bool pw_aton_round_leave(struct pw_aton *aton, struct pw_aton_round *r,
				struct pw_aton_member *m)
{
	bool left;

	spin_lock_bh(&aton->lock);
	left = !list_empty(&m->entry) && !r->complete;
	if (left) {
		list_del_init(&m->entry);
		m->lease->rounds &= ~BIT(r->what.bit);
		if (!--r->arrived)
			aton->round[r->what.bit] = NULL;
	}
	spin_unlock_bh(&aton->lock);
	return left;
}

/* take the commands of a round back that the ring does not end */
static void pw_aton_round_break(struct pw_aton_round *r)
{
	struct pw_aton_req *req;
	u32 i;

	for (i = 0; i < r->what.count; i++) {
		req = &r->req[i];
		if (!req->aton || !pw_aton_cancel(req, true))
			continue;
		req->cmd.err = PW_ATON_E_LOST;
		local_bh_disable();
		pw_aton_round_command_ended(req);
		local_bh_enable();
		complete_all(&req->done);
	}
}

/* wait for the end of the round; 0: it has ended, or -errno: this file has left it */
static int pw_aton_round_wait(struct pw_aton *aton, struct pw_aton_round *r,
			      struct pw_aton_member *m, u64 deadline)
{
	long left;
	int i;

	for (i = 0; i < PW_ATON_ROUND_YIELDS && !completion_done(&m->done); i++)
		yield();
	left = wait_for_completion_interruptible_timeout(&m->done, pw_aton_timeout(deadline));
	if (left > 0)
		return 0;
	if (pw_aton_round_leave(aton, r, m))
		return left ? -EINTR : -ETIMEDOUT;
	/* a ring packet ends soon, unless the ring is interrupted all the time */
	while (!wait_for_completion_timeout(&m->done, HZ))
		pw_aton_round_break(r);
	return 0;
}

static void pw_aton_round_results(struct packetway_aton_round *c, const struct pw_aton_round *r)
{
	const struct pw_ring_cmd *cmd;
	u32 i;

	for (i = 0; i < c->count; i++) {
		cmd = &r->req[i].cmd;
		c->out_error = c->out_error ?: cmd->err;
		c->out_ring_bits += cmd->ring_bits;
		if (r->err)
			continue;
		c->out_flags |= cmd->flags;
		c->out_v1[i] = cmd->v1;
		c->out_v2[i] = cmd->v2;
	}
}

static bool pw_aton_round_valid(const struct packetway_aton_round *c)
{
	u32 i, regs = 0;

	if (c->flags || c->__reserved || c->bit >= PW_ATON_GROUP_BITS || !c->members ||
	    c->members > PACKETWAY_PORTS_MAX || c->op < PW_ATON_ADD || c->op > PW_ATON_MIN ||
	    c->mods & ~PW_ATON_SIGNED || !c->count || c->count > PACKETWAY_ATON_ROUND_WORDS)
		return false;
	for (i = 0; i < PACKETWAY_ATON_ROUND_WORDS; i++) {
		if (i >= c->count ? c->reg[i] : c->reg[i] >= PW_ATON_REGS || regs & BIT(c->reg[i]))
			return false;
		regs |= BIT(c->reg[i]);
	}
	return true;
}

/* ioctl(PACKETWAY_IOC_ATON_ROUND) */
int pw_ioc_aton_round(struct pw_file *pf, void *arg)
{
	struct packetway_aton_round *c = arg;
	struct pw_aton_member m = { .word = c->word };
	struct pw_aton_round *r, *new = NULL;
	struct pw_aton *aton = NULL;
	bool last;
	int err;

	memset_startat(c, 0, out_error);
	if (!pw_aton_round_valid(c))
		return -EINVAL;
	init_completion(&m.done);
	INIT_LIST_HEAD(&m.entry);
	for (;;) {
		r = pw_aton_round_join(pf, c, &m, &aton, &new);
		if (r != ERR_PTR(-EAGAIN))
			break;
		new = pw_aton_round_alloc(c);
		if (!new)
			return -ENOMEM;
	}
	/* another member made the round meanwhile */
	pw_aton_round_free(new);
	if (IS_ERR(r))
		return PTR_ERR(r);
	err = pw_aton_round_wait(aton, r, &m, c->deadline);
	if (!err) {
		err = r->err;
		pw_aton_round_results(c, r);
	}
	spin_lock_bh(&aton->lock);
	last = !--r->readers;
	spin_unlock_bh(&aton->lock);
	if (last)
		pw_aton_round_free(r);
	pw_aton_put(aton);
	return err;
}
