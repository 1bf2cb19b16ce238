// SPDX-License-Identifier: GPL-2.0
/* checkpatch-ignore: SPACING (numbers such as 0x1p-53) */
/*
 * Exact sums (tools/lib/exact.c) against a plain accumulator that adds bit by bit: random
 * vectors of several distributions, one number of each rank, in any order. Every sum
 * must have the bits of the exact sum rounded once. A digest of all sums is the same on
 * every machine.
 *
 * Then threads as ranks that guess the plans of their sums.
 *
 *   exact_test dump COUNT	inputs and sums in hexadecimal, for another judge
 */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tap.h"
#include "../../lib/exact.h"
#include "../../lib/exact.c"

#define RANKS_MAX 256
#define BITS 2400
#define DIGEST 300	/* sums in a digest: every count has so many */

static unsigned long long seed;

static uint64_t rnd(void)
{
	return tap_rand(&seed);
}

/* --- the reference: two numbers of single bits ---------------------------------- */

struct plain {
	unsigned char bit[2][BITS];	/* positive, negative; bit i: 2^(i - 1074) */
	int inf[2], nan, other, count;
};

static void plain_add(struct plain *p, double x)
{
	unsigned char *to = p->bit[!!signbit(x)];
	double half;
	uint64_t m;
	int e, i;

	p->count++;
	if (!(x == 0 && signbit(x)))
		p->other++;
	if (isnan(x)) {
		p->nan++;
		return;
	}
	if (isinf(x)) {
		p->inf[!!signbit(x)]++;
		return;
	}
	half = frexp(fabs(x), &e);
	m = (uint64_t)ldexp(half, 53);
	/* x = m * 2^(e - 53) */
	for (i = e - 53 + 1074; m; i++, m >>= 1) {
		int k = i, carry = m & 1;

		for (; carry; k++) {
			to[k] ^= 1;
			carry = !to[k];
		}
	}
}

static double plain_sum(struct plain *p, int precision, int lowest)
{
	unsigned char *a = p->bit[0], *b = p->bit[1], *t;
	int i, low, top, borrow = 0, negative = 0, more = 0;
	uint64_t m = 0;

	if (p->nan || (p->inf[0] && p->inf[1]))
		return NAN;
	if (p->inf[0] || p->inf[1])
		return p->inf[0] ? INFINITY : -INFINITY;
	for (i = BITS - 1; i >= 0 && a[i] == b[i]; i--)
		;
	if (i < 0)
		return p->other ? 0.0 : -0.0;
	if (b[i]) {
		t = a;
		a = b;
		b = t;
		negative = 1;
	}
	for (i = 0; i < BITS; i++) {
		int d = a[i] - b[i] - borrow;

		borrow = d < 0;
		a[i] = d & 1;
	}
	for (top = BITS - 1; !a[top]; top--)
		;
	low = top - precision + 1;
	if (low < lowest)
		low = lowest;
	for (i = top; i >= low; i--)
		m = m << 1 | a[i];
	for (i = 0; i < low - 1; i++)
		more |= a[i];
	if (low > 0 && a[low - 1] && (more || m & 1))
		m++;
	/* exact: m has at most one bit more than the type, and then its lowest is 0 */
	if (precision == 24) {
		float f = ldexpf((float)m, low - 1074);

		return negative ? -f : f;
	}
	return negative ? -ldexp((double)m, low - 1074) : ldexp((double)m, low - 1074);
}

/* --- numbers ------------------------------------------------------------------- */

static double of_bits(uint64_t b)
{
	double d;

	memcpy(&d, &b, 8);
	return d;
}

static float of_bits32(uint32_t b)
{
	float f;

	memcpy(&f, &b, 4);
	return f;
}

enum { UNIFORM, LOG_UNIFORM, CANCEL, SUBNORMAL, NEAR_OVERFLOW, TIES, SPECIAL, WAYS };

static const char *const way_name[WAYS] = {
	"uniform", "over the whole range", "cancelling", "subnormal", "near overflow", "ties",
	"special"
};

static double number(int way, bool single)
{
	static const uint64_t odd[] = {
		0, 1ULL << 63, 0x7ff0ULL << 48, 0xfff0ULL << 48, 0x7ff8ULL << 48,
		0xfff4ULL << 48, 1, 1ULL << 63 | 1, 0x3ff0ULL << 48,
	};
	uint64_t b = rnd();

	switch (way) {
	case UNIFORM:
		return single ? (float)(b >> 40) / (1 << 24) : (double)(b >> 11) / (1ULL << 53);
	case SUBNORMAL:
		return single ? of_bits32((uint32_t)(b & 0x80ffffff)) :
				of_bits((b & 0x801fffffffffffffULL) >> b % 3 << b % 3);
	case NEAR_OVERFLOW:
		return single ? of_bits32((uint32_t)(b & 0x80ffffff) | 0x7e000000) :
				of_bits((b & 0x801fffffffffffffULL) | 0x7fc0ULL << 48);
	case TIES:
		/* few bits, far apart */
		return ldexp(b & 1 ? 1 : -1, (int)(b >> 8) % (single ? 30 : 60));
	case SPECIAL:
		if (b % 4)
			return of_bits(odd[b / 4 % 2 ? b / 8 % 2 : b / 8 % 9]);
		return (double)(int)(b >> 40);
	default:
		/* exponent and fraction at random, finite */
		if (single)
			return (b & 0x7f800000) == 0x7f800000 ? 1 : of_bits32((uint32_t)b);
		return (b & 0x7ff0ULL << 48) == 0x7ff0ULL << 48 ? 1 : of_bits(b);
	}
}

static void vector(int way, bool single, double *x, int n)
{
	int i, k;

	for (i = 0; i < n; i++)
		x[i] = number(way == CANCEL ? (int)(rnd() % 2) : way, single);
	/* each with its opposite, but for a few */
	for (i = 0; way == CANCEL && i + 1 < n; i += 2)
		x[i + 1] = rnd() % 8 ? -x[i] : x[i + 1];
	for (i = n - 1; i > 0; i--) {
		double t = x[i];

		k = rnd() % (i + 1);
		x[i] = x[k];
		x[k] = t;
	}
	for (i = 0; single && i < n; i++)
		x[i] = (float)x[i];
}

/* --- the sum as ranks do it ------------------------------------------------------ */

static unsigned long words_used;

static double exact_sum(const double *x, int n, bool single, int ranks)
{
	enum pw_exact_kind kind = single ? PW_EXACT_FLOAT : PW_EXACT_DOUBLE;
	uint64_t range[PW_EXACT_RANGE] = { 0 }, r[PW_EXACT_RANGE];
	uint64_t sum[PW_EXACT_WORDS] = { 0 }, w[PW_EXACT_WORDS];
	struct pw_exact_plan plan;
	unsigned int flags = 0;
	float f[RANKS_MAX], fs;
	double ds;
	int i, k;

	for (i = 0; i < n; i++) {
		f[i] = (float)x[i];
		pw_exact_range(kind, single ? (void *)&f[i] : (void *)&x[i], 1, r);
		for (k = 0; k < PW_EXACT_RANGE; k++)
			range[k] = r[k] > range[k] ? r[k] : range[k];
	}
	plan = pw_exact_plan(range, ranks);
	words_used += plan.words;
	for (i = 0; i < n; i++) {
		const void *v = single ? (void *)&f[i] : (void *)&x[i];

		flags |= pw_exact_flags(kind, v);
		pw_exact_split(&plan, kind, v, w);
		for (k = 0; k < plan.words; k++)
			sum[k] += w[k];
	}
	if (single) {
		pw_exact_join(&plan, kind, sum, flags, &fs);
		return fs;
	}
	pw_exact_join(&plan, kind, sum, flags, &ds);
	return ds;
}

static uint64_t image_of(double d)
{
	uint64_t b;

	if (isnan(d))
		return 0x7ff8ULL << 48;
	memcpy(&b, &d, 8);
	return b;
}

static bool same(double a, double b)
{
	return image_of(a) == image_of(b);
}

/* of the first sums of each way: double, float */
static const uint64_t digests[WAYS][2] = {
	{ 0x1c4d06f2100637eeULL, 0x6d0a38dd80000000ULL },
	{ 0x0f902c60bc1b0c56ULL, 0xf0b2117ba0000000ULL },
	{ 0x72bce468ed99b843ULL, 0x3a75d6f640000000ULL },
	{ 0x5522c4727fc1274eULL, 0x55d492f620000000ULL },
	{ 0xa5daa6f9f077257aULL, 0xffedf59d00000000ULL },
	{ 0x549cf92f3e1cfcfaULL, 0xeaf7d7d4e0000000ULL },
	{ 0x0b645ff70733a653ULL, 0x895e121060000000ULL },
};

static void sums(int way, bool single, unsigned long count)
{
	static struct plain plain;
	unsigned long v, wrong = 0;
	double x[RANKS_MAX], got, again, want;
	uint64_t digest = 0;
	int i, n;

	seed = 19 + way * 2 + single;
	words_used = 0;
	for (v = 0; v < count; v++) {
		/* mostly few ranks; up to 256 */
		n = rnd() % 16 ? 8 : RANKS_MAX;
		n = 1 + rnd() % n;
		vector(way, single, x, n);
		memset(&plain, 0, sizeof(plain));
		for (i = 0; i < n; i++)
			plain_add(&plain, x[i]);
		want = plain_sum(&plain, single ? 24 : 53, single ? 1074 - 149 : 0);
		got = exact_sum(x, n, single, n);
		/* words for more ranks, the other way round */
		for (i = 0; i < n / 2; i++) {
			double t = x[i];

			x[i] = x[n - 1 - i];
			x[n - 1 - i] = t;
		}
		again = exact_sum(x, n, single, PW_EXACT_RANKS);
		if (!same(got, want) || !same(again, want)) {
			if (!wrong)
				diag("%d numbers: %a and %a, not %a", n, got, again, want);
			wrong++;
		}
		if (v < DIGEST)
			digest = (digest ^ image_of(got)) * 0x100000001b3ULL;
	}
	is(wrong, 0, "%s, %s: %lu sums, %.1f words each", single ? "float" : "double",
	   way_name[way], count, (double)words_used / 2 / count);
	if (!ok(digest == digests[way][single], "the same bits as on other machines"))
		diag("digest %016llx", (unsigned long long)digest);
}

static void known(void)
{
	double tie[] = { 1, 0x1p-53, 0x1p-200 }, half[] = { 1, 0x1p-53 }, odd[] = { 1 + 0x1p-52, 0x1p-53 };
	double big[] = { 0x1.fffffffffffffp1023, 0x1p970 }, less[] = { 0x1.fffffffffffffp1023, 0x1p969 };
	double back[] = { 0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023 };
	double zero[] = { -0.0, -0.0 }, mixed[] = { -0.0, 0.0 }, gone[] = { 5, -5 };
	double inf[] = { INFINITY, 1, -7 }, both[] = { INFINITY, -INFINITY }, wide[] = { 0x1p1023, 0x1p-1074, -0x1p1023 };

	ok(same(exact_sum(half, 2, false, 2), 1), "a tie goes to even");
	ok(same(exact_sum(odd, 2, false, 2), 1 + 0x1p-51), "a tie goes to even, upward");
	ok(same(exact_sum(tie, 3, false, 3), 1 + 0x1p-52), "a little more than a tie");
	ok(same(exact_sum(big, 2, false, 2), INFINITY), "half a step above the largest overflows");
	ok(same(exact_sum(less, 2, false, 2), 0x1.fffffffffffffp1023), "less does not");
	ok(same(exact_sum(back, 3, false, 3), 0x1.fffffffffffffp1023), "sums on the way do not overflow");
	ok(same(exact_sum(zero, 2, false, 2), -0.0), "zeros, all of them negative");
	ok(same(exact_sum(mixed, 2, false, 2), 0.0), "zeros of both signs");
	ok(same(exact_sum(gone, 2, false, 2), 0.0), "a difference of zero");
	ok(same(exact_sum(inf, 3, false, 3), INFINITY), "an infinity");
	ok(isnan(exact_sum(both, 2, false, 2)), "infinities of both signs");
	ok(same(exact_sum(wide, 3, false, 3), 0x1p-1074), "the widest range");
}

/* --- ranks that guess ------------------------------------------------------------- */

#define GUESSERS 5
#define GUESS_COUNT 2
#define GUESS_ROOM 8

static pthread_barrier_t all_here;	/* ranks */
static pthread_barrier_t turn;		/* ranks, and the thread that has numbers for them */
static uint64_t brought[GUESSERS][GUESS_ROOM];
static double addend[GUESSERS][GUESS_COUNT];
static float faddend[GUESSERS][GUESS_COUNT];
static int rounds[GUESSERS];

struct guesser {
	int rank;
	bool single;
	unsigned long sums;
	struct pw_exact_guess guess;
	double out[GUESS_COUNT];
};

/* a round: @count words are combined, some at a time */
static int meet(void *arg, enum pw_exact_op op, uint64_t *words, long count, bool gets)
{
	const struct guesser *g = arg;
	uint64_t r;
	long from, i, n;
	int k;

	for (from = 0; from < count; from += n) {
		n = count - from < GUESS_ROOM ? count - from : GUESS_ROOM;
		memcpy(brought[g->rank], words + from, n * sizeof(*words));
		rounds[g->rank]++;
		pthread_barrier_wait(&all_here);
		for (i = 0; i < n; i++) {
			r = brought[0][i];
			for (k = 1; k < GUESSERS; k++) {
				uint64_t x = brought[k][i];

				r = op == PW_EXACT_ADD ? r + x : op == PW_EXACT_OR ? r | x :
				    r > x ? r : x;
			}
			if (gets)
				words[from + i] = r;
		}
		pthread_barrier_wait(&all_here);
	}
	return 0;
}

static void one_guess(struct guesser *g)
{
	float f[GUESS_COUNT];
	int i;

	if (!g->single) {
		pw_exact_sum(PW_EXACT_DOUBLE, addend[g->rank], g->out, GUESS_COUNT, GUESSERS,
			     &g->guess, meet, g);
		return;
	}
	pw_exact_sum(PW_EXACT_FLOAT, faddend[g->rank], f, GUESS_COUNT, GUESSERS, &g->guess, meet, g);
	for (i = 0; i < GUESS_COUNT; i++)
		g->out[i] = f[i];
}

static void *guesser(void *arg)
{
	struct guesser *g = arg;
	unsigned long v;

	for (v = 0; v < g->sums; v++) {
		pthread_barrier_wait(&turn);
		one_guess(g);
		pthread_barrier_wait(&turn);
	}
	return NULL;
}

/* a number of the size 2^@e; all of @way with some odds */
static double sized(int e, int way, bool single)
{
	double x = way < WAYS ? number(way, single) : ldexp((double)(rnd() >> 11), e - 53);

	x = rnd() & 1 ? -x : x;
	return single ? (float)x : x;
}

/*
 * Sums one after the other. Their size stays (@drift 0), or moves; one of @odd is of any numbers at
 * all, NaN, infinity and zeros of both signs among them.
 */
static void guesses(const char *name, bool single, int drift, int odd, unsigned long count,
		    double rounds_max)
{
	struct guesser g[GUESSERS];
	static struct plain plain;
	pthread_t thread[GUESSERS];
	unsigned long v, wrong = 0;
	int r, i, e = 3, way;
	double want;

	seed = 23;
	memset(rounds, 0, sizeof(rounds));
	memset(g, 0, sizeof(g));
	for (r = 0; r < GUESSERS; r++) {
		g[r].rank = r;
		g[r].single = single;
		g[r].sums = count;
		g[r].guess.room = GUESS_ROOM;
		pthread_create(&thread[r], NULL, guesser, &g[r]);
	}
	for (v = 0; v < count; v++) {
		way = odd && rnd() % odd == 0 ? (int)(rnd() % WAYS) : WAYS;
		e += drift ? (int)(rnd() % (2 * drift + 1)) - drift : 0;
		e = e < -60 || e > 60 ? 0 : e;
		for (r = 0; r < GUESSERS; r++) {
			for (i = 0; i < GUESS_COUNT; i++) {
				addend[r][i] = sized(e, way, single);
				faddend[r][i] = (float)addend[r][i];
			}
		}
		pthread_barrier_wait(&turn);
		pthread_barrier_wait(&turn);
		for (i = 0; i < GUESS_COUNT; i++) {
			memset(&plain, 0, sizeof(plain));
			for (r = 0; r < GUESSERS; r++)
				plain_add(&plain, addend[r][i]);
			want = plain_sum(&plain, single ? 24 : 53, single ? 1074 - 149 : 0);
			for (r = 0; r < GUESSERS; r++)
				wrong += !same(g[r].out[i], want);
		}
	}
	for (r = 0; r < GUESSERS; r++) {
		pthread_join(thread[r], NULL);
		wrong += g[r].guess.plan.low != g[0].guess.plan.low ||
			 g[r].guess.plan.words != g[0].guess.plan.words || rounds[r] != rounds[0];
	}
	is(wrong, 0, "guesses, %s: %lu sums of %s, %.2f rounds each", name, count,
	   single ? "floats" : "doubles", (double)rounds[0] / count);
	ok(rounds[0] <= rounds_max * count, "at most %.2f rounds each", rounds_max);
}

static void guessed_sums(void)
{
	unsigned long count = tap_scaled(20000) / 20 + 300;
	int i;

	pthread_barrier_init(&all_here, NULL, GUESSERS);
	pthread_barrier_init(&turn, NULL, GUESSERS + 1);
	for (i = 0; i < 2; i++) {
		guesses("of one size", i, 0, 0, count, 1.05);
		guesses("slowly moving", i, 1, 0, count, 1.2);
		guesses("moving", i, 12, 0, count, 1.5);
		guesses("and others", i, 0, 20, count, 1.6);
		guesses("of all kinds", i, 12, 2, count, 4);
	}
}

static void images(void)
{
	unsigned long i, count = tap_scaled(100000), bad = 0;
	double a, b, back;
	float f, g, fback;
	uint64_t x, y;

	seed = 7;
	for (i = 0; i < count; i++) {
		int way = rnd() % WAYS;
		bool max = i & 1;

		a = number(way, false);
		b = number(rnd() % WAYS, false);
		x = pw_exact_image(PW_EXACT_DOUBLE, &a, max);
		y = pw_exact_image(PW_EXACT_DOUBLE, &b, max);
		pw_exact_from_image(PW_EXACT_DOUBLE, x, max, &back);
		bad += !same(a, back);
		if (isnan(a) || isnan(b))
			bad += (isnan(a) && x != (max ? UINT64_MAX : 0)) ||
			       (!isnan(b) && (max ? x < y : x > y));
		else
			bad += a < b ? x >= y : a > b ? x <= y :
			       (x < y) != (signbit(a) && !signbit(b));
		f = (float)number(way, true);
		g = (float)number(rnd() % WAYS, true);
		x = pw_exact_image(PW_EXACT_FLOAT, &f, max);
		y = pw_exact_image(PW_EXACT_FLOAT, &g, max);
		pw_exact_from_image(PW_EXACT_FLOAT, x, max, &fback);
		bad += !same(f, fback);
		if (!isnan(f) && !isnan(g))
			bad += f < g ? x >= y : f > g ? x <= y : (x < y) != (signbit(f) && !signbit(g));
	}
	is(bad, 0, "images: %lu pairs in the order of their numbers, and back", count);
}

static int dump(unsigned long count)
{
	double x[RANKS_MAX];
	int i, n, way;

	seed = 4711;
	while (count--) {
		way = rnd() % (WAYS - 1);
		n = 1 + rnd() % 12;
		vector(way, false, x, n);
		printf("%a", exact_sum(x, n, false, n));
		for (i = 0; i < n; i++)
			printf(" %a", x[i]);
		putchar('\n');
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long count = tap_scaled(100000) / (2 * WAYS) + 1;
	int way;

	if (count < DIGEST)
		count = DIGEST;
	if (argc == 3 && !strcmp(argv[1], "dump"))
		return dump(strtoul(argv[2], NULL, 0));
	known();
	for (way = 0; way < WAYS; way++) {
		sums(way, false, count);
		sums(way, true, count);
	}
	guessed_sums();
	images();
	return tap_done();
}
