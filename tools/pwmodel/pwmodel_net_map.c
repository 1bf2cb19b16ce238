// SPDX-License-Identifier: GPL-2.0
/* pwmodel net: the routers of a topology, the stations of each SAN, the shortest ways. */
#include <stdlib.h>
#include <string.h>

#include "pwmodel.h"
#include "pwmodel_net.h"

void *net_alloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		pwm_fail("out of memory");
	return p;
}

static void add_link(struct net_spec *s, u32 a, u32 b)
{
	if (s->links == s->link_cap) {
		s->link_cap = s->link_cap ? 2 * s->link_cap : 64;
		s->link = realloc(s->link, s->link_cap * sizeof(*s->link));
		if (!s->link)
			pwm_fail("out of memory");
	}
	s->link[s->links++] = (struct net_link) { a, b };
}

static void ring(struct net_spec *s, u32 first, u32 step, u32 n)
{
	/* two SANs have one router, not two */
	for (u32 i = 0; i + 1 < n || (i + 1 == n && n > 2); i++)
		add_link(s, first + i * step, first + (i + 1) % n * step);
}

/* rings along a dimension: its SANs are @step apart, and each block of these has one start */
static void rings(struct net_spec *s, u32 step, u32 n)
{
	for (u32 i = 0; i < s->sans; i++)
		if (i / step % n == 0)
			ring(s, i, step, n);
}

/* routers of a topology with a name */
void net_links(struct net_spec *s)
{
	u32 step = 1;

	switch (s->topology) {
	case NET_RING:
		ring(s, 0, 1, s->sans);
		break;
	case NET_TORUS:
		for (u32 i = s->dims; i--; step *= s->dim[i])
			rings(s, step, s->dim[i]);
		break;
	case NET_TREE:
		for (u32 i = 1; i < s->sans; i++)
			add_link(s, (i - 1) / s->arity, i);
		break;
	case NET_FULL:
		for (u32 i = 0; i < s->sans; i++)
			for (u32 j = i + 1; j < s->sans; j++)
				add_link(s, i, j);
		break;
	default:
		break;
	}
}

/* ports of the routers, stations; @line of the routers in the file */
void net_map(struct net_spec *s, size_t line)
{
	size_t *fill = net_alloc(s->sans + 1, sizeof(*fill));
	u32 *degree = net_alloc(s->sans, sizeof(*degree));
	u64 stations = 0;

	for (size_t i = 0; i < s->links; i++) {
		degree[s->link[i].a]++;
		degree[s->link[i].b]++;
	}
	s->first = net_alloc(s->sans + 1, sizeof(*s->first));
	s->base = net_alloc(s->sans + 1, sizeof(*s->base));
	for (u32 i = 0; i < s->sans; i++) {
		if (degree[i] >= s->ports)
			net_bad(s, line, "routers: SAN %u has %u routers, which leaves no station on %u ports",
				i, degree[i], s->ports);
		s->first[i + 1] = s->first[i] + degree[i];
		fill[i] = s->first[i];
		s->base[i] = stations;
		stations += s->ports - degree[i];
	}
	s->base[s->sans] = stations;
	s->end = net_alloc(2 * s->links, sizeof(*s->end));
	for (size_t i = 0; i < s->links; i++) {
		u32 a = s->link[i].a, b = s->link[i].b;
		u32 at_a = fill[a]++ - s->first[a], at_b = fill[b]++ - s->first[b];

		s->end[s->first[a] + at_a] = (struct net_end) { b, at_b };
		s->end[s->first[b] + at_b] = (struct net_end) { a, at_a };
	}
	free(fill);
	free(degree);
}

/* end of @san that begins a shortest way to each SAN; of equal ways that of the lowest end */
void net_hops(const struct net_spec *s, u32 san, u8 *hop)
{
	u32 *queue = net_alloc(s->sans, sizeof(*queue));
	u32 head = 0, n = 0;

	memset(hop, NET_NO_END, s->sans);
	hop[san] = 0;
	queue[n++] = san;
	while (head < n) {
		u32 at = queue[head++];

		for (size_t i = s->first[at]; i < s->first[at + 1]; i++) {
			u32 to = s->end[i].san;

			if (hop[to] != NET_NO_END)
				continue;
			hop[to] = at == san ? i - s->first[at] : hop[at];
			queue[n++] = to;
		}
	}
	free(queue);
}
