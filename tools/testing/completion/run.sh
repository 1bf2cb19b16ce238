#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: what bash offers after `pwctl ...<TAB>` and `pwmodel ...<TAB>`; no module is
# needed for it.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
PATH=${1:-$top/build}:$PATH
# shellcheck source=SCRIPTDIR/../../../scripts/lib/tap
. "$top/scripts/lib/tap"
# shellcheck source=SCRIPTDIR/../../completion/pwctl
. "$top/tools/completion/pwctl"
# shellcheck source=SCRIPTDIR/../../completion/pwmodel
. "$top/tools/completion/pwmodel"

# offers WORD...: what the last word, which may be empty, can become
offers() {
	COMP_WORDS=(pwctl "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_pwctl
	offered
}

# models WORD...: the same for pwmodel
models() {
	COMP_WORDS=(pwmodel "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_pwmodel
	offered
}

offered() {
	printf '%s\n' "${COMPREPLY[@]}" | sort -u | tr '\n' ' '
}

tap_is "a verb" "$(offers exp)" "experiment "
tap_is "two that begin alike" "$(offers rout)" "route router "
for verb in san station router route aton esp poets ping trace capture events monitor fault stats metrics experiment lab top doctor view virtual; do
	tap_is "$verb is offered" "$(offers $verb | tr ' ' '\n' | grep -cx $verb)" 1
done
tap_is "verbs of a group" "$(offers lab '')" "down exec help show up "
tap_is "an option before it" "$(offers -j lab u)" "up "
tap_is "values" "$(offers san add 3 engine '')" "fast none ring rtl "
tap_is "keys" "$(offers top '')" "dev lab once "
tap_is "keys of a command in a group" "$(offers route add 5 san 1 '')" "dev l2rhs mtu quality san via "
tap_is "keys before a command" "$(offers virtual st)" "stall "
tap_is "values of its time" "$(offers lab exec --v)" "--virtual "
tap_is "keys on a line that help breaks" "$(offers ping 1 in)" "interval "
tap_is "keys that are options" "$(offers metrics '')" "--listen -o format from lab "
tap_is "behind one of them" "$(offers metrics -o x form)" "format "
tap_is "values of a key" "$(offers esp compare 1 op l)" "le lt "
tap_is "only values that fit" "$(offers san add 3 ring-engine '')" "fast rtl "
tap_is "a lab's file" "$(cd "$top/Documentation/labs" && offers lab up ri)" "ring8.yaml "
tap_is "the file of a sweep" "$(cd "$top/tools/experiments" && offers experiment sweep clo)" "clos.yaml "
tap_is "a capture to view" "$(cd "$top/tools/testing/view" && offers view sa)" "sans.pcapng "
tap_is "experiments" "$(offers experiment q)" "queues "
tap_is "nothing that does not fit" "$(offers lab up /nowhere/x)" " "
tap_is "bash calls it for pwctl" "$(complete -p pwctl)" "complete -F _pwctl pwctl"
tap_is "commands of pwmodel" "$(models '')" "aton eep esp fabric help net poets replay rrp topology "
tap_is "options" "$(models fabric --me --un)" "--unpack "
for name in $(pwmodel fabric --help | sed -n 's/^  --\([a-z-]*\) .*/\1/p'); do
	tap_is "--$name is offered" "$(models fabric "--$name" | tr ' ' '\n' | grep -cx -- "--$name")" 1
done
tap_is "machines" "$(models fabric --machine '')" "device published "
tap_is "route policies" "$(models fabric --route '')" "fixed least random turn "
tap_is "topologies" "$(models fabric --topology t)" "torus: "
tap_is "topologies by their command" "$(models topology b)" "benes: butterfly: "
tap_is "an engine" "$(models aton add 1 2 --engine f)" "fast "
tap_is "how a source packs" "$(models fabric --pack '')" "immediately "
tap_is "a file of messages" "$(cd "$top/tools/testing/golden/T11" && models fabric --messages table_11_1)" "table_11_1.csv "
tap_is "commands of the ring" "$(models aton m)" "majority max min "
tap_is "units" "$(models replay t)" "tandem "
tap_is "the file of a network" "$(cd "$top/tools/networks" && models net ring)" "ring.yaml "
tap_is "options of net" "$(models net x.yaml --st)" "--stats "
tap_is "codecs" "$(models eep '')" "decode encode "
tap_is "bash calls it for pwmodel" "$(complete -p pwmodel)" "complete -F _pwmodel pwmodel"
tap_done
