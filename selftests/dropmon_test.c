// SPDX-License-Identifier: GPL-2.0
/*
 * Why frames end: the kernel's drop monitor names the module and the nearest of
 * the kernel's own reasons; the counters of `ethtool -S` name ours (eep_test).
 * The drop monitor lives in the first network namespace only.
 */
#include "pwgenl.h"
#include "kselftest.h"

#include <linux/net_dropmon.h>

static struct pw_genl dm;
static uint8_t msg[4096];

/* the drop monitor takes one attribute a command */
static int dm_command(int cmd, int attr, const void *value, int len)
{
	struct pw_req r;

	pw_genl_init(&r, dm.family, cmd, NLM_F_ACK);
	pw_req_put(&r, attr, value, len);
	return pw_nl_talk(&dm.nl, &r);
}

/* wait for an alert that names our module; @reason gets what it says */
static bool alert(char *reason, size_t size)
{
	struct nlmsghdr *h = (void *)dm.nl.buf;
	double end = pw_now() + SOON / 1000;
	struct genlmsghdr *g;
	struct rtattr *a;

	while (pw_now() < end) {
		if (recv(dm.nl.fd, dm.nl.buf, sizeof(dm.nl.buf), 0) < 0)
			return false;
		g = NLMSG_DATA(h);
		if (h->nlmsg_type != dm.family || g->cmd != NET_DM_CMD_PACKET_ALERT)
			continue;
		a = pw_genl_attr(h, NET_DM_ATTR_SYMBOL);
		if (!a || !strstr(RTA_DATA(a), "[packetway]"))
			continue;
		a = pw_genl_attr(h, NET_DM_ATTR_REASON);
		snprintf(reason, size, "%s", a ? (char *)RTA_DATA(a) : "");
		return true;
	}
	return false;
}

int main(void)
{
	static const struct {
		const char *what, *reason;
		uint32_t dt;
		int version;
	} row[] = {
		{ "no station has this address", "IP_OUTNOROUTES", 0x000705, 0 },
		{ "no route leads there", "IP_OUTNOROUTES", 0x123456, 0 },
		{ "a group without members", "OTHERHOST", 0xe00123, 0 },
		{ "another version", "INVALID_PROTO", 0x000702, 1 },
	};
	struct timeval tv = { .tv_sec = 20 };
	uint8_t mode = NET_DM_ALERT_MODE_PACKET;
	int self = pw_ns_self(), fd, i, n;
	char reason[64];
	struct pw_nl nl;

	ksft_print_header();
	if (system("modprobe drop_monitor 2>/dev/null") || pw_genl_open_family(&dm, self, "NET_DM"))
		ksft_exit_skip("this kernel has no drop monitor\n");
	ksft_set_plan(2 + ARRAY_SIZE(row));
	if (pw_nl_open(&nl, self) || pw_station_add(&nl, "dm1", 7, 0, -1) ||
	    pw_station_add(&nl, "dm2", 7, 1, -1) || pw_link_up(&nl, "dm1") || pw_link_up(&nl, "dm2"))
		ksft_exit_fail_msg("two stations: %s\n", nl.ext);
	setsockopt(dm.nl.fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	ksft_test_result(dm.group > 0 && !setsockopt(dm.nl.fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP,
						     &dm.group, sizeof(dm.group)),
			 "listening to the drop monitor\n");
	ksft_test_result(!dm_command(NET_DM_CMD_CONFIG, NET_DM_ATTR_ALERT_MODE, &mode, 1) &&
			 !dm_command(NET_DM_CMD_START, NET_DM_ATTR_SW_DROPS, NULL, 0),
			 "it starts\n");
	fd = pw_packet_open(self, SOCK_RAW, ETH_P_PACKETWAY, pw_link_index(&nl, "dm1"));
	for (i = 0; i < (int)ARRAY_SIZE(row); i++) {
		n = pw_msg(msg, row[i].dt, 0, 1500, 0, 0, "drop", 4);
		msg[0] |= row[i].version << 6;
		reason[0] = 0;
		if (send(fd, msg, n, 0) != n)
			ksft_print_msg("send: %s\n", strerror(errno));
		ksft_test_result(alert(reason, sizeof(reason)) && !strcmp(reason, row[i].reason),
				 "%s: %s\n", row[i].what, reason);
	}
	dm_command(NET_DM_CMD_STOP, NET_DM_ATTR_SW_DROPS, NULL, 0);
	pw_link_del(&nl, "dm1");
	pw_link_del(&nl, "dm2");
	ksft_finished();
}
