// SPDX-License-Identifier: GPL-2.0
/* ESP: what tools and tests use and the module does not. */
#include "esp.h"

const char *const pw_esp_field_name[PW_ESP_F_COUNT] = {
	[PW_ESP_F_TAG] = "tag",
	[PW_ESP_F_THRESH] = "thresh",
	[PW_ESP_F_VAL] = "val",
	[PW_ESP_F_VAL_TAG] = "valTag",
	[PW_ESP_F_CNT_TAG] = "cntTag",
	[PW_ESP_F_SIB_TAG] = "sibTag",
	[PW_ESP_F_FWD_TAG] = "fwdTag",
	[PW_ESP_F_FWD_THRESH] = "fwdThresh",
	[PW_ESP_F_COMP_TAG] = "compTag",
	[PW_ESP_F_PKT_ID] = "pktId",
};

const char *const pw_esp_reason_name[PW_ESP_R_COUNT] = {
	[PW_ESP_R_OK] = "ok",
	[PW_ESP_R_SHORT] = "short",
	[PW_ESP_R_LOCATION] = "location",
	[PW_ESP_R_OPCODE] = "opcode",
	[PW_ESP_R_LENGTH] = "length",
	[PW_ESP_R_OPERATOR] = "operator",
	[PW_ESP_R_STATE] = "state",
	[PW_ESP_R_FULL] = "full",
	[PW_ESP_R_READONLY] = "read-only",
};

const char *const pw_esp_verdict_name[PW_ESP_V_COUNT] = {
	[PW_ESP_V_PASS] = "pass",
	[PW_ESP_V_FORWARD] = "forward",
	[PW_ESP_V_DISCARD] = "discard",
	[PW_ESP_V_ABORT] = "abort",
	[PW_ESP_V_DROP] = "drop",
};

/**
 * pw_esp_build - write a packet
 * @buf: where to
 * @size: room there
 * @in: what it says
 *
 * Return: bytes written, or 0 where @in is not an instruction or does not fit.
 */
size_t pw_esp_build(void *buf, size_t size, const struct pw_esp_insn *in)
{
	const struct pw_esp_desc *d;
	u8 *p = buf;
	unsigned int i;
	size_t len;

	if (!in->opcode || in->opcode >= PW_ESP_OPCODES)
		return 0;
	d = &pw_esp_desc[in->opcode];
	len = PW_ESP_HDR_LEN + 4 + 8 * d->n;
	if (size < len || !pw_esp_op_valid(d->op_kind, in->op) ||
	    FIELD_GET(PW_ESP_LOC_MASK, in->ctl) > PW_ESP_LOC_ENDS)
		return 0;
	p[0] = in->ctl;
	p[1] = in->opcode;
	put_unaligned_be16(1 + 2 * d->n, p + 2);
	put_unaligned_be32(in->op, p + PW_ESP_HDR_LEN);
	for (i = 0; i < d->n; i++)
		put_unaligned_be64(in->f[d->field[i]], p + PW_ESP_HDR_LEN + 4 + 8 * i);
	return len;
}

/**
 * pw_esp_store_next_expiry - when the oldest binding in memory goes
 * @st: the store
 *
 * Return: the time at which it expires (it may be past), or U64_MAX if there is
 * none.
 */
u64 pw_esp_store_next_expiry(const struct pw_esp_store *st)
{
	u64 born;

	if (!st->used)
		return U64_MAX;
	born = pw_esp_at(st, st->head)->born;
	if (born < st->ended)
		return st->now;
	return born > U64_MAX - st->lifetime ? U64_MAX : born + st->lifetime;
}

/**
 * pw_esp_store_last_expiry - when the youngest binding in memory goes
 * @st: the store
 *
 * From then on the store is empty unless something is put into it, and its
 * owner may give back all of its memory.
 *
 * Return: the time (it may be past), or 0 if there is nothing.
 */
u64 pw_esp_store_last_expiry(const struct pw_esp_store *st)
{
	u64 born;

	if (!st->used)
		return 0;
	born = pw_esp_at(st, pw_esp_ring_index(st, st->used - 1))->born;
	if (born < st->ended)
		return st->now;
	return born > U64_MAX - st->lifetime ? U64_MAX : born + st->lifetime;
}

/**
 * pw_esp_store_get - read one tag
 * @st: the store
 * @now: time
 * @tag: the tag
 * @val: its value, 0 where there is none
 *
 * Return: whether there is one.
 */
bool pw_esp_store_get(struct pw_esp_store *st, u64 now, u64 tag, u64 *val)
{
	struct pw_esp_txn t;

	pw_esp_txn_begin(&t, st, now);
	return pw_esp_txn_get(&t, tag, val);
}

/**
 * pw_esp_store_put - write one tag
 * @st: the store
 * @now: time
 * @tag: the tag
 * @val: its value
 *
 * Return: 0, or -ENOSPC where the tag is new and does not fit.
 */
int pw_esp_store_put(struct pw_esp_store *st, u64 now, u64 tag, u64 val)
{
	struct pw_esp_txn t;

	pw_esp_txn_begin(&t, st, now);
	pw_esp_txn_put(&t, tag, val);
	return pw_esp_txn_commit(&t);
}
