#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The examples in the help of every verb of pwctl, run as they stand: the kernel may refuse
# one (status 2) or no answer may come (3), but no word of it may be wrong (1). And doctor
# where the module is loaded.

. "$(dirname "$0")/lib.sh"
pw_need pwctl jq
cd "$PW_TOP" || exit 1
tmp=$(mktemp -d)

ip link set pw0 up
tap_is "doctor: nothing is bad" "$(pwctl -j doctor | jq -c 'map(select(.verdict == "bad"))')" '[]'
tap_is "and its status" "$(pwctl doctor >/dev/null 2>&1; echo $?)" 0
tap_is "it has seen module, device and stations" \
	"$(pwctl -j doctor | jq -c 'map(select(.verdict == "ok") | .check) | contains(["module", "/dev/packetway", "stations"])')" true
ip link set pw0 down
tap_is "a station that is down" "$(pwctl -j doctor | jq -r '.[] | select(.check == "stations") | .todo')" "sudo ip link set pw0 up"
ip link set pw0 up
max=$(cat /proc/sys/net/packetway/max_stations)
echo 1 >/proc/sys/net/packetway/max_stations
tap_is "a limit that is reached" "$(pwctl -j doctor | jq -r '.[] | select(.check == "limit") | .todo')" \
	"sudo sysctl net.packetway.max_stations=2"
echo "$max" >/proc/sys/net/packetway/max_stations
chmod 600 /dev/packetway
tap_is "a device that is closed" "$(setpriv --reuid 65534 --clear-groups pwctl -j doctor |
	jq -r '.[] | select(.check == "/dev/packetway") | .verdict')" bad
chmod 666 /dev/packetway

pwctl -c station show pw0 >"$tmp/colours"
tap_is "colours: name, address, state" "$(grep -oE $'\033\\[[0-9]+m' "$tmp/colours" | tr -d '\033' | paste -sd ' ')" \
	"[36m [0m [33m [0m [32m [0m"

pwctl station add pw1 port 1 up
mapfile -t lines < <(for v in $(pwctl help | sed -n 's/^  pwctl \([a-z][a-z-]*\).*/\1/p' | sort -u); do
	pwctl help "$v"
done | sed -n 's/^        example: //p')
tap_ok "examples (${#lines[@]})" test ${#lines[@]} -ge 60
for line in "${lines[@]}"; do
	case $line in
	*experiment*|*capture*)
		tap_skip "$line" "tools/testing/pwctl runs it; mon.sh has captures, whose tools take long to start"
		continue ;;
	*node-exporter*) run=${line/\/var\/lib\/prometheus\/node-exporter/$tmp} ;;
	*'poets run'*) run=${line/build/${PW_BUILD:-build}} run=${run/report.csv/$tmp/report.csv} ;;
	*) run=$line ;;
	esac
	case $line in
	# what ends by itself, and must not be cut off; the others may go on for ever
	*' lab '*|*'poets run'*) limit=200 ;;
	*) limit=2 ;;
	esac
	# shellcheck disable=SC2086
	timeout -s INT $limit $run >"$tmp/out" 2>&1 </dev/null
	tap_result $(($? == 1)) "$line" "$tmp/out"
done
for r in ab t; do pwctl router del $r 2>/dev/null; done
pwctl station del pw1 2>/dev/null
for s in 1 2; do pwctl san del $s 2>/dev/null; done
rm -rf "$tmp"
tap_done
