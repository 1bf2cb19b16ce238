#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Collectives of libpacketway (pwl_coll_*) among processes, on the module's ring: jobs beside
# each other under the same names, processes that end at any moment, wrong uses. No result is
# wrong, nothing hangs, and no lease is left. tools/testing/lib has the same without a guest.

. "$(dirname "$0")/lib.sh"
pw_need coll_storm ip pwctl

setup_ns A
tmp=$(mktemp -d)
here() {
	ip netns exec "$A" "$@"
}
stations=
for i in 1 2 3 4 5 6; do
	here pwctl station add s$i san 5 || exit 1
	ip -n "$A" link set s$i up
	stations="$stations s$i"
done

# leases: how many are left
leases() {
	here cut -f 1 /proc/sys/net/packetway/nr_leases
}

# storm NAME ARGUMENT...: nothing is wrong, and nothing is left
storm() {
	local name=$1 most

	shift
	here coll_storm "$@" >"$tmp/out" 2>&1 &
	most=0
	# counted while there are some, or nothing is shown by none at the end
	while [ "$most" = 0 ] && [ -n "$(jobs -rp)" ]; do
		most=$(leases)
	done
	wait $!
	tap_is "$name" $? 0
	tail -n 15 "$tmp/out" | sed 's/^/# /'
	tap_ok "$name: leases are counted" [ "$most" -gt 0 ]
	tap_is "$name: no lease is left" "$(leases)" 0
}

tap_is "wrong uses" "$(here coll_storm -w s1 s2 s3 | "$PW_SELFTESTS/../tools/testing/lib/coll_uses")" "as expected"
n=$(pw_count 10 2)
# the whole count, 100 rounds and 100,000 collectives, in a soak
[ -z "${PW_LONG:-}" ] || n=100
# shellcheck disable=SC2086
{
	storm "two jobs" -j 2 -r "$n" -c 40 $stations
	storm "two jobs, processes end" -k -j 2 -r "$n" -c 40 -s 2 $stations
	storm "four jobs, processes end" -k -j 4 -r "$n" -c 40 -s 3 $stations
}
# Python: a process at each of three stations; then the first one leaves
if command -v python3 >/dev/null; then
	export PYTHONPATH=$PW_TOP/tools/python PACKETWAY_BUILD=$PW_BUILD PYTHONDONTWRITEBYTECODE=1
	cat >"$tmp/three.py" <<-'END'
		import errno, sys
		from packetway import Collective, PacketwayError

		def fails(call, *arguments):
		    try:
		        return call(*arguments)
		    except PacketwayError as e:
		        return errno.errorcode[e.errno]

		with Collective(sys.argv[1], "python", 3) as c:
		    values = [c.sum(c.rank + 1), c.sum([1, -5]), c.reduce("max", -c.rank), c.reduce("or", 1 << c.rank),
		              c.reduce("and", [7, 1 << c.rank]), c.sum([1e300, 0.1, -1e300][c.rank]), c.bcast(c.rank + 7, root=1),
		              c.reduce("min", 1 << 63 | c.rank, signed=False) - (1 << 63), c.reduce("max", [0.5, float(c.rank)])]
		    c.barrier()
		    print(c.rank, "of", c.size, *values)
		    if c.rank:
		        print(fails(c.barrier), fails(c.sum, 1))
	END
	for i in 1 2 3; do
		here python3 "$tmp/three.py" s$i >"$tmp/out$i" 2>&1 &
	done
	wait
	values='6 [3, -15] 0 7 [7, 0] 0.1 8 0 [0.5, 2.0]'
	gone='EPIPE ENOTCONN'
	tap_is "Python" "$(cat "$tmp"/out[123])" "$(printf '%s\n' "0 of 3 $values" "1 of 3 $values" "$gone" "2 of 3 $values" "$gone")"
	tap_is "Python: no lease is left" "$(leases)" 0
else
	tap_skip "Python" "no python3"
fi
regs=$(here pwctl -j aton show dev s1 2>/dev/null | jq -c '.[0] | [.group, (.operands | add)]')
tap_is "registers are left as they were" "$regs" '[0,0]'
rm -rf "$tmp"
tap_done
