/* SPDX-License-Identifier: GPL-2.0 */
/* Fault injection by fail-nth, for C selftests: the nth allocation of this thread fails. */
#ifndef PWFAIL_H
#define PWFAIL_H

#include "pwtest.h"
#include "kselftest.h"

static int pw_fail_fd = -1;

/* false: this kernel has no fail-nth */
static PW_UNUSED bool pw_fail_open(void)
{
	pw_fail_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (pw_fail_fd < 0)
		return false;
	pw_write_file("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	pw_write_file("/sys/kernel/debug/failslab/verbose", "0");
	pw_write_file("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	pw_write_file("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	return true;
}

static PW_UNUSED void pw_fail_arm(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	/* disarming may meet the fault, which disarms */
	if (pwrite(pw_fail_fd, text, len, 0) != len && (n || errno != EFAULT))
		ksft_exit_fail_msg("fail-nth: %s\n", strerror(errno));
}

/*
 * Allocations that are left until the fault, 0: it was met, -1: it was met by this read.
 * Disarms.
 */
static PW_UNUSED int pw_fail_left(void)
{
	char text[16] = "";

	if (pread(pw_fail_fd, text, sizeof(text) - 1, 0) <= 0) {
		if (errno == EFAULT)
			return -1;
		ksft_exit_fail_msg("fail-nth: %s\n", strerror(errno));
	}
	if (atoi(text))
		pw_fail_arm(0);
	return atoi(text);
}

#endif
