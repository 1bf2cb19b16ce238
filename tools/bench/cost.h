/* SPDX-License-Identifier: GPL-2.0 */
/* Processor time and instructions of a piece of work. */
#ifndef PW_BENCH_COST_H
#define PW_BENCH_COST_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* user-space instructions of this process; negative where there is no counter */
static int insn_open(void)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(a),
		.config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1, .exclude_hv = 1,
	};

	return syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
}

static long long insn(int fd)
{
	long long v;

	return fd >= 0 && read(fd, &v, sizeof(v)) == sizeof(v) ? v : -1;
}

/*
 * Where there is no counter: single-step a child through some cells. Few cells
 * (each step is two context switches), but a count, not a time. @work does some and
 * returns how many cells they were.
 */
static double insn_stepped(unsigned long long (*work)(void *ctx), void *ctx)
{
	unsigned long long cells = 0, steps = 0;
	int status, fd[2];
	pid_t pid;

	if (pipe(fd))
		return -1;
	pid = fork();
	if (pid < 0)
		return -1;
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(1);
		raise(SIGSTOP);
		cells = work(ctx);
		_exit(write(fd[1], &cells, sizeof(cells)) != sizeof(cells));
	}
	close(fd[1]);
	if (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		while (!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) &&
		       waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
			steps++;
	}
	if (read(fd[0], &cells, sizeof(cells)) != sizeof(cells))
		steps = 0;
	close(fd[0]);
	return steps ? (double)steps / cells : -1;
}

static inline void insn_print(double per_cell)
{
	if (per_cell > 0)
		printf("%10.1f\n", per_cell);
	else
		printf("%10s\n", "-");
}

#endif /* PW_BENCH_COST_H */
