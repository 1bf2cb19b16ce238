// SPDX-License-Identifier: GPL-2.0
/*
 * What a half-router sends: frames into its SAN, its own messages, ERRs, and frames to
 * its peer half, here or behind a trunk. pw_half.c decides what is sent where.
 */
#include "pw_mon.h"
#include "pw_router.h"
#include "pw_trace.h"
#include "pw_trunk.h"

/*
 * What an ERR/TOOBIG says. Only trunks count prefixes and options: with those of this frame so
 * much data would have passed.
 */
static u32 pw_half_err_mtu(const struct pw_half *h, const struct pw_eep_view *v)
{
	u32 more = v->hdr_off + v->oh_len + v->ot_len, trunk = READ_ONCE(h->trunk_mtu);

	if (h->peer)
		return pw_half_mtu(h);
	return min(pw_half_mtu(h), max_t(u32, trunk - min(trunk, more), PACKETWAY_MTU_MIN));
}

/**
 * pw_half_drop - count why a frame ends at a half-router, answer its source, free it
 * @h: the half-router
 * @skb: the frame, consumed
 * @why: counter
 * @te: error for the source, 0: none
 */
void pw_half_drop(struct pw_half *h, struct sk_buff *skb, enum pw_half_stat why, u16 te)
{
	struct pw_eep_view v;
	struct sk_buff *err;

	pw_half_count(h, why);
	pw_mon_record(h->san, PACKETWAY_MON_HALF, h->port, PACKETWAY_MON_DROPPED, skb,
		      pw_cb(skb)->stamp);
	trace_pw_half_drop(h, skb, why);
	if (te && pw_skb_err_wanted(skb, &v)) {
		if (__ratelimit(&h->err_limit)) {
			err = pw_skb_err(skb, &v, te, h->addr, pw_half_err_mtu(h, &v), true);
			if (err) {
				pw_half_count(h, PW_HALF_ERR_SENT);
				pw_half_send_own(h, err);
			}
		} else {
			pw_half_count(h, PW_HALF_ERR_LIMITED);
		}
	}
	kfree_skb_reason(skb, SKB_DROP_REASON_NOT_SPECIFIED);
}

/**
 * pw_half_emit - send a frame into a half-router's SAN, from its port
 * @h: the half-router
 * @skb: the frame; consumed
 * @port: where to, or PW_PORT_GROUP
 *
 * BH off, RCU held.
 */
void pw_half_emit(struct pw_half *h, struct sk_buff *skb, u16 port)
{
	struct pw_port *p = &h->san->port[h->port];
	struct pw_skb_cb *cb = pw_cb(skb);
	u32 shares = cb->flags & PW_CB_HALF ? 2 : 1;
	struct pw_engine *eng;

	if (pw_port_charge(p, skb) > shares * PW_HALF_INFLIGHT_MAX ||
	    pw_port_bytes(p) > shares * PW_HALF_INFLIGHT_BYTES) {
		pw_port_uncharge(p, skb);
		pw_half_drop(h, skb, PW_HALF_DROP_FULL, 0);
		return;
	}
	cb->src_port = h->port;
	cb->dst_port = port;
	cb->flags &= ~PW_CB_PEER;
	pw_half_count(h, PW_HALF_SENT);
	pw_mon_out(h->san, PACKETWAY_MON_HALF, h->port, skb);
	trace_pw_forward(h, skb, port);
	eng = rcu_dereference(h->san->engine);
	pw_engine_xmit(eng, skb);
}

/**
 * pw_half_busy - are there many frames under way from a half-router?
 * @h: the half-router
 *
 * Return: whether messages that can wait should.
 */
bool pw_half_busy(struct pw_half *h)
{
	const struct pw_port *p = &h->san->port[h->port];

	return pw_port_frames(p) > PW_HALF_INFLIGHT_MAX ||
	       pw_port_bytes(p) > PW_HALF_INFLIGHT_BYTES ||
	       (h->peer && atomic_read(&h->peer->from_peer) > PW_HALF_QUEUE_MAX / 2);
}

/**
 * pw_half_send_own - send a message that a half-router made
 * @h: the half-router
 * @skb: the message, at its header; consumed
 *
 * BH off, RCU held. May be called from the peer half's poll.
 */
void pw_half_send_own(struct pw_half *h, struct sk_buff *skb)
{
	pw_half_send_as(h, skb, 0);
}

/**
 * pw_half_send_as - send a message of a half-router with flags
 * @h: the half-router
 * @skb: the message, at its header; consumed
 * @flags: PW_CB_FAR or 0
 */
void pw_half_send_as(struct pw_half *h, struct sk_buff *skb, u8 flags)
{
	struct pw_skb_cb *cb = pw_cb(skb);
	struct pw_half *peer = h->peer;
	int port;
	u32 dt;

	dt = get_unaligned_be24(skb->data + PW_EEP_OFF_DT);
	*cb = (struct pw_skb_cb) {
		.path = -1,
		.dt = dt,
		.prio = skb->data[PW_EEP_OFF_VP] & PW_EEP_P_MASK,
		.flags = PW_CB_HALF | flags,
	};
	skb->dev = NULL;
	skb->protocol = htons(ETH_P_PACKETWAY);
	if (dt == PW_ADDR_BROADCAST) {
		pw_half_emit(h, skb, PW_PORT_GROUP);
		return;
	}
	if (dt == READ_ONCE(h->peer_addr)) {
		if (peer)
			pw_half_queue_peer(peer, skb);
		else
			pw_half_send_far(h, skb);
		return;
	}
	port = pw_san_port_of(h->san, dt);
	if (port < 0)
		port = pw_fib_lookup(h->san, dt);
	if (port >= 0 && port != (int)h->port && pw_port_takes(h->san, port)) {
		pw_half_emit(h, skb, port);
		return;
	}
	/* trusted on the SAN of its maker only */
	cb->flags = 0;
	if (!peer && port == (int)h->port) {
		pw_half_send_far(h, skb);
		return;
	}
	if (!peer)
		goto unknown;
	/* the route leads through this half, or there is none: try the peer half's SAN */
	port = pw_san_port_of(peer->san, dt);
	if (port < 0)
		port = pw_fib_lookup(peer->san, dt);
	if (port >= 0 && port != (int)peer->port && pw_port_takes(peer->san, port)) {
		pw_half_emit(peer, skb, port);
		return;
	}
unknown:
	pw_half_count(h, PW_HALF_DROP_UNKNOWN);
	kfree_skb(skb);
}

/**
 * pw_half_queue_peer - queue a frame from the peer half
 * @h: the half-router that gets it
 * @skb: the frame, not charged; consumed
 */
void pw_half_queue_peer(struct pw_half *h, struct sk_buff *skb)
{
	int max = pw_cb(skb)->flags & PW_CB_HALF ? 2 * PW_HALF_QUEUE_MAX : PW_HALF_QUEUE_MAX;

	if (atomic_inc_return(&h->from_peer) > max) {
		atomic_dec(&h->from_peer);
		pw_half_drop(h, skb, PW_HALF_DROP_FULL, 0);
		return;
	}
	pw_cb(skb)->flags |= PW_CB_PEER;
	if (!pw_end_queue(&h->end, skb)) {
		atomic_dec(&h->from_peer);
		pw_half_drop(h, skb, PW_HALF_DROP_DOWN, 0);
	}
}
