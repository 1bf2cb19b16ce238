// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as RRP records: nothing is read past the end, what is accepted
 * builds again, and as a routing table it leaves the kept ones well formed. A table that is
 * kept is the same after it was cut into parts and joined; any part may come at any time.
 */
#include "rrp_parts.h"
#include "rrp_table.h"
#include "../user/rrp_gen.h"

#define CHECK(c) do { if (!(c)) abort(); } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void stage_empty(struct pw_rrp_stage *s)
{
	for (u32 i = 0; i <= s->last; i++) {
		free(s->part[i]);
		s->part[i] = NULL;
	}
	s->used = false;
}

/* a message as a part; the whole table, to be freed, once all are there */
static u8 *part_in(struct pw_rrp_stage *stage, u32 n, const u8 *data, size_t size, size_t *len)
{
	struct pw_rrp_stage *s;
	static u32 age;
	struct pw_rrp_part p;
	u8 *all;

	if (pw_rrp_check_msg(PW_PT_RRP, PW_TE_RTBL, data, size) || !pw_rrp_part_parse(data, size, &p))
		return NULL;
	CHECK(p.head + p.head_len <= data + size && p.nodes + p.nodes_len <= data + size);
	s = pw_rrp_stage_pick(stage, n, 1, n, &p);
	if (!pw_rrp_stage_is(s, 1, &p)) {
		stage_empty(s);
		pw_rrp_stage_begin(s, 1, age++, &p);
	}
	if (s->part[p.part] || !pw_rrp_stage_put(s, &p, malloc(p.nodes_len + 1)))
		return NULL;
	*len = pw_rrp_stage_size(s);
	all = malloc(*len);
	pw_rrp_stage_join(s, all);
	stage_empty(s);
	return all;
}

/* cut, in any order, and joined: the same bytes as in one message */
static void cut_and_join(const struct pw_rrp_table *t, u32 room, bool back)
{
	static struct pw_rrp_stage stage[1];
	u32 n = pw_rrp_cut_count(t, room);
	struct pw_rrp_cut cut[512] = { 0 };
	u8 whole[2048], msg[2048], *all = NULL;
	struct pw_rrp_buf b;
	size_t len = 0;

	CHECK(n && n < 512);
	pw_rrp_buf_init(&b, whole, sizeof(whole));
	pw_rrp_db_export(t, &b);
	CHECK(pw_rrp_buf_done(&b) == (int)pw_rrp_export_len(t));
	for (u32 i = 0; i < n; i++) {
		if (i)
			cut[i] = cut[i - 1];
		CHECK(pw_rrp_cut_next(t, room, &cut[i]));
	}
	for (u32 i = 0; i < n && n <= PW_RRP_PARTS_MAX; i++) {
		const struct pw_rrp_cut *c = &cut[back ? n - 1 - i : i];
		struct pw_rrp_buf m;

		CHECK(!all);
		pw_rrp_buf_init(&m, msg, sizeof(msg));
		pw_rrp_cut_export(t, c, n, &m);
		CHECK(pw_rrp_buf_done(&m) == (int)pw_rrp_cut_size(t, c));
		all = part_in(stage, 1, msg, m.len, &len);
	}
	if (n <= PW_RRP_PARTS_MAX)
		CHECK(all && len == b.len && !memcmp(all, whole, len));
	free(all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pw_rrp_stage stage[2];
	static struct pw_rrp_table table[4];
	static u8 nodes[4][512];
	static struct pw_rrp_db db;
	struct pw_rrp_link link = { .from = 1, .peer = true, .q = 1 };
	const struct pw_rrp_table *t;
	struct pw_rrp_route r;
	size_t len;
	u8 *out;
	int err;

	if (!db.table) {
		for (int i = 0; i < 4; i++) {
			table[i].nodes = nodes[i];
			table[i].nodes_cap = sizeof(nodes[i]);
		}
		pw_rrp_db_init(&db, 9, 1, table, 4, 2);
	}
	err = pw_rrp_check(data, size);
	CHECK(err >= 0 && err < PW_RRP_E_NUM);
	for (int te = 0; te <= 10; te++) {
		int e = pw_rrp_check_msg(te & 1 ? PW_PT_RRP : PW_PT_ERR, te, data, size);

		CHECK(!err || e == err);
	}
	if (!err) {
		out = malloc(size + 1);
		CHECK(!rgen_broken(data, size, out, false));
		free(out);
	}
	free(part_in(stage, 2, data, size, &len));
	/* the sender that the table claims, so that some are taken */
	if (size >= 48)
		link.from = get_unaligned_be24(data + 45);
	if (pw_rrp_db_receive(&db, &link, data, size, &t) == PW_RRP_TAKEN) {
		CHECK(t->nrcvf <= PW_RRP_MAX_RCVF && t->csr_len <= PW_RRP_MAX_CSR &&
		      t->nodes_len <= t->nodes_cap && t->rcvf[0] == 9);
		CHECK(!pw_rrp_check(t->nodes, t->nodes_len));
		cut_and_join(t, 8, false);
		cut_and_join(t, 100, true);
		pw_rrp_db_lookup(&db, t->san + 1, &r);
	}
	if (size && data[size - 1] == 0xff)
		pw_rrp_db_hrdown(&db, 0, data[0], 0);
	return 0;
}
