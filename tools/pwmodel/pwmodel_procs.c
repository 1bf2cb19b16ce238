// SPDX-License-Identifier: GPL-2.0
/* pwmodel fabric --processes: several processes at a port. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pwmodel.h"
#include "pwmodel_procs.h"

struct proc {
	u16 port;
	u8 name[PW_FABRIC_NAME];
	u32 instance;
};

static struct {
	struct proc *proc;
	size_t procs;
	struct pwm_read *read;
	size_t reads, at;
	bool sorted;
	void *mem;
} P;

static void *grown(void *old, size_t n, size_t size)
{
	/* twice as much at each power of two */
	void *p = n & (n - 1) ? old : realloc(old, (n ? 2 * n : 1) * size);

	if (!p)
		pwm_fail("out of memory");
	return p;
}

static void name_words(u8 *name, const char *s, const char *what)
{
	size_t n = strlen(s);

	if (!n || n > PW_FABRIC_NAME)
		pwm_fail("%s: '%s' is not a name of one to three characters", what, s);
	memset(name, 0, PW_FABRIC_NAME);
	memcpy(name, s, n);
}

static u32 number(const char *s, const char *what)
{
	u64 v = pwm_u64(s, what);

	if (v > INT32_MAX)
		pwm_fail("%s: %s is not 0..%d", what, s, INT32_MAX);
	return (u32)v;
}

void pwm_procs_read(const char *path, u32 ports)
{
	char *text = pwm_slurp(path, NULL), *line, *save = NULL;
	size_t n = 0;

	for (line = strtok_r(text, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
		char *name = strchr(line, ','), *instance = name ? strchr(name + 1, ',') : NULL;
		struct proc p = {};
		char what[64];
		u64 port;

		n++;
		if (n == 1 && !strcmp(line, "port,name,instance"))
			continue;
		if (!instance || strchr(instance + 1, ','))
			pwm_fail("%s: row %zu has not the columns port,name,instance", path, n);
		*name++ = 0;
		*instance++ = 0;
		snprintf(what, sizeof(what), "port of process in row %zu", n);
		port = pwm_u64(line, what);
		if (port >= ports)
			pwm_fail("%s: port %s is not 0..%u", what, line, ports - 1);
		p.port = (u16)port;
		snprintf(what, sizeof(what), "name of process in row %zu", n);
		name_words(p.name, name, what);
		snprintf(what, sizeof(what), "instance of process in row %zu", n);
		p.instance = number(instance, what);
		P.proc = grown(P.proc, P.procs, sizeof(*P.proc));
		P.proc[P.procs++] = p;
	}
	free(text);
	if (!P.procs)
		pwm_fail("%s: no process", path);
}

void pwm_procs_open(struct pw_fabric *f)
{
	P.mem = malloc(pw_fabric_procs_size(f));
	if (!P.mem)
		pwm_fail("out of memory");
	pw_fabric_procs(f, P.mem);
	for (size_t i = 0; i < P.procs; i++) {
		const struct proc *p = &P.proc[i];

		switch (pw_fabric_proc(f, p->port, p->name, p->instance)) {
		case 0:
			break;
		case -EEXIST:
			pwm_fail("--processes: port %u has %.3s %u twice", p->port, p->name,
				 p->instance);
		default:
			pwm_fail("--processes: port %u has more than %u", p->port, PW_FABRIC_PROCS);
		}
	}
}

static bool goes_to(int dst, u16 port, const struct pw_topo_conn *conn)
{
	if (dst == PW_FABRIC_ALL)
		return true;
	return dst < PW_FABRIC_MC ? dst == port : pw_topo_member(&conn[dst - PW_FABRIC_MC], port);
}

void pwm_procs_to(struct pw_fabric_to *to, char *const *col, size_t row, int dst,
		  const struct pw_topo_conn *conn)
{
	char what[48];

	snprintf(what, sizeof(what), "name in row %zu", row);
	name_words(to->name, col[0], what);
	snprintf(what, sizeof(what), "instance in row %zu", row);
	to->instance = strcmp(col[1], "-1") ? number(col[1], what) : PW_FABRIC_ANY;
	snprintf(what, sizeof(what), "type in row %zu", row);
	to->type = number(col[2], what);
	for (size_t i = 0; i < P.procs; i++)
		if (goes_to(dst, P.proc[i].port, conn) &&
		    !memcmp(P.proc[i].name, to->name, PW_FABRIC_NAME) &&
		    (to->instance == PW_FABRIC_ANY || to->instance == P.proc[i].instance))
			return;
	pwm_fail("name in row %zu: there is no process %s %s where the message goes", row, col[0],
		 col[1]);
}

void pwm_procs_served(void *ctx, u16 dst, const u8 *name, u32 instance, u64 cookie, u64 cycle)
{
	struct pwm_read r = { .msg = cookie, .cycle = cycle, .port = dst, .instance = instance };

	memcpy(r.name, name, PW_FABRIC_NAME);
	P.read = grown(P.read, P.reads, sizeof(*P.read));
	P.read[P.reads++] = r;
}

static int by_message(const void *a, const void *b)
{
	const struct pwm_read *x = a, *y = b;

	if (x->msg != y->msg)
		return x->msg < y->msg ? -1 : 1;
	if (x->cycle != y->cycle)
		return x->cycle < y->cycle ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

const struct pwm_read *pwm_procs_reads(size_t msg, size_t *n)
{
	size_t i;

	if (!P.sorted && P.reads)
		qsort(P.read, P.reads, sizeof(*P.read), by_message);
	P.sorted = true;
	while (P.at < P.reads && P.read[P.at].msg < msg)
		P.at++;
	for (i = P.at; i < P.reads && P.read[i].msg == msg; i++)
		;
	*n = i - P.at;
	return &P.read[P.at];
}

void pwm_procs_close(void)
{
	free(P.mem);
	free(P.proc);
	free(P.read);
}
