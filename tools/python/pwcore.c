// SPDX-License-Identifier: GPL-2.0
/*
 * What libpwcore exports for other languages: functions with plain structures, which do
 * not change with the cores.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "esp.h"
#include "fabric/fabric.h"
#include "fabric/fabric_fault.h"
#include "fabric/fabric_param.h"
#include "ring/ring_param.h"

/**
 * struct pwc_ring - a command on a ring of the model, and what came of it
 * @engine: 0 fast, 1 rtl
 * @propagation: extra bit times per hop
 * @op: enum pw_aton_op
 * @mods: PW_ATON_SIGNED, PW_ATON_COMPARAND
 * @heights: TREE: number of heights
 * @ops: TREE: the operation of each height, leaves first
 * @comparand: of a count under PW_ATON_COMPARAND
 * @error: enum pw_aton_error; the rest holds only when it is 0
 * @flags: PW_ATON_F_*
 * @counter: interfaces that took part
 * @v1: Variable-1
 * @v2: Variable-2
 * @ring_bits: bit times on the ring
 */
struct pwc_ring {
	u32 engine;
	u32 propagation;
	u32 op;
	u32 mods;
	u32 heights;
	u8 ops[32];
	u64 comparand;
	u32 error;
	u32 flags;
	u64 counter;
	u64 v1;
	u64 v2;
	u64 ring_bits;
};

int pwc_ring_run(struct pwc_ring *c, const u64 *operands, u32 n, u64 *sorted);
int pwc_ring_run_as(struct pwc_ring *c, const u64 *operands, u32 n, u64 *sorted,
		    const char *const *name, const u32 *value, u32 count);

/* run @c on a ring of @n interfaces; @sorted: room for @n operands; 0 or a negative errno */
int pwc_ring_run(struct pwc_ring *c, const u64 *operands, u32 n, u64 *sorted)
{
	return pwc_ring_run_as(c, operands, n, sorted, NULL, NULL, 0);
}

/* the same with @count parameters of the ring by name; -ERANGE: there is none, or its value is wrong */
int pwc_ring_run_as(struct pwc_ring *c, const u64 *operands, u32 n, u64 *sorted,
		    const char *const *name, const u32 *value, u32 count)
{
	struct pw_ring_params params = { .engine = c->engine ? PW_RING_RTL : PW_RING_FAST,
					 .nregs = 1, .capacity = n,
					 .propagation = c->propagation };
	const struct pw_ring_param *d;
	u32 parts[PW_ATON_PARTS], i;
	struct pw_ring_sender port = { 0 };
	struct pw_ring_cmd cmd = { 0 };
	struct pw_ring *ring;
	void *mem;
	int err;

	for (i = 0; i < count; i++) {
		d = pw_ring_param_find(name[i]);
		if (!d || value[i] < d->min || value[i] > d->max)
			return -ERANGE;
		pw_ring_param_set(&params, d, value[i]);
	}
	if (!n || n > PW_ATON_MAX_INTERFACES || c->heights > PW_ATON_HEIGHTS ||
	    c->heights > sizeof(c->ops) || c->propagation > 1u << 16)
		return -EINVAL;
	mem = malloc(pw_ring_size(&params));
	if (!mem)
		return -ENOMEM;
	ring = pw_ring_init(mem, &params);
	pw_ring_attach(ring, 0, n, 1, 0);
	pw_ring_bind(ring, 0, &port);
	for (i = 0; i < n; i++)
		pw_ring_set_operand(ring, i, 0, operands[i]);
	cmd.op = c->op;
	cmd.mods = c->mods;
	cmd.dst = PW_ATON_RING;
	cmd.comparand = c->comparand;
	cmd.heights = c->heights;
	memcpy(cmd.ops, c->ops, c->heights);
	cmd.room = n;
	cmd.out = sorted;
	cmd.parts = parts;
	err = pw_ring_submit(ring, 0, &cmd);
	if (!err) {
		while (pw_ring_run(ring, ~0ULL, 1u << 30) == PW_RING_MORE)
			;
		pw_ring_reap(ring);
	}
	c->error = cmd.err;
	c->flags = cmd.flags;
	c->counter = cmd.counter;
	c->v1 = cmd.v1;
	c->v2 = cmd.v2;
	c->ring_bits = cmd.ring_bits;
	free(mem);
	return err ? -EINVAL : 0;
}

/**
 * struct pwc_fabric - a run of the fabric
 * @fast: 0 rtl, 1 fast
 * @pack: sources do not idle after init-send
 * @unpack: destinations do not idle before their first get
 * @published: the machine with the limits of the published one
 * @nparams: how many of @names and @values
 * @names: parameters, as `pwmodel fabric --help` lists them
 * @values: their values
 * @wrong: the parameter that was refused
 */
struct pwc_fabric {
	u32 fast;
	u32 pack;
	u32 unpack;
	u32 published;
	u32 nparams;
	const char *const *names;
	const u32 *values;
	const char *wrong;
};

/**
 * struct pwc_message - a message through the fabric
 * @cycle: when it is handed over; never before the message in front of it
 * @src: port
 * @dst: port, -1: all
 * @bytes: length
 * @arrived: @delivered holds
 * @start: times of struct pw_fabric_times, in cycles
 * @segmented: likewise
 * @first_out: likewise
 * @first_in: likewise
 * @reassembled: likewise
 * @delivered: likewise
 * @acked: likewise
 */
struct pwc_message {
	u64 cycle;
	u32 src;
	s32 dst;
	u32 bytes;
	u32 arrived;
	u64 start;
	u64 segmented;
	u64 first_out;
	u64 first_in;
	u64 reassembled;
	u64 delivered;
	u64 acked;
};

/* a run in progress */
struct run {
	struct pw_fabric_faults faults;
	struct pwc_message *msgs;
	u32 n, done;
};

static void on_deliver(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
		       const struct pw_fabric_times *t)
{
	struct run *r = ctx;

	r->msgs[cookie].delivered = cycle;
	r->msgs[cookie].arrived = 1;
}

static void on_done(void *ctx, u16 src, u64 cookie, u64 cycle, const struct pw_fabric_times *t)
{
	struct run *r = ctx;
	struct pwc_message *m = &r->msgs[cookie];

	m->start = t->start;
	m->segmented = t->segmented;
	m->first_out = t->first_out;
	m->first_in = t->first_in;
	m->reassembled = t->reassembled;
	m->acked = t->acked;
	r->done++;
}

/* as in `pwmodel fabric`: the same times need the same data, which the rtl engine compares */
static void on_fetch(void *ctx, u16 src, u64 cookie, u32 off, u8 *buf, u32 n)
{
	for (u32 i = 0; i < n; i++)
		buf[i] = (u8)(cookie * 31 + off + i);
}

static enum pw_bmx_fault on_fault(void *ctx, u32 ppd, u64 t)
{
	const struct run *r = ctx;

	return pw_fabric_fault(&r->faults, ppd, t);
}

static int take_params(struct pw_fabric_params *p, struct pw_fabric_faults *faults,
		       struct pwc_fabric *c)
{
	const struct pw_fabric_param *d, *fault;

	for (u32 i = 0; i < c->nparams; i++) {
		fault = pw_fabric_fault_find(c->names[i]);
		d = fault ? fault : pw_fabric_param_find(c->names[i]);
		c->wrong = c->names[i];
		if (!d)
			return -ENOENT;
		if (c->values[i] < d->min || c->values[i] > d->max ||
		    !pw_fabric_param_has(d, pw_fabric_machine_of(p)))
			return -ERANGE;
		if (fault)
			pw_fabric_fault_set(faults, d, c->values[i]);
		else
			pw_fabric_param_set(p, d, c->values[i]);
	}
	d = pw_fabric_param_wrong(p);
	c->wrong = d ? d->name : NULL;
	return d ? -ERANGE : 0;
}

/* without a message done for this long the run is given up */
#define PATIENCE	200000000ULL

static int advance(struct pw_fabric *f, struct run *r, u64 cycle, u64 *since, u32 *seen)
{
	while (pw_fabric_now(f) < cycle) {
		pw_fabric_run(f, cycle, 1 << 20);
		if (*seen != r->done || pw_fabric_next(f) == PW_FABRIC_NEVER) {
			*seen = r->done;
			*since = pw_fabric_now(f);
		}
		if (pw_fabric_now(f) - *since > PATIENCE)
			return -ETIMEDOUT;
	}
	return 0;
}

int pwc_fabric_run(struct pwc_fabric *c, struct pwc_message *msgs, u32 n);

/* carry @n messages; 0 or a negative errno */
int pwc_fabric_run(struct pwc_fabric *c, struct pwc_message *msgs, u32 n)
{
	static const struct pw_fabric_ops ops = {
		.deliver = on_deliver, .done = on_done, .fetch = on_fetch, .fault = on_fault,
	};
	struct pw_fabric_params p = {
		.flags = (c->published ? 0 : PW_FABRIC_F_DEVICE) | PW_FABRIC_F_SELF |
			 (c->fast ? PW_FABRIC_F_FAST : 0) | (c->unpack ? 0 : PW_FABRIC_F_POLL),
		.gap_init = c->pack ? 0 : 5, .gap_get = c->unpack ? 0 : 12,
	};
	struct run r = { .faults = { .seed = PW_FABRIC_FAULT_SEED }, .msgs = msgs, .n = n };
	struct pw_fabric *f;
	u32 i, ports, seen = 0;
	u64 since = 0;
	void *mem;
	u16 dst;
	int err;

	c->wrong = NULL;
	if (c->fast && !c->unpack)
		return -EINVAL;
	err = take_params(&p, &r.faults, c);
	if (err)
		return err;
	p.k = p.k ? p.k : PW_BMX_K;
	ports = p.k * p.k;
	for (i = 0; i < n; i++) {
		if (msgs[i].src >= ports || msgs[i].dst < -1 || msgs[i].dst >= (s32)ports ||
		    msgs[i].bytes > PW_FABRIC_MAX_LEN || msgs[i].cycle > UINT64_MAX / 4 ||
		    (i && msgs[i].cycle < msgs[i - 1].cycle))
			return -EINVAL;
		msgs[i].arrived = 0;
	}
	mem = malloc(pw_fabric_size(&p));
	if (!mem)
		return -ENOMEM;
	f = pw_fabric_init(mem, &p, &ops, &r);
	pw_fabric_callbacks(f, false, pw_fabric_faults_on(&r.faults));
	for (i = 0; i < n && !err; i++) {
		dst = msgs[i].dst < 0 ? PW_FABRIC_ALL : msgs[i].dst;
		err = advance(f, &r, msgs[i].cycle, &since, &seen);
		while (!err) {
			err = pw_fabric_send(f, msgs[i].src, dst, PW_FABRIC_AUTO, msgs[i].bytes, i,
					     NULL);
			if (err != -EBUSY)
				break;
			err = advance(f, &r, pw_fabric_now(f) + 1, &since, &seen);
		}
	}
	while (!err && r.done < n && pw_fabric_next(f) != PW_FABRIC_NEVER)
		err = advance(f, &r, pw_fabric_now(f) + 1000, &since, &seen);
	if (!err && r.done < n)
		err = -ETIMEDOUT;
	free(mem);
	return err;
}

/* a node with a store of its own */
struct pwc_esp {
	struct pw_esp_store store;
	u64 node, last;
	void *mem;
};

struct pwc_esp *pwc_esp_new(u64 node, u64 lifetime, u64 capacity);
void pwc_esp_free(struct pwc_esp *e);
int pwc_esp_opcode(const char *name);
int pwc_esp_operator(u32 opcode, const char *name);
int pwc_esp_field(u32 opcode, const char *name);
const char *pwc_esp_verdict(u32 verdict);
const char *pwc_esp_field_name(u32 field);
int pwc_esp_exec(struct pwc_esp *e, u64 ms, u32 opcode, u32 op, u64 *fields, u32 *changed);
int pwc_esp_put(struct pwc_esp *e, u64 ms, u64 tag, u64 val);
int pwc_esp_get(struct pwc_esp *e, u64 ms, u64 tag, u64 *val);

struct pwc_esp *pwc_esp_new(u64 node, u64 lifetime, u64 capacity)
{
	static const siphash_key_t key = { { 0x7061636b65747761ULL, 0x79206d6f64656c00ULL } };
	struct pwc_esp *e;

	if (!lifetime || !capacity || capacity > PW_ESP_CAPACITY_MAX)
		return NULL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->node = node;
	e->mem = malloc(pw_esp_store_bytes(capacity));
	if (!e->mem || pw_esp_store_init(&e->store, e->mem, pw_esp_store_bytes(capacity), capacity,
					 lifetime, &key)) {
		pwc_esp_free(e);
		return NULL;
	}
	return e;
}

void pwc_esp_free(struct pwc_esp *e)
{
	free(e->mem);
	free(e);
}

int pwc_esp_opcode(const char *name)
{
	for (int i = PW_ESP_COUNT; i < PW_ESP_OPCODES; i++)
		if (!strcmp(name, pw_esp_desc[i].name))
			return i;
	return -ENOENT;
}

/* code of an operator of an instruction; 0 if it has none and @name is "" */
int pwc_esp_operator(u32 opcode, const char *name)
{
	u8 kind = pw_esp_desc[opcode].op_kind;

	if (!kind)
		return *name ? -EINVAL : 0;
	for (int op = 0; op < 256; op++)
		if (pw_esp_op_valid(kind, op) && !strcmp(name, pw_esp_op_name(kind, op)))
			return op;
	return -ENOENT;
}

int pwc_esp_field(u32 opcode, const char *name)
{
	const struct pw_esp_desc *d = &pw_esp_desc[opcode];

	for (int i = 0; i < d->n; i++)
		if (!strcmp(name, pw_esp_field_name[d->field[i]]))
			return d->field[i];
	return -ENOENT;
}

const char *pwc_esp_verdict(u32 verdict)
{
	return pw_esp_verdict_name[verdict];
}

const char *pwc_esp_field_name(u32 field)
{
	return field < PW_ESP_F_COUNT ? pw_esp_field_name[field] : NULL;
}

/* time does not go back */
static int at(struct pwc_esp *e, u64 ms)
{
	if (ms < e->last)
		return -EINVAL;
	e->last = ms;
	return 0;
}

/* the verdict, or a negative errno; @fields and @changed by enum pw_esp_field */
int pwc_esp_exec(struct pwc_esp *e, u64 ms, u32 opcode, u32 op, u64 *fields, u32 *changed)
{
	struct pw_esp_insn in = { .opcode = opcode, .op = op };
	struct pw_esp_result res;

	if (at(e, ms))
		return -EINVAL;
	memcpy(in.f, fields, sizeof(in.f));
	pw_esp_exec(&e->store, e->node, ms, &in, &res);
	memcpy(fields, in.f, sizeof(in.f));
	*changed = res.changed;
	return res.verdict;
}

int pwc_esp_put(struct pwc_esp *e, u64 ms, u64 tag, u64 val)
{
	return at(e, ms) ?: pw_esp_store_put(&e->store, ms, tag, val) ? -ENOSPC : 0;
}

/* 1: there is a value */
int pwc_esp_get(struct pwc_esp *e, u64 ms, u64 tag, u64 *val)
{
	return at(e, ms) ?: pw_esp_store_get(&e->store, ms, tag, val);
}
