#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD [NAME...]: the notebooks run from their first cell to the last, and are stored
# without output. Where Debian's nbconvert is installed it executes them, and their figures stay in
# results/notebooks; otherwise their code cells run in one name space, without the magic of
# IPython, which they do not use.

top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
build=${1:-$top/build}
export PYTHONPATH=$top/tools/python${PYTHONPATH:+:$PYTHONPATH} PACKETWAY_BUILD=$build PYTHONDONTWRITEBYTECODE=1
shift
exec "$top/scripts/lib/python" yaml,pyroute2 "$top/tools/testing/notebooks/check.py" "$top" "$@"
