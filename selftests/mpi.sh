#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Open MPI on the stations of a lab: collectives on the ring give what they give
# without it, and say how many there were (tools/testing/mpi does 200 of them on 2, 4, 8
# and 16 ranks, without a guest). PVM on the same stations.

. "$(dirname "$0")/lib.sh"
pw_need pwctl pwrun mpirun mpi_check

lab=$(mktemp --suffix .yaml)
ranks="2 4"
# starting ranks takes the time here: more of them, and all 200 collectives, in a soak
[ -z "${PW_LONG:-}" ] || ranks="2 4 8 16"
{
	printf 'lab: m\nsans:\n  - {id: 0, ports: 16}\nstations:\n'
	for i in $(seq "${ranks##* }"); do
		echo "  - {name: m$i, address: 10.6.0.$i/24}"
	done
} >"$lab"
# whatever it costs, as much as possible is to be right on the ring
export PW_COLL_MAX=4096
tap_is "without a lab there is nothing to run on" "$(pwrun -np 2 true 2>/dev/null; echo $?)" 2
tap_ok "lab up" pwctl lab up "$lab"
tap_is "more ranks than stations" "$(pwrun -np 99 true 2>/dev/null; echo $?)" 2
n=$(pw_count 60 20)
for np in $ranks; do
	out=$(PW_COLL=force pwrun -np "$np" mpi_check "$n" "$np" 2>&1)
	tap_is "$np ranks: $n random collectives" "$(printf '%s\n' "$out" | grep differ)" "$n collectives, 0 differ" ||
		printf '%s\n' "$out" | tail -n 20 | sed 's/^/# /'
	tap_ok "$np ranks: some of them on the ring" grep -qE '^pwmpi: [1-9][0-9]* of [0-9]+ collectives on the ring' <(printf '%s\n' "$out")
	printf '%s\n' "$out" | grep '^pwmpi' | sed 's/^/# /'
done
# two jobs at once on the same stations
for job in 1 2; do
	PW_COLL=force pwrun -np 2 mpi_check "$n" $job >"$lab.$job" 2>&1 &
done
wait
for job in 1 2; do
	tap_is "two jobs on one ring, job $job" "$(grep differ "$lab.$job")" "$n collectives, 0 differ" ||
		tail -n 20 "$lab.$job" | sed 's/^/# /'
	tap_ok "job $job: some of them on the ring" grep -qE '^pwmpi: [1-9][0-9]* of [0-9]+ collectives on the ring' "$lab.$job"
	grep '^pwmpi' "$lab.$job" | sed 's/^/# /'
done
rm -f "$lab".[12]
out=$(PW_FLOAT=exact PW_COLL=force pwrun -np 2 mpi_check float 20 2>&1)
tap_ok "sums of floating-point numbers are exact" \
	grep -q '^20 collectives of floating-point numbers, 0 differ' <(printf '%s\n' "$out")
tap_ok "and all of them on the ring" grep -qx 'pwmpi: 20 of 20 collectives on the ring' <(printf '%s\n' "$out")
# the kernel executes collectives while ranks do not wait for them
out=$(PW_COLL=force pwrun -np 4 mpi_check later "$n" 2>&1)
tap_is "collectives that do not wait" "$(printf '%s\n' "$out" | grep differ)" "$n times some collectives that do not wait, 0 differ" ||
	printf '%s\n' "$out" | tail -n 20 | sed 's/^/# /'
tap_ok "and some of them on the ring" grep -qE '^pwmpi: [1-9][0-9]+ of [0-9]+ collectives on the ring' <(printf '%s\n' "$out")
printf '%s\n' "$out" | grep '^pwmpi' | sed 's/^/# /'
out=$(PW_COLL=force pwrun -np 3 mpi_check order 2>&1)
tap_ok "two at once, while a rank waits for a message" grep -qx 'two at once and a message: right' <(printf '%s\n' "$out")
out=$(PW_COLL=force pwrun -np 4 mpi_check overlap 20 2>&1)
# how many are there at once is no verdict: the ring may run in a work item, which comes when the
# scheduler lets it (tools/testing/mpi has that verdict, scripts/bench mpi the figures)
tap_ok "results are right if ranks compute meanwhile" grep -q ' there at the first test, 0 wrong$' <(printf '%s\n' "$out")
printf '%s\n' "$out" | grep iallreduce | sed 's/^/# /'
out=$(PW_COLL=off pwrun -np 2 mpi_check 10 2>&1)
tap_ok "PW_COLL=off" grep -qxE 'pwmpi: 0 of [0-9]+ collectives on the ring \(PW_COLL=off\)' <(printf '%s\n' "$out")
if command -v pvmd >/dev/null && command -v pvm_check >/dev/null; then
	hosts=${ranks##* }
	tap_is "PVM: a program that is none" "$(pwrun --pvm no_such_program 2>/dev/null; echo $?)" 2
	out=$(pwrun --pvm -np "$hosts" pvm_check 2>&1)
	tap_is "PVM: ends well" $? 0
	tap_ok "PVM: a worker at each station, and their sum" \
		grep -qx "$hosts workers on $hosts hosts: sum \([0-9]*\), wanted \1" <(printf '%s\n' "$out")
	tap_ok "PVM: from worker to worker" grep -qx "a counter went from worker to worker: $hosts of $hosts" <(printf '%s\n' "$out") ||
		printf '%s\n' "$out" | sed 's/^/# /'
	tap_is "PVM: no daemon is left" "$(pgrep -cx pvmd)" 0
else
	tap_skip "PVM" "it is not installed"
fi
if [ -n "${PW_LONG:-}" ]; then
	out=$("$PW_SELFTESTS/../tools/testing/notebooks/run.sh" "$PW_BUILD" mpi 2>&1)
	tap_is "the notebook measures MPI with and without the ring" $? 0 || printf '%s\n' "$out" | sed 's/^/# /'
fi
tap_is "no lease is left" "$(ip netns exec m cut -f 1 /proc/sys/net/packetway/nr_leases)" 0
tap_is "registers are left as they were" "$(pwctl lab exec m1 pwctl -j aton show | jq -c '.[0] | [.group, (.operands | add)]')" '[0,0]'
tap_ok "lab down" pwctl lab down
rm -f "$lab"
tap_done
