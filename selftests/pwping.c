// SPDX-License-Identifier: GPL-2.0
/*
 * pwping: echo requests of many sizes in one process, never fragmented. Each must
 * come back with its bytes.
 *
 *	pwping ADDRESS FIRST LAST [STEP]
 *
 * Sizes are those of `ping -s`. Prints the sizes that failed; status 1 if any did.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static uint8_t out[70000], in[70000];

static uint16_t sum(const uint8_t *p, int len)
{
	uint32_t s = 0;
	int i;

	for (i = 0; i + 1 < len; i += 2)
		s += p[i] << 8 | p[i + 1];
	if (len & 1)
		s += p[len - 1] << 8;
	s = (s & 0xffff) + (s >> 16);
	s += s >> 16;
	return ~s;
}

/* one echo; the answer's bytes are those of the request but for type and sum */
static bool echo(int fd, bool v6, int size, uint16_t seq)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	const char *s = getenv("PW_FLAVOUR");
	int wait = s && strcmp(s, "stock") ? 20000 : 5000;
	int len = size + 8, n, i, off;

	out[0] = v6 ? ICMP6_ECHO_REQUEST : ICMP_ECHO;
	out[1] = out[2] = out[3] = 0;
	out[4] = getpid() >> 8;
	out[5] = getpid();
	out[6] = seq >> 8;
	out[7] = seq;
	for (i = 8; i < len; i++)
		out[i] = i * 5 + seq;
	if (!v6) {
		uint16_t c = sum(out, len);

		out[2] = c >> 8;
		out[3] = c;
	}
	if (send(fd, out, len, 0) != len)
		return false;
	while (poll(&p, 1, wait) == 1) {
		n = recv(fd, in, sizeof(in), 0);
		off = v6 ? 0 : 20;
		if (n < off + 8 || in[off] != (v6 ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY) ||
		    memcmp(in + off + 4, out + 4, 4))
			continue;
		return n == off + len && !memcmp(in + off + 8, out + 8, size);
	}
	return false;
}

int main(int argc, char **argv)
{
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in a4 = { .sin_family = AF_INET };
	int fd, first, last, step, size, bad = 0, n = 0, val, buf = 1 << 20;
	bool v6;

	if (argc < 4)
		return 2;
	first = atoi(argv[2]);
	last = atoi(argv[3]);
	step = argc > 4 ? atoi(argv[4]) : 1;
	v6 = strchr(argv[1], ':');
	if (inet_pton(v6 ? AF_INET6 : AF_INET, argv[1],
		      v6 ? (void *)&a6.sin6_addr : (void *)&a4.sin_addr) != 1 || step < 1)
		return 2;
	fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_RAW, v6 ? (int)IPPROTO_ICMPV6 : (int)IPPROTO_ICMP);
	if (fd < 0 || connect(fd, v6 ? (void *)&a6 : (void *)&a4, v6 ? sizeof(a6) : sizeof(a4))) {
		perror("pwping");
		return 2;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buf, sizeof(buf));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &buf, sizeof(buf));
	if (v6) {
		val = IPV6_PMTUDISC_DO;
		setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &val, sizeof(val));
		val = 1;
		setsockopt(fd, IPPROTO_IPV6, IPV6_DONTFRAG, &val, sizeof(val));
	} else {
		val = IP_PMTUDISC_DO;
		setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &val, sizeof(val));
	}
	for (size = first; size <= last; size += step, n++) {
		if (echo(fd, v6, size, n))
			continue;
		if (bad++ < 20)
			printf("%d ", size);
	}
	if (bad)
		printf("(%d of %d failed)\n", bad, n);
	return bad != 0;
}
