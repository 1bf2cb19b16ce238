/* SPDX-License-Identifier: GPL-2.0 */
/* A POETS application: its graph, and the processes that run it. */
#ifndef PWCTL_POETS_H
#define PWCTL_POETS_H

#include "packetway_poets.h"
#include "pwctl.h"

#define POETS_DIMS 3

struct poets_out_edge {
	uint32_t to;		/* device */
	uint32_t edge;		/* index at its pin */
	uint8_t pin;		/* of that device */
	int64_t weight;
};

struct poets_out_pin {
	struct poets_out_edge *e;
	uint32_t n;
};

struct poets_in_pin {
	int64_t *weight;
	uint32_t n;
};

struct app_type {
	const char *name;
	const struct poets_type *t;	/* handlers */
	const char **in, **out;		/* names of pins */
	int nin, nout;
	json_t *properties;
};

/* devices of one entry of the file */
struct app_array {
	const char *name;
	struct app_type *type;
	int dims;			/* 0: a single device */
	uint32_t shape[POETS_DIMS];
	uint32_t first, n;		/* devices */
	json_t *properties;
};

struct app_device {
	struct poets_device d;		/* first: handlers get a pointer to it */
	struct app_array *array;
	int station;			/* -1: not placed yet */
	uint32_t local;			/* address at its softswitch */
	struct poets_in_pin *in;
	struct poets_out_pin *out;
};

struct app_station {
	const char *name;		/* as in the file */
	char netns[128];		/* "": that of pwctl */
	char dev[IFNAMSIZ];
	uint32_t addr;			/* hardware address */
	uint32_t *device;		/* local address to device */
	uint32_t n;
};

struct app {
	const char *file;
	json_t *root;
	char *handlers;			/* path of the shared object */
	const struct poets_app *code;
	uint8_t task;
	uint32_t interval;		/* of reports, in milliseconds */
	uint32_t timeout;		/* seconds; 0: none */
	bool quiet;			/* stop when no packet is left */
	json_t *properties;
	struct app_type *type;
	int ntypes;
	struct app_array *array;
	int narrays;
	struct app_device *device;
	uint32_t ndevices;
	uint64_t nedges;
	struct app_station *station;
	int nstations;
	int mothership;			/* station */
};

/* what a softswitch says when asked, and when it ends */
struct poets_tally {
	uint64_t running;	/* 1: the barrier is open */
	uint64_t sent;		/* packets for devices, from devices */
	uint64_t handled;	/* packets that handlers have seen */
	uint64_t to_supervisor;	/* packets for it */
	uint64_t lost;		/* packets that found the queue full */
	uint64_t dropped;	/* refused by the softswitch */
};

extern struct app poets;

/* poets_app.c */
enum status app_load(struct app *a, const char *file);
/* poets_switch.c: the process of a station; does not return */
void switch_run(struct app *a, int station, int ctl) __attribute__((noreturn));

#endif
