// SPDX-License-Identifier: GPL-2.0
/* ATON: memory of a ring and choice of its engine. Only this file knows both engines. */
#include "ring_priv.h"

static const struct pw_ring_engine *const engines[] = {
	[PW_RING_RTL] = &pw_ring_rtl,
	[PW_RING_FAST] = &pw_ring_fast,
};

static size_t align8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static size_t engine_size(const struct pw_ring_params *params)
{
	const struct pw_ring_engine *engine = engines[params->engine];

	return engine->size ? engine->size(params) : 0;
}

/**
 * pw_ring_size - memory that pw_ring_init() needs
 * @params: parameters of the ring
 *
 * Return: bytes, or 0 if a parameter is out of range.
 */
size_t pw_ring_size(const struct pw_ring_params *params)
{
	size_t n = params->capacity;

	if (!n || n > PW_ATON_MAX_INTERFACES || params->extra > PW_ATON_MAX_INTERFACES - n ||
	    !params->nregs || params->nregs > PW_ATON_REGS ||
	    params->engine >= ARRAY_SIZE(engines) || params->release >= PW_RING_RELEASES ||
	    params->propagation > PW_RING_PROPAGATION_MAX || params->width > PW_ATON_WIDTH ||
	    (params->bitsum > PW_ATON_BITSUM_BITS && params->bitsum != PW_RING_BITSUM_FIT) ||
	    params->max_bytes > 1u << 20)
		return 0;
	return align8(sizeof(struct pw_ring)) + n * params->nregs * sizeof(u64) +
	       2 * align8(n * sizeof(u32)) + align8(n * sizeof(void *)) +
	       5 * pw_ring_words(n) * sizeof(u64) + engine_size(params);
}

static void *carve(u8 **mem, size_t bytes)
{
	void *p = *mem;

	*mem += align8(bytes);
	return p;
}

/**
 * pw_ring_init - make an empty ring
 * @mem: pw_ring_size() bytes, aligned for a u64
 * @params: parameters of the ring, for which pw_ring_size() is not 0
 */
struct pw_ring *pw_ring_init(void *mem, const struct pw_ring_params *params)
{
	struct pw_ring *ring = mem;
	size_t n = params->capacity;
	u8 *at = mem;

	memset(mem, 0, pw_ring_size(params));
	carve(&at, sizeof(*ring));
	ring->p = *params;
	ring->engine = engines[params->engine];
	ring->nregs = params->nregs;
	ring->fmt = PW_ATON_FORMAT;
	if (params->width)
		ring->fmt.width = params->width;
	ring->operand = carve(&at, n * params->nregs * sizeof(u64));
	ring->addr = carve(&at, n * sizeof(u32));
	ring->group = carve(&at, n * sizeof(u32));
	ring->sender = carve(&at, n * sizeof(void *));
	ring->up = carve(&at, pw_ring_words(n) * sizeof(u64));
	ring->want = carve(&at, pw_ring_words(n) * sizeof(u64));
	ring->mapped = carve(&at, pw_ring_words(n) * sizeof(u64));
	ring->ready = carve(&at, pw_ring_words(n) * sizeof(u64));
	ring->mute = carve(&at, pw_ring_words(n) * sizeof(u64));
	if (ring->engine->init)
		ring->engine->init(ring, at);
	return ring;
}
