// SPDX-License-Identifier: GPL-2.0
/* link_pwmon.so: teaches a stock `ip` the options of pwmon devices; see link_packetway.c. */
#include <stdio.h>
#include <string.h>

#include <linux/packetway.h>

#include "utils.h"
#include "ip_common.h"

#define MSG_MAX		1024	/* room for attributes in ip's request */

static void pwmon_print_help(struct link_util *lu, int argc, char **argv, FILE *f)
{
	fprintf(f,
		"Usage: ip link { add | set } NAME type pwmon [ ring { on | off } ] [ cells { on | off } ]\n"
		"\n"
		"A pwmon that is up shows all frames of the SANs of its namespace to packet\n"
		"sockets, and if asked every ring packet and every cell at every hop.\n"
		"\n"
		"Example: ip link add pwmon0 up type pwmon ring on\n"
		"         tcpdump -i pwmon0 -w ring.pcap\n");
}

static int pwmon_parse_opt(struct link_util *lu, int argc, char **argv, struct nlmsghdr *n)
{
	int attr;
	__u8 on;

	for (; argc > 0; argc--, argv++) {
		const char *word = *argv;

		if (!strcmp(word, "help")) {
			pwmon_print_help(lu, argc, argv, stdout);
			return -1;
		}
		if (!strcmp(word, "ring")) {
			attr = IFLA_PWMON_RING;
		} else if (!strcmp(word, "cells")) {
			attr = IFLA_PWMON_CELLS;
		} else {
			fprintf(stderr, "pwmon: unknown option \"%s\"\n", word);
			pwmon_print_help(lu, argc, argv, stderr);
			return -1;
		}
		argc--, argv++;
		if (argc <= 0 || (strcmp(*argv, "on") && strcmp(*argv, "off"))) {
			fprintf(stderr, "pwmon: %s is on or off\n", word);
			return -1;
		}
		on = !strcmp(*argv, "on");
		if (addattr8(n, MSG_MAX, attr, on))
			return -1;
	}
	return 0;
}

static void print_switch(struct rtattr *rta, const char *name)
{
	if (rta && RTA_PAYLOAD(rta) >= sizeof(__u8))
		print_on_off(PRINT_ANY, name, "%s ", rta_getattr_u8(rta));
}

static void pwmon_print_opt(struct link_util *lu, FILE *f, struct rtattr *tb[])
{
	if (!tb)
		return;
	print_string(PRINT_FP, NULL, "%s ", "ring");
	print_switch(tb[IFLA_PWMON_RING], "ring");
	print_string(PRINT_FP, NULL, "%s ", "cells");
	print_switch(tb[IFLA_PWMON_CELLS], "cells");
}

struct link_util pwmon_link_util = {
	.id		= PACKETWAY_MON_KIND,
	.maxattr	= IFLA_PWMON_MAX,
	.parse_opt	= pwmon_parse_opt,
	.print_opt	= pwmon_print_opt,
	.print_help	= pwmon_print_help,
};
