#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: the Python package without a kernel: types, layouts of structures, messages,
# models beside pwmodel.

top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
build=${1:-$top/build}
export PYTHONPATH=$top/tools/python${PYTHONPATH:+:$PYTHONPATH} PACKETWAY_BUILD=$build PYTHONDONTWRITEBYTECODE=1
exec "$top/scripts/lib/python" yaml,pyroute2,mypy "$top/tools/testing/python/check.py" "$top" "$build"
