// SPDX-License-Identifier: GPL-2.0
/*
 * A router whose halves are on two hosts: two namespaces joined by a veth pair,
 * SAN 1 with station "a" in one, SAN 2 with "b" in the other, a trunk over UDP or
 * over the Ethernet device between them. Who is refused, what is dropped, and what
 * loss, reordering and duplication on the link do to it.
 *
 */
#include "pwtest.h"
#include "pwrouter.h"
#include "pwharness.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>

#define PT_TEST 1500
#define PORT 7777

static uint8_t tx[70000], rx[70000];
static const uint8_t key[32] = "a secret of thirty-two bytes....";
static const uint8_t other_key[32] = "another one, of thirty-two bytes";

#define ADDR(san, port) ((uint32_t)(san) * 256 + (port) + 1)

FIXTURE(trunk) {
	int ns[2];
	struct pw_nl nl[2];
	struct pw_genl g[2];
	int idx[2];
	int raw[2];
};

FIXTURE_VARIANT(trunk) {
	bool dev;
};

FIXTURE_VARIANT_ADD(trunk, udp) {
	.dev = false,
};

FIXTURE_VARIANT_ADD(trunk, dev) {
	.dev = true,
};

static const char * const name[2] = { "a", "b" };

static int addr_add(struct pw_nl *nl, int idx, uint32_t addr)
{
	struct pw_req r = {
		.n = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct ifaddrmsg)),
		       .nlmsg_type = RTM_NEWADDR,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE },
	};
	struct ifaddrmsg a = { .ifa_family = AF_INET, .ifa_prefixlen = 24, .ifa_index = idx };

	addr = htonl(addr);
	memcpy(&r.i, &a, sizeof(a));
	pw_req_put(&r, IFA_LOCAL, &addr, 4);
	return pw_nl_talk(nl, &r);
}

#define IP(who) (0x0a070001u + (who))

static int over_dev;	/* index of the device that trunk_add() uses, 0: UDP */
static int dev_index[2];

static int trunk_add(struct pw_genl *g, int who, const uint8_t *secret, bool insecure)
{
	struct pw_trunk_req t = { .name = "t", .san = who + 1, .port = 9,
				  .local = IP(who), .remote = IP(!who),
				  .local_port = PORT, .remote_port = PORT,
				  .dev = over_dev ? dev_index[who] : 0, .id = 77,
				  .key = secret, .insecure = insecure };

	return pw_trunk_add(g, &t);
}

#define TSTAT(who, what) pw_trunk_stat(&self->g[who], "t", PACKETWAY_A_TRUNK_STAT_##what)

/* until half @who knows the station on the other side, or not */
static bool reaches(struct pw_genl *g, int who, bool want, double seconds)
{
	double end = pw_now() + seconds;
	bool got;

	while ((got = !pw_resolve(g, who + 1, ADDR(!who + 1, 0), NULL)) != want && pw_now() < end)
		usleep(10000);
	return got;
}

FIXTURE_SETUP(trunk)
{
	int i;

	for (i = 0; i < 2; i++) {
		self->ns[i] = pw_ns_new();
		ASSERT_GE(self->ns[i], 0);
		ASSERT_EQ(0, pw_nl_open(&self->nl[i], self->ns[i]));
		ASSERT_EQ(0, pw_genl_open(&self->g[i], self->ns[i]));
	}
	ASSERT_EQ(0, pw_veth_add(&self->nl[0], self->ns[1]));
	over_dev = variant->dev;
	dev_index[0] = pw_link_index(&self->nl[0], "v0");
	dev_index[1] = pw_link_index(&self->nl[1], "v1");
	for (i = 0; i < 2; i++) {
		const char *v = i ? "v1" : "v0";

		ASSERT_EQ(0, addr_add(&self->nl[i], pw_link_index(&self->nl[i], v), IP(i)));
		ASSERT_EQ(0, pw_link_up(&self->nl[i], v));
		ASSERT_EQ(0, pw_station_add(&self->nl[i], name[i], i + 1, 0, self->ns[i]));
		ASSERT_EQ(0, pw_link_up(&self->nl[i], name[i]));
		self->idx[i] = pw_link_index(&self->nl[i], name[i]);
		self->raw[i] = pw_packet_open(self->ns[i], SOCK_RAW, ETH_P_PACKETWAY, self->idx[i]);
		ASSERT_GE(self->raw[i], 0);
	}
}

FIXTURE_TEARDOWN(trunk)
{
	int i;

	for (i = 0; i < 2; i++) {
		close(self->raw[i]);
		close(self->nl[i].fd);
		close(self->g[i].nl.fd);
		close(self->ns[i]);
	}
}

TEST_F_TIMEOUT(trunk, refusals, 3600)
{
	EXPECT_EQ(-EINVAL, trunk_add(&self->g[0], 0, key, true));
	if (variant->dev) {
		/* not there, no Ethernet, frames too short */
		dev_index[0] = 4711;
		EXPECT_EQ(-ENODEV, trunk_add(&self->g[0], 0, key, false));
		dev_index[0] = pw_link_index(&self->nl[0], "lo");
		EXPECT_EQ(-EOPNOTSUPP, trunk_add(&self->g[0], 0, key, false));
		dev_index[0] = self->idx[0];
		EXPECT_EQ(-EOPNOTSUPP, trunk_add(&self->g[0], 0, key, false));
		dev_index[0] = pw_link_index(&self->nl[0], "v0");
		ASSERT_EQ(0, pw_link_mtu(&self->nl[0], "v0", 100));
		EXPECT_EQ(-EMSGSIZE, trunk_add(&self->g[0], 0, key, false));
		ASSERT_EQ(0, pw_link_mtu(&self->nl[0], "v0", 1500));
	} else {
		/* no key: only for peers on the link, unless told otherwise */
		EXPECT_EQ(-EPERM, trunk_add(&self->g[0], 0, NULL, false));
		/* an address that is not ours */
		EXPECT_EQ(-EADDRNOTAVAIL, trunk_add(&self->g[1], 0, key, false));
	}
	EXPECT_EQ(0, trunk_add(&self->g[0], 0, key, false));
	EXPECT_EQ(-EEXIST, trunk_add(&self->g[0], 0, key, false));

	/* the other end has another key, then none */
	EXPECT_EQ(0, trunk_add(&self->g[1], 1, other_key, false));
	EXPECT_FALSE(reaches(&self->g[0], 0, true, 1));
	EXPECT_LT(0, (int)TSTAT(0, DROP_AUTH));
	EXPECT_LT(0, (int)TSTAT(1, DROP_AUTH));
	EXPECT_EQ(0, pw_router_del(&self->g[1], "t"));
	EXPECT_EQ(0, trunk_add(&self->g[1], 1, NULL, true));
	EXPECT_FALSE(reaches(&self->g[0], 0, true, 1));
	EXPECT_EQ(0, (int)TSTAT(0, HELLO_RX));
	EXPECT_EQ(0, pw_router_del(&self->g[1], "t"));
	/* now the right one */
	EXPECT_EQ(0, trunk_add(&self->g[1], 1, key, false));
	EXPECT_TRUE(reaches(&self->g[0], 0, true, 40));
	EXPECT_TRUE(reaches(&self->g[1], 1, true, 40));
}

TEST_F_TIMEOUT(trunk, frames, 3600)
{
	struct pw_hdr h;
	uint8_t data[1500];
	int i, l, front;

	for (i = 0; i < 1500; i++)
		data[i] = i * 11;
	ASSERT_EQ(0, trunk_add(&self->g[0], 0, key, false));
	ASSERT_EQ(0, trunk_add(&self->g[1], 1, key, false));
	ASSERT_TRUE(reaches(&self->g[0], 0, true, 40));
	ASSERT_TRUE(reaches(&self->g[1], 1, true, 40));

	/* by address, of all sizes; IP fragments what the link cannot take at once */
	for (i = 0; i <= (variant->dev ? 1424 : 1500); i += variant->dev ? 178 : 300) {
		l = pw_msg(tx, ADDR(2, 0), ADDR(1, 0), PT_TEST, 1, i / 100, data, i);
		ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
		ASSERT_EQ(l, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON));
		EXPECT_EQ(0, memcmp(tx, rx, l));
	}
	/* Ethernet does not: the source is told what fits, 1500 - 32 - 16 - 24 */
	if (variant->dev) {
		l = pw_msg(tx, ADDR(2, 0), ADDR(1, 0), PT_TEST, 1, 5, data, 1425);
		ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
		ASSERT_LT(0, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
		pw_hdr_get(rx, &h);
		EXPECT_EQ(PW_PT_ERR, h.pt);
		EXPECT_EQ(PW_TE_ERR_TOOBIG, h.te);
		EXPECT_EQ(1424 / 8, (int)pw_get(rx + 20, 4));
		/* with an option in front of it, even less */
		l = pw_msg(tx, ADDR(2, 0), ADDR(1, 0), PT_TEST, 0, 0, NULL, 0);
		tx[12] |= 0x80;
		l = 16 + pw_put_opt(tx + 16, 40, false, true, data, 30);
		pw_put(tx + 8, 4, 1424 / 8);
		memcpy(tx + l, data, 1424);
		memset(tx + l + 1424, 0, 8);
		l += 1424 + 8;
		ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
		ASSERT_LT(0, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
		pw_hdr_get(rx, &h);
		EXPECT_EQ(PW_TE_ERR_TOOBIG, h.te);
		EXPECT_EQ((1424 - 32) / 8, (int)pw_get(rx + 20, 4));
		/* likewise with an L2RH behind the one that the station consumes */
		front = pw_put_l2rh(tx, (uint8_t []) { 0, 2, 1 }, 3);
		front += pw_put_l2rh(tx + front, (uint8_t []) { 0, 0, 0 }, 3);
		for (i = 1424; i >= 1416; i -= 8) {
			l = front + pw_msg(tx + front, ADDR(2, 0), ADDR(1, 0), PT_TEST, 1, 5,
					   data, i);
			ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
			ASSERT_LT(0, pw_recv(self->raw[i == 1416], rx, sizeof(rx), NULL, SOON));
			pw_hdr_get(rx, &h);
			EXPECT_EQ(i == 1416 ? PT_TEST : PW_PT_ERR, h.pt);
			if (i > 1416)
				EXPECT_EQ(1416 / 8, (int)pw_get(rx + 20, 4));
		}
		EXPECT_EQ(-1, pw_recv(self->raw[1], rx, sizeof(rx), NULL, NEVER));
	}
	/* by source route: port 9 is switch 2, output 1 */
	front = pw_put_l2rh(tx, (uint8_t []) { 0, 2, 1 }, 3);
	front += pw_put_l2rh(tx + front, (uint8_t []) { 0, 0, 0 }, 3);
	l = front + pw_msg(tx + front, ADDR(2, 0), ADDR(1, 0), PT_TEST, 1, 5, data, 100);
	tx[l - 1] = 1;
	ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
	tx[l - 1] = 2;		/* one router was passed */
	ASSERT_EQ(l - front, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON));
	EXPECT_EQ(0, memcmp(tx + front, rx, l - front));
	/* errors find their way back */
	l = pw_msg(tx, ADDR(2, 5), ADDR(1, 0), PT_TEST, 1, 5, data, 10);
	ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
	ASSERT_LT(0, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	pw_hdr_get(rx, &h);
	EXPECT_EQ(PW_PT_ERR, h.pt);
	EXPECT_EQ(PW_TE_ERR_UNK, h.te);
	EXPECT_EQ(ADDR(2, 9), h.sa);
	/* echo from the far half and the far station */
	for (i = 0; i < 2; i++) {
		l = pw_msg(tx, i ? ADDR(2, 9) : ADDR(2, 0), ADDR(1, 0), PW_PT_ECHO,
			   PW_TE_ECHO_REQUEST, 5, data, 10);
		ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
		ASSERT_EQ(l, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	}
	/* a group whose listener is on the other host */
	ASSERT_EQ(0, pw_packet_join(self->raw[1], self->idx[1], PACKET_MR_MULTICAST, 0xe00007,
				    false));
	l = pw_msg(tx, 0xe00007, ADDR(1, 0), PT_TEST, 1, 5, "group", 5);
	for (i = 0; i < 300; i++) {
		ASSERT_EQ(l, send(self->raw[0], tx, l, 0));
		if (pw_recv(self->raw[1], rx, sizeof(rx), NULL, 20) == l)
			break;
	}
	EXPECT_GT(300, i);
	/* the other side goes: nothing is reachable through it */
	EXPECT_EQ(0, pw_router_del(&self->g[1], "t"));
	EXPECT_FALSE(reaches(&self->g[0], 0, false, 40));
	/* and comes back */
	EXPECT_EQ(0, trunk_add(&self->g[1], 1, key, false));
	EXPECT_TRUE(reaches(&self->g[0], 0, true, 40));
	/* a router goes with the device of its trunk */
	if (variant->dev) {
		EXPECT_EQ(0, pw_router_cmd(&self->g[0], PACKETWAY_CMD_ROUTER_GET, "t"));
		ASSERT_EQ(0, pw_link_del(&self->nl[0], "v0"));
		EXPECT_EQ(-ENOENT, pw_router_cmd(&self->g[0], PACKETWAY_CMD_ROUTER_GET, "t"));
		EXPECT_EQ(-ENOENT, pw_router_cmd(&self->g[1], PACKETWAY_CMD_ROUTER_GET, "t"));
	}
}

/* an attacker on the link sends in the name of the peer and replays packets */
TEST_F_TIMEOUT(trunk, injection, 3600)
{
	long n = pw_count(20000, 500), i, auth, replay = 0;
	struct sockaddr_in to = { .sin_family = AF_INET };
	static uint8_t pkt[4096], cap[4096];
	unsigned int seed = 4711;
	struct udphdr *u;
	struct iphdr *ip;
	int fd, tap, l, k;

	if (variant->dev)
		SKIP(return, "injection_dev does this");
	ASSERT_EQ(0, trunk_add(&self->g[0], 0, key, false));
	ASSERT_EQ(0, trunk_add(&self->g[1], 1, key, false));
	ASSERT_TRUE(reaches(&self->g[0], 0, true, 40));
	ASSERT_TRUE(reaches(&self->g[1], 1, true, 40));
	fd = pw_ns_socket(self->ns[1], AF_INET, SOCK_RAW, IPPROTO_RAW);
	ASSERT_GE(fd, 0);
	tap = pw_packet_open(self->ns[0], SOCK_DGRAM, ETH_P_IP, pw_link_index(&self->nl[0], "v0"));
	ASSERT_GE(tap, 0);
	to.sin_addr.s_addr = htonl(IP(0));

	/* a packet to be played back, and damaged */
	l = pw_msg(tx, ADDR(1, 0), ADDR(2, 0), PT_TEST, 1, 5, "once", 4);
	ASSERT_EQ(l, send(self->raw[1], tx, l, 0));
	ASSERT_EQ(l, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	do {
		l = pw_recv(tap, cap, sizeof(cap), NULL, SOON);
		ASSERT_LT(0, l);
		ip = (void *)cap;
		u = (void *)(ip + 1);
	} while (ip->protocol != IPPROTO_UDP || ntohs(u->dest) != PORT || cap[28 + 2] != 1 ||
		 l != 20 + 8 + 32 + 32 + 16);
	auth = TSTAT(0, DROP_AUTH);
	for (i = 0; i < n; i++) {
		memcpy(pkt, cap, l);
		ip = (void *)pkt;
		u = (void *)(ip + 1);
		u->check = 0;
		switch (i % 4) {
		case 0:		/* as it was */
			replay++;
			break;
		case 1:		/* a bit flipped */
			k = 28 + 8 + rand_r(&seed) % (l - 36);
			pkt[k] ^= 1 << rand_r(&seed) % 8;
			break;
		case 2:		/* another number */
			pw_put(pkt + 28 + 16, 8, 1000 + i);
			break;
		default:	/* rubbish */
			for (k = 28 + 4; k < l; k++)
				pkt[k] = rand_r(&seed);
			break;
		}
		ASSERT_EQ(l, sendto(fd, pkt, l, 0, (void *)&to, sizeof(to)));
		if (!(i % 64))
			usleep(1000);
	}
	usleep(300000);
	EXPECT_EQ(-1, pw_recv(self->raw[0], rx, sizeof(rx), NULL, NEVER));
	EXPECT_SOON(replay, (long)TSTAT(0, DROP_REPLAY));
	EXPECT_SOON(n - replay, (long)TSTAT(0, DROP_AUTH) - auth);
	TH_LOG("%ld packets injected, none delivered", n);
	/* the trunk itself took no harm */
	l = pw_msg(tx, ADDR(1, 0), ADDR(2, 0), PT_TEST, 1, 5, "again", 5);
	ASSERT_EQ(l, send(self->raw[1], tx, l, 0));
	EXPECT_EQ(l, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	/* another source port is not the peer */
	ip = (void *)cap;
	u = (void *)(ip + 1);
	u->source = htons(PORT + 1);
	u->check = 0;
	ASSERT_EQ(20 + 8 + 32 + 32 + 16, sendto(fd, cap, 20 + 8 + 32 + 32 + 16, 0, (void *)&to,
						sizeof(to)));
	usleep(100000);
	EXPECT_SOON(1, (int)TSTAT(0, DROP_PEER));
	close(fd);
	close(tap);
}

/* the same with frames of the trunk's device; also from a station that is not the peer */
TEST_F_TIMEOUT(trunk, injection_dev, 3600)
{
	long n = pw_count(20000, 500), i, auth, replay = 0;
	const int len = 14 + 32 + 32 + 16;
	static uint8_t pkt[4096], cap[4096];
	unsigned int seed = 815;
	int fd, tap, l, k;

	if (!variant->dev)
		SKIP(return, "injection does this");
	ASSERT_EQ(0, trunk_add(&self->g[0], 0, key, false));
	ASSERT_EQ(0, trunk_add(&self->g[1], 1, key, false));
	ASSERT_TRUE(reaches(&self->g[0], 0, true, 40));
	ASSERT_TRUE(reaches(&self->g[1], 1, true, 40));
	fd = pw_packet_open(self->ns[1], SOCK_RAW, 0, dev_index[1]);
	tap = pw_packet_open(self->ns[0], SOCK_RAW, ETH_P_PACKETWAY, dev_index[0]);
	ASSERT_GE(fd, 0);
	ASSERT_GE(tap, 0);
	l = pw_msg(tx, ADDR(1, 0), ADDR(2, 0), PT_TEST, 1, 5, "once", 4);
	ASSERT_EQ(l, send(self->raw[1], tx, l, 0));
	ASSERT_EQ(l, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	do {
		l = pw_recv(tap, cap, sizeof(cap), NULL, SOON);
		ASSERT_LT(0, l);
	} while (l != len || cap[14 + 2] != 1);
	auth = TSTAT(0, DROP_AUTH);
	for (i = 0; i < n; i++) {
		memcpy(pkt, cap, len);
		switch (i % 5) {
		case 0:		/* as it was */
			replay++;
			break;
		case 1:		/* a bit flipped behind the fixed part */
			k = 14 + 8 + rand_r(&seed) % (len - 22);
			pkt[k] ^= 1 << rand_r(&seed) % 8;
			break;
		case 2:		/* another number */
			pw_put(pkt + 14 + 16, 8, 1000 + i);
			break;
		case 3:		/* from another source */
			pkt[11] ^= 1;
			replay++;
			break;
		default:	/* rubbish */
			for (k = 14 + 8; k < len; k++)
				pkt[k] = rand_r(&seed);
			break;
		}
		ASSERT_EQ(len, send(fd, pkt, len, 0));
		if (!(i % 64))
			usleep(1000);
	}
	usleep(300000);
	EXPECT_EQ(-1, pw_recv(self->raw[0], rx, sizeof(rx), NULL, NEVER));
	EXPECT_SOON(replay, (long)TSTAT(0, DROP_REPLAY));
	EXPECT_SOON(n - replay, (long)TSTAT(0, DROP_AUTH) - auth);
	/* another trunk of the device, another version: not ours */
	pw_put(cap + 14 + 6, 2, 78);
	ASSERT_EQ(len, send(fd, cap, len, 0));
	pw_put(cap + 14 + 6, 2, 77);
	cap[14 + 1]++;
	ASSERT_EQ(len, send(fd, cap, len, 0));
	usleep(100000);
	EXPECT_SOON(1, (int)TSTAT(0, DROP_VERSION));
	EXPECT_EQ(0, (int)TSTAT(0, DROP_PEER));
	TH_LOG("%ld frames injected, none delivered", n);
	l = pw_msg(tx, ADDR(1, 0), ADDR(2, 0), PT_TEST, 1, 5, "again", 5);
	ASSERT_EQ(l, send(self->raw[1], tx, l, 0));
	EXPECT_EQ(l, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	close(fd);
	close(tap);
}

TEST_F_TIMEOUT(trunk, bad_link, 3600)
{
	long n = pw_count(4000, 200), i, got = 0, twice = 0, bad = 0, seq;
	static uint8_t seen[100000];
	int save = pw_ns_self(), tries, l;

	ASSERT_EQ(0, trunk_add(&self->g[0], 0, key, false));
	ASSERT_EQ(0, trunk_add(&self->g[1], 1, key, false));
	ASSERT_TRUE(reaches(&self->g[0], 0, true, 40));
	ASSERT_TRUE(reaches(&self->g[1], 1, true, 40));
	ASSERT_EQ(0, setns(self->ns[0], CLONE_NEWNET));
	l = system("tc qdisc add dev v0 root netem loss 5% delay 1ms reorder 25% 50% duplicate 5% limit 10000 2>/dev/null");
	ASSERT_EQ(0, setns(save, CLONE_NEWNET));
	if (l)
		SKIP(return, "no netem here");
	for (i = 0; i < n; i++) {
		uint8_t data[40] = {};

		pw_put(data, 8, i);
		memset(data + 8, i * 13, 32);
		l = pw_msg(tx, ADDR(2, 0), ADDR(1, 0), PT_TEST, 1, 0, data, 40);
		/* a queue on the path may be full for a moment */
		for (tries = 0; send(self->raw[0], tx, l, 0) != l; tries++) {
			ASSERT_EQ(ENOBUFS, errno);
			ASSERT_GT(10000, tries);
			usleep(2000);
		}
		if (i % 32 != 31 && i != n - 1)
			continue;
		/* a slow receiver would lose what the sender did not wait for */
		while ((l = pw_recv(self->raw[1], rx, sizeof(rx), NULL, i == n - 1 ? 1000 : 5)) >= 0) {
			seq = pw_get(rx + 16, 8);
			if (l != 64 || seq >= n || rx[16 + 39] != (uint8_t)(seq * 13)) {
				bad++;
				continue;
			}
			twice += seen[seq];
			seen[seq] = 1;
			got++;
		}
	}
	TH_LOG("%ld sent, %ld arrived, %lu sent twice by the link", n, got,
	       (unsigned long)TSTAT(1, DROP_REPLAY));
	EXPECT_EQ(0, twice);
	EXPECT_EQ(0, bad);
	EXPECT_LT(n * 85 / 100, got);
	EXPECT_LT(0, (int)TSTAT(1, DROP_REPLAY));
	/* everything that the trunk took has been delivered */
	EXPECT_LE(got, (long)TSTAT(1, RX));
}

TEST_HARNESS_MAIN
