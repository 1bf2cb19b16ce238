// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_user: one of the users of hostile_users.sh.
 *
 *	hostile_user attack UID SECONDS CGROUP	do the worst to packetway
 *	hostile_user burn UID SECONDS CGROUP	the same load without packetway
 *	hostile_user measure SECONDS CGROUP KIB	what others notice of it
 *
 * attack and burn become the user UID without any privilege, and make a user and a
 * network namespace. There two processes run in CGROUP until SECONDS have passed: one
 * makes and deletes objects, one floods. burn makes dummy devices and namespaces
 * instead and computes instead of flooding: it takes the same shares of CPU and RTNL.
 * A process that the memory cgroup kills is started again. The process that does so is
 * not in CGROUP: objects of the namespace can fill CGROUP and stay, and a process that
 * is not killed then faults for ever.
 *
 * measure pings from station to station of a SAN of its own and asks the first
 * network namespace for a link, and prints
 *	ping MEDIAN P99 MAX COUNT LOST link MEDIAN P99 MAX COUNT escaped KIB
 * with times in microseconds; P99: 99 of 100 took no longer. escaped: most memory that MemAvailable lacked of KIB,
 * as it was before, and CGROUP was not charged for.
 */
#include "pwesp.h"
#include "pwrouter.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define DEV "/dev/" PACKETWAY_DEVICE
#define FILES 64

static double end;
static int ns;			/* the namespace it is in */
static struct pw_nl nl;
static struct pw_genl g;

static bool over(void)
{
	return pw_now() >= end;
}

/* --- objects -------------------------------------------------------------------- */

/* a SAN with both engines as they are dearest */
static void san_new(int id, int ports, int engine, int ring)
{
	struct rtattr *nest;
	struct pw_req r;

	pw_genl_init(&r, g.family, PACKETWAY_CMD_SAN_NEW, NLM_F_ACK);
	nest = pw_genl_nest(&r, PACKETWAY_A_SAN);
	pw_req_u32(&r, PACKETWAY_A_SAN_ID, id);
	pw_req_u32(&r, PACKETWAY_A_SAN_PORTS, ports);
	pw_req_u32(&r, PACKETWAY_A_SAN_ENGINE, engine);
	pw_req_u32(&r, PACKETWAY_A_SAN_RING_ENGINE, ring);
	pw_req_end(&r, nest);
	pw_nl_talk(&g.nl, &r);
}

static void san_set(int id, int attr, uint32_t v)
{
	struct rtattr *nest;
	struct pw_req r;

	pw_genl_init(&r, g.family, PACKETWAY_CMD_SAN_SET, NLM_F_ACK);
	nest = pw_genl_nest(&r, PACKETWAY_A_SAN);
	pw_req_u32(&r, PACKETWAY_A_SAN_ID, id);
	pw_req_u32(&r, attr, v);
	pw_req_end(&r, nest);
	pw_nl_talk(&g.nl, &r);
}

static void stations(int san, int n)
{
	char name[16];
	int i;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "s%d_%d", san, i);
		pw_station_add(&nl, name, san, i, -1);
		pw_link_mtu(&nl, name, PACKETWAY_MTU_MAX);
		pw_link_up(&nl, name);
	}
}

static void trunk_add(const char *name, int san, uint32_t me_ip, uint32_t peer_ip)
{
	struct pw_trunk_req t = { .name = name, .san = san, .port = -1,
				  .local = me_ip, .remote = peer_ip,
				  .local_port = 7000, .remote_port = 7000 };

	pw_trunk_add(&g, &t);
}

static void route_add(int san, uint32_t first, uint32_t last, uint32_t hr)
{
	struct rtattr *nest;
	struct pw_req r;

	pw_genl_init(&r, g.family, PACKETWAY_CMD_ROUTE_NEW, NLM_F_ACK);
	nest = pw_genl_nest(&r, PACKETWAY_A_ROUTE);
	pw_req_u32(&r, PACKETWAY_A_ROUTE_SAN, san);
	pw_req_u32(&r, PACKETWAY_A_ROUTE_FIRST, first);
	pw_req_u32(&r, PACKETWAY_A_ROUTE_LAST, last);
	pw_req_u32(&r, PACKETWAY_A_ROUTE_HR, hr);
	pw_req_end(&r, nest);
	pw_nl_talk(&g.nl, &r);
}

static void esp_set(uint32_t capacity)
{
	struct rtattr *nest;
	struct pw_req r;

	pw_genl_init(&r, g.family, PACKETWAY_CMD_ESP_SET, NLM_F_ACK);
	nest = pw_genl_nest(&r, PACKETWAY_A_ESP);
	pw_req_u32(&r, PACKETWAY_A_ESP_CAPACITY, capacity);
	pw_req_u32(&r, PACKETWAY_A_ESP_LIFETIME, PACKETWAY_ESP_LIFETIME_MAX);
	pw_req_end(&r, nest);
	pw_nl_talk(&g.nl, &r);
}

/* all that a dump has, read slowly or left half read */
static void dump(int cmd, bool finish)
{
	struct nlmsghdr *h;
	struct pw_genl d;
	struct pw_req r;
	int len;

	if (pw_genl_open(&d, ns))
		return;
	pw_genl_init(&r, d.family, cmd, NLM_F_DUMP);
	if (send(d.nl.fd, &r, r.n.nlmsg_len, 0) > 0) {
		do {
			len = recv(d.nl.fd, d.nl.buf, sizeof(d.nl.buf), 0);
			h = (void *)d.nl.buf;
		} while (finish && len > 0 && h->nlmsg_type != NLMSG_DONE &&
			 h->nlmsg_type != NLMSG_ERROR);
	}
	close(d.nl.fd);
}

/* --- files ------------------------------------------------------------------------ */

static int file_open(const char *station)
{
	struct packetway_bind b = { .size = sizeof(b), .ifindex = pw_link_index(&nl, station) };
	int fd = open(DEV, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0)
		ioctl(fd, PACKETWAY_IOC_BIND, &b);
	return fd;
}

static void stand(int fd)
{
	struct packetway_aton_stand s = { .size = sizeof(s), .op = PW_ATON_OP_ADD,
					  .dst = PACKETWAY_ATON_RING_ALL,
					  .period = PACKETWAY_ATON_PERIOD_MIN };

	ioctl(fd, PACKETWAY_IOC_ATON_STAND, &s);
}

static void interfaces(int fd, int count, int regs)
{
	struct packetway_ring_create c = { .size = sizeof(c), .count = count, .regs = regs };

	ioctl(fd, PACKETWAY_IOC_RING_CREATE, &c);
}

static void submit(int fd)
{
	static struct packetway_aton_command c[256];
	struct packetway_aton_submit s = { .size = sizeof(s), .commands = (uintptr_t)c,
					   .count = 256, .stride = sizeof(c[0]) };
	int i;

	for (i = 0; i < 256; i++)
		c[i] = (struct packetway_aton_command) {
			.size = sizeof(c[i]), .op = PW_ATON_OP_ADD, .dst = PACKETWAY_ATON_RING_ALL,
		};
	ioctl(fd, PACKETWAY_IOC_ATON_SUBMIT, &s);
}

static void sort(int fd)
{
	static uint64_t out[PACKETWAY_ATON_SORT_MAX];
	struct timespec ts;
	struct packetway_aton_command c = {
		.size = sizeof(c), .op = PW_ATON_OP_SORT, .dst = PACKETWAY_ATON_RING_ALL,
		.room = PACKETWAY_ATON_SORT_MAX, .data = (uintptr_t)out,
	};

	clock_gettime(CLOCK_MONOTONIC, &ts);
	c.deadline = ts.tv_sec * 1000000000ULL + ts.tv_nsec + 20000000;
	ioctl(fd, PACKETWAY_IOC_ATON_COMMAND, &c);
}

static int poets(int fd)
{
	struct packetway_poets_open o = {
		.size = sizeof(o), .devices = 20000, .pins = 200000, .interval = 1,
		.queue = PACKETWAY_POETS_QUEUE_MAX, .mothership = 1,
		.flags = PACKETWAY_POETS_NONBLOCK,
	};

	return ioctl(fd, PACKETWAY_IOC_POETS_OPEN, &o);
}

/* a namespace inside, with a SAN that a station of ours is on, gone at once */
static void nested(void)
{
	pid_t pid = fork();

	if (!pid) {
		if (unshare(CLONE_NEWNET))
			_exit(1);
		ns = pw_ns_self();
		if (!pw_nl_open(&nl, ns) && !pw_genl_open(&g, ns)) {
			san_new(0, 256, PACKETWAY_ENGINE_RTL, PACKETWAY_ENGINE_RTL);
			stations(0, 3);
		}
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void churn(void)
{
	int fd[FILES], po[FILES], i, n;
	char name[16];

	memset(fd, -1, sizeof(fd));
	memset(po, -1, sizeof(po));
	stations(0, 4);
	for (n = 0; !over(); n++) {
		i = pw_below(FILES);
		switch (pw_below(15)) {
		case 0:
			san_new(1 + pw_below(8), 256, PACKETWAY_ENGINE_RTL, PACKETWAY_ENGINE_RTL);
			break;
		case 1:
			stations(1 + pw_below(8), 4);
			break;
		case 2:
			pw_san_cmd(&g, PACKETWAY_CMD_SAN_DEL, 1 + pw_below(8), -1, -1);
			break;
		case 3:
			close(fd[i]);
			fd[i] = file_open(pw_below(2) ? "s0_0" : "s1_0");
			break;
		case 4:
			interfaces(fd[i], pw_below(4) ? 20000 : 1000000, pw_below(2) ? 1 : 16);
			break;
		case 5:
			stand(fd[i]);
			break;
		case 6:
			submit(fd[i]);
			break;
		case 7:
			sort(fd[i]);
			break;
		case 8:
			close(po[i]);
			po[i] = poets(fd[i]);
			break;
		case 9:
			snprintf(name, sizeof(name), "r%d", pw_below(8));
			if (pw_below(2))
				pw_router_add(&g, name, (struct pw_half_req){ pw_below(4), -1, -1 },
					      (struct pw_half_req){ pw_below(8), -1, -1 });
			else
				pw_router_del(&g, name);
			break;
		case 10:
			trunk_add("ta", 1, INADDR_LOOPBACK, INADDR_LOOPBACK + 1);
			trunk_add("tb", 2, INADDR_LOOPBACK + 1, INADDR_LOOPBACK);
			if (!pw_below(4))
				pw_router_del(&g, pw_below(2) ? "ta" : "tb");
			break;
		case 11:
			snprintf(name, sizeof(name), "m%d", pw_below(3));
			if (pw_below(2)) {
				pw_mon_add(&nl, name, true);
				pw_link_up(&nl, name);
			} else {
				pw_link_del(&nl, name);
			}
			break;
		case 12:
			snprintf(name, sizeof(name), "s%d_%d", pw_below(8), pw_below(4));
			pw_link_del(&nl, name);
			route_add(pw_below(4), 0x10000 + 256 * pw_below(200), 0x100ff + 256 * pw_below(200),
				  1 + pw_below(16));
			break;
		case 13:
			dump(pw_below(2) ? PACKETWAY_CMD_NODE_GET : PACKETWAY_CMD_SAN_GET, pw_below(2));
			esp_set(pw_below(2) ? PACKETWAY_ESP_CAPACITY_MAX : 16);
			break;
		default:
			nested();
			san_set(pw_below(4), pw_below(2) ? PACKETWAY_A_SAN_FROZEN : PACKETWAY_A_SAN_ENGINE,
				pw_below(2));
			break;
		}
	}
}

/* --- frames ------------------------------------------------------------------------ */

static int frame(uint8_t *b)
{
	static const int sizes[] = { 8, 100, 1400, 20000, 60000 };
	struct insn in = COUNT(EXEC | REFLECT, pw_rnd(), BIG);
	uint32_t to[] = { 1 + pw_below(4), PW_ADDR_BROADCAST, PW_ADDR_HEYYOU, 0x101 + pw_below(4),
			  pw_below(0x1000) };
	int len = sizes[pw_below(5)];

	switch (pw_below(4)) {
	case 0:
		return pw_msg(b, to[pw_below(5)], 1 + pw_below(3), PW_PT_ECHO, PW_TE_ECHO_REQUEST, 7, NULL,
			      len);
	case 1:
		return esp_msg(b, to[pw_below(5)], 1, &in);
	case 2:
		return pw_msg(b, to[pw_below(5)], 1, PW_PT_POETS, 0, 0, b + 100, 8 + 8 * pw_below(7));
	default:
		return pw_msg(b, to[pw_below(5)], 1 + pw_below(3), PW_PT_RRP, 1 + pw_below(12), 63, b + 200,
			      8 * pw_below(20));
	}
}

static int packet_socket(const char *name)
{
	struct sockaddr_ll sll = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = pw_link_index(&nl, name),
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), one = 1;

	setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one));
	bind(fd, (struct sockaddr *)&sll, sizeof(sll));
	return fd;
}

/* packet sockets, opened anew now and then: stations come and go */
static void flood(void)
{
	static uint8_t b[70000];
	int fd = -1, mon = -1, n, i;
	char name[16];

	for (n = 0; !over(); n++) {
		if (!(n % 500)) {
			close(fd);
			close(mon);
			snprintf(name, sizeof(name), "s%d_%d", pw_below(3), pw_below(4));
			fd = packet_socket(name);
			mon = packet_socket("m0");
			if (n)
				usleep(1000);
		}
		for (i = 0; i < 16; i++)
			send(fd, b, frame(b), MSG_DONTWAIT);
	}
}

/* --- the same without packetway ------------------------------------------------------ */

static void compute(void)
{
	uint64_t x = 1;
	int i;

	while (!over())
		for (i = 0; i < 100000; i++) {
			x = x * 6364136223846793005ULL + 1;
			asm("" : "+r"(x));
		}
}

static void dummies(void)
{
	struct pw_link l = PW_LINK("d0");
	char name[16];
	pid_t pid;

	l.kind = "dummy";
	while (!over()) {
		snprintf(name, sizeof(name), "d%d", pw_below(16));
		l.name = name;
		l.san = l.port = l.order = l.addr = -1;
		if (pw_link_add(&nl, &l))
			pw_link_del(&nl, name);
		else
			pw_link_up(&nl, name);
		if (pw_below(15))
			continue;
		pid = fork();
		if (!pid)
			_exit(!!unshare(CLONE_NEWNET));
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

/* --- a user ---------------------------------------------------------------------------- */

static int procs = -1;		/* cgroup.procs, opened while this was root */

static void become(int uid, const char *cgroup)
{
	struct rlimit files = { 4096, 4096 };
	char text[256];

	snprintf(text, sizeof(text), "%s/cgroup.procs", cgroup);
	procs = open(text, O_WRONLY | O_CLOEXEC);
	if (procs < 0)
		exit(10);
	setrlimit(RLIMIT_NOFILE, &files);
	if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		exit(11);
	prctl(PR_SET_DUMPABLE, 1);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		exit(12);
	snprintf(text, sizeof(text), "0 %d 1", uid);
	if (pw_write_file("/proc/self/setgroups", "deny") || pw_write_file("/proc/self/uid_map", text) ||
	    pw_write_file("/proc/self/gid_map", text))
		exit(13);
}

static pid_t start(void (*f)(void), unsigned int salt)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(procs, "0", 1) != 1)
		exit(15);
	pw_seed ^= salt * 0x9e3779b97f4a7c15ULL;
	ns = pw_ns_self();
	if (pw_nl_open(&nl, ns) || pw_genl_open(&g, ns))
		exit(14);
	pw_link_up(&nl, "lo");
	f();
	exit(0);
}

static int user(bool attack, int uid, double seconds, const char *cgroup)
{
	pid_t pid[2] = {}, gone;
	unsigned int salt = uid;
	int i, status;

	end = pw_now() + seconds;
	become(uid, cgroup);
	for (i = 0; i < 2; i++)
		pid[i] = start(attack ? i ? flood : churn : i ? compute : dummies, salt++);
	while (!over()) {
		gone = waitpid(-1, &status, WNOHANG);
		if (gone <= 0) {
			usleep(200000);
			continue;
		}
		/* status 14: the cgroup has no memory for a socket now */
		if (WIFEXITED(status) && WEXITSTATUS(status))
			usleep(200000);
		for (i = 0; i < 2; i++)
			if (gone == pid[i])
				pid[i] = start(attack ? i ? flood : churn : i ? compute : dummies, salt++);
	}
	for (i = 0; i < 2; i++)
		if (pid[i] > 0)
			kill(pid[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	return 0;
}

/* --- what others notice ------------------------------------------------------------------ */

#define SAMPLES 200000

static long meminfo(const char *key)
{
	char line[128];
	long v = -1;
	FILE *f = fopen("/proc/meminfo", "r");
	size_t n = strlen(key);

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, n) && line[n] == ':')
			sscanf(line + n + 1, "%ld", &v);
	if (f)
		fclose(f);
	return v;
}

/* KiB that a cgroup is charged and that MemAvailable misses */
static long charged(const char *cgroup)
{
	char path[256], line[128];
	long current = 0, file = 0, v;
	FILE *f;

	snprintf(path, sizeof(path), "%s/memory.current", cgroup);
	f = fopen(path, "r");
	if (f && fscanf(f, "%ld", &current) != 1)
		current = 0;
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "%s/memory.stat", cgroup);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "file %ld", &v) == 1)
			file = v;
	if (f)
		fclose(f);
	return (current - file) / 1024;
}

struct samples {
	long *us;
	int n;
};

static void sample(struct samples *s, double t)
{
	if (s->n < SAMPLES)
		s->us[s->n++] = t * 1e6;
}

static int by_value(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return x < y ? -1 : x > y;
}

static void show(const char *what, struct samples *s)
{
	if (!s->n)
		sample(s, 1e6);
	qsort(s->us, s->n, sizeof(s->us[0]), by_value);
	printf("%s %ld %ld %ld %d ", what, s->us[s->n / 2], s->us[s->n * 99 / 100],
	       s->us[s->n - 1], s->n);
}

static struct samples pings, links;
static struct pw_nl host;
static long before, escaped;
static const char *watched;

/* `ip link show lo` of the first namespace; memory now and then */
static void *watch(void *arg)
{
	double t, next = 0;
	long v;

	while (!over()) {
		t = pw_now();
		pw_link_index(&host, "lo");
		sample(&links, pw_now() - t);
		usleep(20000);
		if (pw_now() < next)
			continue;
		v = before - meminfo("MemAvailable") - charged(watched);
		if (v > escaped)
			escaped = v;
		next = pw_now() + 0.3;
	}
	return NULL;
}

static int measure(double seconds)
{
	uint8_t tx[128], rx[256];
	int fd, len, n, lost = 0;
	pthread_t thread;
	uint32_t seq = 0;
	double t;

	pings.us = calloc(SAMPLES, sizeof(long));
	links.us = calloc(SAMPLES, sizeof(long));
	if (pw_nl_open(&host, pw_ns_self()) || unshare(CLONE_NEWNET) ||
	    pw_nl_open(&nl, pw_ns_self()))
		return 1;
	stations(0, 2);
	fd = pw_packet_open(pw_ns_self(), SOCK_RAW, ETH_P_PACKETWAY, pw_link_index(&nl, "s0_0"));
	if (fd < 0)
		return 2;
	end = pw_now() + seconds;
	if (pthread_create(&thread, NULL, watch, NULL))
		return 3;
	while (!over()) {
		seq++;
		len = pw_msg(tx, 2, 1, PW_PT_ECHO, PW_TE_ECHO_REQUEST, 0, &seq, sizeof(seq));
		t = pw_now();
		send(fd, tx, len, 0);
		/* what was late is not taken for the next one; ten seconds are lost */
		do {
			n = pw_recv(fd, rx, sizeof(rx), NULL, 10000);
		} while (n >= 20 && memcmp(rx + 16, &seq, sizeof(seq)));
		if (n < 0)
			lost++;
		else
			sample(&pings, pw_now() - t);
		usleep(10000);
	}
	pthread_join(thread, NULL);
	show("ping", &pings);
	printf("%d ", lost);
	show("link", &links);
	printf("escaped %ld\n", escaped);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "attack"))
		return user(true, atoi(argv[2]), atof(argv[3]), argv[4]);
	if (argc == 5 && !strcmp(argv[1], "burn"))
		return user(false, atoi(argv[2]), atof(argv[3]), argv[4]);
	if (argc == 5 && !strcmp(argv[1], "measure")) {
		watched = argv[3];
		before = atol(argv[4]);
		return measure(atof(argv[2]));
	}
	fprintf(stderr, "usage: hostile_user attack|burn UID SECONDS CGROUP | measure SECONDS CGROUP KIB\n");
	return 2;
}
