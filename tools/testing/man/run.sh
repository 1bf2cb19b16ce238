#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: man pages are clean, name each other rightly, and pwctl(8) has
# every verb that pwctl knows.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
build=${1:-$top/build}
# shellcheck source=SCRIPTDIR/../../../scripts/lib/tap
. "$top/scripts/lib/tap"

cd "$top/tools/man" || exit 1
export LC_ALL=C.UTF-8 MANWIDTH=100 MANROFFOPT=''
for f in *.[0-9]; do
	out=$(man --warnings -E UTF-8 -l "$f" 2>&1 >/dev/null)
	tap_result "$([ -z "$out" ]; echo $?)" "man -l $f is clean"
	[ -z "$out" ] || printf '%s\n' "$out" | sed 's/^/# /'
	# shellcheck disable=SC2013
	for ref in $(sed -n 's/^\.BR \([a-z]*\)\\\{0,1\}[a-z-]* (\([0-9]\)).*/\1.\2/p' "$f"); do
		case $ref in
		pwctl.*|packetway.*|libpacketway.*|libpwatm.*|libpwcore.*|pwmodel.*|pwrun.*) tap_result "$([ -e "$ref" ]; echo $?)" "$f refers to $ref" ;;
		esac
	done
done
page=$(man -E UTF-8 -l pwctl.8 2>/dev/null | col -b)
for group in '' san station router route name aton esp experiment fault lab; do
	for verb in $("$build/pwctl" help $group | awk -v n=$((2 + ${#group} / (${#group} > 0 ? ${#group} : 1))) '$1 == "pwctl" { print $n }'); do
		[ "$group$verb" != help ] || continue
		tap_result "$(printf '%s' "$page" | tr '\n' ' ' | grep -qw -- "$verb"; echo $?)" "pwctl(8) has $group $verb"
	done
done
# pwmodel: each command has a help text, and its options are those of the page
page=$(man -E UTF-8 -l pwmodel.1 2>/dev/null | col -b | tr -s '\n ' '  ')
mapfile -t words < <("$build/pwmodel" help | sed -n 's/^  \([a-z]*\) .*/\1/p')
for w in "${words[@]}"; do
	text=$("$build/pwmodel" "$w" --help)
	tap_result "$([[ $? = 0 && $text = "Usage: pwmodel $w "* ]]; echo $?)" "pwmodel $w --help"
	for o in "$w" $(grep -oE -- '--[a-z]+' <<<"$text" | sort -u); do
		tap_result "$(grep -qw -- "$o" <<<"$page"; echo $?)" "pwmodel(1) has $w $o"
	done
done
tap_result "$([ ${#words[@]} -ge 7 ]; echo $?)" "pwmodel help lists its commands"
# the device: every command and error of the header; the overview: every tracepoint
uapi=$top/uapi/linux/packetway.h
mapfile -t words < <(sed -n 's/^#define \(PACKETWAY_IOC_[A-Z_]*\)[[:space:]]*_IO(.*/\1/p; s/^ \*   \(E[A-Z0-9]*\)[[:space:]].*/\1/p' "$uapi")
for w in "${words[@]}"; do
	tap_ok "packetway(4) has $w" grep -qw "$w" packetway.4
done
mapfile -t words < <(sed -n 's/^\(TRACE_EVENT\|DEFINE_EVENT\)([a-z_, ]*\<\(pw_[a-z_]*\),.*/\2/p' "$top/drivers/net/packetway/pw_trace.h" | sort -u)
for w in "${words[@]}"; do
	tap_ok "packetway(7) has $w" grep -qw "$w" packetway.7
done
mapfile -t words < <(sed -n 's/.*\(pwl_[a-z_]*\)(.*/\1/p' "$top/tools/man/libpacketway.3" | sort -u)
for f in "${words[@]}"; do
	grep -qw "$f" "$top/tools/lib/packetway.h" || tap_result 1 "$f of libpacketway(3) is in the header"
done
tap_result 0 "functions of libpacketway(3) are in the header"
for f in $(sed -n '/^.SH SYNOPSIS/,/^.SH DESC/p' libpwcore.3 | grep -oE '\<pw_[a-z_]+\(' | tr -d '('); do
	tap_ok "$f of libpwcore(3) is in a header" grep -qwr --include='*.h' "$f" "$top/drivers/net/packetway/core"
done
# libpwatm: functions of header and page are the same, limits too, and the example builds
atm=$top/tools/libpwatm/pwatm.h
functions() { grep -oE '\<atm_[a-z_]+\(' | sort -u; }
tap_is "libpwatm(3) has the functions of the header" "$(sed -n '/^.SH SYNOPSIS/,/^.SH DESC/p' libpwatm.3 | functions)" \
	"$(grep -v '^ \*' "$atm" | functions)"
while read -r name value; do
	tap_result "$(grep -A 1 -w -- "$name" libpwatm.3 | grep -qw -- "$value"; echo $?)" "libpwatm(3) has $name $value"
done < <(sed -n 's/^#define \(ATM_[A-Z]*_MAX\)[[:space:]]*\([0-9]*\).*/\1 \2/p' "$atm")
for p in "$top"/tools/libpwatm/pw[^a]*.c; do
	p=${p##*/}
	tap_result "$(grep -qE "\"?${p%.c} " libpwatm.3; echo $?)" "libpwatm(3) has ${p%.c}"
done
man -E UTF-8 -l libpwatm.3 2>/dev/null | col -b | sed -n '/^EXAMPLES/,/^SEE ALSO/{//!p}' >"${TMPDIR:-/tmp}/pwatm-$$.c"
out=$(gcc -Wall -Werror -I"$top/tools/libpwatm" -o /dev/null "${TMPDIR:-/tmp}/pwatm-$$.c" "$build/libpwatm.a" 2>&1)
tap_result $? "the example of libpwatm(3) builds" || printf '%s\n' "$out" | sed 's/^/# /'
rm -f "${TMPDIR:-/tmp}/pwatm-$$.c"
tap_done
