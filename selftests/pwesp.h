/* SPDX-License-Identifier: GPL-2.0 */
/* ESP packets for the C selftests: built and received. */
#ifndef PWESP_H
#define PWESP_H

#include "pwtest.h"

#define NOTHING (-1)
#define EXEC PW_ESP_EXECUTE
#define REFLECT PW_ESP_REFLECT
#define ON_REFLECT PW_ESP_EXEC_ON_REFLECT
#define BIG 1000000000ULL
#define FENCE 0xfe	/* opcode that no node executes */

struct insn {
	int ctl, opcode, op, n;
	uint64_t f[6];
};

#define COUNT(ctl_, tag, thresh) \
	((struct insn){ ctl_, PW_ESP_COUNT, 0, 2, { tag, thresh } })
#define COMPARE(ctl_, rel, tag, val) \
	((struct insn){ ctl_, PW_ESP_COMPARE, rel, 2, { tag, val } })
#define COLLECT(ctl_, op_, val_tag, cnt_tag, val) \
	((struct insn){ ctl_, PW_ESP_COLLECT, op_, 3, { val_tag, cnt_tag, val } })
#define RCHLD(ctl_, sib, fwd, thresh, id) \
	((struct insn){ ctl_, PW_ESP_RCHLD, 0, 4, { sib, fwd, thresh, id } })
#define RCOLLECT(ctl_, op_, sib, fwd, thresh, comp, val, id) \
	((struct insn){ ctl_, PW_ESP_RCOLLECT, op_, 6, { sib, fwd, thresh, comp, val, id } })

static PW_UNUSED int esp_data(uint8_t *b, const struct insn *in)
{
	int i;

	b[0] = in->ctl;
	b[1] = in->opcode;
	pw_put(b + 2, 2, 1 + 2 * in->n);
	pw_put(b + 4, 4, in->op);
	for (i = 0; i < in->n; i++)
		pw_put(b + 8 + 8 * i, 8, in->f[i]);
	return 8 + 8 * in->n;
}

static PW_UNUSED int esp_msg(uint8_t *b, uint32_t dt, uint32_t sa, const struct insn *in)
{
	uint8_t data[64];
	int len = esp_data(data, in);

	return pw_msg(b, dt, sa, PW_PT_ESP, 0, 0, data, len);
}

/*
 * The next ESP packet at @fd, its EEP header in @h and its frame in @buf; its
 * opcode, NOTHING, or -2 for something else.
 */
static PW_UNUSED int esp_recv(int fd, uint8_t *buf, int size, struct insn *in, struct pw_hdr *h,
			      int ms)
{
	int len = pw_recv(fd, buf, size, NULL, ms), i;

	if (len < 16 + 4 + 8)
		return len < 0 ? NOTHING : -2;
	pw_hdr_get(buf, h);
	in->ctl = buf[16];
	in->opcode = buf[17];
	in->n = ((int)pw_get(buf + 18, 2) - 1) / 2;
	in->op = pw_get(buf + 20, 4);
	for (i = 0; i < in->n && i < 6 && 16 + 8 + 8 * i + 8 <= len; i++)
		in->f[i] = pw_get(buf + 24 + 8 * i, 8);
	return h->pt == PW_PT_ESP ? in->opcode : -2;
}

#endif
