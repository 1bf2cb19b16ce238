// SPDX-License-Identifier: GPL-2.0
/* Generic netlink: SANs. */
#include <linux/rtnetlink.h>
#include <net/sock.h>

#include "fabric/fabric_param.h"
#include "ring/ring_param.h"
#include "pw_genl.h"
#include "pw_priv.h"
#include "pw_san_topo.h"
#include "pw_time.h"

const struct nla_policy pw_san_policy[PACKETWAY_A_SAN_MAX + 1] = {
	[PACKETWAY_A_SAN_ID] = NLA_POLICY_MAX(NLA_U32, PACKETWAY_SAN_MAX),
	[PACKETWAY_A_SAN_PORTS] = NLA_POLICY_MAX(NLA_U32, PACKETWAY_PORTS_MAX),
	[PACKETWAY_A_SAN_BIAS] = { .type = NLA_U32 },
	[PACKETWAY_A_SAN_ENGINE] = NLA_POLICY_MAX(NLA_U32, __PACKETWAY_ENGINE_MAX - 1),
	[PACKETWAY_A_SAN_RING_ENGINE] = NLA_POLICY_MAX(NLA_U32, PACKETWAY_ENGINE_RTL),
	[PACKETWAY_A_SAN_RATE] = { .type = NLA_U64 },
	[PACKETWAY_A_SAN_REAL] = NLA_POLICY_MAX(NLA_U32, 1),
	[PACKETWAY_A_SAN_FROZEN] = NLA_POLICY_MAX(NLA_U32, 1),
	[PACKETWAY_A_SAN_DEPTH ... PACKETWAY_A_SAN_GAP_WORD] = { .type = NLA_U32 },
	[PACKETWAY_A_SAN_CLOCK] = NLA_POLICY_MAX(NLA_U32, __PACKETWAY_CLOCK_MAX - 1),
	[PACKETWAY_A_SAN_WITH_STATIONS] = { .type = NLA_FLAG },
	[PACKETWAY_A_SAN_ROUTE] = { .type = NLA_U32 },
	[PACKETWAY_A_SAN_RING_PROPAGATION] = { .type = NLA_U32 },
	[PACKETWAY_A_SAN_TOPOLOGY] = { .type = NLA_NUL_STRING,
				       .len = PACKETWAY_TOPOLOGY_NAME_MAX },
	[PACKETWAY_A_SAN_TOPOLOGY_PLAN] =
		NLA_POLICY_MIN_LEN(sizeof(struct packetway_topology)),
	[PACKETWAY_A_SAN_WITH_STAGES] = { .type = NLA_FLAG },
	[PACKETWAY_A_SAN_STAGE] = { .type = NLA_REJECT,
				    .reject_message = "Stages are reply only" },
	[PACKETWAY_A_SAN_SWITCHES ... PACKETWAY_A_SAN_STAGES] = {
		.type = NLA_REJECT,
		.reject_message = "Sizes of a topology are reply only",
	},
	[PACKETWAY_A_SAN_MULTICAST] = NLA_POLICY_NESTED(pw_multicast_policy),
	[PACKETWAY_A_SAN_WITH_MULTICAST] = { .type = NLA_FLAG },
	[PACKETWAY_A_SAN_CUT_THROUGH] = { .type = NLA_U32 },
	[PACKETWAY_A_SAN_RING_RELEASE ... PACKETWAY_A_SAN_RING_BITSUM] = { .type = NLA_U32 },
	[PACKETWAY_A_SAN_DROP ... PACKETWAY_A_SAN_FAULT_SEED] = { .type = NLA_U32 },
	[PACKETWAY_A_SAN_TIME] = { .type = NLA_REJECT,
				   .reject_message = "Virtual time is reply only" },
	[PACKETWAY_A_SAN_PHC] = { .type = NLA_REJECT,
				  .reject_message = "The clock number is reply only" },
	[PACKETWAY_A_SAN_STATIONS] = { .type = NLA_REJECT,
				       .reject_message = "The number of stations is reply only" },
	[PACKETWAY_A_SAN_PINNED] = { .type = NLA_REJECT,
				     .reject_message = "The pinned flag is reply only" },
};

/* most memory of one fabric, run by rtl: 256 ports with default sizes take 172 MiB there */
#define PW_SAN_FABRIC_MEM	(256 << 20)

/* attributes that set a parameter of the fabric, and where its value lies */
static const struct {
	u32 attr;
	size_t at;
} pw_san_param[] = {
	{ PACKETWAY_A_SAN_DEPTH, offsetof(struct pw_fabric_params, depth) },
	{ PACKETWAY_A_SAN_OG_BLOCKS, offsetof(struct pw_fabric_params, og_blocks) },
	{ PACKETWAY_A_SAN_IC_BLOCKS, offsetof(struct pw_fabric_params, ic_blocks) },
	{ PACKETWAY_A_SAN_DESCS, offsetof(struct pw_fabric_params, descs) },
	{ PACKETWAY_A_SAN_CREDIT, offsetof(struct pw_fabric_params, credit) },
	{ PACKETWAY_A_SAN_RESEND, offsetof(struct pw_fabric_params, resend) },
	{ PACKETWAY_A_SAN_QUEUE, offsetof(struct pw_fabric_params, queue) },
	{ PACKETWAY_A_SAN_GAP_LOCK, offsetof(struct pw_fabric_params, gap_lock) },
	{ PACKETWAY_A_SAN_GAP_INIT, offsetof(struct pw_fabric_params, gap_init) },
	{ PACKETWAY_A_SAN_GAP_GET, offsetof(struct pw_fabric_params, gap_get) },
	{ PACKETWAY_A_SAN_GAP_WORD, offsetof(struct pw_fabric_params, gap_word) },
	{ PACKETWAY_A_SAN_ROUTE, offsetof(struct pw_fabric_params, route) },
};

/* attribute of a parameter; 0: it has none */
static u32 pw_san_param_attr(const struct pw_fabric_param *d)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(pw_san_param); i++)
		if (pw_san_param[i].at == d->at)
			return pw_san_param[i].attr;
	return 0;
}

/*
 * @p with what a request changes; what it may not be is refused with name and range. @topo: the
 * topology that a fabric of these sizes has
 */
static int pw_san_params(struct nlattr **tb, struct pw_fabric_params *p,
			 const struct pw_san_topo *topo, struct netlink_ext_ack *extack)
{
	const struct pw_fabric_param *d;
	u32 i, attr, lo, hi;

	for (i = 0; i < pw_fabric_param_num; i++) {
		attr = pw_san_param_attr(&pw_fabric_param[i]);
		if (attr && tb[attr])
			pw_fabric_param_set(p, &pw_fabric_param[i], nla_get_u32(tb[attr]));
	}
	d = pw_fabric_param_wrong(p);
	if (d) {
		pw_fabric_param_range(p, d, &lo, &hi);
		NL_SET_ERR_MSG_ATTR_FMT(extack, tb[pw_san_param_attr(d)],
					"%s: %u to %u %s beside the other sizes", d->name, lo, hi,
					d->unit);
		return -ERANGE;
	}
	if (pw_fabric_size(p) + (topo ? topo->size : 0) > PW_SAN_FABRIC_MEM) {
		NL_SET_ERR_MSG(extack, "A fabric of these sizes needs more than 256 MiB");
		return -ERANGE;
	}
	return 0;
}

static int pw_san_put_params(struct sk_buff *msg, const struct pw_fabric_params *p)
{
	u32 i, attr;

	for (i = 0; i < pw_fabric_param_num; i++) {
		attr = pw_san_param_attr(&pw_fabric_param[i]);
		if (attr && nla_put_u32(msg, attr, pw_fabric_param_get(p, &pw_fabric_param[i])))
			return -EMSGSIZE;
	}
	return 0;
}

static int pw_san_put_topo(struct sk_buff *msg, const struct pw_san *san)
{
	const struct pw_fabric_params *p = &san->fabric.params;
	char name[PACKETWAY_TOPOLOGY_NAME_MAX + 1];

	pw_san_topo_name(san->fabric.topo, p->k, name, sizeof(name));
	return nla_put_string(msg, PACKETWAY_A_SAN_TOPOLOGY, name) ||
	       nla_put_u32(msg, PACKETWAY_A_SAN_SWITCHES,
			   p->topo ? p->topo->units : PW_BMX_STAGES * p->k) ||
	       nla_put_u32(msg, PACKETWAY_A_SAN_SWITCH_PORTS, p->topo ? p->topo->k : p->k) ||
	       nla_put_u32(msg, PACKETWAY_A_SAN_PATHS, pw_fabric_paths(p)) ||
	       nla_put_u32(msg, PACKETWAY_A_SAN_STAGES, pw_fabric_stages(p)) ? -EMSGSIZE : 0;
}

static int pw_san_put_stage(struct sk_buff *msg, const struct pw_stage *s)
{
	struct nlattr *nest = nla_nest_start(msg, PACKETWAY_A_SAN_STAGE);

	if (!nest ||
	    nla_put_u32(msg, PACKETWAY_A_STAGE_UNITS, s->units) ||
	    nla_put_u64_64bit(msg, PACKETWAY_A_STAGE_CELLS, s->count.cells,
			      PACKETWAY_A_STAGE_PAD) ||
	    nla_put_u64_64bit(msg, PACKETWAY_A_STAGE_REFUSED, s->count.refused,
			      PACKETWAY_A_STAGE_PAD) ||
	    nla_put_u64_64bit(msg, PACKETWAY_A_STAGE_DROPPED, s->count.dropped,
			      PACKETWAY_A_STAGE_PAD) ||
	    nla_put_u64_64bit(msg, PACKETWAY_A_STAGE_CORRUPTED, s->count.corrupted,
			      PACKETWAY_A_STAGE_PAD) ||
	    nla_put_u64_64bit(msg, PACKETWAY_A_STAGE_QUEUED, s->queued, PACKETWAY_A_STAGE_PAD) ||
	    nla_put_u32(msg, PACKETWAY_A_STAGE_FULLEST, s->fullest))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

/* what the stages of a SAN's fabric have counted; @n is 0 without a timed engine */
struct pw_san_stages {
	u32 n;
	struct pw_stage s[PW_STAGES_MAX];
};

static int pw_san_put_stages(struct sk_buff *msg, const struct pw_san_stages *st)
{
	u32 i;

	for (i = 0; i < st->n; i++)
		if (pw_san_put_stage(msg, &st->s[i]))
			return -EMSGSIZE;
	return 0;
}

/*
 * Attributes that set a parameter of the ring, where its value lies, and the range in words: a
 * message of older kernels has no room for numbers.
 */
static const struct pw_san_ring_attr {
	u32 attr;
	size_t at;
	const char *range;
} pw_san_ring_attr[] = {
	{ PACKETWAY_A_SAN_RING_PROPAGATION, offsetof(struct pw_ring_params, propagation),
	  "ring-propagation: 0 to 255 bit times" },
	{ PACKETWAY_A_SAN_RING_RELEASE, offsetof(struct pw_ring_params, release),
	  "ring-release: 0 (back) or 1 (appended)" },
	{ PACKETWAY_A_SAN_RING_WIDTH, offsetof(struct pw_ring_params, width),
	  "ring-width: 1 to 64 bits" },
	{ PACKETWAY_A_SAN_RING_BITSUM, offsetof(struct pw_ring_params, bitsum),
	  "ring-bitsum: 1 to 24 bits, or 0 for as many as it takes" },
};

/* attribute of a parameter of the ring; NULL: it has none */
static const struct pw_san_ring_attr *pw_san_ring_find(const struct pw_ring_param *d)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(pw_san_ring_attr); i++)
		if (pw_san_ring_attr[i].at == d->at)
			return &pw_san_ring_attr[i];
	return NULL;
}

/* @p with what a request changes; what it may not be is refused with name and range */
static int pw_san_ring(struct nlattr **tb, struct pw_ring_params *p,
		       struct netlink_ext_ack *extack)
{
	const struct pw_san_ring_attr *a;
	const struct pw_ring_param *d;
	u32 i, v;

	for (i = 0; i < pw_ring_param_num; i++) {
		d = &pw_ring_param[i];
		a = pw_san_ring_find(d);
		if (!a || !tb[a->attr])
			continue;
		v = nla_get_u32(tb[a->attr]);
		if (v < d->min || v > d->san_max) {
			NL_SET_BAD_ATTR(extack, tb[a->attr]);
			if (extack)
				extack->_msg = a->range;
			return -ERANGE;
		}
		pw_ring_param_set(p, d, v);
	}
	return 0;
}

static int pw_san_put_ring(struct sk_buff *msg, const struct pw_ring_params *p)
{
	const struct pw_san_ring_attr *a;
	u32 i;

	for (i = 0; i < pw_ring_param_num; i++) {
		a = pw_san_ring_find(&pw_ring_param[i]);
		if (a && nla_put_u32(msg, a->attr, pw_ring_param_get(p, &pw_ring_param[i])))
			return -EMSGSIZE;
	}
	return 0;
}

/* @f with what a request changes; what it may not be is refused with name and range */
static int pw_san_faults(struct nlattr **tb, struct pw_fabric_faults *f,
			 struct netlink_ext_ack *extack)
{
	if (tb[PACKETWAY_A_SAN_DROP])
		f->drop = nla_get_u32(tb[PACKETWAY_A_SAN_DROP]);
	if (tb[PACKETWAY_A_SAN_CORRUPT])
		f->corrupt = nla_get_u32(tb[PACKETWAY_A_SAN_CORRUPT]);
	if (tb[PACKETWAY_A_SAN_FAULT_SEED])
		f->seed = nla_get_u32(tb[PACKETWAY_A_SAN_FAULT_SEED]);
	if (f->drop > PW_FABRIC_FAULT_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, tb[PACKETWAY_A_SAN_DROP], "drop: 0 to 500000 ppm");
		return -ERANGE;
	}
	if (f->corrupt > PW_FABRIC_FAULT_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, tb[PACKETWAY_A_SAN_CORRUPT],
				    "corrupt: 0 to 500000 ppm");
		return -ERANGE;
	}
	return 0;
}

static int pw_san_put_faults(struct sk_buff *msg, const struct pw_fabric_faults *f)
{
	return nla_put_u32(msg, PACKETWAY_A_SAN_DROP, f->drop) ||
	       nla_put_u32(msg, PACKETWAY_A_SAN_CORRUPT, f->corrupt) ||
	       nla_put_u32(msg, PACKETWAY_A_SAN_FAULT_SEED, f->seed) ? -EMSGSIZE : 0;
}

/* @stages: what its stages have counted, or NULL; @multicast: list its connections */
static int pw_san_fill(struct sk_buff *msg, struct pw_san *san, u32 portid, u32 seq,
		       int flags, u8 cmd, const struct pw_san_stages *stages, bool multicast)
{
	struct nlattr *nest;
	u32 stations = 0;
	void *hdr;
	u32 i;

	for (i = 0; i < san->nports; i++)
		if (pw_port_station(&san->port[i]))
			stations++;

	hdr = genlmsg_put(msg, portid, seq, &pw_genl_family, flags, cmd);
	if (!hdr)
		return -EMSGSIZE;
	nest = nla_nest_start(msg, PACKETWAY_A_SAN);
	if (!nest ||
	    nla_put_u32(msg, PACKETWAY_A_SAN_ID, san->id) ||
	    nla_put_u32(msg, PACKETWAY_A_SAN_PORTS, san->nports) ||
	    nla_put_u32(msg, PACKETWAY_A_SAN_BIAS, san->bias) ||
	    nla_put_u32(msg, PACKETWAY_A_SAN_ENGINE, pw_san_engine(san)) ||
	    nla_put_u32(msg, PACKETWAY_A_SAN_RING_ENGINE, pw_aton_engine(san->aton)) ||
	    pw_san_put_ring(msg, pw_aton_params(san->aton)) ||
	    nla_put_u64_64bit(msg, PACKETWAY_A_SAN_RATE, san->fabric.rate, PACKETWAY_A_SAN_PAD) ||
	    nla_put_u32(msg, PACKETWAY_A_SAN_REAL, san->fabric.real) ||
	    nla_put_u32(msg, PACKETWAY_A_SAN_FROZEN, san->fabric.frozen) ||
	    nla_put_u32(msg, PACKETWAY_A_SAN_CUT_THROUGH, san->fabric.cut_through) ||
	    pw_san_put_params(msg, &san->fabric.params) ||
	    pw_san_put_faults(msg, &san->fabric.fault) ||
	    pw_san_put_topo(msg, san) ||
	    pw_san_topo_put_multicast(msg, san->fabric.topo, multicast) ||
	    nla_put_u32(msg, PACKETWAY_A_SAN_CLOCK, rcu_access_pointer(san->time) ?
			PACKETWAY_CLOCK_LOCKSTEP : PACKETWAY_CLOCK_FREE) ||
	    nla_put_u64_64bit(msg, PACKETWAY_A_SAN_TIME, pw_engine_time(san),
			      PACKETWAY_A_SAN_PAD) ||
	    (pw_ptp_index(san->ptp) >= 0 &&
	     nla_put_u32(msg, PACKETWAY_A_SAN_PHC, pw_ptp_index(san->ptp))) ||
	    nla_put_u32(msg, PACKETWAY_A_SAN_STATIONS, stations) ||
	    (san->pinned && nla_put_flag(msg, PACKETWAY_A_SAN_PINNED)) ||
	    (stages && pw_san_put_stages(msg, stages))) {
		genlmsg_cancel(msg, hdr);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	genlmsg_end(msg, hdr);
	return 0;
}

/* the most that a nest of PACKETWAY_A_STAGE_* takes, with padding of 64-bit numbers */
#define PW_SAN_STAGE_SIZE	(3 * nla_total_size(4) + 5 * nla_total_size_64bit(8))

static struct sk_buff *pw_san_reply(struct pw_san *san, u32 portid, u32 seq, u8 cmd,
				    const struct pw_san_stages *stages, bool multicast)
{
	size_t size = NLMSG_DEFAULT_SIZE;
	struct sk_buff *msg;

	if (stages)
		size += PW_STAGES_MAX * PW_SAN_STAGE_SIZE;
	if (multicast)
		size += pw_san_topo_multicast_size(san->fabric.topo);
	msg = genlmsg_new(size, GFP_KERNEL);
	if (msg && pw_san_fill(msg, san, portid, seq, 0, cmd, stages, multicast)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

static struct sk_buff *pw_san_message(struct pw_san *san, u32 portid, u32 seq, u8 cmd)
{
	return pw_san_reply(san, portid, seq, cmd, NULL, false);
}

/* the nest of a request, and the SAN number that must be in it */
static int pw_san_parse(struct genl_info *info, struct nlattr **tb)
{
	if (GENL_REQ_ATTR_CHECK(info, PACKETWAY_A_SAN))
		return -EINVAL;
	/* the nest was validated with the family's policy */
	nla_parse_nested(tb, PACKETWAY_A_SAN_MAX, info->attrs[PACKETWAY_A_SAN], pw_san_policy,
			 info->extack);
	if (!tb[PACKETWAY_A_SAN_ID]) {
		NL_SET_ERR_MSG(info->extack, "The SAN number is missing");
		return -EINVAL;
	}
	return 0;
}

static struct pw_san *pw_san_of(struct genl_info *info, struct nlattr **tb)
{
	struct pw_san *san;

	san = pw_san_find(genl_info_net(info), nla_get_u32(tb[PACKETWAY_A_SAN_ID]));
	if (san)
		return san;
	NL_SET_ERR_MSG_ATTR(info->extack, tb[PACKETWAY_A_SAN_ID],
			    "There is no SAN with this number in this namespace");
	return ERR_PTR(-ENOENT);
}

/*
 * A fabric may have 4096 input units with 16 queues each: they are read without RTNL. The request
 * has a share of the SAN meanwhile, and pw_net.san_change, which is held, keeps its engine.
 */
static struct pw_san_stages *pw_san_read_stages(struct genl_info *info, struct nlattr **tb)
{
	struct net *net = genl_info_net(info);
	struct pw_san_stages *st;
	struct pw_engine *eng;
	struct pw_san *san;

	st = kzalloc(sizeof(*st), PW_GFP);
	if (!st)
		return ERR_PTR(-ENOMEM);
	rtnl_lock();
	san = pw_san_of(info, tb);
	if (!IS_ERR(san))
		san->users++;
	rtnl_unlock();
	if (IS_ERR(san)) {
		kfree(st);
		return ERR_CAST(san);
	}
	eng = rcu_dereference_protected(san->engine, lockdep_is_held(&pw_net(net)->san_change));
	if (eng->ops->stages)
		st->n = eng->ops->stages(eng, st->s);
	rtnl_lock();
	pw_san_put(san);
	rtnl_unlock();
	return st;
}

static int pw_san_get_reply(struct genl_info *info, struct nlattr **tb,
			    const struct pw_san_stages *st)
{
	struct sk_buff *msg = NULL;
	struct pw_san *san;
	int err = 0;

	rtnl_lock();
	san = pw_san_of(info, tb);
	if (IS_ERR(san))
		err = PTR_ERR(san);
	else
		msg = pw_san_reply(san, info->snd_portid, info->snd_seq, PACKETWAY_CMD_SAN_GET, st,
				   tb[PACKETWAY_A_SAN_WITH_MULTICAST]);
	rtnl_unlock();
	if (err)
		return err;
	return msg ? genlmsg_reply(msg, info) : -ENOMEM;
}

int pw_genl_san_get(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[PACKETWAY_A_SAN_MAX + 1];
	struct pw_net *pn = pw_net(genl_info_net(info));
	struct pw_san_stages *st;
	int err;

	err = pw_san_parse(info, tb);
	if (err)
		return err;
	if (!tb[PACKETWAY_A_SAN_WITH_STAGES])
		return pw_san_get_reply(info, tb, NULL);
	if (mutex_lock_killable(&pn->san_change))
		return -EINTR;
	st = pw_san_read_stages(info, tb);
	err = IS_ERR(st) ? PTR_ERR(st) : pw_san_get_reply(info, tb, st);
	mutex_unlock(&pn->san_change);
	if (!IS_ERR(st))
		kfree(st);
	return err;
}

int pw_genl_san_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct net *net = sock_net(skb->sk);
	struct pw_san *san;
	int err = 0;

	rtnl_lock();
	pw_genl_dump_begin(cb, net, false);
	while ((san = pw_san_next(net, &cb->args[0]))) {
		err = pw_san_fill(skb, san, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				  NLM_F_MULTI, PACKETWAY_CMD_SAN_GET, NULL, false);
		if (err)
			break;
		cb->args[0] = san->id + 1;
	}
	rtnl_unlock();
	return pw_genl_dump_end(skb, cb, err);
}

/* with a rate outside of this range times would overflow */
static int pw_san_check_rate(u64 rate, struct netlink_ext_ack *extack)
{
	if (rate >= 1000 && rate <= 8000 * NSEC_PER_SEC)
		return 0;
	NL_SET_ERR_MSG(extack, "The rate of a link is 1 kb/s to 8 Tb/s");
	return -ERANGE;
}

static int pw_san_check_cut_through(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	if (!attr || nla_get_u32(attr) <= PACKETWAY_CUT_THROUGH_MAX)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "cut-through: 0 is off, an address takes 1 to 10^6 ns");
	return -ERANGE;
}

/*
 * The topology that a request asks for, and its number of ports, of which @ports may be given as
 * well. Without one @topo stays NULL. No lock held
 */
static int pw_san_topo_of(struct nlattr **tb, struct pw_san_topo **topo, u32 *ports,
			  struct netlink_ext_ack *extack)
{
	const struct nlattr *name = tb[PACKETWAY_A_SAN_TOPOLOGY];
	const struct nlattr *plan = tb[PACKETWAY_A_SAN_TOPOLOGY_PLAN];
	const struct nlattr *multicast = tb[PACKETWAY_A_SAN_MULTICAST];
	u32 n;
	int err;

	if (!name && !plan) {
		if (!multicast)
			return 0;
		NL_SET_ERR_MSG_ATTR(extack, multicast,
				    "multicast: connections are set with the topology that has them");
		return -EINVAL;
	}
	err = pw_san_topo_make(name, plan, multicast, topo, &n, extack);
	if (err)
		return err;
	if (n && *ports && *ports != n) {
		NL_SET_ERR_MSG_ATTR(extack, name ?: plan,
				    "topology: it has another number of stations than the SAN has ports");
		pw_san_topo_free(*topo);
		*topo = NULL;
		return -EINVAL;
	}
	*ports = n ?: *ports;
	return 0;
}

/* settings of a new SAN from a request */
static int pw_san_config(struct nlattr **tb, struct pw_san_config *conf,
			 struct netlink_ext_ack *extack)
{
	u32 ports = 0;
	int err;

	pw_san_config_default(conf, nla_get_u32(tb[PACKETWAY_A_SAN_ID]));
	if (tb[PACKETWAY_A_SAN_PORTS]) {
		conf->nports = nla_get_u32(tb[PACKETWAY_A_SAN_PORTS]);
		ports = conf->nports;
	}
	if (tb[PACKETWAY_A_SAN_BIAS])
		conf->bias = nla_get_u32(tb[PACKETWAY_A_SAN_BIAS]);
	if (tb[PACKETWAY_A_SAN_ENGINE])
		conf->engine = nla_get_u32(tb[PACKETWAY_A_SAN_ENGINE]);
	if (tb[PACKETWAY_A_SAN_RING_ENGINE])
		conf->ring_engine = nla_get_u32(tb[PACKETWAY_A_SAN_RING_ENGINE]);
	if (tb[PACKETWAY_A_SAN_RATE])
		conf->rate = nla_get_u64(tb[PACKETWAY_A_SAN_RATE]);
	if (tb[PACKETWAY_A_SAN_CUT_THROUGH])
		conf->cut_through = nla_get_u32(tb[PACKETWAY_A_SAN_CUT_THROUGH]);
	if (tb[PACKETWAY_A_SAN_REAL])
		conf->real = nla_get_u32(tb[PACKETWAY_A_SAN_REAL]);
	if (tb[PACKETWAY_A_SAN_CLOCK])
		conf->lockstep = nla_get_u32(tb[PACKETWAY_A_SAN_CLOCK]);
	err = pw_san_check_rate(conf->rate, extack) ?:
	      pw_san_ring(tb, &conf->ring, extack) ?:
	      pw_san_faults(tb, &conf->fault, extack) ?:
	      pw_san_check_cut_through(tb[PACKETWAY_A_SAN_CUT_THROUGH], extack) ?:
	      pw_san_topo_of(tb, &conf->topo, &ports, extack);
	if (err)
		return err;
	if (ports)
		conf->nports = ports;
	conf->params.topo = conf->topo ? conf->topo->t : NULL;
	return 0;
}

/* make a SAN; RTNL only where it is needed */
static struct pw_san *pw_san_new(struct net *net, struct nlattr **tb, struct pw_san_config *conf,
				 struct netlink_ext_ack *extack)
{
	int err;

	rtnl_lock();
	err = pw_san_check(net, conf, extack);
	rtnl_unlock();
	if (err)
		return ERR_PTR(err);
	conf->params.k = int_sqrt(conf->nports - 1) + 1;
	conf->params.flags = PW_FABRIC_F_DEVICE;
	err = pw_san_params(tb, &conf->params, conf->topo, extack);
	return err ? ERR_PTR(err) : pw_san_make(net, conf, extack);
}

/* SANs that share a clock are counted and made by one request after the other */
static struct pw_san *pw_san_new_lockstep(struct net *net, struct nlattr **tb,
					  struct pw_san_config *conf,
					  struct netlink_ext_ack *extack)
{
	struct pw_san *san;

	if (mutex_lock_killable(&pw_net(net)->san_change))
		return ERR_PTR(-EINTR);
	san = pw_san_new(net, tb, conf, extack);
	mutex_unlock(&pw_net(net)->san_change);
	return san;
}

int pw_genl_san_new(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[PACKETWAY_A_SAN_MAX + 1];
	struct net *net = genl_info_net(info);
	struct pw_san_config conf;
	struct pw_san *san;
	int err;

	err = pw_san_parse(info, tb);
	if (!err)
		err = pw_san_config(tb, &conf, info->extack);
	if (err)
		return err;
	san = conf.lockstep ? pw_san_new_lockstep(net, tb, &conf, info->extack) :
			      pw_san_new(net, tb, &conf, info->extack);
	if (IS_ERR(san)) {
		pw_san_topo_free(conf.topo);
		return PTR_ERR(san);
	}
	rtnl_lock();
	err = pw_san_insert(san, &conf, info->extack);
	if (!err) {
		san->pinned = true;
		pw_genl_notify(net, pw_san_message(san, 0, 0, PACKETWAY_CMD_SAN_NEW));
	}
	rtnl_unlock();
	if (err)
		pw_san_free(san);
	return err;
}

/* what a request makes of a SAN; what it does not name stays */
struct pw_san_change {
	struct pw_fabric_params params;
	struct pw_san_topo *topo;	/* new one; after the change the one to free */
	bool new_topo;
	u32 ports;		/* of the new one; 0: three stages with as many as it has */
	u32 engine;
	u32 ring_engine;
	struct pw_ring_params ring;
	bool rebuild;		/* the fabric is to be made anew */
	bool lockstep;
	bool clock;		/* the clock changes */
};

/* the same for its clock: time must not go back, so what it depends on is fixed. RTNL */
static int pw_san_clock_check(struct pw_san *san, struct nlattr **tb, struct pw_san_change *c,
			      struct netlink_ext_ack *extack)
{
	bool lockstep = rcu_access_pointer(san->time);
	bool real = tb[PACKETWAY_A_SAN_REAL] ? nla_get_u32(tb[PACKETWAY_A_SAN_REAL]) :
					       san->fabric.real;
	u64 rate = tb[PACKETWAY_A_SAN_RATE] ? nla_get_u64(tb[PACKETWAY_A_SAN_RATE]) :
					      san->fabric.rate;

	c->lockstep = tb[PACKETWAY_A_SAN_CLOCK] ? nla_get_u32(tb[PACKETWAY_A_SAN_CLOCK]) : lockstep;
	c->clock = c->lockstep != lockstep;
	if (!c->lockstep)
		return 0;
	if (lockstep && (c->rebuild || rate != san->fabric.rate)) {
		NL_SET_ERR_MSG(extack,
			       "A SAN in lockstep keeps engine, sizes and rate; set its clock to free");
		return -EBUSY;
	}
	return pw_san_lockstep_check(san, c->engine, real, extack);
}

/* the topology of a SAN that a request changes; RTNL */
static int pw_san_topo_check(const struct pw_san *san, struct nlattr **tb, struct pw_san_change *c,
			     struct netlink_ext_ack *extack)
{
	if (!tb[PACKETWAY_A_SAN_TOPOLOGY] && !tb[PACKETWAY_A_SAN_TOPOLOGY_PLAN])
		return 0;
	if (c->ports ? c->ports != san->nports : san->radix * san->radix != san->nports) {
		NL_SET_ERR_MSG(extack,
			       "topology: it has another number of stations than the SAN has ports");
		return -EINVAL;
	}
	if (pw_san_topo_same(san->fabric.topo, c->topo))
		return 0;
	c->new_topo = true;
	c->params.topo = c->topo ? c->topo->t : NULL;
	return 0;
}

/* Can a SAN be changed as a request says? @c gets the result. RTNL */
static int pw_san_change_check(struct pw_san *san, struct nlattr **tb, struct pw_san_change *c,
			       struct netlink_ext_ack *extack)
{
	struct pw_fabric_faults fault = san->fabric.fault;
	int err;

	c->params = san->fabric.params;
	err = pw_san_topo_check(san, tb, c, extack);
	if (!err)
		err = pw_san_params(tb, &c->params, c->new_topo ? c->topo : san->fabric.topo,
				    extack);
	if (err)
		return err;
	if ((tb[PACKETWAY_A_SAN_PORTS] &&
	     nla_get_u32(tb[PACKETWAY_A_SAN_PORTS]) != san->nports) ||
	    (tb[PACKETWAY_A_SAN_BIAS] && nla_get_u32(tb[PACKETWAY_A_SAN_BIAS]) != san->bias)) {
		NL_SET_ERR_MSG(extack, "Ports and bias are fixed; delete the SAN and make another");
		return -EOPNOTSUPP;
	}
	if (tb[PACKETWAY_A_SAN_RATE]) {
		err = pw_san_check_rate(nla_get_u64(tb[PACKETWAY_A_SAN_RATE]), extack);
		if (err)
			return err;
	}
	c->ring = *pw_aton_params(san->aton);
	err = pw_san_ring(tb, &c->ring, extack) ?:
	      pw_san_faults(tb, &fault, extack) ?:
	      pw_san_check_cut_through(tb[PACKETWAY_A_SAN_CUT_THROUGH], extack);
	if (err)
		return err;
	c->engine = tb[PACKETWAY_A_SAN_ENGINE] ? nla_get_u32(tb[PACKETWAY_A_SAN_ENGINE]) :
						 pw_san_engine(san);
	c->ring_engine = tb[PACKETWAY_A_SAN_RING_ENGINE] ?
			 nla_get_u32(tb[PACKETWAY_A_SAN_RING_ENGINE]) : pw_aton_engine(san->aton);
	c->rebuild = c->engine != pw_san_engine(san) ||
		     ((c->engine == PACKETWAY_ENGINE_FAST || c->engine == PACKETWAY_ENGINE_RTL) &&
		      memcmp(&c->params, &san->fabric.params, sizeof(c->params)));
	return pw_san_clock_check(san, tb, c, extack);
}

/*
 * Change a SAN. @eng: the engine to run it by, or NULL; becomes the one that it had. @time:
 * likewise its clock. RTNL
 *
 * Return: 0 or a negative errno; then nothing has changed.
 */
static int pw_san_change(struct pw_san *san, struct nlattr **tb, struct pw_san_change *c,
			 struct pw_engine **eng, struct pw_time **time,
			 struct netlink_ext_ack *extack)
{
	int err = 0;

	/* it may have got a router meanwhile */
	if (c->clock && c->lockstep)
		err = pw_san_lockstep_check(san, c->engine, false, extack);
	if (!err)
		err = pw_san_mtu_check(san, c->engine, extack);
	if (!err)
		err = pw_aton_set(san->aton, c->ring_engine, &c->ring, extack);
	if (err)
		return err;
	san->fabric.params = c->params;
	if (c->new_topo) {
		swap(san->fabric.topo, c->topo);
		WRITE_ONCE(san->paths, pw_fabric_paths(&c->params));
	}
	if (tb[PACKETWAY_A_SAN_RATE])
		WRITE_ONCE(san->fabric.rate, nla_get_u64(tb[PACKETWAY_A_SAN_RATE]));
	if (tb[PACKETWAY_A_SAN_REAL])
		WRITE_ONCE(san->fabric.real, nla_get_u32(tb[PACKETWAY_A_SAN_REAL]));
	if (tb[PACKETWAY_A_SAN_CUT_THROUGH])
		WRITE_ONCE(san->fabric.cut_through, nla_get_u32(tb[PACKETWAY_A_SAN_CUT_THROUGH]));
	/* debugfs may have changed others meanwhile */
	pw_san_faults(tb, &san->fabric.fault, NULL);
	if (tb[PACKETWAY_A_SAN_FROZEN])
		WRITE_ONCE(san->fabric.frozen, nla_get_u32(tb[PACKETWAY_A_SAN_FROZEN]));
	if (*eng)
		*eng = pw_san_engine_swap(san, *eng);
	if (c->clock)
		*time = pw_san_time_swap(san, *time);
	pw_engine_update(san);
	pw_genl_notify(san->net, pw_san_message(san, 0, 0, PACKETWAY_CMD_SAN_SET));
	return 0;
}

/*
 * The memory of a fabric is cleared and the old one emptied without RTNL. The request has a
 * share of the SAN meanwhile, and pw_net.san_change keeps other requests from changing it.
 */
static int pw_san_set(struct nlattr **tb, struct pw_san_change *c, struct genl_info *info)
{
	struct pw_engine *eng = NULL;
	struct pw_time *time = NULL;
	struct pw_san *san;
	int err;

	rtnl_lock();
	san = pw_san_of(info, tb);
	err = IS_ERR(san) ? PTR_ERR(san) : pw_san_change_check(san, tb, c, info->extack);
	if (!err)
		san->users++;
	rtnl_unlock();
	if (err)
		return err;

	if (c->rebuild)
		eng = pw_san_engine_make(san, c->engine, &c->params, info->extack);
	if (c->clock && c->lockstep)
		time = pw_san_time_new(san->net, 0, info->extack);
	rtnl_lock();
	if (IS_ERR(eng)) {
		err = PTR_ERR(eng);
		eng = NULL;
	} else if (IS_ERR(time)) {
		err = PTR_ERR(time);
	} else {
		err = pw_san_change(san, tb, c, &eng, &time, info->extack);
	}
	rtnl_unlock();
	if (eng)
		pw_san_engine_free(eng);
	if (!IS_ERR(time))
		pw_san_time_free(san->net, time);
	rtnl_lock();
	pw_san_put(san);
	rtnl_unlock();
	return err;
}

int pw_genl_san_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[PACKETWAY_A_SAN_MAX + 1];
	struct net *net = genl_info_net(info);
	struct pw_san_change c = {};
	int err;

	err = pw_san_parse(info, tb);
	if (!err)
		err = pw_san_topo_of(tb, &c.topo, &c.ports, info->extack);
	if (err)
		return err;
	if (mutex_lock_killable(&pw_net(net)->san_change)) {
		err = -EINTR;
	} else {
		err = pw_san_set(tb, &c, info);
		mutex_unlock(&pw_net(net)->san_change);
	}
	/* the one that is not used: the old one, whose fabric is gone, or the new one */
	pw_san_topo_free(c.topo);
	return err;
}

/* stations of a SAN that are in its own namespace, on @kill if that is not NULL; RTNL */
static unsigned int pw_san_stations_home(struct pw_san *san, struct list_head *kill)
{
	struct pw_station *st;
	unsigned int n = 0;
	u32 i;

	for (i = 0; i < san->nports; i++) {
		st = pw_port_station(&san->port[i]);
		if (!st || !net_eq(dev_net(st->dev), san->net))
			continue;
		if (kill)
			unregister_netdevice_queue(st->dev, kill);
		n++;
	}
	return n;
}

/* delete a SAN whose only users are its stations and the request that made it; RTNL */
static int pw_san_del_all(struct pw_san *san, struct genl_info *info)
{
	struct sk_buff *msg;
	LIST_HEAD(kill);

	if (san->users > san->pinned + pw_san_stations_home(san, NULL)) {
		NL_SET_ERR_MSG(info->extack,
			       "The SAN has routers, ring-only interfaces or stations elsewhere; delete these first");
		return -EBUSY;
	}
	msg = pw_san_message(san, 0, 0, PACKETWAY_CMD_SAN_DEL);
	/* stations that are unregistered together wait for grace periods together */
	pw_san_stations_home(san, &kill);
	if (san->pinned) {
		san->pinned = false;
		pw_san_put(san);
	}
	unregister_netdevice_many(&kill);
	pw_genl_notify(genl_info_net(info), msg);
	return 0;
}

int pw_genl_san_del(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[PACKETWAY_A_SAN_MAX + 1];
	struct sk_buff *msg;
	struct pw_san *san;
	int err;

	err = pw_san_parse(info, tb);
	if (err)
		return err;

	/* a request that changes the SAN has a share of it */
	if (mutex_lock_killable(&pw_net(genl_info_net(info))->san_change))
		return -EINTR;
	rtnl_lock();
	san = pw_san_of(info, tb);
	if (IS_ERR(san)) {
		err = PTR_ERR(san);
	} else if (tb[PACKETWAY_A_SAN_WITH_STATIONS]) {
		err = pw_san_del_all(san, info);
	} else if (!san->pinned || san->users > 1) {
		NL_SET_ERR_MSG(info->extack,
			       "The SAN is in use; delete its stations and routers first");
		err = -EBUSY;
	} else {
		msg = pw_san_message(san, 0, 0, PACKETWAY_CMD_SAN_DEL);
		san->pinned = false;
		pw_san_put(san);
		pw_genl_notify(genl_info_net(info), msg);
	}
	rtnl_unlock();
	mutex_unlock(&pw_net(genl_info_net(info))->san_change);
	if (!err)
		pw_dying_wait(genl_info_net(info));
	return err;
}
