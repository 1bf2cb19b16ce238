// SPDX-License-Identifier: GPL-2.0
/*
 * pwmodel net in the processes of MPI: in place of pwmodel_net_alone.c in pwmodel-mpi.
 *
 * Every process reads the file. Process 0 reads it first and the others wait, so that a
 * wrong file is reported once.
 */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "pwmodel.h"
#include "pwmodel_net.h"

u32 net_rank, net_size = 1;

static enum { CHECKING, RUNNING, STOPPED } state;

/* process 0 tells the others whether the file is good; what they pass does not matter */
static void verdict(int good)
{
	MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (good)
		return;
	MPI_Finalize();
	state = STOPPED;
	/* pwm_fail() of process 0 has printed why and exits with the same */
	if (net_rank)
		exit(2);
}

/* called by exit(): after pwm_fail() the others must end, too */
static void at_exit(void)
{
	if (state == CHECKING)
		verdict(0);
	else if (state == RUNNING)
		MPI_Abort(MPI_COMM_WORLD, 2);
}

void net_comm_start(void)
{
	int v, level;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &v);
	net_rank = v;
	MPI_Comm_size(MPI_COMM_WORLD, &v);
	net_size = v;
	atexit(at_exit);
	if (level < MPI_THREAD_FUNNELED && !net_rank)
		pwm_fail("MPI has no support for threads");
	if (net_rank) {
		verdict(0);
		state = RUNNING;
	}
}

void net_comm_good(void)
{
	if (net_rank)
		return;
	verdict(1);
	state = RUNNING;
}

void net_comm_stop(void)
{
	MPI_Finalize();
	state = STOPPED;
}

void net_comm_sum(u64 *v, size_t n)
{
	MPI_Allreduce(MPI_IN_PLACE, v, n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

void net_comm_max(u64 *v, size_t n)
{
	MPI_Allreduce(MPI_IN_PLACE, v, n, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
}

static void reserve(struct net_bytes *b, size_t n)
{
	if (n <= b->cap)
		return;
	b->cap = 2 * n;
	b->p = realloc(b->p, b->cap);
	if (!b->p)
		pwm_fail("out of memory");
}

/* what a process tells each other one at the end of a window */
struct notice {
	u64 next;		/* its next event */
	u64 bytes;		/* that cross to that one */
};

/*
 * out[r] goes to process r; what came from all of them is in @in, by process. Bytes are
 * sent only where there are some, so a window costs one collective.
 * Return: the least @next of all.
 */
u64 net_comm_exchange(struct net_bytes *out, struct net_bytes *in, u64 next)
{
	static struct notice *tell, *told;
	static MPI_Request *request;
	size_t at = 0;
	int n = 0;

	if (!tell) {
		tell = net_alloc(net_size, sizeof(*tell));
		told = net_alloc(net_size, sizeof(*told));
		request = net_alloc(2 * net_size, sizeof(*request));
	}
	for (u32 i = 0; i < net_size; i++)
		tell[i] = (struct notice) { next, out[i].n };
	MPI_Alltoall(tell, 2, MPI_UINT64_T, told, 2, MPI_UINT64_T, MPI_COMM_WORLD);
	in->n = 0;
	for (u32 i = 0; i < net_size; i++) {
		next = min(next, told[i].next);
		in->n += told[i].bytes;
		if (out[i].n > INT_MAX || told[i].bytes > INT_MAX)
			pwm_fail("more than 2 GiB cross in a window");
	}
	reserve(in, in->n);
	for (u32 i = 0; i < net_size; i++) {
		if (told[i].bytes)
			MPI_Irecv(in->p + at, told[i].bytes, MPI_BYTE, i, 0, MPI_COMM_WORLD,
				  &request[n++]);
		at += told[i].bytes;
	}
	for (u32 i = 0; i < net_size; i++)
		if (out[i].n)
			MPI_Isend(out[i].p, out[i].n, MPI_BYTE, i, 0, MPI_COMM_WORLD,
				  &request[n++]);
	MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
	return next;
}
