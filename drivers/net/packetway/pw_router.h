/* SPDX-License-Identifier: GPL-2.0 */
/* checkpatch-ignore: COMPLEX_MACRO,MACRO_ARG_REUSE (the list of counters) */
/*
 * Routers: two half-routers, each on a port of a SAN.
 *
 *   SAN A -> engine -> pw_port_deliver -> queue of half A -> pw_half_poll
 *	-> pw_half_in   for me: pw_rrp_receive; group; by L2RH; by address
 *	-> pw_half_cross  MTU, hop limit, EI, hop trace; now it is on the other side
 *	-> pw_half_out  half B consumes the leading L2RH or looks the address up
 *	-> pw_half_emit  charged to half B's port -> engine of SAN B
 *
 * Where an engine delivers at once, the half-router of a next hop takes the frame
 * straight after: its queue and softirq are for frames that come from elsewhere.
 *
 * A frame is charged to its sender until half A takes it from the queue, then to
 * half B's port until it is taken there. A port of a half-router that has
 * PW_HALF_INFLIGHT_MAX frames or PW_HALF_INFLIGHT_BYTES under way drops further ones:
 * stopping instead would let a ring of SANs lock itself up. Messages of half-routers have
 * as much room again, so that no traffic keeps them out.
 *
 * Lifetime: a router is made and deleted under RTNL. Its halves are published in
 * pw_port.end; deleting withdraws them, waits for a grace period and for NAPI,
 * forwards what still waits, then frees both. Inside the data path a half and its
 * peer half are valid together. Frames on their way to a port whose half-router has gone
 * are returned to who sent them, and their source gets an ERR.
 *
 * RRP is for later: a message waits in rrpq until rrp_in handles it, one at a time. Queues
 * have limits, and so has what a trunk's peer may send in a second. What handling leads to
 * (tables to pass on, tables that were asked for, listeners, routes) is done once for all
 * messages of a turn.
 *
 * Locks: the mutex pw_half.db_lock guards the tables (db), the scratch buffer and what is
 * known of adjacent half-routers. A table has up to PW_HALF_NODES_CAP bytes: it is searched,
 * checked and cut into messages with this mutex alone, BH on. Who changes the tables also
 * takes the spinlock pw_half.lock, for the change alone; who reads a few fields of each
 * takes the spinlock only, like the softirqs that set flags. db_lock may be taken under RTNL;
 * RTNL and pw_san.fib_lock are not taken with it held. The mutex pw_san.fib_lock is taken to
 * build a SAN's routes and takes the spinlock of each half there in turn.
 */
#ifndef PW_ROUTER_H
#define PW_ROUTER_H

#include "pw_priv.h"
#include "reduce.h"
#include "rrp_answer.h"
#include "rrp_groups.h"
#include "rrp_news.h"
#include "rrp_parts.h"

#define PW_ROUTER_NAME_MAX	31
#define PW_HALF_INFLIGHT_MAX	1024	/* frames a half-router's port has under way */
#define PW_HALF_INFLIGHT_BYTES	(8U << 20)	/* of these: no socket is charged for them */
#define PW_HALF_QUEUE_MAX	1024	/* frames from the peer half that wait */
#define PW_USER_FRAMES		1024	/* frames that wait for a program */
#define PW_USER_BYTES		(4 << 20)	/* their memory; one more may exceed it */
#define PW_HALF_RRP_QUEUE	512	/* RRP messages of half-routers that wait */
#define PW_HALF_ASK_QUEUE	128	/* those of nodes */
#define PW_HALF_PEER_RATE	256	/* RRP messages of a trunk's peer in a second */
#define PW_RRP_PART		8192	/* bytes of nodes in a message */
#define PW_RRP_PART_MIN		1024	/* if a trunk takes no more */
#define PW_RRP_MSG_MAX		(PW_RRP_PART + 1024)	/* data bytes */
#define PW_HOPS_MAX		64	/* bits of EI */
#define PW_HALF_TABLES		64
#define PW_HALF_PER_SAN		4	/* routes kept to one SAN */
#define PW_HALF_NODES_CAP	(128 << 10)	/* bytes of nodes in a table */
#define PW_HALF_NODES_ALL	(4 << 20)	/* in all tables of others */
#define PW_HALF_SCRATCH		(PW_HALF_NODES_CAP + 1024)
#define PW_HALF_STAGES		8	/* tables of which not all parts are here */
#define PW_HALF_STAGES_FROM	4	/* of these from one half-router */
#define PW_HALF_STAGES_ALL	(512 << 10)	/* bytes in all stages */
#define PW_HALF_REDUCE_RATE	20000	/* messages of reductions in a second */
#define PW_HALF_PACE		96	/* messages to a trunk's peer in a second, then pause */
#define PW_BEYOND_MAX		4096	/* ranges of logical addresses behind a peer half */
#define PW_INFO_MAX		256	/* bytes of a node's description of itself */
#define PW_LINK_Q		1	/* quality of one step, if no other is set */
#define PW_RANGE_Q		0x100	/* of a node that is not known by itself */

/*
 * X(SYMBOL): what a half-router counts; uapi has the same order.
 * checkpatch-ignore: COMPLEX_MACRO,MACRO_ARG_REUSE (a list to be expanded)
 */
#define PW_HALF_STATS(X)	\
	X(RX)			\
	X(FORWARD_L3)		\
	X(FORWARD_L2)		\
	X(FORWARD_GROUP)	\
	X(SENT)			\
	X(DROP_UNKNOWN)		\
	X(DROP_BADL2RH)		\
	X(DROP_TOOBIG)		\
	X(DROP_HOPS)		\
	X(DROP_MALFORMED)	\
	X(DROP_FULL)		\
	X(DROP_NOMEM)		\
	X(DROP_GROUP)		\
	X(DROP_DOWN)		\
	X(EI_MARKED)		\
	X(HOPTRACE)		\
	X(ERR_SENT)		\
	X(ERR_LIMITED)		\
	X(RRP_RX)		\
	X(RRP_TX)		\
	X(RRP_MALFORMED)	\
	X(RRP_REFUSED)		\
	X(RRP_LIMITED)		\
	X(TABLES_TAKEN)		\
	X(TABLES_IGNORED)	\
	X(HRDOWN)		\
	X(ECHO)			\
	X(TABLES_ASKED)		\
	X(TABLES_STALE)		\
	X(DROP_TYPE)		\
	X(ECHO_LIMITED)		\
	X(TRACED)		\
	X(REDUCE_ASKED)		\
	X(REDUCE_REPEATED)	\
	X(REDUCE_ANSWERED)	\
	X(REDUCE_DROPPED)	\
	X(RRP_DONE)

#define PW_X_HALF(sym) PW_HALF_##sym,
enum pw_half_stat {
	PW_HALF_STATS(PW_X_HALF)
	PW_HALF_STAT_NUM
};

#undef PW_X_HALF

struct pw_half_pcpu {
	u64_stats_t v[PW_HALF_STAT_NUM];
	struct u64_stats_sync syncp;
};

/* NAME, CAPA and LADR records of a node, checked */
struct pw_info {
	struct rcu_head rcu;
	bool told;		/* by an INFO of the node itself */
	u32 len;
	u8 rec[];
};

/* logical addresses that nodes behind a peer half listen to */
struct pw_beyond {
	struct rcu_head rcu;
	u32 n;
	struct pw_rrp_range r[];
};

/* an adjacent half-router */
struct pw_adjacent {
	struct pw_rrp_heard heard;
	unsigned long quiet;	/* since when it has sent no table, nor was asked for one */
};

/* one route from a SAN to the addresses of another */
struct pw_fib_entry {
	u32 min;
	u32 max;
	u32 san;		/* address of the other SAN */
	u16 port;		/* half-router to use */
	u16 q;
	u32 mtu;		/* words, 0 = unlimited */
	u16 hops;
	bool fixed;		/* a static route */
	bool far;		/* a trunk is on the route */
	u64 since;		/* pw_rrp_table.since */
};

#define PW_FIB_MAX	256	/* ranges that one SAN has learnt routes to */

/*
 * The best route for each range: those that were learnt, which do not overlap, by
 * address; then static routes, the narrowest range first. @by_san: the first @learnt of them,
 * by SAN.
 */
struct pw_fib {
	struct rcu_head rcu;
	u32 n;
	u32 learnt;
	u8 by_san[PW_FIB_MAX];
	struct pw_fib_entry e[];
};

/**
 * struct pw_user - a program that is the other side of a half-router
 * @users: the file and the half-router
 * @take: a frame for the program; BH off, RCU held
 * @detach: the half-router is deleted; RTNL
 * @free: the last user has gone
 * @half: changed under RTNL, read under RCU; NULL: deleted
 * @peer: address that the program says its other half has, 0: none
 * @head: bytes of struct packetway_half_head in front of each frame, 0: none
 * @gone: the half-router was deleted
 * @queue: frames to be read
 * @bytes: memory of these
 * @wait: readers
 */
struct pw_user {
	refcount_t users;
	bool (*take)(struct pw_half *h, struct sk_buff *skb);
	void (*detach)(struct pw_user *u);
	void (*free)(struct pw_user *u);
	struct pw_half __rcu *half;
	u32 peer;
	u32 head;
	bool gone;
	struct sk_buff_head queue;
	atomic_t bytes;
	wait_queue_head_t wait;
};

static inline void pw_user_put(struct pw_user *u)
{
	if (refcount_dec_and_test(&u->users))
		u->free(u);
}

struct pw_half {
	/* fixed while it is published */
	struct pw_router *router;
	struct pw_half *peer;	/* NULL: behind the trunk, or a program */
	struct pw_trunk *trunk;
	struct pw_user *user;
	struct pw_san *san;
	u32 port;
	u32 addr;
	u16 quality;		/* that it adds to a route */
	struct pw_esp esp;	/* the half-router as a node */
	struct pw_aton_interface aton;	/* and on the ring */

	u32 mtu_set;		/* bytes, 0 = what all stations take; RTNL */
	u32 mtu;		/* bytes, in force; READ_ONCE */
	u32 peer_addr;		/* READ_ONCE; 0: not known yet, behind a trunk */
	u32 peer_mtu;		/* of a trunk's other end; READ_ONCE */
	u32 trunk_mtu;		/* that the trunk itself takes; READ_ONCE */
	struct pw_half_pcpu __percpu *stats;
	struct pw_beyond __rcu *beyond;	/* rrp_in: what is heard behind the peer half */
	struct ratelimit_state err_limit;
	struct ratelimit_state rrp_limit;
	struct ratelimit_state tell_limit;
	struct ratelimit_state echo_limit;
	struct ratelimit_state group_limit;
	struct ratelimit_state peer_limit;
	struct ratelimit_state reduce_limit;
	struct sk_buff_head rrpq[2];	/* RRP that waits: of half-routers, of nodes */
	struct delayed_work rrp_in;	/* handles it */
	unsigned long gave;	/* rrp_in: when the peer half got the tables it asked for */
	u32 give_next;		/* rrp_in: the table that it gets next */
	unsigned long paced_at;	/* rrp_in: when a second of messages to the trunk began */
	u32 paced;		/* rrp_in: messages to the trunk since then */
	struct pw_rrp_stage *stages;	/* rrp_in: tables of which not all parts are here */
	u32 stage_age;		/* rrp_in: counts them */
	u32 told_peer;		/* rrp_in: sum of the list that the peer half got last */
	u32 told_near;		/* rrp_in: the one that neighbours got */
	bool list_peer;		/* rrp_in: it gets the list, whatever it had */
	u32 peer_sum;		/* READ_ONCE: what the trunk's other end says */
	bool own_old;		/* READ_ONCE: rrp_in has to make the own table anew */
	struct delayed_work beat;	/* says the sum to neighbours */

	spinlock_t lock;	/* changes of db, and to the next blank line */
	bool resync;		/* ask the neighbours again, a little later; READ_ONCE */
	bool beyond_old;	/* the set of logical addresses is to be made anew */

	struct mutex db_lock;	/* everything to the next blank line */
	struct pw_rrp_db db;
	u32 serial;
	u32 trunk_peer;		/* peer half that got all tables, 0: none */
	bool leaving;		/* its end is announced: RRP messages are ignored; READ_ONCE */
	bool asked_peer;	/* the peer half asked for tables; READ_ONCE */
	DECLARE_BITMAP(asked, PACKETWAY_PORTS_MAX);	/* so did neighbours */
	u8 *scratch;
	struct pw_adjacent *adjacent;	/* by port; the peer half at the own one */

	struct pw_reduce_seen *seen;	/* work of pw_san.reduce: requests of the peer half */
	void *mem;		/* tables, nodes of the own one, scratch, adjacent, seen */
	struct net_device *dummy;	/* carries the NAPI */
	atomic_t from_peer;	/* frames from the peer half in the queue */
	struct pw_end end ____cacheline_aligned_in_smp;
};

/* the half-router at a port, if there is one; RCU held or RTNL */
static inline struct pw_half *pw_port_half(const struct pw_port *p)
{
	struct pw_end *e = pw_port_end(p);

	return e && !e->dev ? container_of(e, struct pw_half, end) : NULL;
}

struct pw_router {
	struct list_head list;	/* RTNL */
	char name[PW_ROUTER_NAME_MAX + 1];
	struct net *net;
	unsigned int nhalves;	/* 1 with a trunk or a program */
	struct rcu_work gone;	/* deleted */
	struct pw_half half[2];
};

/* what a router is made with */
struct pw_half_config {
	struct pw_san *san;
	u32 port;
	u32 mtu;
	u16 quality;
	struct pw_user *user;	/* the only half, of a program; else NULL */
};

static inline void pw_half_count(struct pw_half *h, enum pw_half_stat id)
{
	struct pw_half_pcpu *s = this_cpu_ptr(h->stats);

	u64_stats_update_begin(&s->syncp);
	u64_stats_inc(&s->v[id]);
	u64_stats_update_end(&s->syncp);
}

/* what may pass to the other half, in bytes */
static inline u32 pw_half_mtu(const struct pw_half *h)
{
	u32 mtu = READ_ONCE(h->mtu);

	if (h->peer)
		return min(mtu, READ_ONCE(h->peer->mtu));
	return min3(mtu, READ_ONCE(h->peer_mtu), READ_ONCE(h->trunk_mtu));
}

/* Does a message of this type count only if a half-router made it? */
static inline bool pw_half_only(u16 pt, u16 te)
{
	if (pt == PW_PT_RRP)
		return te == PW_TE_GVRT || te == PW_TE_RTBL;
	return pt == PW_PT_ERR && (te == PW_TE_ERR_HRDOWN || te == PW_TE_ERR_LINKDOWN);
}

/* pw_router.c APIs: objects */
void pw_router_net_kill(struct net *net);
struct pw_router *pw_router_find(struct net *net, const char *name);
struct pw_trunk_config;
struct pw_router *pw_router_create(struct net *net, const char *name,
				   const struct pw_half_config conf[2],
				   const struct pw_trunk_config *trunk,
				   struct netlink_ext_ack *extack);
void pw_router_destroy(struct pw_router *r);
/* a router was made or is about to go; set before the first one can be made. RTNL */
extern void (*pw_router_notify)(struct pw_router *r, bool gone);

/* pw_half.c APIs: frames through a half-router */
extern const struct pw_end_ops pw_half_end_ops;
int pw_half_poll(struct napi_struct *napi, int budget);
void pw_half_drain(struct pw_half *h, bool last);
void pw_half_stats_fold(const struct pw_half *h, u64 *sum);

/* pw_half_send.c APIs: what a half-router sends */
void pw_half_drop(struct pw_half *h, struct sk_buff *skb, enum pw_half_stat why, u16 te);
void pw_half_emit(struct pw_half *h, struct sk_buff *skb, u16 port);
void pw_half_send_own(struct pw_half *h, struct sk_buff *skb);
void pw_half_send_as(struct pw_half *h, struct sk_buff *skb, u8 flags);
void pw_half_queue_peer(struct pw_half *h, struct sk_buff *skb);
bool pw_half_busy(struct pw_half *h);

/* pw_fib.c APIs: routes from a SAN */
/* called by pw_fib_notify_diff(); set before the first route can be made */
extern void (*pw_fib_notify)(struct pw_san *san, const struct pw_fib_entry *e, bool gone);
int pw_fib_lookup(const struct pw_san *san, u32 addr);
int pw_fib_san_port(const struct pw_san *san, u32 to);
u32 pw_fib_sans(const struct pw_san *san, u32 *sans, u32 room);
void pw_fib_update(struct pw_san *san);
void pw_fib_outdate(struct pw_san *san);
void pw_fib_settle(struct pw_san *san);
u32 pw_fib_ticket(const struct pw_san *san);
void pw_fib_wait(struct pw_san *san, u32 ticket);
void pw_fib_free(struct pw_san *san);
int pw_fib_route_add(struct pw_san *san, const struct pw_fib_entry *e,
		     struct netlink_ext_ack *extack);
int pw_fib_route_del(struct pw_san *san, const struct pw_fib_entry *e);
void pw_fib_notify_diff(struct pw_san *san);

/* pw_rrp.c APIs: messages between half-routers and nodes */
int pw_rrp_init(void);
void pw_rrp_exit(void);
void pw_rrp_san_init(struct pw_san *san);
void pw_rrp_san_exit(struct pw_san *san);
void pw_rrp_register(struct pw_station *st);
void pw_rrp_station_changed(struct pw_station *st);
void pw_rrp_unregister(struct pw_station *st);
void pw_rrp_half_up(struct pw_half *h);
void pw_rrp_half_down(struct pw_half *h);
void pw_rrp_half_init(struct pw_half *h);
void pw_rrp_half_stop(struct pw_half *h);
void pw_rrp_half_free(struct pw_half *h);
void pw_rrp_trunk(struct pw_half *h, bool up);
u32 pw_rrp_sum(struct pw_half *h);
void pw_rrp_put_self(struct pw_rrp_buf *b, const struct pw_half *h);
void pw_rrp_receive(struct pw_half *h, struct sk_buff *skb, const struct pw_eep_view *v);
void pw_rrp_station_wru(struct pw_station *st, const struct pw_eep_view *v);
bool pw_half_beyond(const struct pw_half *h, u32 addr);

#endif
