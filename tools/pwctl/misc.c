// SPDX-License-Identifier: GPL-2.0
/* Counters, events, faults. */
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
static int trace_open(char *dir, size_t cap, const char *event)
{
	char path[256];
	int fd, err;

	snprintf(dir, cap, TRACING "/instances/pwctl-%d", getpid());
	if (mkdir(dir, 0700))
		return -errno;
	snprintf(path, sizeof(path), "%s/events/packetway/%s%senable", dir, event,
		 *event ? "/" : "");
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
	const char *v, *event = "";

	while (i < argc) {
		if (flagword(argc, argv, &i, "trace")) {
			trace = true;
		} else if (keyword(argc, argv, &i, "event", &event)) {
			trace = true;
		} else if (keyword(argc, argv, &i, "count", &v)) {
			if (parse_u32(v, &count))
				return usage("count: \"%s\" is not a number", v);
		} else if (flagword(argc, argv, &i, "help")) {
			printf("  pwctl monitor [trace | event TRACEPOINT] [count N]\n"
			       "        changes of SANs and stations; all tracepoints, or one, too\n");
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
		err = trace_open(dir, sizeof(dir), event);
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

/* Faults ------------------------------------------------------------------- */

/* the directory of a SAN of this namespace */
int san_debugfs(uint32_t id, char *dir, size_t cap)
{
	struct stat ns;

	if (stat("/proc/self/ns/net", &ns))
		return -errno;
	snprintf(dir, cap, FAULTS "/net%lu-san%u", (unsigned long)ns.st_ino, id);
	if (access(dir, F_OK))
		snprintf(dir, cap, FAULTS "/san%u", id);
	return access(dir, F_OK) ? -errno : 0;
}

static int fault_dir(const char *san, char *dir, size_t cap)
{
	uint32_t id = 0;
	int err;

	if (san && parse_u32(san, &id))
		return usage("san: \"%s\" is not a number", san);
	err = san_debugfs(id, dir, cap);
	return err ? fail(err, "faults of SAN %u (%s)", id, dir) : EX_OK_;
}

static int fault_write(const char *san, const char *file, const char *text)
{
	char path[256], dir[200];
	int err;

	err = fault_dir(san, dir, sizeof(dir));
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	err = write_file(path, text);
	return err ? fail(err, "%s", path) : EX_OK_;
}

static int fault_ring(int argc, char **argv)
{
	const char *san = NULL;
	char text[64] = "";
	int i = 0;

	while (i < argc) {
		if (keyword(argc, argv, &i, "san", &san))
			continue;
		if (strlen(text) + strlen(argv[i]) + 2 > sizeof(text))
			return usage("fault ring: too many words");
		if (*text)
			strcat(text, " ");
		strcat(text, argv[i++]);
	}
	if (!*text)
		return usage("fault ring: flip, stuck, leave, lose or dup");
	return fault_write(san, "ring_fault", text);
}

static int fault_fabric(int argc, char **argv)
{
	const char *san = NULL, *v;
	uint32_t drop = 0, corrupt = 0, seed = 1;
	char text[64];
	int i = 0;

	while (i < argc) {
		if (keyword(argc, argv, &i, "san", &san))
			continue;
		if (keyword(argc, argv, &i, "drop", &v)) {
			if (parse_u32(v, &drop))
				return usage("drop: \"%s\" is not a number", v);
		} else if (keyword(argc, argv, &i, "corrupt", &v)) {
			if (parse_u32(v, &corrupt))
				return usage("corrupt: \"%s\" is not a number", v);
		} else if (keyword(argc, argv, &i, "seed", &v)) {
			if (parse_u32(v, &seed))
				return usage("seed: \"%s\" is not a number", v);
		} else {
			return usage("fault fabric: what is \"%s\"?", argv[i]);
		}
	}
	snprintf(text, sizeof(text), "%u %u %u", drop, corrupt, seed);
	return fault_write(san, "fabric_fault", text);
}

int cmd_fault(int argc, char **argv)
{
	static const struct verb v[] = {
		{ "ring", fault_ring,
		  "[san N] flip HOP BIT | stuck INTERFACE | leave BITS | lose | dup",
		  "one fault, with the next packet or token of the ring" },
		{ "fabric", fault_fabric, "[san N] [drop PPM] [corrupt PPM] [seed N]",
		  "cells lost and corrupted from now on, in parts per million" },
	};

	if (!argc)
		return usage("fault: ring or fabric?");
	return dispatch("fault", v, N(v), argc, argv);
}
