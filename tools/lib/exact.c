// SPDX-License-Identifier: GPL-2.0
/* Exact sums of floating-point numbers; see exact.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"

/* bit 0 of all numbers is the lowest of a double: 2^-1074 */
#define LOW_BASE	4096	/* ranges have MAX only: lowest bits are counted down from here */
#define DIGITS		(PW_EXACT_WORDS + 1)
#define GUESS_MARGIN	16	/* bits around an earlier range, if a word more gives them */
#define GUESS_SKIP	6	/* up to 2^6 - 1 sums without a guess after wrong ones */

/**
 * struct format - of a kind
 * @fraction: bits of the fraction
 * @exponents: value of the exponent field of infinities and NaNs
 * @low: weight of the lowest bit, as a bit
 */
struct format {
	int fraction;
	unsigned int exponents;
	int low;
};

static const struct format formats[] = {
	[PW_EXACT_FLOAT] = { 23, 0xff, 1074 - 149 },
	[PW_EXACT_DOUBLE] = { 52, 0x7ff, 0 },
};

/**
 * struct number - taken apart
 * @mantissa: an integer
 * @low: the bit where it begins
 * @negative: its sign
 * @flags: what kind it is
 */
struct number {
	uint64_t mantissa;
	int low;
	bool negative;
	unsigned int flags;
};

int pw_exact_size(enum pw_exact_kind kind)
{
	return kind == PW_EXACT_FLOAT ? 4 : 8;
}

static uint64_t get_bits(enum pw_exact_kind kind, const void *x)
{
	uint32_t f;
	uint64_t d;

	if (kind == PW_EXACT_FLOAT) {
		memcpy(&f, x, sizeof(f));
		return f;
	}
	memcpy(&d, x, sizeof(d));
	return d;
}

static void put_bits(enum pw_exact_kind kind, uint64_t bits, void *x)
{
	uint32_t f = bits;

	if (kind == PW_EXACT_FLOAT)
		memcpy(x, &f, sizeof(f));
	else
		memcpy(x, &bits, sizeof(bits));
}

static uint64_t sign_bit(enum pw_exact_kind kind)
{
	return 1ULL << (8 * pw_exact_size(kind) - 1);
}

static uint64_t infinity(enum pw_exact_kind kind)
{
	return (uint64_t)formats[kind].exponents << formats[kind].fraction;
}

/* quiet, without payload */
static uint64_t nan_bits(enum pw_exact_kind kind)
{
	return infinity(kind) | 1ULL << (formats[kind].fraction - 1);
}

static struct number take_apart(enum pw_exact_kind kind, const void *x)
{
	const struct format *f = &formats[kind];
	uint64_t bits = get_bits(kind, x);
	uint64_t fraction = bits & ((1ULL << f->fraction) - 1);
	unsigned int exponent = bits >> f->fraction & f->exponents;
	struct number n = {
		.negative = bits & sign_bit(kind), .flags = PW_EXACT_NOT_MINUS_0,
	};

	if (exponent == f->exponents) {
		n.flags |= fraction ? PW_EXACT_NAN :
			   n.negative ? PW_EXACT_MINUS_INF : PW_EXACT_PLUS_INF;
		return n;
	}
	n.mantissa = exponent ? fraction | 1ULL << f->fraction : fraction;
	n.low = f->low + (exponent ? (int)exponent - 1 : 0);
	if (!n.mantissa && n.negative)
		n.flags = 0;
	return n;
}

/**
 * pw_exact_flags - what kind a number is
 * @kind: its type
 * @x: the number
 *
 * Return: PW_EXACT_* bits, to be combined by OR.
 */
unsigned int pw_exact_flags(enum pw_exact_kind kind, const void *x)
{
	return take_apart(kind, x).flags;
}

/**
 * pw_exact_range - which bits the numbers of a rank have
 * @kind: their type
 * @x: the numbers
 * @count: how many
 * @range: the words, to be combined by MAX, each by itself
 */
void pw_exact_range(enum pw_exact_kind kind, const void *x, int count,
		    uint64_t range[PW_EXACT_RANGE])
{
	uint64_t top = 0, low = 0, special = 0;
	const char *at = x;
	struct number n;
	int i;

	for (i = 0; i < count; i++, at += pw_exact_size(kind)) {
		uint64_t t, l;

		n = take_apart(kind, at);
		special |= n.flags != PW_EXACT_NOT_MINUS_0;
		if (!n.mantissa)
			continue;
		t = n.low + 64 - __builtin_clzll(n.mantissa);
		l = LOW_BASE - (n.low + __builtin_ctzll(n.mantissa));
		top = t > top ? t : top;
		low = l > low ? l : low;
	}
	range[0] = top;
	range[1] = low;
	range[2] = special;
}

/**
 * pw_exact_plan - how to cut numbers into words
 * @range: as combined over all ranks
 * @ranks: how many there are, up to PW_EXACT_RANKS
 *
 * A sum of words of @width bits of all ranks stays below 2^62, whatever the signs.
 */
struct pw_exact_plan pw_exact_plan(const uint64_t range[PW_EXACT_RANGE], int ranks)
{
	struct pw_exact_plan plan = { .width = 62, .special = range[2] };
	int span;

	while ((1LL << (62 - plan.width)) < ranks)
		plan.width--;
	if (!range[0])
		return plan;
	plan.low = LOW_BASE - (int)range[1];
	span = (int)range[0] - plan.low;
	plan.words = (span + plan.width - 1) / plan.width;
	return plan;
}

/**
 * pw_exact_split - a number as words
 * @plan: the plan; its range has the number in it
 * @kind: type of the number
 * @x: the number
 * @words: plan->words words, to be combined by ADD
 */
void pw_exact_split(const struct pw_exact_plan *plan, enum pw_exact_kind kind, const void *x,
		    uint64_t *words)
{
	uint64_t mask = (1ULL << plan->width) - 1;
	struct number n = take_apart(kind, x);
	int i, skip, shift;

	memset(words, 0, plan->words * sizeof(*words));
	if (!n.mantissa)
		return;
	skip = n.low - plan->low;
	if (skip < 0) {
		/* its lowest bits are 0, or the range would reach them */
		n.mantissa >>= -skip;
		skip = 0;
	}
	shift = skip % plan->width;
	for (i = skip / plan->width; n.mantissa && i < plan->words; i++, shift = 0) {
		words[i] = n.mantissa << shift & mask;
		if (n.negative)
			words[i] = -words[i];
		n.mantissa >>= plan->width - shift;
	}
}

/* bits of a number of @width bits each, lowest first */
struct digits {
	uint64_t digit[DIGITS];
	int width;
	int count;
};

/* the 64 bits from bit @at on; @at may be below 0 */
static uint64_t bits_at(const struct digits *d, int at)
{
	int i, shift = (at > 0 ? at / d->width * d->width : 0) - at;
	uint64_t bits = 0;

	for (i = at > 0 ? at / d->width : 0; i < d->count && shift < 64; i++, shift += d->width)
		bits |= shift < 0 ? d->digit[i] >> -shift : d->digit[i] << shift;
	return bits;
}

static bool any_below(const struct digits *d, int at)
{
	int i;

	for (i = 0; i < d->count && (i + 1) * d->width <= at; i++)
		if (d->digit[i])
			return true;
	return i < d->count && at > i * d->width &&
	       d->digit[i] & ((1ULL << (at - i * d->width)) - 1);
}

/* carries go up; then the number without its sign. Returns whether it is negative. */
static bool normalise(struct digits *d, const uint64_t *words, int count, int width)
{
	uint64_t mask = (1ULL << width) - 1;
	int64_t carry = 0, t;
	bool negative;
	int i;

	d->width = width;
	d->count = count + 1;
	for (i = 0; i < count; i++) {
		t = (int64_t)words[i] + carry;
		d->digit[i] = (uint64_t)t & mask;
		carry = t >> width;
	}
	d->digit[count] = (uint64_t)carry & mask;
	negative = carry < 0;
	if (!negative)
		return false;
	carry = 1;
	for (i = 0; i <= count; i++) {
		d->digit[i] = (~d->digit[i] & mask) + carry;
		carry = d->digit[i] >> width;
		d->digit[i] &= mask;
	}
	return true;
}

/**
 * pw_exact_join - the sum
 * @plan: the plan
 * @kind: type of the sum
 * @words: as combined over all ranks
 * @flags: likewise; ignored unless plan->special
 * @sum: gets it
 */
void pw_exact_join(const struct pw_exact_plan *plan, enum pw_exact_kind kind,
		   const uint64_t *words, unsigned int flags, void *sum)
{
	const struct format *f = &formats[kind];
	uint64_t mantissa, bits, sign = 0;
	int top, low, i;
	struct digits d;
	bool half;

	if (!plan->special)
		flags = PW_EXACT_NOT_MINUS_0;
	if (flags & PW_EXACT_NAN ||
	    (flags & PW_EXACT_PLUS_INF && flags & PW_EXACT_MINUS_INF)) {
		put_bits(kind, nan_bits(kind), sum);
		return;
	}
	if (flags & (PW_EXACT_PLUS_INF | PW_EXACT_MINUS_INF)) {
		if (flags & PW_EXACT_MINUS_INF)
			sign = sign_bit(kind);
		put_bits(kind, sign | infinity(kind), sum);
		return;
	}
	if (normalise(&d, words, plan->words, plan->width))
		sign = sign_bit(kind);
	for (i = d.count - 1; i >= 0 && !d.digit[i]; i--)
		;
	if (i < 0) {
		put_bits(kind, flags & PW_EXACT_NOT_MINUS_0 ? 0 : sign_bit(kind), sum);
		return;
	}
	top = plan->low + i * d.width + 63 - __builtin_clzll(d.digit[i]);
	/* the lowest bit of the result */
	low = top - f->fraction > f->low ? top - f->fraction : f->low;
	mantissa = bits_at(&d, low - plan->low) & ((2ULL << f->fraction) - 1);
	half = bits_at(&d, low - plan->low - 1) & 1;
	if (half && (mantissa & 1 || any_below(&d, low - plan->low - 1)))
		mantissa++;
	/* the highest bit of a normal mantissa, and a carry out of it, raise the exponent */
	bits = ((uint64_t)(low - f->low) << f->fraction) + mantissa;
	if (bits > infinity(kind))
		bits = infinity(kind);
	put_bits(kind, sign | bits, sum);
}

/**
 * pw_exact_image - an integer in the order of numbers, to be combined by MIN or MAX
 * @kind: type of the number
 * @x: the number
 * @max: for MAX; else MIN
 *
 * Return: the image; that of a NaN is the largest, for MIN the smallest.
 */
uint64_t pw_exact_image(enum pw_exact_kind kind, const void *x, bool max)
{
	uint64_t bits = get_bits(kind, x), sign = sign_bit(kind);

	if ((bits & ~sign) > infinity(kind))
		return max ? UINT64_MAX : 0;
	/* more than 0 and less than UINT64_MAX, as no NaN is among them */
	return bits & sign ? (sign - 1) - (bits & ~sign) + 1 : sign + bits + 1;
}

/**
 * pw_exact_from_image - back again
 * @kind: type of the number
 * @image: its image
 * @max: as it was made
 * @x: gets the number
 */
void pw_exact_from_image(enum pw_exact_kind kind, uint64_t image, bool max, void *x)
{
	uint64_t sign = sign_bit(kind), bits;

	if (image == (max ? UINT64_MAX : 0))
		bits = nan_bits(kind);
	else if (image > sign)
		bits = image - sign - 1;
	else
		bits = sign | (sign - image);
	put_bits(kind, bits, x);
}

/* has the plan room for the numbers of a rank, and are they neither special nor -0? */
static bool fits(const struct pw_exact_plan *plan, const uint64_t range[PW_EXACT_RANGE])
{
	if (range[2])
		return false;
	return !range[0] || (LOW_BASE - (int)range[1] >= plan->low &&
			     (int)range[0] <= plan->low + plan->words * plan->width);
}

/* is there something to guess, and is it time to? All ranks come to the same answer */
static bool may_guess(struct pw_exact_guess *guess, int count)
{
	if (!guess->plan.words || 1 + (long)count * guess->plan.words > guess->room)
		return false;
	if (!guess->skip)
		return true;
	guess->skip--;
	return false;
}

/* 1: a number of some rank did not fit */
static int guessed_sum(enum pw_exact_kind kind, const char *from, char *to, int count,
		       const uint64_t range[PW_EXACT_RANGE], struct pw_exact_guess *guess,
		       pw_exact_combine combine, void *arg)
{
	int i, err, size = pw_exact_size(kind), words = guess->plan.words;
	uint64_t *w = calloc(1 + (size_t)count * words, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w[0] = !fits(&guess->plan, range);
	for (i = 0; i < count && !w[0]; i++)
		pw_exact_split(&guess->plan, kind, from + i * size, w + 1 + i * words);
	err = combine(arg, PW_EXACT_ADD, w, 1 + (long)count * words, true);
	if (!err && w[0]) {
		err = 1;
		guess->misses++;
		guess->skip = (1 << (guess->misses > GUESS_SKIP ? GUESS_SKIP : guess->misses - 1)) - 1;
	} else if (!err) {
		guess->misses = 0;
	}
	for (i = 0; i < count && to && !err; i++)
		pw_exact_join(&guess->plan, kind, w + 1 + i * words, 0, to + i * size);
	free(w);
	return err;
}

/* the next sum may be of numbers like these: the plan of a sum, with room on both sides */
static void remember(struct pw_exact_guess *guess, const struct pw_exact_plan *plan,
		     const uint64_t range[PW_EXACT_RANGE], int count)
{
	int spare;

	if (!plan->words)
		return;
	guess->plan = *plan;
	guess->plan.special = false;
	spare = plan->words * plan->width - ((int)range[0] - plan->low);
	if (spare < GUESS_MARGIN && plan->words < PW_EXACT_WORDS &&
	    1 + (long)count * (plan->words + 1) <= guess->room) {
		guess->plan.words++;
		spare += plan->width;
	}
	guess->plan.low -= spare / 2;
}

/**
 * pw_exact_sum - sums of the numbers of all ranks
 * @kind: their type
 * @in: the numbers of this rank
 * @out: gets the sums; may be @in, or NULL if this rank does not want them
 * @count: how many
 * @ranks: how many ranks there are
 * @guess: what sums of these ranks were before; NULL: not known
 * @combine: combines words
 * @arg: its first argument
 *
 * All ranks learn the range, so that they cut alike.
 *
 * Return: 0, -ENOMEM, or what @combine returned.
 */
int pw_exact_sum(enum pw_exact_kind kind, const void *in, void *out, int count, int ranks,
		 struct pw_exact_guess *guess, pw_exact_combine combine, void *arg)
{
	int i, err, size = pw_exact_size(kind), nflags = (count + 15) / 16;
	uint64_t range[PW_EXACT_RANGE], *w, *flags;
	struct pw_exact_plan plan;
	const char *from = in;
	char *to = out;

	pw_exact_range(kind, in, count, range);
	if (guess && may_guess(guess, count)) {
		err = guessed_sum(kind, from, to, count, range, guess, combine, arg);
		if (err <= 0)
			return err;
	}
	err = combine(arg, PW_EXACT_MAX, range, PW_EXACT_RANGE, true);
	if (err)
		return err;
	plan = pw_exact_plan(range, ranks);
	if (guess)
		remember(guess, &plan, range, count);
	w = calloc((size_t)count * plan.words + nflags, sizeof(*w));
	if (!w)
		return -ENOMEM;
	flags = w + (size_t)count * plan.words;
	for (i = 0; i < count; i++) {
		pw_exact_split(&plan, kind, from + i * size, w + (size_t)i * plan.words);
		flags[i / 16] |= (uint64_t)pw_exact_flags(kind, from + i * size) << 4 * (i % 16);
	}
	if (plan.special)
		err = combine(arg, PW_EXACT_OR, flags, nflags, to);
	if (!err)
		err = combine(arg, PW_EXACT_ADD, w, (long)count * plan.words, to);
	for (i = 0; i < count && to && !err; i++)
		pw_exact_join(&plan, kind, w + (size_t)i * plan.words,
			      flags[i / 16] >> 4 * (i % 16) & 15, to + i * size);
	free(w);
	return err;
}

/**
 * pw_exact_extremes - smallest or largest of the numbers of all ranks
 * @kind: their type
 * @in: the numbers of this rank
 * @out: gets the extremes; may be @in, or NULL if this rank does not want them
 * @count: how many
 * @max: the largest
 * @combine: combines words
 * @arg: its first argument
 *
 * Return: 0, -ENOMEM, or what @combine returned.
 */
int pw_exact_extremes(enum pw_exact_kind kind, const void *in, void *out, int count, bool max,
		      pw_exact_combine combine, void *arg)
{
	int i, err, size = pw_exact_size(kind);
	uint64_t *w = calloc(count, sizeof(*w));
	const char *from = in;
	char *to = out;

	if (!w)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		w[i] = pw_exact_image(kind, from + i * size, max);
	err = combine(arg, max ? PW_EXACT_MAX : PW_EXACT_MIN, w, count, to);
	for (i = 0; i < count && to && !err; i++)
		pw_exact_from_image(kind, w[i], max, to + i * size);
	free(w);
	return err;
}
