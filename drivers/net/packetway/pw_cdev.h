/* SPDX-License-Identifier: GPL-2.0 */
/* One open /dev/packetway and what its commands share. */
#ifndef PW_CDEV_H
#define PW_CDEV_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

struct file;
struct pw_aton_block;
struct pw_aton_if;
struct pw_aton_req;
struct pw_station;
struct vm_area_struct;

/**
 * struct pw_file - an open /dev/packetway
 * @lock: serialises the commands of this file that change it
 * @station: what it is bound to; changed under pw_bind_lock, read under RCU
 * @entry: in the station's list; pw_bind_lock
 * @was_bound: tells "never bound" (ENOTCONN) from "gone" (ENODEV)
 * @aton_lock: the lists and flags below; inside pw_aton.lock
 * @aton_queued: commands that the ring has
 * @aton_done: commands that have ended, to be read
 * @aton_count: commands on both lists
 * @standing: the file's standing command; @lock
 * @standing_on: the interface it is installed at; @lock
 * @standing_news: its result has changed since the last read
 * @block: the file's ring-only interfaces; @lock
 * @wait: readers
 */
struct pw_file {
	struct mutex lock;	/* commands that change this file */
	struct pw_station __rcu *station;
	struct list_head entry;
	bool was_bound;

	spinlock_t aton_lock;	/* see above */
	struct list_head aton_queued;
	struct list_head aton_done;
	u32 aton_count;
	struct pw_aton_req *standing;
	struct pw_aton_if *standing_on;
	bool standing_news;
	struct pw_aton_block *block;
	wait_queue_head_t wait;
};

/**
 * struct pw_ioctl_size - how large the structure of a command is
 * @now: as this kernel knows it
 * @first: its first version
 */
struct pw_ioctl_size {
	size_t now;
	size_t first;
};

#define PW_IOCTL_SIZE(type, last) \
	{ .now = sizeof(struct type), .first = offsetofend(struct type, last) }

/**
 * struct pw_ioctl_op - one command
 * @size: of its structure
 * @handler: gets the structure in kernel memory; what it writes there is copied
 *	back if it returns >= 0
 */
struct pw_ioctl_op {
	struct pw_ioctl_size size;
	int (*handler)(struct pw_file *pf, void *arg);
};

int pw_ioctl_nr(unsigned int cmd, unsigned int first, unsigned int n);
int pw_ioctl_get(unsigned long arg, const struct pw_ioctl_size *size, void *karg, u32 *usize);
int pw_ioctl_put(unsigned long arg, const struct pw_ioctl_size *size, const void *karg, u32 usize);

struct pw_station *pw_file_station(struct pw_file *pf);
struct pw_station *pw_file_station_admin(struct pw_file *pf);
void pw_file_station_put(struct pw_station *st);

/* pw_aton_cdev.c APIs */
void pw_aton_file_init(struct pw_file *pf);
void pw_aton_file_unbind(struct pw_file *pf);
void pw_aton_file_release(struct pw_file *pf);
int pw_ioc_aton_command(struct pw_file *pf, void *arg);
int pw_ioc_aton_submit(struct pw_file *pf, void *arg);
int pw_ioc_aton_stand(struct pw_file *pf, void *arg);
int pw_ioc_aton_set(struct pw_file *pf, void *arg);
int pw_ioc_aton_get(struct pw_file *pf, void *arg);
int pw_ioc_ring_create(struct pw_file *pf, void *arg);
int pw_ioc_ring_operands(struct pw_file *pf, void *arg);
ssize_t pw_aton_read(struct file *file, char __user *buf, size_t len, loff_t *pos);
__poll_t pw_aton_file_poll(struct file *file, struct poll_table_struct *wait);
int pw_aton_mmap(struct file *file, struct vm_area_struct *vma);

#endif
