#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# EEP frames through the cell fabric beside a veth pair: the same program, the
# same boot, one CPU whose nanoseconds are instructions. An EEP frame is a multiple
# of 8 bytes: 1504 stands for 1500. Goal: frames/s at least 0.25 times those of veth
# on "fast", 0.8 times untimed.

. "$(dirname "$0")/lib_bench.sh"
frames=$(pw_count 10000) rounds=$(pw_count 500)
engine() { ip netns exec "$A" pwctl san set 0 engine "$1" >/dev/null; }

for len in 64 1504; do
	veth=$(run eth va vb $len) || exit 1
	echo "$len bytes, veth: $veth"
	for e in none fast; do
		engine $e || exit 1
		ours=$(run eep pa pb $len) || exit 1
		echo "$len bytes, $e: $ours"
		goal=0.80
		[ $e = none ] || goal=0.25
		echo "$len $e $goal $veth $ours" | awk '{
			rate = $13 / $6
			ok = rate >= $3
			printf "%s bytes, %s: frames/s %.3f x veth (aim >= %s): %s\n", $1, $2, rate, $3, ok ? "met" : "NOT MET" }'
	done
done
exit 0
