/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libpacketway: stations of a packetway SAN from C.
 *
 *   session	struct pwl: an open /dev/packetway, bound to a station; ATON
 *		commands, registers, standing commands, ring-only interfaces
 *   collective	struct pwl_coll: barriers, reductions and broadcasts among processes
 *   socket	struct pwl_sock: EEP messages to and from a station
 *   packets	pwl_eep_*, pwl_esp_*, pwl_poets_*: bytes to members and back; these
 *		touch nothing but their arguments
 *
 * Functions return 0 or a count, or a negative errno. <linux/packetway.h> says
 * what each errno means, <linux/packetway_eep.h> has opcodes and packet types.
 *
 * Threads: packets functions may be called from any thread at any time. A session
 * may be used by several threads at once, except that open, bind, map and close
 * must not overlap anything else on the same session. A collective is for one thread
 * at a time. A socket may be sent to
 * from several threads at once; only one thread at a time may receive from it.
 *
 * Structures given to the library must be zeroed before members are set; members
 * may be added behind the last one in a later release with a new soname only.
 */
#ifndef PACKETWAY_H
#define PACKETWAY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/packetway.h>
#include <linux/packetway_eep.h>

#ifdef __cplusplus
extern "C" {
#endif

const char *pwl_version(void);

/* Addresses: "00:00:01", "0x1", "1"; pwl_addr_str needs 9 bytes */
#define PWL_ADDR_STRLEN 9
int pwl_addr_parse(const char *text, uint32_t *addr);
char *pwl_addr_str(uint32_t addr, char *buf);

/* Sessions ----------------------------------------------------------------- */

struct pwl;

/* @station: name of a netdevice in the caller's network namespace; NULL: unbound */
int pwl_open(struct pwl **s, const char *station);
int pwl_bind(struct pwl *s, const char *station);
int pwl_unbind(struct pwl *s);
void pwl_close(struct pwl *s);
int pwl_fd(const struct pwl *s);
int pwl_info(struct pwl *s, struct packetway_info *info);

/* ATON --------------------------------------------------------------------- */

/**
 * struct pwl_aton - a command
 * @op: PW_ATON_OP_*
 * @reg: operand register, 0..PACKETWAY_ATON_REGS-1
 * @mods: PACKETWAY_ATON_SIGNED, PACKETWAY_ATON_COMPARAND, PACKETWAY_ATON_PREFIX
 * @dst: execution region; 0: the whole ring
 * @comparand: of a count with PACKETWAY_ATON_COMPARAND
 * @timeout_ms: give up after this time; 0: never
 * @user_data: comes back with the result
 */
struct pwl_aton {
	uint32_t op;
	uint32_t reg;
	uint32_t mods;
	uint32_t dst;
	uint64_t comparand;
	uint32_t timeout_ms;
	uint64_t user_data;
};

/**
 * struct pwl_result - what came back
 * @user_data: of the command
 * @error: enum packetway_aton_error
 * @flags: PACKETWAY_ATON_F_*
 * @counter: interfaces that took part
 * @v1: sum, bits, extreme operand or comparand
 * @v2: address of the selected interface, or the count
 * @wait: bit times waited for the token
 * @ring_bits: bit times on the ring
 */
struct pwl_result {
	uint64_t user_data;
	uint32_t error;
	uint32_t flags;
	uint64_t counter;
	uint64_t v1;
	uint64_t v2;
	uint64_t wait;
	uint64_t ring_bits;
};

/* one command, waiting for its end; @r may be NULL */
int pwl_aton(struct pwl *s, const struct pwl_aton *c, struct pwl_result *r);
/* the same for the whole ring without modifiers */
int pwl_aton_op(struct pwl *s, uint32_t op, uint32_t reg, struct pwl_result *r);
/* all operands in ascending order; returns how many. c->op is ignored here and below */
int pwl_aton_sort(struct pwl *s, const struct pwl_aton *c, uint64_t *out, uint32_t room,
		  struct pwl_result *r);
/* for each bit, in how many operands it is set */
int pwl_aton_bitsum(struct pwl *s, const struct pwl_aton *c, uint32_t parts[64],
		    struct pwl_result *r);
/*
 * 1 and the value that more than half of the interfaces hold, 0 if there is none;
 * r->v2 is the number of those that hold it. Two messages.
 */
int pwl_aton_majority(struct pwl *s, const struct pwl_aton *c, uint64_t *value,
		      struct pwl_result *r);
/* 2^heights interfaces; an opcode for each height, leaves first */
int pwl_aton_tree(struct pwl *s, const struct pwl_aton *c, const uint8_t *ops, uint32_t heights,
		  struct pwl_result *r);
/* the same with an opcode for each of the 2^heights - 1 nodes: those of the first height in the
 * order of the leaves, then those of the next one, the root as the last one; at most
 * PACKETWAY_ATON_NODE_HEIGHTS
 */
int pwl_aton_tree_nodes(struct pwl *s, const struct pwl_aton *c, const uint8_t *nodes,
			uint32_t heights, struct pwl_result *r);

/**
 * struct pwl_latch - what the last command with PACKETWAY_ATON_PREFIX left at the station
 * @op: PW_ATON_OP_* of that command
 * @flags: PACKETWAY_ATON_F_OVERFLOW
 * @src: address of its sender
 * @runs: times that something was latched
 * @counter: interfaces before this one that took part
 * @before: result over those: exclusive scan
 * @with: result over those and this one: inclusive scan
 * @time: ring time, in bit times
 */
struct pwl_latch {
	uint32_t op;
	uint32_t flags;
	uint32_t src;
	uint64_t runs;
	uint64_t counter;
	uint64_t before;
	uint64_t with;
	uint64_t time;
};

/*
 * The latch of an operand register; returns 1, or 0 if nothing was latched yet. Without a
 * system call if @s has leased the register and called pwl_map(). EBUSY: another session has leased the register.
 */
int pwl_aton_latch(struct pwl *s, uint32_t reg, struct pwl_latch *l);

/**
 * struct pwl_reduced - result of a command on the rings of all SANs that routers join
 * @error: enum packetway_aton_error of the own ring
 * @flags: PACKETWAY_ATON_F_*
 * @sans: SANs that took part
 * @missing: SANs that did not
 * @reason: enum packetway_aton_reason, if any are missing
 * @san: MAX, MIN: address of the SAN of the selected interface
 * @counter: interfaces that took part
 * @v1: as in struct pwl_result
 * @v2: likewise
 */
struct pwl_reduced {
	uint32_t error;
	uint32_t flags;
	uint32_t sans;
	uint32_t missing;
	uint32_t reason;
	uint32_t san;
	uint64_t counter;
	uint64_t v1;
	uint64_t v2;
};

/*
 * A basic command on the rings of all SANs that routers and trunks join; c->dst is the whole ring,
 * c->timeout_ms 0: PACKETWAY_ATON_REDUCE_MS. @flags: PACKETWAY_ATON_REDUCE_PARTIAL or 0; @sans:
 * least number of SANs, 0: those that routes are known to. @r is written also if SANs are missing.
 */
int pwl_aton_reduce(struct pwl *s, const struct pwl_aton *c, uint32_t flags, uint32_t sans,
		    struct pwl_reduced *r);

/* queue commands; returns how many were. Not for sort, bitsum, tree */
int pwl_aton_submit(struct pwl *s, const struct pwl_aton *c, uint32_t n);
/* results as they come, at most @n; 0 after @timeout_ms (-1: wait for ever) */
int pwl_aton_results(struct pwl *s, struct pwl_result *r, uint32_t n, int timeout_ms);

/* the interface runs @c by itself whenever the ring is idle, at most every @period_us */
int pwl_aton_stand(struct pwl *s, const struct pwl_aton *c, uint32_t period_us);
int pwl_aton_unstand(struct pwl *s);

const char *pwl_aton_op_name(uint32_t op);
int pwl_aton_op_parse(const char *name);
const char *pwl_aton_strerror(uint32_t error);

/* Registers ---------------------------------------------------------------- */

/* map the register bank; set, get, standing and set_group use it then, without system calls */
int pwl_map(struct pwl *s);
int pwl_set(struct pwl *s, uint32_t reg, uint64_t value);
int pwl_get(struct pwl *s, uint32_t reg, uint64_t *value);
/* newest result of the standing command; returns 1, or 0 if it has not run yet. Needs pwl_map() */
int pwl_standing(struct pwl *s, struct pwl_result *r, uint64_t *runs);
/* bits of the groups 0xE00000 | bit; not before operands that were set earlier */
int pwl_set_group(struct pwl *s, uint32_t mask);
int pwl_bank(struct pwl *s, struct packetway_aton_get *bank);
/*
 * Registers of the station and group bits of the ring that belong to @s until it is closed.
 * All that name the same @key share a group bit, and are in the group while they have it.
 * EBUSY: another one has some of it, and nothing was leased. <linux/packetway.h>,
 * struct packetway_aton_lease. Not beside other calls on @s.
 */
int pwl_lease(struct pwl *s, uint32_t regs, uint32_t group, uint64_t key);
int pwl_lease_return(struct pwl *s, uint32_t regs, uint32_t group);
/* what is free at present */
int pwl_lease_look(struct pwl *s, uint32_t *regs, uint32_t *group);

/**
 * struct pwl_round - a reduction whose result all members of a group get
 * @bit: group bit that all have leased
 * @members: how many take part, one at each of as many stations
 * @round: number, the same at all; another one for each round
 * @call: anything that must be the same at all
 * @op: PW_ATON_OP_ADD, AND, OR, MAX or MIN
 * @mods: PACKETWAY_ATON_SIGNED or 0
 * @count: words
 * @reg: a register that all have leased for each word
 * @word: operands, then results
 * @v2: results, Variable-2
 * @timeout_ms: how long to wait for the others, 0: no limit
 */
struct pwl_round {
	uint32_t bit;
	uint32_t members;
	uint64_t round;
	uint64_t call;
	uint32_t op;
	uint32_t mods;
	uint32_t count;
	uint8_t reg[PACKETWAY_ATON_ROUND_WORDS];
	uint64_t word[PACKETWAY_ATON_ROUND_WORDS];
	uint64_t v2[PACKETWAY_ATON_ROUND_WORDS];
	uint32_t timeout_ms;
};

/* one packet for each word; <linux/packetway.h>, struct packetway_aton_round, has the errors */
int pwl_aton_round(struct pwl *s, struct pwl_round *r);
/*
 * The same, but it waits until CLOCK_MONOTONIC is @until nanoseconds, 0: no limit, instead of
 * @timeout_ms. A program that repeats rounds spares looks at the clock.
 */
int pwl_aton_round_until(struct pwl *s, struct pwl_round *r, uint64_t until);
/*
 * The same with up to PACKETWAY_ATON_ROUND_LONG_WORDS words, results in their place. @r has the
 * registers, @count of them, and neither operands nor results. -EINVAL: also if the module is older
 * (PACKETWAY_FEATURE_LONG_256; PACKETWAY_FEATURE_LONG: up to 128).
 */
int pwl_aton_round_long(struct pwl *s, struct pwl_round *r, uint64_t *words, uint32_t count);
/*
 * The same without waiting: the kernel has the operands, and completes the round when the last
 * member comes. 0: it has, and @r has the results; -EINPROGRESS: ask with the same @r, until
 * another value than -EINPROGRESS, -ETIMEDOUT or -EINTR is the result. Meanwhile the session takes
 * part in no other round of the bit (-EBUSY). The descriptor polls EPOLLPRI when there is a result.
 */
int pwl_aton_round_start(struct pwl *s, struct pwl_round *r);
int pwl_aton_round_test(struct pwl *s, struct pwl_round *r);	/* does not wait */
int pwl_aton_round_wait(struct pwl *s, struct pwl_round *r);	/* @timeout_ms at most */

/* Collectives among processes, one at each of some stations of one ring --------- */

struct pwl_coll;

/*
 * Meet @n - 1 other processes that open the same @name with the same @n, each at another
 * station of the ring. Registers and a group bit are leased until the collective is closed or
 * the process ends. @timeout_ms: how long this and each later call may take, -1: no limit.
 * -ETIMEDOUT: fewer processes came; -EBUSY: no registers or bits are free at all stations.
 */
int pwl_coll_open(struct pwl_coll **c, const char *station, const char *name, uint32_t n,
		  int timeout_ms);
/* the others get -EPIPE from then on */
void pwl_coll_close(struct pwl_coll *c);
void pwl_coll_timeout(struct pwl_coll *c, int timeout_ms);
/* 0 to size - 1, in the order of station addresses */
uint32_t pwl_coll_rank(const struct pwl_coll *c);
uint32_t pwl_coll_size(const struct pwl_coll *c);
/*
 * All members call the same with the same count, one thread at a time. Results come in place
 * of the operands; every result is of all n members, or the call fails:
 *   -EPIPE	a member has ended, closed, or its station has left the ring
 *   -ETIMEDOUT	the time is over
 *   -EPROTO	members call different things
 *   another one	the own station has failed
 * After a failure the operands are lost, the collective can only be closed, calls return
 * -ENOTCONN, and the others fail with -EPIPE.
 */
int pwl_coll_barrier(struct pwl_coll *c);
/* @op: PW_ATON_OP_ADD (modulo 2^64), _MIN, _MAX, _AND, _OR; each word by itself */
int pwl_coll_u64(struct pwl_coll *c, uint32_t op, uint64_t *words, uint32_t count);
int pwl_coll_i64(struct pwl_coll *c, uint32_t op, int64_t *words, uint32_t count);
/*
 * Prefixes in the order of ranks, each word by itself: over the ranks up to this one, or, with
 * @exclusive, over those before it; rank 0 gets the identity of the operation then. Two rounds,
 * and one packet of rank 0 for each word.
 */
int pwl_coll_scan_u64(struct pwl_coll *c, uint32_t op, uint64_t *words, uint32_t count,
		      int exclusive);
int pwl_coll_scan_i64(struct pwl_coll *c, uint32_t op, int64_t *words, uint32_t count,
		      int exclusive);
/* PW_ATON_OP_ADD: exact and rounded once, the same bits in any order; _MIN, _MAX */
int pwl_coll_double(struct pwl_coll *c, uint32_t op, double *x, uint32_t count);
int pwl_coll_float(struct pwl_coll *c, uint32_t op, float *x, uint32_t count);
/* the words of rank @root to all */
int pwl_coll_bcast(struct pwl_coll *c, uint32_t root, uint64_t *words, uint32_t count);

/* Ring-only interfaces, gone with the session --------------------------------- */

int pwl_ring_create(struct pwl *s, uint32_t count, uint32_t regs, uint32_t *first_addr);
int pwl_ring_write(struct pwl *s, uint32_t reg, uint32_t first, uint32_t count,
		   const uint64_t *operands);
int pwl_ring_read(struct pwl *s, uint32_t reg, uint32_t first, uint32_t count,
		  uint64_t *operands);

/* EEP ---------------------------------------------------------------------- */

#define PWL_EEP_CRC32	(1U << 0)	/* announce and append CRC-32C */
#define PWL_EEP_CRC64	(1U << 1)	/* announce and append CRC-64 */
#define PWL_EEP_HOPS	(1U << 2)	/* hop trace: routers write their addresses */
#define PWL_EEP_STAMP	(1U << 3)	/* timestamp; the node that answers an echo fills it if it is 0 */
#define PWL_HOPS_MAX	32

/**
 * struct pwl_eep - a message
 * @dst: destination
 * @src: source, 0: not given
 * @pt: packet type
 * @te: packet type extension
 * @prio: 0..63, 63 goes first
 * @e: byte order and element size, PW_E_*
 * @flags: PWL_EEP_*; after a parse: what the message carried
 * @ei: error indication
 * @route: routing bytes of an L2RH in front (build only)
 * @route_len: their number; 0: no L2RH
 * @data: the data block
 * @len: bytes of it
 * @crc_bad: after a parse: a CRC was there and is wrong
 * @nhops: after a parse: routers in the hop trace
 * @hops: their addresses, the first one first; the node that answers an echo writes its
 *	own between those of the route there and those of the route back
 * @stamp: timestamp, with PWL_EEP_STAMP
 */
struct pwl_eep {
	uint32_t dst;
	uint32_t src;
	uint16_t pt;
	uint16_t te;
	uint8_t prio;
	uint8_t e;
	uint32_t flags;
	uint64_t ei;
	const uint8_t *route;
	uint32_t route_len;
	const void *data;
	size_t len;
	int crc_bad;
	uint32_t nhops;
	uint32_t hops[PWL_HOPS_MAX];
	uint64_t stamp;
};

/* returns bytes written; -ENOSPC if @cap is too small, -EINVAL if a member is wrong */
ssize_t pwl_eep_build(const struct pwl_eep *m, void *buf, size_t cap);
/*
 * @m->data points into @buf. -EBADMSG if it is not a message; *@why, if not NULL,
 * is then a sentence that says so
 */
int pwl_eep_parse(const void *buf, size_t len, struct pwl_eep *m, const char **why);
const char *pwl_pt_name(uint16_t pt);
const char *pwl_te_name(uint16_t pt, uint16_t te);

struct pwl_sock;

/* needs CAP_NET_RAW */
int pwl_sock_open(struct pwl_sock **k, const char *station);
void pwl_sock_close(struct pwl_sock *k);
int pwl_sock_fd(const struct pwl_sock *k);
/* the station's own address and MTU */
uint32_t pwl_sock_addr(const struct pwl_sock *k);
uint32_t pwl_sock_mtu(const struct pwl_sock *k);
/* messages to this logical address (0xe00000 and up) are received, too */
int pwl_sock_join(struct pwl_sock *k, uint32_t group);
/* m->src 0 becomes the station's address */
int pwl_send(struct pwl_sock *k, const struct pwl_eep *m);
/*
 * The next message into @buf, parsed into @m: 1; 0 after @timeout_ms. What is no
 * EEP message is skipped.
 */
int pwl_recv(struct pwl_sock *k, void *buf, size_t cap, struct pwl_eep *m, int timeout_ms);

/*
 * A source route: L2RHs, the one on the own SAN first, as RESOLVE and L2SR give them. They
 * stand in front of every message that is sent from now on; @len 0: none. -EINVAL if @l2rhs
 * is no row of L2RHs, -EMSGSIZE above PWL_ROUTE_MAX
 */
#define PWL_ROUTE_MAX	2048
int pwl_sock_route(struct pwl_sock *k, const void *l2rhs, size_t len);

/* Nodes, as half-routers know them (RRP) ------------------------------------- */

#define PWL_NAME_MAX	127
#define PWL_CAPA_MAX	16
#define PWL_GROUPS_MAX	128

/* a capability (PW_CAPA_*) and its parameters */
struct pwl_capa {
	uint8_t code;
	uint8_t len;
	uint8_t param[30];
};

struct pwl_range {
	uint32_t first, last;
};

/**
 * struct pwl_node - a node
 * @addr: its address
 * @name: its name, or ""
 * @ncapa: number of its capabilities
 * @capa: these
 * @ngroups: number of ranges of logical addresses
 * @group: ranges that it listens to
 */
struct pwl_node {
	uint32_t addr;
	char name[PWL_NAME_MAX + 1];
	uint32_t ncapa;
	struct pwl_capa capa[PWL_CAPA_MAX];
	uint32_t ngroups;
	struct pwl_range group[PWL_GROUPS_MAX];
};

/**
 * struct pwl_query - a description; what is given must all fit
 * @name: the whole name, or NULL
 * @capability: PW_CAPA_*, or 0
 * @group: a logical address, or 0
 */
struct pwl_query {
	const char *name;
	uint8_t capability;
	uint32_t group;
};

/* called for a node that was found; not 0: end the search */
typedef int (*pwl_node_fn)(const struct pwl_node *node, void *arg);

/*
 * Ask the half-routers of a station's SAN (TELL) for all nodes that fit, page by page:
 * their number, @found (may be NULL) is called for each. -ETIMEDOUT: no half-router answers
 */
int pwl_find(struct pwl_sock *k, const struct pwl_query *q, pwl_node_fn found, void *arg,
	     int timeout_ms);
/*
 * Tell the half-routers of the SAN what this station is (INFO), until it goes down;
 * self->addr does not matter. -EMSGSIZE above 256 bytes
 */
int pwl_describe(struct pwl_sock *k, const struct pwl_node *self);
int pwl_node_fits(const struct pwl_node *node, const struct pwl_query *q);
/* records of a TELL for nodes from @first on, and of an INFO; bytes, or a negative errno */
ssize_t pwl_query_build(const struct pwl_query *q, uint32_t first, void *buf, size_t cap);
ssize_t pwl_info_build(const struct pwl_node *self, void *buf, size_t cap);
/* nodes of an INFO: their number; *@more: the first address of those that follow, or 0 */
int pwl_nodes_parse(const void *data, size_t len, struct pwl_node *node, int max, uint32_t *more);

/* ESP ---------------------------------------------------------------------- */

/**
 * struct pwl_esp - one instruction; each uses some of the operands
 * @ctl: PW_ESP_EXECUTE, PW_ESP_REFLECT, ..., location << PW_ESP_LOC_SHIFT
 * @opcode: PW_ESP_COUNT, ...
 * @op: operator: PW_ESP_REL_* or PW_ESP_OP_*
 * @tag: COUNT, COMPARE
 * @thresh: COUNT
 * @val: COMPARE, COLLECT, RCOLLECT
 * @val_tag: COLLECT
 * @cnt_tag: COLLECT
 * @sib_tag: RCHLD, RCOLLECT
 * @fwd_tag: RCHLD, RCOLLECT
 * @fwd_thresh: RCHLD, RCOLLECT
 * @comp_tag: RCOLLECT
 * @pkt_id: RCHLD, RCOLLECT
 */
struct pwl_esp {
	uint8_t ctl;
	uint8_t opcode;
	uint8_t op;
	uint64_t tag;
	uint64_t thresh;
	uint64_t val;
	uint64_t val_tag;
	uint64_t cnt_tag;
	uint64_t sib_tag;
	uint64_t fwd_tag;
	uint64_t fwd_thresh;
	uint64_t comp_tag;
	uint64_t pkt_id;
};

#define PWL_ESP_LEN_MAX 56

ssize_t pwl_esp_build(const struct pwl_esp *e, void *buf, size_t cap);
int pwl_esp_parse(const void *buf, size_t len, struct pwl_esp *e, const char **why);
int pwl_esp_send(struct pwl_sock *k, uint32_t dst, const struct pwl_esp *e);
/*
 * Send with Reflect and wait for the packet to come back: 1 and @e as it
 * returned (PW_ESP_ERROR in ctl: aborted), 0 if it did not within @timeout_ms,
 * so that a node has discarded it. One call at a time on a socket.
 */
int pwl_esp_call(struct pwl_sock *k, uint32_t dst, struct pwl_esp *e, int timeout_ms);
const char *pwl_esp_name(uint8_t opcode);
int pwl_esp_parse_name(const char *name);
/* operator of @opcode by name ("add", "le"), or a negative errno */
int pwl_esp_op_parse(uint8_t opcode, const char *name);

/* POETS -------------------------------------------------------------------- */

struct pwl_poets {
	uint32_t sw_addr;
	uint32_t pin_addr;
	const void *payload;
	size_t len;
};

#define PWL_POETS_LEN_MAX 64

uint32_t pwl_poets_sw_addr(int mothership, int cnc, uint8_t task, uint8_t opcode,
			   uint16_t device);
uint32_t pwl_poets_pin_addr(uint8_t pin, uint32_t edge);
ssize_t pwl_poets_build(const struct pwl_poets *p, void *buf, size_t cap);
int pwl_poets_parse(const void *buf, size_t len, struct pwl_poets *p);

/*
 * The softswitch or mothership of a bound session's station, as <linux/packetway.h>
 * has it: a new descriptor, to read events from and write packets to. It goes with
 * close(). o->size is filled in.
 */
int pwl_poets_open(struct pwl *s, const struct packetway_poets_open *o);
/* add devices; returns the address of the first one. @edges: one per pin */
int pwl_poets_load(int fd, uint32_t devices, const uint32_t *pins, const uint32_t *edges);
int pwl_poets_start(int fd);
int pwl_poets_kill(int fd);
int pwl_poets_reset(int fd);
int pwl_poets_get(int fd, struct packetway_poets_get *g);
int pwl_poets_count(int fd, uint32_t send_handlers, uint32_t idle, uint32_t idle_handlers,
		    uint32_t blocked);
/* packets of a log message, to be given hw_addr and written; returns how many */
int pwl_poets_log_build(uint16_t device, const char *text, size_t len,
			struct packetway_poets_packet p[4]);

/* one for each source of log packets, zeroed at first */
struct pwl_poets_log {
	uint32_t opaque[64];
};

/*
 * A log packet of that source: when it ends a message, bytes of it and where they
 * are (until the next call), otherwise 0
 */
int pwl_poets_log_add(struct pwl_poets_log *log, const void *payload, size_t len,
		      const char **text);

#ifdef __cplusplus
}
#endif

#endif /* PACKETWAY_H */
