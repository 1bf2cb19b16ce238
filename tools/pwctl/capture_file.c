// SPDX-License-Identifier: GPL-2.0
/* Capture files: the records of packetway in pcap and pcapng, in either byte order. */
#include "capture_file.h"

/* browsers refuse strings of more than half a gigabyte, and a page has two digits for a byte */
#define MAX_FILE (128u << 20)

/* link types of capture files */
enum {
	LINK_ETHERNET = 1,
	LINK_SLL = 113,
	LINK_MON = 147,		/* USER0: a monitor record */
	LINK_EEP = 148,		/* USER1: an EEP message */
	LINK_SLL2 = 276,
};

#define MAX_INTERFACES 64

static uint16_t get16(const struct capture *c, size_t at)
{
	uint16_t v;

	memcpy(&v, c->data + at, 2);
	return c->swapped ? __builtin_bswap16(v) : v;
}

static uint32_t get32(const struct capture *c, size_t at)
{
	uint32_t v;

	memcpy(&v, c->data + at, 4);
	return c->swapped ? __builtin_bswap32(v) : v;
}

static unsigned int be16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

/* a record of @n captured bytes; those of other protocols are counted only */
static enum status add_record(struct capture *c, uint32_t link, uint64_t ns, const uint8_t *p,
			      size_t n, size_t whole)
{
	struct capture_record r = { .ns = ns };
	unsigned int proto = 0;
	size_t skip = 0;

	switch (link) {
	case LINK_ETHERNET:
		skip = 14;
		proto = n < skip ? 0 : be16(p + 12);
		break;
	case LINK_SLL:
		skip = 16;
		proto = n < skip ? 0 : be16(p + 14);
		break;
	case LINK_SLL2:
		skip = 20;
		proto = n < skip ? 0 : be16(p);
		break;
	case LINK_MON:
		proto = ETH_P_PACKETWAY_MON;
		break;
	case LINK_EEP:
		proto = ETH_P_PACKETWAY;
		break;
	}
	if ((proto != ETH_P_PACKETWAY && proto != ETH_P_PACKETWAY_MON) || n <= skip) {
		c->skipped++;
		return ST_OK;
	}
	r.monitor = proto == ETH_P_PACKETWAY_MON;
	r.bytes = p + skip;
	r.len = n - skip;
	r.whole = (whole > n ? whole : n) - skip;
	return c->take(c->ctx, &r);
}

static enum status cut(const struct capture *c, size_t at)
{
	return fail(0, "%s: not a whole capture file, see byte %zu", c->path, at);
}

static enum status read_pcap(struct capture *c)
{
	const uint32_t magic = get32(c, 0);
	const bool nano = magic == 0xa1b23c4d || magic == 0x4d3cb2a1;
	enum status st = ST_OK;
	uint32_t link, n;
	size_t at = 24;
	uint64_t ns;

	c->swapped = magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1;
	if (c->len < at)
		return cut(c, c->len);
	link = get32(c, 20) & 0xffff;
	while (at < c->len) {
		if (c->len - at < 16)
			return cut(c, at);
		n = get32(c, at + 8);
		if (n > c->len - at - 16)
			return cut(c, at);
		ns = get32(c, at) * 1000000000ULL + get32(c, at + 4) * (nano ? 1ULL : 1000ULL);
		st = add_record(c, link, ns, c->data + at + 16, n, get32(c, at + 12));
		if (st)
			return st;
		at += 16 + n;
	}
	return ST_OK;
}

/* interfaces of a section: link type and how long a unit of time is */
struct section {
	uint32_t link[MAX_INTERFACES];
	double ns[MAX_INTERFACES];
	uint32_t n;
};

static enum status interface_block(struct capture *c, struct section *s, size_t at, size_t end)
{
	uint16_t code, len;
	uint8_t resol;

	if (s->n == MAX_INTERFACES || end - at < 8)
		return cut(c, at);
	s->link[s->n] = get16(c, at);
	s->ns[s->n] = 1000;
	for (at += 8; at + 4 <= end; at += 4 + ((len + 3u) & ~3u)) {
		code = get16(c, at);
		len = get16(c, at + 2);
		if (!code || len > end - at - 4)
			break;
		if (code != 9 || !len)
			continue;
		/* if_tsresol: a power of ten, or of two */
		resol = c->data[at + 4];
		s->ns[s->n] = 1e9;
		for (; resol & 0x7f; resol--)
			s->ns[s->n] /= resol & 0x80 ? 2 : 10;
	}
	s->n++;
	return ST_OK;
}

static void section_block(struct capture *c, size_t at, size_t end)
{
	uint16_t code, len;

	for (at += 16; at + 4 <= end && !c->comment; at += 4 + ((len + 3u) & ~3u)) {
		code = get16(c, at);
		len = get16(c, at + 2);
		if (!code || len > end - at - 4)
			break;
		if (code == 1) {
			c->comment = (const char *)c->data + at + 4;
			c->comment_len = len;
		}
	}
}

static enum status read_pcapng(struct capture *c)
{
	struct section s = { .n = 0 };
	size_t at = 0, body, end;
	uint32_t type, len, n, i;
	enum status st = ST_OK;
	uint64_t stamp;

	while (at < c->len) {
		if (c->len - at < 12)
			return cut(c, at);
		type = get32(c, at);
		if (type == 0x0a0d0d0a) {
			s.n = 0;
			c->swapped = false;
			c->swapped = get32(c, at + 8) == 0x4d3c2b1a;
		}
		len = get32(c, at + 4);
		if (len < 12 || len % 4 || len > c->len - at)
			return cut(c, at);
		body = at + 8;
		end = at + len - 4;
		if (type == 0x0a0d0d0a) {
			section_block(c, body, end);
		} else if (type == 1) {
			st = interface_block(c, &s, body, end);
		} else if (type == 6) {
			if (end - body < 20)
				return cut(c, at);
			i = get32(c, body);
			n = get32(c, body + 12);
			if (i >= s.n || n > end - body - 20)
				return cut(c, at);
			stamp = (uint64_t)get32(c, body + 4) << 32 | get32(c, body + 8);
			st = add_record(c, s.link[i], stamp * s.ns[i], c->data + body + 20, n,
					get32(c, body + 16));
		} else if (type == 3 && s.n) {
			n = get32(c, body);
			if (n > end - body - 4)
				n = end - body - 4;
			st = add_record(c, s.link[0], 0, c->data + body + 4, n, get32(c, body));
		}
		if (st)
			return st;
		at += len;
	}
	return ST_OK;
}

static uint32_t magic_of(const struct capture *c)
{
	uint32_t magic = 0;

	if (c->len >= 12)
		memcpy(&magic, c->data, sizeof(magic));
	return magic;
}

/**
 * capture_is - is it a capture file?
 * @c: the file, loaded
 */
bool capture_is(const struct capture *c)
{
	switch (magic_of(c)) {
	case 0x0a0d0d0a:
	case 0xa1b2c3d4:
	case 0xd4c3b2a1:
	case 0xa1b23c4d:
	case 0x4d3cb2a1:
		return true;
	}
	return false;
}

/**
 * capture_records - pass on each record of packetway
 * @c: the file, a capture
 * @take: gets them; what it returns ends the loop unless it is ST_OK
 * @ctx: for @take
 */
enum status capture_records(struct capture *c, capture_fn take, void *ctx)
{
	c->take = take;
	c->ctx = ctx;
	return magic_of(c) == 0x0a0d0d0a ? read_pcapng(c) : read_pcap(c);
}

/**
 * capture_load - read a file whole
 * @c: its path; "-" is standard input
 */
enum status capture_load(struct capture *c)
{
	FILE *in = strcmp(c->path, "-") ? fopen(c->path, "rb") : stdin;
	size_t cap = 1 << 16, got;
	uint8_t *more;
	int err;

	if (!in)
		return fail(errno, "%s", c->path);
	c->data = malloc(cap);
	while (c->data && (got = fread(c->data + c->len, 1, cap - c->len, in)) > 0) {
		c->len += got;
		if (c->len < cap)
			continue;
		more = cap < MAX_FILE ? realloc(c->data, cap *= 2) : NULL;
		if (!more)
			break;
		c->data = more;
	}
	err = ferror(in) ? errno : 0;
	if (!err && (!c->data || c->len == cap))
		err = EFBIG;
	if (in != stdin)
		fclose(in);
	return err ? fail(err, "%s", c->path) : ST_OK;
}
