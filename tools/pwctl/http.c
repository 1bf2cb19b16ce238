// SPDX-License-Identifier: GPL-2.0
/*
 * A small HTTP server: GET and HEAD, one answer for each connection, or a stream that
 * lasts. Clients, their requests, what is kept for each and the time that each may take
 * are bounded, and one loop serves all.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pwctl.h"

#define CLIENTS 16
/* of which so many may be streams, so that pages are always served */
#define STREAMS 8
#define REQUEST_MAX 4096
#define CLIENT_MS 10000
/* a stream that has nothing to say sends a comment: proxies close silent connections */
#define SILENCE_MS 15000

struct http_client {
	int fd;			/* -1: free */
	int64_t until;		/* us */
	char in[REQUEST_MAX + 1];
	size_t in_len;
	char *out;		/* what is to be sent; NULL: nothing now */
	size_t out_len, sent;
	bool stream;
	bool last;		/* a stream that ends with what is in @out */
	int64_t spoke;		/* us, when it was last sent something */
	uint64_t at;		/* position of a stream */
};

struct server {
	int fd;
	struct http_client client[CLIENTS];
	const struct http_ops *ops;
	void *data;
};

/* "PORT" on the loopback address, "ADDR:PORT" or "[ADDR]:PORT" */
static enum status parse_where(const char *text, struct sockaddr_storage *sa, socklen_t *len)
{
	struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
		.ai_socktype = SOCK_STREAM,
	}, *ai;
	char buf[128], *port, *host = buf;

	snprintf(buf, sizeof(buf), "%s%s", strchr(text, ':') ? "" : "127.0.0.1:", text);
	port = strrchr(buf, ':');
	*port++ = 0;
	if (*host == '[' && host[strlen(host) - 1] == ']') {
		host[strlen(host) - 1] = 0;
		host++;
	} else if (strchr(host, ':')) {
		return usage("--listen: write [%s]:%s", host, port);
	}
	if (!*host || !*port || getaddrinfo(host, port, &hints, &ai))
		return usage("--listen: '%s' is not PORT or ADDR:PORT", text);
	memcpy(sa, ai->ai_addr, ai->ai_addrlen);
	*len = ai->ai_addrlen;
	freeaddrinfo(ai);
	return ST_OK;
}

static bool is_loopback(const struct sockaddr_storage *sa)
{
	if (sa->ss_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)sa)->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)sa)->sin6_addr);
}

static enum status start(struct server *s, const char *where)
{
	struct sockaddr_storage sa = {};
	char host[64], port[16];
	socklen_t len;
	enum status st;
	int one = 1;

	st = parse_where(where, &sa, &len);
	if (st)
		return st;
	if (s->ops->loopback && !is_loopback(&sa))
		return usage("--listen: '%s' is not an address of the loopback device", where);
	s->fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0 || setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(s->fd, (void *)&sa, len) || listen(s->fd, CLIENTS))
		return fail(errno, "--listen %s", where);
	len = sizeof(sa);
	if (getsockname(s->fd, (void *)&sa, &len) ||
	    getnameinfo((void *)&sa, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return fail(errno, "--listen %s", where);
	fprintf(stderr, strchr(host, ':') ? "listening on http://[%s]:%s%s\n" :
		"listening on http://%s:%s%s\n", host, port, s->ops->path);
	return ST_OK;
}

static void forget(struct http_client *c)
{
	close(c->fd);
	free(c->out);
	memset(c, 0, sizeof(*c));
	c->fd = -1;
}

/* Answers ------------------------------------------------------------------- */

void http_answer(struct http_client *c, const char *status, const char *type, const char *body,
		 size_t len, bool head)
{
	FILE *f = open_memstream(&c->out, &c->out_len);

	if (!f)
		return;
	fprintf(f, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s"
		"Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
		"Referrer-Policy: no-referrer\r\nConnection: close\r\n\r\n", status, type, len,
		*status == '4' && status[2] == '5' ? "Allow: GET, HEAD\r\n" : "");
	if (!head)
		fwrite(body, 1, len, f);
	fclose(f);
}

void http_text(struct http_client *c, const char *status, const char *text, bool head)
{
	http_answer(c, status, "text/plain; charset=utf-8", text, strlen(text), head);
}

void http_stream(struct http_client *c, const char *type, uint64_t at)
{
	char *head;
	int n;

	n = asprintf(&head, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nCache-Control: no-store\r\n"
		     "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
		     "Connection: close\r\n\r\n", type);
	if (n < 0)
		return;
	c->stream = true;
	c->at = at;
	http_send(c, head, n, false);
}

void http_send(struct http_client *c, char *text, size_t len, bool last)
{
	c->out = text;
	c->out_len = len;
	c->sent = 0;
	c->last = last;
	c->spoke = now_us();
	c->until = c->spoke + CLIENT_MS * 1000;
}

uint64_t *http_position(struct http_client *c)
{
	return &c->at;
}

const char *http_header(const char *headers, const char *name, size_t *len)
{
	const char *line = headers;
	const size_t n = strlen(name);

	while ((line = strchr(line, '\n'))) {
		line++;
		if (strncasecmp(line, name, n) || line[n] != ':')
			continue;
		line += n + 1;
		line += strspn(line, " \t");
		*len = strcspn(line, "\r\n");
		return line;
	}
	return NULL;
}

/* Requests ------------------------------------------------------------------ */

static int streams(const struct server *s)
{
	int i, n = 0;

	for (i = 0; i < CLIENTS; i++)
		n += s->client[i].fd >= 0 && s->client[i].stream;
	return n;
}

/* the request is complete */
static void answer(struct server *s, struct http_client *c)
{
	char method[8] = "", path[256] = "";
	bool head;

	if (sscanf(c->in, "%7[A-Z] %255[^ \r\n] HTTP/1.", method, path) != 2 ||
	    !strstr(c->in, " HTTP/1.")) {
		http_text(c, "400 Bad Request", "this is not HTTP\n", false);
		return;
	}
	head = !strcmp(method, "HEAD");
	path[strcspn(path, "?")] = 0;
	if (!head && strcmp(method, "GET"))
		http_text(c, "405 Method Not Allowed", "only GET and HEAD\n", false);
	else
		s->ops->get(c, path, c->in, head, streams(s) < STREAMS, s->data);
}

static void receive(struct server *s, struct http_client *c)
{
	ssize_t n = recv(c->fd, c->in + c->in_len, REQUEST_MAX - c->in_len, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		forget(c);
		return;
	}
	c->in_len += n;
	c->in[c->in_len] = 0;
	/* a request with a NUL byte in it has no end here, and runs into its limit */
	if (strstr(c->in, "\r\n\r\n") || strstr(c->in, "\n\n"))
		answer(s, c);
	else if (c->in_len == REQUEST_MAX)
		http_text(c, "431 Request Header Fields Too Large", "too long\n", false);
	else
		return;
	if (!c->out)
		forget(c);
}

static void transmit(struct http_client *c)
{
	ssize_t n = send(c->fd, c->out + c->sent, c->out_len - c->sent, MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		c->sent += n;
	if (n > 0 && c->sent < c->out_len)
		return;
	if (n > 0 && c->stream && !c->last) {
		free(c->out);
		c->out = NULL;
		return;
	}
	shutdown(c->fd, SHUT_WR);
	forget(c);
}

/* the next piece of a stream; what its client sends is of no interest, its end is */
static void feed(struct server *s, struct http_client *c)
{
	char *text;

	s->ops->more(c, s->data);
	if (!c->out && now_us() - c->spoke > SILENCE_MS * 1000) {
		text = strdup(":\n\n");
		if (text)
			http_send(c, text, strlen(text), false);
	}
}

static void hear(struct http_client *c)
{
	char buf[512];
	ssize_t n = recv(c->fd, buf, sizeof(buf), 0);

	if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
		forget(c);
}

static void welcome(struct server *s)
{
	int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), i;

	for (i = 0; fd >= 0 && i < CLIENTS; i++) {
		if (s->client[i].fd >= 0)
			continue;
		s->client[i].fd = fd;
		s->client[i].until = now_us() + CLIENT_MS * 1000;
		return;
	}
	if (fd >= 0)
		close(fd);
}

/* what poll() waits for; how many places are taken */
static int gather(struct server *s, struct pollfd *p)
{
	int i, used = 0;

	for (i = 0; i < CLIENTS; i++) {
		struct http_client *c = &s->client[i];

		/* a stream has no end, but what it sends must be taken in time */
		if (c->fd >= 0 && (c->out || !c->stream) && now_us() > c->until)
			forget(c);
		if (c->fd >= 0 && c->stream && !c->out)
			feed(s, c);
		used += c->fd >= 0;
		p[i] = (struct pollfd) { .fd = c->fd, .events = c->out ? POLLOUT : POLLIN };
	}
	return used;
}

static void serve_clients(struct server *s, const struct pollfd *p)
{
	int i;

	for (i = 0; i < CLIENTS; i++) {
		struct http_client *c = &s->client[i];

		if (!p[i].revents)
			continue;
		if (c->out)
			transmit(c);
		else if (c->stream)
			hear(c);
		else
			receive(s, c);
	}
}

enum status http_serve(const char *where, const struct http_ops *ops, int source, void *data)
{
	static struct server s;
	struct pollfd p[CLIENTS + 2];
	enum status st;
	int i, used;

	for (i = 0; i < CLIENTS; i++)
		s.client[i].fd = -1;
	s.ops = ops;
	s.data = data;
	st = start(&s, where);
	if (st)
		return st;
	catch_signals();
	while (!interrupted) {
		if (source >= 0 && !ops->ready(data))
			source = -1;
		used = gather(&s, p);
		/* others wait in the queue of the socket until a place is free */
		p[CLIENTS] = (struct pollfd) { .fd = used < CLIENTS ? s.fd : -1, .events = POLLIN };
		p[CLIENTS + 1] = (struct pollfd) { .fd = source, .events = POLLIN };
		/* a signal may arrive before poll() does */
		if (poll(p, N(p), 500) < 0)
			continue;
		serve_clients(&s, p);
		if (p[CLIENTS].revents)
			welcome(&s);
	}
	for (i = 0; i < CLIENTS; i++)
		if (s.client[i].fd >= 0)
			forget(&s.client[i]);
	close(s.fd);
	return ST_OK;
}
