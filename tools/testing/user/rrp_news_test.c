// SPDX-License-Identifier: GPL-2.0
/*
 * What a half-router says that it gives: a sender whose tables come, change and go, and a
 * receiver that loses messages. After a question that is answered, three if its room is short,
 * the receiver has what the sender has, but for what it refuses, and asks no more.
 */
#include "rrp_news.h"
#include "tap.h"

#define TABLES 12
#define SANS 16
#define BYTES 64

struct half {
	struct pw_rrp_db db;
	struct pw_rrp_table table[TABLES];
	u8 nodes[TABLES][BYTES];
};

static struct half sender, receiver;
static struct pw_rrp_heard heard;
static unsigned long long seed = 7;
static u32 serial[SANS];
static u8 msg[4096];

static void init(struct half *h, u32 me, u32 peer, u32 n)
{
	memset(h, 0, sizeof(*h));
	for (u32 i = 0; i < TABLES; i++) {
		h->table[i].nodes = h->nodes[i];
		h->table[i].nodes_cap = BYTES;
	}
	pw_rrp_db_init(&h->db, me, peer, h->table, n, 4);
}

/* a table of a SAN reaches the sender from its neighbour 3 */
static void learn(u32 san)
{
	struct pw_rrp_link link = { .from = 3, .q = 1, .l2rh = (const u8 *)"\0\201\1\0\0\0\0\0",
				    .l2rh_len = 8 };
	struct pw_rrp_entry e = { PW_RRP_AT_SINGLE, 3 };
	const struct pw_rrp_table *kept;
	struct pw_rrp_buf b;

	pw_rrp_buf_init(&b, msg, sizeof(msg));
	pw_rrp_put_rthd(&b, san << 8, ++serial[san]);
	/* worse ones are the first that a receiver without room refuses */
	pw_rrp_put_srqr(&b, san, NULL, 0);
	pw_rrp_put_mtur(&b, 0);
	pw_rrp_put_entries(&b, PW_RRP_RCVF, &e, 1);
	pw_rrp_put_addr(&b, PW_RRP_AT_MIN, (san << 8) + 1, (san << 8) + 16);
	pw_rrp_put_srqr(&b, 0x100, NULL, 0);
	pw_rrp_db_receive(&sender.db, &link, msg, pw_rrp_buf_done(&b), &kept);
}

/* the receiver gets table @i of the sender */
static void push(u32 i)
{
	struct pw_rrp_link link = { .from = 5, .peer = true, .q = 1 };
	const struct pw_rrp_table *kept;
	struct pw_rrp_buf b;
	int len;

	pw_rrp_buf_init(&b, msg, sizeof(msg));
	pw_rrp_db_export(&sender.table[i], &b);
	len = pw_rrp_buf_done(&b);
	switch (pw_rrp_db_receive(&receiver.db, &link, msg, len, &kept)) {
	case PW_RRP_TAKEN:
		pw_rrp_news_taken(&heard);
		break;
	case PW_RRP_OLD:
		if (kept->serial == sender.table[i].serial)
			break;
		/* fall through */
	default:
		pw_rrp_news_refused(&heard, msg, len);
	}
}

static bool list(u32 *dropped)
{
	struct pw_rrp_news news;
	struct pw_rrp_buf b;
	int len;

	pw_rrp_buf_init(&b, msg, sizeof(msg));
	pw_rrp_put_news(&b, &sender.db, true, true);
	len = pw_rrp_buf_done(&b);
	if (pw_rrp_check_msg(PW_PT_RRP, PW_TE_INFO, msg, len) ||
	    !pw_rrp_news_parse(msg, len, 5, &news) || !news.list ||
	    news.sum != pw_rrp_news_sum(&sender.db, true)) {
		ok(0, "a list is sound");
		return false;
	}
	return pw_rrp_news_take(&receiver.db, 5, 1000, 10, &news, &heard, dropped);
}

static void answer(void)
{
	heard.refused = 0;
	for (u32 i = 0; i < TABLES; i++)
		if (pw_rrp_gives(&sender.table[i], true))
			push(i);
}

/* tables of the receiver that the sender does not have like this */
static u32 wrong(void)
{
	u32 n = 0, k;

	for (u32 i = 0; i < receiver.db.ntables; i++) {
		const struct pw_rrp_table *t = &receiver.table[i];

		if (!t->used)
			continue;
		for (k = 0; k < TABLES; k++)
			if (sender.table[k].used && sender.table[k].san == t->san &&
			    sender.table[k].serial == t->serial)
				break;
		n += k == TABLES;
	}
	return n;
}

static u32 used(const struct half *h)
{
	u32 n = 0;

	for (u32 i = 0; i < h->db.ntables; i++)
		n += h->table[i].used;
	return n;
}

/* @room: tables that the receiver may keep */
static void lossy(u32 room)
{
	u32 bad = 0, asked = 0, again = 0, quiet = 0, dropped, i;
	const u32 turns = 2000;

	init(&sender, 5, 9, TABLES);
	init(&receiver, 9, 5, room);
	memset(&heard, 0, sizeof(heard));
	for (u32 turn = 0; turn < turns; turn++) {
		for (u32 n = tap_rand(&seed) % 6; n; n--) {
			u32 san = 1 + tap_rand(&seed) % (SANS - 1);

			if (tap_rand(&seed) % 4)
				learn(san);
			else
				for (i = 0; i < TABLES; i++)
					if (sender.table[i].used && sender.table[i].san == san << 8)
						pw_rrp_drop(&sender.db, &sender.table[i]);
			for (i = 0; i < TABLES; i++) {
				if (sender.table[i].fresh && tap_rand(&seed) % 10 < 7)
					push(i);
				sender.table[i].fresh = false;
			}
		}
		/* the list may be lost as well */
		if (tap_rand(&seed) % 10 < 7)
			list(&dropped);
		if (heard.sum == pw_rrp_news_sum(&sender.db, true)) {
			quiet++;
		} else {
			asked++;
			answer();
			/*
			 * Tables that had no room may have it after the list, and then take the
			 * place of others.
			 */
			for (i = 0; !list(&dropped) && i < 2; i++) {
				again++;
				answer();
			}
		}
		bad += heard.sum != pw_rrp_news_sum(&sender.db, true);
		bad += wrong() || used(&receiver) != min(used(&sender), room);
		/* the same again changes nothing */
		answer();
		bad += !list(&dropped) || dropped;
	}
	ok(!bad, "room for %u: an answer makes them agree", room);
	diag("%u turns: asked %u times, %u times again; %u times nothing was missing", turns,
	     asked, again, quiet);
	ok(asked && (quiet || room < TABLES), "both happen");
}

static void guards(void)
{
	struct pw_rrp_news news;
	struct pw_rrp_buf b;
	u32 dropped;
	int len;

	init(&sender, 5, 9, TABLES);
	init(&receiver, 9, 5, TABLES);
	memset(&heard, 0, sizeof(heard));
	is(pw_rrp_news_sum(&sender.db, true), 1, "no tables: a sum that is not 0");
	pw_rrp_buf_init(&b, msg, sizeof(msg));
	pw_rrp_put_news(&b, &sender.db, true, true);
	len = pw_rrp_buf_done(&b);
	learn(2);
	for (u32 i = 0; i < TABLES; i++)
		if (sender.table[i].used)
			push(i);
	/* push() wrote over msg: the list from before comes late */
	pw_rrp_buf_init(&b, msg, sizeof(msg));
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, 5, 0);
	pw_rrp_put_capa(&b, PW_CAPA_TABLES, (const u8 *)"\1\0\0\0\1", 5);
	is(pw_rrp_buf_done(&b), len, "an empty list");
	ok(pw_rrp_news_parse(msg, len, 5, &news), "is one");
	ok(!pw_rrp_news_parse(msg, len, 6, &news), "but not of another half-router");
	ok(pw_rrp_news_parse(msg, len, 5, &news) && news.list && !news.n, "without entries");
	receiver.table[0].heard = 995;
	ok(!pw_rrp_news_take(&receiver.db, 5, 1000, 10, &news, &heard, &dropped) && !dropped,
	   "a list that is late takes no table that just came");
	receiver.table[0].heard = 900;
	ok(pw_rrp_news_take(&receiver.db, 5, 1000, 10, &news, &heard, &dropped) && dropped == 1,
	   "an old one goes");
	pw_rrp_buf_init(&b, msg, sizeof(msg));
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, 5, 0);
	pw_rrp_put_capa(&b, PW_CAPA_TABLES, (const u8 *)"\1\0\0\0\1", 4);
	ok(!pw_rrp_news_parse(msg, pw_rrp_buf_done(&b), 5, &news), "cut news are none");
	pw_rrp_buf_init(&b, msg, sizeof(msg));
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, 5, 0);
	pw_rrp_put_capa(&b, PW_CAPA_TABLES, (const u8 *)"\1\0\0\0\0", 5);
	ok(!pw_rrp_news_parse(msg, pw_rrp_buf_done(&b), 5, &news), "nor is a sum of 0");
}

int main(void)
{
	lossy(TABLES);
	lossy(5);
	guards();
	return tap_done();
}
