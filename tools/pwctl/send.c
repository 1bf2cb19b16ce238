// SPDX-License-Identifier: GPL-2.0
/* Single EEP messages. */
#include "pwctl.h"

#define MSG_MAX 70000

struct send_args {
	uint32_t dst, pt, te, prio, wait;
	const char *dev, *text, *hex, *route, *l2rhs;
	bool crc32, crc64, fetch;
};

#define FETCH_MS 5000	/* for an answer of a half-router */

#define AT(m) offsetof(struct send_args, m)

const struct word send_words[] = {
	{ NULL, "ADDR", W_ADDR, AT(dst), WORD_NEEDED },
	{ "pt", "N", W_U32, AT(pt), WORD_NEEDED, .max = UINT16_MAX },
	{ "te", "N", W_U32, AT(te), .max = UINT16_MAX },
	{ "prio", "N", W_U32, AT(prio), .max = PW_EEP_P_MAX },
	{ "dev", "NAME", W_TEXT, AT(dev) },
	{ "hex", "BYTES", W_TEXT, AT(hex) },
	{ "text", "TEXT", W_TEXT, AT(text) },
	{ "crc32", NULL, W_FLAG, AT(crc32) },
	{ "crc64", NULL, W_FLAG, AT(crc64) },
	{ "route", "BYTES", W_TEXT, AT(route) },
	{ "by-route", NULL, W_FLAG, AT(fetch) },
	{ "l2rhs", "HEX", W_TEXT, AT(l2rhs) },
	{ "wait", "MS", W_U32, AT(wait) },
	{}
};

static json_t *message_json(const struct pwl_eep *m)
{
	const char *pt = pwl_pt_name(m->pt), *te = pwl_te_name(m->pt, m->te);
	json_t *j = json_object();

	json_object_set_new(j, "src", j_addr(m->src));
	json_object_set_new(j, "dst", j_addr(m->dst));
	json_object_set_new(j, "pt", json_integer(m->pt));
	if (pt)
		json_object_set_new(j, "type", json_string(pt));
	json_object_set_new(j, "te", json_integer(m->te));
	if (te)
		json_object_set_new(j, "extension", json_string(te));
	json_object_set_new(j, "prio", json_integer(m->prio));
	json_object_set_new(j, "bytes", json_integer(m->len));
	json_object_set_new(j, "crc-bad", json_boolean(m->crc_bad));
	json_object_set_new(j, "data", j_hex(m->data, m->len < 64 ? m->len : 64));
	return j;
}

enum status cmd_send(const struct verb *v, int argc, char **argv)
{
	static uint8_t data[MSG_MAX], rx[MSG_MAX + 256];
	uint8_t route[PW_L2RH_MAX];
	struct send_args a = {};
	struct source_route r = {};
	struct pwl_eep m = {};
	struct pwl_sock *k;
	struct station st;
	enum status ret;
	int n = 0, err;

	ret = words(v, argc, argv, &a);
	if (ret)
		return ret;
	if (a.hex) {
		n = parse_hex(a.hex, data, sizeof(data));
		if (n < 0)
			return usage("hex: '%s' is not pairs of hexadecimal digits", a.hex);
	} else if (a.text) {
		n = strnlen(a.text, sizeof(data));
		memcpy(data, a.text, n);
	}
	m.dst = a.dst;
	m.pt = a.pt;
	m.te = a.te;
	m.prio = a.prio;
	m.flags = (a.crc32 ? PWL_EEP_CRC32 : 0) | (a.crc64 ? PWL_EEP_CRC64 : 0);
	m.data = data;
	m.len = n;
	if (a.route) {
		n = parse_hex(a.route, route, sizeof(route));
		if (n <= 0)
			return usage("route: '%s' is not 1 to %d bytes in hexadecimal", a.route,
				     PW_L2RH_MAX);
		m.route = route;
		m.route_len = n;
	}
	if (!!a.route + a.fetch + !!a.l2rhs > 1)
		return usage("send: one of route, by-route and l2rhs");
	ret = a.l2rhs ? route_parse("l2rhs", a.l2rhs, &r) : ST_OK;
	if (!ret)
		ret = open_sock(a.dev, &k, &st);
	if (ret)
		return ret;
	if (a.fetch) {
		ret = route_fetch(k, a.dst, &r, FETCH_MS);
		if (ret) {
			pwl_sock_close(k);
			return ret;
		}
	}
	err = pwl_sock_route(k, r.bytes, r.len);
	if (!err)
		err = pwl_send(k, &m);
	if (err) {
		ret = fail(err, "%s", st.name);
	} else if (a.wait) {
		ret = ST_SILENT;
		out_begin(true);
		while (pwl_recv(k, rx, sizeof(rx), &m, a.wait) > 0) {
			out_item("", message_json(&m));
			ret = ST_OK;
		}
	}
	pwl_sock_close(k);
	return ret;
}
