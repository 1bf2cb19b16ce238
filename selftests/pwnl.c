// SPDX-License-Identifier: GPL-2.0
/*
 * pwnl: a station's link attributes by rtnetlink, for scripts that run where
 * `ip` does not know them.
 *
 *	pwnl add NAME [san N] [port N] [order N] [addr N] [mtu N] [netns PATH]
 *	pwnl set NAME [san N] [port N] [order N] [addr N]
 *	pwnl show NAME		san port addr order operstate
 *
 * A refusal prints "errno: sentence" on standard error and has status 2.
 */
#include "pwtest.h"

static int usage(void)
{
	fprintf(stderr, "usage: pwnl add|set|show NAME [ATTRIBUTE VALUE]...\n");
	return 1;
}

static int show(struct pw_nl *nl, const char *name)
{
	struct rtattr *info = pw_link_get(nl, name, IFLA_LINKINFO, NULL), *a, *b;
	unsigned int v[IFLA_PACKETWAY_MAX + 1] = {};
	int left, left2;

	if (!info)
		return 2;
	left = RTA_PAYLOAD(info);
	for (a = RTA_DATA(info); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if ((a->rta_type & NLA_TYPE_MASK) != IFLA_INFO_DATA)
			continue;
		left2 = RTA_PAYLOAD(a);
		for (b = RTA_DATA(a); RTA_OK(b, left2); b = RTA_NEXT(b, left2))
			if (b->rta_type <= IFLA_PACKETWAY_MAX)
				memcpy(&v[b->rta_type], RTA_DATA(b), 4);
	}
	printf("san %u port %u addr %06x order %u\n", v[IFLA_PACKETWAY_SAN],
	       v[IFLA_PACKETWAY_PORT], v[IFLA_PACKETWAY_ADDR], v[IFLA_PACKETWAY_ORDER]);
	return 0;
}

int main(int argc, char **argv)
{
	struct pw_link l;
	struct pw_nl nl;
	bool add;
	int err, i;

	if (argc < 3 || pw_nl_open(&nl, pw_ns_self()))
		return usage();
	if (!strcmp(argv[1], "show"))
		return show(&nl, argv[2]);
	add = !strcmp(argv[1], "add");
	if (!add && strcmp(argv[1], "set"))
		return usage();
	l = (struct pw_link)PW_LINK(argv[2]);
	for (i = 3; i + 1 < argc; i += 2) {
		long v = strtol(argv[i + 1], NULL, 0);

		if (!strcmp(argv[i], "san"))
			l.san = v;
		else if (!strcmp(argv[i], "port"))
			l.port = v;
		else if (!strcmp(argv[i], "order"))
			l.order = v;
		else if (!strcmp(argv[i], "addr"))
			l.addr = v;
		else if (!strcmp(argv[i], "mtu"))
			l.mtu = v;
		else if (!strcmp(argv[i], "netns"))
			l.ns = open(argv[i + 1], O_RDONLY);
		else
			return usage();
	}
	err = add ? pw_link_add(&nl, &l) : pw_link_send(&nl, &l, 0);
	if (!err)
		return 0;
	fprintf(stderr, "%s: %s\n", strerror(-err), nl.ext);
	return 2;
}
