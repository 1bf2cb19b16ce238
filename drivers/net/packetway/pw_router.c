// SPDX-License-Identifier: GPL-2.0
/* Routers as objects: made, found, deleted. */
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "pw_router.h"
#include "pw_trunk.h"

void (*pw_router_notify)(struct pw_router *r, bool gone);

/* router @name of a namespace, or NULL; under RTNL */
struct pw_router *pw_router_find(struct net *net, const char *name)
{
	struct pw_router *r;

	ASSERT_RTNL();
	list_for_each_entry(r, &pw_net(net)->routers, list)
		if (!strcmp(r->name, name))
			return r;
	return NULL;
}

static void pw_half_limit(struct ratelimit_state *rs, int burst)
{
	ratelimit_state_init(rs, HZ, burst);
	ratelimit_set_flags(rs, RATELIMIT_MSG_ON_RELEASE);
}

static void pw_half_free(struct pw_half *h)
{
	kvfree(rcu_dereference_protected(h->beyond, true));
	pw_rrp_half_free(h);
	pw_esp_node_free(&h->esp);
	if (h->user)
		pw_user_put(h->user);
	pw_dummy_netdev_free(h->dummy);
	vfree(h->mem);
	free_percpu(h->stats);
	pw_rxq_free(&h->end.rxq);
}

/* everything that needs memory; not published yet */
static int pw_half_init(struct pw_router *r, struct pw_half *h, struct pw_half *peer,
			const struct pw_half_config *conf)
{
	struct pw_rrp_table *table;

	h->router = r;
	h->peer = peer;
	if (conf->user) {
		refcount_inc(&conf->user->users);
		h->user = conf->user;
	}
	h->san = conf->san;
	h->port = conf->port;
	h->addr = pw_san_addr(conf->san, conf->port);
	h->mtu_set = conf->mtu;
	h->quality = conf->quality;
	h->mtu = min_t(u32, conf->mtu ? conf->mtu : PACKETWAY_MTU_MAX, READ_ONCE(h->san->mtu));
	spin_lock_init(&h->lock);
	mutex_init(&h->db_lock);
	pw_esp_node_init(&h->esp, h->san, h->addr, true);
	if (pw_end_init(&h->end, &pw_half_end_ops, NULL))
		return -ENOMEM;
	pw_end_open(&h->end);
	pw_half_limit(&h->err_limit, 1000);
	pw_half_limit(&h->rrp_limit, 2000);
	/* each looks at every node that is known */
	pw_half_limit(&h->tell_limit, 200);
	pw_half_limit(&h->echo_limit, 10000);
	pw_half_limit(&h->group_limit, 10000);
	pw_half_limit(&h->peer_limit, PW_HALF_PEER_RATE);
	pw_half_limit(&h->reduce_limit, PW_HALF_REDUCE_RATE);
	pw_rrp_half_init(h);

	h->stats = __netdev_alloc_pcpu_stats(struct pw_half_pcpu, PW_GFP);
	h->dummy = pw_dummy_netdev_alloc();
	h->mem = __vmalloc(PW_HALF_TABLES * sizeof(*table) + PW_HALF_NODES_CAP + PW_HALF_SCRATCH +
			   h->san->nports * sizeof(*h->adjacent) +
			   PW_REDUCE_JOBS * sizeof(*h->seen), PW_GFP | __GFP_ZERO);
	if (!h->stats || !h->dummy || !h->mem)
		return -ENOMEM;
	table = h->mem;
	/* the first is for the own SAN; the others get memory with what they hold */
	table[0].nodes = (u8 *)(table + PW_HALF_TABLES);
	table[0].nodes_cap = PW_HALF_NODES_CAP;
	h->scratch = table[0].nodes + PW_HALF_NODES_CAP;
	h->adjacent = (void *)(h->scratch + PW_HALF_SCRATCH);
	h->seen = (void *)(h->adjacent + h->san->nports);
	/* serials grow also if the half is deleted and made again */
	h->serial = ktime_get_real_seconds() << 8;
	h->peer_addr = peer ? pw_san_addr(peer->san, peer->port) :
		       h->user ? h->user->peer : PW_ADDR_UNDEF;
	h->peer_mtu = PACKETWAY_MTU_MAX;
	h->trunk_mtu = PACKETWAY_MTU_MAX;
	pw_rrp_db_init(&h->db, h->addr, h->peer_addr, table, PW_HALF_TABLES, PW_HALF_PER_SAN);
	pw_rrp_db_own(&h->db, h->san->bias, h->serial, h->mtu / 8, NULL, 0);
	netif_napi_add(h->dummy, &h->end.napi, pw_half_poll);
	return pw_esp_node_up(&h->esp, h->san->net);
}

static int pw_router_check(struct net *net, const char *name, const struct pw_half_config conf[2],
			   int n, struct netlink_ext_ack *extack)
{
	int i;

	if (pw_router_find(net, name)) {
		NL_SET_ERR_MSG(extack, "A router with this name exists already");
		return -EEXIST;
	}
	if (n == 2 && conf[0].san == conf[1].san) {
		NL_SET_ERR_MSG(extack, "A router joins two different SANs");
		return -EINVAL;
	}
	for (i = 0; i < n; i++) {
		if (n == 1 && rcu_access_pointer(conf[i].san->time)) {
			NL_SET_ERR_MSG(extack,
				       "A SAN in lockstep has no trunks and no routers of programs");
			return -EOPNOTSUPP;
		}
		if (conf[i].port >= conf[i].san->nports) {
			NL_SET_ERR_MSG(extack, "The SAN has no such port");
			return -ERANGE;
		}
		if (rcu_access_pointer(conf[i].san->port[conf[i].port].end)) {
			NL_SET_ERR_MSG(extack, "The port has a station or a router already");
			return -EBUSY;
		}
	}
	return 0;
}

/* a router with one half here counts as a trunk as well */
static void pw_router_uncharge(struct net *net, int halves)
{
	pw_limit_uncharge(net, PW_LIMIT_ROUTERS, 1);
	if (halves == 1)
		pw_limit_uncharge(net, PW_LIMIT_TRUNKS, 1);
}

static int pw_router_charge(struct net *net, int halves, struct netlink_ext_ack *extack)
{
	int err = pw_limit_charge(net, PW_LIMIT_ROUTERS, 1, extack);

	if (err || halves != 1)
		return err;
	err = pw_limit_charge(net, PW_LIMIT_TRUNKS, 1, extack);
	if (err)
		pw_limit_uncharge(net, PW_LIMIT_ROUTERS, 1);
	return err;
}

/* senders have not found the halves for a grace period: end what is under way, free all */
static void pw_router_gone(struct work_struct *work)
{
	struct pw_router *r = container_of(to_rcu_work(work), struct pw_router, gone);
	struct pw_trunk *trunk = r->half[0].trunk;
	struct net *net = r->net;
	int i, n = r->nhalves;

	for (i = 0; i < n; i++)
		napi_disable(&r->half[i].end.napi);
	for (i = 0; i < n; i++)
		pw_rrp_half_stop(&r->half[i]);
	/* what waits may cross to the other half, or the trunk that is still open */
	for (i = 0; i < n; i++)
		pw_half_drain(&r->half[i], false);
	if (trunk)
		pw_trunk_stop(trunk);
	for (i = 0; i < n; i++)
		pw_half_drain(&r->half[i], true);
	for (i = 0; i < n; i++)
		netif_napi_del(&r->half[i].end.napi);
	/* who waits for this in pw_dying_wait() finds the routes without it in use */
	for (i = 0; i < n; i++)
		pw_fib_settle(r->half[i].san);
	rtnl_lock();
	for (i = 0; i < n; i++)
		pw_san_put(r->half[i].san);
	rtnl_unlock();
	for (i = 0; i < n; i++)
		pw_half_free(&r->half[i]);
	if (trunk)
		pw_trunk_destroy(trunk);
	pw_router_uncharge(net, n);
	kfree(r);
	pw_dying_del(net);
}

/* put the halves of a router that is complete at their ports; RTNL */
static void pw_router_start(struct pw_router *r, const struct pw_half_config conf[2])
{
	unsigned int i;

	for (i = 0; i < r->nhalves; i++) {
		struct pw_half *h = &r->half[i];

		napi_enable(&h->end.napi);
		WRITE_ONCE(h->san->nhalves, h->san->nhalves + 1);
		pw_aton_half_add(h->san, &h->aton, h->port, h->addr);
	}
	/* a fabric discards what is sent to a port that is not up */
	for (i = 0; i < r->nhalves; i++)
		pw_engine_port_up(conf[i].san, conf[i].port, true);
	for (i = 0; i < r->nhalves; i++)
		rcu_assign_pointer(conf[i].san->port[conf[i].port].end, &r->half[i].end);
	list_add_tail(&r->list, &pw_net(r->net)->routers);
	atomic_inc(&pw_net(r->net)->lists);
	for (i = 0; i < r->nhalves; i++)
		pw_rrp_half_up(&r->half[i]);
	if (r->half[0].trunk)
		pw_trunk_start(r->half[0].trunk);
	if (r->half[0].user)
		rcu_assign_pointer(r->half[0].user->half, &r->half[0]);
}

/**
 * pw_router_create - join two SANs
 * @net: home namespace of both
 * @name: of the router
 * @conf: where its halves are; the shares of the SANs become the router's. One only if it
 *	is that of a program, or with a trunk
 * @trunk: to the second half on another host; NULL: both are here
 * @extack: where a refusal is explained
 *
 * Return: the router or an ERR_PTR; then the shares are still the caller's.
 * Under RTNL.
 */
struct pw_router *pw_router_create(struct net *net, const char *name,
				   const struct pw_half_config conf[2],
				   const struct pw_trunk_config *trunk,
				   struct netlink_ext_ack *extack)
{
	int err, i, n = trunk || conf[0].user ? 1 : 2;
	struct pw_router *r;

	err = pw_router_check(net, name, conf, n, extack);
	if (err)
		return ERR_PTR(err);
	err = pw_router_charge(net, n, extack);
	if (err)
		return ERR_PTR(err);
	r = kzalloc(sizeof(*r), PW_GFP);
	if (!r) {
		pw_router_uncharge(net, n);
		return ERR_PTR(-ENOMEM);
	}
	strscpy(r->name, name, sizeof(r->name));
	r->net = net;
	r->nhalves = n;
	INIT_RCU_WORK(&r->gone, pw_router_gone);
	/* each half's address is in the other's tables */
	r->half[1].san = conf[1].san;
	r->half[1].port = conf[1].port;
	for (i = 0; i < n; i++) {
		err = pw_half_init(r, &r->half[i], n == 1 ? NULL : &r->half[!i], &conf[i]);
		if (err)
			goto err_free;
	}
	if (trunk) {
		r->half[0].trunk = pw_trunk_create(net, &r->half[0], trunk, extack);
		if (IS_ERR(r->half[0].trunk)) {
			err = PTR_ERR(r->half[0].trunk);
			goto err_free;
		}
	}
	pw_router_start(r, conf);
	return r;

err_free:
	for (i = 0; i < 2; i++) {
		if (r->half[i].end.napi.poll)
			netif_napi_del(&r->half[i].end.napi);
		pw_half_free(&r->half[i]);
	}
	kfree(r);
	pw_router_uncharge(net, n);
	return ERR_PTR(err);
}

/**
 * pw_router_destroy - delete a router, and announce that to the network
 * @r: the router; under RTNL
 *
 * Its ports are free at once. A work item does the rest without RTNL; the SANs and the
 * address of a trunk are in use until then, see pw_dying_wait().
 */
void pw_router_destroy(struct pw_router *r)
{
	int i, n = r->nhalves;

	ASSERT_RTNL();
	list_del(&r->list);
	atomic_inc(&pw_net(r->net)->lists);
	for (i = 0; i < n; i++)
		pw_rrp_half_down(&r->half[i]);
	if (r->half[0].user)
		r->half[0].user->detach(r->half[0].user);
	for (i = 0; i < n; i++) {
		struct pw_half *h = &r->half[i];

		RCU_INIT_POINTER(h->san->port[h->port].end, NULL);
		pw_engine_port_up(h->san, h->port, false);
		WRITE_ONCE(h->san->nhalves, h->san->nhalves - 1);
	}
	for (i = 0; i < n; i++)
		pw_aton_half_remove(r->half[i].san, &r->half[i].aton, r->half[i].port);
	/* the other halves of these SANs have lost routes as well */
	for (i = 0; i < n; i++)
		pw_fib_outdate(r->half[i].san);
	pw_dying_add(r->net);
	queue_rcu_work(pw_wq, &r->gone);
}

/* every router of a namespace that goes away; under RTNL */
void pw_router_net_kill(struct net *net)
{
	struct pw_router *r, *next;

	list_for_each_entry_safe(r, next, &pw_net(net)->routers, list)
		pw_router_destroy(r);
}
