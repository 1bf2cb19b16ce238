// SPDX-License-Identifier: GPL-2.0
/*
 * ESP at half-routers: messages of type ESP that pass or end there.
 *
 *   pw_half_cross, pw_half_out_* -> pw_half_pass -> pw_esp_pass : executed in passing
 *   pw_half_local                -> pw_esp_end                  : executed and sent back
 *
 * A frame that crosses a router passes two nodes, one on each SAN, and the same two
 * on its way back. A half-router forwards what it cannot parse; the end system answers
 * with the error.
 */
#include "pw_router.h"
#include "pw_trace.h"

/* Is it ESP that a node must execute? */
static bool pw_esp_wanted(struct sk_buff *skb, struct pw_eep_view *v)
{
	u8 buf[PW_ESP_HDR_LEN];
	const u8 *p;
	int err;

	do {
		err = pw_eep_parse_head(skb->data, skb_headlen(skb), skb->len, v);
	} while (err == -EAGAIN && pskb_may_pull(skb, v->need));
	if (err || v->pt != PW_PT_ESP || v->data_len < PW_ESP_HDR_LEN)
		return false;
	p = skb_header_pointer(skb, v->db_off, sizeof(buf), buf);
	return p && (p[0] & (PW_ESP_EXECUTE | PW_ESP_ERROR)) == PW_ESP_EXECUTE;
}

/* Is the data of a linear message undamaged? */
static bool pw_esp_sound(const struct sk_buff *skb, const struct pw_eep_view *v)
{
	if (v->ei || pw_cb(skb)->flags & PW_CB_ERROR)
		return false;
	return !(v->oh_mask & PW_OH_ANNOUNCE_MASK) || !pw_eep_crc_verify(skb->data, v);
}

/**
 * pw_esp_pass - a frame that may be ESP passes a half-router
 * @h: the half-router
 * @skb: the frame
 *
 * BH off, RCU held.
 *
 * Return: whether it goes on; if not, it is consumed.
 */
bool pw_esp_pass(struct pw_half *h, struct sk_buff *skb)
{
	struct pw_esp_result res;
	struct pw_eep_view v;

	if (!pw_esp_wanted(skb, &v))
		return true;
	if (skb_linearize(skb))
		goto nomem;
	if (pw_eep_parse_trailer(skb->data + v.ot_off, skb->len - v.ot_off, &v) ||
	    !pw_esp_sound(skb, &v))
		return true;
	if (pw_esp_node_skb(&h->esp, pw_half_mtu(h), skb, &v, &res))
		goto nomem;
	trace_pw_esp(h->router->name, h->addr, &v, &res);
	if (res.verdict != PW_ESP_V_DISCARD)
		return true;
	consume_skb(skb);
	return false;

nomem:
	pw_half_drop(h, skb, PW_HALF_DROP_NOMEM, 0);
	return false;
}

/**
 * pw_esp_end - a message of type ESP is addressed to a half-router
 * @h: the half-router
 * @skb: the message, linear; consumed
 * @v: what was parsed of it
 *
 * A half-router has no programs. What is not sent back ends here. BH off, RCU
 * held.
 */
void pw_esp_end(struct pw_half *h, struct sk_buff *skb, const struct pw_eep_view *v)
{
	struct pw_esp_result res;
	u8 *hdr;

	if (!pw_esp_sound(skb, v))
		goto out;
	if (pw_esp_node_skb(&h->esp, pw_half_mtu(h), skb, v, &res)) {
		pw_half_drop(h, skb, PW_HALF_DROP_NOMEM, 0);
		return;
	}
	trace_pw_esp(h->router->name, h->addr, v, &res);
	if (res.verdict == PW_ESP_V_DISCARD || res.verdict == PW_ESP_V_DROP ||
	    pw_addr_kind(v->sa) != PW_ADDR_KIND_PHYS ||
	    !pw_esp_reflect(skb->data + v->db_off, v->data_len) || !__ratelimit(&h->echo_limit))
		goto out;
	pw_esp_crc(skb, v);
	__skb_pull(skb, v->hdr_off);
	hdr = skb->data;
	put_unaligned_be24(v->sa, hdr + PW_EEP_OFF_DT);
	put_unaligned_be24(h->addr, hdr + PW_EEP_OFF_SA);
	pw_half_send_own(h, skb);
	return;
out:
	consume_skb(skb);
}
