/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs on libpwatm share: options, tables in CSV, processes. */
#ifndef PWATM_PROG_H
#define PWATM_PROG_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "pwatm.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define PORTS 16
#define WAIT_MS 60000

static const char *stations = "s%u";
static uint32_t bias;

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

/* -i STATIONS, -b BIAS; index of the first other argument */
static inline int options(int argc, char **argv, const char *usage)
{
	int c;

	while ((c = getopt(argc, argv, "i:b:")) != -1) {
		switch (c) {
		case 'i':
			stations = optarg;
			break;
		case 'b':
			bias = (uint32_t)strtoul(optarg, NULL, 0);
			break;
		default:
			die("%s", usage);
		}
	}
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

/*
 * Every process's unit is open before the first one sends. Workers run @work and
 * end; the caller goes on as the startup process.
 */
static inline struct atm_dev *start(const struct atm_proc *t, int n,
				    void (*work)(struct atm_dev *dev, int i))
{
	struct atm_dev **dev = calloc(n + 1, sizeof(*dev)), *own;
	int i;

	if (!dev)
		die("out of memory");
	fflush(stdout);
	for (i = 0; i <= n; i++)
		DO(atm_open(&dev[i], stations, PORTS, bias, t, n + 1, i));
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

/* 0 if all workers ended well */
static inline int finish(struct atm_dev *dev)
{
	int status, bad = 0;

	while (wait(&status) > 0)
		bad |= status;
	atm_close(dev);
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
