// SPDX-License-Identifier: GPL-2.0
/*
 * Messages as buffers: made by the kernel, written to, turned around, stripped, and
 * quoted in an ERR. What is done with them is decided elsewhere.
 */
#include <linux/if_ether.h>

#include "pw_priv.h"

/* as much of an offending message as is sent back */
#define PW_ERR_QUOTE_MAX 256

/**
 * pw_skb_new - a message made by the kernel, of no device yet
 * @hdr: its header fields
 * @body: where the data block begins
 *
 * Return: an skb with header, zeroed data block and TAIL, or NULL.
 */
struct sk_buff *pw_skb_new(const struct pw_eep_hdr *hdr, u8 **body)
{
	unsigned int len = PW_OVERHEAD + 8 * pw_eep_dl(hdr->data_len);
	unsigned int room = ALIGN(PW_FRAME_ROOM, 16) + 16;
	struct sk_buff *skb;

	skb = alloc_skb(room + len, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, room);
	skb->protocol = htons(ETH_P_PACKETWAY);
	skb_put_zero(skb, len);
	pw_eep_build_header(hdr, skb->data, PW_EEP_HDR_LEN);
	*body = skb->data + PW_EEP_HDR_LEN;
	return skb;
}

/* a private, linear copy of the message to write to */
int pw_skb_make_writable(struct sk_buff *skb)
{
	return skb_linearize(skb) || skb_unclone(skb, GFP_ATOMIC) ? -ENOMEM : 0;
}

/**
 * pw_skb_echo_turn - make the reply of an echo request
 * @skb: the request at its header, not shared
 * @v: its fields as they were parsed, prefixes included
 * @addr: who answers
 *
 * A timestamp that is 0 gets the virtual time that the request has taken, and a
 * hop trace the address of who answers: routers behind it are on the way back. EI of the
 * request names routers of its own way: that of the reply is 1 if the data is damaged.
 *
 * Return: 0, or -ENOMEM; then nothing was written.
 */
int pw_skb_echo_turn(struct sk_buff *skb, const struct pw_eep_view *v, u32 addr)
{
	u8 *hdr;

	if (skb_ensure_writable(skb, v->ei ? skb->len : v->db_off - v->hdr_off))
		return -ENOMEM;
	hdr = skb->data;
	if (v->ei)
		put_unaligned_be64(1, hdr + v->tail_off - v->hdr_off);
	memcpy(hdr + PW_EEP_OFF_DT, hdr + PW_EEP_OFF_SA, PW_ADDR_LEN);
	put_unaligned_be24(addr, hdr + PW_EEP_OFF_SA);
	put_unaligned_be16(PW_TE_ECHO_REPLY, hdr + PW_EEP_OFF_TE);
	hdr -= v->hdr_off;
	if (v->stamp_off && !get_unaligned_be64(hdr + v->stamp_off))
		put_unaligned_be64(pw_cb(skb)->delay, hdr + v->stamp_off);
	if (v->hoptrace_off)
		pw_eep_hoptrace_append(hdr + v->hoptrace_off, v->hoptrace_len, addr);
	return 0;
}

/* one record that is all header: ADDR of one node, or MTUR */
static void pw_skb_err_record(u8 *p, u8 type, u32 value)
{
	p[0] = type;
	put_unaligned_be32(value, p + 4);
}

/**
 * pw_skb_let_go - a frame that may wait for long lets go of its socket if that is closed
 * @skb: the frame
 *
 * A frame holds its socket and a socket its namespace: a namespace without users is to end at
 * once, however long its frames wait.
 */
void pw_skb_let_go(struct sk_buff *skb)
{
	if (skb->sk && sk_fullsock(skb->sk) && sock_flag(skb->sk, SOCK_DEAD))
		skb_orphan(skb);
}

/**
 * pw_skb_err_wanted - may this message be answered with an ERR?
 * @skb: the message as it was met, at its first prefix or header
 * @v: gets its fields
 *
 * Return: false for a message without a source, ERRs and broadcasts.
 */
bool pw_skb_err_wanted(struct sk_buff *skb, struct pw_eep_view *v)
{
	int err;

	/* the fields count even if the message was refused behind them */
	do {
		err = pw_eep_parse_head(skb->data, skb_headlen(skb), skb->len, v);
	} while (err == -EAGAIN && pskb_may_pull(skb, v->need));
	return v->hdr_seen && pw_eep_may_answer(v);
}

/**
 * pw_skb_err - make an ERR
 * @skb: the message that went wrong; not consumed
 * @v: its fields
 * @te: which error
 * @sa: who answers
 * @mtu: for TOOBIG: what would have passed, in bytes
 * @with_dst: for TOOBIG: say which destination it is about
 *
 * Return: the message, or NULL without memory.
 */
struct sk_buff *pw_skb_err(struct sk_buff *skb, const struct pw_eep_view *v, u16 te, u32 sa,
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

	err = pw_skb_new(&hdr, &body);
	if (!err)
		return NULL;
	switch (te) {
	case PW_TE_ERR_UNK:
		pw_skb_err_record(body, PW_RRP_ADDR, PW_RRP_AT_SINGLE << 24 | v->dt);
		break;
	case PW_TE_ERR_TOOBIG:
		pw_skb_err_record(body, PW_RRP_MTUR, mtu / 8);
		if (with_dst)
			pw_skb_err_record(body + 8, PW_RRP_ADDR, PW_RRP_AT_SINGLE << 24 | v->dt);
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
