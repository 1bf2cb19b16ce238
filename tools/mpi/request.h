/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Collectives of libpwmpi that do not wait: rounds without a task (PACKETWAY_ATON_ROUND_NOWAIT)
 * behind generalized requests.
 *
 * The kernel has one round of a group bit at a time. The first request of a queue is in it; the
 * others follow in the order in which they were made, the same at all ranks. What has ended is
 * stored in the program's buffer by the thread of the program that next tests or waits.
 *
 * A program may make two requests and then be for long where this library is not asked: in
 * MPI_Recv, which another rank answers after its second request. So a thread of our own starts
 * what follows, and repeats rounds whose packets were damaged. It makes system calls only, none of
 * MPI, and only looks once in a while: as a rule it finds nothing to do.
 */
#ifndef PW_REQUEST_H
#define PW_REQUEST_H

#include <mpi.h>
#include <stdbool.h>

#include <packetway.h>

/* Open MPI 5 says that it is MPI 3.1 */
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define PW_PERSISTENT 1
#else
#define PW_PERSISTENT 0
#endif

/**
 * struct pw_request - a collective that does not wait
 * @round: what goes to the ring; results in the place of operands
 * @store: gives the program its results; NULL: there are none
 * @fail: calls the program's error handler
 * @comm: the communicator
 * @of: the persistent collective that was started; NULL: none
 * @err: 0 or -errno, when @state is not QUEUED
 *
 * The rest is request.c's. Allocated by malloc(), as the first member of what has more.
 */
struct pw_request {
	struct pwl_round round;
	void (*store)(struct pw_request *x);
	void (*fail)(struct pw_request *x);
	MPI_Comm comm;
	struct pw_persistent *of;
	int err;

	MPI_Request handle;
	bool started;			/* the kernel has the operands */
	int tries;
	enum { QUEUED, ENDED, SETTLED } state;
	struct pw_request *next;	/* in its queue */
	struct pw_request *other;	/* of all that the program has */
};

/* requests of a group bit */
struct pw_queue {
	struct pw_request *first, **last;	/* NULL: it was never used */
	struct pw_queue *next;
};

/**
 * struct pw_persistent - a persistent collective
 * @start: the program starts it: makes a request of it
 * @end: the program has freed it
 * @under_way: it was started, and has not ended
 *
 * The rest is request.c's. MPI completes no generalized request twice, so the handle is that of a
 * receive of nothing from this rank itself, which is sent when the collective has ended.
 */
struct pw_persistent {
	int (*start)(struct pw_persistent *p);
	void (*end)(struct pw_persistent *p);
	bool under_way;

	MPI_Comm self;
	int tag;
	MPI_Request handle;
	bool failed;			/* and no call has said so */
	struct pw_persistent *next;
};

/**
 * pw_persistent_make - make the handle of a persistent collective
 * @p: what it stands for; @start and @end are set
 * @self: a communicator of this rank alone, used for nothing else
 * @handle: gets the handle
 *
 * Return: an MPI error.
 */
int pw_persistent_make(struct pw_persistent *p, MPI_Comm self, MPI_Request *handle);

/**
 * pw_request_start - make a request
 * @s: session, the same for all
 * @threads: other threads of the program may wait at the same time
 * @q: queue of its bit
 * @x: the request; freed with the program's handle, or at its end if it is of a persistent one
 * @handle: gets that handle; not used for a persistent one, which has one
 *
 * Return: an MPI error; @x is the caller's then.
 */
int pw_request_start(struct pwl *s, bool threads, struct pw_queue *q, struct pw_request *x,
		     MPI_Request *handle);

/* wait for all requests of a queue, which is not used after that if it @ends */
void pw_request_drain(struct pw_queue *q, bool ends);

/* the session is closed now */
void pw_request_stop(void);

/*
 * For the Fortran calls that test and wait: those of the library follow, which do not know that
 * requests of ours want to be completed.
 */

/* is there a request of ours at all, or an error of one? */
bool pw_request_known(void);
/* until those of ours among @n requests have ended */
void pw_request_wait(int n, const MPI_Request *r);
/* all go on, without waiting */
void pw_request_look(void);
/* does one of ours that has not ended belong to these? Then all have gone on, and others may run. */
bool pw_request_any(int n, const MPI_Request *r);
/* @err of the library, or that of a request of ours that it has freed, or of a persistent one */
int pw_request_result(int err, int n, const MPI_Request *r);

/*
 * Wait no longer for other ranks than this before MPI may send queued messages: another rank
 * may wait for one of them.
 */
#define PW_ROUND_MS	5
/* the ranks are in virtual time: calls do not wait by the host's clock */
extern bool pw_virtual;

void pw_let_messages_go(void);

#endif
