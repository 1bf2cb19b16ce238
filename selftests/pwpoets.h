/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Softswitches and a mothership, for C selftests. Stations s0, s1, ... in one
 * new namespace; the mothership is at s0.
 */
#ifndef PWPOETS_H
#define PWPOETS_H

#include "pwtest.h"

#define N 16
#define TASK 3

#define EVENT struct packetway_poets_event
#define PACKET struct packetway_poets_packet

static struct world {
	int n;
	int ns;
	struct pw_nl nl;
	char name[N][8];
	int idx[N];
	int sock;		/* any, for counters */
	int dev[N];		/* /dev/packetway, bound to the station */
	int fd[N];		/* softswitch */
	int ms;			/* mothership at s0 */
} w;

static PW_UNUSED int bind_station(int ifindex)
{
	struct packetway_bind b = { .size = sizeof(b), .ifindex = ifindex };
	int fd = open("/dev/" PACKETWAY_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd >= 0 && ioctl(fd, PACKETWAY_IOC_BIND, &b)) {
		close(fd);
		return -1;
	}
	return fd;
}

static PW_UNUSED int poets_open(int i, struct packetway_poets_open o)
{
	o.size = sizeof(o);
	return ioctl(w.dev[i], PACKETWAY_IOC_POETS_OPEN, &o);
}

static PW_UNUSED int open_switch(int i, int devices, int pins)
{
	w.fd[i] = poets_open(i, (struct packetway_poets_open) {
		.devices = devices, .pins = pins, .mothership = 1, .queue = 4096,
	});
	return w.fd[i];
}

static PW_UNUSED int world_make(int n)
{
	int i;

	memset(&w, 0, sizeof(w));
	if (unshare(CLONE_NEWNET))
		return -1;
	w.ns = pw_ns_self();
	w.sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (pw_nl_open(&w.nl, w.ns))
		return -1;
	for (i = 0; i < n; i++) {
		snprintf(w.name[i], sizeof(w.name[i]), "s%d", i);
		if (pw_station_add(&w.nl, w.name[i], 0, i, -1) || pw_link_up(&w.nl, w.name[i]))
			return -1;
		w.idx[i] = pw_link_index(&w.nl, w.name[i]);
		w.dev[i] = bind_station(w.idx[i]);
		w.fd[i] = -1;
		if (w.dev[i] < 0)
			return -1;
	}
	w.n = n;
	w.ms = poets_open(0, (struct packetway_poets_open) {
		.flags = PACKETWAY_POETS_MOTHERSHIP, .queue = 65536,
	});
	return w.ms < 0 ? -1 : 0;
}

static PW_UNUSED uint64_t stat_of(int i, const char *what)
{
	return pw_stat(w.sock, w.name[i], what);
}

static PW_UNUSED int simple(int fd, unsigned long cmd)
{
	struct packetway_poets_simple s = { .size = sizeof(s) };

	return ioctl(fd, cmd, &s);
}

static PW_UNUSED int load(int fd, int devices, const uint32_t *pins, int total,
			  const uint32_t *edges)
{
	struct packetway_poets_load l = {
		.size = sizeof(l), .devices = devices, .total = total,
		.pins = (uintptr_t)pins, .edges = (uintptr_t)edges,
	};

	return ioctl(fd, PACKETWAY_IOC_POETS_LOAD, &l) ? -1 : (int)l.out_first;
}

static PW_UNUSED struct packetway_poets_get get(int fd)
{
	struct packetway_poets_get g = { .size = sizeof(g) };

	if (ioctl(fd, PACKETWAY_IOC_POETS_GET, &g))
		abort();
	return g;
}

static PW_UNUSED int send_pkt(int fd, uint32_t hw, uint32_t sw, uint32_t pin, const void *data,
			      int len)
{
	PACKET p = { .hw_addr = hw, .sw_addr = sw, .pin_addr = pin, .len = len };

	if (len > 0 && len <= PACKETWAY_POETS_PAYLOAD)
		memcpy(p.payload, data, len);
	return write(fd, &p, sizeof(p)) == sizeof(p) ? 0 : -1;
}

/* one event within @ms; its type, 0: none came */
static PW_UNUSED int next_event(int fd, EVENT *ev, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, ms) != 1)
		return 0;
	return read(fd, ev, sizeof(*ev)) == sizeof(*ev) ? ev->type : 0;
}

/* the mothership: barrier reached by @n, then release */
static PW_UNUSED int barrier(int n)
{
	EVENT ev;

	while (n--)
		if (next_event(w.ms, &ev, SOON) != PACKETWAY_POETS_EV_MOTHERSHIP ||
		    ev.sw_addr != PW_POETS_SW_BARRIER_REACHED)
			return -1;
	return 0;
}

static PW_UNUSED int release(uint32_t hw)
{
	return send_pkt(w.ms, hw, PW_POETS_SW_BARRIER_RELEASE, 0, NULL, 0);
}

#define DEVICE(d) ((uint32_t)(d) | TASK << PW_POETS_TASK_SHIFT)
#define PIN(pin, edge) ((uint32_t)(edge) << PW_POETS_EDGE_SHIFT | (pin))

#endif
