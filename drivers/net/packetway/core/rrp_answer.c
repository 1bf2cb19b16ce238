// SPDX-License-Identifier: GPL-2.0
/* What a half-router answers out of its tables; see rrp_answer.h. */
#include "rrp_answer.h"

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

	if (!r->table->own && access->l2rh_len <= 8) {
		memcpy(front, access->l2rh, access->l2rh_len);
		len = access->l2rh_len;
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
 * A node that is not known has no route, though its SAN may have.
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

		if (!t->used || t == best.table || t->own || !t->from_peer ||
		    !pw_rrp_table_lookup(t, addr, &r) || !r.own_len)
			continue;
		if (!pw_rrp_try_route(b, access, &r))
			break;
		n++;
	}
	return PW_RRP_ROUTES;
}

/**
 * pw_rrp_count_within - has a message no more than so many records?
 * @data: records
 * @len: bytes of them
 * @max: so many
 *
 * Return: whether it has.
 */
bool pw_rrp_count_within(const u8 *data, size_t len, u32 max)
{
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;
	u32 n = 0;

	pw_rrp_iter_init(&it, data, len);
	while (n <= max && pw_rrp_next(&it, &rec) > 0)
		n++;
	return n <= max;
}

/* one criterion of a TELL against one node */
static bool pw_rrp_fits_node(const struct pw_rrp_rec *want, const struct pw_rrp_rec *node)
{
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;

	if (want->type == PW_RRP_ADDR)
		return pw_rrp_addr_match(want, node->addr);
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
 * pw_rrp_answer_tell - the nodes of one table that fit a description
 * @db: tables
 * @i: which one
 * @data: criteria
 * @len: bytes of them
 * @b: where their INFO goes, as many as fit
 * @budget: nodes that may still be looked at; goes down
 *
 * A SAN is searched in the table by which it is best known.
 *
 * Return: false if the answer is full or the budget is spent.
 */
bool pw_rrp_answer_tell(const struct pw_rrp_db *db, u32 i, const u8 *data, size_t len,
			struct pw_rrp_buf *b, u32 *budget)
{
	const struct pw_rrp_table *t = &db->table[i];
	struct pw_rrp_iter it;
	struct pw_rrp_rec node;

	if (!t->used || !pw_rrp_db_shows(db, t))
		return true;
	pw_rrp_iter_init(&it, t->nodes, t->nodes_len);
	while (pw_rrp_next(&it, &node) > 0) {
		if (!*budget)
			return false;
		--*budget;
		if (node.type == PW_RRP_ADDR && node.at == PW_RRP_AT_SINGLE &&
		    pw_rrp_wanted(data, len, &node) && !pw_rrp_put_described(b, &node))
			return false;
	}
	return true;
}

/**
 * pw_rrp_db_groups - the groups that nodes behind the peer half are in
 * @db: tables
 * @own_san: SAN of this half-router: its nodes are not behind anything
 * @addr: where to put them, in order and each once
 * @max: room there; what does not fit is left out
 *
 * Return: how many there are.
 */
u32 pw_rrp_db_groups(const struct pw_rrp_db *db, u32 own_san, u32 *addr, u32 max)
{
	u32 i, k, pos, n = 0;

	for (i = 0; i < db->ntables; i++) {
		const struct pw_rrp_table *t = &db->table[i];

		if (!t->used || t->own || !t->from_peer || t->san == own_san)
			continue;
		/* both are sorted: the search goes on where the last one ended */
		for (k = 0, pos = 0; k < t->ngroups; k++) {
			while (pos < n && addr[pos] < t->group[k])
				pos++;
			if (n == max || (pos < n && addr[pos] == t->group[k]))
				continue;
			memmove(addr + pos + 1, addr + pos, (n - pos) * sizeof(*addr));
			addr[pos] = t->group[k];
			n++;
		}
	}
	return n;
}
