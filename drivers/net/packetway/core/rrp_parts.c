// SPDX-License-Identifier: GPL-2.0
/* RRP tables in parts; see rrp_parts.h. */
#include "rrp_parts.h"

/* Cut ------------------------------------------------------------------------ */

/**
 * pw_rrp_cut_next - the next part of a table
 * @t: table
 * @room: bytes of nodes that a part may have; one ADDR is taken whatever its size
 * @cut: all zero before the first call; the part
 *
 * Return: false after the last part. An empty table has one part.
 */
bool pw_rrp_cut_next(const struct pw_rrp_table *t, u32 room, struct pw_rrp_cut *cut)
{
	u32 end = t->nodes_len - t->range_len, size;
	bool first = !cut->begun;

	cut->begun = true;
	if (!first) {
		cut->pos += cut->len;
		cut->part++;
	}
	cut->len = 0;
	if (cut->pos == end)
		return first;
	room = room > t->range_len ? room - t->range_len : 0;
	while (cut->pos + cut->len < end) {
		size = PW_RRP_HDR_LEN + PW_EEP_WORD *
		       get_unaligned_be16(t->nodes + cut->pos + cut->len + PW_RRP_OFF_RL);
		if (cut->len && cut->len + size > room)
			break;
		cut->len += size;
	}
	return true;
}

/**
 * pw_rrp_cut_count - how many parts a table has
 * @t: table
 * @room: as in pw_rrp_cut_next()
 *
 * Return: at least 1.
 */
u32 pw_rrp_cut_count(const struct pw_rrp_table *t, u32 room)
{
	struct pw_rrp_cut cut = { 0 };
	u32 n = 0;

	while (pw_rrp_cut_next(t, room, &cut))
		n++;
	return n;
}

/**
 * pw_rrp_cut_size - bytes that pw_rrp_cut_export() writes
 * @t: table
 * @cut: part of it
 *
 * Return: how many.
 */
u32 pw_rrp_cut_size(const struct pw_rrp_table *t, const struct pw_rrp_cut *cut)
{
	return pw_rrp_export_len(t) - t->nodes_len + cut->len + t->range_len;
}

/**
 * pw_rrp_cut_export - write a part as the records of an RTBL
 * @t: table
 * @cut: part of it
 * @parts: how many there are
 * @b: builder
 */
void pw_rrp_cut_export(const struct pw_rrp_table *t, const struct pw_rrp_cut *cut, u32 parts,
		       struct pw_rrp_buf *b)
{
	pw_rrp_export_head(t, cut->part, parts - 1, b);
	pw_rrp_put_raw(b, t->nodes + cut->pos, cut->len);
	pw_rrp_put_raw(b, t->nodes + t->nodes_len - t->range_len, t->range_len);
}

/* Join ------------------------------------------------------------------------- */

/**
 * pw_rrp_part_parse - take a part apart
 * @data: records of an RTBL that pw_rrp_check_msg() let pass
 * @len: bytes of them
 * @p: the part
 *
 * Return: false if it cannot be one.
 */
bool pw_rrp_part_parse(const u8 *data, size_t len, struct pw_rrp_part *p)
{
	u32 i, range = 0;
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;

	pw_rrp_iter_init(&it, data, len);
	for (i = 0; i < 4; i++) {
		if (pw_rrp_next(&it, &rec) <= 0)
			return false;
		if (!i) {
			p->part = rec.part;
			p->last = rec.last;
		}
	}
	p->head = data;
	p->head_len = it.p - data;
	p->nodes = it.p;
	p->nodes_len = it.len;
	if (p->part > p->last || p->last >= PW_RRP_PARTS_MAX || p->head_len > PW_RRP_HEAD_MAX)
		return false;
	while (pw_rrp_next(&it, &rec) > 0)
		range = rec.at == PW_RRP_AT_MIN ? rec.size : 0;
	if (p->part != p->last)
		p->nodes_len -= range;
	return true;
}

/* the head without the number of the part */
static void pw_rrp_part_head(const struct pw_rrp_part *p, u8 *head)
{
	memcpy(head, p->head, p->head_len);
	put_unaligned_be32(0, head + PW_RRP_HDR_LEN + 4);
}

/**
 * pw_rrp_stage_is - is a stage that of the table of a part?
 * @s: stage
 * @from: who sent the part
 * @p: the part
 *
 * Return: whether it is.
 */
bool pw_rrp_stage_is(const struct pw_rrp_stage *s, u32 from, const struct pw_rrp_part *p)
{
	u8 head[PW_RRP_HEAD_MAX];

	if (!s->used || s->from != from || s->last != p->last || s->head_len != p->head_len)
		return false;
	pw_rrp_part_head(p, head);
	return !memcmp(s->head, head, s->head_len);
}

static struct pw_rrp_stage *pw_rrp_older(struct pw_rrp_stage *a, struct pw_rrp_stage *b)
{
	return !a || (s32)(b->age - a->age) < 0 ? b : a;
}

/**
 * pw_rrp_stage_pick - the stage for a part
 * @s: stages
 * @n: their number
 * @from: who sent the part
 * @share: stages that one sender may have
 * @p: the part
 *
 * The stage of its table, or one that the caller empties and begins anew: a free one, or
 * the oldest. A sender with its share of stages gives up its own oldest one.
 *
 * Return: a stage.
 */
struct pw_rrp_stage *pw_rrp_stage_pick(struct pw_rrp_stage *s, u32 n, u32 from, u32 share,
				       const struct pw_rrp_part *p)
{
	struct pw_rrp_stage *free = NULL, *oldest = NULL, *own = NULL;
	u32 i, mine = 0;

	for (i = 0; i < n; i++) {
		if (pw_rrp_stage_is(&s[i], from, p))
			return &s[i];
		if (!s[i].used) {
			free = &s[i];
			continue;
		}
		oldest = pw_rrp_older(oldest, &s[i]);
		if (s[i].from != from)
			continue;
		mine++;
		own = pw_rrp_older(own, &s[i]);
	}
	if (own && mine >= share)
		return own;
	return free ? free : oldest;
}

/**
 * pw_rrp_stage_begin - begin to collect a table
 * @s: stage; the caller has freed its copies of parts
 * @from: who sends the table
 * @age: when that is
 * @p: any part of it
 */
void pw_rrp_stage_begin(struct pw_rrp_stage *s, u32 from, u32 age, const struct pw_rrp_part *p)
{
	memset(s, 0, sizeof(*s));
	s->used = true;
	s->from = from;
	s->age = age;
	s->last = p->last;
	s->head_len = p->head_len;
	pw_rrp_part_head(p, s->head);
}

/**
 * pw_rrp_stage_put - a part is here
 * @s: stage of its table
 * @p: the part, not here before
 * @copy: copy of its nodes, the stage's from now on
 *
 * Return: whether that was the last one that was missing.
 */
bool pw_rrp_stage_put(struct pw_rrp_stage *s, const struct pw_rrp_part *p, u8 *copy)
{
	memcpy(copy, p->nodes, p->nodes_len);
	s->part[p->part] = copy;
	s->len[p->part] = p->nodes_len;
	s->bytes += p->nodes_len;
	s->have++;
	return s->have == s->last + 1;
}

/**
 * pw_rrp_stage_size - bytes that pw_rrp_stage_join() writes
 * @s: stage
 *
 * Return: how many.
 */
u32 pw_rrp_stage_size(const struct pw_rrp_stage *s)
{
	return s->head_len + s->bytes;
}

/**
 * pw_rrp_stage_join - the whole table as the records of one RTBL
 * @s: stage that has all parts
 * @out: pw_rrp_stage_size() bytes
 */
void pw_rrp_stage_join(const struct pw_rrp_stage *s, u8 *out)
{
	u32 i;

	memcpy(out, s->head, s->head_len);
	out += s->head_len;
	for (i = 0; i <= s->last; i++) {
		memcpy(out, s->part[i], s->len[i]);
		out += s->len[i];
	}
}
