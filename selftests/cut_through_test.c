// SPDX-License-Identifier: GPL-2.0
/*
 * Cut-through in virtual time: three SANs in a chain, an echo from end to end by address and by
 * source route, with half-routers that store a frame and with such that begin with its first
 * cell. The node that answers writes the time of the way there into the echo. Expected times
 * are computed from those of one SAN, which the published machine has for each length.
 */
#include "pwtest.h"
#include "pwrouter.h"
#include "pwsan.h"
#include "pwharness.h"

#define SANS	3
#define LOOKUP	200		/* ns that an address takes, in one of the cases */
#define TRIES	5		/* the middle one counts: tables cross the fabrics, too */

/*
 * Cycles in one SAN, by pwmodel fabric. Reading takes a process longer if the sender has port 6,
 * as on the second SAN and the third.
 */
#define CELL_FIRST	234		/* 24 bytes, the timestamp with them: first cell in */
#define CELL_TIME_0	451		/* delivered, from port 0 */
#define CELL_TIME	475		/* from port 6 */
#define LONG		376		/* bytes, without the timestamp */
#define LONG_READ	2008		/* segmented */
#define LONG_FIRST	2082
#define LONG_LAST	2773		/* reassembled */
#define LONG_TIME_0	4657
#define LONG_TIME	4681

static uint8_t tx[2048], rx[9000], data[1024];

#define ADDR(san, port) ((uint32_t)(san) * 256 + (port) + 1)

FIXTURE(chain) {
	int ns;
	struct pw_nl nl;
	struct pw_genl g;
	int raw;
};

FIXTURE_VARIANT(chain) {
	int engine;
};

FIXTURE_VARIANT_ADD(chain, fast) {
	.engine = PACKETWAY_ENGINE_FAST,
};

FIXTURE_VARIANT_ADD(chain, rtl) {
	.engine = PACKETWAY_ENGINE_RTL,
};

FIXTURE_SETUP(chain)
{
	int i;

	self->ns = pw_ns_new();
	ASSERT_GE(self->ns, 0);
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_genl_open(&self->g, self->ns));
	for (i = 1; i <= SANS; i++)
		ASSERT_EQ(0, pw_san_cmd(&self->g, PACKETWAY_CMD_SAN_NEW, i, 16, variant->engine));
	ASSERT_EQ(0, pw_station_add(&self->nl, "a", 1, 0, self->ns));
	ASSERT_EQ(0, pw_station_add(&self->nl, "c", SANS, 0, self->ns));
	ASSERT_EQ(0, pw_link_mtu(&self->nl, "a", 1500));
	ASSERT_EQ(0, pw_link_mtu(&self->nl, "c", 1500));
	ASSERT_EQ(0, pw_link_up(&self->nl, "a"));
	ASSERT_EQ(0, pw_link_up(&self->nl, "c"));
	self->raw = pw_packet_open(self->ns, SOCK_RAW, ETH_P_PACKETWAY,
				   pw_link_index(&self->nl, "a"));
	ASSERT_GE(self->raw, 0);
	ASSERT_EQ(0, pw_router_add(&self->g, "r12", (struct pw_half_req){ 1, 5, -1 },
				   (struct pw_half_req){ 2, 6, -1 }));
	ASSERT_EQ(0, pw_router_add(&self->g, "r23", (struct pw_half_req){ 2, 5, -1 },
				   (struct pw_half_req){ 3, 6, -1 }));
	ASSERT_EQ(0, pw_wait_route(&self->g, 1, ADDR(3, 0)));
	ASSERT_EQ(0, pw_wait_route(&self->g, 3, ADDR(1, 0)));
}

FIXTURE_TEARDOWN(chain)
{
	close(self->raw);
	close(self->nl.fd);
	close(self->g.nl.fd);
	close(self->ns);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Virtual time of an echo with @len bytes of data to station c, on its way there: by address, or
 * by source route; 0 if none was answered.
 */
static uint64_t way(int fd, bool route, int len)
{
	/* port 5 is output 1 of switch 1 */
	static const uint8_t hop[SANS][3] = { { 2, 1, 1 }, { 2, 1, 1 }, { 3, 0, 0 } };
	struct pw_hdr h = { .dt = ADDR(SANS, 0), .sa = ADDR(1, 0), .pt = PW_PT_ECHO,
			    .te = PW_TE_ECHO_REQUEST, .p = 3, .dl = len / 8, .h = 1 };
	uint64_t ns[TRIES];
	int i, n, got;

	for (i = 0; i < TRIES; i++) {
		n = 0;
		for (got = 0; route && got < SANS; got++)
			n += pw_put_l2rh(tx + n, hop[got], 3);
		pw_hdr_put(tx + n, &h);
		n += 16;
		n += pw_put_opt(tx + n, PW_OH_TIMESTAMP, false, true, data, 8);
		memcpy(tx + n, data, len);
		n += len;
		memset(tx + n, 0, 8);
		n += 8;
		/* acknowledgments of the one before are in the fabrics for a moment */
		usleep(20000);
		if (send(fd, tx, n, 0) != n)
			return 0;
		do {
			got = pw_recv(fd, rx, sizeof(rx), NULL, SOON);
			if (got < 0)
				return 0;
		} while (pw_get(rx + 4, 2) != PW_TE_ECHO_REPLY || pw_get(rx + 6, 2) != PW_PT_ECHO);
		ns[i] = pw_get(rx + 18, 8);
	}
	qsort(ns, TRIES, sizeof(ns[0]), by_number);
	return ns[TRIES / 2];
}

static int cut_through(struct pw_genl *g, int san, uint32_t ns)
{
	return pw_gsan_set2_of(g, san, PACKETWAY_A_SAN_CUT_THROUGH, ns, 0, 0);
}

/* by address and by source route; 0: half-routers store, 1: cut-through, 2: LOOKUP by address */
static void figures(struct pw_genl *g, int fd, int len, uint64_t t[3][2])
{
	int mode, san, route;

	for (mode = 0; mode < 3; mode++) {
		for (san = 1; san <= SANS; san++)
			if (cut_through(g, san, mode == 2 ? LOOKUP : mode))
				return;
		for (route = 0; route < 2; route++)
			t[mode][route] = way(fd, route, len);
		printf("# %4d bytes, %-11s: by address %6llu ns, by source route %6llu ns\n", len,
		       mode == 2 ? "look-up 200" : mode ? "cut-through" : "stored",
		       (unsigned long long)t[mode][0], (unsigned long long)t[mode][1]);
	}
}

TEST_F_TIMEOUT(chain, one_cell, 600)
{
	uint64_t t[3][2] = {};

	figures(&self->g, self->raw, 8, t);
	/* the sum of the ways through each SAN; a source route adds words on the first two */
	EXPECT_EQ(CELL_TIME_0 + 2 * CELL_TIME, t[0][0]);
	EXPECT_LT(t[0][0], t[0][1]);
	/* on all SANs but the last one only until the first cell is there, and the decision */
	EXPECT_EQ(2 * (CELL_FIRST + 1) + CELL_TIME, t[1][0]);
	EXPECT_EQ(t[1][1], t[2][1]);
	EXPECT_EQ(2 * (CELL_FIRST + LOOKUP) + CELL_TIME, t[2][0]);
	/* a source route has more words; it is faster where an address takes time */
	EXPECT_LT(t[1][0], t[1][1]);
	EXPECT_LT(t[2][1], t[2][0]);

	/* an attribute of each SAN: only the half-routers of this one */
	ASSERT_EQ(0, cut_through(&self->g, 1, 0));
	EXPECT_EQ(CELL_TIME_0 + CELL_FIRST + LOOKUP + CELL_TIME, way(self->raw, false, 8));
	/* paced to real time they store */
	ASSERT_EQ(0, pw_gsan_set2_of(&self->g, 2, PACKETWAY_A_SAN_REAL, 1, 0, 0));
	EXPECT_LE(CELL_TIME_0 + 2 * CELL_TIME, way(self->raw, false, 8));
}

TEST_F_TIMEOUT(chain, many_cells, 1200)
{
	uint64_t t[3][2] = {};

	figures(&self->g, self->raw, LONG, t);
	EXPECT_EQ(LONG_TIME_0 + 2 * LONG_TIME, t[0][0]);
	EXPECT_EQ(2 * (LONG_FIRST + 1) + LONG_TIME, t[1][0]);
	EXPECT_LT(t[1][1], t[0][1]);
	EXPECT_LT(t[2][1], t[2][0]);

	/* the next SANs are faster: their cells must not leave before they have come */
	ASSERT_EQ(0, pw_gsan_set2_of(&self->g, 1, PACKETWAY_A_SAN_RATE, 800000000, 0, 0));
	ASSERT_EQ(0, cut_through(&self->g, 1, 1) ?: cut_through(&self->g, 2, 1));
	EXPECT_EQ(10 * LONG_LAST - LONG_READ + LONG_FIRST + 1 + LONG_TIME,
		  way(self->raw, false, LONG));
	/* and if the last one is slow, it alone counts, and the first cells before it */
	ASSERT_EQ(0, pw_gsan_set2_of(&self->g, 1, PACKETWAY_A_SAN_RATE, 8000000000, 0, 0));
	ASSERT_EQ(0, pw_gsan_set2_of(&self->g, SANS, PACKETWAY_A_SAN_RATE, 800000000, 0, 0));
	EXPECT_EQ(2 * (LONG_FIRST + 1) + 10 * LONG_TIME, way(self->raw, false, LONG));
}

TEST_F(chain, refused)
{
	EXPECT_EQ(-ERANGE, cut_through(&self->g, 1, 1000001));
	EXPECT_STREQ("cut-through: 0 is off, an address takes 1 to 10^6 ns", self->g.nl.ext);
	EXPECT_EQ(0, cut_through(&self->g, 1, 1000000));
	EXPECT_EQ(-EINVAL, pw_gsan_set2_of(&self->g, 1, PACKETWAY_A_SAN_MAX + 1, 0, 0, 0));
}

TEST_HARNESS_MAIN
