// SPDX-License-Identifier: GPL-2.0
/* checkpatch-ignore: AVOID_EXTERNS (functions of libpwmpi that no header has) */
/*
 * What mpi_f08 of Open MPI 6 calls, with buffers that are descriptors, called as it does:
 * libpwmpi has these functions with each Open MPI, so no Open MPI 6 and no Fortran is needed.
 * Whole arrays, scalars, and sections of a matrix, which are one at some ranks only.
 */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

struct array {
	void *base;
	size_t elem_len;
	int version;
	unsigned char rank, kind[3];
	struct {
		ptrdiff_t lower, extent, step;
	} dim[2];
};

void ompi_allreduce_wrapper_f08(struct array *in, struct array *out, MPI_Fint *count, MPI_Fint *t,
				MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ierror);
void ompi_bcast_wrapper_f08(struct array *in, MPI_Fint *count, MPI_Fint *t, MPI_Fint *root,
			    MPI_Fint *comm, MPI_Fint *ierror);
void ompi_ibcast_wrapper_f08(struct array *in, MPI_Fint *count, MPI_Fint *t, MPI_Fint *root,
			     MPI_Fint *comm, MPI_Fint *r, MPI_Fint *ierror);
void ompi_allgather_wrapper_f08(struct array *in, MPI_Fint *n, MPI_Fint *t, struct array *out,
				MPI_Fint *m, MPI_Fint *u, MPI_Fint *comm, MPI_Fint *ierror);

int main(int argc, char **argv)
{
	MPI_Fint t, op, comm, err = -1, r, root = 1, one = 1, two = 2, four = 4;
	int mine, total = -1, rank, n, i, wrong = 0, matrix[4][4], block[4], all[2 * 64];
	struct array scalar = { .base = &mine, .elem_len = sizeof(int) };
	struct array sum = { .base = &total, .elem_len = sizeof(int) };
	/* rows 1 and 3 of columns 0 and 2 */
	struct array some = { &matrix[0][1], sizeof(int), 0, 2, { 0 },
			      { { 0, 2, 2 * sizeof(int) }, { 0, 2, 8 * sizeof(int) } } };
	struct array row = { block, sizeof(int), 0, 1, { 0 }, { { 0, 4, sizeof(int) } } };
	struct array open = { all, sizeof(int), 0, 1, { 0 }, { { 0, -1, sizeof(int) } } };
	struct array *buf;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	t = MPI_Type_c2f(MPI_INT);
	op = MPI_Op_c2f(MPI_SUM);
	comm = MPI_Comm_c2f(MPI_COMM_WORLD);

	mine = rank;
	ompi_allreduce_wrapper_f08(&scalar, &sum, &one, &t, &op, &comm, &err);
	wrong += err != MPI_SUCCESS || total != n * (n - 1) / 2;

	/* a section at even ranks, a whole array at odd ones, the root among them */
	for (i = 0; i < 16; i++)
		matrix[i / 4][i % 4] = -i;
	for (i = 0; i < 4; i++)
		block[i] = rank == root ? 10 + i : -1;
	buf = rank % 2 ? &row : &some;
	ompi_bcast_wrapper_f08(buf, &four, &t, &root, &comm, &err);
	wrong += err != MPI_SUCCESS;
	for (i = 0; i < 16 && rank % 2 == 0; i++) {
		int in = i / 4 % 2 == 0 && i % 2 == 1;

		wrong += matrix[i / 4][i % 4] != (in ? 10 + i / 8 * 2 + i % 4 / 2 : -i);
	}
	for (i = 0; i < 4 && rank % 2; i++)
		wrong += block[i] != 10 + i;

	/* a section is the root's */
	root = 0;
	for (i = 0; i < 4; i++)
		matrix[i / 2 * 2][1 + i % 2 * 2] = 20 + i;
	ompi_ibcast_wrapper_f08(buf, &four, &t, &root, &comm, &r, &err);
	wrong += err != MPI_SUCCESS;
	request = MPI_Request_f2c(r);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	for (i = 0; i < 4 && rank % 2; i++)
		wrong += block[i] != 20 + i;

	/* the second half of the section is not sent */
	ompi_allgather_wrapper_f08(buf, &two, &t, &open, &two, &t, &comm, &err);
	wrong += err != MPI_SUCCESS;
	for (i = 0; i < 2 * n; i++)
		wrong += all[i] != 20 + i % 2;
	if (wrong)
		printf("rank %d: %d wrong\n", rank, wrong);
	MPI_Finalize();
	return !!wrong;
}
