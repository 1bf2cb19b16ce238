// SPDX-License-Identifier: GPL-2.0
/*
 * EEP on stations: who gets what, who consumes which prefix, what is refused and
 * how the source learns of it, priorities, byte order, CRCs, echo, sizes.
 * Three stations in three namespaces: "a" (address 1), "b" (2) and "c" (3).
 */
#include "pwsan.h"
#include "pwtest.h"
#include "pwharness.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <dirent.h>
#include <linux/bpf.h>

#define PT_TEST 1500	/* a packet type of ours */

static uint8_t tx[70000], rx[70000];

FIXTURE(eep) {
	int ns[3];		/* namespaces of a, b, c */
	struct pw_nl nl[3];
	int idx[3];
	int raw[3];		/* SOCK_RAW, ETH_P_PACKETWAY */
};

static const char * const name[3] = { "a", "b", "c" };

FIXTURE_SETUP(eep)
{
	int i;

	for (i = 0; i < 3; i++) {
		self->ns[i] = pw_ns_new();
		ASSERT_GE(self->ns[i], 0);
		ASSERT_EQ(0, pw_nl_open(&self->nl[i], self->ns[i]));
	}
	/* the SAN lives in a's namespace, the stations each in its own */
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, pw_station_add(&self->nl[0], name[i], 0, i, self->ns[i])) {
			TH_LOG("%s", self->nl[0].ext);
		}
		ASSERT_EQ(0, pw_link_up(&self->nl[i], name[i]));
		self->idx[i] = pw_link_index(&self->nl[i], name[i]);
		self->raw[i] = pw_packet_open(self->ns[i], SOCK_RAW, ETH_P_PACKETWAY, self->idx[i]);
		ASSERT_GE(self->raw[i], 0);
	}
}

FIXTURE_TEARDOWN(eep)
{
	int i;

	for (i = 0; i < 3; i++) {
		close(self->raw[i]);
		close(self->nl[i].fd);
		close(self->ns[i]);
	}
}

#define STAT(who, what) pw_stat(self->raw[who], name[who], what)

/* the first station where something waits; "none" is what one wants */
static const char *noisy(const int raw[3])
{
	int i;

	for (i = 0; i < 3; i++)
		if (pw_recv(raw[i], rx, sizeof(rx), NULL, NEVER) >= 0)
			return name[i];
	return "none";
}

#define EXPECT_QUIET() EXPECT_STREQ("none", noisy(self->raw))

#define SEND(who, len) EXPECT_EQ((len), send(self->raw[who], tx, (len), 0))

/* the next frame at @who is the @len bytes at @want */
#define EXPECT_FRAME(who, want, len)						\
	do {									\
		struct sockaddr_ll f_;						\
		int n_ = pw_recv(self->raw[who], rx, sizeof(rx), &f_, SOON);	\
		EXPECT_EQ((len), n_) {						\
			TH_LOG("at %s", name[who]);				\
		}								\
		EXPECT_EQ(0, memcmp(rx, want, len)) {				\
			TH_LOG("other bytes at %s", name[who]);			\
		}								\
		kind = f_.sll_pkttype;						\
		from = f_.sll_halen == 3 ? (uint32_t)pw_get(f_.sll_addr, 3) : ~0U; \
		(void)kind;							\
		(void)from;							\
	} while (0)

/* --- refused at the socket --------------------------------------------------- */

TEST_F(eep, over_the_mtu)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(PT_TEST),
				  .sll_ifindex = self->idx[0], .sll_halen = 3,
				  .sll_addr = { 0, 0, 2 } };
	int dgram = pw_packet_open(self->ns[0], SOCK_DGRAM, 0, self->idx[0]);

	ASSERT_GE(dgram, 0);
	EXPECT_EQ(-1, sendto(dgram, tx, 1501, 0, (void *)&to, sizeof(to)));
	EXPECT_EQ(EMSGSIZE, errno);
	pw_msg(tx, 2, 1, PT_TEST, 0, 0, NULL, 1520);
	EXPECT_EQ(-1, send(self->raw[0], tx, 1544, 0));
	EXPECT_EQ(EMSGSIZE, errno);
	/* the mark of whole messages is no packet type */
	to.sll_protocol = htons(ETH_P_PACKETWAY);
	EXPECT_EQ(-1, sendto(dgram, tx, 10, 0, (void *)&to, sizeof(to)));
	EXPECT_QUIET();
	EXPECT_EQ(0, pw_link_down(&self->nl[0], "a"));
	EXPECT_EQ(-1, send(self->raw[0], tx, 64, 0));
	EXPECT_EQ(ENETDOWN, errno);
	close(dgram);
}

/* --- refused by the model: every cause, its counter, its ERR ------------------- */

struct bad {
	const char *what;
	int at;			/* station that counts it */
	const char *counter;
	int te;			/* of the ERR to the source; 0: none */
	int len;		/* of the frame, 0: as built */
	void (*edit)(uint8_t *m);	/* message a -> b, 16 bytes of data, 40 in all */
};

static void e_dt0(uint8_t *m) { pw_put(m + 1, 3, 0); }
static void e_dtrsvd(uint8_t *m) { pw_put(m + 1, 3, 0xc00002); }
static void e_nostation(uint8_t *m) { pw_put(m + 1, 3, 9); }
static void e_othersan(uint8_t *m) { pw_put(m + 1, 3, 0x101); }
static void e_version(uint8_t *m) { m[0] |= 0x40; }
static void e_version3(uint8_t *m) { m[0] |= 0xc0; }
static void e_pl(uint8_t *m) { pw_put(m + 8, 4, 3 << 25); }
static void e_dl(uint8_t *m) { pw_put(m + 8, 4, 3); }
static void e_dlmax(uint8_t *m) { pw_put(m + 8, 4, 0x1ffffff); }
static void e_esize(uint8_t *m) { m[8] |= 0x50; }
static void e_sa(uint8_t *m) { m[13] |= 0x80; }
static void e_oh(uint8_t *m) { m[12] |= 0x80; m[16] = 0x40 | 33; m[17] = 255; }
static void e_ohlast(uint8_t *m) { m[12] |= 0x80; memset(m + 16, 0, 24); }
static void e_mand(uint8_t *m)
{
	m[12] |= 0x80;
	pw_put(m + 8, 4, 1);
	pw_put_opt(m + 16, 40, true, true, NULL, 0);
}

static void e_group(uint8_t *m) { pw_put(m + 1, 3, 0x7fffff); m[0] |= 0x40; }
static void e_err(uint8_t *m) { pw_put(m + 6, 2, PW_PT_ERR); m[0] |= 0x40; }
static void e_err_unk(uint8_t *m) { pw_put(m + 6, 2, PW_PT_ERR); e_nostation(m); }
static void e_anon(uint8_t *m) { pw_put(m + 13, 3, 0); e_nostation(m); }
static void e_ip(uint8_t *m) { pw_put(m + 6, 2, PW_PT_IP); m[16] = 0x90; }
static void e_none(uint8_t *m) { }

static const struct bad bad[] = {
	{ "destination 0", 0, "drop_bad_dst", PW_TE_ERR_UNK, 0, e_dt0 },
	{ "reserved destination", 0, "drop_bad_dst", PW_TE_ERR_UNK, 0, e_dtrsvd },
	{ "no such station", 0, "drop_unknown_dst", PW_TE_ERR_UNK, 0, e_nostation },
	{ "no route to another SAN", 0, "drop_no_route", PW_TE_ERR_UNK, 0, e_othersan },
	{ "version 1", 1, "drop_bad_version", PW_TE_ERR_GENERAL, 0, e_version },
	{ "version 3", 1, "drop_bad_version", PW_TE_ERR_GENERAL, 0, e_version3 },
	{ "padding without data", 1, "drop_bad_length", PW_TE_ERR_GENERAL, 24, e_pl },
	{ "data past the frame", 1, "drop_bad_length", PW_TE_ERR_GENERAL, 0, e_dl },
	{ "far past the frame", 1, "drop_bad_length", PW_TE_ERR_GENERAL, 0, e_dlmax },
	{ "no room for TAIL", 1, "drop_bad_length", PW_TE_ERR_GENERAL, 32, e_none },
	{ "frame ends in TAIL", 1, "drop_bad_length", PW_TE_ERR_GENERAL, 39, e_none },
	{ "frame ends in the header", 1, "drop_bad_length", 0, 15, e_none },
	{ "frame ends in the first word", 1, "drop_bad_prefix", 0, 5, e_none },
	{ "bytes behind TAIL", 1, "drop_bad_length", PW_TE_ERR_GENERAL, 41, e_none },
	{ "a word behind TAIL", 1, "drop_bad_length", PW_TE_ERR_GENERAL, 48, e_none },
	{ "element size 5", 1, "drop_bad_endian", PW_TE_ERR_GENERAL, 0, e_esize },
	{ "source is no address", 1, "drop_bad_src", 0, 0, e_sa },
	{ "optional header past the frame", 1, "drop_bad_option", PW_TE_ERR_GENERAL, 0, e_oh },
	{ "optional headers without a last", 1, "drop_bad_option", PW_TE_ERR_GENERAL, 0, e_ohlast },
	{ "unknown mandatory option", 1, "drop_unknown_mandatory", PW_TE_ERR_BADOPT, 0, e_mand },
	{ "neither IPv4, IPv6 nor ARP", 1, "drop_bad_payload", 0, 0, e_ip },
	{ "a broadcast is never answered", 1, "drop_bad_version", 0, 0, e_group },
	{ "an ERR is never answered", 1, "drop_bad_version", 0, 0, e_err },
	{ "an ERR to an unknown node is not answered", 0, "drop_unknown_dst", 0, 0, e_err_unk },
	{ "no source to answer", 0, "drop_unknown_dst", 0, 0, e_anon },
};

TEST_F(eep, bad_input)
{
	int i, n, built, len;
	struct pw_hdr h;
	uint64_t before, sent;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		const struct bad *b = &bad[i];

		memset(tx, 0, 128);
		built = pw_msg(tx, 2, 1, PT_TEST, 7, 5, "0123456789abcdef", 16);
		ASSERT_EQ(40, built);
		b->edit(tx);
		len = b->len ?: built;
		before = STAT(b->at, b->counter);
		sent = STAT(b->at, "err_sent");
		SEND(0, len);
		EXPECT_EQ(before + 1, pw_stat_wait(self->raw[b->at], name[b->at], b->counter,
						   before + 1)) {
			TH_LOG("%s: %s did not count", b->what, b->counter);
		}
		n = pw_recv(self->raw[0], rx, sizeof(rx), NULL, b->te ? SOON : NEVER);
		if (!b->te) {
			EXPECT_EQ(-1, n) {
				TH_LOG("%s: answered", b->what);
			}
			EXPECT_SOON(sent, STAT(b->at, "err_sent"));
			continue;
		}
		EXPECT_SOON(sent + 1, STAT(b->at, "err_sent"));
		EXPECT_LE(24, n) {
			TH_LOG("%s: no ERR", b->what);
			continue;
		}
		pw_hdr_get(rx, &h);
		EXPECT_EQ(PW_PT_ERR, h.pt);
		EXPECT_EQ(b->te, h.te) {
			TH_LOG("%s: TE %u", b->what, h.te);
		}
		EXPECT_EQ(1, h.dt);
		EXPECT_EQ(b->at + 1, h.sa);
		EXPECT_EQ(5, h.p);
		EXPECT_EQ(n, 16 + h.dl * 8 + 8);
		switch (h.te) {
		case PW_TE_ERR_UNK:
			/* ADDR record: the destination that is not known */
			EXPECT_EQ(8, h.dl * 8 - h.pl);
			EXPECT_EQ(PW_RRP_ADDR, rx[16]);
			EXPECT_EQ(PW_RRP_AT_SINGLE, rx[20]);
			EXPECT_EQ(pw_get(tx + 1, 3), pw_get(rx + 21, 3));
			break;
		case PW_TE_ERR_GENERAL:
		case PW_TE_ERR_BADOPT:
			EXPECT_EQ(len, h.dl * 8 - h.pl);
			EXPECT_EQ(0, memcmp(rx + 16, tx, len));
			break;
		}
	}
	EXPECT_QUIET();
}

TEST_F(eep, station_down)
{
	struct pw_hdr h;
	int n;

	ASSERT_EQ(0, pw_link_down(&self->nl[1], "b"));
	n = pw_msg(tx, 2, 1, PT_TEST, 0, 0, "x", 1);
	SEND(0, n);
	ASSERT_EQ(32, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	pw_hdr_get(rx, &h);
	EXPECT_EQ(PW_TE_ERR_UNK, h.te);
	EXPECT_SOON(1, STAT(0, "drop_unknown_dst"));
	ASSERT_EQ(0, pw_link_up(&self->nl[1], "b"));
	/* going down has closed the packet socket's view, coming up opens it */
	pw_recv(self->raw[1], rx, sizeof(rx), NULL, 0);
	SEND(0, n);
	EXPECT_EQ(n, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON));
}

TEST_F(eep, smaller_mtu)
{
	struct pw_hdr h;
	int n;

	ASSERT_EQ(0, pw_link_mtu(&self->nl[1], "b", 100));
	n = pw_msg(tx, 2, 1, PT_TEST, 0, 0, NULL, 101);
	SEND(0, n);
	ASSERT_EQ(32, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	pw_hdr_get(rx, &h);
	EXPECT_EQ(PW_PT_ERR, h.pt);
	EXPECT_EQ(PW_TE_ERR_TOOBIG, h.te);
	EXPECT_EQ(2, h.sa);
	EXPECT_EQ(8, h.dl * 8 - h.pl);
	EXPECT_EQ(PW_RRP_MTUR, rx[16]);
	EXPECT_EQ(100 / 8, pw_get(rx + 20, 4));
	EXPECT_SOON(1, STAT(1, "drop_rx_too_big"));
	n = pw_msg(tx, 2, 1, PT_TEST, 0, 0, NULL, 100);
	SEND(0, n);
	EXPECT_EQ(n, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON));
	/* all stations receive a broadcast, none answers it */
	n = pw_msg(tx, 0x7fffff, 1, PT_TEST, 0, 0, NULL, 200);
	SEND(0, n);
	EXPECT_EQ(n, pw_recv(self->raw[2], rx, sizeof(rx), NULL, SOON));
	EXPECT_EQ(2, pw_stat_wait(self->raw[1], "b", "drop_rx_too_big", 2));
	EXPECT_QUIET();
}

TEST_F(eep, err_rate_limit)
{
	uint64_t sent, limited;
	int i, n;
	double t = pw_now();

	n = pw_msg(tx, 9, 1, PT_TEST, 0, 0, "x", 1);
	for (i = 0; i < 400; i++)
		SEND(0, n);
	t = pw_now() - t;
	sent = STAT(0, "err_sent");
	limited = STAT(0, "err_rate_limited");
	EXPECT_SOON(400, STAT(0, "drop_unknown_dst"));
	EXPECT_EQ(400, sent + limited);
	EXPECT_GE(sent, 100);
	/* 100 a second; every second that began counts */
	EXPECT_LE(sent, 100 * (2 + (uint64_t)t)) {
		TH_LOG("%llu in %.2f s", (unsigned long long)sent, t);
	}
	for (i = 0; pw_recv(self->raw[0], rx, sizeof(rx), NULL, i ? NEVER : SOON) > 0; i++)
		;
	EXPECT_EQ(sent, i);
}

/* --- who gets it ----------------------------------------------------------------- */

TEST_F(eep, physical)
{
	uint32_t from;
	int n, kind;

	n = pw_msg(tx, 2, 1, PT_TEST, 42, 3, "to b", 4);
	SEND(0, n);
	EXPECT_FRAME(1, tx, n);
	EXPECT_EQ(PACKET_HOST, kind);
	EXPECT_EQ(1, from);
	/* to itself, by the SAN */
	n = pw_msg(tx, 1, 1, PT_TEST, 0, 0, "to me", 5);
	SEND(0, n);
	EXPECT_FRAME(0, tx, n);
	EXPECT_EQ(PACKET_HOST, kind);
	EXPECT_QUIET();
	EXPECT_SOON(2, STAT(0, "eep_tx_unicast"));
	EXPECT_SOON(1, STAT(1, "eep_rx_messages"));
}

TEST_F(eep, heyyou_and_broadcast)
{
	uint32_t from;
	int n, kind;

	n = pw_msg(tx, PW_ADDR_HEYYOU, 2, PT_TEST, 0, 0, "you", 3);
	SEND(1, n);
	EXPECT_FRAME(0, tx, n);
	EXPECT_EQ(PACKET_HOST, kind);
	EXPECT_FRAME(2, tx, n);
	n = pw_msg(tx, PW_ADDR_BROADCAST, 2, PT_TEST, 0, 0, "all", 3);
	SEND(1, n);
	EXPECT_FRAME(0, tx, n);
	EXPECT_EQ(PACKET_BROADCAST, kind);
	EXPECT_EQ(2, from);
	EXPECT_FRAME(2, tx, n);
	EXPECT_EQ(PACKET_BROADCAST, kind);
	EXPECT_QUIET();
	EXPECT_SOON(2, STAT(1, "eep_tx_group"));
}

TEST_F(eep, logical)
{
	uint32_t from;
	int n, kind;

	n = pw_msg(tx, 0xe00005, 1, PT_TEST, 0, 0, "five", 4);
	SEND(0, n);
	EXPECT_EQ(1, pw_stat_wait(self->raw[1], "b", "drop_not_for_us", 1));
	EXPECT_EQ(1, pw_stat_wait(self->raw[2], "c", "drop_not_for_us", 1));
	EXPECT_QUIET();
	ASSERT_EQ(0, pw_packet_join(self->raw[1], self->idx[1], PACKET_MR_MULTICAST, 0xe00004, false));
	ASSERT_EQ(0, pw_packet_join(self->raw[1], self->idx[1], PACKET_MR_MULTICAST, 0xe00005, false));
	ASSERT_EQ(0, pw_packet_join(self->raw[1], self->idx[1], PACKET_MR_MULTICAST, 0xefffff, false));
	SEND(0, n);
	EXPECT_FRAME(1, tx, n);
	EXPECT_EQ(PACKET_MULTICAST, kind);
	EXPECT_QUIET();
	/* all of them */
	ASSERT_EQ(0, pw_packet_join(self->raw[2], self->idx[2], PACKET_MR_ALLMULTI, 0, false));
	n = pw_msg(tx, 0xe12345, 1, PT_TEST, 0, 0, "any", 3);
	SEND(0, n);
	EXPECT_FRAME(2, tx, n);
	EXPECT_EQ(PACKET_MULTICAST, kind);
	EXPECT_QUIET();
	ASSERT_EQ(0, pw_packet_join(self->raw[2], self->idx[2], PACKET_MR_ALLMULTI, 0, true));
	ASSERT_EQ(0, pw_packet_join(self->raw[1], self->idx[1], PACKET_MR_MULTICAST, 0xe00005, true));
	n = pw_msg(tx, 0xe00005, 1, PT_TEST, 0, 0, "five", 4);
	SEND(0, n);
	EXPECT_QUIET();
	/* a wrong group address is no logical address and joins nothing */
	n = pw_msg(tx, 0xefffff, 1, PT_TEST, 0, 0, "last", 4);
	SEND(0, n);
	EXPECT_FRAME(1, tx, n);
}

/* a frame that the route brings to c although it names b */
TEST_F(eep, promiscuous)
{
	static const uint8_t to_c[3] = { 0, 0, 2 };
	uint32_t from;
	int l, n, kind;

	l = pw_put_l2rh(tx, to_c, 3);
	n = pw_msg(tx + l, 2, 1, PT_TEST, 0, 0, "lost", 4);
	SEND(0, l + n);
	EXPECT_EQ(1, pw_stat_wait(self->raw[2], "c", "drop_not_for_us", 1));
	EXPECT_QUIET();
	ASSERT_EQ(0, pw_packet_join(self->raw[2], self->idx[2], PACKET_MR_PROMISC, 0, false));
	SEND(0, l + n);
	EXPECT_FRAME(2, tx + l, n);
	EXPECT_EQ(PACKET_OTHERHOST, kind);
	EXPECT_SOON(1, STAT(2, "eep_rx_otherhost"));
	n = pw_msg(tx, 0xe00007, 1, PT_TEST, 0, 0, "group", 5);
	SEND(0, n);
	EXPECT_FRAME(2, tx, n);
	EXPECT_QUIET();
}

/* --- prefixes ---------------------------------------------------------------------- */

TEST_F(eep, own_l2rh)
{
	uint8_t route[63] = { 3, 0, 1 };
	uint32_t from;
	int l, n, kind;

	/* middle switch 3, output switch 0, output 1: port 1; consumed on the way in */
	l = pw_put_l2rh(tx, route, 3);
	n = pw_msg(tx + l, 2, 1, PT_TEST, 0, 9, "routed", 6);
	SEND(0, l + n);
	EXPECT_FRAME(1, tx + l, n);
	EXPECT_EQ(PACKET_HOST, kind);
	/* symbols before it go with it, symbols after it go to the host */
	l = pw_put_sym(tx, PW_SYM_NOP, NULL, 0);
	l += pw_put_sym(tx + l, PW_SYM_TRACE, (void *)"abcdefgh", 8);
	l += pw_put_l2rh(tx + l, route, 3);
	l += pw_put_sym(tx + l, 0xfffff, route, 63);
	n = pw_msg(tx + l, 2, 1, PT_TEST, 0, 9, "with symbols", 12);
	SEND(0, l + n);
	EXPECT_FRAME(1, tx + l, n);
	EXPECT_QUIET();
	EXPECT_EQ(0, STAT(0, "drop_bad_l2rh"));
}

TEST_F(eep, symbols)
{
	uint8_t p = 63, long_one[255] = {};
	uint32_t from;
	int l, n, kind;

	l = pw_put_sym(tx, PW_SYM_NOP, NULL, 0);
	l += pw_put_sym(tx + l, PW_SYM_PRIO, &p, 1);
	l += pw_put_sym(tx + l, 0x12345, long_one, 255);
	n = pw_msg(tx + l, 2, 1, PT_TEST, 0, 0, "data", 4);
	SEND(0, l + n);
	EXPECT_FRAME(1, tx + l, n);
	/* one that asks for a trace */
	EXPECT_EQ(0, STAT(1, "eep_traced"));
	l = pw_put_sym(tx, PW_SYM_TRACE, NULL, 0);
	n = pw_msg(tx + l, 2, 1, PT_TEST, 0, 0, "data", 4);
	SEND(0, l + n);
	EXPECT_FRAME(1, tx + l, n);
	EXPECT_SOON(1, STAT(1, "eep_traced"));
	/* to a group as well */
	n = pw_msg(tx + l, 0x7fffff, 1, PT_TEST, 0, 0, "data", 4);
	SEND(0, l + n);
	EXPECT_FRAME(1, tx + l, n);
	EXPECT_FRAME(2, tx + l, n);
	EXPECT_QUIET();
	/* a symbol that runs past the frame */
	l = pw_put_sym(tx, 1, long_one, 200);
	SEND(0, l - 8);
	EXPECT_EQ(1, pw_stat_wait(self->raw[0], "a", "drop_tx_malformed", 1));
	/* one that ends with it: no header */
	SEND(0, l);
	EXPECT_EQ(2, pw_stat_wait(self->raw[0], "a", "drop_tx_malformed", 2));
	EXPECT_QUIET();
}

TEST_F(eep, wrong_l2rh)
{
	static const struct { uint8_t len, r[4]; } wrong[] = {
		{ 1, { 1 } }, { 2, { 0, 1 } }, { 4, { 0, 0, 1, 0 } },
		{ 3, { 4, 0, 1 } }, { 3, { 0, 4, 1 } }, { 3, { 0, 0, 4 } }, { 3, { 0, 255, 1 } },
	};
	struct pw_hdr h;
	int i, l, n;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		l = pw_put_l2rh(tx, wrong[i].r, wrong[i].len);
		n = pw_msg(tx + l, 2, 1, PT_TEST, 0, 0, "data", 4);
		SEND(0, l + n);
		ASSERT_LE(32, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON)) {
			TH_LOG("route %d is not answered", i);
		}
		pw_hdr_get(rx, &h);
		EXPECT_EQ(PW_PT_ERR, h.pt);
		EXPECT_EQ(PW_TE_ERR_BADL2RH, h.te);
		EXPECT_EQ(0, memcmp(rx + 16, tx, l + n));
		EXPECT_SOON(i + 1, STAT(0, "drop_bad_l2rh"));
	}
	/* a route to an empty port */
	l = pw_put_l2rh(tx, (uint8_t []){ 0, 3, 3 }, 3);
	n = pw_msg(tx + l, 2, 1, PT_TEST, 0, 0, "data", 4);
	SEND(0, l + n);
	ASSERT_EQ(32, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	pw_hdr_get(rx, &h);
	EXPECT_EQ(PW_TE_ERR_UNK, h.te);
	/* a second L2RH reaches a host, which is no router */
	l = pw_put_l2rh(tx, (uint8_t []){ 0, 0, 1 }, 3);
	l += pw_put_l2rh(tx + l, (uint8_t []){ 0, 0, 1 }, 3);
	n = pw_msg(tx + l, 2, 1, PT_TEST, 0, 0, "data", 4);
	SEND(0, l + n);
	ASSERT_LE(32, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	pw_hdr_get(rx, &h);
	EXPECT_EQ(PW_TE_ERR_BADL2RH, h.te);
	EXPECT_EQ(2, h.sa);
	EXPECT_SOON(1, STAT(1, "drop_bad_prefix"));
	EXPECT_QUIET();
}

/* --- datagrams: the device makes header, padding and TAIL ---------------------------- */

TEST_F(eep, dgram)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(1030),
				  .sll_ifindex = self->idx[0], .sll_halen = 3,
				  .sll_addr = { 0, 0, 2 } }, from;
	int dgram = pw_packet_open(self->ns[0], SOCK_DGRAM, 0, self->idx[0]);
	int peer = pw_packet_open(self->ns[1], SOCK_DGRAM, ETH_P_PACKETWAY, self->idx[1]);
	static const int prios[][2] = { { 0, 0 }, { 1, 1 }, { 6, 6 }, { 63, 63 }, { 64, 63 },
					{ 1000, 63 } };
	uint8_t want[64];
	int i, n;

	ASSERT_GE(dgram, 0);
	ASSERT_GE(peer, 0);
	for (i = 0; i < ARRAY_SIZE(prios); i++) {
		ASSERT_EQ(0, setsockopt(dgram, SOL_SOCKET, SO_PRIORITY, &prios[i][0], sizeof(int)));
		ASSERT_EQ(5, sendto(dgram, "hello", 5, 0, (void *)&to, sizeof(to)));
		n = pw_msg(want, 2, 1, 1030, 0, prios[i][1], "hello", 5);
		EXPECT_EQ(n, pw_recv(self->raw[1], rx, sizeof(rx), &from, SOON));
		EXPECT_EQ(0, memcmp(want, rx, n));
		EXPECT_EQ(PACKET_HOST, from.sll_pkttype);
		EXPECT_EQ(3, from.sll_halen);
		EXPECT_EQ(1, pw_get(from.sll_addr, 3));
		EXPECT_EQ(ARPHRD_PACKETWAY, from.sll_hatype);
		EXPECT_EQ(htons(ETH_P_PACKETWAY), from.sll_protocol);
		/* a message that is not IP is whole for datagram sockets, too */
		EXPECT_EQ(n, pw_recv(peer, rx, sizeof(rx), &from, SOON));
		EXPECT_EQ(0, memcmp(want, rx, n));
	}
	/* groups by their three bytes */
	pw_put(to.sll_addr, 3, 0x7fffff);
	ASSERT_EQ(1, sendto(dgram, "x", 1, 0, (void *)&to, sizeof(to)));
	EXPECT_EQ(32, pw_recv(self->raw[1], rx, sizeof(rx), &from, SOON));
	EXPECT_EQ(PACKET_BROADCAST, from.sll_pkttype);
	EXPECT_EQ(32, pw_recv(self->raw[2], rx, sizeof(rx), &from, SOON));
	close(dgram);
	close(peer);
}

/* every size that is near an edge, both socket types, the whole range of MTUs */
TEST_F_TIMEOUT(eep, sizes, 3600)
{
	static const int mtus[] = { 64, 1500, 9000, 65528 };
	static const int lens[] = { 0, 1, 2, 7, 8, 9, 15, 16, 17, 39, 40, 41, 47, 63, 64, 65, 127, 128,
				    1023, 1484, 1499, 1500, 1501, 4072, 4095, 4096, 4097, 8192, 8999,
				    9000, 16384, 32767, 32768, 65000, 65521, 65527, 65528 };
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(PT_TEST),
				  .sll_ifindex = self->idx[0], .sll_halen = 3,
				  .sll_addr = { 0, 0, 2 } };
	int dgram = pw_packet_open(self->ns[0], SOCK_DGRAM, 0, self->idx[0]);
	int i, k, n, m;

	ASSERT_GE(dgram, 0);
	for (i = 0; i < (int)sizeof(tx) - 16; i++)
		tx[16 + i] = i * 7 + (i >> 8);
	for (m = 0; m < ARRAY_SIZE(mtus); m++) {
		ASSERT_EQ(0, pw_link_mtu(&self->nl[0], "a", mtus[m]));
		ASSERT_EQ(0, pw_link_mtu(&self->nl[1], "b", mtus[m]));
		for (k = 0; k < ARRAY_SIZE(lens) + 2; k++) {
			int len = k < ARRAY_SIZE(lens) ? lens[k] : mtus[m] - 1 + (k - (int)ARRAY_SIZE(lens)) * 2;
			uint8_t save[8];

			n = sendto(dgram, tx + 16, len, 0, (void *)&to, sizeof(to));
			if (len > mtus[m]) {
				EXPECT_EQ(-1, n);
				EXPECT_EQ(EMSGSIZE, errno);
				continue;
			}
			ASSERT_EQ(len, n) {
				TH_LOG("datagram of %d at MTU %d: %s", len, mtus[m], strerror(errno));
			}
			memcpy(save, tx + 16 + len, 8);
			n = pw_msg(tx, 2, 1, PT_TEST, 0, 0, NULL, len);
			ASSERT_EQ(n, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON)) {
				TH_LOG("datagram of %d at MTU %d", len, mtus[m]);
			}
			ASSERT_EQ(0, memcmp(tx, rx, n));
			ASSERT_EQ(n, send(self->raw[0], tx, n, 0)) {
				TH_LOG("raw %d at MTU %d: %s", len, mtus[m], strerror(errno));
			}
			ASSERT_EQ(n, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON)) {
				TH_LOG("raw %d at MTU %d", len, mtus[m]);
			}
			ASSERT_EQ(0, memcmp(tx, rx, n));
			/* padding and TAIL have overwritten the pattern */
			for (i = len; i < len + 24 && i < (int)sizeof(tx) - 16; i++)
				tx[16 + i] = i * 7 + (i >> 8);
		}
	}
	close(dgram);
}

/* --- options ------------------------------------------------------------------------ */

/* a -> b with CRC32 and/or CRC64; returns the length */
static int crc_msg(uint8_t *b, int first, int second, int data, bool spoil)
{
	struct pw_hdr h = { .dt = 2, .sa = 1, .pt = PT_TEST, .dl = (data + 7) / 8, .pl = -data & 7,
			    .h = 1 };
	int type[2] = { first, second }, i, n = 16, db;
	uint8_t crc[8];

	pw_hdr_put(b, &h);
	for (i = 0; i < 2 && type[i]; i++)
		n += pw_put_opt(b + n, type[i], true, i || !second, NULL, 0);
	db = n;
	memset(b + n, 0, h.dl * 8);
	for (i = 0; i < data; i++)
		b[n + i] = i * 13 + 1;
	n += h.dl * 8;
	for (i = 0; i < 2 && type[i]; i++) {
		int len = type[i] == PW_OH_CRC32 ? 4 : 8;

		pw_put(crc, len, len == 4 ? pw_crc32c(b + db, h.dl * 8) : pw_crc64we(b + db, h.dl * 8));
		n += pw_put_opt(b + n, type[i], false, i || !second, crc, len);
	}
	memset(b + n, 0, 8);
	if (spoil)
		b[db + data / 2] ^= 0x10;
	return n + 8;
}

TEST_F(eep, crc)
{
	static const int kinds[][2] = { { PW_OH_CRC32, 0 }, { PW_OH_CRC64, 0 },
					{ PW_OH_CRC32, PW_OH_CRC64 }, { PW_OH_CRC64, PW_OH_CRC32 } };
	static const int lens[] = { 1, 8, 13, 64, 1000 };
	struct rtnl_link_stats64 s;
	uint64_t bad32, bad64, ei;
	uint32_t from;
	int i, k, n, kind;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (k = 0; k < ARRAY_SIZE(lens); k++) {
			n = crc_msg(tx, kinds[i][0], kinds[i][1], lens[k], false);
			SEND(0, n);
			EXPECT_FRAME(1, tx, n);
		}
		EXPECT_EQ(0, i ? 0 : STAT(1, "eep_rx_ei_set"));
		bad32 = STAT(1, "eep_crc32_bad");
		bad64 = STAT(1, "eep_crc64_bad");
		ei = STAT(1, "eep_rx_ei_set");
		n = crc_msg(tx, kinds[i][0], kinds[i][1], 100, true);
		SEND(0, n);
		/* delivered as it is, with EI set */
		tx[n - 1] = 1;
		EXPECT_FRAME(1, tx, n);
		EXPECT_SOON(ei + 1, STAT(1, "eep_rx_ei_set"));
		EXPECT_SOON(bad32 + bad64 + 1, STAT(1, "eep_crc32_bad") + STAT(1, "eep_crc64_bad"));
		if (kinds[i][0] == PW_OH_CRC64 && !kinds[i][1])
			EXPECT_SOON(bad64 + 1, STAT(1, "eep_crc64_bad"));
		if (kinds[i][0] == PW_OH_CRC32 && !kinds[i][1])
			EXPECT_SOON(bad32 + 1, STAT(1, "eep_crc32_bad"));
	}
	ASSERT_EQ(0, pw_link_stats(&self->nl[1], "b", &s));
	EXPECT_EQ(ARRAY_SIZE(kinds), s.rx_crc_errors);
	/* the trailer that an OH announces is not there */
	n = crc_msg(tx, PW_OH_CRC32, 0, 16, false);
	SEND(0, n - 8);
	EXPECT_EQ(1, pw_stat_wait(self->raw[1], "b", "drop_bad_option", 1));
	ASSERT_LE(32, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	/* an EI that a source set is kept and counted */
	ei = STAT(1, "eep_rx_ei_set");
	n = pw_msg(tx, 2, 1, PT_TEST, 0, 0, "bad already", 11);
	tx[n - 1] = 1;
	SEND(0, n);
	EXPECT_FRAME(1, tx, n);
	EXPECT_SOON(ei + 1, STAT(1, "eep_rx_ei_set"));
}

/* known options and unknown optional ones arrive as they were sent */
TEST_F(eep, options)
{
	uint8_t slots[32] = { 0, 0, 0, 9 };
	struct pw_hdr h = { .dt = 2, .sa = 1, .pt = PT_TEST, .dl = 1, .h = 1 };
	uint32_t from;
	int n, kind;

	pw_hdr_put(tx, &h);
	n = 16;
	n += pw_put_opt(tx + n, PW_OH_TIMESTAMP, true, false, (void *)"\0\1\2\3\4\5\6\7", 8);
	n += pw_put_opt(tx + n, PW_OH_HOPTRACE, false, false, slots, 32);
	n += pw_put_opt(tx + n, 33, false, true, slots, 3);
	memset(tx + n, 0x77, 8);
	n += 8;
	/* and a trailer that was not announced */
	n += pw_put_opt(tx + n, 50, false, true, slots, 9);
	memset(tx + n, 0, 8);
	n += 8;
	SEND(0, n);
	EXPECT_FRAME(1, tx, n);
	EXPECT_QUIET();
}

TEST_F(eep, byte_order)
{
	static const int size[] = { 1, 2, 4, 8, 16 };
	uint8_t data[37], want[37];
	uint32_t from;
	int order, e, i, n, kind, k;

	for (i = 0; i < 37; i++)
		data[i] = i + 1;
	for (order = 0; order < 3; order++) {
		ASSERT_EQ(0, pw_link_order(&self->nl[1], "b", order));
		for (e = 0; e < 16; e++) {
			int w = size[(e & 7) > 4 ? 0 : e & 7];
			bool little = e & 8;
			bool swap = w > 1 && (order == PACKETWAY_ORDER_BIG ? little :
					      order == PACKETWAY_ORDER_LITTLE ? !little : false);

			if ((e & 7) > 4)
				continue;
			n = pw_msg(tx, 0x7fffff, 1, PT_TEST, 0, 0, data, 37);
			tx[8] |= e << 4;
			SEND(0, n);
			/* c takes it as it was sent: the swap is b's own affair */
			EXPECT_FRAME(2, tx, n);
			memcpy(want, data, 37);
			if (swap) {
				for (i = 0; i + w <= 37; i += w)
					for (k = 0; k < w; k++)
						want[i + k] = data[i + w - 1 - k];
				tx[8] ^= 0x80;
			}
			memcpy(tx + 16, want, 37);
			EXPECT_FRAME(1, tx, n);
		}
	}
	EXPECT_SOON(8, STAT(1, "eep_rx_swapped"));
	EXPECT_EQ(0, STAT(2, "eep_rx_swapped"));
	EXPECT_NE(0, pw_link_order(&self->nl[1], "b", 3));
}

/* the CRC is of the bytes on the wire, whatever order the receiver likes */
TEST_F(eep, crc_and_byte_order)
{
	int i, n;

	ASSERT_EQ(0, pw_link_order(&self->nl[1], "b", PACKETWAY_ORDER_LITTLE));
	n = crc_msg(tx, PW_OH_CRC32, 0, 64, false);
	tx[8] |= PW_E_32 << 4;
	SEND(0, n);
	ASSERT_EQ(n, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON));
	EXPECT_EQ(0, rx[n - 1]);
	EXPECT_EQ(0, STAT(1, "eep_crc32_bad"));
	for (i = 0; i < 64; i++)
		ASSERT_EQ(tx[24 + (i ^ 3)], rx[24 + i]);
}

/* --- echo ---------------------------------------------------------------------------- */

TEST_F(eep, echo)
{
	uint8_t want[2000], data[1000];
	uint32_t from;
	int i, n, kind;
	static const int lens[] = { 0, 1, 8, 100, 1000 };

	for (i = 0; i < 1000; i++)
		data[i] = i * 3;
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		n = pw_msg(tx, 2, 1, PW_PT_ECHO, PW_TE_ECHO_REQUEST, 7, data, lens[i]);
		SEND(0, n);
		pw_msg(want, 1, 2, PW_PT_ECHO, PW_TE_ECHO_REPLY, 7, data, lens[i]);
		EXPECT_FRAME(0, want, n);
		EXPECT_EQ(2, from);
	}
	EXPECT_SOON(ARRAY_SIZE(lens), STAT(1, "echo_requests"));
	EXPECT_SOON(ARRAY_SIZE(lens), STAT(1, "echo_replies_sent"));
	while (pw_recv(self->raw[1], rx, sizeof(rx), NULL, NEVER) > 0)
		;
	/* hey-you addresses each receiver; a broadcast is not answered */
	n = pw_msg(tx, PW_ADDR_HEYYOU, 1, PW_PT_ECHO, PW_TE_ECHO_REQUEST, 0, data, 4);
	SEND(0, n);
	EXPECT_EQ(n, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	EXPECT_EQ(n, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
	n = pw_msg(tx, PW_ADDR_BROADCAST, 1, PW_PT_ECHO, PW_TE_ECHO_REQUEST, 0, data, 4);
	SEND(0, n);
	n = pw_msg(tx, 2, 0, PW_PT_ECHO, PW_TE_ECHO_REQUEST, 0, data, 4);
	SEND(0, n);
	n = pw_msg(tx, 2, 1, PW_PT_ECHO, PW_TE_ECHO_REPLY, 0, data, 4);
	SEND(0, n);
	EXPECT_EQ(-1, pw_recv(self->raw[0], rx, sizeof(rx), NULL, NEVER));
	EXPECT_SOON(ARRAY_SIZE(lens) + 1, STAT(1, "echo_requests"));
}

/* no socket at b: the answer does not depend on one */
/* EI of a request names routers that the reply does not pass */
TEST_F(eep, echo_damaged)
{
	struct pw_hdr h;
	int n, ei;

	for (ei = 0; ei < 6; ei += 5) {
		n = pw_msg(tx, 2, 1, PW_PT_ECHO, PW_TE_ECHO_REQUEST, 3, "bad", 3);
		tx[n - 1] = ei;
		SEND(0, n);
		do {
			ASSERT_EQ(n, pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON));
			pw_hdr_get(rx, &h);
		} while (h.te != PW_TE_ECHO_REPLY);
		EXPECT_EQ(2, h.sa);
		EXPECT_EQ(!!ei, (int)pw_get(rx + n - 8, 8));
	}
}

TEST_F(eep, echo_without_capture)
{
	int i, n, got = 0, count = 300;

	close(self->raw[1]);
	self->raw[1] = pw_ns_socket(self->ns[1], AF_INET, SOCK_DGRAM, 0);
	n = pw_msg(tx, 2, 1, PW_PT_ECHO, PW_TE_ECHO_REQUEST, 0, "ping", 4);
	for (i = 0; i < count; i++) {
		SEND(0, n);
		if (pw_recv(self->raw[0], rx, sizeof(rx), NULL, SOON) == n)
			got++;
	}
	EXPECT_EQ(count, got);
	EXPECT_SOON(count, STAT(1, "echo_replies_sent") + STAT(1, "echo_rate_limited"));
}

/* --- priorities ----------------------------------------------------------------------- */

#define INSN(c, d, s, o, i) { .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }

/* a filter that keeps as many bytes as skb->priority says: the one way to see it */
static int priority_filter(void)
{
	const struct bpf_insn prog[] = {
		INSN(BPF_LDX | BPF_MEM | BPF_W, 0, 1, offsetof(struct __sk_buff, priority), 0),
		INSN(BPF_ALU | BPF_ADD | BPF_K, 0, 0, 0, 1),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uintptr_t)prog,
		.insn_cnt = ARRAY_SIZE(prog),
		.license = (uintptr_t)"GPL",
	};

	return syscall(__NR_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

TEST_F(eep, priority_at_the_receiver)
{
	int prog = priority_filter();
	int p, n;

	if (prog < 0)
		SKIP(return, "no eBPF here: %s", strerror(errno));
	ASSERT_EQ(0, setsockopt(self->raw[1], SOL_SOCKET, SO_ATTACH_BPF, &prog, sizeof(prog)));
	for (p = 0; p < 64; p += 7) {
		struct iovec iov = { rx, sizeof(rx) };
		struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

		n = pw_msg(tx, 2, 1, PT_TEST, 0, p, rx, 100);
		SEND(0, n);
		/* what is left of the frame: priority + 1 bytes */
		ASSERT_EQ(p + 1, recvmsg(self->raw[1], &m, 0));
	}
	close(prog);
}

/* the thread that polls a station, by its name */
static pid_t find_task(const char *prefix)
{
	struct dirent *d;
	pid_t pid = 0;
	DIR *dir = opendir("/proc");

	while (dir && (d = readdir(dir))) {
		char path[300], comm[64] = "";
		FILE *f;

		if (d->d_name[0] < '1' || d->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", d->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fgets(comm, sizeof(comm), f) && !strncmp(comm, prefix, strlen(prefix)))
			pid = atoi(d->d_name);
		fclose(f);
	}
	if (dir)
		closedir(dir);
	return pid;
}

/*
 * Hold a station's receiver: its NAPI becomes a thread, bound to the CPU on which
 * this process runs with real-time priority, so that it runs when we sleep and not
 * before. 0 if that can be had here.
 */
static int hold_receiver(int ns, const char *dev)
{
	char path[64], prefix[32];
	struct sched_param sp = { .sched_priority = 50 };
	cpu_set_t one;
	static bool prepared;
	struct utsname u;
	unsigned int patch;
	pid_t pid;

	/* a page of this program that is not in memory yet would let it run, too */
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return -1;
	if (prepared)
		return sched_setscheduler(0, SCHED_FIFO, &sp);
	/* the scheduler lets other tasks in after a second; on a slow machine we take longer */
	pw_write_file("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	/* 6.12.95 warns about that, in its own code; 6.12.115 does not */
	if (!uname(&u) && (sscanf(u.release, "6.12.%u", &patch) != 1 || patch >= 115))
		pw_write_file("/sys/kernel/debug/sched/fair_server/cpu0/runtime", "0");
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    setns(ns, CLONE_NEWNET) || mount("sysfs", "/sys", "sysfs", 0, NULL))
		return -1;
	snprintf(path, sizeof(path), "/sys/class/net/%s/threaded", dev);
	if (pw_write_file(path, "1"))
		return -1;
	snprintf(prefix, sizeof(prefix), "napi/%s-", dev);
	pid = find_task(prefix);
	if (!pid || sched_setaffinity(pid, sizeof(one), &one) ||
	    sched_setaffinity(0, sizeof(one), &one) || sched_setscheduler(0, SCHED_FIFO, &sp))
		return -1;
	/* let it go to sleep once on its new CPU */
	usleep(50000);
	prepared = true;
	return 0;
}

static void let_go(void)
{
	struct sched_param sp = { .sched_priority = 0 };

	sched_setscheduler(0, SCHED_OTHER, &sp);
}

TEST_F(eep, higher_priority_first)
{
	static const uint8_t p[] = { 0, 5, 63, 5, 31, 0, 62, 63, 1, 32 };
	static const uint8_t order[] = { 2, 7, 6, 9, 4, 1, 3, 8, 0, 5 };
	int i, l, n;

	/* a fabric may leave frames to its next poll, which does not run while we hold the CPU */
	ASSERT_EQ(0, pw_gsan_untimed(self->ns[0]));
	if (hold_receiver(self->ns[1], "b"))
		SKIP(return, "the receiver cannot be held: %s", strerror(errno));
	for (i = 0; i < ARRAY_SIZE(p); i++) {
		uint8_t mark = i;

		n = pw_msg(tx, 2, 1, PT_TEST, 0, p[i], &mark, 1);
		SEND(0, n);
	}
	let_go();
	for (i = 0; i < ARRAY_SIZE(p); i++) {
		ASSERT_EQ(n, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON));
		EXPECT_EQ(order[i], rx[16]) {
			TH_LOG("frame %d came as %d", rx[16], i);
		}
	}
	/* a priority symbol overrides the header */
	ASSERT_EQ(0, hold_receiver(self->ns[1], "b"));
	for (i = 0; i < 3; i++) {
		uint8_t mark = i, high = 40;

		l = i == 1 ? pw_put_sym(tx, PW_SYM_PRIO, &high, 1) : 0;
		n = pw_msg(tx + l, 2, 1, PT_TEST, 0, i == 2 ? 20 : 0, &mark, 1);
		SEND(0, l + n);
	}
	let_go();
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(n, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON));
		EXPECT_EQ("\1\2\0"[i], rx[16]);
	}
	/* behind an L2RH the header says it; bits of the L2RH say it before the header does */
	ASSERT_EQ(0, hold_receiver(self->ns[1], "b"));
	for (i = 0; i < 4; i++) {
		uint8_t mark = i;

		l = i % 2 ? pw_put_l2rh(tx, (uint8_t []){ 0, 0, 1 }, 3) : 0;
		n = pw_msg(tx + l, 2, 1, PT_TEST, 0, "\1\77\76\2"[i], &mark, 1);
		if (i == 3)
			tx[0] |= 32;
		SEND(0, l + n);
	}
	let_go();
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(n, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON));
		EXPECT_EQ("\1\2\3\0"[i], rx[16]) {
			TH_LOG("frame %d came as %d", rx[16], i);
		}
	}
}

/* a receiver that does not keep up stops the sender's queue, and nothing is lost */
TEST_F(eep, backpressure)
{
	uint64_t waiting, taken;
	int i, n, sent = 0;

	if (hold_receiver(self->ns[1], "b"))
		SKIP(return, "the receiver cannot be held: %s", strerror(errno));
	for (i = 0; i < 700; i++) {
		uint16_t mark = i;

		n = pw_msg(tx, 2, 1, PT_TEST, 0, 0, &mark, 2);
		if (send(self->raw[0], tx, n, MSG_DONTWAIT) == n)
			sent++;
	}
	waiting = STAT(0, "eep_tx_unicast");
	taken = STAT(1, "eep_rx_messages");
	let_go();
	EXPECT_EQ(700, sent);
	/* a slow kernel may give the receiver a turn: it takes up to 64 before it counts them */
	EXPECT_LE(256, waiting);
	EXPECT_GE(256 + taken + (taken ? 64 : 0), waiting);
	for (i = 0; i < 700; i++) {
		uint16_t mark;

		ASSERT_EQ(n, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON)) {
			TH_LOG("only %d came", i);
		}
		memcpy(&mark, rx + 16, 2);
		ASSERT_EQ(i, mark);
	}
	EXPECT_LE(1, STAT(0, "eep_tx_stopped"));
}

static int set_txqlen(struct pw_nl *nl, const char *name, uint32_t n)
{
	struct pw_req r;

	pw_req_init(&r, RTM_NEWLINK, NLM_F_ACK);
	pw_req_put(&r, IFLA_IFNAME, name, strlen(name) + 1);
	pw_req_u32(&r, IFLA_TXQLEN, n);
	return pw_nl_talk(nl, &r);
}

/* more than may wait: the sender is told, and what was taken arrives in its order */
TEST_F(eep, queue_full)
{
	int i, n, sent, err = 0;
	uint16_t mark;

	ASSERT_EQ(0, set_txqlen(&self->nl[0], "a", 16));
	if (hold_receiver(self->ns[1], "b"))
		SKIP(return, "the receiver cannot be held: %s", strerror(errno));
	for (sent = 0; sent < 10000 && !err; sent++) {
		mark = sent;
		n = pw_msg(tx, 2, 1, PT_TEST, 0, 0, &mark, 2);
		if (send(self->raw[0], tx, n, MSG_DONTWAIT) != n)
			err = errno;
	}
	let_go();
	EXPECT_EQ(ENOBUFS, err);
	EXPECT_LE(256 + 16, sent - 1);
	EXPECT_EQ(1, pw_stat_wait(self->raw[0], "a", "drop_tx_full", 1));
	for (i = 0; i < sent - 1; i++) {
		ASSERT_EQ(n, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON)) {
			TH_LOG("only %d of %d came", i, sent - 1);
		}
		memcpy(&mark, rx + 16, 2);
		ASSERT_EQ(i, mark);
	}
	/* the station is not full for ever */
	SEND(0, n);
	EXPECT_EQ(n, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON));
}

/* a station that goes down does not keep frames that wait for room */
TEST_F(eep, down_while_full)
{
	int i, n;

	if (hold_receiver(self->ns[1], "b"))
		SKIP(return, "the receiver cannot be held: %s", strerror(errno));
	n = pw_msg(tx, 2, 1, PT_TEST, 0, 0, "x", 1);
	for (i = 0; i < 400; i++)
		SEND(0, n);
	EXPECT_EQ(0, pw_link_down(&self->nl[0], "a"));
	let_go();
	EXPECT_EQ(400 - STAT(0, "drop_tx_full"),
		  pw_stat_wait(self->raw[1], "b", "eep_rx_messages",
			       400 - STAT(0, "drop_tx_full")));
	EXPECT_EQ(0, pw_link_up(&self->nl[0], "a"));
	while (pw_recv(self->raw[1], rx, sizeof(rx), NULL, 0) > 0)
		;
	/* the socket says once that its device went down */
	EXPECT_EQ(-1, send(self->raw[0], tx, n, 0));
	EXPECT_EQ(ENETDOWN, errno);
	SEND(0, n);
	EXPECT_EQ(n, pw_recv(self->raw[1], rx, sizeof(rx), NULL, SOON));
}

/* the receiver goes while frames wait for it: they are counted, the sender goes on */
TEST_F(eep, down_while_frames_wait)
{
	uint64_t counted;
	double end;
	int i, n;

	if (hold_receiver(self->ns[1], "b"))
		SKIP(return, "the receiver cannot be held: %s", strerror(errno));
	n = pw_msg(tx, 2, 1, PT_TEST, 0, 0, "x", 1);
	for (i = 0; i < 300; i++)
		SEND(0, n);
	EXPECT_EQ(0, pw_link_down(&self->nl[1], "b"));
	let_go();
	/* taken before it went, waiting when it went, or too late: each counted once */
	end = pw_now() + SOON / 1000;
	do {
		usleep(2000);
		counted = STAT(1, "drop_rx_down") + STAT(1, "eep_rx_messages") +
			  STAT(0, "drop_unknown_dst");
	} while (counted < 300 && pw_now() < end);
	EXPECT_EQ(300, counted);
	n = pw_msg(tx, 3, 1, PT_TEST, 0, 0, "still here", 10);
	SEND(0, n);
	EXPECT_EQ(n, pw_recv(self->raw[2], rx, sizeof(rx), NULL, SOON));
}

/* --- why a frame was dropped can be seen ------------------------------------------------ */

TEST_F(eep, drop_reasons_are_traced)
{
	static const char inst[] = "/sys/kernel/tracing/instances/pw_eep_test";
	char path[128], *text;
	bool ours, core;
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "%s/events/packetway/pw_drop/enable", inst);
	if (mkdir(inst, 0700) || access(path, W_OK)) {
		rmdir(inst);
		SKIP(return, "no tracefs here: %s", strerror(errno));
	}
	EXPECT_EQ(0, pw_write_file(path, "1"));
	snprintf(path, sizeof(path), "%s/events/skb/kfree_skb/enable", inst);
	core = !pw_write_file(path, "1");

	n = pw_msg(tx, 9, 0, PT_TEST, 0, 0, "nobody", 6);
	SEND(0, n);
	n = pw_msg(tx, 2, 0, PT_TEST, 0, 0, "version", 7);
	tx[0] |= 0x80;
	SEND(0, n);
	pw_stat_wait(self->raw[1], "b", "drop_bad_version", 1);

	text = calloc(1, 1 << 16);
	snprintf(path, sizeof(path), "%s/trace", inst);
	f = fopen(path, "r");
	ASSERT_NE(NULL, f);
	ASSERT_LT(0, fread(text, 1, (1 << 16) - 1, f));
	fclose(f);
	snprintf(path, sizeof(path), "%s/events/enable", inst);
	pw_write_file(path, "0");
	EXPECT_EQ(0, rmdir(inst));

	ours = strstr(text, "dev=a len=32 reason=unknown_dst") &&
	       strstr(text, "dev=b len=32 reason=bad_version");
	EXPECT_TRUE(ours) {
		TH_LOG("%s", text);
	}
	/* drop_monitor and others listen to kfree_skb; the frames are there as drops */
	if (core)
		EXPECT_NE(NULL, strstr(text, "kfree_skb: "));
	free(text);
}

/* standard counters are sums of the model's */
TEST_F(eep, standard_counters)
{
	struct rtnl_link_stats64 s;
	int n, i;

	n = pw_msg(tx, 2, 1, PT_TEST, 0, 0, "good", 4);
	for (i = 0; i < 5; i++)
		SEND(0, n);
	n = pw_msg(tx, 2, 0, PT_TEST, 0, 0, "bad", 3);
	tx[0] |= 0x40;
	SEND(0, n);
	n = pw_msg(tx, 0xe00001, 0, PT_TEST, 0, 0, "not ours", 8);
	SEND(0, n);
	n = pw_msg(tx, 2, 0, PW_PT_IP, 0, 0, "\x90", 1);
	SEND(0, n);
	n = pw_msg(tx, 9, 0, PT_TEST, 0, 0, "nobody", 6);
	SEND(0, n);
	pw_stat_wait(self->raw[1], "b", "drop_bad_payload", 1);
	ASSERT_EQ(0, pw_link_stats(&self->nl[0], "a", &s));
	EXPECT_EQ(8, s.tx_packets);
	EXPECT_EQ(8 * 32, s.tx_bytes);
	EXPECT_EQ(1, s.tx_errors);
	EXPECT_EQ(0, s.tx_dropped);
	EXPECT_EQ(0, s.rx_packets);
	ASSERT_EQ(0, pw_link_stats(&self->nl[1], "b", &s));
	/* what is dropped is an error or a drop, not a packet as well */
	EXPECT_EQ(5, s.rx_packets);
	EXPECT_EQ(5 * 32, s.rx_bytes);
	EXPECT_EQ(2, s.rx_errors);
	EXPECT_EQ(1, s.rx_dropped);
	/* and they outlive down and up */
	EXPECT_EQ(0, pw_link_down(&self->nl[1], "b"));
	EXPECT_EQ(0, pw_link_up(&self->nl[1], "b"));
	ASSERT_EQ(0, pw_link_stats(&self->nl[1], "b", &s));
	EXPECT_EQ(5, s.rx_packets);
	EXPECT_EQ(2, s.rx_errors);
}

TEST_HARNESS_MAIN
