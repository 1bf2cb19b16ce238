/* SPDX-License-Identifier: GPL-2.0 */
/* pwctl experiment sweep: what its files share. */
#ifndef PWCTL_SWEEP_H
#define PWCTL_SWEEP_H

#include <limits.h>

#include "fabric/fabric.h"
#include "fabric/fabric_fault.h"
#include "fabric/fabric_param.h"
#include "messages.h"
#include "pwctl.h"
#include "topo_file.h"
#include "traffic.h"

#define SWEEP_VALUES	64		/* of one list */
#define SWEEP_PARAMS	16		/* room for the table of the core */
#define SWEEP_RUNS	100000
#define SWEEP_BINS	100		/* parts of a run, for the warm-up */
/*
 * Three of switches, and the ports. Of a topology: inputs that stations drive, then all other
 * inputs, then none.
 */
#define SWEEP_STAGES	(PW_BMX_STAGES + 1)

enum traffic { UNIFORM, TRANSPOSE, HOTSPOT, NEIGHBOUR, BURSTY, TRACE, MULTICAST, TRAFFICS };
enum sweep_engine { SWEEP_FAST, SWEEP_RTL, SWEEP_ENGINES };

extern const char *const traffic_name[TRAFFICS];
extern const char *const sweep_engine_name[SWEEP_ENGINES];

/* a list of values; one value: not varied */
struct axis {
	const char *name;
	uint32_t n;
	uint32_t v[SWEEP_VALUES];
};

/* order of the axes: machine, the parameters of the core's table, then these; first the faults */
enum { AXIS_MACHINE, AXIS_PARAM };
enum {
	BEHIND_FAULT, BEHIND_TOPOLOGY = BEHIND_FAULT + PW_FABRIC_FAULT_PARAMS, BEHIND_TRAFFIC,
	BEHIND_BYTES, BEHIND_LOAD, BEHIND
};

/* a topology: without @t the three-stage network, of @k or of the parameter k if it is 0 */
struct sweep_topo {
	char name[64];
	uint32_t k;
	struct pw_topo *t;
};
/* axes of a sweep of the ring */
enum {
	RING_BY, RING_COMMAND, RING_N, RING_PROPAGATION, RING_RELEASE, RING_WIDTH,
	RING_BITSUM, RING_STANDING, RING_GAP, RING_INTERVAL,
	RING_BYTES, RING_LOAD, RING_AXES
};

/* figures of a run on the ring */
enum {
	RF_TIME, RF_P99, RF_MAX, RF_WAIT, RF_BITS, RF_UTILISATION, RF_PASSIVE_TIME, RF_PASSIVE,
	RF_STANDING, RF_WAITING, RF_SATURATED, RF_WARMUP, RING_FIGURES
};

/* a list of names, else numbers from @min to @max */
struct ring_axis {
	const char *name;
	const char *const *names;
	uint32_t n;
	uint32_t min, max, value;	/* value: if the file sets none */
};

extern const struct ring_axis ring_axis[RING_AXES];
extern const char *const ring_figure_name[RING_FIGURES];

/**
 * struct sweep - what a file asks for
 * @name: title
 * @ring: of the ring instead of the fabric
 * @engine: enum sweep_engine
 * @axis: lists; @naxis of them
 * @topo: topologies, the values of their axis are indices
 * @fault_seed: the file has seeds of faults; otherwise the seed of a run is that of its faults
 * @seed: seeds; the innermost loop
 * @cycles: length of a run; ring: in bit times
 * @hotspot: messages to port 0 with traffic hotspot, in millionths
 * @burst: mean messages of a burst with traffic bursty
 * @trace: messages for traffic trace
 * @trace_path: the file that has them
 * @x: axis of the plots
 * @points: combinations of the lists
 */
struct sweep {
	char name[64];
	uint32_t ring;
	uint32_t engine;
	struct axis axis[AXIS_PARAM + SWEEP_PARAMS + BEHIND];
	uint32_t naxis;
	struct sweep_topo topo[SWEEP_VALUES];
	bool fault_seed;
	struct axis seed;
	uint32_t cycles;
	uint32_t hotspot;
	uint32_t burst;
	struct messages trace;
	char trace_path[PATH_MAX];
	uint32_t x;
	uint32_t points;
};

/* one combination */
struct point {
	struct pw_fabric_params p;
	struct pw_fabric_faults faults;
	uint32_t at[AXIS_PARAM + SWEEP_PARAMS + BEHIND];	/* index into each axis */
	enum traffic traffic;
	uint32_t bytes;
	uint32_t load;
	uint32_t topo;		/* index in struct sweep */
};

/**
 * struct result - what one run gives; whole numbers, so that a journal keeps all of it
 * @warmup: cycles before the window that is measured
 * @window: cycles of it
 * @offered: messages that came up in the window
 * @delivered: messages read in the window
 * @latency: sum of the cycles from coming up to the last get, over those messages
 * @p99: 99 of 100 were not slower
 * @worst: the slowest
 * @lost: messages that vanished unread, whole run; published machine only
 * @waiting: messages not yet in the fabric at the end
 * @fill: bytes in the queues of a stage of switches, summed over @samples
 * @samples: how often the queues were looked at
 * @refused: refusals of a stage in the window
 * @cells: cells that a stage accepted in the window
 * @ring: of the ring, where messages are reductions and cycles bit times: bit times of
 *	their packets, bit times with a packet, packets of the load, sum of their times, and runs of
 *	standing commands, in the window
 */
struct result {
	uint64_t warmup, window;
	uint64_t offered, delivered;
	uint64_t latency, p99, worst;
	uint64_t lost, waiting;
	union {
		struct {
			uint64_t fill[PW_BMX_STAGES], samples;
			uint64_t refused[SWEEP_STAGES], cells[SWEEP_STAGES];
		};
		struct {
			uint64_t bits, busy, passive, passive_time, standing;
		} ring;
	};
};

#define RESULT_WORDS (sizeof(struct result) / sizeof(uint64_t))

/* experiment.c */
FILE *plot_open(const char *svg, const char *title, const char *x, const char *y);
enum status plot_close(FILE *g, const char *svg);

/* sweep_file.c */
enum status sweep_read(const char *file, struct sweep *s);
void sweep_point(const struct sweep *s, uint32_t i, struct point *p);
/* text of value @i of an axis */
const char *axis_text(const struct sweep *s, uint32_t axis, uint32_t i, char *buf, size_t cap);
uint64_t sweep_hash(const struct sweep *s);
/* name of the topology of a point */
const char *topology_text(const struct sweep *s, const struct point *p, char *buf, size_t cap);

/* sweep_run.c */
int sweep_run(const struct sweep *s, const struct point *p, uint32_t seed, struct result *r);

uint32_t sweep_warm_up(const uint64_t *count, const uint64_t *sum);

/* sweep_ring.c */
int ring_run(const struct sweep *s, const struct point *p, uint32_t seed, struct result *r);
void ring_figures(const struct sweep *s, const struct point *p, const struct result *r, double *f);

/* sweep_out.c */
enum status sweep_write(const struct sweep *s, const struct result *r, const char *prefix);

/* sweep.c */
extern const struct word sweep_words[];
enum status exp_sweep(const struct verb *v, int argc, char **argv);

#endif
