// SPDX-License-Identifier: GPL-2.0
/*
 * ESP on stations: what is refused, every instruction between namespaces,
 * reflection and errors, stores that forget, and the computations that ESP is
 * for: suppression of duplicates, counting without implosion, exact reduction
 * with duplicated packets, bottleneck search, and floods.
 *
 * Stations s0, s1, ... (addresses 1, 2, ...), each in a namespace of its own.
 */
#include "pwgenl.h"
#include "pwesp.h"
#include "pwflood.h"
#include "pwsan.h"
#include "pwharness.h"

#define N 16

static uint8_t tx[2048], rx[2048];

static struct world {
	int n;
	int ns[N];
	struct pw_nl nl[N];
	struct pw_genl genl[N];
	char name[N][8];
	int idx[N];
	int raw[N];
} w;

/* -1 and a line on standard error if something goes wrong */
static int world_make(int n)
{
	int i, err = 0;

	for (i = 0; i < n && !err; i++) {
		snprintf(w.name[i], sizeof(w.name[i]), "s%d", i);
		w.ns[i] = pw_ns_new();
		err = w.ns[i] < 0 || pw_nl_open(&w.nl[i], w.ns[i]) ||
		      pw_genl_open(&w.genl[i], w.ns[i]) ||
		      pw_station_add(&w.nl[0], w.name[i], 0, i, w.ns[i]) ||
		      pw_link_up(&w.nl[i], w.name[i]);
		if (err)
			break;
		w.idx[i] = pw_link_index(&w.nl[i], w.name[i]);
		w.raw[i] = pw_packet_open(w.ns[i], SOCK_RAW, ETH_P_PACKETWAY, w.idx[i]);
		err = w.raw[i] < 0;
	}
	w.n = n;
	if (err)
		fprintf(stderr, "# station %d: %s %s\n", i, strerror(errno), w.nl[0].ext);
	return err ? -1 : 0;
}

static uint64_t stat_of(int i, const char *what)
{
	return pw_stat(w.raw[i], w.name[i], what);
}

/* --- packets ----------------------------------------------------------------- */

/* from station to station; 0 or -1 */
static int send_insn(int from, int to, struct insn in)
{
	int len = esp_msg(tx, to + 1, from + 1, &in);

	return send(w.raw[from], tx, len, 0) == len ? 0 : -1;
}

/* the next ESP packet at a station */
static int recv_insn(int at, struct insn *in, struct pw_hdr *h, int ms)
{
	return esp_recv(w.raw[at], rx, sizeof(rx), in, h, ms);
}

/* what is sent behind this arrives behind it: the end of what was sent before */
static int send_fence(int from, int to)
{
	return send_insn(from, to, (struct insn){ 0, FENCE, 0, 0, {} });
}

/* packets at a station until @fences fences; how many, the last one in @in */
static int drain(int at, int fences, struct insn *in)
{
	struct insn got;
	struct pw_hdr h;
	int n = 0, op;

	while (fences) {
		op = recv_insn(at, &got, &h, SOON);
		if (op < 0)
			return -1;
		if (op == FENCE) {
			fences--;
			continue;
		}
		n++;
		if (in)
			*in = got;
	}
	return n;
}

static int esp_set(int i, uint32_t capacity, uint32_t lifetime)
{
	struct pw_attr a[] = {
		{ PACKETWAY_A_ESP_IFINDEX, w.idx[i] },
		{ PACKETWAY_A_ESP_CAPACITY, capacity },
		{ PACKETWAY_A_ESP_LIFETIME, lifetime },
	};

	return pw_genl_ask(&w.genl[i], PACKETWAY_CMD_ESP_SET, NLM_F_ACK, PACKETWAY_A_ESP, a, 3);
}

static uint64_t esp_get(int i, int attr)
{
	struct pw_attr a = { PACKETWAY_A_ESP_IFINDEX, w.idx[i] };

	if (pw_genl_ask(&w.genl[i], PACKETWAY_CMD_ESP_GET, 0, PACKETWAY_A_ESP, &a, 1))
		return ~0ULL;
	return pw_genl_number((void *)w.genl[i].nl.buf, PACKETWAY_A_ESP, attr);
}

/* --- refused ------------------------------------------------------------------- */

static int ask1(int cmd, int type, uint32_t value)
{
	struct pw_attr a[] = { { type, value } };

	return pw_genl_ask(&w.genl[0], cmd, NLM_F_ACK, PACKETWAY_A_ESP, a, 1);
}

TEST(refused)
{
	struct pw_genl *g = &w.genl[0];

	ASSERT_EQ(0, world_make(1));
	EXPECT_EQ(-EINVAL, pw_genl_ask(g, PACKETWAY_CMD_ESP_SET, NLM_F_ACK, 0, NULL, 0));
	EXPECT_EQ(-ERANGE, ask1(PACKETWAY_CMD_ESP_SET, PACKETWAY_A_ESP_CAPACITY,
				PACKETWAY_ESP_CAPACITY_MAX + 1));
	EXPECT_EQ(-ERANGE, ask1(PACKETWAY_CMD_ESP_SET, PACKETWAY_A_ESP_CAPACITY, ~0U));
	EXPECT_EQ(-ERANGE, ask1(PACKETWAY_CMD_ESP_SET, PACKETWAY_A_ESP_LIFETIME,
				PACKETWAY_ESP_LIFETIME_MAX + 1));
	EXPECT_EQ(-EINVAL, ask1(PACKETWAY_CMD_ESP_SET, PACKETWAY_A_ESP_CAPACITY, 0));
	EXPECT_STREQ("A namespace's capacity and lifetime are not 0", g->nl.ext);
	EXPECT_EQ(-EINVAL, ask1(PACKETWAY_CMD_ESP_SET, PACKETWAY_A_ESP_USED, 0));
	EXPECT_STREQ("This attribute is reply only", g->nl.ext);
	EXPECT_EQ(-ERANGE, ask1(PACKETWAY_CMD_ESP_SET, PACKETWAY_A_ESP_IFINDEX, 0));
	EXPECT_EQ(-ENODEV, ask1(PACKETWAY_CMD_ESP_GET, PACKETWAY_A_ESP_IFINDEX, 1));
	EXPECT_STREQ("There is no such station in this namespace", g->nl.ext);
	EXPECT_EQ(-ENODEV, pw_genl_dump(g, PACKETWAY_CMD_ESP_BINDING_GET, PACKETWAY_A_ESP,
					PACKETWAY_A_ESP_IFINDEX, 1, NULL, NULL));
	EXPECT_EQ(1024, esp_get(0, PACKETWAY_A_ESP_CAPACITY));
	EXPECT_EQ(10000, esp_get(0, PACKETWAY_A_ESP_LIFETIME));
	EXPECT_EQ(1, esp_get(0, PACKETWAY_A_ESP_NODE));
}

static void has_tag(struct nlmsghdr *h, void *arg)
{
	if (pw_attr_in(pw_genl_attr(h, PACKETWAY_A_ESP), PACKETWAY_A_ESP_TAG))
		*(bool *)arg = true;
}

/* occupancy needs no privilege; tags and changes do */
TEST(tags_are_capabilities)
{
	struct pw_genl *g = &w.genl[0];
	bool tags = false;

	ASSERT_EQ(0, world_make(2));
	ASSERT_EQ(0, send_insn(1, 0, COUNT(EXEC, 77, BIG)));
	EXPECT_EQ(1, pw_stat_wait(w.raw[0], "s0", "esp_count_forward", 1));
	EXPECT_EQ(1, pw_genl_dump(g, PACKETWAY_CMD_ESP_BINDING_GET, 0, 0, -1, has_tag, &tags));
	EXPECT_TRUE(tags);
	ASSERT_EQ(0, setgid(65534));
	ASSERT_EQ(0, setuid(65534));
	tags = false;
	EXPECT_EQ(-EPERM, pw_genl_dump(g, PACKETWAY_CMD_ESP_BINDING_GET, 0, 0, -1, NULL, NULL));
	EXPECT_EQ(-EPERM, ask1(PACKETWAY_CMD_ESP_SET, PACKETWAY_A_ESP_CAPACITY, 7));
	EXPECT_EQ(1, pw_genl_dump(g, PACKETWAY_CMD_ESP_GET, 0, 0, -1, has_tag, &tags));
	EXPECT_FALSE(tags);
	EXPECT_EQ(1, esp_get(0, PACKETWAY_A_ESP_USED));
}

/* --- instructions ---------------------------------------------------------------- */

enum { FWD, DISC, ABRT, PASSED };

struct row {
	struct insn in;
	int verdict;
	int changed;		/* operand that arrives changed, -1: none */
	uint64_t value;		/* to this */
};

static const char * const opcode_name[] = { "unknown", "count", "compare", "collect", "rchld",
					    "rcollect" };
static const char * const verdict_name[] = { "forward", "discard", "abort" };

/* in order, on one store: state of one row is what the next one finds */
static const struct row rows[] = {
	{ { EXEC, PW_ESP_COUNT, 0, 2, { 10, 2 } }, FWD, -1, 0 },
	{ { EXEC, PW_ESP_COUNT, 0, 2, { 10, 2 } }, FWD, -1, 0 },
	{ { EXEC, PW_ESP_COUNT, 0, 2, { 10, 2 } }, DISC, -1, 0 },
	{ { EXEC, PW_ESP_COMPARE, PW_ESP_REL_LT, 2, { 20, 5 } }, FWD, -1, 0 },
	{ { EXEC, PW_ESP_COMPARE, PW_ESP_REL_LT, 2, { 20, 5 } }, DISC, -1, 0 },
	{ { EXEC, PW_ESP_COMPARE, PW_ESP_REL_LE, 2, { 20, 5 } }, FWD, -1, 0 },
	{ { EXEC, PW_ESP_COMPARE, PW_ESP_REL_EQ, 2, { 20, 6 } }, DISC, -1, 0 },
	{ { EXEC, PW_ESP_COMPARE, PW_ESP_REL_NE, 2, { 20, 6 } }, FWD, -1, 0 },
	{ { EXEC, PW_ESP_COMPARE, PW_ESP_REL_GE, 2, { 20, 7 } }, DISC, -1, 0 },
	{ { EXEC, PW_ESP_COMPARE, PW_ESP_REL_GT, 2, { 20, 5 } }, FWD, -1, 0 },
	/* no count: aborted, and valTag stays none */
	{ { EXEC, PW_ESP_COLLECT, PW_ESP_OP_ADD, 3, { 30, 31, 9 } }, ABRT, -1, 0 },
	{ { EXEC, PW_ESP_COUNT, 0, 2, { 31, BIG } }, FWD, -1, 0 },
	{ { EXEC, PW_ESP_COUNT, 0, 2, { 31, BIG } }, FWD, -1, 0 },
	{ { EXEC, PW_ESP_COLLECT, PW_ESP_OP_ADD, 3, { 30, 31, 9 } }, DISC, -1, 0 },
	{ { EXEC, PW_ESP_COLLECT, PW_ESP_OP_ADD, 3, { 30, 31, 33 } }, FWD, 2, 42 },
	{ { EXEC, PW_ESP_COUNT, 0, 2, { 41, BIG } }, FWD, -1, 0 },
	{ { EXEC, PW_ESP_COLLECT, PW_ESP_OP_XOR, 3, { 30, 41, 2 } }, FWD, 2, 40 },
	{ { EXEC, PW_ESP_COUNT, 0, 2, { 42, BIG } }, FWD, -1, 0 },
	{ { EXEC, PW_ESP_COLLECT, PW_ESP_OP_AND, 3, { 30, 42, 12 } }, FWD, 2, 8 },
	{ { EXEC, PW_ESP_COUNT, 0, 2, { 43, BIG } }, FWD, -1, 0 },
	{ { EXEC, PW_ESP_COLLECT, PW_ESP_OP_OR, 3, { 30, 43, 3 } }, FWD, 2, 11 },
	{ { EXEC, PW_ESP_COUNT, 0, 2, { 44, BIG } }, FWD, -1, 0 },
	{ { EXEC, PW_ESP_COLLECT, PW_ESP_OP_MAX, 3, { 30, 44, 5 } }, FWD, 2, 11 },
	{ { EXEC, PW_ESP_COUNT, 0, 2, { 45, BIG } }, FWD, -1, 0 },
	{ { EXEC, PW_ESP_COLLECT, PW_ESP_OP_MIN, 3, { 30, 45, 5 } }, FWD, 2, 5 },
	/* the node writes its id, the address of s1, into pktId */
	{ { EXEC, PW_ESP_RCOLLECT, PW_ESP_OP_ADD, 6, { 50, 52, 9, 53, 1, 7 } }, ABRT, -1, 0 },
	{ { EXEC, PW_ESP_RCHLD, 0, 4, { 50, 51, 2, 7 } }, FWD, 3, 2 },
	{ { EXEC, PW_ESP_RCHLD, 0, 4, { 50, 51, 2, 7 } }, FWD, 3, 2 },
	{ { EXEC, PW_ESP_RCHLD, 0, 4, { 50, 51, 2, 8 } }, DISC, -1, 0 },
	{ { EXEC, PW_ESP_RCOLLECT, PW_ESP_OP_ADD, 6, { 50, 52, 9, 53, 100, 7 } }, DISC, -1, 0 },
	{ { EXEC, PW_ESP_RCOLLECT, PW_ESP_OP_ADD, 6, { 50, 52, 9, 53, 100, 7 } }, DISC, -1, 0 },
	{ { EXEC, PW_ESP_RCOLLECT, PW_ESP_OP_ADD, 6, { 50, 52, 9, 53, 11, 8 } }, FWD, 4, 111 },
	{ { EXEC, PW_ESP_RCOLLECT, PW_ESP_OP_ADD, 6, { 50, 52, 9, 53, 11, 9 } }, ABRT, -1, 0 },
	/* malformed: operand list, operator, opcode, location */
	{ { EXEC, PW_ESP_COUNT, 0, 3, { 10, 2, 0 } }, ABRT, -1, 0 },
	{ { EXEC, PW_ESP_COUNT, 0, 1, { 10 } }, ABRT, -1, 0 },
	{ { EXEC, PW_ESP_COUNT, 1, 2, { 10, BIG } }, ABRT, -1, 0 },
	{ { EXEC, PW_ESP_COMPARE, 7, 2, { 20, 5 } }, ABRT, -1, 0 },
	{ { EXEC, 6, 0, 2, { 10, BIG } }, ABRT, -1, 0 },
	{ { EXEC, 0, 0, 2, { 10, BIG } }, ABRT, -1, 0 },
	{ { EXEC | 0x30, PW_ESP_COUNT, 0, 2, { 10, BIG } }, ABRT, -1, 0 },
	/* not for an end system, Error, no Execute */
	{ { EXEC | PW_ESP_LOC_ROUTERS << 4, PW_ESP_COUNT, 0, 2, { 60, 0 } }, PASSED, -1, 0 },
	{ { EXEC | PW_ESP_LOC_ENDS << 4, PW_ESP_COUNT, 0, 2, { 60, 0 } }, DISC, -1, 0 },
	{ { EXEC | PW_ESP_ERROR, PW_ESP_COUNT, 0, 2, { 60, 0 } }, PASSED, -1, 0 },
	{ { 0, PW_ESP_COUNT, 0, 2, { 60, 0 } }, PASSED, -1, 0 },
};

TEST(instructions)
{
	uint64_t want[6][3] = {};
	uint64_t passed = 0;
	struct insn got;
	struct pw_hdr h;
	char name[40];
	int i, j, op;

	ASSERT_EQ(0, world_make(2));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		struct insn in = r->in;

		ASSERT_EQ(0, send_insn(0, 1, in));
		ASSERT_EQ(0, send_fence(0, 1));
		op = recv_insn(1, &got, &h, SOON);
		if (r->verdict == PASSED) {
			passed++;
		} else {
			int known = in.opcode <= PW_ESP_RCOLLECT ? in.opcode : 0;

			if (r->in.ctl == (EXEC | 0x30))
				known = PW_ESP_COUNT;
			want[known][r->verdict]++;
		}
		passed++;	/* the fence */
		if (r->verdict == DISC) {
			EXPECT_EQ(FENCE, op) {
				TH_LOG("row %d was not discarded", i);
			}
			continue;
		}
		ASSERT_EQ(in.opcode, op) {
			TH_LOG("row %d did not arrive", i);
		}
		if (r->verdict == ABRT)
			in.ctl = (in.ctl | PW_ESP_ERROR) & ~EXEC;
		EXPECT_EQ(in.ctl, got.ctl) {
			TH_LOG("row %d: control", i);
		}
		if (r->changed >= 0)
			in.f[r->changed] = r->value;
		if (in.opcode == PW_ESP_RCOLLECT && r->verdict == FWD)
			in.f[5] = 2;
		for (j = 0; j < in.n && j < 6; j++)
			EXPECT_EQ(in.f[j], got.f[j]) {
				TH_LOG("row %d: operand %d", i, j);
			}
		EXPECT_EQ(2, h.dt);
		EXPECT_EQ(1, h.sa);
		EXPECT_EQ(FENCE, recv_insn(1, &got, &h, SOON));
	}
	for (i = 0; i < 6; i++)
		for (j = 0; j < 3; j++) {
			snprintf(name, sizeof(name), "esp_%s_%s", opcode_name[i], verdict_name[j]);
			EXPECT_EQ(want[i][j], stat_of(1, name)) {
				TH_LOG("%s", name);
			}
		}
	EXPECT_SOON(passed, stat_of(1, "esp_pass"));
	/* not an ESP packet at all */
	ASSERT_EQ(24 + 8, send(w.raw[0], tx, pw_msg(tx, 2, 1, PW_PT_ESP, 0, 0, "\1\1\0", 3), 0));
	EXPECT_EQ(1, pw_stat_wait(w.raw[1], "s1", "drop_bad_payload", 1));
	EXPECT_EQ(-1, recv_insn(1, &got, &h, NEVER));
}

/* --- reflection -------------------------------------------------------------------- */

TEST(reflect)
{
	struct insn got;
	struct pw_hdr h;

	ASSERT_EQ(0, world_make(2));
	/* executed on the way out, comes back without Reflect and without Execute */
	ASSERT_EQ(0, send_insn(0, 1, COUNT(REFLECT | EXEC, 5, BIG)));
	ASSERT_EQ(PW_ESP_COUNT, recv_insn(0, &got, &h, SOON));
	EXPECT_EQ(0, got.ctl);
	EXPECT_EQ(1, h.dt);
	EXPECT_EQ(2, h.sa);
	EXPECT_EQ(1, esp_get(1, PACKETWAY_A_ESP_USED));
	EXPECT_EQ(0, esp_get(0, PACKETWAY_A_ESP_USED));
	/* 0xA: only on the way back, that is at the source */
	ASSERT_EQ(0, send_insn(0, 1, COUNT(REFLECT | ON_REFLECT, 6, BIG)));
	ASSERT_EQ(PW_ESP_COUNT, recv_insn(0, &got, &h, SOON));
	EXPECT_EQ(EXEC | ON_REFLECT, got.ctl);
	EXPECT_EQ(1, esp_get(1, PACKETWAY_A_ESP_USED));
	EXPECT_EQ(1, esp_get(0, PACKETWAY_A_ESP_USED));
	/* both ways, with the second one discarding it */
	ASSERT_EQ(0, send_insn(0, 1, COUNT(REFLECT | ON_REFLECT | EXEC, 6, 1)));
	EXPECT_EQ(-1, recv_insn(0, &got, &h, NEVER));
	EXPECT_EQ(2, esp_get(1, PACKETWAY_A_ESP_USED));
	/* an error stops execution, not reflection: the source sees it */
	ASSERT_EQ(0, send_insn(0, 1, COLLECT(REFLECT | ON_REFLECT | EXEC, 1, 90, 91, 1)));
	ASSERT_EQ(PW_ESP_COLLECT, recv_insn(0, &got, &h, SOON));
	EXPECT_EQ(PW_ESP_ERROR, got.ctl & PW_ESP_ERROR);
	EXPECT_SOON(1, stat_of(1, "esp_collect_abort"));
	EXPECT_EQ(0, stat_of(0, "esp_collect_abort"));
	EXPECT_SOON(4, stat_of(1, "esp_reflected"));
	/* no answer to a group or an anonymous source */
	ASSERT_EQ(48, send(w.raw[0], tx, esp_msg(tx, PW_ADDR_BROADCAST, 1,
						 &COUNT(REFLECT | EXEC, 7, BIG)), 0));
	ASSERT_EQ(PW_ESP_COUNT, recv_insn(1, &got, &h, SOON));
	EXPECT_EQ(REFLECT | EXEC, got.ctl);
	ASSERT_EQ(48, send(w.raw[0], tx, esp_msg(tx, 2, 0, &COUNT(REFLECT | EXEC, 8, BIG)), 0));
	ASSERT_EQ(PW_ESP_COUNT, recv_insn(1, &got, &h, SOON));
	EXPECT_SOON(4, stat_of(1, "esp_reflected"));
	EXPECT_EQ(4, esp_get(1, PACKETWAY_A_ESP_USED));
	/* to itself */
	ASSERT_EQ(0, send_insn(0, 0, COUNT(REFLECT | EXEC, 9, BIG)));
	ASSERT_EQ(PW_ESP_COUNT, recv_insn(0, &got, &h, SOON));
	EXPECT_EQ(0, got.ctl);
}

/* a capture sees what came, marked as not for programs */
TEST(capture)
{
	struct sockaddr_ll from;
	struct insn got;
	struct pw_hdr h;
	int all;

	ASSERT_EQ(0, world_make(2));
	all = pw_packet_open(w.ns[1], SOCK_RAW, ETH_P_ALL, w.idx[1]);
	ASSERT_GE(all, 0);
	ASSERT_EQ(0, send_insn(0, 1, COUNT(EXEC, 5, 0)));
	ASSERT_EQ(48, pw_recv(all, rx, sizeof(rx), &from, SOON));
	EXPECT_EQ(PACKET_OTHERHOST, from.sll_pkttype);
	EXPECT_EQ(EXEC, rx[16]);
	ASSERT_EQ(0, send_insn(0, 1, COUNT(EXEC | REFLECT, 6, 1)));
	ASSERT_EQ(48, pw_recv(all, rx, sizeof(rx), &from, SOON));
	EXPECT_EQ(EXEC | REFLECT, rx[16]);
	ASSERT_EQ(PW_ESP_COUNT, recv_insn(0, &got, &h, SOON));
	EXPECT_EQ(0, got.ctl);
}

/* CRCs go with the data that the node leaves behind */
TEST(crc_follows)
{
	struct insn in = RCHLD(EXEC | REFLECT, 1, 2, BIG, 99);
	uint8_t data[64], oh[8], ot[16];
	int len = esp_data(data, &in), n;
	struct pw_hdr h = { .dt = 2, .sa = 1, .pt = PW_PT_ESP, .dl = len / 8, .h = 1 };

	ASSERT_EQ(0, world_make(2));
	/* header, OH that announces CRC32, data, OT with it, TAIL */
	pw_hdr_put(tx, &h);
	n = 16 + pw_put_opt(oh, PW_OH_CRC32, false, true, NULL, 0);
	memcpy(tx + 16, oh, n - 16);
	memcpy(tx + n, data, len);
	n += len;
	pw_put(ot, 4, pw_crc32c(data, len));
	n += pw_put_opt(tx + n, PW_OH_CRC32, false, true, ot, 4);
	memset(tx + n, 0, 8);
	n += 8;
	ASSERT_EQ(n, send(w.raw[0], tx, n, 0));
	ASSERT_EQ(n, pw_recv(w.raw[0], rx, sizeof(rx), NULL, SOON));
	EXPECT_EQ(0, rx[24]);
	EXPECT_EQ(2, pw_get(rx + 24 + 32, 8));		/* pktId is the node's */
	EXPECT_EQ(pw_crc32c(rx + 24, len), pw_get(rx + 24 + len + 2, 4));
	EXPECT_EQ(0, pw_get(rx + n - 8, 8));		/* no error indicated */
	EXPECT_EQ(0, stat_of(0, "eep_crc32_bad"));
	/* damaged: not executed, not reflected */
	tx[n - 30] ^= 1;
	ASSERT_EQ(n, send(w.raw[0], tx, n, 0));
	ASSERT_EQ(n, pw_recv(w.raw[1], rx, sizeof(rx), NULL, SOON));
	EXPECT_EQ(EXEC | REFLECT, rx[24]);
	EXPECT_SOON(1, stat_of(1, "esp_rchld_forward"));
}

/* --- stores ------------------------------------------------------------------------ */

struct tag_list {
	int n;
	uint64_t tag[2000], value[2000], left[2000];
};

static void list_tag(struct nlmsghdr *h, void *arg)
{
	struct tag_list *l = arg;

	if (l->n < 2000) {
		l->tag[l->n] = pw_genl_number(h, PACKETWAY_A_ESP, PACKETWAY_A_ESP_TAG);
		l->value[l->n] = pw_genl_number(h, PACKETWAY_A_ESP, PACKETWAY_A_ESP_VALUE);
		l->left[l->n] = pw_genl_number(h, PACKETWAY_A_ESP, PACKETWAY_A_ESP_LEFT);
	}
	l->n++;
}

TEST(full_and_forgetting)
{
	static struct tag_list l;
	double begin, end;
	struct insn got;
	struct pw_hdr h;
	int i;

	ASSERT_EQ(0, world_make(2));
	ASSERT_EQ(0, esp_set(1, 1000, 600000));
	for (i = 0; i < 1000; i++)
		ASSERT_EQ(0, send_insn(0, 1, COUNT(EXEC, 5000 + i, 0)));
	ASSERT_EQ(0, send_fence(0, 1));
	ASSERT_EQ(0, drain(1, 1, NULL));
	EXPECT_EQ(1000, esp_get(1, PACKETWAY_A_ESP_USED));
	/* a new tag is refused, one that is there is not */
	ASSERT_EQ(0, send_insn(0, 1, COUNT(EXEC | REFLECT, 1, BIG)));
	ASSERT_EQ(PW_ESP_COUNT, recv_insn(0, &got, &h, SOON));
	EXPECT_EQ(PW_ESP_ERROR, got.ctl);
	EXPECT_SOON(1, stat_of(1, "esp_store_full"));
	ASSERT_EQ(0, send_insn(0, 1, COUNT(EXEC | REFLECT, 5000, BIG)));
	ASSERT_EQ(PW_ESP_COUNT, recv_insn(0, &got, &h, SOON));
	EXPECT_EQ(0, got.ctl);
	/* all of them, oldest first, in many messages */
	EXPECT_EQ(1000, pw_genl_dump(&w.genl[1], PACKETWAY_CMD_ESP_BINDING_GET, 0, 0, -1,
				     list_tag, &l));
	for (i = 0; i < 1000; i++)
		if (l.tag[i] != 5000 + i || l.value[i] != (i ? 1 : 2) || l.left[i] > 600000 ||
		    l.left[i] < 400000)
			break;
	EXPECT_EQ(1000, i);
	/* smaller than what is in it, larger, and back to what the namespace has */
	EXPECT_EQ(-EBUSY, esp_set(1, 999, 600000));
	EXPECT_STREQ("The store holds too many bindings; wait until they expire", w.genl[1].nl.ext);
	EXPECT_EQ(1000, esp_get(1, PACKETWAY_A_ESP_CAPACITY));
	EXPECT_EQ(0, esp_set(1, PACKETWAY_ESP_CAPACITY_MAX, 600000));
	EXPECT_EQ(1000, esp_get(1, PACKETWAY_A_ESP_USED));
	ASSERT_EQ(0, send_insn(0, 1, COUNT(EXEC | REFLECT, 5999, 2)));
	EXPECT_EQ(PW_ESP_COUNT, recv_insn(0, &got, &h, SOON));
	EXPECT_EQ(0, esp_set(1, 0, 600000));
	EXPECT_EQ(1024, esp_get(1, PACKETWAY_A_ESP_CAPACITY));
	/* a shorter life holds for what is there */
	EXPECT_EQ(0, esp_set(1, 0, 1));
	usleep(2000);
	EXPECT_EQ(0, esp_get(1, PACKETWAY_A_ESP_USED));
	/* not before its time, and not long after: only the store counts */
	EXPECT_EQ(0, esp_set(1, 0, 300));
	begin = pw_now();
	ASSERT_EQ(0, send_insn(0, 1, COUNT(EXEC | REFLECT, 3, BIG)));
	ASSERT_EQ(PW_ESP_COUNT, recv_insn(0, &got, &h, SOON));
	end = pw_now();
	while (esp_get(1, PACKETWAY_A_ESP_USED) == 1)
		end = pw_now();
	EXPECT_GE(pw_now() - begin, 0.3);
	EXPECT_LE(end - begin, 20.0);
	/* down is empty; the settings stay */
	ASSERT_EQ(0, send_insn(0, 1, COUNT(EXEC | REFLECT, 3, BIG)));
	ASSERT_EQ(PW_ESP_COUNT, recv_insn(0, &got, &h, SOON));
	EXPECT_EQ(0, pw_link_down(&w.nl[1], "s1"));
	EXPECT_EQ(0, esp_get(1, PACKETWAY_A_ESP_USED));
	EXPECT_EQ(300, esp_get(1, PACKETWAY_A_ESP_LIFETIME));
	EXPECT_EQ(0, pw_link_up(&w.nl[1], "s1"));
	EXPECT_EQ(300, esp_get(1, PACKETWAY_A_ESP_LIFETIME));
}

/* --- what it is for ------------------------------------------------------------------ */

/* a lost packet brings one NACK to the source, from any receiver and however often */
TEST(nack_suppression)
{
	long rounds = pw_count(20, 3), seq;
	uint64_t tag = pw_rnd();
	struct insn got;
	int i, heard;

	ASSERT_EQ(0, world_make(8));
	for (seq = 1; seq <= rounds; seq++) {
		for (i = 1; i < 8; i++) {
			ASSERT_EQ(0, send_insn(i, 0, COMPARE(EXEC, PW_ESP_REL_LT, tag, seq)));
			/* impatient ones ask again for this one and the one before */
			ASSERT_EQ(0, send_insn(i, 0, COMPARE(EXEC, PW_ESP_REL_LT, tag, seq)));
			if (seq == 1)
				continue;
			ASSERT_EQ(0, send_insn(i, 0, COMPARE(EXEC, PW_ESP_REL_LT, tag, seq - 1)));
		}
		for (i = 1; i < 8; i++)
			ASSERT_EQ(0, send_fence(i, 0));
		heard = drain(0, 7, &got);
		EXPECT_EQ(1, heard) {
			TH_LOG("packet %ld: %d NACKs", seq, heard);
		}
		EXPECT_EQ(seq, got.f[1]);
	}
	EXPECT_SOON(rounds, stat_of(0, "esp_compare_forward"));
	EXPECT_SOON(rounds * 14 + (rounds - 1) * 7 - rounds, stat_of(0, "esp_compare_discard"));
}

/* how many are there? One packet arrives; the store has the count */
TEST(count_without_implosion)
{
	uint64_t sib = pw_rnd(), fwd = pw_rnd(), one = pw_rnd();
	struct insn got;
	struct pw_hdr h;
	int i, j;

	ASSERT_EQ(0, world_make(8));
	for (j = 0; j < 5; j++)		/* each says so again and again */
		for (i = 1; i < 8; i++)
			ASSERT_EQ(0, send_insn(i, 0, RCHLD(EXEC, sib, fwd, 1, 1000 + i)));
	for (i = 1; i < 8; i++)
		ASSERT_EQ(0, send_fence(i, 0));
	EXPECT_EQ(1, drain(0, 7, NULL));
	/* COUNT makes a count of 1, with which COLLECT reads at once */
	ASSERT_EQ(0, send_insn(1, 0, COUNT(EXEC | REFLECT, one, 1)));
	ASSERT_EQ(PW_ESP_COUNT, recv_insn(1, &got, &h, SOON));
	ASSERT_EQ(0, send_insn(1, 0, COLLECT(EXEC | REFLECT, PW_ESP_OP_ADD, sib, one, 0)));
	ASSERT_EQ(PW_ESP_COLLECT, recv_insn(1, &got, &h, SOON));
	EXPECT_EQ(0, got.ctl);
	EXPECT_EQ(7, got.f[2]);
}

/* the narrowest link on the paths of seven senders, found by one packet */
TEST(bottleneck)
{
	long rounds = pw_count(50, 5), r;
	struct insn got;
	int i;

	ASSERT_EQ(0, world_make(8));
	for (r = 0; r < rounds; r++) {
		uint64_t val = pw_rnd(), cnt = pw_rnd(), least = ~0ULL;

		/* all counts are there before the first value: senders overtake each other */
		for (i = 1; i < 8; i++) {
			ASSERT_EQ(0, send_insn(i, 0, COUNT(EXEC, cnt, 0)));
			ASSERT_EQ(0, send_fence(i, 0));
		}
		EXPECT_EQ(0, drain(0, 7, NULL));
		for (i = 1; i < 8; i++) {
			uint64_t width = pw_rnd() % 10000 + 1;

			least = width < least ? width : least;
			ASSERT_EQ(0, send_insn(i, 0, COLLECT(EXEC, PW_ESP_OP_MIN, val, cnt,
							     width)));
		}
		for (i = 1; i < 8; i++)
			ASSERT_EQ(0, send_fence(i, 0));
		EXPECT_EQ(1, drain(0, 7, &got));
		EXPECT_EQ(least, got.f[2]);
	}
}

/*
 * Exact sums up a tree with duplicated packets. Station i's parent is (i - 1) / 2;
 * what a station's node forwards, the station sends on to its parent.
 */
static int duplicates;

static int climb(int from, struct insn in)
{
	int to = (from - 1) / 2;

	in.ctl = EXEC;
	if (send_insn(from, to, in))
		return -1;
	if (pw_rnd() % 100 < 30) {
		duplicates++;
		return send_insn(from, to, in);
	}
	return 0;
}

/* what a node lets through goes on, until both children are heard out */
static int relay(int at, int fences, uint64_t own, struct insn *last, int *passed)
{
	struct insn got;
	struct pw_hdr h;
	int op;

	*passed = 0;
	while (fences) {
		op = recv_insn(at, &got, &h, SOON);
		if (op < 0)
			return -1;
		if (op == FENCE) {
			fences--;
			continue;
		}
		(*passed)++;
		if (got.opcode == PW_ESP_RCOLLECT)
			got.f[4] += own;	/* what the station itself has to add */
		*last = got;
		if (at && climb(at, got))
			return -1;
	}
	return 0;
}

TEST(exact_reduction)
{
	long rounds = pw_count(1000, 20), r, exact = 0;
	/* a computation must end within a lifetime, on a slow machine, too */
	struct pw_attr conf[] = {
		{ PACKETWAY_A_ESP_CAPACITY, PACKETWAY_ESP_CAPACITY_MAX },
		{ PACKETWAY_A_ESP_LIFETIME, 600000 },
	};
	struct insn last, in;
	int i, kids, passed, err;
	socklen_t len = sizeof(err);
	double begin;

	ASSERT_EQ(0, world_make(N));
	/* 1000 computations within one lifetime: by the namespace's default this time */
	for (i = 0; i < N; i++) {
		ASSERT_EQ(0, pw_genl_ask(&w.genl[i], PACKETWAY_CMD_ESP_SET, NLM_F_ACK,
					 PACKETWAY_A_ESP, conf, ARRAY_SIZE(conf)));
		ASSERT_EQ(1024, esp_get(i, PACKETWAY_A_ESP_CAPACITY));
		ASSERT_EQ(0, pw_link_down(&w.nl[i], w.name[i]));
		ASSERT_EQ(0, pw_link_up(&w.nl[i], w.name[i]));
		/* the socket remembers that the link was down */
		ASSERT_EQ(0, getsockopt(w.raw[i], SOL_SOCKET, SO_ERROR, &err, &len));
		ASSERT_EQ(PACKETWAY_ESP_CAPACITY_MAX, esp_get(i, PACKETWAY_A_ESP_CAPACITY));
	}
	begin = pw_now();
	for (r = 0; r < rounds; r++) {
		uint64_t sib = pw_rnd(), fwd = pw_rnd(), fwd2 = pw_rnd(), comp = pw_rnd(), sum = 0;
		uint64_t value[N];

		for (i = 0; i < N; i++)
			sum += value[i] = pw_rnd();
		/* from the leaves up: who is there? */
		for (i = N - 1; i >= 0; i--) {
			kids = (2 * i + 1 < N) + (2 * i + 2 < N);
			in = RCHLD(EXEC, sib, fwd, BIG, 0x1000 + i);
			err = kids ? relay(i, kids, 0, &last, &passed) :
				     climb(i, in);
			ASSERT_EQ(0, err);
			if (i)
				ASSERT_EQ(0, send_fence(i, (i - 1) / 2));
		}
		/* and once more with what each has */
		for (i = N - 1; i >= 0; i--) {
			kids = (2 * i + 1 < N) + (2 * i + 2 < N);
			in = RCOLLECT(EXEC, PW_ESP_OP_ADD, sib, fwd2, BIG, comp, value[i],
				      0x1000 + i);
			err = kids ? relay(i, kids, value[i], &last, &passed) :
				     climb(i, in);
			ASSERT_EQ(0, err);
			if (i)
				ASSERT_EQ(0, send_fence(i, (i - 1) / 2));
		}
		if (passed >= 1 && last.opcode == PW_ESP_RCOLLECT && last.ctl == EXEC &&
		    last.f[4] == sum)
			exact++;
	}
	TH_LOG("%ld of %ld sums exact, %d packets duplicated, %.1f s", exact, rounds, duplicates,
	       pw_now() - begin);
	EXPECT_EQ(rounds, exact);
	EXPECT_GT(duplicates, rounds);
}

/* --- floods ---------------------------------------------------------------------------- */

/* instructions with random tags to s0; one in four has something to object to */
static int flood_esp(uint8_t *b, int from, uint64_t x)
{
	static const int operands[] = { 0, 2, 2, 3, 4, 6 };
	struct insn in = { .ctl = EXEC };
	uint8_t data[64];
	int len, i;

	in.opcode = 1 + x % 5;
	in.op = in.opcode == 2 || in.opcode == 3 || in.opcode == 5 ? 1 + x / 8 % 6 : 0;
	in.n = operands[in.opcode];
	for (i = 0; i < in.n; i++)
		in.f[i] = x * (2 * i + 1) + i;
	if (!(x >> 20 & 3)) {
		in.ctl = x >> 24;
		in.opcode = x >> 32;
		in.op = x >> 40;
	}
	len = esp_data(data, &in);
	if (!(x >> 50 & 15))
		len = x >> 54 & 31;
	return pw_msg(b, 1, from + 2, PW_PT_ESP, 0, 0, data, len);
}

static void *watch_store(void *arg)
{
	uint64_t used, *most = arg;
	int i;

	/* it is never over its capacity */
	for (i = 0; i < 50; i++) {
		used = esp_get(0, PACKETWAY_A_ESP_USED);
		*most = used > *most ? used : *most;
		usleep(20000);
	}
	return NULL;
}

static void empty_sockets(void)
{
	int i;

	for (i = 1; i <= FLOOD_SENDERS; i++)
		while (recv(w.raw[i], rx, sizeof(rx), MSG_DONTWAIT) >= 0)
			;
}

/* two stations that have nothing to do with it; how many of their calls came back */
static void *bystander(void *arg)
{
	struct insn got;
	struct pw_hdr h;
	uint8_t b[128];
	long *calls = arg, i;
	struct insn in;
	int len;

	for (i = 0; i < 20; i++) {
		in = COUNT(EXEC | REFLECT, 0x5000 + i, BIG);
		len = esp_msg(b, 11, 10, &in);
		if (send(w.raw[9], b, len, 0) != len)
			break;
		if (esp_recv(w.raw[9], b, sizeof(b), &got, &h, SOON) == PW_ESP_COUNT)
			(*calls)++;
	}
	return NULL;
}

TEST(flood)
{
	long total = pw_count(100000, 20000);
	uint64_t seen = 0, most = 0, aborted = 0, bad;
	int capacity = pw_slow_kernel() ? 50 : 777;
	struct flood f = { .build = flood_esp, .seed = 1 };
	pthread_t watcher, other;
	long before, calls = 0;
	struct pw_stats s;
	struct insn got;
	struct pw_hdr h;
	double begin;
	int i;

	f.each = total / 16;
	total = f.each * 16;
	ASSERT_EQ(0, world_make(11));
	ASSERT_EQ(0, pw_gsan_untimed(w.ns[0]));
	for (i = 0; i < FLOOD_SENDERS; i++)
		f.fd[i] = w.raw[i + 1];
	/* no program reads there; its own programs go on */
	close(w.raw[0]);
	w.raw[0] = pw_ns_socket(w.ns[0], AF_INET, SOCK_DGRAM, 0);
	ASSERT_EQ(0, esp_set(0, capacity, 500));
	begin = pw_now();
	ASSERT_EQ(0, flood_run(&f));
	empty_sockets();
	before = pw_meminfo("Slab");
	ASSERT_EQ(0, pthread_create(&watcher, NULL, watch_store, &most));
	ASSERT_EQ(0, pthread_create(&other, NULL, bystander, &calls));
	ASSERT_EQ(0, flood_run(&f));
	pthread_join(watcher, NULL);
	pthread_join(other, NULL);
	EXPECT_LE(most, capacity);
	EXPECT_GT(most, 0);
	EXPECT_EQ(20, calls);
	/* each of them was looked at */
	do {
		usleep(10000);
		ASSERT_EQ(0, pw_stats_read(w.raw[0], "s0", &s));
		bad = pw_stats_get(&s, "drop_bad_payload");
	} while (pw_stats_get(&s, "eep_rx_messages") + bad < total && pw_now() - begin < FLOOD_SECONDS);
	for (i = 0; i < s.n; i++) {
		if (strncmp(s.name[i], "esp_", 4) || !strcmp(s.name[i], "esp_store_full") ||
		    !strncmp(s.name[i], "esp_reflect", 11))
			continue;
		seen += s.v[i];
		if (strstr(s.name[i], "_abort"))
			aborted += s.v[i];
	}
	EXPECT_EQ(total, seen + bad);
	EXPECT_GT(pw_stats_get(&s, "esp_store_full"), 0);
	TH_LOG("%ld packets from 8 namespaces in %.1f s: %llu aborted, %llu of these at a full store",
	       total, pw_now() - begin, (unsigned long long)aborted,
	       (unsigned long long)pw_stats_get(&s, "esp_store_full"));
	/* then everything is forgotten and nothing was kept */
	usleep(600000);
	EXPECT_EQ(0, esp_get(0, PACKETWAY_A_ESP_USED));
	empty_sockets();
	EXPECT_EQ(0, slab_growth(before));
	ASSERT_EQ(0, send_insn(1, 0, COUNT(EXEC | REFLECT, 1, 1)));
	/* behind what came back of the flood */
	do {
		memset(&got, 0, sizeof(got));
		i = recv_insn(1, &got, &h, SOON);
	} while (i != NOTHING && !(got.opcode == PW_ESP_COUNT && got.f[0] == 1));
	EXPECT_EQ(1, got.f[0]);
}

TEST_HARNESS_MAIN
