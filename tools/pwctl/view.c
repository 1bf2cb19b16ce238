// SPDX-License-Identifier: GPL-2.0
/*
 * A page that plays a capture, a trace of a model or a lab in a browser. The page is
 * view.html, which holds everything but the data; it decodes the records itself. This file
 * brings the records of the formats that exist into one form; view_lab.c takes those of labs.
 */
#include <ctype.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pwctl.h"

/* the template, linked in by the assembler */
asm(".pushsection .rodata\n view_page: .incbin \"" VIEW_HTML "\"\n .byte 0\n .popsection\n");
extern const char view_page[];

/* where the data stand in the template */
#define MARK "@DATA@"

/* browsers refuse strings of more than half a gigabyte */
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

struct file {
	const char *path;
	uint8_t *data;
	size_t len;
	bool swapped;		/* in the other byte order than this machine */
	json_t *frames;
	uint64_t t0;		/* of the first record, in nanoseconds */
	size_t skipped;		/* records that are none of ours */
};

static uint16_t get16(const struct file *f, size_t at)
{
	uint16_t v;

	memcpy(&v, f->data + at, 2);
	return f->swapped ? __builtin_bswap16(v) : v;
}

static uint32_t get32(const struct file *f, size_t at)
{
	uint32_t v;

	memcpy(&v, f->data + at, 4);
	return f->swapped ? __builtin_bswap32(v) : v;
}

static unsigned int be16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

/* a record of @n captured bytes; those of other protocols are counted only */
static void add_frame(struct file *f, uint32_t link, uint64_t ns, const uint8_t *p, size_t n)
{
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
		f->skipped++;
		return;
	}
	if (!json_array_size(f->frames))
		f->t0 = ns;
	json_array_append_new(f->frames, json_pack("[I, s, o]", (json_int_t)(ns - f->t0),
						   proto == ETH_P_PACKETWAY ? "e" : "m",
						   j_hex(p + skip, n - skip)));
}

static enum status cut(const struct file *f, size_t at)
{
	return fail(0, "%s: not a whole capture file, see byte %zu", f->path, at);
}

static enum status read_pcap(struct file *f)
{
	const uint32_t magic = get32(f, 0);
	const bool nano = magic == 0xa1b23c4d || magic == 0x4d3cb2a1;
	uint32_t link, n;
	size_t at = 24;
	uint64_t ns;

	f->swapped = magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1;
	if (f->len < at)
		return cut(f, f->len);
	link = get32(f, 20) & 0xffff;
	while (at < f->len) {
		if (f->len - at < 16)
			return cut(f, at);
		n = get32(f, at + 8);
		if (n > f->len - at - 16)
			return cut(f, at);
		ns = get32(f, at) * 1000000000ULL + get32(f, at + 4) * (nano ? 1ULL : 1000ULL);
		add_frame(f, link, ns, f->data + at + 16, n);
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

static enum status interface_block(struct file *f, struct section *s, size_t at, size_t end)
{
	uint16_t code, len;
	uint8_t resol;

	if (s->n == MAX_INTERFACES || end - at < 8)
		return cut(f, at);
	s->link[s->n] = get16(f, at);
	s->ns[s->n] = 1000;
	for (at += 8; at + 4 <= end; at += 4 + ((len + 3u) & ~3u)) {
		code = get16(f, at);
		len = get16(f, at + 2);
		if (!code || len > end - at - 4)
			break;
		if (code != 9 || !len)
			continue;
		/* if_tsresol: a power of ten, or of two */
		resol = f->data[at + 4];
		s->ns[s->n] = 1e9;
		for (; resol & 0x7f; resol--)
			s->ns[s->n] /= resol & 0x80 ? 2 : 10;
	}
	s->n++;
	return ST_OK;
}

static enum status read_pcapng(struct file *f)
{
	struct section s = { .n = 0 };
	size_t at = 0, body, end;
	uint32_t type, len, n, i;
	enum status st;
	uint64_t stamp;

	while (at < f->len) {
		if (f->len - at < 12)
			return cut(f, at);
		type = get32(f, at);
		if (type == 0x0a0d0d0a) {
			s.n = 0;
			f->swapped = false;
			f->swapped = get32(f, at + 8) == 0x4d3c2b1a;
		}
		len = get32(f, at + 4);
		if (len < 12 || len % 4 || len > f->len - at)
			return cut(f, at);
		body = at + 8;
		end = at + len - 4;
		if (type == 1) {
			st = interface_block(f, &s, body, end);
			if (st)
				return st;
		} else if (type == 6) {
			if (end - body < 20)
				return cut(f, at);
			i = get32(f, body);
			n = get32(f, body + 12);
			if (i >= s.n || n > end - body - 20)
				return cut(f, at);
			stamp = (uint64_t)get32(f, body + 4) << 32 | get32(f, body + 8);
			add_frame(f, s.link[i], stamp * s.ns[i], f->data + body + 20, n);
		} else if (type == 3 && s.n) {
			n = get32(f, body);
			if (n > end - body - 4)
				n = end - body - 4;
			add_frame(f, s.link[0], 0, f->data + body + 4, n);
		}
		at += len;
	}
	return ST_OK;
}

/* cycles of an event in `pwmodel fabric --trace`, which has thousands of them */
static json_int_t cycles(const json_t *event)
{
	return (json_int_t)(json_number_value(json_object_get(event, "ts")) * 1000 + 0.5);
}

static json_t *number(const json_t *args, const char *name, json_int_t other)
{
	const json_t *v = json_object_get(args, name);

	return json_integer(json_is_integer(v) ? json_integer_value(v) : other);
}

/*
 * Trace of a model: rows of [cycle, name, process, unit, src, dst, sequence number, times],
 * and messages as [from, to, name, port, bytes]. Begin and end of a message stand side by
 * side in the file.
 */
static enum status read_trace(struct file *f, json_t *page)
{
	json_t *root, *list, *e, *args, *row, *last, *messages = json_array();
	const char *name, *ph;
	json_error_t err;
	size_t i;

	json_object_set_new(page, "messages", messages);
	root = json_loadb((char *)f->data, f->len, 0, &err);
	list = json_object_get(root, "traceEvents");
	if (!root)
		return fail(0, "%s:%d: %s", f->path, err.line, err.text);
	if (!json_is_array(list)) {
		json_decref(root);
		return fail(0, "%s: neither a capture nor a trace of pwmodel fabric", f->path);
	}
	json_array_foreach(list, i, e) {
		name = json_string_value(json_object_get(e, "name"));
		ph = json_string_value(json_object_get(e, "ph"));
		args = json_object_get(e, "args");
		if (!name || !ph || *ph == 'M' || *ph == 'e')
			continue;
		row = json_array();
		json_array_append_new(row, json_integer(cycles(e)));
		if (*ph == 'b') {
			last = json_array_get(list, i + 1);
			json_array_append_new(row, json_integer(cycles(last ? last : e)));
			json_array_append_new(row, json_string(name));
			json_array_append_new(row, number(e, "tid", 0));
			json_array_append_new(row, number(args, "bytes", 0));
			json_array_append_new(messages, row);
			continue;
		}
		json_array_append_new(row, json_string(name));
		json_array_append_new(row, number(e, "pid", 0));
		json_array_append_new(row, number(e, "tid", 0));
		json_array_append_new(row, number(args, "src", -2));
		json_array_append_new(row, number(args, "dst", -2));
		json_array_append_new(row, number(args, "sqn", -1));
		json_array_append_new(row, number(args, "times", 1));
		json_array_append_new(f->frames, row);
	}
	json_decref(root);
	return ST_OK;
}

static enum status slurp(struct file *f)
{
	FILE *in = strcmp(f->path, "-") ? fopen(f->path, "rb") : stdin;
	size_t cap = 1 << 16, got;
	uint8_t *more;
	int err;

	if (!in)
		return fail(errno, "%s", f->path);
	f->data = malloc(cap);
	while (f->data && (got = fread(f->data + f->len, 1, cap - f->len, in)) > 0) {
		f->len += got;
		if (f->len < cap)
			continue;
		more = cap < MAX_FILE ? realloc(f->data, cap *= 2) : NULL;
		if (!more)
			break;
		f->data = more;
	}
	err = ferror(in) ? errno : 0;
	if (!err && (!f->data || f->len == cap))
		err = EFBIG;
	if (in != stdin)
		fclose(in);
	return err ? fail(err, "%s", f->path) : ST_OK;
}

void view_print(FILE *f, const json_t *page)
{
	const char *mark = strstr(view_page, MARK);

	fwrite(view_page, 1, mark - view_page, f);
	/* "</" ends a script: no slash stands alone */
	json_dumpf(page, f, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ESCAPE_SLASH);
	fputs(mark + strlen(MARK), f);
}

static enum status write_page(const char *path, const json_t *page)
{
	const bool out = !strcmp(path, "-");
	FILE *f = out ? stdout : fopen(path, "w");
	bool bad;

	if (!f)
		return fail(errno, "%s", path);
	view_print(f, page);
	bad = fflush(f) || ferror(f);
	if ((!out && fclose(f)) || bad)
		return fail(errno, "%s", path);
	if (!out)
		printf("%s\n", path);
	return ST_OK;
}

struct view_args {
	const char *what, *out;
	bool live;
	struct view_lab lab;
};

#define AT(m) offsetof(struct view_args, m)

const struct word view_words[] = {
	{ NULL, "FILE|LAB", W_TEXT, AT(what) },
	{ "-o", "PAGE.html", W_TEXT, AT(out) },
	{ "--live", NULL, W_FLAG, AT(live) },
	{ "--listen", "[ADDR:]PORT", W_TEXT, AT(lab.listen) },
	{ "cells", NULL, W_FLAG, AT(lab.cells) },
	{ "count", "N", W_U32, AT(lab.count) },
	{ "time", "SECONDS", W_U32, AT(lab.seconds), 0, 86400 },
	{}
};

/* FILE.html beside FILE.pcapng */
static void page_name(const char *file, char *name, size_t cap)
{
	const char *slash = strrchr(file, '/'), *dot = strrchr(slash ? slash : file, '.');

	snprintf(name, cap, "%.*s.html", dot ? (int)(dot - file) : (int)strlen(file), file);
}

static enum status read_file(struct file *f, json_t *page)
{
	enum status st = slurp(f);
	const char *base;
	uint32_t magic;

	if (st)
		return st;
	magic = f->len < 12 ? 0 : get32(f, 0);
	switch (magic) {
	case 0x0a0d0d0a:
		st = read_pcapng(f);
		break;
	case 0xa1b2c3d4:
	case 0xd4c3b2a1:
	case 0xa1b23c4d:
	case 0x4d3cb2a1:
		st = read_pcap(f);
		break;
	default:
		st = read_trace(f, page);
	}
	if (!st && !json_array_size(f->frames))
		st = fail(0, "%s: no record of packetway in it", f->path);
	base = strrchr(f->path, '/');
	base = base ? base + 1 : f->path;
	json_object_set_new(page, "title", json_string(base) ?: json_string("packetway"));
	json_object_set_new(page, "source",
			    json_string(json_object_get(page, "messages") ? "trace" : "capture"));
	json_object_set_new(page, "skipped", json_integer(f->skipped));
	json_object_set(page, "frames", f->frames);
	return st;
}

static enum status read_lab(struct view_args *a, const char *name, json_t *page)
{
	a->lab.lab = name;
	json_object_set_new(page, "title", json_string(name));
	json_object_set_new(page, "source", json_string("capture"));
	return a->live ? view_lab_live(&a->lab, page) : view_lab_page(&a->lab, page);
}

/* files go before labs of the same name; names of labs have no other characters */
static bool is_file(const char *what)
{
	const char *s;

	for (s = what; isalnum((unsigned char)*s) || *s == '_'; s++)
		;
	return *s || !access(what, F_OK);
}

enum status cmd_view(const struct verb *v, int argc, char **argv)
{
	char name[PATH_MAX], lab[LAB_NAME_MAX];
	struct file f = { .frames = json_array() };
	json_t *page = json_object();
	struct view_args a = {};
	enum status st;
	bool file;

	st = words(v, argc, argv, &a);
	file = !st && !a.live && a.what && is_file(a.what);
	if (!st && a.live && (a.out || a.lab.count || a.lab.seconds))
		st = usage("view: --live stands without -o, count and time");
	else if (!st && !a.live && a.lab.listen)
		st = usage("view: --listen needs --live");
	else if (!st && file && (a.lab.cells || a.lab.count || a.lab.seconds))
		st = usage("view: cells, count and time are for labs");
	else if (!st && !file && lab_find(a.what, lab, sizeof(lab)))
		st = a.what ? ST_REFUSED : usage("view: FILE or LAB is missing");
	if (st)
		goto out;
	json_object_set_new(page, "version", json_integer(1));
	f.path = a.what;
	st = file ? read_file(&f, page) : read_lab(&a, lab, page);
	if (st || a.live)
		goto out;
	if (!a.out && file && !strcmp(a.what, "-"))
		a.out = "-";
	if (!a.out) {
		page_name(file ? a.what : lab, name, sizeof(name));
		a.out = name;
	}
	st = write_page(a.out, page);
out:
	json_decref(f.frames);
	json_decref(page);
	free(f.data);
	return st;
}
