// SPDX-License-Identifier: GPL-2.0
/*
 * POETS on stations: what is refused, the life of a softswitch, the receive
 * order, reports and logs, queues that fill, hostile packets, owners and stations
 * that go in the middle. And three applications: a token round a ring, heat on a
 * grid, shortest paths.
 *
 * Stations s0, s1, ... in one namespace; the mothership is at s0.
 */
#include "pwpoets.h"
#include "pwflood.h"
#include "pwsan.h"
#include "pwharness.h"

#include <signal.h>
#include <sys/wait.h>

/* a softswitch with 3 devices of 2, 1, 0 pins and 3, 1, 2 edges runs at s1 */
static int small_machine(void)
{
	static const uint32_t pins[] = { 2, 1, 0 }, edges[] = { 3, 1, 2 };
	EVENT ev;

	if (world_make(2) || open_switch(1, 3, 3) < 0 || load(w.fd[1], 3, pins, 3, edges) ||
	    simple(w.fd[1], PACKETWAY_IOC_POETS_START) || barrier(1) || release(2))
		return -1;
	return next_event(w.fd[1], &ev, SOON) == PACKETWAY_POETS_EV_RELEASED ? 0 : -1;
}

/* --- refused ------------------------------------------------------------------- */

TEST(refused)
{
	static const uint32_t pins[] = { 2, 257 }, edges[] = { 3, 0x1000001 };
	struct packetway_poets_open o = { .size = sizeof(o), .devices = 4, .pins = 4 };
	struct packetway_poets_set s = { .size = sizeof(s) };
	struct packetway_poets_log l = { .size = sizeof(l), .len = 221 };
	char big[sizeof(o) + 8] = {};
	int fd, unbound;
	EVENT ev;

	ASSERT_EQ(0, world_make(2));
	unbound = open("/dev/" PACKETWAY_DEVICE, O_RDWR);
#define EXPECT_ERR(e, call) \
	do { errno = 0; EXPECT_EQ(-1, call); EXPECT_EQ(e, errno); } while (0)
	EXPECT_ERR(ENOTCONN, ioctl(unbound, PACKETWAY_IOC_POETS_OPEN, &o));
	EXPECT_ERR(ENOTTY, ioctl(unbound, PACKETWAY_IOC_POETS_LOAD, &o));
	o.size = offsetof(struct packetway_poets_open, task) - 1;
	EXPECT_ERR(EINVAL, ioctl(w.dev[1], PACKETWAY_IOC_POETS_OPEN, &o));
	o.size = sizeof(big);
	memcpy(big, &o, sizeof(o));
	big[sizeof(o)] = 1;
	EXPECT_ERR(E2BIG, ioctl(w.dev[1], PACKETWAY_IOC_POETS_OPEN, big));
#define OPEN(...) poets_open(1, (struct packetway_poets_open) { __VA_ARGS__ })
	EXPECT_ERR(EINVAL, OPEN(.flags = 8, .devices = 1));
	EXPECT_ERR(EINVAL, OPEN(.devices = 1, .task = 1));
	EXPECT_ERR(EINVAL, OPEN(.flags = PACKETWAY_POETS_TASK, .devices = 1, .task = 64));
	EXPECT_ERR(EINVAL, OPEN(.devices = 1, .__reserved2 = 1));
	EXPECT_ERR(EINVAL, OPEN(.devices = 0));
	EXPECT_ERR(EINVAL, OPEN(.devices = 65536));
	EXPECT_ERR(EINVAL, OPEN(.devices = 1, .pins = 257));
	EXPECT_ERR(EINVAL, OPEN(.devices = 65535, .pins = PACKETWAY_POETS_PINS_MAX + 1));
	EXPECT_ERR(EINVAL, OPEN(.devices = 1, .queue = PACKETWAY_POETS_QUEUE_MAX + 1));
	EXPECT_ERR(EINVAL, OPEN(.devices = 1, .mothership = PW_ADDR_BROADCAST));
	EXPECT_ERR(EINVAL, OPEN(.devices = 1, .interval = PACKETWAY_POETS_INTERVAL_MAX + 1));
	EXPECT_ERR(EINVAL, OPEN(.devices = 1, .__reserved = 1));
	EXPECT_ERR(EINVAL, OPEN(.flags = PACKETWAY_POETS_MOTHERSHIP, .devices = 1));
	EXPECT_ERR(EBUSY, poets_open(0, (struct packetway_poets_open) {
		.flags = PACKETWAY_POETS_MOTHERSHIP }));
	fd = OPEN(.devices = 2, .pins = 3, .flags = PACKETWAY_POETS_NONBLOCK);
	ASSERT_GE(fd, 0);
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	EXPECT_ERR(EBUSY, OPEN(.devices = 1));
	/* devices */
	EXPECT_ERR(EINVAL, load(fd, 0, pins, 0, edges));
	EXPECT_ERR(EINVAL, load(fd, 1, pins + 1, 257, edges));
	EXPECT_ERR(EINVAL, load(fd, 1, pins, 1, edges));
	EXPECT_ERR(EINVAL, load(fd, 1, pins, 3, edges));
	EXPECT_ERR(EINVAL, load(fd, 1, pins, 2, edges));
	EXPECT_ERR(EFAULT, load(fd, 1, NULL, 2, edges));
	EXPECT_EQ(0, get(fd).out_devices);
	EXPECT_EQ(0, load(fd, 1, pins, 2, (uint32_t[]){ 3, 0x1000000 }));
	EXPECT_ERR(EBUSY, load(fd, 1, pins, 2, (uint32_t[]){ 1, 1 }));
	/* states */
	EXPECT_ERR(EPROTO, send_pkt(fd, 1, DEVICE(0), 0, NULL, 0));
	EXPECT_EQ(0, simple(fd, PACKETWAY_IOC_POETS_START));
	EXPECT_ERR(EPROTO, simple(fd, PACKETWAY_IOC_POETS_START));
	EXPECT_ERR(EPROTO, load(fd, 1, (uint32_t[]){ 1 }, 1, (uint32_t[]){ 1 }));
	EXPECT_ERR(EPROTO, send_pkt(fd, 1, DEVICE(0), 0, NULL, 0));
	/* sizes, addresses, flags */
	EXPECT_ERR(EAGAIN, read(fd, &ev, sizeof(ev)));
	EXPECT_ERR(EINVAL, read(fd, &ev, sizeof(ev) - 1));
	EXPECT_ERR(EINVAL, write(w.ms, &ev, 71));
	EXPECT_ERR(EINVAL, write(w.ms, &ev, 0));
	EXPECT_ERR(EINVAL, send_pkt(w.ms, 0, 0, 0, NULL, 0));
	EXPECT_ERR(EINVAL, send_pkt(w.ms, 0xc00000, 0, 0, NULL, 0));
	EXPECT_ERR(EINVAL, send_pkt(w.ms, 2, 0, 0, NULL, 57));
	EXPECT_ERR(EOPNOTSUPP, simple(w.ms, PACKETWAY_IOC_POETS_START));
	EXPECT_ERR(EINVAL, ioctl(fd, PACKETWAY_IOC_POETS_SET, &s));
	s.flags = PACKETWAY_POETS_SET_MOTHERSHIP;
	s.mothership = PW_ADDR_HEYYOU;
	EXPECT_ERR(EINVAL, ioctl(fd, PACKETWAY_IOC_POETS_SET, &s));
	EXPECT_ERR(EINVAL, ioctl(fd, PACKETWAY_IOC_POETS_LOG, &l));
	EXPECT_ERR(ENOTTY, ioctl(fd, PACKETWAY_IOC_BIND, &l));
	/* another station, and again when it is closed */
	close(fd);
	fd = OPEN(.devices = 1);
	EXPECT_GE(fd, 0);
	ASSERT_EQ(0, setgid(65534));
	ASSERT_EQ(0, setuid(65534));
	EXPECT_ERR(EPERM, poets_open(0, (struct packetway_poets_open) { .devices = 1 }));
	/* the descriptor itself is the permission */
	EXPECT_EQ(0, load(fd, 1, (uint32_t[]){ 0 }, 0, NULL));
}

/* --- the softswitch --------------------------------------------------------------- */

TEST(life)
{
	static const uint32_t pins[] = { 1 }, edges[] = { 1 };
	EVENT ev;

	ASSERT_EQ(0, world_make(2));
	ASSERT_GE(open_switch(1, 1, 1), 0);
	/* loading, barrier: everything is dropped but the release */
	ASSERT_EQ(0, send_pkt(w.ms, 2, DEVICE(0), 0, NULL, 0));
	EXPECT_EQ(1, pw_stat_wait(w.sock, "s1", "poets_drop_loading", 1));
	ASSERT_EQ(0, load(w.fd[1], 1, pins, 1, edges));
	ASSERT_EQ(0, simple(w.fd[1], PACKETWAY_IOC_POETS_START));
	EXPECT_EQ(PACKETWAY_POETS_BARRIER, get(w.fd[1]).out_state);
	ASSERT_EQ(PACKETWAY_POETS_EV_MOTHERSHIP, next_event(w.ms, &ev, SOON));
	EXPECT_EQ(PW_POETS_SW_BARRIER_REACHED, ev.sw_addr);
	EXPECT_EQ(2, ev.pin_addr);
	EXPECT_EQ(2, ev.src);
	EXPECT_EQ(0, ev.len);
	ASSERT_EQ(0, send_pkt(w.ms, 2, DEVICE(0), 0, NULL, 0));
	EXPECT_EQ(1, pw_stat_wait(w.sock, "s1", "poets_drop_barrier", 1));
	ASSERT_EQ(0, release(2));
	ASSERT_EQ(PACKETWAY_POETS_EV_RELEASED, next_event(w.fd[1], &ev, SOON));
	EXPECT_EQ(PACKETWAY_POETS_RUNNING, get(w.fd[1]).out_state);
	/* a packet for a pin, and one back to the supervisor */
	ASSERT_EQ(0, send_pkt(w.ms, 2, DEVICE(0), PIN(0, 0), "hello", 5));
	ASSERT_EQ(PACKETWAY_POETS_EV_PIN, next_event(w.fd[1], &ev, SOON));
	EXPECT_EQ(5, ev.len);
	EXPECT_EQ(0, memcmp(ev.payload, "hello", 6));
	EXPECT_EQ(1, ev.src);
	ASSERT_EQ(0, send_pkt(w.fd[1], 1, PW_POETS_SW_TO_SUPERVISOR | TASK << 24, 7, "boss", 4));
	ASSERT_EQ(PACKETWAY_POETS_EV_MOTHERSHIP, next_event(w.ms, &ev, SOON));
	EXPECT_EQ(7, ev.pin_addr);
	EXPECT_EQ(0, memcmp(ev.payload, "boss", 5));
	/* the supervisor's answer: implicit, without CNC */
	ASSERT_EQ(0, send_pkt(w.ms, 2, DEVICE(0) | PW_POETS_SW_SUPERVISOR_REPLY, 0, "yes", 3));
	ASSERT_EQ(PACKETWAY_POETS_EV_IMPL, next_event(w.fd[1], &ev, SOON));
	/* a control packet for OnCtl */
	ASSERT_EQ(0, send_pkt(w.ms, 2, DEVICE(0) | PW_POETS_CNC | 0x42 << 16, 0, NULL, 0));
	ASSERT_EQ(PACKETWAY_POETS_EV_CTL, next_event(w.fd[1], &ev, SOON));
	EXPECT_EQ(0x42, ev.opcode);
	/* to itself */
	ASSERT_EQ(0, send_pkt(w.fd[1], 2, DEVICE(0), PIN(0, 0), "me", 2));
	ASSERT_EQ(PACKETWAY_POETS_EV_PIN, next_event(w.fd[1], &ev, SOON));
	EXPECT_EQ(2, ev.src);
	/* a report on request: 40 bytes */
	ASSERT_EQ(0, send_pkt(w.ms, 2, PW_POETS_CNC | PW_POETS_OP_INSTR << 16, 0, NULL, 0));
	ASSERT_EQ(PACKETWAY_POETS_EV_MOTHERSHIP, next_event(w.ms, &ev, SOON));
	EXPECT_EQ(PW_POETS_SW_INSTR, ev.sw_addr);
	EXPECT_EQ(40, ev.len);
	EXPECT_EQ(8, ((uint32_t *)ev.payload)[2]);	/* received, the request too */
	EXPECT_EQ(4, ((uint32_t *)ev.payload)[3]);	/* for devices */
	EXPECT_EQ(2, ((uint32_t *)ev.payload)[4]);	/* sent */
	EXPECT_EQ(1, ((uint32_t *)ev.payload)[5]);	/* to the supervisor */
	/* stop, and anew */
	ASSERT_EQ(0, send_pkt(w.ms, 2, PW_POETS_SW_STOP, 0, NULL, 0));
	ASSERT_EQ(PACKETWAY_POETS_EV_STOPPED, next_event(w.fd[1], &ev, SOON));
	ASSERT_EQ(0, send_pkt(w.ms, 2, DEVICE(0), PIN(0, 0), NULL, 0));
	EXPECT_EQ(1, pw_stat_wait(w.sock, "s1", "poets_drop_stopped", 1));
	errno = 0;
	EXPECT_EQ(-1, send_pkt(w.fd[1], 1, DEVICE(0), 0, NULL, 0));
	EXPECT_EQ(EPROTO, errno);
	ASSERT_EQ(0, simple(w.fd[1], PACKETWAY_IOC_POETS_RESET));
	EXPECT_EQ(PACKETWAY_POETS_LOADING, get(w.fd[1]).out_state);
	ASSERT_EQ(0, load(w.fd[1], 1, pins, 1, edges));
	ASSERT_EQ(0, simple(w.fd[1], PACKETWAY_IOC_POETS_START));
	ASSERT_EQ(0, barrier(1));
	/* an assertion fails: everything stops, the mothership knows */
	ASSERT_EQ(0, simple(w.fd[1], PACKETWAY_IOC_POETS_KILL));
	ASSERT_EQ(PACKETWAY_POETS_EV_MOTHERSHIP, next_event(w.ms, &ev, SOON));
	EXPECT_EQ(0xc0ff0000, ev.sw_addr);
	EXPECT_EQ(PACKETWAY_POETS_STOPPED, get(w.fd[1]).out_state);
}

struct drop {
	const char *counter;
	uint32_t sw, pin;
};

TEST(receive_order)
{
	static const struct drop drops[] = {
		{ "poets_drop_device", DEVICE(3), 0 },
		{ "poets_drop_device", DEVICE(0xfffe), 0 },
		{ "poets_drop_pin", DEVICE(0), PIN(2, 0) },
		{ "poets_drop_pin", DEVICE(2), PIN(0, 0) },
		{ "poets_drop_edge", DEVICE(0), PIN(0, 3) },
		{ "poets_drop_edge", DEVICE(0), PIN(1, 1) },
		{ "poets_drop_edge", DEVICE(1), PIN(0, 0xffffff) },
		{ "poets_drop_opcode", PW_POETS_CNC | 0xf0 << 16, 0 },
		{ "poets_drop_opcode", PW_POETS_CNC | PW_POETS_OP_BARRIER << 16, 0 },
		{ "poets_drop_opcode", PW_POETS_CNC | PW_POETS_OP_LOG << 16, 0 },
		{ "poets_drop_opcode", PW_POETS_CNC | PW_POETS_OP_KILL << 16, 0 },
		{ "poets_drop_mothership", PW_POETS_SW_INSTR, 0 },
		{ "poets_drop_mothership", PW_POETS_MOTHERSHIP, 0 },
	};
	uint64_t before, told;
	uint8_t msg[128];
	EVENT ev[8];
	double start;
	int i, raw, n;

	ASSERT_EQ(0, small_machine());
	start = pw_now();
	for (i = 0; i < ARRAY_SIZE(drops); i++) {
		before = stat_of(1, drops[i].counter);
		ASSERT_EQ(0, send_pkt(w.ms, 2, drops[i].sw, drops[i].pin, NULL, 0));
		EXPECT_EQ(before + 1, pw_stat_wait(w.sock, "s1", drops[i].counter, before + 1)) {
			TH_LOG("row %d: %s", i, drops[i].counter);
		}
	}
	/* ten are told, and one more for each tenth of a second that it took; no others */
	told = stat_of(1, "poets_logs_sent");
	EXPECT_GE(told, 10);
	EXPECT_LE(told, 10 + (pw_now() - start) * 10);
	ASSERT_EQ(PACKETWAY_POETS_EV_MOTHERSHIP, next_event(w.ms, &ev[0], SOON));
	EXPECT_EQ(PW_POETS_SW_LOG, ev[0].sw_addr);
	EXPECT_EQ(0, ev[0].payload[0]);
	EXPECT_EQ(0, strncmp((char *)ev[0].payload + 1, "drop: device sw 03000003", 24));
	EXPECT_EQ(0, next_event(w.fd[1], ev, NEVER));
	/* too short, too long */
	raw = pw_packet_open(w.ns, SOCK_RAW, ETH_P_PACKETWAY, w.idx[0]);
	ASSERT_GE(raw, 0);
	memset(msg, 0, sizeof(msg));
	n = pw_msg(msg, 2, 1, PW_PT_POETS, 0, 0, NULL, 7);
	ASSERT_EQ(n, send(raw, msg, n, 0));
	memset(msg, 0, sizeof(msg));
	n = pw_msg(msg, 2, 1, PW_PT_POETS, 0, 0, NULL, 65);
	ASSERT_EQ(n, send(raw, msg, n, 0));
	EXPECT_EQ(2, pw_stat_wait(w.sock, "s1", "poets_drop_malformed", 2));
	/* words of a big-endian machine say the same */
	memset(msg, 0, sizeof(msg));
	pw_put(msg + 16, 4, DEVICE(0));
	pw_put(msg + 20, 4, PIN(0, 2));
	pw_put(msg + 24, 4, 0x01020304);
	n = pw_msg(msg, 2, 1, PW_PT_POETS, 0, 0, NULL, 12);
	msg[8] |= PW_E_32 << 4;
	ASSERT_EQ(n, send(raw, msg, n, 0));
	ASSERT_EQ(PACKETWAY_POETS_EV_PIN, next_event(w.fd[1], ev, SOON));
	EXPECT_EQ(2, ev[0].edge);
	EXPECT_EQ(0, memcmp(ev[0].payload, "\4\3\2\1", 4));
	/* a broadcast: every device for itself; the pin is there for two of them */
	ASSERT_EQ(0, send_pkt(w.ms, 2, DEVICE(0xffff) | PW_POETS_CNC | 7 << 16, 0, "all", 3));
	ASSERT_EQ(0, send_pkt(w.ms, 2, DEVICE(0xffff), PIN(0, 1), "pin", 3));
	ASSERT_EQ(0, send_pkt(w.ms, 2, PW_POETS_SW_SUPERVISOR_BCAST, 0, NULL, 0));
	EXPECT_EQ(1, next_event(w.fd[1], ev, SOON) == PACKETWAY_POETS_EV_CTL);
	for (n = 1; n < 8; n++)
		ASSERT_LT(0, next_event(w.fd[1], &ev[n], SOON));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(PACKETWAY_POETS_EV_CTL, ev[i].type);
		EXPECT_EQ(i, ev[i].device);
		EXPECT_EQ(7, ev[i].opcode);
	}
	EXPECT_EQ(PACKETWAY_POETS_EV_PIN, ev[3].type);
	EXPECT_EQ(0, ev[3].device);
	EXPECT_EQ(1, ev[4].device);
	EXPECT_EQ(1, ev[4].edge);
	for (i = 5; i < 8; i++) {
		EXPECT_EQ(PACKETWAY_POETS_EV_IMPL, ev[i].type);
		EXPECT_EQ(i - 5, ev[i].device);
	}
	EXPECT_EQ(0, get(w.fd[1]).out_queued);
}

/* a broadcast to a softswitch without devices is for none of them: there is nothing to read */
TEST(no_devices)
{
	struct pollfd p = { .events = POLLIN };
	EVENT ev;

	ASSERT_EQ(0, world_make(2));
	p.fd = open_switch(1, 1, 1);
	ASSERT_LE(0, p.fd);
	ASSERT_EQ(0, simple(p.fd, PACKETWAY_IOC_POETS_START));
	ASSERT_EQ(0, barrier(1));
	ASSERT_EQ(0, release(2));
	EXPECT_EQ(PACKETWAY_POETS_EV_RELEASED, next_event(p.fd, &ev, SOON));
	ASSERT_EQ(0, send_pkt(w.ms, 2, DEVICE(PW_POETS_DEVICE_BROADCAST), 0, NULL, 0));
	EXPECT_EQ(2, pw_stat_wait(w.sock, w.name[1], "poets_rx", 2));
	EXPECT_EQ(0, poll(&p, 1, 200));
	EXPECT_EQ(0, get(p.fd).out_queued);
}

TEST(reports_and_logs)
{
	struct packetway_poets_set s = { .size = sizeof(s), .flags = PACKETWAY_POETS_SET_INTERVAL,
					 .interval = 20 };
	struct packetway_poets_count c = { .size = sizeof(c), .send_handlers = 1, .idle = 2,
					   .idle_handlers = 3, .blocked = 4 };
	struct packetway_poets_log l = { .size = sizeof(l), .len = 220, .device = 2 };
	char text[220], got[220];
	uint32_t count[10], seen = 0;
	int i, n;
	EVENT ev;

	ASSERT_EQ(0, small_machine());
	ASSERT_EQ(0, ioctl(w.fd[1], PACKETWAY_IOC_POETS_COUNT, &c));
	ASSERT_EQ(0, ioctl(w.fd[1], PACKETWAY_IOC_POETS_SET, &s));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(PACKETWAY_POETS_EV_MOTHERSHIP, next_event(w.ms, &ev, SOON));
		ASSERT_EQ(PW_POETS_SW_INSTR, ev.sw_addr);
		memcpy(count, ev.payload, sizeof(count));
		EXPECT_EQ(i, count[0]);
		/* no earlier than the interval */
		if (i)
			EXPECT_GE(count[1], 19000);
		seen += count[6] * 1000 + count[7] * 100 + count[8] * 10 + count[9];
	}
	EXPECT_EQ(1234, seen);
	/* stopped: one more with what was left, then silence */
	ASSERT_EQ(0, send_pkt(w.ms, 2, PW_POETS_SW_STOP, 0, NULL, 0));
	ASSERT_EQ(PACKETWAY_POETS_EV_STOPPED, next_event(w.fd[1], &ev, SOON));
	usleep(100000);
	n = stat_of(1, "poets_reports_sent");
	usleep(100000);
	EXPECT_SOON(n, stat_of(1, "poets_reports_sent"));
	for (; n > 3; n--)
		EXPECT_EQ(PACKETWAY_POETS_EV_MOTHERSHIP, next_event(w.ms, &ev, SOON));
	/* a log needs a running softswitch like every packet of a device */
	l.text = (uintptr_t)text;
	EXPECT_EQ(-1, ioctl(w.fd[1], PACKETWAY_IOC_POETS_LOG, &l));
	EXPECT_EQ(EPROTO, errno);
	ASSERT_EQ(0, simple(w.fd[1], PACKETWAY_IOC_POETS_RESET));
	ASSERT_EQ(0, load(w.fd[1], 1, (uint32_t[]){ 0 }, 0, NULL));
	s.interval = 0;
	ASSERT_EQ(0, ioctl(w.fd[1], PACKETWAY_IOC_POETS_SET, &s));
	ASSERT_EQ(0, simple(w.fd[1], PACKETWAY_IOC_POETS_START));
	ASSERT_EQ(0, barrier(1));
	ASSERT_EQ(0, release(2));
	ASSERT_EQ(PACKETWAY_POETS_EV_RELEASED, next_event(w.fd[1], &ev, SOON));
	for (i = 0; i < 220; i++)
		text[i] = 'a' + i % 26;
	ASSERT_EQ(0, ioctl(w.fd[1], PACKETWAY_IOC_POETS_LOG, &l));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(PACKETWAY_POETS_EV_MOTHERSHIP, next_event(w.ms, &ev, SOON));
		EXPECT_EQ(PW_POETS_SW_LOG, ev.sw_addr);
		EXPECT_EQ(2, ev.pin_addr);
		EXPECT_EQ(3 - i, ev.payload[0]);
		EXPECT_EQ(56, ev.len);
		memcpy(got + 55 * i, ev.payload + 1, 55);
	}
	EXPECT_EQ(0, memcmp(text, got, 220));
}

/* --- tasks ------------------------------------------------------------------------ */

#define OF_TASK(t) ((uint32_t)(t) << PW_POETS_TASK_SHIFT)

/* a softswitch with one device, of one pin and one edge, for a task; it waits at the barrier */
static int task_switch(int i, int task)
{
	int fd = poets_open(i, (struct packetway_poets_open) {
		.flags = PACKETWAY_POETS_TASK, .task = task, .devices = 1, .pins = 1,
		.mothership = 1,
	});

	if (fd >= 0 && load(fd, 1, (uint32_t[]){ 1 }, 1, (uint32_t[]){ 1 }))
		return -1;
	return fd;
}

static int task_mothership(int task)
{
	return poets_open(0, (struct packetway_poets_open) {
		.flags = PACKETWAY_POETS_TASK | PACKETWAY_POETS_MOTHERSHIP, .task = task,
	});
}

/* a packet of one task does nothing to an application of another */
TEST(tasks)
{
	static const int task[2] = { 3, 9 };
	int ms[2], sw[2], i, raw, n;
	uint8_t msg[128];
	EVENT ev;

	ASSERT_EQ(0, world_make(3));
	/* the mothership for all tasks leaves no room for another, and the other way round */
	EXPECT_ERR(EBUSY, task_mothership(3));
	close(w.ms);
	for (i = 0; i < 2; i++) {
		ms[i] = task_mothership(task[i]);
		sw[i] = task_switch(1, task[i]);
		ASSERT_GE(ms[i], 0);
		ASSERT_GE(sw[i], 0);
	}
	EXPECT_ERR(EBUSY, task_switch(1, 9));
	EXPECT_ERR(EBUSY, poets_open(1, (struct packetway_poets_open) { .devices = 1 }));
	/* the barrier: what the kernel sends carries the task and reaches its mothership */
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, simple(sw[i], PACKETWAY_IOC_POETS_START));
		ASSERT_EQ(PACKETWAY_POETS_EV_MOTHERSHIP, next_event(ms[i], &ev, SOON));
		EXPECT_EQ(PW_POETS_SW_BARRIER_REACHED | OF_TASK(task[i]), ev.sw_addr);
		ASSERT_EQ(0, send_pkt(ms[i], 2, PW_POETS_SW_BARRIER_RELEASE | OF_TASK(task[i]), 0,
				      NULL, 0));
		ASSERT_EQ(PACKETWAY_POETS_EV_RELEASED, next_event(sw[i], &ev, SOON));
	}
	/* one station, two applications: each gets its own */
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, send_pkt(ms[i], 2, OF_TASK(task[i]), PIN(0, 0), &task[i], 4));
		ASSERT_EQ(PACKETWAY_POETS_EV_PIN, next_event(sw[i], &ev, SOON));
		EXPECT_EQ(0, memcmp(&task[i], ev.payload, 4));
		EXPECT_ERR(EPERM, send_pkt(sw[i], 1, OF_TASK(task[!i]), 0, NULL, 0));
		EXPECT_ERR(EPERM, send_pkt(ms[i], 2, PW_POETS_SW_STOP | OF_TASK(task[!i]), 0,
					   NULL, 0));
	}
	/* a bystander stops a task that is not there, then kills it at the mothership */
	raw = pw_packet_open(w.ns, SOCK_RAW, ETH_P_PACKETWAY, w.idx[2]);
	ASSERT_GE(raw, 0);
	memset(msg, 0, sizeof(msg));
	memcpy(msg + 16, &(uint32_t){ htole32(PW_POETS_SW_STOP | OF_TASK(4)) }, 4);
	n = pw_msg(msg, 2, 3, PW_PT_POETS, 0, 0, NULL, 8);
	ASSERT_EQ(n, send(raw, msg, n, 0));
	EXPECT_EQ(1, pw_stat_wait(w.sock, "s1", "poets_drop_task", 1));
	memset(msg, 0, sizeof(msg));
	memcpy(msg + 16, &(uint32_t){ htole32(0xc0ff0000 | OF_TASK(4)) }, 4);
	n = pw_msg(msg, 1, 3, PW_PT_POETS, 0, 0, NULL, 8);
	ASSERT_EQ(n, send(raw, msg, n, 0));
	EXPECT_EQ(1, pw_stat_wait(w.sock, "s0", "poets_drop_task", 1));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, next_event(ms[i], &ev, NEVER));
		EXPECT_EQ(PACKETWAY_POETS_RUNNING, get(sw[i]).out_state);
	}
	/* stop one: the other goes on */
	ASSERT_EQ(0, send_pkt(ms[1], 2, PW_POETS_SW_STOP | OF_TASK(9), 0, NULL, 0));
	ASSERT_EQ(PACKETWAY_POETS_EV_STOPPED, next_event(sw[1], &ev, SOON));
	EXPECT_EQ(PACKETWAY_POETS_RUNNING, get(sw[0]).out_state);
	close(sw[1]);
	ASSERT_EQ(0, send_pkt(ms[1], 2, OF_TASK(9), PIN(0, 0), NULL, 0));
	EXPECT_EQ(2, pw_stat_wait(w.sock, "s1", "poets_drop_task", 2));
	/* a log and a kill name the task, too */
	ASSERT_EQ(0, send_pkt(ms[0], 2, OF_TASK(3), PIN(1, 0), NULL, 0));
	ASSERT_EQ(PACKETWAY_POETS_EV_MOTHERSHIP, next_event(ms[0], &ev, SOON));
	EXPECT_EQ(PW_POETS_SW_LOG | OF_TASK(3), ev.sw_addr);
	ASSERT_EQ(0, simple(sw[0], PACKETWAY_IOC_POETS_KILL));
	ASSERT_EQ(PACKETWAY_POETS_EV_MOTHERSHIP, next_event(ms[0], &ev, SOON));
	EXPECT_EQ(0xc0ff0000 | OF_TASK(3), ev.sw_addr);
}

/* an owner that does not read loses packets, but learns of the stop; others go on */
TEST(full_queue)
{
	int i, n, pins = 0;
	EVENT ev[64];

	ASSERT_EQ(0, world_make(2));
	w.fd[1] = poets_open(1, (struct packetway_poets_open) {
		.devices = 1, .pins = 1, .mothership = 1, .queue = 16,
		.flags = PACKETWAY_POETS_NONBLOCK,
	});
	ASSERT_GE(w.fd[1], 0);
	ASSERT_EQ(0, load(w.fd[1], 1, (uint32_t[]){ 1 }, 1, (uint32_t[]){ 1 }));
	ASSERT_EQ(0, simple(w.fd[1], PACKETWAY_IOC_POETS_START));
	ASSERT_EQ(0, barrier(1));
	ASSERT_EQ(0, release(2));
	for (i = 0; i < 50; i++)
		ASSERT_EQ(0, send_pkt(w.ms, 2, DEVICE(0), PIN(0, 0), &i, 4));
	ASSERT_EQ(0, send_pkt(w.ms, 2, PW_POETS_SW_STOP, 0, NULL, 0));
	/* RELEASED has one of the reserved places until it is read */
	EXPECT_EQ(35, pw_stat_wait(w.sock, "s1", "poets_overrun", 35));
	for (i = 0; i < 200 && get(w.fd[1]).out_state != PACKETWAY_POETS_STOPPED; i++)
		usleep(10000);
	n = read(w.fd[1], ev, sizeof(ev)) / (int)sizeof(EVENT);
	ASSERT_EQ(17, n);
	EXPECT_EQ(PACKETWAY_POETS_EV_RELEASED, ev[0].type);
	for (i = 1; i < n && ev[i].type == PACKETWAY_POETS_EV_PIN; i++)
		pins += *(uint32_t *)ev[i].payload == (uint32_t)i - 1;
	EXPECT_EQ(15, pins);
	EXPECT_EQ(PACKETWAY_POETS_EV_STOPPED, ev[16].type);
	EXPECT_EQ(35, get(w.fd[1]).out_lost);
}

/* --- owners and stations that go ----------------------------------------------------- */

TEST(station_gone)
{
	struct pollfd p;
	int status;
	pid_t pid;
	EVENT ev;

	ASSERT_EQ(0, small_machine());
	/* a reader that waits is told */
	pid = fork();
	if (!pid) {
		int err = read(w.fd[1], &ev, sizeof(ev)) < 0 ? errno : 0;

		_exit(err == ENODEV ? 0 : 1);
	}
	usleep(100000);
	ASSERT_EQ(0, pw_link_del(&w.nl, "s1"));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	p = (struct pollfd) { .fd = w.fd[1], .events = POLLIN | POLLOUT };
	EXPECT_EQ(1, poll(&p, 1, 0));
	EXPECT_EQ(POLLHUP | POLLERR, p.revents);
	EXPECT_EQ(-1, send_pkt(w.fd[1], 1, DEVICE(0), 0, NULL, 0));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(PACKETWAY_POETS_RUNNING, get(w.fd[1]).out_state);
	EXPECT_EQ(0, close(w.fd[1]));
	/* down is not gone */
	EXPECT_EQ(0, pw_link_down(&w.nl, "s0"));
	EXPECT_EQ(-1, send_pkt(w.ms, 1, DEVICE(0), 0, NULL, 0));
	EXPECT_EQ(ENETDOWN, errno);
	EXPECT_EQ(0, pw_link_up(&w.nl, "s0"));
	EXPECT_EQ(0, send_pkt(w.ms, 1, DEVICE(0), 0, NULL, 0));
}

/* the owner is killed with packets under way and in its queue, again and again */
TEST(owner_killed)
{
	long rounds = pw_count(20, 3), r;
	PACKET p[32];
	int pipefd[2], i, status;
	struct pollfd pf;
	uint64_t rx;
	pid_t pid;
	EVENT ev;
	char c;

	ASSERT_EQ(0, world_make(2));
	for (i = 0; i < 32; i++)
		p[i] = (PACKET) { .hw_addr = 2, .sw_addr = i % 4 ? DEVICE(0) : DEVICE(0xffff),
				  .pin_addr = PIN(0, 0), .len = 56 };
	for (r = 0; r < rounds; r++) {
		ASSERT_EQ(0, pipe2(pipefd, O_CLOEXEC));
		pid = fork();
		if (!pid) {
			struct packetway_poets_open o = {
				.devices = 1000, .pins = 1000, .mothership = 1, .interval = 1,
			};
			static uint32_t one[1000];
			int fd = poets_open(1, o);

			for (i = 0; i < 1000; i++)
				one[i] = 1;
			if (fd < 0 || load(fd, 1000, one, 1000, one) ||
			    simple(fd, PACKETWAY_IOC_POETS_START) ||
			    next_event(fd, &ev, SOON) != PACKETWAY_POETS_EV_RELEASED)
				_exit(1);
			if (write(pipefd[1], "x", 1) != 1)
				_exit(1);
			for (;;)
				next_event(fd, &ev, SOON);
		}
		close(pipefd[1]);
		while (next_event(w.ms, &ev, SOON) && ev.sw_addr != PW_POETS_SW_BARRIER_REACHED)
			;
		ASSERT_EQ(PW_POETS_SW_BARRIER_REACHED, ev.sw_addr);
		ASSERT_EQ(0, release(2));
		ASSERT_EQ(1, read(pipefd[0], &c, 1));
		for (i = 0; i < 20; i++)
			ASSERT_EQ(sizeof(p), write(w.ms, p, sizeof(p)));
		kill(pid, SIGKILL);
		for (i = 0; i < 5; i++)
			ASSERT_EQ(sizeof(p), write(w.ms, p, sizeof(p)));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status));
		close(pipefd[0]);
	}
	/* the station has no softswitch now: packets are ordinary messages */
	rx = stat_of(1, "poets_rx");
	ASSERT_EQ(0, send_pkt(w.ms, 2, DEVICE(0), 0, NULL, 0));
	usleep(50000);
	EXPECT_EQ(rx, stat_of(1, "poets_rx"));
	pf = (struct pollfd) { .fd = w.ms, .events = POLLOUT };
	EXPECT_EQ(1, poll(&pf, 1, SOON));
}

/* --- hostile ----------------------------------------------------------------------------- */

/* random packets for s0, most within reach; not the stop opcode, it would end the matter */
static int flood_poets(uint8_t *b, int from, uint64_t x)
{
	uint8_t data[72];
	int len, j;

	for (j = 0; j < 72; j++)
		data[j] = x >> (j % 7 * 8);
	if (x & 1)
		memcpy(data, &(uint32_t){ (x >> 8 & 3) | (x >> 16 & 1) << 30 |
					  (x >> 17 & 0xff) << 16 }, 4);
	if (x & 2)
		memcpy(data + 4, &(uint32_t){ (x >> 40 & 3) | (x >> 48 & 3) << 8 }, 4);
	if (data[2] == PW_POETS_OP_STOP)
		data[2] = 1;
	len = x >> 56 & 63 ? 8 + (int)(x >> 50 & 63) % 57 : (int)(x >> 50) % 80;
	return pw_msg(b, 2, from + 3, PW_PT_POETS, x >> 32, 0, data, len > 72 ? 72 : len);
}

/* devices at s1, whose owner reads until it is killed; 0 when they run */
static int start_owner(pid_t *pid)
{
	uint32_t pins[3] = { 2, 1, 2 }, edges[5] = { 1, 3, 2, 1, 1 };
	EVENT ev[32];

	*pid = fork();
	if (!*pid) {
		int fd = poets_open(1, (struct packetway_poets_open) {
			.devices = 3, .pins = 5, .mothership = 1, .interval = 5,
		});

		if (fd < 0 || load(fd, 3, pins, 5, edges) || simple(fd, PACKETWAY_IOC_POETS_START))
			_exit(1);
		for (;;)
			if (read(fd, ev, sizeof(ev)) <= 0)
				_exit(1);
	}
	/* reports and logs of the one before may still come */
	do {
		if (next_event(w.ms, ev, SOON) != PACKETWAY_POETS_EV_MOTHERSHIP)
			return -1;
	} while (ev[0].sw_addr != PW_POETS_SW_BARRIER_REACHED);
	return release(2);
}

static bool owner_ready;	/* this one stays to the end */

/* half of the packets, and the others when the owner is ready */
static void *flood_twice(void *f)
{
	int bad = flood_run(f);

	while (!__atomic_load_n(&owner_ready, __ATOMIC_ACQUIRE))
		usleep(1000);
	return (void *)(long)(flood_run(f) ?: bad);
}

/* eight namespaces at once against devices whose owner is killed in the middle */
TEST(hostile)
{
	long total = pw_count(100000, 20000);
	struct flood f = { .build = flood_poets, .seed = 7 };
	uint64_t rx, drops, seen, first;
	struct pw_stats s, s0;
	double begin = pw_now();
	long before = 0, i, kills = 0;
	int ns, status;
	pthread_t t;
	void *bad;
	pid_t pid;
	EVENT ev;

	ASSERT_EQ(0, world_make(2));
	ASSERT_EQ(0, pw_gsan_untimed(w.ns));
	for (i = 0; i < FLOOD_SENDERS; i++) {
		char name[8];
		struct pw_nl nl;

		snprintf(name, sizeof(name), "f%ld", i);
		ns = pw_ns_new();
		ASSERT_GE(ns, 0);
		ASSERT_EQ(0, pw_nl_open(&nl, ns));
		ASSERT_EQ(0, pw_station_add(&w.nl, name, 0, 2 + i, ns));
		ASSERT_EQ(0, pw_link_up(&nl, name));
		f.fd[i] = pw_packet_open(ns, SOCK_RAW, ETH_P_PACKETWAY, pw_link_index(&nl, name));
		ASSERT_GE(f.fd[i], 0);
		close(nl.fd);
	}
	ASSERT_EQ(0, fcntl(w.ms, F_SETFL, O_NONBLOCK));
	f.each = total / 32;
	total = f.each * 32;
	ASSERT_EQ(0, pw_stats_read(w.sock, "s1", &s0));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, start_owner(&pid));
		first = stat_of(1, "poets_rx");
		__atomic_store_n(&owner_ready, !i, __ATOMIC_RELEASE);
		ASSERT_EQ(0, pthread_create(&t, NULL, flood_twice, &f));
		while (pthread_tryjoin_np(t, &bad)) {
			while (read(w.ms, &ev, sizeof(ev)) > 0)
				;
			usleep(20000);
			/* once in the middle; the next one is there at once */
			if (i && !kills && stat_of(1, "poets_rx") > first) {
				kill(pid, SIGKILL);
				ASSERT_EQ(pid, waitpid(pid, &status, 0));
				ASSERT_EQ(0, start_owner(&pid));
				kills++;
				__atomic_store_n(&owner_ready, true, __ATOMIC_RELEASE);
			}
		}
		EXPECT_EQ(NULL, bad);
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status));
		if (!i)
			before = pw_meminfo("Slab");
	}
	/* each was looked at: by a softswitch, or, while there was none, as a message */
	for (i = 0; i < 500; i++) {
		ASSERT_EQ(0, pw_stats_read(w.sock, "s1", &s));
		seen = pw_stats_get(&s, "eep_rx_messages") - pw_stats_get(&s0, "eep_rx_messages");
		if (seen >= (uint64_t)total)
			break;
		usleep(10000);
	}
	/* and those that opened the barriers */
	EXPECT_EQ(total + 2 + kills, seen);
	EXPECT_EQ(1, kills);
	rx = pw_stats_get(&s, "poets_rx");
	EXPECT_GT(rx, total / 2);
	for (drops = 0, i = 0; i < s.n; i++)
		if (!strncmp(s.name[i], "poets_drop_", 11))
			drops += s.v[i];
	EXPECT_GT(drops, total / 4);
	EXPECT_GT(pw_stats_get(&s, "poets_delivered"), total / 16);
	TH_LOG("%ld packets from 8 namespaces in %.1f s: %llu for devices, %llu dropped, %llu overrun, %llu logs, %llu reports",
	       total, pw_now() - begin, (unsigned long long)pw_stats_get(&s, "poets_delivered"),
	       (unsigned long long)drops, (unsigned long long)pw_stats_get(&s, "poets_overrun"),
	       (unsigned long long)pw_stats_get(&s, "poets_logs_sent"),
	       (unsigned long long)pw_stats_get(&s, "poets_reports_sent"));
	/* ten at once and ten a second for each owner, whatever comes */
	EXPECT_LE(pw_stats_get(&s, "poets_logs_sent"), 30 + 10 * (pw_now() - begin) + 1);
	EXPECT_EQ(0, slab_growth(before));
}

TEST_HARNESS_MAIN
