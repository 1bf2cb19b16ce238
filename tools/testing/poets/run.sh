#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: what `pwctl poets run` says of a file that is wrong. TAP.

build=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cp "$build"/poets/ring.* "$dir"
# shellcheck source=SCRIPTDIR/../../../scripts/lib/tap
. "$(dirname -- "$0")/../../../scripts/lib/tap"

# refused NAME FILTER WORDS: ring.json with something changed is refused with these words
refused() {
	local got

	jq "$2" "$dir/ring.json" >"$dir/x.json"
	got=$("$build/pwctl" poets run "$dir/x.json" 2>&1 >/dev/null; echo "status $?")
	tap_is "$1" "$got" "pwctl: $dir/x.json: $3
status 2"
}

refused "a member that is none" '.colour = 1' 'application: there is no member "colour"'
refused "a task of more than six bits" '.task = 64' 'task: must be a number of 0..63'
refused "no handlers" 'del(.handlers)' 'handlers: must be the name of a shared object'
refused "a type without handlers" '.types.other = {}' \
	"types.other: $dir/ring.so has no handlers for this type"
refused "devices of no type" '.devices[0].type = "x"' 'devices[0]: needs a "type" that is in "types"'
refused "two of a name" '.devices += [.devices[0]]' 'devices[1]: there is another "n"'
refused "too many devices" '.devices[0].shape = [5000, 5000]' 'devices[0]: more than 16777216 devices'
refused "an edge from nowhere" '.edges[0].from = "m[x].next"' \
	'edges[0]: "m[x].next": there is no such device'
refused "an edge from no pin" '.edges[0].from = "n[x].nxt"' \
	'edges[0]: "n[x].nxt": type "node" has no output pin "nxt"'
refused "an edge to an unknown variable" '.edges[0].to = "n[y].in"' \
	'edges[0]: "n[y].in": y is not in "n[x].next"'
refused "an index too many" '.edges[0].to = "n[x,y].in"' 'edges[0]: "n[x,y].in": "n" has 1 indices'
refused "an edge to an unknown device" '.edges[0] = ["n[3].next", "n[1000].in"]' \
	'edges[0]: no two devices are joined by this'
refused "a station twice" '.stations = ["pw0", "pw0"]' 'stations: "pw0" is there twice'
refused "a placement on no station" '.stations = ["pw0"] | .placement = {"n": "pwx"}' \
	'placement: "n": there is no such station'
refused "a mothership that is no station" '.stations = ["pw0"] | .mothership = "pwx"' 'mothership: must be one of the stations'
refused "a way to stop that is none" '.stop = "never"' 'stop: is "supervisor" or "quiet"'
refused "a property that is no number" '.properties.laps = "three"' \
	'application: property "laps" must be a number or a boolean'
refused "an array of nothing" '.devices[0].shape = [0]' \
	'devices[0]: "shape" is a list of 1 to 3 numbers'
refused "a weight that is none" '.edges[0].weight = 1.5' \
	'edges[0]: needs "from", "to", and "weight" is a whole number'
for what in "$dir/none.json" /dev/null "$dir"; do
	tap_is "refused: $what" "$("$build/pwctl" poets run "$what" >/dev/null 2>&1; echo $?)" 2
done
tap_done
