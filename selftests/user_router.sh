#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A router in user space, tools/examples/router.py, between SANs 1 and 2; a router of the
# kernel between SANs 2 and 3. What router_test has for routers of the kernel, as far as it
# applies: addresses, source routes, names, groups, IP, ERR, HRDOWN, tables over two routers.

. "$(dirname "$0")/lib.sh"
pw_need pwctl jq python3
router=$PW_SELFTESTS/../tools/examples/router.py
[ -r "$router" ] || pw_skip "the examples are not here"
tmp=$(mktemp -d)
pwctl station del pw0
for i in 1 2 3; do
	pwctl station add s$i san $i port 0 up
done
one() { pwctl ping "$1" dev "$2" count 2 interval 10 timeout 60000 "${@:3}"; }
knows() { busywait 60000 pwctl resolve "$1" san "$2"; }
gone() { ! pwctl resolve "$1" san "$2" 2>/dev/null; }
run() {
	: >"$tmp/log"
	python3 "$router" u 1:15 2:15 >"$tmp/log" 2>&1 &
	pid=$!
	busywait 60000 grep -q ready "$tmp/log" || sed 's/^/# /' "$tmp/log"
}

tap_not "without a router" pwctl resolve s2 san 1
run
tap_ok "SAN 1 knows the station of SAN 2 by name" knows s2 1
tap_ok "and SAN 2 that of SAN 1" knows s1 2
tap_ok "by address, there" one 00:02:01 s1
tap_ok "by address, back" one 00:01:01 s2
tap_ok "by source route" one 00:02:01 s1 by-route
tap_ok "both halves answer" one 00:01:10 s1
tap_ok "also from the other side" one 00:01:10 s2
tap_ok "RRP: the program finds a node by name" pwctl resolve s2 dev s1 timeout 60000
tap_ok "and one of the same SAN" pwctl resolve s1 dev s1 timeout 60000
tap_not "no station has this address: ERR" pwctl ping 00:02:07 dev s1 count 1 timeout 20000
tap_is "pwctl shows it" "$(pwctl -j router show u1 | jq -r '.[0].program.peer')" 00:02:10
tap_is "the node is listed" "$(pwctl -j name show san 1 | jq -r '.[] | select(.name == "s2") | .addr')" 00:02:01

pwctl router add k san 2:14 san 3:14
tap_ok "over two routers: names" knows s3 1
tap_ok "and back" knows s1 3
tap_ok "by address" one 00:03:01 s1
tap_ok "from SAN 3" one 00:01:01 s3
tap_ok "by source route" one 00:03:01 s1 by-route
pwctl router del k
tap_ok "the router of the kernel goes: SAN 3 is not known" busywait 60000 gone s3 1
tap_ok "SAN 2 is" pwctl resolve s2 san 1
pwctl router add k san 2:14 san 3:14
tap_ok "it comes back" knows s3 1
tap_ok "frames cross" one 00:03:01 s1

# a group on the other SAN, and beyond the next router
tp=$PW_BUILD/selftests/trunk_peer
for i in 2 3; do
	"$tp" recv s$i 30 0xe00042 >"$tmp/heard$i" 2>&1 &
	heard[i]=$!
	busywait 60000 grep -q ready "$tmp/heard$i"
	# shellcheck disable=SC2016 # for the other shell
	busywait 60000 sh -c 'pwctl -j name show san 1 | jq -e "map(select(.addr == \"$0\" and (.groups | index(\"e0:00:42\")))) | length == 1" >/dev/null' 00:0$i:01
done
sleep 0.3
"$tp" send s1 0xe00042 30
for i in 2 3; do
	busywait 60000 grep -q got "$tmp/heard$i"
	kill "${heard[$i]}" 2>/dev/null
	wait "${heard[$i]}"
	tap_is "a group, at SAN $i" "$(tail -n 1 "$tmp/heard$i")" "got 30 twice 0 bad 0"
done

# IP between hosts, which have one station each
setup_ns HOST1 HOST2
for i in 1 2; do
	ns=HOST$i
	pwctl station add i$i san $i port 1
	ip link set i$i netns "${!ns}"
	ip -n "${!ns}" addr add 10.6.0.$i/24 dev i$i
	ip -n "${!ns}" link set i$i up
done
tap_ok "IP" ip netns exec "$HOST1" ping -c 2 -W 20 10.6.0.2
tap_ok "IP, in fragments" ip netns exec "$HOST2" ping -c 2 -W 20 -s 6000 10.6.0.1
cleanup_all_ns

kill -9 $pid
wait $pid 2>/dev/null
tap_ok "the program is killed: its routes end" busywait 60000 gone s2 1
tap_ok "also beyond the next router" busywait 60000 gone s1 3
tap_is "no half-router is left" "$(pwctl -j router show | jq -r '[.[].name] | join(" ")')" k
run
tap_ok "it starts again: names" knows s3 1
tap_ok "frames" one 00:03:01 s1
tap_ok "back" one 00:01:01 s3

# a half-router that is deleted under it
pwctl router del u1
tap_ok "a half-router is deleted: the program ends" busywait 60000 eval "! kill -0 $pid 2>/dev/null"
wait $pid
tap_is "with status 0" $? 0
for i in 1 2 3; do pwctl station del s$i; done
pwctl router del k
rm -rf "$tmp"
tap_done
