#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A trunk inside WireGuard, by the lines of
# Documentation/networking/packetway-routers.rst: two namespaces are the two hosts.

. "$(dirname "$0")/lib_tunnel.sh"
pw_need pwctl wg ip tcpdump jq
tunnel_need wireguard WireGuard

stat_of() { ip netns exec "$first" pwctl -j router show t stats | jq ".[0].trunk.stats.\"$1\""; }
# refused N: has the first host refused so many packets without the secret?
refused() { [ "$(stat_of drop-auth)" -ge "$1" ]; }

tunnel_hosts
for i in 0 1; do
	tap_ok "keys of host $((i + 1))" on $i 'of the two hosts::'
done
cp "$tmp/0/wg.pub" "$tmp/1/peer.pub"
cp "$tmp/1/wg.pub" "$tmp/0/peer.pub"
tunnel_secret
tunnel_dump udp
tap_ok "set-up of the first host" on 0 '192.0.2.1::'
tap_ok "set-up of the second host" on 1 '192.0.2.2::'
tap_ok "a ping passes the trunk" busywait 60000 ip netns exec "$first" ping -q -c 1 -W 5 10.8.0.2
tunnel_dump_end port 51820
tap_is "the link carries no trunk packets" "$(tunnel_dumped port 7777)" 0
tap_ok "but WireGuard's" test "$(tunnel_dumped port 51820)" -gt 0

# around the tunnel: as if the second host sent them, without the secret
before=$(stat_of drop-auth)
ip -n "$second" route replace 10.9.0.1/32 via 192.0.2.1 dev v1
ip netns exec "$second" "$PW_BUILD/selftests/trunk_peer" inject 10.9.0.2 10.9.0.1 7777 50
ip -n "$second" route del 10.9.0.1/32 via 192.0.2.1 dev v1
tap_ok "packets around the tunnel are refused" busywait 60000 refused $((before + 50))
tap_ok "and the trunk goes on" busywait 60000 ip netns exec "$first" ping -q -c 1 -W 5 10.8.0.2
tap_done
