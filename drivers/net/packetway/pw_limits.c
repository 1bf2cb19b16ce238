// SPDX-License-Identifier: GPL-2.0
/* checkpatch-ignore: BRACKET_SPACE,MACRO_ARG_UNUSED,TRAILING_SEMICOLON (the list of limits) */
/* Limits of a network namespace: counts, refusals, sysctls. See pw_limits.h. */
#include <linux/capability.h>
#include <linux/netlink.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <linux/sysctl.h>

#include "pw_limits.h"
#include "pw_priv.h"

#define PW_X_DEFAULT(sym, name, def, text) [PW_LIMIT_##sym] = def,
static const u32 pw_limit_default[PW_LIMIT_NUM] = { PW_LIMITS(PW_X_DEFAULT) };

/* namespaces made from now on inherit; before, the slot of the parent may be missing */
static bool pw_limits_inherit;

static struct pw_limits *pw_limits(const struct net *net)
{
	return &pw_net(net)->limits;
}

static void pw_limit_refuse(enum pw_limit what, struct netlink_ext_ack *extack)
{
	/* a sentence must be a constant of this module */
#define PW_X_REFUSE(sym, name, def, text)						\
	case PW_LIMIT_##sym:								\
		NL_SET_ERR_MSG(extack, "This namespace has as many " text		\
			       " as net.packetway.max_" #name " allows");		\
		break;

	switch (what) {
	PW_LIMITS(PW_X_REFUSE)
	case PW_LIMIT_NUM:
		break;
	}
#undef PW_X_REFUSE
}

/**
 * pw_limit_charge - count objects against the limit of a namespace
 * @net: the namespace
 * @what: kind of object
 * @n: how many
 * @extack: where a refusal is explained; may be NULL
 *
 * Return: 0, or -ENOSPC; then nothing was charged and the refusal is counted. Any
 * context.
 */
int pw_limit_charge(struct net *net, enum pw_limit what, u32 n, struct netlink_ext_ack *extack)
{
	struct pw_limits *l = pw_limits(net);
	u32 max = READ_ONCE(l->max[what]);
	int used = atomic_read(&l->used[what]);

	do {
		if (n > max || (u32)used > max - n) {
			atomic64_inc(&l->refused[what]);
			pw_limit_refuse(what, extack);
			return -ENOSPC;
		}
	} while (!atomic_try_cmpxchg(&l->used[what], &used, used + n));
	return 0;
}

/**
 * pw_limit_uncharge - the objects have gone
 * @net: as it was charged
 * @what: likewise
 * @n: likewise
 */
void pw_limit_uncharge(struct net *net, enum pw_limit what, u32 n)
{
	atomic_sub(n, &pw_limits(net)->used[what]);
}

/*
 * A value above what the namespace was given needs CAP_NET_ADMIN on the host. With
 * that capability the value becomes what the namespace was given.
 */
static int pw_limit_max_handler(PW_CTL_TABLE *ctl, int write, void *buffer, size_t *lenp,
				loff_t *ppos)
{
	u32 *max = ctl->data;
	struct pw_limits *l = ctl->extra1;
	unsigned int what = max - l->max;
	u32 value = READ_ONCE(*max);
	struct ctl_table tmp = { .data = &value, .maxlen = sizeof(value), .mode = ctl->mode };
	int err;

	err = proc_douintvec(&tmp, write, buffer, lenp, ppos);
	if (err || !write)
		return err;
	if (value > INT_MAX)
		return -ERANGE;
	if (capable(CAP_NET_ADMIN))
		WRITE_ONCE(l->cap[what], value);
	else if (value > READ_ONCE(l->cap[what]))
		return -EPERM;
	WRITE_ONCE(*max, value);
	return 0;
}

/* in use, refused */
static int pw_limit_nr_handler(PW_CTL_TABLE *ctl, int write, void *buffer, size_t *lenp,
			       loff_t *ppos)
{
	struct pw_limits *l = ctl->extra1;
	unsigned int what = (atomic_t *)ctl->data - l->used;
	unsigned long value[2] = {
		atomic_read(&l->used[what]), atomic64_read(&l->refused[what]),
	};
	struct ctl_table tmp = { .data = value, .maxlen = sizeof(value), .mode = ctl->mode };

	return proc_doulongvec_minmax(&tmp, write, buffer, lenp, ppos);
}

static const struct {
	const char *max;
	const char *nr;
} pw_limit_files[PW_LIMIT_NUM] = {
#define PW_X_FILES(sym, name, def, text) [PW_LIMIT_##sym] = { "max_" #name, "nr_" #name },
	PW_LIMITS(PW_X_FILES)
#undef PW_X_FILES
};

/**
 * pw_limits_net_init - a namespace is made: its limits are those of its creator
 * @net: the namespace
 *
 * Return: 0 or -ENOMEM.
 */
int pw_limits_net_init(struct net *net)
{
	struct pw_limits *l = pw_limits(net), *from = NULL;
	struct ctl_table *t;
	unsigned int i;

	if (pw_limits_inherit && current->nsproxy)
		from = pw_limits(current->nsproxy->net_ns);
	/* before Linux 6.6 an empty entry ends the table */
	t = kcalloc(2 * PW_LIMIT_NUM + 1, sizeof(*t), GFP_KERNEL_ACCOUNT);
	if (!t)
		return -ENOMEM;
	for (i = 0; i < PW_LIMIT_NUM; i++) {
		l->max[i] = from ? READ_ONCE(from->max[i]) : pw_limit_default[i];
		l->cap[i] = l->max[i];
		t[2 * i] = (struct ctl_table) {
			.procname = pw_limit_files[i].max,
			.data = &l->max[i],
			.maxlen = sizeof(u32),
			.mode = 0644,
			.proc_handler = pw_limit_max_handler,
			.extra1 = l,
		};
		t[2 * i + 1] = (struct ctl_table) {
			.procname = pw_limit_files[i].nr,
			.data = &l->used[i],
			.maxlen = 2 * sizeof(unsigned long),
			.mode = 0444,
			.proc_handler = pw_limit_nr_handler,
			.extra1 = l,
		};
	}
	l->table = t;
	l->header = pw_register_net_sysctl(net, "net/packetway", t, 2 * PW_LIMIT_NUM);
	if (!l->header) {
		kfree(t);
		l->table = NULL;
		return IS_ENABLED(CONFIG_SYSCTL) ? -ENOMEM : 0;
	}
	return 0;
}

void pw_limits_net_exit(struct net *net)
{
	struct pw_limits *l = pw_limits(net);
	unsigned int i;

	if (l->header)
		unregister_net_sysctl_table(l->header);
	kfree(l->table);
	for (i = 0; i < PW_LIMIT_NUM; i++)
		WARN_ON_ONCE(atomic_read(&l->used[i]));
}

/* every namespace that exists has its limits: from now on new ones inherit */
void pw_limits_start(void)
{
	pw_limits_inherit = true;
}
