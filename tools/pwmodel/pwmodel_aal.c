// SPDX-License-Identifier: GPL-2.0
/* pwmodel replay aal: two processes on the full network, register by register. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pw_os.h"
#include "fabric/aal_ctl.h"
#include "fabric/aal_host.h"
#include "fabric/bmx_net.h"
#include "pwmodel.h"

#define MAXMSG 64
#define MAXVAL 256
#define SHOWN 8	/* blocks whose registers are printed */

struct value {
	uint8_t bytes[16];
	uint8_t len;
	uint8_t unit;	/* bytes per command */
	bool set;
};

struct message {
	bool used, named;
	uint32_t hdr[5];
	bool all;
	struct value val[MAXVAL];
	uint8_t data[MAXVAL * 16], unit[MAXVAL * 4];
	unsigned int len, units;
	uint32_t gap_init, gap_lock, gap_get;
	uint16_t first_sqn, cells;
};

static struct replay {
	struct pw_bmx_net *net;
	struct pw_aal *u[256];
	struct pw_aal_host host[2];
	struct message msg[MAXMSG];
	unsigned int msgs, tx, rx;
	unsigned int port[2];
	uint32_t dst_hdr[5];
	uint16_t sqn_all, sqn_one;
	uint64_t cycle;
	bool events;
	int rx_msg;	/* message a unit is taking in, by port 0/1 = source/destination */
} R;

/* ---- stimuli ---- */

static void name_words(uint32_t *hdr, const char *s, const char *what)
{
	if (!*s || strlen(s) > 3)
		pwm_fail("%s: '%s' is not a name of one to three characters", what, s);
	for (int i = 0; i < 3; i++)
		hdr[i] = i < (int)strlen(s) ? (uint8_t)s[i] : 0;
}

static unsigned int message_number(const char *s, char **end, const char *what)
{
	unsigned long m = strtoul(s, end, 10);

	if (*end == s || m < 1 || m > MAXMSG)
		pwm_fail("%s: message number must be 1..%d", what, MAXMSG);
	if (m > R.msgs)
		R.msgs = m;
	R.msg[m - 1].used = true;
	return m - 1;
}

static void set_value(struct value *v, const char *type, const char *text, const char *what)
{
	uint64_t raw;
	double d;
	uint32_t raw32;
	float f;
	char *end;

	v->set = true;
	v->unit = 4;
	if (!strcmp(type, "float") || !strcmp(type, "dfloat")) {
		d = strtod(text, &end);
		if (end == text || *end)
			pwm_fail("%s: '%s' is not a number", what, text);
		if (*type == 'f') {
			f = (float)d;
			v->len = 4;
			memcpy(&raw32, &f, 4);
			put_unaligned_be32(raw32, v->bytes);
		} else {
			v->len = 8;
			memcpy(&raw, &d, 8);
			put_unaligned_be64(raw, v->bytes);
		}
		return;
	}
	raw = (uint64_t)pwm_s64(text, what);
	if (!strcmp(type, "short")) {
		v->len = 2;
		put_unaligned_be16((uint16_t)raw, v->bytes);
		v->unit = 2;
	} else if (!strcmp(type, "byte")) {
		v->len = 1;
		v->bytes[0] = (uint8_t)raw;
		v->unit = 1;
	} else if (!strcmp(type, "int") || !strcmp(type, "long")) {
		v->len = 4;
		put_unaligned_be32((uint32_t)raw, v->bytes);
	} else {
		pwm_fail("%s: type '%s' is not int, long, short, float, dfloat or byte", what, type);
	}
}

static void message_row(const char *sig, const char *val)
{
	char type[16], *end;
	struct message *m = &R.msg[message_number(sig + 7, &end, sig)];
	unsigned int idx;
	int used = 0;

	if (!strcmp(end, ".name")) {
		name_words(m->hdr, val, sig);
		m->named = true;
	} else if (!strcmp(end, ".instance")) {
		m->hdr[3] = (uint32_t)pwm_s64(val, sig);
	} else if (!strcmp(end, ".type")) {
		m->hdr[4] = (uint32_t)pwm_s64(val, sig);
	} else if (!strcmp(end, ".route")) {
		if (strcmp(val, "broadcast") && strcmp(val, "point-to-point"))
			pwm_fail("%s: '%s' is not broadcast or point-to-point", sig, val);
		m->all = *val == 'b';
	} else if (sscanf(end, ".%15[a-z][%u]%n", type, &idx, &used) == 2 && !end[used]) {
		if (idx >= MAXVAL)
			pwm_fail("%s: at most %d values", sig, MAXVAL);
		set_value(&m->val[idx], type, val, sig);
	} else {
		pwm_fail("%s: unknown signal", sig);
	}
}

static void row(const char *sig, const char *val)
{
	unsigned int port, m;
	struct message *p;
	char what[32];
	int used = 0;
	char *end;

	if (!strcmp(sig, "source.port") || !strcmp(sig, "destination.port")) {
		uint64_t v = pwm_u64(val, sig);

		if (v > 15)
			pwm_fail("%s: port %s is not 0..15", sig, val);
		R.port[*sig == 'd'] = (unsigned int)v;
	} else if (!strcmp(sig, "destination.name")) {
		name_words(R.dst_hdr, val, sig);
	} else if (!strcmp(sig, "destination.instance")) {
		R.dst_hdr[3] = (uint32_t)pwm_s64(val, sig);
	} else if (!strcmp(sig, "destination.type")) {
		R.dst_hdr[4] = (uint32_t)pwm_s64(val, sig);
	} else if (!strncmp(sig, "message", 7) && isdigit((unsigned char)sig[7])) {
		message_row(sig, val);
	} else if (sscanf(sig, "host%u.%31[a-z_]%n", &port, what, &used) == 2) {
		uint64_t v = pwm_u64(val, sig);

		m = message_number(sig + used, &end, sig);
		p = &R.msg[m];
		if (*end || v > UINT32_MAX)
			pwm_fail("%s: unknown signal", sig);
		if (!strcmp(what, "gap_after_initsend_"))
			p->gap_init = (uint32_t)v;
		else if (!strcmp(what, "gap_before_initsend_"))
			p->gap_lock = (uint32_t)v;
		else if (!strcmp(what, "gap_before_get_"))
			p->gap_get = (uint32_t)v;
		else
			pwm_fail("%s: unknown signal", sig);
	} else {
		pwm_fail("%s: unknown signal", sig);
	}
}

static void read_stimuli(const char *path)
{
	char *text = pwm_slurp(path, NULL), *line, *save = NULL;
	unsigned int n = 0;

	for (line = strtok_r(text, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
		char *c1 = strchr(line, ','), *c2 = c1 ? strchr(c1 + 1, ',') : NULL;

		if (!n++ && !strcmp(line, "cycle,signal,value"))
			continue;
		if (!c2)
			pwm_fail("%s: row %u has not three columns", path, n);
		if (c1 != line)
			pwm_fail("cycle: row %u: messages have no cycle, processes run by themselves", n);
		*c2 = 0;
		row(c1 + 1, c2 + 1);
	}
	free(text);
	if (!R.msgs)
		pwm_fail("%s: no message", path);
	for (unsigned int m = 0; m < R.msgs; m++) {
		struct message *p = &R.msg[m];

		if (!p->used || !p->named)
			pwm_fail("message%u.name: missing", m + 1);
		for (unsigned int i = 0; i < MAXVAL && p->val[i].set; i++) {
			memcpy(p->data + p->len, p->val[i].bytes, p->val[i].len);
			p->len += p->val[i].len;
			for (unsigned int l = 0; l < p->val[i].len; l += p->val[i].unit)
				p->unit[p->units++] = p->val[i].unit;
		}
		p->cells = pw_cell_count(p->len);
	}
}

/* ---- processes ---- */

static void job_of(const struct message *m, struct pw_aal_job *job)
{
	memset(job, 0, sizeof(*job));
	memcpy(job->hdr, m->hdr, sizeof(job->hdr));
	job->len = m->len;
	job->piece = m->unit;
	job->pieces = m->units;
	job->path = -1;
	job->id = m->hdr[4];
	job->all = m->all;
	job->gap_init = m->gap_init;
	job->gap_lock = m->gap_lock;
	job->gap_get = m->gap_get;
}

static void send_next(void)
{
	struct message *m = &R.msg[R.tx];
	struct pw_aal_job job;

	if (R.tx >= R.msgs)
		return;
	job_of(m, &job);
	job.dst = m->all ? 0xffff : R.port[1];
	m->first_sqn = m->all ? R.sqn_all : R.sqn_one;
	*(m->all ? &R.sqn_all : &R.sqn_one) += m->cells;
	R.tx++;
	pw_aal_host_send(&R.host[0], &job);
}

static void recv_next(void)
{
	struct pw_aal_job job;

	if (R.rx >= R.msgs)
		return;
	job_of(&R.msg[R.rx], &job);
	memcpy(job.hdr, R.dst_hdr, 16);
	job.hdr[4] = R.msg[R.rx].hdr[4];
	R.rx++;
	pw_aal_host_recv(&R.host[1], &job);
}

static void fetch(void *ctx, struct pw_aal_host *h, u32 off, u8 *buf, u32 n)
{
	memcpy(buf, R.msg[R.tx - 1].data + off, n);
}

static void event(uint64_t cycle, unsigned int port, const char *name, unsigned int m);

static void started(void *ctx, struct pw_aal_host *h)
{
	event(R.cycle + 2, R.port[0], "segmentation.begin", R.tx);
}

static void sent(void *ctx, struct pw_aal_host *h)
{
	send_next();
	pw_aal_host_step(h);
}

static void received(void *ctx, struct pw_aal_host *h)
{
	event(R.cycle, R.port[1], "message.read", R.rx);
	recv_next();
	pw_aal_host_step(h);
}

static const struct pw_aal_host_ops host_ops = {
	.fetch = fetch, .started = started, .sent = sent, .received = received,
};

/* ---- events: kept and sorted, because some are dated back by a cycle ---- */

static struct ev {
	uint64_t cycle;
	unsigned int order, port, m;
	char name[24];
} *evs;
static unsigned int nev, cap_ev;

static void event(uint64_t cycle, unsigned int port, const char *name, unsigned int m)
{
	if (!R.events || (port != R.port[0] && port != R.port[1]))
		return;
	if (nev == cap_ev) {
		cap_ev = cap_ev ? 2 * cap_ev : 256;
		evs = realloc(evs, cap_ev * sizeof(*evs));
		if (!evs)
			pwm_fail("out of memory");
	}
	evs[nev] = (struct ev){ .cycle = cycle, .order = nev, .port = port, .m = m };
	snprintf(evs[nev++].name, sizeof(evs->name), "%s", name);
}

static int by_cycle(const void *a, const void *b)
{
	const struct ev *x = a, *y = b;

	if (x->cycle != y->cycle)
		return x->cycle < y->cycle ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* number of the message a cell of the source belongs to, 1.. */
static unsigned int number(bool all, uint16_t sqn)
{
	for (unsigned int m = 0; m < R.msgs; m++) {
		struct message *p = &R.msg[m];

		if (p->all == all && (uint16_t)(sqn - p->first_sqn) < p->cells && m < R.tx)
			return m + 1;
	}
	return 0;
}

static bool cell_all(const struct pw_aal_cell *c)
{
	return c->type == PW_CELL_T_ACK ? c->flag == PW_CELL_COM_ALL : c->dst == PW_CELL_DST_ALL;
}

static void on_ready(void *ctx, struct pw_aal *u, u32 id)
{
	static unsigned int done;

	if (u->cfg.port == R.port[0])
		event(R.cycle - 1, R.port[0], "segmentation.end", ++done);
}

static void on_cell_out(void *ctx, struct pw_aal *u, const struct pw_aal_cell *c, bool again)
{
	const char *what = c->type == PW_CELL_T_ACK ? "ack.send.begin" : "cell.send.begin";
	unsigned int m = number(cell_all(c), c->sqn);

	event(R.cycle - 1, u->cfg.port, what, m);
	event(R.cycle + 52, u->cfg.port,
	      c->type == PW_CELL_T_ACK ? "ack.send.end" : "cell.send.end", m);
}

static void on_refused(void *ctx, struct pw_aal *u, bool in)
{
	/* the end of this attempt was announced with its begin: take it back */
	for (unsigned int i = nev; !in && i-- > 0;)
		if (evs[i].port == u->cfg.port && strstr(evs[i].name, "send.end")) {
			memmove(evs + i, evs + i + 1, (nev - i - 1) * sizeof(*evs));
			nev--;
			return;
		}
}

static void on_cell_in(void *ctx, struct pw_aal *u, const struct pw_aal_cell *c)
{
	unsigned int m = number(cell_all(c), c->sqn);

	if (c->type == PW_CELL_T_ACK)
		return;
	event(R.cycle - 53, u->cfg.port, "cell.receive.begin", m);
	event(R.cycle - 1, u->cfg.port, "cell.receive.end", m);
	if (c->flag & PW_CELL_F_FIRST)
		event(R.cycle - 1, u->cfg.port, "reassembly.begin", m);
}

static void on_complete(void *ctx, struct pw_aal *u, u16 desc)
{
	event(R.cycle - 1, u->cfg.port, "reassembly.end", number(u->dstpn == 0xffff, u->sqn));
}

static void on_acked(void *ctx, struct pw_aal *u, u32 id, u16 sqn, u16 from)
{
	/* found in state 6, told in state 7 */
	event(R.cycle - 1, u->cfg.port, "ack.received", number(u->flag == PW_CELL_COM_ALL, sqn));
}

static const struct pw_aal_ops aal_ops = {
	.ready = on_ready, .cell_out = on_cell_out, .refused = on_refused, .cell_in = on_cell_in,
	.complete = on_complete, .acked = on_acked,
};

/* what only the registers tell */
static void watch_source(void)
{
	const struct pw_aal *u = R.u[R.port[0]];
	static bool marked[PW_AAL_BLOCKS], freeing;

	for (u16 b = u->ogfb, n = u->ogbblknum; n; n--, b = u->og[b].next) {
		const struct pw_aal_og *o = &u->og[b];

		/* controller 5 runs before controller 7: it sees the mark a cycle later */
		if (o->tofr && !marked[b])
			event(R.cycle + 1, R.port[0], "cell.tofree",
			      number(o->comtype == PW_CELL_COM_ALL, o->sqn));
		marked[b] = o->tofr;
	}
	if (u->st[5] == C5_RELEASE && !freeing) {
		const struct pw_aal_og *o = &u->og[u->cursnd];

		event(R.cycle, R.port[0], "cell.free",
		      number(o->comtype == PW_CELL_COM_ALL, o->sqn));
	}
	freeing = u->st[5] == C5_RELEASE;
	for (u16 b = u->ogfb, n = u->ogbblknum; n; n--, b = u->og[b].next)
		if (u->og[b].comtype == PW_CELL_COM_ALL && u->og[b].acknum == 1 && u->og[b].sent)
			event(R.cycle, R.port[0], "ack.last.pending",
			      number(true, u->og[b].sqn));
}

/* ---- registers ---- */

static bool full;
static char **only;
static unsigned int nonly;
static int64_t *old;
static size_t nold, at;

static bool listed(const char *name)
{
	for (unsigned int i = 0; i < nonly; i++)
		if (!strcmp(only[i], name))
			return true;
	return false;
}

static void show(unsigned int port, bool hex, int64_t v, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void show(unsigned int port, bool hex, int64_t v, const char *fmt, ...)
{
	char name[64];
	va_list ap;
	int n;

	if (at == nold) {
		nold = nold ? 2 * nold : 4096;
		old = realloc(old, nold * sizeof(*old));
		if (!old)
			pwm_fail("out of memory");
	}
	if (R.cycle && !full && old[at] == v) {
		at++;
		return;
	}
	old[at++] = v;
	if (!R.cycle)
		return;
	n = snprintf(name, sizeof(name), "aal%u.", port);
	va_start(ap, fmt);
	vsnprintf(name + n, sizeof(name) - n, fmt, ap);
	va_end(ap);
	if (only && !listed(name))
		return;
	if (hex)
		printf("%llu,%s,0x%02llx\n", (unsigned long long)R.cycle, name,
		       (unsigned long long)v);
	else
		printf("%llu,%s,%lld\n", (unsigned long long)R.cycle, name, (long long)v);
}

#define REG(r) show(p, false, u->r, #r)
#define HEX(r) show(p, true, u->r, #r)
#define DEV(r) show(p, false, u->dev.r, #r)

static void show_unit(unsigned int p)
{
	const struct pw_aal *u = R.u[p];
	unsigned int i, b;

	for (i = 0; i < PW_AAL_CTLS; i++)
		show(p, false, u->st[i], "state%u", i);
	HEX(ogbyte); REG(ogbytei); HEX(buf); REG(bufi);
	show(p, false, R.net->in_suspend[p], "ogsuspend");
	show(p, true, R.net->out_byte[p], "icbyte");
	show(p, false, R.net->out_byteind[p], "icbytei");
	REG(icsuspend);
	DEV(bus); DEV(nbytes); DEV(cmd); DEV(busi); DEV(busy); DEV(read); DEV(readi);
	DEV(rlcked); DEV(wlcked); DEV(nomem); DEV(exit);
	REG(ogbblknum); REG(ogfb); REG(oglb); REG(ogfi); REG(ogli); REG(ogcurmsg); REG(cursnd);
	REG(ogoffset); REG(ogmsgnum); REG(lastotasqn);
	REG(icbblknum); REG(icfb); REG(iclb); REG(icfi); REG(icli); REG(iccurb);
	REG(icblkinmsgnum); REG(icoffset); REG(currcv); REG(count);
	REG(d); REG(e); REG(f); REG(g); REG(j);
	REG(sync12); REG(sync23); REG(sync73); REG(sync75);
	REG(vp4); REG(vp4i); REG(vp7); REG(vp7d); REG(vp7i); REG(h); REG(hd); REG(hi);
	show(p, false, u->rcount, "k");
	REG(comtype); REG(srcpn); REG(type); REG(flag); REG(sqn);
	show(p, false, u->dstreg, "dst");
	for (i = 0; i < u->cfg.ports; i++) {
		show(p, false, u->lastotosqnto[i], "lastotosqnto[%u]", i);
		show(p, false, u->lastotosqnfrm[i], "lastotosqnfrm[%u]", i);
		show(p, false, u->lastotasqnfrm[i], "lastotasqnfrm[%u]", i);
		show(p, false, u->msgnumfrm[i], "msgnumfrm[%u]", i);
	}
	for (b = 0; b < SHOWN; b++) {
		const struct pw_aal_og *o = &u->og[b];

		show(p, false, pw_aal_blktime(u, b), "blktime[%u]", b);
		show(p, false, o->comtype == PW_AAL_COM_NONE ? 0 : o->comtype, "blkcomtype[%u]", b);
		show(p, false, o->dst, "blkdst[%u]", b);
		show(p, false, o->sqn, "blksqn[%u]", b);
		show(p, false, o->flag, "blkflg[%u]", b);
		show(p, false, o->acknum, "acknum[%u]", b);
		show(p, false, o->tofr, "ogblktofr[%u]", b);
		show(p, false, u->ic[b].inmsg, "blkinmsg[%u]", b);
		show(p, false, u->ic[b].tofr, "icblktofr[%u]", b);
		for (i = 0; i < u->cfg.ports; i++)
			show(p, false, pw_aal_ackdesc(u, b, i), "ackdesc[%u][%u]", b, i);
	}
}

static void show_all(void)
{
	at = 0;
	for (unsigned int p = 0; p < R.net->ports; p++)
		if (only || p == R.port[0] || p == R.port[1])
			show_unit(p);
}

/* ---- the run ---- */

static void build(void)
{
	struct pw_bmx_cfg cfg = {};
	struct pw_aal_cfg acfg = { .engine = &pw_aal_rtl };

	R.net = pw_bmx_net_init(calloc(1, pw_bmx_net_size(&cfg)), &cfg);
	for (unsigned int p = 0; p < R.net->ports; p++) {
		acfg.port = p;
		R.u[p] = pw_aal_init(calloc(1, pw_aal_size(&acfg)), &acfg, &aal_ops, NULL);
	}
	R.sqn_all = 1;
	R.sqn_one = 1;
	for (int i = 0; i < 2; i++)
		pw_aal_host_init(&R.host[i], R.u[R.port[i]], &host_ops, NULL);
	send_next();
	recv_next();
}

/* one sample: units, input units, processes, output units of the next cycle */
static void cycle(void)
{
	struct pw_bmx_net *net = R.net;

	R.cycle++;
	for (unsigned int p = 0; p < net->ports; p++) {
		struct pw_aal *u = R.u[p];

		u->icbyte = net->out_byte[p];
		u->icbytei = net->out_byteind[p];
		u->ogsuspend = net->in_suspend[p];
		pw_aal_step(u);
		net->in_byte[p] = u->ogbyte;
		net->in_byteind[p] = u->ogbytei;
		net->out_suspend[p] = u->icsuspend;
	}
	pw_bmx_net_step_ppd(net);
	pw_aal_host_step(&R.host[0]);
	pw_aal_host_step(&R.host[1]);
	pw_bmx_net_step_spd(net);
}

static void read_list(const char *path)
{
	char *text = pwm_slurp(path, NULL), *save = NULL;

	for (char *s = strtok_r(text, " ,\t\r\n", &save); s; s = strtok_r(NULL, " ,\t\r\n", &save)) {
		only = realloc(only, (nonly + 1) * sizeof(*only));
		if (!only)
			pwm_fail("out of memory");
		only[nonly++] = s;
	}
	if (!only)
		pwm_fail("%s: no signal listed", path);
}

int pwm_replay_aal(int argc, char **argv)
{
	const char *stimuli = NULL;
	uint64_t until = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--until") && i + 1 < argc)
			until = pwm_u64(argv[++i], "--until");
		else if (!strcmp(argv[i], "--signals") && i + 1 < argc)
			read_list(argv[++i]);
		else if (!strcmp(argv[i], "--events"))
			R.events = true;
		else if (!strcmp(argv[i], "--full"))
			full = true;
		else if (*argv[i] == '-' && argv[i][1])
			pwm_fail("%s: unknown option or argument missing", argv[i]);
		else if (!stimuli)
			stimuli = argv[i];
		else
			pwm_fail("%s: one stimuli file only", argv[i]);
	}
	if (!stimuli)
		pwm_fail("STIMULI.csv: missing");
	if (!until || until > 100000000)
		pwm_fail("--until: a number of cycles from 1 to 100000000 is needed");
	read_stimuli(stimuli);
	build();
	pw_aal_host_step(&R.host[0]);
	pw_aal_host_step(&R.host[1]);
	pw_bmx_net_step_spd(R.net);
	if (!R.events)
		show_all();
	puts("cycle,signal,value");
	while (R.cycle < until) {
		cycle();
		if (R.events)
			watch_source();
		else
			show_all();
	}
	qsort(evs, nev, sizeof(*evs), by_cycle);
	for (unsigned int i = 0; i < nev; i++)
		if (evs[i].cycle <= until)
			printf("%llu,aal%u.%s,%u\n", (unsigned long long)evs[i].cycle, evs[i].port,
			       evs[i].name, evs[i].m);
	return 0;
}
