// SPDX-License-Identifier: GPL-2.0
/* Events: changes that netlink reports, and tracepoints. */
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pwctl.h"

#define TRACING "/sys/kernel/tracing"

static void emit_event(const char *what, const char *action, json_t *obj)
{
	json_t *j = json_object();

	json_object_set_new(j, "event", json_string(action));
	json_object_set_new(j, "object", json_string(what));
	json_object_update(j, obj);
	json_decref(obj);
	out_item("", j);
}

static int event_msgs(struct nl *nl, bool genl)
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

/* an instance of our own, so that other users of tracing are not disturbed */
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

static int trace_msgs(int fd)
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

struct events_args {
	bool trace;
	const char *event;
	uint32_t count;
};

const struct word events_words[] = {
	{ "trace", NULL, W_FLAG, offsetof(struct events_args, trace) },
	{ "event", "TRACEPOINT", W_TEXT, offsetof(struct events_args, event) },
	{ "count", "N", W_U32, offsetof(struct events_args, count) },
	{}
};

enum status cmd_events(const struct verb *v, int argc, char **argv)
{
	unsigned int group = RTNLGRP_LINK, seen = 0;
	struct events_args a = {};
	struct pollfd p[3];
	enum status st;
	char dir[128];
	struct genl g;
	struct nl rt;
	int err, np = 2;

	st = words(v, argc, argv, &a);
	if (!st)
		st = genl_open(&g);
	if (!st)
		st = rtnl_open(&rt);
	if (st)
		return st;
	if (mnl_socket_setsockopt(g.nl.s, NETLINK_ADD_MEMBERSHIP, &g.group, sizeof(g.group)) ||
	    mnl_socket_setsockopt(rt.s, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		return fail(errno, "events");
	p[0] = (struct pollfd) { .fd = mnl_socket_get_fd(g.nl.s), .events = POLLIN };
	p[1] = (struct pollfd) { .fd = mnl_socket_get_fd(rt.s), .events = POLLIN };
	a.trace = a.trace || a.event;
	if (a.trace) {
		err = trace_open(dir, sizeof(dir), a.event ? a.event : "");
		if (err < 0)
			return fail(err, "tracepoints (" TRACING ")");
		p[np++] = (struct pollfd) { .fd = err, .events = POLLIN };
	}
	catch_signals();
	out_begin(true);
	while (!interrupted && (!a.count || seen < a.count)) {
		if (poll(p, np, a.trace ? 200 : -1) < 0 && errno != EINTR)
			break;
		if (interrupted)
			break;
		if (p[0].revents)
			seen += event_msgs(&g.nl, true);
		if (p[1].revents)
			seen += event_msgs(&rt, false);
		if (a.trace)
			seen += trace_msgs(p[2].fd);
	}
	if (a.trace) {
		close(p[2].fd);
		rmdir(dir);
	}
	nl_close(&g.nl);
	nl_close(&rt);
	return ST_OK;
}
