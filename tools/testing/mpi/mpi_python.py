#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Collectives of mpi4py, which asks for MPI_THREAD_MULTIPLE; says how many were wrong."""
from array import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, n = comm.Get_rank(), comm.Get_size()
wrong = 0
for i in range(50):
    comm.Barrier()
    mine, total = array("l", [rank + i, -rank]), array("l", [0, 0])
    comm.Allreduce([mine, MPI.LONG], [total, MPI.LONG], op=MPI.SUM)
    wrong += list(total) != [n * (n - 1) // 2 + n * i, -(n * (n - 1) // 2)]
    word = array("q", [i if rank == i % n else -1])
    comm.Bcast([word, MPI.INT64_T], root=i % n)
    wrong += word[0] != i
wrong = MPI.COMM_WORLD.reduce(wrong)
if rank == 0:
    print(f"thread level {MPI.Query_thread()}, {wrong} wrong")
