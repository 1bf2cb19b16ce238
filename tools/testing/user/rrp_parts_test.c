// SPDX-License-Identifier: GPL-2.0
/*
 * Tables in parts: cut to any size and joined again they are the same, in whatever order the
 * parts come; stages are taken by the rules; ranges of logical addresses are those of a plain
 * set.
 */
#include <stdlib.h>

#include "rrp_groups.h"
#include "rrp_parts.h"
#include "tap.h"

#define STAGES 4

static u8 nodes[200000], msg[200000], joined[200000];
static struct pw_rrp_stage stage[STAGES];
static unsigned long long seed = 20;

static u32 below(u32 n)
{
	return n ? tap_rand(&seed) % n : 0;
}

/* a table of @n nodes with names of random lengths; @range: and the range of the SAN */
static void make_table(struct pw_rrp_table *t, u32 n, bool range)
{
	char name[128];
	struct pw_rrp_buf b;
	u8 l2rh[8];
	u32 i;

	memset(name, 'n', sizeof(name));
	memset(t, 0, sizeof(*t));
	pw_rrp_buf_init(&b, nodes, sizeof(nodes));
	for (i = 0; i < n; i++) {
		pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, 0x101 + i, 0);
		pw_rrp_put_name(&b, name, below(sizeof(name)));
		pw_rrp_put_srqr(&b, 1, l2rh, pw_eep_put_l2rh(l2rh, 8, (const u8 *)"\1", 1));
	}
	if (range) {
		pw_rrp_put_addr(&b, PW_RRP_AT_MIN, 0x101, 0x200);
		pw_rrp_put_srqr(&b, 2, NULL, 0);
		t->range_len = 24;
	}
	t->used = true;
	t->san = 0x100;
	t->serial = tap_rand(&seed);
	t->nrcvf = 1 + below(PW_RRP_MAX_RCVF);
	for (i = 0; i < t->nrcvf; i++)
		t->rcvf[i] = 0x1000 + i;
	t->nodes = nodes;
	t->nodes_len = pw_rrp_buf_done(&b);
}

static void empty(struct pw_rrp_stage *s)
{
	for (u32 i = 0; i <= s->last; i++) {
		free(s->part[i]);
		s->part[i] = NULL;
	}
	s->used = false;
}

/* send @t in parts of @room bytes, in random order and some twice; 0: joined as it was */
static int carry(const struct pw_rrp_table *t, u32 room)
{
	static u8 sent[PW_RRP_PARTS_MAX][9300];
	static u32 len[PW_RRP_PARTS_MAX], order[2 * PW_RRP_PARTS_MAX];
	u32 parts = pw_rrp_cut_count(t, room), i, n = 0;
	struct pw_rrp_cut cut = { 0 };
	struct pw_rrp_stage *s;
	struct pw_rrp_part p;
	struct pw_rrp_buf b;
	bool done = false;

	if (parts > PW_RRP_PARTS_MAX)
		return 1;
	while (pw_rrp_cut_next(t, room, &cut)) {
		pw_rrp_buf_init(&b, sent[n], pw_rrp_cut_size(t, &cut));
		pw_rrp_cut_export(t, &cut, parts, &b);
		len[n] = pw_rrp_cut_size(t, &cut);
		if (pw_rrp_buf_done(&b) != (int)len[n] || cut.part != n ||
		    pw_rrp_check_msg(PW_PT_RRP, PW_TE_RTBL, sent[n], len[n]))
			return 2;
		/* more than one node only if they fit */
		if (cut.len + t->range_len > max(room, 200U))
			return 3;
		n++;
	}
	if (n != parts)
		return 4;
	for (i = 0; i < 2 * n; i++)
		order[i] = i % n;
	for (i = 2 * n - 1; i; i--) {
		u32 k = below(i + 1);

		swap(order[i], order[k]);
	}
	for (i = 0; i < 2 * n && !done; i++) {
		if (!pw_rrp_part_parse(sent[order[i]], len[order[i]], &p) || p.last != n - 1)
			return 5;
		s = pw_rrp_stage_pick(stage, STAGES, 7, 2, &p);
		if (!pw_rrp_stage_is(s, 7, &p)) {
			empty(s);
			pw_rrp_stage_begin(s, 7, i, &p);
		}
		if (!s->part[p.part])
			done = pw_rrp_stage_put(s, &p, malloc(p.nodes_len + 1));
	}
	if (!done)
		return 6;
	pw_rrp_stage_join(s, joined);
	i = pw_rrp_stage_size(s);
	empty(s);
	pw_rrp_buf_init(&b, msg, sizeof(msg));
	pw_rrp_db_export(t, &b);
	return pw_rrp_buf_done(&b) != (int)i || memcmp(msg, joined, i) ? 7 : 0;
}

static void cut_and_join(void)
{
	static const u32 rooms[] = { 200, 1024, 1400, 8192 };
	struct pw_rrp_table t;
	int bad, wrong = 0;

	for (int i = 0; i < 400; i++) {
		u32 room = rooms[below(4)];

		make_table(&t, below(room == 200 ? 100 : 257), below(2));
		bad = carry(&t, room);
		if (bad && !wrong++)
			diag("table %d: %d", i, bad);
	}
	ok(!wrong, "tables that are cut and joined again are the same");
	make_table(&t, 0, false);
	is(pw_rrp_cut_count(&t, 8192), 1, "a table without nodes has one part");
	is(carry(&t, 8192), 0, "which is joined, too");
	make_table(&t, 256, true);
	ok(t.nodes_len > 8192 && pw_rrp_cut_count(&t, 8192) > 1, "256 nodes need more than one");
	is(pw_rrp_cut_count(&t, 1 << 20), 1, "unless there is room");
}

/* a part with given numbers */
static u32 make_part(u16 part, u16 last, u32 serial)
{
	struct pw_rrp_entry e = { PW_RRP_AT_SINGLE, 7 };
	struct pw_rrp_buf b;

	pw_rrp_buf_init(&b, msg, sizeof(msg));
	pw_rrp_put_rthd_part(&b, 0x100, serial, part, last);
	pw_rrp_put_srqr(&b, 0, NULL, 0);
	pw_rrp_put_mtur(&b, 0);
	pw_rrp_put_entries(&b, PW_RRP_RCVF, &e, 1);
	return pw_rrp_buf_done(&b);
}

static struct pw_rrp_stage *pick(u32 from, u32 serial, u32 age)
{
	struct pw_rrp_stage *s;
	struct pw_rrp_part p;

	if (!pw_rrp_part_parse(msg, make_part(1, 2, serial), &p))
		return NULL;
	s = pw_rrp_stage_pick(stage, STAGES, from, 2, &p);
	if (!pw_rrp_stage_is(s, from, &p)) {
		empty(s);
		pw_rrp_stage_begin(s, from, age, &p);
	}
	return s;
}

static void stages(void)
{
	struct pw_rrp_stage *a, *b, *c, *d, *e;
	struct pw_rrp_part p;

	ok(!pw_rrp_part_parse(msg, make_part(3, 2, 1), &p), "a part behind the last one");
	ok(!pw_rrp_part_parse(msg, make_part(0, PW_RRP_PARTS_MAX, 1), &p), "too many parts");
	ok(pw_rrp_part_parse(msg, make_part(0, 0, 1), &p) && !p.nodes_len, "a table by itself");
	memset(stage, 0, sizeof(stage));
	a = pick(7, 1, 1);
	b = pick(7, 2, 2);
	ok(a && b && a != b && pick(7, 1, 3) == a, "each serial has its own stage");
	ok(pick(7, 3, 4) == a, "a sender with its share gives up its oldest one");
	c = pick(8, 1, 5);
	d = pick(9, 1, 6);
	ok(c != a && c != b && d != a && d != b && c != d, "others have theirs");
	e = pick(10, 1, 7);
	ok(e == b, "then the oldest of all goes");
}

/* random LADRs against a plain set of bits */
static void ranges(void)
{
	static u8 set[1 << 20];
	static struct pw_rrp_range r[400];
	struct pw_rrp_entry e[60];
	struct pw_rrp_groups g;
	struct pw_rrp_table t;
	struct pw_rrp_buf b;
	u32 wrong = 0, loose = 0, i, k, n;

	for (int turn = 0; turn < 30; turn++) {
		memset(set, 0, sizeof(set));
		memset(&t, 0, sizeof(t));
		pw_rrp_buf_init(&b, nodes, sizeof(nodes));
		for (k = 0; k < 5; k++) {
			pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, 0x101 + k, 0);
			for (n = 0; n < 50; ) {
				u32 a = PW_ADDR_LOGICAL_MIN + below(3000), z = a + below(20);
				u32 mask = 0xffffff << below(6) & 0xffffff;

				switch (below(3)) {
				case 0:
					e[n++] = (struct pw_rrp_entry) { PW_RRP_AT_SINGLE, a };
					set[a & 0xfffff] = 1;
					break;
				case 1:
					e[n++] = (struct pw_rrp_entry) { PW_RRP_AT_MIN, a };
					e[n++] = (struct pw_rrp_entry) { PW_RRP_AT_MIN + 1, z };
					memset(set + (a & 0xfffff), 1, z - a + 1);
					break;
				default:
					e[n++] = (struct pw_rrp_entry) { PW_RRP_AT_VALUE, a };
					e[n++] = (struct pw_rrp_entry) { PW_RRP_AT_VALUE + 1, mask };
					memset(set + (a & mask & 0xfffff), 1, (~mask & 0xfffff) + 1);
				}
			}
			pw_rrp_put_entries(&b, PW_RRP_LADR, e, n);
			pw_rrp_put_srqr(&b, 1, NULL, 0);
		}
		t.used = true;
		t.nodes = nodes;
		t.nodes_len = pw_rrp_buf_done(&b);
		pw_rrp_groups_init(&g, r, 400);
		pw_rrp_groups_add(&g, &t);
		pw_rrp_groups_done(&g);
		wrong += g.all;
		for (i = 0; i < 4000; i++)
			wrong += pw_rrp_ranges_have(r, g.n, PW_ADDR_LOGICAL_MIN + i) != set[i];
		/* without room: more, never less */
		pw_rrp_groups_init(&g, r, 20);
		pw_rrp_groups_add(&g, &t);
		pw_rrp_groups_done(&g);
		loose += g.all;
		for (i = 0; i < 4000; i++)
			wrong += set[i] && !pw_rrp_ranges_have(r, g.n, PW_ADDR_LOGICAL_MIN + i);
	}
	ok(!wrong, "singles, ranges and masks: exactly the addresses that they mean");
	ok(loose, "without room the set is that of all");
	pw_rrp_groups_init(&g, r, 4);
	pw_rrp_buf_init(&b, nodes, sizeof(nodes));
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, 0x101, 0);
	e[0] = (struct pw_rrp_entry) { PW_RRP_AT_VALUE, 0x000005 };
	e[1] = (struct pw_rrp_entry) { PW_RRP_AT_VALUE + 1, 0xf00000 };
	e[2] = (struct pw_rrp_entry) { PW_RRP_AT_MIN, 0x000001 };
	e[3] = (struct pw_rrp_entry) { PW_RRP_AT_MIN + 1, 0x7fffff };
	e[4] = (struct pw_rrp_entry) { PW_RRP_AT_SINGLE, 0x000007 };
	pw_rrp_put_entries(&b, PW_RRP_LADR, e, 5);
	t.nodes_len = pw_rrp_buf_done(&b);
	pw_rrp_groups_add(&g, &t);
	pw_rrp_groups_done(&g);
	is(g.n, 0, "addresses that are not logical do not count");
}

int main(void)
{
	cut_and_join();
	stages();
	ranges();
	return tap_done();
}
