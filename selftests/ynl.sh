#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every operation of Documentation/netlink/specs/packetway.yaml with the ynl cli of the
# kernel tree as it comes, checked against the kernel's schema; notifications as well.

. "$(dirname "$0")/lib.sh"
pw_need python3 pwctl
[ -r "$PW_KSRC/tools/net/ynl/cli.py" ] || pw_skip "no ynl in the kernel source"
python="$PW_SELFTESTS/../scripts/lib/python"
"$python" jsonschema,yaml -c 'import jsonschema, yaml' 2>/dev/null || pw_skip "no python3-jsonschema or python3-yaml here"

exec "$python" jsonschema,yaml -B "$PW_SELFTESTS/ynl_ops.py" "$PW_KSRC" "$PW_SELFTESTS/../Documentation/netlink/specs/packetway.yaml"
