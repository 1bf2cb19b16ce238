/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RRP: what an adjacent half-router should have, so that lost messages are noticed.
 *
 * A half-router gives the same tables to its peer half, and the same to all neighbours. It
 * sums these up in one number (the sum), which it says again and again: in the hellos of a
 * trunk, and to neighbours in an INFO about itself. After tables it says the list of all that
 * it gives. Both are a CAPA of code PW_CAPA_TABLES: a byte of flags, the sum, and with
 * PW_RRP_NEWS_LIST the list, of each table the address of its SAN, its serial and a hash of
 * its RCVF.
 *
 * Who gets a list drops the tables of the sender that are not in it. If it has all others, or
 * has refused them, the sum counts as confirmed. Who hears a sum that it has not confirmed
 * asks for all tables (GVRT). So the loss of any message, also of HRDOWN, lasts until the next
 * sum is heard and its question is answered.
 */
#ifndef PW_CORE_RRP_NEWS_H
#define PW_CORE_RRP_NEWS_H

#include "rrp_table.h"

#define PW_RRP_NEWS_LIST	1
#define PW_RRP_NEWS_HDR		5	/* flags, sum */
#define PW_RRP_NEWS_ENTRY	12	/* SAN, serial, hash */
#define PW_RRP_NEWS_MAX		256	/* entries of a list */

/**
 * struct pw_rrp_news - what a half-router says that it gives
 * @sum: of all tables, never 0
 * @list: the list is there
 * @n: entries of the list
 * @entry: where they are
 */
struct pw_rrp_news {
	u32 sum;
	bool list;
	u32 n;
	const u8 *entry;
};

/**
 * struct pw_rrp_heard - what was heard of an adjacent half-router
 * @sum: sum that is confirmed, 0: none
 * @refused: tables that were refused since it was asked last, summed up
 */
struct pw_rrp_heard {
	u32 sum;
	u32 refused;
};

u32 pw_rrp_news_sum(const struct pw_rrp_db *db, bool to_peer);
void pw_rrp_put_news(struct pw_rrp_buf *b, const struct pw_rrp_db *db, bool to_peer, bool list);
bool pw_rrp_news_parse(const u8 *data, size_t len, u32 from, struct pw_rrp_news *news);
/* a table was taken: what it replaces, or adds, is not in the list that was confirmed */
static inline void pw_rrp_news_taken(struct pw_rrp_heard *heard)
{
	heard->sum = 0;
}

void pw_rrp_news_refused(struct pw_rrp_heard *heard, const u8 *data, size_t len);
bool pw_rrp_news_take(struct pw_rrp_db *db, u32 from, u32 now, u32 guard,
		      const struct pw_rrp_news *news, struct pw_rrp_heard *heard, u32 *dropped);

#endif /* PW_CORE_RRP_NEWS_H */
