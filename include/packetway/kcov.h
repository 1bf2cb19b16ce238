/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Coverage of softirqs and work items, for the fuzzer (selftests/fuzz/).
 *
 * KCOV collects in the task that asked for it, so polls, receive functions and work
 * items mark themselves as remote sections of one fixed handle. Threaded NAPI would
 * need the same marks and would change what the fuzzer tests. A module that is built
 * without PW_KCOV contains nothing of this.
 */
#ifndef PW_KCOV_H
#define PW_KCOV_H

#if defined(CONFIG_KCOV) && defined(PW_KCOV)
#include <linux/kcov.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#define PW_KCOV_HANDLE	0x7057

static inline bool pw_kcov_begin(void)
{
	/* sections do not nest: a receive function may be called by a poll */
	if (in_serving_softirq() ? current->kcov_softirq :
	    !(current->flags & PF_KTHREAD) || current->kcov_mode || !in_task())
		return false;
	kcov_remote_start_common(PW_KCOV_HANDLE);
	return true;
}

static inline void pw_kcov_end(bool *begun)
{
	if (*begun)
		kcov_remote_stop();
}

/* among the declarations of a function: from here to its end is one section */
#define pw_kcov_section() \
	bool pw_kcov_begun __attribute__((__cleanup__(pw_kcov_end), __unused__)) = pw_kcov_begin()
#else
#define pw_kcov_section() do { } while (0)
#endif

#endif
