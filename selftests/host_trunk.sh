#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two guests joined by a trunk over a virtual Ethernet link, run on the host: ping,
# TCP and an EEP multicast across, a link that loses, reorders and doubles, and a third
# host on the link that has no secret. K=KERNEL, default 6.12.
#
# Guest 0 does the work and has guest 1 do things over a second link, so that nothing
# but the trunk is on the first one. The third host is a namespace on guest 0's bridge.

set -u
self=$(readlink -f "$0")
top=$(CDPATH='' cd -- "$(dirname -- "$self")/.." && pwd -P)

if [ "${1:-}" = "" ]; then
	work=$(mktemp -d "${TMPDIR:-/tmp}/pwtrunk.XXXXXX") || exit 1
	peer=
	cleanup() {
		[ -z "$peer" ] || kill "$peer" 2>/dev/null
		wait
		rm -rf "$work"
	}
	trap cleanup EXIT
	make -s -C "$top/selftests" O="${O:-$top/build}" all >/dev/null || exit 1
	"$top/scripts/pkg/build-module" -q "${K:-6.12}" >/dev/null || exit 1
	for id in 1 0; do
		set -- "$top/scripts/vm" --kernel "${K:-6.12}" --timeout 560 --link "$work/wire:$id" \
			--link "$work/control:$id" -- "$self" guest$id
		if [ $id = 1 ]; then
			"$@" >"$work/peer" 2>&1 </dev/null &
			peer=$!
		else
			"$@" </dev/null
			status=$?
		fi
	done
	wait $peer
	got=$?
	peer=
	[ $got = 0 ] || sed 's/^/# guest 1: /' "$work/peer"
	[ "$status" = 0 ] && [ "$got" = 0 ]
	exit
fi

key=00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
tp=$PW_BUILD/selftests/trunk_peer
set +u
. "$(dirname "$self")/lib.sh"
pw_need pwctl jq socat tc iperf3

# addresses of a guest: HOST WIRE-DEVICE
addresses() {
	sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
	ip addr add "10.77.0.$1/24" dev "$2"
	ip addr add "10.78.0.$1/24" dev eth1
	ip link set eth1 up
	pwctl station del pw0
	pwctl station add s san "$1" port 0 up
	# the trunk is the subject here, not the fabric
	pwctl san set "$1" engine none
	ip addr add "10.88.0.$1/24" dev s
}

if [ "$1" = guest1 ]; then
	ip link set eth0 up
	addresses 2 eth0
	iperf3 -s -D
	socat TCP-LISTEN:5000,bind=10.78.0.2,reuseaddr,fork EXEC:'bash -s' &
	# the other guest ends this one
	while ! [ -e /run/over ]; do
		sleep 0.2
	done
	exit 0
fi

# on_b COMMAND: in the other guest, with its output and status; one shell does them all
on_b() {
	local line out=

	printf '{ %s\n} 2>&1 </dev/null\nprintf "\\n=status %%d\\n" $?\n' "$*" >&5
	while IFS= read -r -t 120 line <&5; do
		case $line in
		"=status "*) printf '%s' "${out%$'\n'}"; return "${line#=status }" ;;
		esac
		out=$out$line$'\n'
	done
	echo "# guest 1 does not say what became of: $*" >&2
	return 99
}
# listen COUNT [GROUP]: numbered messages are received there from now on, until heard()
listens=0
listen() {
	listens=$((listens + 1))
	on_b "$tp recv s $1 ${2:-} >/run/heard.$listens 2>&1 & echo \$! >/run/listener"
	busywait 60000 on_b grep -q ready /run/heard.$listens
}
# heard MS: what has come when all have, or after MS
heard() {
	busywait "$1" on_b grep -q got /run/heard.$listens
	on_b "kill \$(cat /run/listener) 2>/dev/null; wait \$(cat /run/listener)"
	on_b tail -n 1 /run/heard.$listens
}
count() { jq -r ".[0].trunk.stats | $1"; }
here() { pwctl -j router show t | count "$1"; }
there() { on_b pwctl -j router show t | count "$1"; }
in_all='.rx + ."hello-rx" + ."drop-peer" + ."drop-version" + ."drop-auth" + ."drop-session" + ."drop-replay" + ."drop-malformed"'

ip link add br0 type bridge forward_delay 0
ip link set eth0 master br0 up
ip link set br0 up
addresses 1 br0
reach() { exec 5<>/dev/tcp/10.78.0.2/5000; }
if ! busywait 120000 eval '(reach) 2>/dev/null' || ! reach; then
	echo "Bail out! the other guest does not answer"
	exit 1
fi
# no ARP on the wire: what is counted there is the trunk's
ip neigh replace 10.77.0.2 lladdr "$(on_b cat /sys/class/net/eth0/address)" dev br0
on_b ip neigh replace 10.77.0.1 lladdr "$(cat /sys/class/net/br0/address)" dev eth0

# a key at one end, none at the other, then another one
pwctl router add t san 1:15 trunk udp 10.77.0.1:7777 10.77.0.2:7777 secret $key
on_b pwctl router add t san 2:15 trunk udp 10.77.0.2:7777 10.77.0.1:7777 insecure
busywait 60000 sh -c "pwctl -j router show t | jq -e '.[0].trunk.stats.\"drop-auth\" > 0' >/dev/null"
tap_is "a key at one end only: refused" "$(here '.rx + ."hello-rx"')" 0
on_b pwctl router del t
on_b pwctl router add t san 2:15 trunk udp 10.77.0.2:7777 10.77.0.1:7777 secret ${key%?}0
sleep 1
tap_is "another key: refused" "$(here '.rx + ."hello-rx"')" 0
on_b pwctl router del t
on_b pwctl router add t san 2:15 trunk udp 10.77.0.2:7777 10.77.0.1:7777 secret $key
tap_ok "the same key: the SANs know each other" busywait 60000 pwctl resolve 00:02:01 san 1

across() {
	tap_ok "$1: ping" pwctl ping 00:02:01 count 3 interval 10 timeout 30000
	tap_ok "$1: ping by source route" pwctl ping 00:02:01 by-route count 3 interval 10 timeout 30000
	tap_ok "$1: IP ping" ping -c 2 -W 10 10.88.0.2
	iperf3 -J -c 10.88.0.2 -t "$(pw_count 3 3)" >/run/speed
	tap_ok "$1: iperf3 ($(jq '.end.sum_received.bits_per_second / 1e6 | floor' /run/speed) Mbit/s, $(jq '.end.sum_sent.retransmits' /run/speed) sent again)" \
		jq -e '.end.sum_received.bytes > 20000' /run/speed
	# the group is known here when its listener has registered there
	listen 50 0xe00042
	busywait 60000 sh -c "pwctl -j name show san 1 | jq -e 'map(select(.addr == \"00:02:01\" and (.groups | index(\"e0:00:42\")))) | length == 1' >/dev/null"
	sleep 0.3
	"$tp" send s 0xe00042 50
	tap_is "$1: a multicast" "$(heard 20000)" "got 50 twice 0 bad 0"
}
across "trunk over UDP"

quiet() {
	local was

	until was=$(here .tx); sleep 0.3; [ "$was" = "$(here .tx)" ]; do :; done
}

# snap N: the counters of both ends and of the link. They are read one after the other:
# slop is what went out meanwhile, a hello or two where reading takes long
link() { tc -s -j qdisc show dev eth0 | jq -r '.[0] | "\(.packets) \(.drops)"'; }
snap() {
	tx[$1]=$(here '.tx + ."hello-tx"')
	read -r "left[$1]" "lost[$1]" <<<"$(link)"
	read -r "in[$1]" "taken[$1]" "seen[$1]" <<<"$(there "\"\\($in_all) \\(.rx) \\(.\"drop-replay\")\"")"
	slop=$((slop + $(here '.tx + ."hello-tx"') - tx[$1]))
}
# no packet waits at the link
through() { [ "$(tc -s -j qdisc show dev eth0 | jq '.[0].qlen')" = 0 ]; }
near() { test $(($1 - $2)) -le "$slop" -a $(($2 - $1)) -le "$slop"; }

# bad WHAT NETEM...: numbered messages over a bad link
n=$(pw_count 4000)
bad() {
	local i

	listen "$n"
	quiet
	tc qdisc replace dev eth0 root netem "${@:2}" limit 100000
	slop=0
	snap 0
	# the window of a session has 1024 packets: none may overtake so many, however late a timer is
	for ((i = 0; i < n; i += 500)); do
		"$tp" send s 0x000201 $((n - i < 500 ? n - i : 500)) "$i"
		busywait 60000 through || echo "# the link does not get empty"
	done
	# the link empties within milliseconds, the guest behind it takes its time
	until before=$(there .rx); sleep 0.5; [ "$before" = "$(there .rx)" ]; do :; done
	read -r _ got _ twice _ damaged <<<"$(heard 1000)"
	snap 1
	tc qdisc del dev eth0 root
	out=$((tx[1] - tx[0])) left=$((left[1] - left[0])) lost=$((lost[1] - lost[0]))
	in=$((in[1] - in[0])) taken=$((taken[1] - taken[0])) seen=$((seen[1] - seen[0]))
	echo "# $1: $n sent, $got arrived, $twice twice, $damaged damaged; link: $left left, $lost lost; trunk: $out out, $in in, $taken taken, $seen seen before (give or take $slop)"
	tap_is "$1: nothing twice, nothing damaged" "$twice $damaged" "0 0"
	tap_ok "$1: most arrive" test "$got" -gt $((n * 85 / 100)) || on_b "pwctl router show t stats; cat /run/heard.$listens; grep . /sys/class/net/s/statistics/rx_*" | sed 's/^/# /'
	tap_ok "$1: what leaves the link arrives at the trunk" near "$in" "$left"
	# routers talk as well
	tap_ok "$1: and what the trunk takes at the station" test "$taken" -ge "$got" -a $((taken - got)) -le $((out - n))
}
bad "5 % lost, reordered" loss 5% delay 2ms reorder 25% 50%
tap_ok "what was sent was lost or left the link" near "$out" $((left + lost))
tap_is "none of it had been seen before" "$seen" 0
tap_ok "some did not arrive" test "$got" -lt "$n"
bad "5 % twice, reordered" duplicate 5% delay 2ms reorder 25% 50%
tap_ok "what was sent left the link, some of it twice" near "$out" $((left - seen))
tap_ok "some came twice" test "$seen" -gt 0
tap_is "and all arrived" "$got" "$n"
bad "all of it" loss 5% duplicate 5% delay 2ms reorder 25% 50%

# a third host on the same Ethernet
n=$(pw_count 20000)
setup_ns THIRD
ip link add v0 type veth peer name v1 netns "$THIRD"
ip link set v0 master br0 up
ip -n "$THIRD" addr add 10.77.0.3/24 dev v1
ip -n "$THIRD" link set v1 up
ip -n "$THIRD" neigh replace 10.77.0.1 lladdr "$(cat /sys/class/net/br0/address)" dev v1
quiet
"$tp" recv s 1 >/run/victim 2>&1 &
victim=$!
busywait 60000 grep -q ready /run/victim
in0=$(here "$in_all") rx0=$(here '.rx') auth0=$(here '."drop-auth"') hello0=$(here '."hello-rx"')
tap_ok "a third host injects $n packets" ip netns exec "$THIRD" "$tp" inject 10.77.0.2 10.77.0.1 7777 "$n"
arrived() { [ $(($(here "$in_all") - in0 - $(here '."hello-rx"') + hello0)) -ge "$n" ]; }
tap_ok "all of them reach the trunk" busywait 60000 arrived
tap_is "none is taken for a frame" $(($(here .rx) - rx0)) 0
tap_is "all are refused for want of the key" $(($(here '."drop-auth"') - auth0)) "$n"
kill $victim
wait $victim
tap_is "no station has got anything" "$(tail -n 1 /run/victim)" "got 0 twice 0 bad 0"
tap_ok "the trunk took no harm" pwctl ping 00:02:01 count 2 interval 10 timeout 30000
cleanup_all_ns

# the same protocol without IP
pwctl router del t
on_b pwctl router del t
pwctl router add t san 1:15 trunk dev br0 secret $key
on_b pwctl router add t san 2:15 trunk dev eth0 secret $key
tap_ok "a trunk over Ethernet: the SANs know each other" busywait 60000 pwctl resolve 00:02:01 san 1
across "trunk over Ethernet"
pwctl router del t
on_b pwctl router del t

# no header at all: a program of 30 lines there, this module here
pwctl router add t san 1:15 trunk dev br0 bare
pwctl route add 00:02:01-00:02:ff san 1 via 00:01:10
bare="${tp%/*}/bare_peer eth0 $(cat /sys/class/net/br0/address)"
err=$(on_b "$bare 0x000107 0x000205")
tap_is "bare EEP: ERR/UNK for an address that is not there comes back" \
	"${err:2:14}${err:26:6}" 0002050001ffff000110
"$tp" recv s 1 >/run/bare 2>&1 &
victim=$!
busywait 60000 grep -q ready /run/bare
before=$(cat /sys/class/net/s/statistics/rx_packets)
more() { [ "$(cat /sys/class/net/s/statistics/rx_packets)" != "$before" ]; }
on_b "$bare 0x000101 0x000205 >/dev/null 2>&1 &"
busywait 60000 more
sleep 0.3
kill $victim
wait $victim
# it is not one of the numbered messages of a trunk_peer
tap_is "bare EEP: the frame is delivered" "$(tail -n 1 /run/bare)" "got 0 twice 0 bad 1"
pwctl router del t
pwctl station del s
on_b touch /run/over
tap_done
