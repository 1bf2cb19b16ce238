// SPDX-License-Identifier: GPL-2.0
/*
 * Trunks over UDP and Ethernet; the format is in pw_trunk.h. Bare ones: pw_bare.c.
 *
 *   pw_half_to_peer -> pw_trunk_send -> seal -> udp_tunnel or dev_queue_xmit
 *   udp -> pw_trunk_rcv_udp, device -> pw_trunk_rcv_dev
 *	-> pw_trunk_open: version, key -> pw_trunk_take: session, window
 *	-> pw_half_queue_peer
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>

#include "pw_trunk.h"

#define PW_TRUNK_HELLO_GAP	(HZ / 20)	/* between hellos at least */
#define PW_TRUNK_HELLO_DOWN	(HZ / 4)	/* until one is answered */
#define PW_TRUNK_HELLO_UP	(2 * HZ)
#define PW_TRUNK_DEAD		(8 * HZ)	/* the other end is silent for so long */

/* --- sending ------------------------------------------------------------------- */

static int pw_trunk_xmit4(struct pw_trunk *t, struct sk_buff *skb)
{
	const struct sockaddr_in *l = &t->conf.local.in, *r = &t->conf.remote.in;
	struct flowi4 fl = {
		.saddr = l->sin_addr.s_addr,
		.daddr = r->sin_addr.s_addr,
		.fl4_sport = l->sin_port,
		.fl4_dport = r->sin_port,
		.flowi4_proto = IPPROTO_UDP,
	};
	struct rtable *rt = ip_route_output_flow(t->net, &fl, t->sock->sk);

	if (IS_ERR(rt))
		return PTR_ERR(rt);
	skb->ignore_df = 1;
	udp_tunnel_xmit_skb(rt, t->sock->sk, skb, fl.saddr, fl.daddr, 0, ip4_dst_hoplimit(&rt->dst),
			    0, fl.fl4_sport, fl.fl4_dport, false, false, 0);
	return 0;
}

static int pw_trunk_xmit6(struct pw_trunk *t, struct sk_buff *skb)
{
	const struct sockaddr_in6 *l = &t->conf.local.in6, *r = &t->conf.remote.in6;
	struct flowi6 fl = {
		.saddr = l->sin6_addr,
		.daddr = r->sin6_addr,
		.flowi6_oif = r->sin6_scope_id,
		.fl6_sport = l->sin6_port,
		.fl6_dport = r->sin6_port,
		.flowi6_proto = IPPROTO_UDP,
	};
	struct dst_entry *dst;

	dst = ip6_dst_lookup_flow(t->net, t->sock->sk, &fl, NULL);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	skb->ignore_df = 1;
	udp_tunnel6_xmit_skb(dst, t->sock->sk, skb, skb->dev, &fl.saddr, &fl.daddr, 0,
			     ip6_dst_hoplimit(dst), 0, fl.fl6_sport, fl.fl6_dport, false, 0);
	return 0;
}

/* to all nodes of the link until one has answered */
static int pw_trunk_xmit_dev(struct pw_trunk *t, struct sk_buff *skb)
{
	u64 mac = READ_ONCE(t->up) ? READ_ONCE(t->peer_mac) : 0;
	u8 to[ETH_ALEN];
	int err;

	if (mac)
		u64_to_ether_addr(mac, to);
	else
		eth_broadcast_addr(to);
	skb->dev = t->dev;
	skb->protocol = htons(ETH_P_PACKETWAY);
	skb_reset_network_header(skb);
	if (dev_hard_header(skb, t->dev, ETH_P_PACKETWAY, to, t->dev->dev_addr, skb->len) < 0)
		return -EINVAL;
	err = dev_queue_xmit(skb);
	if (net_xmit_eval(err))
		pw_trunk_count(t, PW_TRUNK_DROP_TX);
	return 0;
}

static void pw_trunk_nonce(u8 nonce[XCHACHA20POLY1305_NONCE_SIZE], const u8 *hdr)
{
	memcpy(nonce, hdr + 8, 16);
	memset(nonce + 16, 0, XCHACHA20POLY1305_NONCE_SIZE - 16);
}

/* bytes that a trunk adds to a frame */
static u32 pw_trunk_overhead(const struct pw_trunk *t)
{
	if (t->conf.bare)
		return 0;
	return PW_TRUNK_HDR + (t->conf.keyed ? CHACHA20POLY1305_AUTHTAG_SIZE : 0);
}

/* the largest data block of a plain message that fits */
static u32 pw_trunk_mtu(const struct pw_trunk *t)
{
	u32 frame = PW_TRUNK_FRAME_MAX, mtu;

	if (t->dev) {
		mtu = READ_ONCE(t->dev->mtu);
		frame = min(frame, mtu - min(mtu, pw_trunk_overhead(t)));
	}
	/* a device may shrink later: what it cannot carry is refused frame by frame */
	return max_t(u32, ALIGN_DOWN(frame - min_t(u32, frame, PW_OVERHEAD), 8),
		     PACKETWAY_MTU_MIN);
}

/* a packet with room for @len bytes of payload behind the header */
static struct sk_buff *pw_trunk_new(struct pw_trunk *t, u8 type, const struct pw_skb_cb *cb,
				    u32 len)
{
	u32 room = ALIGN(sizeof(struct ipv6hdr) + sizeof(struct udphdr) + MAX_HEADER, 16);
	u32 tail = CHACHA20POLY1305_AUTHTAG_SIZE;
	struct sk_buff *skb;
	u8 *hdr;

	if (t->dev) {
		room = max_t(u32, room, LL_RESERVED_SPACE(t->dev));
		tail += t->dev->needed_tailroom;
	}
	skb = alloc_skb(room + PW_TRUNK_HDR + len + tail, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, room);
	hdr = skb_put_zero(skb, PW_TRUNK_HDR);
	hdr[0] = 'P';
	hdr[1] = PW_TRUNK_VERSION;
	hdr[2] = type;
	if (cb) {
		hdr[3] = cb->flags & PW_CB_HALF ? PW_TRUNK_F_HALF : 0;
		hdr[4] = cb->hops;
		hdr[5] = cb->prio;
		put_unaligned_be64(cb->delay, hdr + 24);
	}
	if (t->conf.keyed)
		hdr[3] |= PW_TRUNK_F_KEYED;
	put_unaligned_be16(t->conf.id, hdr + 6);
	put_unaligned_be64(READ_ONCE(t->s.session), hdr + 8);
	put_unaligned_be64(atomic64_inc_return(&t->seq), hdr + 16);
	skb_put(skb, len);
	return skb;
}

static void pw_trunk_xmit(struct pw_trunk *t, struct sk_buff *skb)
{
	u8 nonce[XCHACHA20POLY1305_NONCE_SIZE];
	u32 len = skb->len - PW_TRUNK_HDR;
	u8 *hdr = skb->data;
	int err;

	if (t->conf.keyed) {
		pw_trunk_nonce(nonce, hdr);
		skb_put(skb, CHACHA20POLY1305_AUTHTAG_SIZE);
		xchacha20poly1305_encrypt(hdr + PW_TRUNK_HDR, hdr + PW_TRUNK_HDR, len, hdr,
					  PW_TRUNK_HDR, nonce, t->conf.key);
	}
	if (t->dev)
		err = pw_trunk_xmit_dev(t, skb);
	else if (t->conf.local.sa.sa_family == AF_INET)
		err = pw_trunk_xmit4(t, skb);
	else
		err = pw_trunk_xmit6(t, skb);
	if (err) {
		pw_trunk_count(t, PW_TRUNK_DROP_TX);
		kfree_skb(skb);
	}
}

/* a frame goes to the half on the other host; BH off, RCU held */
static void pw_trunk_send(struct pw_trunk *t, struct sk_buff *skb)
{
	struct sk_buff *out = NULL;

	/* the MTU does not count prefixes and options */
	if (skb->len > PW_TRUNK_FRAME_MAX ||
	    (t->dev && skb->len + pw_trunk_overhead(t) > READ_ONCE(t->dev->mtu))) {
		pw_half_drop(t->half, skb, PW_HALF_DROP_TOOBIG, PW_TE_ERR_TOOBIG);
		return;
	}
	if (READ_ONCE(t->up))
		out = pw_trunk_new(t, PW_TRUNK_FRAME, pw_cb(skb), skb->len);
	if (!out || skb_copy_bits(skb, 0, out->data + PW_TRUNK_HDR, skb->len)) {
		pw_trunk_count(t, PW_TRUNK_DROP_TX);
		kfree_skb(out);
		kfree_skb(skb);
		return;
	}
	consume_skb(skb);
	pw_trunk_count(t, PW_TRUNK_TX);
	pw_trunk_xmit(t, out);
}

static void pw_trunk_hello(struct pw_trunk *t)
{
	struct sk_buff *skb;
	u8 *p;

	skb = pw_trunk_new(t, PW_TRUNK_TYPE_HELLO, NULL, PW_TRUNK_HELLO);
	if (!skb)
		return;
	/* an end of an older version does not look at it */
	put_unaligned_be32(pw_rrp_sum(t->half), skb->data + 24);
	p = skb->data + PW_TRUNK_HDR;
	spin_lock_bh(&t->lock);
	put_unaligned_be64(t->s.challenge, p);
	put_unaligned_be64(pw_trunk_session_echo(&t->s), p + 8);
	spin_unlock_bh(&t->lock);
	put_unaligned_be32(t->half->addr, p + 16);
	put_unaligned_be32(READ_ONCE(t->half->mtu), p + 20);
	pw_trunk_count(t, PW_TRUNK_HELLO_TX);
	local_bh_disable();
	rcu_read_lock();
	pw_trunk_xmit(t, skb);
	rcu_read_unlock();
	local_bh_enable();
}

/* --- receiving ------------------------------------------------------------------ */

/* a random number that is not 0 */
static u64 pw_trunk_random(void)
{
	u64 v;

	do {
		v = get_random_u64();
	} while (!v);
	return v;
}

/* send the next hello soon, but hellos are at least PW_TRUNK_HELLO_GAP apart */
static void pw_trunk_prompt(struct pw_trunk *t)
{
	unsigned long at = READ_ONCE(t->hello_at) + PW_TRUNK_HELLO_GAP;

	if (!test_and_set_bit(0, &t->prompted))
		mod_delayed_work(system_percpu_wq, &t->work,
				 time_after(at, jiffies) ? at - jiffies : 0);
}

/* an authentic hello that was not received before; its payload is @p, tables' sum @sum */
static void pw_trunk_hear(struct pw_trunk *t, struct pw_trunk_hello *h, u64 mac, u32 sum,
			  const u8 *p)
{
	u32 addr = get_unaligned_be32(p + 16), mtu = get_unaligned_be32(p + 20);
	enum pw_trunk_stat bad = PW_TRUNK_STAT_NUM;
	bool prompt = false;

	h->challenge = get_unaligned_be64(p);
	h->echo = get_unaligned_be64(p + 8);
	if (pw_addr_kind(addr) != PW_ADDR_KIND_PHYS || pw_san_port_of(t->half->san, addr) >= 0 ||
	    mtu < PACKETWAY_MTU_MIN || mtu > PACKETWAY_MTU_MAX) {
		pw_trunk_count(t, PW_TRUNK_DROP_MALFORMED);
		return;
	}
	spin_lock(&t->lock);
	if (t->s.up && h->session == t->s.peer_session) {
		/* the peer of a session keeps its device address and its half-router */
		if (mac != t->peer_mac)
			bad = PW_TRUNK_DROP_PEER;
		else if (addr != t->half->peer_addr)
			bad = PW_TRUNK_DROP_MALFORMED;
		else
			WRITE_ONCE(t->half->peer_mtu, mtu);
		/* pw_rrp_trunk() looks at it when this end sends its next hello */
		if (bad == PW_TRUNK_STAT_NUM)
			xchg(&t->half->peer_sum, sum);
	}
	if (bad == PW_TRUNK_STAT_NUM) {
		switch (pw_trunk_session_hear(&t->s, h, pw_trunk_random(), jiffies)) {
		case PW_TRUNK_HEARD_NEW:
			WRITE_ONCE(t->half->peer_addr, addr);
			WRITE_ONCE(t->half->peer_mtu, mtu);
			WRITE_ONCE(t->peer_mac, mac);
			WRITE_ONCE(t->up, true);
			prompt = true;
			break;
		case PW_TRUNK_HEARD_ASKS:
			prompt = true;
			break;
		case PW_TRUNK_HEARD:
			break;
		}
	}
	spin_unlock(&t->lock);
	if (bad != PW_TRUNK_STAT_NUM)
		pw_trunk_count(t, bad);
	/* the work also reports the change to RRP */
	if (prompt)
		pw_trunk_prompt(t);
}

static void pw_trunk_take(struct pw_trunk *t, struct sk_buff *skb, const u8 *hdr, u64 mac)
{
	struct pw_trunk_hello hello = {
		.session = get_unaligned_be64(hdr + 8), .seq = get_unaligned_be64(hdr + 16),
	};
	struct pw_skb_cb *cb = pw_cb(skb);
	enum pw_trunk_verdict verdict;

	spin_lock(&t->lock);
	verdict = pw_trunk_session_check(&t->s, hello.session, hello.seq, jiffies);
	spin_unlock(&t->lock);

	if (verdict == PW_TRUNK_V_REPLAY) {
		pw_trunk_count(t, PW_TRUNK_DROP_REPLAY);
		goto drop;
	}
	if (verdict == PW_TRUNK_V_OWN) {
		pw_trunk_count(t, PW_TRUNK_DROP_SESSION);
		goto drop;
	}
	if (hdr[2] == PW_TRUNK_TYPE_HELLO && skb->len == PW_TRUNK_HELLO) {
		pw_trunk_count(t, PW_TRUNK_HELLO_RX);
		pw_trunk_hear(t, &hello, mac, get_unaligned_be32(hdr + 24), skb->data);
		consume_skb(skb);
		return;
	}
	if (verdict != PW_TRUNK_V_FRESH) {
		pw_trunk_count(t, PW_TRUNK_DROP_SESSION);
		goto drop;
	}
	if (mac != READ_ONCE(t->peer_mac)) {
		pw_trunk_count(t, PW_TRUNK_DROP_PEER);
		goto drop;
	}
	if (hdr[2] != PW_TRUNK_FRAME || skb->len < PW_EEP_MIN_LEN || hdr[4] > PW_HOPS_MAX ||
	    hdr[5] > PW_EEP_P_MAX) {
		pw_trunk_count(t, PW_TRUNK_DROP_MALFORMED);
		goto drop;
	}
	/* pw_half_out() decides whether the flags of the other end are trusted */
	*cb = (struct pw_skb_cb) {
		.path = -1,
		.hops = hdr[4],
		.prio = hdr[5],
		.delay = get_unaligned_be64(hdr + 24),
		.flags = hdr[3] & PW_TRUNK_F_HALF ? PW_CB_HALF : 0,
	};
	skb->protocol = htons(ETH_P_PACKETWAY);
	pw_trunk_count(t, PW_TRUNK_RX);
	pw_half_queue_peer(t->half, skb);
	return;

drop:
	kfree_skb(skb);
}

static bool pw_trunk_is_peer(const struct pw_trunk *t, const struct sk_buff *skb)
{
	const union pw_trunk_end *r = &t->conf.remote;
	const struct udphdr *uh = udp_hdr(skb);

	if (ip_hdr(skb)->version == 4)
		return r->sa.sa_family == AF_INET && ip_hdr(skb)->saddr == r->in.sin_addr.s_addr &&
		       uh->source == r->in.sin_port;
	return r->sa.sa_family == AF_INET6 && uh->source == r->in6.sin6_port &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->saddr, &r->in6.sin6_addr);
}

/* a trunk packet, @off bytes into @skb; consumed. @mac: of its sender, 0 with UDP */
static void pw_trunk_open(struct pw_trunk *t, struct sk_buff *skb, u32 off, u64 mac)
{
	u8 hdr[PW_TRUNK_HDR], nonce[XCHACHA20POLY1305_NONCE_SIZE];
	struct sk_buff *frame = NULL;
	const u8 *p;
	u32 len;

	/* packets arrive as soon as the socket is open */
	if (!READ_ONCE(t->live))
		goto drop;
	if (skb_linearize(skb) || skb->len < off + PW_TRUNK_HDR) {
		pw_trunk_count(t, PW_TRUNK_DROP_MALFORMED);
		goto drop;
	}
	p = skb->data + off;
	memcpy(hdr, p, PW_TRUNK_HDR);
	len = skb->len - off - PW_TRUNK_HDR;
	if (hdr[0] != 'P' || hdr[1] != PW_TRUNK_VERSION) {
		pw_trunk_count(t, PW_TRUNK_DROP_VERSION);
		goto drop;
	}
	if (!!(hdr[3] & PW_TRUNK_F_KEYED) != t->conf.keyed ||
	    (t->conf.keyed && len < CHACHA20POLY1305_AUTHTAG_SIZE)) {
		pw_trunk_count(t, PW_TRUNK_DROP_AUTH);
		goto drop;
	}
	frame = alloc_skb(64 + len, GFP_ATOMIC | __GFP_NOWARN);
	if (!frame)
		goto drop;
	skb_reserve(frame, 64);
	if (t->conf.keyed) {
		pw_trunk_nonce(nonce, hdr);
		if (!xchacha20poly1305_decrypt(frame->data, p + PW_TRUNK_HDR, len, hdr,
					       PW_TRUNK_HDR, nonce, t->conf.key)) {
			pw_trunk_count(t, PW_TRUNK_DROP_AUTH);
			goto drop;
		}
		skb_put(frame, len - CHACHA20POLY1305_AUTHTAG_SIZE);
	} else {
		skb_put_data(frame, p + PW_TRUNK_HDR, len);
	}
	if (get_unaligned_be16(hdr + 6) != t->conf.id) {
		pw_trunk_count(t, PW_TRUNK_DROP_PEER);
		goto drop;
	}
	consume_skb(skb);
	pw_trunk_take(t, frame, hdr, mac);
	return;

drop:
	kfree_skb(frame);
	kfree_skb(skb);
}

/* a datagram at the trunk's socket; always consumed */
static int pw_trunk_rcv_udp(struct sock *sk, struct sk_buff *skb)
{
	struct pw_trunk *t = rcu_dereference_sk_user_data(sk);

	pw_kcov_section();

	if (t && pw_trunk_is_peer(t, skb)) {
		pw_trunk_open(t, skb, sizeof(struct udphdr), 0);
		return 0;
	}
	if (t)
		pw_trunk_count(t, PW_TRUNK_DROP_PEER);
	kfree_skb(skb);
	return 0;
}

/* a frame of our type at the trunk's device; always consumed */
static int pw_trunk_rcv_dev(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt,
			    struct net_device *orig_dev)
{
	struct pw_trunk *t = container_of(pt, struct pw_trunk, pt);
	u8 buf[2];
	const u8 *id;

	pw_kcov_section();

	if (skb->pkt_type != PACKET_HOST && skb->pkt_type != PACKET_BROADCAST)
		goto drop;
	/* other trunks of the device have their own share of the frame */
	id = skb_header_pointer(skb, 6, sizeof(buf), buf);
	if (skb_vlan_tag_present(skb) || (id && get_unaligned_be16(id) != t->conf.id))
		goto drop;
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (skb)
		pw_trunk_open(t, skb, 0, ether_addr_to_u64(eth_hdr(skb)->h_source));
	return NET_RX_SUCCESS;

drop:
	consume_skb(skb);
	return NET_RX_DROP;
}

/* --- life ----------------------------------------------------------------------- */

/* without hellos: all that is known of the other side is that there is a link */
static void pw_trunk_work_bare(struct pw_trunk *t)
{
	bool up = pw_bare_up(t);

	WRITE_ONCE(t->up, up);
	pw_rrp_trunk(t->half, up);
	queue_delayed_work(system_percpu_wq, &t->work,
			   up ? PW_TRUNK_HELLO_UP : PW_TRUNK_HELLO_DOWN);
}

static void pw_trunk_work(struct work_struct *work)
{
	struct pw_trunk *t = container_of(to_delayed_work(work), struct pw_trunk, work);
	unsigned long wait;
	bool up;

	pw_kcov_section();

	if (!READ_ONCE(t->live))
		return;
	if (t->conf.bare) {
		pw_trunk_work_bare(t);
		return;
	}
	clear_bit(0, &t->prompted);
	WRITE_ONCE(t->hello_at, jiffies);
	spin_lock_bh(&t->lock);
	if (pw_trunk_session_silent(&t->s, jiffies, PW_TRUNK_DEAD)) {
		WRITE_ONCE(t->up, false);
		pw_trunk_session_end(&t->s, pw_trunk_random(), pw_trunk_random());
	}
	up = t->s.up;
	spin_unlock_bh(&t->lock);
	pw_trunk_hello(t);
	pw_rrp_trunk(t->half, up);
	wait = up ? PW_TRUNK_HELLO_UP : PW_TRUNK_HELLO_DOWN;
	spin_lock_bh(&t->lock);
	if (pw_trunk_session_waits(&t->s))
		wait = PW_TRUNK_HELLO_GAP;
	spin_unlock_bh(&t->lock);
	queue_delayed_work(system_percpu_wq, &t->work, wait);
}

static bool pw_trunk_is_near(const union pw_trunk_end *e)
{
	if (e->sa.sa_family == AF_INET)
		return ipv4_is_loopback(e->in.sin_addr.s_addr) ||
		       ipv4_is_linklocal_169(e->in.sin_addr.s_addr);
	return ipv6_addr_type(&e->in6.sin6_addr) & (IPV6_ADDR_LOOPBACK | IPV6_ADDR_LINKLOCAL);
}

/* Do other trunks leave room for this one on @dev? Under RTNL */
static int pw_trunk_shares(const struct pw_trunk *t, const struct net_device *dev,
			   struct netlink_ext_ack *extack)
{
	struct pw_router *r;

	list_for_each_entry(r, &pw_net(t->net)->routers, list) {
		const struct pw_trunk *o = r->half[0].trunk;

		if (!o || o->dev != dev)
			continue;
		if (o->conf.bare || t->conf.bare) {
			NL_SET_ERR_MSG(extack,
				       "Bare EEP and another trunk cannot share a device");
			return -EBUSY;
		}
		if (o->conf.id == t->conf.id) {
			NL_SET_ERR_MSG(extack, "The device has a trunk with this id already");
			return -EBUSY;
		}
	}
	return 0;
}

/* what a trunk without hellos is told of its other side */
static int pw_trunk_open_bare(struct pw_trunk *t, struct netlink_ext_ack *extack)
{
	if (pw_san_port_of(t->half->san, t->conf.peer) >= 0) {
		NL_SET_ERR_MSG(extack, "The peer has an address of the half-router's own SAN");
		return -ERANGE;
	}
	t->stations = kcalloc(PW_BARE_STATIONS, sizeof(*t->stations), PW_GFP);
	if (!t->stations)
		return -ENOMEM;
	WRITE_ONCE(t->half->peer_addr, t->conf.peer);
	return 0;
}

static int pw_trunk_open_dev(struct pw_trunk *t, struct netlink_ext_ack *extack)
{
	struct net_device *dev = __dev_get_by_index(t->net, t->conf.ifindex);
	int err;

	if (!dev) {
		NL_SET_ERR_MSG(extack, "There is no such device in this namespace");
		return -ENODEV;
	}
	if (dev->type != ARPHRD_ETHER || dev->flags & IFF_LOOPBACK) {
		NL_SET_ERR_MSG(extack, "A trunk needs an Ethernet device");
		return -EOPNOTSUPP;
	}
	err = pw_trunk_shares(t, dev, extack);
	if (err)
		return err;
	if (dev->mtu < pw_trunk_overhead(t) + PW_OVERHEAD + PACKETWAY_MTU_MIN) {
		NL_SET_ERR_MSG(extack, "The frames of this device are too short for a trunk");
		return -EMSGSIZE;
	}
	err = t->conf.bare ? pw_trunk_open_bare(t, extack) : 0;
	if (err)
		return err;
	netdev_hold(dev, &t->dev_tracker, GFP_KERNEL);
	t->dev = dev;
	t->pt.type = htons(ETH_P_PACKETWAY);
	t->pt.dev = dev;
	t->pt.func = t->conf.bare ? pw_bare_rcv : pw_trunk_rcv_dev;
	dev_add_pack(&t->pt);
	return 0;
}

static int pw_trunk_open_udp(struct pw_trunk *t, struct netlink_ext_ack *extack)
{
	struct udp_tunnel_sock_cfg cfg = {
		.encap_type = 1, .encap_rcv = pw_trunk_rcv_udp, .sk_user_data = t,
	};
	const struct pw_trunk_config *conf = &t->conf;
	struct udp_port_cfg port = { .family = conf->local.sa.sa_family };
	int err;

	if (!conf->keyed && !conf->insecure && !pw_trunk_is_near(&conf->remote)) {
		NL_SET_ERR_MSG(extack,
			       "Without a key the peer must be on the link or this host; give a key or say insecure");
		return -EPERM;
	}
	if (port.family == AF_INET) {
		port.local_ip = conf->local.in.sin_addr;
		port.local_udp_port = conf->local.in.sin_port;
		port.use_udp_checksums = true;
	} else {
		port.local_ip6 = conf->local.in6.sin6_addr;
		port.local_udp_port = conf->local.in6.sin6_port;
		port.use_udp6_tx_checksums = true;
		port.use_udp6_rx_checksums = true;
		port.ipv6_v6only = true;
		port.bind_ifindex = conf->local.in6.sin6_scope_id;
	}
	err = udp_sock_create(t->net, &port, &t->sock);
	if (err) {
		NL_SET_ERR_MSG(extack, "The local address and port of the trunk cannot be used");
		return err;
	}
	setup_udp_tunnel_sock(t->net, t->sock->sk, &cfg);
	return 0;
}

/**
 * pw_trunk_create - open a trunk; nothing is sent before pw_trunk_start()
 * @net: namespace of the router
 * @h: its half on this host
 * @conf: both ends and the key
 * @extack: where a refusal is explained
 *
 * Return: the trunk or an ERR_PTR. Under RTNL.
 */
struct pw_trunk *pw_trunk_create(struct net *net, struct pw_half *h,
				 const struct pw_trunk_config *conf,
				 struct netlink_ext_ack *extack)
{
	struct pw_trunk *t;
	int err;

	t = kzalloc(sizeof(*t), PW_GFP);
	if (!t)
		return ERR_PTR(-ENOMEM);
	t->half = h;
	t->send = conf->bare ? pw_bare_send : pw_trunk_send;
	t->net = net;
	t->conf = *conf;
	spin_lock_init(&t->lock);
	INIT_DELAYED_WORK(&t->work, pw_trunk_work);
	pw_trunk_session_init(&t->s, pw_trunk_random(), pw_trunk_random());
	t->hello_at = jiffies - PW_TRUNK_HELLO_GAP;

	err = conf->ifindex ? pw_trunk_open_dev(t, extack) : pw_trunk_open_udp(t, extack);
	if (err) {
		kfree_sensitive(t);
		return ERR_PTR(err);
	}
	WRITE_ONCE(h->trunk_mtu, pw_trunk_mtu(t));
	return t;
}

void pw_trunk_start(struct pw_trunk *t)
{
	WRITE_ONCE(t->live, true);
	queue_delayed_work(system_percpu_wq, &t->work, 0);
}

/* no frame is sent through the trunk: nothing comes in, and no hello goes out, after this */
void pw_trunk_stop(struct pw_trunk *t)
{
	WRITE_ONCE(t->up, false);
	WRITE_ONCE(t->live, false);
	cancel_delayed_work_sync(&t->work);
	if (t->dev)
		__dev_remove_pack(&t->pt);
	else
		udp_tunnel_sock_release(t->sock->sk);
	/* a packet received meanwhile may have queued the work again */
	synchronize_net();
	cancel_delayed_work_sync(&t->work);
	if (t->dev)
		netdev_put(t->dev, &t->dev_tracker);
}

void pw_trunk_destroy(struct pw_trunk *t)
{
	kfree(t->stations);
	kfree_sensitive(t);
}

/**
 * pw_trunk_dev_mtu - a device that may carry trunks has another MTU
 * @dev: the device; under RTNL
 */
void pw_trunk_dev_mtu(struct net_device *dev)
{
	struct pw_router *r;
	struct pw_trunk *t;

	list_for_each_entry(r, &pw_net(dev_net(dev))->routers, list) {
		t = r->half[0].trunk;
		if (t && t->dev == dev)
			WRITE_ONCE(t->half->trunk_mtu, pw_trunk_mtu(t));
	}
}

/**
 * pw_trunk_on_dev - does a device carry a trunk?
 * @dev: the device; under RTNL
 *
 * Return: whether it does.
 */
bool pw_trunk_on_dev(const struct net_device *dev)
{
	struct pw_router *r;

	list_for_each_entry(r, &pw_net(dev_net(dev))->routers, list)
		if (r->half[0].trunk && r->half[0].trunk->dev == dev)
			return true;
	return false;
}
