/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A station's share of a POETS machine: a softswitch with its devices, or a
 * mothership. Either is a file (pw_poets_file.c); packets reach it from the
 * receive side of the station (pw_poets.c).
 */
#ifndef PW_POETS_H
#define PW_POETS_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <linux/packetway.h>

#include "poets.h"

#include "pw_time.h"

struct pw_eep_view;
struct pw_file;
struct pw_station;
struct pw_up;
struct sk_buff;

/* what a station can have one of each for a task */
enum pw_poets_role {
	PW_POETS_R_SWITCH,
	PW_POETS_R_MOTHERSHIP,
	PW_POETS_ROLES
};

/**
 * struct pw_poets_item - something for the owner to read
 * @ev: what read() returns
 * @next: of a broadcast: the device that is next; devices get it one by one as
 *	the owner reads, so that a broadcast takes one place here
 * @end: one after the last; 0: not a broadcast
 * @generation: of the devices it was accepted for
 */
struct pw_poets_item {
	struct packetway_poets_event ev;
	u32 next;
	u32 end;
	u32 generation;
};

/* places kept for start and stop, which are delivered even if the queue is full */
#define PW_POETS_RESERVE 2

/**
 * struct pw_poets - a softswitch or mothership, owned by an open file
 * @lock: everything up to @lost; BH off; pw_time.lock is taken inside
 * @sw: the softswitch; of a mothership only its counters are used
 * @ring: queue for the owner
 * @size: its places, reserved ones included
 * @head: the oldest
 * @used: how many
 * @mothership: address that reports, logs and the like go to; 0: none
 * @lost: packets for the owner that found no place
 * @node: in the station's list
 * @role: which of the two
 * @any: it takes packets of all tasks
 * @task: otherwise the task of its packets, as in swAddr
 * @station: where it is; NULL when the station has gone. RTNL, read under RCU
 * @mem: memory of @sw
 * @timer: next report; runs only while devices run and an interval is set
 * @clock: of the SAN in lockstep, for which @alarm was made; a reference; @lock
 * @alarm: next report there; starts @timer
 * @held: @alarm has expired: time stands still until the report is sent; pw_time.lock
 * @load: one command at a time that changes the devices
 * @wait: readers and writers
 */
struct pw_poets {
	spinlock_t lock;	/* see above */
	struct pw_softswitch sw;
	struct pw_poets_item *ring;
	u32 size;
	u32 head;
	u32 used;
	u32 mothership;
	u64 lost;

	struct hlist_node node;
	enum pw_poets_role role;
	bool any;
	u32 task;
	struct pw_station __rcu *station;
	void *mem;
	struct hrtimer timer;
	struct pw_time *clock;
	struct pw_time_alarm alarm;
	bool held;
	struct mutex load;	/* see above */
	wait_queue_head_t wait;
};

/* what is sent to the mothership once the lock is free */
struct pw_poets_out {
	u8 pkt[PW_POETS_PKT_MAX];
	u8 pkt_len;
	u8 report[PW_POETS_PKT_MAX];
	u8 report_len;
	char text[96];
	u8 text_len;
	u16 text_device;
	u32 task;
	u32 mothership;
};

/* what every user may read */
struct pw_poets_info {
	u32 state;
	u32 devices;
	u32 pins;
	u32 mothership;
	u32 interval;		/* milliseconds */
	u32 queue;
	u32 queued;
	u64 lost;
	u64 drops[PW_SOFTSWITCH_DROPS];
	u32 counters[PW_POETS_C_COUNT];
};

/* pw_poets.c APIs */
int pw_poets_rx(struct pw_station *st, struct sk_buff *skb, const struct pw_eep_view *v,
		struct pw_up *up);
int pw_poets_send(struct pw_station *st, u32 to, const void *pkt, unsigned int len);
void pw_poets_flush(struct pw_station *st, const struct pw_poets_out *out);
void pw_poets_report(struct pw_poets *po, u64 now, struct pw_poets_out *out);
void pw_poets_drop_log(struct pw_poets *po, enum pw_softswitch_drop drop,
		       const struct pw_poets_pkt *pkt, u16 device, struct pw_poets_out *out);
void pw_poets_count_drop(struct pw_station *st, enum pw_softswitch_drop drop);
void pw_poets_set_task(u8 *pkt, u32 task);
u8 pw_poets_event_type(enum pw_softswitch_handler handler);
void pw_poets_info(struct pw_poets *po, struct pw_poets_info *info);
u64 pw_poets_now(struct pw_poets *po);
void pw_poets_arm(struct pw_poets *po, const struct pw_san *san, u64 ns);
void pw_poets_disarm(struct pw_poets *po);
void pw_poets_go_on(struct pw_poets *po);
void pw_poets_alarm(struct pw_time *t, struct pw_time_alarm *a);
enum hrtimer_restart pw_poets_timer(struct hrtimer *timer);
void pw_poets_station_gone(struct pw_station *st);

static inline u64 pw_poets_cycle(u64 now)
{
	/* a cycle is a microsecond: of virtual time in lockstep, else of the host */
	return div_u64(now, NSEC_PER_USEC);
}

/* pw_poets_file.c APIs */
int pw_ioc_poets_open(struct pw_file *pf, void *arg);

#endif
