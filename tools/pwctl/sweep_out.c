// SPDX-License-Identifier: GPL-2.0
/* The files of a sweep: runs and points as CSV, both as JSON, curves as SVG. */
#include <math.h>

#include "sweep.h"

/* Figures ------------------------------------------------------------------------------ */

enum {
	F_OFFERED, F_THROUGHPUT, F_LATENCY, F_P99, F_MAX, F_FILL1, F_FILL2, F_FILL3, F_REFUSED1,
	F_REFUSED2, F_REFUSED3, F_REFUSED4, F_WAITING, F_LOST, F_SATURATED, F_WARMUP, FIGURES,
};

static const char *const figure_name[FIGURES] = {
	"offered", "throughput", "latency", "latency_p99", "latency_max", "fill_1", "fill_2",
	"fill_3", "refused_1", "refused_2", "refused_3", "refused_ports", "waiting", "lost",
	"saturated", "warmup",
};

static double ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

/* queues of a stage as sweep.h numbers them */
static double queues(const struct point *p, uint32_t stage)
{
	const struct pw_topo *t = p->p.topo;
	uint32_t i, n = 0;

	if (!t || !stage)
		return (double)pw_fabric_ports(&p->p) * p->p.k;
	for (i = 0; stage == 1 && i < t->ranks; i++)
		n += t->level[i] > 0;
	return (double)n * t->k;
}

/* names and number of the figures of a sweep */
static const char *const *names_of(const struct sweep *s)
{
	return s->ring ? ring_figure_name : figure_name;
}

static int figures_of(const struct sweep *s)
{
	return s->ring ? RING_FIGURES : FIGURES;
}

static void fabric_figures(const struct point *p, const struct result *r, double *f)
{
	double ports = pw_fabric_ports(&p->p);
	double depth = p->p.depth ? p->p.depth : PW_BMX_DEPTH;
	int i;

	f[F_OFFERED] = ratio((double)r->offered * p->bytes, r->window * ports);
	f[F_THROUGHPUT] = ratio((double)r->delivered * p->bytes, r->window * ports);
	f[F_LATENCY] = ratio(r->latency, r->delivered);
	f[F_P99] = r->p99;
	f[F_MAX] = r->worst;
	for (i = 0; i < PW_BMX_STAGES; i++)
		f[F_FILL1 + i] = ratio(r->fill[i],
				       r->samples * queues(p, i) * depth * PW_BMX_CELL);
	for (i = 0; i < SWEEP_STAGES; i++)
		f[F_REFUSED1 + i] = ratio(r->refused[i], r->cells[i]);
	f[F_WAITING] = r->waiting;
	f[F_LOST] = r->lost;
	f[F_SATURATED] = r->delivered < 0.95 * r->offered;
	f[F_WARMUP] = r->warmup;
}

static void figures(const struct sweep *s, const struct point *p, const struct result *r, double *f)
{
	if (s->ring)
		ring_figures(s, p, r, f);
	else
		fabric_figures(p, r, f);
}

/* half of the 95 % confidence interval of a mean of @n: factor of the standard error */
static double student(uint32_t n)
{
	static const double t[] = {
		12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179,
		2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
		2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
	};

	return n < 2 ? 0 : n - 2 < N(t) ? t[n - 2] : 2.0;
}

struct mean {
	double mean, ci;
};

static void means(const struct sweep *s, const struct point *p, const struct result *r,
		  struct mean *m)
{
	double f[FIGURES], sum[FIGURES] = {}, dev[FIGURES] = {};
	uint32_t n = s->seed.n, i;
	int k;

	for (i = 0; i < n; i++) {
		figures(s, p, &r[i], f);
		for (k = 0; k < figures_of(s); k++)
			sum[k] += f[k];
	}
	for (i = 0; i < n; i++) {
		figures(s, p, &r[i], f);
		for (k = 0; k < figures_of(s); k++)
			dev[k] += (f[k] - sum[k] / n) * (f[k] - sum[k] / n);
	}
	for (k = 0; k < figures_of(s); k++) {
		m[k].mean = sum[k] / n;
		m[k].ci = n < 2 ? 0 : student(n) * sqrt(dev[k] / (n - 1) / n);
	}
}

/* CSV ---------------------------------------------------------------------------------- */

/* columns that say what was run: the value that holds, also where the file sets none */
static void what_head(FILE *f, const struct sweep *s)
{
	uint32_t i;

	if (s->ring) {
		fprintf(f, "version,engine");
		for (i = 0; i < s->naxis; i++)
			fprintf(f, ",%s", s->axis[i].name);
		fprintf(f, ",bits");
		return;
	}
	fprintf(f, "version,engine,machine,topology");
	for (i = 0; i < pw_fabric_param_num; i++)
		fprintf(f, ",%s", pw_fabric_param[i].name);
	for (i = 0; i < PW_FABRIC_FAULT_PARAMS; i++)
		fprintf(f, ",%s", pw_fabric_fault_param[i].name);
	fprintf(f, ",traffic,hotspot,burst,bytes,load,cycles");
}

static void what(FILE *f, const struct sweep *s, const struct point *p)
{
	char buf[32];
	uint32_t i;

	if (s->ring) {
		fprintf(f, "%s,%s", pwl_version(), sweep_engine_name[s->engine]);
		for (i = 0; i < s->naxis; i++)
			fprintf(f, ",%s", axis_text(s, i, p->at[i], buf, sizeof(buf)));
		fprintf(f, ",%u", s->cycles);
		return;
	}
	fprintf(f, "%s,%s,%s,%s", pwl_version(), sweep_engine_name[s->engine],
		pw_fabric_machine[pw_fabric_machine_of(&p->p)],
		topology_text(s, p, buf, sizeof(buf)));
	for (i = 0; i < pw_fabric_param_num; i++) {
		const struct pw_fabric_param *d = &pw_fabric_param[i];

		if (pw_fabric_param_has(d, pw_fabric_machine_of(&p->p)))
			fprintf(f, ",%u", pw_fabric_param_get(&p->p, d));
		else
			fprintf(f, ",");
	}
	fprintf(f, ",%u,%u,", p->faults.drop, p->faults.corrupt);
	/* empty: that of the run */
	if (s->fault_seed)
		fprintf(f, "%u", p->faults.seed);
	fprintf(f, ",%s,", traffic_name[p->traffic]);
	if (p->traffic == HOTSPOT)
		fprintf(f, "%.7g", (double)s->hotspot / LOAD_UNIT);
	fprintf(f, ",");
	if (p->traffic == BURSTY)
		fprintf(f, "%u", s->burst);
	fprintf(f, ",%u,%.7g,%u", p->bytes, (double)p->load / LOAD_UNIT, s->cycles);
}

static FILE *create(const char *prefix, const char *end, char *path, size_t cap)
{
	FILE *f;

	snprintf(path, cap, "%s%s", prefix, end);
	f = fopen(path, "we");
	if (!f)
		fail(errno, "%s", path);
	return f;
}

static enum status complete(FILE *f, const char *path)
{
	bool bad = ferror(f);

	return fclose(f) || bad ? fail(errno, "%s", path) : ST_OK;
}

static enum status write_runs(const struct sweep *s, const struct result *r, const char *prefix)
{
	double v[FIGURES];
	char path[4096];
	struct point p;
	uint32_t i, k;
	FILE *f = create(prefix, "-runs.csv", path, sizeof(path));

	if (!f)
		return ST_REFUSED;
	what_head(f, s);
	fprintf(f, ",seed,%s", s->ring ? "reductions" : "messages");
	for (k = 0; k < figures_of(s); k++)
		fprintf(f, ",%s", names_of(s)[k]);
	fprintf(f, "\n");
	for (i = 0; i < s->points * s->seed.n; i++) {
		sweep_point(s, i / s->seed.n, &p);
		what(f, s, &p);
		figures(s, &p, &r[i], v);
		fprintf(f, ",%u,%llu", s->seed.v[i % s->seed.n], (unsigned long long)r[i].delivered);
		for (k = 0; k < figures_of(s); k++)
			fprintf(f, ",%.8g", v[k]);
		fprintf(f, "\n");
	}
	return complete(f, path);
}

static enum status write_points(const struct sweep *s, const struct result *r, const char *prefix)
{
	struct mean m[FIGURES];
	char path[4096];
	struct point p;
	uint32_t i, k;
	FILE *f = create(prefix, ".csv", path, sizeof(path));

	if (!f)
		return ST_REFUSED;
	what_head(f, s);
	fprintf(f, ",seeds");
	for (k = 0; k < figures_of(s); k++)
		fprintf(f, ",%s,%s_ci95", names_of(s)[k], names_of(s)[k]);
	fprintf(f, "\n");
	for (i = 0; i < s->points; i++) {
		sweep_point(s, i, &p);
		what(f, s, &p);
		means(s, &p, &r[i * s->seed.n], m);
		fprintf(f, ",%u", s->seed.n);
		for (k = 0; k < figures_of(s); k++)
			fprintf(f, ",%.8g,%.8g", m[k].mean, m[k].ci);
		fprintf(f, "\n");
	}
	return complete(f, path);
}

/* JSON --------------------------------------------------------------------------------- */

static json_t *what_json(const struct sweep *s, const struct point *p)
{
	enum pw_fabric_machine m = pw_fabric_machine_of(&p->p);
	json_t *j = json_pack("{s:s, s:s}", "engine", sweep_engine_name[s->engine], "machine",
			      pw_fabric_machine[m]);
	char buf[32];
	uint32_t i;

	json_object_set_new(j, "topology", json_string(topology_text(s, p, buf, sizeof(buf))));
	for (i = 0; i < pw_fabric_param_num; i++)
		if (pw_fabric_param_has(&pw_fabric_param[i], m))
			json_object_set_new(j, pw_fabric_param[i].name,
					    json_integer(pw_fabric_param_get(&p->p,
									     &pw_fabric_param[i])));
	json_object_set_new(j, "drop", json_integer(p->faults.drop));
	json_object_set_new(j, "corrupt", json_integer(p->faults.corrupt));
	if (s->fault_seed)
		json_object_set_new(j, "fault-seed", json_integer(p->faults.seed));
	json_object_set_new(j, "traffic", json_string(traffic_name[p->traffic]));
	if (p->traffic == HOTSPOT)
		json_object_set_new(j, "hotspot", json_real((double)s->hotspot / LOAD_UNIT));
	if (p->traffic == BURSTY)
		json_object_set_new(j, "burst", json_integer(s->burst));
	json_object_set_new(j, "bytes", json_integer(p->bytes));
	json_object_set_new(j, "load", json_real((double)p->load / LOAD_UNIT));
	json_object_set_new(j, "cycles", json_integer(s->cycles));
	return j;
}

static json_t *ring_json(const struct sweep *s, const struct point *p)
{
	json_t *j = json_pack("{s:s, s:s}", "model", "ring", "engine", sweep_engine_name[s->engine]);
	char buf[32];
	uint32_t i;

	for (i = 0; i < s->naxis; i++) {
		const char *text = axis_text(s, i, p->at[i], buf, sizeof(buf));

		json_object_set_new(j, s->axis[i].name, ring_axis[i].names ? json_string(text) :
				    i == RING_LOAD ? json_real(atof(text)) :
				    json_integer(s->axis[i].v[p->at[i]]));
	}
	json_object_set_new(j, "bits", json_integer(s->cycles));
	return j;
}

static enum status write_json(const struct sweep *s, const struct result *r, const char *prefix)
{
	json_t *points = json_array(), *root, *j, *list, *run;
	struct mean m[FIGURES];
	double v[FIGURES];
	char path[4096];
	struct point p;
	uint32_t i, n, k;
	int err;

	for (i = 0; i < s->points; i++) {
		sweep_point(s, i, &p);
		j = s->ring ? ring_json(s, &p) : what_json(s, &p);
		means(s, &p, &r[i * s->seed.n], m);
		for (k = 0; k < figures_of(s); k++)
			json_object_set_new(j, names_of(s)[k],
					    json_pack("{s:f, s:f}", "mean", m[k].mean, "ci95",
						      m[k].ci));
		list = json_array();
		for (n = 0; n < s->seed.n; n++) {
			const struct result *one = &r[i * s->seed.n + n];

			figures(s, &p, one, v);
			run = json_pack("{s:I, s:I}", "seed", (json_int_t)s->seed.v[n],
					s->ring ? "reductions" : "messages",
					(json_int_t)one->delivered);
			for (k = 0; k < figures_of(s); k++)
				json_object_set_new(run, names_of(s)[k], json_real(v[k]));
			json_array_append_new(list, run);
		}
		json_object_set_new(j, "runs", list);
		json_array_append_new(points, j);
	}
	root = json_pack("{s:s, s:s, s:o}", "name", s->name, "version", pwl_version(), "points",
			 points);
	snprintf(path, sizeof(path), "%s.json", prefix);
	err = json_dump_file(root, path, JSON_INDENT(1) | JSON_REAL_PRECISION(8));
	json_decref(root);
	return err ? fail(errno, "%s", path) : ST_OK;
}

/* Curves ------------------------------------------------------------------------------- */

/* points of one curve are those that differ on the axis x only */
static bool begins_curve(const struct sweep *s, uint32_t i)
{
	struct point p;

	sweep_point(s, i, &p);
	return !p.at[s->x];
}

static void curve_title(const struct sweep *s, uint32_t i, char *text, size_t cap)
{
	struct point p;
	char buf[32];
	uint32_t a;
	bool named;

	sweep_point(s, i, &p);
	*text = 0;
	for (a = 0; a < s->naxis; a++) {
		if (a == s->x || s->axis[a].n == 1)
			continue;
		/* names say it all */
		named = s->ring ? !!ring_axis[a].names :
			!strcmp(s->axis[a].name, "traffic") || !strcmp(s->axis[a].name, "topology");
		snprintf(text + strlen(text), cap - strlen(text), "%s%s%s%s", *text ? ", " : "",
			 named ? "" : s->axis[a].name, named ? "" : " ",
			 axis_text(s, a, p.at[a], buf, sizeof(buf)));
	}
	if (!*text)
		snprintf(text, cap, "%s", s->name);
}

struct plot {
	const char *end, *title, *y;
	int first, n;		/* figures */
	const char *const *part;
};

static const char *const stages[] = { "stage 1", "stage 2", "stage 3", "ports" };

static const struct plot plots[] = {
	{ "-latency.svg", "latency", "cycles", F_LATENCY, 1, NULL },
	{ "-throughput.svg", "throughput", "bytes per cycle and port", F_THROUGHPUT, 1, NULL },
	{ "-queues.svg", "queues", "share of the queues that is full", F_FILL1, 3, stages },
	{ "-refusals.svg", "refusals", "refusals per cell", F_REFUSED1, 4, stages },
};

static const struct plot ring_plots[] = {
	{ "-time.svg", "time of a reduction", "bit times", RF_TIME, 1, NULL },
	{ "-wait.svg", "token wait", "bit times", RF_WAIT, 1, NULL },
	{ "-utilisation.svg", "utilisation", "share of the time with a packet on the ring",
	  RF_UTILISATION, 1, NULL },
};

/* the value of point @i on the axis x, and how far apart the points of its curve are */
static double x_of(const struct sweep *s, uint32_t i)
{
	struct point p;
	char buf[32];

	sweep_point(s, i, &p);
	return atof(axis_text(s, s->x, p.at[s->x], buf, sizeof(buf)));
}

static uint32_t stride(const struct sweep *s)
{
	uint32_t a, n = 1;

	for (a = s->x + 1; a < s->naxis; a++)
		n *= s->axis[a].n;
	return n;
}

/* is there anything above 0 to draw? */
static bool flat(const struct sweep *s, const struct result *r, const struct plot *t)
{
	struct mean m[FIGURES];
	struct point p;
	uint32_t i, k;

	for (i = 0; i < s->points; i++) {
		sweep_point(s, i, &p);
		means(s, &p, &r[i * s->seed.n], m);
		for (k = 0; k < t->n; k++)
			if (m[t->first + k].mean > 0)
				return false;
	}
	return true;
}

static enum status write_plot(const struct sweep *s, const struct result *r, const char *prefix,
			      const struct plot *t)
{
	uint32_t i, k, n, step = stride(s);
	struct mean m[FIGURES];
	char path[4096], title[256];
	struct point p;
	FILE *g;
	int curve = 0;

	snprintf(path, sizeof(path), "%s%s", prefix, t->end);
	snprintf(title, sizeof(title), "%s: %s", s->name, t->title);
	g = plot_open(path, title, s->axis[s->x].name, t->y);
	if (!g)
		return ST_REFUSED;
	fprintf(g, "set terminal svg size 800,500 font 'sans,12' noenhanced\n"
		   "set key outside right top\nset yrange [0:%s]\nplot", flat(s, r, t) ? "1" : "*");
	for (i = 0; i < s->points; i++) {
		if (!begins_curve(s, i))
			continue;
		curve_title(s, i, title, sizeof(title));
		for (k = 0; k < t->n; k++, curve++)
			fprintf(g, "%s '-' title '%s%s%s' with yerrorlines pointtype %d pointsize 0.5",
				curve ? "," : "", title, t->part ? ", " : "",
				t->part ? t->part[k] : "", curve % 15 + 1);
	}
	fprintf(g, "\n");
	for (i = 0; i < s->points; i++) {
		if (!begins_curve(s, i))
			continue;
		for (k = 0; k < t->n; k++) {
			for (n = 0; n < s->axis[s->x].n; n++) {
				uint32_t at = i + n * step;

				sweep_point(s, at, &p);
				means(s, &p, &r[at * s->seed.n], m);
				fprintf(g, "%.7g %.8g %.8g\n", x_of(s, at), m[t->first + k].mean,
					m[t->first + k].ci);
			}
			fprintf(g, "e\n");
		}
	}
	return plot_close(g, path);
}

enum status sweep_write(const struct sweep *s, const struct result *r, const char *prefix)
{
	enum status st = write_runs(s, r, prefix) ?: write_points(s, r, prefix) ?:
			 write_json(s, r, prefix);
	const struct plot *t = s->ring ? ring_plots : plots;
	int i, n = s->ring ? N(ring_plots) : N(plots);

	for (i = 0; !st && i < n; i++)
		st = write_plot(s, r, prefix, &t[i]);
	return st;
}
