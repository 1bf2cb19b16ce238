// SPDX-License-Identifier: GPL-2.0
/*
 * Pages of a lab: a pwmon device in the lab's namespace gives the records, for a page that
 * is written at the end or for one that a small server keeps up to date. The server only
 * reads: no request changes the lab.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pwctl.h"
#include "topo_file.h"

#define MAX_NS 1024
/* longest record: a ring packet of 256 KiB behind its header */
#define RECORD_MAX (257 << 10)
/* of messages and cells the front is shown; a ring packet is read from both ends */
#define SNAP 1024
/* records taken at once, so that clients are served in between */
#define TAKE 1024
/* what the kernel keeps while this process does something else */
#define SOCKET_BYTES (8 << 20)
/* what a page can hold */
#define PAGE_RECORDS 1000000
#define PAGE_BYTES (64u << 20)
/* what the server keeps for clients that arrive later, or are slow */
#define KEEP_ROWS (1u << 16)
#define KEEP_BYTES (32u << 20)
/* one event of a stream */
#define BATCH_BYTES (64u << 10)

/* The lab ---------------------------------------------------------------------- */

static enum status look_stations(const struct lab_ns *ns, int n, json_t *list)
{
	struct station *st;
	json_t *j;
	int i, k, found;

	for (i = 0; i < n; i++) {
		if (setns(ns[i].fd, CLONE_NEWNET))
			return fail(errno, "%s", ns[i].station);
		found = stations(&st);
		if (found < 0)
			return fail(found, "stations of %s", ns[i].station);
		for (k = 0; k < found; k++) {
			j = station_json(&st[k]);
			json_object_set_new(j, "name", json_string(ns[i].station));
			json_array_append_new(list, j);
		}
		free(st);
	}
	return ST_OK;
}

/* links of the SANs whose topology has a name; the kernel does not keep those of a file */
static void look_topologies(json_t *sans)
{
	const char *name;
	struct pw_topo *t;
	char why[256];
	json_t *san, *j;
	size_t i;

	json_array_foreach(sans, i, san) {
		name = json_string_value(json_object_get(san, "topology"));
		t = name && strchr(name, ':') ? topo_file_load(name, why, sizeof(why)) : NULL;
		j = t ? topo_file_json(t, name) : NULL;
		if (j)
			json_object_update(san, j);
		json_decref(j);
		free(t);
	}
}

/* what the pictures need to know of a lab; its namespace is this process's afterwards */
static enum status look(const char *lab, json_t **out)
{
	json_t *sans = json_array(), *routers = json_array(), *list = json_array();
	struct lab_ns *ns = calloc(MAX_NS, sizeof(*ns));
	int home = -1, n, i;
	enum status st;

	*out = json_pack("{s:s, s:o, s:o, s:o}", "name", lab, "stations", list, "sans", sans,
			 "routers", routers);
	n = ns ? lab_namespaces(lab, ns, MAX_NS, &home) : -ENOMEM;
	st = n < 0 ? fail(n, "lab %s", lab) : look_stations(ns, n, list);
	if (!st && setns(home, CLONE_NEWNET))
		st = fail(errno, "lab %s", lab);
	if (!st)
		st = object_list("san", sans);
	if (!st)
		look_topologies(sans);
	if (!st)
		st = router_list(routers);
	for (i = 0; i < n; i++)
		close(ns[i].fd);
	if (home >= 0)
		close(home);
	free(ns);
	return st;
}

/* Records ---------------------------------------------------------------------- */

struct tap {
	char name[IFNAMSIZ];	/* of the pwmon device */
	struct nl nl;		/* in the lab's namespace */
	int fd;
	uint64_t t0;		/* ns */
	const char *lab;
	struct stat ns;		/* of the lab */
};

typedef void (*take_fn)(void *to, uint64_t ns, const uint8_t *p, size_t n);

static uint64_t wall_ns(const struct timespec *ts)
{
	return ts->tv_sec * 1000000000ULL + ts->tv_nsec;
}

/* in the lab's namespace */
static enum status tap_open(struct tap *t, bool cells)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int bytes = SOCKET_BYTES, one = 1;
	struct timespec now;
	enum status st;

	snprintf(t->name, sizeof(t->name), "pwmon-%d", getpid());
	t->fd = -1;
	st = rtnl_open(&t->nl);
	if (st)
		return st;
	st = pwmon_add(&t->nl, t->name, true, cells);
	if (st) {
		nl_close(&t->nl);
		return st;
	}
	at.sll_ifindex = if_nametoindex(t->name);
	/* no protocol at first: records of other devices would be taken until bind() */
	t->fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (t->fd < 0 || setsockopt(t->fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) ||
	    bind(t->fd, (void *)&at, sizeof(at))) {
		st = fail(errno, "%s", t->name);
		link_del(&t->nl, t->name);
		nl_close(&t->nl);
		return st;
	}
	if (setsockopt(t->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(t->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	clock_gettime(CLOCK_REALTIME, &now);
	t->t0 = wall_ns(&now);
	return ST_OK;
}

static void tap_close(struct tap *t)
{
	if (t->fd < 0)
		return;
	close(t->fd);
	link_del(&t->nl, t->name);
	nl_close(&t->nl);
	t->fd = -1;
}

/* has the lab been taken down? The sockets keep its namespace, so the device remains. */
static bool tap_orphaned(const struct tap *t)
{
	char path[LAB_NAME_MAX + 16];
	struct stat sb;

	snprintf(path, sizeof(path), "/run/netns/%s", t->lab);
	return stat(path, &sb) || sb.st_ino != t->ns.st_ino || sb.st_dev != t->ns.st_dev;
}

/*
 * Describe the lab in @page, and open the tap. The process returns to the namespace that it
 * was in: browsers are there, and `pwctl lab down` ends what is in the lab's.
 */
static enum status begin(struct tap *t, const struct view_lab *a, json_t *page)
{
	int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	enum status st;
	json_t *lab;

	if (here < 0)
		return fail(errno, "this network namespace");
	st = look(a->lab, &lab);
	json_object_set_new(page, "lab", lab);
	/* a signal must not leave the device behind */
	catch_signals();
	t->lab = a->lab;
	if (!st && stat("/proc/self/ns/net", &t->ns))
		st = fail(errno, "lab %s", a->lab);
	if (!st)
		st = tap_open(t, a->cells);
	if (setns(here, CLONE_NEWNET) && !st) {
		st = fail(errno, "the namespace before");
		tap_close(t);
	}
	close(here);
	return st;
}

static uint64_t stamp(const struct tap *t, struct msghdr *m)
{
	struct cmsghdr *c;
	struct timespec ts;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPNS)
			continue;
		memcpy(&ts, CMSG_DATA(c), sizeof(ts));
		return wall_ns(&ts) > t->t0 ? wall_ns(&ts) - t->t0 : 0;
	}
	return 0;
}

/* how many bytes of a record are kept */
static size_t snap(const uint8_t *p, size_t n)
{
	const struct packetway_mon_hdr *h = (void *)p;

	return h->kind == PACKETWAY_MON_RING || n <= SNAP ? n : SNAP;
}

/* give up to TAKE records to @take; false: the device or the lab has gone */
static bool tap_read(struct tap *t, take_fn take, void *to)
{
	static uint8_t buf[RECORD_MAX];
	char control[256];
	struct iovec v = { buf, sizeof(buf) };
	struct msghdr m;
	ssize_t n;
	int i;

	for (i = 0; i < TAKE; i++) {
		m = (struct msghdr) { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control,
				      .msg_controllen = sizeof(control) };
		n = recvmsg(t->fd, &m, 0);
		if (n < 0)
			return (errno == EAGAIN || errno == EINTR || errno == ENOBUFS) && !tap_orphaned(t);
		if (n >= sizeof(struct packetway_mon_hdr))
			take(to, stamp(t, &m), buf, snap(buf, n));
	}
	return true;
}

/* records that did not fit into the socket since the last call */
static uint32_t tap_lost(const struct tap *t)
{
	struct tpacket_stats s = {};
	socklen_t len = sizeof(s);

	return getsockopt(t->fd, SOL_PACKET, PACKET_STATISTICS, &s, &len) ? 0 : s.tp_drops;
}

/* A page ------------------------------------------------------------------------ */

struct page_records {
	json_t *frames;
	size_t bytes;
	uint32_t max;
};

static bool page_full(const struct page_records *r)
{
	return json_array_size(r->frames) >= r->max || r->bytes >= PAGE_BYTES;
}

static void page_take(void *to, uint64_t ns, const uint8_t *p, size_t n)
{
	struct page_records *r = to;

	if (page_full(r))
		return;
	json_array_append_new(r->frames, json_pack("[I, s, o]", (json_int_t)ns, "m", j_hex(p, n)));
	r->bytes += n;
}

static void page_progress(const struct page_records *r, const struct view_lab *a, int64_t left)
{
	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%zu records", json_array_size(r->frames));
	if (a->seconds)
		fprintf(stderr, ", %lld s left", (long long)(left + 999999) / 1000000);
	else if (a->count)
		fprintf(stderr, " of %u", a->count);
	fprintf(stderr, ", Ctrl-C ends the capture\033[K");
}

enum status view_lab_page(const struct view_lab *a, json_t *page)
{
	struct page_records r = { json_array(), 0, a->count ? a->count : PAGE_RECORDS };
	int64_t end = now_us() + 1000000LL * a->seconds, lost = 0;
	bool there = true;
	struct pollfd p;
	enum status st;
	struct tap t;

	json_object_set_new(page, "frames", r.frames);
	st = begin(&t, a, page);
	if (st)
		return st;
	fprintf(stderr, "capturing lab %s\n", a->lab);
	p = (struct pollfd) { .fd = t.fd, .events = POLLIN };
	while (there && !interrupted && !page_full(&r) && (!a->seconds || now_us() < end)) {
		page_progress(&r, a, end - now_us());
		poll(&p, 1, 200);
		there = tap_read(&t, page_take, &r);
		lost += tap_lost(&t);
	}
	if (isatty(STDERR_FILENO))
		fputc('\n', stderr);
	tap_close(&t);
	if (lost)
		fprintf(stderr, "pwctl: %lld records were lost\n", (long long)lost);
	json_object_set_new(page, "lost", json_integer(lost));
	return ST_OK;
}

/* The server --------------------------------------------------------------------- */

struct live {
	struct tap tap;
	char base[40];		/* "/TOKEN/" */
	char *page;
	size_t page_len;
	/* JSON of the records @tail to @head - 1, at their number modulo KEEP_ROWS */
	char **row;
	uint64_t tail, head;
	size_t bytes;
	bool ended;		/* the lab has gone */
};

static void forget_row(struct live *l)
{
	char **row = &l->row[l->tail++ % KEEP_ROWS];

	l->bytes -= strlen(*row);
	free(*row);
	*row = NULL;
}

static void keep_row(struct live *l, char *text)
{
	if (l->head - l->tail == KEEP_ROWS)
		forget_row(l);
	l->row[l->head++ % KEEP_ROWS] = text;
	l->bytes += strlen(text);
	while (l->bytes > KEEP_BYTES && l->head - l->tail > 1)
		forget_row(l);
}

static void live_take(void *to, uint64_t ns, const uint8_t *p, size_t n)
{
	char head[40], *text;
	int len;
	size_t i;

	len = snprintf(head, sizeof(head), "[%llu,\"m\",\"", (unsigned long long)ns);
	text = malloc(len + 2 * n + 3);
	if (!text)
		return;
	memcpy(text, head, len);
	for (i = 0; i < n; i++)
		sprintf(text + len + 2 * i, "%02x", p[i]);
	strcpy(text + len + 2 * n, "\"]");
	keep_row(to, text);
}

static bool live_ready(void *data)
{
	struct live *l = data;
	uint32_t lost;
	char *text;

	l->ended = !tap_read(&l->tap, live_take, l);
	lost = tap_lost(&l->tap);
	if (lost && asprintf(&text, "[0,\"l\",\"%u\"]", lost) > 0)
		keep_row(l, text);
	/* what is left of the lab goes with its last socket */
	if (l->ended)
		tap_close(&l->tap);
	return !l->ended;
}

/* the records that a client has not got, as one event whose id is where the next begins */
static void live_more(struct http_client *c, void *data)
{
	uint64_t *at = http_position(c), i;
	struct live *l = data;
	char *text = NULL;
	size_t len = 0, bytes = 0;
	FILE *f;

	if (*at == l->head) {
		text = l->ended ? strdup("event: end\ndata:\n\n") : NULL;
		if (text)
			http_send(c, text, strlen(text), true);
		return;
	}
	f = open_memstream(&text, &len);
	if (!f)
		return;
	fprintf(f, "data: [");
	i = *at < l->tail ? l->tail : *at;
	/* a client that was too slow is told so */
	if (i > *at && *at)
		fprintf(f, "[0,\"l\",\"%llu\"],", (unsigned long long)(i - *at));
	for (; i < l->head && bytes < BATCH_BYTES; i++) {
		const char *row = l->row[i % KEEP_ROWS];

		fprintf(f, "%s%s", bytes ? "," : "", row);
		bytes += strlen(row);
	}
	fprintf(f, "]\nid: %llu\n\n", (unsigned long long)i);
	fclose(f);
	*at = i;
	http_send(c, text, len, false);
}

/* as long for any wrong text of this length */
static bool same(const char *a, const char *b, size_t n)
{
	unsigned char diff = 0;
	size_t i;

	for (i = 0; i < n; i++)
		diff |= a[i] ^ b[i];
	return !diff;
}

static void live_get(struct http_client *c, const char *path, const char *headers, bool head,
		     bool room, void *data)
{
	struct live *l = data;
	const size_t n = strlen(l->base);
	unsigned long long at = 0;
	const char *id;
	size_t len;

	if (strlen(path) < n || !same(path, l->base, n)) {
		http_text(c, "404 Not Found", "the address lacks its token\n", head);
		return;
	}
	path += n;
	if (!*path) {
		http_answer(c, "200 OK", "text/html; charset=utf-8", l->page, l->page_len, head);
	} else if (strcmp(path, "events")) {
		http_text(c, "404 Not Found", "there is the page, and events\n", head);
	} else if (head) {
		http_answer(c, "200 OK", "text/event-stream", "", 0, true);
	} else if (!room) {
		http_text(c, "503 Service Unavailable", "too many pages are open\n", false);
	} else {
		id = http_header(headers, "last-event-id", &len);
		if (id && sscanf(id, "%20llu", &at) == 1 && at > l->head)
			at = l->head;
		http_stream(c, "text/event-stream", at);
	}
}

static enum status make_token(struct live *l)
{
	uint8_t r[16];
	int i, n = 1;

	if (getrandom(r, sizeof(r), 0) != sizeof(r))
		return fail(errno, "random bytes");
	l->base[0] = '/';
	for (i = 0; i < sizeof(r); i++)
		n += sprintf(l->base + n, "%02x", r[i]);
	strcpy(l->base + n, "/");
	return ST_OK;
}

enum status view_lab_live(const struct view_lab *a, json_t *page)
{
	struct http_ops ops = { .loopback = true, .get = live_get, .more = live_more,
				.ready = live_ready };
	struct live l = { .row = calloc(KEEP_ROWS, sizeof(*l.row)) };
	enum status st;
	FILE *f;

	f = open_memstream(&l.page, &l.page_len);
	if (!l.row || !f)
		return fail(ENOMEM, "view");
	json_object_set_new(page, "live", json_true());
	json_object_set_new(page, "frames", json_array());
	st = make_token(&l);
	if (!st)
		st = begin(&l.tap, a, page);
	view_print(f, page);
	fclose(f);
	ops.path = l.base;
	if (!st) {
		st = http_serve(a->listen ? a->listen : "0", &ops, l.tap.fd, &l);
		tap_close(&l.tap);
	}
	while (l.tail < l.head)
		forget_row(&l);
	free(l.row);
	free(l.page);
	return st;
}
