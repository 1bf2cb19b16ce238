// SPDX-License-Identifier: GPL-2.0
/*
 * The tests of router_test with tools/examples/router.py in place of each router of the kernel.
 * A router "r" is a process here, whose half-routers are "r1" and "r2".
 */
#include "pwtest.h"
#include "pwrouter.h"

#include <linux/sockios.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define PROGRAMS 8

static struct {
	char name[16];
	pid_t pid;
} programs[PROGRAMS];

#define PLACE 96

/* SAN, port, MTU and quality for the program; a port that is not given is one of the highest */
static void program_place(char *text, const struct pw_half_req *half, long quality)
{
	static int used;
	long port = half->port < 0 ? 15 - used++ % 8 : half->port;

	snprintf(text, PLACE, "%ld:%ld:%ld:%ld", half->san, port, half->mtu < 0 ? 0 : half->mtu,
		 quality);
}

static void program_exec(int ns, int out, const char *name, char place[2][PLACE])
{
	char *const argv[] = { "python3", PW_ROUTER_PY, (char *)name, place[0], place[1], NULL };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setns(ns, CLONE_NEWNET) || dup2(out, 1) != 1)
		_exit(126);
	execvp(argv[0], argv);
	_exit(127);
}

/* a router as a process; 0 when it is ready, or a negative errno */
static PW_UNUSED int program_add_q(struct pw_genl *g, const char *name, struct pw_half_req a,
				   struct pw_half_req b, long quality)
{
	int ns = ioctl(g->nl.fd, SIOCGSKNS), end[2], i, n;
	char place[2][PLACE], text[8] = "";
	pid_t pid;

	for (i = 0; i < PROGRAMS && programs[i].pid; i++)
		;
	if (ns < 0 || i == PROGRAMS || pipe2(end, O_CLOEXEC))
		return -EMFILE;
	program_place(place[0], &a, quality);
	program_place(place[1], &b, quality);
	pid = fork();
	if (!pid)
		program_exec(ns, end[1], name, place);
	close(end[1]);
	close(ns);
	n = read(end[0], text, sizeof(text) - 1);
	close(end[0]);
	if (pid < 0 || n < 5 || strncmp(text, "ready", 5)) {
		waitpid(pid, NULL, 0);
		return -ECHILD;
	}
	snprintf(programs[i].name, sizeof(programs[i].name), "%s", name);
	programs[i].pid = pid;
	return 0;
}

static PW_UNUSED int program_add(struct pw_genl *g, const char *name, struct pw_half_req a,
				 struct pw_half_req b)
{
	return program_add_q(g, name, a, b, 0);
}

/* its half-routers have gone when this returns */
static PW_UNUSED int program_del(struct pw_genl *g, const char *name)
{
	int i, status;

	for (i = 0; i < PROGRAMS; i++) {
		if (!programs[i].pid || strcmp(programs[i].name, name))
			continue;
		kill(programs[i].pid, SIGTERM);
		if (waitpid(programs[i].pid, &status, 0) != programs[i].pid)
			return -ECHILD;
		programs[i].pid = 0;
		return status ? -EPROTO : 0;
	}
	return -ENOENT;
}

static const char *program_half_name(const char *name, int which)
{
	static char half[32];

	snprintf(half, sizeof(half), "%s%d", name, which + 1);
	return half;
}

static PW_UNUSED struct rtattr *program_half(struct pw_genl *g, const char *name, int which)
{
	return pw_router_half(g, program_half_name(name, which), 0);
}

static PW_UNUSED uint64_t program_stat(struct pw_genl *g, const char *name, int which, int stat)
{
	return pw_half_stat(g, program_half_name(name, which), 0, stat);
}

#define PROGRAM 1
#define pw_router_add	program_add
#define pw_router_add_q	program_add_q
#define pw_router_del	program_del
#define pw_router_half	program_half
#define pw_half_stat	program_stat

#include "router_test.c"
