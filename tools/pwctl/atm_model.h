/* SPDX-License-Identifier: GPL-2.0 */
/* Programs on libpwatm on the model of the fabric in user space, without stations. */
#ifndef ATM_MODEL_H
#define ATM_MODEL_H

#include "pwatm.h"

struct pw_fabric_params;
struct atm_model;

/*
 * What the fabric is like, and the cycle in which the program starts. @params NULL: no contention; a message takes the closed form, a
 * port segments one at a time, and receives at a port are @apart cycles apart. A cycle is
 * 1 ns. Without PW_FABRIC_F_SELF other processes at the port of a sender get its broadcasts
 * at once, and what is sent in a cycle enters the fabric after it, as in the module.
 */
struct atm_model *atm_model_new(const struct pw_fabric_params *params, uint32_t apart,
				unsigned int ports, uint64_t start);
/* the process @self of @table is @run(device, @arg) */
int atm_model_add(struct atm_model *m, const struct atm_proc *table, int procs, int self,
		  void (*run)(struct atm_dev *dev, void *arg), void *arg);
struct atm_dev *atm_model_dev(struct atm_model *m, int self);
/* until nothing happens; 0 if all processes have ended */
int atm_model_run(struct atm_model *m);
struct pw_fabric *atm_model_fabric(struct atm_model *m);
void atm_model_free(struct atm_model *m);

#endif
