// SPDX-License-Identifier: GPL-2.0
/*
 * pwmodel replay: feed a BMX unit with a stimuli file, print its registers.
 *
 * Cycle n: the rows of cycle n are applied, the unit runs one cycle, then its
 * signals are sampled. A unit is a function that applies a row and one that
 * steps and samples; a sample is one call of emit() per signal, in the same
 * order in every cycle, which makes the place in that order its identity.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pwmodel.h"
#include "fabric/bmx_net.h"

#define K PW_BMX_K

struct row {
	uint64_t cycle;
	char *signal;
	uint64_t value;
	unsigned int line;
};

struct sim;

struct unit {
	const char *name;
	void (*init)(struct sim *s);
	bool (*apply)(struct sim *s, const struct row *r);
	void (*step)(struct sim *s);
};

struct link {
	uint8_t byte, ind, suspend;
};

/* write port of a table as the trace shows it: the value applied */
struct wport {
	uint64_t wadr, datain, wcmd;
};

/* a queue with what it held before, to see which bytes change */
struct mirror {
	uint8_t mem[PW_BMX_DEPTH * PW_BMX_CELL];
};

struct sim {
	const struct unit *unit;
	FILE *out;
	bool full, quiet;
	uint64_t cycle;
	char **only;
	bool *only_seen;
	size_t n_only;
	uint64_t *last;
	size_t n_last, pos;
	/* the devices; a lone PPD or SPD is unit 0 of the switch */
	struct pw_bmx_switch *sw;
	struct pw_bmx_switch *feed;
	struct link in[K];
	struct wport wp[K];
	struct mirror mir[2 * K * K];
};

__attribute__((weak)) int pwm_replay_aal(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	pwm_fail("replay: unit 'aal' is missing from this build");
}

static bool wanted(struct sim *s, const char *name)
{
	if (!s->only)
		return true;
	for (size_t i = 0; i < s->n_only; i++) {
		if (!strcmp(s->only[i], name)) {
			s->only_seen[i] = true;
			return true;
		}
	}
	return false;
}

static void print(struct sim *s, const char *name, int hex, uint64_t v)
{
	if (!wanted(s, name) || s->quiet)
		return;
	if (hex)
		fprintf(s->out, "%llu,%s,0x%0*llx\n", (unsigned long long)s->cycle, name, hex,
			(unsigned long long)v);
	else
		fprintf(s->out, "%llu,%s,%lld\n", (unsigned long long)s->cycle, name, (long long)v);
}

/* @hex: digits, 0 for decimal */
static void __attribute__((format(printf, 4, 5)))
emit(struct sim *s, int hex, uint64_t v, const char *fmt, ...)
{
	char name[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	if (s->pos == s->n_last) {
		s->last = realloc(s->last, (s->n_last + 1) * sizeof(*s->last));
		if (!s->last)
			pwm_fail("out of memory");
		s->last[s->n_last++] = 0;
	}
	if (s->full || s->last[s->pos] != v || s->quiet)
		print(s, name, hex, v);
	s->last[s->pos++] = v;
}

static void emit_xpm(struct sim *s, const struct pw_bmx_xpm *x, struct mirror *m,
		     const char *pfx, int n)
{
	char name[64];
	int i;

	emit(s, 0, (uint64_t)(int64_t)x->size, "%sxpm%d.size", pfx, n);
	emit(s, 0, x->head, "%sxpm%d.head", pfx, n);
	emit(s, 0, x->tail, "%sxpm%d.tail", pfx, n);
	if (!x->used)
		return;
	i = (x->tail + x->cap - 1) % x->cap;
	if (s->full || m->mem[i] != x->mem[i]) {
		snprintf(name, sizeof(name), "%sxpm%d.mem[%d]", pfx, n, i);
		print(s, name, 2, x->mem[i]);
	}
	memcpy(m->mem, x->mem, x->cap);
}

static void emit_wport(struct sim *s, int n, const char *sfx)
{
	struct wport *w = &s->wp[n];

	emit(s, 0, w->wcmd, "trsltab%s.wcmd", sfx);
	emit(s, 2, w->wadr, "trsltab%s.wadr", sfx);
	emit(s, 14, w->datain, "trsltab%s.datain", sfx);
	w->wcmd = 0;
}

static void emit_ppd(struct sim *s, const struct pw_bmx_ppd *p, const char *pfx)
{
	static const char reg[] = "cdefghijklmn";

	emit(s, 2, p->a, "%sa", pfx);
	emit(s, 2, p->b, "%sb", pfx);
	emit(s, 2, p->o, "%so", pfx);
	emit(s, 2, p->p, "%sp", pfx);
	emit(s, 2, p->q, "%sq", pfx);
	emit(s, 0, p->aind, "%saind", pfx);
	emit(s, 0, p->bind, "%sbind", pfx);
	emit(s, 0, p->oind, "%soind", pfx);
	emit(s, 0, p->pind, "%spind", pfx);
	emit(s, 0, p->qind, "%sqind", pfx);
	emit(s, 0, p->count, "%scount", pfx);
	for (int i = 0; i < K; i++) {
		emit(s, 2, p->hi[i], "%s%c", pfx, reg[3 * i]);
		emit(s, 2, p->lo[i], "%s%c", pfx, reg[3 * i + 1]);
		emit(s, 0, p->sel >> i & 1, "%s%c", pfx, reg[3 * i + 2]);
	}
	emit(s, 0, p->cind, "%scind", pfx);
	emit(s, 0, p->dind, "%sdind", pfx);
	emit(s, 0, p->suspend, "%ssuspend", pfx);
}

static void emit_spd(struct sim *s, const struct pw_bmx_spd *d, const char *pfx)
{
	emit(s, 0, d->siqnum, "%ssiqnum", pfx);
	emit(s, 0, d->lsthead, "%slsthead", pfx);
	emit(s, 0, d->trsmit, "%strsmit", pfx);
	for (int i = 0; i < K; i++)
		emit(s, 0, d->iqcnt[i], "%siqcnt%d", pfx, i);
	emit(s, 2, d->buf, "%sbuf", pfx);
	emit(s, 2, d->byte, "%sbyte", pfx);
	emit(s, 0, d->bufind, "%sbufind", pfx);
	emit(s, 0, d->byteind, "%sbyteind", pfx);
}

static uint64_t limit(const struct row *r, uint64_t max)
{
	if (r->value > max)
		pwm_fail("line %u: %s: %llu is above %llu", r->line, r->signal,
			 (unsigned long long)r->value, (unsigned long long)max);
	return r->value;
}

/* "byte", "byteind", "suspend", with the unit's number if @num */
static bool apply_link(struct sim *s, const struct row *r, bool num, bool data, bool susp)
{
	static const char * const name[] = { "byteind", "byte", "suspend" };

	for (int i = 0; i < 3; i++) {
		size_t l = strlen(name[i]);
		const char *rest = r->signal + l;
		unsigned int n = 0;

		if (strncmp(r->signal, name[i], l) || (i < 2 ? !data : !susp))
			continue;
		if (num) {
			if (!isdigit((unsigned char)*rest) || rest[1])
				continue;
			n = *rest - '0';
			if (n >= K)
				return false;
		} else if (*rest) {
			continue;
		}
		if (i == 0)
			s->in[n].ind = limit(r, 1);
		else if (i == 1)
			s->in[n].byte = limit(r, 255);
		else
			s->in[n].suspend = limit(r, 1);
		return true;
	}
	return false;
}

static bool apply_trsltab(struct sim *s, const struct row *r, bool num)
{
	const char *p = r->signal;
	unsigned int n = 0;

	if (strncmp(p, "trsltab", 7))
		return false;
	p += 7;
	if (num) {
		n = (unsigned int)*p - '0';
		if (n >= K)
			return false;
		p++;
	}
	if (!strcmp(p, ".wadr"))
		s->wp[n].wadr = limit(r, s->sw->ppd[n].tab.entries - 1);
	else if (!strcmp(p, ".datain"))
		s->wp[n].datain = limit(r, (1ULL << 56) - 1);
	else if (!strcmp(p, ".wcmd"))
		s->wp[n].wcmd = limit(r, 1);
	else
		return false;
	return true;
}

/* loads the write ports; the table is written in the unit's cycle */
static void load_wports(struct sim *s)
{
	for (int i = 0; i < K; i++) {
		struct pw_bmx_tab *tab = &s->sw->ppd[i].tab;

		if (!s->wp[i].wcmd)
			continue;
		tab->wadr = s->wp[i].wadr;
		pw_bmx_entry_unpack(s->wp[i].datain, &tab->datain);
		tab->wcmd = true;
	}
}

static bool apply_xpm(const struct row *r, struct pw_bmx_xpm *xpm, unsigned int stride)
{
	const char *p = r->signal;
	struct pw_bmx_xpm *x;
	unsigned int n;
	int idx, end = 0;

	if (strncmp(p, "xpm", 3))
		return false;
	n = (unsigned int)p[3] - '0';
	if (n >= K)
		return false;
	x = &xpm[n * stride];
	p += 4;
	if (!strcmp(p, ".head")) {
		x->head = limit(r, x->cap - 1);
	} else if (!strcmp(p, ".tail")) {
		x->tail = limit(r, x->cap - 1);
		x->used = true;
	} else if (!strcmp(p, ".size")) {
		x->size = limit(r, x->cap);
		x->used = true;
	} else if (sscanf(p, ".mem[%d]%n", &idx, &end) == 1 && end && !p[end] &&
		   idx >= 0 && idx < x->cap) {
		x->mem[idx] = limit(r, 255);
	} else {
		return false;
	}
	return true;
}

static bool apply_fifo(const struct row *r, struct pw_bmx_xpm *xpm, unsigned int stride)
{
	struct pw_bmx_xpm *x;
	unsigned int n;

	if (strncmp(r->signal, "fifo", 4) || !r->signal[4] || r->signal[5])
		return false;
	n = (unsigned int)r->signal[4] - '0';
	if (n >= K)
		return false;
	x = &xpm[n * stride];
	if (x->size >= x->cap)
		pwm_fail("line %u: %s: queue is full", r->line, r->signal);
	pw_bmx_xpm_push(x, limit(r, 255));
	return true;
}

static struct pw_bmx_switch *new_switch(void)
{
	struct pw_bmx_cfg cfg = {};
	void *mem = malloc(pw_bmx_switch_size(&cfg));

	if (!mem)
		pwm_fail("out of memory");
	return pw_bmx_switch_init(mem, &cfg);
}

static void init_one(struct sim *s)
{
	s->sw = new_switch();
}

static bool ppd_apply(struct sim *s, const struct row *r)
{
	return apply_link(s, r, false, true, false) || apply_trsltab(s, r, false) ||
	       apply_xpm(r, s->sw->xpm, 1);
}

static void ppd_step(struct sim *s)
{
	load_wports(s);
	pw_bmx_ppd_step(&s->sw->ppd[0], s->in[0].byte, s->in[0].ind, s->sw->xpm);
	emit_wport(s, 0, "");
	emit(s, 2, s->in[0].byte, "byte");
	emit(s, 0, s->in[0].ind, "byteind");
	emit_ppd(s, &s->sw->ppd[0], "");
	for (int i = 0; i < K; i++)
		emit_xpm(s, &s->sw->xpm[i], &s->mir[i], "", i);
}

/* SPD 0 reads queue p as xpm[p * K] */
static bool spd_apply(struct sim *s, const struct row *r)
{
	return apply_link(s, r, false, false, true) || apply_fifo(r, s->sw->xpm, K) ||
	       apply_xpm(r, s->sw->xpm, K);
}

static void spd_step(struct sim *s)
{
	pw_bmx_spd_step(&s->sw->spd[0], s->in[0].suspend, s->sw->xpm, K);
	for (int i = 0; i < K; i++)
		emit_xpm(s, &s->sw->xpm[i * K], &s->mir[i], "", i);
	emit(s, 0, s->in[0].suspend, "suspend");
	emit_spd(s, &s->sw->spd[0], "");
}

static void tandem_init(struct sim *s)
{
	s->sw = new_switch();
	s->feed = new_switch();
}

static bool tandem_apply(struct sim *s, const struct row *r)
{
	return apply_fifo(r, s->feed->xpm, K) || apply_trsltab(s, r, false) ||
	       apply_xpm(r, s->sw->xpm, 1);
}

static void tandem_step(struct sim *s)
{
	struct pw_bmx_ppd *p = &s->sw->ppd[0];
	struct pw_bmx_spd *d = &s->feed->spd[0];

	load_wports(s);
	pw_bmx_spd_step(d, p->suspend, s->feed->xpm, K);
	pw_bmx_ppd_step(p, d->byte, d->byteind, s->sw->xpm);
	emit_wport(s, 0, "");
	emit_spd(s, d, "spd.");
	for (int i = 0; i < K; i++)
		emit_xpm(s, &s->feed->xpm[i * K], &s->mir[i], "spd.", i);
	emit_ppd(s, p, "ppd.");
	for (int i = 0; i < K; i++)
		emit_xpm(s, &s->sw->xpm[i], &s->mir[K + i], "ppd.", i);
}

static bool bmx_apply(struct sim *s, const struct row *r)
{
	return apply_link(s, r, true, true, true) || apply_trsltab(s, r, true);
}

static void bmx_step(struct sim *s)
{
	uint8_t byte[K], ind[K], susp[K];
	char pfx[16];
	int i, q;

	for (i = 0; i < K; i++) {
		byte[i] = s->in[i].byte;
		ind[i] = s->in[i].ind;
		susp[i] = s->in[i].suspend;
	}
	load_wports(s);
	pw_bmx_switch_step(s->sw, byte, ind, susp);
	for (i = 0; i < K; i++) {
		emit(s, 2, byte[i], "byte%d", i);
		emit(s, 0, ind[i], "byteind%d", i);
		emit(s, 0, susp[i], "suspend%d", i);
		snprintf(pfx, sizeof(pfx), "%d", i);
		emit_wport(s, i, pfx);
	}
	for (i = 0; i < K; i++) {
		snprintf(pfx, sizeof(pfx), "ppd%d.", i);
		emit_ppd(s, &s->sw->ppd[i], pfx);
		for (q = 0; q < K; q++)
			emit_xpm(s, &s->sw->xpm[i * K + q], &s->mir[i * K + q], pfx, q);
	}
	for (i = 0; i < K; i++) {
		snprintf(pfx, sizeof(pfx), "spd%d.", i);
		emit_spd(s, &s->sw->spd[i], pfx);
	}
}

static const struct unit units[] = {
	{ "ppd", init_one, ppd_apply, ppd_step },
	{ "spd", init_one, spd_apply, spd_step },
	{ "tandem", tandem_init, tandem_apply, tandem_step },
	{ "bmx", init_one, bmx_apply, bmx_step },
};

static char *next_line(char **p)
{
	char *line = *p, *end;

	if (!line || !*line)
		return NULL;
	end = strchr(line, '\n');
	if (end) {
		*end = 0;
		*p = end + 1;
		if (end > line && end[-1] == '\r')
			end[-1] = 0;
	} else {
		*p = line + strlen(line);
	}
	return line;
}

static int by_cycle(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->cycle != y->cycle)
		return x->cycle < y->cycle ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static struct row *read_rows(const char *path, size_t *count)
{
	char *text = pwm_slurp(path, NULL), *line, what[64];
	struct row *rows = NULL;
	unsigned int no = 0;
	size_t n = 0;

	while ((line = next_line(&text))) {
		char *sig, *val;

		no++;
		if (no == 1) {
			if (strcmp(line, "cycle,signal,value"))
				pwm_fail("%s: header is not 'cycle,signal,value'", path);
			continue;
		}
		if (!*line)
			continue;
		sig = strchr(line, ',');
		val = sig ? strchr(sig + 1, ',') : NULL;
		if (!val || strchr(val + 1, ','))
			pwm_fail("%s: line %u: not three columns", path, no);
		*sig++ = 0;
		*val++ = 0;
		rows = realloc(rows, (n + 1) * sizeof(*rows));
		if (!rows)
			pwm_fail("out of memory");
		snprintf(what, sizeof(what), "line %u: cycle", no);
		rows[n].cycle = pwm_u64(line, what);
		snprintf(what, sizeof(what), "line %u: value", no);
		rows[n].value = pwm_u64(val, what);
		rows[n].signal = sig;
		rows[n++].line = no;
	}
	if (!n)
		pwm_fail("%s: no stimuli", path);
	qsort(rows, n, sizeof(*rows), by_cycle);
	*count = n;
	return rows;
}

static void read_signals(struct sim *s, const char *path)
{
	char *text = pwm_slurp(path, NULL), *line;

	s->only = calloc(1, sizeof(*s->only));
	while ((line = next_line(&text))) {
		if (!*line || *line == '#')
			continue;
		s->only = realloc(s->only, (s->n_only + 1) * sizeof(*s->only));
		if (!s->only)
			pwm_fail("out of memory");
		s->only[s->n_only++] = line;
	}
	s->only_seen = calloc(s->n_only + 1, sizeof(*s->only_seen));
	if (!s->only || !s->only_seen)
		pwm_fail("out of memory");
}

/* every listed name must be one that the unit has; bytes of queues always may be */
static void check_signals(struct sim *s)
{
	for (size_t i = 0; i < s->n_only; i++)
		if (!s->only_seen[i] && !strstr(s->only[i], ".mem["))
			pwm_fail("signal '%s': unit %s has none of that name", s->only[i],
				 s->unit->name);
}

int pwm_replay(int argc, char **argv)
{
	const char *path = NULL, *signals = NULL, *unit = NULL;
	struct sim *s = calloc(1, sizeof(*s));
	uint64_t until = 0, end;
	struct row *rows;
	size_t n, i, len;
	bool more = false;
	char *text;

	if (!s)
		pwm_fail("out of memory");
	if (argc > 1 && !strcmp(argv[1], "aal"))
		return pwm_replay_aal(argc - 1, argv + 1);
	for (int a = 1; a < argc; a++) {
		if (!strcmp(argv[a], "--full")) {
			s->full = true;
		} else if (!strcmp(argv[a], "--until") || !strcmp(argv[a], "--signals")) {
			if (a + 1 == argc)
				pwm_fail("%s: value is missing", argv[a]);
			if (!strcmp(argv[a], "--until")) {
				until = pwm_u64(argv[++a], "--until");
				more = true;
			} else {
				signals = argv[++a];
			}
		} else if (argv[a][0] == '-' && argv[a][1]) {
			pwm_fail("option '%s' is unknown", argv[a]);
		} else if (!unit) {
			unit = argv[a];
		} else if (!path) {
			path = argv[a];
		} else {
			pwm_fail("argument '%s' is one too many", argv[a]);
		}
	}
	if (!unit)
		pwm_fail("replay: UNIT is missing");
	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(unit, units[i].name))
			s->unit = &units[i];
	if (!s->unit)
		pwm_fail("unit '%s' is not one of ppd, spd, tandem, bmx, aal", unit);
	if (!path)
		pwm_fail("replay: STIMULI is missing");

	rows = read_rows(path, &n);
	end = more ? until : rows[n - 1].cycle;
	if (end >= rows[0].cycle && end - rows[0].cycle > 100000000)
		pwm_fail("--until: more than 100000000 cycles");
	s->out = open_memstream(&text, &len);
	if (!s->out)
		pwm_fail("out of memory");
	s->unit->init(s);
	if (signals) {
		/* a dry cycle in a unit of its own tells which names there are */
		read_signals(s, signals);
		s->quiet = true;
		s->unit->step(s);
		s->quiet = false;
		check_signals(s);
		free(s->last);
		s->last = NULL;
		s->n_last = 0;
		s->unit->init(s);
	}

	fputs("cycle,signal,value\n", s->out);
	for (s->cycle = rows[0].cycle, i = 0; s->cycle <= end; s->cycle++) {
		for (; i < n && rows[i].cycle == s->cycle; i++)
			if (!s->unit->apply(s, &rows[i]))
				pwm_fail("line %u: signal '%s' is no input of %s", rows[i].line,
					 rows[i].signal, s->unit->name);
		s->pos = 0;
		s->unit->step(s);
	}
	fclose(s->out);
	fwrite(text, 1, len, stdout);
	return 0;
}
