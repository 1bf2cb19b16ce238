// SPDX-License-Identifier: GPL-2.0
/* SANs made, with their engine and ring, and freed. See pw_san.c for those that exist. */
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include <linux/packetway_netlink.h>

#include "pw_mon.h"
#include "pw_priv.h"
#include "pw_reduce.h"
#include "pw_router.h"
#include "pw_san_topo.h"
#include "pw_time.h"

static const struct pw_engine_ops *const pw_engines[__PACKETWAY_ENGINE_MAX] = {
	[PACKETWAY_ENGINE_NONE] = &pw_engine_none,
	[PACKETWAY_ENGINE_FAST] = &pw_engine_fast,
	[PACKETWAY_ENGINE_RTL] = &pw_engine_rtl,
	[PACKETWAY_ENGINE_RING] = &pw_engine_ring,
};

/* the engine of a SAN as enum packetway_engine; under RTNL */
u32 pw_san_engine(const struct pw_san *san)
{
	const struct pw_engine *eng = rtnl_dereference(san->engine);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(pw_engines); i++)
		if (pw_engines[i] == eng->ops)
			return i;
	return PACKETWAY_ENGINE_NONE;
}

/**
 * pw_san_engine_make - make an engine that a SAN does not use yet
 * @san: the SAN
 * @engine: enum packetway_engine
 * @params: sizes that the fabric can have
 * @extack: where a refusal is explained
 *
 * A large fabric has hundreds of megabytes to clear, so this needs no lock and is not to
 * be called under one that others wait for.
 *
 * Return: the engine, for pw_san_engine_swap(), or an ERR_PTR.
 */
struct pw_engine *pw_san_engine_make(struct pw_san *san, u32 engine,
				     const struct pw_fabric_params *params,
				     struct netlink_ext_ack *extack)
{
	return pw_engines[engine]->create(san, params, extack);
}

/* the largest MTU that an engine can serve */
static u32 pw_san_engine_mtu(const struct pw_engine_ops *ops)
{
	return ops->mtu ?: PACKETWAY_MTU_MAX;
}

/**
 * pw_san_mtu_check - can an engine carry what the stations of a SAN send?
 * @san: the SAN; under RTNL
 * @engine: enum packetway_engine
 * @extack: where a refusal is explained
 *
 * Return: 0 or -EINVAL.
 */
int pw_san_mtu_check(const struct pw_san *san, u32 engine, struct netlink_ext_ack *extack)
{
	const struct pw_station *st;
	u32 i;

	BUILD_BUG_ON(PW_RING_MTU != 4072);
	for (i = 0; i < san->nports; i++) {
		st = pw_port_station(&san->port[i]);
		if (st && st->dev->mtu > pw_san_engine_mtu(pw_engines[engine])) {
			NL_SET_ERR_MSG(extack, PW_SAN_MTU_RING);
			return -EINVAL;
		}
	}
	return 0;
}

/* stations and half-routers follow what the engine can carry; RTNL */
static void pw_san_mtu_set(struct pw_san *san, u32 mtu)
{
	struct pw_station *st;
	u32 i;

	if (mtu == san->mtu)
		return;
	WRITE_ONCE(san->mtu, mtu);
	for (i = 0; i < san->nports; i++) {
		st = pw_port_station(&san->port[i]);
		if (st)
			st->dev->max_mtu = mtu;
	}
	pw_san_changed(san);
}

/**
 * pw_san_engine_swap - run a SAN by an engine that was made for it
 * @san: the SAN; under RTNL
 * @eng: the engine
 *
 * Return: the engine that it had, for pw_san_engine_free().
 */
struct pw_engine *pw_san_engine_swap(struct pw_san *san, struct pw_engine *eng)
{
	u32 i;

	if (eng->ops->port_up)
		for (i = 0; i < san->nports; i++)
			eng->ops->port_up(eng, i, pw_port_takes(san, i));
	pw_san_mtu_set(san, pw_san_engine_mtu(eng->ops));
	return rcu_replace_pointer(san->engine, eng, lockdep_rtnl_is_held());
}

/**
 * pw_san_engine_free - free an engine that a SAN has used
 * @eng: the engine; no lock held, and its SAN is kept
 *
 * Frames under way in it are delivered at once.
 */
void pw_san_engine_free(struct pw_engine *eng)
{
	synchronize_net();
	eng->ops->destroy(eng);
}

/**
 * pw_san_lockstep_check - can a SAN be in lockstep?
 * @san: the SAN, NULL: a new one; under RTNL
 * @engine: enum packetway_engine that it has or gets
 * @real: it is paced to the rate of its links
 * @extack: where a refusal is explained
 *
 * Return: 0 or a negative errno.
 */
int pw_san_lockstep_check(const struct pw_san *san, u32 engine, bool real,
			  struct netlink_ext_ack *extack)
{
	const struct pw_half *h;
	u32 i;

	if ((engine != PACKETWAY_ENGINE_FAST && engine != PACKETWAY_ENGINE_RTL) || real) {
		NL_SET_ERR_MSG(extack, "Lockstep needs virtual time: engine fast or rtl, real 0");
		return -EOPNOTSUPP;
	}
	for (i = 0; san && i < san->nports; i++) {
		h = pw_port_half(&san->port[i]);
		if (h && !h->peer) {
			NL_SET_ERR_MSG(extack,
				       "A SAN in lockstep has no trunks and no routers of programs");
			return -EOPNOTSUPP;
		}
	}
	return 0;
}

/* pw_net.time and pw_time.sans */
static DEFINE_SPINLOCK(pw_san_time_lock);

/**
 * pw_san_time_new - a clock for a SAN that is to be in lockstep
 * @net: its namespace
 * @now: virtual time
 * @extack: why there is none
 *
 * pw_net.san_change is held until the SAN has the clock: no other request counts in between.
 *
 * Return: as pw_time_new(); -ENOSPC: PW_TIME_SANS_MAX SANs are in lockstep already.
 */
struct pw_time *pw_san_time_new(struct net *net, u64 now, struct netlink_ext_ack *extack)
{
	const struct pw_time *t;
	bool full;

	lockdep_assert_held(&pw_net(net)->san_change);
	spin_lock(&pw_san_time_lock);
	t = pw_net(net)->time;
	full = t && t->sans >= PW_TIME_SANS_MAX;
	spin_unlock(&pw_san_time_lock);
	if (full) {
		NL_SET_ERR_MSG(extack, "At most 16 SANs of a namespace are in lockstep");
		return ERR_PTR(-ENOSPC);
	}
	return pw_time_new(net, now, extack);
}

/**
 * pw_san_time_share - the clock that a SAN in lockstep gets
 * @net: its namespace
 * @t: the clock if the namespace has none yet; its reference is the SAN's then
 *
 * Return: the clock of the namespace, to be given back by pw_san_time_free(). If it is
 * not @t, that is the caller's.
 */
static struct pw_time *pw_san_time_share(struct net *net, struct pw_time *t)
{
	struct pw_net *pn = pw_net(net);

	spin_lock(&pw_san_time_lock);
	if (pn->time)
		pw_time_get(pn->time);
	else
		pn->time = t;
	t = pn->time;
	WRITE_ONCE(t->sans, t->sans + 1);
	spin_unlock(&pw_san_time_lock);
	return t;
}

/**
 * pw_san_time_swap - let a SAN follow the clock of its namespace, or let its time run freely
 * @san: the SAN; under RTNL. Its engine is to be updated after this
 * @t: the clock if the namespace has none yet; NULL: free
 *
 * Return: the clock that it had, or @t if that is not used, for pw_san_time_free().
 */
struct pw_time *pw_san_time_swap(struct pw_san *san, struct pw_time *t)
{
	u64 now = pw_engine_now(san), time = pw_engine_time(san);
	struct pw_time *shared = NULL;

	if (t) {
		shared = pw_san_time_share(san->net, t);
		/* the first SAN brings its time */
		if (shared != t)
			time = pw_time_now(shared);
		/* whole microseconds, so that the same run counts the same ones */
		WRITE_ONCE(san->base, (DIV64_U64_ROUND_UP(now, NSEC_PER_USEC) -
				       div_u64(time, NSEC_PER_USEC)) * NSEC_PER_USEC);
	} else {
		WRITE_ONCE(san->ahead, now - ktime_get_ns());
	}
	if (shared == t)
		return rcu_replace_pointer(san->time, t, lockdep_rtnl_is_held());
	rcu_assign_pointer(san->time, shared);
	return t;
}

/**
 * pw_san_time_free - a SAN does not use a clock any longer; the last one ends it
 * @net: namespace of the SAN
 * @t: the clock, or NULL; no lock held
 */
void pw_san_time_free(struct net *net, struct pw_time *t)
{
	struct pw_net *pn = pw_net(net);
	bool last;

	if (!t)
		return;
	spin_lock(&pw_san_time_lock);
	if (t->sans)
		WRITE_ONCE(t->sans, t->sans - 1);
	last = !t->sans;
	if (last && pn->time == t)
		pn->time = NULL;
	spin_unlock(&pw_san_time_lock);
	/* no other SAN finds it from here on */
	if (last)
		pw_time_end(t);
	else
		synchronize_rcu();
	pw_time_put(t);
}

/* default of a new SAN */
void pw_san_config_default(struct pw_san_config *conf, u32 id)
{
	*conf = (struct pw_san_config) {
		.id = id,
		.nports = PACKETWAY_PORTS_DEFAULT,
		/*
		 * A SAN numbers its nodes 1..n and adds a bias, so that an
		 * address tells its SAN. 256 apart is room for the largest.
		 */
		.bias = id * PACKETWAY_PORTS_MAX,
		.engine = PACKETWAY_ENGINE_FAST,
		.ring_engine = PACKETWAY_ENGINE_FAST,
		.rate = PW_FABRIC_RATE_DEFAULT,
		.fault.seed = PW_FABRIC_FAULT_SEED,
	};
}

/* Can a SAN with these settings be made in a namespace? Under RTNL */
int pw_san_check(struct net *net, const struct pw_san_config *conf,
		 struct netlink_ext_ack *extack)
{
	u32 radix = int_sqrt(conf->nports);
	struct pw_san *other;
	unsigned long id;

	if (conf->ring_engine == PACKETWAY_ENGINE_NONE) {
		NL_SET_ERR_MSG(extack, "A ring is run by the fast or the rtl engine");
		return -EINVAL;
	}
	if (!conf->topo && (radix < 2 || radix * radix != conf->nports)) {
		NL_SET_ERR_MSG(extack, "A SAN has k * k ports, k = 2 to 16");
		return -EINVAL;
	}
	if (conf->bias > PW_ADDR_PHYS_MAX - conf->nports) {
		NL_SET_ERR_MSG(extack, "The bias leaves no addresses for the last ports");
		return -ERANGE;
	}
	if (conf->lockstep) {
		int err = pw_san_lockstep_check(NULL, conf->engine, conf->real, extack);

		if (err)
			return err;
	}
	xa_for_each(&pw_net(net)->sans, id, other) {
		if (other->id == conf->id) {
			NL_SET_ERR_MSG(extack, "A SAN with this number exists already");
			return -EEXIST;
		}
		if (conf->bias < other->bias + other->nports &&
		    other->bias < conf->bias + conf->nports) {
			NL_SET_ERR_MSG(extack, "Another SAN has some of these addresses");
			return -EADDRINUSE;
		}
	}
	return 0;
}

/**
 * pw_san_free - free a SAN that has no place in its namespace
 * @san: the SAN; no lock held
 */
void pw_san_free(struct pw_san *san)
{
	struct pw_engine *eng = rcu_dereference_protected(san->engine, true);
	struct pw_time *t = rcu_dereference_protected(san->time, true);

	pw_san_time_free(san->net, t);
	eng->ops->destroy(eng);
	pw_san_topo_free(san->fabric.topo);
	pw_reduce_san_exit(san);
	pw_aton_destroy(san->aton);
	mem_cgroup_put(san->memcg);
	pw_limit_uncharge(san->net, PW_LIMIT_SANS, 1);
	pw_san_forget(san);
}

/* no reader has found the SAN for a grace period */
static void pw_san_gone(struct work_struct *work)
{
	struct pw_san *san = container_of(to_rcu_work(work), struct pw_san, gone);
	struct net *net = san->net;

	/* its work reads the routes, and may have reductions left that wait */
	pw_reduce_san_exit(san);
	pw_rrp_san_exit(san);
	pw_san_free(san);
	pw_dying_del(net);
}

/**
 * pw_san_make - make a SAN that is nowhere yet
 * @net: home namespace
 * @conf: what it is like
 * @extack: where a refusal is explained
 *
 * A large SAN has tens of megabytes to clear, which needs no lock.
 *
 * Return: the SAN, for pw_san_insert() or pw_san_free(), which has @conf->topo from now on, or
 * an ERR_PTR.
 */
struct pw_san *pw_san_make(struct net *net, const struct pw_san_config *conf,
			   struct netlink_ext_ack *extack)
{
	struct pw_engine *eng;
	struct pw_san *san;
	int err;

	err = pw_limit_charge(net, PW_LIMIT_SANS, 1, extack);
	if (err)
		return ERR_PTR(err);
	san = kzalloc(struct_size(san, port, conf->nports), PW_GFP);
	if (!san) {
		err = -ENOMEM;
		goto err_limit;
	}
	san->id = conf->id;
	san->net = net;
	san->memcg = get_mem_cgroup_from_mm(current->mm);
	san->nports = conf->nports;
	san->radix = int_sqrt(conf->nports - 1) + 1;
	san->bias = conf->bias;
	san->users = 1;
	refcount_set(&san->memory, 1);
	san->fabric.rate = conf->rate;
	san->fabric.real = conf->real;
	san->fabric.cut_through = conf->cut_through;
	san->fabric.fault = conf->fault;
	san->fabric.params = conf->params;
	san->fabric.params.k = san->radix;
	san->fabric.params.flags = PW_FABRIC_F_DEVICE;
	san->fabric.params.topo = conf->topo ? conf->topo->t : NULL;
	san->fabric.topo = conf->topo;
	san->paths = pw_fabric_paths(&san->fabric.params);
	INIT_RCU_WORK(&san->gone, pw_san_gone);
	pw_rrp_san_init(san);

	eng = pw_san_engine_make(san, conf->engine, &san->fabric.params, extack);
	if (IS_ERR(eng)) {
		err = PTR_ERR(eng);
		goto err_free;
	}
	rcu_assign_pointer(san->engine, eng);
	san->mtu = pw_san_engine_mtu(eng->ops);
	if (conf->lockstep) {
		struct pw_time *t = pw_san_time_new(net, 0, extack);

		if (IS_ERR(t)) {
			err = PTR_ERR(t);
			goto err_engine;
		}
		rcu_assign_pointer(san->time, pw_san_time_share(net, t));
		if (rcu_access_pointer(san->time) != t)
			pw_san_time_free(net, t);
	}

	san->aton = pw_aton_create(san, conf->ring_engine, &conf->ring);
	if (IS_ERR(san->aton)) {
		err = PTR_ERR(san->aton);
		goto err_time;
	}
	err = pw_reduce_san_init(san);
	if (err)
		goto err_aton;
	return san;

err_aton:
	pw_aton_destroy(san->aton);
err_time:
	pw_san_time_free(net, rcu_dereference_protected(san->time, true));
err_engine:
	eng->ops->destroy(eng);
err_free:
	mem_cgroup_put(san->memcg);
	kfree(san);
err_limit:
	pw_limit_uncharge(net, PW_LIMIT_SANS, 1);
	return ERR_PTR(err);
}

/**
 * pw_san_insert - give a SAN its place among the others of its namespace
 * @san: the SAN; under RTNL
 * @conf: what it was made from
 * @extack: where a refusal is explained
 *
 * The caller has a share of it, which pw_san_put() gives back.
 *
 * Return: 0, or a negative errno; then the SAN is still the caller's alone.
 */
int pw_san_insert(struct pw_san *san, const struct pw_san_config *conf,
		  struct netlink_ext_ack *extack)
{
	int err;

	err = pw_san_check(san->net, conf, extack);
	if (err)
		return err;
	err = xa_insert(&pw_net(san->net)->sans, san->id, san, PW_GFP);
	if (err) {
		NL_SET_ERR_MSG(extack, "No memory to register the SAN");
		return err;
	}
	atomic_inc(&pw_net(san->net)->lists);
	if (conf->lockstep || pw_fabric_faults_on(&conf->fault))
		pw_engine_update(san);
	san->ptp = pw_ptp_create(san);
	pw_debugfs_san_add(san);
	pw_aton_tap(san->aton, pw_mon_wants_ring(san->net));
	return 0;
}

/**
 * pw_san_get - find SAN @id of a namespace, or make it, and take a share of it
 * @net: home namespace
 * @id: SAN number, already checked against PACKETWAY_SAN_MAX
 * @extack: where a refusal is explained
 *
 * Return: the SAN, or an ERR_PTR. Under RTNL; pw_san_put() gives the share back.
 */
struct pw_san *pw_san_get(struct net *net, u32 id, struct netlink_ext_ack *extack)
{
	struct pw_san *san = pw_san_find(net, id);
	struct pw_san_config conf;
	int err;

	if (san) {
		san->users++;
		return san;
	}
	pw_san_config_default(&conf, id);
	err = pw_san_check(net, &conf, extack);
	if (err)
		return ERR_PTR(err);
	san = pw_san_make(net, &conf, extack);
	if (IS_ERR(san))
		return san;
	err = pw_san_insert(san, &conf, extack);
	if (err) {
		pw_san_free(san);
		return ERR_PTR(err);
	}
	return san;
}

void pw_san_net_exit(struct net *net)
{
	WARN_ON_ONCE(!xa_empty(&pw_net(net)->sans));
	xa_destroy(&pw_net(net)->sans);
}

/**
 * pw_san_net_kill - queue every station of a namespace's SANs for deletion
 * @net: namespace that is going away
 * @kill: list for unregister_netdevice_many(); under RTNL
 */
void pw_san_net_kill(struct net *net, struct list_head *kill)
{
	struct pw_station *st;
	struct pw_san *san;
	unsigned long id;
	u32 i;

	xa_for_each(&pw_net(net)->sans, id, san) {
		/* keep the SAN while the shares of others are given back below */
		san->users++;
		for (i = 0; i < san->nports; i++) {
			st = pw_port_station(&san->port[i]);
			if (st)
				unregister_netdevice_queue(st->dev, kill);
		}
		/* the stations on @kill keep the SAN until they are gone */
		pw_aton_blocks_kill(san);
		if (san->pinned) {
			san->pinned = false;
			pw_san_put(san);
		}
		pw_san_put(san);
	}
}
