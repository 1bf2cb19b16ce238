// SPDX-License-Identifier: GPL-2.0
/*
 * What the fuzzer puts on a wire: EEP messages with CRCs that are right, made by the
 * module's own encoder, with RRP, ESP, POETS, IP or given bytes inside, and trunk
 * packets, sealed as the module seals them. Defects are made afterwards, by the caller.
 */
#include <openssl/evp.h>

#include "eep.h"
#include "poets.h"
#include "reduce.h"
#include "rrp.h"
#include "fuzz.h"

enum {
	BODY_BLOB, BODY_RRP_NODE, BODY_RRP_ADDR, BODY_RRP_TABLE, BODY_RRP_DOWN, BODY_ESP, BODY_POETS,
	BODY_IPV4, BODY_IPV6, BODY_EMBEDDED, BODY_RRP_RDRC, BODY_FILL,
	BODY_REDUCE,
};

static uint32_t addr_of(uint64_t v)
{
	return v & PW_ADDR_MASK;
}

/* a routing table as a half-router at @s->sa announces it */
static void put_table(struct pw_rrp_buf *b, const struct frame_spec *s)
{
	static const u8 hop[8] = { 0, 0x81, 1 };
	uint32_t first = addr_of(s->b) & ~0xffU, n = 1 + s->a % 5, i;

	pw_rrp_put_rthd(b, (s->a >> 8 & 7) * 256, s->a >> 16 & 0xffff);
	for (i = 0; i < n; i++) {
		pw_rrp_put_addr(b, PW_RRP_AT_MIN, first + 256 * i + 1, first + 256 * i + 16);
		pw_rrp_put_srqr(b, s->a >> 32, hop, s->a >> 56 & 1 ? sizeof(hop) : 0);
		pw_rrp_put_mtur(b, s->b >> 40 & 0xffff);
		if (s->a >> 57 & 1) {
			struct pw_rrp_entry e = { PW_RRP_AT_SINGLE, addr_of(s->b >> 24) };

			pw_rrp_put_entries(b, PW_RRP_RCVF, &e, 1);
		}
		pw_rrp_end_addr(b);
	}
}

static int put_rrp(uint8_t *d, int cap, const struct frame_spec *s)
{
	static const u8 params[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct pw_rrp_capa capa = { s->a >> 8, s->a >> 16 & 7, params };
	struct pw_rrp_entry ladr = { PW_RRP_AT_SINGLE, PW_ADDR_LOGICAL_MIN | (s->b & 15) };
	struct pw_rrp_node node = {
		.addr = addr_of(s->a >> 24 ? s->b : s->sa), .name = (const char *)s->blob,
		.name_len = s->blen, .capa = &capa, .ncapa = s->a & 1,
		.ladr = &ladr, .nladr = s->a >> 1 & 1,
	};
	struct pw_rrp_buf b;

	pw_rrp_buf_init(&b, d, cap);
	switch (s->body) {
	case BODY_RRP_NODE:
		pw_rrp_put_node(&b, &node);
		break;
	case BODY_RRP_ADDR:
		pw_rrp_put_addr(&b, 1 + 2 * (s->a & 1), addr_of(s->b), addr_of(s->b >> 24));
		if (s->a & 2)
			pw_rrp_end_addr(&b);
		if (s->a & 4)
			pw_rrp_put_capa(&b, capa.code, params, capa.nparams);
		if (s->blen)
			pw_rrp_put_name(&b, (const char *)s->blob, s->blen);
		break;
	case BODY_RRP_TABLE:
		put_table(&b, s);
		break;
	case BODY_RRP_RDRC:
		pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, addr_of(s->b), 0);
		pw_rrp_end_addr(&b);
		pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, addr_of(s->a), 0);
		break;
	default:
		pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, addr_of(s->b), 0);
		if (s->a & 1) {
			pw_rrp_end_addr(&b);
			pw_rrp_put_mtur(&b, s->a >> 8);
		}
	}
	cap = pw_rrp_buf_done(&b);
	return cap < 0 ? 0 : cap;
}

static int put_esp(uint8_t *d, const struct frame_spec *s)
{
	static const uint8_t n[] = { 1, 2, 2, 3, 4, 6 };
	int op = s->a % 7, fields = op < 6 ? n[op] : 1, i;

	memset(d, 0, 64);
	d[0] = s->a >> 8;
	d[1] = op;
	d[3] = 1 + 2 * fields;
	d[7] = (s->a >> 16) % 8;
	for (i = 0; i < fields; i++) {
		/* few tags, so that packets meet */
		d[8 + 8 * i + 7] = s->b >> (8 * i) & 7;
		if (s->a >> (24 + i) & 1)
			memcpy(d + 8 + 8 * i, &s->b, 6);
	}
	return 8 + 8 * fields;
}

/* a request or an answer of reductions; few numbers, so that they meet */
static int put_reduce(uint8_t *d, const struct frame_spec *s)
{
	struct pw_reduce_msg m = {
		.id = { .born = 1 + (s->a & 1), .seq = s->a >> 8 & 3 },
		.cmd = { .op = 1 + (s->a >> 16) % 8, .mods = s->a >> 20 & 3, .reg = s->a >> 24 & 15,
			 .comparand = s->b },
		.hops = s->a >> 32 & 63, .n = 1 + (s->a >> 40 & 3), .ms = 1 + (s->b & 63), .starter = s->sa,
	};
	struct pw_reduce_result r = {
		.err = s->a >> 16 & 3, .sans = s->b & 3, .missing = s->a >> 16 & 3 ? 1 + (s->b >> 8 & 3) : 0,
		.counter = s->b, .v1 = s->a, .v2 = s->b,
	};
	uint32_t sans[4] = { 0, 256, 512, 768 };

	if (s->te != PW_TE_REDUCE_ASK)
		return pw_reduce_put_answer(d, &m.id, &r);
	if (s->a & 2)
		sans[3] = addr_of(s->b);
	return pw_reduce_put_request(d, &m, sans);
}

static int put_ip(uint8_t *d, const struct frame_spec *s, bool six)
{
	int len = 20 + s->len % 600, udp = six ? 40 : 20, i;
	uint32_t sum = 0;

	memset(d, 0, len + 40);
	if (six) {
		d[0] = 0x60;
		d[4] = (len >> 8);
		d[5] = len;
		d[6] = 17;
		d[7] = 64;
		d[8] = d[24] = 0xfe;
		d[9] = d[25] = 0x80;
		d[23] = s->a;
		d[39] = s->b;
		len += 40;
	} else {
		d[0] = 0x45;
		d[2] = len >> 8;
		d[3] = len;
		d[6] = s->a >> 40;	/* fragments */
		d[7] = s->a >> 48;
		d[8] = 64;
		d[9] = s->a & 0x100 ? 1 : 17;
		memcpy(d + 12, (uint8_t []) { 10, 9, 0, s->a }, 4);
		memcpy(d + 16, (uint8_t []) { 10, 9, 0, s->b }, 4);
		for (i = 0; i < 20; i += 2)
			sum += d[i] << 8 | d[i + 1];
		sum = (sum & 0xffff) + (sum >> 16);
		sum = (sum & 0xffff) + (sum >> 16);
		d[10] = ~sum >> 8;
		d[11] = ~sum;
	}
	d[udp + 2] = 0x1b;	/* a trunk's port: 7000 ... */
	d[udp + 3] = 0x58 + (s->b >> 8 & 3);
	d[udp + 4] = (len - udp) >> 8;
	d[udp + 5] = len - udp;
	return len;
}

static int put_body(uint8_t *d, int cap, const struct frame_spec *s)
{
	int n = s->blen, i;

	switch (s->body) {
	case BODY_RRP_NODE: case BODY_RRP_ADDR: case BODY_RRP_TABLE: case BODY_RRP_DOWN: case BODY_RRP_RDRC:
		return put_rrp(d, cap, s);
	case BODY_ESP:
		return put_esp(d, s);
	case BODY_POETS:
		n = pw_poets_build(d, cap, s->a, s->b, s->blob, n < 56 ? n : 56);
		return n;
	case BODY_IPV4: case BODY_IPV6:
		return put_ip(d, s, s->body == BODY_IPV6);
	case BODY_EMBEDDED: {
		struct frame_spec in = *s;

		in.body = BODY_BLOB;
		in.pt = s->a;
		in.te = s->a >> 16;
		in.dt = addr_of(s->b);
		in.sa = s->a >> 32 ? addr_of(s->b >> 24) : s->sa;
		in.opts = 0;
		return frame_build(d, &in);
	}
	case BODY_REDUCE:
		return put_reduce(d, s);
	case BODY_FILL:
		n = s->len % (cap - 1);
		for (i = 0; i < n; i++)
			d[i] = s->a + i * s->b;
		return n;
	default:
		memcpy(d, s->blob, n);
		return n;
	}
}

/* what stands in front, of at most 64 bytes: nothing, or L2RHs and symbols, two bits for each of four */
int prefix_build(uint8_t *out, uint8_t prefix, uint64_t b)
{
	uint8_t route[4] = { b & 7, b >> 8 & 15, b >> 16 & 15, b >> 24 & 15 };
	int n = 0, i, k, r;

	for (i = 0; i < 8; i += 2) {
		k = prefix >> i & 3;
		r = 0;
		if (k == 1)
			r = pw_eep_put_l2rh(out + n, 64, route, 1);
		else if (k == 2)
			r = pw_eep_put_l2rh(out + n, 64, route, 3);	/* as SANs have them */
		else if (k == 3)
			r = pw_eep_put_symbol(out + n, 64, 1 + (b >> i) % 4, route, i / 2);
		if (r > 0)
			n += r;
	}
	return n;
}

/**
 * frame_build - an EEP message
 * @out: FUZZ_FRAME bytes
 * @s: what is in it
 *
 * Return: its length.
 */
int frame_build(uint8_t *out, const struct frame_spec *s)
{
	static const uint8_t zeros[24];
	uint8_t body[2048] = {}, sum[8];
	struct pw_eep_hdr h = {
		.dt = s->dt, .sa = s->sa, .te = s->te, .pt = s->pt, .p = s->p & 63, .e = s->e & 15,
		.h = s->opts != 0,
	};
	struct pw_eep_crc crc;
	int n, i, last, len;

	len = put_body(body, sizeof(body) - 256, s);
	h.data_len = len;
	n = prefix_build(out, s->prefix, s->b);
	i = pw_eep_build_header(&h, out + n, FUZZ_FRAME - n);
	if (i < 0) {
		/* an address or endianness that the encoder refuses: made good, then bad */
		h.dt = 1;
		h.sa = 1;
		h.e = 0;
		h.p = 0;
		i = pw_eep_build_header(&h, out + n, FUZZ_FRAME - n);
		if (i < 0)
			return 0;
		out[n + 1] = s->dt >> 16;
		out[n + 2] = s->dt >> 8;
		out[n + 3] = s->dt;
		out[n + 8] = (out[n + 8] & 15) | s->e << 4;
		out[n + 13] = s->sa >> 16;
		out[n + 14] = s->sa >> 8;
		out[n + 15] = s->sa;
	}
	n += i;
	last = 31 - __builtin_clz(s->opts | 1);
	for (i = 0; i < 8; i++)
		if (s->opts >> i & 1)
			n += pw_eep_put_opt(out + n, FUZZ_FRAME - n, i, s->b >> i & 1, i == last, zeros,
					    i == 3 ? 8 : i == 4 ? 4 * (s->b >> 8 & 3) : 0);
	memcpy(out + n, body, (len + 7) & ~7);
	n += (len + 7) & ~7;
	pw_eep_crc_init(&crc, s->opts);
	pw_eep_crc_update(&crc, body, len);
	for (i = 1; i < 3; i++)
		if (s->opts >> i & 1) {
			pw_eep_crc_put(&crc, i, sum);
			n += pw_eep_put_opt(out + n, FUZZ_FRAME - n, i, false, i == 2 || !(s->opts & 4), sum,
					    4 * i);
		}
	n += pw_eep_put_tail(out + n, FUZZ_FRAME - n, s->opts & 0x80 ? s->a : 0);
	return n;
}

/* --- trunk packets ------------------------------------------------------------- */

void fuzz_key(uint8_t key[32])
{
	int i;

	for (i = 0; i < 32; i++)
		key[i] = i * 7 + 1;
}

static void quarter(uint32_t *x, int a, int b, int c, int d)
{
#define ROT(v, n) ((v) << (n) | (v) >> (32 - (n)))
	x[a] += x[b]; x[d] = ROT(x[d] ^ x[a], 16);
	x[c] += x[d]; x[b] = ROT(x[b] ^ x[c], 12);
	x[a] += x[b]; x[d] = ROT(x[d] ^ x[a], 8);
	x[c] += x[d]; x[b] = ROT(x[b] ^ x[c], 7);
}

/* the key of a nonce's first 16 bytes */
static void hchacha(uint8_t out[32], const uint8_t key[32], const uint8_t nonce[16])
{
	uint32_t x[16] = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574 };
	int i;

	memcpy(x + 4, key, 32);
	memcpy(x + 12, nonce, 16);
	for (i = 0; i < 10; i++) {
		quarter(x, 0, 4, 8, 12);
		quarter(x, 1, 5, 9, 13);
		quarter(x, 2, 6, 10, 14);
		quarter(x, 3, 7, 11, 15);
		quarter(x, 0, 5, 10, 15);
		quarter(x, 1, 6, 11, 12);
		quarter(x, 2, 7, 8, 13);
		quarter(x, 3, 4, 9, 14);
	}
	memcpy(out, x, 16);
	memcpy(out + 16, x + 12, 16);
}

static int crypt(bool seal, uint8_t *out, const uint8_t *hdr, const uint8_t *in, int len)
{
	static const uint8_t nonce[12];		/* the rest of the nonce is zeros */
	uint8_t key[32], sub[32];
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	int n, ok;

	fuzz_key(key);
	hchacha(sub, key, hdr + 8);
	ok = c && EVP_CipherInit_ex(c, EVP_chacha20_poly1305(), NULL, sub, nonce, seal);
	if (ok && !seal)
		ok = EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, 16, (void *)(in + len));
	ok = ok && EVP_CipherUpdate(c, NULL, &n, hdr, 32) && EVP_CipherUpdate(c, out, &n, in, len) &&
	     EVP_CipherFinal_ex(c, out + len, &n);
	if (ok && seal)
		ok = EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, out + len);
	EVP_CIPHER_CTX_free(c);
	return ok ? 0 : -1;
}

/* @out has room for header, payload and tag; the length of the packet */
int trunk_seal(uint8_t *out, const uint8_t *hdr, const uint8_t *payload, int len, bool keyed)
{
	memcpy(out, hdr, 32);
	if (!keyed) {
		memcpy(out + 32, payload, len);
		return 32 + len;
	}
	out[3] |= 2;
	return crypt(true, out + 32, out, payload, len) ? 0 : 32 + len + 16;
}

/* the payload; its length, or -1 */
int trunk_unseal(uint8_t *out, const uint8_t *pkt, int len)
{
	if (len < 32 || pkt[0] != 'P')
		return -1;
	len -= 32;
	if (!(pkt[3] & 2)) {
		memcpy(out, pkt + 32, len);
		return len;
	}
	len -= 16;
	return len < 0 || crypt(false, out, pkt, pkt + 32, len) ? -1 : len;
}
