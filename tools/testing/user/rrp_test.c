// SPDX-License-Identifier: GPL-2.0
#include "rrp.h"
#include "rrp_gen.h"
#include "rrp_vectors.h"
#include "tap.h"

static unsigned long long seed = 0xbb67ae8584caa73bULL;

static u8 recs[4096], out[4096];

/* builds what @b holds into a message and compares */
static void message(const char *what, u16 te, u32 dt, u32 sa, struct pw_rrp_buf *b,
		    const u8 *want, size_t want_len, int dl)
{
	struct pw_eep_view v;
	int len = pw_rrp_buf_done(b), n;

	is(len, 8 * dl, "%s: DL = %d", what, dl);
	n = pw_rrp_build_msg(PW_PT_RRP, te, dt, sa, 0, recs, len, out, sizeof(out));
	ok(n == (int)want_len && !memcmp(out, want, want_len), "%s: bytes", what);
	ok(!pw_eep_parse(want, want_len, &v) && v.te == te && v.pt == PW_PT_RRP && v.e == 0 &&
	   !v.h && v.dl == (u32)dl && v.pl == 0, "%s: parses as an EEP message", what);
	is(pw_rrp_check_msg(v.pt, v.te, want + v.db_off, v.data_len), 0, "%s: its records", what);
}

static void examples(void)
{
	static const u8 route[] = { 3, 0, 3, 0 }, sizes[] = { 4, 8 };
	static const struct pw_rrp_capa capa[] = { { 7, 2, sizes }, { 5, 0, NULL } };
	static const struct pw_rrp_node node2 = { V_NODE2, "Super", 5, capa, 2, NULL, 0 };
	static const struct pw_eep_prefix pf = { PW_EEP_L2RH, 0, route, 4 };
	u8 l2rh[64], data[16];
	struct pw_eep_msg m7 = { .hdr = { .dt = V_NODE2, .sa = V_NODE1, .data_len = 16,
					  .pt = PW_PT_ATON, .e = 3 },
				 .prefix = &pf, .nprefix = 1, .data = data };
	struct pw_rrp_iter it, in;
	struct pw_rrp_rec rec, sub;
	struct pw_rrp_entry e;
	struct pw_rrp_buf b;
	const u8 *r;
	u32 pos = 0, rl;
	int n, n2;

	pw_rrp_buf_init(&b, recs, sizeof(recs));
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, V_NODE2, 0);
	message("M1 HRTO", PW_TE_HRTO, V_RTRA1, V_NODE1, &b, vec_m1, sizeof(vec_m1), 1);

	pw_rrp_buf_init(&b, recs, sizeof(recs));
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, V_NODE2, 0);
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, V_RTRB1, 0);
	message("M2 RDRC", PW_TE_RDRC, V_NODE1, V_RTRA1, &b, vec_m2, sizeof(vec_m2), 2);

	pw_rrp_buf_init(&b, recs, sizeof(recs));
	message("M3 WRU", PW_TE_WRU, V_NODE2, V_NODE1, &b, vec_m3, sizeof(vec_m3), 0);

	pw_rrp_buf_init(&b, recs, sizeof(recs));
	pw_rrp_put_node(&b, &node2);
	message("M4 INFO", PW_TE_INFO, V_NODE1, V_NODE2, &b, vec_m4, sizeof(vec_m4), 5);

	pw_rrp_buf_init(&b, recs, sizeof(recs));
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, V_NODE2, 0);
	message("M5 GVL2", PW_TE_GVL2, V_RTRB1, V_NODE1, &b, vec_m5, sizeof(vec_m5), 1);

	n = pw_eep_put_l2rh(l2rh, sizeof(l2rh), route, 4);
	pw_rrp_buf_init(&b, recs, sizeof(recs));
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, V_NODE2, 0);
	pw_rrp_put_srqr(&b, 1, l2rh, n);
	pw_rrp_put_mtur(&b, 1024);
	message("M6 L2SR", PW_TE_L2SR, V_NODE1, V_RTRB1, &b, vec_m6, sizeof(vec_m6), 4);

	for (int i = 0; i < 16; i++)
		data[i] = i;
	n = pw_eep_build(&m7, out, sizeof(out));
	ok(n == (int)sizeof(vec_m7) && !memcmp(out, vec_m7, n), "M7 data: bytes");

	/* M6 gives what M7 has in front */
	pw_rrp_iter_init(&it, vec_m6 + 16, sizeof(vec_m6) - 24);
	ok(pw_rrp_next(&it, &rec) == 1 && rec.type == PW_RRP_ADDR && rec.addr == V_NODE2 &&
	   rec.data_len == 24, "M6: ADDR with three words inside");
	pw_rrp_iter_nested(&in, &rec);
	ok(pw_rrp_next(&in, &sub) == 1 && sub.type == PW_RRP_SRQR && sub.q == 1 &&
	   sub.data_len == 8 && !memcmp(sub.data, vec_m7, 8), "M6: the route is M7's prefix");
	ok(pw_rrp_next_l2rh(&sub, &pos, &r, &rl) && rl == 4 && !memcmp(r, route, 4) &&
	   !pw_rrp_next_l2rh(&sub, &pos, &r, &rl), "M6: its routing bytes");
	ok(pw_rrp_next(&in, &sub) == 1 && sub.type == PW_RRP_MTUR && sub.mtu == 1024 &&
	   pw_rrp_next(&in, &sub) == 0 && pw_rrp_next(&it, &rec) == 0, "M6: MTU, and the end");

	pw_rrp_buf_init(&b, recs, sizeof(recs));
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, V_NODE2, 0);
	n = pw_eep_put_l2rh(l2rh, 64, (const u8 *)"\1\2\3\4\5", 5);
	n2 = pw_eep_put_l2rh(l2rh + n, 64 - n, (const u8 *)"\6\7\10\11", 4);
	pw_rrp_put_srqr2(&b, 5, l2rh, n, l2rh + n, n2);
	pw_rrp_put_mtur(&b, 1024);
	n = pw_eep_put_l2rh(l2rh, 64, (const u8 *)"\12\13\14", 3);
	pw_rrp_put_srqr(&b, 9, l2rh, n);
	pw_rrp_put_mtur(&b, 512);
	n = pw_rrp_buf_done(&b);
	ok(n == (int)sizeof(vec_two_routes) && !memcmp(recs, vec_two_routes, n), "two routes: bytes");
	is(pw_rrp_check_msg(PW_PT_RRP, PW_TE_L2SR, vec_two_routes, sizeof(vec_two_routes)), 0,
	   "two routes: an L2SR");

	pw_rrp_buf_init(&b, recs, sizeof(recs));
	pw_rrp_put_entries(&b, PW_RRP_LADR, (struct pw_rrp_entry[]){ { 1, 0xe00001 },
			   { 1, 0xe00007 }, { 2, 0xe00100 }, { 3, 0xe001ff } }, 4);
	n = pw_rrp_buf_done(&b);
	ok(n == (int)sizeof(vec_ladr) && !memcmp(recs, vec_ladr, n), "LADR: bytes");
	pw_rrp_iter_init(&it, vec_ladr, sizeof(vec_ladr));
	ok(pw_rrp_next(&it, &rec) == 1 && rec.data_len == 16 && pw_rrp_entry_at(&rec, 3, &e) &&
	   e.at == 3 && e.addr == 0xe001ff && !pw_rrp_entry_at(&rec, 4, &e), "LADR: four entries");
	ok(pw_rrp_entries_match(&rec, 0xe00001) && pw_rrp_entries_match(&rec, 0xe00007) &&
	   pw_rrp_entries_match(&rec, 0xe00100) && pw_rrp_entries_match(&rec, 0xe00180) &&
	   pw_rrp_entries_match(&rec, 0xe001ff) && !pw_rrp_entries_match(&rec, 0xe00200) &&
	   !pw_rrp_entries_match(&rec, 0xe00002), "LADR: whom it means");

	pw_rrp_buf_init(&b, recs, sizeof(recs));
	pw_rrp_put_name(&b, "Grendel", 7);
	n = pw_rrp_buf_done(&b);
	ok(n == 16 && !memcmp(recs, vec_name7, n), "a name of 7 bytes has PL = 5");

	pw_rrp_buf_init(&b, recs, sizeof(recs));
	pw_rrp_put_addr(&b, PW_RRP_AT_MIN, 0x201, 0x210);
	n = pw_rrp_buf_done(&b);
	ok(n == 16 && !memcmp(recs, vec_range, n), "an address range: bytes");
	pw_rrp_iter_init(&it, vec_range, 16);
	ok(pw_rrp_next(&it, &rec) == 1 && !rec.data_len && pw_rrp_addr_match(&rec, 0x201) &&
	   pw_rrp_addr_match(&rec, 0x210) && !pw_rrp_addr_match(&rec, 0x211) &&
	   !pw_rrp_addr_match(&rec, 0x200), "an address range: whom it means");
	rec.at = PW_RRP_AT_VALUE;
	rec.addr = 0x1200;
	rec.addr2 = 0xff00;
	ok(pw_rrp_addr_match(&rec, 0x12ff) && !pw_rrp_addr_match(&rec, 0x1300), "value and mask");

	pw_rrp_buf_init(&b, recs, sizeof(recs));
	pw_rrp_put_rthd(&b, 0x200, 7);
	pw_rrp_put_srqr(&b, 2, (const u8 *)"\0\x81\x0e\0\0\0\0", 8);
	pw_rrp_put_mtur(&b, 1024);
	pw_rrp_put_entries(&b, PW_RRP_RCVF, (struct pw_rrp_entry[]){ { 1, V_RTRB1 }, { 1, 0x210 } },
			   2);
	pw_rrp_put_node(&b, &(struct pw_rrp_node){ .addr = V_NODE2, .name = "nod2", .name_len = 4,
			.capa = &(struct pw_rrp_capa){ 1, 0, NULL }, .ncapa = 1 });
	pw_rrp_put_srqr(&b, 1, (const u8 *)"\0\x81\1\0\0\0\0", 8);
	n = pw_rrp_buf_done(&b);
	ok(n == (int)sizeof(vec_rtbl) && !memcmp(recs, vec_rtbl, n), "RTBL: bytes");
	is(pw_rrp_check_msg(PW_PT_RRP, PW_TE_RTBL, vec_rtbl, sizeof(vec_rtbl)), 0, "RTBL: records");
}

static const struct {
	int err;
	u8 len;
	u8 b[32];
	const char *what;
} refused[] = {
	{ PW_RRP_E_LEN, 7, { 0x16 }, "7 bytes" },
	{ PW_RRP_E_RTYP, 8, { 0x10 }, "record type 0x10" },
	{ PW_RRP_E_RTYP, 8, { 0x19 }, "record type 0x19" },
	{ PW_RRP_E_RTYP, 8, { 0x01 }, "an address type in place of a record type" },
	{ PW_RRP_E_RL, 8, { 0x12, 0, 0, 1 }, "NAME of two words in one" },
	{ PW_RRP_E_RL, 8, { 0x12, 0, 0xff, 0xff }, "NAME of 64 Ki words in one" },
	{ PW_RRP_E_RL, 16, { 0x16, 0, 0, 1 }, "MTUR of two words" },
	{ PW_RRP_E_RL, 8, { 0x18, 0, 0, 0, 1 }, "RTHD of one word" },
	{ PW_RRP_E_RL, 24, { 0x11, 0, 0, 1, 1, 0, 0, 1, 0x12, 0, 0, 1 }, "NAME runs out of its ADDR" },
	{ PW_RRP_E_PL, 8, { 0x11, 1, 0, 0, 1 }, "ADDR, single, with PL = 1" },
	{ PW_RRP_E_PL, 16, { 0x11, 0, 0, 1, 2, 0, 0, 1, 3 }, "ADDR, range, with PL = 0" },
	{ PW_RRP_E_PL, 8, { 0x12, 5, 0, 0 }, "NAME, one word, PL = 5" },
	{ PW_RRP_E_PL, 16, { 0x12, 8, 0, 1 }, "NAME with PL = 8" },
	{ PW_RRP_E_PL, 8, { 0x13, 4, 0, 0 }, "CAPA without its code" },
	{ PW_RRP_E_PL, 16, { 0x13, 8, 0, 1 }, "CAPA with PL = 8" },
	{ PW_RRP_E_PL, 16, { 0x14, 3, 0, 1 }, "LADR with PL = 3" },
	{ PW_RRP_E_PL, 16, { 0x17, 8, 0, 1 }, "RCVF with PL = 8" },
	{ PW_RRP_E_PL, 8, { 0x15, 0, 0, 0 }, "SRQR with PL = 0" },
	{ PW_RRP_E_PL, 8, { 0x16, 1, 0, 0 }, "MTUR with PL = 1" },
	{ PW_RRP_E_PL, 16, { 0x18, 4, 0, 1, 1 }, "RTHD with PL = 4" },
	{ PW_RRP_E_AT, 8, { 0x11, 0, 0, 0, 3 }, "ADDR that begins with the end of a range" },
	{ PW_RRP_E_AT, 8, { 0x11, 0, 0, 0, 0 }, "ADDR without address type" },
	{ PW_RRP_E_AT, 8, { 0x14, 0, 0, 0, 5 }, "LADR that begins with a mask" },
	{ PW_RRP_E_AT, 16, { 0x18, 0, 0, 1, 2 }, "RTHD with a range" },
	{ PW_RRP_E_PAIR, 8, { 0x11, 4, 0, 0, 2 }, "ADDR, range, one word" },
	{ PW_RRP_E_PAIR, 16, { 0x11, 4, 0, 1, 2, 0, 0, 1, 5 }, "ADDR, minimum and mask" },
	{ PW_RRP_E_PAIR, 8, { 0x14, 0, 0, 0, 2 }, "LADR that ends in half a range" },
	{ PW_RRP_E_PAIR, 16, { 0x14, 0, 0, 1, 2, 0, 0, 1, 1 }, "LADR, minimum and single" },
	{ PW_RRP_E_NEST, 16, { 0x11, 0, 0, 1, 1, 0, 0, 1, 0x11, 0, 0, 0, 1 }, "ADDR in ADDR" },
	{ PW_RRP_E_NEST, 16, { 0x11, 0, 0, 1, 1, 0, 0, 1, 0x17, 4 }, "RCVF in ADDR" },
	{ PW_RRP_E_NEST, 24, { 0x11, 0, 0, 2, 1, 0, 0, 1, 0x18, 0, 0, 1, 1 }, "RTHD in ADDR" },
	{ PW_RRP_E_ROUTE, 16, { 0x15, 2, 0, 1, 0, 0, 0, 0, 0, 0x80 }, "L2RH of length 0" },
	{ PW_RRP_E_ROUTE, 16, { 0x15, 2, 0, 1, 0, 0, 0, 0, 0, 0x87 }, "L2RH runs out of its SRQR" },
	{ PW_RRP_E_ROUTE, 16, { 0x15, 2, 0, 1, 0, 0, 0, 0, 0, 0x04 }, "no L2RH in the SRQR" },
	{ PW_RRP_E_ROUTE, 16, { 0x15, 2, 0, 1, 0, 0, 0, 0, 0x40, 0x84 }, "L2RH of version 1" },
};

static void errors(void)
{
	bool seen[PW_RRP_E_NUM] = { true };
	int missing = 0;

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		u8 *b = malloc(refused[i].len);

		memcpy(b, refused[i].b, refused[i].len);
		is(pw_rrp_check(b, refused[i].len), refused[i].err, "%s: %s: %s", refused[i].what,
		   pw_rrp_err_field(refused[i].err), pw_rrp_err_str(refused[i].err));
		seen[refused[i].err] = true;
		free(b);
	}
	seen[PW_RRP_E_MSG] = true;
	for (int i = 0; i < PW_RRP_E_NUM; i++)
		missing += !seen[i] || (i && !*pw_rrp_err_field(i));
	is(missing, 0, "every error was seen and names a field");
	ok(!strcmp(pw_rrp_rtyp_name(PW_RRP_RTHD), "RTHD") && !pw_rrp_rtyp_name(0x10) &&
	   !pw_rrp_rtyp_name(0x19), "names of record types");
}

static void grammar(void)
{
	static const u8 addr[8] = { 0x11, 0, 0, 0, 1, 0, 0, 1 }, mtur[8] = { 0x16 };
	static const u8 bad_l2sr[16] = { 0x11, 0, 0, 1, 1, 0, 0, 1, 0x16 };
	static const u8 no_rcvf[32] = { 0x18, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x15, 2, 0, 0,
		0, 0, 0, 0, 0x16 };
	static const struct { u16 pt, te; const u8 *b; size_t n; int err; const char *what; } t[] = {
		{ 1, PW_TE_GVL2, NULL, 0, PW_RRP_E_MSG, "GVL2 of nothing" },
		{ 1, PW_TE_GVL2, addr, 8, 0, "GVL2 of an address" },
		{ 1, PW_TE_GVL2, vec_m4 + 16, 40, PW_RRP_E_MSG, "GVL2 of a description" },
		{ 1, PW_TE_GVL2, vec_m2 + 16, 16, PW_RRP_E_MSG, "GVL2 of two addresses" },
		{ 1, PW_TE_RDRC, addr, 8, PW_RRP_E_MSG, "RDRC with one address" },
		{ 1, PW_TE_RDRC, vec_m2 + 16, 16, 0, "RDRC with two" },
		{ 1, PW_TE_L2SR, addr, 8, PW_RRP_E_MSG, "L2SR without route" },
		{ 1, PW_TE_L2SR, bad_l2sr, 16, PW_RRP_E_MSG, "L2SR with an MTUR before the SRQR" },
		{ 1, PW_TE_INFO, mtur, 8, PW_RRP_E_MSG, "INFO with an MTUR" },
		{ 1, PW_TE_INFO, vec_m6 + 16, 32, PW_RRP_E_MSG, "INFO with a route" },
		{ 1, PW_TE_TELL, vec_name7, 16, 0, "TELL by name" },
		{ 1, PW_TE_TELL, vec_range, 16, 0, "TELL by range" },
		{ 1, PW_TE_TELL, mtur, 8, PW_RRP_E_MSG, "TELL by MTU" },
		{ 1, PW_TE_WRU, addr, 8, PW_RRP_E_MSG, "WRU with an address" },
		{ 1, PW_TE_GVRT, NULL, 0, 0, "GVRT" },
		{ 1, PW_TE_RTBL, addr, 8, PW_RRP_E_MSG, "RTBL without header" },
		{ 1, PW_TE_RTBL, no_rcvf, 32, PW_RRP_E_MSG, "RTBL without RCVF" },
		{ 1, 0, NULL, 0, PW_RRP_E_MSG, "message 0" },
		{ 1, 10, NULL, 0, PW_RRP_E_MSG, "message 10" },
		{ 65535, PW_TE_ERR_HRDOWN, vec_m2 + 16, 16, 0, "HRDOWN" },
		{ 65535, PW_TE_ERR_HRDOWN, addr, 8, PW_RRP_E_MSG, "HRDOWN with one side" },
		{ 65535, PW_TE_ERR_LINKDOWN, vec_m2 + 16, 16, 0, "LINKDOWN" },
		{ 65535, PW_TE_ERR_TOOBIG, mtur, 8, 0, "TOOBIG" },
		{ 65535, PW_TE_ERR_TOOBIG, NULL, 0, PW_RRP_E_MSG, "TOOBIG without MTUR" },
		{ 65535, PW_TE_ERR_UNK, vec_name7, 16, 0, "UNK" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		is(pw_rrp_check_msg(t[i].pt, t[i].te, t[i].b, t[i].n), t[i].err, "%s", t[i].what);
}

static void builder(void)
{
	struct pw_rrp_entry half = { PW_RRP_AT_MIN, 1 };
	struct pw_rrp_buf b, mark;

	pw_rrp_buf_init(&b, recs, 15);
	pw_rrp_put_mtur(&b, 1);
	mark = b;
	pw_rrp_put_mtur(&b, 2);
	is(pw_rrp_buf_done(&b), -ENOSPC, "no room for a second record");
	is(pw_rrp_buf_done(&mark), 8, "a copy of the builder takes it back");
	pw_rrp_buf_init(&b, recs, sizeof(recs));
	pw_rrp_put_addr(&b, PW_RRP_AT_MAX, 1, 0);
	is(pw_rrp_buf_done(&b), -EINVAL, "an ADDR cannot begin with the end of a range");
	pw_rrp_buf_init(&b, recs, sizeof(recs));
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, 1 << 24, 0);
	is(pw_rrp_buf_done(&b), -EINVAL, "an address of 25 bits");
	pw_rrp_buf_init(&b, recs, sizeof(recs));
	pw_rrp_put_entries(&b, PW_RRP_LADR, &half, 1);
	is(pw_rrp_buf_done(&b), -EINVAL, "half a range");
	pw_rrp_buf_init(&b, recs, sizeof(recs));
	pw_rrp_put_srqr(&b, 0, (const u8 *)"\0\0\0\0\0\0\0", 8);
	is(pw_rrp_buf_done(&b), -EINVAL, "a route that is none");
	pw_rrp_buf_init(&b, recs, sizeof(recs));
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, 1, 0);
	pw_rrp_put_rthd(&b, 1, 1);
	pw_rrp_put_mtur(&b, 1);
	ok(pw_rrp_buf_done(&b) == 32 && recs[3] == 0, "an RTHD ends the ADDR before it");
	is(pw_rrp_build_msg(1, 1, 1, 2, 0, recs, 8, out, 31), -ENOSPC, "no room for a message");
	is(pw_rrp_build_msg(1, 1, 0, 2, 0, recs, 8, out, 32), -EINVAL, "message without a destination");
}

static void round_trip(void)
{
	unsigned long n = tap_scaled(100000), i, built = 0, records = 0, nested = 0;
	const char *broken = NULL;

	for (i = 0; i < n; i++) {
		struct pw_rrp_buf b;
		const char *why;
		u8 *exact;
		int len;

		pw_rrp_buf_init(&b, recs, sizeof(recs));
		rgen_records(&b, &seed);
		len = pw_rrp_buf_done(&b);
		if (len < 0)
			continue;
		built++;
		records += len > 0;
		nested += len >= 16 && recs[0] == PW_RRP_ADDR && get_unaligned_be16(recs + 2);
		exact = malloc(len ? len : 1);
		memcpy(exact, recs, len);
		if (pw_rrp_check(exact, len))
			broken = "check";
		why = rgen_broken(exact, len, out, true);
		if (why)
			broken = why;
		free(exact);
	}
	diag("%lu record lists, %lu not empty, %lu beginning with an ADDR that holds others", n,
	     records, nested);
	is(built, n, "random records are built");
	ok(!broken, "parsed and built again, they are the same%s%s", broken ? ": " : "",
	   broken ? broken : "");
	ok(nested > n / 20, "many with records inside an ADDR");
}

static void truncations(void)
{
	unsigned long n = tap_scaled(1000), i, cuts = 0, refused_n = 0, words = 0;

	for (i = 0; i < n; i++) {
		struct pw_rrp_buf b;
		u32 starts = 0;
		int len;

		pw_rrp_buf_init(&b, recs, sizeof(recs));
		rgen_records(&b, &seed);
		len = pw_rrp_buf_done(&b);
		for (int cut = 0; cut < len; cut++) {
			u8 *exact = malloc(cut ? cut : 1);
			int err;

			memcpy(exact, recs, cut);
			err = pw_rrp_check(exact, cut);
			cuts++;
			refused_n += err > 0;
			/* the only cuts that leave whole records are those between them */
			if (!err) {
				struct pw_rrp_iter it;
				struct pw_rrp_rec rec;
				bool between = cut == 0;

				pw_rrp_iter_init(&it, recs, len);
				while (pw_rrp_next(&it, &rec) > 0)
					between |= rec.raw + rec.size == recs + cut;
				starts += between;
				words += !between;
			}
			free(exact);
		}
		refused_n += starts;
	}
	is(refused_n, cuts, "%lu truncations: refused unless between two records", cuts);
	is(words, 0, "no record was cut and let pass");
}

static void mutations(void)
{
	unsigned long n = tap_scaled(2000000), i, accepted = 0, kinds = 0;
	unsigned long by[PW_RRP_E_NUM] = { 0 };
	const char *broken = NULL, *why;
	u8 *exact = NULL;
	int len = 0;

	for (i = 0; i < n; i++) {
		u32 k = 1 + rgen_below(&seed, 3), at[3];
		u8 old[3];
		int err;

		if (i % 100 == 0) {
			struct pw_rrp_buf b;

			free(exact);
			do {
				pw_rrp_buf_init(&b, recs, sizeof(recs));
				rgen_records(&b, &seed);
				len = pw_rrp_buf_done(&b);
			} while (len <= 0);
			exact = malloc(len);
			memcpy(exact, recs, len);
		}
		for (u32 j = 0; j < k; j++) {
			at[j] = rgen_below(&seed, len);
			if (rgen_below(&seed, 2))
				at[j] &= ~4U;	/* where types and lengths are */
			old[j] = exact[at[j]];
			exact[at[j]] = rgen_below(&seed, 2) ? exact[at[j]] ^ 1 << rgen_below(&seed, 8) :
				       rgen_below(&seed, 26);
		}
		err = pw_rrp_check(exact, len);
		if (err < 0 || err >= PW_RRP_E_NUM) {
			broken = "return value";
		} else {
			by[err]++;
			accepted += !err;
			if (!err && i % 8 == 0) {
				why = rgen_broken(exact, len, out, false);
				if (why)
					broken = why;
			}
			if (i % 16 == 0)
				pw_rrp_check_msg(i % 3 ? PW_PT_RRP : PW_PT_ERR, i % 11, exact, len);
		}
		while (k--)
			exact[at[k]] = old[k];
	}
	free(exact);
	for (int e = 1; e < PW_RRP_E_NUM; e++)
		kinds += by[e] > 0;
	diag("%lu mutated record lists, %lu accepted, %lu kinds of refusal", n, accepted, kinds);
	ok(!broken, "what is accepted is consistent and builds again%s%s", broken ? ": " : "",
	   broken ? broken : "");
	ok(accepted && kinds == 7, "the mutations reach acceptance and every refusal but odd lengths");
}

int main(void)
{
	examples();
	errors();
	grammar();
	builder();
	round_trip();
	truncations();
	mutations();
	return tap_done();
}
