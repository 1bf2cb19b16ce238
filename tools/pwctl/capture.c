// SPDX-License-Identifier: GPL-2.0
/* Captures: tshark or tcpdump, at a station or at a pwmon device that is made for it. */
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pwctl.h"

/* the dissector of this tree, of the machine, or none: tshark may know it itself */
static const char *dissector(void)
{
	static char path[512];
	const char *env = getenv("PW_DISSECTOR");
	char exe[256];
	ssize_t n;
	char *s;

	if (env && !access(env, R_OK))
		return env;
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (n > 0) {
		exe[n] = 0;
		s = strrchr(exe, '/');
		if (s)
			*s = 0;
		snprintf(path, sizeof(path), "%s/../tools/wireshark/packetway.lua", exe);
		if (!access(path, R_OK))
			return path;
		snprintf(path, sizeof(path), "%s/../share/packetway/packetway.lua", exe);
		if (!access(path, R_OK))
			return path;
	}
	return NULL;
}

/* a pwmon device for one capture */
enum status pwmon_add(struct nl *nl, const char *name, bool ring, bool cells)
{
	char buf[512] __attribute__((aligned(8)));
	struct nlattr *info, *data;
	struct ifinfomsg *ifi;
	struct nlmsghdr *h;

	h = nl_request(nl, buf, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	ifi = mnl_nlmsg_put_extra_header(h, sizeof(*ifi));
	ifi->ifi_flags = IFF_UP;
	ifi->ifi_change = IFF_UP;
	mnl_attr_put_strz(h, IFLA_IFNAME, name);
	info = mnl_attr_nest_start(h, IFLA_LINKINFO);
	mnl_attr_put_str(h, IFLA_INFO_KIND, PACKETWAY_MON_KIND);
	data = mnl_attr_nest_start(h, IFLA_INFO_DATA);
	mnl_attr_put_u8(h, IFLA_PWMON_RING, ring);
	mnl_attr_put_u8(h, IFLA_PWMON_CELLS, cells);
	mnl_attr_nest_end(h, data);
	mnl_attr_nest_end(h, info);
	return nl_do(nl, h, NULL, NULL, name);
}

/* run it and pass signals on: the pwmon device must be removed in any case */
static int run(char **args)
{
	static const int fatal[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t set, old;
	int status, sig, i;
	pid_t pid;

	sigemptyset(&set);
	for (i = 0; i < N(fatal); i++)
		sigaddset(&set, fatal[i]);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &old);
	pid = fork();
	if (pid < 0)
		return fail(errno, "%s", args[0]);
	if (!pid) {
		sigprocmask(SIG_SETMASK, &old, NULL);
		execvp(args[0], args);
		fail(errno, "%s", args[0]);
		_exit(127);
	}
	while (waitpid(pid, &status, WNOHANG) != pid)
		if (!sigwait(&set, &sig) && sig != SIGCHLD)
			kill(pid, sig);
	return WIFEXITED(status) ? WEXITSTATUS(status) : ST_REFUSED;
}

struct capture_args {
	const char *dev, *file;
	bool monitor, ring, cells, tcpdump, tshark;
	char **rest;
};

#define AT(m) offsetof(struct capture_args, m)

const struct word capture_words[] = {
	{ "dev", "NAME", W_TEXT, AT(dev) },
	{ "monitor", NULL, W_FLAG, AT(monitor) },
	{ "ring", NULL, W_FLAG, AT(ring) },
	{ "cells", NULL, W_FLAG, AT(cells) },
	{ "tcpdump", NULL, W_FLAG, AT(tcpdump) },
	{ "tshark", NULL, W_FLAG, AT(tshark) },
	{ "write", "FILE", W_TEXT, AT(file) },
	{ NULL, "OPTION", W_REST, AT(rest) },
	{}
};

enum status cmd_capture(const struct verb *v, int argc, char **argv)
{
	char *args[64], script[600], name[IFNAMSIZ];
	struct capture_args a = {};
	struct station st;
	enum status ret;
	const char *lua;
	struct nl nl;
	int n = 0;

	ret = words(v, argc, argv, &a);
	if (ret)
		return ret;
	a.monitor = a.monitor || a.ring || a.cells;
	if (a.monitor && a.dev)
		return usage("capture: give dev or monitor, not both");
	if (a.monitor) {
		snprintf(name, sizeof(name), "pwmon-%d", getpid());
		a.dev = name;
	} else if (!a.dev) {
		ret = pick_station(NULL, &st);
		if (ret)
			return ret;
		a.dev = st.name;
	}
	args[n++] = a.tcpdump ? "tcpdump" : "tshark";
	args[n++] = "-i";
	args[n++] = (char *)a.dev;
	args[n++] = "-l";
	lua = a.tcpdump ? NULL : dissector();
	if (lua) {
		snprintf(script, sizeof(script), "lua_script:%s", lua);
		args[n++] = "-X";
		args[n++] = script;
	}
	if (a.file) {
		args[n++] = "-w";
		args[n++] = (char *)a.file;
		/* how many so far, each second; tshark says so by itself */
		if (a.tcpdump && isatty(STDERR_FILENO))
			args[n++] = "-v";
	}
	while (a.rest && *a.rest && n < N(args) - 1)
		args[n++] = *a.rest++;
	args[n] = NULL;
	if (!a.monitor) {
		execvp(args[0], args);
		return fail(errno, "%s", args[0]);
	}
	ret = rtnl_open(&nl);
	if (!ret)
		ret = pwmon_add(&nl, name, a.ring, a.cells);
	if (ret)
		return ret;
	n = run(args);
	link_del(&nl, name);
	nl_close(&nl);
	return n;
}
