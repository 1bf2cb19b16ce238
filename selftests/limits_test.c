// SPDX-License-Identifier: GPL-2.0
/*
 * The table of Documentation/networking/packetway-limits.rst: each limit of a
 * namespace is met, answers with ENOSPC and a sentence, is counted, and changes
 * nothing; what goes gives its place back. Who may change a limit, and which memory
 * cgroup pays.
 */
#include "pwrouter.h"
#include "pwharness.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SYSCTL "/proc/sys/net/packetway/"
#define NOBODY 65534

static int get_file(const char *path, char *text, int size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return n < 0 ? -errno : 0;
}

static int set_max(const char *what, unsigned long v)
{
	char path[80], text[24];

	snprintf(path, sizeof(path), SYSCTL "max_%s", what);
	snprintf(text, sizeof(text), "%lu\n", v);
	return pw_write_file(path, text);
}

static long get_max(const char *what)
{
	char path[80], text[64];
	int err;

	snprintf(path, sizeof(path), SYSCTL "max_%s", what);
	err = get_file(path, text, sizeof(text));
	return err ?: atol(text);
}

/* in use; *@refused: how often the limit was met */
static long get_nr(const char *what, long *refused)
{
	char path[80], text[64];
	long used = -1;
	int err;

	*refused = -1;
	snprintf(path, sizeof(path), SYSCTL "nr_%s", what);
	err = get_file(path, text, sizeof(text));
	if (err)
		return err;
	return sscanf(text, "%ld %ld", &used, refused) == 2 ? used : -EINVAL;
}

static long nr_used(const char *what)
{
	long refused;

	return get_nr(what, &refused);
}

/* what has no user left is freed a little later */
static bool until_used(const char *what, long want)
{
	double end = pw_now() + 60;

	while (nr_used(what) != want && pw_now() < end)
		usleep(10000);
	return nr_used(what) == want;
}

static long nr_refused(const char *what)
{
	long refused;

	get_nr(what, &refused);
	return refused;
}

/* what the sentence of a refusal must contain */
static bool names(const char *ext, const char *what)
{
	char key[80];

	snprintf(key, sizeof(key), "net.packetway.max_%s", what);
	return strstr(ext, key);
}

FIXTURE(limits) {
	int ns;
	struct pw_nl nl;
	struct pw_genl g;
};

FIXTURE_SETUP(limits)
{
	ASSERT_EQ(0, unshare(CLONE_NEWNET));
	self->ns = pw_ns_self();
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_genl_open(&self->g, self->ns));
}

FIXTURE_TEARDOWN(limits)
{
	close(self->nl.fd);
	close(self->g.nl.fd);
	close(self->ns);
}

static int new_san(struct pw_genl *g, int id)
{
	return pw_san_cmd(g, PACKETWAY_CMD_SAN_NEW, id, 4, PACKETWAY_ENGINE_NONE);
}

TEST_F(limits, sans)
{
	ASSERT_EQ(0, set_max("sans", 2));
	EXPECT_EQ(0, new_san(&self->g, 1));
	EXPECT_EQ(0, pw_station_add(&self->nl, "s", 2, -1, -1));
	EXPECT_EQ(2, nr_used("sans"));
	EXPECT_EQ(0, nr_refused("sans"));
	EXPECT_EQ(-ENOSPC, new_san(&self->g, 3));
	EXPECT_TRUE(names(self->g.nl.ext, "sans")) {
		TH_LOG("said: %s", self->g.nl.ext);
	}
	/* a station or a router that would make one is refused as a whole */
	EXPECT_EQ(-ENOSPC, pw_station_add(&self->nl, "t", 3, -1, -1));
	EXPECT_TRUE(names(self->nl.ext, "sans"));
	EXPECT_EQ(-ENOSPC, pw_router_add(&self->g, "r", (struct pw_half_req){ 1, -1, -1 },
					 (struct pw_half_req){ 3, -1, -1 }));
	EXPECT_EQ(3, nr_refused("sans"));
	EXPECT_EQ(2, nr_used("sans"));
	EXPECT_EQ(1, nr_used("stations"));
	EXPECT_EQ(0, nr_used("routers"));
	/* one goes: there is room again, as soon as a work item has freed it */
	EXPECT_EQ(0, pw_link_del(&self->nl, "s"));
	EXPECT_TRUE(until_used("sans", 1));
	EXPECT_EQ(0, new_san(&self->g, 3));
	/* who deletes it by name need not wait */
	EXPECT_EQ(0, pw_san_cmd(&self->g, PACKETWAY_CMD_SAN_DEL, 3, -1, -1));
	EXPECT_EQ(1, nr_used("sans"));
}

TEST_F(limits, stations)
{
	int other = pw_ns_new();

	ASSERT_EQ(0, set_max("stations", 2));
	EXPECT_EQ(0, pw_station_add(&self->nl, "a", 0, -1, -1));
	EXPECT_EQ(0, pw_station_add(&self->nl, "b", 0, -1, -1));
	EXPECT_EQ(-ENOSPC, pw_station_add(&self->nl, "c", 0, -1, -1));
	EXPECT_TRUE(names(self->nl.ext, "stations"));
	EXPECT_EQ(-ENODEV, pw_link_index(&self->nl, "c") > 0 ? 0 : -ENODEV);
	EXPECT_EQ(1, nr_refused("stations"));
	/* one that moves away still sits on a port of this namespace's SAN */
	EXPECT_EQ(0, pw_link_move(&self->nl, "b", other));
	EXPECT_EQ(2, nr_used("stations"));
	EXPECT_EQ(-ENOSPC, pw_station_add(&self->nl, "c", 0, -1, -1));
	/* a name that is taken: refused later, and given back */
	EXPECT_EQ(0, set_max("stations", 3));
	EXPECT_EQ(-EEXIST, pw_station_add(&self->nl, "a", 0, -1, -1));
	EXPECT_EQ(2, nr_used("stations"));
	EXPECT_EQ(0, pw_link_del(&self->nl, "a"));
	EXPECT_EQ(1, nr_used("stations"));
	close(other);
}

static int add_router(struct pw_genl *g, const char *name, int a, int b)
{
	return pw_router_add(g, name, (struct pw_half_req){ a, -1, -1 },
			     (struct pw_half_req){ b, -1, -1 });
}

static int add_trunk(struct pw_genl *g, const char *name, int san, int port)
{
	struct pw_trunk_req t = { .name = name, .san = san, .port = -1,
				  .local = INADDR_LOOPBACK, .remote = INADDR_LOOPBACK + 1,
				  .local_port = port, .remote_port = port };

	return pw_trunk_add(g, &t);
}

TEST_F(limits, routers_and_trunks)
{
	ASSERT_EQ(0, pw_link_up(&self->nl, "lo"));
	ASSERT_EQ(0, set_max("routers", 2));
	ASSERT_EQ(0, set_max("trunks", 1));
	EXPECT_EQ(0, add_trunk(&self->g, "t1", 1, 7001)) {
		TH_LOG("said: %s", self->g.nl.ext);
	}
	EXPECT_EQ(-ENOSPC, add_trunk(&self->g, "t2", 1, 7002));
	EXPECT_TRUE(names(self->g.nl.ext, "trunks"));
	EXPECT_EQ(1, nr_used("trunks"));
	EXPECT_EQ(1, nr_used("routers"));
	EXPECT_EQ(1, nr_refused("trunks"));
	EXPECT_EQ(0, add_router(&self->g, "r1", 1, 2));
	EXPECT_EQ(-ENOSPC, add_router(&self->g, "r2", 1, 2));
	EXPECT_TRUE(names(self->g.nl.ext, "routers"));
	EXPECT_EQ(1, nr_refused("routers"));
	/* refused for another reason after it was charged: given back */
	EXPECT_EQ(0, set_max("routers", 3));
	EXPECT_EQ(-EINVAL, add_router(&self->g, "r2", 1, 1));
	EXPECT_EQ(2, nr_used("routers"));
	EXPECT_EQ(0, pw_router_del(&self->g, "t1"));
	EXPECT_EQ(0, pw_router_del(&self->g, "r1"));
	EXPECT_EQ(0, nr_used("routers"));
	EXPECT_EQ(0, nr_used("trunks"));
	EXPECT_EQ(0, nr_used("sans"));
}

TEST_F(limits, monitors)
{
	ASSERT_EQ(0, set_max("monitors", 1));
	ASSERT_EQ(0, pw_mon_add(&self->nl, "m1", false));
	ASSERT_EQ(0, pw_mon_add(&self->nl, "m2", false));
	EXPECT_EQ(0, nr_used("monitors"));
	EXPECT_EQ(0, pw_link_up(&self->nl, "m1"));
	EXPECT_EQ(-ENOSPC, pw_link_up(&self->nl, "m2"));
	EXPECT_EQ(1, nr_used("monitors"));
	EXPECT_EQ(1, nr_refused("monitors"));
	EXPECT_EQ(0, pw_link_down(&self->nl, "m1"));
	EXPECT_EQ(0, pw_link_up(&self->nl, "m2"));
	/* up and gone */
	EXPECT_EQ(0, pw_link_del(&self->nl, "m2"));
	EXPECT_EQ(0, nr_used("monitors"));
}

static int do_stand(int fd, int op)
{
	struct packetway_aton_stand s = { .size = sizeof(s), .op = op, .period = 100000,
					  .dst = PACKETWAY_ATON_RING_ALL };

	return pw_ioctl(fd, PACKETWAY_IOC_ATON_STAND, &s);
}

static int do_create(int fd, int count)
{
	struct packetway_ring_create c = { .size = sizeof(c), .count = count, .regs = 1 };

	return pw_ioctl(fd, PACKETWAY_IOC_RING_CREATE, &c);
}

static int do_poets(int fd, int flags)
{
	struct packetway_poets_open o = { .size = sizeof(o), .flags = flags,
					  .devices = flags ? 0 : 1 };

	return pw_ioctl(fd, PACKETWAY_IOC_POETS_OPEN, &o);
}

TEST_F(limits, files)
{
	int fd[3], i;

	ASSERT_EQ(0, set_max("files", 2));
	ASSERT_EQ(0, set_max("standing", 1));
	ASSERT_EQ(0, set_max("interfaces", 100));
	ASSERT_EQ(0, set_max("switches", 1));
	ASSERT_EQ(0, pw_station_add(&self->nl, "a", 0, -1, -1));
	ASSERT_EQ(0, pw_station_add(&self->nl, "b", 0, -1, -1));
	ASSERT_EQ(0, pw_link_up(&self->nl, "a"));
	ASSERT_EQ(0, pw_link_up(&self->nl, "b"));
	for (i = 0; i < 3; i++) {
		fd[i] = open("/dev/" PACKETWAY_DEVICE, O_RDWR | O_CLOEXEC);
		ASSERT_GE(fd[i], 0);
	}
	EXPECT_EQ(0, nr_used("files"));
	EXPECT_EQ(0, pw_bind(fd[0], pw_link_index(&self->nl, "a")));
	EXPECT_EQ(0, pw_bind(fd[1], pw_link_index(&self->nl, "b")));
	EXPECT_EQ(-ENOSPC, pw_bind(fd[2], pw_link_index(&self->nl, "a")));
	EXPECT_EQ(2, nr_used("files"));
	EXPECT_EQ(1, nr_refused("files"));
	/* what was refused is not bound */
	EXPECT_EQ(-ENOTCONN, pw_unbind(fd[2]));

	/* standing commands */
	EXPECT_EQ(0, do_stand(fd[0], PW_ATON_OP_ADD));
	EXPECT_EQ(-ENOSPC, do_stand(fd[1], PW_ATON_OP_ADD));
	EXPECT_EQ(1, nr_used("standing"));
	EXPECT_EQ(1, nr_refused("standing"));
	EXPECT_EQ(-ENOENT, do_stand(fd[1], 0));
	EXPECT_EQ(0, do_stand(fd[0], 0));
	EXPECT_EQ(0, nr_used("standing"));
	EXPECT_EQ(0, do_stand(fd[1], PW_ATON_OP_ADD));

	/* ring-only interfaces */
	EXPECT_EQ(-ENOSPC, do_create(fd[0], 101));
	EXPECT_EQ(0, nr_used("interfaces"));
	EXPECT_EQ(0, do_create(fd[0], 60));
	EXPECT_EQ(-ENOSPC, do_create(fd[1], 60));
	EXPECT_EQ(60, nr_used("interfaces"));
	EXPECT_EQ(2, nr_refused("interfaces"));
	EXPECT_EQ(0, do_create(fd[1], 40));

	/* softswitches and motherships */
	i = do_poets(fd[0], 0);
	EXPECT_GE(i, 0);
	EXPECT_EQ(-ENOSPC, do_poets(fd[1], PACKETWAY_POETS_MOTHERSHIP));
	EXPECT_EQ(1, nr_used("switches"));
	EXPECT_EQ(1, nr_refused("switches"));
	close(i);
	EXPECT_EQ(0, nr_used("switches"));
	i = do_poets(fd[1], PACKETWAY_POETS_MOTHERSHIP);
	EXPECT_GE(i, 0);

	/* a station that goes gives back what was its own */
	EXPECT_EQ(0, pw_link_del(&self->nl, "b"));
	EXPECT_EQ(1, nr_used("files"));
	EXPECT_EQ(0, nr_used("standing"));
	EXPECT_EQ(0, nr_used("switches"));
	EXPECT_EQ(0, pw_bind(fd[2], pw_link_index(&self->nl, "a")));
	EXPECT_EQ(0, pw_unbind(fd[2]));
	close(i);
	/* and so does a file that is closed */
	close(fd[0]);
	close(fd[1]);
	close(fd[2]);
	EXPECT_EQ(0, nr_used("files"));
	EXPECT_EQ(0, nr_used("interfaces"));
	EXPECT_EQ(1, nr_used("stations"));
}

/* commands of a file: EBUSY, and nothing of what did not fit is run */
TEST_F(limits, queue)
{
	static struct packetway_aton_command c[PACKETWAY_ATON_QUEUE];
	struct packetway_aton_submit s = {
		.size = sizeof(s), .stride = sizeof(c[0]), .commands = (uintptr_t)c,
		.count = PACKETWAY_ATON_QUEUE,
	};
	int fd = open("/dev/" PACKETWAY_DEVICE, O_RDWR | O_CLOEXEC), i;

	ASSERT_EQ(0, pw_station_add(&self->nl, "a", 0, -1, -1));
	ASSERT_EQ(0, pw_link_up(&self->nl, "a"));
	ASSERT_EQ(0, pw_bind(fd, pw_link_index(&self->nl, "a")));
	for (i = 0; i < PACKETWAY_ATON_QUEUE; i++)
		c[i] = (struct packetway_aton_command) {
			.size = sizeof(c[i]), .op = PW_ATON_OP_ADD, .dst = PACKETWAY_ATON_RING_ALL,
		};
	EXPECT_EQ(0, pw_ioctl(fd, PACKETWAY_IOC_ATON_SUBMIT, &s));
	EXPECT_EQ(PACKETWAY_ATON_QUEUE, s.out_queued);
	s.count = 1;
	EXPECT_EQ(-EBUSY, pw_ioctl(fd, PACKETWAY_IOC_ATON_SUBMIT, &s));
	close(fd);
}

/* --- who pays ----------------------------------------------------------------- */

#define CGROUPS "/run/packetway/cgroup"
#define CGROUP CGROUPS "/limits"

static long cgroup_value(const char *file, const char *key)
{
	char text[8192], *at;

	if (get_file(file, text, sizeof(text)))
		return -1;
	at = key ? strstr(text, key) : text;
	return at ? atol(at + (key ? strlen(key) : 0)) : -1;
}

/* in a memory cgroup of 16 MiB: what does not fit is refused, and nothing is killed */
static int poor(void)
{
	struct packetway_ring_create c = { .size = sizeof(c), .count = 900000, .regs = 16 };
	struct pw_genl g;
	struct pw_nl nl;
	long before, now, i;
	int fd, err;

	if (pw_write_file(CGROUP "/cgroup.procs", "0") || unshare(CLONE_NEWNET))
		return 1;
	if (pw_nl_open(&nl, pw_ns_self()) || pw_genl_open(&g, pw_ns_self()) ||
	    pw_station_add(&nl, "a", 0, -1, -1) || pw_link_up(&nl, "a"))
		return 2;
	fd = open("/dev/" PACKETWAY_DEVICE, O_RDWR | O_CLOEXEC);
	if (pw_bind(fd, pw_link_index(&nl, "a")))
		return 3;
	before = cgroup_value(CGROUP "/memory.stat", "\nvmalloc ");
	/* 115 MB of registers */
	if (pw_ioctl(fd, PACKETWAY_IOC_RING_CREATE, &c) != -ENOMEM)
		return 4;
	if (nr_used("interfaces"))
		return 5;
	c.count = 200000;
	c.regs = 1;
	if (pw_ioctl(fd, PACKETWAY_IOC_RING_CREATE, &c))
		return 6;
	/* figures of a cgroup are a little late */
	for (i = 0; i < 100; i++) {
		now = cgroup_value(CGROUP "/memory.stat", "\nvmalloc ");
		if (now >= before + 200000 * 8)
			break;
		usleep(100000);
	}
	if (now < before + 200000 * 8)
		return 7;
	/* SANs until there is no memory for another one */
	for (i = 1, err = 0; i < 255 && !err; i++)
		err = pw_san_cmd(&g, PACKETWAY_CMD_SAN_NEW, i, 256, PACKETWAY_ENGINE_RTL);
	return err == -ENOMEM ? 0 : 8;
}

#define STARVED 6

/* one message of 60,000 bytes from the first station to each other one */
static int send_large(int fd)
{
	static uint8_t buf[70000];
	int i, n;

	for (i = 1; i < STARVED; i++) {
		n = pw_msg(buf, i + 1, 1, 1500, 0, 0, NULL, 60000);
		if (send(fd, buf, n, 0) != n)
			return -1;
	}
	return 0;
}

/* those that have arrived */
static int recv_large(const int *fd, int ms)
{
	int i, n = 0;

	for (i = 1; i < STARVED; i++)
		while (pw_recv(fd[i], NULL, 0, NULL, ms) >= 60000)
			n++;
	return n;
}

/*
 * The buffers of a fabric grow with use, and the cgroup of its maker has nothing left: what is
 * not delivered is counted by its sender. With memory, all is delivered.
 */
static int starved(void)
{
	double end = pw_now() + SOON / 1000;
	int fd[STARVED], i, got = 0;
	char name[8];
	struct pw_genl g;
	struct pw_nl nl;
	uint64_t drops;

	if (pw_write_file(CGROUP "/cgroup.procs", "0") || unshare(CLONE_NEWNET))
		return 1;
	if (pw_nl_open(&nl, pw_ns_self()) || pw_genl_open(&g, pw_ns_self()) ||
	    pw_san_cmd(&g, PACKETWAY_CMD_SAN_NEW, 0, 16, PACKETWAY_ENGINE_FAST))
		return 2;
	/* nothing of the group can be killed then */
	if (pw_write_file(CGROUPS "/cgroup.procs", "0"))
		return 3;
	for (i = 0; i < STARVED; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		if (pw_station_add(&nl, name, 0, i, -1) || pw_link_mtu(&nl, name, 65000) ||
		    pw_link_up(&nl, name))
			return 4;
		fd[i] = pw_packet_open(pw_ns_self(), SOCK_RAW, ETH_P_PACKETWAY,
				       pw_link_index(&nl, name));
		if (fd[i] < 0)
			return 5;
	}
	if (pw_write_file(CGROUP "/memory.max", "0") || send_large(fd[0]))
		return 6;
	do {
		got += recv_large(fd, 10);
		drops = pw_stat(fd[0], "s0", "drop_tx_nomem");
	} while (got + drops < STARVED - 1 && pw_now() < end);
	printf("# %d messages delivered, %d dropped without memory\n", got, (int)drops);
	if (got + drops != STARVED - 1)
		return 7;
	if (!drops)
		return 8;
	if (pw_write_file(CGROUP "/memory.max", "max") || send_large(fd[0]))
		return 9;
	for (got = 0; got < STARVED - 1 && pw_now() < end;)
		got += recv_large(fd, 10);
	if (got != STARVED - 1)
		return 10;
	return pw_stat(fd[0], "s0", "drop_tx_nomem") == drops ? 0 : 11;
}

/* @what in a child process in a memory cgroup of its own */
static void in_cgroup(struct __test_metadata *_metadata, const char *max, int (*what)(void))
{
	int status;
	pid_t pid;

	mkdir("/run/packetway", 0755);
	mkdir(CGROUPS, 0755);
	if (access(CGROUPS "/cgroup.procs", F_OK) && mount("none", CGROUPS, "cgroup2", 0, NULL))
		SKIP(return, "no cgroup2 here");
	if (pw_write_file(CGROUPS "/cgroup.subtree_control", "+memory"))
		SKIP(return, "no memory cgroups here");
	ASSERT_TRUE(!mkdir(CGROUP, 0755) || errno == EEXIST);
	ASSERT_EQ(0, pw_write_file(CGROUP "/memory.max", max));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		status = what();
		fflush(stdout);
		_exit(status);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status) {
		TH_LOG("child ended with %x", status);
	}
	EXPECT_EQ(0, cgroup_value(CGROUP "/memory.events", "oom_kill "));
	/* what it had goes with its namespace; the cgroup then, too */
	for (status = 0; rmdir(CGROUP) && status < 300; status++)
		usleep(100000);
	EXPECT_LT(status, 300);
}

TEST_F(limits, memory_cgroup)
{
	in_cgroup(_metadata, "16777216", poor);
}

TEST_F(limits, memory_of_buffers)
{
	in_cgroup(_metadata, "max", starved);
}

/* --- who may change a limit --------------------------------------------------- */

/* as an unprivileged user who owns a user and a network namespace */
static int as_owner(int (*f)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		char map[32];

		if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
			_exit(101);
		/* /proc/self is root's otherwise */
		prctl(PR_SET_DUMPABLE, 1);
		if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
			_exit(102);
		snprintf(map, sizeof(map), "0 %d 1", NOBODY);
		if (pw_write_file("/proc/self/setgroups", "deny") ||
		    pw_write_file("/proc/self/uid_map", map) || pw_write_file("/proc/self/gid_map", map))
			_exit(103);
		_exit(f());
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int owner_changes(void)
{
	/* inherited from the namespace in which it was made */
	if (get_max("sans") != 5)
		return 1;
	if (set_max("sans", 6) != -EPERM || get_max("sans") != 5)
		return 2;
	if (set_max("sans", 3) || get_max("sans") != 3)
		return 3;
	if (set_max("sans", 5) || get_max("sans") != 5)
		return 4;
	if (set_max("sans", 4000000000UL) != -ERANGE || get_max("sans") != 5)
		return 5;
	if (pw_write_file(SYSCTL "nr_sans", "0 0\n") != -EACCES)
		return 6;
	/* a namespace made inside does not get more */
	if (set_max("sans", 2) || unshare(CLONE_NEWNET))
		return 7;
	if (get_max("sans") != 2 || set_max("sans", 3) != -EPERM)
		return 8;
	return 0;
}

TEST_F(limits, owner)
{
	long before = get_max("sans");

	ASSERT_EQ(0, set_max("sans", 5));
	EXPECT_EQ(0, as_owner(owner_changes));
	EXPECT_EQ(5, get_max("sans"));
	/* the host's administrator may raise it */
	EXPECT_EQ(0, set_max("sans", before + 1));
	EXPECT_EQ(before + 1, get_max("sans"));
}

static int not_owner(void)
{
	/* nothing of the outer namespace is in reach: it is not mounted anywhere */
	return nr_used("stations") == 0 && nr_used("sans") == 0 ? 0 : 1;
}

TEST_F(limits, apart)
{
	ASSERT_EQ(0, pw_station_add(&self->nl, "a", 0, -1, -1));
	EXPECT_EQ(1, nr_used("stations"));
	EXPECT_EQ(0, as_owner(not_owner));
}

TEST_HARNESS_MAIN
