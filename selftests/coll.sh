#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Collectives of libpacketway (pwl_coll_*) among processes, on the module's ring: jobs beside
# each other under the same names, processes that end at any moment, wrong uses. No result is
# wrong, nothing hangs, and no lease is left. tools/testing/lib has the same without a guest.

. "$(dirname "$0")/lib.sh"
pw_need coll_storm ip

setup_ns A
here() {
	ip netns exec "$A" "$@"
}
stations=
for i in 1 2 3 4 5 6; do
	ip -n "$A" link add s$i type packetway san 5 || exit 1
	ip -n "$A" link set s$i up
	stations="$stations s$i"
done

# leases: how many are left
leases() {
	here cut -f 1 /proc/sys/net/packetway/nr_leases
}

# storm NAME ARGUMENT...: nothing is wrong, and nothing is left
storm() {
	local name=$1 out

	shift
	out=$(here coll_storm "$@" 2>&1)
	tap_is "$name" $? 0
	printf '%s\n' "$out" | tail -n 15 | sed 's/^/# /'
	tap_is "$name: no lease is left" "$(leases)" 0
}

tap_is "wrong uses" "$(here coll_storm -w s1 s2 s3 | "$PW_SELFTESTS/../tools/testing/lib/coll_uses")" "as expected"
n=$(pw_count 10 2)
# the whole count, 100,000 collectives, in a soak
[ -z "${PW_LONG:-}" ] || n=150
# shellcheck disable=SC2086
{
	storm "two jobs" -j 2 -r "$n" -c 40 $stations
	storm "two jobs, processes end" -k -j 2 -r "$n" -c 40 -s 2 $stations
	storm "four jobs, processes end" -k -j 4 -r "$n" -c 40 -s 3 $stations
}
regs=$(here pwctl -j aton show s1 2>/dev/null | jq -c '.[0] | [.group, (.operands | add)]')
tap_is "registers are left as they were" "$regs" '[0,0]'
tap_done
