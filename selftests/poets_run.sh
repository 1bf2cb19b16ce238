#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pwctl poets: applications from a file, on stations here and in namespaces;
# reports, logs, what can be seen meanwhile.

. "$(dirname "$0")/lib.sh"
pw_need pwctl jq awk
apps=${PW_BUILD:-$PW_SELFTESTS/../build}/poets
[ -e "$apps/ring.so" ] || pw_skip "the applications are not built"
dir=$(mktemp -d)
cp "$apps"/* "$dir"
trap 'rm -rf "$dir"' EXIT

says() { { "$@" >/dev/null; } 2>&1; }
status() { "$@" >/dev/null 2>&1; echo $?; }
# change FILTER: ring.json with something changed, in $dir/x.json
change() { jq "$1" "$dir/ring.json" >"$dir/x.json"; }
all_run() { pwctl -j poets show | jq -e 'map(select(.state == "running")) | length == 16' >/dev/null; }
nothing_there() { [ "$(pwctl -j poets show)" = "[]" ]; }

ip link set pw0 up
for i in $(seq 1 15); do pwctl station add "pw$i" up; done
tap_is "nothing is there yet" "$(pwctl -j poets show)" "[]"

tap_is "refused: a station that is not there" \
	"$(change '.stations = ["pw77"]'; status pwctl poets run "$dir/x.json")" 2

# a thousand devices on 16 stations
laps=3
change ".properties.laps = $laps"
pwctl -j poets run "$dir/x.json" timeout 3000 csv "$dir/ring.csv" >"$dir/out" 2>"$dir/err"
tap_is "ring: all ends well" $? 0
cat "$dir/err"
tap_is "ring: what it did" \
	"$(tail -n 1 "$dir/out" | jq -c '[.end, .devices, .edges, .stations, .sent, .handled, ."to-supervisor", .lost, .dropped]')" \
	"[\"stopped\",1000,1000,16,$((1000 * laps)),$((1000 * laps)),1,0,0]"
tap_is "ring: logs" "$(jq -r 'select(.log == "n[0]") | .text' "$dir/out" | tr '\n' ';')" \
	"$(for i in $(seq 1 $laps); do printf 'lap %d, %d hops;' "$i" $((1000 * i)); done)"
tap_is "ring: the supervisor has seen it" "$(jq -r 'select(.log == "supervisor") | .text' "$dir/out")" \
	"n[0] is done: $((1000 * laps)) hops"
tap_is "ring: reports of all stations" "$(tail -n +2 "$dir/ring.csv" | cut -d , -f 2 | sort -u | wc -l)" 16
tap_is "ring: and all packets are in them" \
	"$(awk -F , 'NR > 1 { sent += $8; got += $7 } END { print sent - 1 - logs, got }' logs=$laps "$dir/ring.csv")" \
	"$((1000 * laps)) $((1000 * laps))"
tap_is "nothing is left" "$(pwctl -j poets show)" "[]"

# values of the last report, step by step in one place
pwctl poets run "$dir/heat.json" timeout 3000 log "$dir/log" >"$dir/out" 2>&1
tap_is "heat: all ends well" $? 0
steps=$(sed -n 's/.*converged after \([0-9]*\) steps.*/\1/p' "$dir/log")
want=$(awk -v n=8 -v steps="${steps:-0}" 'BEGIN {
	for (s = 0; s < steps; s++) {
		for (i = 0; i < n; i++) for (j = 0; j < n; j++) {
			v = (i ? a[i-1,j] : 0) + (i < n-1 ? a[i+1,j] : 0) + (j ? a[i,j-1] : 25600) + (j < n-1 ? a[i,j+1] : 0)
			b[i,j] = int(v / 4)
		}
		for (k in b) a[k] = b[k]
	}
	for (k in a) sum += a[k]
	print sum }')
tap_is "heat: the same as in one place" "$(sed -n 's/.*sum of values //p' "$dir/log")" "$want"
echo "# converged after $steps steps"

pwctl poets run "$dir/sssp.json" timeout 3000 >"$dir/out" 2>&1
tap_is "shortest paths: ends when it is quiet" $? 0
tap_is "shortest paths" "$(sed -n 's/^supervisor: //p' "$dir/out" | tr '\n' ';')" \
	"a 0;b 3;c 1;d 4;e 6;f is not reached;"
# a random graph, beside the plainest of algorithms
awk -v want="$dir/want" -v seed=7 -v n=200 'BEGIN {
	srand(seed)
	printf "{\"handlers\":\"sssp.so\",\"types\":{\"node\":{\"in\":[\"in\"],\"out\":[\"out\"]}},"
	printf "\"devices\":[{\"name\":\"s\",\"type\":\"node\",\"properties\":{\"source\":1}},{\"name\":\"n\",\"type\":\"node\",\"shape\":[%d]}],\"edges\":[", n
	for (k = 0; k < 4 * n; k++) {
		f = k ? int(rand() * n) : -1; t = int(rand() * n); w = 1 + int(rand() * 99)
		printf "%s[\"%s.out\",\"n[%d].in\",%d]", k ? "," : "", f < 0 ? "s" : "n[" f "]", t, w
		from[k] = f; to[k] = t; weight[k] = w
	}
	print "],\"stop\":\"quiet\",\"timeout\":60}"
	d[-1] = 0
	do {
		more = 0
		for (k = 0; k < 4 * n; k++)
			if (from[k] in d && (!(to[k] in d) || d[from[k]] + weight[k] < d[to[k]])) {
				d[to[k]] = d[from[k]] + weight[k]; more = 1
			}
	} while (more)
	print "s 0" >want
	for (i = 0; i < n; i++)
		print "n[" i "] " (i in d ? d[i] : "is not reached") >want
}' >"$dir/x.json"
pwctl poets run "$dir/x.json" timeout 3000 >"$dir/out" 2>&1
tap_is "a random graph: ends when it is quiet" $? 0
tap_is "a random graph: every distance" "$(sed -n 's/^supervisor: //p' "$dir/out" | cmp - "$dir/want" && echo same)" same

# while it runs: many laps
change '.properties.laps = 1000000'
pwctl -j poets run "$dir/x.json" >"$dir/out" 2>&1 &
pid=$!
busywait 60000 all_run
tap_is "show: softswitches" \
	"$(pwctl -j poets show pw3 | jq -c '.[0] | [.dev, .role, .addr, .state, .devices, .pins, .mothership, .interval]')" \
	'["pw3","softswitch","00:00:04","running",63,63,"00:00:01",500]'
tap_is "show: the mothership" "$(pwctl -j poets show pw0 | jq -c '.[1] | [.role, .queue, .devices]')" \
	'["mothership",65536,null]'
tap_is "show: needs no privilege" \
	"$(setpriv --reuid 65534 --clear-groups pwctl -j poets show | jq length)" 17
tap_is "a station has one softswitch" "$(says pwctl poets run "$dir/ring.json")" \
	"pwctl: pw0: the station has a mothership of this task already"
kill -INT $pid
wait $pid
tap_is "interrupted: ends well" $? 0
tap_is "interrupted: says so" "$(tail -n 1 "$dir/out" | jq -r .end)" interrupted
pwctl poets run "$dir/x.json" timeout 1 >"$dir/out" 2>&1
tap_is "timeout" $? 3
tap_is "timeout: says so" "$(grep -c ' end timeout ' "$dir/out")" 1
pwctl poets run "$dir/x.json" >"$dir/out" 2>&1 &
pid=$!
busywait 60000 all_run
kill -KILL $pid
wait $pid 2>/dev/null
busywait 60000 nothing_there
tap_is "killed: nothing is left" "$(pwctl -j poets show)" "[]"
for i in $(seq 1 15); do pwctl station del "pw$i"; done

# stations in namespaces of a lab
tap_ok "lab" pwctl lab up "$PW_SELFTESTS/../Documentation/labs/ring8.yaml"
change '.stations = [range(1; 9) | "ring8-s\(.)/pw0"] | .mothership = "ring8-s5/pw0" | .properties.laps = 1'
pwctl -j poets run "$dir/x.json" timeout 3000 >"$dir/out" 2>&1
tap_is "in a lab: all ends well" $? 0
tap_is "in a lab: what it did" "$(tail -n 1 "$dir/out" | jq -c '[.end, .stations, .handled, .lost]')" \
	'["stopped",8,1000,0]'
tap_ok "lab down" pwctl lab down

# devices behind routers, two applications on the same stations, a bystander
tap_ok "lab of three SANs" pwctl lab up "$PW_SELFTESTS/../Documentation/labs/sans.yaml"
change '.stations = ["sans-a1/pw0", "sans-b1/pw0", "sans-c1/pw0"] | .mothership = "sans-b1/pw0" |
	.properties.laps = 1'
jq '.task = 9' "$dir/x.json" >"$dir/nine.json"
pwctl -j poets run "$dir/nine.json" timeout 3000 >"$dir/out9" 2>&1 &
pid=$!
pwctl -j poets run "$dir/x.json" timeout 3000 >"$dir/out" 2>&1
tap_is "behind routers: all ends well" $? 0
wait $pid
tap_is "beside another application: all ends well" $? 0
for out in "$dir/out" "$dir/out9"; do
	tap_is "behind routers: what it did" "$(tail -n 1 "$out" | jq -c '[.end, .stations, .handled, .lost]')" \
		'["stopped",3,1000,0]'
done
tap_ok "lab down" pwctl lab down

# devices behind a trunk: each hop of the ring crosses it, there or back
ip link set lo up
for i in 1 2; do
	pwctl station add "far$i" san $i port 0 up
	pwctl router add "t$i" san $i:15 trunk udp 127.0.0.1:700$i 127.0.0.1:700$((3 - i))
done
knows() { pwctl resolve "far$2" san "$1" >/dev/null 2>&1; }
tap_ok "a trunk between two SANs" busywait 60000 eval "knows 1 2 && knows 2 1"
# frames of both ends, of which half-routers send some as well
crossed() { pwctl -j router show | jq 'map(.trunk.stats.tx) | add'; }
before=$(crossed)
change '.stations = ["far1", "far2"] | .mothership = "far1" | .properties.laps = 1'
pwctl -j poets run "$dir/x.json" timeout 3000 >"$dir/out" 2>&1
tap_is "behind a trunk: all ends well" $? 0
tap_is "behind a trunk: what it did" "$(tail -n 1 "$dir/out" | jq -c '[.end, .stations, .handled, .lost]')" \
	'["stopped",2,1000,0]'
tap_ok "and it crossed the trunk" test $(($(crossed) - before)) -ge 1000
for i in 1 2; do
	pwctl router del "t$i"
	pwctl station del "far$i"
done
tap_done
