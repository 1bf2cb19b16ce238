/* SPDX-License-Identifier: GPL-2.0 */
/* checkpatch-ignore: COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_UNUSED (the list of limits) */
/*
 * What one network namespace may make the kernel keep, and which memory cgroup
 * pays for what softirqs allocate.
 *
 * Every object is charged to the home namespace of its SAN, where it lives until
 * the SAN goes, also when a station moves elsewhere. A pwmon device is charged to the
 * namespace it is up in. Memory is charged to the memory cgroup of the task that
 * makes the object; a SAN remembers that cgroup for its softirqs.
 *
 * The table of Documentation/networking/packetway-limits.rst lists all of it.
 */
#ifndef PW_LIMITS_H
#define PW_LIMITS_H

#include <linux/atomic.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/types.h>

struct ctl_table;
struct ctl_table_header;
struct net;
struct netlink_ext_ack;

/*
 * X(SYMBOL, name, default, sentence of a refusal); net.packetway.max_NAME and
 * net.packetway.nr_NAME are made from the name.
 */
#define PW_LIMITS(X)									\
	X(SANS,		sans,		256,	"SANs")					\
	X(STATIONS,	stations,	1024,	"stations")				\
	X(ROUTERS,	routers,	256,	"routers")				\
	X(TRUNKS,	trunks,		64,	"trunks")				\
	X(MONITORS,	monitors,	16,	"monitors")				\
	X(INTERFACES,	interfaces,	1000000, "ring-only interfaces")		\
	X(FILES,	files,		4096,	"bound files")				\
	X(STANDING,	standing,	256,	"standing commands")			\
	X(LEASES,	leases,		1024,	"files with leases")			\
	X(SWITCHES,	switches,	256,	"softswitches and motherships")		\
	X(PARTICIPANTS,	participants,	4096,	"participants of clocks")		\
	X(CLOCK_FILES,	clock_files,	4096,	"clock files")

#define PW_X_LIMIT(sym, name, def, text) PW_LIMIT_##sym,
enum pw_limit {
	PW_LIMITS(PW_X_LIMIT)
	PW_LIMIT_NUM
};

#undef PW_X_LIMIT

/**
 * struct pw_limits - the limits of a network namespace
 * @max: in force; a sysctl
 * @cap: up to here the owner of the namespace may raise @max
 * @used: charged at present
 * @refused: requests that met the limit
 * @header: of the sysctl directory
 * @table: of the same
 */
struct pw_limits {
	u32 max[PW_LIMIT_NUM];
	u32 cap[PW_LIMIT_NUM];
	atomic_t used[PW_LIMIT_NUM];
	atomic64_t refused[PW_LIMIT_NUM];
	struct ctl_table_header *header;
	struct ctl_table *table;
};

/* pw_limits.c APIs */
int pw_limits_net_init(struct net *net);
void pw_limits_net_exit(struct net *net);
void pw_limits_start(void);
int pw_limit_charge(struct net *net, enum pw_limit what, u32 n, struct netlink_ext_ack *extack);
void pw_limit_uncharge(struct net *net, enum pw_limit what, u32 n);

/*
 * Between these two, allocations with __GFP_ACCOUNT are charged to @memcg, also in
 * softirqs and work items, where no task could be charged. The caller holds a
 * reference through the object that @memcg was stored in. NULL: charged as if nothing
 * was done.
 */
static inline struct mem_cgroup *pw_memcg_enter(struct mem_cgroup *memcg)
{
	return set_active_memcg(memcg);
}

static inline void pw_memcg_leave(struct mem_cgroup *old)
{
	set_active_memcg(old);
}

/*
 * For what a user can ask for in any size, or under RTNL. A user whose memory cgroup
 * is full gets ENOMEM: without __GFP_RETRY_MAYFAIL the allocation would wait, with
 * RTNL held, until the OOM killer has ended enough tasks, which may themselves wait
 * for RTNL. A refusal writes nothing to the log.
 */
#define PW_GFP		(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* memory for state that lasts and is made in softirqs, charged to @memcg; kfree() */
static inline void *pw_memcg_alloc(struct mem_cgroup *memcg, size_t size)
{
	struct mem_cgroup *old = pw_memcg_enter(memcg);
	void *mem = kmalloc(size, GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);

	pw_memcg_leave(old);
	return mem;
}

#endif
