#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: libpwmpi on a ring in shared memory (shm_ring.c): 200 random collectives
# on 2, 4, 8 and 16 ranks and several communicators, which come and go, give what they
# give without it. selftests/mpi.sh does it on the module's ring, with fewer of them.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
build=${1:-$top/build}
if ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null; then
	echo "1..0 # SKIP Open MPI is not installed"
	exit 4
fi
# shellcheck source=SCRIPTDIR/../../../scripts/lib/tap
. "$top/scripts/lib/tap"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
OMPI_CC=gcc mpicc -std=gnu11 -g -O2 -Wall -D_GNU_SOURCE -fPIC -shared -I"$top/uapi" -I"$top/tools/lib" \
	-o "$tmp/libpwmpi.so" "$top/tools/mpi/pwmpi.c" "$top/tools/testing/mpi/shm_ring.c" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PW_SHM_RING=$tmp/ring

# ranks N ARGUMENT...: mpi_check with so many
ranks() {
	local np=$1

	shift
	: >"$PW_SHM_RING"
	timeout 120 mpirun --oversubscribe --bind-to none --mca btl self,vader --mca mpi_yield_when_idle 1 \
		-np "$np" -x PW_COLL -x LD_PRELOAD="$tmp/libpwmpi.so" "$build/mpi_check" "$@" >"$tmp/out" 2>&1
}

count=$((200 * ${PW_SCALE:-100} / 100))
[ $count -ge 200 ] || count=200
export PW_COLL=force
for np in 2 4 8 16; do
	ranks $np $count $np
	tap_is "$np ranks: $count random collectives" "$(grep differ "$tmp/out")" "$count collectives, 0 differ" ||
		tail -n 20 "$tmp/out" | sed 's/^/# /'
	tap_ok "$np ranks: they were on the ring" grep -qE '^pwmpi: [1-9][0-9]+ of [0-9]+ collectives on the ring,' "$tmp/out"
	grep '^pwmpi' "$tmp/out" | sed 's/^/# /'
done
PW_COLL=off ranks 2 20
tap_ok "PW_COLL=off: none" grep -qE '^pwmpi: 0 of [0-9]+ collectives on the ring \(PW_COLL=off\)$' "$tmp/out"
PW_SHM_RING='' PW_COLL=probe
export PW_SHM_RING PW_COLL
timeout 60 mpirun --oversubscribe -np 2 -x LD_PRELOAD="$tmp/libpwmpi.so" "$build/mpi_check" 20 >"$tmp/out" 2>&1
tap_ok "no station: nothing on the ring, and why" \
	grep -qE '^pwmpi: 0 of [0-9]+ collectives on the ring \(no station of ours here\)$' "$tmp/out"
tap_is "and the results are right" "$(grep differ "$tmp/out")" "20 collectives, 0 differ"
PW_COLL=force
timeout 60 mpirun --oversubscribe -np 2 -x LD_PRELOAD="$tmp/libpwmpi.so" "$build/mpi_check" 20 >"$tmp/out" 2>&1
tap_ok "forced, it is an error" grep -q '^pwmpi: PW_COLL=force, but no station of ours here' "$tmp/out"
tap_done
