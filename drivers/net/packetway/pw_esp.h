/* SPDX-License-Identifier: GPL-2.0 */
/* A place where ESP instructions are executed: a station or a half-router. */
#ifndef PW_ESP_H
#define PW_ESP_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "esp.h"

struct mem_cgroup;
struct net;
struct netlink_ext_ack;
struct pw_eep_view;
struct pw_half;
struct pw_san;
struct pw_station;
struct pw_up;
struct sk_buff;

/**
 * struct pw_esp_conf - how large a store is and how long it remembers
 * @capacity: bindings that fit
 * @lifetime: of a binding, in milliseconds
 *
 * In a node 0 means: as its namespace has it. Changed under RTNL.
 */
struct pw_esp_conf {
	u32 capacity;
	u32 lifetime;
};

/* forward, discard, abort */
#define PW_ESP_VERDICTS 3

/**
 * struct pw_esp - an ESP node
 * @lock: the store; BH off
 * @store: its state
 * @mem: the store's memory, or the table of a sparse one; NULL while the node is down
 * @memcg: of the maker of its SAN, which pays for what the store takes as it fills
 * @id: PacketWay address, the node id of RCHLD and RCOLLECT
 * @home: the SAN that it is on
 * @router: a half-router; otherwise an end system
 * @conf: what was asked for; RTNL
 * @done: instructions by what became of them; enum pw_esp_verdict from FORWARD
 */
struct pw_esp {
	spinlock_t lock;	/* see above */
	struct pw_esp_store store;
	void *mem;
	struct mem_cgroup *memcg;
	u32 id;
	const struct pw_san *home;
	bool router;
	struct pw_esp_conf conf;
	atomic64_t done[PW_ESP_OPCODES][PW_ESP_VERDICTS];
};

/* what can be seen of a node */
struct pw_esp_info {
	u32 capacity;
	u32 lifetime;
	u32 used;
	bool up;
	u64 done[PW_ESP_OPCODES][PW_ESP_VERDICTS];
};

void pw_esp_net_init(struct pw_esp_conf *conf);
void pw_esp_node_init(struct pw_esp *esp, const struct pw_san *san, u32 addr, bool router);
void pw_esp_node_free(struct pw_esp *esp);
int pw_esp_node_up(struct pw_esp *esp, const struct net *net);
void pw_esp_node_down(struct pw_esp *esp);
int pw_esp_node_set(struct pw_esp *esp, const struct net *net, const struct pw_esp_conf *conf,
		    struct netlink_ext_ack *extack);
void pw_esp_node_info(struct pw_esp *esp, const struct net *net, struct pw_esp_info *info);
bool pw_esp_node_peek(struct pw_esp *esp, u32 nth, u64 *tag, u64 *val, u64 *left);
int pw_esp_node_skb(struct pw_esp *esp, u32 mtu, struct sk_buff *skb, const struct pw_eep_view *v,
		    struct pw_esp_result *res);
void pw_esp_crc(struct sk_buff *skb, const struct pw_eep_view *v);
int pw_esp_rx(struct pw_station *st, struct sk_buff *skb, const struct pw_eep_view *v,
	      struct pw_up *up);

/* pw_esp_half.c APIs */
bool pw_esp_pass(struct pw_half *h, struct sk_buff *skb);
void pw_esp_end(struct pw_half *h, struct sk_buff *skb, const struct pw_eep_view *v);

#endif
