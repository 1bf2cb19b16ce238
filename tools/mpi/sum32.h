/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sums of integers of 32 bits on a ring that adds words of 64: two integers are a word.
 *
 * The sum of the lower integers carries into that of the upper ones, so the carry has to be known.
 * For that the upper bits of the lower integers are added, too: pw_sum32_top() bits of each
 * integer, in a field of twice as many bits, of words behind the pairs. A field does not overflow,
 * because 2^top >= ranks. What is in no field is less than 2^(32 - top) of each integer, and less
 * than 2^32 of all. So the sum of the lower integers is less than 2^32 above that of the upper
 * bits, and there is one such number with the lower 32 bits of the word.
 *
 * An odd integer at the end is a word of its own, between the pairs and the fields. Its upper half
 * means nothing.
 */
#ifndef PW_MPI_SUM32_H
#define PW_MPI_SUM32_H

#include <stdint.h>

/* bits of an integer that are in a field, for @n ranks */
static inline int pw_sum32_top(int n)
{
	return n < 3 ? 1 : 32 - __builtin_clz(n - 1);
}

/* pairs of integers whose fields are in one word */
static inline int pw_sum32_fields(int n)
{
	return 32 / pw_sum32_top(n);
}

/* words of @count integers */
static inline long pw_sum32_words(int n, long count)
{
	long pairs = count / 2, fields = pw_sum32_fields(n);

	return pairs + count % 2 + (pairs + fields - 1) / fields;
}

/* how many of the next @count integers fit in @words words; at least two in two words */
static inline long pw_sum32_most(int n, long count, long words)
{
	long fields = pw_sum32_fields(n);

	return pw_sum32_words(n, count) <= words ? count : 2 * (words * fields / (fields + 1));
}

/* operands of a rank: @count integers in pw_sum32_words() words */
static inline void pw_sum32_pack(int n, const uint32_t *in, uint64_t *w, long count)
{
	int top = pw_sum32_top(n), end = 2 * top * pw_sum32_fields(n), at = 0;
	uint64_t *tops = w + (count + 1) / 2, sum = 0;
	long pairs = count / 2, i;

	for (i = 0; i < pairs; i++) {
		w[i] = in[2 * i] | (uint64_t)in[2 * i + 1] << 32;
		sum |= (uint64_t)(in[2 * i] >> (32 - top)) << at;
		at += 2 * top;
		if (at < end)
			continue;
		*tops++ = sum;
		sum = 0;
		at = 0;
	}
	if (at)
		*tops = sum;
	if (count % 2)
		w[pairs] = in[count - 1];
}

/* sums of the integers of all ranks, from the sums of their words */
static inline void pw_sum32_unpack(int n, const uint64_t *w, uint32_t *out, long count)
{
	int top = pw_sum32_top(n), end = 2 * top * pw_sum32_fields(n), at = 0;
	uint64_t low, mask = (1ULL << 2 * top) - 1;
	const uint64_t *tops = w + (count + 1) / 2;
	long pairs = count / 2, i;

	for (i = 0; i < pairs; i++) {
		low = (*tops >> at & mask) << (32 - top);
		low += (uint32_t)(w[i] - low);
		out[2 * i] = low;
		out[2 * i + 1] = (w[i] - low) >> 32;
		at += 2 * top;
		if (at < end)
			continue;
		tops++;
		at = 0;
	}
	if (count % 2)
		out[count - 1] = w[pairs];
}

#endif
