/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic netlink family "packetway": SANs, routers, routes, names, and the
 * tables of ESP and POETS. Documentation/netlink/specs/packetway.yaml is the
 * specification; scripts/check-netlink-spec holds this header to it.
 *
 * Each object has one nested attribute at the top level (PACKETWAY_A_SAN, ...)
 * with an attribute set of its own, used alike in requests, replies, dumps and
 * notifications. Every change of an object is notified on the group "events"
 * with the command that made it and the object as a get would show it.
 * Changing anything needs CAP_NET_ADMIN in the user namespace that owns the
 * network namespace of the socket.
 */
#ifndef _UAPI_LINUX_PACKETWAY_NETLINK_H
#define _UAPI_LINUX_PACKETWAY_NETLINK_H

#define PACKETWAY_GENL_NAME	"packetway"
#define PACKETWAY_GENL_VERSION	1
#define PACKETWAY_MCGRP_EVENTS	"events"

enum {
	PACKETWAY_CMD_UNSPEC,
	PACKETWAY_CMD_SAN_GET,
	PACKETWAY_CMD_SAN_NEW,
	PACKETWAY_CMD_SAN_SET,
	PACKETWAY_CMD_SAN_DEL,
	PACKETWAY_CMD_ESP_GET,
	PACKETWAY_CMD_ESP_SET,
	PACKETWAY_CMD_ESP_BINDING_GET,	/* dump; CAP_NET_ADMIN: tags are capabilities */

	__PACKETWAY_GENL_CMD_MAX
};

#define PACKETWAY_GENL_CMD_MAX (__PACKETWAY_GENL_CMD_MAX - 1)

/* top level: one nest per kind of object */
enum {
	PACKETWAY_A_UNSPEC,
	PACKETWAY_A_SAN,		/* nest, PACKETWAY_A_SAN_* */
	PACKETWAY_A_ESP,		/* nest, PACKETWAY_A_ESP_* */

	__PACKETWAY_A_MAX
};

#define PACKETWAY_A_MAX (__PACKETWAY_A_MAX - 1)

/**
 * enum packetway_engine - how a model is run
 * @PACKETWAY_ENGINE_NONE: untimed: frames arrive as soon as they are sent
 * @PACKETWAY_ENGINE_FAST: same results and cycles as rtl, computed
 * @PACKETWAY_ENGINE_RTL: register by register
 * @__PACKETWAY_ENGINE_MAX: number of engines
 */
enum packetway_engine {
	PACKETWAY_ENGINE_NONE,
	PACKETWAY_ENGINE_FAST,
	PACKETWAY_ENGINE_RTL,
	__PACKETWAY_ENGINE_MAX
};

/*
 * A SAN. ID names it; PORTS and BIAS are fixed when it is made.
 *
 * PACKETWAY_A_SAN_ID		u32	0..PACKETWAY_SAN_MAX
 * PACKETWAY_A_SAN_PORTS	u32	k * k with k = 2..16; default 16
 * PACKETWAY_A_SAN_BIAS		u32	address of port p is bias + p + 1; default 256 * id
 * PACKETWAY_A_SAN_ENGINE	u32	fabric: enum packetway_engine
 * PACKETWAY_A_SAN_STATIONS	u32	reply only: stations on it
 * PACKETWAY_A_SAN_PINNED	flag	reply only: made by request, stays without stations
 * PACKETWAY_A_SAN_RING_ENGINE	u32	ring: enum packetway_engine, not NONE
 * PACKETWAY_A_SAN_RATE		u64	bits per second of a fabric link; default 8 * 10^9,
 *					so that a cycle (a byte) is a nanosecond
 * PACKETWAY_A_SAN_REAL		u32	1: the fabric is paced to that rate; 0: virtual
 *					time, which stands still when it is empty
 * PACKETWAY_A_SAN_FROZEN	u32	1: the fabric collects frames and does not run
 * PACKETWAY_A_SAN_TIME		u64	reply only: virtual time in nanoseconds
 * PACKETWAY_A_SAN_PHC		u32	reply only: number of its PTP clock, if it has one
 */
enum {
	PACKETWAY_A_SAN_UNSPEC,
	PACKETWAY_A_SAN_ID,
	PACKETWAY_A_SAN_PORTS,
	PACKETWAY_A_SAN_BIAS,
	PACKETWAY_A_SAN_ENGINE,
	PACKETWAY_A_SAN_STATIONS,
	PACKETWAY_A_SAN_PINNED,
	PACKETWAY_A_SAN_RING_ENGINE,
	PACKETWAY_A_SAN_RATE,
	PACKETWAY_A_SAN_REAL,
	PACKETWAY_A_SAN_FROZEN,
	PACKETWAY_A_SAN_TIME,
	PACKETWAY_A_SAN_PHC,
	PACKETWAY_A_SAN_PAD,

	__PACKETWAY_A_SAN_MAX
};

#define PACKETWAY_A_SAN_MAX (__PACKETWAY_A_SAN_MAX - 1)

/*
 * The ESP store of a station. IFINDEX names the station; without it GET and SET
 * are about the defaults of the namespace, which hold for stations that have no
 * settings of their own, from the next time they come up. A dump shows the
 * stations of the namespace, or, of bindings, those of one station if it names
 * it, oldest first.
 *
 * PACKETWAY_A_ESP_IFINDEX	u32
 * PACKETWAY_A_ESP_NODE		u32	reply only: node id, the station's address
 * PACKETWAY_A_ESP_CAPACITY	u32	1..PACKETWAY_ESP_CAPACITY_MAX; SET of a
 *					station: 0: as the namespace has it
 * PACKETWAY_A_ESP_LIFETIME	u32	milliseconds, 1..PACKETWAY_ESP_LIFETIME_MAX;
 *					0 likewise
 * PACKETWAY_A_ESP_USED		u32	reply only: bindings there are
 * PACKETWAY_A_ESP_TAG		u64	reply only: of a binding
 * PACKETWAY_A_ESP_VALUE	u64	reply only: of a binding
 * PACKETWAY_A_ESP_LEFT		u32	reply only: milliseconds a binding has left
 */
enum {
	PACKETWAY_A_ESP_UNSPEC,
	PACKETWAY_A_ESP_PAD,
	PACKETWAY_A_ESP_IFINDEX,
	PACKETWAY_A_ESP_NODE,
	PACKETWAY_A_ESP_CAPACITY,
	PACKETWAY_A_ESP_LIFETIME,
	PACKETWAY_A_ESP_USED,
	PACKETWAY_A_ESP_TAG,
	PACKETWAY_A_ESP_VALUE,
	PACKETWAY_A_ESP_LEFT,

	__PACKETWAY_A_ESP_MAX
};

#define PACKETWAY_A_ESP_MAX (__PACKETWAY_A_ESP_MAX - 1)

#endif /* _UAPI_LINUX_PACKETWAY_NETLINK_H */
