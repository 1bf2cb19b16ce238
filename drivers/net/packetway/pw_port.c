// SPDX-License-Identifier: GPL-2.0
/*
 * Ports of a SAN: where a frame is charged, waits for the occupant and is given back.
 *
 *   engine -> pw_port_deliver -> pw_end_ops.arrive, or pw_end_queue -> occupant's NAPI
 *   poll or engine -> pw_port_done : the sender is charged no longer
 *
 * A port knows its occupant (struct pw_end) only by its operations: a station and a
 * half-router are the same here.
 */
#include "pw_router.h"

/* closed and empty; 0 or -ENOMEM */
int pw_rxq_init(struct pw_rxq *q)
{
	spin_lock_init(&q->lock);
	q->last = kcalloc(PW_PRIO_NUM, sizeof(*q->last), PW_GFP);
	return q->last ? 0 : -ENOMEM;
}

void pw_rxq_free(struct pw_rxq *q)
{
	kfree(q->last);
}

void pw_rxq_push(struct pw_rxq *q, struct sk_buff *skb)
{
	u8 prio = pw_cb(skb)->prio;
	struct sk_buff *last = q->last[prio];

	if (last) {
		skb->next = last->next;
		last->next = skb;
	} else {
		skb->next = skb;
		q->nonempty |= BIT_ULL(prio);
	}
	q->last[prio] = skb;
}

/* up to @max frames of the highest priority: @n of them, from the first to the last returned */
static __always_inline struct sk_buff *pw_rxq_cut(struct pw_rxq *q, int max,
						  struct sk_buff **first, int *n)
{
	int prio = fls64(q->nonempty) - 1;
	struct sk_buff *last = q->last[prio], *skb = last->next;

	*first = skb;
	for (*n = 1; skb != last && *n < max; (*n)++)
		skb = skb->next;
	if (skb == last) {
		q->last[prio] = NULL;
		q->nonempty &= ~BIT_ULL(prio);
	} else {
		last->next = skb->next;
	}
	return skb;
}

struct sk_buff *pw_rxq_pop(struct pw_rxq *q)
{
	struct sk_buff *skb;
	int n;

	if (!q->nonempty)
		return NULL;
	pw_rxq_cut(q, 1, &skb, &n);
	skb_mark_not_on_list(skb);
	return skb;
}

/**
 * pw_end_init - an occupant whose queue is closed
 * @e: the occupant
 * @ops: what it does with frames
 * @dev: device of a station, NULL for a half-router
 *
 * Return: 0 or -ENOMEM; pw_rxq_free() frees what it has taken.
 */
int pw_end_init(struct pw_end *e, const struct pw_end_ops *ops, struct net_device *dev)
{
	e->ops = ops;
	e->dev = dev;
	return pw_rxq_init(&e->rxq);
}

void pw_end_open(struct pw_end *e)
{
	spin_lock_bh(&e->rxq.lock);
	e->rxq.open = true;
	spin_unlock_bh(&e->rxq.lock);
}

/* pw_end_queue() in the path of each frame */
static __always_inline bool pw_end_push(struct pw_end *e, struct sk_buff *skb)
{
	struct pw_rxq *q = &e->rxq;
	bool open;

	spin_lock(&q->lock);
	open = q->open;
	if (likely(open))
		pw_rxq_push(q, skb);
	spin_unlock(&q->lock);
	if (likely(open))
		napi_schedule(&e->napi);
	return open;
}

/**
 * pw_end_queue - a frame waits for the occupant's poll
 * @e: the occupant
 * @skb: the frame; a charge to its sender goes on
 *
 * BH off.
 *
 * Return: false if the queue is closed; then the frame is still the caller's.
 */
bool pw_end_queue(struct pw_end *e, struct sk_buff *skb)
{
	return pw_end_push(e, skb);
}

/**
 * pw_end_busy - do frames wait for the occupant, or does its poll run?
 * @e: the occupant; RCU held
 */
bool pw_end_busy(const struct pw_end *e)
{
	return READ_ONCE(e->rxq.open) &&
	       (READ_ONCE(e->rxq.nonempty) || test_bit(NAPI_STATE_SCHED, &e->napi.state));
}

/**
 * pw_end_take - what the occupant's poll handles now, highest priority first
 * @e: the occupant
 * @budget: so many at most
 * @n: gets their number
 *
 * BH off.
 *
 * Return: the first frame, linked by skb->next; for pw_end_next().
 */
struct sk_buff *pw_end_take(struct pw_end *e, int budget, int *n)
{
	struct sk_buff *first = NULL, *last = NULL, *skb, *end;
	struct pw_rxq *q = &e->rxq;
	int taken = 0, cut;

	spin_lock(&q->lock);
	while (q->nonempty && taken < budget) {
		end = pw_rxq_cut(q, budget - taken, &skb, &cut);
		taken += cut;
		if (last)
			last->next = skb;
		else
			first = skb;
		last = end;
	}
	spin_unlock(&q->lock);
	if (last)
		last->next = NULL;
	*n = taken;
	return first;
}

/* frames that are dropped with BH off at once */
#define PW_END_DROP	16

/* not inlined: what is done with BH off is measured by functions. Return: false: none is left */
static noinline bool pw_end_drop_some(struct pw_end *e, struct pw_san *san)
{
	struct sk_buff *frames, *skb;
	int n;

	local_bh_disable();
	rcu_read_lock();
	frames = pw_end_take(e, PW_END_DROP, &n);
	while ((skb = pw_end_next(&frames))) {
		pw_port_done(san, skb);
		e->ops->drop(e, skb, PW_DROP_RX_DOWN);
	}
	rcu_read_unlock();
	local_bh_enable();
	return n;
}

/* the occupant goes down: what waits is dropped, nothing comes in */
void pw_end_close(struct pw_end *e, struct pw_san *san)
{
	spin_lock_bh(&e->rxq.lock);
	e->rxq.open = false;
	spin_unlock_bh(&e->rxq.lock);
	/* all ports may have sent what they may have under way: 65,000 frames */
	while (pw_end_drop_some(e, san))
		cond_resched();
}

static __always_inline bool pw_end_arrive(struct pw_end *e, struct sk_buff *skb)
{
	return (e->ops->arrive && e->ops->arrive(e, skb)) || likely(pw_end_push(e, skb));
}

/**
 * pw_port_charge_copy - a copy of a frame is under way, too
 * @san: the SAN
 * @skb: the copy
 */
void pw_port_charge_copy(struct pw_san *san, struct sk_buff *skb)
{
	struct pw_port *p = &san->port[pw_cb(skb)->src_port];

	pw_port_charge(p, skb);
	if (unlikely(pw_cb(skb)->flags & PW_CB_OWN))
		atomic_add(pw_port_own_cost(skb->len), &p->own);
}

/**
 * pw_port_copy - a copy of a frame for one of many receivers
 * @san: the SAN
 * @port: the receiver's, which counts it if there is no memory
 * @skb: the frame
 *
 * Receivers that write to it make a copy of the data, each in its own poll. RCU held.
 *
 * Return: the copy, charged to the sender, or NULL.
 */
struct sk_buff *pw_port_copy(struct pw_san *san, unsigned int port, struct sk_buff *skb)
{
	struct pw_station *st = pw_port_station(&san->port[port]);
	struct sk_buff *copy = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);

	if (copy)
		pw_port_charge_copy(san, copy);
	else if (st)
		pw_count(st, (enum pw_stat)PW_DROP_RX_NOMEM);
	return copy;
}

/**
 * pw_port_refuse - an engine does not take a frame
 * @san: the SAN
 * @skb: the frame, charged to its sender, which counts it; consumed
 * @why: as what
 *
 * BH off, RCU held.
 */
void pw_port_refuse(struct pw_san *san, struct sk_buff *skb, enum pw_drop why)
{
	struct pw_end *e = pw_port_end(&san->port[pw_cb(skb)->src_port]);

	pw_port_done(san, skb);
	if (e)
		e->ops->drop(e, skb, why);
	else
		kfree_skb(skb);
}

/* ports whose waiting frames pw_port_let_go() looks at */
#define PW_PORT_LET_GO	4

/**
 * pw_port_let_go - frames that wait for room at some stations hold closed sockets no longer
 * @san: the SAN, whose engine stands still or is slow
 * @port: the port that was looked at last
 */
void pw_port_let_go(struct pw_san *san, u32 *port)
{
	struct pw_end *e;
	u32 i, n = 0;

	rcu_read_lock();
	for (i = 0; i < san->nports && n < PW_PORT_LET_GO; i++) {
		*port = *port + 1 < san->nports ? *port + 1 : 0;
		e = pw_port_end(&san->port[*port]);
		if (e && e->dev && READ_ONCE(e->full)) {
			e->ops->let_go(e);
			n++;
		}
	}
	rcu_read_unlock();
}

void __pw_port_own_done(struct pw_san *san, struct sk_buff *skb)
{
	struct pw_skb_cb *cb = pw_cb(skb);

	atomic_sub(pw_port_own_cost(skb->len), &san->port[cb->src_port].own);
	cb->flags &= ~PW_CB_OWN;
}

/*
 * The sender of a frame has gone: who answers the node that made the frame? Its own port if it
 * is on this SAN, else the half-router on the way to it. RCU held.
 */
static struct pw_end *pw_port_instead(const struct pw_san *san, struct sk_buff *skb)
{
	struct pw_eep_view v;
	int port;

	if (pw_cb(skb)->flags & PW_CB_HALF || !pw_skb_err_wanted(skb, &v))
		return NULL;
	port = pw_san_port_of(san, v.sa);
	if (port < 0)
		port = pw_fib_lookup(san, v.sa);
	return port < 0 ? NULL : pw_port_end(&san->port[port]);
}

/**
 * pw_port_return - the port that a frame was for is empty
 * @san: the SAN
 * @src: port of its sender
 * @skb: the frame, charged to it
 *
 * The sender answers the node that made the frame: not here, where an engine may hold its
 * lock, but in its poll. BH off, RCU held.
 *
 * Return: false if no node can answer; then the frame is still the caller's.
 */
bool pw_port_return(struct pw_san *san, unsigned int src, struct sk_buff *skb)
{
	struct pw_end *e;

	if (pw_cb(skb)->dst_port == PW_PORT_GROUP)
		return false;
	e = pw_port_end(&san->port[src]) ?: pw_port_instead(san, skb);
	if (!e)
		return false;
	pw_cb(skb)->flags |= PW_CB_RETURNED;
	return pw_end_arrive(e, skb);
}

/* debugfs: a bit of the data of one frame to @port is wrong from now on */
static noinline_for_stack void pw_port_damage(struct pw_san *san, unsigned int port,
					      struct sk_buff *skb)
{
	struct pw_eep_view v;

	if (READ_ONCE(san->damage) != port + 1 || pw_cb(skb)->flags & PW_CB_HALF ||
	    skb_linearize(skb) || skb_unclone(skb, GFP_ATOMIC) ||
	    pw_eep_parse(skb->data, skb->len, &v) || !v.data_len)
		return;
	if (cmpxchg(&san->damage, port + 1, 0) == port + 1)
		skb->data[v.db_off] ^= 1;
}

/**
 * pw_port_deliver - a frame has reached a port
 * @san: the SAN
 * @port: the port
 * @skb: the frame, charged to its sender; consumed
 *
 * BH off, RCU held. Queues need no bound of their own: a frame is charged to its
 * sender until it is taken.
 */
void pw_port_deliver(struct pw_san *san, unsigned int port, struct sk_buff *skb)
{
	struct pw_end *e = pw_port_end(&san->port[port]);

	if (unlikely(!e)) {
		if (!pw_port_return(san, pw_cb(skb)->src_port, skb)) {
			pw_port_done(san, skb);
			kfree_skb(skb);
		}
		return;
	}
	if (unlikely(READ_ONCE(san->damage)))
		pw_port_damage(san, port, skb);
	if (likely(pw_end_arrive(e, skb)))
		return;
	pw_port_done(san, skb);
	e->ops->drop(e, skb, PW_DROP_RX_DOWN);
}
