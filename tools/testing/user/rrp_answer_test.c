// SPDX-License-Identifier: GPL-2.0
/*
 * What a half-router answers: half-router 0x110 of SAN 0x100, whose peer half is 0x210 on
 * SAN 0x200, where 0x212 is a second one; 0x111 is a neighbour that knows SAN 0x300.
 */
#include "rrp_answer.h"
#include "rrp_groups.h"
#include "tap.h"

#define TABLES 8

struct half {
	struct pw_rrp_db db;
	struct pw_rrp_table table[TABLES];
	u8 nodes[TABLES][1024];
};

static struct half me, peer, far, neighbour;
static u8 out[2048], msg[2048];
static const u8 access_route[3] = { 9, 9, 9 };

static void init(struct half *h, u32 addr, u32 other)
{
	memset(h, 0, sizeof(*h));
	for (u32 i = 0; i < TABLES; i++) {
		h->table[i].nodes = h->nodes[i];
		h->table[i].nodes_cap = sizeof(h->nodes[i]);
	}
	pw_rrp_db_init(&h->db, addr, other, h->table, TABLES, 0);
}

static void put_node(struct pw_rrp_buf *b, u32 addr, const char *name, u8 capa, u32 param,
		     const struct pw_rrp_entry *groups, u32 ngroups)
{
	u8 p[4] = { param >> 24, param >> 16, param >> 8, param }, route[1] = { addr }, l2rh[8];

	pw_rrp_put_addr(b, PW_RRP_AT_SINGLE, addr, 0);
	pw_rrp_put_name(b, name, strlen(name));
	pw_rrp_put_capa(b, PW_CAPA_COMPUTE, NULL, 0);
	pw_rrp_put_capa(b, capa, p, 4);
	if (ngroups)
		pw_rrp_put_entries(b, PW_RRP_LADR, groups, ngroups);
	pw_rrp_put_srqr(b, 0, l2rh, pw_eep_put_l2rh(l2rh, 8, route, 1));
	pw_rrp_end_addr(b);
}

static void own(struct half *h, u32 san, u32 mtu, const char *a, const char *b,
		const struct pw_rrp_entry *groups, u32 ngroups)
{
	struct pw_rrp_buf buf;
	u8 rec[1024];

	pw_rrp_buf_init(&buf, rec, sizeof(rec));
	put_node(&buf, san + 1, a, PW_CAPA_ESP, 100, groups, ngroups);
	put_node(&buf, san + 2, b, PW_CAPA_POETS, 7, NULL, 0);
	pw_rrp_put_addr(&buf, PW_RRP_AT_MIN, san + 1, san + 16);
	pw_rrp_put_srqr(&buf, 0x100, NULL, 0);
	pw_rrp_db_own(&h->db, san, 1, mtu, rec, pw_rrp_buf_done(&buf));
}

/* every table of @from that it would give, to @to */
static int pass(struct half *from, struct half *to, bool as_peer)
{
	struct pw_rrp_link link = {
		.from = from->db.me, .peer = as_peer, .q = 1, .l2rh = access_route,
	};
	const struct pw_rrp_table *kept;
	struct pw_rrp_buf b;
	u8 l2rh[8], rec[2048];
	int n = 0;

	if (!as_peer) {
		link.l2rh = l2rh;
		link.l2rh_len = pw_eep_put_l2rh(l2rh, 8, (const u8 *)"\5", 1);
	}
	for (u32 i = 0; i < TABLES; i++) {
		if (!pw_rrp_gives(&from->table[i], as_peer))
			continue;
		pw_rrp_buf_init(&b, rec, sizeof(rec));
		pw_rrp_db_export(&from->table[i], &b);
		is(pw_rrp_buf_done(&b), (int)pw_rrp_export_len(&from->table[i]),
		   "table %u of %#x is as long as foretold", i, from->db.me);
		n += pw_rrp_db_receive(&to->db, &link, rec, b.len, &kept) == PW_RRP_TAKEN;
	}
	return n;
}

static void setup(void)
{
	static const struct pw_rrp_entry far_groups[] = {
		{ PW_RRP_AT_SINGLE, 0xe00042 }, { PW_RRP_AT_SINGLE, 0xe00007 },
		{ PW_RRP_AT_SINGLE, 0xe00042 }, { PW_RRP_AT_MIN, 0xe00100 },
		{ PW_RRP_AT_MAX, 0xe001ff },
	}, own_groups[] = { { PW_RRP_AT_SINGLE, 0xe00001 } };

	init(&me, 0x110, 0x210);
	init(&peer, 0x210, 0x110);
	init(&far, 0x212, 0x412);
	init(&neighbour, 0x111, 0x311);
	own(&me, 0x100, 1000, "a", "b", own_groups, 1);
	own(&peer, 0x200, 500, "far", "b", far_groups, 5);
	is(pass(&peer, &me, true), 1, "the peer half's own table");
	/* a second route to SAN 0x200, longer; tables of a SAN that is one's own are passed on */
	init(&far, 0x410, 0x212);
	own(&far, 0x400, 0, "d", "e", own_groups, 1);
	is(pass(&far, &peer, false), 0, "a neighbour gives nothing that is its own");
	far.table[0].own = false;
	far.table[0].from_peer = true;
	far.table[0].rcvf[0] = 0x410;
	is(pass(&far, &peer, false), 1, "but what came from its peer half");
	is(pass(&peer, &me, true), 1, "and the peer half passes it on");
	own(&neighbour, 0x300, 0, "c", "printer", NULL, 0);
	neighbour.table[0].own = false;
	neighbour.table[0].from_peer = true;
	is(pass(&neighbour, &me, false), 1, "a neighbour's table");
}

static struct pw_rrp_access acc;
static u8 acc_l2rh[8];

static enum pw_rrp_routes gvl2(u32 addr, u32 max, u32 cap, u32 *via, int *len)
{
	struct pw_rrp_buf b;
	enum pw_rrp_routes w;

	pw_rrp_buf_init(&b, out, cap);
	w = pw_rrp_answer_gvl2(&me.db, addr, &acc, max, &b, via);
	*len = pw_rrp_buf_done(&b);
	return w;
}

/* SRQRs in the L2SR at out; @first: route of the first, @mtu of the first */
static int count_routes(int len, struct pw_rrp_rec *first, u32 *mtu)
{
	struct pw_rrp_iter it, in;
	struct pw_rrp_rec rec, sub;
	int n = 0;

	if (len < 0 || pw_rrp_check_msg(PW_PT_RRP, PW_TE_L2SR, out, len))
		return -1;
	pw_rrp_iter_init(&it, out, len);
	if (pw_rrp_next(&it, &rec) <= 0)
		return -1;
	pw_rrp_iter_nested(&in, &rec);
	while (pw_rrp_next(&in, &sub) > 0) {
		if (sub.type == PW_RRP_SRQR && !n++)
			*first = sub;
		if (sub.type == PW_RRP_MTUR && n == 1)
			*mtu = sub.mtu;
	}
	return n;
}

static void routes(void)
{
	struct pw_rrp_rec route;
	u32 via = 0, mtu = 0;
	int len;

	acc.l2rh = acc_l2rh;
	acc.l2rh_len = pw_eep_put_l2rh(acc_l2rh, 8, access_route, 3);
	acc.mtu = 800;

	is(gvl2(0x201, 4, sizeof(out), &via, &len), PW_RRP_ROUTES, "GVL2 of a node behind the peer half");
	is(count_routes(len, &route, &mtu), 1, "it has one route");
	is(route.data_len, 16, "of two L2RHs");
	ok(!memcmp(route.data, acc_l2rh, 8) && route.data[8 + 2] == 1,
	   "to the half-router, then the node's own");
	is(mtu, 500, "the smallest MTU counts");
	is(gvl2(0x101, 4, sizeof(out), &via, &len), PW_RRP_ROUTES, "GVL2 of a node of the own SAN");
	is(count_routes(len, &route, &mtu), 1, "it has one route");
	ok(route.data_len == 8 && route.data[2] == 1 && mtu == 800, "that begins at who asks");
	is(gvl2(0x301, 4, sizeof(out), &via, &len), PW_RRP_ASK_NEIGHBOUR, "a neighbour's is the neighbour's");
	is(via, 0x111, "and that is who");
	is(gvl2(0x205, 4, sizeof(out), &via, &len), PW_RRP_NO_ROUTE, "the node is unknown");
	is(gvl2(0x501, 4, sizeof(out), &via, &len), PW_RRP_NO_ROUTE, "nor of the SAN");
	is(len, 0, "then nothing is written");
}

/* a second, worse table of SAN 0x200 from the peer half */
static void two_routes(void)
{
	struct pw_rrp_table *t = &me.table[TABLES - 1];
	const struct pw_rrp_table *first = NULL;
	struct pw_rrp_rec route;
	u32 via, mtu;
	int len, cap;

	for (u32 i = 0; i < TABLES; i++)
		if (me.table[i].used && me.table[i].san == 0x200)
			first = &me.table[i];
	*t = *first;
	t->nodes = me.nodes[TABLES - 1];
	memcpy(t->nodes, first->nodes, first->nodes_len);
	t->q += 5;
	t->csr_len = pw_eep_put_l2rh(t->csr, 8, (const u8 *)"\7", 1);

	is(gvl2(0x201, 4, sizeof(out), &via, &len), PW_RRP_ROUTES, "GVL2 where there are two routes");
	is(count_routes(len, &route, &mtu), 2, "both are told");
	is(route.data_len, 16, "the better one first");
	is(gvl2(0x201, 1, sizeof(out), &via, &len), PW_RRP_ROUTES, "one is enough");
	is(count_routes(len, &route, &mtu), 1, "for who wants one");
	gvl2(0x201, 4, sizeof(out), &via, &len);
	for (cap = len - 8; cap >= 40; cap -= 8) {
		gvl2(0x201, 4, cap, &via, &len);
		if (count_routes(len, &route, &mtu) != 1)
			break;
	}
	ok(cap < 40, "a second one that does not fit leaves a sound answer with the first");
	ok(!pw_rrp_db_shows(&me.db, t) && pw_rrp_db_shows(&me.db, first),
	   "the SAN is shown by the better one");
}

/* nodes that a TELL of the @len bytes at msg gets; -1: it is malformed */
static u32 tell_budget = 1000;
static u32 tell_more;	/* where the rest begins, 0: there is none */
static u32 last_told;

static int tell(u32 len, u32 cap)
{
	u32 budget = tell_budget;
	struct pw_rrp_iter it, in;
	struct pw_rrp_rec rec, sub;
	struct pw_rrp_buf b;
	int n = 0;

	pw_rrp_buf_init(&b, out, cap);
	tell_more = 0;
	for (int k = -1; (k = pw_rrp_db_next_san(&me.db, k < 0 ? 0 : me.table[k].san + 1)) >= 0;) {
		if (!pw_rrp_answer_tell(&me.db, k, msg, len, &b, &budget, &tell_more))
			break;
		tell_more = 0;
	}
	if (!b.len)
		return 0;
	if (pw_rrp_buf_done(&b) < 0 || pw_rrp_check_msg(PW_PT_RRP, PW_TE_INFO, out, b.len))
		return -1;
	pw_rrp_iter_init(&it, out, b.len);
	while (pw_rrp_next(&it, &rec) > 0) {
		n++;
		last_told = rec.addr;
		pw_rrp_iter_nested(&in, &rec);
		while (pw_rrp_next(&in, &sub) > 0)
			if (sub.type == PW_RRP_SRQR)
				return -1;
	}
	return n;
}

/* page by page: nodes that all pages have, -1: a node twice, out of order, or no end */
static int tell_pages(u32 cap)
{
	u32 from = 1, before = 0;
	struct pw_rrp_buf b;
	int n = 0, got;

	for (int page = 0; page < 100; page++) {
		pw_rrp_buf_init(&b, msg, sizeof(msg));
		pw_rrp_put_addr(&b, PW_RRP_AT_MIN, from, PW_ADDR_HEYYOU - 1);
		pw_rrp_put_capa(&b, PW_CAPA_COMPUTE, NULL, 0);
		if (pw_rrp_check_msg(PW_PT_RRP, PW_TE_TELL, msg, b.len))
			return -1;
		got = tell(b.len, cap);
		if (got < 0 || (got && last_told <= before))
			return -1;
		n += got;
		before = last_told;
		if (!tell_more)
			return n;
		if (tell_more <= from && got)
			return -1;
		from = tell_more;
	}
	return -1;
}

static void tells(void)
{
	static const u8 esp[] = { 0, 0, 0, 100 }, other[] = { 0, 0, 0, 101 };
	struct pw_rrp_buf b;

#define TELL(put, cap) ({					\
	pw_rrp_buf_init(&b, msg, sizeof(msg));			\
	put;							\
	tell(pw_rrp_buf_done(&b), cap); })
	is(TELL(pw_rrp_put_name(&b, "far", 3), 2048), 1, "TELL by name");
	is(TELL(pw_rrp_put_name(&b, "fa", 2), 2048), 0, "the whole name");
	is(TELL(pw_rrp_put_name(&b, "b", 1), 2048), 2, "a name that two have");
	is(TELL(pw_rrp_put_capa(&b, PW_CAPA_ESP, NULL, 0), 2048), 4, "TELL by capability");
	is(TELL(pw_rrp_put_capa(&b, PW_CAPA_ESP, esp, 4), 2048), 4, "with parameters");
	is(TELL(pw_rrp_put_capa(&b, PW_CAPA_ESP, other, 4), 2048), 0, "that no node has");
	is(TELL(pw_rrp_put_capa(&b, PW_CAPA_ESP, esp, 2), 2048), 4, "as many as are given");
	is(TELL(pw_rrp_put_capa(&b, PW_CAPA_PRINTER, NULL, 0), 2048), 0, "no node can");
	is(TELL(pw_rrp_put_addr(&b, PW_RRP_AT_MIN, 0x102, 0x201), 2048), 2, "TELL by range");
	is(TELL((pw_rrp_put_name(&b, "far", 3), pw_rrp_put_name(&b, "c", 1),
		 pw_rrp_put_name(&b, "nobody", 6)), 2048), 2, "criteria are OR-ed");
	is(TELL(pw_rrp_put_capa(&b, PW_CAPA_COMPUTE, NULL, 0), 100), 2, "as many as fit");
	is(TELL(pw_rrp_put_capa(&b, PW_CAPA_COMPUTE, NULL, 0), 2048), 8, "each node once");
	tell_budget = 1;
	is(TELL(pw_rrp_put_capa(&b, PW_CAPA_COMPUTE, NULL, 0), 2048), 1, "no more than are looked at");
	is(tell_pages(2048), 8, "page by page: one has room for all");
	tell_budget = 3;
	is(tell_pages(2048), 8, "a page looks at few nodes");
	tell_budget = 1000;
	for (u32 cap = 100; cap < 400; cap += 8)
		if (tell_pages(cap) != 8)
			ok(0, "pages of %u bytes", cap);
	is(TELL((pw_rrp_put_addr(&b, PW_RRP_AT_MIN, 0x101, 0x102), pw_rrp_put_name(&b, "far", 3)),
		2048), 0, "criteria inside of an ADDR: none of its nodes");
	is(TELL((pw_rrp_put_addr(&b, PW_RRP_AT_MIN, 0x001, 0x7ffffd),
		 pw_rrp_put_name(&b, "far", 3)), 2048), 1, "one of its nodes");
	ok(pw_rrp_count_within(msg, b.len, 2) && !pw_rrp_count_within(msg, b.len, 1),
	   "those inside are counted");
	is(TELL(pw_rrp_put_capa(&b, PW_CAPA_COMPUTE, NULL, 0), 2048), 8, "no address: all nodes");
	ok(pw_rrp_count_within(msg, b.len, 1) && !pw_rrp_count_within(msg, b.len, 0),
	   "criteria are counted");

	pw_rrp_buf_init(&b, msg, sizeof(msg));
	pw_rrp_put_pair(&b, 0x123, 0x456);
	is(pw_rrp_first_addr(msg, b.len), 0x123, "the node that it is about");
	is(b.len, 16, "a pair is two records");
	pw_rrp_buf_init(&b, out, sizeof(out));
	pw_rrp_put_unknown(&b, msg, 16);
	ok(b.len == 8 && !memcmp(out, msg, 8), "what is unknown is the first of them");
	is(pw_rrp_first_addr(msg, 0), 0, "no record, no node");
}

static void listeners(void)
{
	struct pw_rrp_range r[8];
	struct pw_rrp_groups g;
	u32 i;

#define GROUPS(own_san, cap) ({							\
	pw_rrp_groups_init(&g, r, cap);						\
	for (i = 0; i < TABLES; i++)						\
		if (me.table[i].used && me.table[i].from_peer &&		\
		    me.table[i].san != (own_san))				\
			pw_rrp_groups_add(&g, &me.table[i]);			\
	pw_rrp_groups_done(&g);							\
	g.n; })
	is(GROUPS(0x100, 8), 4, "groups behind the peer half");
	ok(r[0].lo == 0xe00001 && r[1].lo == 0xe00007 && r[2].lo == 0xe00042, "in order, each once");
	ok(r[3].lo == 0xe00100 && r[3].hi == 0xe001ff, "a range is one");
	ok(pw_rrp_ranges_have(r, 3, 0xe00007) && !pw_rrp_ranges_have(r, 3, 0xe00008) &&
	   !pw_rrp_ranges_have(r, 3, 0xe00000) && !pw_rrp_ranges_have(r, 0, 0xe00007), "found");
	is(GROUPS(0x400, 8), 3, "not those of one's own SAN");
	is(GROUPS(0x100, 2), 1, "no room: one range");
	ok(g.all && r[0].lo == 0xe00000 && r[0].hi == 0xefffff, "of all");
	is(pw_rrp_db_own_table(&me.db)->san, 0x100, "the own table");
	ok(!pw_rrp_db_own_table(&neighbour.db), "there may be none");
}

static void who_gets_what(void)
{
	u32 wrong = 0, seen = 0;

	for (u32 i = 0; i < TABLES; i++) {
		const struct pw_rrp_table *t = &me.table[i];

		if (!t->used)
			continue;
		seen |= t->own ? 1 : t->from_peer ? 2 : 4;
		wrong += pw_rrp_gives(t, true) != (t->own || !t->from_peer);
		wrong += pw_rrp_gives(t, false) != (!t->own && t->from_peer);
	}
	is(seen, 7, "an own table, some of the peer half and of neighbours");
	is(wrong, 0, "the peer half gets what it has not given, neighbours what the peer half gave");
}

int main(void)
{
	setup();
	routes();
	two_routes();
	tells();
	listeners();
	who_gets_what();
	return tap_done();
}
