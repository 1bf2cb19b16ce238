// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pwmodel.h"
#include "pwmodel_json.h"

void pwm_out(struct pwm_out *o, const char *fmt, ...)
{
	va_list ap;
	int n;

	for (;;) {
		va_start(ap, fmt);
		n = vsnprintf(o->s + o->len, o->cap - o->len, fmt, ap);
		va_end(ap);
		if (n < 0)
			pwm_fail("out of memory");
		if (o->len + n < o->cap)
			break;
		o->cap = 2 * o->cap + n + 256;
		o->s = realloc(o->s, o->cap);
		if (!o->s)
			pwm_fail("out of memory");
	}
	o->len += n;
}

void pwm_out_hex(struct pwm_out *o, const uint8_t *p, size_t len)
{
	char *s = pwm_hex(p, len);

	pwm_out(o, "\"%s\"", s);
	free(s);
}

void pwm_out_flush(struct pwm_out *o)
{
	puts(o->s ? o->s : "");
	free(o->s);
}

/*
 * Integers that a signed 64-bit parser would refuse, and 0x ones, become strings
 * that begin with '#'.
 */
static char *quote_numbers(const char *in, size_t len)
{
	char *out = malloc(len * 4 + 16), *o = out;
	size_t i = 0;

	if (!out)
		pwm_fail("out of memory");
	while (i < len) {
		size_t n = 0, j;
		int plain = 1;

		if (in[i] == '"') {
			*o++ = in[i++];
			while (i < len && in[i] != '"') {
				if (in[i] == '\\' && i + 1 < len)
					*o++ = in[i++];
				*o++ = in[i++];
			}
			if (i < len)
				*o++ = in[i++];
			continue;
		}
		if (!isdigit((unsigned char)in[i])) {
			*o++ = in[i++];
			continue;
		}
		for (j = i; j < len; j++, n++) {
			if (!isalnum((unsigned char)in[j]) && !strchr(".+-", in[j]))
				break;
			if (!isdigit((unsigned char)in[j]))
				plain = 0;
		}
		if ((plain && n > 18) || (n > 2 && in[i] == '0' && tolower(in[i + 1]) == 'x')) {
			*o++ = '"';
			*o++ = '#';
			memcpy(o, in + i, n);
			o += n;
			*o++ = '"';
		} else {
			memcpy(o, in + i, n);
			o += n;
		}
		i = j;
	}
	*o = 0;
	return out;
}

json_t *pwm_json_load(const char *path)
{
	json_error_t err;
	size_t len;
	char *raw = pwm_slurp(path, &len), *text;
	json_t *j;

	/* a quoted number takes three more bytes, at most one for each byte read */
	text = quote_numbers(raw, len);
	j = json_loads(text, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &err);
	if (!j)
		pwm_fail("json: line %d: %s", err.line, err.text);
	free(raw);
	free(text);
	return j;
}

void pwm_json_keys(json_t *obj, const char *keys, const char *where)
{
	const char *key;
	json_t *value;

	if (!json_is_object(obj))
		pwm_fail("%s: not an object", *where ? where : "json");
	json_object_foreach(obj, key, value) {
		size_t n = strlen(key);
		const char *k = keys;

		while ((k = strstr(k, key))) {
			if ((k == keys || k[-1] == ' ') && (k[n] == ' ' || !k[n]) && n)
				break;
			k += n ? n : 1;
			if (!n && !*k) {
				k = NULL;
				break;
			}
		}
		if (!k)
			pwm_fail("%s%s%s: unknown key", where, *where ? "." : "", key);
	}
}

uint64_t pwm_json_u64(json_t *obj, const char *key, uint64_t max, const uint64_t *def,
		      const char *where)
{
	const char *dot = *where ? "." : "";
	json_t *j = json_object_get(obj, key);
	uint64_t v;

	if (!j) {
		if (!def)
			pwm_fail("%s%s%s: missing", where, dot, key);
		return *def;
	}
	if (json_is_integer(j)) {
		if (json_integer_value(j) < 0)
			pwm_fail("%s%s%s: negative", where, dot, key);
		v = json_integer_value(j);
	} else if (json_is_string(j)) {
		const char *s = json_string_value(j);
		char *end;

		s += *s == '#';
		errno = 0;
		v = strtoull(s, &end, tolower(s[0] ? s[1] : 0) == 'x' ? 16 : 10);
		if (!isdigit((unsigned char)*s) || *end || errno)
			pwm_fail("%s%s%s: '%s' is not an unsigned 64-bit number", where, dot,
				 key, s);
	} else {
		pwm_fail("%s%s%s: not a number", where, dot, key);
	}
	if (v > max)
		pwm_fail("%s%s%s: %llu is above %llu", where, dot, key, (unsigned long long)v,
			 (unsigned long long)max);
	return v;
}

int pwm_json_bool(json_t *obj, const char *key, const char *where)
{
	json_t *j = json_object_get(obj, key);

	if (!j)
		return 0;
	if (json_is_boolean(j))
		return json_is_true(j);
	if (json_is_integer(j) && (json_integer_value(j) == 0 || json_integer_value(j) == 1))
		return json_integer_value(j);
	pwm_fail("%s%s%s: not true or false", where, *where ? "." : "", key);
}

uint8_t *pwm_json_hex(json_t *obj, const char *key, size_t *len, const char *where)
{
	json_t *j = json_object_get(obj, key);
	char what[256];

	snprintf(what, sizeof(what), "%s%s%s", where, *where ? "." : "", key);
	if (j && !json_is_string(j))
		pwm_fail("%s: not a string of hex digits", what);
	if (j && strlen(json_string_value(j)) != json_string_length(j))
		pwm_fail("%s: not a hex digit", what);
	return pwm_unhex(j ? json_string_value(j) : "", len, what);
}

json_t *pwm_json_array(json_t *obj, const char *key, const char *where)
{
	json_t *j = json_object_get(obj, key);

	if (j && !json_is_array(j))
		pwm_fail("%s%s%s: not an array", where, *where ? "." : "", key);
	return j;
}

char *pwm_json_text(const uint8_t *p, size_t len, const char *what)
{
	json_t *j = json_stringn((const char *)p, len);
	char *s;

	if (!j)
		pwm_fail("%s: not UTF-8 text", what);
	s = json_dumps(j, JSON_ENCODE_ANY);
	if (!s)
		pwm_fail("out of memory");
	json_decref(j);
	return s;
}
