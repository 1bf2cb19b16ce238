/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random well-formed EEP messages, and a second encoder that shares nothing
 * with core/eep.c: it writes field by field, bit by bit, as the tables read.
 */
#ifndef PW_EEP_GEN_H
#define PW_EEP_GEN_H

#include "eep.h"
#include "tap.h"

#define GEN_MAX_PREFIX	6
#define GEN_MAX_OPT	6
#define GEN_MAX_DATA	4096
#define GEN_MAX_LEN	(GEN_MAX_PREFIX * 264 + 16 + 2 * GEN_MAX_OPT * 264 + GEN_MAX_DATA + 8)

struct gen {
	struct pw_eep_msg m;
	struct pw_eep_prefix prefix[GEN_MAX_PREFIX];
	struct pw_eep_opt oh[GEN_MAX_OPT], ot[GEN_MAX_OPT];
	u8 data[GEN_MAX_DATA];
	u8 pool[(GEN_MAX_PREFIX + 2 * GEN_MAX_OPT) * 256];
};

static inline u32 gen_below(unsigned long long *s, u32 n)
{
	return (tap_rand(s) >> 32) % n;
}

/* short ones mostly, every length sometimes */
static inline u32 gen_len(unsigned long long *s, u32 max)
{
	return gen_below(s, gen_below(s, 4) ? min(max, 20u) + 1 : max + 1);
}

/*
 * @oh_known_only: no OH types but 3..63 that announce nothing, and types 1, 2
 * always with their OT. @ot_free: self-defined OTs also where none is announced.
 */
static inline void gen_msg(struct gen *g, unsigned long long *s, bool ot_free)
{
	struct pw_eep_msg *m = &g->m;
	u8 *pool = g->pool;
	u32 i, n;

	memset(m, 0, sizeof(*m));
	for (i = 0; i < sizeof(g->pool); i += 8) {
		u64 r = tap_rand(s);

		memcpy(g->pool + i, &r, min(sizeof(g->pool) - i, (size_t)8));
	}
	m->prefix = g->prefix;
	m->oh = g->oh;
	m->ot = g->ot;
	m->data = g->data;
	n = gen_below(s, 2) ? 0 : gen_below(s, GEN_MAX_PREFIX + 1);
	for (i = 0; i < n; i++, pool += 256) {
		bool l2 = gen_below(s, 2);

		g->prefix[i].kind = l2 ? PW_EEP_L2RH : PW_EEP_SYMBOL;
		g->prefix[i].type = l2 ? 0 : gen_below(s, 2) ? 1 + gen_below(s, 3) :
				    gen_below(s, 1 << 20);
		g->prefix[i].len = l2 ? 1 + gen_len(s, 62) : gen_len(s, 255);
		g->prefix[i].data = pool;
	}
	m->nprefix = n;
	n = gen_below(s, 2) ? 0 : gen_below(s, GEN_MAX_OPT + 1);
	for (i = 0; i < n; i++, pool += 256) {
		u8 type = gen_below(s, 3) ? 1 + gen_below(s, 4) : gen_below(s, 64);

		g->oh[i].type = type;
		g->oh[i].mandatory = gen_below(s, 2);
		g->oh[i].len = gen_len(s, 255);
		g->oh[i].data = pool;
		if (type != 1 && type != 2)
			continue;
		g->ot[m->nots].type = type;
		g->ot[m->nots++].len = type == 1 ? 4 : 8;
	}
	m->noh = n;
	while (m->nots < GEN_MAX_OPT && (m->nots || ot_free) && !gen_below(s, 3)) {
		g->ot[m->nots].type = gen_below(s, 64);
		g->ot[m->nots].len = gen_len(s, 255);
		/* a word of zeros reads as TAIL */
		if (!g->ot[m->nots].type)
			g->ot[m->nots].len++;
		if (g->ot[m->nots].len > 255)
			g->ot[m->nots].len = 255;
		m->nots++;
	}
	for (i = 0; i < m->nots; i++, pool += 256) {
		g->ot[i].data = pool;
		g->ot[i].mandatory = !gen_below(s, 4);
	}
	m->hdr.data_len = gen_len(s, gen_below(s, 8) ? 120 : GEN_MAX_DATA);
	for (i = 0; i < m->hdr.data_len; i++)
		g->data[i] = tap_rand(s) >> 40;
	switch (gen_below(s, 6)) {
	case 0:
		m->hdr.dt = PW_ADDR_LOGICAL_MIN + gen_below(s, 1 << 20);
		break;
	case 1:
		m->hdr.dt = gen_below(s, 2) ? PW_ADDR_HEYYOU : PW_ADDR_BROADCAST;
		break;
	default:
		m->hdr.dt = 1 + gen_below(s, PW_ADDR_BROADCAST);
	}
	m->hdr.sa = gen_below(s, 1 << 23);
	m->hdr.te = gen_below(s, 1 << 16);
	m->hdr.pt = gen_below(s, 1 << 16);
	m->hdr.p = gen_below(s, 64);
	m->hdr.e = gen_below(s, 2) << 3 | gen_below(s, 5);
	m->ei = gen_below(s, 3) ? gen_below(s, 2) : tap_rand(s);
}

struct bits {
	u8 *out;
	size_t n;
};

static inline void put_bits(struct bits *b, int width, u64 value)
{
	while (width--) {
		u8 *byte = &b->out[b->n / 8];
		u8 mask = 0x80 >> b->n % 8;

		*byte = (value >> width & 1) ? *byte | mask : *byte & ~mask;
		b->n++;
	}
}

static inline void put_string(struct bits *b, const u8 *p, u32 len)
{
	while (len--)
		put_bits(b, 8, *p++);
	while (b->n % 64)
		put_bits(b, 1, 0);
}

static inline size_t gen_encode(const struct pw_eep_msg *m, u8 *out)
{
	u32 dl = (m->hdr.data_len + 7) / 8;
	struct bits b = { out, 0 };
	u32 i;

	for (i = 0; i < m->nprefix; i++) {
		put_bits(&b, 8, 0);
		if (m->prefix[i].kind == PW_EEP_L2RH) {
			put_bits(&b, 2, 2);
			put_bits(&b, 6, m->prefix[i].len);
		} else {
			put_bits(&b, 4, 15);
			put_bits(&b, 20, m->prefix[i].type);
			put_bits(&b, 8, m->prefix[i].len);
		}
		put_string(&b, m->prefix[i].data, m->prefix[i].len);
	}
	put_bits(&b, 2, 0);
	put_bits(&b, 6, m->hdr.p);
	put_bits(&b, 24, m->hdr.dt);
	put_bits(&b, 16, m->hdr.te);
	put_bits(&b, 16, m->hdr.pt);
	put_bits(&b, 4, m->hdr.e);
	put_bits(&b, 3, 8 * dl - m->hdr.data_len);
	put_bits(&b, 25, dl);
	put_bits(&b, 1, m->noh != 0);
	put_bits(&b, 7, 0);
	put_bits(&b, 24, m->hdr.sa);
	for (i = 0; i < m->noh + m->nots; i++) {
		const struct pw_eep_opt *o = i < m->noh ? &m->oh[i] : &m->ot[i - m->noh];

		if (i == m->noh)
			put_string(&b, m->data, m->hdr.data_len);
		put_bits(&b, 1, o->mandatory);
		put_bits(&b, 1, i + 1 == m->noh || i + 1 == m->noh + m->nots);
		put_bits(&b, 6, o->type);
		put_bits(&b, 8, o->len);
		put_string(&b, o->data, o->len);
	}
	if (!m->nots)
		put_string(&b, m->data, m->hdr.data_len);
	put_bits(&b, 64, m->ei);
	return b.n / 8;
}

/* what a parsed message would be built from; false if the arrays are too small */
static inline bool view_to_msg(const u8 *buf, const struct pw_eep_view *v, struct pw_eep_msg *m,
			       struct pw_eep_prefix *pf, u32 npf, struct pw_eep_opt *oh,
			       struct pw_eep_opt *ot, u32 nopt)
{
	struct pw_eep_iter it;
	struct pw_eep_elem el;

	memset(m, 0, sizeof(*m));
	m->prefix = pf;
	m->oh = oh;
	m->ot = ot;
	pw_eep_iter_prefix(&it, buf, v);
	while (pw_eep_next(&it, &el)) {
		if (m->nprefix == npf)
			return false;
		pf[m->nprefix++] = (struct pw_eep_prefix){
			el.kind, el.type, buf + el.data_off, el.data_len };
	}
	pw_eep_iter_oh(&it, buf, v);
	while (pw_eep_next(&it, &el)) {
		if (m->noh == nopt)
			return false;
		oh[m->noh++] = (struct pw_eep_opt){
			buf + el.data_off, el.data_len, el.type, el.mandatory };
	}
	pw_eep_iter_ot(&it, buf + v->ot_off, v);
	while (pw_eep_next(&it, &el)) {
		if (m->nots == nopt)
			return false;
		ot[m->nots++] = (struct pw_eep_opt){
			buf + v->ot_off + el.data_off, el.data_len, el.type, el.mandatory };
	}
	m->data = buf + v->db_off;
	m->hdr = (struct pw_eep_hdr){ .dt = v->dt, .sa = v->sa, .data_len = v->data_len,
		.te = v->te, .pt = v->pt, .p = v->p, .e = v->e, .h = v->h };
	m->ei = v->ei;
	return true;
}

/* clears what is zero when sent and ignored when received */
static inline void view_canonical(u8 *buf, const struct pw_eep_view *v)
{
	struct pw_eep_iter it;
	struct pw_eep_elem el;

	pw_eep_iter_prefix(&it, buf, v);
	while (pw_eep_next(&it, &el)) {
		buf[el.off] &= PW_EEP_V_MASK;
		memset(buf + el.data_off + el.data_len, 0,
		       el.off + el.len - el.data_off - el.data_len);
	}
	buf[v->hdr_off + PW_EEP_OFF_HRZ] &= PW_EEP_H;
	pw_eep_iter_oh(&it, buf, v);
	while (pw_eep_next(&it, &el))
		memset(buf + el.data_off + el.data_len, 0,
		       el.off + el.len - el.data_off - el.data_len);
	memset(buf + v->db_off + v->data_len, 0, v->pl);
	pw_eep_iter_ot(&it, buf + v->ot_off, v);
	while (pw_eep_next(&it, &el))
		memset(buf + v->ot_off + el.data_off + el.data_len, 0,
		       el.off + el.len - el.data_off - el.data_len);
}

/*
 * Does pw_eep_parse_plain() take a message exactly if it is plain, and fill every field as
 * pw_eep_parse() has filled @want, whatever was in it?
 */
static inline bool plain_agrees(const u8 *buf, size_t len, int err,
				const struct pw_eep_view *want)
{
	const size_t hole = offsetof(struct pw_eep_view, nann) + sizeof(want->nann);
	bool plain = !err && !want->nl2rh && !want->nsym && !want->h && !want->nots;
	struct pw_eep_view v;
	int fill;

	for (fill = 0; fill < 256; fill += 255) {
		memset(&v, fill, sizeof(v));
		if (pw_eep_parse_plain(buf, len, len, &v) != plain)
			return false;
		if (!plain)
			continue;
		v.ei = want->ei;
		memset((u8 *)&v + hole, 0, offsetof(struct pw_eep_view, ann) - hole);
		if (memcmp(&v, want, sizeof(v)))
			return false;
	}
	return true;
}

/*
 * Everything that must hold for an accepted message of @len bytes at @buf, which
 * may be changed. Return: NULL, or what does not hold.
 */
static inline const char *view_broken(u8 *buf, size_t len, const struct pw_eep_view *v)
{
	static struct pw_eep_prefix pf[PW_EEP_MAX_PREFIX_LEN / 8];
	static struct pw_eep_opt oh[PW_EEP_MAX_OPTS], ot[PW_EEP_MAX_OPTS];
	struct pw_eep_view v2;
	struct pw_eep_msg m;
	u8 *again;
	int n;

	if (v->len != len || v->hdr_off % 8 || v->oh_off != v->hdr_off + 16 ||
	    v->db_off != v->oh_off + v->oh_len || v->ot_off != v->db_off + 8 * v->dl ||
	    v->tail_off != v->ot_off + v->ot_len || (size_t)v->tail_off + 8 != len ||
	    v->data_len != 8 * v->dl - v->pl || v->hdr_off > PW_EEP_MAX_PREFIX_LEN)
		return "offsets";
	if (v->hoptrace_off && (v->hoptrace_off < v->oh_off ||
				v->hoptrace_off + v->hoptrace_len > v->db_off))
		return "hop trace";
	if (!view_to_msg(buf, v, &m, pf, ARRAY_SIZE(pf), oh, ot, PW_EEP_MAX_OPTS))
		return "limits";
	if (m.nprefix != v->nl2rh + v->nsym || m.noh != v->noh || m.nots != v->nots ||
	    v->h != !!v->noh)
		return "counts";
	pw_eep_crc_verify(buf, v);
	again = malloc(len);
	n = pw_eep_build(&m, again, len);
	if (n != (int)len) {
		free(again);
		return "length of the message built again";
	}
	view_canonical(buf, v);
	n = memcmp(again, buf, len);
	free(again);
	if (n)
		return "bytes of the message built again";
	if (pw_eep_parse(buf, len, &v2) || memcmp(v, &v2, sizeof(v2)))
		return "second parse";
	return NULL;
}

#endif /* PW_EEP_GEN_H */
