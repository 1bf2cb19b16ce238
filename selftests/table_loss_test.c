// SPDX-License-Identifier: GPL-2.0
/*
 * Lost messages between half-routers: any single packet after a change, one table, HRDOWN, a third
 * of everything for a minute. What was lost is noticed and asked for again, over a trunk and
 * between half-routers of a SAN.
 *
 *   SAN 3 --r13-- SAN 1 --t1-- relay --t2-- SAN 2
 *
 * The relay is a thread of the test: it passes the datagrams of a trunk on, or drops them.
 *
 * Tables must agree within ten seconds (EXPECT_AGREED() in pwharness.h).
 */
#include "pwsan.h"
#include "pwtest.h"
#include "pwrelay.h"
#include "pwharness.h"

#include <sys/stat.h>

#define ADDR(san, port) ((uint32_t)(san) * 256 + (port) + 1)

static struct pw_relay relay;

static struct {
	volatile int pt, te;	/* drop frames of half-routers with these; -1: any */
	volatile long left;	/* as many */
	volatile long nth;	/* of all packets from now on drop this one; 0: none */
	volatile int plain;	/* hellos lose what they say about tables */
	volatile long hellos;
} rule;

static bool drops(int end, uint8_t *p, int len)
{
	(void)end;
	if (rule.nth && !--rule.nth)
		return true;
	if (p[2] == PW_RELAY_HELLO) {
		rule.hellos++;
		if (rule.plain)
			memset(p + 24, 0, 8);
	}
	if (p[2] != PW_RELAY_FRAME || !(p[3] & 1) || len < 40 || rule.left <= 0)
		return false;
	if ((rule.te >= 0 && rule.te != (int)pw_get(p + 36, 2)) ||
	    (rule.pt >= 0 && rule.pt != (int)pw_get(p + 38, 2)))
		return false;
	rule.left--;
	return true;
}

FIXTURE(loss) {
	int ns;
	struct pw_nl nl;
	struct pw_genl g;
};

FIXTURE_SETUP(loss)
{
	struct pw_trunk_req t = { .port = 9, .local = INADDR_LOOPBACK, .remote = INADDR_LOOPBACK };
	char name[8];
	int i;

	ASSERT_EQ(0, unshare(CLONE_NEWNET));
	self->ns = pw_ns_self();
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_genl_open(&self->g, self->ns));
	ASSERT_EQ(0, pw_link_up(&self->nl, "lo"));
	memset(&rule, 0, sizeof(rule));
	relay = (struct pw_relay) { .drops = drops };
	ASSERT_EQ(0, pw_relay_start(&relay, 2));
	for (i = 1; i <= 3; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		ASSERT_EQ(0, pw_station_add(&self->nl, name, i, 0, self->ns));
		ASSERT_EQ(0, pw_link_up(&self->nl, name));
	}
	/* stations of SAN 1 that come and go */
	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "x%d", i);
		ASSERT_EQ(0, pw_station_add(&self->nl, name, 1, 1 + i, self->ns));
	}
	for (i = 1; i <= 2; i++) {
		t.name = i == 1 ? "t1" : "t2";
		t.san = i;
		t.local_port = PW_RELAY_END + i - 1;
		t.remote_port = PW_RELAY + i - 1;
		ASSERT_EQ(0, pw_trunk_add(&self->g, &t)) {
			TH_LOG("%s", self->g.nl.ext);
		}
	}
	ASSERT_EQ(0, pw_router_add(&self->g, "r13", (struct pw_half_req){ 1, 10, -1 },
				   (struct pw_half_req){ 3, 10, -1 }));
	ASSERT_EQ(0, pw_wait_route(&self->g, 2, ADDR(3, 0)));
	ASSERT_EQ(0, pw_wait_route(&self->g, 3, ADDR(2, 0)));
	/* the tables of the beginning have all arrived */
	usleep(500000);
}

FIXTURE_TEARDOWN(loss)
{
	pw_relay_stop(&relay);
	close(self->nl.fd);
	close(self->g.nl.fd);
	close(self->ns);
}

/* until SAN @san knows the name, or does not; what it says at last */
static int known(struct pw_genl *g, uint32_t san, const char *name, int want)
{
	double end = pw_now() + (pw_slow_kernel() ? 200 : 60);
	int err;

	while ((err = pw_resolve(g, san, 0, name)) != want && pw_now() < end)
		usleep(20000);
	return err;
}

/* one table is lost, and no other comes after it */
TEST_F(loss, one_table)
{
	double lost;

	rule.pt = PW_PT_RRP;
	rule.te = PW_TE_RTBL;
	rule.left = 1;
	ASSERT_EQ(0, pw_link_up(&self->nl, "x0"));
	EXPECT_SOON(1, relay.dropped);
	lost = pw_now();
	EXPECT_EQ(0, known(&self->g, 2, "x0", 0));
	EXPECT_AGREED(lost);
	EXPECT_LE(1, (int)pw_half_stat(&self->g, "t2", 0, PACKETWAY_A_HALF_STAT_TABLES_ASKED));
}

/* what SANs know of station "x0" of SAN 1 and of SAN 3, behind r13, if these are there or not */
static void all_agree(struct __test_metadata *_metadata, struct pw_genl *g, bool x0, bool r13)
{
	int gone = -ENOENT;

	EXPECT_EQ(x0 ? 0 : gone, known(g, 2, "x0", x0 ? 0 : gone));
	EXPECT_EQ(x0 && r13 ? 0 : gone, known(g, 3, "x0", x0 && r13 ? 0 : gone));
	EXPECT_EQ(r13 ? 0 : gone, known(g, 1, "s3", r13 ? 0 : gone));
	EXPECT_EQ(r13 ? 0 : gone, known(g, 2, "s3", r13 ? 0 : gone));
	EXPECT_EQ(r13 ? 0 : gone, known(g, 3, "s2", r13 ? 0 : gone));
	EXPECT_EQ(0, known(g, 1, "s2", 0));
	EXPECT_EQ(0, known(g, 2, "s1", 0));
}

/* a station comes, a router goes, and both again; of the packets that follow any one is lost */
TEST_F(loss, any_packet)
{
	int n = pw_count(12, 3), k, what;
	double lost, took, most = 0;
	long before;

	for (k = 1; k <= n; k++) {
		for (what = 0; what < 4; what++) {
			before = relay.dropped;
			rule.nth = k;
			switch (what) {
			case 0:
				ASSERT_EQ(0, pw_link_up(&self->nl, "x0"));
				break;
			case 1:
				ASSERT_EQ(0, pw_router_del(&self->g, "r13"));
				break;
			case 2:
				ASSERT_EQ(0, pw_link_down(&self->nl, "x0"));
				break;
			default:
				ASSERT_EQ(0, pw_router_add(&self->g, "r13",
							   (struct pw_half_req){ 1, 10, -1 },
							   (struct pw_half_req){ 3, 10, -1 }));
			}
			EXPECT_SOON(before + 1, relay.dropped);
			lost = pw_now();
			all_agree(_metadata, &self->g, what < 2, what % 3 == 0);
			EXPECT_AGREED(lost) TH_LOG("packet %d, change %d", k, what);
			took = pw_now() - lost;
			if (took > most)
				most = took;
		}
	}
	TH_LOG("%d losses; all agree %.1f s later at the latest", 4 * n, most);
}

/* everything that a half-router says is lost while a router goes */
TEST_F(loss, hrdown)
{
	double quiet;

	rule.pt = -1;
	rule.te = -1;
	rule.left = 1000000;
	ASSERT_EQ(0, pw_router_del(&self->g, "r13"));
	EXPECT_EQ(-ENOENT, known(&self->g, 1, "s3", -ENOENT));
	usleep(1000000);
	rule.left = 0;
	quiet = pw_now();
	EXPECT_EQ(-ENOENT, known(&self->g, 2, "s3", -ENOENT));
	EXPECT_AGREED(quiet);
	EXPECT_LE(1, (int)pw_half_stat(&self->g, "t2", 0, PACKETWAY_A_HALF_STAT_TABLES_STALE));
	/* and nothing else was forgotten */
	EXPECT_EQ(0, pw_resolve(&self->g, 2, 0, "s1"));
	EXPECT_EQ(0, pw_resolve(&self->g, 1, 0, "s2"));
}

/* nodes come and go for a minute while packets of the trunk are lost, in both directions */
TEST_F(loss, third)
{
	bool up[4] = {};
	char name[8];
	double start;
	int i, n = pw_count(600, 60), k;

	pw_relay_lose(&relay, 30);
	for (i = 0; i < n; i++) {
		k = (i * 7 + i / 3) % 4;
		snprintf(name, sizeof(name), "x%d", k);
		ASSERT_EQ(0, up[k] ? pw_link_down(&self->nl, name) : pw_link_up(&self->nl, name));
		up[k] = !up[k];
		usleep(100000);
	}
	pw_relay_lose(&relay, 0);
	start = pw_now();
	for (k = 0; k < 4; k++) {
		snprintf(name, sizeof(name), "x%d", k);
		EXPECT_EQ(up[k] ? 0 : -ENOENT, known(&self->g, 2, name, up[k] ? 0 : -ENOENT));
	}
	EXPECT_EQ(0, known(&self->g, 3, "s2", 0));
	EXPECT_EQ(0, known(&self->g, 2, "s3", 0));
	EXPECT_AGREED(start);
	TH_LOG("%ld packets lost; all agree %.1f s later", relay.dropped, pw_now() - start);
	EXPECT_LT(0, relay.dropped);
}

/* an other end that does not say sums, as in older versions: all goes on as there */
TEST_F(loss, older_peer)
{
	uint64_t asked;
	long hellos;

	rule.plain = 1;
	hellos = rule.hellos;
	ASSERT_EQ(0, pw_link_up(&self->nl, "x1"));
	EXPECT_EQ(0, known(&self->g, 2, "x1", 0));
	EXPECT_SOON(true, rule.hellos >= hellos + 6);
	asked = pw_half_stat(&self->g, "t2", 0, PACKETWAY_A_HALF_STAT_TABLES_ASKED);
	EXPECT_SOON(true, rule.hellos >= hellos + 12);
	EXPECT_EQ(asked, pw_half_stat(&self->g, "t2", 0, PACKETWAY_A_HALF_STAT_TABLES_ASKED));
	EXPECT_EQ(0, pw_resolve(&self->g, 2, 0, "x1"));
}

/*
 * t1 and r13 are neighbours on SAN 1. Its fabric loses half of all cells for a while, and so
 * every table.
 */
TEST_F(loss, neighbours)
{
	double quiet;

	ASSERT_EQ(0, pw_station_add(&self->nl, "late", 3, 1, self->ns));
	ASSERT_EQ(0, pw_gsan_fault_in(self->ns, 1, 500000, 0, 1));
	ASSERT_EQ(0, pw_link_up(&self->nl, "late"));
	usleep(1500000);
	ASSERT_EQ(0, pw_gsan_fault_in(self->ns, 1, 0, 0, 1));
	quiet = pw_now();
	EXPECT_EQ(0, known(&self->g, 2, "late", 0));
	EXPECT_AGREED(quiet);
	/* the router goes, and only the engine knows */
	ASSERT_EQ(0, pw_gsan_fault_in(self->ns, 1, 500000, 0, 1));
	ASSERT_EQ(0, pw_router_del(&self->g, "r13"));
	usleep(500000);
	ASSERT_EQ(0, pw_gsan_fault_in(self->ns, 1, 0, 0, 1));
	quiet = pw_now();
	EXPECT_EQ(-ENOENT, known(&self->g, 2, "late", -ENOENT));
	EXPECT_AGREED(quiet);
}

TEST_HARNESS_MAIN
