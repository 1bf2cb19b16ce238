/* SPDX-License-Identifier: GPL-2.0 */
/* A generated topology by its name, in memory of its own. */
#ifndef TOPO_MAKE_H
#define TOPO_MAKE_H

#include <stdio.h>
#include <stdlib.h>
#include "fabric/topo.h"

/* plan of a generated topology, not checked; NULL with @why */
static inline struct pw_topo_plan *topo_plan(const char *name, struct pw_topo_fault *why)
{
	struct pw_topo_sizes z;
	struct pw_topo_spec spec;
	struct pw_topo_plan *p;
	void *mem;

	if (pw_topo_parse(name, &spec, why) || pw_topo_gen_sizes(&spec, &z, why))
		return NULL;
	mem = malloc(pw_topo_plan_size(&z));
	if (!mem)
		abort();
	p = pw_topo_plan_init(mem, &z);
	pw_topo_gen(p, &spec);
	return p;
}

/* topology of a plan, which is freed; NULL with @why */
static inline struct pw_topo *topo_of(struct pw_topo_plan *p, struct pw_topo_fault *why)
{
	struct pw_topo *t = NULL;
	void *mem;

	if (!pw_topo_check(p, why)) {
		mem = malloc(pw_topo_size(p));
		if (!mem)
			abort();
		t = pw_topo_make(mem, p);
	}
	free(p);
	return t;
}

static inline struct pw_topo *topo_make(const char *name)
{
	struct pw_topo_fault why;
	struct pw_topo_plan *p = topo_plan(name, &why);
	struct pw_topo *t = p ? topo_of(p, &why) : NULL;
	char text[256];

	if (!t) {
		pw_topo_text(&why, text, sizeof(text));
		printf("# %s: %s\n", name, text);
	}
	return t;
}

#endif /* TOPO_MAKE_H */
