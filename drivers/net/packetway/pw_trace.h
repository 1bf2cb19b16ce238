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

#include "fabric.h"
#include "pw_priv.h"

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

TRACE_EVENT(pw_aton_command,
	TP_PROTO(const struct pw_san *san, const struct pw_ring_cmd *cmd, u64 time),
	TP_ARGS(san, cmd, time),
	TP_STRUCT__entry(
		__field(u32, san)
		__field(u32, dst)
		__field(u32, counter)
		__field(u64, v1)
		__field(u64, v2)
		__field(u64, wait)
		__field(u64, ring_bits)
		__field(u64, time)
		__field(u8, op)
		__field(u8, reg)
		__field(u8, err)
		__field(bool, standing)
	),
	TP_fast_assign(
		__entry->san = san->id;
		__entry->dst = cmd->dst;
		__entry->counter = cmd->counter;
		__entry->v1 = cmd->v1;
		__entry->v2 = cmd->v2;
		__entry->wait = cmd->wait;
		__entry->ring_bits = cmd->ring_bits;
		__entry->time = time;
		__entry->op = cmd->op;
		__entry->reg = cmd->reg;
		__entry->err = cmd->err;
		__entry->standing = cmd->standing;
	),
	TP_printk("san=%u op=%u reg=%u dst=%06x error=%u%s counter=%u v1=%llu v2=%llu wait=%llu bits=%llu time=%llu",
		  __entry->san, __entry->op, __entry->reg, __entry->dst, __entry->err,
		  __entry->standing ? " standing" : "", __entry->counter, __entry->v1,
		  __entry->v2, __entry->wait, __entry->ring_bits, __entry->time)
);

TRACE_EVENT(pw_deliver,
	TP_PROTO(const struct pw_san *san, u16 src, u16 dst, u32 len, u64 start, u64 cycle),
	TP_ARGS(san, src, dst, len, start, cycle),
	TP_STRUCT__entry(
		__field(u32, san)
		__field(u32, len)
		__field(u64, start)
		__field(u64, cycle)
		__field(u16, src)
		__field(u16, dst)
	),
	TP_fast_assign(
		__entry->san = san->id;
		__entry->len = len;
		__entry->start = start;
		__entry->cycle = cycle;
		__entry->src = src;
		__entry->dst = dst;
	),
	TP_printk("san=%u src=%u dst=%u len=%u start=%llu cycle=%llu", __entry->san,
		  __entry->src, __entry->dst, __entry->len, __entry->start, __entry->cycle)
);

TRACE_DEFINE_ENUM(PW_FABRIC_EV_HOP);
TRACE_DEFINE_ENUM(PW_FABRIC_EV_SUSPEND);
TRACE_DEFINE_ENUM(PW_FABRIC_EV_CELL);
TRACE_DEFINE_ENUM(PW_FABRIC_EV_RESEND);
TRACE_DEFINE_ENUM(PW_FABRIC_EV_ACK);
TRACE_DEFINE_ENUM(PW_FABRIC_EV_ACKED);
TRACE_DEFINE_ENUM(PW_FABRIC_EV_BAD);
TRACE_DEFINE_ENUM(PW_FABRIC_EV_DROP);

TRACE_EVENT(pw_cell,
	TP_PROTO(const struct pw_san *san, const struct pw_fabric_trace *t),
	TP_ARGS(san, t),
	TP_STRUCT__entry(
		__field(u32, san)
		__field(u32, event)
		__field(u32, unit)
		__field(u32, n)
		__field(u64, cycle)
		__field(u16, src)
		__field(u16, dst)
		__field(u16, sqn)
	),
	TP_fast_assign(
		__entry->san = san->id;
		__entry->event = t->ev;
		__entry->unit = t->unit;
		__entry->n = t->n;
		__entry->cycle = t->cycle;
		__entry->src = t->src;
		__entry->dst = t->dst;
		__entry->sqn = t->sqn;
	),
	TP_printk("san=%u cycle=%llu event=%s unit=%u n=%u src=%u dst=%u sqn=%u", __entry->san,
		  __entry->cycle,
		  __print_symbolic(__entry->event,
				   { PW_FABRIC_EV_HOP, "hop" },
				   { PW_FABRIC_EV_SUSPEND, "suspend" },
				   { PW_FABRIC_EV_CELL, "cell" },
				   { PW_FABRIC_EV_RESEND, "resend" },
				   { PW_FABRIC_EV_ACK, "ack" },
				   { PW_FABRIC_EV_ACKED, "acked" },
				   { PW_FABRIC_EV_BAD, "bad" },
				   { PW_FABRIC_EV_DROP, "drop" }),
		  __entry->unit, __entry->n, __entry->src, __entry->dst, __entry->sqn)
);

#endif /* PW_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE pw_trace
#include <trace/define_trace.h>
