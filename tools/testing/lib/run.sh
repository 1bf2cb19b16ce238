#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: the library under sanitizers, what it exports, and the example of
# its man page built the way a user would.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
build=${1:-$top/build}
core=$top/drivers/net/packetway/core
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=SCRIPTDIR/../../../scripts/lib/tap
. "$top/scripts/lib/tap"

gcc -std=gnu11 -g -O1 -D_GNU_SOURCE -DPWL_VERSION='"test"' -fsanitize=address,undefined -fno-sanitize-recover=all \
	-I"$top/tools/testing/shim" -I"$core" -I"$top/uapi" -I"$top/tools/lib" -I"$top/tools/testing/user" \
	-o "$tmp/lib_test" "$top/tools/testing/lib/lib_test.c" "$top"/tools/lib/*.c \
	"$core"/{eep,eep_build,eep_tools,rrp,esp_exec,esp_store,esp_tools,poets,poets_tools}.c || exit 1
"$tmp/lib_test" >"$tmp/out"
status=$?
grep -v '^1\.\.' "$tmp/out"
tap_n=$(grep -cE '^(not )?ok ' "$tmp/out")
tap_bad=$((status != 0))

# collectives on a ring in shared memory (selftests/coll.sh has the module's)
gcc -std=gnu11 -g -O1 -D_GNU_SOURCE -fsanitize=undefined -fno-sanitize-recover=all -I"$top/uapi" -I"$top/tools/lib" \
	-o "$tmp/coll_storm" "$top"/tools/testing/lib/coll_storm.c "$top"/tools/lib/{coll,exact}.c "$top/tools/testing/mpi/shm_ring.c" || exit 1
export PW_SHM_RING=$tmp/ring
# an attempt to open has two seconds: members that pause for longer begin again
while read -r name pause arguments; do
	: >"$PW_SHM_RING"
	# shellcheck disable=SC2086
	PW_SHM_PAUSE=$pause timeout 300 "$tmp/coll_storm" $arguments >"$tmp/out" 2>&1
	tap_is "collectives: $name" $? 0
	tail -n 12 "$tmp/out" | sed 's/^/# /'
done <<-END
	two-jobs 0 -j 2 -r 10 0 1 2 3
	four-jobs 0 -j 4 -r 10 0 1 2 3 4 5 6 7
	one-large-job 0 -j 1 -r 2 -s 7 $(seq -s " " 0 31)
	members-that-pause 2300 -j 2 -r 2 0 1 2 3
	storm-of-two-jobs 0 -k -j 2 -r 30 0 1 2 3
	storm-of-four-jobs 0 -k -j 4 -r 30 0 1 2 3 4
END
: >"$PW_SHM_RING"
tap_is "collectives: wrong uses" "$("$tmp/coll_storm" -w 0 1 2 | "$top/tools/testing/lib/coll_uses")" "as expected"

so=$build/libpacketway.so.0
exports=$(nm -D --defined-only "$so" | awk '{ print $3 }' | grep -v '^PACKETWAY_' | sed 's/@.*//' | sort)
declared=$(grep -o 'pwl_[a-z0-9_]*(' "$top/tools/lib/packetway.h" | tr -d '(' | sort -u)
# names in comments are declared as well
tap_result "$([ "$exports" = "$declared" ]; echo $?)" "exported is what the header declares"
[ "$exports" = "$declared" ] || diff <(echo "$exports") <(echo "$declared") | sed 's/^/# /'
tap_result "$(readelf -d "$so" | grep -q 'soname: \[libpacketway.so.0\]'; echo $?)" "soname"
make -s -C "$top/tools" O="$build" DESTDIR="$tmp/root" PREFIX=/usr lib-install >"$tmp/log" 2>&1
tap_result $? "make lib-install"
sed 's/^/# /' "$tmp/log"
sed -n '/^\.SH EXAMPLES/,/^\.fi/p' "$top/tools/man/libpacketway.3" | grep -v '^\.' | sed 's/\\en/\\n/' >"$tmp/example.c"
export PKG_CONFIG_PATH=$tmp/root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$tmp/root
# shellcheck disable=SC2046
gcc -Wall -Werror -o "$tmp/example" "$tmp/example.c" $(pkg-config --cflags --libs packetway) 2>"$tmp/log"
tap_result $? "the example of libpacketway(3) builds with pkg-config"
sed 's/^/# /' "$tmp/log"
tap_result "$(LD_LIBRARY_PATH=$tmp/root/usr/lib ldd "$tmp/example" | grep -q 'libpacketway.so.0 => /'; echo $?)" "and runs with the shared library"

# the models: archive, headers and the example of their page
make -s -C "$top/tools" O="$build" DESTDIR="$tmp/core" PREFIX=/usr core-install >"$tmp/log" 2>&1
tap_result $? "make core-install"
sed 's/^/# /' "$tmp/log"
export PKG_CONFIG_PATH=$tmp/core/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$tmp/core
sed -n '/^\.SH EXAMPLES/,/^\.fi/p' "$top/tools/man/libpwcore.3" | grep -vE '^(\.|A message)' | sed 's/\\en/\\n/' >"$tmp/example.c"
# shellcheck disable=SC2046
gcc -Wall -Werror -o "$tmp/example" "$tmp/example.c" $(pkg-config --cflags --libs pwcore) 2>"$tmp/log"
tap_result $? "the example of libpwcore(3) builds with pkg-config"
sed 's/^/# /' "$tmp/log"
printf '0,1,5,1024\n' >"$tmp/one.csv"
at=$("$build/pwmodel" fabric --messages "$tmp/one.csv" --pack immediately --unpack immediately | awk -F, 'END { print $9 }')
bits=$("$build/pwmodel" aton add 0 10 20 30 | jq .ring_bits)
tap_is "it prints what pwmodel says" "$("$tmp/example")" "port 5 has 1024 bytes of port 1 in cycle $at
sum 60 of 4 interfaces in $bits bit times"
for h in $(cd "$tmp/core/usr/include/pwcore" && find . -name '*.h' | sed 's,^\./,,' | sort); do
	echo "#include <$h>"
done >"$tmp/all.c"
# shellcheck disable=SC2046
gcc -Wall -Werror -c -o "$tmp/all.o" "$tmp/all.c" $(pkg-config --cflags pwcore) 2>"$tmp/log"
tap_result $? "all its headers can be included together"
sed 's/^/# /' "$tmp/log"
tap_done
