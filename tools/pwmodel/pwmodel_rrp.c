// SPDX-License-Identifier: GPL-2.0
/* pwmodel rrp: records of RRP messages between hex and JSON, on the codec of core/. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pwmodel.h"
#include "pwmodel_json.h"
#include "rrp.h"

static void print_entries(struct pwm_out *o, const struct pw_rrp_rec *rec)
{
	struct pw_rrp_entry e;

	pwm_out(o, ",\"entries\":[");
	for (u32 i = 0; pw_rrp_entry_at(rec, i, &e); i++)
		pwm_out(o, "%s{\"at\":%u,\"addr\":%u}", i ? "," : "", e.at, e.addr);
	pwm_out(o, "]");
}

/* all but the closing brace, and for an ADDR what lies inside */
static void print_record(struct pwm_out *o, const struct pw_rrp_rec *rec)
{
	const u8 *route;
	u32 pos = 0, len;
	char *text;

	pwm_out(o, "{\"type\":\"%s\"", pw_rrp_rtyp_name(rec->type));
	switch (rec->type) {
	case PW_RRP_ADDR:
		pwm_out(o, ",\"at\":%u,\"addr\":%u", rec->at, rec->addr);
		if (rec->at != PW_RRP_AT_SINGLE)
			pwm_out(o, ",\"addr2\":%u", rec->addr2);
		break;
	case PW_RRP_NAME:
		text = pwm_json_text(rec->data, rec->data_len, "name");
		pwm_out(o, ",\"name\":%s", text);
		free(text);
		break;
	case PW_RRP_CAPA:
		pwm_out(o, ",\"code\":%u,\"params\":", rec->code);
		pwm_out_hex(o, rec->data, rec->data_len);
		break;
	case PW_RRP_LADR:
	case PW_RRP_RCVF:
		print_entries(o, rec);
		break;
	case PW_RRP_SRQR:
		pwm_out(o, ",\"q\":%u,\"route\":[", rec->q);
		for (u32 i = 0; pw_rrp_next_l2rh(rec, &pos, &route, &len); i++) {
			pwm_out(o, "%s{\"route\":", i ? "," : "");
			pwm_out_hex(o, route, len);
			pwm_out(o, "}");
		}
		pwm_out(o, "]");
		break;
	case PW_RRP_MTUR:
		pwm_out(o, ",\"mtu\":%u", rec->mtu);
		break;
	case PW_RRP_RTHD:
		pwm_out(o, ",\"san\":%u,\"serial\":%u", rec->addr, rec->serial);
		break;
	}
}

static void decode(const char *arg)
{
	char *text = strcmp(arg, "-") ? strdup(arg) : pwm_slurp("-", NULL);
	const char *sep = "", *sep2;
	struct pw_rrp_iter it, in;
	struct pw_rrp_rec rec, sub;
	struct pwm_out o = { 0 };
	u32 i = 0, k;
	size_t len;
	int ret;
	u8 *b;

	if (!text)
		pwm_fail("out of memory");
	b = pwm_unhex(text, &len, "hex");
	ret = pw_rrp_iter_init(&it, b, len);
	if (ret)
		pwm_fail("%s: %s", pw_rrp_err_field(ret), pw_rrp_err_str(ret));
	pwm_out(&o, "{\"records\":[");
	for (; (ret = pw_rrp_next(&it, &rec)) > 0; sep = ",", i++) {
		pwm_out(&o, "%s", sep);
		print_record(&o, &rec);
		if (rec.type == PW_RRP_ADDR) {
			pwm_out(&o, ",\"records\":[");
			pw_rrp_iter_nested(&in, &rec);
			sep2 = "";
			for (k = 0; (ret = pw_rrp_next(&in, &sub)) > 0; sep2 = ",", k++) {
				pwm_out(&o, "%s", sep2);
				print_record(&o, &sub);
				pwm_out(&o, "}");
			}
			if (ret < 0)
				pwm_fail("records[%u].records[%u].%s: %s", i, k,
					 pw_rrp_err_field(ret), pw_rrp_err_str(ret));
			pwm_out(&o, "]");
		}
		pwm_out(&o, "}");
	}
	if (ret < 0)
		pwm_fail("records[%u].%s: %s", i, pw_rrp_err_field(ret), pw_rrp_err_str(ret));
	pwm_out(&o, "]}");
	pwm_out_flush(&o);
	free(b);
	free(text);
}

static void read_entries(struct pw_rrp_buf *b, json_t *j, u8 rtyp, const char *where)
{
	json_t *list = pwm_json_array(j, "entries", where);
	size_t n = json_array_size(list);
	struct pw_rrp_entry *e;
	char at[128];

	if (!list)
		pwm_fail("%s.entries: missing", where);
	if (n > 2 * PW_RRP_RL_MAX)
		pwm_fail("%s.entries: too many", where);
	e = calloc(n + 1, sizeof(*e));
	if (!e)
		pwm_fail("out of memory");
	for (size_t i = 0; i < n; i++) {
		json_t *x = json_array_get(list, i);

		snprintf(at, sizeof(at), "%s.entries[%zu]", where, i);
		pwm_json_keys(x, "at addr", at);
		e[i].at = pwm_json_u64(x, "at", PW_RRP_AT_MASK, NULL, at);
		e[i].addr = pwm_json_u64(x, "addr", PW_ADDR_MASK, NULL, at);
	}
	pw_rrp_put_entries(b, rtyp, e, n);
	if (b->err == -EINVAL)
		pwm_fail("%s.entries: at must be 1, or 2 and 3, or 4 and 5 together", where);
	free(e);
}

static void read_srqr(struct pw_rrp_buf *b, json_t *j, const char *where)
{
	u16 q = pwm_json_u64(j, "q", PW_RRP_Q_WORST, NULL, where);
	json_t *list = pwm_json_array(j, "route", where);
	size_t n = json_array_size(list), len, total = 0;
	u8 *l2rhs = malloc(72 * n + 1);
	char at[128];

	if (!l2rhs)
		pwm_fail("out of memory");
	for (size_t i = 0; i < n; i++) {
		json_t *x = json_array_get(list, i);
		u8 *route;

		snprintf(at, sizeof(at), "%s.route[%zu]", where, i);
		pwm_json_keys(x, "route", at);
		route = pwm_json_hex(x, "route", &len, at);
		if (!len || len > PW_L2RH_MAX)
			pwm_fail("%s.route: %zu bytes, must be 1..%d", at, len, PW_L2RH_MAX);
		total += pw_eep_put_l2rh(l2rhs + total, 72 * n - total, route, len);
		free(route);
	}
	if (total > 8 * PW_RRP_RL_MAX)
		pwm_fail("%s.route: too long", where);
	pw_rrp_put_srqr(b, q, l2rhs, total);
	free(l2rhs);
}

static void read_record(struct pw_rrp_buf *b, json_t *j, const char *where, int nested)
{
	const char *type = json_is_object(j) ? json_string_value(json_object_get(j, "type")) : NULL;
	size_t len;
	u8 *bytes;
	u8 rtyp;

	if (!json_is_object(j))
		pwm_fail("%s: not an object", where);
	for (rtyp = PW_RRP_ADDR; rtyp <= PW_RRP_RTHD; rtyp++)
		if (type && !strcmp(type, pw_rrp_rtyp_name(rtyp)))
			break;
	if (nested && rtyp <= PW_RRP_RTHD && (rtyp == PW_RRP_ADDR || rtyp >= PW_RRP_RCVF))
		pwm_fail("%s.type: %s may not lie inside an ADDR", where, type);
	switch (rtyp) {
	case PW_RRP_ADDR: {
		u8 at;
		u32 addr, addr2 = 0;

		pwm_json_keys(j, "type at addr addr2 records", where);
		at = pwm_json_u64(j, "at", PW_RRP_AT_VALUE, NULL, where);
		if (at != PW_RRP_AT_SINGLE && at != PW_RRP_AT_MIN && at != PW_RRP_AT_VALUE)
			pwm_fail("%s.at: must be 1, 2 or 4", where);
		addr = pwm_json_u64(j, "addr", PW_ADDR_MASK, NULL, where);
		if (at != PW_RRP_AT_SINGLE)
			addr2 = pwm_json_u64(j, "addr2", PW_ADDR_MASK, NULL, where);
		else if (json_object_get(j, "addr2"))
			pwm_fail("%s.addr2: only with at 2 or 4", where);
		pw_rrp_put_addr(b, at, addr, addr2);
		break;
	}
	case PW_RRP_NAME: {
		json_t *name = json_object_get(j, "name");

		pwm_json_keys(j, "type name", where);
		if (!json_is_string(name))
			pwm_fail("%s.name: not a string", where);
		if (json_string_length(name) > 8 * PW_RRP_RL_MAX)
			pwm_fail("%s.name: too long", where);
		pw_rrp_put_name(b, json_string_value(name), json_string_length(name));
		break;
	}
	case PW_RRP_CAPA: {
		u8 code;

		pwm_json_keys(j, "type code params", where);
		code = pwm_json_u64(j, "code", U8_MAX, NULL, where);
		bytes = pwm_json_hex(j, "params", &len, where);
		if (len >= 8 * PW_RRP_RL_MAX)
			pwm_fail("%s.params: too long", where);
		pw_rrp_put_capa(b, code, bytes, len);
		free(bytes);
		break;
	}
	case PW_RRP_LADR:
	case PW_RRP_RCVF:
		pwm_json_keys(j, "type entries", where);
		read_entries(b, j, rtyp, where);
		break;
	case PW_RRP_SRQR:
		pwm_json_keys(j, "type q route", where);
		read_srqr(b, j, where);
		break;
	case PW_RRP_MTUR:
		pwm_json_keys(j, "type mtu", where);
		pw_rrp_put_mtur(b, pwm_json_u64(j, "mtu", U32_MAX, NULL, where));
		break;
	case PW_RRP_RTHD:
		pwm_json_keys(j, "type san serial", where);
		pw_rrp_put_rthd(b, pwm_json_u64(j, "san", PW_ADDR_MASK, NULL, where),
				pwm_json_u64(j, "serial", U32_MAX, NULL, where));
		break;
	default:
		pwm_fail("%s.type: not a record type", where);
	}
	if (b->err == -EINVAL)
		pwm_fail("%s: ADDR with what is inside does not fit RL", where);
	if (b->err)
		pwm_fail("%s: too long", where);
}

static void encode(const char *arg)
{
	json_t *j = pwm_json_load(arg), *list;
	size_t cap = 64 << 20;
	struct pwm_out o = { 0 };
	struct pw_rrp_buf b;
	char where[96];
	u8 *out = malloc(cap);

	if (!out)
		pwm_fail("out of memory");
	pwm_json_keys(j, "records", "");
	list = pwm_json_array(j, "records", "");
	if (!list)
		pwm_fail("records: missing");
	pw_rrp_buf_init(&b, out, cap);
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *rec = json_array_get(list, i), *inside;

		snprintf(where, sizeof(where), "records[%zu]", i);
		read_record(&b, rec, where, 0);
		inside = b.open ? pwm_json_array(rec, "records", where) : NULL;
		for (size_t k = 0; k < json_array_size(inside); k++) {
			snprintf(where, sizeof(where), "records[%zu].records[%zu]", i, k);
			read_record(&b, json_array_get(inside, k), where, 1);
		}
		pw_rrp_end_addr(&b);
	}
	pwm_out(&o, "{\"hex\":");
	pwm_out_hex(&o, out, pw_rrp_buf_done(&b));
	pwm_out(&o, "}");
	pwm_out_flush(&o);
	free(out);
	json_decref(j);
}

int pwm_rrp(int argc, char **argv)
{
	return pwm_codec(argc, argv, decode, encode);
}
