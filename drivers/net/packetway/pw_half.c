// SPDX-License-Identifier: GPL-2.0
/*
 * Frames through a half-router; the picture is in pw_router.h.
 *
 * The decision needs the first word only (more with symbols in front). What may
 * be written on the way is TAIL, if it is not zero or an error was seen, and a
 * hop trace that its sender left optional; both on a private copy.
 *
 * Broadcasts stay on their SAN, except ARP and neighbour solicitations, so that
 * the stations of all SANs can be one IP subnet: answers are unicast and find
 * their way by address. Logical addresses go where a node has registered as a
 * listener. Both cross by the reverse path: a SAN takes a group frame only from
 * the half-router that it would use to reach the frame's source, so each SAN
 * gets one copy however many routers there are, and no loop can form.
 */
#include <linux/if_ether.h>
#include <linux/ipv6.h>
#include <net/ndisc.h>

#include "pw_mon.h"
#include "pw_reduce.h"
#include "pw_router.h"
#include "pw_time.h"
#include "pw_trace.h"
#include "pw_trunk.h"

/* where a frame goes, from its first bytes; computed once for both halves */
struct pw_look {
	enum { PW_LOOK_L2, PW_LOOK_ADDR, PW_LOOK_GROUP, PW_LOOK_BAD, PW_LOOK_NOMEM } kind;
	int hdr_off;		/* offset of the header; L2: negative if it is not found yet */
	u32 dt;			/* not L2 */
	struct pw_eep_hop hop;	/* L2 */
};

/*
 * Frames that reach a half-router while another one is at work on this CPU: the
 * next hop of the same frame, most of the time. They are taken as soon as that
 * one has finished with its frame, without a queue and a softirq for each hop.
 */
#define PW_HOPS_AHEAD 4

/* bytes of frames whose CRCs a poll checks: further ones pass unchecked */
#define PW_HOPS_CRC_BYTES (128 << 10)

/* cut-through: time until a half-router has looked at an L2RH */
#define PW_CUT_THROUGH_L2_NS 1

struct pw_hops {
	struct task_struct *owner;	/* that is at work, or what its softirq has interrupted */
	unsigned int n;
	u32 crc_bytes;		/* that may still be checked */
	struct {
		struct pw_half *half;
		struct sk_buff *skb;
	} next[PW_HOPS_AHEAD];
};

static DEFINE_PER_CPU(struct pw_hops, pw_hops);	/* BH off */

/*
 * Routes and symbols in front. Return: 0 if the frame goes on by the header at @off; else
 * @l->kind says where.
 */
static int pw_half_look_route(struct sk_buff *skb, struct pw_look *l, u32 *off)
{
	u32 need;
	int err;

	do {
		err = pw_eep_consume_l2rh(skb->data, skb_headlen(skb), skb->len, &l->hop);
	} while (err == -EAGAIN && pskb_may_pull(skb, l->hop.need));
	if (!err) {
		l->kind = PW_LOOK_L2;
		do {
			l->hdr_off = pw_eep_find_header(skb->data, skb_headlen(skb), skb->len,
							l->hop.consumed, &need);
		} while (l->hdr_off == -EAGAIN && pskb_may_pull(skb, need));
		return 1;
	}
	if (err == PW_EEP_E_NO_L2RH) {
		/* the symbols are for the host at the end and stay in the frame */
		do {
			err = pw_eep_consume_symbols(skb->data, skb_headlen(skb), skb->len,
						     &l->hop);
		} while (err == -EAGAIN && pskb_may_pull(skb, l->hop.need));
		*off = l->hop.consumed;
		if (!err && !pskb_may_pull(skb, *off + PW_EEP_HDR_LEN))
			err = -EINVAL;
	}
	if (err == -EAGAIN)
		l->kind = PW_LOOK_NOMEM;
	return err;
}

static void pw_half_look(struct sk_buff *skb, struct pw_look *l)
{
	u32 off = 0;

	l->kind = PW_LOOK_BAD;
	if (skb->len < PW_EEP_MIN_LEN || !pskb_may_pull(skb, PW_EEP_HDR_LEN))
		return;
	switch (pw_eep_first(skb->data)) {
	case PW_EEP_PHYS:
	case PW_EEP_LOGICAL:
		break;
	case PW_EEP_L2RH:
	case PW_EEP_SYMBOL:
		if (pw_half_look_route(skb, l, &off))
			return;
		break;
	default:
		return;
	}

	l->hdr_off = off;
	l->dt = get_unaligned_be24(skb->data + off + PW_EEP_OFF_DT);
	switch (pw_addr_kind(l->dt)) {
	case PW_ADDR_KIND_PHYS:
		l->kind = PW_LOOK_ADDR;
		break;
	case PW_ADDR_KIND_HEYYOU:
	case PW_ADDR_KIND_BROADCAST:
	case PW_ADDR_KIND_LOGICAL:
		l->kind = PW_LOOK_GROUP;
		break;
	default:
		break;
	}
}

/* INFO of a node of this SAN: it may describe the node, as it may at other half-routers */
static bool pw_half_described(const struct pw_half *h, const struct sk_buff *skb,
			      const struct pw_eep_view *v)
{
	const struct pw_skb_cb *cb = pw_cb(skb);

	return v->pt == PW_PT_RRP && v->te == PW_TE_INFO && !(cb->flags & PW_CB_HALF) &&
	       pw_san_addr(h->san, cb->src_port) == v->sa;
}

/*
 * RRP for a half-router whose program speaks it. The bytes do not tell who made them: what
 * only half-routers may say is checked here, and what a node says of itself is taken here.
 */
static void pw_half_local_user(struct pw_half *h, struct sk_buff *skb, const struct pw_eep_view *v)
{
	const struct pw_skb_cb *cb = pw_cb(skb);
	bool trusted = cb->flags & PW_CB_HALF && pw_san_addr(h->san, cb->src_port) == v->sa;
	struct sk_buff *copy;

	if (pw_half_described(h, skb, v)) {
		/* the program may have asked for it */
		copy = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
		pw_rrp_receive(h, skb, v);
		if (copy)
			h->user->take(h, copy);
		return;
	}
	pw_half_count(h, PW_HALF_RRP_RX);
	if (!trusted && pw_half_only(v->pt, v->te))
		pw_half_drop(h, skb, PW_HALF_RRP_REFUSED, 0);
	else if (!trusted && !__ratelimit(&h->rrp_limit))
		pw_half_drop(h, skb, PW_HALF_RRP_LIMITED, 0);
	else if (v->pt == PW_PT_RRP && (v->data_len > PW_RRP_MSG_MAX ||
					pw_rrp_check_msg(v->pt, v->te, skb->data + v->db_off,
							 v->data_len)))
		pw_half_drop(h, skb, PW_HALF_RRP_MALFORMED, PW_TE_ERR_GENERAL);
	else if (h->user->take(h, skb))
		pw_half_count(h, PW_HALF_RRP_DONE);
}

/* messages to the half-router itself */
static void pw_half_local(struct pw_half *h, struct sk_buff *skb)
{
	struct pw_eep_view v;

	if (skb_linearize(skb)) {
		pw_half_drop(h, skb, PW_HALF_DROP_NOMEM, 0);
		return;
	}
	if (pw_eep_parse(skb->data, skb->len, &v) || v.nl2rh) {
		pw_half_drop(h, skb, PW_HALF_DROP_MALFORMED, PW_TE_ERR_GENERAL);
		return;
	}
	if (pw_eep_unknown_mandatory(&v)) {
		pw_half_drop(h, skb, PW_HALF_DROP_MALFORMED, PW_TE_ERR_BADOPT);
		return;
	}
	switch (v.pt) {
	case PW_PT_RRP:
	case PW_PT_ERR:
		if (h->user && !(pw_cb(skb)->flags & PW_CB_PEER))
			pw_half_local_user(h, skb, &v);
		else
			pw_rrp_receive(h, skb, &v);
		return;
	case PW_PT_ESP:
		pw_esp_end(h, skb, &v);
		return;
	case PW_PT_REDUCE:
		pw_reduce_in(h, skb, &v);
		return;
	case PW_PT_ECHO:
		/* a half-router asks for no echo: a reply is answered as little as an ERR */
		if (v.te != PW_TE_ECHO_REQUEST || pw_addr_kind(v.sa) != PW_ADDR_KIND_PHYS) {
			pw_half_drop(h, skb, PW_HALF_DROP_TYPE,
				     v.te == PW_TE_ECHO_REPLY ? 0 : PW_TE_ERR_GENERAL);
			return;
		}
		if (!__ratelimit(&h->echo_limit)) {
			pw_half_drop(h, skb, PW_HALF_ECHO_LIMITED, 0);
			return;
		}
		skb = skb_unshare(skb, GFP_ATOMIC);
		if (!skb) {
			pw_half_count(h, PW_HALF_DROP_NOMEM);
			return;
		}
		__skb_pull(skb, v.hdr_off);
		if (pw_skb_echo_turn(skb, &v, h->addr)) {
			pw_half_drop(h, skb, PW_HALF_DROP_NOMEM, 0);
			return;
		}
		pw_half_count(h, PW_HALF_ECHO);
		pw_half_send_own(h, skb);
		return;
	}
	pw_half_drop(h, skb, PW_HALF_DROP_TYPE, PW_TE_ERR_GENERAL);
}

/*
 * Let this half execute an ESP message. Return: false if the message ends here; then it
 * is consumed. Other frames are recognized without parsing.
 */
static bool pw_half_pass(struct pw_half *h, struct sk_buff *skb, const struct pw_look *l)
{
	if (likely(l->hdr_off >= 0 &&
		   get_unaligned_be16(skb->data + l->hdr_off + PW_EEP_OFF_PT) != PW_PT_ESP))
		return true;
	/* it reads and writes the whole message */
	pw_cb(skb)->first = 0;
	return pw_esp_pass(h, skb);
}

/* Is this half-router on the route back to the source of a group frame? */
static bool pw_half_reverse_path(const struct pw_half *h, const struct sk_buff *skb, u32 hdr_off)
{
	u32 sa = get_unaligned_be24(skb->data + hdr_off + PW_EEP_OFF_SA);

	return pw_san_port_of(h->san, sa) < 0 && pw_fib_lookup(h->san, sa) == (int)h->port;
}

/* a frame from the peer half whose next L2RH is for this SAN */
static void pw_half_out_l2(struct pw_half *h, struct sk_buff *skb, const struct pw_look *l)
{
	struct pw_skb_cb *cb = pw_cb(skb);

	if (pw_san_native_route(h->san, skb->data + l->hop.route_off, l->hop.route_len, cb) ||
	    !pw_port_takes(h->san, cb->dst_port)) {
		pw_half_drop(h, skb, PW_HALF_DROP_BADL2RH, PW_TE_ERR_BADL2RH);
		return;
	}
	if (l->hop.prio >= 0)
		cb->prio = l->hop.prio;
	if (unlikely(l->hop.trace)) {
		pw_half_count(h, PW_HALF_TRACED);
		trace_pw_symbol(h->router->name, h->addr, skb);
	}
	if (!pw_half_pass(h, skb, l))
		return;
	__skb_pull(skb, l->hop.consumed);
	pw_half_count(h, PW_HALF_FORWARD_L2);
	pw_half_emit(h, skb, cb->dst_port);
}

/* a frame from the peer half by its destination: to this SAN or another router */
static void pw_half_out_addr(struct pw_half *h, struct sk_buff *skb, const struct pw_look *l)
{
	struct pw_skb_cb *cb = pw_cb(skb);
	int port;

	cb->path = -1;
	cb->dt = l->dt;
	port = pw_san_port_of(h->san, l->dt);
	if (port < 0) {
		port = pw_fib_lookup(h->san, l->dt);
		/* a route back through this half would loop */
		if (port == (int)h->port)
			port = -1;
	}
	if (port < 0 || !pw_port_takes(h->san, port)) {
		pw_half_drop(h, skb, PW_HALF_DROP_UNKNOWN, PW_TE_ERR_UNK);
		return;
	}
	if (!pw_half_pass(h, skb, l))
		return;
	pw_half_count(h, PW_HALF_FORWARD_L3);
	pw_half_emit(h, skb, port);
}

static void pw_half_out_group(struct pw_half *h, struct sk_buff *skb, const struct pw_look *l)
{
	struct pw_skb_cb *cb = pw_cb(skb);

	if (!pw_half_reverse_path(h, skb, l->hdr_off)) {
		pw_half_count(h, PW_HALF_DROP_GROUP);
		consume_skb(skb);
		return;
	}
	if (!pw_half_pass(h, skb, l))
		return;
	cb->path = -1;
	cb->dt = l->dt;
	pw_half_count(h, PW_HALF_FORWARD_GROUP);
	pw_half_emit(h, skb, PW_PORT_GROUP);
}

/* Is the data, without prefixes and options, more than @mtu? */
static noinline_for_stack bool pw_half_data_over(struct sk_buff *skb, u32 mtu)
{
	struct pw_eep_view v;
	int err;

	do {
		err = pw_eep_parse_head(skb->data, skb_headlen(skb), skb->len, &v);
	} while (err == -EAGAIN && pskb_may_pull(skb, v.need));
	return v.hdr_seen && v.data_len > mtu;
}

static bool pw_half_too_big(const struct pw_half *h, struct sk_buff *skb)
{
	u32 mtu = pw_half_mtu(h);

	return unlikely(skb->len - PW_OVERHEAD > mtu) && pw_half_data_over(skb, mtu);
}

/* a SAN in lockstep counts frames from one that is not */
static void pw_half_outside(const struct pw_half *h)
{
	struct pw_time *t = rcu_dereference(h->san->time);

	if (t && h->peer && rcu_access_pointer(h->peer->san->time) != t)
		pw_time_outside(t);
}

/* a frame from the peer half: to its place on this half's SAN */
static void pw_half_out(struct pw_half *h, struct sk_buff *skb, const struct pw_look *l)
{
	if (l->kind == PW_LOOK_ADDR && l->dt == h->addr) {
		pw_half_local(h, skb);
		return;
	}
	if (unlikely(rcu_access_pointer(h->san->time)))
		pw_half_outside(h);
	/* flags of the peer half's SAN are valid for this half only, not on its SAN */
	pw_cb(skb)->flags &= ~(PW_CB_HALF | PW_CB_FAR);
	/* a peer half on this host has looked at the MTU */
	if (unlikely(!h->peer && pw_half_too_big(h, skb))) {
		pw_half_drop(h, skb, PW_HALF_DROP_TOOBIG, PW_TE_ERR_TOOBIG);
		return;
	}
	switch (l->kind) {
	case PW_LOOK_L2:
		pw_half_out_l2(h, skb, l);
		return;
	case PW_LOOK_ADDR:
		pw_half_out_addr(h, skb, l);
		return;
	case PW_LOOK_GROUP:
		pw_half_out_group(h, skb, l);
		return;
	case PW_LOOK_NOMEM:
		pw_half_drop(h, skb, PW_HALF_DROP_NOMEM, 0);
		return;
	default:
		pw_half_drop(h, skb, PW_HALF_DROP_MALFORMED, PW_TE_ERR_GENERAL);
		return;
	}
}

/* shift EI by one router; skip the write if it is zero and no error was seen */
static int pw_half_mark(struct pw_half *h, struct sk_buff *skb)
{
	bool error = pw_cb(skb)->flags & PW_CB_ERROR;
	u8 buf[PW_EEP_TAIL_LEN];
	const u8 *p;
	u64 ei;

	p = skb_header_pointer(skb, skb->len - PW_EEP_TAIL_LEN, sizeof(buf), buf);
	if (!p)
		return -EINVAL;
	ei = get_unaligned_be64(p);
	if (likely(!ei && !error))
		return 0;
	/* TAIL may lie in pages that are shared */
	if (skb_linearize(skb) || skb_unclone(skb, GFP_ATOMIC))
		return -ENOMEM;
	put_unaligned_be64(pw_eep_ei_hop(ei, error), skb->data + skb->len - PW_EEP_TAIL_LEN);
	pw_cb(skb)->flags &= ~PW_CB_ERROR;
	pw_half_count(h, PW_HALF_EI_MARKED);
	return 0;
}

/* Are there optional headers, or must the frame be parsed to know? */
static bool pw_half_has_options(const struct sk_buff *skb, const struct pw_look *l)
{
	return l->hdr_off < 0 || skb->data[l->hdr_off + PW_EEP_OFF_HRZ] & PW_EEP_H;
}

/*
 * A CRC that does not fit the data: the frame was damaged before it came here. If EI is set
 * another router has marked it already.
 */
static int pw_half_detect(struct sk_buff *skb)
{
	struct pw_hops *hops = this_cpu_ptr(&pw_hops);
	struct pw_eep_view v;

	if (hops->crc_bytes < skb->len)
		return 0;
	hops->crc_bytes -= skb->len;
	if (skb_linearize(skb))
		return -ENOMEM;
	if (!pw_eep_parse(skb->data, skb->len, &v) && !v.ei && pw_eep_crc_verify(skb->data, &v))
		pw_cb(skb)->flags |= PW_CB_ERROR;
	return 0;
}

static noinline_for_stack int pw_half_options(struct pw_half *h, struct sk_buff *skb)
{
	struct pw_eep_view v;
	int err;

	do {
		err = pw_eep_parse_head(skb->data, skb_headlen(skb), skb->len, &v);
	} while (err == -EAGAIN && pskb_may_pull(skb, v.need));
	/* the receiver answers a malformed message with ERR */
	if (err)
		return err == -EAGAIN ? -ENOMEM : 0;
	if (v.oh_mask & PW_OH_ANNOUNCE_MASK && pw_half_detect(skb))
		return -ENOMEM;
	if (!v.hoptrace_len)
		return 0;
	if (skb_ensure_writable(skb, v.hoptrace_off + v.hoptrace_len))
		return -ENOMEM;
	if (pw_eep_hoptrace_append(skb->data + v.hoptrace_off, v.hoptrace_len, h->addr) >= 0)
		pw_half_count(h, PW_HALF_HOPTRACE);
	return 0;
}

/* one more router is passed; true: go on at the other half */
static bool pw_half_cross(struct pw_half *h, struct sk_buff *skb, const struct pw_look *l)
{
	struct pw_skb_cb *cb = pw_cb(skb);

	/* a half-router is trusted on its own SAN only */
	cb->flags &= ~PW_CB_HALF;
	if (++cb->hops > PW_HOPS_MAX) {
		pw_half_drop(h, skb, PW_HALF_DROP_HOPS, PW_TE_ERR_GENERAL);
		return false;
	}
	if (pw_half_too_big(h, skb)) {
		pw_half_drop(h, skb, PW_HALF_DROP_TOOBIG, PW_TE_ERR_TOOBIG);
		return false;
	}
	if ((unlikely(pw_half_has_options(skb, l)) && pw_half_options(h, skb)) ||
	    pw_half_mark(h, skb)) {
		pw_half_drop(h, skb, PW_HALF_DROP_NOMEM, 0);
		return false;
	}
	return pw_half_pass(h, skb, l);
}

/* mark the frame as having passed a router and hand it to the peer half */
static void pw_half_to_peer(struct pw_half *h, struct sk_buff *skb, const struct pw_look *l)
{
	if (!pw_half_cross(h, skb, l))
		return;
	if (h->peer)
		pw_half_out(h->peer, skb, l);
	else
		pw_half_send_far(h, skb);
}

/* by address, from this half's own SAN */
static void pw_half_in_addr(struct pw_half *h, struct sk_buff *skb, const struct pw_look *l)
{
	struct pw_skb_cb *cb = pw_cb(skb);
	int port;

	if (l->dt == h->addr) {
		pw_half_local(h, skb);
		return;
	}
	port = pw_san_port_of(h->san, l->dt);
	if (port < 0)
		port = pw_fib_lookup(h->san, l->dt);
	if (port == (int)h->port) {
		pw_half_to_peer(h, skb, l);
		return;
	}
	if (port < 0 || !pw_port_takes(h->san, port)) {
		pw_half_drop(h, skb, PW_HALF_DROP_UNKNOWN, PW_TE_ERR_UNK);
		return;
	}
	/* a source route ended here, but the destination is another node of this SAN */
	if (++cb->hops > PW_HOPS_MAX) {
		pw_half_drop(h, skb, PW_HALF_DROP_HOPS, PW_TE_ERR_GENERAL);
		return;
	}
	if (!pw_half_pass(h, skb, l))
		return;
	cb->path = -1;
	cb->dt = l->dt;
	pw_half_count(h, PW_HALF_FORWARD_L3);
	pw_half_emit(h, skb, port);
}

/* ARP, or an IPv6 neighbour solicitation? */
static bool pw_half_resolves(struct sk_buff *skb, u32 hdr_off)
{
	struct {
		struct ipv6hdr ip;
		u8 type;
	} __packed buf;
	const u8 *hdr = skb->data + hdr_off;
	const u8 *p;

	if (get_unaligned_be16(hdr + PW_EEP_OFF_PT) != PW_PT_IP || hdr[PW_EEP_OFF_HRZ] & PW_EEP_H)
		return false;
	switch (get_unaligned_be16(hdr + PW_EEP_OFF_TE)) {
	case ETH_P_ARP:
		return true;
	case 0:
		p = skb_header_pointer(skb, hdr_off + PW_EEP_HDR_LEN, sizeof(buf), &buf);
		return p && p[0] >> 4 == 6 && p[6] == IPPROTO_ICMPV6 &&
		       p[sizeof(struct ipv6hdr)] == NDISC_NEIGHBOUR_SOLICITATION;
	default:
		return false;
	}
}

static void pw_half_in_group(struct pw_half *h, struct sk_buff *skb, const struct pw_look *l)
{
	u16 pt = get_unaligned_be16(skb->data + l->hdr_off + PW_EEP_OFF_PT);
	bool cross = false;

	switch (l->dt) {
	case PW_ADDR_BROADCAST:
		cross = pw_half_resolves(skb, l->hdr_off);
		fallthrough;
	case PW_ADDR_HEYYOU:
		if (pt == PW_PT_RRP || pt == PW_PT_ERR) {
			pw_half_local(h, skb);
			return;
		}
		break;
	default:
		cross = pw_half_beyond(h, l->dt);
		break;
	}
	if (!cross || !__ratelimit(&h->group_limit)) {
		pw_half_count(h, PW_HALF_DROP_GROUP);
		consume_skb(skb);
		return;
	}
	pw_half_to_peer(h, skb, l);
}

/* cut-through: when can the frame go on? A source route is there with the first cell. */
static void pw_half_decide(const struct pw_half *h, struct pw_skb_cb *cb, const struct pw_look *l)
{
	u32 ns = READ_ONCE(h->san->fabric.cut_through);

	if (l->kind == PW_LOOK_L2)
		ns = min_t(u32, ns, PW_CUT_THROUGH_L2_NS);
	cb->first = ns && cb->first > ns ? cb->first - ns : 0;
}

/* a frame from this half's own SAN */
static void pw_half_in(struct pw_half *h, struct sk_buff *skb, const struct pw_look *l)
{
	struct pw_skb_cb *cb = pw_cb(skb);

	pw_half_count(h, PW_HALF_RX);
	pw_mon_record(h->san, PACKETWAY_MON_HALF, h->port, PACKETWAY_MON_IN, skb,
		      pw_cb(skb)->stamp);
	/* its sender's socket, namespace and device end here */
	skb_orphan(skb);
	skb_dst_drop(skb);
	skb->dev = NULL;
	cb->net = NULL;
	if (unlikely(cb->first))
		pw_half_decide(h, cb, l);

	switch (l->kind) {
	case PW_LOOK_L2:
		pw_half_to_peer(h, skb, l);
		break;
	case PW_LOOK_ADDR:
		pw_half_in_addr(h, skb, l);
		break;
	case PW_LOOK_GROUP:
		pw_half_in_group(h, skb, l);
		break;
	case PW_LOOK_NOMEM:
		pw_half_drop(h, skb, PW_HALF_DROP_NOMEM, 0);
		break;
	default:
		pw_half_drop(h, skb, PW_HALF_DROP_MALFORMED, PW_TE_ERR_GENERAL);
		break;
	}
}

/*
 * Let this CPU handle a frame next, without queue and softirq. Not if frames wait at @h or
 * its poll is handling some: they were first.
 */
static bool pw_half_ahead(struct pw_half *h, struct sk_buff *skb)
{
	struct pw_hops *hops = this_cpu_ptr(&pw_hops);

	if (READ_ONCE(hops->owner) != current || hops->n == PW_HOPS_AHEAD ||
	    test_bit(NAPI_STATE_SCHED, &h->end.napi.state) || READ_ONCE(h->end.rxq.nonempty))
		return false;
	hops->next[hops->n].half = h;
	hops->next[hops->n++].skb = skb;
	return true;
}

/* a frame has reached the half-router's port, charged to its sender */
static bool pw_half_arrive(struct pw_end *e, struct sk_buff *skb)
{
	struct pw_half *h = container_of(e, struct pw_half, end);

	/* forwarded frames count against the limits of the half-router, not of the station */
	pw_port_own_done(h->san, skb);
	return pw_half_ahead(h, skb);
}

/* a frame that its port or an engine does not take */
static void pw_half_end_drop(struct pw_end *e, struct sk_buff *skb, enum pw_drop why)
{
	enum pw_half_stat stat;

	switch (why) {
	case PW_DROP_RX_DOWN:
	case PW_DROP_TX_LOST:
		stat = PW_HALF_DROP_DOWN;
		break;
	case PW_DROP_TX_NOMEM:
		stat = PW_HALF_DROP_NOMEM;
		break;
	default:
		stat = PW_HALF_DROP_TOOBIG;
		break;
	}
	pw_half_drop(container_of(e, struct pw_half, end), skb, stat, 0);
}

/* as pw_half_in_group() decides */
static bool pw_half_hears(const struct pw_end *e, u32 addr)
{
	return pw_half_beyond(container_of(e, struct pw_half, end), addr);
}

const struct pw_end_ops pw_half_end_ops = {
	.arrive = pw_half_arrive,
	.drop = pw_half_end_drop,
	.hears = pw_half_hears,
};

/* the port that sent it is charged no longer */
static void pw_half_take(struct pw_half *h, const struct sk_buff *skb)
{
	if (pw_cb(skb)->flags & PW_CB_PEER)
		atomic_dec(&h->from_peer);
	else
		pw_port_release(h->san, skb);
}

static void pw_half_handle(struct pw_half *h, struct sk_buff *skb)
{
	u8 flags = pw_cb(skb)->flags;
	struct pw_look l;

	pw_half_take(h, skb);
	/* returned, or for a station that a half-router has replaced */
	if (unlikely(flags & (PW_CB_RETURNED | PW_CB_WHOLE))) {
		pw_half_drop(h, skb, PW_HALF_DROP_UNKNOWN, flags & PW_CB_HALF ? 0 : PW_TE_ERR_UNK);
		return;
	}
	pw_half_look(skb, &l);
	if (flags & PW_CB_PEER)
		pw_half_out(h, skb, &l);
	else
		pw_half_in(h, skb, &l);
}

/*
 * With PREEMPT_RT a task that has BH off may be preempted by another one that has. Since Linux 6.18
 * no lock of the CPU makes that one wait: its frames pass queues. Return: false for such a task
 */
static bool pw_hops_take(struct pw_hops *hops)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return !cmpxchg(&hops->owner, NULL, current);
	hops->owner = current;
	return true;
}

/*
 * Handle a frame at @h, and on its next hops if it reaches them at once. A frame passes PW_HOPS_MAX
 * routers at most, so this ends. BH off, RCU held.
 */
static void pw_half_run(struct pw_half *h, struct sk_buff *skb)
{
	struct pw_hops *hops = this_cpu_ptr(&pw_hops);
	unsigned int i, n;

	if (!pw_hops_take(hops)) {
		pw_half_handle(h, skb);
		return;
	}
	pw_half_handle(h, skb);
	while (unlikely(hops->n)) {
		/* the oldest first; frames that it causes are appended */
		h = hops->next[0].half;
		skb = hops->next[0].skb;
		n = --hops->n;
		for (i = 0; i < n; i++)
			hops->next[i] = hops->next[i + 1];
		pw_half_handle(h, skb);
	}
	WRITE_ONCE(hops->owner, NULL);
}

int pw_half_poll(struct napi_struct *napi, int budget)
{
	struct pw_half *h = container_of(napi, struct pw_half, end.napi);
	struct sk_buff *frames, *skb;
	int work;

	pw_kcov_section();

	this_cpu_ptr(&pw_hops)->crc_bytes = PW_HOPS_CRC_BYTES;
	frames = pw_end_take(&h->end, budget, &work);

	rcu_read_lock();
	while ((skb = pw_end_next(&frames)))
		pw_half_run(h, skb);
	rcu_read_unlock();

	if (work < budget)
		napi_complete_done(napi, work);
	return work;
}

/* frames that pw_half_drain() forwards with BH off at once */
#define PW_HALF_DRAIN	16

/* not inlined: what is done with BH off is measured by functions. Return: false: none is left */
static noinline bool pw_half_drain_some(struct pw_half *h, bool last)
{
	struct sk_buff *skb;
	int n = 0;

	local_bh_disable();
	rcu_read_lock();
	do {
		spin_lock(&h->end.rxq.lock);
		skb = pw_rxq_pop(&h->end.rxq);
		if (!skb && last)
			h->end.rxq.open = false;
		spin_unlock(&h->end.rxq.lock);
		if (skb)
			pw_half_run(h, skb);
	} while (skb && ++n < PW_HALF_DRAIN);
	rcu_read_unlock();
	local_bh_enable();
	return skb;
}

/**
 * pw_half_drain - a half-router goes: what waits at it is forwarded all the same
 * @h: the half-router; nothing comes in from its SAN and its NAPI is disabled
 * @last: the peer half sends nothing either
 *
 * All ports of the SAN may have sent it what they may have under way.
 */
void pw_half_drain(struct pw_half *h, bool last)
{
	while (pw_half_drain_some(h, last))
		cond_resched();
}

/**
 * pw_half_stats_fold - sum a half-router's counters over all CPUs
 * @h: the half-router
 * @sum: PW_HALF_STAT_NUM values
 */
void pw_half_stats_fold(const struct pw_half *h, u64 *sum)
{
	u64 v[PW_HALF_STAT_NUM];
	unsigned int start;
	int cpu, i;

	memset(sum, 0, PW_HALF_STAT_NUM * sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct pw_half_pcpu *s = per_cpu_ptr(h->stats, cpu);

		do {
			start = u64_stats_fetch_begin(&s->syncp);
			for (i = 0; i < PW_HALF_STAT_NUM; i++)
				v[i] = u64_stats_read(&s->v[i]);
		} while (u64_stats_fetch_retry(&s->syncp, start));
		for (i = 0; i < PW_HALF_STAT_NUM; i++)
			sum[i] += v[i];
	}
}
