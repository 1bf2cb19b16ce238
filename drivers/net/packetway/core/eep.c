// SPDX-License-Identifier: GPL-2.0
/*
 * EEP codec: parse and build PacketWay end-to-end messages.
 *
 * Lengths are checked against the frame before they are used, whatever the
 * bytes say. The header part (prefixes, header, OHs) and the trailer part (OTs,
 * TAIL) are parsed apart, so that a data block in page fragments is not touched.
 */
#include "eep.h"

/**
 * pw_eep_err_te - how an error is reported to the source
 * @err: enum pw_eep_err
 *
 * Return: TE of the ERR message.
 */
u16 pw_eep_err_te(int err)
{
	switch (err) {
	case PW_EEP_E_DT_RESERVED:
	case PW_EEP_E_DT_UNDEF:
		return PW_TE_ERR_UNK;
	case PW_EEP_E_L2RH_LEN:
	case PW_EEP_E_L2RH_OVERRUN:
	case PW_EEP_E_NO_L2RH:
		return PW_TE_ERR_BADL2RH;
	default:
		return PW_TE_ERR_GENERAL;
	}
}

/**
 * pw_eep_may_answer - may this message be answered with an ERR message?
 * @v: view, also of a refused message
 *
 * Return: false for messages without a source, ERR messages and broadcasts.
 */
bool pw_eep_may_answer(const struct pw_eep_view *v)
{
	return v->hdr_seen && pw_addr_kind(v->sa) == PW_ADDR_KIND_PHYS &&
	       v->pt != PW_PT_ERR && v->dt != PW_ADDR_BROADCAST;
}

/* Parse -------------------------------------------------------------------- */

/*
 * The prefix at @pos, whose first word is there, kind already known.
 * Return: 0 and @el filled, or an error.
 */
static int pw_eep_prefix_at(const u8 *head, u32 pos, u32 framelen, enum pw_eep_kind kind,
			    struct pw_eep_elem *el)
{
	const u8 *p = head + pos;

	el->kind = kind;
	el->off = pos;
	el->mandatory = false;
	el->last = false;
	if (kind == PW_EEP_L2RH) {
		el->type = 0;
		el->data_len = p[1] & PW_L2RH_LEN_MASK;
		el->data_off = pos + PW_L2RH_HDR_LEN;
		el->len = pw_l2rh_size(el->data_len);
	} else {
		el->type = get_unaligned_be24(p + 1) & PW_SYM_TYPE_MASK;
		el->data_len = p[4];
		el->data_off = pos + PW_SYM_HDR_LEN;
		el->len = pw_sym_size(el->data_len);
	}
	if (p[0] & PW_EEP_V_MASK)
		return PW_EEP_E_VERSION;
	if (kind == PW_EEP_L2RH && !el->data_len)
		return PW_EEP_E_L2RH_LEN;
	if (el->len > framelen - pos)
		return kind == PW_EEP_L2RH ? PW_EEP_E_L2RH_OVERRUN : PW_EEP_E_SYM_OVERRUN;
	return 0;
}

/* The OH or OT at @pos, of which at least PW_OPT_HDR_LEN bytes are there. */
static void pw_eep_opt_at(const u8 *base, u32 pos, enum pw_eep_kind kind, struct pw_eep_elem *el)
{
	const u8 *p = base + pos;

	el->kind = kind;
	el->type = p[0] & PW_OPT_TYPE_MASK;
	el->mandatory = p[0] & PW_OPT_T;
	el->last = p[0] & PW_OPT_C;
	el->off = pos;
	el->data_off = pos + PW_OPT_HDR_LEN;
	el->data_len = p[1];
	el->len = pw_opt_size(el->data_len);
}

static int pw_eep_more(struct pw_eep_view *v, u32 need)
{
	v->need = need;
	return -EAGAIN;
}

/* Prefixes, up to the first word of the header. */
static int pw_eep_parse_prefixes(const u8 *head, u32 headlen, struct pw_eep_view *v)
{
	struct pw_eep_elem el;
	enum pw_eep_kind kind;
	u32 pos = 0;
	int err;

	for (;;) {
		if (v->len - pos < PW_EEP_WORD)
			return PW_EEP_E_PREFIX_TRUNC;
		if (headlen < pos + PW_EEP_WORD)
			return pw_eep_more(v, pos + PW_EEP_WORD);
		kind = pw_eep_kind_of(head[pos + 1]);
		/* a reserved destination, too: its header names who gets the ERR */
		if (likely(kind == PW_EEP_PHYS || kind == PW_EEP_LOGICAL ||
			   kind == PW_EEP_RESERVED))
			break;
		err = pw_eep_prefix_at(head, pos, v->len, kind, &el);
		if (err)
			return err;
		pos += el.len;
		if (pos > PW_EEP_MAX_PREFIX_LEN)
			return PW_EEP_E_PREFIX_LIMIT;
		if (kind == PW_EEP_L2RH)
			v->nl2rh++;
		else
			v->nsym++;
	}
	v->hdr_off = pos;
	return 0;
}

static int pw_eep_parse_ohs(const u8 *head, u32 headlen, struct pw_eep_view *v)
{
	struct pw_eep_elem el;
	u32 pos = v->oh_off;

	do {
		if (v->len - pos < PW_EEP_WORD)
			return PW_EEP_E_OH_LAST;
		if (v->noh == PW_EEP_MAX_OPTS)
			return PW_EEP_E_OH_LIMIT;
		if (headlen < pos + PW_EEP_WORD)
			return pw_eep_more(v, pos + PW_EEP_WORD);
		pw_eep_opt_at(head, pos, PW_EEP_OH, &el);
		if (el.len > v->len - pos)
			return PW_EEP_E_OH_OVERRUN;
		v->noh++;
		v->oh_mask |= BIT_ULL(el.type);
		if (el.mandatory)
			v->oh_mand |= BIT_ULL(el.type);
		if (BIT_ULL(el.type) & PW_OH_ANNOUNCE_MASK) {
			if (el.type == PW_OH_CRC64)
				v->ann |= BIT_ULL(v->nann);
			v->nann++;
		} else if (el.type == PW_OH_HOPTRACE && !el.mandatory && !v->hoptrace_off) {
			v->hoptrace_off = el.data_off;
			v->hoptrace_len = el.data_len;
		} else if (el.type == PW_OH_TIMESTAMP && !el.mandatory && !v->stamp_off &&
			   el.data_len == PW_OH_TIMESTAMP_LEN) {
			v->stamp_off = el.data_off;
		}
		pos += el.len;
	} while (!el.last);
	if (headlen < pos)
		return pw_eep_more(v, pos);
	v->oh_len = pos - v->oh_off;
	return 0;
}

/* the fields of the header at @p, by two loads */
static __always_inline void pw_eep_read_hdr(const u8 *p, struct pw_eep_view *v)
{
	u64 front = get_unaligned_be64(p), back = get_unaligned_be64(p + PW_EEP_OFF_EPLDL);
	u32 field = back >> 32;

	v->v = front >> (56 + PW_EEP_V_SHIFT);
	v->p = front >> 56 & PW_EEP_P_MASK;
	v->dt = front >> 32 & 0xffffff;
	v->te = front >> 16;
	v->pt = front;
	v->e = field >> PW_EEP_E_SHIFT;
	v->pl = (field & PW_EEP_PL_MASK) >> PW_EEP_PL_SHIFT;
	v->dl = field & PW_EEP_DL_MASK;
	v->h = back >> 24 & PW_EEP_H;
	v->sa = back & 0xffffff;
	v->hdr_seen = true;
}

/* 0, or what is wrong with the header alone */
static __always_inline int pw_eep_check_hdr(const u8 *p, const struct pw_eep_view *v)
{
	if (v->v != PW_EEP_VERSION)
		return PW_EEP_E_VERSION;
	if (v->dt == PW_ADDR_UNDEF)
		return PW_EEP_E_DT_UNDEF;
	if (pw_eep_kind_of(p[PW_EEP_OFF_DT]) == PW_EEP_RESERVED)
		return PW_EEP_E_DT_RESERVED;
	if ((v->e & PW_E_SIZE_MASK) > PW_E_SIZE_MAX)
		return PW_EEP_E_ESIZE;
	if (v->sa & ~PW_ADDR_PHYS_MASK)
		return PW_EEP_E_SA;
	if (!v->dl && v->pl)
		return PW_EEP_E_PL;
	return 0;
}

/* where data block, OTs and TAIL are; 0, or why the frame has no room for them */
static int pw_eep_find_trailer(struct pw_eep_view *v)
{
	u32 rest;

	v->db_off = v->oh_off + v->oh_len;
	rest = v->len - v->db_off;
	if (v->dl > rest / PW_EEP_WORD)
		return PW_EEP_E_DL;
	rest -= v->dl * PW_EEP_WORD;
	v->data_len = v->dl * PW_EEP_WORD - v->pl;
	v->ot_off = v->db_off + v->dl * PW_EEP_WORD;
	if (rest < PW_EEP_TAIL_LEN || rest % PW_EEP_WORD)
		return PW_EEP_E_TAIL;
	v->ot_len = rest - PW_EEP_TAIL_LEN;
	if (v->ot_len < v->nann * PW_EEP_WORD)
		return PW_EEP_E_OT_MISSING;
	if (v->ot_len > PW_EEP_MAX_OT_LEN)
		return PW_EEP_E_TRAILING;
	v->tail_off = v->ot_off + v->ot_len;
	return 0;
}

/**
 * pw_eep_parse_head - parse prefixes, header and OHs
 * @head: first bytes of the frame
 * @headlen: how many of them are at @head
 * @framelen: how many bytes the frame has
 * @v: where to put what was found
 *
 * Only @headlen bytes are read. On success the offsets of data block, OTs and
 * TAIL are in @v and inside the frame; pw_eep_parse_trailer() does the rest.
 * If @v->hdr_seen is set the header fields are valid after an error as well.
 *
 * Return: 0; enum pw_eep_err if the message is malformed; -EAGAIN if @v->need
 * bytes of head, which the frame has, are needed.
 */
int pw_eep_parse_head(const u8 *head, size_t headlen, size_t framelen, struct pw_eep_view *v)
{
	const u8 *p;
	int err;

	memset(v, 0, sizeof(*v));
	if (!framelen || framelen > U32_MAX)
		return PW_EEP_E_FRAME;
	v->len = framelen;
	headlen = min(headlen, framelen);

	err = pw_eep_parse_prefixes(head, headlen, v);
	if (err)
		return err;
	if (v->len - v->hdr_off < PW_EEP_HDR_LEN)
		return PW_EEP_E_HDR_TRUNC;
	if (headlen < v->hdr_off + PW_EEP_HDR_LEN)
		return pw_eep_more(v, v->hdr_off + PW_EEP_HDR_LEN);

	p = head + v->hdr_off;
	pw_eep_read_hdr(p, v);
	err = pw_eep_check_hdr(p, v);
	if (err)
		return err;

	v->oh_off = v->hdr_off + PW_EEP_HDR_LEN;
	if (v->h) {
		err = pw_eep_parse_ohs(head, headlen, v);
		if (err)
			return err;
	}
	return pw_eep_find_trailer(v);
}

/**
 * pw_eep_parse_plain - parse a message that is a header, data and TAIL
 * @head: first bytes of the frame
 * @headlen: how many of them are at @head
 * @framelen: how many bytes the frame has
 * @v: as pw_eep_parse_head() would fill it, if it is such a message
 *
 * Most messages are: a receiver asks this first.
 *
 * Return: false if pw_eep_parse_head() must be asked.
 */
bool pw_eep_parse_plain(const u8 *head, size_t headlen, size_t framelen, struct pw_eep_view *v)
{
	u32 data;

	if (headlen < PW_EEP_HDR_LEN || framelen < PW_EEP_MIN_LEN || framelen > U32_MAX ||
	    head[PW_EEP_OFF_HRZ] & PW_EEP_H)
		return false;
	switch (pw_eep_first(head)) {
	case PW_EEP_PHYS:
	case PW_EEP_LOGICAL:
		break;
	default:
		return false;
	}
	pw_eep_read_hdr(head, v);
	data = v->dl * PW_EEP_WORD;
	if (pw_eep_check_hdr(head, v) || framelen - PW_EEP_MIN_LEN != data)
		return false;
	/* all other fields one by one: memset() costs more than the rest of this function */
	v->len = framelen;
	v->need = 0;
	v->hdr_off = 0;
	v->oh_off = PW_EEP_HDR_LEN;
	v->oh_len = 0;
	v->db_off = PW_EEP_HDR_LEN;
	v->data_len = data - v->pl;
	v->ot_off = PW_EEP_HDR_LEN + data;
	v->ot_len = 0;
	v->tail_off = PW_EEP_HDR_LEN + data;
	v->hoptrace_off = 0;
	v->hoptrace_len = 0;
	v->stamp_off = 0;
	v->nl2rh = 0;
	v->nsym = 0;
	v->noh = 0;
	v->nots = 0;
	v->nann = 0;
	v->ann = 0;
	v->oh_mask = 0;
	v->oh_mand = 0;
	v->ot_mask = 0;
	v->ot_mand = 0;
	v->ei = 0;
	return true;
}

/**
 * pw_eep_parse_trailer - parse OTs and TAIL
 * @trailer: the bytes of the frame from @v->ot_off on
 * @len: their number, all that the frame has from there
 * @v: view that pw_eep_parse_head() has filled without error
 *
 * Return: 0 or enum pw_eep_err.
 */
int pw_eep_parse_trailer(const u8 *trailer, size_t len, struct pw_eep_view *v)
{
	struct pw_eep_elem el;
	u32 pos = 0;
	u32 ann = 0;

	if (len != (size_t)v->ot_len + PW_EEP_TAIL_LEN)
		return PW_EEP_E_TAIL;
	v->nots = 0;
	v->ot_mask = 0;
	v->ot_mand = 0;
	el.last = true;
	while (pos < v->ot_len) {
		if (v->nots == PW_EEP_MAX_OPTS)
			return PW_EEP_E_OT_LIMIT;
		/* empty, optional, type 0, where none is announced: TAIL, with more behind */
		if (!pos && !v->nann && !get_unaligned_be16(trailer))
			return PW_EEP_E_TRAILING;
		pw_eep_opt_at(trailer, pos, PW_EEP_OT, &el);
		if (el.len > v->ot_len - pos)
			return PW_EEP_E_OT_OVERRUN;
		if (ann < v->nann &&
		    el.type == (v->ann & BIT_ULL(ann) ? PW_OH_CRC64 : PW_OH_CRC32))
			ann++;
		v->nots++;
		v->ot_mask |= BIT_ULL(el.type);
		if (el.mandatory)
			v->ot_mand |= BIT_ULL(el.type);
		pos += el.len;
		if (el.last)
			break;
	}
	if (pos < v->ot_len)
		return PW_EEP_E_TRAILING;
	if (!el.last)
		return PW_EEP_E_OT_LAST;
	if (ann < v->nann)
		return PW_EEP_E_OT_MISSING;
	v->ei = get_unaligned_be64(trailer + v->ot_len);
	return 0;
}

/**
 * pw_eep_parse - parse a message that lies in one piece
 * @buf: the frame
 * @len: its length
 * @v: where to put what was found
 *
 * Return: 0 or enum pw_eep_err.
 */
int pw_eep_parse(const u8 *buf, size_t len, struct pw_eep_view *v)
{
	int err = pw_eep_parse_head(buf, len, len, v);

	return err ? err : pw_eep_parse_trailer(buf + v->ot_off, len - v->ot_off, v);
}

/**
 * pw_eep_iter_ot - walk optional trailers
 * @it: iterator
 * @trailer: the bytes from @v->ot_off on; offsets of elements count from here
 * @v: view of the accepted message
 */
void pw_eep_iter_ot(struct pw_eep_iter *it, const u8 *trailer, const struct pw_eep_view *v)
{
	pw_eep_iter_init(it, trailer, 0, v->ot_len, PW_EEP_OT);
}

/**
 * pw_eep_next - next element
 * @it: iterator
 * @el: the element
 *
 * Return: false when there is none.
 */
bool pw_eep_next(struct pw_eep_iter *it, struct pw_eep_elem *el)
{
	enum pw_eep_kind kind;

	if (it->end - it->pos < PW_EEP_WORD)
		return false;
	if (it->chain == PW_EEP_L2RH) {
		kind = pw_eep_kind_of(it->base[it->pos + 1]);
		if ((kind != PW_EEP_L2RH && kind != PW_EEP_SYMBOL) ||
		    pw_eep_prefix_at(it->base, it->pos, it->end, kind, el))
			return false;
	} else {
		pw_eep_opt_at(it->base, it->pos, it->chain, el);
		if (el->len > it->end - it->pos)
			return false;
	}
	it->pos += el->len;
	return true;
}

static void pw_eep_take_symbol(const u8 *head, const struct pw_eep_elem *el,
			       struct pw_eep_hop *hop)
{
	hop->nsym++;
	if (el->type == PW_SYM_TRACE)
		hop->trace = true;
	else if (el->type == PW_SYM_PRIO && el->data_len)
		hop->prio = head[el->data_off] & PW_EEP_P_MASK;
}

/* the L2RH at @hop->consumed, whose first word is there: as pw_eep_prefix_at(), for each hop */
static int pw_eep_take_l2rh(const u8 *head, size_t headlen, size_t framelen,
			    struct pw_eep_hop *hop)
{
	u32 pos = hop->consumed, len = head[pos + 1] & PW_L2RH_LEN_MASK;
	u32 end = pos + pw_l2rh_size(len);

	if (head[pos] & PW_EEP_V_MASK)
		return PW_EEP_E_VERSION;
	if (!len)
		return PW_EEP_E_L2RH_LEN;
	if (end > framelen)
		return PW_EEP_E_L2RH_OVERRUN;
	if (end > PW_EEP_MAX_PREFIX_LEN)
		return PW_EEP_E_PREFIX_LIMIT;
	hop->need = end;
	if (headlen < end)
		return -EAGAIN;
	/* where the draft's summary of formats has P; its text has zeros there */
	if (hop->prio < 0 && head[pos] & PW_EEP_P_MASK)
		hop->prio = head[pos] & PW_EEP_P_MASK;
	hop->route_off = pos + PW_L2RH_HDR_LEN;
	hop->route_len = len;
	hop->consumed = end;
	return 0;
}

static __always_inline int pw_eep_consume(const u8 *head, size_t headlen, size_t framelen,
					  struct pw_eep_hop *hop, bool l2rh)
{
	struct pw_eep_elem el;
	enum pw_eep_kind kind;
	u32 pos = 0;
	int err;

	memset(hop, 0, sizeof(*hop));
	hop->prio = -1;
	if (!framelen || framelen > U32_MAX)
		return PW_EEP_E_FRAME;
	headlen = min(headlen, framelen);
	for (;;) {
		hop->consumed = pos;
		if (framelen - pos < PW_EEP_WORD)
			return PW_EEP_E_PREFIX_TRUNC;
		hop->need = pos + PW_EEP_WORD;
		if (headlen < hop->need)
			return -EAGAIN;
		kind = pw_eep_kind_of(head[pos + 1]);
		if (l2rh && kind == PW_EEP_L2RH)
			return pw_eep_take_l2rh(head, headlen, framelen, hop);
		if (kind == PW_EEP_RESERVED)
			return PW_EEP_E_DT_RESERVED;
		if (kind != PW_EEP_SYMBOL)
			return l2rh ? PW_EEP_E_NO_L2RH : 0;
		err = pw_eep_prefix_at(head, pos, framelen, kind, &el);
		if (err)
			return err;
		pos += el.len;
		if (pos > PW_EEP_MAX_PREFIX_LEN)
			return PW_EEP_E_PREFIX_LIMIT;
		hop->need = pos;
		if (headlen < pos)
			return -EAGAIN;
		pw_eep_take_symbol(head, &el, hop);
	}
}

/**
 * pw_eep_consume_l2rh - what a half-router takes off: the leading L2RH and the
 *	symbols before it
 * @head: first bytes of the frame
 * @headlen: how many of them are at @head
 * @framelen: how many bytes the frame has
 * @hop: routing bytes, what the symbols say, and how much to strip
 *
 * Nothing behind the L2RH is looked at.
 *
 * Return: 0; enum pw_eep_err, PW_EEP_E_NO_L2RH if a header comes first; -EAGAIN
 * if @hop->need bytes of head are needed.
 */
int pw_eep_consume_l2rh(const u8 *head, size_t headlen, size_t framelen, struct pw_eep_hop *hop)
{
	return pw_eep_consume(head, headlen, framelen, hop, true);
}

/**
 * pw_eep_consume_symbols - what a host takes off: the symbols at the front
 * @head: first bytes of the frame
 * @headlen: how many of them are at @head
 * @framelen: how many bytes the frame has
 * @hop: what the symbols say, and how much to strip
 *
 * Return: 0; enum pw_eep_err; -EAGAIN if @hop->need bytes of head are needed.
 */
int pw_eep_consume_symbols(const u8 *head, size_t headlen, size_t framelen,
			   struct pw_eep_hop *hop)
{
	return pw_eep_consume(head, headlen, framelen, hop, false);
}

/**
 * pw_eep_find_header - where the header is, past the L2RHs in front of it
 * @head: first bytes of the frame
 * @headlen: how many of them are at @head
 * @framelen: how many bytes the frame has
 * @off: where to begin: at an L2RH or the header
 * @need: bytes of head that are needed, after -EAGAIN
 *
 * For routers that need a field of the header and nothing behind it.
 *
 * Return: offset of the header; -EINVAL if something else is there or the frame ends
 * before, which pw_eep_parse() will explain; -EAGAIN.
 */
int pw_eep_find_header(const u8 *head, size_t headlen, size_t framelen, size_t off, u32 *need)
{
	while (off <= PW_EEP_MAX_PREFIX_LEN && off + PW_EEP_HDR_LEN <= framelen) {
		if (off + PW_EEP_HDR_LEN > headlen) {
			*need = off + PW_EEP_HDR_LEN;
			return -EAGAIN;
		}
		switch (pw_eep_first(head + off)) {
		case PW_EEP_PHYS:
		case PW_EEP_LOGICAL:
			return off;
		case PW_EEP_L2RH:
			off += pw_l2rh_size(head[off + 1] & PW_L2RH_LEN_MASK);
			break;
		default:
			return -EINVAL;
		}
	}
	return -EINVAL;
}

/**
 * pw_eep_check_l2rhs - is this a row of whole L2RHs?
 * @p: the bytes
 * @len: their number; 0 is a row, too
 *
 * Return: 0 or -EINVAL.
 */
int pw_eep_check_l2rhs(const u8 *p, u32 len)
{
	u32 pos = 0;
	u32 n;

	while (pos < len) {
		if (len - pos < PW_EEP_WORD || p[pos] & PW_EEP_V_MASK ||
		    (p[pos + 1] & PW_EEP_B1_L2RH_MASK) != PW_EEP_B1_L2RH)
			return -EINVAL;
		n = p[pos + 1] & PW_L2RH_LEN_MASK;
		if (!n || pw_l2rh_size(n) > len - pos)
			return -EINVAL;
		pos += pw_l2rh_size(n);
	}
	return 0;
}

/* Build -------------------------------------------------------------------- */

/**
 * pw_eep_build_header - write the 16 bytes of a header
 * @h: its fields
 * @out: where to
 * @cap: room there
 *
 * Return: PW_EEP_HDR_LEN; -EINVAL for a field out of range; -EMSGSIZE for more
 * data than DL can express; -ENOSPC.
 */
int pw_eep_build_header(const struct pw_eep_hdr *h, u8 *out, size_t cap)
{
	enum pw_addr_kind kind = pw_addr_kind(h->dt);

	if (kind == PW_ADDR_KIND_UNDEF || kind == PW_ADDR_KIND_RESERVED ||
	    h->sa > PW_ADDR_PHYS_MASK || h->p > PW_EEP_P_MAX ||
	    h->e > (PW_E_LITTLE | PW_E_SIZE_MASK) || (h->e & PW_E_SIZE_MASK) > PW_E_SIZE_MAX)
		return -EINVAL;
	if (h->data_len > PW_EEP_MAX_DATA)
		return -EMSGSIZE;
	if (cap < PW_EEP_HDR_LEN)
		return -ENOSPC;
	out[PW_EEP_OFF_VP] = PW_EEP_VERSION << PW_EEP_V_SHIFT | h->p;
	put_unaligned_be24(h->dt, out + PW_EEP_OFF_DT);
	put_unaligned_be16(h->te, out + PW_EEP_OFF_TE);
	put_unaligned_be16(h->pt, out + PW_EEP_OFF_PT);
	put_unaligned_be32((u32)h->e << PW_EEP_E_SHIFT |
			   pw_eep_pl(h->data_len) << PW_EEP_PL_SHIFT | pw_eep_dl(h->data_len),
			   out + PW_EEP_OFF_EPLDL);
	out[PW_EEP_OFF_HRZ] = h->h ? PW_EEP_H : 0;
	put_unaligned_be24(h->sa, out + PW_EEP_OFF_SA);
	return PW_EEP_HDR_LEN;
}

/**
 * pw_eep_put_body - write an element but for its header
 * @out: where to
 * @cap: room there
 * @size: bytes of the element
 * @hdr_len: bytes of its header, which the caller writes
 * @data: its data
 * @len: number of data bytes; padding follows
 *
 * Return: @size or -ENOSPC.
 */
int pw_eep_put_body(u8 *out, size_t cap, u32 size, u32 hdr_len, const u8 *data, size_t len)
{
	if (cap < size)
		return -ENOSPC;
	if (len)
		memcpy(out + hdr_len, data, len);
	memset(out + hdr_len + len, 0, size - hdr_len - len);
	return size;
}

/**
 * pw_eep_put_l2rh - write an L2RH
 * @out: where to
 * @cap: room there
 * @route: routing bytes
 * @len: their number
 *
 * Return: bytes written, -EINVAL or -ENOSPC.
 */
int pw_eep_put_l2rh(u8 *out, size_t cap, const u8 *route, size_t len)
{
	int ret;

	if (!len || len > PW_L2RH_MAX)
		return -EINVAL;
	ret = pw_eep_put_body(out, cap, pw_l2rh_size(len), PW_L2RH_HDR_LEN, route, len);
	if (ret > 0) {
		out[0] = PW_EEP_VERSION << PW_EEP_V_SHIFT;
		out[1] = PW_EEP_B1_L2RH | len;
	}
	return ret;
}

/**
 * pw_eep_put_tail - write TAIL
 * @out: where to
 * @cap: room there
 * @ei: error indication
 *
 * Return: PW_EEP_TAIL_LEN or -ENOSPC.
 */
int pw_eep_put_tail(u8 *out, size_t cap, u64 ei)
{
	if (cap < PW_EEP_TAIL_LEN)
		return -ENOSPC;
	put_unaligned_be64(ei, out);
	return PW_EEP_TAIL_LEN;
}

/* Integrity ---------------------------------------------------------------- */

/**
 * pw_eep_crc_init - begin the CRCs of a data block
 * @crc: running state
 * @oh_mask: which ones: bits PW_OH_CRC32 and PW_OH_CRC64, others do not matter
 */
void pw_eep_crc_init(struct pw_eep_crc *crc, u64 oh_mask)
{
	crc->want32 = oh_mask & BIT_ULL(PW_OH_CRC32);
	crc->want64 = oh_mask & BIT_ULL(PW_OH_CRC64);
	crc->c32 = ~0U;
	crc->c64 = ~0ULL;
}

/**
 * pw_eep_crc_update - go on with the next fragment
 * @crc: running state
 * @data: bytes of the data block, in the end with its padding
 * @len: their number
 */
void pw_eep_crc_update(struct pw_eep_crc *crc, const void *data, size_t len)
{
	if (crc->want32)
		crc->c32 = crc32c(crc->c32, data, len);
	if (crc->want64)
		crc->c64 = crc64_be(crc->c64, data, len);
}

/**
 * pw_eep_crc_put - write the data of a CRC's OT
 * @crc: state after the whole data block
 * @type: PW_OH_CRC32 (4 bytes) or PW_OH_CRC64 (8 bytes)
 * @out: where to
 */
void pw_eep_crc_put(const struct pw_eep_crc *crc, u8 type, u8 *out)
{
	if (type == PW_OH_CRC32)
		put_unaligned_be32(~crc->c32, out);
	else
		put_unaligned_be64(~crc->c64, out);
}

/**
 * pw_eep_crc_check - compare with the OTs of a message
 * @crc: state after the whole data block
 * @trailer: bytes from @v->ot_off on
 * @v: view of the accepted message
 *
 * An OT of these types counts only if an OH announces it.
 *
 * Return: 0, PW_EEP_E_CRC32 or PW_EEP_E_CRC64.
 */
int pw_eep_crc_check(const struct pw_eep_crc *crc, const u8 *trailer, const struct pw_eep_view *v)
{
	struct pw_eep_iter it;
	struct pw_eep_elem el;
	u32 ann = 0;
	u8 want;

	pw_eep_iter_ot(&it, trailer, v);
	while (ann < v->nann && pw_eep_next(&it, &el)) {
		want = v->ann & BIT_ULL(ann) ? PW_OH_CRC64 : PW_OH_CRC32;
		if (el.type != want)
			continue;
		ann++;
		if (want == PW_OH_CRC32 && crc->want32 &&
		    (el.data_len != PW_OH_CRC32_LEN ||
		     get_unaligned_be32(trailer + el.data_off) != (u32)~crc->c32))
			return PW_EEP_E_CRC32;
		if (want == PW_OH_CRC64 && crc->want64 &&
		    (el.data_len != PW_OH_CRC64_LEN ||
		     get_unaligned_be64(trailer + el.data_off) != (u64)~crc->c64))
			return PW_EEP_E_CRC64;
	}
	return 0;
}

/**
 * pw_eep_crc_verify - check the CRCs of a message that lies in one piece
 * @buf: the frame
 * @v: view of the accepted message
 *
 * Return: 0, also if it has none, PW_EEP_E_CRC32 or PW_EEP_E_CRC64.
 */
int pw_eep_crc_verify(const u8 *buf, const struct pw_eep_view *v)
{
	struct pw_eep_crc crc;

	if (!v->nann)
		return 0;
	pw_eep_crc_init(&crc, v->oh_mask);
	pw_eep_crc_update(&crc, buf + v->db_off, (size_t)v->dl * PW_EEP_WORD);
	return pw_eep_crc_check(&crc, buf + v->ot_off, v);
}

/* Byte order --------------------------------------------------------------- */

/**
 * pw_eep_needs_swap - must a data block be swapped for a host?
 * @e: E of the message
 * @host_little: the host is little-endian
 *
 * Return: true if element size and byte order call for it.
 */
bool pw_eep_needs_swap(u8 e, bool host_little)
{
	return pw_eep_elem_size(e) > 1 && !!(e & PW_E_LITTLE) != host_little;
}

/**
 * pw_eep_swap - reverse the bytes of every whole element
 * @data: data block, without its padding
 * @len: its length; bytes after the last whole element stay as they are
 * @e: E of the message; only the element size is looked at
 */
void pw_eep_swap(u8 *data, size_t len, u8 e)
{
	u8 size = pw_eep_elem_size(e);
	u64 hi, lo;

	if (size == 1)
		return;
	for (; len >= size; data += size, len -= size) {
		switch (size) {
		case 2:
			swap(data[0], data[1]);
			break;
		case 4:
			put_unaligned_le32(get_unaligned_be32(data), data);
			break;
		case 8:
			put_unaligned_le64(get_unaligned_be64(data), data);
			break;
		default:
			hi = get_unaligned_be64(data);
			lo = get_unaligned_be64(data + 8);
			put_unaligned_le64(lo, data);
			put_unaligned_le64(hi, data + 8);
		}
	}
}

/* Hops --------------------------------------------------------------------- */

/**
 * pw_eep_hoptrace_append - write an address into the first free slot
 * @slots: data of the hop trace OH
 * @len: its length; bytes after the last whole slot are not used
 * @addr: address of the router
 *
 * Return: number of the slot, or -ENOSPC if all are taken.
 */
int pw_eep_hoptrace_append(u8 *slots, size_t len, u32 addr)
{
	size_t i;

	for (i = 0; i + PW_OH_HOPTRACE_SLOT <= len; i += PW_OH_HOPTRACE_SLOT) {
		if (get_unaligned_be32(slots + i))
			continue;
		put_unaligned_be32(addr & PW_ADDR_MASK, slots + i);
		return i / PW_OH_HOPTRACE_SLOT;
	}
	return -ENOSPC;
}
