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

#include "capture_file.h"
#include "topo_file.h"

/* the template, linked in by the assembler */
asm(".pushsection .rodata\n view_page: .incbin \"" VIEW_HTML "\"\n .byte 0\n .popsection\n");
extern const char view_page[];

/* where the data stand in the template */
#define MARK "@DATA@"

struct file {
	struct capture c;
	json_t *frames;
	uint64_t t0;		/* of the first record, in nanoseconds */
};

static enum status add_frame(void *ctx, const struct capture_record *r)
{
	struct file *f = ctx;

	if (!json_array_size(f->frames))
		f->t0 = r->ns;
	json_array_append_new(f->frames, json_pack("[I, s, o]", (json_int_t)(r->ns - f->t0),
						   r->monitor ? "m" : "e",
						   j_hex(r->bytes, r->len)));
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

/* switches and links of a fabric that is not of three stages, as pwmodel writes them */
static void set_fabric(json_t *page, json_t *fabric)
{
	if (fabric && topo_file_json_good(fabric))
		json_object_set(page, "fabric", fabric);
}

/* a comment of other programs is no such object */
static void read_comment(const struct capture *c, json_t *page)
{
	json_t *j = c->comment ? json_loadb(c->comment, c->comment_len, 0, NULL) : NULL;

	set_fabric(page, j);
	json_decref(j);
}

/* the end of the span that begins at @i; @i itself if there is none */
static json_t *end_of(json_t *list, size_t i)
{
	json_t *begin = json_array_get(list, i), *e;
	const char *ph;

	while ((e = json_array_get(list, ++i))) {
		ph = json_string_value(json_object_get(e, "ph"));
		if (ph && *ph == 'e' && json_equal(json_object_get(e, "id"), json_object_get(begin, "id")) &&
		    json_equal(json_object_get(e, "name"), json_object_get(begin, "name")))
			return e;
	}
	return begin;
}

/*
 * Trace of a model: rows of [cycle, name, process, unit, src, dst, sequence number, times],
 * and messages as [from, to, name, port, bytes].
 */
static enum status read_trace(struct file *f, json_t *page)
{
	json_t *root, *list, *e, *args, *row, *messages = json_array();
	const char *name, *ph;
	json_error_t err;
	size_t i;

	json_object_set_new(page, "messages", messages);
	root = json_loadb((char *)f->c.data, f->c.len, 0, &err);
	list = json_object_get(root, "traceEvents");
	if (!root)
		return fail(0, "%s:%d: %s", f->c.path, err.line, err.text);
	if (!json_is_array(list)) {
		json_decref(root);
		return fail(0, "%s: neither a capture nor a trace of pwmodel fabric", f->c.path);
	}
	set_fabric(page, json_object_get(json_object_get(root, "otherData"), "fabric"));
	json_array_foreach(list, i, e) {
		name = json_string_value(json_object_get(e, "name"));
		ph = json_string_value(json_object_get(e, "ph"));
		args = json_object_get(e, "args");
		if (!name || !ph || *ph == 'M' || *ph == 'e')
			continue;
		row = json_array();
		json_array_append_new(row, json_integer(cycles(e)));
		if (*ph == 'b') {
			json_array_append_new(row, json_integer(cycles(end_of(list, i))));
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
	enum status st = capture_load(&f->c);
	const char *base;

	if (st)
		return st;
	st = capture_is(&f->c) ? capture_records(&f->c, add_frame, f) : read_trace(f, page);
	if (!st && !json_array_size(f->frames))
		st = fail(0, "%s: no record of packetway in it", f->c.path);
	read_comment(&f->c, page);
	base = strrchr(f->c.path, '/');
	base = base ? base + 1 : f->c.path;
	json_object_set_new(page, "title", json_string(base) ?: json_string("packetway"));
	json_object_set_new(page, "source",
			    json_string(json_object_get(page, "messages") ? "trace" : "capture"));
	json_object_set_new(page, "skipped", json_integer(f->c.skipped));
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
	f.c.path = a.what;
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
	free(f.c.data);
	return st;
}
