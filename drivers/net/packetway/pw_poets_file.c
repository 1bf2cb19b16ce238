// SPDX-License-Identifier: GPL-2.0
/*
 * The file that owns a station's softswitch or mothership.
 *
 * It is published in the station (RTNL), found there by the receive side (RCU)
 * and withdrawn before it goes: when the file is closed, or when the station
 * goes first. The file then remains, with ENODEV for everything new.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/rtnetlink.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "pw_cdev.h"
#include "pw_router.h"

static_assert(PACKETWAY_POETS_PAYLOAD == PW_POETS_MAX_PAYLOAD);
static_assert(PACKETWAY_POETS_DEVICES_MAX == PW_POETS_DEVICES_MAX);
static_assert(PACKETWAY_POETS_LOG_MAX == PW_POETS_LOG_MAX);
static_assert(PACKETWAY_POETS_DROPS == PW_SOFTSWITCH_DROPS);
static_assert((PACKETWAY_POETS_TASKS - 1) << PW_POETS_TASK_SHIFT == PW_POETS_TASK_MASK);
static_assert(PACKETWAY_POETS_COUNTERS == PW_POETS_C_COUNT);
static_assert((int)PACKETWAY_POETS_STOPPED == (int)PW_SOFTSWITCH_STOPPED);
static_assert(sizeof(struct packetway_poets_event) == 80);
static_assert(sizeof(struct packetway_poets_packet) == 72);

/* devices of a broadcast looked at per hold of the lock */
#define PW_POETS_STEPS 64

static void pw_poets_free(struct pw_poets *po)
{
	kvfree(po->ring);
	kvfree(po->mem);
	mutex_destroy(&po->load);
	kfree(po);
}

static struct pw_poets *pw_poets_alloc(const struct packetway_poets_open *o)
{
	size_t bytes = pw_softswitch_bytes(o->devices ?: 1, o->pins);
	struct pw_poets *po;

	po = kzalloc(sizeof(*po), PW_GFP);
	if (!po)
		return NULL;
	spin_lock_init(&po->lock);
	mutex_init(&po->load);
	init_waitqueue_head(&po->wait);
	hrtimer_setup(&po->timer, pw_poets_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	INIT_LIST_HEAD(&po->alarm.entry);
	po->alarm.fire = pw_poets_alarm;
	po->role = o->flags & PACKETWAY_POETS_MOTHERSHIP ? PW_POETS_R_MOTHERSHIP :
							   PW_POETS_R_SWITCH;
	po->any = !(o->flags & PACKETWAY_POETS_TASK);
	po->task = o->task << PW_POETS_TASK_SHIFT;
	po->mothership = o->mothership;
	po->size = (o->queue ?: PACKETWAY_POETS_QUEUE_DEFAULT) + PW_POETS_RESERVE;
	po->ring = kvmalloc_array(po->size, sizeof(*po->ring), PW_GFP);
	po->mem = kvzalloc(bytes, PW_GFP);
	if (!po->ring || !po->mem ||
	    pw_softswitch_init(&po->sw, po->mem, bytes, o->devices ?: 1, o->pins, 0)) {
		pw_poets_free(po);
		return NULL;
	}
	po->sw.task = po->task;
	pw_softswitch_set_interval(&po->sw, 0, (u64)o->interval * NSEC_PER_MSEC);
	return po;
}

static bool pw_poets_mothership_ok(u32 addr)
{
	return !addr || pw_addr_kind(addr) == PW_ADDR_KIND_PHYS;
}

/* queue --------------------------------------------------------------------- */

static void pw_poets_pop(struct pw_poets *po)
{
	po->head = po->head + 1 == po->size ? 0 : po->head + 1;
	WRITE_ONCE(po->used, po->used - 1);
}

/*
 * One more device of the broadcast at the head; false: not this time. @st may be
 * NULL: then nothing is counted.
 */
static bool pw_poets_expand(struct pw_poets *po, struct pw_station *st,
			    struct pw_poets_item *item, struct packetway_poets_event *ev,
			    struct pw_poets_out *out)
{
	u64 now = pw_poets_now(po);
	struct pw_softswitch_rx rx = {
		.pkt = {
			.sw_addr = item->ev.sw_addr,
			.pin_addr = item->ev.pin_addr,
			.len = item->ev.len,
		},
		.next = item->next,
		.end = item->end,
		.generation = item->generation,
	};
	struct pw_softswitch_delivery d;

	if (!pw_softswitch_next(&po->sw, now, &rx, &d)) {
		pw_poets_pop(po);
		return false;
	}
	item->next = rx.next;
	*ev = item->ev;
	if (rx.next == rx.end)
		pw_poets_pop(po);
	if (d.handler == PW_SOFTSWITCH_H_NONE) {
		if (st)
			pw_poets_count_drop(st, d.drop);
		if (d.log)
			pw_poets_drop_log(po, d.drop, &rx.pkt, d.device, out);
		return false;
	}
	if (st)
		pw_count(st, PW_STAT_POETS_DELIVERED);
	ev->type = pw_poets_event_type(d.handler);
	ev->device = d.device;
	ev->pin = d.pin;
	ev->edge = d.edge;
	return true;
}

/* send what was prepared, if there is a station to send it from */
static void pw_poets_flush_file(struct pw_poets *po, const struct pw_poets_out *out)
{
	struct pw_station *st;

	if (!out->pkt_len && !out->report_len && !out->text_len)
		return;
	local_bh_disable();
	rcu_read_lock();
	st = rcu_dereference(po->station);
	if (st)
		pw_poets_flush(st, out);
	rcu_read_unlock();
	local_bh_enable();
}

/* the next event; false: there is none */
static bool pw_poets_next(struct pw_poets *po, struct packetway_poets_event *ev)
{
	struct pw_poets_out out;
	bool got = false, more;
	struct pw_station *st;
	int i;

	do {
		out = (struct pw_poets_out) {};
		rcu_read_lock();
		st = rcu_dereference(po->station);
		spin_lock_bh(&po->lock);
		for (i = 0; i < PW_POETS_STEPS && po->used && !got && !out.text_len; i++) {
			struct pw_poets_item *item = &po->ring[po->head];

			if (item->end) {
				got = pw_poets_expand(po, st, item, ev, &out);
			} else {
				*ev = item->ev;
				pw_poets_pop(po);
				got = true;
			}
		}
		more = po->used;
		spin_unlock_bh(&po->lock);
		rcu_read_unlock();
		pw_poets_flush_file(po, &out);
		/* broadcasts that no device takes can keep this going for long */
		cond_resched();
	} while (!got && more && !signal_pending(current));
	return got;
}

static bool pw_poets_gone(const struct pw_poets *po)
{
	return !rcu_access_pointer(po->station);
}

static ssize_t pw_poets_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	struct pw_poets *po = file->private_data;
	struct packetway_poets_event ev;
	size_t done = 0;
	int err;

	if (len < sizeof(ev))
		return -EINVAL;
	for (;;) {
		while (len - done >= sizeof(ev) && pw_poets_next(po, &ev)) {
			if (copy_to_user(buf + done, &ev, sizeof(ev)))
				return done ?: -EFAULT;
			done += sizeof(ev);
			/* broadcasts to many devices last for any buffer */
			if (signal_pending(current))
				break;
			cond_resched();
		}
		if (done)
			return done;
		if (signal_pending(current))
			return -ERESTARTSYS;
		if (pw_poets_gone(po))
			return -ENODEV;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(po->wait, READ_ONCE(po->used) || pw_poets_gone(po));
		if (err)
			return err;
	}
}

/* sending ------------------------------------------------------------------- */

/* 0: it can be sent now; -EAGAIN: too much is under way; RCU held */
static int pw_poets_tx_ready(const struct pw_station *st)
{
	if (!st)
		return -ENODEV;
	if (!netif_running(st->dev))
		return -ENETDOWN;
	return READ_ONCE(st->end.full) ? -EAGAIN : 0;
}

static int pw_poets_tx_state(struct pw_poets *po)
{
	int err;

	rcu_read_lock();
	err = pw_poets_tx_ready(rcu_dereference(po->station));
	rcu_read_unlock();
	return err;
}

static int pw_poets_tx_wait(struct pw_poets *po, bool nonblock)
{
	if (nonblock)
		return -EAGAIN;
	return wait_event_interruptible(po->wait, pw_poets_tx_state(po) != -EAGAIN);
}

/* count it as sent, if it may be */
static bool pw_poets_tx_count(struct pw_poets *po, u32 sw_addr)
{
	bool ok = true;

	if (po->role != PW_POETS_R_SWITCH)
		return true;
	spin_lock(&po->lock);
	if (po->sw.state == PW_SOFTSWITCH_RUNNING)
		pw_softswitch_sent(&po->sw, sw_addr);
	else
		ok = false;
	spin_unlock(&po->lock);
	return ok;
}

static int pw_poets_tx(struct pw_poets *po, const struct packetway_poets_packet *p, bool nonblock)
{
	u8 pkt[PW_POETS_PKT_MAX];
	struct pw_station *st;
	size_t len;
	int err;

	switch (pw_addr_kind(p->hw_addr)) {
	case PW_ADDR_KIND_PHYS:
	case PW_ADDR_KIND_BROADCAST:
	case PW_ADDR_KIND_LOGICAL:
		break;
	default:
		return -EINVAL;
	}
	if (p->len > PW_POETS_MAX_PAYLOAD)
		return -EINVAL;
	if (!po->any && (p->sw_addr & PW_POETS_TASK_MASK) != po->task)
		return -EPERM;
	len = pw_poets_build(pkt, sizeof(pkt), p->sw_addr, p->pin_addr, p->payload, p->len);

	for (;;) {
		local_bh_disable();
		rcu_read_lock();
		st = rcu_dereference(po->station);
		err = pw_poets_tx_ready(st);
		if (!err && !pw_poets_tx_count(po, p->sw_addr))
			err = -EPROTO;
		if (!err)
			err = pw_poets_send(st, p->hw_addr, pkt, len);
		rcu_read_unlock();
		local_bh_enable();
		if (err != -EAGAIN)
			return err;
		err = pw_poets_tx_wait(po, nonblock);
		if (err)
			return err;
	}
}

static ssize_t pw_poets_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	bool nonblock = file->f_flags & O_NONBLOCK;
	struct pw_poets *po = file->private_data;
	struct packetway_poets_packet p;
	size_t done = 0;
	int err;

	if (!len || len % sizeof(p))
		return -EINVAL;
	while (done < len) {
		if (copy_from_user(&p, buf + done, sizeof(p)))
			return done ?: -EFAULT;
		err = pw_poets_tx(po, &p, nonblock);
		if (err)
			return done ?: err;
		done += sizeof(p);
		if (signal_pending(current))
			break;
		cond_resched();
	}
	return done;
}

static __poll_t pw_poets_poll(struct file *file, struct poll_table_struct *wait)
{
	struct pw_poets *po = file->private_data;
	__poll_t mask = 0;

	poll_wait(file, &po->wait, wait);
	if (READ_ONCE(po->used))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (pw_poets_gone(po))
		mask |= EPOLLHUP | EPOLLERR;
	else if (!pw_poets_tx_state(po))
		mask |= EPOLLOUT | EPOLLWRNORM;
	return mask;
}

/* commands ------------------------------------------------------------------ */

static int pw_poets_load_check(const struct packetway_poets_load *l, const u32 *pins,
			       const u32 *edges)
{
	u32 total = 0;
	u32 i;

	for (i = 0; i < l->devices; i++) {
		if (pins[i] > PW_POETS_PINS_MAX || pins[i] > l->total - total)
			return -EINVAL;
		total += pins[i];
	}
	if (total != l->total)
		return -EINVAL;
	for (i = 0; i < l->total; i++)
		if (edges[i] > PW_POETS_EDGES_MAX)
			return -EINVAL;
	return 0;
}

static int pw_poets_load_add(struct pw_poets *po, struct packetway_poets_load *l, const u32 *pins,
			     const u32 *edges)
{
	int err = 0;
	u32 i;

	if (po->sw.state != PW_SOFTSWITCH_LOADING)
		return -EPROTO;
	/* devices are added, started and reset with the mutex held */
	if (l->devices > po->sw.max_devices - po->sw.devices ||
	    l->total > po->sw.max_pins - po->sw.pins)
		return -EBUSY;
	l->out_first = po->sw.devices;
	for (i = 0; i < l->devices && err >= 0; i++) {
		spin_lock_bh(&po->lock);
		err = pw_softswitch_add(&po->sw, pins[i], edges);
		spin_unlock_bh(&po->lock);
		edges += pins[i];
		cond_resched();
	}
	return err < 0 ? err : 0;
}

static int pw_ioc_poets_load(struct pw_poets *po, void *arg)
{
	struct packetway_poets_load *l = arg;
	u32 *pins, *edges = NULL;
	int err = -ENOMEM;

	l->out_first = 0;
	if (l->flags || l->__reserved || !l->devices ||
	    l->devices > PACKETWAY_POETS_DEVICES_MAX || l->total > PACKETWAY_POETS_PINS_MAX)
		return -EINVAL;
	pins = kvmalloc_array(l->devices, sizeof(*pins), PW_GFP);
	if (l->total)
		edges = kvmalloc_array(l->total, sizeof(*edges), PW_GFP);
	if (!pins || (l->total && !edges))
		goto out;
	err = -EFAULT;
	if (copy_from_user(pins, u64_to_user_ptr(l->pins), l->devices * sizeof(*pins)) ||
	    copy_from_user(edges, u64_to_user_ptr(l->edges), l->total * sizeof(*edges)))
		goto out;
	err = pw_poets_load_check(l, pins, edges);
	if (err)
		goto out;
	mutex_lock(&po->load);
	err = pw_poets_load_add(po, l, pins, edges);
	mutex_unlock(&po->load);
out:
	kvfree(pins);
	kvfree(edges);
	return err;
}

static int pw_ioc_poets_start(struct pw_poets *po, void *arg)
{
	struct packetway_poets_simple *s = arg;
	struct pw_poets_out out = {};
	int err;

	if (s->flags)
		return -EINVAL;
	mutex_lock(&po->load);
	err = pw_poets_tx_state(po);
	if (err && err != -EAGAIN)
		goto out;
	spin_lock_bh(&po->lock);
	out.mothership = po->mothership;
	out.pkt_len = pw_softswitch_loaded(&po->sw, pw_poets_cycle(pw_poets_now(po)), out.pkt,
					   sizeof(out.pkt));
	spin_unlock_bh(&po->lock);
	err = out.pkt_len ? 0 : -EPROTO;
	pw_poets_flush_file(po, &out);
out:
	mutex_unlock(&po->load);
	return err;
}

static int pw_ioc_poets_kill(struct pw_poets *po, void *arg)
{
	struct packetway_poets_simple *s = arg;
	struct pw_poets_out out = {};

	if (s->flags)
		return -EINVAL;
	mutex_lock(&po->load);
	spin_lock_bh(&po->lock);
	out.pkt_len = pw_softswitch_kill(&po->sw, out.pkt, sizeof(out.pkt));
	pw_poets_report(po, pw_poets_now(po), &out);
	spin_unlock_bh(&po->lock);
	mutex_unlock(&po->load);
	if (!out.pkt_len)
		return -EPROTO;
	pw_poets_flush_file(po, &out);
	return 0;
}

static int pw_ioc_poets_reset(struct pw_poets *po, void *arg)
{
	struct packetway_poets_simple *s = arg;

	if (s->flags)
		return -EINVAL;
	mutex_lock(&po->load);
	spin_lock_bh(&po->lock);
	pw_softswitch_reset(&po->sw);
	po->head = 0;
	WRITE_ONCE(po->used, 0);
	pw_poets_disarm(po);
	spin_unlock_bh(&po->lock);
	/* at most the report that is being made now is still sent */
	hrtimer_cancel(&po->timer);
	mutex_unlock(&po->load);
	return 0;
}

static int pw_ioc_poets_set(struct pw_poets *po, void *arg)
{
	struct packetway_poets_set *s = arg;
	struct pw_station *st;

	if (!s->flags ||
	    s->flags & ~(PACKETWAY_POETS_SET_INTERVAL | PACKETWAY_POETS_SET_MOTHERSHIP) ||
	    s->interval > PACKETWAY_POETS_INTERVAL_MAX || !pw_poets_mothership_ok(s->mothership))
		return -EINVAL;
	rcu_read_lock();
	st = rcu_dereference(po->station);
	spin_lock_bh(&po->lock);
	if (s->flags & PACKETWAY_POETS_SET_MOTHERSHIP)
		po->mothership = s->mothership;
	if (s->flags & PACKETWAY_POETS_SET_INTERVAL) {
		pw_softswitch_set_interval(&po->sw, pw_poets_now(po),
					   (u64)s->interval * NSEC_PER_MSEC);
		if (st && s->interval && po->sw.state == PW_SOFTSWITCH_RUNNING)
			pw_poets_arm(po, st->san, po->sw.interval);
	}
	spin_unlock_bh(&po->lock);
	rcu_read_unlock();
	return 0;
}

static int pw_ioc_poets_get(struct pw_poets *po, void *arg)
{
	struct packetway_poets_get *g = arg;
	struct pw_poets_info info;

	if (g->flags)
		return -EINVAL;
	pw_poets_info(po, &info);
	*g = (struct packetway_poets_get) {
		.size = g->size,
		.out_state = info.state,
		.out_devices = info.devices,
		.out_pins = info.pins,
		.out_queued = info.queued,
		.out_address = po->sw.hw_addr,
		.out_mothership = info.mothership,
		.out_lost = info.lost,
	};
	memcpy(g->out_drops, info.drops, sizeof(g->out_drops));
	memcpy(g->out_counters, info.counters, sizeof(g->out_counters));
	return 0;
}

static int pw_ioc_poets_log(struct pw_poets *po, void *arg)
{
	struct packetway_poets_log *l = arg;
	struct packetway_poets_packet p = {};
	u8 text[PW_POETS_LOG_MAX];
	u8 frag[PW_POETS_PKT_MAX];
	unsigned int i, n;
	size_t len;
	int err;

	if (l->flags || !l->len || l->len > PACKETWAY_POETS_LOG_MAX || l->device > U16_MAX)
		return -EINVAL;
	if (copy_from_user(text, u64_to_user_ptr(l->text), l->len))
		return -EFAULT;
	p.hw_addr = READ_ONCE(po->mothership);
	if (!p.hw_addr)
		return 0;
	n = pw_poets_log_fragments(l->len);
	for (i = 0; i < n; i++) {
		len = pw_poets_log_build(frag, sizeof(frag), l->device, (char *)text, l->len, i);
		pw_poets_set_task(frag, po->task);
		p.sw_addr = get_unaligned_le32(frag);
		p.pin_addr = get_unaligned_le32(frag + 4);
		p.len = len - PW_POETS_HDR_LEN;
		memcpy(p.payload, frag + PW_POETS_HDR_LEN, p.len);
		err = pw_poets_tx(po, &p, false);
		if (err)
			return err;
	}
	return 0;
}

static int pw_ioc_poets_count(struct pw_poets *po, void *arg)
{
	struct packetway_poets_count *c = arg;

	if (c->flags)
		return -EINVAL;
	spin_lock_bh(&po->lock);
	pw_softswitch_count(&po->sw, PW_POETS_C_TX_HANDLERS, c->send_handlers);
	pw_softswitch_count(&po->sw, PW_POETS_C_IDLE, c->idle);
	pw_softswitch_count(&po->sw, PW_POETS_C_IDLE_HANDLERS, c->idle_handlers);
	pw_softswitch_count(&po->sw, PW_POETS_C_BLOCKED, c->blocked);
	spin_unlock_bh(&po->lock);
	return 0;
}

/* @both: a mothership has it, too */
struct pw_poets_op {
	struct pw_ioctl_size size;
	int (*handler)(struct pw_poets *po, void *arg);
	bool both;
};

#define PW_POETS_OP(nr, fn, type, last, for_both)				\
	[(nr) - PACKETWAY_IOCNR_POETS_OPEN] = {					\
		.size = PW_IOCTL_SIZE(type, last), .handler = fn, .both = for_both, \
	}

static const struct pw_poets_op pw_poets_ops[] = {
	PW_POETS_OP(PACKETWAY_IOCNR_POETS_LOAD, pw_ioc_poets_load, packetway_poets_load,
		    __reserved, false),
	PW_POETS_OP(PACKETWAY_IOCNR_POETS_START, pw_ioc_poets_start, packetway_poets_simple,
		    flags, false),
	PW_POETS_OP(PACKETWAY_IOCNR_POETS_SET, pw_ioc_poets_set, packetway_poets_set,
		    mothership, false),
	PW_POETS_OP(PACKETWAY_IOCNR_POETS_GET, pw_ioc_poets_get, packetway_poets_get,
		    out_counters, true),
	PW_POETS_OP(PACKETWAY_IOCNR_POETS_LOG, pw_ioc_poets_log, packetway_poets_log,
		    device, false),
	PW_POETS_OP(PACKETWAY_IOCNR_POETS_KILL, pw_ioc_poets_kill, packetway_poets_simple,
		    flags, false),
	PW_POETS_OP(PACKETWAY_IOCNR_POETS_COUNT, pw_ioc_poets_count, packetway_poets_count,
		    blocked, false),
	PW_POETS_OP(PACKETWAY_IOCNR_POETS_RESET, pw_ioc_poets_reset, packetway_poets_simple,
		    flags, false),
};

union pw_poets_arg {
	struct packetway_poets_load load;
	struct packetway_poets_simple simple;
	struct packetway_poets_set set;
	struct packetway_poets_get get;
	struct packetway_poets_log log;
	struct packetway_poets_count count;
};

static long pw_poets_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	int nr = pw_ioctl_nr(cmd, PACKETWAY_IOCNR_POETS_OPEN, ARRAY_SIZE(pw_poets_ops));
	struct pw_poets *po = file->private_data;
	const struct pw_poets_op *op;
	union pw_poets_arg karg;
	u32 usize;
	int err;

	if (nr < 0 || !pw_poets_ops[nr].handler)
		return -ENOTTY;
	op = &pw_poets_ops[nr];
	err = pw_ioctl_get(arg, &op->size, &karg, &usize);
	if (err)
		return err;
	if (po->role != PW_POETS_R_SWITCH && !op->both)
		return -EOPNOTSUPP;
	err = op->handler(po, &karg);
	return err ?: pw_ioctl_put(arg, &op->size, &karg, usize);
}

static int pw_poets_release(struct inode *inode, struct file *file)
{
	struct pw_poets *po = file->private_data;
	struct pw_station *st;

	rtnl_lock();
	st = rtnl_dereference(po->station);
	if (st) {
		pw_limit_uncharge(st->san->net, PW_LIMIT_SWITCHES, 1);
		hlist_del_rcu(&po->node);
		atomic_inc(&pw_net(dev_net(st->dev))->lists);
		RCU_INIT_POINTER(po->station, NULL);
		pw_rrp_station_changed(st);
	}
	rtnl_unlock();
	/* the receive side is done with it after this, then the timer */
	synchronize_net();
	spin_lock_bh(&po->lock);
	pw_poets_disarm(po);
	spin_unlock_bh(&po->lock);
	hrtimer_cancel(&po->timer);
	pw_poets_free(po);
	return 0;
}

static const struct file_operations pw_poets_fops = {
	.owner = THIS_MODULE,
	.release = pw_poets_release,
	.read = pw_poets_read,
	.write = pw_poets_write,
	.poll = pw_poets_poll,
	.unlocked_ioctl = pw_poets_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/* Has the station a file for these packets already? RTNL */
static bool pw_poets_taken(const struct pw_station *st, const struct pw_poets *po)
{
	const struct pw_poets *o;

	hlist_for_each_entry(o, &st->poets[po->role], node)
		if (o->any || po->any || o->task == po->task)
			return true;
	return false;
}

static int pw_poets_publish(struct pw_file *pf, struct pw_poets *po)
{
	struct pw_station *st;
	int err;

	rtnl_lock();
	st = pw_file_admin(pf);
	if (IS_ERR(st))
		err = PTR_ERR(st);
	else if (pw_poets_taken(st, po))
		err = -EBUSY;
	else
		err = pw_limit_charge(st->san->net, PW_LIMIT_SWITCHES, 1, NULL);
	if (!err) {
		po->sw.hw_addr = st->addr;
		rcu_assign_pointer(po->station, st);
		hlist_add_head_rcu(&po->node, &st->poets[po->role]);
		atomic_inc(&pw_net(dev_net(st->dev))->lists);
		pw_rrp_station_changed(st);
	}
	rtnl_unlock();
	return err;
}

static bool pw_poets_open_ok(const struct packetway_poets_open *o)
{
	if (o->flags & ~(PACKETWAY_POETS_MOTHERSHIP | PACKETWAY_POETS_NONBLOCK |
			 PACKETWAY_POETS_TASK) ||
	    o->__reserved || o->__reserved2 || o->queue > PACKETWAY_POETS_QUEUE_MAX)
		return false;
	if (o->task >= PACKETWAY_POETS_TASKS || (o->task && !(o->flags & PACKETWAY_POETS_TASK)))
		return false;
	if (o->flags & PACKETWAY_POETS_MOTHERSHIP)
		return !o->devices && !o->pins && !o->mothership && !o->interval;
	return o->devices && o->devices <= PACKETWAY_POETS_DEVICES_MAX &&
	       o->pins <= PACKETWAY_POETS_PINS_MAX &&
	       o->pins <= o->devices * PW_POETS_PINS_MAX &&
	       o->interval <= PACKETWAY_POETS_INTERVAL_MAX &&
	       pw_poets_mothership_ok(o->mothership);
}

int pw_ioc_poets_open(struct pw_file *pf, void *arg)
{
	struct packetway_poets_open *o = arg;
	int flags = O_RDWR | O_CLOEXEC;
	struct pw_poets *po;
	struct file *file;
	int fd, err;

	if (!pw_poets_open_ok(o))
		return -EINVAL;
	err = pw_file_may(pf);
	if (err)
		return err;

	if (o->flags & PACKETWAY_POETS_NONBLOCK)
		flags |= O_NONBLOCK;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	po = pw_poets_alloc(o);
	if (!po) {
		err = -ENOMEM;
		goto err_fd;
	}
	file = anon_inode_getfile("[packetway-poets]", &pw_poets_fops, po, flags);
	if (IS_ERR(file)) {
		pw_poets_free(po);
		err = PTR_ERR(file);
		goto err_fd;
	}
	err = pw_poets_publish(pf, po);
	if (err) {
		fput(file);
		goto err_fd;
	}
	fd_install(fd, file);
	return fd;

err_fd:
	put_unused_fd(fd);
	return err;
}
