// SPDX-License-Identifier: GPL-2.0
/* libpacketway without a kernel: packets there and back, refusals, names. */
#include <errno.h>
#include <string.h>

#include "packetway.h"
#include "tap.h"

static unsigned long long seed = 1;

static unsigned long long rnd(void)
{
	return tap_rand(&seed);
}

static void addresses(void)
{
	static const char *const wrong[] = {
		"", "x", "1:2", "00:00:01x", "0x1000000", "-1", "1:2:3:4", NULL
	};
	char buf[PWL_ADDR_STRLEN];
	uint32_t a = 0;
	size_t i;
	int bad = 0;

	ok(!pwl_addr_parse("7f:ff:fe", &a) && a == 0x7ffffe, "address with colons");
	ok(!pwl_addr_parse("0x10", &a) && a == 16, "address as a number");
	ok(!strcmp(pwl_addr_str(0x010203, buf), "01:02:03"), "address to text");
	for (i = 0; wrong[i]; i++)
		bad += pwl_addr_parse(wrong[i], &a) != -EINVAL;
	ok(!bad, "wrong addresses are refused");
}

static void eep(void)
{
	static uint8_t buf[4096], data[2048];
	struct pwl_eep m = {}, r;
	const char *why = NULL;
	int round, bad = 0, flips = 0, caught = 0;
	ssize_t len;
	size_t i;

	for (round = 0; round < 2000; round++) {
		m = (struct pwl_eep) {
			.dst = 1 + rnd() % PW_ADDR_PHYS_MAX, .src = rnd() % PW_ADDR_PHYS_MAX,
			.pt = rnd(), .te = rnd(), .prio = rnd() % 64,
			.flags = rnd() % 8, .ei = rnd(), .data = data,
			.len = rnd() % sizeof(data),
		};
		for (i = 0; i < m.len; i++)
			data[i] = rnd();
		len = pwl_eep_build(&m, buf, sizeof(buf));
		if (len < 0 || len % 8 || pwl_eep_parse(buf, len, &r, NULL) || r.dst != m.dst ||
		    r.src != m.src || r.pt != m.pt || r.te != m.te || r.prio != m.prio ||
		    r.flags != m.flags || r.ei != m.ei || r.len != m.len || r.crc_bad ||
		    memcmp(r.data, data, m.len))
			bad++;
		if (len > 0 && pwl_eep_build(&m, buf, len - 1) != -ENOSPC)
			bad++;
		if (m.flags & (PWL_EEP_CRC32 | PWL_EEP_CRC64) && m.len) {
			flips++;
			((uint8_t *)r.data)[rnd() % m.len] ^= 1 << rnd() % 8;
			caught += !pwl_eep_parse(buf, len, &r, NULL) && r.crc_bad;
		}
	}
	ok(!bad, "2000 random messages come back as they were");
	ok(flips && flips == caught, "each of %d flipped bits is seen by a CRC", flips);
	ok(pwl_eep_parse(buf, 7, &r, &why) == -EBADMSG && why && *why, "what is no message is named");
	m.prio = 64;
	ok(pwl_eep_build(&m, buf, sizeof(buf)) == -EINVAL, "priority 64 is refused");
	m = (struct pwl_eep) { .dst = 2, .pt = 1500, .len = 1 };
	ok(pwl_eep_build(&m, buf, sizeof(buf)) == -EINVAL, "bytes without data are refused");
	m = (struct pwl_eep) { .dst = 0xc00000, .pt = 1500 };
	ok(pwl_eep_build(&m, buf, sizeof(buf)) == -EINVAL, "a reserved destination is refused");
	m = (struct pwl_eep) { .dst = 2, .pt = 1500, .route = data, .route_len = 3 };
	len = pwl_eep_build(&m, buf, sizeof(buf));
	ok(len == 32 && buf[1] == 0x83 && !memcmp(buf + 2, data, 3), "a route goes in front");
}

static void esp(void)
{
	struct pwl_esp e = {}, r;
	uint8_t buf[PWL_ESP_LEN_MAX];
	const char *why = NULL;
	int op, bad = 0;
	ssize_t len;

	for (op = PW_ESP_COUNT; op <= PW_ESP_RCOLLECT; op++) {
		e = (struct pwl_esp) { .ctl = PW_ESP_EXECUTE | PW_ESP_REFLECT, .opcode = op };
		e.op = op == PW_ESP_COMPARE ? PW_ESP_REL_LE : op == PW_ESP_COLLECT ||
		       op == PW_ESP_RCOLLECT ? PW_ESP_OP_MAX : 0;
		e.tag = op <= PW_ESP_COMPARE ? 0x1122334455667788 : 0;
		e.fwd_tag = op >= PW_ESP_RCHLD ? 99 : 0;
		e.val = op == PW_ESP_RCOLLECT ? 7 : 0;
		len = pwl_esp_build(&e, buf, sizeof(buf));
		if (len < 0 || pwl_esp_parse(buf, len, &r, NULL) || memcmp(&e, &r, sizeof(e)) ||
		    pwl_esp_build(&e, buf, len - 1) != -ENOSPC ||
		    pwl_esp_parse_name(pwl_esp_name(op)) != op)
			bad++;
	}
	ok(!bad, "every instruction comes back as it was");
	e.opcode = 6;
	ok(pwl_esp_build(&e, buf, sizeof(buf)) == -EINVAL, "opcode 6 is refused");
	ok(pwl_esp_parse(buf, 3, &r, &why) == -EBADMSG && why, "three bytes are no instruction");
	ok(pwl_esp_op_parse(PW_ESP_COMPARE, "ge") == PW_ESP_REL_GE &&
	   pwl_esp_op_parse(PW_ESP_COLLECT, "xor") == PW_ESP_OP_XOR &&
	   pwl_esp_op_parse(PW_ESP_COLLECT, "ge") == -EINVAL, "operators by name");
}

static void nodes(void)
{
	static struct pwl_node self, got[4];
	struct pwl_query q = {};
	uint8_t buf[4096];
	uint32_t more = 1;
	ssize_t len;
	int cut;

	self.addr = 0x101;
	strcpy(self.name, "printer2");
	self.ncapa = 2;
	self.capa[0].code = PW_CAPA_PRINTER;
	self.capa[1] = (struct pwl_capa) { .code = PW_CAPA_ESP, .len = 4, .param = { 0, 0, 1, 2 } };
	self.ngroups = 2;
	self.group[0] = (struct pwl_range) { 0xe00007, 0xe00007 };
	self.group[1] = (struct pwl_range) { 0xe00100, 0xe001ff };
	len = pwl_info_build(&self, buf, sizeof(buf));
	ok(len > 0 && pwl_nodes_parse(buf, len, got, 4, &more) == 1 && !more &&
	   !memcmp(&self, &got[0], sizeof(self)), "a description comes back as it was");
	for (cut = 0; cut < len; cut++)
		if (pwl_nodes_parse(buf, cut, got, 4, &more) > 0 || pwl_info_build(&self, buf + 2048, cut) > 0)
			break;
	ok(cut == len, "cut ones are refused, and buffers too small");
	ok(pwl_nodes_parse(buf, len, got, 0, &more) == -ENOSPC, "no room for a node");
	ok(pwl_node_fits(&self, &q), "no criterion: every node");
	q = (struct pwl_query) { .name = "printer2", .capability = PW_CAPA_ESP, .group = 0xe00180 };
	ok(pwl_node_fits(&self, &q), "all criteria fit");
	q.group = 0xe00200;
	ok(!pwl_node_fits(&self, &q), "but the group");
	q = (struct pwl_query) { .name = "printer" };
	ok(!pwl_node_fits(&self, &q), "the whole name");
	q = (struct pwl_query) { .capability = PW_CAPA_NFS };
	ok(!pwl_node_fits(&self, &q), "another capability");
	len = pwl_query_build(&q, 0x101, buf, sizeof(buf));
	ok(len == 24 && buf[0] == PW_RRP_ADDR && buf[16] == PW_RRP_CAPA && buf[20] == PW_CAPA_NFS,
	   "a question is a range with a criterion inside");
	ok(pwl_query_build(&q, 0x800000, buf, sizeof(buf)) == -EINVAL, "not from a group on");
	q.group = 5;
	ok(pwl_query_build(&q, 1, buf, sizeof(buf)) == -EINVAL, "a group that is none");
	self.group[0].last = 0xe00000;
	ok(pwl_info_build(&self, buf, sizeof(buf)) == -EINVAL, "a range the wrong way round");
	self.ngroups = 0;
	for (self.ncapa = 0; self.ncapa < PWL_CAPA_MAX; self.ncapa++)
		self.capa[self.ncapa] = (struct pwl_capa) { .code = 9, .len = 30 };
	ok(pwl_info_build(&self, buf, sizeof(buf)) == -EMSGSIZE, "more than half-routers take");
}

static void poets(void)
{
	struct pwl_poets p = { .payload = "payload", .len = 7 }, r;
	uint8_t buf[PWL_POETS_LEN_MAX];
	ssize_t len;

	p.sw_addr = pwl_poets_sw_addr(0, 1, 3, PW_POETS_OP_BARRIER, 0xffff);
	p.pin_addr = pwl_poets_pin_addr(5, 0x123456);
	len = pwl_poets_build(&p, buf, sizeof(buf));
	ok(len == 15 && !pwl_poets_parse(buf, len, &r) && r.sw_addr == p.sw_addr &&
	   r.pin_addr == p.pin_addr && r.len == 7 && !memcmp(r.payload, "payload", 7),
	   "a POETS packet comes back as it was");
	p.len = 57;
	ok(pwl_poets_build(&p, buf, sizeof(buf)) == -EINVAL, "57 bytes of payload are refused");
	ok(pwl_poets_parse(buf, 7, &r) == -EBADMSG, "7 bytes are no packet");
}

static void poets_logs(void)
{
	static const struct { int len, n; } rows[] = {
		{ 1, 1 }, { 55, 1 }, { 56, 2 }, { 110, 2 }, { 165, 3 }, { 220, 4 }, { 300, 4 },
	};
	struct packetway_poets_packet p[4];
	struct pwl_poets_log log = {};
	const char *text = NULL;
	char in[300];
	int i, k, n, got = 0;

	for (i = 0; i < (int)sizeof(in); i++)
		in[i] = 'a' + i % 26;
	for (i = 0; i < (int)(sizeof(rows) / sizeof(rows[0])); i++) {
		n = pwl_poets_log_build(7, in, rows[i].len, p);
		if (n != rows[i].n || p[0].sw_addr != PW_POETS_SW_LOG || p[0].pin_addr != 7)
			break;
		for (k = 0; k < n; k++) {
			got = pwl_poets_log_add(&log, p[k].payload, p[k].len, &text);
			if (!got != (k < n - 1))
				break;
		}
		if (k < n || got != (rows[i].len < 220 ? rows[i].len : 220) || memcmp(text, in, got))
			break;
	}
	ok(i == (int)(sizeof(rows) / sizeof(rows[0])), "log messages of 1 to 220 bytes, and longer ones cut");
	n = pwl_poets_log_build(7, in, 200, p);
	ok(n == 4 && !pwl_poets_log_add(&log, p[1].payload, p[1].len, &text) &&
	   pwl_poets_log_add(&log, p[3].payload, p[3].len, &text) == 35 &&
	   !memcmp(text, in + 165, 35), "what does not continue a message begins another one");
}

int main(void)
{
	struct pwl_sock *k;
	struct pwl *s;
	int op;

	addresses();
	eep();
	esp();
	nodes();
	poets();
	poets_logs();
	for (op = 1; op <= 18; op++)
		if (pwl_aton_op_name(op) && pwl_aton_op_parse(pwl_aton_op_name(op)) != op)
			break;
	ok(op == 19, "opcodes by name");
	ok(pwl_aton_op_parse("mul") == -EINVAL, "mul is none");
	ok(pwl_open(&s, "no-such-station") < 0 && !s, "a session with an unknown station");
	ok(pwl_sock_open(&k, "lo") < 0 && !k, "lo is not a station");
	return tap_done();
}
