// SPDX-License-Identifier: GPL-2.0
/*
 * libpwmpi for Fortran programs (mpif.h, "use mpi", "use mpi_f08").
 *
 * The Fortran wrappers of Open MPI call PMPI_* directly, so a library that replaces only
 * the C functions never sees them. These are the Fortran symbols of the same functions, as
 * gfortran and flang spell them; they convert handles and call ours. A collective
 * component of the MPI library would be found by both languages, but has to be built
 * against the internal headers of each release.
 *
 * MPICH has other addresses that stand for MPI_IN_PLACE and MPI_BOTTOM, and other symbols for
 * mpi_f08: with it nothing is replaced here, and Fortran programs call its own wrappers.
 *
 * Handles of mpi_f08 are structures of one INTEGER, passed by reference like the INTEGER of
 * the older bindings; buffers are addresses in all of them. ierror is optional in mpi_f08.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

#ifdef OPEN_MPI

/* the address that stands for @c in Fortran, if it is @p */
static void *special(void *p, const char *symbol, void *c)
{
	void *there = dlsym(RTLD_DEFAULT, symbol);

	return there && p == there ? c : p;
}

static void *buffer(void *p)
{
	p = special(p, "mpi_fortran_in_place_", MPI_IN_PLACE);
	return special(p, "mpi_fortran_bottom_", MPI_BOTTOM);
}

static void done(MPI_Fint *ierror, int err)
{
	if (ierror)
		*ierror = err;
}

static void f_init(MPI_Fint *ierror)
{
	done(ierror, MPI_Init(NULL, NULL));
}

static void f_init_thread(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
	int got = 0;
	int err = MPI_Init_thread(NULL, NULL, *required, &got);

	*provided = got;
	done(ierror, err);
}

static void f_finalize(MPI_Fint *ierror)
{
	done(ierror, MPI_Finalize());
}

static void f_barrier(MPI_Fint *comm, MPI_Fint *ierror)
{
	done(ierror, MPI_Barrier(PMPI_Comm_f2c(*comm)));
}

static void f_bcast(void *buf, MPI_Fint *count, MPI_Fint *t, MPI_Fint *root, MPI_Fint *comm,
		    MPI_Fint *ierror)
{
	done(ierror, MPI_Bcast(buffer(buf), *count, PMPI_Type_f2c(*t), *root,
			       PMPI_Comm_f2c(*comm)));
}

static void f_allreduce(void *in, void *out, MPI_Fint *count, MPI_Fint *t, MPI_Fint *op,
			MPI_Fint *comm, MPI_Fint *ierror)
{
	done(ierror, MPI_Allreduce(buffer(in), buffer(out), *count, PMPI_Type_f2c(*t),
				   PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)));
}

static void f_reduce(void *in, void *out, MPI_Fint *count, MPI_Fint *t, MPI_Fint *op,
		     MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
	done(ierror, MPI_Reduce(buffer(in), buffer(out), *count, PMPI_Type_f2c(*t),
				PMPI_Op_f2c(*op), *root, PMPI_Comm_f2c(*comm)));
}

static void f_scan(void *in, void *out, MPI_Fint *count, MPI_Fint *t, MPI_Fint *op,
		   MPI_Fint *comm, MPI_Fint *ierror)
{
	done(ierror, MPI_Scan(buffer(in), buffer(out), *count, PMPI_Type_f2c(*t),
			      PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)));
}

static void f_exscan(void *in, void *out, MPI_Fint *count, MPI_Fint *t, MPI_Fint *op,
		     MPI_Fint *comm, MPI_Fint *ierror)
{
	done(ierror, MPI_Exscan(buffer(in), buffer(out), *count, PMPI_Type_f2c(*t),
				PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)));
}

static void f_reduce_scatter_block(void *in, void *out, MPI_Fint *count, MPI_Fint *t,
				   MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ierror)
{
	done(ierror, MPI_Reduce_scatter_block(buffer(in), buffer(out), *count, PMPI_Type_f2c(*t),
					      PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)));
}

static void f_allgather(void *in, MPI_Fint *count, MPI_Fint *t, void *out, MPI_Fint *out_count,
			MPI_Fint *out_t, MPI_Fint *comm, MPI_Fint *ierror)
{
	done(ierror, MPI_Allgather(buffer(in), *count, PMPI_Type_f2c(*t), buffer(out), *out_count,
				   PMPI_Type_f2c(*out_t), PMPI_Comm_f2c(*comm)));
}

static void f_gather(void *in, MPI_Fint *count, MPI_Fint *t, void *out, MPI_Fint *out_count,
		     MPI_Fint *out_t, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
	done(ierror, MPI_Gather(buffer(in), *count, PMPI_Type_f2c(*t), buffer(out), *out_count,
				PMPI_Type_f2c(*out_t), *root, PMPI_Comm_f2c(*comm)));
}

/* one function, both names */
#define NAMES(name, args)							\
	void mpi_##name##_ args __attribute__((alias("f_" #name)));		\
	void mpi_##name##_f08_ args __attribute__((alias("f_" #name)))

NAMES(init, (MPI_Fint *));
NAMES(init_thread, (MPI_Fint *, MPI_Fint *, MPI_Fint *));
NAMES(finalize, (MPI_Fint *));
NAMES(barrier, (MPI_Fint *, MPI_Fint *));
NAMES(bcast, (void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *));
NAMES(allreduce, (void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *));
NAMES(reduce, (void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
	       MPI_Fint *));
NAMES(scan, (void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *));
NAMES(exscan, (void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *));
NAMES(reduce_scatter_block, (void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
			     MPI_Fint *));
NAMES(allgather, (void *, MPI_Fint *, MPI_Fint *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
		  MPI_Fint *));
NAMES(gather, (void *, MPI_Fint *, MPI_Fint *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
	       MPI_Fint *, MPI_Fint *));

#endif
