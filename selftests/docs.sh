#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every command that a page prints, taken from the page and run as it stands, in the
# order of the page: README, tutorial, labs, reference. What only a host can do (make,
# scripts/vm, pw-ci) is checked to exist. The tracing page has a test of its own, trace.sh,
# the labs one that looks at what they say, lab.sh. All of it in soaks, or with
# PW_LONG=1; else the README, without what takes long to start.

. "$(dirname "$0")/lib.sh"
pw_need pwctl jq python3 tshark mpirun pvmd
cd "$PW_TOP" || exit 1
tmp=$(mktemp -d)
shopt -s extglob
all=${PW_LONG:-}
live=()
declare -A ran

# capture_is_over: has what runs in the background seen what it waits for?
capture_is_over() {
	pwctl lab exec s1 pwctl aton add >/dev/null
	! kill -0 "${live[@]}" 2>/dev/null
}

# quiet COMMAND: is its status 0? It runs in this shell, for what it may set.
quiet() { eval "$1" >"$tmp/out" 2>&1 </dev/null; }

# command TEXT: one command of a page
command_of_page() {
	local text=$1 what=${1%%$'\n'*}

	what=${what%% *([[:blank:]])#*}
	# programs that take long to start: once for all pages
	case $text in
	*pwrun*|*pwctl*capture*)
		if [ -z "$all" ]; then
			tap_skip "$what" "in soaks; see mpi.sh, mon.sh"
			return
		fi
		text=${text%%#*} text=${text#sudo }
		[ -z "${ran[${text// /}]:-}" ] || return
		ran[${text// /}]=1 text=$1 ;;
	esac
	# root has no use for sudo
	text=${text//sudo /}
	case $text in
	make*|scripts/*|tools/ci/*)
		# shellcheck disable=SC2086
		set -- ${text%%#*}
		case $1,${2:-} in
		scripts/*|tools/ci/*) tap_ok "$what" test -x "$1" ;;
		make,|make,KDIR=*) tap_ok "$what" grep -q '^\.DEFAULT_GOAL := module' Makefile ;;
		*) tap_ok "$what" grep -q "^$2:" Makefile ;;
		esac
		return ;;
	insmod*) text="insmod $PW_KO" ;;
	*modinfo*packetway.ko*) text=${text//drivers\/net\/packetway\/packetway.ko/$PW_KO} ;;
	# these run until they are ended
	*' watch '*|*'event pw_deliver') text="timeout -s INT 4 $text; [ \$? = 124 ]" ;;
	*' events &'*|*' top'|*' top lab ring8') text="timeout -s INT 4 ${text%%&*} >/dev/null &" ;;
	*'&'*' #'*|*'&')
		# the page says to wait for it
		quiet "timeout 90 ${text%%&*} >'$tmp/live' 2>&1 & live+=(\$!)"
		tap_ok "$what" busywait 60000 grep -q 'Capture started' "$tmp/live"
		return ;;
	*'pwctl lab down'*)
		if [ ${#live[@]} -gt 0 ]; then
			busywait 60000 capture_is_over
			tap_ok "the capture shows ring packets" grep -q 'ATON.*ADD' "$tmp/live" ||
				sed 's/^/# /' "$tmp/live"
			live=()
		fi ;;
	esac
	# three pings are no better than one
	text=${text//ping -c 3/ping -c 1 -W 10}
	[[ $text != *'pwctl ping'* || $text = *' count '* ]] || text="${text%%#*} count 1"
	quiet "$text"
	tap_result $? "$what" "$tmp/out"
	case $what in
	*'top lab ring8 once'*) sed 's/^/# /' "$tmp/out" ;;
	*pwrun*mpi_check*) tap_ok "and says what was offloaded" grep -qE '^pwmpi: [1-9][0-9]* of [0-9]+ collectives on the ring' "$tmp/out" ;;
	esac
}

page() {
	local commands

	mapfile -d '' -t commands < <(python3 tools/testing/docs/pages.py commands "$1")
	echo "# $1: ${#commands[@]} commands"
	tap_ok "$1 has commands" test ${#commands[@]} -gt 0
	for c in "${commands[@]}"; do
		command_of_page "$c"
	done
}

rmmod packetway
page README.md
ip netns del other
ip link del pw1 2>/dev/null
ip addr flush dev pw0
if [ -z "$all" ]; then
	rm -rf "$tmp"
	tap_done
fi
page Documentation/tutorial.rst
for lab in Documentation/labs/*.rst; do
	page "$lab"
done
# the reference speaks of a SAN 1 with a half-router at port 5, and of pw0
pwctl san add 1
pwctl san add 2
pwctl router add r san 1:5 san 2
ip link set pw0 up
page Documentation/networking/packetway-esp.rst
pwctl router del r
page Documentation/networking/packetway-poets.rst
page Documentation/userspace-api/packetway.rst
page Documentation/networking/packetway-performance.rst
page Documentation/testing.rst
page Documentation/contributing.rst
ip link del pw5
rm -rf "$tmp" reports.csv
tap_done
