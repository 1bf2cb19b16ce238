/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A relay for trunks over the loopback address, a thread of the test that passes datagrams on,
 * counts them and loses some. End e of the trunks has the port PW_RELAY_END + e and sends to
 * PW_RELAY + e; ends 2k and 2k + 1 are trunk k.
 */
#ifndef PWRELAY_H
#define PWRELAY_H

#include "pwrouter.h"

#include <poll.h>
#include <pthread.h>

#define PW_RELAY_END	7000
#define PW_RELAY	8000
#define PW_RELAY_ENDS	6
/* types of trunk packets */
#define PW_RELAY_FRAME	1
#define PW_RELAY_HELLO	2

/**
 * struct pw_relay - the relay
 * @percent: of the packets of each trunk that are lost
 * @drops: what else is lost, and what is changed; may be NULL
 * @dropped: packets lost
 */
struct pw_relay {
	volatile int percent[PW_RELAY_ENDS / 2];
	bool (*drops)(int end, uint8_t *p, int len);
	volatile long dropped;
	/* private: */
	int ends, fd[PW_RELAY_ENDS];
	volatile bool stop;
	pthread_t thread;
};

static PW_UNUSED void *pw_relay_run(void *arg)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct pollfd p[PW_RELAY_ENDS];
	static uint8_t buf[70000];
	struct pw_relay *r = arg;
	uint64_t seed = 1;
	int i, len;

	while (!r->stop) {
		for (i = 0; i < r->ends; i++)
			p[i] = (struct pollfd) { .fd = r->fd[i], .events = POLLIN };
		poll(p, r->ends, 100);
		for (i = 0; i < r->ends; i++) {
			len = recv(r->fd[i], buf, sizeof(buf), MSG_DONTWAIT);
			if (len < 32)
				continue;
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			if ((r->drops && r->drops(i, buf, len)) ||
			    (int)((seed >> 33) % 100) < r->percent[i / 2]) {
				r->dropped++;
				continue;
			}
			/* out of the port that the other end knows */
			to.sin_port = htons(PW_RELAY_END + (i ^ 1));
			sendto(r->fd[i ^ 1], buf, len, 0, (void *)&to, sizeof(to));
		}
	}
	return NULL;
}

/* 0, or -1; @ends: two for each trunk */
static PW_UNUSED int pw_relay_start(struct pw_relay *r, int ends)
{
	int i;

	r->ends = ends;
	r->stop = false;
	for (i = 0; i < ends; i++) {
		r->fd[i] = pw_udp_open(PW_RELAY + i);
		if (r->fd[i] < 0)
			return -1;
	}
	return pthread_create(&r->thread, NULL, pw_relay_run, r) ? -1 : 0;
}

static PW_UNUSED void pw_relay_stop(struct pw_relay *r)
{
	int i;

	r->stop = true;
	pthread_join(r->thread, NULL);
	for (i = 0; i < r->ends; i++)
		close(r->fd[i]);
}

static PW_UNUSED void pw_relay_lose(struct pw_relay *r, int percent)
{
	int i;

	for (i = 0; i < r->ends / 2; i++)
		r->percent[i] = percent;
}

/* both ends of trunk @k, which meet at the relay, on SANs @a and @b */
static PW_UNUSED int pw_relay_trunk(struct pw_genl *g, int k, unsigned int a, unsigned int b)
{
	struct pw_trunk_req t = { .local = INADDR_LOOPBACK, .remote = INADDR_LOOPBACK };
	char name[8];
	int e, err = 0;

	for (e = 2 * k; e < 2 * k + 2 && !err; e++) {
		snprintf(name, sizeof(name), "t%d", e);
		t.name = name;
		t.san = e & 1 ? b : a;
		t.port = 10 + k;
		t.local_port = PW_RELAY_END + e;
		t.remote_port = PW_RELAY + e;
		err = pw_trunk_add(g, &t);
	}
	return err;
}

#endif
