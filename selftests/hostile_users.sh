#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Sixteen users without privileges, each in a user and a network namespace and in a
# memory cgroup of its own, do their worst to the module at once (hostile_user.c).
# Meanwhile another namespace pings on its own SAN and the host asks for a link.
#
# What is compared: sixteen users who compute and make dummy devices slow down everything
# else as well: a ping waits for its turn on the CPU, a link request for RTNL. So the same
# sixteen users first do that without packetway, with the same number of processes (burn),
# then attack, then burn again: the slower of the two is the reference. What packetway adds
# is the difference. The times are those of the machine, hence they decide in soaks only;
# "scripts/vm --icount" repeats them with a clock that counts instructions.

. "$(dirname "$0")/lib.sh"
pw_need ip awk

users=16 limit=$((24 << 20))
hostile=$PW_BUILD/selftests/hostile_user
# a minute together; ten in a soak
burn=$(pw_count 6 4) attack=$(pw_count 48 10)
cg=/run/packetway/cgroup
top=$cg/hostile

mkdir -p $cg
mountpoint -q $cg || mount -t cgroup2 none $cg || pw_skip "no cgroup2 here"
grep -q memory $cg/cgroup.controllers || pw_skip "no memory cgroups here"
echo +memory >$cg/cgroup.subtree_control
mkdir $top
echo +memory >$top/cgroup.subtree_control
for i in $(seq $users); do
	mkdir "$top/$i"
	echo $limit >"$top/$i/memory.max"
done
cleanup() {
	local d

	pkill -KILL -x hostile_user
	for d in "$top"/*/ "$top"; do
		[ ! -e "$d/cgroup.kill" ] || echo 1 >"$d/cgroup.kill"
	done
	wait
	rmdir "$top"/*/ "$top" 2>/dev/null
}
trap cleanup EXIT

mem() { awk -v key="$1:" '$1 == key { print $2 }' /proc/meminfo; }

# namespaces go in the background, after their users; what they had is charged until then
settled() { [ "$(cat "$top/memory.current")" -lt $((8 << 20)) ]; }

# hung: say where the processes of a phase are that does not end, and end them
hung() {
	local p

	echo "# these do not end:"
	for p in $(pgrep -x hostile_user); do
		echo "# $p $(tr '\0' ' ' </proc/"$p"/cmdline)$(grep State "/proc/$p/status")"
		sed 's/^/#     /' "/proc/$p/stack"
	done
	grep . $top/memory.events $top/*/memory.current | sed 's/^/# /'
	pkill -KILL -x hostile_user
}

# phase KIND SECONDS: all users do this; prints what is measured
phase() {
	local kind=$1 seconds=$2 free guard users_of i

	free=$(mem MemAvailable)
	{
		for i in $(seq $((seconds + 300))); do
			sleep 1
		done
		hung
	} >&2 &
	guard=$!
	users_of=()
	for i in $(seq $users); do
		"$hostile" "$kind" $((10000 + i)) "$seconds" $top/"$i" &
		users_of+=($!)
	done
	# they have begun, and are not at their end
	"$hostile" measure $((seconds - 2)) $top "$free"
	wait "${users_of[@]}"
	kill $guard
	slowwait 300 settled >/dev/null
}
# of RESULT WORD N: N-th number behind WORD
of() { awk -v w="$2" -v n="$3" '{ for (i = 1; i <= NF; i++) if ($i == w) print $(i + n) }' <<<"$1"; }

# once, so that caches and per-CPU chunks are there
phase attack 3 >/dev/null
before_available=$(mem MemAvailable) before_slab=$(mem SUnreclaim)
before_vmalloc=$(mem VmallocUsed) before_percpu=$(mem Percpu)

first=$(phase burn "$burn")
during=$(phase attack "$attack")
kills=$(awk '$1 == "oom_kill" { print $2 }' $top/memory.events)
peak=$(cat $top/memory.peak)
second=$(phase burn "$burn")
echo "# without packetway: $first"
echo "# with $users attackers: $during"
echo "# without packetway: $second"
echo "# peak of all cgroups: $((peak >> 20)) MiB, killed for memory: $kills"

# tap_time NAME COMMAND...: a verdict that depends on the machine: it counts in soaks
tap_time() {
	if [ -n "${PW_LONG:-}" ]; then
		tap_ok "$@"
	else
		echo "# $1: $("${@:2}" && echo yes || echo no)"
	fi
}
worse() { [ "$1" -gt "$2" ] && echo "$1" || echo "$2"; }
ping=$(worse "$(of "$first" ping 1)" "$(of "$second" ping 1)")
link=$(worse "$(of "$first" link 1)" "$(of "$second" link 1)")
link99=$(worse "$(of "$first" link 2)" "$(of "$second" link 2)")
tap_ok "pings are answered: $(of "$during" ping 4)" [ "$(of "$during" ping 4)" -gt 10 ]
tap_is "... every one of them" "$(of "$during" ping 5)" 0
tap_time "the median of a ping, $(of "$during" ping 1) us, is within 2x of $ping us" \
	[ "$(of "$during" ping 1)" -le $((2 * ping)) ]
tap_time "the median of a link request, $(of "$during" link 1) us, is within 2x of $link us or below 1 s" \
	[ "$(of "$during" link 1)" -le "$(worse $((2 * link)) 1000000)" ]
tap_time "99 of 100 link requests, $(of "$during" link 2) us, are within 2x of $link99 us or below 1 s" \
	[ "$(of "$during" link 2)" -le "$(worse $((2 * link99)) 1000000)" ]
slowest=$(worse "$(of "$first" link 3)" "$(of "$second" link 3)")
tap_time "the slowest link request, $(of "$during" link 3) us, is within 2x of $slowest us or below 1 s" \
	[ "$(of "$during" link 3)" -le "$(worse $((2 * slowest)) 1000000)" ]
# a quarter of what all may have: freed memory is not charged before it is back
tap_ok "memory that no cgroup was charged: $(of "$during" escaped 1) KiB" \
	[ "$(of "$during" escaped 1)" -lt $((users * limit / 4 / 1024)) ]

# --- the users are gone: everything comes back
back() {
	[ "$(mem MemAvailable)" -ge $((before_available - 16384)) ] &&
		[ "$(mem SUnreclaim)" -le $((before_slab + 8192)) ] &&
		[ "$(mem VmallocUsed)" -le $((before_vmalloc + 2048)) ] &&
		[ "$(mem Percpu)" -le $((before_percpu + 1024)) ]
}
# left: say what is still there, and which tasks may be in the way
left() {
	local p

	echo "# available $before_available $(mem MemAvailable) slab $before_slab $(mem SUnreclaim)" \
	     "vmalloc $before_vmalloc $(mem VmallocUsed) percpu $before_percpu $(mem Percpu)"
	awk '{ n[$3] += $2 } END { for (i in n) if (n[i] > 500000) print "# vmalloc", n[i], i }' /proc/vmallocinfo
	grep -H . /proc/sys/net/packetway/nr_* "$top/memory.current" "$top"/*/cgroup.procs | sed 's/^/# /'
	awk '$2 && /^(net_namespace|PACKET|UNIX|sock_inode|skbuff|pw_|packetway)/ { print "# slab", $1, $2 }' /proc/slabinfo
	find /sys/kernel/debug/packetway -mindepth 1 -maxdepth 2 2>/dev/null | sed 's/^/# /'
	for p in /proc/[0-9]*; do
		grep -qE 'packetway|cleanup_net|rtnl|synchronize_rcu|flush_work' "$p/stack" 2>/dev/null || continue
		echo "# ${p#/proc/} $(cat "$p/comm") $(grep State "$p/status")"
		sed 's/^/#     /' "$p/stack"
	done
}
tap_ok "memory is where it was" slowwait 300 back ||
	left
tap_is "no station, SAN or file is left here" "$(cut -f1 /proc/sys/net/packetway/nr_{sans,stations,files} | tr '\n' ' ')" "1 1 0 "
tap_done
