#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: `pwctl metrics` without a kernel: formats, names, files, the HTTP server
# and the dashboard.

top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
exec "$top/scripts/lib/python" prometheus_client -B "$top/tools/testing/metrics/check.py" "$top" "${1:-$top/build}/pwctl"
