// SPDX-License-Identifier: GPL-2.0
/*
 * Work of the highest priority (DIB): work STATION STATIONS PRIORITY
 *
 * Each station stores the priority of the most urgent work in its queue; 0 means
 * that it is idle. An idle station asks the ring for the maximum, then asks that
 * station, by an EEP message, for the work itself.
 */
#include "ring.h"

#define PT_WORK		1600	/* a packet type of ours */
#define TE_REQUEST	1
#define TE_WORK		2

static void ask(struct ring *r, struct pwl_sock *k)
{
	char buf[2048], addr[PWL_ADDR_STRLEN];
	struct pwl_eep m = { .pt = PT_WORK, .te = TE_REQUEST };
	struct pwl_result best;
	int got;

	check(pwl_aton_op(r->s, PW_ATON_OP_MAX, 0, &best), "most urgent");
	m.dst = best.v2;
	check(pwl_send(k, &m), "request");
	do {
		got = pwl_recv(k, buf, sizeof(buf), &m, 20000);
		check(got ? got : -ETIMEDOUT, "work");
	} while (m.pt != PT_WORK || m.te != TE_WORK);
	printf("idle: got \"%.*s\" from %s\n", (int)m.len, (const char *)m.data,
	       pwl_addr_str(m.src, addr));
}

/* answer one request, or return if no station is idle */
static void serve(struct ring *r, struct pwl_sock *k, uint64_t priority)
{
	struct pwl_aton idle = {
		.op = PW_ATON_OP_COUNT_EQ, .reg = 1, .mods = PACKETWAY_ATON_COMPARAND,
		.comparand = 1,
	};
	struct pwl_result res;
	char buf[2048], text[64];
	struct pwl_eep m;

	for (;;) {
		if (pwl_recv(k, buf, sizeof(buf), &m, 20) > 0 && m.pt == PT_WORK &&
		    m.te == TE_REQUEST) {
			snprintf(text, sizeof(text), "work of priority %llu",
				 (unsigned long long)priority);
			m = (struct pwl_eep) {
				.dst = m.src, .pt = PT_WORK, .te = TE_WORK, .data = text,
				.len = strlen(text),
			};
			check(pwl_send(k, &m), "answer");
			printf("gave away %s\n", text);
		}
		/* register 1 is 1 at stations that still wait for work */
		check(pwl_aton(r->s, &idle, &res), "idle stations");
		if (!res.v2)
			return;
	}
}

int main(int argc, char **argv)
{
	struct pwl_sock *k;
	uint64_t priority;
	struct ring r;

	if (argc != 4)
		errx(2, "usage: work STATION STATIONS PRIORITY");
	join(&r, argv[1], argv[2]);
	check(pwl_sock_open(&k, argv[1]), argv[1]);
	priority = strtoull(argv[3], NULL, 0);
	check(pwl_set(r.s, 0, priority), "priority");
	check(pwl_set(r.s, 1, !priority), "idle");
	meet(&r);

	if (priority)
		serve(&r, k, priority);
	else
		ask(&r, k);
	check(pwl_set(r.s, 1, 0), "idle");
	leave(&r);
	pwl_sock_close(k);
	return 0;
}
