#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Three guests with 64 stations each, joined by trunks in a triangle, run on the host: reductions
# over all 192 stations, without loss and with 1 % loss on the trunks, a barrier, and one guest
# that is killed while commands run. A soak has 10,000 commands. K=KERNEL, default 6.12.
#
#   guest 1 --eth0-- guest 2      Guest 1 leads over links of its own (eth2, eth3), so that
#      eth1 \         / eth1      nothing but the trunks is on the triangle.
#            guest 3

set -u
self=$(readlink -f "$0")
top=$(CDPATH='' cd -- "$(dirname -- "$self")/.." && pwd -P)

if [ "${1:-}" = "" ]; then
	work=$(mktemp -d "${TMPDIR:-/tmp}/pwreduce.XXXXXX") || exit 1
	others=()
	cleanup() {
		[ ${#others[@]} = 0 ] || kill "${others[@]}" 2>/dev/null
		wait
		rm -rf "$work"
	}
	trap cleanup EXIT
	make -s -C "$top/selftests" O="${O:-$top/build}" all >/dev/null || exit 1
	"$top/scripts/pkg/build-module" -q "${K:-6.12}" >/dev/null || exit 1
	limit=580
	[ -z "${PW_LONG:-}" ] || limit=2300
	# guest N LINK...
	guest() {
		local n=$1 args=() l

		shift
		for l; do
			args+=(--link "$work/$l")
		done
		"$top/scripts/vm" --kernel "${K:-6.12}" --smp 1 --mem 512 --timeout $limit \
			"${args[@]}" -- "$self" "$n" </dev/null
	}
	guest 2 wire12:1 wire23:0 control2:1 >"$work/2" 2>&1 &
	others+=($!)
	guest 3 wire13:1 wire23:1 control3:1 >"$work/3" 2>&1 &
	others+=($!)
	guest 1 wire12:0 wire13:0 control2:0 control3:0
	status=$?
	wait "${others[0]}"
	two=$?
	wait "${others[1]}"
	three=$?
	others=()
	[ $two = 0 ] || sed 's/^/# guest 2: /' "$work/2"
	# the one that was killed ends without a status
	[ $three = 251 ] || sed 's/^/# guest 3: /' "$work/3"
	[ $status = 0 ] && [ $two = 0 ] && [ $three = 251 ]
	exit
fi

# 10.77.LOWER-HIGHER.GUEST on the wires, 10.78.GUEST.GUEST on the links to guest 1
sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
addr() {
	ip addr add "$2/24" dev "$1"
	ip link set "$1" up
}
pwctl station del pw0
case $1 in
1)
	addr eth0 10.77.12.1
	addr eth1 10.77.13.1
	addr eth2 10.78.2.1
	addr eth3 10.78.3.1
	n=$((400 * ${PW_SCALE:-100} / 100))
	[ -z "${PW_LONG:-}" ] || n=10000
	exec "$PW_BUILD/selftests/reduce_peer" lead $n $((n / 50))
	;;
2)
	addr eth0 10.77.12.2
	addr eth1 10.77.23.2
	addr eth2 10.78.2.2
	;;
3)
	addr eth0 10.77.13.3
	addr eth1 10.77.23.3
	addr eth2 10.78.3.3
	;;
esac
exec "$PW_BUILD/selftests/reduce_peer" join "$1" "10.78.$1.1"
