#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pwctl with routers: router, route, name, resolve, ping and trace by address and by
# source route, events; what is refused and in which words.

. "$(dirname "$0")/lib.sh"
pw_need pwctl jq ip

status() { "$@" >/dev/null 2>&1; echo $?; }
says() { { "$@" >/dev/null; } 2>&1; }
# knows SAN NODE: its half-routers know the node
knows() { pwctl resolve "$2" san "$1" >/dev/null 2>&1; }

# words
see="see 'pwctl router help'"
tap_is "a router without halves" "$(status pwctl router add x)" 1
tap_is "with one half only" "$(status pwctl router add x san 1)" 1
tap_is "with three" "$(status pwctl router add x san 1 san 2 san 3)" 1
tap_is "a SAN that is no number" "$(status pwctl router add x san a san 2)" 1
tap_is "a trunk over nothing" "$(status pwctl router add x san 1 trunk)" 1
tap_is "a trunk with one end" "$(status pwctl router add x san 1 trunk udp 127.0.0.1:7000)" 1
tap_is "an end without a port" "$(status pwctl router add x san 1 trunk udp 127.0.0.1 127.0.0.1:1)" 1
tap_is "IPv6 without brackets" "$(says pwctl router add x san 1 trunk udp ::1:70 ::1:71)" \
	"pwctl: udp: write [::1]:70, $see"
tap_is "a secret that is too short" \
	"$(says pwctl router add x san 1 trunk udp 127.0.0.1:7000 127.0.0.1:7001 secret abcd)" \
	"pwctl: secret: 64 hexadecimal digits are needed, $see"
tap_is "a device that is not there" "$(status pwctl router add x san 1 trunk dev nosuch)" 2
tap_is "a route without a half-router" "$(status pwctl route add 5 san 1)" 1
tap_is "an unknown word" "$(status pwctl route show san 1 2)" 1
# the kernel's sentences
tap_is "one SAN twice" "$(says pwctl router add x san 1 san 1)" \
	"Error: A router joins two different SANs."
tap_is "a port that is not there" "$(says pwctl router add x san 1:99 san 2)" \
	"Error: The SAN has no such port."
tap_is "no such router" "$(says pwctl router del x)" \
	"Error: There is no router with this name in this namespace."
tap_is "a peer far away without a secret" \
	"$(says pwctl router add x san 1 trunk udp 127.0.0.1:7000 192.0.2.1:7000)" \
	"Error: Without a key the peer must be on the link or this host; give a key or say insecure."
tap_is "a trunk over what is no Ethernet" "$(says pwctl router add x san 1 trunk dev lo)" \
	"Error: A trunk needs an Ethernet device."
tap_is "nothing is left of these" "$(pwctl -j san show | jq -c 'map(.id)')" '[0]'

# three SANs in a row, timed; a on SAN 1, b on SAN 2, c on SAN 3
for i in 1 2 3; do
	pwctl san add $i engine fast
done
i=1
for s in a b c; do
	pwctl station add $s san $i port 0 up
	i=$((i + 1))
done
events=$(mktemp)
timeout 600 pwctl -j monitor >"$events" &
mon=$!
busywait 60000 sh -c "pwctl san add 9 ports 4; pwctl san del 9; test -s '$events'"
tap_ok "router add" pwctl router add ab san 1:15 san 2:15
tap_ok "router add, lowest free ports" pwctl router add bc san 2 san 3
busywait 60000 knows 1 00:03:01
busywait 60000 knows 3 00:01:01
for s in a b c; do
	pwctl aton set 7 dev $s
done
tap_is "a sum over all rings" "$(pwctl -j aton add scope tree sans 3 dev a |
	jq -c '.[0] | [.value, .interfaces, .sans, .missing]')" '[21,3,3,0]'
tap_is "of equals the highest address" "$(pwctl -j aton max scope tree dev b | jq -c '.[0].addr')" \
	"\"00:03:01\""
tap_is "more SANs than there are" "$(says pwctl aton add scope tree sans 4 dev a)" \
	"pwctl: a: 1 of 4 SANs are missing: no route"
tap_is "a partial sum" "$(pwctl -j aton add scope tree sans 4 partial dev a |
	jq -c '.[0] | [.value, .sans, .missing, .reason]')" '[21,3,1,"no route"]'
tap_is "partial on one ring" "$(status pwctl aton add partial dev a)" 1
busywait 60000 knows 3 00:01:01
tap_is "twice" "$(says pwctl router add ab san 1:9 san 2:9)" \
	"Error: A router with this name exists already."
tap_is "router show" "$(pwctl -j router show | jq -c 'map([.name, (.halves | map([.san, .port, .addr]))])')" \
	'[["ab",[[1,15,"00:01:10"],[2,15,"00:02:10"]]],["bc",[[2,1,"00:02:02"],[3,1,"00:03:02"]]]]'
tap_is "router show, text" "$(pwctl router show ab | head -n 2 | cut -d ' ' -f 1-8 | paste -sd ' ')" \
	"router ab   san 1: port 15 addr 00:01:10"
tap_ok "router show with counters" sh -c "pwctl router show ab stats | grep -q rrp-rx"
tap_is "indented" "$(pwctl -p router show ab | jq -r '.[0].name')" ab
tap_is "route show" \
	"$(pwctl -j route show san 1 | jq -c 'map(select(.best) | [.first, .last, ."half-router", .static]) | sort')" \
	'[["00:02:01","00:02:10","00:01:10",false],["00:03:01","00:03:10","00:01:10",false]]'
tap_is "name show" "$(pwctl -j name show 1 | jq -c 'map(select(.local | not) | [.addr, .name]) | sort')" \
	'[["00:02:01","b"],["00:02:02","bc"],["00:02:10","ab"],["00:03:01","c"],["00:03:02","bc"]]'
tap_is "what a node can do" "$(pwctl -j name show 1 | jq -c 'map(select(.name == "c"))[0].can')" '["compute","aton","esp"]'
tap_is "resolve in a SAN" "$(pwctl -j resolve c san 1 | jq -r '.[0].addr')" 00:03:01
tap_is "resolve from a station" "$(pwctl -j resolve c dev a timeout 30000 | jq -c '.[0] | [.addr, .name, .hops]')" '["00:03:01","c",2]'
tap_is "resolve by address" "$(pwctl -j resolve 00:03:01 dev a timeout 30000 | jq -r '.[0].name')" c
tap_is "resolve an unknown name" "$(status pwctl resolve no-such-name dev a timeout 3000)" 2
tap_is "or in a SAN" "$(says pwctl resolve no-such-name san 1)" "Error: No half-router of this SAN knows the node."

# ping and trace, by address and by source route
tap_ok "ping across" pwctl ping 00:03:01 dev a count 2 interval 10 timeout 30000
tap_ok "ping by source route" pwctl ping 00:03:01 by-route dev a count 2 interval 10 timeout 30000
hex=$(pwctl -j resolve c dev a timeout 30000 | jq -r '.[0].l2rh')
tap_ok "ping by this source route ($hex)" pwctl ping 00:03:01 route "$hex" dev a count 1 timeout 30000
tap_is "a source route that is none" "$(status pwctl ping 00:03:01 route 00 dev a)" 1
l2=$(pwctl -j router show bc | jq '.[0].halves[1].stats."forward-l2"')
tap_ok "they went by L2RH ($l2)" test "$l2" -ge 3
for by in "" by-route; do
	# shellcheck disable=SC2086
	t=$(pwctl -j trace 00:03:01 $by dev a timeout 30000)
	tap_is "trace ${by:-by address}: routers" "$(jq -c '.[:-1] | map([.hop, .router, .addr, .out])' <<<"$t")" \
		'[[1,"ab","00:01:10","00:02:10"],[2,"bc","00:02:02","00:03:02"]]'
	tap_is "who answers" "$(jq -c '.[-1] | [.answer, .by, .hops, .back]' <<<"$t")" \
		"[\"00:03:01\",\"$([ -n "$by" ] && echo route || echo address)\",2,[\"00:03:02\",\"00:02:10\"]]"
	tap_is "the farther, the later in virtual time" \
		"$(jq -c 'map(."virtual-ns") | .[0] > 0 and .[0] < .[1] and .[1] < .[2]' <<<"$t")" true
done
tap_is "the answer again, to the nanosecond" "$(pwctl -j trace 00:03:01 dev a timeout 30000 | jq '.[-1]."virtual-ns"')" \
	"$(pwctl -j trace 00:03:01 dev a timeout 30000 | jq '.[-1]."virtual-ns"')"
tap_is "trace to an empty port" "$(status pwctl trace 00:03:09 dev a)" 3
tap_is "by a route that is not known" "$(status pwctl trace 00:77:09 by-route dev a)" 3

# questions to half-routers from a station
found() { pwctl -j find "$@" dev a timeout 30000 | jq -c '[.[].addr] | sort'; }
tap_is "find by name" "$(found name c)" '["00:03:01"]'
tap_is "a name that no node has" "$(status pwctl find name absent dev a timeout 30000)" 2
tap_is "a capability that is none" "$(status pwctl find capability nothing dev a)" 1
tap_is "find by capability" "$(found capability router | jq -c 'length')" 4
tap_ok "describe" pwctl describe name plotter capability printer capability 77 \
	group 0xe00100-0xe001ff dev c
busywait 60000 sh -c "pwctl find name plotter dev a timeout 30000 >/dev/null 2>&1"
tap_is "find what was described" "$(found capability printer group 0xe00177)" '["00:03:01"]'
tap_is "its groups" "$(pwctl -j find name plotter dev a timeout 30000 | jq -c '.[0] | [.can, .groups]')" \
	'[["printer","77"],["e0:01:00-e0:01:ff"]]'
tap_is "another group" "$(status pwctl find group 0xe00200 dev a timeout 30000)" 2
tap_is "a group that is none" "$(status pwctl describe group 5 dev a)" 1

# source routes of several L2RHs
tap_is "send: two kinds of routes" "$(status pwctl send 00:03:01 pt 9 by-route l2rhs 00 dev a)" 1
tap_is "send: no row of L2RHs" "$(status pwctl send 00:03:01 pt 9 l2rhs 0011 dev a)" 1
before=$(pwctl -j router show bc stats | jq '[.[0].halves[].stats."forward-l2"] | add')
tap_ok "send by-route" pwctl send 00:03:01 pt 1500 text hello by-route dev a
row=$(pwctl -j resolve 00:03:01 dev a timeout 30000 | jq -r '.[0].l2rh')
tap_ok "send with l2rhs" pwctl send 00:03:01 pt 1500 text hello l2rhs "$row" dev a
# shellcheck disable=SC2016 # eval expands it each time
busywait 60000 eval '[ "$(pwctl -j router show bc stats | jq "[.[0].halves[].stats.\"forward-l2\"] | add")" -ge $((before + 2)) ]'
tap_is "both took it" "$(pwctl -j router show bc stats | jq '[.[0].halves[].stats."forward-l2"] | add')" $((before + 2))

# source routes of a station
see="see 'pwctl route help'"
tap_is "a source route without a row" "$(says pwctl route add 00:03:01 dev a)" \
	"pwctl: route add: \`dev\` and \`l2rhs\` go together, $see"
tap_is "a row without a station" "$(status pwctl route add 00:03:01 san 1 via 00:01:10 l2rhs "$row")" 1
tap_is "a station and a SAN" "$(says pwctl route add 00:03:01 dev a san 1 l2rhs "$row")" \
	"pwctl: route add: give \`san\` and \`via\`, or \`dev\`, $see"
tap_is "no row of L2RHs" "$(says pwctl route add 00:03:01 dev a l2rhs 0011223344556677)" \
	"Error: A source route is a row of L2RHs, of at most 512 bytes."
tap_is "none to delete" "$(says pwctl route del 00:03:01 dev a)" \
	"Error: The station has no source route to these addresses."
tap_ok "a source route" pwctl route add 00:03:01 dev a l2rhs "$row" mtu 1400
tap_is "route show of a station" \
	"$(pwctl -j route show dev a | jq -c 'map([.san, .dev, .first, .last, .l2rh, .mtu, .static])')" \
	"[[1,\"a\",\"00:03:01\",\"00:03:01\",\"$row\",1400,true]]"
before=$(pwctl -j router show bc stats | jq '[.[0].halves[].stats."forward-l2"] | add')
tap_ok "a ping by address takes it" pwctl ping 00:03:01 dev a count 2 interval 10 timeout 30000
tap_is "both requests" "$(pwctl -j router show bc stats | jq '[.[0].halves[].stats."forward-l2"] | add')" $((before + 2))
tap_is "they are counted" "$(pwctl -j stats a | jq '.[0].stats.eep_tx_source_route')" 2
tap_ok "it is deleted" pwctl route del 00:03:01 dev a
tap_is "none is left" "$(pwctl -j route show dev a)" "[]"
tap_ok "a ping goes by address again" pwctl ping 00:03:01 dev a count 1 timeout 30000
tap_is "without L2RHs" "$(pwctl -j router show bc stats | jq '[.[0].halves[].stats."forward-l2"] | add')" $((before + 2))

# ESP one way, and who hears it
heard=$(mktemp)
# packet sockets that receive
sockets() { awk '$6 == 1' /proc/net/packet | wc -l; }
before=$(sockets)
pwctl -j esp listen count 2 timeout 60000 dev c >"$heard" &
listener=$!
# shellcheck disable=SC2016 # eval expands it each time
busywait 60000 eval '[ "$(sockets)" -gt $before ]'
tap_ok "esp one-way" pwctl esp count 00:03:01 tag 99 thresh 5 one-way dev a
tap_ok "esp one-way by-route" pwctl esp count 00:03:01 tag 99 thresh 5 one-way by-route timeout 30000 dev a
tap_ok "the listener" wait $listener
tap_is "it heard both" "$(jq -sc 'flatten | map([.src, .instruction, .tag])' "$heard")" \
	'[["00:01:01","count",99],["00:01:01","count",99]]'
rm -f "$heard"

# static routes: round by SAN 3 is longer and is used all the same
pwctl router add ca san 3:15 san 1:14
busywait 60000 sh -c "pwctl -j route show san 1 | jq -e 'map(select(.best and .\"half-router\" == \"00:01:0f\")) | length == 1' >/dev/null"
tap_is "the short route" "$(pwctl -j trace 00:03:01 dev a timeout 30000 | jq -c '.[:-1] | map(.router)')" '["ca"]'
tap_is "a half-router elsewhere" "$(says pwctl route add 00:03:01 san 1 via 00:02:10)" \
	"Error: The half-router is not on this SAN."
tap_is "no half-router there" "$(says pwctl route add 00:03:01 san 1 via 00:01:01)" \
	"Error: There is no half-router at this address."
tap_is "a range the wrong way round" "$(says pwctl route add 00:03:09-00:03:01 san 1 via 00:01:10)" \
	"Error: The last address comes before the first one."
tap_ok "route add" pwctl route add 00:03:01-00:03:10 san 1 via 00:01:10
tap_is "route add, twice" "$(says pwctl route add 00:03:01-00:03:10 san 1 via 00:01:10)" \
	"Error: There is such a route already."
tap_is "it is the best" "$(pwctl -j route show san 1 | jq -c 'map(select(.static) | [.first, .last, ."half-router", .best])')" \
	'[["00:03:01","00:03:10","00:01:10",true]]'
tap_is "and is used" "$(pwctl -j trace 00:03:01 dev a timeout 30000 | jq -c '.[:-1] | map(.router)')" '["ab","bc"]'
tap_ok "route del" pwctl route del 00:03:01-00:03:10 san 1 via 00:01:10
tap_is "the short route again" "$(pwctl -j trace 00:03:01 dev a timeout 30000 | jq -c '.[:-1] | map(.router)')" '["ca"]'
tap_is "route del, twice" "$(says pwctl route del 00:03:01-00:03:10 san 1 via 00:01:10)" \
	"Error: No static route matches."
tap_ok "a static route to one node" pwctl route add 00:03:01 san 1 via 00:01:10 quality 9
tap_is "the narrowest range decides, not the quality" \
	"$(pwctl -j trace 00:03:01 dev a timeout 30000 | jq -c '.[:-1] | map(.router)')" '["ab","bc"]'

tap_ok "router del" pwctl router del ca
tap_ok "router del" pwctl router del bc
event() { jq -r "select(.object == \"$1\" and .event == \"$2\") | $3" "$events" | sort -u; }
busywait 60000 sh -c "jq -e 'select(.object == \"route\" and .event == \"del\" and .san == 1 and .first == \"00:03:01\" and .last == \"00:03:10\")' '$events' >/dev/null"
kill $mon
wait $mon 2>/dev/null
tap_is "events: routers come" "$(event router new .name | paste -sd ' ')" "ab bc ca"
tap_is "events: routers go" "$(event router del .name | paste -sd ' ')" "bc ca"
tap_is "events: routes come, and which" "$(event route new 'select(.san == 1 and .dev == null) | [.first, ."half-router"] | join(" ")' | paste -sd ,)" \
	"00:02:01 00:01:10,00:03:01 00:01:0f,00:03:01 00:01:10"
tap_is "events: routes go" "$(event route del 'select(.san == 1 and .dev == null) | .first' | paste -sd ,)" "00:03:01"
for e in new del; do
	tap_is "events: a source route, $e" "$(event route $e 'select(.dev == "a") | [.first, .l2rh] | join(" ")')" "00:03:01 $row"
done

tap_is "without privilege: look" "$(status setpriv --reuid 65534 --clear-groups pwctl router show)" 0
tap_is "no router" "$(status setpriv --reuid 65534 --clear-groups pwctl router del ab)" 2
tap_is "no route" "$(status setpriv --reuid 65534 --clear-groups pwctl route del 00:03:01 san 1 via 00:01:10)" 2
for verb in router route name resolve ping trace; do
	tap_ok "help $verb" pwctl help $verb
done

# the other half over a trunk, in a namespace of its own
setup_ns FAR
ip link add v0 type veth peer name v1 netns "$FAR"
ip link set v0 up
ip -n "$FAR" link set v1 up
pwctl router del ab
key=$(mktemp)
printf '%064d\n' 42 >"$key"
ip netns exec "$FAR" pwctl station add d san 7 port 0 up
tap_ok "trunk dev" pwctl router add t san 1:15 trunk dev v0 id 5 secret-file "$key"
tap_is "trunk dev, twice" "$(says pwctl router add u san 1:14 trunk dev v0 id 5)" \
	"Error: The device has a trunk with this id already."
tap_ok "its other end" pwctl -n "$FAR" router add t san 7:15 trunk dev v1 id 5 secret "$(cat "$key")"
busywait 60000 knows 1 00:07:01
tap_is "router show: trunk" "$(pwctl -j router show t | jq -c '.[0].trunk | [.kind, .dev, .id, .up, .secret, .peer, .mtu]')" \
	'["dev","v0",5,true,true,"00:07:10",1424]'
tap_ok "ping over it" pwctl ping 00:07:01 dev a count 2 interval 10 timeout 30000
tap_is "trace over it" "$(pwctl -j trace 00:07:01 by-route dev a timeout 30000 | jq -c '.[0] | [.router, .addr, .out]')" \
	'["t","00:01:10","00:07:10"]'
ip link del v0
tap_is "the router goes with its device" "$(pwctl -j router show | jq length)" 0
ip addr add 169.254.7.1/32 dev lo
tap_ok "trunk udp" pwctl router add t san 1:15 trunk udp 127.0.0.1:7001 127.0.0.1:7002
tap_ok "trunk udp, IPv6" pwctl router add u san 2:15 trunk udp '[::1]:7003' '[::1]:7004'
tap_is "its ends" "$(pwctl -j router show u | jq -c '.[0].trunk | [.local, .remote, .up]')" '["[::1]:7003","[::1]:7004",false]'
pwctl router del t
pwctl router del u
for s in a b c; do
	pwctl station del $s
done
rm -f "$events" "$key"
cleanup_all_ns
tap_done
