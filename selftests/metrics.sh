#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pwctl metrics of a live network: every counter of this kernel has a name, the values are
# those of other verbs, labs, a scrape over HTTP. Formats: tools/testing/metrics.

. "$(dirname "$0")/lib.sh"
pw_need pwctl jq python3 ip
python="$PW_SELFTESTS/../scripts/lib/python"
"$python" prometheus_client -c 'import prometheus_client' 2>/dev/null || pw_skip "no python3-prometheus-client here"
check=$PW_SELFTESTS/../tools/testing/metrics/check.py
tmp=$(mktemp -d)

# value NAME LABELS FILE: of one sample
value() { sed -n "s/^packetway_$1{$2} //p" "$3"; }

ip link set pw0 up
pwctl station add pw1 up
pwctl san add 5 engine fast
pwctl router add ab san 0:15 san 5:15
pwctl router add far san 0:14 trunk udp 127.0.0.1:7000 127.0.0.1:7001
pwctl aton set 40 dev pw0
pwctl aton set 2 dev pw1
pwctl metrics >"$tmp/before"
for _ in 1 2 3; do
	pwctl aton add dev pw0 >/dev/null
done
pwctl ping 00:00:02 dev pw0 count 2 interval 1 timeout 60000 >/dev/null
pwctl esp count 00:00:02 tag 7 thresh 5 dev pw0 timeout 60000 >/dev/null
pwctl metrics >"$tmp/after"

ring() { value ring_packets_total 'san="0"' "$1"; }
tap_is "three commands are three ring packets" $(($(ring "$tmp/after") - $(ring "$tmp/before"))) 3
tap_is "echoes at the other station" \
	"$(value eep_echo_messages_total 'station="pw1",san="0",direction="received"' "$tmp/after")" 2
tap_is "an ESP instruction" "$(value esp_instructions_total \
	'node="00:00:02",station="pw1",instruction="count",verdict="forward"' "$tmp/after")" 1
tap_is "its binding" "$(value esp_bindings 'node="00:00:02",station="pw1"' "$tmp/after")" 1
tap_is "bytes as ip has them" "$(value station_transmit_bytes_total 'station="pw1",san="0"' "$tmp/after")" \
	"$(ip -j -s link show pw1 | jq '.[0].stats64.tx.bytes')"
tap_is "stations of SANs" "$(value san_stations 'san="0"' "$tmp/after"),$(value san_stations 'san="5"' "$tmp/after")" 2,0
tap_is "a trunk that has no peer" "$(value trunk_up 'router="far"' "$tmp/after")" 0
tap_is "halves of routers" "$(grep -c '^packetway_half_mtu_bytes{' "$tmp/after")" 3
while read -r line; do
	echo "# $line"
done < <("$python" prometheus_client -B "$check" --live pwctl >"$tmp/live" 2>&1; echo "status $?" >>"$tmp/live"; cat "$tmp/live")
tap_is "the parsers are content, and no counter is without a name" "$(tail -n 1 "$tmp/live")" "status 0"

# over HTTP, in another namespace's station, as a lab has it
cat >"$tmp/two.yaml" <<-EOS
	lab: two
	sans: [{id: 7, ports: 4}]
	stations:
	  - {name: a, san: 7, operand: 1}
	  - {name: b, san: 7, operand: 2}
EOS
tap_ok "a lab" pwctl lab up "$tmp/two.yaml" timeout 120000
pwctl metrics lab two --listen 0 2>"$tmp/said" &
server=$!
busywait 60000 grep -q listening "$tmp/said"
url=$(sed -n 's/^listening on //p' "$tmp/said")
python3 -c 'import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1], timeout=100).read().decode())' \
	"$url" >"$tmp/scrape"
tap_is "a lab's stations over HTTP" "$(grep -c '^packetway_station_info{lab="two",station="[ab]",san="7"' "$tmp/scrape")" 2
tap_is "its SAN" "$(value san_stations 'lab="two",san="7"' "$tmp/scrape")" 2
tap_is "and its ring once" "$(grep -c '^packetway_ring_packets_total{' "$tmp/scrape")" 1
kill "$server"
wait "$server"
tap_is "SIGTERM ends the server" $? 0
tap_is "no such lab" "$(pwctl metrics lab nowhere >/dev/null 2>&1; echo $?)" 2
pwctl lab down two

pwctl router del far
pwctl router del ab
pwctl san del 5
pwctl station del pw1
rm -rf "$tmp"
tap_done
