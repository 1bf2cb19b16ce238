// SPDX-License-Identifier: GPL-2.0
/*
 * The timed engines: a SAN's frames go through the cell fabric.
 *
 *   xmit -> pending (by arrival cycle) -> AAL segmentation -> cells -> network
 *        -> reassembly -> pw_fab_deliver -> arrived -> pw_fab_hand_over
 *        -> pw_port_deliver -> receiver's NAPI
 *
 * One frame is one message of the fabric. Its EEP header and TAIL take the place
 * of the message header of the published machine, so a frame with N bytes between
 * them is a message of N bytes and takes the published number of cycles.
 *
 * The fabric runs in a NAPI of its own, for a bounded time per poll: the model is
 * called in slices and the clock is read between them. In virtual time it runs as
 * fast as it can and time stands still when it is empty; in real time it runs at the
 * speed of its links (pw_fabric_conf.real). A frozen fabric only collects what is
 * sent, so that a whole offered load can be laid out in virtual time (SO_TXTIME)
 * before the first cell moves.
 *
 * In lockstep (fab->time) the fabric runs while every participant of the clock is
 * blocked, event by event. It stops at the end of each cycle in which a message arrived or
 * an alarm is due, and continues when the stations have taken what arrived and all
 * participants are blocked again. Messages of one cycle are offered in the order of their
 * ports, never in that in which the senders ran.
 *
 * The SANs of a namespace that are in lockstep share a clock (struct pw_time). The poll of
 * each runs the fabrics of all of them, one after the other to the same time. What half-routers
 * say to each other (RRP) is sent by work items, at times that depend on the host. It passes
 * beside the fabric, so that messages of programs do not meet it there.
 *
 * The buffers of the fabric take memory as they fill. A message that needs more than they
 * have waits, and virtual time with it, until a work item has given them memory (pw_fab_grow());
 * so no cycle depends on that. If there is none, the message is dropped and counted.
 *
 * eng->lock guards the fabric and all lists. A message (struct pw_fab_msg) lives
 * from xmit to the fabric's done callback; its frame goes to the receiver, or stays
 * until done where the bytes may be needed again or go to many.
 */
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/rbtree.h>
#include <linux/rtnetlink.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <net/sock.h>

#include <linux/packetway_netlink.h>

#include "fabric/fabric.h"
#include "pw_mon.h"
#include "pw_priv.h"
#include "pw_share.h"
#include "pw_time.h"
#include "pw_trace.h"

/* a poll ends after the slice in which this time is over */
#define PW_FAB_POLL_NS		(100 * NSEC_PER_USEC)
/*
 * Events (fast) of a slice of 16 ports, cycles (rtl) of a slice times ports: either takes
 * some ten thousand instructions. An event takes longer with more ports: up to 70,000
 * instructions in a broadcast to 256 of them. A cycle (rtl) of more ports than that is run in
 * parts.
 */
#define PW_FAB_SLICE_FAST	PW_FABRIC_STEPS
#define PW_FAB_SLICE_RTL	32
#define PW_FAB_PARTS_RTL	4
/* messages handed to the fabric, and frames to receivers, between two looks at the clock */
#define PW_FAB_OFFER		16
/* cycles the fabric may look ahead of its next event */
#define PW_FAB_WINDOW		256
/* input units whose queues are read with the lock held */
#define PW_FAB_QUEUES		64
/* real time: a timer for each event would take all the time of a CPU */
#define PW_FAB_TICK_NS		(20 * NSEC_PER_USEC)

struct pw_fab_msg {
	union {
		struct rb_node node;	/* pw_fab.pending, by cycle and arrival */
		struct list_head entry;	/* pw_fab.blocked */
	};
	struct hlist_node all;		/* pw_fab.msgs */
	struct sk_buff *skb;		/* NULL: the receiver has it */
	u64 cycle;			/* not before */
	u64 key;			/* lockstep: order in that cycle, by port and sender */
	u64 sent;			/* when it was handed over */
	u32 len;
	u16 src;
	u16 dst;			/* as the fabric has it: a port, a connection or all */
	s8 path;
	bool delivered;
	bool nomem;			/* memory for it was refused */
};

struct pw_fab {
	struct pw_engine eng;
	spinlock_t lock;		/* everything below */
	struct pw_fabric *f;
	void *mem;
	const struct pw_topo *topo;	/* NULL: three stages */
	u32 ranks;			/* input units */
	u32 stages;
	u32 k;				/* queues of an input unit */
	u32 paths;
	bool rtl;
	bool stop;			/* lockstep: a message has arrived or was returned */
	struct pw_time *time;		/* clock in lockstep; changes under pw_time.run, too */
	struct pw_time_member member;
	u64 lead;			/* time of the clock minus that of the fabric */
	u64 until;			/* lockstep: cycle of its next event; pw_time.run */
	struct pw_fabric_ops ops;
	struct hlist_head msgs;		/* all messages, see pw_fab_orphan() */
	struct hlist_node *look;	/* the one that it looks at next; NULL: the first */
	unsigned long ports_at;		/* when it looks at ports again */
	u32 port;			/* the one that it looked at last */
	struct rb_root_cached pending;	/* messages not yet in the fabric */
	struct pw_fab_msg *last;	/* the last one of pending */
	u64 window;			/* end of the cycles that are being run */
	bool inside;			/* the last of them is not complete */
	u32 slice;			/* steps of the model between two looks at the clock */
	bool waits;			/* for memory: the work item is queued, or runs */
	struct work_struct grow;
	struct list_head blocked[PACKETWAY_PORTS_MAX];	/* their port's queue is full */
	struct sk_buff_head arrived;	/* not yet handed to their receivers */
	u64 real_start;			/* ktime of cycle 0 */
	struct pw_fabric_faults fault;
	struct napi_struct napi;
	struct pw_share share;
	struct net_device *dummy;
	struct hrtimer timer;
};

/* messages whose sockets are looked at in a poll that leaves some, and before the fabric waits */
#define PW_FAB_ORPHAN		4
#define PW_FAB_ORPHAN_IDLE	256
/* how often frames that wait at ports are looked at */
#define PW_FAB_PORTS_TIME	(HZ / 10)
/* a fabric that waits with messages in it looks at them after this time */
#define PW_FAB_LOOK_NS		(100 * NSEC_PER_MSEC)

static struct kmem_cache *pw_fab_cache;

static struct pw_fab *pw_fab(struct pw_engine *eng)
{
	return container_of(eng, struct pw_fab, eng);
}

/* pw_skb_cb.dst_port is what the fabric takes, unless a frame goes by a connection */
static_assert(PW_PORT_GROUP == PW_FABRIC_ALL && PACKETWAY_PORTS_MAX <= PW_FABRIC_MC);

/* to all ports, or to the members of a connection? */
static bool pw_fab_to_many(const struct pw_fab_msg *m)
{
	return m->dst >= PW_FABRIC_MC;
}

/* one cycle is one byte on a link; times past the end of ktime are its end */
static u64 pw_fab_ns(const struct pw_fab *fab, u64 cycle)
{
	u64 rate = READ_ONCE(fab->eng.san->fabric.rate);

	if (rate == PW_FABRIC_RATE_DEFAULT)
		return min_t(u64, cycle, KTIME_MAX);
	/* the division must not overflow: some machines trap */
	if (div64_u64(cycle, rate) >= KTIME_MAX / (8 * NSEC_PER_SEC))
		return KTIME_MAX;
	return mul_u64_u64_div_u64(cycle, 8 * NSEC_PER_SEC, rate);
}

/* arrivals lie in the first 104 days: no rate makes more than 2^63 cycles of that */
#define PW_FAB_NS_MAX		BIT_ULL(53)

static u64 pw_fab_cycle(const struct pw_fab *fab, u64 ns)
{
	u64 rate = READ_ONCE(fab->eng.san->fabric.rate);

	ns = min(ns, PW_FAB_NS_MAX);
	return rate == PW_FABRIC_RATE_DEFAULT ? ns :
	       mul_u64_u64_div_u64(ns, rate, 8 * NSEC_PER_SEC);
}

/* time of the clock in lockstep at the end of a cycle */
static u64 pw_fab_clock(const struct pw_fab *fab, u64 cycle)
{
	return cycle == PW_FABRIC_NEVER ? PW_TIME_NEVER : pw_fab_ns(fab, cycle) + fab->lead;
}

/* the first cycle that does not end before time @at of the clock; PW_FABRIC_NEVER: none */
static u64 pw_fab_not_before(const struct pw_fab *fab, u64 at)
{
	u64 ns = at - fab->lead, cycle;

	/* a fabric that ran freely before may be ahead of the clock */
	if (at > PACKETWAY_TIME_NS_MAX || ns > PW_FAB_NS_MAX)
		return PW_FABRIC_NEVER;
	cycle = pw_fab_cycle(fab, ns);
	/* the division rounds down */
	while (pw_fab_ns(fab, cycle) < ns)
		cycle++;
	return cycle;
}

/* the last cycle that does not end after time @at of the clock, which is not in the past */
static u64 pw_fab_not_after(const struct pw_fab *fab, u64 at)
{
	u64 ns = at - fab->lead;
	u64 cycle = pw_fab_cycle(fab, ns + 1);

	while (pw_fab_ns(fab, cycle) > ns)
		cycle--;
	return cycle;
}

/* fab->lock held */
static void pw_fab_free(struct pw_fab *fab, struct pw_fab_msg *m)
{
	if (fab->look == &m->all)
		fab->look = m->all.next;
	hlist_del(&m->all);
	kmem_cache_free(pw_fab_cache, m);
}

/*
 * A frame holds its socket, a socket its namespace, and the model may need minutes for
 * what a closed socket has sent, or stand still. So frames of closed sockets let go of
 * them; then a namespace without users ends at once, and its frames with it. A few
 * messages in each poll that leaves messages behind, in turn. fab->lock held
 */
static void pw_fab_orphan(struct pw_fab *fab, u32 n)
{
	struct pw_fab_msg *m;

	while (n-- && !hlist_empty(&fab->msgs)) {
		m = hlist_entry(fab->look ?: fab->msgs.first, struct pw_fab_msg, all);
		fab->look = m->all.next;
		if (m->skb)
			pw_skb_let_go(m->skb);
	}
	if (time_before(jiffies, fab->ports_at))
		return;
	fab->ports_at = jiffies + PW_FAB_PORTS_TIME;
	pw_port_let_go(fab->eng.san, &fab->port);
}

/*
 * The virtual time of a frame that is at port @dst. If the half-router that sent it did not wait
 * for all of it (cut-through), both SANs had it at the same time: from its first cell there, or
 * so much later that its last cell is ready here (segmented) when it is there. fab->lock held
 */
static void pw_fab_account(const struct pw_fab *fab, const struct pw_fab_msg *m,
			   struct sk_buff *skb, u64 cycle, const struct pw_fabric_times *times)
{
	const struct pw_fabric_conf *conf = &fab->eng.san->fabric;
	u64 sent = min(m->sent, cycle), both = 0;
	struct pw_skb_cb *cb = pw_cb(skb);

	if (unlikely(cb->first))
		both = min_t(u64, cb->first,
			     cb->last + pw_fab_ns(fab, max(times->segmented, sent) - sent));
	cb->stamp = pw_fab_ns(fab, cycle);
	cb->delay += pw_fab_ns(fab, cycle - sent) - both;
	cb->first = 0;
	/* in real time the next SAN gets it as a whole */
	if (likely(!READ_ONCE(conf->cut_through)) || READ_ONCE(conf->real) ||
	    pw_fab_to_many(m) || !times->first_in)
		return;
	cb->first = min_t(u64, pw_fab_ns(fab, cycle - times->first_in), U32_MAX);
	cb->last = min_t(u64, pw_fab_ns(fab, cycle - times->reassembled), U32_MAX);
}

/* a message is at one of its destinations; fab->lock held */
static void pw_fab_deliver(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
			   const struct pw_fabric_times *times)
{
	struct pw_fab_msg *m = (struct pw_fab_msg *)(uintptr_t)cookie;
	struct pw_fab *fab = ctx;
	struct pw_san *san = fab->eng.san;
	struct sk_buff *skb;

	m->delivered = true;
	rcu_read_lock();
	trace_pw_deliver(san, src, dst, len, times->start, cycle);
	/* its bytes are not needed again, unless the tap shows repeated cells */
	if (!pw_fab_to_many(m) && !fab->rtl && !pw_fabric_tapped(fab->f)) {
		skb = m->skb;
		m->skb = NULL;
	} else {
		skb = pw_port_copy(san, dst, m->skb);
		if (!skb)
			goto out;
	}
	pw_fab_account(fab, m, skb, cycle, times);
	pw_cb(skb)->at = dst;
	/* a group has 255 receivers in one cycle: see pw_fab_hand_over() */
	if (likely(!pw_fab_to_many(m) && !fab->rtl && !fab->time &&
		   skb_queue_empty(&fab->arrived)))
		pw_port_deliver(san, dst, skb);
	else
		__skb_queue_tail(&fab->arrived, skb);
out:
	rcu_read_unlock();
}

static noinline bool pw_fab_hand_over_some(struct pw_fab *fab)
{
	struct sk_buff *skb;
	u32 n = 0;

	rcu_read_lock();
	while (n++ < PW_FAB_OFFER && (skb = __skb_dequeue(&fab->arrived)))
		pw_port_deliver(fab->eng.san, pw_cb(skb)->at, skb);
	rcu_read_unlock();
	return skb_queue_empty(&fab->arrived);
}

/* arrived frames go to their receivers, some at a time; true: all did. fab->lock held */
static inline bool pw_fab_hand_over(struct pw_fab *fab)
{
	return likely(skb_queue_empty(&fab->arrived)) || pw_fab_hand_over_some(fab);
}

/* the fabric needs a message no longer; fab->lock held */
static void pw_fab_done(void *ctx, u16 src, u64 cookie, u64 cycle,
			const struct pw_fabric_times *times)
{
	struct pw_fab_msg *m = (struct pw_fab_msg *)(uintptr_t)cookie;
	struct pw_fab *fab = ctx;

	if (m->skb) {
		/* in lockstep its sender is to see this cycle */
		fab->stop |= !m->delivered;
		rcu_read_lock();
		/* the port was empty when it arrived: its sender has it back */
		if (m->delivered || pw_fab_to_many(m) ||
		    !pw_port_return(fab->eng.san, src, m->skb)) {
			pw_port_done(fab->eng.san, m->skb);
			consume_skb(m->skb);
		}
		rcu_read_unlock();
	}
	pw_fab_free(fab, m);
}

/* rtl asks for the bytes as they are put on the bus */
static void pw_fab_fetch(void *ctx, u16 src, u64 cookie, u32 off, u8 *buf, u32 n)
{
	struct pw_fab_msg *m = (struct pw_fab_msg *)(uintptr_t)cookie;

	if (!m->skb || skb_copy_bits(m->skb, PW_EEP_HDR_LEN + off, buf, n))
		memset(buf, 0, n);
}

static void pw_fab_trace(void *ctx, const struct pw_fabric_trace *t)
{
	const struct pw_fab *fab = ctx;

	trace_pw_cell(fab->eng.san, t);
}

/* a cell for the pwmon devices; fab->lock held */
static void pw_fab_cell(void *ctx, u32 unit, u64 cycle, bool lost, const u8 *cell)
{
	struct pw_fab *fab = ctx;

	/* no pwmon device takes cells now */
	if (!pw_mon_on()) {
		pw_fabric_tap(fab->f, false);
		return;
	}
	unit = unit < fab->ranks ? PACKETWAY_MON_UNIT(PACKETWAY_MON_PPD, unit) :
				   PACKETWAY_MON_UNIT(PACKETWAY_MON_AAL, unit - fab->ranks);
	pw_mon_bytes(fab->eng.san, PACKETWAY_MON_CELL, unit,
		     lost ? PACKETWAY_MON_DROPPED : PACKETWAY_MON_IN, cycle, cell, PW_BMX_CELL);
}

static enum pw_bmx_fault pw_fab_fault_fn(void *ctx, u32 ppd, u64 t)
{
	const struct pw_fab *fab = ctx;

	return pw_fabric_fault(&fab->fault, ppd, t);
}

/* hand a message to the fabric; fab->lock held */
static int pw_fab_offer(struct pw_fab *fab, struct pw_fab_msg *m)
{
	return pw_fabric_send(fab->f, m->src, m->dst,
			      pw_fab_to_many(m) ? PW_FABRIC_AUTO : m->path, m->len,
			      (uintptr_t)m, NULL);
}

static void pw_fab_drop(struct pw_fab *fab, struct pw_fab_msg *m, enum pw_drop why)
{
	rcu_read_lock();
	pw_port_refuse(fab->eng.san, m->skb, why);
	rcu_read_unlock();
	pw_fab_free(fab, m);
}

/* the message that arrives first; NULL if none is waiting. fab->lock held */
static struct pw_fab_msg *pw_fab_first(const struct pw_fab *fab)
{
	struct rb_node *node = rb_first_cached(&fab->pending);

	return node ? rb_entry(node, struct pw_fab_msg, node) : NULL;
}

/* is @m to be offered before @other, which came first? */
static bool pw_fab_before(const struct pw_fab_msg *m, const struct pw_fab_msg *other)
{
	return m->cycle < other->cycle || (m->cycle == other->cycle && m->key < other->key);
}

/* in the order of arrival, behind those of the same cycle; fab->lock held */
static void pw_fab_enqueue(struct pw_fab *fab, struct pw_fab_msg *m)
{
	struct rb_node **link = &fab->pending.rb_root.rb_node, *parent = NULL;
	bool first = true, last = true;

	/* most messages are appended */
	if (fab->last && !pw_fab_before(m, fab->last)) {
		parent = &fab->last->node;
		link = &parent->rb_right;
		first = false;
	}
	while (*link) {
		parent = *link;
		if (!pw_fab_before(m, rb_entry(parent, struct pw_fab_msg, node))) {
			link = &parent->rb_right;
			first = false;
		} else {
			link = &parent->rb_left;
			last = false;
		}
	}
	rb_link_node(&m->node, parent, link);
	rb_insert_color_cached(&m->node, &fab->pending, first);
	if (last)
		fab->last = m;
}

static void pw_fab_dequeue(struct pw_fab *fab, struct pw_fab_msg *m)
{
	rb_erase_cached(&m->node, &fab->pending);
	/* messages leave in their order: this was the only one */
	if (m == fab->last)
		fab->last = NULL;
}

/* the message that arrives first, if it is due; fab->lock held */
static struct pw_fab_msg *pw_fab_due(const struct pw_fab *fab)
{
	struct pw_fab_msg *m = pw_fab_first(fab);

	return m && m->cycle <= pw_fabric_now(fab->f) ? m : NULL;
}

/* nothing is run or offered until pw_fab_grow() is done; fab->lock held */
static void pw_fab_wait(struct pw_fab *fab)
{
	fab->waits = true;
	queue_work(pw_wq, &fab->grow);
}

/* memory for a buffer, charged to the maker of the SAN; beyond its caches kmalloc() rounds up */
static void *pw_fab_piece(const struct pw_fab *fab, size_t bytes)
{
	struct mem_cgroup *old = pw_memcg_enter(fab->eng.san->memcg);
	void *mem;

	mem = bytes > KMALLOC_MAX_CACHE_SIZE ? __vmalloc(bytes, PW_GFP) : kmalloc(bytes, PW_GFP);
	pw_memcg_leave(old);
	return mem;
}

/* bytes that lack now: for repeated cells, or for message @m that is due. fab->lock held */
static size_t pw_fab_lacks(struct pw_fab *fab, struct pw_fab_msg **m)
{
	size_t bytes = pw_fabric_low(fab->f);

	*m = NULL;
	if (bytes)
		return bytes;
	*m = pw_fab_due(fab);
	return *m && !(*m)->nomem ?
	       pw_fabric_lacks(fab->f, (*m)->src, (*m)->dst, (*m)->len) : 0;
}

/* bytes of the next piece, which is to be filled; if there is none, the fabric goes on */
static noinline size_t pw_fab_grow_next(struct pw_fab *fab, struct pw_fab_msg **m)
{
	size_t bytes;

	spin_lock_bh(&fab->lock);
	bytes = pw_fab_lacks(fab, m);
	if (bytes) {
		pw_fabric_ask(fab->f);
	} else {
		fab->waits = false;
		pw_share_wake(&fab->share);
	}
	spin_unlock_bh(&fab->lock);
	return bytes;
}

/* @mem is the piece, NULL if there is no memory; returns the one that it replaces */
static noinline void *pw_fab_grow_one(struct pw_fab *fab, void *mem, struct pw_fab_msg *m)
{
	void *old;

	spin_lock_bh(&fab->lock);
	/* no poll has taken @m out of pending meanwhile */
	if (!mem && m)
		m->nomem = true;
	old = pw_fabric_give(fab->f, mem);
	spin_unlock_bh(&fab->lock);
	return old;
}

/* the buffers get what the next message and repeated cells need, piece by piece */
static void pw_fab_grow(struct work_struct *work)
{
	struct pw_fab *fab = container_of(work, struct pw_fab, grow);
	struct pw_fab_msg *m;
	size_t bytes;
	void *mem;

	while ((bytes = pw_fab_grow_next(fab, &m))) {
		mem = pw_fab_piece(fab, bytes);
		/* a large piece takes millions of instructions: without the lock */
		if (mem)
			pw_fabric_fill(fab->f, mem);
		kvfree(pw_fab_grow_one(fab, mem, m));
		cond_resched();
	}
}

/* offer a message, or let it wait behind others of its port; fab->lock held */
static int pw_fab_try(struct pw_fab *fab, struct pw_fab_msg *m)
{
	if (likely(list_empty(&fab->blocked[m->src])))
		return pw_fab_offer(fab, m);
	return pw_fabric_lacks(fab->f, m->src, m->dst, m->len) ? -ENOMEM : -EBUSY;
}

/*
 * What is due goes in, or waits for room at its port, PW_FAB_OFFER messages at most.
 * fab->lock held
 *
 * Return: true if nothing that is due is left.
 */
static bool pw_fab_offer_due(struct pw_fab *fab)
{
	struct pw_fab_msg *m;
	int err, n = 0;

	while ((m = pw_fab_due(fab))) {
		if (n++ == PW_FAB_OFFER)
			return false;
		if (unlikely(m->nomem)) {
			pw_fab_dequeue(fab, m);
			pw_fab_drop(fab, m, PW_DROP_TX_NOMEM);
			continue;
		}
		err = pw_fab_try(fab, m);
		if (unlikely(err == -ENOMEM)) {
			pw_fab_wait(fab);
			return false;
		}
		pw_fab_dequeue(fab, m);
		if (err == -EBUSY)
			list_add_tail(&m->entry, &fab->blocked[m->src]);
		else if (err)
			pw_fab_drop(fab, m, PW_DROP_TOO_BIG);
	}
	return true;
}

/* a port has room again; fab->lock held */
static void pw_fab_room(void *ctx, u16 src, u64 cycle)
{
	struct pw_fab *fab = ctx;
	struct pw_fab_msg *m, *next;
	int err;

	list_for_each_entry_safe(m, next, &fab->blocked[src], entry) {
		err = pw_fab_offer(fab, m);
		if (err == -EBUSY)
			return;
		list_del(&m->entry);
		if (err)
			pw_fab_drop(fab, m, PW_DROP_TOO_BIG);
	}
}

/* cycle up to which the fabric may run now; fab->lock held */
static u64 pw_fab_limit(const struct pw_fab *fab)
{
	const struct pw_fabric_conf *conf = &fab->eng.san->fabric;

	if (READ_ONCE(conf->frozen))
		return 0;
	if (READ_ONCE(conf->real))
		return pw_fab_cycle(fab, ktime_get_ns() - fab->real_start);
	return U64_MAX;
}

/* next cycle in which something happens, arrivals included; fab->lock held */
static u64 pw_fab_next(struct pw_fab *fab)
{
	struct pw_fab_msg *m = pw_fab_first(fab);
	u64 next = pw_fabric_next(fab->f);

	return m ? min(next, max(m->cycle, pw_fabric_now(fab->f))) : next;
}

/* enable only the hooks that are needed: they run for each cell; fab->lock held */
static void pw_fab_hooks(struct pw_fab *fab)
{
	if (pw_mon_on())
		pw_fabric_tap(fab->f, pw_mon_wants_cells(fab->eng.san));
	pw_fabric_callbacks(fab->f, trace_pw_cell_enabled(), pw_fabric_faults_on(&fab->fault));
}

/* is a poll to go on? Its time begins when it asks first. */
static bool pw_fab_in_time(u64 *start)
{
	u64 now = local_clock();

	if (!*start)
		*start = now;
	return now - *start < PW_FAB_POLL_NS;
}

/*
 * Run up to @limit, for about PW_FAB_POLL_NS. @next gets the next cycle in which
 * something happens, @start when its time began. fab->lock held
 *
 * Most polls pass one lone message, whose result is known. They run no step of the model
 * and need no clock: @start is 0.
 *
 * A window that a poll has begun is finished by the next one, so that the cycle in
 * which an idle fabric stops does not depend on the clock.
 *
 * Return: true if the time was over first; then @next is not known.
 */
static bool pw_fab_run(struct pw_fab *fab, u64 limit, u64 *next, u64 *start)
{
	struct pw_fab_msg *m;
	u64 until;

	*start = 0;
	pw_fab_hooks(fab);
	do {
		if (unlikely(fab->waits)) {
			*next = PW_FABRIC_NEVER;
			return false;
		}
		/* deliver frames and offer messages of a cycle before the model continues */
		if (!pw_fab_hand_over(fab) || (!fab->inside && !pw_fab_offer_due(fab)))
			continue;
		m = pw_fab_first(fab);
		until = m ? min(m->cycle, limit) : limit;
		pw_fabric_lone(fab->f, until);
		*next = pw_fab_next(fab);
		if (*next == PW_FABRIC_NEVER || *next > limit) {
			if (pw_fab_hand_over(fab))
				return false;
			continue;
		}
		if (!*start)
			*start = local_clock();
		if (fab->window <= pw_fabric_now(fab->f))
			fab->window = max(*next, pw_fabric_now(fab->f)) + PW_FAB_WINDOW;
		fab->inside = !pw_fabric_run_part(fab->f, min(fab->window, until), fab->slice);
		if (unlikely(pw_fabric_low(fab->f)))
			pw_fab_wait(fab);
	} while (pw_fab_in_time(start));
	return true;
}

/* have the stations taken what has arrived? fab->lock held */
static bool pw_fab_settled(struct pw_fab *fab)
{
	struct pw_san *san = fab->eng.san;
	const struct pw_end *e;
	bool busy = false;
	u32 i;

	rcu_read_lock();
	for (i = 0; i < san->nports && !busy; i++) {
		e = pw_port_end(&san->port[i]);
		busy = e && pw_end_busy(e);
	}
	rcu_read_unlock();
	return !busy;
}

/* the end of a cycle in lockstep; fab->lock held. Return: true if a thread may wake up. */
static bool pw_fab_lockstep_stop(struct pw_fab *fab, u64 alarm)
{
	u64 now = pw_fabric_now(fab->f);

	if (!fab->stop && skb_queue_empty(&fab->arrived) && alarm > now)
		return false;
	fab->stop = false;
	/* programs that wake up read the time */
	pw_time_stop(fab->time, pw_fab_clock(fab, now));
	pw_fab_hand_over(fab);
	return true;
}

/*
 * pw_fab_run() in lockstep: to the next event that may wake a participant, for about
 * PW_FAB_POLL_NS. fab->lock held
 *
 * A lone message has no short cut here: its receiver may answer before the sender has
 * seen the acknowledgment.
 *
 * Return: true if there is more to do. If not, the clock kicks the poll.
 */
static bool pw_fab_lockstep(struct pw_fab *fab, u64 *start)
{
	struct pw_time *t = fab->time;
	u64 next, alarm, now;
	int switches;

	*start = local_clock();
	if (READ_ONCE(fab->eng.san->fabric.frozen))
		return false;
	pw_fab_hooks(fab);
	/*
	 * As long as frames are on their way up, participants may wake up. Those of a cycle that
	 * the last poll has left are handed over at its end, with all others of that cycle.
	 */
	if ((!fab->inside && (!pw_fab_hand_over(fab) || !pw_fab_settled(fab))) || pw_time_due(t))
		return true;
	if (!pw_time_quiet(t, &switches))
		return false;
	do {
		/* pw_fab_grow() polls again */
		if (unlikely(fab->waits))
			return false;
		if (!fab->inside && !pw_fab_offer_due(fab))
			continue;
		alarm = pw_fab_not_before(fab, pw_time_next(t));
		now = pw_fabric_now(fab->f);
		/* a cycle that was begun, only to its end: it may be one to stop at */
		next = now;
		if (!fab->inside) {
			next = min(pw_fab_next(fab), alarm);
			if (next == PW_FABRIC_NEVER) {
				pw_time_idle(t, switches);
				return false;
			}
			next = max(next, now + 1);
		}
		fab->inside = !pw_fabric_run_part(fab->f, next, 1);
		if (unlikely(pw_fabric_low(fab->f)))
			pw_fab_wait(fab);
		if (!fab->inside && pw_fab_lockstep_stop(fab, alarm))
			return !skb_queue_empty(&fab->arrived) || !pw_fab_settled(fab) ||
			       pw_time_due(t) || pw_time_quiet(t, &switches);
	} while (pw_fab_in_time(start) && pw_time_still(t, switches));
	return true;
}

#define pw_fab_for_each(fab, t) list_for_each_entry(fab, &(t)->members, member.entry)

/* is this true of all fabrics of a clock? pw_time.run held */
static bool pw_fab_all(struct pw_time *t, bool (*is)(struct pw_fab *fab))
{
	struct pw_fab *fab;
	bool ok = true;

	pw_fab_for_each(fab, t) {
		spin_lock(&fab->lock);
		ok = is(fab);
		spin_unlock(&fab->lock);
		if (!ok)
			break;
	}
	return ok;
}

static bool pw_fab_thawed(struct pw_fab *fab)
{
	pw_fab_hooks(fab);
	return !READ_ONCE(fab->eng.san->fabric.frozen);
}

/*
 * Frames that have arrived go to their receivers, in the order of the SANs. All SANs may have many
 * of one cycle: the rest is for the next poll if the time is over. pw_time.run held
 *
 * Return: true if the stations have taken all.
 */
static bool pw_fab_take(struct pw_time *t, u64 *start)
{
	struct pw_fab *fab;
	bool ok = true;

	pw_fab_for_each(fab, t) {
		spin_lock(&fab->lock);
		if (!skb_queue_empty(&fab->arrived))
			ok = pw_fab_hand_over_some(fab) && pw_fab_in_time(start);
		ok = ok && pw_fab_settled(fab);
		spin_unlock(&fab->lock);
		if (!ok)
			break;
	}
	return ok;
}

/* twice: a half-router hands messages to its peer half, which may have been looked at before */
static bool pw_fab_all_taken(struct pw_time *t, u64 *start)
{
	return pw_fab_take(t, start) && pw_fab_take(t, start);
}

static bool pw_fab_has_memory(struct pw_fab *fab)
{
	return likely(!fab->waits);
}

/* nothing has happened that a thread may wake up for */
static bool pw_fab_uneventful(struct pw_fab *fab)
{
	return !fab->stop && skb_queue_empty(&fab->arrived);
}

static bool pw_fab_unstop(struct pw_fab *fab)
{
	fab->stop = false;
	return true;
}

/*
 * What is due goes into the fabrics. All SANs may have messages of one cycle: PW_FAB_OFFER of one
 * of them, then the clock is read. pw_time.run held
 *
 * Return: 0; -EAGAIN: more is due; -ENOMEM: a fabric waits for memory.
 */
static int pw_fab_offer_all(struct pw_time *t)
{
	struct pw_fab *fab;
	int err = 0;

	pw_fab_for_each(fab, t) {
		spin_lock(&fab->lock);
		if (unlikely(fab->waits))
			err = -ENOMEM;
		else if (!fab->inside && pw_fab_due(fab))
			err = -EAGAIN;
		if (err == -EAGAIN && !pw_fab_offer_due(fab) && fab->waits)
			err = -ENOMEM;
		spin_unlock(&fab->lock);
		if (err)
			break;
	}
	return err;
}

/* nothing is due: t->at is the time of their next event, or PW_TIME_NEVER. pw_time.run held */
static void pw_fab_plan(struct pw_time *t)
{
	u64 alarm = pw_time_next(t), at = PW_TIME_NEVER;
	struct pw_fab *fab;

	pw_fab_for_each(fab, t) {
		spin_lock(&fab->lock);
		fab->until = min(pw_fab_next(fab), pw_fab_not_before(fab, alarm));
		fab->until = max(fab->until, pw_fabric_now(fab->f) + 1);
		at = min(at, pw_fab_clock(fab, fab->until));
		spin_unlock(&fab->lock);
	}
	t->at = at;
}

/* is the fabric at the time t->at? fab->lock held */
static bool pw_fab_there(const struct pw_fab *fab, u64 *until)
{
	u64 at = fab->time->at;

	*until = fab->until;
	if (pw_fab_clock(fab, *until) > at)
		*until = pw_fab_not_after(fab, at);
	return !fab->inside && pw_fabric_now(fab->f) >= *until;
}

/*
 * A part of the way to the time t->at. All fabrics may have a long step in one cycle, such as a
 * broadcast to 256 ports: the clock is read after each step. pw_time.run held
 *
 * Return: true if all fabrics are there.
 */
static bool pw_fab_go(struct pw_time *t, u64 *start)
{
	struct pw_fab *fab;
	bool there = true;
	u64 until;

	pw_fab_for_each(fab, t) {
		spin_lock(&fab->lock);
		there = pw_fab_there(fab, &until);
		if (!there && likely(!fab->waits)) {
			fab->inside = !pw_fabric_run_part(fab->f, until, 1);
			if (unlikely(pw_fabric_low(fab->f)))
				pw_fab_wait(fab);
			there = pw_fab_there(fab, &until) && pw_fab_in_time(start);
		}
		spin_unlock(&fab->lock);
		if (!there)
			break;
	}
	return there;
}

/*
 * pw_fab_lockstep() of fabrics that share a clock. They run in the order of their SANs'
 * numbers, all to the time of their next event: what a participant or a half-router
 * then sends enters any of them at that time. pw_time.run held
 */
static bool pw_fab_lockstep_all(struct pw_time *t, u64 *start)
{
	int switches, err;
	u64 at;

	*start = local_clock();
	if (!pw_fab_all(t, pw_fab_thawed))
		return false;
	/* what has arrived waits until all fabrics are at the time that they run to */
	if ((t->at == PW_TIME_NEVER && !pw_fab_all_taken(t, start)) || pw_time_due(t))
		return true;
	if (!pw_time_quiet(t, &switches))
		return false;
	do {
		if (t->at == PW_TIME_NEVER) {
			err = pw_fab_offer_all(t);
			if (err == -EAGAIN)
				continue;
			if (err)
				return false;
			pw_fab_plan(t);
			if (t->at == PW_TIME_NEVER) {
				pw_time_idle(t, switches);
				return false;
			}
		}
		if (!pw_fab_go(t, start)) {
			/* pw_fab_grow() polls again */
			if (!pw_fab_all(t, pw_fab_has_memory))
				return false;
			continue;
		}
		at = t->at;
		t->at = PW_TIME_NEVER;
		if (pw_time_next(t) > at && pw_fab_all(t, pw_fab_uneventful)) {
			pw_time_publish(t, at);
			continue;
		}
		pw_fab_all(t, pw_fab_unstop);
		pw_time_stop(t, at);
		return !pw_fab_all_taken(t, start) || pw_time_due(t) || pw_time_quiet(t, &switches);
	} while (pw_fab_in_time(start) && pw_time_still(t, switches));
	return true;
}

/* pw_fab_run() by a clock; that and @fab are locked */
static bool pw_fab_run_clock(struct pw_fab *fab, struct pw_time *t, u64 *start)
{
	bool more;

	if (likely(list_is_singular(&t->members))) {
		more = pw_fab_lockstep(fab, start);
		pw_time_publish(t, pw_fab_clock(fab, pw_fabric_now(fab->f)));
		return more;
	}
	spin_unlock(&fab->lock);
	more = pw_fab_lockstep_all(t, start);
	spin_lock(&fab->lock);
	return more;
}

/* nothing to do before cycle @next; the timer polls if no message does. fab->lock held */
static void pw_fab_sleep(struct pw_fab *fab, u64 limit, u64 next)
{
	u64 ns = PW_FAB_LOOK_NS;

	if (hlist_empty(&fab->msgs) && (!limit || next == PW_FABRIC_NEVER))
		return;
	pw_fab_orphan(fab, PW_FAB_ORPHAN_IDLE);
	if (limit && next != PW_FABRIC_NEVER && READ_ONCE(fab->eng.san->fabric.real))
		ns = clamp_t(u64, pw_fab_ns(fab, next - limit), PW_FAB_TICK_NS, PW_FAB_LOOK_NS);
	hrtimer_start(&fab->timer, ns_to_ktime(ns), HRTIMER_MODE_REL_SOFT);
}

/* Return: true if the fabric leaves the CPU to others; fab->lock held */
static bool pw_fab_poll_ends(struct pw_fab *fab, u64 limit, u64 next, u64 start, bool more)
{
	if (more)
		pw_fab_orphan(fab, PW_FAB_ORPHAN);
	else
		pw_fab_sleep(fab, limit, next);
	if (start)
		return pw_share_used(&fab->share, local_clock() - start, more, false);
	return pw_share_idle(&fab->share);
}

/* Return: false if the SAN has entered lockstep meanwhile */
static bool pw_fab_poll_free(struct pw_fab *fab, bool *more, bool *leave)
{
	u64 next, limit, start;
	bool ok;

	spin_lock(&fab->lock);
	ok = likely(!fab->time);
	if (ok) {
		limit = pw_fab_limit(fab);
		*more = pw_fab_run(fab, limit, &next, &start);
		*leave = pw_fab_poll_ends(fab, limit, next, start, *more);
	}
	spin_unlock(&fab->lock);
	return ok;
}

/*
 * By the clock @t, which is not freed before a grace period is over. Return: false if the SAN
 * has another one meanwhile, or none; RCU held
 */
static bool pw_fab_poll_clock(struct pw_fab *fab, struct pw_time *t, bool *more, bool *leave)
{
	u64 start;
	bool ok;

	spin_lock(&t->run);
	spin_lock(&fab->lock);
	ok = fab->time == t;
	if (ok) {
		*more = pw_fab_run_clock(fab, t, &start);
		*leave = pw_fab_poll_ends(fab, 0, PW_FABRIC_NEVER, start, *more);
	}
	spin_unlock(&fab->lock);
	spin_unlock(&t->run);
	return ok;
}

static int pw_fab_poll(struct napi_struct *napi, int budget)
{
	struct pw_fab *fab = container_of(napi, struct pw_fab, napi);
	bool ok, more, leave;
	struct pw_time *t;

	pw_kcov_section();

	rcu_read_lock();
	do {
		t = READ_ONCE(fab->time);
		ok = unlikely(t) ? pw_fab_poll_clock(fab, t, &more, &leave) :
				   pw_fab_poll_free(fab, &more, &leave);
	} while (!ok);
	rcu_read_unlock();

	if (more && !leave)
		return budget;
	napi_complete_done(napi, 0);
	if (leave)
		pw_share_again(&fab->share);
	return 0;
}

static enum hrtimer_restart pw_fab_tick(struct hrtimer *timer)
{
	struct pw_fab *fab = container_of(timer, struct pw_fab, timer);

	spin_lock(&fab->lock);
	pw_share_wake(&fab->share);
	spin_unlock(&fab->lock);
	return HRTIMER_NORESTART;
}

/* bytes between header and TAIL, padding left out */
static u32 pw_fab_msg_len(const struct sk_buff *skb)
{
	u32 len = skb->len > PW_OVERHEAD ? skb->len - PW_OVERHEAD : 0;
	u32 pl = 0;

	if (skb_headlen(skb) >= PW_EEP_HDR_LEN &&
	    (pw_eep_first(skb->data) == PW_EEP_PHYS || pw_eep_first(skb->data) == PW_EEP_LOGICAL))
		pl = (skb->data[PW_EEP_OFF_EPLDL] >> 1) & 7;
	return len > pl ? len - pl : 0;
}

/*
 * In real time a frame arrives now, however long the fabric was empty. In virtual
 * time SO_TXTIME on a raw socket says when it arrives. fab->lock held
 */
static u64 pw_fab_arrival(const struct pw_fab *fab, const struct sk_buff *skb)
{
	if (READ_ONCE(fab->eng.san->fabric.real))
		return pw_fab_cycle(fab, ktime_get_ns() - fab->real_start);
	if (!skb->sk || !sk_fullsock(skb->sk) || !sock_flag(skb->sk, SOCK_TXTIME))
		return 0;
	return pw_fab_cycle(fab, ktime_to_ns(skb->tstamp));
}

/*
 * The work item polls the fabric, and competes with tasks. A task that sends does not wait
 * for it but runs the fabric itself, as long as a poll: it spends its own time, as it would
 * in a softirq if the fabric were less busy. Otherwise a program whose processes poll for
 * messages would keep the CPU from the work item that brings them. fab->lock held
 */
static noinline void pw_fab_run_by_sender(struct pw_fab *fab)
{
	u64 next, start;

	/* in lockstep time stands still as long as the sender runs */
	if (!fab->time)
		pw_fab_run(fab, pw_fab_limit(fab), &next, &start);
}

/* ports whose occupants take frames of port @src to a logical address; RCU held */
static void pw_fab_listeners(const struct pw_san *san, u16 src, u32 addr, u32 *map)
{
	const struct pw_end *e;
	u32 port;

	memset(map, 0, sizeof_field(struct pw_topo_conn, to));
	for (port = 0; port < san->nports; port++) {
		e = pw_port_end(&san->port[port]);
		if (e && port != src && e->ops->hears(e, addr))
			map[port / 32] |= BIT(port % 32);
	}
}

/* is every port of @map a member? */
static bool pw_fab_covers(const struct pw_topo_conn *c, const u32 *map)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(c->to); i++)
		if (map[i] & ~c->to[i])
			return false;
	return true;
}

/*
 * Where a frame to a logical address goes: by the sender's connection that has all ports whose
 * occupants take it, and the fewest members; otherwise to all ports, so that none misses it.
 * Who listens is asked for every frame. RCU held
 */
static noinline u16 pw_fab_group(const struct pw_fab *fab, u16 src, u32 addr)
{
	const struct pw_topo *t = fab->topo;
	const struct pw_topo_conn *c;
	u32 map[ARRAY_SIZE(c->to)], i, best = t->conns;
	bool asked = false;

	for (i = 0; i < t->conns; i++) {
		c = &t->conn[i];
		if (c->src != src || (best < t->conns && c->num >= t->conn[best].num))
			continue;
		if (!asked)
			pw_fab_listeners(fab->eng.san, src, addr, map);
		asked = true;
		if (pw_fab_covers(c, map))
			best = i;
	}
	return best < t->conns ? PW_FABRIC_MC + best : PW_FABRIC_ALL;
}

/* RRP that the kernel makes, at a time that depends on the host? */
static bool pw_fab_beside(const struct sk_buff *skb)
{
	return pw_cb(skb)->flags & (PW_CB_HALF | PW_CB_OWN) &&
	       skb_headlen(skb) >= PW_EEP_HDR_LEN &&
	       pw_eep_first(skb->data) == PW_EEP_PHYS &&
	       get_unaligned_be16(skb->data + PW_EEP_OFF_PT) == PW_PT_RRP;
}

static void pw_fab_xmit(struct pw_engine *eng, struct sk_buff *skb)
{
	const struct pw_skb_cb *cb = pw_cb(skb);
	struct pw_fab *fab = pw_fab(eng);
	bool by_task = skb->sk && in_task();
	struct pw_fab_msg *m;
	u16 src = cb->src_port;

	if (unlikely(READ_ONCE(fab->time)) && pw_fab_beside(skb)) {
		pw_engine_none.xmit(eng, skb);
		return;
	}
	m = kmem_cache_alloc(pw_fab_cache, GFP_ATOMIC);
	if (unlikely(!m)) {
		pw_port_refuse(eng->san, skb, PW_DROP_TX_NOMEM);
		return;
	}
	m->skb = skb;
	m->src = src;
	m->dst = cb->dst_port;
	if (unlikely(m->dst == PW_PORT_GROUP && fab->topo && fab->topo->conns &&
		     pw_addr_kind(cb->dt) == PW_ADDR_KIND_LOGICAL))
		m->dst = pw_fab_group(fab, src, cb->dt);
	/* -1: the sender chooses; the topology may have changed since the route was read */
	m->path = cb->path < (int)fab->paths ? cb->path : cb->path % (int)fab->paths;
	m->delivered = false;
	m->nomem = false;
	m->len = pw_fab_msg_len(skb);

	spin_lock(&fab->lock);
	m->cycle = pw_fab_arrival(fab, skb);
	m->sent = max(m->cycle, pw_fabric_now(fab->f));
	m->key = 0;
	if (unlikely(fab->time)) {
		/* another fabric of the clock may have shorter cycles */
		if (READ_ONCE(fab->time->sans) > 1 &&
		    pw_fab_clock(fab, m->sent) < pw_time_now(fab->time))
			m->sent = pw_fab_not_before(fab, pw_time_now(fab->time));
		m->cycle = m->sent;
		m->key = (u64)src << 32 | pw_time_sender(fab->time);
	}
	pw_tx_stamp(skb, pw_fab_ns(fab, m->sent));
	hlist_add_head(&m->all, &fab->msgs);
	pw_fab_enqueue(fab, m);
	if (unlikely(pw_share_wake(&fab->share)) && by_task)
		pw_fab_run_by_sender(fab);
	spin_unlock(&fab->lock);
}

static void pw_fab_port_up(struct pw_engine *eng, unsigned int port, bool up)
{
	struct pw_fab *fab = pw_fab(eng);

	spin_lock_bh(&fab->lock);
	pw_fabric_attach(fab->f, port, up);
	spin_unlock_bh(&fab->lock);
}

/* @t: NULL: its time is free. Process context, and no other caller */
static void pw_fab_set_time(struct pw_fab *fab, struct pw_time *t)
{
	struct pw_time *old = fab->time;

	if (old == t)
		return;
	if (old) {
		spin_lock_bh(&old->run);
		spin_lock(&fab->lock);
		pw_time_detach(old, &fab->member);
		WRITE_ONCE(fab->time, NULL);
		spin_unlock(&fab->lock);
		spin_unlock_bh(&old->run);
		/* the others may have waited for this one */
		pw_time_kick(old);
		pw_time_put(old);
	}
	if (!t)
		return;
	pw_time_get(t);
	spin_lock_bh(&t->run);
	spin_lock(&fab->lock);
	/* the first one brings its time */
	fab->lead = list_empty(&t->members) ? 0 :
		    pw_time_now(t) - pw_fab_ns(fab, pw_fabric_now(fab->f));
	fab->until = pw_fabric_now(fab->f);
	fab->window = 0;
	fab->member.san = fab->eng.san->id;
	WRITE_ONCE(fab->time, t);
	pw_time_attach(t, &fab->member);
	pw_time_publish(t, pw_fab_clock(fab, pw_fabric_now(fab->f)));
	spin_unlock(&fab->lock);
	spin_unlock_bh(&t->run);
}

/* settings of the SAN have changed */
static void pw_fab_update(struct pw_engine *eng)
{
	struct pw_fab *fab = pw_fab(eng);

	pw_fab_set_time(fab, rtnl_dereference(eng->san->time));
	spin_lock_bh(&fab->lock);
	fab->real_start = ktime_get_ns() - pw_fab_ns(fab, pw_fabric_now(fab->f));
	fab->fault = eng->san->fabric.fault;
	pw_share_wake(&fab->share);
	spin_unlock_bh(&fab->lock);
}

static u64 pw_fab_time(struct pw_engine *eng)
{
	struct pw_fab *fab = pw_fab(eng);
	u64 ns;

	spin_lock_bh(&fab->lock);
	ns = pw_fab_ns(fab, pw_fabric_now(fab->f));
	spin_unlock_bh(&fab->lock);
	return ns;
}

#define PW_X_OFFSET(field, name) offsetof(struct pw_aal_stats, field),
static const u16 pw_fab_aal_offset[] = {
	PW_FABRIC_PORT_COUNTERS(PW_X_OFFSET)
};

/* a line of `ethtool -S` for each of the first three stages and one for the output ports */
static void pw_fab_stats(struct pw_engine *eng, unsigned int port, u64 *data)
{
	struct pw_fab *fab = pw_fab(eng);
	struct pw_fabric_stage stage;
	struct pw_aal_stats aal;
	unsigned int i;

	spin_lock_bh(&fab->lock);
	for (i = 0; i < PW_FABRIC_STAGES; i++) {
		if (i == PW_FABRIC_STAGES - 1)
			pw_fabric_stage(fab->f, fab->stages, &stage);
		else if (i < fab->stages)
			pw_fabric_stage(fab->f, i, &stage);
		else
			memset(&stage, 0, sizeof(stage));
		*data++ = stage.cells;
		*data++ = stage.refused;
		*data++ = stage.dropped;
		*data++ = stage.corrupted;
	}
	pw_fabric_port_stats(fab->f, port, &aal);
	for (i = 0; i < ARRAY_SIZE(pw_fab_aal_offset); i++)
		*data++ = *(const u64 *)((const void *)&aal + pw_fab_aal_offset[i]);
	*data = pw_fabric_now(fab->f);
	spin_unlock_bh(&fab->lock);
}

/* not inlined: what is done with BH off is measured by functions */
static noinline void pw_fab_queues_some(struct pw_fab *fab, u32 *bytes, u32 from, u32 to)
{
	u32 i, q;

	spin_lock_bh(&fab->lock);
	for (i = from; i < to; i++, bytes++) {
		*bytes = 0;
		for (q = 0; q < fab->k; q++)
			*bytes += pw_fabric_qsize(fab->f, i, q);
	}
	spin_unlock_bh(&fab->lock);
}

/* stage of an input unit; an input without a table has no link */
static u32 pw_fab_stage_of(const struct pw_fab *fab, u32 rank)
{
	const struct pw_topo *t = fab->topo;

	if (!t)
		return rank / fab->eng.san->nports;
	return t->first[rank] < t->first[rank + 1] ? t->level[rank] : PW_NO_STAGE;
}

static u32 pw_fab_queues(struct pw_engine *eng, u32 *bytes, u8 *stage)
{
	struct pw_fab *fab = pw_fab(eng);
	u32 i;

	for (i = 0; i < fab->ranks; i += PW_FAB_QUEUES)
		pw_fab_queues_some(fab, bytes + i, i, min(fab->ranks, i + PW_FAB_QUEUES));
	for (i = 0; i < fab->ranks; i++)
		stage[i] = pw_fab_stage_of(fab, i);
	return fab->ranks;
}

static noinline void pw_fab_stage(struct pw_fab *fab, u32 stage, struct pw_fabric_stage *s)
{
	spin_lock_bh(&fab->lock);
	pw_fabric_stage(fab->f, stage, s);
	spin_unlock_bh(&fab->lock);
}

/* the lock is given up between parts, so a fabric that runs is not read in one moment */
static u32 pw_fab_stages(struct pw_engine *eng, struct pw_stage *s)
{
	u32 bytes[PW_FAB_QUEUES], i, j, n, stage;
	struct pw_fab *fab = pw_fab(eng);

	memset(s, 0, sizeof(*s) * (fab->stages + 1));
	for (i = 0; i <= fab->stages; i++) {
		pw_fab_stage(fab, i, &s[i].count);
		cond_resched();
	}
	s[fab->stages].units = eng->san->nports;
	for (i = 0; i < fab->ranks; i += n) {
		n = min_t(u32, fab->ranks - i, PW_FAB_QUEUES);
		pw_fab_queues_some(fab, bytes, i, i + n);
		for (j = 0; j < n; j++) {
			stage = pw_fab_stage_of(fab, i + j);
			if (stage == PW_NO_STAGE)
				continue;
			s[stage].units++;
			s[stage].queued += bytes[j];
			s[stage].fullest = max(s[stage].fullest, bytes[j]);
		}
		cond_resched();
	}
	return fab->stages + 1;
}

/*
 * Steps of a slice. A fabric of three stages has three input units for each port; one with a
 * topology may have more.
 */
static u32 pw_fab_slice(const struct pw_fab *fab, bool rtl)
{
	u32 size = max(fab->eng.san->nports, fab->ranks / 3);

	return rtl ? PW_FAB_SLICE_RTL / size ?: PW_FAB_PARTS_RTL :
		     clamp_t(u32, PW_FAB_SLICE_FAST * 16 / size, 1, PW_FAB_SLICE_FAST);
}

static struct pw_engine *pw_fab_create(struct pw_san *san, struct pw_fabric_params params,
				       bool rtl, const struct pw_engine_ops *ops,
				       struct netlink_ext_ack *extack)
{
	struct pw_fab *fab;
	u32 i;

	params.flags |= PW_FABRIC_F_SPARSE;
	if (!rtl)
		params.flags |= PW_FABRIC_F_FAST;
	if (pw_fabric_check(&params)) {
		NL_SET_ERR_MSG(extack, "The fabric has no such size");
		return ERR_PTR(-EINVAL);
	}
	fab = kvzalloc(sizeof(*fab), PW_GFP);
	if (!fab)
		return ERR_PTR(-ENOMEM);
	fab->mem = __vmalloc(pw_fabric_size(&params), PW_GFP | __GFP_ZERO);
	fab->dummy = pw_dummy_netdev_alloc();
	if (!fab->mem || !fab->dummy) {
		pw_dummy_netdev_free(fab->dummy);
		vfree(fab->mem);
		kvfree(fab);
		NL_SET_ERR_MSG(extack, "No memory for the fabric");
		return ERR_PTR(-ENOMEM);
	}
	fab->eng.ops = ops;
	fab->eng.san = san;
	fab->rtl = rtl;
	fab->topo = params.topo;
	fab->ranks = pw_fabric_ranks(&params);
	fab->stages = pw_fabric_stages(&params);
	fab->k = params.topo ? params.topo->k : params.k;
	fab->paths = pw_fabric_paths(&params);
	fab->slice = pw_fab_slice(fab, rtl);
	spin_lock_init(&fab->lock);
	INIT_HLIST_HEAD(&fab->msgs);
	fab->pending = RB_ROOT_CACHED;
	for (i = 0; i < ARRAY_SIZE(fab->blocked); i++)
		INIT_LIST_HEAD(&fab->blocked[i]);
	__skb_queue_head_init(&fab->arrived);
	INIT_WORK(&fab->grow, pw_fab_grow);
	fab->ops.deliver = pw_fab_deliver;
	fab->ops.done = pw_fab_done;
	fab->ops.room = pw_fab_room;
	fab->ops.fetch = pw_fab_fetch;
	fab->ops.trace = pw_fab_trace;
	fab->ops.cell = pw_fab_cell;
	fab->ops.fault = pw_fab_fault_fn;
	fab->f = pw_fabric_init(fab->mem, &params, &fab->ops, fab);
	fab->real_start = ktime_get_ns();
	hrtimer_setup(&fab->timer, pw_fab_tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	netif_napi_add(fab->dummy, &fab->napi, pw_fab_poll);
	pw_share_setup(&fab->share, &fab->napi);
	fab->member.napi = &fab->napi;
	napi_enable(&fab->napi);

	for (i = 0; i < san->nports; i++)
		pw_fabric_attach(fab->f, i, false);
	return &fab->eng;
}

static struct pw_engine *pw_fast_create(struct pw_san *san, const struct pw_fabric_params *params,
					struct netlink_ext_ack *extack)
{
	return pw_fab_create(san, *params, false, &pw_engine_fast, extack);
}

static struct pw_engine *pw_rtl_create(struct pw_san *san, const struct pw_fabric_params *params,
				       struct netlink_ext_ack *extack)
{
	return pw_fab_create(san, *params, true, &pw_engine_rtl, extack);
}

/* does a message to many go to this port? */
static bool pw_fab_goes_to(const struct pw_fab *fab, const struct pw_fab_msg *m, u32 port)
{
	return m->dst == PW_FABRIC_ALL ||
	       pw_topo_member(&fab->topo->conn[m->dst - PW_FABRIC_MC], port);
}

/* a message that waits outside the fabric goes to its receivers; fab->lock held */
static void pw_fab_flush_one(struct pw_fab *fab, struct pw_fab_msg *m)
{
	const struct pw_fabric_times none = {};
	u64 now = pw_fabric_now(fab->f);
	struct pw_san *san = fab->eng.san;
	u32 port;

	rcu_read_lock();
	if (!pw_fab_to_many(m)) {
		if (pw_port_takes(san, m->dst))
			pw_fab_deliver(fab, m->dst, m->src, (uintptr_t)m, m->len, now, &none);
	} else {
		for (port = 0; port < san->nports; port++)
			if (m->src != port && pw_fab_goes_to(fab, m, port) &&
			    pw_port_takes(san, port))
				pw_fab_deliver(fab, port, m->src, (uintptr_t)m, m->len, now, &none);
	}
	pw_fab_done(fab, m->src, (uintptr_t)m, now, &none);
	rcu_read_unlock();
}

/* the next message that waits outside the fabric, port by port, then those not yet due */
static struct pw_fab_msg *pw_fab_flush_next(struct pw_fab *fab, u32 *port)
{
	struct pw_fab_msg *m;

	for (; *port < ARRAY_SIZE(fab->blocked); (*port)++) {
		m = list_first_entry_or_null(&fab->blocked[*port], struct pw_fab_msg, entry);
		if (m) {
			list_del(&m->entry);
			return m;
		}
	}
	m = pw_fab_first(fab);
	if (m)
		pw_fab_dequeue(fab, m);
	return m;
}

/* one message of those in the fabric, then of those outside; false if there is none */
static noinline bool pw_fab_flush_some(struct pw_fab *fab, bool *inside, u32 *port)
{
	struct pw_fab_msg *m = NULL;
	bool more = true;

	spin_lock_bh(&fab->lock);
	if (pw_fab_hand_over(fab)) {
		if (*inside) {
			*inside = pw_fabric_flush(fab->f, 1);
		} else {
			m = pw_fab_flush_next(fab, port);
			if (m)
				pw_fab_flush_one(fab, m);
		}
		more = *inside || m || !skb_queue_empty(&fab->arrived);
	}
	spin_unlock_bh(&fab->lock);
	return more;
}

/*
 * No station sends, reads counters or polls: what is under way goes to its receivers
 * at once, one message at a time with BH off. There may be minutes of work for the
 * model in it, and a request waits.
 */
static void pw_fab_flush(struct pw_fab *fab)
{
	bool inside = true;
	u32 port = 0;

	/* those inside, then those outside */
	while (pw_fab_flush_some(fab, &inside, &port))
		cond_resched();
	while (pw_fab_flush_some(fab, &inside, &port))
		cond_resched();
}

static void pw_fab_destroy(struct pw_engine *eng)
{
	struct pw_fab *fab = pw_fab(eng);
	void *mem;

	if (fab->time) {
		pw_fab_set_time(fab, NULL);
		/* no kick finds it after this */
		synchronize_rcu();
	}
	/* a poll starts timer and work; they find the NAPI disabled */
	napi_disable(&fab->napi);
	hrtimer_cancel(&fab->timer);
	cancel_work_sync(&fab->grow);
	/* the grace period of pw_share_stop() is for this, too */
	__netif_napi_del(&fab->napi);
	pw_share_stop(&fab->share, &fab->lock);
	pw_fab_flush(fab);
	pw_dummy_netdev_free(fab->dummy);
	while ((mem = pw_fabric_take(fab->f)))
		kvfree(mem);
	vfree(fab->mem);
	kvfree(fab);
}

const struct pw_engine_ops pw_engine_fast = {
	.create = pw_fast_create,
	.destroy = pw_fab_destroy,
	.xmit = pw_fab_xmit,
	.port_up = pw_fab_port_up,
	.update = pw_fab_update,
	.time = pw_fab_time,
	.stats = pw_fab_stats,
	.queues = pw_fab_queues,
	.stages = pw_fab_stages,
};

const struct pw_engine_ops pw_engine_rtl = {
	.create = pw_rtl_create,
	.destroy = pw_fab_destroy,
	.xmit = pw_fab_xmit,
	.port_up = pw_fab_port_up,
	.update = pw_fab_update,
	.time = pw_fab_time,
	.stats = pw_fab_stats,
	.queues = pw_fab_queues,
	.stages = pw_fab_stages,
};

int __init pw_fab_init(void)
{
	pw_fab_cache = KMEM_CACHE(pw_fab_msg, SLAB_ACCOUNT);
	return pw_fab_cache ? 0 : -ENOMEM;
}

void pw_fab_exit(void)
{
	kmem_cache_destroy(pw_fab_cache);
}
