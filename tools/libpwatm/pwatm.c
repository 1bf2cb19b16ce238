// SPDX-License-Identifier: GPL-2.0
/* checkpatch-ignore: SPACING (pointers to a type that is a macro argument) */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <linux/errqueue.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>

#include <linux/packetway.h>
#include <linux/packetway_eep.h>

#include "link.h"

/* packet types: one process (by table index), all of a name (by its first index) */
#define PT_ONE		1536
#define PT_ALL		1280
#define BROADCAST	0x7fffff
#define HDR		16
#define TAIL		8
/* cycles of the published host library, in which a process does nothing else */
#define COST_SEND	21	/* init-send, set destination, five snd */
#define COST_WORD	19	/* put of a word; one of r < 4 bytes: 3 + 4r */
/* bits per second of a link whose cycle is 1 ns */
#define RATE		8000000000ULL

struct msg {
	struct msg *next;
	uint64_t ns;
	uint32_t source;
	int type;
	int len;
	uint8_t data[];
};

struct note {
	uint64_t ns;
	uint32_t seq;
	uint16_t self, type;
	int16_t dst;
	char op;
};

struct atm_log {
	uint64_t start;
	uint32_t used, size;
	struct note note[];
};

/* messages by a packet socket */
struct port {
	int fd;
	int (*charge)(uint64_t ns);
	struct atm_dev *dev;
};

struct atm_dev {
	const struct atm_link *link;
	void *ctx;
	uint64_t word_ns;		/* of the process, per word */
	uint64_t rate;			/* of the links, bits per second */
	bool charged;
	struct atm_log *log;
	uint32_t seq;
	uint32_t addr, bias;
	unsigned int ports;
	const struct atm_proc *table;
	int procs, self;
	bool packing;
	int out_len;
	struct msg *first, **last;	/* came, not yet asked for */
	struct msg *in;			/* being unpacked */
	int at;
	uint8_t out[HDR + ATM_MSG_MAX + 8 + TAIL];
};

static void put_be(uint8_t *p, int bytes, uint64_t v)
{
	while (bytes--) {
		p[bytes] = (uint8_t)v;
		v >>= 8;
	}
}

static uint64_t get_be(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

/* index of the first process of @name, with @instance unless that is ATM_ALL */
static int find(const struct atm_dev *dev, const char *name, int instance)
{
	int i;

	for (i = 0; i < dev->procs; i++)
		if (!strncmp(dev->table[i].name, name, sizeof(dev->table[i].name)) &&
		    (instance == ATM_ALL || dev->table[i].instance == instance))
			return i;
	return -ENOENT;
}

/* --- packet sockets ---------------------------------------------------------------- */

static int port_send(void *ctx, const uint8_t *frame, int len, int bytes, int port,
		     const uint64_t *ns)
{
	char ctl[CMSG_SPACE(sizeof(*ns))] = {};
	struct iovec iov = { (void *)frame, len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct timespec pause = { .tv_nsec = 1000000 };
	struct port *p = ctx;
	struct cmsghdr *c;
	int tries = 0;

	(void)bytes;
	(void)port;
	if (ns) {
		m.msg_control = ctl;
		m.msg_controllen = sizeof(ctl);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_TXTIME;
		c->cmsg_len = CMSG_LEN(sizeof(*ns));
		memcpy(CMSG_DATA(c), ns, sizeof(*ns));
	}
	/* a full queue is no error to a program whose sends wait */
	while (sendmsg(p->fd, &m, 0) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != ENOBUFS || tries++ > 10000)
			return -errno;
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* take one frame off the socket */
static int port_take(struct port *p)
{
	static __thread uint8_t buf[HDR + ATM_MSG_MAX + 8 + TAIL];
	struct sockaddr_ll from = {};
	struct iovec iov = { buf, sizeof(buf) };
	char ctl[256];
	struct msghdr mh = { .msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov,
			     .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = sizeof(ctl) };
	struct scm_timestamping t;
	struct cmsghdr *c;
	uint64_t ns = 0;
	ssize_t n;

	n = recvmsg(p->fd, &mh, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -errno;
	if (from.sll_protocol != htons(ETH_P_PACKETWAY))
		return 0;
	for (c = CMSG_FIRSTHDR(&mh); c; c = CMSG_NXTHDR(&mh, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPING)
			continue;
		memcpy(&t, CMSG_DATA(c), sizeof(t));
		ns = (uint64_t)t.ts[2].tv_sec * 1000000000 + t.ts[2].tv_nsec;
	}
	return atm_input(p->dev, buf, (int)n, from.sll_pkttype == PACKET_OUTGOING, ns);
}

static uint64_t port_now(void *ctx)
{
	struct timespec ts;

	(void)ctx;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int port_wait(void *ctx, int ms)
{
	struct port *p = ctx;
	struct pollfd pfd = { .fd = p->fd, .events = POLLIN };
	uint64_t end = port_now(p) + ms * 1000000ULL, now;
	int err, left = -1;

	while ((err = port_take(p)) == -EAGAIN) {
		if (ms >= 0) {
			now = port_now(p);
			if (now >= end)
				return -ETIMEDOUT;
			left = (int)((end - now + 999999) / 1000000);
		}
		if (poll(&pfd, 1, left) < 0 && errno != EINTR)
			return -errno;
	}
	return err;
}

static void port_charge(void *ctx, uint64_t ns)
{
	struct port *p = ctx;

	/* a signal ends a charge early */
	if (p->charge)
		p->charge(ns);
}

static void port_close(void *ctx)
{
	struct port *p = ctx;

	close(p->fd);
	free(p);
}

static const struct atm_link port_link = {
	.send = port_send, .wait = port_wait, .charge = port_charge, .now = port_now,
	.close = port_close,
};

int atm_virtual(void)
{
	return !!dlsym(RTLD_DEFAULT, "pwl_charge");
}

int atm_open(struct atm_dev **pdev, const char *stations, unsigned int ports, uint32_t bias,
	     const struct atm_proc *table, int procs, int self)
{
	int flags = SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
	/* ETH_P_ALL also shows outgoing frames: broadcasts of other processes at this port */
	struct sockaddr_ll sll = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	struct sock_txtime txtime = { .clockid = CLOCK_MONOTONIC };
	const char *mark = strchr(stations, '%');
	int size = 4 << 20, err;
	struct ifreq ifr;
	struct port *p;

	if (!ports || self < 0 || !mark || mark[1] != 'u' || strchr(mark + 1, '%'))
		return -EINVAL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->charge = (int (*)(uint64_t))dlsym(RTLD_DEFAULT, "pwl_charge");
	p->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (p->fd < 0)
		goto fail;
	memset(&ifr, 0, sizeof(ifr));
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%.*s%u%s", (int)(mark - stations), stations,
		 self % ports, mark + 2);
	if (ioctl(p->fd, SIOCGIFINDEX, &ifr))
		goto fail;
	sll.sll_ifindex = ifr.ifr_ifindex;
	/* larger buffers and times are a privilege; a program may do without */
	setsockopt(p->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	setsockopt(p->fd, SOL_SOCKET, SO_TXTIME, &txtime, sizeof(txtime));
	if (setsockopt(p->fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)) ||
	    bind(p->fd, (void *)&sll, sizeof(sll)))
		goto fail;
	err = atm_open_link(&p->dev, &port_link, p, ports, bias, table, procs, self);
	if (!err)
		*pdev = p->dev;
	return err;
fail:
	err = -errno;
	if (p->fd >= 0)
		close(p->fd);
	free(p);
	return err;
}

/* --- devices ------------------------------------------------------------------------ */

int atm_open_link(struct atm_dev **pdev, const struct atm_link *link, void *ctx, unsigned int ports,
		  uint32_t bias, const struct atm_proc *table, int procs, int self)
{
	bool ok = ports && procs >= 1 && procs <= ATM_PROCS_MAX && self >= 0 && self < procs;
	struct atm_dev *dev = ok ? calloc(1, sizeof(*dev)) : NULL;

	if (!dev) {
		link->close(ctx);
		return ok ? -ENOMEM : -EINVAL;
	}
	dev->link = link;
	dev->ctx = ctx;
	dev->charged = true;
	dev->rate = RATE;
	dev->ports = ports;
	dev->bias = bias;
	dev->addr = bias + self % ports + 1;
	dev->table = table;
	dev->procs = procs;
	dev->self = self;
	dev->last = &dev->first;
	*pdev = dev;
	return 0;
}

void atm_close(struct atm_dev *dev)
{
	struct msg *m;

	if (!dev)
		return;
	while ((m = dev->first)) {
		dev->first = m->next;
		free(m);
	}
	free(dev->in);
	dev->link->close(dev->ctx);
	free(dev);
}

/* --- the time of processes ------------------------------------------------------------ */

void atm_charge(struct atm_dev *dev, int on, uint64_t word_ns)
{
	dev->charged = on;
	dev->word_ns = word_ns;
}

void atm_rate(struct atm_dev *dev, uint64_t rate)
{
	dev->rate = rate;
}

/*
 * The fabric has the cycles of puts and gets in the delay of a message. What is charged is
 * that the process is busy with its puts; it waits for the gets anyway.
 */
static void charge(struct atm_dev *dev, uint64_t cycles, int bytes)
{
	uint64_t ns = (uint64_t)((__uint128_t)cycles * RATE / dev->rate) +
		      (uint64_t)((bytes + 3) / 4) * dev->word_ns;

	if (dev->charged && ns)
		dev->link->charge(dev->ctx, ns);
}

/* --- the communication log ----------------------------------------------------------- */

struct atm_log *atm_log_new(struct atm_dev *dev, unsigned int size)
{
	struct atm_log *log = mmap(NULL, sizeof(*log) + size * sizeof(log->note[0]),
				   PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (log == MAP_FAILED)
		return NULL;
	log->start = dev->link->now(dev->ctx);
	log->size = size;
	return log;
}

void atm_log(struct atm_dev *dev, struct atm_log *log)
{
	dev->log = log;
}

uint64_t atm_now(const struct atm_dev *dev)
{
	return dev->link->now(dev->ctx);
}

void atm_note_at(struct atm_dev *dev, int send, int type, int dst, uint64_t ns)
{
	struct atm_log *log = dev->log;
	uint32_t at;

	if (!log)
		return;
	at = __atomic_fetch_add(&log->used, 1, __ATOMIC_RELAXED);
	if (at < log->size)
		log->note[at] = (struct note) {
			.ns = ns, .seq = dev->seq++, .op = send ? 's' : 'r',
			.self = (uint16_t)dev->self, .type = (uint16_t)type, .dst = (int16_t)dst,
		};
}

void atm_note(struct atm_dev *dev, int send, int type, int dst)
{
	atm_note_at(dev, send, type, dst, atm_now(dev));
}

static int by_time(const void *a, const void *b)
{
	const struct note *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	if (x->self != y->self)
		return x->self < y->self ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

unsigned int atm_log_sort(struct atm_log *log)
{
	uint32_t n = log->used < log->size ? log->used : log->size;

	qsort(log->note, n, sizeof(log->note[0]), by_time);
	return n;
}

void atm_log_op(const struct atm_log *log, unsigned int i, struct atm_op *op)
{
	const struct note *n = &log->note[i];

	*op = (struct atm_op) { n->ns - log->start, n->self, n->op == 's', n->type, n->dst };
}

int atm_log_write(struct atm_log *log, const struct atm_proc *table, uint64_t rate, FILE *f)
{
	unsigned int n = atm_log_sort(log), i;
	struct atm_op op;

	if (log->used > log->size)
		return -ENOSPC;
	fprintf(f, "cycle,operation,type,process,destination\n");
	for (i = 0; i < n; i++) {
		atm_log_op(log, i, &op);
		fprintf(f, "%llu,%s,%d,%d,",
			(unsigned long long)((__uint128_t)op.ns * rate / RATE),
			op.send ? "send" : "receive", op.type, table[op.self].instance);
		if (!op.send)
			fprintf(f, "\n");
		else if (op.dst == ATM_ALL)
			fprintf(f, "all\n");
		else
			fprintf(f, "%d\n", op.dst);
	}
	return ferror(f) ? -EIO : 0;
}

void atm_log_free(struct atm_log *log)
{
	if (log)
		munmap(log, sizeof(*log) + log->size * sizeof(log->note[0]));
}

/* --- packing ------------------------------------------------------------------ */

int atm_initsend(struct atm_dev *dev)
{
	dev->packing = true;
	dev->out_len = 0;
	return 0;
}

/* room for @n bytes; NULL: not packing or too long */
static uint8_t *room(struct atm_dev *dev, long n)
{
	uint8_t *p = dev->out + HDR + dev->out_len;

	if (!dev->packing || n < 0 || n > ATM_MSG_MAX - dev->out_len)
		return NULL;
	dev->out_len += (int)n;
	return p;
}

int atm_putbytes(struct atm_dev *dev, const void *p, int n)
{
	uint8_t *to = room(dev, n);

	if (!to)
		return dev->packing ? -EMSGSIZE : -EINVAL;
	memcpy(to, p, n);
	return 0;
}

int atm_putstring(struct atm_dev *dev, const char *s)
{
	return atm_putbytes(dev, s, (int)strlen(s) + 1);
}

static int put_words(struct atm_dev *dev, const void *from, int n, int size)
{
	uint8_t *to = n < 0 ? NULL : room(dev, (long)n * size);
	const uint8_t *p = from;

	if (!to)
		return dev->packing ? -EMSGSIZE : -EINVAL;
	for (; n--; p += size, to += size) {
		uint64_t v64;
		uint32_t v32;
		uint16_t v16;

		switch (size) {
		case 2:
			memcpy(&v16, p, 2);
			put_be(to, 2, v16);
			break;
		case 4:
			memcpy(&v32, p, 4);
			put_be(to, 4, v32);
			break;
		default:
			memcpy(&v64, p, 8);
			put_be(to, 8, v64);
		}
	}
	return 0;
}

/* a complex number is its real and its imaginary part */
#define PUT(what, type, size, parts)						\
int atm_putn##what(struct atm_dev *dev, const type *p, int n)			\
{										\
	return n > ATM_MSG_MAX ? -EMSGSIZE : put_words(dev, p, n * (parts), size); \
}

PUT(int, int32_t, 4, 1)
PUT(short, int16_t, 2, 1)
PUT(long, int32_t, 4, 1)
PUT(float, float, 4, 1)
PUT(dfloat, double, 8, 1)
PUT(cplx, atm_cplx, 4, 2)
PUT(dcplx, atm_dcplx, 8, 2)

/* --- sending -------------------------------------------------------------------- */

static int send_msg(struct atm_dev *dev, const char *name, int instance, int type,
		    const uint64_t *ns)
{
	int to = find(dev, name, instance), words = (dev->out_len + 7) / 8, rest, err;
	uint8_t *b = dev->out;

	if (!dev->packing || type < 0 || type > ATM_TYPE_MAX)
		return -EINVAL;
	if (to < 0)
		return to;
	if (instance == ATM_ALL && to >= ATM_NAMES_MAX)
		return -EINVAL;
	memset(b, 0, HDR);
	memset(b + HDR + dev->out_len, 0, 8 * words - dev->out_len + TAIL);
	put_be(b + 1, 3, instance == ATM_ALL ? BROADCAST : dev->bias + to % dev->ports + 1);
	put_be(b + 4, 2, type);
	put_be(b + 6, 2, instance == ATM_ALL ? PT_ALL + to : PT_ONE + to);
	put_be(b + 8, 4, (uint32_t)(8 * words - dev->out_len) << 25 | words);
	put_be(b + 13, 3, dev->addr);
	err = dev->link->send(dev->ctx, b, HDR + 8 * words + TAIL, dev->out_len,
			      instance == ATM_ALL ? -1 : to % (int)dev->ports, ns);
	if (err)
		return err;
	dev->packing = false;
	rest = dev->out_len % 4;
	charge(dev, COST_SEND + dev->out_len / 4 * COST_WORD + (rest ? 3 + 4 * rest : 0),
	       dev->out_len);
	return 0;
}

int atm_snd(struct atm_dev *dev, const char *name, int instance, int type)
{
	return send_msg(dev, name, instance, type, NULL);
}

int atm_snd_at(struct atm_dev *dev, const char *name, int instance, int type, uint64_t ns)
{
	return send_msg(dev, name, instance, type, &ns);
}

/* --- receiving ------------------------------------------------------------------- */

/* is a frame for this process? A broadcast of a neighbour on the port goes out only */
static bool for_us(const struct atm_dev *dev, int pt, bool out)
{
	if (pt == PT_ONE + dev->self)
		return !out;
	return pt >= PT_ALL && pt < PT_ALL + ATM_NAMES_MAX && pt - PT_ALL < dev->procs &&
	       !strncmp(dev->table[pt - PT_ALL].name, dev->table[dev->self].name,
			sizeof(dev->table[0].name));
}

int atm_input(struct atm_dev *dev, const uint8_t *buf, int n, bool out, uint64_t ns)
{
	uint32_t words, pl, field;
	struct msg *m;

	if (n < HDR + TAIL || buf[0] & 0xc0 || buf[12] & 0x80 ||
	    !for_us(dev, (int)get_be(buf + 6, 2), out))
		return 0;
	field = (uint32_t)get_be(buf + 8, 4);
	words = field & 0x1ffffff;
	pl = field >> 25 & 7;
	if ((size_t)n != HDR + 8UL * words + TAIL || pl > 8 * words)
		return 0;
	m = malloc(sizeof(*m) + 8 * words);
	if (!m)
		return -ENOMEM;
	*m = (struct msg) {
		.source = (uint32_t)get_be(buf + 13, 3), .type = (int)get_be(buf + 4, 2),
		.len = (int)(8 * words - pl), .ns = ns,
	};
	memcpy(m->data, buf + HDR, m->len);
	*dev->last = m;
	dev->last = &m->next;
	return 0;
}

static struct msg *pick(struct atm_dev *dev, int type)
{
	struct msg **p, *m;

	for (p = &dev->first; (m = *p); p = &m->next) {
		if (m->type != type)
			continue;
		*p = m->next;
		if (!*p)
			dev->last = p;
		return m;
	}
	return NULL;
}

int atm_rcv_wait(struct atm_dev *dev, int type, int ms)
{
	uint64_t end = dev->link->now(dev->ctx) + ms * 1000000ULL, now;
	int err, left = -1;
	struct msg *m;

	if (type < 0 || type > ATM_TYPE_MAX)
		return -EINVAL;
	while (!(m = pick(dev, type))) {
		if (ms >= 0) {
			now = dev->link->now(dev->ctx);
			if (now > end)
				return -ETIMEDOUT;
			left = (int)((end - now + 999999) / 1000000);
		}
		err = dev->link->wait(dev->ctx, left);
		if (err)
			return err;
	}
	free(dev->in);
	dev->in = m;
	dev->at = 0;
	charge(dev, 0, m->len);
	return 0;
}

int atm_rcv(struct atm_dev *dev, int type)
{
	return atm_rcv_wait(dev, type, -1);
}

/* --- unpacking --------------------------------------------------------------------- */

int atm_left(const struct atm_dev *dev)
{
	return dev->in ? dev->in->len - dev->at : 0;
}

uint64_t atm_time(const struct atm_dev *dev)
{
	return dev->in ? dev->in->ns : 0;
}

uint32_t atm_source(const struct atm_dev *dev)
{
	return dev->in ? dev->in->source : 0;
}

int atm_getbytes(struct atm_dev *dev, void *p, int n)
{
	if (n < 0 || n > atm_left(dev))
		return -ENODATA;
	if (n)
		memcpy(p, dev->in->data + dev->at, n);
	dev->at += n;
	return 0;
}

int atm_getstring(struct atm_dev *dev, char *s, int size)
{
	const uint8_t *p, *end;

	if (!atm_left(dev))
		return -ENODATA;
	p = dev->in->data + dev->at;
	end = memchr(p, 0, atm_left(dev));
	if (!end)
		return -ENODATA;
	if (end - p >= size)
		return -EOVERFLOW;
	return atm_getbytes(dev, s, (int)(end - p) + 1);
}

static int get_words(struct atm_dev *dev, void *to, int n, int size)
{
	const uint8_t *from;
	uint8_t *p = to;

	if (n < 0 || (long)n * size > atm_left(dev))
		return -ENODATA;
	if (!n)
		return 0;
	from = dev->in->data + dev->at;
	dev->at += n * size;
	for (; n--; p += size, from += size) {
		uint64_t v = get_be(from, size);
		uint32_t v32 = (uint32_t)v;
		uint16_t v16 = (uint16_t)v;

		switch (size) {
		case 2:
			memcpy(p, &v16, 2);
			break;
		case 4:
			memcpy(p, &v32, 4);
			break;
		default:
			memcpy(p, &v, 8);
		}
	}
	return 0;
}

#define GET(what, type, size, parts)						\
int atm_getn##what(struct atm_dev *dev, type *p, int n)				\
{										\
	return n > ATM_MSG_MAX ? -ENODATA : get_words(dev, p, n * (parts), size); \
}

GET(int, int32_t, 4, 1)
GET(short, int16_t, 2, 1)
GET(long, int32_t, 4, 1)
GET(float, float, 4, 1)
GET(dfloat, double, 8, 1)
GET(cplx, atm_cplx, 4, 2)
GET(dcplx, atm_dcplx, 8, 2)
