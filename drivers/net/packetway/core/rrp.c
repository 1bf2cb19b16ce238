// SPDX-License-Identifier: GPL-2.0
/*
 * RRP codec: records that half-routers and nodes exchange.
 *
 * Every record begins with RTyp(8) PL(8) RL(16) and four bytes of its own; RL
 * counts the words that follow, so it has 8 * RL + 4 - PL bytes of data.
 */
#include "rrp.h"

/* Parse -------------------------------------------------------------------- */

/**
 * pw_rrp_iter_init - walk the records of a data block
 * @it: iterator
 * @data: data block
 * @len: its length
 *
 * Return: 0 or PW_RRP_E_LEN.
 */
int pw_rrp_iter_init(struct pw_rrp_iter *it, const u8 *data, size_t len)
{
	it->p = data;
	it->len = 0;
	it->nested = false;
	if (len % PW_EEP_WORD || len > PW_EEP_MAX_DATA)
		return PW_RRP_E_LEN;
	it->len = len;
	return 0;
}

/**
 * pw_rrp_iter_nested - walk the records inside an ADDR
 * @it: iterator
 * @addr: the ADDR
 */
void pw_rrp_iter_nested(struct pw_rrp_iter *it, const struct pw_rrp_rec *addr)
{
	it->p = addr->data;
	it->len = addr->data_len;
	it->nested = true;
}

static int pw_rrp_parse_addr(struct pw_rrp_rec *rec, u8 pl)
{
	const u8 *p = rec->raw;
	u32 own = PW_RRP_HDR_LEN;

	rec->at = p[PW_RRP_OFF_BODY];
	rec->addr = get_unaligned_be24(p + PW_RRP_OFF_BODY + 1);
	switch (rec->at) {
	case PW_RRP_AT_SINGLE:
		if (pl)
			return PW_RRP_E_PL;
		break;
	case PW_RRP_AT_MIN:
	case PW_RRP_AT_VALUE:
		if (rec->size < 2 * PW_RRP_HDR_LEN || p[PW_RRP_HDR_LEN] != rec->at + 1)
			return PW_RRP_E_PAIR;
		if (pl != 4)
			return PW_RRP_E_PL;
		rec->addr2 = get_unaligned_be24(p + PW_RRP_HDR_LEN + 1);
		own += PW_EEP_WORD;
		break;
	default:
		return PW_RRP_E_AT;
	}
	rec->data = p + own;
	rec->data_len = rec->size - own;
	return 0;
}

/* AT of entries: singles, and pairs whose second half follows the first */
static int pw_rrp_check_entries(const struct pw_rrp_rec *rec)
{
	u8 half = 0;
	u32 i;

	for (i = 0; i < rec->data_len; i += 4) {
		u8 at = rec->data[i];

		if (half && at != half)
			return PW_RRP_E_PAIR;
		if (half) {
			half = 0;
			continue;
		}
		if (at == PW_RRP_AT_MIN || at == PW_RRP_AT_VALUE)
			half = at + 1;
		else if (at != PW_RRP_AT_SINGLE)
			return PW_RRP_E_AT;
	}
	return half ? PW_RRP_E_PAIR : 0;
}

static int pw_rrp_parse_one(struct pw_rrp_rec *rec)
{
	const u8 *p = rec->raw;
	u8 pl = p[PW_RRP_OFF_PL];

	rec->data = p + PW_RRP_OFF_BODY;
	/* of the records whose pad may vary; never negative if PL is in range */
	rec->data_len = rec->size - PW_RRP_OFF_BODY - pl;
	switch (rec->type) {
	case PW_RRP_ADDR:
		return pw_rrp_parse_addr(rec, pl);
	case PW_RRP_NAME:
		return pl > 7 || (rec->size == PW_RRP_HDR_LEN && pl > 4) ? PW_RRP_E_PL : 0;
	case PW_RRP_CAPA:
		if (pl > 7 || (rec->size == PW_RRP_HDR_LEN && pl > 3))
			return PW_RRP_E_PL;
		rec->code = *rec->data++;
		rec->data_len--;
		return 0;
	case PW_RRP_LADR:
	case PW_RRP_RCVF:
		if (pl != 0 && pl != 4)
			return PW_RRP_E_PL;
		return pw_rrp_check_entries(rec);
	case PW_RRP_SRQR:
		if (pl != 2)
			return PW_RRP_E_PL;
		rec->q = get_unaligned_be16(p + PW_RRP_OFF_BODY + 2);
		rec->data = p + PW_RRP_HDR_LEN;
		rec->data_len = rec->size - PW_RRP_HDR_LEN;
		return pw_eep_check_l2rhs(rec->data, rec->data_len) ? PW_RRP_E_ROUTE : 0;
	case PW_RRP_MTUR:
		if (rec->size != PW_RRP_HDR_LEN)
			return PW_RRP_E_RL;
		if (pl)
			return PW_RRP_E_PL;
		rec->mtu = get_unaligned_be32(p + PW_RRP_OFF_BODY);
		rec->data_len = 0;
		return 0;
	case PW_RRP_RTHD:
		if (rec->size != 2 * PW_RRP_HDR_LEN)
			return PW_RRP_E_RL;
		if (pl)
			return PW_RRP_E_PL;
		if (p[PW_RRP_OFF_BODY] != PW_RRP_AT_SINGLE)
			return PW_RRP_E_AT;
		rec->at = PW_RRP_AT_SINGLE;
		rec->addr = get_unaligned_be24(p + PW_RRP_OFF_BODY + 1);
		rec->serial = get_unaligned_be32(p + PW_RRP_HDR_LEN);
		rec->part = get_unaligned_be16(p + PW_RRP_HDR_LEN + 4);
		rec->last = get_unaligned_be16(p + PW_RRP_HDR_LEN + 6);
		rec->data_len = 0;
		return 0;
	default:
		return PW_RRP_E_RTYP;
	}
}

/**
 * pw_rrp_next - next record
 * @it: iterator
 * @rec: the record
 *
 * The records inside an ADDR are skipped; pw_rrp_iter_nested() walks them.
 *
 * Return: 1 with a record, 0 at the end, the negative of enum pw_rrp_err for a
 * malformed record.
 */
int pw_rrp_next(struct pw_rrp_iter *it, struct pw_rrp_rec *rec)
{
	u32 size;
	int err;

	if (!it->len)
		return 0;
	if (it->len < PW_RRP_HDR_LEN)
		return -PW_RRP_E_RL;
	memset(rec, 0, sizeof(*rec));
	rec->type = it->p[PW_RRP_OFF_RTYP];
	if (rec->type < PW_RRP_ADDR || rec->type > PW_RRP_RTHD)
		return -PW_RRP_E_RTYP;
	if (it->nested && (rec->type == PW_RRP_ADDR || rec->type >= PW_RRP_RCVF))
		return -PW_RRP_E_NEST;
	size = PW_RRP_HDR_LEN + PW_EEP_WORD * get_unaligned_be16(it->p + PW_RRP_OFF_RL);
	if (size > it->len)
		return -PW_RRP_E_RL;
	rec->raw = it->p;
	rec->size = size;
	err = pw_rrp_parse_one(rec);
	if (err)
		return -err;
	it->p += size;
	it->len -= size;
	return 1;
}

/**
 * pw_rrp_entry_at - entry of a LADR or RCVF
 * @rec: the record
 * @i: which entry
 * @e: the entry
 *
 * Return: false if there are not so many.
 */
bool pw_rrp_entry_at(const struct pw_rrp_rec *rec, u32 i, struct pw_rrp_entry *e)
{
	if (i >= rec->data_len / 4)
		return false;
	e->at = rec->data[4 * i];
	e->addr = get_unaligned_be24(rec->data + 4 * i + 1);
	return true;
}

/**
 * pw_rrp_check - check all records of a data block
 * @data: data block
 * @len: its length
 *
 * Return: 0 or enum pw_rrp_err.
 */
int pw_rrp_check(const u8 *data, size_t len)
{
	struct pw_rrp_iter it, inner;
	struct pw_rrp_rec rec, sub;
	int ret;

	ret = pw_rrp_iter_init(&it, data, len);
	if (ret)
		return ret;
	while ((ret = pw_rrp_next(&it, &rec)) > 0) {
		if (rec.type != PW_RRP_ADDR)
			continue;
		pw_rrp_iter_nested(&inner, &rec);
		do {
			ret = pw_rrp_next(&inner, &sub);
		} while (ret > 0);
		if (ret < 0)
			return -ret;
	}
	return -ret;
}

/* what lies inside an ADDR, counted by type */
static void pw_rrp_count_nested(const struct pw_rrp_rec *addr, u32 n[PW_RRP_RTHD + 1])
{
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;

	memset(n, 0, sizeof(u32) * (PW_RRP_RTHD + 1));
	pw_rrp_iter_nested(&it, addr);
	while (pw_rrp_next(&it, &rec) > 0)
		n[rec.type]++;
}

/* a node's description: [NAME] CAPA* [LADR], and as many SRQRs as asked for */
static bool pw_rrp_is_node(const struct pw_rrp_rec *addr, u32 srqr)
{
	u32 n[PW_RRP_RTHD + 1];

	pw_rrp_count_nested(addr, n);
	return n[PW_RRP_NAME] <= 1 && n[PW_RRP_LADR] <= 1 && n[PW_RRP_SRQR] == srqr &&
	       !n[PW_RRP_MTUR];
}

/* (SRQR [MTUR])+ */
static bool pw_rrp_is_routes(const struct pw_rrp_rec *addr)
{
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;
	u8 last = 0;

	pw_rrp_iter_nested(&it, addr);
	while (pw_rrp_next(&it, &rec) > 0) {
		if (rec.type != PW_RRP_SRQR && (rec.type != PW_RRP_MTUR || last != PW_RRP_SRQR))
			return false;
		last = rec.type;
	}
	return last;
}

/* an ADDR of a TELL: nothing inside, or criteria for the nodes that it means */
static bool pw_rrp_is_criterion(const struct pw_rrp_rec *addr)
{
	u32 n[PW_RRP_RTHD + 1];

	pw_rrp_count_nested(addr, n);
	return !n[PW_RRP_LADR] && !n[PW_RRP_SRQR] && !n[PW_RRP_MTUR];
}

/* Does record @i fit message @te? */
static bool pw_rrp_fits(u16 te, u32 i, const struct pw_rrp_rec *rec)
{
	bool addr = rec->type == PW_RRP_ADDR;

	switch (te) {
	case PW_TE_GVL2:
	case PW_TE_HRTO:
		return i < 1 && addr && !rec->data_len;
	case PW_TE_L2SR:
		return i < 1 && addr && pw_rrp_is_routes(rec);
	case PW_TE_RDRC:
		return i < 2 && addr && !rec->data_len;
	case PW_TE_TELL:
		return (addr && pw_rrp_is_criterion(rec)) || rec->type == PW_RRP_NAME ||
		       rec->type == PW_RRP_CAPA;
	case PW_TE_INFO:
		return addr && pw_rrp_is_node(rec, 0);
	case PW_TE_RTBL:
		switch (i) {
		case 0:
			return rec->type == PW_RRP_RTHD;
		case 1:
			return rec->type == PW_RRP_SRQR;
		case 2:
			return rec->type == PW_RRP_MTUR;
		case 3:
			return rec->type == PW_RRP_RCVF;
		default:
			return addr && pw_rrp_is_node(rec, 1);
		}
	default:
		return false;
	}
}

/**
 * pw_rrp_check_msg - check that a message carries the records that it should
 * @pt: PW_PT_RRP or PW_PT_ERR
 * @te: which message
 * @data: its data block
 * @len: length of that
 *
 * ERR/GENERAL carries a message, not records, and is not for this function.
 *
 * Return: 0 or enum pw_rrp_err.
 */
int pw_rrp_check_msg(u16 pt, u16 te, const u8 *data, size_t len)
{
	static const u8 least[] = {
		[PW_TE_GVL2] = 1, [PW_TE_L2SR] = 1, [PW_TE_RDRC] = 2, [PW_TE_TELL] = 1,
		[PW_TE_INFO] = 1, [PW_TE_HRTO] = 1, [PW_TE_WRU] = 0, [PW_TE_GVRT] = 0,
		[PW_TE_RTBL] = 4,
	};
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;
	u32 n = 0;
	int err;

	err = pw_rrp_check(data, len);
	if (err)
		return err;
	pw_rrp_iter_init(&it, data, len);
	while (pw_rrp_next(&it, &rec) > 0) {
		bool fits;

		if (pt == PW_PT_RRP)
			fits = pw_rrp_fits(te, n, &rec);
		else if (te == PW_TE_ERR_HRDOWN || te == PW_TE_ERR_LINKDOWN)
			fits = n < 2 && rec.type == PW_RRP_ADDR;
		else if (te == PW_TE_ERR_TOOBIG)
			fits = rec.type == PW_RRP_MTUR || rec.type == PW_RRP_ADDR;
		else
			fits = te == PW_TE_ERR_UNK;
		if (!fits)
			return PW_RRP_E_MSG;
		n++;
	}
	if (pt == PW_PT_RRP)
		return te && te < ARRAY_SIZE(least) && n >= least[te] ? 0 : PW_RRP_E_MSG;
	if (te == PW_TE_ERR_HRDOWN || te == PW_TE_ERR_LINKDOWN)
		return n == 2 ? 0 : PW_RRP_E_MSG;
	return n ? 0 : PW_RRP_E_MSG;
}

static bool pw_rrp_match(u8 at, u32 a, u32 b, u32 addr)
{
	switch (at) {
	case PW_RRP_AT_SINGLE:
		return addr == a;
	case PW_RRP_AT_MIN:
		return addr >= a && addr <= b;
	case PW_RRP_AT_VALUE:
		return (addr & b) == (a & b);
	default:
		return false;
	}
}

/**
 * pw_rrp_addr_match - does an ADDR mean this address?
 * @rec: the ADDR
 * @addr: address
 *
 * Return: true if it is the single one, in the range, or equal under the mask.
 */
bool pw_rrp_addr_match(const struct pw_rrp_rec *rec, u32 addr)
{
	return pw_rrp_match(rec->at, rec->addr, rec->addr2, addr);
}

/**
 * pw_rrp_entries_match - does a LADR or RCVF hold this address?
 * @rec: the record
 * @addr: address
 *
 * Return: true if one of its entries or pairs means it.
 */
bool pw_rrp_entries_match(const struct pw_rrp_rec *rec, u32 addr)
{
	struct pw_rrp_entry e, f = { 0 };
	u32 i = 0;

	while (pw_rrp_entry_at(rec, i++, &e)) {
		if (e.at != PW_RRP_AT_SINGLE)
			pw_rrp_entry_at(rec, i++, &f);
		if (pw_rrp_match(e.at, e.addr, f.addr, addr))
			return true;
	}
	return false;
}

/* Build -------------------------------------------------------------------- */

/**
 * pw_rrp_buf_init - begin to build records
 * @b: builder; a copy of it taken before a record takes that record back
 * @out: where to
 * @cap: room there
 */
void pw_rrp_buf_init(struct pw_rrp_buf *b, u8 *out, size_t cap)
{
	b->out = out;
	b->cap = cap > PW_EEP_MAX_DATA ? PW_EEP_MAX_DATA : cap;
	b->len = 0;
	b->open = 0;
	b->err = 0;
}

/**
 * pw_rrp_buf_done - end of the records
 * @b: builder
 *
 * Return: bytes written, -EINVAL if a value does not fit its field, -ENOSPC.
 */
int pw_rrp_buf_done(struct pw_rrp_buf *b)
{
	pw_rrp_end_addr(b);
	return b->err ? b->err : (int)b->len;
}

/* room for a record of @rl words after the first; NULL if there is none */
static u8 *pw_rrp_new(struct pw_rrp_buf *b, u8 rtyp, u8 pl, u32 rl)
{
	u32 size = PW_RRP_HDR_LEN + rl * PW_EEP_WORD;
	u32 outer = 0;
	u8 *addr = NULL;
	u8 *p;

	if (b->err)
		return NULL;
	if (b->open && (rtyp == PW_RRP_ADDR || rtyp >= PW_RRP_RCVF))
		b->open = 0;
	if (b->open) {
		addr = b->out + b->open - 1;
		outer = get_unaligned_be16(addr + PW_RRP_OFF_RL) + 1 + rl;
	}
	if (rl > PW_RRP_RL_MAX || outer > PW_RRP_RL_MAX)
		b->err = -EINVAL;
	else if (b->cap - b->len < size)
		b->err = -ENOSPC;
	if (b->err)
		return NULL;
	if (addr)
		put_unaligned_be16(outer, addr + PW_RRP_OFF_RL);
	p = b->out + b->len;
	memset(p, 0, size);
	p[PW_RRP_OFF_RTYP] = rtyp;
	p[PW_RRP_OFF_PL] = pl;
	put_unaligned_be16(rl, p + PW_RRP_OFF_RL);
	b->len += size;
	return p;
}

/* a record padded after its data, of which there are @len bytes */
static u8 *pw_rrp_new_pad(struct pw_rrp_buf *b, u8 rtyp, u32 len)
{
	u32 rl = len <= 4 ? 0 : (len - 4 + 7) / 8;

	return pw_rrp_new(b, rtyp, 8 * rl + 4 - len, rl);
}

/**
 * pw_rrp_put_addr - begin an ADDR; node records that follow go inside
 * @b: builder
 * @at: PW_RRP_AT_SINGLE, PW_RRP_AT_MIN or PW_RRP_AT_VALUE
 * @addr: address, first of a range, or value
 * @addr2: last of a range, or mask
 */
void pw_rrp_put_addr(struct pw_rrp_buf *b, u8 at, u32 addr, u32 addr2)
{
	bool pair = at != PW_RRP_AT_SINGLE;
	u32 pos = b->len;
	u8 *p;

	if (addr > PW_ADDR_MASK || (pair && addr2 > PW_ADDR_MASK) ||
	    (pair && at != PW_RRP_AT_MIN && at != PW_RRP_AT_VALUE)) {
		b->err = b->err ? b->err : -EINVAL;
		return;
	}
	p = pw_rrp_new(b, PW_RRP_ADDR, pair ? 4 : 0, pair);
	if (!p)
		return;
	p[PW_RRP_OFF_BODY] = at;
	put_unaligned_be24(addr, p + PW_RRP_OFF_BODY + 1);
	if (pair) {
		p[PW_RRP_HDR_LEN] = at + 1;
		put_unaligned_be24(addr2, p + PW_RRP_HDR_LEN + 1);
	}
	b->open = pos + 1;
}

/**
 * pw_rrp_end_addr - what follows does not go inside the ADDR before
 * @b: builder
 */
void pw_rrp_end_addr(struct pw_rrp_buf *b)
{
	b->open = 0;
}

/**
 * pw_rrp_put_name - add a NAME
 * @b: builder
 * @name: its bytes
 * @len: their number
 */
void pw_rrp_put_name(struct pw_rrp_buf *b, const char *name, u32 len)
{
	u8 *p;

	if (len > 8U * PW_RRP_RL_MAX) {
		b->err = b->err ? b->err : -EINVAL;
		return;
	}
	p = pw_rrp_new_pad(b, PW_RRP_NAME, len);
	if (p && len)
		memcpy(p + PW_RRP_OFF_BODY, name, len);
}

/**
 * pw_rrp_put_capa - add a CAPA
 * @b: builder
 * @code: capability
 * @params: parameters
 * @len: bytes of them
 */
void pw_rrp_put_capa(struct pw_rrp_buf *b, u8 code, const u8 *params, u32 len)
{
	u8 *p = pw_rrp_put_capa_room(b, code, len);

	if (p && len)
		memcpy(p, params, len);
}

/**
 * pw_rrp_put_capa_room - add a CAPA whose parameters the caller writes
 * @b: builder
 * @code: capability
 * @len: bytes of parameters
 *
 * Return: where to write them, or NULL.
 */
u8 *pw_rrp_put_capa_room(struct pw_rrp_buf *b, u8 code, u32 len)
{
	u8 *p;

	if (len >= 8U * PW_RRP_RL_MAX) {
		b->err = b->err ? b->err : -EINVAL;
		return NULL;
	}
	p = pw_rrp_new_pad(b, PW_RRP_CAPA, len + 1);
	if (!p)
		return NULL;
	p[PW_RRP_OFF_BODY] = code;
	return p + PW_RRP_OFF_BODY + 1;
}

/**
 * pw_rrp_put_entries - add a LADR or RCVF
 * @b: builder
 * @rtyp: PW_RRP_LADR or PW_RRP_RCVF
 * @e: entries
 * @n: their number
 */
void pw_rrp_put_entries(struct pw_rrp_buf *b, u8 rtyp, const struct pw_rrp_entry *e, u32 n)
{
	struct pw_rrp_rec rec = { 0 };
	u32 i;
	u8 *p;

	if ((rtyp != PW_RRP_LADR && rtyp != PW_RRP_RCVF) || n > 2U * PW_RRP_RL_MAX) {
		b->err = b->err ? b->err : -EINVAL;
		return;
	}
	p = pw_rrp_new_pad(b, rtyp, 4 * n);
	if (!p)
		return;
	for (i = 0; i < n; i++) {
		p[PW_RRP_OFF_BODY + 4 * i] = e[i].at;
		put_unaligned_be24(e[i].addr, p + PW_RRP_OFF_BODY + 4 * i + 1);
		if (e[i].addr > PW_ADDR_MASK)
			b->err = -EINVAL;
	}
	rec.data = p + PW_RRP_OFF_BODY;
	rec.data_len = 4 * n;
	if (pw_rrp_check_entries(&rec))
		b->err = -EINVAL;
}

/**
 * pw_rrp_put_srqr2 - add an SRQR with a route in two parts
 * @b: builder
 * @q: quality
 * @l2rhs: L2RHs as pw_eep_put_l2rh() writes them
 * @len: bytes of them
 * @more: L2RHs to follow
 * @more_len: bytes of them
 */
void pw_rrp_put_srqr2(struct pw_rrp_buf *b, u16 q, const u8 *l2rhs, u32 len, const u8 *more,
		      u32 more_len)
{
	u8 *p;

	if (len > 8U * PW_RRP_RL_MAX || more_len > 8U * PW_RRP_RL_MAX || len % 8 || more_len % 8 ||
	    pw_eep_check_l2rhs(l2rhs, len) || pw_eep_check_l2rhs(more, more_len)) {
		b->err = b->err ? b->err : -EINVAL;
		return;
	}
	p = pw_rrp_new(b, PW_RRP_SRQR, 2, (len + more_len) / 8);
	if (!p)
		return;
	put_unaligned_be16(q, p + PW_RRP_OFF_BODY + 2);
	if (len)
		memcpy(p + PW_RRP_HDR_LEN, l2rhs, len);
	if (more_len)
		memcpy(p + PW_RRP_HDR_LEN + len, more, more_len);
}

/**
 * pw_rrp_put_srqr - add an SRQR
 * @b: builder
 * @q: quality
 * @l2rhs: L2RHs as pw_eep_put_l2rh() writes them
 * @len: bytes of them
 */
void pw_rrp_put_srqr(struct pw_rrp_buf *b, u16 q, const u8 *l2rhs, u32 len)
{
	pw_rrp_put_srqr2(b, q, l2rhs, len, NULL, 0);
}

/**
 * pw_rrp_put_mtur - add an MTUR
 * @b: builder
 * @mtu: in words, 0 = unlimited
 */
void pw_rrp_put_mtur(struct pw_rrp_buf *b, u32 mtu)
{
	u8 *p = pw_rrp_new(b, PW_RRP_MTUR, 0, 0);

	if (p)
		put_unaligned_be32(mtu, p + PW_RRP_OFF_BODY);
}

/**
 * pw_rrp_put_rthd_part - add the RTHD of a part of a table
 * @b: builder
 * @san: address of the SAN
 * @serial: serial number of the table
 * @part: number of the part
 * @last: number of the last part
 */
void pw_rrp_put_rthd_part(struct pw_rrp_buf *b, u32 san, u32 serial, u16 part, u16 last)
{
	u8 *p;

	if (san > PW_ADDR_MASK) {
		b->err = b->err ? b->err : -EINVAL;
		return;
	}
	p = pw_rrp_new(b, PW_RRP_RTHD, 0, 1);
	if (!p)
		return;
	p[PW_RRP_OFF_BODY] = PW_RRP_AT_SINGLE;
	put_unaligned_be24(san, p + PW_RRP_OFF_BODY + 1);
	put_unaligned_be32(serial, p + PW_RRP_HDR_LEN);
	put_unaligned_be16(part, p + PW_RRP_HDR_LEN + 4);
	put_unaligned_be16(last, p + PW_RRP_HDR_LEN + 6);
}

/**
 * pw_rrp_put_rthd - add the RTHD of a table in one message
 * @b: builder
 * @san: address of the SAN
 * @serial: serial number of the table
 */
void pw_rrp_put_rthd(struct pw_rrp_buf *b, u32 san, u32 serial)
{
	pw_rrp_put_rthd_part(b, san, serial, 0, 0);
}

/**
 * pw_rrp_put_copy - add a record as an iterator handed it out
 * @b: builder; node records go inside the ADDR that is open
 * @rec: the record, not an ADDR
 */
void pw_rrp_put_copy(struct pw_rrp_buf *b, const struct pw_rrp_rec *rec)
{
	u8 *p = pw_rrp_new(b, rec->type, rec->raw[PW_RRP_OFF_PL], rec->size / PW_EEP_WORD - 1);

	if (p)
		memcpy(p, rec->raw, rec->size);
}

/**
 * pw_rrp_put_raw - add records that pw_rrp_check() has accepted, at top level
 * @b: builder
 * @records: the records
 * @len: bytes of them
 */
void pw_rrp_put_raw(struct pw_rrp_buf *b, const u8 *records, u32 len)
{
	b->open = 0;
	if (!b->err && b->cap - b->len < len)
		b->err = -ENOSPC;
	if (b->err || !len)
		return;
	memcpy(b->out + b->len, records, len);
	b->len += len;
}
