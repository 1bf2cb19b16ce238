// SPDX-License-Identifier: GPL-2.0
/* POETS packets: two little-endian words and at most 56 bytes. */
#include "poets.h"

/**
 * pw_poets_parse - read a packet
 * @buf: the packet
 * @len: bytes of it
 * @p: what it says; the payload stays in @buf
 *
 * Return: 0, or -EINVAL where it is shorter than a header or longer than 4 flits.
 */
int pw_poets_parse(const void *buf, size_t len, struct pw_poets_pkt *p)
{
	const u8 *b = buf;

	if (len < PW_POETS_HDR_LEN || len > PW_POETS_PKT_MAX)
		return -EINVAL;
	p->sw_addr = get_unaligned_le32(b);
	p->pin_addr = get_unaligned_le32(b + 4);
	p->payload = b + PW_POETS_HDR_LEN;
	p->len = len - PW_POETS_HDR_LEN;
	return 0;
}

/**
 * pw_poets_build - write a packet
 * @buf: where to
 * @size: room there
 * @sw_addr: software address
 * @pin_addr: pin address
 * @payload: payload
 * @len: bytes of it
 *
 * Return: bytes written, or 0 where it does not fit.
 */
size_t pw_poets_build(void *buf, size_t size, u32 sw_addr, u32 pin_addr, const void *payload,
		      size_t len)
{
	u8 *b = buf;

	if (len > PW_POETS_MAX_PAYLOAD || size < PW_POETS_HDR_LEN + len)
		return 0;
	put_unaligned_le32(sw_addr, b);
	put_unaligned_le32(pin_addr, b + 4);
	if (len)
		memcpy(b + PW_POETS_HDR_LEN, payload, len);
	return PW_POETS_HDR_LEN + len;
}

/**
 * pw_poets_mothership - what a mothership does with a packet
 * @sw_addr: its software address
 *
 * Return: whose it is.
 */
enum pw_poets_ms pw_poets_mothership(u32 sw_addr)
{
	switch (pw_poets_kind(sw_addr)) {
	case PW_POETS_KIND_EXTERNAL:
		return PW_POETS_MS_EXTERNAL;
	case PW_POETS_KIND_SUPERVISOR:
		break;
	default:
		return PW_POETS_MS_FOREIGN;
	}
	switch (pw_poets_opcode(sw_addr)) {
	case PW_POETS_OP_INSTR:
	case PW_POETS_OP_LOG:
	case PW_POETS_OP_BARRIER:
	case PW_POETS_OP_STOP:
	case PW_POETS_OP_KILL:
		return PW_POETS_MS_COMMAND;
	default:
		return pw_poets_device(sw_addr) ? PW_POETS_MS_BAD : PW_POETS_MS_SUPERVISOR;
	}
}

/**
 * pw_poets_log_fragments - packets that a log message takes
 * @len: bytes of text; what is above PW_POETS_LOG_MAX is cut off
 *
 * Return: 1..4.
 */
unsigned int pw_poets_log_fragments(size_t len)
{
	if (!len)
		return 1;
	len = min_t(size_t, len, PW_POETS_LOG_MAX);
	return (len + PW_POETS_LOG_BYTES - 1) / PW_POETS_LOG_BYTES;
}

/**
 * pw_poets_log_build - write one packet of a log message
 * @buf: where to
 * @size: room there
 * @device: who logs, as pinAddr
 * @text: the whole message
 * @len: bytes of it
 * @nth: which fragment, from 0
 *
 * Return: bytes written, or 0 where there is no such fragment or no room.
 */
size_t pw_poets_log_build(void *buf, size_t size, u16 device, const char *text, size_t len,
			  unsigned int nth)
{
	unsigned int frags = pw_poets_log_fragments(len);
	u8 payload[PW_POETS_MAX_PAYLOAD];
	size_t off = (size_t)nth * PW_POETS_LOG_BYTES;
	size_t n;

	if (nth >= frags)
		return 0;
	n = min_t(size_t, len - off, PW_POETS_LOG_BYTES);
	payload[0] = frags - 1 - nth;
	if (n)
		memcpy(payload + 1, text + off, n);
	return pw_poets_build(buf, size, PW_POETS_SW_LOG, device, payload, 1 + n);
}

/**
 * pw_poets_instr_build - write an instrumentation payload
 * @payload: where to; 56 bytes of room
 * @c: PW_POETS_C_COUNT counters
 * @extended: all of them; otherwise the basic ones
 *
 * Return: bytes written, 40 or 56.
 */
size_t pw_poets_instr_build(u8 *payload, const u32 *c, bool extended)
{
	unsigned int i, n = extended ? PW_POETS_C_COUNT : PW_POETS_C_BASIC;

	BUILD_BUG_ON(4 * PW_POETS_C_COUNT != PW_POETS_MAX_PAYLOAD);
	for (i = 0; i < n; i++)
		put_unaligned_le32(c[i], payload + 4 * i);
	return 4 * n;
}
