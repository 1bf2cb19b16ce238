#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: what ../mpi/run.sh does with Open MPI, with MPICH and its Hydra: libpwmpi on a
# ring in shared memory. MPICH is that of scripts/pkg/mpich-root, if it was unpacked. Calls
# that MPI forbids are not tried: Debian's MPICH does not look for them and crashes.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
root=$("$top/scripts/pkg/mpich-root" --look 2>/dev/null) || {
	echo "1..0 # SKIP MPICH was not unpacked (scripts/pkg/mpich-root)"
	exit 4
}
# shellcheck source=SCRIPTDIR/../../../scripts/lib/tap
. "$top/scripts/lib/tap"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
header=$(find "$root/usr" -name mpi.h -path '*mpich*' | head -n 1)
lib=$(dirname "$(find "$root/usr/lib" -name 'libmpich.so.*' | head -n 1)")
export LD_LIBRARY_PATH=$lib PATH=$root/usr/bin:$PATH PW_SHM_RING=$tmp/ring PW_COLL=force

# cc ARGUMENT...: as mpicc would, which knows only where it is installed
cc() {
	gcc -std=gnu11 -g -O2 -Wall -D_GNU_SOURCE -I"${header%/*}" -I"$top/uapi" -I"$top/tools/lib" -I"$top/tools/mpi" "$@" \
		-L"$lib" -lmpich -pthread
}
src=$top/tools/testing/mpi
if ! cc -fPIC -shared -o "$tmp/libpwmpi.so" "$top"/tools/mpi/{pwmpi,fortran,request}.c "$top/tools/lib/exact.c" "$src/shm_ring.c" ||
   ! cc -o "$tmp/mpi_check" "$src/mpi_check.c" "$top/tools/lib/exact.c" ||
   ! cc -o "$tmp/mpi_wrong" "$src/mpi_wrong.c" ||
   ! cc -o "$tmp/mpi_threads" "$src/mpi_threads.c"; then
	exit 1
fi

# whatever it costs, as much as possible is to be right on the ring
export PW_COLL_MAX=4096

# run N PROGRAM ARGUMENT...: so many ranks
run() {
	local np=$1 prog=$2

	shift 2
	: >"$PW_SHM_RING"
	timeout 300 mpiexec.hydra -launcher fork -n "$np" -env LD_PRELOAD "$tmp/libpwmpi.so" "$tmp/$prog" "$@" >"$tmp/out" 2>&1 </dev/null
}

# check WHAT N PROGRAM ARGUMENT...: nothing differs, and some went to the ring
check() {
	local what=$1

	shift
	run "$@"
	tap_ok "$what: 0 differ" grep -qE '^[0-9]+ .*, 0 differ' "$tmp/out" || tail -n 20 "$tmp/out" | sed 's/^/# /'
	tap_ok "$what: some on the ring" grep -qE '^pwmpi: [1-9][0-9]* of [0-9]+ collectives on the ring' "$tmp/out"
	grep '^pwmpi' "$tmp/out" | sed 's/^/# /'
}

for np in 2 5; do
	check "$np ranks: random collectives" $np mpi_check 200 $np
	check "$np ranks: logical operations and places" $np mpi_check logic 200 $np
	check "$np ranks: small blocks" $np mpi_check parts 200 $np
done
PW_FLOAT=exact check "3 ranks: floating-point numbers" 3 mpi_check float 100
check "5 ranks: sums of integers of 32 bits" 5 mpi_check sums 100 5
check "3 ranks: threads" 3 mpi_threads 50

# persistent forms: each has a group bit, while some are left
for np in 2 3 5; do
	run $np mpi_check persistent
	tap_is "$np ranks: persistent forms: right, and counted" "$(grep -E 'differ|pwmpi' "$tmp/out" | sort)" \
		"$(printf 'persistent collectives, 0 differ\npwmpi: 74 of 116 collectives on the ring, not for their non-blocking or persistent form: 42')"
done
run 3 mpi_check counts
tap_is "counts of two types: all on the ring, and right" "$(grep -E 'differ|pwmpi' "$tmp/out" | sort)" \
	"$(printf 'counts of two types, 0 differ\npwmpi: 9 of 9 collectives on the ring')"
: >"$PW_SHM_RING"
# Hydra ends all as soon as it sees that one has died: its shell stays until the others are through
# shellcheck disable=SC2016 # expanded in there
timeout 300 mpiexec.hydra -launcher fork -n 3 -env LD_PRELOAD "$tmp/libpwmpi.so" sh -c '
	if "$0" persistent 20; then
		>"$1.$PMI_RANK"
	else
		for i in $(seq 1000); do
			[ ! -e "$1.0" ] || [ ! -e "$1.2" ] || break
			sleep 0.1
		done
	fi' "$tmp/mpi_wrong" "$tmp/through" >"$tmp/out" 2>&1 </dev/null
other=$(sed -n 's/^rank 0: class [0-9]* in round 20, then \([0-9]*\)$/\1/p' "$tmp/out")
tap_is "a rank dies in a persistent sum: the others get an error, once and at each start after it" \
	"$(grep -E '^rank .*(class|WRONG)' "$tmp/out" | sort)" \
	"$(printf 'rank %s: class '"$other"' in round 20, then '"$other"'\n' 0 2)" || tail -n 20 "$tmp/out" | sed 's/^/# /'
check "4 ranks: collectives that do not wait" 4 mpi_check later 50

# Fortran, all three bindings, as with Open MPI
if command -v gfortran >/dev/null; then
	for binding in 0 1 2; do
		name=$(set -- mpif.h "use mpi" "use mpi_f08"; shift $binding; echo "$1")
		if ! gfortran -DBINDING=$binding -DPERSISTENT -fallow-argument-mismatch -fallow-invalid-boz -I"${header%/*}" -J "$tmp" -o "$tmp/fortran" \
			"$src/mpi_fortran.F90" -L"$lib" -lmpichfort -lmpich >"$tmp/out" 2>&1; then
			tap_skip "Fortran, $name" "it does not compile here: $(tail -n 1 "$tmp/out")"
			continue
		fi
		run 3 fortran
		tap_is "Fortran, $name: all on the ring, and right" "$(grep -E 'pwmpi|wrong' "$tmp/out")" "pwmpi: 43 of 43 collectives on the ring"
	done
else
	tap_skip "Fortran" "no compiler"
fi

# pwrun by Hydra: three network namespaces with an interface pw0 each, joined by a bridge, stand
# for the stations. The ring is that in shared memory.
cat >"$tmp/pwctl" <<-'END'
	#!/bin/bash
	case "$1 $2" in
	"lab show") printf 'station %s: lab x ...\n' s1 s2 s3 ;;
	"lab exec")
		echo "$3" >>"$LOG"
		station=${3#*/}
		shift 3
		exec ip netns exec "$station" "$@"
		;;
	esac
END
# stations DIRECTORY COMMAND...
cat >"$tmp/stations" <<-'END'
	#!/bin/bash
	mount -t tmpfs none /run && mkdir /run/netns && ip link set lo up && ip link add stations type bridge && ip link set stations up || exit 9
	for i in 1 2 3; do
		ip netns add s$i && ip link add x$i type veth peer name pw0 netns s$i && ip link set x$i master stations up &&
			ip -n s$i link set lo up && ip -n s$i addr add 10.77.0.$i/24 dev pw0 && ip -n s$i link set pw0 up || exit 9
	done
	"$@"
END
chmod 755 "$tmp/pwctl" "$tmp/stations"
ln -s "$root/usr/bin/mpiexec.hydra" "$tmp/mpirun"
ln -s "$root/usr/bin/hydra_pmi_proxy" "$tmp/hydra_pmi_proxy"
install -m 755 "$top/tools/mpi/pwrun" "$tmp/pwrun"

# stations COMMAND...: its output in $tmp/out. A rank gets the name of the ring from its environment.
stations() {
	: >"$PW_SHM_RING"
	LOG=$tmp/log PATH=$tmp:$PATH timeout 300 unshare -rnm "$tmp/stations" "$@" >"$tmp/out" 2>&1 </dev/null
}

stations true
if [ $? = 9 ]; then
	tap_skip "pwrun by Hydra" "no stations can be made here: $(tail -n 1 "$tmp/out")"
	tap_done
fi
: >"$tmp/log"
# shellcheck disable=SC2016 # expanded in there
PW_COLL_MAX=77 stations pwrun -np 3 sh -c 'echo rank $PMI_RANK $PW_COLL_MAX ${LD_PRELOAD##*/}'
tap_is "pwrun by Hydra: three ranks with the library and its variables" "$(sort "$tmp/out" | tr '\n' ' ')" \
	"rank 0 77 libpwmpi.so rank 1 77 libpwmpi.so rank 2 77 libpwmpi.so "
tap_is "pwrun by Hydra: a proxy at each station" "$(sort -u "$tmp/log" | tr '\n' ' ')" "x/s1 x/s2 x/s3 "
stations pwrun -np 3 "$tmp/mpi_check" 50
tap_is "pwrun by Hydra: a job ends" $? 0
tap_is "pwrun by Hydra: random collectives" "$(grep differ "$tmp/out")" "50 collectives, 0 differ" ||
	tail -n 20 "$tmp/out" | sed 's/^/# /'
tap_ok "pwrun by Hydra: some on the ring" grep -qE '^pwmpi: [1-9][0-9]* of [0-9]+ collectives on the ring' "$tmp/out"
# without what libpwmpi does about it, some of these hang
for mode in force off force off; do
	PW_COLL=$mode stations pwrun -np 3 "$tmp/mpi_check" late
	tap_is "pwrun by Hydra, PW_COLL=$mode: ranks wait for one that is late in MPI_Finalize()" "$? $(grep late "$tmp/out")" \
		"0 3 ranks, one of them late"
	grep '^pwmpi' "$tmp/out" | sed 's/^/# /'
done
tap_done
