// SPDX-License-Identifier: GPL-2.0
/*
 * Routes for any links: up* / down*.
 *
 * Switches are ordered by their distance from switch 0. A link to a switch that comes before
 * is one up, any other one down. A cell goes up as often as it likes, then down, but never up
 * again: links up wait for those closer to switch 0, links down for those farther away, and
 * no circle can arise. Among such routes each cell takes a shortest one; paths take different
 * ones where there are several.
 */
#include "topo.h"

#define FAR	(PW_TOPO_NONE - 1)

/* parts of the plan that are free until pw_topo_check() */
struct routes {
	struct pw_topo_plan *p;
	u16 *order;	/* switches, by distance from switch 0 */
	u16 *place;	/* of a switch in that order */
	u16 *down;	/* links to the destination, down only */
	u16 *any;	/* links to the destination */
};

/* switch behind output @o of switch @u, PW_TOPO_NONE without one */
static u32 next_unit(const struct routes *t, u32 u, u32 o)
{
	u32 to = t->p->peer[u * t->p->z.k + o];

	return to < t->p->ranks ? to / t->p->z.k : PW_TOPO_NONE;
}

static bool is_up(const struct routes *t, u32 u, u32 v)
{
	return t->place[v] < t->place[u];
}

/* breadth first; switches that are not reached from switch 0 come last */
static void order_units(struct routes *t)
{
	u32 units = t->p->z.units, n = 0, done = 0, u, o, v;

	memset(t->place, 0xff, sizeof(u16) * units);
	for (u = 0; u < units; u++) {
		if (t->place[u] != PW_TOPO_NONE)
			continue;
		t->place[u] = n;
		t->order[n++] = u;
		for (; done < n; done++) {
			for (o = 0; o < t->p->z.k; o++) {
				v = next_unit(t, t->order[done], o);
				if (v == PW_TOPO_NONE || t->place[v] != PW_TOPO_NONE)
					continue;
				t->place[v] = n;
				t->order[n++] = v;
			}
		}
	}
}

/* number of links from each switch to switch @dest */
static void distances(struct routes *t, u32 dest)
{
	u32 units = t->p->z.units, i, u, o, v;

	for (i = units; i--;) {
		u = t->order[i];
		t->down[u] = u == dest ? 0 : FAR;
		for (o = 0; o < t->p->z.k; o++) {
			v = next_unit(t, u, o);
			if (v != PW_TOPO_NONE && !is_up(t, u, v) && v != u)
				t->down[u] = min_t(u32, t->down[u], t->down[v] + 1);
		}
	}
	for (i = 0; i < units; i++) {
		u = t->order[i];
		t->any[u] = t->down[u];
		for (o = 0; o < t->p->z.k; o++) {
			v = next_unit(t, u, o);
			if (v != PW_TOPO_NONE && is_up(t, u, v))
				t->any[u] = min_t(u32, t->any[u], t->any[v] + 1);
		}
	}
}

/* output of switch @u on a shortest route; the @r-th if there are several */
static u32 best_out(const struct routes *t, u32 u, bool down, u32 r)
{
	u32 want = down ? t->down[u] : t->any[u], o, v, n = 0;
	u8 out[PW_BMX_KMAX];

	if (want >= FAR)
		return PW_TOPO_NO_OUT;
	for (o = 0; o < t->p->z.k; o++) {
		v = next_unit(t, u, o);
		if (v == PW_TOPO_NONE || v == u)
			continue;
		if (is_up(t, u, v) ? !down && t->any[v] + 1 == want : t->down[v] + 1 == want)
			out[n++] = o;
	}
	return n ? out[r % n] : PW_TOPO_NO_OUT;
}

/**
 * pw_topo_route() - routes of a plan with links and stations
 * @p: plan; links and stations are valid numbers. Where there is no route, pw_topo_check()
 *	says so.
 */
void pw_topo_route(struct pw_topo_plan *p)
{
	struct routes t = {
		.p = p, .order = p->list, .place = p->parent, .down = p->wait, .any = p->seen,
	};
	u32 k = p->z.k, d, r, x, from, dest;

	order_units(&t);
	memset(p->from, 0xff, sizeof(u16) * p->ranks);
	for (x = 0; x < p->ranks; x++)
		if (p->peer[x] < p->ranks)
			p->from[p->peer[x]] = x;
	for (d = 0; d < p->z.ports; d++) {
		dest = p->out[d] / k;
		distances(&t, dest);
		for (x = 0; x < p->ranks; x++) {
			from = p->from[x] == PW_TOPO_NONE ? PW_TOPO_NONE : p->from[x] / k;
			for (r = 0; r < p->z.paths; r++)
				*pw_topo_via(p, x, d, r) = x / k == dest ? p->out[d] % k :
					best_out(&t, x / k, from != PW_TOPO_NONE &&
						 !is_up(&t, from, x / k), r);
		}
	}
}
