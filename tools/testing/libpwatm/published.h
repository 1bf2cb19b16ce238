/* SPDX-License-Identifier: GPL-2.0 */
/* Between the program in the published form and the test that runs it. */
#ifndef PUBLISHED_H
#define PUBLISHED_H

#include <string.h>

#include "pwatm_published.h"

void master_sends(struct atmdev *dev, struct atm_proc *table, int workers);
void worker_adds(struct atmdev *dev, struct atm_proc *table, int instance);
void master_chooses(struct atmdev *dev, struct atm_proc *table, int workers);
double worker_hears(struct atmdev *dev, struct atm_proc *table, long *at);

#endif
