#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What an executed ESP instruction and a POETS packet for a device cost beside a plain
# EEP message of the same length, station to station and through a router: the same
# program, the same boot, one CPU whose nanoseconds are instructions.
# Aim: at most 1.3 times as many for each instruction executed and packet delivered.

. "$(dirname "$0")/lib_bench.sh"
frames=$(pw_count 40000) rounds=$(pw_count 2000)
len=48 status=0

# beside WHAT PLAIN OTHER EXECUTIONS: instructions per frame, the difference, the ratio
beside() {
	echo "$2 $3 $4" | awk -v what="$1" '{
		plain = $5; other = $12; n = $15
		each = 1 + (other / plain - 1) / n
		ok = each <= 1.3
		printf "%s: %d beside %d of a plain message, %+d for %d executed, %.3f x for each (aim <= 1.3): %s\n",
			what, other, plain, other - plain, n, each, ok ? "met" : "NOT MET"
		exit !ok }'
}

plain=$(run eep pa pb $len) || exit 1
esp=$(run esp pa pb $len) || exit 1
poets=$(run poets pa pb $len) || exit 1
again=$(run eep pa pb $len) || exit 1
printf '%s\n' "$plain" "$esp" "$poets" "$again (again)"
beside "ESP at a station, instructions per message" "$plain" "$esp" 1 || status=1
beside "POETS to a device, instructions per message" "$plain" "$poets" 1 || status=1

ip -n "$A" link add qa type packetway san 1
ip -n "$A" link add qb netns "$B" type packetway san 2
bench_up "$A qa" "$B qb"
untimed 1 2
"$PW_BUILD/selftests/eep_bench" router "$A" 1 2 || exit 1
sleep 2		# until each SAN knows the other
plain=$(run eep qa qb $len) || exit 1
routers=$(run esp-routers qa qb $len) || exit 1
all=$(run esp qa qb $len) || exit 1
printf '%s\n' "$plain (router)" "$routers (router)" "$all (router)"
beside "ESP at both halves of a router" "$plain" "$routers" 2 || status=1
beside "ESP at both halves and at the station" "$plain" "$all" 3 || status=1
exit $status
