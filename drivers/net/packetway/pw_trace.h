/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints packetway:*; reasons are printed by name. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM packetway

#if !defined(PW_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define PW_TRACE_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/tracepoint.h>

#include <packetway/compat.h>
#include <packetway/stats.h>

#ifndef PW_TRACE_HELPERS
#define PW_TRACE_HELPERS
#define PW_X_ENUM(sym, name, side) TRACE_DEFINE_ENUM(PW_DROP_##sym);
#define PW_X_PAIR(sym, name, side) { PW_DROP_##sym, name },
#endif

PW_DROP_REASONS(PW_X_ENUM)

TRACE_EVENT(pw_drop,
	TP_PROTO(const struct net_device *dev, const struct sk_buff *skb, int reason),
	TP_ARGS(dev, skb, reason),
	TP_STRUCT__entry(
		__string(name, dev->name)
		__field(unsigned int, len)
		__field(int, reason)
	),
	TP_fast_assign(
		pw_assign_str(name, dev->name);
		__entry->len = skb->len;
		__entry->reason = reason;
	),
	TP_printk("dev=%s len=%u reason=%s", __get_str(name), __entry->len,
		  __print_symbolic(__entry->reason, PW_DROP_REASONS(PW_X_PAIR) { -1, NULL }))
);

#endif /* PW_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE pw_trace
#include <trace/define_trace.h>
