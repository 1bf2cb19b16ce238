#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What lockstep costs: one CPU whose nanoseconds are instructions.
#
# pwsolve with 21 processes on 16 stations, on a SAN whose time is free and in lockstep. Aim: at
# most 2 times. Then two processes that send a message of 8 bytes to and fro. Free, such a message
# is not simulated if an equal one was before, which lockstep cannot do: no aim.
# A participant that waits for a time, alone, beside a wake-up by futex between two threads. Aim:
# at most 1.5 times. A sleep by a timer of the host is beside it.

. "$(dirname "$0")/lib.sh"
pw_need ip pwctl pwsolve
bench=$PW_BUILD/selftests/time_bench
rounds=$(pw_count 2000)
trap cleanup_all_ns EXIT
setup_ns A || exit 1
# shellcheck disable=SC2153,SC2154 # setup_ns sets it
ip netns exec "$A" sysctl -qw net.ipv6.conf.default.disable_ipv6=1
ip netns exec "$A" pwctl san add 0 ports 16 || exit 1
for i in {0..15}; do ip netns exec "$A" pwctl station add "s$i" san 0 port "$i" up || exit 1; done
measure() { ip netns exec "$A" "$bench" "$1" "$rounds"; }
system=$PW_SELFTESTS/../tools/testing/golden/K3/example4_system.csv
runs=$(pw_count 10)
# solve COMMAND...: nanoseconds of the shortest run; waits for the host's files are in the others
solve() {
	local i start t best=

	for ((i = 0; i < runs; i++)); do
		start=$(date +%s%N)
		ip netns exec "$A" "$@" pwsolve "$system" >/dev/null || return 1
		t=$(($(date +%s%N) - start))
		if [ -z "$best" ] || [ "$t" -lt "$best" ]; then best=$t; fi
	done
	echo "$best"
}

solve_free=$(solve env) || exit 1
free=$(measure talk) || exit 1
futex=$(measure futex) || exit 1
sleep=$(measure sleep) || exit 1
ip netns exec "$A" pwctl san set 0 clock lockstep || exit 1
lockstep=$(measure talk-lockstep) || exit 1
wake=$(measure wake) || exit 1
start_up=$(($(solve pwctl virtual sh -c : ) - $(solve sh -c :))) || exit 1
solve_lockstep=$(solve pwctl virtual) || exit 1
status=0
# row WHAT NS BESIDE NS AIM
row() {
	awk -v what="$1" -v a="$2" -v beside="$3" -v b="$4" -v aim="$5" 'BEGIN {
		missed = (aim != "none" && a > aim * b)
		printf "%-26s %10d ns  %-20s %10d ns  %.2f%s%s\n", what, a, beside, b, a / b,
			aim == "none" ? "" : " (at most " aim ")", missed ? "  MISSED" : ""
		exit missed
	}' || status=1
}
row "pwsolve, lockstep" "$solve_lockstep" "free, under pwctl" "$((solve_free + start_up))" 2
row "two messages, lockstep" "$lockstep" "free" "$free" none
row "a wait for a virtual time" "$wake" "a wake-up by futex" "$futex" 1.5
row "a wait for a virtual time" "$wake" "nanosleep of 1 ns" "$sleep" none
exit $status
