/* SPDX-License-Identifier: GPL-2.0 */
/* Generic netlink: what the files that carry out commands share. */
#ifndef PW_GENL_H
#define PW_GENL_H

#include <net/genetlink.h>

#include <linux/packetway_netlink.h>

extern struct genl_family pw_genl_family;

/**
 * pw_genl_notify - report an event to the sockets of a namespace
 * @net: the namespace
 * @msg: a whole message, consumed; NULL (no memory for it) is not an error
 */
void pw_genl_notify(struct net *net, struct sk_buff *msg);

/* pw_genl_san.c APIs */
extern const struct nla_policy pw_san_policy[PACKETWAY_A_SAN_MAX + 1];
int pw_genl_san_get(struct sk_buff *skb, struct genl_info *info);
int pw_genl_san_dump(struct sk_buff *skb, struct netlink_callback *cb);
int pw_genl_san_new(struct sk_buff *skb, struct genl_info *info);
int pw_genl_san_set(struct sk_buff *skb, struct genl_info *info);
int pw_genl_san_del(struct sk_buff *skb, struct genl_info *info);

/* pw_genl_esp.c APIs */
extern const struct nla_policy pw_esp_policy[PACKETWAY_A_ESP_MAX + 1];
int pw_genl_esp_get(struct sk_buff *skb, struct genl_info *info);
int pw_genl_esp_dump(struct sk_buff *skb, struct netlink_callback *cb);
int pw_genl_esp_set(struct sk_buff *skb, struct genl_info *info);
int pw_genl_esp_binding_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* pw_genl_poets.c APIs */
extern const struct nla_policy pw_poets_policy[PACKETWAY_A_POETS_MAX + 1];
int pw_genl_poets_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* pw_genl_source.c APIs */
int pw_genl_source_change(struct genl_info *info, struct nlattr **tb, bool add);
int pw_genl_source_dump(struct sk_buff *skb, struct netlink_callback *cb, u32 only, long san,
			long *at);

/* pw_genl_router.c APIs */
struct pw_san;
extern const struct nla_policy pw_router_policy[PACKETWAY_A_ROUTER_MAX + 1];
extern const struct nla_policy pw_route_policy[PACKETWAY_A_ROUTE_MAX + 1];
extern const struct nla_policy pw_node_policy[PACKETWAY_A_NODE_MAX + 1];
int pw_genl_router_get(struct sk_buff *skb, struct genl_info *info);
int pw_genl_router_dump(struct sk_buff *skb, struct netlink_callback *cb);
int pw_genl_router_new(struct sk_buff *skb, struct genl_info *info);
int pw_genl_router_del(struct sk_buff *skb, struct genl_info *info);
int pw_genl_route_dump(struct sk_buff *skb, struct netlink_callback *cb);
int pw_genl_node_dump(struct sk_buff *skb, struct netlink_callback *cb);
int pw_genl_resolve(struct sk_buff *skb, struct genl_info *info);
int pw_genl_route_new(struct sk_buff *skb, struct genl_info *info);
int pw_genl_route_del(struct sk_buff *skb, struct genl_info *info);
void pw_genl_trunks_gone(struct net_device *dev);
struct pw_fib_entry;
struct pw_router;
void pw_genl_router_notify(struct pw_router *r, bool gone);
void pw_genl_route_notify(struct pw_san *san, const struct pw_fib_entry *e, bool gone);

/* pw_genl.c APIs: a part of a dump */
void pw_genl_dump_begin(struct netlink_callback *cb, struct net *net, bool tables);
int pw_genl_dump_end(struct sk_buff *skb, struct netlink_callback *cb, int err);

#endif
