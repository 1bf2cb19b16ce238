#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# TCP bulk between two stations of an untimed SAN beside a veth pair: instructions per byte,
# the same boot, one CPU whose nanoseconds are instructions.
# Goal: at most 1.1 times those of veth.

. "$(dirname "$0")/lib_bench.sh"
bytes=$(pw_count 64000000)
ip -n "$A" addr add 10.1.0.1/24 dev va
ip -n "$B" addr add 10.1.0.2/24 dev vb
ip -n "$A" addr add 10.2.0.1/24 dev pa
ip -n "$B" addr add 10.2.0.2/24 dev pb
bulk() { "$PW_BUILD/selftests/eep_bench" tcp "$A" "$B" "$1" "$bytes"; }

veth=$(bulk 10.1.0.2) || exit 1
ours=$(bulk 10.2.0.2) || exit 1
again=$(bulk 10.1.0.2) || exit 1
echo "$veth (veth)"
echo "$ours"
echo "$again (veth again)"
for d in "$A pa" "$B pb"; do
	# shellcheck disable=SC2086
	set -- $d
	ip netns exec "$1" ethtool -K "$2" tso off gso off tx off >/dev/null
done
echo "$(bulk 10.2.0.2) (stations without offloads)"
echo "$veth $ours" | awk '{
	ok = $6 / $3 <= 1.1
	printf "tcp: instructions/byte %.3f x veth (goal <= 1.10): %s\n", $6 / $3, ok ? "met" : "NOT MET"
	exit !ok }'
