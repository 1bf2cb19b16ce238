#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every program of the fuzzer's corpus once, in a new namespace each, by root and by an unprivileged
# user: nothing complains, nothing hangs, and the module can be removed afterwards.

# as many as there is time for; a soak takes all
limit=20
[ "${PW_FLAVOUR:-stock}" = stock ] || limit=60
[ -z "${PW_LONG:-}" ] || limit=0
if [ ! -x "$PW_BUILD/selftests/fuzz" ]; then
	echo "1..0 # SKIP the fuzzer was not built for this architecture"
	exit 4
fi
exec "$PW_BUILD/selftests/fuzz" --corpus "$PW_TOP/selftests/fuzz/corpus" --replay --seconds $limit --reload 100
