// SPDX-License-Identifier: GPL-2.0
/*
 * mpi_threads COUNT [SEED [THREADS]]: threads with MPI_THREAD_MULTIPLE, each in a communicator of
 * its own (the first one in the world), execute random collectives, each by MPI_* and by
 * PMPI_*. Ranks come to them in different orders. One more communicator comes and goes.
 */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS	8
#define MAX	40

static int rounds, rank, threads = 4;

struct thread {
	pthread_t id;
	MPI_Comm comm;
	uint64_t state;
	unsigned int own;	/* dice of this rank */
	bool brief;		/* it makes communicators that come and go */
	int bad;
};

/* the same for this thread at every rank */
static uint64_t rnd(struct thread *t)
{
	t->state ^= t->state >> 12;
	t->state ^= t->state << 25;
	t->state ^= t->state >> 27;
	return t->state * 2685821657736338717ULL;
}

static void one(struct thread *t, MPI_Comm c)
{
	uint64_t in[MAX], a[MAX], b[MAX], mix = rnd(t);
	int count = 1 + rnd(t) % 8, what = rnd(t) % 4, k, n, me, root;
	const MPI_Op ops[] = { MPI_SUM, MPI_MAX, MPI_BOR };
	MPI_Op op = ops[rnd(t) % 3];

	MPI_Comm_rank(c, &me);
	MPI_Comm_size(c, &n);
	root = rnd(t) % n;
	/* others of this rank go first, now and then */
	for (k = rand_r(&t->own) % 8; k; k--)
		sched_yield();
	for (k = 0; k < MAX; k++)
		in[k] = mix * (2 * me + 3) * (k + 1) >> 7;
	memcpy(a, in, sizeof(a));
	memcpy(b, in, sizeof(b));
	switch (what) {
	case 0:
		MPI_Allreduce(in, a, count, MPI_UINT64_T, op, c);
		PMPI_Allreduce(in, b, count, MPI_UINT64_T, op, c);
		break;
	case 1:
		MPI_Reduce(in, a, count, MPI_UINT64_T, op, root, c);
		PMPI_Reduce(in, b, count, MPI_UINT64_T, op, root, c);
		if (me != root)
			memcpy(a, b, sizeof(a));
		break;
	case 2:
		MPI_Bcast(a, 1 + count % 3, MPI_UINT64_T, root, c);
		PMPI_Bcast(b, 1 + count % 3, MPI_UINT64_T, root, c);
		break;
	default:
		MPI_Barrier(c);
	}
	t->bad += !!memcmp(a, b, sizeof(a));
}

static void *work(void *arg)
{
	struct thread *t = arg;
	MPI_Comm brief;
	int i;

	for (i = 0; i < rounds; i++) {
		one(t, t->comm);
		if (!t->brief || i % 16)
			continue;
		MPI_Comm_split(t->comm, 0, -rank, &brief);
		one(t, brief);
		MPI_Comm_free(&brief);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct thread t[THREADS] = { 0 };
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	int i, bad = 0, all, level;

	rounds = argc > 1 ? atoi(argv[1]) : 200;
	if (argc > 3)
		threads = atoi(argv[3]);
	if (threads < 1 || threads > THREADS)
		return 1;
	/* with AVX, some releases of Open MPI have wrong minima of unsigned numbers */
	setenv("OMPI_MCA_op", "^avx", 0);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (level != MPI_THREAD_MULTIPLE) {
		if (!rank)
			printf("this MPI has no MPI_THREAD_MULTIPLE\n");
		MPI_Finalize();
		return 4;
	}
	for (i = 0; i < threads; i++) {
		t[i].comm = MPI_COMM_WORLD;
		if (i)
			MPI_Comm_dup(MPI_COMM_WORLD, &t[i].comm);
		t[i].state = seed * (2 * i + 3);
		t[i].own = rank * 77 + i;
		t[i].brief = i == threads - 1;
	}
	/* two of them have their places before others look for one at the same time */
	for (i = 0; i < 2 && i < threads; i++)
		MPI_Barrier(t[i].comm);
	for (i = 0; i < threads; i++) {
		if (pthread_create(&t[i].id, NULL, work, &t[i]))
			MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (i = 0; i < threads; i++) {
		pthread_join(t[i].id, NULL);
		bad += t[i].bad;
	}
	for (i = 1; i < threads; i++)
		MPI_Comm_free(&t[i].comm);
	PMPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%d collectives in %d threads, %d differ\n", rounds, threads, all);
	MPI_Finalize();
	return all != 0;
}
