#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The image for continuous integration and its pw-ci, on the host: the archive is an OCI
# image and the same every time, statuses come back, templates call it. Soaks build the whole
# image and run it with podman and, with the capabilities that docker leaves, in its root.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
. "$top/scripts/lib/common"
# shellcheck source=../scripts/lib/tap
. "$top/scripts/lib/tap"
work=$(mktemp -d "${TMPDIR:-/tmp}/pwimage.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH=1700000000

# look ARCHIVE DIRECTORY: unpack the image into DIRECTORY/root, as a runtime does, and check its digests
look() {
	local d=$2/image blob manifest config layer

	mkdir -p "$d" "$2/root"
	tar -xf "$1" -C "$d" || return 1
	tap_is "${1##*/}: an OCI layout" "$(jq -r .imageLayoutVersion "$d/oci-layout")" 1.0.0
	blob() { echo "$d/blobs/sha256/${1#sha256:}"; }
	manifest=$(blob "$(jq -r '.manifests[0].digest' "$d/index.json")")
	config=$(blob "$(jq -r .config.digest "$manifest")")
	layer=$(blob "$(jq -r '.layers[0].digest' "$manifest")")
	tap_is "${1##*/}: blobs are what their names say" \
		"$(for blob in "$d"/blobs/sha256/*; do [ "$(sha256sum <"$blob" | cut -d ' ' -f 1)" = "${blob##*/}" ] || echo "$blob"; done)" ""
	tap_is "${1##*/}: sizes in the lists" \
		"$(jq -r '.manifests[0].size' "$d/index.json") $(jq -r '.config.size, .layers[0].size' "$manifest" | paste -sd ' ')" \
		"$(stat -c %s "$manifest" "$config" "$layer" | paste -sd ' ')"
	tap_is "${1##*/}: the layer's own digest" "$(jq -r '.rootfs.diff_ids[0]' "$config")" "sha256:$(gzip -dc "$layer" | sha256sum | cut -d ' ' -f 1)"
	tap_is "${1##*/}: the list for docker names the same" "$(jq -r '.[0] | .Config, .Layers[0]' "$d/manifest.json" | paste -sd ' ')" \
		"blobs/sha256/${config##*/} blobs/sha256/${layer##*/}"
	tap_is "${1##*/}: system and architecture" "$(jq -r '.os + " " + .architecture' "$config")" "linux $arch"
	image_command=$(jq -c .config.Cmd "$config")
	tar -xpzf "$layer" -C "$2/root"
}

# --- a root of three files
mkdir -p "$work/small/bin" "$work/small/etc"
printf 'hello\n' >"$work/small/etc/greeting"
cp "$(command -v busybox)" "$work/small/bin/busybox"
ln -s busybox "$work/small/bin/sh"
"$top/scripts/pkg/oci-tar" "$work/small" "$work/one.tar" small:1 sh -c 'say "yes"' >/dev/null
tap_result $? "an image of a root directory"
touch "$work/small/etc/greeting"
"$top/scripts/pkg/oci-tar" "$work/small" "$work/two.tar" small:1 sh -c 'say "yes"' >/dev/null
tap_is "the same root gives the same file" "$(sha256sum <"$work/one.tar")" "$(sha256sum <"$work/two.tar")"
look "$work/one.tar" "$work/looked"
tap_is "one.tar: its command" "$image_command" '["sh","-c","say \"yes\""]'
tap_is "one.tar: its files" "$(cd "$work/looked/root" && find . -type f -o -type l | sort | paste -sd ' ')" "./bin/busybox ./bin/sh ./etc/greeting"
if command -v skopeo >/dev/null; then
	tap_is "skopeo reads it" "$(skopeo inspect "oci-archive:$work/one.tar" 2>/dev/null | jq -r '.Layers | length')" 1
fi

# --- templates: the files that other projects include
"$top/scripts/lib/python" yaml - "$top/tools/ci" >"$work/templates" 2>&1 <<'END'
import sys
import yaml
action = yaml.safe_load(open(sys.argv[1] + '/action.yml'))
assert action['runs']['using'] == 'composite'
assert {'command', 'image', 'lab', 'timeout'} <= set(action['inputs'])
steps = action['runs']['steps']
assert all(s['shell'] == 'bash' and '${{' not in s['run'] for s in steps), 'inputs reach the shell as variables only'
assert 'pw-ci --lab "$LAB" --timeout "$LIMIT" "$COMMAND"' in steps[-1]['run']
job = yaml.safe_load(open(sys.argv[1] + '/gitlab.yml'))['.packetway']
assert job['script'] == ['pw-ci --lab "$PW_LAB" --timeout "$PW_LIMIT" "$PW_COMMAND"'], job
END
tap_result $? "the templates call pw-ci" "$work/templates"

# --- pw-ci of the checkout
status() { "$@" >"$work/out" 2>"$work/err" </dev/null; echo $?; }
pw=$top/tools/ci/pw-ci
tap_is "pw-ci without a command" "$(status "$pw")" 125
tap_is "with an option that is none" "$(status "$pw" --colour true)" 125
tap_is "with a lab that is none" "$(status "$pw" --lab nowhere true)" 125
tap_ok "which it names" grep -q 'no lab nowhere' "$work/err"
# shellcheck disable=SC2016 # expanded in the guest
tap_is "a command that fails, with eight stations up" \
	"$(status "$pw" --smp 1 'test "$(pwctl lab exec s1 pwctl -j aton add | jq ".[0].value")" = 31 && echo whole && exit 7')" 7 || sed 's/^/# /' "$work/err"
tap_is "and what it printed" "$(cat "$work/out")" whole

if [ -z "${PW_LONG:-}" ]; then
	tap_skip "the whole image" "it takes 150 MB of packages: soaks build and run it"
	tap_done
	exit
fi

# --- the image
"$top/scripts/pkg/make-image" "$work/ci.tar" >"$work/log" 2>&1
tap_result $? "make image" "$work/log"
look "$work/ci.tar" "$work/ci"
tap_is "ci.tar: its command says what it can do" "$image_command" '["pw-ci","--help"]'
# what docker leaves to a container's root
caps=-all
for c in chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw sys_chroot mknod audit_write setfcap; do
	caps=$caps,+$c
done
contained() { "$top/scripts/pkg/in-root" "$work/ci/root" setpriv --bounding-set="$caps" "$@"; }

# podman WORD...: with a store of its own. Where cgroups of both versions are mounted, crun wants
# one: a mount namespace has only the second
podman() {
	# shellcheck disable=SC2016 # expanded in there
	unshare --mount -- bash -c '
		store=$1
		shift
		[ ! -d /sys/fs/cgroup/unified ] || { umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup; }
		exec podman --root "$store/root" --runroot "$store/run" --tmpdir "$store/tmp" "$@"' podman "$work/podman" "$@"
}
# limits that podman need not be allowed to raise
pod() { podman run --rm --cgroups=disabled --network=none --ulimit nofile=1024:4096 --ulimit nproc=1024:1024 "$image_name" "$@"; }
# a_run WAY: what the image is for
a_run() {
	local from=$SECONDS

	tap_is "$1: a lab by name, and pwrun" \
		"$(status "$1" pw-ci 'pwctl lab up ring8 && pwrun -np 8 hostname && pwctl lab exec s1 ping -c 1 s8')" 0 || sed 's/^/# /' "$work/err"
	echo "# $((SECONDS - from)) s from the start to a ping"
	tap_is "$1: ranks of eight stations" "$(grep -cx 's[1-8]' "$work/out")" 8
	tap_is "$1: a command that fails" "$(status "$1" pw-ci 'pwctl lab show && exit 9')" 9
	tap_is "$1: an oops fails it" "$(status "$1" pw-ci --lab none 'echo c >/proc/sysrq-trigger')" 250
	tap_is "$1: the models too" "$(status "$1" pwmodel aton add 3 1 4)" 0
}
a_run contained
if command -v podman >/dev/null && [ "$(id -u)" = 0 ]; then
	trap 'podman unmount -a >/dev/null 2>&1; rm -rf "$work"' EXIT
	image_name=$(podman load -q -i "$work/ci.tar" 2>"$work/err" | sed -n 's/^Loaded image: *//p')
	tap_ok "podman loads it" test -n "$image_name" || sed 's/^/# /' "$work/err"
	tap_is "podman: without words it says what it can do" "$(status pod)" 0
	tap_ok "which is" grep -q '^usage: pw-ci' "$work/out"
	a_run pod
else
	tap_skip "podman" "no podman here, or not root"
fi
tap_done
