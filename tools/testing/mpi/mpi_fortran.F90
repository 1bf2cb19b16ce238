! SPDX-License-Identifier: GPL-2.0
! Seven collectives, by the binding that BINDING says: 0 mpif.h, 1 "use mpi", 2 "use mpi_f08".
program mpi_fortran
#if BINDING == 1
  use mpi
#elif BINDING == 2
  use mpi_f08
#endif
  implicit none
#if BINDING == 0
  include 'mpif.h'
#endif
  integer :: rank, n, ierr, total, bad
  integer(kind=8) :: wide
  double precision :: x, s
  complex :: c, cs

  bad = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (total /= n * (n - 1) / 2) bad = bad + 1
  total = rank
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
  if (total /= n - 1) bad = bad + 1
  x = rank + 0.5d0
  call MPI_Allreduce(x, s, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (s /= n * n / 2.0d0) bad = bad + 1
  c = cmplx(rank, 1)
  call MPI_Allreduce(c, cs, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (cs /= cmplx(n * (n - 1) / 2, n)) bad = bad + 1
  wide = -rank
  if (rank == 1) wide = 77
  call MPI_Bcast(wide, 1, MPI_INTEGER8, 1, MPI_COMM_WORLD, ierr)
  if (wide /= 77) bad = bad + 1
  total = -1
  call MPI_Reduce(rank, total, 1, MPI_INTEGER, MPI_MIN, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. total /= 0) bad = bad + 1
  if (ierr /= MPI_SUCCESS .or. bad /= 0) print '(a,i0,a,i0)', 'rank ', rank, ': wrong: ', bad
  call MPI_Finalize(ierr)
end program
