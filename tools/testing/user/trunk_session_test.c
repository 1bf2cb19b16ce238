// SPDX-License-Identifier: GPL-2.0
/*
 * Both ends of a keyed trunk, the network between them and an attacker, at random:
 * loss, duplication, reordering, delay, outages of one or both directions, ends that
 * are made anew (the host was rebooted), packets recorded and sent again at any time
 * later, also back to their sender, and packets made up without the key. A tag stands
 * for the authentication: the attacker cannot make one.
 *
 * What holds in every run:
 *  - a frame is received at most once, also by an end that was made anew;
 *  - a frame that was sent before its receiver gave the session up, or before the
 *    receiver was made, is never received after that;
 *  - when packets pass again, frames get through both ways, though the attacker goes on.
 *
 * Each run has a seed; a failure prints it, and "trunk_session_test SEED" repeats the run.
 */
#include "trunk_session.h"
#include "tap.h"

#define QUEUE		256
#define RECORDED	2048
#define FRAMES		65536
#define DEAD		80	/* ticks; hellos every 20 when up, every 3 when down */
#define HELLO_UP	20
#define HELLO_DOWN	3
#define GAP		1

struct packet {
	int from, to;
	bool hello, authentic;
	u64 session, seq, challenge, echo;
	u32 frame;		/* number of the frame, unique in the run */
	u32 due;
};

struct end {
	struct pw_trunk_session s;
	u64 seq;
	u32 next_hello;
	u32 epoch;		/* when it was made or gave the session up last */
};

static struct {
	struct end end[2];
	struct packet queue[QUEUE], recorded[RECORDED];
	u32 nqueue, nrecorded;
	u32 now;
	u32 frames, got[2], sent[2];
	u32 sent_at[FRAMES];
	u8 received[FRAMES];
	unsigned long long rnd;
	bool cut[2];		/* nothing passes to this end */
	u32 loss, dup, reorder;	/* percent */
	const char *broken;
} w;

static unsigned long long total_received, total_refused, total_ups;

static u64 rnd64(void)
{
	u64 v;

	do {
		v = tap_rand(&w.rnd);
	} while (!v);
	return v;
}

static u32 rnd(u32 n)
{
	return (tap_rand(&w.rnd) >> 16) % n;
}

static bool percent(u32 p)
{
	return rnd(100) < p;
}

static void broken(const char *why)
{
	if (!w.broken)
		w.broken = why;
}

/* an end as a new host has it: nothing is remembered */
static void make(struct end *e)
{
	pw_trunk_session_init(&e->s, rnd64(), rnd64());
	e->seq = 0;
	e->next_hello = w.now;
	e->epoch = w.now;
}

static void put(struct packet p, u32 delay)
{
	p.due = w.now + delay;
	if (w.nqueue < QUEUE)
		w.queue[w.nqueue++] = p;
}

static void transmit(struct packet p)
{
	if (w.nrecorded < RECORDED)
		w.recorded[w.nrecorded++] = p;
	else
		w.recorded[rnd(RECORDED)] = p;
	if (w.cut[p.to] || percent(w.loss))
		return;
	put(p, 1 + (percent(w.reorder) ? rnd(12) : 0));
	if (percent(w.dup))
		put(p, 1 + rnd(30));
}

static void send_hello(int who)
{
	struct end *e = &w.end[who];

	transmit((struct packet) {
		.from = who, .to = !who, .hello = true, .authentic = true,
		.session = e->s.session, .seq = ++e->seq, .challenge = e->s.challenge,
		.echo = pw_trunk_session_echo(&e->s),
	});
	e->next_hello = w.now + (e->s.up ? HELLO_UP : HELLO_DOWN);
	if (pw_trunk_session_waits(&e->s))
		e->next_hello = w.now + GAP;
}

static void send_frame(int who)
{
	struct end *e = &w.end[who];

	if (!e->s.up || w.frames == FRAMES)
		return;
	w.sent_at[w.frames] = w.now;
	w.sent[who]++;
	transmit((struct packet) {
		.from = who, .to = !who, .authentic = true, .session = e->s.session,
		.seq = ++e->seq, .frame = w.frames++,
	});
}

static void give_up(struct end *e)
{
	pw_trunk_session_end(&e->s, rnd64(), rnd64());
	e->next_hello = w.now;
	e->epoch = w.now;
}

static void receive(const struct packet *p)
{
	struct end *e = &w.end[p->to];
	enum pw_trunk_verdict v;
	struct pw_trunk_hello h;

	if (!p->authentic)
		return;
	v = pw_trunk_session_check(&e->s, p->session, p->seq, w.now);
	if (v == PW_TRUNK_V_REPLAY || v == PW_TRUNK_V_OWN) {
		total_refused++;
		return;
	}
	if (p->hello) {
		h = (struct pw_trunk_hello) { p->session, p->seq, p->challenge, p->echo };
		switch (pw_trunk_session_hear(&e->s, &h, rnd64(), w.now)) {
		case PW_TRUNK_HEARD_NEW:
			total_ups++;
			e->next_hello = w.now + GAP;
			if (p->from == p->to)
				broken("an end took its own session on");
			break;
		case PW_TRUNK_HEARD_ASKS:
			if ((s32)(e->next_hello - w.now) > GAP)
				e->next_hello = w.now + GAP;
			break;
		default:
			break;
		}
		return;
	}
	if (v != PW_TRUNK_V_FRESH) {
		total_refused++;
		return;
	}
	if (p->from == p->to)
		broken("a frame came back to its sender");
	if (w.received[p->frame]++)
		broken("a frame was received twice");
	if (w.sent_at[p->frame] < e->epoch)
		broken("a frame was received after its session was given up");
	w.got[p->to]++;
	total_received++;
}

/* recorded packets, to where they were sent or back, and made up ones */
static void attack(u32 n)
{
	struct packet p;

	while (n--) {
		if (!w.nrecorded)
			return;
		p = w.recorded[rnd(w.nrecorded)];
		switch (rnd(8)) {
		case 0:
			p.to = p.from;
			break;
		case 1:		/* without the key */
			p.authentic = false;
			p.session = rnd(2) ? w.end[!p.to].s.session : rnd64();
			p.seq = w.end[!p.to].seq + rnd(100);
			break;
		}
		receive(&p);
	}
}

static void tick(u32 attacks)
{
	u32 i;

	w.now++;
	for (i = 0; i < w.nqueue;) {
		if (w.queue[i].due > w.now) {
			i++;
			continue;
		}
		struct packet p = w.queue[i];

		w.queue[i] = w.queue[--w.nqueue];
		receive(&p);
	}
	for (i = 0; i < 2; i++) {
		struct end *e = &w.end[i];

		if (pw_trunk_session_silent(&e->s, w.now, DEAD))
			give_up(e);
		if ((s32)(w.now - e->next_hello) >= 0)
			send_hello(i);
		if (percent(30))
			send_frame(i);
	}
	attack(attacks);
}

/* what the network and the hosts do next */
static void event(void)
{
	switch (rnd(9)) {
	case 0:
		w.cut[0] = true;
		break;
	case 1:
		w.cut[1] = true;
		break;
	case 2:
		w.cut[0] = true;
		w.cut[1] = true;
		break;
	case 3:
		make(&w.end[rnd(2)]);
		break;
	case 4:
		w.loss = rnd(60);
		break;
	case 5:
		w.dup = rnd(50);
		w.reorder = rnd(80);
		break;
	default:
		w.cut[0] = false;
		w.cut[1] = false;
		break;
	}
}

/* true: everything held */
static bool run(unsigned long long seed)
{
	u32 i, k, n, before[2];

	memset(&w, 0, sizeof(w));
	w.rnd = seed * 0x9e3779b97f4a7c15ULL + 1;
	w.now = 1;
	make(&w.end[0]);
	make(&w.end[1]);
	for (i = 0; i < 12; i++) {
		event();
		n = rnd(250);
		for (k = 0; k < n; k++)
			tick(rnd(3));
	}
	/* packets pass again: both ends must find each other */
	w.cut[0] = false;
	w.cut[1] = false;
	w.loss = 0;
	for (k = 0; k < 3 * DEAD; k++)
		tick(2);
	before[0] = w.got[0];
	before[1] = w.got[1];
	for (k = 0; k < DEAD; k++)
		tick(2);
	if (!w.end[0].s.up || !w.end[1].s.up || w.got[0] == before[0] || w.got[1] == before[1])
		broken("the ends have not found each other again");
	if (w.end[0].s.peer_session != w.end[1].s.session ||
	    w.end[1].s.peer_session != w.end[0].s.session)
		broken("the ends do not agree on their sessions");
	if (w.broken)
		diag("seed %llu: %s (tick %u)", seed, w.broken, w.now);
	return !w.broken;
}

static struct pw_trunk_session a;

static enum pw_trunk_heard hello(u64 session, u64 seq, u64 challenge, u64 echo, u64 next)
{
	struct pw_trunk_hello h = { session, seq, challenge, echo };

	return pw_trunk_session_hear(&a, &h, next, 0);
}

/* the rules one by one */
static void rules(void)
{
	u64 i;
	u32 n;

	pw_trunk_session_init(&a, 1, 100);
	is(pw_trunk_session_check(&a, 7, 1, 0), PW_TRUNK_V_OTHER, "no session is in use");
	is(hello(7, 50, 700, 99, 101), PW_TRUNK_HEARD_ASKS, "a hello that echoes nothing asks");
	is(a.up, false, "and begins nothing");
	is(pw_trunk_session_echo(&a), 700, "its challenge is echoed");
	is(hello(7, 51, 700, 100, 101), PW_TRUNK_HEARD_NEW, "the challenge that is out begins a session");
	is(a.challenge, 101, "and is used up");
	is(pw_trunk_session_check(&a, 7, 51, 0), PW_TRUNK_V_REPLAY, "that hello counts once");
	is(pw_trunk_session_check(&a, 7, 50, 0), PW_TRUNK_V_REPLAY, "what was sent before it does not");
	is(pw_trunk_session_check(&a, 7, 53, 0), PW_TRUNK_V_FRESH, "what was sent after it does");
	is(pw_trunk_session_check(&a, 7, 52, 0), PW_TRUNK_V_FRESH, "in another order as well");
	is(pw_trunk_session_check(&a, 7, 53, 0), PW_TRUNK_V_REPLAY, "once");
	is(pw_trunk_session_check(&a, 1, 54, 0), PW_TRUNK_V_OWN, "a packet of one's own");
	is(hello(8, 1, 800, 100, 102), PW_TRUNK_HEARD_ASKS, "a challenge that was used up begins nothing");
	is(a.peer_challenge, 700, "and leaves the challenge in use alone");
	is(a.peer_session, 7, "as the session");
	is(pw_trunk_session_check(&a, 7, 53 + PW_TRUNK_WINDOW, 0), PW_TRUNK_V_FRESH, "a jump");
	is(pw_trunk_session_check(&a, 7, 53, 0), PW_TRUNK_V_REPLAY, "the end of the window");
	is(pw_trunk_session_check(&a, 7, 54, 0), PW_TRUNK_V_FRESH, "and just within");
	pw_trunk_session_end(&a, 2, 103);
	is(pw_trunk_session_check(&a, 7, 5000, 0), PW_TRUNK_V_OTHER, "given up");
	is(hello(7, 5001, 700, 101, 104), PW_TRUNK_HEARD_ASKS, "with the challenge of before it stays so");
	is(hello(7, 5002, 700, 103, 104), PW_TRUNK_HEARD_NEW, "the same session answers the new one");
	for (i = 5002 - 2000, n = 0; i <= 5002; i++)
		n += pw_trunk_session_check(&a, 7, i, 0) == PW_TRUNK_V_FRESH;
	is(n, 0, "and nothing of before is received");
	is(pw_trunk_session_check(&a, 7, 5003, 0), PW_TRUNK_V_FRESH, "what follows is");
	/* more askers than places: the session in use still has every other echo */
	for (i = 0, n = 0; i < 400; i++) {
		hello(9, i, 9000 + i % 40, 1, i + 1);
		n += pw_trunk_session_echo(&a) == 700;
	}
	ok(n >= 200, "recorded hellos take no more than every other echo");
	is(pw_trunk_session_silent(&a, 10, 10), false, "heard a moment ago");
	/* a peer may say any number: behind the last one there is none, and no loop without end */
	is(pw_trunk_session_check(&a, 7, U64_MAX - 3, 0), PW_TRUNK_V_FRESH, "a jump to the end");
	is(pw_trunk_session_check(&a, 7, U64_MAX, 0), PW_TRUNK_V_FRESH, "the last number of all");
	is(pw_trunk_session_check(&a, 7, U64_MAX - 1, 0), PW_TRUNK_V_FRESH, "one before it");
	is(pw_trunk_session_check(&a, 7, U64_MAX, 0), PW_TRUNK_V_REPLAY, "it, again");
	is(pw_trunk_session_check(&a, 7, 0, 0), PW_TRUNK_V_REPLAY, "the first of all, behind it");
	is(pw_trunk_session_silent(&a, 11, 10), true, "silent");
}

int main(int argc, char **argv)
{
	unsigned long long seed, first = 1, n = tap_scaled(3000), bad = 0;

	if (argc > 1) {
		first = strtoull(argv[1], NULL, 0);
		n = 1;
	} else {
		rules();
	}
	for (seed = first; seed < first + n && bad < 5; seed++)
		bad += !run(seed);
	ok(!bad, "%llu random runs of both ends", n);
	diag("%llu frames received, %llu packets refused, %llu sessions taken on", total_received,
	     total_refused, total_ups);
	if (argc == 1)
		ok(total_received > n * 100 && total_ups > n * 4, "the runs were not idle");
	return tap_done();
}
