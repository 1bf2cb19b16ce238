// SPDX-License-Identifier: GPL-2.0
/*
 * pwctl: a packetway network from the command line.
 * Verbs, words and output follow iproute2.
 */
#include <fcntl.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "pwctl.h"

volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = 1;
}

void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

int64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}

int enter_netns(const char *name)
{
	char path[256];
	int fd, err = 0;

	snprintf(path, sizeof(path), strchr(name, '/') ? "%s" : "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (setns(fd, CLONE_NEWNET))
		err = -errno;
	close(fd);
	return err;
}

static enum status show_help(const struct verb *v, int argc, char **argv);

static const struct word help_words[] = {
	{ NULL, "VERB", W_TEXT },
	{}
};

static const struct verb verbs[] = {
	{ "san", .sub = san_verbs, .what = "system-area networks: ports, bias, engines" },
	{ "station", .sub = station_verbs, .what = "stations: netdevices on the ports of a SAN" },
	{ "router", .sub = router_verbs, .what = "routers between SANs, trunks to other hosts" },
	{ "route", .sub = route_verbs, .what = "routes from SAN to SAN, and source routes" },
	{ "name", .sub = name_verbs, .what = "nodes that half-routers know" },
	{ "resolve", cmd_resolve, 0, resolve_words, "a node, and the routes to it",
	  "asks the half-routers of a station's SAN (TELL, GVL2); with san, asks the\n"
	  "        kernel for all routes from a SAN of this namespace" },
	{ "find", cmd_find, 0, find_words, "nodes that fit a description, on all SANs",
	  "asks the half-routers of a station's SAN (TELL); what is given must all fit" },
	{ "describe", cmd_describe, 0, describe_words, "what a station is, for others to find it",
	  "tells the half-routers of its SAN (INFO); replaces its name and capabilities until\n"
	  "        it goes down" },
	{ "aton", .sub = aton_verbs,
	  .what = "commands that the ring executes, operands, standing commands" },
	{ "ping", cmd_ping, 0, ping_words, "EEP echo, by address or by source route",
	  "4 echoes unless count says otherwise; count 0: until interrupted" },
	{ "trace", cmd_trace, 0, trace_words,
	  "half-routers on the route, with the virtual time to each",
	  "entry (addr) and exit (out) of each router, and how long a message takes to\n"
	  "        reach it: in virtual nanoseconds of the fabrics, and in microseconds there\n"
	  "        and back" },
	{ "send", cmd_send, 0, send_words, "send one EEP message",
	  "with wait, messages that arrive within that time are shown" },
	{ "esp", .sub = esp_verbs,
	  .what = "ESP stores, and single instructions with their outcome" },
	{ "poets", .sub = poets_verbs,
	  .what = "POETS applications, and the softswitches that run them" },
	{ "stats", cmd_stats, 0, stats_words, "counters of stations that are not 0",
	  "all: also those that are 0; the names are those of `ethtool -S`" },
	{ "metrics", cmd_metrics, 0, metrics_words, "counters and levels for Prometheus",
	  "of stations, SANs, rings, fabrics, routers, trunks, ESP and POETS, here or in a lab.\n"
	  "        -o replaces a file at once, as the textfile collector of node_exporter needs it;\n"
	  "        --listen answers GET /metrics, on 127.0.0.1 unless an address is given. With -j\n"
	  "        the counters as JSON, which `from` reads" },
	{ "events", cmd_events, 0, events_words, "changes as they happen",
	  "of SANs, stations, routers and routes; trace adds all tracepoints, event one" },
	{ "monitor", cmd_events, 0, events_words, "older name of events" },
	{ "capture", cmd_capture, 0, capture_words, "capture with the dissector",
	  "at a device, or at a pwmon device that is made for the capture (monitor): all\n"
	  "        frames of this namespace's SANs, ring packets and cells at every hop; tshark\n"
	  "        with the dissector, or tcpdump; other words are passed on to it" },
	{ "view", cmd_view, 0, view_words, "a page that plays a capture, a run of a model or a lab",
	  "of `pwctl capture ... write FILE`, `pwmodel aton|fabric --capture FILE` or\n"
	  "        `pwmodel fabric --trace FILE`; one HTML file for any browser, which loads nothing\n"
	  "        else. FILE.html unless -o says otherwise; - is standard input or output. Of a lab,\n"
	  "        what happens until count, time or an interrupt; --live serves a page that follows\n"
	  "        it, read-only, on the loopback device and with a token in the address" },
	{ "virtual", cmd_virtual, 0, virtual_words,
	  "run a command in the virtual time of a station's SAN, which is in lockstep",
	  "time stands still while the command, its threads or its children run. The status\n"
	  "        is that of the command, or 99 if all of them wait and nothing is pending for the\n"
	  "        time of stall (10000 ms of real time); a table says who waits in what.\n"
	  "        fresh: the SANs of this namespace get a new fabric first, so that the run\n"
	  "        begins as every other one" },
	{ "fault", .sub = fault_verbs, .what = "injected faults, seeded (debugfs)" },
	{ "lab", .sub = lab_verbs, .what = "networks of namespaces from one file" },
	{ "experiment", .sub = experiment_verbs,
	  .what = "the published measurements of the fabric beside ours" },
	{ "doctor", cmd_doctor, 0, doctor_words,
	  "what of this machine works with packetway, and what to do about the rest",
	  "kernel, module, versions, options, /dev/packetway, capabilities, limits, programs;\n"
	  "        status 2 if something is missing that every use needs" },
	{ "top", cmd_top, 0, top_words, "live view of the ring and the stations",
	  "ten times a second; q quits. once: a snapshot with totals" },
	{ "help", show_help, 0, help_words, "this text, or more about a verb" },
	{}
};

static enum status show_help(const struct verb *v, int argc, char **argv)
{
	if (argc)
		return help("", verbs, argc, argv);
	printf("usage: pwctl [-j] [-p] [-c[=always|auto|never]] [-n NETNS] VERB ...\n"
	       "  -j  JSON, -p  indented JSON, -c  colours, -n NETNS  in that network namespace,\n"
	       "  -V  version\n"
	       "  Words may be cut short: `pwctl sa sh`.\n\n");
	help("", verbs, 0, NULL);
	printf("\nexamples:\n"
	       "  pwctl san add 1 ports 16 ring-engine rtl\n"
	       "  pwctl station add pw1 san 1 port 3\n"
	       "  pwctl aton set 42 dev pw0        operand register 0 of pw0's interface\n"
	       "  pwctl aton add dev pw0           sum of all operands, one ring packet\n"
	       "  pwctl ping 00:00:02\n"
	       "  pwctl router add ab san 1:15 san 2:15\n"
	       "  pwctl trace 00:02:01 by-route\n"
	       "  pwctl -j stats pw0\n"
	       "  pwctl lab up ring8.yaml && pwctl lab exec s1 pwctl aton add\n"
	       "\nexit status: 0 done, 1 wrong command line, 2 refused, 3 no answer, 99 stalled (virtual)\n");
	return ST_OK;
}

enum status pwctl(int argc, char **argv)
{
	return dispatch("", verbs, argc, argv);
}

/* "-c", "--color", also with "=always", "=auto" or "=never"; as ip(8) */
static bool color_option(const char *o, enum status *st)
{
	const size_t n = strcspn(o, "=");
	const char *when = o[n] ? o + n + 1 : "always";

	if (strncmp(o, "-c", n) && strncmp(o, "-color", n) && strncmp(o, "--color", n))
		return false;
	if (n != 2 && n != 6 && n != 7)
		return false;
	if (strcmp(when, "always") && strcmp(when, "auto") && strcmp(when, "never"))
		*st = usage("%.*s: '%s' is not one of always|auto|never", (int)n, o, when);
	opt_color = !strcmp(when, "always") || (!strcmp(when, "auto") && isatty(STDOUT_FILENO));
	return true;
}

int main(int argc, char **argv)
{
	static const char *const options[] = {
		"--json", "--pretty", "--version", "--help", "--color",
	};
	enum status st = ST_OK;
	const char *ns = NULL, *o;
	int i, err;

	for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		o = argv[i];
		if (!strcmp(o, "-j") || !strcmp(o, "--json")) {
			opt_json = true;
		} else if (!strcmp(o, "-p") || !strcmp(o, "--pretty") || !strcmp(o, "-jp") ||
			   !strcmp(o, "-pj")) {
			opt_json = true;
			opt_pretty = true;
		} else if (!strcmp(o, "-V") || !strcmp(o, "--version")) {
			printf("pwctl, libpacketway %s\n", pwl_version());
			return ST_OK;
		} else if (!strcmp(o, "-h") || !strcmp(o, "--help")) {
			return show_help(NULL, 0, NULL);
		} else if (!strcmp(o, "-n") && i + 1 < argc) {
			ns = argv[++i];
		} else if (color_option(o, &st)) {
			if (st)
				return st;
		} else {
			return usage("unknown option '%s'%s", o,
				     did_you_mean(o, options, N(options)));
		}
	}
	if (i == argc) {
		show_help(NULL, 0, NULL);
		return ST_USAGE;
	}
	err = ns ? enter_netns(ns) : 0;
	if (err)
		return fail(err, "network namespace %s", ns);
	return pwctl(argc - i, argv + i);
}
