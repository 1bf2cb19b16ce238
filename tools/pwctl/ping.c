// SPDX-License-Identifier: GPL-2.0
/* Echoes: ping and trace. */
#include <endian.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pwctl.h"

#define MSG_MAX 70000

/*
 * Send an echo request with @flags (PWL_EEP_*) behind @n bytes of source route, and
 * wait for the answer, which goes to @back if that is not NULL.
 */
static int64_t echo(struct pwl_sock *k, uint32_t dst, uint16_t seq, size_t len, int timeout_ms,
		    const char **why, uint32_t flags, const uint8_t *route, size_t n,
		    struct pwl_eep *back)
{
	static uint8_t data[MSG_MAX], rx[MSG_MAX + 256];
	struct pwl_eep m = { .dst = dst, .pt = PW_PT_ECHO, .te = PW_TE_ECHO_REQUEST,
			     .flags = flags };
	int64_t start = now_us(), left;
	uint32_t id[2];
	size_t i;
	int err;

	if (why)
		*why = NULL;
	if (len < sizeof(id))
		len = sizeof(id);
	if (len > sizeof(data))
		return -EMSGSIZE;
	for (i = 0; i < len; i++)
		data[i] = i;
	id[0] = htobe32(getpid());
	id[1] = htobe32(seq);
	memcpy(data, id, sizeof(id));
	m.data = data;
	m.len = len;
	err = pwl_sock_route(k, route, n);
	if (!err)
		err = pwl_send(k, &m);
	/* questions to half-routers go by address */
	pwl_sock_route(k, NULL, 0);
	if (err)
		return err;
	for (;;) {
		left = timeout_ms - (now_us() - start) / 1000;
		err = pwl_recv(k, rx, sizeof(rx), &m, left > 0 ? left : 0);
		if (err <= 0)
			return err ? err : -ETIMEDOUT;
		if (m.pt == PW_PT_ECHO && m.te == PW_TE_ECHO_REPLY && m.len == len &&
		    !memcmp(m.data, data, len)) {
			if (back)
				*back = m;
			return now_us() - start;
		}
		/* HRDOWN and LINKDOWN go to all nodes; they are no answer */
		if (m.pt == PW_PT_ERR && m.dst == pwl_sock_addr(k)) {
			if (why)
				*why = pwl_te_name(m.pt, m.te);
			return -EHOSTUNREACH;
		}
	}
}

int64_t eep_echo(struct pwl_sock *k, uint32_t dst, uint16_t seq, size_t len, int timeout_ms,
		 const char **why)
{
	return echo(k, dst, seq, len, timeout_ms, why, 0, NULL, 0, NULL);
}

struct echo_args {
	uint32_t dst, count, size, interval, timeout;
	const char *dev;
	bool fetch;		/* ask a half-router for the source route */
	struct source_route r;
};

#define AT(m) offsetof(struct echo_args, m)

static enum status take_route(void *to, char **values)
{
	struct echo_args *a = to;

	return route_parse("route", values[0], &a->r);
}

/* words, socket and source route */
static enum status begin(const struct verb *v, int argc, char **argv, struct echo_args *a,
			 struct pwl_sock **k, struct station *st)
{
	enum status ret;

	ret = words(v, argc, argv, a);
	if (!ret)
		ret = open_sock(a->dev, k, st);
	if (ret || !a->fetch)
		return ret;
	ret = route_fetch(*k, a->dst, &a->r, a->timeout);
	if (ret)
		pwl_sock_close(*k);
	return ret;
}

enum status cmd_ping(const struct verb *v, int argc, char **argv)
{
	struct echo_args a = { .count = 4, .size = 56, .interval = 1000, .timeout = 1000 };
	int64_t us, best = INT64_MAX, worst = 0, sum = 0;
	uint32_t sent = 0, got = 0;
	struct pwl_sock *k;
	struct station st;
	enum status ret;
	const char *why;
	json_t *j;

	ret = begin(v, argc, argv, &a, &k, &st);
	if (ret)
		return ret;
	catch_signals();
	out_begin(true);
	while (!interrupted && (!a.count || sent < a.count)) {
		if (sent)
			usleep(a.interval * 1000);
		us = echo(k, a.dst, sent, a.size, a.timeout, &why, 0, a.r.bytes, a.r.len, NULL);
		sent++;
		j = json_object();
		json_object_set_new(j, "seq", json_integer(sent));
		json_object_set_new(j, "addr", j_addr(a.dst));
		if (us >= 0) {
			got++;
			sum += us;
			best = us < best ? us : best;
			worst = us > worst ? us : worst;
			json_object_set_new(j, "bytes", json_integer(a.size < 8 ? 8 : a.size));
			json_object_set_new(j, "time-us", json_integer(us));
		} else if (us == -EHOSTUNREACH && why) {
			json_object_set_new(j, "error", json_string(why));
		} else if (us == -ETIMEDOUT) {
			json_object_set_new(j, "error", json_string("no answer"));
		} else {
			json_decref(j);
			pwl_sock_close(k);
			return fail(us, "%s", st.name);
		}
		out_item("echo", j);
	}
	pwl_sock_close(k);
	j = json_object();
	json_object_set_new(j, "sent", json_integer(sent));
	json_object_set_new(j, "received", json_integer(got));
	if (got) {
		json_object_set_new(j, "min-us", json_integer(best));
		json_object_set_new(j, "avg-us", json_integer(sum / got));
		json_object_set_new(j, "max-us", json_integer(worst));
	}
	out_item("", j);
	return got ? ST_OK : ST_SILENT;
}

/* one half-router of the route: its name, its other side, and the time to it */
static void trace_hop(struct pwl_sock *k, const struct pwl_eep *all, uint32_t h,
		      const struct source_route *r, int timeout)
{
	struct rrp_node node, peer[4];
	struct pwl_eep back = {};
	const char *why;
	int64_t us;
	json_t *j;
	int i, n;

	us = echo(k, all->hops[h], h, 8, timeout, &why, PWL_EEP_STAMP, r->bytes,
		  route_front(r, h + 1), &back);
	j = json_object();
	json_object_set_new(j, "hop", json_integer(h + 1));
	json_object_set_new(j, "addr", j_addr(all->hops[h]));
	if (!rrp_who(k, all->hops[h], &node, timeout)) {
		json_object_set_new(j, "router", json_string(node.name));
		n = rrp_tell(k, all->hops[h], node.name, 0, peer, N(peer), timeout);
		for (i = 0; i < n; i++)
			if (peer[i].router && peer[i].addr != all->hops[h])
				json_object_set_new(j, "out", j_addr(peer[i].addr));
	}
	if (us >= 0) {
		json_object_set_new(j, "virtual-ns", j_u64(back.stamp));
		json_object_set_new(j, "time-us", json_integer(us));
	} else {
		json_object_set_new(j, "error", json_string(us == -ETIMEDOUT ? "no answer" :
							    why ? why : "refused"));
	}
	out_item("hop", j);
}

/*
 * An echo with a hop trace returns with the routers of both routes and, between them,
 * the node that answered. Then each half-router on the route there is asked by itself.
 */
enum status cmd_trace(const struct verb *v, int argc, char **argv)
{
	struct echo_args a = { .timeout = 1000 };
	char addr[PWL_ADDR_STRLEN];
	struct pwl_eep all = {};
	uint32_t h, there;
	struct pwl_sock *k;
	struct station st;
	json_t *j, *back;
	const char *why;
	enum status ret;
	int64_t us;

	ret = begin(v, argc, argv, &a, &k, &st);
	if (ret)
		return ret;
	us = echo(k, a.dst, 0, 8, a.timeout, &why, PWL_EEP_HOPS | PWL_EEP_STAMP, a.r.bytes,
		  a.r.len, &all);
	if (us < 0) {
		pwl_sock_close(k);
		if (us != -EHOSTUNREACH && us != -ETIMEDOUT)
			return fail(us, "%s", st.name);
		fail(0, "%s: %s", pwl_addr_str(a.dst, addr),
		     us == -ETIMEDOUT ? "no answer" : why ? why : "refused");
		return ST_SILENT;
	}
	out_begin(false);
	for (there = 0; there < all.nhops && all.hops[there] != all.src; there++)
		trace_hop(k, &all, there, &a.r, a.timeout);
	back = json_array();
	for (h = there + 1; h < all.nhops; h++)
		json_array_append_new(back, j_addr(all.hops[h]));
	j = json_object();
	json_object_set_new(j, "answer", j_addr(all.src));
	json_object_set_new(j, "by", json_string(a.r.len ? "route" : "address"));
	json_object_set_new(j, "hops", json_integer(there));
	json_object_set_new(j, "virtual-ns", j_u64(all.stamp));
	json_object_set_new(j, "time-us", json_integer(us));
	if (a.r.len)
		json_object_set_new(j, "l2rh", j_hex(a.r.bytes, a.r.len));
	json_object_set_new(j, "back", back);
	out_item("", j);
	out_end();
	pwl_sock_close(k);
	return ST_OK;
}

#define COMMON \
	{ NULL, "ADDR", W_ADDR, AT(dst), WORD_NEEDED }, \
	{ "by-route", NULL, W_FLAG, AT(fetch) }, \
	{ "route", "HEX", W_CALL, .max = 1, .call = take_route }, \
	{ "dev", "NAME", W_TEXT, AT(dev) }, \
	{ "timeout", "MS", W_U32, AT(timeout) }

const struct word trace_words[] = { COMMON, {} };
const struct word ping_words[] = {
	COMMON,
	{ "count", "N", W_U32, AT(count) },
	{ "size", "BYTES", W_U32, AT(size) },
	{ "interval", "MS", W_U32, AT(interval) },
	{}
};
