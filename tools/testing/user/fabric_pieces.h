/* SPDX-License-Identifier: GPL-2.0 */
/* Memory for fabrics with sparse buffers, as an owner gives it. */
#ifndef PW_FABRIC_PIECES_H
#define PW_FABRIC_PIECES_H

#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"

/* pieces that were filled before pw_fabric_give(), and those that it has changed all the same */
static u64 pieces_filled, pieces_touched;

/* in two steps, as an owner with a lock does; numbers are read in between */
static inline void *pieces_fill_give(struct pw_fabric *f, void *mem, size_t bytes)
{
	void *copy = malloc(bytes), *old;
	u32 i;

	if (!copy)
		abort();
	pw_fabric_ask(f);
	pw_fabric_fill(f, mem);
	memcpy(copy, mem, bytes);
	for (i = 0; i < 4; i++)
		pw_fabric_qsize(f, i, i % 2);
	old = pw_fabric_give(f, mem);
	pieces_filled++;
	pieces_touched += !!memcmp(copy, mem, bytes);
	free(copy);
	return old;
}

/* give a piece of @bytes that is not zeroed */
static inline void pieces_give(struct pw_fabric *f, size_t bytes)
{
	static u32 nth;
	void *mem = malloc(bytes);

	if (!mem)
		abort();
	memset(mem, 0xa5, bytes);
	free(nth++ & 1 ? pieces_fill_give(f, mem, bytes) : pw_fabric_give(f, mem));
}

/* what a message needs; returns the number of pieces */
static inline u32 pieces_for(struct pw_fabric *f, u16 src, u16 dst, u32 len)
{
	size_t bytes;
	u32 n = 0;

	for (; (bytes = pw_fabric_lacks(f, src, dst, len)); n++)
		pieces_give(f, bytes);
	return n;
}

/* pw_fabric_run() with memory for repeated cells; counts the pieces */
static inline void pieces_run(struct pw_fabric *f, u64 until, u64 *pieces)
{
	size_t bytes;

	while (pw_fabric_now(f) < until) {
		pw_fabric_run(f, until, PW_FABRIC_STEPS);
		for (; (bytes = pw_fabric_low(f)); ++*pieces)
			pieces_give(f, bytes);
	}
}

/* free all pieces; returns their number */
static inline u32 pieces_free(struct pw_fabric *f)
{
	void *mem;
	u32 n = 0;

	for (; (mem = pw_fabric_take(f)); n++)
		free(mem);
	return n;
}

#endif /* PW_FABRIC_PIECES_H */
