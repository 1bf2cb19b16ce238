// SPDX-License-Identifier: GPL-2.0
/*
 * eep_bench: frames per second and round trips between two packet sockets in
 * two namespaces, for a pair of stations or any pair of Ethernet devices.
 *
 *	eep_bench eep|eth NETNS DEV NETNS DEV FRAMES ROUNDS [LENGTH]
 *
 * prints: KIND frames/s N ns/frame N rtt N
 */
#include "pwtest.h"

#include <sys/wait.h>

#define BURST 32

static uint8_t frame[2][4096];
static int length = 64;

static int ns_open(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int side(const char *netns, const char *dev, uint8_t hw[8])
{
	int ns = ns_open(netns), fd;
	struct rtattr *addr;
	struct pw_nl nl;

	if (ns < 0 || pw_nl_open(&nl, ns))
		die(netns);
	addr = pw_link_get(&nl, dev, IFLA_ADDRESS, NULL);
	if (!addr)
		die(dev);
	memcpy(hw, RTA_DATA(addr), RTA_PAYLOAD(addr) < 8 ? RTA_PAYLOAD(addr) : 8);
	fd = pw_packet_open(ns, SOCK_RAW, ETH_P_PACKETWAY, pw_link_index(&nl, dev));
	if (fd < 0)
		die("packet socket");
	close(nl.fd);
	return fd;
}

static void build(bool eep, uint8_t *b, const uint8_t *to, const uint8_t *from)
{
	if (eep) {
		pw_msg(b, pw_get(to, 3), pw_get(from, 3), 1500, 0, 0, NULL, length - 24);
		return;
	}
	memcpy(b, to, 6);
	memcpy(b + 6, from, 6);
	pw_put(b + 12, 2, ETH_P_PACKETWAY);
}

static void get(int fd, uint8_t *buf)
{
	if (recv(fd, buf, 4096, 0) != length)
		die("recv");
}

int main(int argc, char **argv)
{
	uint8_t hw[2][8], buf[4096];
	double t, per_frame, rtt;
	long frames, rounds, i;
	int fd[2], k, status;
	bool eep;
	pid_t pid;

	if (argc < 8) {
		fprintf(stderr, "usage: eep_bench eep|eth NETNS DEV NETNS DEV FRAMES ROUNDS [LENGTH]\n");
		return 1;
	}
	eep = !strcmp(argv[1], "eep");
	frames = atol(argv[6]) / BURST * BURST;
	rounds = atol(argv[7]);
	if (argc > 8)
		length = atoi(argv[8]);
	fd[0] = side(argv[2], argv[3], hw[0]);
	fd[1] = side(argv[4], argv[5], hw[1]);
	build(eep, frame[0], hw[1], hw[0]);
	build(eep, frame[1], hw[0], hw[1]);
	alarm(600);

	/* a quarter first, unmeasured */
	for (i = -frames / 4 / BURST * BURST, t = 0; i < frames; i += BURST) {
		if (i == 0)
			t = pw_now();
		for (k = 0; k < BURST; k++)
			if (send(fd[0], frame[0], length, 0) != length)
				die("send");
		for (k = 0; k < BURST; k++)
			get(fd[1], buf);
	}
	per_frame = (pw_now() - t) / frames;
	if (memcmp(buf, frame[0], length)) {
		fprintf(stderr, "other bytes came\n");
		return 1;
	}

	pid = fork();
	if (!pid) {
		for (i = -100; i < rounds; i++) {
			get(fd[1], buf);
			if (send(fd[1], frame[1], length, 0) != length)
				die("send");
		}
		_exit(0);
	}
	for (i = -100, t = 0; i < rounds; i++) {
		if (i == 0)
			t = pw_now();
		if (send(fd[0], frame[0], length, 0) != length)
			die("send");
		get(fd[0], buf);
	}
	rtt = (pw_now() - t) / rounds;
	waitpid(pid, &status, 0);
	printf("%s frames/s %.0f ns/frame %.0f rtt %.0f\n", argv[1], 1 / per_frame, per_frame * 1e9,
	       rtt * 1e9);
	return status != 0;
}
