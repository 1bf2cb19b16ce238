// SPDX-License-Identifier: GPL-2.0
/*
 * RRP as a host speaks it: questions to half-routers from a station's socket.
 * Works wherever the station is, also if its SAN lives in another namespace.
 */
#include "rrp.h"
#include "pwctl.h"

static uint8_t rx[70000];

/*
 * Ask, and wait for an answer of type @want or for RDRC; it is in @m and well formed.
 * -ENOENT: a half-router answered that it does not know.
 */
static int ask(struct pwl_sock *k, uint32_t dst, uint16_t te, const void *rec, size_t len,
	       uint16_t want, int timeout_ms, struct pwl_eep *m)
{
	struct pwl_eep q = { .dst = dst, .pt = PW_PT_RRP, .te = te, .data = rec, .len = len };
	int64_t end = now_us() / 1000 + timeout_ms, left;
	int err;

	err = pwl_send(k, &q);
	while (!err) {
		left = end - now_us() / 1000;
		err = pwl_recv(k, rx, sizeof(rx), m, left > 0 ? left : 0);
		if (err <= 0)
			return err ? err : -ETIMEDOUT;
		err = 0;
		if (m->dst != pwl_sock_addr(k))
			continue;
		if (m->pt == PW_PT_RRP && (m->te == want || m->te == PW_TE_RDRC) &&
		    !pw_rrp_check_msg(m->pt, m->te, m->data, m->len))
			return 0;
		if (m->pt == PW_PT_ERR && m->te == PW_TE_ERR_UNK)
			return -ENOENT;
	}
	return err;
}

/* the first route of an L2SR, with its MTU */
static int first_route(const struct pwl_eep *m, struct source_route *r)
{
	struct pw_rrp_rec addr, rec;
	struct pw_rrp_iter it;

	memset(r, 0, sizeof(*r));
	if (pw_rrp_iter_init(&it, m->data, m->len) || pw_rrp_next(&it, &addr) <= 0)
		return -ENOENT;
	pw_rrp_iter_nested(&it, &addr);
	while (pw_rrp_next(&it, &rec) > 0) {
		if (rec.type == PW_RRP_MTUR && r->len) {
			r->mtu = PW_EEP_WORD * rec.mtu;
			break;
		}
		if (rec.type == PW_RRP_SRQR && !r->len && rec.data_len &&
		    rec.data_len <= sizeof(r->bytes)) {
			r->quality = rec.q;
			r->len = rec.data_len;
			memcpy(r->bytes, rec.data, r->len);
		}
	}
	return r->len ? 0 : -ENOENT;
}

/**
 * rrp_route - fetch a source route
 * @k: the station's socket
 * @dst: where to
 * @r: gets it
 * @timeout_ms: for each question
 *
 * HRTO to all half-routers finds the one to use, GVL2 asks it; RDRC is followed.
 *
 * Return: 0; -ETIMEDOUT: no half-router here; -ENOENT: none knows a route.
 */
int rrp_route(struct pwl_sock *k, uint32_t dst, struct source_route *r, int timeout_ms)
{
	struct pw_rrp_rec to, by;
	struct pw_rrp_iter it;
	struct pw_rrp_buf b;
	struct pwl_eep m;
	uint8_t rec[8];
	int err, tries;
	uint32_t hr;

	pw_rrp_buf_init(&b, rec, sizeof(rec));
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, dst, 0);
	err = ask(k, PW_ADDR_HEYYOU, PW_TE_HRTO, rec, sizeof(rec), PW_TE_RDRC, timeout_ms, &m);
	if (err)
		return err;
	hr = m.src;
	for (tries = 0; tries < 4; tries++) {
		err = ask(k, hr, PW_TE_GVL2, rec, sizeof(rec), PW_TE_L2SR, timeout_ms, &m);
		if (err)
			return err;
		if (m.te != PW_TE_RDRC)
			return first_route(&m, r);
		/* a late answer to HRTO names the node itself and changes nothing */
		if (!pw_rrp_iter_init(&it, m.data, m.len) && pw_rrp_next(&it, &to) > 0 &&
		    pw_rrp_next(&it, &by) > 0 && to.addr == dst && by.addr != dst)
			hr = by.addr;
	}
	return -ELOOP;
}

enum status route_parse(const char *word, const char *text, struct source_route *r)
{
	int n = parse_hex(text, r->bytes, sizeof(r->bytes));

	if (n <= 0 || n % 8)
		return usage("%s: '%s' is not a row of L2RHs, as `pwctl resolve` shows it", word,
			     text);
	r->len = n;
	return ST_OK;
}

enum status route_fetch(struct pwl_sock *k, uint32_t dst, struct source_route *r, int timeout_ms)
{
	int err = rrp_route(k, dst, r, timeout_ms);
	char addr[PWL_ADDR_STRLEN];

	if (!err)
		return ST_OK;
	fail(0, "%s: %s", pwl_addr_str(dst, addr), err == -ETIMEDOUT ? "no half-router answers" :
	     err == -ENOENT ? "no half-router knows a source route" : strerror(-err));
	return ST_SILENT;
}

/* bytes of the first @n L2RHs of a route, all of them if there are fewer */
size_t route_front(const struct source_route *r, unsigned int n)
{
	size_t off = 0;

	while (n-- && off + PW_EEP_WORD <= r->len)
		off += pw_l2rh_size(r->bytes[off + 1] & PW_L2RH_LEN_MASK);
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
	struct pw_rrp_iter it, inner;
	struct pw_rrp_rec addr, rec;
	int n = 0;

	if (pw_rrp_iter_init(&it, m->data, m->len))
		return 0;
	while (n < max && pw_rrp_next(&it, &addr) > 0) {
		/* a range: there are more nodes */
		if (addr.at != PW_RRP_AT_SINGLE)
			continue;
		node[n] = (struct rrp_node) { .addr = addr.addr };
		pw_rrp_iter_nested(&inner, &addr);
		while (pw_rrp_next(&inner, &rec) > 0) {
			if (rec.type == PW_RRP_NAME)
				snprintf(node[n].name, sizeof(node[n].name), "%.*s",
					 (int)rec.data_len, (const char *)rec.data);
			else if (rec.type == PW_RRP_CAPA && rec.code == PW_CAPA_ROUTER)
				node[n].router = true;
		}
		n++;
	}
	return n;
}

/* ask the node at @addr for its name */
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
	struct pw_rrp_buf b;
	uint8_t rec[128];
	struct pwl_eep m;
	int len, err;

	pw_rrp_buf_init(&b, rec, sizeof(rec));
	if (name)
		pw_rrp_put_name(&b, name, strlen(name));
	else
		pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, addr, 0);
	len = pw_rrp_buf_done(&b);
	if (len < 0)
		return -EINVAL;
	err = ask(k, hr ? hr : PW_ADDR_HEYYOU, PW_TE_TELL, rec, len, PW_TE_INFO, timeout_ms, &m);
	return err ? err : nodes_of(&m, node, max);
}
