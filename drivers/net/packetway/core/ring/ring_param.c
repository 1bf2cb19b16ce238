// SPDX-License-Identifier: GPL-2.0
/* Parameters of a ring by name. */
#include "ring_param.h"

#define AT(m) offsetof(struct pw_ring_params, m)

const char *const pw_ring_release_name[PW_RING_RELEASES] = { "back", "appended" };

const struct pw_ring_param pw_ring_param[] = {
	/* rtl needs a byte per interface for each bit time: a SAN has fewer */
	{ "propagation", "bit times", AT(propagation), 0, PW_RING_PROPAGATION_MAX, 255, 0, NULL,
	  "time that each hop takes beside the bit time of the interface" },
	{ "release", "way", AT(release), PW_RING_BACK, PW_RING_APPENDED, PW_RING_APPENDED,
	  PW_RING_BACK, pw_ring_release_name,
	  "when a sender releases the token: 0 when its packet is back, 1 appended to the packet" },
	{ "width", "bits", AT(width), 1, PW_ATON_WIDTH, PW_ATON_WIDTH, PW_ATON_WIDTH, NULL,
	  "bits of an operand; results are modulo 2^width" },
	{ "bitsum", "bits", AT(bitsum), 0, PW_ATON_BITSUM_BITS, PW_ATON_BITSUM_BITS,
	  PW_ATON_BITSUM_BITS, NULL,
	  "bits of a count in a BITSUM; 0 as many as a count of all interfaces takes" },
};

const u32 pw_ring_param_num = ARRAY_SIZE(pw_ring_param);

/**
 * pw_ring_param_find() - parameter of that name
 * @name: name
 *
 * Return: its line of the table or NULL.
 */
const struct pw_ring_param *pw_ring_param_find(const char *name)
{
	u32 i;

	for (i = 0; i < pw_ring_param_num; i++)
		if (!strcmp(pw_ring_param[i].name, name))
			return &pw_ring_param[i];
	return NULL;
}

/**
 * pw_ring_param_get() - value of a parameter
 * @p: parameters
 * @d: which one
 */
u32 pw_ring_param_get(const struct pw_ring_params *p, const struct pw_ring_param *d)
{
	u32 v;

	memcpy(&v, (const char *)p + d->at, sizeof(v));
	if (d->at == AT(bitsum) && v == PW_RING_BITSUM_FIT)
		return 0;
	return v ? v : d->def;
}

/**
 * pw_ring_param_set() - change a parameter
 * @p: parameters
 * @d: which one
 * @v: its value, between @d->min and @d->max
 */
void pw_ring_param_set(struct pw_ring_params *p, const struct pw_ring_param *d, u32 v)
{
	if (d->at == AT(bitsum) && !v)
		v = PW_RING_BITSUM_FIT;
	memcpy((char *)p + d->at, &v, sizeof(v));
}
