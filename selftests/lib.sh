#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Sourced by every selftest script: the kernel's own net/lib.sh (setup_ns,
# busywait, log_test, ...) from the unpacked kernel source, and a few helpers.
#
#	PW_KSRC		unpacked kernel source (set by scripts/vm)
#	PW_SCALE	percent of the usual counts (10 on the debug kernel)
#	PW_SOAK		set in "make soak": full counts
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

# pw_scaled N: N at 100 percent, never less than 1
pw_scaled() {
	local n=$(($1 * PW_SCALE / 100))

	echo $((n > 0 ? n : 1))
}

# pw_count FULL [TEST [DEBUG]]: FULL in a soak; else TEST (default FULL / 10),
# on checking kernels DEBUG (default TEST / 10)
pw_count() {
	local full=$1 test=${2:-$(($1 / 10))} debug

	debug=${3:-$((test / 10))}
	if [ -n "${PW_SOAK:-}" ]; then
		echo "$full"
	elif [ "$PW_FLAVOUR" = stock ]; then
		echo $((test > 0 ? test : 1))
	else
		echo $((debug > 0 ? debug : 1))
	fi
}

# TAP for scripts that like it better than log_test:
#	tap_plan N (or none), tap_ok WHAT COMMAND..., tap_not WHAT COMMAND...,
#	tap_is WHAT GOT WANT, tap_done (at the end: plan line and exit status)
tap_n=0 tap_bad=0
tap_result() {
	tap_n=$((tap_n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_n - $2"
	else
		tap_bad=$((tap_bad + 1))
		echo "not ok $tap_n - $2"
	fi
	return "$1"
}
tap_ok() {
	local what=$1 out status

	shift
	out=$("$@" 2>&1)
	status=$?
	tap_result $((status != 0)) "$what" || {
		echo "# command: $* (status $status)"
		[ -z "$out" ] || printf '%s\n' "$out" | sed 's/^/# /'
		return 1
	}
}
tap_not() {
	local what=$1 out status

	shift
	out=$("$@" 2>&1)
	status=$?
	tap_result $((status == 0)) "$what" || {
		echo "# command: $* (status 0, but it had to be refused)"
		[ -z "$out" ] || printf '%s\n' "$out" | sed 's/^/# /'
		return 1
	}
}
tap_is() {
	[ "$2" = "$3" ]
	tap_result $? "$1" || {
		echo "#      got: $2"
		echo "# expected: $3"
		return 1
	}
}
tap_skip() {
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP ${2:-}"
}
tap_done() {
	echo "1..$tap_n"
	[ $tap_bad = 0 ] && [ $tap_n -gt 0 ]
	exit $?
}
