// SPDX-License-Identifier: GPL-2.0
/*
 * ESP at half-routers, over three SANs in a row:
 *
 *	SAN 1 -- r12 -- SAN 2 -- r23 -- SAN 3
 *
 * Each of the four halves is a node with a store of its own: what passes is
 * executed by both halves of a router, on the way out and on the way back.
 * Location, errors, source routes, CRCs, messages to the halves themselves, what
 * can be seen and set of them, and exact reductions by the routers alone.
 */
#include "pwrouter.h"
#include "pwesp.h"
#include "pwharness.h"

#define PER_SAN 4
#define SANS 3
#define HALVES 4

#define ROUTERS (PW_ESP_LOC_ROUTERS << PW_ESP_LOC_SHIFT)
#define ENDS (PW_ESP_LOC_ENDS << PW_ESP_LOC_SHIFT)
#define ADDR(san, port) ((uint32_t)(san) * 256 + (port) + 1)
#define S(san, i) (((san) - 1) * PER_SAN + (i))
#define STAT(what) PACKETWAY_A_ESP_STAT_##what

static uint8_t tx[2048], rx[2048];

/* station S(san, i) is on port i; halves in the order of the route from SAN 1 to 3 */
FIXTURE(row) {
	int ns;
	struct pw_nl nl;
	struct pw_genl g;
	int raw[SANS * PER_SAN];
	uint32_t addr[SANS * PER_SAN];
	uint32_t half[HALVES];
};

static int esp_ask(struct pw_genl *g, int cmd, uint32_t node, uint32_t ifindex, uint32_t capacity)
{
	struct rtattr *nest;
	struct pw_req r;

	pw_genl_init(&r, g->family, cmd, cmd == PACKETWAY_CMD_ESP_GET ? 0 : NLM_F_ACK);
	nest = pw_genl_nest(&r, PACKETWAY_A_ESP);
	if (node)
		pw_req_u32(&r, PACKETWAY_A_ESP_NODE, node);
	if (ifindex)
		pw_req_u32(&r, PACKETWAY_A_ESP_IFINDEX, ifindex);
	if (capacity)
		pw_req_u32(&r, PACKETWAY_A_ESP_CAPACITY, capacity);
	pw_req_end(&r, nest);
	return pw_nl_talk(&g->nl, &r);
}

static struct rtattr *esp_info(struct pw_genl *g, uint32_t node)
{
	if (esp_ask(g, PACKETWAY_CMD_ESP_GET, node, 0, 0))
		return NULL;
	return pw_genl_attr((void *)g->nl.buf, PACKETWAY_A_ESP);
}

static uint64_t esp_stat(struct pw_genl *g, uint32_t node, int which)
{
	struct rtattr *a = pw_attr_in(pw_attr_in(esp_info(g, node), PACKETWAY_A_ESP_STATS), which);
	uint64_t v = ~0ULL;

	if (a)
		memcpy(&v, RTA_DATA(a), sizeof(v));
	return v;
}

FIXTURE_SETUP(row)
{
	int san, i, k;
	char name[16];

	self->ns = pw_ns_new();
	ASSERT_GE(self->ns, 0);
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_genl_open(&self->g, self->ns));
	ASSERT_EQ(0, esp_ask(&self->g, PACKETWAY_CMD_ESP_SET, 0, 0, PACKETWAY_ESP_CAPACITY_MAX));
	for (san = 1; san <= SANS; san++)
		for (i = 0; i < PER_SAN; i++) {
			k = S(san, i);
			snprintf(name, sizeof(name), "s%d-%d", san, i);
			ASSERT_EQ(0, pw_station_add(&self->nl, name, san, i, self->ns));
			ASSERT_EQ(0, pw_link_up(&self->nl, name));
			self->raw[k] = pw_packet_open(self->ns, SOCK_RAW, ETH_P_PACKETWAY,
						      pw_link_index(&self->nl, name));
			ASSERT_GE(self->raw[k], 0);
			self->addr[k] = ADDR(san, i);
		}
	ASSERT_EQ(0, pw_router_add(&self->g, "r12", (struct pw_half_req){ 1, 5, -1 },
				   (struct pw_half_req){ 2, 6, -1 }));
	ASSERT_EQ(0, pw_router_add(&self->g, "r23", (struct pw_half_req){ 2, 7, -1 },
				   (struct pw_half_req){ 3, 9, -1 }));
	self->half[0] = ADDR(1, 5);
	self->half[1] = ADDR(2, 6);
	self->half[2] = ADDR(2, 7);
	self->half[3] = ADDR(3, 9);
	ASSERT_EQ(0, pw_wait_route(&self->g, 1, ADDR(3, 0)));
	ASSERT_EQ(0, pw_wait_route(&self->g, 3, ADDR(1, 0)));
	ASSERT_EQ(0, pw_wait_route(&self->g, 2, ADDR(1, 0)));
	ASSERT_EQ(0, pw_wait_route(&self->g, 2, ADDR(3, 0)));
}

FIXTURE_TEARDOWN(row)
{
	int i;

	for (i = 0; i < SANS * PER_SAN; i++)
		close(self->raw[i]);
	close(self->nl.fd);
	close(self->g.nl.fd);
	close(self->ns);
}

static int send_to(int fd, uint32_t from, uint32_t to, struct insn in)
{
	int len = esp_msg(tx, to, from, &in);

	return send(fd, tx, len, 0) == len ? 0 : -1;
}

#define SEND(from, to, insn) \
	ASSERT_EQ(0, send_to(self->raw[from], self->addr[from], self->addr[to], insn))
#define RECV(at) esp_recv(self->raw[at], rx, sizeof(rx), &got, &h, SOON)
#define EXPECT_USED(a, b, c, d) do {							\
	uint32_t want[] = { a, b, c, d };						\
	int _i;										\
	for (_i = 0; _i < HALVES; _i++)							\
		EXPECT_EQ(want[_i], pw_attr_u32(esp_info(&self->g, self->half[_i]),	\
						PACKETWAY_A_ESP_USED)) {		\
			TH_LOG("bindings of half %d", _i);				\
		}									\
} while (0)

TEST_F(row, count)
{
	struct insn got;
	struct pw_hdr h;
	int i;

	/* the first three pass the first node, and then all others */
	for (i = 0; i < 5; i++)
		SEND(S(1, 0), S(3, 0), COUNT(EXEC, 77, 3));
	SEND(S(1, 0), S(3, 0), ((struct insn){ 0, FENCE, 0, 0, {} }));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(PW_ESP_COUNT, RECV(S(3, 0)));
	EXPECT_EQ(FENCE, RECV(S(3, 0)));
	EXPECT_SOON(3, esp_stat(&self->g, self->half[0], STAT(COUNT_FORWARD)));
	EXPECT_SOON(2, esp_stat(&self->g, self->half[0], STAT(COUNT_DISCARD)));
	for (i = 1; i < HALVES; i++) {
		EXPECT_SOON(3, esp_stat(&self->g, self->half[i], STAT(COUNT_FORWARD)));
		EXPECT_EQ(0, esp_stat(&self->g, self->half[i], STAT(COUNT_DISCARD)));
	}
	/* from SAN 2 the halves of r23 have counted three already */
	SEND(S(2, 0), S(3, 0), COUNT(EXEC, 77, 3));
	SEND(S(2, 0), S(3, 0), ((struct insn){ 0, FENCE, 0, 0, {} }));
	EXPECT_EQ(FENCE, RECV(S(3, 0)));
	EXPECT_SOON(1, esp_stat(&self->g, self->half[2], STAT(COUNT_DISCARD)));
	EXPECT_USED(1, 1, 1, 1);
}

TEST_F(row, location)
{
	struct insn got;
	struct pw_hdr h;

	/* routers only: the station itself would discard it */
	SEND(S(1, 0), S(2, 0), COUNT(EXEC | ROUTERS, 10, BIG));
	ASSERT_EQ(PW_ESP_COUNT, RECV(S(2, 0)));
	EXPECT_EQ(EXEC | ROUTERS, got.ctl);
	EXPECT_USED(1, 1, 0, 0);
	/* end systems only */
	SEND(S(1, 0), S(2, 0), COUNT(EXEC | ENDS, 11, 1));
	ASSERT_EQ(PW_ESP_COUNT, RECV(S(2, 0)));
	EXPECT_USED(1, 1, 0, 0);
	/* at no node */
	SEND(S(1, 0), S(2, 0), COUNT(0, 12, 0));
	ASSERT_EQ(PW_ESP_COUNT, RECV(S(2, 0)));
	SEND(S(1, 0), S(2, 0), COUNT(EXEC | PW_ESP_ERROR, 12, 0));
	ASSERT_EQ(PW_ESP_COUNT, RECV(S(2, 0)));
	EXPECT_USED(1, 1, 0, 0);
	/* both ways: each node counts two */
	SEND(S(1, 0), S(3, 0), COUNT(EXEC | ROUTERS | REFLECT | ON_REFLECT, 13, BIG));
	ASSERT_EQ(PW_ESP_COUNT, RECV(S(1, 0)));
	EXPECT_EQ(ADDR(3, 0), h.sa);
	EXPECT_USED(2, 2, 1, 1);
	EXPECT_SOON(3, esp_stat(&self->g, self->half[0], STAT(COUNT_FORWARD)));
	EXPECT_SOON(2, esp_stat(&self->g, self->half[3], STAT(COUNT_FORWARD)));
	/* on the way back only, and the first router there ends it */
	SEND(S(1, 0), S(3, 0), COUNT(ROUTERS | REFLECT | ON_REFLECT, 14, 0));
	EXPECT_EQ(NOTHING, esp_recv(self->raw[S(1, 0)], rx, sizeof(rx), &got, &h, NEVER));
	EXPECT_SOON(1, esp_stat(&self->g, self->half[3], STAT(COUNT_DISCARD)));
	EXPECT_USED(2, 2, 1, 2);
}

TEST_F(row, abort_goes_on)
{
	struct insn got;
	struct pw_hdr h;

	/* the first node cannot: no count there. No other node tries */
	SEND(S(1, 0), S(3, 0), COLLECT(EXEC | REFLECT | ON_REFLECT, PW_ESP_OP_ADD, 1, 2, 3));
	ASSERT_EQ(PW_ESP_COLLECT, RECV(S(1, 0)));
	EXPECT_EQ(PW_ESP_ERROR, got.ctl & PW_ESP_ERROR);
	EXPECT_SOON(1, esp_stat(&self->g, self->half[0], STAT(COLLECT_ABORT)));
	EXPECT_EQ(0, esp_stat(&self->g, self->half[1], STAT(COLLECT_ABORT)));
	EXPECT_USED(0, 0, 0, 0);
	/* malformed operands, unknown opcode */
	SEND(S(1, 0), S(2, 0), ((struct insn){ EXEC, PW_ESP_COUNT, 0, 1, { 1 } }));
	ASSERT_EQ(PW_ESP_COUNT, RECV(S(2, 0)));
	EXPECT_EQ(PW_ESP_ERROR, got.ctl);
	SEND(S(1, 0), S(2, 0), ((struct insn){ EXEC, 99, 0, 1, { 1 } }));
	ASSERT_EQ(99, RECV(S(2, 0)));
	EXPECT_SOON(1, esp_stat(&self->g, self->half[0], STAT(UNKNOWN_ABORT)));
	EXPECT_EQ(0, esp_stat(&self->g, self->half[1], STAT(UNKNOWN_ABORT)));
}

/* source routes, options, damage: as for stations */
TEST_F(row, frames)
{
	struct insn in = RCHLD(EXEC | ROUTERS, 1, 2, BIG, 99), got;
	uint8_t data[64], ot[16];
	int len = esp_data(data, &in), n;
	struct pw_hdr h = { .dt = ADDR(2, 0), .sa = ADDR(1, 0), .pt = PW_PT_ESP, .dl = len / 8,
			    .h = 1 };

	/* by L2RH: to port 5 of SAN 1, then to port 0 of SAN 2 */
	n = pw_put_l2rh(tx, (uint8_t []){ 2, 1, 1 }, 3);
	n += pw_put_l2rh(tx + n, (uint8_t []){ 3, 0, 0 }, 3);
	n += esp_msg(tx + n, ADDR(2, 0), ADDR(1, 0), &in);
	ASSERT_EQ(n, send(self->raw[S(1, 0)], tx, n, 0));
	ASSERT_EQ(PW_ESP_RCHLD, RECV(S(2, 0)));
	EXPECT_EQ(self->half[1], got.f[3]);
	EXPECT_USED(3, 3, 0, 0);
	/* a CRC goes with what the nodes write */
	h = (struct pw_hdr){ .dt = ADDR(2, 0), .sa = ADDR(1, 0), .pt = PW_PT_ESP, .dl = len / 8,
			     .h = 1 };
	pw_hdr_put(tx, &h);
	n = 16 + pw_put_opt(tx + 16, PW_OH_CRC32, false, true, NULL, 0);
	memcpy(tx + n, data, len);
	n += len;
	pw_put(ot, 4, pw_crc32c(data, len));
	n += pw_put_opt(tx + n, PW_OH_CRC32, false, true, ot, 4);
	memset(tx + n, 0, 8);
	n += 8;
	ASSERT_EQ(n, send(self->raw[S(1, 0)], tx, n, 0));
	ASSERT_EQ(n, pw_recv(self->raw[S(2, 0)], rx, sizeof(rx), NULL, SOON));
	EXPECT_EQ(self->half[1], pw_get(rx + 24 + 32, 8));
	EXPECT_EQ(pw_crc32c(rx + 24, len), pw_get(rx + 24 + len + 2, 4));
	EXPECT_EQ(0, pw_get(rx + n - 8, 8));
	EXPECT_SOON(2, esp_stat(&self->g, self->half[0], STAT(RCHLD_FORWARD)));
	/* a wrong CRC, and an error seen before: no node executes it */
	tx[n - 30] ^= 1;
	ASSERT_EQ(n, send(self->raw[S(1, 0)], tx, n, 0));
	ASSERT_EQ(n, pw_recv(self->raw[S(2, 0)], rx, sizeof(rx), NULL, SOON));
	EXPECT_EQ(0, memcmp(rx + 24, tx + 24, len));
	tx[n - 30] ^= 1;
	tx[n - 1] = 1;
	ASSERT_EQ(n, send(self->raw[S(1, 0)], tx, n, 0));
	ASSERT_EQ(n, pw_recv(self->raw[S(2, 0)], rx, sizeof(rx), NULL, SOON));
	EXPECT_EQ(99, pw_get(rx + 24 + 32, 8));
	EXPECT_SOON(2, esp_stat(&self->g, self->half[0], STAT(RCHLD_FORWARD)));
	/* cut off: passes, and the end system says so */
	n = pw_msg(tx, ADDR(2, 0), ADDR(1, 0), PW_PT_ESP, 0, 0, "\1\1\0", 3);
	ASSERT_EQ(n, send(self->raw[S(1, 0)], tx, n, 0));
	EXPECT_EQ(1, pw_stat_wait(self->raw[S(2, 0)], "s2-0", "drop_bad_payload", 1));
}

/* to a half-router itself: it executes and answers */
TEST_F(row, to_the_router)
{
	struct insn got;
	struct pw_hdr h;
	int i;

	for (i = 0; i < HALVES; i++) {
		ASSERT_EQ(0, send_to(self->raw[0], self->addr[0], self->half[i],
				     RCHLD(EXEC | REFLECT, 100 + i, 200 + i, BIG, 7)));
		ASSERT_EQ(PW_ESP_RCHLD, RECV(0));
		EXPECT_EQ(0, got.ctl);
		EXPECT_EQ(self->half[i], h.sa);
		EXPECT_EQ(self->half[i], got.f[3]);
	}
	EXPECT_USED(12, 9, 6, 3);
	/* not for end systems; without Reflect it ends there */
	ASSERT_EQ(0, send_to(self->raw[0], self->addr[0], self->half[0],
			     COUNT(EXEC | REFLECT | ENDS, 5, 0)));
	ASSERT_EQ(PW_ESP_COUNT, RECV(0));
	ASSERT_EQ(0, send_to(self->raw[0], self->addr[0], self->half[0], COUNT(EXEC, 6, BIG)));
	EXPECT_EQ(NOTHING, esp_recv(self->raw[0], rx, sizeof(rx), &got, &h, NEVER));
	EXPECT_USED(13, 9, 6, 3);
}

struct seen {
	int stations, halves, tags;
};

static void look(struct nlmsghdr *m, void *arg)
{
	struct rtattr *esp = pw_genl_attr(m, PACKETWAY_A_ESP);
	struct seen *s = arg;

	s->stations += !!pw_attr_in(esp, PACKETWAY_A_ESP_IFINDEX);
	s->halves += !!pw_attr_in(esp, PACKETWAY_A_ESP_ROUTER);
	s->tags += !!pw_attr_in(esp, PACKETWAY_A_ESP_TAG);
}

TEST_F(row, visible_and_settable)
{
	struct pw_genl *g = &self->g;
	struct seen s = {};
	struct insn got;
	struct pw_hdr h;
	struct rtattr *a;

	SEND(S(1, 0), S(2, 0), COUNT(EXEC, 77, BIG));
	ASSERT_EQ(PW_ESP_COUNT, RECV(S(2, 0)));
	a = pw_attr_in(esp_info(g, self->half[1]), PACKETWAY_A_ESP_ROUTER);
	ASSERT_NE(NULL, a);
	EXPECT_STREQ("r12", (char *)RTA_DATA(a));
	EXPECT_EQ(SANS * PER_SAN + HALVES,
		  pw_genl_dump(g, PACKETWAY_CMD_ESP_GET, 0, 0, -1, look, &s));
	EXPECT_EQ(SANS * PER_SAN, s.stations);
	EXPECT_EQ(HALVES, s.halves);
	EXPECT_EQ(0, s.tags);
	/* two halves and the station; one of them */
	EXPECT_EQ(3, pw_genl_dump(g, PACKETWAY_CMD_ESP_BINDING_GET, 0, 0, -1, look, &s));
	EXPECT_EQ(3, s.tags);
	EXPECT_EQ(1, pw_genl_dump(g, PACKETWAY_CMD_ESP_BINDING_GET, PACKETWAY_A_ESP,
				  PACKETWAY_A_ESP_NODE, self->half[0], look, &s));
	/* a small store of its own */
	EXPECT_EQ(0, esp_ask(g, PACKETWAY_CMD_ESP_SET, self->half[0], 0, 1));
	EXPECT_EQ(1, pw_attr_u32(esp_info(g, self->half[0]), PACKETWAY_A_ESP_CAPACITY));
	EXPECT_EQ(PACKETWAY_ESP_CAPACITY_MAX,
		  pw_attr_u32(esp_info(g, self->half[1]), PACKETWAY_A_ESP_CAPACITY));
	SEND(S(1, 0), S(2, 0), COUNT(EXEC, 78, BIG));
	ASSERT_EQ(PW_ESP_COUNT, RECV(S(2, 0)));
	EXPECT_EQ(PW_ESP_ERROR, got.ctl);
	/* who is not a half-router, and both at once */
	EXPECT_EQ(-ENODEV, esp_ask(g, PACKETWAY_CMD_ESP_GET, self->addr[0], 0, 0));
	EXPECT_STREQ("No half-router of this namespace has this address", g->nl.ext);
	EXPECT_EQ(-ERANGE, esp_ask(g, PACKETWAY_CMD_ESP_GET, 0x800000, 0, 0));
	EXPECT_EQ(-EINVAL, esp_ask(g, PACKETWAY_CMD_ESP_GET, self->half[0], 1, 0));
	EXPECT_STREQ("A station or a half-router, not both", g->nl.ext);
	/* a router that goes takes its stores along */
	EXPECT_EQ(0, pw_router_del(g, "r23"));
	EXPECT_EQ(-ENODEV, esp_ask(g, PACKETWAY_CMD_ESP_GET, self->half[2], 0, 0));
	/* occupancy needs no privilege; tags are not shown */
	ASSERT_EQ(0, setgid(65534));
	ASSERT_EQ(0, setuid(65534));
	s = (struct seen){};
	EXPECT_EQ(SANS * PER_SAN + 2,
		  pw_genl_dump(g, PACKETWAY_CMD_ESP_GET, 0, 0, -1, look, &s));
	EXPECT_EQ(0, s.tags);
	EXPECT_EQ(1, pw_attr_u32(esp_info(g, self->half[1]), PACKETWAY_A_ESP_USED));
	EXPECT_EQ(-EPERM, pw_genl_dump(g, PACKETWAY_CMD_ESP_BINDING_GET, 0, 0, -1, look, &s));
	EXPECT_EQ(-EPERM, esp_ask(g, PACKETWAY_CMD_ESP_SET, self->half[0], 0, 2));
}

/*
 * The values of all stations to one station of SAN 3. No station helps: routers and the
 * station's own node reduce. Three packets of ten are sent twice; what is late at
 * a router makes further duplicates above it.
 */
static int duplicates;

static int leaf_send(int fd, uint32_t from, uint32_t to, struct insn in)
{
	if (send_to(fd, from, to, in))
		return -1;
	if (pw_rnd() % 100 >= 30)
		return 0;
	duplicates++;
	return send_to(fd, from, to, in);
}

/* what reaches @fd until as many fences as there are senders; how many of @opcode */
static int until_fences(int fd, int fences, int opcode, struct insn *last, uint64_t want, int *wrong)
{
	struct insn got;
	struct pw_hdr h;
	int n = 0, op;

	while (fences) {
		op = esp_recv(fd, rx, sizeof(rx), &got, &h, SOON);
		if (op < 0)
			return -1;
		if (op == FENCE) {
			fences--;
			continue;
		}
		n += op == opcode;
		if (op == PW_ESP_RCOLLECT)
			*wrong += got.ctl != EXEC || got.f[4] != want;
		*last = got;
	}
	return n;
}

TEST_F(row, exact_reduction)
{
	long rounds = pw_count(pw_slow_kernel() ? 40 : 400, 20), r, exact = 0;
	int root = S(3, 0), all = SANS * PER_SAN, i, n, wrong;
	struct insn fence = { 0, FENCE, 0, 0, {} }, last;
	double begin = pw_now();

	for (r = 0; r < rounds; r++) {
		uint64_t sib = pw_rnd(), fwd = pw_rnd(), fwd2 = pw_rnd(), comp = pw_rnd(), sum = 0;
		uint64_t value[SANS * PER_SAN];

		for (i = 0; i < all; i++)
			sum += value[i] = i == root ? 0 : pw_rnd();
		wrong = 0;
		for (i = 0; i < all; i++) {
			if (i == root)
				continue;
			ASSERT_EQ(0, leaf_send(self->raw[i], self->addr[i], self->addr[root],
					       RCHLD(EXEC, sib, fwd, BIG, 0x1000000 + i)));
			SEND(i, root, fence);
		}
		ASSERT_LE(1, until_fences(self->raw[root], all - 1, PW_ESP_RCHLD, &last, 0, &wrong));
		for (i = 0; i < all; i++) {
			if (i == root)
				continue;
			ASSERT_EQ(0, leaf_send(self->raw[i], self->addr[i], self->addr[root],
					       RCOLLECT(EXEC, PW_ESP_OP_ADD, sib, fwd2, BIG, comp,
							value[i], 0x1000000 + i)));
			SEND(i, root, fence);
		}
		n = until_fences(self->raw[root], all - 1, PW_ESP_RCOLLECT, &last, sum, &wrong);
		exact += n >= 1 && !wrong;
	}
	TH_LOG("%ld of %ld sums exact over 3 SANs, %d packets duplicated, %.1f s", exact, rounds,
	       duplicates, pw_now() - begin);
	EXPECT_EQ(rounds, exact);
	EXPECT_GT(duplicates, rounds * 4);
	for (i = 0; i < HALVES; i++) {
		EXPECT_LE(rounds, esp_stat(&self->g, self->half[i], STAT(RCOLLECT_FORWARD)));
		EXPECT_EQ(0, esp_stat(&self->g, self->half[i], STAT(RCOLLECT_ABORT)));
	}
}

TEST_HARNESS_MAIN
