#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: files that pages name are there, and every page that prints commands is
# in the test that runs them.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
here=$top/tools/testing/docs
# shellcheck source=SCRIPTDIR/../../../scripts/lib-tap
. "$top/scripts/lib-tap"
out=$(python3 "$here/pages.py" links "$top")
status=$?
printf '%s\n' "$out" | grep -v '^1\.\.'
tap_n=$(printf '%s\n' "$out" | grep -cE '^(not )?ok ')
tap_bad=$((status != 0))
cd "$top" || exit 1
while read -r page; do
	n=$(python3 "$here/pages.py" commands "$page" | tr -dc '\0' | wc -c)
	[ "$n" -gt 0 ] || continue
	case $page in
	Documentation/labs/*) what='Documentation/labs/\*.rst' ;;
	*) what=$page ;;
	esac
	tap_ok "$page: its $n commands are run" grep -q "$what" selftests/docs.sh selftests/trace.sh
done < <(find README.md Documentation -name '*.rst' -o -name '*.md' | sort)
tap_done
