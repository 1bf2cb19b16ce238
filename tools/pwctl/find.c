// SPDX-License-Identifier: GPL-2.0
/* Nodes by description, asked of half-routers, and the description of a station. */
#include "pwctl.h"

struct find_args {
	struct pwl_query q;
	struct pwl_node self;
	uint32_t timeout;
	const char *dev, *name;
};

#define AT(m) offsetof(struct find_args, m)

static enum status parse_capa(const char *text, uint8_t *code)
{
	uint32_t n;
	int i;

	for (i = 0; i < 256; i++) {
		if (capa_name(i) && !strcmp(capa_name(i), text)) {
			*code = i;
			return ST_OK;
		}
	}
	if (parse_u32(text, &n) || !n || n > 255)
		return usage("capability: '%s' is neither a name nor 1 to 255", text);
	*code = n;
	return ST_OK;
}

static enum status take_capa(void *to, char **values)
{
	struct find_args *a = to;

	return parse_capa(values[0], &a->q.capability);
}

static enum status take_own_capa(void *to, char **values)
{
	struct find_args *a = to;

	if (a->self.ncapa == PWL_CAPA_MAX)
		return usage("describe: %d capabilities at most", PWL_CAPA_MAX);
	return parse_capa(values[0], &a->self.capa[a->self.ncapa++].code);
}

/* "GROUP" or "FIRST-LAST" */
static enum status take_own_group(void *to, char **values)
{
	struct find_args *a = to;
	struct pwl_range *r = &a->self.group[a->self.ngroups];
	char buf[64], *dash;

	if (a->self.ngroups == PWL_GROUPS_MAX)
		return usage("describe: %d groups at most", PWL_GROUPS_MAX);
	snprintf(buf, sizeof(buf), "%s", values[0]);
	dash = strchr(buf, '-');
	if (dash)
		*dash++ = 0;
	if (parse_addr(buf, &r->first) || parse_addr(dash ? dash : buf, &r->last))
		return usage("group: '%s' is not an address or FIRST-LAST", values[0]);
	a->self.ngroups++;
	return ST_OK;
}

static int show_node(const struct pwl_node *node, void *arg)
{
	json_t *j = json_object(), *can = json_array(), *groups = json_array();
	char first[PWL_ADDR_STRLEN], last[PWL_ADDR_STRLEN], num[2 * PWL_ADDR_STRLEN];
	uint32_t i;

	json_object_set_new(j, "addr", j_addr(node->addr));
	if (node->name[0])
		json_object_set_new(j, "name", json_string(node->name));
	for (i = 0; i < node->ncapa; i++) {
		snprintf(num, sizeof(num), "%u", node->capa[i].code);
		json_array_append_new(can, json_string(capa_name(node->capa[i].code) ?
						       capa_name(node->capa[i].code) : num));
	}
	for (i = 0; i < node->ngroups; i++) {
		pwl_addr_str(node->group[i].first, first);
		pwl_addr_str(node->group[i].last, last);
		snprintf(num, sizeof(num), strcmp(first, last) ? "%s-%s" : "%s", first, last);
		json_array_append_new(groups, json_string(num));
	}
	json_object_set_new(j, "can", can);
	json_object_set_new(j, "groups", groups);
	out_item("node", j);
	return 0;
}

enum status cmd_find(const struct verb *v, int argc, char **argv)
{
	struct find_args a = { .timeout = 1000 };
	struct pwl_sock *k;
	struct station st;
	enum status ret;
	int n;

	ret = words(v, argc, argv, &a);
	if (!ret)
		ret = open_sock(a.dev, &k, &st);
	if (ret)
		return ret;
	out_begin(false);
	n = pwl_find(k, &a.q, show_node, NULL, a.timeout);
	out_end();
	pwl_sock_close(k);
	if (n == -ETIMEDOUT)
		fail(0, "%s: no half-router answers", st.name);
	else if (n < 0)
		return fail(n, "%s", st.name);
	else if (!n)
		fail(0, "no half-router of this SAN knows such a node");
	return n > 0 ? ST_OK : n ? ST_SILENT : ST_REFUSED;
}

enum status cmd_describe(const struct verb *v, int argc, char **argv)
{
	struct find_args a = {};
	struct pwl_sock *k;
	struct station st;
	enum status ret;
	int err;

	ret = words(v, argc, argv, &a);
	if (ret)
		return ret;
	if (a.name && strlen(a.name) > PWL_NAME_MAX)
		return usage("name: %d bytes at most", PWL_NAME_MAX);
	snprintf(a.self.name, sizeof(a.self.name), "%s", a.name ? a.name : "");
	ret = open_sock(a.dev, &k, &st);
	if (ret)
		return ret;
	err = pwl_describe(k, &a.self);
	pwl_sock_close(k);
	if (err == -EINVAL)
		return usage("describe: a group is a logical address, 0xe00000 to 0xefffff");
	return err ? fail(err, "%s", st.name) : ST_OK;
}

const struct word find_words[] = {
	{ "name", "TEXT", W_TEXT, AT(q.name) },
	{ "capability", "NAME|N", W_CALL, .max = 1, .call = take_capa },
	{ "group", "ADDR", W_ADDR, AT(q.group) },
	{ "dev", "NAME", W_TEXT, AT(dev) },
	{ "timeout", "MS", W_U32, AT(timeout) },
	{}
};

const struct word describe_words[] = {
	{ "name", "TEXT", W_TEXT, AT(name) },
	{ "capability", "NAME|N", W_CALL, 0, WORD_MANY, 1, take_own_capa },
	{ "group", "ADDR[-LAST]", W_CALL, 0, WORD_MANY, 1, take_own_group },
	{ "dev", "NAME", W_TEXT, AT(dev) },
	{}
};
