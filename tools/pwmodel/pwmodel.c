// SPDX-License-Identifier: GPL-2.0
/* pwmodel: runs the pure cores in user space, without root. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pwmodel.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "replay", pwm_replay, "replay ppd|spd|tandem|bmx|aal STIMULI.csv    step a unit, print its trace" },
	{ "fabric", pwm_fabric, "fabric --messages FILE.csv                   whole messages through AAL and network" },
	{ "aton",   pwm_aton,   "aton CMD X1 X2 ...                           one ring command" },
	{ "eep",    pwm_eep,    "eep decode HEX | encode -                    EEP message <-> JSON" },
	{ "rrp",    pwm_rrp,    "rrp decode HEX | encode -                    RRP records <-> JSON" },
	{ "esp",    pwm_esp,    "esp -                                        ESP instructions, one a line" },
	{ "poets",  pwm_poets,  "poets decode HEX | encode -                  POETS packet <-> JSON" },
};

void pwm_fail(const char *fmt, ...)
{
	va_list ap;

	fputs("pwmodel: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

uint64_t pwm_u64(const char *s, const char *what)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(s, &end, 0);
	if (!isdigit((unsigned char)*s) || *end || errno)
		pwm_fail("%s: '%s' is not an unsigned 64-bit number", what, s);
	return v;
}

int64_t pwm_s64(const char *s, const char *what)
{
	long long v;
	char *end;

	errno = 0;
	v = strtoll(s, &end, 0);
	if (end == s || *end || errno || isspace((unsigned char)*s))
		pwm_fail("%s: '%s' is not a signed 64-bit number", what, s);
	return v;
}

char *pwm_slurp(const char *path, size_t *len)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	size_t cap = 1 << 16, n = 0, got;
	char *buf = malloc(cap + 1);

	if (!f)
		pwm_fail("%s: %s", path, strerror(errno));
	while (buf && (got = fread(buf + n, 1, cap - n, f)) > 0) {
		n += got;
		if (n == cap)
			buf = realloc(buf, (cap *= 2) + 1);
	}
	if (!buf)
		pwm_fail("%s: too large", path);
	if (ferror(f))
		pwm_fail("%s: %s", path, strerror(errno));
	if (f != stdin)
		fclose(f);
	buf[n] = 0;
	if (len)
		*len = n;
	return buf;
}

static int hexdigit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = tolower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

uint8_t *pwm_unhex(const char *hex, size_t *len, const char *what)
{
	uint8_t *out = malloc(strlen(hex) / 2 + 1);
	size_t n = 0;
	int hi = -1;

	for (; out && *hex; hex++) {
		int d = hexdigit((unsigned char)*hex);

		if (isspace((unsigned char)*hex))
			continue;
		if (d < 0)
			pwm_fail("%s: '%c' is not a hex digit", what, *hex);
		if (hi < 0) {
			hi = d;
		} else {
			out[n++] = hi << 4 | d;
			hi = -1;
		}
	}
	if (!out)
		pwm_fail("out of memory");
	if (hi >= 0)
		pwm_fail("%s: odd number of hex digits", what);
	*len = n;
	return out;
}

char *pwm_hex(const uint8_t *p, size_t len)
{
	char *s = malloc(2 * len + 1);

	if (!s)
		pwm_fail("out of memory");
	for (size_t i = 0; i < len; i++)
		sprintf(s + 2 * i, "%02x", p[i]);
	s[2 * len] = 0;
	return s;
}

static void usage(FILE *f)
{
	fputs("Usage: pwmodel COMMAND ...   (pwmodel COMMAND --help for its options)\n", f);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(f, "  %s\n", commands[i].help);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		usage(stdout);
		return 0;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	pwm_fail("command '%s' is unknown; 'pwmodel help' lists them", argv[1]);
}
