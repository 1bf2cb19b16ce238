// SPDX-License-Identifier: GPL-2.0
/*
 * Objects of the generic netlink family, from tables: each kind of object has
 * one nest and attributes that are members of the output; those that can be set
 * are words of the command line as well.
 */
#include <netdb.h>

#include "esp.h"
#include "fabric/fabric_param.h"
#include "poets.h"
#include "pwctl.h"
#include "topology.h"

struct object {
	const char *name;
	int nest;
	int get, add, set, del;		/* commands; 0: none */
	const struct word *fields;
};

#define ENGINES "none|fast|rtl|ring"
#define CLOCKS "free|lockstep"
#define RELEASES "back|appended"

static int parse_route(const char *text, uint32_t *v)
{
	return pw_fabric_route_named(text, v) ? 0 : parse_u32(text, v);
}

/*
 * Parameters of the fabric: core/fabric/fabric_param.c has their names and ranges,
 * core/fabric/fabric_fault.h those of the last three.
 */
#define SAN_PARAMS \
	{ "depth", "CELLS", W_U32, PACKETWAY_A_SAN_DEPTH }, \
	{ "og-blocks", "CELLS", W_U32, PACKETWAY_A_SAN_OG_BLOCKS }, \
	{ "ic-blocks", "CELLS", W_U32, PACKETWAY_A_SAN_IC_BLOCKS }, \
	{ "descs", "N", W_U32, PACKETWAY_A_SAN_DESCS }, \
	{ "credit", "CELLS", W_U32, PACKETWAY_A_SAN_CREDIT }, \
	{ "resend", "CYCLES", W_U32, PACKETWAY_A_SAN_RESEND }, \
	{ "queue", "N", W_U32, PACKETWAY_A_SAN_QUEUE }, \
	{ "gap-lock", "CYCLES", W_U32, PACKETWAY_A_SAN_GAP_LOCK }, \
	{ "gap-init", "CYCLES", W_U32, PACKETWAY_A_SAN_GAP_INIT }, \
	{ "gap-get", "CYCLES", W_U32, PACKETWAY_A_SAN_GAP_GET }, \
	{ "gap-word", "CYCLES", W_U32, PACKETWAY_A_SAN_GAP_WORD }, \
	{ "route", "turn|fixed|random|least|N", W_U32, PACKETWAY_A_SAN_ROUTE, \
	  .number = parse_route }, \
	{ "drop", "PPM", W_U32, PACKETWAY_A_SAN_DROP }, \
	{ "corrupt", "PPM", W_U32, PACKETWAY_A_SAN_CORRUPT }, \
	{ "fault-seed", "N", W_U32, PACKETWAY_A_SAN_FAULT_SEED }

/* those of the ring: core/ring/ring_param.c */
#define SAN_RING \
	{ "ring-propagation", "BITS", W_U32, PACKETWAY_A_SAN_RING_PROPAGATION }, \
	{ "ring-release", RELEASES, W_CHOICE, PACKETWAY_A_SAN_RING_RELEASE }, \
	{ "ring-width", "BITS", W_U32, PACKETWAY_A_SAN_RING_WIDTH }, \
	{ "ring-bitsum", "BITS", W_U32, PACKETWAY_A_SAN_RING_BITSUM }

static const struct word san_fields[] = {
	{ "id", "ID", W_U32, PACKETWAY_A_SAN_ID },
	{ "ports", "N", W_U32, PACKETWAY_A_SAN_PORTS },
	{ "bias", "N", W_U32, PACKETWAY_A_SAN_BIAS },
	{ "engine", ENGINES, W_CHOICE, PACKETWAY_A_SAN_ENGINE },
	{ "ring-engine", ENGINES, W_CHOICE, PACKETWAY_A_SAN_RING_ENGINE },
	{ "rate", "N", W_U64, PACKETWAY_A_SAN_RATE },
	{ "real", "0|1", W_U32, PACKETWAY_A_SAN_REAL },
	{ "frozen", "0|1", W_U32, PACKETWAY_A_SAN_FROZEN },
	{ "clock", CLOCKS, W_CHOICE, PACKETWAY_A_SAN_CLOCK },
	SAN_RING,
	{ "cut-through", "NS", W_U32, PACKETWAY_A_SAN_CUT_THROUGH },
	SAN_PARAMS,
	{ "topology", "NAME", W_TEXT, PACKETWAY_A_SAN_TOPOLOGY },
	{ "switches", "N", W_U32, PACKETWAY_A_SAN_SWITCHES },
	{ "switch-ports", "N", W_U32, PACKETWAY_A_SAN_SWITCH_PORTS },
	{ "paths", "N", W_U32, PACKETWAY_A_SAN_PATHS },
	{ "stages", "N", W_U32, PACKETWAY_A_SAN_STAGES },
	{ "connections", "N", W_JSON, PACKETWAY_A_SAN_MULTICAST, .json = connections_json },
	{ "multicast", NULL, W_JSON, PACKETWAY_A_SAN_MULTICAST, .json = multicast_json },
	{ "stations", "N", W_U32, PACKETWAY_A_SAN_STATIONS },
	{ "time", "N", W_U64, PACKETWAY_A_SAN_TIME },
	{ "phc", "N", W_U32, PACKETWAY_A_SAN_PHC },
	{ "pinned", NULL, W_FLAG, PACKETWAY_A_SAN_PINNED },
	{}
};

static const struct object san_object = {
	"san", PACKETWAY_A_SAN, PACKETWAY_CMD_SAN_GET, PACKETWAY_CMD_SAN_NEW,
	PACKETWAY_CMD_SAN_SET, PACKETWAY_CMD_SAN_DEL, san_fields,
};

/* forward, discard and abort of each opcode */
static const char *esp_counter(int i)
{
	static char name[32];

	if (i >= 3 * PW_ESP_OPCODES)
		return NULL;
	snprintf(name, sizeof(name), "%s_%s", pw_esp_desc[i / 3].name,
		 pw_esp_verdict_name[PW_ESP_V_FORWARD + i % 3]);
	return name;
}

static const char *poets_drop(int i)
{
	return i + 1 < PW_SOFTSWITCH_DROPS ? pw_softswitch_drop_name[i + 1] : NULL;
}

static const char *poets_counter(int i)
{
	return i < PW_POETS_C_BASIC ? pw_poets_counter_name[i] : NULL;
}

static const struct word esp_fields[] = {
	{ "dev", "NAME", W_DEV, PACKETWAY_A_ESP_IFINDEX },
	{ "node", "ADDR", W_ADDR, PACKETWAY_A_ESP_NODE },
	{ "router", "NAME", W_TEXT, PACKETWAY_A_ESP_ROUTER },
	{ "capacity", "N", W_U32, PACKETWAY_A_ESP_CAPACITY },
	{ "lifetime", "MS", W_U32, PACKETWAY_A_ESP_LIFETIME },
	{ "used", "N", W_U32, PACKETWAY_A_ESP_USED },
	{ "tag", "N", W_U64, PACKETWAY_A_ESP_TAG },
	{ "value", "N", W_U64, PACKETWAY_A_ESP_VALUE },
	{ "left", "N", W_U32, PACKETWAY_A_ESP_LEFT },
	{ "done", NULL, W_COUNTERS, PACKETWAY_A_ESP_STATS, .counter = esp_counter },
	{}
};

static const struct object esp_object = {
	"esp", PACKETWAY_A_ESP, PACKETWAY_CMD_ESP_GET, 0, PACKETWAY_CMD_ESP_SET, 0, esp_fields,
};

static const struct object binding_object = {
	"binding", PACKETWAY_A_ESP, PACKETWAY_CMD_ESP_BINDING_GET, 0, 0, 0, esp_fields,
};

static const struct word poets_fields[] = {
	{ "dev", "NAME", W_DEV, PACKETWAY_A_POETS_IFINDEX },
	{ "role", "softswitch|mothership", W_CHOICE, PACKETWAY_A_POETS_ROLE },
	{ "addr", "ADDR", W_ADDR, PACKETWAY_A_POETS_ADDR },
	{ "state", "loading|barrier|running|stopped", W_CHOICE, PACKETWAY_A_POETS_STATE },
	{ "devices", "N", W_U32, PACKETWAY_A_POETS_DEVICES },
	{ "pins", "N", W_U32, PACKETWAY_A_POETS_PINS },
	{ "mothership", "ADDR", W_ADDR, PACKETWAY_A_POETS_MOTHERSHIP },
	{ "interval", "MS", W_U32, PACKETWAY_A_POETS_INTERVAL },
	{ "queue", "N", W_U32, PACKETWAY_A_POETS_QUEUE },
	{ "queued", "N", W_U32, PACKETWAY_A_POETS_QUEUED },
	{ "lost", "N", W_U64, PACKETWAY_A_POETS_LOST },
	{ "drops", NULL, W_COUNTERS, PACKETWAY_A_POETS_DROPS, .counter = poets_drop },
	{ "counters", NULL, W_COUNTERS, PACKETWAY_A_POETS_COUNTERS, .counter = poets_counter },
	{ "task", "N", W_U32, PACKETWAY_A_POETS_TASK },
	{}
};

static const struct object poets_object = {
	"poets", PACKETWAY_A_POETS, PACKETWAY_CMD_POETS_GET, 0, 0, 0, poets_fields,
};

_Static_assert(3 * PW_ESP_OPCODES == PACKETWAY_A_ESP_STAT_MAX - PACKETWAY_A_ESP_STAT_PAD,
	       "core has a name for each counter of ESP");
_Static_assert(PW_SOFTSWITCH_DROPS - 1 == PACKETWAY_A_POETS_DROP_MAX - PACKETWAY_A_POETS_DROP_PAD,
	       "core has a name for each reason to drop");
_Static_assert(PW_POETS_C_BASIC == PACKETWAY_A_POETS_COUNTER_MAX - PACKETWAY_A_POETS_COUNTER_PAD,
	       "core has a name for each counter of a softswitch");

/* Words into a request ------------------------------------------------------- */

enum status put_word(void *h, const struct word *w, char **values)
{
	union {
		uint32_t u32;
		uint64_t u64;
	} v = {};
	struct word here = *w;
	enum status st;

	switch (w->kind) {
	case W_CALL:
		return w->call(h, values);
	case W_FLAG:
		return nl_put(h, w->at, NULL, 0);
	case W_TEXT:
		return nl_put_text(h, w->at, values[0]);
	case W_DEV:
		v.u32 = if_nametoindex(values[0]);
		if (!v.u32)
			return fail(errno, "%s", values[0]);
		break;
	default:
		here.at = 0;
		st = word_store(&v, &here, values);
		if (st)
			return st;
	}
	return w->kind == W_U64 ? nl_put(h, w->at, &v.u64, sizeof(v.u64)) :
				  nl_put(h, w->at, &v.u32, sizeof(v.u32));
}

/* Replies into JSON ---------------------------------------------------------- */

/* counters begin at attribute 2, behind the one for padding */
static json_t *counters_json(const struct word *f, const struct nlattr *nest)
{
	json_t *j = json_object();
	const struct nlattr *a;
	const char *name;

	mnl_attr_for_each_nested(a, nest) {
		name = mnl_attr_get_type(a) < 2 ? NULL : f->counter(mnl_attr_get_type(a) - 2);
		if (name)
			json_object_set_new(j, name, j_u64(mnl_attr_get_u64(a)));
	}
	return j;
}

static json_t *addrs_json(const struct nlattr *a)
{
	const uint8_t *p = mnl_attr_get_payload(a);
	size_t n = mnl_attr_get_payload_len(a) / 4, i;
	json_t *list = json_array();
	uint32_t addr;

	for (i = 0; i < n; i++) {
		memcpy(&addr, p + 4 * i, sizeof(addr));
		json_array_append_new(list, j_addr(addr));
	}
	return list;
}

static json_t *sockaddr_json(const struct nlattr *a)
{
	char host[64], port[16], text[96];

	if (getnameinfo(mnl_attr_get_payload(a), mnl_attr_get_payload_len(a), host, sizeof(host),
			port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		return json_null();
	snprintf(text, sizeof(text), strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
	return json_string(text);
}

static json_t *field_json(const struct word *f, const struct nlattr *a)
{
	char name[IF_NAMESIZE];
	const char *text;
	uint32_t n;
	int len;

	switch (f->kind) {
	case W_U64:
		return j_u64(mnl_attr_get_u64(a));
	case W_TEXT:
		return json_string(mnl_attr_get_str(a));
	case W_BYTES:
		return j_hex(mnl_attr_get_payload(a), mnl_attr_get_payload_len(a));
	case W_ADDRS:
		return addrs_json(a);
	case W_SOCKADDR:
		return sockaddr_json(a);
	case W_COUNTERS:
		return counters_json(f, a);
	case W_JSON:
		return f->json(a);
	default:
		break;
	}
	n = mnl_attr_get_u32(a);
	switch (f->kind) {
	case W_ADDR:
		return j_addr(n);
	case W_DEV:
		return if_indextoname(n, name) ? json_string(name) : json_integer(n);
	case W_CHOICE:
		len = choice(f->value, n, &text);
		return len ? json_stringn(text, len) : json_integer(n);
	default:
		return json_integer(n);
	}
}

json_t *fields_json(json_t *j, const struct word *fields, const struct nlattr *nest)
{
	const struct nlattr *tb[256] = {}, *a;
	const struct word *f;

	mnl_attr_for_each_nested(a, nest)
		if (mnl_attr_get_type(a) < N(tb))
			tb[mnl_attr_get_type(a)] = a;
	for (f = fields; f->kind; f++) {
		a = tb[f->at];
		if (f->kind == W_FLAG)
			json_object_set_new(j, f->name, json_boolean(!!a));
		else if (a)
			json_object_set_new(j, f->name, field_json(f, a));
	}
	return j;
}

/* Commands ------------------------------------------------------------------- */

static int show_cb(const struct nlmsghdr *h, void *data)
{
	const struct object *o = data;
	const struct nlattr *a;

	mnl_attr_for_each(a, h, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(a) == o->nest)
			out_item(o->name, fields_json(json_object(), o->fields, a));
	return MNL_CB_OK;
}

struct list_data {
	const struct object *o;
	json_t *list;
};

static int list_cb(const struct nlmsghdr *h, void *data)
{
	const struct list_data *d = data;
	const struct nlattr *a;

	mnl_attr_for_each(a, h, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(a) == d->o->nest)
			json_array_append_new(d->list, fields_json(json_object(), d->o->fields, a));
	return MNL_CB_OK;
}

enum status object_list(const char *name, json_t *list)
{
	static const struct object *const objects[] = { &san_object, &esp_object, &poets_object };
	struct list_data d = { .list = list };
	int i;

	for (i = 0; i < N(objects); i++)
		if (!strcmp(objects[i]->name, name))
			d.o = objects[i];
	return genl_dump(d.o->get, list_cb, &d, name);
}

/*
 * @dump: ask for all of them, with words as a filter; otherwise words name one, which is asked
 * for with the flag @with, if that is not 0
 */
static enum status object_get(const struct object *o, const struct verb *v, bool dump, int with,
			      int argc, char **argv)
{
	enum status st;
	struct genl g;

	genl_begin(&g, o->get, dump || !argc ? NLM_F_DUMP : 0, argc ? o->nest : 0);
	out_begin(false);
	st = words_each(v, argc, argv, put_word, g.h);
	if (!st && argc && with)
		st = nl_put(g.h, with, NULL, 0);
	st = genl_end(&g, st, show_cb, (void *)o, o->name);
	if (!st)
		out_end();
	return st;
}

static enum status object_change(const struct object *o, const struct verb *v, int cmd, int argc,
				 char **argv)
{
	struct genl g;

	genl_begin(&g, cmd, 0, o->nest);
	return genl_end(&g, words_each(v, argc, argv, put_word, g.h), NULL, NULL, o->name);
}

json_t *object_event(const struct nlmsghdr *h, const char **what, const char **action)
{
	static const struct object *const objects[] = { &san_object, &esp_object };
	const struct genlmsghdr *gh = mnl_nlmsg_get_payload(h);
	const struct nlattr *a;
	json_t *j;
	int i;

	j = router_event(h, what, action);
	if (j)
		return j;
	for (i = 0; i < N(objects); i++) {
		const struct object *o = objects[i];

		mnl_attr_for_each(a, h, sizeof(*gh)) {
			if (mnl_attr_get_type(a) != o->nest)
				continue;
			*what = o->name;
			*action = gh->cmd == o->add ? "new" : gh->cmd == o->del ? "del" :
				  gh->cmd == o->set ? "set" : "event";
			return fields_json(json_object(), o->fields, a);
		}
	}
	return NULL;
}

static enum status san_show(const struct verb *v, int argc, char **argv)
{
	return object_get(&san_object, v, false, PACKETWAY_A_SAN_WITH_MULTICAST, argc, argv);
}

static enum status san_change(const struct verb *v, int argc, char **argv)
{
	return object_change(&san_object, v, v->arg, argc, argv);
}

/* arg: a command; 0 shows stores, otherwise bindings */
enum status esp_show(const struct verb *v, int argc, char **argv)
{
	return v->arg ? object_get(&binding_object, v, true, 0, argc, argv) :
			object_get(&esp_object, v, false, 0, argc, argv);
}

enum status esp_set(const struct verb *v, int argc, char **argv)
{
	return argc ? object_change(&esp_object, v, esp_object.set, argc, argv) :
		      usage("esp set: capacity or lifetime is missing");
}

enum status poets_show(const struct verb *v, int argc, char **argv)
{
	return object_get(&poets_object, v, true, 0, argc, argv);
}

#define ESP_WHICH \
	{ "dev", "NAME", W_DEV, PACKETWAY_A_ESP_IFINDEX, WORD_KEY }, \
	{ "node", "ADDR", W_ADDR, PACKETWAY_A_ESP_NODE }

const struct word esp_which[] = { ESP_WHICH, {} };
const struct word esp_settings[] = {
	ESP_WHICH,
	{ "capacity", "N", W_U32, PACKETWAY_A_ESP_CAPACITY },
	{ "lifetime", "MS", W_U32, PACKETWAY_A_ESP_LIFETIME },
	{}
};

const struct word poets_which[] = {
	{ "dev", "NAME", W_DEV, PACKETWAY_A_POETS_IFINDEX, WORD_KEY },
	{}
};

#define SAN_ID(flags) { NULL, "ID", W_U32, PACKETWAY_A_SAN_ID, flags }
#define SAN_SHAPE \
	{ "ports", "N", W_U32, PACKETWAY_A_SAN_PORTS }, { "bias", "N", W_U32, PACKETWAY_A_SAN_BIAS }
#define SAN_ENGINES \
	{ "engine", ENGINES, W_CHOICE, PACKETWAY_A_SAN_ENGINE }, \
	{ "ring-engine", "fast|rtl", W_CHOICE, PACKETWAY_A_SAN_RING_ENGINE, \
	  .max = PACKETWAY_ENGINE_FAST }, \
	SAN_RING, \
	{ "cut-through", "off|on|NS", W_SWITCH, PACKETWAY_A_SAN_CUT_THROUGH }, \
	{ "rate", "BITS/S", W_U64, PACKETWAY_A_SAN_RATE }, \
	{ "real", "0|1", W_U32, PACKETWAY_A_SAN_REAL }, \
	{ "frozen", "0|1", W_U32, PACKETWAY_A_SAN_FROZEN }, \
	{ "clock", CLOCKS, W_CHOICE, PACKETWAY_A_SAN_CLOCK }, \
	{ "topology", "NAME|FILE", W_CALL, .max = 1, .call = put_topology }

static const struct word san_which[] = { SAN_ID(0), {} };
static const struct word san_gone[] = {
	SAN_ID(WORD_NEEDED),
	{ "with-stations", NULL, W_FLAG, PACKETWAY_A_SAN_WITH_STATIONS },
	{}
};
static const struct word san_new[] = { SAN_ID(WORD_NEEDED), SAN_SHAPE, SAN_ENGINES, SAN_PARAMS, {} };
static const struct word san_settings[] = { SAN_ID(WORD_NEEDED), SAN_ENGINES, SAN_PARAMS, {} };

const struct verb san_verbs[] = {
	{ "show", san_show, 0, san_which, "all SANs of the namespace, or one" },
	{ "add", san_change, PACKETWAY_CMD_SAN_NEW, san_new,
	  "create a SAN; ports are a square of 2..16 or those of its topology, addresses are bias + port + 1" },
	{ "set", san_change, PACKETWAY_CMD_SAN_SET, san_settings,
	  "how its fabric and its ring run: bits per second, in real time, stopped" },
	{ "stages", cmd_stages, 0, stages_words,
	  "cells, refusals and queue fill of each stage of its fabric, the output ports last" },
	{ "del", san_change, PACKETWAY_CMD_SAN_DEL, san_gone,
	  "delete a SAN without stations, or with them, all at once" },
	{}
};
