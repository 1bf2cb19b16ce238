// SPDX-License-Identifier: GPL-2.0
/* pwmodel net: windows of time, through which the SANs of a process run one by one. */
#include <stdlib.h>
#include <string.h>

#include "pwmodel.h"
#include "pwmodel_net.h"

static void add(struct net_totals *t, const struct net_totals *a)
{
	u64 *v = (u64 *)t;
	const u64 *w = (const u64 *)a;

	for (size_t i = 0; i < NET_SUMS; i++)
		v[i] += w[i];
	for (size_t i = NET_SUMS; i < NET_SUMS + NET_MAXIMA; i++)
		v[i] = max(v[i], w[i]);
}

void net_run(struct net *n, struct net_totals *t, u64 *hist)
{
	u64 next = NET_NEVER, end = 0;
	u32 own = n->hi - n->lo;

	net_image_init(&n->image, n->s);
	net_chances(n);
	n->san = net_alloc(own, sizeof(*n->san));
	for (u32 i = 0; i < own; i++) {
		n->san[i] = net_image_copy(&n->image);
		net_san_init(n, n->san[i], n->lo + i);
		n->san[i]->hist = hist;
		next = min(next, net_san_first(n->san[i]));
	}
	while (next != NET_NEVER) {
		/* nothing happens before, so the window may begin there */
		end = max(end + 1, next) + n->s->latency - 1;
		next = NET_NEVER;
		for (u32 i = 0; i < own; i++)
			next = min(next, net_san_window(n->san[i], end));
		n->total_windows++;
	}
	memset(t, 0, sizeof(*t));
	for (u32 i = 0; i < own; i++) {
		net_san_end(n->san[i]);
		add(t, &n->san[i]->t);
	}
}
