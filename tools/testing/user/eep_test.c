// SPDX-License-Identifier: GPL-2.0
#include "eep.h"
#include "eep_gen.h"
#include "tap.h"

static unsigned long long seed = 0x6a09e667f3bcc908ULL;

/* hex text to bytes in a block of exactly that size, so that ASan sees the end */
static u8 *hex(const char *s, size_t *len)
{
	u8 *out = malloc(strlen(s) / 2 + 1);
	unsigned int b;
	u8 *exact;
	size_t n = 0;

	for (; *s; s++)
		if (*s != ' ') {
			sscanf(s++, "%2x", &b);
			out[n++] = b;
		}
	exact = malloc(n ? n : 1);
	memcpy(exact, out, n);
	free(out);
	*len = n;
	return exact;
}

static int parse_hex(const char *s, struct pw_eep_view *v)
{
	size_t len;
	u8 *b = hex(s, &len);
	int err = pw_eep_parse(b, len, v);

	free(b);
	return err;
}

/* worked by hand from the layout tables */
static void known(void)
{
	static const u8 route[] = { 3, 0, 3, 0 };
	static const u8 nine[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	static const struct pw_eep_prefix pf[] = {
		{ PW_EEP_SYMBOL, PW_SYM_TRACE, NULL, 0 },
		{ PW_EEP_L2RH, 0, route, 4 },
		{ PW_EEP_SYMBOL, PW_SYM_PRIO, (const u8 *)"\x2a", 1 },
	};
	static const struct pw_eep_opt oh[] = {
		{ nine, 8, PW_OH_TIMESTAMP, false },
		{ NULL, 0, PW_OH_CRC32, true },
	};
	static const struct pw_eep_opt ot[] = {
		{ (const u8 *)"\x11\x22\x33\x44", 4, PW_OH_CRC32, false },
	};
	struct pw_eep_msg m = {
		.hdr = { .dt = 0x000102, .sa = 0x000304, .data_len = 9, .te = 2, .pt = PW_PT_ECHO,
			 .p = 5, .e = PW_E_LITTLE | PW_E_32 },
		.prefix = pf, .nprefix = 3, .oh = oh, .noh = 2, .data = nine, .ot = ot, .nots = 1,
		.ei = 1,
	};
	static const char text[] =
		"00f0000200000000"			/* trace symbol */
		"0084030003000000"			/* L2RH, 4 routing bytes */
		"00f00003012a0000"			/* priority symbol, 1 byte */
		"0500010200020403" "ae00000200000304"	/* header: E=a PL=7 DL=2, h below */
		"0308010203040506" "0708000000000000"	/* timestamp */
		"c100000000000000"			/* CRC32, mandatory, last */
		"0102030405060708" "0900000000000000"	/* data */
		"4104112233440000"			/* OT */
		"0000000000000001";			/* TAIL */
	struct pw_eep_view v;
	struct pw_eep_hop hop;
	u32 need;
	u8 out[256];
	size_t len;
	u8 *want = hex(text, &len);
	int n;

	want[24 + 12] |= 0x80;
	n = pw_eep_build(&m, out, sizeof(out));
	is(n, (int)len, "length of the message worked by hand");
	ok(n == (int)len && !memcmp(out, want, len), "its bytes");
	is(pw_eep_msg_len(&m), (int)len, "its length beforehand");
	is(pw_eep_build(&m, out, len - 1), -ENOSPC, "one byte too little room");
	is(pw_eep_parse(want, len, &v), 0, "it parses");
	ok(v.dt == 0x102 && v.sa == 0x304 && v.te == 2 && v.pt == 1027 && v.p == 5 && v.e == 10 &&
	   v.pl == 7 && v.dl == 2 && v.h && v.v == 0 && v.data_len == 9 && v.ei == 1, "its fields");
	ok(v.nl2rh == 1 && v.nsym == 2 && v.hdr_off == 24 && v.oh_off == 40 && v.oh_len == 24 &&
	   v.db_off == 64 && v.ot_off == 80 && v.ot_len == 8 && v.tail_off == 88, "its offsets");
	ok(v.oh_mask == 0xa && v.oh_mand == 0x2 && v.nann == 1 && v.ann == 0, "its option masks");

	is(pw_eep_consume_l2rh(want, len, len, &hop), 0, "a half-router takes symbol and L2RH");
	ok(hop.consumed == 16 && hop.route_off == 10 && hop.route_len == 4 && hop.trace &&
	   hop.nsym == 1 && hop.prio == -1, "what it took");
	is(pw_eep_consume_l2rh(want, 8, len, &hop), -EAGAIN, "with one word in sight it asks");
	is(hop.need, 16, "for the next one");
	is(pw_eep_consume_l2rh(want + 16, len - 16, len - 16, &hop), PW_EEP_E_NO_L2RH,
	   "the next half-router finds no L2RH");
	is(hop.consumed, 8, "only a symbol");
	is(pw_eep_consume_symbols(want + 16, len - 16, len - 16, &hop), 0, "a host takes it");
	ok(hop.consumed == 8 && hop.prio == 42 && !hop.trace, "and reads the priority");
	is(pw_eep_find_header(want, len, len, 24, &need), 24, "the header is where it is");
	is(pw_eep_find_header(want, len, len, 8, &need), -EINVAL, "not behind a symbol");
	free(want);
}

/* L2RHs of all lengths in front of a header */
static void find_header(void)
{
	u8 frame[PW_EEP_MAX_PREFIX_LEN + 512] = { 0 };
	int bad = 0, short_bad = 0;
	u32 need, l, at;

	for (l = 0; l <= 63; l++) {
		at = pw_l2rh_size(l);
		memset(frame, 0, sizeof(frame));
		frame[1] = PW_EEP_B1_L2RH | l;
		frame[at + 1] = PW_EEP_B1_L2RH | 1;
		at += pw_l2rh_size(1);
		bad += pw_eep_find_header(frame, at + 16, at + 16, 0, &need) != (int)at;
		need = 0;
		bad += pw_eep_find_header(frame, at + 15, at + 16, 0, &need) != -EAGAIN || need != at + 16;
		short_bad += pw_eep_find_header(frame, at + 15, at + 15, 0, &need) != -EINVAL;
	}
	is(bad, 0, "the header behind two L2RHs, with and without its last byte in sight");
	is(short_bad, 0, "a frame that ends in it");
	for (at = 0; at < sizeof(frame); at += 8)
		frame[at + 1] = PW_EEP_B1_L2RH | 1;
	is(pw_eep_find_header(frame, sizeof(frame), sizeof(frame), 0, &need), -EINVAL,
	   "more prefixes than there may be");
}

static void sizes(void)
{
	int bad = 0;

	for (u32 l = 0; l <= 255; l++) {
		bad += l && l <= 63 && pw_l2rh_size(l) != (2 + l + 7) / 8 * 8;
		bad += pw_sym_size(l) != (5 + l + 7) / 8 * 8;
		bad += pw_opt_size(l) != (2 + l + 7) / 8 * 8;
	}
	is(bad, 0, "every element is its header and data, rounded up to words");
	for (u32 l = 0; l < 100; l++)
		bad += 8 * pw_eep_dl(l) - pw_eep_pl(l) != l || pw_eep_pl(l) > 7;
	bad += pw_eep_dl(PW_EEP_MAX_DATA) != PW_EEP_DL_MAX || pw_eep_pl(PW_EEP_MAX_DATA) != 0;
	is(bad, 0, "8 DL - PL is the length of the data");
}

static void first_word(void)
{
	int bad = 0;

	for (int b = 0; b < 256; b++) {
		u8 w[4] = { 0, b, 0, 0 };
		enum pw_eep_kind k = pw_eep_first(w), want =
			b < 0x80 ? PW_EEP_PHYS : b < 0xc0 ? PW_EEP_L2RH : b < 0xe0 ? PW_EEP_RESERVED :
			b < 0xf0 ? PW_EEP_LOGICAL : PW_EEP_SYMBOL;

		bad += k != want;
	}
	is(bad, 0, "four bytes tell what a message begins with");
}

#define H0 "0000000100000403"		/* to 1, PT 1027 */
#define TAIL "0000000000000000"
static const struct {
	int err;
	const char *hex;
	const char *what;
} refused[] = {
	{ PW_EEP_E_FRAME, "", "empty frame" },
	{ PW_EEP_E_PREFIX_TRUNC, "00000001000004", "7 bytes" },
	{ PW_EEP_E_PREFIX_TRUNC, "0081000000000000", "nothing behind an L2RH" },
	{ PW_EEP_E_L2RH_LEN, "0080000000000000" H0 "0000000000000002" TAIL, "L2RH of length 0" },
	{ PW_EEP_E_L2RH_OVERRUN, "00bf000000000000" H0 "0000000000000002" TAIL, "long L2RH" },
	{ PW_EEP_E_SYM_OVERRUN, "00f00001ff000000" H0 "0000000000000002" TAIL, "long symbol" },
	{ PW_EEP_E_VERSION, "4000000100000403" "0000000000000002" TAIL, "V=1 in the header" },
	{ PW_EEP_E_VERSION, "8081000000000000" H0 "0000000000000002" TAIL, "V=2 in an L2RH" },
	{ PW_EEP_E_VERSION, "c0f0000100000000" H0 "0000000000000002" TAIL, "V=3 in a symbol" },
	{ PW_EEP_E_HDR_TRUNC, H0 "00000000000000", "15 bytes of header" },
	{ PW_EEP_E_DT_RESERVED, "00c0000000000403" "0000000000000002" TAIL, "DT 1100" },
	{ PW_EEP_E_DT_RESERVED, "00dfffff00000403" "0000000000000002" TAIL, "DT 1101" },
	{ PW_EEP_E_DT_UNDEF, "0000000000000403" "0000000000000002" TAIL, "DT 0" },
	{ PW_EEP_E_ESIZE, H0 "5000000000000002" TAIL, "E=5" },
	{ PW_EEP_E_ESIZE, H0 "f000000000000002" TAIL, "E=15" },
	{ PW_EEP_E_SA, H0 "0000000000800002" TAIL, "SA with its first bit set" },
	{ PW_EEP_E_PL, H0 "0200000000000002" TAIL, "PL=1, DL=0" },
	{ PW_EEP_E_DL, H0 "0000000200000002" TAIL, "DL=2, one word in the frame" },
	{ PW_EEP_E_DL, H0 "01ffffff00000002" TAIL, "DL at its maximum" },
	{ PW_EEP_E_TAIL, H0 "0000000100000002" TAIL, "no TAIL behind the data block" },
	{ PW_EEP_E_TAIL, H0 "0000000000000002" "00000000000000", "7 bytes of TAIL" },
	{ PW_EEP_E_TAIL, H0 "0000000000000002" TAIL "00", "one byte more" },
	{ PW_EEP_E_TRAILING, H0 "0000000000000002" TAIL TAIL, "two words of zeros" },
	{ PW_EEP_E_TRAILING, H0 "0000000000000002" "0000000000000001" TAIL, "EI = 1 and a word more" },
	{ PW_EEP_E_TRAILING, H0 "0000000000000002" "4900000000000000" TAIL TAIL, "TAIL twice" },
	{ PW_EEP_E_OH_OVERRUN, H0 "0000000080000002" "43ff000000000000" TAIL, "long OH" },
	{ PW_EEP_E_OH_LAST, H0 "0000000080000002" "0300000000000000", "OH not the last" },
	{ PW_EEP_E_OT_OVERRUN, H0 "0000000000000002" "49ff000000000000" TAIL, "long OT" },
	{ PW_EEP_E_OT_LAST, H0 "0000000000000002" "0900000000000000" TAIL, "OT not the last" },
	{ PW_EEP_E_OT_MISSING, H0 "0000000080000002" "4100000000000000" TAIL, "CRC32 without OT" },
	{ PW_EEP_E_OT_MISSING, H0 "0000000080000002" "4100000000000000" "4900000000000000" TAIL,
	  "another OT instead" },
	{ PW_EEP_E_OT_MISSING, H0 "0000000080000002" "0100000000000000" "4200000000000000"
	  "0200000000000000" "4104000000000000" TAIL, "OTs not in the order of the OHs" },
};

static void errors(void)
{
	bool seen[PW_EEP_E_NUM] = { [PW_EEP_OK] = true };
	struct pw_eep_view v;
	int bad = 0, clash = 0;
	u8 *b;
	int n;

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		is(parse_hex(refused[i].hex, &v), refused[i].err, "%s: %s %s", refused[i].what,
		   pw_eep_err_field(refused[i].err), pw_eep_err_str(refused[i].err));
		seen[refused[i].err] = true;
	}
	is(parse_hex(H0 "0000000000000002" TAIL, &v), 0, "the message that they were made from");
	is(parse_hex(H0 "0000000080000002" "0100000000000000" "4200000000000000"
		     "0900000000000000" "0104000000000000" "0200000000000000" "4a00000000000000"
		     TAIL, &v), 0, "self-defined OTs around the announced ones are let pass");
	ok(parse_hex("4000000100000403" "0000000000000002" TAIL, &v) && v.hdr_seen && v.sa == 2 &&
	   pw_eep_may_answer(&v), "the source of a message of another version is known");

	/* limits, with lengths that need no table */
	n = PW_EEP_MAX_PREFIX_LEN + 8 + 24;
	b = calloc(1, n);
	for (int i = 0; i < PW_EEP_MAX_PREFIX_LEN + 8; i += 8)
		memcpy(b + i, "\0\xf0\0\1", 4);
	memcpy(b + n - 24, "\0\0\0\1", 4);
	is(pw_eep_parse(b, n, &v), PW_EEP_E_PREFIX_LIMIT, "one symbol too many");
	seen[PW_EEP_E_PREFIX_LIMIT] = true;
	is(pw_eep_parse(b + 8, n - 8, &v), 0, "as many as allowed");
	is(v.nsym, PW_EEP_MAX_PREFIX_LEN / 8, "all counted");
	free(b);
	for (int extra = 0; extra < 2; extra++) {
		int words = PW_EEP_MAX_OPTS + extra;
		u8 *oh, *ot;

		n = 16 + words * 8 + 8;
		oh = calloc(1, n);
		ot = calloc(1, n);
		oh[3] = ot[3] = 1;
		oh[12] = PW_EEP_H;
		for (int i = 0; i < words; i++)
			oh[16 + i * 8] = ot[16 + i * 8] = (i + 1 == words ? PW_OPT_C : 0) | 9;
		is(pw_eep_parse(oh, n, &v), extra ? PW_EEP_E_OH_LIMIT : 0, "%d OHs", words);
		is(pw_eep_parse(ot, n, &v), extra ? PW_EEP_E_OT_LIMIT : 0, "%d OTs", words);
		free(oh);
		free(ot);
	}
	seen[PW_EEP_E_OH_LIMIT] = seen[PW_EEP_E_OT_LIMIT] = true;
	/* these three come from other calls */
	seen[PW_EEP_E_NO_L2RH] = seen[PW_EEP_E_CRC32] = seen[PW_EEP_E_CRC64] = true;
	for (int i = 0; i < PW_EEP_E_NUM; i++) {
		bad += !seen[i];
		for (int j = 0; j < i; j++)
			clash += !strcmp(pw_eep_err_name(i), pw_eep_err_name(j));
		clash += i && !*pw_eep_err_field(i);
	}
	is(bad, 0, "every error code was seen");
	is(clash, 0, "every error code has a field and a name of its own");
	ok(!strcmp(pw_eep_err_field(-5), "?") && !strcmp(pw_eep_err_name(99), "unknown"),
	   "codes that do not exist do no harm");
	is(pw_eep_err_te(PW_EEP_E_DT_UNDEF), PW_TE_ERR_UNK, "DT 0 is reported as UNK");
	is(pw_eep_err_te(PW_EEP_E_L2RH_LEN), PW_TE_ERR_BADL2RH, "a bad L2RH as BADL2RH");
	is(pw_eep_err_te(PW_EEP_E_DL), PW_TE_ERR_GENERAL, "a bad length as GENERAL");
}

static void answers(void)
{
	struct pw_eep_view v = { .hdr_seen = true, .sa = 5, .dt = 7, .pt = PW_PT_IP };

	ok(pw_eep_may_answer(&v), "a plain packet may be answered");
	v.pt = PW_PT_ERR;
	ok(!pw_eep_may_answer(&v), "an ERR may not");
	v.pt = PW_PT_IP;
	v.dt = PW_ADDR_BROADCAST;
	ok(!pw_eep_may_answer(&v), "a broadcast may not");
	v.dt = 7;
	v.sa = 0;
	ok(!pw_eep_may_answer(&v), "one without source may not");
	v.sa = PW_ADDR_BROADCAST;
	ok(!pw_eep_may_answer(&v), "one from broadcast may not");
}

static bool same_msg(const struct pw_eep_msg *a, const struct pw_eep_msg *b)
{
	if (a->hdr.dt != b->hdr.dt || a->hdr.sa != b->hdr.sa || a->hdr.te != b->hdr.te ||
	    a->hdr.pt != b->hdr.pt || a->hdr.p != b->hdr.p || a->hdr.e != b->hdr.e ||
	    a->hdr.data_len != b->hdr.data_len || a->ei != b->ei || a->nprefix != b->nprefix ||
	    a->noh != b->noh || a->nots != b->nots ||
	    memcmp(a->data, b->data, a->hdr.data_len))
		return false;
	for (u32 i = 0; i < a->nprefix; i++)
		if (a->prefix[i].kind != b->prefix[i].kind || a->prefix[i].type != b->prefix[i].type ||
		    a->prefix[i].len != b->prefix[i].len ||
		    memcmp(a->prefix[i].data, b->prefix[i].data, a->prefix[i].len))
			return false;
	for (u32 i = 0; i < a->noh + a->nots; i++) {
		const struct pw_eep_opt *x = i < a->noh ? &a->oh[i] : &a->ot[i - a->noh];
		const struct pw_eep_opt *y = i < a->noh ? &b->oh[i] : &b->ot[i - a->noh];

		if (x->type != y->type || x->mandatory != y->mandatory || x->len != y->len ||
		    memcmp(x->data, y->data, x->len))
			return false;
	}
	return true;
}

/* parses with as little of the head as it will take; returns rounds, or -1 */
static int staged(const u8 *buf, size_t len, struct pw_eep_view *v)
{
	size_t have = 0;
	int rounds = 0;
	u8 *part;
	int err;

	for (;;) {
		part = malloc(have ? have : 1);
		memcpy(part, buf, have);
		err = pw_eep_parse_head(part, have, len, v);
		free(part);
		if (err != -EAGAIN)
			break;
		if (v->need <= have || v->need > len || rounds++ > 100)
			return -1;
		have = v->need;
	}
	if (err)
		return -1;
	if (have != v->db_off)
		return -1;
	part = malloc(len - v->ot_off);
	memcpy(part, buf + v->ot_off, len - v->ot_off);
	err = pw_eep_parse_trailer(part, len - v->ot_off, v);
	free(part);
	return err ? -1 : rounds;
}

static void round_trip(void)
{
	unsigned long n = tap_scaled(100000), i;
	static struct pw_eep_prefix pf[GEN_MAX_PREFIX];
	static struct pw_eep_opt oh[GEN_MAX_OPT], ot[GEN_MAX_OPT];
	static u8 ref[GEN_MAX_LEN], again[GEN_MAX_LEN];
	int enc = 0, dec = 0, same = 0, re = 0, stage = 0, l2 = 0, plain = 0, with[4] = { 0 };
	struct pw_eep_view v, v2;
	struct pw_eep_msg m;
	static struct gen g;

	for (i = 0; i < n; i++) {
		size_t len;
		u8 *buf;
		int got;

		gen_msg(&g, &seed, true);
		with[0] += g.m.nprefix > 0;
		with[1] += g.m.noh > 0;
		with[2] += g.m.nots > 0;
		with[3] += g.m.hdr.data_len % 8 != 0;
		len = gen_encode(&g.m, ref);
		buf = malloc(len);
		got = pw_eep_build(&g.m, buf, len);
		enc += got == (int)len && !memcmp(buf, ref, len);
		if (pw_eep_parse(buf, len, &v)) {
			free(buf);
			continue;
		}
		dec++;
		plain += plain_agrees(buf, len, 0, &v);
		if (view_to_msg(buf, &v, &m, pf, GEN_MAX_PREFIX, oh, ot, GEN_MAX_OPT)) {
			same += same_msg(&g.m, &m);
			got = pw_eep_build(&m, again, sizeof(again));
			re += got == (int)len && !memcmp(again, buf, len);
		}
		if (i % 10 == 0) {
			got = staged(buf, len, &v2);
			v2.need = 0;
			stage += got >= 0 && !memcmp(&v, &v2, sizeof(v));
			l2++;
		}
		free(buf);
	}
	diag("%lu messages: %d with prefixes, %d with OHs, %d with OTs, %d with padding", n, with[0],
	     with[1], with[2], with[3]);
	is(enc, n, "built as the other encoder does");
	is(dec, n, "parsed");
	is(same, n, "the same message came out");
	is(re, n, "and builds to the same bytes");
	is(plain, n, "the parser of plain messages takes those and says the same");
	is(stage, l2, "%d of them parsed piecemeal, with no byte more than needed", l2);
}

static void truncations(void)
{
	unsigned long n = tap_scaled(1000), i, cuts = 0, refused_n = 0, named = 0, stage = 0;
	unsigned long by[PW_EEP_E_NUM] = { 0 };
	static u8 ref[GEN_MAX_LEN];
	struct pw_eep_view v;
	static struct gen g;
	size_t len;
	u8 *b;

	for (i = 0; i < n; i++) {
		gen_msg(&g, &seed, false);
		if (g.m.hdr.data_len > 200)
			g.m.hdr.data_len %= 200;
		len = gen_encode(&g.m, ref);
		for (size_t cut = 0; cut < len; cut++) {
			int err;

			b = malloc(cut ? cut : 1);
			memcpy(b, ref, cut);
			err = pw_eep_parse(b, cut, &v);
			cuts++;
			refused_n += err > 0;
			if (err > 0 && err < PW_EEP_E_NUM) {
				by[err]++;
				named += *pw_eep_err_field(err) && *pw_eep_err_field(err) != '?';
			}
			/* the frame is whole, only its head is not there */
			err = pw_eep_parse_head(b, cut, len, &v);
			stage += err == -EAGAIN ? v.need > cut && v.need <= len :
				 !err && cut >= v.db_off;
			free(b);
		}
	}
	diag("%lu messages, %lu truncations", n, cuts);
	for (int e = 1; e < PW_EEP_E_NUM; e++)
		if (by[e])
			diag("  %-14s %lu", pw_eep_err_name(e), by[e]);
	is(refused_n, cuts, "every truncation is refused");
	is(named, cuts, "with an error that names a field");
	is(stage, cuts, "a head of any length asks for more or has all it needs");

	/* seen from the head alone */
	b = hex(H0 "0000000080000002" "4100000000000000" TAIL, &len);
	is(pw_eep_parse_head(b, len, len, &v), PW_EEP_E_OT_MISSING,
	   "no room for an announced OT: the head is enough to tell");
	free(b);

	/* the one cut that no reader can see, as the header says */
	b = hex(H0 "0000000000000002" "4902010200000000" TAIL, &len);
	is(pw_eep_parse(b, len, &v), 0, "a message with a self-defined OT only");
	is(pw_eep_parse(b, len - 8, &v), 0, "cut before TAIL, its OT is a legal TAIL");
	ok(v.ei == 0x4902010200000000ULL, "and is read as one");
	free(b);
}

static void mutations(void)
{
	unsigned long n = tap_scaled(2000000), i, accepted = 0, kinds = 0;
	unsigned long by[PW_EEP_E_NUM] = { 0 };
	const char *broken = NULL, *why;
	struct pw_eep_view v;
	static struct gen g;
	u8 *buf = NULL;
	size_t len = 0;
	u8 old[4];
	u32 at[4];

	for (i = 0; i < n; i++) {
		u32 k = 1 + gen_below(&seed, 4);
		int err;

		if (i % 200 == 0) {
			free(buf);
			gen_msg(&g, &seed, true);
			len = pw_eep_msg_len(&g.m);
			buf = malloc(len);
			pw_eep_build(&g.m, buf, len);
		}
		for (u32 j = 0; j < k; j++) {
			/* mostly where the lengths are */
			at[j] = gen_below(&seed, gen_below(&seed, 2) ? len : min(len, (size_t)48));
			old[j] = buf[at[j]];
			buf[at[j]] = gen_below(&seed, 2) ? buf[at[j]] ^ 1 << gen_below(&seed, 8) :
				     tap_rand(&seed) >> 32;
		}
		err = pw_eep_parse(buf, len, &v);
		if (err < 0 || err >= PW_EEP_E_NUM) {
			broken = "return value";
		} else if (err) {
			by[err]++;
		} else {
			accepted++;
			if (i % 8 == 0) {
				u8 *copy = malloc(len);

				memcpy(copy, buf, len);
				why = view_broken(copy, len, &v);
				free(copy);
				if (why)
					broken = why;
			}
		}
		while (k--)
			buf[at[k]] = old[k];
	}
	free(buf);
	for (int e = 1; e < PW_EEP_E_NUM; e++)
		kinds += by[e] > 0;
	diag("%lu mutated messages, %lu accepted, %lu kinds of refusal", n, accepted, kinds);
	ok(!broken, "what is accepted is consistent and builds again%s%s", broken ? ": " : "",
	   broken ? broken : "");
	ok(accepted > n / 100 && accepted < n - n / 100 && kinds >= 15,
	   "the mutations reach acceptance and most refusals");
}

static void noise(void)
{
	unsigned long n = tap_scaled(2000000), i, accepted = 0, broken = 0;
	struct pw_eep_view v;
	struct pw_eep_hop hop;
	u8 *bufs[65];

	for (int l = 0; l <= 64; l++)
		bufs[l] = malloc(l ? l : 1);
	for (i = 0; i < n; i++) {
		u32 len = gen_below(&seed, 65);
		u8 *b = bufs[len];
		u32 need;
		int err;

		for (u32 j = 0; j < len; j++)
			b[j] = tap_rand(&seed) >> 32;
		if (len >= 16) {	/* or nothing would get past the lengths */
			b[0] &= gen_below(&seed, 8) ? 0x3f : 0xff;
			b[8] &= 0xc0;
			b[9] = b[10] = 0;
			b[11] &= 3;
			b[13] &= 0x7f;
			for (u32 j = 1; j + 1 < len && j < 16; j += 8)
				if (b[j] & 0x80)
					b[j] &= 0xf3;
		}
		err = pw_eep_parse(b, len, &v);
		accepted += !err;
		broken += !err && v.tail_off + 8 != len;
		err = pw_eep_consume_l2rh(b, len, len, &hop);
		broken += !err && (hop.consumed > len || hop.route_off + hop.route_len > len ||
				   !hop.route_len);
		broken += err == -EAGAIN;
		/* less head than frame: never an answer that the whole frame would change */
		need = gen_below(&seed, len + 1);
		if (len) {
			struct pw_eep_view part, all;
			int e1 = pw_eep_parse_head(b, len, len, &all);
			int e2 = pw_eep_parse_head(b, need, len, &part);

			broken += e2 != -EAGAIN && e1 != e2;
			broken += e2 == -EAGAIN && (part.need <= need || part.need > len);
		}
	}
	for (int l = 0; l <= 64; l++)
		free(bufs[l]);
	diag("%lu random frames of 0..64 bytes, %lu accepted", n, accepted);
	is(broken, 0, "nothing out of bounds, and a part of the head never gives another answer");
	ok(accepted > 0 && accepted < n, "some were messages");
}

static void build_refuses(void)
{
	static const u8 d[300];
	struct pw_eep_hdr good = { .dt = 1, .pt = 5 }, h;
	struct pw_eep_opt oh = { d, 0, PW_OH_CRC32, false }, zero[2] = { { d, 0, 0, false } };
	struct pw_eep_msg m = { .hdr = good };
	u8 out[512];

	is(pw_eep_build_header(&good, out, 16), 16, "a header");
	is(pw_eep_build_header(&good, out, 15), -ENOSPC, "no room for it");
#define REFUSED(field, value, err) do {						\
	h = good;								\
	h.field = value;							\
	is(pw_eep_build_header(&h, out, 16), err, "header with " #field " = " #value);	\
} while (0)
	REFUSED(dt, 0, -EINVAL);
	REFUSED(dt, 0x800000, -EINVAL);
	REFUSED(dt, 0xc00000, -EINVAL);
	REFUSED(dt, 0xf00000, -EINVAL);
	REFUSED(dt, 0x1000001, -EINVAL);
	REFUSED(sa, 0x800000, -EINVAL);
	REFUSED(p, 64, -EINVAL);
	REFUSED(e, 5, -EINVAL);
	REFUSED(e, 16, -EINVAL);
	REFUSED(data_len, PW_EEP_MAX_DATA + 1, -EMSGSIZE);
	REFUSED(data_len, PW_EEP_MAX_DATA, 16);
	is(pw_eep_put_l2rh(out, 512, d, 0), -EINVAL, "L2RH of 0 bytes");
	is(pw_eep_put_l2rh(out, 512, d, 64), -EINVAL, "L2RH of 64 bytes");
	is(pw_eep_put_l2rh(out, 71, d, 63), -ENOSPC, "L2RH of 63 bytes in 71");
	is(pw_eep_put_l2rh(out, 72, d, 63), 72, "L2RH of 63 bytes in 72");
	is(pw_eep_put_symbol(out, 512, 1 << 20, d, 0), -EINVAL, "symbol type of 21 bits");
	is(pw_eep_put_symbol(out, 512, 1, d, 256), -EINVAL, "symbol of 256 bytes");
	is(pw_eep_put_symbol(out, 264, 1, d, 255), 264, "symbol of 255 bytes");
	is(pw_eep_put_opt(out, 512, 64, false, false, d, 0), -EINVAL, "OH type of 7 bits");
	is(pw_eep_put_opt(out, 512, 1, false, false, d, 256), -EINVAL, "OH of 256 bytes");
	is(pw_eep_put_opt(out, 264, 1, false, false, d, 255), 264, "OH of 255 bytes");
	is(pw_eep_put_opt(out, 263, 1, false, false, d, 255), -ENOSPC, "no room for it");
	is(pw_eep_put_tail(out, 7, 0), -ENOSPC, "no room for TAIL");
	m.oh = &oh;
	m.noh = 1;
	is(pw_eep_build(&m, out, sizeof(out)), -EINVAL, "CRC32 announced without OT");
	m.noh = 0;
	m.ot = zero;
	m.nots = 2;
	is(pw_eep_build(&m, out, sizeof(out)), -EINVAL, "an OT that would look like TAIL");
	m.nots = 1;
	is(pw_eep_build(&m, out, sizeof(out)), 32, "the same with its C bit");
	m.nots = 0;
	m.noh = PW_EEP_MAX_OPTS + 1;
	is(pw_eep_build(&m, out, sizeof(out)), -EINVAL, "too many OHs");
}

/* CRCs of real messages: built, checked, and every single bit error found */
static void integrity(void)
{
	u8 data[29], c32[4], c64[8], buf[256];
	struct pw_eep_opt oh[2] = { { NULL, 0, PW_OH_CRC64, false }, { NULL, 0, PW_OH_CRC32, true } };
	struct pw_eep_opt ot[2] = { { c64, 8, PW_OH_CRC64, false }, { c32, 4, PW_OH_CRC32, false } };
	struct pw_eep_msg m = { .hdr = { .dt = 9, .data_len = sizeof(data) }, .oh = oh, .noh = 2,
				.data = data, .ot = ot, .nots = 2 };
	static const u8 zeros[8];
	struct pw_eep_crc crc;
	struct pw_eep_view v;
	int n, found = 0;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = tap_rand(&seed) >> 30;
	pw_eep_crc_init(&crc, BIT_ULL(PW_OH_CRC32) | BIT_ULL(PW_OH_CRC64));
	pw_eep_crc_update(&crc, data, sizeof(data));
	pw_eep_crc_update(&crc, zeros, pw_eep_pl(sizeof(data)));
	pw_eep_crc_put(&crc, PW_OH_CRC32, c32);
	pw_eep_crc_put(&crc, PW_OH_CRC64, c64);
	n = pw_eep_build(&m, buf, sizeof(buf));
	ok(n > 0 && !pw_eep_parse(buf, n, &v), "message with both CRCs");
	ok(v.ann == 1 && v.nann == 2, "the order in which they are announced");
	is(pw_eep_crc_verify(buf, &v), 0, "both are right");
	for (u32 bit = 8 * v.db_off; bit < 8 * v.ot_off; bit++) {
		buf[bit / 8] ^= 1 << bit % 8;
		found += pw_eep_crc_verify(buf, &v) == PW_EEP_E_CRC64;
		buf[bit / 8] ^= 1 << bit % 8;
	}
	is(found, 8 * 32, "every bit error in the data block and its padding is found");
	buf[v.ot_off + 2] ^= 1;
	is(pw_eep_crc_verify(buf, &v), PW_EEP_E_CRC64, "an error in the OT of CRC64");
	buf[v.ot_off + 2] ^= 1;
	buf[v.ot_off + 16 + 5] ^= 1;
	is(pw_eep_crc_verify(buf, &v), PW_EEP_E_CRC32, "an error in the OT of CRC32");
	ot[1].len = 3;
	n = pw_eep_build(&m, buf, sizeof(buf));
	ok(!pw_eep_parse(buf, n, &v) && pw_eep_crc_verify(buf, &v) == PW_EEP_E_CRC32,
	   "an OT of CRC32 with 3 bytes is wrong");
	m.noh = 0;
	n = pw_eep_build(&m, buf, sizeof(buf));
	ok(!pw_eep_parse(buf, n, &v) && !pw_eep_crc_verify(buf, &v),
	   "an OT without an OH that announces it is data");
}

static void swaps(void)
{
	int bad = 0, frag = 0;
	u8 in[67], a[67], b[67];

	for (int i = 0; i < 67; i++)
		in[i] = tap_rand(&seed) >> 20;
	for (int e = 0; e <= 4; e++) {
		for (int len = 0; len <= 67; len++) {
			int size = 1 << e;

			memcpy(a, in, 67);
			pw_eep_swap(a, len, e);
			for (int i = 0; i < 67; i++) {
				int first = i / size * size;
				u8 want = first + size <= len ? in[first + size - 1 - i % size] : in[i];

				bad += a[i] != want;
			}
			for (int t = 0; t < 20; t++) {
				struct pw_eep_swapper sw;
				int pos = 0;

				memcpy(b, in, 67);
				pw_eep_swap_init(&sw, e | 8);
				while (pos < len) {
					int n = gen_below(&seed, min(len - pos, 20) + 1);

					pw_eep_swap_feed(&sw, b + pos, n);
					pos += n;
				}
				frag += !!memcmp(a, b, 67);
			}
			pw_eep_swap(a, len, e);
			bad += !!memcmp(a, in, 67);
		}
	}
	is(bad, 0, "element sizes 1..16, every length: swapped, and swapped back");
	is(frag, 0, "the same over random fragments");
	ok(!pw_eep_needs_swap(0, true) && !pw_eep_needs_swap(8, false), "bytes are never swapped");
	ok(pw_eep_needs_swap(2, true) && !pw_eep_needs_swap(10, true) &&
	   pw_eep_needs_swap(10, false) && !pw_eep_needs_swap(2, false), "others by the first bit of E");
}

static void hops(void)
{
	u64 ei = 1;
	u8 slots[15] = { 0 };
	int n;

	is(pw_eep_ei_hop(0, false), 0, "no error, EI stays 0");
	is(pw_eep_ei_hop(0, true), 1, "a first error");
	is(pw_eep_ei_hop(5, true), 11, "shifted, and set");
	for (n = 0; !(ei >> 63); n++)
		ei = pw_eep_ei_hop(ei, false);
	is(n, 63, "the top bit is reached after 63 hops");
	ok(pw_eep_ei_hop(1ULL << 63, false) == 1ULL << 63, "and the shifting ends there");
	ok(pw_eep_ei_hop(1ULL << 63, true) == ((1ULL << 63) | 1), "while errors are still noted");

	is(pw_eep_hoptrace_append(slots, 15, 0x123456), 0, "first hop");
	is(pw_eep_hoptrace_append(slots, 15, 0x7ffffd), 1, "second hop");
	is(pw_eep_hoptrace_append(slots, 15, 3), 2, "third hop");
	is(pw_eep_hoptrace_append(slots, 15, 4), -ENOSPC, "no whole slot left");
	ok(!memcmp(slots, "\0\x12\x34\x56\0\x7f\xff\xfd\0\0\0\3\0\0\0", 15), "the slots");
}

static void addresses(void)
{
	static const struct { u32 a; enum pw_addr_kind k; } t[] = {
		{ 0, PW_ADDR_KIND_UNDEF }, { 1, PW_ADDR_KIND_PHYS }, { 0x7ffffd, PW_ADDR_KIND_PHYS },
		{ 0x7ffffe, PW_ADDR_KIND_HEYYOU }, { 0x7fffff, PW_ADDR_KIND_BROADCAST },
		{ 0x800000, PW_ADDR_KIND_RESERVED }, { 0xdfffff, PW_ADDR_KIND_RESERVED },
		{ 0xe00000, PW_ADDR_KIND_LOGICAL }, { 0xefffff, PW_ADDR_KIND_LOGICAL },
		{ 0xf00000, PW_ADDR_KIND_RESERVED }, { 0x1000000, PW_ADDR_KIND_RESERVED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		is(pw_addr_kind(t[i].a), t[i].k, "kind of address 0x%06x", t[i].a);
	is(pw_addr_make(0x100, 16), 0x110, "node 16 of the SAN with bias 0x100");
	is(pw_addr_make(0x7ffff0, 14), PW_ADDR_UNDEF, "a node that would be hey-you");
	is(pw_addr_make(0x7ffff0, 13), 0x7ffffd, "the last possible one");
	is(pw_addr_make(0xffffffff, 2), PW_ADDR_UNDEF, "a bias that would wrap");
	ok(pw_addr_in_san(0x101, 0x100, 16) && pw_addr_in_san(0x110, 0x100, 16) &&
	   !pw_addr_in_san(0x100, 0x100, 16) && !pw_addr_in_san(0x111, 0x100, 16) &&
	   !pw_addr_in_san(0x7ffffe, 0x7ffff0, 16), "who belongs to a SAN");
	ok(pw_eep_p_from_prio(0) == 0 && pw_eep_p_from_prio(63) == 63 &&
	   pw_eep_p_from_prio(64) == 63 && pw_eep_p_from_prio(~0U) == 63 &&
	   pw_eep_prio_from_p(63) == 63 && pw_eep_prio_from_p(7) == 7, "priorities");
	ok(!strcmp(pw_eep_pt_name(PW_PT_IP), "IP") && !pw_eep_pt_name(77) &&
	   !strcmp(pw_eep_te_name(PW_PT_RRP, 9), "RTBL") && !pw_eep_te_name(PW_PT_RRP, 10) &&
	   !pw_eep_te_name(PW_PT_RRP, 0) && !strcmp(pw_eep_te_name(PW_PT_ERR, 7), "BADL2RH") &&
	   !pw_eep_te_name(PW_PT_IP, 1), "names of PT and TE");
}

int main(void)
{
	known();
	sizes();
	first_word();
	find_header();
	errors();
	answers();
	round_trip();
	truncations();
	mutations();
	noise();
	build_refuses();
	integrity();
	swaps();
	hops();
	addresses();
	return tap_done();
}
