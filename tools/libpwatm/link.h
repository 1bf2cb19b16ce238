/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the messages of libpwatm travel: by packet sockets (pwatm.c), or on the model of the
 * fabric in user space (tools/pwctl/atm_model.c). A program on the library does not know
 * which.
 */
#ifndef PWATM_LINK_H
#define PWATM_LINK_H

#include <stdbool.h>

#include "pwatm.h"

/*
 * @send: a frame of @len bytes with @bytes of data leaves; @port: where to, -1: all ports;
 *	@ns: virtual time at which it does, NULL: now
 * @wait: until atm_input() was called, @ms at most, -1: for ever; -ETIMEDOUT
 * @charge: the process computes for @ns of virtual time
 * @now: virtual time
 * @close: of the device
 */
struct atm_link {
	int (*send)(void *ctx, const uint8_t *frame, int len, int bytes, int port,
		    const uint64_t *ns);
	int (*wait)(void *ctx, int ms);
	void (*charge)(void *ctx, uint64_t ns);
	uint64_t (*now)(void *ctx);
	void (*close)(void *ctx);
};

int atm_open_link(struct atm_dev **dev, const struct atm_link *link, void *ctx, unsigned int ports,
		  uint32_t bias, const struct atm_proc *table, int procs, int self);
/* a frame has reached the device's port; @out: it was sent there. -ENOMEM */
int atm_input(struct atm_dev *dev, const uint8_t *frame, int len, bool out, uint64_t ns);

#endif
