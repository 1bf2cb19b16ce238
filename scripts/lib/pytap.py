# SPDX-License-Identifier: GPL-2.0
"""Test results as TAP, for tests in Python. scripts/lib/python finds this module."""
import sys

points = []


def point(good, what, *more):
    points.append(bool(good))
    print('%sok %d - %s' % ('' if good else 'not ', len(points), what), flush=True)
    if not good:
        for m in more:
            print('# ' + str(m)[:2000].replace('\n', '\n# '), flush=True)


def same(what, got, want):
    point(got == want, what, 'got %r' % (got,), 'expected %r' % (want,))


def skip(what, why):
    points.append(True)
    print('ok %d - %s # SKIP %s' % (len(points), what, why), flush=True)


def finish():
    print('1..%d' % len(points))
    sys.exit(not all(points))
