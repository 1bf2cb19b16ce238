// SPDX-License-Identifier: GPL-2.0
/* ATON: commands, operands, standing commands. */
#include <signal.h>

#include "pwctl.h"

struct request {
	const char *dev;
	struct pwl_aton c;
	uint32_t count;		/* watch: end after so many results */
	uint32_t period;
	const char *ops;	/* tree */
};

/* the words that commands have in common; *@i stays at one that is none of them */
static int parse_words(int argc, char **argv, struct request *q)
{
	const char *v;
	int i = 0;

	q->c.timeout_ms = 10000;
	q->period = PACKETWAY_ATON_PERIOD_MIN;
	while (i < argc) {
		if (keyword(argc, argv, &i, "dev", &v)) {
			q->dev = v;
		} else if (keyword(argc, argv, &i, "reg", &v)) {
			if (parse_u32(v, &q->c.reg))
				return usage("reg: \"%s\" is not a number", v);
		} else if (keyword(argc, argv, &i, "region", &v)) {
			if (!strcmp(v, "all"))
				q->c.dst = PACKETWAY_ATON_RING_ALL;
			else if (parse_addr(v, &q->c.dst))
				return usage("region: \"%s\" is not an address", v);
		} else if (keyword(argc, argv, &i, "comparand", &v)) {
			if (parse_u64(v, &q->c.comparand))
				return usage("comparand: \"%s\" is not a number", v);
			q->c.mods |= PACKETWAY_ATON_COMPARAND;
		} else if (keyword(argc, argv, &i, "timeout", &v)) {
			if (parse_u32(v, &q->c.timeout_ms))
				return usage("timeout: \"%s\" is not a number", v);
		} else if (keyword(argc, argv, &i, "period", &v)) {
			if (parse_u32(v, &q->period))
				return usage("period: \"%s\" is not a number", v);
		} else if (keyword(argc, argv, &i, "count", &v)) {
			if (parse_u32(v, &q->count))
				return usage("count: \"%s\" is not a number", v);
		} else if (keyword(argc, argv, &i, "ops", &v)) {
			q->ops = v;
		} else if (flagword(argc, argv, &i, "signed")) {
			q->c.mods |= PACKETWAY_ATON_SIGNED;
		} else {
			return usage("aton: what is \"%s\"?", argv[i]);
		}
	}
	return EX_OK_;
}

static int open_session(const char *dev, struct pwl **s, struct station *st)
{
	int err;

	err = pick_station(dev, st);
	if (err)
		return err;
	err = pwl_open(s, st->name);
	if (err)
		return fail(err, "%s: /dev/" PACKETWAY_DEVICE, st->name);
	return EX_OK_;
}

static int complain(const char *dev, int err, const struct pwl_result *r)
{
	if (r && r->error)
		return fail(0, "%s: %s", dev, pwl_aton_strerror(r->error));
	if (err == -ETIMEDOUT) {
		fail(err, "%s", dev);
		return EX_SILENCE_;
	}
	return fail(err, "%s", dev);
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

static int run_op(uint32_t op, int argc, char **argv)
{
	struct request q = { .c = { .op = op } };
	struct pwl_result r = {};
	struct station st;
	struct pwl *s;
	int err;

	err = parse_words(argc, argv, &q);
	if (!err)
		err = open_session(q.dev, &s, &st);
	if (err)
		return err;
	err = pwl_aton(s, &q.c, &r);
	if (err) {
		err = complain(st.name, err, &r);
	} else {
		out_begin(false);
		out_item("", result_json(&q.c, &r));
		out_end();
	}
	pwl_close(s);
	return err;
}

#define ATON_OP(name, op)				\
static int aton_##name(int argc, char **argv)		\
{							\
	return run_op(op, argc, argv);			\
}

ATON_OP(add, PW_ATON_OP_ADD)
ATON_OP(and, PW_ATON_OP_AND)
ATON_OP(or, PW_ATON_OP_OR)
ATON_OP(max, PW_ATON_OP_MAX)
ATON_OP(min, PW_ATON_OP_MIN)
ATON_OP(count_eq, PW_ATON_OP_COUNT_EQ)
ATON_OP(count_lt, PW_ATON_OP_COUNT_LT)
ATON_OP(count_le, PW_ATON_OP_COUNT_LE)

static int aton_sort(int argc, char **argv)
{
	struct request q = { .c = { .op = PW_ATON_OP_SORT } };
	struct pwl_result r = {};
	struct station st;
	uint64_t *out;
	struct pwl *s;
	json_t *j, *a;
	int err, n, i;

	err = parse_words(argc, argv, &q);
	if (!err)
		err = open_session(q.dev, &s, &st);
	if (err)
		return err;
	out = calloc(PACKETWAY_ATON_SORT_MAX, sizeof(*out));
	n = out ? pwl_aton_sort(s, &q.c, out, PACKETWAY_ATON_SORT_MAX, &r) : -ENOMEM;
	if (n < 0) {
		err = complain(st.name, n, &r);
	} else {
		j = result_json(&q.c, &r);
		a = json_array();
		for (i = 0; i < n; i++)
			json_array_append_new(a, j_value(out[i], q.c.mods));
		json_object_set_new(j, "sorted", a);
		out_begin(false);
		out_item("", j);
		out_end();
	}
	free(out);
	pwl_close(s);
	return err;
}

static int aton_majority(int argc, char **argv)
{
	struct request q = { .c = { .op = PW_ATON_OP_BITSUM } };
	struct pwl_result r = {};
	struct station st;
	uint64_t value;
	struct pwl *s;
	json_t *j;
	int err, n;

	err = parse_words(argc, argv, &q);
	if (!err)
		err = open_session(q.dev, &s, &st);
	if (err)
		return err;
	n = pwl_aton_majority(s, &q.c, &value, &r);
	if (n < 0) {
		err = complain(st.name, n, &r);
	} else {
		j = json_object();
		json_object_set_new(j, "op", json_string("majority"));
		json_object_set_new(j, "majority", n ? j_value(value, q.c.mods) : json_null());
		if (!n)
			json_object_set_new(j, "none", json_true());
		json_object_set_new(j, "count", j_u64(r.v2));
		json_object_set_new(j, "interfaces", j_u64(r.counter));
		out_begin(false);
		out_item("", j);
		out_end();
	}
	pwl_close(s);
	return err;
}

static int aton_tree(int argc, char **argv)
{
	struct request q = { .c = { .op = PW_ATON_OP_TREE } };
	uint8_t ops[PACKETWAY_ATON_HEIGHTS];
	struct pwl_result r = {};
	char words[256], *w, *save;
	struct station st;
	uint32_t n = 0;
	struct pwl *s;
	int err, op;

	err = parse_words(argc, argv, &q);
	if (err)
		return err;
	if (!q.ops)
		return usage("aton tree: an opcode for each height, leaves first: `ops add,max,min`");
	snprintf(words, sizeof(words), "%s", q.ops);
	for (w = strtok_r(words, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		op = pwl_aton_op_parse(w);
		if (op < 0 || n == PACKETWAY_ATON_HEIGHTS)
			return usage("aton tree: \"%s\" is not an operation for a height", w);
		ops[n++] = op;
	}
	err = open_session(q.dev, &s, &st);
	if (err)
		return err;
	err = pwl_aton_tree(s, &q.c, ops, n, &r);
	if (err) {
		err = complain(st.name, err, &r);
	} else {
		out_begin(false);
		out_item("", result_json(&q.c, &r));
		out_end();
	}
	pwl_close(s);
	return err;
}

static int aton_set(int argc, char **argv)
{
	const char *dev = NULL, *v, *value = NULL;
	uint32_t reg = 0, group = 0;
	bool set_group = false;
	struct station st;
	struct pwl *s;
	int i = 0, err;
	uint64_t x = 0;

	while (i < argc) {
		if (keyword(argc, argv, &i, "dev", &v)) {
			dev = v;
		} else if (keyword(argc, argv, &i, "reg", &v)) {
			if (parse_u32(v, &reg))
				return usage("reg: \"%s\" is not a number", v);
		} else if (keyword(argc, argv, &i, "group", &v)) {
			if (parse_u32(v, &group))
				return usage("group: \"%s\" is not a mask", v);
			set_group = true;
		} else if (!value && !parse_u64(argv[i], &x)) {
			value = argv[i++];
		} else {
			return usage("aton set: what is \"%s\"?", argv[i]);
		}
	}
	if (!value && !set_group)
		return usage("aton set: which value?");
	err = open_session(dev, &s, &st);
	if (err)
		return err;
	err = value ? pwl_set(s, reg, x) : 0;
	if (!err && set_group)
		err = pwl_set_group(s, group);
	pwl_close(s);
	return err ? complain(st.name, err, NULL) : EX_OK_;
}

static int aton_show(int argc, char **argv)
{
	struct packetway_aton_get b;
	struct request q = {};
	struct station *list;
	struct pwl *s;
	json_t *j, *a;
	int n, i, k, err;

	err = parse_words(argc, argv, &q);
	if (err)
		return err;
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
			err = complain(list[i].name, err, NULL);
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
		q.count++;
	}
	free(list);
	if (!err && q.dev && !q.count)
		return fail(0, "there is no station %s in this namespace", q.dev);
	if (!err)
		out_end();
	return err;
}

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	stop = 1;
}

static int aton_watch(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct request q = {};
	struct pwl_result r;
	struct station st;
	struct pwl *s;
	uint32_t seen = 0;
	int err, op;

	if (!argc)
		return usage("aton watch: which operation?");
	op = pwl_aton_op_parse(argv[0]);
	if (op < 0)
		return usage("aton watch: \"%s\" is not an operation", argv[0]);
	err = parse_words(argc - 1, argv + 1, &q);
	if (!err)
		err = open_session(q.dev, &s, &st);
	if (err)
		return err;
	q.c.op = op;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	err = pwl_aton_stand(s, &q.c, q.period);
	if (err) {
		pwl_close(s);
		return complain(st.name, err, NULL);
	}
	out_begin(true);
	while (!stop && (!q.count || seen < q.count)) {
		err = pwl_aton_results(s, &r, 1, 1000);
		if (err < 0 && err != -EINTR) {
			pwl_close(s);
			return complain(st.name, err, NULL);
		}
		if (err <= 0)
			continue;
		seen++;
		if (r.error)
			fail(0, "%s: %s", st.name, pwl_aton_strerror(r.error));
		else
			out_item("", result_json(&q.c, &r));
	}
	pwl_close(s);
	return EX_OK_;
}

int cmd_aton(int argc, char **argv)
{
#define WORDS "[dev NAME] [reg N] [region ADDR|all] [signed] [timeout MS]"
	static const struct verb v[] = {
		{ "show", aton_show, "[dev NAME]", "register banks" },
		{ "add", aton_add, WORDS, "sum of the operands in the region" },
		{ "and", aton_and, WORDS, "bits that all operands have" },
		{ "or", aton_or, WORDS, "bits that some operand has" },
		{ "max", aton_max, WORDS,
		  "largest operand, and whose it is (the last of equals)" },
		{ "min", aton_min, WORDS,
		  "smallest operand, and whose it is (the last of equals)" },
		{ "count-eq", aton_count_eq, WORDS " [comparand N]",
		  "operands equal to ours, or to the comparand" },
		{ "count-lt", aton_count_lt, WORDS " [comparand N]",
		  "operands that ours, or the comparand, is less than" },
		{ "count-le", aton_count_le, WORDS " [comparand N]",
		  "operands that ours, or the comparand, is less than or equal to" },
		{ "sort", aton_sort, WORDS, "all operands in order" },
		{ "majority", aton_majority, WORDS, "the value that more than half hold" },
		{ "tree", aton_tree, "ops OP,OP,... " WORDS,
		  "expression tree over 2^heights operands, an operation for each height" },
		{ "set", aton_set, "[VALUE] [reg N] [group MASK] [dev NAME]",
		  "operand register and group mask" },
		{ "watch", aton_watch, "OP [period US] [count N] " WORDS,
		  "standing command: print the result whenever it changes" },
	};

	return dispatch("aton", v, N(v), argc, argv);
}
