// SPDX-License-Identifier: GPL-2.0
/*
 * ERR packets: what a source is told about a message that went wrong. Rate
 * limited, never in answer to an ERR or to a broadcast, only to a source that
 * gave its address.
 */
#include "pw_priv.h"

/* as much of an offending message as is sent back */
#define PW_ERR_QUOTE_MAX 256

/* one record that is all header: ADDR of one node, or MTUR */
static void pw_err_record(u8 *p, u8 type, u32 value)
{
	p[0] = type;
	put_unaligned_be32(value, p + 4);
}

/**
 * pw_err_wanted - may this message be answered with an ERR?
 * @skb: the message as it was met, at its first prefix or header
 * @v: gets its fields
 *
 * Return: false for a message without a source, ERRs and broadcasts.
 */
bool pw_err_wanted(struct sk_buff *skb, struct pw_eep_view *v)
{
	int err;

	/* the fields count even if the message was refused behind them */
	do {
		err = pw_eep_parse_head(skb->data, skb_headlen(skb), skb->len, v);
	} while (err == -EAGAIN && pskb_may_pull(skb, v->need));
	return v->hdr_seen && pw_eep_may_answer(v);
}

/**
 * pw_err_build - make an ERR
 * @skb: the message that went wrong; not consumed
 * @v: its fields
 * @te: which error
 * @sa: who answers
 * @mtu: for TOOBIG: what would have passed, in bytes
 * @with_dst: for TOOBIG: say which destination it is about
 *
 * Return: the message, or NULL without memory.
 */
struct sk_buff *pw_err_build(struct sk_buff *skb, const struct pw_eep_view *v, u16 te, u32 sa,
			     u32 mtu, bool with_dst)
{
	struct pw_eep_hdr hdr = {
		.pt = PW_PT_ERR, .te = te, .sa = sa, .dt = v->sa, .p = v->p,
	};
	struct sk_buff *err;
	u8 *body;

	switch (te) {
	case PW_TE_ERR_UNK:
		hdr.data_len = 8;
		break;
	case PW_TE_ERR_TOOBIG:
		hdr.data_len = with_dst ? 16 : 8;
		break;
	default:
		hdr.data_len = min_t(u32, skb->len, PW_ERR_QUOTE_MAX);
		break;
	}

	err = pw_msg_new(&hdr, &body);
	if (!err)
		return NULL;
	switch (te) {
	case PW_TE_ERR_UNK:
		pw_err_record(body, PW_RRP_ADDR, PW_RRP_AT_SINGLE << 24 | v->dt);
		break;
	case PW_TE_ERR_TOOBIG:
		pw_err_record(body, PW_RRP_MTUR, mtu / 8);
		if (with_dst)
			pw_err_record(body + 8, PW_RRP_ADDR, PW_RRP_AT_SINGLE << 24 | v->dt);
		break;
	default:
		if (skb_copy_bits(skb, 0, body, hdr.data_len)) {
			kfree_skb(err);
			return NULL;
		}
		break;
	}
	return err;
}

/**
 * pw_err_answer - tell the source of a message what went wrong
 * @st: station that answers
 * @skb: the message as it was met, at its first prefix or header; not consumed
 * @te: which error
 *
 * BH off, RCU held.
 */
void pw_err_answer(struct pw_station *st, struct sk_buff *skb, u16 te)
{
	struct pw_eep_view v;
	struct sk_buff *err;

	if (!pw_err_wanted(skb, &v))
		return;
	if (!__ratelimit(&st->err_limit)) {
		pw_count(st, PW_STAT_ERR_LIMITED);
		return;
	}
	err = pw_err_build(skb, &v, te, st->addr, READ_ONCE(st->dev->mtu), false);
	if (!err)
		return;
	if (pw_send_own(st, err))
		pw_count(st, PW_STAT_ERR_SENT);
}
