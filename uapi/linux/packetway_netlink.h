/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic netlink family "packetway": SANs, routers, routes, names, and the
 * tables of ESP and POETS. Documentation/netlink/specs/packetway.yaml is the
 * specification; tools/testing/netlink/run.sh holds this header to it.
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
	PACKETWAY_CMD_ROUTER_GET,	/* do: by name; dump: all */
	PACKETWAY_CMD_ROUTER_NEW,
	PACKETWAY_CMD_ROUTER_DEL,
	PACKETWAY_CMD_ROUTE_GET,	/* dump only; with a SAN or of all */
	PACKETWAY_CMD_NODE_GET,		/* dump only: names; with a SAN or of all */
	PACKETWAY_CMD_RESOLVE,		/* do: a node by address or name, and the routes to it */
	PACKETWAY_CMD_ROUTE_NTF,	/* event: a route in use was added, changed or removed */
	PACKETWAY_CMD_POETS_GET,	/* dump only; of one station or of all */
	PACKETWAY_CMD_ROUTE_NEW,	/* a static route, or a source route of a station */
	PACKETWAY_CMD_ROUTE_DEL,

	__PACKETWAY_GENL_CMD_MAX
};

#define PACKETWAY_GENL_CMD_MAX (__PACKETWAY_GENL_CMD_MAX - 1)

/* top level: one nest per kind of object */
enum {
	PACKETWAY_A_UNSPEC,
	PACKETWAY_A_SAN,		/* nest, PACKETWAY_A_SAN_* */
	PACKETWAY_A_ESP,		/* nest, PACKETWAY_A_ESP_* */
	PACKETWAY_A_ROUTER,		/* nest, PACKETWAY_A_ROUTER_* */
	PACKETWAY_A_ROUTE,		/* nest, PACKETWAY_A_ROUTE_*; several in RESOLVE */
	PACKETWAY_A_NODE,		/* nest, PACKETWAY_A_NODE_* */
	PACKETWAY_A_POETS,		/* nest, PACKETWAY_A_POETS_* */

	__PACKETWAY_A_MAX
};

#define PACKETWAY_A_MAX (__PACKETWAY_A_MAX - 1)

/**
 * enum packetway_engine - how a model is run
 * @PACKETWAY_ENGINE_NONE: untimed: frames arrive as soon as they are sent
 * @PACKETWAY_ENGINE_FAST: same results and cycles as rtl, computed
 * @PACKETWAY_ENGINE_RTL: register by register
 * @PACKETWAY_ENGINE_RING: frames are passive packets on the ATON ring of the SAN; no engine of a
 *	ring
 * @__PACKETWAY_ENGINE_MAX: number of engines
 */
enum packetway_engine {
	PACKETWAY_ENGINE_NONE,
	PACKETWAY_ENGINE_FAST,
	PACKETWAY_ENGINE_RTL,
	PACKETWAY_ENGINE_RING,
	__PACKETWAY_ENGINE_MAX
};

/**
 * enum packetway_clock - how the virtual time of a SAN advances
 * @PACKETWAY_CLOCK_FREE: while there is traffic
 * @PACKETWAY_CLOCK_LOCKSTEP: while every participant is blocked, see PACKETWAY_IOC_TIME_OPEN
 * @__PACKETWAY_CLOCK_MAX: number of clocks
 */
enum packetway_clock {
	PACKETWAY_CLOCK_FREE,
	PACKETWAY_CLOCK_LOCKSTEP,
	__PACKETWAY_CLOCK_MAX
};

/**
 * enum packetway_release - when the sender of a ring packet releases the token
 * @PACKETWAY_RELEASE_BACK: when its packet is back
 * @PACKETWAY_RELEASE_APPENDED: behind its packet, so that several may be on the ring
 * @__PACKETWAY_RELEASE_MAX: number of ways
 */
enum packetway_release {
	PACKETWAY_RELEASE_BACK,
	PACKETWAY_RELEASE_APPENDED,
	__PACKETWAY_RELEASE_MAX
};

#define PACKETWAY_RING_PROPAGATION_MAX	255
#define PACKETWAY_CUT_THROUGH_MAX	1000000

/*
 * A SAN. ID names it; PORTS and BIAS are fixed when it is made.
 *
 * PACKETWAY_A_SAN_ID		u32	0..PACKETWAY_SAN_MAX
 * PACKETWAY_A_SAN_PORTS	u32	k * k with k = 2..16; default 16. With a topology: the
 *					number of its stations
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
 *
 * Sizes and times of the fabric, u32 each. 0 takes the default; a change starts a new fabric,
 * and frames under way in the old one are delivered at once. A value that the others do not
 * allow is refused with its name and range.
 * PACKETWAY_A_SAN_DEPTH	u32	cells in a queue of a switch
 * PACKETWAY_A_SAN_OG_BLOCKS	u32	blocks of a port's send buffer
 * PACKETWAY_A_SAN_IC_BLOCKS	u32	blocks of a port's receive buffer
 * PACKETWAY_A_SAN_DESCS	u32	message descriptors of a port for each source
 * PACKETWAY_A_SAN_CREDIT	u32	cells on their way to a port
 * PACKETWAY_A_SAN_RESEND	u32	cycles until a cell is sent again
 * PACKETWAY_A_SAN_QUEUE	u32	messages of a port, waiting or on their way
 * PACKETWAY_A_SAN_GAP_LOCK	u32	idle cycles of a sender before init-send
 * PACKETWAY_A_SAN_GAP_INIT	u32	idle cycles of a sender after it
 * PACKETWAY_A_SAN_GAP_GET	u32	idle cycles of a receiver before its first get
 * PACKETWAY_A_SAN_GAP_WORD	u32	idle cycles of a process before every word
 *
 * PACKETWAY_A_SAN_CLOCK	u32	enum packetway_clock. A SAN in lockstep has no
 *					routers, and keeps engine, sizes and rate
 * PACKETWAY_A_SAN_RING_PROPAGATION u32	bit times that each hop of the ring takes beside the
 *					one of the interface, 0..255; default 0
 * PACKETWAY_A_SAN_RING_RELEASE	u32	enum packetway_release; default BACK
 * PACKETWAY_A_SAN_RING_WIDTH	u32	bits of an operand on the ring, 1..64; default 64. Results
 *					are modulo 2^width
 * PACKETWAY_A_SAN_RING_BITSUM	u32	bits of a count in a BITSUM, 1..24, or 0: as many as a
 *					count of all interfaces takes; default 24
 * PACKETWAY_A_SAN_WITH_STATIONS flag	SAN_DEL only: delete its stations with it, all at
 *					once; they must be in its namespace
 * PACKETWAY_A_SAN_ROUTE	u32	path of a cell, a parameter of the fabric as above: 1 in
 *					turn, 2 fixed by both ports, 3..65535 random with that
 *					seed, 65536 least queue
 * PACKETWAY_A_SAN_CUT_THROUGH	u32	0, the default: half-routers on this SAN forward a frame
 *					when it is there as a whole. 1..1000000: in virtual time
 *					they begin when its first cell is there, 1 ns later by
 *					source route and so many ns later by address
 *
 * Faults of cells. A change does not start a new fabric.
 * PACKETWAY_A_SAN_DROP		u32	cells in a million that an input unit drops, 0..500000;
 *					default 0
 * PACKETWAY_A_SAN_CORRUPT	u32	cells in a million that an input unit damages, likewise
 * PACKETWAY_A_SAN_FAULT_SEED	u32	seed that decides which cells these are; default 1
 *
 * Topology of the fabric. A change starts a new fabric and keeps the number of ports.
 * PACKETWAY_A_SAN_TOPOLOGY	string	generator and sizes, such as torus:4x4; with a plan: any
 *					name; "default": three stages of k switches. At most
 *					PACKETWAY_TOPOLOGY_NAME_MAX bytes. Replies have it always,
 *					clos:KxKxK for three stages
 * PACKETWAY_A_SAN_TOPOLOGY_PLAN binary	request only: struct packetway_topology and what follows
 *					it; switches, links and routes instead of a generator
 * PACKETWAY_A_SAN_SWITCHES	u32	reply only: switches of the fabric
 * PACKETWAY_A_SAN_SWITCH_PORTS	u32	reply only: inputs, and outputs, of a switch
 * PACKETWAY_A_SAN_PATHS	u32	reply only: paths between two stations
 * PACKETWAY_A_SAN_STAGES	u32	reply only: stages of input units
 * PACKETWAY_A_SAN_WITH_STAGES	flag	SAN_GET of one SAN only: the reply has PACKETWAY_A_SAN_STAGE
 * PACKETWAY_A_SAN_STAGE	nest	reply only, PACKETWAY_A_STAGE_*, once for each stage and
 *					once for the output ports; none without a timed engine
 * PACKETWAY_A_SAN_MULTICAST	nest	PACKETWAY_A_MULTICAST_*: connections of the topology, with
 *					which they are set: a topology without this has none
 * PACKETWAY_A_SAN_WITH_MULTICAST flag	SAN_GET of one SAN only: the reply lists its connections
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
	PACKETWAY_A_SAN_DEPTH,
	PACKETWAY_A_SAN_OG_BLOCKS,
	PACKETWAY_A_SAN_IC_BLOCKS,
	PACKETWAY_A_SAN_DESCS,
	PACKETWAY_A_SAN_CREDIT,
	PACKETWAY_A_SAN_RESEND,
	PACKETWAY_A_SAN_QUEUE,
	PACKETWAY_A_SAN_GAP_LOCK,
	PACKETWAY_A_SAN_GAP_INIT,
	PACKETWAY_A_SAN_GAP_GET,
	PACKETWAY_A_SAN_GAP_WORD,
	PACKETWAY_A_SAN_CLOCK,
	PACKETWAY_A_SAN_WITH_STATIONS,
	PACKETWAY_A_SAN_ROUTE,
	PACKETWAY_A_SAN_RING_PROPAGATION,
	PACKETWAY_A_SAN_TOPOLOGY,
	PACKETWAY_A_SAN_TOPOLOGY_PLAN,
	PACKETWAY_A_SAN_STAGE,
	PACKETWAY_A_SAN_RING_RELEASE,
	PACKETWAY_A_SAN_RING_WIDTH,
	PACKETWAY_A_SAN_RING_BITSUM,
	PACKETWAY_A_SAN_CUT_THROUGH,
	PACKETWAY_A_SAN_WITH_STAGES,
	PACKETWAY_A_SAN_SWITCHES,
	PACKETWAY_A_SAN_SWITCH_PORTS,
	PACKETWAY_A_SAN_PATHS,
	PACKETWAY_A_SAN_STAGES,
	PACKETWAY_A_SAN_MULTICAST,
	PACKETWAY_A_SAN_WITH_MULTICAST,
	PACKETWAY_A_SAN_DROP,
	PACKETWAY_A_SAN_CORRUPT,
	PACKETWAY_A_SAN_FAULT_SEED,

	__PACKETWAY_A_SAN_MAX
};

#define PACKETWAY_A_SAN_MAX (__PACKETWAY_A_SAN_MAX - 1)

/*
 * A stage of a fabric: counters of its input units since the fabric was started, and what
 * waits there now. The output ports, which are the last stage, have cells and refusals only.
 *
 * PACKETWAY_A_STAGE_UNITS	u32	input units, or output ports
 * PACKETWAY_A_STAGE_CELLS	u64	cells taken in
 * PACKETWAY_A_STAGE_REFUSED	u64	cycles in which cells had to wait for a full queue
 * PACKETWAY_A_STAGE_DROPPED	u64	cells lost by injected faults
 * PACKETWAY_A_STAGE_CORRUPTED	u64	cells damaged by injected faults
 * PACKETWAY_A_STAGE_QUEUED	u64	bytes that wait
 * PACKETWAY_A_STAGE_FULLEST	u32	of these, at the input unit that has most
 */
enum {
	PACKETWAY_A_STAGE_UNSPEC,
	PACKETWAY_A_STAGE_PAD,
	PACKETWAY_A_STAGE_UNITS,
	PACKETWAY_A_STAGE_CELLS,
	PACKETWAY_A_STAGE_REFUSED,
	PACKETWAY_A_STAGE_DROPPED,
	PACKETWAY_A_STAGE_CORRUPTED,
	PACKETWAY_A_STAGE_QUEUED,
	PACKETWAY_A_STAGE_FULLEST,

	__PACKETWAY_A_STAGE_MAX
};

#define PACKETWAY_A_STAGE_MAX (__PACKETWAY_A_STAGE_MAX - 1)

/*
 * Multicast connections of a fabric. A frame of a station to a logical address goes only to the
 * members of a connection if that has every port whose station or half-router takes such frames
 * when it is sent: the one with the fewest members, of these the first. All other frames to a
 * group go to all ports.
 *
 * PACKETWAY_A_MULTICAST_CONNECTIONS u32	reply only: how many there are
 * PACKETWAY_A_MULTICAST_CONNECTION	nest	PACKETWAY_A_CONNECTION_*, once for each, at
 *						most PACKETWAY_CONNECTIONS_MAX
 */
enum {
	PACKETWAY_A_MULTICAST_UNSPEC,
	PACKETWAY_A_MULTICAST_CONNECTIONS,
	PACKETWAY_A_MULTICAST_CONNECTION,

	__PACKETWAY_A_MULTICAST_MAX
};

#define PACKETWAY_A_MULTICAST_MAX (__PACKETWAY_A_MULTICAST_MAX - 1)

#define PACKETWAY_CONNECTIONS_MAX	1024

/*
 * PACKETWAY_A_CONNECTION_FROM	u32	port that sends
 * PACKETWAY_A_CONNECTION_TO	binary	members, at most 32 bytes: bit p % 8 of byte p / 8 is
 *					port p. There is at least one, and the sender is none
 */
enum {
	PACKETWAY_A_CONNECTION_UNSPEC,
	PACKETWAY_A_CONNECTION_FROM,
	PACKETWAY_A_CONNECTION_TO,

	__PACKETWAY_A_CONNECTION_MAX
};

#define PACKETWAY_A_CONNECTION_MAX (__PACKETWAY_A_CONNECTION_MAX - 1)

#define PACKETWAY_TOPOLOGY_NAME_MAX	63
#define PACKETWAY_TOPOLOGY_NONE		0xffff	/* no link */
#define PACKETWAY_TOPOLOGY_STATION	0x8000	/* station in the bits below */

/**
 * struct packetway_topology - head of a topology as data, in the byte order of the host
 * @switches: number of switches
 * @switch_ports: inputs, and outputs, of each, 2..16
 * @stations: number of stations, 2..256
 * @paths: paths between two stations, 1..16
 * @rows: number of rows, see below
 *
 * Input or output i of switch s has the number s * switch_ports + i. Behind the head follow,
 * without gaps:
 *
 *	__u16 in[stations]		input that a station drives
 *	__u16 out[stations]		output that drives a station
 *	__u16 peer[switches * switch_ports]	input that an output drives,
 *					PACKETWAY_TOPOLOGY_STATION + station, or
 *					PACKETWAY_TOPOLOGY_NONE
 *	__u16 row[switches * switch_ports * paths]	row for cells of an input and path
 *	__u8 output[rows][(stations + 1) / 2]	output of the switch, 0..switch_ports - 1, that
 *					leads to a station: four bits for each, the lower
 *					ones first
 *
 * An entry that no cell needs may have any value, so that many inputs share a row.
 */
struct packetway_topology {
	__u32 switches;
	__u32 switch_ports;
	__u32 stations;
	__u32 paths;
	__u32 rows;
};

/*
 * The ESP store of a node. IFINDEX names a station, NODE a half-router of the
 * namespace's routers. Without either, GET and SET apply to the defaults of the
 * namespace, which nodes without settings of their own take when they come up. A
 * dump lists the stations and half-routers of the namespace; a dump of bindings
 * lists those of all nodes or of the node that the request names, oldest first.
 *
 * PACKETWAY_A_ESP_IFINDEX	u32
 * PACKETWAY_A_ESP_NODE		u32	node id, its address; in requests: of a
 *					half-router
 * PACKETWAY_A_ESP_CAPACITY	u32	1..PACKETWAY_ESP_CAPACITY_MAX; SET of a
 *					station: 0: the default of the namespace
 * PACKETWAY_A_ESP_LIFETIME	u32	milliseconds, 1..PACKETWAY_ESP_LIFETIME_MAX;
 *					0 likewise
 * PACKETWAY_A_ESP_USED		u32	reply only: number of bindings
 * PACKETWAY_A_ESP_TAG		u64	reply only: of a binding
 * PACKETWAY_A_ESP_VALUE	u64	reply only: of a binding
 * PACKETWAY_A_ESP_LEFT		u32	reply only: milliseconds a binding has left
 * PACKETWAY_A_ESP_ROUTER	string	reply only: router of a half-router
 * PACKETWAY_A_ESP_STATS	nest	reply only: PACKETWAY_A_ESP_STAT_* of a
 *					half-router; stations: ethtool -S
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
	PACKETWAY_A_ESP_ROUTER,
	PACKETWAY_A_ESP_STATS,

	__PACKETWAY_A_ESP_MAX
};

#define PACKETWAY_A_ESP_MAX (__PACKETWAY_A_ESP_MAX - 1)

/* instructions by verdict, u64 each */
enum {
	PACKETWAY_A_ESP_STAT_UNSPEC,
	PACKETWAY_A_ESP_STAT_PAD,
	PACKETWAY_A_ESP_STAT_UNKNOWN_FORWARD,
	PACKETWAY_A_ESP_STAT_UNKNOWN_DISCARD,
	PACKETWAY_A_ESP_STAT_UNKNOWN_ABORT,
	PACKETWAY_A_ESP_STAT_COUNT_FORWARD,
	PACKETWAY_A_ESP_STAT_COUNT_DISCARD,
	PACKETWAY_A_ESP_STAT_COUNT_ABORT,
	PACKETWAY_A_ESP_STAT_COMPARE_FORWARD,
	PACKETWAY_A_ESP_STAT_COMPARE_DISCARD,
	PACKETWAY_A_ESP_STAT_COMPARE_ABORT,
	PACKETWAY_A_ESP_STAT_COLLECT_FORWARD,
	PACKETWAY_A_ESP_STAT_COLLECT_DISCARD,
	PACKETWAY_A_ESP_STAT_COLLECT_ABORT,
	PACKETWAY_A_ESP_STAT_RCHLD_FORWARD,
	PACKETWAY_A_ESP_STAT_RCHLD_DISCARD,
	PACKETWAY_A_ESP_STAT_RCHLD_ABORT,
	PACKETWAY_A_ESP_STAT_RCOLLECT_FORWARD,
	PACKETWAY_A_ESP_STAT_RCOLLECT_DISCARD,
	PACKETWAY_A_ESP_STAT_RCOLLECT_ABORT,

	__PACKETWAY_A_ESP_STAT_MAX
};

#define PACKETWAY_A_ESP_STAT_MAX (__PACKETWAY_A_ESP_STAT_MAX - 1)

/*
 * A router: two half-routers, each on a port of a SAN.
 *
 * PACKETWAY_A_ROUTER_NAME	string	at most 31 bytes; names it
 * PACKETWAY_A_ROUTER_HALF	nest	twice, PACKETWAY_A_HALF_*: one half, the other half;
 *					once with a trunk
 * PACKETWAY_A_ROUTER_TRUNK	nest	PACKETWAY_A_TRUNK_*: the other half is on another host
 * PACKETWAY_A_ROUTER_USER	nest	reply only, PACKETWAY_A_USER_*: a program is the other
 *					half (PACKETWAY_IOC_HALF_OPEN)
 */
enum {
	PACKETWAY_A_ROUTER_UNSPEC,
	PACKETWAY_A_ROUTER_NAME,
	PACKETWAY_A_ROUTER_HALF,
	PACKETWAY_A_ROUTER_TRUNK,
	PACKETWAY_A_ROUTER_USER,

	__PACKETWAY_A_ROUTER_MAX
};

#define PACKETWAY_A_ROUTER_MAX (__PACKETWAY_A_ROUTER_MAX - 1)
#define PACKETWAY_ROUTER_NAME_MAX 31

/*
 * The program of a half-router in user space
 *
 * PACKETWAY_A_USER_PEER	u32	reply only: address of its other half, 0: none
 * PACKETWAY_A_USER_QUEUED	u32	reply only: frames that it has not read yet
 */
enum {
	PACKETWAY_A_USER_UNSPEC,
	PACKETWAY_A_USER_PEER,
	PACKETWAY_A_USER_QUEUED,

	__PACKETWAY_A_USER_MAX
};

#define PACKETWAY_A_USER_MAX (__PACKETWAY_A_USER_MAX - 1)

/*
 * A trunk: over UDP with LOCAL and REMOTE, or over an Ethernet device with DEV,
 * where frames have the type 0x88B5 and the first node that answers is the peer.
 *
 * PACKETWAY_A_TRUNK_LOCAL	binary	struct sockaddr_in or sockaddr_in6 of this end
 * PACKETWAY_A_TRUNK_REMOTE	binary	likewise of the other end, same family
 * PACKETWAY_A_TRUNK_KEY	binary	32 bytes that both ends share; never in a reply
 * PACKETWAY_A_TRUNK_INSECURE	flag	no key, and the peer may be anywhere; without it a
 *					peer without a key is on this host or its links
 * PACKETWAY_A_TRUNK_KEYED	flag	reply only: there is a key
 * PACKETWAY_A_TRUNK_UP		flag	reply only: the other end answers
 * PACKETWAY_A_TRUNK_PEER	u32	address of the other half, 0: not known; given only with
 *					BARE: RRP messages from this address count
 * PACKETWAY_A_TRUNK_STATS	nest	reply only, PACKETWAY_A_TRUNK_STAT_*
 * PACKETWAY_A_TRUNK_DEV	u32	index of an Ethernet device of the namespace; the
 *					router is deleted with it
 * PACKETWAY_A_TRUNK_ID		u32	0..65535, default 0: tells the trunks of a device
 *					apart; both ends have the same
 * PACKETWAY_A_TRUNK_MTU	u32	reply only: bytes of data that fit, 0: any
 * PACKETWAY_A_TRUNK_BARE	flag	with DEV: EEP messages without a trunk header, for
 *					other implementations; no key, no id, no hellos
 */
enum {
	PACKETWAY_A_TRUNK_UNSPEC,
	PACKETWAY_A_TRUNK_LOCAL,
	PACKETWAY_A_TRUNK_REMOTE,
	PACKETWAY_A_TRUNK_KEY,
	PACKETWAY_A_TRUNK_INSECURE,
	PACKETWAY_A_TRUNK_KEYED,
	PACKETWAY_A_TRUNK_UP,
	PACKETWAY_A_TRUNK_PEER,
	PACKETWAY_A_TRUNK_STATS,
	PACKETWAY_A_TRUNK_DEV,
	PACKETWAY_A_TRUNK_ID,
	PACKETWAY_A_TRUNK_MTU,
	PACKETWAY_A_TRUNK_BARE,

	__PACKETWAY_A_TRUNK_MAX
};

#define PACKETWAY_A_TRUNK_MAX (__PACKETWAY_A_TRUNK_MAX - 1)
#define PACKETWAY_TRUNK_KEY_LEN 32

/* counters of a trunk, each u64 */
enum {
	PACKETWAY_A_TRUNK_STAT_UNSPEC,
	PACKETWAY_A_TRUNK_STAT_PAD,
	PACKETWAY_A_TRUNK_STAT_TX,		/* frames sent */
	PACKETWAY_A_TRUNK_STAT_RX,		/* frames taken */
	PACKETWAY_A_TRUNK_STAT_HELLO_TX,
	PACKETWAY_A_TRUNK_STAT_HELLO_RX,
	PACKETWAY_A_TRUNK_STAT_DROP_PEER,	/* not from the peer */
	PACKETWAY_A_TRUNK_STAT_DROP_VERSION,
	PACKETWAY_A_TRUNK_STAT_DROP_AUTH,	/* other key, or one end has none */
	PACKETWAY_A_TRUNK_STAT_DROP_SESSION,	/* of another session */
	PACKETWAY_A_TRUNK_STAT_DROP_REPLAY,	/* seen before, or too old */
	PACKETWAY_A_TRUNK_STAT_DROP_MALFORMED,
	PACKETWAY_A_TRUNK_STAT_DROP_TX,		/* down, no memory, no route, too big */

	__PACKETWAY_A_TRUNK_STAT_MAX
};

#define PACKETWAY_A_TRUNK_STAT_MAX (__PACKETWAY_A_TRUNK_STAT_MAX - 1)

/*
 * Half of a router. A SAN that does not exist is created, as for a station.
 *
 * PACKETWAY_A_HALF_SAN		u32	number of the SAN
 * PACKETWAY_A_HALF_PORT	u32	port there; default the lowest free one
 * PACKETWAY_A_HALF_MTU		u32	bytes of data that may cross this SAN; 0 (default):
 *					what every station there takes
 * PACKETWAY_A_HALF_ADDR	u32	reply only: its PacketWay address
 * PACKETWAY_A_HALF_MTU_NOW	u32	reply only: the MTU in force
 * PACKETWAY_A_HALF_TABLES	u32	reply only: routing tables that it keeps
 * PACKETWAY_A_HALF_STATS	nest	reply only, PACKETWAY_A_HALF_STAT_*
 * PACKETWAY_A_HALF_QUALITY	u32	what a route through this half-router adds to the quality
 *					number, 1 (default) to 65535; less is better
 */
enum {
	PACKETWAY_A_HALF_UNSPEC,
	PACKETWAY_A_HALF_SAN,
	PACKETWAY_A_HALF_PORT,
	PACKETWAY_A_HALF_MTU,
	PACKETWAY_A_HALF_ADDR,
	PACKETWAY_A_HALF_MTU_NOW,
	PACKETWAY_A_HALF_TABLES,
	PACKETWAY_A_HALF_STATS,
	PACKETWAY_A_HALF_QUALITY,

	__PACKETWAY_A_HALF_MAX
};

#define PACKETWAY_A_HALF_MAX (__PACKETWAY_A_HALF_MAX - 1)

/* counters of a half-router, each u64 */
enum {
	PACKETWAY_A_HALF_STAT_UNSPEC,
	PACKETWAY_A_HALF_STAT_PAD,
	PACKETWAY_A_HALF_STAT_RX,		/* frames from its SAN */
	PACKETWAY_A_HALF_STAT_FORWARD_L3,	/* into its SAN by address */
	PACKETWAY_A_HALF_STAT_FORWARD_L2,	/* into its SAN by L2RH */
	PACKETWAY_A_HALF_STAT_FORWARD_GROUP,	/* into its SAN, group frames */
	PACKETWAY_A_HALF_STAT_SENT,		/* into its SAN, all */
	PACKETWAY_A_HALF_STAT_DROP_UNKNOWN,	/* no such node, or no route to it */
	PACKETWAY_A_HALF_STAT_DROP_BADL2RH,	/* L2RH that the SAN cannot use */
	PACKETWAY_A_HALF_STAT_DROP_TOOBIG,
	PACKETWAY_A_HALF_STAT_DROP_HOPS,	/* too many routers: a loop */
	PACKETWAY_A_HALF_STAT_DROP_MALFORMED,
	PACKETWAY_A_HALF_STAT_DROP_FULL,	/* too many frames in the SAN */
	PACKETWAY_A_HALF_STAT_DROP_NOMEM,
	PACKETWAY_A_HALF_STAT_DROP_GROUP,	/* group frames that stay on their SAN */
	PACKETWAY_A_HALF_STAT_DROP_DOWN,	/* the router was being deleted */
	PACKETWAY_A_HALF_STAT_EI_MARKED,	/* frames whose error indication was rewritten */
	PACKETWAY_A_HALF_STAT_HOPTRACE,		/* addresses written into hop traces */
	PACKETWAY_A_HALF_STAT_ERR_SENT,
	PACKETWAY_A_HALF_STAT_ERR_LIMITED,
	PACKETWAY_A_HALF_STAT_RRP_RX,
	PACKETWAY_A_HALF_STAT_RRP_TX,
	PACKETWAY_A_HALF_STAT_RRP_MALFORMED,
	PACKETWAY_A_HALF_STAT_RRP_REFUSED,	/* the sender may not send this */
	PACKETWAY_A_HALF_STAT_RRP_LIMITED,
	PACKETWAY_A_HALF_STAT_TABLES_TAKEN,
	PACKETWAY_A_HALF_STAT_TABLES_IGNORED,
	PACKETWAY_A_HALF_STAT_HRDOWN,		/* routers or links reported down */
	PACKETWAY_A_HALF_STAT_ECHO,
	PACKETWAY_A_HALF_STAT_TABLES_ASKED,	/* again: some had not arrived */
	PACKETWAY_A_HALF_STAT_TABLES_STALE,	/* dropped: their sender has them no more */
	PACKETWAY_A_HALF_STAT_DROP_TYPE,	/* for it, of a type that it does not process */
	PACKETWAY_A_HALF_STAT_ECHO_LIMITED,	/* echo requests over its rate */
	PACKETWAY_A_HALF_STAT_TRACED,		/* frames with a trace symbol for it */
	PACKETWAY_A_HALF_STAT_REDUCE_ASKED,	/* reductions that the peer half was asked for */
	PACKETWAY_A_HALF_STAT_REDUCE_REPEATED,	/* such requests that were sent again */
	PACKETWAY_A_HALF_STAT_REDUCE_ANSWERED,	/* answers to the peer half */
	PACKETWAY_A_HALF_STAT_REDUCE_DROPPED,	/* messages: forged, malformed, old or too many */
	PACKETWAY_A_HALF_STAT_RRP_DONE,		/* of RRP_RX: not malformed, refused or limited */

	__PACKETWAY_A_HALF_STAT_MAX
};

#define PACKETWAY_A_HALF_STAT_MAX (__PACKETWAY_A_HALF_STAT_MAX - 1)

/*
 * A route from one SAN to the nodes of another, from a half-router's table or
 * static: ROUTE_NEW takes SAN, FIRST, LAST, HR, QUALITY and MTU, and ROUTE_DEL the
 * first four of these. A notification of the route that is used from now on has
 * BEST; with GONE no route is left.
 *
 * With IFINDEX it is a source route of a station: its messages to these addresses leave with
 * L2RH in front. ROUTE_NEW takes IFINDEX, FIRST, LAST, L2RH and MTU, and ROUTE_DEL the first
 * three of these. Of several ranges with the destination the narrowest one counts.
 *
 * PACKETWAY_A_ROUTE_SAN	u32	SAN on which it begins; in dumps: only of this one
 * PACKETWAY_A_ROUTE_TO		u32	bias of the SAN to which it leads
 * PACKETWAY_A_ROUTE_FIRST	u32	first address there
 * PACKETWAY_A_ROUTE_LAST	u32	last address there; default FIRST
 * PACKETWAY_A_ROUTE_HR		u32	address of the half-router to use
 * PACKETWAY_A_ROUTE_QUALITY	u32	0 best (default), 65535 worst
 * PACKETWAY_A_ROUTE_MTU	u32	bytes, 0 = unlimited
 * PACKETWAY_A_ROUTE_SERIAL	u32	of the table
 * PACKETWAY_A_ROUTE_BEST	flag	the one that is used by address
 * PACKETWAY_A_ROUTE_VIA	binary	row of u32: half-routers on the route, nearest first
 * PACKETWAY_A_ROUTE_L2RH	binary	L2RHs that a station of the SAN puts in front of a message,
 *					that on its own SAN first; RESOLVE, and source routes, of
 *					at most PACKETWAY_SOURCE_ROUTE_MAX bytes
 * PACKETWAY_A_ROUTE_STATIC	flag	made by ROUTE_NEW
 * PACKETWAY_A_ROUTE_GONE	flag	notifications: no route to these addresses is left
 * PACKETWAY_A_ROUTE_IFINDEX	u32	station of a source route; in dumps: only those of this one
 */
enum {
	PACKETWAY_A_ROUTE_UNSPEC,
	PACKETWAY_A_ROUTE_SAN,
	PACKETWAY_A_ROUTE_TO,
	PACKETWAY_A_ROUTE_FIRST,
	PACKETWAY_A_ROUTE_LAST,
	PACKETWAY_A_ROUTE_HR,
	PACKETWAY_A_ROUTE_QUALITY,
	PACKETWAY_A_ROUTE_MTU,
	PACKETWAY_A_ROUTE_SERIAL,
	PACKETWAY_A_ROUTE_BEST,
	PACKETWAY_A_ROUTE_VIA,
	PACKETWAY_A_ROUTE_L2RH,
	PACKETWAY_A_ROUTE_STATIC,
	PACKETWAY_A_ROUTE_GONE,
	PACKETWAY_A_ROUTE_IFINDEX,

	__PACKETWAY_A_ROUTE_MAX
};

#define PACKETWAY_A_ROUTE_MAX (__PACKETWAY_A_ROUTE_MAX - 1)
#define PACKETWAY_SOURCE_ROUTE_MAX	512	/* bytes of L2RHs */
#define PACKETWAY_SOURCE_ROUTES_MAX	64	/* source routes of a station */

/*
 * A node as the half-routers of a SAN know it.
 *
 * PACKETWAY_A_NODE_SAN		u32	SAN whose half-routers were asked; in requests:
 *					only of this one, RESOLVE: needed
 * PACKETWAY_A_NODE_ADDR	u32	its address; RESOLVE: this or NAME
 * PACKETWAY_A_NODE_NAME	string	its name, unless it has none
 * PACKETWAY_A_NODE_RECORDS	binary	RRP records: [NAME] CAPA* [LADR]
 * PACKETWAY_A_NODE_LOCAL	flag	it is on this SAN
 */
enum {
	PACKETWAY_A_NODE_UNSPEC,
	PACKETWAY_A_NODE_SAN,
	PACKETWAY_A_NODE_ADDR,
	PACKETWAY_A_NODE_NAME,
	PACKETWAY_A_NODE_RECORDS,
	PACKETWAY_A_NODE_LOCAL,

	__PACKETWAY_A_NODE_MAX
};

#define PACKETWAY_A_NODE_MAX (__PACKETWAY_A_NODE_MAX - 1)

/*
 * A softswitch or a mothership: its public state. Packets and devices are only
 * visible to the file that owns it.
 *
 * PACKETWAY_A_POETS_IFINDEX	u32	its station; in requests: only of this one
 * PACKETWAY_A_POETS_ADDR	u32	hardware address
 * PACKETWAY_A_POETS_ROLE	u32	enum packetway_poets_role
 * PACKETWAY_A_POETS_STATE	u32	enum packetway_poets_state; softswitch
 * PACKETWAY_A_POETS_DEVICES	u32	number of devices; softswitch
 * PACKETWAY_A_POETS_PINS	u32	their pins; softswitch
 * PACKETWAY_A_POETS_MOTHERSHIP	u32	where reports go, 0: nowhere; softswitch
 * PACKETWAY_A_POETS_INTERVAL	u32	milliseconds between them; softswitch
 * PACKETWAY_A_POETS_QUEUE	u32	places in its queue
 * PACKETWAY_A_POETS_QUEUED	u32	of these in use
 * PACKETWAY_A_POETS_LOST	u64	packets dropped for want of a place
 * PACKETWAY_A_POETS_DROPS	nest	PACKETWAY_A_POETS_DROP_*
 * PACKETWAY_A_POETS_COUNTERS	nest	PACKETWAY_A_POETS_COUNTER_*, since the last
 *					report; softswitch
 * PACKETWAY_A_POETS_TASK	u32	task of its packets; absent: all tasks
 */
enum {
	PACKETWAY_A_POETS_UNSPEC,
	PACKETWAY_A_POETS_PAD,
	PACKETWAY_A_POETS_IFINDEX,
	PACKETWAY_A_POETS_ADDR,
	PACKETWAY_A_POETS_ROLE,
	PACKETWAY_A_POETS_STATE,
	PACKETWAY_A_POETS_DEVICES,
	PACKETWAY_A_POETS_PINS,
	PACKETWAY_A_POETS_MOTHERSHIP,
	PACKETWAY_A_POETS_INTERVAL,
	PACKETWAY_A_POETS_QUEUE,
	PACKETWAY_A_POETS_QUEUED,
	PACKETWAY_A_POETS_LOST,
	PACKETWAY_A_POETS_DROPS,
	PACKETWAY_A_POETS_COUNTERS,
	PACKETWAY_A_POETS_TASK,

	__PACKETWAY_A_POETS_MAX
};

#define PACKETWAY_A_POETS_MAX (__PACKETWAY_A_POETS_MAX - 1)

/**
 * enum packetway_poets_role - a station has at most one of each for a task
 * @PACKETWAY_POETS_ROLE_SOFTSWITCH: devices
 * @PACKETWAY_POETS_ROLE_MOTHERSHIP: commands and supervisors
 */
enum packetway_poets_role {
	PACKETWAY_POETS_ROLE_SOFTSWITCH,
	PACKETWAY_POETS_ROLE_MOTHERSHIP,
};

/* packets dropped, by reason, u64 each */
enum {
	PACKETWAY_A_POETS_DROP_UNSPEC,
	PACKETWAY_A_POETS_DROP_PAD,
	PACKETWAY_A_POETS_DROP_MALFORMED,
	PACKETWAY_A_POETS_DROP_LOADING,
	PACKETWAY_A_POETS_DROP_BARRIER,
	PACKETWAY_A_POETS_DROP_STOPPED,
	PACKETWAY_A_POETS_DROP_MOTHERSHIP,
	PACKETWAY_A_POETS_DROP_DEVICE,
	PACKETWAY_A_POETS_DROP_OPCODE,
	PACKETWAY_A_POETS_DROP_PIN,
	PACKETWAY_A_POETS_DROP_EDGE,

	__PACKETWAY_A_POETS_DROP_MAX
};

#define PACKETWAY_A_POETS_DROP_MAX (__PACKETWAY_A_POETS_DROP_MAX - 1)

/* counters of the next report, u64 each */
enum {
	PACKETWAY_A_POETS_COUNTER_UNSPEC,
	PACKETWAY_A_POETS_COUNTER_PAD,
	PACKETWAY_A_POETS_COUNTER_INDEX,
	PACKETWAY_A_POETS_COUNTER_CYCLES,
	PACKETWAY_A_POETS_COUNTER_RECEIVED,
	PACKETWAY_A_POETS_COUNTER_RECEIVE_HANDLERS,
	PACKETWAY_A_POETS_COUNTER_SENT,
	PACKETWAY_A_POETS_COUNTER_TO_SUPERVISOR,
	PACKETWAY_A_POETS_COUNTER_SEND_HANDLERS,
	PACKETWAY_A_POETS_COUNTER_IDLE,
	PACKETWAY_A_POETS_COUNTER_IDLE_HANDLERS,
	PACKETWAY_A_POETS_COUNTER_BLOCKED,

	__PACKETWAY_A_POETS_COUNTER_MAX
};

#define PACKETWAY_A_POETS_COUNTER_MAX (__PACKETWAY_A_POETS_COUNTER_MAX - 1)

#endif /* _UAPI_LINUX_PACKETWAY_NETLINK_H */
