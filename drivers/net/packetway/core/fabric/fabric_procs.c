// SPDX-License-Identifier: GPL-2.0
/*
 * Several processes at a port of a fabric, in both engines.
 *
 * A message names the processes that it is for: name, instance and type, the words that
 * controller 8 compares. The processes of a port share its AAL unit by its two locks. Those
 * that a complete message is for ask for it in turn, each with its name, its instance and the
 * type of its oldest message. Controller 8 chooses: the first message that matches, source
 * by source, which need not be the oldest one.
 *
 * A message for every instance of a name is served once to each, and released after the last
 * of them has read it (device) or when its lifetime has ended (published machine).
 *
 * The header has no place for the identifier that the fabric gives to a message. A complete
 * message is found by sender, destination and number of its first cell instead.
 */
#include "fabric_priv.h"

static const u32 *name_of(const struct fproc *q, u32 i)
{
	return q->hdr[i];
}

static u32 instance_of(const struct fproc *q, u32 i)
{
	return q->hdr[i][3];
}

/* is a message with header @hdr for process @i of the port? */
static bool is_for(const struct fproc *q, u32 i, const u32 *hdr)
{
	return !memcmp(name_of(q, i), hdr, 3 * sizeof(*hdr)) &&
	       (hdr[3] == instance_of(q, i) || hdr[3] == PW_FABRIC_ANY);
}

/* a message on its way by the number of its first cell */
static struct fmsg *sent(struct pw_fabric *f, u16 src, u16 dst, u16 sqn)
{
	struct fmsg *m;
	u16 i;

	for (i = f->port[src].q_head; i != NONE; i = m->next) {
		m = &f->msg[i];
		if (m->t.first_out && m->dst == dst && m->sqn == sqn)
			return m;
	}
	return NULL;
}

/* does the port take the message at all? */
static bool takes(const struct pw_fabric *f, u32 port, const struct fmsg *m)
{
	return f->port[port].attached && (m->src != port || m->dst != PW_FABRIC_ALL ||
					  f->p.flags & PW_FABRIC_F_SELF);
}

/* controller 8 passes a message that was served to all */
static void serve_all(const struct fproc *q, struct pw_aal_msg *p)
{
	u32 i;

	p->nserved = q->num;
	for (i = 0; i < q->num; i++)
		p->served[i] = instance_of(q, i);
}

static struct fmsg *complete(struct pw_fabric *f, struct pw_aal *u, struct pw_aal_msg *p)
{
	const struct fproc *q = &f->procs->proc[u->cfg.port];
	struct fmsg *m = sent(f, p->src, p->dst, u->ic[p->first].sqn);
	u32 i;

	p->id = m ? m->id : U32_MAX;
	if (!m)
		return NULL;
	pw_fabric_message_header(f, m, p->hdr);
	for (i = 0; i < q->num && takes(f, u->cfg.port, m); i++)
		p->unread += is_for(q, i, p->hdr);
	if (!p->unread)
		serve_all(q, p);
	return m;
}

/* remove a message from the list of complete ones */
static void forget(struct fport *p, u16 desc)
{
	u32 i, n = 0;

	for (i = 0; i < p->r_num; i++)
		if (*pw_fabric_ready_at(p, i) != desc)
			*pw_fabric_ready_at(p, n++) = *pw_fabric_ready_at(p, i);
	p->r_num = n;
}

/* drop the messages that no process of the port reads */
static void drop_unclaimed(struct pw_fabric *f, u32 port)
{
	struct fport *p = &f->port[port];
	struct fmsg *m;
	u32 i = 0;
	u16 desc;

	while (i < p->r_num) {
		desc = *pw_fabric_ready_at(p, i);
		if (p->u->msg[desc].unread && p->attached) {
			i++;
			continue;
		}
		forget(p, desc);
		m = pw_fabric_find(f, p->u->msg[desc].id);
		serve_all(&f->procs->proc[port], &p->u->msg[desc]);
		pw_fabric_unclaimed(f, m, port, desc);
	}
}

static struct fmsg *next(struct pw_fabric *f, u32 port)
{
	struct fproc *q = &f->procs->proc[port];
	struct fport *p = &f->port[port];
	const struct pw_aal_msg *msg;
	u32 n, i;

	drop_unclaimed(f, port);
	for (n = 1; n <= q->num; n++) {
		q->asks = (q->last + n) % q->num;
		for (i = 0; i < p->r_num; i++) {
			msg = &p->u->msg[*pw_fabric_ready_at(p, i)];
			if (is_for(q, q->asks, msg->hdr) &&
			    !pw_aal_served(msg, instance_of(q, q->asks)))
				return pw_fabric_find(f, msg->id);
		}
	}
	return NULL;
}

static struct fmsg *granted(struct pw_fabric *f, u32 port)
{
	struct fport *p = &f->port[port];
	struct fmsg *m = pw_fabric_find(f, p->u->msg[p->u->curmsg].id);

	p->rx = m - f->msg;
	f->procs->proc[port].last = f->procs->proc[port].asks;
	return m;
}

static void has_read(struct pw_fabric *f, u32 port, struct fmsg *m)
{
	const struct fproc *q = &f->procs->proc[port];
	u16 desc = f->port[port].u->curmsg;
	u8 name[PW_FABRIC_NAME];
	u32 i;

	for (i = 0; i < PW_FABRIC_NAME; i++)
		name[i] = name_of(q, q->asks)[i];
	if (f->ops->served)
		f->ops->served(f->ctx, port, name, instance_of(q, q->asks), m->cookie, f->now);
	if (f->port[port].u->msg[desc].unread)
		return;
	forget(&f->port[port], desc);
	pw_fabric_arrived(f, m, port, true);
}

static struct fprocs *layout(struct pw_arena *a, const struct pw_fabric *f)
{
	struct fprocs *t = pw_arena_take(a, sizeof(*t));
	struct fproc *proc = pw_arena_take(a, sizeof(*proc) * f->ports);
	void *msg = pw_arena_take(a, sizeof(*t->msg) * f->p.queue * f->ports);

	if (t) {
		memset(t, 0, sizeof(*t));
		memset(proc, 0, sizeof(*proc) * f->ports);
		t->proc = proc;
		t->msg = msg;
	}
	return t;
}

/**
 * pw_fabric_procs_size() - memory that the processes of a fabric need
 * @f: fabric
 *
 * Return: bytes to hand to pw_fabric_procs().
 */
size_t pw_fabric_procs_size(const struct pw_fabric *f)
{
	struct pw_arena a = {};

	layout(&a, f);
	return a.used;
}

/**
 * pw_fabric_procs() - replace the process of each port by those of pw_fabric_proc()
 * @f: fabric in which no message was sent, without PW_FABRIC_F_POLL
 * @mem: pw_fabric_procs_size() bytes, aligned to 8
 *
 * From now on messages are sent by pw_fabric_send_to() only.
 */
void pw_fabric_procs(struct pw_fabric *f, void *mem)
{
	struct pw_arena a = { .base = mem };
	struct fprocs *t = layout(&a, f);

	t->complete = complete;
	t->next = next;
	t->granted = granted;
	t->read = has_read;
	t->sent = sent;
	f->procs = t;
}

/**
 * pw_fabric_proc() - add a process to a port
 * @f: fabric after pw_fabric_procs(), in which no message was sent
 * @port: port
 * @name: PW_FABRIC_NAME characters
 * @instance: its instance, not PW_FABRIC_ANY
 *
 * Return: 0; -EINVAL for a port or instance that does not exist; -EEXIST if the port has it;
 * -ENOSPC if the port has PW_FABRIC_PROCS.
 */
int pw_fabric_proc(struct pw_fabric *f, u16 port, const u8 *name, u32 instance)
{
	u32 hdr[PW_AAL_HDR_WORDS - 1], i;
	struct fproc *q;

	if (port >= f->ports || instance == PW_FABRIC_ANY)
		return -EINVAL;
	q = &f->procs->proc[port];
	for (i = 0; i < PW_FABRIC_NAME; i++)
		hdr[i] = name[i];
	hdr[3] = instance;
	for (i = 0; i < q->num; i++)
		if (is_for(q, i, hdr))
			return -EEXIST;
	if (q->num == PW_FABRIC_PROCS)
		return -ENOSPC;
	memcpy(q->hdr[q->num], hdr, sizeof(hdr));
	/* the first one is the first to ask */
	q->last = q->num++;
	return 0;
}

/**
 * pw_fabric_send_to() - hand over a message for processes
 * @f: fabric after pw_fabric_procs()
 * @src: sending port
 * @dst: destination, as in pw_fabric_send()
 * @path: path, likewise
 * @len: data bytes
 * @cookie: identifies the message in the callbacks
 * @data: its bytes (rtl), may be NULL; must stay until ops->done()
 * @to: the processes at @dst
 *
 * Return: as pw_fabric_send().
 */
int pw_fabric_send_to(struct pw_fabric *f, u16 src, u16 dst, int path, u32 len, u64 cookie,
		      const void *data, const struct pw_fabric_to *to)
{
	int err = pw_fabric_send(f, src, dst, path, len, cookie, data);
	u32 *hdr, i;

	if (err)
		return err;
	hdr = f->procs->msg[f->port[src].q_tail];
	for (i = 0; i < PW_FABRIC_NAME; i++)
		hdr[i] = to->name[i];
	hdr[3] = to->instance;
	hdr[4] = to->type;
	return 0;
}
