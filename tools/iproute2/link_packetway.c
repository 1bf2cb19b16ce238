// SPDX-License-Identifier: GPL-2.0
/*
 * link_packetway.so: teaches a stock `ip` the options of packetway stations.
 *
 * ip(8) loads link_KIND.so from its library directory, or from $IP_LIB_DIR, and
 * looks for KIND_link_util in it. That structure is private to iproute2, so the
 * plug-in is built against the source of the release that is installed.
 */
#include <stdio.h>
#include <string.h>

#include <linux/packetway.h>

#include "rt_names.h"
#include "utils.h"
#include "ip_common.h"

#define MSG_MAX		1024	/* room for attributes in ip's request */

static const char *const order_names[__PACKETWAY_ORDER_MAX] = {
	[PACKETWAY_ORDER_AS_SENT] = "as-sent",
	[PACKETWAY_ORDER_BIG] = "big",
	[PACKETWAY_ORDER_LITTLE] = "little",
};

static void packetway_print_help(struct link_util *lu, int argc, char **argv, FILE *f)
{
	fprintf(f,
		"Usage: ip link add [ NAME ] type packetway [ san SAN ] [ port PORT ] [ order ORDER ]\n"
		"       ip link set NAME type packetway order ORDER\n"
		"\n"
		"Where: SAN   := 0..%u, the network the station is on (default 0)\n"
		"       PORT  := 0..%u, its port there (default the next free one; a SAN has\n"
		"                %u ports unless it was made with another number)\n"
		"       ORDER := { as-sent | big | little }, byte order in which the station\n"
		"                wants 16- to 128-bit data (default as-sent)\n"
		"\n"
		"SAN and port are fixed when the station is made.\n"
		"\n"
		"Example: ip link add pw5 type packetway san 0 port 5\n",
		PACKETWAY_SAN_MAX, PACKETWAY_PORTS_MAX - 1, PACKETWAY_PORTS_DEFAULT);
}

static int parse_number(const char *what, const char *arg, __u32 max, __u32 *val)
{
	if (get_u32(val, arg, 0)) {
		fprintf(stderr, "packetway: %s must be a number, \"%s\" is not\n", what, arg);
		return -1;
	}
	if (*val > max) {
		fprintf(stderr, "packetway: %s must be in 0..%u, %s is not\n", what, max, arg);
		return -1;
	}
	return 0;
}

static int parse_order(const char *arg, __u32 *val)
{
	for (*val = 0; *val < __PACKETWAY_ORDER_MAX; (*val)++)
		if (!strcmp(arg, order_names[*val]))
			return 0;
	fprintf(stderr, "packetway: order must be as-sent, big or little, \"%s\" is not\n", arg);
	return -1;
}

static int packetway_parse_opt(struct link_util *lu, int argc, char **argv, struct nlmsghdr *n)
{
	bool seen[IFLA_PACKETWAY_MAX + 1] = {};
	__u32 val;
	int attr;

	for (; argc > 0; argc--, argv++) {
		const char *word = *argv;

		if (!strcmp(word, "help")) {
			packetway_print_help(lu, argc, argv, stdout);
			return -1;
		}
		if (!strcmp(word, "san"))
			attr = IFLA_PACKETWAY_SAN;
		else if (!strcmp(word, "port"))
			attr = IFLA_PACKETWAY_PORT;
		else if (!strcmp(word, "order"))
			attr = IFLA_PACKETWAY_ORDER;
		else
			attr = IFLA_PACKETWAY_UNSPEC;

		if (attr == IFLA_PACKETWAY_UNSPEC) {
			fprintf(stderr, "packetway: unknown option \"%s\"\n", word);
			packetway_print_help(lu, argc, argv, stderr);
			return -1;
		}
		if (seen[attr]) {
			fprintf(stderr, "packetway: %s is given twice\n", word);
			return -1;
		}
		seen[attr] = true;
		if (argc < 2) {
			fprintf(stderr, "packetway: %s needs a value\n", word);
			return -1;
		}
		argc--, argv++;

		switch (attr) {
		case IFLA_PACKETWAY_SAN:
			if (parse_number("san", *argv, PACKETWAY_SAN_MAX, &val))
				return -1;
			break;
		case IFLA_PACKETWAY_PORT:
			if (parse_number("port", *argv, PACKETWAY_PORTS_MAX - 1, &val))
				return -1;
			break;
		default:
			if (parse_order(*argv, &val))
				return -1;
			break;
		}
		if (addattr32(n, MSG_MAX, attr, val))
			return -1;
	}
	return 0;
}

/* an attribute that is missing or too short is not printed */
static bool attr_u32(struct rtattr *rta, __u32 *val)
{
	if (!rta || RTA_PAYLOAD(rta) < sizeof(*val))
		return false;
	*val = rta_getattr_u32(rta);
	return true;
}

static void packetway_print_opt(struct link_util *lu, FILE *f, struct rtattr *tb[])
{
	char text[16];
	__u32 val;

	if (!tb)
		return;

	if (attr_u32(tb[IFLA_PACKETWAY_SAN], &val))
		print_uint(PRINT_ANY, "san", "san %u ", val);
	if (attr_u32(tb[IFLA_PACKETWAY_PORT], &val))
		print_uint(PRINT_ANY, "port", "port %u ", val);
	if (attr_u32(tb[IFLA_PACKETWAY_ADDR], &val)) {
		snprintf(text, sizeof(text), "%02x:%02x:%02x",
			 val >> 16 & 0xff, val >> 8 & 0xff, val & 0xff);
		print_string(PRINT_ANY, "pwaddr", "pwaddr %s ", text);
	}
	if (attr_u32(tb[IFLA_PACKETWAY_ORDER], &val)) {
		if (val < __PACKETWAY_ORDER_MAX)
			print_string(PRINT_ANY, "order", "order %s ", order_names[val]);
		else
			print_uint(PRINT_ANY, "order", "order %u ", val);
	}
}

struct link_util packetway_link_util = {
	.id		= PACKETWAY_KIND,
	.maxattr	= IFLA_PACKETWAY_MAX,
	.parse_opt	= packetway_parse_opt,
	.print_opt	= packetway_print_opt,
	.print_help	= packetway_print_help,
};
