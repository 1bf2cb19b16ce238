// SPDX-License-Identifier: GPL-2.0
/* pwmodel eep: EEP messages between hex and JSON, on the codec of core/. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eep.h"
#include "pwmodel.h"
#include "pwmodel_json.h"

#define KEYS "prefix v p dt te pt e pl dl h sa oh data ot ei"

static const uint64_t zero;

static void decode(const char *arg)
{
	char *text = strcmp(arg, "-") ? strdup(arg) : pwm_slurp("-", NULL);
	struct pwm_out o = { 0 };
	struct pw_eep_view v;
	struct pw_eep_iter it;
	struct pw_eep_elem el;
	const char *sep = "";
	size_t len;
	u8 *b;
	int err;

	if (!text)
		pwm_fail("out of memory");
	b = pwm_unhex(text, &len, "hex");
	err = pw_eep_parse(b, len, &v);
	if (err)
		pwm_fail("%s: %s", pw_eep_err_field(err), pw_eep_err_str(err));

	pwm_out(&o, "{\"prefix\":[");
	pw_eep_iter_prefix(&it, b, &v);
	for (; pw_eep_next(&it, &el); sep = ",") {
		if (el.kind == PW_EEP_L2RH)
			pwm_out(&o, "%s{\"kind\":\"l2rh\",\"route\":", sep);
		else
			pwm_out(&o, "%s{\"kind\":\"symbol\",\"type\":%u,\"data\":", sep, el.type);
		pwm_out_hex(&o, b + el.data_off, el.data_len);
		pwm_out(&o, "}");
	}
	pwm_out(&o, "],\"v\":%u,\"p\":%u,\"dt\":%u,\"te\":%u,\"pt\":%u", v.v, v.p, v.dt, v.te, v.pt);
	pwm_out(&o, ",\"e\":%u,\"pl\":%u,\"dl\":%u,\"h\":%u,\"sa\":%u,\"oh\":[", v.e, v.pl, v.dl,
		v.h, v.sa);
	sep = "";
	pw_eep_iter_oh(&it, b, &v);
	for (; pw_eep_next(&it, &el); sep = ",") {
		pwm_out(&o, "%s{\"mandatory\":%s,\"type\":%u,\"data\":", sep,
			el.mandatory ? "true" : "false", el.type);
		pwm_out_hex(&o, b + el.data_off, el.data_len);
		pwm_out(&o, "}");
	}
	pwm_out(&o, "],\"data\":");
	pwm_out_hex(&o, b + v.db_off, v.data_len);
	pwm_out(&o, ",\"ot\":[");
	sep = "";
	pw_eep_iter_ot(&it, b + v.ot_off, &v);
	for (; pw_eep_next(&it, &el); sep = ",") {
		/* an ordinary trailer is optional; only a mandatory one says so */
		pwm_out(&o, "%s{%s\"type\":%u,\"data\":", sep,
			el.mandatory ? "\"mandatory\":true," : "", el.type);
		pwm_out_hex(&o, b + v.ot_off + el.data_off, el.data_len);
		pwm_out(&o, "}");
	}
	pwm_out(&o, "],\"ei\":%llu}", (unsigned long long)v.ei);
	pwm_out_flush(&o);
	free(b);
	free(text);
}

static void read_prefix(json_t *j, struct pw_eep_prefix *pf, const char *where)
{
	json_t *kind = json_is_object(j) ? json_object_get(j, "kind") : NULL;
	const char *name = json_string_value(kind);
	size_t len;

	if (!json_is_object(j))
		pwm_fail("%s: not an object", where);
	if (name && !strcmp(name, "l2rh")) {
		pwm_json_keys(j, "kind route", where);
		pf->kind = PW_EEP_L2RH;
		pf->data = pwm_json_hex(j, "route", &len, where);
		if (!len || len > PW_L2RH_MAX)
			pwm_fail("%s.route: %zu bytes, must be 1..%d", where, len, PW_L2RH_MAX);
	} else if (name && !strcmp(name, "symbol")) {
		pwm_json_keys(j, "kind type data", where);
		pf->kind = PW_EEP_SYMBOL;
		pf->type = pwm_json_u64(j, "type", PW_SYM_TYPE_MASK, NULL, where);
		pf->data = pwm_json_hex(j, "data", &len, where);
		if (len > PW_SYM_MAX)
			pwm_fail("%s.data: %zu bytes, at most %d", where, len, PW_SYM_MAX);
	} else {
		pwm_fail("%s.kind: must be \"l2rh\" or \"symbol\"", where);
	}
	pf->len = len;
}

static void read_opt(json_t *j, struct pw_eep_opt *opt, const char *where)
{
	size_t len;

	pwm_json_keys(j, "mandatory type data", where);
	opt->mandatory = pwm_json_bool(j, "mandatory", where);
	opt->type = pwm_json_u64(j, "type", PW_OPT_TYPE_MASK, NULL, where);
	opt->data = pwm_json_hex(j, "data", &len, where);
	if (len > PW_OPT_MAX)
		pwm_fail("%s.data: %zu bytes, at most %d", where, len, PW_OPT_MAX);
	opt->len = len;
}

static void *array_of(json_t *j, size_t size)
{
	void *p = calloc(json_array_size(j) + 1, size);

	if (!p)
		pwm_fail("out of memory");
	return p;
}

static struct pw_eep_opt *read_opts(json_t *obj, const char *key, u32 *n)
{
	json_t *j = pwm_json_array(obj, key, "");
	struct pw_eep_opt *opt = array_of(j, sizeof(*opt));
	char where[64];

	*n = json_array_size(j);
	if (*n > PW_EEP_MAX_OPTS)
		pwm_fail("%s: %u of them, at most %d", key, *n, PW_EEP_MAX_OPTS);
	for (u32 i = 0; i < *n; i++) {
		snprintf(where, sizeof(where), "%s[%u]", key, i);
		read_opt(json_array_get(j, i), &opt[i], where);
	}
	return opt;
}

/* what follows from other fields may be given, but not wrong */
static void check_given(json_t *j, const char *key, uint64_t max, uint64_t want)
{
	uint64_t got = pwm_json_u64(j, key, max, &want, "");

	if (got != want)
		pwm_fail("%s: %llu, but %llu follows from the rest", key, (unsigned long long)got,
			 (unsigned long long)want);
}

static void check_announced(const struct pw_eep_msg *m)
{
	u32 i, j = 0;

	for (i = 0; i < m->noh; i++) {
		if (!(BIT_ULL(m->oh[i].type) & PW_OH_ANNOUNCE_MASK))
			continue;
		while (j < m->nots && m->ot[j].type != m->oh[i].type)
			j++;
		if (j++ >= m->nots)
			pwm_fail("ot: oh[%u] (type %u) announces one that is not there in order",
				 i, m->oh[i].type);
	}
}

static void encode(const char *arg)
{
	json_t *j = pwm_json_load(arg), *pf;
	struct pw_eep_msg m = { 0 };
	struct pw_eep_prefix *prefix;
	struct pwm_out o = { 0 };
	enum pw_addr_kind kind;
	char where[64];
	size_t len;
	int n;
	u8 *b;

	pwm_json_keys(j, KEYS, "");
	pf = pwm_json_array(j, "prefix", "");
	prefix = array_of(pf, sizeof(*prefix));
	m.nprefix = json_array_size(pf);
	for (u32 i = 0; i < m.nprefix; i++) {
		snprintf(where, sizeof(where), "prefix[%u]", i);
		read_prefix(json_array_get(pf, i), &prefix[i], where);
	}
	m.prefix = prefix;
	pwm_json_u64(j, "v", PW_EEP_VERSION, &zero, "");
	m.hdr.p = pwm_json_u64(j, "p", PW_EEP_P_MAX, &zero, "");
	m.hdr.dt = pwm_json_u64(j, "dt", PW_ADDR_MASK, NULL, "");
	kind = pw_addr_kind(m.hdr.dt);
	if (kind == PW_ADDR_KIND_UNDEF || kind == PW_ADDR_KIND_RESERVED)
		pwm_fail("dt: 0x%06x is not a destination", m.hdr.dt);
	m.hdr.te = pwm_json_u64(j, "te", U16_MAX, &zero, "");
	m.hdr.pt = pwm_json_u64(j, "pt", U16_MAX, NULL, "");
	m.hdr.e = pwm_json_u64(j, "e", PW_E_LITTLE | PW_E_SIZE_MASK, &zero, "");
	if ((m.hdr.e & PW_E_SIZE_MASK) > PW_E_SIZE_MAX)
		pwm_fail("e: element size 5..7");
	m.hdr.sa = pwm_json_u64(j, "sa", PW_ADDR_PHYS_MASK, &zero, "");
	m.oh = read_opts(j, "oh", &m.noh);
	m.ot = read_opts(j, "ot", &m.nots);
	m.data = pwm_json_hex(j, "data", &len, "");
	if (len > PW_EEP_MAX_DATA)
		pwm_fail("data: %zu bytes, at most %u", len, PW_EEP_MAX_DATA);
	m.hdr.data_len = len;
	check_given(j, "pl", 7, pw_eep_pl(len));
	check_given(j, "dl", PW_EEP_DL_MAX, pw_eep_dl(len));
	check_given(j, "h", 1, m.noh > 0);
	m.ei = pwm_json_u64(j, "ei", U64_MAX, &zero, "");
	check_announced(&m);

	if (pw_eep_front_len(&m) < 0)
		pwm_fail("prefix: more than %d bytes", PW_EEP_MAX_PREFIX_LEN);
	n = pw_eep_msg_len(&m);
	if (n < 0)
		pwm_fail("ot[0]: empty, optional and of type 0 in front of others reads as TAIL");
	b = malloc(n);
	if (!b)
		pwm_fail("out of memory");
	n = pw_eep_build(&m, b, n);
	if (n < 0)
		pwm_fail("message: cannot be built");
	pwm_out(&o, "{\"hex\":");
	pwm_out_hex(&o, b, n);
	pwm_out(&o, "}");
	pwm_out_flush(&o);
	free(b);
	json_decref(j);
}

int pwm_eep(int argc, char **argv)
{
	return pwm_codec(argc, argv, decode, encode);
}
