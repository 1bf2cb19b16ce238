// SPDX-License-Identifier: GPL-2.0
/*
 * A token round a ring of devices, "laps" times. Each device counts how often it
 * has had the token; the first one tells the supervisor when all is done.
 */
#include <packetway_poets.h>
#include <string.h>

enum { DONE = 1 };	/* to the supervisor: hops of the token */

struct node {
	uint32_t had;
};

static uint32_t result;

static void init(struct poets_device *d)
{
	uint32_t hops = 1;

	if (!d->index[0])
		poets_send(d, 0, &hops, sizeof(hops));
}

static void receive(struct poets_device *d, unsigned int pin, uint32_t edge, const void *data,
		    unsigned int len)
{
	struct node *n = d->state;
	uint32_t hops;

	if (len != sizeof(hops)) {
		poets_log(d, "a token of %u bytes", len);
		poets_kill(d);
		return;
	}
	memcpy(&hops, data, sizeof(hops));
	n->had++;
	if (!d->index[0]) {
		poets_log(d, "lap %u, %u hops", n->had, hops);
		if (n->had == poets_property(d, "laps", 1)) {
			poets_supervisor_send(d, DONE, &hops, sizeof(hops));
			return;
		}
	}
	hops++;
	poets_send(d, 0, &hops, sizeof(hops));
}

static void supervise(uint32_t id, unsigned int opcode, const void *data, unsigned int len)
{
	if (opcode != DONE || len != sizeof(result))
		return;
	memcpy(&result, data, sizeof(result));
	poets_say("%s is done: %u hops", poets_name(id), result);
	poets_stop();
}

static int finished(void)
{
	return result != poets_devices() * poets_property(NULL, "laps", 1);
}

static const struct poets_type node = {
	.name = "node",
	.state_size = sizeof(struct node),
	.init = init,
	.receive = receive,
};

static const struct poets_supervisor supervisor = {
	.receive = supervise,
	.stop = finished,
};

POETS_APP(&supervisor, &node);
