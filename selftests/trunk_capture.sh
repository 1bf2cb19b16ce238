#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The dissector on frames captured on real trunks: over UDP and over a device, plain and
# with a key, which is a preference. The captures stay in $PW_OUT (scripts/vm --out DIR).

. "$(dirname "$0")/lib.sh"
pw_need pwctl ip tcpdump tshark jq
tmp=$(mktemp -d)
trap 'cleanup_all_ns; rm -rf "$tmp"' EXIT
setup_ns first second
HOME=$tmp XDG_CONFIG_HOME=$tmp
export HOME XDG_CONFIG_HOME
key=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f

# shellcheck disable=SC2154 # setup_ns sets them
hosts=("$first" "$second")
ip -n "$first" link add v0 type veth peer name v1 netns "$second"
for i in 0 1; do
	n=$((i + 1))
	ip -n "${hosts[$i]}" addr add 192.0.2.$n/24 dev v$i
	ip -n "${hosts[$i]}" link set v$i up
	ip netns exec "${hosts[$i]}" pwctl station add s$n san $n port 0 up
done

columns="frame.protocols pwtrunk.type pwtrunk.addr pwtrunk.id pwtrunk.tag.ok pwtrunk.note.key
	pwrrp.message pwrrp.part pwrrp.name pweep.pt pweep.te pweep.src pweep.dst
	pweep.note.length pweep.note.illegal _ws.malformed"

# look FILE KEYS: a line for each packet of a capture; a guest takes seconds to start tshark
look() {
	local c words=()

	for c in $columns; do
		words+=(-e "$c")
	done
	tshark -n -X "lua_script:$PW_TOP/tools/wireshark/packetway.lua" -o "pwtrunk.keys:$2" \
		-r "$tmp/$1.pcap" -T fields -E 'separator=|' "${words[@]}" >"$tmp/$1.txt" 2>"$tmp/log"
}

# count FILE CONDITION: lines for which a condition of awk holds; $N is named by its column
count() {
	local c i=0 cond=$2

	for c in $columns; do
		i=$((i + 1))
		cond=${cond//"<$c>"/"\$$i"}
	done
	awk -F'|' "$cond { n++ } END { print n + 0 }" "$tmp/$1.txt"
}

# ends_add A B: a trunk with these words at both ends, and an echo over it
ends_add() {
	# shellcheck disable=SC2086 # several words
	ip netns exec "$first" pwctl router add t san 1:15 trunk $1 &&
		ip netns exec "$second" pwctl router add t san 2:15 trunk $2 &&
		busywait 60000 ip netns exec "$first" pwctl resolve s2 san 1 >/dev/null &&
		ip netns exec "$first" pwctl ping 00:02:01 count 1 dev s1 timeout 60000
}

# capture NAME A B: what such a trunk sends
capture() {
	local dump status

	ip netns exec "$first" tcpdump -i v0 -n -U --immediate-mode -w "$tmp/$1.pcap" \
		'udp port 7777 or ether proto 0x88b5' >/dev/null 2>"$tmp/log" &
	dump=$!
	busywait 60000 grep -q 'listening on' "$tmp/log"
	ends_add "$2" "$3"
	status=$?
	kill -INT "$dump"
	wait "$dump" 2>/dev/null
	ip netns exec "$first" pwctl router del t
	ip netns exec "$second" pwctl router del t
	[ -z "${PW_OUT:-}" ] || cp "$tmp/$1.pcap" "$PW_OUT"
	return "$status"
}

# check NAME: what a capture that can be read must have
check() {
	tap_ok "$1: packets were captured" test "$(count "$1" '<pwtrunk.type> != ""')" -gt 5
	tap_is "$1: each is one of a trunk" "$(count "$1" '<pwtrunk.type> == ""')" 0
	tap_ok "$1: hellos of one half" test "$(count "$1" '<pwtrunk.addr> == "0x000110"')" -ge 1
	tap_ok "$1: and of the other" test "$(count "$1" '<pwtrunk.addr> == "0x000210"')" -ge 1
	tap_ok "$1: tables" test "$(count "$1" '<pwrrp.message> == 9 && <pwrrp.part> == 0')" -ge 2
	tap_ok "$1: a name in a table" test "$(count "$1" '<pwrrp.name> ~ /s2/')" -ge 1
	tap_ok "$1: the echo request" test \
		"$(count "$1" '<pweep.pt> == 1027 && <pweep.te> == 1 && <pweep.src> == "0x000101"')" -ge 1
	tap_ok "$1: its reply" test \
		"$(count "$1" '<pweep.pt> == 1027 && <pweep.te> == 2 && <pweep.dst> == "0x000101"')" -ge 1
	tap_is "$1: nothing is malformed" \
		"$(count "$1" '<pweep.note.length> <pweep.note.illegal> <_ws.malformed> != ""')" 0
}

tap_ok "a plain trunk over UDP" capture udp "udp 192.0.2.1:7777 192.0.2.2:7777 insecure" \
	"udp 192.0.2.2:7777 192.0.2.1:7777 insecure"
look udp ''
check udp
tap_ok "over a device" capture dev "dev v0 id 5" "dev v1 id 5"
look dev ''
check dev
tap_is "the device's trunk" "$(count dev '<pwtrunk.id> != 5')" 0
tap_ok "with a key over UDP" capture udpkey "udp 192.0.2.1:7777 192.0.2.2:7777 secret $key" \
	"udp 192.0.2.2:7777 192.0.2.1:7777 secret $key"
tap_ok "with a key over a device" capture devkey "dev v0 secret $key" "dev v1 secret $key"
look udpkey ''
tap_is "without the key nothing is read" "$(count udpkey '<pweep.pt> <pwtrunk.addr> != ""')" 0
tap_is "and no key fits" "$(count udpkey '<pwtrunk.note.key> == "" || <pwtrunk.tag.ok> != 0')" 0
look udpkey "${key//0/f}"
tap_is "nor with another one" "$(count udpkey '<pweep.pt> <pwtrunk.addr> != ""')" 0
for f in udpkey devkey; do
	look $f "ff,${key//0/f},$key"
	check $f
	tap_is "$f: every tag fits" "$(count $f '<pwtrunk.tag.ok> != 1')" 0
done
tap_done
