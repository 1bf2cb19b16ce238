/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RRP records: parse and build, no copy, no allocation, no recursion.
 *
 * The data block of an RRP message is a row of records; NAME, CAPA, LADR, SRQR
 * and MTUR that describe a node lie inside the ADDR before them. A record is
 * checked when an iterator meets it: what it hands out needs no more checks.
 *
 * Readings chosen: a record of unknown type is an error, PL must be the one
 * that the layout of the record needs (at most 7 where it may vary), the halves
 * of an address pair come together, and pads are ignored when received.
 *
 * The functions of rrp_tools.c are for tools and tests: the module does not have them.
 */
#ifndef PW_CORE_RRP_H
#define PW_CORE_RRP_H

#include "eep.h"

/**
 * enum pw_rrp_err - why records were refused
 * @PW_RRP_OK: not refused
 * @PW_RRP_E_LEN: not a whole number of words
 * @PW_RRP_E_RTYP: unknown record type
 * @PW_RRP_E_RL: the record runs past the data block or the ADDR that it is in
 * @PW_RRP_E_PL: padding that does not fit the record
 * @PW_RRP_E_AT: address type that may not stand here
 * @PW_RRP_E_PAIR: half of an address pair is missing
 * @PW_RRP_E_NEST: a record that may not lie inside an ADDR
 * @PW_RRP_E_ROUTE: an L2RH of an SRQR is malformed
 * @PW_RRP_E_MSG: the message may not carry these records
 * @PW_RRP_E_NUM: number of codes
 */
enum pw_rrp_err {
	PW_RRP_OK,
	PW_RRP_E_LEN,
	PW_RRP_E_RTYP,
	PW_RRP_E_RL,
	PW_RRP_E_PL,
	PW_RRP_E_AT,
	PW_RRP_E_PAIR,
	PW_RRP_E_NEST,
	PW_RRP_E_ROUTE,
	PW_RRP_E_MSG,
	PW_RRP_E_NUM
};

/**
 * struct pw_rrp_rec - one record
 * @type: enum pw_rrp_rtyp
 * @at: ADDR: PW_RRP_AT_SINGLE, PW_RRP_AT_MIN or PW_RRP_AT_VALUE
 * @code: CAPA: capability
 * @q: SRQR: quality
 * @addr: ADDR: address, first of a range, or value; RTHD: SAN address
 * @addr2: ADDR: last of a range, or mask
 * @mtu: MTUR: in words, 0 = unlimited
 * @serial: RTHD
 * @part: RTHD: number of the part of a table that is longer than a message
 * @last: RTHD: number of the last part; 0: the table is in one message
 * @raw: first byte of the record
 * @size: its bytes, with everything inside
 * @data: NAME: the name; CAPA: parameters; LADR, RCVF: entries of four bytes;
 *	SRQR: L2RHs; ADDR: the records inside
 * @data_len: bytes there
 */
struct pw_rrp_rec {
	u8 type;
	u8 at;
	u8 code;
	u16 q;
	u32 addr;
	u32 addr2;
	u32 mtu;
	u32 serial;
	u16 part;
	u16 last;
	const u8 *raw;
	u32 size;
	const u8 *data;
	u32 data_len;
};

/* private to the iterators */
struct pw_rrp_iter {
	const u8 *p;
	u32 len;
	bool nested;
};

/* one entry of a LADR or RCVF */
struct pw_rrp_entry {
	u8 at;
	u32 addr;
};

/**
 * struct pw_rrp_buf - records being built
 * @out: where to
 * @cap: room there
 * @len: bytes so far
 * @open: offset + 1 of the ADDR that takes what follows, 0 if none does
 * @err: first error; everything after it does nothing
 */
struct pw_rrp_buf {
	u8 *out;
	u32 cap;
	u32 len;
	u32 open;
	int err;
};

/* a capability to describe */
struct pw_rrp_capa {
	u8 code;
	u8 nparams;
	const u8 *params;
};

/**
 * struct pw_rrp_node - description of a node
 * @addr: its address
 * @name: its name, not terminated; none if @name_len is 0
 * @name_len: bytes of the name
 * @capa: capabilities
 * @ncapa: their number
 * @ladr: logical addresses
 * @nladr: their number
 */
struct pw_rrp_node {
	u32 addr;
	const char *name;
	u32 name_len;
	const struct pw_rrp_capa *capa;
	u32 ncapa;
	const struct pw_rrp_entry *ladr;
	u32 nladr;
};

const char *pw_rrp_err_field(int err);
const char *pw_rrp_err_str(int err);
const char *pw_rrp_rtyp_name(u8 rtyp);

int pw_rrp_iter_init(struct pw_rrp_iter *it, const u8 *data, size_t len);
void pw_rrp_iter_nested(struct pw_rrp_iter *it, const struct pw_rrp_rec *addr);
int pw_rrp_next(struct pw_rrp_iter *it, struct pw_rrp_rec *rec);
bool pw_rrp_entry_at(const struct pw_rrp_rec *rec, u32 i, struct pw_rrp_entry *e);
bool pw_rrp_next_l2rh(const struct pw_rrp_rec *rec, u32 *pos, const u8 **route, u32 *len);
int pw_rrp_check(const u8 *data, size_t len);
int pw_rrp_check_msg(u16 pt, u16 te, const u8 *data, size_t len);
bool pw_rrp_addr_match(const struct pw_rrp_rec *rec, u32 addr);
bool pw_rrp_entries_match(const struct pw_rrp_rec *rec, u32 addr);

void pw_rrp_buf_init(struct pw_rrp_buf *b, u8 *out, size_t cap);
int pw_rrp_buf_done(struct pw_rrp_buf *b);
void pw_rrp_put_addr(struct pw_rrp_buf *b, u8 at, u32 addr, u32 addr2);
void pw_rrp_end_addr(struct pw_rrp_buf *b);
void pw_rrp_put_name(struct pw_rrp_buf *b, const char *name, u32 len);
void pw_rrp_put_capa(struct pw_rrp_buf *b, u8 code, const u8 *params, u32 len);
u8 *pw_rrp_put_capa_room(struct pw_rrp_buf *b, u8 code, u32 len);
void pw_rrp_put_entries(struct pw_rrp_buf *b, u8 rtyp, const struct pw_rrp_entry *e, u32 n);
void pw_rrp_put_srqr(struct pw_rrp_buf *b, u16 q, const u8 *l2rhs, u32 len);
void pw_rrp_put_srqr2(struct pw_rrp_buf *b, u16 q, const u8 *l2rhs, u32 len, const u8 *more,
		      u32 more_len);
void pw_rrp_put_mtur(struct pw_rrp_buf *b, u32 mtu);
void pw_rrp_put_rthd(struct pw_rrp_buf *b, u32 san, u32 serial);
void pw_rrp_put_rthd_part(struct pw_rrp_buf *b, u32 san, u32 serial, u16 part, u16 last);
void pw_rrp_put_copy(struct pw_rrp_buf *b, const struct pw_rrp_rec *rec);
void pw_rrp_put_raw(struct pw_rrp_buf *b, const u8 *records, u32 len);
void pw_rrp_put_node(struct pw_rrp_buf *b, const struct pw_rrp_node *node);
int pw_rrp_build_msg(u16 pt, u16 te, u32 dt, u32 sa, u8 p, const u8 *records, u32 len, u8 *out,
		     size_t cap);

#endif /* PW_CORE_RRP_H */
