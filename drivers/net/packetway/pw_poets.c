// SPDX-License-Identifier: GPL-2.0
/*
 * POETS packets at a station.
 *
 *   pw_rx_one -> pw_poets_rx                        : task
 *                            -> pw_softswitch_input : state, address, opcode
 *                            -> pw_softswitch_next  : pin and edge
 *                            -> queue -> read() of the owning file
 *
 * A packet for one device is checked to the end here, so that only what will be
 * delivered takes a place in the queue; a broadcast takes one place, whatever
 * the number of devices. Where the softswitch is not open, packets go to
 * packet sockets like other messages. Whatever has to be sent is sent after the
 * lock is released: locks of two stations never nest.
 */
#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/rtnetlink.h>
#include <linux/sched/clock.h>

#include "pw_priv.h"
#include "pw_trace.h"

/**
 * pw_poets_send - send a POETS packet from a station
 * @st: the station
 * @to: hardware address
 * @pkt: the packet, header included
 * @len: bytes of it
 *
 * BH off, RCU held.
 *
 * Return: 0 or -ENOMEM.
 */
int pw_poets_send(struct pw_station *st, u32 to, const void *pkt, unsigned int len)
{
	const struct pw_eep_hdr hdr = {
		.dt = to,
		.sa = st->addr,
		.pt = PW_PT_POETS,
		.e = PW_E_LITTLE | PW_E_32,
		.data_len = len,
	};
	struct sk_buff *skb;
	u8 *body;

	skb = pw_skb_new(&hdr, &body);
	if (!skb) {
		pw_count(st, (enum pw_stat)PW_DROP_TX_NOMEM);
		return -ENOMEM;
	}
	memcpy(body, pkt, len);
	pw_count(st, PW_STAT_POETS_TX);
	pw_send_own(st, skb);
	return 0;
}

/* a packet to the mothership says which task it is of */
void pw_poets_set_task(u8 *pkt, u32 task)
{
	put_unaligned_le32(get_unaligned_le32(pkt) | task, pkt);
}

/**
 * pw_poets_flush - send what was prepared under the lock
 * @st: the station
 * @out: what
 *
 * BH off, RCU held.
 */
void pw_poets_flush(struct pw_station *st, const struct pw_poets_out *out)
{
	unsigned int i, n = pw_poets_log_fragments(out->text_len);
	u8 frag[PW_POETS_PKT_MAX];
	size_t len;

	if (!out->mothership || !netif_running(st->dev) ||
	    (!out->pkt_len && !out->report_len && !out->text_len))
		return;
	/* requests for reports must not fill memory with them */
	if (pw_own_full(st, 0)) {
		pw_count(st, PW_STAT_POETS_LIMITED);
		return;
	}
	if (out->pkt_len)
		pw_poets_send(st, out->mothership, out->pkt, out->pkt_len);
	if (out->report_len) {
		pw_count(st, PW_STAT_POETS_REPORTS);
		pw_poets_send(st, out->mothership, out->report, out->report_len);
	}
	if (!out->text_len)
		return;
	pw_count(st, PW_STAT_POETS_LOGS);
	for (i = 0; i < n; i++) {
		len = pw_poets_log_build(frag, sizeof(frag), out->text_device, out->text,
					 out->text_len, i);
		if (!len)
			break;
		pw_poets_set_task(frag, out->task);
		pw_poets_send(st, out->mothership, frag, len);
	}
}

/**
 * pw_poets_report - prepare a report if one is due
 * @po: the softswitch, locked
 * @now: time
 * @out: where to
 */
void pw_poets_report(struct pw_poets *po, u64 now, struct pw_poets_out *out)
{
	lockdep_assert_held(&po->lock);
	out->mothership = po->mothership;
	if (pw_softswitch_report_due(&po->sw, now))
		out->report_len = pw_softswitch_report(&po->sw, now, pw_poets_cycle(now), false,
						       out->report, sizeof(out->report));
}

/**
 * pw_poets_drop_log - prepare a log message about a drop
 * @po: the softswitch, locked
 * @drop: why
 * @pkt: the packet
 * @device: device for which it was dropped
 * @out: where to
 */
void pw_poets_drop_log(struct pw_poets *po, enum pw_softswitch_drop drop,
		       const struct pw_poets_pkt *pkt, u16 device, struct pw_poets_out *out)
{
	lockdep_assert_held(&po->lock);
	out->mothership = po->mothership;
	out->task = po->task;
	out->text_device = device;
	out->text_len = pw_softswitch_drop_text(&po->sw, drop, pkt, device, out->text,
						sizeof(out->text));
}

void pw_poets_count_drop(struct pw_station *st, enum pw_softswitch_drop drop)
{
	BUILD_BUG_ON(PW_STAT_POETS_DROP_EDGE - PW_STAT_POETS_DROP_MALFORMED !=
		     PW_SOFTSWITCH_D_EDGE - PW_SOFTSWITCH_D_MALFORMED);
	pw_count(st, PW_STAT_POETS_DROP_MALFORMED + drop - PW_SOFTSWITCH_D_MALFORMED);
}

/* a place in the queue, its event empty but for its type; NULL if it is full */
static struct pw_poets_item *pw_poets_place(struct pw_poets *po, u8 type, bool reserved)
{
	u32 room = po->size - (reserved ? 0 : PW_POETS_RESERVE);
	struct pw_poets_item *item;
	u32 at = po->head + po->used;

	if (po->used >= room) {
		po->lost++;
		return NULL;
	}
	item = &po->ring[at >= po->size ? at - po->size : at];
	WRITE_ONCE(po->used, po->used + 1);
	memset(item, 0, sizeof(*item));
	item->ev.type = type;
	return item;
}

static bool pw_poets_place_packet(struct pw_poets *po, u8 type, u32 src,
				  const struct pw_poets_pkt *pkt, struct pw_poets_item **item)
{
	struct packetway_poets_event *ev;

	*item = pw_poets_place(po, type, false);
	if (!*item)
		return false;
	ev = &(*item)->ev;
	ev->src = src;
	ev->sw_addr = pkt->sw_addr;
	ev->pin_addr = pkt->pin_addr;
	ev->device = pw_poets_device(pkt->sw_addr);
	ev->opcode = pw_poets_opcode(pkt->sw_addr);
	ev->len = pkt->len;
	memcpy(ev->payload, pkt->payload, pkt->len);
	return true;
}

u8 pw_poets_event_type(enum pw_softswitch_handler handler)
{
	switch (handler) {
	case PW_SOFTSWITCH_H_PIN:
		return PACKETWAY_POETS_EV_PIN;
	case PW_SOFTSWITCH_H_CTL:
		return PACKETWAY_POETS_EV_CTL;
	default:
		return PACKETWAY_POETS_EV_IMPL;
	}
}

/* for devices: one is served now, all of them as the owner reads */
static enum pw_softswitch_drop pw_poets_deliver(struct pw_station *st, struct pw_poets *po,
						u64 now, u32 src, struct pw_softswitch_rx *rx,
						struct pw_poets_out *out)
{
	struct pw_softswitch_delivery d;
	struct pw_poets_item *item;
	u8 type;

	if (pw_poets_device(rx->pkt.sw_addr) == PW_POETS_DEVICE_BROADCAST) {
		/* a softswitch may run without devices */
		if (rx->next == rx->end)
			return PW_SOFTSWITCH_OK;
		if (!pw_poets_place_packet(po, 0, src, &rx->pkt, &item)) {
			pw_count(st, PW_STAT_POETS_OVERRUN);
			return PW_SOFTSWITCH_OK;
		}
		item->next = rx->next;
		item->end = rx->end;
		item->generation = rx->generation;
		return PW_SOFTSWITCH_OK;
	}

	pw_softswitch_next(&po->sw, now, rx, &d);
	if (d.handler == PW_SOFTSWITCH_H_NONE) {
		if (d.log)
			pw_poets_drop_log(po, d.drop, &rx->pkt, d.device, out);
		return d.drop;
	}
	type = pw_poets_event_type(d.handler);
	if (!pw_poets_place_packet(po, type, src, &rx->pkt, &item)) {
		pw_count(st, PW_STAT_POETS_OVERRUN);
		return PW_SOFTSWITCH_OK;
	}
	item->ev.pin = d.pin;
	item->ev.edge = d.edge;
	pw_count(st, PW_STAT_POETS_DELIVERED);
	return PW_SOFTSWITCH_OK;
}

/* the receive order of a softswitch */
static void pw_poets_switch_rx(struct pw_station *st, struct pw_poets *po, u32 src, const u8 *buf,
			       unsigned int len)
{
	enum pw_softswitch_drop drop = PW_SOFTSWITCH_OK;
	struct pw_poets_out out = {};
	struct pw_softswitch_rx rx;
	u64 now = pw_engine_now(st->san);

	spin_lock(&po->lock);
	switch (pw_softswitch_input(&po->sw, now, buf, len, &rx)) {
	case PW_SOFTSWITCH_DELIVER:
		drop = pw_poets_deliver(st, po, now, src, &rx, &out);
		break;
	case PW_SOFTSWITCH_RELEASED:
		pw_poets_place(po, PACKETWAY_POETS_EV_RELEASED, true);
		if (po->sw.interval)
			pw_poets_arm(po, st->san, po->sw.interval);
		break;
	case PW_SOFTSWITCH_STOP:
		pw_poets_place(po, PACKETWAY_POETS_EV_STOPPED, true);
		break;
	case PW_SOFTSWITCH_REPORT:
		break;
	case PW_SOFTSWITCH_DROP:
		drop = rx.drop;
		if (rx.log)
			pw_poets_drop_log(po, drop, &rx.pkt, pw_poets_device(rx.pkt.sw_addr),
					  &out);
		break;
	}
	pw_poets_report(po, now, &out);
	spin_unlock(&po->lock);

	trace_pw_poets(st->dev, src, &rx.pkt, drop);
	if (drop != PW_SOFTSWITCH_OK)
		pw_poets_count_drop(st, drop);
	pw_poets_flush(st, &out);
}

/* a mothership gets commands and what is for its supervisors */
static void pw_poets_mothership_rx(struct pw_station *st, struct pw_poets *po, u32 src,
				   const u8 *buf, unsigned int len)
{
	enum pw_softswitch_drop drop = PW_SOFTSWITCH_OK;
	struct pw_poets_item *item;
	struct pw_poets_pkt pkt = {};

	if (pw_poets_parse(buf, len, &pkt)) {
		drop = PW_SOFTSWITCH_D_MALFORMED;
		goto out;
	}
	switch (pw_poets_mothership(pkt.sw_addr)) {
	case PW_POETS_MS_COMMAND:
	case PW_POETS_MS_SUPERVISOR:
		break;
	default:
		drop = PW_SOFTSWITCH_D_MOTHERSHIP;
		goto out;
	}
	spin_lock(&po->lock);
	if (pw_poets_place_packet(po, PACKETWAY_POETS_EV_MOTHERSHIP, src, &pkt, &item))
		pw_count(st, PW_STAT_POETS_DELIVERED);
	else
		pw_count(st, PW_STAT_POETS_OVERRUN);
	spin_unlock(&po->lock);
out:
	trace_pw_poets(st->dev, src, &pkt, drop);
	if (drop == PW_SOFTSWITCH_OK)
		return;
	spin_lock(&po->lock);
	po->sw.drops[drop]++;
	spin_unlock(&po->lock);
	pw_poets_count_drop(st, drop);
}

/* the file of a station that takes packets with this swAddr; RCU held */
static struct pw_poets *pw_poets_find(struct pw_station *st, enum pw_poets_role role, u32 sw_addr)
{
	struct pw_poets *po;

	hlist_for_each_entry_rcu(po, &st->poets[role], node)
		if (po->any || po->task == (sw_addr & PW_POETS_TASK_MASK))
			return po;
	return NULL;
}

static void pw_poets_take(struct pw_station *st, enum pw_poets_role role, u32 src, const u8 *buf,
			  unsigned int len)
{
	/* one that is too short has no task: it is malformed for all */
	u32 sw_addr = len < PW_POETS_HDR_LEN ? 0 : get_unaligned_le32(buf);
	struct pw_poets *po = pw_poets_find(st, role, sw_addr);

	pw_count(st, PW_STAT_POETS_RX);
	if (!po) {
		pw_count(st, len < PW_POETS_HDR_LEN ? PW_STAT_POETS_DROP_MALFORMED :
						      PW_STAT_POETS_DROP_TASK);
		return;
	}
	if (role == PW_POETS_R_SWITCH)
		pw_poets_switch_rx(st, po, src, buf, len);
	else
		pw_poets_mothership_rx(st, po, src, buf, len);
	if (READ_ONCE(po->used))
		wake_up_interruptible_poll(&po->wait, EPOLLIN | EPOLLRDNORM);
}

/**
 * pw_poets_rx - a message of type POETS has reached a station
 * @st: the station
 * @skb: the message; consumed if PW_OK is returned
 * @v: what was parsed of it
 * @up: messages for the stack
 *
 * BH off, RCU held.
 *
 * Return: PW_OK or a drop reason.
 */
int pw_poets_rx(struct pw_station *st, struct sk_buff *skb, const struct pw_eep_view *v,
		struct pw_up *up)
{
	unsigned int have = min_t(u32, v->data_len, PW_POETS_PKT_MAX);
	enum pw_poets_role role = PW_POETS_R_SWITCH;
	u8 buf[PW_POETS_PKT_MAX];

	if (skb_copy_bits(skb, v->db_off, buf, have))
		return PW_DROP_RX_NOMEM;
	/* words of a big-endian sender: convert them */
	if ((v->e & PW_E_SIZE_MASK) == PW_E_32 && !(v->e & PW_E_LITTLE))
		pw_eep_swap(buf, have, PW_E_32);

	if (have >= PW_POETS_HDR_LEN && get_unaligned_le32(buf) & PW_POETS_MOTHERSHIP &&
	    !hlist_empty(&st->poets[PW_POETS_R_MOTHERSHIP]))
		role = PW_POETS_R_MOTHERSHIP;
	/* damaged data is not delivered to devices */
	if (v->ei || hlist_empty(&st->poets[role])) {
		pw_skb_strip(skb, v);
		pw_up_add(up, skb);
		return PW_OK;
	}

	pw_poets_take(st, role, v->sa, buf, v->data_len);
	if (dev_nit_active(st->dev)) {
		/* captures get it; pkt_type tells programs that it was not for them */
		skb->pkt_type = PACKET_OTHERHOST;
		pw_skb_strip(skb, v);
		pw_up_add(up, skb);
	} else {
		consume_skb(skb);
	}
	return PW_OK;
}

/* what every user may read of a softswitch or mothership */
void pw_poets_info(struct pw_poets *po, struct pw_poets_info *info)
{
	spin_lock_bh(&po->lock);
	info->state = po->sw.state;
	info->devices = po->sw.devices;
	info->pins = po->sw.pins;
	info->mothership = po->mothership;
	info->interval = div_u64(po->sw.interval, NSEC_PER_MSEC);
	info->queue = po->size - PW_POETS_RESERVE;
	info->queued = po->used;
	info->lost = po->lost;
	memcpy(info->drops, po->sw.drops, sizeof(info->drops));
	memcpy(info->counters, po->sw.c, sizeof(info->counters));
	spin_unlock_bh(&po->lock);
}

/**
 * pw_poets_now - the time of the station's SAN, see pw_engine_now()
 * @po: the softswitch
 */
u64 pw_poets_now(struct pw_poets *po)
{
	struct pw_station *st;
	u64 now;

	rcu_read_lock();
	st = rcu_dereference(po->station);
	now = st ? pw_engine_now(st->san) : ktime_get_ns();
	rcu_read_unlock();
	return now;
}

/**
 * pw_poets_disarm - no report is due by the clock of a SAN
 * @po: the softswitch, locked
 */
void pw_poets_disarm(struct pw_poets *po)
{
	lockdep_assert_held(&po->lock);
	if (!po->clock)
		return;
	pw_time_alarm_stop(po->clock, &po->alarm);
	pw_time_unhold(po->clock, &po->held);
	pw_time_put(po->clock);
	po->clock = NULL;
}

/**
 * pw_poets_arm - a report is due after some time
 * @po: the softswitch, locked; BH off
 * @san: its SAN
 * @ns: nanoseconds of pw_engine_now()
 *
 * In lockstep an alarm of the clock starts the timer, unless there are no participants.
 */
void pw_poets_arm(struct pw_poets *po, const struct pw_san *san, u64 ns)
{
	struct pw_time *t;
	bool started;

	lockdep_assert_held(&po->lock);
	rcu_read_lock();
	t = rcu_dereference(san->time);
	if (po->clock != t) {
		pw_poets_disarm(po);
		if (t && refcount_inc_not_zero(&t->users))
			po->clock = t;
	}
	started = po->clock && pw_time_alarm_start(po->clock, &po->alarm, ns);
	rcu_read_unlock();
	if (!started)
		hrtimer_start(&po->timer, ns_to_ktime(ns), HRTIMER_MODE_REL_SOFT);
}

/* the report has been sent: time goes on; BH off */
void pw_poets_go_on(struct pw_poets *po)
{
	spin_lock(&po->lock);
	if (po->clock)
		pw_time_unhold(po->clock, &po->held);
	spin_unlock(&po->lock);
}

/* of the clock, which is locked: time stands still until pw_poets_timer() has run */
void pw_poets_alarm(struct pw_time *t, struct pw_time_alarm *a)
{
	struct pw_poets *po = container_of(a, struct pw_poets, alarm);

	pw_time_alarm_hold(t, &po->held);
	hrtimer_start(&po->timer, 0, HRTIMER_MODE_REL_SOFT);
}

/* does the timer have to come later, for a station that is still there? RCU held, BH off */
static bool pw_poets_put_off(struct pw_poets *po, const struct pw_station *st)
{
	u64 late = st ? pw_share_late() : 0;

	if (!late)
		return false;
	spin_lock(&po->lock);
	hrtimer_start(&po->timer, ns_to_ktime(late), HRTIMER_MODE_REL_SOFT);
	spin_unlock(&po->lock);
	return true;
}

/* time for a report; softirq */
enum hrtimer_restart pw_poets_timer(struct hrtimer *timer)
{
	struct pw_poets *po = container_of(timer, struct pw_poets, timer);
	struct pw_poets_out out = {};
	struct pw_station *st;
	u64 now, next, start;

	pw_kcov_section();

	rcu_read_lock();
	st = rcu_dereference(po->station);
	if (pw_poets_put_off(po, st))
		goto out;
	start = local_clock();
	now = pw_poets_now(po);
	spin_lock(&po->lock);
	pw_poets_report(po, now, &out);
	next = st ? pw_softswitch_next_report(&po->sw) : U64_MAX;
	/* set under the lock here and everywhere, hence always "no restart" */
	if (next != U64_MAX)
		pw_poets_arm(po, st->san, next > now ? next - now : 0);
	spin_unlock(&po->lock);
	if (st)
		pw_poets_flush(st, &out);
	pw_poets_go_on(po);
	pw_share_acted(local_clock() - start);
out:
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/**
 * pw_poets_station_gone - a station goes away; the files learn of it
 * @st: the station; under RTNL, a grace period follows
 */
void pw_poets_station_gone(struct pw_station *st)
{
	struct hlist_node *next;
	struct pw_poets *po;
	int i;

	for (i = 0; i < PW_POETS_ROLES; i++) {
		hlist_for_each_entry_safe(po, next, &st->poets[i], node) {
			pw_limit_uncharge(st->san->net, PW_LIMIT_SWITCHES, 1);
			hlist_del_rcu(&po->node);
			RCU_INIT_POINTER(po->station, NULL);
			wake_up_all(&po->wait);
		}
	}
}
