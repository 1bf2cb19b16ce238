#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The guest runner itself, run on the host: statuses come back, complaints and
# hangs are noticed, nothing stays behind, two guests can be linked.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
. "$top/scripts/lib/common"
# shellcheck source=../scripts/lib/tap
. "$top/scripts/lib/tap"
vm=$top/scripts/vm
work=$(mktemp -d "${TMPDIR:-/tmp}/pwrunner.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
TMPDIR=$work
export TMPDIR

# expect STATUS WHAT COMMAND...
expect() {
	local want=$1 what=$2 got

	shift 2
	"$@" >"$work/out" 2>"$work/err" </dev/null
	got=$?
	tap_is "$what" $got "$want" || sed 's/^/# /' "$work/out" "$work/err" | head -n 40
}
contains() {
	grep -q -- "$2" "$work/$1"
	tap_result $? "$3" "$work/$1"
}

# a module that does one bad thing when it is inserted
plant() {
	mkdir -p "$work/$1"
	cat >"$work/$1/plant_$1.c" <<-EOF
		// SPDX-License-Identifier: GPL-2.0
		#include <linux/delay.h>
		#include <linux/module.h>
		static int __init plant_init(void)
		{
			$2;
			return 0;
		}
		static void __exit plant_exit(void) { }
		module_init(plant_init);
		module_exit(plant_exit);
		MODULE_DESCRIPTION("planted fault");
		MODULE_LICENSE("GPL");
	EOF
	echo "obj-m := plant_$1.o" >"$work/$1/Kbuild"
	make -s -C "$kbuild" M="$work/$1" modules >"$work/$1/log" 2>&1 || { cat "$work/$1/log"; exit 1; }
}

resolve_kernel 6.1 || exit 4
plant oops '*(volatile int *)8 = 1'
plant warn 'WARN_ON(1)'
plant fine 'pr_warn("FAULT_INJECTION: forcing a failure.\\n"); dump_stack()'

# a race, as KCSAN reports it: between these two functions, with this line in the stack
race() {
	cat >"$work/race" <<-EOF
		[  7.0] ==================================================================
		[  7.0] BUG: KCSAN: data-race in $1 / $2
		[  7.0] write (marked) to 0xffff000000a1b2c3 of 8 bytes by interrupt on cpu 1:
		[  7.0]  $1+0x40/0x80
		[  7.0]  $3
		[  7.0] ==================================================================
	EOF
	"$top/scripts/lib/klog-check" --flavour "${4-kcsan}" "$work/race"
}
expect 0 "a race of the core with itself is not ours" \
	race napi_complete_done napi_schedule_prep 'pw_ring_poll+0x18/0x90 [packetway]'
expect 1 "a race of a function of the module is" race 'pw_ring_poll [packetway]' napi_schedule_prep 'net_rx_action+0x18/0x90'
expect 1 "so is one of a copy that the module asked for" race memcpy pwtest 'pw_ring_poll+0x18/0x90 [packetway]'
expect 0 "but not of a copy of others" race memcpy pwtest 'net_rx_action+0x18/0x90'
expect 1 "and on other kernels every report counts" race napi_complete_done napi_schedule_prep 'net_rx_action+0x18/0x90' debug
expect 125 "an unknown option is refused" "$vm" --no-such-option -- true
expect 125 "a kernel that is not there is refused" "$vm" --kernel /nonexistent/kernel -- true
mkdir -p "$work/headers"
printf 'kernelrelease:\n\t@echo 9.9.9-none\n' >"$work/headers/Makefile"
expect 125 "so are headers without an image" "$vm" --kernel "$work/headers" -- true
contains err 'no bootable image' "with a sentence"
expect 125 "and a directory that is no kernel" "$vm" --kernel "$work" -- true
contains err 'not a configured kernel build directory' "with a sentence"
expect 1 "and an architecture that there is none of" "$vm" --arch none --kernel 6.1 -- true
contains err 'unknown architecture' "with a sentence"
# shellcheck disable=SC2016
expect 7 "the status of the command comes back" "$vm" -- sh -c 'echo to out; echo to err >&2; ip -d link show pw0; exit 7'
contains out '^to out$' "its output comes back"
contains err '^to err$' "its errors come back apart"
contains out '00:00:01' "pw0 is there"
expect 1 "scripts/vm -- false" "$vm" --no-module -- false
expect 250 "a module that oopses fails the run" "$vm" --no-module --module "$work/oops/plant_oops.ko" -- true
contains err 'plant_init' "the complaint is printed"
expect 250 "a module that warns fails the run" "$vm" --no-module --module "$work/warn/plant_warn.ko" -- true
expect 0 "a deliberately injected fault does not" "$vm" --no-module --module "$work/fine/plant_fine.ko" -- true
expect 124 "a hang is ended" "$vm" --no-module --timeout 25 -- sleep 1000
expect 124 "one that does not boot as well" "$vm" --no-module --timeout 20 --append rdinit=/bin/sh -- true
contains err 'has not booted after .* once more' "after a second boot"
# shellcheck disable=SC2016
expect 0 "files come back through PW_OUT" "$vm" --no-module --out "$work/files" -- sh -c 'echo 42 >$PW_OUT/answer'
tap_is "with what was written" "$(cat "$work/files/answer" 2>/dev/null)" 42

# talk MINE PEER: in a guest, keep asking until the other one answers
talk() {
	cat <<-EOF
		ip addr add $1/24 dev eth0; ip link set eth0 up
		for i in \$(seq 120); do ping -c 1 -W 1 $2 >/dev/null && sleep 3 && exit 0; done; exit 1
	EOF
}
"$vm" --no-module --timeout 200 --link "$work/wire:0" -- sh -c "$(talk 10.0.0.1 10.0.0.2)" >/dev/null 2>&1 </dev/null &
peer=$!
expect 0 "a second guest is reached over a link" \
	"$vm" --no-module --timeout 200 --link "$work/wire:1" -- sh -c "$(talk 10.0.0.2 10.0.0.1)"
expect 0 "and reaches us" wait $peer

# soak WORD...: one of two small tests, in a session of its own
soak() {
	# shellcheck disable=SC2016
	env -u PW_LONG -u FRESH PW_SOAK_DIR="$work/soak" PW_SCALE=1 STEPS=test-vm T="eep_test netns" K=6.1 "$@" \
		setsid -w bash -c 'echo $$ >"$0/sid"; exec "$1"' "$work" "$top/scripts/soak" >"$work/soak.out" 2>&1 </dev/null
}
has() { [ -e "$work/soak/results/vm-6.1/$1.result" ]; }
made() { stat -c %.Y "$work/soak/results/vm-6.1/$1.result" 2>/dev/null; }
soak FRESH= &
for _ in $(seq 6000); do
	has eep_test && break
	sleep 0.1
done
pkill -TERM -s "$(cat "$work/sid")"
wait $!
tap_ok "a soak is ended after its first test" has eep_test
tap_not "and before its second" has netns
first=$(made eep_test)
expect 0 "it goes on" soak
tap_ok "with what was missing" has netns
tap_is "and not with what was there" "$(made eep_test)" "$first"
tap_is "its log has both parts" "$(grep -c '^soak of .* scale 1 ' "$work/soak/log")" 2
tap_is "its summary, too" "$(grep -c '^vm-6.1 .* pass ' "$work/soak/summary")" 2
tap_is "and the steps that are still missing" "$(tail -n 1 "$work/soak/summary")" \
	"missing: check test-user test-vm (begun) test-debug fuzz kcsan"
expect 0 "nothing is left to be done" soak
tap_is "nothing was done" "$(made eep_test)" "$first"
expect 0 "FRESH=1 begins anew" soak FRESH=1 T=eep_test
[ "$(made eep_test)" != "$first" ] && ! has netns
tap_result $? "with no result" "$work/soak.out"
expect 1 "an unknown step is refused" soak STEPS=tests
contains soak.out "no step 'tests'" "with a sentence"

compgen -G "$work/pwvm.*" >"$work/left"
pgrep -af "$work/pwvm" >>"$work/left"
[ ! -s "$work/left" ]
tap_result $? "nothing stays behind" "$work/left"
tap_done
