// SPDX-License-Identifier: GPL-2.0
/* pwmodel topology: check a topology of the fabric and print it as a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pwmodel.h"
#include "topo_file.h"

static u32 count_links(const struct pw_topo_plan *p)
{
	u32 n = 0;

	for (u32 i = 0; i < p->ranks; i++)
		n += p->peer[i] < p->ranks;
	return n;
}

/* switches that cells of all routes pass, and the largest number of a route */
static u64 count_hops(const struct pw_topo_plan *p, u32 *most)
{
	u64 sum = 0;

	*most = 0;
	for (u32 s = 0; s < p->z.ports; s++) {
		for (u32 d = 0; d < p->z.ports; d++) {
			for (u32 r = 0; r < p->z.paths; r++) {
				u32 n = 0, x = p->in[s];

				for (; x < p->ranks; n++)
					x = p->peer[x - x % p->z.k + *pw_topo_via(p, x, d, r)];
				sum += n;
				*most = max(*most, n);
			}
		}
	}
	return sum;
}

static void summary(const struct pw_topo_plan *p)
{
	u32 most;
	u64 hops = count_hops(p, &most);

	printf("switches %u of %u ports\nlinks %u\nstations %u\npaths %u\n", p->z.units, p->z.k,
	       count_links(p), p->z.ports, p->z.paths);
	printf("switches on a route %.2f on average, %u at most\n",
	       (double)hops / p->z.ports / p->z.ports / p->z.paths, most);
	printf("levels %u\ntable rows %u\n", p->levels, p->rows);
	if (p->z.conns)
		printf("multicast connections %u\n", p->z.conns);
}

int pwm_topology(int argc, char **argv)
{
	struct pw_topo_plan *p;
	const char *what = NULL;
	bool brief = false;
	char why[512];

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--summary"))
			brief = true;
		else if (what || !strncmp(argv[i], "--", 2))
			pwm_fail("topology: unknown argument '%s'", argv[i]);
		else
			what = argv[i];
	}
	if (!what)
		pwm_fail("topology: a name or a file is needed");
	p = topo_file_plan(what, why, sizeof(why));
	if (!p)
		pwm_fail("topology: %s", why);
	if (brief) {
		summary(p);
	} else {
		printf("# %s\n", what);
		topo_file_print(p, stdout);
	}
	free(p);
	return 0;
}
