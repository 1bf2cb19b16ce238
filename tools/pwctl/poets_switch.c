// SPDX-License-Identifier: GPL-2.0
/*
 * The process of one station: owns its softswitch and runs the handlers of its
 * devices. Receives first, then sends, then has idle handlers called, then sleeps.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "poets_app.h"

#define BATCH 256
#define COUNT_MS 50		/* counts go to the kernel at least this often */
#define IDLES_MAX 1000		/* or after this many idle rounds */
#define QUEUE_MAX (1U << 22)	/* packets; more than that is a runaway device */

static struct app *app;
static struct app_station *self;
static int fd = -1, ctl_fd = -1;
static bool going, stopped;	/* going: all softswitches run */
static struct poets_tally tally;
static uint32_t send_handlers, idles, idle_handlers, blocked;

/* packets to be sent: from head to tail, moved down when the front is free */
static struct packetway_poets_packet *queue;
static size_t head, tail, room;

static int __attribute__((format(printf, 1, 2))) die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "pwctl: %s: ", self->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	_exit(ST_REFUSED);
}

static void enqueue(const struct packetway_poets_packet *p)
{
	if (stopped)
		return;
	if (tail == room && head) {
		memmove(queue, queue + head, (tail - head) * sizeof(*queue));
		tail -= head;
		head = 0;
	}
	if (tail == room) {
		room = room ? 2 * room : 1024;
		queue = room > QUEUE_MAX ? NULL : realloc(queue, room * sizeof(*queue));
		if (!queue)
			die("too many packets wait to be sent");
	}
	queue[tail++] = *p;
}

static int put(uint32_t hw, uint32_t sw, uint32_t pin, const void *data, unsigned int len)
{
	struct packetway_poets_packet p = {
		.hw_addr = hw, .sw_addr = sw, .pin_addr = pin, .len = len,
	};

	if (len > sizeof(p.payload))
		return -1;
	if (len)
		memcpy(p.payload, data, len);
	enqueue(&p);
	return 0;
}

/* Services ----------------------------------------------------------------- */

static const struct app_device *of(const struct poets_device *d)
{
	return (const struct app_device *)d;
}

int poets_send_edge(struct poets_device *d, unsigned int pin, uint32_t edge, const void *data,
		    unsigned int len)
{
	const struct app_device *from = of(d), *to;
	const struct poets_out_edge *e;

	if (pin >= from->array->type->nout || edge >= from->out[pin].n)
		return -1;
	e = &from->out[pin].e[edge];
	to = &app->device[e->to];
	if (put(app->station[to->station].addr,
		pwl_poets_sw_addr(0, 0, app->task, 0, to->local),
		pwl_poets_pin_addr(e->pin, e->edge), data, len))
		return -1;
	tally.sent++;
	return 0;
}

int poets_send(struct poets_device *d, unsigned int pin, const void *data, unsigned int len)
{
	const struct app_device *from = of(d);
	uint32_t i;

	if (pin >= from->array->type->nout)
		return -1;
	send_handlers++;
	for (i = 0; i < from->out[pin].n; i++)
		if (poets_send_edge(d, pin, i, data, len))
			return -1;
	return 0;
}

uint32_t poets_edges_out(const struct poets_device *d, unsigned int pin)
{
	return pin < of(d)->array->type->nout ? of(d)->out[pin].n : 0;
}

uint32_t poets_edges_in(const struct poets_device *d, unsigned int pin)
{
	return pin < of(d)->array->type->nin ? of(d)->in[pin].n : 0;
}

int64_t poets_weight_out(const struct poets_device *d, unsigned int pin, uint32_t edge)
{
	return edge < poets_edges_out(d, pin) ? of(d)->out[pin].e[edge].weight : 0;
}

int64_t poets_weight_in(const struct poets_device *d, unsigned int pin, uint32_t edge)
{
	return edge < poets_edges_in(d, pin) ? of(d)->in[pin].weight[edge] : 0;
}

static int to_supervisor(const struct poets_device *d, unsigned int opcode, const void *data,
			 unsigned int len)
{
	if (put(app->station[app->mothership].addr,
		pwl_poets_sw_addr(1, 1, app->task, opcode, 0), of(d)->local, data, len))
		return -1;
	tally.to_supervisor++;
	return 0;
}

int poets_supervisor_send(struct poets_device *d, unsigned int opcode, const void *data,
			  unsigned int len)
{
	if (opcode < PW_POETS_OP_APP_MIN || opcode > PW_POETS_OP_APP_MAX)
		return -1;
	return to_supervisor(d, opcode, data, len);
}

int poets_implicit(struct poets_device *d, const void *data, unsigned int len)
{
	return to_supervisor(d, PW_POETS_OP_IMPL, data, len);
}

int poets_log(struct poets_device *d, const char *fmt, ...)
{
	struct packetway_poets_packet p[4];
	char text[PACKETWAY_POETS_LOG_MAX + 1];
	va_list ap;
	int i, n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n <= 0)
		return -1;
	n = pwl_poets_log_build(of(d)->local, text, strlen(text), p);
	for (i = 0; i < n; i++) {
		p[i].hw_addr = app->station[app->mothership].addr;
		p[i].sw_addr |= (uint32_t)app->task << PW_POETS_TASK_SHIFT;
		enqueue(&p[i]);
	}
	return n < 0 ? -1 : 0;
}

void poets_kill(struct poets_device *d)
{
	if (!stopped)
		pwl_poets_kill(fd);
	stopped = true;
}

static json_t *property(const struct poets_device *d, const char *name)
{
	json_t *v = d ? json_object_get(of(d)->array->properties, name) : NULL;

	if (!v && d)
		v = json_object_get(of(d)->array->type->properties, name);
	return v ? v : json_object_get(poets.properties, name);
}

int64_t poets_property(const struct poets_device *d, const char *name, int64_t otherwise)
{
	json_t *v = property(d, name);

	return !v ? otherwise : json_is_integer(v) ? json_integer_value(v) :
	       json_is_real(v) ? (int64_t)json_real_value(v) : json_is_true(v);
}

double poets_property_real(const struct poets_device *d, const char *name, double otherwise)
{
	json_t *v = property(d, name);

	return !v ? otherwise : json_is_boolean(v) ? json_is_true(v) : json_number_value(v);
}

/* The loop ----------------------------------------------------------------- */

static void handle(const struct packetway_poets_event *ev)
{
	struct poets_device *d = NULL;
	const struct poets_type *t = NULL;

	if (ev->type >= PACKETWAY_POETS_EV_PIN && ev->device < self->n) {
		d = &app->device[self->device[ev->device]].d;
		t = of(d)->array->type->t;
		tally.handled++;
	}
	switch (ev->type) {
	case PACKETWAY_POETS_EV_RELEASED:
		tally.running = 1;
		break;
	case PACKETWAY_POETS_EV_STOPPED:
		stopped = true;
		break;
	case PACKETWAY_POETS_EV_PIN:
		if (d && t->receive)
			t->receive(d, ev->pin, ev->edge, ev->payload, ev->len);
		break;
	case PACKETWAY_POETS_EV_CTL:
		if (d && t->ctl)
			t->ctl(d, ev->opcode, ev->payload, ev->len);
		break;
	case PACKETWAY_POETS_EV_IMPL:
		if (d && t->implicit)
			t->implicit(d, ev->payload, ev->len);
		break;
	}
}

/* returns how many there were */
static int receive(void)
{
	static struct packetway_poets_event ev[BATCH];
	ssize_t len = read(fd, ev, sizeof(ev));
	int i, n;

	if (len < 0) {
		if (errno == EAGAIN || errno == EINTR)
			return 0;
		die("%s", errno == ENODEV ? "the station has gone" : strerror(errno));
	}
	n = len / sizeof(ev[0]);
	for (i = 0; i < n && !stopped; i++)
		handle(&ev[i]);
	return n;
}

/* returns whether anything went out */
static bool send_some(void)
{
	size_t n = tail - head;
	ssize_t len;

	if (!n || !going)
		return false;
	len = write(fd, queue + head, (n < BATCH ? n : BATCH) * sizeof(*queue));
	if (len > 0) {
		head += len / sizeof(*queue);
		return true;
	}
	if (errno == EAGAIN) {
		blocked++;
		return false;
	}
	if (errno == EINTR)
		return true;
	/* stopped; the event will be read next */
	if (errno == EPROTO) {
		head = tail = 0;
		return false;
	}
	die("send: %s", errno == ENODEV ? "the station has gone" : strerror(errno));
	return false;
}

static bool idle(void)
{
	bool more = false;
	uint32_t i;

	if (!going)
		return false;
	for (i = 0; i < self->n; i++) {
		struct app_device *d = &app->device[self->device[i]];

		if (!d->array->type->t->idle)
			continue;
		idle_handlers++;
		more |= d->array->type->t->idle(&d->d);
	}
	return more;
}

static bool uncounted(void)
{
	return send_handlers || idles || idle_handlers || blocked;
}

/* for the next report */
static void say_counts(void)
{
	pwl_poets_count(fd, send_handlers, idles, idle_handlers, blocked);
	send_handlers = idles = idle_handlers = blocked = 0;
}

/* answer with the counts, in between handlers; false: the mothership has closed */
static bool answer(void)
{
	struct packetway_poets_get g;
	char c;
	int i;

	if (read(ctl_fd, &c, 1) != 1)
		return false;
	if (c == 'g') {
		going = true;
		return true;
	}
	if (!pwl_poets_get(fd, &g)) {
		tally.lost = g.out_lost;
		tally.dropped = 0;
		for (i = 1; i < PACKETWAY_POETS_DROPS; i++)
			tally.dropped += g.out_drops[i];
	}
	return write(ctl_fd, &tally, sizeof(tally)) == sizeof(tally);
}

static void loop(void)
{
	bool more = false;
	int n;

	while (!stopped) {
		struct pollfd p[2] = {
			{ .fd = fd, .events = POLLIN | (going && tail > head ? POLLOUT : 0) },
			{ .fd = ctl_fd, .events = POLLIN },
		};

		n = poll(p, 2, more ? 0 : uncounted() ? COUNT_MS : -1);
		if (n < 0 && errno != EINTR)
			die("poll: %s", strerror(errno));
		if (!n && !more)
			say_counts();
		if (p[1].revents && !answer())
			_exit(ST_REFUSED);
		if (p[0].revents & (POLLHUP | POLLERR))
			die("the station has gone");
		while (!stopped && receive() == BATCH)
			;
		more = send_some();
		if (!more && head == tail)
			more = idle();
		idles += !more;
		if (idles >= IDLES_MAX)
			say_counts();
	}
}

static void open_switch(void)
{
	uint32_t *pins = calloc(self->n + 1, sizeof(*pins)), *edges, i, k = 0, total = 0;
	struct packetway_poets_open o = {
		.flags = PACKETWAY_POETS_NONBLOCK | PACKETWAY_POETS_TASK,
		.task = app->task,
		.devices = self->n,
		.queue = PACKETWAY_POETS_QUEUE_MAX,
		.mothership = app->station[app->mothership].addr,
		.interval = app->interval,
	};
	struct pwl *s;
	int p, err;

	for (i = 0; pins && i < self->n; i++) {
		pins[i] = app->device[self->device[i]].array->type->nin;
		total += pins[i];
	}
	edges = calloc(total + 1, sizeof(*edges));
	if (!pins || !edges)
		die("%s", strerror(ENOMEM));
	for (i = 0; i < self->n; i++)
		for (p = 0; p < (int)pins[i]; p++)
			edges[k++] = app->device[self->device[i]].in[p].n;
	o.pins = total;
	err = pwl_open(&s, self->dev);
	if (err)
		die("%s", strerror(-err));
	fd = pwl_poets_open(s, &o);
	pwl_close(s);
	if (fd < 0)
		die("softswitch: %s", fd == -EBUSY ? "the station has one of this task already" : strerror(-fd));
	err = pwl_poets_load(fd, self->n, pins, edges);
	if (err < 0)
		die("load: %s", strerror(-err));
	free(pins);
	free(edges);
}

void switch_run(struct app *a, int station, int ctl)
{
	uint32_t i;
	int err;

	app = a;
	self = &a->station[station];
	ctl_fd = ctl;
	/* the mothership decides when this process ends */
	signal(SIGINT, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (*self->netns) {
		err = enter_netns(self->netns);
		if (err)
			die("network namespace: %s", strerror(-err));
	}
	open_switch();
	for (i = 0; i < self->n; i++) {
		struct app_device *d = &a->device[self->device[i]];
		const struct poets_type *t = d->array->type->t;

		d->d.state = calloc(1, t->state_size ? t->state_size : 1);
		if (!d->d.state)
			die("%s", strerror(ENOMEM));
		if (t->init)
			t->init(&d->d);
	}
	err = pwl_poets_start(fd);
	if (err)
		die("start: %s", strerror(-err));
	loop();
	for (i = 0; i < self->n; i++) {
		struct app_device *d = &a->device[self->device[i]];

		if (d->array->type->t->stop)
			d->array->type->t->stop(&d->d);
	}
	fflush(NULL);
	while (answer())
		;
	_exit(ST_OK);
}
