// SPDX-License-Identifier: GPL-2.0
/* Parts of a BMX switch, register by register: XPM, translation table, PPD, SPD. */
#include "bmx.h"

/**
 * pw_bmx_xpm_init() - empty queue
 * @x: queue
 * @mem: depth * PW_BMX_CELL bytes
 * @depth: capacity in cells
 */
void pw_bmx_xpm_init(struct pw_bmx_xpm *x, u8 *mem, u32 depth)
{
	memset(x, 0, sizeof(*x));
	memset(mem, 0, depth * PW_BMX_CELL);
	x->mem = mem;
	x->cap = depth * PW_BMX_CELL;
}

/**
 * pw_bmx_tab_init() - table without outputs for any VPI
 * @tab: table
 * @row: entries * stride words
 * @entries: number of VPIs
 * @stride: words per entry: 1 + k, or 2 for one VPI common to all outputs
 * @shift: bits of the header word below the VPI, 4 in a 12-bit VPI
 */
void pw_bmx_tab_init(struct pw_bmx_tab *tab, u16 *row, u32 entries, u32 stride, u32 shift)
{
	memset(tab, 0, sizeof(*tab));
	memset(row, 0, sizeof(*row) * entries * stride);
	tab->row = row;
	tab->entries = entries;
	tab->stride = stride;
	tab->shift = shift;
}

/* has the entry one VPI for all its outputs, and 0 for the others? */
static bool compact_fits(const struct pw_bmx_entry *e, u16 *common)
{
	bool have = false;
	u32 i;

	*common = 0;
	for (i = 0; i < PW_BMX_KMAX; i++) {
		if (!(e->sel & BIT(i))) {
			if (e->vpi[i])
				return false;
			continue;
		}
		if (have && e->vpi[i] != *common)
			return false;
		*common = e->vpi[i];
		have = true;
	}
	return true;
}

/**
 * pw_bmx_tab_set() - write an entry at once, past the write port
 * @tab: table
 * @vpi: its index
 * @e: its content
 *
 * Return: 0, -ERANGE for a VPI beyond the table, -EINVAL for an entry with several
 * VPIs in a table with one VPI per entry.
 */
int pw_bmx_tab_set(struct pw_bmx_tab *tab, u32 vpi, const struct pw_bmx_entry *e)
{
	u16 common, *row;

	if (vpi >= tab->entries)
		return -ERANGE;
	row = tab->row + (size_t)vpi * tab->stride;
	if (tab->stride == 2) {
		if (!compact_fits(e, &common))
			return -EINVAL;
		row[1] = common;
	} else {
		memcpy(row + 1, e->vpi, sizeof(*row) * (tab->stride - 1));
	}
	row[0] = e->sel;
	return 0;
}

/**
 * pw_bmx_tab_get() - read an entry
 * @tab: table
 * @vpi: its index; beyond the table: no outputs
 * @k: number of outputs
 * @e: result
 */
void pw_bmx_tab_get(const struct pw_bmx_tab *tab, u32 vpi, u32 k, struct pw_bmx_entry *e)
{
	const u16 *row;
	u32 i;

	memset(e, 0, sizeof(*e));
	if (vpi >= tab->entries)
		return;
	row = tab->row + (size_t)vpi * tab->stride;
	e->sel = row[0];
	for (i = 0; i < k; i++)
		e->vpi[i] = tab->stride != 2 ? row[1 + i] : e->sel & BIT(i) ? row[1] : 0;
}

/**
 * pw_bmx_ppd_init() - reset an input unit
 * @p: input unit; its table is left to pw_bmx_tab_init()
 * @k: number of queues
 * @depth: their capacity in cells
 */
void pw_bmx_ppd_init(struct pw_bmx_ppd *p, u32 k, u32 depth)
{
	memset(p, 0, sizeof(*p));
	p->k = k;
	p->full = pw_bmx_full(depth);
}

/**
 * pw_bmx_ppd_full() - is a selected queue full?
 * @p: input unit
 * @xq: its k queues
 *
 * Return: true if a queue whose select flag is set counts as full.
 */
bool pw_bmx_ppd_full(const struct pw_bmx_ppd *p, const struct pw_bmx_xpm *xq)
{
	u32 i;

	for (i = 0; i < p->k; i++)
		if ((p->sel & BIT(i)) && xq[i].size >= p->full)
			return true;
	return false;
}

/* look the VPI up: new header word for each queue, and which queues get the cell */
static void ppd_translate(struct pw_bmx_ppd *p)
{
	u32 head = p->a << 8 | p->b, shift = p->tab.shift;
	struct pw_bmx_entry e;
	u32 i, word;

	pw_bmx_tab_get(&p->tab, head >> shift, p->k, &e);
	for (i = 0; i < p->k; i++) {
		word = e.vpi[i] << shift | (head & (BIT(shift) - 1));
		p->hi[i] = word >> 8;
		p->lo[i] = word;
	}
	p->sel = e.sel;
}

/* output side: push one byte to every selected queue; returns true if the cell is refused */
static bool ppd_output(struct pw_bmx_ppd *p, struct pw_bmx_xpm *xq)
{
	u32 i;

	if (p->cind && pw_bmx_ppd_full(p, xq)) {
		p->sel = 0;
		p->refused++;
		return true;
	}
	if (p->qind) {
		for (i = 0; i < p->k; i++)
			if (p->sel & BIT(i))
				pw_bmx_xpm_push(&xq[i], p->q);
	} else if (p->cind) {
		for (i = 0; i < p->k; i++)
			if (p->sel & BIT(i))
				pw_bmx_xpm_push(&xq[i], p->hi[i]);
		p->cells++;
	} else if (p->dind) {
		for (i = 0; i < p->k; i++)
			if (p->sel & BIT(i))
				pw_bmx_xpm_push(&xq[i], p->lo[i]);
	}
	return false;
}

/* input side: take a byte from the link */
static void ppd_input(struct pw_bmx_ppd *p, u8 byte)
{
	if (p->count == 0) {
		p->a = byte;
		p->aind = true;
		p->count = 1;
	} else if (p->count == 1) {
		p->b = byte;
		p->bind = true;
		p->count = 2;
	} else if (p->suspend) {
		/* last byte of a refused cell */
		p->pind = false;
		p->count = 0;
	} else {
		if (p->flip_at == p->count) {
			byte ^= 1;
			p->flip_at = 0;
		}
		p->o = byte;
		p->oind = true;
		if (++p->count == PW_BMX_CELL)
			p->count = 0;
	}
}

/**
 * pw_bmx_ppd_step() - one cycle of an input unit
 * @p: input unit
 * @byte: input link
 * @byteind: input link valid
 * @xq: its k queues
 *
 * The first push of a cell happens PW_BMX_DECIDE cycles after its byte 0 was taken; in
 * that cycle the cell may be refused, then @suspend is up for one cycle.
 */
void pw_bmx_ppd_step(struct pw_bmx_ppd *p, u8 byte, bool byteind, struct pw_bmx_xpm *xq)
{
	bool refuse;

	if (p->tab.wcmd) {
		pw_bmx_tab_set(&p->tab, p->tab.wadr, &p->tab.datain);
		p->tab.wcmd = false;
	}

	refuse = ppd_output(p, xq);
	if (p->bind)
		ppd_translate(p);

	p->dind = refuse ? false : p->cind;
	p->cind = p->bind;
	p->q = p->p;
	p->qind = refuse ? false : p->pind;
	p->p = p->o;
	p->pind = refuse ? false : p->oind;

	p->aind = false;
	p->bind = false;
	p->oind = false;
	if (byteind)
		ppd_input(p, byte);
	p->suspend = refuse;
}

/**
 * pw_bmx_spd_init() - reset an output unit
 * @s: output unit
 * @k: number of queues
 */
void pw_bmx_spd_init(struct pw_bmx_spd *s, u32 k)
{
	memset(s, 0, sizeof(*s));
	s->k = k;
}

/**
 * pw_bmx_spd_step() - one cycle of an output unit
 * @s: output unit
 * @suspend: from the PPD or port downstream
 * @xq: queue 0; queue i is xq[i * stride]
 * @stride: distance between its queues
 */
void pw_bmx_spd_step(struct pw_bmx_spd *s, bool suspend, struct pw_bmx_xpm *xq, u32 stride)
{
	struct pw_bmx_xpm *x = &xq[s->siqnum * stride];
	u32 i, n;

	s->byte = s->buf;
	s->byteind = s->bufind;

	if (suspend) {
		x->head = s->lsthead;
		x->size += PW_BMX_REFUND;
		s->iqcnt[s->siqnum] = 0;
		s->trsmit = false;
		s->suspended++;
	}

	if (s->trsmit) {
		if (!s->iqcnt[s->siqnum])
			s->lsthead = x->head;
		s->buf = pw_bmx_xpm_pop(x);
		s->bufind = true;
		if (++s->iqcnt[s->siqnum] == PW_BMX_CELL) {
			s->iqcnt[s->siqnum] = 0;
			s->trsmit = false;
			s->cells++;
		}
	} else {
		s->bufind = false;
	}

	if (!s->trsmit) {
		for (i = 0, n = s->siqnum; i < s->k; i++) {
			if (++n == s->k)
				n = 0;
			if (xq[n * stride].size > 0) {
				s->siqnum = n;
				s->trsmit = true;
				break;
			}
		}
	}
}
