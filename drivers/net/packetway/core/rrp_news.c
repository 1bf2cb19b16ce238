// SPDX-License-Identifier: GPL-2.0
/* RRP: lists of tables, and sums of them; see rrp_news.h. */
#include "rrp_news.h"

/* one table, as a list has it */
struct pw_rrp_listed {
	u32 san;
	u32 serial;
	u32 hash;
};

static u32 pw_rrp_hash_addr(u32 crc, u32 addr)
{
	u8 b[4];

	put_unaligned_be32(addr, b);
	return crc32c(crc, b, sizeof(b));
}

/* how its sender lists a table that was taken (@taken), or as it is listed here */
static struct pw_rrp_listed pw_rrp_list_table(const struct pw_rrp_table *t, bool taken)
{
	struct pw_rrp_listed e = { .san = t->san, .serial = t->serial, .hash = ~0U };
	u32 i;

	for (i = taken; i < t->nrcvf; i++)
		e.hash = pw_rrp_hash_addr(e.hash, t->rcvf[i]);
	return e;
}

static u32 pw_rrp_listed_mix(const struct pw_rrp_listed *e)
{
	u32 crc = pw_rrp_hash_addr(~0U, e->san);

	return pw_rrp_hash_addr(pw_rrp_hash_addr(crc, e->serial), e->hash);
}

/**
 * pw_rrp_news_sum - sum up the tables that an adjacent half-router gets
 * @db: tables
 * @to_peer: the peer half, otherwise a neighbour
 *
 * Return: the sum, not 0.
 */
u32 pw_rrp_news_sum(const struct pw_rrp_db *db, bool to_peer)
{
	struct pw_rrp_listed e;
	u32 i, sum = 0;

	for (i = 0; i < db->ntables; i++) {
		if (!pw_rrp_gives(&db->table[i], to_peer))
			continue;
		e = pw_rrp_list_table(&db->table[i], false);
		sum += pw_rrp_listed_mix(&e);
	}
	return sum ? sum : 1;
}

/**
 * pw_rrp_put_news - say what an adjacent half-router gets
 * @b: builder
 * @db: tables
 * @to_peer: the peer half, otherwise a neighbour
 * @list: with the list
 */
void pw_rrp_put_news(struct pw_rrp_buf *b, const struct pw_rrp_db *db, bool to_peer, bool list)
{
	u8 head[PW_RRP_NEWS_HDR] = { list ? PW_RRP_NEWS_LIST : 0 };
	struct pw_rrp_listed e;
	u32 i, n = 0;
	u8 *p;

	for (i = 0; list && i < db->ntables; i++)
		n += pw_rrp_gives(&db->table[i], to_peer);
	put_unaligned_be32(pw_rrp_news_sum(db, to_peer), head + 1);
	pw_rrp_put_addr(b, PW_RRP_AT_SINGLE, db->me, 0);
	p = pw_rrp_put_capa_room(b, PW_CAPA_TABLES, sizeof(head) + n * PW_RRP_NEWS_ENTRY);
	if (!p)
		return;
	memcpy(p, head, sizeof(head));
	p += sizeof(head);
	for (i = 0; n && i < db->ntables; i++) {
		if (!pw_rrp_gives(&db->table[i], to_peer))
			continue;
		e = pw_rrp_list_table(&db->table[i], false);
		put_unaligned_be32(e.san, p);
		put_unaligned_be32(e.serial, p + 4);
		put_unaligned_be32(e.hash, p + 8);
		p += PW_RRP_NEWS_ENTRY;
	}
}

/**
 * pw_rrp_news_parse - what a half-router says that it gives
 * @data: records of an INFO that pw_rrp_check_msg() let pass
 * @len: bytes of them
 * @from: who sent it; news are about the sender
 * @news: what it says
 *
 * Return: false if these are no news.
 */
bool pw_rrp_news_parse(const u8 *data, size_t len, u32 from, struct pw_rrp_news *news)
{
	struct pw_rrp_iter it, in;
	struct pw_rrp_rec rec;

	pw_rrp_iter_init(&it, data, len);
	if (pw_rrp_next(&it, &rec) <= 0 || rec.type != PW_RRP_ADDR ||
	    rec.at != PW_RRP_AT_SINGLE || rec.addr != from)
		return false;
	pw_rrp_iter_nested(&in, &rec);
	while (pw_rrp_next(&in, &rec) > 0) {
		if (rec.type != PW_RRP_CAPA || rec.code != PW_CAPA_TABLES ||
		    rec.data_len < PW_RRP_NEWS_HDR)
			continue;
		news->list = rec.data[0] & PW_RRP_NEWS_LIST;
		news->sum = get_unaligned_be32(rec.data + 1);
		news->entry = rec.data + PW_RRP_NEWS_HDR;
		news->n = (rec.data_len - PW_RRP_NEWS_HDR) / PW_RRP_NEWS_ENTRY;
		return news->sum && news->n <= PW_RRP_NEWS_MAX;
	}
	return false;
}

/**
 * pw_rrp_news_refused - a table of an adjacent half-router is not kept
 * @heard: of that one
 * @data: records of the RTBL that pw_rrp_check_msg() let pass
 * @len: bytes of them
 */
void pw_rrp_news_refused(struct pw_rrp_heard *heard, const u8 *data, size_t len)
{
	struct pw_rrp_listed e = { .hash = ~0U };
	struct pw_rrp_entry hr;
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;
	u32 i;

	pw_rrp_iter_init(&it, data, len);
	while (pw_rrp_next(&it, &rec) > 0) {
		if (rec.type == PW_RRP_RTHD) {
			e.san = rec.addr;
			e.serial = rec.serial;
		}
		for (i = 0; rec.type == PW_RRP_RCVF && pw_rrp_entry_at(&rec, i, &hr); i++)
			e.hash = pw_rrp_hash_addr(e.hash, hr.addr);
		if (rec.type == PW_RRP_RCVF)
			break;
	}
	heard->refused += pw_rrp_listed_mix(&e);
}

static struct pw_rrp_listed pw_rrp_news_entry(const struct pw_rrp_news *news, u32 i)
{
	const u8 *p = news->entry + i * PW_RRP_NEWS_ENTRY;

	return (struct pw_rrp_listed) {
		.san = get_unaligned_be32(p), .serial = get_unaligned_be32(p + 4),
		.hash = get_unaligned_be32(p + 8),
	};
}

/* Does the list have this table, in whatever version? */
static bool pw_rrp_news_has(const struct pw_rrp_news *news, const struct pw_rrp_listed *e)
{
	struct pw_rrp_listed l;
	u32 i;

	for (i = 0; i < news->n; i++) {
		l = pw_rrp_news_entry(news, i);
		if (l.san == e->san && l.hash == e->hash)
			return true;
	}
	return false;
}

/* Is this version of a table kept? */
static bool pw_rrp_news_kept(const struct pw_rrp_db *db, u32 from, const struct pw_rrp_listed *e)
{
	struct pw_rrp_listed l;
	u32 i;

	for (i = 0; i < db->ntables; i++) {
		const struct pw_rrp_table *t = &db->table[i];

		if (!t->used || t->own || t->via != from || t->san != e->san ||
		    t->serial != e->serial)
			continue;
		l = pw_rrp_list_table(t, true);
		if (l.hash == e->hash)
			return true;
	}
	return false;
}

/**
 * pw_rrp_news_take - a list of all tables that an adjacent half-router gives
 * @db: tables
 * @from: that half-router
 * @now: time, in ticks of the caller
 * @guard: tables that came less than so many ticks ago stay: on a trunk a list may be late
 * @news: its list
 * @heard: what was heard of it; the sum is confirmed if everything is here
 * @dropped: tables that went
 *
 * Return: whether the sum is confirmed; otherwise ask for all tables.
 */
bool pw_rrp_news_take(struct pw_rrp_db *db, u32 from, u32 now, u32 guard,
		      const struct pw_rrp_news *news, struct pw_rrp_heard *heard, u32 *dropped)
{
	struct pw_rrp_listed e;
	bool spared = false;
	u32 i, missing = 0;

	*dropped = 0;
	for (i = 0; i < db->ntables; i++) {
		struct pw_rrp_table *t = &db->table[i];

		if (!t->used || t->own || t->via != from)
			continue;
		e = pw_rrp_list_table(t, true);
		if (pw_rrp_news_has(news, &e))
			continue;
		if (now - t->heard < guard)
			spared = true;
		else
			*dropped += pw_rrp_drop(db, t);
	}
	for (i = 0; i < news->n; i++) {
		e = pw_rrp_news_entry(news, i);
		if (!pw_rrp_news_kept(db, from, &e))
			missing += pw_rrp_listed_mix(&e);
	}
	/* what is refused again and again counts once */
	if (!spared && heard->sum == news->sum)
		heard->refused = missing;
	/* what was refused may have room now */
	if (spared || missing != heard->refused || (*dropped && missing))
		return false;
	heard->sum = news->sum;
	return true;
}
