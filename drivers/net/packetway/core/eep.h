/* SPDX-License-Identifier: GPL-2.0 */
/*
 * EEP messages: parse and build, one pass, no copy, no allocation.
 *
 * Readings chosen where the specification leaves room:
 *
 * - Every OT has the format of an OH. The OTs that OHs announce (CRC32, CRC64)
 *   come first, in the order of those OHs and with their types, self-defined
 *   ones after them; C = 1 marks the last OT. There are OTs if the frame is
 *   longer than the data block and TAIL need. An OT that is announced and not
 *   there is an error, so a frame that was cut short never passes for a whole
 *   one. (Only a message whose OTs are all self-defined has one length at which
 *   it could be cut unnoticed: the first word after the data block, if it is the
 *   last one, is a legal TAIL.)
 * - Both CRCs cover the data block with its padding, 8 * DL bytes. CRC32 is
 *   CRC-32C (seed all ones, result inverted), CRC64 is ECMA-182, most
 *   significant bit first, seed all ones, result inverted (CRC-64/WE). Both are
 *   sent big-endian.
 * - A hop trace is a row of 4-byte slots: a zero byte and the 24-bit address of
 *   a router; a slot of zeros is free.
 * - The low six bits of byte 0 of an L2RH or symbol and all padding are zero
 *   when sent and ignored when received, as RZ is. Their version is checked.
 *
 * The functions of eep_tools.c and eep_build.c are for tools and tests: the module does not
 * have them.
 */
#ifndef PW_CORE_EEP_H
#define PW_CORE_EEP_H

#include "pw_os.h"
#include <linux/packetway_eep.h>

/* Limits of this implementation */
#define PW_EEP_MAX_PREFIX_LEN	16384	/* bytes of L2RHs and symbols together */
#define PW_EEP_MAX_OPTS		64	/* OHs, and as many OTs */
#define PW_EEP_OPT_MAX_SIZE	264	/* bytes of one OH or OT with header and padding */
#define PW_EEP_MAX_OT_LEN	(PW_EEP_MAX_OPTS * PW_EEP_OPT_MAX_SIZE)
#define PW_EEP_MAX_DATA		(8U * PW_EEP_DL_MAX)

#define PW_OH_KNOWN_MASK	(BIT_ULL(PW_OH_CRC32) | BIT_ULL(PW_OH_CRC64) | \
				 BIT_ULL(PW_OH_TIMESTAMP) | BIT_ULL(PW_OH_HOPTRACE))
#define PW_OH_ANNOUNCE_MASK	(BIT_ULL(PW_OH_CRC32) | BIT_ULL(PW_OH_CRC64))

/**
 * enum pw_eep_err - why a message was refused; each has its own counter
 * @PW_EEP_OK: not refused
 * @PW_EEP_E_FRAME: no bytes at all, or more than 32 bits can count
 * @PW_EEP_E_PREFIX_TRUNC: the frame ends where an L2RH, symbol or header must begin
 * @PW_EEP_E_PREFIX_LIMIT: more than PW_EEP_MAX_PREFIX_LEN bytes of prefixes
 * @PW_EEP_E_L2RH_LEN: L2RH without routing bytes
 * @PW_EEP_E_L2RH_OVERRUN: L2RH runs past the frame
 * @PW_EEP_E_SYM_OVERRUN: symbol runs past the frame
 * @PW_EEP_E_VERSION: V is not 0 in a prefix or the header
 * @PW_EEP_E_HDR_TRUNC: the frame ends inside the header
 * @PW_EEP_E_DT_RESERVED: destination begins with 110
 * @PW_EEP_E_DT_UNDEF: destination is 0
 * @PW_EEP_E_ESIZE: element size 5..7
 * @PW_EEP_E_SA: first bit of the source address is set
 * @PW_EEP_E_PL: padding without a data block
 * @PW_EEP_E_DL: the data block runs past the frame
 * @PW_EEP_E_OH_OVERRUN: an OH runs past the frame
 * @PW_EEP_E_OH_LAST: the frame ends before an OH with C = 1
 * @PW_EEP_E_OH_LIMIT: more than PW_EEP_MAX_OPTS OHs
 * @PW_EEP_E_OT_OVERRUN: an OT runs into TAIL
 * @PW_EEP_E_OT_LAST: the OTs reach TAIL without one with C = 1
 * @PW_EEP_E_OT_LIMIT: more than PW_EEP_MAX_OPTS OTs
 * @PW_EEP_E_OT_MISSING: an OT that an OH announced is not there or not in order
 * @PW_EEP_E_TAIL: the frame ends before TAIL does
 * @PW_EEP_E_TRAILING: bytes after TAIL
 * @PW_EEP_E_NO_L2RH: an L2RH was to be consumed and the header is there already
 * @PW_EEP_E_CRC32: CRC32 is wrong or its OT is too short
 * @PW_EEP_E_CRC64: CRC64 is wrong or its OT is too short
 * @PW_EEP_E_NUM: number of codes
 */
enum pw_eep_err {
	PW_EEP_OK,
	PW_EEP_E_FRAME,
	PW_EEP_E_PREFIX_TRUNC,
	PW_EEP_E_PREFIX_LIMIT,
	PW_EEP_E_L2RH_LEN,
	PW_EEP_E_L2RH_OVERRUN,
	PW_EEP_E_SYM_OVERRUN,
	PW_EEP_E_VERSION,
	PW_EEP_E_HDR_TRUNC,
	PW_EEP_E_DT_RESERVED,
	PW_EEP_E_DT_UNDEF,
	PW_EEP_E_ESIZE,
	PW_EEP_E_SA,
	PW_EEP_E_PL,
	PW_EEP_E_DL,
	PW_EEP_E_OH_OVERRUN,
	PW_EEP_E_OH_LAST,
	PW_EEP_E_OH_LIMIT,
	PW_EEP_E_OT_OVERRUN,
	PW_EEP_E_OT_LAST,
	PW_EEP_E_OT_LIMIT,
	PW_EEP_E_OT_MISSING,
	PW_EEP_E_TAIL,
	PW_EEP_E_TRAILING,
	PW_EEP_E_NO_L2RH,
	PW_EEP_E_CRC32,
	PW_EEP_E_CRC64,
	PW_EEP_E_NUM
};

/**
 * enum pw_eep_kind - what a message, or an element of it, begins with
 * @PW_EEP_PHYS: header with a physical destination
 * @PW_EEP_LOGICAL: header with a logical destination
 * @PW_EEP_L2RH: L2 routing header
 * @PW_EEP_SYMBOL: symbol
 * @PW_EEP_RESERVED: reserved pattern 110
 * @PW_EEP_OH: optional header (elements only)
 * @PW_EEP_OT: optional trailer (elements only)
 */
enum pw_eep_kind {
	PW_EEP_PHYS,
	PW_EEP_LOGICAL,
	PW_EEP_L2RH,
	PW_EEP_SYMBOL,
	PW_EEP_RESERVED,
	PW_EEP_OH,
	PW_EEP_OT,
};

/**
 * struct pw_eep_view - where everything is in a message
 * @len: bytes in the frame
 * @need: after -EAGAIN, bytes of head that the next try must have
 * @hdr_off: offset of the header, and bytes of prefixes before it
 * @oh_off: offset of the first OH, if any
 * @oh_len: bytes of OHs
 * @db_off: offset of the data block
 * @data_len: bytes in the data block without its padding
 * @ot_off: offset of the first OT, or of TAIL
 * @ot_len: bytes of OTs
 * @tail_off: offset of TAIL
 * @hoptrace_off: offset of the slots of the first hop trace that a router may
 *	fill (T = 0), 0 if there is none
 * @hoptrace_len: bytes of those slots
 * @stamp_off: offset of the 8 bytes of the first timestamp with T = 0, 0 if there
 *	is none
 * @dt: destination
 * @sa: source
 * @dl: words in the data block
 * @te: packet type extension
 * @pt: packet type
 * @v: version
 * @p: priority
 * @e: endianness and element size
 * @pl: bytes of padding
 * @h: OHs follow the header
 * @hdr_seen: the fields above were read, also if the message was then refused
 * @nl2rh: number of L2RHs
 * @nsym: number of symbols
 * @noh: number of OHs
 * @nots: number of OTs, after pw_eep_parse_trailer()
 * @nann: number of OTs that OHs announce
 * @ann: bit i is set if the i-th announced OT is CRC64, clear if it is CRC32
 * @oh_mask: bit t is set if there is an OH of type t
 * @oh_mand: bit t is set if there is a mandatory OH of type t
 * @ot_mask: as @oh_mask for OTs, after pw_eep_parse_trailer()
 * @ot_mand: as @oh_mand for OTs, after pw_eep_parse_trailer()
 * @ei: error indication, after pw_eep_parse_trailer()
 */
struct pw_eep_view {
	u32 len;
	u32 need;
	u32 hdr_off;
	u32 oh_off;
	u32 oh_len;
	u32 db_off;
	u32 data_len;
	u32 ot_off;
	u32 ot_len;
	u32 tail_off;
	u32 hoptrace_off;
	u32 hoptrace_len;
	u32 stamp_off;
	u32 dt;
	u32 sa;
	u32 dl;
	u16 te;
	u16 pt;
	u8 v;
	u8 p;
	u8 e;
	u8 pl;
	bool h;
	bool hdr_seen;
	u16 nl2rh;
	u16 nsym;
	u8 noh;
	u8 nots;
	u8 nann;
	u64 ann;
	u64 oh_mask;
	u64 oh_mand;
	u64 ot_mask;
	u64 ot_mand;
	u64 ei;
};

/**
 * struct pw_eep_elem - one L2RH, symbol, OH or OT
 * @kind: which
 * @type: symbol type, OH or OT type
 * @off: offset of the element from the base of the iterator
 * @len: bytes with header and padding
 * @data_off: offset of its data from the base of the iterator
 * @data_len: bytes of data (routing bytes of an L2RH)
 * @mandatory: T bit
 * @last: C bit
 */
struct pw_eep_elem {
	enum pw_eep_kind kind;
	u32 type;
	u32 off;
	u32 len;
	u32 data_off;
	u32 data_len;
	bool mandatory;
	bool last;
};

/* private to the iterators */
struct pw_eep_iter {
	const u8 *base;
	u32 pos;
	u32 end;
	enum pw_eep_kind chain;
};

/**
 * struct pw_eep_hop - what a half-router or host takes off the front
 * @consumed: bytes of symbols and of the L2RH
 * @route_off: offset of the routing bytes
 * @route_len: number of routing bytes, 0 if no L2RH was taken
 * @nsym: symbols taken
 * @prio: what a priority symbol said, else the low six bits of the L2RH's first byte if they
 *	are not 0, else -1
 * @trace: a trace symbol was there
 * @need: after -EAGAIN, bytes of head that the next try must have
 */
struct pw_eep_hop {
	u32 consumed;
	u32 route_off;
	u8 route_len;
	u16 nsym;
	s8 prio;
	bool trace;
	u32 need;
};

/**
 * struct pw_eep_hdr - the fields of a header to build
 * @dt: destination
 * @sa: source, 0 = not given
 * @data_len: bytes of data; DL and PL follow from it
 * @te: packet type extension
 * @pt: packet type
 * @p: priority
 * @e: endianness and element size
 * @h: OHs follow
 */
struct pw_eep_hdr {
	u32 dt;
	u32 sa;
	u32 data_len;
	u16 te;
	u16 pt;
	u8 p;
	u8 e;
	bool h;
};

/**
 * struct pw_eep_prefix - an L2RH or symbol to build
 * @kind: PW_EEP_L2RH or PW_EEP_SYMBOL
 * @type: symbol type
 * @data: routing bytes or symbol data
 * @len: their number
 */
struct pw_eep_prefix {
	enum pw_eep_kind kind;
	u32 type;
	const u8 *data;
	u32 len;
};

/**
 * struct pw_eep_opt - an OH or OT to build; C follows from its place
 * @data: its data
 * @len: number of data bytes
 * @type: 6-bit type
 * @mandatory: T bit
 */
struct pw_eep_opt {
	const u8 *data;
	u32 len;
	u8 type;
	bool mandatory;
};

/**
 * struct pw_eep_msg - a message to build
 * @hdr: header fields; h follows from @noh
 * @prefix: L2RHs and symbols in order
 * @nprefix: their number
 * @oh: optional headers
 * @noh: their number
 * @data: hdr.data_len bytes
 * @ot: optional trailers, announced ones first
 * @nots: their number
 * @ei: error indication
 */
struct pw_eep_msg {
	struct pw_eep_hdr hdr;
	const struct pw_eep_prefix *prefix;
	u32 nprefix;
	const struct pw_eep_opt *oh;
	u32 noh;
	const u8 *data;
	const struct pw_eep_opt *ot;
	u32 nots;
	u64 ei;
};

/* running CRCs over the fragments of a data block */
struct pw_eep_crc {
	u64 c64;
	u32 c32;
	bool want32;
	bool want64;
};

/**
 * struct pw_eep_swapper - byte swap over fragments
 * @size: element size in bytes
 * @have: bytes of the current element seen so far
 * @at: where they are
 */
struct pw_eep_swapper {
	u8 size;
	u8 have;
	u8 *at[16];
};

/* What an address is */
enum pw_addr_kind {
	PW_ADDR_KIND_UNDEF,
	PW_ADDR_KIND_PHYS,
	PW_ADDR_KIND_HEYYOU,
	PW_ADDR_KIND_BROADCAST,
	PW_ADDR_KIND_LOGICAL,
	PW_ADDR_KIND_RESERVED,
};

/* Sizes -------------------------------------------------------------------- */

static inline u32 pw_l2rh_size(u32 len)
{
	return (len + 9) / 8 * 8;
}

static inline u32 pw_sym_size(u32 len)
{
	return (len + 12) / 8 * 8;
}

static inline u32 pw_opt_size(u32 len)
{
	return (len + 9) / 8 * 8;
}

/* words and padding of a data block of @len bytes */
static inline u32 pw_eep_dl(u32 len)
{
	return len / 8 + !!(len % 8);
}

static inline u32 pw_eep_pl(u32 len)
{
	return -len & 7;
}

/* Parse -------------------------------------------------------------------- */

int pw_eep_parse(const u8 *buf, size_t len, struct pw_eep_view *v);
static inline enum pw_eep_kind pw_eep_kind_of(u8 byte1)
{
	if ((byte1 & PW_EEP_B1_PHYS_MASK) == PW_EEP_B1_PHYS)
		return PW_EEP_PHYS;
	if ((byte1 & PW_EEP_B1_L2RH_MASK) == PW_EEP_B1_L2RH)
		return PW_EEP_L2RH;
	if ((byte1 & PW_EEP_B1_RSVD_MASK) == PW_EEP_B1_RSVD)
		return PW_EEP_RESERVED;
	return (byte1 & PW_EEP_B1_TOP_MASK) == PW_EEP_B1_LOGICAL ? PW_EEP_LOGICAL : PW_EEP_SYMBOL;
}

/**
 * pw_eep_first - what a message begins with, from its first four bytes
 * @first4: the bytes
 *
 * Enough to decide how to forward: for PW_EEP_PHYS and PW_EEP_LOGICAL the
 * destination is there too.
 *
 * Return: the kind of the first element.
 */
static inline enum pw_eep_kind pw_eep_first(const u8 first4[4])
{
	return pw_eep_kind_of(first4[1]);
}

bool pw_eep_parse_plain(const u8 *head, size_t headlen, size_t framelen, struct pw_eep_view *v);
int pw_eep_parse_head(const u8 *head, size_t headlen, size_t framelen, struct pw_eep_view *v);
int pw_eep_parse_trailer(const u8 *trailer, size_t len, struct pw_eep_view *v);

static inline void pw_eep_iter_init(struct pw_eep_iter *it, const u8 *base, u32 pos, u32 end,
				    enum pw_eep_kind chain)
{
	it->base = base;
	it->pos = pos;
	it->end = end;
	it->chain = chain;
}

void pw_eep_iter_prefix(struct pw_eep_iter *it, const u8 *head, const struct pw_eep_view *v);
void pw_eep_iter_oh(struct pw_eep_iter *it, const u8 *head, const struct pw_eep_view *v);
void pw_eep_iter_ot(struct pw_eep_iter *it, const u8 *trailer, const struct pw_eep_view *v);
bool pw_eep_next(struct pw_eep_iter *it, struct pw_eep_elem *el);

int pw_eep_consume_l2rh(const u8 *head, size_t headlen, size_t framelen, struct pw_eep_hop *hop);
int pw_eep_consume_symbols(const u8 *head, size_t headlen, size_t framelen,
			   struct pw_eep_hop *hop);
int pw_eep_find_header(const u8 *head, size_t headlen, size_t framelen, size_t off, u32 *need);
int pw_eep_check_l2rhs(const u8 *p, u32 len);

const char *pw_eep_err_field(int err);
const char *pw_eep_err_str(int err);
const char *pw_eep_err_name(int err);
u16 pw_eep_err_te(int err);
bool pw_eep_may_answer(const struct pw_eep_view *v);
const char *pw_eep_pt_name(u16 pt);
const char *pw_eep_te_name(u16 pt, u16 te);

/* types of mandatory OHs and OTs that we do not know: the message is not for us to process */
static inline u64 pw_eep_unknown_mandatory(const struct pw_eep_view *v)
{
	return (v->oh_mand | v->ot_mand) & ~PW_OH_KNOWN_MASK;
}

/* Build -------------------------------------------------------------------- */

int pw_eep_build_header(const struct pw_eep_hdr *h, u8 *out, size_t cap);
int pw_eep_put_body(u8 *out, size_t cap, u32 size, u32 hdr_len, const u8 *data, size_t len);
int pw_eep_put_l2rh(u8 *out, size_t cap, const u8 *route, size_t len);
int pw_eep_put_symbol(u8 *out, size_t cap, u32 type, const u8 *data, size_t len);
int pw_eep_put_opt(u8 *out, size_t cap, u8 type, bool mandatory, bool last, const u8 *data,
		   size_t len);
int pw_eep_put_tail(u8 *out, size_t cap, u64 ei);
int pw_eep_front_len(const struct pw_eep_msg *m);
int pw_eep_back_len(const struct pw_eep_msg *m);
int pw_eep_msg_len(const struct pw_eep_msg *m);
int pw_eep_build_front(const struct pw_eep_msg *m, u8 *out, size_t cap);
int pw_eep_build_back(const struct pw_eep_msg *m, u8 *out, size_t cap);
int pw_eep_build(const struct pw_eep_msg *m, u8 *out, size_t cap);

/* Integrity ---------------------------------------------------------------- */

void pw_eep_crc_init(struct pw_eep_crc *crc, u64 oh_mask);
void pw_eep_crc_update(struct pw_eep_crc *crc, const void *data, size_t len);
void pw_eep_crc_put(const struct pw_eep_crc *crc, u8 type, u8 *out);
int pw_eep_crc_check(const struct pw_eep_crc *crc, const u8 *trailer, const struct pw_eep_view *v);
int pw_eep_crc_verify(const u8 *buf, const struct pw_eep_view *v);

/* Byte order --------------------------------------------------------------- */

/* bytes of an element of the data block */
static inline u8 pw_eep_elem_size(u8 e)
{
	return (e & PW_E_SIZE_MASK) > PW_E_SIZE_MAX ? 1 : 1 << (e & PW_E_SIZE_MASK);
}

bool pw_eep_needs_swap(u8 e, bool host_little);
void pw_eep_swap(u8 *data, size_t len, u8 e);
void pw_eep_swap_init(struct pw_eep_swapper *sw, u8 e);
void pw_eep_swap_feed(struct pw_eep_swapper *sw, u8 *data, size_t len);

/* Hops, addresses, priorities ---------------------------------------------- */

int pw_eep_hoptrace_append(u8 *slots, size_t len, u32 addr);

/* What a router makes of the error indication. */
static inline u64 pw_eep_ei_hop(u64 ei, bool error)
{
	if (!(ei >> 63))
		ei <<= 1;
	return ei | error;
}

static inline enum pw_addr_kind pw_addr_kind(u32 addr)
{
	if (addr == PW_ADDR_UNDEF)
		return PW_ADDR_KIND_UNDEF;
	if (addr <= PW_ADDR_PHYS_MAX)
		return PW_ADDR_KIND_PHYS;
	if (addr == PW_ADDR_HEYYOU)
		return PW_ADDR_KIND_HEYYOU;
	if (addr == PW_ADDR_BROADCAST)
		return PW_ADDR_KIND_BROADCAST;
	if (addr >= PW_ADDR_LOGICAL_MIN && addr <= PW_ADDR_LOGICAL_MAX)
		return PW_ADDR_KIND_LOGICAL;
	return PW_ADDR_KIND_RESERVED;
}

/* Node @node (1..) of the SAN with this @bias; PW_ADDR_UNDEF if that is no address. */
static inline u32 pw_addr_make(u32 bias, u32 node)
{
	if (!node || bias > PW_ADDR_PHYS_MAX || node > PW_ADDR_PHYS_MAX - bias)
		return PW_ADDR_UNDEF;
	return bias + node;
}

/* Is @addr one of the nodes 1..@nodes of the SAN with this @bias? */
static inline bool pw_addr_in_san(u32 addr, u32 bias, u32 nodes)
{
	return addr <= PW_ADDR_PHYS_MAX && addr > bias && addr - bias <= nodes;
}

/* Both scales go from 0, lowest; socket priorities above 63 are 63. */
static inline u8 pw_eep_p_from_prio(u32 prio)
{
	return prio > PW_EEP_P_MAX ? PW_EEP_P_MAX : prio;
}

static inline u32 pw_eep_prio_from_p(u8 p)
{
	return p & PW_EEP_P_MASK;
}

#endif /* PW_CORE_EEP_H */
