// SPDX-License-Identifier: GPL-2.0
/* POETS: known values, masks, fragments, and the softswitch step by step. */
#include <time.h>
#include "tap.h"
#include "poets.h"

#define HW 0x000123U

static void test_codec(void)
{
	static const struct {
		u32 sw;
		u8 mothership, cnc, task, opcode;
		u16 device;
		enum pw_poets_kind kind;
		const char *what;
	} t[] = {
		{ 0xC0FD0000, 1, 1, 0, 0xFD, 0, PW_POETS_KIND_SUPERVISOR, "barrier reached" },
		{ 0xC0FB0000, 1, 1, 0, 0xFB, 0, PW_POETS_KIND_SUPERVISOR, "instrumentation" },
		{ 0xC0FC0000, 1, 1, 0, 0xFC, 0, PW_POETS_KIND_SUPERVISOR, "log" },
		{ 0xC0FA0000, 1, 1, 0, 0xFA, 0, PW_POETS_KIND_SUPERVISOR, "implicit" },
		{ 0xC0FF0000, 1, 1, 0, 0xFF, 0, PW_POETS_KIND_SUPERVISOR, "kill" },
		{ 0x40FDFFFF, 0, 1, 0, 0xFD, 0xFFFF, PW_POETS_KIND_CONTROL, "release barrier" },
		{ 0x40FEFFFF, 0, 1, 0, 0xFE, 0xFFFF, PW_POETS_KIND_CONTROL, "stop" },
		{ 0x00FAFFFF, 0, 0, 0, 0xFA, 0xFFFF, PW_POETS_KIND_DEVICE, "supervisor broadcast" },
		{ 0x03FA0201, 0, 0, 3, 0xFA, 513, PW_POETS_KIND_DEVICE, "supervisor reply" },
		{ 0x03000201, 0, 0, 3, 0, 513, PW_POETS_KIND_DEVICE, "device 513 of task 3" },
		{ 0x480103E8, 0, 1, 8, 1, 1000, PW_POETS_KIND_CONTROL,
		 "OnCtl 1, task 8, device 1000" },
		{ 0x80000000, 1, 0, 0, 0, 0, PW_POETS_KIND_EXTERNAL, "external" },
		{ 0x3F000000, 0, 0, 63, 0, 0, PW_POETS_KIND_DEVICE, "all task bits" },
		{ 0x00FF0000, 0, 0, 0, 255, 0, PW_POETS_KIND_DEVICE, "all opcode bits" },
		{ 0xFFFFFFFF, 1, 1, 63, 255, 0xFFFF, PW_POETS_KIND_SUPERVISOR, "all bits" },
	};
	static const struct { u32 known, sw; const char *what; } k[] = {
		{ PW_POETS_SW_BARRIER_REACHED, 0xC0FD0000, "barrier reached" },
		{ PW_POETS_SW_INSTR, 0xC0FB0000, "instrumentation" },
		{ PW_POETS_SW_LOG, 0xC0FC0000, "log" },
		{ PW_POETS_SW_TO_SUPERVISOR, 0xC0FA0000, "to supervisor" },
		{ PW_POETS_SW_BARRIER_RELEASE, 0x40FDFFFF, "release" },
		{ PW_POETS_SW_STOP, 0x40FEFFFF, "stop" },
		{ PW_POETS_SW_SUPERVISOR_BCAST, 0x00FAFFFF, "supervisor broadcast" },
		{ 0x03000201 | PW_POETS_SW_SUPERVISOR_REPLY, 0x03FA0201, "supervisor reply" },
	};
	struct pw_poets_pkt p;
	u8 buf[PW_POETS_PKT_MAX + 8], payload[64];
	bool good = true;
	u32 hw;
	u8 byte;

	for (int i = 0; i < ARRAY_SIZE(k); i++)
		ok(k[i].known == k[i].sw, "known value %08x: %s", k[i].sw, k[i].what);
	for (int i = 0; i < ARRAY_SIZE(t); i++) {
		u32 sw = t[i].sw;

		ok(pw_poets_sw_addr(t[i].mothership, t[i].cnc, t[i].task, t[i].opcode,
				    t[i].device) == sw && pw_poets_kind(sw) == t[i].kind &&
		   pw_poets_task(sw) == t[i].task && pw_poets_opcode(sw) == t[i].opcode &&
		   pw_poets_device(sw) == t[i].device, "%08x: %s", sw, t[i].what);
		ok(pw_poets_build(buf, sizeof(buf), sw, 0x12345678, NULL, 0) == 8 &&
		   buf[0] == (u8)sw && buf[1] == (u8)(sw >> 8) && buf[2] == (u8)(sw >> 16) &&
		   buf[3] == (u8)(sw >> 24) && buf[4] == 0x78 && buf[7] == 0x12,
		   "%08x: little-endian", sw);
	}
	ok(pw_poets_pin(0x12345678) == 0x78 && pw_poets_edge(0x12345678) == 0x123456 &&
	   pw_poets_pin_addr(0x78, 0x123456) == 0x12345678, "pin and edge");

	for (int i = 0; i < 64; i++)
		payload[i] = 3 * i + 1;
	for (size_t n = 0; n <= 56; n++) {
		unsigned int flits = n <= 8 ? 1 : n <= 24 ? 2 : n <= 40 ? 3 : 4;

		good &= pw_poets_flits(n) == flits;
		good &= pw_poets_build(buf, 8 + n, 5, 6, payload, n) == 8 + n;
		good &= !pw_poets_parse(buf, 8 + n, &p) && p.sw_addr == 5 && p.pin_addr == 6 &&
			p.len == n && !memcmp(p.payload, payload, n);
		good &= !pw_poets_build(buf, 7 + n, 5, 6, payload, n);
	}
	ok(good, "every payload length: flits, build, parse");
	ok(!pw_poets_flits(57) && !pw_poets_build(buf, sizeof(buf), 5, 6, payload, 57),
	   "57 bytes of payload are refused");
	for (size_t n = 0; n < 8; n++)
		good &= pw_poets_parse(buf, n, &p) == -EINVAL;
	ok(good && pw_poets_parse(buf, 65, &p) == -EINVAL, "0..7 and 65 bytes are no packet");

	ok(pw_poets_build_addressed(buf, 68, 0xA1B2C3, 1, 2, payload, 56) == 68 && buf[0] == 0xC3 &&
	   buf[3] == 0 && !pw_poets_parse_addressed(buf, 68, &hw, &p) && hw == 0xA1B2C3 &&
	   p.len == 56 && p.sw_addr == 1, "addressed packet");
	ok(pw_poets_parse_addressed(buf, 11, &hw, &p) &&
	   pw_poets_parse_addressed(buf, 3, &hw, &p) &&
	   !pw_poets_build_addressed(buf, 3, 0, 0, 0, NULL, 0) &&
	   !pw_poets_build_addressed(buf, 11, 0, 0, 0, NULL, 0), "addressed packet cut off");
	ok(pw_poets_build_debug(buf, 5, 0x01020304, 0xEE) == 5 && buf[0] == 4 && buf[4] == 0xEE &&
	   !pw_poets_parse_debug(buf, 5, &hw, &byte) && hw == 0x01020304 && byte == 0xEE &&
	   pw_poets_parse_debug(buf, 4, &hw, &byte) && pw_poets_parse_debug(buf, 6, &hw, &byte) &&
	   !pw_poets_build_debug(buf, 4, 0, 0), "debug packet");
}

static void test_mothership(void)
{
	static const struct { u32 sw; enum pw_poets_ms want; } t[] = {
		{ 0x80000000, PW_POETS_MS_EXTERNAL }, { 0x80FD0000, PW_POETS_MS_EXTERNAL },
		{ 0xC0FB0000, PW_POETS_MS_COMMAND }, { 0xC0FC0000, PW_POETS_MS_COMMAND },
		{ 0xC0FD0000, PW_POETS_MS_COMMAND }, { 0xC0FE0000, PW_POETS_MS_COMMAND },
		{ 0xC0FF0000, PW_POETS_MS_COMMAND }, { 0xC0FA0000, PW_POETS_MS_SUPERVISOR },
		{ 0xC3FA0000, PW_POETS_MS_SUPERVISOR }, { 0xC0010000, PW_POETS_MS_SUPERVISOR },
		{ 0xC0F00000, PW_POETS_MS_SUPERVISOR }, { 0xC0010001, PW_POETS_MS_BAD },
		{ 0x00000000, PW_POETS_MS_FOREIGN }, { 0x40FDFFFF, PW_POETS_MS_FOREIGN },
	};

	for (int i = 0; i < ARRAY_SIZE(t); i++)
		is(pw_poets_mothership(t[i].sw), t[i].want, "mothership: %08x", t[i].sw);
}

static void test_log(void)
{
	static const u8 frags[] = { 1, 1, 2, 2, 3, 4, 4 };
	static const u16 sizes[] = { 0, 55, 56, 110, 111, 220, 300 };
	char text[300];
	struct pw_poets_log log;
	struct pw_poets_pkt p;
	u8 buf[PW_POETS_PKT_MAX], odd[56] = { 0 };
	bool good = true;
	size_t n;

	for (int i = 0; i < 300; i++)
		text[i] = 'a' + i % 26;
	for (int i = 0; i < ARRAY_SIZE(sizes); i++)
		is(pw_poets_log_fragments(sizes[i]), frags[i], "log of %u bytes: fragments",
		   sizes[i]);
	pw_poets_log_init(&log);
	for (int len = 0; len <= 300; len++) {
		unsigned int k = pw_poets_log_fragments(len);
		size_t kept = min(len, 220);

		for (unsigned int i = 0; i < k; i++) {
			n = pw_poets_log_build(buf, sizeof(buf), 42, text, len, i);
			good &= n && !pw_poets_parse(buf, n, &p) && p.sw_addr == 0xC0FC0000 &&
				p.pin_addr == 42 && p.payload[0] == k - 1 - i;
			good &= pw_poets_log_add(&log, p.payload, p.len) == (i == k - 1);
		}
		good &= log.len == kept && !memcmp(log.text, text, kept) && !log.lost;
		good &= !pw_poets_log_build(buf, sizeof(buf), 42, text, len, k);
	}
	ok(good, "log messages of 0..300 bytes: fragments count down to 0, the text comes back");

	odd[0] = 3;
	ok(!pw_poets_log_add(&log, odd, 56), "first of four");
	odd[0] = 1;
	ok(!pw_poets_log_add(&log, odd, 56) && log.lost == 1 && log.len == 55,
	   "a gap loses the message; what came begins another");
	odd[0] = 0;
	ok(pw_poets_log_add(&log, odd, 3) == 1 && log.len == 57, "which ends");
	odd[0] = 4;
	ok(pw_poets_log_add(&log, odd, 56) == -EINVAL && log.lost == 2,
	   "a fifth fragment is refused");
	odd[0] = 2;
	ok(pw_poets_log_add(&log, odd, 55) == -EINVAL, "only the last may be short");
	ok(pw_poets_log_add(&log, odd, 0) == -EINVAL,
	   "a fragment without sequence number is refused");
	odd[0] = 2;
	pw_poets_log_add(&log, odd, 56);
	odd[0] = 9;
	pw_poets_log_add(&log, odd, 56);
	odd[0] = 0;
	ok(pw_poets_log_add(&log, odd, 2) == 1 && log.len == 1,
	   "a bad fragment ends what was under way");
}

static void test_instr(void)
{
	u32 c[PW_POETS_C_COUNT], d[PW_POETS_C_COUNT];
	u8 payload[56];

	for (int i = 0; i < PW_POETS_C_COUNT; i++)
		c[i] = 0x01020304 * (i + 1);
	is(pw_poets_instr_build(payload, c, false), 40, "instrumentation: 40 bytes");
	ok(payload[0] == 4 && payload[3] == 1, "little-endian");
	ok(pw_poets_instr_parse(payload, 40, d) == 10 && !memcmp(c, d, 40) && !d[10] && !d[13],
	   "10 counters come back");
	is(pw_poets_instr_build(payload, c, true), 56, "instrumentation: 56 bytes");
	ok(pw_poets_instr_parse(payload, 56, d) == 14 && !memcmp(c, d, 56),
	   "14 counters come back");
	ok(pw_poets_instr_parse(payload, 39, d) == -EINVAL &&
	   pw_poets_instr_parse(payload, 44, d) == -EINVAL &&
	   pw_poets_instr_parse(payload, 0, d) == -EINVAL, "other sizes are refused");
}

static struct pw_softswitch s;
static struct pw_softswitch_rx rx;
static struct pw_softswitch_delivery d;
static u32 mem[64];
static u8 out[PW_POETS_PKT_MAX];

static enum pw_softswitch_verdict in(u64 now, u32 sw, u32 pin)
{
	static u8 buf[PW_POETS_PKT_MAX];

	return pw_softswitch_input(&s, now, buf,
				   pw_poets_build(buf, sizeof(buf), sw, pin, "xyz", 3), &rx);
}

static bool drops(u64 now, u32 sw, u32 pin, enum pw_softswitch_drop why)
{
	u64 n = s.drops[why];

	return in(now, sw, pin) == PW_SOFTSWITCH_DROP && rx.drop == why && s.drops[why] == n + 1 &&
	       !pw_softswitch_next(&s, now, &rx, &d);
}

/* for one device: dropped there */
static bool drops_there(u64 now, u32 sw, u32 pin, enum pw_softswitch_drop why)
{
	u64 n = s.drops[why];

	return in(now, sw, pin) == PW_SOFTSWITCH_DELIVER && pw_softswitch_next(&s, now, &rx, &d) &&
	       d.handler == PW_SOFTSWITCH_H_NONE && d.drop == why && s.drops[why] == n + 1 &&
	       !pw_softswitch_next(&s, now, &rx, &d);
}

static bool delivers(u32 sw, u32 pin, enum pw_softswitch_handler h)
{
	struct pw_softswitch_delivery more;

	return in(0, sw, pin) == PW_SOFTSWITCH_DELIVER && pw_softswitch_next(&s, 0, &rx, &d) &&
	       d.handler == h && d.device == pw_poets_device(sw) && !d.drop && rx.pkt.len == 3 &&
	       !memcmp(rx.pkt.payload, "xyz", 3) && !pw_softswitch_next(&s, 0, &rx, &more);
}

/* device 0: pins with 1 and 3 edges; device 1: none; device 2: one pin, all edges */
static void load(void)
{
	static const u32 e0[] = { 1, 3 }, e2[] = { PW_POETS_EDGES_MAX };

	if (pw_softswitch_init(&s, mem, sizeof(mem), 3, 4, HW))
		abort();
	pw_softswitch_add(&s, 2, e0);
	pw_softswitch_add(&s, 0, NULL);
	pw_softswitch_add(&s, 1, e2);
}

static void start(void)
{
	load();
	pw_softswitch_loaded(&s, 0, out, sizeof(out));
	in(0, PW_POETS_SW_BARRIER_RELEASE, 0);
	memset(s.c, 0, sizeof(s.c));
}

static void test_load(void)
{
	static const u32 big[] = { PW_POETS_EDGES_MAX + 1 };
	static u32 many[257];

	is(pw_softswitch_bytes(0, 1), 0, "no devices: refused");
	is(pw_softswitch_bytes(65536, 1), 0, "65536 devices: refused");
	ok(pw_softswitch_bytes(65535, 65535 * 256), "65535 devices with 256 pins each: accepted");
	is(pw_softswitch_bytes(2, 513), 0, "more pins than devices can have: refused");
	is(pw_softswitch_init(&s, mem, pw_softswitch_bytes(3, 4) - 1, 3, 4, HW), -EINVAL,
	   "too little memory: refused");
	load();
	is(s.state, PW_SOFTSWITCH_LOADING, "state: loading");
	ok(s.devices == 3 && s.pins == 3, "three devices with three pins");
	is(pw_softswitch_add(&s, 0, NULL), -ENOSPC, "a fourth does not fit");
	pw_softswitch_reset(&s);
	is(pw_softswitch_add(&s, 1, big), -ERANGE, "too many edges");
	is(pw_softswitch_add(&s, 257, many), -ERANGE, "too many pins");
	is(pw_softswitch_add(&s, 5, many), -ENOSPC, "more pins than there is room for");
	is(pw_softswitch_add(&s, 4, many), 0, "room for just as many");
	load();
	ok(drops(0, PW_POETS_SW_BARRIER_RELEASE, 0, PW_SOFTSWITCH_D_LOADING),
	   "loading: even the release is dropped");
	ok(!pw_softswitch_loaded(&s, 0, out, 7) && s.state == PW_SOFTSWITCH_LOADING,
	   "no room for the packet: still loading");
	is(pw_softswitch_loaded(&s, 0, out, sizeof(out)), 8, "loaded: one packet");
	ok(get_unaligned_le32(out) == 0xC0FD0000 && get_unaligned_le32(out + 4) == HW &&
	   pw_poets_flits(0) == 1, "barrier reached, from this station, in 1 flit");
	is(s.state, PW_SOFTSWITCH_BARRIER, "state: barrier");
	is(pw_softswitch_loaded(&s, 0, out, sizeof(out)), 0, "loaded only once");
	is(pw_softswitch_add(&s, 0, NULL), -EBUSY, "no more devices");
	ok(drops(0, 0x00000000, 0, PW_SOFTSWITCH_D_BARRIER), "barrier: device packet dropped");
	ok(drops(0, PW_POETS_SW_STOP, 0, PW_SOFTSWITCH_D_BARRIER), "barrier: stop dropped");
	ok(drops(0, 0x40FB0000, 0, PW_SOFTSWITCH_D_BARRIER), "barrier: instrumentation dropped");
	ok(drops(0, 0x00FDFFFF, 0, PW_SOFTSWITCH_D_BARRIER),
	   "barrier: release without CNC dropped");
	ok(drops(0, 0xC0FD0000, 0, PW_SOFTSWITCH_D_MOTHERSHIP),
	   "barrier: for the mothership, dropped");
	ok(drops(0, 0x40FD0003, 0, PW_SOFTSWITCH_D_DEVICE),
	   "barrier: release for device 3 dropped");
	ok(!rx.log || s.drops[PW_SOFTSWITCH_D_DEVICE], "and counted");
	is(in(0, PW_POETS_SW_BARRIER_RELEASE, 0), PW_SOFTSWITCH_RELEASED, "released");
	is(s.state, PW_SOFTSWITCH_RUNNING, "state: running");
	ok(drops(0, PW_POETS_SW_BARRIER_RELEASE, 0, PW_SOFTSWITCH_D_OPCODE),
	   "a second release is a bad opcode");
}

static void test_receive(void)
{
	bool good = true;
	u8 buf[65] = { 0 };
	int n;

	start();
	/* (1) device */
	ok(drops(0, 0x00000003, 0, PW_SOFTSWITCH_D_DEVICE), "device 3 of 3: out of range");
	ok(drops(0, 0x0000FFFE, 0, PW_SOFTSWITCH_D_DEVICE), "device 0xfffe: out of range");
	ok(drops(0, 0x40FE0003, 0, PW_SOFTSWITCH_D_DEVICE) && s.state == PW_SOFTSWITCH_RUNNING,
	   "the device is checked before the opcode: stop for device 3 does not stop");
	ok(drops(0, 0x00FA0003, 0, PW_SOFTSWITCH_D_DEVICE), "implicit for device 3: out of range");
	/* (2) opcode */
	for (u32 op = 0xF0; op <= 0xFF; op++)
		if (op != PW_POETS_OP_IMPL && op != PW_POETS_OP_STOP && op != PW_POETS_OP_INSTR)
			good &= drops(0, 0x40000000 | op << 16, 0, PW_SOFTSWITCH_D_OPCODE);
	ok(good, "CNC with 0xf0..0xf9, LOG, BARRIER, KILL: bad opcode");
	for (u32 op = 0; op <= 0xEF; op++)
		good &= delivers(0x40000001 | op << 16, 0xFFFFFFFF, PW_SOFTSWITCH_H_CTL) &&
			d.opcode == op;
	ok(good, "CNC with 0..0xef: OnCtl with that opcode, whatever the pin");
	/* (3) per device */
	ok(delivers(0x00FA0001, 0xFFFFFFFF, PW_SOFTSWITCH_H_IMPL), "implicit without CNC");
	ok(delivers(0x40FA0001, 0xFFFFFFFF, PW_SOFTSWITCH_H_IMPL), "implicit with CNC");
	ok(delivers(0x00000000, 0x00000000, PW_SOFTSWITCH_H_PIN) && !d.pin && !d.edge,
	   "pin 0, edge 0");
	ok(delivers(0x3F000000, 0x00000201, PW_SOFTSWITCH_H_PIN) && d.pin == 1 && d.edge == 2,
	   "pin 1, edge 2");
	ok(delivers(0x00FE0000, 0, PW_SOFTSWITCH_H_PIN) && s.state == PW_SOFTSWITCH_RUNNING,
	   "without CNC opcodes other than implicit mean nothing");
	ok(delivers(0x00000002, 0xFFFFFF00, PW_SOFTSWITCH_H_PIN) && d.edge == 0xFFFFFF,
	   "the last edge");
	ok(drops_there(0, 0x00000000, 0x00000002, PW_SOFTSWITCH_D_PIN), "pin 2 of 2: out of range");
	ok(drops_there(0, 0x00000000, 0xFFFFFFFF, PW_SOFTSWITCH_D_PIN),
	   "the pin is checked before the edge");
	ok(drops_there(0, 0x00000001, 0, PW_SOFTSWITCH_D_PIN), "a device without pins");
	ok(drops_there(0, 0x00000000, 0x00000100, PW_SOFTSWITCH_D_EDGE),
	   "edge 1 of 1: out of range");
	ok(drops_there(0, 0x00000000, 0x00000301, PW_SOFTSWITCH_D_EDGE),
	   "edge 3 of 3: out of range");
	/* malformed, and not ours */
	ok(pw_softswitch_input(&s, 0, buf, 7, &rx) == PW_SOFTSWITCH_DROP &&
	   rx.drop == PW_SOFTSWITCH_D_MALFORMED, "7 bytes");
	ok(pw_softswitch_input(&s, 0, buf, 65, &rx) == PW_SOFTSWITCH_DROP &&
	   rx.drop == PW_SOFTSWITCH_D_MALFORMED, "65 bytes");
	ok(drops(0, 0x80000000, 0, PW_SOFTSWITCH_D_MOTHERSHIP), "external: not for a softswitch");
	ok(drops(0, 0xC0FB0000, 0, PW_SOFTSWITCH_D_MOTHERSHIP) && !s.report_pending,
	   "a report is not a request for one");
	/* broadcast */
	ok(in(0, 0x00FAFFFF, 0) == PW_SOFTSWITCH_DELIVER, "supervisor broadcast");
	for (n = 0; pw_softswitch_next(&s, 0, &rx, &d); n++)
		good &= d.handler == PW_SOFTSWITCH_H_IMPL && d.device == n;
	ok(good && n == 3, "reaches every device, in order");
	in(0, 0x4007FFFF, 0);
	for (n = 0; pw_softswitch_next(&s, 0, &rx, &d); n++)
		good &= d.handler == PW_SOFTSWITCH_H_CTL && d.device == n && d.opcode == 7;
	ok(good && n == 3, "control broadcast too");
	in(0, 0x0000FFFF, 0);
	good = pw_softswitch_next(&s, 0, &rx, &d) && d.handler == PW_SOFTSWITCH_H_PIN && !d.device;
	good &= pw_softswitch_next(&s, 0, &rx,
				   &d) && d.drop == PW_SOFTSWITCH_D_PIN && d.device == 1;
	good &= pw_softswitch_next(&s, 0, &rx,
				   &d) && d.handler == PW_SOFTSWITCH_H_PIN && d.device == 2;
	ok(good && !pw_softswitch_next(&s, 0, &rx, &d), "pin broadcast: checked device by device");
	in(0, 0x0000FFFF, 0);
	pw_softswitch_next(&s, 0, &rx, &d);
	{
		struct pw_softswitch_rx half = rx;

		is(in(0, PW_POETS_SW_STOP, 0), PW_SOFTSWITCH_STOP, "stop");
		ok(!pw_softswitch_next(&s, 0, &half, &d), "ends a broadcast under way");
		is(s.state, PW_SOFTSWITCH_STOPPED, "state: stopped");
		ok(drops(0, 0, 0, PW_SOFTSWITCH_D_STOPPED), "stopped: all is dropped");
		ok(drops(0, PW_POETS_SW_BARRIER_RELEASE, 0, PW_SOFTSWITCH_D_STOPPED),
		   "even a release");
		pw_softswitch_reset(&s);
		pw_softswitch_add(&s, 0, NULL);
		pw_softswitch_loaded(&s, 0, out, sizeof(out));
		in(0, PW_POETS_SW_BARRIER_RELEASE, 0);
		is(s.state, PW_SOFTSWITCH_RUNNING, "loaded again");
		ok(!pw_softswitch_next(&s, 0, &half, &d),
		   "an old broadcast does not reach new devices");
	}
	start();
	ok(pw_softswitch_kill(&s, out, sizeof(out)) == 8 && get_unaligned_le32(out) == 0xC0FF0000 &&
	   get_unaligned_le32(out + 4) == HW && s.state == PW_SOFTSWITCH_STOPPED, "kill");
	is(pw_softswitch_kill(&s, out, sizeof(out)), 0, "kill only once");
}

static void test_report(void)
{
	u32 c[PW_POETS_C_COUNT];
	struct pw_poets_pkt p;
	size_t n;

	start();
	ok(pw_softswitch_next_report(&s) == U64_MAX && !pw_softswitch_report_due(&s, 1ULL << 60),
	   "no interval: no report is planned");
	is(in(0, 0x40FBFFFF, 0), PW_SOFTSWITCH_REPORT, "a report is asked for");
	ok(!pw_softswitch_next_report(&s) && pw_softswitch_report_due(&s, 0), "and due");
	in(0, 0x0000FFFF, 0);
	while (pw_softswitch_next(&s, 0, &rx, &d))
		;
	drops(0, 0x77, 0, PW_SOFTSWITCH_D_DEVICE);
	pw_softswitch_sent(&s, 0x00000001);
	pw_softswitch_sent(&s, PW_POETS_SW_TO_SUPERVISOR);
	pw_softswitch_count(&s, PW_POETS_C_TX_HANDLERS, 3);
	pw_softswitch_count(&s, PW_POETS_C_IDLE, 4);
	pw_softswitch_count(&s, PW_POETS_C_IDLE_HANDLERS, 5);
	pw_softswitch_count(&s, PW_POETS_C_BLOCKED, 6);
	pw_softswitch_count(&s, PW_POETS_C_INDEX, 99);
	pw_softswitch_count(&s, PW_POETS_C_COUNT, 99);
	is(pw_softswitch_report(&s, 0, 1000, false, out, 63), 0,
	   "no room: no report, nothing lost");
	n = pw_softswitch_report(&s, 0, 1000, false, out, sizeof(out));
	ok(n == 48 && !pw_poets_parse(out, n, &p) && p.sw_addr == 0xC0FB0000 && p.pin_addr == HW &&
	   pw_poets_instr_parse(p.payload, p.len, c) == 10, "the report has 40 bytes in 3 flits");
	ok(c[0] == 0 && c[1] == 1000 && c[2] == 3 && c[3] == 2 && c[4] == 2 && c[5] == 1 &&
	   c[6] == 3 &&
	   c[7] == 4 && c[8] == 5 && c[9] == 6, "and counts what happened");
	ok(!pw_softswitch_report_due(&s, 0), "it is no longer due");
	n = pw_softswitch_report(&s, 0, 1500, true, out, sizeof(out));
	ok(n == 64 && !pw_poets_parse(out, n, &p) &&
	   pw_poets_instr_parse(p.payload, p.len, c) == 14 &&
	   c[0] == 1 && c[1] == 500 && !c[2] && !c[3] && !c[9] && !c[13],
	   "the next has index 1 and counts from there; 56 bytes");

	pw_softswitch_set_interval(&s, 100, 50);
	ok(pw_softswitch_next_report(&s) == 150 && !pw_softswitch_report_due(&s, 149) &&
	   pw_softswitch_report_due(&s, 150), "interval: due at exactly its end");
	pw_softswitch_report(&s, 170, 0, false, out, sizeof(out));
	ok(pw_softswitch_next_report(&s) == 220, "a late report does not make the next early");
	in(180, PW_POETS_SW_STOP, 0);
	ok(pw_softswitch_report_due(&s, 180), "stop: what is left is reported");
	pw_softswitch_report(&s, 180, 0, false, out, sizeof(out));
	ok(pw_softswitch_next_report(&s) == U64_MAX, "and then no more");
	load();
	pw_softswitch_set_interval(&s, 0, 50);
	pw_softswitch_loaded(&s, 700, out, sizeof(out));
	ok(pw_softswitch_next_report(&s) == U64_MAX, "no reports before the barrier");
	in(1000, PW_POETS_SW_BARRIER_RELEASE, 0);
	ok(pw_softswitch_next_report(&s) == 1050, "the first one an interval after it");
	n = pw_softswitch_report(&s, 1050, 750, false, out, sizeof(out));
	ok(!pw_poets_parse(out, n, &p) && pw_poets_instr_parse(p.payload, p.len, c) == 10 &&
	   c[1] == 50,
	   "cycles count from loading");
}

static void test_limit(void)
{
	struct pw_poets_pkt p = { .sw_addr = 0x12345678, .pin_addr = 0x9abcdef0 };
	unsigned long long seed = 1;
	char text[PW_POETS_LOG_MAX];
	u64 now = 1000, sent = 0;
	size_t n;
	int i;

	start();
	pw_softswitch_set_log_limit(&s, 100, 5);
	for (i = 0; i < 20; i++)
		sent += drops(now, 0x77, 0, PW_SOFTSWITCH_D_DEVICE) && rx.log;
	is(sent, 5, "20 drops at once: 5 log packets");
	ok(s.log_suppressed == 15 && s.drops[PW_SOFTSWITCH_D_DEVICE] == 20,
	   "15 suppressed, all counted");
	n = pw_softswitch_drop_text(&s, PW_SOFTSWITCH_D_DEVICE, &p, 7, text, sizeof(text));
	ok(n == strlen(text) &&
	   !strcmp(text, "drop: device sw 12345678 pin 9abcdef0 device 7 (+15)"),
	   "text: %s", text);
	n = pw_softswitch_drop_text(&s, PW_SOFTSWITCH_D_DEVICE, &p, 7, text, 10);
	ok(n == 9 && !s.log_suppressed, "text is cut to the room there is");
	ok(!(drops(now + 99, 0x77, 0, PW_SOFTSWITCH_D_DEVICE) && rx.log), "99 later: still none");
	ok(drops(now + 100, 0x77, 0, PW_SOFTSWITCH_D_DEVICE) && rx.log, "100 later: one more");
	ok(drops(now + 199, 0x77, 0, PW_SOFTSWITCH_D_DEVICE) && !rx.log, "but only one");
	ok(drops_there(now + 200, 0, 0xFF, PW_SOFTSWITCH_D_PIN) && d.log, "a bad pin is logged");
	for (i = 0, sent = 0, now = 10000; i < 100000; i++) {
		now += tap_rand(&seed) % 20;
		sent += pw_softswitch_log_allowed(&s, now);
	}
	ok(sent <= (now - 10000) / 100 + 5 && sent + 5 >= (now - 10000) / 100,
	   "in the long run one per period (%llu in %llu)", (unsigned long long)sent,
	   (unsigned long long)(now - 10000));
	pw_softswitch_set_log_limit(&s, 0, 0);
	for (i = 0, sent = 0; i < 100; i++)
		sent += pw_softswitch_log_allowed(&s, now);
	is(sent, 100, "period 0: no limit");
	load();
	ok(drops(0, 0, 0, PW_SOFTSWITCH_D_LOADING) && !rx.log,
	   "what is dropped while loading is not logged");
}

static void test_order(void)
{
	start();
	is(pw_softswitch_next_work(&s, 0, true, true, true), PW_SOFTSWITCH_W_RECEIVE,
	   "receive first");
	in(0, 0x40FBFFFF, 0);
	is(pw_softswitch_next_work(&s, 0, true, true, true), PW_SOFTSWITCH_W_RECEIVE,
	   "before a report");
	is(pw_softswitch_next_work(&s, 0, false, true, true), PW_SOFTSWITCH_W_REPORT,
	   "report next");
	pw_softswitch_report(&s, 0, 0, false, out, sizeof(out));
	is(pw_softswitch_next_work(&s, 0, false, true, true), PW_SOFTSWITCH_W_SEND, "then send");
	is(pw_softswitch_next_work(&s, 0, false, false, true), PW_SOFTSWITCH_W_IDLE, "then idle");
	is(pw_softswitch_next_work(&s, 0, false, false, false), PW_SOFTSWITCH_W_SLEEP,
	   "then sleep");
	in(0, PW_POETS_SW_STOP, 0);
	is(pw_softswitch_next_work(&s, 0, false, false, true), PW_SOFTSWITCH_W_SLEEP,
	   "stopped: no idling");
}

/*
 * Random packets against the rules written once more, from the other side: count
 * what must arrive for each packet and compare with the counters.
 */
static void test_random(void)
{
	unsigned long steps = tap_scaled(300000), wrong = 0, delivered = 0;
	unsigned long long seed = 77;
	struct timespec a, b;
	void *m = malloc(pw_softswitch_bytes(50, 400));
	u32 edges[50][8], pins[50];

	pw_softswitch_init(&s, m, pw_softswitch_bytes(50, 400), 50, 400, HW);
	for (int i = 0; i < 50; i++) {
		pins[i] = tap_rand(&seed) % 9;
		for (u32 k = 0; k < pins[i]; k++)
			edges[i][k] = tap_rand(&seed) % 5;
		pw_softswitch_add(&s, pins[i], edges[i]);
	}
	pw_softswitch_loaded(&s, 0, out, sizeof(out));
	in(0, PW_POETS_SW_BARRIER_RELEASE, 0);
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (unsigned long i = 0; i < steps; i++) {
		u32 sw = (tap_rand(&seed) & 3) << 30 | tap_rand(&seed) % 52;
		u32 pin = (tap_rand(&seed) % 6) << 8 | tap_rand(&seed) % 10;
		unsigned long want = 0, got = 0, looked = 0;
		u32 op, dev;

		if (tap_rand(&seed) % 4 == 0)
			sw |= (tap_rand(&seed) & 0xff) << 16;
		if (tap_rand(&seed) % 16 == 0)
			sw |= 0xffff;
		op = sw >> 16 & 0xff;
		dev = sw & 0xffff;
		if ((sw & 0x40000000) && op == 0xfe)
			continue;
		for (u32 k = 0; k < 50 && !(sw >> 31); k++) {
			if (dev != k && dev != 0xffff)
				continue;
			if (op == 0xfa)
				want++;
			else if (sw & 0x40000000)
				want += op < 0xf0;
			else
				want += (pin & 0xff) < pins[k] && pin >> 8 < edges[k][pin & 0xff];
		}
		in(i, sw, pin);
		while (pw_softswitch_next(&s, i, &rx, &d)) {
			got += d.handler != PW_SOFTSWITCH_H_NONE;
			wrong += (d.handler == PW_SOFTSWITCH_H_NONE) != !!d.drop;
			looked++;
		}
		wrong += got != want || looked > 50 || (dev != 0xffff && looked > 1);
		delivered += got;
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	ok(!wrong && delivered > steps / 10, "%lu random packets: exactly the right deliveries",
	   steps);
	ok(s.c[PW_POETS_C_RX_HANDLERS] == (u32)delivered, "and all counted");
	diag("%lu deliveries, %.0f ns a packet with the check", delivered,
	     ((b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec) / steps);
	free(m);
}

/* what a softswitch sends by itself carries its task */
static void test_task(void)
{
	struct pw_softswitch s;
	u8 buf[PW_POETS_PKT_MAX];
	size_t bytes = pw_softswitch_bytes(1, 0);
	void *m = calloc(1, bytes);
	struct pw_poets_pkt p;
	size_t n;

	pw_softswitch_init(&s, m, bytes, 1, 0, 5);
	s.task = 9U << PW_POETS_TASK_SHIFT;
	pw_softswitch_add(&s, 0, NULL);
	n = pw_softswitch_loaded(&s, 0, buf, sizeof(buf));
	ok(!pw_poets_parse(buf, n, &p) && p.sw_addr == (PW_POETS_SW_BARRIER_REACHED | s.task),
	   "the barrier carries the task");
	n = pw_softswitch_report(&s, 0, 0, false, buf, sizeof(buf));
	ok(!pw_poets_parse(buf, n, &p) && p.sw_addr == (PW_POETS_SW_INSTR | s.task),
	   "so does a report");
	n = pw_softswitch_kill(&s, buf, sizeof(buf));
	ok(!pw_poets_parse(buf, n, &p) && p.sw_addr == (PW_POETS_SW_KILL | s.task),
	   "so does a kill");
	pw_softswitch_reset(&s);
	ok(s.task == 9U << PW_POETS_TASK_SHIFT, "a reset keeps it");
	free(m);
}

int main(void)
{
	test_task();
	test_codec();
	test_mothership();
	test_log();
	test_instr();
	test_load();
	test_receive();
	test_report();
	test_limit();
	test_order();
	test_random();
	return tap_done();
}
