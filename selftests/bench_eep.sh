#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# EEP frames of 64 bytes between two stations beside a veth pair: the same
# program, the same boot, one CPU whose nanoseconds are instructions.
# Goals: frames/s at least 0.95 times, round trip at most 1.05 times those of veth.

. "$(dirname "$0")/lib_bench.sh"
frames=$(pw_count 40000) rounds=$(pw_count 4000)
status=0
for len in 64 1496; do
	veth=$(run eth va vb $len) || exit 1
	ours=$(run eep pa pb $len) || exit 1
	again=$(run eth va vb $len) || exit 1
	echo "$len bytes: $veth (veth)"
	echo "$len bytes: $ours"
	echo "$len bytes: $again (veth again)"
	echo "$len $veth $ours" | awk '{
		rate = $11 / $4; rtt = $15 / $8
		ok = rate >= 0.95 && rtt <= 1.05
		printf "%s bytes: frames/s %.3f x veth (goal >= 0.95), round trip %.3f x (goal <= 1.05): %s\n", $1, rate, rtt, ok ? "met" : "NOT MET"
		exit !ok }' || status=1
done
# what of it is the queue discipline, which a station needs to be stopped and a
# veth does not have
for q in pfifo noqueue; do
	for d in "$A pa" "$B pb"; do
		# shellcheck disable=SC2086
		set -- $d
		tc -n "$1" qdisc replace dev "$2" root $q 2>/dev/null || continue 2
	done
	echo "64 bytes: $(run eep pa pb 64) (stations with $q)"
done
exit $status
