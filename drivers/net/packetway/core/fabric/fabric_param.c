// SPDX-License-Identifier: GPL-2.0
/* Parameters of a fabric by name. */
#include "fabric_param.h"

#define AT(m) offsetof(struct pw_fabric_params, m)

const struct pw_fabric_param pw_fabric_param[] = {
	{ "k", "ports", AT(k), PW_BMX_KMIN, PW_BMX_KMAX, { PW_BMX_K, PW_BMX_K },
	  "ports of a switch; the fabric has k * k ports" },
	{ "depth", "cells", AT(depth), 1, PW_BMX_DEPTH_MAX, { PW_BMX_DEPTH, PW_BMX_DEPTH },
	  "cells in a queue of a switch" },
	{ "og-blocks", "cells", AT(og_blocks), 2, PW_AAL_NONE - 1, { PW_AAL_BLOCKS, PW_AAL_BLOCKS },
	  "blocks of the send buffer of a port" },
	{ "ic-blocks", "cells", AT(ic_blocks), 2, PW_AAL_NONE - 1,
	  { PW_AAL_BLOCKS, PW_FABRIC_IC_BLOCKS },
	  "blocks of the receive buffer of a port" },
	{ "descs", "messages", AT(descs), 1, U16_MAX, { PW_AAL_DESCS, PW_AAL_DESCS },
	  "message descriptors of a port for each source" },
	{ "credit", "cells", AT(credit), 1, PW_AAL_NONE - 1, { 0, PW_FABRIC_CREDIT },
	  "cells and acknowledgments on their way to a port, and missing ones of a broadcast" },
	{ "resend", "cycles", AT(resend), 1, INT_MAX, { PW_AAL_RESEND, PW_AAL_RESEND },
	  "time until a cell without acknowledgment is sent again" },
	{ "keep", "cycles", AT(keep), 1, INT_MAX, { PW_AAL_KEEP, 0 },
	  "lifetime of a message in the receive buffer" },
	{ "queue", "messages", AT(queue), 1, PW_AAL_NONE - 1, { PW_FABRIC_QUEUE, PW_FABRIC_QUEUE },
	  "messages of a sending port, waiting or on their way" },
	{ "gap-lock", "cycles", AT(gap_lock), 0, PW_FABRIC_GAP_MAX, { 0, 0 },
	  "idle time of a sending process before init-send" },
	{ "gap-init", "cycles", AT(gap_init), 0, PW_FABRIC_GAP_MAX, { 0, 0 },
	  "idle time of a sending process after init-send" },
	{ "gap-get", "cycles", AT(gap_get), 0, PW_FABRIC_GAP_MAX, { 0, 0 },
	  "idle time of a receiving process before its first get" },
	{ "gap-word", "cycles", AT(gap_word), 0, PW_FABRIC_GAP_MAX, { 0, 0 },
	  "idle time of a process before every word that it puts or gets" },
	{ "route", "policy", AT(route), PW_AAL_ROUTE_TURN, PW_AAL_ROUTE_LEAST,
	  { PW_AAL_ROUTE_TURN, PW_AAL_ROUTE_TURN },
	  "path of a cell: 1 turn, 2 fixed, 3..65535 random with that seed, 65536 least queue" },
};

const u32 pw_fabric_param_num = ARRAY_SIZE(pw_fabric_param);

const char *const pw_fabric_machine[PW_FABRIC_MACHINES] = { "published", "device" };

/**
 * pw_fabric_param_find() - parameter of that name
 * @name: name
 *
 * Return: its line of the table or NULL.
 */
const struct pw_fabric_param *pw_fabric_param_find(const char *name)
{
	u32 i;

	for (i = 0; i < pw_fabric_param_num; i++)
		if (!strcmp(pw_fabric_param[i].name, name))
			return &pw_fabric_param[i];
	return NULL;
}

/* value as it was set; 0: default */
static u32 value(const struct pw_fabric_params *p, const struct pw_fabric_param *d)
{
	u32 v;

	memcpy(&v, (const char *)p + d->at, sizeof(v));
	return v;
}

/**
 * pw_fabric_param_get() - value of a parameter
 * @p: sizes
 * @d: parameter
 *
 * Return: the value that a fabric of these sizes has; 0 if its machine has no such parameter.
 */
u32 pw_fabric_param_get(const struct pw_fabric_params *p, const struct pw_fabric_param *d)
{
	enum pw_fabric_machine m = pw_fabric_machine_of(p);
	u32 v = value(p, d), lo, hi;

	if (!pw_fabric_param_has(d, m))
		return 0;
	if (v)
		return v;
	/* the other parameters limit a default */
	pw_fabric_param_range(p, d, &lo, &hi);
	return min(d->def[m], hi);
}

/**
 * pw_fabric_param_set() - change a parameter
 * @p: sizes
 * @d: parameter
 * @v: value, 0 for the default
 */
void pw_fabric_param_set(struct pw_fabric_params *p, const struct pw_fabric_param *d, u32 v)
{
	memcpy((char *)p + d->at, &v, sizeof(v));
}

/**
 * pw_fabric_param_range() - values that a parameter may have beside the others
 * @p: sizes
 * @d: parameter
 * @min: result, least value
 * @max: result, largest value; less than @min if the machine has no such parameter
 */
void pw_fabric_param_range(const struct pw_fabric_params *p, const struct pw_fabric_param *d,
			   u32 *min, u32 *max)
{
	bool device = pw_fabric_machine_of(p) == PW_FABRIC_DEVICE;
	u32 k = p->k ? p->k : PW_BMX_K;

	*min = d->min;
	*max = d->max;
	if (!pw_fabric_param_has(d, pw_fabric_machine_of(p))) {
		*max = 0;
	} else if (d->at == AT(ic_blocks) && device) {
		*min = 2 * PW_FABRIC_SLACK;
	} else if (d->at == AT(credit)) {
		u32 ic = p->ic_blocks ? p->ic_blocks : PW_FABRIC_IC_BLOCKS;

		*max = max_t(u32, ic, 2 * PW_FABRIC_SLACK) - PW_FABRIC_SLACK;
	} else if (d->at == AT(queue) && p->topo) {
		*max = (PW_AAL_NONE - 1) / p->topo->ports;
	} else if (d->at == AT(queue) && k >= PW_BMX_KMIN && k <= PW_BMX_KMAX) {
		*max = (PW_AAL_NONE - 1) / (k * k);
	}
}

/**
 * pw_fabric_param_wrong() - first parameter outside its range
 * @p: sizes
 *
 * Return: the parameter, whose range pw_fabric_param_range() gives, or NULL.
 */
const struct pw_fabric_param *pw_fabric_param_wrong(const struct pw_fabric_params *p)
{
	u32 i, v, lo, hi;

	for (i = 0; i < pw_fabric_param_num; i++) {
		v = value(p, &pw_fabric_param[i]);
		pw_fabric_param_range(p, &pw_fabric_param[i], &lo, &hi);
		if (v && (v < lo || v > hi))
			return &pw_fabric_param[i];
	}
	return NULL;
}
