/* SPDX-License-Identifier: GPL-2.0 */
/*
 * BMX cell switch, register by register: cross-point memory (XPM), translation
 * table, input unit (PPD) and output unit (SPD).
 *
 * One call of a step function is one cycle, one cycle is one byte time on a
 * link. A PPD or SPD that is stepped later in a cycle sees what an earlier one wrote
 * in the same cycle; within a switch all SPDs run before all PPDs. The default
 * sizes are those of the published machine: 4x4 switches, queues of 8 cells, 256
 * table entries.
 */
#ifndef PW_CORE_BMX_H
#define PW_CORE_BMX_H

#include "pw_os.h"

#define PW_BMX_CELL		53	/* bytes in a cell */
/*
 * Byte 0 on a link in cycle t: the PPD or port downstream accepts or refuses the cell in
 * t + PW_BMX_DECIDE, when byte PW_BMX_DECIDE is on the link. A PPD pushes the first byte
 * in that cycle.
 */
#define PW_BMX_DECIDE		3
/* the SPD upstream reacts a cycle later, when it has fetched one byte more */
#define PW_BMX_REFUND		(PW_BMX_DECIDE + 2)
/* cycles from the selection of a queue to byte 0 on the link: fetch, output register */
#define PW_BMX_SELECT		2
/* cycles through a switch, link to link: push, selection in the next cycle, output */
#define PW_BMX_HOP		(PW_BMX_DECIDE + 1 + PW_BMX_SELECT)
#define PW_BMX_K		4	/* default ports of a switch */
#define PW_BMX_KMIN		2
#define PW_BMX_KMAX		16
#define PW_BMX_DEPTH		8	/* default cells in a queue */
#define PW_BMX_DEPTH_MAX	64
#define PW_BMX_ENTRIES		256	/* default table entries */

/**
 * struct pw_bmx_xpm - circular byte queue between one PPD and one SPD
 * @mem: @cap bytes
 * @cap: capacity, a whole number of cells
 * @head: next byte to pop
 * @tail: next byte to push
 * @size: bytes stored; signed, so that a reader that overtakes the writer (impossible
 *	with gapless cells) does not look like a full queue
 * @used: a byte was pushed since reset
 */
struct pw_bmx_xpm {
	u8 *mem;
	s32 size;
	u16 cap;
	u16 head;
	u16 tail;
	bool used;
};

/**
 * struct pw_bmx_entry - translation of one VPI
 * @sel: bit i: the cell goes to queue i
 * @vpi: new VPI for queue i
 */
struct pw_bmx_entry {
	u16 sel;
	u16 vpi[PW_BMX_KMAX];
};

/**
 * struct pw_bmx_tab - translation table of a PPD with its write port
 * @row: @entries rows of @stride words, the first one holds the select bits
 * @entries: number of rows; a VPI beyond reads as an entry without outputs
 * @stride: words per row: 1 + k (a VPI for each output) or 2 (one VPI for all of them)
 * @shift: bits of the header word below the VPI
 * @wadr: write port: address
 * @datain: write port: entry
 * @wcmd: write port: write in the next cycle
 */
struct pw_bmx_tab {
	u16 *row;
	u32 entries;
	u8 stride;
	u8 shift;
	bool wcmd;
	u32 wadr;
	struct pw_bmx_entry datain;
};

/**
 * struct pw_bmx_ppd - input unit
 * @tab: translation table
 * @k: number of queues
 * @full: a selected queue of at least this size refuses the cell
 * @a: header byte 0
 * @b: header byte 1
 * @hi: new header byte 0 per queue (registers c, f, i, l)
 * @lo: new header byte 1 per queue (registers d, g, j, m)
 * @sel: bit i: queue i selected (registers e, h, k, n)
 * @o: bytes 2..52, first pipeline register
 * @p: second
 * @q: third
 * @aind: a valid
 * @bind: b valid
 * @cind: hi valid
 * @dind: lo valid
 * @oind: o valid
 * @pind: p valid
 * @qind: q valid
 * @count: bytes of the current cell taken so far
 * @suspend: output to the SPD or port upstream
 * @flip_at: fault injection: index of the byte to damage, 0 for none
 * @cells: cells accepted since reset
 * @refused: cells refused since reset
 */
struct pw_bmx_ppd {
	struct pw_bmx_tab tab;
	u16 k;
	u16 full;
	u8 a, b;
	u8 hi[PW_BMX_KMAX], lo[PW_BMX_KMAX];
	u16 sel;
	u8 o, p, q;
	bool aind, bind, cind, dind, oind, pind, qind;
	u8 count;
	bool suspend;
	u8 flip_at;
	u64 cells, refused;
};

/**
 * struct pw_bmx_spd - output unit
 * @k: number of queues
 * @siqnum: queue selected last
 * @lsthead: head of that queue when its current cell began
 * @iqcnt: bytes of the current cell already taken, per queue
 * @buf: byte fetched
 * @byte: output link
 * @bufind: buf valid
 * @byteind: output link valid
 * @trsmit: transmitting (else selecting)
 * @cells: cells whose last byte was fetched since reset
 * @suspended: suspensions since reset
 */
struct pw_bmx_spd {
	u16 k;
	u16 siqnum;
	u16 lsthead;
	u8 iqcnt[PW_BMX_KMAX];
	u8 buf, byte;
	bool bufind, byteind, trsmit;
	u64 cells, suspended;
};

static inline void pw_bmx_xpm_push(struct pw_bmx_xpm *x, u8 b)
{
	x->mem[x->tail] = b;
	if (++x->tail == x->cap)
		x->tail = 0;
	x->size++;
	x->used = true;
}

static inline u8 pw_bmx_xpm_pop(struct pw_bmx_xpm *x)
{
	u8 b = x->mem[x->head];

	if (++x->head == x->cap)
		x->head = 0;
	x->size--;
	return b;
}

/*
 * Size from which on a queue of @depth cells counts as full: the reader may still have to
 * give PW_BMX_REFUND bytes back.
 */
static inline u32 pw_bmx_full(u32 depth)
{
	return depth * PW_BMX_CELL - PW_BMX_REFUND;
}

void pw_bmx_xpm_init(struct pw_bmx_xpm *x, u8 *mem, u32 depth);
void pw_bmx_tab_init(struct pw_bmx_tab *tab, u16 *row, u32 entries, u32 stride, u32 shift);
int pw_bmx_tab_set(struct pw_bmx_tab *tab, u32 vpi, const struct pw_bmx_entry *e);
void pw_bmx_tab_get(const struct pw_bmx_tab *tab, u32 vpi, u32 k, struct pw_bmx_entry *e);
void pw_bmx_ppd_init(struct pw_bmx_ppd *p, u32 k, u32 depth);
void pw_bmx_ppd_step(struct pw_bmx_ppd *p, u8 byte, bool byteind, struct pw_bmx_xpm *xq);
bool pw_bmx_ppd_full(const struct pw_bmx_ppd *p, const struct pw_bmx_xpm *xq);
void pw_bmx_spd_init(struct pw_bmx_spd *s, u32 k);
void pw_bmx_spd_step(struct pw_bmx_spd *s, bool suspend, struct pw_bmx_xpm *xq, u32 stride);

/* bmx_tools.c: not in the module */
void pw_bmx_entry_unpack(u64 raw, struct pw_bmx_entry *e);
u64 pw_bmx_entry_pack(const struct pw_bmx_entry *e);

#endif /* PW_CORE_BMX_H */
