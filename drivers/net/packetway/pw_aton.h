/* SPDX-License-Identifier: GPL-2.0 */
/* checkpatch-ignore: COMPLEX_MACRO,MACRO_ARG_REUSE (the list of counters) */
/*
 * The ATON ring of a SAN in the kernel.
 *
 * struct pw_aton is made with its SAN and stopped with it. Its lock guards the ring
 * core, everything queued in it and the registers; the ring runs in a NAPI poll of
 * its own (pw_aton_poll), a bounded number of steps at a time, and only while there
 * is something to do. Commands are owned by the file that issued them; the ring
 * borrows them from pw_ring_submit() until it signals req->done, which is the
 * last thing it does to them.
 *
 * A command and a block hold the struct pw_aton that they were given to, so they can
 * be taken back from it at any time, whatever the file is bound to by then and
 * whether or not the station and the SAN still exist. Submitters hold RCU: a station
 * leaves the ring a grace period after it was withdrawn.
 *
 * While the SAN is in lockstep and there are participants, the ring runs by the clock:
 *
 *   submit -> alarm at the next cycle, which comes when all participants are blocked
 *          -> time stands still (@held): the poll runs what is queued, to its end
 *          -> each command waits (@ripe) for the virtual time of its last bit
 *
 * So neither the commands that are queued together nor the times of their results depend
 * on when Linux runs their senders.
 *
 * Interfaces come and go under RTNL. That waits for no command: a ring packet
 * is broken off, and its sender repeats it (pw_ring_break). A ring of another engine
 * takes over everything that is queued (pw_ring_move).
 */
#ifndef PW_ATON_GLUE_H
#define PW_ATON_GLUE_H

#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <linux/packetway.h>

#include "ring/ring.h"
#include "pw_share.h"
#include "pw_time.h"

struct dentry;
struct netlink_ext_ack;
struct pw_aton_lease;
struct pw_aton_round;
struct pw_file;
struct pw_san;
struct pw_station;

/* nominal speed of the ring: what paces standing commands, and virtual time of frames */
#define PW_ATON_BITS_PER_US	16

/**
 * struct pw_aton_req - a command and who waits for it
 * @cmd: for the ring core
 * @done: signalled when the ring has let go of it
 * @entry: in pw_file.aton_queued or aton_done
 * @ended: the ring's, between reaping and signalling
 * @due: lockstep: virtual time at which it is signalled; aton->lock
 * @ripe: it is in pw_aton.ripe; aton->lock
 * @aton: ring that it was given to, held until pw_aton_req_drop(); NULL: none
 * @aif: standing command: interface that it is installed at; aton->lock
 * @pf: file that issued it; NULL: a task waits on @done
 * @complete: informs @pf that the command has ended; BH off. NULL without @pf
 * @ran: standing command: informs @pf that it has run, and whether its result has changed;
 *	aton->lock held
 * @by: file whose leases count for a command with the modifier prefix
 * @key: of the group that such a command goes to, 0: no file has leased it; aton->lock
 * @user_data: the program's
 * @out: SORT: result
 * @parts: BITSUM: result
 * @nodes: TREE: operations of its nodes, or NULL
 * @has_run: standing command: it has had its first result; aton->lock
 * @pending: commands of its round that have not ended; aton->lock. @complete is called for the last
 *	one of them, and @done is not signalled. The members hold @aton, and after @complete the
 *	round may be freed. NULL: it belongs to no round
 */
struct pw_aton_req {
	struct pw_ring_cmd cmd;
	struct completion done;
	struct list_head entry;
	struct list_head ended;
	u64 due;
	bool ripe;
	struct pw_aton *aton;
	struct pw_aton_interface *aif;
	struct pw_file *pf;
	void (*complete)(struct pw_aton_req *req);
	void (*ran)(struct pw_aton_req *req, bool changed);
	const struct pw_file *by;
	u64 key;
	u64 user_data;
	u64 *out;
	u32 *parts;
	u8 *nodes;
	u32 *pending;
	bool has_run;
};

/* longest passive packet, in bytes */
#define PW_ATON_PASSIVE_MAX	4096

struct pw_aton_frame;

/**
 * struct pw_aton_frame_ops - what becomes of passive packets
 * @arrived: one has passed the interface of a port that it is for; @when is that bit time
 * @ended: one is back, or did not come back: @frame->cmd says how. It is the caller's again
 *
 * aton->lock held, BH off.
 */
struct pw_aton_frame_ops {
	void (*arrived)(struct pw_aton_frame *frame, u32 port, u64 when);
	void (*ended)(struct pw_aton_frame *frame);
};

/**
 * struct pw_aton_frame - a passive packet
 * @cmd: for the ring core; PW_ATON_PASSIVE, which no program may submit
 * @ops: what becomes of it
 */
struct pw_aton_frame {
	struct pw_ring_cmd cmd;
	const struct pw_aton_frame_ops *ops;
};

/**
 * struct pw_aton_interface - the ATON interface of a station or half-router
 * @port: for the ring core
 * @operands: page that programs may map and write; NULL: no file was bound here yet, or a
 *	half-router
 * @results: page that programs may map and read; likewise
 * @standing: standing command, if any; aton->lock
 * @leases: files that have leased registers or group bits here; aton->lock
 * @owner: lease that a register belongs to, or NULL; aton->lock
 * @period: of the standing command, microseconds
 * @live: on the ring; aton->lock
 */
struct pw_aton_interface {
	struct pw_ring_sender port;
	struct page *operands;
	struct page *results;
	struct pw_aton_req *standing;
	struct list_head leases;
	struct pw_aton_lease *owner[PACKETWAY_ATON_REGS];
	u32 period;
	bool live;
};

/**
 * struct pw_aton_block - ring-only interfaces of one open file
 * @ring: for the ring core
 * @entry: in pw_aton.blocks; RTNL
 * @san: keeps it; NULL: gone with its namespace; RTNL
 * @aton: ring that it was given to, held until pw_aton_block_free(); NULL: none
 * @live: on the ring; aton->lock
 */
struct pw_aton_block {
	struct pw_ring_block ring;
	struct list_head entry;
	struct pw_san *san;
	struct pw_aton *aton;
	bool live;
};

/* the ring's share of `ethtool -S` */
#define PW_RING_COUNTERS(X)			\
	X(packets,	"ring_packets")		\
	X(standing,	"ring_standing")	\
	X(bits,		"ring_busy_bits")	\
	X(errors[PW_ATON_E_CRC], "ring_err_crc")	\
	X(errors[PW_ATON_E_LOST], "ring_err_lost")	\
	X(errors[PW_ATON_E_DOWN], "ring_err_down")	\
	X(tokens_lost,	"ring_tokens_lost")	\
	X(tokens_dup,	"ring_tokens_duplicate")	\
	X(orphans,	"ring_orphans")		\
	X(flips,	"ring_flips")		\
	X(stuck,	"ring_stuck")		\
	X(purges,	"ring_purges")		\
	X(refused,	"ring_refused")
/* and one more, of this glue */
#define PW_RING_LEASES_REFUSED	"ring_leases_refused"

#define PW_X_ONE(field, name) + 1
enum { PW_RING_STAT_NUM = 1 PW_RING_COUNTERS(PW_X_ONE) };
#undef PW_X_ONE

struct pw_aton {
	spinlock_t lock;	/* ring, its queues, registers */
	refcount_t refs;	/* the SAN, commands, blocks */
	struct pw_ring *ring;	/* NULL: the SAN has gone */
	struct pw_ring_params params;
	u64 pace_until;		/* standing commands may run up to here */
	u32 demand;		/* commands and frames queued, standing commands aside */
	u32 standing;		/* stations with a standing command */
	u32 period;		/* shortest of theirs */
	DECLARE_BITMAP(attached, PACKETWAY_PORTS_MAX);	/* stations on the ring, by port */

	u32 taken;		/* group bits that are leased */
	u32 group_users[PW_ATON_GROUP_BITS];	/* files that have a bit */
	u64 group_key[PW_ATON_GROUP_BITS];	/* what they leased it with */
	struct pw_aton_round *round[PW_ATON_GROUP_BITS];	/* that has begun, or NULL */
	struct pw_aton_round *spare;	/* that has ended, for the next one, or NULL */
	u64 leases_refused;

	struct pw_time *clock;		/* in lockstep: that @alarm is of; a reference */
	struct pw_time_alarm alarm;
	bool held;			/* the alarm has expired; pw_time.lock */
	bool gate;			/* commands wait for the alarm */
	bool frozen;			/* collects commands and frames and does not run */
	u64 zero;			/* virtual time of bit time @zero_bits */
	u64 zero_bits;
	struct list_head ripe;		/* have ended, and wait for their time */

	struct napi_struct napi;
	struct pw_share share;
	struct net_device *dummy;	/* carries the NAPI */
	struct hrtimer timer;		/* paces standing commands */

	struct list_head blocks;	/* RTNL */
	u32 extra;			/* RTNL: ring-only interfaces */
	void *tap;			/* RTNL: room for captured ring packets, or NULL */
	struct pw_san *san;
};

extern const char pw_ring_stat_names[PW_RING_STAT_NUM][ETH_GSTRING_LEN];

/**
 * struct pw_aton_lease - what a file has leased at a station
 * @entry: in pw_aton_interface.leases; aton->lock
 * @aton: ring that it is on, held until pw_aton_lease_free(); NULL: none yet
 * @aif: interface that it is at, NULL: none yet, or the station has gone; aton->lock
 * @pf: the file
 * @page: struct packetway_aton_leased, which the file may map and write
 * @regs: registers, a mask; aton->lock
 * @group: group bits; aton->lock
 * @rounds: those of them in whose round the file is; aton->lock
 * @ended: those of them with a round in @left that has ended; changed under aton->lock
 * @busy: registers of complete rounds whose packets have not ended; aton->lock
 * @left: rounds, by bit, that the file is in without a task that waits; aton->lock
 */
struct pw_aton_lease {
	struct list_head entry;
	struct pw_aton *aton;
	struct pw_aton_interface *aif;
	const struct pw_file *pf;
	struct page *page;
	u32 regs;
	u32 group;
	u32 rounds;
	u32 ended;
	u32 busy;
	struct pw_aton_member *left[PW_ATON_GROUP_BITS];
};

/**
 * struct pw_aton_round - a round of a group
 * @what: bit, members, number, call and command, as the first member gave them
 * @regs: its registers, a mask
 * @members: struct pw_aton_member that are in it
 * @arrived: how many
 * @readers: members that have not yet read the results; together they hold the ring
 * @pending: commands that have not ended
 * @complete: all have arrived; it goes on without the members
 * @err: 0 or -errno for all members
 * @next: of a long round: first word of the step under way; aton->lock
 * @stop: of a long round: a member is killed, there shall be no further step
 * @ended: of a long round: a step has ended, and the last member may begin the next one
 * @error: of a long round: PW_ATON_E_* of the steps that have ended
 * @flags: likewise
 * @ring_bits: likewise
 * @result: of a long round: Variable-1 of each word; else NULL
 * @room: for so many commands
 * @nreq: commands of a step
 * @req: a command for each word, of a long round for each register
 */
struct pw_aton_round {
	struct packetway_aton_round what;
	u32 regs;
	struct hlist_head members;
	u32 arrived;
	atomic_t readers;
	u32 pending;
	bool complete;
	int err;
	u32 next;
	bool stop;
	struct completion ended;
	u32 error;
	u32 flags;
	u64 ring_bits;
	u64 *result;
	u32 room;
	u32 nreq;
	struct pw_aton_req req[];
};

/**
 * struct pw_aton_member - a file in a round
 * @entry: in pw_aton_round.members; not on any list: the round has ended for it
 * @lease: of the file; NULL: it has ended, or gave the bit back
 * @aton: ring of the round
 * @round: the round, which counts this member among its readers
 * @word: operands
 * @regs: registers of the round, a mask
 * @ended: the round has ended, and this member is its task's; aton->lock, but for that task
 * @sleeps: the task is told by @done, and not before; aton->lock, but for that task
 * @done: the round has ended
 * @last: it came last, and completed the round
 * @wait: who polls the file, if no task waits for @done
 * @drop: frees a member in pw_aton_lease.left; sleeps
 * @copy: of the operands, if no task waits
 *
 * On the stack of the task that waits, or in pw_aton_lease.left, allocated.
 */
struct pw_aton_member {
	struct hlist_node entry;
	struct pw_aton_lease *lease;
	struct pw_aton *aton;
	struct pw_aton_round *round;
	const u64 *word;
	u32 regs;
	bool ended;
	bool sleeps;
	struct completion done;
	bool last;
	wait_queue_head_t *wait;
	void (*drop)(struct pw_aton_member *m);
	u64 copy[];
};

/* a command, a block or a lease no longer needs its ring */
static inline void pw_aton_put(struct pw_aton *aton)
{
	if (!refcount_dec_and_test(&aton->refs))
		return;
	kfree(aton->spare);
	kfree(aton);
}

/* pw_aton_lease.c APIs */
struct pw_aton_lease *pw_aton_lease_alloc(const struct pw_file *pf);
void pw_aton_lease_free(struct pw_aton_lease *lease);
int pw_aton_lease_take(struct pw_station *st, struct pw_aton_lease *lease,
		       struct packetway_aton_lease *l);
int pw_aton_lease_return(struct pw_station *st, struct pw_aton_lease *lease,
			 struct packetway_aton_lease *l);
int pw_aton_lease_look(struct pw_station *st, struct packetway_aton_lease *l);
void pw_aton_leases_end(struct pw_aton *aton, struct pw_aton_interface *aif);
u32 pw_aton_lease_bits(const struct pw_aton_interface *aif, const struct pw_file *pf);
void pw_aton_round_end(struct pw_aton *aton, struct pw_aton_round *r, int err);

/* pw_aton_latch.c APIs */
int pw_aton_latch_may(struct pw_aton *aton, const struct pw_aton_interface *aif,
		      struct pw_aton_req *req);
void pw_aton_latch(void *ctx, struct pw_ring_sender *sender, u32 interface,
		   const struct pw_ring_cmd *cmd, const struct pw_ring_latch *latch, u64 when);
int pw_aton_latch_get(struct pw_station *st, const struct pw_file *pf,
		      struct packetway_aton_get_latch *g);

/* pw_aton.c APIs: the ring of a SAN */
void pw_aton_publish(struct packetway_aton_slot *slot, const struct pw_ring_cmd *cmd, u64 time);
struct pw_aton *pw_aton_create(struct pw_san *san, u32 engine,
			       const struct pw_ring_params *like);
void pw_aton_destroy(struct pw_aton *aton);
int pw_aton_set(struct pw_aton *aton, u32 engine, const struct pw_ring_params *like,
		struct netlink_ext_ack *extack);
u32 pw_aton_engine(const struct pw_aton *aton);
const struct pw_ring_params *pw_aton_params(const struct pw_aton *aton);
int pw_aton_pages_alloc(struct page *page[2]);
void pw_aton_pages_free(struct page *page[2]);
void pw_aton_pages_give(struct pw_station *st, struct page *page[2]);
int pw_aton_station_add(struct pw_station *st);
void pw_aton_station_remove(struct pw_station *st);
void pw_aton_station_up(struct pw_station *st, bool up);
void pw_aton_half_add(struct pw_san *san, struct pw_aton_interface *aif, u32 port, u32 addr);
void pw_aton_half_remove(struct pw_san *san, struct pw_aton_interface *aif, u32 port);
int pw_aton_submit_at(struct pw_aton *aton, struct pw_aton_interface *aif, u32 port,
		      struct pw_aton_req *req);
int pw_aton_submit(struct pw_station *st, struct pw_aton_req *req);
int pw_aton_submit_round(struct pw_station *st, struct pw_aton_req *req, u32 n, u32 *sent);
bool pw_aton_cancel(struct pw_aton_req *req, bool force);
int pw_aton_stand(struct pw_station *st, struct pw_aton_req *req, u32 period);
void pw_aton_unstand(struct pw_aton_req *req);
void pw_aton_req_drop(struct pw_aton_req *req);
int pw_aton_set_registers(struct pw_station *st, const struct pw_file *pf,
			  const struct packetway_aton_set *set);
int pw_aton_get_registers(struct pw_station *st, struct packetway_aton_get *get);
int pw_aton_fault(struct pw_aton *aton, const struct pw_ring_fault *fault);
struct pw_aton_block *pw_aton_block_alloc(u32 count, u32 regs);
void pw_aton_block_free(struct pw_aton_block *block);
int pw_aton_block_add(struct pw_san *san, struct pw_aton_block *block);
void pw_aton_block_remove(struct pw_aton_block *block);
void pw_aton_blocks_kill(struct pw_san *san);
int pw_aton_block_rw(struct pw_aton_block *block, u32 reg, u32 first, u32 count, u64 *buf,
		     bool write);
void pw_aton_stats(struct pw_aton *aton, u64 *data);
void pw_aton_tap(struct pw_aton *aton, bool on);

/* frames on the ring: passive packets; the first three with aton->lock held */
int pw_aton_frame_send(struct pw_aton *aton, u32 port, struct pw_aton_frame *frame);
bool pw_aton_frame_back(struct pw_aton *aton, struct pw_aton_frame *frame);
void pw_aton_unlock(struct pw_aton *aton) __releases(&aton->lock);
void pw_aton_settle(struct pw_aton *aton);
void pw_aton_freeze(struct pw_aton *aton, bool on);
u64 pw_aton_now(struct pw_aton *aton);

#endif
