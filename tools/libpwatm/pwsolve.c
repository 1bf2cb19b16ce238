// SPDX-License-Identifier: GPL-2.0
/*
 * pwsolve: a linear system with one process per element of its matrix, as the
 * published example does it: triangulation row by row, values and pivots by
 * broadcast, then back substitution. Single precision.
 *
 *	pwsolve [-i STATIONS] [-b BIAS] SYSTEM.csv
 *
 * Prints the triangulated system and the solution. Status 1: there is none.
 */
#include <math.h>

#include "prog.h"

#define SRL "srl"
#define SRP "srp"

static long sends, receives;

static void bcast(struct atm_dev *dev, int type, float v)
{
	sends++;
	send_float(dev, SRP, ATM_ALL, type, v);
}

static void to(struct atm_dev *dev, int dst, int type, float v)
{
	sends++;
	send_float(dev, SRP, dst, type, v);
}

static float from(struct atm_dev *dev, int type)
{
	receives++;
	return recv_float(dev, type);
}

/*
 * The pivot is zero: the rows below show theirs in turn, and the first that is not
 * changes places with the pivot's row. Returns the new pivot, 0 if there is none.
 */
static float exchange(struct atm_dev *dev, int i, int n, int p, float *value)
{
	int v = (p - 1) * (n + 2), row = i / (n + 1), col = i % (n + 1), x, u, partner;
	float seen = 0;

	for (x = 1; x <= n - p; x++) {
		u = v + x * (n + 1);
		if (i == u) {
			bcast(dev, u, *value);
			seen = *value;
		} else {
			seen = from(dev, u);
		}
		if (seen != 0)
			break;
	}
	if (seen == 0)
		return 0;
	if (row == p - 1)
		partner = (p - 1 + x) * (n + 1) + col;
	else if (row == p - 1 + x)
		partner = (p - 1) * (n + 1) + col;
	else
		return seen;
	to(dev, partner, i, *value);
	*value = from(dev, partner);
	return seen;
}

/* element @i in step @p */
static void step(struct atm_dev *dev, int i, int n, int p, float *value)
{
	int v = (p - 1) * (n + 2), row = i / (n + 1), col = i % (n + 1), x = row - (p - 1);
	float pivot, up, left;

	if (row < p - 1 || col < p - 1)
		return;
	if (i == v) {
		bcast(dev, v, *value);
		if (*value == 0 && exchange(dev, i, n, p, value) == 0)
			return;
		bcast(dev, v, *value);
		return;
	}
	pivot = from(dev, v);
	if (pivot == 0) {
		pivot = exchange(dev, i, n, p, value);
		if (pivot == 0)
			return;
	}
	if (!x) {
		bcast(dev, i, *value);
		return;
	}
	/* in the pivot's column that is the pivot again */
	up = from(dev, i - x * (n + 1));
	if (col == p - 1) {
		bcast(dev, i, *value);
		left = *value;
	} else {
		left = from(dev, v + x * (n + 1));
	}
	*value -= left * up / pivot;
}

/* element @i in the back substitution: coefficients and results go to the last column */
static void back(struct atm_dev *dev, int i, int n, float value)
{
	int row = i / (n + 1) + 1, u = row * (n + 1) - 1, x = n - row, base = n * (n + 1), k;
	float a, r;

	if (i != u) {
		if (i >= u - x - 1)
			to(dev, u, i + base, value);
		return;
	}
	for (k = 1; k <= x; k++) {
		a = from(dev, u - x - 1 + k + base);
		r = from(dev, u + k * (n + 1) + base);
		value -= a * r;
	}
	a = from(dev, u - x - 1 + base);
	if (a != 0)
		value /= a;
	else
		value = value == 0 ? 1 : NAN;
	for (k = row - 1; k >= 1; k--)
		to(dev, k * (n + 1) - 1, u + base, value);
	send_float(dev, SRL, 0, u, value);
}

static void work(struct atm_dev *dev, int i)
{
	int32_t n, count[2];
	float value;
	int p;

	DO(atm_rcv_wait(dev, i, WAIT_MS));
	DO(atm_getnint(dev, &n, 1));
	DO(atm_getnfloat(dev, &value, 1));
	for (p = 1; p < n; p++)
		step(dev, i, n, p, &value);
	send_float(dev, SRL, 0, i, value);
	back(dev, i, n, value);
	count[0] = sends;
	count[1] = receives;
	DO(atm_initsend(dev));
	DO(atm_putnint(dev, count, 2));
	DO(atm_snd(dev, SRL, 0, 2 * n * (n + 1)));
}

/* minus zero is zero to a reader */
static double plain(float v)
{
	return fabsf(v) < 0.0000005f ? 0 : v;
}

int main(int argc, char **argv)
{
	int at = options(argc, argv, "usage: pwsolve [-i STATIONS] [-b BIAS] SYSTEM.csv");
	int rows, cols, i, none = 0, messages = 0;
	struct atm_proc *t;
	struct atm_dev *dev;
	int32_t n, count[2];
	double *a;
	float v;

	if (at + 1 != argc)
		die("usage: pwsolve [-i STATIONS] [-b BIAS] SYSTEM.csv");
	a = read_csv(argv[at], &rows, &cols);
	if (cols != rows + 1 || rows < 2)
		die("%s: %d rows of %d numbers are no system", argv[at], rows, cols);
	n = rows;
	t = make_table(SRL, SRP, rows * cols);
	dev = start(t, rows * cols, work);
	for (i = 0; i < rows * cols; i++) {
		v = a[i];
		DO(atm_initsend(dev));
		DO(atm_putnint(dev, &n, 1));
		DO(atm_putnfloat(dev, &v, 1));
		DO(atm_snd(dev, SRP, i, i));
	}
	for (i = 0; i < rows * cols; i++)
		printf("%.6f%c", plain(recv_float(dev, i)), (i + 1) % cols ? ',' : '\n');
	for (i = 0; i < rows; i++) {
		v = recv_float(dev, (i + 1) * cols - 1);
		if (isnan(v)) {
			printf("x%d,no solution\n", i + 1);
			none = 1;
		} else {
			printf("x%d,%.6f\n", i + 1, plain(v));
		}
	}
	for (i = 0; i < rows * cols; i++) {
		DO(atm_rcv_wait(dev, 2 * rows * cols, WAIT_MS));
		DO(atm_getnint(dev, count, 2));
		messages += count[0] + count[1];
	}
	printf("operations,%d\n", messages);
	free(a);
	i = finish(dev);
	free(t);
	return i ? 2 : none;
}
