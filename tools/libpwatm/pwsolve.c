// SPDX-License-Identifier: GPL-2.0
/*
 * pwsolve: a linear system with one process per element of its matrix.
 *
 *	pwsolve [-i STATIONS] [-b BIAS] [-l LOG] [-w NS] [-r RATE] SYSTEM.csv
 *
 * Prints the triangulated system and the solution. Status 1: there is none.
 */
#include <math.h>

#include "prog.h"
#include "solve.h"

#define USAGE "usage: pwsolve " OPTIONS " SYSTEM.csv"

/* minus zero is zero to a reader */
static double plain(float v)
{
	return fabsf(v) < 0.0000005f ? 0 : v;
}

int main(int argc, char **argv)
{
	int at = options(argc, argv, USAGE);
	float *triangle, *x;
	int rows, cols, i, none = 0;
	struct atm_proc *t;
	struct atm_dev *dev;
	double *a;

	if (at + 1 != argc)
		die(USAGE);
	a = read_csv(argv[at], &rows, &cols);
	if (cols != rows + 1 || rows < 2)
		die("%s: %d rows of %d numbers are no system", argv[at], rows, cols);
	t = make_table(SOLVE_LEAD, SOLVE_ELEMENT, rows * cols);
	triangle = calloc(rows * cols + rows, sizeof(*triangle));
	if (!triangle)
		die("out of memory");
	x = triangle + rows * cols;
	dev = start(t, rows * cols, SOLVE_LOG(rows), solve_element);
	solve_lead(dev, rows, a, triangle, x);
	for (i = 0; i < rows * cols; i++)
		printf("%.6f%c", plain(triangle[i]), (i + 1) % cols ? ',' : '\n');
	for (i = 0; i < rows; i++) {
		if (isnan(x[i])) {
			printf("x%d,no solution\n", i + 1);
			none = 1;
		} else {
			printf("x%d,%.6f\n", i + 1, plain(x[i]));
		}
	}
	i = finish(dev, t);
	printf("operations,%u\n", operations);
	free(a);
	free(triangle);
	free(t);
	return i ? 2 : none;
}
