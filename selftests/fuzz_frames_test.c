// SPDX-License-Identifier: GPL-2.0
/*
 * Random and mutated raw frames into a station. Whatever the bytes, each one is
 * refused at the socket, dropped and counted, or delivered and counted; the books
 * are balanced exactly, for both stations, the kernel's own answers included.
 *
 *	fuzz_frames_test [FRAMES [SEED]]
 */
#include "pwsan.h"
#include "kselftest.h"

#include <sys/mman.h>

#define BATCH 64
#define FRAME_MAX 2048
#define MTU 1500

static uint8_t frame[BATCH][FRAME_MAX];

static uint32_t some_address(void)
{
	switch (pw_below(12)) {
	case 0: return 0;
	case 1: return 1;
	case 2: return PW_ADDR_HEYYOU;
	case 3: return PW_ADDR_BROADCAST;
	case 4: return 0xe00000 | pw_below(8);
	case 5: return 0xc00000 | pw_below(0x200000);
	case 6: return pw_below(40);
	case 7: return pw_below(1 << 24);
	default: return 2;
	}
}

/* a well-formed message, more or less */
static int some_message(uint8_t *b)
{
	static const uint16_t pts[] = { 1, 2, 5, 5, 5, 1027, 1027, 1500, 1500, 65535, 1025 };
	struct pw_hdr h = {
		.dt = some_address(), .sa = pw_below(4) ? 1 : some_address(), .p = pw_below(64),
		.pt = pts[pw_below(sizeof(pts) / sizeof(pts[0]))], .te = pw_below(4) ? pw_below(4) : pw_rnd(),
		.e = pw_below(4) ? 0 : pw_below(16),
	};
	int data = pw_below(8) ? (int)pw_below(200) : (int)pw_below(MTU - 100);
	int n = 0, i, opts, types[4];
	uint8_t bytes[64];

	for (i = 0; i < 64; i++)
		bytes[i] = pw_rnd();
	for (i = pw_below(8) ? 0 : pw_below(4); i > 0; i--) {
		if (pw_below(2)) {
			uint8_t route[3] = { pw_below(5), pw_below(5), pw_below(5) };

			n += pw_put_l2rh(b + n, pw_below(4) ? route : bytes, pw_below(4) ? 3 : 1 + pw_below(40));
		} else {
			n += pw_put_sym(b + n, pw_below(2) ? 1 + pw_below(3) : pw_below(1 << 20), bytes, pw_below(40));
		}
	}
	opts = pw_below(4) ? 0 : 1 + pw_below(3);
	h.dl = (data + 7) / 8;
	h.pl = -data & 7;
	h.h = opts > 0;
	pw_hdr_put(b + n, &h);
	n += 16;
	for (i = 0; i < opts; i++) {
		types[i] = pw_below(4) ? 1 + pw_below(4) : pw_below(64);
		n += pw_put_opt(b + n, types[i], !pw_below(3), i == opts - 1, bytes,
				types[i] <= 2 ? 0 : pw_below(24));
	}
	for (i = 0; i < data; i += 4)
		pw_put(b + n + i, 4, pw_rnd());
	if (h.pt == PW_PT_IP && pw_below(2) && data)
		b[n] = pw_below(2) ? 0x45 : 0x60;
	memset(b + n + data, 0, h.pl);
	n += h.dl * 8;
	for (i = 0; i < opts; i++)
		if (types[i] == PW_OH_CRC32 || types[i] == PW_OH_CRC64)
			n += pw_put_opt(b + n, types[i], false, i == opts - 1 || pw_below(2), bytes,
					types[i] * 4);
	pw_put(b + n, 8, pw_below(8) ? 0 : pw_rnd());
	return n + 8;
}

static int some_frame(uint8_t *b)
{
	int n, i, k;

	if (!pw_below(8)) {
		n = 1 + pw_below(pw_below(8) ? 64 : 1600);
		for (i = 0; i < n; i++)
			b[i] = pw_rnd();
		return n;
	}
	n = some_message(b);
	if (!pw_below(4))
		return n;
	for (k = 1 + pw_below(3); k > 0; k--) {
		switch (pw_below(6)) {
		case 0:		/* cut */
			n = 1 + pw_below(n);
			break;
		case 1:		/* longer */
			i = pw_below(64);
			memset(b + n, pw_rnd(), i);
			n += i;
			break;
		case 2:		/* one bit */
			b[pw_below(n)] ^= 1 << pw_below(8);
			break;
		case 3:		/* one bit of what is in front */
			b[pw_below(n < 32 ? n : 32)] ^= 1 << pw_below(8);
			break;
		case 4:		/* one byte of what is in front */
			b[pw_below(n < 48 ? n : 48)] = pw_rnd();
			break;
		case 5:		/* the last bytes */
			b[n - 1 - pw_below(n < 24 ? n : 24)] = pw_rnd();
			break;
		}
	}
	return n < FRAME_MAX ? n : FRAME_MAX;
}

struct side {
	const char *name;
	int ns, idx, fd;
	struct pw_nl nl;
	struct pw_stats stats;
	uint64_t seen;		/* frames that the socket gave us */
	uint64_t lost;		/* frames that its buffer had no room for */
};

static struct side a = { .name = "a" }, b = { .name = "b" };

static void drain(struct side *s)
{
	static uint8_t trash[BATCH][64];
	static struct mmsghdr m[BATCH];
	static struct iovec iov[BATCH];
	int i, n;

	for (i = 0; i < BATCH; i++) {
		iov[i] = (struct iovec) { trash[i], sizeof(trash[i]) };
		m[i].msg_hdr = (struct msghdr) { .msg_iov = &iov[i], .msg_iovlen = 1 };
	}
	while ((n = recvmmsg(s->fd, m, BATCH, MSG_DONTWAIT, NULL)) > 0)
		s->seen += n;
}

/* frames that came in through the port: taken or dropped */
static uint64_t arrived(const struct pw_stats *s)
{
	static const char * const rx[] = {
		"eep_rx_messages", "drop_bad_version", "drop_bad_prefix", "drop_rx_bad_dst",
		"drop_bad_src", "drop_bad_endian", "drop_bad_length", "drop_bad_option",
		"drop_unknown_mandatory", "drop_rx_too_big", "drop_not_for_us", "drop_rx_down",
		"drop_rx_nomem", "drop_bad_payload",
	};
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < sizeof(rx) / sizeof(rx[0]); i++)
		sum += pw_stats_get(s, rx[i]);
	return sum;
}

static uint64_t refused(const struct pw_stats *s)
{
	static const char * const tx[] = {
		"drop_unknown_dst", "drop_no_route", "drop_bad_dst", "drop_bad_l2rh", "drop_too_big",
		"drop_tx_malformed", "drop_tx_nomem", "drop_looped",
	};
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < sizeof(tx) / sizeof(tx[0]); i++)
		sum += pw_stats_get(s, tx[i]);
	return sum;
}

static uint64_t accepted(const struct pw_stats *s)
{
	return pw_stats_get(s, "eep_tx_unicast") + pw_stats_get(s, "eep_tx_group");
}

static uint64_t of_kernel(const struct pw_stats *s)
{
	return pw_stats_get(s, "eep_tx_own");
}

static void read_stats(void)
{
	if (pw_stats_read(a.fd, "a", &a.stats) || pw_stats_read(b.fd, "b", &b.stats))
		ksft_exit_fail_msg("no counters\n");
}

static void open_side(struct side *s, int port)
{
	struct tpacket_stats st;
	socklen_t len = sizeof(st);

	if (pw_station_add(&a.nl, s->name, 0, port, s->ns))
		ksft_exit_fail_msg("station %s: %s\n", s->name, a.nl.ext);
	if (pw_link_up(&s->nl, s->name))
		ksft_exit_fail_msg("%s does not come up\n", s->name);
	s->idx = pw_link_index(&s->nl, s->name);
	s->fd = pw_packet_open(s->ns, SOCK_RAW, ETH_P_ALL, s->idx);
	if (s->fd < 0)
		ksft_exit_fail_msg("packet socket: %s\n", strerror(errno));
	getsockopt(s->fd, SOL_PACKET, PACKET_STATISTICS, &st, &len);
}

static void no_ipv6(int ns)
{
	int save = pw_ns_self();

	setns(ns, CLONE_NEWNET);
	pw_write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	setns(save, CLONE_NEWNET);
	close(save);
}

/* a million in a soak; else 400,000 on 6.12, which is told to look closely */
static long how_many(void)
{
	const char *kernel = getenv("PW_KERNEL");

	if (pw_long())
		return 1000000;
	return pw_count(kernel && !strcmp(kernel, "6.12") ? 400000 : 200000, 50000);
}

/* KFENCE samples allocations; more of them, if this kernel has it */
static void kfence(void)
{
	int fd = open("/sys/module/kfence/parameters/sample_interval", O_WRONLY);

	if (fd < 0)
		return;
	ksft_print_msg("KFENCE: %s\n", write(fd, "5", 1) == 1 ? "every 5 ms" : "off");
	close(fd);
}

#define SHOW(what, x, y) \
	ksft_test_result((x) == (y), "%s: %llu = %llu\n", what, (unsigned long long)(x), \
			 (unsigned long long)(y))

int main(int argc, char **argv)
{
	long frames = argc > 1 ? atol(argv[1]) : how_many();
	static struct mmsghdr m[BATCH];
	static struct iovec iov[BATCH];
	uint64_t sent = 0, emsgsize = 0, other = 0, in, out;
	long before = 0, after, done = 0;
	struct tpacket_stats st;
	struct rtnl_link_stats64 ls;
	socklen_t len = sizeof(st);
	double t, end;
	int i, k, n;

	ksft_print_header();
	if (argc > 2)
		pw_seed = strtoull(argv[2], NULL, 0) ?: pw_seed;
	a.ns = pw_ns_new();
	b.ns = pw_ns_new();
	if (a.ns < 0 || b.ns < 0)
		ksft_exit_skip("no namespaces: %s\n", strerror(errno));
	ksft_set_plan(9);
	kfence();
	no_ipv6(a.ns);
	no_ipv6(b.ns);
	if (pw_nl_open(&a.nl, a.ns) || pw_nl_open(&b.nl, b.ns))
		ksft_exit_fail_msg("rtnetlink\n");
	open_side(&a, 0);
	open_side(&b, 1);
	if (pw_gsan_untimed(a.ns))
		ksft_exit_fail_msg("the engine stays\n");
	if (pw_packet_join(b.fd, b.idx, PACKET_MR_MULTICAST, 0xe00003, false))
		ksft_exit_fail_msg("join: %s\n", strerror(errno));
	ksft_print_msg("%ld frames, seed %llu\n", frames, (unsigned long long)pw_seed);

	t = pw_now();
	while (done < frames) {
		int batch = frames - done < BATCH ? frames - done : BATCH;

		/* memory is compared when everything has been used once */
		if (!before && done > frames / 4)
			before = pw_meminfo("SUnreclaim");
		for (i = 0; i < batch; i++) {
			iov[i] = (struct iovec) { frame[i], some_frame(frame[i]) };
			m[i].msg_hdr = (struct msghdr) { .msg_iov = &iov[i], .msg_iovlen = 1 };
		}
		for (i = 0; i < batch; ) {
			n = sendmmsg(a.fd, m + i, batch - i, 0);
			if (n > 0) {
				sent += n;
				i += n;
				continue;
			}
			if (errno == EINTR)
				continue;
			if (errno == EMSGSIZE)
				emsgsize++;
			else if (!other++)
				ksft_print_msg("a send failed: %s\n", strerror(errno));
			i++;
		}
		done += batch;
		drain(&a);
		drain(&b);
	}
	t = pw_now() - t;

	/* the last ones may still be under way */
	end = pw_now() + SOON / 1000;
	do {
		usleep(10000);
		drain(&a);
		drain(&b);
		read_stats();
		in = arrived(&a.stats) + arrived(&b.stats);
		out = accepted(&a.stats) + accepted(&b.stats);
	} while (in != out && pw_now() < end);
	after = pw_meminfo("SUnreclaim");

	ksft_print_msg("%.0f frames/s; refused at the socket %llu, by the sender's station %llu, "
		       "by the receiver's %llu\n", done / t, (unsigned long long)emsgsize,
		       (unsigned long long)refused(&a.stats),
		       (unsigned long long)(arrived(&b.stats) - pw_stats_get(&b.stats, "eep_rx_messages")));
	for (i = 0; i < b.stats.n; i++)
		if (a.stats.v[i] || b.stats.v[i])
			ksft_print_msg("%-24s %10llu %10llu\n", b.stats.name[i],
				       (unsigned long long)a.stats.v[i], (unsigned long long)b.stats.v[i]);

	ksft_test_result(!other, "no send fails but for EMSGSIZE\n");
	SHOW("frames made = sent + refused at the socket", (uint64_t)done, sent + emsgsize);
	/* a group message has one receiver here: the other station */
	SHOW("a: sent + made by the kernel = accepted + dropped", sent + of_kernel(&a.stats),
	     accepted(&a.stats) + refused(&a.stats));
	SHOW("b: made by the kernel = accepted + dropped", of_kernel(&b.stats),
	     accepted(&b.stats) + refused(&b.stats));
	SHOW("accepted by one = received or dropped by the other", out, in);
	for (k = 0; k < 2; k++) {
		struct side *s = k ? &b : &a;

		getsockopt(s->fd, SOL_PACKET, PACKET_STATISTICS, &st, &len);
		s->lost = st.tp_drops;
		SHOW(k ? "b: received = seen by the socket" : "a: received = seen by the socket",
		     pw_stats_get(&s->stats, "eep_rx_messages"), s->seen + s->lost);
	}
	pw_link_stats(&b.nl, "b", &ls);
	SHOW("standard counters agree", arrived(&b.stats), ls.rx_packets + ls.rx_errors + ls.rx_dropped);
	/*
	 * A leak of one small object in a hundred frames would show. What KASAN holds
	 * in quarantine is part of it on the debug kernel; there kmemleak looks.
	 */
	ksft_test_result(after - before < (pw_slow_kernel() ? 65536 : 512 + frames / 400), "memory is flat: %ld -> %ld KiB\n", before,
			 after);
	ksft_finished();
}
