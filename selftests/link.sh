#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A station as a link: what is refused and with which words, what is shown, its
# address, MTU, carrier, names, and that it keeps silent until it is configured.

. "$(dirname "$0")/lib.sh"
pw_need ip jq tcpdump

trap cleanup_all_ns EXIT
setup_ns N M || exit 1
pwnl=$PW_BUILD/selftests/pwnl
ipn() { ip -n "$N" "$@"; }
nl() { "$pwnl" -n "$N" "$@"; }

# refused WHAT ERRNO SENTENCE COMMAND...: it fails and says so
refused() {
	local what=$1 errno=$2 sentence=$3 out

	shift 3
	if out=$("$@" 2>&1); then
		tap_result 1 "$what is refused"
		return
	fi
	case $out in
	*"$errno"*"$sentence"*|*"$sentence"*"$errno"*) tap_result 0 "$what is refused: $sentence" ;;
	*)
		tap_result 1 "$what is refused: $sentence"
		echo "# $out"
		;;
	esac
}
links() { ipn -o link show type packetway | wc -l; }
hw() { nl link "$1" | cut -d" " -f1; }

# --- refusals
refused "SAN 32767" "Numerical result out of range" "integer out of range" nl add x san 32767
refused "port 256" "Numerical result out of range" "integer out of range" nl add x port 256
refused "port 16 of 16" "Numerical result out of range" "The SAN has no such port" nl add x port 16
refused "an unknown byte order" "Numerical result out of range" "integer out of range" nl add x order 3
refused "an address of one's own choice" "Invalid argument" "The address follows from SAN and port" nl add x addr 5
refused "a link-layer address" "" "The address follows from SAN and port" \
	ipn link add x address 00:00:09 type packetway
refused "a broadcast address" "" "The broadcast address is 7f:ff:ff" \
	ipn link add x broadcast 00:00:09 type packetway
refused "MTU 63" "" "mtu less than device minimum" ipn link add x mtu 63 type packetway
refused "MTU 65529" "" "mtu greater than device maximum" ipn link add x mtu 65529 type packetway
tap_is "nothing of this has left a station" "$(links)" 0

# --- what comes out
tap_ok "a station without any option" ipn link add pw0 type packetway
tap_is "it is on port 0 of SAN 0" "$(nl show pw0)" "san 0 port 0 addr 000001 order 0"
tap_is "address, broadcast, MTU, flags, kind as ip shows them" \
	"$(ipn -d -j link show pw0 | jq -rc '.[0] | [.address, .broadcast, .mtu, .min_mtu, .max_mtu, .txqlen, .linkinfo.info_kind, .operstate, .inet6_addr_gen_mode] | map(tostring) | join(" ")')" \
	"00:00:01 7f:ff:ff 1500 64 65528 1000 packetway DOWN none"
tap_ok "SAN, port and order are taken" nl add pw1 san 3 port 7 order 2
tap_is "... and shown" "$(nl show pw1)" "san 3 port 7 addr 000308 order 2"
tap_ok "the highest SAN" nl add pw2 san 32766 port 15
tap_is "... has its address" "$(hw pw2)" "7f:fe:10"
refused "a port that is taken" "Device or resource busy" "The port has a station already" nl add x san 3 port 7
refused "another SAN for a station" "not supported" "cannot change its SAN" nl set pw1 san 4
refused "another port for a station" "not supported" "cannot change its port" nl set pw1 port 8
tap_ok "its own SAN and port are no change" nl set pw1 san 3 port 7
tap_ok "the byte order can be changed" nl set pw1 order 1
tap_is "... and is shown" "$(nl show pw1)" "san 3 port 7 addr 000308 order 1"
tap_not "a link-layer address cannot be set later" ipn link set pw1 address 00:00:09
tap_is "... and is as it was" "$(hw pw1)" "00:03:08"

# --- next free port, full SAN
bad=0
seq -f 'add s%g' 1 15 | nl || bad=1
[ "$(nl show s15)" = "san 0 port 15 addr 000010 order 0" ] || bad=1
tap_result $bad "stations without a port get the next free one, up to 15"
refused "a seventeenth station" "" "Every port of this SAN has a station" ipn link add x type packetway
ipn link del s6
tap_ok "a port that became free is found again" ipn link add again type packetway
tap_is "... port 6" "$(nl show again)" "san 0 port 6 addr 000007 order 0"
seq -f 'del s%g' 1 15 | grep -v 's6$' | nl
tap_result $? "stations are deleted"

# --- MTU
for mtu in 64 65528 1501; do
	ipn link set again mtu $mtu
	tap_is "MTU $mtu" "$(nl link again | cut -d" " -f3)" $mtu
done
refused "MTU 63 later" "" "mtu less than device minimum" ipn link set again mtu 63
refused "MTU 65529 later" "" "mtu greater than device maximum" ipn link set again mtu 65529

# --- carrier and operstate
state() { nl link again | cut -d' ' -f4; }
tap_is "down" "$(state)" "DOWN"
ipn link set again up
is_up() { [ "$(state)" = UP,up,carrier ]; }
slowwait 5 is_up >/dev/null
tap_is "up: carrier, operstate up" "$(state)" "UP,up,carrier"
ipn link set again down
tap_is "down again" "$(state)" "DOWN"

# --- names
tap_ok "a station is renamed" ipn link set again name "a-longer_name15"
tap_ok "... gets another name" ipn link property add dev a-longer_name15 altname "the-station-of-the-second-row"
tap_is "... and is found by it" "$(ipn -o link show the-station-of-the-second-row | cut -d: -f2)" " a-longer_name15"
tap_ok "... and is deleted by it" ipn link del the-station-of-the-second-row

# --- groups; ip wants six bytes of an address, a station takes the first three
ipn link set pw1 up
tap_ok "a logical address is joined" ipn maddr add e0:00:05:00:00:00 dev pw1
tap_is "... and shown" "$(ipn maddr show dev pw1 | awk '$1 == "link" && $2 == "e0:00:05" { print $2 }')" "e0:00:05"
tap_ok "... and left" ipn maddr del e0:00:05:00:00:00 dev pw1
tap_is "... and gone" "$(ipn maddr show dev pw1 | awk '$2 == "e0:00:05"')" ""

# --- nothing can be put on top that would not work
ipn link set pw1 down
tap_not "no VLAN on a station" ipn link add link pw1 name v1 type vlan id 5
tap_not "no macvlan on a station" ipn link add link pw1 name m1 type macvlan
if ipn link add br0 type bridge 2>/dev/null; then
	tap_not "no station in a bridge" ipn link set pw1 master br0
	ipn link del br0
else
	tap_skip "no station in a bridge" "no bridge in this kernel"
fi
if ipn link add bond0 type bond 2>/dev/null; then
	ipn link set pw1 master bond0 2>/dev/null && ipn link set pw1 nomaster
	ipn link del bond0
fi
tap_is "the station is as it was" "$(nl show pw1) $(hw pw1)" \
	"san 3 port 7 addr 000308 order 1 00:03:08"

# --- silence: two stations up, one moved; neither configured
ip -n "$N" link add q0 type packetway
ip -n "$N" link add q1 netns "$M" type packetway
pcap=$(mktemp)
ip netns exec "$M" tcpdump -i any -p -U -w "$pcap" >/dev/null 2>&1 &
tcpdump=$!
slowwait 5 test -s "$pcap" >/dev/null
ipn link set q0 up
ip -n "$M" link set q1 up
sleep 3
kill "$tcpdump"
wait "$tcpdump" 2>/dev/null
tap_is "no packet in 3 s on links without configuration" "$(tcpdump -r "$pcap" 2>/dev/null | wc -l)" 0
tap_is "... the counters agree" "$(ipn -s -j link show q0 | jq -c '.[0].stats64 | [.tx.packets, .rx.packets]')" "[0,0]"
ip -n "$N" link set q0 addrgenmode eui64
ipn link set q0 down
ipn link set q0 up
tap_ok "a link-local address comes when it is asked for" \
	slowwait 5 eval "ip -n $N -6 addr show dev q0 | grep -q fe80::"
rm -f "$pcap"

# --- netpoll sends with interrupts off, which a SAN does not: the network console is told so
console=/sys/kernel/config/netconsole
modprobe -q netconsole 2>/dev/null
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config 2>/dev/null

# console_on DEV: switch a console at a link of the namespace on; prints what it is then
console_on() {
	mkdir "$console/$1" || return
	# not ip netns exec, which mounts another /sys
	# shellcheck disable=SC2016 # the arguments are those of sh
	nsenter --net="/run/netns/$N" sh -c 'cd "$1" && echo "$2" >dev_name && echo 10.66.0.1 >local_ip &&
		echo 10.66.0.2 >remote_ip && echo 1 >enabled' - "$console/$1" "$1" 2>/dev/null
	cat "$console/$1/enabled"
	echo 0 >"$console/$1/enabled" 2>/dev/null
	rmdir "$console/$1"
}

if [ -d "$console" ]; then
	ipn link add dummy0 type dummy
	ipn link set dummy0 up
	ipn link set pw1 up
	tap_is "a network console at a dummy" "$(console_on dummy0)" 1
	tap_is "... at a station is refused" "$(console_on pw1)" 0
	dmesg | tail -n 20 | grep -q "pw1.* doesn't support polling"
	tap_result $? "... with the reason in the log"
	ipn link del dummy0
else
	tap_skip "a network console" "this kernel has none with configfs"
fi

# --- with the plug-in a stock ip knows the options
dir=
for d in "${IP_LIB_DIR:-}" "$PW_BUILD/iproute2" "$PW_TOP/build/iproute2"; do
	[ -n "$d" ] && [ -r "$d/link_packetway.so" ] && dir=$d && break
done
if [ -n "$dir" ]; then
	export IP_LIB_DIR=$dir
	tap_ok "plug-in: ip link add ... san 9 port 2" ipn link add plug type packetway san 9 port 2
	tap_is "plug-in: what was asked for" "$(nl show plug)" "san 9 port 2 addr 000903 order 0"
	tap_is "plug-in: ip -d shows it" "$(ipn -d link show plug | grep -co 'san 9 port 2')" 1
	tap_is "plug-in: and in JSON" "$(ipn -d -j link show plug | jq -c '.[0].linkinfo.info_data | [.san, .port]')" "[9,2]"
	tap_not "plug-in: an unknown option" ipn link add x type packetway colour red
	tap_not "plug-in: a port that is none" ipn link add x type packetway port many
	tap_not "plug-in: the kernel's refusal comes through" ipn link add x type packetway san 9 port 2
else
	tap_skip "plug-in" "link_packetway.so is not built"
fi

tap_ok "deleting is the end" ipn link del pw0
tap_not "... of it" ipn link show pw0
tap_done
