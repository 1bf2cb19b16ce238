// SPDX-License-Identifier: GPL-2.0
/* The untimed engine: a frame is at its destination as soon as it is sent. */
#include <linux/slab.h>

#include "pw_priv.h"

static struct pw_engine *pw_none_create(struct pw_san *san, const struct pw_fabric_params *params,
					struct netlink_ext_ack *extack)
{
	struct pw_engine *eng = kzalloc(sizeof(*eng), PW_GFP);

	if (!eng)
		return ERR_PTR(-ENOMEM);
	eng->ops = &pw_engine_none;
	eng->san = san;
	return eng;
}

static void pw_none_destroy(struct pw_engine *eng)
{
	kfree(eng);
}

static noinline void pw_none_group(struct pw_san *san, struct sk_buff *skb)
{
	u32 src_port = pw_cb(skb)->src_port, i;
	struct sk_buff *copy;

	for (i = 0; i < san->nports; i++) {
		if (i == src_port || !rcu_access_pointer(san->port[i].end))
			continue;
		copy = pw_port_copy(san, i, skb);
		if (copy)
			pw_port_deliver(san, i, copy);
	}
	pw_port_done(san, skb);
	consume_skb(skb);
}

static void pw_none_xmit(struct pw_engine *eng, struct sk_buff *skb)
{
	u16 port = pw_cb(skb)->dst_port;

	if (likely(port != PW_PORT_GROUP))
		pw_port_deliver(eng->san, port, skb);
	else
		pw_none_group(eng->san, skb);
}

const struct pw_engine_ops pw_engine_none = {
	.create = pw_none_create,
	.destroy = pw_none_destroy,
	.xmit = pw_none_xmit,
};
