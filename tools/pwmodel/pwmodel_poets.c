// SPDX-License-Identifier: GPL-2.0
/* pwmodel poets: a POETS packet between hex and JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

#include "poets.h"
#include "pwmodel.h"

static void print(json_t *o)
{
	json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(o);
}

static void decode(const char *arg)
{
	char *text = strcmp(arg, "-") ? strdup(arg) : pwm_slurp(arg, NULL);
	struct pw_poets_pkt p;
	uint8_t *buf;
	size_t len;
	char *hex;

	buf = pwm_unhex(text, &len, "hex");
	if (len < PW_POETS_HDR_LEN)
		pwm_fail("swAddr, pinAddr: %zu bytes are too few for the header of %d", len,
			 PW_POETS_HDR_LEN);
	if (pw_poets_parse(buf, len, &p))
		pwm_fail("payload: %zu bytes are more than %d", len - PW_POETS_HDR_LEN,
			 PW_POETS_MAX_PAYLOAD);
	hex = pwm_hex(p.payload, p.len);
	print(json_pack("{s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:s,s:i}",
			"device", pw_poets_device(p.sw_addr),
			"opcode", pw_poets_opcode(p.sw_addr),
			"task", pw_poets_task(p.sw_addr),
			"cnc", !!(p.sw_addr & PW_POETS_CNC),
			"mothership", !!(p.sw_addr & PW_POETS_MOTHERSHIP),
			"pin", pw_poets_pin(p.pin_addr),
			"edge", (int)pw_poets_edge(p.pin_addr),
			"payload", hex,
			"flits", (int)pw_poets_flits(p.len)));
	free(hex);
	free(buf);
	free(text);
}

/* fields that are left out are 0; a string may hold a number in 0x */
static uint32_t field(json_t *o, const char *name, uint32_t max)
{
	json_t *v = json_object_get(o, name);
	uint64_t n;

	if (!v)
		return 0;
	if (json_is_boolean(v) && max == 1)
		return json_is_true(v);
	if (json_is_string(v)) {
		n = pwm_u64(json_string_value(v), name);
		if (n > max)
			pwm_fail("%s: must be a whole number from 0 to %u", name, max);
		return n;
	}
	if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > max)
		pwm_fail("%s: must be a whole number from 0 to %u", name, max);
	return json_integer_value(v);
}

static void encode(const char *path)
{
	static const char *const known[] = {
		"device", "opcode", "task", "cnc", "mothership", "pin", "edge", "payload", "flits",
	};
	char *text = pwm_slurp(path, NULL), *hex;
	uint8_t buf[PW_POETS_PKT_MAX], *payload;
	uint32_t sw, pin;
	json_error_t err;
	const char *key;
	json_t *o, *v;
	size_t len = 0, n;

	o = json_loads(text, JSON_REJECT_DUPLICATES, &err);
	if (!o)
		pwm_fail("JSON: line %d: %s", err.line, err.text);
	if (!json_is_object(o))
		pwm_fail("JSON: must be an object");
	json_object_foreach(o, key, v) {
		for (n = 0; n < ARRAY_SIZE(known) && strcmp(key, known[n]); n++)
			;
		if (n == ARRAY_SIZE(known))
			pwm_fail("%s: no such field", key);
	}
	sw = pw_poets_sw_addr(field(o, "mothership", 1), field(o, "cnc", 1), field(o, "task", 0x3f),
			      field(o, "opcode", 0xff), field(o, "device", 0xffff));
	pin = pw_poets_pin_addr(field(o, "pin", 0xff), field(o, "edge", 0xffffff));
	v = json_object_get(o, "payload");
	if (v && !json_is_string(v))
		pwm_fail("payload: must be a string of hex digits");
	payload = pwm_unhex(v ? json_string_value(v) : "", &len, "payload");
	n = pw_poets_build(buf, sizeof(buf), sw, pin, payload, len);
	if (!n)
		pwm_fail("payload: %zu bytes are more than %d", len, PW_POETS_MAX_PAYLOAD);
	if (json_object_get(o, "flits") &&
	    field(o, "flits", PW_POETS_MAX_FLITS) != pw_poets_flits(len))
		pwm_fail("flits: %zu bytes of payload take %u", len, pw_poets_flits(len));
	json_decref(o);
	hex = pwm_hex(buf, n);
	print(json_pack("{s:s}", "hex", hex));
	free(hex);
	free(payload);
	free(text);
}

int pwm_poets(int argc, char **argv)
{
	return pwm_codec(argc, argv, decode, encode);
}
