#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh: Documentation/netlink/specs/packetway.yaml, the kernel's schema, the uapi
# header and the kernel's tables agree.

top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
exec "$top/scripts/lib/python" yaml,jsonschema "$top/tools/testing/netlink/check.py" "$top" "$("$top/scripts/pkg/kernel-source" 2>/dev/null)"
