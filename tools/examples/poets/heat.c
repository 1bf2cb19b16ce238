// SPDX-License-Identifier: GPL-2.0
/*
 * Heat on a grid until it has converged. Every cell takes the average of its four
 * neighbours, step by step; the border is hot on one side ("hot") and cold on the
 * others. Cells ask the supervisor for the border, implicitly, and it replies.
 * Every "every" steps they report; when no cell changes by more than "close" the
 * supervisor has them halt, and stops when they all have.
 */
#include <packetway_poets.h>
#include <stdlib.h>
#include <string.h>

enum { REPORT = 1, HALTED = 2 };	/* to the supervisor */
enum { HALT = 1 };			/* to cells */

struct report {
	uint32_t step;
	int32_t value;
	int32_t change;
};

struct cell {
	struct report now;
	int32_t border;		/* sum of the sides that have no neighbour */
	int begun;
	int halted;
	int32_t sum[2];		/* of what neighbours say, for this step and the next */
	uint32_t have[2];
};

static void tell(struct poets_device *d)
{
	struct cell *c = d->state;

	poets_send(d, 0, &c->now, sizeof(c->now));
	if (c->now.step && !(c->now.step % poets_property(NULL, "every", 16)))
		poets_supervisor_send(d, REPORT, &c->now, sizeof(c->now));
}

static void steps(struct poets_device *d)
{
	struct cell *c = d->state;
	int slot;

	while (c->begun && !c->halted && c->have[c->now.step & 1] == poets_edges_in(d, 0)) {
		slot = c->now.step & 1;
		c->now.change = (c->sum[slot] + c->border) / 4 - c->now.value;
		c->now.value += c->now.change;
		c->sum[slot] = 0;
		c->have[slot] = 0;
		c->now.step++;
		tell(d);
	}
}

static void init(struct poets_device *d)
{
	poets_implicit(d, d->index, 2 * sizeof(d->index[0]));
}

/* the supervisor has replied: what the border adds */
static void border(struct poets_device *d, const void *data, unsigned int len)
{
	struct cell *c = d->state;

	if (len != sizeof(c->border) || c->begun)
		return;
	memcpy(&c->border, data, sizeof(c->border));
	c->begun = 1;
	tell(d);
	steps(d);
}

static void receive(struct poets_device *d, unsigned int pin, uint32_t edge, const void *data,
		    unsigned int len)
{
	struct cell *c = d->state;
	struct report r;

	if (len != sizeof(r))
		return;
	memcpy(&r, data, sizeof(r));
	/* a neighbour is at most one step ahead */
	if (r.step != c->now.step && r.step != c->now.step + 1) {
		poets_log(d, "step %u, and a neighbour has %u", c->now.step, r.step);
		poets_kill(d);
		return;
	}
	c->sum[r.step & 1] += r.value;
	c->have[r.step & 1]++;
	steps(d);
}

static void ctl(struct poets_device *d, unsigned int opcode, const void *data, unsigned int len)
{
	struct cell *c = d->state;

	if (opcode != HALT || c->halted)
		return;
	c->halted = 1;
	poets_supervisor_send(d, HALTED, NULL, 0);
}

/* The supervisor ------------------------------------------------------------- */

static struct report *last;
static uint32_t step, reported, halted, converged;

static void query(uint32_t id, const void *data, unsigned int len)
{
	uint32_t n = poets_property(NULL, "size", 8), xy[2];
	int32_t sum = 0;

	if (len != sizeof(xy))
		return;
	memcpy(xy, data, sizeof(xy));
	if (!xy[1])
		sum += poets_property(NULL, "hot", 25600);
	if (xy[0] >= n || xy[1] >= n)
		poets_say("%s is not in the grid", poets_name(id));
	poets_reply(id, &sum, sizeof(sum));
}

static void begin(void)
{
	last = calloc(poets_devices(), sizeof(*last));
	step = poets_property(NULL, "every", 16);
	if (!last)
		poets_stop();
}

static void look(void)
{
	int32_t most = 0;
	uint32_t i;

	for (i = 0; i < poets_devices(); i++)
		most = abs(last[i].change) > most ? abs(last[i].change) : most;
	if (most <= poets_property(NULL, "close", 4)) {
		converged = step;
		poets_ctl_all(HALT, NULL, 0);
		return;
	}
	reported = 0;
	/* a step that no device has reached yet */
	step += 4 * poets_property(NULL, "every", 16);
}

static void supervise(uint32_t id, unsigned int opcode, const void *data, unsigned int len)
{
	struct report r;

	if (opcode == HALTED && ++halted == poets_devices())
		poets_stop();
	if (opcode != REPORT || len != sizeof(r) || converged)
		return;
	memcpy(&r, data, sizeof(r));
	if (r.step != step)
		return;
	last[id] = r;
	if (++reported == poets_devices())
		look();
}

static int finished(void)
{
	int64_t sum = 0;
	uint32_t i;

	for (i = 0; last && i < poets_devices(); i++)
		sum += last[i].value;
	poets_say("converged after %u steps, sum of values %lld", converged, (long long)sum);
	return !converged;
}

static const struct poets_type cell = {
	.name = "cell",
	.state_size = sizeof(struct cell),
	.init = init,
	.receive = receive,
	.ctl = ctl,
	.implicit = border,
};

static const struct poets_supervisor supervisor = {
	.init = begin,
	.receive = supervise,
	.implicit = query,
	.stop = finished,
};

POETS_APP(&supervisor, &cell);
