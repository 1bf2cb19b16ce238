// SPDX-License-Identifier: GPL-2.0
/* checkpatch-ignore: YIELD (a round that is not yet complete, twice, while it helps) */
/*
 * Rounds: reductions whose result all members of a group get.
 *
 *   ioctl -> arrive; not the last one: wait, or leave the member in the lease (NOWAIT)
 *	   -> last one: operands of all into their registers, one command for each word
 *   pw_aton_poll -> the last command: pw_aton_round_step_ended -> wake all members
 *   ioctl (FETCH) -> take the member from the lease, wait, read the results
 *
 * Members are files that have leased the same group bit. A bit has one round at a time, made
 * by the member that comes first. Members stay in it until its commands have ended; until it
 * is complete they may leave. A file that gives the bit back ends it for all.
 *
 * A long round has more words than registers. It goes in steps of as many words; the task of the
 * last member begins them, one after the other.
 *
 * A file may be in rounds of several bits. Their registers may be the same: the operands are in
 * the registers from the time when all have arrived to the end of the commands, and no other
 * round of one of the members with such a register becomes complete meanwhile.
 *
 * All of a round is under aton->lock, but its results do not change after the members are
 * told that it has ended. The last member to read them lets go of it, without the lock: after the
 * last one is told, the round is not looked at. A member that no task waits for belongs to its
 * lease: it is freed when it is fetched, or with the lease.
 */
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "pw_aton.h"
#include "pw_cdev.h"
#include "pw_priv.h"

/*
 * A member gives the CPU to others so often before it sleeps. With fewer CPUs than members each
 * of them has arrived by then, and to sleep and to be woken would cost eight members on one CPU
 * 20,000 of 70,000 instructions.
 */
#define PW_ATON_ROUND_YIELDS	2
/*
 * A yield gives the CPU to tasks of the same scheduling group, and each session is a group of its
 * own by default (autogroup). One after which the same task runs on is a loss, and the next
 * rounds go without; so many at most before it is tried again.
 */
#define PW_ATON_ROUND_YIELD_OFF	64

/* the mapped pages of all members show the last result; aton->lock held */
static void pw_aton_round_show(struct pw_aton_round *r, const struct pw_ring_cmd *cmd)
{
	struct packetway_aton_page *page;
	struct pw_aton_interface *aif;
	struct pw_aton_member *m;

	hlist_for_each_entry(m, &r->members, entry) {
		aif = m->lease ? m->lease->aif : NULL;
		/* the sender's shows it already */
		if (!aif || !aif->results || cmd->cookie == (uintptr_t)aif)
			continue;
		page = page_address(aif->results);
		pw_aton_publish(&page->command, cmd, cmd->done);
	}
}

/* words of the step under way */
static u32 pw_aton_round_step(const struct pw_aton_round *r)
{
	return min(r->nreq, r->what.count - r->next);
}

/* -errno of a step whose commands have ended */
static int pw_aton_round_verdict(const struct pw_aton_round *r)
{
	u32 i, n = pw_aton_round_step(r);

	if (r->err)
		return r->err;
	/* the packets of a round that a killed member stops may be lost on purpose */
	for (i = 0; i < n; i++)
		if (r->req[i].cmd.err)
			return READ_ONCE(r->stop) ? -EPIPE : pw_aton_errno(r->req[i].cmd.err);
	for (i = 0; i < n; i++)
		if (r->req[i].cmd.counter != r->what.members)
			return -EPIPE;
	return 0;
}

/* the results of a step of a long round; aton->lock held */
static void pw_aton_round_keep(struct pw_aton_round *r)
{
	u32 i, n = pw_aton_round_step(r);
	const struct pw_ring_cmd *cmd;

	for (i = 0; i < n; i++) {
		cmd = &r->req[i].cmd;
		r->error = r->error ?: cmd->err;
		r->flags |= cmd->flags;
		r->ring_bits += cmd->ring_bits;
		r->result[r->next + i] = cmd->v1;
	}
}

/*
 * A complete round has ended, for the task of its last member, too. The round may be gone after
 * this; aton->lock held
 */
static void pw_aton_round_over(struct pw_aton *aton, struct pw_aton_round *r, int err)
{
	if (r->result)
		complete(&r->ended);
	pw_aton_round_end(aton, r, err);
}

/* the last command of a step has ended; BH off */
static void pw_aton_round_step_ended(struct pw_aton_req *req)
{
	struct pw_aton_round *r = (struct pw_aton_round *)(uintptr_t)req->user_data;
	struct pw_aton *aton = req->aton;
	u32 n;
	int err;

	spin_lock(&aton->lock);
	n = pw_aton_round_step(r);
	err = pw_aton_round_verdict(r);
	if (r->result)
		pw_aton_round_keep(r);
	if (!err && r->next + n < r->what.count) {
		r->next += n;
		complete(&r->ended);
		goto out;
	}
	if (!err)
		pw_aton_round_show(r, &r->req[n - 1].cmd);
	pw_aton_round_over(aton, r, err);
out:
	spin_unlock(&aton->lock);
}

static bool pw_aton_round_is_long(const struct packetway_aton_round *what)
{
	return what->flags & PACKETWAY_ATON_ROUND_LONG;
}

/* how many registers a round has */
static u32 pw_aton_round_nregs(const struct packetway_aton_round *what)
{
	return pw_aton_round_is_long(what) ? what->regs : what->count;
}

static void pw_aton_round_init_req(struct pw_aton_round *r, u32 i)
{
	const struct packetway_aton_round *what = &r->what;
	struct pw_aton_req *req = &r->req[i];

	req->cmd.op = what->op;
	req->cmd.mods = what->mods;
	req->cmd.reg = what->reg[i];
	req->cmd.dst = PW_ATON_GROUP | BIT(what->bit);
	req->complete = pw_aton_round_step_ended;
	req->user_data = (uintptr_t)r;
	req->pending = &r->pending;
}

/* a round of a member that has come first: the rest is 0 */
static void pw_aton_round_init(struct pw_aton_round *r, const struct packetway_aton_round *what,
			       u32 regs)
{
	u32 i;

	/* members differ in the rest */
	memcpy(&r->what, what, offsetof(struct packetway_aton_round, word));
	r->regs = regs;
	r->nreq = pw_aton_round_nregs(what);
	for (i = 0; i < r->nreq; i++)
		pw_aton_round_init_req(r, i);
}

static struct pw_aton_round *pw_aton_round_alloc(const struct packetway_aton_round *what, u32 regs)
{
	u32 n = pw_aton_round_nregs(what);
	struct pw_aton_round *r = kzalloc(struct_size(r, req, n), PW_GFP);

	if (!r)
		return NULL;
	r->room = n;
	pw_aton_round_init(r, what, regs);
	if (!pw_aton_round_is_long(what))
		return r;
	init_completion(&r->ended);
	r->result = kcalloc(what->count, sizeof(*r->result), PW_GFP);
	if (r->result)
		return r;
	kfree(r);
	return NULL;
}

/* one that was used before, or NULL; aton->lock held */
static struct pw_aton_round *pw_aton_round_again(struct pw_aton *aton,
						 const struct packetway_aton_round *what, u32 regs)
{
	struct pw_aton_round *r = aton->spare;
	u32 n = pw_aton_round_nregs(what), room;

	if (!r || n > r->room || pw_aton_round_is_long(what))
		return NULL;
	aton->spare = NULL;
	room = r->room;
	memset(r, 0, struct_size(r, req, n));
	r->room = room;
	pw_aton_round_init(r, what, regs);
	return r;
}

/* no member is in it, and the ring has let go of its commands */
static void pw_aton_round_free(struct pw_aton_round *r)
{
	if (!r)
		return;
	kfree(r->result);
	kfree(r);
}

static bool pw_aton_round_same(const struct packetway_aton_round *a,
			       const struct packetway_aton_round *b)
{
	return a->members == b->members && a->round == b->round && a->call == b->call &&
	       a->op == b->op && a->mods == b->mods && a->count == b->count && a->regs == b->regs &&
	       pw_aton_round_is_long(a) == pw_aton_round_is_long(b) &&
	       !memcmp(a->reg, b->reg, sizeof(a->reg));
}

/* has the file leased what the round needs? @regs: of the round; aton->lock held */
static bool pw_aton_round_leased(const struct pw_aton_lease *lease,
				 const struct packetway_aton_round *what, u32 regs)
{
	return lease->group & BIT(what->bit) && !(regs & ~lease->regs);
}

/*
 * Are operands of another round in registers that this one needs when the last member, with
 * @lease, comes? @r: NULL if that is the only one; aton->lock held
 */
static bool pw_aton_round_blocked(const struct pw_aton_round *r, const struct pw_aton_lease *lease,
				  const struct packetway_aton_round *what, u32 regs)
{
	const struct pw_aton_member *m;

	if ((r ? r->arrived : 0) + 1 < what->members)
		return false;
	if (lease->busy & regs)
		return true;
	if (!r)
		return false;
	hlist_for_each_entry(m, &r->members, entry)
		if (m->lease->busy & regs)
			return true;
	return false;
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
 * A file arrives at the round of its group. @m has its operands and registers. @new: a round, used
 * and set to NULL if there is none. Returns the round that it is in, or an error: -EAGAIN: there
 * is no round, no spare one, and no @new. aton->lock held
 */
static struct pw_aton_round *pw_aton_round_arrive(struct pw_aton *aton, struct pw_aton_lease *lease,
						  const struct packetway_aton_round *what,
						  struct pw_aton_member *m,
						  struct pw_aton_round **new)
{
	struct pw_aton_round *r = aton->round[what->bit];

	if (!lease || !pw_aton_round_leased(lease, what, m->regs))
		return ERR_PTR(-ENOENT);
	if (aton->group_users[what->bit] < what->members)
		return ERR_PTR(-EPIPE);
	if (lease->left[what->bit] || (r && (r->complete || lease->rounds & BIT(what->bit))))
		return ERR_PTR(-EBUSY);
	if (r && !pw_aton_round_same(&r->what, what)) {
		pw_aton_round_end(aton, r, -EPROTO);
		return ERR_PTR(-EPROTO);
	}
	if (pw_aton_round_blocked(r, lease, what, m->regs))
		return ERR_PTR(-EBUSY);
	if (!r) {
		r = *new ?: pw_aton_round_again(aton, what, m->regs);
		if (!r)
			return ERR_PTR(-EAGAIN);
		*new = NULL;
		aton->round[what->bit] = r;
		refcount_inc(&aton->refs);
	}
	m->lease = lease;
	m->round = r;
	m->aton = aton;
	if (m->wait)
		lease->left[what->bit] = m;
	lease->rounds |= BIT(what->bit);
	hlist_add_head(&m->entry, &r->members);
	atomic_inc(&r->readers);
	if (++r->arrived == what->members) {
		r->complete = true;
		m->last = true;
	}
	return r;
}

/*
 * All members are there: the operands of a step go to their registers. -EPIPE: one gave the bit
 * or a register back meanwhile; aton->lock held
 */
static int pw_aton_round_store(struct pw_aton_round *r)
{
	u32 i, n = pw_aton_round_step(r);
	struct packetway_aton_operands *op;
	struct pw_aton_member *m;

	hlist_for_each_entry(m, &r->members, entry) {
		if (!m->lease || r->regs & ~m->lease->regs)
			return -EPIPE;
		op = page_address(m->lease->page);
		for (i = 0; i < n; i++)
			WRITE_ONCE(op->operand[r->what.reg[i]], m->word[r->next + i]);
		m->lease->busy |= r->regs;
	}
	r->pending = n;
	return 0;
}

/*
 * Who sends a complete round, which the member at @st has found complete. That is who came last. In
 * lockstep members come at one time, in an order that is Linux's: the lowest port sends then.
 * aton->lock held, RCU held
 */
static struct pw_station *pw_aton_round_sender(const struct pw_aton_round *r, struct pw_station *st)
{
	const struct pw_aton_member *m;
	struct pw_aton_interface *aif;
	struct pw_station *other;

	if (likely(!rcu_access_pointer(st->san->time)))
		return st;
	hlist_for_each_entry(m, &r->members, entry) {
		aif = m->lease ? m->lease->aif : NULL;
		if (!aif)
			continue;
		other = container_of(aif, struct pw_station, aton);
		if (other->port < st->port)
			st = other;
	}
	return st;
}

/*
 * All members are there, or a step has ended: store the operands of the next step, and send its
 * commands. @st: station of the member that has found this; aton->lock and RCU held, BH off
 */
static void pw_aton_round_send(struct pw_aton *aton, struct pw_aton_round *r,
			       struct pw_station *st)
{
	int err = pw_aton_round_store(r);
	u32 sent = 0;

	if (!err) {
		err = pw_aton_submit_round(pw_aton_round_sender(r, st), r->req, r->pending, &sent);
		r->err = err;
		r->pending = sent;
	}
	if (err && !sent)
		pw_aton_round_over(aton, r, err);
}

/* join the round of the bound station's group, and send it if all are there */
static struct pw_aton_round *pw_aton_round_join(struct pw_file *pf,
						const struct packetway_aton_round *what,
						struct pw_aton_member *m,
						struct pw_aton_round **new)
{
	struct pw_aton_round *r;
	struct pw_station *st;
	struct pw_aton *aton;

	/* as in pw_aton_hand_over(): the ring runs at local_bh_enable() */
	local_bh_disable();
	rcu_read_lock();
	st = pw_file_admin(pf);
	if (IS_ERR(st)) {
		r = ERR_CAST(st);
		goto out;
	}
	aton = st->san->aton;
	spin_lock(&aton->lock);
	r = pw_aton_round_arrive(aton, pw_aton_round_lease(pf, st), what, m, new);
	if (!IS_ERR(r) && r->complete)
		pw_aton_round_send(aton, r, st);
	spin_unlock(&aton->lock);
out:
	rcu_read_unlock();
	local_bh_enable();
	return r;
}

/* become a member of the round of the group */
static int pw_aton_round_enter(struct pw_file *pf, const struct packetway_aton_round *what,
			       struct pw_aton_member *m)
{
	struct pw_aton_round *r, *new = NULL;

	for (;;) {
		r = pw_aton_round_join(pf, what, m, &new);
		if (r != ERR_PTR(-EAGAIN))
			break;
		new = pw_aton_round_alloc(what, m->regs);
		if (!new)
			return -ENOMEM;
	}
	/* another member made the round meanwhile */
	pw_aton_round_free(new);
	return PTR_ERR_OR_ZERO(r);
}

/* a member has read the results, or has left; the last one keeps the memory for the next round */
static void pw_aton_round_put(struct pw_aton_member *m)
{
	struct pw_aton_round *r = m->round;
	struct pw_aton *aton = m->aton;

	if (!atomic_dec_and_test(&r->readers))
		return;
	if (!r->result) {
		spin_lock_bh(&aton->lock);
		if (!aton->spare || aton->spare->room < r->room)
			swap(aton->spare, r);
		spin_unlock_bh(&aton->lock);
	}
	pw_aton_round_free(r);
	pw_aton_put(aton);
}

/* leave a round that is not complete; false: it is, or has ended */
static bool pw_aton_round_leave(struct pw_aton_member *m)
{
	struct pw_aton_round *r = m->round;
	bool left;

	spin_lock_bh(&m->aton->lock);
	left = !hlist_unhashed(&m->entry) && !r->complete;
	if (left) {
		hlist_del_init(&m->entry);
		m->lease->rounds &= ~BIT(r->what.bit);
		if (!--r->arrived)
			m->aton->round[r->what.bit] = NULL;
	}
	spin_unlock_bh(&m->aton->lock);
	return left;
}

/* stay in a round that has not ended; false: it has, or the bit was given back and it will soon */
static bool pw_aton_round_stay(struct pw_aton_member *m)
{
	bool stays;

	spin_lock_bh(&m->aton->lock);
	stays = !hlist_unhashed(&m->entry) && m->lease;
	if (stays)
		m->lease->left[m->round->what.bit] = m;
	spin_unlock_bh(&m->aton->lock);
	return stays;
}

/* take the commands of a round back that the ring does not end */
static void pw_aton_round_break(struct pw_aton_round *r)
{
	struct pw_aton_req *req;
	bool last;
	u32 i;

	for (i = 0; i < r->nreq; i++) {
		req = &r->req[i];
		if (!req->aton || !pw_aton_cancel(req, true))
			continue;
		req->cmd.err = PW_ATON_E_LOST;
		spin_lock_bh(&req->aton->lock);
		last = !--r->pending;
		spin_unlock_bh(&req->aton->lock);
		if (!last)
			continue;
		local_bh_disable();
		pw_aton_round_step_ended(req);
		local_bh_enable();
	}
}

/* has the round ended? Then it does not look at @m any longer. For its task */
static bool pw_aton_round_ended(struct pw_aton_member *m)
{
	/* pairs with pw_aton_round_end() */
	return m->sleeps ? completion_done(&m->done) : smp_load_acquire(&m->ended);
}

/* from now on @m->done tells the end of the round; false: it has ended already */
static bool pw_aton_round_sleep(struct pw_aton_member *m)
{
	spin_lock_bh(&m->aton->lock);
	if (!m->ended && !m->sleeps) {
		init_completion(&m->done);
		m->sleeps = true;
	}
	spin_unlock_bh(&m->aton->lock);
	return m->sleeps;
}

/* a complete round, or one that has ended */
static void pw_aton_round_finish(struct pw_aton_member *m)
{
	struct pw_aton_round *r = m->round;

	if (!pw_aton_round_sleep(m))
		return;
	/* a ring packet ends soon, unless the ring is interrupted all the time */
	while (!wait_for_completion_timeout(&m->done, HZ)) {
		if (!r->result)
			pw_aton_round_break(r);
		else if (fatal_signal_pending(current))
			WRITE_ONCE(r->stop, true);
	}
}

/* the next step of a long round; or its end. false: it has ended */
static bool pw_aton_round_go_on(struct pw_file *pf, struct pw_aton_member *m)
{
	struct pw_aton_round *r = m->round;
	struct pw_aton *aton = m->aton;
	struct pw_station *st;
	bool goes_on;

	local_bh_disable();
	rcu_read_lock();
	st = pw_file_admin(pf);
	spin_lock(&aton->lock);
	goes_on = !hlist_unhashed(&m->entry);
	if (goes_on && (IS_ERR(st) || st->san->aton != aton || READ_ONCE(r->stop)))
		pw_aton_round_over(aton, r, -EPIPE);
	else if (goes_on)
		pw_aton_round_send(aton, r, st);
	spin_unlock(&aton->lock);
	rcu_read_unlock();
	local_bh_enable();
	return goes_on;
}

/* false: a step of a long round is to be broken off: time is over, or a member was killed */
static bool pw_aton_round_step_ends(struct pw_aton_round *r, u64 deadline)
{
	long left;

	do {
		/* as in pw_aton_round_finish(), where the others set @stop */
		left = wait_for_completion_killable_timeout(&r->ended, HZ);
		if (left < 0)
			WRITE_ONCE(r->stop, true);
	} while (!left && !READ_ONCE(r->stop) && pw_aton_timeout(deadline));
	return left > 0;
}

/* the task of the last member begins step after step of a long round, until that has ended */
static void pw_aton_round_drive(struct pw_file *pf, struct pw_aton_member *m, u64 deadline)
{
	struct pw_aton_round *r = m->round;
	bool ends;

	do {
		cond_resched();
		ends = pw_aton_round_step_ends(r, deadline);
		while (!ends && !wait_for_completion_timeout(&r->ended, HZ))
			pw_aton_round_break(r);
	} while (pw_aton_round_go_on(pf, m));
}

/* let others run that may end the round, if that helps; has it ended? */
static bool pw_aton_round_yield(struct pw_file *pf, struct pw_aton_member *m)
{
	bool done = pw_aton_round_ended(m);
	u8 off = READ_ONCE(pf->yield_off);
	unsigned long switches;
	int i;

	if (off) {
		WRITE_ONCE(pf->yield_off, off - 1);
		return done;
	}
	for (i = 0; i < PW_ATON_ROUND_YIELDS && !done; i++) {
		switches = current->nvcsw + current->nivcsw;
		yield();
		done = pw_aton_round_ended(m);
		if (current->nvcsw + current->nivcsw == switches) {
			off = min(2 * READ_ONCE(pf->yield_back) + 1, PW_ATON_ROUND_YIELD_OFF);
			break;
		}
	}
	WRITE_ONCE(pf->yield_off, off);
	WRITE_ONCE(pf->yield_back, off);
	return done;
}

/*
 * Wait for the end of the round. 0: it has ended, or -errno: this file has left it, or, if
 * @quit is false, is in it without a task
 */
static int pw_aton_round_wait(struct pw_file *pf, struct pw_aton_member *m, u64 deadline,
			      bool quit)
{
	long left;

	if (pw_aton_round_yield(pf, m) || !pw_aton_round_sleep(m))
		return 0;
	left = wait_for_completion_interruptible_timeout(&m->done, pw_aton_timeout(deadline));
	if (left > 0)
		return 0;
	if (quit ? pw_aton_round_leave(m) : pw_aton_round_stay(m))
		return left ? -EINTR : -ETIMEDOUT;
	pw_aton_round_finish(m);
	return 0;
}

/* of a round that has ended; -errno of the round */
static int pw_aton_round_results(struct packetway_aton_round *c, const struct pw_aton_round *r)
{
	const struct pw_ring_cmd *cmd;
	u32 i;

	if (r->result) {
		c->out_error = r->error;
		c->out_flags = r->err ? 0 : r->flags;
		c->out_ring_bits = r->ring_bits;
		return r->err;
	}
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
	return r->err;
}

/* the registers of a round, a mask; 0: it is none */
static u32 pw_aton_round_regs(const struct packetway_aton_round *c)
{
	bool is_long = pw_aton_round_is_long(c);
	u32 i, n = pw_aton_round_nregs(c), regs = 0;

	if (is_long ? c->flags != PACKETWAY_ATON_ROUND_LONG :
		      c->flags & ~(PACKETWAY_ATON_ROUND_NOWAIT | PACKETWAY_ATON_ROUND_FETCH) ||
		      c->regs || c->data)
		return 0;
	if (c->bit >= PW_ATON_GROUP_BITS || !c->members || c->members > PACKETWAY_PORTS_MAX ||
	    c->op < PW_ATON_ADD || c->op > PW_ATON_MIN || c->mods & ~PW_ATON_SIGNED ||
	    !n || n > PACKETWAY_ATON_ROUND_WORDS || !c->count ||
	    c->count > PACKETWAY_ATON_ROUND_LONG_WORDS)
		return 0;
	for (i = 0; i < n; i++) {
		if (c->reg[i] >= PW_ATON_REGS || regs & BIT(c->reg[i]))
			return 0;
		regs |= BIT(c->reg[i]);
	}
	/* the others are 0 */
	BUILD_BUG_ON(sizeof(c->reg) != sizeof(u64));
	return n == sizeof(c->reg) || !(get_unaligned_le64(c->reg) >> (8 * n)) ? regs : 0;
}

/* the member of a round that the file has left; it is the caller's then */
static struct pw_aton_member *pw_aton_round_take(struct pw_file *pf,
						 const struct packetway_aton_round *what)
{
	struct pw_aton_member *m;
	struct pw_aton_lease *lease;
	struct pw_station *st;

	rcu_read_lock();
	st = pw_file_admin(pf);
	if (IS_ERR(st)) {
		rcu_read_unlock();
		return ERR_CAST(st);
	}
	spin_lock_bh(&st->san->aton->lock);
	lease = pw_aton_round_lease(pf, st);
	m = lease ? lease->left[what->bit] : NULL;
	if (!m || !pw_aton_round_same(&m->round->what, what)) {
		m = ERR_PTR(-ENOENT);
	} else if (what->flags & PACKETWAY_ATON_ROUND_NOWAIT && !hlist_unhashed(&m->entry)) {
		m = ERR_PTR(-EINPROGRESS);
	} else {
		lease->left[what->bit] = NULL;
		WRITE_ONCE(lease->ended, lease->ended & ~BIT(what->bit));
	}
	spin_unlock_bh(&st->san->aton->lock);
	rcu_read_unlock();
	return m;
}

/* results of a round that the file has left */
static int pw_aton_round_fetch(struct pw_file *pf, struct packetway_aton_round *c)
{
	struct pw_aton_member *m = pw_aton_round_take(pf, c);
	int err;

	if (IS_ERR(m))
		return PTR_ERR(m);
	err = pw_aton_round_wait(pf, m, c->deadline, false);
	if (err)
		return err;
	err = pw_aton_round_results(c, m->round);
	pw_aton_round_put(m);
	kfree(m);
	return err;
}

/* pw_aton_member.drop: the lease ends, and with it the round, unless that is complete */
static void pw_aton_round_drop(struct pw_aton_member *m)
{
	pw_aton_round_finish(m);
	pw_aton_round_put(m);
	kfree(m);
}

/* be in a round without a task that waits */
static int pw_aton_round_start(struct pw_file *pf, struct packetway_aton_round *c, u32 regs)
{
	struct pw_aton_member *m = kzalloc(struct_size(m, copy, c->count), PW_GFP);
	int err;

	if (!m)
		return -ENOMEM;
	memcpy(m->copy, c->word, c->count * sizeof(*m->copy));
	m->word = m->copy;
	m->regs = regs;
	m->wait = &pf->wait;
	m->drop = pw_aton_round_drop;
	err = pw_aton_round_enter(pf, c, m);
	if (err) {
		kfree(m);
		return err;
	}
	/* the last member may find it ended */
	return pw_aton_round_fetch(pf, c);
}

/* a member whose task waits, on its stack */
static void pw_aton_round_member(struct pw_aton_member *m, const u64 *word, u32 regs)
{
	m->word = word;
	m->regs = regs;
	m->wait = NULL;
	m->last = false;
	m->ended = false;
	m->sleeps = false;
}

/* a round of more words than there are registers */
static int pw_aton_round_long(struct pw_file *pf, struct packetway_aton_round *c, u32 regs)
{
	u64 __user *data = u64_to_user_ptr(c->data);
	size_t bytes = c->count * sizeof(*data);
	u64 *word = kmalloc(bytes, PW_GFP);
	struct pw_aton_member m PW_UNINIT;
	int err = -EFAULT;

	if (!word)
		return -ENOMEM;
	pw_aton_round_member(&m, word, regs);
	if (!copy_from_user(word, data, bytes))
		err = pw_aton_round_enter(pf, c, &m);
	if (err)
		goto out;
	if (m.last)
		pw_aton_round_drive(pf, &m, c->deadline);
	err = pw_aton_round_wait(pf, &m, c->deadline, true);
	if (!err)
		err = pw_aton_round_results(c, m.round);
	if (!err && copy_to_user(data, m.round->result, bytes))
		err = -EFAULT;
	pw_aton_round_put(&m);
out:
	kfree(word);
	return err;
}

/* ioctl(PACKETWAY_IOC_ATON_ROUND) */
int pw_ioc_aton_round(struct pw_file *pf, void *arg)
{
	struct packetway_aton_round *c = arg;
	struct pw_aton_member m PW_UNINIT;
	u64 data = c->data;
	u32 regs;
	int err;

	memset_startat(c, 0, out_error);
	c->data = data;
	regs = pw_aton_round_regs(c);
	if (!regs)
		return -EINVAL;
	if (pw_aton_round_is_long(c))
		return pw_aton_round_long(pf, c, regs);
	if (c->flags & PACKETWAY_ATON_ROUND_FETCH)
		return pw_aton_round_fetch(pf, c);
	if (c->flags & PACKETWAY_ATON_ROUND_NOWAIT)
		return pw_aton_round_start(pf, c, regs);
	pw_aton_round_member(&m, c->word, regs);
	err = pw_aton_round_enter(pf, c, &m);
	if (err)
		return err;
	err = pw_aton_round_wait(pf, &m, c->deadline, true);
	if (!err)
		err = pw_aton_round_results(c, m.round);
	pw_aton_round_put(&m);
	return err;
}
