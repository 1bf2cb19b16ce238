// SPDX-License-Identifier: GPL-2.0
/* Output: JSON, or one line of text for each object. */
#include "pwctl.h"

bool opt_json, opt_pretty, opt_color;
static json_t *list;
static bool streaming;

json_t *j_u64(uint64_t v)
{
	char buf[24];

	/* JSON integers end at 2^63 - 1 here; what is larger is a string */
	if (v <= INT64_MAX)
		return json_integer(v);
	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)v);
	return json_string(buf);
}

json_t *j_addr(uint32_t addr)
{
	char buf[PWL_ADDR_STRLEN];

	return json_string(pwl_addr_str(addr, buf));
}

json_t *j_hex(const void *data, size_t len)
{
	char *text = malloc(2 * len + 1);
	json_t *j;
	size_t i;

	for (i = 0; text && i < len; i++)
		sprintf(text + 2 * i, "%02x", ((const uint8_t *)data)[i]);
	if (text)
		text[2 * len] = 0;
	j = json_string(text ? text : "");
	free(text);
	return j;
}

void out_begin(bool stream)
{
	streaming = stream;
	if (opt_json && !stream)
		list = json_array();
	if (stream)
		setvbuf(stdout, NULL, _IOLBF, 0);
}

/* Colours ------------------------------------------------------------------ */

const char *color(enum color c)
{
	/* as ip(8) has them: names cyan, addresses yellow, of IP magenta */
	static const char *const codes[] = {
		[C_NONE] = "\033[0m", [C_NAME] = "\033[36m", [C_ADDR] = "\033[33m",
		[C_IP] = "\033[35m", [C_GOOD] = "\033[32m", [C_BAD] = "\033[31m",
		[C_WARN] = "\033[1;33m",
	};

	return opt_color && !opt_json ? codes[c] : "";
}

static bool one_of(const char *word, const char *names)
{
	const char *name;
	uint32_t i;
	int n;

	for (i = 0; (n = choice(names, i, &name)); i++)
		if (strlen(word) == n && !strncmp(name, word, n))
			return true;
	return false;
}

static enum color color_of(const char *key, const json_t *v)
{
	const char *text = json_string_value(v);

	if (one_of(key, "addr|node|peer|half-router|first|last|via|mothership|out"))
		return C_ADDR;
	if (one_of(key, "local|remote"))
		return C_IP;
	if (!strcmp(key, "state") && text)
		return one_of(text, "up|running") ? C_GOOD :
		       one_of(text, "down|stopped") ? C_BAD : C_NONE;
	return C_NONE;
}

/* Text ---------------------------------------------------------------------- */

static void text_value(const json_t *v)
{
	size_t i;

	switch (json_typeof(v)) {
	case JSON_STRING:
		fputs(json_string_value(v), stdout);
		break;
	case JSON_INTEGER:
		printf("%lld", (long long)json_integer_value(v));
		break;
	case JSON_REAL:
		printf("%.3f", json_real_value(v));
		break;
	case JSON_ARRAY:
		for (i = 0; i < json_array_size(v); i++) {
			if (i)
				putchar(' ');
			text_value(json_array_get(v, i));
		}
		break;
	case JSON_OBJECT:
		putchar('{');
		json_dumpf(v, stdout, JSON_COMPACT | JSON_EMBED);
		putchar('}');
		break;
	default:
		fputs(json_is_true(v) ? "yes" : "no", stdout);
	}
}

void out_item(const char *what, json_t *obj)
{
	const char *key;
	json_t *v;
	bool first = true;

	if (opt_json && !streaming) {
		json_array_append_new(list, obj);
		return;
	}
	if (opt_json) {
		json_dumpf(obj, stdout, opt_pretty ? JSON_INDENT(4) : JSON_COMPACT);
		putchar('\n');
		json_decref(obj);
		return;
	}
	if (*what)
		printf("%s ", what);
	json_object_foreach(obj, key, v) {
		if (json_is_false(v) || json_is_null(v) ||
		    (json_is_array(v) && !json_array_size(v)))
			continue;
		if (first && *what) {
			fputs(color(C_NAME), stdout);
			text_value(v);
			printf("%s:", color(C_NONE));
		} else if (json_is_true(v)) {
			printf("%s%s%s%s", first ? "" : " ", strcmp(key, "up") ? "" : color(C_GOOD), key,
			       strcmp(key, "up") ? "" : color(C_NONE));
		} else {
			const enum color c = color_of(key, v);

			printf("%s%s %s", first ? "" : " ", key, c ? color(c) : "");
			text_value(v);
			fputs(c ? color(C_NONE) : "", stdout);
		}
		first = false;
	}
	putchar('\n');
	json_decref(obj);
}

void out_end(void)
{
	if (opt_json && !streaming) {
		json_dumpf(list, stdout, opt_pretty ? JSON_INDENT(4) : JSON_COMPACT);
		putchar('\n');
		json_decref(list);
		list = NULL;
	}
}

enum status out_one(const char *what, json_t *obj)
{
	out_begin(false);
	out_item(what, obj);
	out_end();
	return ST_OK;
}
