#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# IP over PacketWay between two namespaces: every size, both orders of setting up,
# fragments, MTU changes, TCP, and what a capture shows.

. "$(dirname "$0")/lib.sh"
pw_need ip ping tcpdump iperf3 jq pwctl socat

trap 'jobs -p | xargs -r kill 2>/dev/null; cleanup_all_ns; rm -rf "$tmp"' EXIT
tmp=$(mktemp -d)
setup_ns A B || exit 1
na() { ip netns exec "$A" "$@"; }
nb() { ip netns exec "$B" "$@"; }
stat() { ip netns exec "$1" ethtool -S "$2" | awk -v n="$3:" '$1 == n { print $2 }'; }
drops() { ip netns exec "$1" ethtool -S "$2" | awk '/drop_/ { s += $2 } END { print s + 0 }'; }
reasons() { for x in "$A sa0" "$B sb0"; do ip netns exec "${x% *}" ethtool -S "${x#* }" | sed -n "/drop_.*: [1-9]/s/^ */# ${x#* } /p"; done; }
errors() { ip -n "$1" -s -j link show "$2" | jq '.[0].stats64 | .tx.errors + .tx.dropped + .rx.errors + .rx.dropped'; }

# a: up first, then addresses; b: addresses first, then up
ip -n "$A" link add sa0 type packetway
ip -n "$A" link add sb0 netns "$B" type packetway
# bulk is for the untimed engine; TCP on the default one has a point of its own
pwctl -n "$A" san set 0 engine none
ip -n "$A" link set sa0 up
ip -n "$A" addr add 10.7.0.1/24 dev sa0
ip -n "$A" addr add fd07::1/64 dev sa0 nodad
ip -n "$B" addr add 10.7.0.2/24 dev sb0
ip -n "$B" addr add fd07::2/64 dev sb0 nodad
ip -n "$B" link set sb0 up

# what a said before b was up is b's drop
before_a=$(errors "$A" sa0) before_b=$(errors "$B" sb0)

tap_not "no station has this address" na ping -q -c 1 -W 1 10.7.0.9
tap_not "a datagram over the MTU that must not be cut" na ping -q -c 1 -W 1 -M "do" -s 1473 10.7.0.2
tap_ok "ping a -> b (up before address)" na ping -q -c 2 -i 0.2 -W 5 10.7.0.2
tap_ok "ping b -> a (address before up)" nb ping -q -c 2 -i 0.2 -W 5 10.7.0.1
tap_ok "ping -6 a -> b" na ping -6 -q -c 2 -i 0.2 -W 5 fd07::2
tap_ok "ping -6 b -> a" nb ping -6 -q -c 2 -i 0.2 -W 5 fd07::1
tap_is "ARP learned the 3-byte address" "$(ip -n "$A" -j neigh show 10.7.0.2 dev sa0 | jq -r '.[0].lladdr')" "00:00:02"
tap_is "neighbour discovery, too" "$(ip -n "$A" -j -6 neigh show fd07::2 dev sa0 | jq -r '.[0].lladdr')" "00:00:02"
[ "$(stat "$B" sb0 eep_rx_ip)" -gt 0 ]
tap_result $? "it went through the SAN"

# --- sizes: 28 and 48 bytes of headers; every one at 1500, the edges and some between elsewhere
pp=$PW_BUILD/selftests/pwping
tap_not "pwping can fail: a size over the MTU" na "$pp" 10.7.0.2 1473 1473
step=$((100 / (PW_SCALE > 100 ? 100 : PW_SCALE)))
tap_ok "ping, sizes 0 to 1472 at MTU 1500, step $step" na "$pp" 10.7.0.2 0 1472 $step
tap_ok "ping -6, sizes 0 to 1452, step $step" na "$pp" fd07::2 0 1452 $step
for mtu in 1280 9000 65528; do
	ip -n "$A" link set sa0 mtu $mtu
	ip -n "$B" link set sb0 mtu $mtu
	tap_ok "ping at MTU $mtu, the last 20 sizes" na "$pp" 10.7.0.2 $((mtu - 47)) $((mtu - 28))
	tap_ok "ping at MTU $mtu, a hundred sizes" na "$pp" 10.7.0.2 0 $((mtu - 28)) $((mtu / 100))
	tap_not "... and not one byte more" na "$pp" 10.7.0.2 $((mtu - 27)) $((mtu - 27))
	tap_ok "ping -6 at MTU $mtu, the last 20 sizes" na "$pp" fd07::2 $((mtu - 67)) $((mtu - 48))
	tap_ok "ping -6 at MTU $mtu, fifty sizes" na "$pp" fd07::2 0 $((mtu - 48)) $((mtu / 50))
done

# --- fragments
ip -n "$A" link set sa0 mtu 1500
ip -n "$B" link set sb0 mtu 1500
tap_ok "fragments: 5000 bytes at MTU 1500" na ping -q -c 1 -W 5 -s 5000 10.7.0.2
tap_ok "fragments: 65507 bytes" na ping -q -c 1 -W 5 -s 65507 10.7.0.2
tap_ok "fragments: IPv6, 5000 bytes" na ping -6 -q -c 1 -W 5 -s 5000 fd07::2
tap_is "no error and no drop up to here" "$(errors "$A" sa0) $(errors "$B" sb0)" "$before_a $before_b" || reasons

# --- captures: IP as IP, anything else whole, at both ends
capture() { # NS DEV FILE
	ip netns exec "$1" tcpdump -i "$2" -U -w "$3" >/dev/null 2>"$3.log" &
	slowwait 10 grep -q "listening on" "$3.log" >/dev/null
}
capture "$A" sa0 "$tmp/a.pcap"
capture "$B" sb0 "$tmp/b.pcap"
na ping -q -c 1 -W 5 -s 500 10.7.0.2 >/dev/null
# one EEP message of 40 bytes of data, PT 1500: whole, with its header and TAIL
na python3 - <<-'END'
	import socket
	s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
	s.bind(("sa0", 0x88b5))
	h = bytes.fromhex("07000002" "0001" "05dc" "00000005" "00000001")
	s.send(h + bytes(range(40)) + bytes(8))
END
for f in a b; do
	slowwait 10 eval "tcpdump -nr $tmp/$f.pcap -xx 2>/dev/null | grep -q 'ethertype\|0x88b5\|88b5'" >/dev/null
done
sleep 0.3
for f in a b; do
	tap_is "$f: a capture shows IP as IP" \
		"$(tcpdump -nr "$tmp/$f.pcap" 2>/dev/null | grep -c 'IP 10.7.0.1 > 10.7.0.2: ICMP echo request, .* length 508')" 1
	hex=$(tcpdump -nr "$tmp/$f.pcap" -xx ether proto 0x88b5 2>/dev/null | sed -n 's/^\t0x[0-9a-f]*: *//p' | tr -d ' \n')
	case $hex in
	*07000002000105dc0000000500000001000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223242526270000000000000000)
		tap_result 0 "$f: an EEP message is captured whole" ;;
	*)
		tap_result 1 "$f: an EEP message is captured whole"
		echo "# $hex" ;;
	esac
done
jobs -p | xargs -r kill 2>/dev/null
wait 2>/dev/null

# --- TCP
seconds=$(pw_count 10)
[ "$seconds" -ge 3 ] || seconds=3
[ "$seconds" -le 10 ] || seconds=10
nb timeout 180 iperf3 -s -1 >/dev/null 2>&1 &
slowwait 10 eval "ip netns exec $B ss -Hltn sport = :5201 | grep -q 5201" >/dev/null
before="$(drops "$A" sa0) $(drops "$B" sb0)"
tap_ok "iperf3, TCP, $seconds s" na iperf3 -c 10.7.0.2 -t "$seconds" --connect-timeout 20000 -J --logfile "$tmp/iperf"
# how fast is noise in an emulated guest, beside others even more so
[ "$(jq '.end.sum_received.bytes' "$tmp/iperf")" -gt 200000 ]
tap_result $? "... $(jq '.end.sum_received.bits_per_second / 1e6 | floor' "$tmp/iperf") Mbit/s arrived"
tap_is "... no error" "$(errors "$A" sa0) $(errors "$B" sb0)" "$before_a $before_b" || reasons
tap_is "... no drop" "$(drops "$A" sa0) $(drops "$B" sb0)" "$before"
wait

# --- between stations of an untimed SAN, TCP data crosses uncut and without checksums
head -c 2097152 /dev/urandom >"$tmp/bulk"
transfer() { # CAPTION
	local before

	before=$(stat "$B" sb0 eep_rx_ip)
	rm -f "$tmp/received"
	nb timeout 120 socat -u TCP-LISTEN:7001,reuseaddr CREATE:"$tmp/received" &
	listener=$!
	slowwait 10 eval "ip netns exec $B ss -Hltn sport = :7001 | grep -q 7001" >/dev/null
	tap_ok "TCP, $1" na timeout 120 socat -u -b 65536 FILE:"$tmp/bulk" TCP:10.7.0.2:7001,connect-timeout=20
	wait $listener
	tap_ok "... all arrives as it was" cmp "$tmp/bulk" "$tmp/received"
	came=$(($(stat "$B" sb0 eep_rx_ip) - before))
}
segments=$((2097152 / 1460))
transfer "uncut"
[ "$came" -lt "$segments" ]
tap_result $? "... in $came frames, fewer than $segments segments"
na ethtool -K sa0 tso off gso off tx off >/dev/null
transfer "offloads off"
[ "$came" -ge "$segments" ]
tap_result $? "... in $came frames, a segment each"
na ethtool -K sa0 tso on gso on tx on >/dev/null
ip -n "$A" link add mon0 type pwmon
ip -n "$A" link set mon0 up
transfer "watched by a pwmon device"
[ "$came" -ge "$segments" ]
tap_result $? "... in $came frames, a segment each"
ip -n "$A" link del mon0
tap_is "... no drop" "$(drops "$A" sa0) $(drops "$B" sb0)" "$before"

# --- what a packet socket says of checksums and segments is not believed: b forwards it all
nb pwctl station add sb1 san 1
ip -n "$B" link set sb1 up
ip -n "$B" addr add 10.8.0.1/24 dev sb1
ip -n "$B" neigh add 10.8.0.9 lladdr 00:01:09 dev sb1
nb sysctl -qw net.ipv4.ip_forward=1
na python3 - <<-'END'
	import errno, socket, struct
	s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
	s.bind(("sa0", 0x0800))
	s.setsockopt(263, 15, 1)	# PACKET_VNET_HDR
	def csum(b):
	    t = sum(struct.unpack('>%dH' % (len(b) // 2), b))
	    while t >> 16:
	        t = (t & 0xffff) + (t >> 16)
	    return ~t & 0xffff
	def frame(n, tail=b'', pt=5, said=None):
	    ip = struct.pack('>BBHHHBBH4s4s', 0x45, 0, 40 + n, 1, 0, 9, 6, 0, bytes([10, 7, 0, 1]), bytes([10, 8, 0, 9]))
	    ip = ip[:10] + struct.pack('>H', csum(ip)) + ip[12:]
	    tcp = struct.pack('>HHIIBBHHH', 1, 2, 3, 4, 0x50, 0x10, 5, 0, 0)
	    data = ip + tcp + bytes(n)
	    said = len(data) if said is None else said
	    words = -(-said // 8)
	    return struct.pack('>IHHII', 0x07000002, 1, pt, words | (words * 8 - said) << 25, 1) + data + tail
	sent = 0
	for f in (frame(100), frame(3000), frame(100, bytes(12)), frame(100, pt=1500), frame(100, said=60), frame(0)):
	    for gso, size in ((0, 0), (1, 500), (1, 1), (5, 100)):
	        for start in (0, 8, 15, 16, 20, 35, 36, 40, 56, len(f) - 2, len(f) - 1):
	            for off in (0, 6, 16, 50):
	                h = struct.pack('=BBHHHH', 1, gso, 56, size, start, off)
	                try:
	                    sent += s.send(h + f) > 0
	                except OSError as e:
	                    assert e.errno in (errno.EINVAL, errno.EMSGSIZE, errno.ENOBUFS, errno.ENOMEM), e
	assert sent > 100, sent
END
tap_result $? "packet sockets with headers of virtio, forwarded to a SAN with cells"
tap_ok "... and the stations still work" na ping -q -c 1 -W 5 10.7.0.2
nb sysctl -qw net.ipv4.ip_forward=0
ip -n "$B" link del sb1
before="$(drops "$A" sa0) $(drops "$B" sb0)"
before_a=$(errors "$A" sa0) before_b=$(errors "$B" sb0)

# --- TCP through the cell fabric
pwctl -n "$A" san set 0 engine fast
head -c 65536 /dev/urandom >"$tmp/sent"
nb timeout 120 socat -u TCP-LISTEN:7000,reuseaddr CREATE:"$tmp/received" &
listener=$!
slowwait 10 eval "ip netns exec $B ss -Hltn sport = :7000 | grep -q 7000" >/dev/null
tap_ok "TCP as cells" na timeout 120 socat -u FILE:"$tmp/sent" TCP:10.7.0.2:7000,connect-timeout=20
wait $listener
tap_ok "... all arrives as it was" cmp "$tmp/sent" "$tmp/received"
tap_is "... no drop" "$(drops "$A" sa0) $(drops "$B" sb0)" "$before"
pwctl -n "$A" san set 0 engine none

# --- TCP while the MTU changes under it
nb timeout 180 iperf3 -s -1 >/dev/null 2>&1 &
slowwait 10 eval "ip netns exec $B ss -Hltn sport = :5201 | grep -q 5201" >/dev/null
na iperf3 -6 -c fd07::2 -t 3 --connect-timeout 20000 -J --logfile "$tmp/iperf6" &
client=$!
for mtu in 9000 65528 1280 1500; do
	sleep 0.5
	ip -n "$B" link set sb0 mtu $mtu
	ip -n "$A" link set sa0 mtu $mtu
done
wait $client
[ "$(jq '.end.sum_received.bytes' "$tmp/iperf6")" -gt 100000 ]
tap_result $? "TCP over IPv6 outlives MTU changes"
wait

# --- below what IPv6 can use; it says goodbye in packets over the MTU
ip -n "$A" link set sa0 mtu 68
ip -n "$B" link set sb0 mtu 68
tap_ok "fragments: 300 bytes at MTU 68" na ping -q -c 1 -W 5 -s 300 10.7.0.2
tap_done
