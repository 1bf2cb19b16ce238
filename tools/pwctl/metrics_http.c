// SPDX-License-Identifier: GPL-2.0
/*
 * A small HTTP server for metrics: GET and HEAD of /metrics, one answer for each
 * connection. Clients, their requests and the time that each may take are bounded, and
 * one loop serves all.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pwctl.h"

#define CLIENTS 16
#define REQUEST_MAX 4096
#define CLIENT_MS 10000

struct client {
	int fd;			/* -1: free */
	int64_t until;		/* us */
	char in[REQUEST_MAX + 1];
	size_t in_len;
	char *out;		/* the answer; NULL: the request is not complete */
	size_t out_len, sent;
};

struct server {
	int fd;
	struct client client[CLIENTS];
	render_fn render;
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
	s->fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0 || setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(s->fd, (void *)&sa, len) || listen(s->fd, CLIENTS))
		return fail(errno, "--listen %s", where);
	len = sizeof(sa);
	if (getsockname(s->fd, (void *)&sa, &len) ||
	    getnameinfo((void *)&sa, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return fail(errno, "--listen %s", where);
	fprintf(stderr, strchr(host, ':') ? "listening on http://[%s]:%s/metrics\n" :
		"listening on http://%s:%s/metrics\n", host, port);
	return ST_OK;
}

static void forget(struct client *c)
{
	close(c->fd);
	free(c->out);
	memset(c, 0, sizeof(*c));
	c->fd = -1;
}

static void respond(struct client *c, const char *status, const char *type, const char *body,
		    size_t len, bool head)
{
	FILE *f = open_memstream(&c->out, &c->out_len);

	if (!f)
		return;
	fprintf(f, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s"
		"Cache-Control: no-store\r\nConnection: close\r\n\r\n", status, type, len,
		*status == '4' && status[2] == '5' ? "Allow: GET, HEAD\r\n" : "");
	if (!head)
		fwrite(body, 1, len, f);
	fclose(f);
}

static void respond_text(struct client *c, const char *status, const char *text, bool head)
{
	respond(c, status, "text/plain; charset=utf-8", text, strlen(text), head);
}

/* does a header line ask for the newer format? */
static bool wants_openmetrics(const char *headers)
{
	const char *line = strcasestr(headers, "\naccept:");

	if (!line)
		return false;
	line++;
	return memmem(line, strcspn(line, "\r\n"), "application/openmetrics-text", 28);
}

/* the request is complete */
static void answer(struct server *s, struct client *c)
{
	char method[8] = "", path[256] = "", *body = NULL;
	size_t len = 0;
	bool head, om;
	FILE *f;

	if (sscanf(c->in, "%7[A-Z] %255[^ \r\n] HTTP/1.", method, path) != 2 ||
	    !strstr(c->in, " HTTP/1.")) {
		respond_text(c, "400 Bad Request", "this is not HTTP\n", false);
		return;
	}
	head = !strcmp(method, "HEAD");
	path[strcspn(path, "?")] = 0;
	if (!head && strcmp(method, "GET")) {
		respond_text(c, "405 Method Not Allowed", "only GET and HEAD\n", false);
	} else if (!strcmp(path, "/")) {
		respond_text(c, "200 OK", "packetway: see /metrics\n", head);
	} else if (strcmp(path, "/metrics")) {
		respond_text(c, "404 Not Found", "see /metrics\n", head);
	} else {
		om = wants_openmetrics(c->in);
		f = open_memstream(&body, &len);
		if (!f)
			return;
		if (s->render(f, om, s->data)) {
			fclose(f);
			respond_text(c, "500 Internal Server Error", "the network cannot be read\n", head);
		} else {
			fclose(f);
			respond(c, "200 OK", om ?
				"application/openmetrics-text; version=1.0.0; charset=utf-8" :
				"text/plain; version=0.0.4; charset=utf-8", body, len, head);
		}
		free(body);
	}
}

static void receive(struct server *s, struct client *c)
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
		respond_text(c, "431 Request Header Fields Too Large", "too long\n", false);
	else
		return;
	if (!c->out)
		forget(c);
}

static void transmit(struct client *c)
{
	ssize_t n = send(c->fd, c->out + c->sent, c->out_len - c->sent, MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		c->sent += n;
	if (n <= 0 || c->sent == c->out_len) {
		shutdown(c->fd, SHUT_WR);
		forget(c);
	}
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

enum status http_serve(const char *where, render_fn render, void *data)
{
	static struct server s;
	struct pollfd p[CLIENTS + 1];
	enum status st;
	int i, used;

	for (i = 0; i < CLIENTS; i++)
		s.client[i].fd = -1;
	s.render = render;
	s.data = data;
	st = start(&s, where);
	if (st)
		return st;
	catch_signals();
	while (!interrupted) {
		for (i = used = 0; i < CLIENTS; i++) {
			struct client *c = &s.client[i];

			if (c->fd >= 0 && now_us() > c->until)
				forget(c);
			used += c->fd >= 0;
			p[i] = (struct pollfd) { .fd = c->fd,
						 .events = c->out ? POLLOUT : POLLIN };
		}
		/* others wait in the queue of the socket until a place is free */
		p[CLIENTS] = (struct pollfd) { .fd = used < CLIENTS ? s.fd : -1, .events = POLLIN };
		/* a signal may arrive before poll() does */
		if (poll(p, N(p), 500) < 0)
			continue;
		for (i = 0; i < CLIENTS; i++) {
			if (!p[i].revents)
				continue;
			if (s.client[i].out)
				transmit(&s.client[i]);
			else
				receive(&s, &s.client[i]);
		}
		if (p[CLIENTS].revents)
			welcome(&s);
	}
	for (i = 0; i < CLIENTS; i++)
		if (s.client[i].fd >= 0)
			forget(&s.client[i]);
	close(s.fd);
	return ST_OK;
}
