// SPDX-License-Identifier: GPL-2.0
/*
 * POETS applications on 16 stations: a token round a ring of 1000 devices, heat on
 * a grid until it has converged, shortest paths in a random graph. The handlers
 * run in this process; packets between devices go through the SAN, also those
 * between two devices of one station.
 */
#include "pwpoets.h"
#include "pwharness.h"

#define DEVS_MAX 1000
#define EDGES_MAX 8

struct edge {
	int to;			/* device of the application */
	int index;		/* of the edges that end there */
	int weight;
};

/* an application: devices 0..n-1, device d at station d % 16; one input pin each */
static struct app {
	int n;
	int in[DEVS_MAX];
	int out[DEVS_MAX];
	struct edge edge[DEVS_MAX][EDGES_MAX];
	/* handlers: a device has started, a packet came in by an edge */
	int (*init)(int dev);
	int (*receive)(int dev, int edge, const EVENT *ev);
	/* of the supervisor: 1: stop */
	int (*supervise)(const EVENT *ev);
	long sent, received;
} app;

static int station_of(int dev)
{
	return dev % N;
}

static void connect_devices(int from, int to, int weight)
{
	app.edge[from][app.out[from]++] = (struct edge) { to, app.in[to]++, weight };
}

/* what device @dev sends along its edge @e */
static int emit(int dev, int e, const void *data, int len)
{
	const struct edge *to = &app.edge[dev][e];

	app.sent++;
	return send_pkt(w.fd[station_of(dev)], station_of(to->to) + 1, DEVICE(to->to / N),
			PIN(0, to->index), data, len);
}

static int tell_supervisor(int dev, const void *data, int len)
{
	return send_pkt(w.fd[station_of(dev)], 1, PW_POETS_SW_TO_SUPERVISOR | TASK << 24, dev,
			data, len);
}

/* devices onto stations, barrier, release */
static int app_start(void)
{
	uint32_t pins[DEVS_MAX], edges[DEVS_MAX];
	int i, k, count;
	EVENT ev;

	if (world_make(N))
		return -1;
	for (i = 0; i < N; i++) {
		for (count = 0, k = i; k < app.n; k += N) {
			pins[count] = 1;
			edges[count++] = app.in[k];
		}
		w.fd[i] = poets_open(i, (struct packetway_poets_open) {
			.devices = count, .pins = count, .mothership = 1, .queue = 65536,
			.flags = PACKETWAY_POETS_NONBLOCK,
		});
		if (w.fd[i] < 0 || load(w.fd[i], count, pins, count, edges) ||
		    simple(w.fd[i], PACKETWAY_IOC_POETS_START))
			return -1;
	}
	if (fcntl(w.ms, F_SETFL, O_NONBLOCK) || barrier(N))
		return -1;
	/* a broadcast reaches every other station, not its own */
	if (release(PW_ADDR_BROADCAST) || release(1))
		return -1;
	for (i = 0; i < N; i++)
		if (next_event(w.fd[i], &ev, SOON) != PACKETWAY_POETS_EV_RELEASED)
			return -1;
	for (i = 0; i < app.n && app.init; i++)
		if (app.init(i))
			return -1;
	return 0;
}

static int station_events(int i, bool *stopped)
{
	static EVENT ev[64];
	int n = read(w.fd[i], ev, sizeof(ev)) / (int)sizeof(EVENT), k;

	for (k = 0; k < n; k++) {
		if (ev[k].type == PACKETWAY_POETS_EV_STOPPED) {
			*stopped = true;
			break;
		}
		if (ev[k].type != PACKETWAY_POETS_EV_PIN)
			return -1;
		app.received++;
		/* after the stop no device sends */
		if (app.receive(ev[k].device * N + i, ev[k].edge, &ev[k]) && errno != EPROTO)
			return -1;
	}
	return 0;
}

/* until the supervisor stops them all, or nothing is under way; 0: well */
static int app_run(bool until_quiet)
{
	bool stopped[N] = {}, stopping = false;
	struct pollfd p[N + 1];
	int i, left = N;
	EVENT ev;

	while (left) {
		for (i = 0; i < N; i++)
			p[i] = (struct pollfd) {
				.fd = stopped[i] ? -1 : w.fd[i], .events = POLLIN,
			};
		p[N] = (struct pollfd) { .fd = w.ms, .events = POLLIN };
		if (poll(p, N + 1, 30000) <= 0)
			return -1;
		for (i = 0; i < N; i++) {
			if (!(p[i].revents & POLLIN))
				continue;
			if (station_events(i, &stopped[i]))
				return -1;
			left -= stopped[i];
		}
		while (!stopping && read(w.ms, &ev, sizeof(ev)) == sizeof(ev)) {
			if (ev.type != PACKETWAY_POETS_EV_MOTHERSHIP || !app.supervise)
				return -1;
			stopping = app.supervise(&ev);
		}
		if (until_quiet && app.sent == app.received)
			stopping = true;
		if (stopping && left == N) {
			until_quiet = false;
			if (send_pkt(w.ms, PW_ADDR_BROADCAST, PW_POETS_SW_STOP, 0, NULL, 0) ||
			    send_pkt(w.ms, 1, PW_POETS_SW_STOP, 0, NULL, 0))
				return -1;
		}
		if (stopping)
			while (read(w.ms, &ev, sizeof(ev)) > 0)
				;
	}
	return 0;
}

static uint64_t lost(void)
{
	uint64_t n = 0;
	int i;

	for (i = 0; i < N; i++)
		n += get(w.fd[i]).out_lost + stat_of(i, "poets_overrun");
	return n;
}

/* --- a token round a ring ---------------------------------------------------------- */

static int laps;
static int seen[DEVS_MAX];
static uint32_t ring_result;

static int ring_init(int dev)
{
	uint32_t one = 1;

	return dev ? 0 : emit(0, 0, &one, 4);
}

static int ring_receive(int dev, int edge, const EVENT *ev)
{
	uint32_t hops;

	memcpy(&hops, ev->payload, 4);
	seen[dev]++;
	if (hops == (uint32_t)app.n * laps)
		return tell_supervisor(dev, &hops, 4);
	hops++;
	return emit(dev, 0, &hops, 4);
}

static int ring_supervise(const EVENT *ev)
{
	memcpy(&ring_result, ev->payload, 4);
	return 1;
}

TEST(ring)
{
	double begin;
	int i;

	laps = pw_count(3, 1);
	app = (struct app) { .n = 1000, .init = ring_init, .receive = ring_receive,
			     .supervise = ring_supervise };
	for (i = 0; i < app.n; i++)
		connect_devices(i, (i + 1) % app.n, 0);
	ASSERT_EQ(0, app_start());
	begin = pw_now();
	ASSERT_EQ(0, app_run(false));
	EXPECT_EQ(1000 * laps, ring_result);
	for (i = 0; i < app.n && seen[i] == laps; i++)
		;
	EXPECT_EQ(app.n, i);
	TH_LOG("%d hops over 1000 devices on 16 stations in %.1f s", app.n * laps,
	       pw_now() - begin);
}

/* --- heat ---------------------------------------------------------------------------- */

#define GRID 8
#define HOT 25600
#define EVERY 16	/* iterations from one report to the next */
#define CLOSE 4		/* a change of less is none */
#define ITER_MAX 1024

struct heat_msg {
	uint32_t iter;
	int32_t value;
	int32_t change;
};

static struct cell {
	int32_t value, change;
	uint32_t iter;
	int32_t near[2][4];	/* of this iteration and of the next */
	int have[2];
} cell[GRID * GRID];

static struct heat_msg report[GRID * GRID];
static int reports, converged_at = -1;
static uint32_t reporting;

/* the edge of the grid: hot on one side, cold on the others */
static int32_t border(int x, int y)
{
	return y < 0 ? HOT : 0;
}

static const int dx[4] = { 1, -1, 0, 0 }, dy[4] = { 0, 0, 1, -1 };

static bool inside(int x, int y)
{
	return x >= 0 && x < GRID && y >= 0 && y < GRID;
}

static int heat_send(int dev)
{
	struct heat_msg m = { cell[dev].iter, cell[dev].value, cell[dev].change };
	int e;

	for (e = 0; e < app.out[dev]; e++)
		if (emit(dev, e, &m, sizeof(m)))
			return -1;
	if (m.iter && !(m.iter % EVERY))
		return tell_supervisor(dev, &m, sizeof(m));
	return 0;
}

static int32_t average(int dev, const int32_t *near, int n)
{
	int x = dev % GRID, y = dev / GRID, i;
	int32_t sum = 0;

	for (i = 0; i < n; i++)
		sum += near[i];
	for (i = 0; i < 4; i++)
		if (!inside(x + dx[i], y + dy[i]))
			sum += border(x + dx[i], y + dy[i]);
	return sum / 4;
}

static int heat_receive(int dev, int edge, const EVENT *ev)
{
	struct cell *c = &cell[dev];
	struct heat_msg m;
	int slot, n = app.in[dev];

	memcpy(&m, ev->payload, sizeof(m));
	/* a neighbour is at most one step ahead */
	if (m.iter != c->iter && m.iter != c->iter + 1)
		return -1;
	slot = m.iter & 1;
	c->near[slot][c->have[slot]++] = m.value;
	while (c->have[c->iter & 1] == n) {
		slot = c->iter & 1;
		c->change = average(dev, c->near[slot], n) - c->value;
		c->value += c->change;
		c->have[slot] = 0;
		c->iter++;
		if (c->iter >= ITER_MAX)
			return -1;
		if (heat_send(dev))
			return -1;
	}
	return 0;
}

static int heat_supervise(const EVENT *ev)
{
	struct heat_msg m;
	int32_t most = 0;
	int i;

	memcpy(&m, ev->payload, sizeof(m));
	if (!reporting)
		reporting = EVERY;
	/* the next round may begin before the last of this one is heard */
	if (m.iter != reporting)
		return 0;
	report[ev->pin_addr] = m;
	if (++reports < app.n)
		return 0;
	for (i = 0; i < app.n; i++)
		most = abs(report[i].change) > most ? abs(report[i].change) : most;
	if (most <= CLOSE) {
		converged_at = reporting;
		return 1;
	}
	reports = 0;
	reporting += 4 * EVERY;	/* far enough ahead that no device is there yet */
	return 0;
}

TEST(heat)
{
	static int32_t field[2][GRID * GRID];
	int i, k, x, y, it, ok = 0;
	int32_t near[4], most = 0;
	double begin;

	app = (struct app) { .n = GRID * GRID, .init = heat_send, .receive = heat_receive,
			     .supervise = heat_supervise };
	for (i = 0; i < app.n; i++)
		for (k = 0; k < 4; k++)
			if (inside(i % GRID + dx[k], i / GRID + dy[k]))
				connect_devices(i, i + dx[k] + GRID * dy[k], 0);
	ASSERT_EQ(0, app_start());
	begin = pw_now();
	ASSERT_EQ(0, app_run(false));
	ASSERT_GT(converged_at, 0);
	/* the same, step by step in one place: equal to the last bit */
	for (it = 0; it < converged_at; it++) {
		most = 0;
		for (i = 0; i < app.n; i++) {
			for (x = 0, k = 0; k < 4; k++)
				if (inside(i % GRID + dx[k], i / GRID + dy[k]))
					near[x++] = field[it & 1][i + dx[k] + GRID * dy[k]];
			y = average(i, near, x);
			most = abs(y - field[it & 1][i]) > most ? abs(y - field[it & 1][i]) : most;
			field[~it & 1][i] = y;
		}
	}
	for (i = 0; i < app.n; i++)
		ok += report[i].value == field[it & 1][i];
	EXPECT_EQ(app.n, ok);
	EXPECT_LE(most, CLOSE);
	EXPECT_EQ(0, lost());
	TH_LOG("%dx%d grid converged after %d iterations, %ld packets, %.1f s", GRID, GRID,
	       converged_at, app.received, pw_now() - begin);
}

/* --- shortest paths -------------------------------------------------------------------- */

#define FAR 0x7fffffff

static int32_t dist[DEVS_MAX];

static int sssp_spread(int dev)
{
	int e;

	for (e = 0; e < app.out[dev]; e++) {
		int32_t d = dist[dev] + app.edge[dev][e].weight;

		if (emit(dev, e, &d, 4))
			return -1;
	}
	return 0;
}

static int sssp_init(int dev)
{
	dist[dev] = dev ? FAR : 0;
	return dev ? 0 : sssp_spread(dev);
}

static int sssp_receive(int dev, int edge, const EVENT *ev)
{
	int32_t d;

	memcpy(&d, ev->payload, 4);
	if (d >= dist[dev])
		return 0;
	dist[dev] = d;
	return sssp_spread(dev);
}

/* the simplest form: the nearest one left, again and again */
static void dijkstra(int32_t *d)
{
	static bool done[DEVS_MAX];
	int i, e, best;

	for (i = 0; i < app.n; i++)
		d[i] = i ? FAR : 0;
	for (;;) {
		for (best = -1, i = 0; i < app.n; i++)
			if (!done[i] && d[i] != FAR && (best < 0 || d[i] < d[best]))
				best = i;
		if (best < 0)
			return;
		done[best] = true;
		for (e = 0; e < app.out[best]; e++) {
			const struct edge *to = &app.edge[best][e];

			if (d[best] + to->weight < d[to->to])
				d[to->to] = d[best] + to->weight;
		}
	}
}

TEST(sssp)
{
	static int32_t want[DEVS_MAX];
	int i, k, ok = 0, reached = 0;
	double begin;

	srand(12345);
	app = (struct app) { .n = pw_count(400, 100), .init = sssp_init,
			     .receive = sssp_receive };
	for (i = 0; i < app.n; i++)
		for (k = 0; k < 4; k++)
			connect_devices(i, rand() % app.n, 1 + rand() % 100);
	ASSERT_EQ(0, app_start());
	begin = pw_now();
	ASSERT_EQ(0, app_run(true));
	dijkstra(want);
	for (i = 0; i < app.n; i++) {
		ok += dist[i] == want[i];
		reached += want[i] != FAR;
	}
	EXPECT_EQ(app.n, ok);
	EXPECT_GT(reached, app.n / 2);
	EXPECT_EQ(0, lost());
	TH_LOG("%d devices, %d reached, %ld packets, %.1f s", app.n, reached, app.received,
	       pw_now() - begin);
}

TEST_HARNESS_MAIN
