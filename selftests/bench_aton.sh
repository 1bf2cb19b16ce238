#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the ring costs beside what else there is: the same boot, one CPU whose
# nanoseconds are instructions.
#
# One 8-byte sum over eight processes in namespaces of their own, each of which gets
# it: on the ring of their stations; by UDP, to one and back to all; by Open MPI over
# TCP. The latter two over veth pairs into one bridge.
# Musts: at most 0.25 times UDP, and one packet; at most 0.06 times Open MPI.
#
# Then what one more interface on the ring costs, of those from n/2 to n, beside one
# more turn of a plain loop over the same operands. Aim: at most 3 times. Beside it the
# same from a ring of one on, which has in it what the first one that is added costs.
# And one packet for each reduction.

# called by mpirun in place of ssh: --agent NETNS,... 10.8.0.RANK COMMAND...
if [ "${1:-}" = --agent ]; then
	rank=${3##*.}
	netns=$(echo "$2" | cut -d, -f"$rank")
	shift 3
	exec ip netns exec "$netns" unshare --uts sh -c "hostname rank$rank && $*"
fi

. "$(dirname "$0")/lib.sh"
pw_need ip awk mpirun mpi_check

rounds=$(pw_count 1000) mpi_rounds=$(pw_count 200)
bench=$PW_BUILD/selftests/reduce_bench
status=0
trap cleanup_all_ns EXIT
setup_ns HUB R1 R2 R3 R4 R5 R6 R7 R8 || exit 1
# shellcheck disable=SC2153,SC2154 # setup_ns sets them
ranks=("$R1" "$R2" "$R3" "$R4" "$R5" "$R6" "$R7" "$R8")

sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
for ns in "$HUB" "${ranks[@]}"; do
	ip netns exec "$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
done
ip -n "$HUB" link add hub0 type bridge forward_delay 0
ip -n "$HUB" link set hub0 up
for i in "${!ranks[@]}"; do
	ns=${ranks[i]}
	ip -n "$ns" link add eth0 type veth peer name "p$i" netns "$HUB"
	ip -n "$HUB" link set "p$i" master hub0 up
	ip -n "$ns" addr add "10.8.0.$((i + 1))/24" dev eth0
	ip -n "$ns" link set eth0 up
	ip -n "$R1" link add "s$i" type packetway
	ip -n "$R1" link set "s$i" netns "$ns" name pw0
	ip -n "$ns" link set pw0 up
done

mpi() {
	local hosts agent

	hosts=$(printf '10.8.0.%d:1,' {1..8})
	agent="$PW_SELFTESTS/bench_aton.sh --agent $(IFS=,; echo "${ranks[*]}")"
	$agent 10.8.0.1 mpirun --allow-run-as-root -H "${hosts%,}" -np 8 --bind-to none \
		--mca plm_rsh_agent "'$agent'" \
		--mca plm_rsh_no_tree_spawn 1 --mca btl tcp,self --mca btl_tcp_if_include eth0 \
		--mca oob_tcp_if_include eth0 --mca pml ob1 --mca mpi_yield_when_idle 1 \
		mpi_check time "$mpi_rounds"
}

ring=$("$bench" ring "$rounds" "${ranks[@]}") || exit 1
udp=$("$bench" udp "$rounds" "${ranks[@]}") || exit 1
printf '%s\n' "$ring" "$udp"
again=$("$bench" ring "$rounds" "${ranks[@]}") || exit 1
echo "$again (again)"

# beside WHAT NS AIM: the ring's time and another's
beside() {
	echo "$ring" | awk -v what="$1" -v other="${2:-0}" -v aim="$3" '{
		ok = other > 0 && $3 <= aim * other
		printf "sum of 8 bytes, 8 stations, result at all: %d ns on the ring, %d ns by %s: %.3f x (must <= %.2f): %s\n",
			$3, other, what, other ? $3 / other : 0, aim, ok ? "met" : "NOT MET"
		exit !ok }'
}

beside "UDP" "${udp##* }" 0.25 || status=1
[ "${ring##* }" = 1.00 ] || { echo "packets for a sum of 8 stations: ${ring##* }, NOT 1"; status=1; }
# a ring of its own
ip -n "$R1" link add one type packetway san 1
ip -n "$R1" link set one up
"$bench" ifaces "$R1" one >"$PW_OUT/ifaces" || exit 1
awk '{
	ok = $8 <= 3 * $9
	one = $13 == $15
	printf "%d interfaces: %d ns for a sum, by the loop %d; each added one %.2f ns, in the loop %.2f: %.2f x (aim <= 3): %s; from a ring of one: %.2f x; packets for a sum: %s\n",
		$2, $4, $6, $8, $9, $8 / $9, ok ? "met" : "NOT MET", $11 / $9, one ? "1" : $13 / $15 " (NOT 1)"
	bad += !ok + !one
} END { exit bad > 0 || NR != 4 }' "$PW_OUT/ifaces" || status=1
rm -f "$PW_OUT/ifaces"

tcp=$(mpi 2>&1) || status=1
echo "$tcp"
beside "Open MPI over TCP" "$(echo "$tcp" | awk '/^allreduce of 8 bytes, 8 ranks: .* sum 36$/ { print $7 * 1000 }')" 0.06 || status=1
exit $status
