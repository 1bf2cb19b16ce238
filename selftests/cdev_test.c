// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/packetway: what every command refuses, then what it does. Built for this
 * machine and, as compat_cdev_test, for its 32-bit half.
 */
#include "pwtest.h"
#include "pwharness.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define POISON 0x5a

FIXTURE(cdev) {
	int ns, fd, ifindex;
	struct pw_nl nl;
};

/* a namespace of its own with one station, port 3 of SAN 5, and lo */
FIXTURE_SETUP(cdev)
{
	self->ns = pw_ns_new();
	ASSERT_GE(self->ns, 0);
	ASSERT_EQ(0, setns(self->ns, CLONE_NEWNET));
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_station_add(&self->nl, "st", 5, 3, -1)) {
		TH_LOG("%s", self->nl.ext);
	}
	self->ifindex = pw_link_index(&self->nl, "st");
	ASSERT_GT(self->ifindex, 0);
	self->fd = open(PW_DEV, O_RDWR | O_CLOEXEC);
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(cdev)
{
	close(self->fd);
	close(self->nl.fd);
	close(self->ns);
}

/* every output poisoned: what the kernel does not write is seen */
static void poison_info(struct packetway_info *i)
{
	memset(i, POISON, sizeof(*i));
	i->size = sizeof(*i);
	i->flags = 0;
	i->__reserved = 0;
}

static int do_info(int fd, struct packetway_info *i)
{
	poison_info(i);
	return pw_ioctl(fd, PACKETWAY_IOC_GET_INFO, i);
}

static bool untouched(const void *p, size_t len)
{
	const uint8_t *b = p;

	while (len--)
		if (*b++ != POISON)
			return false;
	return true;
}

/* --- refusals --------------------------------------------------------------- */

TEST_F(cdev, unknown_commands)
{
	struct packetway_info info;
	unsigned int nr;

	poison_info(&info);
	for (nr = 0xe0; nr < 0x100; nr++)
		EXPECT_EQ(-ENOTTY, pw_ioctl(self->fd, _IO(PACKETWAY_IOC_TYPE, nr), &info));
	EXPECT_EQ(-ENOTTY, pw_ioctl(self->fd, _IO('T', PACKETWAY_IOCNR_GET_INFO), &info));
	EXPECT_EQ(-ENOTTY, pw_ioctl(self->fd, 0xffffffff, &info));
	EXPECT_TRUE(untouched(&info.out_features, sizeof(info.out_features)));
}

TEST_F(cdev, direction_bits)
{
	struct packetway_info info;

	poison_info(&info);
	/* only the number tells the command: direction and size are no part of it */
	EXPECT_EQ(-ENOTTY, pw_ioctl(self->fd, _IOR(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_GET_INFO,
						   struct packetway_info), &info));
	EXPECT_EQ(-ENOTTY, pw_ioctl(self->fd, _IOW(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_GET_INFO,
						   struct packetway_info), &info));
	EXPECT_EQ(-ENOTTY, pw_ioctl(self->fd, _IOWR(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_GET_INFO,
						    struct packetway_info), &info));
	EXPECT_TRUE(untouched(&info.out_features, sizeof(info.out_features)));
}

TEST_F(cdev, bad_pointers)
{
	long page = sysconf(_SC_PAGESIZE);
	uint8_t *map, *end;

	EXPECT_EQ(-EFAULT, pw_ioctl(self->fd, PACKETWAY_IOC_GET_INFO, NULL));
	EXPECT_EQ(-EFAULT, pw_ioctl(self->fd, PACKETWAY_IOC_BIND, NULL));
	EXPECT_EQ(-EFAULT, pw_ioctl(self->fd, PACKETWAY_IOC_UNBIND, (void *)-4096L));

	map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, mprotect(map + page, page, PROT_NONE));
	/* the structure runs into a page that is not there */
	end = map + page - sizeof(struct packetway_info) + 4;
	memset(end, 0, sizeof(struct packetway_info) - 4);
	*(uint32_t *)end = sizeof(struct packetway_info);
	EXPECT_EQ(-EFAULT, pw_ioctl(self->fd, PACKETWAY_IOC_GET_INFO, end));
	/* it ends at the page: every byte may be read, none beyond is */
	end = map + page - sizeof(struct packetway_info);
	memset(end, 0, sizeof(struct packetway_info));
	*(uint32_t *)end = sizeof(struct packetway_info);
	EXPECT_EQ(0, pw_ioctl(self->fd, PACKETWAY_IOC_GET_INFO, end));
	/* outputs cannot be written */
	ASSERT_EQ(0, mprotect(map, page, PROT_READ));
	EXPECT_EQ(-EFAULT, pw_ioctl(self->fd, PACKETWAY_IOC_GET_INFO, end));
	munmap(map, 2 * page);
}

/* sizes around the known one, for each command */
TEST_F(cdev, sizes)
{
	static const struct { unsigned long nr; uint32_t size; int ok; } cmds[] = {
		{ PACKETWAY_IOC_GET_INFO, sizeof(struct packetway_info), 0 },
		{ PACKETWAY_IOC_BIND, sizeof(struct packetway_bind), -ENODEV },
		{ PACKETWAY_IOC_UNBIND, sizeof(struct packetway_unbind), -ENOTCONN },
	};
	union {
		uint32_t size;
		uint8_t b[8192];
	} u;
	uint32_t small, i;

	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		for (small = 0; small < cmds[i].size; small++) {
			memset(&u, 0, sizeof(u));
			u.size = small;
			EXPECT_EQ(-EINVAL, pw_ioctl(self->fd, cmds[i].nr, &u)) {
				TH_LOG("command %u, size %u", i, small);
			}
		}
		memset(&u, 0, sizeof(u));
		u.size = cmds[i].size;
		EXPECT_EQ(cmds[i].ok, pw_ioctl(self->fd, cmds[i].nr, &u));

		/* a newer program: a tail of zeros is fine and is left alone */
		memset(&u, 0, sizeof(u));
		u.size = cmds[i].size + 32;
		EXPECT_EQ(cmds[i].ok, pw_ioctl(self->fd, cmds[i].nr, &u));
		EXPECT_EQ(cmds[i].size + 32, u.size);
		memset(&u, 0, sizeof(u));
		u.size = 4096;
		EXPECT_EQ(cmds[i].ok, pw_ioctl(self->fd, cmds[i].nr, &u));

		/* anything else in the tail is something that we do not know */
		memset(&u, 0, sizeof(u));
		u.size = cmds[i].size + 32;
		u.b[cmds[i].size] = 1;
		EXPECT_EQ(-E2BIG, pw_ioctl(self->fd, cmds[i].nr, &u));
		memset(&u, 0, sizeof(u));
		u.size = cmds[i].size + 32;
		u.b[cmds[i].size + 31] = 1;
		EXPECT_EQ(-E2BIG, pw_ioctl(self->fd, cmds[i].nr, &u));

		/* a size that no memory has: refused, whatever it says */
		memset(&u, 0, sizeof(u));
		u.size = 0xffffffff;
		EXPECT_GT(0, pw_ioctl(self->fd, cmds[i].nr, &u));
	}
}

TEST_F(cdev, flags_and_reserved)
{
	struct packetway_unbind unbind = { .size = sizeof(unbind) };
	struct packetway_bind bind = { .size = sizeof(bind), .ifindex = self->ifindex };
	struct packetway_info info;
	int bit;

	for (bit = 0; bit < 32; bit++) {
		poison_info(&info);
		info.flags = 1U << bit;
		EXPECT_EQ(-EINVAL, pw_ioctl(self->fd, PACKETWAY_IOC_GET_INFO, &info));
		poison_info(&info);
		info.__reserved = 1U << bit;
		EXPECT_EQ(-EINVAL, pw_ioctl(self->fd, PACKETWAY_IOC_GET_INFO, &info));
		EXPECT_TRUE(untouched(&info.out_features, sizeof(info.out_features)));
		bind.flags = 1U << bit;
		EXPECT_EQ(-EINVAL, pw_ioctl(self->fd, PACKETWAY_IOC_BIND, &bind));
		bind.flags = 0;
		bind.__reserved = 1U << bit;
		EXPECT_EQ(-EINVAL, pw_ioctl(self->fd, PACKETWAY_IOC_BIND, &bind));
		bind.__reserved = 0;
		unbind.flags = 1U << bit;
		EXPECT_EQ(-EINVAL, pw_ioctl(self->fd, PACKETWAY_IOC_UNBIND, &unbind));
	}
	/* nothing of this has bound the file */
	EXPECT_EQ(-ENOTCONN, pw_unbind(self->fd));
}

TEST_F(cdev, bind_refusals)
{
	int lo = pw_link_index(&self->nl, "lo");

	EXPECT_EQ(-ENODEV, pw_bind(self->fd, 0));
	EXPECT_EQ(-ENODEV, pw_bind(self->fd, 12345));
	EXPECT_EQ(-ENODEV, pw_bind(self->fd, 0x7fffffff));
	EXPECT_EQ(-EINVAL, pw_bind(self->fd, 0x80000000));
	EXPECT_EQ(-EINVAL, pw_bind(self->fd, -1));
	/* a device, but not a station */
	ASSERT_GT(lo, 0);
	EXPECT_EQ(-ENODEV, pw_bind(self->fd, lo));
	EXPECT_EQ(-ENOTCONN, pw_unbind(self->fd));

	ASSERT_EQ(0, pw_bind(self->fd, self->ifindex));
	EXPECT_EQ(-EISCONN, pw_bind(self->fd, self->ifindex));
	/* what is wrong with the device is said first */
	EXPECT_EQ(-ENODEV, pw_bind(self->fd, 12345));
	EXPECT_EQ(0, pw_unbind(self->fd));
	EXPECT_EQ(-ENOTCONN, pw_unbind(self->fd));
}

/* a file that is not bound has nothing to read or map */
TEST_F(cdev, file_operations_unbound)
{
	char c = 0;

	EXPECT_EQ(-1, read(self->fd, &c, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(self->fd, &c, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, lseek(self->fd, 0, SEEK_SET));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED,
				   self->fd, 0));
	EXPECT_EQ(ENOTCONN, errno);
}

/* --- what works -------------------------------------------------------------- */

TEST_F(cdev, info)
{
	struct packetway_info info;

	ASSERT_EQ(0, do_info(self->fd, &info));
	EXPECT_EQ(sizeof(info), info.size);
	EXPECT_EQ(0, info.flags);
	EXPECT_NE(0, info.out_features & PACKETWAY_FEATURE_EEP);
	EXPECT_EQ(PACKETWAY_SAN_MAX, info.out_san_max);
	EXPECT_EQ(PACKETWAY_PORTS_MAX, info.out_ports_max);
	EXPECT_EQ(PACKETWAY_MTU_MAX, info.out_mtu_max);
	EXPECT_EQ(0, info.out_ifindex);
	EXPECT_EQ(0, info.out_san);
	EXPECT_EQ(0, info.out_port);
	EXPECT_EQ(0, info.out_addr);
	EXPECT_EQ(0, info.__reserved);

	ASSERT_EQ(0, pw_bind(self->fd, self->ifindex));
	ASSERT_EQ(0, do_info(self->fd, &info));
	EXPECT_EQ(self->ifindex, info.out_ifindex);
	EXPECT_EQ(5, info.out_san);
	EXPECT_EQ(3, info.out_port);
	EXPECT_EQ(5 * 256 + 3 + 1, info.out_addr);

	ASSERT_EQ(0, pw_unbind(self->fd));
	ASSERT_EQ(0, do_info(self->fd, &info));
	EXPECT_EQ(0, info.out_ifindex);
	EXPECT_EQ(0, info.out_addr);
}

/* bytes behind the structure as the kernel knows it are not written */
TEST_F(cdev, info_larger)
{
	struct {
		struct packetway_info info;
		uint8_t tail[64];
	} big;

	memset(&big, 0, sizeof(big));
	big.info.size = sizeof(big);
	ASSERT_EQ(0, pw_ioctl(self->fd, PACKETWAY_IOC_GET_INFO, &big));
	EXPECT_EQ(PACKETWAY_MTU_MAX, big.info.out_mtu_max);
	EXPECT_EQ(sizeof(big), big.info.size);
	EXPECT_EQ(0, big.tail[0]);
	EXPECT_EQ(0, big.tail[63]);
}

TEST_F(cdev, deleted_station)
{
	struct packetway_info info;

	ASSERT_EQ(0, pw_bind(self->fd, self->ifindex));
	ASSERT_EQ(0, pw_link_del(&self->nl, "st"));
	EXPECT_EQ(-ENODEV, pw_bind(self->fd, self->ifindex));
	ASSERT_EQ(0, do_info(self->fd, &info));
	EXPECT_EQ(0, info.out_ifindex);

	/* the file can be used for another one */
	ASSERT_EQ(0, pw_station_add(&self->nl, "st2", 5, 4, -1));
	EXPECT_EQ(0, pw_bind(self->fd, pw_link_index(&self->nl, "st2")));
	ASSERT_EQ(0, do_info(self->fd, &info));
	EXPECT_EQ(4, info.out_port);
	EXPECT_EQ(0, pw_unbind(self->fd));

	/* gone while bound, then unbound: that is no error, and it is free again */
	ASSERT_EQ(0, pw_bind(self->fd, pw_link_index(&self->nl, "st2")));
	ASSERT_EQ(0, pw_link_del(&self->nl, "st2"));
	EXPECT_EQ(0, pw_unbind(self->fd));
	EXPECT_EQ(-ENOTCONN, pw_unbind(self->fd));
}

TEST_F(cdev, moved_station)
{
	struct packetway_info info;
	int other = pw_ns_new();

	ASSERT_GE(other, 0);
	ASSERT_EQ(0, pw_bind(self->fd, self->ifindex));
	ASSERT_EQ(0, pw_link_move(&self->nl, "st", other));
	/* still bound, but there is nothing of that index to see from here */
	ASSERT_EQ(0, do_info(self->fd, &info));
	EXPECT_EQ(0, info.out_ifindex);
	EXPECT_EQ(-ENODEV, pw_bind(self->fd, self->ifindex));
	ASSERT_EQ(0, setns(other, CLONE_NEWNET));
	ASSERT_EQ(0, do_info(self->fd, &info));
	EXPECT_NE(0, info.out_ifindex);
	EXPECT_EQ(5 * 256 + 3 + 1, info.out_addr);
	EXPECT_EQ(0, pw_unbind(self->fd));
	close(other);
}

TEST_F(cdev, namespace_goes)
{
	struct packetway_info info;
	double end = pw_now() + SOON / 1000;
	int other = pw_ns_new();
	int fd = -1;

	ASSERT_GE(other, 0);
	ASSERT_EQ(0, setns(other, CLONE_NEWNET));
	close(other);
	{
		struct pw_nl nl;

		ASSERT_EQ(0, pw_nl_open(&nl, pw_ns_self()));
		ASSERT_EQ(0, pw_station_add(&nl, "gone", 0, 0, -1));
		ASSERT_EQ(0, pw_bind(self->fd, pw_link_index(&nl, "gone")));
		close(nl.fd);
	}
	/* pw_ns_self() above left one descriptor: close all that name a namespace */
	for (fd = 3; fd < 64; fd++) {
		char path[64], link[64] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, link, sizeof(link) - 1) > 0 && !strncmp(link, "net:", 4) &&
		    fd != self->ns)
			close(fd);
	}
	ASSERT_EQ(0, setns(self->ns, CLONE_NEWNET));
	/* the file does not keep the namespace; in time the station is gone */
	do {
		ASSERT_EQ(0, do_info(self->fd, &info));
		fd = pw_bind(self->fd, self->ifindex);
		if (!fd)
			break;
		EXPECT_EQ(-EISCONN, fd);
		usleep(20000);
	} while (pw_now() < end);
	EXPECT_EQ(0, fd);
}

TEST_F(cdev, two_files_one_station)
{
	int other = open(PW_DEV, O_RDWR | O_CLOEXEC);
	struct packetway_info info;

	ASSERT_GE(other, 0);
	EXPECT_EQ(0, pw_bind(self->fd, self->ifindex));
	EXPECT_EQ(0, pw_bind(other, self->ifindex));
	EXPECT_EQ(0, pw_unbind(self->fd));
	ASSERT_EQ(0, do_info(other, &info));
	EXPECT_EQ(self->ifindex, info.out_ifindex);
	close(other);
	EXPECT_EQ(0, pw_link_del(&self->nl, "st"));
}

TEST_F(cdev, fork_and_close)
{
	struct packetway_info info;
	int status;
	pid_t pid;

	ASSERT_EQ(0, pw_bind(self->fd, self->ifindex));
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		/* the child shares the session, and closing its copy ends nothing */
		if (do_info(self->fd, &info) || info.out_ifindex != self->ifindex)
			_exit(1);
		close(self->fd);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, do_info(self->fd, &info));
	EXPECT_EQ(self->ifindex, info.out_ifindex);
}

static int send_fd(int sock, int fd)
{
	char c = 0, room[CMSG_SPACE(sizeof(int))] = {};
	struct iovec iov = { &c, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room,
			    .msg_controllen = sizeof(room) };
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	return sendmsg(sock, &m, 0) == 1 ? 0 : -1;
}

static int recv_fd(int sock)
{
	char c, room[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &c, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room,
			    .msg_controllen = sizeof(room) };
	int fd = -1;

	if (recvmsg(sock, &m, 0) == 1 && CMSG_FIRSTHDR(&m))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* to a process in another namespace, whose answers are about its own view */
TEST_F(cdev, fd_passing)
{
	int sv[2], status, other;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		struct packetway_info info;
		int fd = recv_fd(sv[1]);

		if (fd < 0 || unshare(CLONE_NEWNET))
			_exit(1);
		if (do_info(fd, &info) || info.out_ifindex || info.out_addr)
			_exit(2);
		if (pw_bind(fd, 1) != -ENODEV)
			_exit(3);
		if (pw_unbind(fd))
			_exit(4);
		_exit(0);
	}
	other = open(PW_DEV, O_RDWR | O_CLOEXEC);
	ASSERT_GE(other, 0);
	ASSERT_EQ(0, pw_bind(other, self->ifindex));
	ASSERT_EQ(0, send_fd(sv[0], other));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(-ENOTCONN, pw_unbind(other));
}

/* root of a user namespace has no rights in the network namespace of another */
TEST_F(cdev, capability)
{
	struct packetway_info info;
	int status;
	pid_t pid;

	ASSERT_EQ(0, pw_bind(self->fd, self->ifindex));
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		struct pw_nl nl;
		int fd, own;

		/* before CLONE_NEWUSER: then it takes no mapping to be allowed to */
		if (unshare(CLONE_NEWUSER))
			_exit(1);
		fd = open(PW_DEV, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			_exit(2);
		if (do_info(fd, &info))
			_exit(3);
		if (pw_bind(fd, self->ifindex) != -EPERM)
			_exit(4);
		/* a device that is not there is not told to those who may not ask */
		if (pw_bind(fd, 12345) != -EPERM)
			_exit(5);
		/* a namespace of its own: its owner may */
		if (unshare(CLONE_NEWNET))
			_exit(6);
		own = pw_ns_self();
		if (pw_nl_open(&nl, own) || pw_station_add(&nl, "mine", 0, 0, -1))
			_exit(7);
		if (pw_bind(fd, pw_link_index(&nl, "mine")))
			_exit(8);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status) {
		TH_LOG("child ended with %d", WEXITSTATUS(status));
	}
}

/* BIND against deletion: whichever comes first, nothing breaks */
TEST_F(cdev, bind_races_deletion)
{
	int rounds = pw_count(60, 10), i, err, status;
	pid_t pid;

	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		for (;;) {
			int ifindex = pw_link_index(&self->nl, "race");
			int fd = open(PW_DEV, O_RDWR);

			err = pw_bind(fd, ifindex);
			if (err && err != -ENODEV)
				_exit(1);
			pw_bind(self->fd, ifindex);
			if (!err)
				pw_unbind(fd);
			close(fd);
		}
	}
	{
		struct pw_nl nl;

		ASSERT_EQ(0, pw_nl_open(&nl, self->ns));
		for (i = 0; i < rounds; i++) {
			ASSERT_EQ(0, pw_station_add(&nl, "race", 5, 7, -1));
			if (i % 3)
				sched_yield();
			ASSERT_EQ(0, pw_link_del(&nl, "race"));
		}
		close(nl.fd);
	}
	EXPECT_EQ(0, waitpid(pid, &status, WNOHANG));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
}

/* the layout is the interface: the same on every machine */
TEST(layout)
{
	EXPECT_EQ(48, sizeof(struct packetway_info));
	EXPECT_EQ(8, offsetof(struct packetway_info, out_features));
	EXPECT_EQ(16, offsetof(struct packetway_info, out_san_max));
	EXPECT_EQ(44, offsetof(struct packetway_info, __reserved));
	EXPECT_EQ(16, sizeof(struct packetway_bind));
	EXPECT_EQ(8, sizeof(struct packetway_unbind));
	EXPECT_EQ(0xe900, PACKETWAY_IOC_GET_INFO);
	EXPECT_EQ(0xe901, PACKETWAY_IOC_BIND);
	EXPECT_EQ(0xe902, PACKETWAY_IOC_UNBIND);
}

TEST_HARNESS_MAIN
