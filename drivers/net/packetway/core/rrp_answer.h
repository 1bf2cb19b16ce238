/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RRP levels B and C: what a half-router answers out of its tables.
 *
 * Messages are as pw_rrp_check_msg() let them pass; answers are records in the
 * caller's buffer. Who may ask, how often and where the answer goes is the
 * caller's to decide.
 *
 * INFO to a TELL lists nodes by address. If there are more than fit, or more than may be
 * looked at, it ends with an ADDR range with nothing inside: nodes of that range were not
 * looked at. Who asks again puts its criteria inside an ADDR with that range: such an ADDR
 * means the nodes of the range that meet one of the criteria inside.
 */
#ifndef PW_CORE_RRP_ANSWER_H
#define PW_CORE_RRP_ANSWER_H

#include "rrp_table.h"

/**
 * struct pw_rrp_access - how a node of the own SAN uses this half-router
 * @l2rh: native route from any node to it, as pw_eep_put_l2rh() writes it
 * @l2rh_len: bytes of it
 * @mtu: of the own SAN in words, 0 = unlimited
 */
struct pw_rrp_access {
	const u8 *l2rh;
	u32 l2rh_len;
	u32 mtu;
};

/* What GVL2 gets */
enum pw_rrp_routes {
	PW_RRP_NO_ROUTE,		/* ERR/UNK */
	PW_RRP_ASK_NEIGHBOUR,	/* RDRC */
	PW_RRP_ROUTES,		/* L2SR */
};

u32 pw_rrp_first_addr(const u8 *data, size_t len);
void pw_rrp_put_unknown(struct pw_rrp_buf *b, const u8 *data, size_t len);
void pw_rrp_put_pair(struct pw_rrp_buf *b, u32 first, u32 second);
enum pw_rrp_routes pw_rrp_answer_gvl2(const struct pw_rrp_db *db, u32 addr,
				      const struct pw_rrp_access *access, u32 max,
				      struct pw_rrp_buf *b, u32 *neighbour);
bool pw_rrp_count_within(const u8 *data, size_t len, u32 max);
int pw_rrp_db_next_san(const struct pw_rrp_db *db, u32 from);
bool pw_rrp_answer_tell(const struct pw_rrp_db *db, u32 i, const u8 *data, size_t len,
			struct pw_rrp_buf *b, u32 *budget, u32 *more);
void pw_rrp_put_more(struct pw_rrp_buf *b, u32 from);

#endif /* PW_CORE_RRP_ANSWER_H */
