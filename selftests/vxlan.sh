#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A trunk inside vxlan, and the change of its secret without loss, by the lines of
# Documentation/networking/packetway-routers.rst: two namespaces are the two hosts.

. "$(dirname "$0")/lib_tunnel.sh"
pw_need pwctl ip tcpdump jq
tunnel_need vxlan vxlan id 7 dstport 4789

# sent HOST ROUTER: frames that it has sent over this trunk
sent() { ip netns exec "${hosts[$1]}" pwctl -j router show "$2" stats | jq '.[0].trunk.stats."tx"'; }
# takes HOST ROUTER: do frames of a host leave over this trunk?
takes() {
	local before

	before=$(sent "$1" "$2")
	ip netns exec "${hosts[$1]}" ping -q -c 3 -i 0.05 -W 5 10.8.0.$((2 - $1)) >"$tmp/takes" &&
		[ "$(sent "$1" "$2")" -ge $((before + 3)) ]
}

tunnel_hosts
tunnel_secret
tunnel_dump not arp
tap_ok "vxlan on the first host" on 0 'first host, inside vxlan::'
tap_ok "vxlan on the second host" on 1 'second host, inside vxlan::'
tap_ok "a ping passes the trunk" busywait 60000 ip netns exec "$first" ping -q -c 1 -W 5 10.8.0.2
tap_ok "the largest packet, too" busywait 60000 ip netns exec "$first" ping -q -c 1 -W 5 -s 1300 10.8.0.2
tunnel_dump_end udp port 4789
tap_is "the link carries no bare trunk frames" "$(tunnel_dumped ether proto 0x88b5)" 0
tap_ok "but vxlan's" test "$(tunnel_dumped udp port 4789)" -gt 0

# a new secret while packets flow: none is lost, and the old one is not used afterwards
ip netns exec "$first" ping -q -i 0.02 -W 20 10.8.0.2 >"$tmp/flow" 2>&1 &
flow=$!
tap_ok "a new secret" on 0 'a new secret::'
cp "$tmp/0/new.key" "$tmp/1/new.key"
tap_ok "beside the old one, first host" on 0 'on both hosts beside the old one::'
tap_ok "beside the old one, second host" on 1 'on both hosts beside the old one::'
for i in 0 1; do
	tap_ok "host $((i + 1)) uses it" busywait 60000 takes $i t2
done
for i in 0 1; do
	tap_ok "the old trunk goes, host $((i + 1))" on $i 'when both use the new one::'
done
tap_ok "a ping passes the new one" ip netns exec "$first" ping -q -c 3 -i 0.05 -W 20 10.8.0.2
kill -INT $flow
wait $flow
read -r want got < <(sed -n 's/^\([0-9]*\) packets transmitted, \([0-9]*\) received.*/\1 \2/p' "$tmp/flow")
echo "# $want packets while the secret changed"
# the last one may be under way when ping is interrupted
tap_ok "none was lost ($got of $want)" test "$((want - got))" -le 1 -a "$want" -gt 20
tap_is "no secret is shown" "$(ip netns exec "$first" pwctl -j router show t2 | grep -c "$(cut -c 1-16 "$tmp/0/new.key")")" 0
tap_done
