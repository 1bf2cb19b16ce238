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

#endif
