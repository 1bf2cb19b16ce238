#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# No nonce of a secret is used twice, run on the host: both ends of a trunk with the same secret
# are made, made again, and made after the module was loaded anew, on two boots of one guest.
# The nonces are read from captured packets. K=KERNEL, default 6.12.

set -u
self=$(readlink -f "$0")
top=$(CDPATH='' cd -- "$(dirname -- "$self")/.." && pwd -P)
lives="made again reloaded"

if [ "${1:-}" = "" ]; then
	# shellcheck source=../scripts/lib/tap
	. "$top/scripts/lib/tap"
	work=$(mktemp -d "${TMPDIR:-/tmp}/pwnonce.XXXXXX") || exit 1
	trap 'rm -rf "$work"' EXIT
	"$top/scripts/pkg/build-module" -q "${K:-6.12}" >/dev/null || exit 1
	for boot in 1 2; do
		mkdir "$work/$boot"
		# the CPU's random numbers are not trusted: two boots are as alike as they can be
		tap_ok "boot $boot" "$top/scripts/vm" --kernel "${K:-6.12}" --smp 1 --timeout 280 \
			--append random.trust_cpu=off --append random.trust_bootloader=off \
			--out "$work/$boot" -- "$self" guest </dev/null
	done
	for f in "$work"/[12]/*; do
		cut -c 1-16 "$f" | sort -u >"$f.sessions"
		tap_ok "${f#"$work/"}: each end has a session" test "$(wc -l <"$f.sessions")" -ge 2
	done
	tap_is "captures" "$(cd "$work" && echo [12]/*[a-z].sessions)" \
		"1/again.sessions 1/made.sessions 1/reloaded.sessions 2/again.sessions 2/made.sessions 2/reloaded.sessions"
	# twice FILE...: lines that occur more than once in all of them
	twice() { sort -- "$@" | uniq -d; }
	for boot in 1 2; do
		cd "$work/$boot" || exit 1
		tap_is "boot $boot: no session again when the trunk is made again" "$(twice {made,again}.sessions)" ""
		tap_is "boot $boot: nor when the module is loaded again" "$(twice {made,again,reloaded}.sessions)" ""
	done
	cd "$work" || exit 1
	tap_is "nor after a reboot" "$(twice [12]/*.sessions)" ""
	rm [12]/*.sessions
	tap_is "of $(cat [12]/* | wc -l) packets no two have a nonce in common" "$(twice [12]/*)" ""
	tap_done
	exit
fi

set +u
. "$(dirname "$self")/lib.sh"
pw_need pwctl ip tcpdump
key=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
trap cleanup_all_ns EXIT
setup_ns first second
# shellcheck disable=SC2154 # setup_ns sets them
hosts=("$first" "$second")
ip -n "$first" link add v0 type veth peer name v1 netns "$second"
for i in 0 1; do
	ip -n "${hosts[$i]}" addr add 192.0.2.$((i + 1))/24 dev v$i
	ip -n "${hosts[$i]}" link set v$i up
done

# nonces FILE: session and sequence number of each packet; "?": not one of a trunk with a secret
nonces() {
	tcpdump -t -n -x -r "$1" 2>/dev/null | awk '
		# behind the headers of IP and UDP
		function put() {
			if (h == "")
				return
			if (substr(h, 57, 4) == "5001" && substr(h, 64, 1) ~ /[2367abef]/)
				print substr(h, 73, 32)
			else
				print "?" h
			h = ""
		}
		/^\t0x/ { sub(/^.*: +/, ""); gsub(/ /, ""); h = h $0; next }
		{ put() }
		END { put() }'
}

# life NAME: make both ends, let them speak, delete them; what they sent
life() {
	local i n dump log=/run/log

	ip netns exec "$first" tcpdump -i v0 -n -U --immediate-mode -w /run/pcap 'udp port 7777' >/dev/null 2>$log &
	dump=$!
	busywait 60000 grep -q 'listening on' $log
	for i in 0 1; do
		n=$((i + 1))
		ip netns exec "${hosts[$i]}" pwctl router add t san $n:15 trunk udp 192.0.2.$n:7777 \
			192.0.2.$((2 - i)):7777 secret $key
	done
	busywait 60000 ip netns exec "$first" pwctl resolve s2 san 1 >/dev/null
	tap_ok "$1: packets cross" ip netns exec "$first" pwctl ping 00:02:01 count 3 interval 10 dev s1 timeout 60000
	for i in 0 1; do
		ip netns exec "${hosts[$i]}" pwctl router del t
	done
	kill -INT $dump
	wait $dump 2>/dev/null
	nonces /run/pcap >"$PW_OUT/$1"
	tap_ok "$1: they were captured" test "$(wc -l <"$PW_OUT/$1")" -ge 10
	tap_not "$1: all have a tag" grep '?' "$PW_OUT/$1"
}

for name in $lives; do
	if [ "$name" = reloaded ]; then
		tap_ok "rmmod" rmmod packetway
		tap_ok "insmod" insmod "$PW_KO"
	fi
	for i in 0 1; do
		[ "$name" = again ] ||
			ip netns exec "${hosts[$i]}" pwctl station add s$((i + 1)) san $((i + 1)) port 0 up
	done
	life "$name"
done
tap_done
