// SPDX-License-Identifier: GPL-2.0
/* pwmodel aton: one ring command, by either engine. */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ring/ring_packet.h"
#include "ring/ring_param.h"
#include "pwmodel.h"
#include "pwmodel_capture.h"

enum { MAJORITY = 256, PARAM = 1024 };

static const struct {
	const char *name;
	int op;
} names[] = {
	{ "add", PW_ATON_ADD }, { "and", PW_ATON_AND }, { "or", PW_ATON_OR },
	{ "max", PW_ATON_MAX }, { "min", PW_ATON_MIN }, { "count-eq", PW_ATON_COUNT_EQ },
	{ "count-lt", PW_ATON_COUNT_LT }, { "count-le", PW_ATON_COUNT_LE },
	{ "sort", PW_ATON_SORT }, { "majority", MAJORITY }, { "tree", PW_ATON_TREE },
};

static int op_by_name(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i].name) == len && !strncmp(names[i].name, name, len))
			return names[i].op;
	return -1;
}

/* a number with a sign, or with 0x a pattern of 64 bits; fails naming the operand */
static u64 operand(const char *s, const char *what, bool is_signed)
{
	bool pattern = *s == '0' && (s[1] | 0x20) == 'x';

	return (is_signed && !pattern) || *s == '-' ? (u64)pwm_s64(s, what) : pwm_u64(s, what);
}

/* a negative operand, not an option */
static bool is_number(const char *s)
{
	return *s == '-' && s[1] >= '0' && s[1] <= '9';
}

/* jansson's integers end at 2^63 - 1, ours at 2^64 - 1: the object is put together here */
struct out {
	char *text;
	size_t len, size;
};

static void put(struct out *o, const char *text)
{
	size_t n = strlen(text);

	if (o->len + n + 1 > o->size) {
		o->size = 2 * (o->size + n + 64);
		o->text = realloc(o->text, o->size);
		if (!o->text)
			abort();
	}
	memcpy(o->text + o->len, text, n + 1);
	o->len += n;
}

static void put_value(struct out *o, u64 v, bool is_signed)
{
	char text[32];

	snprintf(text, sizeof(text), is_signed ? "%lld" : "%llu", (unsigned long long)v);
	put(o, text);
}

static void put_field(struct out *o, const char *name, u64 v, bool is_signed)
{
	put(o, ",\"");
	put(o, name);
	put(o, "\":");
	put_value(o, v, is_signed);
}

static const char *error_name(int err)
{
	static const char * const text[] = {
		[PW_ATON_OK] = "null", [PW_ATON_E_CRC] = "\"crc\"",
		[PW_ATON_E_LOST] = "\"lost\"", [PW_ATON_E_DOWN] = "\"down\"",
		[PW_ATON_E_SHAPE] = "\"shape\"", [PW_ATON_E_ROOM] = "\"room\"",
	};

	return text[err];
}

/* longest packet that a capture shows at each hop; the rtl engine divides the room */
#define TAP_BYTES	(256u << 10)
#define PASSIVE_MAX	16
#define FAULTS_MAX	8
/* an interface whose command is queued behind others waits for the token no longer than this */
#define PATIENCE	(1ULL << 40)

/* a packet without a command, which makes the command wait */
struct passive {
	struct pw_ring_cmd cmd;
	u32 from;
	u32 delivered;
};

/* what the command line says */
struct args {
	int op;
	char **words;			/* command and operands */
	u32 n;				/* operands */
	bool is_signed;
	bool prefix;
	const char *comparand, *ops, *capture, *to, *members;
	u32 from;			/* the T-interface, from 0 on */
	u32 reg;
	u32 standing;			/* times that it runs, 0: once and not as a standing command */
	struct pw_ring_fault fault[FAULTS_MAX];
	u32 nfaults;
	struct passive passive[PASSIVE_MAX];
	u32 npassive;
};

static struct pw_ring_params params = { .engine = PW_RING_RTL, .nregs = 1 };
static struct pw_ring *ring;

/* what an interface has latched, last */
static struct latched {
	struct pw_ring_latch l;
	bool valid;
} *latch;

static void latched(void *ctx, struct pw_ring_sender *sender, u32 iface,
		    const struct pw_ring_cmd *cmd, const struct pw_ring_latch *l, u64 when)
{
	latch[iface] = (struct latched){ *l, true };
}

static void tapped(void *ctx, u32 iface, u64 when, const u8 *packet, u32 bytes)
{
	pwm_capture_record(PACKETWAY_MON_RING, PACKETWAY_MON_OUT,
			   PACKETWAY_MON_UNIT(PACKETWAY_MON_INTERFACE, iface), when, packet, bytes);
}

static void delivered(void *ctx, u32 iface, const struct pw_ring_cmd *cmd, u64 when)
{
	((struct passive *)(uintptr_t)cmd->cookie)->delivered++;
}

/* until nothing is left to do, or a standing command has run as often as it is to */
static void run_ring(const struct pw_ring_cmd *standing, u32 times)
{
	u64 end = pw_ring_now(ring) + PATIENCE;

	while (pw_ring_now(ring) < end && !(standing && standing->runs >= times)) {
		/* a standing command has no end: one packet after the other */
		u64 until = standing ? pw_ring_now(ring) + 1 : ~0ULL;

		if (pw_ring_run(ring, until, 1u << 30) == PW_RING_IDLE && !standing)
			break;
	}
	while (pw_ring_reap(ring))
		;
}

static void run(const struct args *a, struct pw_ring_cmd *cmd)
{
	int err = a->standing ? pw_ring_stand(ring, a->from, cmd) :
				pw_ring_submit(ring, a->from, cmd);

	if (err)
		pwm_fail("command: the ring refuses it");
	run_ring(a->standing ? cmd : NULL, a->standing);
	if (a->standing && cmd->runs < a->standing)
		pwm_fail("standing: it ran %u times and no more", cmd->runs);
}

/* one operation of a tree; *@list: behind it */
static u8 parse_op(const char **list)
{
	size_t len = strcspn(*list, ",:");
	int op = op_by_name(*list, len);

	if (op < PW_ATON_ADD || op > PW_ATON_MIN)
		pwm_fail("ops: '%.*s' is not an operation of a tree", (int)len, *list);
	*list += len;
	return op;
}

/* an operation for each height */
static void parse_ops(struct pw_ring_cmd *cmd, const char *list)
{
	while (*list) {
		if (cmd->heights == PW_ATON_HEIGHTS)
			pwm_fail("ops: more than %u heights", PW_ATON_HEIGHTS);
		cmd->ops[cmd->heights++] = parse_op(&list);
		list += *list == ',';
	}
}

/* an operation for each node; one for all nodes of its height stands alone there */
static void parse_nodes(struct pw_ring_cmd *cmd, const char *list)
{
	static u8 nodes[1u << PW_ATON_NODE_HEIGHTS];
	u32 h, k, given, n, at = 0;
	const char *p;

	cmd->heights = 1;
	for (p = list; *p; p++)
		cmd->heights += *p == ',';
	if (cmd->heights > PW_ATON_NODE_HEIGHTS)
		pwm_fail("ops: more than %u heights with an operation for each node",
			 PW_ATON_NODE_HEIGHTS);
	for (h = 0; h < cmd->heights; h++) {
		n = 1u << (cmd->heights - 1 - h);
		for (given = 0; !given || *list == ':'; given++) {
			list += given ? 1 : 0;
			if (given == n)
				pwm_fail("ops: more than %u operations at height %u", n, h + 1);
			nodes[at + given] = parse_op(&list);
		}
		if (given != 1 && given != n)
			pwm_fail("ops: %u operations at height %u, which has %u nodes", given, h + 1, n);
		for (k = given; k < n; k++)
			nodes[at + k] = nodes[at];
		at += n;
		list += *list == ',';
	}
	cmd->nodes = nodes;
}

/* next number of a list that colons divide */
static u64 number(char **list, const char *what, u64 max)
{
	char *colon = *list ? strchr(*list, ':') : NULL, *text = *list;
	u64 v;

	if (!text)
		pwm_fail("%s: missing", what);
	if (colon)
		*colon++ = 0;
	v = pwm_u64(text, what);
	if (v > max)
		pwm_fail("%s: %s is more than %llu", what, text, (unsigned long long)max);
	*list = colon;
	return v;
}

/* interfaces have the numbers 1 to n in commands, as their addresses are */
static u32 interface(char **list, const char *what)
{
	u64 v = number(list, what, PW_ATON_MAX_INTERFACES);

	if (!v)
		pwm_fail("%s: interfaces begin with 1", what);
	return v - 1;
}

static void take_flip(struct args *a, char *text)
{
	struct pw_ring_fault *f = &a->fault[a->nfaults++];

	if (!strchr(text, ':'))
		pwm_fail("flip: not of the form HOP:BIT");
	f->kind = PW_FAULT_FLIP;
	f->hop = number(&text, "flip hop", PW_ATON_MAX_INTERFACES);
	f->bit = number(&text, "flip bit", ~0ULL);
	if (text)
		pwm_fail("flip: not of the form HOP:BIT");
}

/* flip:HOP:BIT, stuck:INTERFACE, leave:BITS, lose:TIME or dup */
static void take_fault(struct args *a, char *text)
{
	struct pw_ring_fault *f = &a->fault[a->nfaults];
	char *colon = strchr(text, ':'), *rest = colon ? colon + 1 : NULL;
	size_t n = colon ? (size_t)(colon - text) : strlen(text);

	if (a->nfaults == FAULTS_MAX)
		pwm_fail("fault: more than %u", FAULTS_MAX);
	if (n == 4 && !strncmp(text, "flip", n)) {
		take_flip(a, rest ? rest : text);
		return;
	}
	a->nfaults++;
	if (n == 5 && !strncmp(text, "stuck", n)) {
		f->kind = PW_FAULT_STUCK;
		f->hop = interface(&rest, "fault stuck");
	} else if (n == 5 && !strncmp(text, "leave", n)) {
		f->kind = PW_FAULT_LEAVE;
		f->bit = number(&rest, "fault leave", ~0ULL);
	} else if (n == 4 && !strncmp(text, "lose", n)) {
		f->kind = PW_FAULT_LOSE;
		f->at = number(&rest, "fault lose", ~0ULL >> 1);
	} else if (n == 3 && !strncmp(text, "dup", n)) {
		f->kind = PW_FAULT_DUP;
	} else {
		pwm_fail("fault: '%.*s' is not flip, stuck, leave, lose or dup", (int)n, text);
	}
	if (rest)
		pwm_fail("fault: '%s' is too much", rest);
}

/* FROM:TO:BYTES */
static void take_passive(struct args *a, char *text)
{
	struct passive *p = &a->passive[a->npassive];

	if (a->npassive++ == PASSIVE_MAX)
		pwm_fail("passive: more than %u", PASSIVE_MAX);
	p->from = interface(&text, "passive from");
	p->cmd.op = PW_ATON_PASSIVE;
	p->cmd.dst = 1 + interface(&text, "passive to");
	p->cmd.len = number(&text, "passive bytes", 4096);
	if (text)
		pwm_fail("passive: '%s' is too much", text);
	if (p->cmd.len > params.max_bytes)
		params.max_bytes = p->cmd.len;
}

/* a parameter of the ring, by number or by name of its value */
static void take_param(const struct pw_ring_param *d, const char *arg)
{
	u64 v = d->max + 1ULL;

	for (u32 i = 0; d->words && i <= d->max; i++)
		if (!strcmp(arg, d->words[i]))
			v = i;
	if (!d->words)
		v = pwm_u64(arg, d->name);
	if (v < d->min || v > d->max) {
		if (d->words)
			pwm_fail("%s: '%s' is neither %s nor %s", d->name, arg, d->words[0], d->words[1]);
		pwm_fail("%s: %s is not %u to %u %s", d->name, arg, d->min, d->max, d->unit);
	}
	pw_ring_param_set(&params, d, v);
}

static void take_option(struct args *a, int c, char *arg, const char *word)
{
	if (c >= PARAM) {
		take_param(&pw_ring_param[c - PARAM], arg);
		return;
	}
	switch (c) {
	case 's':
		a->is_signed = true;
		break;
	case 'x':
		a->prefix = true;
		break;
	case 'c':
		a->comparand = arg;
		break;
	case 'f':
		if (a->nfaults == FAULTS_MAX)
			pwm_fail("flip: more than %u faults", FAULTS_MAX);
		take_flip(a, arg);
		break;
	case 'F':
		take_fault(a, arg);
		break;
	case 'P':
		take_passive(a, arg);
		break;
	case 'e':
		if (!strcmp(arg, "fast"))
			params.engine = PW_RING_FAST;
		else if (strcmp(arg, "rtl"))
			pwm_fail("engine: '%s' is neither rtl nor fast", arg);
		break;
	case 'o':
		a->ops = arg;
		break;
	case 'w':
		a->capture = arg;
		break;
	case 'i':
		a->from = interface(&arg, "from");
		break;
	case 't':
		a->to = arg;
		break;
	case 'm':
		a->members = arg;
		break;
	case 'r':
		a->reg = number(&arg, "register", PW_ATON_REGS - 1);
		params.nregs = PW_ATON_REGS;
		break;
	case 'S':
		a->standing = number(&arg, "standing", 1000000);
		break;
	default:
		pwm_fail("option '%s': unknown, or its value is missing", word);
	}
}

static void parse(struct args *a, int argc, char **argv)
{
	/* behind these, the parameters of the ring */
	static struct option options[24] = {
		{ "signed", no_argument, NULL, 's' },
		{ "prefix", no_argument, NULL, 'x' },
		{ "comparand", required_argument, NULL, 'c' },
		{ "flip", required_argument, NULL, 'f' },
		{ "fault", required_argument, NULL, 'F' },
		{ "passive", required_argument, NULL, 'P' },
		{ "engine", required_argument, NULL, 'e' },
		{ "ops", required_argument, NULL, 'o' },
		{ "capture", required_argument, NULL, 'w' },
		{ "from", required_argument, NULL, 'i' },
		{ "to", required_argument, NULL, 't' },
		{ "members", required_argument, NULL, 'm' },
		{ "register", required_argument, NULL, 'r' },
		{ "standing", required_argument, NULL, 'S' },
	};
	int c, nwords = 0;
	u32 i, n = 0;

	while (options[n].name)
		n++;
	for (i = 0; i < pw_ring_param_num && n + 1 < ARRAY_SIZE(options); i++)
		options[n++] = (struct option) { pw_ring_param[i].name, required_argument, NULL,
						 PARAM + (int)i };

	/* options may stand anywhere, but a negative operand is no option */
	a->words = calloc(argc + 1, sizeof(*a->words));
	if (!a->words)
		abort();
	optind = 1;
	opterr = 0;
	while (optind < argc) {
		if (argv[optind][0] != '-' || is_number(argv[optind])) {
			a->words[nwords++] = argv[optind++];
			continue;
		}
		c = getopt_long(argc, argv, "+", options, NULL);
		if (c == -1)		/* "--" */
			continue;
		take_option(a, c, optarg, argv[optind - 1]);
	}
	if (!nwords)
		pwm_fail("cmd: missing, see 'pwmodel aton --help'");
	a->op = op_by_name(a->words[0], strlen(a->words[0]));
	if (a->op < 0)
		pwm_fail("unknown command '%s', see 'pwmodel aton --help'", a->words[0]);
	a->n = nwords - 1;
}

static void check(const struct args *a)
{
	u32 i;

	if (!a->n)
		pwm_fail("operands: none given");
	if (a->n > PW_ATON_MAX_INTERFACES)
		pwm_fail("operands: more than %u", PW_ATON_MAX_INTERFACES);
	if (a->comparand && (a->op < PW_ATON_COUNT_EQ || a->op > PW_ATON_COUNT_LE))
		pwm_fail("comparand: only a count takes one");
	if (a->prefix && a->op > PW_ATON_COUNT_LE)
		pwm_fail("prefix: not with sort, majority and tree");
	if (a->ops && a->op != PW_ATON_TREE)
		pwm_fail("ops: only tree takes them");
	if (a->from >= a->n)
		pwm_fail("from: %u, but there are %u interfaces", a->from + 1, a->n);
	if (a->standing && (a->op == MAJORITY || a->nfaults))
		pwm_fail("standing: not with majority, and not with faults");
	for (i = 0; i < a->npassive; i++)
		if (a->passive[i].from >= a->n || a->passive[i].cmd.dst > a->n)
			pwm_fail("passive: there are %u interfaces", a->n);
}

/* the ring with its operands and groups; returns its memory */
static void *build(const struct args *a, struct pw_ring_sender *sender)
{
	const char *list = a->members;
	char what[32], mask[32];
	void *mem;
	u64 v;
	u32 i;

	params.capacity = a->n;
	params.tap = a->capture ? tapped : NULL;
	params.deliver = delivered;
	params.latch = a->prefix ? latched : NULL;
	latch = calloc(a->n, sizeof(*latch));
	mem = malloc(pw_ring_size(&params));
	if (!mem || !latch)
		pwm_fail("operands: no memory for a ring of %u", a->n);
	ring = pw_ring_init(mem, &params);
	for (i = 0; i < a->n; i++) {
		v = 0;
		if (list && *list) {
			snprintf(mask, sizeof(mask), "%.*s", (int)strcspn(list, ","), list);
			snprintf(what, sizeof(what), "members of interface %u", i + 1);
			v = pwm_u64(mask, what);
			if (v > PW_ATON_GROUP_MASK)
				pwm_fail("%s: more than %u groups", what, PW_ATON_GROUP_BITS);
			list += strcspn(list, ",");
			list += *list == ',';
		}
		pw_ring_attach(ring, i, 1, 1 + i, v);
	}
	if (list && *list)
		pwm_fail("members: more than %u interfaces", a->n);
	for (i = 0; i < a->n; i++) {
		snprintf(what, sizeof(what), "operand %u", i + 1);
		pw_ring_set_operand(ring, i, a->reg, operand(a->words[i + 1], what, a->is_signed));
	}
	pw_ring_bind(ring, a->from, &sender[a->from]);
	for (i = 0; i < a->npassive; i++)
		pw_ring_bind(ring, a->passive[i].from, &sender[a->passive[i].from]);
	return mem;
}

/* ring, group:MASK or an interface */
static u32 region(const struct args *a)
{
	char *text = (char *)a->to;
	u32 i;

	if (!a->to || !strcmp(a->to, "ring"))
		return PW_ATON_RING;
	if (!strncmp(a->to, "group:", 6)) {
		text += 6;
		return PW_ATON_GROUP | (u32)number(&text, "to group", PW_ATON_GROUP_MASK);
	}
	i = interface(&text, "to");
	if (i >= a->n)
		pwm_fail("to: %u, but there are %u interfaces", i + 1, a->n);
	return 1 + i;
}

static void command(const struct args *a, struct pw_ring_cmd *cmd)
{
	cmd->op = a->op == MAJORITY ? PW_ATON_BITSUM : a->op;
	cmd->mods = a->is_signed ? PW_ATON_SIGNED : 0;
	cmd->reg = a->reg;
	cmd->dst = region(a);
	if (a->prefix)
		cmd->mods |= PW_ATON_PREFIX;
	if (a->comparand) {
		cmd->mods |= PW_ATON_COMPARAND;
		cmd->comparand = operand(a->comparand, "comparand", a->is_signed);
	}
	if (a->op == PW_ATON_SORT) {
		cmd->room = a->n;
		cmd->out = calloc(a->n, sizeof(u64));
		if (!cmd->out)
			pwm_fail("operands: no memory for the result");
	}
	if (a->op != PW_ATON_TREE)
		return;
	if (!a->to && !is_power_of_2(a->n))
		pwm_fail("operands: %u, not a power of two", a->n);
	if (a->ops && strchr(a->ops, ':'))
		parse_nodes(cmd, a->ops);
	else if (a->ops)
		parse_ops(cmd, a->ops);
	if (!a->to && a->n != 1u << cmd->heights)
		pwm_fail("ops: %u heights for %u operands", cmd->heights, a->n);
}

/* how wide the fields of a packet are */
static struct pw_aton_format format(const struct args *a)
{
	struct pw_aton_format f = PW_ATON_FORMAT;

	if (params.width)
		f.width = params.width;
	if (params.bitsum == PW_RING_BITSUM_FIT)
		f.part = fls(a->n);
	else if (params.bitsum)
		f.part = params.bitsum;
	return f;
}

static void faults(const struct args *a, const struct pw_ring_cmd *cmd)
{
	u64 sent;
	u32 i;

	for (i = 0; i < a->nfaults; i++) {
		const struct pw_ring_fault *f = &a->fault[i];

		if (f->kind == PW_FAULT_FLIP) {
			sent = pw_aton_format_bits(format(a), cmd->op, 1 + f->hop,
						   pw_aton_heights(cmd));
			if (f->hop >= a->n)
				pwm_fail("flip hop: %u, but there are %u interfaces", f->hop, a->n);
			if (f->bit >= sent)
				pwm_fail("flip bit: the packet leaving hop %u has %llu", f->hop,
					 (unsigned long long)sent);
		}
		if (f->kind == PW_FAULT_STUCK && f->hop >= a->n)
			pwm_fail("fault stuck: there are %u interfaces", a->n);
		pw_ring_fault(ring, f);
	}
}

/* they are queued before the command, so that it waits for those that reach the token first */
static void send_passive(struct args *a)
{
	static const u8 zeros[4096];
	u32 i;

	for (i = 0; i < a->npassive; i++) {
		struct passive *p = &a->passive[i];

		p->cmd.data = zeros;
		p->cmd.cookie = (uintptr_t)p;
		if (pw_ring_submit(ring, p->from, &p->cmd))
			pwm_fail("passive: the ring refuses it");
	}
}

/* the second packet of a vote; returns its bits */
static u64 majority(const struct args *a, struct out *o, struct pw_ring_cmd *cmd)
{
	u32 half = cmd->counter / 2, i;
	u64 x = 0;

	if (cmd->err)
		return 0;
	for (i = 0; i < PW_ATON_PARTS; i++)
		x |= (u64)(cmd->parts[i] > half) << i;
	cmd->op = PW_ATON_COUNT_EQ;
	cmd->mods |= PW_ATON_COMPARAND;
	cmd->comparand = x;
	run(a, cmd);
	if (cmd->err)
		return cmd->ring_bits;
	put(o, ",\"majority\":");
	if (cmd->v2 > half)
		put_value(o, pw_aton_extend(x, format(a).width, a->is_signed), a->is_signed);
	else
		put(o, "null");
	put(o, ",\"messages\":2");
	put_field(o, "counter", cmd->counter, false);
	put_field(o, "count", cmd->v2, false);
	return cmd->ring_bits;
}

static void put_result(const struct args *a, struct out *o, const struct pw_ring_cmd *cmd)
{
	u32 i;

	if (cmd->err)
		return;
	if (a->op == PW_ATON_SORT) {
		put(o, ",\"sorted\":[");
		for (i = 0; i < cmd->counter; i++) {
			if (i)
				put(o, ",");
			put_value(o, cmd->out[i], a->is_signed);
		}
		put(o, "]");
		put_field(o, "counter", cmd->counter, false);
		return;
	}
	put_field(o, "counter", cmd->counter, false);
	put_field(o, "v1", cmd->v1, a->is_signed);
	if (a->op != PW_ATON_TREE)
		put_field(o, "v2", cmd->v2, false);
	put(o, ",\"overflow\":");
	put(o, cmd->flags & PW_ATON_F_OVERFLOW ? "true" : "false");
}

/* the latch of each interface, null if nothing has passed it undamaged */
static void put_latches(const struct args *a, struct out *o)
{
	bool is_signed = a->is_signed && a->op <= PW_ATON_MIN;
	u32 i;

	put(o, ",\"latches\":[");
	for (i = 0; i < a->n; i++) {
		if (i)
			put(o, ",");
		if (!latch[i].valid) {
			put(o, "null");
			continue;
		}
		put(o, "{\"interface\":");
		put_value(o, i + 1, false);
		put_field(o, "counter", latch[i].l.counter, false);
		put_field(o, "before", latch[i].l.before, is_signed);
		put_field(o, "with", latch[i].l.with, is_signed);
		put(o, ",\"overflow\":");
		put(o, latch[i].l.flags & PW_ATON_F_OVERFLOW ? "true}" : "false}");
	}
	put(o, "]");
}

/* what only some options ask for */
static void put_more(const struct args *a, struct out *o, const struct pw_ring_cmd *cmd)
{
	const struct pw_ring_stats *st = pw_ring_stats(ring);
	u32 i;

	if (a->prefix)
		put_latches(a, o);
	if (a->standing)
		put_field(o, "runs", cmd->runs, false);
	if (a->npassive || a->from || a->standing || a->nfaults > 1 ||
	    (a->nfaults && a->fault[0].kind != PW_FAULT_FLIP))
		put_field(o, "wait", cmd->wait, false);
	for (i = 0; i < a->nfaults && a->fault[i].kind == PW_FAULT_FLIP; i++)
		;
	if (i < a->nfaults) {
		put_field(o, "tokens_lost", st->tokens_lost, false);
		put_field(o, "tokens_dup", st->tokens_dup, false);
		put_field(o, "orphans", st->orphans, false);
	}
	for (i = 0; i < a->npassive; i++) {
		put(o, i ? ",{" : ",\"passive\":[{");
		put(o, "\"delivered\":");
		put_value(o, a->passive[i].delivered, false);
		put_field(o, "wait", a->passive[i].cmd.wait, false);
		put_field(o, "ring_bits", a->passive[i].cmd.ring_bits, false);
		put(o, i + 1 < a->npassive ? "}" : "}]");
	}
}

int pwm_aton(int argc, char **argv)
{
	static struct args a;
	struct pw_ring_sender *sender;
	u32 parts[PW_ATON_PARTS];
	struct pw_ring_cmd cmd = { .parts = parts };
	struct out o = { 0 };
	void *mem, *room = NULL;
	u64 bits;

	parse(&a, argc, argv);
	check(&a);
	sender = calloc(a.n, sizeof(*sender));
	if (!sender)
		pwm_fail("operands: no memory for a ring of %u", a.n);
	mem = build(&a, sender);
	command(&a, &cmd);
	faults(&a, &cmd);
	if (a.capture) {
		room = malloc(TAP_BYTES);
		if (!room)
			pwm_fail("--capture: no memory");
		pwm_capture_open(a.capture, NULL);
		pwm_capture_width(format(&a).width);
		pw_ring_tap(ring, room, TAP_BYTES);
	}
	send_passive(&a);
	run(&a, &cmd);
	bits = cmd.ring_bits;
	put(&o, "{\"cmd\":\"");
	put(&o, a.words[0]);
	put(&o, "\"");
	if (a.op == MAJORITY)
		bits += majority(&a, &o, &cmd);
	else
		put_result(&a, &o, &cmd);
	put(&o, ",\"error\":");
	put(&o, error_name(cmd.err));
	put_field(&o, "ring_bits", bits, false);
	put_more(&a, &o, &cmd);
	put(&o, "}");
	if (a.capture)
		pwm_capture_close();
	puts(o.text);
	free(room);
	free(o.text);
	free(cmd.out);
	free(a.words);
	free(sender);
	free(latch);
	free(mem);
	return 0;
}
