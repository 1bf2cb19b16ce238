/* SPDX-License-Identifier: GPL-2.0 */
/*
 * JSON in and out for pwmodel. Numbers are unsigned 64-bit, which JSON libraries
 * with signed integers cannot carry, so output is written directly and large or
 * hexadecimal numbers in the input are taken care of before it is parsed.
 */
#ifndef PWMODEL_JSON_H
#define PWMODEL_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* an object from "-" or a file; fails naming what is wrong */
json_t *pwm_json_load(const char *path);
/* fails if @obj is no object or has a key that is not in @keys (space separated) */
void pwm_json_keys(json_t *obj, const char *keys, const char *where);
/* number in 0..max; @def if the key is not there, fails if @def is NULL then */
uint64_t pwm_json_u64(json_t *obj, const char *key, uint64_t max, const uint64_t *def,
		      const char *where);
/* true or false, 0 or 1; false if the key is not there */
int pwm_json_bool(json_t *obj, const char *key, const char *where);
/* hex string to bytes; empty if the key is not there; caller frees */
uint8_t *pwm_json_hex(json_t *obj, const char *key, size_t *len, const char *where);
/* array, or NULL if the key is not there */
json_t *pwm_json_array(json_t *obj, const char *key, const char *where);
/* bytes as a JSON string with quotes; fails naming @what if they are not UTF-8 */
char *pwm_json_text(const uint8_t *p, size_t len, const char *what);

/* text that grows; standard output stays empty until all of it is right */
struct pwm_out {
	char *s;
	size_t len, cap;
};

void pwm_out(struct pwm_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void pwm_out_hex(struct pwm_out *o, const uint8_t *p, size_t len);
/* prints and frees */
void pwm_out_flush(struct pwm_out *o);

#endif
