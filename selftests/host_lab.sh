#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A lab over two guests, run on the host: each makes its part of Documentation/labs/hosts.yaml
# and waits for the other one; frames, IP and reductions between them, and MPI with mpirun's own
# launcher, which reaches the other guest through a script in place of ssh. K=KERNEL, default 6.12.

set -u
self=$(readlink -f "$0")
top=$(CDPATH='' cd -- "$(dirname -- "$self")/.." && pwd -P)

if [ "${1:-}" = "" ]; then
	work=$(mktemp -d "${TMPDIR:-/tmp}/pwlab.XXXXXX") || exit 1
	peer=
	cleanup() {
		[ -z "$peer" ] || kill "$peer" 2>/dev/null
		wait
		rm -rf "$work"
	}
	trap cleanup EXIT
	"$top/scripts/pkg/build-user" >/dev/null || exit 1
	"$top/scripts/pkg/build-module" -q "${K:-6.12}" >/dev/null || exit 1
	# guest ID NAME: eth0 for the test, eth1 for the lab
	guest() {
		"$top/scripts/vm" --kernel "${K:-6.12}" --smp 1 --timeout 850 --link "$work/control:$1" \
			--link "$work/wire:$1" -- "$self" "$2" </dev/null
	}
	guest 1 right >"$work/peer" 2>&1 &
	peer=$!
	guest 0 left
	status=$?
	wait $peer
	got=$?
	peer=
	[ $got = 0 ] || sed 's/^/# right: /' "$work/peer"
	[ $status = 0 ] && [ $got = 0 ]
	exit
fi

set +u
. "$(dirname "$self")/lib.sh"
pw_need pwctl socat
sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
ip link set eth0 up
printf '%064d\n' 42 >/run/lab.key
chmod 600 /run/lab.key
lab=$PW_TOP/Documentation/labs/hosts.yaml

if [ "$1" = right ]; then
	ip addr add 10.78.0.2/24 dev eth0
	socat -t 100000 TCP-LISTEN:5000,bind=10.78.0.2,reuseaddr,fork EXEC:'bash -s',stderr &
	# the other guest says when to begin, and ends this one
	while ! [ -e /run/over ]; do
		sleep 0.2
	done
	exit 0
fi

ip addr add 10.78.0.1/24 dev eth0
# rsh HOST COMMAND...: in place of ssh
cat >/run/rsh <<'END'
#!/bin/bash
shift
exec socat -t 100000 STDIO TCP:10.78.0.2:5000 <<<"$*"
END
# the same, with the status of the command
cat >/run/ssh <<'END'
#!/bin/bash
out=$(/run/rsh "$1" "$2"$'\n''echo "=status $?"')
printf '%s' "${out%=status *}"
exit "${out##*=status }"
END
chmod 755 /run/rsh /run/ssh
right() { /run/rsh right "$@"; }
status() { "$@" >/dev/null 2>&1; echo $?; }
answers() { [ "$(right echo yes 2>/dev/null)" = yes ]; }
if ! busywait 120000 answers; then
	echo "Bail out! the other guest does not answer"
	exit 1
fi

# what is refused
tap_is "without --host" "$(pwctl lab up "$lab" 2>&1 | head -n 1)" \
	"pwctl: lab hosts is for several hosts; say which one this is: --host left, see 'pwctl lab help'"
tap_is "a host that the lab does not have" "$(status pwctl lab up "$lab" --host middle)" 1
tap_is "a lab without hosts" "$(status pwctl lab up "$PW_TOP/Documentation/labs/ring8.yaml" --host left)" 1
sed 's/host: right, //' "$lab" >/run/bad.yaml
tap_is "a SAN without a host" "$(status pwctl lab up /run/bad.yaml --host left)" 1
tap_is "the other host does not begin: an error" "$(status pwctl lab up "$lab" --host left timeout 3000)" 3
tap_ok "and the device has returned" busywait 60000 ip link show eth1

# one begins, the other one later
pwctl lab up "$lab" --host left >/run/up 2>&1 &
up=$!
sleep 3
tap_ok "it waits for the other host" kill -0 $up
tap_is "the other host: up" "$(right "pwctl lab up $lab --host right 2>&1; echo \$?")" 0
wait $up
tap_is "this host: up" "$? $(cat /run/up)" "0 "
tap_is "stations of both are shown" "$(pwctl -j lab show | jq -r 'map(.host) | group_by(.) | map("\(.[0]) \(length)") | join(" ")')" "left 8 right 8"
tap_is "with their addresses" "$(pwctl -j lab show | jq -r '.[] | select(.station == "r8").addr')" 00:02:08
tap_is "a router of two hosts is a trunk" "$(pwctl -n hosts -j router show lr | jq -r '.[0].trunk.kind')" udp
tap_ok "EEP" pwctl lab exec l1 pwctl ping 00:02:03 count 3 interval 10 timeout 60000
tap_ok "IP, by name" pwctl lab exec l2 ping -c 2 -W 20 r5
tap_is "a sum over both hosts" "$(pwctl lab exec l3 pwctl -j aton add scope tree sans 2 | jq -r '.[0] | "\(.value) \(.interfaces) \(.sans)"')" "3636 16 2"
tap_is "and from the other one" "$(right "pwctl lab exec r3 pwctl -j aton max scope tree sans 2" | jq -r '.[0] | "\(.value) \(.addr)"')" "800 00:02:08"

if command -v mpirun >/dev/null && [ -x "$PW_BUILD/mpi_hosts" ]; then
	export PWRUN_RSH=/run/rsh
	# messages of reductions on the trunk, from both ends; and all frames
	stat() {
		{ pwctl -n hosts -j router show lr; right pwctl -n hosts -j router show lr; } | jq -s "map(.[0]$1) | add"
	}
	reduce='.halves[0].stats | ."reduce-asked" + ."reduce-answered"' again='.halves[0].stats."reduce-repeated"'
	n=$(pw_count 20 5)
	for coll in off probe; do
		before=$(stat "$reduce") repeated=$(stat "$again") frames=$(stat .trunk.stats.tx)
		tap_is "pwrun, PW_COLL=$coll: 16 ranks on two hosts" \
			"$(PW_COLL=$coll timeout 400 pwrun mpi_hosts "$n" 3 2>/run/mpi.err)" "16 ranks: $n reductions, 0 results differ"
		sed 's/^/# /' /run/mpi.err
		commands=$(sed -n "s/^pwtree: $n of $n MPI_Allreduce over 2 SANs, \([0-9]*\) commands.*/\1/p" /run/mpi.err)
		packets=$(($(stat "$reduce") - before)) repeated=$(($(stat "$again") - repeated))
		echo "# $n MPI_Allreduce: ${commands:-0} commands, $packets packets of reductions on the trunk, $repeated repeated, $(($(stat .trunk.stats.tx) - frames)) frames in all"
		[ $coll = probe ] || tap_is "PW_COLL=off: none of it by the rings" "${commands:-none} $packets" "none 0"
	done
	tap_ok "all of it by the rings of both hosts" test "${commands:-0}" -gt 0
	# one more command has found all ranks at the start, on each ring
	tap_ok "two packets on the trunk for each command" \
		test "$packets" -ge $((2 * (commands + 2))) -a "$packets" -le $((2 * (commands + 2) + 2 * repeated))
else
	tap_skip "pwrun: 16 ranks on two hosts" "no MPI"
fi

right pwctl lab down
pwctl lab down
export PWCTL_RSH=/run/ssh
tap_ok "--ssh: up from one host" pwctl lab up "$lab" --host left --ssh
tap_ok "--ssh: EEP" pwctl lab exec l1 pwctl ping 00:02:03 count 3 interval 10 timeout 60000
tap_ok "--ssh: down from one host" pwctl lab down --ssh
tap_is "--ssh: nothing is left there" "$(right pwctl lab show)" ""
right mkdir -p /run/packetway/labs/hosts
tap_not "--ssh: the other host fails" pwctl lab up "$lab" --host left --ssh timeout 3000
right rmdir /run/packetway/labs/hosts /run/packetway/labs
returned() { [ "$(right "ip link show eth1 >/dev/null && echo back")" = back ]; }
tap_ok "down: the device returns" busywait 60000 returned
tap_ok "down here" busywait 60000 ip link show eth1
right touch /run/over
tap_done
