// SPDX-License-Identifier: GPL-2.0
/* pwmodel net in one process. */
#include "pwmodel_net.h"

u32 net_rank, net_size = 1;

void net_comm_start(void)
{
}

void net_comm_good(void)
{
}

void net_comm_stop(void)
{
}

void net_comm_sum(u64 *v, size_t n)
{
}

void net_comm_max(u64 *v, size_t n)
{
}

u64 net_comm_exchange(struct net_bytes *out, struct net_bytes *in, u64 next)
{
	in->n = 0;
	return next;
}
