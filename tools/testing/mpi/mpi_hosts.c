// SPDX-License-Identifier: GPL-2.0
/*
 * mpi_hosts [ROUNDS [ELEMENTS]]: random MPI_Allreduce of integers over all ranks, each compared with
 * the same operation on the operands of all, which follow from a seed. Prints how many there were
 * and how many results differ.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST	8		/* elements */

static uint64_t seed = 88172645463325252ULL;

static uint32_t below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 33) % n;
}

static int64_t apply(int op, int64_t a, int64_t b)
{
	switch (op) {
	case 0:
		return (int64_t)((uint64_t)a + (uint64_t)b);
	case 1:
		return a < b ? a : b;
	case 2:
		return a > b ? a : b;
	case 3:
		return a & b;
	default:
		return a | b;
	}
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 20, r, differ = 0;
	int64_t in[MOST], out[MOST], want, *all;
	int32_t in32[MOST], out32[MOST];
	int rank, n, i, k, op, count, wide, most = argc > 2 ? atoi(argv[2]) : MOST;

	if (most < 1 || most > MOST)
		most = MOST;
	MPI_Init(&argc, &argv);
	MPI_Op ops[] = { MPI_SUM, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR };

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	all = malloc(n * sizeof(in));
	for (r = 0; r < rounds; r++) {
		/* the same at all ranks, then operands of this one */
		op = below(5);
		count = 1 + below(most);
		wide = below(2);
		for (i = 0; i < n; i++)
			for (k = 0; k < MOST; k++)
				all[i * MOST + k] = (int32_t)(below(1U << 31) - (1U << 30));
		memcpy(in, all + rank * MOST, sizeof(in));
		for (k = 0; k < MOST; k++)
			in32[k] = in[k];
		if (wide)
			MPI_Allreduce(in, out, count, MPI_INT64_T, ops[op], MPI_COMM_WORLD);
		else
			MPI_Allreduce(in32, out32, count, MPI_INT32_T, ops[op], MPI_COMM_WORLD);
		for (k = 0; k < count; k++) {
			want = all[k];
			for (i = 1; i < n; i++)
				want = apply(op, want, all[i * MOST + k]);
			differ += wide ? out[k] != want : out32[k] != (int32_t)want;
		}
	}
	PMPI_Allreduce(MPI_IN_PLACE, &differ, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%d ranks: %ld reductions, %ld results differ\n", n, rounds, differ);
	free(all);
	MPI_Finalize();
	return !!differ;
}
