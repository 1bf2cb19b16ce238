#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Sourced by bench_*.sh: two namespaces A and B with a veth pair (va, vb) and two
# stations (pa, pb), and eep_bench between any pair of devices.

. "$(dirname "$0")/lib.sh"
pw_need ip awk pwctl

# bench_up "NETNS DEV"...: without IPv6, which would talk by itself
bench_up() {
	local d

	for d; do
		# shellcheck disable=SC2086
		set -- $d
		ip netns exec "$1" sysctl -qw "net.ipv6.conf.$2.disable_ipv6=1"
		ip -n "$1" link set "$2" up
	done
}

trap cleanup_all_ns EXIT
setup_ns A B || exit 1
ip -n "$A" link add va type veth peer name vb netns "$B"
ip -n "$A" link add pa type packetway
ip -n "$A" link add pb netns "$B" type packetway
bench_up "$A va" "$B vb" "$A pa" "$B pb"

# untimed SAN...: a veth has no model of cells and cycles either
untimed() {
	local san

	for san; do
		ip netns exec "$A" pwctl san set "$san" engine none || exit 1
	done
}
untimed 0

# run KIND DEV DEV LENGTH; frames and rounds are the script's
run() {
	# shellcheck disable=SC2154
	"$PW_BUILD/selftests/eep_bench" "$1" "$A" "$2" "$B" "$3" "$frames" "$rounds" "$4"
}
