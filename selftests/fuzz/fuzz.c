// SPDX-License-Identifier: GPL-2.0
/* checkpatch-ignore: TRAILING_STATEMENTS,QUOTED_WHITESPACE_BEFORE_NEWLINE (lists of cases; sets of delimiters) */
/*
 * fuzz: a coverage-guided fuzzer of everything that the module takes from outside.
 *
 *	fuzz [OPTION...]		make programs, run them, keep what covers more
 *	fuzz --replay FILE...		run these
 *	fuzz --corpus DIR --replay	run all of DIR once
 *	fuzz --print FILE...		what this build reads in a file
 *
 *	--seconds N, --execs N		when to end
 *	--seed N			of the random numbers (default: printed)
 *	--corpus DIR			programs to begin with
 *	--out DIR			where to write new ones, and those that failed
 *	--root, --user			only programs of root, of an unprivileged user
 *	--reload N			take the module out and in after so many programs
 *	--repeat N			run each program of --replay so often
 *	--distil			with --replay: write those to --out that cover
 *					something that those before did not
 *	--limit SECONDS			of one program (default 5, checking kernels 20)
 *
 * A program is run by a new process in a new network namespace, which ends with it.
 * Coverage comes from KCOV: of each thread, and of softirqs and work items by the
 * module's remote sections (include/packetway/kcov.h). Without KCOV the corpus is
 * mutated without guidance.
 *
 * Before a program runs, its text goes to the runner's log port, so that it is known
 * even if the guest dies. After each program the kernel log is read; a complaint ends
 * the run with status 1. So does a process that SIGKILL does not end.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/kcov.h>

#include "fuzz.h"
#include "pwtest.h"

#define NOBODY		65534
#define CORPUS_MAX	4096
#define COVER		(1 << 16)	/* words of a trace */
#define SIGNAL_BITS	(1 << 20)
#define REMOTE		0x7057		/* PW_KCOV_HANDLE of include/packetway/kcov.h */
#define PROG_TEXT	(FUZZ_CALLS * (FUZZ_ARGS * 18 + 2 * FUZZ_BLOB + 40) + 64)
#define RECENT		8

static struct prog *corpus[CORPUS_MAX];
static int ncorpus;
static uint8_t seen[SIGNAL_BITS / 8];
static long execs, killed, kept;
static uint64_t *cover[FUZZ_THREADS + 1];
static int cover_fd[FUZZ_THREADS + 1];
static bool have_kcov;
static uint64_t text_base;
static int kmsg = -1, logport = -1;
static const char *out_dir;
static int only = -1;		/* 0: root, 1: user */
static int limit = 5;
static struct prog recent[RECENT];
static char complaint[512];

static bool one_in(uint32_t n)
{
	return !pw_below(n);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* --- values ------------------------------------------------------------------------ */

static const uint64_t odd_values[] = {
	0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 63, 64, 127, 128, 255, 256, 1000, 1023, 1024, 1500, 4095, 4096,
	9000, 32766, 32767, 65527, 65528, 65535, 65536, 1000000, 0x7ffffd, 0x7ffffe, 0x7fffff, 0xe00000,
	0xe00003, 0xefffff, 0xffffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x100000000,
	0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 8000000000,
};

#define PICK(array) ((array)[pw_below(sizeof(array) / sizeof((array)[0]))])

static uint64_t gen_addr(void)
{
	switch (pw_below(10)) {
	case 0: return 0x7fffff;	/* broadcast */
	case 1: return 0x7ffffe;	/* hey-you: each receiver */
	case 2: return 0xe00000 | pw_below(8);
	case 3: return 0xffffff;	/* the ring */
	case 4: return PICK(odd_values) & 0xffffff;
	}
	return 256 * pw_below(4) + 1 + pw_below(6);
}

/*
 * One letter for each kind of argument; what is often good is made often.
 *
 *	s station  n namespace  N SAN  P port + 1  M MTU  k side of a SAN  a address
 *	u, U 32 and 64 bits  b bit  3 two bits  5, 8 numbers below 6, 8  x byte
 *	v count  l length  w 16 bits  O ATON opcode  r register  m modifiers  t short count
 *	T type of a frame  F its flags  f netlink flags  c netlink command  i ioctl
 *	z size  p POETS software address  e engine  o order  D defect
 */
static uint64_t gen_arg(char kind)
{
	static const uint8_t ops[] = { 1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 18, 0 };
	static const uint32_t counts[] = { 1, 1, 2, 4, 16, 16, 64, 100, 1000, 20000 };
	static const uint32_t sw[] = { 0xc0fd0000, 0x40fdffff, 0x40feffff, 0xc0fb0000, 0xc0fc0000, 0x00faffff,
				       0x40fb0000, 0x40fb0001, 0xc0fa0000, 0xc0ff0000, 0x03000000, 0x03000001,
				       0x0300ffff, 0x40010000, 0x40010001, 0x80000000 };
	static const uint32_t flags[] = { 5, 0x305, 0x405, 1, 0x605, 0x105, 0xf05 };

	if (!strchr("sn3b8xDFf", kind) && one_in(24))
		return PICK(odd_values);
	switch (kind) {
	case 's': return pw_below(one_in(6) ? 8 : 4);
	case 'n': return one_in(3) ? pw_below(4) : 0;
	case 'N': return one_in(16) ? PICK(odd_values) : pw_below(4);
	case 'P': return one_in(3) ? pw_below(17) : 0;
	case 'M': return one_in(3) ? PICK(((uint32_t []) { 64, 68, 576, 1280, 1500, 9000, 65528, 65529, 63 })) : 0;
	case 'k': return one_in(8) ? pw_below(17) : 2 + pw_below(3);
	case 'a': return gen_addr();
	case 'u': return one_in(4) ? (uint32_t)pw_rnd() : PICK(odd_values);
	case 'U': return one_in(2) ? pw_rnd() : PICK(odd_values);
	case 'b': return pw_below(2);
	case '3': return pw_below(4);
	case '5': return pw_below(6);
	case '8': return pw_below(8);
	case 'x': return pw_below(256);
	case 'v': return PICK(counts);
	case 'l': return one_in(8) ? pw_below(9000) : pw_below(300);
	case 'w': return one_in(3) ? pw_below(4) : 0;
	case 'O': return PICK(ops);
	case 'r': return pw_below(16);
	case 'm': return pw_below(one_in(2) ? 16 : 4);
	case 't': return one_in(4) ? pw_below(256) : pw_below(4);
	case 'T': return one_in(8) ? pw_rnd() & 0xfffff : pw_below(22);
	case 'F': return one_in(2) ? 0 : pw_rnd() & (one_in(2) ? 0x1f : 0xffffffff);
	case 'f': return PICK(flags);
	case 'c': return pw_below(20);
	case 'i': return one_in(8) ? pw_rnd() & 0x1ff : PICK(((uint8_t []) { 0, 1, 2, 0x10, 0x11, 0x12, 0x13, 0x14,
			0x15, 0x16, 0x17, 0x18, 0x19, 0x50, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x30, 0x31, 0x40,
			0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47 }));
	case 'z': return one_in(3) ? PICK(odd_values) : pw_below(512);
	case 'p': return one_in(4) ? pw_rnd() & 0xffffffff : PICK(sw);
	case 'e': return pw_below(4);
	case 'o': return pw_below(4);
	case 'D': return one_in(6) ? pw_rnd() & 0x1ffff : 0;
	}
	return 0;
}

static void gen_blob(struct call *c)
{
	int i;

	c->blen = pw_below(one_in(3) ? FUZZ_BLOB : 40);
	for (i = 0; i < c->blen; i++)
		c->blob[i] = pw_rnd();
	/* attributes: a length, a type and a small number */
	for (i = 0; !one_in(3) && i + 8 <= c->blen; i += 8) {
		uint16_t head[2] = { one_in(8) ? pw_below(64) : 8, pw_below(16) | (one_in(8) ? 0x8000 : 0) };
		uint32_t v = one_in(2) ? pw_below(5) : PICK(odd_values);

		memcpy(c->blob + i, head, 4);
		memcpy(c->blob + i + 4, &v, 4);
	}
}

static int op_by_name(const char *name)
{
	unsigned int i;

	for (i = 0; i < fuzz_ncalls; i++)
		if (!strcmp(fuzz_calls[i].name, name))
			return i;
	return -1;
}

static void gen_args(struct call *c)
{
	const struct call_desc *d = &fuzz_calls[c->op];
	int i;

	memset(c->arg, 0, sizeof(c->arg));
	for (i = 0; d->args[i]; i++)
		c->arg[i] = gen_arg(d->args[i]);
	c->blen = 0;
	if (d->blob)
		gen_blob(c);
	c->fail = !d->nofail && one_in(12) ? 1 + pw_below(one_in(2) ? 12 : 80) : 0;
}

static struct call *room_for(struct prog *p, int at)
{
	if (p->n == FUZZ_CALLS)
		return NULL;
	memmove(&p->c[at + 1], &p->c[at], (p->n - at) * sizeof(p->c[0]));
	p->n++;
	memset(&p->c[at], 0, sizeof(p->c[0]));
	return &p->c[at];
}

static void gen_call(struct prog *p, int at)
{
	struct call *c = room_for(p, at);
	uint32_t sum = 0, i, r;

	if (!c)
		return;
	for (i = 0; i < fuzz_ncalls; i++)
		sum += fuzz_calls[i].weight;
	do {
		r = pw_below(sum);
		for (i = 0; r >= fuzz_calls[i].weight; i++)
			r -= fuzz_calls[i].weight;
	} while (p->user && fuzz_calls[i].root);
	c->op = i;
	c->thread = one_in(2) ? 0 : pw_below(FUZZ_THREADS);
	gen_args(c);
}

/* a call that is to succeed: the rest of its arguments is 0 */
static void say(struct prog *p, int thread, const char *name, int n, ...)
{
	struct call *c = room_for(p, p->n);
	int op = op_by_name(name), i;
	va_list ap;

	if (!c || op < 0)
		return;
	c->op = op;
	c->thread = thread;
	va_start(ap, n);
	for (i = 0; i < n; i++)
		c->arg[i] = va_arg(ap, int);
	va_end(ap);
}

/* what most programs begin with: something to work on */
static void gen_scene(struct prog *p)
{
	int san = pw_below(2), i, n = 1 + pw_below(3), what = pw_below(13);

	if (one_in(2))
		say(p, 0, "san", 12, 1, san, 4, pw_below(3), 1 + pw_below(2), 0, 0, 0, 0, 2 | 4, 0, 0);
	if (one_in(4))
		say(p, 0, "ns_new", 2, 1, 0);
	for (i = 0; i < n; i++)
		say(p, 0, "newlink", 7, i, 0, san, 0, pw_below(3), 0, 1);
	switch (what) {
	case 0: case 1:		/* a ring */
		for (i = 0; i < 2; i++) {
			say(p, i, "open", 2, i, pw_below(2));
			say(p, i, "bind", 2, i, i % n);
		}
		if (one_in(2))
			say(p, 0, "ring_create", 3, 0, 1 << pw_below(8), 1 + pw_below(16));
		break;
	case 2:			/* POETS */
		say(p, 0, "open", 2, 0, 0);
		say(p, 0, "bind", 2, 0, 0);
		say(p, 0, "poets_open", 4, 0, 0, 1, 0);
		say(p, 0, "poets_open", 8, 1, 0, 0, 4, 16, 64, san * 256 + 1, one_in(2) ? 10 : 0);
		say(p, 0, "poets_load", 4, 1, 3, 2, 4);
		say(p, 0, "poets_ioctl", 2, 1, 0);
		say(p, 0, "poets_write", 5, 0, san * 256 + 1, 0x40fdffff, 0, 0);
		break;
	case 3: case 4:		/* routers */
		say(p, 0, "router", 7, 0, san, 0, 0, 2, 0, 0);
		say(p, 0, "newlink", 7, 3, 0, 2, 0, 0, 0, 1);
		if (one_in(2))
			say(p, 0, "router", 7, 1, 2, 0, 0, 3, 0, 0);
		break;
	case 5:			/* a trunk between two SANs */
		i = pw_below(3);
		n = pw_below(2);
		if (i == 2)
			say(p, 0, "veth", 1, 1);
		say(p, 0, "trunk", 7, 0, san, 0, 0, i, n, 0);
		say(p, 0, "trunk", 7, 1, 2, 0, 0, i, n, 0);
		say(p, 0, "newlink", 7, 3, 0, 2, 0, 0, 0, 1);
		say(p, 0, "sleep", 1, 63);
		break;
	case 6:			/* a trunk whose peer we are */
		i = 2 * pw_below(2);
		n = pw_below(2);
		if (i == 2)
			say(p, 0, "veth", 1, 1);
		say(p, 0, "peer", 2, 0, i == 2);
		say(p, 0, "trunk", 7, 0, san, 0, 0, i, n, 0);
		say(p, 0, "hello", 4, 0, n, 0x301, 1500);
		say(p, 0, "hello", 4, 0, n, 0x301, 1500);
		say(p, 0, "trunk_frame", 7, 0, n, 0, one_in(2) ? 6 : pw_below(20), 256 * san + 1, 0x301, 1);
		break;
	case 7:			/* monitors */
		say(p, 0, "newmon", 4, 0, 1, 1, 0);
		say(p, 0, "sock", 3, 3, 0, 4);
		break;
	case 8:			/* a half-router in user space */
		say(p, 0, "open", 2, 0, 0);
		say(p, 0, "half_open", 7, 0, 0, san, 0, 0, 0, one_in(2) ? 0x301 : 0);
		say(p, 0, "half_write", 7, 0, pw_below(20), 256 * san + 1, 0x301, 1, 0, 16);
		break;
	case 9: case 10:	/* a SAN in lockstep, one or two participants */
		say(p, 0, "san", 12, 2, san, 0, 1 + pw_below(2), 0, 0, 0, 0, 0, 2 | 128, 1, 0);
		for (i = what - 9; i >= 0; i--) {
			say(p, i, "open", 2, i, pw_below(2));
			say(p, i, "time_open", 4, i, i, i % n, pw_below(2));
			say(p, i, "time_join", 4, i, 0, pw_below(2), i);
			say(p, i, "time_ioctl", 4, i, 4, 2, 1000 * pw_below(100));
		}
		if (one_in(3))
			say(p, 0, "time_fork", 4, 0, pw_below(16), 2, 5);
		break;
	case 11:		/* a bare trunk, whose peer we are */
		say(p, 0, "veth", 1, 1);
		say(p, 0, "peer", 2, 0, 1);
		say(p, 0, "trunk", 10, 0, san, 0, 0, 3, 0, 0, 0, 0, 0x301);
		say(p, 0, "bare_frame", 8, 0, 6, 256 * san + 1, 0x301, 1, 0, 16, 0);
		say(p, 0, "frame", 7, 0, 14, 0x301, 256 * san + 1, 0, 0, 100);
		break;
	case 12:		/* a station that routes itself */
		say(p, 0, "router", 7, 0, san, 16, 0, 2, 0, 0);
		say(p, 0, "newlink", 7, 3, 0, 2, 0, 0, 0, 1);
		say(p, 0, "source", 6, 0, 0, 512, 600, 2, 0x30300);
		say(p, 0, "source", 4, 2, 0, 0, 0);
		break;
	}
	say(p, 0, "sock", 3, 0, 0, 0);
	if (one_in(3))
		say(p, 2, "listen", 1, 1);
	if (one_in(2))
		say(p, 1, "sock", 3, 1, 1, pw_below(64));
}

static void gen_prog(struct prog *p)
{
	int n = 8 + pw_below(24);

	memset(p, 0, sizeof(*p));
	p->user = only >= 0 ? only : pw_below(2);
	if (!one_in(8))
		gen_scene(p);
	while (n-- > 0)
		gen_call(p, p->n);
}

static void drop_call(struct prog *p, int at)
{
	p->n--;
	memmove(&p->c[at], &p->c[at + 1], (p->n - at) * sizeof(p->c[0]));
}

static void mutate_call(struct prog *p, struct call *c)
{
	const struct call_desc *d = &fuzz_calls[c->op];
	int n = strlen(d->args), i = pw_below(n);

	switch (pw_below(8)) {
	case 0:
		c->thread = pw_below(FUZZ_THREADS);
		break;
	case 1:
		c->fail = d->nofail || c->fail ? 0 : 1 + pw_below(one_in(2) ? 12 : 120);
		break;
	case 2:
		if (d->blob && c->blen) {
			c->blob[pw_below(c->blen)] ^= 1 << pw_below(8);
			break;
		}
		if (d->blob)
			gen_blob(c);
		break;
	case 3:
		gen_args(c);
		break;
	case 4:
		c->arg[i] ^= 1ULL << pw_below(one_in(2) ? 8 : 64);
		break;
	case 5:
		c->arg[i] += one_in(2) ? 1 : -1;
		break;
	default:
		c->arg[i] = gen_arg(d->args[i]);
	}
}

static void mutate(struct prog *p)
{
	const struct prog *o = ncorpus ? corpus[pw_below(ncorpus)] : NULL;
	int k = 1 + pw_below(4), at, from;

	while (k-- > 0) {
		switch (pw_below(10)) {
		case 0: case 1: case 2:
			gen_call(p, p->n ? pw_below(p->n + 1) : 0);
			break;
		case 3:
			if (p->n > 2)
				drop_call(p, pw_below(p->n));
			break;
		case 4:		/* twice, or again in another thread */
			if (p->n && p->n < FUZZ_CALLS) {
				struct call c = p->c[pw_below(p->n)];

				c.thread = pw_below(FUZZ_THREADS);
				*room_for(p, p->n) = c;
			}
			break;
		case 5:		/* the end of another one */
			if (o && o->n && p->n) {
				from = pw_below(o->n);
				at = one_in(2) ? p->n : pw_below(p->n + 1);
				p->n = at;
				for (; from < o->n && p->n < FUZZ_CALLS; from++)
					if (!(p->user && fuzz_calls[o->c[from].op].root))
						p->c[p->n++] = o->c[from];
			}
			break;
		default:
			if (p->n)
				mutate_call(p, &p->c[pw_below(p->n)]);
		}
	}
}

/* --- text ----------------------------------------------------------------------------- */

static int prog_print(char *out, const struct prog *p)
{
	char *s = out;
	int i, k, n;

	s += sprintf(s, "%s\n", p->user ? "user" : "root");
	for (i = 0; i < p->n; i++) {
		const struct call *c = &p->c[i];

		s += sprintf(s, "%d", c->thread);
		if (c->fail)
			s += sprintf(s, "!%d", c->fail);
		s += sprintf(s, " %s", fuzz_calls[c->op].name);
		n = strlen(fuzz_calls[c->op].args);
		for (k = 0; k < n; k++)
			s += sprintf(s, " %llx", (unsigned long long)c->arg[k]);
		if (c->blen) {
			s += sprintf(s, " : ");
			for (k = 0; k < c->blen; k++)
				s += sprintf(s, "%02x", c->blob[k]);
		}
		s += sprintf(s, "\n");
	}
	return s - out;
}

/* lines that this build does not know are left out; -1: not a program at all */
static int prog_read(FILE *f, struct prog *p)
{
	static char line[8192];
	bool begun = false;

	memset(p, 0, sizeof(*p));
	while (fgets(line, sizeof(line), f) && p->n < FUZZ_CALLS) {
		char *s = line, *word;
		struct call c = {};
		int op, i;

		word = strsep(&s, " \n");
		if (*word == '#' || !*word)
			continue;
		if (!strcmp(word, "user") || !strcmp(word, "root")) {
			p->user = *word == 'u';
			begun = true;
			continue;
		}
		c.thread = strtoul(word, &word, 10) % FUZZ_THREADS;
		if (*word == '!')
			c.fail = strtoul(word + 1, NULL, 10);
		word = s ? strsep(&s, " \n") : NULL;
		op = word ? op_by_name(word) : -1;
		if (op < 0)
			continue;
		c.op = op;
		for (i = 0; s && *s && *s != ':' && i < FUZZ_ARGS; i++) {
			c.arg[i] = strtoull(s, &s, 16);
			s += strspn(s, " \n");
		}
		if (s && *s == ':') {
			s += strspn(s, ": ");
			while (c.blen < FUZZ_BLOB && sscanf(s, "%2hhx", &c.blob[c.blen]) == 1) {
				c.blen++;
				s += 2;
			}
		}
		p->c[p->n++] = c;
	}
	return begun ? 0 : -1;
}

static uint64_t prog_hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	while (*s)
		h = (h ^ (uint8_t)*s++) * 0x100000001b3ULL;
	return h;
}

static char text_buf[PROG_TEXT];

static void prog_save(const struct prog *p, const char *prefix, const char *note)
{
	char path[4096];
	FILE *f;
	int n;

	if (!out_dir)
		return;
	n = prog_print(text_buf, p);
	/* also where it outlives the guest */
	if (!*prefix && logport >= 0 &&
	    (dprintf(logport, "fuzz: kept %016llx\n", (unsigned long long)prog_hash(text_buf)) < 0 ||
	     write(logport, text_buf, n) < 0))
		logport = -1;
	snprintf(path, sizeof(path), "%s/%s%016llx", out_dir, prefix, (unsigned long long)prog_hash(text_buf));
	f = fopen(path, "w");
	if (!f)
		return;
	if (note)
		fprintf(f, "# %s\n", note);
	fwrite(text_buf, 1, n, f);
	fclose(f);
}

/* --- running --------------------------------------------------------------------------- */

static struct prog *shared;		/* the running program, seen by the child */

static void put_file(const char *path, const char *what)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, what, strlen(what)) < 0 && errno != EINVAL)
		fprintf(stderr, "# %s: %s\n", path, strerror(errno));
	close(fd);
}

static void fail_nth(int fd, int n)
{
	char t[16];

	/* to disarm may itself meet the fault, which disarms */
	if (fd >= 0 && pwrite(fd, t, snprintf(t, sizeof(t), "%d", n), 0) < 0)
		return;
}

static pthread_barrier_t gate;

static void *thread_main(void *arg)
{
	struct thr *t = arg;
	int fail = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC), i;

	thr_init(t);
	pthread_barrier_wait(&gate);
	if (have_kcov && !ioctl(cover_fd[t->id], KCOV_ENABLE, KCOV_TRACE_PC))
		__atomic_store_n(&cover[t->id][0], 0, __ATOMIC_RELAXED);
	for (i = 0; i < t->p->n; i++) {
		const struct call *c = &t->p->c[i];

		if (c->thread != t->id)
			continue;
		if (c->fail && !fuzz_calls[c->op].nofail)
			fail_nth(fail, c->fail);
		call_run(t, c);
		if (c->fail)
			fail_nth(fail, 0);
	}
	return NULL;
}

static void child_main(const struct prog *p)
{
	struct rlimit nofile = { 256, 256 };
	struct thr t[FUZZ_THREADS] = {};
	pthread_t id[FUZZ_THREADS];
	int i, n = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_NOFILE, &nofile);
	signal(SIGPIPE, SIG_IGN);
	if (p->user && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			setresuid(NOBODY, NOBODY, NOBODY)))
		_exit(3);
	if (unshare(CLONE_NEWNET | (p->user ? CLONE_NEWUSER : 0)))
		_exit(3);
	prctl(PR_SET_DUMPABLE, 1);
	world_init();
	for (i = 0; i < p->n; i++)
		if (p->c[i].thread >= n)
			n = p->c[i].thread + 1;
	pthread_barrier_init(&gate, NULL, n);
	for (i = 0; i < n; i++) {
		t[i].id = i;
		t[i].p = p;
		if (i && pthread_create(&id[i], NULL, thread_main, &t[i]))
			_exit(3);
	}
	thread_main(&t[0]);
	for (i = 1; i < n; i++)
		pthread_join(id[i], NULL);
	_exit(0);
}

static bool is_complaint(const char *s)
{
	static const char * const words[] = {
		"BUG:", "WARNING:", "KASAN:", "UBSAN:", "kernel BUG at", "Kernel panic", "Internal error:", "Oops",
		"Unable to handle kernel", "soft lockup", "detected stalls on", "self-detected stall",
		"blocked for more than", "ODEBUG:", "list_add corruption", "list_del corruption", "refcount_t:",
		"ref_tracker:", "DEBUG_LOCKS_WARN_ON", "unregister_netdevice: waiting for", "possible circular locking",
		"possible recursive locking", "inconsistent lock state", "suspicious RCU usage", "Objects remaining in",
		"workqueue lockup",
	};
	unsigned int i;

	if (strstr(s, "ref_tracker: memory allocation failure"))
		return false;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(s, words[i]))
			return true;
	return false;
}

static void read_kmsg(void)
{
	char buf[8192];
	int n;

	while (kmsg >= 0) {
		n = read(kmsg, buf, sizeof(buf) - 1);
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			return;
		buf[n] = 0;
		if (!complaint[0] && is_complaint(buf))
			snprintf(complaint, sizeof(complaint), "%.*s", (int)strcspn(strchr(buf, ';') ?: buf, "\n"),
				 strchr(buf, ';') ?: buf);
	}
}

/* where the module's text begins: coverage is counted from there */
static void module_base(void)
{
	FILE *f = fopen("/sys/module/packetway/sections/.text", "r");
	unsigned long long v;

	if (f && fscanf(f, "%llx", &v) == 1)
		text_base = v;
	if (f)
		fclose(f);
}

static int wait_pid(int fd, double seconds)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	double end = now() + seconds;
	int left;

	do {
		left = (end - now()) * 1000;
		if (poll(&p, 1, left > 0 ? left : 0) == 1)
			return 0;
	} while (now() < end);
	return -1;
}

/* 0, or -1: the kernel complained or the program cannot be ended */
static int prog_run(const struct prog *p)
{
	int pid, fd, status, n, i;

	memmove(recent + 1, recent, sizeof(recent) - sizeof(recent[0]));
	recent[0] = *p;
	*shared = *p;
	n = prog_print(text_buf, p);
	if (logport >= 0 && (dprintf(logport, "fuzz: program %ld\n", execs) < 0 || write(logport, text_buf, n) < 0))
		logport = -1;
	if (have_kcov)
		for (i = 0; i <= FUZZ_THREADS; i++)
			__atomic_store_n(&cover[i][0], 0, __ATOMIC_RELAXED);
	execs++;
	pid = fork();
	if (pid < 0) {
		perror("fork");
		exit(1);
	}
	if (!pid)
		child_main(shared);
	fd = syscall(SYS_pidfd_open, pid, 0);
	if (wait_pid(fd, limit)) {
		killed++;
		kill(pid, SIGKILL);
		if (wait_pid(fd, 60 + 6 * limit)) {
			put_file("/proc/sysrq-trigger", "w");
			snprintf(complaint, sizeof(complaint), "process %d does not end after SIGKILL", pid);
			return -1;
		}
	}
	close(fd);
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 3) {
		fprintf(stderr, "fuzz: no namespaces for programs\n");
		exit(4);
	}
	read_kmsg();
	return complaint[0] ? -1 : 0;
}

/*
 * New bits of what the last program covered: edges of threads, places of softirqs and
 * work items, which interrupt each other anywhere. @bits: all it covered; may be NULL.
 */
static int signal_of(uint8_t *bits)
{
	uint64_t n, i, pc, prev, h;
	int k, new = 0;

	for (k = 0; have_kcov && k <= FUZZ_THREADS; k++) {
		n = __atomic_load_n(&cover[k][0], __ATOMIC_RELAXED);
		if (n > COVER - 1)
			n = COVER - 1;
		for (prev = 0, i = 1; i <= n; i++) {
			pc = cover[k][i] - text_base;
			h = k < FUZZ_THREADS ? pc ^ prev * 0x9e3779b97f4a7c15ULL : pc + 0x5555;
			prev = pc;
			h = h * 0xff51afd7ed558ccdULL >> 44;
			if (bits)
				bits[h / 8] |= 1 << h % 8;
			if (seen[h / 8] >> h % 8 & 1)
				continue;
			if (!bits)
				seen[h / 8] |= 1 << h % 8;
			new++;
		}
	}
	return new;
}

static void corpus_add(const struct prog *p)
{
	struct prog *q;

	q = ncorpus < CORPUS_MAX ? malloc(sizeof(*q)) : corpus[pw_below(CORPUS_MAX)];
	if (!q)
		return;
	*q = *p;
	if (ncorpus < CORPUS_MAX)
		corpus[ncorpus++] = q;
}

static uint8_t want[SIGNAL_BITS / 8], got[SIGNAL_BITS / 8];

/* does it still cover what it was kept for? */
static bool covers(void)
{
	long i, missing = 0, n = 0;

	memset(got, 0, sizeof(got));
	signal_of(got);
	for (i = 0; i < SIGNAL_BITS / 8; i++) {
		n += __builtin_popcount(want[i]);
		missing += __builtin_popcount(want[i] & ~got[i]);
	}
	return n && !missing;
}

/* @p covered something new: what of it repeats? Calls that it does not need go. */
static int consider(struct prog *p)
{
	struct prog q;
	long i, n = 0;
	int at, tries = 5;

	memset(want, 0, sizeof(want));
	signal_of(want);
	for (i = 0; i < SIGNAL_BITS / 8; i++)
		want[i] &= ~seen[i];
	if (prog_run(p))
		return -1;
	memset(got, 0, sizeof(got));
	signal_of(got);
	for (i = 0; i < SIGNAL_BITS / 8; i++) {
		want[i] &= got[i];
		n += __builtin_popcount(want[i]);
	}
	if (n < 2)		/* came by chance, or with the weather */
		return 0;
	for (at = p->n - 1; at >= 0 && tries > 0; at -= 1 + p->n / 8) {
		int k = 1 + p->n / 8;

		q = *p;
		for (; k > 0 && q.n > 1 && at < q.n; k--)
			drop_call(&q, at);
		tries--;
		if (prog_run(&q))
			return -1;
		if (covers())
			*p = q;
	}
	corpus_add(p);
	prog_save(p, "", NULL);
	kept++;
	return 0;
}

/* --- set-up ------------------------------------------------------------------------------ */

static void kcov_init(void)
{
	struct {
		struct kcov_remote_arg a;
		uint64_t room;
	} remote = { .a = { .trace_mode = KCOV_TRACE_PC, .area_size = COVER, .common_handle = REMOTE } };
	int i;

	for (i = 0; i <= FUZZ_THREADS; i++) {
		cover_fd[i] = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
		if (cover_fd[i] < 0 || ioctl(cover_fd[i], KCOV_INIT_TRACE, COVER))
			return;
		cover[i] = mmap(NULL, COVER * 8, PROT_READ | PROT_WRITE, MAP_SHARED, cover_fd[i], 0);
		if (cover[i] == MAP_FAILED)
			return;
	}
	if (ioctl(cover_fd[FUZZ_THREADS], KCOV_REMOTE_ENABLE, &remote.a))
		perror("# KCOV_REMOTE_ENABLE");
	have_kcov = true;
}

/* the runner's port for the kernel log: what was written is on the host at once */
static void log_init(void)
{
	char path[512], name[32];
	struct dirent *e;
	DIR *d = opendir("/sys/class/virtio-ports");
	FILE *f;

	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%.64s/name", e->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fgets(name, sizeof(name), f) && !strcmp(name, "pw.log\n")) {
			snprintf(path, sizeof(path), "/dev/%s", e->d_name);
			logport = open(path, O_WRONLY | O_CLOEXEC);
		}
		fclose(f);
	}
	if (d)
		closedir(d);
}

static void faults_init(void)
{
	put_file("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	put_file("/sys/kernel/debug/failslab/verbose", "0");
	put_file("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	put_file("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	put_file("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	put_file("/sys/kernel/debug/fail_usercopy/verbose", "0");
	put_file("/proc/sys/kernel/unprivileged_userns_clone", "1");
	/* devices and namespaces come and go all the time: do not wait for ticks */
	put_file("/sys/kernel/rcu_expedited", "1");
	put_file("/proc/sys/kernel/hung_task_timeout_secs", "240");
}

static long slab(void)
{
	char line[128];
	long kb = -1;
	FILE *f = fopen("/proc/meminfo", "r");

	while (f && fgets(line, sizeof(line), f) && sscanf(line, "SUnreclaim: %ld", &kb) != 1)
		;
	if (f)
		fclose(f);
	return kb;
}

/* the module out and in again; what programs left has to go first */
static int reload(void)
{
	int i, err = -1;

	if (!getenv("PW_KO"))
		return 0;
	for (i = 0; i < 600 && err; i++) {
		err = access("/sys/module/packetway", F_OK) ? 0 : fuzz_module(false);
		if (err)
			usleep(100000);
	}
	if (err || fuzz_module(true)) {
		snprintf(complaint, sizeof(complaint), "the module cannot be %s: %s", err ? "removed" : "inserted",
			 strerror(errno));
		return -1;
	}
	module_base();
	read_kmsg();
	return complaint[0] ? -1 : 0;
}

static bool has_module_call(const struct prog *p)
{
	int i;

	for (i = 0; i < p->n; i++)
		if (!strcmp(fuzz_calls[p->c[i].op].name, "module"))
			return true;
	return false;
}

/* a program, and the module there afterwards */
static int run_whole(const struct prog *p)
{
	int err = prog_run(p);

	if (!err && has_module_call(p) && access("/sys/module/packetway", F_OK))
		err = fuzz_module(true);
	if (!err && has_module_call(p))
		module_base();
	return err;
}

static int report(void)
{
	char note[700];
	int i;

	printf("not ok - %s\n# the last programs, newest first:\n", complaint);
	snprintf(note, sizeof(note), "%s", complaint);
	for (i = 0; i < RECENT; i++) {
		char prefix[16];

		if (!recent[i].n)
			break;
		prog_print(text_buf, &recent[i]);
		if (i < 3)
			printf("# --- %d\n%s", i, text_buf);
		snprintf(prefix, sizeof(prefix), "crash-%d-", i);
		prog_save(&recent[i], prefix, note);
	}
	fflush(stdout);
	return 1;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char * const *)a, *(char * const *)b);
}

static char **list_dir(const char *dir, int *n)
{
	static char *names[CORPUS_MAX];
	struct dirent *e;
	DIR *d = opendir(dir);
	char path[4096];

	*n = 0;
	while (d && (e = readdir(d)) && *n < CORPUS_MAX) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		names[(*n)++] = strdup(path);
	}
	if (d)
		closedir(d);
	qsort(names, *n, sizeof(names[0]), by_name);
	return names;
}

static void status_line(double begin)
{
	long bits = 0, i;

	for (i = 0; i < SIGNAL_BITS / 8; i++)
		bits += __builtin_popcount(seen[i]);
	printf("# %6.0f s  %ld programs, %ld ended by a signal, corpus %d (%ld new), signal %ld, slab %ld KiB\n",
	       now() - begin, execs, killed, ncorpus, kept, bits, slab());
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds", 1, NULL, 's' }, { "execs", 1, NULL, 'e' }, { "seed", 1, NULL, 'S' },
		{ "corpus", 1, NULL, 'c' }, { "out", 1, NULL, 'o' }, { "replay", 0, NULL, 'r' },
		{ "root", 0, NULL, 'R' }, { "user", 0, NULL, 'U' }, { "reload", 1, NULL, 'l' },
		{ "repeat", 1, NULL, 'n' }, { "limit", 1, NULL, 'L' }, { "print", 0, NULL, 'p' },
		{ "distil", 0, NULL, 'd' }, {}
	};
	const char *corpus_dir = NULL, *flavour = getenv("PW_FLAVOUR");
	long max_execs = 0, every = 400, repeat = 1, i, done = 0;
	bool replay = false, print = false, distil = false;
	double seconds = 0, begin = now(), shown = begin;
	char **files;
	int o, n = 0, new;

	if (flavour && strcmp(flavour, "stock"))
		limit = 20;
	pw_seed = (uint64_t)time(NULL) << 20 ^ getpid();
	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (o) {
		case 's': seconds = atof(optarg); break;
		case 'e': max_execs = atol(optarg); break;
		case 'S': pw_seed = strtoull(optarg, NULL, 0) ?: pw_seed; break;
		case 'c': corpus_dir = optarg; break;
		case 'o': out_dir = optarg; break;
		case 'r': replay = true; break;
		case 'R': only = 0; break;
		case 'U': only = 1; break;
		case 'l': every = atol(optarg); break;
		case 'n': repeat = atol(optarg); break;
		case 'L': limit = atoi(optarg); break;
		case 'p': print = true; break;
		case 'd': distil = true; break;
		default: return 2;
		}
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	n = argc - optind;
	files = n || !corpus_dir ? argv + optind : list_dir(corpus_dir, &n);
	for (i = 0; i < n; i++) {
		struct prog p;
		FILE *f = fopen(files[i], "r");

		if (!f || prog_read(f, &p)) {
			fprintf(stderr, "fuzz: %s is not a program\n", files[i]);
			return 2;
		}
		fclose(f);
		corpus_add(&p);
		if (print) {
			prog_print(text_buf, &p);
			printf("%s", text_buf);
		}
	}
	if (print)
		return 0;
	if (replay && !ncorpus) {
		fprintf(stderr, "fuzz: nothing to replay\n");
		return 2;
	}
	if (geteuid()) {
		fprintf(stderr, "fuzz: root is needed, also to change the user\n");
		return 4;
	}
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg >= 0)
		lseek(kmsg, 0, SEEK_END);
	kcov_init();
	log_init();
	faults_init();
	module_base();
	printf("# seed %llu, %s coverage, %d programs to begin with\n", (unsigned long long)pw_seed,
	       have_kcov ? "with" : "without", ncorpus);
	fflush(stdout);

	n = ncorpus;
	for (i = 0; i < n * repeat; i++) {
		if (seconds && now() - begin > seconds)
			break;
		if (run_whole(corpus[i % n]))
			return report();
		new = signal_of(NULL);
		/* one place may be chance */
		if (distil && new > 1)
			prog_save(corpus[i % n], "", NULL);
		done++;
		if (every && execs % every == every - 1 && reload())
			return report();
	}
	if (replay) {
		status_line(begin);
		if (reload())
			return report();
		printf("ok 1 - %ld of %ld programs, nothing complained\n1..1\n", done, n * repeat);
		return 0;
	}
	while ((!seconds || now() - begin < seconds) && (!max_execs || execs < max_execs)) {
		static struct prog p;

		if (ncorpus && !one_in(4)) {
			p = *corpus[one_in(2) ? pw_below(ncorpus) : ncorpus - 1 - pw_below(ncorpus / 4 + 1)];
			mutate(&p);
			if (only >= 0)
				p.user = only;
		} else {
			gen_prog(&p);
		}
		if (!p.n)
			continue;
		if (run_whole(&p))
			return report();
		memset(got, 0, sizeof(got));
		new = signal_of(got);
		if (new && !has_module_call(&p)) {
			static uint8_t all[SIGNAL_BITS / 8];

			memcpy(all, got, sizeof(all));
			if (consider(&p))
				return report();
			/* known from now on, also what did not come again */
			for (i = 0; i < SIGNAL_BITS / 8; i++)
				seen[i] |= all[i];
			signal_of(NULL);
		}
		if (every && execs % every == every - 1 && reload())
			return report();
		if (now() - shown > 30) {
			shown = now();
			status_line(begin);
		}
	}
	status_line(begin);
	if (reload())
		return report();
	printf("ok 1 - %ld programs, nothing complained\n1..1\n", execs);
	return 0;
}
