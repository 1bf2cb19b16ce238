#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: `pwmodel net`: one SAN is the fabric of `pwmodel fabric`, a router has the
# delay of the closed form, every topology has its ways, rtl and fast agree, any number
# of threads and of processes prints the same bytes, idle buffers take no memory, and what is
# wrong in a file is refused with its line.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
build=${1:-$top/build}
pwmodel=$build/pwmodel
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=SCRIPTDIR/../../../scripts/lib/tap
. "$top/scripts/lib/tap"
net=$tmp/net.yaml

# of KEY: its value in what was printed last
of() {
	sed -n "s/.*\"$1\":\"\{0,1\}\([0-9a-z.]*\).*/\1/p" "$tmp/out"
}

# simulate: $net into $tmp/out
simulate() {
	"$pwmodel" net "$net" "$@" >"$tmp/out" 2>"$tmp/err"
}

# ---- one SAN: the same messages as CSV and as a list ----
awk 'BEGIN {
	srand(5)
	for (i = 0; i < 300; i++) {
		t += int(rand() * 60)
		print t "," int(rand() * 16) "," int(rand() * 16) "," int(rand() * 150)
	}
}' >"$tmp/load.csv"
for engine in rtl fast; do
	"$pwmodel" fabric --messages "$tmp/load.csv" --pack immediately --unpack immediately \
		--engine $engine >"$tmp/fabric.csv"
	want=$(paste -d, "$tmp/load.csv" <(tail -n +2 "$tmp/fabric.csv") | awk -F, '{
		d = $13 - $1; sum += d; n++
		if (n == 1 || d < min) min = d
		if (d > max) max = d
	} END { print n, sum, min, max }')
	{
		printf 'sans: {count: 1, ports: 16, engine: %s}\ntraffic:\n  messages:\n' $engine
		awk -F, '{ print "    - [" $1 ", 0, " $2 ", 0, " $3 ", " $4 "]" }' "$tmp/load.csv"
	} >"$net"
	simulate
	tap_is "$engine: one SAN is the fabric" \
		"$(of delivered) $(of sum) $(of min) $(of max) $(of crossings)" "$want 0"
	of digest >"$tmp/$engine"
done
tap_is "rtl and fast: the same deliveries" "$(cat "$tmp/rtl")" "$(cat "$tmp/fast")"

# ---- faults: those of the fabric in SAN 0, others in each other one ----
for engine in rtl fast; do
	"$pwmodel" fabric --messages "$tmp/load.csv" --pack immediately --unpack immediately --engine $engine \
		--drop 4000 --corrupt 4000 --fault-seed 3 --resend 7000 >"$tmp/fabric.csv"
	want=$(paste -d, "$tmp/load.csv" <(tail -n +2 "$tmp/fabric.csv") | awk -F, '{
		d = $13 - $1; sum += d; n++
		if (d > max) max = d
	} END { print n, sum, max }')
	sed "s/engine: [a-z]*/engine: $engine, parameters: {drop: 4000, corrupt: 4000, fault-seed: 3, resend: 7000}/" "$net" >"$tmp/fault.yaml"
	"$pwmodel" net "$tmp/fault.yaml" >"$tmp/out"
	tap_is "$engine: one SAN with faults is the fabric" "$(of delivered) $(of sum) $(of max)" "$want"
	tap_result "$([ "$(of max)" -gt 7000 ]; echo $?)" "cells are sent again"
done
# the same message in two SANs, faults in half of the cells: they end at different times
{
	echo 'sans: {count: 2, ports: 4, parameters: {drop: 300000, resend: 5000}}'
	printf 'traffic:\n  messages:\n    - [0, 0, 0, 0, 1, 900]\n    - [0, 1, 0, 1, 1, 900]\n'
} >"$tmp/fault.yaml"
"$pwmodel" net "$tmp/fault.yaml" >"$tmp/out"
tap_result "$([ "$(of min)" != "$(of max)" ]; echo $?)" "SANs have faults of their own"

# ---- closed form ----
# delay BYTES: in an idle fabric from port 0; a source that the message server passes adds 4
delay() {
	local n=$1 c d
	c=$(((n + 20 + 35) / 36))
	d=$((145 + 10 * c + 38 * (n / 4)))
	[ $((n % 4)) = 0 ] || d=$((d + 6 + 8 * (n % 4)))
	[ $c -lt 2 ] || d=$((d + 58))
	[ $c -lt 3 ] || d=$((d + 61 * (c - 2)))
	echo $d
}
tap_is "the shortest message" "$(delay 0)" 155
for ports in 9 16; do
	for bytes in 0 4 17 100 1500; do
		for latency in '' 1 1000; do
			cat >"$net" <<-END
				sans: {count: 2, ports: $ports}
				routers: {topology: ring${latency:+, latency: $latency}}
				traffic: {messages: [[7, 0, 2, 1, 1, $bytes]]}
			END
			simulate
			# port 2, then the router's, which is the last one
			tap_is "$ports ports, $bytes bytes, latency ${latency:-default}" \
				"$(of delivered) $(of crossings) $(of max)" \
				"1 1 $((2 * $(delay $bytes) + ${latency:-155} + 4 * (2 + ports - 1)))"
		done
	done
done

# ---- cut-through: the rule of the kernel's half-routers, from the times of single fabrics ----
# through ENGINE BYTES LOOKUP: cycles through three SANs from port 2, by routers at ports 15, 14 and 15
through() {
	local hop

	for hop in 2,15 15,14 15,1; do
		echo "0,$hop,$2" >"$tmp/one.csv"
		"$pwmodel" fabric --messages "$tmp/one.csv" --pack immediately --unpack immediately --engine "$1" | tail -n 1
	done | awk -F, -v lookup="$3" '{
		# segmented 5, first cell in 7, reassembled 8, delivered 9
		both = first > 0 ? first : 0
		if (both > last + $5)
			both = last + $5
		sum += $9 - both
		first = lookup ? $9 - $7 - lookup : 0
		last = $9 - $8
	} END { print sum }'
}
for engine in rtl fast; do
	for bytes in 8 48 376 1500; do
		last=
		for lookup in 0 1 200 1000000; do
			cat >"$net" <<-END
				sans: {count: 3, ports: 16, engine: $engine, cut-through: $lookup}
				routers: {links: [[0, 1], [1, 2]], latency: 100}
				traffic: {messages: [[5, 0, 2, 2, 1, $bytes]]}
			END
			sed -i 's/cut-through: 0/cut-through: off/; s/cut-through: 1}/cut-through: on}/' "$net"
			simulate
			tap_is "$engine, $bytes bytes, cut-through $lookup" "$(of max)" \
				"$(($(through $engine $bytes $lookup) + 200))"
			last="$last $(of max)"
		done
		# shellcheck disable=SC2086 # four numbers
		set -- $last
		tap_result "$([ "$2" -lt "$1" ] && [ "$2" -lt "$3" ] && [ "$4" = "$1" ]; echo $?)" \
			"$engine, $bytes bytes: faster, less so with a look-up, not with a very long one"
	done
done
cat >"$net" <<-END
	sans: {count: 6, ports: 16, cut-through: 50}
	traffic: {load: 0.05, bytes: 100, cycles: 20000, seed: 3}
END
simulate --threads 1
cp "$tmp/out" "$tmp/one"
simulate --threads 2
tap_ok "cut-through: any number of threads prints the same" cmp "$tmp/out" "$tmp/one"
cut=$(of sum)
sed -i 's/, cut-through: 50//' "$net"
simulate
tap_result "$([ "$cut" -lt "$(of sum)" ]; echo $?)" "and messages take less time than without"
tap_is "and the fabrics carry the same" "$(sed 's/"cut_through":50,//; s/"cycles".*//' "$tmp/one")" "$(sed 's/"cycles".*//' "$tmp/out")"

# ---- topologies: crossings of one message, which is never the worse way ----
# hops ROUTERS SANS FROM TO WANT
hops() {
	printf 'sans: {count: %d, ports: 16}\nrouters: %s\ntraffic: {messages: [[0, %d, 0, %d, 0, 8]]}\n' \
		"$2" "$1" "$3" "$4" >"$net"
	simulate
	tap_is "$1, $2 SANs: $3 to $4" "$(of crossings) $(cat "$tmp/err")" "$5 "
}
hops '{topology: ring}' 6 0 3 3
hops '{topology: ring}' 6 1 5 2
hops '{topology: torus}' 9 0 8 2
hops '{topology: torus, dims: [2, 6]}' 12 0 9 4
hops '{topology: torus, dims: [12]}' 12 0 9 3
hops '{topology: torus, dims: [3, 2, 4]}' 24 0 23 3
hops '{topology: torus, dims: [3, 2, 4]}' 24 0 14 4
hops '{topology: tree}' 7 3 6 4
hops '{topology: tree, arity: 3}' 13 4 5 2
hops '{topology: full}' 12 4 11 1
hops '{links: [[0, 1], [1, 2], [2, 3]]}' 4 3 0 3
hops '{}' 5 4 0 1
tap_is "routers of a torus of 3 x 3" "$(hops '{topology: torus}' 9 0 1 1 >/dev/null; of routers)" 18
tap_is "routers of a torus of 2 x 2" "$(hops '{topology: torus}' 4 0 1 1 >/dev/null; of routers)" 4

# ---- uniform traffic ----
# uniform ENGINE LOAD SEED TOPOLOGY
uniform() {
	cat >"$net" <<-END
		name: uniform traffic
		sans: {count: 6, ports: 9, engine: $1, parameters: {depth: 2, queue: 2}}
		routers: {topology: $4}
		traffic: {pattern: uniform, load: $2, bytes: 40, seed: $3, cycles: 20000}
	END
	simulate
}
for topology in ring torus tree full; do
	uniform rtl 0.5 3 $topology
	cp "$tmp/out" "$tmp/rtl"
	uniform fast 0.5 3 $topology
	tap_is "$topology, uniform: rtl and fast" \
		"$(sed 's/"engine":"rtl"//; s/"events":[0-9]*//' "$tmp/rtl")" \
		"$(sed 's/"engine":"fast"//; s/"events":[0-9]*//' "$tmp/out")"
	tap_is "$topology: everything arrives" "$(of sent)" "$(of delivered)"
done
digest=$(of digest)
uniform fast 0.5 4 full
tap_result $(($([ "$(of digest)" = "$digest" ]; echo $?) == 0)) "another seed, another digest"
# an even number of stations: were seed and station only combined by bits, two seeds that differ in
# the lowest one would have the same messages at other stations
uniform fast 0.5 2 ring
sent=$(of sent)
uniform fast 0.5 3 ring
tap_result $((sent == $(of sent))) "another seed, other messages" "$tmp/out"
# 42 stations, 9 words at 38, 2 cells: a message in 462 / 0.5 cycles; six standard deviations
uniform fast 0.5 5 ring
want=$((42 * 20000 * 10 / (2 * (60 + 20 + 380)))) want=$((want / 10))
tap_result $(($(of sent) < want - 6 * 31 || $(of sent) > want + 6 * 31)) "the load: $(of sent) messages, expected $want" "$tmp/out"

# ---- threads: the same bytes ----
# same WHAT: 1, 2 and 4 threads, and more threads than SANs
same() {
	local n
	simulate
	cp "$tmp/out" "$tmp/one"
	tap_result $(($(wc -l <"$tmp/one") != 1)) "$1: one thread" "$tmp/err"
	for n in 1 2 4 11; do
		simulate --threads $n
		tap_ok "$1: $n threads, the same bytes" cmp "$tmp/out" "$tmp/one"
	done
}
uniform fast 0.5 3 torus
same "fast"
uniform rtl 0.3 3 tree
same "rtl"
cat >"$net" <<-END
	sans: {count: 24, ports: 16, parameters: {queue: 1, credit: 6}}
	routers: {topology: torus, dims: [2, 3, 4], latency: 10}
	traffic: {load: 1.5, bytes: 90, seed: 99, cycles: 4000}
END
same "more than the routers can carry"

# ---- processes of MPI: the same bytes again ----
mpi() {
	local np=$1
	shift
	timeout 250 mpirun --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -np "$np" \
		"$build/pwmodel-mpi" net "$net" "$@" </dev/null
}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
if [ -x "$build/pwmodel-mpi" ] && command -v mpirun >/dev/null; then
	for engine in fast rtl; do
		uniform $engine 0.5 3 torus
		for np in 1 2 4; do
			mpi $np >"$tmp/mpi" 2>"$tmp/err"
			tap_is "$engine: $np processes, the same bytes" "$(cat "$tmp/mpi")" "$(cat "$tmp/out")"
		done
	done
	mpi 2 --threads 2 >"$tmp/mpi" 2>"$tmp/err"
	tap_is "two processes with two threads" "$(cat "$tmp/mpi")" "$(cat "$tmp/out")"
	cat >"$net" <<-END
		sans: {count: 3, ports: 9}
		routers: {topology: ring}
		traffic: {messages: [[0, 0, 0, 2, 0, 8], [5, 2, 1, 0, 3, 100], [9, 1, 0, 1, 0, 0]]}
	END
	simulate
	mpi 4 >"$tmp/mpi" 2>"$tmp/err"
	tap_is "more processes than SANs" "$(of delivered) $(cat "$tmp/mpi")" "3 $(cat "$tmp/out")"
	echo 'sans: {count: 0}' >"$net"
	mpi 2 >"$tmp/mpi" 2>"$tmp/err"
	tap_is "a wrong file is reported once" \
		"$? $(wc -c <"$tmp/mpi") $(grep -c ^pwmodel: "$tmp/err")" "2 0 1"
else
	tap_skip "processes of MPI" "no mpicc or no mpirun"
fi

# ---- memory: buffers take it as far as they are used ----
# a fabric of 256 ports has 87 MiB; one is initialized, the others are copied where written
cat >"$net" <<-END
	sans: {count: 32, ports: 256}
	traffic: {messages: [[0, 0, 0, 31, 9, 100], [0, 16, 0, 17, 100, 64]]}
END
simulate --stats
mib=$(sed -n 's/.* \([0-9]*\)\.[0-9]* MiB, .*/\1/p' "$tmp/err")
tap_result $((!(${mib:-0} > 0 && mib < 87 + 32 * 4))) "32 idle SANs of 256 ports: ${mib:-no} MiB" "$tmp/err"

# ---- what is refused ----
# refused TEXT: the file on standard input; status 2, nothing on standard output
refused() {
	local rc
	cat >"$net"
	simulate
	rc=$?
	tap_is "refused: $1" "$rc $(wc -c <"$tmp/out") $(cat "$tmp/err")" "2 0 pwmodel: $net:$1"
}
good='traffic: {load: 0.1, bytes: 64, cycles: 100}'
refused "1: keys and values are needed" </dev/null
refused "1: keys and values are needed" <<<'just a text'
refused "2: did not find expected ',' or '}'" <<<'sans: {count: 1'
refused "1: 'sans' is missing" <<<'name: x'
refused "1: traffic: 'sans' must come first" <<<"$good"
refused "1: 'traffic' is missing" <<<'sans: {count: 1, ports: 4}'
refused "2: unknown key 'sand'" <<<$'name: x\nsand: {}'
refused "2: 'name' twice" <<<$'name: x\nname: y'
refused "1: sans: 'ports' is missing" <<<'sans: {count: 1}'
refused "1: sans: 'count' is missing" <<<'sans: {ports: 4}'
refused "1: sans: unknown key 'port'" <<<'sans: {port: 4}'
refused "1: count: '0' is not 1..65536" <<<'sans: {count: 0, ports: 4}'
refused "2: count: '-1' is not 1..65536" <<<$'sans:\n  count: -1'
refused "1: count: a number is needed" <<<'sans: {count: []}'
refused "1: ports: '3' is not 4..256" <<<'sans: {count: 1, ports: 3}'
refused "1: ports: 5 is not a square number" <<<'sans: {count: 1, ports: 5}'
refused "1: engine: 'slow' is not one of rtl, fast" <<<'sans: {count: 1, ports: 4, engine: slow}'
refused "1: parameters: unknown name 'width'" <<<'sans: {count: 1, ports: 4, parameters: {width: 1}}'
refused "1: parameters: 'k' follows from 'ports'" <<<'sans: {count: 1, ports: 4, parameters: {k: 2}}'
refused "1: parameters: the machine 'device' has no 'keep'" <<<'sans: {count: 1, ports: 4, parameters: {keep: 9}}'
refused "1: drop: '500001' is not 0..500000" <<<'sans: {count: 1, ports: 4, parameters: {drop: 500001}}'
refused "1: parameters: 'corrupt' twice" <<<'sans: {count: 1, ports: 4, parameters: {corrupt: 1, corrupt: 2}}'
refused "3: depth: '65' is not 1..64" <<<$'sans:\n  parameters:\n    depth: 65'
refused "1: queue: 256 is not 1..255 messages (256 ports)" <<<"sans: {count: 1, ports: 256, parameters: {queue: 256}}"$'\n'"$good"
refused "2: topology: 'star' is not one of none, ring, torus, tree, full" <<<$'sans: {count: 2, ports: 4}\nrouters: {topology: star}'
refused "2: routers: 'topology' or 'links', not both" <<<$'sans: {count: 2, ports: 4}\nrouters: {topology: ring, links: [[0, 1]]}'
refused "2: links: a list is needed" <<<$'sans: {count: 2, ports: 4}\nrouters: {links: 3}'
refused "2: links: 3 values instead of 2" <<<$'sans: {count: 2, ports: 4}\nrouters: {links: [[0, 1, 2]]}'
refused "4: links: '2' is not 0..1" <<<$'sans: {count: 2, ports: 4}\nrouters:\n  links:\n  - [0, 2]'
refused "2: links: SAN 1 to itself" <<<$'sans: {count: 2, ports: 4}\nrouters: {links: [[1, 1]]}'
refused "2: dims: their product is not 6" <<<$'sans: {count: 6, ports: 9}\nrouters: {topology: torus, dims: [2, 4]}'
refused "2: dims: 0 dimensions are not 1..16" <<<$'sans: {count: 6, ports: 9}\nrouters: {topology: torus, dims: []}'
refused "2: routers: 'dims' needs the topology 'torus'" <<<$'sans: {count: 6, ports: 9}\nrouters: {topology: ring, dims: [2, 3]}'
refused "2: routers: 'arity' needs the topology 'tree'" <<<$'sans: {count: 6, ports: 9}\nrouters: {arity: 2}'
refused "2: latency: '0' is not 1..1000000" <<<$'sans: {count: 6, ports: 9}\nrouters: {latency: 0}'
refused "2: topology: 6 SANs of 4 ports cannot all be joined to each other" <<<$'sans: {count: 6, ports: 4}\nrouters: {topology: full}\n'"$good"
refused "2: routers: SAN 0 has 4 routers, which leaves no station on 4 ports" <<<$'sans: {count: 6, ports: 4}\nrouters: {topology: tree, arity: 4}\n'"$good"
refused "2: routers: no way from SAN 0 to SAN 2" <<<$'sans: {count: 4, ports: 9}\nrouters: {links: [[0, 1], [2, 3]]}\n'"$good"
refused "2: routers: no way from SAN 0 to SAN 1" <<<$'sans: {count: 2, ports: 9}\nrouters: {topology: none}\n'"$good"
refused "2: pattern: 'hotspot' is not one of uniform" <<<$'sans: {count: 1, ports: 9}\ntraffic: {pattern: hotspot}'
refused "2: load: '0' is not 0.000001..4" <<<$'sans: {count: 1, ports: 9}\ntraffic: {load: 0}'
refused "2: load: 'much' is not 0.000001..4" <<<$'sans: {count: 1, ports: 9}\ntraffic: {load: much}'
refused "2: traffic: 'bytes' is missing" <<<$'sans: {count: 1, ports: 9}\ntraffic: {load: 0.1}'
refused "2: traffic: 'cycles' is missing" <<<$'sans: {count: 1, ports: 9}\ntraffic: {load: 0.1, bytes: 0}'
refused "2: bytes: '65601' is not 0..65600" <<<$'sans: {count: 1, ports: 9}\ntraffic: {load: 0.1, bytes: 65601}'
refused "2: bytes: 3000 do not fit into the buffers of a fabric" <<<$'sans: {count: 1, ports: 9, parameters: {ic-blocks: 128, credit: 64}}\ntraffic: {load: 0.1, bytes: 3000, cycles: 9}'
refused "2: seed: '-1' is not 0..18446744073709551615" <<<$'sans: {count: 1, ports: 9}\ntraffic: {seed: -1}'
refused "2: messages: an empty list" <<<$'sans: {count: 1, ports: 9}\ntraffic: {messages: []}'
refused "2: messages: 2 values instead of 6" <<<$'sans: {count: 1, ports: 9}\ntraffic: {messages: [[1, 2]]}'
refused "2: messages: SAN: '1' is not 0..0" <<<$'sans: {count: 1, ports: 9}\ntraffic: {messages: [[1, 1, 0, 0, 0, 0]]}'
refused "2: messages: port 8 of SAN 1 belongs to a router" <<<$'sans: {count: 2, ports: 9}\ntraffic: {messages: [[1, 0, 0, 1, 8, 0]]}'
refused "2: traffic: 'messages' stands alone" <<<$'sans: {count: 1, ports: 9}\ntraffic: {load: 0.2, messages: [[1, 0, 0, 0, 0, 0]]}'
simulate --threats 3
tap_is "an unknown option" "$? $(cat "$tmp/err")" "2 pwmodel: --threats: unknown option or argument missing"
simulate --threads 0
tap_is "no thread" "$? $(cat "$tmp/err")" "2 pwmodel: --threads: 0 is not 1..1024"
"$pwmodel" net 2>"$tmp/err"
tap_is "no file" "$? $(cat "$tmp/err")" "2 pwmodel: net: FILE.yaml is missing"
"$pwmodel" net /nowhere/x 2>"$tmp/err"
tap_is "a file that does not exist" "$? $(cat "$tmp/err")" "2 pwmodel: /nowhere/x: No such file or directory"
tap_done
