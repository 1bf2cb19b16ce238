#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The Python package beside pwctl, on a live network, with each netlink library; and the
# one-liners of the README. Without a kernel: tools/testing/python.

. "$(dirname "$0")/lib.sh"
pw_need python3 pwctl
python="$PW_SELFTESTS/../scripts/lib/python"
[ -e "$PW_BUILD/poets/ring.so" ] || pw_skip "the POETS applications are not built"
"$python" pyroute2,yaml -c 'from importlib.util import find_spec as f; exit(not (f("pyroute2") and f("yaml")))'  || pw_skip "no python3-pyroute2 or python3-yaml here"
tmp=$(mktemp -d)
# the kernel's library as later kernels install it
ln -s "$PW_KSRC/tools/net/ynl" "$tmp/pyynl"
export PYTHONPATH=$PW_TOP/tools/python:$tmp PACKETWAY_BUILD=$PW_BUILD PYTHONDONTWRITEBYTECODE=1
cd "$PW_TOP" || exit 1
"$python" pyroute2,yaml "$PW_SELFTESTS/python_verbs.py" "$tmp" "$PW_BUILD/poets"
status=$?
rm -rf "$tmp"
exit $status
