#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# esp_tree.sh DIRECTORY <OUTPUT: draw what selftests/esp_tree_test printed, with gnuplot:
#
#	scripts/vm --kernel 6.12 -- build/selftests/esp_tree_test |
#		tools/experiments/esp_tree.sh Documentation/networking/figures

set -eu
dir=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
sed -n 's/^# csv //p' | tr , ' ' >"$tmp/all"

# rows TABLE SERIES COLUMN...: a file with these columns of a series
rows() {
	awk -v t="$1" -v s="$2" '$1 == t && $2 == s { print $3, $'"$3"' }' "$tmp/all" >"$tmp/$1-$2"
}
# plot FILE TITLE X Y RANGE TABLE COLUMN SERIES=NAME...
plot() {
	local file=$1 title=$2 x=$3 y=$4 range=$5 table=$6 column=$7 lines='' s

	shift 7
	for s; do
		rows "$table" "${s%%=*}" "$column"
		lines="$lines${lines:+, }'$tmp/$table-${s%%=*}' with linespoints linewidth 2 title '${s#*=}'"
	done
	gnuplot <<-END
		set terminal svg size 640,400 font 'sans,12'
		set output '$dir/$file.svg'
		set title '$title'
		set xlabel '$x'
		set ylabel '$y'
		set yrange $range
		set grid
		set key top left
		plot $lines
	END
}
plot packetway-esp-nack 'Complaints of one lost packet' 'stations on seven SANs' 'packets at the source' '[0:60]' \
	nack 5 'plain=without ESP' 'esp=COMPARE, all miss the same' 'esp-differ=COMPARE, they miss different ones'
plot packetway-esp-census 'A sum over all stations, or a census' 'stations on seven SANs' 'packets on a trunk' '[0:26]' \
	sum 4 'plain=without ESP' 'esp=RCHLD, RCOLLECT' 'esp4=the same, four of each' 'rings=scope tree'
plot packetway-esp-topology 'Which half-routers of a SAN lead to stations' 'stations on seven SANs' 'packets at one station of each SAN' \
	'[0:400]' topology 4 'plain=without ESP' 'esp=RCHLD that routers execute'
plot packetway-esp-bottleneck 'Which SAN on a way is the slowest' 'SANs on the way' 'packets, both ways' '[0:14]' \
	bottleneck 4 'plain=without ESP: two echoes to each SAN' 'esp=COUNT, COLLECT of the rate'
plot packetway-esp-loss 'Sums over 56 stations while trunks lose packets' 'packets lost on trunks, %' 'right results of 40' '[0:50]' \
	loss 5 'plain=without ESP' 'esp=RCHLD, RCOLLECT' 'esp4=the same, four of each' 'rings=scope tree'
