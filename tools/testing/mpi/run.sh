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
	-pthread -o "$tmp/libpwmpi.so" "$top/tools/mpi/pwmpi.c" "$top/tools/mpi/fortran.c" "$top/tools/mpi/request.c" "$top/tools/lib/exact.c" \
	"$top/tools/testing/mpi/shm_ring.c" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PW_SHM_RING=$tmp/ring

# mpi ARGUMENT...: mpirun with a directory of its own; jobs that share one remove it while
# others start
mpi() {
	OMPI_MCA_orte_tmpdir_base=$(mktemp -d -p "$tmp") timeout 300 mpirun "$@"
}

# run N PROGRAM ARGUMENT...: so many ranks
run() {
	local np=$1 prog=$2

	shift 2
	mpi --oversubscribe --bind-to none --mca btl self,vader --mca mpi_yield_when_idle 1 \
		-np "$np" -x PW_COLL ${PW_COLL_MAX:+-x PW_COLL_MAX} ${PW_COLL_REGS:+-x PW_COLL_REGS} ${PW_FLOAT:+-x PW_FLOAT} ${PW_COLL_LOG:+-x PW_COLL_LOG} -x LD_PRELOAD="$tmp/libpwmpi.so" "$build/$prog" "$@"
}

# ends N PROGRAM ARGUMENT...: its status, and its output in $tmp/out. Open MPI 4.1 crashes
# now and then when a program ends, with and without this library: a thread that it has
# cancelled unwinds through a plug-in that it has unloaded. That run is repeated.
ends() {
	local i status

	for i in 1 2 3; do
		run "$@" >"$tmp/out" 2>&1
		status=$?
		[ $status = 139 ] || break
		echo "# Open MPI crashed at its end, run $i" >&2
	done
	echo $status
}

# ranks N ARGUMENT...: mpi_check with so many
ranks() {
	local np=$1

	shift
	: >"$PW_SHM_RING"
	run "$np" mpi_check "$@" >"$tmp/out" 2>&1
}

count=$((200 * ${PW_SCALE:-100} / 100))
[ $count -ge 200 ] || count=200
# whatever it costs, as much as possible is to be right on the ring
export PW_COLL=force PW_COLL_MAX=4096
for np in 2 4 8 16; do
	ranks $np $count $np
	tap_is "$np ranks: $count random collectives" "$(grep differ "$tmp/out")" "$count collectives, 0 differ" ||
		tail -n 20 "$tmp/out" | sed 's/^/# /'
	tap_ok "$np ranks: they were on the ring" grep -qE '^pwmpi: [1-9][0-9]+ of [0-9]+ collectives on the ring,' "$tmp/out"
	grep '^pwmpi' "$tmp/out" | sed 's/^/# /'
done
for np in 2 5; do
	: >"$PW_SHM_RING"
	run $np mpi_wrong >"$tmp/out" 2>&1
	tap_ok "$np ranks: forbidden calls get what MPI says" grep -qE '[0-9]+ calls, 0 differ$' "$tmp/out" ||
		tail -n 20 "$tmp/out" | sed 's/^/# /'
done
tap_is "a program without collectives" "$(PW_COLL=probe ends 2 mpi_wrong idle)" 0
status=$(ends 2 mpi_wrong idle)
tap_is "forced, a program without collectives fails" \
	"$status $(grep -o 'force, but no collective of this program' "$tmp/out" | head -n 1)" "1 force, but no collective of this program"
tap_is "a program that calls PMPI_*" "$(PW_COLL=probe ends 2 mpi_wrong pmpi)" 0
status=$(ends 2 mpi_wrong pmpi)
tap_is "forced, a program that calls PMPI_* fails" \
	"$status $(grep -o 'force, but nothing of this program' "$tmp/out" | head -n 1)" "1 force, but nothing of this program"

: >"$PW_SHM_RING"
tap_is "a broadcast of 24 bytes is on the ring" "$(run 2 mpi_wrong bcast 24 2>&1 | grep pwmpi)" \
	"pwmpi: 10 of 10 collectives on the ring"
tap_is "a broadcast of 1 KiB is not" "$(run 2 mpi_wrong bcast 1024 2>&1 | grep pwmpi)" \
	"pwmpi: 0 of 10 collectives on the ring, not for their size: 10"

# at four ranks up to 20 words cost less than the 8 messages of an allreduce
tap_is "an allreduce of 8 bytes is on the ring" "$(PW_COLL_MAX='' run 4 mpi_check time 10 2>&1 | grep pwmpi)" \
	"pwmpi: 20 of 20 collectives on the ring"
tap_is "one of 1 KiB is not" "$(PW_COLL_MAX='' run 4 mpi_check time 10 u64 128 2>&1 | grep pwmpi)" \
	"pwmpi: 0 of 20 collectives on the ring, not for their size: 20"
tap_is "unless the user wants it" "$(run 4 mpi_check time 10 u64 128 2>&1 | grep pwmpi)" \
	"pwmpi: 20 of 20 collectives on the ring"

# floating-point numbers: exact on the ring, off, and by default only a few
for np in 2 7; do
	: >"$PW_SHM_RING"
	PW_FLOAT=exact run $np mpi_check float $count $np >"$tmp/out" 2>&1
	tap_ok "$np ranks: $count collectives of floating-point numbers are exact" \
		grep -q "^$count collectives of floating-point numbers, 0 differ" "$tmp/out" || tail -n 20 "$tmp/out" | sed 's/^/# /'
	tap_ok "$np ranks: all of them on the ring" grep -qx "pwmpi: $count of $count collectives on the ring" "$tmp/out"
done
PW_COLL=probe PW_FLOAT=off run 2 mpi_check float 20 >"$tmp/out" 2>&1
tap_ok "PW_FLOAT=off: none" grep -qx "pwmpi: 0 of 20 collectives on the ring, not for their type: 20" "$tmp/out"

# integers of 32 bits, two in a word
for np in 1 3 8 9; do
	: >"$PW_SHM_RING"
	run $np mpi_check sums $((count / 2)) $np >"$tmp/out" 2>&1
	tap_is "$np ranks: sums of integers of 32 bits" "$(grep differ "$tmp/out")" "$((count / 2)) sums of integers of 32 bits, 0 differ" ||
		tail -n 20 "$tmp/out" | sed 's/^/# /'
	tap_ok "$np ranks: all of them on the ring" grep -qx "pwmpi: $((count / 2)) of $((count / 2)) collectives on the ring" "$tmp/out"
done

# logical operations, minima and maxima with their places
for np in 2 6; do
	: >"$PW_SHM_RING"
	run $np mpi_check logic $((2 * count)) $np >"$tmp/out" 2>&1
	tap_is "$np ranks: logical operations and places" "$(grep differ "$tmp/out")" "$((2 * count)) logical operations and places, 0 differ" ||
		tail -n 20 "$tmp/out" | sed 's/^/# /'
	tap_ok "$np ranks: they were on the ring" grep -qE "^pwmpi: [1-9][0-9]{2} of $((2 * count)) collectives on the ring" "$tmp/out"
	grep '^pwmpi' "$tmp/out" | sed 's/^/# /'
done

# a rank alone: the library gives it its operands, whatever a logical operation would make of them
for mode in "" "logic "; do
	# shellcheck disable=SC2086 # two words or none
	ranks 1 $mode$count 2
	tap_ok "1 rank: ${mode}collectives: 0 differ" grep -qE "^$count .*, 0 differ" "$tmp/out" || tail -n 20 "$tmp/out" | sed 's/^/# /'
	tap_ok "1 rank: ${mode}some on the ring" grep -qE '^pwmpi: [1-9][0-9]* of [0-9]+ collectives on the ring' "$tmp/out"
done

# parts of results, blocks, and forms that the library keeps
for np in 2 4 9; do
	: >"$PW_SHM_RING"
	run $np mpi_check parts $((2 * count)) $np >"$tmp/out" 2>&1
	tap_is "$np ranks: collectives of small blocks" "$(grep differ "$tmp/out")" "$((2 * count)) collectives of small blocks, 0 differ" ||
		tail -n 20 "$tmp/out" | sed 's/^/# /'
	tap_ok "$np ranks: some on the ring, of those that do not wait only some" \
		grep -qE "^pwmpi: [1-9][0-9]+ of [0-9]+ collectives on the ring,.*not for their non-blocking or persistent form: [1-9]" "$tmp/out"
	grep '^pwmpi' "$tmp/out" | sed 's/^/# /'
done

# collectives that do not wait, several at once
while read -r np seed threads <&3; do
	: >"$PW_SHM_RING"
	run "$np" mpi_check later $((count / 2)) "$seed" ${threads:+"$threads"} >"$tmp/out" 2>&1
	tap_is "$np ranks: collectives that do not wait${threads:+ ($threads)}" "$(grep differ "$tmp/out")" \
		"$((count / 2)) times some collectives that do not wait, 0 differ" || tail -n 20 "$tmp/out" | sed 's/^/# /'
	tap_ok "$np ranks: they were on the ring${threads:+ ($threads)}" grep -qE '^pwmpi: [1-9][0-9]{2} of [0-9]+ collectives on the ring' "$tmp/out"
	grep '^pwmpi' "$tmp/out" | sed 's/^/# /'
done 3<<-END
	2 1
	4 2
	4 3 threads
	9 4
END
: >"$PW_SHM_RING"
run 3 mpi_check order >"$tmp/out" 2>&1
tap_is "two at once, while a rank waits for a message" "$(grep -E 'right|pwmpi' "$tmp/out" | sort)" \
	"$(printf 'pwmpi: 2 of 2 collectives on the ring\ntwo at once and a message: right')"
: >"$PW_SHM_RING"
run 4 mpi_check overlap 20 >"$tmp/out" 2>&1
tap_ok "the result is there when all ranks have begun, without a call of MPI" grep -q ' 100.0 % there at the first test, 0 wrong$' "$tmp/out"
grep iallreduce "$tmp/out" | sed 's/^/# /'

# a line of JSON for each communicator
rm -f "$tmp/log"
: >"$PW_SHM_RING"
PW_COLL_LOG=$tmp/log run 4 mpi_check parts 100 >"$tmp/out" 2>&1
total=$(sed -n 's/^pwmpi: \([0-9]*\) of .*/\1/p' "$tmp/out")
if command -v python3 >/dev/null; then
	python3 - "$tmp/log" "${total:-0}" >"$tmp/json" 2>&1 <<-'END'
		import json, sys
		lines = [json.loads(x) for x in open(sys.argv[1])]
		assert len(lines) == 3, "one line for the world and each half"
		world = [x for x in lines if x["communicator"] == "MPI_COMM_WORLD"]
		assert len(world) == 1 and world[0]["ranks"] == 4
		assert sum(x["ranks"] == 2 for x in lines) == 2
		on = off = 0
		for x in lines:
		    for name, c in x["collectives"].items():
		        assert c["calls"] == c["ring"] + sum(c["not"].values()), name
		        assert (c["packets"] > 0) == (c["ring"] > 0) == (c["ring_ns"] > 0), name
		        # rank 0 of the half that has rank 0 of the world is rank 1
		        if x["rank"] < 2:
		            on += c["ring"]
		            off += sum(c["not"].values())
		assert on == int(sys.argv[2]), (on, sys.argv[2])
		assert off, "some were not on the ring"
		print("right")
	END
	tap_is "PW_COLL_LOG: counts and reasons" "$(cat "$tmp/json")" right
else
	tap_skip "PW_COLL_LOG" "no python3"
fi

# threads: each communicator has registers of its own, while there are some
# mpirun reads its standard input
while read -r np threads regs least <&3; do
	: >"$PW_SHM_RING"
	PW_COLL_REGS=$regs run "$np" mpi_threads $((count / 2)) "$np" "$threads" >"$tmp/out" 2>&1
	if grep -q 'no MPI_THREAD_MULTIPLE' "$tmp/out"; then
		tap_skip "threads" "this MPI has no MPI_THREAD_MULTIPLE"
		break
	fi
	tap_is "$np ranks, $threads threads" "$(grep differ "$tmp/out")" "$((count / 2)) collectives in $threads threads, 0 differ" ||
		tail -n 20 "$tmp/out" | sed 's/^/# /'
	on=$(sed -n 's/^pwmpi: \([0-9]*\) of .*/\1/p' "$tmp/out")
	tap_ok "$np ranks, $threads threads: ${on:-none} on the ring, $((least * count / 2)) at least" [ "${on:-0}" -ge $((least * count / 2)) ]
done 3<<-END
	2 4 8 2
	4 4 14 2
	4 2 14 2
END

# mpi4py asks for all threads that there are
if python3 -c 'import mpi4py' 2>/dev/null; then
	: >"$PW_SHM_RING"
	build=/usr/bin run 4 python3 "$top/tools/testing/mpi/mpi_python.py" >"$tmp/out" 2>&1
	tap_is "mpi4py: all on the ring, and right" "$(grep -E 'pwmpi|wrong' "$tmp/out" | sort)" \
		"$(printf 'pwmpi: 150 of 150 collectives on the ring\nthread level 3, 0 wrong')"
else
	tap_skip "mpi4py" "python3-mpi4py is not installed"
fi

# Fortran, all three bindings: 23 collectives of integers, doubles and complex numbers, blocking and not
if command -v mpifort >/dev/null; then
	for binding in 0 1 2; do
		name=$(set -- mpif.h "use mpi" "use mpi_f08"; shift $binding; echo "$1")
		if ! mpifort -DBINDING=$binding -fallow-argument-mismatch -J "$tmp" -o "$tmp/fortran" "$top/tools/testing/mpi/mpi_fortran.F90" >"$tmp/out" 2>&1; then
			tap_skip "Fortran, $name" "it does not compile here: $(tail -n 1 "$tmp/out")"
			continue
		fi
		: >"$PW_SHM_RING"
		build=$tmp run 3 fortran >"$tmp/out" 2>&1
		tap_is "Fortran, $name: all on the ring, and right" "$(grep -E 'pwmpi|wrong' "$tmp/out")" "pwmpi: 23 of 23 collectives on the ring"
	done
else
	tap_skip "Fortran" "no compiler"
fi

# buffers that are descriptors, which mpi_f08 of Open MPI 6 has
if OMPI_CC=gcc mpicc -std=gnu11 -g -O2 -Wall -o "$tmp/described" "$top/tools/testing/mpi/mpi_described.c" "$tmp/libpwmpi.so" -Wl,-rpath,"$tmp"; then
	for np in 2 5; do
		: >"$PW_SHM_RING"
		build=$tmp run $np described >"$tmp/out" 2>&1
		tap_is "$np ranks: descriptors and sections: all on the ring, and right" "$(grep -E 'pwmpi|wrong' "$tmp/out")" \
			"pwmpi: 4 of 4 collectives on the ring"
	done
else
	tap_not "descriptors: the test compiles" true
fi

# several jobs at once on the same stations
: >"$PW_SHM_RING"
for job in 1 2 3; do
	run 4 mpi_check $count $job >"$tmp/job$job" 2>&1 &
done
wait
for job in 1 2 3; do
	tap_is "three jobs on one ring, job $job" "$(grep differ "$tmp/job$job")" "$count collectives, 0 differ" ||
		tail -n 5 "$tmp/job$job" | sed 's/^/# /'
	grep '^pwmpi' "$tmp/job$job" | sed 's/^/# /'
done
: >"$PW_SHM_RING"
# 19 bits: the world has one and another for what does not wait, communicators have 17. Bit 0 is left
PW_COLL_REGS=14 run 3 mpi_wrong hold "$tmp/held" >"$tmp/job1" 2>&1 &
for ((i = 0; i < 3000; i++)); do
	[ ! -e "$tmp/held" ] || break
	sleep 0.1
done
PW_COLL=probe run 2 mpi_check 20 >"$tmp/out" 2>&1
tap_is "no lease left: right results" "$(grep differ "$tmp/out")" "20 collectives, 0 differ"
tap_ok "no lease left: it says so" \
	grep -qE '^pwmpi: 0 of [0-9]+ collectives on the ring \(other jobs have all registers or group bits of the ring\)$' "$tmp/out"
run 2 mpi_check 20 >"$tmp/out" 2>&1
tap_ok "no lease left: forced, it is an error" grep -q '^pwmpi: PW_COLL=force, but other jobs have all' "$tmp/out"
rm -f "$tmp/held"
wait
tap_is "the job that had them, but group bit 0" "$(grep pwmpi "$tmp/job1")" \
	"pwmpi: 19 of 22 collectives on the ring, not for their communicator: 3"

# ranks that die leave nothing behind, and no wrong sums
for ((i = 0; i < ${PW_CRASHES:-3}; i++)); do
	run 3 mpi_wrong die $((10 + i)) >"$tmp/out" 2>&1
	tap_is "a rank dies in round $((10 + i)): no sum is wrong" "$(grep -c WRONG "$tmp/out")" 0
done
# storm JOBS ROUNDS COLLECTIVES: jobs at once, in each round another one of them is whole; in the
# others a rank ends. Four registers for each job: four jobs have all that there are, so one of
# them may have to do without the ring.
storm() {
	local jobs=$1 rounds=$2 count=$3 i job how last whole=0 on=0

	rm -f "$tmp/tally" "$tmp"/storm*
	for ((i = 0; i < rounds; i++)); do
		last=
		for ((job = 0; job < jobs; job++)); do
			how=$(set -- none kill exit segv; shift $(((i + job) % 4)); echo "$1")
			[ "$how" != none ] || whole=$((whole + 1)) last=$job
			PW_COLL=probe PW_COLL_REGS=4 run 3 mpi_storm "$tmp/tally" "$count" $((1000 * i + job)) "$how" >"$tmp/storm$job" 2>&1 </dev/null &
		done
		wait
		[ -z "$last" ] || on=$((on + $(grep -cx "pwmpi: $count of $count collectives on the ring" "$tmp/storm$last")))
		grep -h WRONG "$tmp"/storm* | sed 's/^/# /'
	done
	out=$("$build/mpi_storm" "$tmp/tally")
	echo "# $jobs jobs, $rounds rounds: $out"
	tap_is "$jobs jobs, $rounds rounds, ranks end: none of the collectives is wrong" "$(grep -o '[1-9][0-9]* collectives, 0 wrong' <<<"$out" | grep -o '0 wrong')" "0 wrong"
	tap_is "$jobs jobs, $rounds rounds: jobs without such a rank end well" \
		"$(sed -n 's/.*ranks: \([0-9]*\) finished.*/\1/p' <<<"$out")" $((3 * whole))
	echo "# $on of $whole such jobs were on the ring"
	[ "$jobs" -gt 2 ] || tap_is "$jobs jobs, $rounds rounds: all of theirs were on the ring" "$on" "$whole"
}
: >"$PW_SHM_RING"
rounds=2 count=200
# 100,000 collectives of whole jobs alone
[ -z "${PW_LONG:-}" ] || rounds=100 count=700
storm 2 $rounds $count
storm 4 $rounds $count
run 3 mpi_check 20 >"$tmp/out" 2>&1
tap_is "the next job starts clean" "$(grep differ "$tmp/out")" "20 collectives, 0 differ"
tap_ok "and is on the ring" grep -qE '^pwmpi: [1-9][0-9]* of' "$tmp/out"

PW_COLL=off ranks 2 20
tap_ok "PW_COLL=off: none" grep -qE '^pwmpi: 0 of [0-9]+ collectives on the ring \(PW_COLL=off\)$' "$tmp/out"
PW_SHM_RING='' PW_COLL=probe
export PW_SHM_RING PW_COLL
mpi --oversubscribe -np 2 -x LD_PRELOAD="$tmp/libpwmpi.so" "$build/mpi_check" 20 >"$tmp/out" 2>&1
tap_ok "no station: nothing on the ring, and why" \
	grep -qE '^pwmpi: 0 of [0-9]+ collectives on the ring \(no station of ours here\)$' "$tmp/out"
tap_is "and the results are right" "$(grep differ "$tmp/out")" "20 collectives, 0 differ"
PW_COLL=force
mpi --oversubscribe -np 2 -x LD_PRELOAD="$tmp/libpwmpi.so" "$build/mpi_check" 20 >"$tmp/out" 2>&1
tap_ok "forced, it is an error" grep -q '^pwmpi: PW_COLL=force, but no station of ours here' "$tmp/out"

# exact sums, judged by rational numbers (tools/testing/user/exact_test.c has another judge)
if gcc -std=gnu11 -O2 -o "$tmp/exact" "$top/tools/testing/user/exact_test.c"; then
	"$tmp/exact" dump 3000 | python3 -c '
import sys
from fractions import Fraction

wrong = total = 0
for line in sys.stdin:
    want, *x = [float.fromhex(w) for w in line.split()]
    s = sum(map(Fraction, x))
    try:
        got = float(s)
    except OverflowError:
        got = float("inf") if s > 0 else float("-inf")
    total += 1
    wrong += got != want
print(total, "sums,", wrong, "differ")' >"$tmp/out" 2>&1
	tap_is "exact sums, by rational numbers" "$(cat "$tmp/out")" "3000 sums, 0 differ"
fi

# pwrun gives the name of the lab to the agent that Open MPI calls, which drops a last
# argument of one letter: this mpirun does the same
cat >"$tmp/pwctl" <<-'END'
	#!/bin/bash
	case "$1 $2" in
	"lab show") echo "station s1: lab $LAB ..." ;;
	"lab exec") echo "exec $3" >>"$LOG"; shift 3; exec "$@" ;;
	esac
END
cat >"$tmp/mpirun" <<-'END'
	#!/bin/bash
	[ "$1" != --version ] || exit 0
	[ -d "$OMPI_MCA_orte_tmpdir_base" ] && echo "$OMPI_MCA_orte_tmpdir_base" >>"$DIRS"
	while [ "$1" != plm_rsh_agent ]; do shift; done
	read -ra agent <<<"$2"
	[ ${#agent[-1]} -gt 1 ] || unset 'agent[-1]'
	exec "${agent[@]}" s1 echo started
END
chmod 755 "$tmp/pwctl" "$tmp/mpirun"
for LAB in long a; do
	: >"$tmp/log"
	out=$(LAB=$LAB LOG=$tmp/log DIRS=$tmp/dirs PATH=$tmp:$PATH "$top/tools/mpi/pwrun" true 2>&1)
	tap_is "pwrun in lab $LAB" "$out $(tail -n 1 "$tmp/log")" "started exec $LAB/s1"
done
mapfile -t dirs <"$tmp/dirs"
tap_is "each job has a directory of its own" "$(sort -u "$tmp/dirs" | wc -l)" 2
tap_not "which goes with the job" ls -d "${dirs[@]}"
tap_done
