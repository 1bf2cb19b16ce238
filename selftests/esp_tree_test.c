// SPDX-License-Identifier: GPL-2.0
/*
 * ESP and the rings on the same tree of SANs: sums by plain messages, by RCHLD and RCOLLECT, and
 * by commands with scope tree; complaints with and without COMPARE on the path. Counted are the
 * packets on the trunks and at the root, with and without loss. Lines that begin with "csv" are
 * for tools/experiments/esp_tree.sh, which draws them.
 *
 *   SAN 1 (root) = trunks = SANs 2, 3 - routers - SANs 4, 5 and 6, 7; eight stations on each
 */
#include "pwtest.h"
#include "pwrelay.h"
#include "pwreduce.h"
#include "pwesp.h"
#include "pwsan.h"
#include "pwharness.h"

#define SANS	7
#define PER	8
#define ALL	(SANS * PER)
#define SUBTREE	(3 * PER)	/* stations behind a trunk */
#define ADDR(san, port) ((uint32_t)(san) * 256 + (port) + 1)
#define PLAIN	0xfd		/* opcode of a message that no node executes */
#define ID(i)	(0x1000000 + (i))

enum method { BY_PLAIN, BY_ESP, BY_ESP4, BY_RINGS, METHODS };

static const char *const method_name[METHODS] = { "plain", "esp", "esp4", "rings" };

static struct pw_relay relay;
static volatile int percent;		/* of packets that are lost; fences never are */
static volatile long packets[2];	/* on each trunk, fences apart */
static uint8_t tx[2048], rx[2048];
static int raw[ALL];
static struct ring_if ring[ALL];
static uint64_t value[ALL];
static int cut;			/* SAN whose stations send nothing; 0: none */
static int sink;		/* station that all send to: the root, or another one */

static int san_of(int i)
{
	return 1 + i / PER;
}

/* is it among the first @per stations of its SAN, and sends? */
static bool sends(int i, int per)
{
	return i != sink && i % PER < per && san_of(i) != cut;
}

static uint32_t addr_of(int i)
{
	return ADDR(san_of(i), i % PER);
}

/* the EEP message begins behind 32 bytes of the trunk, its data 16 bytes later */
static bool lose(int end, uint8_t *p, int len)
{
	static uint64_t seed = 88172645463325252ULL;
	int pt;

	if (p[2] != PW_RELAY_FRAME || len < 52)
		return false;
	pt = pw_get(p + 38, 2);
	if (pt != PW_PT_REDUCE && (pt != PW_PT_ESP || p[49] == FENCE))
		return false;
	packets[end / 2]++;
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (int)((seed >> 33) % 100) < percent;
}

static int add_trunk(struct pw_genl *g, int k)
{
	return pw_relay_trunk(g, k, 1, 2 + k);
}

FIXTURE(tree) {
	int ns;
	struct pw_nl nl;
	struct pw_genl g;
};

FIXTURE_SETUP(tree)
{
	/* a computation on a busy machine may take longer than the 10 s of the default */
	const struct pw_attr esp[] = { { PACKETWAY_A_ESP_CAPACITY, PACKETWAY_ESP_CAPACITY_MAX },
				       { PACKETWAY_A_ESP_LIFETIME, 120000 } };
	cpu_set_t one;
	char name[16];
	int i, s;

	/* a fence overtakes nothing: what two CPUs send through the loopback may change its order */
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	ASSERT_EQ(0, unshare(CLONE_NEWNET));
	self->ns = pw_ns_self();
	ASSERT_EQ(0, pw_nl_open(&self->nl, self->ns));
	ASSERT_EQ(0, pw_genl_open(&self->g, self->ns));
	ASSERT_EQ(0, pw_genl_ask(&self->g, PACKETWAY_CMD_ESP_SET, NLM_F_ACK, PACKETWAY_A_ESP,
				 esp, 2));
	ASSERT_EQ(0, pw_link_up(&self->nl, "lo"));
	percent = 0;
	relay = (struct pw_relay) { .drops = lose };
	ASSERT_EQ(0, pw_relay_start(&relay, 4));
	for (i = 0; i < ALL; i++) {
		snprintf(name, sizeof(name), "s%d-%d", san_of(i), i % PER);
		ASSERT_EQ(0, pw_station_add(&self->nl, name, san_of(i), i % PER, self->ns));
		ASSERT_EQ(0, pw_link_up(&self->nl, name));
		raw[i] = pw_packet_open(self->ns, SOCK_RAW, ETH_P_PACKETWAY,
					pw_link_index(&self->nl, name));
		ASSERT_GE(raw[i], 0);
		ASSERT_EQ(0, ring_open(&ring[i], pw_link_index(&self->nl, name)));
	}
	for (s = 0; s < 2; s++)
		ASSERT_EQ(0, add_trunk(&self->g, s));
	for (s = 4; s <= SANS; s++) {
		snprintf(name, sizeof(name), "r%d", s);
		ASSERT_EQ(0, pw_router_add(&self->g, name, (struct pw_half_req){ s / 2, 8 + s, -1 },
					   (struct pw_half_req){ s, 15, -1 }));
	}
	for (s = 1; s <= SANS; s++)
		for (i = 1; i <= SANS; i++)
			if (i != s)
				ASSERT_EQ(0, pw_wait_route(&self->g, s, ADDR(i, 0)));
}

FIXTURE_TEARDOWN(tree)
{
	int i;

	pw_relay_stop(&relay);
	for (i = 0; i < ALL; i++) {
		close(raw[i]);
		ring_close(&ring[i]);
	}
	close(self->nl.fd);
	close(self->g.nl.fd);
	close(self->ns);
}

static bool send_to_sink(int i, struct insn in)
{
	int len = esp_msg(tx, addr_of(sink), addr_of(i), &in);

	return send(raw[i], tx, len, 0) == len;
}

/* what arrives at the sink until all fences have */
struct arrived {
	long n;			/* packets for the program */
	long first;		/* 1: the value of the first RCOLLECT is as wanted, 0: it is not; -1: none */
	uint64_t sum;		/* of plain messages */
	uint32_t half[8];	/* the half-routers that RCHLD passed last */
	int halves;
};

/* the first @per stations of each SAN, all but the sink: this instruction, then a fence */
static bool from_all(int per, int copies, struct insn (*make)(int i), uint64_t want,
		     struct arrived *a)
{
	const struct insn fence = { 0, FENCE, 0, 0, {} };
	int i, k, op, fences = 0;
	struct insn got;
	struct pw_hdr h;

	*a = (struct arrived) { .first = -1 };
	for (k = 0; k < copies; k++)
		for (i = 0; i < ALL; i++)
			if (sends(i, per) && !send_to_sink(i, make(i)))
				return false;
	for (i = 0; i < ALL; i++) {
		if (!sends(i, per))
			continue;
		if (!send_to_sink(i, fence))
			return false;
		fences++;
	}
	while (fences) {
		op = esp_recv(raw[sink], rx, sizeof(rx), &got, &h, SOON);
		if (op == NOTHING)
			return false;
		if (op == FENCE) {
			fences--;
			continue;
		}
		if (op < 0)
			continue;
		a->n++;
		if (op == PLAIN)
			a->sum += got.f[0];
		if (op == PW_ESP_RCHLD && got.f[3] < ID(0) && a->halves < 8)
			a->half[a->halves++] = got.f[3];
		if (op == PW_ESP_RCOLLECT && got.ctl == EXEC && a->first < 0)
			a->first = got.f[4] == want;
	}
	return true;
}

static uint64_t sib, fwd, fwd2, comp, threshold;

static void new_tags(void)
{
	sib = pw_rnd();
	fwd = pw_rnd();
	fwd2 = pw_rnd();
	comp = pw_rnd();
}

static struct insn make_plain(int i)
{
	return (struct insn) { 0, PLAIN, 0, 1, { value[i] } };
}

static struct insn make_rchld(int i)
{
	return RCHLD(EXEC, sib, fwd, threshold, ID(i));
}

static struct insn make_rcollect(int i)
{
	return RCOLLECT(EXEC, PW_ESP_OP_ADD, sib, fwd2, threshold, comp, value[i], ID(i));
}

enum outcome { RIGHT, NONE, WRONG, OUTCOMES };

/* a sum over the first @per stations of each SAN; *@root: packets for the program at the root */
static enum outcome sum(struct __test_metadata *_metadata, enum method m, int per, long *root)
{
	struct packetway_aton_reduce c = {
		.size = sizeof(c), .op = PW_ATON_OP_ADD, .reg = 2, .sans = SANS,
		.timeout_ms = PACKETWAY_ATON_REDUCE_MS_MAX,
	};
	int i, copies = m == BY_ESP4 ? 4 : 1;
	uint64_t want = 0;
	struct arrived a;

	for (i = 0; i < ALL; i++) {
		value[i] = i && i % PER < per ? pw_rnd() >> 8 : 0;
		want += value[i];
		ring[i].op->operand[2] = value[i];
	}
	*root = 0;
	if (m == BY_RINGS) {
		if (pw_reduce(ring[0].fd, &c))
			return NONE;
		return c.out_v1 == want && c.out_counter == ALL ? RIGHT : WRONG;
	}
	if (m == BY_PLAIN) {
		ASSERT_TRUE(from_all(per, 1, make_plain, 0, &a));
		*root = a.n;
		if (a.n < SANS * per - 1)
			return NONE;
		return a.sum == want ? RIGHT : WRONG;
	}
	new_tags();
	threshold = copies;
	ASSERT_TRUE(from_all(per, copies, make_rchld, 0, &a));
	*root = a.n;
	ASSERT_TRUE(from_all(per, copies, make_rcollect, want, &a));
	*root += a.n;
	return a.first < 0 ? NONE : a.first ? RIGHT : WRONG;
}

static uint64_t counter(const char *name)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t v = pw_stat(fd, "s1-0", name);

	close(fd);
	return v;
}

/* without loss all methods are right; ESP and rings need as many packets for any number of stations */
TEST_F(tree, sums)
{
	static const int pers[] = { 1, 2, 4, 8 };
	long n = pw_count(5, 3), i, root, at_root;
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);
	uint64_t cycles, fences;
	struct arrived a;
	unsigned int p;
	int m;

	for (p = 0; p < 4; p++) {
		fences = counter("fabric_cycles");
		for (i = 0; i < n; i++)
			ASSERT_TRUE(from_all(pers[p], 0, NULL, 0, &a));
		fences = counter("fabric_cycles") - fences;
		for (m = 0; m < METHODS; m++) {
			packets[0] = packets[1] = at_root = 0;
			cycles = counter("fabric_cycles");
			for (i = 0; i < n; i++) {
				ASSERT_EQ(RIGHT, sum(_metadata, m, pers[p], &root)) {
					TH_LOG("%s", method_name[m]);
				}
				at_root += root;
			}
			/* of the fabric of SAN 1, without those of the fences */
			cycles = counter("fabric_cycles") - cycles;
			if (m != BY_RINGS)
				cycles -= (m == BY_PLAIN ? 1 : 2) * fences;
			printf("# csv sum,%s,%d,%.2f,%.2f,%.0f\n", method_name[m], SANS * pers[p],
			       packets[0] / (double)n, at_root / (double)n, cycles / (double)n);
			switch (m) {
			case BY_PLAIN:
				EXPECT_EQ(3 * pers[p] * n, packets[0]);
				break;
			case BY_ESP:
				EXPECT_EQ(2 * n, packets[0]);
				break;
			case BY_ESP4:
				EXPECT_GE(8 * n, packets[0]);
				break;
			default:
				/* a request that took long is repeated */
				EXPECT_LE(2 * n, packets[0]);
			}
		}
	}
	ASSERT_EQ(0, ring_run(ring[0].fd, &c));
	TH_LOG("a command takes %llu bit times of a ring", (unsigned long long)c.out_ring_bits);
}

/* with loss the rings are right; what the others do is shown */
TEST_F(tree, loss)
{
	static const int levels[] = { 0, 1, 2, 5, 10 };
	long n = pw_count(40, 10), i, root, got[OUTCOMES];
	unsigned int l;
	int m, s;

	/* the fabrics lose nothing, and need not be simulated */
	for (s = 1; s <= SANS; s++)
		ASSERT_EQ(0, pw_san_cmd(&self->g, PACKETWAY_CMD_SAN_SET, s, -1,
					PACKETWAY_ENGINE_NONE));
	for (l = 0; l < 5; l++)
		for (m = 0; m < METHODS; m++) {
			memset(got, 0, sizeof(got));
			percent = levels[l];
			packets[0] = packets[1] = 0;
			for (i = 0; i < n; i++)
				got[sum(_metadata, m, PER, &root)]++;
			percent = 0;
			printf("# csv loss,%s,%d,%ld,%ld,%ld,%ld,%.2f\n", method_name[m], levels[l],
			       n, got[RIGHT], got[NONE], got[WRONG],
			       (packets[0] + packets[1]) / 2.0 / n);
			if (m == BY_RINGS || !levels[l]) {
				EXPECT_EQ(n, got[RIGHT]);
			}
		}
}

/* a station that was counted sends no value: ESP has no result; on a ring it needs no program */
TEST_F(tree, silent_station)
{
	struct arrived a;
	long root;

	EXPECT_EQ(RIGHT, sum(_metadata, BY_RINGS, PER, &root));
	new_tags();
	threshold = 1;
	ASSERT_TRUE(from_all(PER, 1, make_rchld, 0, &a));
	/* the last one of each SAN is silent */
	ASSERT_TRUE(from_all(PER - 1, 1, make_rcollect, 0, &a));
	EXPECT_EQ(-1, a.first);
}

/* a router goes after its SAN was counted: ESP has no result, the rings say what is missing */
TEST_F(tree, router_goes)
{
	struct packetway_aton_reduce c = {
		.size = sizeof(c), .op = PW_ATON_OP_ADD, .reg = 2, .sans = SANS,
	};
	struct arrived a;

	new_tags();
	threshold = 1;
	ASSERT_TRUE(from_all(PER, 1, make_rchld, 0, &a));
	ASSERT_EQ(0, pw_router_del(&self->g, "r4"));
	cut = 4;
	ASSERT_TRUE(from_all(PER, 1, make_rcollect, 0, &a));
	EXPECT_EQ(-1, a.first);
	EXPECT_GT(0, pw_reduce(ring[0].fd, &c));
	EXPECT_EQ(1, c.out_missing);
	c.flags = PACKETWAY_ATON_REDUCE_PARTIAL;
	ASSERT_EQ(0, pw_reduce(ring[0].fd, &c));
	EXPECT_EQ(ALL - PER, c.out_counter);
	EXPECT_EQ(1, c.out_missing);
}

/* RCHLD that routers alone execute */
static struct insn make_routers_rchld(int i)
{
	return RCHLD(EXEC | PW_ESP_LOC_ROUTERS << 4, sib, fwd, 1, ID(i));
}

/* the half-routers of a SAN that stations are behind, 0 behind the last one */
static const uint32_t halves[SANS + 1][4] = {
	[1] = { ADDR(1, 10), ADDR(1, 11) },
	[2] = { ADDR(2, 10), ADDR(2, 12), ADDR(2, 13) },
	[3] = { ADDR(3, 11), ADDR(3, 14), ADDR(3, 15) },
	[4] = { ADDR(4, 15) }, [5] = { ADDR(5, 15) }, [6] = { ADDR(6, 15) }, [7] = { ADDR(7, 15) },
};

/*
 * A station of each SAN learns which half-routers stations are behind: each half-router passes
 * one RCHLD, which names it. Without ESP it gets a message of every station.
 */
TEST_F(tree, topology)
{
	static const int pers[] = { 1, 2, 4, 8 };
	long plain, esp;
	unsigned int p;
	struct arrived a;
	int s, i, k;

	for (p = 0; p < 4; p++) {
		plain = esp = 0;
		for (s = 1; s <= SANS; s++) {
			sink = (s - 1) * PER;
			ASSERT_TRUE(from_all(pers[p], 1, make_plain, 0, &a));
			plain += a.n;
			new_tags();
			ASSERT_TRUE(from_all(pers[p], 1, make_routers_rchld, 0, &a));
			esp += a.n;
			for (i = 0; i < 4 && halves[s][i]; i++) {
				for (k = 0; k < a.halves && a.half[k] != halves[s][i]; k++)
					;
				EXPECT_GT(a.halves, k) TH_LOG("SAN %d, half-router %d", s, i);
			}
			EXPECT_EQ(i, a.halves);
			/* the others are of stations on the same SAN */
			EXPECT_EQ(i + pers[p] - 1, a.n);
		}
		printf("# csv topology,plain,%d,%ld\n", SANS * pers[p], plain);
		printf("# csv topology,esp,%d,%ld\n", SANS * pers[p], esp);
		EXPECT_EQ(SANS * (SANS * pers[p] - 1), plain);
	}
	sink = 0;
}

static uint64_t tag;
static int spread;		/* packets that receivers miss differ by less than this */

static struct insn make_nack(int i)
{
	return COMPARE(EXEC, PW_ESP_REL_GT, tag, 1000 + (uint64_t)(i * 7919) % spread);
}

static struct insn make_plain_nack(int i)
{
	struct insn in = make_nack(i);

	in.ctl = 0;
	in.opcode = PLAIN;
	return in;
}

/* all receivers complain of a lost packet: one complaint on each trunk, and one at the source */
TEST_F(tree, complaints)
{
	static const int pers[] = { 1, 2, 4, 8 };
	struct arrived a;
	unsigned int p;
	int esp;

	for (p = 0; p < 4; p++)
		for (spread = 1; spread <= 1000; spread *= 1000)
			for (esp = 0; esp < 2; esp++) {
				tag = pw_rnd();
				packets[0] = packets[1] = 0;
				ASSERT_TRUE(from_all(pers[p], 1, esp ? make_nack : make_plain_nack,
						     0, &a));
				printf("# csv nack,%s%s,%d,%.1f,%ld\n", esp ? "esp" : "plain",
				       spread == 1 ? "" : "-differ", SANS * pers[p],
				       (packets[0] + packets[1]) / 2.0, a.n);
				if (!esp) {
					EXPECT_EQ(SANS * pers[p] - 1, a.n);
					EXPECT_EQ(6 * pers[p], packets[0] + packets[1]);
				} else if (spread == 1) {
					EXPECT_EQ(1, a.n);
					/* one may reach the root after that of the other subtree */
					EXPECT_EQ(2, packets[0] + packets[1]);
				} else {
					EXPECT_GE(SANS * pers[p] - 1, a.n);
				}
			}
}

/*
 * The value of @op over all nodes from the root to @dst, COLLECT with the nodes' own tag @what;
 * all ones if there was no answer. *@sent: packets of both ways.
 */
static uint64_t on_the_path(uint32_t dst, int op, int what, long *sent)
{
	uint64_t cnt = pw_rnd() >> 1, first = op == PW_ESP_OP_MIN ? ~0ULL : 0;
	struct insn in[2] = {
		COUNT(EXEC, cnt, 1),
		COLLECT(EXEC | REFLECT, op, PW_ESP_TAG_NODE | PW_ESP_TAG_NAMED | what, cnt, first),
	};
	struct insn got;
	struct pw_hdr h;
	int i, len, n;

	for (i = 0; i < 2; i++) {
		len = esp_msg(tx, dst, addr_of(0), &in[i]);
		if (send(raw[0], tx, len, 0) != len)
			return ~0ULL;
	}
	*sent += 3;
	do {
		n = esp_recv(raw[0], rx, sizeof(rx), &got, &h, SOON);
		if (n == NOTHING)
			return ~0ULL;
	} while (n != PW_ESP_COLLECT || h.sa != dst || got.f[1] != cnt);
	return got.ctl & PW_ESP_ERROR ? ~0ULL : got.f[2];
}

/* virtual time of an echo with @len bytes to @dst, on its way there */
static uint64_t echo_time(uint32_t dst, int len, long *sent)
{
	struct pw_hdr h = { .dt = dst, .sa = addr_of(0), .pt = PW_PT_ECHO, .dl = len / 8, .h = 1,
			    .te = PW_TE_ECHO_REQUEST };
	int n = 16;

	memset(tx, 0, sizeof(tx));
	pw_hdr_put(tx, &h);
	n += pw_put_opt(tx + n, PW_OH_TIMESTAMP, false, true, NULL, 8);
	n += len + 8;
	if (send(raw[0], tx, n, 0) != n)
		return ~0ULL;
	*sent += 2;
	do {
		n = pw_recv(raw[0], rx, sizeof(rx), NULL, SOON);
		if (n < 0)
			return ~0ULL;
		pw_hdr_get(rx, &h);
	} while (h.pt != PW_PT_ECHO || h.sa != dst);
	return pw_get(rx + 18, 8);
}

/* echoes of two lengths to a node at the end of each SAN: which SAN has the least rate? */
static int slowest_by_echo(const uint32_t *node, int n, long *sent)
{
	uint64_t t, before = 0, most = 0;
	int i, slowest = -1;

	for (i = 0; i < n; i++) {
		t = echo_time(node[i], 1200, sent) - echo_time(node[i], 240, sent);
		if (t - before > most && t > before) {
			most = t - before;
			slowest = i;
		}
		before = t;
	}
	return slowest;
}

/*
 * Where is the slowest SAN on the way to a leaf, and where do frames pile up? One packet collects
 * the least rate, or the longest queue, with the node that has it, from all nodes that it passes.
 */
TEST_F(tree, bottleneck)
{
	/* nodes at the end of SANs 1, 2 and 5 on that way */
	static const uint32_t end[] = { ADDR(1, 10), ADDR(2, 13), ADDR(5, 0) };
	static const int san[] = { 1, 2, 5 };
	const uint32_t far = ADDR(5, 15);
	uint64_t v;
	long esp, plain;
	int i, k, len;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, pw_gsan_set2_of(&self->g, san[i], PACKETWAY_A_SAN_RATE, 1000000000, 0,
					     0));
		for (k = i; k < 3; k++) {
			/* a half-router at the end executes as one of its SAN, too */
			esp = plain = 0;
			v = on_the_path(k < 2 ? end[k] : far, PW_ESP_OP_MIN, PW_ESP_TAG_RATE, &esp);
			EXPECT_EQ(1000000000, v >> 24);
			EXPECT_EQ(san[i], (v & 0xffffff) >> 8);
			EXPECT_EQ(i, slowest_by_echo(end, k + 1, &plain));
			if (i)
				continue;
			printf("# csv bottleneck,esp,%d,%ld\n", k + 1, esp);
			printf("# csv bottleneck,plain,%d,%ld\n", k + 1, plain);
			EXPECT_EQ(3, esp);
			EXPECT_EQ(4 * (k + 1), plain);
		}
		ASSERT_EQ(0, pw_gsan_set2_of(&self->g, san[i], PACKETWAY_A_SAN_RATE, 8000000000, 0,
					     0));
	}

	/* 40 frames wait at the half-router to SAN 5, which stands still */
	ASSERT_EQ(0, pw_gsan_set2_of(&self->g, 5, PACKETWAY_A_SAN_FROZEN, 1, 0, 0));
	for (i = 0; i < 40; i++) {
		len = pw_msg(tx, ADDR(5, 0), addr_of(0), 1500, 0, 1, NULL, 1000);
		ASSERT_EQ(len, send(raw[0], tx, len, 0));
	}
	for (i = 0; i < 1000; i++) {
		v = on_the_path(far, PW_ESP_OP_MAX, PW_ESP_TAG_QUEUE, &esp);
		if (v >> 24 >= 40)
			break;
		usleep(10000);
	}
	EXPECT_LE(40, v >> 24);
	EXPECT_EQ(far, v & 0xffffff);
	v = on_the_path(far, PW_ESP_OP_MAX, PW_ESP_TAG_BYTES, &esp);
	EXPECT_LE(40 * len, v >> 24);
	EXPECT_EQ(far, v & 0xffffff);
	ASSERT_EQ(0, pw_gsan_set2_of(&self->g, 5, PACKETWAY_A_SAN_FROZEN, 0, 0, 0));
	/* when all have left no byte is charged, at no node on the way */
	for (i = 0; i < 1000; i++) {
		v = on_the_path(far, PW_ESP_OP_MAX, PW_ESP_TAG_BYTES, &esp);
		if (!(v >> 24))
			break;
		usleep(10000);
	}
	EXPECT_EQ(0, v >> 24);
}

/* virtual time of SAN 1 in nanoseconds */
static uint64_t san_time(struct pw_genl *g)
{
	struct pw_attr id = { PACKETWAY_A_SAN_ID, 1 };

	if (pw_genl_ask(g, PACKETWAY_CMD_SAN_GET, 0, PACKETWAY_A_SAN, &id, 1))
		return ~0ULL;
	return pw_genl_number((void *)g->nl.buf, PACKETWAY_A_SAN, PACKETWAY_A_SAN_TIME);
}

/* the least MTU on a way, and the virtual time of a node */
TEST_F(tree, values)
{
	const uint32_t far = ADDR(5, 15);
	uint64_t v, before, after;
	long sent = 0;
	int i;

	ASSERT_EQ(0, pw_link_mtu(&self->nl, "s5-3", 1000));
	/* the half-router learns of it a little later */
	for (i = 0; i < 1000; i++) {
		v = on_the_path(far, PW_ESP_OP_MIN, PW_ESP_TAG_MTU, &sent);
		if (v >> 24 == 1000)
			break;
		usleep(10000);
	}
	EXPECT_EQ(1000, v >> 24);
	/* what is longer ends at this half of the router to SAN 5 */
	EXPECT_EQ(ADDR(2, 13), v & 0xffffff);
	/* not on the way to another SAN */
	v = on_the_path(ADDR(4, 15), PW_ESP_OP_MIN, PW_ESP_TAG_MTU, &sent);
	EXPECT_LT(1000, v >> 24);

	for (i = 0; i < 5; i++) {
		before = san_time(&self->g);
		v = on_the_path(addr_of(1), PW_ESP_OP_MAX, PW_ESP_TAG_TIME, &sent);
		after = san_time(&self->g);
		EXPECT_EQ(addr_of(1), v & 0xffffff);
		EXPECT_LT(before, v >> 24);
		EXPECT_GT(after, v >> 24);
	}
	/* an untimed SAN has none */
	ASSERT_EQ(0, pw_san_cmd(&self->g, PACKETWAY_CMD_SAN_SET, 1, -1, PACKETWAY_ENGINE_NONE));
	v = on_the_path(addr_of(1), PW_ESP_OP_MAX, PW_ESP_TAG_TIME, &sent);
	EXPECT_EQ(0, v >> 24);
}

TEST_HARNESS_MAIN
