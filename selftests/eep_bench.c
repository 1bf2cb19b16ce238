// SPDX-License-Identifier: GPL-2.0
/*
 * eep_bench: frames per second and round trips between two packet sockets in
 * two namespaces, for a pair of stations or any pair of Ethernet devices.
 *
 *	eep_bench eep|eth|esp|esp-routers|poets NETNS DEV NETNS DEV FRAMES ROUNDS
 *		[LENGTH [ROUTE BACK]]
 *	eep_bench router NETNS SAN SAN
 *	eep_bench tcp NETNS NETNS ADDRESS BYTES
 *
 * ROUTE and BACK are L2RHs in hex that go in front of the frames, there and back.
 *
 * prints: KIND frames/s N ns/frame N rtt N
 *
 * esp: a COUNT that the receiving station executes; esp-routers: that routers on
 * the way execute. poets: packets for a device, read from its softswitch; the round
 * trip is then one packet at a time. router: makes one, to be measured afterwards.
 *
 * tcp: from the first namespace to ADDRESS in the second; prints: tcp ns/byte N.
 */
#include "pwesp.h"
#include "pwrouter.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/wait.h>

#define BURST 32

static uint8_t frame[2][4096];
static int length = 64;
static int front[2];		/* bytes of route */

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

static int route(uint8_t *b, const char *hex)
{
	unsigned int v;
	int n;

	for (n = 0; sscanf(hex + 2 * n, "%2x", &v) == 1; n++)
		b[n] = v;
	return n;
}

static void build(const char *kind, uint8_t *b, const uint8_t *to, const uint8_t *from)
{
	uint8_t data[64] = {};

	if (!strncmp(kind, "esp", 3)) {
		struct insn in = COUNT(EXEC | (kind[3] ? PW_ESP_LOC_ROUTERS << PW_ESP_LOC_SHIFT : 0),
				       0x1234567890abcdefULL, ~0ULL);

		esp_data(data, &in);
		pw_msg(b, pw_get(to, 3), pw_get(from, 3), PW_PT_ESP, 0, 0, data, length - 24);
		return;
	}
	if (!strcmp(kind, "poets")) {
		/* software address 0, pin 0, edge 0 */
		pw_msg(b, pw_get(to, 3), pw_get(from, 3), PW_PT_POETS, 0, 0, data, length - 24);
		b[8] |= (PW_E_LITTLE | PW_E_32) << 4;
		return;
	}
	if (!strcmp(kind, "eep")) {
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

static void put(int fd, int which)
{
	int len = front[which] + length;

	if (send(fd, frame[which], len, 0) != len)
		die("send");
}

/* one device with one pin and one edge, running */
static int softswitch(const char *netns, const char *dev, int from, const uint8_t *to,
		      const uint8_t *hw)
{
	struct packetway_poets_open o = { .size = sizeof(o), .devices = 1, .pins = 1 };
	uint32_t one = 1;
	struct packetway_poets_load l = {
		.size = sizeof(l), .devices = 1, .total = 1,
		.pins = (uintptr_t)&one, .edges = (uintptr_t)&one,
	};
	struct packetway_poets_simple s = { .size = sizeof(s) };
	struct packetway_bind b = { .size = sizeof(b) };
	struct packetway_poets_event ev;
	struct pw_nl nl;
	uint32_t release[2] = { htole32(PW_POETS_SW_BARRIER_RELEASE), 0 };
	uint8_t f[64];
	int ns = ns_open(netns), n = open("/dev/" PACKETWAY_DEVICE, O_RDWR), fd;

	if (ns < 0 || n < 0 || pw_nl_open(&nl, ns) || setns(ns, CLONE_NEWNET))
		die(netns);
	b.ifindex = pw_link_index(&nl, dev);
	close(nl.fd);
	if (ioctl(n, PACKETWAY_IOC_BIND, &b))
		die(dev);
	fd = ioctl(n, PACKETWAY_IOC_POETS_OPEN, &o);
	if (fd < 0 || ioctl(fd, PACKETWAY_IOC_POETS_LOAD, &l) ||
	    ioctl(fd, PACKETWAY_IOC_POETS_START, &s))
		die("softswitch");
	n = pw_msg(f, pw_get(to, 3), pw_get(hw, 3), PW_PT_POETS, 0, 0, release, sizeof(release));
	f[8] |= (PW_E_LITTLE | PW_E_32) << 4;
	if (send(from, f, n, 0) != n || read(fd, &ev, sizeof(ev)) != sizeof(ev) ||
	    ev.type != PACKETWAY_POETS_EV_RELEASED)
		die("barrier");
	return fd;
}

/* events until there were @n */
static void get_events(int fd, int n)
{
	struct packetway_poets_event ev[BURST];
	ssize_t len;

	for (; n > 0; n -= len / sizeof(ev[0])) {
		len = read(fd, ev, n * sizeof(ev[0]));
		if (len <= 0 || ev[0].type != PACKETWAY_POETS_EV_PIN)
			die("softswitch");
	}
}

/* seconds for one and its echo */
static double round_trips(const int *fd, long rounds)
{
	uint8_t buf[4096];
	double t = 0;
	int status;
	pid_t pid;
	long i;

	pid = fork();
	if (!pid) {
		for (i = -100; i < rounds; i++) {
			get(fd[1], buf);
			put(fd[1], 1);
		}
		_exit(0);
	}
	for (i = -100; i < rounds; i++) {
		if (i == 0)
			t = pw_now();
		put(fd[0], 0);
		get(fd[0], buf);
	}
	t = (pw_now() - t) / rounds;
	if (waitpid(pid, &status, 0) != pid || status)
		die("echo");
	return t;
}

/* seconds for one packet to a device, each by itself */
static double deliveries(int fd, int sw, long rounds)
{
	double t = 0;
	long i;

	for (i = -100; i < rounds; i++) {
		if (i == 0)
			t = pw_now();
		if (send(fd, frame[0], length, 0) != length)
			die("send");
		get_events(sw, 1);
	}
	return (pw_now() - t) / rounds;
}

static int make_router(const char *netns, int a, int b)
{
	struct pw_genl g;
	int ns = ns_open(netns), err;

	if (ns < 0 || pw_genl_open(&g, ns))
		die(netns);
	err = pw_router_add(&g, "bench", (struct pw_half_req){ a, 9, -1 },
			    (struct pw_half_req){ b, 9, -1 });
	if (err)
		fprintf(stderr, "router: %s %s\n", strerror(-err), g.nl.ext);
	return err != 0;
}

/* read @n bytes, then say so */
static void tcp_take(int s, long n)
{
	static char buf[65536];
	ssize_t len;

	for (; n > 0; n -= len) {
		len = read(s, buf, n < (long)sizeof(buf) ? (size_t)n : sizeof(buf));
		if (len <= 0)
			die("tcp read");
	}
	if (write(s, "", 1) != 1)
		die("tcp answer");
}

/* write @n bytes and wait until all have arrived; seconds */
static double tcp_give(int s, long n)
{
	static char buf[65536];
	double t = pw_now();
	ssize_t len;

	for (; n > 0; n -= len) {
		len = write(s, buf, n < (long)sizeof(buf) ? (size_t)n : sizeof(buf));
		if (len <= 0)
			die("tcp write");
	}
	if (read(s, buf, 1) != 1)
		die("tcp answer");
	return pw_now() - t;
}

static int tcp(const char *from, const char *to, const char *address, long bytes)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(7100) };
	int there = ns_open(to), here = ns_open(from), one = 1, l, s, status;
	double t;
	pid_t pid;

	if (there < 0 || here < 0 || inet_pton(AF_INET, address, &a.sin_addr) != 1)
		die(address);
	if (setns(there, CLONE_NEWNET))
		die(to);
	l = socket(AF_INET, SOCK_STREAM, 0);
	if (l < 0 || setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(l, (struct sockaddr *)&a, sizeof(a)) || listen(l, 1))
		die("listen");
	alarm(600);
	pid = fork();
	if (!pid) {
		alarm(600);
		s = accept(l, NULL, NULL);
		if (s < 0)
			die("accept");
		tcp_take(s, bytes / 4);
		tcp_take(s, bytes);
		_exit(0);
	}
	if (setns(here, CLONE_NEWNET))
		die(from);
	s = socket(AF_INET, SOCK_STREAM, 0);
	if (s < 0 || connect(s, (struct sockaddr *)&a, sizeof(a)))
		die("connect");
	/* a quarter first, unmeasured */
	tcp_give(s, bytes / 4);
	t = tcp_give(s, bytes);
	if (waitpid(pid, &status, 0) != pid || status)
		die("receiver");
	printf("tcp ns/byte %.4f\n", t * 1e9 / bytes);
	return 0;
}

int main(int argc, char **argv)
{
	uint8_t hw[2][8], buf[4096];
	double t, per_frame, rtt;
	long frames, rounds, i;
	int fd[2], sw = -1, k;
	const char *kind;

	if (argc == 5 && !strcmp(argv[1], "router"))
		return make_router(argv[2], atoi(argv[3]), atoi(argv[4]));
	if (argc == 6 && !strcmp(argv[1], "tcp"))
		return tcp(argv[2], argv[3], argv[4], atol(argv[5]));
	if (argc < 8) {
		fprintf(stderr, "usage: eep_bench KIND NETNS DEV NETNS DEV FRAMES ROUNDS [LENGTH [ROUTE BACK]]\n");
		return 1;
	}
	kind = argv[1];
	frames = atol(argv[6]) / BURST * BURST;
	rounds = atol(argv[7]);
	if (argc > 8)
		length = atoi(argv[8]);
	fd[0] = side(argv[2], argv[3], hw[0]);
	fd[1] = side(argv[4], argv[5], hw[1]);
	for (k = 0; k < 2; k++) {
		if (argc > 10)
			front[k] = route(frame[k], argv[9 + k]);
		build(kind, frame[k] + front[k], hw[!k], hw[k]);
	}
	alarm(600);
	if (!strcmp(kind, "poets")) {
		/* a capture would cost a copy: none runs */
		close(fd[1]);
		sw = softswitch(argv[4], argv[5], fd[0], hw[1], hw[0]);
		memcpy(buf, frame[0], sizeof(buf));
	}

	/* a quarter first, unmeasured */
	for (i = -frames / 4 / BURST * BURST, t = 0; i < frames; i += BURST) {
		if (i == 0)
			t = pw_now();
		for (k = 0; k < BURST; k++)
			put(fd[0], 0);
		if (sw >= 0)
			get_events(sw, BURST);
		else
			for (k = 0; k < BURST; k++)
				get(fd[1], buf);
	}
	per_frame = (pw_now() - t) / frames;
	if (memcmp(buf, frame[0] + front[0], length)) {
		fprintf(stderr, "other bytes came\n");
		return 1;
	}

	rtt = sw >= 0 ? deliveries(fd[0], sw, rounds) : round_trips(fd, rounds);
	printf("%s frames/s %.0f ns/frame %.0f rtt %.0f\n", argv[1], 1 / per_frame, per_frame * 1e9,
	       rtt * 1e9);
	return 0;
}
