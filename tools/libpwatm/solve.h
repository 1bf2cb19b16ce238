/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A linear system with one process per element of its matrix, as the published example does
 * it: pwsolve runs it on stations, `pwctl experiment contention` on the model in user space.
 */
#ifndef PWATM_SOLVE_H
#define PWATM_SOLVE_H

#include "pwatm.h"

#define SOLVE_LEAD "srl"	/* instance 0 */
#define SOLVE_ELEMENT "srp"	/* instance: row * (n + 1) + column */

/* logged operations of n equations at most: 4n + 8 of each element, with exchanges */
#define SOLVE_LOG(n) ((n) * ((n) + 1) * (4 * (n) + 8))

/* element @i; ends when its part is done */
void solve_element(struct atm_dev *dev, int i);
/* the process that hands out the @n * (@n + 1) numbers of @a; a NAN in @x: no solution */
void solve_lead(struct atm_dev *dev, int n, const double *a, float *triangle, float *x);

#endif
