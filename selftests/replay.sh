#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A run of MPI is captured and sent through other fabrics, with the commands of
# Documentation/networking/packetway-models.rst.

. "$(dirname "$0")/lib.sh"
pw_need pwctl pwmodel pwrun mpirun mpi_check tcpdump

page=$PW_TOP/Documentation/networking/packetway-models.rst
tmp=$(mktemp -d)
cd "$tmp" || exit 1
ranks=2
[ -z "${PW_LONG:-}" ] || ranks=8
# page COMMAND: it stands on the page
page() { tap_ok "on the page: $1" grep -qF "$1" "$page"; }

{
	printf 'lab: r\nsans:\n  - {id: 0, ports: 16, engine: fast}\nstations:\n'
	for i in $(seq $ranks); do
		echo "  - {name: r$i, address: 10.8.0.$i/24}"
	done
} >r.yaml
tap_ok "lab up" pwctl lab up r.yaml
page 'pwctl -n LAB capture monitor tcpdump write run.pcap &'
pwctl -n r capture monitor tcpdump write run.pcap -Z root 2>capture.err &
pid=$!
tap_ok "the capture has begun" busywait 60000 grep -q 'listening on' capture.err
out=$(PW_COLL=off pwrun -np $ranks mpi_check 10 2>&1)
tap_ok "the program ends well" grep -q '^10 collectives, 0 differ' <(printf '%s\n' "$out")
kill -INT $pid
wait $pid
page 'pwctl experiment messages run.pcap write run.csv'
pwctl experiment messages run.pcap write run.csv 2>messages.err
tap_is "messages of the run" $? 0
sed 's/^/# /' messages.err
n=$(($(wc -l <run.csv) - 1))
# TCP may put what several collectives send into one frame
tap_ok "there are some ($n)" test $n -ge 5
tap_is "between the ports of the ranks, or to all" \
	"$(awk -F, -v r=$ranks 'NR > 1 && ($2 >= r || $3 >= r || $3 < -1)' run.csv | wc -l)" 0
page 'pwmodel fabric --messages run.csv --k 8'
# the fast engine: the same cycles, and the guest is slow enough
for k in 2 4 8; do
	[ $((k * k)) -ge $ranks ] || continue
	pwmodel fabric --messages run.csv --k $k --engine fast --unpack immediately >k$k.csv
	tap_is "sent through a fabric with k = $k" "$? $(($(wc -l <k$k.csv) - 1))" "0 $n"
	tap_is "k = $k: every message arrived" "$(awk -F, 'NR > 1 && ($9 == "" || $9 < $4)' k$k.csv | wc -l)" 0
done
printf '%s\n' 'traffic: trace' 'trace: run.csv' 'load: [0.1, 0.5, 1]' 'cycles: 20000' 'parameters: {k: [4, 8]}' >replay.yaml
tap_ok "a sweep with it" pwctl experiment sweep replay.yaml
tap_is "gives a curve for each fabric" "$(($(wc -l <replay.csv) - 1))" 6
# and through other topologies
for topology in torus:4x4 butterfly:4x2; do
	pwmodel fabric --messages run.csv --topology $topology --engine fast --unpack immediately >other.csv
	tap_is "sent through $topology, and arrived" "$? $(awk -F, 'NR > 1 && $9 >= $4' other.csv | wc -l)" "0 $n"
done
printf '%s\n' 'traffic: trace' 'trace: run.csv' 'load: [0.1, 1]' 'cycles: 20000' 'topology: [clos:4, torus:4x4, crossbar:16]' >other.yaml
tap_ok "a sweep over topologies" pwctl experiment sweep other.yaml
# latencies of each topology, in the order of loads; two ranks pass three, two and one switches
tap_is "gives each a curve of its own" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "topology") t = i; if ($i == "latency") l = i }; next }
	{ curve[$t] = curve[$t] " " $l } END { for (t in curve) print curve[t] }' other.csv | sort -u | wc -l)" 3
tap_ok "lab down" pwctl lab down r
cd /
rm -rf "$tmp"
tap_done
