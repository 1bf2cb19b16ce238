// SPDX-License-Identifier: GPL-2.0
/*
 * Making a network namespace fails at every point: in a memory cgroup whose limit
 * is reached, and by fail-nth where the kernel has fault injection. Notifiers of
 * the module then see devices of a namespace that is not complete.
 */
#include "pwfail.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define CG	"/tmp/pw-nomem"
#define GROUP	CG "/group"
#define STACK	(64 * 1024)

static int child_err;
static char *stack;

/*
 * Shares the memory of its parent: pages of user space stay charged to the group
 * of the parent, only what the kernel allocates for this task meets the limit.
 */
static int make_ns(void *arg)
{
	child_err = pw_write_file(GROUP "/cgroup.procs", "0");
	if (!child_err && unshare(CLONE_NEWNET))
		child_err = -errno;
	_exit(0);
}

/* 0, the error of unshare(), or -EINTR if the OOM killer took the task */
static int try_limit(long bytes)
{
	char text[32];
	int pid, status;

	snprintf(text, sizeof(text), "%ld", bytes);
	if (mkdir(GROUP, 0755) || pw_write_file(GROUP "/memory.max", text))
		ksft_exit_fail_msg("no group: %s\n", strerror(errno));
	child_err = -EINTR;
	pid = clone(make_ns, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		ksft_exit_fail_msg("no child: %s\n", strerror(errno));
	rmdir(GROUP);
	return child_err;
}

static void limits(void)
{
	long step = 4096 * 100 / pw_count(100, 2), bytes;
	int tries = 0, failed = 0, made = 0, err;

	mkdir(CG, 0755);
	if (mount("none", CG, "cgroup2", 0, NULL) ||
	    pw_write_file(CG "/cgroup.subtree_control", "+memory")) {
		ksft_test_result_skip("no memory cgroups\n");
		return;
	}
	/* three successes: behind them nothing fails */
	for (bytes = 16 * 1024; bytes < 16 << 20 && made < 3; bytes += step) {
		err = try_limit(bytes);
		tries++;
		failed += err != 0;
		made += !err;
		/* a namespace takes a while to go: then there is no hurry */
		if (failed > 40)
			step = 32 * 4096;
	}
	ksft_test_result(failed && made, "%d namespaces refused and %d made at a memory limit\n",
			 failed, made);
	umount2(CG, MNT_DETACH);
}

static void faults(void)
{
	static const int much = 1000000;
	int save = pw_ns_self(), total, n, step, failed = 0, tries = 0;

	if (!pw_fail_open()) {
		ksft_test_result_skip("this kernel has no fail-nth\n");
		return;
	}
	pw_fail_arm(much);
	if (unshare(CLONE_NEWNET))
		ksft_exit_fail_msg("unshare: %s\n", strerror(errno));
	total = much - pw_fail_left();
	setns(save, CLONE_NEWNET);
	/* every one in soaks, else an evenly spread choice */
	step = pw_long() ? 1 : total / pw_count(600, 40) + 1;
	for (n = 1; n <= total; n += step, tries++) {
		pw_fail_arm(n);
		if (unshare(CLONE_NEWNET))
			failed++;
		pw_fail_left();
		setns(save, CLONE_NEWNET);
	}
	ksft_test_result(failed > 0, "%d of %d allocations failed, %d namespaces were refused\n",
			 tries, total, failed);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(2);
	stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED)
		ksft_exit_fail_msg("no stack\n");
	memset(stack, 0, STACK);
	/* out of the OOM killer's reach: the allocation fails instead */
	pw_write_file("/proc/self/oom_score_adj", "-1000");
	pw_write_file("/proc/sys/kernel/printk", "1");
	limits();
	faults();
	ksft_finished();
}
