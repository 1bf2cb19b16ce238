// SPDX-License-Identifier: GPL-2.0
/*
 * Capture files of models: what a pwmon device would show of the same traffic, so that
 * the dissector and `pwctl view` read both.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pwmodel.h"
#include "pwmodel_capture.h"

/* link type USER0: a monitor record */
#define LINK_MON	147
#define SNAPLEN		0x40000

static FILE *file;
static bool ng;
static u8 ring_width;	/* as in the header of a record: 0 is 64 */

static void put32(u8 *p, u32 v)
{
	p[0] = v >> 24;
	p[1] = v >> 16;
	p[2] = v >> 8;
	p[3] = v;
}

/* the order of the machine that writes; the first number tells readers which one */
static void words(const u32 *w, size_t n)
{
	fwrite(w, sizeof(*w), n, file);
}

static void pad(size_t n)
{
	fwrite("\0\0\0", 1, -n % 4, file);
}

/* section with a comment, then an interface with times in nanoseconds */
static void open_ng(const char *comment)
{
	const u16 version[2] = { 1, 0 }, option[2] = { 1, strlen(comment) }, link[2] = { LINK_MON };
	const u16 unit[2] = { 9, 1 };
	const u32 n = 36 + (strlen(comment) + 3) / 4 * 4, snap = SNAPLEN, none = 0;

	words((u32[]){ 0x0a0d0d0a, n, 0x1a2b3c4d }, 3);
	fwrite(version, sizeof(version), 1, file);
	words((u32[]){ ~0U, ~0U }, 2);
	fwrite(option, sizeof(option), 1, file);
	fputs(comment, file);
	pad(strlen(comment));
	words((u32[]){ 0, n }, 2);
	words((u32[]){ 1, 32 }, 2);
	fwrite(link, sizeof(link), 1, file);
	words(&snap, 1);
	fwrite(unit, sizeof(unit), 1, file);
	fputc(9, file);
	pad(1);
	words(&none, 1);
	words((u32[]){ 32 }, 1);
}

void pwm_capture_open(const char *path, const char *comment)
{
	const u16 version[2] = { 2, 4 };
	/* magic number of times in nanoseconds */
	const u32 magic = 0xa1b23c4d, rest[] = { 0, 0, SNAPLEN, LINK_MON };

	file = fopen(path, "wb");
	if (!file)
		pwm_fail("--capture: %s: %s", path, strerror(errno));
	ng = comment;
	if (ng) {
		open_ng(comment);
		return;
	}
	words(&magic, 1);
	fwrite(version, sizeof(version), 1, file);
	words(rest, 4);
}

void pwm_capture_record(u8 kind, u8 direction, u32 unit, u64 when, const u8 *bytes, u32 len)
{
	struct packetway_mon_hdr h = { .version = PACKETWAY_MON_VERSION, .kind = kind,
				       .direction = direction,
				       .width = kind == PACKETWAY_MON_RING ? ring_width : 0 };
	u32 head[4] = { when / 1000000000, when % 1000000000, sizeof(h) + len, sizeof(h) + len };
	u32 n;

	if (head[2] > SNAPLEN)
		head[2] = SNAPLEN;
	put32((u8 *)&h.unit, unit);
	put32((u8 *)&h.vtime_high, when >> 32);
	put32((u8 *)&h.vtime_low, (u32)when);
	if (ng) {
		n = 32 + (head[2] + 3) / 4 * 4;
		words((u32[]){ 6, n, 0, when >> 32, when }, 5);
		words(head + 2, 2);
	} else {
		words(head, 4);
	}
	fwrite(&h, sizeof(h), 1, file);
	fwrite(bytes, head[2] - sizeof(h), 1, file);
	if (ng) {
		pad(head[2]);
		words(&n, 1);
	}
}

void pwm_capture_width(u32 width)
{
	ring_width = width % 64;
}

void pwm_capture_close(void)
{
	int bad = ferror(file);

	if (fclose(file) || bad)
		pwm_fail("--capture: the file could not be written");
}
