// SPDX-License-Identifier: GPL-2.0
/*
 * ESP packets from nowhere at a small node. The input is a row of packets, each
 * after a byte of length and a byte of time.
 */
#include "esp.h"

#define CAP 16

static void check(bool good)
{
	if (!good)
		__builtin_trap();
}

struct snap {
	u32 n;
	u64 row[CAP][3];
};

static void snapshot(struct pw_esp_store *st, u64 now, struct snap *s)
{
	u64 left;

	memset(s, 0, sizeof(*s));
	while (s->n < CAP &&
	       pw_esp_store_peek(st, now, s->n, &s->row[s->n][0], &s->row[s->n][1], &left)) {
		s->row[s->n][2] = left;
		check(left && left <= st->lifetime);
		s->n++;
	}
	check(s->n == pw_esp_store_live(st, now) && st->used <= CAP);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const siphash_key_t key = { { 1, 2 } };
	static u64 mem[CAP * 8];
	struct pw_esp_store st;
	struct pw_esp_node node = { .store = &st, .id = 5 };
	struct snap before, after;
	u64 now = 0;

	if (pw_esp_store_init(&st, mem, sizeof(mem), CAP, 300, &key))
		return 0;
	while (size >= 2) {
		size_t len = min_t(size_t, data[0], size - 2);
		struct pw_esp_insn in, again;
		struct pw_esp_result res;
		enum pw_esp_reason r;
		u8 buf[256], orig[256];
		bool reflected;

		now += data[1] & 0x7f;
		node.router = data[1] >> 7;
		memcpy(buf, data + 2, len);
		memcpy(orig, buf, len);
		data += 2 + len;
		size -= 2 + len;

		r = pw_esp_parse(buf, len, &in);
		check(!memcmp(buf, orig, len));
		if (r == PW_ESP_R_OK) {
			u8 out[PW_ESP_LEN_MAX];
			size_t n = pw_esp_build(out, sizeof(out), &in);

			check(n && n <= len && !memcmp(out, orig, n));
		}

		snapshot(&st, now, &before);
		pw_esp_node_input(&node, now, buf, len, &res);
		snapshot(&st, now, &after);
		check(res.verdict < PW_ESP_V_COUNT && res.reason < PW_ESP_R_COUNT &&
		      res.opcode < PW_ESP_OPCODES);
		switch (res.verdict) {
		case PW_ESP_V_DROP:
			check(len < PW_ESP_HDR_LEN);
			fallthrough;
		case PW_ESP_V_PASS:
			check(!memcmp(buf, orig, len) && !memcmp(&before, &after, sizeof(before)));
			break;
		case PW_ESP_V_ABORT:
			check(!memcmp(&before, &after, sizeof(before)));
			check(buf[0] == ((orig[0] | PW_ESP_ERROR) & ~PW_ESP_EXECUTE));
			check(!memcmp(buf + 1, orig + 1, len - 1) && res.reason != PW_ESP_R_OK);
			break;
		default:
			check(r == PW_ESP_R_OK && after.n >= before.n);
			check(after.n - before.n <= PW_ESP_TXN_MAX && buf[0] == orig[0]);
			check(pw_esp_parse(buf, len, &again) == PW_ESP_R_OK);
			for (int f = 0; f < PW_ESP_F_COUNT; f++)
				check(res.changed & BIT(f) || in.f[f] == again.f[f]);
			check(res.verdict == PW_ESP_V_FORWARD || !memcmp(buf, orig, len));
			/* what was there is there still, with the same age */
			for (u32 i = 0; i < before.n; i++)
				check(before.row[i][0] == after.row[i][0] &&
				      before.row[i][2] == after.row[i][2]);
		}
		memcpy(orig, buf, len);
		reflected = pw_esp_reflect(buf, len);
		check(!reflected || (len >= PW_ESP_HDR_LEN && !(buf[0] & PW_ESP_REFLECT)));
		check(reflected || !memcmp(buf, orig, len));
	}
	return 0;
}
