! SPDX-License-Identifier: GPL-2.0
! 23 collectives, ten of which do not wait, by the binding that BINDING says: 0 mpif.h, 1 "use mpi", 2 "use mpi_f08".
! With PERSISTENT 20 more: ten that are persistent, each started twice.
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
  integer, allocatable, asynchronous :: mine(:), all(:), block(:)
  integer, asynchronous :: ia, ib, ic, id, ie, ig, ih
  integer :: counts(64), i, k, outcount, indices(10)
  logical :: flag
#if BINDING == 2
  type(MPI_Request) :: r(10)
  type(MPI_Status) :: st
#else
  integer :: r(10), st(MPI_STATUS_SIZE)
#endif

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

  ! parts and blocks
  allocate(mine(n), all(n), block(n))
  mine = [(rank + i, i = 1, n)]
  call MPI_Scan(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (total /= rank * (rank + 1) / 2) bad = bad + 1
  total = 0
  call MPI_Exscan(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank > 0 .and. total /= rank * (rank - 1) / 2) bad = bad + 1
  call MPI_Reduce_scatter_block(mine, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (total /= n * (n - 1) / 2 + n * (rank + 1)) bad = bad + 1
  counts = 1
  call MPI_Reduce_scatter(mine, total, counts, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
  if (total /= n + rank) bad = bad + 1
  all = -1
  call MPI_Allgather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  if (any(all /= [(i, i = 0, n - 1)])) bad = bad + 1
  all = -1
  call MPI_Gather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
  if (rank == 1 .and. any(all /= [(i, i = 0, n - 1)])) bad = bad + 1

  ! what does not wait, by all calls that wait
  call MPI_Ibarrier(MPI_COMM_WORLD, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call MPI_Iallreduce(rank, ia, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(1), ierr)
  ib = rank
  if (rank == 2) ib = 99
  call MPI_Ibcast(ib, 1, MPI_INTEGER, 2, MPI_COMM_WORLD, r(2), ierr)
  call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierr)
  if (ia /= n * (n - 1) / 2 .or. ib /= 99) bad = bad + 1
  call MPI_Ireduce(rank, ic, 1, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, r(1), ierr)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(r(1), flag, st, ierr)
  end do
  if (rank == 0 .and. ic /= n - 1) bad = bad + 1
  call MPI_Iscan(rank, id, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Iexscan(rank, ie, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(2), ierr)
  do i = 1, 2
    call MPI_Waitany(2, r, k, st, ierr)
  end do
  if (id /= rank * (rank + 1) / 2) bad = bad + 1
  if (rank > 0 .and. ie /= rank * (rank - 1) / 2) bad = bad + 1
  call MPI_Ireduce_scatter_block(mine, ig, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(1), ierr)
  all = -1
  call MPI_Iallgather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, r(2), ierr)
  i = 0
  do while (i < 2)
    call MPI_Waitsome(2, r, outcount, indices, MPI_STATUSES_IGNORE, ierr)
    i = i + outcount
  end do
  if (ig /= n * (n - 1) / 2 + n * (rank + 1)) bad = bad + 1
  if (any(all /= [(i, i = 0, n - 1)])) bad = bad + 1
  all = -1
  call MPI_Igather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, r(1), ierr)
  flag = .false.
  do while (.not. flag)
    call MPI_Testall(1, r, flag, MPI_STATUSES_IGNORE, ierr)
  end do
  if (rank == 1 .and. any(all /= [(i, i = 0, n - 1)])) bad = bad + 1
  call MPI_Ireduce_scatter(mine, ih, counts, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  if (ih /= n + rank) bad = bad + 1
#ifdef PERSISTENT
  call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, r(1), ierr)
  call MPI_Bcast_init(ib, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, MPI_INFO_NULL, r(2), ierr)
  call MPI_Allreduce_init(mine, ia, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r(3), ierr)
  call MPI_Reduce_init(mine, ic, 1, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, MPI_INFO_NULL, r(4), ierr)
  call MPI_Scan_init(mine, id, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r(5), ierr)
  call MPI_Exscan_init(mine, ie, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r(6), ierr)
  call MPI_Reduce_scatter_block_init(mine, ig, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r(7), ierr)
  call MPI_Allgather_init(mine, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r(8), ierr)
  call MPI_Gather_init(mine, 1, MPI_INTEGER, block, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, MPI_INFO_NULL, r(9), ierr)
  call MPI_Reduce_scatter_init(mine, ih, counts, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, r(10), ierr)
  do k = 1, 2
    mine = [(k * (rank + i - 1), i = 1, n)]
    ib = -1
    if (rank == 1) ib = 50 + k
    all = -1
    block = -1
    if (k == 1) then
      call MPI_Startall(10, r, ierr)
    else
      do i = 10, 1, -1
        call MPI_Start(r(i), ierr)
      end do
    end if
    call MPI_Waitall(10, r, MPI_STATUSES_IGNORE, ierr)
    if (ib /= 50 + k .or. ia /= k * n * (n - 1) / 2) bad = bad + 1
    if (rank == 0 .and. ic /= k * (n - 1)) bad = bad + 1
    if (id /= k * rank * (rank + 1) / 2) bad = bad + 1
    if (rank > 0 .and. ie /= k * rank * (rank - 1) / 2) bad = bad + 1
    if (ig /= k * (n * (n - 1) / 2 + n * rank)) bad = bad + 1
    if (ih /= k * (n - 1 + rank)) bad = bad + 1
    if (any(all /= [(k * i, i = 0, n - 1)])) bad = bad + 1
    if (rank == 1 .and. any(block /= [(k * i, i = 0, n - 1)])) bad = bad + 1
  end do
  do i = 1, 10
    call MPI_Request_free(r(i), ierr)
    if (r(i) /= MPI_REQUEST_NULL) bad = bad + 1
  end do
#endif
  if (ierr /= MPI_SUCCESS .or. bad /= 0) print '(a,i0,a,i0)', 'rank ', rank, ': wrong: ', bad
  call MPI_Finalize(ierr)
end program
