/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fabric's model in user space, fed as the module feeds it: what the module
 * must deliver, when and in which order.
 */
#ifndef FABRIC_REF_H
#define FABRIC_REF_H

#include <stdbool.h>
#include <stdint.h>

struct ref_msg {
	uint64_t cycle;		/* arrival */
	int src;
	int dst;		/* -1: all */
	int len;
	int path;		/* -1: the unit's choice */
};

struct ref_out {
	uint64_t cycle;		/* delivery */
	int dst;
	int id;			/* which message */
};

struct ref_fault {
	unsigned int drop;	/* per million */
	unsigned int corrupt;
	uint32_t seed;
};

/* messages must be sorted by cycle; number of deliveries in order, -1: error */
int ref_run(const struct ref_msg *msg, int n, bool rtl, const struct ref_fault *fault,
	    struct ref_out *out, int max, uint64_t *resent);

#endif
