#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module goes in and out, again and again, and leaves nothing behind.

. "$(dirname "$0")/lib.sh"

slab() { awk '$1 ~ /^pw|^packetway/ { print $1 }' /proc/slabinfo 2>/dev/null; }
[ -n "${PW_KO:-}" ] || pw_skip "no module given"
tap_ok "packetway is loaded" grep -q '^packetway ' /proc/modules
tap_ok "pw0 is there" ip link show pw0
tap_ok "/dev/packetway is a character device" test -c /dev/packetway
tap_not "a second insmod is refused" insmod "$PW_KO"

rounds=$(pw_count 10)
bad=0
for _ in $(seq "$rounds"); do
	rmmod packetway || { bad=1; break; }
	if [ -e /dev/packetway ] || ip link show pw0 >/dev/null 2>&1 || [ -n "$(slab)" ]; then
		bad=1
		break
	fi
	if ! insmod "$PW_KO" || ! ip link show pw0 >/dev/null; then
		bad=1
		break
	fi
done
tap_result $bad "$rounds rounds of rmmod and insmod leave no device, node or slab"
tap_done
