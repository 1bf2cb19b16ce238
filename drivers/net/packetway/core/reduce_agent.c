// SPDX-License-Identifier: GPL-2.0
/*
 * Reductions over rings: the jobs of a SAN. See reduce.h.
 *
 *   a station starts one -> pw_reduce_begin \
 *   a request comes -> pw_reduce_receive, pw_reduce_request -> split, own ring, requests
 *   an answer comes -> pw_reduce_receive \
 *   the ring is done -> pw_reduce_ring_done -> ended? answer, ops->done
 *   time passes -> pw_reduce_tick        /
 */
#include "reduce.h"

static bool same_id(const struct pw_reduce_id *a, const struct pw_reduce_id *b)
{
	return a->born == b->born && a->seq == b->seq;
}

/**
 * pw_reduce_init - make an agent without jobs
 * @a: the agent
 * @ops: what it needs
 * @ctx: for @ops
 * @san: address of its SAN
 * @born: not 0, and of no agent before
 */
void pw_reduce_init(struct pw_reduce_agent *a, const struct pw_reduce_ops *ops, void *ctx,
		    u32 san, u64 born)
{
	memset(a, 0, sizeof(*a));
	a->ops = ops;
	a->ctx = ctx;
	a->san = san;
	a->born = born;
}

static u32 job_place(const struct pw_reduce_job *job)
{
	return job->id.seq % PW_REDUCE_JOBS;
}

static bool job_enter(struct pw_reduce_agent *a, struct pw_reduce_job *job)
{
	u32 i;

	for (i = 0; i < PW_REDUCE_JOBS && a->job[i]; i++)
		;
	if (i == PW_REDUCE_JOBS)
		return false;
	a->job[i] = job;
	a->njobs++;
	job->id = (struct pw_reduce_id) { a->born, ++a->count * PW_REDUCE_JOBS + i };
	return true;
}

/* the request was answered: remember the result, unless a newer request has its place */
static void remember(struct pw_reduce_agent *a, const struct pw_reduce_job *job)
{
	struct pw_reduce_seen *s = a->ops->seen(a->ctx, job->from);

	if (!s)
		return;
	s += job->asked.seq % PW_REDUCE_JOBS;
	if (!same_id(&s->id, &job->asked))
		return;
	s->busy = false;
	s->result = job->sum;
}

static void tell(struct pw_reduce_agent *a, int port, const struct pw_reduce_id *id,
		 const struct pw_reduce_result *r)
{
	u32 len = pw_reduce_put_answer(a->buf, id, r);

	a->ops->send(a->ctx, port, PW_REDUCE_TELL, a->buf, len);
}

/* the job has ended if nothing is missing */
static void job_check(struct pw_reduce_agent *a, struct pw_reduce_job *job)
{
	if (job->waits || job->ring)
		return;
	a->job[job_place(job)] = NULL;
	a->njobs--;
	if (job->from >= 0) {
		remember(a, job);
		tell(a, job->from, &job->asked, &job->sum);
	}
	a->ops->done(a->ctx, job);
}

static void part_lost(struct pw_reduce_job *job, struct pw_reduce_part *p, u8 err)
{
	p->waits = false;
	job->waits--;
	pw_reduce_miss(&job->sum, p->n, err);
}

/* ask a half-router, or ask it again */
static void part_ask(struct pw_reduce_agent *a, struct pw_reduce_job *job,
		     struct pw_reduce_part *p, u64 now)
{
	enum pw_reduce_kind kind = p->gap ? PW_REDUCE_ASK_AGAIN : PW_REDUCE_ASK;
	/* the SAN that is asked has an eighth less time, so that its answer comes in time */
	u32 left = job->deadline - now;
	struct pw_reduce_msg m = {
		.id = job->id, .cmd = job->cmd, .hops = job->hops - 1, .n = p->n,
		.ms = max(left - left / 8, 1U), .starter = job->starter,
	};
	u32 i, len, n;

	for (i = p->first, n = 0; n < p->n; i = job->item[i].next)
		a->list[n++] = job->item[i].san;
	len = pw_reduce_put_request(a->buf, &m, a->list);
	p->gap = p->gap ? min_t(u32, 2 * p->gap, PW_REDUCE_AGAIN_MAX) : PW_REDUCE_AGAIN_MIN;
	p->at = now + p->gap;
	if (!a->ops->send(a->ctx, p->port, kind, a->buf, len))
		part_lost(job, p, PW_REDUCE_E_ROUTE);
}

static struct pw_reduce_part *part_at(const struct pw_reduce_job *job, int port)
{
	u32 i;

	for (i = 0; i < job->nparts; i++)
		if (job->part[i].port == port)
			return &job->part[i];
	return NULL;
}

/* one more SAN of the part that is asked for at @port */
static void part_add(struct pw_reduce_agent *a, struct pw_reduce_job *job, int port, u32 san,
		     u64 now)
{
	u32 at = job->nitems++;
	struct pw_reduce_part *p;

	if (!a->part_of[port]) {
		p = &job->part[job->nparts++];
		*p = (struct pw_reduce_part) {
			.port = port, .waits = true, .first = at, .at = now,
		};
		a->part_of[port] = job->nparts;
	} else {
		p = &job->part[a->part_of[port] - 1];
		job->item[p->last].next = at;
	}
	p->last = at;
	p->n++;
	job->item[at].san = san;
}

/* divide the SANs elsewhere among the half-routers that lead there; a step for each SAN */
static void split(struct pw_reduce_agent *a, struct pw_reduce_job *job, u32 n, u64 now)
{
	int port;
	u32 i, san;

	for (i = 0; i < n; i++) {
		san = job->item[i].san;
		if (san == a->san)
			continue;
		port = a->ops->route(a->ctx, san);
		/* back to who asks would be a loop */
		if (port < 0 || port == job->from || !job->hops) {
			pw_reduce_miss(&job->sum, 1, PW_REDUCE_E_ROUTE);
			continue;
		}
		part_add(a, job, port, san, now);
	}
	for (i = 0; i < job->nparts; i++)
		a->part_of[job->part[i].port] = 0;
	job->waits = job->nparts;
}

/* the SANs are in the job's list: ask the others, run the own ring */
static void job_start(struct pw_reduce_agent *a, struct pw_reduce_job *job, u32 n, u64 now)
{
	u32 i;

	pw_reduce_zero(&job->sum, &job->cmd);
	job->waits = 0;
	job->nparts = 0;
	job->nitems = 0;
	job->ring = false;
	job->ring_err = PW_ATON_OK;
	for (i = 0; i < n; i++)
		job->ring |= job->item[i].san == a->san;
	split(a, job, n, now);
	/* pw_reduce_tick() sends the others */
	for (i = 0; i < job->nparts && i < PW_REDUCE_ASKS; i++)
		part_ask(a, job, &job->part[i], now);
	a->unsent |= job->nparts > PW_REDUCE_ASKS;
	if (job->ring && a->ops->ring(a->ctx, job)) {
		job->ring = false;
		job->ring_err = PW_ATON_E_DOWN;
		pw_reduce_miss(&job->sum, 1, PW_REDUCE_E_RING);
	}
	job_check(a, job);
}

/**
 * pw_reduce_begin - a station starts a reduction
 * @a: the agent
 * @job: cmd, starter, part and item are set; the agent's until ops->done(), perhaps at once
 * @n: SANs in the list
 * @ms: time that it has, at most PW_REDUCE_MS_MAX
 * @now: time in ms
 *
 * Return: false if there are too many jobs.
 */
bool pw_reduce_begin(struct pw_reduce_agent *a, struct pw_reduce_job *job, u32 n, u32 ms, u64 now)
{
	if (!job_enter(a, job))
		return false;
	job->from = -1;
	job->hops = PW_REDUCE_HOPS;
	job->deadline = now + ms;
	job_start(a, job, n, now);
	return true;
}

/*
 * May the half-router at @port have one more job? It has a share, so that requests that take
 * their time at one half-router leave places to those at others: also to a half-router that
 * comes while all that are there have theirs. With 60 half-routers that is one place for each.
 */
static bool job_free(const struct pw_reduce_agent *a, int port)
{
	u32 i, most = PW_REDUCE_JOBS - PW_REDUCE_OWN, all = 0, here = 0;

	for (i = 0; i < PW_REDUCE_JOBS; i++) {
		if (!a->job[i] || a->job[i]->from < 0)
			continue;
		all++;
		here += a->job[i]->from == port;
	}
	return all < most && here < max(most / (a->ops->halves(a->ctx) + 1), 1U);
}

static enum pw_reduce_verdict answer_in(struct pw_reduce_agent *a, int port,
					const struct pw_reduce_msg *m)
{
	struct pw_reduce_job *job = a->job[m->id.seq % PW_REDUCE_JOBS];
	struct pw_reduce_part *p;

	if (!job || !same_id(&job->id, &m->id))
		return PW_REDUCE_IGNORED;
	p = part_at(job, port);
	if (!p || !p->waits || m->result.sans + m->result.missing != p->n)
		return PW_REDUCE_IGNORED;
	p->waits = false;
	job->waits--;
	pw_reduce_add(&job->sum, &job->cmd, &m->result);
	job_check(a, job);
	return PW_REDUCE_HANDLED;
}

/**
 * pw_reduce_receive - a message of the peer half of a half-router
 * @a: the agent of the half-router's SAN
 * @port: of the half-router
 * @m: the message
 *
 * Return: what to do with it.
 */
enum pw_reduce_verdict pw_reduce_receive(struct pw_reduce_agent *a, int port,
					 const struct pw_reduce_msg *m)
{
	struct pw_reduce_seen *s;

	if (m->answer)
		return answer_in(a, port, m);
	s = a->ops->seen(a->ctx, port);
	if (!s)
		return PW_REDUCE_IGNORED;
	s += m->id.seq % PW_REDUCE_JOBS;
	if (same_id(&s->id, &m->id)) {
		/* one that is at work will be answered */
		if (!s->busy)
			tell(a, port, &m->id, &s->result);
		return PW_REDUCE_HANDLED;
	}
	if (s->id.born == m->id.born && s->id.seq > m->id.seq)
		return PW_REDUCE_IGNORED;
	return job_free(a, port) ? PW_REDUCE_START : PW_REDUCE_FULL;
}

/**
 * pw_reduce_request - start the job of a request
 * @a: the agent
 * @port: as for pw_reduce_receive(), which returned PW_REDUCE_START just now
 * @m: the request
 * @job: part and item are set; the agent's until ops->done(), perhaps at once
 * @now: time in ms
 *
 * Return: false if that is not possible any longer.
 */
bool pw_reduce_request(struct pw_reduce_agent *a, int port, const struct pw_reduce_msg *m,
		       struct pw_reduce_job *job, u64 now)
{
	struct pw_reduce_seen *s = a->ops->seen(a->ctx, port);
	u32 i;

	if (!s || !job_enter(a, job))
		return false;
	s += m->id.seq % PW_REDUCE_JOBS;
	s->id = m->id;
	s->busy = true;
	job->cmd = m->cmd;
	job->asked = m->id;
	job->from = port;
	job->starter = m->starter;
	job->hops = m->hops;
	job->deadline = now + m->ms;
	for (i = 0; i < m->n; i++)
		job->item[i].san = pw_reduce_msg_san(m, i);
	job_start(a, job, m->n, now);
	return true;
}

/**
 * pw_reduce_ring_done - a job's command has ended on the own ring
 * @a: the agent
 * @job: the job
 * @cmd: the command
 */
void pw_reduce_ring_done(struct pw_reduce_agent *a, struct pw_reduce_job *job,
			 const struct pw_ring_cmd *cmd)
{
	struct pw_reduce_result r = {
		.flags = cmd->flags, .sans = 1, .counter = cmd->counter, .v1 = cmd->v1,
		.v2 = cmd->v2, .san = a->san,
	};

	job->ring = false;
	job->ring_err = cmd->err;
	if (cmd->err)
		pw_reduce_miss(&job->sum, 1, PW_REDUCE_E_RING);
	else
		pw_reduce_add(&job->sum, &job->cmd, &r);
	job_check(a, job);
}

/* the job's time is over */
static void job_expire(struct pw_reduce_agent *a, struct pw_reduce_job *job)
{
	u32 i;

	for (i = 0; i < job->nparts; i++)
		if (job->part[i].waits)
			part_lost(job, &job->part[i], PW_REDUCE_E_TIME);
	if (job->ring && a->ops->ring_stop(a->ctx, job)) {
		job->ring = false;
		pw_reduce_miss(&job->sum, 1, PW_REDUCE_E_TIME);
	}
	job_check(a, job);
}

/* send the requests of a job that are due, *@room at most; when the next one is */
static u64 job_tick(struct pw_reduce_agent *a, struct pw_reduce_job *job, u64 now, u32 *room)
{
	u64 next = job->deadline;
	u32 i;

	for (i = 0; i < job->nparts; i++) {
		struct pw_reduce_part *p = &job->part[i];

		if (p->waits && p->at <= now && *room) {
			part_ask(a, job, p, now);
			--*room;
		}
		if (p->waits)
			next = min(next, p->at);
	}
	job_check(a, job);
	return next;
}

/**
 * pw_reduce_tick - time has passed
 * @a: the agent
 * @now: time in ms
 *
 * Sends PW_REDUCE_ASKS requests at most.
 *
 * Return: when this is to be called again, in ms, not later than @now if more are due; U64_MAX:
 * after the next message.
 */
u64 pw_reduce_tick(struct pw_reduce_agent *a, u64 now)
{
	struct pw_reduce_job *job;
	u32 room = PW_REDUCE_ASKS;
	u64 next = U64_MAX;
	u32 i;

	a->unsent = false;
	for (i = 0; i < PW_REDUCE_JOBS; i++) {
		job = a->job[i];
		if (!job)
			continue;
		if (job->deadline <= now)
			job_expire(a, job);
		else
			next = min(next, job_tick(a, job, now, &room));
		/* the ring returns a command that could not be taken back */
	}
	return next;
}
