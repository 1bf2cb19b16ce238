// SPDX-License-Identifier: GPL-2.0
/*
 * POETS packets from nowhere: codec, log and instrumentation payloads, and a
 * softswitch with a few devices. The input is a row of packets, each after a
 * byte of length and a byte of time.
 */
#include "poets.h"

static void check(bool good)
{
	if (!good)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const u32 edges[] = { 0, 1, 3, 200, PW_POETS_EDGES_MAX };
	static u32 mem[64];
	struct pw_softswitch s;
	struct pw_poets_log log;
	u64 now = 0, logged = 0;
	u8 out[PW_POETS_PKT_MAX];
	u32 lost = 0;

	if (pw_softswitch_init(&s, mem, sizeof(mem), 4, 10, 0x123))
		return 0;
	pw_softswitch_set_log_limit(&s, 1000, 3);
	pw_softswitch_add(&s, 5, edges);
	pw_softswitch_add(&s, 0, NULL);
	pw_softswitch_add(&s, 2, edges + 1);
	pw_softswitch_loaded(&s, 0, out, sizeof(out));
	pw_poets_log_init(&log);
	while (size >= 2) {
		size_t len = min_t(size_t, data[0] % 70, size - 2), n;
		enum pw_softswitch_state before = s.state;
		struct pw_softswitch_delivery d;
		enum pw_softswitch_verdict v;
		struct pw_softswitch_rx rx;
		struct pw_poets_pkt p;
		u32 c[PW_POETS_C_COUNT], looked = 0;
		u8 pkt[70];
		int r;

		now += data[1];
		memcpy(pkt, data + 2, len);
		data += 2 + len;
		size -= 2 + len;

		r = pw_poets_parse(pkt, len, &p);
		check((r == 0) == (len >= 8 && len <= 64));
		if (!r) {
			n = pw_poets_build(out, sizeof(out), p.sw_addr, p.pin_addr, p.payload,
					   p.len);
			check(n == len && !memcmp(out, pkt, len));
			check(pw_poets_flits(p.len) == (len + 15) / 16);
			check(pw_poets_sw_addr(p.sw_addr >> 31, p.sw_addr >> 30 & 1,
					       pw_poets_task(p.sw_addr),
					       pw_poets_opcode(p.sw_addr),
					       pw_poets_device(p.sw_addr)) == p.sw_addr);
			check(pw_poets_pin_addr(pw_poets_pin(p.pin_addr),
						pw_poets_edge(p.pin_addr)) == p.pin_addr);
			check(pw_poets_mothership(p.sw_addr) < PW_POETS_MS_COUNT);
			r = pw_poets_log_add(&log, p.payload, p.len);
			check(log.left < PW_POETS_LOG_FRAGS && log.len <= PW_POETS_LOG_MAX);
			check(log.lost - lost <= 1 && (r == 1 ? !log.left : r == 0 ? log.left :
						       log.lost == lost + 1));
			lost = log.lost;
			r = pw_poets_instr_parse(p.payload, p.len, c);
			if (r > 0) {
				check(pw_poets_instr_build(out, c,
							   r == PW_POETS_C_COUNT) == p.len &&
				      !memcmp(out, p.payload, p.len));
			}
		}

		v = pw_softswitch_input(&s, now, pkt, len, &rx);
		check((v == PW_SOFTSWITCH_DROP) == (rx.drop != PW_SOFTSWITCH_OK));
		check(v != PW_SOFTSWITCH_RELEASED || (before == PW_SOFTSWITCH_BARRIER &&
						      s.state == PW_SOFTSWITCH_RUNNING));
		check(v != PW_SOFTSWITCH_STOP || s.state == PW_SOFTSWITCH_STOPPED);
		check(v == PW_SOFTSWITCH_RELEASED || v == PW_SOFTSWITCH_STOP || s.state == before);
		logged += rx.log;
		while (pw_softswitch_next(&s, now, &rx, &d)) {
			check(before == PW_SOFTSWITCH_RUNNING && v == PW_SOFTSWITCH_DELIVER);
			check(++looked <= s.devices && d.device < s.devices);
			check((d.handler == PW_SOFTSWITCH_H_NONE) == (d.drop != PW_SOFTSWITCH_OK));
			if (d.handler == PW_SOFTSWITCH_H_PIN)
				check(d.pin < s.device[d.device].pins &&
				      d.edge < s.edges[s.device[d.device].first_pin + d.pin]);
			logged += d.log;
		}
		check((v == PW_SOFTSWITCH_DELIVER) == (looked > 0));
		check(logged <= div_u64(now, 1000) + 3);
		if (pw_softswitch_report_due(&s, now)) {
			n = pw_softswitch_report(&s, now, now, now & 1, out, sizeof(out));
			check((n == 48 || n == 64) && !pw_softswitch_report_due(&s, now));
		}
		if (s.state == PW_SOFTSWITCH_STOPPED) {
			pw_softswitch_reset(&s);
			pw_softswitch_add(&s, 1, edges + 4);
			pw_softswitch_loaded(&s, now, out, sizeof(out));
		}
	}
	return 0;
}
