#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh: Documentation/netlink/specs/packetway.yaml, the uapi header and the
# kernel's tables agree.

exec python3 "$(dirname -- "$0")/check.py" "$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)"
