/* SPDX-License-Identifier: GPL-2.0 */
/* Parameters of a ring by name: one table for command lines, files, pages and netlink. */
#ifndef PW_CORE_RING_PARAM_H
#define PW_CORE_RING_PARAM_H

#include "ring.h"

/**
 * struct pw_ring_param - a parameter
 * @name: name in words and dashes; a SAN has it with "ring-" in front
 * @unit: unit of its value
 * @at: offset of a u32 in struct pw_ring_params
 * @min: least value
 * @max: largest value
 * @san_max: largest value of a SAN's ring
 * @def: default
 * @words: names of the values from 0 on, or NULL
 * @help: what it is, one sentence
 *
 * Values are those that users write. Width and bitsum are 0 in struct pw_ring_params where the
 * default is meant; a bitsum of 0 is written for PW_RING_BITSUM_FIT.
 */
struct pw_ring_param {
	const char *name;
	const char *unit;
	size_t at;
	u32 min;
	u32 max;
	u32 san_max;
	u32 def;
	const char *const *words;
	const char *help;
};

extern const struct pw_ring_param pw_ring_param[];
extern const u32 pw_ring_param_num;
extern const char *const pw_ring_release_name[PW_RING_RELEASES];

const struct pw_ring_param *pw_ring_param_find(const char *name);
u32 pw_ring_param_get(const struct pw_ring_params *p, const struct pw_ring_param *d);
void pw_ring_param_set(struct pw_ring_params *p, const struct pw_ring_param *d, u32 v);

#endif /* PW_CORE_RING_PARAM_H */
