/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sums of floating-point numbers on adders of 64-bit integers: exact, rounded once.
 *
 * A sum over many numbers, one of each rank, in three steps, each of which combines words of
 * all ranks in any order:
 *
 *   range	three words, combined by MAX: the highest and the lowest bit that any number
 *		has, and whether one is special (NaN, infinity, -0)
 *   flags	only if one is special: four bits for each number, combined by OR
 *   words	each number as a fixed-point number from the lowest to the highest bit, cut
 *		into words that leave room for the carries of all ranks; combined by ADD
 *
 * Sums of a program are often of numbers of the same size. A sum that is guessed takes one step:
 * the words by the plan of an earlier sum, and a word before them that counts the ranks with a
 * number that does not fit. If there is one, the three steps follow.
 *
 * The result is the number nearest to the exact sum (ties to even), the same bits whatever
 * the order and the number of ranks. Numbers are taken apart and put together as integers:
 * no machine's arithmetic, rounding mode or order of bytes has a part in it.
 *
 * Special cases, as IEEE 754 has them for a sum that is rounded once:
 *   - a NaN, or infinities of both signs: the quiet NaN without payload and sign
 *   - otherwise an infinity: that infinity
 *   - an exact sum of zero: +0, but -0 if all numbers are -0
 *   - subnormal numbers are as good as others, here and in the result
 *   - the result overflows to an infinity where rounding without limit would reach 2^1024
 *     (2^128); sums on the way have no limit
 *
 * Minimum and maximum go by images: unsigned integers in the same order, -0 before +0. A
 * NaN makes the result a NaN (IEEE 754-2019 minimum and maximum).
 */
#ifndef PW_EXACT_H
#define PW_EXACT_H

#include <stdbool.h>
#include <stdint.h>

enum pw_exact_kind { PW_EXACT_FLOAT, PW_EXACT_DOUBLE };

#define PW_EXACT_RANGE	3	/* words of a range */
#define PW_EXACT_WORDS	48	/* most words of a number */
#define PW_EXACT_RANKS	65536	/* most ranks */

/* flags of a number, combined by OR; four bits */
#define PW_EXACT_PLUS_INF	1U
#define PW_EXACT_MINUS_INF	2U
#define PW_EXACT_NAN		4U
#define PW_EXACT_NOT_MINUS_0	8U

/**
 * struct pw_exact_plan - how numbers are cut into words; the same at all ranks
 * @low: lowest bit; bit i has the weight 2^(i - 1074)
 * @width: bits of a word
 * @words: words of a number; 0: all are zero or special
 * @special: flags are needed
 */
struct pw_exact_plan {
	int low;
	int width;
	int words;
	bool special;
};

/**
 * struct pw_exact_guess - what the next sum may need; the same at all ranks, zeros at first
 * @plan: plan of an earlier sum with some room around its bits; no words: none
 * @room: words that are combined at once; set by the caller. More are not guessed: 0: nothing is
 * @misses: guesses in a row that were wrong
 * @skip: sums until the next guess
 */
struct pw_exact_guess {
	struct pw_exact_plan plan;
	int room;
	int misses;
	int skip;
};

int pw_exact_size(enum pw_exact_kind kind);
void pw_exact_range(enum pw_exact_kind kind, const void *x, int count,
		    uint64_t range[PW_EXACT_RANGE]);
struct pw_exact_plan pw_exact_plan(const uint64_t range[PW_EXACT_RANGE], int ranks);
unsigned int pw_exact_flags(enum pw_exact_kind kind, const void *x);
void pw_exact_split(const struct pw_exact_plan *plan, enum pw_exact_kind kind, const void *x,
		    uint64_t *words);
void pw_exact_join(const struct pw_exact_plan *plan, enum pw_exact_kind kind,
		   const uint64_t *words, unsigned int flags, void *sum);

enum pw_exact_op { PW_EXACT_ADD, PW_EXACT_MIN, PW_EXACT_MAX, PW_EXACT_OR };

/* combine words of all ranks; the result in their place if this rank @gets it; 0 or -errno */
typedef int (*pw_exact_combine)(void *arg, enum pw_exact_op op, uint64_t *words, long count,
				bool gets);

int pw_exact_sum(enum pw_exact_kind kind, const void *in, void *out, int count, int ranks,
		 struct pw_exact_guess *guess, pw_exact_combine combine, void *arg);
int pw_exact_extremes(enum pw_exact_kind kind, const void *in, void *out, int count, bool max,
		      pw_exact_combine combine, void *arg);

uint64_t pw_exact_image(enum pw_exact_kind kind, const void *x, bool max);
void pw_exact_from_image(enum pw_exact_kind kind, uint64_t image, bool max, void *x);

#endif
