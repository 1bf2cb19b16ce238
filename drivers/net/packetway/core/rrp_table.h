/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RRP level D: the routing tables that a half-router keeps.
 *
 * Every table describes the nodes of one SAN. It starts at a half-router of that
 * SAN with an empty common route (CSR) and RCVF = that half-router, and travels
 * from half to peer half and from neighbour to neighbour. The receiver puts the route
 * to the sender in front of CSR, adds that route's quality, and puts itself in front
 * of RCVF. Tables with different RCVFs are different routes to the same SAN and are
 * kept side by side. The route to the peer half has no L2RH, that to a neighbour has one.
 *
 * Memory comes from the caller: an array of tables, each with room for the
 * ADDR records of its nodes, which are kept as they came and passed on
 * unchanged. When there is no free table, or the SAN has its share, the worst
 * one gives way if the new one is better.
 *
 * A table speaks for the addresses of its SAN only, the PW_RRP_SAN_SPAN behind the
 * SAN's own. Tables of different SANs never overlap: the one that was there first
 * stays. A table that came over a trunk (@far) is worse than every one that did not,
 * gives way to it, and never takes its place.
 */
#ifndef PW_CORE_RRP_TABLE_H
#define PW_CORE_RRP_TABLE_H

#include "rrp.h"

#define PW_RRP_MAX_RCVF		16	/* half-routers on a route */
#define PW_RRP_MAX_CSR		256	/* bytes of L2RHs on a route */
#define PW_RRP_SAN_SPAN		256	/* addresses of a SAN, those behind its own */
#define PW_RRP_MAX_ADDRS	1024	/* ADDRs of a table: a node may have several */

/**
 * struct pw_rrp_table - one table
 * @used: in use
 * @own: this half-router's own SAN
 * @from_peer: came from the peer half, otherwise from a neighbour
 * @far: a trunk is on the route
 * @fresh: taken and not passed on yet; cleared by the caller
 * @since: when the SAN's addresses were first learnt by this route, by the caller's count
 * @heard: when it was taken, in ticks of the caller
 * @san: address of the SAN that it describes
 * @serial: serial number
 * @via: half-router that it came from, 0 for the own one
 * @mtu: smallest MTU of the route in words, 0 = unlimited
 * @q: quality of the route
 * @nrcvf: entries of @rcvf
 * @rcvf: half-routers on the route, this one first
 * @csr_len: bytes of @csr
 * @csr: L2RHs of the route
 * @nodes_len: bytes of @nodes
 * @range_len: of these the last record, if it is the range of the SAN's addresses; else 0
 * @nodes_cap: room there, set by the caller
 * @nodes: ADDR records, memory of the caller
 * @lo: lowest address among the nodes
 * @hi: highest one
 * @min: first address of the SAN's range, 0: not known
 * @max: last one
 */
struct pw_rrp_table {
	bool used;
	bool own;
	bool from_peer;
	bool far;
	bool fresh;
	u64 since;
	u32 heard;
	u32 san;
	u32 serial;
	u32 via;
	u32 mtu;
	u16 q;
	u16 nrcvf;
	u32 rcvf[PW_RRP_MAX_RCVF];
	u32 csr_len;
	u8 csr[PW_RRP_MAX_CSR];
	u32 nodes_len;
	u32 range_len;
	u32 nodes_cap;
	u8 *nodes;
	u32 lo;
	u32 hi;
	u32 min;
	u32 max;
};

/**
 * struct pw_rrp_db - all tables of one half-router
 * @me: its address
 * @peer: address of the other half, 0 if there is none
 * @ntables: number of tables
 * @per_san: how many of them one SAN may take, 0 = any number
 * @table: the tables, memory of the caller
 * @gen: changes whenever a route may have changed
 */
struct pw_rrp_db {
	u32 me;
	u32 peer;
	u32 ntables;
	u32 per_san;
	struct pw_rrp_table *table;
	u32 gen;
};

/* memory of the caller for nodes */
struct pw_rrp_mem {
	u8 *p;
	u32 cap;
};

/* the addresses that the nodes of a table have */
struct pw_rrp_span {
	u32 lo, hi;
	u32 min, max;
	u32 range_len;
	u32 addrs;
};

/* how good a route is */
struct pw_rrp_rank {
	bool far;
	u16 q;
	u32 nrcvf;
};

/* the records in front of the nodes, in their order */
enum pw_rrp_head {
	PW_RRP_HEAD_RTHD,
	PW_RRP_HEAD_CSR,
	PW_RRP_HEAD_MTUR,
	PW_RRP_HEAD_RCVF,
};

/**
 * struct pw_rrp_pieces - a received table in pieces
 * @rec: its first records, by enum pw_rrp_head
 * @nodes: ADDR records of its nodes
 * @nodes_len: bytes of them
 * @span: addresses of the nodes
 * @rank: how good the route is, with the link that it came over
 */
struct pw_rrp_pieces {
	struct pw_rrp_rec rec[4];
	const u8 *nodes;
	u32 nodes_len;
	struct pw_rrp_span span;
	struct pw_rrp_rank rank;
};

/**
 * struct pw_rrp_link - the route to an adjacent half-router
 * @from: its address
 * @peer: it is the peer half, otherwise a neighbour
 * @q: quality of the route
 * @mtu: MTU of the route in words, 0 = unlimited
 * @l2rh: L2RH from here to there as pw_eep_put_l2rh() writes it, none for the peer half
 * @l2rh_len: bytes of it
 * @far: a trunk is on the route
 * @now: for &pw_rrp_table.since
 * @ticks: for &pw_rrp_table.heard
 * @mem: memory for the nodes, exchanged for that of the table if it is taken; NULL: that of
 *	the table is used, and what does not fit is refused
 */
struct pw_rrp_link {
	u32 from;
	bool peer;
	bool far;
	u64 now;
	u32 ticks;
	u16 q;
	u32 mtu;
	const u8 *l2rh;
	u32 l2rh_len;
	struct pw_rrp_mem *mem;
};

/* Who a table or an error is passed on to */
enum pw_rrp_tell {
	PW_RRP_TELL_NONE,
	PW_RRP_TELL_NEIGHBOURS,	/* it came from the peer half: to all neighbours */
	PW_RRP_TELL_PEER,	/* it came from a neighbour: to the peer half only */
};

/* What became of a table that was received */
enum pw_rrp_taken {
	PW_RRP_TAKEN,		/* kept; pass it on */
	PW_RRP_LOOP,		/* its RCVF has this half-router */
	PW_RRP_OLD,		/* serial not newer */
	PW_RRP_WORSE,		/* no room for one as bad as this */
	PW_RRP_TOO_LONG,	/* RCVF, CSR or nodes over the limits */
	PW_RRP_MALFORMED,
	PW_RRP_FOREIGN,		/* addresses outside the SAN, or of a table of another SAN */
};

/**
 * struct pw_rrp_route - the best route to a destination
 * @table: where it is from
 * @q: quality of the whole route
 * @mtu: smallest MTU of the route in words, 0 = unlimited
 * @own: the node's own route, L2RHs that follow the table's CSR
 * @own_len: bytes of them
 */
struct pw_rrp_route {
	const struct pw_rrp_table *table;
	u16 q;
	u32 mtu;
	const u8 *own;
	u32 own_len;
};

static inline u16 pw_rrp_q_add(u16 a, u16 b)
{
	return (u32)a + b > PW_RRP_Q_WORST ? PW_RRP_Q_WORST : a + b;
}

/* the smaller of two MTUs, of which 0 is the largest */
static inline u32 pw_rrp_mtu_min(u32 a, u32 b)
{
	return !a || (b && b < a) ? b : a;
}

/* serial numbers go round */
static inline bool pw_rrp_serial_newer(u32 a, u32 b)
{
	return (s32)(a - b) > 0;
}

void pw_rrp_db_init(struct pw_rrp_db *db, u32 me, u32 peer, struct pw_rrp_table *table,
		    u32 ntables, u32 per_san);
int pw_rrp_db_own(struct pw_rrp_db *db, u32 san, u32 serial, u32 mtu, const u8 *nodes, u32 len);
int pw_rrp_check_own(u32 san, const u8 *nodes, u32 len, struct pw_rrp_span *span);
int pw_rrp_db_set_own(struct pw_rrp_db *db, u32 san, u32 serial, u32 mtu, const u8 *nodes,
		      u32 len, const struct pw_rrp_span *span);
enum pw_rrp_taken pw_rrp_check_table(u32 me, const struct pw_rrp_link *link, const u8 *data,
				     size_t len, struct pw_rrp_pieces *p);
enum pw_rrp_taken pw_rrp_db_take(struct pw_rrp_db *db, const struct pw_rrp_link *link,
				 const struct pw_rrp_pieces *p, const struct pw_rrp_table **kept);
enum pw_rrp_taken pw_rrp_db_receive(struct pw_rrp_db *db, const struct pw_rrp_link *link,
				    const u8 *data, size_t len, const struct pw_rrp_table **kept);
const struct pw_rrp_table *pw_rrp_db_own_table(const struct pw_rrp_db *db);
bool pw_rrp_db_shows(const struct pw_rrp_db *db, const struct pw_rrp_table *t);
u32 pw_rrp_export_len(const struct pw_rrp_table *t);
void pw_rrp_export_head(const struct pw_rrp_table *t, u16 part, u16 last, struct pw_rrp_buf *b);
void pw_rrp_db_export(const struct pw_rrp_table *t, struct pw_rrp_buf *b);
bool pw_rrp_gives(const struct pw_rrp_table *t, bool to_peer);
u32 pw_rrp_drop(struct pw_rrp_db *db, struct pw_rrp_table *t);
enum pw_rrp_tell pw_rrp_tell(bool from_peer);
u32 pw_rrp_db_hrdown(struct pw_rrp_db *db, u32 via, u32 hr, u32 other);
u32 pw_rrp_db_linkdown(struct pw_rrp_db *db, u32 via, u32 a, u32 b);
bool pw_rrp_table_lookup(const struct pw_rrp_table *t, u32 addr, struct pw_rrp_route *r);
bool pw_rrp_db_lookup(const struct pw_rrp_db *db, u32 addr, struct pw_rrp_route *best);

#endif /* PW_CORE_RRP_TABLE_H */
