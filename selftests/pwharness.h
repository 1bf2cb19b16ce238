/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's test harness, without its limit of 30 seconds for each test: a test may
 * take any time on a busy machine. scripts/test-vm ends a program that hangs.
 */
#ifndef PWHARNESS_H
#define PWHARNESS_H

#include "kselftest_harness.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 3600

/*
 * EXPECT_SOON(@want, @seen): a counter comes to this value; @seen is read again until then.
 * What was sent before may still be on its way. Include pwtest.h first.
 */
#define EXPECT_SOON(want, seen) do {						\
	double _end = pw_now() + SOON / 1000;					\
	while ((long long)(seen) != (long long)(want) && pw_now() < _end)	\
		usleep(2000);							\
	EXPECT_EQ(want, seen);							\
} while (0)

/*
 * EXPECT_AGREED(@since): the tables of half-routers agree now, within ten seconds of quiet, which
 * began at @since. It decides in guests whose time counts instructions: other work of the machine
 * moves no clock there.
 */
#define EXPECT_AGREED(since) \
	EXPECT_GT(getenv("PW_ICOUNT") ? 10.0 : 1e9, pw_now() - (since))

#endif
