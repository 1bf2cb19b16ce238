// SPDX-License-Identifier: GPL-2.0
/* Nodes of an internet of SANs: who fits a description, and how a station describes itself. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packetway.h"
#include "rrp.h"

#define ADDR_LAST	(PW_ADDR_HEYYOU - 1)
#define INFO_MAX	256	/* bytes that a half-router takes of a description */
#define QUERY_MAX	512
#define PAGES_MAX	4096

static bool addr_ok(uint32_t addr, enum pw_addr_kind kind)
{
	return addr <= PW_ADDR_MASK && pw_addr_kind(addr) == kind;
}

ssize_t pwl_query_build(const struct pwl_query *q, uint32_t first, void *buf, size_t cap)
{
	size_t len = q->name ? strlen(q->name) : 0;
	struct pw_rrp_buf b;
	int ret;

	if (!addr_ok(first, PW_ADDR_KIND_PHYS) || len > PWL_NAME_MAX || (q->name && !len) ||
	    (q->group && !addr_ok(q->group, PW_ADDR_KIND_LOGICAL)))
		return -EINVAL;
	pw_rrp_buf_init(&b, buf, cap);
	pw_rrp_put_addr(&b, PW_RRP_AT_MIN, first, ADDR_LAST);
	/* criteria are OR-ed: ask for one, pwl_find() looks at the others */
	if (q->name)
		pw_rrp_put_name(&b, q->name, len);
	else if (q->capability)
		pw_rrp_put_capa(&b, q->capability, NULL, 0);
	ret = pw_rrp_buf_done(&b);
	return ret < 0 ? -ENOSPC : ret;
}

static void take_capa(struct pwl_node *node, const struct pw_rrp_rec *rec)
{
	struct pwl_capa *c;

	if (node->ncapa == PWL_CAPA_MAX)
		return;
	c = &node->capa[node->ncapa++];
	c->code = rec->code;
	c->len = rec->data_len < sizeof(c->param) ? rec->data_len : sizeof(c->param);
	memcpy(c->param, rec->data, c->len);
}

static void take_groups(struct pwl_node *node, const struct pw_rrp_rec *rec)
{
	struct pw_rrp_entry e, f;
	struct pwl_range *r;
	u32 i = 0;

	while (node->ngroups < PWL_GROUPS_MAX && pw_rrp_entry_at(rec, i++, &e)) {
		f = e;
		if (e.at != PW_RRP_AT_SINGLE && !pw_rrp_entry_at(rec, i++, &f))
			break;
		r = &node->group[node->ngroups++];
		r->first = e.addr;
		r->last = f.addr;
		if (e.at == PW_RRP_AT_VALUE) {
			/* the smallest range that holds all of them */
			r->first = e.addr & f.addr;
			r->last = r->first | (~f.addr & PW_ADDR_LOGICAL_MASK);
		}
	}
}

int pwl_nodes_parse(const void *data, size_t len, struct pwl_node *node, int max, uint32_t *more)
{
	struct pw_rrp_rec addr, rec;
	struct pw_rrp_iter it, in;
	int n = 0;

	*more = 0;
	if (pw_rrp_check_msg(PW_PT_RRP, PW_TE_INFO, data, len))
		return -EBADMSG;
	pw_rrp_iter_init(&it, data, len);
	while (pw_rrp_next(&it, &addr) > 0) {
		if (addr.at != PW_RRP_AT_SINGLE) {
			*more = addr.addr;
			continue;
		}
		if (n == max)
			return -ENOSPC;
		memset(&node[n], 0, sizeof(node[n]));
		node[n].addr = addr.addr;
		pw_rrp_iter_nested(&in, &addr);
		while (pw_rrp_next(&in, &rec) > 0) {
			if (rec.type == PW_RRP_NAME && rec.data_len <= PWL_NAME_MAX)
				memcpy(node[n].name, rec.data, rec.data_len);
			else if (rec.type == PW_RRP_CAPA)
				take_capa(&node[n], &rec);
			else if (rec.type == PW_RRP_LADR)
				take_groups(&node[n], &rec);
		}
		n++;
	}
	return n;
}

int pwl_node_fits(const struct pwl_node *node, const struct pwl_query *q)
{
	bool capa = !q->capability, group = !q->group;
	uint32_t i;

	for (i = 0; i < node->ncapa; i++)
		capa |= node->capa[i].code == q->capability;
	for (i = 0; i < node->ngroups; i++)
		group |= q->group >= node->group[i].first && q->group <= node->group[i].last;
	return capa && group && (!q->name || !strcmp(q->name, node->name));
}

ssize_t pwl_info_build(const struct pwl_node *self, void *buf, size_t cap)
{
	struct pw_rrp_entry e[2 * PWL_GROUPS_MAX];
	struct pw_rrp_buf b;
	uint32_t i, n = 0;
	int ret;

	if (!addr_ok(self->addr, PW_ADDR_KIND_PHYS) || self->ncapa > PWL_CAPA_MAX ||
	    self->ngroups > PWL_GROUPS_MAX || !memchr(self->name, 0, sizeof(self->name)))
		return -EINVAL;
	pw_rrp_buf_init(&b, buf, cap);
	pw_rrp_put_addr(&b, PW_RRP_AT_SINGLE, self->addr, 0);
	if (self->name[0])
		pw_rrp_put_name(&b, self->name, strlen(self->name));
	for (i = 0; i < self->ncapa; i++) {
		if (self->capa[i].len > sizeof(self->capa[i].param))
			return -EINVAL;
		pw_rrp_put_capa(&b, self->capa[i].code, self->capa[i].param, self->capa[i].len);
	}
	for (i = 0; i < self->ngroups; i++) {
		const struct pwl_range *r = &self->group[i];

		if (!addr_ok(r->first, PW_ADDR_KIND_LOGICAL) ||
		    !addr_ok(r->last, PW_ADDR_KIND_LOGICAL) || r->last < r->first)
			return -EINVAL;
		e[n++] = (struct pw_rrp_entry) {
			r->first == r->last ? PW_RRP_AT_SINGLE : PW_RRP_AT_MIN, r->first,
		};
		if (r->first != r->last)
			e[n++] = (struct pw_rrp_entry) { PW_RRP_AT_MIN + 1, r->last };
	}
	if (n)
		pw_rrp_put_entries(&b, PW_RRP_LADR, e, n);
	ret = pw_rrp_buf_done(&b);
	if (ret < 0)
		return -ENOSPC;
	return ret > INFO_MAX + PW_RRP_HDR_LEN ? -EMSGSIZE : ret;
}

int pwl_describe(struct pwl_sock *k, const struct pwl_node *self)
{
	struct pwl_node own = *self;
	uint8_t rec[4096];
	struct pwl_eep m = {
		.dst = PW_ADDR_HEYYOU, .pt = PW_PT_RRP, .te = PW_TE_INFO, .data = rec,
	};
	ssize_t len;

	own.addr = pwl_sock_addr(k);
	len = pwl_info_build(&own, rec, sizeof(rec));
	if (len < 0)
		return len;
	m.len = len;
	return pwl_send(k, &m);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/*
 * One page: 1 with an INFO in @m, 0 if the half-router knows none, or a negative errno.
 * *hr: who is asked, afterwards who has answered
 */
static int ask_page(struct pwl_sock *k, uint32_t *hr, const uint8_t *rec, size_t len,
		    uint8_t *rx, size_t cap, struct pwl_eep *m, int timeout_ms)
{
	struct pwl_eep q = {
		.dst = *hr, .pt = PW_PT_RRP, .te = PW_TE_TELL, .data = rec, .len = len,
	};
	int64_t end = now_ms() + timeout_ms, left;
	int n = pwl_send(k, &q);

	while (!n) {
		left = end - now_ms();
		n = pwl_recv(k, rx, cap, m, left > 0 ? left : 0);
		if (n <= 0)
			return n ? n : -ETIMEDOUT;
		n = 0;
		if (m->dst != pwl_sock_addr(k) || (*hr != PW_ADDR_HEYYOU && m->src != *hr))
			continue;
		if (m->pt == PW_PT_ERR && m->te == PW_TE_ERR_UNK)
			return 0;
		if (m->pt == PW_PT_RRP && m->te == PW_TE_INFO) {
			*hr = m->src;
			return 1;
		}
	}
	return n;
}

int pwl_find(struct pwl_sock *k, const struct pwl_query *q, pwl_node_fn found, void *arg,
	     int timeout_ms)
{
	static const int most = 128;	/* an answer of 1400 bytes has fewer */
	uint32_t hr = PW_ADDR_HEYYOU, first = 1, more = 1;
	uint8_t rec[QUERY_MAX], rx[2048];
	struct pwl_node *node;
	int i, n, page, all = 0;
	struct pwl_eep m;
	ssize_t len;

	node = calloc(most, sizeof(*node));
	if (!node)
		return -ENOMEM;
	for (page = 0; more && page < PAGES_MAX; page++) {
		len = pwl_query_build(q, first, rec, sizeof(rec));
		n = len < 0 ? len : ask_page(k, &hr, rec, len, rx, sizeof(rx), &m, timeout_ms);
		more = 0;
		if (n > 0)
			n = pwl_nodes_parse(m.data, m.len, node, most, &more);
		if (n < 0) {
			all = n;
			break;
		}
		for (i = 0; i < n; i++) {
			if (!pwl_node_fits(&node[i], q))
				continue;
			all++;
			if (found && found(&node[i], arg))
				goto out;
		}
		/* the rest does not begin further on: there is no end to it */
		if (more && more <= first)
			break;
		first = more;
	}
out:
	free(node);
	return all;
}
