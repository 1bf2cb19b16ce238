#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Run on the host: how long the module keeps BH off and holds RTNL at its limits, in a guest
# that counts instructions. bench_latency.sh has more loads.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
. "$top/scripts/lib/common"
# shellcheck source=../scripts/lib/tap
. "$top/scripts/lib/tap"
out=$(mktemp "${TMPDIR:-/tmp}/pwlatency.XXXXXX") || exit 1
trap 'rm -f "$out"' EXIT

make -s -C "$top/selftests" O="$build" all >/dev/null || exit 1
"$top/scripts/pkg/build-module" -q 6.12 >/dev/null || exit 1
"$top/scripts/vm" --kernel 6.12 --icount --timeout 3000 -- "$top/selftests/bench_latency.sh" test >"$out" 2>&1 </dev/null
status=$?
sed 's/^/# /' "$out"
# longest NAME WHAT: the figure, 0 if there is none
longest() { awk -v name="$1" -v what="$2" 'index($0, name ": " what " ") == 1 { n = $(NF - 1) } END { print n + 0 }' "$out"; }
tap_is "each load is within its bounds" $status 0
tap_is "no event was lost" "$(grep -c 'events were lost' "$out")" 0
# what was measured is the load, not an idle machine
tap_ok "a round of 256 members: BH off for at least 10^5 instructions" [ "$(longest '256 none round 64 2' poll)" -gt 100000 ]
tap_ok "16 SANs in lockstep, a broadcast in each: polls of at least 5 * 10^4" [ "$(longest '256 fast lockstep 64 1' poll)" -gt 50000 ]
tap_ok "127 stations that wait behind one: polls of at least 5 * 10^4" [ "$(longest 'mesh:4x4x4x4 fast blocked 64 2 300' poll)" -gt 50000 ]
tap_ok "2304 input units in rtl: polls of at least 5 * 10^4" [ "$(longest 'mesh:4x4x4x4 rtl ring 64 1 300' poll)" -gt 50000 ]
tap_ok "2304 input units in fast: RTNL was held" [ "$(longest 'mesh:4x4x4x4 fast idle 64 1 300' rtnl)" -gt 10000 ]
tap_done
