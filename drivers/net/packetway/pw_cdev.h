/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One open /dev/packetway and what its commands share.
 *
 * Who owns what:
 *
 *  pw_file.lock is held to bind and unbind the file and to install and remove its
 *  standing command and its block. So a standing command is always at the station
 *  that the file was bound to when it was installed, and goes before the file is
 *  bound to another. A lease likewise, unless its station has gone first. Commands
 *  wait for this lock interruptibly, and nothing that waits for user memory or for the
 *  end of a command is done under RTNL.
 *
 *  The station does not wait for the file. When the station goes, pw_file.station is
 *  cleared (pw_file_station_gone) and the station takes its interface off the ring:
 *  queued commands end, the standing command is no longer installed. Its memory stays
 *  the file's.
 *
 *  A command of the file reads pw_file.station once, asks for the capability in that
 *  station's namespace and works on that station, all in one RCU section or under
 *  RTNL (pw_file_station, pw_file_admin). A request holds the ring that it was
 *  given to. To take it back, the file's station is not looked at.
 *
 *  What read() returns is in the file: results of ended commands, and the last result
 *  of the standing command.
 */
#ifndef PW_CDEV_H
#define PW_CDEV_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <linux/packetway.h>

struct file;
struct pw_aton_block;
struct pw_aton_lease;
struct pw_aton_req;
struct pw_station;
struct vm_area_struct;

/**
 * struct pw_file - an open /dev/packetway
 * @lock: binding, standing command and block, see above
 * @station: what it is bound to; set under @lock, cleared under pw_bind_lock, read
 *	under RCU
 * @entry: in the station's list; pw_bind_lock
 * @was_bound: tells "never bound" (ENOTCONN) from "gone" (ENODEV)
 * @aton_lock: the lists and flags below; inside pw_aton.lock
 * @aton_queued: commands that the ring has
 * @aton_done: commands that have ended, to be read
 * @aton_count: commands on both lists
 * @standing: the file's standing command; @lock
 * @news: its last result
 * @standing_news: that has changed since the last read
 * @block: the file's ring-only interfaces; @lock
 * @lease: what it has leased; changed under @lock and @aton_lock
 * @wait: readers
 * @yield_off: so many of the next rounds begin to wait without a yield; a hint without a lock
 * @yield_back: value of @yield_off after the last yield that did not help
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
	struct packetway_aton_result news;
	bool standing_news;
	struct pw_aton_block *block;
	struct pw_aton_lease *lease;
	wait_queue_head_t wait;
	u8 yield_off;
	u8 yield_back;
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
 * @no_out: it writes nothing there
 */
struct pw_ioctl_op {
	struct pw_ioctl_size size;
	int (*handler)(struct pw_file *pf, void *arg);
	bool no_out;
};

/* pw_file.c APIs */
int pw_ioctl_nr(unsigned int cmd, unsigned int first, unsigned int n);
int pw_ioctl_get(unsigned long arg, const struct pw_ioctl_size *size, void *karg, u32 *usize);
int pw_ioctl_put(unsigned long arg, const struct pw_ioctl_size *size, const void *karg, u32 usize);

struct pw_station *pw_file_station(struct pw_file *pf);
struct pw_station *pw_file_admin(struct pw_file *pf);
int pw_file_may(struct pw_file *pf);
int pw_file_lock(struct pw_file *pf);
bool pw_file_gone(struct pw_file *pf);
int pw_file_bind(struct pw_file *pf, struct pw_station *st);
void pw_file_unbind(struct pw_file *pf);

/* pw_aton_cdev.c APIs */
void pw_aton_file_init(struct pw_file *pf);
void pw_aton_drop_standing(struct pw_file *pf);
void pw_aton_drop_lease(struct pw_file *pf);
void pw_aton_file_release(struct pw_file *pf);
int pw_ioc_aton_command(struct pw_file *pf, void *arg);
int pw_ioc_aton_reduce(struct pw_file *pf, void *arg);
int pw_ioc_aton_submit(struct pw_file *pf, void *arg);
int pw_ioc_aton_stand(struct pw_file *pf, void *arg);
int pw_ioc_aton_set(struct pw_file *pf, void *arg);
int pw_ioc_aton_get(struct pw_file *pf, void *arg);
int pw_ioc_aton_get_latch(struct pw_file *pf, void *arg);
int pw_ioc_aton_lease(struct pw_file *pf, void *arg);
long pw_aton_timeout(u64 deadline);
int pw_aton_errno(u8 err);
int pw_ioc_ring_create(struct pw_file *pf, void *arg);
int pw_ioc_ring_operands(struct pw_file *pf, void *arg);
ssize_t pw_aton_read(struct file *file, char __user *buf, size_t len, loff_t *pos);
__poll_t pw_aton_file_poll(struct file *file, struct poll_table_struct *wait);
int pw_aton_mmap(struct file *file, struct vm_area_struct *vma);

/* pw_aton_round.c APIs */
int pw_ioc_aton_round(struct pw_file *pf, void *arg);

/* pw_user.c APIs */
int pw_ioc_half_open(struct pw_file *pf, void *arg);

#endif
