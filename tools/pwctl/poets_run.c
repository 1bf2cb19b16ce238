// SPDX-License-Identifier: GPL-2.0
/*
 * The mothership of a POETS application: starts a process for each station, waits
 * for the barrier, releases it, hears logs and reports, runs the supervisor, stops
 * everything.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "poets.h"
#include "poets_app.h"

#define BARRIER_SECONDS 30
#define QUIET_MS 20

struct source_log {
	uint32_t src, pin;
	struct pwl_poets_log log;
};

static struct mothership {
	int fd;
	pid_t *pid;
	int *ctl;			/* one for each station; -1: it has no devices */
	bool *reached;
	FILE *csv, *log;
	struct source_log *logs;
	uint32_t nlogs;
	double begin;
	uint64_t reports, messages;
	uint64_t sent;			/* to devices, each of a broadcast by itself */
	uint64_t supervised;		/* packets the supervisor has had */
	const char *end;		/* why it ends; NULL: it goes on */
	bool stopping;
} ms = { .fd = -1 };

static double seconds(void)
{
	return now_us() / 1e6;
}

/* Output ------------------------------------------------------------------- */

static void log_line(const char *who, const char *text, int len)
{
	char line[512];
	json_t *j;

	ms.messages++;
	snprintf(line, sizeof(line), "%.*s", len, text);
	if (ms.log) {
		fprintf(ms.log, "%.6f %s: %s\n", seconds() - ms.begin, who, line);
		return;
	}
	if (!opt_json) {
		printf("%s: %s\n", who, line);
		return;
	}
	j = json_object();
	json_object_set_new(j, "log", json_string(who));
	json_object_set_new(j, "text", json_string_nocheck(line));
	out_item("", j);
}

void poets_say(const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log_line("supervisor", text, strlen(text));
}

static enum status open_files(const char *csv, const char *log)
{
	int i;

	if (csv) {
		ms.csv = fopen(csv, "we");
		if (!ms.csv)
			return fail(errno, "%s", csv);
		fprintf(ms.csv, "seconds,station,address");
		for (i = 0; i < PW_POETS_C_BASIC; i++)
			fprintf(ms.csv, ",%s", pw_poets_counter_name[i]);
		fputc('\n', ms.csv);
	}
	if (log) {
		ms.log = fopen(log, "we");
		if (!ms.log)
			return fail(errno, "%s", log);
	}
	return ST_OK;
}

/* Packets to devices and softswitches --------------------------------------- */

static int ms_send(uint32_t hw, uint32_t sw, const void *data, unsigned int len)
{
	struct packetway_poets_packet p = { .hw_addr = hw, .sw_addr = sw, .len = len };
	struct pollfd w = { .fd = ms.fd, .events = POLLOUT };

	if (len > sizeof(p.payload))
		return -1;
	if (len)
		memcpy(p.payload, data, len);
	while (write(ms.fd, &p, sizeof(p)) != sizeof(p)) {
		if (errno != EAGAIN && errno != EINTR)
			return -1;
		poll(&w, 1, 1000);
	}
	return 0;
}

/* to every softswitch there is */
static int ms_send_all(uint32_t sw, const void *data, unsigned int len)
{
	int i, err = 0;

	for (i = 0; i < poets.nstations; i++)
		if (poets.station[i].n)
			err |= ms_send(poets.station[i].addr, sw, data, len);
	return err;
}

static uint32_t task(void)
{
	return (uint32_t)poets.task << PW_POETS_TASK_SHIFT;
}

static int to_device(uint32_t id, uint32_t sw, const void *data, unsigned int len)
{
	const struct app_device *d;

	if (id >= poets.ndevices)
		return -1;
	d = &poets.device[id];
	if (ms_send(poets.station[d->station].addr, sw | task() | d->local, data, len))
		return -1;
	ms.sent++;
	return 0;
}

static int to_all(uint32_t sw, const void *data, unsigned int len)
{
	if (ms_send_all(sw | task() | PW_POETS_DEVICE_BROADCAST, data, len))
		return -1;
	ms.sent += poets.ndevices;
	return 0;
}

uint32_t poets_devices(void)
{
	return poets.ndevices;
}

const char *poets_name(uint32_t id)
{
	return id < poets.ndevices ? poets.device[id].d.name : NULL;
}

int poets_reply(uint32_t id, const void *data, unsigned int len)
{
	return to_device(id, PW_POETS_SW_SUPERVISOR_REPLY, data, len);
}

int poets_broadcast(const void *data, unsigned int len)
{
	return to_all(PW_POETS_SW_SUPERVISOR_BCAST, data, len);
}

static bool app_opcode(unsigned int opcode)
{
	return opcode >= PW_POETS_OP_APP_MIN && opcode <= PW_POETS_OP_APP_MAX;
}

int poets_ctl(uint32_t id, unsigned int opcode, const void *data, unsigned int len)
{
	return app_opcode(opcode) ?
	       to_device(id, PW_POETS_CNC | opcode << PW_POETS_OPCODE_SHIFT, data, len) : -1;
}

int poets_ctl_all(unsigned int opcode, const void *data, unsigned int len)
{
	return app_opcode(opcode) ?
	       to_all(PW_POETS_CNC | opcode << PW_POETS_OPCODE_SHIFT, data, len) : -1;
}

void poets_stop(void)
{
	if (!ms.end)
		ms.end = "stopped";
}

/* Packets to the mothership -------------------------------------------------- */

static int station_by_addr(uint32_t addr)
{
	int i;

	for (i = 0; i < poets.nstations; i++)
		if (poets.station[i].addr == addr)
			return i;
	return -1;
}

static const char *device_name(int station, uint32_t local)
{
	const struct app_station *s = &poets.station[station];

	return local < s->n ? poets.device[s->device[local]].d.name : s->name;
}

static void hear_log(const struct packetway_poets_event *ev, int station)
{
	const char *text;
	uint32_t i;
	int len;

	for (i = 0; i < ms.nlogs; i++)
		if (ms.logs[i].src == ev->src && ms.logs[i].pin == ev->pin_addr)
			break;
	if (i == ms.nlogs) {
		struct source_log *more = realloc(ms.logs, (i + 1) * sizeof(*more));

		if (!more)
			return;
		ms.logs = more;
		ms.logs[i] = (struct source_log) { .src = ev->src, .pin = ev->pin_addr };
		ms.nlogs++;
	}
	len = pwl_poets_log_add(&ms.logs[i].log, ev->payload, ev->len, &text);
	if (len)
		log_line(device_name(station, ev->pin_addr), text, len);
}

static void hear_report(const struct packetway_poets_event *ev, int station)
{
	char addr[PWL_ADDR_STRLEN];
	uint32_t c[PW_POETS_C_COUNT];
	int i;

	ms.reports++;
	if (!ms.csv || pw_poets_instr_parse(ev->payload, ev->len, c) < 0)
		return;
	fprintf(ms.csv, "%.6f,%s,%s", seconds() - ms.begin, poets.station[station].name,
		pwl_addr_str(ev->src, addr));
	for (i = 0; i < PW_POETS_C_BASIC; i++)
		fprintf(ms.csv, ",%u", c[i]);
	fputc('\n', ms.csv);
}

static void supervise(const struct packetway_poets_event *ev, int station)
{
	const struct poets_supervisor *s = poets.code->supervisor;
	uint32_t id;

	if (ev->pin_addr >= poets.station[station].n)
		return;
	id = poets.station[station].device[ev->pin_addr];
	ms.supervised++;
	if (ev->opcode == PW_POETS_OP_IMPL) {
		if (s && s->implicit)
			s->implicit(id, ev->payload, ev->len);
	} else if (app_opcode(ev->opcode) && s && s->receive) {
		s->receive(id, ev->opcode, ev->payload, ev->len);
	}
}

static void hear(const struct packetway_poets_event *ev)
{
	int station = station_by_addr(ev->src);

	if (ev->type != PACKETWAY_POETS_EV_MOTHERSHIP || station < 0)
		return;
	switch (ev->opcode) {
	case PW_POETS_OP_BARRIER:
		ms.reached[station] = true;
		break;
	case PW_POETS_OP_INSTR:
		hear_report(ev, station);
		break;
	case PW_POETS_OP_LOG:
		hear_log(ev, station);
		break;
	case PW_POETS_OP_KILL:
		log_line(poets.station[station].name, "a device cannot go on", 21);
		ms.end = "killed";
		break;
	case PW_POETS_OP_STOP:
		break;
	default:
		if (!ms.stopping)
			supervise(ev, station);
	}
}

/* what has come; an exit code */
static enum status hear_out(int timeout_ms)
{
	static struct packetway_poets_event ev[64];
	struct pollfd p = { .fd = ms.fd, .events = POLLIN };
	ssize_t len, i;

	if (poll(&p, 1, timeout_ms) <= 0)
		return ST_OK;
	len = read(ms.fd, ev, sizeof(ev));
	if (len < 0)
		return errno == EAGAIN || errno == EINTR ? ST_OK : fail(errno, "mothership");
	for (i = 0; i < len / (ssize_t)sizeof(ev[0]); i++)
		hear(&ev[i]);
	return ST_OK;
}

/* Stations ------------------------------------------------------------------- */

/* run in the namespace of a station */
static enum status within(const struct app_station *s,
			  enum status (*fn)(const struct app_station *s))
{
	int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), err;

	if (here < 0)
		return fail(errno, "network namespace");
	err = *s->netns ? enter_netns(s->netns) : 0;
	if (err)
		err = fail(err, "network namespace %s", s->netns);
	else
		err = fn(s);
	if (*s->netns && setns(here, CLONE_NEWNET))
		err = fail(errno, "network namespace");
	close(here);
	return err;
}

static enum status find_station(const struct app_station *s)
{
	struct station st;
	int err = pick_station(s->dev, &st);

	if (err)
		return err;
	if (!st.up)
		return fail(ENETDOWN, "%s", s->name);
	((struct app_station *)s)->addr = st.addr;
	return ST_OK;
}

static enum status open_mothership(const struct app_station *s)
{
	struct packetway_poets_open o = {
		.flags = PACKETWAY_POETS_MOTHERSHIP | PACKETWAY_POETS_NONBLOCK |
			 PACKETWAY_POETS_TASK,
		.task = poets.task,
		.queue = PACKETWAY_POETS_QUEUE_MAX,
	};
	struct pwl *k;
	int err = pwl_open(&k, s->dev);

	if (err)
		return fail(err, "%s", s->name);
	ms.fd = pwl_poets_open(k, &o);
	pwl_close(k);
	if (ms.fd == -EBUSY)
		return fail(0, "%s: the station has a mothership of this task already", s->name);
	return ms.fd < 0 ? fail(ms.fd, "%s: mothership", s->name) : ST_OK;
}

static enum status spawn(int i)
{
	int pair[2], k;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return fail(errno, "socketpair");
	fflush(NULL);
	ms.pid[i] = fork();
	if (ms.pid[i] < 0)
		return fail(errno, "fork");
	if (!ms.pid[i]) {
		for (k = 0; k < i; k++)
			close(ms.ctl[k]);
		close(pair[0]);
		close(ms.fd);
		switch_run(&poets, i, pair[1]);
	}
	close(pair[1]);
	ms.ctl[i] = pair[0];
	return ST_OK;
}

/* a process that ended early has printed why */
static bool softswitch_died(void)
{
	int i;

	for (i = 0; i < poets.nstations; i++)
		if (ms.pid[i] > 0 && waitpid(ms.pid[i], NULL, WNOHANG) == ms.pid[i]) {
			ms.pid[i] = 0;
			return true;
		}
	return false;
}

static enum status start(void)
{
	int i, err;

	ms.pid = calloc(poets.nstations, sizeof(*ms.pid));
	ms.ctl = calloc(poets.nstations, sizeof(*ms.ctl));
	ms.reached = calloc(poets.nstations, sizeof(*ms.reached));
	if (!ms.pid || !ms.ctl || !ms.reached)
		return fail(ENOMEM, "poets");
	for (i = 0; i < poets.nstations; i++)
		ms.ctl[i] = -1;
	for (i = 0; i < poets.nstations; i++) {
		err = within(&poets.station[i], find_station);
		if (err)
			return err;
	}
	err = within(&poets.station[poets.mothership], open_mothership);
	for (i = 0; i < poets.nstations && !err; i++)
		if (poets.station[i].n)
			err = spawn(i);
	return err;
}

static enum status wait_for_barrier(void)
{
	double end = seconds() + BARRIER_SECONDS;
	int i, left, err;

	for (;;) {
		for (left = i = 0; i < poets.nstations; i++)
			left += poets.station[i].n && !ms.reached[i];
		if (!left || ms.end)
			return ST_OK;
		err = hear_out(100);
		if (err)
			return err;
		if (interrupted || softswitch_died())
			return ST_REFUSED;
		if (seconds() > end) {
			fail(0, "%d softswitches have not reached the barrier", left);
			return ST_SILENT;
		}
	}
}

/* what all softswitches have counted together; false: one has gone */
static bool ask(struct poets_tally *sum)
{
	struct poets_tally t;
	int i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < poets.nstations; i++)
		if (ms.ctl[i] >= 0 && send(ms.ctl[i], "q", 1, MSG_NOSIGNAL) != 1)
			return false;
	for (i = 0; i < poets.nstations; i++) {
		if (ms.ctl[i] < 0)
			continue;
		if (recv(ms.ctl[i], &t, sizeof(t), MSG_WAITALL) != sizeof(t))
			return false;
		sum->running += t.running;
		sum->sent += t.sent;
		sum->handled += t.handled;
		sum->to_supervisor += t.to_supervisor;
		sum->lost += t.lost;
		sum->dropped += t.dropped;
	}
	return true;
}

/*
 * A softswitch drops packets that arrive before its barrier is open, so devices send
 * only after all barriers are.
 */
static enum status release(void)
{
	double end = seconds() + BARRIER_SECONDS;
	struct poets_tally t;
	uint64_t all = 0;
	int i;

	if (ms_send_all(PW_POETS_SW_BARRIER_RELEASE | task(), NULL, 0))
		return fail(errno, "release");
	for (i = 0; i < poets.nstations; i++)
		all += ms.ctl[i] >= 0;
	for (;;) {
		if (!ask(&t) || interrupted || softswitch_died())
			return ST_REFUSED;
		if (t.running == all)
			break;
		if (seconds() > end) {
			fail(0, "not all softswitches run");
			return ST_SILENT;
		}
		usleep(1000);
	}
	for (i = 0; i < poets.nstations; i++)
		if (ms.ctl[i] >= 0 && send(ms.ctl[i], "g", 1, MSG_NOSIGNAL) != 1)
			return ST_REFUSED;
	return ST_OK;
}

/*
 * No packet is left if two consecutive tallies are the same and as many packets were
 * handled as were sent.
 */
static void look_if_quiet(void)
{
	static struct poets_tally before;
	struct poets_tally now;

	if (!ask(&now))
		return;
	if (now.lost)
		ms.end = "lost";
	else if (now.sent + ms.sent == now.handled && now.to_supervisor == ms.supervised &&
		 !memcmp(&now, &before, sizeof(now)))
		ms.end = "quiet";
	before = now;
}

static enum status run(void)
{
	const struct poets_supervisor *s = poets.code->supervisor;
	double limit = poets.timeout ? seconds() + poets.timeout : 0, next = 0;
	int err = ST_OK;

	if (s && s->init)
		s->init();
	while (!ms.end && !err) {
		err = hear_out(poets.quiet ? QUIET_MS : 200);
		if (interrupted)
			ms.end = "interrupted";
		else if (!ms.end && softswitch_died())
			ms.end = "died";
		else if (!ms.end && limit && seconds() > limit)
			ms.end = "timeout";
		else if (!ms.end && poets.quiet && seconds() > next) {
			look_if_quiet();
			next = seconds() + QUIET_MS / 1000.0;
		}
	}
	return err;
}

/* stop all softswitches and read their last logs and reports */
static void stop(struct poets_tally *t)
{
	int i;

	ms.stopping = true;
	ms_send_all(PW_POETS_SW_STOP | task(), NULL, 0);
	if (!ask(t))
		fail(0, "a softswitch has ended early: the counts are not complete");
	for (i = 0; i < 5; i++)
		hear_out(i ? 0 : 20);
	for (i = 0; i < poets.nstations; i++)
		if (ms.ctl[i] >= 0)
			close(ms.ctl[i]);
	for (i = 0; i < poets.nstations; i++)
		if (ms.pid[i] > 0)
			waitpid(ms.pid[i], NULL, 0);
	while (ms.nlogs + ms.reports != 0) {
		uint64_t before = ms.messages + ms.reports;

		hear_out(20);
		if (ms.messages + ms.reports == before)
			break;
	}
}

static void summary(const struct poets_tally *t, double took)
{
	json_t *j = json_object();

	json_object_set_new(j, "application", json_string(poets.file));
	json_object_set_new(j, "end", json_string(ms.end));
	json_object_set_new(j, "devices", json_integer(poets.ndevices));
	json_object_set_new(j, "edges", json_integer(poets.nedges));
	json_object_set_new(j, "stations", json_integer(poets.nstations));
	json_object_set_new(j, "seconds", json_real(took));
	json_object_set_new(j, "sent", j_u64(t->sent));
	json_object_set_new(j, "handled", j_u64(t->handled));
	json_object_set_new(j, "to-supervisor", j_u64(t->to_supervisor));
	json_object_set_new(j, "from-supervisor", j_u64(ms.sent));
	json_object_set_new(j, "logs", j_u64(ms.messages));
	json_object_set_new(j, "reports", j_u64(ms.reports));
	json_object_set_new(j, "dropped", j_u64(t->dropped));
	json_object_set_new(j, "lost", j_u64(t->lost));
	out_item("application", j);
}

static enum status finish(const struct poets_tally *t)
{
	const struct poets_supervisor *s = poets.code->supervisor;
	int err = s && s->stop ? s->stop() : 0;

	if (!strcmp(ms.end, "timeout"))
		return ST_SILENT;
	/* an interrupted application need not have ended by itself */
	if (!strcmp(ms.end, "interrupted"))
		return ST_OK;
	if (strcmp(ms.end, "stopped") && strcmp(ms.end, "quiet"))
		return ST_REFUSED;
	return err || t->lost ? ST_REFUSED : ST_OK;
}

struct run_args {
	const char *file, *csv, *log;
	long timeout;
};

#define AT(m) offsetof(struct run_args, m)

static enum status poets_run(const struct verb *v, int argc, char **argv)
{
	struct run_args a = { .timeout = -1 };
	struct poets_tally t = {};
	enum status err;
	int i;

	err = words(v, argc, argv, &a);
	if (!err)
		err = app_load(&poets, a.file);
	if (a.timeout >= 0)
		poets.timeout = a.timeout;
	if (!err)
		err = open_files(a.csv, a.log);
	if (err)
		return err;
	catch_signals();
	out_begin(true);
	ms.begin = seconds();
	err = start();
	if (!err)
		err = wait_for_barrier();
	if (!err) {
		ms.begin = seconds();
		err = release();
	}
	if (!err)
		err = run();
	if (!err) {
		double took = seconds() - ms.begin;

		stop(&t);
		err = finish(&t);
		summary(&t, took);
	} else {
		for (i = 0; ms.pid && i < poets.nstations; i++)
			if (ms.pid[i] > 0)
				kill(ms.pid[i], SIGKILL);
	}
	if (ms.csv && fclose(ms.csv))
		err = fail(errno, "%s", a.csv);
	if (ms.log && fclose(ms.log))
		err = fail(errno, "%s", a.log);
	return err;
}

static const struct word run_words[] = {
	{ NULL, "APP.json", W_TEXT, AT(file), WORD_NEEDED },
	{ "csv", "FILE", W_TEXT, AT(csv) },
	{ "log", "FILE", W_TEXT, AT(log) },
	{ "timeout", "SECONDS", W_LONG, AT(timeout) },
	{}
};

const struct verb poets_verbs[] = {
	{ "run", poets_run, 0, run_words,
	  "load an application onto stations, run it until it stops, show its counts" },
	{ "show", poets_show, 0, poets_which,
	  "softswitches and motherships: state, devices, drops" },
	{}
};
