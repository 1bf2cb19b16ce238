#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# TAP test of the dissector with the real tshark: what it prints for every message in
# cases/ is compared with golden/, where a person has checked it.
#   usage: run.sh [--update]     --update writes golden/ anew; read the difference!
set -u

here=$(cd "$(dirname "$0")" && pwd)
script=${DISSECTOR:-$here/../../wireshark/packetway.lua}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
HOME=$tmp XDG_CONFIG_HOME=$tmp TZ=UTC LC_ALL=C.UTF-8
export HOME XDG_CONFIG_HOME TZ LC_ALL
# shellcheck source=SCRIPTDIR/../../../scripts/lib/tap
. "$here/../../../scripts/lib/tap"

if ! command -v tshark >/dev/null; then
	echo "1..0 # SKIP tshark is not installed"
	exit 4
fi

# of the trunks in cases/trunk.hex
key=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f

run() {		# tshark options
	tshark -n -X "lua_script:$script" -o "pwtrunk.keys:$key" "$@" 2>"$tmp/stderr"
}

# the Nth message of a golden text: from "== title" to the next one
section() {	# number, file
	awk -v n="$1" '/^== /{ i++ } i == n' "$2"
}

# ---- the names are ours alone
tshark -G fields 2>/dev/null | cut -f 3 | sort >"$tmp/stock"
tshark -G fields -X "lua_script:$script" 2>/dev/null | cut -f 3 | sort >"$tmp/all"
for p in pw pweep pwrrp pwesp pwpoets pwaton pwbmx pwtrunk; do
	grep -q "^$p$" "$tmp/stock"
	[ $? -eq 1 ] && grep -qx "$p" "$tmp/all" && grep -q "^$p\\." "$tmp/all"
	tap_result $? "protocol $p is there and was free"
done
# a name of another dissector is shared silently: look at the script itself
sed -n 's/.*Proto\(Field\|Expert\)\.[a-z0-9]*("\(pw[a-z0-9_.]*[a-z0-9]\)".*/\2/p' "$script" | sort >"$tmp/ours"
{ uniq -d "$tmp/ours"; sort -u "$tmp/ours" | comm -12 "$tmp/stock" -; } >"$tmp/taken"
[ -s "$tmp/ours" ] && [ ! -s "$tmp/taken" ]
tap_result $? "no field name is taken"
sed 's/^/# /' "$tmp/taken"

# ---- what is printed
for cases in "$here"/cases/*.hex; do
	name=$(basename "$cases" .hex)
	golden=$here/golden/$name.txt
	python3 "$here/mkpcap.py" "$cases" "$tmp/$name.pcap" || exit 1
	python3 "$here/mkpcap.py" --titles "$cases" >"$tmp/titles"
	run -r "$tmp/$name.pcap" -P -V -O pw,pweep,pwrrp,pwesp,pwpoets,pwaton,pwbmx,pwtrunk \
		-o 'gui.column.format:"S","%s","D","%d","P","%p","I","%i"' |
		sed '/^Frame [0-9]*: /d;/^ *\[Severity level: /d;/^ *\[Group: /d;s/ *$//' |
		awk -v titles="$tmp/titles" 'BEGIN {
			while ((getline line <titles) > 0)
				title[++n] = line
			RS = ""
		} {
			sub(/^ */, "")
			print (NR > 1 ? "\n" : "") "== " title[NR] "\n" $0
		}' >"$tmp/$name.txt"
	if [ "${1-}" = --update ]; then
		cp "$tmp/$name.txt" "$golden"
	fi
	[ "$(grep -c '^== ' "$tmp/$name.txt")" -eq "$(wc -l <"$tmp/titles")" ]
	tap_result $? "$name: every message is shown"
	n=0
	while read -r title; do
		n=$((n + 1))
		section $n "$golden" >"$tmp/want"
		section $n "$tmp/$name.txt" >"$tmp/got"
		[ -s "$tmp/want" ] && diff -u "$tmp/want" "$tmp/got" >"$tmp/diff"
		tap_result $? "$name: $title"
		[ -s "$tmp/want" ] || echo "# there is no golden text for it"
		[ -s "$tmp/diff" ] && sed 1,2d "$tmp/diff" | sed 's/^/# /'
	done <"$tmp/titles"
done

# ---- filters: file, filter, numbers of the messages that match
while read -r name want filter; do
	got=$(run -r "$tmp/$name.pcap" -Y "$filter" -T fields -e frame.number | tr '\n' ',')
	[ "$got" = "$want," ]
	tap_result $? "$name: $filter"
	[ "$got" = "$want," ] || { echo "# got $got"; sed 's/^/# /' "$tmp/stderr"; }
done <"$here/filters"

# ---- whatever the bytes: cut and changed messages give notes, never an error of the script
sed -n 's/^link //p' "$here"/cases/*.hex | sort -nu >"$tmp/links"
while read -r link; do
	# shellcheck disable=SC2046 # names have no blanks
	n=$(python3 "$here/mkpcap.py" --mutate 1 $(grep -lx "link $link" "$here"/cases/*.hex) "$tmp/bad.pcap") || exit 1
	run -r "$tmp/bad.pcap" -V -O pw,pweep,pwrrp,pwesp,pwpoets,pwaton,pwbmx,pwtrunk >"$tmp/bad.txt"
	status=$?
	seen=$(grep -c '^Frame [0-9]*: ' "$tmp/bad.txt")
	! grep -q 'Lua Error\|Dissector bug' "$tmp/bad.txt" "$tmp/stderr" &&
		[ "$status" -eq 0 ] && [ "$seen" -eq "$n" ]
	tap_result $? "link type $link: $n cut and changed messages"
	grep -h 'Lua Error\|Dissector bug' "$tmp/bad.txt" "$tmp/stderr" | sort | uniq -c | sed 's/^/# /' | head -n 20
done <"$tmp/links"

tap_done
