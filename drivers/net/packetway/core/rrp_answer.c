// SPDX-License-Identifier: GPL-2.0
/* What a half-router answers out of its tables; see rrp_answer.h. */
#include "rrp_answer.h"

#define PW_RRP_TELL_UNIT	256	/* bytes of a description that cost as much as a node */

/**
 * pw_rrp_first_addr - the node that a message is about
 * @data: records
 * @len: bytes of them
 *
 * Return: its address; 0 if the message does not begin with one node.
 */
u32 pw_rrp_first_addr(const u8 *data, size_t len)
{
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;

	pw_rrp_iter_init(&it, data, len);
	if (pw_rrp_next(&it, &rec) <= 0 || rec.type != PW_RRP_ADDR ||
	    rec.at != PW_RRP_AT_SINGLE)
		return PW_ADDR_UNDEF;
	return rec.addr;
}

/**
 * pw_rrp_put_unknown - the record of a question that nothing is known about
 * @b: builder
 * @data: records of the question
 * @len: bytes of them
 */
void pw_rrp_put_unknown(struct pw_rrp_buf *b, const u8 *data, size_t len)
{
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;

	pw_rrp_iter_init(&it, data, len);
	if (pw_rrp_next(&it, &rec) > 0)
		pw_rrp_put_raw(b, rec.raw, rec.size);
}

/**
 * pw_rrp_put_pair - two addresses, as RDRC, HRDOWN and LINKDOWN have them
 * @b: builder
 * @first: one
 * @second: the other
 */
void pw_rrp_put_pair(struct pw_rrp_buf *b, u32 first, u32 second)
{
	pw_rrp_put_addr(b, PW_RRP_AT_SINGLE, first, 0);
	pw_rrp_put_addr(b, PW_RRP_AT_SINGLE, second, 0);
}

/* one route with everything that a node of the own SAN has to put in front */
static void pw_rrp_put_route(struct pw_rrp_buf *b, const struct pw_rrp_access *access,
			     const struct pw_rrp_route *r)
{
	u8 front[8 + PW_RRP_MAX_CSR];
	u32 len = 0;

	/* a route of a neighbour begins there, whichever node of the SAN takes it */
	if (!r->table->own && r->table->from_peer && access->l2rh_len <= 8) {
		memcpy(front, access->l2rh, access->l2rh_len);
		len = access->l2rh_len;
	}
	if (!r->table->own) {
		memcpy(front + len, r->table->csr, r->table->csr_len);
		len += r->table->csr_len;
	}
	pw_rrp_put_srqr2(b, r->q, front, len, r->own, r->own_len);
	pw_rrp_put_mtur(b, pw_rrp_mtu_min(r->mtu, access->mtu));
}

/* one more route in the ADDR that is open, or all as it was if it does not fit */
static bool pw_rrp_try_route(struct pw_rrp_buf *b, const struct pw_rrp_access *access,
			     const struct pw_rrp_route *r)
{
	struct pw_rrp_buf save = *b;
	u8 *addr = b->out + b->open - 1;
	u16 words = get_unaligned_be16(addr + PW_RRP_OFF_RL);

	pw_rrp_put_route(b, access, r);
	if (!b->err)
		return true;
	/* the ADDR counts what is inside */
	put_unaligned_be16(words, addr + PW_RRP_OFF_RL);
	*b = save;
	return false;
}

/**
 * pw_rrp_answer_gvl2 - L2 routes to a node, for nodes of the own SAN
 * @db: tables
 * @addr: the node
 * @access: how the one who asks reaches this half-router
 * @max: routes in the answer at most, the best one first
 * @b: where the records of L2SR go, if there are any
 * @neighbour: for PW_RRP_ASK_NEIGHBOUR: who has the best route
 *
 * A node that is not known has no route, though its SAN may have. Routes of neighbours
 * follow too; if one of them is the best, the neighbour is asked.
 *
 * Return: what the answer is.
 */
enum pw_rrp_routes pw_rrp_answer_gvl2(const struct pw_rrp_db *db, u32 addr,
				      const struct pw_rrp_access *access, u32 max,
				      struct pw_rrp_buf *b, u32 *neighbour)
{
	struct pw_rrp_route best, r;
	u32 i, n = 1;

	if (!pw_rrp_db_lookup(db, addr, &best) || !best.own_len)
		return PW_RRP_NO_ROUTE;
	if (!best.table->own && !best.table->from_peer) {
		*neighbour = best.table->via;
		return PW_RRP_ASK_NEIGHBOUR;
	}
	pw_rrp_put_addr(b, PW_RRP_AT_SINGLE, addr, 0);
	pw_rrp_put_route(b, access, &best);
	for (i = 0; i < db->ntables && n < max; i++) {
		const struct pw_rrp_table *t = &db->table[i];

		if (!t->used || t == best.table || t->own ||
		    !pw_rrp_table_lookup(t, addr, &r) || !r.own_len)
			continue;
		/* a shorter one may fit */
		n += pw_rrp_try_route(b, access, &r);
	}
	return PW_RRP_ROUTES;
}

/* records of a row, those inside of ADDRs included; stops above @max */
static u32 pw_rrp_count(struct pw_rrp_iter *it, u32 max)
{
	struct pw_rrp_rec rec, sub;
	struct pw_rrp_iter in;
	u32 n = 0;

	while (n <= max && pw_rrp_next(it, &rec) > 0) {
		n++;
		if (rec.type != PW_RRP_ADDR)
			continue;
		pw_rrp_iter_nested(&in, &rec);
		while (n <= max && pw_rrp_next(&in, &sub) > 0)
			n++;
	}
	return n;
}

/**
 * pw_rrp_count_within - has a message no more than so many records?
 * @data: records
 * @len: bytes of them
 * @max: so many, those inside of ADDRs included
 *
 * Return: whether it has.
 */
bool pw_rrp_count_within(const u8 *data, size_t len, u32 max)
{
	struct pw_rrp_iter it;

	pw_rrp_iter_init(&it, data, len);
	return pw_rrp_count(&it, max) <= max;
}

/* a NAME or CAPA of a TELL against one node */
static bool pw_rrp_fits_record(const struct pw_rrp_rec *want, const struct pw_rrp_rec *node)
{
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;

	pw_rrp_iter_nested(&it, node);
	while (pw_rrp_next(&it, &rec) > 0) {
		if (rec.type != want->type)
			continue;
		if (rec.type == PW_RRP_NAME && rec.data_len == want->data_len &&
		    !memcmp(rec.data, want->data, rec.data_len))
			return true;
		/* parameters that are given must be there */
		if (rec.type == PW_RRP_CAPA && rec.code == want->code &&
		    rec.data_len >= want->data_len &&
		    !memcmp(rec.data, want->data, want->data_len))
			return true;
	}
	return false;
}

/* one criterion of a TELL against one node */
static bool pw_rrp_fits_node(const struct pw_rrp_rec *want, const struct pw_rrp_rec *node)
{
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;

	if (want->type != PW_RRP_ADDR)
		return pw_rrp_fits_record(want, node);
	if (!pw_rrp_addr_match(want, node->addr))
		return false;
	pw_rrp_iter_nested(&it, want);
	while (pw_rrp_next(&it, &rec) > 0)
		if (pw_rrp_fits_record(&rec, node))
			return true;
	return !want->data_len;
}

/* criteria are OR-ed */
static bool pw_rrp_wanted(const u8 *data, size_t len, const struct pw_rrp_rec *node)
{
	struct pw_rrp_iter it;
	struct pw_rrp_rec want;

	pw_rrp_iter_init(&it, data, len);
	while (pw_rrp_next(&it, &want) > 0)
		if (pw_rrp_fits_node(&want, node))
			return true;
	return false;
}

/* Can a node with one of these addresses be meant? */
static bool pw_rrp_may_want(const u8 *data, size_t len, u32 lo, u32 hi)
{
	struct pw_rrp_iter it;
	struct pw_rrp_rec want;

	pw_rrp_iter_init(&it, data, len);
	while (pw_rrp_next(&it, &want) > 0) {
		if (want.type != PW_RRP_ADDR || want.at == PW_RRP_AT_VALUE)
			return true;
		if (want.addr <= hi && (want.at == PW_RRP_AT_MIN ? want.addr2 : want.addr) >= lo)
			return true;
	}
	return false;
}

/* a node without its route; false if it does not fit */
static bool pw_rrp_put_described(struct pw_rrp_buf *b, const struct pw_rrp_rec *node)
{
	struct pw_rrp_buf save = *b;
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;

	pw_rrp_put_addr(b, PW_RRP_AT_SINGLE, node->addr, 0);
	pw_rrp_iter_nested(&it, node);
	while (pw_rrp_next(&it, &rec) > 0)
		if (rec.type != PW_RRP_SRQR)
			pw_rrp_put_copy(b, &rec);
	pw_rrp_end_addr(b);
	if (!b->err)
		return true;
	*b = save;
	return false;
}

/**
 * pw_rrp_db_next_san - the first SAN from an address on
 * @db: tables
 * @from: least address of the SAN
 *
 * Return: the table by which that SAN is best known, or -1.
 */
int pw_rrp_db_next_san(const struct pw_rrp_db *db, u32 from)
{
	int best = -1;
	u32 i;

	for (i = 0; i < db->ntables; i++) {
		const struct pw_rrp_table *t = &db->table[i];

		if (t->used && t->san >= from && (best < 0 || t->san < db->table[best].san) &&
		    pw_rrp_db_shows(db, t))
			best = i;
	}
	return best;
}

/**
 * pw_rrp_answer_tell - the nodes of one table that fit a description
 * @db: tables
 * @i: which one
 * @data: criteria
 * @len: bytes of them
 * @b: where their INFO goes, as many as fit
 * @budget: nodes that may still be looked at; goes down, by more for long descriptions
 * @more: first address that was not looked at
 *
 * A SAN is searched in the table by which it is best known. Of a node with several ADDRs
 * the first one counts. One that does not fit an empty answer is told by its address alone.
 *
 * Return: false, with @more, if the answer is full or the budget is spent.
 */
bool pw_rrp_answer_tell(const struct pw_rrp_db *db, u32 i, const u8 *data, size_t len,
			struct pw_rrp_buf *b, u32 *budget, u32 *more)
{
	const struct pw_rrp_table *t = &db->table[i];
	u32 before = PW_ADDR_UNDEF;
	struct pw_rrp_iter it;
	struct pw_rrp_rec node;

	if (!t->used || !pw_rrp_db_shows(db, t) || !pw_rrp_may_want(data, len, t->lo, t->hi))
		return true;
	pw_rrp_iter_init(&it, t->nodes, t->nodes_len);
	while (pw_rrp_next(&it, &node) > 0) {
		if (node.type != PW_RRP_ADDR || node.at != PW_RRP_AT_SINGLE ||
		    node.addr == before)
			continue;
		before = node.addr;
		/* those of earlier answers cost nothing */
		if (!pw_rrp_may_want(data, len, node.addr, node.addr))
			continue;
		*more = node.addr;
		if (!*budget)
			return false;
		*budget -= min(*budget, 1 + node.data_len / PW_RRP_TELL_UNIT);
		if (!pw_rrp_wanted(data, len, &node) || pw_rrp_put_described(b, &node))
			continue;
		if (b->len)
			return false;
		pw_rrp_put_addr(b, PW_RRP_AT_SINGLE, node.addr, 0);
		pw_rrp_end_addr(b);
	}
	return true;
}

/**
 * pw_rrp_put_more - say that there are more nodes
 * @b: builder
 * @from: first address that was not looked at
 */
void pw_rrp_put_more(struct pw_rrp_buf *b, u32 from)
{
	pw_rrp_end_addr(b);
	pw_rrp_put_addr(b, PW_RRP_AT_MIN, from, PW_ADDR_HEYYOU - 1);
}
