// SPDX-License-Identifier: GPL-2.0
/*
 * Every allocation of an operation fails once, one after another (fault
 * injection's fail-nth): the operation says so or goes on, and what it leaves
 * can be used and taken down. Debug kernel only. Moves between namespaces are left
 * out: dev_change_net_namespace() itself warns when it gets no memory.
 */
#include "pwfail.h"

#include <sys/syscall.h>

static int ns[2];
static struct pw_nl nl[2];
static uint8_t msg[70000];

/* 0 or a negative errno, as the netlink helpers have it */
static int op_newlink(void)
{
	struct pw_link l = PW_LINK("x");

	l.san = 7;
	l.order = 1;
	return pw_link_add(&nl[0], &l);
}

static int op_newlink_there(void)
{
	return pw_station_add(&nl[0], "y", 7, 5, ns[1]);
}

static int op_dellink(void)
{
	return pw_link_del(&nl[0], "x");
}

static int op_up(void)
{
	return pw_link_up(&nl[0], "x");
}

static int op_mtu(void)
{
	return pw_link_mtu(&nl[0], "x", 9000);
}

static int cdev = -1, station;

static int op_open(void)
{
	cdev = open(PW_DEV, O_RDWR | O_CLOEXEC);
	return cdev < 0 ? -errno : 0;
}

static int op_bind(void)
{
	struct packetway_bind b = { .size = sizeof(b), .ifindex = station };

	return ioctl(cdev, PACKETWAY_IOC_BIND, &b) ? -errno : 0;
}

static int sock = -1, sock_idx;

static int op_join(void)
{
	return pw_packet_join(sock, sock_idx, PACKET_MR_MULTICAST, 0xe00001, false) ? -errno : 0;
}

static int send_len, dgram;

static int op_xmit(void)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(1500),
				  .sll_ifindex = sock_idx, .sll_halen = 3, .sll_addr = { 0, 7, 6 } };
	int n = pw_msg(msg, 0x706, 0x701, 1500, 0, 0, NULL, send_len);

	if (dgram == 1)
		n = sendto(sock, msg, send_len, 0, (void *)&to, sizeof(to));
	else if (dgram == 2) {
		/* to all, with an echo request, an error and options that must be copied */
		n = pw_msg(msg, 0x7fffff, 0x701, 1500, 0, 0, NULL, send_len);
		n = send(sock, msg, n, 0);
		n = pw_msg(msg, 0x706, 0x701, PW_PT_ECHO, 1, 0, NULL, send_len);
		n = send(sock, msg, n, 0);
		n = pw_msg(msg, 0x70a, 0x701, 1500, 0, 0, NULL, send_len);
		n = send(sock, msg, n, 0);
	} else
		n = send(sock, msg, n, 0);
	return n < 0 ? -errno : 0;
}

/* a soak lets every allocation fail */
static int step = 1;

/*
 * @undo brings things back after a success; after a failure there must be nothing
 * to undo, or the next try would find it. Ends when no fault was met.
 */
static int sweep(const char *what, int (*op)(void), int (*undo)(void), int limit)
{
	int n, err = 0, faults = 0, failed = 0;

	for (n = 1; n <= limit; n += step) {
		bool hit;

		pw_fail_arm(n);
		err = op();
		hit = !pw_fail_left();
		faults += hit;
		failed += err != 0;
		if (!err && undo && undo()) {
			ksft_test_result_fail("%s: cannot be undone after fault %d\n", what, n);
			return -1;
		}
		/* the answer was lost: the command may have been done */
		if ((err == -ENOBUFS || err == -EFAULT) && undo)
			undo();
		if (!hit)
			break;
	}
	ksft_test_result(!err && faults && n <= limit,
			 "%s: %d allocations failed in turn, %d times it was refused\n", what, faults,
			 failed);
	if (err)
		ksft_print_msg("without a fault: %s\n", strerror(-err));
	return 0;
}

static int undo_newlink(void)
{
	return pw_link_del(&nl[0], "x");
}

static int undo_there(void)
{
	return pw_link_del(&nl[1], "y");
}

static int undo_del(void)
{
	return op_newlink();
}

static int undo_up(void)
{
	return pw_link_down(&nl[0], "x");
}

static int undo_open(void)
{
	return close(cdev);
}

static int undo_bind(void)
{
	struct packetway_unbind u = { .size = sizeof(u) };

	return ioctl(cdev, PACKETWAY_IOC_UNBIND, &u);
}

static int undo_join(void)
{
	return pw_packet_join(sock, sock_idx, PACKET_MR_MULTICAST, 0xe00001, true);
}

int main(void)
{
	static const int lens[] = { 10, 1400, 60000 };
	int i, peer, err;

	ksft_print_header();
	if (!pw_fail_open())
		ksft_exit_skip("this kernel has no fail-nth\n");
	pw_write_file("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	ksft_set_plan(17);
	for (i = 0; i < 2; i++) {
		ns[i] = pw_ns_new();
		if (ns[i] < 0 || pw_nl_open(&nl[i], ns[i]))
			ksft_exit_fail_msg("namespaces\n");
	}
	/* BIND looks for its station where the caller is */
	if (setns(ns[0], CLONE_NEWNET))
		ksft_exit_fail_msg("setns: %s\n", strerror(errno));

	/* two hundred each, most of them the same */
	step = pw_long() ? 1 : 3;
	sweep("ip link add", op_newlink, undo_newlink, 400);
	step = pw_long() ? 1 : 5;
	sweep("ip link add netns", op_newlink_there, undo_there, 400);
	step = 1;
	if (op_newlink())
		ksft_exit_fail_msg("no station: %s\n", nl[0].ext);
	sweep("open", op_open, undo_open, 100);
	if (op_open())
		ksft_exit_fail_msg("no file\n");
	station = pw_link_index(&nl[0], "x");
	sweep("BIND", op_bind, undo_bind, 100);
	sweep("up", op_up, undo_up, 400);
	sweep("MTU", op_mtu, NULL, 400);
	sweep("ip link del", op_dellink, undo_del, 400);
	if (pw_link_index(&nl[0], "x"))
		err = 0;
	else
		err = op_newlink();
	if (err || pw_link_up(&nl[0], "x") || pw_link_mtu(&nl[0], "x", 65528) ||
	    op_newlink_there() || pw_link_up(&nl[1], "y") || pw_link_mtu(&nl[1], "y", 65528))
		ksft_exit_fail_msg("two stations: %s\n", nl[0].ext);

	sock_idx = pw_link_index(&nl[0], "x");
	for (dgram = 0; dgram < 3; dgram++) {
		peer = pw_packet_open(ns[1], SOCK_RAW, ETH_P_ALL, pw_link_index(&nl[1], "y"));
		sock = pw_packet_open(ns[0], dgram == 1 ? SOCK_DGRAM : SOCK_RAW, 0, sock_idx);
		for (i = 0; i < 3; i++) {
			char what[32];

			send_len = lens[i];
			snprintf(what, sizeof(what), "%s of %d bytes", dgram == 1 ? "datagram" : dgram ?
				 "three messages" : "message", send_len);
			sweep(what, op_xmit, NULL, 300);
		}
		if (!dgram)
			sweep("join", op_join, undo_join, 100);
		close(sock);
		close(peer);
	}
	ksft_finished();
}
