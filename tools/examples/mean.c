// SPDX-License-Identifier: GPL-2.0
/*
 * Mean and extremes of measurements: mean STATION STATIONS VALUE
 *
 * A process at each station has a value. Collectives need no register or group of the
 * program's own, and a process that ends is an error for the others: run it under as many
 * stations as there are, several times at once, and stop one of them.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <packetway.h>

static void check(int e, const char *what)
{
	if (e < 0) {
		errno = -e;
		err(1, "%s", what);
	}
}

int main(int argc, char **argv)
{
	double sum, least, most;
	struct pwl_coll *c;

	if (argc != 4)
		errx(2, "usage: mean STATION STATIONS VALUE");
	check(pwl_coll_open(&c, argv[1], "mean", atoi(argv[2]), 60000), argv[1]);
	sum = least = most = atof(argv[3]);
	check(pwl_coll_double(c, PW_ATON_OP_ADD, &sum, 1), "sum");
	check(pwl_coll_double(c, PW_ATON_OP_MIN, &least, 1), "minimum");
	check(pwl_coll_double(c, PW_ATON_OP_MAX, &most, 1), "maximum");
	if (!pwl_coll_rank(c))
		printf("%u values from %g to %g, mean %.17g\n", pwl_coll_size(c), least, most,
		       sum / pwl_coll_size(c));
	pwl_coll_close(c);
	return 0;
}
