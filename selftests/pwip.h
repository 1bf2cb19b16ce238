/* SPDX-License-Identifier: GPL-2.0 */
/* IP over stations, for C selftests. */
#ifndef PWIP_H
#define PWIP_H

#include "pwtest.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>

/* an address of a device */
static PW_UNUSED int pw_ip_add(struct pw_nl *nl, int idx, int family, const void *addr, int len,
			       int plen)
{
	struct pw_req r = {
		.n = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct ifaddrmsg)),
		       .nlmsg_type = RTM_NEWADDR,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE },
	};
	struct ifaddrmsg a = {
		.ifa_family = family, .ifa_prefixlen = plen, .ifa_index = idx,
		.ifa_flags = IFA_F_NODAD,
	};

	memcpy(&r.i, &a, sizeof(a));
	pw_req_put(&r, IFA_LOCAL, addr, len);
	return pw_nl_talk(nl, &r);
}

static void *pw_tcp_sink(void *arg)
{
	int fd = accept(*(int *)arg, NULL, NULL);
	static char buf[65536];
	long sum = 0;
	ssize_t n;

	while (fd >= 0 && (n = recv(fd, buf, sizeof(buf), 0)) > 0)
		sum += n;
	close(fd);
	return (void *)sum;
}

/* bytes that arrive of @bytes from @ns_a to @addr in @ns_b */
static PW_UNUSED long pw_tcp_across(int ns_a, int ns_b, int family, const void *addr, int len,
				    long bytes)
{
	struct timeval tv = { .tv_sec = 30 };
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} to = {};
	static char buf[16384];
	pthread_t thread;
	void *sum = NULL;
	int s, l, n, one = 1;

	to.sa.sa_family = family;
	if (family == AF_INET) {
		to.in.sin_port = htons(5000);
		memcpy(&to.in.sin_addr, addr, len);
	} else {
		to.in6.sin6_port = htons(5000);
		memcpy(&to.in6.sin6_addr, addr, len);
	}
	n = family == AF_INET ? sizeof(to.in) : sizeof(to.in6);
	l = pw_ns_socket(ns_b, family, SOCK_STREAM, 0);
	s = pw_ns_socket(ns_a, family, SOCK_STREAM, 0);
	setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	setsockopt(l, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	/* the last connection may not have ended yet */
	setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(l, &to.sa, n) || listen(l, 1)) {
		perror("# listen");
		return -1;
	}
	pthread_create(&thread, NULL, pw_tcp_sink, &l);
	if (connect(s, &to.sa, n)) {
		perror("# connect");
		shutdown(l, SHUT_RDWR);
	} else {
		while (bytes > 0 && (n = send(s, buf, bytes < (long)sizeof(buf) ? bytes :
						      (long)sizeof(buf), MSG_NOSIGNAL)) > 0)
			bytes -= n;
	}
	close(s);
	pthread_join(thread, &sum);
	close(l);
	return (long)sum;
}

#endif
