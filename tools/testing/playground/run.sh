#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: the page with the ring as WebAssembly: it is built, computes what pwmodel
# computes in as many bit times, and survives every fault. With PW_LONG and a Chromium, the
# page itself; PW_CHROMIUM names it.

top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
build=${1:-$top/build}
# shellcheck source=../../../scripts/lib/tap
. "$top/scripts/lib/tap"
for tool in clang wasm-ld node; do
	command -v $tool >/dev/null || { echo "1..0 # SKIP no $tool here"; exit 4; }
done
[ -d /usr/include/wasm32-wasi ] || { echo "1..0 # SKIP no wasi-libc here"; exit 4; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
make -s -C "$top/tools" O="$build" playground >"$tmp/log" 2>&1
tap_result $? "the page is built" "$tmp/log"
tap_is "without a warning" "$(cat "$tmp/log")" ""
node "$top/tools/testing/playground/check.js" "$build/playground.html" "$build/pwmodel" >"$tmp/out" 2>&1
tap_is "the script ends" $? 0
while read -r verdict what; do
	case $verdict in
	ok) tap_result 0 "$what" ;;
	not) tap_result 1 "$what" ;;
	*) echo "# $verdict $what" ;;
	esac
done <"$tmp/out"
chromium=${PW_CHROMIUM:-$(command -v chromium)}
if [ -n "${PW_LONG:-}" ] && [ -n "$chromium" ]; then
	flags=(--headless --no-sandbox --disable-gpu --enable-logging=stderr --user-data-dir="$tmp/profile")
	"$chromium" "${flags[@]}" --dump-dom "file://$build/playground.html#still" >"$tmp/dom" 2>"$tmp/err"
	tap_ok "Chromium: 1,000 interfaces add" grep -q 'id="said"[^>]*class="good">add: ' "$tmp/dom"
	tap_is "Chromium: nothing on the console" "$(grep -c CONSOLE "$tmp/err")" 0
	shots=${PW_OUT:-$build/results/playground}
	mkdir -p "$shots"
	"$chromium" "${flags[@]}" --window-size=1280,900 --screenshot="$shots/playground.png" "file://$build/playground.html#still" 2>/dev/null
	tap_ok "a picture of it" test -s "$shots/playground.png"
else
	tap_skip "Chromium shows the page" "in soaks, where there is one"
fi
tap_done
