// SPDX-License-Identifier: GPL-2.0
/* The same program as a 32-bit one: compat ioctls have the same layouts. */
#include "cdev_test.c"
