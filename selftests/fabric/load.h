/* SPDX-License-Identifier: GPL-2.0 */
/* Messages of a load on stations of a SAN, held against the model's deliveries. */
#ifndef FABRIC_LOAD_H
#define FABRIC_LOAD_H

#include "../pwsan.h"
#include "../pwharness.h"

#include <pthread.h>

#include "ref.h"

#define LOAD_PT	1500
#define LOAD_ALL 0x7fffff
#define LOAD_GROUP 0xe00100	/* plus n: the group whose frames connection n carries */

static uint8_t load_tx[70000], load_rx[70000];

/* data of a message: its number where there is room, then bytes made of it */
static PW_UNUSED void load_fill(uint8_t *p, uint32_t id, int len)
{
	uint32_t v = id * 2654435761U + len;
	int i;

	for (i = 0; i < len; i++)
		p[i] = (v = v * 1664525 + 1013904223) >> 24;
	if (len >= 4)
		pw_put(p, 4, id);
}

static PW_UNUSED bool load_intact(const uint8_t *p, uint32_t id, int len)
{
	static uint8_t want[70000];

	load_fill(want, id, len);
	return !memcmp(p, want, len);
}

/* least k with k * k >= ports: base of the digits of a port in a route */
static int load_radix(int ports)
{
	int k = 1;

	while (k * k < ports)
		k++;
	return k;
}

static uint32_t load_addr(const struct ref_msg *m)
{
	if (m->conn)
		return LOAD_GROUP + m->conn - 1;
	return m->dst < 0 ? LOAD_ALL : m->dst + 1;
}

/* offer a message to a SAN of so many ports; the number of bytes of the frame or -1 */
static PW_UNUSED int load_offer(int fd, const struct ref_msg *m, uint32_t id, int ports)
{
	int k = load_radix(ports), at = 0, n;
	uint8_t route[3] = { m->path, m->dst / k, m->dst % k };

	if (m->path >= 0)
		at = pw_put_l2rh(load_tx, route, 3);
	n = pw_msg(load_tx + at, load_addr(m), m->src + 1, LOAD_PT, 0, 0, NULL, m->len);
	load_fill(load_tx + at + 16, id, m->len);
	return pw_timed_send(fd, load_tx, at + n, m->cycle);
}

/*
 * Hold what all ports get against the model's deliveries. The number of differences; @hash: of
 * all that came.
 */
static PW_UNUSED int load_receive(struct __test_metadata *_metadata, const int *fd, int ports,
				  const struct ref_msg *msg, const struct ref_out *out, int nout,
				  int ms, uint64_t *hash)
{
	int d, i, len, bad = 0;
	uint64_t cycle;

	*hash = 14695981039346656037ULL;
	for (d = 0; d < ports; d++) {
		for (i = 0; i < nout; i++) {
			const struct ref_msg *m = &msg[out[i].id];
			struct pw_hdr h = {};

			if (out[i].dst != d)
				continue;
			len = pw_timed_recv(fd[d], load_rx, sizeof(load_rx), &cycle, ms);
			if (len < 24) {
				TH_LOG("port %d: nothing for message %d", d, out[i].id);
				bad++;
				break;
			}
			pw_hdr_get(load_rx, &h);
			*hash = (*hash ^ (h.sa << 8 | d) ^ cycle << 32) * 1099511628211ULL;
			if (cycle == out[i].cycle && h.sa == m->src + 1 &&
			    h.dl * 8 - h.pl == m->len &&
			    load_intact(load_rx + 16, out[i].id, m->len))
				continue;
			if (bad++ < 5)
				TH_LOG("port %d: from %u, %d bytes, cycle %llu; expected %d, %d bytes, %llu",
				       d, h.sa - 1, h.dl * 8 - h.pl, (unsigned long long)cycle,
				       m->src, m->len, (unsigned long long)out[i].cycle);
		}
		if (pw_timed_recv(fd[d], load_rx, sizeof(load_rx), &cycle, 0) >= 0) {
			TH_LOG("port %d: more than it should get", d);
			bad++;
		}
	}
	return bad;
}

/* a thread that sends for as long as @stop is false: port s to port s + 8, in turn */
struct load_traffic {
	pthread_t thread;
	const int *fd;
	volatile bool stop;
	long sent;
};

static PW_UNUSED void *load_traffic(void *arg)
{
	struct load_traffic *t = arg;
	uint8_t buf[128];
	int s, n;

	while (!t->stop) {
		s = t->sent % 8;
		n = pw_msg(buf, s + 9, s + 1, LOAD_PT, 0, 0, NULL, 64);
		load_fill(buf + 16, t->sent / 8, 64);
		if (send(t->fd[s], buf, n, 0) == n)
			t->sent++;
		else
			usleep(1000);
		if (t->sent % 64 == 0)
			usleep(500);
	}
	return NULL;
}

#endif
