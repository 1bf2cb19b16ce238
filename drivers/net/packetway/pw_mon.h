/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Captures of a SAN: pwmon devices, `ip link add pwmon0 type pwmon`.
 *
 * A pwmon device that is up records every frame of the SANs whose home is its namespace
 * and, if enabled, every ring packet and every cell at every hop; the record that each
 * becomes is in <linux/packetway.h>. Without such a device the calls below are a jump
 * that is not taken, and the models make no bytes.
 */
#ifndef PW_MON_H
#define PW_MON_H

#include <linux/jump_label_ratelimit.h>
#include <linux/skbuff.h>

#include <linux/packetway.h>

#include "pw_priv.h"

extern struct static_key_false_deferred pw_mon_key;

static inline bool pw_mon_on(void)
{
	return static_branch_unlikely(&pw_mon_key.key);
}

/* private part of a pwmon device */
struct pw_mon {
	struct net_device *dev;
	struct list_head entry;	/* pw_net.mons while the device is up */
	bool ring;		/* READ_ONCE; written under RTNL */
	bool cells;
};

/* pw_mon_dev.c APIs */
extern struct rtnl_link_ops pw_mon_link_ops;
bool pw_mon_is(const struct net_device *dev);
void pw_mon_exit(void);

/* pw_mon.c APIs; BH off, RCU held where a record is made */
bool pw_mon_wants_ring(const struct net *net);
bool pw_mon_wants_cells(const struct pw_san *san);
void __pw_mon_frame(struct pw_san *san, u32 unit, u8 direction, const struct sk_buff *skb, u64 ns);
void pw_mon_bytes(const struct pw_san *san, u8 kind, u32 unit, u8 direction, u64 vtime,
		  const u8 *bytes, u32 len);
void pw_mon_ring(const struct pw_san *san, u32 width, u32 interface, u64 vtime, const u8 *bytes,
		 u32 len);

/*
 * A frame enters the SAN at a port; @type is that of the unit there. The engine's lock is
 * not held.
 */
static inline void pw_mon_out(struct pw_san *san, u32 type, u32 port, const struct sk_buff *skb)
{
	if (pw_mon_on())
		__pw_mon_frame(san, PACKETWAY_MON_UNIT(type, port), PACKETWAY_MON_OUT, skb,
			       pw_engine_time(san));
}

/* a frame has arrived, or is dropped, at a port; @ns: virtual time, 0 without a clock */
static inline void pw_mon_record(struct pw_san *san, u32 type, u32 port, u8 direction,
				 const struct sk_buff *skb, u64 ns)
{
	if (pw_mon_on())
		__pw_mon_frame(san, PACKETWAY_MON_UNIT(type, port), direction, skb, ns);
}

#endif
