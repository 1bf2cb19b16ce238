// SPDX-License-Identifier: GPL-2.0
/*
 * The linear system: triangulation row by row, values and pivots by broadcast, then back
 * substitution. Single precision. Operations between elements are noted in the log.
 */
#include <math.h>

#include "prog.h"
#include "solve.h"

static void bcast(struct atm_dev *dev, int type, float v)
{
	atm_note(dev, 1, type, ATM_ALL);
	send_float(dev, SOLVE_ELEMENT, ATM_ALL, type, v);
}

static void to(struct atm_dev *dev, int dst, int type, float v)
{
	atm_note(dev, 1, type, dst);
	send_float(dev, SOLVE_ELEMENT, dst, type, v);
}

static float from(struct atm_dev *dev, int type)
{
	float v = recv_float(dev, type);

	atm_note(dev, 0, type, 0);
	return v;
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
	send_float(dev, SOLVE_LEAD, 0, u, value);
}

void solve_element(struct atm_dev *dev, int i)
{
	int32_t n;
	float value;
	int p;

	DO(atm_rcv_wait(dev, i, WAIT_MS));
	DO(atm_getnint(dev, &n, 1));
	DO(atm_getnfloat(dev, &value, 1));
	for (p = 1; p < n; p++)
		step(dev, i, n, p, &value);
	send_float(dev, SOLVE_LEAD, 0, i, value);
	back(dev, i, n, value);
}

void solve_lead(struct atm_dev *dev, int n, const double *a, float *triangle, float *x)
{
	int count = n * (n + 1), i;
	int32_t rows = n;
	float v;

	for (i = 0; i < count; i++) {
		v = (float)a[i];
		DO(atm_initsend(dev));
		DO(atm_putnint(dev, &rows, 1));
		DO(atm_putnfloat(dev, &v, 1));
		DO(atm_snd(dev, SOLVE_ELEMENT, i, i));
	}
	for (i = 0; i < count; i++)
		triangle[i] = recv_float(dev, i);
	for (i = 0; i < n; i++)
		x[i] = recv_float(dev, (i + 1) * (n + 1) - 1);
}
