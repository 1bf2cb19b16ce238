/* SPDX-License-Identifier: GPL-2.0 */
/* Topologies of a fabric by name or from a file. */
#ifndef PW_TOPO_FILE_H
#define PW_TOPO_FILE_H

#include <jansson.h>
#include <stdio.h>

#include "fabric/topo.h"

/* outputs of a route in a file, at most */
#define TOPO_FILE_HOPS	PW_TOPO_LEVELS

/*
 * Plan, checked, of a name such as torus:4x4 or of a YAML file; the caller frees it. NULL: a
 * sentence in @why.
 */
struct pw_topo_plan *topo_file_plan(const char *what, char *why, size_t cap);

/* the topology of it; the caller frees it */
struct pw_topo *topo_file_load(const char *what, char *why, size_t cap);

/*
 * k of clos:KxKxK, which a fabric has without a topology and runs fastest so; 0 for all others.
 */
u32 topo_file_stages(const char *what);

/*
 * The topology for a picture: topology (@name), ports, switches, switch-ports; for each station the
 * input that it drives (in), for each output the input that it drives (peer; -1: none, -2 - s:
 * station s). Cells that pass all switches in one direction: the column of each (columns).
 */
json_t *topo_file_json(const struct pw_topo *t, const char *name);

/* is it such an object, with numbers that fit together? */
bool topo_file_json_good(const json_t *j);

/* the plan as a file */
void topo_file_print(const struct pw_topo_plan *p, FILE *f);

#endif
