#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The longest poll, BH-off section and RTNL hold of SANs under load, in counted
# instructions: none above 10^6, above 2 * 10^6 for the rtl engine with 256 ports.
#	scripts/bench latency
#	scripts/vm --kernel 6.12 --icount -- selftests/bench_latency.sh [PORTS ENGINE WHAT BYTES FRAMES [MS [RTNL_LIMIT]]]
# How to measure another workload: see lib_latency.sh.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_latency.sh"

status=0
# measure PORTS ENGINE WHAT BYTES FRAMES [MS [RTNL_LIMIT]]
measure() {
	local limit=1000000

	[ "$1 $2" != "256 rtl" ] || limit=2000000
	lat_begin || pw_skip "no function tracers here"
	"$PW_BUILD/selftests/latency_load" "${@:1:6}" || status=1
	lat_end "${*:1:6}" $limit "${7:-0}" || status=1
}

if [ $# -gt 0 ]; then
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
