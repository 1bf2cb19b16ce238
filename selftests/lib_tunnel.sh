#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Sourced by tests of a trunk inside another tunnel, by the lines of
# Documentation/networking/packetway-routers.rst: two namespaces are the two hosts.

. "$(dirname "$0")/lib.sh"
page=$PW_TOP/Documentation/networking/packetway-routers.rst
tmp=$(mktemp -d)
trap 'cleanup_all_ns; rm -rf "$tmp"' EXIT
setup_ns first second
# shellcheck disable=SC2154 # setup_ns sets them
hosts=("$first" "$second")

# tunnel_need TYPE NAME ARGUMENT...: skip if the kernel makes no such device
tunnel_need() {
	modprobe -q "$1"
	if ! ip -n "$first" link add probe0 type "$1" "${@:3}" 2>/dev/null; then
		pw_skip "this kernel has no $2"
	fi
	ip -n "$first" link del probe0
}

# on HOST WORDS: run the indented lines behind the line of the page that ends with WORDS
on() {
	awk -v words="$2" '
		at && /^[^\t]/ { exit }
		at { sub(/^\t/, ""); print }
		substr($0, length($0) - length(words) + 1) == words { at = 1 }' "$page" >"$tmp/$1/block"
	test -s "$tmp/$1/block" &&
		(cd "$tmp/$1" && ip netns exec "${hosts[$1]}" bash -eu ./block)
}

# tunnel_hosts: both hosts on one link, each with a SAN and a station
tunnel_hosts() {
	local i n

	ip -n "$first" link add v0 type veth peer name v1 netns "$second"
	for i in 0 1; do
		n=$((i + 1))
		mkdir "$tmp/$i"
		ip -n "${hosts[$i]}" addr add 192.0.2.$n/24 dev v$i
		ip -n "${hosts[$i]}" link set v$i up
		ip netns exec "${hosts[$i]}" pwctl station add s$n san $n port 0 up
		ip -n "${hosts[$i]}" addr add 10.8.0.$n/24 dev s$n
	done
}

# tunnel_secret: made on the first host by the line of the page, and copied to the second one
tunnel_secret() {
	tap_ok "the trunk's secret" on 0 'of them makes it::'
	cp "$tmp/0/trunk.key" "$tmp/1/trunk.key"
}

# tunnel_dump FILTER...: capture what passes the link between the hosts
tunnel_dump() {
	ip netns exec "$first" tcpdump -i v0 -n -U -w "$tmp/link.pcap" "$@" 2>"$tmp/tcpdump" &
	dump=$!
	busywait 60000 grep -q 'listening on' "$tmp/tcpdump"
}

# tunnel_dumped FILTER: number of packets in the capture
tunnel_dumped() { tcpdump -n -r "$tmp/link.pcap" "$@" 2>/dev/null | wc -l; }

# tunnel_dump_end FILTER: what is captured reaches the file later; wait for such a packet
tunnel_dump_end() {
	# shellcheck disable=SC2317 # called by busywait
	some() { [ "$(tunnel_dumped "$@")" -gt 0 ]; }
	busywait 60000 some "$@" >/dev/null
	kill -INT "$dump"
	wait "$dump" 2>/dev/null
}
