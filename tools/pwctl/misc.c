// SPDX-License-Identifier: GPL-2.0
/* Counters, events, captures, faults. */
#include <dirent.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pwctl.h"

#ifndef WS_DIR
#define WS_DIR "/usr/share/packetway"
#endif
#define TRACING "/sys/kernel/tracing"
#define FAULTS "/sys/kernel/debug/packetway"

/* Counters ----------------------------------------------------------------- */

json_t *station_stats(const char *name)
{
	struct {
		struct ethtool_sset_info h;
		__u32 n;
	} info = { { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_STATS }, 0 };
	struct ethtool_gstrings *strings = NULL;
	struct ethtool_stats *values = NULL;
	struct ifreq ifr = {};
	json_t *j = NULL;
	__u32 i;
	int fd;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return NULL;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	ifr.ifr_data = (void *)&info;
	if (ioctl(fd, SIOCETHTOOL, &ifr) || !info.h.sset_mask)
		goto out;
	strings = calloc(1, sizeof(*strings) + (size_t)info.n * ETH_GSTRING_LEN);
	values = calloc(1, sizeof(*values) + (size_t)info.n * 8);
	if (!strings || !values)
		goto out;
	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_STATS;
	strings->len = info.n;
	ifr.ifr_data = (void *)strings;
	if (ioctl(fd, SIOCETHTOOL, &ifr))
		goto out;
	values->cmd = ETHTOOL_GSTATS;
	values->n_stats = info.n;
	ifr.ifr_data = (void *)values;
	if (ioctl(fd, SIOCETHTOOL, &ifr))
		goto out;
	j = json_object();
	for (i = 0; i < info.n; i++) {
		char key[ETH_GSTRING_LEN + 1];

		snprintf(key, sizeof(key), "%.*s", ETH_GSTRING_LEN,
			 (char *)strings->data + i * ETH_GSTRING_LEN);
		json_object_set_new(j, key, j_u64(values->data[i]));
	}
out:
	free(strings);
	free(values);
	close(fd);
	return j;
}

int cmd_stats(int argc, char **argv)
{
	const char *name = NULL, *key;
	struct station *list;
	json_t *j, *s, *v;
	int n, i, k, hits = 0;
	bool all = false;

	for (k = 0; k < argc; k++) {
		if (!strcmp(argv[k], "help")) {
			printf("  pwctl stats [NAME] [all]\n"
			       "        counters that are not 0 (all: those too), as `ethtool -S` has them\n");
			return EX_OK_;
		}
		if (!strcmp(argv[k], "all"))
			all = true;
		else if (strcmp(argv[k], "dev"))
			name = argv[k];
	}
	n = stations(&list);
	if (n < 0)
		return fail(n, "stations");
	out_begin(false);
	for (i = 0; i < n; i++) {
		if (name && strcmp(list[i].name, name))
			continue;
		hits++;
		s = station_stats(list[i].name);
		if (!s) {
			free(list);
			return fail(errno, "%s", list[i].name);
		}
		if (opt_json) {
			j = json_object();
			json_object_set_new(j, "ifname", json_string(list[i].name));
			json_object_set_new(j, "stats", s);
			out_item("station", j);
			continue;
		}
		printf("station %s:\n", list[i].name);
		json_object_foreach(s, key, v)
			if (all || !json_is_integer(v) || json_integer_value(v))
				printf("    %-28s %lld\n", key, (long long)json_integer_value(v));
		json_decref(s);
	}
	free(list);
	if (name && !hits)
		return fail(0, "there is no station %s in this namespace", name);
	out_end();
	return EX_OK_;
}

/* Events ------------------------------------------------------------------- */

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	stop = 1;
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static void emit_event(const char *what, const char *action, json_t *obj)
{
	json_t *j = json_object();

	json_object_set_new(j, "event", json_string(action));
	json_object_set_new(j, "object", json_string(what));
	json_object_update(j, obj);
	json_decref(obj);
	out_item("", j);
}

static int monitor_msgs(struct nl *nl, bool genl)
{
	char buf[NL_BUF] __attribute__((aligned(8)));
	const char *what = "station", *action;
	const struct nlmsghdr *h;
	ssize_t len;
	json_t *j;
	int n, seen = 0;

	len = mnl_socket_recvfrom(nl->s, buf, sizeof(buf));
	if (len < 0) {
		if (errno == ENOBUFS)
			fail(0, "events were lost: this reader is too slow");
		return 0;
	}
	n = len;
	for (h = (void *)buf; mnl_nlmsg_ok(h, n); h = mnl_nlmsg_next(h, &n)) {
		if (h->nlmsg_type < NLMSG_MIN_TYPE)
			continue;
		j = genl ? object_event(h, &what, &action) : link_event(h, &action);
		if (!j)
			continue;
		emit_event(what, action, j);
		seen++;
	}
	return seen;
}

/* tracepoints of an instance of our own, so that nobody else's are disturbed */
static int trace_open(char *dir, size_t cap)
{
	char path[256];
	int fd, err;

	snprintf(dir, cap, TRACING "/instances/pwctl-%d", getpid());
	if (mkdir(dir, 0700))
		return -errno;
	snprintf(path, sizeof(path), "%s/events/packetway/enable", dir);
	err = write_file(path, "1");
	if (err) {
		rmdir(dir);
		return err;
	}
	snprintf(path, sizeof(path), "%s/trace_pipe", dir);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		rmdir(dir);
		return err;
	}
	return fd;
}

static int monitor_trace(int fd)
{
	static char buf[65536];
	char *line, *save, *name, *colon;
	int seen = 0;
	ssize_t n;
	json_t *j;

	n = read(fd, buf, sizeof(buf) - 1);
	if (n <= 0)
		return 0;
	buf[n] = 0;
	for (line = strtok_r(buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		/* "   task-pid  [cpu] flags  time: event: text" */
		name = strstr(line, ": ");
		colon = name ? strstr(name + 2, ": ") : NULL;
		if (!colon)
			continue;
		*colon = 0;
		j = json_object();
		json_object_set_new(j, "event", json_string("trace"));
		json_object_set_new(j, "tracepoint", json_string(name + 2));
		json_object_set_new(j, "text", json_string(colon + 2));
		out_item("", j);
		seen++;
	}
	return seen;
}

int cmd_monitor(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct pollfd p[3];
	uint32_t count = 0;
	bool trace = false;
	char dir[128];
	struct genl g;
	struct nl rt;
	int i = 0, err, seen = 0, np = 2;
	unsigned int group = RTNLGRP_LINK;
	const char *v;

	while (i < argc) {
		if (flagword(argc, argv, &i, "trace")) {
			trace = true;
		} else if (keyword(argc, argv, &i, "count", &v)) {
			if (parse_u32(v, &count))
				return usage("count: \"%s\" is not a number", v);
		} else if (flagword(argc, argv, &i, "help")) {
			printf("  pwctl monitor [trace] [count N]\n"
			       "        changes of SANs, routers and stations; trace: tracepoints too\n");
			return EX_OK_;
		} else {
			return usage("monitor: what is \"%s\"?", argv[i]);
		}
	}
	err = genl_open(&g);
	if (err)
		return err;
	err = nl_open(&rt, NETLINK_ROUTE);
	if (err)
		return fail(err, "rtnetlink");
	if (mnl_socket_setsockopt(g.nl.s, NETLINK_ADD_MEMBERSHIP, &g.group, sizeof(g.group)) ||
	    mnl_socket_setsockopt(rt.s, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		return fail(errno, "events");
	p[0] = (struct pollfd) { .fd = mnl_socket_get_fd(g.nl.s), .events = POLLIN };
	p[1] = (struct pollfd) { .fd = mnl_socket_get_fd(rt.s), .events = POLLIN };
	if (trace) {
		err = trace_open(dir, sizeof(dir));
		if (err < 0)
			return fail(err, "tracepoints (" TRACING ")");
		p[np++] = (struct pollfd) { .fd = err, .events = POLLIN };
	}
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	out_begin(true);
	while (!stop && (!count || seen < (int)count)) {
		if (poll(p, np, trace ? 200 : -1) < 0 && errno != EINTR)
			break;
		if (stop)
			break;
		if (p[0].revents)
			seen += monitor_msgs(&g.nl, true);
		if (p[1].revents)
			seen += monitor_msgs(&rt, false);
		if (trace)
			seen += monitor_trace(p[2].fd);
	}
	if (trace) {
		close(p[2].fd);
		rmdir(dir);
	}
	nl_close(&g.nl);
	nl_close(&rt);
	return EX_OK_;
}

/* Captures ----------------------------------------------------------------- */

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
	}
	return NULL;
}

int cmd_capture(int argc, char **argv)
{
	const char *dev = NULL, *file = NULL, *v, *lua;
	bool tcpdump = false;
	char *args[64], script[600];
	struct station st;
	int i = 0, n = 0, err;

	if (argc && !strcmp(argv[0], "help")) {
		printf("  pwctl capture [dev NAME] [tcpdump|tshark] [write FILE] [OPTION...]\n"
		       "        tshark with the dissector, or tcpdump; other words are passed on\n"
		       "        example: pwctl capture dev pw0 -c 5 -V -Y pweep\n");
		return EX_OK_;
	}
	while (i < argc) {
		if (keyword(argc, argv, &i, "dev", &v))
			dev = v;
		else if (keyword(argc, argv, &i, "write", &v))
			file = v;
		else if (flagword(argc, argv, &i, "tcpdump"))
			tcpdump = true;
		else if (!flagword(argc, argv, &i, "tshark"))
			break;
	}
	/* any netdevice will do: the monitor device is one */
	if (!dev) {
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
	execvp(args[0], args);
	return fail(errno, "%s", args[0]);
}

/* Faults ------------------------------------------------------------------- */

static int walk_faults(const char *dir, const char *name)
{
	char path[512], text[256], full[256];
	struct dirent *d;
	struct stat sb;
	DIR *h;
	int fd, n = 0;
	ssize_t len;
	json_t *j;

	snprintf(path, sizeof(path), "%s%s%s", dir, *name ? "/" : "", name);
	h = opendir(path);
	if (!h)
		return -errno;
	while ((d = readdir(h))) {
		if (d->d_name[0] == '.')
			continue;
		snprintf(full, sizeof(full), "%s%s%s", name, *name ? "/" : "", d->d_name);
		snprintf(path, sizeof(path), "%s/%s", dir, full);
		if (stat(path, &sb))
			continue;
		if (S_ISDIR(sb.st_mode)) {
			n += walk_faults(dir, full) > 0;
			continue;
		}
		fd = open(path, O_RDONLY | O_CLOEXEC);
		len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		if (fd >= 0)
			close(fd);
		text[len > 0 ? len : 0] = 0;
		text[strcspn(text, "\n")] = 0;
		j = json_object();
		json_object_set_new(j, "name", json_string(full));
		json_object_set_new(j, "value", json_string(text));
		out_item("fault", j);
		n++;
	}
	closedir(h);
	return n;
}

static int fault_show(int argc, char **argv)
{
	int n;

	out_begin(false);
	n = walk_faults(FAULTS, "");
	if (n < 0)
		return n == -ENOENT ? fail(0, "this kernel has no fault knobs (" FAULTS ")") :
				      fail(n, FAULTS);
	out_end();
	return EX_OK_;
}

static int fault_set(int argc, char **argv)
{
	char path[512];
	int err;

	if (argc < 2 || strstr(argv[0], ".."))
		return usage("fault set: NAME VALUE, with a name that `fault show` lists");
	snprintf(path, sizeof(path), FAULTS "/%s", argv[0]);
	err = write_file(path, argv[1]);
	return err ? fail(err, "%s", path) : EX_OK_;
}

int cmd_fault(int argc, char **argv)
{
	static const struct verb v[] = {
		{ "show", fault_show, "", "knobs and their values" },
		{ "set", fault_set, "NAME VALUE", "turn one" },
	};

	return dispatch("fault", v, N(v), argc, argv);
}
