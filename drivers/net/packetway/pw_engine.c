// SPDX-License-Identifier: GPL-2.0
/* What a SAN asks of the engine that it has at present. */
#include <linux/ktime.h>
#include <linux/rtnetlink.h>

#include "pw_priv.h"
#include "pw_time.h"

/* the SAN's fabric settings have changed: update the engine; under RTNL */
void pw_engine_update(struct pw_san *san)
{
	struct pw_engine *eng = rtnl_dereference(san->engine);

	if (eng->ops->update)
		eng->ops->update(eng);
}

/* a station came up or went down; under RTNL */
void pw_engine_port_up(struct pw_san *san, unsigned int port, bool up)
{
	struct pw_engine *eng = rtnl_dereference(san->engine);

	if (eng->ops->port_up)
		eng->ops->port_up(eng, port, up);
}

/* virtual time in nanoseconds; 0 if the SAN has none */
u64 pw_engine_time(const struct pw_san *san)
{
	struct pw_engine *eng;
	u64 ns = 0;

	rcu_read_lock();
	eng = rcu_dereference(san->engine);
	if (eng->ops->time)
		ns = eng->ops->time(eng);
	rcu_read_unlock();
	return ns;
}

/**
 * pw_engine_now - the clock that lifetimes and counters of a SAN follow
 * @san: the SAN
 *
 * Nanoseconds of the host, or of virtual time while the SAN is in lockstep. It goes on
 * without a jump when that changes; only differences mean something.
 */
u64 pw_engine_now(const struct pw_san *san)
{
	const struct pw_time *t;
	u64 now;

	rcu_read_lock();
	t = rcu_dereference(san->time);
	/* pw_san_time_swap() sets @base or @ahead before the pointer */
	smp_rmb();
	if (t)
		now = pw_time_now(t) + READ_ONCE(san->base);
	else
		now = ktime_get_ns() + READ_ONCE(san->ahead);
	rcu_read_unlock();
	return now;
}
