#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pwctl: every verb, what it refuses and in which words, exit codes, JSON.

. "$(dirname "$0")/lib.sh"
pw_need pwctl jq

# status COMMAND...: its exit status
status() { "$@" >/dev/null 2>&1; echo $?; }
# says COMMAND...: what it complains of
says() { { "$@" >/dev/null; } 2>&1; }

tap_is "an unknown verb is wrong" "$(status pwctl sand)" 1
tap_is "and is named" "$(says pwctl sand)" \
	"pwctl: unknown command 'sand' (did you mean 'san' or 'send'?), see 'pwctl help'"
tap_is "an unknown command of a group" "$(says pwctl aton foo)" \
	"pwctl: aton: unknown command 'foo', see 'pwctl aton help'"
tap_is "an unknown key" "$(says pwctl san add 3 color red)" \
	"pwctl: san add: unknown key 'color', see 'pwctl san help'"
tap_is "a number that is none" "$(says pwctl ping 2 count x)" \
	"pwctl: count: 'x' is not a number, see 'pwctl ping help'"
tap_is "a key that is missing" "$(says pwctl send 2)" "pwctl: send: pt N is missing, see 'pwctl send help'"
tap_is "so is a short word that fits two" "$(status pwctl s)" 1
tap_is "a missing value" "$(status pwctl san add 3 ports)" 1
tap_is "an engine that is none" "$(says pwctl san add 3 engine x)" \
	"pwctl: engine: 'x' is not one of none|fast|rtl|ring, see 'pwctl san help'"
tap_is "the kernel's sentence: ports" "$(says pwctl san add 3 ports 5)" \
	"Error: A SAN has k * k ports, k = 2 to 16."
tap_is "and its status" "$(status pwctl san add 3 ports 5)" 2
tap_is "the kernel's sentence: no SAN" "$(says pwctl san del 77)" \
	"Error: There is no SAN with this number in this namespace."
tap_is "the kernel's sentence: port taken" "$(says pwctl station add pw9 port 0)" \
	"Error: The port has a station already."
tap_is "nothing but stations is deleted" "$(status pwctl station del lo)" 2
tap_is "a namespace that is not there" "$(status pwctl -n nowhere san show)" 2

tap_ok "san add" pwctl san add 3 ports 9 bias 0x300 ring-engine rtl
tap_is "san show, JSON" "$(pwctl -j san show 3 | jq -c '.[0] | [.id, .ports, .bias, .engine, ."ring-engine", .stations, .pinned]')" \
	'[3,9,768,"fast","rtl",0,true]'
tap_is "san show, text" "$(pwctl san show 3 | cut -d ' ' -f 1-10)" \
	"san 3: ports 9 bias 768 engine fast ring-engine rtl"
tap_ok "san set ring-propagation" pwctl san set 3 ring-propagation 7
tap_is "took effect, and it shows" "$(pwctl -j san show 3 | jq -c '.[0]."ring-propagation"')" 7
tap_ok "san set cut-through on" pwctl san set 3 cut-through on
tap_is "on is 1 ns" "$(pwctl -j san show 3 | jq -c '.[0]."cut-through"')" 1
tap_ok "san set cut-through off" pwctl san set 3 cut-through off
tap_is "off is 0" "$(pwctl -j san show 3 | jq -c '.[0]."cut-through"')" 0
tap_is "cut-through: neither a number" "$(says pwctl san set 3 cut-through perhaps | grep -c "'perhaps' is not a number")" 1
tap_is "out of range is refused by name" "$(says pwctl san set 3 ring-propagation 256 | grep -c 'ring-propagation: 0 to 255 bit times')" 1
tap_ok "san set, other parameters of the ring" pwctl san set 3 ring-release appended ring-width 16 ring-bitsum 0
tap_is "took effect, and it shows" "$(pwctl -j san show 3 | jq -c '.[0] | [."ring-release", ."ring-width", ."ring-bitsum"]')" '["appended",16,0]'
tap_is "out of range is refused by name" "$(says pwctl san set 3 ring-width 65 | grep -c 'ring-width: 1 to 64 bits')" 1
tap_ok "san set, faults of cells" pwctl san set 3 drop 1000 corrupt 2000 fault-seed 7
tap_is "took effect, and it shows" "$(pwctl -j san show 3 | jq -c '.[0] | [.drop, .corrupt, ."fault-seed"]')" '[1000,2000,7]'
tap_is "out of range is refused by name" "$(says pwctl san set 3 corrupt 500001 | grep -c 'corrupt: 0 to 500000 ppm')" 1
tap_ok "san set, no faults" pwctl san set 3 drop 0 corrupt 0
tap_ok "san set" pwctl san set 3 ring-engine fast
# parameters of the fabric: what pwmodel's table has for a device is a key here
for p in $(pwmodel fabric --help | awk '$1 ~ /^--/ && NF == 5 && $5 != "-" && $1 != "--k" { print substr($1, 3) }'); do
	case $p in ic-blocks) v=200 ;; *) v=20 ;; esac
	tap_ok "san set $p" pwctl san set 3 "$p" $v
	tap_is "san show has $p" "$(pwctl -j san show 3 | jq ".[0][\"$p\"]")" $v
done
case $PW_KERNEL in
6.1) sentence="The value is out of its range." ;;
*) sentence="depth: 1 to 64 cells beside the other sizes." ;;
esac
tap_is "a parameter out of its range" "$(says pwctl san set 3 depth 65)" "Error: $sentence"
tap_is "a fabric that is too large" "$(says pwctl san add 4 ports 256 og-blocks 65534)" \
	"Error: A fabric of these sizes needs more than 256 MiB."
tap_is "took effect" "$(pwctl -p sa sh 3 | jq -r '.[0]."ring-engine"')" fast
tap_ok "station add" pwctl station add x0 san 3 port 4 mtu 2000 order big
tap_is "san del while in use" "$(says pwctl san del 3)" \
	"Error: The SAN is in use; delete its stations and routers first."
tap_is "station show" "$(pwctl -j station show x0 | jq -r '.[0] | del(.ifindex) | to_entries | sort_by(.key) | map("\(.key) \(.value)") | join(", ")')" \
	'addr 00:03:05, ifname x0, mtu 2000, order big, port 4, san 3, state down'
tap_ok "station del" pwctl station del x0
tap_ok "san del" pwctl san del 3

# topologies: names and files; what is wrong is said before the kernel is asked
tap_ok "san add topology" pwctl san add 3 topology mesh:2x3
tap_is "its sizes" "$(pwctl -j san show 3 | jq -c '.[0] | [.ports, .topology, .switches, ."switch-ports", .paths, .stages]')" \
	'[6,"mesh:2x3",6,5,1,4]'
tap_is "other ports than the SAN has" "$(says pwctl san set 3 topology mesh:3x3)" \
	"Error: topology: it has another number of stations than the SAN has ports."
tap_is "an unknown name" "$(says pwctl san set 3 topology sphere:4 | cut -d ' ' -f 1-8)" \
	"pwctl: topology: 'sphere:4' is neither a file nor"
tap_is "a ring that is too long" "$(says pwctl san set 3 topology ring:256)" \
	"pwctl: topology: ring:256: 255 switches in a row, at most 32 are possible, see 'pwctl san help'"
circle=$(mktemp)
cat >"$circle" <<'EOF'
switches: 3
ports: 3
stations: [[0, 0, 0, 0], [1, 0, 1, 0], [2, 0, 2, 0]]
links: [[0, 1, 1, 1], [1, 1, 2, 1], [2, 1, 0, 1]]
routes:
  - [0, 0, 0, 0]
  - [0, 1, 0, 1, 0]
  - [0, 2, 0, 1, 1, 0]
  - [1, 1, 0, 0]
  - [1, 2, 0, 1, 0]
  - [1, 0, 0, 1, 1, 0]
  - [2, 2, 0, 0]
  - [2, 0, 0, 1, 0]
  - [2, 1, 0, 1, 1, 0]
EOF
tap_is "a file whose links wait in a circle" "$(says pwctl san add 4 topology "$circle" | grep -c 'deadlock: links wait for each other in a circle')" 1
tap_is "and its status" "$(status pwctl san add 4 topology "$circle")" 1
# up* / down* finds routes without a circle only where links go both ways
sed -i -e '/routes/,$d' -e 's/\[2, 1, 0, 1\]\]/[2, 1, 0, 1], [1, 2, 0, 2], [2, 2, 1, 2], [0, 2, 2, 2]]/' "$circle"
tap_ok "a file with links in both directions" pwctl san add 4 topology "$circle"
tap_is "has the name of the file" "$(pwctl -j san show 4 | jq -r '.[0].topology')" "$(basename "$circle")"
printf 'generator: mesh\ndims: [2, 3]\nmulticast:\n  - [0, 1, 5]\n  - [4, 2]\n' >"$circle"
tap_ok "a file with connections" pwctl san set 3 topology "$circle"
tap_is "their list, JSON" "$(pwctl -j san show 3 | jq -c '.[0] | [.connections, (.multicast | map([.from, .to]))]')" \
	'[2,[[0,[1,5]],[4,[2]]]]'
tap_is "their list, text" "$(pwctl san show 3 | grep -o 'connections .*}')" \
	'connections 2 multicast {"from":0,"to":[1,5]} {"from":4,"to":[2]}'
tap_is "their number, of all SANs" "$(pwctl -j san show | jq -c '.[] | select(.id == 3) | [.connections, .multicast]')" '[2,null]'
tap_ok "none" pwctl san set 3 topology mesh:2x3
tap_is "no list" "$(pwctl -j san show 3 | jq -c '.[0] | [.connections, .multicast]')" '[0,null]'
tap_is "stages, JSON" "$(pwctl -j san stages 3 | jq -c '[length, .[0].units, .[4].units, .[0].cells, .[0].queued, .[0].fullest]')" '[5,6,6,0,0,0]'
tap_is "stages, a table over time" "$(pwctl san stages 3 interval 1 count 2 csv | awk -F, '{ print NF }' | sort | uniq -c | tr -s ' ')" " 11 10"
tap_is "and its head" "$(pwctl san stages 3 csv | head -1)" "stage,san,time,units,cells,refused,dropped,corrupted,queued,fullest"
pwctl san set 3 engine none
tap_is "no stages without a fabric" "$(says pwctl san stages 3)" "pwctl: SAN 3 has no stages: its engine is none or ring"
for i in 3 4; do tap_ok "san del $i" pwctl san del $i; done
rm -f "$circle"

# native routes name ports by digits, whatever the topology: they lead through other topologies, too
pwctl san add 3 topology ring:6
pwctl san add 4 topology mesh:2x3x2
pwctl station add x3 san 3 port 1 up
pwctl station add x4 san 4 port 10 up
pwctl router add tt san 3:5 san 4:11
busywait 60000 sh -c "pwctl resolve 00:04:0b san 3 >/dev/null 2>&1"
tap_ok "a source route through two topologies" pwctl ping 00:04:0b by-route count 1 timeout 30000 dev x3
tap_ok "another topology" pwctl san set 4 topology ring:12
tap_ok "has the same routes" pwctl ping 00:04:0b by-route count 1 timeout 30000 dev x3
pwctl router del tt
for i in 3 4; do tap_ok "san del $i with its station" pwctl san del $i with-stations; done

# with its stations, but none in another namespace
setup_ns E
stations() { pwctl -j san show "$1" | jq '.[0].stations'; }
two_left() { [ "$(stations 3)" = 2 ]; }
pwctl san add 3 ports 64
for i in 0 1 2; do pwctl station add x$i san 3 port $i up; done
# shellcheck disable=SC2153
ip link set x2 netns "$E"
tap_is "san del with a station elsewhere" "$(says pwctl san del 3 with-stations)" \
	"Error: The SAN has routers, ring-only interfaces or stations elsewhere; delete these first."
tap_is "left all of them" "$(stations 3)" 3
cleanup_ns "$E"
busywait 10000 two_left
tap_ok "san del with its stations" pwctl san del 3 with-stations
tap_is "none of which is left" "$(ip -o link show | grep -c ' x[012][@:]')" 0
tap_is "nor the SAN" "$(says pwctl san del 3)" "$(says pwctl san del 77 | sed s/77/3/)"
pwctl station add x0 san 3
tap_ok "also one that no request made" pwctl san del 3 with-stations
tap_is "is gone with its station" "$(ip -o link show | grep -c ' x0[@:]')" 0

ip link set pw0 up
tap_ok "a second station, up" pwctl station add pw1 up
tap_is "several stations: say which" "$(status pwctl aton add)" 1
tap_ok "aton set" pwctl aton set 5 dev pw0
tap_ok "aton set, second" pwctl aton set 7 dev pw1
tap_is "aton set, bad register" "$(status pwctl aton set 7 reg 16 dev pw1)" 2
op() { pwctl -j aton "$@" | jq -c "$filter"; }
filter='.[0] | [.value, .addr, .count, .interfaces]'
tap_is "aton add" "$(op add dev pw0)" '[12,null,null,2]'
tap_is "aton and" "$(op and dev pw0)" '[5,null,null,2]'
tap_is "aton or" "$(op or dev pw0)" '[7,null,null,2]'
tap_is "aton max" "$(op max dev pw0)" '[7,"00:00:02",null,2]'
tap_is "aton min" "$(op min dev pw1)" '[5,"00:00:01",null,2]'
tap_is "aton count-eq" "$(op count-eq comparand 7 dev pw0)" '[null,null,1,2]'
tap_is "aton count-lt" "$(op count-lt dev pw0)" '[null,null,1,2]'
tap_is "aton count-le" "$(op count-le dev pw0)" '[null,null,2,2]'
tap_is "aton add prefix" "$(op add prefix dev pw1)" '[12,null,null,2]'
tap_is "aton latch" "$(pwctl -j aton latch | jq -c '[.[] | [.ifname, .runs, .op, .from, .place, .before, .with]]')" \
	'[["pw0",1,"add","00:00:02",1,7,12],["pw1",1,"add","00:00:02",0,0,7]]'
tap_is "aton add prefix scope tree" "$(status pwctl aton add prefix scope tree dev pw0)" 1
tap_is "aton add in a region" "$(op add region 00:00:02 dev pw0)" '[7,null,null,1]'
filter='.[0].sorted'
tap_is "aton sort" "$(op sort dev pw0)" '[5,7]'
filter='.[0] | [.majority, .count]'
tap_is "aton majority: none" "$(op majority dev pw0)" '[null,1]'
pwctl aton set 5 dev pw1
tap_is "aton majority" "$(op majority dev pw0)" '[5,2]'
filter='.[0].value'
tap_is "aton tree" "$(op tree ops add dev pw0)" 10
tap_is "aton tree of the wrong shape" "$(says pwctl aton tree ops add,add dev pw0)" \
	"pwctl: pw0: a tree needs a region of 2^heights interfaces"
tap_is "operands beyond 2^63 are strings" \
	"$(pwctl aton set 0xffffffffffffffff reg 3 dev pw0; op or reg 3 dev pw0)" '"18446744073709551615"'
tap_is "and signed when asked" "$(op max reg 3 signed region 1 dev pw0)" -1
pwctl aton set 0 reg 3 dev pw0
filter='.[0].operands[0:2]'
tap_is "aton show" "$(op show dev pw0)" '[5,0]'
out=$(mktemp)
timeout 120 pwctl -j aton watch add count 2 dev pw0 >"$out" &
watch=$!
busywait 60000 grep -q '"value":10' "$out"
pwctl aton set 100 dev pw1
wait $watch
tap_is "aton watch sees the change" "$(jq -c .value "$out" | tr '\n' ' ')" "10 105 "

# top draws what changes: a standing command changes something all the time
timeout 120 pwctl aton watch count-eq comparand 1 count 1000 dev pw0 >/dev/null &
watch=$!
while read -r verdict what; do
	case $verdict in
	'#') echo "# $what" ;;
	*) tap_result "$verdict" "$what" ;;
	esac
done < <(python3 "$PW_SELFTESTS/top_pty.py" pwctl top)
kill $watch
wait $watch 2>/dev/null
tap_is "top without a terminal" "$(status pwctl top)" 1
tap_ok "top once" sh -c 'pwctl top once | grep -q "^pw1 .*of 2: counter"'

tap_ok "ping" pwctl ping 00:00:02 count 2 interval 10 dev pw0
tap_is "ping, JSON" "$(pwctl -j ping 2 count 2 interval 10 size 1000 dev pw0 | tail -n 1 | jq -c '[.sent, .received]')" '[2,2]'
tap_is "ping of an empty port" "$(pwctl -j ping 9 count 1 dev pw0 | head -n 1 | jq -r .error)" UNK
tap_is "and its status" "$(status pwctl ping 9 count 1 dev pw0)" 3
tap_is "trace" "$(pwctl -j trace 2 dev pw0 | jq -c '.[0] | [.answer, .hops]')" '["00:00:02",0]'
tap_is "trace of an empty port" "$(status pwctl trace 9 dev pw0)" 3
tap_ok "send" pwctl send 2 pt 1500 text hello crc32 crc64 dev pw0
tap_is "send, and the ERR that comes" \
	"$(pwctl -j send 9 pt 1500 hex 0102 wait 3000 dev pw0 | head -n 1 | jq -r .type)" ERR
tap_is "stats" "$(pwctl -j stats pw0 | jq '.[0].stats.drop_unknown_dst > 0')" true
tap_is "stats of an unknown device" "$(status pwctl stats no-such-device)" 2

timeout 120 pwctl -j events trace count 3 >"$out" &
mon=$!
busywait 60000 sh -c 'test -d /sys/kernel/tracing/instances/pwctl-*'
for _ in 1 2 3 4 5 6 7 8 9 10; do
	pwctl san add 7 ports 4
	pwctl san del 7
	kill -0 $mon 2>/dev/null || break
	pwctl aton add dev pw0 >/dev/null
done
wait $mon
tap_is "events: SANs come" "$(jq -r 'select(.object == "san" and .event == "new") | .id' "$out" | head -n 1)" 7
tap_is "events leaves no trace instance" "$(find /sys/kernel/tracing/instances -mindepth 1 | wc -l)" 0

if command -v tcpdump >/dev/null; then
	timeout 120 pwctl capture dev pw0 tcpdump write "$out.pcap" -c 2 >/dev/null 2>&1 &
	cap=$!
	for _ in $(seq 40); do
		kill -0 $cap 2>/dev/null || break
		pwctl ping 2 count 1 dev pw0 >/dev/null
		sleep 0.2
	done
	wait $cap
	tap_is "capture" $? 0
	if command -v script >/dev/null; then
		# on a terminal it says how far it is
		script -qfc "timeout -s INT 120 pwctl capture dev pw0 tcpdump write $out.pcap" "$out.tty" >/dev/null 2>&1 </dev/null &
		cap=$!
		busywait 60000 grep -q 'Got [0-9]' "$out.tty"
		tap_ok "capture: progress on a terminal" grep -q 'Got [0-9]' "$out.tty"
		pkill -INT -x tcpdump
		wait $cap
		rm -f "$out.tty"
	fi
fi
tap_is "without privilege: look" "$(status setpriv --reuid 65534 --clear-groups pwctl san show)" 0
tap_is "but do not touch" "$(status setpriv --reuid 65534 --clear-groups pwctl san add 8)" 2
for verb in san station aton ping trace send esp poets stats events monitor capture fault lab; do
	tap_ok "help $verb" pwctl help $verb
done
tap_is "a fault that is none" "$(status pwctl fault ring melt)" 2
tap_is "a SAN that is none" "$(status pwctl fault ring san 99 lose)" 2
tap_ok "fault ring" pwctl fault ring flip 1 100
tap_is "the command after it has an error, never a wrong result" \
	"$(says pwctl aton add dev pw0)" "pwctl: pw0: the ring packet came back damaged"
tap_ok "fault fabric" pwctl fault fabric drop 1000 corrupt 1000 seed 7
tap_ok "and none again" pwctl fault fabric
rm -f "$out" "$out.pcap"
pwctl station del pw1
tap_done
