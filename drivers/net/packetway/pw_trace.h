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

#include "fabric/fabric.h"
#include "pw_priv.h"
#include "pw_router.h"

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

#ifndef PW_TRACE_ESP
#define PW_TRACE_ESP
#define PW_ESP_VERDICT_NAMES		\
	{ PW_ESP_V_PASS, "pass" },	\
	{ PW_ESP_V_FORWARD, "forward" },	\
	{ PW_ESP_V_DISCARD, "discard" },	\
	{ PW_ESP_V_ABORT, "abort" },	\
	{ PW_ESP_V_DROP, "drop" }
#define PW_ESP_REASON_NAMES		\
	{ PW_ESP_R_OK, "ok" },		\
	{ PW_ESP_R_SHORT, "short" },	\
	{ PW_ESP_R_LOCATION, "location" },	\
	{ PW_ESP_R_OPCODE, "opcode" },	\
	{ PW_ESP_R_LENGTH, "length" },	\
	{ PW_ESP_R_OPERATOR, "operator" },	\
	{ PW_ESP_R_STATE, "state" },	\
	{ PW_ESP_R_FULL, "full" }, \
	{ PW_ESP_R_READONLY, "read-only" }
#define PW_ESP_OPCODE_NAMES		\
	{ PW_ESP_COUNT, "count" },	\
	{ PW_ESP_COMPARE, "compare" },	\
	{ PW_ESP_COLLECT, "collect" },	\
	{ PW_ESP_RCHLD, "rchld" },	\
	{ PW_ESP_RCOLLECT, "rcollect" }
#endif

TRACE_DEFINE_ENUM(PW_ESP_V_PASS);
TRACE_DEFINE_ENUM(PW_ESP_V_FORWARD);
TRACE_DEFINE_ENUM(PW_ESP_V_DISCARD);
TRACE_DEFINE_ENUM(PW_ESP_V_ABORT);
TRACE_DEFINE_ENUM(PW_ESP_V_DROP);
TRACE_DEFINE_ENUM(PW_ESP_R_OK);
TRACE_DEFINE_ENUM(PW_ESP_R_SHORT);
TRACE_DEFINE_ENUM(PW_ESP_R_LOCATION);
TRACE_DEFINE_ENUM(PW_ESP_R_OPCODE);
TRACE_DEFINE_ENUM(PW_ESP_R_LENGTH);
TRACE_DEFINE_ENUM(PW_ESP_R_OPERATOR);
TRACE_DEFINE_ENUM(PW_ESP_R_STATE);
TRACE_DEFINE_ENUM(PW_ESP_R_FULL);
TRACE_DEFINE_ENUM(PW_ESP_R_READONLY);
TRACE_DEFINE_ENUM(PW_ESP_COUNT);
TRACE_DEFINE_ENUM(PW_ESP_COMPARE);
TRACE_DEFINE_ENUM(PW_ESP_COLLECT);
TRACE_DEFINE_ENUM(PW_ESP_RCHLD);
TRACE_DEFINE_ENUM(PW_ESP_RCOLLECT);

/* tags are capabilities: they are not traced */
TRACE_EVENT(pw_esp,
	TP_PROTO(const char *dev, u32 node, const struct pw_eep_view *v,
		 const struct pw_esp_result *res),
	TP_ARGS(dev, node, v, res),
	TP_STRUCT__entry(
		__string(name, dev)
		__field(u32, node)
		__field(u32, src)
		__field(u32, dst)
		__field(int, opcode)
		__field(int, verdict)
		__field(int, reason)
	),
	TP_fast_assign(
		pw_assign_str(name, dev);
		__entry->node = node;
		__entry->src = v->sa;
		__entry->dst = v->dt;
		__entry->opcode = res->opcode;
		__entry->verdict = res->verdict;
		__entry->reason = res->reason;
	),
	TP_printk("dev=%s node=%06x src=%06x dst=%06x opcode=%s verdict=%s reason=%s",
		  __get_str(name), __entry->node, __entry->src, __entry->dst,
		  __print_symbolic(__entry->opcode, PW_ESP_OPCODE_NAMES),
		  __print_symbolic(__entry->verdict, PW_ESP_VERDICT_NAMES),
		  __print_symbolic(__entry->reason, PW_ESP_REASON_NAMES))
);

#ifndef PW_TRACE_POETS
#define PW_TRACE_POETS
#define PW_POETS_DROP_NAMES				\
	{ PW_SOFTSWITCH_OK, "ok" },			\
	{ PW_SOFTSWITCH_D_MALFORMED, "malformed" },	\
	{ PW_SOFTSWITCH_D_LOADING, "loading" },		\
	{ PW_SOFTSWITCH_D_BARRIER, "barrier" },		\
	{ PW_SOFTSWITCH_D_STOPPED, "stopped" },		\
	{ PW_SOFTSWITCH_D_MOTHERSHIP, "mothership" },	\
	{ PW_SOFTSWITCH_D_DEVICE, "device" },		\
	{ PW_SOFTSWITCH_D_OPCODE, "opcode" },		\
	{ PW_SOFTSWITCH_D_PIN, "pin" },			\
	{ PW_SOFTSWITCH_D_EDGE, "edge" }
#endif

TRACE_DEFINE_ENUM(PW_SOFTSWITCH_OK);
TRACE_DEFINE_ENUM(PW_SOFTSWITCH_D_MALFORMED);
TRACE_DEFINE_ENUM(PW_SOFTSWITCH_D_LOADING);
TRACE_DEFINE_ENUM(PW_SOFTSWITCH_D_BARRIER);
TRACE_DEFINE_ENUM(PW_SOFTSWITCH_D_STOPPED);
TRACE_DEFINE_ENUM(PW_SOFTSWITCH_D_MOTHERSHIP);
TRACE_DEFINE_ENUM(PW_SOFTSWITCH_D_DEVICE);
TRACE_DEFINE_ENUM(PW_SOFTSWITCH_D_OPCODE);
TRACE_DEFINE_ENUM(PW_SOFTSWITCH_D_PIN);
TRACE_DEFINE_ENUM(PW_SOFTSWITCH_D_EDGE);

TRACE_EVENT(pw_poets,
	TP_PROTO(const struct net_device *dev, u32 src, const struct pw_poets_pkt *pkt, int drop),
	TP_ARGS(dev, src, pkt, drop),
	TP_STRUCT__entry(
		__string(name, dev->name)
		__field(u32, src)
		__field(u32, sw_addr)
		__field(u32, pin_addr)
		__field(u32, len)
		__field(int, drop)
	),
	TP_fast_assign(
		pw_assign_str(name, dev->name);
		__entry->src = src;
		__entry->sw_addr = pkt->sw_addr;
		__entry->pin_addr = pkt->pin_addr;
		__entry->len = pkt->len;
		__entry->drop = drop;
	),
	TP_printk("dev=%s src=%06x sw=%08x pin=%08x len=%u verdict=%s", __get_str(name),
		  __entry->src, __entry->sw_addr, __entry->pin_addr, __entry->len,
		  __print_symbolic(__entry->drop, PW_POETS_DROP_NAMES))
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

/* an interface had the token from @taken to @released, for one ring packet */
TRACE_EVENT(pw_token,
	TP_PROTO(const struct pw_san *san, u32 iface, u64 taken, u64 released, u64 lost),
	TP_ARGS(san, iface, taken, released, lost),
	TP_STRUCT__entry(
		__field(u32, san)
		__field(u32, iface)
		__field(u64, taken)
		__field(u64, released)
		__field(u64, lost)
	),
	TP_fast_assign(
		__entry->san = san->id;
		__entry->iface = iface;
		__entry->taken = taken;
		__entry->released = released;
		__entry->lost = lost;
	),
	TP_printk("san=%u interface=%u taken=%llu released=%llu lost=%llu", __entry->san,
		  __entry->iface, __entry->taken, __entry->released, __entry->lost)
);

/* a node took a trace symbol off a frame */
TRACE_EVENT(pw_symbol,
	TP_PROTO(const char *name, u32 node, const struct sk_buff *skb),
	TP_ARGS(name, node, skb),
	TP_STRUCT__entry(
		__string(name, name)
		__field(u32, node)
		__field(u32, len)
		__field(u64, delay)
		__field(u8, hops)
	),
	TP_fast_assign(
		pw_assign_str(name, name);
		__entry->node = node;
		__entry->len = skb->len;
		__entry->delay = pw_cb(skb)->delay;
		__entry->hops = pw_cb(skb)->hops;
	),
	TP_printk("name=%s node=%06x hops=%u delay=%llu len=%u", __get_str(name), __entry->node,
		  __entry->hops, __entry->delay, __entry->len)
);

TRACE_EVENT(pw_forward,
	TP_PROTO(const struct pw_half *h, const struct sk_buff *skb, u16 port),
	TP_ARGS(h, skb, port),
	TP_STRUCT__entry(
		__string(router, h->router->name)
		__field(u32, san)
		__field(u32, half)
		__field(u32, dst)
		__field(u32, len)
		__field(u16, port)
		__field(u8, hops)
		__field(bool, own)
	),
	TP_fast_assign(
		pw_assign_str(router, h->router->name);
		__entry->san = h->san->id;
		__entry->half = h->addr;
		__entry->dst = pw_cb(skb)->dt;
		__entry->len = skb->len;
		__entry->port = port;
		__entry->hops = pw_cb(skb)->hops;
		__entry->own = pw_cb(skb)->flags & PW_CB_HALF;
	),
	TP_printk("router=%s san=%u half=%06x dst=%06x port=%d hops=%u len=%u%s",
		  __get_str(router), __entry->san, __entry->half, __entry->dst,
		  __entry->port == PW_PORT_GROUP ? -1 : __entry->port, __entry->hops,
		  __entry->len, __entry->own ? " own" : "")
);

#ifndef PW_TRACE_HALF
#define PW_TRACE_HALF
#define PW_X_HALF_ENUM(sym) TRACE_DEFINE_ENUM(PW_HALF_##sym);
#define PW_X_HALF_PAIR(sym) { PW_HALF_##sym, #sym },
#endif

PW_HALF_STATS(PW_X_HALF_ENUM)

/* a half-router drops it: the reason is one of its counters */
TRACE_EVENT(pw_half_drop,
	TP_PROTO(const struct pw_half *h, const struct sk_buff *skb, int reason),
	TP_ARGS(h, skb, reason),
	TP_STRUCT__entry(
		__string(router, h->router->name)
		__field(u32, half)
		__field(u32, len)
		__field(int, reason)
	),
	TP_fast_assign(
		pw_assign_str(router, h->router->name);
		__entry->half = h->addr;
		__entry->len = skb->len;
		__entry->reason = reason;
	),
	TP_printk("router=%s half=%06x len=%u reason=%s", __get_str(router), __entry->half,
		  __entry->len,
		  __print_symbolic(__entry->reason, PW_HALF_STATS(PW_X_HALF_PAIR) { -1, NULL }))
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
