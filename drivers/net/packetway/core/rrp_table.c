// SPDX-License-Identifier: GPL-2.0
/* RRP level D: keep, choose, pass on and withdraw routing tables. */
#include "rrp_table.h"

/**
 * pw_rrp_db_init - begin with no tables
 * @db: tables
 * @me: address of this half-router
 * @peer: address of the other half, 0 if there is none
 * @table: memory; @nodes and @nodes_cap of each are set by the caller and kept
 * @ntables: number of tables there
 * @per_san: how many one SAN may take, 0 = any number
 */
void pw_rrp_db_init(struct pw_rrp_db *db, u32 me, u32 peer, struct pw_rrp_table *table,
		    u32 ntables, u32 per_san)
{
	u32 i;

	db->me = me;
	db->peer = peer;
	db->table = table;
	db->ntables = ntables;
	db->per_san = per_san;
	db->gen = 0;
	for (i = 0; i < ntables; i++) {
		table[i].used = false;
		table[i].nodes_len = 0;
	}
}

/* false: not all of them belong to the SAN */
static bool pw_rrp_find_span(u32 san, const u8 *nodes, u32 len, struct pw_rrp_span *span)
{
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;
	u32 last;

	*span = (struct pw_rrp_span) { .lo = U32_MAX };
	pw_rrp_iter_init(&it, nodes, len);
	while (pw_rrp_next(&it, &rec) > 0) {
		if (rec.type != PW_RRP_ADDR)
			continue;
		/* the range of the SAN is the last record: parts of a table end with it, too */
		if (rec.at != PW_RRP_AT_SINGLE && (rec.at != PW_RRP_AT_MIN || it.len))
			return false;
		span->addrs++;
		last = rec.at == PW_RRP_AT_MIN ? rec.addr2 : rec.addr;
		span->range_len = rec.at == PW_RRP_AT_MIN ? rec.size : 0;
		if (rec.addr <= san || last < rec.addr || last > san + PW_RRP_SAN_SPAN ||
		    pw_addr_kind(rec.addr) != PW_ADDR_KIND_PHYS ||
		    pw_addr_kind(last) != PW_ADDR_KIND_PHYS)
			return false;
		span->lo = min(span->lo, rec.addr);
		span->hi = max(span->hi, last);
		if (rec.at == PW_RRP_AT_MIN && !span->min) {
			span->min = rec.addr;
			span->max = last;
		}
	}
	return true;
}

static void pw_rrp_set_nodes(struct pw_rrp_table *t, const struct pw_rrp_span *span,
			     const u8 *nodes, u32 len)
{
	t->lo = span->lo;
	t->hi = span->hi;
	t->min = span->min;
	t->max = span->max;
	t->range_len = span->range_len;
	t->nodes_len = len;
	if (len)
		memcpy(t->nodes, nodes, len);
}

/**
 * pw_rrp_check_own - check a table of the own SAN before it is set
 * @san: address of the SAN
 * @nodes: ADDR records with an SRQR inside each, routes from here
 * @len: bytes of them
 * @span: addresses of the nodes, for pw_rrp_db_set_own()
 *
 * Return: 0; -EINVAL for records that do not belong there; -ENOSPC for too many.
 */
int pw_rrp_check_own(u32 san, const u8 *nodes, u32 len, struct pw_rrp_span *span)
{
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;

	if (san > PW_ADDR_MASK || pw_rrp_check(nodes, len))
		return -EINVAL;
	pw_rrp_iter_init(&it, nodes, len);
	while (pw_rrp_next(&it, &rec) > 0)
		if (rec.type != PW_RRP_ADDR)
			return -EINVAL;
	if (!pw_rrp_find_span(san, nodes, len, span))
		return -EINVAL;
	return span->addrs > PW_RRP_MAX_ADDRS ? -ENOSPC : 0;
}

/**
 * pw_rrp_db_set_own - set or renew the table of this half-router's own SAN
 * @db: tables
 * @san: address of the SAN
 * @serial: serial number, higher than before
 * @mtu: MTU of the SAN in words, 0 = unlimited
 * @nodes: ADDR records that pw_rrp_check_own() let pass
 * @len: bytes of them
 * @span: their addresses
 *
 * Return: 0 or -ENOSPC.
 */
int pw_rrp_db_set_own(struct pw_rrp_db *db, u32 san, u32 serial, u32 mtu, const u8 *nodes,
		      u32 len, const struct pw_rrp_span *span)
{
	struct pw_rrp_table *t = NULL;
	u32 i;

	for (i = 0; i < db->ntables; i++) {
		if (db->table[i].used && db->table[i].own)
			t = &db->table[i];
		else if (!db->table[i].used && !t)
			t = &db->table[i];
		if (t && t->used)
			break;
	}
	if (!t || len > t->nodes_cap)
		return -ENOSPC;
	t->used = true;
	t->own = true;
	t->from_peer = false;
	t->far = false;
	t->fresh = false;
	t->since = 0;
	t->san = san;
	t->serial = serial;
	t->via = PW_ADDR_UNDEF;
	t->mtu = mtu;
	t->q = PW_RRP_Q_BEST;
	t->nrcvf = 1;
	t->rcvf[0] = db->me;
	t->csr_len = 0;
	pw_rrp_set_nodes(t, span, nodes, len);
	db->gen++;
	return 0;
}

/**
 * pw_rrp_db_own - check, then set or renew the table of this half-router's own SAN
 * @db: tables
 * @san: address of the SAN
 * @serial: serial number, higher than before
 * @mtu: MTU of the SAN in words, 0 = unlimited
 * @nodes: ADDR records with an SRQR inside each, routes from here
 * @len: bytes of them
 *
 * Return: 0; -EINVAL for records that do not belong there; -ENOSPC.
 */
int pw_rrp_db_own(struct pw_rrp_db *db, u32 san, u32 serial, u32 mtu, const u8 *nodes, u32 len)
{
	struct pw_rrp_span span;
	int err = pw_rrp_check_own(san, nodes, len, &span);

	return err ? err : pw_rrp_db_set_own(db, san, serial, mtu, nodes, len, &span);
}

/* the four records in front of the nodes */
static bool pw_rrp_split(const u8 *data, size_t len, struct pw_rrp_rec rec[4], const u8 **nodes,
			 u32 *nodes_len)
{
	struct pw_rrp_iter it;
	u32 i;

	if (pw_rrp_check_msg(PW_PT_RRP, PW_TE_RTBL, data, len))
		return false;
	pw_rrp_iter_init(&it, data, len);
	for (i = 0; i < 4; i++)
		pw_rrp_next(&it, &rec[i]);
	*nodes = it.p;
	*nodes_len = it.len;
	return true;
}

/* Is @t the table with RCVF = me + @rcvf? */
static bool pw_rrp_same_route(const struct pw_rrp_table *t, const struct pw_rrp_rec *rcvf)
{
	struct pw_rrp_entry e;
	u32 i;

	if (t->nrcvf != rcvf->data_len / 4 + 1)
		return false;
	for (i = 0; pw_rrp_entry_at(rcvf, i, &e); i++)
		if (t->rcvf[i + 1] != e.addr)
			return false;
	return true;
}

static struct pw_rrp_rank pw_rrp_rank_of(const struct pw_rrp_table *t)
{
	return (struct pw_rrp_rank) { .far = t->far, .q = t->q, .nrcvf = t->nrcvf };
}

/*
 * A worse route passes a trunk where the other does not, has a higher quality number, or
 * goes through more half-routers.
 */
static bool pw_rrp_worse(const struct pw_rrp_table *t, const struct pw_rrp_rank *r)
{
	if (t->far != r->far)
		return t->far;
	return t->q > r->q || (t->q == r->q && t->nrcvf > r->nrcvf);
}

static bool pw_rrp_worse_than(const struct pw_rrp_table *t, const struct pw_rrp_table *o)
{
	struct pw_rrp_rank rank = pw_rrp_rank_of(o);

	return pw_rrp_worse(t, &rank);
}

/*
 * Where a table may go: a free place, or that of one worse than it. The share of
 * its SAN comes first.
 */
static struct pw_rrp_table *pw_rrp_place(struct pw_rrp_db *db, u32 san,
					 const struct pw_rrp_rank *rank)
{
	struct pw_rrp_table *worst = NULL, *worst_san = NULL, *free = NULL;
	u32 i, share = 0;

	for (i = 0; i < db->ntables; i++) {
		struct pw_rrp_table *t = &db->table[i];

		if (!t->used) {
			free = free ? free : t;
			continue;
		}
		if (t->own)
			continue;
		if (!worst || pw_rrp_worse_than(t, worst))
			worst = t;
		if (t->san != san)
			continue;
		share++;
		if (!worst_san || pw_rrp_worse_than(t, worst_san))
			worst_san = t;
	}
	if (db->per_san && share >= db->per_san)
		worst = worst_san;
	else if (free)
		return free;
	return worst && pw_rrp_worse(worst, rank) ? worst : NULL;
}

/**
 * pw_rrp_drop - forget a table
 * @db: tables
 * @t: one of them
 *
 * Return: 1.
 */
u32 pw_rrp_drop(struct pw_rrp_db *db, struct pw_rrp_table *t)
{
	t->used = false;
	t->fresh = false;
	t->nodes_len = 0;
	db->gen++;
	return 1;
}

/*
 * May a table with these addresses be kept? Not if a table of another SAN has some of
 * them already, unless that one came over a trunk and this one did not.
 */
static bool pw_rrp_clear_span(struct pw_rrp_db *db, u32 san, bool far,
			      const struct pw_rrp_span *span)
{
	u32 i, pass;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < db->ntables; i++) {
			struct pw_rrp_table *t = &db->table[i];

			if (!t->used || t->san == san || t->hi < span->lo || t->lo > span->hi)
				continue;
			if (far || !t->far)
				return false;
			if (pass)
				pw_rrp_drop(db, t);
		}
	}
	return true;
}

/**
 * pw_rrp_check_table - take a received table apart
 * @me: address of this half-router
 * @link: the half-router that it came from
 * @data: data block of its RTBL
 * @len: length of that
 * @p: its pieces, for pw_rrp_db_take()
 *
 * Return: PW_RRP_TAKEN, or why it cannot be kept.
 */
enum pw_rrp_taken pw_rrp_check_table(u32 me, const struct pw_rrp_link *link, const u8 *data,
				     size_t len, struct pw_rrp_pieces *p)
{
	const struct pw_rrp_rec *csr = &p->rec[PW_RRP_HEAD_CSR];
	const struct pw_rrp_rec *rcvf = &p->rec[PW_RRP_HEAD_RCVF];
	struct pw_rrp_entry e;
	u32 i;

	if (!pw_rrp_split(data, len, p->rec, &p->nodes, &p->nodes_len))
		return PW_RRP_MALFORMED;
	/* a set of single half-routers, and the sender is the newest */
	for (i = 0; pw_rrp_entry_at(rcvf, i, &e); i++) {
		if (e.at != PW_RRP_AT_SINGLE || (!i && e.addr != link->from))
			return PW_RRP_MALFORMED;
	}
	if (!i)
		return PW_RRP_MALFORMED;
	if (pw_rrp_entries_match(rcvf, me))
		return PW_RRP_LOOP;
	if (i >= PW_RRP_MAX_RCVF || csr->data_len > PW_RRP_MAX_CSR ||
	    link->l2rh_len > PW_RRP_MAX_CSR - csr->data_len)
		return PW_RRP_TOO_LONG;
	if (!pw_rrp_find_span(p->rec[PW_RRP_HEAD_RTHD].addr, p->nodes, p->nodes_len, &p->span))
		return PW_RRP_FOREIGN;
	if (p->span.addrs > PW_RRP_MAX_ADDRS)
		return PW_RRP_TOO_LONG;
	p->rank.far = link->far;
	p->rank.q = pw_rrp_q_add(csr->q, link->q);
	p->rank.nrcvf = rcvf->data_len / 4 + 1;
	return PW_RRP_TAKEN;
}

/* the kept table of the same SAN and the same half-routers, or NULL */
static struct pw_rrp_table *pw_rrp_find_same(const struct pw_rrp_db *db, u32 san,
					     const struct pw_rrp_rec *rcvf)
{
	struct pw_rrp_table *t;
	u32 i;

	for (i = 0; i < db->ntables; i++) {
		t = &db->table[i];
		if (t->used && !t->own && t->san == san && pw_rrp_same_route(t, rcvf))
			return t;
	}
	return NULL;
}

/* @renewed: @t described the same nodes before */
static void pw_rrp_store(struct pw_rrp_db *db, struct pw_rrp_table *t,
			 const struct pw_rrp_link *link, const struct pw_rrp_pieces *p,
			 bool renewed)
{
	const struct pw_rrp_rec *rthd = &p->rec[PW_RRP_HEAD_RTHD];
	const struct pw_rrp_rec *csr = &p->rec[PW_RRP_HEAD_CSR];
	struct pw_rrp_entry e;
	u32 i;

	t->used = true;
	t->own = false;
	t->from_peer = link->peer;
	t->far = link->far;
	t->fresh = true;
	if (!renewed)
		t->since = link->now;
	t->san = rthd->addr;
	t->serial = rthd->serial;
	t->heard = link->ticks;
	t->via = link->from;
	t->mtu = pw_rrp_mtu_min(p->rec[PW_RRP_HEAD_MTUR].mtu, link->mtu);
	t->q = p->rank.q;
	t->rcvf[0] = db->me;
	for (i = 0; pw_rrp_entry_at(&p->rec[PW_RRP_HEAD_RCVF], i, &e); i++)
		t->rcvf[i + 1] = e.addr;
	t->nrcvf = i + 1;
	t->csr_len = link->l2rh_len + csr->data_len;
	if (link->l2rh_len)
		memcpy(t->csr, link->l2rh, link->l2rh_len);
	if (csr->data_len)
		memcpy(t->csr + link->l2rh_len, csr->data, csr->data_len);
	pw_rrp_set_nodes(t, &p->span, p->nodes, p->nodes_len);
	db->gen++;
}

/**
 * pw_rrp_db_take - keep a table from an adjacent half-router
 * @db: tables
 * @link: that half-router, the route there, and memory for the nodes
 * @p: the table, as pw_rrp_check_table() took it apart
 * @kept: the table as it is kept, to be passed on by pw_rrp_tell()
 *
 * Return: what became of it; @kept is set if it was PW_RRP_TAKEN, and for PW_RRP_OLD to the
 * one that is kept.
 */
enum pw_rrp_taken pw_rrp_db_take(struct pw_rrp_db *db, const struct pw_rrp_link *link,
				 const struct pw_rrp_pieces *p, const struct pw_rrp_table **kept)
{
	const struct pw_rrp_rec *rthd = &p->rec[PW_RRP_HEAD_RTHD];
	struct pw_rrp_table *t;
	bool renewed;

	*kept = NULL;
	t = pw_rrp_find_same(db, rthd->addr, &p->rec[PW_RRP_HEAD_RCVF]);
	if (t && !pw_rrp_serial_newer(rthd->serial, t->serial)) {
		*kept = t;
		return PW_RRP_OLD;
	}
	if (!pw_rrp_clear_span(db, rthd->addr, link->far, &p->span))
		return PW_RRP_FOREIGN;
	renewed = t && t->lo == p->span.lo && t->hi == p->span.hi && t->far == link->far;
	if (!t)
		t = pw_rrp_place(db, rthd->addr, &p->rank);
	if (!t)
		return PW_RRP_WORSE;
	if (p->nodes_len > (link->mem ? link->mem->cap : t->nodes_cap))
		return PW_RRP_TOO_LONG;
	if (link->mem) {
		swap(t->nodes, link->mem->p);
		swap(t->nodes_cap, link->mem->cap);
	}
	pw_rrp_store(db, t, link, p, renewed);
	*kept = t;
	return PW_RRP_TAKEN;
}

/**
 * pw_rrp_db_receive - check and keep a table from an adjacent half-router
 * @db: tables
 * @link: that half-router, the route there, and memory for the nodes
 * @data: data block of its RTBL
 * @len: length of that
 * @kept: as in pw_rrp_db_take()
 *
 * Return: what became of it.
 */
enum pw_rrp_taken pw_rrp_db_receive(struct pw_rrp_db *db, const struct pw_rrp_link *link,
				    const u8 *data, size_t len, const struct pw_rrp_table **kept)
{
	struct pw_rrp_pieces p;
	enum pw_rrp_taken err;

	*kept = NULL;
	err = pw_rrp_check_table(db->me, link, data, len, &p);
	return err == PW_RRP_TAKEN ? pw_rrp_db_take(db, link, &p, kept) : err;
}

/**
 * pw_rrp_db_own_table - the table of this half-router's own SAN
 * @db: tables
 *
 * Return: the table or NULL.
 */
const struct pw_rrp_table *pw_rrp_db_own_table(const struct pw_rrp_db *db)
{
	u32 i;

	for (i = 0; i < db->ntables; i++)
		if (db->table[i].used && db->table[i].own)
			return &db->table[i];
	return NULL;
}

/**
 * pw_rrp_db_shows - is this the table by which its SAN is best known?
 * @db: tables
 * @t: one of them
 *
 * Return: true for one table of each SAN.
 */
bool pw_rrp_db_shows(const struct pw_rrp_db *db, const struct pw_rrp_table *t)
{
	u32 i;

	for (i = 0; i < db->ntables; i++) {
		const struct pw_rrp_table *o = &db->table[i];

		if (o != t && o->used && o->san == t->san &&
		    (pw_rrp_worse_than(t, o) || (!pw_rrp_worse_than(o, t) && o < t)))
			return false;
	}
	return true;
}

/**
 * pw_rrp_gives - is a table sent to an adjacent half-router that asks for tables?
 * @t: the table
 * @to_peer: the peer half asks, otherwise a neighbour
 *
 * Return: true for the own table and those of neighbours if the peer half asks, for
 * those of the peer half if a neighbour asks.
 */
bool pw_rrp_gives(const struct pw_rrp_table *t, bool to_peer)
{
	return t->used && (to_peer ? !t->from_peer : !t->own && t->from_peer);
}

/**
 * pw_rrp_export_len - bytes that pw_rrp_db_export() writes
 * @t: the table
 *
 * Return: how many.
 */
u32 pw_rrp_export_len(const struct pw_rrp_table *t)
{
	u32 rthd = 2 * PW_EEP_WORD, srqr = PW_RRP_HDR_LEN + t->csr_len;
	/* the first entry is in the record's header */
	u32 rcvf = PW_RRP_HDR_LEN + round_up(4 * t->nrcvf - 4, PW_EEP_WORD);

	return rthd + srqr + PW_RRP_HDR_LEN + rcvf + t->nodes_len;
}

/**
 * pw_rrp_export_head - write the records in front of the nodes of an RTBL
 * @t: table
 * @part: number of the part
 * @last: number of the last part
 * @b: builder
 */
void pw_rrp_export_head(const struct pw_rrp_table *t, u16 part, u16 last, struct pw_rrp_buf *b)
{
	struct pw_rrp_entry e[PW_RRP_MAX_RCVF];
	u32 i;

	for (i = 0; i < t->nrcvf; i++) {
		e[i].at = PW_RRP_AT_SINGLE;
		e[i].addr = t->rcvf[i];
	}
	pw_rrp_put_rthd_part(b, t->san, t->serial, part, last);
	pw_rrp_put_srqr(b, t->q, t->csr, t->csr_len);
	pw_rrp_put_mtur(b, t->mtu);
	pw_rrp_put_entries(b, PW_RRP_RCVF, e, t->nrcvf);
}

/**
 * pw_rrp_db_export - write a table as the records of one RTBL
 * @t: table
 * @b: builder
 */
void pw_rrp_db_export(const struct pw_rrp_table *t, struct pw_rrp_buf *b)
{
	pw_rrp_export_head(t, 0, 0, b);
	pw_rrp_put_raw(b, t->nodes, t->nodes_len);
}

/**
 * pw_rrp_tell - who a received table or error is passed on to
 * @from_peer: it came from the peer half, otherwise from a neighbour
 *
 * Return: all neighbours, or only the peer half.
 */
enum pw_rrp_tell pw_rrp_tell(bool from_peer)
{
	return from_peer ? PW_RRP_TELL_NEIGHBOURS : PW_RRP_TELL_PEER;
}

/* is a half-router on the route, other than this one? */
static bool pw_rrp_way_has(const struct pw_rrp_table *t, u32 hr)
{
	u32 i;

	for (i = 1; i < t->nrcvf; i++)
		if (t->rcvf[i] == hr)
			return true;
	return false;
}

/**
 * pw_rrp_db_hrdown - a router is gone
 * @db: tables
 * @via: who reports it: only tables that came from there are removed; 0: all
 * @hr: one half of it
 * @other: the other half, or 0
 *
 * Return: number of tables that went; pass the error on if it is not 0.
 */
u32 pw_rrp_db_hrdown(struct pw_rrp_db *db, u32 via, u32 hr, u32 other)
{
	u32 i, n = 0;

	for (i = 0; i < db->ntables; i++) {
		struct pw_rrp_table *t = &db->table[i];

		if (t->used && !t->own && (!via || t->via == via) &&
		    (pw_rrp_way_has(t, hr) || (other && pw_rrp_way_has(t, other))))
			n += pw_rrp_drop(db, t);
	}
	return n;
}

/**
 * pw_rrp_db_linkdown - two half-routers no longer reach each other
 * @db: tables
 * @via: who reports it: only tables that came from there are removed; 0: all
 * @a: one
 * @b: the other
 *
 * Return: number of tables that went; pass the error on if it is not 0.
 */
u32 pw_rrp_db_linkdown(struct pw_rrp_db *db, u32 via, u32 a, u32 b)
{
	u32 i, k, n = 0;

	for (i = 0; i < db->ntables; i++) {
		struct pw_rrp_table *t = &db->table[i];

		if (via && t->via != via)
			continue;
		for (k = 1; t->used && !t->own && k < t->nrcvf; k++) {
			if ((t->rcvf[k - 1] == a && t->rcvf[k] == b) ||
			    (t->rcvf[k - 1] == b && t->rcvf[k] == a))
				n += pw_rrp_drop(db, t);
		}
	}
	return n;
}

/* the ADDR of @t that means @addr, and its SRQR */
static bool pw_rrp_find_node(const struct pw_rrp_table *t, u32 addr, struct pw_rrp_rec *srqr)
{
	struct pw_rrp_iter it, in;
	struct pw_rrp_rec rec;

	pw_rrp_iter_init(&it, t->nodes, t->nodes_len);
	while (pw_rrp_next(&it, &rec) > 0) {
		if (!pw_rrp_addr_match(&rec, addr))
			continue;
		pw_rrp_iter_nested(&in, &rec);
		while (pw_rrp_next(&in, srqr) > 0)
			if (srqr->type == PW_RRP_SRQR)
				return true;
	}
	return false;
}

/**
 * pw_rrp_table_lookup - the route to a destination by one table
 * @t: table
 * @addr: destination
 * @r: the route
 *
 * Return: false if it is not among the nodes there.
 */
bool pw_rrp_table_lookup(const struct pw_rrp_table *t, u32 addr, struct pw_rrp_route *r)
{
	struct pw_rrp_rec srqr;

	if (!t->used || addr < t->lo || addr > t->hi || !pw_rrp_find_node(t, addr, &srqr))
		return false;
	r->table = t;
	r->q = pw_rrp_q_add(t->q, srqr.q);
	r->mtu = t->mtu;
	r->own = srqr.data;
	r->own_len = srqr.data_len;
	return true;
}

static bool pw_rrp_route_better(const struct pw_rrp_route *a, const struct pw_rrp_route *b)
{
	if (a->table->far != b->table->far)
		return b->table->far;
	return a->q != b->q ? a->q < b->q : a->table->nrcvf < b->table->nrcvf;
}

/**
 * pw_rrp_db_lookup - the best route to a destination
 * @db: tables
 * @addr: destination
 * @best: the route
 *
 * A route without a trunk wins, then the least quality number, of equal ones the route
 * through fewer half-routers. If the best route came from a neighbour, that neighbour
 * offers it itself: answer a node that asks with RDRC to @best->table->via.
 *
 * Return: false if there is none.
 */
bool pw_rrp_db_lookup(const struct pw_rrp_db *db, u32 addr, struct pw_rrp_route *best)
{
	struct pw_rrp_route r;
	u32 i;

	best->table = NULL;
	for (i = 0; i < db->ntables; i++) {
		if (!pw_rrp_table_lookup(&db->table[i], addr, &r))
			continue;
		if (best->table && !pw_rrp_route_better(&r, best))
			continue;
		*best = r;
	}
	return best->table;
}
