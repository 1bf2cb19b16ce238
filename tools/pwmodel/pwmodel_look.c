// SPDX-License-Identifier: GPL-2.0
/* pwmodel fabric: waveform (value change dump) and event trace (JSON) of a run. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pwmodel.h"
#include "pwmodel_look.h"

static FILE *create(const char *path, const char *what)
{
	FILE *f = fopen(path, "w");

	if (!f)
		pwm_fail("%s: %s: %s", what, path, strerror(errno));
	return f;
}

static void complete(FILE *f, const char *what)
{
	int bad = ferror(f);

	if (fclose(f) || bad)
		pwm_fail("%s: the file could not be written", what);
}

/* Waveform ----------------------------------------------------------------------------- */

/* a register of the model: where it is, and the value written last */
struct signal {
	char name[40];
	const void *at;
	u8 size, bits;
	bool wanted, written;
	u64 last;
	char id[6];
};

static struct {
	FILE *f;
	struct signal *sig;
	size_t n, cap;
} vcd;

static void signal_add(const void *at, u8 size, u8 bits, const char *fmt, ...)
{
	struct signal *s;
	va_list ap;
	size_t i, k;

	if (vcd.n == vcd.cap) {
		vcd.cap = vcd.cap ? 2 * vcd.cap : 1024;
		vcd.sig = realloc(vcd.sig, vcd.cap * sizeof(*vcd.sig));
		if (!vcd.sig)
			pwm_fail("out of memory");
	}
	s = &vcd.sig[vcd.n];
	memset(s, 0, sizeof(*s));
	s->at = at;
	s->size = size;
	s->bits = bits;
	s->wanted = true;
	va_start(ap, fmt);
	vsnprintf(s->name, sizeof(s->name), fmt, ap);
	va_end(ap);
	/* printable characters, lowest digit first */
	for (i = vcd.n++, k = 0; k < sizeof(s->id) - 1; k++) {
		s->id[k] = '!' + i % 94;
		i /= 94;
		if (!i--)
			break;
	}
}

#define ADD(var, bits, ...) signal_add(&(var), sizeof(var), bits, __VA_ARGS__)

static void port_signals(const struct pw_aal *u, u32 p)
{
	for (u32 i = 0; i < PW_AAL_CTLS; i++)
		ADD(u->st[i], 8, "aal%u.state%u", p, i);
	ADD(u->ogbyte, 8, "aal%u.ogbyte", p);
	ADD(u->ogbytei, 1, "aal%u.ogbytei", p);
	ADD(u->ogsuspend, 1, "aal%u.ogsuspend", p);
	ADD(u->icbyte, 8, "aal%u.icbyte", p);
	ADD(u->icbytei, 1, "aal%u.icbytei", p);
	ADD(u->icsuspend, 1, "aal%u.icsuspend", p);
	ADD(u->ogbblknum, 16, "aal%u.ogbblknum", p);
	ADD(u->icbblknum, 16, "aal%u.icbblknum", p);
	ADD(u->dev.wlcked, 1, "aal%u.wlcked", p);
	ADD(u->dev.rlcked, 1, "aal%u.rlcked", p);
}

static void net_signals(const struct pw_bmx_net *net)
{
	for (u32 r = 0; r < net->ranks; r++) {
		const struct pw_bmx_ppd *p = &net->ppd[r];
		const struct pw_bmx_spd *s = &net->spd[r];

		ADD(p->count, 8, "ppd%u.count", r);
		ADD(p->sel, 16, "ppd%u.sel", r);
		ADD(p->suspend, 1, "ppd%u.suspend", r);
		for (u32 q = 0; q < net->k; q++)
			ADD(net->xpm[(size_t)r * net->k + q].size, 16, "ppd%u.xpm%u.size", r, q);
		ADD(s->byte, 8, "spd%u.byte", r);
		ADD(s->byteind, 1, "spd%u.byteind", r);
		ADD(s->siqnum, 8, "spd%u.siqnum", r);
		ADD(s->trsmit, 1, "spd%u.trsmit", r);
	}
}

static void choose(const char *path)
{
	char *text = pwm_slurp(path, NULL), *line, *save = NULL;
	size_t i;

	for (i = 0; i < vcd.n; i++)
		vcd.sig[i].wanted = false;
	for (line = strtok_r(text, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
		for (i = 0; i < vcd.n && strcmp(vcd.sig[i].name, line); i++)
			;
		if (i == vcd.n)
			pwm_fail("--signals: the fabric has no signal '%s'", line);
		vcd.sig[i].wanted = true;
	}
	free(text);
}

/* "a.b.c" is c in scope b in scope a */
static void declare(void)
{
	char scope[40] = "", path[40], *save, *part;
	size_t i, n = 0;

	fputs("$timescale 1 ns $end\n", vcd.f);
	for (i = 0; i < vcd.n; i++) {
		const struct signal *s = &vcd.sig[i];
		size_t len = strrchr(s->name, '.') - s->name;

		if (!s->wanted)
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)len, s->name);
		if (strcmp(path, scope)) {
			while (n) {
				fputs("$upscope $end\n", vcd.f);
				n--;
			}
			strcpy(scope, path);
			for (part = strtok_r(path, ".", &save); part; part = strtok_r(NULL, ".", &save)) {
				fprintf(vcd.f, "$scope module %s $end\n", part);
				n++;
			}
		}
		fprintf(vcd.f, "$var wire %u %s %s $end\n", s->bits, s->id, s->name + len + 1);
	}
	while (n--)
		fputs("$upscope $end\n", vcd.f);
	fputs("$enddefinitions $end\n", vcd.f);
}

static u64 value(const struct signal *s)
{
	u32 v32;
	u16 v16;

	switch (s->size) {
	case 1:
		return *(const u8 *)s->at;
	case 2:
		memcpy(&v16, s->at, sizeof(v16));
		return v16;
	default:
		memcpy(&v32, s->at, sizeof(v32));
		return v32;
	}
}

static void write_value(const struct signal *s, u64 v)
{
	int bit;

	if (s->bits == 1) {
		fprintf(vcd.f, "%d%s\n", !!v, s->id);
		return;
	}
	fputc('b', vcd.f);
	for (bit = s->bits - 1; bit > 0 && !(v >> bit & 1); bit--)
		;
	for (; bit >= 0; bit--)
		fputc('0' + (v >> bit & 1), vcd.f);
	fprintf(vcd.f, " %s\n", s->id);
}

void pwm_vcd_sample(struct pw_fabric *f)
{
	bool stamped = false;

	for (size_t i = 0; i < vcd.n; i++) {
		struct signal *s = &vcd.sig[i];
		u64 v = value(s);

		if (!s->wanted || (s->written && v == s->last))
			continue;
		if (!stamped)
			fprintf(vcd.f, "#%llu\n", (unsigned long long)pw_fabric_now(f));
		stamped = true;
		write_value(s, v);
		s->last = v;
		s->written = true;
	}
}

void pwm_vcd_open(struct pw_fabric *f, const char *path, const char *signals)
{
	const struct pw_bmx_net *net = pw_fabric_net(f);

	for (u32 p = 0; p < net->ports; p++)
		port_signals(pw_fabric_aal(f, p), p);
	net_signals(net);
	if (signals)
		choose(signals);
	vcd.f = create(path, "--vcd");
	declare();
	pwm_vcd_sample(f);
}

void pwm_vcd_close(void)
{
	complete(vcd.f, "--vcd");
	free(vcd.sig);
}

/* Events ------------------------------------------------------------------------------- */

enum { PID_MESSAGES = 1, PID_STAGES, PID_PORTS };

static struct {
	FILE *f;
	u32 ranks;
	bool some;
} trace;

/* begin of an event; a cycle is a thousandth of the unit of a trace */
static void event(const char *name, const char *ph, u64 cycle, u32 pid, u32 tid)
{
	fprintf(trace.f, "%s\n{\"name\":\"%s\",\"ph\":\"%s\",\"ts\":%llu.%03u,\"pid\":%u,\"tid\":%u",
		trace.some ? "," : "", name, ph, (unsigned long long)(cycle / 1000),
		(unsigned int)(cycle % 1000), pid, tid);
	trace.some = true;
}

/* a viewer sorts rows by name, 10 before 2, unless they have an index */
static void row(const char *name, const char *sort, u32 pid, u32 tid, u32 place, const char *fmt)
{
	event(name, "M", 0, pid, tid);
	fputs(",\"args\":{\"name\":\"", trace.f);
	fprintf(trace.f, fmt, tid);
	fputs("\"}}", trace.f);
	event(sort, "M", 0, pid, tid);
	fprintf(trace.f, ",\"args\":{\"sort_index\":%u}}", place);
}

static void process(u32 pid, const char *name)
{
	row("process_name", "process_sort_index", pid, 0, pid, name);
}

static void thread(u32 pid, u32 tid, const char *fmt)
{
	row("thread_name", "thread_sort_index", pid, tid, tid, fmt);
}

void pwm_trace_open(const char *path, u32 ports, u32 ranks, const char *fabric)
{
	u32 i;

	trace.f = create(path, "--trace");
	trace.ranks = ranks;
	fputs("{\"displayTimeUnit\":\"ns\",", trace.f);
	if (fabric)
		fprintf(trace.f, "\"otherData\":{\"fabric\":%s},", fabric);
	fputs("\"traceEvents\":[", trace.f);
	process(PID_MESSAGES, "messages");
	process(PID_STAGES, "input units");
	process(PID_PORTS, "ports");
	for (i = 0; i < ports; i++) {
		thread(PID_MESSAGES, i, "from %u");
		thread(PID_PORTS, i, "port %u");
	}
	for (i = 0; i < ranks; i++)
		thread(PID_STAGES, i, "ppd%u");
}

void pwm_trace_event(void *ctx, const struct pw_fabric_trace *t)
{
	static const char *const name[] = {
		[PW_FABRIC_EV_HOP] = "cell",	      [PW_FABRIC_EV_SUSPEND] = "refused",
		[PW_FABRIC_EV_CELL] = "cell sent",    [PW_FABRIC_EV_RESEND] = "cell sent again",
		[PW_FABRIC_EV_ACK] = "acknowledgment sent",
		[PW_FABRIC_EV_ACKED] = "acknowledged", [PW_FABRIC_EV_BAD] = "wrong CRC",
		[PW_FABRIC_EV_DROP] = "lost",
	};
	bool net = t->ev == PW_FABRIC_EV_HOP || t->ev == PW_FABRIC_EV_DROP ||
		   (t->ev == PW_FABRIC_EV_SUSPEND && t->unit < trace.ranks);
	u32 unit = t->ev == PW_FABRIC_EV_SUSPEND && !net ? t->unit - trace.ranks : t->unit;

	/* a cell is on the link of an input unit for as many cycles as it has bytes */
	event(name[t->ev], t->ev == PW_FABRIC_EV_HOP ? "X" : "i", t->cycle,
	      net ? PID_STAGES : PID_PORTS, unit);
	if (t->ev == PW_FABRIC_EV_HOP)
		fprintf(trace.f, ",\"dur\":0.%03u", PW_BMX_CELL);
	else
		fputs(",\"s\":\"t\"", trace.f);
	fprintf(trace.f, ",\"args\":{\"times\":%u", t->n);
	if (t->src != 0xffff)
		fprintf(trace.f, ",\"src\":%u,\"dst\":%d,\"sqn\":%u", t->src,
			t->dst == PW_FABRIC_ALL ? -1 : t->dst, t->sqn);
	fputs("}}", trace.f);
}

/*
 * Messages overlap at a port: spans of an id of their own, the phases inside. Packing goes on while
 * the first cells are on their way; spans of a category and an id must not overlap like that.
 */
static void edge(const char *name, const char *ph, const char *cat, size_t id, u32 port, u64 cycle)
{
	event(name, ph, cycle, PID_MESSAGES, port);
	fprintf(trace.f, ",\"cat\":\"%s\",\"id\":%zu}", cat, id);
}

static void span(const char *name, const char *cat, size_t id, u32 port, u64 from, u64 to)
{
	edge(name, "b", cat, id, port, from);
	edge(name, "e", cat, id, port, to);
}

void pwm_trace_message(size_t id, int src, int dst, u32 bytes, const struct pw_fabric_times *t)
{
	char name[32];

	if (dst == PW_FABRIC_ALL)
		snprintf(name, sizeof(name), "%d to all", src);
	else if (dst >= PW_FABRIC_MC)
		snprintf(name, sizeof(name), "%d by connection %d", src, dst - PW_FABRIC_MC);
	else
		snprintf(name, sizeof(name), "%d to %d", src, dst);
	event(name, "b", t->start, PID_MESSAGES, src);
	fprintf(trace.f, ",\"cat\":\"message\",\"id\":%zu,\"args\":{\"bytes\":%u}}", id, bytes);
	span("pack", "pack", id, src, t->start, t->segmented);
	span("first cell", "message", id, src, t->first_out, t->first_in);
	span("reassemble", "message", id, src, t->first_in, t->reassembled);
	/* a message that vanished was not read */
	if (t->delivered)
		span("read", "message", id, src, t->reassembled, t->delivered);
	/* after its phases: of two ends in one cycle a viewer takes the first one as the inner one */
	edge(name, "e", "message", id, src, max(t->acked, t->delivered));
}

void pwm_trace_close(void)
{
	fputs("\n]}\n", trace.f);
	complete(trace.f, "--trace");
}
