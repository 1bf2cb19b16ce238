// SPDX-License-Identifier: GPL-2.0
/*
 * RRP as a host speaks it: questions to half-routers from a station's socket.
 * Works wherever the station is, also if its SAN lives in another namespace.
 */
#include <endian.h>
#include <time.h>

#include "pwctl.h"

static uint8_t rx[70000];

static uint32_t be(const uint8_t *p, int n)
{
	uint32_t v = 0;

	while (n--)
		v = v << 8 | *p++;
	return v;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/*
 * Ask, and wait for an answer of type @want, or RDRC if that may come as well; in
 * @m. -ENOENT: somebody says that it is not known.
 */
static int ask(struct pwl_sock *k, uint32_t dst, uint16_t te, const void *rec, size_t len,
	       uint16_t want, int timeout_ms, struct pwl_eep *m)
{
	struct pwl_eep q = { .dst = dst, .pt = PW_PT_RRP, .te = te, .data = rec, .len = len };
	int64_t end = now_ms() + timeout_ms, left;
	int err;

	err = pwl_send(k, &q);
	while (!err) {
		left = end - now_ms();
		err = pwl_recv(k, rx, sizeof(rx), m, left > 0 ? left : 0);
		if (err <= 0)
			return err ? err : -ETIMEDOUT;
		err = 0;
		if (m->dst != pwl_sock_addr(k))
			continue;
		if (m->pt == PW_PT_RRP && (m->te == want || m->te == PW_TE_RDRC))
			return 0;
		if (m->pt == PW_PT_ERR && m->te == PW_TE_ERR_UNK)
			return -ENOENT;
	}
	return err;
}

/* the record at *@off; false at the end. @body: from its four bytes on, @n of them */
static bool record(const struct pwl_eep *m, size_t *off, int *type, const uint8_t **body, size_t *n)
{
	const uint8_t *p = (const uint8_t *)m->data + *off;
	size_t size;

	if (*off + PW_RRP_HDR_LEN > m->len)
		return false;
	size = PW_RRP_HDR_LEN + 8 * be(p + PW_RRP_OFF_RL, 2);
	*type = p[0];
	/* what is inside an ADDR comes next */
	if (*type == PW_RRP_ADDR)
		size = PW_RRP_HDR_LEN;
	if (*off + size > m->len || p[PW_RRP_OFF_PL] > size - 4)
		return false;
	*body = p + PW_RRP_OFF_BODY;
	*n = size - 4;
	if (*type != PW_RRP_SRQR && *type != PW_RRP_MTUR)
		*n -= *type == PW_RRP_ADDR ? 0 : p[PW_RRP_OFF_PL];
	*off += size;
	return true;
}

static void put_addr(uint8_t rec[8], uint32_t addr)
{
	memset(rec, 0, 8);
	rec[0] = PW_RRP_ADDR;
	rec[4] = PW_RRP_AT_SINGLE;
	rec[5] = addr >> 16;
	rec[6] = addr >> 8;
	rec[7] = addr;
}

/**
 * rrp_route - fetch a source route
 * @k: the station's socket
 * @dst: where to
 * @r: gets it
 * @timeout_ms: for each question
 *
 * HRTO to everybody finds the half-router to use, GVL2 asks it; RDRC is followed.
 *
 * Return: 0; -ETIMEDOUT: no half-router here; -ENOENT: none knows the way.
 */
int rrp_route(struct pwl_sock *k, uint32_t dst, struct source_route *r, int timeout_ms)
{
	const uint8_t *body;
	uint8_t rec[8];
	struct pwl_eep m;
	size_t off, n;
	int type, err, tries;
	uint32_t hr;

	put_addr(rec, dst);
	err = ask(k, PW_ADDR_HEYYOU, PW_TE_HRTO, rec, sizeof(rec), PW_TE_RDRC, timeout_ms, &m);
	if (err)
		return err;
	hr = m.src;
	for (tries = 0; tries < 4; tries++) {
		err = ask(k, hr, PW_TE_GVL2, rec, sizeof(rec), PW_TE_L2SR, timeout_ms, &m);
		if (err)
			return err;
		off = 0;
		if (m.te == PW_TE_RDRC) {
			/* an answer to HRTO that came late says no more than we know */
			if (record(&m, &off, &type, &body, &n) && be(body + 1, 3) == dst &&
			    record(&m, &off, &type, &body, &n) && be(body + 1, 3) != dst)
				hr = be(body + 1, 3);
			continue;
		}
		memset(r, 0, sizeof(*r));
		while (record(&m, &off, &type, &body, &n)) {
			if (type == PW_RRP_SRQR && !r->len && n > 4 && n - 4 <= sizeof(r->bytes)) {
				r->quality = be(body + 2, 2);
				r->len = n - 4;
				memcpy(r->bytes, body + 4, r->len);
			} else if (type == PW_RRP_MTUR && r->len) {
				r->mtu = 8 * be(body, 4);
				break;
			}
		}
		return r->len ? 0 : -ENOENT;
	}
	return -ELOOP;
}

/* bytes of the first @n L2RHs of a route, all of them if there are fewer */
size_t route_front(const struct source_route *r, unsigned int n)
{
	size_t off = 0;

	while (n-- && off + 8 <= r->len)
		off += ((r->bytes[off + 1] & PW_L2RH_LEN_MASK) + 9) / 8 * 8;
	return off < r->len ? off : r->len;
}

unsigned int route_hops(const struct source_route *r)
{
	unsigned int n = 0;

	while (route_front(r, n) < r->len)
		n++;
	return n;
}

/* nodes that an INFO describes; at most @max */
static int nodes_of(const struct pwl_eep *m, struct rrp_node *node, int max)
{
	const uint8_t *body;
	size_t off = 0, n;
	int type, count = 0;

	while (record(m, &off, &type, &body, &n)) {
		if (type == PW_RRP_ADDR) {
			if (count == max)
				break;
			memset(&node[count], 0, sizeof(node[0]));
			node[count++].addr = be(body + 1, 3);
		} else if (count && type == PW_RRP_NAME) {
			snprintf(node[count - 1].name, sizeof(node[0].name), "%.*s", (int)n,
				 (const char *)body);
		} else if (count && type == PW_RRP_CAPA && n && body[0] == PW_CAPA_ROUTER) {
			node[count - 1].router = true;
		}
	}
	return count;
}

/* who is at @addr? 0 or a negative errno */
int rrp_who(struct pwl_sock *k, uint32_t addr, struct rrp_node *node, int timeout_ms)
{
	struct pwl_eep m;
	int err;

	err = ask(k, addr, PW_TE_WRU, NULL, 0, PW_TE_INFO, timeout_ms, &m);
	if (err)
		return err;
	return nodes_of(&m, node, 1) ? 0 : -ENOENT;
}

/* nodes of this name, or at @addr if @name is NULL, as @hr (0: any) knows them; their number */
int rrp_tell(struct pwl_sock *k, uint32_t hr, const char *name, uint32_t addr,
	     struct rrp_node *node, int max, int timeout_ms)
{
	uint8_t rec[8 + 128] = { PW_RRP_NAME };
	struct pwl_eep m;
	size_t len = 8, n;
	int err;

	if (name) {
		n = strlen(name);
		if (n > 120)
			return -EINVAL;
		len = (4 + n + 7) / 8 * 8;
		rec[1] = len - 4 - n;
		rec[3] = len / 8 - 1;
		memcpy(rec + 4, name, n);
	} else {
		put_addr(rec, addr);
	}
	err = ask(k, hr ? hr : PW_ADDR_HEYYOU, PW_TE_TELL, rec, len, PW_TE_INFO, timeout_ms, &m);
	return err ? err : nodes_of(&m, node, max);
}
