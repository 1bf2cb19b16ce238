#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Storms of MPI jobs on the module's ring: two and four at once at the same stations, in which
# a rank kills itself, exits or crashes in a collective, beside processes without MPI that have
# collectives on the same ring and end likewise. No result is wrong, jobs without such a rank end
# well, and no lease is left. tools/testing/mpi has the same on a ring in shared memory.

. "$(dirname "$0")/lib.sh"
pw_need pwctl pwrun mpirun mpi_storm coll_storm

lab=$(mktemp --suffix .yaml)
tally=$(mktemp)
{
	printf 'lab: m\nsans:\n  - {id: 0, ports: 16}\nstations:\n'
	for i in 1 2 3; do
		echo "  - {name: m$i, address: 10.6.0.$i/24}"
	done
} >"$lab"
tap_ok "lab up" pwctl lab up "$lab"
# stations of the same ring for the others, where the lab has its SANs
for i in 1 2 3; do
	ip netns exec m pwctl station add x$i san 0 || exit 1
	ip -n m link set x$i up
done
# in use: of the namespace that has the SANs
leases() {
	ip netns exec m cut -f 1 /proc/sys/net/packetway/nr_leases
}
tap_is "six stations on one ring" "$(pwctl lab exec m1 pwctl -j aton add | jq '.[0].interfaces')" 6

# storm JOBS ROUNDS COLLECTIVES: in each round another job is whole. There are registers for four
# jobs; one that gets none does without the ring. Of all rounds, those of this part.
storm() {
	local jobs=$1 first=$(($2 * (part - 1) / parts)) end=$(($2 * part / parts)) count=$3 i job how out whole=0 most=0 hung=0 pid started

	rm -f "$tally"
	for ((i = first; i < end; i++)); do
		started=()
		for ((job = 0; job < jobs; job++)); do
			how=$(set -- none kill exit segv; shift $(((i + job) % 4)); echo "$1")
			[ "$how" != none ] || whole=$((whole + 1))
			PW_COLL=probe PW_COLL_MAX=4096 PW_COLL_REGS=4 timeout 300 pwrun -np 3 mpi_storm "$tally" "$count" $((1000 * i + job)) "$how" \
				>"$lab.$job" 2>&1 </dev/null &
			started+=($!)
		done
		# counted while there are some, or nothing is shown by none at the end
		while [ "$most" = 0 ] && [ -n "$(jobs -rp)" ]; do
			most=$(leases)
		done
		ip netns exec m coll_storm -k -j 2 -r 2 -c 40 -s $((i + 1)) x1 x2 x3 >"$lab.beside" 2>&1 || cat "$lab.beside" >>"$lab.bad"
		for pid in "${started[@]}"; do
			wait "$pid"
			[ $? != 124 ] || hung=$((hung + 1))
		done
		grep -hE 'WRONG|on the ring' "$lab".[0-9] | sed 's/^/# /'
	done
	out=$(mpi_storm "$tally")
	echo "# $jobs jobs, rounds $first to $((end - 1)): $out"
	tail -n 2 "$lab.beside" | sed 's/^/# beside them: /'
	tap_is "$jobs jobs: none of the collectives is wrong" "$(grep -o '[1-9][0-9]* collectives, 0 wrong' <<<"$out" | grep -o '0 wrong')" "0 wrong"
	tap_is "$jobs jobs: those without such a rank end well" "$(sed -n 's/.*ranks: \([0-9]*\) finished.*/\1/p' <<<"$out")" $((3 * whole))
	tap_is "$jobs jobs: none hung" "$hung" 0
	tap_is "$jobs jobs: nothing is wrong beside them" "$(cat "$lab.bad" 2>/dev/null)" ""
	tap_ok "$jobs jobs: leases are counted" [ "$most" -gt 0 ]
	tap_is "$jobs jobs: no lease is left" "$(leases)" 0
	rm -f "$lab".*
}

rounds=1 count=$(pw_count 100 20)
# In a soak 102 rounds, 68 of two jobs and 34 of four, and more than 100,000 collectives. Several
# guests share them: PW_PART.
part=1 parts=1
[ -z "${PW_LONG:-}" ] || rounds=34 count=800
[ -z "${PW_LONG:-}" ] || [ -z "${PW_PART:-}" ] || part=${PW_PART%/*} parts=${PW_PART#*/}
storm 2 $((2 * rounds)) "$count"
storm 4 "$rounds" "$count"
for i in 1 2 3; do
	ip -n m link del x$i
done
tap_is "registers are left as they were" "$(pwctl lab exec m1 pwctl -j aton show | jq -c '.[0] | [.group, (.operands | add)]')" '[0,0]'
tap_ok "lab down" pwctl lab down
rm -f "$lab" "$tally"
tap_done
