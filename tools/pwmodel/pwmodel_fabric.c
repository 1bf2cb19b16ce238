// SPDX-License-Identifier: GPL-2.0
/* pwmodel fabric: whole messages through AAL units and a network. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pw_os.h"
#include "fabric/fabric.h"
#include "fabric/fabric_fault.h"
#include "fabric/fabric_param.h"
#include "pwmodel.h"
#include "pwmodel_capture.h"
#include "pwmodel_look.h"
#include "pwmodel_procs.h"
#include "topo_file.h"

struct message {
	uint64_t cycle;
	uint64_t delivered;
	struct pw_fabric_times t;
	uint32_t bytes;
	int src, dst;
	struct pw_fabric_to to;
	bool done, arrived;
};

static const char *vcd, *trace, *capture, *processes;
static struct pw_fabric_faults faults = { .seed = PW_FABRIC_FAULT_SEED };
static uint32_t ports, ranks, conns;
static const struct pw_topo_conn *conn;
static struct message *msgs;
static size_t nmsgs, ndone;

static void deliver(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
		    const struct pw_fabric_times *t)
{
	msgs[cookie].delivered = cycle;
	msgs[cookie].arrived = true;
}

static void done(void *ctx, u16 src, u64 cookie, u64 cycle, const struct pw_fabric_times *t)
{
	msgs[cookie].t = *t;
	msgs[cookie].done = true;
	ndone++;
}

static void fetch(void *ctx, u16 src, u64 cookie, u32 off, u8 *buf, u32 n)
{
	for (u32 i = 0; i < n; i++)
		buf[i] = (u8)(cookie * 31 + off + i);
}

static void cell(void *ctx, u32 unit, u64 cycle, bool lost, const u8 *bytes)
{
	unit = unit < ranks ? PACKETWAY_MON_UNIT(PACKETWAY_MON_PPD, unit) :
			      PACKETWAY_MON_UNIT(PACKETWAY_MON_AAL, unit - ranks);
	pwm_capture_record(PACKETWAY_MON_CELL, lost ? PACKETWAY_MON_DROPPED : PACKETWAY_MON_IN,
			   unit, cycle, bytes, PW_BMX_CELL);
}

static enum pw_bmx_fault fault(void *ctx, u32 ppd, u64 t)
{
	return pw_fabric_fault(&faults, ppd, t);
}

static struct pw_fabric_ops ops = {
	.deliver = deliver, .done = done, .fetch = fetch, .cell = cell, .served = pwm_procs_served,
};

/* "mcN": connection N of the topology */
static int connection(const char *text, const char *what, int src)
{
	u64 n = pwm_u64(text + 2, what);

	if (n >= conns)
		pwm_fail("%s: there is no connection %s, the topology has %u", what, text, conns);
	if (conn[n].src != src)
		pwm_fail("%s: connection %s begins at station %u", what, text, conn[n].src);
	return PW_FABRIC_MC + (int)n;
}

/* a destination as in the file of messages */
static const char *dst_text(int dst, char *buf, size_t cap)
{
	if (dst == PW_FABRIC_ALL)
		return "-1";
	snprintf(buf, cap, dst < PW_FABRIC_MC ? "%d" : "mc%d", dst & ~PW_FABRIC_MC);
	return buf;
}

static void read_messages(const char *path)
{
	const char *head = processes ? "cycle,src,dst,bytes,name,instance,type" : "cycle,src,dst,bytes";
	char *text = pwm_slurp(path, NULL), *line, *save = NULL;
	int cols = processes ? 7 : 4;
	size_t cap = 0, n = 0;

	for (line = strtok_r(text, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
		char *col[7], *s = line, what[48];
		struct message m = {};
		int64_t dst;
		int i;

		n++;
		if (n == 1 && !strcmp(line, head))
			continue;
		for (i = 0; i < cols && s; i++) {
			col[i] = s;
			s = strchr(s, ',');
			if (s)
				*s++ = 0;
		}
		if (i != cols || s)
			pwm_fail("%s: row %zu has not the columns %s", path, n, head);
		snprintf(what, sizeof(what), "cycle in row %zu", n);
		m.cycle = pwm_u64(col[0], what);
		if (m.cycle > UINT64_MAX / 4)
			pwm_fail("%s: %s is too large", what, col[0]);
		snprintf(what, sizeof(what), "src in row %zu", n);
		if (pwm_u64(col[1], what) >= ports)
			pwm_fail("%s: port %s is not 0..%u", what, col[1], ports - 1);
		m.src = (int)pwm_u64(col[1], what);
		snprintf(what, sizeof(what), "dst in row %zu", n);
		if (!strncmp(col[2], "mc", 2)) {
			m.dst = connection(col[2], what, m.src);
		} else {
			dst = pwm_s64(col[2], what);
			if (dst < -1 || dst >= (int64_t)ports)
				pwm_fail("%s: port %s is not -1..%u", what, col[2], ports - 1);
			m.dst = dst < 0 ? PW_FABRIC_ALL : (int)dst;
		}
		snprintf(what, sizeof(what), "bytes in row %zu", n);
		if (pwm_u64(col[3], what) > PW_FABRIC_MAX_LEN)
			pwm_fail("%s: %s is more than %u", what, col[3], PW_FABRIC_MAX_LEN);
		m.bytes = (uint32_t)pwm_u64(col[3], what);
		if (processes)
			pwm_procs_to(&m.to, col + 4, n, m.dst, conn);
		if (nmsgs && m.cycle < msgs[nmsgs - 1].cycle)
			pwm_fail("cycle in row %zu: %s is before the row above", n, col[0]);
		if (nmsgs == cap) {
			cap = cap ? 2 * cap : 64;
			msgs = realloc(msgs, cap * sizeof(*msgs));
			if (!msgs)
				pwm_fail("out of memory");
		}
		msgs[nmsgs++] = m;
	}
	free(text);
	if (!nmsgs)
		pwm_fail("%s: no message", path);
}

static bool immediately(const char *opt, const char *arg)
{
	if (strcmp(arg, "immediately"))
		pwm_fail("%s: '%s' is not 'immediately'", opt, arg);
	return true;
}

/* the longest message to all takes a quarter of this */
#define PATIENCE 200000000ULL

/*
 * Without the device's window a broadcast may have more acknowledgments than its sender
 * can take: full buffers refuse cells for ever, or cells are sent again for ever.
 */
static void advance(struct pw_fabric *f, uint64_t cycle)
{
	static uint64_t since;
	static size_t seen;

	while (pw_fabric_now(f) < cycle) {
		pw_fabric_run(f, vcd ? pw_fabric_now(f) + 1 : cycle, 1 << 20);
		if (vcd)
			pwm_vcd_sample(f);
		if (seen != ndone || pw_fabric_next(f) == PW_FABRIC_NEVER) {
			seen = ndone;
			since = pw_fabric_now(f);
		}
		if (pw_fabric_now(f) - since > PATIENCE)
			pwm_fail("no message has been done for %llu cycles, %zu of %zu are left",
				 PATIENCE, nmsgs - ndone, nmsgs);
	}
}

static int send(struct pw_fabric *f, const struct message *m, size_t i)
{
	if (processes)
		return pw_fabric_send_to(f, m->src, m->dst, PW_FABRIC_AUTO, m->bytes, i, NULL,
					 &m->to);
	return pw_fabric_send(f, m->src, m->dst, PW_FABRIC_AUTO, m->bytes, i, NULL);
}

static void feed(struct pw_fabric *f)
{
	for (size_t i = 0; i < nmsgs; i++) {
		struct message *m = &msgs[i];
		int err;

		advance(f, m->cycle);
		for (;;) {
			err = send(f, m, i);
			if (err != -EBUSY)
				break;
			advance(f, pw_fabric_now(f) + 1);
		}
		if (err)
			pwm_fail("bytes of message %zu: %u do not fit into the buffers", i + 1,
				 m->bytes);
	}
}

static void default_text(char *s, size_t cap, const struct pw_fabric_param *d,
			 enum pw_fabric_machine m)
{
	if (pw_fabric_param_has(d, m))
		snprintf(s, cap, "%u", d->def[m]);
	else
		snprintf(s, cap, "-");
}

static void table_row(const struct pw_fabric_param *d)
{
	char range[32], def[PW_FABRIC_MACHINES][16];

	snprintf(range, sizeof(range), "%u..%u", d->min, d->max);
	for (int m = 0; m < PW_FABRIC_MACHINES; m++)
		default_text(def[m], sizeof(def[m]), d, m);
	printf("  --%-11s %-9s %-13s %9s %7s\n      %s\n", d->name, d->unit, range, def[0], def[1],
	       d->help);
}

void pwm_fabric_table(void)
{
	printf("  %-13s %-9s %-13s %9s %7s\n", "", "unit", "range", pw_fabric_machine[0],
	       pw_fabric_machine[1]);
	for (u32 i = 0; i < pw_fabric_param_num; i++)
		table_row(&pw_fabric_param[i]);
	for (u32 i = 0; i < PW_FABRIC_FAULT_PARAMS; i++)
		table_row(&pw_fabric_fault_param[i]);
	puts("k limits queue to 65534 / (k * k); a device needs 128 ic-blocks, and credit ends 64\n"
	     "below them. Gaps without a value follow --pack and --unpack.");
}

static void out_of_range(const struct pw_fabric_params *p, const struct pw_fabric_param *d,
			 u64 v)
{
	enum pw_fabric_machine m = pw_fabric_machine_of(p);
	u32 lo, hi;

	if (!pw_fabric_param_has(d, m))
		pwm_fail("--%s: the machine '%s' has no such parameter", d->name,
			 pw_fabric_machine[m]);
	pw_fabric_param_range(p, d, &lo, &hi);
	pwm_fail("--%s: %llu is not %u..%u %s", d->name, (unsigned long long)v, lo, hi, d->unit);
}

/* parameters that the command line sets */
struct given {
	bool is;
	u64 value;
};

static bool take_param(struct given *given, const char *opt, const char *arg)
{
	const struct pw_fabric_param *d = strncmp(opt, "--", 2) ? NULL :
					  pw_fabric_param_find(opt + 2);
	u32 named;

	if (!d)
		return false;
	if (pw_fabric_param_named(d) && pw_fabric_route_named(arg, &named))
		given[d - pw_fabric_param] = (struct given) { true, named };
	else if (pw_fabric_param_named(d) && !isdigit((unsigned char)*arg))
		pwm_fail("%s: '%s' is neither turn, fixed, random or least nor a number", opt, arg);
	else
		given[d - pw_fabric_param] = (struct given) { true, pwm_u64(arg, opt) };
	return true;
}

static bool take_fault(const char *opt, const char *arg)
{
	const struct pw_fabric_param *d = strncmp(opt, "--", 2) ? NULL :
					  pw_fabric_fault_find(opt + 2);
	u64 v;

	if (!d)
		return false;
	v = pwm_u64(arg, opt);
	if (v < d->min || v > d->max)
		pwm_fail("%s: %llu is not %u..%u %s", opt, (unsigned long long)v, d->min, d->max,
			 d->unit);
	pw_fabric_fault_set(&faults, d, (u32)v);
	return true;
}

/* all at once: the range of one may depend on others and on the machine */
static void set_params(struct pw_fabric_params *p, const struct given *given)
{
	const struct pw_fabric_param *d;

	for (u32 i = 0; i < pw_fabric_param_num; i++) {
		d = &pw_fabric_param[i];
		if (!given[i].is)
			continue;
		if (given[i].value < d->min || given[i].value > d->max)
			out_of_range(p, d, given[i].value);
		pw_fabric_param_set(p, d, (u32)given[i].value);
		if (!pw_fabric_param_has(d, pw_fabric_machine_of(p)))
			out_of_range(p, d, given[i].value);
	}
	d = pw_fabric_param_wrong(p);
	if (d)
		out_of_range(p, d, pw_fabric_param_get(p, d));
}

/* --topology: a topology, or k of the three-stage network */
static struct pw_topo *set_topology(struct pw_fabric_params *p, const char *what)
{
	struct pw_topo *t;
	char why[512];

	p->k = topo_file_stages(what);
	if (p->k)
		return NULL;
	t = topo_file_load(what, why, sizeof(why));
	if (!t)
		pwm_fail("--topology: %s", why);
	p->topo = t;
	return t;
}

/* switches and links for what shows a trace or a capture; a file by its name only */
static char *picture_of(const struct pw_topo *t, const char *what)
{
	const char *slash = strrchr(what, '/');
	json_t *j = topo_file_json(t, slash ? slash + 1 : what);
	char *text = json_dumps(j, JSON_COMPACT);

	if (!text)
		pwm_fail("--topology: %s: the name is not UTF-8", what);
	json_decref(j);
	return text;
}

static enum pw_fabric_machine machine_of(const char *arg)
{
	for (int m = 0; m < PW_FABRIC_MACHINES; m++)
		if (!strcmp(arg, pw_fabric_machine[m]))
			return m;
	pwm_fail("--machine: '%s' is not %s or %s", arg, pw_fabric_machine[0],
		 pw_fabric_machine[1]);
}

/* @at: when it was read, NULL: never, which is possible with --published only */
static void print_message(const struct message *m, const u64 *at, const struct pwm_read *r)
{
	char dst[16];

	printf("%d,%s,%u,%llu,%llu,%llu,%llu,%llu,", m->src, dst_text(m->dst, dst, sizeof(dst)),
	       m->bytes, (unsigned long long)m->t.start, (unsigned long long)m->t.segmented,
	       (unsigned long long)m->t.first_out, (unsigned long long)m->t.first_in,
	       (unsigned long long)m->t.reassembled);
	if (at)
		printf("%llu", (unsigned long long)*at);
	printf(",%llu", (unsigned long long)m->t.acked);
	if (processes && r)
		printf(",%u,%s,%u,%u", r->port, r->name, r->instance, m->to.type);
	else if (processes)
		printf(",,%.3s,,%u", m->to.name, m->to.type);
	putchar('\n');
}

/* a line for each message, or for each process that has read one */
static void print_messages(void)
{
	printf("src,dst,bytes,start,segmented,first_cell_out,first_cell_in,reassembled,delivered,acked%s\n",
	       processes ? ",port,name,instance,type" : "");
	for (size_t i = 0; i < nmsgs; i++) {
		const struct message *m = &msgs[i];
		const struct pwm_read *r;
		size_t n = 0;

		if (processes)
			r = pwm_procs_reads(i, &n);
		for (size_t j = 0; j < n; j++)
			print_message(m, &r[j].cycle, &r[j]);
		if (!n)
			print_message(m, m->arrived ? &m->delivered : NULL, NULL);
	}
}

int pwm_fabric(int argc, char **argv)
{
	struct given *given = calloc(pw_fabric_param_num, sizeof(*given));
	struct pw_fabric_params p = { .flags = PW_FABRIC_F_DEVICE | PW_FABRIC_F_SELF };
	bool pack = false, unpack = false, fast = false;
	const char *file = NULL, *signals = NULL, *topology = NULL;
	struct pw_topo *topo = NULL;
	char *picture = NULL;
	struct pw_fabric *f;
	struct pw_fabric_stats st;
	void *mem;

	if (!given)
		pwm_fail("out of memory");
	for (int i = 1; i < argc; i++) {
		const char *arg = i + 1 < argc ? argv[i + 1] : NULL;

		if (!strcmp(argv[i], "--published")) {
			p.flags &= ~(u32)PW_FABRIC_F_DEVICE;
			continue;
		}
		if (!arg)
			pwm_fail("%s: unknown option or argument missing", argv[i]);
		if (!strcmp(argv[i], "--messages"))
			file = arg;
		else if (!strcmp(argv[i], "--processes"))
			processes = arg;
		else if (!strcmp(argv[i], "--vcd"))
			vcd = arg;
		else if (!strcmp(argv[i], "--signals"))
			signals = arg;
		else if (!strcmp(argv[i], "--topology"))
			topology = arg;
		else if (!strcmp(argv[i], "--trace"))
			trace = arg;
		else if (!strcmp(argv[i], "--capture"))
			capture = arg;
		else if (!strcmp(argv[i], "--pack"))
			pack = immediately(argv[i], arg);
		else if (!strcmp(argv[i], "--unpack"))
			unpack = immediately(argv[i], arg);
		else if (!strcmp(argv[i], "--engine") && !strcmp(arg, "fast"))
			fast = true;
		else if (!strcmp(argv[i], "--engine") && !strcmp(arg, "rtl"))
			fast = false;
		else if (!strcmp(argv[i], "--engine"))
			pwm_fail("--engine: '%s' is not rtl or fast", arg);
		else if (!strcmp(argv[i], "--machine") && machine_of(arg) == PW_FABRIC_DEVICE)
			p.flags |= PW_FABRIC_F_DEVICE;
		else if (!strcmp(argv[i], "--machine"))
			p.flags &= ~(u32)PW_FABRIC_F_DEVICE;
		else if (!take_param(given, argv[i], arg) && !take_fault(argv[i], arg))
			pwm_fail("%s: unknown option", argv[i]);
		i++;
	}
	if (!file)
		pwm_fail("--messages: missing");
	if (fast && !unpack)
		pwm_fail("--engine fast: needs --unpack immediately");
	if (processes && !unpack)
		pwm_fail("--processes: needs --unpack immediately");
	if (fast && vcd)
		pwm_fail("--vcd: needs --engine rtl");
	if (signals && !vcd)
		pwm_fail("--signals: needs --vcd");
	p.gap_init = pack ? 0 : 5;
	p.gap_get = unpack ? 0 : 12;
	p.flags |= (fast ? PW_FABRIC_F_FAST : 0) | (unpack ? 0 : PW_FABRIC_F_POLL);
	if (topology && given[pw_fabric_param_find("k") - pw_fabric_param].is)
		pwm_fail("--k: --topology determines it");
	if (topology)
		topo = set_topology(&p, topology);
	set_params(&p, given);
	free(given);
	p.k = p.k ? p.k : PW_BMX_K;
	ports = pw_fabric_ports(&p);
	ranks = pw_fabric_ranks(&p);
	conns = pw_fabric_conns(&p);
	conn = topo ? topo->conn : NULL;
	if (processes)
		pwm_procs_read(processes, ports);
	read_messages(file);
	mem = malloc(pw_fabric_size(&p));
	if (!mem)
		pwm_fail("out of memory");
	ops.trace = trace ? pwm_trace_event : NULL;
	ops.fault = pw_fabric_faults_on(&faults) ? fault : NULL;
	f = pw_fabric_init(mem, &p, &ops, NULL);
	if (processes)
		pwm_procs_open(f);
	if (topo && (trace || capture))
		picture = picture_of(topo, topology);
	if (trace)
		pwm_trace_open(trace, ports, ranks, picture);
	if (capture) {
		pwm_capture_open(capture, picture);
		pw_fabric_tap(f, true);
	}
	if (vcd)
		pwm_vcd_open(f, vcd, signals);
	feed(f);
	while (ndone < nmsgs && pw_fabric_next(f) != PW_FABRIC_NEVER)
		advance(f, pw_fabric_now(f) + 1000);
	if (ndone < nmsgs)
		pwm_fail("the fabric stands still, %zu of %zu messages are left", nmsgs - ndone,
			 nmsgs);
	pw_fabric_stats(f, &st);
	if (st.mismatch)
		pwm_fail("internal error: %llu bytes arrived changed",
			 (unsigned long long)st.mismatch);
	for (size_t i = 0; trace && i < nmsgs; i++) {
		msgs[i].t.delivered = msgs[i].arrived ? msgs[i].delivered : 0;
		pwm_trace_message(i, msgs[i].src, msgs[i].dst, msgs[i].bytes, &msgs[i].t);
	}
	if (trace)
		pwm_trace_close();
	if (capture)
		pwm_capture_close();
	if (vcd)
		pwm_vcd_close();
	print_messages();
	pwm_procs_close();
	free(picture);
	free(mem);
	free(topo);
	free(msgs);
	return 0;
}
