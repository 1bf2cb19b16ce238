// SPDX-License-Identifier: GPL-2.0
/* ATON: what tools and tests use and the module does not, but for its KUnit tests. */
#include "ring_priv.h"

/**
 * pw_ring_is_up - is the interface up?
 * @ring: the ring
 * @iface: the interface
 */
bool pw_ring_is_up(const struct pw_ring *ring, u32 iface)
{
	return iface < ring->n && pw_ring_up(ring, iface);
}

/**
 * pw_ring_monitor - the monitor: the first interface that is up
 * @ring: the ring
 *
 * Return: its number, or pw_ring_ifaces() if there is none.
 */
u32 pw_ring_monitor(const struct pw_ring *ring)
{
	return ring->monitor;
}

/**
 * pw_ring_addr - the station id register
 * @ring: the ring
 * @iface: the interface
 */
u32 pw_ring_addr(const struct pw_ring *ring, u32 iface)
{
	return iface < ring->n ? pw_ring_id(ring, iface) : 0;
}

/**
 * pw_ring_busy - is a packet on the ring?
 * @ring: the ring
 */
bool pw_ring_busy(const struct pw_ring *ring)
{
	return ring->state == PW_RING_PACKET || ring->state == PW_RING_ORPHAN;
}

/**
 * pw_ring_operands - one operand register of all interfaces that are in no block
 * @ring: the ring
 * @reg: which
 *
 * Return: an array in ring order, or NULL if @reg is out of range.
 */
u64 *pw_ring_operands(struct pw_ring *ring, u32 reg)
{
	return reg < ring->p.nregs ? ring->operand + (size_t)reg * ring->p.capacity : NULL;
}

/**
 * pw_ring_set_operand - write an operand register in the ring's memory
 * @ring: the ring
 * @iface: the interface
 * @reg: which register
 * @value: its new value
 */
int pw_ring_set_operand(struct pw_ring *ring, u32 iface, u32 reg, u64 value)
{
	if (iface >= ring->own || reg >= ring->p.nregs)
		return -EINVAL;
	WRITE_ONCE(ring->operand[(size_t)reg * ring->p.capacity + iface], value);
	return 0;
}

/**
 * pw_ring_bytes_per_iface - state of one interface
 * @params: the ring
 *
 * Without the four bits in the maps, which come to half a byte.
 */
size_t pw_ring_bytes_per_iface(const struct pw_ring_params *params)
{
	size_t bytes = params->nregs * sizeof(u64) + 2 * sizeof(u32) +
		       sizeof(struct pw_ring_port *);

	if (params->engine == PW_RING_RTL)
		bytes += pw_ring_rtl.size(params) / (params->capacity + params->extra);
	return bytes;
}
