// SPDX-License-Identifier: GPL-2.0
/* Sessions with /dev/packetway: commands, registers, ring-only interfaces. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "packetway.h"

#define DEVICE "/dev/" PACKETWAY_DEVICE
#define N(a) (sizeof(a) / sizeof((a)[0]))

struct pwl {
	int fd;
	struct packetway_aton_operands *ops;	/* NULL: not mapped */
	struct packetway_aton_operands *own;	/* leased ones, likewise */
	uint32_t leased;			/* registers in @own */
	const struct packetway_aton_page *page;
};

static const struct {
	const char *name;
	uint32_t op;
} op_names[] = {
	{ "add", PW_ATON_OP_ADD },
	{ "and", PW_ATON_OP_AND },
	{ "or", PW_ATON_OP_OR },
	{ "max", PW_ATON_OP_MAX },
	{ "min", PW_ATON_OP_MIN },
	{ "count-eq", PW_ATON_OP_COUNT_EQ },
	{ "count-lt", PW_ATON_OP_COUNT_LT },
	{ "count-le", PW_ATON_OP_COUNT_LE },
	{ "sort", PW_ATON_OP_SORT },
	{ "bitsum", PW_ATON_OP_BITSUM },
	{ "tree", PW_ATON_OP_TREE },
};

const char *pwl_version(void)
{
	return PWL_VERSION;
}

const char *pwl_aton_op_name(uint32_t op)
{
	size_t i;

	for (i = 0; i < N(op_names); i++)
		if (op_names[i].op == op)
			return op_names[i].name;
	return NULL;
}

int pwl_aton_op_parse(const char *name)
{
	size_t i;

	for (i = 0; i < N(op_names); i++)
		if (!strcasecmp(op_names[i].name, name))
			return op_names[i].op;
	return -EINVAL;
}

const char *pwl_aton_strerror(uint32_t error)
{
	switch (error) {
	case PACKETWAY_ATON_OK:
		return "ok";
	case PACKETWAY_ATON_E_CRC:
		return "the ring packet came back damaged";
	case PACKETWAY_ATON_E_LOST:
		return "the ring packet did not come back";
	case PACKETWAY_ATON_E_DOWN:
		return "the station went down or away";
	case PACKETWAY_ATON_E_SHAPE:
		return "a tree needs a region of 2^heights interfaces";
	case PACKETWAY_ATON_E_ROOM:
		return "more operands than there is room for";
	default:
		return "unknown error";
	}
}

int pwl_addr_parse(const char *text, uint32_t *addr)
{
	unsigned int a, b, c;
	unsigned long v;
	char *end;
	int n = 0;

	if (strchr(text, ':')) {
		if (sscanf(text, "%2x:%2x:%2x%n", &a, &b, &c, &n) != 3 || text[n])
			return -EINVAL;
		*addr = a << 16 | b << 8 | c;
		return 0;
	}
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	v = strtoul(text, &end, 0);
	if (*end || errno || v > PW_ADDR_MASK)
		return -EINVAL;
	*addr = v;
	return 0;
}

char *pwl_addr_str(uint32_t addr, char *buf)
{
	snprintf(buf, PWL_ADDR_STRLEN, "%02x:%02x:%02x", addr >> 16 & 0xff, addr >> 8 & 0xff,
		 addr & 0xff);
	return buf;
}

static int do_ioctl(const struct pwl *s, unsigned long cmd, void *arg)
{
	return ioctl(s->fd, cmd, arg) < 0 ? -errno : 0;
}

int pwl_open(struct pwl **s, const char *station)
{
	struct pwl *n;
	int err;

	*s = NULL;
	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	n->fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (n->fd < 0) {
		err = -errno;
		free(n);
		return err;
	}
	err = station ? pwl_bind(n, station) : 0;
	if (err) {
		pwl_close(n);
		return err;
	}
	*s = n;
	return 0;
}

int pwl_bind(struct pwl *s, const char *station)
{
	struct packetway_bind b = { .size = sizeof(b), .ifindex = if_nametoindex(station) };

	if (!b.ifindex)
		return -ENODEV;
	return do_ioctl(s, PACKETWAY_IOC_BIND, &b);
}

static void unmap(struct pwl *s)
{
	long page = sysconf(_SC_PAGESIZE);

	if (s->ops)
		munmap(s->ops, page);
	if (s->own)
		munmap(s->own, page);
	if (s->page)
		munmap((void *)s->page, page);
	s->ops = NULL;
	s->own = NULL;
	s->page = NULL;
}

int pwl_unbind(struct pwl *s)
{
	struct packetway_unbind u = { .size = sizeof(u) };

	unmap(s);
	s->leased = 0;
	return do_ioctl(s, PACKETWAY_IOC_UNBIND, &u);
}

void pwl_close(struct pwl *s)
{
	if (!s)
		return;
	unmap(s);
	close(s->fd);
	free(s);
}

int pwl_fd(const struct pwl *s)
{
	return s->fd;
}

int pwl_info(struct pwl *s, struct packetway_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return do_ioctl(s, PACKETWAY_IOC_GET_INFO, info);
}

/* ATON */

static void fill(struct packetway_aton_command *k, const struct pwl_aton *c)
{
	memset(k, 0, sizeof(*k));
	k->size = sizeof(*k);
	k->op = c->op;
	k->reg = c->reg;
	k->mods = c->mods;
	k->dst = c->dst ? c->dst : PACKETWAY_ATON_RING_ALL;
	k->comparand = c->comparand;
	k->user_data = c->user_data;
}

static uint64_t deadline(uint32_t timeout_ms)
{
	struct timespec now;

	if (!timeout_ms)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec + timeout_ms * 1000000ULL;
}

static int run(struct pwl *s, struct packetway_aton_command *k, uint32_t timeout_ms,
	       struct pwl_result *r)
{
	int err;

	k->deadline = deadline(timeout_ms);
	err = do_ioctl(s, PACKETWAY_IOC_ATON_COMMAND, k);
	if (r)
		*r = (struct pwl_result) {
			.user_data = k->user_data,
			.error = k->out_error,
			.flags = k->out_flags,
			.counter = k->out_counter,
			.v1 = k->out_v1,
			.v2 = k->out_v2,
			.wait = k->out_wait,
			.ring_bits = k->out_ring_bits,
		};
	return err;
}

int pwl_aton(struct pwl *s, const struct pwl_aton *c, struct pwl_result *r)
{
	struct packetway_aton_command k;

	fill(&k, c);
	return run(s, &k, c->timeout_ms, r);
}

int pwl_aton_op(struct pwl *s, uint32_t op, uint32_t reg, struct pwl_result *r)
{
	struct pwl_aton c = { .op = op, .reg = reg };

	return pwl_aton(s, &c, r);
}

int pwl_aton_sort(struct pwl *s, const struct pwl_aton *c, uint64_t *out, uint32_t room,
		  struct pwl_result *r)
{
	struct packetway_aton_command k;
	int err;

	fill(&k, c);
	k.op = PW_ATON_OP_SORT;
	k.room = room;
	k.data = (uintptr_t)out;
	err = run(s, &k, c->timeout_ms, r);
	return err ? err : (int)k.out_counter;
}

int pwl_aton_bitsum(struct pwl *s, const struct pwl_aton *c, uint32_t parts[64],
		    struct pwl_result *r)
{
	struct packetway_aton_command k;

	fill(&k, c);
	k.op = PW_ATON_OP_BITSUM;
	k.room = 64;
	k.data = (uintptr_t)parts;
	return run(s, &k, c->timeout_ms, r);
}

int pwl_aton_majority(struct pwl *s, const struct pwl_aton *c, uint64_t *value,
		      struct pwl_result *r)
{
	struct pwl_aton count = *c;
	struct pwl_result own;
	uint32_t parts[64];
	uint64_t x = 0;
	int err, i;

	if (!r)
		r = &own;
	err = pwl_aton_bitsum(s, c, parts, r);
	if (err)
		return err;
	for (i = 0; i < 64; i++)
		if (parts[i] > r->counter / 2)
			x |= 1ULL << i;
	/* the bits may name an interface that is not there */
	count.op = PW_ATON_OP_COUNT_EQ;
	count.mods |= PACKETWAY_ATON_COMPARAND;
	count.comparand = x;
	err = pwl_aton(s, &count, r);
	if (err)
		return err;
	*value = x;
	return r->v2 > r->counter / 2;
}

int pwl_aton_tree(struct pwl *s, const struct pwl_aton *c, const uint8_t *ops, uint32_t heights,
		  struct pwl_result *r)
{
	struct packetway_aton_command k;

	if (!heights || heights > PACKETWAY_ATON_HEIGHTS)
		return -EINVAL;
	fill(&k, c);
	k.op = PW_ATON_OP_TREE;
	k.heights = heights;
	memcpy(k.ops, ops, heights);
	return run(s, &k, c->timeout_ms, r);
}

int pwl_aton_tree_nodes(struct pwl *s, const struct pwl_aton *c, const uint8_t *nodes,
			uint32_t heights, struct pwl_result *r)
{
	struct packetway_aton_command k;

	if (!heights || heights > PACKETWAY_ATON_NODE_HEIGHTS)
		return -EINVAL;
	fill(&k, c);
	k.op = PW_ATON_OP_TREE;
	k.mods |= PACKETWAY_ATON_NODES;
	k.heights = heights;
	k.room = (1u << heights) - 1;
	k.data = (uintptr_t)nodes;
	return run(s, &k, c->timeout_ms, r);
}

int pwl_aton_reduce(struct pwl *s, const struct pwl_aton *c, uint32_t flags, uint32_t sans,
		    struct pwl_reduced *r)
{
	struct packetway_aton_reduce k = {
		.size = sizeof(k), .flags = flags, .op = c->op, .reg = c->reg, .mods = c->mods,
		.timeout_ms = c->timeout_ms, .sans = sans, .comparand = c->comparand,
	};
	int err;

	if (c->dst && c->dst != PACKETWAY_ATON_RING_ALL)
		return -EINVAL;
	err = do_ioctl(s, PACKETWAY_IOC_ATON_REDUCE, &k);
	if (r)
		*r = (struct pwl_reduced) {
			.error = k.out_error,
			.flags = k.out_flags,
			.sans = k.out_sans,
			.missing = k.out_missing,
			.reason = k.out_reason,
			.san = k.out_san,
			.counter = k.out_counter,
			.v1 = k.out_v1,
			.v2 = k.out_v2,
		};
	return err;
}

/* all but operands and results; what the kernel does not read stays as it is */
static inline void fill_round(struct packetway_aton_round *k, const struct pwl_round *r,
			      uint32_t flags, uint64_t until)
{
	uint32_t i, n = r->count < PACKETWAY_ATON_ROUND_WORDS ? r->count :
								PACKETWAY_ATON_ROUND_WORDS;

	k->size = sizeof(*k);
	k->flags = flags;
	k->bit = r->bit;
	k->members = r->members;
	k->round = r->round;
	k->call = r->call;
	k->op = r->op;
	k->mods = r->mods;
	k->count = r->count;
	k->regs = 0;
	k->deadline = until;
	k->data = 0;
	memset(k->reg, 0, sizeof(k->reg));
	for (i = 0; i < n; i++)
		k->reg[i] = r->reg[i];
}

static inline int do_round(struct pwl *s, struct pwl_round *r, uint32_t flags, uint64_t until)
{
	struct packetway_aton_round k;
	uint32_t i;
	int err;

	fill_round(&k, r, flags, until);
	for (i = 0; i < r->count && i < PACKETWAY_ATON_ROUND_WORDS; i++)
		k.word[i] = r->word[i];
	err = do_ioctl(s, PACKETWAY_IOC_ATON_ROUND, &k);
	if (err)
		return err;
	for (i = 0; i < r->count; i++) {
		r->word[i] = k.out_v1[i];
		r->v2[i] = k.out_v2[i];
	}
	return 0;
}

int pwl_aton_round_long(struct pwl *s, struct pwl_round *r, uint64_t *words, uint32_t count)
{
	struct packetway_aton_round k;

	fill_round(&k, r, PACKETWAY_ATON_ROUND_LONG, deadline(r->timeout_ms));
	k.regs = r->count;
	k.count = count;
	k.data = (uintptr_t)words;
	return do_ioctl(s, PACKETWAY_IOC_ATON_ROUND, &k);
}

int pwl_aton_round(struct pwl *s, struct pwl_round *r)
{
	return do_round(s, r, 0, deadline(r->timeout_ms));
}

int pwl_aton_round_until(struct pwl *s, struct pwl_round *r, uint64_t until)
{
	return do_round(s, r, 0, until);
}

int pwl_aton_round_start(struct pwl *s, struct pwl_round *r)
{
	return do_round(s, r, PACKETWAY_ATON_ROUND_NOWAIT, deadline(r->timeout_ms));
}

int pwl_aton_round_test(struct pwl *s, struct pwl_round *r)
{
	return do_round(s, r, PACKETWAY_ATON_ROUND_FETCH | PACKETWAY_ATON_ROUND_NOWAIT,
			deadline(r->timeout_ms));
}

int pwl_aton_round_wait(struct pwl *s, struct pwl_round *r)
{
	return do_round(s, r, PACKETWAY_ATON_ROUND_FETCH, deadline(r->timeout_ms));
}

int pwl_aton_submit(struct pwl *s, const struct pwl_aton *c, uint32_t n)
{
	struct packetway_aton_submit sub = { .size = sizeof(sub) };
	struct packetway_aton_command *k;
	uint32_t i;
	int err;

	if (!n || n > PACKETWAY_ATON_QUEUE)
		return -EINVAL;
	k = calloc(n, sizeof(*k));
	if (!k)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		fill(&k[i], &c[i]);
	sub.commands = (uintptr_t)k;
	sub.count = n;
	sub.stride = sizeof(*k);
	err = do_ioctl(s, PACKETWAY_IOC_ATON_SUBMIT, &sub);
	free(k);
	return err ? err : (int)sub.out_queued;
}

int pwl_aton_results(struct pwl *s, struct pwl_result *r, uint32_t n, int timeout_ms)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	struct packetway_aton_result k[64];
	ssize_t len;
	int got, i;

	if (!n)
		return 0;
	got = poll(&p, 1, timeout_ms);
	if (got <= 0)
		return got < 0 ? -errno : 0;
	len = read(s->fd, k, sizeof(k[0]) * (n < N(k) ? n : N(k)));
	if (len < 0)
		return -errno;
	got = len / sizeof(k[0]);
	for (i = 0; i < got; i++)
		r[i] = (struct pwl_result) {
			.user_data = k[i].user_data,
			.error = k[i].error,
			.flags = k[i].flags,
			.counter = k[i].counter,
			.v1 = k[i].v1,
			.v2 = k[i].v2,
			.wait = k[i].wait,
			.ring_bits = k[i].ring_bits,
		};
	return got;
}

int pwl_aton_stand(struct pwl *s, const struct pwl_aton *c, uint32_t period_us)
{
	struct packetway_aton_stand k = {
		.size = sizeof(k),
		.op = c->op,
		.reg = c->reg,
		.mods = c->mods,
		.dst = c->dst ? c->dst : PACKETWAY_ATON_RING_ALL,
		.comparand = c->comparand,
		.user_data = c->user_data,
		.period = period_us < PACKETWAY_ATON_PERIOD_MIN ? PACKETWAY_ATON_PERIOD_MIN :
								  period_us,
	};

	return do_ioctl(s, PACKETWAY_IOC_ATON_STAND, &k);
}

int pwl_aton_unstand(struct pwl *s)
{
	struct packetway_aton_stand k = { .size = sizeof(k) };

	return do_ioctl(s, PACKETWAY_IOC_ATON_STAND, &k);
}

/* Registers */

/* the page of leased registers, once there are some and the bank is mapped */
static int map_lease(struct pwl *s)
{
	long page = sysconf(_SC_PAGESIZE);
	void *own;

	if (s->own || !s->ops || !s->leased)
		return 0;
	own = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 2 * page);
	if (own == MAP_FAILED)
		return -errno;
	s->own = own;
	return 0;
}

/* where a register is stored */
static struct packetway_aton_operands *bank_of(const struct pwl *s, uint32_t reg)
{
	return s->leased >> reg & 1 ? s->own : s->ops;
}

int pwl_map(struct pwl *s)
{
	long page = sysconf(_SC_PAGESIZE);
	void *ops, *res;

	/* an operand must change in one store */
	if (sizeof(long) < 8)
		return -EOPNOTSUPP;
	if (s->ops)
		return 0;
	ops = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (ops == MAP_FAILED)
		return -errno;
	res = mmap(NULL, page, PROT_READ, MAP_SHARED, s->fd, page);
	if (res == MAP_FAILED) {
		int err = -errno;

		munmap(ops, page);
		return err;
	}
	s->ops = ops;
	s->page = res;
	return map_lease(s);
}

int pwl_set(struct pwl *s, uint32_t reg, uint64_t value)
{
	struct packetway_aton_set k = {
		.size = sizeof(k), .flags = PACKETWAY_ATON_SET_OPERAND, .reg = reg, .value = value,
	};

	if (!s->ops)
		return do_ioctl(s, PACKETWAY_IOC_ATON_SET, &k);
	if (reg >= PACKETWAY_ATON_REGS)
		return -EINVAL;
	__atomic_store_n(&bank_of(s, reg)->operand[reg], value, __ATOMIC_RELEASE);
	return 0;
}

int pwl_get(struct pwl *s, uint32_t reg, uint64_t *value)
{
	struct packetway_aton_get bank;
	int err;

	if (reg >= PACKETWAY_ATON_REGS)
		return -EINVAL;
	if (s->ops) {
		*value = __atomic_load_n(&bank_of(s, reg)->operand[reg], __ATOMIC_ACQUIRE);
		return 0;
	}
	err = pwl_bank(s, &bank);
	if (!err)
		*value = bank.out_operand[reg];
	return err;
}

int pwl_standing(struct pwl *s, struct pwl_result *r, uint64_t *runs)
{
	const struct packetway_aton_slot *slot;
	struct packetway_aton_slot c;
	uint32_t seq;

	if (!s->page)
		return -EINVAL;
	slot = &s->page->standing;
	do {
		seq = __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE);
		c.status = __atomic_load_n(&slot->status, __ATOMIC_RELAXED);
		c.runs = __atomic_load_n(&slot->runs, __ATOMIC_RELAXED);
		c.counter = __atomic_load_n(&slot->counter, __ATOMIC_RELAXED);
		c.v1 = __atomic_load_n(&slot->v1, __ATOMIC_RELAXED);
		c.v2 = __atomic_load_n(&slot->v2, __ATOMIC_RELAXED);
		c.wait = __atomic_load_n(&slot->wait, __ATOMIC_RELAXED);
		c.ring_bits = __atomic_load_n(&slot->ring_bits, __ATOMIC_RELAXED);
		atomic_thread_fence(memory_order_acquire);
	} while (seq & 1 || seq != __atomic_load_n(&slot->seq, __ATOMIC_RELAXED));
	*r = (struct pwl_result) {
		.error = c.status & 0xff,
		.flags = c.status >> 8,
		.counter = c.counter,
		.v1 = c.v1,
		.v2 = c.v2,
		.wait = c.wait,
		.ring_bits = c.ring_bits,
	};
	if (runs)
		*runs = c.runs;
	return c.runs != 0;
}

int pwl_set_group(struct pwl *s, uint32_t mask)
{
	struct packetway_aton_set k = {
		.size = sizeof(k), .flags = PACKETWAY_ATON_SET_GROUP, .group = mask,
	};

	if (!s->ops)
		return do_ioctl(s, PACKETWAY_IOC_ATON_SET, &k);
	if (mask > PW_ADDR_LOGICAL_MASK)
		return -EINVAL;
	__atomic_store_n(&s->ops->group, mask, __ATOMIC_RELEASE);
	return 0;
}

int pwl_bank(struct pwl *s, struct packetway_aton_get *bank)
{
	memset(bank, 0, sizeof(*bank));
	bank->size = sizeof(*bank);
	return do_ioctl(s, PACKETWAY_IOC_ATON_GET, bank);
}

static int lease(struct pwl *s, uint32_t flags, uint32_t regs, uint32_t group, uint64_t key,
		 struct packetway_aton_lease *k)
{
	*k = (struct packetway_aton_lease) {
		.size = sizeof(*k), .flags = flags, .regs = regs, .group = group, .key = key,
	};
	return do_ioctl(s, PACKETWAY_IOC_ATON_LEASE, k);
}

int pwl_lease(struct pwl *s, uint32_t regs, uint32_t group, uint64_t key)
{
	struct packetway_aton_lease k;
	uint32_t had = s->leased;
	int err;

	if (!regs && !group)
		return -EINVAL;
	err = lease(s, 0, regs, group, group ? key : 0, &k);
	if (err)
		return err;
	s->leased |= regs;
	err = map_lease(s);
	if (err) {
		s->leased = had;
		lease(s, PACKETWAY_ATON_LEASE_RETURN, regs & ~had, group, 0, &k);
	}
	return err;
}

int pwl_lease_return(struct pwl *s, uint32_t regs, uint32_t group)
{
	struct packetway_aton_lease k;
	int err;

	err = lease(s, PACKETWAY_ATON_LEASE_RETURN, regs, group, 0, &k);
	if (!err)
		s->leased &= ~regs;
	return err;
}

int pwl_lease_look(struct pwl *s, uint32_t *regs, uint32_t *group)
{
	struct packetway_aton_lease k;
	int err;

	err = lease(s, 0, 0, 0, 0, &k);
	if (!err && regs)
		*regs = k.out_regs_free;
	if (!err && group)
		*group = k.out_group_free;
	return err;
}

/* a latch of the mapped pages, as a whole */
static void copy_latch(const struct packetway_aton_latch *from, struct pwl_latch *l)
{
	uint32_t seq, status;

	do {
		seq = __atomic_load_n(&from->seq, __ATOMIC_ACQUIRE);
		status = __atomic_load_n(&from->status, __ATOMIC_RELAXED);
		l->src = __atomic_load_n(&from->src, __ATOMIC_RELAXED);
		l->runs = __atomic_load_n(&from->runs, __ATOMIC_RELAXED);
		l->counter = __atomic_load_n(&from->counter, __ATOMIC_RELAXED);
		l->before = __atomic_load_n(&from->before, __ATOMIC_RELAXED);
		l->with = __atomic_load_n(&from->with, __ATOMIC_RELAXED);
		l->time = __atomic_load_n(&from->time, __ATOMIC_RELAXED);
		atomic_thread_fence(memory_order_acquire);
	} while (seq & 1 || seq != __atomic_load_n(&from->seq, __ATOMIC_RELAXED));
	l->op = status & 0xff;
	l->flags = status >> 8;
}

int pwl_aton_latch(struct pwl *s, uint32_t reg, struct pwl_latch *l)
{
	struct packetway_aton_get_latch k = { .size = sizeof(k), .reg = reg };
	int err;

	if (reg >= PACKETWAY_ATON_REGS)
		return -EINVAL;
	if (s->own && s->leased >> reg & 1) {
		copy_latch(&((struct packetway_aton_leased *)s->own)->latch[reg], l);
		return l->runs != 0;
	}
	/* the page does not tell whether another session has leased the register */
	err = do_ioctl(s, PACKETWAY_IOC_ATON_GET_LATCH, &k);
	*l = (struct pwl_latch) {
		.op = k.out_op, .flags = k.out_flags, .src = k.out_src, .runs = k.out_runs,
		.counter = k.out_counter, .before = k.out_before, .with = k.out_with,
		.time = k.out_time,
	};
	return err ? err : l->runs != 0;
}

/* Ring-only interfaces */

int pwl_ring_create(struct pwl *s, uint32_t count, uint32_t regs, uint32_t *first_addr)
{
	struct packetway_ring_create k = { .size = sizeof(k), .count = count, .regs = regs };
	int err;

	err = do_ioctl(s, PACKETWAY_IOC_RING_CREATE, &k);
	if (!err && first_addr)
		*first_addr = k.out_address;
	return err;
}

static int ring_operands(struct pwl *s, uint32_t flags, uint32_t reg, uint32_t first,
			 uint32_t count, const void *operands)
{
	struct packetway_ring_operands k = {
		.size = sizeof(k),
		.flags = flags,
		.reg = reg,
		.first = first,
		.count = count,
		.operands = (uintptr_t)operands,
	};

	return do_ioctl(s, PACKETWAY_IOC_RING_OPERANDS, &k);
}

int pwl_ring_write(struct pwl *s, uint32_t reg, uint32_t first, uint32_t count,
		   const uint64_t *operands)
{
	return ring_operands(s, 0, reg, first, count, operands);
}

int pwl_ring_read(struct pwl *s, uint32_t reg, uint32_t first, uint32_t count,
		  uint64_t *operands)
{
	return ring_operands(s, PACKETWAY_RING_READ, reg, first, count, operands);
}
