// SPDX-License-Identifier: GPL-2.0
/*
 * Programs on libpwatm on the model of the fabric in user space. Each process is a context of
 * its own in this one. It runs until it waits, in no time but what it is charged; what the
 * processes send in one cycle enters the fabric by port, process and order, as on a SAN in
 * lockstep.
 */
#include <ucontext.h>

#include "sweep.h"
#include "atm_model.h"
#include "link.h"

#define STACK (256 << 10)
#define PORTS_MAX 256

struct model_proc {
	struct atm_model *m;
	struct atm_dev *dev;
	int self;
	void (*run)(struct atm_dev *dev, void *arg);
	void *arg;
	ucontext_t ctx;
	void *stack;
	bool woken, ended;
	uint64_t until;		/* of a charge */
};

/* a frame that was sent */
struct model_msg {
	struct model_msg *next;
	struct model_proc *from;
	int port;		/* -1: all */
	int len, bytes;
	/* without contention */
	uint64_t at;
	uint8_t frame[];
};

struct atm_model {
	struct pw_fabric *f;
	void *mem;
	bool self;
	unsigned int ports;
	uint32_t apart;
	struct model_proc *proc[ATM_PROCS_MAX];
	int procs;
	struct model_proc *current;
	ucontext_t ctx;
	struct model_msg *sent, **last_sent;	/* in this cycle */
	struct model_msg *fly;			/* without contention, by time */
	struct model_msg *all;			/* the fabric's */
	uint64_t now;
	int lost;				/* refused: a queue was full */
	uint64_t busy[PORTS_MAX], read[PORTS_MAX];
};

/* Processes --------------------------------------------------------------------------- */

static void sleeps(struct model_proc *p)
{
	struct atm_model *m = p->m;

	p->woken = false;
	m->current = NULL;
	swapcontext(&p->ctx, &m->ctx);
}

static void model_main(unsigned int hi, unsigned int lo)
{
	struct model_proc *p = (void *)(uintptr_t)((uint64_t)hi << 32 | lo);

	p->run(p->dev, p->arg);
	p->ended = true;
	sleeps(p);
}

/* one after the other, until all wait */
static void run_woken(struct atm_model *m)
{
	int i;

	for (i = 0; i < m->procs; i++) {
		struct model_proc *p = m->proc[i];

		if (!p->woken || p->ended)
			continue;
		m->current = p;
		swapcontext(&m->ctx, &p->ctx);
		/* a broadcast may have woken one before it */
		i = -1;
	}
}

/* all processes at a port but the sender */
static void arrive(struct atm_model *m, const struct model_msg *msg, unsigned int port, bool out)
{
	unsigned int i;

	for (i = port; i < (unsigned int)m->procs; i += m->ports) {
		struct model_proc *p = m->proc[i];

		if (out && p == msg->from)
			continue;
		if (atm_input(p->dev, msg->frame, msg->len, out, m->now))
			abort();
		if (!p->until)
			p->woken = true;
	}
}

/* The link ---------------------------------------------------------------------------- */

static int model_send(void *ctx, const uint8_t *frame, int len, int bytes, int port,
		      const uint64_t *ns)
{
	struct model_proc *p = ctx;
	struct atm_model *m = p->m;
	struct model_msg *msg = ns ? NULL : malloc(sizeof(*msg) + len);

	if (!msg)
		return ns ? -EOPNOTSUPP : -ENOMEM;
	*msg = (struct model_msg) { .from = p, .port = port, .len = len, .bytes = bytes };
	memcpy(msg->frame, frame, len);
	*m->last_sent = msg;
	m->last_sent = &msg->next;
	if (port < 0 && !m->self)
		arrive(m, msg, p->self % m->ports, true);
	return 0;
}

static int model_wait(void *ctx, int ms)
{
	sleeps(ctx);
	return 0;
}

static void model_charge(void *ctx, uint64_t ns)
{
	struct model_proc *p = ctx;

	p->until = p->m->now + ns;
	sleeps(p);
}

static uint64_t model_now(void *ctx)
{
	return ((struct model_proc *)ctx)->m->now;
}

static void model_close(void *ctx)
{
}

static const struct atm_link model_link = {
	.send = model_send, .wait = model_wait, .charge = model_charge, .now = model_now,
	.close = model_close,
};

/* Time ----------------------------------------------------------------------------------- */

/* a message on its way without contention, behind those of the same time */
static void take_off(struct atm_model *m, struct model_msg *msg)
{
	unsigned int port = msg->from->self % m->ports;
	struct model_msg **at = &m->fly;
	uint64_t start = m->now > m->busy[port] ? m->now : m->busy[port];

	/* the next one can begin when this one is segmented */
	m->busy[port] = start + (msg->bytes == 8 ? 74 : 55);
	msg->at = start + pw_fabric_delay(msg->bytes);
	while (*at && (*at)->at <= msg->at)
		at = &(*at)->next;
	msg->next = *at;
	*at = msg;
}

/* the message of this cycle that is to be sent next */
static struct model_msg *first_sent(struct atm_model *m)
{
	struct model_msg **p, **best = &m->sent, *msg;

#define KEY(x) ((x)->from->self % m->ports * ATM_PROCS_MAX + (x)->from->self)
	for (p = &m->sent; *p; p = &(*p)->next)
		if (KEY(*p) < KEY(*best))
			best = p;
#undef KEY
	msg = *best;
	if (msg) {
		*best = msg->next;
		if (m->last_sent == &msg->next)
			m->last_sent = best;
	}
	return msg;
}

static void send_all(struct atm_model *m)
{
	struct model_msg *msg;

	while ((msg = first_sent(m))) {
		if (!m->f) {
			take_off(m, msg);
			continue;
		}
		msg->next = m->all;
		m->all = msg;
		if (pw_fabric_send(m->f, msg->from->self % m->ports,
				   msg->port < 0 ? PW_FABRIC_ALL : msg->port, PW_FABRIC_AUTO,
				   msg->bytes, (uintptr_t)msg, NULL))
			m->lost++;
	}
}

static void model_deliver(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
			  const struct pw_fabric_times *t)
{
	struct atm_model *m = ctx;

	m->now = cycle;
	arrive(m, (void *)(uintptr_t)cookie, dst, false);
	/* a host of the published machine is part of it; one of a SAN acts after the cycle */
	if (m->self) {
		run_woken(m);
		send_all(m);
	}
}

static const struct pw_fabric_ops model_ops = { .deliver = model_deliver };

/* the end of the next charge */
static uint64_t next_charge(const struct atm_model *m)
{
	uint64_t at = UINT64_MAX;
	int i;

	for (i = 0; i < m->procs; i++)
		if (m->proc[i]->until && m->proc[i]->until < at)
			at = m->proc[i]->until;
	return at;
}

static void end_charges(struct atm_model *m)
{
	int i;

	for (i = 0; i < m->procs; i++) {
		struct model_proc *p = m->proc[i];

		if (p->until && p->until <= m->now) {
			p->until = 0;
			p->woken = true;
		}
	}
}

/* the next message without contention; all ports at once */
static void land(struct atm_model *m)
{
	struct model_msg *msg = m->fly;
	unsigned int port;

	m->fly = msg->next;
	for (port = 0; port < m->ports; port++) {
		if (msg->port >= 0 && (unsigned int)msg->port != port)
			continue;
		m->now = !m->read[port] || msg->at > m->read[port] + m->apart ? msg->at :
			 m->read[port] + m->apart;
		m->read[port] = m->now;
		arrive(m, msg, port, false);
		run_woken(m);
		send_all(m);
	}
	free(msg);
}

int atm_model_run(struct atm_model *m)
{
	uint64_t next, charge;
	int i, left = 0;

	for (;;) {
		run_woken(m);
		send_all(m);
		charge = next_charge(m);
		if (m->f)
			next = pw_fabric_next(m->f);
		else
			next = m->fly ? m->fly->at : UINT64_MAX;
		if (next == UINT64_MAX && charge == UINT64_MAX)
			break;
		if (!m->f && next <= charge) {
			land(m);
			continue;
		}
		if (next > charge)
			next = charge;
		if (m->f) {
			if (next <= pw_fabric_now(m->f))
				next = pw_fabric_now(m->f) + 1;
			pw_fabric_run(m->f, next, UINT32_MAX);
			m->now = pw_fabric_now(m->f);
		} else {
			m->now = next;
		}
		end_charges(m);
	}
	for (i = 0; i < m->procs; i++)
		left += !m->proc[i]->ended;
	return left + m->lost;
}

/* Making and freeing ---------------------------------------------------------------------- */

struct atm_model *atm_model_new(const struct pw_fabric_params *params, uint32_t apart,
				unsigned int ports, uint64_t start)
{
	struct atm_model *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->last_sent = &m->sent;
	m->ports = ports;
	m->apart = apart;
	m->self = !params || params->flags & PW_FABRIC_F_SELF;
	if (params) {
		m->mem = malloc(pw_fabric_size(params));
		if (!m->mem) {
			free(m);
			return NULL;
		}
		m->f = pw_fabric_init(m->mem, params, &model_ops, m);
		/* receivers look at one source after the other, also in an idle fabric */
		while (m->now < start)
			m->now = pw_fabric_run(m->f, start, UINT32_MAX);
	}
	return m;
}

int atm_model_add(struct atm_model *m, const struct atm_proc *table, int procs, int self,
		  void (*run)(struct atm_dev *dev, void *arg), void *arg)
{
	struct model_proc *p = calloc(1, sizeof(*p));
	uint64_t where = (uintptr_t)p;
	int err = -ENOMEM;

	if (!p || self != m->procs)
		goto fail;
	*p = (struct model_proc) { .m = m, .self = self, .run = run, .arg = arg, .woken = true };
	p->stack = malloc(STACK);
	if (!p->stack)
		goto fail;
	err = atm_open_link(&p->dev, &model_link, p, m->ports, 0, table, procs, self);
	if (err)
		goto fail;
	getcontext(&p->ctx);
	p->ctx.uc_stack.ss_sp = p->stack;
	p->ctx.uc_stack.ss_size = STACK;
	makecontext(&p->ctx, (void (*)(void))model_main, 2, (unsigned int)(where >> 32),
		    (unsigned int)where);
	m->proc[m->procs++] = p;
	return 0;
fail:
	if (p)
		free(p->stack);
	free(p);
	return err;
}

struct atm_dev *atm_model_dev(struct atm_model *m, int self)
{
	return m->proc[self]->dev;
}

struct pw_fabric *atm_model_fabric(struct atm_model *m)
{
	return m->f;
}

static void free_list(struct model_msg *msg)
{
	struct model_msg *next;

	for (; msg; msg = next) {
		next = msg->next;
		free(msg);
	}
}

void atm_model_free(struct atm_model *m)
{
	int i;

	if (!m)
		return;
	for (i = 0; i < m->procs; i++) {
		atm_close(m->proc[i]->dev);
		free(m->proc[i]->stack);
		free(m->proc[i]);
	}
	free_list(m->sent);
	free_list(m->fly);
	free_list(m->all);
	free(m->mem);
	free(m);
}
