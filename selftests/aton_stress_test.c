// SPDX-License-Identifier: GPL-2.0
/*
 * 64 threads on 16 stations while stations go down and up and move between
 * namespaces, the token is lost or doubled, bits are flipped and packets swallowed.
 *
 * The operands keep an invariant whatever the stations do: station i holds
 * 2^(3i) in register 0, so a sum tells which stations took part; its number of
 * octal ones must be the counter. MIN and MAX must be a value that exists, with
 * its owner's address. Anything else is a wrong result. In the quiet phases all
 * stations are up and every result is known.
 *
 * What is done when, to which station, follows from the seed (PW_SEED, default 1):
 * rounds of all disturbances, each round in another order. Each must be felt: the
 * next one comes only after a command has ended as it should then.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "kselftest.h"
#include "pwring.h"

#define STATIONS 16
#define THREADS 64
/* behind the stations, in no command's region: two tokens fit on the ring */
#define OTHERS 40
#define GROUP 1
#define QUIET_US 100000
/* wall-clock seconds for anything to happen, on any machine */
#define PATIENCE 60

static struct ring_if st[STATIONS];
static int home, other, ctl;
static struct pw_nl nl_home, nl_other;
static unsigned int seed;
static atomic_bool stop;
static atomic_uint phase;	/* even: all is quiet */
static atomic_long good[STATIONS], down[STATIONS];	/* commands there */
static atomic_long damaged, lost, cut_off, exact, wrong;

static uint64_t value_of(int i)
{
	return 1ULL << (3 * i);
}

static void bad(const char *what, const struct packetway_aton_command *c)
{
	if (atomic_fetch_add(&wrong, 1) < 5)
		ksft_print_msg("wrong %s: op %u counter %llu v1 %llx v2 %llx\n", what, c->op,
			       (unsigned long long)c->out_counter, (unsigned long long)c->out_v1,
			       (unsigned long long)c->out_v2);
}

static void check(const struct packetway_aton_command *c, bool all)
{
	uint64_t v = c->out_v1, n = 0;
	int owner = (int)c->out_v2 - 1;

	switch (c->op) {
	case PW_ATON_OP_ADD:
	case PW_ATON_OP_OR:
		for (; v; v >>= 3, n++)
			if ((v & 7) > 1)
				bad("operand taken twice", c);
			else if (!(v & 7))
				n--;
		if (n != c->out_counter)
			bad("counter", c);
		break;
	case PW_ATON_OP_MAX:
	case PW_ATON_OP_MIN:
		if (owner < 0 || owner >= STATIONS || v != value_of(owner))
			bad("owner", c);
		break;
	case PW_ATON_OP_COUNT_LE:
		if (c->out_v2 > c->out_counter || !c->out_v2)
			bad("count", c);
		break;
	}
	if (!all)
		return;
	if (c->out_counter != STATIONS)
		bad("number of stations", c);
	if (c->op == PW_ATON_OP_ADD && c->out_v1 != 01111111111111111ULL)
		bad("sum", c);
	if (c->op == PW_ATON_OP_MAX && c->out_v1 != value_of(STATIONS - 1))
		bad("maximum", c);
}

static void *worker(void *arg)
{
	static const unsigned int ops[] = { PW_ATON_OP_ADD, PW_ATON_OP_OR, PW_ATON_OP_MAX,
		PW_ATON_OP_MIN, PW_ATON_OP_COUNT_LE };
	unsigned int random = (uintptr_t)arg;
	int i = random % STATIONS;

	/* 64 of them leave few turns to the kernel's threads, which all changes wait for */
	setpriority(PRIO_PROCESS, syscall(SYS_gettid), 19);
	while (!stop) {
		struct packetway_aton_command c = ring_cmd(ops[rand_r(&random) % 5]);
		unsigned int before = phase;
		bool all;

		c.dst = PW_ADDR_LOGICAL_MIN | GROUP;
		switch (ring_run(st[i].fd, &c)) {
		case 0:
			all = !(before % 2) && phase == before;
			check(&c, all);
			good[i]++;
			exact += all;
			break;
		case -EBADMSG:
			damaged++;
			break;
		case -EIO:
			lost++;
			break;
		case -ENETDOWN:
			/* refused, or it was queued when the station went down */
			cut_off += c.out_error == PACKETWAY_ATON_E_DOWN;
			down[i]++;
			break;
		default:
			bad("error", &c);
		}
	}
	return NULL;
}

#define WAIT_FOR(condition) ({						\
	double end_ = pw_now() + PATIENCE;				\
	bool met_;							\
									\
	while (!(met_ = (condition)) && pw_now() < end_)		\
		usleep(500);						\
	met_; })

static long all_good(void)
{
	long sum = 0;

	for (int i = 0; i < STATIONS; i++)
		sum += good[i];
	return sum;
}

/* its threads get results again */
static bool works(int i)
{
	long before = good[i];

	return WAIT_FOR(good[i] > before + 4);
}

static const char *name_of(int i)
{
	static char name[16];

	snprintf(name, sizeof(name), "s%d", i);
	return name;
}

static bool down_and_up(int i)
{
	long before = down[i];

	return !pw_link_down(&nl_home, name_of(i)) && WAIT_FOR(down[i] > before) &&
	       !pw_link_up(&nl_home, name_of(i)) && works(i);
}

static bool move_and_back(int i)
{
	long before = down[i];

	return !pw_link_move(&nl_home, name_of(i), other) && WAIT_FOR(down[i] > before) &&
	       !pw_link_up(&nl_other, name_of(i)) && works(i) &&
	       !pw_link_move(&nl_other, name_of(i), home) &&
	       !pw_link_up(&nl_home, name_of(i)) && works(i);
}

/* a fault on the ring: @counter tells that it was there, @felt grows in consequence */
static bool fault(const char *what, const char *counter, atomic_long *felt)
{
	uint64_t before = pw_stat(ctl, "s0", counter);
	long felt_before = felt ? *felt : 0, good_before;

	if (ring_fault(home, 0, what) || !WAIT_FOR(pw_stat(ctl, "s0", counter) == before + 1))
		return false;
	good_before = all_good();
	return (!felt || WAIT_FOR(*felt == felt_before + 1)) && WAIT_FOR(all_good() > good_before);
}

static bool lose_token(int i)
{
	return fault("lose", "ring_tokens_lost", NULL);
}

static bool double_token(int i)
{
	return fault("dup", "ring_tokens_duplicate", NULL);
}

/* any symbol of a basic command's packet, at any hop */
static bool flip_bit(int i)
{
	char what[32];

	snprintf(what, sizeof(what), "flip %d %d", rand_r(&seed) % (STATIONS + OTHERS),
		 rand_r(&seed) % 272);
	return fault(what, "ring_flips", &damaged);
}

/* the stuck one swallows a packet and is bypassed until it is taken down and up */
static bool swallow_packet(int i)
{
	char what[32];

	snprintf(what, sizeof(what), "stuck %d", i);
	return fault(what, "ring_stuck", &lost) && !pw_link_down(&nl_home, name_of(i)) &&
	       !pw_link_up(&nl_home, name_of(i)) && works(i);
}

static struct disturbance {
	const char *what;
	bool (*make)(int station);
	long times, unfelt;
	double seconds;
} noise[] = {
	{ .what = "station down and up", .make = down_and_up },
	{ .what = "station to another namespace and back", .make = move_and_back },
	{ .what = "token lost", .make = lose_token },
	{ .what = "token doubled", .make = double_token },
	{ .what = "bit flipped", .make = flip_bit },
	{ .what = "packet swallowed", .make = swallow_packet },
};

#define KINDS (sizeof(noise) / sizeof(noise[0]))

static void disturb(struct disturbance *d)
{
	double start = pw_now();
	int i = rand_r(&seed) % STATIONS;

	if (!d->make(i)) {
		ksft_print_msg("not felt: %s, station %d\n", d->what, i);
		d->unfelt++;
	}
	d->times++;
	d->seconds += pw_now() - start;
}

/* all kinds once, in random order */
static void disturb_round(void)
{
	struct disturbance *order[KINDS], *d;
	unsigned int k, r;

	for (k = 0; k < KINDS; k++)
		order[k] = &noise[k];
	phase++;
	for (k = 0; k < KINDS; k++) {
		r = k + rand_r(&seed) % (KINDS - k);
		d = order[r];
		order[r] = order[k];
		disturb(d);
	}
	phase++;
	usleep(QUIET_US);
}

static void make_stations(void)
{
	struct packetway_ring_create others = {
		.size = sizeof(others), .count = OTHERS, .regs = 1,
	};
	struct packetway_aton_set group = {
		.size = sizeof(group), .flags = PACKETWAY_ATON_SET_GROUP, .group = GROUP,
	};

	home = pw_ns_new();
	other = pw_ns_new();
	if (home < 0 || other < 0 || setns(home, CLONE_NEWNET) || pw_nl_open(&nl_home, home) ||
	    pw_nl_open(&nl_other, other))
		ksft_exit_fail_msg("namespaces\n");
	ctl = pw_ns_socket(home, AF_INET, SOCK_DGRAM, 0);
	for (int i = 0; i < STATIONS; i++) {
		if (pw_station_add(&nl_home, name_of(i), 0, i, -1) ||
		    pw_link_up(&nl_home, name_of(i)) ||
		    ring_open(&st[i], pw_link_index(&nl_home, name_of(i))) ||
		    ioctl(st[i].fd, PACKETWAY_IOC_ATON_SET, &group))
			ksft_exit_fail_msg("station %d\n", i);
		st[i].op->operand[0] = value_of(i);
	}
	if (ioctl(st[0].fd, PACKETWAY_IOC_RING_CREATE, &others))
		ksft_exit_fail_msg("interfaces\n");
}

/* how many threads do not come back */
static int waiters_lost(const pthread_t *t)
{
	struct timespec end;
	int left = 0;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE;
	for (int i = 0; i < THREADS; i++)
		left += pthread_timedjoin_np(t[i], NULL, &end) != 0;
	return left;
}

/* what the threads saw is what the ring says */
static bool same(const char *counter, long seen)
{
	uint64_t v = pw_stat(ctl, "s0", counter);

	ksft_print_msg("%s: %llu, %ld seen\n", counter, (unsigned long long)v, seen);
	return v == (uint64_t)seen;
}

int main(void)
{
	double seconds = pw_count(6, 10), end;
	const char *s = getenv("PW_SEED");
	pthread_t t[THREADS];
	int left;

	ksft_print_header();
	ksft_set_plan(KINDS + 4);
	seed = s ? atoi(s) : 1;
	make_stations();
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	end = pw_now() + seconds;
	do
		disturb_round();
	while (pw_now() < end);
	stop = true;
	left = waiters_lost(t);

	ksft_print_msg("%ld commands in %.0f s, %ld of them checked exactly; %ld damaged, %ld lost, %ld cut off\n",
		       all_good() + damaged + lost + cut_off, seconds, exact, damaged, lost, cut_off);
	ksft_test_result(!wrong, "no wrong result\n");
	ksft_test_result(exact >= THREADS, "known results in the quiet phases\n");
	for (unsigned int k = 0; k < KINDS; k++)
		ksft_test_result(noise[k].times && !noise[k].unfelt, "%s: %ld times, %.0f ms each\n",
				 noise[k].what, noise[k].times,
				 noise[k].seconds / noise[k].times * 1e3);
	ksft_test_result(same("ring_err_crc", damaged) & same("ring_err_lost", lost) &
			 same("ring_err_down", cut_off), "every failure is accounted for\n");
	ksft_test_result(!left, "no waiter lost\n");
	if (!left)
		for (int i = 0; i < STATIONS; i++)
			ring_close(&st[i]);
	ksft_finished();
}
