#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# TAP test of link_packetway.so with the stock `ip`: no module, no root, no change
# to the machine. What `ip` would send is caught, what it would receive is made up.
#   usage: run.sh BUILD-DIRECTORY
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=${1:?build directory}
IP_LIB_DIR=$build/iproute2
export IP_LIB_DIR
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=SCRIPTDIR/../../../scripts/lib/tap
. "$here/../../../scripts/lib/tap"

same() {	# got, wanted, text
	tap_is "$3" "$1" "$2"
}

if [ ! -f "$IP_LIB_DIR/link_packetway.so" ]; then
	echo "1..0 # SKIP $IP_LIB_DIR/link_packetway.so is not built"
	exit 4
fi

preload=$tmp/catch.so
${CC:-cc} -shared -fPIC -O2 -o "$preload" "$here/catch_request.c" -ldl || exit 1

request() {	# options -> kind and attributes
	rm -f "$tmp/req"
	# shellcheck disable=SC2086 # options are words
	CATCH=$tmp/req LD_PRELOAD=$preload ip link add pwtest type packetway $1 >"$tmp/out" 2>&1
	[ -f "$tmp/req" ] && python3 "$here/nl.py" data "$tmp/req"
}

refused() {	# options, sentence
	request "$1" >"$tmp/req.txt"
	[ ! -s "$tmp/req.txt" ] && [ "$(head -n 1 "$tmp/out")" = "$2" ]
	tap_result $? "'$1' is refused: $2"
	[ "$(head -n 1 "$tmp/out")" = "$2" ] || sed 's/^/# /' "$tmp/out" "$tmp/req.txt"
}

# what must not pass
refused "san" "packetway: san needs a value"
refused "san 0 port" "packetway: port needs a value"
refused "san x" "packetway: san must be a number, \"x\" is not"
refused "san -1" "packetway: san must be a number, \"-1\" is not"
refused "san 32767" "packetway: san must be in 0..32766, 32767 is not"
refused "port 256" "packetway: port must be in 0..255, 256 is not"
refused "port 99999999999" "packetway: port must be a number, \"99999999999\" is not"
refused "port 1 port 1" "packetway: port is given twice"
refused "order" "packetway: order needs a value"
refused "order up" "packetway: order must be as-sent, big or little, \"up\" is not"
refused "ports 1" "packetway: unknown option \"ports\""

# what goes to the kernel
same "$(request '')" "packetway" "no options: no attributes"
same "$(request 'san 0 port 5')" "packetway 1:4:0 2:4:5" "san 0 port 5"
same "$(request 'port 0xff san 32766')" "packetway 2:4:255 1:4:32766" "largest numbers, any order, hexadecimal"
same "$(request 'order as-sent')" "packetway 4:4:0" "order as-sent"
same "$(request 'order big')" "packetway 4:4:1" "order big"
same "$(request 'order little san 1')" "packetway 4:4:2 1:4:1" "order little san 1"

# help
ip link help packetway >"$tmp/help"
grep -q '^Usage: ip link add .* type packetway .*san SAN' "$tmp/help"
tap_result $? "ip link help packetway"
ip link add pwtest type packetway help >"$tmp/help2" 2>&1
cmp -s "$tmp/help" "$tmp/help2"
tap_result $? "ip link add ... type packetway help says the same"

# what comes from the kernel
show() {	# ip options, attributes...
	flags=$1
	shift
	python3 "$here/nl.py" link "$tmp/link" "$@"
	# shellcheck disable=SC2086 # flags are words
	ANSWER=$tmp/link LD_PRELOAD=$preload ip $flags -d link show dev lo
}

text() {
	show "" "$@" | sed -n 's/^ *packetway //p' | sed 's/ addrgenmode.*//;s/ *$//'
}

json() {
	show "-j" "$@" | python3 -c 'import json, sys
print(json.dumps(json.load(sys.stdin)[0]["linkinfo"]))'
}

same "$(text 1:0 2:5 3:6 4:0)" "san 0 port 5 pwaddr 00:00:06 order as-sent" "text"
same "$(text 1:32766 2:255 3:0x7ffffd 4:2)" "san 32766 port 255 pwaddr 7f:ff:fd order little" "text, largest numbers"
same "$(text 2:3)" "port 3" "attributes that are missing are not printed"
same "$(text 1:x01 2:7 3:x 4:x0102)" "port 7" "attributes that are too short are not printed"
same "$(text 4:9)" "order 9" "an order of a later kernel is printed as a number"
same "$(json 1:0 2:5 3:6 4:1)" \
	'{"info_kind": "packetway", "info_data": {"san": 0, "port": 5, "pwaddr": "00:00:06", "order": "big"}}' "JSON"

tap_done
