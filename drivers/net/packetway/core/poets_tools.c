// SPDX-License-Identifier: GPL-2.0
/* POETS: what tools and tests use and the module does not. */
#include "poets.h"

const char *const pw_poets_counter_name[PW_POETS_C_COUNT] = {
	[PW_POETS_C_INDEX] = "index",
	[PW_POETS_C_CYCLES] = "cycles",
	[PW_POETS_C_RX] = "received",
	[PW_POETS_C_RX_HANDLERS] = "receive_handlers",
	[PW_POETS_C_TX] = "sent",
	[PW_POETS_C_TX_SUPERVISOR] = "to_supervisor",
	[PW_POETS_C_TX_HANDLERS] = "send_handlers",
	[PW_POETS_C_IDLE] = "idle",
	[PW_POETS_C_IDLE_HANDLERS] = "idle_handlers",
	[PW_POETS_C_BLOCKED] = "blocked",
	[PW_POETS_C_CACHE_MISSES] = "cache_misses",
	[PW_POETS_C_CACHE_HITS] = "cache_hits",
	[PW_POETS_C_CACHE_WRITEBACKS] = "cache_writebacks",
	[PW_POETS_C_CPU_IDLE] = "cpu_idle",
};

/**
 * pw_poets_flits - flits that a packet takes
 * @payload_len: bytes of payload
 *
 * Return: 1..4, or 0 where the payload does not fit into a packet.
 */
unsigned int pw_poets_flits(size_t payload_len)
{
	if (payload_len > PW_POETS_MAX_PAYLOAD)
		return 0;
	return (PW_POETS_HDR_LEN + payload_len - 1) / PW_POETS_FLIT + 1;
}

/**
 * pw_poets_parse_addressed - read a packet behind a hardware address
 * @buf: address and packet
 * @len: bytes of both
 * @hw_addr: the address
 * @p: the packet
 *
 * Return: 0 or -EINVAL.
 */
int pw_poets_parse_addressed(const void *buf, size_t len, u32 *hw_addr, struct pw_poets_pkt *p)
{
	const u8 *b = buf;

	if (len < PW_POETS_ADDRESSED_LEN)
		return -EINVAL;
	*hw_addr = get_unaligned_le32(b);
	return pw_poets_parse(b + PW_POETS_ADDRESSED_LEN, len - PW_POETS_ADDRESSED_LEN, p);
}

/**
 * pw_poets_build_addressed - write a packet behind a hardware address
 * @buf: where to
 * @size: room there
 * @hw_addr: the address
 * @sw_addr: software address
 * @pin_addr: pin address
 * @payload: payload
 * @len: bytes of it
 *
 * Return: bytes written, or 0 where it does not fit.
 */
size_t pw_poets_build_addressed(void *buf, size_t size, u32 hw_addr, u32 sw_addr, u32 pin_addr,
				const void *payload, size_t len)
{
	u8 *b = buf;
	size_t n;

	if (size < PW_POETS_ADDRESSED_LEN)
		return 0;
	n = pw_poets_build(b + PW_POETS_ADDRESSED_LEN, size - PW_POETS_ADDRESSED_LEN, sw_addr,
			   pin_addr, payload, len);
	if (!n)
		return 0;
	put_unaligned_le32(hw_addr, b);
	return PW_POETS_ADDRESSED_LEN + n;
}

/**
 * pw_poets_parse_debug - read a debug packet
 * @buf: the packet
 * @len: bytes of it
 * @origin: who sent it
 * @byte: what
 *
 * Return: 0 or -EINVAL.
 */
int pw_poets_parse_debug(const void *buf, size_t len, u32 *origin, u8 *byte)
{
	const u8 *b = buf;

	if (len != PW_POETS_DEBUG_LEN)
		return -EINVAL;
	*origin = get_unaligned_le32(b);
	*byte = b[4];
	return 0;
}

/**
 * pw_poets_build_debug - write a debug packet
 * @buf: where to
 * @size: room there
 * @origin: who sends it
 * @byte: what
 *
 * Return: bytes written, or 0 where it does not fit.
 */
size_t pw_poets_build_debug(void *buf, size_t size, u32 origin, u8 byte)
{
	u8 *b = buf;

	if (size < PW_POETS_DEBUG_LEN)
		return 0;
	put_unaligned_le32(origin, b);
	b[4] = byte;
	return PW_POETS_DEBUG_LEN;
}

/**
 * pw_poets_log_init - expect a message
 * @log: state of one source
 */
void pw_poets_log_init(struct pw_poets_log *log)
{
	log->left = 0;
	log->len = 0;
	log->lost = 0;
}

/**
 * pw_poets_log_add - take the payload of a log packet
 * @log: state of its source
 * @payload: payload
 * @len: bytes of it
 *
 * A fragment that does not continue the message under way begins a new one, the
 * old one is lost. All fragments but the last are full.
 *
 * Return: 1 when the message is complete (it stays in @log->text, @log->len
 * bytes, until the next call), 0 when more must come, -EINVAL where the fragment
 * is bad; nothing is under way then.
 */
int pw_poets_log_add(struct pw_poets_log *log, const u8 *payload, size_t len)
{
	u8 seq;

	if (!len || len > PW_POETS_MAX_PAYLOAD || payload[0] >= PW_POETS_LOG_FRAGS ||
	    (payload[0] && len != PW_POETS_MAX_PAYLOAD)) {
		log->lost++;
		log->left = 0;
		log->len = 0;
		return -EINVAL;
	}
	seq = payload[0];
	if (log->left && seq != log->left - 1) {
		log->lost++;
		log->left = 0;
	}
	if (!log->left)
		log->len = 0;
	/* sequence numbers fall from at most 3: the text always fits */
	memcpy(log->text + log->len, payload + 1, len - 1);
	log->len += len - 1;
	log->left = seq;
	return !seq;
}

/**
 * pw_poets_instr_parse - read an instrumentation payload
 * @payload: payload
 * @len: bytes of it, 40 or 56
 * @c: PW_POETS_C_COUNT counters; those that a short payload lacks are 0
 *
 * Return: number of counters it has, or -EINVAL.
 */
int pw_poets_instr_parse(const u8 *payload, size_t len, u32 *c)
{
	unsigned int i, n = len / 4;

	if (len != 4 * PW_POETS_C_BASIC && len != 4 * PW_POETS_C_COUNT)
		return -EINVAL;
	for (i = 0; i < PW_POETS_C_COUNT; i++)
		c[i] = i < n ? get_unaligned_le32(payload + 4 * i) : 0;
	return n;
}
