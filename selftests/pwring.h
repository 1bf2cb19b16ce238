/* SPDX-License-Identifier: GPL-2.0 */
/* What the ATON selftests share: stations on a ring, commands, generic netlink. */
#ifndef PWRING_H
#define PWRING_H

#include "pwgenl.h"

#include <sys/mman.h>
#include <sys/stat.h>

/* an open file bound to a station, and its mapped pages */
struct ring_if {
	int fd;
	struct packetway_aton_operands *op;
	const struct packetway_aton_page *res;
};

/* the station must be in the caller's namespace */
static PW_UNUSED int ring_open(struct ring_if *r, int ifindex)
{
	long page = sysconf(_SC_PAGESIZE);
	int err;

	r->fd = open(PW_DEV, O_RDWR | O_CLOEXEC);
	if (r->fd < 0)
		return -errno;
	err = pw_bind(r->fd, ifindex);
	if (err)
		return err;
	r->op = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	r->res = mmap(NULL, page, PROT_READ, MAP_SHARED, r->fd, page);
	return r->op == MAP_FAILED || r->res == MAP_FAILED ? -errno : 0;
}

static PW_UNUSED void ring_close(struct ring_if *r)
{
	long page = sysconf(_SC_PAGESIZE);

	munmap((void *)r->op, page);
	munmap((void *)r->res, page);
	close(r->fd);
}

static PW_UNUSED struct packetway_aton_command ring_cmd(unsigned int op)
{
	return (struct packetway_aton_command) {
		.size = sizeof(struct packetway_aton_command),
		.op = op,
		.dst = PACKETWAY_ATON_RING_ALL,
	};
}

/* 0 or -errno; outputs are poisoned first */
static PW_UNUSED int ring_run(int fd, struct packetway_aton_command *c)
{
	c->out_counter = c->out_v1 = c->out_v2 = 0x5a5a5a5a5a5a5a5aULL;
	return ioctl(fd, PACKETWAY_IOC_ATON_COMMAND, c) < 0 ? -errno : 0;
}

/* a round of ring_sum_of_all() has an operand register and a group, by turns */
#define RING_TURNS 3

/*
 * The sum of what all @n members of a ring bring to @round (from 1), at each of them
 * by one command. Store the operand, join the group of this round, and ask the group
 * for its sum until the Counter says that all were in it. A member stays in the group
 * of the round before, which others may still ask. The group before that is not asked
 * again, because all members have reached the last round: its register and group are
 * free for the next.
 */
static PW_UNUSED int ring_sum_of_all(struct ring_if *r, unsigned int n, uint64_t round,
				     uint64_t operand, uint64_t *sum)
{
	struct packetway_aton_command add = ring_cmd(PW_ATON_OP_ADD);
	uint32_t now = 1U << round % RING_TURNS, before = 1U << (round - 1) % RING_TURNS;
	int err;

	add.reg = round % RING_TURNS;
	add.dst = PW_ADDR_LOGICAL_MIN | now;
	__atomic_store_n(&r->op->operand[add.reg], operand, __ATOMIC_RELAXED);
	__atomic_store_n(&r->op->group, now | before, __ATOMIC_RELEASE);
	do {
		sched_yield();
		err = ring_run(r->fd, &add);
		if (err)
			return err;
	} while (add.out_counter != n);
	*sum = add.out_v1;
	return 0;
}

/* settings of a SAN by generic netlink, in namespace @ns: 0 or -errno */
static PW_UNUSED int ring_san_set(int ns, unsigned int san, int attr, unsigned int value)
{
	const struct pw_attr a[2] = { { PACKETWAY_A_SAN_ID, san }, { attr, value } };
	struct pw_genl g;
	int err;

	if (pw_genl_open(&g, ns))
		return -EIO;
	err = pw_genl_ask(&g, PACKETWAY_CMD_SAN_SET, NLM_F_ACK, PACKETWAY_A_SAN, a, 2);
	close(g.nl.fd);
	return err;
}

/* a fault of the ring of SAN @san homed in namespace @ns */
static PW_UNUSED int ring_fault(int ns, unsigned int san, const char *what)
{
	char path[128];
	struct stat st;

	if (fstat(ns, &st))
		return -errno;
	snprintf(path, sizeof(path), "/sys/kernel/debug/packetway/net%lu-san%u/ring_fault",
		 (unsigned long)st.st_ino, san);
	return pw_write_file(path, what);
}

#endif
