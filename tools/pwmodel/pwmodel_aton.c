// SPDX-License-Identifier: GPL-2.0
/* pwmodel aton: one ring command, by either engine. */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ring/ring_packet.h"
#include "pwmodel.h"
#include "pwmodel_capture.h"

enum { MAJORITY = 256 };

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

/* decimal or 0x, negative if signed; fails naming the operand */
static u64 operand(const char *s, const char *what, bool is_signed)
{
	return is_signed || *s == '-' ? (u64)pwm_s64(s, what) : pwm_u64(s, what);
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

static struct pw_ring_params params = { .engine = PW_RING_RTL, .nregs = 1 };
static struct pw_ring *ring;

/* longest packet that a capture shows at each hop; the rtl engine divides the room */
#define TAP_BYTES	(256u << 10)

static void tapped(void *ctx, u32 iface, u64 when, const u8 *packet, u32 bytes)
{
	pwm_capture_record(PACKETWAY_MON_RING, PACKETWAY_MON_OUT,
			   PACKETWAY_MON_UNIT(PACKETWAY_MON_INTERFACE, iface), when, packet, bytes);
}

static void run(struct pw_ring_cmd *cmd)
{
	if (pw_ring_submit(ring, 0, cmd))
		pwm_fail("%s: the ring refuses it", "command");
	while (pw_ring_run(ring, ~0ULL, 1u << 30) == PW_RING_MORE)
		;
	pw_ring_reap(ring);
}

static void parse_ops(struct pw_ring_cmd *cmd, const char *list)
{
	const char *end;
	int op;

	for (; *list; list = *end ? end + 1 : end) {
		end = strchrnul(list, ',');
		op = op_by_name(list, end - list);
		if (op < PW_ATON_ADD || op > PW_ATON_MIN)
			pwm_fail("ops: '%.*s' is not an operation of a tree", (int)(end - list), list);
		if (cmd->heights == PW_ATON_HEIGHTS)
			pwm_fail("ops: more than %u heights", PW_ATON_HEIGHTS);
		cmd->ops[cmd->heights++] = op;
	}
}

int pwm_aton(int argc, char **argv)
{
	static const struct option options[] = {
		{ "signed", no_argument, NULL, 's' },
		{ "comparand", required_argument, NULL, 'c' },
		{ "propagation", required_argument, NULL, 'p' },
		{ "flip", required_argument, NULL, 'f' },
		{ "engine", required_argument, NULL, 'e' },
		{ "ops", required_argument, NULL, 'o' },
		{ "capture", required_argument, NULL, 'w' },
		{ 0 }
	};
	const char *comparand = NULL, *ops = NULL, *capture = NULL;
	struct pw_ring_fault flip = { .kind = PW_FAULT_FLIP };
	struct pw_ring_sender port = { 0 };
	struct pw_ring_cmd cmd = { 0 };
	bool is_signed = false, flipped = false;
	u32 parts[PW_ATON_PARTS], n = 0, i;
	u64 bits, sent;
	struct out o = { 0 };
	char **words, what[32];
	int op, c, nwords = 0;
	char *colon;
	void *mem, *room = NULL;

	/* options may stand anywhere, but a negative operand is no option */
	words = calloc(argc + 1, sizeof(*words));
	if (!words)
		abort();
	optind = 1;
	opterr = 0;
	while (optind < argc) {
		if (argv[optind][0] != '-' || is_number(argv[optind])) {
			words[nwords++] = argv[optind++];
			continue;
		}
		c = getopt_long(argc, argv, "+", options, NULL);
		if (c == -1)		/* "--" */
			continue;
		switch (c) {
		case 's':
			is_signed = true;
			break;
		case 'c':
			comparand = optarg;
			break;
		case 'p':
			bits = pwm_u64(optarg, "propagation");
			if (bits > 1u << 16)
				pwm_fail("propagation: more than %u", 1u << 16);
			params.propagation = bits;
			break;
		case 'f':
			colon = strchr(optarg, ':');
			if (!colon)
				pwm_fail("flip: not of the form HOP:BIT");
			*colon = 0;
			bits = pwm_u64(optarg, "flip hop");
			if (bits >= PW_ATON_MAX_INTERFACES)
				pwm_fail("flip hop: no such hop");
			flip.hop = bits;
			flip.bit = pwm_u64(colon + 1, "flip bit");
			flipped = true;
			break;
		case 'e':
			if (!strcmp(optarg, "fast"))
				params.engine = PW_RING_FAST;
			else if (strcmp(optarg, "rtl"))
				pwm_fail("engine: '%s' is neither rtl nor fast", optarg);
			break;
		case 'o':
			ops = optarg;
			break;
		case 'w':
			capture = optarg;
			break;
		default:
			pwm_fail("option '%s': unknown, or its value is missing", argv[optind - 1]);
		}
	}
	if (!nwords)
		pwm_fail("cmd: missing, see 'pwmodel aton --help'");
	op = op_by_name(words[0], strlen(words[0]));
	if (op < 0)
		pwm_fail("unknown command '%s', see 'pwmodel aton --help'", words[0]);
	n = nwords - 1;
	if (!n)
		pwm_fail("operands: none given");
	if (n > PW_ATON_MAX_INTERFACES)
		pwm_fail("operands: more than %u", PW_ATON_MAX_INTERFACES);
	if (comparand && (op < PW_ATON_COUNT_EQ || op > PW_ATON_COUNT_LE))
		pwm_fail("comparand: only a count takes one");
	if (ops && op != PW_ATON_TREE)
		pwm_fail("ops: only tree takes them");

	params.capacity = n;
	params.tap = capture ? tapped : NULL;
	mem = malloc(pw_ring_size(&params));
	if (!mem)
		pwm_fail("operands: no memory for a ring of %u", n);
	ring = pw_ring_init(mem, &params);
	pw_ring_attach(ring, 0, n, 1, 0);
	pw_ring_bind(ring, 0, &port);
	for (i = 0; i < n; i++) {
		snprintf(what, sizeof(what), "operand %u", i + 1);
		pw_ring_set_operand(ring, i, 0, operand(words[i + 1], what, is_signed));
	}

	cmd.op = op == MAJORITY ? PW_ATON_BITSUM : op;
	cmd.mods = is_signed ? PW_ATON_SIGNED : 0;
	cmd.dst = PW_ATON_RING;
	if (comparand) {
		cmd.mods |= PW_ATON_COMPARAND;
		cmd.comparand = operand(comparand, "comparand", is_signed);
	}
	if (op == PW_ATON_SORT) {
		cmd.room = n;
		cmd.out = calloc(n, sizeof(u64));
		if (!cmd.out)
			pwm_fail("operands: no memory for the result");
	}
	cmd.parts = parts;
	if (op == PW_ATON_TREE) {
		if (!is_power_of_2(n))
			pwm_fail("operands: %u, not a power of two", n);
		if (ops)
			parse_ops(&cmd, ops);
		if (n != 1u << cmd.heights)
			pwm_fail("ops: %u heights for %u operands", cmd.heights, n);
	}
	if (flipped) {
		sent = pw_aton_packet_bits(cmd.op, 1 + flip.hop, cmd.heights);
		if (flip.hop >= n)
			pwm_fail("flip hop: %u, but there are %u interfaces", flip.hop, n);
		if (flip.bit >= sent)
			pwm_fail("flip bit: the packet leaving hop %u has %llu", flip.hop,
				 (unsigned long long)sent);
		pw_ring_fault(ring, &flip);
	}
	if (capture) {
		room = malloc(TAP_BYTES);
		if (!room)
			pwm_fail("--capture: no memory");
		pwm_capture_open(capture);
		pw_ring_tap(ring, room, TAP_BYTES);
	}
	run(&cmd);
	bits = cmd.ring_bits;

	put(&o, "{\"cmd\":\"");
	put(&o, words[0]);
	put(&o, "\"");
	if (op == MAJORITY) {
		u32 half = cmd.counter / 2;
		u64 x = 0;

		for (i = 0; i < PW_ATON_PARTS && !cmd.err; i++)
			x |= (u64)(parts[i] > half) << i;
		if (!cmd.err) {
			cmd.op = PW_ATON_COUNT_EQ;
			cmd.mods |= PW_ATON_COMPARAND;
			cmd.comparand = x;
			run(&cmd);
			bits += cmd.ring_bits;
		}
		if (!cmd.err) {
			put(&o, ",\"majority\":");
			if (cmd.v2 > half)
				put_value(&o, x, is_signed);
			else
				put(&o, "null");
			put(&o, ",\"messages\":2");
			put_field(&o, "counter", cmd.counter, false);
			put_field(&o, "count", cmd.v2, false);
		}
	} else if (cmd.err) {
		;
	} else if (op == PW_ATON_SORT) {
		put(&o, ",\"sorted\":[");
		for (i = 0; i < cmd.counter; i++) {
			if (i)
				put(&o, ",");
			put_value(&o, cmd.out[i], is_signed);
		}
		put(&o, "]");
		put_field(&o, "counter", cmd.counter, false);
	} else {
		put_field(&o, "counter", cmd.counter, false);
		put_field(&o, "v1", cmd.v1, is_signed);
		if (op != PW_ATON_TREE)
			put_field(&o, "v2", cmd.v2, false);
		put(&o, ",\"overflow\":");
		put(&o, cmd.flags & PW_ATON_F_OVERFLOW ? "true" : "false");
	}
	put(&o, ",\"error\":");
	put(&o, error_name(cmd.err));
	put_field(&o, "ring_bits", bits, false);
	put(&o, "}");
	if (capture)
		pwm_capture_close();
	puts(o.text);
	free(room);
	free(o.text);
	free(cmd.out);
	free(words);
	free(mem);
	return 0;
}
