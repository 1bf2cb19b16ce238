// SPDX-License-Identifier: GPL-2.0
/*
 * Path MTU: routers and receivers answer TOOBIG, IP learns of it at its next packet.
 *
 * The list is short, replaced as a whole, and not there at all until the first
 * TOOBIG: a station on one SAN pays one load per packet.
 */
#include <linux/icmpv6.h>
#include <linux/slab.h>
#include <net/dst.h>
#include <net/icmp.h>
#include <net/ip.h>

#include "pw_priv.h"
#include "rrp.h"

#define PW_PMTU_MAX	64		/* destinations of a station */
#define PW_PMTU_EXPIRE	(600 * HZ)	/* then a larger size is tried again */

struct pw_pmtu {
	struct rcu_head rcu;
	u32 n;
	struct {
		u32 addr;
		u32 mtu;
		unsigned long until;
	} e[];
};

/**
 * pw_pmtu_learn - store the MTU of a TOOBIG
 * @st: the station; from its own poll
 * @data: data block: MTUR, and ADDR of the destination if not the sender's
 * @v: the message
 */
void pw_pmtu_learn(struct pw_station *st, const u8 *data, const struct pw_eep_view *v)
{
	const struct pw_pmtu *old = rcu_dereference(st->pmtu);
	u32 i, mtu = 0, addr = v->sa;
	struct pw_rrp_iter it;
	struct pw_rrp_rec rec;
	struct pw_pmtu *new;

	if (pw_rrp_check_msg(v->pt, v->te, data, v->data_len))
		return;
	pw_rrp_iter_init(&it, data, v->data_len);
	while (pw_rrp_next(&it, &rec) > 0) {
		if (rec.type == PW_RRP_MTUR)
			mtu = min_t(u32, rec.mtu, PACKETWAY_MTU_MAX / 8) * 8;
		else if (rec.type == PW_RRP_ADDR && rec.at == PW_RRP_AT_SINGLE)
			addr = rec.addr;
	}
	if (mtu < PACKETWAY_MTU_MIN || mtu >= READ_ONCE(st->dev->mtu) ||
	    pw_addr_kind(addr) != PW_ADDR_KIND_PHYS)
		return;

	/* each is an allocation, and the old list waits for a grace period */
	if (!__ratelimit(&st->pmtu_limit)) {
		pw_count(st, PW_STAT_PMTU_LIMITED);
		return;
	}
	new = pw_memcg_alloc(st->san->memcg, struct_size(new, e, PW_PMTU_MAX));
	if (!new)
		return;
	/* newest first; the oldest falls off */
	new->e[0].addr = addr;
	new->e[0].mtu = mtu;
	new->e[0].until = jiffies + PW_PMTU_EXPIRE;
	new->n = 1;
	for (i = 0; old && i < old->n && new->n < PW_PMTU_MAX; i++)
		if (old->e[i].addr != addr && time_before(jiffies, old->e[i].until))
			new->e[new->n++] = old->e[i];
	rcu_assign_pointer(st->pmtu, new);
	if (old)
		kfree_rcu((struct pw_pmtu *)old, rcu);
}

static u32 pw_pmtu_of(const struct pw_station *st, u32 addr)
{
	u32 i, mtu = 0;
	const struct pw_pmtu *p;

	rcu_read_lock();
	p = rcu_dereference(st->pmtu);
	for (i = 0; p && i < p->n; i++) {
		if (p->e[i].addr == addr && time_before(jiffies, p->e[i].until)) {
			mtu = p->e[i].mtu;
			break;
		}
	}
	rcu_read_unlock();
	return mtu;
}

/* pw_pmtu_check() where the station has learnt the MTU of a route, or has source routes */
int __pw_pmtu_check(struct pw_station *st, struct sk_buff *skb)
{
	struct iphdr iph;
	const struct iphdr *ip;
	u32 mtu, addr;

	if ((skb->protocol != htons(ETH_P_IP) && skb->protocol != htons(ETH_P_IPV6)) ||
	    skb_headlen(skb) < PW_EEP_HDR_LEN || pw_eep_first(skb->data) != PW_EEP_PHYS)
		return 0;
	addr = get_unaligned_be24(skb->data + PW_EEP_OFF_DT);
	mtu = min_not_zero(pw_pmtu_of(st, addr), pw_source_mtu(st, addr));
	if (skb->len - PW_EEP_HDR_LEN <= mtu ||
	    (skb_is_gso(skb) && skb_gso_validate_network_len(skb, mtu)))
		return 0;

	/* a packet socket may send anything as IP: check the version */
	ip = skb_header_pointer(skb, skb_network_offset(skb), sizeof(iph), &iph);
	if (!ip || ip->version != (skb->protocol == htons(ETH_P_IP) ? 4 : 6))
		return -EMSGSIZE;
	skb_dst_update_pmtu_no_confirm(skb, mtu);
	if (skb->protocol == htons(ETH_P_IPV6))
		icmpv6_ndo_send(skb, ICMPV6_PKT_TOOBIG, 0, mtu);
	else if (ip->frag_off & htons(IP_DF))
		icmp_ndo_send(skb, ICMP_DEST_UNREACH, ICMP_FRAG_NEEDED, htonl(mtu));
	return -EMSGSIZE;
}

/* the station is freed */
void pw_pmtu_free(struct pw_station *st)
{
	kfree(rcu_dereference_protected(st->pmtu, true));
}
