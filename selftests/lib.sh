#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Sourced by every selftest script: the kernel's own net/lib.sh (setup_ns,
# busywait, log_test, ...) from the unpacked kernel source, and a few helpers.
#
#	PW_KSRC		unpacked kernel source (set by scripts/vm)
#	PW_SCALE	percent of the counts that this kernel does (scripts/lib/scale)
#	PW_LONG		set in "make soak": what takes minutes runs as well
#	PW_KERNEL	6.1, 6.12, debug, kcsan; PW_FLAVOUR stock, debug or kcsan
#	PW_KO		the module that is loaded

PW_SELFTESTS=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
: "${PW_SCALE:=100}" "${PW_KERNEL:=$(uname -r)}" "${PW_FLAVOUR:=stock}"
export PW_SELFTESTS PW_SCALE PW_KERNEL PW_FLAVOUR

if [ ! -r "${PW_KSRC:-}/tools/testing/selftests/net/lib.sh" ]; then
	echo "SKIP: no unpacked kernel source; run this through scripts/vm"
	exit 4
fi
# its checks and waits are sized for real machines
case $PW_FLAVOUR in
stock) : "${WAIT_TIMEOUT:=20}" ;;
*) : "${WAIT_TIMEOUT:=80}" ;;
esac
export WAIT_TIMEOUT
# shellcheck disable=SC1091
. "$PW_KSRC/tools/testing/selftests/net/lib.sh"

# jq takes 0.3 s to start in a guest, and gojq, which understands the same, 0.05
if [ ! -x /run/packetway/bin/jq ] && command -v gojq >/dev/null; then
	mkdir -p /run/packetway/bin
	ln -sf "$(command -v gojq)" /run/packetway/bin/jq
fi
PATH=/run/packetway/bin:$PATH

# pw_skip WHY: leave as skipped
pw_skip() {
	echo "1..0 # SKIP $*"
	exit 4
}

# pw_need COMMAND...: skip unless all are there
pw_need() {
	local c

	for c; do
		command -v "$c" >/dev/null || pw_skip "no $c here"
	done
}

# pw_count N [MIN]: PW_SCALE percent of N, at least MIN (1)
pw_count() {
	local n=$(($1 * PW_SCALE / 100)) min=${2:-1}

	echo $((n > min ? n : min))
}

# tap_ok, tap_not, tap_is, ..., for scripts that like them better than log_test
# shellcheck source=SCRIPTDIR/../scripts/lib/tap
. "$PW_SELFTESTS/../scripts/lib/tap"
