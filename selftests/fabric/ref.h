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
	int conn;		/* 1 + n: to the members of connection n; 0: to dst */
};

/* a multicast connection */
struct ref_conn {
	int from;
	uint32_t to;		/* bit p: port p */
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
	uint32_t resend;	/* cycles until a lost cell is sent again; 0: default */
};

/* topology of the following runs, by the name of a generator; NULL: 16 ports. Ports, -1: error */
int ref_topology(const char *name);
/* the same with connections */
int ref_multicast(const char *name, const struct ref_conn *conn, int n);
/* cells that a stage of the last run has taken in, behind the last one those of the ports */
uint64_t ref_cells(int stage);
/* stages, without the ports */
int ref_stages(void);
/* paths between two ports */
int ref_paths(void);

/* messages must be sorted by cycle; number of deliveries in order, -1: error */
int ref_run(const struct ref_msg *msg, int n, bool rtl, const struct ref_fault *fault,
	    struct ref_out *out, int max, uint64_t *resent);

#endif
