/* SPDX-License-Identifier: GPL-2.0 */
/* Reductions over the rings of several SANs, against plain values in the test. */
#ifndef PWREDUCE_H
#define PWREDUCE_H

#include "pwring.h"

/* outputs are poisoned first; 0 or a negative errno */
static PW_UNUSED int pw_reduce(int fd, struct packetway_aton_reduce *c)
{
	c->out_counter = c->out_v1 = c->out_v2 = 0x5a5a5a5a5a5a5a5aULL;
	return ioctl(fd, PACKETWAY_IOC_ATON_REDUCE, c) < 0 ? -errno : 0;
}

/**
 * struct pw_reduce_plain - the operands of all stations in one register
 * @x: those of the stations at ports 0, 1, ... of SAN 1, then those of SAN 2, ...
 * @sans: SANs 1 to this one
 * @per: stations of a SAN
 */
struct pw_reduce_plain {
	const uint64_t *x;
	int sans, per;
};

/* does MAX or MIN name a station with this operand, and its SAN? */
static PW_UNUSED bool pw_reduce_named(const struct packetway_aton_reduce *c,
				      const struct pw_reduce_plain *p, uint64_t want)
{
	int s = c->out_v2 >> 8, i = (int)(c->out_v2 & 0xff) - 1;

	return s >= 1 && s <= p->sans && i >= 0 && i < p->per && c->out_san == 256u * s &&
	       p->x[(s - 1) * p->per + i] == want;
}

/* what is wrong if a result is not that of the SANs in @mask (bit s: SAN s); NULL: nothing */
static PW_UNUSED const char *pw_reduce_wrong(const struct packetway_aton_reduce *c,
					     const struct pw_reduce_plain *p, unsigned int mask)
{
	uint64_t sum = 0, and = ~0ULL, or = 0, most = 0, least = 0, count = 0, n = 0, top, want, v;
	int s, i;

	top = c->mods & PACKETWAY_ATON_SIGNED ? 1ULL << 63 : 0;
	for (s = 1; s <= p->sans; s++)
		for (i = 0; (mask >> s & 1) && i < p->per; i++) {
			v = p->x[(s - 1) * p->per + i];
			sum += v;
			and &= v;
			or |= v;
			if (!n || (v ^ top) > (most ^ top))
				most = v;
			if (!n || (v ^ top) < (least ^ top))
				least = v;
			count += c->op == PW_ATON_OP_COUNT_EQ ? c->out_v1 == v :
				 c->op == PW_ATON_OP_COUNT_LT ? (c->out_v1 ^ top) < (v ^ top) :
				 (c->out_v1 ^ top) <= (v ^ top);
			n++;
		}
	if (c->out_counter != n)
		return "Counter";
	if (c->out_sans != (unsigned int)__builtin_popcount(mask))
		return "number of SANs";
	switch (c->op) {
	case PW_ATON_OP_ADD:
		want = sum;
		break;
	case PW_ATON_OP_AND:
		want = and;
		break;
	case PW_ATON_OP_OR:
		want = or;
		break;
	case PW_ATON_OP_MAX:
	case PW_ATON_OP_MIN:
		want = c->op == PW_ATON_OP_MAX ? most : least;
		if (!pw_reduce_named(c, p, want))
			return "address";
		break;
	default:
		return c->out_v2 == count ? NULL : "count";
	}
	return c->out_v1 == want ? NULL : "Variable-1";
}

#endif
