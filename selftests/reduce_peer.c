// SPDX-License-Identifier: GPL-2.0
/*
 * reduce_peer: reductions over the rings of three hosts, for host_reduce.sh.
 *
 *	reduce_peer lead COMMANDS ROUNDS	on host 1: starts its member, leads all, prints TAP
 *	reduce_peer join HOST ADDRESS		the member of a host
 *
 * Host h has SAN h with 64 stations, and trunks to the other two on eth0 and eth1. Members make
 * that, and do what the leader says over TCP on other devices. Operands and commands of a batch
 * follow from its number, so that each member knows those of all hosts: it stores its own
 * operands, and when all members have, each starts its own commands and checks the results.
 */
#include "pwrouter.h"
#include "pwreduce.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

#include "kselftest.h"

#define HOSTS	3
#define PER	64		/* stations of a host */
#define PORTS	81		/* of a SAN: 9 * 9 */
#define REGS	15		/* registers with random operands */
#define ROUND	15		/* register with the round of a barrier */
#define BATCH	96		/* commands for the same operands */
#define THREADS	2		/* that start them on each host */
#define ALL	0xe		/* SANs 1, 2 and 3 */
#define FEW	20		/* commands that end before a host dies; errors after that */
#define PORT	5000		/* of the leader */
#define UDP	7777		/* of trunks */
#define HANG	300		/* seconds */
#define TICK_MS	100
#define IN_TIME	10000		/* ms until a command fails that needs a host which has gone */

enum what { READY, SET, RUN, COUNT, LOSE, BARRIER, ARRIVED, PASSED, FREE, DEAD, DIE, AFTER };

/* what RUN, FREE and AFTER return in struct msg */
enum { RIGHT, FAILED, WRONG, FIRST_ERR, SLOWEST_MS, SLOWEST_TICKS };
/* what COUNT returns for trunk j: at 4 * j */
enum { ARRIVALS, ASKED, REPEATED, ANSWERED };

struct msg {
	uint32_t what, arg;
	uint64_t v[8];
};

struct command {
	int host, station;
	struct packetway_aton_reduce c;
};

static uint64_t x[REGS][HOSTS * PER];
static struct command list[BATCH];
static struct ring_if st[PER];
static int me, lead = -1, tap[2];
static struct pw_genl g;

/*
 * Time that counts only while this host has nothing better to do: sleeps of a thread that runs
 * when no other does. A machine that is busy makes them fewer, never more.
 */
static unsigned long ticks;

static void *tick(void *arg)
{
	const struct sched_param p = {};

	sched_setscheduler(0, SCHED_IDLE, &p);
	for (;;) {
		usleep(TICK_MS * 1000);
		__atomic_fetch_add(&ticks, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void die(const char *what)
{
	fprintf(stderr, "# host %d: %s: %s\n", me, what, strerror(errno));
	exit(1);
}

static void tell(int fd, struct msg m)
{
	if (send(fd, &m, sizeof(m), MSG_NOSIGNAL) != sizeof(m))
		die("send");
}

static void say(int fd, enum what what, uint32_t arg)
{
	tell(fd, (struct msg) { .what = what, .arg = arg });
}

static struct msg hear(int fd)
{
	struct msg m;

	if (recv(fd, &m, sizeof(m), MSG_WAITALL) != sizeof(m))
		die("the other side has gone");
	return m;
}

/* --- operands and commands ---------------------------------------------------------- */

/* of batch @n, on all hosts */
static void batch(uint32_t n)
{
	bool small;
	int i, r;

	pw_seed = (n + 1) * 0x9e3779b97f4a7c15ULL;
	for (r = 0; r < REGS; r++) {
		small = pw_below(2);
		for (i = 0; i < HOSTS * PER; i++)
			x[r][i] = small || pw_below(3) ? pw_below(9) : pw_rnd();
	}
	for (i = 0; i < BATCH; i++) {
		list[i] = (struct command) {
			.host = 1 + pw_below(HOSTS), .station = pw_below(PER),
			.c = { .size = sizeof(list[i].c), .op = PW_ATON_OP_ADD + pw_below(8),
			       .reg = pw_below(REGS), .sans = HOSTS, .timeout_ms = 40000,
			       .mods = pw_below(2) ? PACKETWAY_ATON_SIGNED : 0 },
		};
		if (pw_below(2)) {
			list[i].c.mods |= PACKETWAY_ATON_COMPARAND;
			list[i].c.comparand = pw_below(9);
		}
	}
}

static void store(uint32_t n)
{
	int i, r;

	batch(n);
	for (i = 0; i < PER; i++) {
		for (r = 0; r < REGS; r++)
			__atomic_store_n(&st[i].op->operand[r], x[r][(me - 1) * PER + i],
					 __ATOMIC_RELAXED);
		__atomic_store_n(&st[i].op->operand[ROUND], 0, __ATOMIC_RELEASE);
	}
}

/* run one and judge it: the result is that of the SANs in @mask, or there is none */
static void run(const struct command *k, struct packetway_aton_reduce c, unsigned int mask,
		uint64_t *v)
{
	const struct pw_reduce_plain p = { .x = x[c.reg], .sans = HOSTS, .per = PER };
	uint64_t own = x[c.reg][(me - 1) * PER + k->station];
	unsigned long before = __atomic_load_n(&ticks, __ATOMIC_RELAXED);
	double start = pw_now();
	const char *w;
	int err;

	err = pw_reduce(st[k->station].fd, &c);
	if (err) {
		if (!__atomic_fetch_add(&v[FAILED], 1, __ATOMIC_RELAXED))
			v[FIRST_ERR] = -err;
		start = (pw_now() - start) * 1000;
		if (start > v[SLOWEST_MS])
			v[SLOWEST_MS] = start;
		before = __atomic_load_n(&ticks, __ATOMIC_RELAXED) - before;
		if (before > v[SLOWEST_TICKS])
			v[SLOWEST_TICKS] = before;
		return;
	}
	w = pw_reduce_wrong(&c, &p, mask);
	if (!w && c.op >= PW_ATON_OP_COUNT_EQ &&
	    c.out_v1 != (c.mods & PACKETWAY_ATON_COMPARAND ? c.comparand : own))
		w = "comparand";
	if (w)
		fprintf(stderr, "# host %d, op %u: wrong %s; %u SANs, %u missing\n", me, c.op, w,
			c.out_sans, c.out_missing);
	__atomic_fetch_add(&v[w ? WRONG : RIGHT], 1, __ATOMIC_RELAXED);
}

struct share {
	pthread_t thread;
	int first;
	uint64_t *v;
};

static void *run_share(void *arg)
{
	struct share *s = arg;
	int i;

	for (i = s->first; i < BATCH; i += THREADS)
		if (list[i].host == me)
			run(&list[i], list[i].c, ALL, s->v);
	return NULL;
}

static void run_all(uint64_t *v)
{
	struct share s[THREADS];
	int i;

	for (i = 0; i < THREADS; i++) {
		s[i] = (struct share) { .first = i, .v = v };
		if (pthread_create(&s[i].thread, NULL, run_share, &s[i]))
			die("thread");
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(s[i].thread, NULL);
}

/* --- a member -------------------------------------------------------------------------- */

static int peer_of(int trunk)
{
	int p = 1 + trunk;

	return p + (p >= me);
}

/* whether the answer to RESOLVE has a route to host @p that passes no third SAN */
static bool direct(int p)
{
	struct nlmsghdr *h = (void *)g.nl.buf;
	struct rtattr *a = (void *)((char *)NLMSG_DATA(h) + GENL_HDRLEN), *via;
	int left = NLMSG_PAYLOAD(h, GENL_HDRLEN), i, n;
	bool third;

	for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if ((a->rta_type & NLA_TYPE_MASK) != PACKETWAY_A_ROUTE)
			continue;
		via = pw_attr_in(a, PACKETWAY_A_ROUTE_VIA);
		n = via ? RTA_PAYLOAD(via) / 4 : 0;
		third = !n;
		for (i = 0; i < n; i++)
			third |= ((uint32_t *)RTA_DATA(via))[i] / 256 != p &&
				 ((uint32_t *)RTA_DATA(via))[i] / 256 != me;
		if (!third)
			return true;
	}
	return false;
}

/*
 * Until the trunk to host @p itself leads there: a host that starts late is known through the
 * other one first, and a command that goes that way has no packets on the trunk.
 */
static int wait_direct(int p)
{
	double end = pw_now() + HANG;
	int err;

	while (!(err = pw_wait_route(&g, me, 256 * p + 1)) && !direct(p)) {
		if (pw_now() > end)
			return -ETIMEDOUT;
		usleep(5000);
	}
	return err;
}

/* the host's SAN, its stations and its trunks */
static void make_host(void)
{
	struct pw_trunk_req t = { .san = me, .local_port = UDP, .remote_port = UDP };
	int ns = pw_ns_self(), i, p, err;
	struct pw_nl nl;
	char name[8];

	if (pw_nl_open(&nl, ns) || pw_genl_open(&g, ns))
		die("netlink");
	err = pw_san_cmd(&g, PACKETWAY_CMD_SAN_NEW, me, PORTS, PACKETWAY_ENGINE_NONE);
	for (i = 0; i < PER && !err; i++) {
		snprintf(name, sizeof(name), "h%d-%d", me, i);
		err = pw_station_add(&nl, name, me, i, ns) ?: pw_link_up(&nl, name) ?:
		      ring_open(&st[i], pw_link_index(&nl, name));
	}
	for (i = 0; i < HOSTS - 1 && !err; i++) {
		p = peer_of(i);
		snprintf(name, sizeof(name), "t%d", i);
		t.name = name;
		t.port = PER + i;
		t.insecure = true;
		/* 10.77.LOWER-HIGHER.HOST, see host_reduce.sh */
		t.local = 0x0a4d0000 | (10 * (p < me ? p : me) + (p < me ? me : p)) << 8;
		t.remote = t.local | p;
		t.local |= me;
		err = pw_trunk_add(&g, &t);
		snprintf(name, sizeof(name), "eth%d", i);
		tap[i] = pw_packet_open(ns, SOCK_RAW, ETH_P_IP, pw_link_index(&nl, name));
	}
	for (i = 0; i < HOSTS - 1 && !err; i++)
		err = wait_direct(peer_of(i));
	if (err) {
		errno = -err;
		die(g.nl.ext[0] ? g.nl.ext : "the host's SAN");
	}
}

/* packets of reductions that have arrived on a trunk since the last call */
static long arrivals(int trunk)
{
	const int udp = 14 + 20 + 8;
	uint8_t b[2048];
	long n = 0;
	int len;

	while ((len = recv(tap[trunk], b, sizeof(b), MSG_DONTWAIT)) >= 0)
		n += len >= udp + 40 && b[14 + 9] == IPPROTO_UDP && b[udp + 2] == 1 &&
		     pw_get(b + udp + 38, 2) == PW_PT_REDUCE;
	return n;
}

static void counts(uint64_t *v)
{
	static uint64_t sum[HOSTS - 1];
	char name[8];
	int j;

	for (j = 0; j < HOSTS - 1; j++) {
		snprintf(name, sizeof(name), "t%d", j);
		sum[j] += arrivals(j);
		v[4 * j + ARRIVALS] = sum[j];
		v[4 * j + ASKED] = pw_half_stat(&g, name, 0, PACKETWAY_A_HALF_STAT_REDUCE_ASKED);
		v[4 * j + REPEATED] = pw_half_stat(&g, name, 0,
						   PACKETWAY_A_HALF_STAT_REDUCE_REPEATED);
		v[4 * j + ANSWERED] = pw_half_stat(&g, name, 0,
						   PACKETWAY_A_HALF_STAT_REDUCE_ANSWERED);
	}
}

static void lose(int percent)
{
	char cmd[128];
	int j;

	for (j = 0; j < HOSTS - 1; j++) {
		snprintf(cmd, sizeof(cmd), "tc qdisc replace dev eth%d root netem loss %d%% limit 10000",
			 j, percent);
		if (system(cmd))
			die(cmd);
	}
}

/*
 * Rounds of a barrier: it is passed when the minimum over all stations of all hosts is the round.
 * The leader hears of a host before the last station of the host stores the round.
 */
static void barrier(uint32_t rounds, uint64_t *v)
{
	struct packetway_aton_reduce c;
	uint32_t round;
	int i, last;

	pw_seed += me;
	for (round = 1; round <= rounds; round++) {
		last = pw_below(PER);
		usleep(pw_below(20000));
		for (i = 0; i < PER; i++)
			if (i != last)
				__atomic_store_n(&st[i].op->operand[ROUND], round, __ATOMIC_RELEASE);
		say(lead, ARRIVED, round);
		hear(lead);
		__atomic_store_n(&st[last].op->operand[ROUND], round, __ATOMIC_RELEASE);
		do {
			c = (struct packetway_aton_reduce) {
				.size = sizeof(c), .op = PW_ATON_OP_MIN, .reg = ROUND,
				.sans = HOSTS, .timeout_ms = 40000,
			};
			if (pw_reduce(st[pw_below(PER)].fd, &c)) {
				v[FAILED]++;
				return;
			}
			v[RIGHT]++;
			v[WRONG] += c.out_counter != HOSTS * PER;
		} while (c.out_v1 < round);
		say(lead, PASSED, round);
		hear(lead);
	}
}

/* commands until they fail, because a host has gone */
static void free_run(uint64_t *v)
{
	double end = pw_now() + HANG / 2;
	bool told = false;
	struct command *k;

	while (v[FAILED] < FEW && pw_now() < end) {
		k = &list[pw_below(BATCH)];
		k->c.timeout_ms = 0;
		run(k, k->c, ALL, v);
		if (!told && v[RIGHT] >= FEW) {
			say(lead, FREE, 0);
			told = true;
		}
	}
}

/* without host 3: results that say so, and when its SAN is forgotten, results of two SANs */
static void after(uint64_t *v)
{
	double end = pw_now() + HANG / 2;
	struct packetway_aton_reduce c;
	uint64_t w[8] = {};
	struct command *k;
	int i;

	for (i = 0; i < FEW; i++) {
		k = &list[pw_below(BATCH)];
		c = k->c;
		c.flags = PACKETWAY_ATON_REDUCE_PARTIAL;
		c.timeout_ms = 5000;
		run(k, c, 1 << 1 | 1 << 2, v);
	}
	c.flags = 0;
	c.sans = 2;
	while (!w[RIGHT] && !w[WRONG] && pw_now() < end) {
		usleep(100000);
		run(k, c, 1 << 1 | 1 << 2, w);
	}
	v[RIGHT] += w[RIGHT];
	v[WRONG] += w[WRONG];
}

static void member(int host, const char *address)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	double end = pw_now() + HANG;
	struct msg m, r;
	pthread_t t;

	me = host;
	make_host();
	if (pthread_create(&t, NULL, tick, NULL))
		die("thread");
	inet_pton(AF_INET, address, &to.sin_addr);
	do {
		close(lead);
		lead = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (!connect(lead, (void *)&to, sizeof(to)))
			break;
		usleep(200000);
	} while (pw_now() < end);
	say(lead, READY, me);
	while (recv(lead, &m, sizeof(m), MSG_WAITALL) == sizeof(m)) {
		r = (struct msg) { .what = m.what };
		switch (m.what) {
		case SET:
			store(m.arg);
			break;
		case RUN:
			run_all(r.v);
			break;
		case COUNT:
			counts(r.v);
			break;
		case LOSE:
			lose(m.arg);
			break;
		case BARRIER:
			barrier(m.arg, r.v);
			break;
		case FREE:
			free_run(r.v);
			r.what = DEAD;
			break;
		case AFTER:
			after(r.v);
			break;
		case DIE:
			/* a reset without any farewell, which ends the guest */
			pw_write_file("/proc/sysrq-trigger", "b");
			die("still alive");
		}
		tell(lead, r);
	}
}

/* --- the leader ---------------------------------------------------------------------- */

static int to[HOSTS + 1];
static struct msg from[HOSTS + 1];

static void accept_all(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct timeval tv = { .tv_sec = HANG };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, i, s;
	struct msg m;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	if (bind(fd, (void *)&a, sizeof(a)) || listen(fd, HOSTS))
		die("listen");
	for (i = 0; i < HOSTS; i++) {
		s = accept(fd, NULL, NULL);
		if (s < 0)
			die("a member is missing");
		setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
		m = hear(s);
		to[m.arg] = s;
	}
	close(fd);
}

/* @hosts members do something; their answers are in from[] */
static void all(enum what what, uint32_t arg, int hosts)
{
	int h;

	for (h = 1; h <= hosts; h++)
		say(to[h], what, arg);
	for (h = 1; h <= hosts; h++)
		from[h] = hear(to[h]);
}

static uint64_t sum(int what, int hosts)
{
	uint64_t n = 0;
	int h;

	for (h = 1; h <= hosts; h++)
		n += from[h].v[what];
	return n;
}

/* the trunk of host @h to host @to */
static int trunk_to(int h, int peer)
{
	return peer - 1 - (peer > h);
}

/*
 * Batches from number @first on, with at least @n commands. The packets on each trunk are two for
 * each command that a host at one of its ends started, and those that repetitions make.
 */
static void phase(const char *name, uint32_t *first, long n, bool lossy)
{
	struct msg before[HOSTS + 1];
	uint64_t right = 0, failed = 0, wrong = 0, v, packets, repeated, sent, all_packets = 0;
	uint64_t started[HOSTS + 1] = {}, all_repeated = 0, lost = 0;
	double start = pw_now();
	bool two = true;
	int a, b, e, h;

	all(COUNT, 0, HOSTS);
	memcpy(before, from, sizeof(from));
	while ((long)(right + failed + wrong) < n) {
		all(SET, (*first)++, HOSTS);
		all(RUN, 0, HOSTS);
		right += sum(RIGHT, HOSTS);
		failed += sum(FAILED, HOSTS);
		wrong += sum(WRONG, HOSTS);
		for (h = 1; h <= HOSTS; h++)
			started[h] += from[h].v[RIGHT] + from[h].v[WRONG];
		/* sockets that count have room for a batch */
		all(COUNT, 0, HOSTS);
	}
	for (a = 1; a < HOSTS; a++)
		for (b = a + 1; b <= HOSTS; b++) {
			packets = repeated = sent = 0;
			for (e = 0; e < 2; e++) {
				h = e ? b : a;
				v = 4 * trunk_to(h, e ? a : b);
				packets += from[h].v[v + ARRIVALS] - before[h].v[v + ARRIVALS];
				repeated += from[h].v[v + REPEATED] - before[h].v[v + REPEATED];
				sent += from[h].v[v + ASKED] - before[h].v[v + ASKED] +
					from[h].v[v + ANSWERED] - before[h].v[v + ANSWERED];
			}
			sent += repeated;
			v = 2 * (started[a] + started[b]);
			ksft_print_msg("%s: trunk %d-%d: %llu packets for %llu commands (%.3f), %llu repeated, %lld lost\n",
				       name, a, b, (unsigned long long)packets,
				       (unsigned long long)v / 2, v ? 2.0 * packets / v : 0.0,
				       (unsigned long long)repeated, (long long)(sent - packets));
			two &= packets >= v && packets <= v + 2 * repeated;
			all_packets += packets;
			all_repeated += repeated;
			lost += sent - packets;
		}
	ksft_print_msg("%s: %llu commands in %.0f s: %llu right, %llu failed, %llu wrong; %llu packets\n",
		       name, (unsigned long long)(right + failed + wrong), pw_now() - start,
		       (unsigned long long)right, (unsigned long long)failed,
		       (unsigned long long)wrong, (unsigned long long)all_packets);
	ksft_test_result(!failed && !wrong, "%s: all results are those of 192 stations\n", name);
	ksft_test_result(two, "%s: two packets on a trunk for each reduction, unless repeated\n",
			 name);
	if (lossy)
		ksft_test_result(lost && all_repeated, "%s: some were lost and sent again\n", name);
}

/* the members' barrier: none passes a round that another one has not reached */
static void watch_barrier(uint32_t rounds)
{
	uint32_t reached[HOSTS + 1] = {};
	long ahead = 0, passed = 0;
	struct pollfd p[HOSTS];
	int h, o, left = HOSTS;
	struct msg m;

	for (h = 1; h <= HOSTS; h++)
		say(to[h], BARRIER, rounds);
	while (left) {
		for (h = 1; h <= HOSTS; h++)
			p[h - 1] = (struct pollfd) { .fd = to[h], .events = POLLIN };
		if (poll(p, HOSTS, HANG * 1000) <= 0)
			die("barrier");
		for (h = 1; h <= HOSTS; h++) {
			if (!p[h - 1].revents)
				continue;
			m = hear(to[h]);
			if (m.what == BARRIER) {
				from[h] = m;
				left--;
				continue;
			}
			if (m.what == ARRIVED)
				reached[h] = m.arg;
			else
				passed++;
			for (o = 1; m.what == PASSED && o <= HOSTS; o++)
				ahead += reached[o] < m.arg;
			tell(to[h], m);
		}
	}
	ksft_print_msg("barrier: %u rounds, %llu commands\n", rounds,
		       (unsigned long long)sum(RIGHT, HOSTS));
	ksft_test_result(passed == (long)HOSTS * rounds && !sum(FAILED, HOSTS) && !sum(WRONG, HOSTS),
			 "all hosts pass all rounds of a barrier\n");
	ksft_test_result(!ahead, "none passes before all stations have reached it\n");
}

/* host 3 dies while the others have commands running */
static void kill_host(void)
{
	bool late = false;
	int h;

	for (h = 1; h < HOSTS; h++)
		say(to[h], FREE, 0);
	for (h = 1; h < HOSTS; h++)
		if (hear(to[h]).what != FREE)
			die("commands fail before a host has gone");
	say(to[HOSTS], DIE, 0);
	for (h = 1; h < HOSTS; h++) {
		from[h] = hear(to[h]);
		ksft_print_msg("host %d: %llu right, %llu failed, the first: %s; an error after %.2f s at most, %llu ticks of %d ms\n",
			       h, (unsigned long long)from[h].v[RIGHT],
			       (unsigned long long)from[h].v[FAILED],
			       strerror(from[h].v[FIRST_ERR]), from[h].v[SLOWEST_MS] / 1000.0,
			       (unsigned long long)from[h].v[SLOWEST_TICKS], TICK_MS);
	}
	ksft_test_result(from[1].v[FAILED] == FEW && from[2].v[FAILED] == FEW,
			 "a host is killed: commands fail\n");
	ksft_test_result(!sum(WRONG, 2), "none of the results is wrong\n");
	for (h = 1; h < HOSTS; h++)
		late |= from[h].v[SLOWEST_TICKS] * TICK_MS > IN_TIME;
	ksft_test_result(!late, "errors come within %d s\n", IN_TIME / 1000);
	all(AFTER, 0, 2);
	ksft_test_result(!sum(WRONG, 2) && !sum(FAILED, 2) && sum(RIGHT, 2) == 2 * (FEW + 1),
			 "partial results are those of 128 stations\n");
}

static int leader(long commands, uint32_t rounds)
{
	uint32_t n = 0;
	pid_t child;

	child = fork();
	if (!child) {
		member(1, "127.0.0.1");
		exit(0);
	}
	accept_all();
	ksft_print_header();
	ksft_set_plan(11);
	phase("no loss", &n, commands / 4, false);
	all(LOSE, 1, HOSTS);
	phase("1 % loss", &n, commands, true);
	all(SET, n++, HOSTS);
	watch_barrier(rounds);
	kill_host();
	close(to[1]);
	close(to[2]);
	waitpid(child, NULL, 0);
	ksft_finished();
}

int main(int argc, char **argv)
{
	setlinebuf(stdout);
	if (argc == 4 && !strcmp(argv[1], "lead"))
		return leader(atol(argv[2]), atoi(argv[3]));
	if (argc == 4 && !strcmp(argv[1], "join")) {
		member(atoi(argv[2]), argv[3]);
		return 0;
	}
	fprintf(stderr, "usage: reduce_peer lead COMMANDS ROUNDS | join HOST ADDRESS\n");
	return 2;
}
