#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Stations of untimed SANs beside veth pairs: memory of one that is up, and the time to add 256
# of them, to bring them up and to delete them; and memory of a fabric of 256 ports that no
# message has passed. One CPU whose nanoseconds are instructions;
# waits for grace periods count as they do for a user.
#
# Memory is a difference of two sizes: that of the second 256, after the first 256 have taken
# what the kernel keeps for all (free objects of slabs, per-CPU chunks, page tables).
# Goals: memory at most 0.5 times, time at most 0.5 times those of veth; fabric "fast" at most
# 8 MiB, with the rest of its SAN. Stations are deleted with
# their SAN; pairs one by one, and for comparison as a group of links.

. "$(dirname "$0")/lib.sh"
pw_need ip awk pwctl
n=256
tmp=$(mktemp -d)
trap 'cleanup_all_ns; rm -rf "$tmp"' EXIT

# bytes that the kernel has taken: neither caches, which go when memory is needed, nor what
# belongs to programs, which is that of this script. Slabs give their empty pages back first.
used() {
	local i s

	for i in 1 2; do
		sleep 1
		echo 3 >/proc/sys/vm/drop_caches
		for s in /sys/kernel/slab/*/shrink; do
			echo 1 >"$s"
		done 2>/dev/null
	done
	# free pages on the lists of a CPU are not in MemFree
	awk -v page="$(getconf PAGESIZE)" '$1 == "count:" { sum -= $2 * page }
		$1 == "MemTotal:" { sum += $2 * 1024 }
		$1 ~ /^(MemFree|Buffers|Cached|AnonPages|SReclaimable|KernelStack|PageTables):$/ { sum -= $2 * 1024 }
		END { printf "%d\n", sum }' /proc/zoneinfo /proc/meminfo
}
now() { date +%s%N; }

# batches KIND SET: commands for ip that add, bring up and delete the 256 of a set (1 or 2)
batches() {
	local i

	for ((i = 0; i < n; i++)); do
		if [ "$1" = veth ]; then
			echo "link add v$2.$i group 7 type veth peer name w$2.$i" >&3
			printf 'link set v%s up\nlink set w%s up\n' "$2.$i" "$2.$i" >&4
			echo "link del v$2.$i" >&5
		else
			echo "link add p$2.$i group 7 type packetway san $2 port $i" >&3
			echo "link set p$2.$i up" >&4
			echo "link del p$2.$i" >&5
		fi
	done 3>"$tmp/add" 4>"$tmp/up" 5>"$tmp/del"
}

# begin KIND: a namespace N, with empty SANs for stations
begin() {
	setup_ns N || return 1
	# shellcheck disable=SC2153
	ip netns exec "$N" sysctl -qw net.ipv6.conf.default.disable_ipv6=1
	[ "$1" = veth ] && return
	ip netns exec "$N" pwctl san add 1 ports 256 engine none &&
		ip netns exec "$N" pwctl san add 2 ports 256 engine none
}

# memory KIND: bytes of one
memory() {
	local set bytes=()

	begin "$1" || return 1
	for set in 1 2; do
		batches "$1" $set
		ip -n "$N" -batch "$tmp/add" && ip -n "$N" -batch "$tmp/up" || return 1
		bytes[set]=$(used)
	done
	cleanup_ns "$N"
	echo $(((bytes[2] - bytes[1]) / n))
}

# fabric ENGINE: bytes of an idle SAN of 256 ports
fabric() {
	local i bytes=()

	begin veth || return 1
	for ((i = 0; i < 6; i++)); do
		[ $i = 2 ] && bytes[0]=$(used)
		ip netns exec "$N" pwctl san add $((i + 1)) ports 256 engine "$1" >/dev/null || return 1
	done
	bytes[1]=$(used)
	cleanup_ns "$N"
	echo $(((bytes[1] - bytes[0]) / 4))
}

# delete KIND: all at once
delete() {
	if [ "$1" = veth ]; then
		ip -n "$N" link del group 7
	else
		ip netns exec "$N" pwctl san del 1 with-stations
	fi
}

# times KIND: nanoseconds to add, to bring up, to delete all at once, to delete one by one
times() {
	local i t=()

	begin "$1" || return 1
	batches "$1" 1
	for i in 0 1; do
		t+=("$(now)")
		ip -n "$N" -batch "$tmp/add" || return 1
		t+=("$(now)")
		ip -n "$N" -batch "$tmp/up" || return 1
		t+=("$(now)")
		if [ $i = 0 ]; then
			delete "$1" || return 1
			t+=("$(now)")
			[ "$1" = veth ] || ip netns exec "$N" pwctl san add 1 ports 256 engine none || return 1
		fi
	done
	ip -n "$N" -batch "$tmp/del" || return 1
	t+=("$(now)")
	cleanup_ns "$N"
	echo $((t[1] - t[0])) $((t[2] - t[1])) $((t[3] - t[2])) $((t[7] - t[6]))
}

# the first one meets a kernel that still frees what it needed to start
memory veth >/dev/null
veth=$(memory veth) && ours=$(memory station) || exit 1
fast=$(fabric fast) && rtl=$(fabric rtl) || exit 1
veth_times=$(times veth) && ours_times=$(times station) || exit 1
echo "$veth $ours $veth_times $ours_times $fast $rtl" | awk '{
	mem = $2 / $1
	group = ($7 + $8 + $9) / ($3 + $4 + $5)
	t = ($7 + $8 + $9) / ($3 + $4 + $6)
	printf "a station: %d bytes, a veth pair %d bytes: %.3f x (goal <= 0.50): %s\n", $2, $1, mem, mem <= 0.5 ? "met" : "NOT MET"
	printf "256 added, up, deleted with their SAN: %.3f + %.3f + %.3f s, veth pairs, one by one, %.3f + %.3f + %.3f s: %.3f x (goal <= 0.50): %s\n", $7 / 1e9, $8 / 1e9, $9 / 1e9, $3 / 1e9, $4 / 1e9, $6 / 1e9, t, t <= 0.5 ? "met" : "NOT MET"
	printf "256 pairs deleted as a group of links: %.3f s, with adding and up %.3f x; 256 stations deleted one by one: %.3f s\n", $5 / 1e9, group, $10 / 1e9
	printf "a fabric of 256 ports, idle: %.1f MiB, rtl %.1f MiB (goal fast <= 8): %s\n", $11 / 2^20, $12 / 2^20, $11 <= 2^23 ? "met" : "NOT MET"
	exit !(mem <= 0.5 && t <= 0.5 && $11 <= 2^23) }'
