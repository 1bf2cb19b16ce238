// SPDX-License-Identifier: GPL-2.0
/*
 * time_bench: what lockstep costs, in a namespace with stations s0 and s1.
 *
 *	time_bench talk ROUNDS			two processes send a message to and fro
 *	time_bench talk-lockstep ROUNDS		the same as participants
 *	time_bench futex ROUNDS			two threads wake each other
 *	time_bench wake ROUNDS			a participant waits for a time
 *	time_bench sleep ROUNDS			a thread waits for a timer of the host
 *
 * Prints nanoseconds of real time for each round (talk: of two messages; futex: of one wake-up).
 */
#include "pwtest.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define PT_TEST 0x0777

static int rounds;

static double nanos(void)
{
	return pw_now() * 1e9;
}

static int time_open(void)
{
	struct packetway_time_open o = { .size = sizeof(o) };
	int dev = open("/dev/" PACKETWAY_DEVICE, O_RDWR | O_CLOEXEC);

	return dev < 0 ? -1 : ioctl(dev, PACKETWAY_IOC_TIME_OPEN, &o);
}

static void join(int clk, uint32_t order)
{
	struct packetway_time_join j = { .size = sizeof(j), .order = order };

	if (ioctl(clk, PACKETWAY_IOC_TIME_JOIN, &j)) {
		perror("join");
		exit(2);
	}
}

static void talk_side(int self, int fd)
{
	uint8_t out[256], in[256], data[8] = { 0 };
	int n = pw_msg(out, 2 - self, 1 + self, PT_TEST, 0, 0, data, sizeof(data)), i;

	for (i = 0; i < rounds; i++) {
		if (!self && send(fd, out, n, 0) != n)
			exit(2);
		if (recv(fd, in, sizeof(in), 0) < 0)
			exit(2);
		if (self && send(fd, out, n, 0) != n)
			exit(2);
	}
}

static double talk(bool lockstep)
{
	struct sockaddr_ll sll = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_PACKETWAY) };
	int fd[2], clk = lockstep ? time_open() : -1, i, status;
	struct ifreq ifr = {};
	double start;
	pid_t child;

	if (lockstep && clk < 0) {
		perror("no clock");
		exit(2);
	}
	for (i = 0; i < 2; i++) {
		snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "s%d", i);
		fd[i] = socket(AF_PACKET, SOCK_RAW, 0);
		if (fd[i] < 0 || ioctl(fd[i], SIOCGIFINDEX, &ifr)) {
			perror(ifr.ifr_name);
			exit(2);
		}
		sll.sll_ifindex = ifr.ifr_ifindex;
		if (bind(fd[i], (void *)&sll, sizeof(sll))) {
			perror(ifr.ifr_name);
			exit(2);
		}
	}
	child = fork();
	if (!child) {
		if (lockstep)
			join(clk, 1);
		talk_side(1, fd[1]);
		_exit(0);
	}
	if (lockstep)
		join(clk, 0);
	start = nanos();
	talk_side(0, fd[0]);
	start = nanos() - start;
	if (waitpid(child, &status, 0) != child || status)
		exit(2);
	return start / rounds;
}

static uint32_t turn;

static void pass_on(uint32_t me)
{
	int i;

	for (i = 0; i < rounds; i++) {
		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !me, NULL, NULL, 0);
		__atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

static void *other(void *arg)
{
	(void)arg;
	pass_on(1);
	return NULL;
}

static double futexes(void)
{
	pthread_t t;
	double start;

	if (pthread_create(&t, NULL, other, NULL))
		exit(2);
	start = nanos();
	pass_on(0);
	pthread_join(t, NULL);
	return (nanos() - start) / rounds / 2;
}

static double wake(void)
{
	struct packetway_time_wait w = { .size = sizeof(w) };
	int clk = time_open(), i;
	double start;

	if (clk < 0) {
		perror("no clock");
		exit(2);
	}
	join(clk, 0);
	start = nanos();
	for (i = 0; i < rounds; i++) {
		w.flags = PACKETWAY_TIME_WAIT_FOR;
		w.until = 1000;
		if (ioctl(clk, PACKETWAY_IOC_TIME_WAIT, &w))
			exit(2);
	}
	return (nanos() - start) / rounds;
}

static double sleeps(void)
{
	struct timespec ts = { .tv_nsec = 1 };
	double start;
	int i;

	prctl(PR_SET_TIMERSLACK, 1);
	start = nanos();
	for (i = 0; i < rounds; i++)
		nanosleep(&ts, NULL);
	return (nanos() - start) / rounds;
}

int main(int argc, char **argv)
{
	const char *what = argc == 3 ? argv[1] : "";

	rounds = argc == 3 ? atoi(argv[2]) : 0;
	if (rounds < 1)
		return 1;
	if (!strncmp(what, "talk", 4))
		printf("%.0f\n", talk(!strcmp(what, "talk-lockstep")));
	else if (!strcmp(what, "futex"))
		printf("%.0f\n", futexes());
	else if (!strcmp(what, "wake"))
		printf("%.0f\n", wake());
	else if (!strcmp(what, "sleep"))
		printf("%.0f\n", sleeps());
	else
		return 1;
	return 0;
}
