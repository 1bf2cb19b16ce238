// SPDX-License-Identifier: GPL-2.0
/*
 * pwctl experiment: the published measurements of the cell fabric beside ours, on the
 * model in user space: no root, no module, the same figures everywhere. The module runs
 * the same core; selftests/fabric_test and atm_test hold it to the same cycles.
 */
#include "messages.h"
#include "sweep.h"
#include "atm_model.h"
#include "solve.h"

#define PORTS 16
#define STAGES (PW_BMX_STAGES + 1)	/* three of switches, and the ports */
#define PW_EXP_RATE1 155.52
#define PW_EXP_RATE2 622.08

/* table 11.1: bytes, cycles measured, cycles by the closed form as printed */
static const struct {
	uint32_t size, measured, theory;
} table_11_1[] = {
	{ 1000, 19460, 11640 },	   { 5000, 94410, 57521 },    { 10000, 190441, 114890 },
	{ 15000, 281160, 172259 }, { 20000, 370003, 229628 }, { 25000, 460233, 286926 },
	{ 30000, 534713, 344295 }, { 35000, 620481, 401664 }, { 40000, 685766, 459033 },
	{ 45000, 758368, 516331 }, { 50000, 863335, 573771 }, { 55000, 964429, 631140 },
	{ 60000, 1069154, 688509 }, { 65000, 1157703, 745878 },
};

#define ROWS N(table_11_1)

/* section 11.4: the last receive of a linear system of four equations */
#define CONTENTION_MEASURED 14228
#define CONTENTION_FREE 9211

struct opts {
	uint32_t engine;
	uint32_t machine;
	uint32_t receivers;
	uint32_t processes;
	uint32_t gap[4];	/* lock, init, get, word */
	const char *log;
	const char *svg;
	int nsizes;
	uint32_t size[64];
};

#define AT(m) offsetof(struct opts, m)

enum { FAST, RTL };
enum { DEVICE, PUBLISHED, MODULE };
enum { WAIT, POLL };
enum { FREE, CHARGED };

static uint32_t fabric_flags(const struct opts *o)
{
	return (o->machine == PUBLISHED ? 0 : PW_FABRIC_F_DEVICE) |
	       (o->engine == RTL ? 0 : PW_FABRIC_F_FAST);
}

/* One message at a time ---------------------------------------------------------- */

struct probe {
	struct pw_fabric *f;
	uint64_t at;
	uint64_t pause;
	bool done;
};

static void probe_deliver(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
			  const struct pw_fabric_times *t)
{
	((struct probe *)ctx)->at = cycle;
}

static void probe_done(void *ctx, u16 src, u64 cookie, u64 cycle, const struct pw_fabric_times *t)
{
	((struct probe *)ctx)->done = true;
}

static const struct pw_fabric_ops probe_ops = {
	.deliver = probe_deliver, .done = probe_done,
};

static enum status probe_open(struct probe *p, const struct opts *o)
{
	struct pw_fabric_params params = { .flags = fabric_flags(o) };
	void *mem = malloc(pw_fabric_size(&params));

	if (!mem)
		return fail(ENOMEM, "fabric");
	p->f = pw_fabric_init(mem, &params, &probe_ops, p);
	/* until the receiver has forgotten a message */
	p->pause = 8192 + (o->machine == PUBLISHED ? PW_AAL_KEEP : 0);
	return 0;
}

static void settle(struct pw_fabric *f, uint64_t cycles)
{
	uint64_t until = pw_fabric_now(f) + cycles;

	while (pw_fabric_now(f) < until)
		pw_fabric_run(f, until, UINT32_MAX);
}

/* cycles from init-send at port 0 to the last get at port 5, an empty fabric */
static uint64_t probe_delay(struct probe *p, uint32_t size)
{
	uint64_t start = pw_fabric_now(p->f);

	p->done = false;
	if (pw_fabric_send(p->f, 0, 5, PW_FABRIC_AUTO, size, 0, NULL))
		return 0;
	while (!p->done)
		settle(p->f, 4096);
	settle(p->f, p->pause);
	return p->at - start;
}

/* Plots ----------------------------------------------------------------------------- */

FILE *plot_open(const char *svg, const char *title, const char *x, const char *y)
{
	FILE *g;

	if (system("command -v gnuplot >/dev/null 2>&1")) {
		fail(0, "%s: gnuplot is not installed", svg);
		return NULL;
	}
	g = popen("gnuplot", "w");
	if (!g) {
		fail(errno, "gnuplot");
		return NULL;
	}
	fprintf(g, "set terminal svg size 640,400 font 'sans,12' noenhanced\nset output \"%s\"\n"
		   "set title '%s'\nset xlabel '%s'\nset ylabel '%s'\nset grid\nset key left top\n",
		svg, title, x, y);
	return g;
}

enum status plot_close(FILE *g, const char *svg)
{
	return pclose(g) ? fail(0, "%s: gnuplot failed", svg) : ST_OK;
}

/* delay, throughput ------------------------------------------------------------------- */

static const int *published(uint32_t size)
{
	static int row;

	for (row = 0; row < ROWS; row++)
		if (table_11_1[row].size == size)
			return &row;
	return NULL;
}

static enum status plot_sizes(const struct opts *o, const uint64_t *ours, bool rate)
{
	FILE *g = rate ? plot_open(o->svg, "Throughput against message size", "bytes",
				   "bytes per cycle") :
			 plot_open(o->svg, "One-way delay against message size", "bytes",
				   "cycles");
	const int *row;
	int pass, i;

	if (!g)
		return ST_REFUSED;
	fprintf(g, "set key right %s\n", rate ? "center" : "bottom");
	fprintf(g, "plot '-' title 'published, measured' with linespoints, "
		   "'-' title 'published, closed form' with points pointtype 2, "
		   "'-' title 'ours' with lines\n");
	for (pass = 0; pass < 3; pass++) {
		for (i = 0; i < o->nsizes; i++) {
			double y = ours[i];

			row = published(o->size[i]);
			if (pass < 2 && !row)
				continue;
			if (pass == 0)
				y = table_11_1[*row].measured;
			else if (pass == 1)
				y = table_11_1[*row].theory;
			fprintf(g, "%u %.6g\n", o->size[i], rate ? o->size[i] / y : y);
		}
		fprintf(g, "e\n");
	}
	return plot_close(g, o->svg);
}

static enum status run_sizes(const struct opts *o, uint64_t *ours)
{
	struct probe p = {};
	struct progress bar;
	int i, err = probe_open(&p, o);

	progress_begin(&bar, "sizes", o->nsizes, 0);
	for (i = 0; !err && i < o->nsizes; i++) {
		progress_step(&bar, i);
		ours[i] = probe_delay(&p, o->size[i]);
		if (!ours[i])
			err = fail(0, "a message of %u bytes does not fit", o->size[i]);
	}
	progress_end(&bar);
	free(p.f);
	return err;
}

static enum status take_size(void *to, char **values)
{
	const struct word w = { NULL, "SIZE", W_U32, .max = PW_FABRIC_MAX_LEN };
	struct opts *o = to;

	if (o->nsizes == N(o->size))
		return usage("no more than %d sizes", N(o->size));
	return word_store(&o->size[o->nsizes++], &w, values);
}

static enum status take_depth(void *to, char **values)
{
	const struct word w = { NULL, "DEPTH", W_U32, .max = PW_BMX_DEPTH_MAX };
	struct opts *o = to;

	if (o->nsizes == N(o->size))
		return usage("no more than %d depths", N(o->size));
	return word_store(&o->size[o->nsizes++], &w, values);
}

static enum status parse(const struct verb *v, int argc, char **argv, struct opts *o)
{
	enum status st = words(v, argc, argv, o);
	int i, given = o->nsizes;

	if (st)
		return st;
	for (i = 0; !given && i < ROWS; i++)
		o->size[o->nsizes++] = table_11_1[i].size;
	if (o->svg && strpbrk(o->svg, "\"\\\n"))
		return usage("svg: a file name without quotes and backslashes is needed");
	return ST_OK;
}

static enum status exp_delay(const struct verb *v, int argc, char **argv)
{
	struct opts o = {};
	uint64_t ours[64];
	const int *row;
	int i, err = parse(v, argc, argv, &o) ?: run_sizes(&o, ours);

	if (err)
		return err;
	out_begin(false);
	if (!opt_json)
		printf("One-way delay in cycles (table 11.1)\n%8s %12s %12s %12s %12s\n", "bytes",
		       "measured", "closed form", "ours", "difference");
	for (i = 0; i < o.nsizes; i++) {
		row = published(o.size[i]);
		if (opt_json) {
			json_t *j = json_pack("{s:i, s:I}", "size", o.size[i], "ours",
					      (json_int_t)ours[i]);

			if (row) {
				json_object_set_new(j, "measured",
						    j_u64(table_11_1[*row].measured));
				json_object_set_new(j, "closed_form",
						    j_u64(table_11_1[*row].theory));
			}
			out_item("", j);
		} else if (row) {
			printf("%8u %12u %12u %12llu %+12lld\n", o.size[i],
			       table_11_1[*row].measured, table_11_1[*row].theory,
			       (unsigned long long)ours[i],
			       (long long)ours[i] - table_11_1[*row].theory);
		} else {
			printf("%8u %12s %12s %12llu\n", o.size[i], "-", "-",
			       (unsigned long long)ours[i]);
		}
	}
	if (!opt_json)
		printf("difference: ours to the closed form as printed; row 45000 was printed for one cell too few\n");
	out_end();
	return o.svg ? plot_sizes(&o, ours, false) : ST_OK;
}

/* least squares through the measured column */
static void regression(double *slope, double *intercept)
{
	double sx = 0, sy = 0, sxx = 0, sxy = 0, n = ROWS;
	int i;

	for (i = 0; i < ROWS; i++) {
		double x = table_11_1[i].size, y = table_11_1[i].measured;

		sx += x;
		sy += y;
		sxx += x * x;
		sxy += x * y;
	}
	*slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
	*intercept = (sy - *slope * sx) / n;
}

static void figure(const char *name, const char *unit, double printed_m, double m, double printed_t,
		   double ours)
{
	if (opt_json)
		out_item("", json_pack("{s:s, s:f, s:f, s:f, s:f}", "figure", name,
				       "published_measured", printed_m, "measured_again", m,
				       "published_theory", printed_t, "ours", ours));
	else
		printf("%-28s %14.7g %14.7g %14.7g %14.7g  %s\n", name, printed_m, m, printed_t, ours,
		       unit);
}

static enum status exp_throughput(const struct verb *v, int argc, char **argv)
{
	struct opts o = {}, rest = { .nsizes = 1, .size = { 4 } };
	double slope, intercept, rmax, mmax;
	uint64_t ours[64], t0, last;
	struct probe p = {};
	uint32_t half, mhalf;
	const int *row;
	int i, err = parse(v, argc, argv, &o) ?: run_sizes(&o, ours);

	rest.engine = o.engine;
	rest.machine = o.machine;
	err = err ?: run_sizes(&rest, &t0);
	rest.size[0] = table_11_1[ROWS - 1].size;
	err = err ?: run_sizes(&rest, &last) ?: probe_open(&p, &o);
	if (err)
		return err;
	/* the size that gets half of the throughput of the largest message */
	rmax = (double)rest.size[0] / last;
	for (half = 1; half < 10000; half++)
		if (half / (double)probe_delay(&p, half) >= rmax / 2)
			break;
	free(p.f);
	regression(&slope, &intercept);
	mmax = rest.size[0] / (slope * rest.size[0] + intercept);
	for (mhalf = 1; mhalf / (slope * mhalf + intercept) < mmax / 2; mhalf++)
		;
	out_begin(false);
	if (!opt_json)
		printf("Throughput in bytes per cycle (tables 11.1, 11.2, 11.3)\n%8s %12s %12s %12s\n",
		       "bytes", "measured", "closed form", "ours");
	for (i = 0; i < o.nsizes; i++) {
		double s = o.size[i];

		row = published(o.size[i]);
		if (opt_json)
			out_item("", row ? json_pack("{s:i, s:f, s:f, s:f}", "size", o.size[i],
						     "measured", s / table_11_1[*row].measured,
						     "closed_form", s / table_11_1[*row].theory,
						     "ours", s / ours[i]) :
					   json_pack("{s:i, s:f}", "size", o.size[i], "ours",
						     s / ours[i]));
		else if (row)
			printf("%8u %12.6f %12.6f %12.6f\n", o.size[i], s / table_11_1[*row].measured,
			       s / table_11_1[*row].theory, s / ours[i]);
		else
			printf("%8u %12s %12s %12.6f\n", o.size[i], "-", "-", s / ours[i]);
	}
	if (!opt_json)
		printf("\n%-28s %14s %14s %14s %14s\n", "", "measured", "(again)", "closed form",
		       "ours");
	figure("r_max", "bytes per cycle", 0.0570546, mmax, 0.0871456189, rmax);
	figure("n_half", "bytes", 625, mhalf, 12, half);
	figure("t0", "cycles, 4 bytes", 11346, slope * 4 + intercept, 193, t0);
	figure("r_max_155", "Mbit/s at 155.52", 8.873131392, mmax * PW_EXP_RATE1, 13.5528866513,
	       rmax * PW_EXP_RATE1);
	figure("r_max_622", "Mbit/s at 622.08", 35.492525568, mmax * PW_EXP_RATE2, 54.2115466053,
	       rmax * PW_EXP_RATE2);
	if (!opt_json)
		printf("(again): the regression line of the printed measurements, worked out anew\n");
	out_end();
	return o.svg ? plot_sizes(&o, ours, true) : ST_OK;
}

/* contention ------------------------------------------------------------------------------ */

/*
 * The linear system of four equations is the program that pwsolve runs on stations
 * (tools/libpwatm/solve.c): process 0 hands out the elements, element i is process i + 1, at
 * port (i + 1) mod 16. Operations between elements are logged. The numbers are those of
 * example 4 of the publication; no pivot is zero.
 */
#define EQS 4
#define ELEMS (EQS * (EQS + 1))
/* a run of pwctl virtual begins with a second of the clock, the first one if it is fresh */
#define RUN_START 1000000000ULL

static const double system_4[ELEMS] = {
	1, 2, 3, 4, 1, 5, 6, 7, 8, 1, 9, 10, 18, 17, 1, 13, 14, 15, 19, 1,
};

struct system {
	struct atm_proc table[ELEMS + 1];
	struct atm_log *log;
	float triangle[ELEMS], x[EQS];
	unsigned int nlog;
	uint64_t last;			/* receive */
	int last_proc, last_type;
};

static void element(struct atm_dev *dev, void *arg)
{
	solve_element(dev, (int)(intptr_t)arg);
}

static void lead(struct atm_dev *dev, void *arg)
{
	struct system *s = arg;

	solve_lead(dev, EQS, system_4, s->triangle, s->x);
}

static enum status solve(struct system *s, struct atm_model *m, const struct opts *o)
{
	struct atm_op op;
	int i, err = 0;

	for (i = 0; !err && i <= ELEMS; i++) {
		s->table[i] = (struct atm_proc) { SOLVE_ELEMENT, i - 1 };
		if (!i)
			s->table[i] = (struct atm_proc) { SOLVE_LEAD, 0 };
		err = atm_model_add(m, s->table, ELEMS + 1, i, i ? element : lead,
				    i ? (void *)(intptr_t)(i - 1) : s);
	}
	if (!err)
		s->log = atm_log_new(atm_model_dev(m, 0), SOLVE_LOG(EQS));
	if (!s->log)
		return fail(ENOMEM, "linear system");
	for (i = 0; i <= ELEMS; i++) {
		atm_log(atm_model_dev(m, i), s->log);
		atm_charge(atm_model_dev(m, i), o->processes == CHARGED, 0);
	}
	if (atm_model_run(m))
		return fail(0, "the linear system did not end");
	s->nlog = atm_log_sort(s->log);
	for (i = 0; i < (int)s->nlog; i++) {
		atm_log_op(s->log, i, &op);
		if (op.send)
			continue;
		s->last = op.ns;
		s->last_proc = s->table[op.self].instance;
		s->last_type = op.type;
	}
	return ST_OK;
}

static void system_free(struct system *s)
{
	if (s)
		atm_log_free(s->log);
	free(s);
}

/* @depth: cells in a queue, 0 for the default; @stages: counters of the stages or NULL */
static enum status run_fabric(struct system *s, const struct opts *o, uint32_t depth,
			      struct pw_fabric_stage *stages)
{
	struct pw_fabric_params params = {
		.flags = fabric_flags(o) | (o->machine == MODULE ? 0 : PW_FABRIC_F_SELF) |
			 (o->receivers == POLL ? PW_FABRIC_F_POLL : 0),
		.queue = 128,
		.depth = depth,
		.gap_lock = o->gap[0],
		.gap_init = o->gap[1],
		.gap_get = o->gap[2],
		.gap_word = o->gap[3],
	};
	struct atm_model *m = atm_model_new(&params, 0, PORTS, o->machine == MODULE ? RUN_START : 0);
	enum status st = m ? solve(s, m, o) : fail(ENOMEM, "fabric");
	uint32_t i;

	for (i = 0; !st && stages && i < STAGES; i++)
		pw_fabric_stage(atm_model_fabric(m), i, &stages[i]);
	atm_model_free(m);
	return st;
}

/* 193 cycles a message whatever else goes on, reads at a port 40 cycles apart */
static enum status run_free(struct system *s, const struct opts *o)
{
	struct atm_model *m = atm_model_new(NULL, 40, PORTS, 0);
	enum status st = m ? solve(s, m, o) : fail(ENOMEM, "model");

	atm_model_free(m);
	return st;
}

static enum status plot_contention(const char *svg, struct system *a, struct system *b)
{
	FILE *g = plot_open(svg, "Linear system of four equations: receives over time", "cycles",
			    "receives so far");
	struct system *s[] = { a, b };
	struct atm_op op;
	unsigned int i;
	int pass, n = 0;

	if (!g)
		return ST_REFUSED;
	fprintf(g, "set key right bottom\nplot '-' title 'ours, fabric' with steps, "
		   "'-' title 'ours, no contention' with steps, "
		   "'-' title 'published, last receive' with points pointtype 7\n");
	for (pass = 0; pass < 2; pass++) {
		for (i = 0, n = 0; i < s[pass]->nlog; i++) {
			atm_log_op(s[pass]->log, i, &op);
			if (!op.send)
				fprintf(g, "%llu %d\n", (unsigned long long)op.ns, ++n);
		}
		fprintf(g, "e\n");
	}
	fprintf(g, "%d %d\n%d %d\ne\n", CONTENTION_FREE, n, CONTENTION_MEASURED, n);
	return plot_close(g, svg);
}

static void contention_row(const char *what, int measured, int free_, int ops, uint64_t ours_m,
			   uint64_t ours_f)
{
	if (opt_json)
		out_item("", json_pack("{s:s, s:i, s:i, s:i, s:i, s:I, s:I}", "what", what,
				       "operations", ops, "published_with", measured,
				       "published_without", free_, "published_lost",
				       measured - free_, "ours_with", (json_int_t)ours_m,
				       "ours_without", (json_int_t)ours_f));
}

static enum status write_log(struct system *s, const char *path)
{
	FILE *f = path ? fopen(path, "w") : NULL;
	int err;

	if (!path)
		return ST_OK;
	if (!f)
		return fail(errno, "%s", path);
	err = atm_log_write(s->log, s->table, 8000000000ULL, f);
	return fclose(f) || err ? fail(errno, "%s", path) : ST_OK;
}

static enum status exp_contention(const struct verb *v, int argc, char **argv)
{
	struct system *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct opts o = {};
	int err = parse(v, argc, argv, &o);

	if (!err && (!a || !b))
		err = fail(ENOMEM, "contention");
	err = err ?: run_fabric(a, &o, 0, NULL) ?: run_free(b, &o) ?: write_log(a, o.log);
	if (err)
		goto out;
	out_begin(false);
	contention_row("last receive", CONTENTION_MEASURED, CONTENTION_FREE, a->nlog, a->last,
		       b->last);
	if (!opt_json) {
		printf("Linear system of %d equations, %d logged operations (section 11.4)\n", EQS,
		       a->nlog);
		printf("%-34s %10s %10s\n", "", "published", "ours");
		printf("%-34s %10d %10llu\n", "last receive, cycle", CONTENTION_MEASURED,
		       (unsigned long long)a->last);
		printf("%-34s %10d %10llu\n", "without contention", CONTENTION_FREE,
		       (unsigned long long)b->last);
		printf("%-34s %10d %10lld\n", "lost to contention",
		       CONTENTION_MEASURED - CONTENTION_FREE, (long long)(a->last - b->last));
		printf("%-34s %9.1f%% %9.1f%%\n", "share",
		       100.0 * (CONTENTION_MEASURED - CONTENTION_FREE) / CONTENTION_MEASURED,
		       100.0 * ((double)a->last - b->last) / a->last);
		printf("last receive: element %d, type %d (published: 4, 20)\n", a->last_proc,
		       a->last_type);
	}
	out_end();
	if (o.svg)
		err = plot_contention(o.svg, a, b);
out:
	system_free(a);
	system_free(b);
	return err;
}

/* queues ---------------------------------------------------------------------------------- */

/* the question that the publication leaves open: how deep must a queue be? */
static const uint32_t study[] = { 1, 2, 4, 8, 16, 64 };

struct depth_run {
	uint32_t depth;
	uint64_t last;
	struct pw_fabric_stage stage[STAGES];
};

static enum status run_depth(struct depth_run *r, const struct opts *o)
{
	struct system *s = calloc(1, sizeof(*s));
	enum status st = s ? run_fabric(s, o, r->depth, r->stage) : fail(ENOMEM, "queues");

	if (!st)
		r->last = s->last;
	system_free(s);
	return st;
}

static enum status plot_queues(const char *svg, const struct depth_run *r, int n)
{
	FILE *g = plot_open(svg, "Linear system of four equations against queue depth",
			    "cells in a queue", "cycle of the last receive");
	int i;

	if (!g)
		return ST_REFUSED;
	fprintf(g, "set logscale x 2\nset key off\nset yrange [0:*]\nplot '-' with linespoints\n");
	for (i = 0; i < n; i++)
		fprintf(g, "%u %llu\n", r[i].depth, (unsigned long long)r[i].last);
	fprintf(g, "e\n");
	return plot_close(g, svg);
}

static enum status exp_queues(const struct verb *v, int argc, char **argv)
{
	struct depth_run r[N(((struct opts *)0)->size)] = {};
	struct opts o = {};
	enum status st = words(v, argc, argv, &o);
	struct progress bar;
	int i, s;

	if (!st && !o.nsizes) {
		memcpy(o.size, study, sizeof(study));
		o.nsizes = N(study);
	}
	for (i = 0; !st && i < o.nsizes; i++)
		if (!o.size[i])
			return usage("DEPTH: '0' is not 1..%u", PW_BMX_DEPTH_MAX);
	progress_begin(&bar, "depths", o.nsizes, 0);
	for (i = 0; !st && i < o.nsizes; i++) {
		progress_step(&bar, i);
		r[i].depth = o.size[i];
		st = run_depth(&r[i], &o);
	}
	progress_end(&bar);
	if (st)
		return st;
	out_begin(false);
	if (!opt_json)
		printf("Linear system of %d equations against the cells in a queue\n"
		       "%8s %14s   refusals: %8s %8s %8s %8s\n", EQS, "depth", "last receive",
		       "stage 1", "stage 2", "stage 3", "ports");
	for (i = 0; i < o.nsizes; i++) {
		if (opt_json) {
			json_t *refused = json_array();

			for (s = 0; s < STAGES; s++)
				json_array_append_new(refused, j_u64(r[i].stage[s].refused));
			out_item("", json_pack("{s:i, s:I, s:o}", "depth", r[i].depth, "cycles",
					       (json_int_t)r[i].last, "refused", refused));
			continue;
		}
		printf("%8u %14llu             ", r[i].depth, (unsigned long long)r[i].last);
		for (s = 0; s < STAGES; s++)
			printf(" %8llu", (unsigned long long)r[i].stage[s].refused);
		printf("\n");
	}
	out_end();
	return o.svg ? plot_queues(o.svg, r, o.nsizes) : ST_OK;
}

#define COMMON \
	{ "engine", "fast|rtl", W_CHOICE, AT(engine) }, \
	{ "machine", "device|published", W_CHOICE, AT(machine) }, { "svg", "FILE", W_TEXT, AT(svg) }

static const struct word sizes[] = {
	{ NULL, "SIZE", W_CALL, 0, WORD_MANY, 1, take_size }, COMMON, {}
};

#define GAP(name, i) { name, "CYCLES", W_U32, AT(gap[i]), .max = 1000000 }

static const struct word contention_words[] = {
	{ "engine", "fast|rtl", W_CHOICE, AT(engine) },
	{ "machine", "device|published|module", W_CHOICE, AT(machine) },
	{ "receivers", "wait|poll", W_CHOICE, AT(receivers) },
	{ "processes", "free|charged", W_CHOICE, AT(processes) },
	GAP("gap-lock", 0), GAP("gap-init", 1), GAP("gap-get", 2), GAP("gap-word", 3),
	{ "log", "FILE", W_TEXT, AT(log) }, { "svg", "FILE", W_TEXT, AT(svg) }, {}
};

static const struct word depths[] = {
	{ NULL, "DEPTH", W_CALL, 0, WORD_MANY, 1, take_depth }, COMMON, {}
};

const struct verb experiment_verbs[] = {
	{ "delay", exp_delay, 0, sizes, "one-way delay against message size, beside table 11.1" },
	{ "throughput", exp_throughput, 0, sizes,
	  "throughput against message size, beside tables 11.2 and 11.3" },
	{ "contention", exp_contention, 0, contention_words,
	  "what contention costs a linear system, beside section 11.4" },
	{ "queues", exp_queues, 0, depths,
	  "the same linear system against the cells in a queue, 1 to 64" },
	{ "sweep", exp_sweep, 0, sweep_words,
	  "traffic for all combinations of the values in a file: tables and curves" },
	{ "messages", exp_messages, 0, messages_words,
	  "messages of a captured run, as a table for sweeps and pwmodel fabric" },
	{}
};
