// SPDX-License-Identifier: GPL-2.0
/*
 * pw-timeout: 150
 * 64 threads on 16 stations while stations go up and down, move between
 * namespaces, and the token is lost, doubled and swallowed at random.
 *
 * The operands keep an invariant whatever the stations do: station i holds
 * 2^(3i) in register 0, so a sum tells which stations took part; its number of
 * octal ones must be the counter. MIN and MAX must be a value that exists, with
 * its owner's address. Anything else is a wrong result. In the quiet phases all
 * stations are up and every result is known.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "kselftest.h"
#include "pwring.h"

#define STATIONS 16
#define THREADS 64

static struct ring_if st[STATIONS];
static int home, other;
static atomic_bool stop, quiet;
static atomic_int in_noise;
static atomic_long done, failed[6], wrong;

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
	unsigned int seed = (uintptr_t)arg;

	while (!stop) {
		struct packetway_aton_command c = ring_cmd(ops[rand_r(&seed) % 5]);
		int fd = st[(uintptr_t)arg % STATIONS].fd;
		bool all = quiet && !in_noise;
		int err = ring_run(fd, &c);

		all = all && quiet && !in_noise;
		switch (err) {
		case 0:
			check(&c, all);
			break;
		case -EBADMSG:
		case -EIO:
		case -ENETDOWN:
			atomic_fetch_add(&failed[c.out_error], 1);
			break;
		default:
			ksft_print_msg("errno %d\n", -err);
			atomic_fetch_add(&wrong, 1);
		}
		atomic_fetch_add(&done, 1);
	}
	return NULL;
}

/* one disturbance; everything is as before when it returns */
static void disturb(unsigned int *seed, struct pw_nl *nl, struct pw_nl *nl2)
{
	static const char *const faults[] = { "lose", "dup", "flip 3 100", "flip 0 250", "stuck 4" };
	char name[16];
	int i = rand_r(seed) % STATIONS;

	snprintf(name, sizeof(name), "s%d", i);
	switch (rand_r(seed) % 3) {
	case 0:
		pw_link_down(nl, name);
		usleep(rand_r(seed) % 2000);
		pw_link_up(nl, name);
		break;
	case 1:
		pw_link_move(nl, name, other);
		usleep(rand_r(seed) % 2000);
		pw_link_up(nl2, name);
		usleep(rand_r(seed) % 2000);
		pw_link_move(nl2, name, home);
		pw_link_up(nl, name);
		break;
	case 2:
		i = rand_r(seed) % 5;
		ring_fault(home, 0, faults[i]);
		if (i == 4) {
			/* the stuck one is bypassed until it is taken down and up */
			usleep(20000);
			pw_link_down(nl, "s4");
			pw_link_up(nl, "s4");
		}
		break;
	}
}

int main(void)
{
	double seconds = pw_scaled(6, 6), end;
	pthread_t t[THREADS];
	struct pw_nl nl, nl2;
	unsigned int seed = 1;
	long noise = 0;
	char name[16];
	int ctl;

	ksft_print_header();
	ksft_set_plan(4);
	home = pw_ns_new();
	other = pw_ns_new();
	setns(home, CLONE_NEWNET);
	if (pw_nl_open(&nl, home) || pw_nl_open(&nl2, other))
		ksft_exit_fail_msg("namespaces\n");
	for (int i = 0; i < STATIONS; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		if (pw_station_add(&nl, name, 0, i, -1) || pw_link_up(&nl, name) ||
		    ring_open(&st[i], pw_link_index(&nl, name)))
			ksft_exit_fail_msg("station %d\n", i);
		st[i].op->operand[0] = value_of(i);
	}
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);

	end = pw_now() + seconds;
	while (pw_now() < end) {
		quiet = true;
		usleep(200000);
		quiet = false;
		in_noise = 1;
		for (int k = 0; k < 20; k++, noise++)
			disturb(&seed, &nl, &nl2);
		in_noise = 0;
	}
	stop = true;
	/* a waiter that is lost hangs here, and the runner says so */
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);

	ctl = pw_ns_socket(home, AF_INET, SOCK_DGRAM, 0);
	ksft_print_msg("%ld commands in %.0f s, %ld disturbances; ended with error: %ld crc %ld lost %ld down\n",
		       done, seconds, noise, failed[1], failed[2], failed[3]);
	ksft_print_msg("ring: %llu packets, %llu tokens lost, %llu orphans\n",
		       (unsigned long long)pw_stat(ctl, "s0", "ring_packets"),
		       (unsigned long long)pw_stat(ctl, "s0", "ring_tokens_lost"),
		       (unsigned long long)pw_stat(ctl, "s0", "ring_orphans"));
	ksft_test_result(!wrong, "no wrong result\n");
	ksft_test_result(done > THREADS, "every thread got somewhere\n");
	/* on a slow kernel there is time for one round of them, of any kind */
	ksft_test_result(failed[1] + failed[2] + failed[3] > 0, "the disturbances were felt\n");
	for (int i = 0; i < STATIONS; i++)
		ring_close(&st[i]);
	ksft_test_result_pass("no waiter lost\n");
	ksft_finished();
}
