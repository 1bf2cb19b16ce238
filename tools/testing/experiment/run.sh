#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: pwctl experiment against the published tables, both engines, plots; sweeps.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
build=${1:-$top/build}
golden=$top/tools/testing/golden/T11
pwctl=$build/pwctl
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=SCRIPTDIR/../../../scripts/lib/tap
. "$top/scripts/lib/tap"

# the table that is built in is the published one, and ours is its closed form; row
# 45000 is printed for one cell too few
"$pwctl" -j experiment delay svg "$tmp/delay.svg" >"$tmp/delay.json"
tap_result $? "delay"
tail -n +2 "$golden/table_11_1.csv" >"$tmp/want"
jq -r '.[] | [.size, .measured, .closed_form] | join(",")' "$tmp/delay.json" >"$tmp/got"
tap_result "$(cmp -s "$tmp/want" "$tmp/got"; echo $?)" "the published columns are those of table 11.1"
while IFS=, read -r size _ theory; do
	[ "$size" != 45000 ] || theory=$((theory + 71))
	ours=$(jq ".[] | select(.size == $size) | .ours" "$tmp/delay.json")
	tap_result "$([ "$ours" = "$theory" ]; echo $?)" "$size bytes take $theory cycles"
done <"$tmp/want"
"$pwctl" -j experiment delay engine rtl 4 100 1000 >"$tmp/rtl.json"
tap_result "$([ "$(jq -c 'map(.ours)' "$tmp/rtl.json")" = "$("$pwctl" -j experiment delay 4 100 1000 | jq -c 'map(.ours)')" ]; echo $?)" \
	"rtl and fast agree"
tap_result "$([ "$(jq '.[0].ours' "$tmp/rtl.json")" = 193 ]; echo $?)" "4 bytes take 193 cycles"
tap_result "$("$pwctl" experiment delay | grep -q '^ *65000 *1157703 *745878 *745878 *+0$'; echo $?)" "as text"

"$pwctl" -j experiment throughput svg "$tmp/throughput.svg" >"$tmp/thr.json"
tap_result $? "throughput"
figure() { jq -r ".[] | select(.figure == \"$1\") | .$2" "$tmp/thr.json"; }
tap_result "$(awk -v r="$(figure r_max ours)" 'BEGIN { exit !(r > 0.08714561 && r < 0.08714563) }'; echo $?)" "r_max is the published one"
tap_result "$([ "$(figure n_half 'ours | floor')" = 12 ]; echo $?)" "half of it with 12 bytes"
tap_result "$([ "$(figure t0 'ours | floor')" = 193 ]; echo $?)" "t0 is 193"
IFS=, read -r _ r155 r622 < <(grep '^theoretical' "$golden/table_11_3.csv")
tap_result "$(awk -v a="$(figure r_max_155 ours)" -v b="$r155" 'BEGIN { exit !((a - b) ^ 2 < 1e-12) }'; echo $?)" "$r155 Mbit/s at 155.52"
tap_result "$(awk -v a="$(figure r_max_622 ours)" -v b="$r622" 'BEGIN { exit !((a - b) ^ 2 < 1e-10) }'; echo $?)" "$r622 Mbit/s at 622.08"
IFS=, read -r _ rmax _ < <(grep '^experimental' "$golden/table_11_2.csv")
tap_result "$([ "$(figure r_max published_measured)" = "$rmax" ]; echo $?)" "the measured r_max is the published one"

"$pwctl" -j experiment contention svg "$tmp/contention.svg" >"$tmp/con.json"
tap_result $? "contention"
with=$(sed -n 's/^contention_last_receive_experimental,//p' "$golden/figures.csv")
without=$(sed -n 's/^contention_last_receive_theoretical,//p' "$golden/figures.csv")
tap_result "$(jq -e ".[0] | .published_with == $with and .published_without == $without" "$tmp/con.json" >/dev/null; echo $?)" "the published figures"
tap_result "$(jq -e '.[0].operations == 134' "$tmp/con.json" >/dev/null; echo $?)" "134 logged operations, as published"
tap_result "$(jq -e '.[0] | .ours_with > .ours_without' "$tmp/con.json" >/dev/null; echo $?)" "contention costs cycles"
"$pwctl" experiment contention >"$tmp/con.txt"
tap_result "$(grep -q '^last receive: element 4, type 20 ' "$tmp/con.txt"; echo $?)" "the last receive is the published one"
"$pwctl" experiment contention engine rtl | cmp -s - "$tmp/con.txt"
tap_result $? "rtl and fast agree"

# the program of pwsolve, its communication log, and the parts of the page's table
"$pwctl" experiment contention log "$tmp/log.csv" >/dev/null
tap_is "the log" "$(sed -n '1,2p;$p' "$tmp/log.csv" | tr '\n' ' ') $(wc -l <"$tmp/log.csv")" \
	"cycle,operation,type,process,destination 231,send,0,0,all 5426,receive,20,4,  135"
tap_is "... is sorted by cycle" "$(tail -n +2 "$tmp/log.csv" | cut -d, -f1 | sort -nc 2>&1)" ""
last() { "$pwctl" -j experiment contention engine rtl "$@" | jq '.[0].ours_with'; }
tap_is "published machine" "$(last machine published)" 6138
tap_is "and polling receivers" "$(last machine published receivers poll)" 8038
tap_is "and host gaps" "$(last machine published receivers poll gap-init 5 gap-get 12)" 8175
tap_is "as on stations of the module" "$(last machine module)" 4814
for n in 5426 6138 8038 8175 4814; do
	tap_ok "the page has $n" grep -q "$n" "$top/Documentation/networking/packetway-models.rst"
done
for e in fast rtl; do
	"$pwctl" experiment contention engine $e machine module processes charged log "$tmp/$e.csv" >/dev/null
done
tap_ok "the module's fabric: rtl and fast agree" cmp "$tmp/fast.csv" "$tmp/rtl.csv"
tap_is "its processes take time" "$(sed -n '3p' "$tmp/fast.csv")" "271,send,0,0,all"
"$pwctl" experiment contention log "$tmp/none/x" >/dev/null 2>&1
tap_is "a log that cannot be written is a failure" $? 2

# the queue-size study: the figures of the page, on both engines
"$pwctl" -j experiment queues svg "$tmp/queues.svg" >"$tmp/queues.json"
tap_result $? "queues"
tap_is "depths 1, 2, 4, 8, 16, 64" "$(jq -c 'map([.depth, .cycles])' "$tmp/queues.json")" \
	'[[1,8039],[2,5825],[4,5303],[8,5426],[16,5070],[64,5070]]'
tap_is "queues of 16 cells refuse nothing" "$(jq -c '.[4].refused' "$tmp/queues.json")" '[0,0,0,0]'
tap_is "depth 8 is that of contention" "$(jq '.[3].cycles' "$tmp/queues.json")" "$(jq '.[0].ours_with' "$tmp/con.json")"
"$pwctl" -j experiment queues engine rtl >"$tmp/queues.rtl"
tap_ok "rtl and fast agree" cmp -s "$tmp/queues.rtl" "$tmp/queues.json"
tap_is "the published machine" "$("$pwctl" -j experiment queues machine published | jq -c 'map(.cycles)')" "[8123,6479,5639,6138,5286,5286]"
tap_is "its delays are the same" "$("$pwctl" -j experiment delay machine published)" "$("$pwctl" -j experiment delay)"
tap_is "other depths" "$("$pwctl" experiment queues 3 5 | awk 'NR > 2 { print $1, $2 }' | tr '\n' ,)" "3 4999,5 4612,"
for depth in 0 65; do
	"$pwctl" experiment queues $depth >"$tmp/out" 2>&1
	tap_is "depth $depth is refused" "$? $(grep -c "DEPTH: '$depth'" "$tmp/out")" "1 1"
done
page=$top/Documentation/networking/packetway-models.rst
while read -r depth cycles; do
	tap_ok "the page has depth $depth" grep -qE "^$depth +$cycles( |$)" "$page"
done < <(jq -r '.[] | "\(.depth) \(.cycles)"' "$tmp/queues.json")

for f in delay throughput contention queues; do
	tap_result "$(head -c 200 "$tmp/$f.svg" | grep -q '<?xml' && grep -q '</svg>' "$tmp/$f.svg"; echo $?)" "$f.svg is a plot"
done

"$pwctl" experiment delay 65601 >"$tmp/out" 2>&1
tap_result "$([ $? = 1 ] && grep -q 65601 "$tmp/out"; echo $?)" "a size that is too large is refused"
"$pwctl" experiment delay engine none >/dev/null 2>&1
tap_result "$([ $? = 1 ]; echo $?)" "an engine that does not exist is refused"
"$pwctl" experiment >/dev/null 2>&1
tap_result "$([ $? = 1 ]; echo $?)" "which experiment must be said"
"$pwctl" experiment delay 4 svg "$tmp/none/x.svg" >/dev/null 2>&1
tap_result "$([ $? = 2 ]; echo $?)" "a file that cannot be written is a failure"

# Sweeps: tables, curves, both engines, interruption ---------------------------------------

cd "$tmp" || exit 1
ends=(.csv -runs.csv .json -latency.svg -throughput.svg -queues.svg -refusals.svg)
# same PREFIX PREFIX: all files of two sweeps have the same bytes
same() {
	local e
	for e in "${ends[@]}"; do
		cmp -s "$1$e" "$2$e" || return 1
	done
}
# column FILE NAME: its values, one a line
column() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { print $at }' "$1"; }

cat >small.yaml <<-END
	name: small
	parameters:
	  depth: [1, 8]
	traffic: [uniform, transpose, hotspot, neighbour, bursty]
	load: [0.02, 0.5, 2]
	seeds: 3
	cycles: 6000
END
"$pwctl" experiment sweep small.yaml 2>err
tap_is "sweep" "$? $(cat err)" "0 "
tap_is "the files of a sweep" "$(ls small*)" "$(printf 'small%s\n' "${ends[@]}" .yaml | sort)"
"$pwctl" experiment sweep small.yaml out again jobs 1
tap_ok "the same sweep, one run at a time, gives the same bytes" same small again
"$pwctl" experiment sweep small.yaml out again jobs 5
tap_ok "and five at a time" same small again
tap_is "points" "$(column small.csv load | wc -l)" 30
tap_is "runs" "$(column small-runs.csv seed | wc -l)" 90
version=$("$pwctl" -V | sed 's/.* //')
tap_is "the version in every row" "$(column small-runs.csv version | sort -u)" "$version"
tap_is "points and runs as JSON" "$(jq -c '[.name, .version, (.points | length), ([.points[].runs[]] | length)]' small.json)" "[\"small\",\"$version\",30,90]"
for name in $("$build/pwmodel" fabric --help | sed -n 's/^  --\([a-z-]*\) .*\.\..*/\1/p'); do
	tap_is "a column $name" "$(head -n 1 small.csv small-runs.csv | tr ',' '\n' | grep -cx -- "$name")" 2
done
tap_is "values that the file does not set" "$(column small.csv ic-blocks | sort -u) $(column small.csv keep | sort -u)" "4096 "
tap_is "JSON and CSV agree" "$(jq -r '.points[].latency.mean' small.json | awk '{ printf "%.4f\n", $1 }')" "$(column small.csv latency | awk '{ printf "%.4f\n", $1 }')"
python3 - >verdicts <<-END
	import csv, math
	runs = list(csv.DictReader(open("small-runs.csv")))
	rows = list(csv.DictReader(open("small.csv")))
	def check(what, good):
	    print("ok" if good else "not ok", what)
	def near(a, b):
	    return abs(a - b) <= 1e-5 * max(abs(a), abs(b), 1e-9)
	bad = 0
	for i, row in enumerate(rows):
	    for name in ("latency", "throughput", "fill_2", "refused_3", "warmup"):
	        v = [float(r[name]) for r in runs[3 * i:3 * i + 3]]
	        mean = sum(v) / 3
	        dev = math.sqrt(sum((x - mean) ** 2 for x in v) / 2)
	        bad += not near(float(row[name]), mean)
	        bad += not near(float(row[name + "_ci95"]), 4.303 * dev / math.sqrt(3))
	check("means and confidence intervals, worked out anew", not bad)
	idle = [r for r in rows if r["load"] == "0.02"]
	# the closed form for 16 bytes, and the sources that a receiver scans
	check("an idle fabric has the closed form's latency", all(290 <= float(r["latency"]) <= 420 for r in idle if r["traffic"] != "bursty"))
	check("nothing is refused there", all(float(r["refused_1"]) == 0 for r in idle if r["traffic"] == "uniform"))
	full = [r for r in rows if r["load"] == "2"]
	check("load 2 saturates", all(float(r["saturated"]) == 1 for r in full) and all(float(r["throughput"]) < float(r["offered"]) for r in full))
	check("load 0.02 does not", all(float(r["throughput"]) <= 1.3 * float(r["offered"]) for r in idle))
	check("patterns differ", len({r["latency"] for r in full if r["depth"] == "8"}) == 5)
	hot = {(r["traffic"], r["depth"]): float(r["throughput"]) for r in full}
	check("a hot spot costs throughput", hot["hotspot", "8"] < hot["uniform", "8"])
	one = [r for r in full if r["depth"] == "1"]
	check("queues of one cell refuse", all(float(r["refused_2"]) + float(r["refused_3"]) > 0 for r in one if r["traffic"] in ("uniform", "hotspot")))
	check("queues are between empty and full", all(0 <= float(r[f"fill_{s}"]) <= 1 for r in rows for s in (1, 2, 3)))
	check("at most half of a run is warm-up", all(0 <= float(r["warmup"]) <= 3000 for r in runs))
	check("a device loses nothing", all(float(r["lost"]) == 0 for r in runs))
	half = [r for r in rows if r["load"] == "0.5" and r["traffic"] == "uniform"]
	# 0.5 messages of 16 bytes in 60 + 10 + 152 cycles
	check("load 0.5", all(abs(float(r["offered"]) - 0.5 * 16 / 222) < 0.006 for r in half))
END
while read -r verdict; do
	case $verdict in
	ok\ *) tap_result 0 "${verdict#ok }" ;;
	*) tap_result 1 "${verdict#not ok }" ;;
	esac
done <verdicts
tap_is "all of them were checked" "$(wc -l <verdicts)" 12
for e in latency throughput queues refusals; do
	tap_ok "small-$e.svg is a plot" python3 -c "
import sys, xml.etree.ElementTree as t
root = t.parse('small-$e.svg').getroot()
text = ' '.join(x.text or '' for x in root.iter('{http://www.w3.org/2000/svg}text'))
sys.exit(not all(w in ' '.join(root.itertext()) for w in ('depth 1', 'hotspot', 'load')))"
done

# rtl: the same figures in every row
sed 's/^traffic:.*/traffic: [uniform, bursty]/; s/^seeds:.*/seeds: [7]/; s/^load:.*/load: [0.3, 1.5]/; s/^cycles:.*/cycles: 2000/' small.yaml >fast.yaml
{ cat fast.yaml; echo 'engine: rtl'; } >rtl.yaml
"$pwctl" experiment sweep fast.yaml && "$pwctl" experiment sweep rtl.yaml
tap_is "rtl and fast agree" "$(sed 's/,rtl,/,fast,/' rtl-runs.csv)" "$(cat fast-runs.csv)"
tap_is "rtl was run" "$(column rtl.csv engine | sort -u)" rtl

# interrupted: the tables cannot be written, then most of the journal is lost
mkdir cut-runs.csv
"$pwctl" experiment sweep small.yaml out cut 2>err
tap_is "a table that cannot be written" "$? $(grep -c cut-runs.csv err)" "2 1"
rmdir cut-runs.csv
tap_is "the journal has every run" "$(grep -c ' \.$' cut.journal)" 90
head -n 40 cut.journal | head -c -20 >cut.part
mv cut.part cut.journal
"$pwctl" experiment sweep small.yaml out cut jobs 1
tap_is "resumed" "$? $(test -e cut.journal; echo $?)" "0 1"
tap_ok "it ends with the same bytes" same small cut
# a run that the journal has is not repeated: a wrong figure in it stays
rm cut*
mkdir cut-runs.csv
"$pwctl" experiment sweep small.yaml out cut 2>/dev/null
rmdir cut-runs.csv
sed -i 's/^\(17 [0-9]* [0-9]*\) [0-9]*/\1 123456/' cut.journal
"$pwctl" experiment sweep small.yaml out cut
tap_result "$(! same small cut; echo $?)" "runs of the journal are not repeated"
# killed: whatever it had done
sed 's/^cycles:.*/cycles: 60000/' small.yaml >kill.yaml
"$pwctl" experiment sweep kill.yaml out whole
"$pwctl" experiment sweep kill.yaml jobs 1 &
pid=$!
while kill -0 $pid 2>/dev/null && [ "$(grep -c ' \.$' kill.journal 2>/dev/null || :)" -lt 4 ] 2>/dev/null; do sleep 0.02; done
kill -KILL $pid 2>/dev/null
wait $pid 2>/dev/null
"$pwctl" experiment sweep kill.yaml
tap_is "after a kill" $? 0
tap_ok "the same bytes" same whole kill

# another file does not go on with it
mkdir old-runs.csv
"$pwctl" experiment sweep small.yaml out old 2>/dev/null
rmdir old-runs.csv
"$pwctl" experiment sweep fast.yaml out old 2>err
tap_is "a journal of another sweep is refused" "$? $(grep -c "old.journal: journal of another sweep; remove it or say 'restart'" err)" "2 1"
"$pwctl" experiment sweep fast.yaml out old restart
tap_is "restart" $? 0
tap_is "with its own rows" "$(cat old.csv)" "$(cat fast.csv)"

# topologies: both engines give the same figures, and clos:4 those of the fabric without a topology
printf '%s\n' "topology: [clos:4, 'clos:4x3x4', torus:4x4, own.yaml]" "load: [0.3, 0.9]" "seeds: 2" "cycles: 5000" >topo.yaml
"$(dirname "$pwctl")/pwmodel" topology mesh:3x3 >own.yaml
for e in fast rtl; do
	{ cat topo.yaml; echo "engine: $e"; } >"topo-$e.yaml"
	"$pwctl" experiment sweep "topo-$e.yaml" 2>err
	tap_is "topologies, $e" "$? $(cat err)" "0 "
done
tap_is "fast and rtl agree" "$(sed 's/,fast,/,rtl,/' topo-fast-runs.csv | md5sum)" "$(md5sum <topo-rtl-runs.csv)"
tap_is "rows" "$(cut -d, -f4 topo-rtl.csv | uniq -c | awk '{print $1 $2}' | tr '\n' ' ')" "1topology 2clos:4 2clos:4x3x4 2torus:4x4 2own.yaml "
# connections and policies: the same
printf '%s\n' "generator: clos" "dims: [4, 4, 4]" "multicast: [[0, 5, 6, 15], [7, 1, 2]]" >mc.yaml
for e in fast rtl; do
	printf '%s\n' "topology: mc.yaml" "traffic: multicast" "parameters: {route: [turn, fixed, random, least]}" "load: 0.5" \
		"cycles: 5000" "engine: $e" >"mc-$e.yaml"
	"$pwctl" experiment sweep "mc-$e.yaml" 2>/dev/null
	tap_is "connections, $e" $? 0
done
tap_is "fast and rtl agree" "$(sed 's/,fast,/,rtl,/' mc-fast-runs.csv | md5sum)" "$(md5sum <mc-rtl-runs.csv)"
tap_is "policies" "$(cut -d, -f18 mc-rtl.csv | tr '\n' ' ')" "route 1 2 3 65536 "
# faults: columns, both engines, axis of a plot; the seed of a run is that of its faults
for e in fast rtl; do
	printf '%s\n' "parameters: {drop: [0, 10000], corrupt: [0, 5000], resend: 4000}" "load: 0.4" "seeds: 2" \
		"cycles: 12000" "x: drop" "engine: $e" >"fault-$e.yaml"
	"$pwctl" experiment sweep "fault-$e.yaml" 2>err
	tap_is "faults, $e" "$? $(cat err)" "0 "
done
tap_is "fast and rtl agree" "$(sed 's/,fast,/,rtl,/' fault-fast-runs.csv | md5sum)" "$(md5sum <fault-rtl-runs.csv)"
tap_is "columns" "$(column fault-rtl.csv drop | tr '\n' ' ')$(column fault-rtl.csv corrupt | tr '\n' ' ')" "0 0 10000 10000 0 5000 0 5000 "
tap_is "as JSON" "$(jq -c '[.points[] | [.drop, .corrupt, .["fault-seed"]]]' fault-rtl.json)" "[[0,0,null],[0,5000,null],[10000,0,null],[10000,5000,null]]"
tap_ok "faults cost time" python3 -c "
import csv, sys
v = [float(r['latency_max']) for r in csv.DictReader(open('fault-fast.csv'))]
sys.exit(not (v[0] < 4000 < min(v[1:])))"
# seeds N of both and fault-seed N: run N, where nothing else differs
for n in 1 2; do
	sed "s/^seeds.*/seeds: [$n]/; s/resend/fault-seed: $n, resend/" fault-fast.yaml >own.yaml
	"$pwctl" experiment sweep own.yaml
	tap_is "fault-seed $n is the default of seed $n" "$(for c in latency_max latency messages; do column own-runs.csv $c; done)" \
		"$(for c in latency_max latency messages; do column fault-fast-runs.csv $c | awk -v n=$n 'NR % 2 == n % 2'; done)"
done
tap_is "a column fault-seed" "$(column own.csv fault-seed | sort -u) $(jq -c '[.points[]["fault-seed"]] | unique' own.json)" "2 [2]"
sed 's/fault-seed: 2/fault-seed: [2, 3]/; s/^x.*//' own.yaml >both.yaml
"$pwctl" experiment sweep both.yaml 2>/dev/null
tap_result "$([ "$(column both.csv latency | awk 'NR > 6' | sort -u | wc -l)" = 2 ]; echo $?)" "other faults of the same messages"
# a journal: faults make it another sweep, each kind and the seed
mkdir jour-runs.csv
"$pwctl" experiment sweep fault-fast.yaml out jour 2>/dev/null
for change in 's/drop/xx/; s/corrupt/drop/; s/xx/corrupt/' 's/resend/fault-seed: 0, resend/' 's/10000/10001/' 's/corrupt: .0, 5000., //'; do
	sed "$change" fault-fast.yaml >other.yaml
	"$pwctl" experiment sweep other.yaml out jour 2>err
	tap_is "$change: a journal of another sweep" "$? $(grep -c 'journal of another sweep' err)" "2 1"
done
rmdir jour-runs.csv
sed '/^topology/d' topo-fast.yaml >bare.yaml
"$pwctl" experiment sweep bare.yaml
tap_is "clos:4 is the default" "$(sed 's/clos:4x4x4/clos:4/' bare-runs.csv | md5sum)" "$(head -n 5 topo-fast-runs.csv | md5sum)"

# refused STATUS TEXT LINE...: a file of these lines
refused() {
	local status=$1 text=$2 rc
	shift 2
	printf '%s\n' "$@" >wrong.yaml
	"$pwctl" experiment sweep wrong.yaml >out 2>err
	rc=$?
	tap_is "$*: refused" "$rc $(cat err)" "$status pwctl: $text"
	rm -f wrong.journal
}
refused 1 "wrong.yaml:1: unknown key 'speed'" "speed: 3"
refused 1 "wrong.yaml:2: depth: '65' is not 1..64" "parameters:" "  depth: [4, 65]"
refused 1 "wrong.yaml:2: parameters: unknown name 'ports'" "parameters:" "  ports: 3"
refused 1 "wrong.yaml: queue: 256 is not 1..255 messages (k is 16)" "parameters: {k: [2, 16], queue: 256}"
refused 1 "wrong.yaml: keep: the machine 'device' has no such parameter" "parameters: {keep: 10}"
refused 1 "wrong.yaml:1: traffic: 'x' is not one of uniform, transpose, hotspot, neighbour, bursty, trace, multicast" "traffic: [uniform, x]"
refused 1 "wrong.yaml:1: load: '0' is not 1e-06..4" "load: 0"
refused 1 "wrong.yaml:1: load: '0.1234567' is not 1e-06..4" "load: [0.1234567]"
refused 1 "wrong.yaml:1: load: from, to (larger) and steps are needed" "load: {from: 1, to: 0.5, steps: 3}"
refused 1 "wrong.yaml:1: bytes: an empty list" "bytes: []"
refused 1 "wrong.yaml:1: bytes: the same value twice" "bytes: [4, 4]"
refused 1 "wrong.yaml:1: topology: torus:9x: sizes are missing, too many or out of range, it is torus:AxB[xC[xD]]" "topology: torus:9x"
refused 1 "wrong.yaml:1: topology: the same value twice" "topology: [torus:4x4, torus:4x4]"
refused 1 "wrong.yaml: k: the topology determines it" "topology: torus:4x4" "parameters: {k: 4}"
refused 1 "wrong.yaml: traffic transpose: the 8 stations of ring:8 are no square" "topology: [torus:4x4, ring:8]" "traffic: transpose"
refused 1 "wrong.yaml: traffic multicast: topology torus:4x4 has no connections" "topology: torus:4x4" "traffic: multicast"
refused 1 "wrong.yaml:1: route: 'most' is neither turn, fixed, random or least nor 1..65536" "parameters: {route: most}"
refused 1 "wrong.yaml:1: x: 'topology' is neither load nor bytes nor a parameter" "x: topology"
refused 1 "wrong.yaml:1: drop: '500001' is not 0..500000" "parameters: {drop: [4, 500001]}"
refused 1 "wrong.yaml:1: corrupt: 'x' is not 0..500000" "parameters: {corrupt: x}"
refused 1 "wrong.yaml:1: fault-seed: '4294967296' is not 0..4294967295" "parameters: {fault-seed: 4294967296}"
refused 1 "wrong.yaml:1: drop: the same value twice" "parameters: {drop: [7, 7]}"
refused 1 "wrong.yaml:1: unknown key 'drop'" "drop: 7"
refused 1 "wrong.yaml:1: engine: 'none' is not one of fast, rtl" "engine: none"
refused 1 "wrong.yaml:1: seeds: '0' is not 1..64" "seeds: 0"
refused 1 "wrong.yaml:1: cycles: '10' is not 1000..100000000" "cycles: 10"
refused 1 "wrong.yaml:1: x: 'traffic' is neither load nor bytes nor a parameter" "x: traffic"
refused 1 "wrong.yaml:1: keys and values are needed" "[]"
refused 2 "bytes: 1000 do not fit into the buffers" "parameters: {og-blocks: 4}" "bytes: 1000"
# more than SWEEP_RUNS combinations
refused 1 "wrong.yaml: more than 100000 runs" "seeds: 64" "load: {from: 0.1, to: 1, steps: 64}" "bytes: [$(seq -s, 1 30)]"
"$pwctl" experiment sweep none.yaml 2>err
tap_is "a file that is not there" "$? $(grep -c none.yaml err)" "2 1"

# a trace: the messages of a file, again and again, at the load that is asked for
printf '%s\n' cycle,src,dst,bytes 0,0,5,16 100,1,6,16 300,0,6,16 >ours.csv
printf '%s\n' 'traffic: trace' 'trace: ours.csv' 'load: [0.2, 0.4]' 'cycles: 50000' 'parameters: {k: [4, 8]}' >trace.yaml
"$pwctl" experiment sweep trace.yaml
tap_is "trace: a run" $? 0
# two senders, three messages of 222 cycles work in a period of 3 * 222 / 0.2 / 2
# and the last ones are still on their way
# shellcheck disable=SC2016
tap_ok "trace: messages of the runs" awk -v want="$(for load in 2 4 2 4; do echo $((50000 * 3 / (3 * 222 * 10 / load / 2 + 1))); done | paste -sd ' ')" \
	'BEGIN { split(want, w) } $1 > w[NR] + 1 || $1 < w[NR] - 2 { exit 1 } END { exit NR != 4 }' <(column trace-runs.csv messages)
tap_is "trace: alone they take the times of pwmodel" "$(column trace.csv latency | head -n 1 | cut -d. -f1)" \
	"$(printf '%s\n' 0,0,5,16 20000,1,6,16 40000,0,6,16 >alone.csv
	"$build/pwmodel" fabric --messages alone.csv --pack immediately --unpack immediately |
		awk -F, 'NR > 1 { s += $9 - 20000 * (NR - 2) } END { print int(s / 3) }')"
"$pwctl" experiment sweep trace.yaml out again jobs 1
tap_ok "trace: the same bytes" same trace again
sed 's/ours.csv/twin.csv/' trace.yaml >twin.yaml
cp ours.csv twin.csv
"$pwctl" experiment sweep twin.yaml 2>err
tap_is "results do not replace the trace" "$? $(cat err) $(cmp ours.csv twin.csv && echo kept)" \
	"1 pwctl: out: results named twin would replace the trace twin.csv, see 'pwctl experiment help' kept"
printf '%s\n' 0,0,5,16 100,1,20,16 >wide.csv
refused 1 "wrong.yaml: trace: port 20, but k is 4" "traffic: trace" "trace: wide.csv"
refused 1 "wrong.yaml: traffic trace needs the key trace" "traffic: [uniform, trace]"
refused 1 "wrong.yaml: bytes: a trace has its own" "traffic: trace" "trace: ours.csv" "bytes: [1, 2]"
printf '%s\n' 0,0,5,16 0,1,x,16 >bad.csv
refused 2 "./bad.csv:2: dst: '0,1,x,16' is not cycle,src,dst,bytes of a message" "traffic: trace" "trace: ./bad.csv"
printf '%s\n' 5,0,5,16 4,1,2,16 >bad.csv
refused 2 "bad.csv:2: cycle: '4,1,2,16' is not cycle,src,dst,bytes of a message" "traffic: trace" "trace: bad.csv"
# a message to all ports counts at each of them
printf '%s\n' 0,3,-1,16 >all.csv
printf '%s\n' 'traffic: trace' 'trace: all.csv' 'load: 0.01' 'cycles: 100000' >toall.yaml
"$pwctl" experiment sweep toall.yaml
tap_is "trace: a message to all arrives at 15" "$(column toall-runs.csv messages)" $((15 * (100000 / 22201 + 1)))
# a capture: who got a frame is what the capture has coming in
sans=$top/tools/testing/view/sans.pcapng
"$pwctl" experiment messages "$sans" san 3 write sans.csv 2>err
tap_is "messages of a capture" "$? $(head -n 2 sans.csv | paste -sd ' ')" "0 cycle,src,dst,bytes 0,14,1,56"
tap_is "frames without an arrival" "$(cat err)" "pwctl: frames that did not arrive and are left out: 1"
tap_is "all frames that station or half-router sent on SAN 3, but that one" "$(wc -l <sans.csv)" \
	"$(tshark -r "$sans" -T fields -e frame.number 'frame[16:3] == 01:01:02 && frame[20:4] == 00:00:00:03' 2>/dev/null | wc -l)"
"$build/pwmodel" fabric --messages sans.csv --unpack immediately >sans.out
tap_is "pwmodel sends them" "$? $(wc -l <sans.out)" "0 $(wc -l <sans.csv)"
"$pwctl" experiment messages "$sans" 2>err
tap_is "a capture of two SANs" "$? $(cat err)" "2 pwctl: $sans: frames of SANs 1 and 3; say which one with 'san'"
"$pwctl" experiment messages "$sans" san 7 2>err
tap_is "a SAN that is not in it" "$? $(cat err)" "2 pwctl: $sans: no frame of a pwmon device in it; see 'pwctl capture monitor'"
head -c 1000 "$sans" >cut.pcapng
"$pwctl" experiment messages cut.pcapng san 1 2>err
tap_is "a capture that was cut off" "$? $(grep -c 'not a whole capture file' err)" "2 1"

# the ring: reductions by ATON and by messages, passive load, standing commands
ends=(.csv -runs.csv .json -time.svg -wait.svg -utilisation.svg)
cat >ring.yaml <<-END
	x: n
	model: ring
	by: [aton, messages]
	command: [add, sort]
	parameters:
	  n: [2, 5, 40]
	  propagation: [0, 3]
	standing: [0, 2]
	gap: 3000
	load: [0, 0.4]
	bytes: 20
	interval: 9000
	seeds: 2
	bits: 150000
END
"$pwctl" experiment sweep ring.yaml 2>err
tap_is "ring: sweep" $? 0
tap_is "ring: its files" "$(ls ring*)" "$(printf 'ring%s\n' "${ends[@]}" .yaml | sort)"
"$pwctl" experiment sweep ring.yaml out again jobs 1
tap_ok "ring: the same bytes, one run at a time" same ring again
{ sed 's/^seeds:.*/seeds: [9]/; s/^bits:.*/bits: 20000/' ring.yaml; echo 'engine: rtl'; } >ringrtl.yaml
sed 's/rtl/fast/' ringrtl.yaml >ringfast.yaml
"$pwctl" experiment sweep ringrtl.yaml && "$pwctl" experiment sweep ringfast.yaml
tap_is "ring: rtl and fast agree" "$(sed 's/,rtl,/,fast,/' ringrtl-runs.csv)" "$(cat ringfast-runs.csv)"
tap_is "ring: rtl was run" "$(column ringrtl.csv engine | sort -u)" rtl
"$pwctl" experiment sweep ring.yaml out again jobs 1 &
pid=$!
while kill -0 $pid 2>/dev/null && [ "$(grep -c ' \.$' again.journal 2>/dev/null || :)" -lt 4 ] 2>/dev/null; do sleep 0.01; done
kill -KILL $pid 2>/dev/null
wait $pid 2>/dev/null
"$pwctl" experiment sweep ring.yaml out again
tap_is "ring: after a kill" $? 0
tap_ok "ring: the same bytes" same ring again
python3 - >verdicts <<-END
	import csv
	rows = list(csv.DictReader(open("ring.csv")))
	runs = list(csv.DictReader(open("ring-runs.csv")))
	def check(what, good):
	    print("ok" if good else "not ok", what)
	def number(row, name):
	    return float(row[name])
	def bits(r):
	    n, turn = int(r["n"]), int(r["n"]) * (1 + int(r["propagation"]))
	    if r["by"] == "messages":
	        return (n - 1) * (144 + 64 + turn)
	    return turn + (272 if r["command"] == "add" else 144 + 64 * n)
	def others(r):
	    return [r[k] for k in ("command", "n", "propagation", "standing", "load")]
	check("the bit times of each reduction are in closed form", all(number(r, "ring_bits") == bits(r) for r in rows))
	check("time is wait and ring bits", all(abs(number(r, "time") - number(r, "wait") - number(r, "ring_bits")) < 1e-2 for r in rows))
	idle = [r for r in rows if r["load"] == "0" and r["standing"] == "0"]
	# at most one revolution, but for reductions that come up beside each other
	check("alone a command waits for the token at most a revolution in the mean",
	      all(number(r, "wait") < 2 * max(24, int(r["n"]) * (1 + int(r["propagation"]))) for r in idle if r["by"] == "aton" and r["command"] == "add"))
	pairs = [(a, m) for a in rows for m in rows if a["by"] == "aton" and m["by"] == "messages" and others(a) == others(m)]
	check("one command is faster than n - 1 messages", all(number(a, "time") < number(m, "time") for a, m in pairs if a["n"] == "40" and a["command"] == "add"))
	check("two stations: a message is faster", all(number(a, "ring_bits") > number(m, "ring_bits") for a, m in pairs if a["n"] == "2"))
	check("all pairs were looked at", len(pairs) == 48)
	check("a load makes commands wait", all(number(a, "wait") < number(b, "wait") for a in rows for b in rows
	      if a["load"] == "0" and b["load"] == "0.4" and a["by"] == b["by"] == "aton" and others(a)[:4] == others(b)[:4] and a["standing"] == "0"))
	check("standing commands run when the ring is idle", all((number(r, "standing_runs") > 0) == (r["standing"] == "2") for r in runs if r["by"] == "aton" and r["load"] == "0"))
	check("passive packets arrive", all((number(r, "passive_throughput") > 0) == (r["load"] == "0.4") for r in rows))
	check("the ring is busy as long as it must be", all(0.3 < number(r, "utilisation") <= 1 for r in rows if r["load"] == "0.4"))
END
while read -r verdict; do
	case $verdict in
	ok\ *) tap_result 0 "ring: ${verdict#ok }" ;;
	*) tap_result 1 "ring: ${verdict#not ok }" ;;
	esac
done <verdicts
tap_is "ring: all of them were checked" "$(wc -l <verdicts)" 10
for e in time wait utilisation; do
	tap_ok "ring-$e.svg is a plot" grep -q '</svg>' "ring-$e.svg"
done
refused 1 "wrong.yaml:1: model: 'bus' is not one of fabric, ring" "model: bus"
refused 1 "wrong.yaml:2: unknown key 'traffic'" "model: ring" "traffic: uniform"
refused 1 "wrong.yaml:2: parameters: unknown name 'depth'" "model: ring" "parameters: {depth: 3}"
refused 1 "wrong.yaml:1: n: '1' is not 2..4096" "n: [8, 1]" "model: ring"
refused 1 "wrong.yaml:2: load: '5' is not 0..4" "model: ring" "load: 5"
refused 1 "wrong.yaml:2: x: 'by' is not a list of numbers of the ring" "model: ring" "x: by"
refused 1 "wrong.yaml: standing: more than 4 interfaces" "model: ring" "n: [8, 4]" "standing: 5"
refused 1 "wrong.yaml:1: unknown key 'standing'" "standing: 5"

# the files that are installed are good, and the page names each of them
for f in "$top"/tools/experiments/*.yaml; do
	sed 's/^seeds:.*/seeds: 1/; s/^cycles:.*/cycles: 1000/' "$f" >preset.yaml
	"$pwctl" experiment sweep preset.yaml 2>err
	tap_is "$(basename "$f")" "$? $(cat err)" "0 "
	tap_ok "$(basename "$f") is in the page" grep -q "$(basename "$f")" "$page"
done
tap_done
