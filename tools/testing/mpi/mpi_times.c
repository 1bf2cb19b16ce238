// SPDX-License-Identifier: GPL-2.0
/*
 * mpi_times: how long some calls take, by MPI_Wtime(). An ordinary MPI program, which prints
 * the same bytes in each run of `pwrun --virtual`. Only rank 0 prints: mpirun mixes what ranks
 * write.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TIMES 4
#define BYTES 16384
#define RING 1000

static int rank, n, wrong;

/* from rank 0 to 1 and back, a one-way trip on average */
static void there_and_back(int bytes)
{
	static char out[BYTES], in[BYTES];
	int i, other = !rank;
	double t;

	MPI_Barrier(MPI_COMM_WORLD);
	t = MPI_Wtime();
	for (i = 0; i < TIMES && rank < 2; i++) {
		if (!rank)
			MPI_Send(out, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD);
		MPI_Recv(in, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank)
			MPI_Send(out, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD);
	}
	t = MPI_Wtime() - t;
	if (!rank)
		printf("latency of %d bytes: %.4f us\n", bytes, t / (2 * TIMES) * 1e6);
}

/* a time of each rank, printed by rank 0 */
static void print_times(const char *what, double t)
{
	double *all = malloc(n * sizeof(*all));
	int i;

	if (!all)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Gather(&t, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	for (i = 0; i < n && !rank; i++)
		printf("%s, rank %d: %.4f us\n", what, i, all[i] * 1e6);
	free(all);
}

/* a sum, which libpwmpi leaves to the ring, and a product, which it leaves to messages */
static void reduce(void)
{
	long x = rank + 1, sum, product, want = 1;
	double t[3];
	int i;

	for (i = 2; i <= n; i++)
		want *= i;
	t[0] = MPI_Wtime();
	MPI_Allreduce(&x, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	t[1] = MPI_Wtime();
	MPI_Allreduce(&x, &product, 1, MPI_LONG, MPI_PROD, MPI_COMM_WORLD);
	t[2] = MPI_Wtime();
	wrong += sum != (long)n * (n + 1) / 2 || product != want;
	print_times("allreduce, sum", t[1] - t[0]);
	print_times("allreduce, product", t[2] - t[1]);
}

/* a sum that all ranks begin at once, and that each leaves alone for @compute seconds */
static double leave_alone(double compute)
{
	struct timespec ts = { 0, compute * 1e9 };
	long x = rank + 1, sum;
	MPI_Request r;
	double t;

	MPI_Barrier(MPI_COMM_WORLD);
	t = MPI_Wtime();
	MPI_Iallreduce(&x, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &r);
	if (compute > 0)
		nanosleep(&ts, NULL);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	wrong += sum != (long)n * (n + 1) / 2;
	return MPI_Wtime() - t;
}

/*
 * How much of MPI_Iallreduce and MPI_Wait is hidden behind what the ranks compute in between. In
 * virtual time instructions take none: to compute is to let time pass.
 */
static void overlap(void)
{
	double t[3], sum[3];

	t[0] = leave_alone(0);
	t[2] = 2 * t[0];
	t[1] = leave_alone(t[2]);
	print_times("iallreduce, nothing in between", t[0]);
	print_times("iallreduce, computing in between", t[1]);
	MPI_Reduce(t, sum, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("overlap %.1f %%\n", 100 * (1 - (sum[1] - sum[2]) / sum[0]));
}

static void ring(void)
{
	int out[RING], in[RING], i, from = (rank + n - 1) % n;
	double t = MPI_Wtime();

	for (i = 0; i < RING; i++)
		out[i] = rank * RING + i;
	MPI_Sendrecv(out, RING, MPI_INT, (rank + 1) % n, 2, in, RING, MPI_INT, from, 2,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	t = MPI_Wtime() - t;
	for (i = 0; i < RING; i++)
		wrong += in[i] != from * RING + i;
	print_times("sendrecv", t);
}

int main(int argc, char **argv)
{
	int bytes, i, all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (n < 2)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (bytes = 0; bytes <= BYTES; bytes = bytes ? bytes * 16 : 4)
		there_and_back(bytes);
	for (i = 0; i < 2; i++) {
		reduce();
		ring();
	}
	overlap();
	MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%d ranks, %d wrong, at %.9f s\n", n, all, MPI_Wtime());
	MPI_Finalize();
	return !!all;
}
