// SPDX-License-Identifier: GPL-2.0
/*
 * Shortest paths from the device whose property "source" is set, along edges with
 * weights. A device that has come nearer tells its neighbours, and the supervisor.
 * It ends when no packet is left ("stop": "quiet").
 */
#include <packetway_poets.h>
#include <stdlib.h>
#include <string.h>

enum { NEARER = 1 };	/* to the supervisor: distance */

struct node {
	int64_t distance;	/* and one more, so that 0 is: not reached */
};

static void nearer(struct poets_device *d, int64_t distance)
{
	struct node *n = d->state;
	uint32_t e;

	if (n->distance && n->distance <= distance + 1)
		return;
	n->distance = distance + 1;
	poets_supervisor_send(d, NEARER, &distance, sizeof(distance));
	for (e = 0; e < poets_edges_out(d, 0); e++)
		poets_send_edge(d, 0, e, &distance, sizeof(distance));
}

static void init(struct poets_device *d)
{
	if (poets_property(d, "source", 0))
		nearer(d, 0);
}

static void receive(struct poets_device *d, unsigned int pin, uint32_t edge, const void *data,
		    unsigned int len)
{
	int64_t distance;

	if (len != sizeof(distance))
		return;
	memcpy(&distance, data, sizeof(distance));
	nearer(d, distance + poets_weight_in(d, pin, edge));
}

static int64_t *best;

static void begin(void)
{
	best = calloc(poets_devices(), sizeof(*best));
	if (!best)
		poets_stop();
}

static void supervise(uint32_t id, unsigned int opcode, const void *data, unsigned int len)
{
	int64_t distance;

	if (opcode != NEARER || len != sizeof(distance))
		return;
	memcpy(&distance, data, sizeof(distance));
	best[id] = distance + 1;
}

static int finished(void)
{
	uint32_t i;

	for (i = 0; best && i < poets_devices(); i++) {
		if (best[i])
			poets_say("%s %lld", poets_name(i), (long long)best[i] - 1);
		else
			poets_say("%s is not reached", poets_name(i));
	}
	return !best;
}

static const struct poets_type node = {
	.name = "node",
	.state_size = sizeof(struct node),
	.init = init,
	.receive = receive,
};

static const struct poets_supervisor supervisor = {
	.init = begin,
	.receive = supervise,
	.stop = finished,
};

POETS_APP(&supervisor, &node);
