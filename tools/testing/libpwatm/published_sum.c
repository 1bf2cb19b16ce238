// SPDX-License-Identifier: GPL-2.0
/*
 * A program in the published form: it uses the published names only. Process "mas" sends each
 * "wrk" a vector and a number, each answers with its sum, and all get the greatest one.
 */
#include "published.h"

#define WORK	1
#define SUM	2
#define BEST	3

void master_sends(struct atmdev *dev, struct atm_proc *table, int workers)
{
	int i, k, n;
	double v[5];

	for (i = 0; i < workers; i++) {
		n = 2 + i;
		for (k = 0; k < n; k++)
			v[k] = i + k * 0.5;
		atminitsend(dev);
		atmputnint(dev, &n, 1);
		atmputndfloat(dev, v, n);
		atmputstring(dev, "vector");
		atmsnd(dev, table, "wrk", i, WORK);
	}
}

void worker_adds(struct atmdev *dev, struct atm_proc *table, int instance)
{
	long place = instance;
	double v[5], sum = 0;
	char text[64];
	int k, n;

	atmrcv(dev, WORK);
	atmgetnint(dev, &n, 1);
	atmgetndfloat(dev, v, n);
	atmgetstring(dev, text);
	dev->rlcked = 0;
	if (strcmp(text, "vector"))
		return;
	for (k = 0; k < n; k++)
		sum += v[k];
	atminitsend(dev);
	atmputnlong(dev, &place, 1);
	atmputndfloat(dev, &sum, 1);
	atmsnd(dev, table, "mas", 0, SUM);
}

void master_chooses(struct atmdev *dev, struct atm_proc *table, int workers)
{
	double sum, best = 0;
	long place, at = -1;
	int i;

	for (i = 0; i < workers; i++) {
		atmrcv(dev, table, SUM);
		atmgetnlong(dev, &place, 1);
		atmgetndfloat(dev, &sum, 1);
		dev->rlcked = 0;
		if (at < 0 || sum > best) {
			best = sum;
			at = place;
		}
	}
	atminitsend(dev);
	atmputnlong(dev, &at, 1);
	atmputndfloat(dev, &best, 1);
	atmsnd(dev, table, "wrk", -1, BEST);
}

double worker_hears(struct atmdev *dev, struct atm_proc *table, long *at)
{
	double best;

	atmrcv(dev, table, BEST);
	atmgetnlong(dev, at, 1);
	atmgetndfloat(dev, &best, 1);
	dev->rlcked = 0;
	return best;
}
