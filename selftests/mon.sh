#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pwmon devices: frames, ring packets and cells at every hop, captured by plain
# tcpdump and decoded by tshark; only the SANs of one's own namespace; nothing left.

. "$(dirname "$0")/lib.sh"
pw_need tcpdump tshark mergecap pwctl
lua=$PW_TOP/tools/wireshark/packetway.lua
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# start NAME DEVICE [OPTION...]: tcpdump, once it listens
start() {
	local file=$tmp/$1.pcap dev=$2

	shift 2
	$in tcpdump -i "$dev" -U -w "$file" "$@" 2>"$tmp/tcpdump" &
	cap=$!
	busywait 60000 grep -q listening "$tmp/tcpdump"
}
captured() {
	tcpdump --count -r "$tmp/$1.pcap" 2>/dev/null | cut -d ' ' -f 1
}
# finish NAME N: at least N packets are in it, and tcpdump has ended
finish() {
	for _ in $(seq 100); do
		[ "$(captured "$1")" -ge "$2" ] && break
		sleep 0.1
	done
	kill -INT $cap
	wait $cap
	names+=("$1")
}
in='' names=()

tap_ok "a pwmon device" ip link add pwmon0 type pwmon
tap_is "sees packets, and more when asked" "$(ip -d link show pwmon0 | grep -o 'ring.*cells [a-z]*')" \
	"ring off cells off"
tap_ok "ring packets, asked for when it is made" ip link add pwmon1 type pwmon ring on
tap_ok "and later" ip link set pwmon0 type pwmon cells on
tap_is "as it says" "$(ip -d link show pwmon0 | grep -o 'ring.*cells [a-z]*')" "ring off cells on"
tap_not "a word that it does not know" ip link set pwmon0 type pwmon colour on
ip link set pwmon0 up
ip link set pw0 up
ip link add pw1 type packetway
ip link add pw2 type packetway
ip link set pw1 up
ip link set pw2 up

# packets; without a timed engine there is neither virtual time nor a cell
pwctl san set 0 engine none
start eep pwmon0
pwctl ping 2 count 1 dev pw0 >/dev/null
pwctl ping 9 count 1 dev pw0 >/dev/null
finish eep 7

# the ring, in both engines
ip link set pwmon1 up
for p in 0 1 2; do
	pwctl aton set $((10 + p)) dev pw$p
done
for engine in fast rtl; do
	pwctl san set 0 ring-engine $engine
	start ring-$engine pwmon1
	pwctl aton add dev pw1 >/dev/null
	pwctl aton sort dev pw2 >/dev/null
	finish ring-$engine 6
done
ip link set pwmon1 down
pwctl san set 0 ring-engine fast

# cells, in both engines: 3 of data and 3 acknowledgments at 4 units
for engine in fast rtl; do
	pwctl san set 0 engine $engine
	start cells-$engine pwmon0
	pwctl send 2 pt 1500 text "what is in the cells of this message can be read in both engines" dev pw0
	finish cells-$engine 26
done
pwctl san set 0 engine fast
# a topology numbers input units by switch: two switches, 5 inputs each, between ports 0 and 1
pwctl san set 0 topology mesh:4x4
start mesh pwmon0
pwctl send 2 pt 1500 text "what is in the cells of this message can be read in both engines" dev pw0
finish mesh 20
pwctl san set 0 topology default
pwctl fault fabric drop 300000 seed 3
start faults pwmon0
pwctl send 2 pt 1500 text "some of the cells of this message are lost on the way" dev pw0
finish faults 20
pwctl fault fabric
pwctl san set 0 engine none

# a namespace of its own
setup_ns other
# shellcheck disable=SC2154 # setup_ns sets it
ip -n "$other" link add pwmon0 up type pwmon ring on
ip -n "$other" link add pw0 type packetway
ip -n "$other" link set pw0 up
in="ip netns exec $other"
start other pwmon0
pwctl ping 2 count 1 dev pw0 >/dev/null
$in pwctl aton add >/dev/null
finish other 1
cleanup_ns "$other"

# pwctl makes and removes its own
timeout 120 pwctl capture ring tcpdump -c 3 >"$tmp/pwctl" 2>&1 &
cap=$!
for _ in $(seq 100); do
	kill -0 $cap 2>/dev/null || break
	pwctl aton max dev pw0 >/dev/null
done
wait $cap
tap_is "pwctl capture ring" $? 0
tap_ok "sees what is on the ring" grep -q '3 packets captured' "$tmp/pwctl"
timeout -s INT 2 pwctl capture monitor tcpdump >/dev/null 2>&1
tap_is "and leaves no pwmon device, interrupted or not" "$(ip -br link | grep -c '^pwmon-')" 0

ip link del pwmon0
ip link set pwmon1 up
tap_ok "removal while it is up" ip link del pwmon1
ip link del pw1
ip link del pw2

if [ "$PW_FLAVOUR" != stock ]; then
	for name in "${names[@]}"; do
		tap_ok "$name: captured (tshark is for faster kernels)" test "$(captured "$name")" -gt 0
	done
	tap_done
fi

# tshark takes seconds to start: once for all
(cd "$tmp" && mergecap -a -F pcap -w all.pcap "${names[@]/%/.pcap}")
columns="pw.kind pw.direction pw.unit.type pw.unit pw.vtime pweep.te pweep.dst pwaton.opcode pwaton.counter
 pwaton.v1 pwaton.operand pwaton.crc.ok pwbmx.type pwbmx.sequence pwbmx.crc.ok pwbmx.data _ws.expert"
# shellcheck disable=SC2086,SC2046 # words
tshark -X "lua_script:$lua" -r "$tmp/all.pcap" -T fields -E separator='|' -E occurrence=a \
	$(printf -- '-e %s ' $columns) >"$tmp/all" 2>"$tmp/err"
tap_is "tshark reads them all" $? 0
first=1
for name in "${names[@]}"; do
	n=$(captured "$name")
	sed -n "$first,$((first + n - 1))p" "$tmp/all" >"$tmp/$name"
	first=$((first + n))
done
# fields NAME CONDITION FIELDS: awk over a capture, with the columns as variables
assign='' n=0
for c in $columns; do
	assign+="${c//./_} = \$$((++n)); "
done
fields() {
	awk -F '|' "{ $assign } $2 { print $3 }" "$tmp/$1"
}

tap_is "an echo at both ends, both ways" \
	"$(fields eep pweep_dst 'pw_unit, pw_direction, pweep_te' | head -n 4 | tr '\n' ',')" \
	"0 2 1,1 1 1,1 2 2,0 1 2,"
tap_is "a packet that is dropped, and where" \
	"$(fields eep 'pw_direction == 3' 'pw_unit_type, pw_unit, pweep_dst' | head -n 1)" "0 0 0x000009"
tap_is "nothing that was not asked for" "$(fields eep 'pw_kind != 1' pw_unit)" ""
for engine in fast rtl; do
	tap_is "$engine: a sum grows from hop to hop" \
		"$(fields ring-$engine 'pwaton_opcode == 1' 'pw_unit, pwaton_counter, pwaton_v1' | tr '\n' ',')" \
		"1 1 11,2 2 23,0 3 33,"
	tap_is "$engine: a list grows" \
		"$(fields ring-$engine 'pwaton_opcode == 16' 'pw_unit, pwaton_operand' | tr '\n' ';')" \
		"2 12;0 10,12;1 10,11,12;"
	tap_is "$engine: every CRC is right, nothing is malformed" \
		"$(fields ring-$engine 'pw_kind == 2 && (pwaton_crc_ok != 1 || _ws_expert)' 'pw_unit, _ws_expert')" ""
	tap_is "$engine: one bit time from hop to hop, and the active monitor's buffer between last and first" \
		"$(fields ring-$engine 'pw_kind == 2' pw_vtime | sort -n |
			awk 'NR > 1 { print $1 - last } { last = $1 }' | sed -n '1,2p;4,5p' | tr '\n' ' ')" "1 22 22 1 "
	tap_is "$engine: every cell at three stages and a port" \
		"$(fields cells-$engine 'pw_kind == 3' 'pw_unit_type, pwbmx_type' | sort | uniq -c |
			awk '{ print $2 "/" $3 ":" $1 }' | tr '\n' ' ')" "2/0:9 2/1:9 4/0:3 4/1:3 "
	tap_is "$engine: CRCs of cells are right" "$(fields cells-$engine 'pw_kind == 3 && pwbmx_crc_ok != 1' pw_unit)" ""
	fields cells-$engine 'pw_kind == 3' 'pw_vtime, pw_unit_type, pw_unit, pwbmx_type, pwbmx_sequence, pwbmx_data' |
		sort -n | awk 'NR == 1 { first = $1 } { $1 -= first; print }' >"$tmp/list-$engine"
	tap_ok "$engine: packets have the SAN's virtual time" \
		test "$(fields cells-$engine 'pw_kind == 1 && pw_direction == 1' pw_vtime | head -n 1)" -gt 0
done
tap_is "a topology: cells at the inputs of stations and links, and at ports" \
	"$(fields mesh 'pw_kind == 3' 'pw_unit_type, pw_unit, pwbmx_type' | sort | uniq -c |
		awk '{ print $2 "." $3 "/" $4 ":" $1 }' | tr '\n' ' ')" "2.0/0:3 2.1/1:3 2.5/1:3 2.7/0:3 4.0/1:3 4.1/0:3 "
tap_ok "both engines show the same cells in the same cycles" diff "$tmp/list-fast" "$tmp/list-rtl"
tap_ok "with what was sent in them" grep -q '74 68 69 73 20 6d 65 73 73 61 67 65' "$tmp/list-rtl"
tap_ok "cells that are lost show" test -n "$(fields faults 'pw_kind == 3 && pw_direction == 3' pw_unit)"
tap_is "the SANs of one's own namespace, and no others" \
	"$(fields other 1 pw_kind | sort | uniq -c | awk '{ print $2 ":" $1 }')" "2:1"
tap_done
