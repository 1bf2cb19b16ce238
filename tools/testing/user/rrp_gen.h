/* SPDX-License-Identifier: GPL-2.0 */
/* Random well-formed records, and what must hold for any that are accepted. */
#ifndef PW_RRP_GEN_H
#define PW_RRP_GEN_H

#include "rrp.h"
#include "tap.h"

static inline u32 rgen_below(unsigned long long *s, u32 n)
{
	return (tap_rand(s) >> 32) % n;
}

static inline u32 rgen_entries(unsigned long long *s, struct pw_rrp_entry *e, u32 max)
{
	u32 n = 0, want = rgen_below(s, max - 1);

	while (n < want) {
		if (rgen_below(s, 3)) {
			e[n].at = PW_RRP_AT_SINGLE;
			e[n++].addr = rgen_below(s, 1 << 24);
		} else {
			u8 at = rgen_below(s, 2) ? PW_RRP_AT_MIN : PW_RRP_AT_VALUE;

			e[n].at = at;
			e[n++].addr = rgen_below(s, 1 << 24);
			e[n].at = at + 1;
			e[n++].addr = rgen_below(s, 1 << 24);
		}
	}
	return n;
}

static inline u32 rgen_route(unsigned long long *s, u8 *out, u32 cap)
{
	u32 len = 0, n = rgen_below(s, 4);
	u8 route[63];

	while (n--) {
		u32 l = 1 + rgen_below(s, rgen_below(s, 4) ? 8 : 63);
		int w;

		for (u32 i = 0; i < l; i++)
			route[i] = tap_rand(s) >> 32;
		w = pw_eep_put_l2rh(out + len, cap - len, route, l);
		if (w > 0)
			len += w;
	}
	return len;
}

static inline void rgen_records(struct pw_rrp_buf *b, unsigned long long *s)
{
	struct pw_rrp_entry e[12];
	u32 n = rgen_below(s, 8);
	u8 bytes[256];

	for (u32 i = 0; i < sizeof(bytes); i++)
		bytes[i] = tap_rand(s) >> 32;
	while (n--) {
		switch (rgen_below(s, 10)) {
		case 0:
			pw_rrp_put_addr(b, PW_RRP_AT_SINGLE, rgen_below(s, 1 << 24), 0);
			break;
		case 1:
			pw_rrp_put_addr(b, rgen_below(s, 2) ? PW_RRP_AT_MIN : PW_RRP_AT_VALUE,
					rgen_below(s, 1 << 24), rgen_below(s, 1 << 24));
			break;
		case 2:
			pw_rrp_end_addr(b);
			break;
		case 3:
			pw_rrp_put_name(b, (char *)bytes, rgen_below(s, 40));
			break;
		case 4:
			pw_rrp_put_capa(b, rgen_below(s, 256), bytes, rgen_below(s, 20));
			break;
		case 5:
			pw_rrp_put_entries(b, PW_RRP_LADR, e, rgen_entries(s, e, 12));
			break;
		case 6:
			pw_rrp_put_srqr(b, rgen_below(s, 1 << 16), bytes,
					rgen_route(s, bytes, 240));
			break;
		case 7:
			pw_rrp_put_mtur(b, tap_rand(s) >> 32);
			break;
		case 8:
			pw_rrp_put_entries(b, PW_RRP_RCVF, e, rgen_entries(s, e, 12));
			break;
		default:
			pw_rrp_put_rthd(b, rgen_below(s, 1 << 24), tap_rand(s) >> 32);
		}
	}
}

/* builds one parsed record again; the records of an ADDR follow by themselves */
static inline void rgen_again(struct pw_rrp_buf *b, const struct pw_rrp_rec *rec)
{
	struct pw_rrp_entry *e;
	u32 n = rec->data_len / 4;

	switch (rec->type) {
	case PW_RRP_ADDR:
		pw_rrp_put_addr(b, rec->at, rec->addr, rec->addr2);
		break;
	case PW_RRP_NAME:
		pw_rrp_put_name(b, (const char *)rec->data, rec->data_len);
		break;
	case PW_RRP_CAPA:
		pw_rrp_put_capa(b, rec->code, rec->data, rec->data_len);
		break;
	case PW_RRP_LADR:
	case PW_RRP_RCVF:
		e = malloc((n + 1) * sizeof(*e));
		for (u32 i = 0; i < n; i++)
			pw_rrp_entry_at(rec, i, &e[i]);
		pw_rrp_put_entries(b, rec->type, e, n);
		free(e);
		break;
	case PW_RRP_SRQR:
		pw_rrp_put_srqr(b, rec->q, rec->data, rec->data_len);
		break;
	case PW_RRP_MTUR:
		pw_rrp_put_mtur(b, rec->mtu);
		break;
	case PW_RRP_RTHD:
		pw_rrp_put_rthd(b, rec->addr, rec->serial);
		break;
	}
}

/*
 * Builds accepted records again into @out and parses the result. Return: NULL
 * or what does not hold. Pads may differ, so bytes are compared by the caller.
 */
static inline const char *rgen_broken(const u8 *data, size_t len, u8 *out, bool exact)
{
	struct pw_rrp_iter it, in;
	struct pw_rrp_rec rec, sub;
	struct pw_rrp_buf b;
	u32 total = 0;

	pw_rrp_buf_init(&b, out, len);
	if (pw_rrp_iter_init(&it, data, len))
		return "length";
	while (pw_rrp_next(&it, &rec) > 0) {
		u32 inside = 0, pos = 0, n, routes = 0;
		const u8 *route;

		if (rec.raw != data + total)
			return "order";
		total += rec.size;
		if (rec.data_len && (rec.data < rec.raw ||
				     rec.data + rec.data_len > rec.raw + rec.size))
			return "data outside the record";
		rgen_again(&b, &rec);
		if (rec.type == PW_RRP_SRQR)
			while (pw_rrp_next_l2rh(&rec, &pos, &route, &n)) {
				if (!n || route + n > rec.raw + rec.size || routes++ > 70000)
					return "L2RH outside the record";
			}
		if (rec.type != PW_RRP_ADDR)
			continue;
		pw_rrp_iter_nested(&in, &rec);
		while (pw_rrp_next(&in, &sub) > 0) {
			inside += sub.size;
			rgen_again(&b, &sub);
		}
		if (inside != rec.data_len)
			return "records inside";
		pw_rrp_end_addr(&b);
	}
	if (total != len)
		return "total";
	if (pw_rrp_buf_done(&b) != (int)len)
		return "length of the records built again";
	if (exact && memcmp(out, data, len))
		return "bytes of the records built again";
	if (pw_rrp_check(out, len))
		return "second check";
	return NULL;
}

#endif /* PW_RRP_GEN_H */
