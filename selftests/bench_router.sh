#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What one more router costs a frame, by address and by source route, beside one more
# veth pair and bridge: the same program, the same boot, one CPU whose nanoseconds are
# instructions. From one router to two, so that everything that comes with the first is
# left out. Aim: by source route at most half of veth and bridge. That the aim is missed
# is told; it is no failure, but frames that went another way than meant are.

. "$(dirname "$0")/lib.sh"
pw_need pwctl jq ip awk

frames=$(pw_count 20000) rounds=$(pw_count 2000)
trap cleanup_all_ns EXIT
setup_ns A B C || exit 1

# A - bridge in C - B, and A - bridge - bridge - B
quiet() { ip netns exec "$1" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1; }
for ns in "$A" "$B" "$C"; do
	quiet "$ns"
done
sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
for n in 1 2; do
	ip -n "$A" link add a$n type veth peer name a$n netns "$C"
	ip -n "$B" link add b$n type veth peer name b$n netns "$C"
	ip -n "$A" link set a$n up
	ip -n "$B" link set b$n up
done
for br in one two1 two2; do
	ip -n "$C" link add $br type bridge forward_delay 0
	ip -n "$C" link set $br up
done
ip -n "$C" link add m1 type veth peer name m2
for p in "a1 one" "b1 one" "a2 two1" "m1 two1" "m2 two2" "b2 two2"; do
	# shellcheck disable=SC2086
	set -- $p
	ip -n "$C" link set "$1" master "$2" up
done

# SAN 1 - r1 - SAN 2 - r2 - SAN 3; p in A on SAN 1, q2 and q3 in B on SANs 2 and 3
for san in 1 2 3; do
	pwctl san add $san engine none
done
pwctl station add p san 1 port 0
pwctl station add q2 san 2 port 0
pwctl station add q3 san 3 port 0
ip link set p netns "$A"
ip link set q2 netns "$B"
ip link set q3 netns "$B"
ip -n "$A" link set p up
ip -n "$B" link set q2 up
ip -n "$B" link set q3 up
pwctl router add r1 san 1:15 san 2:15
pwctl router add r2 san 2:14 san 3:15
busywait 60000 pwctl resolve 00:03:01 san 1 >/dev/null
busywait 60000 pwctl resolve 00:01:01 san 3 >/dev/null
# routes are known where the SANs are at home
route() { pwctl -j resolve "$1" san "$2" | jq -er 'first(.. | objects | .l2rh // empty)'; }
if ! { to2=$(route 00:02:01 1) && to3=$(route 00:03:01 1) && from2=$(route 00:01:01 2) && from3=$(route 00:01:01 3); }; then
	echo "no source routes: nothing to measure"
	exit 1
fi

# run VARIABLE KIND FROM TO [ROUTE BACK]: instructions of a frame
run() {
	local out

	out=$("$PW_BUILD/selftests/eep_bench" "$2" "$A" "$3" "$B" "$4" "$frames" "$rounds" "$len" "${@:5}") ||
		{ echo "no frames from $3 to $4"; exit 1; }
	printf -v "$1" '%s' "$(awk '{ print $5 }' <<<"$out")"
}
# a bridge drops what comes before its ports forward
forwards() { [ "$(bridge -n "$C" -d link show | grep -c 'state forwarding')" = 6 ]; }
busywait 60000 forwards
# by_route: frames that r2 has forwarded by L2RH to SAN 3
by_route() { pwctl -j router show r2 | jq '.[0].halves[1].stats."forward-l2"'; }
b1=0 b2=0 a1=0 a2=0 l1=0 l2=0
for len in 64 1448; do
	run b1 eth a1 b1
	run b2 eth a2 b2
	run a1 eep p q2
	run a2 eep p q3
	run l1 eep p q2 "$to2" "$from2"
	run l2 eep p q3 "$to3" "$from3"
	echo "$len $b1 $b2 $a1 $a2 $l1 $l2" | awk '{
		bridge = $3 - $2; l3 = $5 - $4; l2 = $7 - $6
		printf "%s bytes: one bridge %d, two %d: one more hop %d instructions\n", $1, $2, $3, bridge
		printf "%s bytes: by address, one router %d, two %d: one more hop %d (%.2f x)\n", $1, $4, $5, l3, l3 / bridge
		printf "%s bytes: by L2RH, one router %d, two %d: one more hop %d (%.2f x, aim <= 0.50): %s\n", $1, $6, $7, l2, l2 / bridge, l2 <= bridge / 2 ? "met" : "MISSED" }'
done
# what of the forwarding the routers did
pwctl router show r1 stats
pwctl router show r2 stats
if [ "$(by_route)" -lt $((2 * frames)) ]; then
	echo "frames with a source route were not forwarded by it"
	exit 1
fi
