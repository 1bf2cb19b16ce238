// SPDX-License-Identifier: GPL-2.0
/*
 * pwnl: a station's link attributes by rtnetlink, for scripts that run where
 * `ip` does not know them, and in one process where `ip` takes many.
 *
 *	pwnl [-n NETNS] COMMAND...; without one: commands from standard input
 *	add NAME [san N] [port N] [order N] [addr N] [mtu N] [netns NETNS]
 *	set NAME [san N] [port N] [order N] [addr N]
 *	del NAME
 *	up NAME, down NAME
 *	show NAME	san port addr order
 *	link NAME	address broadcast mtu operstate flags
 *	flood NAME	send to its SAN until the station is gone, at most 60 s
 *
 * A refusal prints "errno: sentence" on standard error and has status 2.
 */
#include "pwtest.h"

static int usage(void)
{
	fprintf(stderr, "usage: pwnl [-n NETNS] add|set|del|up|down|show|link NAME [ATTRIBUTE VALUE]...\n");
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

static int link_line(struct pw_nl *nl, const char *name)
{
	struct ifinfomsg ifi;
	struct rtattr *a;
	uint8_t hw[3] = {}, brd[3] = {};
	uint32_t mtu = 0;
	int oper = -1;

	a = pw_link_get(nl, name, IFLA_ADDRESS, &ifi);
	if (!a)
		return 2;
	memcpy(hw, RTA_DATA(a), 3);
	a = pw_link_get(nl, name, IFLA_BROADCAST, NULL);
	if (a)
		memcpy(brd, RTA_DATA(a), 3);
	a = pw_link_get(nl, name, IFLA_MTU, NULL);
	if (a)
		memcpy(&mtu, RTA_DATA(a), 4);
	a = pw_link_get(nl, name, IFLA_OPERSTATE, NULL);
	if (a)
		oper = *(uint8_t *)RTA_DATA(a);
	printf("%02x:%02x:%02x %02x:%02x:%02x %u %s%s%s\n", hw[0], hw[1], hw[2], brd[0], brd[1],
	       brd[2], mtu, oper == IF_OPER_UP ? "UP" : oper == IF_OPER_DOWN ? "DOWN" : "?",
	       ifi.ifi_flags & IFF_UP ? ",up" : "", ifi.ifi_flags & IFF_LOWER_UP ? ",carrier" : "");
	return 0;
}

/* a packet socket in use: broadcasts out, whatever comes in */
static int flood(struct pw_nl *nl, int ns, const char *name)
{
	int fd = pw_packet_open(ns, SOCK_RAW, ETH_P_ALL, pw_link_index(nl, name));
	uint8_t buf[256];
	int n = pw_msg(buf, PW_ADDR_BROADCAST, 0, 1500, 0, 0, "flood", 5);
	double end = pw_now() + 60;
	long sent = 0;

	if (fd < 0)
		return 2;
	while (pw_now() < end && send(fd, buf, n, 0) == n) {
		if (!sent++)
			fprintf(stderr, "sending\n");
		recv(fd, buf + 128, 128, MSG_DONTWAIT);
	}
	return !sent;
}

static int ns_open(const char *name)
{
	char path[256];

	if (strchr(name, '/'))
		return open(name, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int command(struct pw_nl *nl, int ns, int argc, char **argv)
{
	struct pw_link l;
	int err, i;

	if (argc < 2)
		return usage();
	if (!strcmp(argv[0], "show"))
		return show(nl, argv[1]);
	if (!strcmp(argv[0], "link"))
		return link_line(nl, argv[1]);
	if (!strcmp(argv[0], "flood"))
		return flood(nl, ns, argv[1]);
	l = (struct pw_link)PW_LINK(argv[1]);
	for (i = 2; i + 1 < argc; i += 2) {
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
			l.ns = ns_open(argv[i + 1]);
		else
			return usage();
	}
	if (!strcmp(argv[0], "add"))
		err = pw_link_add(nl, &l);
	else if (!strcmp(argv[0], "set"))
		err = pw_link_send(nl, &l, 0);
	else if (!strcmp(argv[0], "del"))
		err = pw_link_del(nl, argv[1]);
	else if (!strcmp(argv[0], "up"))
		err = pw_link_up(nl, argv[1]);
	else if (!strcmp(argv[0], "down"))
		err = pw_link_down(nl, argv[1]);
	else
		return usage();
	if (!err)
		return 0;
	fprintf(stderr, "%s: %s\n", strerror(-err), nl->ext);
	return 2;
}

int main(int argc, char **argv)
{
	char line[512], *word[32];
	int status = 0, n, ns = -1;
	struct pw_nl nl;

	argv++;
	argc--;
	if (argc > 1 && !strcmp(argv[0], "-n")) {
		ns = ns_open(argv[1]);
		argv += 2;
		argc -= 2;
	} else {
		ns = pw_ns_self();
	}
	if (ns < 0 || pw_nl_open(&nl, ns))
		return usage();
	if (argc)
		return command(&nl, ns, argc, argv);
	while (fgets(line, sizeof(line), stdin)) {
		n = 0;
		for (word[n] = strtok(line, " \t\n"); word[n] && n < 31; word[n] = strtok(NULL, " \t\n"))
			n++;
		if (n && command(&nl, ns, n, word))
			status = 2;
	}
	return status;
}
