// SPDX-License-Identifier: GPL-2.0
/*
 * Sweeps of the ring: commands come up at random interfaces with a fixed chance in every bit
 * time, whatever the ring does, and so do passive packets. A reduction is one ATON command, or
 * n - 1 messages to the interface that wants the result, on the same ring.
 */
#include "sweep.h"
#include "ring/ring_packet.h"
#include "ring/ring_param.h"

static const char *const by_name[] = { "aton", "messages" };
static const char *const command_name[] = { "add", "max", "count-le", "sort", "bitsum" };
static const u8 command_op[] = {
	PW_ATON_ADD, PW_ATON_MAX, PW_ATON_COUNT_LE, PW_ATON_SORT, PW_ATON_BITSUM
};

#define MESSAGE_BYTES	8		/* an operand */

const struct ring_axis ring_axis[RING_AXES] = {
	[RING_BY] = { "by", by_name, N(by_name) },
	[RING_COMMAND] = { "command", command_name, N(command_name) },
	[RING_N] = { "n", NULL, 0, 2, 4096, 8 },
	/* parameters of the ring, as in pw_ring_param[] */
	[RING_PROPAGATION] = { "propagation", NULL, 0, 0, PW_RING_PROPAGATION_MAX, 0 },
	[RING_RELEASE] = { "release", pw_ring_release_name, PW_RING_RELEASES },
	[RING_WIDTH] = { "width", NULL, 0, 1, PW_ATON_WIDTH, PW_ATON_WIDTH },
	[RING_BITSUM] = { "bitsum", NULL, 0, 0, PW_ATON_BITSUM_BITS, PW_ATON_BITSUM_BITS },
	[RING_STANDING] = { "standing", NULL, 0, 0, 4096, 0 },
	[RING_GAP] = { "gap", NULL, 0, 0, 1000000000, 0 },
	[RING_INTERVAL] = { "interval", NULL, 0, 1, 1000000000, 20000 },
	[RING_BYTES] = { "bytes", NULL, 0, 0, 4096, 64 },
	[RING_LOAD] = { "load", NULL, 0, 0, 4 * LOAD_UNIT, 0 },
};

const char *const ring_figure_name[RING_FIGURES] = {
	"time", "time_p99", "time_max", "wait", "ring_bits", "utilisation", "passive_time",
	"passive_throughput", "standing_runs", "waiting", "saturated", "warmup",
};

/* values of a point */
static uint32_t value(const struct sweep *s, const struct point *p, int axis)
{
	return s->axis[axis].v[p->at[axis]];
}

/* a packet on the ring or in a queue, and the reduction that it is a part of */
struct reduction {
	uint64_t at;		/* bit time at which it came up */
	uint64_t bits;		/* on the ring, of all its packets */
	uint32_t left;		/* packets */
	bool passive;		/* one packet of the load */
};

struct packet {
	struct pw_ring_cmd cmd;
	struct reduction *of;
	u64 *out;
	u32 parts[];
};

struct bin {
	uint64_t done, time, bits;
	uint64_t busy, standing;
	uint64_t passive, passive_time;
};

struct sim {
	const struct sweep *s;
	uint32_t n, bytes, interval;
	u8 op;
	bool messages;
	struct pw_ring *ring;
	struct pw_ring_sender *sender;
	struct pw_ring_cmd *standing;
	uint64_t rnd, passive_rnd;
	uint64_t next, next_passive;	/* bit times */
	uint64_t passive_chance;	/* in 2^-64 */
	uint64_t ahead;			/* what comes up is queued so many bit times before */
	uint64_t open;			/* packets that have not ended */
	uint64_t offered;
	struct bin now, bin[SWEEP_BINS + 1];
	uint64_t offered_by[SWEEP_BINS + 1];
	uint32_t *time;			/* of each reduction, in the order of their ends */
	size_t cap;
	int err;
};

static uint64_t next_time(uint64_t *rnd, uint64_t now, uint64_t chance, uint64_t end)
{
	if (!chance)
		return UINT64_MAX;
	do
		now++;
	while (now <= end && draw(rnd) >= chance);
	return now;
}

static void queue(struct sim *m, struct reduction *r, uint32_t from, const struct pw_ring_cmd *cmd)
{
	bool sort = cmd->op == PW_ATON_SORT, sum = cmd->op == PW_ATON_BITSUM;
	struct packet *p = calloc(1, sizeof(*p) + (sum ? PW_ATON_PARTS * sizeof(u32) : 0));

	if (p && sort)
		p->out = calloc(m->n, sizeof(u64));
	if (!p || (sort && !p->out)) {
		free(p);
		m->err = -ENOMEM;
		return;
	}
	p->cmd = *cmd;
	p->cmd.when = r->at;
	p->cmd.cookie = (uintptr_t)p;
	p->cmd.out = p->out;
	p->cmd.room = sort ? m->n : 0;
	p->cmd.parts = sum ? p->parts : NULL;
	p->of = r;
	if (pw_ring_submit(m->ring, from, &p->cmd)) {
		m->err = -EIO;
		free(p->out);
		free(p);
		return;
	}
	r->left++;
	m->open++;
}

static struct reduction *come_up(struct sim *m, uint64_t at, bool passive)
{
	struct reduction *r = calloc(1, sizeof(*r));

	if (!r) {
		m->err = -ENOMEM;
		return NULL;
	}
	r->at = at;
	r->passive = passive;
	return r;
}

static void reduce(struct sim *m, uint64_t at)
{
	static const u8 zeros[MESSAGE_BYTES];
	struct pw_ring_cmd c = { .op = m->op, .dst = PW_ATON_RING };
	struct reduction *r = come_up(m, at, false);
	uint32_t t = below(&m->rnd, m->n), i;

	m->offered++;
	if (r && !m->messages)
		queue(m, r, t, &c);
	if (!r || !m->messages)
		return;
	c = (struct pw_ring_cmd) {
		.op = PW_ATON_PASSIVE, .dst = t + 1, .len = MESSAGE_BYTES, .data = zeros,
	};
	for (i = 0; i < m->n && !m->err; i++)
		if (i != t)
			queue(m, r, i, &c);
}

static void load_packet(struct sim *m, uint64_t at)
{
	static const u8 zeros[4096];
	uint32_t from = below(&m->passive_rnd, m->n), to = below(&m->passive_rnd, m->n - 1);
	struct pw_ring_cmd c = {
		.op = PW_ATON_PASSIVE, .dst = 1 + to + (to >= from), .len = m->bytes, .data = zeros,
	};
	struct reduction *r = come_up(m, at, true);

	if (r)
		queue(m, r, from, &c);
}

/* queue all that comes up until @until, in its order */
static void queue_until(struct sim *m, uint64_t until, uint64_t chance)
{
	while (!m->err && (m->next <= until || m->next_passive <= until)) {
		if (m->next <= m->next_passive) {
			reduce(m, m->next);
			m->next = next_time(&m->rnd, m->next, chance, m->s->cycles);
		} else {
			load_packet(m, m->next_passive);
			m->next_passive = next_time(&m->passive_rnd, m->next_passive,
						    m->passive_chance, m->s->cycles);
		}
	}
}

static void reduced(struct sim *m, const struct reduction *r, uint64_t done)
{
	if (m->now.done == m->cap) {
		size_t cap = m->cap ? 2 * m->cap : 1024;
		uint32_t *list = realloc(m->time, cap * sizeof(*list));

		if (!list) {
			m->err = -ENOMEM;
			return;
		}
		m->time = list;
		m->cap = cap;
	}
	m->time[m->now.done++] = done - r->at;
	m->now.time += done - r->at;
	m->now.bits += r->bits;
}

static void reap(struct sim *m)
{
	struct pw_ring_cmd *cmd;

	while ((cmd = pw_ring_reap(m->ring))) {
		struct packet *p = (struct packet *)(uintptr_t)cmd->cookie;

		if (!p)		/* a standing command */
			continue;
		if (cmd->err)
			m->err = -EIO;
		p->of->bits += cmd->ring_bits;
		if (!--p->of->left) {
			if (p->of->passive) {
				m->now.passive++;
				m->now.passive_time += cmd->done - p->of->at;
			} else {
				reduced(m, p->of, cmd->done);
			}
			free(p->of);
		}
		m->open--;
		free(p->out);
		free(p);
	}
}

static void simulate(struct sim *m)
{
	uint64_t chance = UINT64_MAX / m->interval, end;
	uint32_t i;

	m->next = next_time(&m->rnd, 0, chance, m->s->cycles);
	m->next_passive = next_time(&m->passive_rnd, 0, m->passive_chance, m->s->cycles);
	for (i = 1; i <= SWEEP_BINS && !m->err; i++) {
		end = (uint64_t)m->s->cycles * i / SWEEP_BINS;
		queue_until(m, min_t(u64, end + m->ahead, m->s->cycles), chance);
		while (!m->err && pw_ring_run(m->ring, end, 1u << 30) == PW_RING_MORE)
			;
		reap(m);
		m->now.busy = pw_ring_stats(m->ring)->bits;
		m->now.standing = pw_ring_stats(m->ring)->standing;
		m->bin[i] = m->now;
		m->offered_by[i] = m->offered;
	}
}

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void sum_up(struct sim *m, struct result *r)
{
	uint64_t done[SWEEP_BINS + 1], time[SWEEP_BINS + 1];
	const struct bin *a, *z = &m->bin[SWEEP_BINS];
	uint32_t cut, i;

	/* the load is what takes time to become steady; without one, the reductions */
	for (i = 0; i <= SWEEP_BINS; i++) {
		done[i] = z->passive ? m->bin[i].passive : m->bin[i].done;
		time[i] = z->passive ? m->bin[i].passive_time : m->bin[i].time;
	}
	cut = sweep_warm_up(done, time);
	a = &m->bin[cut];
	memset(r, 0, sizeof(*r));
	r->warmup = (uint64_t)m->s->cycles * cut / SWEEP_BINS;
	r->window = m->s->cycles - r->warmup;
	r->offered = m->offered_by[SWEEP_BINS] - m->offered_by[cut];
	r->delivered = z->done - a->done;
	r->latency = z->time - a->time;
	r->waiting = m->open;
	r->ring.bits = z->bits - a->bits;
	r->ring.busy = z->busy - a->busy;
	r->ring.passive = z->passive - a->passive;
	r->ring.passive_time = z->passive_time - a->passive_time;
	r->ring.standing = z->standing - a->standing;
	if (r->delivered) {
		uint32_t *t = m->time + a->done;

		qsort(t, r->delivered, sizeof(*t), by_size);
		r->p99 = t[(r->delivered - 1) * 99 / 100];
		r->worst = t[r->delivered - 1];
	}
}

static int build(struct sim *m, void *mem, const struct pw_ring_params *params, uint32_t standing,
		 uint32_t gap)
{
	uint32_t i, at;

	m->ring = pw_ring_init(mem, params);
	m->sender = calloc(m->n, sizeof(*m->sender));
	m->standing = calloc(standing + 1, sizeof(*m->standing));
	if (!m->sender || !m->standing)
		return -ENOMEM;
	pw_ring_attach(m->ring, 0, m->n, 1, 0);
	for (i = 0; i < m->n; i++) {
		pw_ring_bind(m->ring, i, &m->sender[i]);
		pw_ring_set_operand(m->ring, i, 0, draw(&m->rnd));
	}
	for (i = 0; i < standing; i++) {
		m->standing[i] = (struct pw_ring_cmd) {
			.op = PW_ATON_ADD, .dst = PW_ATON_RING, .gap = gap,
		};
		at = (uint64_t)i * m->n / standing;
		if (pw_ring_stand(m->ring, at, &m->standing[i]))
			return -EIO;
	}
	return 0;
}

/* 0, or a negative errno */
int ring_run(const struct sweep *s, const struct point *p, uint32_t seed, struct result *r)
{
	struct pw_ring_params params = {
		.engine = s->engine == SWEEP_FAST ? PW_RING_FAST : PW_RING_RTL, .nregs = 1,
		.capacity = value(s, p, RING_N), .max_bytes = 4096,
	};
	struct sim *m = calloc(1, sizeof(*m));
	uint64_t turn, per;
	int err = -ENOMEM;
	uint32_t i;
	void *mem;

	for (i = RING_PROPAGATION; i <= RING_BITSUM; i++)
		pw_ring_param_set(&params, pw_ring_param_find(ring_axis[i].name), value(s, p, i));
	mem = malloc(pw_ring_size(&params));

	if (!m || !mem)
		goto out;
	m->s = s;
	m->n = params.capacity;
	m->bytes = value(s, p, RING_BYTES);
	m->interval = value(s, p, RING_INTERVAL);
	m->op = command_op[value(s, p, RING_COMMAND)];
	m->messages = value(s, p, RING_BY);
	m->rnd = (uint64_t)seed << 32;
	m->passive_rnd = (uint64_t)seed << 32 | 1;
	turn = (uint64_t)m->n * (1 + params.propagation);
	per = pw_aton_packet_bits(PW_ATON_PASSIVE, m->bytes, 0) + turn;
	m->passive_chance = UINT64_MAX / LOAD_UNIT / per * value(s, p, RING_LOAD);
	/* a packet that has begun ends after the bit time up to which the ring runs */
	m->ahead = pw_aton_packet_bits(PW_ATON_SORT, 2 * m->n, 0) + 8 * 4096 + 2 * turn + 1000;
	err = build(m, mem, &params, value(s, p, RING_STANDING), value(s, p, RING_GAP));
	if (!err) {
		simulate(m);
		err = m->err;
	}
	if (!err)
		sum_up(m, r);
	/* what is still queued ends with the process of the run */
out:
	if (m) {
		free(m->sender);
		free(m->standing);
		free(m->time);
	}
	free(m);
	free(mem);
	return err;
}

void ring_figures(const struct sweep *s, const struct point *p, const struct result *r, double *f)
{
	double done = r->delivered ? r->delivered : 1, passive = r->ring.passive ? r->ring.passive : 1;

	f[RF_TIME] = r->latency / done;
	f[RF_P99] = r->p99;
	f[RF_MAX] = r->worst;
	f[RF_WAIT] = (double)(r->latency - r->ring.bits) / done;
	f[RF_BITS] = r->ring.bits / done;
	f[RF_UTILISATION] = (double)r->ring.busy / r->window;
	f[RF_PASSIVE_TIME] = r->ring.passive_time / passive;
	f[RF_PASSIVE] = (double)r->ring.passive * value(s, p, RING_BYTES) / r->window;
	f[RF_STANDING] = r->ring.standing;
	f[RF_WAITING] = r->waiting;
	f[RF_SATURATED] = r->delivered < 0.95 * r->offered;
	f[RF_WARMUP] = r->warmup;
}
