// SPDX-License-Identifier: GPL-2.0
/* pwmodel esp: a node that executes a script of instructions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "esp.h"
#include "pwmodel.h"

/* besides the five instructions */
enum { CMD_PUT = PW_ESP_OPCODES, CMD_GET };

struct command {
	int what;		/* opcode, CMD_PUT or CMD_GET */
	uint64_t ms;
	struct pw_esp_insn in;
};

static const struct {
	const char *name;
	uint8_t kind, op;
} operators[] = {
	{ "lt", PW_ESP_OPK_COMPARE, PW_ESP_REL_LT }, { "<", PW_ESP_OPK_COMPARE, PW_ESP_REL_LT },
	{ "le", PW_ESP_OPK_COMPARE, PW_ESP_REL_LE }, { "<=", PW_ESP_OPK_COMPARE, PW_ESP_REL_LE },
	{ "eq", PW_ESP_OPK_COMPARE, PW_ESP_REL_EQ }, { "==", PW_ESP_OPK_COMPARE, PW_ESP_REL_EQ },
	{ "ne", PW_ESP_OPK_COMPARE, PW_ESP_REL_NE }, { "!=", PW_ESP_OPK_COMPARE, PW_ESP_REL_NE },
	{ "ge", PW_ESP_OPK_COMPARE, PW_ESP_REL_GE }, { ">=", PW_ESP_OPK_COMPARE, PW_ESP_REL_GE },
	{ "gt", PW_ESP_OPK_COMPARE, PW_ESP_REL_GT }, { ">", PW_ESP_OPK_COMPARE, PW_ESP_REL_GT },
	{ "add", PW_ESP_OPK_REDUCE, PW_ESP_OP_ADD }, { "and", PW_ESP_OPK_REDUCE, PW_ESP_OP_AND },
	{ "or", PW_ESP_OPK_REDUCE, PW_ESP_OP_OR }, { "max", PW_ESP_OPK_REDUCE, PW_ESP_OP_MAX },
	{ "min", PW_ESP_OPK_REDUCE, PW_ESP_OP_MIN }, { "xor", PW_ESP_OPK_REDUCE, PW_ESP_OP_XOR },
};

static uint8_t operator_code(const char *name, uint8_t kind, unsigned int line)
{
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (operators[i].kind == kind && !strcasecmp(name, operators[i].name))
			return operators[i].op;
	pwm_fail("line %u: op: '%s' is not an operator of this instruction", line, name);
}

static const struct pw_esp_desc put_desc = { "put", 0, 2, { PW_ESP_F_TAG, PW_ESP_F_VAL } };
static const struct pw_esp_desc get_desc = { "get", 0, 1, { PW_ESP_F_TAG } };

static const struct pw_esp_desc *describe(int what)
{
	return what == CMD_PUT ? &put_desc : what == CMD_GET ? &get_desc : &pw_esp_desc[what];
}

static bool has_field(const struct pw_esp_desc *d, int field)
{
	for (int i = 0; i < d->n; i++)
		if (d->field[i] == field)
			return true;
	return false;
}

static void parse_key(struct command *c, const struct pw_esp_desc *d, char *word, uint32_t *seen,
		      unsigned int line)
{
	char *val = strchr(word, '=');
	char what[48];
	int f;

	if (!val)
		pwm_fail("line %u: '%s' is not key=value", line, word);
	*val++ = 0;
	snprintf(what, sizeof(what), "line %u: %.20s", line, word);
	if (!strcmp(word, "op") && d->op_kind) {
		f = PW_ESP_F_COUNT;
		c->in.op = operator_code(val, d->op_kind, line);
	} else {
		for (f = 0; f < PW_ESP_F_COUNT; f++)
			if (!strcmp(word, pw_esp_field_name[f]) && has_field(d, f))
				break;
		if (f == PW_ESP_F_COUNT)
			pwm_fail("line %u: %s: no such operand of %s", line, word, d->name);
		c->in.f[f] = pwm_u64(val, what);
	}
	if (*seen & BIT(f))
		pwm_fail("line %u: %s: given twice", line, word);
	*seen |= BIT(f);
}

/* false: nothing on this line */
static bool parse_line(char *text, unsigned int line, uint64_t last_ms, struct command *c)
{
	static const char blank[] = " \t\r";
	const struct pw_esp_desc *d;
	char *save, *word = strtok_r(text, blank, &save);
	char what[48];
	uint32_t seen = 0;

	if (!word || *word == '#')
		return false;
	memset(c, 0, sizeof(*c));
	snprintf(what, sizeof(what), "line %u: MS", line);
	c->ms = pwm_u64(word, what);
	if (c->ms < last_ms)
		pwm_fail("line %u: MS: %s is before the line above it", line, word);
	word = strtok_r(NULL, blank, &save);
	if (!word)
		pwm_fail("line %u: NAME: missing", line);
	for (c->what = PW_ESP_COUNT; c->what <= CMD_GET; c->what++)
		if (!strcasecmp(word, describe(c->what)->name))
			break;
	if (c->what > CMD_GET)
		pwm_fail("line %u: NAME: '%s' is not an instruction", line, word);
	c->in.opcode = c->what;
	d = describe(c->what);
	while ((word = strtok_r(NULL, blank, &save)))
		parse_key(c, d, word, &seen, line);
	if (d->op_kind && !(seen & BIT(PW_ESP_F_COUNT)))
		pwm_fail("line %u: op: missing", line);
	for (int i = 0; i < d->n; i++)
		if (!(seen & BIT(d->field[i])))
			pwm_fail("line %u: %s: missing", line, pw_esp_field_name[d->field[i]]);
	return true;
}

static void run(struct pw_esp_store *st, uint64_t node, struct command *c, FILE *out)
{
	struct pw_esp_result res;
	uint64_t val;

	if (c->what == CMD_GET) {
		if (pw_esp_store_get(st, c->ms, c->in.f[PW_ESP_F_TAG], &val))
			fprintf(out, "{\"val\":%" PRIu64 "}\n", val);
		else
			fputs("{\"val\":null}\n", out);
		return;
	}
	if (c->what == CMD_PUT) {
		fprintf(out, "{\"verdict\":\"%s\"}\n",
			pw_esp_store_put(st, c->ms, c->in.f[PW_ESP_F_TAG],
					 c->in.f[PW_ESP_F_VAL]) ? "abort" : "forward");
		return;
	}
	pw_esp_exec(st, node, c->ms, &c->in, &res);
	fprintf(out, "{\"verdict\":\"%s\"", pw_esp_verdict_name[res.verdict]);
	for (int f = 0; f < PW_ESP_F_COUNT; f++)
		if (res.changed & BIT(f))
			fprintf(out, ",\"%s\":%" PRIu64, pw_esp_field_name[f], c->in.f[f]);
	fputs("}\n", out);
}

int pwm_esp(int argc, char **argv)
{
	static const siphash_key_t key = { { 0x7061636b65747761ULL, 0x79206d6f64656c00ULL } };
	uint64_t node = 1, lifetime = PW_ESP_LIFETIME_MS, capacity = 4096, last = 0;
	const char *path = NULL;
	struct pw_esp_store st;
	unsigned int line = 1;
	struct command c;
	char *text, *p, *out = NULL;
	size_t len, out_len;
	void *mem;
	FILE *f;

	for (int i = 1; i < argc; i++) {
		uint64_t *opt = !strcmp(argv[i], "--node") ? &node :
				!strcmp(argv[i], "--lifetime") ? &lifetime :
				!strcmp(argv[i], "--capacity") ? &capacity : NULL;

		if (opt) {
			if (++i == argc)
				pwm_fail("%s: value missing", argv[i - 1]);
			*opt = pwm_u64(argv[i], argv[i - 1]);
		} else if (path || (argv[i][0] == '-' && argv[i][1])) {
			pwm_fail("argument '%s' is unknown", argv[i]);
		} else {
			path = argv[i];
		}
	}
	if (!path)
		pwm_fail("script: '-' or a file name is missing");
	if (!lifetime)
		pwm_fail("--lifetime: must not be 0");
	if (!capacity || capacity > PW_ESP_CAPACITY_MAX)
		pwm_fail("--capacity: must be 1..%u", PW_ESP_CAPACITY_MAX);

	mem = malloc(pw_esp_store_bytes(capacity));
	f = open_memstream(&out, &out_len);
	if (!mem || !f || pw_esp_store_init(&st, mem, pw_esp_store_bytes(capacity), capacity,
					    lifetime, &key))
		pwm_fail("--capacity: out of memory");

	text = pwm_slurp(path, &len);
	if (strlen(text) != len)
		pwm_fail("script: has a NUL byte");
	/* nothing is printed before the last line is known to be good */
	for (p = text; p; line++) {
		char *end = strchr(p, '\n');

		if (end)
			*end++ = 0;
		if (parse_line(p, line, last, &c)) {
			last = c.ms;
			run(&st, node, &c, f);
		}
		p = end;
	}
	fclose(f);
	fwrite(out, 1, out_len, stdout);
	free(out);
	free(text);
	free(mem);
	return 0;
}
