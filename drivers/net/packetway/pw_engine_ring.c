// SPDX-License-Identifier: GPL-2.0
/*
 * The engine `ring`: frames of a SAN are passive packets on its ATON ring.
 *
 *   xmit -> queue of the port's interface -> token -> ring -> pw_passive_arrived
 *        -> pw_port_deliver -> receiver's NAPI
 *        -> back at the sender: pw_passive_ended
 *
 * So commands and frames share one token, and a command waits for the frames before it as it
 * would on a wire. The whole frame, from its first prefix or header to TAIL, is the data of the
 * passive packet. Interfaces copy it while it passes: each receiver gets a clone, the frame
 * stays with its sender until the packet is back.
 *
 * The poll of the ring (pw_aton_poll) does all of that, a bounded number of steps at a time. A
 * frame is charged to its port from xmit to the receiver's poll, which bounds the queues: the
 * limits of the ring are for commands.
 *
 * An interface that joins or leaves breaks packets off, and they are sent again (pw_ring_break).
 * A port that has the frame already (@got) does not get it twice.
 *
 * aton->lock guards the frames. It nests as pw_fab.lock does: see pw_priv.h.
 */
#include <linux/bitmap.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/sock.h>

#include "pw_priv.h"
#include "pw_trace.h"

/* frames whose sockets are looked at, and how often */
#define PW_PASSIVE_LOOK		256
#define PW_PASSIVE_LOOK_TIME	(HZ / 10)
/* times of SO_TXTIME lie in the first 104 days */
#define PW_PASSIVE_NS_MAX	BIT_ULL(53)

struct pw_passive_frame {
	struct pw_aton_frame ring;
	struct list_head entry;		/* pw_passive.frames */
	struct pw_passive *engine;
	struct sk_buff *skb;
	u16 src;
	u16 dst;			/* PW_PORT_GROUP: every other port */
	bool delivered;			/* to one port at least */
	DECLARE_BITMAP(got, PACKETWAY_PORTS_MAX);
};

struct pw_passive {
	struct pw_engine eng;
	struct list_head frames;	/* aton->lock; those sent first are first */
	struct pw_passive_frame *next;	/* the one to look at next; NULL: the first */
	struct delayed_work look;
	bool looks;			/* aton->lock: the work is queued */
	bool frozen;			/* RTNL */
	u32 port;			/* that the work has looked at last */
};

static struct kmem_cache *pw_passive_cache;

static struct pw_passive *pw_passive(struct pw_engine *eng)
{
	return container_of(eng, struct pw_passive, eng);
}

/* nanoseconds of virtual time that bit times take at the nominal speed */
static u64 pw_passive_ns(u64 bits)
{
	return bits * (NSEC_PER_USEC / 8) / (PW_ATON_BITS_PER_US / 8);
}

static u64 pw_passive_bits(u64 ns)
{
	return div_u64(min(ns, PW_PASSIVE_NS_MAX) * (PW_ATON_BITS_PER_US / 8), NSEC_PER_USEC / 8);
}

/* SO_TXTIME on a raw socket says when a frame is queued */
static u64 pw_passive_when(const struct sk_buff *skb)
{
	if (!skb->sk || !sk_fullsock(skb->sk) || !sock_flag(skb->sk, SOCK_TXTIME))
		return 0;
	return pw_passive_bits(ktime_to_ns(skb->tstamp));
}

/* a frame is at a port: which virtual time is it? A ring takes and gives frames as a whole. */
static void pw_passive_account(const struct pw_passive_frame *f, struct sk_buff *skb, u64 when)
{
	struct pw_skb_cb *cb = pw_cb(skb);
	u64 sent = min(f->ring.cmd.submit, when);

	cb->stamp = pw_passive_ns(when);
	cb->delay += pw_passive_ns(when) - pw_passive_ns(sent);
	cb->first = 0;
}

/* a port gets a frame, or a copy of it, and nothing more of it later; RCU held */
static void pw_passive_give(struct pw_passive_frame *f, u32 port, u64 when, struct sk_buff *skb)
{
	struct pw_san *san = f->engine->eng.san;

	__set_bit(port, f->got);
	f->delivered = true;
	trace_pw_deliver(san, f->src, port, skb->len, f->ring.cmd.submit, when);
	pw_passive_account(f, skb, when);
	pw_port_deliver(san, port, skb);
}

/* the same with a copy */
static void pw_passive_give_copy(struct pw_passive_frame *f, u32 port, u64 when)
{
	struct sk_buff *copy;

	if (test_bit(port, f->got))
		return;
	copy = pw_port_copy(f->engine->eng.san, port, f->skb);
	/* a receiver without memory for it has counted it */
	__set_bit(port, f->got);
	f->delivered = true;
	if (copy)
		pw_passive_give(f, port, when, copy);
}

/* the packet has passed an interface that it is for; aton->lock held */
static void pw_passive_arrived(struct pw_aton_frame *frame, u32 port, u64 when)
{
	rcu_read_lock();
	pw_passive_give_copy(container_of(frame, struct pw_passive_frame, ring), port, when);
	rcu_read_unlock();
}

/* aton->lock held */
static void pw_passive_free(struct pw_passive_frame *f)
{
	struct pw_passive *p = f->engine;

	if (p->next == f)
		p->next = list_is_last(&f->entry, &p->frames) ? NULL : list_next_entry(f, entry);
	list_del(&f->entry);
	kmem_cache_free(pw_passive_cache, f);
}

/* the sender needs the frame no longer; RCU held */
static void pw_passive_done(struct pw_passive_frame *f)
{
	pw_port_done(f->engine->eng.san, f->skb);
	consume_skb(f->skb);
}

/*
 * No port has got a frame to one port. The sender copies what it sends to itself when it strips
 * the packet; any other frame comes back unrecognised, because the port is empty. RCU held
 */
static void pw_passive_unclaimed(struct pw_passive_frame *f, u64 when)
{
	if (f->src == f->dst)
		pw_passive_give(f, f->dst, when, f->skb);
	else if (!pw_port_return(f->engine->eng.san, f->src, f->skb))
		pw_passive_done(f);
}

/*
 * The packet is back, or is lost. One that was damaged, or whose sender has left, is not sent
 * again; if receivers may lack it, the sender counts it. aton->lock held
 */
static void pw_passive_ended(struct pw_aton_frame *frame)
{
	struct pw_passive_frame *f = container_of(frame, struct pw_passive_frame, ring);
	bool many = f->dst == PW_PORT_GROUP;

	rcu_read_lock();
	if (frame->cmd.err && (many || !f->delivered))
		pw_port_refuse(f->engine->eng.san, f->skb, PW_DROP_TX_LOST);
	else if (many || f->delivered)
		pw_passive_done(f);
	else
		pw_passive_unclaimed(f, frame->cmd.done);
	rcu_read_unlock();
	pw_passive_free(f);
}

static const struct pw_aton_frame_ops pw_passive_frame_ops = {
	.arrived = pw_passive_arrived,
	.ended = pw_passive_ended,
};

/*
 * A frame holds its socket, a socket its namespace, and a ring may stand still or need long.
 * So frames of closed sockets let go of them, see pw_fab_orphan(). aton->lock held
 */
static void pw_passive_let_go(struct pw_passive *p)
{
	struct pw_passive_frame *f = p->next;
	u32 n = PW_PASSIVE_LOOK;

	f = list_prepare_entry(f, &p->frames, entry);
	if (p->next)
		f = list_prev_entry(f, entry);
	p->next = NULL;
	list_for_each_entry_continue(f, &p->frames, entry) {
		if (!n--) {
			p->next = f;
			break;
		}
		pw_skb_let_go(f->skb);
	}
	pw_port_let_go(p->eng.san, &p->port);
}

static void pw_passive_look(struct work_struct *work)
{
	struct pw_passive *p = container_of(to_delayed_work(work), struct pw_passive, look);
	struct pw_aton *aton = p->eng.san->aton;

	spin_lock_bh(&aton->lock);
	pw_passive_let_go(p);
	p->looks = !list_empty(&p->frames);
	if (p->looks)
		queue_delayed_work(system_percpu_wq, &p->look, PW_PASSIVE_LOOK_TIME);
	spin_unlock_bh(&aton->lock);
}

/* aton->lock held */
static int pw_passive_send(struct pw_passive *p, struct pw_passive_frame *f)
{
	int err = pw_aton_frame_send(p->eng.san->aton, f->src, &f->ring);

	if (err)
		return err;
	list_add_tail(&f->entry, &p->frames);
	if (!p->looks)
		queue_delayed_work(system_percpu_wq, &p->look, PW_PASSIVE_LOOK_TIME);
	p->looks = true;
	return 0;
}

static void pw_passive_xmit(struct pw_engine *eng, struct sk_buff *skb)
{
	const struct pw_skb_cb *cb = pw_cb(skb);
	struct pw_san *san = eng->san;
	struct pw_passive_frame *f;
	int err;

	if (unlikely(skb->len > PW_ATON_PASSIVE_MAX)) {
		pw_port_refuse(san, skb, PW_DROP_TOO_BIG);
		return;
	}
	f = kmem_cache_zalloc(pw_passive_cache, GFP_ATOMIC);
	/* the ring reads the bytes one after the other */
	if (unlikely(!f || skb_linearize(skb))) {
		if (f)
			kmem_cache_free(pw_passive_cache, f);
		pw_port_refuse(san, skb, PW_DROP_TX_NOMEM);
		return;
	}
	f->engine = pw_passive(eng);
	f->skb = skb;
	f->src = cb->src_port;
	f->dst = cb->dst_port;
	f->ring.ops = &pw_passive_frame_ops;
	f->ring.cmd.op = PW_ATON_PASSIVE;
	f->ring.cmd.dst = f->dst == PW_PORT_GROUP ? PW_ATON_RING : pw_san_addr(san, f->dst);
	f->ring.cmd.len = skb->len;
	f->ring.cmd.data = skb->data;
	f->ring.cmd.when = pw_passive_when(skb);

	spin_lock(&san->aton->lock);
	err = pw_passive_send(f->engine, f);
	if (likely(!err))
		pw_tx_stamp(skb, pw_passive_ns(f->ring.cmd.submit));
	spin_unlock(&san->aton->lock);
	if (likely(!err))
		return;
	/* the interface has left the ring, or a fault has bypassed it */
	kmem_cache_free(pw_passive_cache, f);
	pw_port_refuse(san, skb, PW_DROP_TX_LOST);
}

static void pw_passive_port_up(struct pw_engine *eng, unsigned int port, bool up)
{
	if (up)
		pw_aton_settle(eng->san->aton);
}

static void pw_passive_update(struct pw_engine *eng)
{
	struct pw_passive *p = pw_passive(eng);

	p->frozen = eng->san->fabric.frozen;
	pw_aton_freeze(eng->san->aton, p->frozen);
}

static u64 pw_passive_time(struct pw_engine *eng)
{
	return pw_passive_ns(pw_aton_now(eng->san->aton));
}

static struct pw_engine *pw_passive_create(struct pw_san *san,
					   const struct pw_fabric_params *params,
					   struct netlink_ext_ack *extack)
{
	struct pw_passive *p = kzalloc(sizeof(*p), PW_GFP);

	if (!p)
		return ERR_PTR(-ENOMEM);
	p->eng.ops = &pw_engine_ring;
	p->eng.san = san;
	INIT_LIST_HEAD(&p->frames);
	INIT_DELAYED_WORK(&p->look, pw_passive_look);
	return &p->eng;
}

/* a frame that was taken back goes to those that have not got it; aton->lock held */
static void pw_passive_flush_one(struct pw_passive_frame *f)
{
	struct pw_san *san = f->engine->eng.san;
	u64 now = pw_ring_now(san->aton->ring);
	u32 port;

	rcu_read_lock();
	if (f->dst == PW_PORT_GROUP) {
		for (port = 0; port < san->nports; port++)
			if (port != f->src && pw_port_takes(san, port))
				pw_passive_give_copy(f, port, now);
		pw_passive_done(f);
	} else if (f->delivered) {
		pw_passive_done(f);
	} else if (pw_port_takes(san, f->dst)) {
		pw_passive_give(f, f->dst, now, f->skb);
	} else {
		pw_passive_unclaimed(f, now);
	}
	rcu_read_unlock();
	pw_passive_free(f);
}

/* the frame that was sent first; false if there is none. Not inlined: BH is off here */
static noinline bool pw_passive_flush_some(struct pw_passive *p)
{
	struct pw_aton *aton = p->eng.san->aton;
	struct pw_passive_frame *f;

	spin_lock_bh(&aton->lock);
	f = list_first_entry_or_null(&p->frames, struct pw_passive_frame, entry);
	if (f && pw_aton_frame_back(aton, &f->ring))
		pw_passive_flush_one(f);
	pw_aton_unlock(aton);
	return f;
}

static void pw_passive_destroy(struct pw_engine *eng)
{
	struct pw_passive *p = pw_passive(eng);

	cancel_delayed_work_sync(&p->look);
	/* a SAN that could not be made has no ring, and no frames */
	if (!list_empty_careful(&p->frames))
		while (pw_passive_flush_some(p))
			cond_resched();
	/* the ring stays, and the next engine of the SAN does not stop it */
	if (p->frozen)
		pw_aton_freeze(eng->san->aton, false);
	kfree(p);
}

const struct pw_engine_ops pw_engine_ring = {
	.create = pw_passive_create,
	.destroy = pw_passive_destroy,
	.mtu = PW_RING_MTU,
	.xmit = pw_passive_xmit,
	.port_up = pw_passive_port_up,
	.update = pw_passive_update,
	.time = pw_passive_time,
};

int __init pw_passive_init(void)
{
	pw_passive_cache = KMEM_CACHE(pw_passive_frame, SLAB_ACCOUNT);
	return pw_passive_cache ? 0 : -ENOMEM;
}

void pw_passive_exit(void)
{
	kmem_cache_destroy(pw_passive_cache);
}
