// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of a run: from a table (cycle,src,dst,bytes, as pwmodel fabric takes it) or from a
 * capture of a pwmon device.
 *
 * Where a frame went is not read from its address, which may lie behind a router: the port
 * is the one at which the capture has the same bytes coming in. A frame that came in at several
 * ports was sent to all of them.
 */
#include "capture_file.h"
#include "eep.h"
#include "fabric/fabric.h"
#include "messages.h"

#define MAX_MESSAGES	4000000
#define BUCKETS		4096
#define NONE		SIZE_MAX

/* a frame on its way */
struct sent {
	struct message m;	/* its cycle: virtual time of the SAN */
	uint64_t captured;
	uint64_t hash;
	size_t next;		/* with the same bucket, older */
	uint32_t arrivals;
};

struct reader {
	const char *path;
	uint32_t san, first_san;
	bool timed;		/* the SAN has a virtual clock */
	struct sent *sent;
	size_t n, cap, monitor;
	size_t bucket[BUCKETS];
};

static enum status no_memory(const char *path)
{
	return fail(ENOMEM, "%s", path);
}

static uint64_t hash_of(const uint8_t *p, size_t n)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (; n; n--, p++)
		h = (h ^ *p) * 0x100000001b3ull;
	return h ^ h >> 29;
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

/* bytes that the fabric carries: the header and TAIL stand for the message header */
static uint32_t message_bytes(const uint8_t *frame, size_t len, size_t whole)
{
	uint32_t n = whole > PW_EEP_MIN_LEN ? whole - PW_EEP_MIN_LEN : 0, pad = 0;

	if (len >= PW_EEP_HDR_LEN &&
	    (pw_eep_first(frame) == PW_EEP_PHYS || pw_eep_first(frame) == PW_EEP_LOGICAL))
		pad = frame[PW_EEP_OFF_EPLDL] >> 1 & 7;
	return n > pad ? n - pad : 0;
}

static enum status take_sent(struct reader *r, const struct sent *s)
{
	size_t *b = &r->bucket[s->hash % BUCKETS];

	if (r->n == MAX_MESSAGES)
		return fail(0, "%s: more than %d frames", r->path, MAX_MESSAGES);
	if (r->n == r->cap) {
		size_t cap = r->cap ? 2 * r->cap : 1024;
		struct sent *more = realloc(r->sent, cap * sizeof(*more));

		if (!more)
			return no_memory(r->path);
		r->sent = more;
		r->cap = cap;
	}
	r->sent[r->n] = *s;
	r->sent[r->n].next = *b;
	*b = r->n++;
	return ST_OK;
}

/* the oldest one that has not arrived yet; otherwise another receiver of the newest one */
static void take_arrival(struct reader *r, uint16_t port, uint64_t hash)
{
	size_t i, waits = NONE, newest = NONE;
	struct sent *s;

	for (i = r->bucket[hash % BUCKETS]; i != NONE; i = r->sent[i].next) {
		if (r->sent[i].hash != hash)
			continue;
		if (!r->sent[i].arrivals)
			waits = i;
		else if (newest == NONE)
			newest = i;
	}
	if (waits == NONE)
		waits = newest;
	if (waits == NONE)
		return;
	s = &r->sent[waits];
	s->m.dst = s->arrivals++ ? PW_FABRIC_ALL : port;
}

static enum status take_record(void *ctx, const struct capture_record *c)
{
	const struct packetway_mon_hdr *h = (const void *)c->bytes;
	const uint8_t *frame = c->bytes + sizeof(*h);
	struct reader *r = ctx;
	uint64_t when, hash;
	uint32_t unit, san;
	size_t len;

	if (!c->monitor || c->len < sizeof(*h) || h->version != PACKETWAY_MON_VERSION ||
	    h->kind != PACKETWAY_MON_EEP)
		return ST_OK;
	unit = be32((const uint8_t *)&h->unit);
	if (unit >> 24 != PACKETWAY_MON_STATION && unit >> 24 != PACKETWAY_MON_HALF)
		return ST_OK;
	san = be32((const uint8_t *)&h->san);
	if (r->san == MESSAGES_ANY_SAN && r->monitor && san != r->first_san)
		return fail(0, "%s: frames of SANs %u and %u; say which one with 'san'", r->path,
			    r->first_san, san);
	if (r->san != MESSAGES_ANY_SAN && san != r->san)
		return ST_OK;
	r->first_san = san;
	r->monitor++;
	len = c->len - sizeof(*h);
	hash = hash_of(frame, len);
	when = (uint64_t)be32((const uint8_t *)&h->vtime_high) << 32 |
	       be32((const uint8_t *)&h->vtime_low);
	if (h->direction == PACKETWAY_MON_IN) {
		take_arrival(r, unit & 0xffff, hash);
		return ST_OK;
	}
	if (h->direction != PACKETWAY_MON_OUT)
		return ST_OK;
	r->timed |= when > 0;
	return take_sent(r, &(struct sent) {
		.m = { when, message_bytes(frame, len, c->whole - sizeof(*h)), unit & 0xffff },
		.captured = c->ns,
		.hash = hash,
	});
}

static int by_time(const void *a, const void *b)
{
	const struct message *x = a, *y = b;

	if (x->cycle != y->cycle)
		return x->cycle < y->cycle ? -1 : 1;
	return (int)x->src - (int)y->src;
}

static enum status from_capture(struct capture *c, uint32_t san, struct messages *ms)
{
	struct reader *r = calloc(1, sizeof(*r));
	enum status st;
	uint64_t t0;
	size_t i;

	if (!r)
		return no_memory(c->path);
	r->path = c->path;
	r->san = san;
	for (i = 0; i < BUCKETS; i++)
		r->bucket[i] = NONE;
	st = capture_records(c, take_record, r);
	if (!st && !r->monitor)
		st = fail(0, "%s: no frame of a pwmon device in it; see 'pwctl capture monitor'",
			  c->path);
	ms->m = st ? NULL : malloc((r->n + 1) * sizeof(*ms->m));
	if (!st && !ms->m)
		st = no_memory(c->path);
	for (i = 0; !st && i < r->n; i++) {
		if (!r->sent[i].arrivals) {
			ms->open++;
			continue;
		}
		ms->m[ms->n] = r->sent[i].m;
		if (!r->timed)
			ms->m[ms->n].cycle = r->sent[i].captured;
		ms->n++;
	}
	free(r->sent);
	free(r);
	if (st || !ms->n)
		return st;
	qsort(ms->m, ms->n, sizeof(*ms->m), by_time);
	t0 = ms->m[0].cycle;
	for (i = 0; i < ms->n; i++)
		ms->m[i].cycle -= t0;
	return ST_OK;
}

/* one row; NULL, or the column that is wrong */
static const char *row(char *line, struct message *m)
{
	static const char *const column[] = { "cycle", "src", "dst", "bytes" };
	const uint64_t max[] = { UINT64_MAX / 4, PACKETWAY_PORTS_MAX - 1, PACKETWAY_PORTS_MAX - 1,
				 PW_FABRIC_MAX_LEN };
	uint64_t v[4];
	char *end;
	int i;

	for (i = 0; i < 4; i++) {
		if (i == 2 && !strncmp(line, "-1,", 3)) {
			v[i] = PW_FABRIC_ALL;
			line += 3;
			continue;
		}
		if (*line < '0' || *line > '9')
			return column[i];
		errno = 0;
		v[i] = strtoull(line, &end, 10);
		if (errno || v[i] > max[i] || *end != (i < 3 ? ',' : 0))
			return column[i];
		line = end + 1;
	}
	*m = (struct message) { v[0], v[3], v[1], v[2] };
	return NULL;
}

static enum status from_table(struct capture *c, struct messages *ms)
{
	char *text = malloc(c->len + 1), *line, *save = NULL;
	enum status st = ST_OK;
	const char *wrong;
	size_t n = 0, cap = 0;

	if (!text)
		return no_memory(c->path);
	memcpy(text, c->data, c->len);
	text[c->len] = 0;
	for (line = strtok_r(text, "\r\n", &save); line && !st; line = strtok_r(NULL, "\r\n", &save)) {
		if (!n++ && !strcmp(line, "cycle,src,dst,bytes"))
			continue;
		if (ms->n == cap) {
			struct message *more;

			cap = cap ? 2 * cap : 1024;
			more = realloc(ms->m, cap * sizeof(*more));
			if (!more) {
				st = no_memory(c->path);
				break;
			}
			ms->m = more;
		}
		wrong = row(line, &ms->m[ms->n]);
		if (!wrong && ms->n && ms->m[ms->n].cycle < ms->m[ms->n - 1].cycle)
			wrong = "cycle";
		if (wrong)
			st = fail(0, "%s:%zu: %s: '%s' is not cycle,src,dst,bytes of a message", c->path,
				  n, wrong, line);
		ms->n++;
	}
	free(text);
	return st;
}

/**
 * messages_read - read a file of messages
 * @path: a table or a capture
 * @san: number of the SAN in a capture, or MESSAGES_ANY_SAN if it has only one
 * @ms: the messages; the caller frees @ms->m
 */
enum status messages_read(const char *path, uint32_t san, struct messages *ms)
{
	struct capture c = { .path = path };
	uint64_t bytes = 0;
	enum status st;
	size_t i;

	memset(ms, 0, sizeof(*ms));
	st = capture_load(&c);
	if (!st)
		st = capture_is(&c) ? from_capture(&c, san, ms) : from_table(&c, ms);
	free(c.data);
	if (!st && !ms->n)
		st = fail(0, "%s: no message that arrived", path);
	for (i = 0; !st && i < ms->n; i++) {
		const struct message *m = &ms->m[i];

		if (m->src >= ms->ports)
			ms->ports = m->src + 1;
		if (m->dst != PW_FABRIC_ALL && m->dst >= ms->ports)
			ms->ports = m->dst + 1;
		bytes += m->bytes;
	}
	if (!st)
		ms->mean = (bytes + ms->n / 2) / ms->n;
	if (st) {
		free(ms->m);
		memset(ms, 0, sizeof(*ms));
	}
	return st;
}

struct messages_args {
	const char *file, *out;
	uint32_t san;
};

#define AT(m) offsetof(struct messages_args, m)

const struct word messages_words[] = {
	{ NULL, "FILE", W_TEXT, AT(file), WORD_NEEDED },
	{ "san", "N", W_U32, AT(san), 0, PACKETWAY_SAN_MAX },
	{ "write", "FILE", W_TEXT, AT(out) },
	{}
};

enum status exp_messages(const struct verb *v, int argc, char **argv)
{
	struct messages_args a = { .san = MESSAGES_ANY_SAN };
	struct messages ms;
	enum status st;
	FILE *f;
	size_t i;

	st = words(v, argc, argv, &a) ?: messages_read(a.file, a.san, &ms);
	if (st)
		return st;
	f = a.out ? fopen(a.out, "w") : stdout;
	if (!f) {
		free(ms.m);
		return fail(errno, "%s", a.out);
	}
	fputs("cycle,src,dst,bytes\n", f);
	for (i = 0; i < ms.n; i++)
		fprintf(f, "%llu,%u,%d,%u\n", (unsigned long long)ms.m[i].cycle, ms.m[i].src,
			ms.m[i].dst == PW_FABRIC_ALL ? -1 : ms.m[i].dst, ms.m[i].bytes);
	if (ms.open)
		fprintf(stderr, "pwctl: frames that did not arrive and are left out: %zu\n", ms.open);
	free(ms.m);
	if (ferror(f) | (f != stdout && fclose(f)))
		return fail(errno, "%s", a.out ?: "standard output");
	return ST_OK;
}
