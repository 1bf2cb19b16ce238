// SPDX-License-Identifier: GPL-2.0
/*
 * libpwmpi: requests of collectives that do not wait. See request.h.
 *
 * Handles are generalized requests of MPI, so all of its calls know them. The library completes
 * them: in the calls that test and wait, which it replaces here. Handles of persistent collectives
 * are persistent receives.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "request.h"

#define TICK_MS	20		/* how often the thread looks */
#define QUIET	50		/* after so many looks in vain it sleeps: to wake it costs a call */
#define TRIES	1000		/* of a round whose packets are damaged */
#define SPINS	100		/* of one whose registers others have: their packets end soon */

static struct {
	pthread_mutex_t lock;	/* of all below, and of requests that are not settled */
	pthread_cond_t work;	/* for the thread: there is a request, or the end */
	struct pwl *s;
	bool threads;
	bool running, idle, stop;
	pthread_t thread;
	struct pw_queue *queues;
	struct pw_request *all;
	_Atomic int known;	/* how many */
	struct pw_persistent *_Atomic persistent;
	_Atomic int failures;	/* of those that no call has returned */
	int tag;		/* of the next one */
} rq = { .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER };

bool pw_virtual;

static __thread bool failed;	/* a request that MPI has freed */

/* under the lock, here and below ------------------------------------------------ */

static int start_round(struct pw_request *x)
{
	int i, err = pwl_aton_round_start(rq.s, &x->round);

	for (i = 0; err == -EBUSY && i < SPINS; i++) {
		sched_yield();
		err = pwl_aton_round_start(rq.s, &x->round);
	}
	return err;
}

/* what the kernel says about a round; @ms: how long to wait; true: it has ended */
static bool ask(struct pw_request *x, unsigned int ms)
{
	int err;

	x->round.timeout_ms = ms;
	if (!x->started)
		err = start_round(x);
	else
		err = ms ? pwl_aton_round_wait(rq.s, &x->round) : pwl_aton_round_test(rq.s, &x->round);
	if (err == -EINPROGRESS)
		x->started = true;
	if (err == -EINPROGRESS || err == -ETIMEDOUT || err == -EINTR || err == -EBUSY)
		return false;
	/* all ranks have the same error, and repeat the round */
	if ((err == -EBADMSG || err == -EIO) && ++x->tries < TRIES) {
		x->started = false;
		return ask(x, 0);
	}
	x->err = err;
	x->state = ENDED;
	return true;
}

/* the first request of a queue; true: it has ended, and is not there any longer */
static bool step(struct pw_queue *q, unsigned int ms)
{
	if (!q->first || !ask(q->first, ms))
		return false;
	q->first = q->first->next;
	if (!q->first)
		q->last = &q->first;
	return true;
}

/* the requests of a queue go on as far as they can without waiting */
static void go_on(struct pw_queue *q)
{
	while (step(q, 0))
		;
}

static bool go_on_all(void)
{
	bool more = false;
	struct pw_queue *q;

	for (q = rq.queues; q; q = q->next) {
		go_on(q);
		more |= !!q->first;
	}
	return more;
}

/* the thread --------------------------------------------------------------------- */

static void *tick(void *arg)
{
	const struct timespec t = { .tv_nsec = TICK_MS * 1000000 };
	int quiet = 0;

	pthread_mutex_lock(&rq.lock);
	while (!rq.stop) {
		quiet = go_on_all() ? 0 : quiet + 1;
		rq.idle = quiet > QUIET;
		if (rq.idle) {
			pthread_cond_wait(&rq.work, &rq.lock);
			quiet = 0;
		}
		pthread_mutex_unlock(&rq.lock);
		nanosleep(&t, NULL);
		pthread_mutex_lock(&rq.lock);
	}
	pthread_mutex_unlock(&rq.lock);
	return NULL;
}

/* signals are for the threads of the program; without the thread requests go on in calls of MPI */
static void run_thread(void)
{
	sigset_t all, old;

	if (rq.running) {
		if (rq.idle)
			pthread_cond_signal(&rq.work);
		rq.idle = false;
		return;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rq.stop = false;
	rq.running = !pthread_create(&rq.thread, NULL, tick, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void pw_request_stop(void)
{
	bool running;

	pthread_mutex_lock(&rq.lock);
	running = rq.running;
	rq.running = false;
	rq.stop = true;
	pthread_cond_signal(&rq.work);
	pthread_mutex_unlock(&rq.lock);
	if (running)
		pthread_join(rq.thread, NULL);
}

/* requests of MPI ------------------------------------------------------------------ */

static int query(void *arg, MPI_Status *s)
{
	PMPI_Status_set_elements(s, MPI_BYTE, 0);
	PMPI_Status_set_cancelled(s, 0);
	s->MPI_SOURCE = MPI_UNDEFINED;
	s->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}

/* under the lock */
static void forget(struct pw_request *x)
{
	struct pw_request **at;

	for (at = &rq.all; *at && *at != x; at = &(*at)->other)
		;
	if (*at)
		*at = x->other;
	rq.known--;
}

static int freed(void *arg)
{
	struct pw_request *x = arg;

	pthread_mutex_lock(&rq.lock);
	forget(x);
	pthread_mutex_unlock(&rq.lock);
	failed |= x->err != 0;
	free(x);
	return MPI_SUCCESS;
}

/* MPI forbids it for collectives */
static int cancel(void *arg, int complete)
{
	return MPI_SUCCESS;
}

/* one that has ended, but is not settled; it is the caller's to settle */
static struct pw_request *ended(void)
{
	struct pw_request *x;

	pthread_mutex_lock(&rq.lock);
	for (x = rq.all; x && x->state != ENDED; x = x->other)
		;
	if (x)
		x->state = SETTLED;
	pthread_mutex_unlock(&rq.lock);
	return x;
}

/* the program may free it as soon as the message is there */
static void complete_persistent(struct pw_request *x)
{
	struct pw_persistent *p = x->of;
	const MPI_Comm self = p->self;
	const int tag = p->tag;

	pthread_mutex_lock(&rq.lock);
	forget(x);
	p->under_way = false;
	p->failed = x->err != 0;
	rq.failures += p->failed;
	pthread_mutex_unlock(&rq.lock);
	free(x);
	PMPI_Send(NULL, 0, MPI_BYTE, 0, tag, self);
}

/* results of what has ended to the program, and to MPI that it has */
static void settle(void)
{
	struct pw_request *x;

	while (rq.known && (x = ended())) {
		if (x->err)
			x->fail(x);
		else if (x->store)
			x->store(x);
		if (x->of)
			complete_persistent(x);
		else
			PMPI_Grequest_complete(x->handle);
	}
}

/* a handle of MPI for a request that begins */
static int begin(struct pw_request *x, MPI_Request *handle)
{
	int err;

	if (x->of) {
		err = PMPI_Start(&x->of->handle);
		x->handle = x->of->handle;
		x->of->under_way = err == MPI_SUCCESS;
		return err;
	}
	err = PMPI_Grequest_start(query, freed, cancel, x, &x->handle);
	if (err == MPI_SUCCESS)
		*handle = x->handle;
	return err;
}

int pw_request_start(struct pwl *s, bool threads, struct pw_queue *q, struct pw_request *x,
		     MPI_Request *handle)
{
	int err = begin(x, handle);

	if (err != MPI_SUCCESS)
		return err;
	pthread_mutex_lock(&rq.lock);
	rq.s = s;
	rq.threads = threads;
	if (!q->last) {
		q->last = &q->first;
		q->next = rq.queues;
		rq.queues = q;
	}
	*q->last = x;
	q->last = &x->next;
	x->other = rq.all;
	rq.all = x;
	rq.known++;
	/* one that is behind others waits for them */
	if (q->first == x)
		go_on(q);
	if (x->state == QUEUED)
		run_thread();
	pthread_mutex_unlock(&rq.lock);
	settle();
	return MPI_SUCCESS;
}

void pw_let_messages_go(void)
{
	int flag;

	PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* all requests go on; @q: wait a little for this one, unless other threads wait, too */
static void push(struct pw_queue *q)
{
	bool waited = false;

	pthread_mutex_lock(&rq.lock);
	go_on_all();
	if (q && q->first && !rq.threads) {
		waited = !step(q, pw_virtual ? 0 : PW_ROUND_MS);
		go_on(q);
	}
	pthread_mutex_unlock(&rq.lock);
	settle();
	if (waited || rq.threads)
		pw_let_messages_go();
	/* MPI may yield while it looks for messages, or not; virtual time passes in a yield only */
	if (rq.threads || (waited && pw_virtual))
		sched_yield();
}

void pw_request_drain(struct pw_queue *q, bool ends)
{
	struct pw_queue **at;
	bool more;

	if (!q->last)
		return;
	do {
		push(q);
		pthread_mutex_lock(&rq.lock);
		more = q->first;
		for (at = &rq.queues; !more && ends && *at; at = &(*at)->next) {
			if (*at != q)
				continue;
			*at = q->next;
			break;
		}
		pthread_mutex_unlock(&rq.lock);
	} while (more);
}

/* the queue that a request of ours is in; NULL: it is not ours, or has ended */
static struct pw_queue *queue_of(MPI_Request handle)
{
	struct pw_request *x = NULL;
	struct pw_queue *q;

	pthread_mutex_lock(&rq.lock);
	for (q = rq.queues; q; q = q->next) {
		for (x = q->first; x && x->handle != handle; x = x->next)
			;
		if (x)
			break;
	}
	pthread_mutex_unlock(&rq.lock);
	return q;
}

/* Calls that wait -------------------------------------------------------------------- */

void pw_request_wait(int n, const MPI_Request *r)
{
	struct pw_queue *q;
	int i;

	failed = false;
	for (i = 0; r && i < n && rq.known; i++)
		while ((q = queue_of(r[i])))
			push(q);
	settle();
}

void pw_request_look(void)
{
	failed = false;
	if (rq.known)
		push(NULL);
}

/* has one of these persistent collectives failed? It is said once. */
static bool any_failed(int n, const MPI_Request *r)
{
	struct pw_persistent *p;
	bool found = false;
	int i;

	pthread_mutex_lock(&rq.lock);
	for (p = rq.persistent; p; p = p->next) {
		for (i = 0; i < n && r[i] != p->handle; i++)
			;
		if (!p->failed || i == n)
			continue;
		p->failed = false;
		rq.failures--;
		found = true;
	}
	pthread_mutex_unlock(&rq.lock);
	return found;
}

int pw_request_result(int err, int n, const MPI_Request *r)
{
	if (rq.failures && r && any_failed(n, r))
		failed = true;
	return err == MPI_SUCCESS && failed ? MPI_ERR_OTHER : err;
}

/* does one of ours that has not ended belong to these? */
static bool any_of(int n, const MPI_Request *r)
{
	int i;

	for (i = 0; r && i < n && rq.known; i++)
		if (queue_of(r[i]))
			return true;
	return false;
}

bool pw_request_known(void)
{
	return rq.known || rq.failures;
}

bool pw_request_any(int n, const MPI_Request *r)
{
	if (!any_of(n, r)) {
		settle();
		return false;
	}
	push(NULL);
	sched_yield();
	return true;
}

int MPI_Wait(MPI_Request *r, MPI_Status *s)
{
	pw_request_wait(1, r);
	return pw_request_result(PMPI_Wait(r, s), 1, r);
}

int MPI_Waitall(int n, MPI_Request r[], MPI_Status s[])
{
	pw_request_wait(n, r);
	return pw_request_result(PMPI_Waitall(n, r, s), n, r);
}

int MPI_Waitany(int n, MPI_Request r[], int *index, MPI_Status *s)
{
	int err, flag = 0;

	pw_request_look();
	while (pw_request_any(n, r)) {
		err = PMPI_Testany(n, r, index, &flag, s);
		if (err != MPI_SUCCESS || flag)
			return pw_request_result(err, n, r);
	}
	return pw_request_result(PMPI_Waitany(n, r, index, s), n, r);
}

int MPI_Waitsome(int n, MPI_Request r[], int *count, int indices[], MPI_Status s[])
{
	int err;

	pw_request_look();
	while (pw_request_any(n, r)) {
		err = PMPI_Testsome(n, r, count, indices, s);
		if (err != MPI_SUCCESS || *count)
			return pw_request_result(err, n, r);
	}
	return pw_request_result(PMPI_Waitsome(n, r, count, indices, s), n, r);
}

int MPI_Test(MPI_Request *r, int *flag, MPI_Status *s)
{
	pw_request_look();
	return pw_request_result(PMPI_Test(r, flag, s), 1, r);
}

int MPI_Testall(int n, MPI_Request r[], int *flag, MPI_Status s[])
{
	pw_request_look();
	return pw_request_result(PMPI_Testall(n, r, flag, s), n, r);
}

int MPI_Testany(int n, MPI_Request r[], int *index, int *flag, MPI_Status *s)
{
	pw_request_look();
	return pw_request_result(PMPI_Testany(n, r, index, flag, s), n, r);
}

int MPI_Testsome(int n, MPI_Request r[], int *count, int indices[], MPI_Status s[])
{
	pw_request_look();
	return pw_request_result(PMPI_Testsome(n, r, count, indices, s), n, r);
}

int MPI_Request_get_status(MPI_Request r, int *flag, MPI_Status *s)
{
	pw_request_look();
	return PMPI_Request_get_status(r, flag, s);
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
int MPI_Request_get_status_all(int n, const MPI_Request r[], int *flag, MPI_Status s[])
{
	pw_request_look();
	return PMPI_Request_get_status_all(n, r, flag, s);
}

int MPI_Request_get_status_any(int n, const MPI_Request r[], int *index, int *flag, MPI_Status *s)
{
	pw_request_look();
	return PMPI_Request_get_status_any(n, r, index, flag, s);
}

int MPI_Request_get_status_some(int n, const MPI_Request r[], int *count, int indices[],
				MPI_Status s[])
{
	pw_request_look();
	return PMPI_Request_get_status_some(n, r, count, indices, s);
}
#endif

/* Persistent collectives ---------------------------------------------------------------- */

int pw_persistent_make(struct pw_persistent *p, MPI_Comm self, MPI_Request *handle)
{
	int err;

	pthread_mutex_lock(&rq.lock);
	/* no MPI has fewer tags; two with one tag would have to be under way at the same time */
	p->tag = rq.tag++ % 32768;
	pthread_mutex_unlock(&rq.lock);
	p->self = self;
	err = PMPI_Recv_init(NULL, 0, MPI_BYTE, 0, p->tag, self, &p->handle);
	if (err != MPI_SUCCESS)
		return err;
	pthread_mutex_lock(&rq.lock);
	p->next = rq.persistent;
	rq.persistent = p;
	pthread_mutex_unlock(&rq.lock);
	*handle = p->handle;
	return MPI_SUCCESS;
}

static struct pw_persistent *persistent_of(MPI_Request handle)
{
	struct pw_persistent *p;

	if (!rq.persistent)
		return NULL;
	pthread_mutex_lock(&rq.lock);
	for (p = rq.persistent; p && p->handle != handle; p = p->next)
		;
	pthread_mutex_unlock(&rq.lock);
	return p;
}

static void remove_persistent(struct pw_persistent *p)
{
	struct pw_persistent *last;

	pthread_mutex_lock(&rq.lock);
	if (rq.persistent == p) {
		rq.persistent = p->next;
	} else {
		for (last = rq.persistent; last->next != p; last = last->next)
			;
		last->next = p->next;
	}
	rq.failures -= p->failed;
	pthread_mutex_unlock(&rq.lock);
}

int MPI_Start(MPI_Request *r)
{
	struct pw_persistent *p = r ? persistent_of(*r) : NULL;

	return p ? p->start(p) : PMPI_Start(r);
}

int MPI_Startall(int n, MPI_Request r[])
{
	int i, err = MPI_SUCCESS;

	for (i = 0; r && i < n && !persistent_of(r[i]); i++)
		;
	if (!r || i >= n)
		return PMPI_Startall(n, r);
	for (i = 0; i < n && err == MPI_SUCCESS; i++)
		err = MPI_Start(&r[i]);
	return err;
}

int MPI_Request_free(MPI_Request *r)
{
	struct pw_persistent *p = r ? persistent_of(*r) : NULL;

	if (p) {
		remove_persistent(p);
		p->end(p);
	}
	return PMPI_Request_free(r);
}
