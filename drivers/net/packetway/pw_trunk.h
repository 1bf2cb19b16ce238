/* SPDX-License-Identifier: GPL-2.0 */
/* checkpatch-ignore: COMPLEX_MACRO,MACRO_ARG_REUSE (the list of counters) */
/*
 * Trunks: the other half of a router is on another host.
 *
 * A trunk packet is a header of 32 bytes, a payload and, with a key, a tag of 16
 * bytes; then the payload is encrypted and the header authenticated by
 * XChaCha20-Poly1305 under the nonce (session, sequence number, 0). It travels in
 * a UDP datagram, or in an Ethernet frame of type 0x88B5.
 *
 *	byte 0	'P'		1  version (1)		2  type: 1 frame, 2 hello
 *	3  flags: 1 a half-router made it, 2 there is a tag
 *	4  routers passed	5  priority		6, 7  which trunk of a device
 *	8  session (64 bits)	16 sequence number (64 bits)
 *	24 frame: virtual nanoseconds in fabrics so far (64 bits)
 *	24 hello: sum of the tables that the other side should have (32 bits), 0: does not
 *	   say; 28 zero
 *
 * A hello carries a challenge, a challenge that was heard from the other side, the
 * half's address and its MTU. Which sessions and packets count is in
 * core/trunk_session.h.
 *
 * On a device hellos are broadcast until one is answered; from then on packets go
 * to and are taken from that station only, until the other side is given up.
 *
 * A bare trunk has none of this: EEP messages in Ethernet frames, see pw_bare.c.
 */
#ifndef PW_TRUNK_H
#define PW_TRUNK_H

#include <crypto/chacha20poly1305.h>
#include <linux/in.h>
#include <linux/in6.h>

#include "pw_router.h"
#include "trunk_session.h"

#define PW_TRUNK_VERSION	1
#define PW_TRUNK_HDR		32
#define PW_TRUNK_HELLO		24	/* challenge(8) echo(8) address(4) MTU(4) */
#define PW_TRUNK_FRAME_MAX	65000	/* what UDP takes, and some */
#define PW_BARE_STATIONS	256	/* on a bare link, whose addresses are known */

enum pw_trunk_type { PW_TRUNK_FRAME = 1, PW_TRUNK_TYPE_HELLO = 2 };

#define PW_TRUNK_F_HALF		1
#define PW_TRUNK_F_KEYED	2

union pw_trunk_end {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* what a trunk is made with */
struct pw_trunk_config {
	union pw_trunk_end local;	/* these two, or a device */
	union pw_trunk_end remote;
	u32 ifindex;
	u16 id;			/* both ends have the same */
	bool keyed;
	bool insecure;		/* any peer without a key */
	bool bare;		/* over a device without a trunk header */
	u32 peer;		/* bare: node whose RRP counts, 0: none */
	u8 key[CHACHA20POLY1305_KEY_SIZE];
};

/*
 * X(SYMBOL); uapi has the same order.
 * checkpatch-ignore: COMPLEX_MACRO,MACRO_ARG_REUSE (a list to be expanded)
 */
#define PW_TRUNK_STATS(X)	\
	X(TX)			\
	X(RX)			\
	X(HELLO_TX)		\
	X(HELLO_RX)		\
	X(DROP_PEER)		\
	X(DROP_VERSION)		\
	X(DROP_AUTH)		\
	X(DROP_SESSION)		\
	X(DROP_REPLAY)		\
	X(DROP_MALFORMED)	\
	X(DROP_TX)

#define PW_X_TRUNK(sym) PW_TRUNK_##sym,
enum pw_trunk_stat {
	PW_TRUNK_STATS(PW_X_TRUNK)
	PW_TRUNK_STAT_NUM
};

#undef PW_X_TRUNK

struct pw_trunk {
	struct pw_half *half;
	void (*send)(struct pw_trunk *t, struct sk_buff *skb);	/* or pw_bare_send() */
	struct pw_trunk_config conf;
	struct net *net;
	struct socket *sock;		/* UDP */
	struct net_device *dev;		/* Ethernet */
	netdevice_tracker dev_tracker;
	struct packet_type pt;
	u64 peer_mac;		/* READ_ONCE; as ether_addr_to_u64() has it */
	u64 *stations;		/* READ_ONCE; bare: by EEP address, see pw_bare_learn() */
	atomic64_t seq;		/* only grows: with the session it is the nonce */
	struct delayed_work work;	/* sends hellos, notices a silent other end */
	unsigned long hello_at;	/* the work: when it sent the last one */
	unsigned long prompted;	/* bit 0: the work was asked to run soon */
	atomic64_t stats[PW_TRUNK_STAT_NUM];
	bool up;		/* READ_ONCE */
	bool live;		/* READ_ONCE: its half is ready, and not being deleted */

	spinlock_t lock;	/* everything below */
	struct pw_trunk_session s;	/* its session: READ_ONCE */
};

static inline void pw_trunk_count(struct pw_trunk *t, enum pw_trunk_stat id)
{
	atomic64_inc(&t->stats[id]);
}

/* to the other side of a half-router that has no peer half here; BH off, RCU held */
static inline void pw_half_send_far(struct pw_half *h, struct sk_buff *skb)
{
	if (h->trunk)
		h->trunk->send(h->trunk, skb);
	else
		h->user->take(h, skb);
}

/* pw_bare.c APIs: EEP without a trunk header */
bool pw_bare_up(const struct pw_trunk *t);
void pw_bare_send(struct pw_trunk *t, struct sk_buff *skb);
int pw_bare_rcv(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt,
		struct net_device *orig_dev);

/* pw_trunk.c APIs */
struct pw_trunk *pw_trunk_create(struct net *net, struct pw_half *h,
				 const struct pw_trunk_config *conf,
				 struct netlink_ext_ack *extack);
void pw_trunk_start(struct pw_trunk *t);
void pw_trunk_stop(struct pw_trunk *t);
void pw_trunk_destroy(struct pw_trunk *t);
void pw_trunk_dev_mtu(struct net_device *dev);
bool pw_trunk_on_dev(const struct net_device *dev);

#endif
