/* SPDX-License-Identifier: GPL-2.0 */
/* Test Anything Protocol for the unit tests of core/. */
#ifndef PW_TAP_H
#define PW_TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int tap_count, tap_failed;

static inline int __attribute__((format(printf, 4, 5)))
tap_ok(int good, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	if (!good) {
		tap_failed++;
		printf("# failed at %s:%d\n", file, line);
	}
	return good;
}

/* ok(condition, "what holds, in words %d", ...): one TAP line */
#define ok(cond, ...) tap_ok(!!(cond), __FILE__, __LINE__, __VA_ARGS__)
#define is(got, want, ...) ({							\
	long long _g = (long long)(got), _w = (long long)(want);		\
	int _r = ok(_g == _w, __VA_ARGS__);					\
	if (!_r)								\
		printf("#      got: %lld\n# expected: %lld\n", _g, _w);		\
	_r; })
#define diag(fmt, ...) printf("# " fmt "\n", ##__VA_ARGS__)

static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed || !tap_count;
}

/* an emulator runs the big-endian build, and on some machines the 32-bit one */
#define TAP_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#define TAP_EMULATED (__SIZEOF_POINTER__ < 8 || TAP_BIG_ENDIAN)

/* PW_SCALE percent of @n */
static inline unsigned long tap_scaled(unsigned long n)
{
	const char *s = getenv("PW_SCALE");
	unsigned long pct = s ? strtoul(s, NULL, 0) : 100;

	n = n / 100 * pct + n % 100 * pct / 100;
	return n ? n : 1;
}

/* xorshift64*: the same sequence everywhere, seeded by the test */
static inline unsigned long long tap_rand(unsigned long long *s)
{
	*s ^= *s >> 12;
	*s ^= *s << 25;
	*s ^= *s >> 27;
	return *s * 2685821657736338717ULL;
}

#endif /* PW_TAP_H */
