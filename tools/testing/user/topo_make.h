/* SPDX-License-Identifier: GPL-2.0 */
/* A generated topology by its name, in memory of its own. */
#ifndef TOPO_MAKE_H
#define TOPO_MAKE_H

#include <stdio.h>
#include <stdlib.h>
#include "fabric/topo.h"

/* plan of a generated topology with room for connections, not checked; NULL with @why */
static inline struct pw_topo_plan *topo_plan_mc(const char *name, u32 conns,
						struct pw_topo_fault *why)
{
	struct pw_topo_sizes z;
	struct pw_topo_spec spec;
	struct pw_topo_plan *p;
	void *mem;

	if (pw_topo_parse(name, &spec, why) || pw_topo_gen_sizes(&spec, &z, why))
		return NULL;
	z.conns = conns;
	if (pw_topo_sizes_check(&z, why))
		return NULL;
	mem = malloc(pw_topo_plan_size(&z));
	if (!mem)
		abort();
	p = pw_topo_plan_init(mem, &z);
	pw_topo_gen(p, &spec);
	return p;
}

static inline struct pw_topo_plan *topo_plan(const char *name, struct pw_topo_fault *why)
{
	return topo_plan_mc(name, 0, why);
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

/* @conns random connections with the given seed: one from each station in turn, any members */
static inline void topo_connect(struct pw_topo_plan *p, unsigned long long seed)
{
	struct pw_topo_conn *c;
	u32 i, d, most;

	for (i = 0; i < p->z.conns; i++) {
		c = &p->conn[i];
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		c->src = (seed >> 33) % p->z.ports;
		/* some have few members, some have many */
		most = 1 + (seed >> 45) % 8;
		for (d = 0; d < p->z.ports; d++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			if (d != c->src && (seed >> 40) % 8 < most)
				pw_topo_join(c, d);
		}
		pw_topo_join(c, (c->src + 1) % p->z.ports);
	}
}

/* the same with @conns random connections */
static inline struct pw_topo *topo_make_mc(const char *name, u32 conns, unsigned long long seed)
{
	struct pw_topo_fault why;
	struct pw_topo_plan *p = topo_plan_mc(name, conns, &why);
	struct pw_topo *t;
	char text[256];

	if (p)
		topo_connect(p, seed);
	t = p ? topo_of(p, &why) : NULL;

	if (!t) {
		pw_topo_text(&why, text, sizeof(text));
		printf("# %s: %s\n", name, text);
	}
	return t;
}

static inline struct pw_topo *topo_make(const char *name)
{
	return topo_make_mc(name, 0, 0);
}

#endif /* TOPO_MAKE_H */
