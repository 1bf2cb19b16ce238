#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tools/examples: one process per station, each station in its own namespaces.

. "$(dirname "$0")/lib.sh"
pw_need pwctl
bin=${PW_BUILD:-$PW_SELFTESTS/../build}/examples
[ -x "$bin/vote" ] || pw_skip "the examples are not built"
out=$(mktemp -d)

# all PROGRAM VALUE...: station k runs PROGRAM with the k-th value; output in $out/k
all() {
	local prog=$1 k=0 pids=() v bad=0

	shift
	rm -f "$out"/*
	for v; do
		k=$((k + 1))
		timeout 100 pwctl lab exec s$k "$bin/$prog" pw0 $# "$v" >"$out/$k" 2>&1 &
		pids+=($!)
	done
	for v in "${pids[@]}"; do wait "$v" || bad=1; done
	[ $bad = 0 ] || sed 's/^/# /' "$out"/*
	return $bad
}

tap_ok "lab" pwctl lab up "$PW_SELFTESTS/../Documentation/labs/ring8.yaml"
all balance 3 1 4 2 5 9 2 6
tap_is "balance: all ends well" $? 0
tap_is "balance: one average everywhere" "$(cat "$out"/* | grep -c 'average 4.00, least loaded 00:00:02 with 1')" 8
tap_is "balance: those above it send work away" "$(cat "$out"/* | grep -c away)" 3

all vote 7 7 3 7 7 7 9 7
tap_is "vote: all ends well" $? 0
tap_is "vote: one result everywhere" "$(cat "$out"/* | sort -u)" "7 wins with 6 of 8"
all vote 1 1 1 1 2 2 2 2
tap_is "vote: half is no majority" "$(cat "$out"/* | sort -u)" "no majority among 8"

all sort 30 10 80 20 70 40 60 50
tap_is "sort: all ends well" $? 0
tap_is "sort: the keys lie in order" \
	"$(for k in 1 2 3 4 5 6 7 8; do sed 's/.*now //' "$out/$k"; done | tr '\n' ' ')" "10 20 30 40 50 60 70 80 "
tap_is "sort: and are in the registers" "$(pwctl lab exec s8 pwctl aton show | grep -c 'operands 80 ')" 1
all mean 0.5 1e300 -3 2 -1e300 7 4 1.5
tap_is "mean: all ends well" $? 0
tap_is "mean: exact, though terms of 1e300 cancel out" "$(cat "$out"/*)" "8 values from -1e+300 to 1e+300, mean 1.5"
tap_is "mean: no lease is left" "$(ip netns exec ring8 cut -f 1 /proc/sys/net/packetway/nr_leases)" 0
tap_ok "down" pwctl lab down
rm -rf "$out"
tap_done
