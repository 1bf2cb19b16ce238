#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Stations and namespaces: moved with traffic, deleted with theirs, deleted with
# the home of their SAN, and what a user without privileges can and cannot do.

. "$(dirname "$0")/lib.sh"
pw_need ip jq ping unshare

trap cleanup_all_ns EXIT
pwnl=$PW_BUILD/selftests/pwnl
setup_ns HOME_NS A B C || exit 1
T=$WAIT_TIMEOUT
gone() { ! ip -n "$1" link show "$2" >/dev/null 2>&1; }
nolinks() { [ -z "$(ip -n "$1" -o link show type packetway)" ]; }
addr() { "$pwnl" -n "$1" link "$2" | cut -d' ' -f1; }

# --- refusals first: a user without privileges
tap_not "a user namespace cannot make stations in the network namespace of another" \
	unshare -Ur ip link add evil type packetway
tap_not "... nor touch pw0" unshare -Ur ip link set pw0 up
tap_not "... nor delete it" unshare -Ur ip link del pw0
tap_not "... nor join a group on it" unshare -Ur ip maddr add e0:00:01:00:00:00 dev pw0
tap_ok "pw0 is as it was" ip link show pw0
tap_ok "in a network namespace of its own it can" unshare -Urn ip link add mine type packetway
tap_is "... on a SAN of its own: port 0 is free there" \
	"$(unshare -Urn sh -c "ip link add mine type packetway; $pwnl show mine")" "san 0 port 0 addr 000001 order 0"
# shellcheck disable=SC2016
tap_is "... and its station answers itself only" \
	"$(unshare -Urn sh -c 'ip link add m0 type packetway; ip link add m1 type packetway; ip link set m0 up; ip link set m1 up
		ip -j link show type packetway | jq -r "map(.address) | join(\" \")"')" "00:00:01 00:00:02"
tap_not "it cannot push a station into our namespace" \
	unshare -Urn sh -c "ip link add mine type packetway && ip link set mine netns 1"

# --- SANs are of a namespace: the same number elsewhere is another SAN
ip -n "$A" link add one type packetway
ip -n "$B" link add two type packetway
tap_is "SAN 0 here and there are two" "$(addr "$A" one) $(addr "$B" two)" "00:00:01 00:00:01"
ip -n "$A" link del one
ip -n "$B" link del two

# --- one SAN across namespaces
ip -n "$HOME_NS" link add sh0 type packetway
ip -n "$HOME_NS" link add sa0 netns "$A" type packetway
ip -n "$HOME_NS" link add sb0 netns "$B" type packetway
for p in "$HOME_NS sh0 1" "$A sa0 2" "$B sb0 3"; do
	# shellcheck disable=SC2086
	set -- $p
	ip -n "$1" addr add "10.9.0.$3/24" dev "$2"
	ip -n "$1" link set "$2" up
done
tap_is "stations of one SAN have addresses of one SAN" "$(addr "$HOME_NS" sh0) $(addr "$A" sa0) $(addr "$B" sb0)" \
	"00:00:01 00:00:02 00:00:03"
tap_ok "they reach each other across namespaces" ip netns exec "$A" ping -q -c 2 -i 0.2 -W 5 10.9.0.3
tap_is "a station moved elsewhere says where its SAN is at home" \
	"$(ip -n "$A" -d -j link show sa0 | jq '.[0] | has("link_netnsid")')" true

# --- moved with traffic
# shellcheck disable=SC2034
ip netns exec "$HOME_NS" ping -q -i 0.02 -W 1 10.9.0.2 >/dev/null 2>&1 &
traffic=$!
bad=0 rounds=$(pw_count 4)
from=$A to=$C
for _ in $(seq "$rounds"); do
	ip -n "$from" link set sa0 netns "$to" || bad=1
	ip -n "$to" addr add 10.9.0.2/24 dev sa0 || bad=1
	ip -n "$to" link set sa0 up || bad=1
	ip netns exec "$to" ping -q -c 1 -W 10 10.9.0.1 >/dev/null || bad=1
	t=$from from=$to to=$t
done
kill $traffic
wait $traffic 2>/dev/null
tap_result $bad "$rounds moves with traffic; after each the station talks again"
tap_is "address and port moved with it" "$(addr "$from" sa0) $("$pwnl" -n "$from" show sa0)" \
	"00:00:02 san 0 port 1 addr 000002 order 0"
tap_is "IPv6 keeps silent after a move, too" "$(ip -n "$from" -d -j link show sa0 | jq -r '.[0].inet6_addr_gen_mode')" none
[ "$from" = "$A" ] || ip -n "$from" link set sa0 netns "$A"

# --- names clash: the move is refused, the station stays
ip -n "$B" link add sa0 type packetway
tap_not "a move to where the name is taken" ip -n "$A" link set sa0 netns "$B"
tap_is "... leaves it where it was" "$(addr "$A" sa0)" "00:00:02"
ip -n "$B" link del sa0

# --- a station's namespace goes; its SAN is at home elsewhere
ip -n "$A" link set sa0 up
ip netns del "$A"
tap_ok "with its namespace a station goes" slowwait "$T" "$pwnl" -n "$HOME_NS" add sa2 port 1
tap_is "... and its port is free again" "$("$pwnl" -n "$HOME_NS" show sa2)" "san 0 port 1 addr 000002 order 0"
tap_ok "... the others go on" ip netns exec "$B" ping -q -c 1 -W 5 10.9.0.1

# --- the SAN's home goes while stations live elsewhere
ip netns exec "$B" ping -q -i 0.02 -W 1 10.9.0.1 >/dev/null 2>&1 &
traffic=$!
ip netns del "$HOME_NS"
tap_ok "with the home of its SAN a station elsewhere goes" slowwait "$T" gone "$B" sb0
kill $traffic 2>/dev/null
wait $traffic 2>/dev/null
tap_ok "... and nothing of it stays" nolinks "$B"
tap_ok "the namespace makes a SAN of its own" ip -n "$B" link add sb0 type packetway
tap_is "... from the beginning" "$(addr "$B" sb0)" "00:00:01"

# --- whole, with its SAN
setup_ns D || exit 1
ip -n "$D" link add sd0 type packetway
ip -n "$D" link set sd0 up
tap_ok "a namespace with a station up goes" ip netns del "$D"
tap_done
