// SPDX-License-Identifier: GPL-2.0
/*
 * Topologies of a SAN's fabric: every generator gives the cycles of the model, on both engines;
 * a file gives those of pwmodel with the same file; what is wrong is refused and changes
 * nothing; a topology changes under traffic and leaves no memory behind; counters by stage.
 * Multicast connections: as in the model, and no listener outside of one misses a frame.
 */
#include "pwsan.h"
#include "pwharness.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

#include "fabric/load.h"

#define PORTS 32	/* at most, here */
#define PT_TEST LOAD_PT

static uint8_t rx[4096];

FIXTURE(topology) {
	int ns;
	struct pw_nl nl;
	struct pw_genl san;
	int ports;
	int fd[PORTS];
};

FIXTURE_SETUP(topology)
{
	ASSERT_EQ(0, pw_write_file("/proc/sys/net/core/default_qdisc", "pfifo_fast"));
	self->ns = pw_ns_new();
	ASSERT_GE(self->ns, 0);
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_genl_open(&self->san, self->ns));
}

FIXTURE_TEARDOWN(topology)
{
	int i;

	for (i = 0; i < self->ports; i++)
		close(self->fd[i]);
	close(self->san.nl.fd);
	close(self->nl.fd);
	close(self->ns);
}

/* connections of a request */
static void put_multicast(struct pw_req *r, const struct ref_conn *conn, int n)
{
	struct rtattr *all = pw_genl_nest(r, PACKETWAY_A_SAN_MULTICAST), *one;
	uint8_t to[4];
	int i, k;

	for (i = 0; i < n; i++) {
		one = pw_genl_nest(r, PACKETWAY_A_MULTICAST_CONNECTION);
		for (k = 0; k < 4; k++)
			to[k] = conn[i].to >> 8 * k;
		pw_req_u32(r, PACKETWAY_A_CONNECTION_FROM, conn[i].from);
		pw_req_put(r, PACKETWAY_A_CONNECTION_TO, to, sizeof(to));
		pw_req_end(r, one);
	}
	pw_req_end(r, all);
}

/* make (PACKETWAY_CMD_SAN_NEW) or change SAN 0; 0 or a negative errno */
static int set_topology(struct pw_genl *g, int cmd, const char *name, const void *plan, int len,
			int attr, uint32_t value)
{
	struct rtattr *nest;
	struct pw_req r;

	pw_genl_init(&r, g->family, cmd, NLM_F_ACK);
	nest = pw_genl_nest(&r, PACKETWAY_A_SAN);
	pw_req_u32(&r, PACKETWAY_A_SAN_ID, 0);
	if (name)
		pw_req_put(&r, PACKETWAY_A_SAN_TOPOLOGY, name, strlen(name) + 1);
	if (plan)
		pw_req_put(&r, PACKETWAY_A_SAN_TOPOLOGY_PLAN, plan, len);
	if (attr)
		pw_req_u32(&r, attr, value);
	pw_req_end(&r, nest);
	return pw_nl_talk(&g->nl, &r);
}

static int new_san(struct pw_genl *g, const char *name)
{
	return set_topology(g, PACKETWAY_CMD_SAN_NEW, name, NULL, 0, 0, 0);
}

static int change(struct pw_genl *g, const char *name)
{
	return set_topology(g, PACKETWAY_CMD_SAN_SET, name, NULL, 0, 0, 0);
}

/* the same with multicast connections; name NULL: without a topology */
static int set_multicast(struct pw_genl *g, int cmd, const char *name, const struct ref_conn *conn,
			 int n)
{
	static struct {
		struct pw_req r;
		char more[60000];
	} big;
	struct rtattr *nest;

	pw_genl_init(&big.r, g->family, cmd, NLM_F_ACK);
	nest = pw_genl_nest(&big.r, PACKETWAY_A_SAN);
	pw_req_u32(&big.r, PACKETWAY_A_SAN_ID, 0);
	if (name)
		pw_req_put(&big.r, PACKETWAY_A_SAN_TOPOLOGY, name, strlen(name) + 1);
	put_multicast(&big.r, conn, n);
	pw_req_end(&big.r, nest);
	return pw_nl_talk(&g->nl, &big.r);
}

/* name of SAN 0's topology */
static const char *shown(struct pw_genl *g)
{
	struct pw_attr id = { PACKETWAY_A_SAN_ID, 0 };
	struct rtattr *a;

	if (pw_genl_ask(g, PACKETWAY_CMD_SAN_GET, 0, PACKETWAY_A_SAN, &id, 1))
		return "no answer";
	a = pw_attr_in(pw_genl_attr((void *)g->nl.buf, PACKETWAY_A_SAN), PACKETWAY_A_SAN_TOPOLOGY);
	return a ? RTA_DATA(a) : "no name";
}

/* a station at every port of SAN 0; their number or -1 */
static int add_stations(struct pw_nl *nl, int ns, int ports, int *fd)
{
	char name[16];
	int i;

	for (i = 0; i < ports; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		if (pw_station_add(nl, name, 0, i, -1) || pw_link_up(nl, name))
			return -1;
		fd[i] = pw_timed_open(ns, pw_link_index(nl, name));
		if (fd[i] < 0)
			return -1;
	}
	return ports;
}

static void del_stations(struct pw_nl *nl, int ports, const int *fd)
{
	char name[16];
	int i;

	for (i = 0; i < ports; i++) {
		close(fd[i]);
		snprintf(name, sizeof(name), "s%d", i);
		pw_link_del(nl, name);
	}
}

static int del_san(struct pw_genl *g)
{
	struct pw_attr id = { PACKETWAY_A_SAN_ID, 0 };

	return pw_genl_ask(g, PACKETWAY_CMD_SAN_DEL, NLM_F_ACK, PACKETWAY_A_SAN, &id, 1);
}

/* random messages, some of them to all */
static void make_load(struct ref_msg *m, int n, int ports)
{
	uint64_t at = 0;
	int i;

	for (i = 0; i < n; i++) {
		at += pw_below(120);
		m[i] = (struct ref_msg) { .src = pw_below(ports), .dst = pw_below(ports),
					  .len = pw_below(300), .path = -1, .cycle = at };
		if (m[i].dst == m[i].src)
			m[i].dst = -1;
		else if (!pw_below(4))
			m[i].path = pw_below(ref_paths());
	}
}

/* lay out a load in a frozen fabric, run it, compare with the model; number of differences */
static int compare(struct __test_metadata *_metadata, struct pw_genl *san, const int *fd,
		   const struct ref_msg *msg, int n, int ports, int engine)
{
	struct ref_out *out = calloc(n * ports, sizeof(*out));
	int nout, i, bad = 0;
	uint64_t hash;

	nout = ref_run(msg, n, engine == PACKETWAY_ENGINE_RTL, NULL, out, n * ports, NULL);
	if (nout < n || pw_gsan_set(san, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_NONE) ||
	    pw_gsan_set2(san, PACKETWAY_A_SAN_ENGINE, engine, PACKETWAY_A_SAN_FROZEN, 1)) {
		free(out);
		return -1;
	}
	for (i = 0; i < n; i++)
		if (load_offer(fd[msg[i].src], &msg[i], i, ports) < 0)
			bad++;
	if (pw_gsan_set(san, PACKETWAY_A_SAN_FROZEN, 0))
		bad++;
	bad += load_receive(_metadata, fd, ports, msg, out, nout, SOON, &hash);
	free(out);
	return bad;
}

/* --- the same cycles as the model ------------------------------------------------ */

TEST_F(topology, generators)
{
	static const char *const names[] = {
		"clos:4x3x5", "benes:8", "butterfly:2x3", "crossbar:6", "torus:3x4", "mesh:2x3x2",
		"fattree:2x3", "ring:6",
	};
	int n = pw_count(150, 30), i, ports, fd[PORTS];
	static struct ref_msg m[1000];

	n = n > 1000 ? 1000 : n;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		ports = ref_topology(names[i]);
		ASSERT_LT(1, ports);
		ASSERT_GE(PORTS, ports);
		ASSERT_EQ(0, new_san(&self->san, names[i])) {
			TH_LOG("%s: %s", names[i], self->san.nl.ext);
		}
		EXPECT_EQ(ports, pw_gsan_get(&self->san, PACKETWAY_A_SAN_PORTS));
		EXPECT_EQ(ref_paths(), pw_gsan_get(&self->san, PACKETWAY_A_SAN_PATHS));
		EXPECT_STREQ(names[i], shown(&self->san));
		ASSERT_EQ(ports, add_stations(&self->nl, self->ns, ports, fd));
		make_load(m, n, ports);
		EXPECT_EQ(0, compare(_metadata, &self->san, fd, m, n, ports,
				     PACKETWAY_ENGINE_FAST)) {
			TH_LOG("%s, fast", names[i]);
		}
		EXPECT_EQ(0, compare(_metadata, &self->san, fd, m, pw_slow_kernel() ? 4 : 20, ports,
				     PACKETWAY_ENGINE_RTL)) {
			TH_LOG("%s, rtl", names[i]);
		}
		del_stations(&self->nl, ports, fd);
		EXPECT_EQ(0, del_san(&self->san));
	}
	ref_topology(NULL);
}

/* a shell command in a namespace; its status */
static int in_ns(int ns, const char *command)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (!setns(ns, CLONE_NEWNET))
			execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

#define FILES "/tmp/pw_topology_test"

/* cycles of pwmodel: cycle[src][dst] of each message; false: it failed */
static bool by_pwmodel(const struct ref_msg *m, int n, uint64_t cycle[PORTS][PORTS])
{
	FILE *f = fopen(FILES ".csv", "w");
	unsigned long long delivered;
	char line[256];
	int i, src, dst;

	if (!f)
		return false;
	fprintf(f, "cycle,src,dst,bytes\n");
	for (i = 0; i < n; i++)
		fprintf(f, "%llu,%d,%d,%d\n", (unsigned long long)m[i].cycle, m[i].src, m[i].dst,
			m[i].len);
	fclose(f);
	f = popen("pwmodel fabric --messages " FILES ".csv --topology " FILES
		  ".yaml --engine fast --pack immediately --unpack immediately", "r");
	if (!f)
		return false;
	memset(cycle, 0, sizeof(cycle[0]) * PORTS);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%d,%d,%*d,%*u,%*u,%*u,%*u,%*u,%llu", &src, &dst,
			   &delivered) == 3 && src >= 0 && src < PORTS && dst >= 0 && dst < PORTS)
			cycle[src][dst] = delivered;
	return !pclose(f);
}

/* three switches in a row, of which the middle one has two stations; routes are found */
static const char row_file[] =
	"switches: 3\n"
	"ports: 4\n"
	"stations:\n"
	"  - [0, 0, 0, 0]\n"
	"  - [0, 1, 0, 1]\n"
	"  - [1, 0, 1, 0]\n"
	"  - [1, 1, 1, 1]\n"
	"  - [2, 0, 2, 0]\n"
	"  - [2, 1, 2, 1]\n"
	"links:\n"
	"  - [0, 2, 1, 2]\n"
	"  - [1, 2, 0, 2]\n"
	"  - [1, 3, 2, 3]\n"
	"  - [2, 3, 1, 3]\n";

static bool put_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	return f && fputs(text, f) >= 0 && !fclose(f);
}

/* every station sends to every other one, all at once; differences, -1: something failed */
static int compare_file(struct __test_metadata *_metadata, struct pw_genl *san, const int *fd,
			int ports, int engine)
{
	static uint64_t want[PORTS][PORTS];
	static struct ref_msg m[PORTS * PORTS];
	int n = 0, s, d, i, bad = 0;
	uint64_t cycle;

	for (i = 1; i < ports; i++)
		for (s = 0; s < ports; s++)
			m[n++] = (struct ref_msg) { .src = s, .dst = (s + i) % ports, .path = -1,
						    .len = 20 * i, .cycle = 100 * i };
	if (!by_pwmodel(m, n, want) ||
	    pw_gsan_set(san, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_NONE) ||
	    pw_gsan_set2(san, PACKETWAY_A_SAN_ENGINE, engine, PACKETWAY_A_SAN_FROZEN, 1))
		return -1;
	for (i = 0; i < n; i++)
		if (load_offer(fd[m[i].src], &m[i], i, ports) < 0)
			return -1;
	if (pw_gsan_set(san, PACKETWAY_A_SAN_FROZEN, 0))
		return -1;
	for (d = 0; d < ports; d++) {
		for (i = 1; i < ports; i++) {
			struct pw_hdr h = {};

			if (pw_timed_recv(fd[d], rx, sizeof(rx), &cycle, SOON) < 24)
				return -1;
			pw_hdr_get(rx, &h);
			if (!h.sa || h.sa > ports || cycle != want[h.sa - 1][d]) {
				TH_LOG("port %d: from %u in cycle %llu", d, h.sa - 1,
				       (unsigned long long)cycle);
				bad++;
			}
		}
	}
	return bad;
}

TEST_F(topology, file_as_in_pwmodel)
{
	static const char *const command[] = {
		"true", "pwmodel topology torus:3x3 >" FILES ".yaml",
		"pwmodel topology fattree:2x3 >" FILES ".yaml",
	};
	static const int ports[] = { 6, 9, 8 };
	int i, fd[PORTS];

	ASSERT_TRUE(put_file(FILES ".yaml", row_file));
	for (i = 0; i < ARRAY_SIZE(command); i++) {
		ASSERT_EQ(0, in_ns(self->ns, command[i]));
		ASSERT_EQ(0, in_ns(self->ns, "pwctl san add 0 topology " FILES ".yaml"));
		EXPECT_EQ(ports[i], pw_gsan_get(&self->san, PACKETWAY_A_SAN_PORTS));
		EXPECT_STREQ("pw_topology_test.yaml", shown(&self->san));
		ASSERT_EQ(ports[i], add_stations(&self->nl, self->ns, ports[i], fd));
		EXPECT_EQ(0, compare_file(_metadata, &self->san, fd, ports[i],
					  PACKETWAY_ENGINE_FAST));
		if (!pw_slow_kernel())
			EXPECT_EQ(0, compare_file(_metadata, &self->san, fd, ports[i],
						  PACKETWAY_ENGINE_RTL));
		del_stations(&self->nl, ports[i], fd);
		EXPECT_EQ(0, del_san(&self->san));
	}
	unlink(FILES ".yaml");
	unlink(FILES ".csv");
}

/* --- refusals -------------------------------------------------------------------- */

/* two switches of two ports with a station each; a cell for the other one goes around */
struct plan {
	struct packetway_topology head;
	uint16_t in[2], out[2], peer[4], row[4];
	uint8_t output[2];
};

/* without what the compiler puts behind it */
#define PLAN_LEN (offsetof(struct plan, output) + 2)

static const struct plan good_plan = {
	.head = { .switches = 2, .switch_ports = 2, .stations = 2, .paths = 1, .rows = 2 },
	.in = { 0, 2 },
	.out = { 0, 2 },
	.peer = { PACKETWAY_TOPOLOGY_STATION | 0, 3, PACKETWAY_TOPOLOGY_STATION | 1, 1 },
	.row = { 0, 0, 1, 1 },
	/* switch 0: station 0 at output 0, station 1 behind output 1; switch 1: the other way */
	.output = { 0x10, 0x01 },
};

static int by_plan(struct pw_genl *g, const struct plan *p, int len)
{
	return set_topology(g, PACKETWAY_CMD_SAN_NEW, "mine", p, len, 0, 0);
}

TEST_F(topology, refused_plans)
{
	struct plan p = good_plan;

	EXPECT_EQ(-EINVAL, by_plan(&self->san, &p, PLAN_LEN - 2));
	EXPECT_STREQ("topology: the plan is not as long as its sizes say", self->san.nl.ext);
	EXPECT_GT(0, by_plan(&self->san, &p, 16));
	p.row[3] = 2;
	EXPECT_EQ(-EINVAL, by_plan(&self->san, &p, PLAN_LEN));
	EXPECT_STREQ("topology: an input has a row that the plan lacks", self->san.nl.ext);
	p = good_plan;
	p.in[1] = 4;
	EXPECT_EQ(-EINVAL, by_plan(&self->san, &p, PLAN_LEN));
	EXPECT_STREQ("topology: a station has no place, or shares its place", self->san.nl.ext);
	p = good_plan;
	p.peer[1] = 2;
	EXPECT_EQ(-EINVAL, by_plan(&self->san, &p, PLAN_LEN));
	EXPECT_STREQ("topology: an input does not exist or is driven twice", self->san.nl.ext);
	p = good_plan;
	p.peer[1] = PACKETWAY_TOPOLOGY_NONE;
	EXPECT_EQ(-EINVAL, by_plan(&self->san, &p, PLAN_LEN));
	EXPECT_STREQ("topology: there is no route between two stations", self->san.nl.ext);
	p = good_plan;
	p.output[0] = 0x00;
	EXPECT_EQ(-EINVAL, by_plan(&self->san, &p, PLAN_LEN));
	EXPECT_STREQ("topology: a route ends at another station", self->san.nl.ext);
	/* cells for station 1 are sent back and forth between the switches */
	p = good_plan;
	p.output[1] = 0x11;
	EXPECT_EQ(-EINVAL, by_plan(&self->san, &p, PLAN_LEN));
	EXPECT_STREQ("topology: links wait for each other in a circle", self->san.nl.ext);
	p = good_plan;
	p.head.switch_ports = 17;
	EXPECT_EQ(-EINVAL, by_plan(&self->san, &p, PLAN_LEN));
	p = good_plan;
	p.head.rows = 0xffffffff;
	EXPECT_EQ(-EINVAL, by_plan(&self->san, &p, PLAN_LEN));
	EXPECT_EQ(~0ULL, pw_gsan_get(&self->san, PACKETWAY_A_SAN_PORTS));
	EXPECT_EQ(0, by_plan(&self->san, &good_plan, PLAN_LEN));
	EXPECT_EQ(2, pw_gsan_get(&self->san, PACKETWAY_A_SAN_PORTS));
	EXPECT_STREQ("mine", shown(&self->san));
}

TEST_F(topology, refused_names)
{
	struct pw_genl *g = &self->san;

	EXPECT_EQ(-EINVAL, new_san(g, "sphere:3"));
	EXPECT_EQ(0, strncmp(g->nl.ext, "topology: generators are clos, benes", 36));
	EXPECT_EQ(-EINVAL, new_san(g, ""));
	EXPECT_EQ(-EINVAL, new_san(g, "torus:4x"));
	EXPECT_STREQ("topology: sizes are missing, too many or out of range", g->nl.ext);
	EXPECT_EQ(-EINVAL, new_san(g, "ring:256"));
	EXPECT_STREQ("topology: more than 32 switches wait for each other in a row", g->nl.ext);
	EXPECT_EQ(-EINVAL, new_san(g, "fattree:2x8"));
	EXPECT_STREQ("topology: inputs times stations times paths are more than 16000000",
		     g->nl.ext);
	EXPECT_EQ(-EINVAL, new_san(g, "fattree:16x2"));
	/* a byte too long */
	EXPECT_GT(0, new_san(g, "01234567890123456789012345678901"
				"23456789012345678901234567890123"));
	EXPECT_EQ(-EINVAL, set_topology(g, PACKETWAY_CMD_SAN_NEW, "torus:4x4", NULL, 0,
					PACKETWAY_A_SAN_PORTS, 25));
	EXPECT_STREQ("topology: it has another number of stations than the SAN has ports",
		     g->nl.ext);
	/* reply only */
	EXPECT_GT(0, set_topology(g, PACKETWAY_CMD_SAN_NEW, NULL, NULL, 0,
				  PACKETWAY_A_SAN_SWITCHES, 1));
	EXPECT_GT(0, set_topology(g, PACKETWAY_CMD_SAN_NEW, NULL, NULL, 0,
				  PACKETWAY_A_SAN_STAGE, 1));
	EXPECT_EQ(~0ULL, pw_gsan_get(g, PACKETWAY_A_SAN_PORTS));

	ASSERT_EQ(0, set_topology(g, PACKETWAY_CMD_SAN_NEW, "torus:4x4", NULL, 0,
				  PACKETWAY_A_SAN_PORTS, 16));
	EXPECT_EQ(-EINVAL, change(g, "torus:4x5"));
	EXPECT_EQ(-EINVAL, change(g, "clos:3x3x3"));
	EXPECT_STREQ("torus:4x4", shown(g));
	EXPECT_EQ(0, change(g, "default"));
	EXPECT_STREQ("clos:4x4x4", shown(g));
	EXPECT_EQ(3, pw_gsan_get(g, PACKETWAY_A_SAN_STAGES));
	EXPECT_EQ(0, change(g, "benes:16"));
	EXPECT_EQ(7, pw_gsan_get(g, PACKETWAY_A_SAN_STAGES));
	EXPECT_EQ(0, change(g, "clos:4"));
	EXPECT_STREQ("clos:4x4x4", shown(g));
	/* a topology whose fabric is too large beside other sizes */
	EXPECT_EQ(-ERANGE, set_topology(g, PACKETWAY_CMD_SAN_SET, "torus:4x4", NULL, 0,
					PACKETWAY_A_SAN_QUEUE, 4096));
	EXPECT_STREQ("clos:4x4x4", shown(g));
	/* three stages need a square */
	ASSERT_EQ(0, del_san(g));
	ASSERT_EQ(0, new_san(g, "ring:6"));
	EXPECT_EQ(-EINVAL, change(g, "default"));
	EXPECT_STREQ("ring:6", shown(g));
}

/* --- changes --------------------------------------------------------------------- */

/* pieces of memory that topologies have now */
static int pieces(void)
{
	FILE *f = fopen("/proc/vmallocinfo", "r");
	char line[512];
	int n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += !!strstr(line, "pw_san_topo");
	if (f)
		fclose(f);
	return n;
}

TEST_F(topology, change_under_traffic)
{
	static const char *const names[] = {
		"torus:4x4", "default", "fattree:2x4", "fattree:2x4", "crossbar:16", "clos:2x3x8",
	};
	static const int engine[] = { PACKETWAY_ENGINE_FAST, PACKETWAY_ENGINE_RTL };
	int rounds = pw_count(18, 6), i, d;
	struct load_traffic load = { .fd = self->fd };
	long got = 0;
	double end;

	/* namespaces of other tests end in the background */
	EXPECT_SOON(0, pieces());
	ASSERT_EQ(0, new_san(&self->san, "mesh:4x4"));
	EXPECT_EQ(1, pieces());
	self->ports = add_stations(&self->nl, self->ns, 16, self->fd);
	ASSERT_EQ(16, self->ports);
	ASSERT_EQ(0, pthread_create(&load.thread, NULL, load_traffic, &load));
	for (i = 0; i < rounds; i++) {
		EXPECT_EQ(0, set_topology(&self->san, PACKETWAY_CMD_SAN_SET,
					  names[i % ARRAY_SIZE(names)], NULL, 0,
					  PACKETWAY_A_SAN_ENGINE,
					  engine[pw_slow_kernel() ? 0 : i / 3 % 2]));
		usleep(20000);
		for (d = 8; d < 16; d++)
			while (recv(self->fd[d], rx, sizeof(rx), MSG_DONTWAIT) > 0)
				got++;
	}
	EXPECT_EQ(0, set_topology(&self->san, PACKETWAY_CMD_SAN_SET, "default", NULL, 0,
				  PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_FAST));
	load.stop = true;
	pthread_join(load.thread, NULL);
	end = pw_now() + SOON / 1000;
	do {
		for (d = 8; d < 16; d++)
			while (recv(self->fd[d], rx, sizeof(rx), MSG_DONTWAIT) > 0)
				got++;
	} while (got < load.sent && pw_now() < end);
	EXPECT_EQ(load.sent, got);
	EXPECT_LT(0, got);
	EXPECT_EQ(0, pieces());
	TH_LOG("%ld frames, %d changes", got, rounds);
}

/* --- stages ---------------------------------------------------------------------- */

struct stage {
	uint64_t units, cells, refused, queued, fullest;
};

/* the stages of SAN 0, output ports last; their number or a negative errno */
static int stages(struct pw_genl *g, struct stage *s, int max)
{
	struct rtattr *nest, *a;
	struct pw_req r;
	int n = 0, left, err;

	pw_genl_init(&r, g->family, PACKETWAY_CMD_SAN_GET, 0);
	nest = pw_genl_nest(&r, PACKETWAY_A_SAN);
	pw_req_u32(&r, PACKETWAY_A_SAN_ID, 0);
	pw_req_put(&r, PACKETWAY_A_SAN_WITH_STAGES, NULL, 0);
	pw_req_end(&r, nest);
	err = pw_nl_talk(&g->nl, &r);
	if (err)
		return err;
	nest = pw_genl_attr((void *)g->nl.buf, PACKETWAY_A_SAN);
	left = RTA_PAYLOAD(nest);
	for (a = RTA_DATA(nest); RTA_OK(a, left) && n < max; a = RTA_NEXT(a, left)) {
		if ((a->rta_type & NLA_TYPE_MASK) != PACKETWAY_A_SAN_STAGE)
			continue;
		s[n].units = pw_attr_u32(a, PACKETWAY_A_STAGE_UNITS);
		s[n].cells = pw_attr_u32(a, PACKETWAY_A_STAGE_CELLS);
		s[n].refused = pw_attr_u32(a, PACKETWAY_A_STAGE_REFUSED);
		s[n].queued = pw_attr_u32(a, PACKETWAY_A_STAGE_QUEUED);
		s[n].fullest = pw_attr_u32(a, PACKETWAY_A_STAGE_FULLEST);
		n++;
	}
	return n;
}

/* all send to port 0 at a slow rate until cells wait, then the fabric stops */
static bool stop_when_full(struct pw_genl *g, const int *fd, int ports, struct stage *s, int *n)
{
	struct ref_msg m = { .dst = 0, .len = 1000, .path = -1 };
	double end = pw_now() + SOON / 1000;
	uint64_t queued;
	int i, k;

	/* a cycle takes 80 us */
	if (pw_gsan_set2(g, PACKETWAY_A_SAN_RATE, 100000, PACKETWAY_A_SAN_REAL, 1))
		return false;
	for (k = 0; k < 4; k++)
		for (i = 1; i < ports; i++) {
			m.src = i;
			if (load_offer(fd[i], &m, i, ports) < 0)
				return false;
		}
	do {
		*n = stages(g, s, 40);
		for (i = 0, queued = 0; i < *n; i++)
			queued += s[i].queued;
	} while (queued < 2000 && pw_now() < end);
	return !pw_gsan_set(g, PACKETWAY_A_SAN_FROZEN, 1);
}

TEST_F(topology, stages)
{
	struct ref_msg m = { .src = 0, .dst = 2, .len = 4, .path = -1 };
	static struct stage s[40];
	uint64_t cycle, cells = 0;
	int n, i;

	/* switches 0, 1, 2 in a row: a cell and its acknowledgment pass three each */
	ASSERT_EQ(0, new_san(&self->san, "mesh:3x2"));
	self->ports = add_stations(&self->nl, self->ns, 6, self->fd);
	ASSERT_EQ(6, self->ports);
	n = stages(&self->san, s, ARRAY_SIZE(s));
	EXPECT_EQ(n, pw_gsan_get(&self->san, PACKETWAY_A_SAN_STAGES) + 1);
	ASSERT_LT(3, n);
	for (i = 0; i < n; i++) {
		EXPECT_EQ(0, s[i].cells);
		EXPECT_EQ(0, s[i].queued);
	}
	EXPECT_EQ(6, s[0].units);
	EXPECT_EQ(6, s[n - 1].units);
	ASSERT_LT(0, load_offer(self->fd[0], &m, 1, 6));
	ASSERT_LE(24, pw_timed_recv(self->fd[2], rx, sizeof(rx), &cycle, SOON));
	EXPECT_EQ(1, pw_stat_wait(self->fd[0], "s0", "aal_acks_in", 1));
	n = stages(&self->san, s, ARRAY_SIZE(s));
	for (i = 0; i + 1 < n; i++)
		cells += s[i].cells;
	EXPECT_EQ(2, s[0].cells);
	EXPECT_EQ(2 * 3, cells);
	EXPECT_EQ(2, s[n - 1].cells);

	ASSERT_TRUE(stop_when_full(&self->san, self->fd, 6, s, &n));
	n = stages(&self->san, s, ARRAY_SIZE(s));
	for (i = 0, cells = 0; i < n; i++) {
		cells += s[i].queued;
		EXPECT_LE(s[i].fullest, s[i].queued);
		EXPECT_LE(s[i].queued, s[i].fullest * s[i].units);
	}
	EXPECT_LE(2000, cells);
	/* none without a fabric; what was inside has gone with it */
	ASSERT_EQ(0, pw_gsan_set(&self->san, PACKETWAY_A_SAN_ENGINE, PACKETWAY_ENGINE_NONE));
	EXPECT_EQ(0, stages(&self->san, s, ARRAY_SIZE(s)));
}

/* --- multicast ------------------------------------------------------------------- */

/* connections that the tests use, for topologies of at least 8 ports */
static const struct ref_conn conns[] = {
	{ 0, 1 << 3 | 1 << 5 | 1 << 6 },
	{ 0, 1 << 7 },
	{ 4, 1 << 0 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 7 },
	{ 7, 1 << 2 | 1 << 4 },
};

#define CONNS ARRAY_SIZE(conns)

/* PACKETWAY_A_SAN_MULTICAST of SAN 0, with its list or without; NULL: it has none */
static struct rtattr *multicast(struct pw_genl *g, bool list)
{
	struct rtattr *nest;
	struct pw_req r;

	pw_genl_init(&r, g->family, PACKETWAY_CMD_SAN_GET, 0);
	nest = pw_genl_nest(&r, PACKETWAY_A_SAN);
	pw_req_u32(&r, PACKETWAY_A_SAN_ID, 0);
	if (list)
		pw_req_put(&r, PACKETWAY_A_SAN_WITH_MULTICAST, NULL, 0);
	pw_req_end(&r, nest);
	if (pw_nl_talk(&g->nl, &r))
		return NULL;
	return pw_attr_in(pw_genl_attr((void *)g->nl.buf, PACKETWAY_A_SAN),
			  PACKETWAY_A_SAN_MULTICAST);
}

static int connections(struct pw_genl *g)
{
	struct rtattr *a = multicast(g, false);

	return a ? (int)pw_attr_u32(a, PACKETWAY_A_MULTICAST_CONNECTIONS) : -1;
}

/* connections of SAN 0 as a reply lists them; their number, -1: one of them is incomplete */
static int listed(struct pw_genl *g, struct ref_conn *conn, int max)
{
	struct rtattr *all = multicast(g, true), *a, *to;
	int n = 0, left = all ? RTA_PAYLOAD(all) : 0, k;

	for (a = all ? RTA_DATA(all) : NULL; RTA_OK(a, left) && n < max; a = RTA_NEXT(a, left)) {
		if ((a->rta_type & NLA_TYPE_MASK) != PACKETWAY_A_MULTICAST_CONNECTION)
			continue;
		to = pw_attr_in(a, PACKETWAY_A_CONNECTION_TO);
		if (!to || !pw_attr_in(a, PACKETWAY_A_CONNECTION_FROM))
			return -1;
		conn[n].from = pw_attr_u32(a, PACKETWAY_A_CONNECTION_FROM);
		conn[n].to = 0;
		for (k = 0; k < RTA_PAYLOAD(to) && k < 4; k++)
			conn[n].to |= (uint32_t)((uint8_t *)RTA_DATA(to))[k] << 8 * k;
		n++;
	}
	return n;
}

static int join(struct pw_nl *nl, int fd, int port, int what, uint32_t addr, bool leave)
{
	char name[16];

	snprintf(name, sizeof(name), "s%d", port);
	return pw_packet_join(fd, pw_link_index(nl, name), what, addr, leave);
}

/* the members of each connection join its group; 0 or -1 */
static int join_groups(struct pw_nl *nl, const int *fd, int ports)
{
	int i, d;

	for (i = 0; i < CONNS; i++)
		for (d = 0; d < ports; d++)
			if (conns[i].to >> d & 1 &&
			    join(nl, fd[d], d, PACKET_MR_MULTICAST, LOAD_GROUP + i, false))
				return -1;
	return 0;
}

/* random messages as above, most of them by connections */
static void make_group_load(struct ref_msg *m, int n, int ports)
{
	int i;

	make_load(m, n, ports);
	for (i = 0; i < n; i++) {
		if (!pw_below(3))
			continue;
		m[i].conn = 1 + pw_below(CONNS);
		m[i].src = conns[m[i].conn - 1].from;
		m[i].path = -1;
	}
}

/* cells of all stages of SAN 0, compared with those of the model; differences */
static int compare_cells(struct pw_genl *g)
{
	double end = pw_now() + SOON / 1000;
	static struct stage s[40];
	int n, i, bad;

	/* acknowledgments may still be on their way */
	do {
		n = stages(g, s, ARRAY_SIZE(s));
		for (i = 0, bad = n != ref_stages() + 1; i < n && !bad; i++)
			bad += s[i].cells != ref_cells(i);
		if (bad)
			usleep(2000);
	} while (bad && pw_now() < end);
	for (i = 0; i < n && bad; i++)
		fprintf(stderr, "# stage %d: %llu cells, model %llu\n", i,
			(unsigned long long)s[i].cells, (unsigned long long)ref_cells(i));
	return bad;
}

TEST_F(topology, multicast_as_in_the_model)
{
	static const char *const names[] = { "torus:3x4", "clos:3x3x3", "fattree:2x3" };
	static struct ref_msg m[1000];
	int n = pw_count(100, 20), slow = pw_slow_kernel() ? 4 : 15, i, ports, fd[PORTS];

	n = n > 1000 ? 1000 : n;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		ports = ref_multicast(names[i], conns, CONNS);
		ASSERT_LT(7, ports);
		ASSERT_EQ(0, set_multicast(&self->san, PACKETWAY_CMD_SAN_NEW, names[i], conns,
					   CONNS)) {
			TH_LOG("%s: %s", names[i], self->san.nl.ext);
		}
		EXPECT_EQ(CONNS, connections(&self->san));
		EXPECT_STREQ(names[i], shown(&self->san));
		ASSERT_EQ(ports, add_stations(&self->nl, self->ns, ports, fd));
		ASSERT_EQ(0, join_groups(&self->nl, fd, ports));
		make_group_load(m, n, ports);
		EXPECT_EQ(0, compare(_metadata, &self->san, fd, m, n, ports,
				     PACKETWAY_ENGINE_FAST)) {
			TH_LOG("%s, fast", names[i]);
		}
		EXPECT_EQ(0, compare_cells(&self->san));
		EXPECT_EQ(0, compare(_metadata, &self->san, fd, m, slow, ports,
				     PACKETWAY_ENGINE_RTL)) {
			TH_LOG("%s, rtl", names[i]);
		}
		EXPECT_EQ(0, compare_cells(&self->san));
		del_stations(&self->nl, ports, fd);
		EXPECT_EQ(0, del_san(&self->san));
	}
	ref_topology(NULL);
}

/* cells that the AAL unit of a port has taken in */
static uint64_t cells_in(const int *fd, int port)
{
	char name[16];

	snprintf(name, sizeof(name), "s%d", port);
	return pw_stat(fd[port], name, "aal_cells_in");
}

/*
 * One message to the group of connection 0 from port 0. Bit p of the result: port p has got it;
 * of @cells: its cells have come to port p. -1: a port got it twice, or a frame is missing.
 */
static long send_group(const int *fd, int ports, uint32_t *cells)
{
	struct ref_msg m = { .src = 0, .conn = 1, .len = 100, .path = -1 };
	uint64_t before[PORTS], cycle;
	uint32_t got = 0;
	int d;

	for (d = 0; d < ports; d++)
		before[d] = cells_in(fd, d);
	if (load_offer(fd[0], &m, 1, ports) < 0)
		return -1;
	/* a message behind it on the same way: when it has come, so has the one before */
	m = (struct ref_msg) { .src = 0, .dst = -1, .len = 8, .path = -1 };
	if (load_offer(fd[0], &m, 2, ports) < 0)
		return -1;
	*cells = 0;
	for (d = 1; d < ports; d++) {
		struct pw_hdr h = {};
		int n = 0;

		do {
			if (pw_timed_recv(fd[d], rx, sizeof(rx), &cycle, SOON) < 24)
				return -1;
			pw_hdr_get(rx, &h);
			n += h.dl > 1;
		} while (h.dl > 1);
		if (n > 1)
			return -1;
		got |= n << d;
		/* the broadcast has one cell */
		if (cells_in(fd, d) - before[d] > 1)
			*cells |= 1 << d;
	}
	return got;
}

TEST_F(topology, multicast_listeners)
{
	static const struct ref_conn own[] = {
		{ 0, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 },
		{ 0, 1 << 2 | 1 << 3 },
		{ 0, 1 << 2 | 1 << 4 },
	};
	static const int engine[] = { PACKETWAY_ENGINE_FAST, PACKETWAY_ENGINE_RTL };
	const uint32_t addr = LOAD_GROUP, all = 0x3e;
	struct pw_nl *nl = &self->nl;
	uint32_t cells;
	int *fd = self->fd, i;

	ASSERT_EQ(0, set_multicast(&self->san, PACKETWAY_CMD_SAN_NEW, "mesh:3x2", own,
				   ARRAY_SIZE(own)));
	self->ports = add_stations(nl, self->ns, 6, fd);
	ASSERT_EQ(6, self->ports);
	for (i = 0; i < ARRAY_SIZE(engine); i++) {
		ASSERT_EQ(0, pw_gsan_set(&self->san, PACKETWAY_A_SAN_ENGINE, engine[i]));
		ASSERT_EQ(0, join(nl, fd[2], 2, PACKET_MR_MULTICAST, addr, false));
		ASSERT_EQ(0, join(nl, fd[3], 3, PACKET_MR_MULTICAST, addr, false));
		/* the smallest connection that has both */
		EXPECT_EQ(1 << 2 | 1 << 3, send_group(fd, 6, &cells));
		EXPECT_EQ(1 << 2 | 1 << 3, cells);
		/* a listener outside of it, which another connection has */
		ASSERT_EQ(0, join(nl, fd[1], 1, PACKET_MR_MULTICAST, addr, false));
		EXPECT_EQ(1 << 1 | 1 << 2 | 1 << 3, send_group(fd, 6, &cells));
		EXPECT_EQ(1 << 1 | 1 << 2 | 1 << 3 | 1 << 4, cells);
		/* a listener outside of all: to all ports */
		ASSERT_EQ(0, join(nl, fd[5], 5, PACKET_MR_MULTICAST, addr, false));
		EXPECT_EQ(1 << 1 | 1 << 2 | 1 << 3 | 1 << 5, send_group(fd, 6, &cells));
		EXPECT_EQ(all, cells);
		ASSERT_EQ(0, join(nl, fd[5], 5, PACKET_MR_MULTICAST, addr, true));
		ASSERT_EQ(0, join(nl, fd[1], 1, PACKET_MR_MULTICAST, addr, true));
		EXPECT_EQ(1 << 2 | 1 << 3, send_group(fd, 6, &cells));
		EXPECT_EQ(1 << 2 | 1 << 3, cells);
		/* stations that take the frames of all groups, or all frames */
		ASSERT_EQ(0, join(nl, fd[5], 5, PACKET_MR_ALLMULTI, 0, false));
		EXPECT_EQ(1 << 2 | 1 << 3 | 1 << 5, send_group(fd, 6, &cells));
		EXPECT_EQ(all, cells);
		ASSERT_EQ(0, join(nl, fd[5], 5, PACKET_MR_ALLMULTI, 0, true));
		ASSERT_EQ(0, join(nl, fd[4], 4, PACKET_MR_PROMISC, 0, false));
		EXPECT_EQ(1 << 2 | 1 << 3 | 1 << 4, send_group(fd, 6, &cells));
		EXPECT_EQ(1 << 1 | 1 << 2 | 1 << 3 | 1 << 4, cells);
		ASSERT_EQ(0, join(nl, fd[4], 4, PACKET_MR_PROMISC, 0, true));
		/* of two with as many members the first */
		ASSERT_EQ(0, join(nl, fd[3], 3, PACKET_MR_MULTICAST, addr, true));
		EXPECT_EQ(1 << 2, send_group(fd, 6, &cells));
		EXPECT_EQ(1 << 2 | 1 << 3, cells);
		ASSERT_EQ(0, join(nl, fd[2], 2, PACKET_MR_MULTICAST, addr, true));
	}
	/* without connections again */
	ASSERT_EQ(0, change(&self->san, "mesh:3x2"));
	EXPECT_EQ(0, connections(&self->san));
	ASSERT_EQ(0, join(nl, fd[2], 2, PACKET_MR_MULTICAST, addr, false));
	EXPECT_EQ(1 << 2, send_group(fd, 6, &cells));
	EXPECT_EQ(all, cells);
}

/* the connections above as a file */
static bool put_multicast_file(void)
{
	FILE *f = fopen(FILES ".yaml", "w");
	int i, d;

	if (!f)
		return false;
	fprintf(f, "generator: torus\ndims: [3, 3]\nmulticast:\n");
	for (i = 0; i < CONNS; i++) {
		fprintf(f, "  - [%d", conns[i].from);
		for (d = 0; d < 9; d++)
			if (conns[i].to >> d & 1)
				fprintf(f, ", %d", d);
		fprintf(f, "]\n");
	}
	return !fclose(f);
}

/* a message by each connection: when pwmodel has delivered it to the last member */
static bool conns_by_pwmodel(uint64_t *cycle)
{
	unsigned long long delivered;
	char line[256];
	int i, n = 0;
	FILE *f;

	f = fopen(FILES ".csv", "w");
	if (!f)
		return false;
	fprintf(f, "cycle,src,dst,bytes\n");
	for (i = 0; i < CONNS; i++)
		fprintf(f, "%d,%d,mc%d,%d\n", 10 * i, conns[i].from, i, 200 + i);
	fclose(f);
	f = popen("pwmodel fabric --messages " FILES ".csv --topology " FILES
		  ".yaml --engine rtl --pack immediately --unpack immediately", "r");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*d,mc%d,%*d,%*u,%*u,%*u,%*u,%*u,%llu", &i, &delivered) == 2 &&
		    i >= 0 && i < CONNS) {
			cycle[i] = delivered;
			n++;
		}
	}
	return !pclose(f) && n == CONNS;
}

TEST_F(topology, multicast_file_as_in_pwmodel)
{
	static const int engine[] = { PACKETWAY_ENGINE_FAST, PACKETWAY_ENGINE_RTL };
	uint64_t want[CONNS], at[CONNS], last, cycle;
	struct ref_conn got[CONNS + 1];
	int *fd = self->fd, i, d, e;

	ASSERT_TRUE(put_multicast_file());
	ASSERT_TRUE(conns_by_pwmodel(want));
	ASSERT_EQ(0, in_ns(self->ns, "pwctl san add 0 topology " FILES ".yaml"));
	EXPECT_EQ(CONNS, listed(&self->san, got, ARRAY_SIZE(got)));
	EXPECT_EQ(0, memcmp(got, conns, sizeof(conns)));
	self->ports = add_stations(&self->nl, self->ns, 9, fd);
	ASSERT_EQ(9, self->ports);
	ASSERT_EQ(0, join_groups(&self->nl, fd, 9));
	for (e = 0; e < ARRAY_SIZE(engine); e++) {
		ASSERT_EQ(0, pw_gsan_set(&self->san, PACKETWAY_A_SAN_ENGINE,
					 PACKETWAY_ENGINE_NONE));
		ASSERT_EQ(0, pw_gsan_set2(&self->san, PACKETWAY_A_SAN_ENGINE, engine[e],
					  PACKETWAY_A_SAN_FROZEN, 1));
		for (i = 0; i < CONNS; i++) {
			struct ref_msg m = { .cycle = 10 * i, .src = conns[i].from, .conn = 1 + i,
					     .len = 200 + i, .path = -1 };

			ASSERT_LT(0, load_offer(fd[m.src], &m, i, 9));
		}
		ASSERT_EQ(0, pw_gsan_set(&self->san, PACKETWAY_A_SAN_FROZEN, 0));
		/* a port that is in several connections gets their messages in any order */
		memset(at, 0, sizeof(at));
		for (d = 0; d < 9; d++) {
			for (i = 0; i < CONNS; i++) {
				struct pw_hdr h = {};

				if (!(conns[i].to >> d & 1))
					continue;
				ASSERT_LE(24, pw_timed_recv(fd[d], rx, sizeof(rx), &cycle, SOON));
				pw_hdr_get(rx, &h);
				ASSERT_LE(LOAD_GROUP, h.dt);
				ASSERT_GT(LOAD_GROUP + CONNS, h.dt);
				last = at[h.dt - LOAD_GROUP];
				at[h.dt - LOAD_GROUP] = cycle > last ? cycle : last;
			}
		}
		for (i = 0; i < CONNS; i++)
			EXPECT_EQ(want[i], at[i]);
	}
	unlink(FILES ".yaml");
	unlink(FILES ".csv");
}

/* a member behind a router is a listener at the port of the half-router */
TEST_F(topology, multicast_crosses_routers)
{
	static const struct ref_conn own = { 0, 1 << 1 | 1 << 2 };
	struct ref_msg m = { .src = 0, .conn = 1, .len = 100, .path = -1 };
	double end = pw_now() + SOON / 1000;
	int *fd = self->fd, far, n = -1;
	uint64_t cycle;

	ASSERT_EQ(0, set_multicast(&self->san, PACKETWAY_CMD_SAN_NEW, "ring:4", &own, 1));
	self->ports = add_stations(&self->nl, self->ns, 3, fd);
	ASSERT_EQ(3, self->ports);
	ASSERT_EQ(0, in_ns(self->ns, "pwctl san add 1 && pwctl router add r san 0:3 san 1:0"));
	ASSERT_EQ(0, pw_station_add(&self->nl, "far", 1, 1, -1));
	ASSERT_EQ(0, pw_link_up(&self->nl, "far"));
	far = pw_timed_open(self->ns, pw_link_index(&self->nl, "far"));
	ASSERT_LE(0, far);
	self->fd[self->ports++] = far;
	ASSERT_EQ(0, pw_packet_join(far, pw_link_index(&self->nl, "far"), PACKET_MR_MULTICAST,
				    LOAD_GROUP, false));
	ASSERT_EQ(0, join(&self->nl, fd[1], 1, PACKET_MR_MULTICAST, LOAD_GROUP, false));
	/* until the routers have told each other of the member */
	while (n < 24 && pw_now() < end) {
		ASSERT_LT(0, load_offer(fd[0], &m, 1, 4));
		EXPECT_LE(24, pw_timed_recv(fd[1], rx, sizeof(rx), &cycle, SOON));
		n = pw_timed_recv(far, rx, sizeof(rx), &cycle, 50);
	}
	EXPECT_LE(24, n);
}

TEST_F(topology, refused_multicast)
{
	static struct ref_conn many[PACKETWAY_CONNECTIONS_MAX + 1];
	struct ref_conn got[CONNS + 1], bad = { 12, 1 };
	struct pw_genl *g = &self->san;
	int i;

	for (i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct ref_conn) { i % 12, 1 << (i + 1) % 12 };
	/* namespaces of other tests end in the background */
	EXPECT_SOON(0, pieces());
	EXPECT_EQ(-EINVAL, set_multicast(g, PACKETWAY_CMD_SAN_NEW, NULL, conns, 1));
	EXPECT_STREQ("multicast: connections are set with the topology that has them", g->nl.ext);
	EXPECT_EQ(-EINVAL, set_multicast(g, PACKETWAY_CMD_SAN_NEW, "default", conns, 1));
	EXPECT_STREQ("multicast: connections need the sizes of the topology, such as clos:4x4x4",
		     g->nl.ext);
	EXPECT_EQ(~0ULL, pw_gsan_get(g, PACKETWAY_A_SAN_PORTS));

	ASSERT_EQ(0, set_multicast(g, PACKETWAY_CMD_SAN_NEW, "torus:3x4", conns, CONNS));
	EXPECT_EQ(-EINVAL, set_multicast(g, PACKETWAY_CMD_SAN_SET, "mesh:3x4", &bad, 1));
	EXPECT_STREQ("multicast: the sender of a connection does not exist", g->nl.ext);
	bad = (struct ref_conn) { 1, 1 << 12 };
	EXPECT_EQ(-EINVAL, set_multicast(g, PACKETWAY_CMD_SAN_SET, "mesh:3x4", &bad, 1));
	EXPECT_STREQ("multicast: a member of a connection does not exist or is its sender",
		     g->nl.ext);
	bad = (struct ref_conn) { 1, 3 };
	EXPECT_EQ(-EINVAL, set_multicast(g, PACKETWAY_CMD_SAN_SET, "mesh:3x4", &bad, 1));
	EXPECT_STREQ("multicast: a member of a connection does not exist or is its sender",
		     g->nl.ext);
	bad = (struct ref_conn) { 1, 0 };
	EXPECT_EQ(-EINVAL, set_multicast(g, PACKETWAY_CMD_SAN_SET, "mesh:3x4", &bad, 1));
	EXPECT_STREQ("multicast: a connection has no members", g->nl.ext);
	bad = (struct ref_conn) { 0x10000, 2 };
	EXPECT_EQ(-EINVAL, set_multicast(g, PACKETWAY_CMD_SAN_SET, "mesh:3x4", &bad, 1));
	EXPECT_STREQ("multicast: the sender of a connection does not exist", g->nl.ext);
	EXPECT_EQ(-EINVAL, set_multicast(g, PACKETWAY_CMD_SAN_SET, "mesh:3x4", many,
					 ARRAY_SIZE(many)));
	EXPECT_STREQ("multicast: more than 1024 connections", g->nl.ext);
	/* all of that has changed nothing */
	EXPECT_STREQ("torus:3x4", shown(g));
	EXPECT_EQ(CONNS, listed(g, got, ARRAY_SIZE(got)));
	EXPECT_EQ(0, memcmp(got, conns, sizeof(conns)));
	EXPECT_EQ(1, pieces());

	/* as many as there may be, and fewer */
	EXPECT_EQ(0, set_multicast(g, PACKETWAY_CMD_SAN_SET, "mesh:3x4", many,
				   PACKETWAY_CONNECTIONS_MAX));
	EXPECT_EQ(PACKETWAY_CONNECTIONS_MAX, connections(g));
	EXPECT_EQ(1, pieces());
	EXPECT_EQ(0, set_multicast(g, PACKETWAY_CMD_SAN_SET, "mesh:3x4", conns, 1));
	EXPECT_EQ(1, listed(g, got, ARRAY_SIZE(got)));
	EXPECT_EQ(0, set_multicast(g, PACKETWAY_CMD_SAN_SET, "mesh:3x4", conns, 0));
	EXPECT_EQ(0, listed(g, got, ARRAY_SIZE(got)));
	EXPECT_STREQ("mesh:3x4", shown(g));
}

TEST_HARNESS_MAIN
