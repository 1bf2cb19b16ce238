#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: files and functions that pages and MAINTAINERS name are there, every page
# that prints commands is in the test that runs them, and the path of a frame is as the page
# says.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
here=$top/tools/testing/docs
# shellcheck source=SCRIPTDIR/../../../scripts/lib/tap
. "$top/scripts/lib/tap"
cd "$top" || exit 1
for what in links functions chains; do
	while read -r verdict; do
		case $verdict in
		ok\ *) tap_result 0 "$what: ${verdict#* - }" ;;
		not\ ok\ *) tap_result 1 "$what: ${verdict#* - }" ;;
		\#*) printf '%s\n' "$verdict" ;;
		esac
	done < <(python3 "$here/pages.py" $what "$top")
	tap_ok "$what: all pages were read" test "$tap_n" -gt 10
done
while read -r page; do
	n=$(python3 "$here/pages.py" commands "$page" | tr -dc '\0' | wc -c)
	[ "$n" -gt 0 ] || continue
	case $page in
	Documentation/labs/*) what='Documentation/labs/\*.rst' ;;
	*) what=$page ;;
	esac
	tap_ok "$page: its $n commands are run" grep -q "$what" selftests/docs.sh selftests/trace.sh \
		selftests/wireguard.sh selftests/replay.sh
done < <(find README.md Documentation -name '*.rst' -o -name '*.md' | sort)
# the map of files names what is there
while read -r pattern; do
	tap_ok "MAINTAINERS: $pattern" compgen -G "$pattern"
done < <(sed -n 's/^[FTD]:[[:blank:]]*//p' Documentation/MAINTAINERS)
tap_done
