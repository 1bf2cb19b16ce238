// SPDX-License-Identifier: GPL-2.0
/* ATON: functions for tools and tests; in the module only its KUnit tests use them. */
#include "ring_priv.h"

/**
 * pw_ring_is_up - is the interface up?
 * @ring: the ring
 * @interface: the interface
 */
bool pw_ring_is_up(const struct pw_ring *ring, u32 interface)
{
	return interface < ring->n && pw_ring_up(ring, interface);
}

/**
 * pw_ring_monitor - the active monitor: the first interface that is up
 * @ring: the ring
 *
 * Return: its number, or pw_ring_interfaces() if there is none.
 */
u32 pw_ring_monitor(const struct pw_ring *ring)
{
	return ring->monitor;
}

/**
 * pw_ring_addr - the station id register
 * @ring: the ring
 * @interface: the interface
 */
u32 pw_ring_addr(const struct pw_ring *ring, u32 interface)
{
	return interface < ring->n ? pw_ring_id(ring, interface) : 0;
}

/**
 * pw_ring_busy - is a packet on the ring?
 * @ring: the ring
 */
bool pw_ring_busy(const struct pw_ring *ring)
{
	return ring->flight || ring->state == PW_RING_ORPHAN;
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
 * @interface: the interface
 * @reg: which register
 * @value: its new value
 */
int pw_ring_set_operand(struct pw_ring *ring, u32 interface, u32 reg, u64 value)
{
	if (interface >= ring->own || reg >= ring->p.nregs)
		return -EINVAL;
	WRITE_ONCE(ring->operand[(size_t)reg * ring->p.capacity + interface], value);
	return 0;
}

/**
 * pw_ring_bytes_per_interface - state of one interface
 * @params: parameters of the ring
 *
 * The four bits of an interface in the maps are not counted.
 */
size_t pw_ring_bytes_per_interface(const struct pw_ring_params *params)
{
	size_t bytes = params->nregs * sizeof(u64) + 2 * sizeof(u32) +
		       sizeof(struct pw_ring_sender *);

	if (params->engine == PW_RING_RTL)
		bytes += pw_ring_rtl.size(params) / (params->capacity + params->extra);
	return bytes;
}
