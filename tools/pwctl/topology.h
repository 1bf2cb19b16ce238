/* SPDX-License-Identifier: GPL-2.0 */
/* Topology of a SAN in a request. */
#ifndef PWCTL_TOPOLOGY_H
#define PWCTL_TOPOLOGY_H

#include "pwctl.h"

/* bytes of a plan: it lies in a nest, which has 65535 at most, with the other words */
#define TOPOLOGY_PLAN_MAX	64512

/* W_CALL: the name of a generator, a file, or "default" */
enum status put_topology(void *h, char **values);

/* W_JSON: number of a SAN's multicast connections */
json_t *connections_json(const struct nlattr *multicast);
/* W_JSON: the connections, NULL if the reply does not list them or there are none */
json_t *multicast_json(const struct nlattr *multicast);

#endif
