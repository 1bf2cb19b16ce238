#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: pages of `pwctl view`: data, what the page computes (under node), what is
# refused. With PW_LONG and a Chromium, also the pages themselves; PW_CHROMIUM names it.
# film.js makes the picture of the README. sans.pcapng is a capture of Documentation/labs/sans.yaml with six echoes.

top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
build=${1:-$top/build}
exec "$top/scripts/lib/python" json "$top/tools/testing/view/check.py" "$top" "$build"
