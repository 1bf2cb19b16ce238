// SPDX-License-Identifier: GPL-2.0
/* ESP: single instructions with Reflect; the stores are in object.c. */
#include "pwctl.h"

struct esp_args {
	struct pwl_esp e;
	uint32_t dst, timeout, at;
	const char *dev, *op, *l2rhs;
	bool on_reflect, one_way, fetch;
};

#define AT(m) offsetof(struct esp_args, m)

/* arg: the opcode */
static enum status esp_run(const struct verb *v, int argc, char **argv)
{
	struct esp_args a = { .e = { .opcode = v->arg }, .timeout = 1000 };
	struct source_route r = {};
	const struct word *w;
	struct pwl_sock *k;
	struct station st;
	enum status ret;
	uint64_t x;
	json_t *j;
	int n;

	ret = words(v, argc, argv, &a);
	if (ret)
		return ret;
	a.e.ctl = (a.on_reflect ? PW_ESP_EXEC_ON_REFLECT : PW_ESP_EXECUTE) |
		  a.at << PW_ESP_LOC_SHIFT;
	if (a.op) {
		n = pwl_esp_op_parse(v->arg, a.op);
		if (n < 0)
			return usage("op: '%s' is not an operator of %s", a.op, v->name);
		a.e.op = n;
	}
	if (a.fetch && a.l2rhs)
		return usage("%s: one of by-route and l2rhs", v->name);
	ret = a.l2rhs ? route_parse("l2rhs", a.l2rhs, &r) : ST_OK;
	if (!ret)
		ret = open_sock(a.dev, &k, &st);
	if (ret)
		return ret;
	if (!a.e.pkt_id)
		a.e.pkt_id = pwl_sock_addr(k);
	if (a.fetch)
		ret = route_fetch(k, a.dst, &r, a.timeout);
	if (ret) {
		pwl_sock_close(k);
		return ret;
	}
	n = pwl_sock_route(k, r.bytes, r.len);
	if (!n && a.one_way) {
		n = pwl_esp_send(k, a.dst, &a.e);
		pwl_sock_close(k);
		return n ? fail(n, "%s", st.name) : ST_OK;
	}
	if (!n)
		n = pwl_esp_call(k, a.dst, &a.e, a.timeout);
	pwl_sock_close(k);
	if (n < 0)
		return n == -EHOSTUNREACH ? fail(0, "%s: an ERR message came back", st.name) :
					    fail(n, "%s", st.name);
	j = json_object();
	json_object_set_new(j, "instruction", json_string(v->name));
	json_object_set_new(j, "outcome", json_string(!n ? "discarded" : a.e.ctl & PW_ESP_ERROR ?
						      "aborted" : "forwarded"));
	for (w = v->words; n && w->kind; w++) {
		if (w->kind != W_U64)
			continue;
		memcpy(&x, (char *)&a + w->at, sizeof(x));
		json_object_set_new(j, w->name, j_u64(x));
	}
	return out_one("", j);
}

static const struct {
	const char *name;
	size_t at;
} operands[] = {
	{ "tag", offsetof(struct pwl_esp, tag) },
	{ "thresh", offsetof(struct pwl_esp, thresh) },
	{ "val", offsetof(struct pwl_esp, val) },
	{ "val-tag", offsetof(struct pwl_esp, val_tag) },
	{ "cnt-tag", offsetof(struct pwl_esp, cnt_tag) },
	{ "sib-tag", offsetof(struct pwl_esp, sib_tag) },
	{ "fwd-tag", offsetof(struct pwl_esp, fwd_tag) },
	{ "fwd-thresh", offsetof(struct pwl_esp, fwd_thresh) },
	{ "comp-tag", offsetof(struct pwl_esp, comp_tag) },
	{ "pkt-id", offsetof(struct pwl_esp, pkt_id) },
};

struct listen_args {
	uint32_t count, timeout;
	const char *dev;
};

/* ESP packets that reach a station */
static enum status esp_listen(const struct verb *v, int argc, char **argv)
{
	struct listen_args a = {};
	static uint8_t rx[2048];
	struct pwl_sock *k;
	struct pwl_eep m;
	struct pwl_esp e;
	struct station st;
	enum status ret;
	uint32_t seen = 0;
	uint64_t x;
	json_t *j;
	int n = 1;
	size_t i;

	ret = words(v, argc, argv, &a);
	if (!ret)
		ret = open_sock(a.dev, &k, &st);
	if (ret)
		return ret;
	out_begin(true);
	while (!interrupted && (!a.count || seen < a.count)) {
		n = pwl_recv(k, rx, sizeof(rx), &m, a.timeout ? (int)a.timeout : -1);
		if (n <= 0)
			break;
		if (m.pt != PW_PT_ESP || pwl_esp_parse(m.data, m.len, &e, NULL))
			continue;
		seen++;
		j = json_object();
		json_object_set_new(j, "src", j_addr(m.src));
		json_object_set_new(j, "instruction", json_string(pwl_esp_name(e.opcode)));
		json_object_set_new(j, "aborted", json_boolean(e.ctl & PW_ESP_ERROR));
		for (i = 0; i < N(operands); i++) {
			memcpy(&x, (char *)&e + operands[i].at, sizeof(x));
			if (x)
				json_object_set_new(j, operands[i].name, j_u64(x));
		}
		out_item("", j);
	}
	pwl_sock_close(k);
	if (n < 0 && n != -EINTR)
		return fail(n, "%s", st.name);
	return seen ? ST_OK : ST_SILENT;
}

#define L(m) offsetof(struct listen_args, m)

static const struct word listen_words[] = {
	{ "count", "N", W_U32, L(count) },
	{ "timeout", "MS", W_U32, L(timeout) },
	{ "dev", "NAME", W_TEXT, L(dev) },
	{}
};

_Static_assert(PW_ESP_LOC_ANY == 0 && PW_ESP_LOC_ROUTERS == 1 && PW_ESP_LOC_ENDS == 2,
	       "the names of locations are in this order");

#define DST { NULL, "ADDR", W_ADDR, AT(dst), WORD_NEEDED }
#define OPERAND(word, m) { word, "N", W_U64, AT(e.m), WORD_NEEDED }
#define OP(names) { "op", names, W_TEXT, AT(op), WORD_NEEDED }
#define REDUCE OP("add|and|or|max|min|xor")
#define CHILDREN \
	OPERAND("sib-tag", sib_tag), OPERAND("fwd-tag", fwd_tag), OPERAND("fwd-thresh", fwd_thresh)
#define PKT_ID { "pkt-id", "N", W_U64, AT(e.pkt_id) }
#define COMMON \
	{ "at", "any|routers|ends", W_CHOICE, AT(at) }, \
	{ "on-reflect", NULL, W_FLAG, AT(on_reflect) }, \
	{ "one-way", NULL, W_FLAG, AT(one_way) }, \
	{ "by-route", NULL, W_FLAG, AT(fetch) }, \
	{ "l2rhs", "HEX", W_TEXT, AT(l2rhs) }, \
	{ "dev", "NAME", W_TEXT, AT(dev) }, \
	{ "timeout", "MS", W_U32, AT(timeout) }

static const struct word count[] = {
	DST, OPERAND("tag", tag), OPERAND("thresh", thresh), COMMON, {}
};

static const struct word compare[] = {
	DST, OPERAND("tag", tag), OPERAND("val", val), OP("lt|le|eq|ne|ge|gt"), COMMON, {}
};

static const struct word collect[] = {
	DST, OPERAND("val", val), OPERAND("val-tag", val_tag), OPERAND("cnt-tag", cnt_tag), REDUCE,
	COMMON, {}
};

static const struct word rchld[] = { DST, CHILDREN, PKT_ID, COMMON, {} };

static const struct word rcollect[] = {
	DST, OPERAND("val", val), CHILDREN, OPERAND("comp-tag", comp_tag), REDUCE, PKT_ID, COMMON,
	{}
};

const struct verb esp_verbs[] = {
	{ "show", esp_show, 0, esp_which,
	  "stores of stations and half-routers: capacity, lifetime, bindings" },
	{ "set", esp_set, 0, esp_settings,
	  "settings of a station or half-router; without either: the defaults for those that\n"
	  "        come up later" },
	{ "bindings", esp_show, PACKETWAY_CMD_ESP_BINDING_GET, esp_which,
	  "tags and values (CAP_NET_ADMIN)" },
	{ "listen", esp_listen, 0, listen_words,
	  "packets that reach a station, until count, timeout without one, or an interrupt" },
	{ "count", esp_run, PW_ESP_COUNT, count, "the first THRESH packets of a lifetime pass" },
	{ "compare", esp_run, PW_ESP_COMPARE, compare,
	  "passes and is stored where the tag is unbound or `stored OP val` holds" },
	{ "collect", esp_run, PW_ESP_COLLECT, collect,
	  "reduce into val-tag; passes when cnt-tag has come down to 0" },
	{ "rchld", esp_run, PW_ESP_RCHLD, rchld,
	  "count each child once, even if its packets repeat" },
	{ "rcollect", esp_run, PW_ESP_RCOLLECT, rcollect,
	  "reduce over the children that rchld counted" },
	{}
};
