// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel itself counts time for, on a SAN in lockstep: lifetimes of ESP bindings,
 * cycles and intervals of POETS reports follow the clock of the SAN, and go on without a jump
 * when the SAN enters or leaves lockstep.
 */
#include "pwpoets.h"
#include "pwesp.h"
#include "pwsan.h"
#include "pwharness.h"

#define USEC		1000ULL
#define MSEC		1000000ULL
#define SEC		(1000 * MSEC)
#define HOUR		3600000U	/* milliseconds */

static struct pw_genl genl;
static int clk, raw;

static int set_clock(uint32_t clock)
{
	return pw_gsan_set(&genl, PACKETWAY_A_SAN_CLOCK, clock);
}

static uint64_t now(void)
{
	struct packetway_time_get g = { .size = sizeof(g) };

	return ioctl(clk, PACKETWAY_IOC_TIME_GET, &g) ? 0 : g.out_now;
}

static int pass(uint64_t ns)
{
	struct packetway_time_wait t = {
		.size = sizeof(t), .flags = PACKETWAY_TIME_WAIT_FOR, .until = ns,
	};

	return ioctl(clk, PACKETWAY_IOC_TIME_WAIT, &t) ? -errno : 0;
}

/* no sleep: that would be a block, in which time may run */
static void spin(unsigned int ms)
{
	double end = pw_now() + ms / 1e3;

	while (pw_now() < end)
		;
}

/* the calling thread is a participant */
static int begin(void)
{
	struct packetway_time_open o = { .size = sizeof(o), .ifindex = w.idx[0] };
	struct packetway_time_join j = { .size = sizeof(j) };

	clk = ioctl(w.dev[0], PACKETWAY_IOC_TIME_OPEN, &o);
	return clk < 0 || ioctl(clk, PACKETWAY_IOC_TIME_JOIN, &j) ? -errno : 0;
}

/* the participant leaves, too */
static int end(void)
{
	close(clk);
	return set_clock(PACKETWAY_CLOCK_FREE);
}

FIXTURE(clock) {
};

FIXTURE_SETUP(clock)
{
	struct packetway_info info = { .size = sizeof(info) };
	int err;

	ASSERT_EQ(0, world_make(3));
	ASSERT_EQ(0, pw_genl_open(&genl, w.ns));
	raw = pw_timed_open(w.ns, w.idx[1]);
	ASSERT_GE(raw, 0);
	ASSERT_EQ(0, ioctl(w.dev[0], PACKETWAY_IOC_GET_INFO, &info));
	err = set_clock(PACKETWAY_CLOCK_LOCKSTEP);
	if (!(info.out_features & PACKETWAY_FEATURE_TIME))
		SKIP(return, "this kernel has no CONFIG_PREEMPT_NOTIFIERS");
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, begin());
}

FIXTURE_TEARDOWN(clock)
{
	close(clk);
}

/* ---- ESP ---- */

static int esp_lifetime(uint32_t ms)
{
	struct pw_attr a[] = { { PACKETWAY_A_ESP_IFINDEX, w.idx[2] }, { PACKETWAY_A_ESP_LIFETIME, ms } };

	return pw_genl_ask(&genl, PACKETWAY_CMD_ESP_SET, NLM_F_ACK, PACKETWAY_A_ESP, a, 2);
}

static uint64_t bindings(void)
{
	struct pw_attr a = { PACKETWAY_A_ESP_IFINDEX, w.idx[2] };

	if (pw_genl_ask(&genl, PACKETWAY_CMD_ESP_GET, 0, PACKETWAY_A_ESP, &a, 1))
		return ~0ULL;
	return pw_genl_number((void *)genl.nl.buf, PACKETWAY_A_ESP, PACKETWAY_A_ESP_USED);
}

/* s1 makes a binding at s2; a millisecond is enough for the message */
static int make_binding(uint64_t tag)
{
	uint8_t b[128];
	int len = esp_msg(b, 3, 2, &COUNT(EXEC, tag, BIG));

	return send(raw, b, len, 0) == len ? pass(MSEC) : -errno;
}

TEST_F(clock, esp_lifetimes_are_virtual)
{
	uint64_t t;

	/* real time does not count */
	ASSERT_EQ(0, esp_lifetime(50));
	ASSERT_EQ(0, make_binding(1));
	EXPECT_EQ(1, bindings());
	t = now();
	spin(200);
	EXPECT_EQ(t, now());
	EXPECT_EQ(1, bindings());
	/* virtual time does; the message took less than the millisecond */
	ASSERT_EQ(0, pass(48 * MSEC));
	EXPECT_EQ(1, bindings());
	ASSERT_EQ(0, pass(2 * MSEC));
	EXPECT_EQ(0, bindings());

	ASSERT_EQ(0, esp_lifetime(HOUR));
	ASSERT_EQ(0, make_binding(2));
	ASSERT_EQ(0, pass(3598 * SEC));
	EXPECT_EQ(1, bindings());
	ASSERT_EQ(0, pass(2 * SEC));
	EXPECT_EQ(0, bindings());
}

TEST_F(clock, esp_lifetimes_over_a_change_of_the_clock)
{
	/* virtual time is far ahead of the host's, then likewise behind it */
	ASSERT_EQ(0, pass(1000000 * SEC));
	ASSERT_EQ(0, esp_lifetime(HOUR));
	ASSERT_EQ(0, make_binding(1));
	ASSERT_EQ(0, pass(3000 * SEC));
	ASSERT_EQ(0, end());
	EXPECT_EQ(1, bindings());
	ASSERT_EQ(0, set_clock(PACKETWAY_CLOCK_LOCKSTEP));
	ASSERT_EQ(0, begin());
	EXPECT_EQ(1, bindings());
	/* 600 s are left but for what passed on the host */
	ASSERT_EQ(0, pass(300 * SEC));
	EXPECT_EQ(1, bindings());
	ASSERT_EQ(0, pass(300 * SEC));
	EXPECT_EQ(0, bindings());
}

/* ---- POETS ---- */

/* a softswitch with one device at s1 runs; what the program wrote at START in @start */
static int run_switch(uint32_t interval, uint64_t *start)
{
	static const uint32_t pins[] = { 1 }, edges[] = { 1 };
	struct packetway_poets_set s = {
		.size = sizeof(s), .flags = PACKETWAY_POETS_SET_INTERVAL, .interval = interval,
	};
	EVENT ev;

	if (open_switch(1, 1, 1) < 0 || ioctl(w.fd[1], PACKETWAY_IOC_POETS_SET, &s) ||
	    load(w.fd[1], 1, pins, 1, edges) < 0)
		return -1;
	*start = now();
	if (simple(w.fd[1], PACKETWAY_IOC_POETS_START) || barrier(1) || release(2))
		return -2;
	return next_event(w.fd[1], &ev, SOON) == PACKETWAY_POETS_EV_RELEASED ? 0 : -3;
}

/* the cycles of the next report */
static int next_report(uint32_t *cycles)
{
	EVENT ev;

	if (read(w.ms, &ev, sizeof(ev)) != sizeof(ev) || ev.type != PACKETWAY_POETS_EV_MOTHERSHIP ||
	    ev.sw_addr != PW_POETS_SW_INSTR)
		return -1;
	*cycles = ((uint32_t *)ev.payload)[1];
	return 0;
}

TEST_F(clock, poets_cycles_are_virtual)
{
	uint64_t start, sent, got;
	uint32_t cycles;
	int i;

	ASSERT_EQ(0, run_switch(0, &start));
	for (i = 0; i < 3; i++) {
		spin(20);
		ASSERT_EQ(0, pass(12345678 * USEC + i));
		sent = now();
		ASSERT_EQ(0, send_pkt(w.ms, 2, PW_POETS_CNC | PW_POETS_OP_INSTR << 16, 0, NULL, 0));
		ASSERT_EQ(0, next_report(&cycles));
		got = now();
		/* the report was made when the request arrived */
		EXPECT_GT(got, sent);
		EXPECT_GE(cycles, sent / USEC - start / USEC);
		EXPECT_LE(cycles, got / USEC - start / USEC);
		EXPECT_GT(got / USEC - sent / USEC, 0);
		start += cycles * USEC;
	}
}

TEST_F(clock, poets_intervals_are_virtual)
{
	uint64_t start, last = 0, got;
	uint32_t cycles;
	int i;

	/* a quarter of an hour each, too long to wait for in real time */
	ASSERT_EQ(0, run_switch(HOUR / 4, &start));
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, next_report(&cycles));
		got = now();
		if (i) {
			/* an interval ends with a cycle of the fabric */
			EXPECT_GE(cycles, HOUR / 4 * 1000);
			EXPECT_LE(cycles, HOUR / 4 * 1000 + 1);
			EXPECT_GE(got - last, HOUR / 4 * MSEC);
			EXPECT_LE(got - last, HOUR / 4 * MSEC + 2 * USEC);
		}
		last = got;
		/* the clock stands still while the report is read */
		spin(5);
		EXPECT_EQ(got, now());
	}
	close(w.fd[1]);
	ASSERT_EQ(0, pass(HOUR * MSEC));
	EXPECT_EQ(0, get(w.ms).out_queued);
}

/* the timer of reports outlives its clock, and the clock its participants */
TEST_F(clock, poets_intervals_over_a_change_of_the_clock)
{
	uint64_t start, reports;
	uint32_t cycles;

	ASSERT_EQ(0, run_switch(20, &start));
	ASSERT_EQ(0, next_report(&cycles));
	ASSERT_EQ(0, end());
	ASSERT_EQ(0, next_report(&cycles));
	ASSERT_EQ(0, next_report(&cycles));
	EXPECT_GE(cycles, 19000);
	ASSERT_EQ(0, set_clock(PACKETWAY_CLOCK_LOCKSTEP));
	usleep(100000);
	/* no participants: time does not run for the reports alone */
	reports = stat_of(1, "poets_reports_sent");
	usleep(300000);
	EXPECT_LE(stat_of(1, "poets_reports_sent"), reports + 1);
	while (get(w.ms).out_queued)
		ASSERT_EQ(0, next_report(&cycles));
	ASSERT_EQ(0, begin());
	ASSERT_EQ(0, next_report(&cycles));
	ASSERT_EQ(0, next_report(&cycles));
	EXPECT_GE(cycles, 20000);
	EXPECT_LE(cycles, 20001);
	ASSERT_EQ(0, end());
}

TEST_HARNESS_MAIN
