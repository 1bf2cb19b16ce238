/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs on libpwatm share: options, tables in CSV, processes. */
#ifndef PWATM_PROG_H
#define PWATM_PROG_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "pwatm.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define PORTS 16
#define WAIT_MS 60000

#define OPTIONS "[-i STATIONS] [-b BIAS] [-l LOG] [-w NS] [-r RATE]"

static const char *stations = "s%u";
static uint32_t bias;
static const char *log_path;		/* -l: where the communication log goes */
static struct atm_log *op_log;
static bool charged = true;		/* -w off: a process takes no time */
static uint64_t word_ns;		/* -w */
static uint64_t rate = 8000000000ULL;	/* -r: of the links, bits per second */
static unsigned int operations;		/* noted in the log */

static inline __attribute__((noreturn, format(printf, 1, 2))) void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

/* every call of the library must succeed */
#define DO(call)							\
	do {								\
		int err_ = (call);					\
		if (err_)						\
			die("%s: %s", #call, strerror(-err_));		\
	} while (0)

static inline uint64_t number(const char *s, const char *usage)
{
	char *end;
	uint64_t v = strtoull(s, &end, 10);

	if (!*s || *end || *s == '-' || v > 1000000000000ULL)
		die("'%s' is not a number\n%s", s, usage);
	return v;
}

/* index of the first argument that is no option */
static inline int options(int argc, char **argv, const char *usage)
{
	int c;

	while ((c = getopt(argc, argv, "i:b:l:w:r:")) != -1) {
		switch (c) {
		case 'i':
			stations = optarg;
			break;
		case 'b':
			bias = (uint32_t)strtoul(optarg, NULL, 0);
			break;
		case 'l':
			log_path = optarg;
			break;
		case 'w':
			charged = strcmp(optarg, "off");
			word_ns = number(charged ? optarg : "0", usage);
			break;
		case 'r':
			rate = number(optarg, usage);
			if (!rate)
				die("-r: 0 is no rate\n%s", usage);
			break;
		default:
			die("%s", usage);
		}
	}
	if (log_path && !atm_virtual())
		die("-l: only virtual time has cycles, see 'pwctl virtual'");
	return optind;
}

/* numbers of a CSV with one line of names; @cols gets their number per row */
static inline double *read_csv(const char *path, int *rows, int *cols)
{
	FILE *f = fopen(path, "r");
	double *v = NULL;
	char line[4096], *s, *save;
	int n = 0, c;

	if (!f)
		die("%s: %s", path, strerror(errno));
	*rows = 0;
	*cols = 0;
	if (!fgets(line, sizeof(line), f))
		die("%s: no line of names", path);
	while (fgets(line, sizeof(line), f)) {
		c = 0;
		for (s = strtok_r(line, ",\r\n", &save); s; s = strtok_r(NULL, ",\r\n", &save)) {
			v = realloc(v, (n + 1) * sizeof(*v));
			if (!v)
				die("out of memory");
			v[n++] = strtod(s, NULL);
			c++;
		}
		if (!c)
			continue;
		if (*rows && c != *cols)
			die("%s: row %d has %d numbers, not %d", path, *rows + 1, c, *cols);
		*cols = c;
		(*rows)++;
	}
	fclose(f);
	if (!*rows)
		die("%s: no numbers", path);
	return v;
}

/* entry 0 is the startup process, entries 1.. are @n workers */
static inline struct atm_proc *make_table(const char *first, const char *worker, int n)
{
	struct atm_proc *t = calloc(n + 1, sizeof(*t));
	int i;

	if (!t || n + 1 > ATM_PROCS_MAX)
		die("more than %d processes", ATM_PROCS_MAX);
	snprintf(t[0].name, sizeof(t[0].name), "%s", first);
	for (i = 0; i < n; i++) {
		snprintf(t[i + 1].name, sizeof(t[0].name), "%s", worker);
		t[i + 1].instance = i;
	}
	return t;
}

/* every device of a program, when all are open; @notes: lines of the log at most */
static inline void begin(struct atm_dev **dev, int n, unsigned int notes)
{
	int i;

	op_log = atm_log_new(dev[0], notes);
	if (!op_log)
		die("out of memory");
	for (i = 0; i < n; i++) {
		atm_charge(dev[i], charged, word_ns);
		atm_rate(dev[i], rate);
		atm_log(dev[i], op_log);
	}
}

/*
 * Every process's unit is open before the first one sends. Workers run @work and
 * end; the caller goes on as the startup process.
 */
static inline struct atm_dev *start(const struct atm_proc *t, int n, unsigned int notes,
				    void (*work)(struct atm_dev *dev, int i))
{
	struct atm_dev **dev = calloc(n + 1, sizeof(*dev)), *own;
	int i;

	if (!dev)
		die("out of memory");
	fflush(stdout);
	for (i = 0; i <= n; i++)
		DO(atm_open(&dev[i], stations, PORTS, bias, t, n + 1, i));
	begin(dev, n + 1, notes);
	for (i = 1; i <= n; i++) {
		switch (fork()) {
		case -1:
			die("fork: %s", strerror(errno));
		case 0:
			work(dev[i], i - 1);
			_exit(0);
		}
		atm_close(dev[i]);
	}
	own = dev[0];
	free(dev);
	return own;
}

static inline void write_log(const struct atm_proc *t)
{
	FILE *f;

	operations = atm_log_sort(op_log);
	if (log_path) {
		f = fopen(log_path, "w");
		if (!f)
			die("%s: %s", log_path, strerror(errno));
		DO(atm_log_write(op_log, t, rate, f));
		if (fclose(f))
			die("%s: %s", log_path, strerror(errno));
	}
	atm_log_free(op_log);
}

/* 0 if all workers ended well */
static inline int finish(struct atm_dev *dev, const struct atm_proc *t)
{
	int status, bad = 0;

	while (wait(&status) > 0)
		bad |= status;
	atm_close(dev);
	write_log(t);
	return bad ? 1 : 0;
}

static inline void send_float(struct atm_dev *dev, const char *name, int to, int type, float v)
{
	DO(atm_initsend(dev));
	DO(atm_putnfloat(dev, &v, 1));
	DO(atm_snd(dev, name, to, type));
}

static inline float recv_float(struct atm_dev *dev, int type)
{
	float v;
	int err = atm_rcv_wait(dev, type, WAIT_MS);

	if (err)
		die("receive of type %d: %s", type, strerror(-err));
	DO(atm_getnfloat(dev, &v, 1));
	return v;
}

#endif
