/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ATON: a token ring whose interfaces compute while a packet passes.
 *
 * One API, two engines. The caller supplies the memory and serialises the
 * calls; nothing here allocates, locks, sleeps or reads a clock. Time is counted
 * in bit times and advances only inside pw_ring_run(): an idle ring costs
 * nothing. Documentation/networking/packetway-aton.rst describes the model.
 */
#ifndef PW_CORE_RING_H
#define PW_CORE_RING_H

#include "pw_os.h"

#define PW_ATON_REGS		16	/* operand registers of an interface */
#define PW_ATON_HEIGHTS		20	/* tallest TREE: 2^20 leaves */
#define PW_ATON_NODE_HEIGHTS	7	/* tallest TREE with an operation for each node */
#define PW_ATON_PARTS		64	/* room for the counts of a BITSUM, one per operand bit */
#define PW_ATON_WIDTH		64	/* bits of an operand: most, and as published */
#define PW_ATON_BITSUM_BITS	24	/* bits of a count in a BITSUM, likewise */
#define PW_ATON_V2_MIN		24	/* least bits of Variable-2 */
#define PW_ATON_ADDR_MASK	0xffffffu
#define PW_ATON_RING		0xffffffu	/* destination: the whole ring */
#define PW_ATON_GROUP		0xe00000u	/* destination: PW_ATON_GROUP | mask */
#define PW_ATON_GROUP_MASK	0x0fffffu
#define PW_ATON_GROUP_BITS	20
#define PW_ATON_MAX_INTERFACES	0x100000u

enum pw_aton_op {
	PW_ATON_PASSIVE = 0,	/* plain data, no command */
	PW_ATON_ADD = 1,
	PW_ATON_AND = 2,
	PW_ATON_OR = 3,
	PW_ATON_MAX = 4,
	PW_ATON_MIN = 5,
	PW_ATON_COUNT_EQ = 6,
	PW_ATON_COUNT_LT = 7,
	PW_ATON_COUNT_LE = 8,
	PW_ATON_SORT = 16,
	PW_ATON_BITSUM = 17,
	PW_ATON_TREE = 18,
};

/* modifiers of a command */
#define PW_ATON_SIGNED		BIT(0)	/* compare as two's complement */
#define PW_ATON_COMPARAND	BIT(1)	/* a count against cmd->comparand */
#define PW_ATON_PREFIX		BIT(2)	/* interfaces latch what passes them, see pw_ring_latch */

/* how a command ended */
enum pw_aton_error {
	PW_ATON_OK = 0,
	PW_ATON_E_CRC,		/* the packet came back damaged */
	PW_ATON_E_LOST,		/* the packet did not come back */
	PW_ATON_E_DOWN,		/* the T-interface went down or left */
	PW_ATON_E_SHAPE,	/* TREE: not 2^heights operands in the region */
	PW_ATON_E_ROOM,		/* SORT: more operands than cmd->out holds */
};

/* flags in the trailer, as the T-interface got them back */
#define PW_ATON_F_OVERFLOW	BIT(0)	/* carry out of an operand, or of a count in a BITSUM */
#define PW_ATON_F_RECOGNISED	BIT(1)	/* an interface was in the region */

/**
 * struct pw_ring_cmd - one packet to send, and what came of it
 * @op: enum pw_aton_op
 * @reg: operand register of every interface that the command uses
 * @mods: PW_ATON_SIGNED, PW_ATON_COMPARAND, PW_ATON_PREFIX
 * @heights: TREE: number of heights
 * @ops: TREE: the operation of each height, leaves first
 * @nodes: TREE: an operation for each of the 2^@heights - 1 nodes instead of @ops: those of
 *	height 0 in the order of the leaves, then those of height 1, the root as the last one; at
 *	most PW_ATON_NODE_HEIGHTS. NULL: none
 * @dst: execution region, or destination of a passive packet
 * @len: PASSIVE: bytes at @data
 * @room: SORT: operands that fit at @out
 * @comparand: a count's comparand under PW_ATON_COMPARAND
 * @when: bit time from which on it is queued; in the past: now
 * @gap: standing command: least bit times from one trigger to the next
 * @cookie: for the caller; the ring does not use it
 * @data: PASSIVE: what to send
 * @out: SORT: result, ascending
 * @parts: BITSUM: result, PW_ATON_PARTS counts; those of bits that operands do not have are 0
 * @err: enum pw_aton_error; the results below hold only when it is PW_ATON_OK
 * @flags: PW_ATON_F_*
 * @counter: interfaces that took part (PASSIVE: bytes)
 * @runs: times completed (a standing command completes again and again)
 * @v1: Variable-1; under PW_ATON_SIGNED the sign of a narrower operand is extended
 * @v2: Variable-2
 * @submit: bit time at which it was queued
 * @wait: bit times waited for the token
 * @ring_bits: bit times on the ring: packet bits + n * (1 + propagation)
 * @done: bit time at which it ended: submit + wait + ring_bits
 *
 * The caller provides it. A queued command belongs to the ring until pw_ring_reap() or
 * pw_ring_cancel() returns it, a standing one until pw_ring_stand() replaces it.
 */
struct pw_ring_cmd {
	u8 op;
	u8 reg;
	u8 mods;
	u8 heights;
	u8 ops[PW_ATON_HEIGHTS];
	u32 dst;
	u32 len;
	u32 room;
	u64 comparand;
	u64 when;
	u64 gap;
	u64 cookie;
	const u8 *data;
	const u8 *nodes;
	u64 *out;
	u32 *parts;

	u8 err;
	u8 flags;
	u32 counter;
	u32 runs;
	u64 v1;
	u64 v2;
	u64 submit;
	u64 wait;
	u64 ring_bits;
	u64 done;

	/* private: */
	struct pw_ring_cmd *next;
	struct pw_ring_cmd *next_done;
	struct pw_ring_sender *sender;
	u32 interface;
	bool standing;
	bool on_done;
};

/**
 * struct pw_ring_latch - partial result of a command with PW_ATON_PREFIX, at one interface
 * @before: the result over the interfaces before this one, from the T-interface on: an
 *	exclusive scan; the identity of the operation if there is none
 * @with: the result over those and this one: an inclusive scan
 * @counter: interfaces before this one that took part
 * @src: address of the T-interface
 * @flags: PW_ATON_F_OVERFLOW: a sum up to here has overflown
 *
 * The result is Variable-1, of a count Variable-2. An interface latches it if it is in the
 * region and the packet has passed it undamaged; the T-interface if the command ends well.
 */
struct pw_ring_latch {
	u64 before;
	u64 with;
	u32 counter;
	u32 src;
	u8 flags;
};

/* private: a packet, from its start until its T-interface has it back */
struct pw_ring_packet {
	struct pw_ring_cmd *cmd;
	struct pw_ring_packet *next;	/* the one that started after it */
	u64 start;		/* first symbol leaves the T-interface */
	u64 bits;		/* as sent; a SORT packet grows on the ring */
	u64 clear_at;		/* those before it are back by then */
	u64 end;		/* fast, once the token is released: when it is back */
	u64 x;			/* the T-interface's operand */
	u64 v1, v2;
	u64 first;		/* result over the T-interface alone: v1, of a count v2 */
	u32 t;			/* the T-interface */
	u32 addr;		/* and its address */
	u32 counter;
	u16 control;
	u8 trailer;
	u8 err;			/* fast, likewise: how the command ends */
	bool in_region;		/* the T-interface is in the region */
	bool hold;		/* the T-interface keeps the token until the packet is back */
};

/**
 * struct pw_ring_sender - registers and command queue of an interface that sends
 * @operands: PW_ATON_REGS operand registers kept by the caller (a mapped page,
 *	say), or NULL for those in the ring's memory
 * @group: group mask register kept by the caller, or NULL; a command that finds the
 *	interface in a group sees the operands that were stored before the mask
 * @leased: mask of the registers that are at @lease instead of @operands
 * @joined: group bits that the interface has in addition to those of @group
 * @lease: where the registers in @leased are
 * @taken: mask of the bits of @group that are ignored, or NULL
 * @counter: result register of the last command that ended well
 * @v1: result register
 * @v2: result register
 * @ring_time: result register: wait + ring bits
 * @command: command register: control field of the command last started
 * @status: status register: error of the last command, in bits 7..0, flags above
 * @irq_mask: interrupt mask register; the caller's to interpret
 *
 * With the operand register, the station id and the group mask these are the ten
 * registers of an interface. An interface without a sender computes but does not send;
 * most interfaces of a large ring need none.
 */
struct pw_ring_sender {
	const u64 *operands;
	const u32 *group;
	u32 leased;
	u32 joined;
	const u64 *lease[PW_ATON_REGS];
	const u32 *taken;
	u64 counter;
	u64 v1;
	u64 v2;
	u64 ring_time;
	u32 command;
	u32 status;
	u32 irq_mask;

	/* private: */
	u32 interface;
	u32 queued;
	struct pw_ring_cmd *head;
	struct pw_ring_cmd *tail;
	struct pw_ring_cmd *standing;
	u64 standing_after;
	struct pw_ring_sender *next_standing;
	struct pw_ring_sender *next_future;
	struct pw_ring_packet pkt;
};

/* blocks that a ring may have */
#define PW_RING_BLOCKS	256

/**
 * struct pw_ring_block - interfaces that compute and never send
 * @operand: their operand registers, [@nregs][@count], kept by the caller
 * @count: how many interfaces
 * @nregs: operand registers of each; the interfaces take no part in a command that uses
 *	a register beyond these
 * @addr: address of the first; the others' follow
 *
 * The interfaces of blocks follow all others, are always up and are in no group. A block
 * joins and leaves in constant time, whatever its size.
 */
struct pw_ring_block {
	u64 *operand;
	u32 count;
	u32 nregs;
	u32 addr;

	/* private: */
	u32 first;
};

#define PW_RING_PROPAGATION_MAX	65536
#define PW_RING_BITSUM_FIT	U32_MAX

enum pw_ring_engine_id { PW_RING_RTL, PW_RING_FAST };

/* when a T-interface releases the token */
enum pw_ring_release {
	PW_RING_BACK,		/* when its packet is back: one packet is on the ring at a time */
	PW_RING_APPENDED,	/* behind the last symbol of its packet */
	PW_RING_RELEASES,
};

struct pw_ring;

/**
 * struct pw_ring_params - parameters of a ring
 * @engine: enum pw_ring_engine_id
 * @capacity: largest number of interfaces in no block
 * @extra: largest number of interfaces in blocks
 * @nregs: operand registers of each interface, 1..PW_ATON_REGS
 * @release: enum pw_ring_release
 * @propagation: extra bit times per hop, 0..PW_RING_PROPAGATION_MAX
 * @width: bits of an operand, 1..PW_ATON_WIDTH; 0: PW_ATON_WIDTH. Operands are taken modulo
 *	2^width
 * @bitsum: bits of a count in a BITSUM, 1..PW_ATON_BITSUM_BITS; 0: PW_ATON_BITSUM_BITS;
 *	PW_RING_BITSUM_FIT: as many as a count of all interfaces takes
 * @max_bytes: longest passive packet
 * @queue_sender: limit of commands queued at one interface, passive packets aside; 0: no limit
 * @queue_ring: limit of commands queued at all interfaces, likewise; 0: no limit
 * @deliver: called when a passive packet has passed an interface in its region and its
 *	CRC was good there; @when is that bit time; may be NULL. Of packets that are on the
 *	ring at the same time, one may be reported as a whole before the other
 * @latch: called when an interface that is in no block has latched a partial result of
 *	@cmd; @when is the bit time at which the packet has passed; may be NULL
 * @tap: called, while the tap is on, with each packet that leaves an interface: @when is
 *	the bit time of its first symbol, @packet its bits without the delimiters; may be
 *	NULL
 * @ctx: for @deliver, @latch and @tap
 */
struct pw_ring_params {
	u8 engine;
	u8 nregs;
	u32 release;
	u32 capacity;
	u32 extra;
	u32 propagation;
	u32 width;
	u32 bitsum;
	u32 max_bytes;
	u32 queue_sender;
	u32 queue_ring;
	void (*deliver)(void *ctx, u32 interface, const struct pw_ring_cmd *cmd, u64 when);
	void (*latch)(void *ctx, struct pw_ring_sender *sender, u32 interface,
		      const struct pw_ring_cmd *cmd, const struct pw_ring_latch *latch, u64 when);
	void (*tap)(void *ctx, u32 interface, u64 when, const u8 *packet, u32 bytes);
	void *ctx;
};

enum pw_ring_fault_kind {
	PW_FAULT_FLIP,		/* symbol @bit of the next packet, leaving hop @hop */
	PW_FAULT_STUCK,		/* interface @hop, in no block, swallows another's next packet */
	PW_FAULT_LEAVE,		/* the next T-interface goes down @bit bit times after its start */
	/*
	 * the free token vanishes at bit time @at, or when next free; beside packets it is lost
	 * when it is released, or when they are back
	 */
	PW_FAULT_LOSE,
	PW_FAULT_DUP,		/* the token is released twice, next time */
};

/**
 * struct pw_ring_fault - an injected fault
 * @kind: enum pw_ring_fault_kind
 * @hop: FLIP: hops from the T-interface, which is 0; STUCK: the interface
 * @bit: FLIP: symbol of the packet, the first being 0; LEAVE: bit times
 * @at: LOSE: bit time
 */
struct pw_ring_fault {
	u8 kind;
	u32 hop;
	u64 bit;
	u64 at;
};

struct pw_ring_stats {
	u64 packets;		/* active and passive */
	u64 standing;		/* of these, standing commands */
	u64 bits;		/* bit times with a packet on the ring */
	u64 errors[PW_ATON_E_ROOM + 1];
	u64 tokens_lost;	/* and regenerated */
	u64 tokens_dup;
	u64 orphans;		/* packets stripped by the active monitor */
	u64 flips;
	u64 stuck;
	u64 purges;		/* interfaces inserted or removed */
	u64 refused;		/* commands, because too many were queued */
};

enum pw_ring_progress {
	PW_RING_IDLE,		/* nothing left to do up to the given time */
	PW_RING_MORE,		/* budget used up */
};

size_t pw_ring_size(const struct pw_ring_params *params);
struct pw_ring *pw_ring_init(void *mem, const struct pw_ring_params *params);

int pw_ring_attach(struct pw_ring *ring, u32 pos, u32 count, u32 addr, u32 group);
int pw_ring_detach(struct pw_ring *ring, u32 pos, u32 count);
int pw_ring_append(struct pw_ring *ring, struct pw_ring_block *block);
int pw_ring_remove(struct pw_ring *ring, struct pw_ring_block *block);
void pw_ring_break(struct pw_ring *ring);
void pw_ring_restart(struct pw_ring *ring);
int pw_ring_move(struct pw_ring *to, struct pw_ring *from);
int pw_ring_bind(struct pw_ring *ring, u32 interface, struct pw_ring_sender *sender);
int pw_ring_set_up(struct pw_ring *ring, u32 interface, bool up);
int pw_ring_set_mute(struct pw_ring *ring, u32 interface, bool mute);
u32 pw_ring_interfaces(const struct pw_ring *ring);

int pw_ring_submit(struct pw_ring *ring, u32 interface, struct pw_ring_cmd *cmd);
int pw_ring_stand(struct pw_ring *ring, u32 interface, struct pw_ring_cmd *cmd);
int pw_ring_cancel(struct pw_ring *ring, struct pw_ring_cmd *cmd);
int pw_ring_fault(struct pw_ring *ring, const struct pw_ring_fault *fault);
void pw_ring_tap(struct pw_ring *ring, void *mem, size_t size);

enum pw_ring_progress pw_ring_run(struct pw_ring *ring, u64 until, u32 budget);
struct pw_ring_cmd *pw_ring_reap(struct pw_ring *ring);
bool pw_ring_ended(const struct pw_ring *ring);
u64 pw_ring_now(const struct pw_ring *ring);
u64 pw_ring_due(const struct pw_ring *ring);
u64 pw_ring_latency(const struct pw_ring *ring);
const struct pw_ring_stats *pw_ring_stats(const struct pw_ring *ring);

/* ring_tools.c: for tools and tests */
size_t pw_ring_bytes_per_interface(const struct pw_ring_params *params);
bool pw_ring_is_up(const struct pw_ring *ring, u32 interface);
u32 pw_ring_monitor(const struct pw_ring *ring);
u32 pw_ring_addr(const struct pw_ring *ring, u32 interface);
bool pw_ring_busy(const struct pw_ring *ring);
u64 *pw_ring_operands(struct pw_ring *ring, u32 reg);
int pw_ring_set_operand(struct pw_ring *ring, u32 interface, u32 reg, u64 value);

#endif /* PW_CORE_RING_H */
