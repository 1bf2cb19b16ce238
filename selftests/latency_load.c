// SPDX-License-Identifier: GPL-2.0
/*
 * latency_load: work for a SAN whose polls are measured (lib_latency.sh).
 *
 *	latency_load PORTS|TOPOLOGY none|fast|rtl WHAT BYTES FRAMES [MS]
 *
 * Makes a namespace with SAN 0 of PORTS ports, or with a generated topology, and a station at
 * each of them.
 * WHAT: idle   nothing is sent, and there is one station
 *       ring   every station sends FRAMES frames to the next one
 *       all    station 0 sends FRAMES broadcasts
 *       incast every station sends FRAMES frames to station 0
 *       echo   station 0 sends FRAMES echo requests to every neighbour at once
 *       late   frozen fabric: every station sends FRAMES frames, each with an earlier
 *              time than the one before, then the fabric runs
 *       flush  the same, and the engine is replaced instead
 *       sizes  the fabric is made anew with other queues, FRAMES times
 *       round  every station is in a round of eight words on the ring, FRAMES times
 *       lockstep  16 SANs share a clock, with four stations each, of which each sends FRAMES
 *              broadcasts at one virtual time
 *       blocked  topology: ports take one message at a time. FRAMES frames of the last
 *              station to all wait for that, those of the first half, each to one station of
 *              the other half, behind them. All go by multicast connections
 *       tables the last port has a router to another SAN instead of a station: every
 *              station joins FRAMES groups, and a station of the other SAN asks for nodes
 *              and routes
 * Counters, queues and stages are read while the fabric runs, MS milliseconds (default 500);
 * then the stations and the SAN are deleted.
 */
#include "pwrouter.h"
#include "pwsan.h"

#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#define FAR_SAN		1
#define FAR_PORTS	16
#define FAR_ADDR(port)	(256 * FAR_SAN + (port) + 1)
#define FIRST_GROUP	0xe00000u

#define CLOCK_SANS	16	/* as many as may share a clock */
#define CLOCK_STATIONS	64	/* at all of them */

static uint8_t frame[70000];
static int ns, ports, stations, len, frames;
static struct pw_genl san;
static struct pw_nl nl;
static int fd[256];

static void die(const char *what)
{
	fprintf(stderr, "%s: %s %s\n", what, strerror(errno), nl.ext);
	exit(1);
}

/* stations of a generated topology */
static int product(const char *topology)
{
	int n = 1;

	for (topology = strchr(topology, ':'); topology; topology = strchr(topology, 'x'))
		n *= atoi(++topology);
	return n;
}

/* from each port of the first half to one of the second, and from the last one to all */
static void put_blocked(struct pw_req *r, int n)
{
	struct rtattr *all = pw_genl_nest(r, PACKETWAY_A_SAN_MULTICAST), *one;
	uint8_t to[32];
	int i, from, last = n / 2 - 1;

	for (i = 0; i <= last; i++) {
		from = i == last ? n - 1 : i;
		memset(to, i == last ? 0xff : 0, sizeof(to));
		/* a member, or the sender, which is none */
		to[(n / 2 + i) / 8] ^= 1 << (n / 2 + i) % 8;
		one = pw_genl_nest(r, PACKETWAY_A_MULTICAST_CONNECTION);
		pw_req_u32(r, PACKETWAY_A_CONNECTION_FROM, from);
		pw_req_put(r, PACKETWAY_A_CONNECTION_TO, to, sizeof(to));
		pw_req_end(r, one);
	}
	pw_req_end(r, all);
	pw_req_u32(r, PACKETWAY_A_SAN_CREDIT, 1);
}

/* @what: number of ports, or topology */
static void make_san(int id, const char *what, const char *engine, const char *load)
{
	static struct {
		struct pw_req r;
		char more[16384];
	} big;
	uint32_t type = PACKETWAY_ENGINE_NONE;
	struct pw_req *r = &big.r;
	struct rtattr *nest;

	if (!strcmp(engine, "fast"))
		type = PACKETWAY_ENGINE_FAST;
	else if (!strcmp(engine, "rtl"))
		type = PACKETWAY_ENGINE_RTL;
	pw_genl_init(r, san.family, PACKETWAY_CMD_SAN_NEW, NLM_F_ACK);
	nest = pw_genl_nest(r, PACKETWAY_A_SAN);
	pw_req_u32(r, PACKETWAY_A_SAN_ID, id);
	pw_req_u32(r, PACKETWAY_A_SAN_ENGINE, type);
	if (!strcmp(load, "lockstep"))
		pw_req_u32(r, PACKETWAY_A_SAN_CLOCK, PACKETWAY_CLOCK_LOCKSTEP);
	if (strchr(what, ':'))
		pw_req_put(r, PACKETWAY_A_SAN_TOPOLOGY, what, strlen(what) + 1);
	else
		pw_req_u32(r, PACKETWAY_A_SAN_PORTS, atoi(what));
	if (!strcmp(load, "blocked"))
		put_blocked(r, product(what));
	pw_req_end(r, nest);
	errno = -pw_nl_talk(&san.nl, r);
	if (errno)
		die(san.nl.ext);
	ports = pw_gsan_get(&san, PACKETWAY_A_SAN_PORTS);
}

/* @sans: they have equal numbers of stations */
static void make_stations(int sans)
{
	int i, each = stations / sans;
	char name[16];

	for (i = 0; i < stations; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		if (pw_station_add(&nl, name, i / each, i % each, ns) ||
		    pw_link_mtu(&nl, name, 65528) || pw_link_up(&nl, name))
			die(name);
		fd[i] = pw_timed_open(ns, pw_link_index(&nl, name));
		if (fd[i] < 0)
			die("socket");
	}
}

/* from station @i to @to; in a frozen fabric later frames have earlier times */
static void send_one(int i, uint32_t to, int pt, int te, int nth, bool late)
{
	int n = pw_msg(frame, to, i + 1, pt, te, 0, NULL, len);
	/* the queue of a station takes 256: what it does not take is lost */
	int ret = late ? pw_timed_send(fd[i], frame, n, 1000000 - nth) :
			 send(fd[i], frame, n, MSG_DONTWAIT);

	if (ret != n && errno != EAGAIN && errno != ENOBUFS)
		die("send");
}

static void load(const char *what)
{
	bool late = !strcmp(what, "late") || !strcmp(what, "flush");
	int i, j;

	if (!strcmp(what, "idle"))
		return;
	if (late && pw_gsan_set(&san, PACKETWAY_A_SAN_FROZEN, 1))
		die("freeze");
	if (!strcmp(what, "sizes")) {
		for (j = 0; j < frames; j++)
			if (pw_gsan_set(&san, PACKETWAY_A_SAN_DEPTH, 63 - j))
				die("depth");
		return;
	}
	for (j = 0; j < frames; j++) {
		for (i = 0; i < ports; i++) {
			if (!strcmp(what, "all")) {
				send_one(0, 0x7fffff, 1500, 0, j, false);
				break;
			} else if (!strcmp(what, "echo")) {
				send_one(0, PW_ADDR_HEYYOU, PW_PT_ECHO, PW_TE_ECHO_REQUEST, j,
					 false);
				break;
			} else if (!strcmp(what, "incast")) {
				if (i)
					send_one(i, 1, 1500, 0, j, false);
			} else {
				send_one(i, (i + 1) % ports + 1, 1500, 0, j, late);
			}
		}
	}
	if (!strcmp(what, "flush"))
		pw_gsan_set(&san, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_NONE);
	else if (late)
		pw_gsan_set(&san, PACKETWAY_A_SAN_FROZEN, 0);
}

/* a group for each connection */
static void blocked(void)
{
	int i, j, half = stations / 2;
	char name[16];

	for (i = 0; i < stations - 1; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		if ((i >= half && pw_packet_join(fd[i], pw_link_index(&nl, name), PACKET_MR_MULTICAST,
						 FIRST_GROUP + i - half, false)) ||
		    pw_packet_join(fd[i], pw_link_index(&nl, name), PACKET_MR_MULTICAST,
				   FIRST_GROUP + half, false))
			die("group");
	}
	if (pw_gsan_set(&san, PACKETWAY_A_SAN_FROZEN, 1))
		die("freeze");
	for (j = 0; j < frames; j++) {
		for (i = 0; i < half - 1; i++)
			send_one(i, FIRST_GROUP + i, 1500, 0, j, false);
		send_one(stations - 1, FIRST_GROUP + half, 1500, 0, j, false);
	}
	if (pw_gsan_set(&san, PACKETWAY_A_SAN_FROZEN, 0))
		die("thaw");
}

/* the clock of station 0 */
static int clock_open(void)
{
	struct packetway_time_open o = { .size = sizeof(o), .ifindex = pw_link_index(&nl, "s0") };
	int dev, clk;

	if (setns(ns, CLONE_NEWNET))
		die("setns");
	dev = open(PW_DEV, O_RDWR | O_CLOEXEC);
	clk = ioctl(dev, PACKETWAY_IOC_TIME_OPEN, &o);
	if (clk < 0)
		die("clock");
	close(dev);
	return clk;
}

static void join_clock(int clk)
{
	struct packetway_time_join join = { .size = sizeof(join) };

	if (ioctl(clk, PACKETWAY_IOC_TIME_JOIN, &join))
		die("join");
}

/* a participant sends from all stations at once and waits until all has arrived */
static void lockstep(void)
{
	struct packetway_time_wait t = {
		.size = sizeof(t), .flags = PACKETWAY_TIME_WAIT_FOR, .until = 1000000000,
	};
	int clk = clock_open(), i, j;

	join_clock(clk);
	for (j = 0; j < frames; j++)
		for (i = 0; i < stations; i++)
			send_one(i, 0x7fffff, 1500, 0, j, false);
	if (ioctl(clk, PACKETWAY_IOC_TIME_WAIT, &t))
		die("wait");
	close(clk);
}

/* a message of the station on the other SAN to its half-router: @n records, the same one each */
static void ask(int sock, int te, const uint8_t *rec, int size, int n)
{
	int i, at;

	for (i = 0; i < n; i++)
		memcpy(frame + 16 + i * size, rec, size);
	at = pw_msg(frame, FAR_ADDR(FAR_PORTS - 1), FAR_ADDR(0), PW_PT_RRP, te, 0, frame + 16,
		    n * size);
	if (send(sock, frame, at, 0) != at)
		die("ask");
}

/* tables of @ports nodes, from beginning to end */
static void tables(int ms)
{
	uint8_t name[8] = { PW_RRP_NAME, 0, 0, 0, 'n', 'o', 'n', 'e' };
	uint8_t addr[8] = { PW_RRP_ADDR, 0, 0, 0, PW_RRP_AT_SINGLE };
	double end = pw_now() + ms / 1000.0;
	char last[16];
	int sock, i, j, known = 0;

	if (pw_san_cmd(&san, PACKETWAY_CMD_SAN_NEW, FAR_SAN, FAR_PORTS, PACKETWAY_ENGINE_NONE) ||
	    pw_station_add(&nl, "far", FAR_SAN, 0, ns) || pw_link_up(&nl, "far") ||
	    pw_router_add(&san, "r", (struct pw_half_req){ 0, ports - 1, -1 },
			  (struct pw_half_req){ FAR_SAN, FAR_PORTS - 1, -1 }))
		die("router");
	sock = pw_packet_open(ns, SOCK_RAW, ETH_P_PACKETWAY, pw_link_index(&nl, "far"));
	if (sock < 0)
		die("far");
	for (i = 0; i < stations; i++) {
		snprintf(last, sizeof(last), "s%d", i);
		for (j = 0; j < frames; j++)
			if (pw_packet_join(fd[i], pw_link_index(&nl, last), PACKET_MR_MULTICAST,
					   FIRST_GROUP + 2 * (i * frames + j), false))
				die("group");
	}
	pw_put(addr + 5, 3, stations);
	do {
		ask(sock, PW_TE_TELL, name, 8, 16);
		ask(sock, PW_TE_GVL2, addr, 8, 1);
		known += !pw_resolve(&san, FAR_SAN, 0, last);
		usleep(20000);
		/* what was asked for is answered with the whole table there */
	} while (pw_now() < end || !known);
	pw_router_del(&san, "r");
	close(sock);
}

#define ROUND_BIT	3
#define ROUND_REGS	0xff00u

/* a member of the rounds, whose file is bound and has a lease */
static void *member(void *arg)
{
	struct packetway_aton_round c = {
		.size = sizeof(c), .bit = ROUND_BIT, .members = stations, .call = 1,
		.op = PW_ATON_OP_ADD, .count = 8, .reg = { 8, 9, 10, 11, 12, 13, 14, 15 },
	};
	int file = *(int *)arg;

	for (c.round = 1; c.round <= frames; c.round++)
		if (ioctl(file, PACKETWAY_IOC_ATON_ROUND, &c))
			die("round");
	return NULL;
}

/* rounds of all stations */
static void rounds(void)
{
	struct packetway_aton_lease l = {
		.size = sizeof(l), .regs = ROUND_REGS, .group = 1U << ROUND_BIT, .key = 1,
	};
	static pthread_t thread[256];
	static int file[256];
	pthread_attr_t attr;
	char name[16];
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	if (setns(ns, CLONE_NEWNET))
		die("setns");
	for (i = 0; i < stations; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		file[i] = open(PW_DEV, O_RDWR | O_CLOEXEC);
		if (file[i] < 0 || pw_bind(file[i], pw_link_index(&nl, name)) ||
		    ioctl(file[i], PACKETWAY_IOC_ATON_LEASE, &l))
			die("lease");
	}
	for (i = 0; i < stations; i++)
		if (pthread_create(&thread[i], &attr, member, &file[i]))
			die("thread");
	for (i = 0; i < stations; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < stations; i++)
		close(file[i]);
}

/* what the stages of the fabric have counted */
static void read_stages(void)
{
	struct rtattr *nest;
	struct pw_req r;

	pw_genl_init(&r, san.family, PACKETWAY_CMD_SAN_GET, 0);
	nest = pw_genl_nest(&r, PACKETWAY_A_SAN);
	pw_req_u32(&r, PACKETWAY_A_SAN_ID, 0);
	pw_req_put(&r, PACKETWAY_A_SAN_WITH_STAGES, NULL, 0);
	pw_req_end(&r, nest);
	errno = -pw_nl_talk(&san.nl, &r);
	if (errno)
		die("stages");
}

static void watch(int ms)
{
	double end = pw_now() + ms / 1000.0;
	static struct pw_stats s;
	char path[128], buf[4096];
	struct stat st;
	int q;

	fstat(ns, &st);
	snprintf(path, sizeof(path), "/sys/kernel/debug/packetway/net%lu-san0/fabric_queues",
		 (unsigned long)st.st_ino);
	do {
		pw_stats_read(fd[0], "s0", &s);
		read_stages();
		q = open(path, O_RDONLY | O_CLOEXEC);
		while (q >= 0 && read(q, buf, sizeof(buf)) > 0)
			;
		close(q);
		usleep(20000);
	} while (pw_now() < end);
	if (getenv("PW_VERBOSE"))
		printf("rx %lu\n", (unsigned long)pw_stats_get(&s, "rx_eep"));
}

int main(int argc, char **argv)
{
	int i, sans = 1;
	char name[16];

	if (argc < 6) {
		fprintf(stderr,
			"usage: latency_load PORTS|TOPOLOGY ENGINE WHAT BYTES FRAMES [MS]\n");
		return 1;
	}
	len = atoi(argv[4]);
	frames = atoi(argv[5]);
	ns = pw_ns_new();
	if (ns < 0 || pw_nl_open(&nl, ns) || pw_genl_open(&san, ns))
		die("namespace");
	if (!strcmp(argv[3], "lockstep"))
		sans = CLOCK_SANS;
	for (i = 0; i < sans; i++)
		make_san(i, argv[1], argv[2], argv[3]);
	stations = ports;
	if (!strcmp(argv[3], "idle"))
		stations = 1;
	else if (!strcmp(argv[3], "tables"))
		stations = ports - 1;
	else if (!strcmp(argv[3], "lockstep"))
		stations = CLOCK_STATIONS;
	make_stations(sans);
	if (!strcmp(argv[3], "round")) {
		rounds();
	} else if (!strcmp(argv[3], "lockstep")) {
		lockstep();
	} else if (!strcmp(argv[3], "blocked")) {
		blocked();
		watch(argc > 6 ? atoi(argv[6]) : 500);
	} else if (!strcmp(argv[3], "tables")) {
		tables(argc > 6 ? atoi(argv[6]) : 500);
	} else {
		load(argv[3]);
		watch(argc > 6 ? atoi(argv[6]) : 500);
	}
	for (i = 0; i < stations; i++) {
		close(fd[i]);
		snprintf(name, sizeof(name), "s%d", i);
		pw_link_del(&nl, name);
	}
	return 0;
}
