// SPDX-License-Identifier: GPL-2.0
/*
 * A ring of the model for a page in a browser: what WebAssembly exports. One ring at a time,
 * one command at a time; the packet is recorded at every hop. The cores are those of the
 * module.
 */
#include <stdlib.h>
#include <string.h>

#include "ring/ring.h"

#define EXPORT __attribute__((visibility("default"), used))

/* the page's limit, not the model's */
#define MAX_INTERFACES 4096
/* of a packet: its fields up to Variable-2 */
#define HOP_BYTES 28
/* room of the tap: the rtl engine divides it among the interfaces */
#define TAP_BYTES (4u << 20)
/* bit times that a command may take before the page gives up */
#define LIMIT 100000000ull

/* a packet that leaves an interface */
struct hop {
	u32 interface;
	u32 bytes;
	u64 when;
	u8 packet[HOP_BYTES];
	u32 reserved;
};

static struct pw_ring *ring;
static struct pw_ring_sender *sender;
static struct pw_ring_cmd cmd;
static struct hop *hops;
static u32 interfaces, nhops, max_hops;
static u64 *sorted;
static void *tap;

static void take(void *ctx, u32 interface, u64 when, const u8 *packet, u32 bytes)
{
	struct hop *h = &hops[nhops];

	if (nhops == max_hops)
		return;
	nhops++;
	h->interface = interface;
	h->bytes = bytes;
	h->when = when;
	memset(h->packet, 0, sizeof(h->packet));
	memcpy(h->packet, packet, bytes < sizeof(h->packet) ? bytes : sizeof(h->packet));
}

/* a new ring of @n interfaces; 0, or -1: it is not possible */
EXPORT int play_new(u32 n, u32 rtl, u32 propagation)
{
	const struct pw_ring_params params = {
		.engine = rtl ? PW_RING_RTL : PW_RING_FAST, .nregs = 1, .capacity = n,
		.propagation = propagation, .tap = take,
	};
	u32 i;

	if (!n || n > MAX_INTERFACES || propagation > 1000)
		return -1;
	free(ring);
	free(sender);
	free(hops);
	free(sorted);
	if (!tap)
		tap = malloc(TAP_BYTES);
	interfaces = n;
	/* the packet once around, and once more for one that must be taken off the ring */
	max_hops = 4 * n;
	nhops = 0;
	ring = malloc(pw_ring_size(&params));
	sender = calloc(n, sizeof(*sender));
	hops = malloc(max_hops * sizeof(*hops));
	sorted = malloc(n * sizeof(*sorted));
	if (!ring || !sender || !hops || !sorted || !tap)
		abort();
	pw_ring_init(ring, &params);
	pw_ring_attach(ring, 0, n, 1, 0);
	for (i = 0; i < n; i++)
		pw_ring_bind(ring, i, &sender[i]);
	pw_ring_tap(ring, tap, TAP_BYTES);
	return 0;
}

EXPORT int play_set(u32 interface, u64 operand)
{
	return interface < interfaces ? pw_ring_set_operand(ring, interface, 0, operand) : -1;
}

/* an interface that is down passes packets on and takes no part */
EXPORT int play_up(u32 interface, u32 up)
{
	return interface < interfaces ? pw_ring_set_up(ring, interface, up) : -1;
}

/* the next packet, or the token, is damaged: enum pw_ring_fault_kind */
EXPORT int play_fault(u32 kind, u32 hop, u64 bit)
{
	const struct pw_ring_fault fault = { .kind = kind, .hop = hop, .bit = bit,
					     .at = pw_ring_now(ring) };

	return pw_ring_fault(ring, &fault);
}

/* run a command at an interface to its end; 0, a negative errno, or -1000: it has none */
EXPORT int play_run(u32 interface, u32 op, u32 mods, u64 comparand)
{
	u64 end;
	int err;

	if (interface >= interfaces)
		return -1;
	cmd = (struct pw_ring_cmd) { .op = op, .mods = mods, .dst = PW_ATON_RING,
				     .comparand = comparand, .room = interfaces, .out = sorted };
	nhops = 0;
	err = pw_ring_submit(ring, interface, &cmd);
	if (err)
		return err;
	end = pw_ring_now(ring) + LIMIT;
	while (!pw_ring_ended(ring))
		if (pw_ring_run(ring, end, 1u << 20) == PW_RING_IDLE && !pw_ring_ended(ring))
			return -1000;
	while (pw_ring_reap(ring))
		;
	/* a packet whose sender has left is still under way, and interfaces change behind it */
	if (pw_ring_busy(ring))
		pw_ring_run(ring, pw_ring_now(ring) + 4 * interfaces + 4096, ~0u);
	return 0;
}

EXPORT u32 play_error(void) { return cmd.err; }
EXPORT u32 play_flags(void) { return cmd.flags; }
EXPORT u32 play_counter(void) { return cmd.counter; }
EXPORT u64 play_v1(void) { return cmd.v1; }
EXPORT u64 play_v2(void) { return cmd.v2; }
EXPORT u64 play_bits(void) { return cmd.ring_bits; }
EXPORT u64 play_wait(void) { return cmd.wait; }
EXPORT u32 play_hops(void) { return nhops; }
EXPORT const void *play_hop(u32 i) { return &hops[i]; }
EXPORT const void *play_sorted(void) { return sorted; }
/* struct pw_ring_stats: numbers of 64 bits */
EXPORT const void *play_stats(void) { return pw_ring_stats(ring); }
EXPORT u32 play_monitor(void) { return pw_ring_monitor(ring); }
EXPORT u32 play_is_up(u32 interface) { return interface < interfaces && pw_ring_is_up(ring, interface); }
EXPORT u64 play_now(void) { return pw_ring_now(ring); }
