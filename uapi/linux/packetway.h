/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * packetway: a system-area network inside one machine.
 *
 * This header documents the user interface; Documentation/ explains it at
 * length. Wire formats are in <linux/packetway_eep.h>.
 *
 *   ip link add NAME type packetway [san N] [port N] [order ...]
 *	creates a station: a netdevice on a port of a SAN.
 *   ip link add NAME type pwmon [ring on] [cells on]
 *	creates a pwmon device: packet sockets on it see the traffic of SANs.
 *   /dev/packetway
 *	is a session with one station's ATON interface (the tun model): open,
 *	PACKETWAY_IOC_BIND to a station by its ifindex in the caller's network
 *	namespace, then commands. The open file owns everything that a program
 *	creates through it; closing the file deletes it.
 *
 * ioctl structures begin with @size, the size of the structure as the program
 * knows it. The kernel accepts smaller (older) and larger (newer) ones; bytes
 * that it does not know must be zero. Members named __reserved must be zero,
 * members named out_* are written by the kernel.
 *
 * One errno dictionary for every command:
 *   ENOTTY	the command number is unknown
 *   E2BIG	the structure is larger than the kernel knows and its tail is not zero,
 *		or it is larger than a page
 *   EINVAL	@size is too small, a reserved member or unknown flag is set, or a
 *		value is outside its range
 *   EOPNOTSUPP	a known member holds a value this kernel does not support
 *   ENOTCONN	the file is not bound to a station
 *   EISCONN	the file is bound already
 *   ENODEV	there is no such station, or the bound one has been deleted
 *   ENETDOWN	the station is down
 *   ENOENT	there is no object with that number
 *   EPROTO	a softswitch is in another state than the command needs
 *   EBUSY	a bounded table or queue is full, or another file has what is asked for;
 *		try again
 *   EALREADY	the thread is a participant already
 *   ESRCH	the thread is not a participant
 *   ENOSPC	a limit of the namespace (net.packetway.max_*) or of the SAN is reached
 *   EPERM	the capability is missing in the user namespace that owns the
 *		station's network namespace
 *   EFAULT	a pointer is bad
 *   ETIMEDOUT	the deadline has passed; the command was withdrawn
 *   EINTR	a signal arrived first; the command was withdrawn
 *   EBADMSG	the ring packet came back with a CRC error
 *   EIO	the ring packet or the token was lost
 */
#ifndef _UAPI_LINUX_PACKETWAY_H
#define _UAPI_LINUX_PACKETWAY_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define PACKETWAY_KIND		"packetway"
#define PACKETWAY_DEVICE	"packetway"

/*
 * dev->type of a station. No number is assigned to PacketWay. This one
 * (ARPHRD_TUNNEL6) is borrowed because existing programs work with it: libpcap
 * captures in cooked mode, so that IP shows as IP and other messages are whole,
 * and IPv6 sets up routes in any order of addresses and links. An unassigned
 * number loses the latter, ARPHRD_NONE the former.
 */
#define ARPHRD_PACKETWAY	769
/* skb protocol of an EEP message that is not IP (local experimental type 1) */
#define ETH_P_PACKETWAY		0x88B5
/* skb protocol of the records of a pwmon device (local experimental type 2) */
#define ETH_P_PACKETWAY_MON	0x88B6

/* limits */
#define PACKETWAY_SAN_MAX	32766	/* highest SAN number */
#define PACKETWAY_PORTS_DEFAULT	16	/* ports of a SAN (k = 4) */
#define PACKETWAY_PORTS_MAX	256	/* k = 16 */
#define PACKETWAY_MTU_MIN	64
#define PACKETWAY_MTU_MAX	65528
#define PACKETWAY_MTU_DEFAULT	1500
#define PACKETWAY_ESP_CAPACITY_DEFAULT	1024	/* bindings of an ESP store */
#define PACKETWAY_ESP_CAPACITY_MAX	65536
#define PACKETWAY_ESP_LIFETIME_DEFAULT	10000	/* milliseconds */
#define PACKETWAY_ESP_LIFETIME_MAX	3600000

/**
 * enum packetway_order - byte order in which a station receives data blocks
 * @PACKETWAY_ORDER_AS_SENT: bytes as they were sent, whatever E says (default)
 * @PACKETWAY_ORDER_BIG: elements of 2, 4, 8, 16 bytes swapped to big-endian
 * @PACKETWAY_ORDER_LITTLE: likewise to little-endian
 * @__PACKETWAY_ORDER_MAX: number of orders
 */
enum packetway_order {
	PACKETWAY_ORDER_AS_SENT,
	PACKETWAY_ORDER_BIG,
	PACKETWAY_ORDER_LITTLE,
	__PACKETWAY_ORDER_MAX
};

/*
 * Link attributes (IFLA_INFO_DATA).
 *
 * IFLA_PACKETWAY_SAN	u32	SAN number, default 0; looked up in the namespace
 *				in which `ip link add` runs. Fixed at creation.
 * IFLA_PACKETWAY_PORT	u32	port on the SAN, default the next free one. Fixed at creation.
 * IFLA_PACKETWAY_ADDR	u32	dump only: PacketWay address = SAN bias + port + 1
 * IFLA_PACKETWAY_ORDER	u32	enum packetway_order
 */
enum {
	IFLA_PACKETWAY_UNSPEC,
	IFLA_PACKETWAY_SAN,
	IFLA_PACKETWAY_PORT,
	IFLA_PACKETWAY_ADDR,
	IFLA_PACKETWAY_ORDER,
	__IFLA_PACKETWAY_MAX
};

#define IFLA_PACKETWAY_MAX (__IFLA_PACKETWAY_MAX - 1)

/*
 * `ip link add pwmon0 type pwmon`: while the device is up, packet sockets on it get a
 * record for every frame that enters or leaves the SANs of its namespace or is dropped
 * there, and, if enabled, for ring packets and cells.
 *
 * IFLA_PWMON_RING	u8	1: every ring packet at every interface it leaves
 * IFLA_PWMON_CELLS	u8	1: every cell at every input unit and AAL unit that takes it in
 */
#define PACKETWAY_MON_KIND	"pwmon"

enum {
	IFLA_PWMON_UNSPEC,
	IFLA_PWMON_RING,
	IFLA_PWMON_CELLS,
	__IFLA_PWMON_MAX
};

#define IFLA_PWMON_MAX (__IFLA_PWMON_MAX - 1)

#define PACKETWAY_MON_VERSION	1

/**
 * enum packetway_mon_kind - what stands behind the record's header
 * @PACKETWAY_MON_EEP: an EEP message, prefixes included
 * @PACKETWAY_MON_RING: a ring packet: its bits in the order in which they are on the
 *	ring, the first one in the top bit of the first byte, without the delimiters; zeros
 *	fill the last byte
 * @PACKETWAY_MON_CELL: the 53 bytes of a cell
 */
enum packetway_mon_kind {
	PACKETWAY_MON_EEP = 1,
	PACKETWAY_MON_RING = 2,
	PACKETWAY_MON_CELL = 3,
};

/**
 * enum packetway_mon_direction - where it was going
 * @PACKETWAY_MON_IN: into the unit
 * @PACKETWAY_MON_OUT: out of the unit
 * @PACKETWAY_MON_DROPPED: dropped
 */
enum packetway_mon_direction {
	PACKETWAY_MON_IN = 1,
	PACKETWAY_MON_OUT = 2,
	PACKETWAY_MON_DROPPED = 3,
};

/**
 * enum packetway_mon_unit - kinds of units; how each is numbered
 * @PACKETWAY_MON_STATION: by port
 * @PACKETWAY_MON_INTERFACE: ATON interface, by place on the ring
 * @PACKETWAY_MON_PPD: input unit of a switch, by rank: stage * ports + place; of a fabric with
 *	a topology: switch * inputs of a switch + input
 * @PACKETWAY_MON_SPD: output unit, likewise
 * @PACKETWAY_MON_AAL: AAL unit, by port
 * @PACKETWAY_MON_HALF: half-router, by port
 */
enum packetway_mon_unit {
	PACKETWAY_MON_STATION,
	PACKETWAY_MON_INTERFACE,
	PACKETWAY_MON_PPD,
	PACKETWAY_MON_SPD,
	PACKETWAY_MON_AAL,
	PACKETWAY_MON_HALF,
};

#define PACKETWAY_MON_UNIT(type, number)	((__u32)(type) << 24 | ((number) & 0xffffff))

/**
 * struct packetway_mon_hdr - precedes the bytes of a record; all fields big-endian
 * @version: PACKETWAY_MON_VERSION
 * @kind: enum packetway_mon_kind
 * @direction: enum packetway_mon_direction
 * @width: ring packet: bits of an operand; 0: 64, as in all records before there were others.
 *	Other records: 0
 * @san: SAN number
 * @unit: PACKETWAY_MON_UNIT()
 * @vtime_high: virtual time, upper half
 * @vtime_low: lower half: nanoseconds for frames (0: the SAN has no timed engine, or the
 *	frame has not entered it), bit times of the ring, cycles of the fabric
 */
struct packetway_mon_hdr {
	__u8 version;
	__u8 kind;
	__u8 direction;
	__u8 width;
	__be32 san;
	__be32 unit;
	__be32 vtime_high;
	__be32 vtime_low;
};

/* ioctls: the number is the command, @size selects the layout */
#define PACKETWAY_IOC_TYPE	0xE9

enum {
	PACKETWAY_IOCNR_GET_INFO = 0x00,
	PACKETWAY_IOCNR_BIND = 0x01,
	PACKETWAY_IOCNR_UNBIND = 0x02,
	PACKETWAY_IOCNR_ATON_COMMAND = 0x10,
	PACKETWAY_IOCNR_ATON_SUBMIT = 0x11,
	PACKETWAY_IOCNR_ATON_STAND = 0x12,
	PACKETWAY_IOCNR_ATON_SET = 0x13,
	PACKETWAY_IOCNR_ATON_GET = 0x14,
	PACKETWAY_IOCNR_RING_CREATE = 0x15,
	PACKETWAY_IOCNR_RING_OPERANDS = 0x16,
	PACKETWAY_IOCNR_ATON_LEASE = 0x17,
	PACKETWAY_IOCNR_ATON_ROUND = 0x18,
	PACKETWAY_IOCNR_ATON_GET_LATCH = 0x19,
	PACKETWAY_IOCNR_POETS_OPEN = 0x20,
	PACKETWAY_IOCNR_POETS_LOAD = 0x21,
	PACKETWAY_IOCNR_POETS_START = 0x22,
	PACKETWAY_IOCNR_POETS_SET = 0x23,
	PACKETWAY_IOCNR_POETS_GET = 0x24,
	PACKETWAY_IOCNR_POETS_LOG = 0x25,
	PACKETWAY_IOCNR_POETS_KILL = 0x26,
	PACKETWAY_IOCNR_POETS_COUNT = 0x27,
	PACKETWAY_IOCNR_POETS_RESET = 0x28,
	PACKETWAY_IOCNR_HALF_OPEN = 0x30,
	PACKETWAY_IOCNR_HALF_GET = 0x31,
	PACKETWAY_IOCNR_TIME_OPEN = 0x40,
	PACKETWAY_IOCNR_TIME_JOIN = 0x41,
	PACKETWAY_IOCNR_TIME_LEAVE = 0x42,
	PACKETWAY_IOCNR_TIME_WAIT = 0x43,
	PACKETWAY_IOCNR_TIME_ALARM = 0x44,
	PACKETWAY_IOCNR_TIME_GET = 0x45,
	PACKETWAY_IOCNR_TIME_SET = 0x46,
	PACKETWAY_IOCNR_TIME_LIST = 0x47,
	PACKETWAY_IOCNR_ATON_REDUCE = 0x50,
};

/* features, out_features of struct packetway_info */
#define PACKETWAY_FEATURE_EEP	(1ULL << 0)	/* EEP messages on stations */
#define PACKETWAY_FEATURE_ATON	(1ULL << 1)	/* ATON commands, registers, ring-only interfaces */
#define PACKETWAY_FEATURE_ESP	(1ULL << 2)	/* stations are ESP nodes */
#define PACKETWAY_FEATURE_POETS	(1ULL << 3)	/* PACKETWAY_IOC_POETS_OPEN */
#define PACKETWAY_FEATURE_LEASE	(1ULL << 4)	/* PACKETWAY_IOC_ATON_LEASE */
#define PACKETWAY_FEATURE_HALF	(1ULL << 5)	/* PACKETWAY_IOC_HALF_OPEN */
#define PACKETWAY_FEATURE_TIME	(1ULL << 6)	/* clock lockstep, PACKETWAY_IOC_TIME_OPEN */
#define PACKETWAY_FEATURE_REDUCE (1ULL << 7)	/* PACKETWAY_IOC_ATON_REDUCE */
#define PACKETWAY_FEATURE_ROUND	(1ULL << 8)	/* PACKETWAY_IOC_ATON_ROUND */
#define PACKETWAY_FEATURE_PREFIX (1ULL << 9)	/* PACKETWAY_ATON_PREFIX */
#define PACKETWAY_FEATURE_NODES	(1ULL << 10)	/* PACKETWAY_ATON_NODES */
#define PACKETWAY_FEATURE_NOWAIT (1ULL << 11)	/* PACKETWAY_ATON_ROUND_NOWAIT, _FETCH */
#define PACKETWAY_FEATURE_LONG	(1ULL << 12)	/* PACKETWAY_ATON_ROUND_LONG, of 128 words */
#define PACKETWAY_FEATURE_LONG_256 (1ULL << 13)	/* and of PACKETWAY_ATON_ROUND_LONG_WORDS */

/**
 * struct packetway_info - ioctl(PACKETWAY_IOC_GET_INFO)
 * @size: sizeof(struct packetway_info)
 * @flags: must be 0
 * @out_features: PACKETWAY_FEATURE_* bits
 * @out_san_max: highest SAN number
 * @out_ports_max: most ports a SAN can have
 * @out_mtu_max: largest MTU of a station
 * @out_ifindex: station the file is bound to, in the caller's namespace; 0 if
 *	none or not visible there
 * @out_san: SAN of that station
 * @out_port: its port
 * @out_addr: its PacketWay address
 * @__reserved: must be 0
 *
 * Needs no capability and no bound station.
 */
struct packetway_info {
	__u32 size;
	__u32 flags;
	__aligned_u64 out_features;
	__u32 out_san_max;
	__u32 out_ports_max;
	__u32 out_mtu_max;
	__u32 out_ifindex;
	__u32 out_san;
	__u32 out_port;
	__u32 out_addr;
	__u32 __reserved;
};

#define PACKETWAY_IOC_GET_INFO	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_GET_INFO)

/**
 * struct packetway_bind - ioctl(PACKETWAY_IOC_BIND)
 * @size: sizeof(struct packetway_bind)
 * @flags: must be 0
 * @ifindex: the station, in the network namespace of the caller
 * @__reserved: must be 0
 *
 * Needs CAP_NET_ADMIN in the user namespace that owns the station's network
 * namespace, here and in every command that changes something. The station may
 * be moved while bound, and commands continue to work; if it is deleted, they
 * return ENODEV.
 */
struct packetway_bind {
	__u32 size;
	__u32 flags;
	__u32 ifindex;
	__u32 __reserved;
};

#define PACKETWAY_IOC_BIND	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_BIND)

/**
 * struct packetway_unbind - ioctl(PACKETWAY_IOC_UNBIND)
 * @size: sizeof(struct packetway_unbind)
 * @flags: must be 0
 */
struct packetway_unbind {
	__u32 size;
	__u32 flags;
};

#define PACKETWAY_IOC_UNBIND	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_UNBIND)

/*
 * ATON
 *
 * The interface of the bound station triggers commands; the ring of its SAN
 * carries them past every interface. Opcodes, modifiers and flags are those of
 * <linux/packetway_eep.h> and Documentation/networking/packetway-aton.rst.
 */
#define PACKETWAY_ATON_REGS		16	/* operand registers of an interface */
#define PACKETWAY_ATON_HEIGHTS		20	/* TREE: 2^20 leaves at most */
#define PACKETWAY_ATON_NODE_HEIGHTS	7	/* TREE: with an operation for each node */
#define PACKETWAY_ATON_QUEUE		1024	/* commands a file may have queued */
#define PACKETWAY_ATON_SORT_MAX		65536	/* operands a SORT may return */
#define PACKETWAY_ATON_RING_ALL		0xffffffU	/* destination: the whole ring */
#define PACKETWAY_ATON_PERIOD_MIN	1000	/* microseconds from run to run, standing */
#define PACKETWAY_RING_IFACES_MAX	1000000	/* ring-only interfaces of a SAN */

/* modifiers */
#define PACKETWAY_ATON_SIGNED		(1U << 0)	/* operands are two's complement */
#define PACKETWAY_ATON_COMPARAND	(1U << 1)	/* count against @comparand */
#define PACKETWAY_ATON_PREFIX		(1U << 2)	/* interfaces latch what passes them */
#define PACKETWAY_ATON_NODES		(1U << 3)	/* TREE: an operation for each node */

/* flags of a result */
#define PACKETWAY_ATON_F_OVERFLOW	(1U << 0)	/* carry out of bit 63 somewhere */
#define PACKETWAY_ATON_F_RECOGNISED	(1U << 1)	/* an interface was in the region */
#define PACKETWAY_ATON_F_STANDING	(1U << 2)	/* of the standing command */

/* how a command ended, out_error and error members */
enum packetway_aton_error {
	PACKETWAY_ATON_OK,
	PACKETWAY_ATON_E_CRC,	/* the ring packet came back damaged */
	PACKETWAY_ATON_E_LOST,	/* the ring packet did not come back */
	PACKETWAY_ATON_E_DOWN,	/* the station went down or away */
	PACKETWAY_ATON_E_SHAPE,	/* TREE: the region has not 2^heights interfaces */
	PACKETWAY_ATON_E_ROOM,	/* SORT: more operands than there is room for */
};

/**
 * struct packetway_aton_command - ioctl(PACKETWAY_IOC_ATON_COMMAND) and entry of a batch
 * @size: sizeof(struct packetway_aton_command)
 * @flags: must be 0
 * @op: PW_ATON_* opcode
 * @reg: operand register that every interface uses, 0..PACKETWAY_ATON_REGS-1
 * @mods: PACKETWAY_ATON_SIGNED, PACKETWAY_ATON_COMPARAND, PACKETWAY_ATON_PREFIX,
 *	PACKETWAY_ATON_NODES
 * @dst: execution region: PACKETWAY_ATON_RING_ALL, the address of one
 *	interface, or a logical address (0xe00000 | mask): every interface with one
 *	of these bits in its group mask
 * @comparand: for counts under PACKETWAY_ATON_COMPARAND
 * @heights: TREE: number of heights; else 0
 * @room: SORT: operands that fit at @data, at most PACKETWAY_ATON_SORT_MAX;
 *	BITSUM: 64; TREE with PACKETWAY_ATON_NODES: 2^heights - 1; else 0
 * @ops: TREE: opcode for each height, leaves first; not with PACKETWAY_ATON_NODES
 * @__reserved: must be 0
 * @data: pointer: SORT: array of __u64, BITSUM: array of 64 __u32; TREE with
 *	PACKETWAY_ATON_NODES, which is read: array of @room __u8; else 0. Not in batches.
 * @deadline: CLOCK_MONOTONIC nanoseconds at which to give up, 0: never. Not in
 *	batches.
 * @user_data: comes back with the result
 * @out_error: enum packetway_aton_error; results hold if it is 0
 * @out_flags: PACKETWAY_ATON_F_*
 * @out_counter: interfaces that took part
 * @out_v1: Variable-1
 * @out_v2: Variable-2
 * @out_wait: bit times waited for the token
 * @out_ring_bits: bit times on the ring
 *
 * Blocks until the ring packet has returned. Returns 0 if it returned intact;
 * EBADMSG, EIO, ENETDOWN, EINVAL or EMSGSIZE for the errors, with @out_error
 * written.
 *
 * With PACKETWAY_ATON_PREFIX a basic command is a scan: each station in the region latches the
 * partial result that passes it, in the order of the ring from the sender on, see
 * struct packetway_aton_latch. EBUSY: the region is a group that this file has not leased and
 * others have.
 *
 * With PACKETWAY_ATON_NODES each node of a TREE has an opcode of its own, so that the tree is an
 * arbitrary expression: those of height 0 in the order of the leaves, then those of height 1, the
 * root as the last one. It has at most PACKETWAY_ATON_NODE_HEIGHTS heights.
 */
struct packetway_aton_command {
	__u32 size;
	__u32 flags;
	__u32 op;
	__u32 reg;
	__u32 mods;
	__u32 dst;
	__aligned_u64 comparand;
	__u32 heights;
	__u32 room;
	__u8 ops[PACKETWAY_ATON_HEIGHTS];
	__u32 __reserved;
	__aligned_u64 data;
	__aligned_u64 deadline;
	__aligned_u64 user_data;
	__u32 out_error;
	__u32 out_flags;
	__aligned_u64 out_counter;
	__aligned_u64 out_v1;
	__aligned_u64 out_v2;
	__aligned_u64 out_wait;
	__aligned_u64 out_ring_bits;
};

#define PACKETWAY_IOC_ATON_COMMAND	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_ATON_COMMAND)

#define PACKETWAY_ATON_REDUCE_PARTIAL	(1U << 0)	/* a partial result is no error */
#define PACKETWAY_ATON_REDUCE_MS	5000	/* if no time is given */
#define PACKETWAY_ATON_REDUCE_MS_MAX	60000

/* why SANs are missing, out_reason */
enum packetway_aton_reason {
	PACKETWAY_ATON_R_NONE,
	PACKETWAY_ATON_R_ROUTE,	/* no route, or no router */
	PACKETWAY_ATON_R_TIME,	/* no answer in time */
	PACKETWAY_ATON_R_RING,	/* the command failed on a ring */
};

/**
 * struct packetway_aton_reduce - ioctl(PACKETWAY_IOC_ATON_REDUCE)
 * @size: sizeof(struct packetway_aton_reduce)
 * @flags: PACKETWAY_ATON_REDUCE_PARTIAL or 0
 * @op: one of the eight basic commands, PW_ATON_OP_ADD to PW_ATON_OP_COUNT_LE
 * @reg: operand register that every interface uses
 * @mods: as in struct packetway_aton_command
 * @timeout_ms: time that it may take, at most PACKETWAY_ATON_REDUCE_MS_MAX;
 *	0: PACKETWAY_ATON_REDUCE_MS
 * @sans: least number of SANs to expect, the own one included; those that no route is known
 *	to are missing. 0: all that routes are known to
 * @__reserved: must be 0
 * @comparand: as in struct packetway_aton_command
 * @out_error: enum packetway_aton_error of the own ring
 * @out_flags: PACKETWAY_ATON_F_*
 * @out_sans: SANs that took part
 * @out_missing: SANs that did not
 * @out_reason: enum packetway_aton_reason, if any are missing
 * @out_san: MAX, MIN: address of the SAN of the selected interface
 * @out_counter: interfaces that took part, on all rings
 * @out_v1: Variable-1
 * @out_v2: Variable-2; the address of MAX and MIN is the highest of those that rings select
 *
 * The command runs on the rings of all SANs that routers and trunks join to that of the bound
 * station. If SANs are missing, it returns ENETUNREACH, ETIMEDOUT, EREMOTEIO, or what
 * PACKETWAY_IOC_ATON_COMMAND returns for the own ring, and the outputs are written. With
 * PACKETWAY_ATON_REDUCE_PARTIAL it returns 0, and the result is that of @out_sans SANs. EBUSY:
 * 1024 reductions of stations of the SAN wait already.
 */
struct packetway_aton_reduce {
	__u32 size;
	__u32 flags;
	__u32 op;
	__u32 reg;
	__u32 mods;
	__u32 timeout_ms;
	__u32 sans;
	__u32 __reserved;
	__aligned_u64 comparand;
	__u32 out_error;
	__u32 out_flags;
	__u32 out_sans;
	__u32 out_missing;
	__u32 out_reason;
	__u32 out_san;
	__aligned_u64 out_counter;
	__aligned_u64 out_v1;
	__aligned_u64 out_v2;
};

#define PACKETWAY_IOC_ATON_REDUCE	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_ATON_REDUCE)

/**
 * struct packetway_aton_submit - ioctl(PACKETWAY_IOC_ATON_SUBMIT)
 * @size: sizeof(struct packetway_aton_submit)
 * @flags: must be 0
 * @commands: pointer to an array of struct packetway_aton_command, each with
 *	its own size set to @stride
 * @count: how many
 * @stride: bytes from one to the next
 * @out_queued: how many of the commands, from the first on, were queued
 * @__reserved: must be 0
 *
 * Queues the commands and returns at once. read() returns the results, in the
 * order in which the commands end, as struct packetway_aton_result; poll()
 * reports them. Returns an error only if the first could not be queued: EBUSY if
 * PACKETWAY_ATON_QUEUE commands of this file are queued or unread, or if the
 * station or the SAN's ring has as many commands queued as it takes (counter
 * ring_refused).
 */
struct packetway_aton_submit {
	__u32 size;
	__u32 flags;
	__aligned_u64 commands;
	__u32 count;
	__u32 stride;
	__u32 out_queued;
	__u32 __reserved;
};

#define PACKETWAY_IOC_ATON_SUBMIT	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_ATON_SUBMIT)

/**
 * struct packetway_aton_result - what read() returns, as many as fit
 * @user_data: of the command
 * @error: enum packetway_aton_error
 * @flags: PACKETWAY_ATON_F_*; with F_STANDING the standing command's result has
 *	changed (changes between two reads count once)
 * @counter: interfaces that took part
 * @v1: Variable-1
 * @v2: Variable-2
 * @wait: bit times waited for the token
 * @ring_bits: bit times on the ring
 *
 * When the station has gone and everything is read, read() returns ENODEV; poll()
 * then reports EPOLLHUP.
 */
struct packetway_aton_result {
	__aligned_u64 user_data;
	__u32 error;
	__u32 flags;
	__aligned_u64 counter;
	__aligned_u64 v1;
	__aligned_u64 v2;
	__aligned_u64 wait;
	__aligned_u64 ring_bits;
};

/**
 * struct packetway_aton_stand - ioctl(PACKETWAY_IOC_ATON_STAND)
 * @size: sizeof(struct packetway_aton_stand)
 * @flags: must be 0
 * @op: opcode (not SORT, BITSUM, TREE), or 0: remove the standing command
 * @reg: operand register
 * @mods: modifiers
 * @dst: execution region
 * @comparand: for counts under PACKETWAY_ATON_COMPARAND
 * @user_data: comes back with results
 * @period: least microseconds from one run to the next, at least
 *	PACKETWAY_ATON_PERIOD_MIN
 * @__reserved: must be 0
 *
 * The interface repeats the command while the ring is idle. A station has one
 * standing command; it belongs to the file that set it and ends with the file
 * (EBUSY for another file). Results are in the mapped page and read() returns them.
 */
struct packetway_aton_stand {
	__u32 size;
	__u32 flags;
	__u32 op;
	__u32 reg;
	__u32 mods;
	__u32 dst;
	__aligned_u64 comparand;
	__aligned_u64 user_data;
	__u32 period;
	__u32 __reserved;
};

#define PACKETWAY_IOC_ATON_STAND	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_ATON_STAND)

#define PACKETWAY_ATON_SET_OPERAND	(1U << 0)
#define PACKETWAY_ATON_SET_GROUP	(1U << 1)

/**
 * struct packetway_aton_set - ioctl(PACKETWAY_IOC_ATON_SET)
 * @size: sizeof(struct packetway_aton_set)
 * @flags: which of the following to set: PACKETWAY_ATON_SET_*
 * @reg: operand register
 * @group: group mask, 20 bits
 * @value: operand
 *
 * EBUSY if another file has leased the register, or a bit of the mask is leased on this
 * ring and not to this file; then neither is set.
 */
struct packetway_aton_set {
	__u32 size;
	__u32 flags;
	__u32 reg;
	__u32 group;
	__aligned_u64 value;
};

#define PACKETWAY_IOC_ATON_SET		_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_ATON_SET)

/**
 * struct packetway_aton_get - ioctl(PACKETWAY_IOC_ATON_GET): the register bank
 * @size: sizeof(struct packetway_aton_get)
 * @flags: must be 0
 * @out_operand: operand registers
 * @out_counter: result register
 * @out_v1: result register
 * @out_v2: result register
 * @out_ring_time: bit times that the last command took, its wait included
 * @out_command: control field of the command last started
 * @out_status: error of the last command in bits 7..0, flags above
 * @out_id: station id: its PacketWay address
 * @out_group: group mask
 * @out_interfaces: interfaces on the ring
 * @out_irq_mask: interrupt mask register: bit 0: a standing command is installed
 */
struct packetway_aton_get {
	__u32 size;
	__u32 flags;
	__aligned_u64 out_operand[PACKETWAY_ATON_REGS];
	__aligned_u64 out_counter;
	__aligned_u64 out_v1;
	__aligned_u64 out_v2;
	__aligned_u64 out_ring_time;
	__u32 out_command;
	__u32 out_status;
	__u32 out_id;
	__u32 out_group;
	__u32 out_interfaces;
	__u32 out_irq_mask;
};

#define PACKETWAY_IOC_ATON_GET		_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_ATON_GET)

/**
 * struct packetway_aton_get_latch - ioctl(PACKETWAY_IOC_ATON_GET_LATCH)
 * @size: sizeof(struct packetway_aton_get_latch)
 * @flags: must be 0
 * @reg: operand register
 * @out_op: as in struct packetway_aton_latch
 * @out_flags: likewise
 * @out_src: likewise
 * @out_runs: likewise
 * @out_counter: likewise
 * @out_before: likewise
 * @out_with: likewise
 * @out_time: likewise
 *
 * EBUSY: another file has leased the register.
 */
struct packetway_aton_get_latch {
	__u32 size;
	__u32 flags;
	__u32 reg;
	__u32 out_op;
	__u32 out_flags;
	__u32 out_src;
	__aligned_u64 out_runs;
	__aligned_u64 out_counter;
	__aligned_u64 out_before;
	__aligned_u64 out_with;
	__aligned_u64 out_time;
};

#define PACKETWAY_IOC_ATON_GET_LATCH	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_ATON_GET_LATCH)

#define PACKETWAY_ATON_LEASE_RETURN	(1U << 0)	/* give back instead of taking */

/**
 * struct packetway_aton_lease - ioctl(PACKETWAY_IOC_ATON_LEASE)
 * @size: sizeof(struct packetway_aton_lease)
 * @flags: PACKETWAY_ATON_LEASE_RETURN or 0
 * @regs: operand registers of the bound station, bit i: register i
 * @group: group bits of the ring
 * @key: of @group, not 0: files that name the same key share a bit; else 0
 * @out_regs_free: registers of the station that no file has leased now
 * @out_group_free: group bits that are not leased on the ring now
 *
 * A leased register belongs to one file. Its operand is 0 at first, and is in page 2 of
 * the file's mapping instead of page 0: what others store there has no effect, and
 * ATON_SET of another file returns EBUSY. Commands of all files read it.
 *
 * A leased group bit belongs to the files of one key, on the whole ring. The station is
 * in the group while one of its files has the bit; the bit in the group mask of any
 * station has no effect meanwhile.
 *
 * EBUSY: another file has one of the registers, or another key one of the bits; then
 * nothing was leased, and ring_leases_refused counts it. To lease what the file has
 * already changes nothing. ENOENT: what is to be given back was not leased. With both masks
 * 0 nothing changes, and the outputs tell what is free. Leases end when the file is
 * unbound or closed, however its process ends, and with the station.
 */
struct packetway_aton_lease {
	__u32 size;
	__u32 flags;
	__u32 regs;
	__u32 group;
	__aligned_u64 key;
	__u32 out_regs_free;
	__u32 out_group_free;
};

#define PACKETWAY_IOC_ATON_LEASE	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_ATON_LEASE)

#define PACKETWAY_ATON_ROUND_WORDS	8	/* words of a round */
#define PACKETWAY_ATON_ROUND_LONG_WORDS	256	/* words of a long one */

/* flags of struct packetway_aton_round */
#define PACKETWAY_ATON_ROUND_NOWAIT	(1U << 0)	/* return at once */
#define PACKETWAY_ATON_ROUND_FETCH	(1U << 1)	/* results of a round that was left */
#define PACKETWAY_ATON_ROUND_LONG	(1U << 2)	/* operands and results are at @data */

/**
 * struct packetway_aton_round - ioctl(PACKETWAY_IOC_ATON_ROUND)
 * @size: sizeof(struct packetway_aton_round)
 * @flags: PACKETWAY_ATON_ROUND_*
 * @bit: group bit that the file has leased, 0 to 19
 * @members: files that take part, one at each of as many stations
 * @round: number of the round
 * @call: anything that must be the same at all members
 * @op: PW_ATON_* opcode: ADD, AND, OR, MAX or MIN
 * @mods: PACKETWAY_ATON_SIGNED or 0
 * @count: words, 1 to PACKETWAY_ATON_ROUND_WORDS, or to PACKETWAY_ATON_ROUND_LONG_WORDS
 * @regs: of a long round: how many registers it has, 1 to PACKETWAY_ATON_ROUND_WORDS; else 0
 * @reg: registers, one for each word, that each member has leased; then 0
 * @word: operands; then anything
 * @deadline: CLOCK_MONOTONIC nanoseconds, 0: none
 * @out_error: enum packetway_aton_error
 * @out_flags: PACKETWAY_ATON_F_* of any word
 * @out_ring_bits: bit times that the packets were on the ring
 * @out_v1: Variable-1 of each word
 * @out_v2: Variable-2 of each word
 * @data: of a long round: where its operands are, and Variable-1 of each word shall be; else 0
 *
 * A reduction whose result all members get. Each waits; the last one stores the operands of
 * all in their registers and sends one packet for each word to the group. Members differ in
 * @word, @deadline and @flags only. Registers may be used in other ways when the call returns.
 *
 * With PACKETWAY_ATON_ROUND_NOWAIT a member leaves its words in the round and does not wait.
 * EINPROGRESS: the file is in the round and must fetch its results; with 0 and all other errors
 * it is not, and has the results or none. The last member sends the packets, whatever the others
 * do. A file leaves one round at each group bit; EBUSY: it has not fetched the last one.
 *
 * PACKETWAY_ATON_ROUND_FETCH with the same members as before, but @word, @deadline and @flags,
 * waits for the end of a round that was left. ETIMEDOUT, EINTR, or EINPROGRESS with
 * PACKETWAY_ATON_ROUND_NOWAIT: the file is still in it. All else is the result of the round,
 * and the file is no longer in it. ENOENT: the file has left no such round, or another task waits
 * for it. poll() reports EPOLLPRI while there is a result to fetch. A file that is closed or
 * gives the bit back leaves the group as without this flag: the others get EPIPE.
 *
 * With PACKETWAY_ATON_ROUND_LONG word i is in register i % @regs of @reg. The last member sends
 * the packets of as many words as there are registers, stores the next operands of all, and so
 * on to the end. @word, @out_v1 and @out_v2 are not used. If the call of a member is killed
 * meanwhile, the round ends with EPIPE. Not with the other flags.
 *
 * EPIPE: a file that has leased the bit gave it or a register back or was closed, or its station
 * has left, or other interfaces than those of @members took part. EPROTO: members differ; all of
 * them get this. EBUSY: the members of a round are complete, or the file is in this one already, or
 * packets of another round with a member and a register of this one are on the ring; that ends
 * soon. ETIMEDOUT, EINTR: this file does not take part, the others wait; it may call again. Errors
 * of PACKETWAY_IOC_ATON_COMMAND come to all members, which may repeat the round. ENOENT: the
 * bit or a register is not leased by the file.
 */
struct packetway_aton_round {
	__u32 size;
	__u32 flags;
	__u32 bit;
	__u32 members;
	__aligned_u64 round;
	__aligned_u64 call;
	__u32 op;
	__u32 mods;
	__u32 count;
	__u32 regs;
	__u8 reg[PACKETWAY_ATON_ROUND_WORDS];
	__aligned_u64 word[PACKETWAY_ATON_ROUND_WORDS];
	__aligned_u64 deadline;
	__u32 out_error;
	__u32 out_flags;
	__aligned_u64 out_ring_bits;
	__aligned_u64 out_v1[PACKETWAY_ATON_ROUND_WORDS];
	__aligned_u64 out_v2[PACKETWAY_ATON_ROUND_WORDS];
	__aligned_u64 data;
};

#define PACKETWAY_IOC_ATON_ROUND	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_ATON_ROUND)

/*
 * mmap of a bound file: the register bank without system calls.
 *
 * Page 0 (offset 0), readable and writable: struct packetway_aton_operands. An
 * operand is an aligned 64-bit word: on 64-bit machines one store changes it as
 * a whole. A 32-bit program writes it in two halves and should use
 * PACKETWAY_IOC_ATON_SET instead. The group mask is the register of
 * PACKETWAY_ATON_SET_GROUP; bits above the lower 20 mean nothing. A
 * command to a group reads the mask of each interface before its operand, so a
 * program that stores its operand and then, with release, its mask is never counted
 * with an older operand: a command's Counter tells how many have stored theirs.
 *
 * Page 1 (offset one page), read-only: struct packetway_aton_page. A slot is
 * consistent if @seq was even before its members were read and the same after;
 * one 64-bit member by itself is never torn on 64-bit machines.
 *
 * Page 2 (offset two pages), readable and writable, of a file that has leased registers
 * (else ENOENT): struct packetway_aton_leased. Only these registers count there, and the
 * group mask does not.
 *
 * The pages stay mapped when the station is deleted, and do not change after that.
 */
struct packetway_aton_operands {
	__aligned_u64 operand[PACKETWAY_ATON_REGS];
	__u32 group;
	__u32 __reserved;
};

struct packetway_aton_slot {
	__u32 seq;		/* odd while the kernel writes */
	__u32 status;		/* error in bits 7..0, flags above */
	__aligned_u64 runs;	/* times it has ended */
	__aligned_u64 counter;
	__aligned_u64 v1;
	__aligned_u64 v2;
	__aligned_u64 wait;
	__aligned_u64 ring_bits;
	__aligned_u64 time;	/* ring time at its end, in bit times */
};

/**
 * struct packetway_aton_latch - what commands with PACKETWAY_ATON_PREFIX leave at a station
 * @seq: odd while the kernel writes
 * @status: opcode of the command in bits 7..0, PACKETWAY_ATON_F_OVERFLOW in those above: a sum
 *	up to here has overflown
 * @runs: times that something was latched; 0: never
 * @counter: interfaces before this one that took part: the place in the scan
 * @before: result over those (exclusive scan); the identity of the operation if there is none
 * @with: result over those and this station (inclusive scan)
 * @time: ring time, in bit times
 * @src: address of the sender
 * @__reserved: 0
 *
 * Each operand register has a latch, for commands that name it. The result is Variable-1, of
 * a count Variable-2. A station latches when the packet has passed it undamaged, the sender
 * when the command has ended well. A command that is repeated latches again.
 *
 * The latch of a leased register is in the page of the file that has leased it. Only commands to
 * a group that this file has leased, too, by a file that has it with the same key, change it.
 */
struct packetway_aton_latch {
	__u32 seq;
	__u32 status;
	__aligned_u64 runs;
	__aligned_u64 counter;
	__aligned_u64 before;
	__aligned_u64 with;
	__aligned_u64 time;
	__u32 src;
	__u32 __reserved;
};

struct packetway_aton_page {
	struct packetway_aton_slot command;	/* last command that ended */
	struct packetway_aton_slot standing;
	struct packetway_aton_latch latch[PACKETWAY_ATON_REGS];	/* of registers not leased */
};

/* page 2 */
struct packetway_aton_leased {
	struct packetway_aton_operands operands;
	struct packetway_aton_latch latch[PACKETWAY_ATON_REGS];
};

/**
 * struct packetway_ring_create - ioctl(PACKETWAY_IOC_RING_CREATE)
 * @size: sizeof(struct packetway_ring_create)
 * @flags: must be 0
 * @count: ring-only interfaces to add behind the stations, 1..PACKETWAY_RING_IFACES_MAX
 * @regs: operand registers of each, 1..PACKETWAY_ATON_REGS; commands may name
 *	only registers that every interface of the ring has
 * @out_address: address of the first one, the others' follow
 * @__reserved: must be 0
 *
 * Their operands are 0. They take part in commands and start none. Closing the
 * file deletes them. One set per file (EBUSY). ENOSPC if the ring has 256 sets, or
 * PACKETWAY_RING_IFACES_MAX such interfaces with these.
 */
struct packetway_ring_create {
	__u32 size;
	__u32 flags;
	__u32 count;
	__u32 regs;
	__u32 out_address;
	__u32 __reserved;
};

#define PACKETWAY_IOC_RING_CREATE	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_RING_CREATE)

#define PACKETWAY_RING_READ		(1U << 0)	/* read operands instead of writing */

/**
 * struct packetway_ring_operands - ioctl(PACKETWAY_IOC_RING_OPERANDS)
 * @size: sizeof(struct packetway_ring_operands)
 * @flags: PACKETWAY_RING_READ or 0
 * @reg: operand register
 * @first: first of the file's ring-only interfaces
 * @count: how many
 * @__reserved: must be 0
 * @operands: pointer to @count __u64
 */
struct packetway_ring_operands {
	__u32 size;
	__u32 flags;
	__u32 reg;
	__u32 first;
	__u32 count;
	__u32 __reserved;
	__aligned_u64 operands;
};

#define PACKETWAY_IOC_RING_OPERANDS	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_RING_OPERANDS)

/*
 * POETS
 *
 * PACKETWAY_IOC_POETS_OPEN on a bound file creates the softswitch (or the
 * mothership) of the station and returns a new file descriptor that owns it,
 * independent of the bound file. Opening needs CAP_NET_ADMIN, as every command
 * does. The holder of the new descriptor needs no capability, so it may be passed
 * to a program without privileges. Closing it deletes the devices.
 *
 *   softswitch: LOAD devices, START ("barrier reached" goes to the mothership),
 *	read() PACKETWAY_POETS_EV_RELEASED, then packets for devices
 *   read()	returns as many struct packetway_poets_event as there are and fit.
 *		ENODEV when the station was deleted and everything is read.
 *   write()	sends struct packetway_poets_packet, as many as there are; blocks
 *		while too many frames of the station are in the SAN, EAGAIN with
 *		O_NONBLOCK.
 *		A softswitch sends while it runs (else EPROTO).
 *   poll()	EPOLLIN, EPOLLOUT; EPOLLHUP when the station was deleted.
 *
 * Packets that find the queue full are counted (out_lost) and dropped; RELEASED
 * and STOPPED always fit.
 */
#define PACKETWAY_POETS_QUEUE_DEFAULT	1024
#define PACKETWAY_POETS_QUEUE_MAX	65536
#define PACKETWAY_POETS_DEVICES_MAX	65535
#define PACKETWAY_POETS_PINS_MAX	1048576	/* of all devices of a softswitch */
#define PACKETWAY_POETS_PAYLOAD		56
#define PACKETWAY_POETS_INTERVAL_MAX	3600000
#define PACKETWAY_POETS_LOG_MAX		220
#define PACKETWAY_POETS_DROPS		10
#define PACKETWAY_POETS_COUNTERS	14

/* flags of struct packetway_poets_open */
#define PACKETWAY_POETS_MOTHERSHIP	(1U << 0)	/* the mothership, not the softswitch */
#define PACKETWAY_POETS_NONBLOCK	(1U << 1)	/* O_NONBLOCK */
#define PACKETWAY_POETS_TASK		(1U << 2)	/* packets of one task only */

#define PACKETWAY_POETS_TASKS		64

/**
 * struct packetway_poets_open - ioctl(PACKETWAY_IOC_POETS_OPEN), on /dev/packetway
 * @size: sizeof(struct packetway_poets_open)
 * @flags: PACKETWAY_POETS_MOTHERSHIP, PACKETWAY_POETS_NONBLOCK, PACKETWAY_POETS_TASK
 * @devices: largest number of devices, 1..PACKETWAY_POETS_DEVICES_MAX;
 *	mothership: 0
 * @pins: largest number of input pins of all devices together; mothership: 0
 * @queue: packets that may wait to be read, 0: PACKETWAY_POETS_QUEUE_DEFAULT
 * @mothership: address that barriers, reports and logs go to; 0: none.
 *	mothership: 0
 * @interval: milliseconds from one report to the next while running; 0: only
 *	when asked. mothership: 0
 * @__reserved: must be 0
 * @task: with PACKETWAY_POETS_TASK: 0..PACKETWAY_POETS_TASKS - 1, else 0
 * @__reserved2: must be 0
 *
 * Returns the new descriptor (O_CLOEXEC).
 *
 * With PACKETWAY_POETS_TASK the file gets packets of its task only, write() sends
 * no others (EPERM), and what the kernel sends for it carries the task. A station
 * may have one softswitch and one mothership for each task. A file without a task
 * gets the packets of all tasks. EBUSY if the station has a file of the same kind
 * for this task or for all, or if a file for all is asked for and it has any.
 */
struct packetway_poets_open {
	__u32 size;
	__u32 flags;
	__u32 devices;
	__u32 pins;
	__u32 queue;
	__u32 mothership;
	__u32 interval;
	__u32 __reserved;
	__u32 task;
	__u32 __reserved2;
};

#define PACKETWAY_IOC_POETS_OPEN	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_POETS_OPEN)

/* what a struct packetway_poets_event is about */
enum packetway_poets_event_type {
	PACKETWAY_POETS_EV_RELEASED = 1,	/* the barrier is open: devices run */
	PACKETWAY_POETS_EV_STOPPED = 2,		/* devices have stopped */
	PACKETWAY_POETS_EV_PIN = 3,		/* packet for a pin of a device */
	PACKETWAY_POETS_EV_CTL = 4,		/* for OnCtl of a device, with its opcode */
	PACKETWAY_POETS_EV_IMPL = 5,		/* for the implicit supervisor handler */
	PACKETWAY_POETS_EV_MOTHERSHIP = 6,	/* for the mothership or a supervisor */
};

/**
 * struct packetway_poets_event - what read() returns
 * @type: enum packetway_poets_event_type
 * @pin: pin, for PIN
 * @opcode: opcode of the software address
 * @len: bytes of payload
 * @device: the device; each one of a broadcast gets an event of its own
 * @__pad: 0
 * @edge: edge of the pin, for PIN
 * @src: hardware address of the sender
 * @sw_addr: software address as sent
 * @pin_addr: pin address as sent
 * @payload: the payload, then zeros
 */
struct packetway_poets_event {
	__u8 type;
	__u8 pin;
	__u8 opcode;
	__u8 len;
	__u16 device;
	__u16 __pad;
	__u32 edge;
	__u32 src;
	__u32 sw_addr;
	__u32 pin_addr;
	__u8 payload[PACKETWAY_POETS_PAYLOAD];
};

/**
 * struct packetway_poets_packet - what write() sends
 * @hw_addr: hardware address to send to: of a station, broadcast or logical
 * @sw_addr: software address
 * @pin_addr: pin address
 * @len: bytes of payload; as many flits are sent as they need
 * @payload: the payload
 */
struct packetway_poets_packet {
	__u32 hw_addr;
	__u32 sw_addr;
	__u32 pin_addr;
	__u32 len;
	__u8 payload[PACKETWAY_POETS_PAYLOAD];
};

/**
 * struct packetway_poets_load - ioctl(PACKETWAY_IOC_POETS_LOAD): add devices
 * @size: sizeof(struct packetway_poets_load)
 * @flags: must be 0
 * @pins: pointer to one __u32 per device: its input pins, at most 256
 * @edges: pointer to one __u32 per pin, of the first device first: its edges
 * @devices: how many devices
 * @total: how many pins they have
 * @out_first: address of the first one, the others' follow
 * @__reserved: must be 0
 *
 * All or none. EPROTO unless loading, EBUSY if they do not fit.
 */
struct packetway_poets_load {
	__u32 size;
	__u32 flags;
	__aligned_u64 pins;
	__aligned_u64 edges;
	__u32 devices;
	__u32 total;
	__u32 out_first;
	__u32 __reserved;
};

#define PACKETWAY_IOC_POETS_LOAD	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_POETS_LOAD)

/**
 * struct packetway_poets_simple - commands without arguments
 * @size: sizeof(struct packetway_poets_simple)
 * @flags: must be 0
 *
 * ioctl(PACKETWAY_IOC_POETS_START): loading is complete; sends "barrier reached"
 *	to the mothership, which releases the barrier.
 * ioctl(PACKETWAY_IOC_POETS_KILL): a device has failed; stops all devices and
 *	informs the mothership.
 * ioctl(PACKETWAY_IOC_POETS_RESET): delete devices and queue, back to loading.
 */
struct packetway_poets_simple {
	__u32 size;
	__u32 flags;
};

#define PACKETWAY_IOC_POETS_START	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_POETS_START)
#define PACKETWAY_IOC_POETS_KILL	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_POETS_KILL)
#define PACKETWAY_IOC_POETS_RESET	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_POETS_RESET)

#define PACKETWAY_POETS_SET_INTERVAL	(1U << 0)
#define PACKETWAY_POETS_SET_MOTHERSHIP	(1U << 1)

/**
 * struct packetway_poets_set - ioctl(PACKETWAY_IOC_POETS_SET)
 * @size: sizeof(struct packetway_poets_set)
 * @flags: which of the following to set: PACKETWAY_POETS_SET_*
 * @interval: as in struct packetway_poets_open
 * @mothership: likewise
 */
struct packetway_poets_set {
	__u32 size;
	__u32 flags;
	__u32 interval;
	__u32 mothership;
};

#define PACKETWAY_IOC_POETS_SET		_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_POETS_SET)

enum packetway_poets_state {
	PACKETWAY_POETS_LOADING,
	PACKETWAY_POETS_BARRIER,
	PACKETWAY_POETS_RUNNING,
	PACKETWAY_POETS_STOPPED,
};

/**
 * struct packetway_poets_get - ioctl(PACKETWAY_IOC_POETS_GET)
 * @size: sizeof(struct packetway_poets_get)
 * @flags: must be 0
 * @out_state: enum packetway_poets_state
 * @out_devices: devices there are
 * @out_pins: pins they have
 * @out_queued: packets that wait to be read
 * @out_address: hardware address
 * @out_mothership: where reports go
 * @out_lost: packets that found the queue full
 * @out_drops: packets dropped, by reason: 0, malformed, loading, barrier, stopped,
 *	mothership, device, opcode, pin, edge
 * @out_counters: since the last report, in the order of the report
 */
struct packetway_poets_get {
	__u32 size;
	__u32 flags;
	__u32 out_state;
	__u32 out_devices;
	__u32 out_pins;
	__u32 out_queued;
	__u32 out_address;
	__u32 out_mothership;
	__aligned_u64 out_lost;
	__aligned_u64 out_drops[PACKETWAY_POETS_DROPS];
	__u32 out_counters[PACKETWAY_POETS_COUNTERS];
};

#define PACKETWAY_IOC_POETS_GET		_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_POETS_GET)

/**
 * struct packetway_poets_log - ioctl(PACKETWAY_IOC_POETS_LOG): a log message
 * @size: sizeof(struct packetway_poets_log)
 * @flags: must be 0
 * @text: pointer to the message
 * @len: bytes of it, 1..PACKETWAY_POETS_LOG_MAX; up to four packets
 * @device: device that logs
 */
struct packetway_poets_log {
	__u32 size;
	__u32 flags;
	__aligned_u64 text;
	__u32 len;
	__u32 device;
};

#define PACKETWAY_IOC_POETS_LOG		_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_POETS_LOG)

/**
 * struct packetway_poets_count - ioctl(PACKETWAY_IOC_POETS_COUNT): for the next report
 * @size: sizeof(struct packetway_poets_count)
 * @flags: must be 0
 * @send_handlers: send handlers called since the last call
 * @idle: times there was nothing to do
 * @idle_handlers: idle handlers called
 * @blocked: times a send had to wait
 */
struct packetway_poets_count {
	__u32 size;
	__u32 flags;
	__u32 send_handlers;
	__u32 idle;
	__u32 idle_handlers;
	__u32 blocked;
};

#define PACKETWAY_IOC_POETS_COUNT	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_POETS_COUNT)

/*
 * Half-routers in user space
 *
 * PACKETWAY_IOC_HALF_OPEN, on a file that need not be bound, puts a half-router at a port
 * of a SAN and returns a new descriptor for it. It is a router with one half to
 * the rest: listed and deleted by generic netlink, a neighbour of the other half-routers of
 * the SAN. The program is its other side. Each read() returns a whole EEP message,
 * each write() takes one:
 *
 * read()	frames that leave the SAN here, by address or source route, with MTU, EI and
 *		hop trace done; RRP messages and ERR to the half-router. GVRT, RTBL, HRDOWN and
 *		LINKDOWN of the SAN are authentic: a half-router made them. The records of RRP
 *		were checked; INFO by which a node of the SAN describes itself was taken as
 *		well. Echo and ESP for its address are answered by the kernel.
 *		EAGAIN; EMSGSIZE: the buffer is too small, the frame stays; ENODEV: the
 *		half-router was deleted.
 * write()	a frame with the half-router's address as source: its own message, which
 *		other half-routers trust. RRP and ERR to the half-router's address: only GVRT,
 *		RTBL, HRDOWN and LINKDOWN with the peer's address as source; tables become routes
 *		of this SAN, GVRT is answered with the table of this SAN. All others enter the
 *		SAN: a leading L2RH is consumed, else the address is looked up; ERRs about
 *		them are to be read.
 *		EINVAL; EMSGSIZE; ENOBUFS: too much is under way; ENODEV.
 * poll()	EPOLLIN, EPOLLOUT; EPOLLHUP: the half-router was deleted
 *
 * 1024 frames and 4 MiB wait at most; further ones are counted as drop-full. When the
 * descriptor is closed the half-router is deleted, and HRDOWN is sent.
 */
#define PACKETWAY_HALF_NAME_LEN		32
#define PACKETWAY_HALF_ANY_PORT		0xffffffffU

/* flags of struct packetway_half_open */
#define PACKETWAY_HALF_NONBLOCK		(1U << 0)	/* O_NONBLOCK */
#define PACKETWAY_HALF_HEAD		(1U << 1)	/* struct packetway_half_head in front */

/**
 * struct packetway_half_head - in front of each message that is read or written, if
 *	PACKETWAY_HALF_HEAD was given
 * @hops: half-routers that the message has passed; a router copies it to its other half.
 *	After 64 the message is dropped and its source gets ERR/GENERAL.
 * @__reserved: 0 when it is read, must be 0 when it is written
 */
struct packetway_half_head {
	__u8 hops;
	__u8 __reserved[7];
};

/**
 * struct packetway_half_open - ioctl(PACKETWAY_IOC_HALF_OPEN), on /dev/packetway
 * @size: sizeof(struct packetway_half_open)
 * @flags: PACKETWAY_HALF_NONBLOCK, PACKETWAY_HALF_HEAD
 * @san: number of the SAN, in the network namespace of the caller; made if it is not there
 * @port: port, or PACKETWAY_HALF_ANY_PORT for the lowest free one
 * @mtu: largest data block, 0: what all stations of the SAN take
 * @quality: what a route through it adds, 0: 1
 * @peer: address of the router's other half, 0: no tables are written
 * @__reserved: must be 0
 * @name: of the router, with a 0 at the end
 *
 * Needs CAP_NET_ADMIN in the user namespace that owns the network namespace. Who
 * has the descriptor needs nothing else.
 *
 * Returns the new descriptor (O_CLOEXEC). EBUSY: the port is not free; EEXIST: there is a
 * router with this name; ERANGE: the SAN has no such port, or the peer is on it; ENOSPC.
 */
struct packetway_half_open {
	__u32 size;
	__u32 flags;
	__u32 san;
	__u32 port;
	__u32 mtu;
	__u32 quality;
	__u32 peer;
	__u32 __reserved;
	char name[PACKETWAY_HALF_NAME_LEN];
};

#define PACKETWAY_IOC_HALF_OPEN		_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_HALF_OPEN)

/**
 * struct packetway_half_get - ioctl(PACKETWAY_IOC_HALF_GET), on the new descriptor
 * @size: sizeof(struct packetway_half_get)
 * @flags: must be 0
 * @out_san: number of the SAN
 * @out_bias: its address; ports have the addresses behind it
 * @out_ports: its ports, k * k; the L2RH of port p has p % k, p / k, p % k
 * @out_port: the half-router's port
 * @out_addr: its address
 * @out_peer: as it was opened
 * @out_mtu: largest data block that the SAN takes now
 * @out_queued: frames to be read
 */
struct packetway_half_get {
	__u32 size;
	__u32 flags;
	__u32 out_san;
	__u32 out_bias;
	__u32 out_ports;
	__u32 out_port;
	__u32 out_addr;
	__u32 out_peer;
	__u32 out_mtu;
	__u32 out_queued;
};

#define PACKETWAY_IOC_HALF_GET		_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_HALF_GET)

/*
 * Lockstep
 *
 * The virtual time of a SAN whose clock is "lockstep" (PACKETWAY_A_SAN_CLOCK) advances
 * only while every participant is blocked. Participants are threads. A clock file, made
 * by PACKETWAY_IOC_TIME_OPEN, is how a thread joins, reads the time and waits for it:
 *
 *   mmap()	one page, read only: struct packetway_time_page
 *   poll()	POLLIN: the alarm of the file has expired; POLLPRI: the clock is stalled;
 *		POLLHUP: the SAN is no longer in lockstep
 *   read()	as of a timerfd: a __u64, how often the alarm has expired since the last read
 *
 * A thread is blocked while it sleeps interruptibly in a system call that waits for other
 * programs or for time (poll, recvmsg, futex, wait4, ...; read and write unless of a regular
 * file or directory). It is not blocked while it runs, is preempted, waits for a page or a
 * disk, is stopped or traced.
 */
#define PACKETWAY_TIME_QUANTUM_DEFAULT	1000	/* nanoseconds */
#define PACKETWAY_TIME_STALL_DEFAULT	10000	/* milliseconds of real time */
#define PACKETWAY_TIME_NS_MAX		(1ULL << 53)	/* no virtual time is later */

/**
 * struct packetway_time_page - what a clock file maps
 * @seq: odd while the page changes; read it before and after
 * @flags: PACKETWAY_TIME_F_*
 * @now: virtual time in nanoseconds
 * @quantum: what a busy waiter waits at most, in nanoseconds
 */
struct packetway_time_page {
	__u32 seq;
	__u32 flags;
	__aligned_u64 now;
	__aligned_u64 quantum;
};

#define PACKETWAY_TIME_F_STALLED	(1U << 0)	/* all blocked, nothing pending */
#define PACKETWAY_TIME_F_ENDED		(1U << 1)	/* the SAN is no longer in lockstep */

/**
 * struct packetway_time_open - ioctl(PACKETWAY_IOC_TIME_OPEN) of /dev/packetway
 * @size: sizeof(struct packetway_time_open)
 * @flags: PACKETWAY_TIME_NONBLOCK
 * @ifindex: a station in the caller's network namespace; 0: the first one whose SAN is
 *	in lockstep
 * @__reserved: must be 0
 *
 * Needs CAP_NET_ADMIN in the user namespaces that own the caller's network namespace and that
 * of the SAN: a participant can make its time stand still. Needs no bound station. Returns a
 * new descriptor, which exec closes; ENODEV if there is no such station, EOPNOTSUPP if its SAN
 * is not in lockstep, ENOSPC if there are as many as net.packetway.max_clock_files allows.
 *
 * Of a clock file, with @ifindex 0: another file of the same clock and station. Needs no
 * capability.
 */
struct packetway_time_open {
	__u32 size;
	__u32 flags;
	__u32 ifindex;
	__u32 __reserved;
};

#define PACKETWAY_TIME_NONBLOCK	(1U << 0)	/* read() does not wait */

#define PACKETWAY_IOC_TIME_OPEN	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_TIME_OPEN)

/**
 * struct packetway_time_join - ioctl(PACKETWAY_IOC_TIME_JOIN) of a clock file
 * @size: sizeof(struct packetway_time_join)
 * @flags: PACKETWAY_TIME_JOIN_*
 * @order: place among the senders of one station in one cycle, smaller ones first
 * @__reserved: must be 0
 *
 * The calling thread becomes a participant. It leaves when it ends, by
 * PACKETWAY_IOC_TIME_LEAVE, and, without PACKETWAY_TIME_JOIN_EXEC, when it closes a
 * descriptor of this file or calls exec. A thread that stayed over exec may join again and
 * keeps its order. EBUSY: it is a participant of 16 clocks.
 */
struct packetway_time_join {
	__u32 size;
	__u32 flags;
	__u32 order;
	__u32 __reserved;
};

#define PACKETWAY_TIME_JOIN_EXEC	(1U << 0)	/* stay a participant over exec */
/* no thread joins: time stands still until one joins with JOIN_HELD, or the file is closed */
#define PACKETWAY_TIME_JOIN_HOLD	(1U << 1)
#define PACKETWAY_TIME_JOIN_HELD	(1U << 2)	/* in the place of a hold of this file */

#define PACKETWAY_IOC_TIME_JOIN	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_TIME_JOIN)

/**
 * struct packetway_time_leave - ioctl(PACKETWAY_IOC_TIME_LEAVE) of a clock file
 * @size: sizeof(struct packetway_time_leave)
 * @flags: 0, or PACKETWAY_TIME_JOIN_HOLD: give a hold of this file back
 */
struct packetway_time_leave {
	__u32 size;
	__u32 flags;
};

#define PACKETWAY_IOC_TIME_LEAVE	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_TIME_LEAVE)

/**
 * struct packetway_time_wait - ioctl(PACKETWAY_IOC_TIME_WAIT) of a clock file
 * @size: sizeof(struct packetway_time_wait)
 * @flags: PACKETWAY_TIME_WAIT_*
 * @until: virtual time in nanoseconds
 * @out_now: virtual time at the end
 *
 * Waits until the virtual time is @until. Returns EINTR if a signal is first, ENODEV if
 * the SAN is no longer in lockstep, EBUSY if 4096 threads wait already.
 */
struct packetway_time_wait {
	__u32 size;
	__u32 flags;
	__aligned_u64 until;
	__aligned_u64 out_now;
};

#define PACKETWAY_TIME_WAIT_EVENT	(1U << 0)	/* return at the next event, too */
#define PACKETWAY_TIME_WAIT_FOR		(1U << 1)	/* @until counts from now */

#define PACKETWAY_IOC_TIME_WAIT	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_TIME_WAIT)

/**
 * struct packetway_time_alarm - ioctl(PACKETWAY_IOC_TIME_ALARM) of a clock file
 * @size: sizeof(struct packetway_time_alarm)
 * @flags: 0, or PACKETWAY_TIME_ALARM_GET: change nothing
 * @at: virtual time in nanoseconds, 0: never
 * @interval: then again after this time, 0: once
 * @out_at: when it was to expire before, 0: never
 * @out_interval: interval that it had before
 */
struct packetway_time_alarm {
	__u32 size;
	__u32 flags;
	__aligned_u64 at;
	__aligned_u64 interval;
	__aligned_u64 out_at;
	__aligned_u64 out_interval;
};

#define PACKETWAY_TIME_ALARM_GET	(1U << 0)

#define PACKETWAY_IOC_TIME_ALARM	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_TIME_ALARM)

/**
 * struct packetway_time_get - ioctl(PACKETWAY_IOC_TIME_GET) of a clock file
 * @size: sizeof(struct packetway_time_get)
 * @flags: must be 0
 * @out_now: virtual time in nanoseconds
 * @out_stops: how often the fabric stopped for an event
 * @out_outside: frames sent by threads that are not participants, while there were some
 * @out_participants: participants
 * @out_running: those that are not blocked, and holds
 * @out_flags: PACKETWAY_TIME_F_*
 * @out_stall_ms: as set by PACKETWAY_IOC_TIME_SET
 * @out_quantum: likewise
 * @out_left: virtual time at which a participant has left last, 0: none has. Time runs on
 *	when all have left
 */
struct packetway_time_get {
	__u32 size;
	__u32 flags;
	__aligned_u64 out_now;
	__aligned_u64 out_stops;
	__aligned_u64 out_outside;
	__u32 out_participants;
	__u32 out_running;
	__u32 out_flags;
	__u32 out_stall_ms;
	__aligned_u64 out_quantum;
	__aligned_u64 out_left;
};

#define PACKETWAY_IOC_TIME_GET	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_TIME_GET)

/**
 * struct packetway_time_set - ioctl(PACKETWAY_IOC_TIME_SET) of a clock file
 * @size: sizeof(struct packetway_time_set)
 * @flags: PACKETWAY_TIME_SET_*: what to change
 * @stall_ms: real time, in milliseconds, after which a clock without a next event is
 *	stalled, 1..3600000
 * @__reserved: must be 0
 * @quantum: for busy waiters, in nanoseconds, 1..10^9
 *
 * For all files of the clock. The stalled flag is cleared.
 */
struct packetway_time_set {
	__u32 size;
	__u32 flags;
	__u32 stall_ms;
	__u32 __reserved;
	__aligned_u64 quantum;
};

#define PACKETWAY_TIME_SET_STALL	(1U << 0)
#define PACKETWAY_TIME_SET_QUANTUM	(1U << 1)

#define PACKETWAY_IOC_TIME_SET	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_TIME_SET)

/**
 * struct packetway_time_entry - a participant
 * @pid: number of the thread in the caller's PID namespace, 0: not visible there
 * @order: as it joined
 * @port: port of the station through which it joined
 * @blocked: 1 if it is
 * @since: virtual time since when it is what it is
 */
struct packetway_time_entry {
	__u32 pid;
	__u32 order;
	__u32 port;
	__u32 blocked;
	__aligned_u64 since;
};

/**
 * struct packetway_time_list - ioctl(PACKETWAY_IOC_TIME_LIST) of a clock file
 * @size: sizeof(struct packetway_time_list)
 * @flags: must be 0
 * @entries: pointer to an array of struct packetway_time_entry
 * @room: how many fit there, at most 4096
 * @out_count: participants; min(@room, @out_count) entries were written
 */
struct packetway_time_list {
	__u32 size;
	__u32 flags;
	__aligned_u64 entries;
	__u32 room;
	__u32 out_count;
};

#define PACKETWAY_IOC_TIME_LIST	_IO(PACKETWAY_IOC_TYPE, PACKETWAY_IOCNR_TIME_LIST)

#endif /* _UAPI_LINUX_PACKETWAY_H */
