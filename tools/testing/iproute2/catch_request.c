// SPDX-License-Identifier: GPL-2.0
/*
 * LD_PRELOAD for `ip`. Requests to make or change a link go, as hex, to the file
 * named by $CATCH and never reach the kernel; a request to show links is answered
 * with the message in the file named by $ANSWER.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

static unsigned int answer_seq;
static int answer_fd = -1;

static void catch_request(const struct nlmsghdr *n)
{
	const unsigned char *p = (const void *)n;
	FILE *f = fopen(getenv("CATCH"), "w");

	if (!f)
		abort();
	for (size_t i = 0; i < n->nlmsg_len; i++)
		fprintf(f, "%02x", p[i]);
	fprintf(f, "\n");
	fclose(f);
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t (*next)(int fd, const struct msghdr *msg, int flags) = dlsym(RTLD_NEXT, "sendmsg");
	const struct nlmsghdr *n = msg->msg_iovlen ? msg->msg_iov[0].iov_base : NULL;

	if (n && getenv("CATCH") && n->nlmsg_type == RTM_NEWLINK) {
		catch_request(n);
		errno = EPERM;
		return -1;
	}
	if (n && getenv("ANSWER") && n->nlmsg_type == RTM_GETLINK) {
		answer_fd = fd;
		answer_seq = n->nlmsg_seq;
		return n->nlmsg_len;
	}
	return next(fd, msg, flags);
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	ssize_t (*next)(int fd, struct msghdr *msg, int flags) = dlsym(RTLD_NEXT, "recvmsg");
	struct sockaddr_nl me = {}, kernel = { .nl_family = AF_NETLINK };
	socklen_t len = sizeof(me);
	struct nlmsghdr *n;
	static char buf[4096];
	size_t got;
	FILE *f;

	if (fd != answer_fd)
		return next(fd, msg, flags);

	f = fopen(getenv("ANSWER"), "r");
	if (!f || getsockname(fd, (struct sockaddr *)&me, &len))
		abort();
	got = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	n = (void *)buf;
	n->nlmsg_seq = answer_seq;
	n->nlmsg_pid = me.nl_pid;
	if (msg->msg_name)
		memcpy(msg->msg_name, &kernel, sizeof(kernel));
	msg->msg_namelen = sizeof(kernel);
	msg->msg_flags = 0;
	if (msg->msg_iov[0].iov_len)
		memcpy(msg->msg_iov[0].iov_base, buf,
		       got < msg->msg_iov[0].iov_len ? got : msg->msg_iov[0].iov_len);
	if (!(flags & MSG_PEEK))
		answer_fd = -1;
	return got;
}
