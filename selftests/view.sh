#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Pages of a lab: what `pwctl view LAB` writes and what `pwctl view --live LAB` streams, how
# the server is bounded, and that nothing is left. The page itself: tools/testing/view.

. "$(dirname "$0")/lib.sh"
pw_need python3 pwctl
python="$PW_SELFTESTS/../scripts/lib/python"
tmp=$(mktemp -d)
cat >"$tmp/ring.yaml" <<-EOS
	lab: ring
	sans: [{id: 0, engine: fast}, {id: 1, engine: none}]
	routers: [ab san 0:15 san 1:15]
	stations:
	  - {name: a, san: 0, port: 0, operand: 3}
	  - {name: b, san: 0, port: 4, operand: 1}
	  - {name: c, san: 0, port: 2, operand: 4}
	  - {name: d, san: 1, operand: 5}
EOS
pwctl lab up "$tmp/ring.yaml" timeout 120000 || exit 1
"$python" json "$PW_SELFTESTS/view_live.py" "$tmp"
status=$?
pwctl lab down ring 2>/dev/null
rm -rf "$tmp"
exit $status
