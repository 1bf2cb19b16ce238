// SPDX-License-Identifier: GPL-2.0
/*
 * Half-routers of several SANs pass their tables round until nothing moves.
 * Then every route is walked: each L2RH must be for the SAN that the packet is
 * on, and the last one must end at the destination.
 */
#include "rrp_table.h"
#include "tap.h"

#define MAX_HR		16
#define MAX_TABLES	64
#define NODES		16
#define SANS		3
#define NODE_BYTES	1024
#define QLEN		200000

struct hr {
	struct pw_rrp_db db;
	struct pw_rrp_table table[MAX_TABLES];
	u8 nodes[MAX_TABLES][NODE_BYTES];
	u32 addr, peer, san, mtu;
	bool up;
};

struct msg {
	int to, from;
	u16 te;
	u32 a, b;
	u32 len;
	u8 *data;
};

static struct hr hrs[MAX_HR];
static int nhr;
static struct msg *queue;
static u32 qhead, qtail, qmax, taken[7], told;
static unsigned long long seed = 99;

static u32 san_bias(u32 san)
{
	return (san + 1) << 8;
}

static int hr_of(u32 addr)
{
	for (int i = 0; i < nhr; i++)
		if (hrs[i].addr == addr)
			return i;
	return -1;
}

/* the simulated SANs route by: SAN, then node or half-router address */
static u32 native(u32 san, u32 addr, u8 *l2rh)
{
	u8 r[4] = { san, addr >> 16, addr >> 8, addr };

	return pw_eep_put_l2rh(l2rh, 8, r, 4);
}

static void add_router(u32 a, u32 b, u32 port)
{
	for (int side = 0; side < 2; side++) {
		struct hr *h = &hrs[nhr++];

		memset(h, 0, sizeof(*h));
		h->san = side ? b : a;
		h->addr = san_bias(h->san) + 0x80 + port;
		h->peer = san_bias(side ? a : b) + 0x80 + port;
		h->mtu = 1024 * (h->san + 1);
		h->up = true;
	}
}

static void start(u32 ntables, u32 per_san)
{
	for (int i = 0; i < nhr; i++) {
		for (u32 k = 0; k < ntables; k++) {
			hrs[i].table[k].nodes = hrs[i].nodes[k];
			hrs[i].table[k].nodes_cap = NODE_BYTES;
		}
		pw_rrp_db_init(&hrs[i].db, hrs[i].addr, hrs[i].peer, hrs[i].table, ntables, per_san);
	}
	qhead = qtail = 0;
	memset(taken, 0, sizeof(taken));
}

static void send(int to, int from, u16 te, u32 a, u32 b, const u8 *data, u32 len)
{
	struct msg *m = &queue[qtail++ % QLEN];

	if (qtail - qhead > qmax)
		qmax = qtail - qhead;
	if (qtail - qhead >= QLEN)
		abort();
	m->to = to;
	m->from = from;
	m->te = te;
	m->a = a;
	m->b = b;
	m->len = len;
	m->data = malloc(len + 1);
	if (len)
		memcpy(m->data, data, len);
}

/* to the peer half, or to all others on the same SAN */
static void tell(int i, enum pw_rrp_tell whom, u16 te, u32 a, u32 b, const u8 *data, u32 len)
{
	for (int k = 0; k < nhr; k++) {
		bool peer = hrs[k].addr == hrs[i].peer;
		bool neighbour = k != i && hrs[k].san == hrs[i].san;

		if (hrs[k].up && ((whom == PW_RRP_TELL_PEER && peer) ||
				  (whom == PW_RRP_TELL_NEIGHBOURS && neighbour))) {
			send(k, i, te, a, b, data, len);
			told++;
		}
	}
}

static void publish(int i, const struct pw_rrp_table *t, enum pw_rrp_tell whom)
{
	static u8 out[8192];
	struct pw_rrp_buf b;
	int len;

	pw_rrp_buf_init(&b, out, sizeof(out));
	pw_rrp_db_export(t, &b);
	len = pw_rrp_buf_done(&b);
	if (len > 0)
		tell(i, whom, PW_TE_RTBL, 0, 0, out, len);
}

static void announce(int i, u32 serial)
{
	static u8 nodes[NODE_BYTES];
	struct hr *h = &hrs[i];
	struct pw_rrp_buf b;
	u8 l2rh[8];
	int len;

	pw_rrp_buf_init(&b, nodes, sizeof(nodes));
	for (u32 n = 1; n <= NODES; n++) {
		pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, san_bias(h->san) + n, 0);
		pw_rrp_put_srqr(&b, 1, l2rh, native(h->san, san_bias(h->san) + n, l2rh));
	}
	len = pw_rrp_buf_done(&b);
	if (len < 0 || pw_rrp_db_own(&h->db, san_bias(h->san), serial, h->mtu, nodes, len))
		abort();
	for (u32 k = 0; k < h->db.ntables; k++)
		if (h->table[k].used && h->table[k].own)
			publish(i, &h->table[k], PW_RRP_TELL_PEER);
}

static void handle(struct msg *m)
{
	struct hr *h = &hrs[m->to];
	const struct pw_rrp_table *kept;
	enum pw_rrp_taken got;
	u8 l2rh[8];
	struct pw_rrp_link link = { .from = hrs[m->from].addr };

	if (!h->up)
		return;
	link.peer = link.from == h->peer;
	link.q = link.peer ? 1 : 10;
	link.mtu = link.peer ? 0 : h->mtu;
	if (!link.peer) {
		link.l2rh = l2rh;
		link.l2rh_len = native(h->san, link.from, l2rh);
	}
	if (m->te == PW_TE_RTBL) {
		got = pw_rrp_db_receive(&h->db, &link, m->data, m->len, &kept);
		taken[got]++;
		if (got == PW_RRP_TAKEN)
			publish(m->to, kept, pw_rrp_tell(link.peer));
	} else if (pw_rrp_db_hrdown(&h->db, link.from, m->a, m->b)) {
		tell(m->to, pw_rrp_tell(link.peer), 0, m->a, m->b, NULL, 0);
	}
}

/* Return: messages handled. */
static u32 settle(void)
{
	u32 n = 0;

	while (qhead != qtail) {
		struct msg m = queue[qhead++ % QLEN];

		handle(&m);
		free(m.data);
		n++;
	}
	return n;
}

/*
 * A packet at half-router @i for @dest: by L3 to the half-router that offers the
 * route, then along the route. Return: routers crossed, or -1; @avoid must not be met.
 */
static int walk(int i, u32 dest, u32 avoid)
{
	struct pw_rrp_route r;
	u8 route[2 * PW_RRP_MAX_CSR];
	u32 len, pos = 0;
	int hops = 0;

	if (!pw_rrp_db_lookup(&hrs[i].db, dest, &r))
		return -1;
	if (r.table->own)
		return 0;
	len = r.table->csr_len;
	memcpy(route, r.table->csr, len);
	memcpy(route + len, r.own, r.own_len);
	len += r.own_len;
	/* a route through the peer half begins on its SAN, one through a neighbour on mine */
	if (r.table->from_peer) {
		i = hr_of(hrs[i].peer);
		hops++;
	}
	while (pos < len) {
		u32 to = get_unaligned_be24(route + pos + 3);

		if (i < 0 || !hrs[i].up || hrs[i].addr == avoid || route[pos + 1] != 0x84 ||
		    route[pos + 2] != hrs[i].san)
			return -1;
		pos += 8;
		if (to == dest)
			return pos == len ? hops : -1;
		i = hr_of(to);
		if (i < 0 || !hrs[i].up || hrs[i].addr == avoid)
			return -1;
		i = hr_of(hrs[i].peer);
		hops++;
	}
	return -1;
}

/* every live half-router to every node; counts those without a good route */
static int unreachable(u32 avoid, int *longest, u32 except_san)
{
	int bad = 0;

	*longest = 0;
	for (int i = 0; i < nhr; i++) {
		if (!hrs[i].up)
			continue;
		for (u32 s = 0; s < SANS; s++) {
			for (u32 n = 1; n <= NODES; n++) {
				int h = walk(i, san_bias(s) + n, avoid);

				if (except_san < SANS && (s == except_san) != (hrs[i].san == except_san))
					continue;
				bad += h < 0;
				*longest = max(*longest, h);
			}
		}
	}
	return bad;
}

static void kill_router(int i)
{
	int t = hr_of(hrs[i].peer);

	hrs[i].up = hrs[t].up = false;
	/* the neighbours on both sides notice */
	for (int k = 0; k < nhr; k++) {
		if (!hrs[k].up || (hrs[k].san != hrs[i].san && hrs[k].san != hrs[t].san))
			continue;
		if (pw_rrp_db_hrdown(&hrs[k].db, 0, hrs[i].addr, hrs[t].addr)) {
			tell(k, PW_RRP_TELL_PEER, 0, hrs[i].addr, hrs[t].addr, NULL, 0);
			tell(k, PW_RRP_TELL_NEIGHBOURS, 0, hrs[i].addr, hrs[t].addr, NULL, 0);
		}
	}
}

static int holds(u32 addr)
{
	int n = 0;

	for (int i = 0; i < nhr; i++)
		for (u32 k = 0; hrs[i].up && k < hrs[i].db.ntables; k++)
			for (u32 j = 0; hrs[i].table[k].used && j < hrs[i].table[k].nrcvf; j++)
				n += hrs[i].table[k].rcvf[j] == addr;
	return n;
}

static void triangle(u32 ntables, u32 per_san)
{
	struct pw_rrp_route r;
	int longest, bad, n, mtu_bad = 0;

	nhr = 0;
	for (u32 copy = 0; copy < 2; copy++) {
		add_router(0, 1, copy);
		add_router(1, 2, 2 + copy);
		add_router(2, 0, 4 + copy);
	}
	start(ntables, per_san);
	for (int i = 0; i < nhr; i++)
		announce(i, 1);
	n = settle();
	diag("%u tables, %u for a SAN: %d messages; taken %u, loops %u, old %u, worse %u, long %u",
	     ntables, per_san, n, taken[PW_RRP_TAKEN], taken[PW_RRP_LOOP], taken[PW_RRP_OLD],
	     taken[PW_RRP_WORSE], taken[PW_RRP_TOO_LONG]);
	is(taken[PW_RRP_MALFORMED], 0, "no table was malformed");
	bad = unreachable(0, &longest, SANS);
	is(bad, 0, "every half-router knows a good route to all %d nodes", SANS * NODES);
	is(longest, 1, "and it crosses one router");
	/* MTU of the route = the smallest SAN on it but the first */
	for (int i = 0; i < nhr; i++)
		for (u32 s = 0; s < SANS; s++)
			if (pw_rrp_db_lookup(&hrs[i].db, san_bias(s) + 1, &r) && r.table->from_peer &&
			    r.mtu != 1024 * (s + 1))
				mtu_bad++;
	is(mtu_bad, 0, "with the MTU of the far SAN");

	for (int i = 0; i < nhr; i++)
		announce(i, 1);
	memset(taken, 0, sizeof(taken));
	settle();
	is(taken[PW_RRP_TAKEN], 0, "the same serial again changes nothing");
	for (int i = 0; i < nhr; i++)
		announce(i, 2);
	settle();
	ok(taken[PW_RRP_TAKEN] > 0, "a newer one is taken");
	is(unreachable(0, &longest, SANS), 0, "and leaves every route good");

	kill_router(0);
	n = settle();
	is(holds(hrs[0].addr) + holds(hrs[1].addr), 0, "router lost: no table goes through it (%d messages)", n);
	is(unreachable(hrs[0].addr, &longest, SANS), 0, "every node is reached by what was kept");
	for (int i = 0; i < nhr; i++)
		if (hrs[i].up)
			announce(i, 3);
	settle();
	is(unreachable(hrs[0].addr, &longest, SANS), 0, "every node is reached without it");
	is(longest, 1, "through the second router of the pair");

	kill_router(6);
	settle();
	for (int i = 0; i < nhr; i++)
		if (hrs[i].up)
			announce(i, 4);
	settle();
	is(unreachable(0, &longest, SANS), 0, "both routers of a pair lost: every node is reached");
	is(longest, 2, "through the third SAN");

	kill_router(2);
	kill_router(8);
	settle();
	for (int i = 0; i < nhr; i++)
		if (hrs[i].up)
			announce(i, 5);
	settle();
	is(unreachable(0, &longest, 1), 0, "SAN 1 cut off: the others reach each other");
	bad = 0;
	for (int i = 0; i < nhr; i++)
		for (u32 k = 1; hrs[i].up && k <= NODES; k++)
			bad += pw_rrp_db_lookup(&hrs[i].db, san_bias(1) + k, &r);
	is(bad, 0, "and no half-router offers a route to it");
}

/* rules one by one, on one half-router */
static void rules(void)
{
	static struct pw_rrp_table table[3];
	static u8 nodes[3][256];
	static u8 l2rh[8] = { 0, 0x81, 7 };
	struct pw_rrp_link neighbour = { .from = 0x110, .q = 5, .mtu = 512, .l2rh = l2rh, .l2rh_len = 8 };
	struct pw_rrp_link peer = { .from = 0x210, .peer = true, .q = 1 };
	const struct pw_rrp_table *t;
	struct pw_rrp_route r;
	struct pw_rrp_entry e[PW_RRP_MAX_RCVF + 1];
	struct pw_rrp_buf b;
	struct pw_rrp_db db;
	u8 d[1024], back[1024];
	int n;

	for (int i = 0; i < 3; i++) {
		table[i].nodes = nodes[i];
		table[i].nodes_cap = 256;
	}
	pw_rrp_db_init(&db, 0x10f, 0x210, table, 3, 2);
#define TABLE(san, serial, q, mtu, nr) do {						\
	pw_rrp_buf_init(&b, d, sizeof(d));						\
	pw_rrp_put_rthd(&b, san, serial);						\
	pw_rrp_put_srqr(&b, q, (const u8 *)"\0\x81\x0e\0\0\0\0", 8);			\
	pw_rrp_put_mtur(&b, mtu);							\
	pw_rrp_put_entries(&b, PW_RRP_RCVF, e, nr);					\
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, (san) + 1, 0);				\
	pw_rrp_put_srqr(&b, 3, (const u8 *)"\0\x81\x01\0\0\0\0", 8);			\
	n = pw_rrp_buf_done(&b);							\
} while (0)
	for (int i = 0; i <= PW_RRP_MAX_RCVF; i++)
		e[i] = (struct pw_rrp_entry){ PW_RRP_AT_SINGLE, 0x900 + i };
	e[0].addr = 0x110;
	TABLE(0x300, 7, 20, 1024, 2);
	is(pw_rrp_db_receive(&db, &neighbour, d, n, &t), PW_RRP_TAKEN, "a table from a neighbour");
	ok(t && t->q == 25 && t->mtu == 512 && t->csr_len == 16 && !memcmp(t->csr, l2rh, 8) &&
	   t->csr[10] == 0x0e && t->nrcvf == 3 && t->rcvf[0] == 0x10f && t->rcvf[1] == 0x110 &&
	   t->rcvf[2] == 0x901 && t->via == 0x110 && !t->from_peer,
	   "CSR, Q, MTU and RCVF as the rules say");
	pw_rrp_buf_init(&b, back, sizeof(back));
	pw_rrp_db_export(t, &b);
	is(pw_rrp_check_msg(PW_PT_RRP, PW_TE_RTBL, back, pw_rrp_buf_done(&b)), 0, "passed on");
	is(pw_rrp_tell(false), PW_RRP_TELL_PEER, "a neighbour's table goes to the peer half");
	is(pw_rrp_tell(true), PW_RRP_TELL_NEIGHBOURS, "the peer half's to the neighbours");
	ok(pw_rrp_db_lookup(&db, 0x301, &r) && r.q == 28 && r.mtu == 512 && r.own_len == 8 &&
	   r.table == t, "a route to its node");
	ok(!pw_rrp_db_lookup(&db, 0x302, &r), "none to another");
	is(pw_rrp_db_receive(&db, &neighbour, d, n, &t), PW_RRP_OLD, "the same again");
	TABLE(0x300, 6, 20, 1024, 2);
	is(pw_rrp_db_receive(&db, &neighbour, d, n, &t), PW_RRP_OLD, "an older serial");
	TABLE(0x300, 8, 0xfff0, 1024, 2);
	is(pw_rrp_db_receive(&db, &neighbour, d, n, &t), PW_RRP_TAKEN, "a newer serial");
	ok(t && t->q == 0xfff5, "its quality");
	TABLE(0x300, 7 + 0x80000000u, 0xffff, 0, 2);
	is(pw_rrp_db_receive(&db, &neighbour, d, n, &t), PW_RRP_TAKEN, "serials go round");
	ok(t && t->q == 0xffff && t->mtu == 512, "quality ends at the worst, unlimited is the largest");
	e[1].addr = 0x10f;
	TABLE(0x300, 9, 1, 0, 2);
	is(pw_rrp_db_receive(&db, &neighbour, d, n, &t), PW_RRP_LOOP, "I stand in its RCVF");
	e[1].addr = 0x901;
	e[0].addr = 0x111;
	TABLE(0x300, 9, 1, 0, 2);
	is(pw_rrp_db_receive(&db, &neighbour, d, n, &t), PW_RRP_MALFORMED, "the sender is not the newest");
	e[0].addr = 0x110;
	TABLE(0x300, 9, 1, 0, PW_RRP_MAX_RCVF);
	is(pw_rrp_db_receive(&db, &neighbour, d, n, &t), PW_RRP_TOO_LONG, "too long a route");
	is(pw_rrp_db_receive(&db, &neighbour, d, n - 8, &t), PW_RRP_MALFORMED, "a cut table");
	e[0].addr = 0x210;
	TABLE(0x300, 1, 2, 100, 1);
	is(pw_rrp_db_receive(&db, &peer, d, n, &t), PW_RRP_TAKEN, "another route, from the peer half");
	ok(t && t->csr_len == 8 && t->q == 3 && t->mtu == 100 && t->from_peer, "no L2RH to a peer half");
	ok(pw_rrp_db_lookup(&db, 0x301, &r) && r.table == t && r.q == 6, "least Q wins");
	e[0].addr = 0x110;
	e[1].addr = 0x999;
	TABLE(0x300, 1, 100, 0, 2);
	is(pw_rrp_db_receive(&db, &neighbour, d, n, &t), PW_RRP_TAKEN, "a third route takes the worst one's place");
	e[1].addr = 0x998;
	TABLE(0x300, 1, 200, 0, 2);
	is(pw_rrp_db_receive(&db, &neighbour, d, n, &t), PW_RRP_WORSE, "a worse one does not");
	TABLE(0x400, 1, 200, 0, 1);
	is(pw_rrp_db_receive(&db, &neighbour, d, n, &t), PW_RRP_TAKEN, "another SAN has its own share");
	is(pw_rrp_db_linkdown(&db, 0, 0x999, 0x110), 1, "a link lost takes the route over it");
	is(pw_rrp_db_linkdown(&db, 0, 0x210, 0x110), 0, "two that are not neighbours are no link");
	is(pw_rrp_db_hrdown(&db, 0, 0x777, 0), 0, "a stranger lost changes nothing");
	is(pw_rrp_db_hrdown(&db, 0, 0x777, 0x210), 1, "either half of a router counts");
	is(pw_rrp_db_hrdown(&db, 0, 0x110, 0), 1, "and the last one");
	ok(!pw_rrp_db_lookup(&db, 0x301, &r) && !pw_rrp_db_lookup(&db, 0x401, &r), "nothing is left");
	is(pw_rrp_db_own(&db, 0x100, 1, 0, d, n), -EINVAL, "own table with records that do not belong");
	is(pw_rrp_db_own(&db, 0x100, 1, 0, NULL, 0), 0, "an own table without nodes");
	is(pw_rrp_db_hrdown(&db, 0, 0x10f, 0), 0, "the own table is not lost to an error");
	/* room for nodes is what the caller says, to the byte */
	pw_rrp_db_init(&db, 0x10f, 0x210, table, 1, 0);
	TABLE(0x300, 1, 1, 0, 1);
	table[0].nodes_cap = 23;
	is(pw_rrp_db_receive(&db, &neighbour, d, n, &t), PW_RRP_TOO_LONG, "nodes of 24 bytes in 23");
	ok(!t && !table[0].used && !table[0].nodes_len, "nothing was kept of them");
	is(pw_rrp_db_own(&db, 0x300, 1, 0, d + n - 24, 24), -ENOSPC, "nor as the own ones");
	table[0].nodes_cap = 24;
	is(pw_rrp_db_receive(&db, &neighbour, d, n, &t), PW_RRP_TAKEN, "in 24");
	/* the range of the SAN is last: each part of a table repeats it at its end */
	for (int last = 0; last < 2; last++) {
		struct pw_rrp_span span;

		pw_rrp_buf_init(&b, d, sizeof(d));
		for (int i = 0; i < 2; i++) {
			if (i == last)
				pw_rrp_put_addr(&b, PW_RRP_AT_MIN, 0x101, 0x110);
			else
				pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, 0x101, 0);
			pw_rrp_put_srqr(&b, 3, NULL, 0);
			pw_rrp_end_addr(&b);
		}
		is(pw_rrp_check_own(0x100, d, pw_rrp_buf_done(&b), &span), last ? 0 : -EINVAL,
		   "a range %s", last ? "behind the nodes" : "between nodes");
	}
	/* a table that costs too much to search */
	for (int more = 0; more < 2; more++) {
		static u8 many[16 * (PW_RRP_MAX_ADDRS + 1)];
		struct pw_rrp_span span;

		pw_rrp_buf_init(&b, many, sizeof(many));
		for (u32 i = 0; i < PW_RRP_MAX_ADDRS + more; i++) {
			pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, 0x101, 0);
			pw_rrp_put_srqr(&b, 3, NULL, 0);
			pw_rrp_end_addr(&b);
		}
		is(pw_rrp_check_own(0x100, many, pw_rrp_buf_done(&b), &span), more ? -ENOSPC : 0,
		   "%d ADDRs", PW_RRP_MAX_ADDRS + more);
	}
	ok(pw_rrp_mtu_min(0, 0) == 0 && pw_rrp_mtu_min(0, 5) == 5 && pw_rrp_mtu_min(5, 0) == 5 &&
	   pw_rrp_mtu_min(5, 6) == 5 && pw_rrp_mtu_min(6, 5) == 5, "smaller of two MTUs");
}

/* any bytes as an RTBL: bounded and consistent */
/* a table of @san with one node and one range, from 0x210; into @d */
static u32 claim(u8 *d, u32 san, u32 via, u16 q, u32 min, u32 max)
{
	struct pw_rrp_buf b;

	pw_rrp_buf_init(&b, d, 256);
	pw_rrp_put_rthd(&b, san, 1);
	pw_rrp_put_srqr(&b, q, NULL, 0);
	pw_rrp_put_mtur(&b, 0);
	pw_rrp_put_entries(&b, PW_RRP_RCVF, (struct pw_rrp_entry[]){ { 1, 0x210 }, { 1, via } }, 2);
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, min, 0);
	pw_rrp_put_srqr(&b, 0, NULL, 0);
	pw_rrp_end_addr(&b);
	pw_rrp_put_addr(&b, PW_RRP_AT_MIN, min, max);
	pw_rrp_put_srqr(&b, 0, NULL, 0);
	return pw_rrp_buf_done(&b);
}

/* whose word counts for which addresses */
static void claims(void)
{
	static struct pw_rrp_table table[4];
	static u8 nodes[4][256];
	struct pw_rrp_link near = { .from = 0x210 }, far = { .from = 0x210, .peer = true, .far = true };
	const struct pw_rrp_table *t;
	struct pw_rrp_route r;
	struct pw_rrp_db db;
	u8 d[256];
	u32 i;

#define CLAIM(link, ...) pw_rrp_db_receive(&db, link, d, claim(d, __VA_ARGS__), &t)
	for (i = 0; i < 4; i++) {
		table[i].nodes = nodes[i];
		table[i].nodes_cap = 256;
	}
	pw_rrp_db_init(&db, 0x110, 0x210, table, 4, 2);
	is(CLAIM(&far, 0x500, 0x991, 9, 0x501, 0x510), PW_RRP_TAKEN, "a SAN behind a trunk");
	ok(t->min == 0x501 && t->max == 0x510 && t->far && t->fresh, "with its range");
	is(CLAIM(&far, 0x500, 0x992, 9, 0x501, 0x601), PW_RRP_FOREIGN, "more than 256 addresses");
	is(CLAIM(&far, 0x500, 0x992, 9, 0x500, 0x510), PW_RRP_FOREIGN, "the SAN's own address");
	is(CLAIM(&far, 0x4f0, 0x992, 0, 0x505, 0x505), PW_RRP_FOREIGN, "another SAN's addresses");
	is(CLAIM(&far, 0x300, 0x992, 0, 0x505, 0x505), PW_RRP_FOREIGN, "those of none near it");
	ok(pw_rrp_db_lookup(&db, 0x501, &r) && r.table->san == 0x500, "the first one stays");
	is(CLAIM(&near, 0x4f0, 0x993, 9, 0x505, 0x520), PW_RRP_TAKEN, "without a trunk it counts more");
	ok(!pw_rrp_db_lookup(&db, 0x501, &r) && pw_rrp_db_lookup(&db, 0x505, &r) &&
	   r.table->san == 0x4f0, "and takes their place");
	is(CLAIM(&near, 0x4f0, 0x994, 9, 0x505, 0x520), PW_RRP_TAKEN, "a second route");
	is(CLAIM(&far, 0x4f0, 0x995, 0, 0x505, 0x520), PW_RRP_WORSE, "no trunk is as good");
	is(CLAIM(&far, 0x600, 0x995, 0, 0x601, 0x620), PW_RRP_TAKEN, "a free place");
	is(CLAIM(&far, 0x700, 0x995, 0, 0x701, 0x720), PW_RRP_TAKEN, "the last one");
	is(CLAIM(&far, 0x800, 0x995, 0, 0x801, 0x820), PW_RRP_WORSE, "then the first ones stay");
	is(CLAIM(&near, 0x800, 0x995, 99, 0x801, 0x820), PW_RRP_TAKEN, "unless no trunk is on the route");
	is(pw_rrp_db_hrdown(&db, 0x999, 0x993, 0), 0, "another neighbour's word takes no route");
	is(pw_rrp_db_linkdown(&db, 0x999, 0x210, 0x993), 0, "nor a link");
	is(pw_rrp_db_hrdown(&db, 0x210, 0x993, 0), 1, "that of the one who told it does");
#undef CLAIM
}

static void hostile(void)
{
	unsigned long n = tap_scaled(200000), i, got[7] = { 0 };
	static struct pw_rrp_table table[4];
	static u8 nodes[4][256];
	struct pw_rrp_link link = { .from = 5, .q = 3 };
	const struct pw_rrp_table *t;
	struct pw_rrp_route r;
	struct pw_rrp_db db;
	u8 d[256], *exact;
	int bad = 0;

	for (i = 0; i < 4; i++) {
		table[i].nodes = nodes[i];
		table[i].nodes_cap = 256;
	}
	pw_rrp_db_init(&db, 9, 10, table, 4, 2);
	for (i = 0; i < n; i++) {
		struct pw_rrp_buf b;
		u32 len, k = tap_rand(&seed) % 4;

		pw_rrp_buf_init(&b, d, sizeof(d));
		pw_rrp_put_rthd(&b, tap_rand(&seed) % 6, i);
		pw_rrp_put_srqr(&b, tap_rand(&seed) >> 48, (const u8 *)"\0\x81\x0e\0\0\0\0", 8);
		pw_rrp_put_mtur(&b, tap_rand(&seed) >> 32);
		pw_rrp_put_entries(&b, PW_RRP_RCVF, (struct pw_rrp_entry[]){ { 1, 5 },
				   { 1, tap_rand(&seed) % 12 } }, 1 + (k & 1));
		pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, tap_rand(&seed) % 6, 0);
		pw_rrp_put_srqr(&b, 1, NULL, 0);
		len = pw_rrp_buf_done(&b);
		while (k--)
			d[(tap_rand(&seed) >> 20) % len] ^= 1 << tap_rand(&seed) % 8;
		exact = malloc(len);
		memcpy(exact, d, len);
		got[pw_rrp_db_receive(&db, &link, exact, len, &t)]++;
		free(exact);
		if (i % 50 == 0)
			pw_rrp_db_hrdown(&db, 0, tap_rand(&seed) % 12, 0);
		for (u32 j = 0; j < 4; j++)
			bad += table[j].used && (table[j].nrcvf > PW_RRP_MAX_RCVF ||
			       table[j].csr_len > PW_RRP_MAX_CSR || table[j].nodes_len > 256 ||
			       table[j].rcvf[0] != 9 || pw_rrp_check(nodes[j], table[j].nodes_len));
		pw_rrp_db_lookup(&db, i % 6, &r);
	}
	diag("%lu tables: %lu taken, %lu loops, %lu old, %lu worse, %lu long, %lu malformed", n,
	     got[0], got[1], got[2], got[3], got[4], got[5]);
	is(bad, 0, "hostile tables leave the kept ones bounded and well formed");
	ok(got[0] && got[1] && got[3] && got[5], "they reach most verdicts");
}

int main(void)
{
	queue = calloc(QLEN, sizeof(*queue));
	rules();
	triangle(64, 0);
	triangle(32, 8);
	triangle(12, 4);
	diag("at most %u messages under way", qmax);
	claims();
	hostile();
	free(queue);
	return tap_done();
}
