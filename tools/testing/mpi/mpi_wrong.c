// SPDX-License-Identifier: GPL-2.0
/*
 * mpi_wrong: collectives that MPI forbids, each done twice: by MPI_*, which a library
 * may have replaced, and by PMPI_*. All ranks do the same wrong thing. Both must return
 * the same error class; MPI may let some of it pass. Then some that are allowed and
 * unusual give the right result.
 *
 * mpi_wrong pmpi: calls nothing but PMPI_*, as Fortran wrappers do.
 * mpi_wrong idle: calls no collective at all.
 * mpi_wrong bcast BYTES: ten broadcasts, and nothing else.
 * mpi_wrong hold FILE: a barrier, and one in each of 20 communicators of every two ranks; then
 *	makes FILE and waits until it is gone; a barrier.
 * mpi_wrong die ROUND: sums, each second one without waiting, until rank 1 kills itself in this
 *	round; prints wrong ones.
 * mpi_wrong persistent ROUND: a sum that is started again and again, until rank 1 kills itself in
 *	this round; prints what the others' calls return then.
 */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, n, done, bad;

static int class_of(int err)
{
	int class = -1;

	MPI_Error_class(err, &class);
	return class;
}

static void same(const char *what, int got, int want)
{
	done++;
	if (class_of(got) == class_of(want))
		return;
	bad++;
	fprintf(stderr, "rank %d: %s: class %d, without the library %d\n", rank, what,
		class_of(got), class_of(want));
}

static void right(const char *what, int err, uint64_t got, uint64_t want)
{
	done++;
	if (err == MPI_SUCCESS && got == want)
		return;
	bad++;
	fprintf(stderr, "rank %d: %s: class %d, %llu, not %llu\n", rank, what, class_of(err),
		(unsigned long long)got, (unsigned long long)want);
}

#define SAME(what, call) same(what, MPI_##call, PMPI_##call)

static void wrong(MPI_Comm c)
{
	int in = 1, out = 0, k;
	const int roots[] = { -1, -100, n, n + 1, 1 << 30 };
	MPI_Datatype raw;

	SAME("barrier of no communicator", Barrier(MPI_COMM_NULL));
	SAME("broadcast in no communicator", Bcast(&in, 1, MPI_INT, 0, MPI_COMM_NULL));
	SAME("reduction in no communicator", Reduce(&in, &out, 1, MPI_INT, MPI_SUM, 0,
						    MPI_COMM_NULL));
	SAME("reduction to all in no communicator", Allreduce(&in, &out, 1, MPI_INT, MPI_SUM,
							      MPI_COMM_NULL));
	for (k = 0; k < 5; k++) {
		SAME("root of a broadcast", Bcast(&in, 1, MPI_INT, roots[k], c));
		SAME("root of a reduction", Reduce(&in, &out, 1, MPI_INT, MPI_SUM, roots[k], c));
	}
	SAME("negative count of a broadcast", Bcast(&in, -1, MPI_INT, 0, c));
	SAME("negative count of a reduction", Allreduce(&in, &out, -1, MPI_INT, MPI_SUM, c));
	SAME("no type", Bcast(&in, 1, MPI_DATATYPE_NULL, 0, c));
	SAME("no operation", Allreduce(&in, &out, 1, MPI_INT, MPI_OP_NULL, c));
	SAME("same buffer", Allreduce(&in, &in, 1, MPI_INT, MPI_SUM, c));
	SAME("result in place", Allreduce(&in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, c));
	if (rank)
		SAME("in place without being root", Reduce(MPI_IN_PLACE, &out, 1, MPI_INT, MPI_SUM,
							   0, c));
	else
		SAME("same buffer at the root", Reduce(&in, &in, 1, MPI_INT, MPI_SUM, 0, c));
	MPI_Type_contiguous(2, MPI_SHORT, &raw);
	SAME("type that is not committed", Bcast(&in, 1, raw, 0, c));
	SAME("reduction of one", Allreduce(&in, &out, 1, raw, MPI_SUM, c));
	MPI_Type_free(&raw);
}

static void unusual(MPI_Comm c)
{
	uint64_t value = rank == n - 1 ? 0x1122334455667788ULL : 0, sum = 0;
	MPI_Datatype pair, there;
	int len = 1, err;
	MPI_Request r;
	MPI_Aint at;

	/* the same bytes, as one type here and another there */
	MPI_Type_contiguous(2, MPI_UINT32_T, &pair);
	MPI_Type_commit(&pair);
	err = rank % 2 ? MPI_Bcast(&value, 1, pair, n - 1, c) :
			 MPI_Bcast(&value, 2, MPI_UINT32_T, n - 1, c);
	right("types of one signature", err, value, 0x1122334455667788ULL);
	value = rank == 0 ? 77 : 0;
	MPI_Get_address(&value, &at);
	MPI_Type_create_hindexed(1, &len, &at, MPI_UINT64_T, &there);
	MPI_Type_commit(&there);
	err = MPI_Bcast(MPI_BOTTOM, 1, there, 0, c);
	right("absolute address", err, value, 77);
	value = rank == n - 1 ? 78 : 0;
	err = MPI_Ibcast(MPI_BOTTOM, 1, there, n - 1, c, &r);
	if (err == MPI_SUCCESS)
		err = MPI_Wait(&r, MPI_STATUS_IGNORE);
	right("absolute address, without waiting", err, value, 78);
	value = rank + 1;
	err = MPI_Reduce(rank ? &value : MPI_IN_PLACE, rank ? NULL : &value, 1, MPI_UINT64_T,
			 MPI_SUM, 0, c);
	right("reduction in place", err, value, rank ? rank + 1 : n * (n + 1) / 2);
	value = 3;
	err = MPI_Allreduce(&value, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_SELF);
	right("of this rank alone", err, sum, 3);
	MPI_Type_free(&pair);
	MPI_Type_free(&there);
}

static void hold(const char *file)
{
	MPI_Comm comm[20];
	FILE *f;
	int i;

	MPI_Barrier(MPI_COMM_WORLD);
	for (i = 0; i < 20; i++) {
		/* not like the world: it wants a group bit of its own */
		MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &comm[i]);
		MPI_Barrier(comm[i]);
	}
	if (!rank) {
		f = fopen(file, "w");
		if (f)
			fclose(f);
		while (!access(file, F_OK))
			usleep(10000);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (i = 0; i < 20; i++)
		MPI_Comm_free(&comm[i]);
}

static void die(int round)
{
	uint64_t one, sum, want, k;
	MPI_Request r;
	int err;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (k = 0; k < 100000; k++) {
		one = (k + 1) * (rank + 1);
		want = (k + 1) * n * (n + 1) / 2;
		sum = 0;
		if (rank == 1 && k == (uint64_t)round)
			raise(SIGKILL);
		if (k % 2) {
			err = MPI_Iallreduce(&one, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &r);
			if (err == MPI_SUCCESS)
				err = MPI_Wait(&r, MPI_STATUS_IGNORE);
		} else {
			err = MPI_Allreduce(&one, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
		}
		if (err != MPI_SUCCESS) {
			printf("rank %d: class %d in round %llu\n", rank, class_of(err),
			       (unsigned long long)k);
			fflush(stdout);
			/* mpirun ends this job */
			sleep(600);
		}
		if (sum != want)
			printf("rank %d: WRONG sum in round %llu\n", rank, (unsigned long long)k);
	}
}

static void persistent(int round)
{
#if MPI_VERSION >= 4
	uint64_t one, sum = 0, k;
	MPI_Request r;
	int err;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Allreduce_init(&one, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
	for (k = 0; k < 100000; k++) {
		one = (k + 1) * (rank + 1);
		if (rank == 1 && k == (uint64_t)round)
			raise(SIGKILL);
		MPI_Start(&r);
		err = MPI_Wait(&r, MPI_STATUS_IGNORE);
		if (err != MPI_SUCCESS)
			break;
		if (sum != (k + 1) * n * (n + 1) / 2)
			printf("rank %d: WRONG sum in round %llu\n", rank, (unsigned long long)k);
	}
	printf("rank %d: class %d in round %llu, then %d\n", rank, class_of(err),
	       (unsigned long long)k, class_of(MPI_Start(&r)));
	fflush(stdout);
	_exit(0);
#endif
}

int main(int argc, char **argv)
{
	MPI_Comm c[2], own;
	int k, all[2], sum[2];

	if (argc > 1 && !strcmp(argv[1], "pmpi")) {
		PMPI_Init(&argc, &argv);
		PMPI_Barrier(MPI_COMM_WORLD);
		PMPI_Finalize();
		return 0;
	}
	MPI_Init(&argc, &argv);
	if (argc > 1 && !strcmp(argv[1], "idle")) {
		MPI_Finalize();
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "bcast")) {
		static char buf[65536];

		for (k = 0; k < 10; k++)
			MPI_Bcast(buf, atoi(argv[2]), MPI_CHAR, 0, MPI_COMM_WORLD);
		MPI_Finalize();
		return 0;
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (argc > 2 && (!strcmp(argv[1], "hold") || !strcmp(argv[1], "die"))) {
		if (*argv[1] == 'h')
			hold(argv[2]);
		else
			die(atoi(argv[2]));
		MPI_Finalize();
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "persistent"))
		persistent(atoi(argv[2]));
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	c[0] = MPI_COMM_WORLD;
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &own);
	MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
	c[1] = own;
	for (k = 0; k < 2; k++) {
		MPI_Comm_rank(c[k], &rank);
		wrong(c[k]);
		unusual(c[k]);
	}
	MPI_Comm_free(&own);
	all[0] = done;
	all[1] = bad;
	PMPI_Reduce(all, sum, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!rank)
		printf("%d calls, %d differ\n", sum[0], sum[1]);
	MPI_Finalize();
	return bad != 0;
}
