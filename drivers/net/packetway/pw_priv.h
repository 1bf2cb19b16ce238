/* SPDX-License-Identifier: GPL-2.0 */
/* checkpatch-ignore: COMPLEX_MACRO,MACRO_ARG_REUSE (the list of counters) */
/*
 * packetway internals: the objects, who may touch what, and the pipeline.
 *
 * Lifetime and locking:
 *
 *  struct pw_san is made by its first user (a station, a router, or an explicit
 *  request). When the last one lets go, a work item frees it after an RCU grace
 *  period, without RTNL (pw_net.dying counts these). It sits in the xarray of its
 *  home namespace. pw_san.users, the xarray and pw_port.end are changed under
 *  RTNL only; the data path reads them under RCU. A station holds its SAN from
 *  ndo_init to ndo_uninit. Readers that found the station before that have finished
 *  with both after a grace period: in the data path st->san is valid.
 *
 *  struct pw_station is the private part of a netdevice. It is published in
 *  pw_port.end by ndo_init and withdrawn by ndo_uninit; unregistering waits
 *  a grace period before the memory goes.
 *
 *  Frames inside the SAN name their sender by port number, never by pointer.
 *  pw_port.inflight counts the frames a port has sent that no receiver has
 *  taken, and their bytes; it lives in the SAN, so a sender may go while its
 *  frames travel.
 *
 *  lock			protects			taken in
 *  pw_file.lock	binding, standing command and	process, interruptible
 *			block of one open file
 *  pw_net.san_change	fabric.params of a namespace's	process, killable
 *			SANs; which engine they have;
 *			how many share a clock
 *  RTNL		SANs, ports, link settings	process, also inside pw_file.lock
 *							or pw_net.san_change
 *  pw_bind_lock	which file is bound to which	process, also under RTNL or
 *			station				pw_file.lock
 *  pw_time.run		which fabrics share a clock	any, BH off
 *  pw_fab.lock		fabric, messages in it		any, BH off; also inside pw_time.run
 *  pw_time.lock	participants and alarms of a	any, BH off; also inside pw_fab.lock
 *			clock				or pw_poets.lock or pw_aton.lock
 *  pw_rxq.lock		receive queues of a station	BH off; also inside pw_fab.lock
 *			or half				or pw_aton.lock
 *  pw_station.waiting	frames that wait for room	BH off; also inside pw_fab.lock
 *							or pw_aton.lock
 *  pw_san.fib_lock	building a SAN's routes		process
 *  pw_san.routes_lock	a SAN's static routes		process, also inside pw_san.fib_lock
 *  pw_half.db_lock	a half-router's tables		process, also under RTNL
 *  pw_half.lock	changes of these tables		any, BH off; also inside pw_san.fib_lock
 *							or pw_half.db_lock
 *  pw_san.info_lock	what nodes say of themselves	any, BH off
 *  pw_aton.lock	ring, commands, registers,	any, BH off
 *			frames on the ring
 *  pw_file.aton_lock	a file's commands		inside pw_aton.lock or alone
 *  pw_reduce.lock	reductions that wait to start	process
 *  pw_trunk.lock	session of a trunk		any, BH off
 *  pw_user.queue	frames for a program		any, BH off
 *  pw_esp.lock		an ESP node's store		any, BH off
 *  pw_poets.load	devices of a softswitch		process
 *  pw_poets.lock	softswitch and its queue	any, BH off, also inside pw_poets.load
 *  No other two of the spinlocks nest. Routers: see pw_router.h.
 */
#ifndef PW_PRIV_H
#define PW_PRIV_H

#include <linux/atomic.h>
#include <linux/ethtool.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/ratelimit.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include <linux/packetway.h>
#include <linux/packetway_eep.h>
#include <packetway/compat.h>
#include <packetway/kcov.h>
#include <packetway/stats.h>

#include "eep.h"
#include "fabric/fabric.h"
#include "fabric/fabric_fault.h"
#include "pw_aton.h"
#include "pw_esp.h"
#include "pw_limits.h"
#include "pw_poets.h"

struct netlink_ext_ack;
struct pw_reduce;
struct pw_time;

#define PW_ADDR_LEN		3
/*
 * EEP header and TAIL: what the plainest message carries beyond its data block,
 * and the same with the padding that a data block may need. Packet sockets take
 * frames of MTU + hard_header_len bytes, so the latter is dev->hard_header_len;
 * prefixes and options count against the data. (Much more would push
 * LL_RESERVED_SPACE over what TCP reserves and cost it a copy.)
 */
#define PW_OVERHEAD		(PW_EEP_HDR_LEN + PW_EEP_TAIL_LEN)
#define PW_FRAME_ROOM		(PW_OVERHEAD + 7)

/* what the next call fills: kernels with CONFIG_INIT_STACK_ALL_ZERO clear it first otherwise */
#if defined(__has_attribute) && !defined(__CHECKER__)
#if __has_attribute(__uninitialized__)
#define PW_UNINIT	__attribute__((__uninitialized__))
#endif
#endif
#ifndef PW_UNINIT
#define PW_UNINIT
#endif
/* frames one port may have under way before its queue is stopped */
#define PW_INFLIGHT_STOP	256
#define PW_INFLIGHT_WAKE	128
/*
 * Limits for messages that the kernel makes at a station (replies, reports, ERR,
 * reflected ESP): while that many frames of the port are under way, or that many
 * bytes of such messages, no further one is sent. They are charged to no socket.
 */
#define PW_INFLIGHT_OWN		(4 * PW_INFLIGHT_STOP)
#define PW_OWN_BYTES		(1024 * 1024)
/* what an skb costs beside its data, roughly */
#define PW_OWN_OVERHEAD		512
/* group addresses of a station; a longer list means every group */
#define PW_GROUPS_MAX		1024
#define PW_PRIO_NUM		64
#define PW_TX_QUEUE_LEN		1000
/* frames that wait at a full station, whatever its txqueuelen is: pw_tx_let_go() looks at each */
#define PW_TX_WAITING_MAX	4096
/* a station that was full for so long takes what waits in its qdisc */
#define PW_TX_STUCK		(20 * HZ)
/* changes of a SAN within this time go together */
#define PW_SAN_SOON		(HZ / 50)

/* per-network-namespace state */
struct pw_net {
	struct xarray sans;	/* RTNL; id -> struct pw_san */
	struct mutex san_change;	/* requests that change or delete a SAN, one by one, or that
					 * make one in lockstep
					 */
	struct pw_time *time;	/* clock of its SANs in lockstep; see pw_san_time_share() */
	atomic_t dying;		/* objects without users that still have to be freed */
	atomic_t lists;		/* changes of what dumps count their way through */
	atomic_t tables;	/* changes of tables of half-routers */
	struct pw_esp_conf esp;	/* RTNL; what its stations have by default */
	struct list_head routers;	/* RTNL; struct pw_router */
	struct list_head mons;	/* RTNL, read under RCU: struct pw_mon that is up */
	struct pw_limits limits;
};

/* pw_net.c APIs */
extern unsigned int pw_net_id;
extern struct workqueue_struct *pw_wq;	/* frees what has no user left */

static inline struct pw_net *pw_net(const struct net *net)
{
	return net_generic(net, pw_net_id);
}

/*
 * Objects whose last user has let go and that a work item on pw_wq frees: it needs no
 * RTNL for most of it. They count against their limits until they are freed. A command
 * that deletes one waits for it without a lock (pw_dying_wait), so that deleting and
 * making objects in a loop takes no more memory than the objects have.
 */
void pw_dying_add(struct net *net);
void pw_dying_del(struct net *net);
void pw_dying_wait(struct net *net);
void pw_dying_net_exit(struct net *net);

/* one attachment point of a SAN; lives as long as the SAN */
struct pw_port {
	struct pw_end __rcu *end;	/* RTNL: the station or half-router here */
	struct pw_info __rcu *info;	/* pw_san.info_lock: how the node describes itself */
	atomic64_t inflight;	/* PW_LOAD_FRAME for each frame, and their words */
	atomic_t own;		/* bytes of kernel-made messages among them */
};

#define PW_FABRIC_RATE_DEFAULT	(8ULL * NSEC_PER_SEC)	/* a byte, a cycle, a nanosecond */

/* how a SAN's fabric is run; changed under RTNL, then engine->update() */
struct pw_fabric_conf {
	u64 rate;		/* bits per second of a link */
	bool real;		/* paced to that rate, else virtual time */
	bool frozen;		/* collects frames and does not run */
	u32 cut_through;	/* ns until a half-router has looked an address up; 0: it stores */
	struct pw_fabric_faults fault;
	struct pw_fabric_params params;	/* of the next engine; RTNL */
	struct pw_san_topo *topo;	/* RTNL: has params.topo; NULL: three stages */
};

struct pw_san {
	/* fast path */
	struct pw_engine __rcu *engine;	/* replaced under RTNL */
	struct pw_fib __rcu *fib;	/* fib_lock: routes to other SANs */
	u32 bias;
	u32 nports;
	u32 radix;		/* least k with k * k >= nports */
	u32 paths;		/* READ_ONCE: paths between two ports */
	u32 mtu;		/* READ_ONCE: the most that its engine carries; RTNL */

	/* slow path */
	u32 id;
	struct net *net;	/* home; the SAN never outlives it */
	struct mem_cgroup *memcg;	/* of its maker: pays for what softirqs and work allocate */
	unsigned int users;	/* RTNL */
	refcount_t memory;	/* of this structure alone: the SAN, and who waits for fib_done */
	struct pw_aton *aton;	/* as long as the SAN */
	struct pw_reduce *reduce;	/* likewise */
	struct pw_fabric_conf fabric;
	struct pw_time __rcu *time;	/* RTNL: its clock in lockstep; NULL: free */
	u64 base;		/* in lockstep: pw_engine_now() minus the time of the clock */
	u64 ahead;		/* what lockstep has put pw_engine_now() ahead of the host */
	struct pw_ptp *ptp;
	struct dentry *debugfs;
	bool pinned;		/* RTNL: one of the users is a request to keep it */
	unsigned int nhalves;	/* RTNL: half-routers here */
	u32 damage;		/* READ_ONCE: port + 1 whose next frame is damaged, 0: none */
	struct mutex fib_lock;	/* fib, fib_begun, fib_done */
	bool fib_old;		/* tables have changed since fib was built */
	u32 fib_begun;		/* how often a build has begun; READ_ONCE */
	u32 fib_done;		/* the last one that has ended; acquire, release */
	spinlock_t routes_lock;	/* routes */
	struct pw_fib *routes;	/* static routes; also RTNL to change */
	struct pw_fib *fib_notified;	/* rrp_work: what generic netlink has reported */
	spinlock_t info_lock;	/* pw_port.info */
	struct delayed_work rrp_work;	/* sends tables and reports routes */
	struct rcu_work gone;	/* frees the SAN after its last user */

	struct pw_port port[];
};

/*
 * Receive side of a port's occupant: one list per priority, bitmap of the non-empty
 * ones, so that the highest priority leaves first in O(1). A list is a circle by skb->next, known
 * by its youngest frame, whose next one is the oldest. The lists are apart, so that a netdevice
 * with its station fits a page.
 */
struct pw_rxq {
	spinlock_t lock;	/* everything below */
	bool open;
	u64 nonempty;
	struct sk_buff **last;	/* PW_PRIO_NUM; NULL: no frame */
};

struct pw_end;

/**
 * struct pw_end_ops - what the occupant of a port does with frames
 * @arrive: take a frame at once, if it need not wait; true: it was taken. May be NULL.
 * @drop: count why a frame ends here, and free it
 * @room: the port may send again, and the queue of its device is stopped; with a device
 * @let_go: frames that wait to be sent let go of sockets that are closed; with a device
 * @hears: does it take frames to a logical address?
 *
 * BH off, RCU held.
 */
struct pw_end_ops {
	bool (*arrive)(struct pw_end *e, struct sk_buff *skb);
	void (*drop)(struct pw_end *e, struct sk_buff *skb, enum pw_drop why);
	void (*room)(struct pw_end *e);
	void (*let_go)(struct pw_end *e);
	bool (*hears)(const struct pw_end *e, u32 addr);
};

/* the occupant of a port: part of a station or half-router */
struct pw_end {
	const struct pw_end_ops *ops;
	struct net_device *dev;	/* of a station; NULL: a half-router */
	bool full;		/* pw_station.waiting.lock: its station waits for room */
	struct napi_struct napi;
	struct pw_rxq rxq;
};

/* the logical addresses of a station, sorted; replaced as a whole */
struct pw_groups {
	struct rcu_head rcu;
	bool all;		/* the list was too long: every group */
	u32 n;
	u32 addr[];
};

struct pw_station {
	struct net_device *dev;
	struct pw_san *san;
	u32 port;
	u32 addr;
	u32 order;		/* enum packetway_order; READ_ONCE in the data path */
	bool attached;		/* RTNL: ndo_init has run, the SAN share is the station's */
	bool stamp_asked;	/* RTNL: SIOCSHWTSTAMP asked for times */
	bool stamp_sent;	/* READ_ONCE: likewise of frames that are sent */
	struct pw_stats *stats;
	struct pw_groups __rcu *groups;	/* written under the address lock */
	struct pw_pmtu __rcu *pmtu;	/* written by the station's own poll */
	struct hlist_head sources;	/* RTNL, read under RCU: struct pw_source */
	struct ratelimit_state err_limit;
	struct ratelimit_state pmtu_limit;
	struct ratelimit_state echo_limit;
	struct list_head files;	/* pw_bind_lock: struct pw_file bound here */
	struct pw_aton_interface aton;
	struct pw_esp esp;
	struct hlist_head poets[PW_POETS_ROLES];	/* RTNL, read under RCU */
	struct sk_buff_head waiting;	/* frames to be sent when there is room */
	bool sending;		/* waiting.lock: one that waited is on its way */
	u32 nsources;		/* RTNL: in @sources */

	struct pw_end end ____cacheline_aligned_in_smp;
};

/* the occupant of a port, or NULL; RCU held or RTNL */
static inline struct pw_end *pw_port_end(const struct pw_port *p)
{
	return rcu_dereference_rtnl(p->end);
}

/* the same if it is a station */
static inline struct pw_station *pw_port_station(const struct pw_port *p)
{
	struct pw_end *e = pw_port_end(p);

	return e && e->dev ? container_of(e, struct pw_station, end) : NULL;
}

/*
 * Per-frame facts, filled once when the frame enters the SAN, read by the
 * stages behind. In skb->cb from pw_send_flags() to the end of pw_poll().
 */
struct pw_skb_cb {
	u64 delay;		/* virtual time spent in fabrics so far, ns */
	u64 stamp;		/* virtual time of arrival, ns; 0: none */
	u32 dt;			/* destination as the first word has it */
	u16 src_port;
	u16 dst_port;		/* PW_PORT_GROUP: every other station */
	s8 path;		/* middle switch chosen by the sender, -1: any */
	u8 prio;		/* P, 63 first */
	u8 hops;		/* routers passed */
	u8 flags;		/* PW_CB_* */
	u16 at;			/* port that a timed fabric has brought it to */
	u16 words;		/* that its port is charged with */
	const struct net *net;	/* of the sender, to compare and never to look at */
	/* cut-through, ns before it arrived; 0: none */
	u32 first;		/* first cell at the half-router, and the decision */
	u32 last;		/* last cell */
};

#define PW_CB_HALF	BIT(0)	/* made by a half-router of this SAN: trusted */
#define PW_CB_PEER	BIT(1)	/* came from the peer half, charged to no port */
#define PW_CB_ERROR	BIT(2)	/* damaged in transit: the next router marks it */
#define PW_CB_RETURNED	BIT(3)	/* the port was empty: its sender has it back */
#define PW_CB_OWN	BIT(4)	/* made by the kernel, counted in pw_port.own */
#define PW_CB_FAR	BIT(5)	/* with PW_CB_HALF: a table that came over a trunk */
#define PW_CB_WHOLE	BIT(6)	/* no checksum yet, perhaps more than the MTU: pw_tx_whole() */
#define PW_CB_STAMP	BIT(7)	/* its sender asks when it is sent: pw_tx_stamp() */

#define PW_PORT_GROUP 0xffff

/* frames of one poll for the stack, in their order; most polls have only one */
struct pw_up {
	struct sk_buff *first;
	struct list_head more;	/* behind it */
};

static inline void pw_up_add(struct pw_up *up, struct sk_buff *skb)
{
	if (!up->first)
		up->first = skb;
	else
		list_add_tail(&skb->list, &up->more);
}

static inline struct pw_skb_cb *pw_cb(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct pw_skb_cb) > sizeof_field(struct sk_buff, cb));
	return (struct pw_skb_cb *)skb->cb;
}

/* what a SAN is made with */
struct pw_san_config {
	u32 id;
	u32 nports;
	u32 bias;
	u32 engine;		/* enum packetway_engine, of the fabric */
	u32 ring_engine;	/* likewise, of the ring */
	struct pw_ring_params ring;	/* parameters of the ring: core/ring/ring_param.c */
	u64 rate;		/* of the fabric's links */
	u32 cut_through;	/* as in struct pw_fabric_conf */
	bool real;		/* paced to it */
	bool lockstep;
	struct pw_fabric_faults fault;
	struct pw_fabric_params params;
	struct pw_san_topo *topo;	/* NULL: three stages */
};

#define PW_NO_STAGE	0xff
#define PW_STAGES_MAX	(PW_TOPO_LEVELS + 1)

/**
 * struct pw_stage - a stage of a fabric, or its output ports
 * @count: counters
 * @queued: bytes that wait at its input units
 * @fullest: of these, at the input unit that has most
 * @units: input units, or output ports
 */
struct pw_stage {
	struct pw_fabric_stage count;
	u64 queued;
	u32 fullest;
	u32 units;
};

/* a running engine; its own state lies around this */
struct pw_engine {
	const struct pw_engine_ops *ops;
	struct pw_san *san;
};

/**
 * struct pw_engine_ops - how frames get from port to port of a SAN
 * @create: make one for a SAN, all of its ports down; no lock
 * @destroy: free it; no sender is left (an RCU grace period has passed), what
 *	is still inside is handed to pw_port_deliver(); no lock
 * @mtu: the largest MTU of a station that it can serve; 0: PACKETWAY_MTU_MAX
 * @xmit: consumes the skb; pw_cb(skb) has source and destination ports. BH off, RCU held.
 * @port_up: a station came up or went down; RTNL; may be NULL, as the following
 * @update: the SAN's fabric settings have changed; RTNL
 * @time: virtual time in nanoseconds
 * @stats: PW_FABRIC_STAT_NUM counters for a port
 * @queues: bytes that wait at each input unit of the fabric, and its stage (PW_NO_STAGE: it has
 *	no link); arrays of PW_TOPO_RANKS. Returns the number of input units.
 * @stages: the stages of the fabric, then its output ports; an array of PW_STAGES_MAX. Returns
 *	their number.
 */
struct pw_engine_ops {
	struct pw_engine *(*create)(struct pw_san *san, const struct pw_fabric_params *params,
				    struct netlink_ext_ack *extack);
	void (*destroy)(struct pw_engine *eng);
	u32 mtu;
	void (*xmit)(struct pw_engine *eng, struct sk_buff *skb);
	void (*port_up)(struct pw_engine *eng, unsigned int port, bool up);
	void (*update)(struct pw_engine *eng);
	u64 (*time)(struct pw_engine *eng);
	void (*stats)(struct pw_engine *eng, unsigned int port, u64 *data);
	u32 (*queues)(struct pw_engine *eng, u32 *bytes, u8 *stage);
	u32 (*stages)(struct pw_engine *eng, struct pw_stage *s);
};

extern const struct pw_engine_ops pw_engine_none;
extern const struct pw_engine_ops pw_engine_fast;
extern const struct pw_engine_ops pw_engine_rtl;
extern const struct pw_engine_ops pw_engine_ring;

/* pw_engine.c APIs: what a SAN asks of its engine */
void pw_engine_update(struct pw_san *san);
void pw_engine_port_up(struct pw_san *san, unsigned int port, bool up);
u64 pw_engine_time(const struct pw_san *san);
u64 pw_engine_now(const struct pw_san *san);

/* the fabric's share of `ethtool -S`: per stage, of the station's own port, time */
#define PW_FABRIC_STAGES 4
#define PW_FABRIC_STAGE_NAMES(n)					\
	"fabric_stage" #n "_cells", "fabric_stage" #n "_refused",	\
	"fabric_stage" #n "_dropped", "fabric_stage" #n "_corrupted"
#define PW_FABRIC_PORT_COUNTERS(X)		\
	X(cells_out,	"aal_cells_out")	\
	X(cells_in,	"aal_cells_in")		\
	X(acks_out,	"aal_acks_out")		\
	X(acks_in,	"aal_acks_in")		\
	X(resent,	"aal_resent")		\
	X(refused_out,	"aal_refused_out")	\
	X(refused_in,	"aal_refused_in")	\
	X(bad_crc,	"aal_bad_crc")		\
	X(duplicate,	"aal_duplicate")	\
	X(ahead,	"aal_ahead")		\
	X(overrun,	"aal_overrun")		\
	X(msgs_out,	"aal_messages_out")	\
	X(msgs_in,	"aal_messages_in")
#define PW_X_ONE(field, name) + 1
enum { PW_FABRIC_STAT_NUM = 4 * PW_FABRIC_STAGES PW_FABRIC_PORT_COUNTERS(PW_X_ONE) + 1 };
#undef PW_X_ONE

/* pw_engine_fabric.c APIs */
int pw_fab_init(void);
void pw_fab_exit(void);

/* pw_engine_ring.c APIs */
int pw_passive_init(void);
void pw_passive_exit(void);

/* pw_ptp.c APIs: a SAN's virtual time as a clock */
struct pw_ptp *pw_ptp_create(struct pw_san *san);
void pw_ptp_destroy(struct pw_ptp *ptp);
int pw_ptp_index(const struct pw_ptp *ptp);

/* pw_debugfs.c APIs: faults on purpose */
void pw_debugfs_init(void);
void pw_debugfs_exit(void);
void pw_debugfs_san_add(struct pw_san *san);

/* pw_san.c APIs: SANs that exist */
struct pw_san *pw_san_find(struct net *net, u32 id);
struct pw_san *pw_san_next(struct net *net, unsigned long *id);
void pw_san_put(struct pw_san *san);
void pw_san_keep(struct pw_san *san);
void pw_san_forget(struct pw_san *san);
int pw_san_port_find(struct pw_san *san, struct netlink_ext_ack *extack);
int pw_san_native_route(const struct pw_san *san, const u8 *route, unsigned int len,
			struct pw_skb_cb *cb);
u32 pw_san_l2rh(const struct pw_san *san, u32 port, u8 out[8]);
void pw_san_changed(struct pw_san *san);
void pw_san_routes_changed(struct pw_san *san);

/* the most that a passive packet of the ring carries beside EEP header and TAIL */
#define PW_RING_MTU		(PW_ATON_PASSIVE_MAX - PW_OVERHEAD)
/* why a larger one is refused */
#define PW_SAN_MTU_RING		"mtu: a SAN with engine ring carries at most 4072 bytes"

/* pw_san_make.c APIs: SANs made and freed */
void pw_san_config_default(struct pw_san_config *conf, u32 id);
int pw_san_check(struct net *net, const struct pw_san_config *conf,
		 struct netlink_ext_ack *extack);
struct pw_san *pw_san_make(struct net *net, const struct pw_san_config *conf,
			   struct netlink_ext_ack *extack);
int pw_san_insert(struct pw_san *san, const struct pw_san_config *conf,
		  struct netlink_ext_ack *extack);
void pw_san_free(struct pw_san *san);
struct pw_san *pw_san_get(struct net *net, u32 id, struct netlink_ext_ack *extack);
int pw_san_mtu_check(const struct pw_san *san, u32 engine, struct netlink_ext_ack *extack);
u32 pw_san_engine(const struct pw_san *san);
struct pw_engine *pw_san_engine_make(struct pw_san *san, u32 engine,
				     const struct pw_fabric_params *params,
				     struct netlink_ext_ack *extack);
struct pw_engine *pw_san_engine_swap(struct pw_san *san, struct pw_engine *eng);
void pw_san_engine_free(struct pw_engine *eng);
int pw_san_lockstep_check(const struct pw_san *san, u32 engine, bool real,
			  struct netlink_ext_ack *extack);
struct pw_time *pw_san_time_new(struct net *net, u64 now, struct netlink_ext_ack *extack);
struct pw_time *pw_san_time_swap(struct pw_san *san, struct pw_time *t);
void pw_san_time_free(struct net *net, struct pw_time *t);
void pw_san_net_exit(struct net *net);
void pw_san_net_kill(struct net *net, struct list_head *kill);

static inline u32 pw_san_addr(const struct pw_san *san, u32 port)
{
	return san->bias + port + 1;
}

/* port number of @addr on @san, or a negative value */
static inline int pw_san_port_of(const struct pw_san *san, u32 addr)
{
	u32 port = addr - san->bias - 1;

	return port < san->nports ? (int)port : -1;
}

/* pw_link.c APIs */
extern struct rtnl_link_ops pw_link_ops;
struct net_device *pw_link_create_default(struct net *net);

/* pw_netdev.c APIs */
void pw_netdev_setup(struct net_device *dev);
bool pw_netdev_is(const struct net_device *dev);

/* pw_port.c APIs: frames at ports, and the occupants' queues */
int pw_rxq_init(struct pw_rxq *q);
void pw_rxq_free(struct pw_rxq *q);
void pw_rxq_push(struct pw_rxq *q, struct sk_buff *skb);
struct sk_buff *pw_rxq_pop(struct pw_rxq *q);
int pw_end_init(struct pw_end *e, const struct pw_end_ops *ops, struct net_device *dev);
void pw_end_open(struct pw_end *e);
void pw_end_close(struct pw_end *e, struct pw_san *san);
bool pw_end_queue(struct pw_end *e, struct sk_buff *skb);
bool pw_end_busy(const struct pw_end *e);
struct sk_buff *pw_end_take(struct pw_end *e, int budget, int *n);

/* the first of the frames that @frames begins with, and @frames goes on; NULL: no more */
static inline struct sk_buff *pw_end_next(struct sk_buff **frames)
{
	struct sk_buff *skb = *frames;

	if (skb) {
		*frames = skb->next;
		skb_mark_not_on_list(skb);
	}
	return skb;
}

void pw_port_charge_copy(struct pw_san *san, struct sk_buff *skb);
struct sk_buff *pw_port_copy(struct pw_san *san, unsigned int port, struct sk_buff *skb);
void pw_port_refuse(struct pw_san *san, struct sk_buff *skb, enum pw_drop why);
void pw_port_let_go(struct pw_san *san, u32 *port);
void __pw_port_own_done(struct pw_san *san, struct sk_buff *skb);
bool pw_port_return(struct pw_san *san, unsigned int src, struct sk_buff *skb);
void pw_port_deliver(struct pw_san *san, unsigned int port, struct sk_buff *skb);

/**
 * pw_port_own_done - a frame no longer counts among the kernel-made ones of its port
 * @san: the SAN
 * @skb: the frame; its length is still what it was when it was sent
 */
static inline void pw_port_own_done(struct pw_san *san, struct sk_buff *skb)
{
	if (unlikely(pw_cb(skb)->flags & PW_CB_OWN))
		__pw_port_own_done(san, skb);
}

/* one operation counts a frame and its words of 8 bytes */
#define PW_LOAD_FRAME	BIT_ULL(32)

/* frames that a port has in the SAN */
static inline u32 pw_port_frames(const struct pw_port *p)
{
	return upper_32_bits(atomic64_read(&p->inflight));
}

/* and their bytes */
static inline u64 pw_port_bytes(const struct pw_port *p)
{
	return (u64)PW_EEP_WORD * lower_32_bits(atomic64_read(&p->inflight));
}

/**
 * pw_port_charge - a frame is under way from a port
 * @p: sender
 * @skb: the frame; its cb is that of this SAN
 *
 * Return: frames that the port has in the SAN now.
 */
static inline u32 pw_port_charge(struct pw_port *p, struct sk_buff *skb)
{
	u16 words = DIV_ROUND_UP(skb->len, PW_EEP_WORD);

	pw_cb(skb)->words = words;
	return upper_32_bits(atomic64_add_return(PW_LOAD_FRAME + words, &p->inflight));
}

/* the port is charged with this frame no longer; what is left */
static inline u32 pw_port_uncharge(struct pw_port *p, const struct sk_buff *skb)
{
	return upper_32_bits(atomic64_sub_return(PW_LOAD_FRAME + pw_cb(skb)->words, &p->inflight));
}

/**
 * pw_port_release - a frame has left the SAN
 * @san: the SAN
 * @skb: the frame; BH off, RCU held
 */
static inline void pw_port_release(struct pw_san *san, const struct sk_buff *skb)
{
	struct pw_port *p = &san->port[pw_cb(skb)->src_port];
	struct pw_end *e;

	if (pw_port_uncharge(p, skb) > PW_INFLIGHT_WAKE)
		return;
	/* the sub_return orders the count before the look at the queue */
	e = pw_port_end(p);
	if (e && unlikely(READ_ONCE(e->full)))
		e->ops->room(e);
}

/**
 * pw_port_done - a frame has left the SAN: its sender is charged no longer
 * @san: the SAN
 * @skb: the frame; BH off, RCU held
 */
static inline void pw_port_done(struct pw_san *san, struct sk_buff *skb)
{
	pw_port_own_done(san, skb);
	pw_port_release(san, skb);
}

/* Does this port have a station or half-router that takes frames? RCU held or RTNL */
static inline bool pw_port_takes(const struct pw_san *san, unsigned int port)
{
	const struct pw_end *e = pw_port_end(&san->port[port]);

	return e && (!e->dev || netif_running(e->dev));
}

/* the untimed engine only passes frames on: no indirect call for each of them */
static inline void pw_engine_xmit(struct pw_engine *eng, struct sk_buff *skb)
{
	u16 port = pw_cb(skb)->dst_port;

	if (eng->ops == &pw_engine_none && likely(port != PW_PORT_GROUP))
		pw_port_deliver(eng->san, port, skb);
	else
		eng->ops->xmit(eng, skb);
}

/* what a kernel-made message counts; its length is the same at both ports */
static inline int pw_port_own_cost(unsigned int len)
{
	return len + PW_OWN_OVERHEAD;
}

/* pw_skb.c APIs: messages as buffers */
void pw_skb_let_go(struct sk_buff *skb);
struct sk_buff *pw_skb_new(const struct pw_eep_hdr *hdr, u8 **body);
int pw_skb_make_writable(struct sk_buff *skb);
int pw_skb_echo_turn(struct sk_buff *skb, const struct pw_eep_view *v, u32 addr);
bool pw_skb_err_wanted(struct sk_buff *skb, struct pw_eep_view *v);
struct sk_buff *pw_skb_err(struct sk_buff *skb, const struct pw_eep_view *v, u16 te, u32 sa,
			   u32 mtu, bool with_dst);

/* everything but IP arrives whole, from the EEP header to TAIL */
static inline void pw_skb_strip(struct sk_buff *skb, const struct pw_eep_view *v)
{
	__skb_pull(skb, v->hdr_off);
	skb->protocol = htons(ETH_P_PACKETWAY);
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	skb->mac_len = 0;
}

/* pw_tx.c APIs: socket or kernel -> SAN */
netdev_tx_t pw_xmit(struct sk_buff *skb, struct net_device *dev);
bool pw_own_full(const struct pw_station *st, unsigned int len);
bool pw_send_own(struct pw_station *st, struct sk_buff *skb);
bool pw_tx_whole(const struct pw_station *st, const struct sk_buff *skb);
void pw_tx_wake(struct pw_station *st);
void pw_tx_room(struct pw_end *e);
void __pw_tx_stamp(struct sk_buff *skb, u64 ns);
void pw_tx_let_go(struct pw_end *e);
void pw_tx_open(struct pw_station *st);
void pw_tx_close(struct pw_station *st);
int pw_tx_waiting(struct pw_station *st, int budget);
void pw_send_err(struct pw_station *st, struct sk_buff *skb, u16 te);

/* of an engine: it has got a frame of a station at this virtual time */
static inline void pw_tx_stamp(struct sk_buff *skb, u64 ns)
{
	if (unlikely(pw_cb(skb)->flags & PW_CB_STAMP))
		__pw_tx_stamp(skb, ns);
}

/*
 * pw_rx.c APIs: SAN -> station. A step of the receive side returns PW_OK or an
 * enum pw_drop.
 */
#define PW_OK (-1)
int pw_poll(struct napi_struct *napi, int budget);
bool pw_rx_hears(const struct pw_end *e, u32 addr);

/* pw_source.c APIs: source routes of a station */

/**
 * struct pw_source - a source route
 * @node: in pw_station.sources
 * @rcu: to free it
 * @min: first address that it leads to
 * @max: last address
 * @mtu: bytes of data that it takes, 0: any
 * @len: bytes of @row
 * @row: L2RHs, the one on the station's own SAN first
 */
struct pw_source {
	struct hlist_node node;
	struct rcu_head rcu;
	u32 min;
	u32 max;
	u32 mtu;
	u32 len;
	u8 row[];
};

/* what one is made with; members as in struct pw_source */
struct pw_source_conf {
	u32 min;
	u32 max;
	u32 mtu;
	u32 len;
	const u8 *row;
};

bool __pw_source_has(const struct pw_station *st, u32 addr);
u32 pw_source_mtu(const struct pw_station *st, u32 addr);
int __pw_source_push(struct pw_station *st, struct sk_buff *skb);
const struct pw_source *pw_source_add(struct pw_station *st, const struct pw_source_conf *c,
				      struct netlink_ext_ack *extack);
struct pw_source *pw_source_del(struct pw_station *st, const struct pw_source_conf *c);
void pw_source_free(struct pw_source *e);
void pw_source_free_all(struct pw_station *st);

/* Does the station have source routes at all? */
static inline bool pw_source_any(const struct pw_station *st)
{
	return unlikely(READ_ONCE(st->sources.first));
}

/* Does a message to @addr leave by source route? */
static inline bool pw_source_has(const struct pw_station *st, u32 addr)
{
	return pw_source_any(st) && __pw_source_has(st, addr);
}

/**
 * pw_source_push - put the source route to its destination in front of a message
 * @st: the station that sends it
 * @skb: the whole message; nothing happens to one that has prefixes already
 *
 * Return: 0 or -ENOMEM. BH off, RCU held.
 */
static inline int pw_source_push(struct pw_station *st, struct sk_buff *skb)
{
	return pw_source_any(st) ? __pw_source_push(st, skb) : 0;
}

/* pw_pmtu.c APIs: what is known of the route to a destination */
void pw_pmtu_learn(struct pw_station *st, const u8 *data, const struct pw_eep_view *v);
int __pw_pmtu_check(struct pw_station *st, struct sk_buff *skb);

/**
 * pw_pmtu_check - does an IP packet fit the route to its destination?
 * @st: the station that sends it
 * @skb: the packet behind the EEP header that the device made
 *
 * Return: 0, or -EMSGSIZE; then the sender was informed.
 */
static inline int pw_pmtu_check(struct pw_station *st, struct sk_buff *skb)
{
	return likely(!rcu_access_pointer(st->pmtu) && !pw_source_any(st)) ? 0 :
	       __pw_pmtu_check(st, skb);
}

void pw_pmtu_free(struct pw_station *st);

/* pw_stats.c APIs */
void pw_count(struct pw_station *st, enum pw_stat id);
void pw_drop(struct pw_station *st, struct sk_buff *skb, enum pw_drop why);
void pw_stats_fold(const struct pw_station *st, u64 *sum);
void pw_get_stats64(struct net_device *dev, struct rtnl_link_stats64 *s);
extern const char pw_stat_names[PW_STAT_NUM][ETH_GSTRING_LEN];

/* pw_ethtool.c APIs */
extern const struct ethtool_ops pw_ethtool_ops;

/* pw_genl.c APIs */
int pw_genl_register(void);
void pw_genl_unregister(void);

/* pw_cdev.c APIs */
int pw_cdev_register(void);
void pw_cdev_unregister(void);

/* pw_file.c APIs */
void pw_file_station_gone(struct pw_station *st);

#endif /* PW_PRIV_H */
