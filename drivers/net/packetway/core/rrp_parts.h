/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RRP tables that are longer than a message: cut into parts, put together again.
 *
 * RTHD of every part carries the number of the part and of the last one; a table that
 * fits one message has 0 for both. A part holds whole ADDR records, and the records in
 * front of the nodes are those of the table. If the last ADDR of a table is the range of
 * its SAN, every part ends with it: each part is a table by itself, so that a receiver
 * without parts still routes by address.
 *
 * Parts are put together in stages. A stage collects the parts of one table, of one
 * serial, from one half-router. Memory is the caller's: the array of stages and a copy of
 * each part.
 */
#ifndef PW_CORE_RRP_PARTS_H
#define PW_CORE_RRP_PARTS_H

#include "rrp_table.h"

#define PW_RRP_PARTS_MAX	256
/* RTHD, SRQR, MTUR and RCVF in front of the nodes */
#define PW_RRP_HEAD_MAX		(2 * PW_RRP_HDR_LEN + PW_RRP_HDR_LEN + PW_RRP_MAX_CSR + \
				 PW_RRP_HDR_LEN + PW_RRP_HDR_LEN + 4 * PW_RRP_MAX_RCVF)

/**
 * struct pw_rrp_cut - a part of a table that is sent
 * @begun: pw_rrp_cut_next() was called
 * @pos: where its nodes begin
 * @len: bytes of them, without the range at the end of the table
 * @part: its number
 */
struct pw_rrp_cut {
	bool begun;
	u32 pos;
	u32 len;
	u32 part;
};

/**
 * struct pw_rrp_part - a part that was received
 * @head: records in front of the nodes
 * @head_len: bytes of them
 * @nodes: ADDR records, without the range unless it is the last part
 * @nodes_len: bytes of them
 * @part: its number
 * @last: number of the last part
 */
struct pw_rrp_part {
	const u8 *head;
	u32 head_len;
	const u8 *nodes;
	u32 nodes_len;
	u32 part;
	u32 last;
};

/**
 * struct pw_rrp_stage - a table of which not all parts are here
 * @used: in use
 * @from: half-router that sends it
 * @age: when it began, by the caller's count
 * @last: number of the last part
 * @have: parts that are here
 * @bytes: bytes of nodes in them
 * @head_len: bytes of @head
 * @head: records in front of the nodes, as those of a table in one message
 * @part: copies of the nodes of each part; NULL: not here
 * @len: bytes of each
 */
struct pw_rrp_stage {
	bool used;
	u32 from;
	u32 age;
	u32 last;
	u32 have;
	u32 bytes;
	u32 head_len;
	u8 head[PW_RRP_HEAD_MAX];
	u8 *part[PW_RRP_PARTS_MAX];
	u32 len[PW_RRP_PARTS_MAX];
};

bool pw_rrp_cut_next(const struct pw_rrp_table *t, u32 room, struct pw_rrp_cut *cut);
u32 pw_rrp_cut_count(const struct pw_rrp_table *t, u32 room);
u32 pw_rrp_cut_size(const struct pw_rrp_table *t, const struct pw_rrp_cut *cut);
void pw_rrp_cut_export(const struct pw_rrp_table *t, const struct pw_rrp_cut *cut, u32 parts,
		       struct pw_rrp_buf *b);

bool pw_rrp_part_parse(const u8 *data, size_t len, struct pw_rrp_part *p);
bool pw_rrp_stage_is(const struct pw_rrp_stage *s, u32 from, const struct pw_rrp_part *p);
struct pw_rrp_stage *pw_rrp_stage_pick(struct pw_rrp_stage *s, u32 n, u32 from, u32 share,
				       const struct pw_rrp_part *p);
void pw_rrp_stage_begin(struct pw_rrp_stage *s, u32 from, u32 age, const struct pw_rrp_part *p);
bool pw_rrp_stage_put(struct pw_rrp_stage *s, const struct pw_rrp_part *p, u8 *copy);
u32 pw_rrp_stage_size(const struct pw_rrp_stage *s);
void pw_rrp_stage_join(const struct pw_rrp_stage *s, u8 *out);

#endif /* PW_CORE_RRP_PARTS_H */
