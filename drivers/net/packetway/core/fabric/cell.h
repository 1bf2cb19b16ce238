/* SPDX-License-Identifier: GPL-2.0 */
/* Layout of a BMX cell: ATM header, SAR header, 36 data bytes, CRC. */
#ifndef PW_CORE_CELL_H
#define PW_CORE_CELL_H

#include "pw_os.h"
#include "bmx.h"

/* byte indices */
#define PW_CELL_VPI		0	/* 12-bit VPI above 4 bits passed through */
#define PW_CELL_ATM		2	/* rest of the ATM header, 0 */
#define PW_CELL_TYPE		5
#define PW_CELL_FLAG		7
#define PW_CELL_SQN		9
#define PW_CELL_SRC		11
#define PW_CELL_DST		13
#define PW_CELL_DATA		15
#define PW_CELL_CRC		51
#define PW_CELL_DATA_LEN	36
#define PW_CELL_MSG_HDR		20	/* message header in the first cell's data */

#define PW_CELL_T_DATA		0
#define PW_CELL_T_ACK		1
#define PW_CELL_F_FIRST		1	/* flag of a data cell */
#define PW_CELL_F_LAST		2
#define PW_CELL_COM_ALL		0	/* communication type, flag of an ack cell */
#define PW_CELL_COM_ONE		1
#define PW_CELL_COM_MC		2	/* this and above: multicast connection 0 and above */
#define PW_CELL_DST_ALL		0xffff
#define PW_CELL_DST_MC		0x8000	/* a multicast connection; its number in the bits below */

/**
 * struct pw_cell_hdr - header fields of a cell
 * @vpi: header word above its @shift low bits
 * @type: PW_CELL_T_*
 * @flag: PW_CELL_F_* (data) or PW_CELL_COM_* (ack)
 * @sqn: sequence number
 * @src: source port
 * @dst: destination port, PW_CELL_DST_ALL, or PW_CELL_DST_MC with a connection
 */
struct pw_cell_hdr {
	u16 vpi;
	u16 type;
	u16 flag;
	u16 sqn;
	u16 src;
	u16 dst;
};

/* is @dst a multicast connection? */
static inline bool pw_cell_is_mc(u16 dst)
{
	return dst & PW_CELL_DST_MC && dst != PW_CELL_DST_ALL;
}

/* cells that a message of @n data bytes takes */
static inline u32 pw_cell_count(u32 n)
{
	return DIV_ROUND_UP(n + PW_CELL_MSG_HDR, PW_CELL_DATA_LEN);
}

/* CRC of a cell byte by byte: starts at 0, covers bytes 5..50 */
static inline u16 pw_cell_crc_byte(u16 crc, u8 b)
{
	return crc_itu_t(crc, &b, 1);
}

u16 pw_cell_crc(const u8 *cell);
void pw_cell_build(u8 *cell, const struct pw_cell_hdr *h, u32 shift, const u8 *data, u32 len);
void pw_cell_parse(const u8 *cell, u32 shift, struct pw_cell_hdr *h);
void pw_cell_set_vpi(u8 *cell, u32 vpi, u32 shift);

/* bmx_tools.c: not in the module */
bool pw_cell_crc_ok(const u8 *cell);

#endif /* PW_CORE_CELL_H */
