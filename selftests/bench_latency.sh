#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The longest poll, BH-off section and RTNL hold of SANs under load, in counted
# instructions: none above 10^6, above 2 * 10^6 for the rtl engine with 256 ports.
#	scripts/bench latency
#	scripts/vm --kernel 6.12 --icount -- selftests/bench_latency.sh [PORTS|TOPOLOGY ENGINE WHAT BYTES FRAMES [MS [RTNL_LIMIT]]]
#	scripts/vm --kernel 6.12 --icount -- selftests/bench_latency.sh test	the rows of host_latency.sh
#	scripts/vm --kernel 6.12 --icount -- selftests/bench_latency.sh suite TEST...	while selftests run
# How to measure another workload: see lib_latency.sh.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_latency.sh"

status=0
# measure PORTS ENGINE WHAT BYTES FRAMES [MS [RTNL_LIMIT]]
measure() {
	local limit=${limit:-1000000}

	[ "$1 $2" != "256 rtl" ] || limit=2000000
	lat_begin || pw_skip "no function tracers here"
	"$PW_BUILD/selftests/latency_load" "${@:1:6}" || status=1
	lat_end "${*:1:6}" "$limit" "${7:-0}" || status=1
}

# What selftests make the module do. Their own verdicts do not count: tracing slows them down.
suite() {
	local t

	for t; do
		t=$PW_BUILD/selftests/$t
		[ -x "$t" ] || pw_skip "no selftest $t"
		lat_begin || pw_skip "no function tracers here"
		"$t" >/dev/null 2>&1
		lat_end "${t##*/}" 1000000 || status=1
	done
}

if [ "${1:-}" = suite ]; then
	shift
	suite "$@"
	exit $status
fi

# the largest round, and the largest generated topology: 2304 input units in 256 switches. A plan
# may have 4096, so the bound of rtl is lower here: 600,000 with a whole cycle in one part
if [ "${1:-test}" = test ]; then
	measure 256 none round 64 2
	# what all SANs of a clock, and all stations of a SAN, do in one cycle
	measure 256 fast lockstep 64 1
	measure mesh:4x4x4x4 fast blocked 64 2 300
	limit=400000 measure mesh:4x4x4x4 rtl ring 64 1 300
	# an engine that runs would take the CPU from the task that holds RTNL
	measure mesh:4x4x4x4 fast idle 64 1 300 1000000
	[ $# = 0 ] || exit $status
elif [ $# -gt 0 ]; then
	measure "$@"
	exit $status
fi
measure 16 none ring 1500 64
measure 16 none all 60000 16
measure 16 fast ring 1500 64
measure 16 fast all 60000 2 300
measure 16 fast late 64 250
measure 16 fast flush 1500 250
measure 16 rtl ring 64 4
measure 256 none all 60000 4
measure 256 none echo 60000 4
measure 256 fast ring 1500 8
measure 256 fast incast 1500 4
measure 256 fast all 60000 1
measure 256 fast late 64 100
measure 256 fast flush 1500 100
measure 256 none tables 64 100 2000
measure 256 rtl ring 64 2
measure 256 rtl sizes 64 3 100 5000000
exit $status
