// SPDX-License-Identifier: GPL-2.0
/*
 * A SAN's virtual time as a PTP clock: it can be read, not set. Clocks are global
 * devices, so only SANs of namespaces that belong to the initial user namespace
 * get one.
 */
#include <linux/ptp_clock_kernel.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "pw_priv.h"

struct pw_ptp {
	struct ptp_clock_info info;
	struct ptp_clock *clock;
	struct pw_san *san;
};

static int pw_ptp_gettime(struct ptp_clock_info *info, struct timespec64 *ts)
{
	struct pw_ptp *ptp = container_of(info, struct pw_ptp, info);

	*ts = ns_to_timespec64(pw_engine_time(ptp->san));
	return 0;
}

static int pw_ptp_settime(struct ptp_clock_info *info, const struct timespec64 *ts)
{
	return -EOPNOTSUPP;
}

static int pw_ptp_adjtime(struct ptp_clock_info *info, s64 delta)
{
	return -EOPNOTSUPP;
}

static int pw_ptp_adjfine(struct ptp_clock_info *info, long ppm)
{
	return -EOPNOTSUPP;
}

/* no clock is not an error: a SAN works without */
struct pw_ptp *pw_ptp_create(struct pw_san *san)
{
	struct pw_ptp *ptp;

	if (san->net->user_ns != &init_user_ns)
		return NULL;
	ptp = kzalloc(sizeof(*ptp), PW_GFP);
	if (!ptp)
		return NULL;
	ptp->san = san;
	ptp->info.owner = THIS_MODULE;
	snprintf(ptp->info.name, sizeof(ptp->info.name), "packetway%u", san->id);
	ptp->info.gettime64 = pw_ptp_gettime;
	ptp->info.settime64 = pw_ptp_settime;
	ptp->info.adjtime = pw_ptp_adjtime;
	ptp->info.adjfine = pw_ptp_adjfine;
	ptp->clock = ptp_clock_register(&ptp->info, NULL);
	if (IS_ERR_OR_NULL(ptp->clock)) {
		kfree(ptp);
		return NULL;
	}
	return ptp;
}

void pw_ptp_destroy(struct pw_ptp *ptp)
{
	if (!ptp)
		return;
	ptp_clock_unregister(ptp->clock);
	kfree(ptp);
}

int pw_ptp_index(const struct pw_ptp *ptp)
{
	return ptp ? ptp_clock_index(ptp->clock) : -1;
}
