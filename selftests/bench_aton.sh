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

. "$(dirname "$0")/lib_ranks.sh"

rounds=$(pw_count 1000) mpi_rounds=$(pw_count 200)
bench=$PW_BUILD/selftests/reduce_bench
status=0

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

tcp=$(mpi mpi_check time "$mpi_rounds" 2>&1) || status=1
echo "$tcp"
beside "Open MPI over TCP" "$(echo "$tcp" | us | awk '{ print $1 * 1000 }')" 0.06 || status=1
exit $status
