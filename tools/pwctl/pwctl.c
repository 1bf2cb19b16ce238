// SPDX-License-Identifier: GPL-2.0
/*
 * pwctl: a packetway network from the command line.
 * Verbs, words and output follow iproute2.
 */
#include <ctype.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <unistd.h>

#include "pwctl.h"

bool opt_json, opt_pretty;
static json_t *list;
static bool streaming;

/* Complaints --------------------------------------------------------------- */

int usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "pwctl: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "; see `pwctl help`\n");
	va_end(ap);
	return EX_USAGE_;
}

int fail(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "pwctl: ");
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	if (err)
		fprintf(stderr, ": %s", strerror(err < 0 ? -err : err));
	fputc('\n', stderr);
	return EX_REFUSED_;
}

/* Words -------------------------------------------------------------------- */

int parse_u64(const char *text, uint64_t *v)
{
	char *end;

	if (!isdigit((unsigned char)*text) && *text != '-')
		return -EINVAL;
	errno = 0;
	*v = *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
	return *end || errno ? -EINVAL : 0;
}

int parse_u32(const char *text, uint32_t *v)
{
	uint64_t x;

	if (*text == '-' || parse_u64(text, &x) || x > UINT32_MAX)
		return -EINVAL;
	*v = x;
	return 0;
}

int parse_addr(const char *text, uint32_t *addr)
{
	if (!strcmp(text, "broadcast")) {
		*addr = PW_ADDR_BROADCAST;
		return 0;
	}
	return pwl_addr_parse(text, addr);
}

bool keyword(int argc, char **argv, int *i, const char *word, const char **v)
{
	if (*i + 1 >= argc || strcmp(argv[*i], word))
		return false;
	*v = argv[*i + 1];
	*i += 2;
	return true;
}

bool flagword(int argc, char **argv, int *i, const char *word)
{
	if (*i >= argc || strcmp(argv[*i], word))
		return false;
	(*i)++;
	return true;
}

static void verbs(FILE *f, const char *group, const struct verb *v, int n)
{
	int i;

	for (i = 0; i < n; i++)
		fprintf(f, "  pwctl %s%s%s %s\n        %s\n", group, *group ? " " : "", v[i].name,
			v[i].args, v[i].what);
}

/* a word may be cut short as long as only one verb begins with it */
int dispatch(const char *group, const struct verb *v, int n, int argc, char **argv)
{
	const char *word = argc ? argv[0] : v[0].name;
	int i, found = -1, hits = 0;

	if (*group && (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h"))) {
		verbs(stdout, group, v, n);
		return EX_OK_;
	}
	for (i = 0; i < n; i++) {
		if (!strcmp(v[i].name, word)) {
			found = i;
			hits = 1;
			break;
		}
		if (!strncmp(v[i].name, word, strlen(word))) {
			found = i;
			hits++;
		}
	}
	if (hits == 1)
		return v[found].run(argc ? argc - 1 : 0, argc ? argv + 1 : argv);
	fprintf(stderr, "pwctl: %s%s\"%s\" is %s:", group, *group ? " " : "", word,
		hits ? "short for more than one verb" : "not a verb; there are");
	for (i = 0; i < n; i++)
		if (!hits || !strncmp(v[i].name, word, strlen(word)))
			fprintf(stderr, " %s", v[i].name);
	fputc('\n', stderr);
	return EX_USAGE_;
}

/* Output ------------------------------------------------------------------- */

json_t *j_u64(uint64_t v)
{
	char buf[24];

	/* JSON integers end at 2^63 - 1 here; what is larger is a string */
	if (v <= INT64_MAX)
		return json_integer(v);
	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)v);
	return json_string(buf);
}

json_t *j_addr(uint32_t addr)
{
	char buf[PWL_ADDR_STRLEN];

	return json_string(pwl_addr_str(addr, buf));
}

void out_begin(bool stream)
{
	streaming = stream;
	if (opt_json && !stream)
		list = json_array();
	if (stream)
		setvbuf(stdout, NULL, _IOLBF, 0);
}

static void text_value(const json_t *v)
{
	size_t i;

	switch (json_typeof(v)) {
	case JSON_STRING:
		fputs(json_string_value(v), stdout);
		break;
	case JSON_INTEGER:
		printf("%lld", (long long)json_integer_value(v));
		break;
	case JSON_REAL:
		printf("%.3f", json_real_value(v));
		break;
	case JSON_ARRAY:
		for (i = 0; i < json_array_size(v); i++) {
			if (i)
				putchar(' ');
			text_value(json_array_get(v, i));
		}
		break;
	case JSON_OBJECT:
		putchar('{');
		json_dumpf(v, stdout, JSON_COMPACT | JSON_EMBED);
		putchar('}');
		break;
	default:
		fputs(json_is_true(v) ? "yes" : "no", stdout);
	}
}

void out_item(const char *what, json_t *obj)
{
	const char *key;
	json_t *v;
	bool first = true;

	if (opt_json && !streaming) {
		json_array_append_new(list, obj);
		return;
	}
	if (opt_json) {
		json_dumpf(obj, stdout, opt_pretty ? JSON_INDENT(4) : JSON_COMPACT);
		putchar('\n');
		json_decref(obj);
		return;
	}
	if (*what)
		printf("%s ", what);
	json_object_foreach(obj, key, v) {
		if (json_is_false(v) || json_is_null(v) ||
		    (json_is_array(v) && !json_array_size(v)))
			continue;
		if (first && *what) {
			text_value(v);
			putchar(':');
		} else if (json_is_true(v)) {
			printf("%s%s", first ? "" : " ", key);
		} else {
			printf("%s%s ", first ? "" : " ", key);
			text_value(v);
		}
		first = false;
	}
	putchar('\n');
	json_decref(obj);
}

void out_end(void)
{
	if (opt_json && !streaming) {
		json_dumpf(list, stdout, opt_pretty ? JSON_INDENT(4) : JSON_COMPACT);
		putchar('\n');
		json_decref(list);
		list = NULL;
	}
}

/* Namespaces --------------------------------------------------------------- */

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

/* Main --------------------------------------------------------------------- */

static int cmd_help(int argc, char **argv);

static const struct verb top_verbs[] = {
	{ "san", cmd_san, "show|add|set|del ...", "system-area networks: ports, bias, engines" },
	{ "station", cmd_station, "show|add|del ...",
	  "stations: netdevices on the ports of a SAN" },
	{ "router", cmd_router, "show|add|del ...", "routers between SANs, trunks to other hosts" },
	{ "route", cmd_route, "show|add|del ...", "ways from SAN to SAN" },
	{ "name", cmd_name, "show [san N]", "nodes that half-routers know" },
	{ "resolve", cmd_resolve, "NAME|ADDR [dev NAME | san N]", "a node, and the ways to it" },
	{ "aton", cmd_aton, "add|max|sort|set|show|watch ...",
	  "commands that the ring executes, operands, standing commands" },
	{ "ping", cmd_ping, "ADDR [by-route | route HEX] [dev NAME] [count N] [size BYTES] ...",
	  "EEP echo, by address or by source route" },
	{ "trace", cmd_trace, "ADDR [by-route | route HEX] [dev NAME] [timeout MS]",
	  "half-routers on the way, with the virtual time to each" },
	{ "send", cmd_send, "ADDR pt N [te N] [prio N] [dev NAME] [hex BYTES|text TEXT] ...",
	  "send one EEP message" },
	{ "esp", cmd_esp, "count|compare|collect|rchld|rcollect ADDR ...",
	  "send one instruction with Reflect and show what became of it" },
	{ "poets", cmd_poets, "run APP.json | show ...",
	  "applications of devices on stations, and what carries them" },
	{ "stats", cmd_stats, "[NAME]", "counters of stations" },
	{ "monitor", cmd_monitor, "[trace | event TRACEPOINT] [count N]",
	  "what changes, as it happens" },
	{ "capture", cmd_capture, "[dev NAME] [tcpdump|tshark] [write FILE] [OPTION...]",
	  "capture with the dissector" },
	{ "fault", cmd_fault, "ring|fabric ...", "faults on purpose, seeded (debugfs)" },
	{ "lab", cmd_lab, "up|exec|down|show ...", "networks of namespaces from one file" },
	{ "experiment", cmd_experiment, "delay|throughput|contention ...",
	  "the published measurements of the fabric beside ours" },
	{ "top", cmd_top, "[dev NAME | lab LAB] [once]",
	  "live view of the ring and the stations" },
	{ "help", cmd_help, "[VERB]", "this, or more about a verb" },
};

static int cmd_help(int argc, char **argv)
{
	char word[] = "help", *help = word;
	int i;

	for (i = 0; argc && i < N(top_verbs); i++)
		if (!strncmp(top_verbs[i].name, argv[0], strlen(argv[0])))
			return top_verbs[i].run == cmd_help ? EX_OK_ : top_verbs[i].run(1, &help);
	if (argc)
		return usage("there is no verb \"%s\"", argv[0]);
	printf("usage: pwctl [-j] [-p] [-n NETNS] VERB ...\n"
	       "  -j  JSON, -p  indented JSON, -n NETNS  in that network namespace, -V  version\n"
	       "  Words may be cut short: `pwctl sa sh`.\n\n");
	verbs(stdout, "", top_verbs, N(top_verbs));
	printf("\nexamples:\n"
	       "  pwctl san add 1 ports 16 ring-engine rtl\n"
	       "  pwctl station add pw1 san 1 port 3\n"
	       "  pwctl aton set 42 dev pw0        operand register 0 of pw0's interface\n"
	       "  pwctl aton add dev pw0           sum of everybody's operands, one packet\n"
	       "  pwctl ping 00:00:02\n"
	       "  pwctl router add ab san 1:15 san 2:15\n"
	       "  pwctl trace 00:02:01 by-route\n"
	       "  pwctl -j stats pw0\n"
	       "  pwctl lab up ring8.yaml && pwctl lab exec s1 pwctl aton add\n"
	       "\nexit status: 0 done, 1 wrong words, 2 refused, 3 nobody answered\n");
	return EX_OK_;
}

int main(int argc, char **argv)
{
	const char *ns = NULL;
	int i, err;

	for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		if (!strcmp(argv[i], "-j") || !strcmp(argv[i], "--json")) {
			opt_json = true;
		} else if (!strcmp(argv[i], "-p") || !strcmp(argv[i], "--pretty")) {
			opt_json = true;
			opt_pretty = true;
		} else if (!strcmp(argv[i], "-jp") || !strcmp(argv[i], "-pj")) {
			opt_json = true;
			opt_pretty = true;
		} else if (!strcmp(argv[i], "-V") || !strcmp(argv[i], "--version")) {
			printf("pwctl, libpacketway %s\n", pwl_version());
			return EX_OK_;
		} else if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help")) {
			return cmd_help(0, NULL);
		} else if (!strcmp(argv[i], "-n") && i + 1 < argc) {
			ns = argv[++i];
		} else {
			return usage("unknown option %s", argv[i]);
		}
	}
	if (i == argc) {
		cmd_help(0, NULL);
		return EX_USAGE_;
	}
	if (ns) {
		err = enter_netns(ns);
		if (err)
			return fail(err, "network namespace %s", ns);
	}
	return dispatch("", top_verbs, N(top_verbs), argc - i, argv + i);
}
