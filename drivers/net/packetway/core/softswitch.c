// SPDX-License-Identifier: GPL-2.0
/*
 * The softswitch: which devices a packet is for, and what else it means.
 *
 * A packet costs a constant amount of work. A broadcast is not expanded at once:
 * pw_softswitch_next() looks at one device per call, so the caller decides how
 * many it can afford before it lets others run.
 */
#include "poets.h"

const char *const pw_softswitch_drop_name[PW_SOFTSWITCH_DROPS] = {
	[PW_SOFTSWITCH_OK] = "ok",
	[PW_SOFTSWITCH_D_MALFORMED] = "malformed",
	[PW_SOFTSWITCH_D_LOADING] = "loading",
	[PW_SOFTSWITCH_D_BARRIER] = "barrier",
	[PW_SOFTSWITCH_D_STOPPED] = "stopped",
	[PW_SOFTSWITCH_D_MOTHERSHIP] = "mothership",
	[PW_SOFTSWITCH_D_DEVICE] = "device",
	[PW_SOFTSWITCH_D_OPCODE] = "opcode",
	[PW_SOFTSWITCH_D_PIN] = "pin",
	[PW_SOFTSWITCH_D_EDGE] = "edge",
};

/**
 * pw_softswitch_bytes - memory that a softswitch needs
 * @max_devices: devices that must fit
 * @max_pins: pins of all of them together
 *
 * Return: bytes, or 0 where there cannot be so many.
 */
size_t pw_softswitch_bytes(u32 max_devices, u32 max_pins)
{
	if (!max_devices || max_devices > PW_POETS_DEVICES_MAX ||
	    max_pins > max_devices * PW_POETS_PINS_MAX)
		return 0;
	return (size_t)max_devices * sizeof(struct pw_softswitch_device) +
	       (size_t)max_pins * sizeof(u32);
}

/**
 * pw_softswitch_init - make a softswitch without devices
 * @s: the softswitch
 * @mem: memory for it, on a multiple of 4 bytes, the caller's to free
 * @bytes: size of @mem, at least what pw_softswitch_bytes() says
 * @max_devices: devices that must fit
 * @max_pins: pins of all of them together
 * @hw_addr: address of the station
 *
 * Return: 0, or -EINVAL with nothing done.
 */
int pw_softswitch_init(struct pw_softswitch *s, void *mem, size_t bytes, u32 max_devices,
		       u32 max_pins, u32 hw_addr)
{
	size_t need = pw_softswitch_bytes(max_devices, max_pins);

	if (!need || bytes < need || (unsigned long)mem & 3)
		return -EINVAL;
	memset(s, 0, sizeof(*s));
	s->device = mem;
	s->edges = (u32 *)(s->device + max_devices);
	s->max_devices = max_devices;
	s->max_pins = max_pins;
	s->hw_addr = hw_addr;
	pw_softswitch_set_log_limit(s, PW_SOFTSWITCH_LOG_PERIOD, PW_SOFTSWITCH_LOG_BURST);
	return 0;
}

/**
 * pw_softswitch_reset - forget all devices and load anew
 * @s: the softswitch
 *
 * Counters start again, limits and interval stay, drops go on counting.
 */
void pw_softswitch_reset(struct pw_softswitch *s)
{
	s->devices = 0;
	s->pins = 0;
	s->state = PW_SOFTSWITCH_LOADING;
	s->generation++;
	s->report_pending = false;
	memset(s->c, 0, sizeof(s->c));
}

/**
 * pw_softswitch_add - add a device while loading
 * @s: the softswitch
 * @pins: its input pins, at most PW_POETS_PINS_MAX
 * @edges: edges of each of them, at most PW_POETS_EDGES_MAX
 *
 * Return: the address of the device, from 0 upwards; -EBUSY where loading is
 * over, -ERANGE where a number is too large, -ENOSPC where it does not fit.
 */
int pw_softswitch_add(struct pw_softswitch *s, u32 pins, const u32 *edges)
{
	u32 i;

	if (s->state != PW_SOFTSWITCH_LOADING)
		return -EBUSY;
	if (pins > PW_POETS_PINS_MAX)
		return -ERANGE;
	for (i = 0; i < pins; i++)
		if (edges[i] > PW_POETS_EDGES_MAX)
			return -ERANGE;
	if (s->devices == s->max_devices || pins > s->max_pins - s->pins)
		return -ENOSPC;
	s->device[s->devices].first_pin = s->pins;
	s->device[s->devices].pins = pins;
	if (pins)
		memcpy(s->edges + s->pins, edges, pins * sizeof(u32));
	s->pins += pins;
	return s->devices++;
}

/**
 * pw_softswitch_loaded - all devices are there and initialised
 * @s: the softswitch
 * @cycle: virtual cycle now; the first report counts from here
 * @buf: where to write the packet for the mothership: barrier reached
 * @size: room there, at least PW_POETS_HDR_LEN
 *
 * Return: bytes written; 0, with nothing done, where there is no room or loading
 * was over already.
 */
size_t pw_softswitch_loaded(struct pw_softswitch *s, u64 cycle, void *buf, size_t size)
{
	if (s->state != PW_SOFTSWITCH_LOADING || size < PW_POETS_HDR_LEN)
		return 0;
	s->state = PW_SOFTSWITCH_BARRIER;
	s->reported = cycle;
	return pw_poets_build(buf, size, PW_POETS_SW_BARRIER_REACHED | s->task, s->hw_addr,
			      NULL, 0);
}

static bool worth_a_log(enum pw_softswitch_drop drop)
{
	switch (drop) {
	case PW_SOFTSWITCH_D_LOADING:
	case PW_SOFTSWITCH_D_BARRIER:
	case PW_SOFTSWITCH_D_STOPPED:
		return false;
	default:
		return true;
	}
}

static bool count_drop(struct pw_softswitch *s, u64 now, enum pw_softswitch_drop drop)
{
	s->drops[drop]++;
	return worth_a_log(drop) && pw_softswitch_log_allowed(s, now);
}

static enum pw_softswitch_verdict dropped(struct pw_softswitch *s, u64 now,
					  struct pw_softswitch_rx *rx, enum pw_softswitch_drop drop)
{
	rx->drop = drop;
	rx->log = count_drop(s, now, drop);
	return PW_SOFTSWITCH_DROP;
}

static void halt(struct pw_softswitch *s)
{
	s->state = PW_SOFTSWITCH_STOPPED;
	/* what was counted since the last report would be lost otherwise */
	if (s->interval)
		s->report_pending = true;
}

/**
 * pw_softswitch_input - a packet arrives
 * @s: the softswitch
 * @now: time
 * @buf: the packet
 * @len: bytes of it
 * @rx: its state, for pw_softswitch_next(); it points into @buf
 *
 * Return: what it means. Only PW_SOFTSWITCH_DELIVER needs pw_softswitch_next().
 */
enum pw_softswitch_verdict pw_softswitch_input(struct pw_softswitch *s, u64 now, const void *buf,
					       size_t len, struct pw_softswitch_rx *rx)
{
	u8 opcode;
	u16 dev;
	bool cnc;

	memset(rx, 0, sizeof(*rx));
	s->c[PW_POETS_C_RX]++;
	if (pw_poets_parse(buf, len, &rx->pkt))
		return dropped(s, now, rx, PW_SOFTSWITCH_D_MALFORMED);
	if (s->state == PW_SOFTSWITCH_LOADING)
		return dropped(s, now, rx, PW_SOFTSWITCH_D_LOADING);
	if (s->state == PW_SOFTSWITCH_STOPPED)
		return dropped(s, now, rx, PW_SOFTSWITCH_D_STOPPED);
	if (rx->pkt.sw_addr & PW_POETS_MOTHERSHIP)
		return dropped(s, now, rx, PW_SOFTSWITCH_D_MOTHERSHIP);

	dev = pw_poets_device(rx->pkt.sw_addr);
	opcode = pw_poets_opcode(rx->pkt.sw_addr);
	cnc = rx->pkt.sw_addr & PW_POETS_CNC;
	if (s->state == PW_SOFTSWITCH_BARRIER && !(cnc && opcode == PW_POETS_OP_BARRIER))
		return dropped(s, now, rx, PW_SOFTSWITCH_D_BARRIER);
	if (dev != PW_POETS_DEVICE_BROADCAST && dev >= s->devices)
		return dropped(s, now, rx, PW_SOFTSWITCH_D_DEVICE);
	if (s->state == PW_SOFTSWITCH_BARRIER) {
		s->state = PW_SOFTSWITCH_RUNNING;
		if (s->interval)
			s->next_report = now + s->interval;
		return PW_SOFTSWITCH_RELEASED;
	}

	if (cnc && opcode > PW_POETS_OP_APP_MAX && opcode != PW_POETS_OP_IMPL) {
		switch (opcode) {
		case PW_POETS_OP_STOP:
			halt(s);
			return PW_SOFTSWITCH_STOP;
		case PW_POETS_OP_INSTR:
			s->report_pending = true;
			return PW_SOFTSWITCH_REPORT;
		default:
			return dropped(s, now, rx, PW_SOFTSWITCH_D_OPCODE);
		}
	}
	rx->next = dev == PW_POETS_DEVICE_BROADCAST ? 0 : dev;
	rx->end = dev == PW_POETS_DEVICE_BROADCAST ? s->devices : dev + 1;
	rx->generation = s->generation;
	return PW_SOFTSWITCH_DELIVER;
}

/**
 * pw_softswitch_next - one more device that a packet is for
 * @s: the softswitch
 * @now: time
 * @rx: the packet, as pw_softswitch_input() left it
 * @d: which device and which handler, or why not
 *
 * May be called later, even after the devices were stopped or replaced; there
 * are no more deliveries then.
 *
 * Return: false when there are no more.
 */
bool pw_softswitch_next(struct pw_softswitch *s, u64 now, struct pw_softswitch_rx *rx,
			struct pw_softswitch_delivery *d)
{
	const struct pw_softswitch_device *dev;

	if (rx->next >= rx->end || rx->generation != s->generation ||
	    s->state != PW_SOFTSWITCH_RUNNING)
		return false;
	memset(d, 0, sizeof(*d));
	d->device = rx->next;
	dev = &s->device[rx->next++];
	d->opcode = pw_poets_opcode(rx->pkt.sw_addr);
	if (d->opcode == PW_POETS_OP_IMPL) {
		d->handler = PW_SOFTSWITCH_H_IMPL;
	} else if (rx->pkt.sw_addr & PW_POETS_CNC) {
		d->handler = PW_SOFTSWITCH_H_CTL;
	} else {
		d->pin = pw_poets_pin(rx->pkt.pin_addr);
		d->edge = pw_poets_edge(rx->pkt.pin_addr);
		if (d->pin >= dev->pins)
			d->drop = PW_SOFTSWITCH_D_PIN;
		else if (d->edge >= s->edges[dev->first_pin + d->pin])
			d->drop = PW_SOFTSWITCH_D_EDGE;
		else
			d->handler = PW_SOFTSWITCH_H_PIN;
	}
	if (d->handler == PW_SOFTSWITCH_H_NONE)
		d->log = count_drop(s, now, d->drop);
	else
		s->c[PW_POETS_C_RX_HANDLERS]++;
	return true;
}

/**
 * pw_softswitch_sent - count a packet that a device sent
 * @s: the softswitch
 * @sw_addr: where it goes
 */
void pw_softswitch_sent(struct pw_softswitch *s, u32 sw_addr)
{
	s->c[PW_POETS_C_TX]++;
	if (pw_poets_kind(sw_addr) == PW_POETS_KIND_SUPERVISOR)
		s->c[PW_POETS_C_TX_SUPERVISOR]++;
}

/**
 * pw_softswitch_count - count something that happens outside
 * @s: the softswitch
 * @which: what; not the index nor the cycles
 * @n: how many
 */
void pw_softswitch_count(struct pw_softswitch *s, enum pw_poets_counter which, u32 n)
{
	if (which > PW_POETS_C_CYCLES && which < PW_POETS_C_COUNT)
		s->c[which] += n;
}

/**
 * pw_softswitch_kill - a device reports that it cannot continue
 * @s: the softswitch
 * @buf: where to write the packet for the mothership
 * @size: room there, at least PW_POETS_HDR_LEN
 *
 * Everything stops.
 *
 * Return: bytes written; 0, with nothing done, where there is no room or nothing
 * is loaded or running.
 */
size_t pw_softswitch_kill(struct pw_softswitch *s, void *buf, size_t size)
{
	if (s->state == PW_SOFTSWITCH_STOPPED || size < PW_POETS_HDR_LEN)
		return 0;
	halt(s);
	return pw_poets_build(buf, size, PW_POETS_SW_KILL | s->task, s->hw_addr, NULL, 0);
}

/**
 * pw_softswitch_set_interval - report regularly
 * @s: the softswitch
 * @now: time
 * @interval: between two reports, while running; 0: only when asked
 */
void pw_softswitch_set_interval(struct pw_softswitch *s, u64 now, u64 interval)
{
	s->interval = interval;
	s->next_report = now + interval;
}

/**
 * pw_softswitch_next_report - when to wake up
 * @s: the softswitch
 *
 * Return: time of the next report, 0: now, U64_MAX: none is planned.
 */
u64 pw_softswitch_next_report(const struct pw_softswitch *s)
{
	if (s->report_pending)
		return 0;
	if (s->state != PW_SOFTSWITCH_RUNNING || !s->interval)
		return U64_MAX;
	return s->next_report;
}

/**
 * pw_softswitch_report_due - is it time?
 * @s: the softswitch
 * @now: time
 *
 * Return: whether to call pw_softswitch_report().
 */
bool pw_softswitch_report_due(const struct pw_softswitch *s, u64 now)
{
	u64 next = pw_softswitch_next_report(s);

	return next != U64_MAX && now >= next;
}

/**
 * pw_softswitch_report - write a report and start to count anew
 * @s: the softswitch
 * @now: time
 * @cycle: virtual cycle now
 * @extended: 56 bytes instead of 40
 * @buf: where to write the packet for the mothership
 * @size: room there, at least PW_POETS_PKT_MAX
 *
 * A report that comes late does not make the next one come early.
 *
 * Return: bytes written; 0, with nothing done, where there is no room.
 */
size_t pw_softswitch_report(struct pw_softswitch *s, u64 now, u64 cycle, bool extended, void *buf,
			    size_t size)
{
	u8 payload[PW_POETS_MAX_PAYLOAD];
	u32 index = s->c[PW_POETS_C_INDEX];
	size_t n;

	if (size < PW_POETS_PKT_MAX)
		return 0;
	s->c[PW_POETS_C_CYCLES] = (u32)(cycle - s->reported);
	n = pw_poets_instr_build(payload, s->c, extended);
	n = pw_poets_build(buf, size, PW_POETS_SW_INSTR | s->task, s->hw_addr, payload, n);
	memset(s->c, 0, sizeof(s->c));
	s->c[PW_POETS_C_INDEX] = index + 1;
	s->reported = cycle;
	s->report_pending = false;
	s->next_report = now + s->interval;
	return n;
}

/**
 * pw_softswitch_set_log_limit - how many drops are reported to the mothership
 * @s: the softswitch
 * @period: time for one log packet in the long run; 0: no limit
 * @burst: how many at once after a pause, 1..65536
 */
void pw_softswitch_set_log_limit(struct pw_softswitch *s, u64 period, u32 burst)
{
	/* their product must fit into 64 bits with room to spare */
	s->log_period = min_t(u64, period, 1ULL << 46);
	s->log_burst = clamp(burst, 1U, 65536U);
	s->log_next = 0;
}

/**
 * pw_softswitch_log_allowed - take a token
 * @s: the softswitch
 * @now: time
 *
 * Return: whether a log packet may be sent now; if not it is counted.
 */
bool pw_softswitch_log_allowed(struct pw_softswitch *s, u64 now)
{
	u64 ahead = s->log_next > now ? s->log_next - now : 0;

	/*
	 * log_next is when the bucket will be full again. It holds a token as
	 * long as that is less than burst periods away.
	 */
	if (s->log_period && ahead > (s->log_burst - 1) * s->log_period) {
		if (s->log_suppressed < U32_MAX)
			s->log_suppressed++;
		return false;
	}
	s->log_next = now + ahead + s->log_period;
	return true;
}

/**
 * pw_softswitch_drop_text - what to log about a drop
 * @s: the softswitch
 * @drop: why
 * @pkt: the packet; all 0 where it is malformed
 * @device: device for which it was dropped
 * @text: where to write; not terminated by the count returned
 * @size: room there
 *
 * Also says how many log packets were suppressed before this one.
 *
 * Return: bytes of text.
 */
size_t pw_softswitch_drop_text(struct pw_softswitch *s, enum pw_softswitch_drop drop,
			       const struct pw_poets_pkt *pkt, u16 device, char *text, size_t size)
{
	int n;

	n = scnprintf(text, size, "drop: %s sw %08x pin %08x device %u",
		      pw_softswitch_drop_name[drop],
		      pkt->sw_addr, pkt->pin_addr, device);
	if (s->log_suppressed)
		n += scnprintf(text + n, size - n, " (+%u)", s->log_suppressed);
	s->log_suppressed = 0;
	return n;
}
