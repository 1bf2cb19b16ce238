#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: what pwctl says without the module: the nearest word for an unknown one,
# examples in the help of each verb, colours, doctor.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
PATH=${1:-$top/build}:$PATH
# shellcheck source=SCRIPTDIR/../../../scripts/lib/tap
. "$top/scripts/lib/tap"

tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
says() { { pwctl "$@" >/dev/null; } 2>&1; }

# the nearest word: left out, too much, exchanged, swapped; several; none
tap_is "a verb" "$(says statoin show)" "pwctl: unknown command 'statoin' (did you mean 'station'?), see 'pwctl help'"
tap_is "two that are equally near" "$(says sand)" \
	"pwctl: unknown command 'sand' (did you mean 'san' or 'send'?), see 'pwctl help'"
tap_is "a verb of a group" "$(says aton majorty)" \
	"pwctl: aton: unknown command 'majorty' (did you mean 'majority'?), see 'pwctl aton help'"
tap_is "of help" "$(says help rotuer)" "pwctl: unknown command 'rotuer' (did you mean 'router'?), see 'pwctl help'"
tap_is "a key" "$(says san add 3 prots 4)" \
	"pwctl: san add: unknown key 'prots' (did you mean 'ports'?), see 'pwctl san help'"
tap_is "a value" "$(says san add 3 engine fats)" \
	"pwctl: engine: 'fats' is not one of none|fast|rtl|ring (did you mean 'fast'?), see 'pwctl san help'"
tap_is "an option" "$(says --jsn san show)" "pwctl: unknown option '--jsn' (did you mean '--json'?), see 'pwctl help'"
# each parameter of the fabric in each place: words of a SAN, keys of a lab and of a sweep, rows of the page
dir=$(mktemp -d)
trap 'rm -rf "$tmp" "$dir"' EXIT
page=$top/Documentation/networking/packetway-models.rst
# lab KEY VALUE: what is said of a lab with it; the next line is wrong, so that none is made
lab() {
	printf 'sans: [{id: 0, ports: 16, %s: %s}]\nname: a b\n' "$1" "$2" >"$dir/lab.yaml"
	says lab up "$dir/lab.yaml" | grep -o 'lab.yaml:[0-9]*: .*'
}
taken=$(lab rate 1)
# sweep KEY VALUE MACHINE: what is said of a sweep with it, and the status
sweep() {
	printf 'name: s\nmachine: %s\nparameters: {%s: %s}\nload: [0.1, 0.2]\nseeds: 1\ncycles: 1000\n' "$3" "$1" "$2" >"$dir/s.yaml"
	(cd "$dir" && says experiment sweep s.yaml; echo $?) | tail -n 2 | tr '\n' ' '
}
pwmodel fabric --help | sed -n 's/^  --\([a-z-]* .*\.\..*\)/\1/p' >"$dir/table"
tap_is "parameters" "$(wc -l <"$dir/table")" 17
while read -r name unit range published device; do
	max=${range#*..} machine=device value=$device default=$device
	case $name:$device in
	k:*) module="from ports" value='' why="k: 'ports' or 'topology' of a SAN determines it" ;;
	*:-) module="the device has none" machine=published value='' default=$published why="$name: the machine 'device' has no such parameter" ;;
	*) module=$name why="$name: '$((max + 1))' is not $range $unit" ;;
	esac
	[ -z "$value" ] || tap_ok "$name: a word of a SAN" grep -q "\[$name " <(pwctl san add --help)
	tap_is "$name: a lab refuses it" "$(lab "$name" $((max + 1)))" "lab.yaml:1: $why"
	[ -z "$value" ] || tap_is "$name: and takes $value" "$(lab "$name" "$value")" "$taken"
	tap_is "$name: a sweep refuses it" "$(sweep "$name" $((max + 1)) $machine)" "pwctl: s.yaml:3: $name: '$((max + 1))' is not $range 1 "
	tap_is "$name: and takes $default" "$(sweep "$name" "$default" $machine)" "0 "
	# name, module, pwmodel, lab, sweep
	row=$(grep -m 1 "^$name  " "$page" | sed 's/``//g; s/  */ /g; s/, or the$//')
	case $module in
	"$name") tap_is "$name: the page has all places" "$row" "$name $name --$name $name $name" ;;
	*) tap_ok "$name: the page has all places" grep -q "^$name $module --$name .* $name\$" <<<"$row" ;;
	esac
done <"$dir/table"
# values of a route have names; 0 takes the default
tap_is "a lab takes the name of a route, and 0" "$(lab route least)$(lab depth 0)" "$taken$taken"
tap_is "not another name" "$(lab route most)" "lab.yaml:1: route: 'most' is not 1..65536 policy"

# those of the ring: name, a good and a wrong value, what labs and pwmodel and sweeps say of it
page=$top/Documentation/networking/packetway-aton.rst
while IFS='|' read -r name good wrong lab model sweep; do
	tap_ok "ring-$name: a word of a SAN" grep -q "\[ring-$name " <(pwctl san add --help)
	tap_is "ring-$name: a lab refuses $wrong" "$(lab "ring-$name" "$wrong")" "lab.yaml:1: ring-$name: '$wrong' is $lab"
	tap_is "ring-$name: and takes $good" "$(lab "ring-$name" "$good")" "$taken"
	tap_is "--$name: pwmodel refuses it" "$(pwmodel aton majority 1 3 "--$name" "$wrong" 2>&1)" "pwmodel: $name: $model"
	tap_ok "--$name: and takes $good" pwmodel aton majority 1 3 "--$name" "$good"
	for value in "$wrong" "$good"; do
		printf 'name: r\nmodel: ring\nparameters: {n: [2, 4], %s: %s}\ncommand: bitsum\nseeds: 1\nbits: 50000\nx: n\n' "$name" "$value" >"$dir/r.yaml"
		(cd "$dir" && says experiment sweep r.yaml; echo $?) | tail -n 2 | tr '\n' ' ' >"$tmp"
		[ "$value" = "$good" ] || tap_is "$name: a sweep refuses it" "$(cat "$tmp")" "pwctl: r.yaml:3: $name: '$wrong' is not $sweep 1 "
	done
	tap_is "$name: and takes $good" "$(cat "$tmp")" "0 "
	tap_is "$name: each row of it has the value" "$(awk -F, -v name="$name" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { print $at }' "$dir/r.csv" | sort -u)" "$good"
	tap_ok "$name: the page has all places" grep -q "^$name .*\`\`ring-$name\`\` .*\`\`--$name\`\` .*\`\`$name\`\`" "$page"
done <<-'END'
	propagation|3|65537|not 0..255 bit times|65537 is not 0 to 65536 bit times|0..65536
	release|appended|late|neither back nor appended|'late' is neither back nor appended|one of back, appended
	width|8|65|not 1..64 bits|65 is not 1 to 64 bits|1..64
	bitsum|3|25|not 0..24 bits|25 is not 0 to 24 bits|0..24
END

tap_is "nothing is near" "$(says xyzzy)" "pwctl: unknown command 'xyzzy', see 'pwctl help'"
tap_is "a word of one letter" "$(says san add 3 engine x)" \
	"pwctl: engine: 'x' is not one of none|fast|rtl|ring, see 'pwctl san help'"
long=$(printf 'station%.0s' {1..40})
tap_is "a word longer than any" "$(says "$long")" "pwctl: unknown command '$long', see 'pwctl help'"

# words that do not fit into a request
much=$(printf 'x%.0s' {1..9000})
for c in 'router del' 'router show' 'station add' 'resolve san 1'; do
	# shellcheck disable=SC2086
	pwctl $c "$much" >/dev/null 2>&1
	tap_is "$c with a long name" $? 1
done
pwctl router add "$much" san 1 san 2 2>/dev/null
tap_is "router add with a long name" $? 1
# shellcheck disable=SC2046
pwctl san set 1 $(printf 'rate 5 %.0s' {1..600}) 2>/dev/null
tap_is "san set with a key six hundred times" $? 1

# examples: each verb has one that begins with it
n=0
for verb in $(pwctl help | sed -n 's/^  pwctl \([a-z][a-z-]*\).*/\1/p' | sort -u); do
	sub=$(pwctl help | sed -n "s/^  pwctl $verb \\([a-z-]*|[a-z|-]*\\|show\\)\$/\\1/p" | tr '|' ' ')
	for s in ${sub:--}; do
		what=$verb${sub:+ $s}
		text=$(if [ "$s" = - ]; then pwctl help "$verb"; else pwctl "$verb" "$s" --help; fi)
		tap_ok "$what has an example" grep -qE "^        example: pwctl (-[a-z]+ )?(-n [a-z0-9]+ |ring8 )?$what( |\$)" <<<"$text"
		n=$((n + 1))
	done
done
tap_ok "all verbs were looked at ($n)" test "$n" -ge 53
# those of experiments run as they stand; selftests/pwctl_help.sh runs the others
dir=$(mktemp -d)
ln -s "$top/tools" "$dir/tools"
mapfile -t lines < <(pwctl help experiment | sed -n 's/^        example: //p')
tap_is "examples of experiments" ${#lines[@]} 6
for line in "${lines[@]}"; do
	# shellcheck disable=SC2086
	(cd "$dir" && timeout 600 $line) >"$dir/out" 2>&1 </dev/null
	tap_result $? "$line" "$dir/out"
done
tap_ok "and leave the files that they name" test -s "$dir/delay.svg" -a -s "$dir/clos.csv" -a -s "$dir/run.csv"
rm -rf "$dir"
tap_is "the short list has none" "$(pwctl help | grep -c 'example: ')" 0

# colours
tap_is "-c=x" "$(says -c=x san show)" "pwctl: -c: 'x' is not one of always|auto|never, see 'pwctl help'"
tap_ok "-c: always" grep -q $'\033\[3[1-3]m' <(pwctl -c doctor)
tap_not "-c=auto: not into a pipe" grep -q $'\033' <(pwctl -c=auto doctor)
tap_not "-c=never" grep -q $'\033' <(pwctl -c=never doctor)
tap_not "none without -c" grep -q $'\033' <(pwctl doctor)
tap_not "none in JSON" grep -q $'\033' <(pwctl -c -j doctor)
tap_ok "-c=auto: on a terminal" sh -c "script -qec 'pwctl -c=auto doctor' /dev/null </dev/null | grep -q '$(printf '\033')'"

# doctor
pwctl -j doctor >"${TMPDIR:-/tmp}/doctor.$$"
status=$?
json=$(cat "${TMPDIR:-/tmp}/doctor.$$")
rm -f "${TMPDIR:-/tmp}/doctor.$$"
bad=$(jq '[.[] | select(.verdict == "bad")] | length' <<<"$json")
tap_is "doctor: the status says whether a line is bad" "$status" "$((bad > 0 ? 2 : 0))"
tap_is "what is not good says what to do" "$(jq '[.[] | select(.verdict != "ok" and (.todo | not))] | length' <<<"$json")" 0
tap_is "what is good does not" "$(jq '[.[] | select(.verdict == "ok" and .todo)] | length' <<<"$json")" 0
tap_is "the kernel that runs" "$(jq -r '.[] | select(.check == "kernel") | .found | split(" ")[0]' <<<"$json")" "$(uname -r)"
tap_ok "it looks at more" test "$(jq 'map(.check) | unique | length' <<<"$json")" -ge 5
if [ ! -e /sys/module/packetway ]; then
	tap_is "without the module it is bad" "$(jq -r '.[] | select(.check == "module") | .verdict' <<<"$json")" bad
	tap_is "and other verbs name it" "$(says san show)" "pwctl: this kernel has no packetway, see 'pwctl doctor'"
fi
tap_is "without capabilities there are notes" \
	"$(setpriv --bounding-set -all --inh-caps -all --reuid 65534 --clear-groups pwctl -j doctor 2>/dev/null |
		jq '[.[] | select(.check == "capability" and .verdict == "note")] | length')" 3

# how far a long command is, on a terminal only
export PWCTL_PROGRESS_MS=0
script -qec 'pwctl experiment delay 48 96 engine fast' /dev/null </dev/null | tr '\r' '\n' >"$tmp"
tap_is "progress: sizes of an experiment" "$(grep -oE '^[0-9]+ of [0-9]+ sizes, [0-9]+ %' "$tmp" | paste -sd ';')" "0 of 2 sizes, 0 %;1 of 2 sizes, 50 %"
tap_ok "progress: time left" grep -qE '^1 of 2 sizes, 50 %, about [0-9]+:[0-9]{2} left' "$tmp"
script -qec 'pwctl experiment queues 2 4 engine fast' /dev/null </dev/null | tr '\r' '\n' >"$tmp"
tap_ok "progress: depths of queues" grep -q '^1 of 2 depths, 50 %' "$tmp"
tap_is "progress: nothing without a terminal" "$(pwctl experiment delay 48 96 engine fast 2>&1 >/dev/null)" ""
unset PWCTL_PROGRESS_MS

tap_is "a lab that is neither a file nor known" "$(says lab up nowhere)" "pwctl: nowhere: No such file or directory"
printf '%s\n' 'lab: x' 'sans:' '  - {id: 0, drop: 500001}' >"$tmp"
tap_is "too many faults in a lab" "$(says lab up "$tmp")" "pwctl: $tmp:3: drop: '500001' is not 0..500000 ppm"
printf '%s\n' 'lab: x' 'sans:' '  - id: 0' '    fault-seed: x' >"$tmp"
tap_is "a seed that is not a number" "$(says lab up "$tmp")" "pwctl: $tmp:4: fault-seed: 'x' is not 0..4294967295 number"
printf '%s\n' 'lab: x' 'sans:' '  - {id: 0, drop: 1, drop: 4}' >"$tmp"
tap_is "a fault twice" "$(says lab up "$tmp")" "pwctl: $tmp:3: drop: given twice"
tap_is "it takes no words" "$(says doctor who)" "pwctl: doctor: unknown key 'who', see 'pwctl doctor help'"
tap_done
