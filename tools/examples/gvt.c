// SPDX-License-Identifier: GPL-2.0
/*
 * Optimistic simulation and global virtual time (Time Warp): gvt STATION STATIONS SEED
 *                                                            gvt --sequential SEED
 *
 * Events make objects change and send further events, to objects at any station.
 * What an object becomes depends on the order of its events. A process executes
 * its events by their time without waiting for others. If an event arrives that is
 * older than the last one executed, it rolls back: saved states are restored, and
 * anti-messages follow the events that were sent by mistake and annihilate them.
 *
 * Global virtual time (GVT) is a time before which no rollback can happen. It says
 * which saved states can be freed, and when the simulation has ended. The process
 * at place 0 computes it, epoch by epoch, while all of them simulate (Mattern):
 *
 *   1. ROUND announces an epoch; a process that sees it (MAX) enters it.
 *	A message carries the epoch that its sender was in.
 *   2. When all are in the epoch (a count), all messages of the one before have been
 *	sent. ADD over sent minus received tells how many are on their way.
 *   3. When this is 0, GVT is the MIN over LOW: in each process, the time of the next
 *	event or of the earliest message that it sent in this epoch.
 *
 * The process stores LOW before it sends a message, and counts a message as received
 * after its event is in LOW. So an event that is not executed is at every moment in LOW,
 * of its receiver or its sender, or among the messages of the last epoch.
 */
#include "apps.h"

#define OBJECTS	24
#define END	600		/* later events are not sent */
#define DELAY	20		/* most from an event to the one that it sends */
#define WINDOW	60		/* events later than GVT + WINDOW wait */
#define NEVER	UINT64_MAX
#define ROOM	4096		/* events in a process */
#define TURN	8		/* events between two looks at the ring */

/* TRANSIT: one register for even and one for odd epochs */
enum { LOW, EPOCH, ROUND, GVT, TRANSIT, TRANSIT_ODD, WAITS, EVENTS, CHECKSUM, REGS };
enum { TE_EVENT = 1, TE_ANTI };

struct object {
	uint64_t state;
	uint64_t events;	/* executed: the number of the next one sent */
};

/* ordered by its members */
struct event {
	uint64_t time;
	uint64_t to, from;	/* objects */
	uint64_t number;	/* of those that @from has sent */
	uint64_t value;
};

struct message {
	struct event e;
	uint64_t epoch;
};

/* an event in the queue; the last three after it was executed */
struct entry {
	struct event e;
	bool anti;		/* waits for its event */
	bool sent;
	struct event out;	/* if @sent */
	struct object before;	/* the object's saved state */
};

struct warp {
	struct app a;
	struct object object[OBJECTS];
	struct entry queue[ROOM];	/* in order: @done executed ones, then the others */
	int n, done;
	uint64_t epoch, gvt;
	uint64_t sent_low;		/* earliest message sent in this epoch */
	uint64_t transit[2];
	uint64_t committed, rollbacks, undone, antis;
	int most;			/* entries at one time */
};

/* what an event does: the only part that the sequential run shares */
static bool execute(struct object *o, const struct event *e, struct event *out)
{
	o->state = mix(o->state ^ mix(e->value) ^ e->time);
	*out = (struct event) {
		.time = e->time + 1 + o->state % DELAY,
		.to = (o->state >> 16) % OBJECTS,
		.from = e->to,
		.number = o->events++,
		.value = o->state >> 32,
	};
	return out->time <= END;
}

static struct event first_event(uint64_t seed, int object)
{
	return (struct event) {
		.time = 1 + pick(seed, 0, object) % DELAY,
		.to = object,
		.from = OBJECTS,
		.number = object,
		.value = pick(seed, 1, object),
	};
}

static uint64_t checksum(const struct object *o, int i)
{
	return mix(o->state + mix(o->events) + i);
}

static void print_result(uint64_t events, uint64_t sum)
{
	printf("events %llu, checksum %016llx\n", (unsigned long long)events,
	       (unsigned long long)sum);
}

static int compare(const struct event *a, const struct event *b)
{
	const uint64_t x[] = { a->time, a->to, a->from, a->number, a->value };
	const uint64_t y[] = { b->time, b->to, b->from, b->number, b->value };
	int i;

	for (i = 0; i < 5; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* the plain way: one list, the earliest event first */
static void sequential(uint64_t seed)
{
	struct event list[OBJECTS + 1], out;
	struct object object[OBJECTS] = {};
	uint64_t events = 0, sum = 0;
	int n, i, min;

	for (n = 0; n < OBJECTS; n++)
		list[n] = first_event(seed, n);
	while (n) {
		for (min = 0, i = 1; i < n; i++)
			if (compare(&list[i], &list[min]) < 0)
				min = i;
		i = list[min].to;
		if (execute(&object[i], &list[min], &out))
			list[min] = out;
		else
			list[min] = list[--n];
		events++;
	}
	for (i = 0; i < OBJECTS; i++)
		sum += checksum(&object[i], i);
	print_result(events, sum);
}

/* the time of the next event */
static uint64_t next(const struct warp *w)
{
	return w->done < w->n ? w->queue[w->done].e.time : NEVER;
}

static void store_low(struct warp *w)
{
	set(&w->a.r, LOW, next(w) < w->sent_low ? next(w) : w->sent_low);
}

static bool is_here(const struct warp *w, const struct event *e)
{
	return e->to % w->a.r.n == w->a.r.place;
}

static void transmit(struct warp *w, const struct event *e, uint16_t te)
{
	struct message m = { .e = *e, .epoch = w->epoch };
	int odd = w->epoch & 1;

	if (e->time < w->sent_low)
		w->sent_low = e->time;
	store_low(w);
	set(&w->a.r, TRANSIT + odd, ++w->transit[odd]);
	post(&w->a, w->a.r.addr[e->to % w->a.r.n], te, &m, sizeof(m));
}

/* the first entry that is not before @e */
static int find(const struct warp *w, const struct event *e)
{
	int i = w->n;

	while (i && compare(&w->queue[i - 1].e, e) >= 0)
		i--;
	return i;
}

static void drop(struct warp *w, int i)
{
	memmove(&w->queue[i], &w->queue[i + 1], (--w->n - i) * sizeof(w->queue[0]));
}

/* undo executed entries, the last one first, until @done of them are left */
static void roll_back(struct warp *w, int done)
{
	if (w->done > done)
		w->rollbacks++;
	while (w->done > done) {
		struct entry *q = &w->queue[--w->done];

		w->undone++;
		w->object[q->e.to] = q->before;
		if (!q->sent)
			continue;
		q->sent = false;
		if (is_here(w, &q->out)) {
			/* later than its cause, so that it is not executed now */
			drop(w, find(w, &q->out));
		} else {
			w->antis++;
			transmit(w, &q->out, TE_ANTI);
		}
	}
}

/* an event or its opposite: two that meet in the queue annihilate each other */
static void insert(struct warp *w, const struct event *e, bool anti)
{
	int i = find(w, e);

	if (e->time < w->gvt)
		errx(1, "event of time %llu after global virtual time %llu",
		     (unsigned long long)e->time, (unsigned long long)w->gvt);
	if (i < w->done)
		roll_back(w, i);
	if (i < w->n && !compare(&w->queue[i].e, e) && w->queue[i].anti != anti) {
		drop(w, i);
		return;
	}
	if (w->n == ROOM)
		errx(1, "too many events");
	memmove(&w->queue[i + 1], &w->queue[i], (w->n++ - i) * sizeof(w->queue[0]));
	w->queue[i] = (struct entry) { .e = *e, .anti = anti };
	if (w->n > w->most)
		w->most = w->n;
}

/* execute the next event, if there is one in the window */
static bool step(struct warp *w)
{
	struct entry *q = &w->queue[w->done];
	struct event out;

	if (w->done == w->n || q->anti || q->e.time > w->gvt + WINDOW)
		return false;
	q->before = w->object[q->e.to];
	q->sent = execute(&w->object[q->e.to], &q->e, &q->out);
	w->done++;
	if (q->sent) {
		out = q->out;
		if (is_here(w, &out))
			insert(w, &out, false);
		else
			transmit(w, &out, TE_EVENT);
	}
	store_low(w);
	return true;
}

static bool hear(struct warp *w, int ms)
{
	struct message m;
	struct pwl_eep p;
	int odd;

	if (!collect(&w->a, &p, ms))
		return false;
	take(&p, &m, sizeof(m));
	insert(w, &m.e, p.te == TE_ANTI);
	store_low(w);
	odd = m.epoch & 1;
	set(&w->a.r, TRANSIT + odd, --w->transit[odd]);
	return true;
}

static void enter(struct warp *w, uint64_t epoch)
{
	w->epoch = epoch;
	w->sent_low = NEVER;
	store_low(w);
	set(&w->a.r, EPOCH, epoch);
}

/* free what is older than @gvt (fossil collection): it is final */
static void commit(struct warp *w, uint64_t gvt)
{
	int old = 0;

	if (gvt < w->gvt)
		errx(1, "global virtual time went back from %llu to %llu",
		     (unsigned long long)w->gvt, (unsigned long long)gvt);
	w->gvt = gvt;
	while (old < w->done && w->queue[old].e.time < gvt)
		old++;
	w->committed += old;
	w->done -= old;
	w->n -= old;
	memmove(w->queue, w->queue + old, w->n * sizeof(w->queue[0]));
}

/* place 0: the next step towards GVT, if it can be done already */
static void lead(struct warp *w)
{
	struct ring *r = &w->a.r;
	uint64_t gvt;

	if (count(r, EPOCH, w->epoch).v2 < r->n || ask(r, PW_ATON_OP_ADD, TRANSIT + !(w->epoch & 1)).v1)
		return;
	gvt = ask(r, PW_ATON_OP_MIN, LOW).v1;
	set(r, GVT, gvt);
	set(r, ROUND, w->epoch + 1);
	commit(w, gvt);
	enter(w, w->epoch + 1);
}

/* the others: is there a new epoch, and the GVT of the last one? */
static void follow(struct warp *w)
{
	uint64_t epoch = ask(&w->a.r, PW_ATON_OP_MAX, ROUND).v1;

	if (epoch <= w->epoch)
		return;
	commit(w, ask(&w->a.r, PW_ATON_OP_MAX, GVT).v1);
	enter(w, epoch);
}

static void simulate(struct warp *w)
{
	int i;

	while (w->gvt != NEVER) {
		for (i = 0; i < TURN; i++) {
			while (hear(w, 0))
				;
			if (!step(w))
				break;
		}
		set(&w->a.r, WAITS, i == 0);
		if (i == 0)
			hear(w, 5);
		if (w->a.r.place == 0)
			lead(w);
		else
			follow(w);
	}
}

int main(int argc, char **argv)
{
	static struct warp w;
	struct ring *r = &w.a.r;
	uint64_t seed, sum = 0;
	struct event e;
	int i;

	if (!app_start(&w.a, argc, argv, REGS, &seed)) {
		sequential(seed);
		return 0;
	}
	places(r);
	for (i = r->place; i < OBJECTS; i += r->n) {
		e = first_event(seed, i);
		insert(&w, &e, false);
	}
	enter(&w, 1);
	set(r, ROUND, 1);
	meet(r);
	/* the last process begins when the others can do no more: its events come late */
	if (r->place == r->n - 1)
		while (r->n > 1 && count(r, WAITS, 1).v2 < r->n - 1)
			usleep(5000);
	simulate(&w);

	for (i = r->place; i < OBJECTS; i += r->n)
		sum += checksum(&w.object[i], i);
	set(r, EVENTS, w.committed);
	set(r, CHECKSUM, sum);
	meet(r);
	print_result(ask(r, PW_ATON_OP_ADD, EVENTS).v1, ask(r, PW_ATON_OP_ADD, CHECKSUM).v1);
	printf("# committed %llu here, rollbacks %llu, undone %llu, anti-messages %llu, epochs %llu, most kept %d\n",
	       (unsigned long long)w.committed, (unsigned long long)w.rollbacks,
	       (unsigned long long)w.undone, (unsigned long long)w.antis,
	       (unsigned long long)w.epoch, w.most);
	app_end(&w.a);
	return 0;
}
