// SPDX-License-Identifier: GPL-2.0
/*
 * reduce_bench: what a sum over all costs, in a guest whose nanoseconds are
 * instructions.
 *
 *	reduce_bench ring|udp ROUNDS NETNS...
 *	reduce_bench ifaces NETNS DEV
 *
 * ring, udp: one process in each namespace, each with an 8-byte operand, and every
 * one of them gets, and checks, the sum: by the ring of the stations pw0, or by a flat
 * reduce and broadcast between UDP sockets on 10.8.0.RANK. Prints: KIND ns N per
 * operation, and for the ring packets N per operation.
 *
 * ifaces: a station with more and more ring-only interfaces behind it, beside a plain
 * loop over the same operands; and packets on the ring for each reduction.
 */
#include "pwring.h"

#include <sys/wait.h>

#define MOST	64		/* processes */
#define WARM_UP	50		/* rounds before the clock starts */
#define PORT	4242
#define BATCHES	10		/* of which the best counts: no timer came in between */

/* shared with the parent */
struct times {
	double start[MOST], end[MOST];
};

struct member {
	int rank, n;
	long round;
	struct ring_if ring;
	int fd[MOST];		/* UDP: to the root; the root has one to each rank */
};

struct kind {
	const char *name;
	void (*join)(struct member *m);
	uint64_t (*sum)(struct member *m, uint64_t operand);
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void enter_netns(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(path);
	close(fd);
}

static int ifindex(const char *dev)
{
	struct pw_nl nl;
	int ns = pw_ns_self(), index;

	if (ns < 0 || pw_nl_open(&nl, ns))
		die("netlink");
	index = pw_link_index(&nl, dev);
	close(nl.fd);
	close(ns);
	return index;
}

static uint64_t ring_packets(const char *dev)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t v = pw_stat(fd, dev, "ring_packets");

	close(fd);
	return v;
}

static void command(struct ring_if *r, struct packetway_aton_command *c)
{
	int err = ring_run(r->fd, c);

	if (err) {
		errno = -err;
		die("command");
	}
}

static void ring_join(struct member *m)
{
	struct packetway_aton_lease l = { .size = sizeof(l), .regs = 1, .group = 1, .key = 1 };

	if (ring_open(&m->ring, ifindex("pw0")) || ioctl(m->ring.fd, PACKETWAY_IOC_ATON_LEASE, &l))
		die("pw0");
}

static uint64_t ring_sum(struct member *m, uint64_t operand)
{
	struct packetway_aton_round c = {
		.size = sizeof(c), .members = m->n, .round = m->round, .op = PW_ATON_OP_ADD,
		.count = 1, .word = { operand },
	};

	if (ioctl(m->ring.fd, PACKETWAY_IOC_ATON_ROUND, &c))
		die("round");
	return c.out_v1[0];
}

static struct sockaddr_in udp_addr(int rank, int port)
{
	return (struct sockaddr_in) {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(0x0a080000 | (rank + 1)),
	};
}

/* connected, so that each message is spared the search for its route */
static int udp_socket(int rank, int port, int to, int to_port)
{
	struct sockaddr_in here = udp_addr(rank, port), there = udp_addr(to, to_port);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (void *)&here, sizeof(here)) ||
	    connect(fd, (void *)&there, sizeof(there)))
		die("socket");
	return fd;
}

static void udp_join(struct member *m)
{
	int i;

	if (m->rank)
		m->fd[0] = udp_socket(m->rank, PORT, 0, PORT + m->rank);
	for (i = 1; !m->rank && i < m->n; i++)
		m->fd[i] = udp_socket(0, PORT + i, i, PORT);
}

static void udp_send(int fd, uint64_t v)
{
	if (send(fd, &v, sizeof(v), 0) != sizeof(v))
		die("send");
}

static uint64_t udp_recv(int fd)
{
	uint64_t v;

	if (recv(fd, &v, sizeof(v), 0) != sizeof(v))
		die("recv");
	return v;
}

static uint64_t udp_sum(struct member *m, uint64_t operand)
{
	uint64_t sum = operand;
	int i;

	if (m->rank) {
		udp_send(m->fd[0], operand);
		return udp_recv(m->fd[0]);
	}
	for (i = 1; i < m->n; i++)
		sum += udp_recv(m->fd[i]);
	for (i = 1; i < m->n; i++)
		udp_send(m->fd[i], sum);
	return sum;
}

static const struct kind kinds[] = {
	{ "ring", ring_join, ring_sum },
	{ "udp", udp_join, udp_sum },
};

/* one process: @rounds sums after some that warm up */
static void work(const struct kind *kind, struct member *m, long rounds, struct times *t)
{
	uint64_t ranks = (uint64_t)m->n * (m->n + 1) / 2;

	for (m->round = 1; m->round <= WARM_UP + rounds; m->round++) {
		if (m->round == WARM_UP + 1)
			t->start[m->rank] = pw_now();
		if (kind->sum(m, m->round * (m->rank + 1)) != m->round * ranks) {
			fprintf(stderr, "rank %d, round %ld: another sum\n", m->rank, m->round);
			exit(1);
		}
	}
	t->end[m->rank] = pw_now();
}

/* all join before the first starts: a packet to a closed port is refused */
static void member(const struct kind *kind, struct member *m, long rounds, struct times *t,
		   int joined, int go)
{
	char c = 0;

	alarm(60);
	kind->join(m);
	if (write(joined, &c, 1) != 1 || read(go, &c, 1) != 1)
		die("pipe");
	work(kind, m, rounds, t);
	exit(0);
}

static int together(const struct kind *kind, long rounds, char **netns, int n)
{
	struct times *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int joined[2], go[2], i, status, bad = 0;
	bool ring = kind->join == ring_join;
	uint64_t packets = 0;
	double start, end;
	char c;

	enter_netns(netns[0]);
	if (ring)
		packets = ring_packets("pw0");
	if (t == MAP_FAILED || pipe(joined) || pipe(go))
		die("pipe");
	for (i = 0; i < n; i++) {
		struct member m = { .rank = i, .n = n };

		if (fork())
			continue;
		enter_netns(netns[i]);
		member(kind, &m, rounds, t, joined[1], go[0]);
	}
	/* so that it ends when no writer is left */
	close(joined[1]);
	for (i = 0; i < n; i++)
		if (read(joined[0], &c, 1) != 1)
			die("pipe");
	for (i = 0; i < n; i++)
		if (write(go[1], &c, 1) != 1)
			die("pipe");
	for (i = 0; i < n; i++)
		if (wait(&status) < 0 || status)
			bad = 1;
	start = t->start[0];
	end = t->end[0];
	for (i = 1; i < n; i++) {
		start = t->start[i] < start ? t->start[i] : start;
		end = t->end[i] > end ? t->end[i] : end;
	}
	printf("%s ns %.0f", kind->name, (end - start) / rounds * 1e9);
	if (ring)
		printf(" packets %.2f",
		       (ring_packets("pw0") - packets) / (double)(rounds + WARM_UP));
	printf("\n");
	return bad;
}

/* not inlined, so that repeating it is not optimised away */
static __attribute__((noinline)) uint64_t loop(const uint64_t *x, long n)
{
	uint64_t sum = 0;
	long i;

	for (i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

/* nanoseconds, the best of some, of a sum over all: on the ring or by the loop */
static double best(struct ring_if *r, const uint64_t *x, long n, long times)
{
	struct packetway_aton_command c = ring_cmd(PW_ATON_OP_ADD);
	uint64_t want = loop(x, n);
	double t, min = 1e30;
	volatile uint64_t sum;
	long i, k;

	for (k = 0; k < BATCHES; k++) {
		t = pw_now();
		for (i = 0; i < times; i++) {
			if (r) {
				command(r, &c);
				sum = c.out_v1;
			} else {
				sum = loop(x, n);
			}
		}
		t = (pw_now() - t) / times * 1e9;
		min = t < min ? t : min;
	}
	if (sum != want || (r && c.out_counter != (uint64_t)n)) {
		fprintf(stderr, "%ld interfaces: another sum\n", n);
		exit(1);
	}
	return min;
}

static void fill(struct ring_if *r, uint64_t *x, long n)
{
	struct packetway_ring_create make = {
		.size = sizeof(make), .count = n - 1, .regs = 1,
	};
	struct packetway_ring_operands set = {
		.size = sizeof(set), .count = n - 1, .operands = (uintptr_t)(x + 1),
	};
	long i;

	for (i = 0; i < n; i++)
		x[i] = i * 2654435761u;
	r->op->operand[0] = x[0];
	if (n > 1 && (ioctl(r->fd, PACKETWAY_IOC_RING_CREATE, &make) ||
		      ioctl(r->fd, PACKETWAY_IOC_RING_OPERANDS, &set)))
		die("ring-only interfaces");
}

/* what a sum over @n costs on the ring of station @dev and in the loop */
struct cost {
	double ring, loop;
	uint64_t packets, sums;
};

static struct cost measure(const char *dev, uint64_t *x, long n)
{
	long times = n < 10000 ? 200 : 2;
	struct cost c;
	struct ring_if r;

	if (ring_open(&r, ifindex(dev)))
		die(dev);
	fill(&r, x, n);
	c.packets = ring_packets(dev);
	c.ring = best(&r, x, n, times);
	c.packets = ring_packets(dev) - c.packets;
	c.sums = BATCHES * times;
	c.loop = best(NULL, x, n, times);
	ring_close(&r);
	return c;
}

static int ifaces(const char *netns, const char *dev)
{
	static const long size[] = { 8, 64, 1024, 1000000 };
	struct cost alone, half, all;
	unsigned int i;
	uint64_t *x;

	enter_netns(netns);
	x = calloc(1000000, sizeof(*x));
	if (!x)
		die("memory");
	/*
	 * What a ring of one costs is the system call and the packet; from there on each
	 * interface adds something, and the first of them a little more.
	 */
	alone = measure(dev, x, 1);
	for (i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		long n = size[i];

		half = measure(dev, x, n / 2);
		all = measure(dev, x, n);
		printf("n %ld ring %.0f loop %.0f each %.3f %.3f fromone %.3f packets %llu of %llu\n", n,
		       all.ring, all.loop, (all.ring - half.ring) / (n - n / 2),
		       (all.loop - half.loop) / (n - n / 2), (all.ring - alone.ring) / (n - 1),
		       (unsigned long long)all.packets, (unsigned long long)all.sums);
	}
	free(x);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc == 4 && !strcmp(argv[1], "ifaces"))
		return ifaces(argv[2], argv[3]);
	for (i = 0; argc > 4 && argc - 3 <= MOST && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name))
			return together(&kinds[i], atol(argv[2]), argv + 3, argc - 3);
	fprintf(stderr, "usage: reduce_bench ring|udp ROUNDS NETNS...\n       reduce_bench ifaces NETNS DEV\n");
	return 1;
}
