// SPDX-License-Identifier: GPL-2.0
/*
 * The published register traces of PPD, SPD and switch: every row of every
 * trace file, on the units themselves and, if $PWMODEL names the binary, once
 * more through `pwmodel replay`.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"
#include "fabric/bmx_net.h"

#define K 4

struct row {
	unsigned long cycle;
	char sig[40];
	unsigned long long val;
};

struct rows {
	struct row *r;
	size_t n;
};

static struct rows load(FILE *f)
{
	struct rows t = { NULL, 0 };
	char line[160], val[40];
	struct row r;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lu,%39[^,],%39s", &r.cycle, r.sig, val) != 3)
			continue;
		r.val = strtoull(val, NULL, 0);
		t.r = realloc(t.r, (t.n + 1) * sizeof(r));
		t.r[t.n++] = r;
	}
	return t;
}

static struct rows load_file(const char *dir, const char *file)
{
	char path[512];
	struct rows t;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s", PW_GOLDEN, dir, file);
	f = fopen(path, "r");
	t = load(f);
	if (f)
		fclose(f);
	return t;
}

struct bench {
	struct pw_bmx_switch *sw;
	u8 byte[K], ind[K], susp[K];
	unsigned long long wadr[K], datain[K], wcmd[K];
	char kind;	/* p, s or b */
};

static struct pw_bmx_xpm *xpm_of(struct bench *b, int n)
{
	return &b->sw->xpm[b->kind == 's' ? n * K : n];
}

static int apply(struct bench *b, const struct row *r)
{
	unsigned int n = 0, i;
	char name[40], *dot;

	snprintf(name, sizeof(name), "%s", r->sig);
	if (sscanf(name, "fifo%u", &n) == 1 && n < K) {
		pw_bmx_xpm_push(xpm_of(b, n), r->val);
		return 1;
	}
	if (sscanf(name, "xpm%u.", &n) == 1 && n < K) {
		dot = strchr(name, '.');
		xpm_of(b, n)->used = true;
		if (!strcmp(dot, ".tail"))
			xpm_of(b, n)->tail = r->val;
		else if (!strcmp(dot, ".size"))
			xpm_of(b, n)->size = r->val;
		else
			return 0;
		return 1;
	}
	dot = strchr(name, '.');
	i = (dot ? (size_t)(dot - name) : strlen(name)) - 1;
	if (isdigit((unsigned char)name[i]))
		n = name[i] - '0';
	if (!strncmp(name, "byteind", 7))
		b->ind[n] = r->val;
	else if (!strncmp(name, "byte", 4))
		b->byte[n] = r->val;
	else if (!strncmp(name, "suspend", 7))
		b->susp[n] = r->val;
	else if (dot && !strcmp(dot, ".wadr"))
		b->wadr[n] = r->val;
	else if (dot && !strcmp(dot, ".datain"))
		b->datain[n] = r->val;
	else if (dot && !strcmp(dot, ".wcmd"))
		b->wcmd[n] = r->val;
	else
		return 0;
	return 1;
}

static void step(struct bench *b)
{
	for (int i = 0; i < K; i++) {
		struct pw_bmx_tab *t = &b->sw->ppd[i].tab;

		if (!b->wcmd[i])
			continue;
		t->wadr = b->wadr[i];
		pw_bmx_entry_unpack(b->datain[i], &t->datain);
		t->wcmd = true;
	}
	if (b->kind == 'p')
		pw_bmx_ppd_step(&b->sw->ppd[0], b->byte[0], b->ind[0], b->sw->xpm);
	else if (b->kind == 's')
		pw_bmx_spd_step(&b->sw->spd[0], b->susp[0], b->sw->xpm, K);
	else
		pw_bmx_switch_step(b->sw, b->byte, b->ind, b->susp);
}

static long long spd_reg(const struct pw_bmx_spd *s, const char *n)
{
	if (!strncmp(n, "iqcnt", 5))
		return s->iqcnt[n[5] - '0'];
	return !strcmp(n, "siqnum") ? s->siqnum : !strcmp(n, "lsthead") ? s->lsthead :
	       !strcmp(n, "trsmit") ? s->trsmit : !strcmp(n, "buf") ? s->buf :
	       !strcmp(n, "byte") ? s->byte : !strcmp(n, "bufind") ? s->bufind :
	       !strcmp(n, "byteind") ? s->byteind : -1;
}

static long long ppd_reg(const struct pw_bmx_ppd *p, const char *n)
{
	if (!n[1] && *n >= 'c' && *n <= 'n') {
		int i = (*n - 'c') / 3;

		return (*n - 'c') % 3 == 0 ? p->hi[i] :
		       (*n - 'c') % 3 == 1 ? p->lo[i] : p->sel >> i & 1;
	}
	return !strcmp(n, "a") ? p->a : !strcmp(n, "b") ? p->b : !strcmp(n, "o") ? p->o :
	       !strcmp(n, "p") ? p->p : !strcmp(n, "q") ? p->q : !strcmp(n, "aind") ? p->aind :
	       !strcmp(n, "bind") ? p->bind : !strcmp(n, "cind") ? p->cind :
	       !strcmp(n, "dind") ? p->dind : !strcmp(n, "oind") ? p->oind :
	       !strcmp(n, "pind") ? p->pind : !strcmp(n, "qind") ? p->qind :
	       !strcmp(n, "count") ? p->count : !strcmp(n, "suspend") ? p->suspend : -1;
}

static long long sample(struct bench *b, const char *n)
{
	unsigned int i, j;

	if (sscanf(n, "xpm%u.mem[%u]", &i, &j) == 2) {
		struct pw_bmx_xpm *x = xpm_of(b, i);

		/* the file names the byte written last; so must we */
		return (x->tail + x->cap - 1) % x->cap == j ? x->mem[j] : -1;
	}
	if (sscanf(n, "xpm%u.", &i) == 1) {
		struct pw_bmx_xpm *x = xpm_of(b, i);

		n = strchr(n, '.') + 1;
		return !strcmp(n, "size") ? x->size : !strcmp(n, "head") ? x->head :
		       !strcmp(n, "tail") ? x->tail : -1;
	}
	if (!strncmp(n, "trsltab.", 8))
		return !strcmp(n + 8, "wcmd") ? (long long)b->wcmd[0] :
		       !strcmp(n + 8, "wadr") ? (long long)b->wadr[0] : (long long)b->datain[0];
	if (b->kind == 'b') {
		if (sscanf(n, "spd%u.", &i) == 1)
			return spd_reg(&b->sw->spd[i], strchr(n, '.') + 1);
		if (sscanf(n, "ppd%u.", &i) == 1)
			return ppd_reg(&b->sw->ppd[i], strchr(n, '.') + 1);
		i = n[strlen(n) - 1] - '0';
		return !strncmp(n, "byteind", 7) ? b->ind[i] : !strncmp(n, "byte", 4) ? b->byte[i] :
		       !strncmp(n, "suspend", 7) ? b->susp[i] : -1;
	}
	if (b->kind == 's')
		return !strcmp(n, "suspend") ? b->susp[0] : spd_reg(&b->sw->spd[0], n);
	return !strcmp(n, "byte") ? b->byte[0] : !strcmp(n, "byteind") ? b->ind[0] :
	       ppd_reg(&b->sw->ppd[0], n);
}

static void golden(const char *dir, char kind, size_t want)
{
	struct rows st = load_file(dir, "stimuli.csv"), tr = load_file(dir, "trace.csv");
	struct pw_bmx_cfg cfg = {};
	struct bench b = { .kind = kind };
	size_t i = 0, j, seen = 0, bad = 0, odd = 0;
	unsigned long c, last = 0;
	void *mem = malloc(pw_bmx_switch_size(&cfg));

	b.sw = pw_bmx_switch_init(mem, &cfg);
	for (j = 0; j < tr.n; j++)
		if (tr.r[j].cycle > last)
			last = tr.r[j].cycle;
	for (c = 1; c <= last; c++) {
		for (; i < st.n && st.r[i].cycle == c; i++)
			odd += !apply(&b, &st.r[i]);
		step(&b);
		for (j = 0; j < tr.n; j++) {
			long long got;

			if (tr.r[j].cycle != c)
				continue;
			seen++;
			got = sample(&b, tr.r[j].sig);
			if (got == (long long)tr.r[j].val)
				continue;
			if (bad++ < 5)
				diag("%s cycle %lu %s: got %lld, printed %llu", dir, c, tr.r[j].sig,
				     got, tr.r[j].val);
		}
		memset(b.wcmd, 0, sizeof(b.wcmd));
	}
	is(odd, 0, "%s: every stimulus is understood", dir);
	is(seen, want, "%s: all rows of the trace looked at", dir);
	is(bad, 0, "%s: %zu printed values, none differs", dir, seen);
	free(mem);
	free(st.r);
	free(tr.r);
}

/* the same files through the binary, with --full: rows must be found literally */
static void by_binary(const char *pwmodel, const char *dir, const char *unit)
{
	struct rows tr = load_file(dir, "trace.csv"), out;
	unsigned long last = 0;
	size_t i, j = 0, bad = 0;
	char cmd[1024];
	FILE *p;

	for (i = 0; i < tr.n; i++)
		if (tr.r[i].cycle > last)
			last = tr.r[i].cycle;
	snprintf(cmd, sizeof(cmd), "%s replay %s %s/%s/stimuli.csv --full --until %lu", pwmodel,
		 unit, PW_GOLDEN, dir, last);
	p = popen(cmd, "r");
	out = load(p);
	is(p ? pclose(p) : -1, 0, "pwmodel replay %s on %s succeeds", unit, dir);
	for (i = 0; i < tr.n; i++) {
		for (j = 0; j < out.n; j++)
			if (out.r[j].cycle == tr.r[i].cycle && !strcmp(out.r[j].sig, tr.r[i].sig))
				break;
		if (j == out.n || out.r[j].val != tr.r[i].val)
			bad++;
	}
	is(bad, 0, "pwmodel replay %s prints all %zu values of %s", unit, tr.n, dir);
	free(tr.r);
	free(out.r);
}

/* runs the binary on @text; returns its exit status, its output in @out */
static int run(const char *pwmodel, const char *args, const char *text, struct rows *out,
	       char *err, size_t size)
{
	char path[] = "/tmp/bmxXXXXXX", cmd[1024], line[200];
	int fd = mkstemp(path), status;
	size_t n;
	FILE *p;

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return -1;
	close(fd);
	snprintf(cmd, sizeof(cmd), "%s replay %s < %s 2> %s.err", pwmodel, args, path, path);
	p = popen(cmd, "r");
	*out = load(p);
	status = p ? pclose(p) : -1;
	snprintf(cmd, sizeof(cmd), "%s.err", path);
	p = fopen(cmd, "r");
	n = 0;
	*err = 0;
	while (p && fgets(line, sizeof(line), p) && n < size)
		n += snprintf(err + n, size - n, "%s", line);
	if (p)
		fclose(p);
	unlink(cmd);
	unlink(path);
	return status;
}

#define HDR "cycle,signal,value\n"

static void test_binary(const char *pwmodel)
{
	static const struct {
		const char *args, *text, *names;
	} wrong[] = {
		{ "", HDR "1,byte,1\n", "UNIT" },
		{ "ppd", HDR "1,byte,1\n", "STIMULI" },
		{ "xyz -", HDR "1,byte,1\n", "xyz" },
		{ "ppd - --what", HDR "1,byte,1\n", "--what" },
		{ "ppd - --until", HDR "1,byte,1\n", "--until" },
		{ "ppd - --until x", HDR "1,byte,1\n", "--until" },
		{ "ppd /nonexistent/file", HDR "1,byte,1\n", "/nonexistent/file" },
		{ "ppd - --signals /nonexistent/file", HDR "1,byte,1\n", "/nonexistent/file" },
		{ "ppd -", "cycle,value\n1,2\n", "header" },
		{ "ppd -", HDR, "no stimuli" },
		{ "ppd -", HDR "1,byte\n", "line 2" },
		{ "ppd -", HDR "x,byte,1\n", "cycle" },
		{ "ppd -", HDR "1,byte,zz\n", "value" },
		{ "ppd -", HDR "1,byte,256\n", "byte" },
		{ "ppd -", HDR "1,byteind,2\n", "byteind" },
		{ "ppd -", HDR "1,suspend,1\n", "suspend" },
		{ "ppd -", HDR "1,fifo0,1\n", "fifo0" },
		{ "ppd -", HDR "1,xpm4.size,1\n", "xpm4.size" },
		{ "ppd -", HDR "1,xpm3.size,425\n", "xpm3.size" },
		{ "ppd -", HDR "1,trsltab.wadr,256\n", "trsltab.wadr" },
		{ "spd -", HDR "1,fifo4,1\n", "fifo4" },
		{ "bmx -", HDR "1,byte4,1\n", "byte4" },
		{ "bmx -", HDR "1,trsltab4.wadr,1\n", "trsltab4.wadr" },
		{ "tandem -", HDR "1,byte,1\n", "byte" },
	};
	char err[400], text[16384];
	size_t i, n, max = 0, odd = 0;
	unsigned long refused = 0;
	struct rows out;
	int status;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		status = run(pwmodel, wrong[i].args, wrong[i].text, &out, err, sizeof(err));
		ok(WIFEXITED(status) && WEXITSTATUS(status) == 2 && !out.n &&
		   strstr(err, wrong[i].names) && strchr(err, '\n') == err + strlen(err) - 1,
		   "replay %s: exit 2, one line that names %s", wrong[i].args, wrong[i].names);
		free(out.r);
	}

	/* tandem: queue 2 becomes full by a cell from queue 2, then a broadcast waits */
	n = sprintf(text, HDR "1,xpm2.size,371\n1,xpm2.tail,371\n"
		    "1,trsltab.wadr,1\n1,trsltab.datain,0x00003630000004\n1,trsltab.wcmd,1\n"
		    "2,trsltab.wadr,2\n2,trsltab.datain,0x0708506304102f\n2,trsltab.wcmd,1\n");
	for (i = 0; i < 53; i++)
		n += sprintf(text + n, "%zu,fifo2,%zu\n%zu,fifo3,%zu\n", 2 + i, i == 1 ? 16 : i,
			     30 + i, i == 1 ? 32 : i);
	status = run(pwmodel, "tandem - --full --until 120", text, &out, err, sizeof(err));
	is(status, 0, "replay tandem succeeds");
	for (i = 0; i < out.n; i++) {
		if (!strcmp(out.r[i].sig, "ppd.suspend") && out.r[i].val) {
			odd += refused && out.r[i].cycle != refused + 6;
			refused = out.r[i].cycle;
		}
		if (!strcmp(out.r[i].sig, "ppd.xpm2.size") && out.r[i].val > max)
			max = out.r[i].val;
		odd += !strcmp(out.r[i].sig, "ppd.xpm0.size") && out.r[i].val;
	}
	ok(max == 424 && refused && !odd, "replay tandem: full at 424, refused every 6 cycles");
	free(out.r);

	/* only what changed, only what was asked for */
	status = run(pwmodel, "ppd - --until 3", HDR "1,byte,1\n1,byteind,1\n2,byteind,0\n", &out,
		     err, sizeof(err));
	is(status, 0, "replay without --full succeeds");
	for (i = 0, n = 0; i < out.n; i++)
		n += out.r[i].cycle == 3;
	ok(out.n == 7 && n == 0, "replay prints changes only (%zu rows)", out.n);
	free(out.r);
}

int main(void)
{
	static const struct {
		const char *dir, *unit;
		size_t rows;
	} set[] = {
		{ "F1F2", "ppd", 923 }, { "F3F4", "ppd", 429 }, { "G1G2", "spd", 631 },
		{ "G3G4", "spd", 573 }, { "I", "bmx", 512 },
	};
	const char *pwmodel = getenv("PWMODEL");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(set); i++)
		golden(set[i].dir, set[i].unit[0], set[i].rows);
	for (i = 0; pwmodel && i < ARRAY_SIZE(set); i++)
		by_binary(pwmodel, set[i].dir, set[i].unit);
	if (pwmodel)
		test_binary(pwmodel);
	else
		diag("PWMODEL is not set: the binary was not run");
	return tap_done();
}
