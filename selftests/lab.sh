#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The shipped labs, command by command as their pages have them.

. "$(dirname "$0")/lib.sh"
pw_need pwctl jq
labs=$PW_SELFTESTS/../Documentation/labs

status() { "$@" >/dev/null 2>&1; echo $?; }
left() { { ip netns list; ls /run/packetway 2>/dev/null; grep -c packetway/labs /proc/self/mountinfo; } | tr '\n' ' '; }

before=$(left)
bad=$(mktemp --suffix .yaml)
echo 'lab: [' >"$bad"
tap_is "no YAML" "$(status pwctl lab up "$bad")" 1
printf 'lab: x\nstations:\n  - {name: a, color: red}\n' >"$bad"
tap_is "an unknown key is refused with its line" "$(pwctl lab up "$bad" 2>&1)" \
	"pwctl: $bad:3: unknown key 'color' in station 'a'"
printf 'lab: x\nstations:\n  - {name: a, port: 99}\n' >"$bad"
tap_is "what the kernel refuses" "$(status pwctl lab up "$bad")" 2
tap_is "leaves nothing" "$(left)" "$before"
printf 'lab: x\nstations:\n  - {name: a, address: 1.2.3}\n' >"$bad"
tap_is "a bad address" "$(status pwctl lab up "$bad")" 1
tap_is "leaves nothing either" "$(left)" "$before"
printf 'lab: x\nrouters:\n  - r san 1 san 1\nstations:\n  - {name: a}\n' >"$bad"
tap_is "a router that the kernel refuses" "$(status pwctl lab up "$bad")" 2
tap_is "leaves nothing either" "$(left)" "$before"
dir=$(mktemp -d)
pwmodel topology ring:3 >"$dir/three.yaml"
printf 'multicast:\n  - [0, 1, 2]\n' >>"$dir/three.yaml"
cat >"$dir/lab.yaml" <<'EOF'
lab: topo
sans:
  - {id: 0, topology: three.yaml, engine: rtl}
  - {id: 1, topology: mesh:2x2}
stations:
  - {name: a, port: 0, address: 10.1.0.1/24}
  - {name: b, port: 2, address: 10.1.0.2/24}
EOF
tap_ok "SANs with topologies, one from a file beside that of the lab" pwctl lab up "$dir/lab.yaml"
tap_is "have their ports" "$(pwctl -n topo -j san show | jq -c 'map([.id, .ports, .topology])')" \
	'[[0,3,"three.yaml"],[1,4,"mesh:2x2"]]'
tap_is "and connections" "$(pwctl -n topo -j san show | jq -c 'map(.connections)')" '[1,0]'
tap_ok "and carry frames" pwctl lab exec a ping -c 1 -W 5 b
pwctl lab down topo
sed -i 's/three.yaml/four.yaml/' "$dir/lab.yaml"
tap_is "a file that is not there" "$(status pwctl lab up "$dir/lab.yaml")" 1
tap_is "leaves nothing either" "$(left)" "$before"
# faults of cells: on the SAN that has them
cat >"$dir/faults.yaml" <<'EOF'
lab: faults
sans:
  - {id: 0, drop: 100000, fault-seed: 5, resend: 5000}
  - {id: 1, corrupt: 100000, resend: 5000}
  - {id: 2}
stations:
  - {name: a, port: 0, san: 0, address: 10.1.0.1/24}
  - {name: b, port: 5, san: 0, address: 10.1.0.2/24}
  - {name: c, port: 0, san: 1, address: 10.1.1.1/24}
  - {name: d, port: 5, san: 1, address: 10.1.1.2/24}
  - {name: e, port: 0, san: 2, address: 10.1.2.1/24}
  - {name: f, port: 5, san: 2, address: 10.1.2.2/24}
EOF
# hit SAN: were cells of it dropped, and were cells damaged?
hit() { pwctl -n faults -j san stages "$1" | jq -c '[([.[].dropped] | add > 0), ([.[].corrupted] | add > 0)]'; }
tap_ok "faults: up" pwctl lab up "$dir/faults.yaml"
for pair in "a b" "c d" "e f"; do
	tap_ok "frames arrive: $pair" pwctl lab exec "${pair% *}" ping -c 30 -i 0.01 -W 20 "${pair#* }"
done
tap_is "cells dropped and damaged" "$(hit 0) $(hit 1) $(hit 2)" "[true,false] [false,true] [false,false]"
pwctl lab down faults
tap_is "leaves nothing" "$(left)" "$before"
# source routes of stations
row=00830103020000000083000001000000
cat >"$dir/routes.yaml" <<EOF
lab: routes
sans:
  - {id: 1, engine: fast}
  - {id: 3, engine: fast}
routers:
  - ca san 3:14 san 1:14
stations:
  - name: a1
    san: 1
    port: 0
    address: 10.6.0.11/24
    route:
      - 00:03:02 l2rhs $row mtu 1400
      - 00:03:05-00:03:08 l2rhs 0083010302000000
  - {name: a2, san: 1, port: 1, address: 10.6.0.12/24}
  - {name: c2, san: 3, port: 1, address: 10.6.0.32/24, route: 00:01:02 l2rhs 0083010302000000}
EOF
routes() { pwctl lab exec "$1" pwctl -j route show dev pw0 | jq -c 'map([.first, .last, .mtu // 0])'; }
by_row() { pwctl lab exec "$1" pwctl -j stats | jq '.[0].stats.eep_tx_source_route'; }
tap_ok "source routes: up" pwctl lab up "$dir/routes.yaml" timeout 60000
tap_is "those of a station, with its MTU" "$(routes a1)" '[["00:03:02","00:03:02",1400],["00:03:05","00:03:08",0]]'
tap_is "of one without" "$(routes a2)" '[]'
tap_is "one line in place of a list" "$(routes c2)" '[["00:01:02","00:01:02",0]]'
one=$(by_row a1)
tap_ok "what it sends there" pwctl lab exec a1 pwctl ping 00:03:02 count 1 timeout 30000
tap_is "has the row in front" "$(($(by_row a1) - one))" 1
tap_ok "source routes: down" pwctl lab down routes
tap_is "leaves nothing" "$(left)" "$before"
# refused LINE: what it says about this line as the route of station a
refused() {
	printf 'lab: x\nstations:\n  - name: a\n    route: %s\n' "$1" >"$bad"
	pwctl lab up "$bad" 2>&1
}
form="station 'a': a route is one line, ADDR[-LAST] l2rhs HEX [mtu N]"
for line in "00:00:02" "00:00:02 l2rh $row" "00:00:02 l2rhs 0083" "00:00:02 l2rhs $row mtu" \
	    "00:00:02 l2rhs $row mtu x" "00:00:02 l2rhs $row dev pw0" "00:00:02-x l2rhs $row" "{a: b}"; do
	tap_is "no route: $line" "$(refused "$line")" "pwctl: $bad:4: $form"
done
tap_is "65 routes" "$(refused "[$(printf "00:00:02 l2rhs $row, %.0s" {1..65})]")" \
	"pwctl: $bad:4: station 'a': at most 64 routes"
tap_is "a row that the kernel refuses" "$(refused "00:00:02 l2rhs 0011223344556677" | tail -n 1)" \
	"pwctl: station 'a': route '00:00:02 l2rhs 0011223344556677' is refused"
tap_is "leaves nothing" "$(left)" "$before"
rm -r "$dir"
tap_is "exec without a lab" "$(status pwctl lab exec s1 true)" 2

# ring8.rst
if command -v script >/dev/null; then
	PWCTL_PROGRESS_MS=0 script -qec "pwctl lab up $labs/ring8.yaml" /dev/null </dev/null | tr '\r' '\n' >"$bad"
	tap_is "ring8: up" "${PIPESTATUS[0]}" 0
	tap_ok "on a terminal it says how far it is" grep -qE '^[0-9]+ of 24 steps, [0-9]+ %' "$bad"
	tap_ok "and the time left" grep -qE '^[0-9]+ of 24 steps, [0-9]+ %, about [0-9]+:[0-9]{2} left' "$bad"
else
	tap_ok "ring8: up" pwctl lab up "$labs/ring8.yaml"
fi
tap_is "twice is refused" "$(status pwctl lab up "$labs/ring8.yaml")" 2
tap_is "ring8: stations" "$(pwctl -j lab show | jq length)" 8
tap_is "host name" "$(pwctl lab exec s3 hostname)" s3
tap_is "sum" "$(pwctl lab exec s1 pwctl -j aton add | jq -c '.[0] | [.value, .interfaces]')" '[31,8]'
tap_is "the same at another station" "$(pwctl lab exec s5 pwctl -j aton add | jq '.[0].value')" 31
tap_is "largest" "$(pwctl lab exec s2 pwctl -j aton max | jq -c '.[0] | [.value, .addr]')" '[9,"00:00:06"]'
tap_is "last of the smallest" "$(pwctl lab exec s2 pwctl -j aton min | jq -c '.[0] | [.value, .addr]')" '[1,"00:00:04"]'
tap_is "sort" "$(pwctl lab exec s8 pwctl -j aton sort | jq -c '.[0].sorted')" '[1,1,2,3,4,5,6,9]'
tap_is "tree" "$(pwctl lab exec s1 pwctl -j aton tree ops add,max,min | jq '.[0].value')" 5
tap_ok "another operand" pwctl lab exec s6 pwctl aton set 100
tap_is "another sum" "$(pwctl lab exec s1 pwctl -j aton add | jq '.[0].value')" 122
one=$(pwctl lab exec s1 pwctl -j stats | jq '.[0].stats.ring_packets')
pwctl lab exec s1 pwctl aton add >/dev/null
tap_is "one packet, whatever the number of stations" \
	$(($(pwctl lab exec s1 pwctl -j stats | jq '.[0].stats.ring_packets') - one)) 1
tap_ok "EEP ping" pwctl lab exec s1 pwctl ping 00:00:08 count 2 interval 10
tap_ok "IP ping by name" pwctl lab exec s1 ping -c 1 -W 5 s8
tap_ok "view" pwctl lab exec s1 pwctl top once
sleep 600 &
other=$!
pwctl lab exec s4 sleep 600 &
inside=$!
# shellcheck disable=SC2016
busywait 60000 sh -c '[ "$(readlink "/proc/$0/ns/net")" != "$(readlink /proc/self/ns/net)" ]' $inside
tap_ok "ring8: down" pwctl lab down ring8
tap_is "leaves nothing" "$(left)" "$before"
tap_is "what ran in it has ended" "$(kill -0 $inside 2>/dev/null; echo $?)" 1
tap_ok "what ran elsewhere has not" kill $other

# teams.rst
tap_ok "teams: up" pwctl lab up "$labs/teams.yaml"
sum() { pwctl lab exec judge pwctl -j aton add region "$1" | jq -c '.[0] | [.value, .interfaces]'; }
tap_is "red" "$(sum 0xe00001)" '[60,3]'
tap_is "blue" "$(sum 0xe00002)" '[3,2]'
tap_is "both" "$(sum 0xe00003)" '[63,5]'
tap_is "vote" "$(pwctl lab exec judge pwctl -j aton majority reg 1 | jq -c '.[0] | [.majority, .count]')" '[7,4]'
tap_is "no majority among the blue" \
	"$(pwctl lab exec judge pwctl -j aton majority reg 1 region 0xe00002 | jq -c '.[0].majority')" null
tap_ok "teams: down" pwctl lab down
tap_is "leaves nothing" "$(left)" "$before"

# clos.rst
data=$(printf 'ab%.0s' $(seq 456))
# deliver DESTINATION...: s1, s2, ... send at once; cycles at which messages arrive
deliver() {
	local i=0 d mon

	pwctl -n clos san set 0 frozen 1
	timeout 120 pwctl -j monitor event pw_deliver count $# >"$bad" &
	mon=$!
	busywait 60000 sh -c 'test -d /sys/kernel/tracing/instances/pwctl-*'
	for d; do
		i=$((i + 1))
		pwctl lab exec s$i pwctl send "$d" pt 1500 hex "$data"
	done
	pwctl -n clos san set 0 frozen 0
	wait $mon
	jq -r .text "$bad" | sed 's/.*cycle=//' | sort -n
}
# most and least cycles from one arrival to the next, and from first to last
gaps() { awk 'NR == 1 { first = $1 } NR > 1 { d = $1 - last; if (NR == 2 || d < low) low = d } { last = $1 } END { print NR, low + 0, last - first }'; }

tap_ok "clos: up" pwctl lab up "$labs/clos.yaml"
read -r n _ all <<<"$(deliver 5 6 7 8 9 1 2 3 4 | gaps)"
tap_is "a permutation arrives" "$n" 9
tap_ok "side by side (first to last: $all cycles)" test "$all" -lt 2000
read -r n low all <<<"$(deliver 9 9 9 9 9 9 9 9 | gaps)"
tap_is "eight for one arrive" "$n" 8
tap_ok "one after the other (at least $low cycles apart)" test "$low" -gt 2000
tap_is "cells had to wait, none was lost" "$(pwctl lab exec s1 pwctl -j stats |
	jq -c '.[0].stats | [.fabric_stage2_refused > 0, .fabric_stage1_dropped + .fabric_stage2_dropped, .aal_resent]')" '[true,0,0]'
tap_ok "clos: down" pwctl lab down
tap_is "leaves nothing" "$(left)" "$before"

# nack.rst
esp() { pwctl lab exec "$1" pwctl -j esp "${@:2}" timeout 3000 | jq -r '.[0].outcome'; }
tap_ok "nack: up" pwctl lab up "$labs/nack.yaml"
# ten seconds are short on a slow machine
tap_ok "esp set" pwctl lab exec source pwctl esp set pw0 lifetime 300000
pwctl lab exec source sh -c 'ip link set pw0 down; ip link set pw0 up'
tap_is "it has taken effect" "$(pwctl lab exec source pwctl -j esp show pw0 | jq '.[0].lifetime')" 300000
tap_is "the first complaint passes" "$(esp r1 compare 1 tag 0x5eed val 40 op gt)" forwarded
tap_is "the same again does not" "$(esp r2 compare 1 tag 0x5eed val 40 op gt)" discarded
tap_is "an older packet passes" "$(esp r3 compare 1 tag 0x5eed val 38 op gt)" forwarded
tap_is "and then nothing else" "$(esp r4 compare 1 tag 0x5eed val 40 op gt)" discarded
tap_is "three answers of five" "$(for r in r1 r2 r3 r4 r5; do esp $r count 1 tag 0xc0 thresh 3; done | sort | uniq -c | awk '{ printf "%s %s ", $1, $2 }')" \
	"2 discarded 3 forwarded "
tap_is "collect without its count" "$(esp r1 collect 1 val-tag 0xda cnt-tag 0xcc val 17 op max)" aborted
tap_is "the count" "$(esp r1 compare 1 tag 0xc3 val 3 op ne)" forwarded
tap_is "collect: one" "$(esp r1 collect 1 val-tag 0xdb cnt-tag 0xc3 val 17 op max)" discarded
tap_is "collect: two" "$(esp r2 collect 1 val-tag 0xdb cnt-tag 0xc3 val 99 op max)" discarded
tap_is "collect: three, with the maximum" \
	"$(pwctl lab exec r3 pwctl -j esp collect 1 val-tag 0xdb cnt-tag 0xc3 val 5 op max | jq -c '.[0] | [.outcome, .val]')" '["forwarded",99]'
tap_is "esp show" "$(pwctl lab exec source pwctl -j esp show pw0 | jq -c '.[0] | [.dev, .node, .used > 0]')" '["pw0","00:00:01",true]'
tap_ok "esp bindings" pwctl lab exec source pwctl esp bindings pw0
tap_is "esp bindings need a privilege" "$(status pwctl lab exec source setpriv --reuid 65534 --clear-groups pwctl esp bindings pw0)" 2
tap_ok "nack: down" pwctl lab down
tap_is "leaves nothing" "$(left)" "$before"

# sans.rst
tap_ok "sans: up" pwctl lab up "$labs/sans.yaml" timeout 60000
tap_is "routers" "$(pwctl -n sans -j router show | jq -c '[.[].name] | sort')" '["ab","bc","ca"]'
tap_is "two routes to each SAN, one of them best" \
	"$(pwctl -n sans -j route show san 1 | jq -c 'map(select(.first == "00:03:01") | .best) | sort')" '[false,true]'
busywait 60000 sh -c "pwctl -n sans resolve c2 san 1 >/dev/null 2>&1"
tap_is "names" "$(pwctl -n sans -j name show san 1 | jq -r 'map(.name) | unique | join(" ")')" "a1 a2 ab b1 b2 bc c1 c2 ca"
tap_is "resolve by name from a station" "$(pwctl lab exec a1 pwctl -j resolve c2 timeout 30000 | jq -r '.[0].addr')" 00:03:02
tap_ok "ping across" pwctl lab exec a1 pwctl ping 00:03:02 count 2 interval 10 timeout 30000
tap_ok "IP ping across" pwctl lab exec a1 ping -c 1 -W 10 c2
trace() { pwctl lab exec a1 pwctl -j trace 00:03:02 timeout 30000 "$@"; }
one=$(trace)
tap_is "trace" "$(jq -c '.[0] | [.router, .addr, .out]' <<<"$one")" '["ca","00:01:0f","00:03:0f"]'
tap_is "the same number again" "$(trace | jq '.[-1]."virtual-ns"')" "$(jq '.[-1]."virtual-ns"' <<<"$one")"
tap_is "by source route" "$(trace by-route | jq -c '[.[0].router, .[-1].by]')" '["ca","route"]'
tap_ok "by another middle switch" pwctl lab exec a1 pwctl ping 00:03:02 \
	route 00830103020000000083000001000000 count 1 timeout 30000
tap_ok "route add" pwctl -n sans route add 00:03:01-00:03:10 san 1 via 00:01:10
tap_is "round by SAN 2" "$(trace | jq -c 'map(.router // empty)')" '["ab","bc"]'
tap_ok "route del" pwctl -n sans route del 00:03:01-00:03:10 san 1 via 00:01:10
tap_is "and back" "$(trace | jq -c 'map(.router // empty)')" '["ca"]'
tap_ok "a router goes" pwctl -n sans router del ca
busywait 60000 sh -c "pwctl -n sans -j route show san 1 | jq -e 'map(select(.best and .first == \"00:03:01\")) | length == 1' >/dev/null"
busywait 60000 sh -c "pwctl -n sans -j route show san 3 | jq -e 'map(select(.best and .first == \"00:01:01\")) | length == 1' >/dev/null"
two=$(trace)
tap_is "another route" "$(jq -c 'map(.router // empty)' <<<"$two")" '["ab","bc"]'
tap_ok "and a longer one" test "$(jq '.[-1]."virtual-ns"' <<<"$two")" -gt "$(jq '.[-1]."virtual-ns"' <<<"$one")"
tap_ok "sans: down" pwctl lab down
tap_is "leaves nothing" "$(left)" "$before"
rm -f "$bad"
tap_done
