// SPDX-License-Identifier: GPL-2.0
/*
 * mpi_check COUNT [SEED]: random collectives, each done twice: by MPI_*, which a
 * library may have replaced, and by PMPI_*, which none has. Prints how many were
 * done and how many differed.
 *
 * mpi_check float COUNT [SEED]: random sums, minima and maxima of floating-point numbers.
 * Results must be those of all numbers together at one rank (exact.c), bit by bit; prints
 * how many differ from MPI's own, too, which depend on the order.
 *
 * mpi_check logic COUNT [SEED]: random logical operations, and minima and maxima with their
 * places, of all types that this MPI has for them, by MPI_* and by PMPI_*.
 *
 * mpi_check sums COUNT [SEED]: random sums of integers of 32 bits, which go to the ring two in a
 * word: the words of up to 256 ranks by one rank alone, then by MPI_* and by PMPI_*.
 *
 * mpi_check parts COUNT [SEED]: random collectives of small blocks (gather, scan, scatter of a
 * reduction), and some that do not wait, by MPI_* and by PMPI_*.
 *
 * mpi_check later COUNT [SEED [threads]]: random collectives that do not wait, some of them at once, in
 * communicators whose order differs from rank to rank, completed by all calls that there are, in
 * between messages; by MPI_* and by PMPI_*. "threads": with MPI_THREAD_MULTIPLE.
 *
 * mpi_check order: two collectives at once that do not wait, while rank 0 waits for a message that
 * rank 1 sends after the second one.
 *
 * mpi_check persistent: persistent forms, where this MPI has them.
 *
 * mpi_check counts: collectives whose count is an int at some ranks and an MPI_Count at others.
 *
 * mpi_check late: rank 0 is late in MPI_Finalize().
 *
 * mpi_check overlap COUNT: what MPI_Iallreduce and MPI_Wait cost a rank that computes in between,
 * beside MPI_Allreduce; see hidden().
 *
 * mpi_check time COUNT [u64|int|double [ELEMENTS]]: microseconds for one MPI_Allreduce, a sum
 * of one 8-byte integer or of those.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "exact.h"
#include "sum32.h"

#define MAX 4096

static uint64_t state;

/* the same at every rank */
static uint64_t rnd(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 2685821657736338717ULL;
}

/* element @i of rank @rank, and of the sum over @n ranks, in both buffers */
static void put(void *buf, const char *kind, int i, double x)
{
	if (!strcmp(kind, "int"))
		((int *)buf)[i] = x;
	else if (!strcmp(kind, "double"))
		((double *)buf)[i] = x;
	else
		((uint64_t *)buf)[i] = x;
}

static void timing(int count, const char *kind, int elements)
{
	MPI_Datatype t = !strcmp(kind, "int") ? MPI_INT : !strcmp(kind, "double") ? MPI_DOUBLE :
										 MPI_UINT64_T;
	static uint64_t in[MAX], out[MAX], want[MAX];
	int rank, n, i, size;
	double start = 0;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Type_size(t, &size);
	for (i = 0; i < elements; i++) {
		put(in, kind, i, (rank + 1) * (i + 1));
		put(want, kind, i, n * (n + 1) / 2 * (i + 1));
	}
	for (i = -10; i < count; i++) {
		if (!i)
			start = MPI_Wtime();
		MPI_Allreduce(in, out, elements, t, MPI_SUM, MPI_COMM_WORLD);
	}
	if (!rank)
		printf("allreduce of %d bytes, %d ranks: %.1f us, %s\n", elements * size, n,
		       (MPI_Wtime() - start) / count * 1e6,
		       memcmp(out, want, elements * size) ? "WRONG" : "right");
}

static void any_number(enum pw_exact_kind kind, int way, void *x)
{
	static const uint64_t odd[] = {
		0, 1ULL << 63, 0x7ff0ULL << 48, 0xfff0ULL << 48, 0x7ff8ULL << 48, 1,
	};
	uint64_t b = rnd();
	double d = (double)(int64_t)b / 1e15;
	float f;

	/* some of the whole range, some special; otherwise of about one size */
	if (way == 1)
		b = b % 2047 << 52 | b >> 12 | b << 63;
	else if (way == 2 && b % 3 == 0)
		b = odd[b / 3 % 6];
	else
		memcpy(&b, &d, 8);
	memcpy(&d, &b, 8);
	f = (float)d;
	memcpy(x, kind == PW_EXACT_FLOAT ? (void *)&f : (void *)&d, pw_exact_size(kind));
}

/* the sum or the extreme of number @k of all ranks */
static void together(enum pw_exact_kind kind, const char *all, int n, int count, int k, MPI_Op op,
		     void *result)
{
	uint64_t range[PW_EXACT_RANGE], r[PW_EXACT_RANGE] = { 0 };
	uint64_t sum[PW_EXACT_WORDS] = { 0 }, w[PW_EXACT_WORDS];
	uint64_t image, best = 0;
	int i, j, size = pw_exact_size(kind);
	struct pw_exact_plan plan;
	unsigned int flags = 0;
	const char *x;

	for (i = 0; i < n; i++) {
		x = all + ((long)i * count + k) * size;
		image = pw_exact_image(kind, x, op == MPI_MAX);
		if (!i || (op == MPI_MAX ? image > best : image < best))
			best = image;
		pw_exact_range(kind, x, 1, range);
		for (j = 0; j < PW_EXACT_RANGE; j++)
			r[j] = range[j] > r[j] ? range[j] : r[j];
	}
	if (op != MPI_SUM) {
		pw_exact_from_image(kind, best, op == MPI_MAX, result);
		return;
	}
	plan = pw_exact_plan(r, n);
	for (i = 0; i < n; i++) {
		x = all + ((long)i * count + k) * size;
		flags |= pw_exact_flags(kind, x);
		pw_exact_split(&plan, kind, x, w);
		for (j = 0; j < plan.words; j++)
			sum[j] += w[j];
	}
	pw_exact_join(&plan, kind, sum, flags, result);
}

static int floats(int rounds)
{
	const struct {
		MPI_Datatype t;
		enum pw_exact_kind kind;
		int parts;
	} types[] = {
		{ MPI_DOUBLE, PW_EXACT_DOUBLE, 1 }, { MPI_FLOAT, PW_EXACT_FLOAT, 1 },
		{ MPI_C_DOUBLE_COMPLEX, PW_EXACT_DOUBLE, 2 },
		{ MPI_C_FLOAT_COMPLEX, PW_EXACT_FLOAT, 2 },
	};
	static char in[512], out[512], plain[512], all[512 * 64];
	int i, k, rank, n, bad = 0, other = 0, sum[2], mine[2];
	MPI_Op ops[] = { MPI_SUM, MPI_MIN, MPI_MAX };
	uint64_t want;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (n > 64)
		return 1;
	for (i = 0; i < rounds; i++) {
		int ti = rnd() % 4, way = rnd() % 3, count = 1 + rnd() % 20, root = rnd() % n;
		bool to_all = rnd() % 2;
		MPI_Op op = ops[types[ti].parts > 1 ? 0 : rnd() % 3];
		enum pw_exact_kind kind = types[ti].kind;
		int size = pw_exact_size(kind), numbers = count * types[ti].parts;

		/* all ranks draw all numbers */
		for (k = 0; k < n * numbers; k++)
			any_number(kind, way, all + k * size);
		memcpy(in, all + (long)rank * numbers * size, (long)numbers * size);
		memset(out, 0, sizeof(out));
		if (to_all)
			MPI_Allreduce(in, out, count, types[ti].t, op, MPI_COMM_WORLD);
		else
			MPI_Reduce(in, out, count, types[ti].t, op, root, MPI_COMM_WORLD);
		PMPI_Allreduce(in, plain, count, types[ti].t, op, MPI_COMM_WORLD);
		if (!to_all && rank != root)
			continue;
		other += !!memcmp(plain, out, (long)numbers * size);
		for (k = 0; k < numbers; k++) {
			want = 0;
			together(kind, all, n, numbers, k, op, &want);
			if (!memcmp(&want, out + k * size, size))
				continue;
			fprintf(stderr, "rank %d: round %d, type %d, number %d of %d\n", rank, i,
				ti, k, numbers);
			bad++;
			break;
		}
	}
	mine[0] = bad;
	mine[1] = other;
	PMPI_Reduce(mine, sum, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("%d collectives of floating-point numbers, %d differ (from MPI's own: %d)\n",
		       rounds, sum[0], sum[1]);
	return bad != 0;
}

/* numbers whose sums carry often: of one kind of a few */
static uint32_t any32(int way)
{
	uint64_t x = rnd();

	return way == 0 ? x : way == 1 ? UINT32_MAX - x % 2 : way == 2 ? x % 2 << 31 :
	       way == 3 ? (x & 255) - 128 : 1U << x % 32;
}

/* sums of @n ranks by words that are added as on the ring; how many are wrong? */
static int sums_of_words(int n, int count, int way)
{
	uint32_t in[70], out[70], want[70] = { 0 };
	uint64_t w[80], sum[80] = { 0 };
	long i, words = pw_sum32_words(n, count);
	int rank, bad = 0;

	for (rank = 0; rank < n; rank++) {
		for (i = 0; i < count; i++) {
			in[i] = any32(way);
			want[i] += in[i];
		}
		pw_sum32_pack(n, in, w, count);
		for (i = 0; i < words; i++)
			sum[i] += w[i];
	}
	pw_sum32_unpack(n, sum, out, count);
	for (i = 0; i < count; i++)
		bad += out[i] != want[i];
	for (i = 2; i < 80; i++)
		bad += pw_sum32_words(n, pw_sum32_most(n, 70, i)) > i;
	return bad;
}

static int sums(int rounds)
{
	const MPI_Datatype types[] = { MPI_INT, MPI_UNSIGNED, MPI_INT32_T, MPI_UINT32_T };
	static uint32_t in[MAX], a[MAX], b[MAX];
	int i, k, n, rank, bad = 0, sum, count, way, root;
	uint64_t seed = state;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (i = 1; i <= 256 && !rank; i++)
		for (way = 0; way < 5; way++)
			bad += sums_of_words(i, 1 + (5 * i + way) % 70, way);
	state = seed;
	if (bad)
		fprintf(stderr, "%d sums of words are wrong\n", bad);
	for (i = 0; i < rounds; i++) {
		MPI_Datatype t = types[rnd() % 4];

		count = 1 + rnd() % (rnd() % 4 ? 80 : 1200);
		way = rnd() % 5;
		root = rnd() % n;
		/* what a rank draws is its own, what all draw next is not */
		for (k = 0; k < count * n; k++) {
			uint32_t x = any32(way);

			if (k / count == rank)
				in[k % count] = x;
		}
		memcpy(a, in, sizeof(a));
		way = rnd() % 3;
		if (way == 0)
			MPI_Allreduce(in, a, count, t, MPI_SUM, MPI_COMM_WORLD);
		else if (way == 1)
			MPI_Reduce(in, a, count, t, MPI_SUM, root, MPI_COMM_WORLD);
		else
			MPI_Allreduce(MPI_IN_PLACE, a, count, t, MPI_SUM, MPI_COMM_WORLD);
		PMPI_Allreduce(in, b, count, t, MPI_SUM, MPI_COMM_WORLD);
		if ((way == 1 && rank != root) || !memcmp(a, b, count * sizeof(*a)))
			continue;
		fprintf(stderr, "rank %d: round %d, way %d, %d integers\n", rank, i, way, count);
		bad++;
	}
	PMPI_Allreduce(&bad, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%d sums of integers of 32 bits, %d differ\n", rounds, sum);
	return sum != 0;
}

struct logic_type {
	MPI_Datatype t;
	char value, index;	/* i: integer, f: floating-point number; of a pair, else 0 */
	int at;			/* where the index is */
};

/* few values, so that several ranks have the extreme one; zeros of both signs are among them */
static void any_pair(const struct logic_type *t, int size, char *x)
{
	int at = t->at, wide = size - (t->index == 'f' ? size / 2 : 4);
	int64_t value = (int64_t)(rnd() % 5) - 2;
	int index = (int)(rnd() % 7) - 3;
	double d = rnd() % 4 ? (double)value : -0.0;
	float f = (float)d;

	if (t->value == 'f')
		memcpy(x, wide == 4 ? (void *)&f : (void *)&d, wide);
	else
		memcpy(x, &value, wide);
	d = f = index;
	if (t->index == 'f')
		memcpy(x + at, wide == 4 ? (void *)&f : (void *)&d, wide);
	else
		memcpy(x + at, &index, 4);
}

static double part_of(char kind, int size, const char *x)
{
	int64_t l = 0;
	double d;
	float f;
	short s;
	int i;

	memcpy(&d, x, 8);
	memcpy(&f, x, 4);
	memcpy(&l, x, 8);
	memcpy(&i, x, 4);
	memcpy(&s, x, 2);
	if (kind == 'f')
		return size == 4 ? f : d;
	return size == 2 ? s : size == 4 ? i : (double)l;
}

static int logic(int rounds)
{
	struct { long v; int i; } l;
	const struct logic_type types[] = {
		{ MPI_INT, 0, 0, 0 }, { MPI_SIGNED_CHAR, 0, 0, 0 }, { MPI_UINT16_T, 0, 0, 0 },
		{ MPI_INT64_T, 0, 0, 0 }, { MPI_UNSIGNED_LONG, 0, 0, 0 }, { MPI_C_BOOL, 0, 0, 0 },
		{ MPI_LOGICAL, 0, 0, 0 }, { MPI_BYTE, 0, 0, 0 },
		{ MPI_2INT, 'i', 'i', 4 }, { MPI_SHORT_INT, 'i', 'i', 4 },
		{ MPI_LONG_INT, 'i', 'i', (char *)&l.i - (char *)&l }, { MPI_FLOAT_INT, 'f', 'i', 4 },
		{ MPI_DOUBLE_INT, 'f', 'i', 8 }, { MPI_2INTEGER, 'i', 'i', 4 },
		{ MPI_2REAL, 'f', 'f', 4 }, { MPI_2DOUBLE_PRECISION, 'f', 'f', 8 },
	};
	const MPI_Op logical[] = { MPI_LAND, MPI_LOR, MPI_LXOR }, bits[] = { MPI_BAND, MPI_BOR };
	const MPI_Op loc[] = { MPI_MINLOC, MPI_MAXLOC };
	static char in[16 * 256], a[16 * 256], b[16 * 256];
	int i, k, j, rank, n, bad = 0, sum;
	MPI_Comm half;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Comm_split(MPI_COMM_WORLD, rank * 2 / n, -rank, &half);
	for (i = 0; i < rounds; i++) {
		const struct logic_type *t = &types[rnd() % 16];
		MPI_Comm c = rnd() % 3 ? MPI_COMM_WORLD : half;
		int count = 1 + rnd() % (rnd() % 8 ? 20 : 200), size, wide, me, way = rnd() % 3;
		uint64_t pick = rnd(), draws[2] = { state, rnd() };
		MPI_Op op = t->value ? loc[pick % 2] : t->t == MPI_BYTE ? bits[pick % 2] :
			    logical[pick % 3];
		MPI_Aint low, extent;
		int index;

		MPI_Type_size(t->t, &size);
		MPI_Type_get_extent(t->t, &low, &extent);
		index = t->index == 'f' ? size / 2 : 4;
		wide = size - index;
		memset(in, 0, sizeof(in));
		/* what a rank draws is its own, what all draw next is not */
		state = draws[1] * (2 * rank + 3) | 1;
		for (k = 0; k < count; k++) {
			if (t->value)
				any_pair(t, size, in + k * extent);
			else if (t->t == MPI_BYTE)
				in[k] = rnd() >> 16;
			else if (pick >> 8 & 1 ? rnd() % 4 : !(rnd() % 8))
				in[k * size + (t->t == MPI_LOGICAL || t->t == MPI_C_BOOL ? 0 :
					       rnd() % size)] = 1;
		}
		state = draws[0];
		memcpy(a, in, sizeof(a));
		memset(b, 0, sizeof(b));
		PMPI_Allreduce(in, b, count, t->t, op, c);
		PMPI_Comm_rank(c, &me);
		if (way == 0)
			MPI_Allreduce(in, a, count, t->t, op, c);
		else if (way == 1)
			MPI_Reduce(in, a, count, t->t, op, 0, c);
		else
			MPI_Allreduce(MPI_IN_PLACE, a, count, t->t, op, c);
		if (way == 1 && me)
			continue;
		for (k = 0; k < count; k++) {
			char *x = a + k * extent, *y = b + k * extent;
			bool same;

			/* a pair has bytes that mean nothing; both zeros are one number */
			same = !memcmp(x, y, size);
			if (t->value)
				same = part_of(t->value, wide, x) == part_of(t->value, wide, y) &&
				       part_of(t->index, index, x + t->at) ==
				       part_of(t->index, index, y + t->at);
			if (same)
				continue;
			fprintf(stderr, "rank %d: round %d, type %d, operation %d, element %d of %d:",
				rank, i, (int)(t - types), (int)(pick % 3), k, count);
			for (j = 0; j < extent; j++)
				fprintf(stderr, " %02x:%02x", x[j] & 0xff, y[j] & 0xff);
			fputc('\n', stderr);
			bad++;
			break;
		}
	}
	MPI_Comm_free(&half);
	PMPI_Allreduce(&bad, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%d logical operations and places, %d differ\n", rounds, sum);
	return sum != 0;
}

/* one collective of @what, by both */
#define BOTH(call_a, call_b) do { MPI_##call_a; PMPI_##call_b; } while (0)

static int parts(int rounds)
{
	MPI_Datatype types[] = {
		MPI_INT, MPI_SIGNED_CHAR, MPI_UINT16_T, MPI_INT64_T, MPI_FLOAT, MPI_C_BOOL,
	};
	MPI_Op ops[] = { MPI_SUM, MPI_MIN, MPI_MAX, MPI_BOR, MPI_PROD };
	static char in[8 * 1024], a[8 * 1024], b[8 * 1024];
	int i, k, rank, n, bad = 0, sum, counts[64];
	MPI_Comm half, c;
	MPI_Request r;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (n > 64)
		return 1;
	MPI_Comm_split(MPI_COMM_WORLD, rank * 2 / n, -rank, &half);
	for (i = 0; i < rounds; i++) {
		int ti = rnd() % 6, oi = rnd() % 5, what = rnd() % 8, count = rnd() % 4;
		int world = rnd() % 4, place = rnd() % 3, me, len, size, root;
		uint64_t mix = rnd();
		MPI_Datatype t = types[ti];
		MPI_Op op = t == MPI_C_BOOL ? MPI_LOR : t == MPI_FLOAT ? MPI_MAX : ops[oi];
		const void *from = in, *from_b = in;

		count += rnd() % 10 ? !count : 20;
		c = world ? MPI_COMM_WORLD : half;
		MPI_Comm_rank(c, &me);
		MPI_Comm_size(c, &len);
		MPI_Type_size(t, &size);
		root = mix % len;
		for (k = 0; k < (int)sizeof(in); k++)
			in[k] = t == MPI_C_BOOL ? mix * (rank + k) >> 9 & 1 :
				t == MPI_FLOAT ? (mix * (rank + k) >> 9) % 60 :
				(char)(mix * (k + 1) * (rank * 7 + 3) >> 11);
		memset(a, 0x55, sizeof(a));
		memset(b, 0x55, sizeof(b));
		/* in place: operands are where the result is to be */
		if (!place && (what > 1 || (what == 1 && me == root))) {
			memcpy(a, in, sizeof(a));
			memcpy(b, in, sizeof(b));
			from = MPI_IN_PLACE;
			from_b = MPI_IN_PLACE;
		}
		for (k = 0; k < len; k++)
			counts[k] = (mix >> k % 32 & 3) % 3;
		switch (what) {
		case 0:
			BOTH(Allgather(in, count, t, a, count, t, c),
			     Allgather(in, count, t, b, count, t, c));
			break;
		case 1:
			BOTH(Gather(from, count, t, a, count, t, root, c),
			     Gather(from_b, count, t, b, count, t, root, c));
			break;
		case 2:
			BOTH(Scan(from, a, count, t, op, c), Scan(from_b, b, count, t, op, c));
			break;
		case 3:
			BOTH(Exscan(from, a, count, t, op, c), Exscan(from_b, b, count, t, op, c));
			/* rank 0 has no result */
			if (!me)
				memcpy(a, b, sizeof(a));
			break;
		case 4:
			BOTH(Reduce_scatter_block(from, a, count, t, op, c),
			     Reduce_scatter_block(from_b, b, count, t, op, c));
			break;
		case 5:
			BOTH(Reduce_scatter(from, a, counts, t, op, c),
			     Reduce_scatter(from_b, b, counts, t, op, c));
			break;
		case 6:
			MPI_Iallreduce(from, a, count, t, op, c, &r);
			/* one that waits, while the other one is under way */
			MPI_Barrier(c);
			MPI_Wait(&r, MPI_STATUS_IGNORE);
			PMPI_Allreduce(from_b, b, count, t, op, c);
			break;
		default:
			BOTH(Allgather(from, count, t, a, count, t, c),
			     Allgather(from_b, count, t, b, count, t, c));
		}
		/* what is left in place of operands means nothing */
		if (from == MPI_IN_PLACE && (what == 4 || what == 5))
			k = (what == 4 ? count : counts[me]) * size;
		else
			k = sizeof(a);
		if (!memcmp(a, b, k))
			continue;
		fprintf(stderr, "rank %d: round %d, kind %d, type %d, operation %d, count %d of %d\n",
			rank, i, what, ti, oi, count, len);
		bad++;
	}
	MPI_Comm_free(&half);
	PMPI_Allreduce(&bad, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%d collectives of small blocks, %d differ\n", rounds, sum);
	return sum != 0;
}

#define LATER	4	/* at once */

/* one that does not wait */
struct later {
	int what, count, size, me, root, place;
	MPI_Datatype t;
	MPI_Op op;
	MPI_Comm c;
	int counts[64];
	char in[64 * 8], a[64 * 8], b[64 * 8];
};

static void draw_later(struct later *l, const MPI_Comm *comms, int at)
{
	const MPI_Datatype types[] = {
		MPI_INT, MPI_SIGNED_CHAR, MPI_UINT16_T, MPI_INT64_T, MPI_DOUBLE, MPI_C_BOOL,
		MPI_2INT, MPI_FLOAT,
	};
	const MPI_Op ops[] = { MPI_SUM, MPI_MIN, MPI_MAX, MPI_BOR, MPI_BAND, MPI_LXOR };
	int ti = rnd() % 8, oi = rnd() % 6, k, len, rank;
	uint64_t mix = rnd();

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	l->what = rnd() % 10;
	/* mostly one round, now and then more; blocks of up to 16 ranks */
	l->count = 1 + rnd() % (l->what > 3 ? 3 : rnd() % 8 ? 4 : 40);
	l->place = rnd() % 3;
	l->c = comms[at];
	l->t = types[ti];
	l->op = ti == 5 ? MPI_LOR : ti == 6 ? MPI_MINLOC : ti == 4 || ti == 7 ? MPI_MAX : ops[oi];
	MPI_Comm_rank(l->c, &l->me);
	MPI_Comm_size(l->c, &len);
	MPI_Type_size(l->t, &l->size);
	for (k = 0; k < len; k++)
		l->counts[k] = (l->count + k) % 3;
	l->root = mix % len;
	for (k = 0; k < (int)sizeof(l->in); k++)
		l->in[k] = ti == 5 ? mix * (rank + k) >> 9 & 1 :
			   ti == 4 || ti == 7 ? (mix * (rank + k) >> 9) % 60 :
			   (char)(mix * (k + 1) * (rank * 7 + 3) >> 11);
	memset(l->a, 0x55, sizeof(l->a));
	memset(l->b, 0x55, sizeof(l->b));
	/* in place, of a gather at the root only */
	l->place = !l->place && l->what > 3 && (l->what != 5 || l->me == l->root);
	if (l->what == 2 || l->place) {
		memcpy(l->a, l->in, sizeof(l->a));
		memcpy(l->b, l->in, sizeof(l->b));
	}
}

static void start_later(struct later *l, MPI_Request *r)
{
	const void *in = l->place ? MPI_IN_PLACE : l->in;
	MPI_Datatype pair;

	switch (l->what) {
	case 0:
		MPI_Iallreduce(l->in, l->a, l->count, l->t, l->op, l->c, r);
		break;
	case 1:
		MPI_Ireduce(l->in, l->a, l->count, l->t, l->op, l->root, l->c, r);
		break;
	case 2:
		/* a type that is gone when the collective ends */
		MPI_Type_contiguous(l->count, l->t, &pair);
		MPI_Type_commit(&pair);
		MPI_Ibcast(l->a, 1, pair, l->root, l->c, r);
		MPI_Type_free(&pair);
		break;
	case 3:
		MPI_Ibarrier(l->c, r);
		break;
	case 4:
		MPI_Type_contiguous(l->count, l->t, &pair);
		MPI_Type_commit(&pair);
		MPI_Iallgather(in, l->count, l->t, l->a, 1, pair, l->c, r);
		MPI_Type_free(&pair);
		break;
	case 5:
		MPI_Igather(in, l->count, l->t, l->a, l->count, l->t, l->root, l->c, r);
		break;
	case 6:
		MPI_Iscan(in, l->a, l->count, l->t, l->op, l->c, r);
		break;
	case 7:
		MPI_Iexscan(in, l->a, l->count, l->t, l->op, l->c, r);
		break;
	case 8:
		MPI_Ireduce_scatter_block(in, l->a, l->count, l->t, l->op, l->c, r);
		break;
	default:
		MPI_Ireduce_scatter(in, l->a, l->counts, l->t, l->op, l->c, r);
	}
}

/* what it should have given; as many differ */
static int check_later(struct later *l, int round)
{
	const void *in = l->place ? MPI_IN_PLACE : l->in;
	int bytes = sizeof(l->a);

	switch (l->what) {
	case 0:
		PMPI_Allreduce(l->in, l->b, l->count, l->t, l->op, l->c);
		break;
	case 1:
		PMPI_Reduce(l->in, l->b, l->count, l->t, l->op, l->root, l->c);
		break;
	case 2:
		PMPI_Bcast(l->b, l->count, l->t, l->root, l->c);
		break;
	case 4:
		PMPI_Allgather(in, l->count, l->t, l->b, l->count, l->t, l->c);
		break;
	case 5:
		PMPI_Gather(in, l->count, l->t, l->b, l->count, l->t, l->root, l->c);
		break;
	case 6:
		PMPI_Scan(in, l->b, l->count, l->t, l->op, l->c);
		break;
	case 7:
		PMPI_Exscan(in, l->b, l->count, l->t, l->op, l->c);
		/* rank 0 has no result */
		bytes = l->me ? bytes : 0;
		break;
	case 8:
		PMPI_Reduce_scatter_block(in, l->b, l->count, l->t, l->op, l->c);
		/* what is left in place of operands means nothing */
		bytes = l->place ? l->count * l->size : bytes;
		break;
	case 9:
		PMPI_Reduce_scatter(in, l->b, l->counts, l->t, l->op, l->c);
		bytes = l->place ? l->counts[l->me] * l->size : bytes;
		break;
	}
	if ((l->what == 1 && l->me != l->root) || !memcmp(l->a, l->b, bytes))
		return 0;
	fprintf(stderr, "round %d, kind %d, count %d, size %d\n", round, l->what, l->count, l->size);
	return 1;
}

/* all of @n requests by one of the calls that complete them */
static void complete_later(MPI_Request *r, int n, int how)
{
	MPI_Status s[LATER + 1];
	int i, index, flag = 0, some[LATER + 1];

	switch (how) {
	case 0:
		for (i = 0; i < n; i++)
			MPI_Wait(&r[i], MPI_STATUS_IGNORE);
		break;
	case 1:
		MPI_Waitall(n, r, s);
		break;
	case 2:
		for (i = 0; i < n; i++)
			MPI_Waitany(n, r, &index, s);
		break;
	case 3:
		for (i = 0; i < n; i += index)
			MPI_Waitsome(n, r, &index, some, s);
		break;
	case 4:
		while (!flag)
			MPI_Testall(n, r, &flag, MPI_STATUSES_IGNORE);
		break;
	case 5:
		for (i = n - 1; i >= 0; i--)
			for (flag = 0; !flag;)
				MPI_Test(&r[i], &flag, s);
		break;
	case 6:
		for (i = 0; i < n; i += flag)
			MPI_Testany(n, r, &index, &flag, s);
		break;
	default:
		for (i = 0; i < n; i++)
			for (flag = 0; !flag;)
				MPI_Request_get_status(r[i], &flag, s);
		for (i = 0; i < n; i += index)
			MPI_Testsome(n, r, &index, some, s);
	}
}

static int later(int rounds)
{
	static struct later l[LATER];
	MPI_Request r[LATER + 1];
	int i, k, n, rank, ranks, first, bad = 0, sum, token, dice;
	MPI_Comm comms[3];

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	comms[0] = MPI_COMM_WORLD;
	MPI_Comm_split(MPI_COMM_WORLD, rank * 2 / ranks, -rank, &comms[1]);
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
	/* to have a ring is to have had a collective */
	MPI_Barrier(comms[1]);
	MPI_Barrier(comms[2]);
	for (i = 0; i < rounds; i++) {
		n = 1 + rnd() % LATER;
		dice = rnd() % 8;
		for (k = 0; k < n; k++)
			draw_later(&l[k], comms, n < 3 ? (int)(rnd() % 3) : k % 3);
		/* communicators in another order at each rank, if each has one collective */
		first = n <= 3 && rnd() % 2 ? rank % n : 0;
		for (k = 0; k < n && first; k++)
			first = l[k].c == l[(k + 1) % n].c && n > 1 ? 0 : first;
		for (k = 0; k < n; k++)
			start_later(&l[(first + k) % n], &r[(first + k) % n]);
		/* collectives that wait, and a message, are in between */
		if (dice & 1)
			MPI_Barrier(comms[dice % 3]);
		token = rank;
		if (dice & 2) {
			MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % ranks, 7,
					     (rank + ranks - 1) % ranks, 7, MPI_COMM_WORLD,
					     MPI_STATUS_IGNORE);
			bad += token != (rank + ranks - 1) % ranks;
		}
		/* one of MPI's own is among them */
		MPI_Irecv(&token, 1, MPI_INT, (rank + 1) % ranks, 8, MPI_COMM_WORLD, &r[n]);
		MPI_Send(&rank, 1, MPI_INT, (rank + ranks - 1) % ranks, 8, MPI_COMM_WORLD);
		complete_later(r, n + 1, (i + rank) % 8);
		bad += token != (rank + 1) % ranks;
		for (k = 0; k <= n; k++)
			bad += r[k] != MPI_REQUEST_NULL;
		for (k = 0; k < n; k++)
			bad += check_later(&l[k], i);
	}
	MPI_Comm_free(&comms[1]);
	MPI_Comm_free(&comms[2]);
	PMPI_Allreduce(&bad, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%d times some collectives that do not wait, %d differ\n", rounds, sum);
	return sum != 0;
}

static int order(void)
{
	int rank, n, one = 1, a = 0, b = 0, token = 0;
	MPI_Request r[2];

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	/* rank 1 begins when rank 0 has begun both */
	if (rank == 1)
		MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Iallreduce(&one, &a, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[0]);
	MPI_Iallreduce(&rank, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[1]);
	if (!rank) {
		MPI_Send(&one, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	if (rank == 1)
		MPI_Send(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("two at once and a message: %s\n",
		       a == n && b == n * (n - 1) / 2 ? "right" : "WRONG");
	return 0;
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

#define COMPUTE_MAX	0.001	/* seconds */

/* compute for so many seconds of this thread's own time */
static void compute(double time)
{
	double end = seconds(CLOCK_THREAD_CPUTIME_ID) + time;

	while (seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

#define LATE	0.001	/* seconds */

/*
 * Time in the calls of a collective, without what the clock takes. *@pure: from call to return of
 * MPI_Allreduce. *@exposed: of the rank's own thread in MPI_Iallreduce, and in MPI_Wait after it
 * has computed for longer than pure. Rank 0 computes for @late seconds before it calls. Wrong
 * results are counted.
 */
static int calls(int count, double late, double *pure, double *exposed)
{
	int i, rank, n, bad = 0;
	uint64_t in, out, want;
	double t = 0, look;
	MPI_Request r;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	*pure = 0;
	*exposed = 0;
	look = seconds(CLOCK_THREAD_CPUTIME_ID);
	for (i = 0; i < count; i++)
		t = seconds(CLOCK_THREAD_CPUTIME_ID);
	look = (t - look) / count;
	for (i = -10; i < count; i++) {
		in = rank + i;
		if (!rank)
			compute(late);
		t = seconds(CLOCK_MONOTONIC);
		MPI_Allreduce(&in, &out, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
		if (i >= 0)
			*pure += (seconds(CLOCK_MONOTONIC) - t) / count;
	}
	for (i = -10; i < count; i++) {
		in = rank + i;
		want = (uint64_t)n * i + n * (n - 1) / 2;
		PMPI_Barrier(MPI_COMM_WORLD);
		if (!rank)
			compute(late);
		t = seconds(CLOCK_THREAD_CPUTIME_ID);
		MPI_Iallreduce(&in, &out, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &r);
		t -= seconds(CLOCK_THREAD_CPUTIME_ID) - look;
		/* on a busy machine a collective takes as long as the others have the CPU */
		compute(*pure < COMPUTE_MAX / 2 ? 2 * *pure : COMPUTE_MAX);
		t += seconds(CLOCK_THREAD_CPUTIME_ID) + look;
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		t -= seconds(CLOCK_THREAD_CPUTIME_ID);
		if (i >= 0)
			*exposed -= t / count;
		bad += out != want;
	}
	return bad;
}

/*
 * How much of a collective is hidden behind what a rank computes, all ranks at once and with one
 * that is late, as counted by calls(). And how often the result was there at the first question
 * after all ranks had begun, without a call of MPI since: that depends on no clock.
 */
static int hidden(int count)
{
	int i, rank, n, flag, there = 0, bad, got[2], sum[2];
	double mine[4], all[4];
	uint64_t in, out;
	MPI_Request r;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	bad = calls(count, 0, &mine[0], &mine[1]);
	bad += calls(count, LATE, &mine[2], &mine[3]);
	/* the late one waits for no other */
	if (!rank)
		mine[2] = mine[3] = 0;
	for (i = 0; i < count; i++) {
		in = rank + i;
		out = 0;
		MPI_Iallreduce(&in, &out, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &r);
		PMPI_Barrier(MPI_COMM_WORLD);
		MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
		there += flag;
		if (!flag)
			MPI_Wait(&r, MPI_STATUS_IGNORE);
		bad += out != (uint64_t)n * i + n * (n - 1) / 2;
	}
	got[0] = there;
	got[1] = bad;
	PMPI_Reduce(mine, all, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	PMPI_Reduce(got, sum, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank) {
		printf("iallreduce of 8 bytes, %d ranks: pure %.1f us, exposed %.1f us, overlap %.1f %%; ",
		       n, all[0] / n * 1e6, all[1] / n * 1e6, 100 * (1 - all[1] / all[0]));
		printf("a rank is late: pure %.1f us, exposed %.1f us, overlap %.1f %%; ",
		       all[2] / (n - 1) * 1e6, all[3] / (n - 1) * 1e6, 100 * (1 - all[3] / all[2]));
		printf("%.1f %% there at the first test, %d wrong\n", 100.0 * sum[0] / count / n, sum[1]);
	}
	return bad != 0;
}

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define MANY 24

/* all ten persistent forms, started beside one that does not wait, by each rank in another order */
static int persistent_forms(int rank, int n)
{
	int i, k, x[4], counts[64], in[64], out[10][64], sum = 0, bad = 0;
	const int one = 1;
	const MPI_Comm c = MPI_COMM_WORLD;
	const MPI_Info no = MPI_INFO_NULL;
	MPI_Datatype pair;
	MPI_Request r[11];

	for (i = 0; i < 64; i++)
		counts[i] = 1;
	counts[n - 1] = 2;
	/* the program's type goes before the first start; the gap between its parts stays as it is */
	MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
	MPI_Type_commit(&pair);
	MPI_Barrier_init(c, no, &r[0]);
	MPI_Bcast_init(x, 1, pair, n - 1, c, no, &r[1]);
	MPI_Type_free(&pair);
	MPI_Allreduce_init(in, out[2], 1, MPI_INT, MPI_SUM, c, no, &r[2]);
	MPI_Reduce_init(in, out[3], 1, MPI_INT, MPI_MAX, 0, c, no, &r[3]);
	MPI_Scan_init(in, out[4], 1, MPI_INT, MPI_SUM, c, no, &r[4]);
	MPI_Exscan_init(in, out[5], 1, MPI_INT, MPI_SUM, c, no, &r[5]);
	MPI_Reduce_scatter_block_init(in, out[6], 1, MPI_INT, MPI_SUM, c, no, &r[6]);
	MPI_Allgather_init(in, 1, MPI_INT, out[7], 1, MPI_INT, c, no, &r[7]);
	MPI_Gather_init(in, 1, MPI_INT, out[8], 1, MPI_INT, 0, c, no, &r[8]);
	MPI_Reduce_scatter_init(in, out[9], counts, MPI_INT, MPI_MAX, c, no, &r[9]);
	for (i = 0; i < 4; i++) {
		memset(out, 0, sizeof(out));
		for (k = 0; k < 64; k++)
			in[k] = (i + 1) * (rank + k);
		for (k = 0; k < 4; k++)
			x[k] = rank == n - 1 || k % 2 ? 77 + i + k : -1;
		if (i % 2)
			MPI_Startall(10, r);
		for (k = 0; k < 10 && !(i % 2); k++)
			MPI_Start(&r[(k * 3 + rank + i) % 10]);
		MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c, &r[10]);
		if (i < 2)
			MPI_Waitall(11, r, MPI_STATUSES_IGNORE);
		else
			MPI_Waitall(2, r + 9, MPI_STATUSES_IGNORE);
		/* MPI_Waitany() of MPICH 4.0 finds one of its own again and again */
		for (k = 0; k < 9 && i >= 2; k++)
			MPI_Waitany(9, r, &(int) { 0 }, MPI_STATUS_IGNORE);
		for (k = 0; k < 4; k++)
			bad += x[k] != (k < 3 || rank == n - 1 || k % 2 ? 77 + i + k : -1);
		bad += sum != n || out[2][0] != (i + 1) * n * (n - 1) / 2 ||
		       out[4][0] != (i + 1) * rank * (rank + 1) / 2 ||
		       (rank && out[5][0] != (i + 1) * rank * (rank - 1) / 2) ||
		       out[6][0] != (i + 1) * (n * (n - 1) / 2 + n * rank) ||
		       out[9][0] != (i + 1) * (n - 1 + rank) ||
		       (rank == n - 1 && out[9][1] != (i + 1) * (n + rank));
		for (k = 0; k < n; k++)
			bad += out[7][k] != (i + 1) * k;
		bad += !rank && out[3][0] != (i + 1) * (n - 1);
		/* MPICH 4.0 itself leaves the result of a gather as it was */
		for (k = 0; k < n && !rank && getenv("PW_SHM_RING"); k++)
			bad += out[8][k] != (i + 1) * k;
	}
	for (i = 0; i < 10; i++)
		MPI_Request_free(&r[i]);
	return bad;
}

/* more than there are group bits for, in a communicator that is freed first, again and again */
static int persistent_many(int rank, int n)
{
	int i, k, flag, bad = 0;
	int64_t in[MANY][2], out[MANY][2];
	MPI_Request r[MANY];
	MPI_Comm c;

	for (i = 0; i < 3; i++) {
		MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &c);
		for (k = 0; k < MANY; k++)
			MPI_Allreduce_init(in[k], out[k], 2, MPI_INT64_T, k % 2 ? MPI_SUM : MPI_MAX, c,
					   MPI_INFO_NULL, &r[k]);
		for (k = 0; k < MANY; k++) {
			in[k][0] = (int64_t)rank << 33 | k;
			in[k][1] = -rank - k;
		}
		for (k = 0; k < MANY; k++)
			MPI_Start(&r[(k * 5 + rank * 7) % MANY]);
		/* MPI_Testall() of MPICH 5.0 fails for persistent collectives of its own */
		for (k = 0; k < MANY; k += flag)
			MPI_Test(&r[(k * 7 + rank) % MANY], &flag, MPI_STATUS_IGNORE);
		for (k = 0; k < MANY; k++)
			bad += k % 2 ? out[k][0] != ((int64_t)n * (n - 1) / 2 << 33) + n * k ||
				       out[k][1] != -n * (n - 1) / 2 - n * k :
				       out[k][0] != ((int64_t)(n - 1) << 33 | k) || out[k][1] != -k;
		MPI_Comm_free(&c);
		for (k = 0; k < MANY; k++)
			MPI_Request_free(&r[(k * 11 + rank) % MANY]);
	}
	return bad;
}
#endif

static int persistent(void)
{
#ifdef MANY
	int rank, n, bad, total;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	bad = persistent_forms(rank, n) + persistent_many(rank, n);
	PMPI_Allreduce(&bad, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("persistent collectives, %d differ\n", total);
	return total;
#else
	printf("this MPI has no persistent collectives\n");
	return 0;
#endif
}

static int counts(void)
{
#if MPI_VERSION >= 4
	int i, rank, n, in[64], out[9][64], bad = 0, total;
	const MPI_Comm c = MPI_COMM_WORLD;
	const MPI_Info no = MPI_INFO_NULL;
	MPI_Request r[3];
	/* has no meaning where it is given */
	const MPI_Count any = (MPI_Count)1 << 40;

	MPI_Comm_rank(c, &rank);
	MPI_Comm_size(c, &n);
	for (i = 0; i < 64; i++)
		in[i] = rank + i;
	memset(out, 0, sizeof(out));
	out[6][0] = rank ? 0 : 5;
	out[8][rank] = rank;
	if (rank % 2) {
		MPI_Allreduce_c(in, out[0], 1, MPI_INT, MPI_SUM, c);
		MPI_Reduce_c(in, out[1], 1, MPI_INT, MPI_MAX, 0, c);
		MPI_Scan_c(in, out[2], 1, MPI_INT, MPI_SUM, c);
		MPI_Exscan_c(in, out[3], 1, MPI_INT, MPI_SUM, c);
		MPI_Reduce_scatter_block_c(in, out[4], 1, MPI_INT, MPI_SUM, c);
		MPI_Gather_c(in, 1, MPI_INT, NULL, any, MPI_INT, 0, c);
		MPI_Ibcast_c(out[6], 1, MPI_INT, 0, c, &r[0]);
		MPI_Iallreduce_c(in, out[7], 1, MPI_INT, MPI_SUM, c, &r[1]);
		MPI_Allgather_init_c(MPI_IN_PLACE, any, MPI_INT, out[8], 1, MPI_INT, c, no, &r[2]);
	} else {
		MPI_Allreduce(in, out[0], 1, MPI_INT, MPI_SUM, c);
		MPI_Reduce(in, out[1], 1, MPI_INT, MPI_MAX, 0, c);
		MPI_Scan(in, out[2], 1, MPI_INT, MPI_SUM, c);
		MPI_Exscan(in, out[3], 1, MPI_INT, MPI_SUM, c);
		MPI_Reduce_scatter_block(in, out[4], 1, MPI_INT, MPI_SUM, c);
		MPI_Gather(in, 1, MPI_INT, out[5], 1, MPI_INT, 0, c);
		MPI_Ibcast(out[6], 1, MPI_INT, 0, c, &r[0]);
		MPI_Iallreduce(in, out[7], 1, MPI_INT, MPI_SUM, c, &r[1]);
		MPI_Allgather_init(MPI_IN_PLACE, 0, MPI_INT, out[8], 1, MPI_INT, c, no, &r[2]);
	}
	MPI_Start(&r[2]);
	MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
	MPI_Request_free(&r[2]);
	bad = out[0][0] != n * (n - 1) / 2 || (!rank && out[1][0] != n - 1) ||
	      out[2][0] != rank * (rank + 1) / 2 || (rank && out[3][0] != rank * (rank - 1) / 2) ||
	      out[4][0] != n * (n - 1) / 2 + n * rank || out[6][0] != 5 ||
	      out[7][0] != n * (n - 1) / 2;
	for (i = 0; i < n; i++)
		bad |= (!rank && out[5][i] != i) || out[8][i] != i;
	PMPI_Allreduce(&bad, &total, 1, MPI_INT, MPI_SUM, c);
	if (!rank)
		printf("counts of two types, %d differ\n", total);
	return total;
#else
	printf("this MPI has no counts of another type\n");
	return 0;
#endif
}

static int wait_long(MPI_Comm comm, int key, void *val, void *extra)
{
	sleep(1);
	return MPI_SUCCESS;
}

/* rank 0 is late within MPI_Finalize(): attributes of MPI_COMM_SELF are deleted there first */
static void late(void)
{
	int key, rank, one = 1, sum;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, wait_long, &key, NULL);
	if (!rank)
		MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%d ranks, one of them late\n", sum);
}

/* an allreduce that is like the last one takes a shorter way to the ring; how many differ */
static int repeats(int rank)
{
	const MPI_Datatype types[] = {
		MPI_SIGNED_CHAR, MPI_UINT8_T, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT, MPI_UNSIGNED,
		MPI_INT64_T, MPI_UINT64_T,
	};
	const MPI_Op ops[] = { MPI_SUM, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_LXOR };
	unsigned char in[64], a[64], b[64];
	int i, k, count, bad = 0;
	uint64_t mix;

	for (i = 0; i < 8 * 6 * 3; i++) {
		mix = rnd();
		for (k = 0; k < (int)sizeof(in); k++)
			in[k] = mix * (k + 1) * (rank * 7 + 3) >> 11;
		/* three of a kind */
		count = 1 + i / 3 % 2 * 4;
		memset(a, 0x55, sizeof(a));
		memset(b, 0x55, sizeof(b));
		PMPI_Allreduce(in, b, count, types[i / 18], ops[i / 3 % 6], MPI_COMM_WORLD);
		MPI_Allreduce(in, a, count, types[i / 18], ops[i / 3 % 6], MPI_COMM_WORLD);
		if (memcmp(a, b, sizeof(a))) {
			bad++;
			fprintf(stderr, "rank %d: repeated allreduce %d differs\n", rank, i);
		}
	}
	return bad;
}

int main(int argc, char **argv)
{
	static char in[MAX * 8], a[MAX * 8], b[MAX * 8];
	MPI_Datatype types[] = {
		MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_SHORT, MPI_UNSIGNED_SHORT,
		MPI_SIGNED_CHAR, MPI_UINT8_T, MPI_INT64_T, MPI_UINT64_T, MPI_DOUBLE,
	};
	MPI_Op ops[] = { MPI_SUM, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_PROD };
	MPI_Comm comm[6], short_lived;
	int rank, n, i, k, rounds, bad = 0, all;

	/* Open MPI's sums with AVX stop at the largest number of 8 and 16 bits, all others wrap */
	setenv("OMPI_MCA_op", "^avx", 0);
	if (argc > 4 && !strcmp(argv[4], "threads"))
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &k);
	else
		MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (argc > 2 && !strcmp(argv[1], "time")) {
		k = argc > 4 ? atoi(argv[4]) : 1;
		timing(atoi(argv[2]), argc > 3 ? argv[3] : "u64", k > 0 && k <= MAX ? k : 1);
		MPI_Finalize();
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "float")) {
		state = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
		bad = floats(atoi(argv[2]));
		MPI_Finalize();
		return bad;
	}
	if (argc > 2 && !strcmp(argv[1], "sums")) {
		state = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
		bad = sums(atoi(argv[2]));
		MPI_Finalize();
		return bad;
	}
	if (argc > 2 && (!strcmp(argv[1], "logic") || !strcmp(argv[1], "parts"))) {
		state = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
		bad = *argv[1] == 'l' ? logic(atoi(argv[2])) : parts(atoi(argv[2]));
		MPI_Finalize();
		return bad;
	}
	if (argc > 2 && !strcmp(argv[1], "later")) {
		state = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
		bad = later(atoi(argv[2]));
		MPI_Finalize();
		return bad;
	}
	if (argc > 2 && !strcmp(argv[1], "overlap")) {
		bad = hidden(atoi(argv[2]));
		MPI_Finalize();
		return bad;
	}
	if (argc > 1 && !strcmp(argv[1], "order")) {
		bad = order();
		MPI_Finalize();
		return bad;
	}
	if (argc > 1 && !strcmp(argv[1], "persistent")) {
		bad = persistent();
		MPI_Finalize();
		return bad;
	}
	if (argc > 1 && !strcmp(argv[1], "counts")) {
		bad = counts();
		MPI_Finalize();
		return bad;
	}
	if (argc > 1 && !strcmp(argv[1], "late")) {
		late();
		MPI_Finalize();
		return 0;
	}
	rounds = argc > 1 ? atoi(argv[1]) : 200;
	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	comm[0] = MPI_COMM_WORLD;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm[2]);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm[3]);
	MPI_Comm_split(MPI_COMM_WORLD, rank * 2 / n, -rank, &comm[4]);
	MPI_Comm_split(MPI_COMM_WORLD, !rank, rank, &comm[5]);

	bad = repeats(rank);
	for (i = 0; i < rounds; i++) {
		int ti = rnd() % 11, oi = rnd() % 6, ci = rnd() % 6;
		MPI_Datatype t = types[ti];
		MPI_Op op = ops[oi];
		MPI_Comm c = comm[ci];
		/* mostly few, now and then very many */
		int count = rnd() % 20 ? 1 + rnd() % 20 : 1 + rnd() % (rnd() % 4 ? 200 : MAX);
		int what = rnd() % 4, root, size, len, me;
		uint64_t mix = rnd();

		/* communicators come and go */
		if (!(rnd() % 8)) {
			uint64_t sum = 0, want, one = rank + 1;

			MPI_Comm_split(MPI_COMM_WORLD, (rank ^ i) % 3, rank, &short_lived);
			MPI_Allreduce(&one, &sum, 1, MPI_UINT64_T, MPI_SUM, short_lived);
			PMPI_Allreduce(&one, &want, 1, MPI_UINT64_T, MPI_SUM, short_lived);
			bad += sum != want;
			MPI_Comm_free(&short_lived);
		}
		MPI_Comm_size(c, &len);
		MPI_Comm_rank(c, &me);
		root = 0;
		/* parts of the world differ in size, but each has a rank 0 */
		if (ci < 3)
			root = rnd() % len;
		MPI_Type_size(t, &size);
		if (t == MPI_DOUBLE) {
			op = MPI_MAX;
			for (k = 0; k < count; k++)
				((double *)in)[k] = (double)((mix >> k % 8) * (rank + 1) % 1000);
		} else {
			for (k = 0; k < count * size; k++)
				in[k] = mix * (k + 1) * (rank * 7 + 3) >> 11;
		}
		memset(a, 0x55, sizeof(a));
		memset(b, 0x55, sizeof(b));
		switch (what) {
		case 0:
			PMPI_Allreduce(in, b, count, t, op, c);
			if (rnd() % 2) {
				memcpy(a, in, count * size);
				MPI_Allreduce(MPI_IN_PLACE, a, count, t, op, c);
			} else {
				MPI_Allreduce(in, a, count, t, op, c);
			}
			break;
		case 1:
			PMPI_Reduce(in, b, count, t, op, root, c);
			MPI_Reduce(in, a, count, t, op, root, c);
			/* only the root's counts */
			if (me != root) {
				memset(a, 0, sizeof(a));
				memset(b, 0, sizeof(b));
			}
			break;
		case 2:
			memcpy(a, in, count * size);
			memcpy(b, in, count * size);
			PMPI_Bcast(b, count, t, root, c);
			MPI_Bcast(a, count, t, root, c);
			break;
		default:
			MPI_Barrier(c);
		}
		if (memcmp(a, b, sizeof(a))) {
			bad++;
			for (k = 0; a[k] == b[k]; k++)
				;
			fprintf(stderr,
				"rank %d: round %d, kind %d, type %d, operation %d, communicator %d, "
				"count %d, root %d: byte %d is %02x, not %02x; in:", rank, i, what, ti,
				oi, ci, count, root, k, a[k] & 0xff, b[k] & 0xff);
			for (k = k / size * size, len = k + size; k < len; k++)
				fprintf(stderr, " %02x:%02x:%02x", in[k] & 0xff, a[k] & 0xff,
					b[k] & 0xff);
			fputc('\n', stderr);
		}
	}
	PMPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%d collectives, %d differ\n", rounds, all);
	MPI_Finalize();
	return all != 0;
}
