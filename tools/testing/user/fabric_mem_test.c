// SPDX-License-Identifier: GPL-2.0
/*
 * Sparse buffers: what an idle fabric takes, memory that grows with use and is all given
 * back, and memory that is refused: a message is then not sent, a cell is sent again.
 * fabric_diff_test compares the cycles with those of full buffers.
 */
#include "fabric_pieces.h"
#include "fabric_traffic.h"

typedef unsigned long long ull;

#define FAST	(PW_FABRIC_F_DEVICE | PW_FABRIC_F_FAST | PW_FABRIC_F_SPARSE)
#define RTL	(PW_FABRIC_F_DEVICE | PW_FABRIC_F_SPARSE)

struct owner {
	struct pw_fabric *f;
	u64 delivered, done, wrong, hash;
	u64 last[256];			/* from each port */
	u64 ready;			/* messages that wait for room, from port 0 */
	u32 len;
};

static void deliver(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
		    const struct pw_fabric_times *t)
{
	struct owner *o = ctx;

	o->delivered++;
	if (cookie < o->last[src])
		o->wrong++;
	o->last[src] = cookie;
	o->hash = (o->hash ^ cycle ^ (u64)dst << 48) * 0x9e3779b97f4a7c15ull;
}

static void done(void *ctx, u16 src, u64 cookie, u64 cycle, const struct pw_fabric_times *t)
{
	((struct owner *)ctx)->done++;
}

/* messages that were refused with -EBUSY; the fabric is running: nothing can be given */
static void room(void *ctx, u16 src, u64 cycle)
{
	struct owner *o = ctx;

	while (o->ready && !pw_fabric_send(o->f, src, 1, PW_FABRIC_AUTO, o->len, ~0ull, NULL))
		o->ready--;
}

static const struct pw_fabric_ops ops = { .deliver = deliver, .done = done, .room = room };

static void open_fabric(struct owner *o, struct pw_fabric_params *p)
{
	void *mem = pw_fabric_check(p) ? NULL : malloc(pw_fabric_size(p));

	if (!mem)
		abort();
	memset(mem, 0xa5, pw_fabric_size(p));
	memset(o, 0, sizeof(*o));
	o->f = pw_fabric_init(mem, p, &ops, o);
}

static u32 close_fabric(struct owner *o)
{
	u32 n = pieces_free(o->f);

	free(o->f);
	return n;
}

static int send(struct owner *o, u16 src, u16 dst, u32 len, u64 cookie)
{
	return pw_fabric_send(o->f, src, dst, PW_FABRIC_AUTO, len, cookie, NULL);
}

/* until everything that was sent is done */
static u64 drain(struct owner *o, u64 sent)
{
	u64 pieces = 0, idle = 0;

	while (o->done < sent && idle < 2) {
		idle += pw_fabric_next(o->f) == PW_FABRIC_NEVER;
		pieces_run(o->f, pw_fabric_now(o->f) + 1000, &pieces);
	}
	return pieces;
}

static void sizes(void)
{
	struct pw_fabric_params p = { .k = 16, .flags = FAST }, q = p;

	q.flags &= ~PW_FABRIC_F_SPARSE;
	diag("256 ports, fast: %zu bytes at first, %zu with full buffers", pw_fabric_size(&p),
	     pw_fabric_size(&q));
	ok(pw_fabric_size(&p) <= 8 << 20, "256 ports, fast: 8 MiB at most while idle");
	p.flags = RTL;
	q.flags = PW_FABRIC_F_DEVICE;
	diag("256 ports, rtl: %zu bytes at first, %zu with full buffers", pw_fabric_size(&p),
	     pw_fabric_size(&q));
	ok(pw_fabric_size(&p) <= 24 << 20, "256 ports, rtl: 24 MiB at most while idle");
	p.flags = PW_FABRIC_F_SPARSE | PW_FABRIC_F_FAST;
	is(pw_fabric_check(&p), -EINVAL, "the published machine has full buffers");
}

/* pieces that a message needs; it is then sent */
static u32 grow(struct owner *o, u16 src, u16 dst, u32 len, u64 *sent)
{
	u32 n = pieces_for(o->f, src, dst, len);

	if (send(o, src, dst, len, *sent))
		return 1000;
	++*sent;
	drain(o, *sent);
	return n;
}

static void growth(u32 flags, const char *name, u32 large)
{
	struct pw_fabric_params p = { .k = 4, .flags = flags };
	struct owner o;
	u64 sent = 0;

	open_fabric(&o, &p);
	is(grow(&o, 0, 1, 40, &sent), 3, "%s: the first message takes three pieces", name);
	is(grow(&o, 0, 1, 40, &sent), 0, "%s: the next one none", name);
	is(grow(&o, 1, 0, 40, &sent), 1, "%s: an answer one", name);
	/* the sender takes the acknowledgments of 16 ports */
	is(grow(&o, 0, PW_FABRIC_ALL, 40, &sent), 14 + 1, "%s: a broadcast one for each other port",
	   name);
	is(grow(&o, 0, PW_FABRIC_ALL, 40, &sent), 0, "%s: the next one none", name);
	is(grow(&o, 2, 3, large, &sent), 3, "%s: a large message three", name);
	is(grow(&o, 2, 3, large, &sent), 0, "%s: the next one none", name);
	is(pw_fabric_lacks(o.f, 2, 3, PW_FABRIC_MAX_LEN + 1), 0, "%s: none for one too large", name);
	is(pw_fabric_lacks(o.f, 2, 99, 4), 0, "%s: none for one to no port", name);
	is(o.done, sent, "%s: all are done", name);
	/* two of port 0, 1 and 2, one of the others */
	is(close_fabric(&o), 16 + 3, "%s: every piece comes back", name);
}

/* a message whose memory is refused is not sent and leaves no trace */
static void refused(u32 flags, const char *name)
{
	struct pw_fabric_params p = { .k = 4, .flags = flags };
	struct owner o;
	u32 i, n = 0;

	open_fabric(&o, &p);
	for (i = 0; i < 3; i++) {
		ok(pw_fabric_lacks(o.f, 4, 7, 1000), "%s: piece %u of a message lacks", name, i);
		ok(!pw_fabric_give(o.f, NULL), "%s: it is refused", name);
		ok(pw_fabric_lacks(o.f, 4, 7, 1000), "%s: and asked for again", name);
		is(pw_fabric_next(o.f), PW_FABRIC_NEVER, "%s: the fabric is idle", name);
		pieces_give(o.f, pw_fabric_lacks(o.f, 4, 7, 1000));
		n++;
	}
	is(pw_fabric_lacks(o.f, 4, 7, 1000), 0, "%s: then nothing lacks", name);
	is(send(&o, 4, 7, 1000, 1), 0, "%s: the message is sent", name);
	drain(&o, 1);
	is(o.delivered, 1, "%s: and arrives", name);
	is(close_fabric(&o), n, "%s: every piece comes back", name);
}

/* cells that are sent again far too early fill a buffer that gets no memory */
static void starved(u32 flags, const char *name, u32 messages)
{
	struct pw_fabric_params p = { .k = 4, .flags = flags, .resend = 700 };
	u64 sent = 0, denied = 0, overrun = 0;
	struct pw_aal_stats s;
	struct owner o;
	u32 i, idle = 0;

	open_fabric(&o, &p);
	while (sent < messages || (o.done < sent && idle < 2)) {
		u16 src = 1 + sent % 15;

		idle += pw_fabric_next(o.f) == PW_FABRIC_NEVER;
		if (sent < messages) {
			pieces_for(o.f, src, 0, 700);
			sent += !send(&o, src, 0, 700, sent);
		}
		pw_fabric_run(o.f, pw_fabric_now(o.f) + 200, PW_FABRIC_STEPS);
		for (; pw_fabric_low(o.f); denied++)
			pw_fabric_give(o.f, NULL);
	}
	for (i = 0; i < 16; i++) {
		pw_fabric_port_stats(o.f, i, &s);
		overrun += s.overrun;
	}
	ok(denied && overrun, "%s: %llu pieces denied, %llu cells dropped and counted", name,
	   (ull)denied, (ull)overrun);
	is(o.done, sent, "%s: every message is acknowledged", name);
	is(o.delivered, sent, "%s: and arrives once", name);
	is(o.wrong, 0, "%s: in order", name);
	close_fabric(&o);
}

/*
 * More messages than the queue of a port takes: those that wait are sent while the fabric
 * runs, when no memory can be given, and meet others that were not there before.
 */
static u64 later(u32 flags, u32 len, u64 *low)
{
	struct pw_fabric_params p = { .k = 4, .flags = flags, .queue = 4 };
	struct owner o;
	u32 i, n;

	open_fabric(&o, &p);
	o.len = len;
	for (i = 0; i < 12; i++) {
		n = i < p.queue ? 40 : len;
		pieces_for(o.f, 0, 1, n);
		if (send(&o, 0, 1, n, i < p.queue ? 0 : ~0ull))
			o.ready++;
	}
	for (n = 2; n < 14; n++) {
		for (i = 0; i < 3; i++) {
			pieces_for(o.f, n, 1, 20 + 40 * i);
			send(&o, n, 1, 20 + 40 * i, i);
		}
	}
	*low = drain(&o, 12 + 12 * 3);
	close_fabric(&o);
	return o.done == 48 && o.delivered == 48 && !o.wrong ? o.hash : 0;
}

static void waiting(u32 flags, const char *name)
{
	u64 low, hash, none;
	u32 len;

	for (len = 900; len <= 8100; len *= 3) {
		hash = later(flags, len, &low);
		ok(hash && hash == later(flags & ~PW_FABRIC_F_SPARSE, len, &none),
		   "%s: messages of %u bytes that wait for room arrive as with full buffers", name,
		   len);
		is(low, 0, "%s: without a buffer that was low", name);
	}
}

int main(void)
{
	sizes();
	growth(FAST, "fast", 65536);
	growth(RTL, "rtl", 8000);
	refused(FAST, "fast");
	refused(RTL, "rtl");
	starved(FAST, "fast", tap_scaled(400) > 60 ? 400 : 60);
	starved(RTL, "rtl", 60);
	waiting(FAST, "fast");
	waiting(RTL, "rtl");
	ok(pieces_filled && !pieces_touched,
	   "%llu pieces were filled before they were given, %llu changed after that",
	   (ull)pieces_filled, (ull)pieces_touched);
	return tap_done();
}
