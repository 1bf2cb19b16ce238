// SPDX-License-Identifier: GPL-2.0
/*
 * trunk_peer: numbered messages from host to host, and an injector.
 *
 *	trunk_peer send DEV ADDR COUNT [FIRST]	numbered messages, from FIRST (0) on, not too fast
 *	trunk_peer recv DEV COUNT [GROUP]	until COUNT have come or SIGTERM:
 *						"got N twice N bad N"
 *	trunk_peer inject FROM TO PORT COUNT	trunk packets without the secret, as if
 *						they came from IPv4 address FROM
 */
#include "pwtest.h"

#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <signal.h>

#define PT_TEST 1500
#define DATA 40

static uint8_t buf[4096];
static volatile sig_atomic_t over;

static int station(const char *dev, uint32_t *addr)
{
	struct rtattr *a;
	struct pw_nl nl;
	int fd;

	if (pw_nl_open(&nl, pw_ns_self()))
		return -1;
	a = pw_link_get(&nl, dev, IFLA_ADDRESS, NULL);
	if (!a)
		return -1;
	*addr = pw_get(RTA_DATA(a), 3);
	fd = pw_packet_open(pw_ns_self(), SOCK_RAW, ETH_P_PACKETWAY, pw_link_index(&nl, dev));
	close(nl.fd);
	return fd;
}

static int do_send(const char *dev, uint32_t to, long n, long first)
{
	uint8_t data[DATA];
	uint32_t addr;
	int fd = station(dev, &addr), l;
	long i;

	for (i = first; fd >= 0 && i < first + n; i++) {
		memset(data, i * 13, sizeof(data));
		pw_put(data, 8, i);
		l = pw_msg(buf, to, addr, PT_TEST, 1, 0, data, sizeof(data));
		if (send(fd, buf, l, 0) != l)
			return 1;
		if (!(i % 32))
			usleep(4000);
	}
	return fd < 0;
}

static void stop(int sig)
{
	over = sig;
}

static int do_recv(const char *dev, long n, uint32_t group)
{
	long got = 0, twice = 0, bad = 0, seq;
	uint8_t *seen = calloc(1, n);
	struct pw_nl nl;
	struct pw_hdr h;
	uint32_t addr;
	int fd = station(dev, &addr), l, k;

	if (fd < 0 || !seen || pw_nl_open(&nl, pw_ns_self()))
		return 1;
	if (group && pw_packet_join(fd, pw_link_index(&nl, dev), PACKET_MR_MULTICAST, group, false))
		return 1;
	signal(SIGTERM, stop);
	printf("ready\n");
	fflush(stdout);
	while (got < n && !over) {
		errno = 0;
		l = pw_recv(fd, buf, sizeof(buf), NULL, 100);
		if (l < 0 && errno && errno != EINTR)
			perror("# recv");
		if (l < 0)
			continue;
		pw_hdr_get(buf, &h);
		if (l < 24 || h.pt != PT_TEST)
			continue;
		seq = pw_get(buf + 16, 8);
		for (k = 8; k < DATA && buf[16 + k] == (uint8_t)(seq * 13); k++)
			;
		if (l != 24 + DATA || k != DATA || seq >= n || h.dt != (group ? group : addr)) {
			bad++;
			continue;
		}
		twice += seen[seq];
		seen[seq] = 1;
		got++;
	}
	printf("got %ld twice %ld bad %ld\n", got, twice, bad);
	return 0;
}

/* headers that are right in all but the key, and rubbish */
static int do_inject(const char *from, const char *to, int port, long n)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW), l, k;
	struct iphdr *ip = (void *)buf;
	struct udphdr *u = (void *)(ip + 1);
	uint8_t *p = (void *)(u + 1);
	unsigned int seed = 99;
	long i;

	if (fd < 0)
		return 1;
	for (i = 0; i < n; i++) {
		l = 32 + (i & 1 ? 24 : 64) + 16;
		for (k = 0; k < l; k++)
			p[k] = rand_r(&seed);
		p[0] = 'P';
		p[1] = 1;
		p[2] = 1 + (i & 1);
		p[3] = i % 3 ? 2 : 0;	/* says that it has a key, or has none */
		p[4] = 0;
		p[5] = 0;
		p[6] = 0;
		p[7] = 0;
		*ip = (struct iphdr){
			.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
			.saddr = inet_addr(from), .daddr = inet_addr(to),
			.tot_len = htons(28 + l),
		};
		*u = (struct udphdr){
			.source = htons(port), .dest = htons(port), .len = htons(8 + l),
		};
		sin.sin_addr.s_addr = ip->daddr;
		while (sendto(fd, buf, 28 + l, 0, (void *)&sin, sizeof(sin)) != 28 + l) {
			if (errno != ENOBUFS && errno != EAGAIN)
				return 1;
			usleep(1000);
		}
		if (!(i % 64))
			usleep(1000);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if ((argc == 5 || argc == 6) && !strcmp(argv[1], "send"))
		return do_send(argv[2], strtoul(argv[3], NULL, 0), atol(argv[4]),
			       argc == 6 ? atol(argv[5]) : 0);
	if ((argc == 4 || argc == 5) && !strcmp(argv[1], "recv"))
		return do_recv(argv[2], atol(argv[3]), argc == 5 ? strtoul(argv[4], NULL, 0) : 0);
	if (argc == 6 && !strcmp(argv[1], "inject"))
		return do_inject(argv[2], argv[3], atoi(argv[4]), atol(argv[5]));
	fprintf(stderr, "usage: trunk_peer send|recv|inject ...\n");
	return 1;
}
