// SPDX-License-Identifier: GPL-2.0
/* The process at a port, as a state machine. */
#include "aal_host.h"

enum host_state {
	HOST_IDLE,
	HOST_TX_LOCK,	/* send: wait for both locks */
	HOST_TX_PUT,	/* a put for each word */
	HOST_TX_DST,	/* set destination was issued */
	HOST_TX_HDR,	/* header words */
	HOST_RX_LOCK,	/* receive: wait for both locks */
	HOST_RX_HDR,	/* header words */
	HOST_RX_WAIT,	/* wait for the answer of controller 8 */
	HOST_RX_GET,	/* a get for each word */
};

/**
 * pw_aal_host_init() - idle process
 * @h: process
 * @u: AAL unit of its port
 * @ops: callbacks
 * @ctx: first argument of the callbacks
 */
void pw_aal_host_init(struct pw_aal_host *h, struct pw_aal *u, const struct pw_aal_host_ops *ops,
		      void *ctx)
{
	memset(h, 0, sizeof(*h));
	h->u = u;
	h->ops = ops;
	h->ctx = ctx;
}

static void begin(struct pw_aal_host *h, const struct pw_aal_job *job, u8 state)
{
	h->job = *job;
	h->state = state;
	h->off = 0;
	h->i = 0;
	h->n = 0;
	h->armed = false;
}

/**
 * pw_aal_host_send() - start to send
 * @h: idle process
 * @job: message
 */
void pw_aal_host_send(struct pw_aal_host *h, const struct pw_aal_job *job)
{
	begin(h, job, HOST_TX_LOCK);
}

/**
 * pw_aal_host_recv() - start to receive
 * @h: idle process
 * @job: header of the message wanted and its length
 */
void pw_aal_host_recv(struct pw_aal_host *h, const struct pw_aal_job *job)
{
	begin(h, job, HOST_RX_LOCK);
}

/**
 * pw_aal_host_idle() - can the process take a new job?
 * @h: process
 *
 * Return: true if it has none.
 */
bool pw_aal_host_idle(const struct pw_aal_host *h)
{
	return h->state == HOST_IDLE;
}

/* give a command to the AAL unit */
static void issue(struct pw_aal_host *h, u8 cmd, u32 bus, u8 nbytes)
{
	struct pw_aal_dev *dev = &h->u->dev;

	dev->cmd = cmd;
	dev->bus = bus;
	dev->nbytes = nbytes;
	dev->busi = true;
}

/* true until @cycles have passed since the first call */
static bool gap(struct pw_aal_host *h, u32 cycles)
{
	if (!h->armed) {
		h->armed = true;
		h->until = h->u->now + cycles;
	}
	return h->u->now < h->until;
}

/* size of the next put or get, 0 when there is none */
static u32 next_piece(const struct pw_aal_host *h)
{
	const struct pw_aal_job *job = &h->job;

	if (job->piece)
		return h->i < job->pieces ? min_t(u32, job->piece[h->i], 4) : 0;
	return min_t(u32, job->len - h->off, 4);
}

/* issue the next put; after the last one set the destination */
static void put(struct pw_aal_host *h)
{
	u32 n = next_piece(h);
	u8 w[4] = {};

	if (!n) {
		h->u->dev.path = h->job.path;
		h->u->dev.id = h->job.id;
		issue(h, PW_AAL_SETDST, (u32)h->job.dst << 16 |
		      (h->job.mc ? PW_CELL_COM_MC :
		       h->job.all ? PW_CELL_COM_ALL : PW_CELL_COM_ONE), 4);
		h->state = HOST_TX_DST;
		return;
	}
	if (h->ops->fetch)
		h->ops->fetch(h->ctx, h, h->off, w, n);
	issue(h, PW_AAL_PUTBYTES, get_unaligned_be32(w), n);
	h->off += n;
	h->i++;
}

/* idle cycles of the process before the next put or get; @first: those before the first one */
static u32 word_gap(const struct pw_aal_host *h, u32 first)
{
	return (h->off || h->i ? 0 : first) + (next_piece(h) ? h->job.gap_word : 0);
}

/* store what the last get has read */
static void got(struct pw_aal_host *h)
{
	u8 w[4];

	if (!h->n)
		return;
	put_unaligned_be32(h->u->dev.bus, w);
	if (h->ops->store)
		h->ops->store(h->ctx, h, h->off, w, h->n);
	h->off += h->n;
	h->i++;
	h->n = 0;
}

/* issue the next get; after the last one the message is received */
static void get(struct pw_aal_host *h)
{
	h->n = next_piece(h);
	if (h->n) {
		issue(h, PW_AAL_GETBYTES, 0, h->n);
		return;
	}
	pw_aal_read_done(h->u);
	h->state = HOST_IDLE;
	if (h->ops->received)
		h->ops->received(h->ctx, h);
}

/* take the write lock and issue init-send */
static void lock_tx(struct pw_aal_host *h)
{
	struct pw_aal_dev *dev = &h->u->dev;

	if ((dev->wlcked || dev->rlcked) && !h->armed)
		return;
	if (gap(h, h->job.gap_lock))
		return;
	h->armed = false;
	dev->wlcked = true;
	issue(h, PW_AAL_INITSEND, 0, 0);
	h->state = HOST_TX_PUT;
	if (h->ops->started)
		h->ops->started(h->ctx, h);
}

/* take the receive lock, then issue the header words of the request */
static void ask(struct pw_aal_host *h)
{
	struct pw_aal_dev *dev = &h->u->dev;

	if (h->state == HOST_RX_LOCK) {
		if (dev->wlcked || dev->rlcked)
			return;
		dev->rlcked = true;
		dev->readi = false;
		h->u->asking = true;
		h->i = 0;
		h->state = HOST_RX_HDR;
	}
	issue(h, PW_AAL_RCV, h->job.hdr[h->i], 4);
	if (++h->i == PW_AAL_HDR_WORDS)
		h->state = HOST_RX_WAIT;
}

/* granted: get the message; denied: ask again or give up */
static void take_answer(struct pw_aal_host *h)
{
	struct pw_aal_dev *dev = &h->u->dev;

	if (!dev->readi)
		return;
	dev->readi = false;
	if (dev->read) {
		if (h->ops->granted)
			h->ops->granted(h->ctx, h);
		h->state = HOST_RX_GET;
		h->i = 0;
		h->n = 0;
		h->armed = false;
		return;
	}
	dev->rlcked = false;
	if (h->ops->denied && !h->ops->denied(h->ctx, h)) {
		h->state = HOST_IDLE;
		return;
	}
	h->state = HOST_RX_LOCK;
	ask(h);
}

/**
 * pw_aal_host_step() - run the process after a cycle of its AAL unit
 * @h: process
 *
 * Calling it again in the same cycle changes nothing.
 */
void pw_aal_host_step(struct pw_aal_host *h)
{
	struct pw_aal_dev *dev = &h->u->dev;

	if (dev->busi || dev->busy)
		return;
	switch (h->state) {
	case HOST_TX_LOCK:
		lock_tx(h);
		break;
	case HOST_TX_PUT:
		if (gap(h, word_gap(h, h->job.gap_init)))
			break;
		h->armed = false;
		put(h);
		break;
	case HOST_TX_DST:
		h->i = 0;
		h->state = HOST_TX_HDR;
		fallthrough;
	case HOST_TX_HDR:
		if (h->i == PW_AAL_HDR_WORDS) {
			h->state = HOST_IDLE;
			if (h->ops->sent)
				h->ops->sent(h->ctx, h);
			break;
		}
		issue(h, PW_AAL_SND, h->job.hdr[h->i++], 4);
		break;
	case HOST_RX_LOCK:
	case HOST_RX_HDR:
		ask(h);
		break;
	case HOST_RX_WAIT:
		take_answer(h);
		if (h->state != HOST_RX_GET)
			break;
		fallthrough;
	case HOST_RX_GET:
		got(h);
		if (gap(h, word_gap(h, h->job.gap_get)))
			break;
		h->armed = false;
		get(h);
		break;
	default:
		break;
	}
}
