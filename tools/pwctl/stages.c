// SPDX-License-Identifier: GPL-2.0
/* Stages of a SAN's fabric: what they have counted and what waits there, once or over time. */
#include <time.h>

#include "pwctl.h"

static const struct word stage_fields[] = {
	{ "units", "N", W_U32, PACKETWAY_A_STAGE_UNITS },
	{ "cells", "N", W_U64, PACKETWAY_A_STAGE_CELLS },
	{ "refused", "N", W_U64, PACKETWAY_A_STAGE_REFUSED },
	{ "dropped", "N", W_U64, PACKETWAY_A_STAGE_DROPPED },
	{ "corrupted", "N", W_U64, PACKETWAY_A_STAGE_CORRUPTED },
	{ "queued", "N", W_U64, PACKETWAY_A_STAGE_QUEUED },
	{ "fullest", "N", W_U32, PACKETWAY_A_STAGE_FULLEST },
	{}
};

/* members of each object, in the order of the columns */
static const char *const columns[] = {
	"stage", "san", "time", "units", "cells", "refused", "dropped", "corrupted", "queued",
	"fullest",
};

/* stages of one SAN, in their order */
static void add_stages(json_t *list, const struct nlattr *san)
{
	const struct nlattr *a;
	uint64_t time = 0;
	uint32_t id = 0;
	json_t *j;
	int n = 0;

	mnl_attr_for_each_nested(a, san) {
		if (mnl_attr_get_type(a) == PACKETWAY_A_SAN_ID)
			id = mnl_attr_get_u32(a);
		if (mnl_attr_get_type(a) == PACKETWAY_A_SAN_TIME)
			time = mnl_attr_get_u64(a);
	}
	mnl_attr_for_each_nested(a, san) {
		if (mnl_attr_get_type(a) != PACKETWAY_A_SAN_STAGE)
			continue;
		j = json_object();
		json_object_set_new(j, "stage", json_integer(n++));
		json_object_set_new(j, "san", json_integer(id));
		json_object_set_new(j, "time", j_u64(time));
		json_array_append_new(list, fields_json(j, stage_fields, a));
	}
}

static int stages_cb(const struct nlmsghdr *h, void *data)
{
	const struct nlattr *a;

	mnl_attr_for_each(a, h, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(a) == PACKETWAY_A_SAN)
			add_stages(data, a);
	return MNL_CB_OK;
}

enum status san_stages(uint32_t id, json_t *list)
{
	enum status st;
	struct genl g;

	genl_begin(&g, PACKETWAY_CMD_SAN_GET, 0, PACKETWAY_A_SAN);
	st = nl_put(g.h, PACKETWAY_A_SAN_ID, &id, sizeof(id));
	if (!st)
		st = nl_put(g.h, PACKETWAY_A_SAN_WITH_STAGES, NULL, 0);
	return genl_end(&g, st, stages_cb, list, "san");
}

struct stages_args {
	uint32_t id, interval, count;
	bool csv;
};

const struct word stages_words[] = {
	{ NULL, "ID", W_U32, offsetof(struct stages_args, id), WORD_NEEDED },
	{ "interval", "MS", W_U32, offsetof(struct stages_args, interval) },
	{ "count", "N", W_U32, offsetof(struct stages_args, count) },
	{ "csv", NULL, W_FLAG, offsetof(struct stages_args, csv) },
	{}
};

static void print_row(const json_t *stage)
{
	int i;

	for (i = 0; i < N(columns); i++)
		printf("%s%lld", i ? "," : "",
		       (long long)json_integer_value(json_object_get(stage, columns[i])));
	putchar('\n');
}

static void print_header(void)
{
	int i;

	for (i = 0; i < N(columns); i++)
		printf("%s%s", i ? "," : "", columns[i]);
	putchar('\n');
}

static enum status print_stages(const struct stages_args *a)
{
	json_t *list = json_array(), *stage;
	enum status st = san_stages(a->id, list);
	size_t i;

	if (!st && !json_array_size(list))
		st = fail(0, "SAN %u has no stages: its engine is none or ring", a->id);
	json_array_foreach(list, i, stage) {
		if (st)
			break;
		if (a->csv)
			print_row(stage);
		else
			out_item("stage", json_incref(stage));
	}
	json_decref(list);
	fflush(stdout);
	return st;
}

static void wait_ms(uint32_t ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

enum status cmd_stages(const struct verb *v, int argc, char **argv)
{
	struct stages_args a = {};
	enum status st;
	uint32_t n;

	st = words(v, argc, argv, &a);
	if (st)
		return st;
	/* without an interval once, with one until interrupted */
	if (!a.interval && !a.count)
		a.count = 1;
	if (!a.interval)
		a.interval = 1000;
	catch_signals();
	if (a.csv)
		print_header();
	else
		out_begin(a.count != 1);
	for (n = 0; !st && !interrupted && (!a.count || n < a.count); n++) {
		if (n)
			wait_ms(a.interval);
		if (!interrupted)
			st = print_stages(&a);
	}
	if (!st && !a.csv)
		out_end();
	return st;
}
