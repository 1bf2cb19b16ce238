/* SPDX-License-Identifier: GPL-2.0 */
/* Topologies of SANs, as requests give them. */
#ifndef PW_SAN_TOPO_H
#define PW_SAN_TOPO_H

#include <linux/packetway_netlink.h>

#include "pw_priv.h"

struct nla_policy;
struct nlattr;

/**
 * struct pw_san_topo - topology of a SAN's fabric
 * @t: the topology
 * @size: memory of all of it, in bytes
 * @generated: the name says all of it
 * @name: as a request gave it
 */
struct pw_san_topo {
	struct pw_topo *t;
	size_t size;
	bool generated;
	char name[PACKETWAY_TOPOLOGY_NAME_MAX + 1];
};

extern const struct nla_policy pw_multicast_policy[PACKETWAY_A_MULTICAST_MAX + 1];

int pw_san_topo_make(const struct nlattr *name, const struct nlattr *plan,
		     const struct nlattr *multicast, struct pw_san_topo **topo, u32 *ports,
		     struct netlink_ext_ack *extack);
void pw_san_topo_free(struct pw_san_topo *topo);
bool pw_san_topo_same(const struct pw_san_topo *a, const struct pw_san_topo *b);
size_t pw_san_topo_multicast_size(const struct pw_san_topo *topo);
int pw_san_topo_put_multicast(struct sk_buff *msg, const struct pw_san_topo *topo, bool list);
void pw_san_topo_name(const struct pw_san_topo *topo, u32 k, char *name, size_t cap);

#endif
