// SPDX-License-Identifier: GPL-2.0
/* Captures: tshark or tcpdump, at a station or at a monitor that is made for it. */
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <signal.h>
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

/* a monitor of our own, gone when we are */
static int monitor_add(struct nl *nl, const char *name, bool ring, bool cells)
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

/* run it, and end it with us: the monitor is to be removed in any case */
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
	return WIFEXITED(status) ? WEXITSTATUS(status) : EX_REFUSED_;
}

int cmd_capture(int argc, char **argv)
{
	bool tcpdump = false, monitor = false, ring = false, cells = false;
	const char *dev = NULL, *file = NULL, *v, *lua;
	char *args[64], script[600], name[IFNAMSIZ];
	struct station st;
	struct nl nl;
	int i = 0, n = 0, err;

	if (argc && !strcmp(argv[0], "help")) {
		printf("  pwctl capture [dev NAME | monitor] [ring] [cells] [tcpdump|tshark] [write FILE]\n"
		       "                [OPTION...]\n"
		       "        at a device, or all packets of this namespace's SANs, and all ring\n"
		       "        packets and cells at every hop; tshark with the dissector, or tcpdump;\n"
		       "        other words are passed on\n"
		       "        example: pwctl capture dev pw0 -c 5 -V -Y pweep\n"
		       "                 pwctl -n LAB capture ring -c 8\n");
		return EX_OK_;
	}
	while (i < argc) {
		if (keyword(argc, argv, &i, "dev", &v))
			dev = v;
		else if (keyword(argc, argv, &i, "write", &v))
			file = v;
		else if (flagword(argc, argv, &i, "monitor"))
			monitor = true;
		else if (flagword(argc, argv, &i, "ring"))
			ring = true;
		else if (flagword(argc, argv, &i, "cells"))
			cells = true;
		else if (flagword(argc, argv, &i, "tcpdump"))
			tcpdump = true;
		else if (!flagword(argc, argv, &i, "tshark"))
			break;
	}
	monitor = monitor || ring || cells;
	if (monitor && dev)
		return usage("capture: at a device or at a monitor, not both");
	if (monitor) {
		snprintf(name, sizeof(name), "pwmon-%d", getpid());
		dev = name;
	} else if (!dev) {
		err = pick_station(NULL, &st);
		if (err)
			return err;
		dev = st.name;
	}
	args[n++] = tcpdump ? "tcpdump" : "tshark";
	args[n++] = "-i";
	args[n++] = (char *)dev;
	args[n++] = "-l";
	if (!tcpdump) {
		lua = dissector();
		if (lua) {
			snprintf(script, sizeof(script), "lua_script:%s", lua);
			args[n++] = "-X";
			args[n++] = script;
		}
	}
	if (file) {
		args[n++] = "-w";
		args[n++] = (char *)file;
	}
	while (i < argc && n < N(args) - 1)
		args[n++] = argv[i++];
	args[n] = NULL;
	if (!monitor) {
		execvp(args[0], args);
		return fail(errno, "%s", args[0]);
	}
	err = nl_open(&nl, NETLINK_ROUTE);
	if (err)
		return fail(err, "rtnetlink");
	err = monitor_add(&nl, name, ring, cells);
	if (!err) {
		err = run(args);
		link_del(&nl, name);
	}
	nl_close(&nl);
	return err;
}
