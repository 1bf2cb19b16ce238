// SPDX-License-Identifier: GPL-2.0
/* ATON: commands, operands, standing commands. */
#include "pwctl.h"

struct request {
	const char *dev;
	struct pwl_aton c;
	uint32_t count;		/* watch: end after so many results */
	uint32_t period;
	const char *op;		/* watch, tree */
	const char *value;	/* set */
	long group;
	uint32_t tree;		/* on all rings that routers join */
	bool partial;
	uint32_t sans;
};

#define AT(m) offsetof(struct request, m)

static enum status open_session(const char *dev, struct pwl **s, struct station *st)
{
	enum status ret = pick_station(dev, st);
	int err;

	if (ret)
		return ret;
	err = pwl_open(s, st->name);
	return err ? fail(err, "%s: /dev/" PACKETWAY_DEVICE, st->name) : ST_OK;
}

/* the words of a command, and a session with its station */
static enum status begin(const struct verb *v, int argc, char **argv, struct request *q,
			 struct pwl **s, struct station *st)
{
	enum status ret;

	*q = (struct request) {
		.c = { .op = v->arg, .timeout_ms = 10000 },
		.period = PACKETWAY_ATON_PERIOD_MIN,
		.group = -1,
	};
	ret = words(v, argc, argv, q);
	return ret ? ret : open_session(q->dev, s, st);
}

static enum status complain(const char *dev, int err, const struct pwl_result *r)
{
	if (r && r->error)
		return fail(0, "%s: %s", dev, pwl_aton_strerror(r->error));
	fail(err, "%s", dev);
	return err == -ETIMEDOUT ? ST_SILENT : ST_REFUSED;
}

static json_t *j_value(uint64_t v, uint32_t mods)
{
	return mods & PACKETWAY_ATON_SIGNED ? json_integer((int64_t)v) : j_u64(v);
}

static json_t *result_json(const struct pwl_aton *c, const struct pwl_result *r)
{
	json_t *j = json_object();

	json_object_set_new(j, "op", json_string(pwl_aton_op_name(c->op)));
	switch (c->op) {
	case PW_ATON_OP_MAX:
	case PW_ATON_OP_MIN:
		json_object_set_new(j, "value", j_value(r->v1, c->mods));
		json_object_set_new(j, "addr", j_addr(r->v2));
		break;
	case PW_ATON_OP_COUNT_EQ:
	case PW_ATON_OP_COUNT_LT:
	case PW_ATON_OP_COUNT_LE:
		json_object_set_new(j, "count", j_u64(r->v2));
		json_object_set_new(j, "comparand", j_value(r->v1, c->mods));
		break;
	case PW_ATON_OP_SORT:
	case PW_ATON_OP_BITSUM:
		break;
	default:
		json_object_set_new(j, "value", j_value(r->v1, c->mods));
	}
	json_object_set_new(j, "interfaces", j_u64(r->counter));
	json_object_set_new(j, "overflow", json_boolean(r->flags & PACKETWAY_ATON_F_OVERFLOW));
	json_object_set_new(j, "wait", j_u64(r->wait));
	json_object_set_new(j, "ring-bits", j_u64(r->ring_bits));
	return j;
}

/* why SANs are missing */
static const char *reason_name(uint32_t reason)
{
	switch (reason) {
	case PACKETWAY_ATON_R_ROUTE:
		return "no route";
	case PACKETWAY_ATON_R_TIME:
		return "no answer in time";
	case PACKETWAY_ATON_R_RING:
		return "ring error";
	default:
		return "unknown";
	}
}

/* a command on all rings that routers join */
static enum status reduce(struct pwl *s, const char *dev, const struct request *q)
{
	struct pwl_reduced r = {};
	struct pwl_result part;
	json_t *j;
	int err;

	err = pwl_aton_reduce(s, &q->c, q->partial ? PACKETWAY_ATON_REDUCE_PARTIAL : 0, q->sans,
			      &r);
	part = (struct pwl_result) {
		.error = r.error, .flags = r.flags, .counter = r.counter, .v1 = r.v1, .v2 = r.v2,
	};
	if (err && r.missing && !r.error) {
		fail(0, "%s: %u of %u SANs are missing: %s", dev, r.missing, r.missing + r.sans,
		     reason_name(r.reason));
		return err == -ETIMEDOUT ? ST_SILENT : ST_REFUSED;
	}
	if (err)
		return complain(dev, err, &part);
	j = result_json(&q->c, &part);
	json_object_del(j, "wait");
	json_object_del(j, "ring-bits");
	json_object_set_new(j, "sans", json_integer(r.sans));
	json_object_set_new(j, "missing", json_integer(r.missing));
	if (r.missing)
		json_object_set_new(j, "reason", json_string(reason_name(r.reason)));
	return out_one("", j);
}

/* a command with one ring packet; arg: the opcode */
static enum status aton_op(const struct verb *v, int argc, char **argv)
{
	struct pwl_result r = {};
	struct station st;
	struct request q;
	enum status ret;
	struct pwl *s;
	int err;

	ret = begin(v, argc, argv, &q, &s, &st);
	if (ret)
		return ret;
	if (!q.tree && (q.partial || q.sans)) {
		pwl_close(s);
		return usage("aton %s: partial and sans need scope tree", v->name);
	}
	if (q.tree && q.c.mods & PACKETWAY_ATON_PREFIX) {
		pwl_close(s);
		return usage("aton %s: prefix is for one ring, without scope tree", v->name);
	}
	if (q.tree) {
		ret = reduce(s, st.name, &q);
		pwl_close(s);
		return ret;
	}
	err = pwl_aton(s, &q.c, &r);
	pwl_close(s);
	return err ? complain(st.name, err, &r) : out_one("", result_json(&q.c, &r));
}

static enum status aton_sort(const struct verb *v, int argc, char **argv)
{
	static uint64_t out[PACKETWAY_ATON_SORT_MAX];
	struct pwl_result r = {};
	struct station st;
	struct request q;
	enum status ret;
	struct pwl *s;
	json_t *j, *a;
	int n, i;

	ret = begin(v, argc, argv, &q, &s, &st);
	if (ret)
		return ret;
	n = pwl_aton_sort(s, &q.c, out, PACKETWAY_ATON_SORT_MAX, &r);
	pwl_close(s);
	if (n < 0)
		return complain(st.name, n, &r);
	j = result_json(&q.c, &r);
	a = json_array();
	for (i = 0; i < n; i++)
		json_array_append_new(a, j_value(out[i], q.c.mods));
	json_object_set_new(j, "sorted", a);
	return out_one("", j);
}

static enum status aton_majority(const struct verb *v, int argc, char **argv)
{
	struct pwl_result r = {};
	struct station st;
	struct request q;
	enum status ret;
	uint64_t value;
	struct pwl *s;
	json_t *j;
	int n;

	ret = begin(v, argc, argv, &q, &s, &st);
	if (ret)
		return ret;
	n = pwl_aton_majority(s, &q.c, &value, &r);
	pwl_close(s);
	if (n < 0)
		return complain(st.name, n, &r);
	j = json_object();
	json_object_set_new(j, "op", json_string("majority"));
	json_object_set_new(j, "majority", n ? j_value(value, q.c.mods) : json_null());
	if (!n)
		json_object_set_new(j, "none", json_true());
	json_object_set_new(j, "count", j_u64(r.v2));
	json_object_set_new(j, "interfaces", j_u64(r.counter));
	return out_one("", j);
}

/* operations of a tree: one for each height, or one for each node */
struct tree_ops {
	uint8_t height[PACKETWAY_ATON_HEIGHTS];
	uint8_t node[1 << PACKETWAY_ATON_NODE_HEIGHTS];
	uint32_t heights;
	bool nodes;
};

/* operations of the nodes of height @h, which colons divide; one alone is that of all */
static enum status tree_height(struct tree_ops *t, uint32_t h, char *list, uint32_t *at)
{
	uint32_t n = 1u << (t->heights - 1 - h), given = 0;
	char *w, *save;
	int op;

	for (w = strtok_r(list, ":", &save); w; w = strtok_r(NULL, ":", &save)) {
		op = pwl_aton_op_parse(w);
		if (op < 0)
			return usage("aton tree: '%s' is not an operation of a height", w);
		if (!given)
			t->height[h] = op;
		if (t->nodes && given < n)
			t->node[*at + given] = op;
		given++;
	}
	if (t->nodes && given != 1 && given != n)
		return usage("aton tree: %u operations at height %u, which has %u nodes", given,
			     h + 1, n);
	for (; t->nodes && given < n; given++)
		t->node[*at + given] = t->height[h];
	*at += n;
	return ST_OK;
}

static enum status tree_parse(struct tree_ops *t, const char *text)
{
	char names[1024], *w, *save;
	enum status ret = ST_OK;
	uint32_t h = 0, at = 0;
	const char *p;

	if (snprintf(names, sizeof(names), "%s", text) >= (int)sizeof(names))
		return usage("aton tree: too many operations");
	t->nodes = strchr(names, ':');
	t->heights = 1;
	for (p = names; *p; p++)
		t->heights += *p == ',';
	if (t->heights > (t->nodes ? PACKETWAY_ATON_NODE_HEIGHTS : PACKETWAY_ATON_HEIGHTS))
		return usage("aton tree: at most %u heights, %u with an operation for each node",
			     PACKETWAY_ATON_HEIGHTS, PACKETWAY_ATON_NODE_HEIGHTS);
	for (w = strtok_r(names, ",", &save); w && !ret; w = strtok_r(NULL, ",", &save))
		ret = tree_height(t, h++, w, &at);
	if (!ret && h != t->heights)
		return usage("aton tree: an operation is missing in '%s'", text);
	return ret;
}

static enum status aton_tree(const struct verb *v, int argc, char **argv)
{
	struct pwl_result r = {};
	struct tree_ops t = {};
	struct station st;
	struct request q;
	enum status ret;
	struct pwl *s;
	int err;

	ret = begin(v, argc, argv, &q, &s, &st);
	if (ret)
		return ret;
	ret = tree_parse(&t, q.op);
	if (ret) {
		pwl_close(s);
		return ret;
	}
	err = t.nodes ? pwl_aton_tree_nodes(s, &q.c, t.node, t.heights, &r) :
			pwl_aton_tree(s, &q.c, t.height, t.heights, &r);
	pwl_close(s);
	return err ? complain(st.name, err, &r) : out_one("", result_json(&q.c, &r));
}

static enum status aton_set(const struct verb *v, int argc, char **argv)
{
	uint64_t value = 0;
	struct station st;
	struct request q;
	enum status ret;
	struct pwl *s;
	int err = 0;

	ret = begin(v, argc, argv, &q, &s, &st);
	if (ret)
		return ret;
	if (!q.value && q.group < 0)
		ret = usage("aton set: VALUE or group MASK is missing");
	else if (q.value && parse_u64(q.value, &value))
		ret = usage("aton set: '%s' is not a number", q.value);
	if (!ret && q.value)
		err = pwl_set(s, q.c.reg, value);
	if (!ret && !err && q.group >= 0)
		err = pwl_set_group(s, q.group);
	pwl_close(s);
	return err ? complain(st.name, err, NULL) : ret;
}

/* the end of a list of stations, of which @shown were shown */
static enum status end_of_stations(enum status ret, const struct request *q, int shown)
{
	if (!ret && q->dev && !shown)
		return fail(0, "there is no station %s in this namespace", q->dev);
	if (!ret)
		out_end();
	return ret;
}

static enum status aton_show(const struct verb *v, int argc, char **argv)
{
	struct packetway_aton_get b;
	struct request q = {};
	struct station *list;
	enum status ret;
	struct pwl *s;
	json_t *j, *a;
	int n, i, k, err, shown = 0;

	ret = words(v, argc, argv, &q);
	if (ret)
		return ret;
	n = stations(&list);
	if (n < 0)
		return fail(n, "stations");
	out_begin(false);
	for (i = 0; i < n; i++) {
		if (q.dev && strcmp(q.dev, list[i].name))
			continue;
		err = pwl_open(&s, list[i].name);
		if (!err) {
			err = pwl_bank(s, &b);
			pwl_close(s);
		}
		if (err) {
			ret = complain(list[i].name, err, NULL);
			break;
		}
		j = json_object();
		json_object_set_new(j, "ifname", json_string(list[i].name));
		json_object_set_new(j, "addr", j_addr(b.out_id));
		json_object_set_new(j, "interfaces", json_integer(b.out_interfaces));
		json_object_set_new(j, "group", json_integer(b.out_group));
		json_object_set_new(j, "standing", json_boolean(b.out_irq_mask & 1));
		json_object_set_new(j, "status", json_integer(b.out_status));
		json_object_set_new(j, "counter", j_u64(b.out_counter));
		json_object_set_new(j, "v1", j_u64(b.out_v1));
		json_object_set_new(j, "v2", j_u64(b.out_v2));
		json_object_set_new(j, "ring-time", j_u64(b.out_ring_time));
		a = json_array();
		for (k = 0; k < PACKETWAY_ATON_REGS; k++)
			json_array_append_new(a, j_u64(b.out_operand[k]));
		json_object_set_new(j, "operands", a);
		out_item("aton", j);
		shown++;
	}
	free(list);
	return end_of_stations(ret, &q, shown);
}

static json_t *latch_json(const struct station *st, uint32_t reg, const struct pwl_latch *l,
			  bool is_signed)
{
	uint32_t mods = is_signed && l->op <= PW_ATON_OP_MIN ? PACKETWAY_ATON_SIGNED : 0;
	json_t *j = json_object();

	json_object_set_new(j, "ifname", json_string(st->name));
	json_object_set_new(j, "reg", json_integer(reg));
	json_object_set_new(j, "runs", j_u64(l->runs));
	if (!l->runs)
		return j;
	json_object_set_new(j, "op", json_string(pwl_aton_op_name(l->op)));
	json_object_set_new(j, "from", j_addr(l->src));
	json_object_set_new(j, "place", j_u64(l->counter));
	json_object_set_new(j, "before", j_value(l->before, mods));
	json_object_set_new(j, "with", j_value(l->with, mods));
	json_object_set_new(j, "overflow", json_boolean(l->flags & PACKETWAY_ATON_F_OVERFLOW));
	return j;
}

/* what a scan has left at the stations of this namespace */
static enum status aton_latch(const struct verb *v, int argc, char **argv)
{
	struct request q = {};
	struct station *list;
	struct pwl_latch l;
	enum status ret;
	struct pwl *s;
	int n, i, err, shown = 0;

	ret = words(v, argc, argv, &q);
	if (ret)
		return ret;
	n = stations(&list);
	if (n < 0)
		return fail(n, "stations");
	out_begin(false);
	for (i = 0; i < n && !ret; i++) {
		if (q.dev && strcmp(q.dev, list[i].name))
			continue;
		err = pwl_open(&s, list[i].name);
		if (!err) {
			err = pwl_aton_latch(s, q.c.reg, &l);
			pwl_close(s);
		}
		if (err < 0) {
			ret = complain(list[i].name, err, NULL);
			break;
		}
		out_item("latch", latch_json(&list[i], q.c.reg, &l,
					     q.c.mods & PACKETWAY_ATON_SIGNED));
		shown++;
	}
	free(list);
	return end_of_stations(ret, &q, shown);
}

static enum status aton_watch(const struct verb *v, int argc, char **argv)
{
	struct pwl_result r;
	uint32_t seen = 0;
	struct station st;
	struct request q;
	enum status ret;
	struct pwl *s;
	int err;

	ret = begin(v, argc, argv, &q, &s, &st);
	if (ret)
		return ret;
	err = pwl_aton_op_parse(q.op);
	if (err < 0) {
		pwl_close(s);
		return usage("aton watch: '%s' is not an operation", q.op);
	}
	q.c.op = err;
	catch_signals();
	err = pwl_aton_stand(s, &q.c, q.period);
	out_begin(true);
	while (err >= 0 && !interrupted && (!q.count || seen < q.count)) {
		err = pwl_aton_results(s, &r, 1, 1000);
		if (err == -EINTR)
			err = 0;
		if (err <= 0)
			continue;
		seen++;
		if (r.error)
			fail(0, "%s: %s", st.name, pwl_aton_strerror(r.error));
		else
			out_item("", result_json(&q.c, &r));
	}
	pwl_close(s);
	return err < 0 ? complain(st.name, err, NULL) : ST_OK;
}

/* Tables --------------------------------------------------------------------- */

static enum status take_region(void *to, char **values)
{
	const struct word w = { "region", "ADDR", W_ADDR, AT(c.dst) };
	struct request *q = to;

	if (strcmp(values[0], "all"))
		return word_store(q, &w, values);
	q->c.dst = PACKETWAY_ATON_RING_ALL;
	return ST_OK;
}

static enum status take_comparand(void *to, char **values)
{
	const struct word w = { "comparand", "N", W_U64, AT(c.comparand) };
	struct request *q = to;

	q->c.mods |= PACKETWAY_ATON_COMPARAND;
	return word_store(q, &w, values);
}

static enum status take_signed(void *to, char **values)
{
	((struct request *)to)->c.mods |= PACKETWAY_ATON_SIGNED;
	return ST_OK;
}

static enum status take_prefix(void *to, char **values)
{
	((struct request *)to)->c.mods |= PACKETWAY_ATON_PREFIX;
	return ST_OK;
}

#define COMMON \
	{ "dev", "NAME", W_TEXT, AT(dev) }, \
	{ "reg", "N", W_U32, AT(c.reg) }, \
	{ "region", "ADDR|all", W_CALL, .max = 1, .call = take_region }, \
	{ "signed", NULL, W_CALL, .call = take_signed }, \
	{ "timeout", "MS", W_U32, AT(c.timeout_ms) }
#define SCOPE \
	{ "scope", "ring|tree", W_CHOICE, AT(tree) }, \
	{ "sans", "N", W_U32, AT(sans) }, \
	{ "partial", NULL, W_FLAG, AT(partial) }
#define PREFIX { "prefix", NULL, W_CALL, .call = take_prefix }
#define COMPARAND { "comparand", "N", W_CALL, .max = 1, .call = take_comparand }

static const struct word dev_only[] = { { "dev", "NAME", W_TEXT, AT(dev) }, {} };
static const struct word common[] = { COMMON, {} };
static const struct word basic[] = { COMMON, PREFIX, SCOPE, {} };
static const struct word count[] = { COMMON, COMPARAND, PREFIX, SCOPE, {} };
static const struct word tree[] = {
	{ "ops", "OP,OP,...", W_TEXT, AT(op), WORD_NEEDED }, COMMON, {}
};

static const struct word latch[] = {
	{ "dev", "NAME", W_TEXT, AT(dev) },
	{ "reg", "N", W_U32, AT(c.reg) },
	{ "signed", NULL, W_CALL, .call = take_signed },
	{}
};

static const struct word set[] = {
	{ NULL, "VALUE", W_TEXT, AT(value) },
	{ "reg", "N", W_U32, AT(c.reg) },
	{ "group", "MASK", W_LONG, AT(group) },
	{ "dev", "NAME", W_TEXT, AT(dev) },
	{}
};

static const struct word watch[] = {
	{ NULL, "OP", W_TEXT, AT(op), WORD_NEEDED },
	{ "period", "US", W_U32, AT(period) },
	{ "count", "N", W_U32, AT(count) },
	COMMON, COMPARAND, PREFIX, {}
};

const struct verb aton_verbs[] = {
	{ "show", aton_show, 0, dev_only, "register banks" },
	{ "add", aton_op, PW_ATON_OP_ADD, basic, "sum of the operands in the region" },
	{ "and", aton_op, PW_ATON_OP_AND, basic, "bits that all operands have" },
	{ "or", aton_op, PW_ATON_OP_OR, basic, "bits that some operand has" },
	{ "max", aton_op, PW_ATON_OP_MAX, basic,
	  "largest operand, and whose it is (the last of equals)" },
	{ "min", aton_op, PW_ATON_OP_MIN, basic,
	  "smallest operand, and whose it is (the last of equals)" },
	{ "count-eq", aton_op, PW_ATON_OP_COUNT_EQ, count,
	  "operands equal to the comparand, the station's own operand by default" },
	{ "count-lt", aton_op, PW_ATON_OP_COUNT_LT, count,
	  "operands that the comparand is less than" },
	{ "count-le", aton_op, PW_ATON_OP_COUNT_LE, count,
	  "operands that the comparand is less than or equal to" },
	{ "sort", aton_sort, PW_ATON_OP_SORT, common, "all operands in order" },
	{ "majority", aton_majority, PW_ATON_OP_BITSUM, common,
	  "the value that more than half of the interfaces hold" },
	{ "tree", aton_tree, PW_ATON_OP_TREE, tree,
	  "expression tree over 2^heights operands: OP,OP,... an operation for each height, or OP:OP:... for its nodes" },
	{ "latch", aton_latch, 0, latch,
	  "what the last command with 'prefix' left at each station: scan and exclusive scan" },
	{ "set", aton_set, 0, set, "operand register and group mask" },
	{ "watch", aton_watch, 0, watch,
	  "standing command: print the result whenever it changes" },
	{}
};
