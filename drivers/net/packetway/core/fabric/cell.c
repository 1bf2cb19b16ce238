// SPDX-License-Identifier: GPL-2.0
/* Layout of a BMX cell. */
#include "cell.h"

/**
 * pw_cell_crc() - CRC of a cell
 * @cell: 53 bytes
 *
 * Return: CRC-CCITT, preset 0, over bytes 5..50.
 */
u16 pw_cell_crc(const u8 *cell)
{
	return crc_itu_t(0, cell + PW_CELL_TYPE, PW_CELL_CRC - PW_CELL_TYPE);
}

/**
 * pw_cell_set_vpi() - write the header word
 * @cell: 53 bytes
 * @vpi: VPI
 * @shift: bits below the VPI, which become 0
 */
void pw_cell_set_vpi(u8 *cell, u32 vpi, u32 shift)
{
	put_unaligned_be16(vpi << shift, cell + PW_CELL_VPI);
}

/**
 * pw_cell_build() - make a cell with its CRC
 * @cell: 53 bytes to fill
 * @h: header fields
 * @shift: bits of the header word below the VPI
 * @data: data
 * @len: its length, at most 36; the tail is zeroed
 */
void pw_cell_build(u8 *cell, const struct pw_cell_hdr *h, u32 shift, const u8 *data, u32 len)
{
	len = min_t(u32, len, PW_CELL_DATA_LEN);
	memset(cell, 0, PW_BMX_CELL);
	pw_cell_set_vpi(cell, h->vpi, shift);
	put_unaligned_be16(h->type, cell + PW_CELL_TYPE);
	put_unaligned_be16(h->flag, cell + PW_CELL_FLAG);
	put_unaligned_be16(h->sqn, cell + PW_CELL_SQN);
	put_unaligned_be16(h->src, cell + PW_CELL_SRC);
	put_unaligned_be16(h->dst, cell + PW_CELL_DST);
	if (len)
		memcpy(cell + PW_CELL_DATA, data, len);
	put_unaligned_be16(pw_cell_crc(cell), cell + PW_CELL_CRC);
}

/**
 * pw_cell_parse() - read the header fields
 * @cell: 53 bytes
 * @shift: bits of the header word below the VPI
 * @h: result
 */
void pw_cell_parse(const u8 *cell, u32 shift, struct pw_cell_hdr *h)
{
	h->vpi = get_unaligned_be16(cell + PW_CELL_VPI) >> shift;
	h->type = get_unaligned_be16(cell + PW_CELL_TYPE);
	h->flag = get_unaligned_be16(cell + PW_CELL_FLAG);
	h->sqn = get_unaligned_be16(cell + PW_CELL_SQN);
	h->src = get_unaligned_be16(cell + PW_CELL_SRC);
	h->dst = get_unaligned_be16(cell + PW_CELL_DST);
}
