#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: options of `pwmodel fabric`: every parameter of the table, what is refused,
# the table of the page, waveforms and event traces.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
pwmodel=${1:-$top/build}/pwmodel
page=$top/Documentation/networking/packetway-models.rst
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=SCRIPTDIR/../../../scripts/lib/tap
. "$top/scripts/lib/tap"

# eight ports send to two others, which are busy for a while
{
	echo cycle,src,dst,bytes
	for i in 0 1 2 3 4 5 6 7; do
		printf '%d,%d,%d,%d\n' 0 $i $((8 + i % 2)) $((20 * i)) 0 $i 8 40
	done
	echo 900,3,-1,50
} >"$tmp/load.csv"

# run OPTION...: both engines; what they print goes to $tmp/rtl and $tmp/fast
run() {
	local rc=0 engine
	for engine in rtl fast; do
		"$pwmodel" fabric --messages "$tmp/load.csv" --pack immediately --unpack immediately \
			--engine $engine "$@" >"$tmp/$engine" 2>"$tmp/$engine.err" || rc=$?
	done
	return $rc
}

# refused TEXT OPTION...: status 2, nothing on standard output, that sentence
refused() {
	local text=$1 rc
	shift
	"$pwmodel" fabric --messages "$tmp/load.csv" "$@" >"$tmp/out" 2>"$tmp/err"
	rc=$?
	tap_is "$* is refused" "$rc $(wc -c <"$tmp/out") $(cat "$tmp/err")" "2 0 pwmodel: $text"
}

run
tap_result $? "defaults"
cp "$tmp/rtl" "$tmp/base"
tap_ok "rtl and fast agree" cmp -s "$tmp/rtl" "$tmp/fast"
run --machine device
tap_ok "--machine device is the default" cmp -s "$tmp/rtl" "$tmp/base"
run --machine published
cp "$tmp/rtl" "$tmp/published"
run --published
tap_ok "--published is --machine published" cmp -s "$tmp/rtl" "$tmp/published"

# every parameter: defaults change nothing; the ends of the range; one beyond them
"$pwmodel" fabric --help | sed -n 's/^  --\([a-z-]* .*\.\..*\)/\1/p' >"$tmp/table"
n=0
while read -r name unit range published device; do
	n=$((n + 1))
	min=${range%..*} max=${range#*..}
	if [ "$device" = - ]; then
		refused "--$name: the machine 'device' has no such parameter" "--$name" "$min"
		machine=published
		default=$published
		base=$tmp/published
	else
		machine=device
		default=$device
		base=$tmp/base
	fi
	[ "$published" != - ] ||
		refused "--$name: the machine 'published' has no such parameter" --published "--$name" "$min"
	run --machine $machine "--$name" "$default"
	tap_ok "--$name $default is the default of $machine" cmp -s "$tmp/rtl" "$base"
	case $name in
	queue) max=4095 ;;	# of 16 ports
	credit) max=4032 ;;	# of 4096 receive blocks
	ic-blocks) min=128 ;;
	esac
	refused "--$name: $((max + 1)) is not $min..$max $unit" --machine $machine "--$name" $((max + 1))
	[ "$min" = 0 ] || refused "--$name: $((min - 1)) is not $min..$max $unit" --machine $machine "--$name" $((min - 1))
	if [ "$name" = route ]; then
		refused "--route: 'x' is neither turn, fixed, random or least nor a number" --route x
	else
		refused "--$name: 'x' is not an unsigned 64-bit number" "--$name" x
	fi
	# a table row of the page: name, unit, range, both defaults
	row=$(sed -n "s/^\`\`$name\`\` *//p" "$page" | tr -s ' ' | cut -d' ' -f1-4 | sed 's,\\,,')
	tap_is "the page has $name" "$row" "$unit $range $published $device"
done <"$tmp/table"
tap_is "rows of the table" "$n" 17
tap_is "rows of the page" "$(sed -n '/^Parameters$/,/^A cell/s/^[^ ]*[a-z][^ ]*  .*\.\..*/&/p' "$page" | wc -l)" "$n"

# each of them changes something; k needs ports of its own
while read -r name value; do
	run "--$name" "$value"
	tap_result $? "--$name $value"
	tap_ok "--$name: rtl and fast agree" cmp -s "$tmp/rtl" "$tmp/fast"
	tap_result "$(! cmp -s "$tmp/rtl" "$tmp/base"; echo $?)" "--$name has an effect"
done <<-END
	k 5
	depth 1
	og-blocks 6
	credit 8
	resend 600
	queue 1
	gap-lock 20
	gap-init 20
	gap-get 20
	gap-word 20
	route 2
	route 3
	route 65535
	drop 100000
	corrupt 100000
END
# faults: cells are lost and nothing else; a seed is a run
cp "$tmp/load.csv" "$tmp/before.csv"
awk 'BEGIN { srand(2); for (i = 0; i < 120; i++) print i * 40 "," i % 16 "," int(rand() * 16) "," int(rand() * 300) }' >"$tmp/load.csv"
run --resend 9000
cp "$tmp/rtl" "$tmp/clean"
run --resend 9000 --fault-seed 9
tap_ok "--fault-seed without faults has no effect" cmp -s "$tmp/rtl" "$tmp/clean"
for where in "" "--topology torus:4x4" "--topology fattree:4x2 --route least" "--machine published --keep 100000"; do
	for rates in "--drop 8000" "--corrupt 8000" "--drop 5000 --corrupt 5000"; do
		# shellcheck disable=SC2086 # words
		run --resend 9000 $where $rates
		tap_result $? "$where $rates"
		tap_ok "rtl and fast lose the same cells" cmp -s "$tmp/rtl" "$tmp/fast"
		# shellcheck disable=SC2016 # awk's
		tap_ok "some messages wait for cells that are sent again" awk -F, 'NR > 1 && $10 - $4 > 9000 { n++ } END { exit !n }' "$tmp/rtl"
		tap_is "each message arrives" "$(awk -F, '$9 == ""' "$tmp/rtl" | wc -l) $(wc -l <"$tmp/rtl")" "0 121"
		cp "$tmp/rtl" "$tmp/one"
		# shellcheck disable=SC2086
		run --resend 9000 $where $rates --fault-seed 1
		tap_ok "seed 1 is the default" cmp -s "$tmp/rtl" "$tmp/one"
		# shellcheck disable=SC2086
		run --resend 9000 $where $rates --fault-seed 2
		tap_result "$(! cmp -s "$tmp/rtl" "$tmp/one"; echo $?)" "seed 2 is another run"
	done
done
cp "$tmp/before.csv" "$tmp/load.csv"
run --machine published --keep 60
tap_ok "--keep: messages vanish" grep -q ',,' "$tmp/rtl"

# 4 bytes take 193 cycles; one word is put and one is got
echo 0,0,5,4 >"$tmp/load.csv"
run
tap_is "one message" "$(tail -n 1 "$tmp/fast" | cut -d, -f9)" 193
run --gap-word 10
tap_is "a word costs ten cycles at each end" "$(tail -n 1 "$tmp/rtl" | cut -d, -f9)" 213
run --gap-lock 1 --gap-init 2 --gap-get 3
tap_is "gaps" "$(tail -n 1 "$tmp/rtl" | cut -d, -f9)" 199
echo 0,0,24,4 >"$tmp/load.csv"
refused "dst in row 1: port 24 is not -1..15"
run --k 5
tap_result $? "25 ports"
refused "--machine: 'x' is not published or device" --machine x
refused "--ports: unknown option" --ports 4
refused "--depth: unknown option or argument missing" --depth
refused "--credit: 200 is not 1..136 cells" --ic-blocks 200 --credit 200
refused "--queue: 256 is not 1..255 messages" --k 16 --queue 256

# looking inside
printf '%s\n' 0,0,5,100 0,0,9,200 0,1,5,4 300,2,-1,30 400,0,5,10 >"$tmp/load.csv"
# look WHAT N ARGUMENT...: the verdicts of look.py, N of them
look() {
	local what=$1 n=$2
	shift 2
	python3 "$top/tools/testing/pwmodel/look.py" "$@" >"$tmp/verdicts" 2>"$tmp/err"
	tap_is "$what: read" "$? $(wc -l <"$tmp/verdicts") $(tail -n 1 "$tmp/err")" "0 $n "
	while read -r verdict; do
		case $verdict in
		ok\ *) tap_result 0 "$what: ${verdict#ok }" ;;
		*) tap_result 1 "$what: ${verdict#not ok }" ;;
		esac
	done <"$tmp/verdicts"
}
run
cp "$tmp/rtl" "$tmp/plain"
for engine in rtl fast; do
	"$pwmodel" fabric --messages "$tmp/load.csv" --pack immediately --unpack immediately \
		--engine $engine --trace "$tmp/$engine.json" >"$tmp/table"
	tap_ok "$engine: a trace changes no cycle" cmp -s "$tmp/table" "$tmp/plain"
	look "$engine trace" 13 trace "$tmp/$engine.json" "$tmp/table"
	"$pwmodel" fabric --messages "$tmp/load.csv" --pack immediately --unpack immediately --topology fattree:4x2 \
		--engine $engine --trace "$tmp/$engine-tree.json" >/dev/null
done
# the format that browsers open, as a schema; and what is not of that form
sed 's/"ph":"X"/"ph":"Y"/' "$tmp/rtl.json" >"$tmp/kind.json"
sed 's/,"dur":[0-9.]*//' "$tmp/rtl.json" >"$tmp/dur.json"
for file in rtl fast rtl-tree fast-tree kind dur; do
	case $file in kind|dur) want=invalid ;; *) want=valid ;; esac
	tap_is "$file.json against the schema of trace events" "$("$top/scripts/lib/python" jsonschema -c 'import json, jsonschema, sys
schema, trace = (json.load(open(f)) for f in sys.argv[1:])
jsonschema.Draft7Validator.check_schema(schema)
error = next(jsonschema.Draft7Validator(schema).iter_errors(trace), None)
print("invalid" if error else "valid")' "$top/tools/testing/pwmodel/trace.schema.json" "$tmp/$file.json" 2>&1)" $want
done
"$pwmodel" fabric --messages "$tmp/load.csv" --pack immediately --unpack immediately --vcd "$tmp/a.vcd" >"$tmp/table"
tap_ok "a waveform changes no cycle" cmp -s "$tmp/table" "$tmp/plain"
look waveform 7 vcd "$tmp/a.vcd" "$tmp/table"
printf '%s\n' aal0.state7 ppd3.suspend ppd3.xpm1.size spd47.byte >"$tmp/signals"
"$pwmodel" fabric --messages "$tmp/load.csv" --vcd "$tmp/b.vcd" --signals "$tmp/signals" >/dev/null
look "chosen signals" 1 vcd "$tmp/b.vcd" "$tmp/table" "$tmp/signals"
echo aal0.nothing >"$tmp/signals"
refused "--signals: the fabric has no signal 'aal0.nothing'" --vcd "$tmp/c.vcd" --signals "$tmp/signals"

# topologies: both engines agree, what is printed is read again, what could deadlock is refused
for name in clos:4 clos:4x3x4 benes:16 butterfly:4x2 crossbar:16 torus:4x4 mesh:4x4 fattree:4x2 ring:8x2; do
	run --topology $name
	tap_result $? "--topology $name"
	tap_ok "rtl and fast agree" cmp -s "$tmp/rtl" "$tmp/fast"
	"$pwmodel" topology $name >"$tmp/$name.yaml"
	cp "$tmp/rtl" "$tmp/named"
	run --topology "$tmp/$name.yaml"
	tap_ok "the file that pwmodel topology $name prints gives the same" cmp -s "$tmp/rtl" "$tmp/named"
	"$pwmodel" topology "$tmp/$name.yaml" | sed 1d | cmp -s - <(sed 1d "$tmp/$name.yaml")
	tap_result $? "and prints the same"
done
run --topology clos:4
tap_ok "clos:4 is the default" cmp -s "$tmp/rtl" "$tmp/plain"
run --topology "$tmp/clos:4.yaml"
tap_ok "also as a file" cmp -s "$tmp/rtl" "$tmp/plain"
printf 'generator: torus\ndims: [4, 4]\n' >"$tmp/gen.yaml"
run --topology "$tmp/gen.yaml"
cp "$tmp/rtl" "$tmp/named"
run --topology torus:4x4
tap_ok "a file with a generator" cmp -s "$tmp/rtl" "$tmp/named"
sed '/^routes/,$d' "$tmp/mesh:4x4.yaml" >"$tmp/bare.yaml"
run --topology "$tmp/bare.yaml"
tap_result $? "a file without routes: up*/down*"
tap_ok "rtl and fast agree" cmp -s "$tmp/rtl" "$tmp/fast"
# cells FILE: the records of a capture in the order of their time and bytes, each in hexadecimal
cells() {
	python3 - "$1" <<-'END'
		import struct, sys
		d, at, records = open(sys.argv[1], 'rb').read(), 24, []
		# with a topology it is pcapng
		if d[:4] == b'\n\r\r\n':
		    at = 0
		    while at < len(d):
		        kind, size, _, high, low, n = struct.unpack('=6I', d[at:at + 24])
		        if kind == 6:
		            records.append((high, low, d[at + 28:at + 28 + n].hex()))
		        at += size
		    at = len(d)
		while at < len(d):
		    s, ns, n = struct.unpack('=III', d[at:at + 12])
		    records.append((s, ns, d[at + 16:at + 16 + n].hex()))
		    at += 16 + n
		for r in sorted(records):
		    print(*r)
	END
}
# multicast connections: to their members only, the same on both engines, also with every policy
printf 'generator: clos\ndims: [4, 4, 4]\nmulticast:\n  - [0, 5, 6, 15]\n  - [2, 0]\n' >"$tmp/mc.yaml"
cp "$tmp/load.csv" "$tmp/before.csv"
printf '%s\n' 0,0,mc0,100 0,1,5,4 300,2,mc1,30 400,0,-1,10 >"$tmp/load.csv"
for route in turn fixed random least; do
	run --topology "$tmp/mc.yaml" --route $route
	tap_result $? "connections, --route $route"
	tap_ok "rtl and fast agree" cmp -s "$tmp/rtl" "$tmp/fast"
done
tap_is "destinations as in the messages" "$(cut -d, -f2 "$tmp/rtl" | tr '\n' ' ')" "dst mc0 5 mc1 -1 "
run --topology "$tmp/mc.yaml" --route 65536
tap_is "least is 65536" "$(md5sum <"$tmp/rtl")" "$(run --topology "$tmp/mc.yaml" --route least; md5sum <"$tmp/rtl")"
"$pwmodel" topology "$tmp/mc.yaml" >"$tmp/mc2.yaml"
tap_is "connections as a file" "$(tail -n 3 "$tmp/mc2.yaml")" "$(printf 'multicast: # from, to\n  - [0, 5, 6, 15]\n  - [2, 0]')"
tap_is "their number" "$("$pwmodel" topology "$tmp/mc2.yaml" --summary | tail -n 1)" "multicast connections 2"
# ports that take in data cells of station 0, which has sent 4 to three members
for engine in rtl fast; do
	echo 0,0,mc0,100 >"$tmp/one.csv"
	"$pwmodel" fabric --messages "$tmp/one.csv" --pack immediately --unpack immediately --engine $engine \
		--topology "$tmp/mc.yaml" --capture "$tmp/$engine.pcap" >/dev/null
	cells "$tmp/$engine.pcap" >"$tmp/$engine.cells"
done
tap_ok "the same cells at the same units" cmp "$tmp/rtl.cells" "$tmp/fast.cells"
# data: 4 cells at one input of the first two stages, two of the last one and three ports; each of the
# 12 acknowledgments at three inputs and a port
tap_is "cells at all units" "$(wc -l <"$tmp/rtl.cells")" $((4 * (1 + 1 + 2 + 3) + 12 * 4))
echo 0,1,mc0,4 >"$tmp/load.csv"
refused "dst in row 1: connection mc0 begins at station 0" --topology "$tmp/mc.yaml"
echo 0,0,mc2,4 >"$tmp/load.csv"
refused "dst in row 1: there is no connection mc2, the topology has 2" --topology "$tmp/mc.yaml"
refused "dst in row 1: there is no connection mc2, the topology has 0"
cp "$tmp/before.csv" "$tmp/load.csv"
refused "--route: 'most' is neither turn, fixed, random or least nor a number" --route most
refused "--route: 65537 is not 1..65536 policy" --route 65537
for name in torus:4x4 fattree:4x2; do
	for engine in rtl fast; do
		"$pwmodel" fabric --messages "$tmp/load.csv" --pack immediately --unpack immediately \
			--engine $engine --topology $name --capture "$tmp/$engine.pcap" >/dev/null
		cells "$tmp/$engine.pcap" >"$tmp/$engine.cells"
	done
	tap_ok "$name: the same cells, headers included, at the same units ($(wc -l <"$tmp/rtl.cells"))" \
		cmp "$tmp/rtl.cells" "$tmp/fast.cells"
done
tap_is "sizes" "$("$pwmodel" topology torus:4x4 --summary | head -n 2 | tr '\n' ';')" "switches 16 of 5 ports;links 64;"

# wrong TEXT SED: ring:3 as a file, changed by SED, is refused with that sentence
"$pwmodel" topology ring:3 >"$tmp/ring.yaml"
wrong() {
	sed -E "$2" "$tmp/ring.yaml" >"$tmp/wrong.yaml"
	"$pwmodel" topology "$tmp/wrong.yaml" >"$tmp/out" 2>"$tmp/err"
	tap_is "$1" "$? $(wc -c <"$tmp/out") $(sed "s,$tmp/,," "$tmp/err")" "2 0 pwmodel: topology: $1"
}
wrong "wrong.yaml:2: unknown key 'switch'" 's/^switches/switch/'
wrong "wrong.yaml:2: a number is needed" 's/^switches: 3/switches: x/'
wrong "wrong.yaml:3: '17' is not 0..16" 's/^ports: 3/ports: 17/'
wrong "wrong.yaml:2: 'links' is missing" '/^links/,/^routes/{/^routes/!d}'
wrong "wrong.yaml:6: '9' is not 0..2" '6s/0/9/'
wrong "wrong.yaml:10: output 0 of switch 0 is used twice" '10s/0, 1/0, 0/'
# shellcheck disable=SC2016 # $ is sed's
wrong "wrong.yaml: input 2 of switch 1 does not exist or is driven twice" '11s/2, 1\]/1, 2]/; /^routes/,$d'
wrong "wrong.yaml:18: the route does not end at station 1" '18s/1, 0\]/1, 1]/'
wrong "wrong.yaml:18: a list of 4 or more numbers is needed" '18s/- .*/- [0, 1]/'
wrong "wrong.yaml: no route from station 0 to 2 by path 0, it ends at switch 0" '/^  - \[0, 2, 0/d'
multicast() { wrong "$1" "\$amulticast: $2"; }
multicast "wrong.yaml:26: multicast: a list of connections is needed" 3
multicast "wrong.yaml:26: a list of 2 or more numbers is needed" "[[0]]"
multicast "wrong.yaml:26: '3' is not 0..2" "[[0, 3]]"
multicast "wrong.yaml:26: station 1 is the sender of the connection" "[[0, 1], [1, 1]]"
multicast "wrong.yaml:26: station 2 twice" "[[0, 2, 2]]"
# each cell around the ring in one direction
wrong "wrong.yaml: deadlock: links wait for each other in a circle, among them output 1 of switch 0" \
	's/0, 2, 0, 2, 0\]/0, 2, 0, 1, 1, 0]/; s/1, 0, 0, 2, 0\]/1, 0, 0, 1, 1, 0]/; s/2, 1, 0, 2, 0\]/2, 1, 0, 1, 1, 0]/'
wrong "wrong.yaml:20: at input 2 of switch 1 cells for station 2 by path 0 take output 1 already" \
	's/0, 2, 0, 2, 0\]/0, 2, 0, 1, 1, 0]/; 19s/.*/  - [0, 2, 0, 1, 1, 0]/; 20s/.*/  - [0, 2, 0, 1, 0]/'
refused "--topology: torus: sizes are missing, too many or out of range, it is torus:AxB[xC[xD]]" --topology torus
refused "--k: --topology determines it" --topology torus:4x4 --k 4
refused "--topology: ring:40: 41 switches in a row, at most 32 are possible" --topology ring:40

# several processes at a port: the same cycles and the same order on both engines; the capture has their names
cp "$tmp/load.csv" "$tmp/before.csv"
printf '%s\n' port,name,instance 5,wrk,0 5,wrk,1 5,srv,0 6,wrk,2 >"$tmp/procs.csv"
printf '%s\n' cycle,src,dst,bytes,name,instance,type 0,0,5,1600,srv,0,1 11000,9,5,4,wrk,0,2 11000,9,5,4,wrk,1,3 \
	11400,1,5,4,wrk,0,2 12000,3,-1,8,wrk,-1,4 >"$tmp/load.csv"
for where in "" --published "--topology torus:4x4"; do
	# shellcheck disable=SC2086 # words
	run --processes "$tmp/procs.csv" $where
	tap_result $? "processes $where"
	tap_ok "rtl and fast agree" cmp -s "$tmp/rtl" "$tmp/fast"
	tap_is "who read what, in the order of reading" \
		"$(sed 1d "$tmp/rtl" | sort -t, -nk9 | cut -d, -f1,11-14 | tr '\n' ' ')" \
		"3,6,wrk,2,4 0,5,srv,0,1 1,5,wrk,0,2 9,5,wrk,1,3 9,5,wrk,0,2 3,5,wrk,1,4 3,5,wrk,0,4 "
done
for engine in rtl fast; do
	"$pwmodel" fabric --messages "$tmp/load.csv" --processes "$tmp/procs.csv" --pack immediately --unpack immediately \
		--engine $engine --capture "$tmp/$engine.pcap" >/dev/null
	cells "$tmp/$engine.pcap" >"$tmp/$engine.cells"
done
tap_ok "the same cells at the same units" cmp "$tmp/rtl.cells" "$tmp/fast.cells"
tap_ok "with the names of the processes" grep -q "$(printf '%08x' 0x77 0x72 0x6b 1 3)" "$tmp/rtl.cells"
refused "--processes: needs --unpack immediately" --processes "$tmp/procs.csv"
for row in "port of process in row 2: port 16 is not 0..15:16,wrk,3" \
	"name of process in row 2: 'work' is not a name of one to three characters:5,work,3" \
	"instance of process in row 2: 2147483648 is not 0..2147483647:5,wrk,2147483648"; do
	printf '5,wrk,0\n%s\n' "${row##*:}" >"$tmp/wrong.csv"
	refused "${row%:*}" --unpack immediately --processes "$tmp/wrong.csv"
done
echo 5,wrk >"$tmp/wrong.csv"
refused "$tmp/wrong.csv: row 1 has not the columns port,name,instance" --unpack immediately --processes "$tmp/wrong.csv"
printf '%s\n' 5,wrk,0 5,wrk,0 >"$tmp/wrong.csv"
echo 0,1,5,4,wrk,0,1 >"$tmp/load.csv"
refused "--processes: port 5 has wrk 0 twice" --unpack immediately --processes "$tmp/wrong.csv"
seq -f 5,wrk,%.0f 0 10 >"$tmp/wrong.csv"
refused "--processes: port 5 has more than 10" --unpack immediately --processes "$tmp/wrong.csv"
echo 0,1,6,4,wrk,0,1 >"$tmp/load.csv"
refused "name in row 1: there is no process wrk 0 where the message goes" --unpack immediately --processes "$tmp/procs.csv"
echo 0,1,6,4 >"$tmp/load.csv"
refused "$tmp/load.csv: row 1 has not the columns cycle,src,dst,bytes,name,instance,type" --unpack immediately --processes "$tmp/procs.csv"
cp "$tmp/before.csv" "$tmp/load.csv"

refused "--signals: needs --vcd" --signals "$tmp/signals"
refused "--vcd: needs --engine rtl" --unpack immediately --engine fast --vcd "$tmp/c.vcd"
refused "--vcd: $tmp/none/c.vcd: No such file or directory" --vcd "$tmp/none/c.vcd"
refused "--trace: $tmp/none/c.json: No such file or directory" --trace "$tmp/none/c.json"
tap_done
