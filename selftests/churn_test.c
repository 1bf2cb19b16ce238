// SPDX-License-Identifier: GPL-2.0
/*
 * Routers that are killed and started again at random while trunks lose packets and fabrics
 * lose cells: 0, 1, 10 and 30 percent. Afterwards all SANs know all nodes again and no others, no
 * frame has arrived twice, and no route is used that leads nowhere.
 *
 *   SANs 1, 2, 3: trunks in a triangle, each through a relay. SAN 4: routers to 1 and 2.
 *
 * PW_SCALE=1000 takes ten minutes.
 *
 * Tables must agree within ten seconds of quiet (EXPECT_AGREED() in pwharness.h), and from then on
 * each frame arrives.
 */
#include "pwtest.h"
#include "pwrelay.h"
#include "pwsan.h"
#include "pwharness.h"

#define ADDR(san, port) ((uint32_t)(san) * 256 + (port) + 1)
#define PT_TEST 1500
#define SANS 4
#define TRUNKS 3
#define FRAMES 100000

static struct pw_relay relay;

/* a router with two halves here, or an end of a trunk */
static const struct {
	const char *name;
	int san, port;
	int to, to_port;	/* of a router */
	int trunk, end;		/* of an end; -1: a router */
} routers[] = {
	{ "t12", 1, 9, 0, 0, 0, 0 }, { "t21", 2, 9, 0, 0, 0, 1 },
	{ "t23", 2, 10, 0, 0, 1, 0 }, { "t32", 3, 9, 0, 0, 1, 1 },
	{ "t31", 3, 10, 0, 0, 2, 0 }, { "t13", 1, 10, 0, 0, 2, 1 },
	{ "r14", 1, 12, 4, 12, -1, 0 }, { "r24", 2, 12, 4, 13, -1, 0 },
};

#define ROUTERS ((int)(sizeof(routers) / sizeof(routers[0])))

static bool running[ROUTERS];
static uint8_t seen[FRAMES];
static long sent, got, twice, wrong;

static int start(struct pw_genl *g, int i)
{
	struct pw_trunk_req t = { .name = routers[i].name, .san = routers[i].san,
				  .port = routers[i].port, .local = INADDR_LOOPBACK,
				  .remote = INADDR_LOOPBACK };
	int end = 2 * routers[i].trunk + routers[i].end;

	running[i] = true;
	if (routers[i].trunk < 0)
		return pw_router_add(g, routers[i].name,
				     (struct pw_half_req) { routers[i].san, routers[i].port, -1 },
				     (struct pw_half_req) { routers[i].to,
							    routers[i].to_port, -1 });
	t.local_port = PW_RELAY_END + end;
	t.remote_port = PW_RELAY + end;
	return pw_trunk_add(g, &t);
}

static int stop(struct pw_genl *g, int i)
{
	running[i] = false;
	return pw_router_del(g, routers[i].name);
}

FIXTURE(churn) {
	int ns;
	struct pw_nl nl;
	struct pw_genl g;
	int raw[SANS + 1];
};

FIXTURE_SETUP(churn)
{
	char name[8];
	int i;

	ASSERT_EQ(0, unshare(CLONE_NEWNET));
	self->ns = pw_ns_self();
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_genl_open(&self->g, self->ns));
	ASSERT_EQ(0, pw_link_up(&self->nl, "lo"));
	ASSERT_EQ(0, pw_relay_start(&relay, 2 * TRUNKS));
	for (i = 1; i <= SANS; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		ASSERT_EQ(0, pw_station_add(&self->nl, name, i, 0, self->ns));
		ASSERT_EQ(0, pw_link_up(&self->nl, name));
		self->raw[i] = pw_packet_open(self->ns, SOCK_RAW, ETH_P_PACKETWAY,
					      pw_link_index(&self->nl, name));
		ASSERT_GE(self->raw[i], 0);
	}
	for (i = 0; i < ROUTERS; i++)
		ASSERT_EQ(0, start(&self->g, i)) TH_LOG("%s", self->g.nl.ext);
}

FIXTURE_TEARDOWN(churn)
{
	int i;

	pw_relay_stop(&relay);
	for (i = 1; i <= SANS; i++)
		close(self->raw[i]);
	close(self->nl.fd);
	close(self->g.nl.fd);
	close(self->ns);
}

/* take what has arrived; its number, whose destination must be the station's */
static void drain(const int *raw, int ms)
{
	uint8_t b[2048];
	struct pw_hdr h;
	long seq;
	int i, l;

	for (i = 1; i <= SANS; i++) {
		while ((l = pw_recv(raw[i], b, sizeof(b), NULL, ms)) >= 0) {
			if (l != 40)
				continue;
			pw_hdr_get(b, &h);
			if (h.pt != PT_TEST)
				continue;
			seq = pw_get(b + 16, 8);
			if (h.dt != ADDR(i, 0) || seq >= sent ||
			    pw_get(b + 24, 8) != ~(uint64_t)seq) {
				wrong++;
				continue;
			}
			got++;
			twice += seen[seq % FRAMES];
			seen[seq % FRAMES] = 1;
		}
	}
}

/* a numbered frame from one SAN to another */
static bool frame(const int *raw, int from, int to)
{
	uint8_t b[64], data[16];
	int l;

	pw_put(data, 8, sent);
	pw_put(data + 8, 8, ~(uint64_t)sent);
	seen[sent % FRAMES] = 0;
	l = pw_msg(b, ADDR(to, 0), ADDR(from, 0), PT_TEST, 1, pw_below(64), data, 16);
	if (send(raw[from], b, l, 0) != l)
		return false;
	sent++;
	return true;
}

/* until SAN @san knows the name, or does not; what it says at last */
static int known(struct pw_genl *g, int san, int whom, int want)
{
	double end = pw_now() + (pw_slow_kernel() ? 400 : 120);
	char name[8];
	int err;

	snprintf(name, sizeof(name), "s%d", whom);
	while ((err = pw_resolve(g, san, 0, name)) != want && pw_now() < end)
		usleep(20000);
	return err;
}

/* bits of all nodes: stations, half-routers, and the other halves of routers */
#define STATION(san)	(1u << (san))
#define HALF(i)		(1u << (8 + (i)))
#define OTHER_HALF(i)	(1u << (16 + (i)))
#define STRANGER	(1u << 31)

/* the nodes of routers that run and of SANs 1 to @sans */
static uint32_t all_nodes(int sans)
{
	uint32_t set = 0;
	int i;

	for (i = 1; i <= sans; i++)
		set |= STATION(i);
	for (i = 0; i < ROUTERS; i++)
		if (running[i])
			set |= HALF(i) | (routers[i].trunk < 0 ? OTHER_HALF(i) : 0);
	return set;
}

static void add_node(struct nlmsghdr *h, void *arg)
{
	uint32_t addr = pw_attr_u32(pw_genl_attr(h, PACKETWAY_A_NODE), PACKETWAY_A_NODE_ADDR);
	uint32_t *set = arg, bit = STRANGER;
	int i;

	for (i = 1; i <= SANS; i++)
		if (addr == ADDR(i, 0))
			bit = STATION(i);
	for (i = 0; i < ROUTERS; i++) {
		if (addr == ADDR(routers[i].san, routers[i].port))
			bit = HALF(i);
		if (routers[i].trunk < 0 && addr == ADDR(routers[i].to, routers[i].to_port))
			bit = OTHER_HALF(i);
	}
	*set |= bit;
}

/* until SAN @san knows these nodes and no others; those that it knows at last */
static uint32_t nodes(struct pw_genl *g, int san, uint32_t want)
{
	double end = pw_now() + (pw_slow_kernel() ? 400 : 120);
	uint32_t set;

	do {
		set = 0;
		pw_genl_dump(g, PACKETWAY_CMD_NODE_GET, PACKETWAY_A_NODE, PACKETWAY_A_NODE_SAN, san,
			     add_node, &set);
	} while (set != want && pw_now() < end && !usleep(20000));
	return set;
}

/* a frame from each SAN to each other one; how many do not arrive */
static int frames_missing(const int *raw)
{
	int a, b, k, missing = 0;
	long before;

	for (a = 1; a <= SANS; a++) {
		for (b = 1; b <= SANS; b++) {
			if (a == b)
				continue;
			drain(raw, 0);
			before = got;
			if (frame(raw, a, b))
				for (k = 0; k < 20 && got == before; k++)
					drain(raw, 20);
			missing += got == before;
		}
	}
	return missing;
}

/* which node tells the station of SAN @a that no node has the address of that of SAN @b */
static uint32_t refused_by(int fd, int a, int b)
{
	struct pw_hdr h = {};
	uint8_t m[2048];
	int l;

	l = pw_msg(m, ADDR(b, 0), ADDR(a, 0), PT_TEST, 1, 5, NULL, 0);
	if (send(fd, m, l, 0) != l)
		return 0;
	do {
		if (pw_recv(fd, m, sizeof(m), NULL, SOON) < 24)
			return 0;
		pw_hdr_get(m, &h);
	} while (h.pt != PW_PT_ERR || h.te != PW_TE_ERR_UNK);
	return h.sa;
}

/*
 * Trunks lose this percentage of their packets, fabrics of their cells: a cell passes three input
 * units, which lose it independently.
 */
static int lose(int ns, int percent)
{
	unsigned int ppm = percent == 1 ? 3345 : percent == 10 ? 34511 : percent ? 112096 : 0;
	int s, err = 0;

	pw_relay_lose(&relay, percent);
	for (s = 1; s <= SANS && !err; s++)
		err = pw_gsan_fault_in(ns, s, ppm, 0, s);
	return err;
}

/* cells that the fabrics have lost since the last change of their loss */
static uint64_t cells_lost(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), s, stage;
	char dev[8], name[32];
	uint64_t sum = 0;

	for (s = 1; s <= SANS; s++) {
		snprintf(dev, sizeof(dev), "s%d", s);
		for (stage = 0; stage < 4; stage++) {
			snprintf(name, sizeof(name), "fabric_stage%d_dropped", stage);
			sum += pw_stat(fd, dev, name);
		}
	}
	close(fd);
	return sum;
}

static void level(struct __test_metadata *_metadata, struct pw_genl *g, int ns, const int *raw,
		  int percent)
{
	long n = pw_count(25, 4), i, k, lost = relay.dropped;
	uint64_t dropped;
	double quiet, agreed;
	int a, b, missing;

	for (i = 0; i < ROUTERS; i++)
		if (!running[i])
			ASSERT_EQ(0, start(g, i));
	for (a = 1; a <= SANS; a++)
		for (b = 1; b <= SANS; b++)
			ASSERT_EQ(0, known(g, a, b, 0));
	ASSERT_EQ(0, lose(ns, percent));
	for (i = 0; i < n; i++) {
		k = pw_below(ROUTERS);
		ASSERT_EQ(0, running[k] ? stop(g, k) : start(g, k)) {
			TH_LOG("%s: %s", routers[k].name, g->nl.ext);
		}
		for (k = 0; k < 60; k++) {
			a = 1 + pw_below(SANS);
			b = 1 + (a + pw_below(SANS - 1)) % SANS;
			frame(raw, a, b);
			usleep(10000);
		}
		drain(raw, 0);
	}
	/* quiet: every router runs, and nothing is lost */
	for (i = 0; i < ROUTERS; i++)
		if (!running[i])
			ASSERT_EQ(0, start(g, i));
	dropped = cells_lost();
	ASSERT_EQ(0, lose(ns, 0));
	quiet = pw_now();
	for (a = 1; a <= SANS; a++)
		for (b = 1; b <= SANS; b++)
			EXPECT_EQ(0, known(g, a, b, 0)) TH_LOG("SAN %d, s%d", a, b);
	for (a = 1; a <= SANS; a++)
		EXPECT_EQ(all_nodes(SANS), nodes(g, a, all_nodes(SANS))) TH_LOG("SAN %d", a);
	EXPECT_AGREED(quiet);
	agreed = pw_now() - quiet;
	TH_LOG("%d %% lost (%ld packets, %llu cells): all agree after %.1f s; %ld frames sent, %ld arrived",
	       percent, relay.dropped - lost, (unsigned long long)dropped, agreed, sent,
	       got);
	EXPECT_TRUE(!percent == !(relay.dropped - lost) || percent == 1);
	EXPECT_EQ(!percent, !dropped);

	/* ten seconds of quiet: every route leads to its node, the first frame arrives */
	while (pw_now() < quiet + 10)
		usleep(20000);
	for (i = 0; (missing = frames_missing(raw)) && !getenv("PW_ICOUNT") && i < 50; i++)
		;
	EXPECT_EQ(0, missing);
	/* SAN 4 is cut off: no half-router has a route to it */
	ASSERT_EQ(0, stop(g, 6));
	ASSERT_EQ(0, stop(g, 7));
	quiet = pw_now();
	for (a = 1; a < SANS; a++) {
		EXPECT_EQ(-ENOENT, known(g, a, 4, -ENOENT)) TH_LOG("SAN %d", a);
		EXPECT_EQ(all_nodes(SANS - 1), nodes(g, a, all_nodes(SANS - 1)));
	}
	EXPECT_AGREED(quiet);
	/* a frame for it does not leave the SAN of its station */
	for (a = 1; a < SANS; a++)
		EXPECT_EQ(ADDR(a, 0), refused_by(raw[a], a, 4));
	EXPECT_EQ(0, pw_resolve(g, 1, 0, "s3"));
	EXPECT_EQ(0, twice);
	EXPECT_EQ(0, wrong);
}

TEST_F(churn, lossless)
{
	level(_metadata, &self->g, self->ns, self->raw, 0);
}

TEST_F(churn, percent_1)
{
	level(_metadata, &self->g, self->ns, self->raw, 1);
}

TEST_F(churn, percent_10)
{
	level(_metadata, &self->g, self->ns, self->raw, 10);
}

TEST_F(churn, percent_30)
{
	level(_metadata, &self->g, self->ns, self->raw, 30);
}

TEST_HARNESS_MAIN
