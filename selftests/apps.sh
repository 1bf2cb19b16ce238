#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The applications in tools/examples: 4 and 8 processes on a ring of 8 stations print what the same
# program prints for the same seed with --sequential.

. "$(dirname "$0")/lib.sh"
pw_need pwctl jq
bin=${PW_BUILD:-$PW_SELFTESTS/../build}/examples
[ -x "$bin/work" ] || pw_skip "the examples are not built"
out=$(mktemp -d)

# start PROGRAM N SEED: on s1 to sN, output in $out/1 to $out/N, that of the sequential run beside it
start() {
	local k pids=() bad=0

	rm -f "$out"/*
	for ((k = 1; k <= $2; k++)); do
		timeout 400 pwctl lab exec s$k "$bin/$1" pw0 "$2" "$3" >"$out/$k" 2>&1 &
		pids+=($!)
	done
	for k in "${pids[@]}"; do wait "$k" || bad=1; done
	"$bin/$1" --sequential "$3" >"$out/sequential" || bad=1
	[ -s "$out/sequential" ] || bad=1
	tap_result $bad "$1: $2 processes, seed $3: all end well" || tail -n 40 "$out"/* | sed 's/^/# /'
}

# each PROGRAM N SEED: every process prints the sequential result
each() {
	local k bad=0

	start "$@"
	for ((k = 1; k <= $2; k++)); do
		grep -v '^#' "$out/$k" | cmp -s - "$out/sequential" || bad=1
	done
	tap_result $bad "$1: $2 processes, seed $3: each has the sequential result" ||
		tail -n 40 "$out"/* | sed 's/^/# /'
}

# together PROGRAM N SEED: all of them together do
together() {
	start "$@"
	tap_is "$1: $2 processes, seed $3: together they have the sequential result" \
		"$(cat "$out"/[1-8] | grep -v '^#' | sort)" "$(sort "$out/sequential")"
}

# total TEXT: sum of the numbers that follow TEXT in all outputs
total() { cat "$out"/* | sed -n "s/^#.*$1 \([0-9]*\).*/\1/p" | awk '{ n += $1 } END { print n + 0 }'; }

# cases: lines "N SEED"; in a soak each seed with both numbers of processes
cases() { [ -n "${PW_LONG:-}" ] && printf '%s\n' {4,8}" "{1,2,3} || printf '%s\n' "4 1" "8 2" "4 3"; }

# seeds_differ PROGRAM: is there more than one result to compare with?
seeds_differ() {
	tap_is "$1: seeds differ" \
		"$(for s in 1 2 3; do "$bin/$1" --sequential $s | cksum; done | sort -u | wc -l)" 3
}

tap_ok "lab" pwctl lab up "$PW_SELFTESTS/../Documentation/labs/ring8.yaml"

gave=0
while read -r n seed; do
	each work "$n" "$seed"
	gave=$((gave + $(total gave)))
	tap_is "work: tasks are given as often as received" "$(total gave)" "$(total 'received tasks')"
done < <(cases)
# whether they are in one run depends on who is scheduled
tap_ok "work: tasks were given away" test $gave -gt 0
seeds_differ work

# s4 expects one more and stays at the first meeting; the others come to the second, and wait
meetings() { [ "$(pwctl lab exec s5 pwctl -j aton add reg 15 region 0xe80000 | jq '.[0].value')" = 7 ]; }
rm -f "$out"/*
for k in 1 2 3; do
	timeout 400 pwctl lab exec s$k "$bin/work" pw0 4 1 >"$out/$k" 2>&1 &
done
pwctl lab exec s4 "$bin/work" pw0 5 1 >"$out/4" 2>&1 &
fourth=$!
tap_ok "work: three processes wait for the fourth" busywait 60000 meetings
tap_not "another program is refused meanwhile" pwctl lab exec s5 "$bin/find" pw0 1 1
kill -9 $fourth
wait $fourth 2>/dev/null
wait
tap_is "work: the others end when it is gone" "$(cat "$out"/[123])" \
	"$(for k in 1 2 3; do echo 'work: a process has left'; done)"

back=0 anti=0 kept=0 committed=0
while read -r n seed; do
	each gvt "$n" "$seed"
	tap_is "gvt: every committed event is counted once" "$(total committed)" \
		"$(sed 's/events \([0-9]*\).*/\1/' "$out/sequential")"
	back=$((back + $(total rollbacks))) anti=$((anti + $(total anti-messages)))
	kept=$((kept + $(total 'most kept'))) committed=$((committed + $(total committed)))
done < <(cases)
# whether they are in one run depends on who is scheduled
tap_ok "gvt: rolled back" test $back -gt 0
tap_ok "gvt: with anti-messages" test $anti -gt 0
# else each process would keep at least as many as it commits
tap_ok "gvt: saved states are freed" test $kept -lt $committed
seeds_differ gvt

while read -r n seed; do
	together query "$n" "$seed"
	tap_is "query: $n processes asked" "$(grep -l '^query' "$out"/[1-8] | wc -l)" "$n"
done < <(cases)
seeds_differ query

while read -r n seed; do
	together find "$n" "$seed"
	tap_is "find: each resource is taken once" \
		"$(sed -n 's/.*resource \([0-9]*\).*/\1/p' "$out"/[1-8] | sort -n | tr '\n' ' ')" \
		"$(seq 0 47 | tr '\n' ' ')"
	tap_ok "find: all but one are refused what all claim" test "$(total refused)" -ge $((n - 1))
done < <(cases)
seeds_differ find

tap_ok "down" pwctl lab down
rm -rf "$out"
tap_done
