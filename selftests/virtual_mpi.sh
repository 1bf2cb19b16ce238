#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An unmodified Open MPI program in the virtual time of a lab (pwrun --virtual): right results, and
# the same bytes in every run, times included, beside a load as well.

. "$(dirname "$0")/lib.sh"
pw_need pwctl pwrun mpirun mpi_times
tmp=$(mktemp -d)
hog=
trap 'pwctl lab down v >/dev/null 2>&1; pwctl lab down f >/dev/null 2>&1; [ -z "$hog" ] || kill $hog; rm -rf "$tmp"' EXIT
# starting ranks takes the time: without PW_LONG only the run beside a load is compared
ranks=4 runs=1
[ -z "${PW_LONG:-}" ] || { ranks=8 runs=10; }

# lab NAME CLOCK
lab() {
	printf 'lab: %s\nsans:\n  - {id: 0, ports: 16, clock: %s}\nstations:\n' "$1" "$2"
	for i in $(seq "$ranks"); do
		echo "  - {name: $1$i, port: $((i - 1)), address: 10.6.0.$i/24}"
	done
}
lab f free >"$tmp/f.yaml"
lab v lockstep >"$tmp/v.yaml"
said() { "$@" 2>&1 >/dev/null | head -n 1; }

tap_is "PVM is refused" "$(said pwrun --virtual --pvm true)" \
	"pwrun: PVM has no virtual time: its daemons talk by the host's clock"
tap_is "a quantum without virtual time is refused" "$(pwrun --quantum 5 true 2>/dev/null; echo $?)" 1
pwctl lab up "$tmp/f.yaml" >/dev/null
text=$(pwrun --virtual -np 2 mpi_times 2>&1)
case $text in
*"needs a CPU with AVX") pw_skip "this CPU has no AVX, which the libfabric of this system needs" ;;
*"has no libfabric"*|*"no provider ofi_rxd") pw_skip "${text#pwrun: }" ;;
esac
tap_is "a lab whose time is free is refused" "$text" \
	"pwctl: no station's SAN is in lockstep here; see \`pwctl san set ID clock lockstep\`"
pwctl lab down f >/dev/null
text=$(pwctl lab up "$tmp/v.yaml" 2>&1) || {
	case $text in
	*PREEMPT_NOTIFIERS*) pw_skip "this kernel has no CONFIG_PREEMPT_NOTIFIERS" ;;
	esac
	echo "# $text"
}

# once N: what the ranks print in $tmp/out.N, what the tools say in $tmp/err.N
once() {
	local begin=$SECONDS

	pwrun --virtual --stall 300000 mpi_times >"$tmp/out.$1" 2>"$tmp/err.$1"
	echo "# run $1: status $?, $((SECONDS - begin)) s"
	sed 's/^/# /' "$tmp/err.$1"
}
once 1
sed 's/^/# /' "$tmp/out.1"
tap_ok "$ranks ranks: all results are right" grep -q "^$ranks ranks, 0 wrong, at " "$tmp/out.1"
tap_ok "some collectives were on the ring, some not" \
	grep -qE '^pwmpi: [1-9][0-9]* of [0-9]+ collectives on the ring, not for their operation MPI_PROD: 2' "$tmp/err.1"
tap_is "times of all calls" "$(grep -cE ': [0-9]+\.[0-9]+ us$' "$tmp/out.1")" $((5 + 2 * 3 * ranks + 2 * ranks))
overlap=$(sed -n 's/^overlap \(.*\) %$/\1/p' "$tmp/out.1")
tap_ok "what ranks compute hides 95 % of MPI_Iallreduce and more (${overlap:-none} %)" \
	awk -v o="${overlap:-0}" 'BEGIN { exit !(o >= 95 && o <= 100) }'
tap_is "no message came from outside of the run" "$(grep -c outside "$tmp/err.1")" 0
# same N WHAT: run N against the first one
same() {
	cmp "$tmp/out.1" "$tmp/out.$1" >/dev/null
	tap_result $? "$2 prints the same bytes" ||
		diff "$tmp/out.1" "$tmp/out.$1" | head -n 6 | sed 's/^/# /'
}
for ((i = 2; i <= runs; i++)); do
	once $i
	same $i "run $i"
done
(while :; do :; done) &
hog=$!
once load
same load "a run beside a load"
kill $hog
hog=
tap_is "the launcher's network is gone" "$(ip -n v link show type bridge | wc -l)" 0
tap_is "a program that dies ends the run" \
	"$(timeout 200 pwrun --virtual -np 2 sh -c 'exit 3' >/dev/null 2>&1; echo $?)" 3
tap_ok "lab down" pwctl lab down v
tap_done
