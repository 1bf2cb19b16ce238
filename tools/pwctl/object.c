// SPDX-License-Identifier: GPL-2.0
/*
 * Objects of the generic netlink family, from tables: each kind of object has
 * one nest, a key, and attributes that are words on the command line and
 * members in the output.
 */
#include <linux/genetlink.h>

#include "pwctl.h"

enum type { T_U32, T_U64, T_ADDR, T_ENUM, T_FLAG, T_STR, T_DEV, T_COUNTERS };

struct field {
	const char *name;
	int attr;
	enum type type;
	const char *const *values;	/* T_ENUM; T_COUNTERS: from attribute 2 on */
	bool reply;			/* cannot be set */
};

struct object {
	const char *name;
	int nest;
	int get, add, set, del;		/* commands; 0: none */
	const struct field *f;		/* the first one is the key */
	int nf;
};

static const char *const engines[] = { "none", "fast", "rtl", NULL };

static const struct field san_fields[] = {
	{ "id", PACKETWAY_A_SAN_ID, T_U32, NULL, false },
	{ "ports", PACKETWAY_A_SAN_PORTS, T_U32, NULL, false },
	{ "bias", PACKETWAY_A_SAN_BIAS, T_U32, NULL, false },
	{ "engine", PACKETWAY_A_SAN_ENGINE, T_ENUM, engines, false },
	{ "ring-engine", PACKETWAY_A_SAN_RING_ENGINE, T_ENUM, engines, false },
	{ "rate", PACKETWAY_A_SAN_RATE, T_U64, NULL, false },
	{ "real", PACKETWAY_A_SAN_REAL, T_U32, NULL, false },
	{ "frozen", PACKETWAY_A_SAN_FROZEN, T_U32, NULL, false },
	{ "stations", PACKETWAY_A_SAN_STATIONS, T_U32, NULL, true },
	{ "time", PACKETWAY_A_SAN_TIME, T_U64, NULL, true },
	{ "phc", PACKETWAY_A_SAN_PHC, T_U32, NULL, true },
	{ "pinned", PACKETWAY_A_SAN_PINNED, T_FLAG, NULL, true },
};

static const struct object san_object = {
	"san", PACKETWAY_A_SAN, PACKETWAY_CMD_SAN_GET, PACKETWAY_CMD_SAN_NEW,
	PACKETWAY_CMD_SAN_SET, PACKETWAY_CMD_SAN_DEL, san_fields, N(san_fields),
};

#define ESP_VERDICTS(op) op "_forward", op "_discard", op "_abort"

static const char *const esp_counters[] = {
	ESP_VERDICTS("unknown"), ESP_VERDICTS("count"), ESP_VERDICTS("compare"),
	ESP_VERDICTS("collect"), ESP_VERDICTS("rchld"), ESP_VERDICTS("rcollect"), NULL,
};

static const struct field esp_fields[] = {
	{ "dev", PACKETWAY_A_ESP_IFINDEX, T_DEV, NULL, false },
	{ "node", PACKETWAY_A_ESP_NODE, T_ADDR, NULL, false },
	{ "router", PACKETWAY_A_ESP_ROUTER, T_STR, NULL, true },
	{ "capacity", PACKETWAY_A_ESP_CAPACITY, T_U32, NULL, false },
	{ "lifetime", PACKETWAY_A_ESP_LIFETIME, T_U32, NULL, false },
	{ "used", PACKETWAY_A_ESP_USED, T_U32, NULL, true },
	{ "tag", PACKETWAY_A_ESP_TAG, T_U64, NULL, true },
	{ "value", PACKETWAY_A_ESP_VALUE, T_U64, NULL, true },
	{ "left", PACKETWAY_A_ESP_LEFT, T_U32, NULL, true },
	{ "done", PACKETWAY_A_ESP_STATS, T_COUNTERS, esp_counters, true },
};

static const struct object esp_object = {
	"esp", PACKETWAY_A_ESP, PACKETWAY_CMD_ESP_GET, 0, PACKETWAY_CMD_ESP_SET, 0,
	esp_fields, N(esp_fields),
};

static const struct object binding_object = {
	"binding", PACKETWAY_A_ESP, PACKETWAY_CMD_ESP_BINDING_GET, 0, 0, 0,
	esp_fields, N(esp_fields),
};

static const char *const poets_roles[] = { "softswitch", "mothership", NULL };
static const char *const poets_states[] = { "loading", "barrier", "running", "stopped", NULL };
static const char *const poets_drops[] = {
	"malformed", "loading", "barrier", "stopped", "mothership", "device", "opcode", "pin",
	"edge", NULL
};
static const char *const poets_counters[] = {
	"index", "cycles", "received", "receive_handlers", "sent", "to_supervisor",
	"send_handlers", "idle", "idle_handlers", "blocked", NULL
};

static const struct field poets_fields[] = {
	{ "dev", PACKETWAY_A_POETS_IFINDEX, T_DEV, NULL, false },
	{ "role", PACKETWAY_A_POETS_ROLE, T_ENUM, poets_roles, true },
	{ "addr", PACKETWAY_A_POETS_ADDR, T_ADDR, NULL, true },
	{ "state", PACKETWAY_A_POETS_STATE, T_ENUM, poets_states, true },
	{ "devices", PACKETWAY_A_POETS_DEVICES, T_U32, NULL, true },
	{ "pins", PACKETWAY_A_POETS_PINS, T_U32, NULL, true },
	{ "mothership", PACKETWAY_A_POETS_MOTHERSHIP, T_ADDR, NULL, true },
	{ "interval", PACKETWAY_A_POETS_INTERVAL, T_U32, NULL, true },
	{ "queue", PACKETWAY_A_POETS_QUEUE, T_U32, NULL, true },
	{ "queued", PACKETWAY_A_POETS_QUEUED, T_U32, NULL, true },
	{ "lost", PACKETWAY_A_POETS_LOST, T_U64, NULL, true },
	{ "drops", PACKETWAY_A_POETS_DROPS, T_COUNTERS, poets_drops, true },
	{ "counters", PACKETWAY_A_POETS_COUNTERS, T_COUNTERS, poets_counters, true },
};

static const struct object poets_object = {
	"poets", PACKETWAY_A_POETS, PACKETWAY_CMD_POETS_GET, 0, 0, 0,
	poets_fields, N(poets_fields),
};

static const struct object *const objects[] = { &san_object, &esp_object };

static uint32_t nvalues(const struct field *f)
{
	uint32_t n = 0;

	while (f->values[n])
		n++;
	return n;
}

static int put_field(struct nlmsghdr *h, const struct field *f, const char *text)
{
	uint64_t v64;
	uint32_t v;
	int i;

	switch (f->type) {
	case T_U32:
		if (parse_u32(text, &v))
			return usage("%s: \"%s\" is not a number", f->name, text);
		mnl_attr_put_u32(h, f->attr, v);
		break;
	case T_U64:
		if (parse_u64(text, &v64))
			return usage("%s: \"%s\" is not a number", f->name, text);
		mnl_attr_put_u64(h, f->attr, v64);
		break;
	case T_ADDR:
		if (parse_addr(text, &v))
			return usage("%s: \"%s\" is not an address", f->name, text);
		mnl_attr_put_u32(h, f->attr, v);
		break;
	case T_ENUM:
		for (i = 0; f->values[i] && strcmp(f->values[i], text); i++)
			;
		if (!f->values[i]) {
			fprintf(stderr, "pwctl: %s is one of", f->name);
			for (i = 0; f->values[i]; i++)
				fprintf(stderr, " %s", f->values[i]);
			fprintf(stderr, ", not \"%s\"\n", text);
			return EX_USAGE_;
		}
		mnl_attr_put_u32(h, f->attr, i);
		break;
	case T_STR:
		mnl_attr_put_strz(h, f->attr, text);
		break;
	case T_DEV:
		v = if_nametoindex(text);
		if (!v)
			return fail(errno, "%s", text);
		mnl_attr_put_u32(h, f->attr, v);
		break;
	case T_FLAG:
		mnl_attr_put(h, f->attr, 0, NULL);
		break;
	case T_COUNTERS:
		break;
	}
	return EX_OK_;
}

/* [KEY] [WORD VALUE]... into the nest */
static int put_words(struct nlmsghdr *h, const struct object *o, int argc, char **argv)
{
	struct nlattr *nest = mnl_attr_nest_start(h, o->nest);
	int i = 0, k, err;

	while (i < argc) {
		for (k = 0; k < o->nf; k++)
			if (!strcmp(o->f[k].name, argv[i]) && !o->f[k].reply)
				break;
		if (k == o->nf && i)
			return usage("%s: what is \"%s\"?", o->name, argv[i]);
		if (k < o->nf && o->f[k].type != T_FLAG && i + 1 == argc)
			return usage("%s: \"%s\" needs a value", o->name, argv[i]);
		if (k == o->nf) {
			err = put_field(h, &o->f[0], argv[i++]);
		} else if (o->f[k].type == T_FLAG) {
			err = put_field(h, &o->f[k], "");
			i++;
		} else {
			err = put_field(h, &o->f[k], argv[i + 1]);
			i += 2;
		}
		if (err)
			return err;
	}
	mnl_attr_nest_end(h, nest);
	return EX_OK_;
}

static json_t *counters_json(const struct field *f, const struct nlattr *nest)
{
	json_t *j = json_object();
	const struct nlattr *a;
	int type;

	mnl_attr_for_each_nested(a, nest) {
		type = mnl_attr_get_type(a) - 2;
		if (type >= 0 && type < nvalues(f))
			json_object_set_new(j, f->values[type], j_u64(mnl_attr_get_u64(a)));
	}
	return j;
}

static json_t *object_json(const struct object *o, const struct nlattr *nest)
{
	const struct nlattr *tb[256] = {}, *a;
	json_t *j = json_object(), *v;
	char name[IF_NAMESIZE];
	uint32_t n;
	int i;

	mnl_attr_for_each_nested(a, nest)
		if (mnl_attr_get_type(a) < N(tb))
			tb[mnl_attr_get_type(a)] = a;
	for (i = 0; i < o->nf; i++) {
		const struct field *f = &o->f[i];

		a = tb[f->attr];
		if (f->type == T_FLAG) {
			json_object_set_new(j, f->name, json_boolean(!!a));
			continue;
		}
		if (!a)
			continue;
		v = NULL;
		switch (f->type) {
		case T_U32:
			v = json_integer(mnl_attr_get_u32(a));
			break;
		case T_U64:
			v = j_u64(mnl_attr_get_u64(a));
			break;
		case T_ADDR:
			v = j_addr(mnl_attr_get_u32(a));
			break;
		case T_STR:
			v = json_string(mnl_attr_get_str(a));
			break;
		case T_DEV:
			n = mnl_attr_get_u32(a);
			v = if_indextoname(n, name) ? json_string(name) : json_integer(n);
			break;
		case T_ENUM:
			n = mnl_attr_get_u32(a);
			v = n < nvalues(f) ? json_string(f->values[n]) : json_integer(n);
			break;
		case T_COUNTERS:
			v = counters_json(f, a);
			break;
		case T_FLAG:
			break;
		}
		json_object_set_new(j, f->name, v);
	}
	return j;
}

static int show_cb(const struct nlmsghdr *h, void *data)
{
	const struct object *o = data;
	const struct nlattr *a;

	mnl_attr_for_each(a, h, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(a) == o->nest)
			out_item(o->name, object_json(o, a));
	return MNL_CB_OK;
}

/* @flags: NLM_F_DUMP, or 0 for one */
static int object_get(const struct object *o, int flags, int argc, char **argv)
{
	char buf[4096] __attribute__((aligned(8)));
	struct nlmsghdr *h;
	struct genl g;
	int err;

	err = genl_open(&g);
	if (err)
		return err;
	h = genl_request(&g, buf, o->get, flags);
	if (argc)
		err = put_words(h, o, argc, argv);
	if (!err) {
		out_begin(false);
		err = nl_do(&g.nl, h, show_cb, (void *)o, o->name);
		if (!err)
			out_end();
	}
	nl_close(&g.nl);
	return err;
}

static int object_show(const struct object *o, int argc, char **argv)
{
	return object_get(o, argc ? 0 : NLM_F_DUMP, argc, argv);
}

static int object_change(const struct object *o, int cmd, int argc, char **argv)
{
	char buf[4096] __attribute__((aligned(8)));
	struct nlmsghdr *h;
	struct genl g;
	int err;

	if (!argc)
		return usage("%s: which one?", o->name);
	err = genl_open(&g);
	if (err)
		return err;
	h = genl_request(&g, buf, cmd, 0);
	err = put_words(h, o, argc, argv);
	if (!err)
		err = nl_do(&g.nl, h, NULL, NULL, o->name);
	nl_close(&g.nl);
	return err;
}

json_t *object_event(const struct nlmsghdr *h, const char **what, const char **action)
{
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
			return object_json(o, a);
		}
	}
	return NULL;
}

#define OBJECT_VERBS(x)							\
static int x##_show(int argc, char **argv)				\
{									\
	return object_show(&x##_object, argc, argv);			\
}									\
static int x##_add(int argc, char **argv)				\
{									\
	return object_change(&x##_object, x##_object.add, argc, argv);	\
}									\
static int x##_set(int argc, char **argv)				\
{									\
	return object_change(&x##_object, x##_object.set, argc, argv);	\
}									\
static int x##_del(int argc, char **argv)				\
{									\
	return object_change(&x##_object, x##_object.del, argc, argv);	\
}

OBJECT_VERBS(san)

int esp_show(int argc, char **argv)
{
	return object_show(&esp_object, argc, argv);
}

int esp_set(int argc, char **argv)
{
	return object_change(&esp_object, esp_object.set, argc, argv);
}

int esp_bindings(int argc, char **argv)
{
	return object_get(&binding_object, NLM_F_DUMP, argc, argv);
}

int poets_show(int argc, char **argv)
{
	return object_get(&poets_object, NLM_F_DUMP, argc, argv);
}

int cmd_san(int argc, char **argv)
{
	static const struct verb v[] = {
		{ "show", san_show, "[ID]", "all SANs of the namespace, or one" },
		{ "add", san_add,
		  "ID [ports N] [bias N] [engine none|fast|rtl] [ring-engine fast|rtl] [rate N]",
		  "make one; ports are a square of 2..16, addresses are bias + port + 1" },
		{ "set", san_set,
		  "ID [engine none|fast|rtl] [ring-engine fast|rtl] [rate N] [real 0|1] [frozen 0|1]",
		  "how its fabric and its ring are run: bits per second, in real time, stopped" },
		{ "del", san_del, "ID", "delete one that has no stations" },
	};

	return dispatch("san", v, N(v), argc, argv);
}
