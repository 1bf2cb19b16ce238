/* SPDX-License-Identifier: GPL-2.0 */
/* One open /dev/packetway and what its commands share. */
#ifndef PW_CDEV_H
#define PW_CDEV_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct pw_station;

/**
 * struct pw_file - an open /dev/packetway
 * @lock: serialises the commands of this file that change it
 * @station: what it is bound to; changed under pw_bind_lock, read under RCU
 * @entry: in the station's list; pw_bind_lock
 * @was_bound: tells "never bound" (ENOTCONN) from "gone" (ENODEV)
 */
struct pw_file {
	struct mutex lock;	/* commands that change this file */
	struct pw_station __rcu *station;
	struct list_head entry;
	bool was_bound;
};

/**
 * struct pw_ioctl_op - one command
 * @size: size of its structure as this kernel knows it
 * @min_size: size of its first version
 * @handler: gets the structure in kernel memory; what it writes there is copied
 *	back if it returns >= 0
 */
struct pw_ioctl_op {
	size_t size;
	size_t min_size;
	int (*handler)(struct pw_file *pf, void *arg);
};

struct pw_station *pw_file_station(struct pw_file *pf);
struct pw_station *pw_file_station_admin(struct pw_file *pf);
void pw_file_station_put(struct pw_station *st);

#endif
