/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * packetway: a system-area network inside one machine.
 *
 * This header is the manual of the user interface; Documentation/ has the
 * longer story. Wire formats are in <linux/packetway_eep.h>.
 *
 *   ip link add NAME type packetway [san N] [port N] [order ...]
 *	creates a station: a netdevice on a port of a SAN.
 *   /dev/packetway
 *	is a session with one station's ATON interface (the tun model): open,
 *	PACKETWAY_IOC_BIND to a station by its ifindex in the caller's network
 *	namespace, then commands. Everything a program makes through the file is
 *	owned by the open file and goes when it is closed.
 *
 * ioctl structures begin with @size, the size of the structure as the program
 * knows it. The kernel accepts smaller (older) and larger (newer) ones; bytes
 * that it does not know must be zero. Members named __reserved must be zero,
 * members named out_* are written by the kernel.
 *
 * One errno dictionary for every command:
 *   ENOTTY	the command number is unknown
 *   E2BIG	the structure is larger than the kernel knows and its tail is not zero
 *   EINVAL	@size is too small, a reserved member or unknown flag is set, or a
 *		value is outside its range
 *   EOPNOTSUPP	a known member holds a value this kernel does not support
 *   ENOTCONN	the file is not bound to a station
 *   EISCONN	the file is bound already
 *   ENODEV	there is no such station, or the bound one has been deleted
 *   ENETDOWN	the station is down
 *   ENOENT	there is no object with that number
 *   EBUSY	a bounded table or queue is full; try again
 *   EPERM	the capability is missing in the user namespace that owns the
 *		station's network namespace
 *   EFAULT	a pointer is bad
 *   ETIMEDOUT	the time given has passed; nothing was left behind
 *   EINTR	a signal came first; nothing was left behind
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
 * (ARPHRD_TUNNEL6) is borrowed because with it everything that people use works:
 * libpcap captures cooked, so that IP shows as IP and other messages come whole,
 * and IPv6 routes are set up in whatever order addresses and links come. An
 * unassigned number loses the latter, ARPHRD_NONE the former.
 */
#define ARPHRD_PACKETWAY	769
/* skb protocol of an EEP message that is not IP (local experimental type 1) */
#define ETH_P_PACKETWAY		0x88B5

/* limits */
#define PACKETWAY_SAN_MAX	32766	/* highest SAN number */
#define PACKETWAY_PORTS_DEFAULT	16	/* ports of a SAN (k = 4) */
#define PACKETWAY_PORTS_MAX	256	/* k = 16 */
#define PACKETWAY_MTU_MIN	64
#define PACKETWAY_MTU_MAX	65528
#define PACKETWAY_MTU_DEFAULT	1500

/**
 * enum packetway_order - byte order in which a station wants data blocks
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

/* ioctls: the number tells only the command, @size tells the layout */
#define PACKETWAY_IOC_TYPE	0xE9

enum {
	PACKETWAY_IOCNR_GET_INFO = 0x00,
	PACKETWAY_IOCNR_BIND = 0x01,
	PACKETWAY_IOCNR_UNBIND = 0x02,
};

/* features, out_features of struct packetway_info */
#define PACKETWAY_FEATURE_EEP	(1ULL << 0)	/* EEP packets on stations */

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
 * namespace, now and again with every command that changes something. The
 * station may be moved or deleted while bound: commands then go on, or return
 * ENODEV.
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

#endif /* _UAPI_LINUX_PACKETWAY_H */
