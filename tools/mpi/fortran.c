// SPDX-License-Identifier: GPL-2.0
/* checkpatch-ignore: FUNCTION_ARGUMENTS (functions that dlsym() finds) */
/*
 * libpwmpi for Fortran programs (mpif.h, "use mpi", "use mpi_f08").
 *
 * The Fortran wrappers of Open MPI call PMPI_* directly, so a library that replaces only
 * the C functions never sees them. These are the Fortran symbols of the same functions, as
 * gfortran and flang spell them; they convert handles and call ours. A collective
 * component of the MPI library would be found by both languages, but has to be built
 * against the internal headers of each release.
 *
 * The wrappers of MPICH call MPI_*, which are ours, but for those of mpi_f08 that have no
 * buffer: these call PMPI_*, and are replaced here.
 *
 * What tests and waits calls ours first, which completes requests of ours, and then the wrapper of
 * the MPI library, which converts statuses.
 *
 * mpi_f08 of Open MPI 6 gives buffers as descriptors, to functions of the library of other names.
 *
 * The standard ABI of MPI 5 has no Fortran: its header has no handles of Fortran, and wrappers
 * on top of it call MPI_*. So nothing of this is in a library that is built for it.
 *
 * Handles of mpi_f08 are structures of one INTEGER, passed by reference like the INTEGER of
 * the older bindings; buffers are addresses in all of them. ierror is optional in mpi_f08.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "request.h"

/* the header that is Open MPI's own says -1 */
#if !defined(MPI_ABI_VERSION) || MPI_ABI_VERSION < 1

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

static void f_ibarrier(MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int err = MPI_Ibarrier(PMPI_Comm_f2c(*comm), &r);

	*request = PMPI_Request_c2f(r);
	done(ierror, err);
}

#if PW_PERSISTENT
static void f_barrier_init(MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int err = MPI_Barrier_init(PMPI_Comm_f2c(*comm), PMPI_Info_f2c(*info), &r);

	*request = PMPI_Request_c2f(r);
	done(ierror, err);
}
#endif

#ifdef OPEN_MPI

/* one function, both names */
#define NAMES(name, args)							\
	void mpi_##name##_ args __attribute__((alias("f_" #name)));		\
	void mpi_##name##_f08_ args __attribute__((alias("f_" #name)))

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

static void f_bcast(void *buf, MPI_Fint *count, MPI_Fint *t, MPI_Fint *root, MPI_Fint *comm,
		    MPI_Fint *ierror)
{
	done(ierror, MPI_Bcast(buffer(buf), *count, PMPI_Type_f2c(*t), *root,
			       PMPI_Comm_f2c(*comm)));
}

static void f_ibcast(void *buf, MPI_Fint *count, MPI_Fint *t, MPI_Fint *root, MPI_Fint *comm,
		     MPI_Fint *request, MPI_Fint *ierror)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int err = MPI_Ibcast(buffer(buf), *count, PMPI_Type_f2c(*t), *root, PMPI_Comm_f2c(*comm),
			     &r);

	*request = PMPI_Request_c2f(r);
	done(ierror, err);
}

/* reductions with the same arguments, blocking and not */
#define REDUCTION(name, c_name)							\
static void f_##name(void *in, void *out, MPI_Fint *count, MPI_Fint *t, MPI_Fint *op, \
		     MPI_Fint *comm, MPI_Fint *ierror)				\
{										\
	done(ierror, MPI_##c_name(buffer(in), buffer(out), *count, PMPI_Type_f2c(*t), \
				  PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)));	\
}										\
										\
static void f_i##name(void *in, void *out, MPI_Fint *count, MPI_Fint *t, MPI_Fint *op, \
		      MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)	\
{										\
	MPI_Request r = MPI_REQUEST_NULL;					\
	int err = MPI_I##name(buffer(in), buffer(out), *count, PMPI_Type_f2c(*t), \
			      PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm), &r);	\
										\
	*request = PMPI_Request_c2f(r);						\
	done(ierror, err);							\
}										\
NAMES(name, (void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *)); \
NAMES(i##name, (void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, \
		MPI_Fint *))

REDUCTION(allreduce, Allreduce);
REDUCTION(scan, Scan);
REDUCTION(exscan, Exscan);
REDUCTION(reduce_scatter_block, Reduce_scatter_block);

static void f_reduce(void *in, void *out, MPI_Fint *count, MPI_Fint *t, MPI_Fint *op,
		     MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
	done(ierror, MPI_Reduce(buffer(in), buffer(out), *count, PMPI_Type_f2c(*t),
				PMPI_Op_f2c(*op), *root, PMPI_Comm_f2c(*comm)));
}

static void f_ireduce(void *in, void *out, MPI_Fint *count, MPI_Fint *t, MPI_Fint *op,
		      MPI_Fint *root, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int err = MPI_Ireduce(buffer(in), buffer(out), *count, PMPI_Type_f2c(*t),
			      PMPI_Op_f2c(*op), *root, PMPI_Comm_f2c(*comm), &r);

	*request = PMPI_Request_c2f(r);
	done(ierror, err);
}

static void f_reduce_scatter(void *in, void *out, MPI_Fint *counts, MPI_Fint *t, MPI_Fint *op,
			     MPI_Fint *comm, MPI_Fint *ierror)
{
	/* an INTEGER of another size has no library of Open MPI that we know */
	_Static_assert(sizeof(MPI_Fint) == sizeof(int), "INTEGER is no int");

	done(ierror, MPI_Reduce_scatter(buffer(in), buffer(out), counts, PMPI_Type_f2c(*t),
					PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)));
}

static void f_ireduce_scatter(void *in, void *out, MPI_Fint *counts, MPI_Fint *t, MPI_Fint *op,
			      MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int err = MPI_Ireduce_scatter(buffer(in), buffer(out), counts, PMPI_Type_f2c(*t),
				      PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm), &r);

	*request = PMPI_Request_c2f(r);
	done(ierror, err);
}

static void f_allgather(void *in, MPI_Fint *count, MPI_Fint *t, void *out, MPI_Fint *out_count,
			MPI_Fint *out_t, MPI_Fint *comm, MPI_Fint *ierror)
{
	done(ierror, MPI_Allgather(buffer(in), *count, PMPI_Type_f2c(*t), buffer(out), *out_count,
				   PMPI_Type_f2c(*out_t), PMPI_Comm_f2c(*comm)));
}

static void f_iallgather(void *in, MPI_Fint *count, MPI_Fint *t, void *out, MPI_Fint *out_count,
			 MPI_Fint *out_t, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int err = MPI_Iallgather(buffer(in), *count, PMPI_Type_f2c(*t), buffer(out), *out_count,
				 PMPI_Type_f2c(*out_t), PMPI_Comm_f2c(*comm), &r);

	*request = PMPI_Request_c2f(r);
	done(ierror, err);
}

static void f_gather(void *in, MPI_Fint *count, MPI_Fint *t, void *out, MPI_Fint *out_count,
		     MPI_Fint *out_t, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
	done(ierror, MPI_Gather(buffer(in), *count, PMPI_Type_f2c(*t), buffer(out), *out_count,
				PMPI_Type_f2c(*out_t), *root, PMPI_Comm_f2c(*comm)));
}

static void f_igather(void *in, MPI_Fint *count, MPI_Fint *t, void *out, MPI_Fint *out_count,
		      MPI_Fint *out_t, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *request,
		      MPI_Fint *ierror)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int err = MPI_Igather(buffer(in), *count, PMPI_Type_f2c(*t), buffer(out), *out_count,
			      PMPI_Type_f2c(*out_t), *root, PMPI_Comm_f2c(*comm), &r);

	*request = PMPI_Request_c2f(r);
	done(ierror, err);
}

#if PW_PERSISTENT
#define PERSISTENT_REDUCTION(name, c_name)					\
static void f_##name##_init(void *in, void *out, MPI_Fint *count, MPI_Fint *t, MPI_Fint *op, \
			    MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror) \
{										\
	MPI_Request r = MPI_REQUEST_NULL;					\
	int err = MPI_##c_name##_init(buffer(in), buffer(out), *count, PMPI_Type_f2c(*t), \
				      PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm),	\
				      PMPI_Info_f2c(*info), &r);		\
										\
	*request = PMPI_Request_c2f(r);						\
	done(ierror, err);							\
}										\
NAMES(name##_init, (void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, \
		    MPI_Fint *, MPI_Fint *))

PERSISTENT_REDUCTION(allreduce, Allreduce);
PERSISTENT_REDUCTION(scan, Scan);
PERSISTENT_REDUCTION(exscan, Exscan);
PERSISTENT_REDUCTION(reduce_scatter_block, Reduce_scatter_block);

static void f_reduce_scatter_init(void *in, void *out, MPI_Fint *counts, MPI_Fint *t, MPI_Fint *op,
				  MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int err = MPI_Reduce_scatter_init(buffer(in), buffer(out), counts, PMPI_Type_f2c(*t),
					  PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm),
					  PMPI_Info_f2c(*info), &r);

	*request = PMPI_Request_c2f(r);
	done(ierror, err);
}

static void f_reduce_init(void *in, void *out, MPI_Fint *count, MPI_Fint *t, MPI_Fint *op,
			  MPI_Fint *root, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request,
			  MPI_Fint *ierror)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int err = MPI_Reduce_init(buffer(in), buffer(out), *count, PMPI_Type_f2c(*t),
				  PMPI_Op_f2c(*op), *root, PMPI_Comm_f2c(*comm),
				  PMPI_Info_f2c(*info), &r);

	*request = PMPI_Request_c2f(r);
	done(ierror, err);
}

static void f_bcast_init(void *buf, MPI_Fint *count, MPI_Fint *t, MPI_Fint *root, MPI_Fint *comm,
			 MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int err = MPI_Bcast_init(buffer(buf), *count, PMPI_Type_f2c(*t), *root,
				 PMPI_Comm_f2c(*comm), PMPI_Info_f2c(*info), &r);

	*request = PMPI_Request_c2f(r);
	done(ierror, err);
}

static void f_allgather_init(void *in, MPI_Fint *count, MPI_Fint *t, void *out,
			     MPI_Fint *out_count, MPI_Fint *out_t, MPI_Fint *comm, MPI_Fint *info,
			     MPI_Fint *request, MPI_Fint *ierror)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int err = MPI_Allgather_init(buffer(in), *count, PMPI_Type_f2c(*t), buffer(out), *out_count,
				     PMPI_Type_f2c(*out_t), PMPI_Comm_f2c(*comm),
				     PMPI_Info_f2c(*info), &r);

	*request = PMPI_Request_c2f(r);
	done(ierror, err);
}

static void f_gather_init(void *in, MPI_Fint *count, MPI_Fint *t, void *out, MPI_Fint *out_count,
			  MPI_Fint *out_t, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *info,
			  MPI_Fint *request, MPI_Fint *ierror)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int err = MPI_Gather_init(buffer(in), *count, PMPI_Type_f2c(*t), buffer(out), *out_count,
				  PMPI_Type_f2c(*out_t), *root, PMPI_Comm_f2c(*comm),
				  PMPI_Info_f2c(*info), &r);

	*request = PMPI_Request_c2f(r);
	done(ierror, err);
}

NAMES(reduce_scatter_init, (void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
			    MPI_Fint *, MPI_Fint *, MPI_Fint *));
NAMES(reduce_init, (void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
		    MPI_Fint *, MPI_Fint *, MPI_Fint *));
NAMES(bcast_init, (void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
		   MPI_Fint *));
NAMES(allgather_init, (void *, MPI_Fint *, MPI_Fint *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
		       MPI_Fint *, MPI_Fint *, MPI_Fint *));
NAMES(gather_init, (void *, MPI_Fint *, MPI_Fint *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
		    MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *));
#endif

NAMES(bcast, (void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *));
NAMES(ibcast, (void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *));
NAMES(reduce, (void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
	       MPI_Fint *));
NAMES(ireduce, (void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
		MPI_Fint *, MPI_Fint *));
NAMES(reduce_scatter, (void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
		       MPI_Fint *));
NAMES(ireduce_scatter, (void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
			MPI_Fint *));
NAMES(allgather, (void *, MPI_Fint *, MPI_Fint *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
		  MPI_Fint *));
NAMES(iallgather, (void *, MPI_Fint *, MPI_Fint *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
		   MPI_Fint *, MPI_Fint *));
NAMES(gather, (void *, MPI_Fint *, MPI_Fint *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
	       MPI_Fint *, MPI_Fint *));
NAMES(igather, (void *, MPI_Fint *, MPI_Fint *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
		MPI_Fint *, MPI_Fint *, MPI_Fint *));

#else

/* mpi_f08 only */
#define NAMES(name, args)							\
	void mpi_##name##_f08_ args __attribute__((alias("f_" #name)))

#endif

NAMES(init, (MPI_Fint *));
NAMES(init_thread, (MPI_Fint *, MPI_Fint *, MPI_Fint *));
NAMES(finalize, (MPI_Fint *));
NAMES(barrier, (MPI_Fint *, MPI_Fint *));
NAMES(ibarrier, (MPI_Fint *, MPI_Fint *, MPI_Fint *));
#if PW_PERSISTENT
NAMES(barrier_init, (MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *));
#endif

/* a persistent request of ours may have come from C; starts do not change handles */
static void f_start(MPI_Fint *request, MPI_Fint *ierror)
{
	MPI_Request r = PMPI_Request_f2c(*request);

	done(ierror, MPI_Start(&r));
}

static void f_startall(MPI_Fint *n, MPI_Fint *requests, MPI_Fint *ierror)
{
	MPI_Request *r = calloc(*n > 0 ? *n : 1, sizeof(*r));
	int i;

	if (!r) {
		done(ierror, MPI_ERR_NO_MEM);
		return;
	}
	for (i = 0; i < *n; i++)
		r[i] = PMPI_Request_f2c(requests[i]);
	done(ierror, MPI_Startall(*n, r));
	free(r);
}

static void f_request_free(MPI_Fint *request, MPI_Fint *ierror)
{
	MPI_Request r = PMPI_Request_f2c(*request);
	int err = MPI_Request_free(&r);

	*request = PMPI_Request_c2f(r);
	done(ierror, err);
}

NAMES(start, (MPI_Fint *, MPI_Fint *));
NAMES(startall, (MPI_Fint *, MPI_Fint *, MPI_Fint *));
NAMES(request_free, (MPI_Fint *, MPI_Fint *));

/* Calls that test and wait ------------------------------------------------------- */

/* those of @n requests; NULL: there is none of ours */
static MPI_Request *requests(MPI_Fint n, const MPI_Fint *f)
{
	MPI_Request *r = NULL;
	int i;

	if (n > 0 && pw_request_known())
		r = calloc(n, sizeof(*r));
	for (i = 0; r && i < n; i++)
		r[i] = PMPI_Request_f2c(f[i]);
	return r;
}

static void wait_for(MPI_Fint n, const MPI_Fint *f)
{
	MPI_Request *r = requests(n, f);

	pw_request_wait(r ? n : 0, r);
	free(r);
}

/* the library has freed what has ended: an error of ours is one of this call */
static void after(MPI_Fint n, const MPI_Fint *f, MPI_Fint *ierror)
{
	MPI_Request *r;

	if (!ierror)
		return;
	r = requests(n, f);
	*ierror = pw_request_result(*ierror, r ? n : 0, r);
	free(r);
}

typedef void testany_t(MPI_Fint *n, MPI_Fint *f, MPI_Fint *index, MPI_Fint *flag, MPI_Fint *status,
		       MPI_Fint *ierror);
typedef void some_t(MPI_Fint *n, MPI_Fint *f, MPI_Fint *count, MPI_Fint *indices,
		    MPI_Fint *statuses, MPI_Fint *ierror);

/* while there are some of ours: true: one of all has ended, and the call is done */
static bool tested_any(testany_t *testany, MPI_Fint *n, MPI_Fint *f, MPI_Fint *index,
		       MPI_Fint *status, MPI_Fint *ierror)
{
	MPI_Request *r = requests(*n, f);
	MPI_Fint flag = 0, err = MPI_SUCCESS;

	pw_request_look();
	while (r && !flag && err == MPI_SUCCESS && pw_request_any(*n, r))
		testany(n, f, index, &flag, status, &err);
	free(r);
	done(ierror, err);
	return flag || err != MPI_SUCCESS;
}

static bool tested_some(some_t *testsome, MPI_Fint *n, MPI_Fint *f, MPI_Fint *count,
			MPI_Fint *indices, MPI_Fint *statuses, MPI_Fint *ierror)
{
	MPI_Request *r = requests(*n, f);
	MPI_Fint err = MPI_SUCCESS;

	*count = 0;
	pw_request_look();
	while (r && !*count && err == MPI_SUCCESS && pw_request_any(*n, r))
		testsome(n, f, count, indices, statuses, &err);
	free(r);
	done(ierror, err);
	return *count || err != MPI_SUCCESS;
}

/* the library's function of this name; the name is ours, too */
#define NEXT(name) ((typeof(name) *)dlsym(RTLD_NEXT, #name))

/*
 * What waits for one of some calls this again and again. mpi_testany_f08_ of Open MPI 6.0.0rc2
 * leaves its flag as the call before had it if nothing has ended. That of the older bindings
 * has arguments that look the same there.
 */
#ifdef OPEN_MPI
#define NEXT_TESTANY NEXT(mpi_testany_)
#else
#define NEXT_TESTANY NEXT(mpi_testany_f08_)
#endif

#define CALLS(b)								\
void mpi_wait_##b(MPI_Fint *f, MPI_Fint *status, MPI_Fint *ierror);		\
void mpi_wait_##b(MPI_Fint *f, MPI_Fint *status, MPI_Fint *ierror)		\
{										\
	wait_for(1, f);								\
	NEXT(mpi_wait_##b)(f, status, ierror);					\
	after(1, f, ierror);						\
}										\
										\
void mpi_waitall_##b(MPI_Fint *n, MPI_Fint *f, MPI_Fint *statuses, MPI_Fint *ierror); \
void mpi_waitall_##b(MPI_Fint *n, MPI_Fint *f, MPI_Fint *statuses, MPI_Fint *ierror) \
{										\
	wait_for(*n, f);							\
	NEXT(mpi_waitall_##b)(n, f, statuses, ierror);				\
	after(*n, f, ierror);						\
}										\
										\
void mpi_test_##b(MPI_Fint *f, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror); \
void mpi_test_##b(MPI_Fint *f, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror) \
{										\
	pw_request_look();							\
	NEXT(mpi_test_##b)(f, flag, status, ierror);				\
	after(1, f, ierror);						\
}										\
										\
void mpi_testall_##b(MPI_Fint *n, MPI_Fint *f, MPI_Fint *flag, MPI_Fint *statuses, \
		     MPI_Fint *ierror);						\
void mpi_testall_##b(MPI_Fint *n, MPI_Fint *f, MPI_Fint *flag, MPI_Fint *statuses, \
		     MPI_Fint *ierror)						\
{										\
	pw_request_look();							\
	NEXT(mpi_testall_##b)(n, f, flag, statuses, ierror);			\
	after(*n, f, ierror);						\
}										\
										\
testany_t mpi_testany_##b;							\
void mpi_testany_##b(MPI_Fint *n, MPI_Fint *f, MPI_Fint *index, MPI_Fint *flag,	\
		     MPI_Fint *status, MPI_Fint *ierror)			\
{										\
	pw_request_look();							\
	NEXT(mpi_testany_##b)(n, f, index, flag, status, ierror);		\
	after(*n, f, ierror);						\
}										\
										\
some_t mpi_testsome_##b;							\
void mpi_testsome_##b(MPI_Fint *n, MPI_Fint *f, MPI_Fint *count, MPI_Fint *indices, \
		      MPI_Fint *statuses, MPI_Fint *ierror)			\
{										\
	pw_request_look();							\
	NEXT(mpi_testsome_##b)(n, f, count, indices, statuses, ierror);		\
	after(*n, f, ierror);						\
}										\
										\
void mpi_waitany_##b(MPI_Fint *n, MPI_Fint *f, MPI_Fint *index, MPI_Fint *status, \
		     MPI_Fint *ierror);						\
void mpi_waitany_##b(MPI_Fint *n, MPI_Fint *f, MPI_Fint *index, MPI_Fint *status, \
		     MPI_Fint *ierror)						\
{										\
	if (!tested_any(NEXT_TESTANY, n, f, index, status, ierror))	\
		NEXT(mpi_waitany_##b)(n, f, index, status, ierror);		\
	after(*n, f, ierror);						\
}										\
										\
some_t mpi_waitsome_##b;							\
void mpi_waitsome_##b(MPI_Fint *n, MPI_Fint *f, MPI_Fint *count, MPI_Fint *indices, \
		      MPI_Fint *statuses, MPI_Fint *ierror)			\
{										\
	if (!tested_some(NEXT(mpi_testsome_##b), n, f, count, indices, statuses, ierror)) \
		NEXT(mpi_waitsome_##b)(n, f, count, indices, statuses, ierror);	\
	after(*n, f, ierror);						\
}										\
										\
void mpi_request_get_status_##b(MPI_Fint *f, MPI_Fint *flag, MPI_Fint *status,	\
				MPI_Fint *ierror);				\
void mpi_request_get_status_##b(MPI_Fint *f, MPI_Fint *flag, MPI_Fint *status,	\
				MPI_Fint *ierror)				\
{										\
	pw_request_look();							\
	NEXT(mpi_request_get_status_##b)(f, flag, status, ierror);		\
}

/* both names; those of MPICH without _f08 call MPI_* */
#ifdef OPEN_MPI
CALLS()
#endif
CALLS(f08_)

/* since MPI 4.1 */
#define LOOKS(b)								\
void mpi_request_get_status_all_##b(MPI_Fint *n, MPI_Fint *f, MPI_Fint *flag,	\
				    MPI_Fint *statuses, MPI_Fint *ierror);	\
void mpi_request_get_status_all_##b(MPI_Fint *n, MPI_Fint *f, MPI_Fint *flag,	\
				    MPI_Fint *statuses, MPI_Fint *ierror)	\
{										\
	pw_request_look();							\
	NEXT(mpi_request_get_status_all_##b)(n, f, flag, statuses, ierror);	\
}										\
										\
testany_t mpi_request_get_status_any_##b;					\
void mpi_request_get_status_any_##b(MPI_Fint *n, MPI_Fint *f, MPI_Fint *index,	\
				    MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror) \
{										\
	pw_request_look();							\
	NEXT(mpi_request_get_status_any_##b)(n, f, index, flag, status, ierror); \
}										\
										\
some_t mpi_request_get_status_some_##b;						\
void mpi_request_get_status_some_##b(MPI_Fint *n, MPI_Fint *f, MPI_Fint *count,	\
				     MPI_Fint *indices, MPI_Fint *statuses, MPI_Fint *ierror) \
{										\
	pw_request_look();							\
	NEXT(mpi_request_get_status_some_##b)(n, f, count, indices, statuses, ierror); \
}

#ifdef OPEN_MPI
LOOKS()
#endif
LOOKS(f08_)

/* Buffers that are descriptors --------------------------------------------------- */

#ifdef OPEN_MPI

/* CFI_cdesc_t of gfortran and flang: ISO_Fortran_binding.h comes with a compiler of Fortran */
struct cdesc {
	char *base;
	size_t elem_len;
	int version;
	unsigned char rank, kind[3];
	struct {
		ptrdiff_t lower, extent, step;
	} dim[];
};

/* the elements are one after another; the last extent of an assumed-size array is -1 */
static bool whole(const struct cdesc *d)
{
	ptrdiff_t step = d->elem_len;
	int i;

	for (i = 0; i < d->rank && d->dim[i].extent != -1; i++) {
		if (d->dim[i].extent != 1 && d->dim[i].step != step)
			return false;
		step *= d->dim[i].extent;
	}
	return true;
}

/* @count elements of a section are one of this type, which is to be freed */
static int section(const struct cdesc *d, MPI_Fint count, MPI_Fint t, MPI_Datatype *type)
{
	MPI_Aint *at = calloc(count > 0 ? count : 1, sizeof(*at));
	int i, k, err;

	if (!at)
		return MPI_ERR_NO_MEM;
	for (k = 0; k < count; k++) {
		ptrdiff_t rest = k;

		for (i = 0; i < d->rank; i++) {
			ptrdiff_t n = i == d->rank - 1 || d->dim[i].extent < 1 ?
				      rest + 1 : d->dim[i].extent;

			at[k] += rest % n * d->dim[i].step;
			rest /= n;
		}
	}
	err = PMPI_Type_create_hindexed_block(count, 1, at, PMPI_Type_f2c(t), type);
	free(at);
	return err == MPI_SUCCESS ? PMPI_Type_commit(type) : err;
}

/*
 * What a rank sends or broadcasts may be a section at one rank and not at another one, and all
 * must decide alike: @call has the type of the section then. Elsewhere a section is an error,
 * which is the library's.
 */
#define OF_SECTION(d, count, t, ierror, call)					\
do {										\
	MPI_Fint one = 1, section_t;						\
	MPI_Datatype type;							\
	int err = section(d, *(count), *(t), &type);				\
										\
	if (err != MPI_SUCCESS) {						\
		done(ierror, err);						\
	} else {								\
		section_t = PMPI_Type_c2f(type);				\
		call;								\
		PMPI_Type_free(&type);						\
	}									\
} while (0)

#define DESCRIBED(name, params, given, plain)					\
void ompi_##name##_wrapper_f08 params;						\
void ompi_##name##_wrapper_f08 params						\
{										\
	if (whole(in) && whole(out))						\
		f_##name plain;							\
	else									\
		NEXT(ompi_##name##_wrapper_f08) given;				\
}

#define DESCRIBED_REDUCTION(name)						\
DESCRIBED(name, (struct cdesc *in, struct cdesc *out, MPI_Fint *count, MPI_Fint *t, \
		 MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ierror), \
	  (in, out, count, t, op, comm, ierror),				\
	  (in->base, out->base, count, t, op, comm, ierror))			\
DESCRIBED(i##name, (struct cdesc *in, struct cdesc *out, MPI_Fint *count, MPI_Fint *t, \
		    MPI_Fint *op, MPI_Fint *comm, MPI_Fint *r, MPI_Fint *ierror), \
	  (in, out, count, t, op, comm, r, ierror),				\
	  (in->base, out->base, count, t, op, comm, r, ierror))

DESCRIBED_REDUCTION(allreduce)
DESCRIBED_REDUCTION(scan)
DESCRIBED_REDUCTION(exscan)
DESCRIBED_REDUCTION(reduce_scatter_block)
DESCRIBED(reduce_scatter, (struct cdesc *in, struct cdesc *out, MPI_Fint *counts,
			   MPI_Fint *t, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ierror),
	  (in, out, counts, t, op, comm, ierror),
	  (in->base, out->base, counts, t, op, comm, ierror))
DESCRIBED(ireduce_scatter, (struct cdesc *in, struct cdesc *out, MPI_Fint *counts,
			    MPI_Fint *t, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *r,
			    MPI_Fint *ierror),
	  (in, out, counts, t, op, comm, r, ierror),
	  (in->base, out->base, counts, t, op, comm, r, ierror))
DESCRIBED(reduce, (struct cdesc *in, struct cdesc *out, MPI_Fint *count, MPI_Fint *t,
		   MPI_Fint *op, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror),
	  (in, out, count, t, op, root, comm, ierror),
	  (in->base, out->base, count, t, op, root, comm, ierror))
DESCRIBED(ireduce, (struct cdesc *in, struct cdesc *out, MPI_Fint *count, MPI_Fint *t,
		    MPI_Fint *op, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *r, MPI_Fint *ierror),
	  (in, out, count, t, op, root, comm, r, ierror),
	  (in->base, out->base, count, t, op, root, comm, r, ierror))

#define DESCRIBED_SENT(name, params, given, plain, of_section)			\
void ompi_##name##_wrapper_f08 params;						\
void ompi_##name##_wrapper_f08 params						\
{										\
	if (!whole(out))							\
		NEXT(ompi_##name##_wrapper_f08) given;				\
	else if (whole(in))							\
		f_##name plain;							\
	else									\
		OF_SECTION(in, n, t, ierror, f_##name of_section);		\
}

DESCRIBED_SENT(allgather, (struct cdesc *in, MPI_Fint *n, MPI_Fint *t, struct cdesc *out,
			   MPI_Fint *m, MPI_Fint *u, MPI_Fint *comm, MPI_Fint *ierror),
	       (in, n, t, out, m, u, comm, ierror),
	       (in->base, n, t, out->base, m, u, comm, ierror),
	       (in->base, &one, &section_t, out->base, m, u, comm, ierror))
DESCRIBED_SENT(iallgather, (struct cdesc *in, MPI_Fint *n, MPI_Fint *t,
			    struct cdesc *out, MPI_Fint *m, MPI_Fint *u, MPI_Fint *comm, MPI_Fint *r,
			    MPI_Fint *ierror),
	       (in, n, t, out, m, u, comm, r, ierror),
	       (in->base, n, t, out->base, m, u, comm, r, ierror),
	       (in->base, &one, &section_t, out->base, m, u, comm, r, ierror))
DESCRIBED_SENT(gather, (struct cdesc *in, MPI_Fint *n, MPI_Fint *t, struct cdesc *out,
			MPI_Fint *m, MPI_Fint *u, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror),
	       (in, n, t, out, m, u, root, comm, ierror),
	       (in->base, n, t, out->base, m, u, root, comm, ierror),
	       (in->base, &one, &section_t, out->base, m, u, root, comm, ierror))
DESCRIBED_SENT(igather, (struct cdesc *in, MPI_Fint *n, MPI_Fint *t, struct cdesc *out,
			 MPI_Fint *m, MPI_Fint *u, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *r,
			 MPI_Fint *ierror),
	       (in, n, t, out, m, u, root, comm, r, ierror),
	       (in->base, n, t, out->base, m, u, root, comm, r, ierror),
	       (in->base, &one, &section_t, out->base, m, u, root, comm, r, ierror))

#if PW_PERSISTENT
#define DESCRIBED_PERSISTENT(name)						\
DESCRIBED(name##_init, (struct cdesc *in, struct cdesc *out, MPI_Fint *count, MPI_Fint *t, \
			MPI_Fint *op, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *r,	\
			MPI_Fint *ierror),					\
	  (in, out, count, t, op, comm, info, r, ierror),			\
	  (in->base, out->base, count, t, op, comm, info, r, ierror))

DESCRIBED_PERSISTENT(allreduce)
DESCRIBED_PERSISTENT(scan)
DESCRIBED_PERSISTENT(exscan)
DESCRIBED_PERSISTENT(reduce_scatter_block)
DESCRIBED(reduce_scatter_init, (struct cdesc *in, struct cdesc *out, MPI_Fint *counts,
				MPI_Fint *t, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *info,
				MPI_Fint *r, MPI_Fint *ierror),
	  (in, out, counts, t, op, comm, info, r, ierror),
	  (in->base, out->base, counts, t, op, comm, info, r, ierror))
DESCRIBED(reduce_init, (struct cdesc *in, struct cdesc *out, MPI_Fint *count, MPI_Fint *t,
			MPI_Fint *op, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *r,
			MPI_Fint *ierror),
	  (in, out, count, t, op, root, comm, info, r, ierror),
	  (in->base, out->base, count, t, op, root, comm, info, r, ierror))
DESCRIBED_SENT(allgather_init, (struct cdesc *in, MPI_Fint *n, MPI_Fint *t, struct cdesc *out,
				MPI_Fint *m, MPI_Fint *u, MPI_Fint *comm, MPI_Fint *info,
				MPI_Fint *r, MPI_Fint *ierror),
	       (in, n, t, out, m, u, comm, info, r, ierror),
	       (in->base, n, t, out->base, m, u, comm, info, r, ierror),
	       (in->base, &one, &section_t, out->base, m, u, comm, info, r, ierror))
DESCRIBED_SENT(gather_init, (struct cdesc *in, MPI_Fint *n, MPI_Fint *t, struct cdesc *out,
			     MPI_Fint *m, MPI_Fint *u, MPI_Fint *root, MPI_Fint *comm,
			     MPI_Fint *info, MPI_Fint *r, MPI_Fint *ierror),
	       (in, n, t, out, m, u, root, comm, info, r, ierror),
	       (in->base, n, t, out->base, m, u, root, comm, info, r, ierror),
	       (in->base, &one, &section_t, out->base, m, u, root, comm, info, r, ierror))

void ompi_bcast_init_wrapper_f08(struct cdesc *in, MPI_Fint *n, MPI_Fint *t, MPI_Fint *root,
				 MPI_Fint *comm, MPI_Fint *info, MPI_Fint *r, MPI_Fint *ierror);
void ompi_bcast_init_wrapper_f08(struct cdesc *in, MPI_Fint *n, MPI_Fint *t, MPI_Fint *root,
				 MPI_Fint *comm, MPI_Fint *info, MPI_Fint *r, MPI_Fint *ierror)
{
	if (whole(in))
		f_bcast_init(in->base, n, t, root, comm, info, r, ierror);
	else
		OF_SECTION(in, n, t, ierror,
			   f_bcast_init(in->base, &one, &section_t, root, comm, info, r, ierror));
}
#endif

void ompi_bcast_wrapper_f08(struct cdesc *in, MPI_Fint *n, MPI_Fint *t, MPI_Fint *root,
			    MPI_Fint *comm, MPI_Fint *ierror);
void ompi_bcast_wrapper_f08(struct cdesc *in, MPI_Fint *n, MPI_Fint *t, MPI_Fint *root,
			    MPI_Fint *comm, MPI_Fint *ierror)
{
	if (whole(in))
		f_bcast(in->base, n, t, root, comm, ierror);
	else
		OF_SECTION(in, n, t, ierror,
			   f_bcast(in->base, &one, &section_t, root, comm, ierror));
}

void ompi_ibcast_wrapper_f08(struct cdesc *in, MPI_Fint *n, MPI_Fint *t, MPI_Fint *root,
			     MPI_Fint *comm, MPI_Fint *r, MPI_Fint *ierror);
void ompi_ibcast_wrapper_f08(struct cdesc *in, MPI_Fint *n, MPI_Fint *t, MPI_Fint *root,
			     MPI_Fint *comm, MPI_Fint *r, MPI_Fint *ierror)
{
	if (whole(in))
		f_ibcast(in->base, n, t, root, comm, r, ierror);
	else
		OF_SECTION(in, n, t, ierror,
			   f_ibcast(in->base, &one, &section_t, root, comm, r, ierror));
}

#endif

#endif
