#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: programs in the published form compile without a warning and run, in C and with
# the header alone; all published names are there.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
dir=$top/tools/testing/libpwatm
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=SCRIPTDIR/../../../scripts/lib/tap
. "$top/scripts/lib/tap"

gcc -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter -Werror -fsanitize=address,undefined -fno-sanitize-recover=all \
	-I"$top/tools/testing/shim" -I"$top/drivers/net/packetway/core" -I"$top/uapi" -I"$top/tools/libpwatm" -I"$top/tools/testing/user" -I"$dir" \
	-o "$tmp/test" "$dir"/published_test.c "$dir"/published_sum.c "$top/tools/libpwatm/pwatm.c" || exit 1
"$tmp/test" >"$tmp/out"
status=$?
grep -v '^1\.\.' "$tmp/out"
tap_n=$(grep -cE '^(not )?ok ' "$tmp/out")
tap_bad=$((status != 0))

# the program itself uses no other name of the library
names=$(grep -oE '\batm[a-z_]*\(' "$dir/published_sum.c" | tr -d '(' | sort -u)
tap_is "names that the program uses" "$(echo "$names" | paste -sd ' ')" \
	"atmgetndfloat atmgetnint atmgetnlong atmgetstring atminitsend atmputndfloat atmputnint atmputnlong atmputstring atmrcv atmsnd"
echo '#include "pwatm_published.h"' >"$tmp/alone.c"
tap_ok "the header compiles alone" gcc -std=c11 -Wall -Wextra -Werror -I"$top/tools/libpwatm" -c -o "$tmp/alone.o" "$tmp/alone.c"
tap_done
