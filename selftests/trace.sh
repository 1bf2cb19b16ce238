#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The one-liners of Documentation/networking/packetway-tracing.rst, taken from the page
# itself: each must run and show something. And every tracepoint that can fire here does.

. "$(dirname "$0")/lib.sh"
pw_need pwctl trace-cmd
page=$PW_TOP/Documentation/networking/packetway-tracing.rst
T=/sys/kernel/tracing
ip link set pw0 up
pwctl station add pw1 up
pwctl san set 0 engine fast
tmp=$(mktemp -d)
: >"$tmp/turns"
# what the lines look at goes on in the background
(
	while [ -d "$tmp" ]; do
		pwctl ping 9 count 1 timeout 100 dev pw1
		pwctl ping 2 count 1 timeout 1000 dev pw0
		pwctl aton add dev pw1
		echo >>"$tmp/turns"
		sleep 0.3	# the lines themselves want the CPU, too
	done
) >/dev/null 2>&1 &
load=$!
trap 'rm -rf "$tmp"; wait $load' EXIT

# tried LINE WANT: did it run, and what did it print? Ten minutes are a hang
tried() {
	local what=$1 want=$2

	timeout -s INT 600 bash -c "$what" >"$tmp/out" 2>&1 </dev/null
	grep -qE -- "$want" "$tmp/out"
	tap_result $? "$what" || head -n 15 "$tmp/out" | sed 's/^/# /'
}
# bpftraced LINE: a line that goes on until it is interrupted, and tells then
bpftraced() {
	local start=$SECONDS _

	# in the background a shell makes its children deaf to SIGINT; not this one
	setsid bash -c "exec $1" >"$tmp/out" 2>&1 </dev/null &
	busywait 240000 grep -q '^Attaching' "$tmp/out"
	echo "# ready after $((SECONDS - start)) s"
	# it says so before it does; then the load must pass some times
	sleep 3
	busywait 120000 eval "[ \$(wc -l <'$tmp/turns') -ge $(($(wc -l <"$tmp/turns") + 5)) ]"
	pkill -INT -g $! 2>/dev/null || pkill -INT -x bpftrace
	for _ in $(seq 300); do
		pgrep -x bpftrace >/dev/null || break
		sleep 0.2
	done
	pkill -KILL -x bpftrace
	grep -q '^@' "$tmp/out"
	tap_result $? "$1" "$tmp/out"
}
perf=
for p in "perf" "perf_$(uname -r | cut -d . -f 1-2)" /usr/bin/perf_*; do
	if command -v "$p" >/dev/null && "$p" list packetway:pw_drop 2>/dev/null | grep -q pw_drop; then
		perf=$p
		break
	fi
done
lines=0
while IFS= read -r line; do
	lines=$((lines + 1))
	case $line in
	pwctl*) tried "$line" . ;;
	echo*) tried "$line; echo done" '^done$' ;;
	head*) tried "$line" pw_aton_command ;;
	cat*) sleep 1; tried "$line" 'hitcount: +[1-9]' ;;
	perf*)
		if [ -z "$perf" ]; then
			tap_skip "$line" "no perf for this kernel"
			continue
		fi
		case $line in
		perf\ stat*) want='[1-9][0-9]* +packetway:pw_token' ;;
		perf\ record*) line="$line; echo done" want='^done$' ;;
		*) want='packetway:pw_(deliver|cell|token)' ;;
		esac
		tried "${line/#perf/$perf}" "$want" ;;
	trace-cmd\ record*) tried "$line; echo done" '^done$' ;;
	trace-cmd\ report*2.dat) tried "$line; echo done" '^done$' ;;
	trace-cmd\ report*) tried "$line" 'pw_deliver' ;;
	bpftrace*)
		# its compiler takes most of a minute for each under emulation
		if [ -z "${PW_LONG:-}" ]; then
			tap_skip "$line" "in soaks only"
			continue
		fi
		bpftraced "$line" ;;
	*) tap_result 1 "the page has a line that this test does not know: $line" ;;
	esac
done < <(sed -n 's/^\t//p' "$page")
tap_ok "the page has lines" test $lines -gt 15

# every tracepoint exists, and these have fired
for e in pw_token pw_aton_command pw_cell pw_deliver pw_forward pw_drop pw_half_drop pw_esp pw_poets; do
	tap_ok "$e exists" test -d $T/events/packetway/$e
done

# A clock or a capture that comes switches a key that patches code on every CPU, and the key stays
# on for ten seconds after the last one. So ten in a row switch it once on a fast machine, and on
# any machine twice in ten seconds at most. Other keys of the kernel are switched meanwhile, too.
switched() {
	local begin=$SECONDS what=$1 most took

	shift
	echo 1 >"$T/tracing_on"
	: >"$T/trace"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		"$@" || return 1
	done
	took=$((SECONDS - begin))
	most=$(sed -n 's/.*pw_key:.* key=//p' "$T/trace" | sort | uniq -c | sort -rn | awk 'NR == 1 { print $1 }')
	echo "# $what: a key was switched ${most:-0} times in ten turns of $took s"
	[ "${most:-0}" -le $((2 + 2 * (took / 10))) ]
}
clock_turn() {
	pwctl san add 77 ports 16 engine fast clock lockstep && pwctl san del 77
}
mon_turn() {
	ip link add pwm77 type pwmon && ip link set pwm77 up && ip link del pwm77
}
# shellcheck disable=SC2016 # an argument of the function in the kernel
if echo 'p:pw_key jump_label_update key=$arg1' >>$T/kprobe_events 2>/dev/null &&
	echo 1 >$T/events/kprobes/pw_key/enable; then
	tap_ok "clocks that come and go seldom switch keys" switched clocks clock_turn
	tap_ok "captures that come and go seldom switch keys" switched captures mon_turn
	echo 0 >$T/events/kprobes/pw_key/enable
	echo '-:pw_key' >>$T/kprobe_events
else
	tap_skip "keys that are seldom switched" "this kernel has no kprobe on jump_label_update"
fi
tap_done
