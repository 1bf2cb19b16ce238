/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parameters of a fabric by name: one table for command lines, files, pages and netlink.
 * pw_fabric_check() refuses the same values without saying which one is wrong.
 */
#ifndef PW_CORE_FABRIC_PARAM_H
#define PW_CORE_FABRIC_PARAM_H

#include "fabric.h"

#define PW_FABRIC_GAP_MAX	1000000	/* idle cycles of a process at one place */

/* machines; a fabric is a device with PW_FABRIC_F_DEVICE and the published machine without */
enum pw_fabric_machine {
	PW_FABRIC_PUBLISHED,
	PW_FABRIC_DEVICE,
	PW_FABRIC_MACHINES,
};

/**
 * struct pw_fabric_param - a parameter
 * @name: name in words and dashes, as in an option or a key
 * @unit: unit of its value
 * @at: offset in struct pw_fabric_params
 * @min: least value
 * @max: largest value; other parameters may lower it, see pw_fabric_param_wrong()
 * @def: default of each machine; 0 with a larger @min: the machine does not have the
 *	parameter
 * @help: what it is, one sentence
 */
struct pw_fabric_param {
	const char *name;
	const char *unit;
	size_t at;
	u32 min;
	u32 max;
	u32 def[PW_FABRIC_MACHINES];
	const char *help;
};

extern const struct pw_fabric_param pw_fabric_param[];
extern const u32 pw_fabric_param_num;
extern const char *const pw_fabric_machine[PW_FABRIC_MACHINES];

static inline enum pw_fabric_machine pw_fabric_machine_of(const struct pw_fabric_params *p)
{
	return p->flags & PW_FABRIC_F_DEVICE ? PW_FABRIC_DEVICE : PW_FABRIC_PUBLISHED;
}

/* does machine @m have the parameter? */
static inline bool pw_fabric_param_has(const struct pw_fabric_param *d, enum pw_fabric_machine m)
{
	return d->def[m] >= d->min;
}

/* route policy of that name; random has a seed of its own, other seeds are numbers */
static inline bool pw_fabric_route_named(const char *name, u32 *route)
{
	static const struct {
		const char *name;
		u32 route;
	} known[] = {
		{ "turn", PW_AAL_ROUTE_TURN }, { "fixed", PW_AAL_ROUTE_FIXED },
		{ "random", PW_AAL_ROUTE_RANDOM }, { "least", PW_AAL_ROUTE_LEAST },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(name, known[i].name))
			continue;
		*route = known[i].route;
		return true;
	}
	return false;
}

/* has the parameter names for values? */
static inline bool pw_fabric_param_named(const struct pw_fabric_param *d)
{
	return d->at == offsetof(struct pw_fabric_params, route);
}

const struct pw_fabric_param *pw_fabric_param_find(const char *name);
u32 pw_fabric_param_get(const struct pw_fabric_params *p, const struct pw_fabric_param *d);
void pw_fabric_param_set(struct pw_fabric_params *p, const struct pw_fabric_param *d, u32 v);
void pw_fabric_param_range(const struct pw_fabric_params *p, const struct pw_fabric_param *d,
			   u32 *min, u32 *max);
const struct pw_fabric_param *pw_fabric_param_wrong(const struct pw_fabric_params *p);

#endif /* PW_CORE_FABRIC_PARAM_H */
