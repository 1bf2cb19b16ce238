#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What "make demo" shows, in a guest with the module loaded.

set -eu
say() { printf '\n== %s\n' "$*"; }

say "kernel $(uname -r), module in"
grep '^packetway ' /proc/modules
say "pw0 comes up"
ip link set pw0 up
ip -d link show pw0
ls -l /dev/packetway
