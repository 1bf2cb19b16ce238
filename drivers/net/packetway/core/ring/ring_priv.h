/* SPDX-License-Identifier: GPL-2.0 */
/* ATON: what the two engines share. Not for users of the ring: see ring.h. */
#ifndef PW_CORE_RING_PRIV_H
#define PW_CORE_RING_PRIV_H

#include "ring_packet.h"

/* what is on the ring */
enum pw_ring_state {
	PW_RING_DARK,		/* no interface is up: nothing */
	PW_RING_TOKEN,		/* the free token, and packets in front of it */
	PW_RING_PACKET,		/* a packet whose T-interface has the token, and others before it */
	PW_RING_ORPHAN,		/* a packet whose T-interface has left */
	PW_RING_LOST,		/* no token; the timer of the active monitor runs */
};

/* fast: how far a packet has been computed */
struct pw_fast {
	u8 phase;
	bool damaged;		/* the packet that leaves this hop is damaged */
	bool relayed;		/* its control field is: interfaces only relay it */
	u32 dst;		/* region that the packet names; damage may change it */
	u32 hop;		/* next hop to visit */
	u32 end;		/* first hop that the packet does not reach */
	u32 heap;		/* cursor of the heap sort */
	u32 extra;		/* operands that SORT added after the T-interface */
	u64 level[PW_ATON_HEIGHTS + 1];		/* TREE */
	u64 plane[24];		/* BITSUM: bit k of all counts */
};

/* most interfaces of a group whose members are looked up once for packets in a row */
#define PW_RING_GROUP_MAX	256

/* fast: members of the group that the last packet went to */
struct pw_ring_group {
	bool known;		/* and the next one may go to the same ones */
	u32 dst;		/* the group */
	u32 t;			/* the T-interface, which is not among them */
	u32 n;
	u32 interface[PW_RING_GROUP_MAX];	/* in the order in which the packet passes them */
	const struct pw_ring_sender *mapped[PW_RING_GROUP_MAX];	/* NULL: not in ring->mapped */
};

struct pw_rtl_interface;

/* rtl: the interfaces, the wires between them and the active monitor */
struct pw_rtl {
	struct pw_rtl_interface *interface;
	u8 *wire;		/* propagation symbols per hop */
	u32 wire_at;
	u8 pad[PW_ATON_TOKEN];	/* latency buffer of the active monitor, before interface 0 */
	u32 pad_at;
	u64 cycle;		/* next bit time */
	u64 quiet;		/* bit times since a token or packet passed the active monitor */
	u64 back_at;		/* bit time at which a T-interface has its packet back */
	struct pw_ring_packet *back;	/* and which one */
	u64 not_before;		/* an idle ring: no packet starts sooner */
	u64 strip_at;		/* bit time at which an orphan is stripped */
	u64 taking_at;		/* start of the next packet, once the token is sure to be taken */
	u64 flip_at;		/* bit time in which flip_interface sends the symbol to flip */
	u32 flip_interface;
	bool back_good;
	bool dup;		/* the token that is being sent is sent again */
};

/* memory of the tap */
struct pw_ring_tap {
	void *mem;		/* NULL: none */
	size_t size;
	u32 stride;		/* rtl: bytes for each interface */
	u32 sorted;		/* fast: sorted operands of a SORT at mem */
};

/**
 * struct pw_ring_engine - how packets pass the interfaces
 * @per_interface: the engine has state for each interface, also in blocks; blocks then
 *	have at most params->extra interfaces
 * @size: memory that it needs beyond the ring; NULL: none
 * @init: prepare that memory, which is zeroed; NULL: nothing to prepare
 * @start: a ring that took the place of another continues at bit time @now; may be NULL
 * @run: pw_ring_run()
 * @wipe: remove token and packet from the ring
 * @token: a token is issued; may be NULL
 * @tap_reset: restart the tap: it was switched on, or the ring was wiped
 *
 * The shared part calls an engine through this table only, so that it depends on none.
 */
struct pw_ring_engine {
	bool per_interface;
	size_t (*size)(const struct pw_ring_params *params);
	void (*init)(struct pw_ring *ring, void *mem);
	void (*start)(struct pw_ring *ring, u64 now);
	enum pw_ring_progress (*run)(struct pw_ring *ring, u64 until, u32 budget);
	void (*wipe)(struct pw_ring *ring);
	void (*token)(struct pw_ring *ring);
	void (*tap_reset)(struct pw_ring *ring);
};

struct pw_ring {
	struct pw_ring_params p;
	const struct pw_ring_engine *engine;
	u32 n;			/* interfaces */
	u32 own;		/* of these in no block; they come first */
	u32 nregs;		/* operand registers that every interface has */
	struct pw_aton_format fmt;
	u32 monitor;		/* active monitor; n: none */
	u8 state;
	u64 now;

	/* geometry, from n and propagation */
	u64 latency;		/* n * (1 + propagation) */
	u64 turn;		/* one revolution: a token must fit */
	u64 timeout;		/* quiet time after which the active monitor acts */
	u32 pad;		/* turn - latency */

	/* the token: released by (or regenerated at) tok_from, at tok_at */
	u32 tok_from;
	u64 tok_at;

	/* packets on the ring, in the order in which they started; each is its sender's */
	struct pw_ring_packet *flight;
	struct pw_ring_packet *pkt;	/* the last one; NULL: it is back */
	u64 last_end;		/* a packet was back, and the token was not its sender's */
	u64 busy_to;		/* bit times up to here are in stats.bits */
	u32 serial;		/* of the packet */
	bool leaving;		/* the T-interface goes down once it may */
	u64 leave_at;

	/* faults: armed, and those of the current packet */
	bool flip, stuck, leave, lose, dup;
	u32 flip_hop, stuck_interface;
	u64 flip_bit, leave_bit, lose_at;
	u64 lost_at;		/* when the token was lost */
	bool pkt_flip, pkt_stuck;
	u32 pkt_flip_hop;
	u64 pkt_flip_bit;

	/* blocks in ring order */
	struct pw_ring_block *block[PW_RING_BLOCKS];
	u32 nblocks;

	/* per interface that is in no block */
	u64 *operand;		/* [reg][capacity] */
	u32 *addr;
	u32 *group;
	struct pw_ring_sender **sender;
	u64 *up;
	u64 *want;		/* up as requested; becomes up when no packet is on the ring */
	u64 *mapped;		/* operands are those of the sender, kept by the caller */
	u64 *ready;		/* head of the queue is due */
	u64 *mute;		/* sends, and is in no region of a command */

	u32 nready;
	u32 queued;		/* commands, at all interfaces */
	bool changed;		/* want differs from up somewhere */
	struct pw_ring_sender *future;	/* queues whose head is not due yet, by time */
	struct pw_ring_sender *standing;
	u32 nstanding;
	struct pw_ring_cmd *done;
	struct pw_ring_cmd *done_tail;
	struct pw_ring_stats stats;

	struct pw_ring_tap tap;
	struct pw_fast fast;
	struct pw_ring_group in_group;
	struct pw_rtl rtl;
};

#define PW_RING_NEVER	(~0ULL)
/*
 * Bit times from the first symbol of a token leaving an interface to its decision to take
 * the token. The symbols relayed by then are the same in a start delimiter.
 */
#define PW_ATON_DECIDE	5

/* words of a bitmap of @n interfaces */
static inline size_t pw_ring_words(u32 n)
{
	return DIV_ROUND_UP(n, 64);
}

static inline bool pw_ring_bit(const u64 *map, u32 i)
{
	return map[i / 64] >> (i % 64) & 1;
}

static inline void pw_ring_put_bit(u64 *map, u32 i, bool v)
{
	if (v)
		map[i / 64] |= BIT_ULL(i % 64);
	else
		map[i / 64] &= ~BIT_ULL(i % 64);
}

/* the block of an interface that is in one */
static inline const struct pw_ring_block *pw_ring_block(const struct pw_ring *ring, u32 interface)
{
	u32 low = 0, high = ring->nblocks, mid;

	while (high - low > 1) {
		mid = (low + high) / 2;
		if (ring->block[mid]->first <= interface)
			low = mid;
		else
			high = mid;
	}
	return ring->block[low];
}

static inline bool pw_ring_up(const struct pw_ring *ring, u32 interface)
{
	return interface >= ring->own || pw_ring_bit(ring->up, interface);
}

static inline u32 pw_ring_id(const struct pw_ring *ring, u32 interface)
{
	const struct pw_ring_block *block;

	if (interface < ring->own)
		return ring->addr[interface];
	block = pw_ring_block(ring, interface);
	return block->addr + (interface - block->first);
}

/* does the interface have this operand register? */
static inline bool pw_ring_has(const struct pw_ring *ring, u32 interface, u32 reg)
{
	if (reg < ring->nregs)
		return true;
	if (interface < ring->own)
		return reg < ring->p.nregs;
	return reg < pw_ring_block(ring, interface)->nregs;
}

/* value of an operand register of a sender that has the operands */
static inline u64 pw_ring_fetch_sender(const struct pw_ring_sender *sender, u32 reg)
{
	return READ_ONCE(*(sender->leased >> reg & 1 ? sender->lease[reg] :
						     &sender->operands[reg]));
}

/* likewise, of an interface that is in ring->mapped */
static inline u64 pw_ring_fetch_mapped(const struct pw_ring *ring, u32 interface, u32 reg)
{
	return pw_ring_fetch_sender(ring->sender[interface], reg);
}

/* value of an operand register that the interface has, see pw_ring_has() */
static inline u64 pw_ring_fetch(const struct pw_ring *ring, u32 interface, u32 reg)
{
	const struct pw_ring_block *block;

	if (interface >= ring->own) {
		block = pw_ring_block(ring, interface);
		return block->operand[(size_t)reg * block->count + (interface - block->first)];
	}
	if (pw_ring_bit(ring->mapped, interface))
		return pw_ring_fetch_mapped(ring, interface, reg);
	return ring->operand[(size_t)reg * ring->p.capacity + interface];
}

/* groups of an interface that is in no block */
static inline u32 pw_ring_group_own(const struct pw_ring *ring, u32 interface)
{
	const struct pw_ring_sender *sender = ring->sender[interface];
	u32 mask;

	if (!sender || !sender->group)
		return ring->group[interface];
	/* pairs with the release store of the mask, after those of the operands */
	mask = smp_load_acquire(sender->group);
	if (sender->taken)
		mask &= ~*sender->taken;
	return mask | sender->joined;
}

static inline u32 pw_ring_group(const struct pw_ring *ring, u32 interface)
{
	return interface < ring->own ? pw_ring_group_own(ring, interface) : 0;
}

u64 pw_ring_dist(const struct pw_ring *ring, u32 from, u32 to);
void pw_ring_latched(struct pw_ring *ring, const struct pw_ring_packet *pkt, u32 interface,
		     struct pw_ring_latch *latch, u64 when);
u32 pw_ring_next_up(const struct pw_ring *ring, u32 from);
void pw_ring_promote(struct pw_ring *ring, u64 t);
struct pw_ring_cmd *pw_ring_take(struct pw_ring *ring, u32 interface, u64 start);
void pw_ring_begin(struct pw_ring *ring, u32 interface, u64 start);
void pw_ring_end(struct pw_ring *ring, struct pw_ring_packet *pkt, u8 err, u64 when);
void pw_ring_reload(const struct pw_ring *ring, struct pw_ring_packet *pkt,
		    struct pw_ring_cmd *cmd);
void pw_ring_again(struct pw_ring *ring, struct pw_ring_packet *pkt);
void pw_ring_pass_on(struct pw_ring *ring, u64 when);
void pw_ring_abandon(struct pw_ring *ring, u64 when);
void pw_ring_reissue(struct pw_ring *ring, u64 when);
void pw_ring_lose(struct pw_ring *ring);
bool pw_ring_may_leave(const struct pw_ring *ring, u64 *when);
u64 pw_ring_give_up(const struct pw_ring *ring, const struct pw_ring_packet *pkt);
void pw_ring_idle(struct pw_ring *ring);

void pw_ring_fast_tap(struct pw_ring *ring, u32 interface);

extern const struct pw_ring_engine pw_ring_rtl;
extern const struct pw_ring_engine pw_ring_fast;

#endif /* PW_CORE_RING_PRIV_H */
