#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A trunk inside WireGuard, by the lines of
# Documentation/networking/packetway-routers.rst: two namespaces are the two hosts.

. "$(dirname "$0")/lib.sh"
pw_need pwctl wg ip tcpdump jq
modprobe -q wireguard
page=$PW_TOP/Documentation/networking/packetway-routers.rst
tmp=$(mktemp -d)
trap 'cleanup_all_ns; rm -rf "$tmp"' EXIT
setup_ns first second
# shellcheck disable=SC2154 # setup_ns sets them
hosts=("$first" "$second")
if ! ip -n "$first" link add wg0 type wireguard 2>/dev/null; then
	pw_skip "this kernel has no WireGuard"
fi
ip -n "$first" link del wg0

# on HOST WORDS: run the indented lines behind the line of the page that ends with WORDS
on() {
	awk -v words="$2" '
		at && /^[^\t]/ { exit }
		at { sub(/^\t/, ""); print }
		substr($0, length($0) - length(words) + 1) == words { at = 1 }' "$page" >"$tmp/$1/block"
	test -s "$tmp/$1/block" &&
		(cd "$tmp/$1" && ip netns exec "${hosts[$1]}" bash -eu ./block)
}

stat_of() { ip netns exec "$first" pwctl -j router show t stats | jq ".[0].trunk.stats.\"$1\""; }
# refused N: has the first host refused so many packets without the secret?
refused() { [ "$(stat_of drop-auth)" -ge "$1" ]; }

ip -n "$first" link add v0 type veth peer name v1 netns "$second"
for i in 0 1; do
	n=$((i + 1))
	mkdir "$tmp/$i"
	ip -n "${hosts[$i]}" addr add 192.0.2.$n/24 dev v$i
	ip -n "${hosts[$i]}" link set v$i up
	ip netns exec "${hosts[$i]}" pwctl station add s$n san $n port 0 up
	ip -n "${hosts[$i]}" addr add 10.8.0.$n/24 dev s$n
	tap_ok "keys of host $n" on $i 'of the two hosts::'
done
cp "$tmp/0/wg.pub" "$tmp/1/peer.pub"
cp "$tmp/1/wg.pub" "$tmp/0/peer.pub"
tap_ok "the trunk's secret" on 0 'of them makes it::'
cp "$tmp/0/trunk.key" "$tmp/1/trunk.key"

ip netns exec "$first" tcpdump -i v0 -n -U -w "$tmp/link.pcap" udp 2>"$tmp/tcpdump" &
dump=$!
busywait 60000 grep -q 'listening on' "$tmp/tcpdump"
tap_ok "set-up of the first host" on 0 '192.0.2.1::'
tap_ok "set-up of the second host" on 1 '192.0.2.2::'
tap_ok "a ping passes the trunk" busywait 60000 ip netns exec "$first" ping -q -c 1 -W 5 10.8.0.2
# what is captured reaches the file later
busywait 60000 eval "tcpdump -n -r $tmp/link.pcap port 51820 2>/dev/null | grep -q ." >/dev/null
kill -INT $dump
wait $dump 2>/dev/null
tap_is "the link carries no trunk packets" \
	"$(tcpdump -n -r "$tmp/link.pcap" port 7777 2>/dev/null | wc -l)" 0
tap_ok "but WireGuard's" test "$(tcpdump -n -r "$tmp/link.pcap" port 51820 2>/dev/null | wc -l)" -gt 0

# around the tunnel: as if the second host sent them, without the secret
before=$(stat_of drop-auth)
ip -n "$second" route replace 10.9.0.1/32 via 192.0.2.1 dev v1
ip netns exec "$second" "$PW_BUILD/selftests/trunk_peer" inject 10.9.0.2 10.9.0.1 7777 50
ip -n "$second" route del 10.9.0.1/32 via 192.0.2.1 dev v1
tap_ok "packets around the tunnel are refused" busywait 60000 refused $((before + 50))
tap_ok "and the trunk goes on" busywait 60000 ip netns exec "$first" ping -q -c 1 -W 5 10.8.0.2
tap_done
