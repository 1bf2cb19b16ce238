// SPDX-License-Identifier: GPL-2.0
/*
 * pwmatmul: product of two matrices with one process per element of both. Elements
 * of B are broadcast, those of A multiply; the first of each row of A adds.
 *
 *	pwmatmul [-i STATIONS] [-b BIAS] [-l LOG] [-w NS] [-r RATE] A.csv B.csv
 */
#include "prog.h"

#define MML "mml"
#define MMP "mmp"
#define USAGE "usage: pwmatmul " OPTIONS " A.csv B.csv"

static float from(struct atm_dev *dev, int type)
{
	float v = recv_float(dev, type);

	atm_note(dev, 0, type, 0);
	return v;
}

static void work(struct atm_dev *dev, int i)
{
	int32_t size[3];
	int m, p, n, j, k;
	float value, sum;

	DO(atm_rcv_wait(dev, i, WAIT_MS));
	DO(atm_getnint(dev, size, 3));
	DO(atm_getnfloat(dev, &value, 1));
	m = size[0];
	p = size[1];
	n = size[2];
	if (i >= m * p) {
		atm_note(dev, 1, i, ATM_ALL);
		send_float(dev, MMP, ATM_ALL, i, value);
		return;
	}
	for (j = 0; j < n; j++) {
		sum = value * from(dev, m * p + n * (i % p) + j);
		if (i % p) {
			atm_note(dev, 1, i, i - i % p);
			send_float(dev, MMP, i - i % p, i, sum);
			continue;
		}
		for (k = 1; k < p; k++)
			sum += from(dev, i + k);
		send_float(dev, MML, 0, i, sum);
	}
}

int main(int argc, char **argv)
{
	int at = options(argc, argv, USAGE);
	int m, p, p2, n, i, j;
	struct atm_proc *t;
	struct atm_dev *dev;
	int32_t size[3];
	double *a, *b;
	float v;

	if (at + 2 != argc)
		die(USAGE);
	a = read_csv(argv[at], &m, &p);
	b = read_csv(argv[at + 1], &p2, &n);
	if (p != p2)
		die("%s has %d columns, %s %d rows", argv[at], p, argv[at + 1], p2);
	size[0] = m;
	size[1] = p;
	size[2] = n;
	t = make_table(MML, MMP, m * p + p * n);
	/* sends of all, receives of A */
	dev = start(t, m * p + p * n, m * p * n * (2 + p) + p * n, work);
	for (i = 0; i < m * p + p * n; i++) {
		v = i < m * p ? a[i] : b[i - m * p];
		DO(atm_initsend(dev));
		DO(atm_putnint(dev, size, 3));
		DO(atm_putnfloat(dev, &v, 1));
		DO(atm_snd(dev, MMP, i, i));
	}
	for (i = 0; i < m; i++)
		for (j = 0; j < n; j++)
			printf("%g%c", recv_float(dev, i * p), j + 1 < n ? ',' : '\n');
	free(a);
	free(b);
	i = finish(dev, t);
	free(t);
	return i;
}
