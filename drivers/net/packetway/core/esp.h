/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ephemeral state processing: the store, the instructions, the packet.
 *
 * Nothing here allocates, locks or reads a clock. A store and everything that
 * is called with it needs one lock of the caller. Time is any unsigned 64-bit
 * count of any unit that does not go backwards (should it do so, the store
 * uses the latest time it has seen); a lifetime is in the same unit.
 *
 * The functions of esp_tools.c are for tools and tests: the module does not have them.
 */
#ifndef PW_CORE_ESP_H
#define PW_CORE_ESP_H

#include "pw_os.h"
#include <linux/packetway_eep.h>

/* ---- store ---- */

#define PW_ESP_FACTS		PW_ESP_TAG_BYTES

#define PW_ESP_CAPACITY_MAX	0x1000000U
/* longest hash chain: beyond it a new tag is refused as if the store were full */
#define PW_ESP_PROBE_MAX	24U
/* expired bindings given back at the start of every operation */
#define PW_ESP_REAP_BATCH	8U
#define PW_ESP_LIFETIME_MS	10000U
/* bindings in a piece of memory of PW_ESP_CHUNK_BYTES */
#define PW_ESP_CHUNK		128U

struct pw_esp_binding {
	u64 tag;
	u64 val;
	u64 born;
	u32 hash;
	u32 next;		/* younger binding of the same chain */
};

#define PW_ESP_CHUNK_BYTES	(PW_ESP_CHUNK * sizeof(struct pw_esp_binding))

/* the first words of a piece of memory without bindings */
struct pw_esp_spare {
	struct pw_esp_spare *next;
};

/**
 * struct pw_esp_store - tags to values, each for one lifetime
 * @key: secret of the hash function
 * @lifetime: of every binding, from its creation
 * @ended: bindings created before this time expired under an earlier lifetime
 * @now: latest time seen
 * @capacity: bindings that fit
 * @mask: number of hash chains - 1
 * @head: index of the oldest binding in @ring
 * @used: bindings in the ring, expired ones that are not yet given back included
 * @bucket: index of the oldest binding of every chain
 * @chunk: the ring in pieces of PW_ESP_CHUNK places: bindings in the order of their
 *	creation, which is that of expiry
 * @room: places at the young end of the ring that have memory, or fewer
 * @spare: sparse: pieces without bindings
 * @facts: values of the node itself, by PW_ESP_TAG_* - 1; NULL: the node has none, and their tags
 *	are like others
 * @sparse: the owner gives memory as the store fills: pw_esp_store_lacks()
 */
struct pw_esp_store {
	siphash_key_t key;
	u64 lifetime;
	u64 ended;
	u64 now;
	u32 capacity;
	u32 mask;
	u32 head;
	u32 used;
	u32 room;
	u32 *bucket;
	struct pw_esp_binding **chunk;
	struct pw_esp_spare *spare;
	const u64 *facts;
	bool sparse;
};

/* place of the @nth oldest binding */
static inline u32 pw_esp_ring_index(const struct pw_esp_store *st, u32 nth)
{
	u32 i = st->head + nth;

	return i >= st->capacity ? i - st->capacity : i;
}

/* the binding at place @i of the ring */
static inline struct pw_esp_binding *pw_esp_at(const struct pw_esp_store *st, u32 i)
{
	return &st->chunk[i / PW_ESP_CHUNK][i % PW_ESP_CHUNK];
}

size_t pw_esp_store_bytes(u32 capacity);
int pw_esp_store_init(struct pw_esp_store *st, void *mem, size_t bytes, u32 capacity,
		      u64 lifetime, const siphash_key_t *key);
size_t pw_esp_sparse_bytes(u32 capacity);
int pw_esp_sparse_init(struct pw_esp_store *st, void *mem, size_t bytes, u32 capacity,
		       u64 lifetime, const siphash_key_t *key);
size_t __pw_esp_store_lacks(struct pw_esp_store *st);
void pw_esp_store_give(struct pw_esp_store *st, void *mem);
void *pw_esp_store_take(struct pw_esp_store *st);
void pw_esp_store_clear(struct pw_esp_store *st);
bool pw_esp_store_get(struct pw_esp_store *st, u64 now, u64 tag, u64 *val);
int pw_esp_store_put(struct pw_esp_store *st, u64 now, u64 tag, u64 val);
u32 pw_esp_store_reap(struct pw_esp_store *st, u64 now, u32 budget);
u32 pw_esp_store_live(struct pw_esp_store *st, u64 now);
u64 pw_esp_store_next_expiry(const struct pw_esp_store *st);
u64 pw_esp_store_last_expiry(const struct pw_esp_store *st);
bool pw_esp_store_peek(struct pw_esp_store *st, u64 now, u32 nth, u64 *tag, u64 *val, u64 *left);
void pw_esp_store_set_lifetime(struct pw_esp_store *st, u64 now, u64 lifetime);
int pw_esp_store_copy(struct pw_esp_store *dst, struct pw_esp_store *src, u64 now);
u64 pw_esp_mark_tag(const struct pw_esp_store *st, u64 sib_tag, u64 pkt_id);

/*
 * A transaction reads and writes a few tags and then takes effect as a whole or
 * not at all. Reads see what the transaction itself wrote. There is nothing to
 * undo: drop it instead of committing it.
 */
#define PW_ESP_TXN_MAX		4U	/* RCOLLECT: mark, siblings, total, forwarded */

struct pw_esp_slot {
	u64 tag;
	u64 val;
	u32 index;		/* in the ring; U32_MAX: not there */
	u32 hash;
	u32 depth;		/* length of its chain */
	bool bound;
	bool dirty;
};

struct pw_esp_txn {
	struct pw_esp_store *st;
	unsigned int n;
	struct pw_esp_slot slot[PW_ESP_TXN_MAX];
};

/**
 * pw_esp_store_lacks - memory that the next transaction may need
 * @st: the store
 *
 * The owner of a sparse store gives it memory (pw_esp_store_give) until this returns 0, before
 * each transaction or instruction.
 *
 * Return: bytes of the next piece, 0: the store has what it needs.
 */
static inline size_t pw_esp_store_lacks(struct pw_esp_store *st)
{
	return likely(st->room >= PW_ESP_TXN_MAX) ? 0 : __pw_esp_store_lacks(st);
}

void pw_esp_txn_begin(struct pw_esp_txn *t, struct pw_esp_store *st, u64 now);
bool pw_esp_txn_get(struct pw_esp_txn *t, u64 tag, u64 *val);
void pw_esp_txn_put(struct pw_esp_txn *t, u64 tag, u64 val);
int pw_esp_txn_commit(struct pw_esp_txn *t);

/* ---- packet ---- */

/*
 * byte 0: control; byte 1: opcode; bytes 2..3: length, in 32-bit words, of the
 * operands; bytes 4..: operands. The first operand is a 32-bit word with the
 * operator (0 where the instruction has none), all others have 64 bits and
 * follow in the order of pw_esp_desc[].field. All are big-endian. Every 64-bit
 * operand is on a multiple of 8 bytes from the start of the packet.
 * What follows the operands is the application's and is not looked at.
 */
#define PW_ESP_HDR_LEN		4U
#define PW_ESP_FIELDS_MAX	6U
#define PW_ESP_LEN_MAX		(PW_ESP_HDR_LEN + 4U + 8U * PW_ESP_FIELDS_MAX)

enum pw_esp_field {
	PW_ESP_F_TAG,
	PW_ESP_F_THRESH,
	PW_ESP_F_VAL,
	PW_ESP_F_VAL_TAG,
	PW_ESP_F_CNT_TAG,
	PW_ESP_F_SIB_TAG,
	PW_ESP_F_FWD_TAG,
	PW_ESP_F_FWD_THRESH,
	PW_ESP_F_COMP_TAG,
	PW_ESP_F_PKT_ID,
	PW_ESP_F_COUNT
};

enum pw_esp_op_kind {
	PW_ESP_OPK_NONE,
	PW_ESP_OPK_COMPARE,
	PW_ESP_OPK_REDUCE,
};

struct pw_esp_desc {
	const char *name;
	u8 op_kind;		/* enum pw_esp_op_kind */
	u8 n;			/* 64-bit operands */
	u8 field[PW_ESP_FIELDS_MAX];
};

/* one more than the highest opcode; entry 0 stands for every unknown one */
#define PW_ESP_OPCODES		(PW_ESP_RCOLLECT + 1)

extern const struct pw_esp_desc pw_esp_desc[PW_ESP_OPCODES];
extern const char *const pw_esp_field_name[PW_ESP_F_COUNT];

struct pw_esp_insn {
	u8 ctl;
	u8 opcode;
	u8 op;
	u64 f[PW_ESP_F_COUNT];
};

/* why an instruction was aborted, or a packet dropped */
enum pw_esp_reason {
	PW_ESP_R_OK,
	PW_ESP_R_SHORT,		/* no room for the header */
	PW_ESP_R_LOCATION,	/* unknown location code */
	PW_ESP_R_OPCODE,	/* unknown opcode */
	PW_ESP_R_LENGTH,	/* operands missing, too many, or cut off */
	PW_ESP_R_OPERATOR,	/* unknown operator */
	PW_ESP_R_STATE,		/* state that must be there is not */
	PW_ESP_R_FULL,		/* no room for a new binding */
	PW_ESP_R_READONLY,	/* writes a value of the node, or names one that is not known */
	PW_ESP_R_COUNT
};

extern const char *const pw_esp_reason_name[PW_ESP_R_COUNT];

enum pw_esp_reason pw_esp_parse(const void *buf, size_t len, struct pw_esp_insn *in);
size_t pw_esp_build(void *buf, size_t size, const struct pw_esp_insn *in);
bool pw_esp_op_valid(enum pw_esp_op_kind kind, u8 op);
const char *pw_esp_op_name(enum pw_esp_op_kind kind, u8 op);

/* ---- execution ---- */

enum pw_esp_verdict {
	PW_ESP_V_PASS,		/* not for this node to execute: goes on unchanged */
	PW_ESP_V_FORWARD,	/* executed: goes on, maybe with changed operands */
	PW_ESP_V_DISCARD,	/* executed: goes no further */
	PW_ESP_V_ABORT,		/* not executed: goes on with Error, without Execute */
	PW_ESP_V_DROP,		/* not an ESP packet */
	PW_ESP_V_COUNT
};

extern const char *const pw_esp_verdict_name[PW_ESP_V_COUNT];

/**
 * struct pw_esp_node - one place where instructions are executed
 * @store: its state
 * @id: what RCHLD and RCOLLECT write into pktId; unique among neighbours
 * @router: a half-router; otherwise an end system
 */
struct pw_esp_node {
	struct pw_esp_store *store;
	u64 id;
	bool router;
};

/**
 * struct pw_esp_result - what became of a packet
 * @verdict: what to do with it
 * @reason: why, for PW_ESP_V_ABORT and PW_ESP_V_DROP
 * @opcode: index into pw_esp_desc[]; 0 where it is unknown or was not looked at
 * @changed: bit (enum pw_esp_field) set for every operand written
 */
struct pw_esp_result {
	enum pw_esp_verdict verdict;
	enum pw_esp_reason reason;
	u8 opcode;
	u32 changed;
};

enum pw_esp_verdict pw_esp_exec(struct pw_esp_store *st, u64 node_id, u64 now,
				struct pw_esp_insn *in, struct pw_esp_result *res);
enum pw_esp_verdict pw_esp_node_input(const struct pw_esp_node *node, u64 now, void *buf,
				      size_t len, struct pw_esp_result *res);
bool pw_esp_reflect(void *buf, size_t len);
bool pw_esp_names_node(const void *buf, size_t len);

#endif /* PW_CORE_ESP_H */
