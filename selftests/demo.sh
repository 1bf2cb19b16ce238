#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What "make demo" shows, in a guest with the module loaded.

set -eu
say() { printf '\n== %s\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

say "kernel $(uname -r), module in"
grep '^packetway ' /proc/modules
say "pw0 comes up"
run ip link set pw0 up
run ip -d link show pw0
ls -l /dev/packetway

say "seven more stations on the same SAN; two of them move to namespaces of their own"
for i in 1 2 3 4 5 6 7; do
	ip link add "pw$i" type packetway
done
ip netns add left
ip netns add right
ip link set pw6 netns left
ip link set pw7 netns right
for i in 1 2 3 4 5; do
	ip link set "pw$i" up
done
ip -n left addr add 10.9.0.6/24 dev pw6
ip -n right addr add 10.9.0.7/24 dev pw7
ip -n left link set pw6 up
ip -n right link set pw7 up
sleep 1
run ip -br link show type packetway

say "ATON: a sum over the ring, computed by the interfaces while one packet passes"
for i in 0 1 2 3 4 5; do
	pwctl aton set $((10 * (i + 1))) dev "pw$i"
done
run pwctl aton add dev pw0
run pwctl aton max dev pw0
ethtool -S pw0 | grep -E 'ring_packets|ring_busy_bits'

say "EEP: PacketWay echo from station to station, and IP over PacketWay"
run pwctl ping 00:00:03 dev pw0 count 2
run ip netns exec left ping -c 2 10.9.0.7

say "BMX: they went through the cell fabric; again with its registers stepped cycle by cycle"
run pwctl san show
run pwctl san set 0 engine rtl
run ip netns exec left ping -c 2 10.9.0.7
ip netns exec left ethtool -S pw6 | grep -E 'aal_(cells|acks)_|fabric_stage[0-2]_cells|fabric_cycles'
run pwctl san show

say "that was packetway; 'scripts/vm' gives you a shell in such a guest"
