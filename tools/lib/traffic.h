/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random traffic: numbers, loads and what a load means. Sweeps of pwctl and networks of
 * pwmodel use the same, so that their loads can be compared.
 */
#ifndef PW_TRAFFIC_H
#define PW_TRAFFIC_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>

#include "pw_os.h"
#include "fabric/cell.h"

#define LOAD_UNIT	1000000		/* a load is a count of millionths */

/* splitmix64: good enough from any seed */
static inline uint64_t draw(uint64_t *s)
{
	uint64_t z = *s += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static inline uint32_t below(uint64_t *s, uint32_t n)
{
	return (draw(s) >> 32) * n >> 32;
}

/* cycles that packing and unpacking a message take the processes */
static inline uint32_t message_work(uint32_t bytes)
{
	uint32_t r = bytes % 4;

	return 60 + 10 * pw_cell_count(bytes) + 38 * (bytes / 4) + (r ? 6 + 8 * r : 0);
}

/*
 * Chance of a port in a cycle in 2^-64, so that it has one message in
 * @burst * message_work() / @load cycles.
 */
static inline uint64_t load_chance(uint32_t load, uint32_t bytes, uint32_t burst)
{
	uint64_t per = (uint64_t)message_work(bytes) * LOAD_UNIT * burst;

	return load >= per ? UINT64_MAX : UINT64_MAX / per * load;
}

/* decimal number in millionths, so that no rounding depends on the machine */
static inline bool parse_millionths(const char *text, uint64_t *v)
{
	int digits = 0, places = -1;
	const char *c;

	*v = 0;
	for (c = text; isdigit((unsigned char)*c) || (*c == '.' && places < 0); c++) {
		if (*c == '.') {
			places = 0;
			continue;
		}
		if (places == 6 || ++digits > 10)
			return false;
		places += places >= 0;
		*v = 10 * *v + *c - '0';
	}
	for (places = places < 0 ? 0 : places; places < 6; places++)
		*v *= 10;
	return !*c && digits;
}

#endif
