/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whole BMX fabric: an AAL unit and a process at every port of the network, which has
 * three stages or any other topology. Messages go in at one port and come out, once and
 * in order, at another one, at all of them or at the members of a multicast connection; the
 * time this takes is counted in cycles.
 *
 * Two engines with the same cycles: register by register, in which the bytes of a
 * cell travel, and by events, in which a cell is a handle.
 *
 * Per cycle: output units, AAL units, input units; then the processes look at
 * their AAL units. A message handed over when cycle t is the last one done (now = t)
 * is taken by the AAL unit in cycle t + 1 at the earliest.
 *
 * Used as a network device (PW_FABRIC_F_DEVICE) a fabric loses nothing: a
 * message is admitted only if the receive buffers of its receivers can hold its
 * cells and that of its sender the acknowledgments. It stays until it was read and
 * is released then. Should repeated cells fill a buffer in spite of that, cells are
 * dropped there (and sent again) instead of holding up the network, which therefore
 * always drains.
 * Without that flag it is the published machine, including its time-outs.
 *
 * A port has one process, which reads every message in the order of arrival. It can have
 * several instead, with names, see pw_fabric_procs(): then a message is read by those that
 * its header names, in the order in which controller 8 finds it.
 *
 * The buffers of a device can be sparse (PW_FABRIC_F_SPARSE): then those of a port have no
 * memory until a message needs it. The owner calls pw_fabric_lacks() when pw_fabric_send()
 * returns -ENOMEM and pw_fabric_low() after each pw_fabric_run() of at most
 * PW_FABRIC_STEPS steps, and gives what they ask for. Cycles do not depend on that, unless
 * memory is refused after pw_fabric_low(): cells that find no block are then dropped,
 * counted (overrun) and sent again.
 */
#ifndef PW_CORE_FABRIC_H
#define PW_CORE_FABRIC_H

#include "aal.h"
#include "aal_host.h"
#include "bmx_fast.h"
#include "bmx_net.h"

#define PW_FABRIC_ALL		0xffff	/* destination: every port */
#define PW_FABRIC_MC		0x8000	/* plus n: destination: members of connection n */
#define PW_FABRIC_AUTO		(-1)	/* path: the sender chooses, see @route below */
#define PW_FABRIC_NEVER		U64_MAX
#define PW_FABRIC_MAX_LEN	65600
#define PW_FABRIC_QUEUE		64
#define PW_FABRIC_STEPS		64	/* sparse buffers: steps between two pw_fabric_low() */

#define PW_FABRIC_F_FAST	BIT(0)	/* by events */
#define PW_FABRIC_F_DEVICE	BIT(1)	/* nothing is lost, see above */
#define PW_FABRIC_F_POLL	BIT(2)	/* receivers request messages all the time; not with FAST */
#define PW_FABRIC_F_SELF	BIT(3)	/* a broadcast is delivered to its sender, too */
#define PW_FABRIC_F_SPARSE	BIT(4)	/* buffers take memory as they fill; only with DEVICE */

/* receive blocks of a device: one message of the largest size in, one out */
#define PW_FABRIC_IC_BLOCKS	4096
#define PW_FABRIC_SLACK		64	/* receive blocks left for repeated cells */
/*
 * Limit of cells and acknowledgments in flight to a port of a device; a single message
 * may exceed it. Controller 7 looks an acknowledgment up in a list: with a thousand
 * cells in the send buffer that takes 2000 cycles, cells pile up until their timers
 * run out and are sent again, and the fabric makes no progress. The credit also limits
 * the missing acknowledgments of a broadcast.
 */
#define PW_FABRIC_CREDIT	256

/**
 * struct pw_fabric_params - sizes; 0 takes the default
 * @k: ports of a switch; the fabric has k * k, or as many as the topology has stations
 * @depth: cells in a queue
 * @og_blocks: blocks of a send buffer
 * @ic_blocks: blocks of a receive buffer
 * @resend: retransmission timer in cycles
 * @keep: lifetime of a message in the receive buffer (not with DEVICE)
 * @descs: message descriptors per source
 * @credit: cells and acknowledgments in flight to a port (DEVICE only)
 * @queue: messages per sending port, waiting or in flight
 * @gap_lock: idle cycles of a sending process before init-send
 * @gap_init: idle cycles after init-send
 * @gap_get: idle cycles of a receiving process before the first get
 * @gap_word: idle cycles of a process before every word that it puts or gets
 * @route: choice of a path: enum pw_aal_route, or a seed
 * @flags: PW_FABRIC_F_*
 * @pad: zero: sizes are compared as bytes
 * @topo: topology, which must exist as long as the fabric does and determines @k; NULL: three
 *	stages of k switches
 */
struct pw_fabric_params {
	u32 k;
	u32 depth;
	u32 og_blocks;
	u32 ic_blocks;
	u32 resend;
	u32 keep;
	u32 descs;
	u32 credit;
	u32 queue;
	u32 gap_lock;
	u32 gap_init;
	u32 gap_get;
	u32 gap_word;
	u32 route;
	u32 flags;
	u32 pad;
	const struct pw_topo *topo;
};

/**
 * struct pw_fabric_times - what happened to a message, in cycles
 * @start: process got the lock and issued init-send
 * @segmented: all cells ready
 * @first_out: byte 0 of the first cell in the sender's output buffer
 * @first_in: last byte of the first cell taken in (broadcast: at the last port)
 * @reassembled: message complete (broadcast: at the last port)
 * @delivered: last get done (broadcast: at the last port)
 * @acked: every cell acknowledged and released by the sender
 */
struct pw_fabric_times {
	u64 start;
	u64 segmented;
	u64 first_out;
	u64 first_in;
	u64 reassembled;
	u64 delivered;
	u64 acked;
};

/* kinds of trace records */
enum pw_fabric_ev {
	PW_FABRIC_EV_HOP,	/* PPD @unit took in a cell with byte 0 in @cycle */
	PW_FABRIC_EV_SUSPEND,	/* PPD @unit (pw_fabric_ranks() + p: port p) refused @n times */
	PW_FABRIC_EV_CELL,	/* port @unit sends a data cell for the first time */
	PW_FABRIC_EV_RESEND,	/* port @unit sends a data cell again */
	PW_FABRIC_EV_ACK,	/* port @unit sends an acknowledgment */
	PW_FABRIC_EV_ACKED,	/* an acknowledgment met its cell at port @unit */
	PW_FABRIC_EV_BAD,	/* port @unit took in a cell with a wrong CRC */
	PW_FABRIC_EV_DROP,	/* a fault: cell lost at PPD @unit */
};

/**
 * struct pw_fabric_trace - one trace record
 * @cycle: when
 * @ev: what
 * @unit: port or rank of an input unit (PPD), see enum pw_fabric_ev
 * @n: how often
 * @src: sender of the cell, 0xffff if not known (hops of the rtl engine)
 * @dst: its destination
 * @sqn: its number
 */
struct pw_fabric_trace {
	u64 cycle;
	enum pw_fabric_ev ev;
	u32 unit;
	u32 n;
	u16 src;
	u16 dst;
	u16 sqn;
};

/**
 * struct pw_fabric_ops - callbacks to the owner of a fabric; all but @deliver may
 *	be NULL. @deliver, @done and @room may call pw_fabric_send().
 * @deliver: a message arrived at @dst; @times as far as known
 * @done: a message is delivered everywhere and acknowledged; its cookie and
 *	data are no longer used
 * @room: a port whose queue was full can take a message again
 * @fetch: rtl: bytes of a message handed over without a data pointer; NULL: zeros
 * @served: several processes: the one called @name and @instance at port @dst has read a
 *	message; @deliver follows when all that the message is for have
 * @trace: trace record
 * @cell: while the tap is on: the 53 bytes of a cell that PPD @unit
 *	(pw_fabric_ranks() + p: port p) took in, with byte 0 on its link in @cycle; a second
 *	time with @lost if a fault lost it there
 * @fault: fault of a cell that PPD @ppd is about to accept; same arguments in both engines,
 *	but not the same order within a cycle
 */
struct pw_fabric_ops {
	void (*deliver)(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
			const struct pw_fabric_times *times);
	void (*done)(void *ctx, u16 src, u64 cookie, u64 cycle,
		     const struct pw_fabric_times *times);
	void (*room)(void *ctx, u16 src, u64 cycle);
	void (*fetch)(void *ctx, u16 src, u64 cookie, u32 off, u8 *buf, u32 n);
	void (*served)(void *ctx, u16 dst, const u8 *name, u32 instance, u64 cookie, u64 cycle);
	void (*trace)(void *ctx, const struct pw_fabric_trace *t);
	void (*cell)(void *ctx, u32 unit, u64 cycle, bool lost, const u8 *cell);
	pw_bmx_fault_fn fault;
};

/* counters of a stage: those of the input units, then the output ports */
struct pw_fabric_stage {
	u64 cells;
	u64 refused;
	u64 dropped;
	u64 corrupted;
};

/* counters of a fabric */
struct pw_fabric_stats {
	u64 sent;		/* messages handed over */
	u64 delivered;		/* messages given to processes, broadcast: each */
	u64 unclaimed;		/* messages for ports without a process */
	u64 lost;		/* messages that timed out unread */
	u64 mismatch;		/* rtl: bytes that arrived changed */
	u64 busy;		/* refusals of pw_fabric_send() */
	u64 events;		/* fast: events of AAL units; rtl: cycles, without those skipped */
	u64 lone;		/* fast: messages completed by pw_fabric_lone() */
};

struct pw_fabric;

/* stations of a fabric, and paths between two of them; @p: sizes, k not 0 */
static inline u32 pw_fabric_ports(const struct pw_fabric_params *p)
{
	return p->topo ? p->topo->ports : p->k * p->k;
}

static inline u32 pw_fabric_paths(const struct pw_fabric_params *p)
{
	return p->topo ? p->topo->paths : p->k;
}

/* multicast connections */
static inline u32 pw_fabric_conns(const struct pw_fabric_params *p)
{
	return p->topo ? p->topo->conns : 0;
}

/* input units of a fabric */
static inline u32 pw_fabric_ranks(const struct pw_fabric_params *p)
{
	return p->topo ? p->topo->ranks : PW_BMX_STAGES * p->k * p->k;
}

/* stages of input units */
static inline u32 pw_fabric_stages(const struct pw_fabric_params *p)
{
	return p->topo ? p->topo->levels : PW_BMX_STAGES;
}

int pw_fabric_check(const struct pw_fabric_params *p);
size_t pw_fabric_size(const struct pw_fabric_params *p);
struct pw_fabric *pw_fabric_init(void *mem, const struct pw_fabric_params *p,
				 const struct pw_fabric_ops *ops, void *ctx);
void pw_fabric_callbacks(struct pw_fabric *f, bool trace, bool fault);
int pw_fabric_attach(struct pw_fabric *f, u16 port, bool on);
int pw_fabric_send(struct pw_fabric *f, u16 src, u16 dst, int path, u32 len, u64 cookie,
		   const void *data);
void pw_fabric_tap(struct pw_fabric *f, bool on);
bool pw_fabric_tapped(const struct pw_fabric *f);
u64 pw_fabric_now(const struct pw_fabric *f);
u64 pw_fabric_next(struct pw_fabric *f);
u64 pw_fabric_run(struct pw_fabric *f, u64 until, u32 max_work);
bool pw_fabric_run_part(struct pw_fabric *f, u64 until, u32 max_work);
bool pw_fabric_lone(struct pw_fabric *f, u64 until);
bool pw_fabric_flush(struct pw_fabric *f, u32 max);
u32 pw_fabric_qsize(struct pw_fabric *f, u32 ppd, u32 q);
void pw_fabric_stage(struct pw_fabric *f, u32 stage, struct pw_fabric_stage *s);
void pw_fabric_port_stats(struct pw_fabric *f, u16 port, struct pw_aal_stats *s);

/* fabric_mem.c: PW_FABRIC_F_SPARSE */
size_t pw_fabric_lacks(struct pw_fabric *f, u16 src, u16 dst, u32 len);
size_t pw_fabric_low(struct pw_fabric *f);
void pw_fabric_ask(struct pw_fabric *f);
void pw_fabric_fill(struct pw_fabric *f, void *mem);
void *pw_fabric_give(struct pw_fabric *f, void *mem);
void *pw_fabric_take(struct pw_fabric *f);

/* fabric_procs.c: several processes at a port, for tools and tests */

/* processes at a port, at most: a message remembers that many of a name */
#define PW_FABRIC_PROCS		PW_AAL_SERVED
#define PW_FABRIC_NAME		3	/* characters of a name */
#define PW_FABRIC_ANY		U32_MAX	/* instance: every process of the name at the port */

/**
 * struct pw_fabric_to - what controller 8 compares: the processes that a message is for
 * @name: their name
 * @instance: their instance, or PW_FABRIC_ANY
 * @type: type of the message
 */
struct pw_fabric_to {
	u8 name[PW_FABRIC_NAME];
	u32 instance;
	u32 type;
};

size_t pw_fabric_procs_size(const struct pw_fabric *f);
void pw_fabric_procs(struct pw_fabric *f, void *mem);
int pw_fabric_proc(struct pw_fabric *f, u16 port, const u8 *name, u32 instance);
int pw_fabric_send_to(struct pw_fabric *f, u16 src, u16 dst, int path, u32 len, u64 cookie,
		      const void *data, const struct pw_fabric_to *to);

/* fabric_tools.c: for tools and tests */
struct pw_aal *pw_fabric_aal(struct pw_fabric *f, u16 port);
const struct pw_bmx_net *pw_fabric_net(const struct pw_fabric *f);
void pw_fabric_stats(const struct pw_fabric *f, struct pw_fabric_stats *s);
u64 pw_fabric_delay(u32 len);

#endif /* PW_CORE_FABRIC_H */
