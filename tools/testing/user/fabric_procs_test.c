// SPDX-License-Identifier: GPL-2.0
/*
 * Several processes at a port: both engines serve them by name, instance and type as controller
 * 8 does, in the same cycles and in the same order.
 *   fabric_procs_test [SCENE]
 */
#include "fabric_sides.h"
#include "topo_make.h"

static const struct scene scenes[] = {
	{ .name = "two", .t.maxlen = 300, .procs = 2, .flags = DEV },
	{ .name = "four, broadcast", .t.maxlen = 200, .t.bcast = 20, .procs = 4,
	  .flags = DEV | PW_FABRIC_F_SELF },
	{ .name = "four, broadcast to others", .t.maxlen = 200, .t.bcast = 30, .procs = 4, .flags = DEV },
	{ .name = "three, hot spot, one-cell queues", .t.maxlen = 200, .t.hot = 60, .t.bcast = 5,
	  .depth = 1, .procs = 3, .flags = DEV },
	{ .name = "four, lossy", .t.maxlen = 300, .t.bcast = 5, .t.hot = 20, .drop = 10, .corrupt = 10,
	  .resend = 8000, .procs = 4, .flags = DEV },
	{ .name = "four, few descriptors, little credit", .t.maxlen = 200, .t.hot = 30, .t.bcast = 5,
	  .descs = 1, .credit = 12, .depth = 2, .procs = 4, .flags = DEV },
	{ .name = "three, slow hosts", .t.maxlen = 300, .t.bcast = 5, .gap_lock = 7, .gap_init = 5,
	  .gap_get = 12, .gap_word = 9, .og_blocks = 30, .procs = 3, .flags = DEV },
	{ .name = "four, published", .t.maxlen = 200, .t.bcast = 10, .keep = 9000, .procs = 4 },
	{ .name = "four, published, short lives, lossy", .t.maxlen = 300, .t.hot = 50, .t.bcast = 10,
	  .keep = 2000, .ic_blocks = 60, .og_blocks = 40, .drop = 10, .corrupt = 10, .resend = 9000,
	  .procs = 4 },
	{ .name = "two, random paths", .t.maxlen = 300, .t.bcast = 5, .route = 77, .procs = 2,
	  .flags = DEV },
	{ .name = "one with a name", .t.maxlen = 300, .t.bcast = 5, .procs = 1, .flags = DEV },
};

/* ---- the cycles of controller 8 ---- */

struct got {
	char text[32];
	u64 cycle;
};

static struct got got[32];
static u32 ngot, ndone;

static void got_served(void *ctx, u16 dst, const u8 *name, u32 instance, u64 c, u64 cycle)
{
	if (ngot == ARRAY_SIZE(got))
		abort();
	snprintf(got[ngot].text, sizeof(got[ngot].text), "%u:%.3s%u:%llu", dst, name, instance, (ull)c);
	got[ngot++].cycle = cycle;
}

static void got_deliver(void *ctx, u16 dst, u16 src, u64 c, u32 len, u64 cycle,
			const struct pw_fabric_times *t)
{
}

static void got_done(void *ctx, u16 src, u64 c, u64 cycle, const struct pw_fabric_times *t)
{
	ndone++;
}

static const struct pw_fabric_ops got_ops = {
	.deliver = got_deliver, .done = got_done, .served = got_served,
};

#define OWN_DELAYS 80u

static struct pw_fabric *F;
static void *procs;

/* processes wrk 0, wrk 1 and srv 0 at a port of 16 */
static void open_three(u32 flags, u16 port)
{
	struct pw_fabric_params p = { .k = 4, .flags = flags };

	F = pw_fabric_init(malloc(pw_fabric_size(&p)), &p, &got_ops, NULL);
	procs = malloc(pw_fabric_procs_size(F));
	pw_fabric_procs(F, procs);
	if (pw_fabric_proc(F, port, (u8 *)"wrk", 0) || pw_fabric_proc(F, port, (u8 *)"wrk", 1) ||
	    pw_fabric_proc(F, port, (u8 *)"srv", 0))
		abort();
	ngot = 0;
	ndone = 0;
}

static void close_three(void)
{
	free(procs);
	free(F);
}

static void send_to(u16 src, u16 dst, const char *name, u32 instance, u32 type, u64 c, u32 len)
{
	struct pw_fabric_to t = { { name[0], name[1], name[2] }, instance, type };

	if (pw_fabric_send_to(F, src, dst, PW_FABRIC_AUTO, len, c, NULL, &t))
		abort();
}

static void to(u16 src, const char *name, u32 instance, u32 type, u64 c, u32 len)
{
	send_to(src, 5, name, instance, type, c, len);
}

static void run_for(u64 cycles)
{
	u64 until = pw_fabric_now(F) + cycles;

	while (pw_fabric_next(F) != PW_FABRIC_NEVER && pw_fabric_now(F) < until)
		pw_fabric_run(F, until, U32_MAX);
}

/* @want: what was served in which order */
static void served_was(const char *want, const char *what, const char *how)
{
	char text[512] = "";
	u32 i;

	for (i = 0; i < ngot; i++) {
		strcat(text, i ? " " : "");
		strcat(text, got[i].text);
	}
	ok(!strcmp(text, want), "%s: %s", how, what);
	if (strcmp(text, want))
		diag("served %s, not %s", text, want);
}

/* from the end of a reading to that of the next one: request, controller 8, a get */
#define READ(words) (CYC_REQUEST - 1 + CYC_C8_GRANT + (words) * CYC_WORD)
/* controller 8 passes a message that does not match, and one that was served before */
#define OTHER	2
#define SERVED	3

static u64 after(u32 i)
{
	return got[i].cycle - got[i - 1].cycle;
}

static void named(u32 flags, const char *how)
{
	open_three(flags, 5);
	to(3, "wrk", 0, 7, 1, 4);
	run_for(5000);
	served_was("5:wrk0:1", "a message is read by the process that it names", how);
	ok(ndone == 1, "%s: and released", how);
	to(3, "srv", 0, 9, 2, 4);
	to(3, "wrk", 1, 9, 3, 4);
	to(3, "wrk", 0, 9, 4, 4);
	run_for(5000);
	served_was("5:wrk0:1 5:srv0:2 5:wrk1:3 5:wrk0:4", "each by its own", how);
	ok(ndone == 4, "%s: all are released", how);
	close_three();
}

/* all instances of a name once each; a process that does not exist */
static void instances(u32 flags, const char *how)
{
	open_three(flags, 5);
	to(2, "wrk", PW_FABRIC_ANY, 1, 1, 4);
	to(2, "srv", 4, 1, 2, 4);
	to(2, "xyz", PW_FABRIC_ANY, 1, 3, 4);
	run_for(5000);
	served_was("5:wrk0:1 5:wrk1:1", "each instance reads a message for the name once", how);
	ok(after(1) == READ(1) + 2 * CYC_C8_SOURCE, "%s: the second one after %llu cycles: two sources passed",
	   how, (ull)after(1));
	ok(ndone == 3, "%s: messages without a reader are dropped", how);
	close_three();
}

/*
 * While srv 0 reads a long message, one of type 2 from port 9 and then one from port 1 arrive for
 * wrk 0, and between them one of type 3 from port 9 for wrk 1.
 */
static void order(u32 flags, const char *how)
{
	u32 kept = flags & DEV ? 0 : 1;

	open_three(flags, 5);
	to(0, "srv", 0, 1, 1, 1600);
	run_for(11000);
	to(9, "wrk", 0, 2, 2, 4);
	to(9, "wrk", 1, 3, 3, 4);
	run_for(400);
	to(1, "wrk", 0, 2, 4, 4);
	ok(!ngot, "%s: a long message is being read", how);
	run_for(20000);
	served_was("5:srv0:1 5:wrk0:4 5:wrk1:3 5:wrk0:2",
		   "wrk 0 asks for the type of its oldest message and is given that of the lowest port", how);
	/* controller 10 has not dropped the first one yet, not in a device either */
	ok(after(1) - READ(1) - CYC_C8_SOURCE == OTHER, "%s: a message that does not match is passed in %llu cycles",
	   how, (ull)(after(1) - READ(1) - CYC_C8_SOURCE));
	if (kept) {
		ok(after(2) == READ(1) + 9 * CYC_C8_SOURCE + 3 * OTHER,
		   "%s: of nine sources and three messages passed", how);
		ok(after(3) == READ(1) + 9 * CYC_C8_SOURCE + OTHER + SERVED,
		   "%s: one of them served before", how);
	}
	close_three();
}

/*
 * A port does not read its own broadcast, not even one that gets complete after a process has
 * asked for another message of the same type, while controller 8 looks for that. Messages get
 * complete 55 cycles apart: at port 14 the search has not come to the port's own messages then.
 */
static void own_broadcast(u32 flags, const char *how)
{
	u32 delay, i, own = 0, others = 0;

	for (delay = 0; delay < OWN_DELAYS; delay++) {
		open_three(flags, 14);
		send_to(15, 14, "wrk", 0, 2, 2, 4);
		run_for(delay);
		send_to(14, PW_FABRIC_ALL, "wrk", PW_FABRIC_ANY, 2, 1, 4);
		run_for(5000);
		for (i = 0; i < ngot; i++) {
			own += !strcmp(got[i].text, "14:wrk0:1") || !strcmp(got[i].text, "14:wrk1:1");
			others += !strcmp(got[i].text, "14:wrk0:2");
		}
		close_three();
	}
	ok(!own && others == OWN_DELAYS, "%s: %u broadcasts, read %u times at their own port; %u other messages read",
	   how, OWN_DELAYS, own, others);
}

static void refused(void)
{
	u32 i;

	open_three(DEV | PW_FABRIC_F_FAST, 5);
	ok(pw_fabric_proc(F, 16, (u8 *)"wrk", 0) == -EINVAL &&
	   pw_fabric_proc(F, 0, (u8 *)"wrk", PW_FABRIC_ANY) == -EINVAL &&
	   pw_fabric_proc(F, 5, (u8 *)"wrk", 1) == -EEXIST,
	   "wrong ports, instances and a process twice are refused");
	for (i = 0; i < PW_FABRIC_PROCS; i++)
		pw_fabric_proc(F, 6, (u8 *)"wrk", i);
	ok(pw_fabric_proc(F, 6, (u8 *)"wrk", i) == -ENOSPC, "and more than %u at a port", i);
	close_three();
}

static const struct {
	const char *how;
	u32 flags;
} machine[] = {
	{ "rtl, device", DEV },
	{ "fast, device", DEV | PW_FABRIC_F_FAST },
	{ "rtl, published", 0 },
	{ "fast, published", PW_FABRIC_F_FAST },
};

int main(int argc, char **argv)
{
	static const u32 loads[] = { 100, 500, 1000 };
#if defined(__SANITIZE_ADDRESS__)
	u64 big = tap_scaled(8000), small = tap_scaled(12000);
#else
	u64 big = tap_scaled(TAP_EMULATED ? 3000 : 100000), small = 2 * big;
#endif
	struct pw_topo *topo = topo_make_mc("torus:4x4", CONNS, 5);
	struct scene s;
	size_t i, j;

	only = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	if (!topo)
		abort();
	for (i = 0; i < ARRAY_SIZE(machine); i++) {
		named(machine[i].flags, machine[i].how);
		instances(machine[i].flags, machine[i].how);
		order(machine[i].flags, machine[i].how);
		own_broadcast(machine[i].flags, machine[i].how);
	}
	refused();
	for (i = 0; i < ARRAY_SIZE(scenes); i++) {
		for (j = 0; j < ARRAY_SIZE(loads); j++) {
			s = scenes[i];
			s.t.load = loads[j];
			s.t.k = 4;
			s.t.ports = 16;
			scene(&s, big, 100 * i + j);
			s.t.k = 2;
			s.t.ports = 4;
			scene(&s, small, 10000 + 100 * i + j);
		}
		topology = "torus:4x4";
		s.topo = topo;
		s.t.topo = topo;
		s.t.k = topo->paths;
		s.t.ports = topo->ports;
		s.t.mcast = 30;
		if (!lossy(&s))
			s.resend = INT_MAX;
		scene(&s, big, 20000 + i);
	}
	free(topo);
	diag("%llu cycles stepped, %llu messages read, %llu of them after a younger one, state compared %llu times, %llu timed out",
	     (ull)sum.cycles, (ull)sum.reads, (ull)sum.overtaken, (ull)sum.compared, (ull)sum.lost);
	ok(only || (sum.reads && sum.overtaken && sum.refused && sum.resent),
	   "messages overtook each other, cells were refused and sent again");
	return tap_done();
}
