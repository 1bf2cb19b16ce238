#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packages, on the host: `make deb`, installed in a copy-on-write root (DKMS builds the
# module there at native speed), used in a guest on that root (modprobe, man, a lab, a
# capture) and removed again, which leaves nothing. `make install DESTDIR=` too. The
# host itself is not touched. DKMS takes a minute for each kernel: everything from the
# installation on is for soaks, `make dkms-install` too.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
. "$top/scripts/lib/common"

# --- third act: in the guest
if [ "${1:-}" = --guest ]; then
	set +u
	. "$(dirname "$0")/lib.sh"
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	unset IP_LIB_DIR
	tar -C / -xpf "$2"
	ldconfig
	tap_ok "modprobe packetway" modprobe packetway
	tap_ok "pw0 is there" ip link show pw0
	tap_is "it is DKMS's module" "$(modinfo -F filename packetway)" "$(find "/lib/modules/$(uname -r)/updates" -name 'packetway.ko*')"
	tap_ok "man pwctl" sh -c 'man pwctl | grep -q "lab up"'
	for p in "7 packetway" "4 packetway" "3 libpacketway" "1 pwrun"; do
		# shellcheck disable=SC2086
		tap_ok "man $p" man -w $p
	done
	tap_ok "ip knows stations" sh -c 'ip link help packetway 2>&1 | grep -q "order ORDER"'
	tap_ok "pwctl lab up" pwctl lab up /usr/share/packetway/labs/ring8.yaml
	tap_is "the sum over eight stations" "$(pwctl lab exec s1 pwctl -j aton add | jq '.[0].value')" 31
	tap_ok "ping" pwctl lab exec s1 ping -c 1 -W 5 s8
	pwctl lab exec s1 pwctl aton set 5
	timeout 100 pwctl -n ring8 capture ring -c 8 >/tmp/capture 2>&1 &
	cap=$!
	while kill -0 $cap 2>/dev/null; do
		pwctl lab exec s1 pwctl aton add >/dev/null
		sleep 0.5
	done
	tap_ok "a capture, decoded by the dissector that Wireshark found" grep -q 'ATON.*ADD, whole ring.*Counter 8' /tmp/capture ||
		sed 's/^/# /' /tmp/capture
	tap_is "Python: the sum over the ring" "$(python3 -c 'from packetway.lab import LabStation; print(LabStation("ring8", "s1").add())')" 33
	tap_ok "pwctl lab down" pwctl lab down
	tap_ok "pkg-config" sh -c "pkg-config --libs packetway | grep -q -- -lpacketway"
	tap_ok "rmmod" rmmod packetway
	tap_done
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/pwdeb.XXXXXX") || exit 1
as_root=
[ "$(id -u)" = 0 ] || as_root='sudo -n'
trap '$as_root rm -rf "$work"' EXIT
. "$top/scripts/lib/tap"

# --- first act: the packages
make -s -C "$top" O="$build" deb >"$work/deb.log" 2>&1
tap_result $? "make deb" "$work/deb.log"
make -s -C "$top" O="$build" DESTDIR="$work/dest" KDIR=6.12 install >"$work/install.log" 2>&1
tap_result $? "make install DESTDIR=" "$work/install.log"
for f in lib/modules/*/updates/packetway.ko usr/local/sbin/pwctl usr/local/lib/libpacketway.so.0 \
	usr/local/include/linux/packetway.h usr/local/share/man/man8/pwctl.8; do
	compgen -G "$work/dest/$f" >/dev/null
	tap_result $? "installs ${f##*/}"
done

# --- second act: a root of its own
cat >"$work/inside" <<'EOF'
set -e
work=$1
mount -t tmpfs tmpfs "$work/ov"
mkdir "$work/ov/upper" "$work/ov/work" "$work/ov/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/ov/upper,workdir=$work/ov/work" "$work/ov/root"
r=$work/ov/root
mount --rbind /dev "$r/dev"
mount -t proc proc "$r/proc"
cp "$work"/debs/*.deb "$r/tmp/"
# one kernel is enough here
for k in "$r"/lib/modules/*; do
	case ${k##*/} in 6.12.*) ;; *) [ -n "${PW_LONG:-}" ] || rm -rf "$k/build" ;; esac
done
# a machine without our things, whatever this one has
chroot "$r" sh -c 'rm -rf /usr/src/packetway-* /var/lib/dkms/packetway /lib/modules/*/updates/packetway.ko'
chroot "$r" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive sh -c 'dpkg -i /tmp/*.deb && dkms status packetway'
if [ -n "${PW_LONG:-}" ]; then
	chroot "$r" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -c "
		dpkg --purge packetway-dkms && cd '$2' && scripts/pkg/dkms-install && dkms remove packetway/0.1 --all &&
		rm -rf /usr/src/packetway-* && dpkg -i /tmp/packetway-dkms*.deb"
fi
rm -f "$r"/tmp/*.deb
# only what is new: deletions do not matter
(cd "$work/ov/upper" && find . \( -type f -o -type l \) -print0 | tar --null -T - -cpf "$work/root.tar")
# removal: no file that was there is, nor anything with our name in it
chroot "$r" dpkg -L packetway-tools packetway-dkms libpacketway-dev python3-packetway | sort -u | while read -r f; do
	if [ -f "$r$f" ]; then echo "$f"; fi
done >"$work/files"
chroot "$r" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -c 'dpkg --purge libpacketway-dev python3-packetway packetway-tools packetway-dkms'
while read -r f; do
	if [ -e "$r$f" ]; then echo "$f"; fi
done <"$work/files" >"$work/left"
(cd "$work/ov/upper" && find usr lib etc var/lib \( -name 'packetway*' -o -name 'libpacketway*' -o -name 'pwctl*' \) ! -type c) >>"$work/left" 2>/dev/null || true
umount -l "$r/dev" "$r/proc"
EOF
mkdir "$work/ov" "$work/debs"
cp "$build"/deb/*.deb "$work/debs/"
if [ -z "${PW_LONG:-}" ]; then
	for d in "$work"/debs/*.deb; do
		dpkg-deb -c "$d" >"$work/list" && dpkg-deb -f "$d" Depends | grep -q . && grep -q ' root/root ' "$work/list"
		tap_result $? "${d##*/} is a package, its files are root's" "$work/list"
	done
	# the Python package works from its own files, and names what it imports
	for d in "$work"/debs/packetway-tools_*.deb "$work"/debs/python3-packetway_*.deb; do
		dpkg-deb -x "$d" "$work/pyroot"
	done
	py=$work/pyroot/usr/lib/python3/dist-packages
	(cd / && LD_LIBRARY_PATH=$(dirname "$(find "$work/pyroot" -name libpwcore.so.0)") PYTHONPATH=$py PYTHONDONTWRITEBYTECODE=1 \
		/usr/bin/python3 -c 'import packetway; print(packetway.__file__, packetway.model.ring("add", [3, 1, 4]).v1)') >"$work/py" 2>&1
	tap_is "python3-packetway is imported, its model adds" "$(cat "$work/py")" "$py/packetway/__init__.py 8"
	tap_is "it depends on the tools of its version and on what it imports" \
		"$(dpkg-deb -f "$work"/debs/python3-packetway_*.deb Depends)" \
		"packetway-tools (= $(dpkg-deb -f "$work"/debs/python3-packetway_*.deb Version)), python3 (>= 3.9), python3-yaml, python3-pyroute2, libc6"
	tap_is "no file is in two packages" \
		"$(for d in "$work"/debs/*.deb; do dpkg-deb -c "$d" | awk '!/\/$/ { print $6 }'; done | sort | uniq -d)" ""
	dpkg-deb -x "$work"/debs/packetway-dkms_*.deb "$work/src"
	(cd "$work"/src/usr/src/packetway-*/ && find . -name '*.[ch]' -o -name Kbuild) | sort >"$work/packed"
	(cd "$top" && find ./Kbuild ./drivers ./include ./uapi -name '*.[ch]' ! -name '*.mod.c' -o -name Kbuild) | sort |
		diff - "$work/packed" >"$work/diff"
	tap_result $? "the module's whole source is in it" "$work/diff"
elif $as_root unshare -m true 2>/dev/null; then
	# shellcheck disable=SC2086
	$as_root env PW_LONG="${PW_LONG:-}" unshare -m bash "$work/inside" "$work" "$top" >"$work/install.log" 2>&1
	tap_result $? "the packages install, and DKMS builds the module" "$work/install.log"
	grep -q '^packetway/.*6\.12.*: installed' "$work/install.log"
	tap_result $? "for the kernel that has headers" "$work/install.log"
	[ "$(wc -l <"$work/files")" -gt 100 ]
	tap_result $? "the packages have many files"
	[ ! -s "$work/left" ]
	tap_result $? "removal leaves nothing" "$work/left"
	"$top/scripts/vm" --kernel 6.12 --no-module --timeout 600 -- bash "$top/selftests/host_deb.sh" --guest "$work/root.tar" \
		>"$work/guest" 2>&1
	status=$?
	sed -n 's/^\(not ok\|ok\) [0-9]* - \(.*\)/\1 \2/p' "$work/guest" >"$work/points"
	while read -r verdict what; do
		case $verdict in
		ok) tap_result 0 "guest: $what" ;;
		not) tap_result 1 "guest: ${what#ok }" ;;
		esac
	done <"$work/points"
	grep '^#' "$work/guest"
	tap_result $status "the guest ends well" "$work/guest"
else
	tap_skip "install in a root of its own" "no mount namespace here"
fi
tap_done
