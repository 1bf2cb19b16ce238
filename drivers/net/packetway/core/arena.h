/* SPDX-License-Identifier: GPL-2.0 */
/* Pieces of the block of memory that the caller of a core provides. */
#ifndef PW_CORE_ARENA_H
#define PW_CORE_ARENA_H

#include "pw_os.h"

/**
 * struct pw_arena - memory that is allocated from its beginning on
 * @base: the memory, aligned to 8; NULL: the pieces are only counted
 * @used: bytes allocated
 */
struct pw_arena {
	u8 *base;
	size_t used;
};

/* allocate a piece, not zeroed; NULL if pieces are only counted */
static inline void *pw_arena_take(struct pw_arena *a, size_t size)
{
	void *p = a->base ? a->base + a->used : NULL;

	a->used += round_up(size, 8);
	return p;
}

#endif /* PW_CORE_ARENA_H */
