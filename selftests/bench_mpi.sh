#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# MPI_Allreduce of one 8-byte integer, 8 ranks on 8 stations: on the ring, and the
# same binary over TCP on pw0. Time is that of a guest that counts instructions.

. "$(dirname "$0")/lib.sh"
pw_need pwctl pwrun mpirun mpi_check

pwctl lab up "$PW_SELFTESTS/../Documentation/labs/ring8.yaml" || exit 1
pwctl san set 0 engine none	# TCP is to be no slower than it can be
us() { sed -n 's/^allreduce of 8 bytes, 8 ranks: \([0-9.]*\) us, sum 36$/\1/p'; }
ring=$(PW_COLL=force pwrun -np 8 mpi_check time 100 2>&1 | us)
tcp=$(PW_COLL=off pwrun -np 8 mpi_check time 100 2>&1 | us)
pwctl lab down
if [ -z "$ring" ] || [ -z "$tcp" ]; then
	echo "no result (ring \"$ring\", TCP \"$tcp\")"
	exit 1
fi
awk -v r="$ring" -v t="$tcp" 'BEGIN {
	printf "allreduce of 8 bytes, 8 ranks: ring %.1f us, TCP %.1f us: %.2fx (must: <= 0.50x, aim: 0.25x)\n", r, t, r / t
	exit r / t > 0.5
}'
