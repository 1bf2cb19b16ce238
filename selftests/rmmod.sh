#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rmmod while a packet socket, a capture, an open /dev/packetway, an address, a
# route and traffic exist: refused or clean, and nothing stays.

. "$(dirname "$0")/lib.sh"
pw_need ip tcpdump ping
[ -n "${PW_KO:-}" ] || pw_skip "no module given"

loaded() { grep -q '^packetway ' /proc/modules; }
reload() { loaded || insmod "$PW_KO"; }
trap 'jobs -p | xargs -r kill 2>/dev/null; cleanup_all_ns; reload' EXIT
reload

# --- an open file holds it
exec 8<>/dev/packetway
tap_not "an open /dev/packetway: refused" rmmod packetway
tap_ok "... and everything is as it was" ip link show pw0
tap_ok "... the file, too" sh -c 'true <&8'
exec 8>&-
tap_ok "closed: it goes" rmmod packetway
tap_ok "... without a device" test ! -e /sys/class/net/pw0
tap_ok "... without a node" test ! -e /dev/packetway
reload

# --- sockets, captures, addresses and stations elsewhere do not hold it
setup_ns A B || exit 1
for p in "A sa0 1" "B sb0 2"; do
	# shellcheck disable=SC2086
	set -- $p
	ns=${!1}
	ip -n "$A" link add "$2" netns "$ns" type packetway
	ip -n "$ns" addr add "10.6.0.$3/24" dev "$2"
	ip -n "$ns" addr add "fd06::$3/64" dev "$2" nodad
	ip -n "$ns" link set "$2" up
	ip -n "$ns" route add "192.0.2.$3/32" via "10.6.0.$((3 - $3))"
done
log=$(mktemp)
ip netns exec "$A" tcpdump -i sa0 -w /dev/null 2>"$log" &
capture=$!
slowwait 10 grep -q "listening on" "$log" >/dev/null
ip netns exec "$B" ping -q -i 0.02 10.6.0.1 >/dev/null 2>&1 &
traffic=$!
"$PW_BUILD/selftests/pwnl" -n "$A" flood sa0 2>"$log.flood" &
slowwait 20 grep -q sending "$log.flood" >/dev/null
rmmod packetway
status=$?
if [ $status = 0 ]; then
	tap_result 0 "with a capture, a socket, addresses, routes and traffic it goes"
	tap_is "... and with it every station" "$(ip -n "$A" -o link show type packetway 2>/dev/null; ip -n "$B" -o link | grep -c sb0)" 0
	tap_is "... and every route" "$(ip -n "$A" route show; ip -n "$B" route show)" ""
else
	tap_result 0 "with a capture, a socket, addresses, routes and traffic it is refused"
	tap_ok "... and stations go on" ip -n "$A" link show sa0
fi
kill $traffic $capture 2>/dev/null
wait 2>/dev/null
loaded && rmmod packetway
tap_not "it is gone" loaded
tap_is "the socket was in use" "$(cat "$log.flood")" "sending"
rm -f "$log" "$log.flood"
tap_ok "and comes again" insmod "$PW_KO"
tap_is "... with pw0 on port 0" "$(ip -o link show pw0 | grep -o 'link/[^ ]* [0-9a-f:]*' | cut -d' ' -f2)" "00:00:01"

# --- loops, with namespaces that hold stations
bad=0 rounds=$(pw_count 10)
for _ in $(seq "$rounds"); do
	ip -n "$A" link add s1 type packetway || bad=1
	ip -n "$A" link add s2 netns "$B" type packetway || bad=1
	ip -n "$A" link set s1 up || bad=1
	ip -n "$B" link set s2 up || bad=1
	rmmod packetway || bad=1
	insmod "$PW_KO" || bad=1
	[ $bad = 0 ] || break
done
tap_result $bad "$rounds rounds of stations in two namespaces, rmmod, insmod"
tap_done
