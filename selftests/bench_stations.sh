#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# 256 stations of an untimed SAN beside 256 veth pairs: memory of each when it is up, and the time
# to add them, to bring them up and to delete them, each as one batch of ip. One CPU whose
# nanoseconds are instructions; waits for grace periods count as they do for a user.
# Goals: memory at most 0.5 times, time at most 0.5 times those of veth.

. "$(dirname "$0")/lib.sh"
pw_need ip awk pwctl
n=256
tmp=$(mktemp -d)
trap 'cleanup_all_ns; rm -rf "$tmp"' EXIT

# bytes in use, with what is per CPU; caches and what is about to be freed are not
used() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	sleep 2
	awk '$1 == "MemFree:" { free = $2 } $1 == "MemTotal:" { total = $2 } END { print (total - free) * 1024 }' /proc/meminfo
}
now() { date +%s%N; }

# measure KIND: prints KIND bytes N add N up N del N (ns)
measure() {
	local kind=$1 i before after t0 t1 t2 t3 t4

	setup_ns N || return 1
	# shellcheck disable=SC2153
	ip netns exec "$N" sysctl -qw net.ipv6.conf.default.disable_ipv6=1
	: >"$tmp/add"
	: >"$tmp/up"
	: >"$tmp/del"
	for ((i = 0; i < n; i++)); do
		if [ "$kind" = veth ]; then
			echo "link add v$i type veth peer name w$i" >>"$tmp/add"
			printf 'link set v%d up\nlink set w%d up\n' $i $i >>"$tmp/up"
			echo "link del v$i" >>"$tmp/del"
		else
			echo "link add p$i type packetway san 1 port $i" >>"$tmp/add"
			echo "link set p$i up" >>"$tmp/up"
			echo "link del p$i" >>"$tmp/del"
		fi
	done
	[ "$kind" = veth ] || ip netns exec "$N" pwctl san add 1 ports 256 engine none || return 1
	before=$(used)
	t0=$(now)
	ip -n "$N" -batch "$tmp/add" || return 1
	t1=$(now)
	ip -n "$N" -batch "$tmp/up" || return 1
	t2=$(now)
	after=$(used)
	t3=$(now)
	ip -n "$N" -batch "$tmp/del" || return 1
	t4=$(now)
	cleanup_ns "$N"
	# what is left of it goes in the background
	sleep 5
	echo "$kind bytes $(((after - before) / n)) add $((t1 - t0)) up $((t2 - t1)) del $((t4 - t3))"
}

# the slabs of the first of each kind stay: not measured
measure veth >/dev/null && measure station >/dev/null || exit 1
veth=$(measure veth) || exit 1
ours=$(measure station) || exit 1
echo "$veth"
echo "$ours"
echo "$veth $ours" | awk '{
	mem = $12 / $3; t = ($14 + $16 + $18) / ($5 + $7 + $9)
	printf "one of %d: %.1f kB, veth pair %.1f kB: %.3f x (goal <= 0.50): %s\n", n = 256, $12 / 1000, $3 / 1000, mem, mem <= 0.5 ? "met" : "NOT MET"
	printf "add, up, delete: %.2f + %.2f + %.2f s, veth pairs %.2f + %.2f + %.2f s: %.3f x (goal <= 0.50): %s\n", $14 / 1e9, $16 / 1e9, $18 / 1e9, $5 / 1e9, $7 / 1e9, $9 / 1e9, t, t <= 0.5 ? "met" : "NOT MET"
	exit !(mem <= 0.5 && t <= 0.5) }'
