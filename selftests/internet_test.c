// SPDX-License-Identifier: GPL-2.0
/*
 * Three SANs of 256 ports with a station at every port that has no half-router:
 *
 *   SAN 1 --r12-- SAN 2 --r23-- SAN 3
 *
 * Every name resolves to its address on every SAN. Every message to a group arrives once at every
 * member, from every SAN, and nowhere else. A SAN has 256 ports at most: 255, 254 and 255 stations.
 */
#include "pwsan.h"
#include "pwtest.h"
#include "pwrouter.h"
#include "pwharness.h"

#include <sys/resource.h>

#define ADDR(san, port) ((uint32_t)(san) * 256 + (port) + 1)
#define SANS 3
#define PORTS 256
#define GROUP(i) (0xe02000u + 16 * (i))
#define PT_TEST 1500

static uint8_t tx[256], rx[256];

FIXTURE(internet) {
	struct pw_nl nl;
	struct pw_genl g;
	int stations[SANS];
	int fd[SANS][PORTS];
	int idx[SANS][PORTS];
};

static void name_of(char *name, size_t size, int san, int port)
{
	snprintf(name, size, "n%d_%03d", san + 1, port);
}

FIXTURE_SETUP(internet)
{
	struct rlimit files = { 4096, 4096 };
	int most = pw_count(PORTS, 48);
	char name[16];
	int ns, s, i;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	ns = pw_ns_new();
	ASSERT_GE(ns, 0);
	ASSERT_EQ(0, pw_nl_open(&self->nl, ns));
	ASSERT_EQ(0, pw_genl_open(&self->g, ns));
	for (s = 0; s < SANS; s++) {
		ASSERT_EQ(0, pw_san_cmd(&self->g, PACKETWAY_CMD_SAN_NEW, s + 1, PORTS,
					PACKETWAY_ENGINE_NONE));
		/* the last two ports are for half-routers */
		self->stations[s] = PORTS - (s == 1 ? 2 : 1);
		if (self->stations[s] > most)
			self->stations[s] = most;
		for (i = 0; i < self->stations[s]; i++) {
			name_of(name, sizeof(name), s, i);
			ASSERT_EQ(0, pw_station_add(&self->nl, name, s + 1, i, ns));
			ASSERT_EQ(0, pw_link_up(&self->nl, name));
			self->idx[s][i] = pw_link_index(&self->nl, name);
			self->fd[s][i] = pw_packet_open(ns, SOCK_RAW, ETH_P_PACKETWAY,
							self->idx[s][i]);
			ASSERT_GE(self->fd[s][i], 0);
		}
	}
	ASSERT_EQ(0, pw_router_add(&self->g, "r12", (struct pw_half_req){ 1, 255, -1 },
				   (struct pw_half_req){ 2, 255, -1 }));
	ASSERT_EQ(0, pw_router_add(&self->g, "r23", (struct pw_half_req){ 2, 254, -1 },
				   (struct pw_half_req){ 3, 255, -1 }));
	ASSERT_EQ(0, pw_wait_route(&self->g, 1, ADDR(3, 0)));
	ASSERT_EQ(0, pw_wait_route(&self->g, 3, ADDR(1, 0)));
}

FIXTURE_TEARDOWN(internet)
{
	int s, i;

	for (s = 0; s < SANS; s++)
		for (i = 0; i < self->stations[s]; i++)
			close(self->fd[s][i]);
	close(self->nl.fd);
	close(self->g.nl.fd);
}

/* does SAN @on know station @i of SAN @s by its name? */
static bool found(struct pw_genl *g, int on, int s, int i)
{
	char name[16];

	name_of(name, sizeof(name), s, i);
	return !pw_resolve(g, on, 0, name) &&
	       pw_attr_u32(pw_genl_attr((void *)g->nl.buf, PACKETWAY_A_NODE),
			   PACKETWAY_A_NODE_ADDR) == ADDR(s + 1, i);
}

TEST_F(internet, names)
{
	int on, s, i, bad = 0, asked = 0;
	double end;

	for (on = 1; on <= SANS; on++) {
		for (s = 0; s < SANS; s++) {
			end = pw_now() + SOON / 1000;
			for (i = self->stations[s] - 1; i >= 0; i--) {
				while (!found(&self->g, on, s, i) && pw_now() < end)
					usleep(20000);
				asked++;
				if (!found(&self->g, on, s, i) && !bad++)
					TH_LOG("station %d of SAN %d is unknown on SAN %d", i,
					       s + 1, on);
			}
		}
	}
	EXPECT_EQ(0, bad);
	TH_LOG("%d stations, each name asked for on %d SANs: %d", asked / SANS, SANS, asked);
}

/* the member of group @i on SAN @s; other groups have other members */
static int member(const int *stations, int s, int i)
{
	return (i * 7 + s * 31 + 1) % stations[s];
}

/* send to group @i from SAN @s: how many of the members get it? @ms for each */
static int reached(const int *stations, int fd[SANS][PORTS], int s, int i, uint32_t mark, int ms)
{
	/* not a member, so that all of them are receivers */
	int from = (member(stations, s, i) + 1) % stations[s];
	int k, l, got = 0;

	l = pw_msg(tx, GROUP(i), ADDR(s + 1, from), PT_TEST, 1, 5, &mark, sizeof(mark));
	if (send(fd[s][from], tx, l, 0) != l)
		return -1;
	for (k = 0; k < SANS; k++)
		got += pw_recv(fd[k][member(stations, k, i)], rx, sizeof(rx), NULL, ms) == l &&
		       !memcmp(rx + 16, &mark, sizeof(mark));
	return got;
}

TEST_F(internet, groups)
{
	int groups = pw_count(100, 30), s, i, k, m, lost = 0;
	uint32_t mark = 0;
	double end;

	for (i = 0; i < groups; i++)
		for (k = 0; k < SANS; k++) {
			m = member(self->stations, k, i);
			ASSERT_EQ(0, pw_packet_join(self->fd[k][m], self->idx[k][m],
						    PACKET_MR_MULTICAST, GROUP(i), false));
		}
	/* until the tables of the last groups have crossed */
	end = pw_now() + SOON / 1000;
	for (s = 0; s < SANS; s++)
		for (i = groups - 1; i >= 0; i--)
			while (reached(self->stations, self->fd, s, i, mark++, 300) != SANS &&
			       pw_now() < end)
				;
	for (k = 0; k < SANS; k++)
		for (i = 0; i < self->stations[k]; i++)
			while (pw_recv(self->fd[k][i], rx, sizeof(rx), NULL, 0) >= 0)
				;
	usleep(300000);
	for (k = 0; k < SANS; k++)
		for (i = 0; i < self->stations[k]; i++)
			while (pw_recv(self->fd[k][i], rx, sizeof(rx), NULL, 0) >= 0)
				;
	/* now each once */
	for (s = 0; s < SANS; s++)
		for (i = 0; i < groups; i++)
			if (reached(self->stations, self->fd, s, i, mark++, SOON) != SANS &&
			    !lost++)
				TH_LOG("group %d from SAN %d", i, s + 1);
	EXPECT_EQ(0, lost);
	TH_LOG("%d groups, %d messages, each for %d members", groups, SANS * groups, SANS);
	for (k = 0; k < SANS; k++)
		for (i = 0; i < self->stations[k]; i++)
			EXPECT_EQ(-1, pw_recv(self->fd[k][i], rx, sizeof(rx), NULL, 0)) {
				TH_LOG("station %d of SAN %d has another one", i, k + 1);
			}
}

TEST_HARNESS_MAIN
