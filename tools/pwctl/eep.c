// SPDX-License-Identifier: GPL-2.0
/* EEP messages: ping, send, ESP. */
#include <ctype.h>
#include <endian.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "pwctl.h"

#define MSG_MAX 70000

static int64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}

/* with L2RHs in front, as they are */
static int send_routed(struct pwl_sock *k, const struct pwl_eep *m, const uint8_t *route, size_t n)
{
	static uint8_t buf[MSG_MAX + 4096];
	struct pwl_eep own = *m;
	ssize_t len;

	if (!n)
		return pwl_send(k, m);
	if (n > 2048)
		return -EMSGSIZE;
	own.src = pwl_sock_addr(k);
	memcpy(buf, route, n);
	len = pwl_eep_build(&own, buf + n, sizeof(buf) - n);
	if (len < 0)
		return len;
	return send(pwl_sock_fd(k), buf, n + len, 0) < 0 ? -errno : 0;
}

/*
 * @back, if not NULL, is the answer; with @flags, PWL_EEP_*; behind @n bytes of
 * source route
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
	err = send_routed(k, &m, route, n);
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
		/* HRDOWN and LINKDOWN are told to everybody */
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

static int open_sock(const char *dev, struct pwl_sock **k, struct station *st)
{
	int err;

	err = pick_station(dev, st);
	if (err)
		return err;
	err = pwl_sock_open(k, st->name);
	return err ? fail(err, "%s", st->name) : EX_OK_;
}

static int hex(const char *s, uint8_t *out, size_t cap);

/* "by-route" and "route HEX" of ping and trace */
struct route_words {
	bool fetch;
	struct source_route r;
};

/* 1: it was one of them, 0: it was not, -1: it was, and is wrong */
static int route_word(int argc, char **argv, int *i, struct route_words *w)
{
	const char *v;
	int n;

	if (flagword(argc, argv, i, "by-route")) {
		w->fetch = true;
		return 1;
	}
	if (!keyword(argc, argv, i, "route", &v))
		return 0;
	n = hex(v, w->r.bytes, sizeof(w->r.bytes));
	if (n <= 0 || n % 8) {
		usage("route: L2RHs in hex, as `pwctl resolve` shows them");
		return -1;
	}
	w->r.len = n;
	return 1;
}

/* EX_OK_, or the exit code after a complaint */
static int fetch_route(struct pwl_sock *k, const char *text, uint32_t dst, struct route_words *w,
		       int timeout)
{
	int err;

	if (!w->fetch)
		return EX_OK_;
	err = rrp_route(k, dst, &w->r, timeout);
	if (!err)
		return EX_OK_;
	fail(0, "%s: %s", text, err == -ETIMEDOUT ? "no half-router answers" :
	     err == -ENOENT ? "no half-router knows a source route" : strerror(-err));
	return EX_SILENCE_;
}

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	stop = 1;
}

int cmd_ping(int argc, char **argv)
{
	uint32_t dst = 0, count = 4, size = 56, interval = 1000, timeout = 1000, sent = 0, got = 0;
	int64_t us, best = INT64_MAX, worst = 0, sum = 0;
	const char *dev = NULL, *v, *text = NULL, *why;
	struct sigaction sa = { .sa_handler = on_signal };
	struct route_words w = {};
	struct pwl_sock *k;
	struct station st;
	int i = 0, err;
	json_t *j;

	if (argc && !strcmp(argv[0], "help")) {
		printf("  pwctl ping ADDR [by-route | route HEX] [dev NAME] [count N] [size BYTES]\n"
		       "             [interval MS] [timeout MS]\n"
		       "        EEP echo requests (packet type %d); the kernel of the station answers\n"
		       "        by-route: by a source route that the half-router gives (GVL2)\n"
		       "        pwctl ping 00:02:01 by-route count 1\n",
		       PW_PT_ECHO);
		return EX_OK_;
	}
	while (i < argc) {
		uint32_t *to = NULL;

		if (keyword(argc, argv, &i, "dev", &v)) {
			dev = v;
			continue;
		}
		err = route_word(argc, argv, &i, &w);
		if (err < 0)
			return EX_USAGE_;
		if (err)
			continue;
		if (keyword(argc, argv, &i, "count", &v))
			to = &count;
		else if (keyword(argc, argv, &i, "size", &v))
			to = &size;
		else if (keyword(argc, argv, &i, "interval", &v))
			to = &interval;
		else if (keyword(argc, argv, &i, "timeout", &v))
			to = &timeout;
		if (to) {
			if (parse_u32(v, to))
				return usage("ping: \"%s\" is not a number", v);
			continue;
		}
		if (text || parse_addr(argv[i], &dst))
			return usage("ping: \"%s\" is not an address", argv[i]);
		text = argv[i++];
	}
	if (!text)
		return usage("ping: which address?");
	err = open_sock(dev, &k, &st);
	if (err)
		return err;
	err = fetch_route(k, text, dst, &w, timeout);
	if (err) {
		pwl_sock_close(k);
		return err;
	}
	sigaction(SIGINT, &sa, NULL);
	out_begin(true);
	while (!stop && (!count || sent < count)) {
		if (sent)
			usleep(interval * 1000);
		us = echo(k, dst, sent, size, timeout, &why, 0, w.r.bytes, w.r.len, NULL);
		sent++;
		j = json_object();
		json_object_set_new(j, "seq", json_integer(sent));
		json_object_set_new(j, "addr", j_addr(dst));
		if (us >= 0) {
			got++;
			sum += us;
			best = us < best ? us : best;
			worst = us > worst ? us : worst;
			json_object_set_new(j, "bytes", json_integer(size < 8 ? 8 : size));
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
	return got ? EX_OK_ : EX_SILENCE_;
}

/* one half-router of the way there: who it is, and how far away */
static void trace_hop(struct pwl_sock *k, const struct pwl_eep *all, uint32_t h,
		      const struct source_route *r, int timeout)
{
	struct rrp_node node, twin[4];
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
		n = rrp_tell(k, all->hops[h], node.name, 0, twin, N(twin), timeout);
		for (i = 0; i < n; i++)
			if (twin[i].router && twin[i].addr != all->hops[h])
				json_object_set_new(j, "out", j_addr(twin[i].addr));
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
 * An echo with a hop trace comes back with the routers of both ways, and between
 * them who answered. Then each half-router on the way there is asked by itself.
 */
int cmd_trace(int argc, char **argv)
{
	const char *dev = NULL, *v, *text = NULL, *why;
	uint32_t dst = 0, timeout = 1000, h, there;
	struct pwl_eep back = {};
	struct route_words w = {};
	struct pwl_sock *k;
	struct station st;
	json_t *j, *ways;
	int i = 0, err;
	int64_t us;

	while (i < argc) {
		err = route_word(argc, argv, &i, &w);
		if (err < 0)
			return EX_USAGE_;
		if (err || keyword(argc, argv, &i, "dev", &dev))
			continue;
		if (keyword(argc, argv, &i, "timeout", &v)) {
			if (parse_u32(v, &timeout))
				return usage("timeout: \"%s\" is not a number", v);
		} else if (flagword(argc, argv, &i, "help")) {
			printf("  pwctl trace ADDR [by-route | route HEX] [dev NAME] [timeout MS]\n"
			       "        half-routers on the way, by address or by source route: entry\n"
			       "        (addr) and exit (out) of each router, and how long a message is\n"
			       "        under way to it, in virtual nanoseconds of the fabrics and in\n"
			       "        microseconds there and back\n"
			       "        pwctl trace 00:03:02 by-route\n");
			return EX_OK_;
		} else if (!text && !parse_addr(argv[i], &dst)) {
			text = argv[i++];
		} else {
			return usage("trace: \"%s\" is not an address", argv[i]);
		}
	}
	if (!text)
		return usage("trace: which address?");
	err = open_sock(dev, &k, &st);
	if (err)
		return err;
	err = fetch_route(k, text, dst, &w, timeout);
	if (err)
		goto out;
	us = echo(k, dst, 0, 8, timeout, &why, PWL_EEP_HOPS | PWL_EEP_STAMP, w.r.bytes, w.r.len,
		  &back);
	if (us == -EHOSTUNREACH || us == -ETIMEDOUT) {
		fail(0, "%s: %s", text, us == -ETIMEDOUT ? "no answer" : why ? why : "refused");
		err = EX_SILENCE_;
		goto out;
	}
	if (us < 0) {
		err = fail(us, "%s", st.name);
		goto out;
	}
	out_begin(false);
	for (there = 0; there < back.nhops && back.hops[there] != back.src; there++)
		trace_hop(k, &back, there, &w.r, timeout);
	ways = json_array();
	for (h = there + 1; h < back.nhops; h++)
		json_array_append_new(ways, j_addr(back.hops[h]));
	j = json_object();
	json_object_set_new(j, "answer", j_addr(back.src));
	json_object_set_new(j, "by", json_string(w.r.len ? "route" : "address"));
	json_object_set_new(j, "hops", json_integer(there));
	json_object_set_new(j, "virtual-ns", j_u64(back.stamp));
	json_object_set_new(j, "time-us", json_integer(us));
	if (w.r.len)
		json_object_set_new(j, "l2rh", j_hex(w.r.bytes, w.r.len));
	json_object_set_new(j, "back", ways);
	out_item("", j);
	out_end();
out:
	pwl_sock_close(k);
	return err;
}

static int hex(const char *s, uint8_t *out, size_t cap)
{
	size_t n = 0;
	unsigned int b;

	while (*s) {
		if (*s == ':' || *s == ' ') {
			s++;
			continue;
		}
		if (!isxdigit((unsigned char)s[0]) || !isxdigit((unsigned char)s[1]) || n == cap)
			return -EINVAL;
		sscanf(s, "%2x", &b);
		out[n++] = b;
		s += 2;
	}
	return n;
}

static json_t *message_json(const struct pwl_eep *m)
{
	const char *pt = pwl_pt_name(m->pt), *te = pwl_te_name(m->pt, m->te);
	json_t *j = json_object();
	char text[2 * 64 + 1];
	size_t i;

	json_object_set_new(j, "src", j_addr(m->src));
	json_object_set_new(j, "dst", j_addr(m->dst));
	json_object_set_new(j, "pt", json_integer(m->pt));
	if (pt)
		json_object_set_new(j, "type", json_string(pt));
	json_object_set_new(j, "te", json_integer(m->te));
	if (te)
		json_object_set_new(j, "extension", json_string(te));
	json_object_set_new(j, "prio", json_integer(m->prio));
	json_object_set_new(j, "bytes", json_integer(m->len));
	json_object_set_new(j, "crc-bad", json_boolean(m->crc_bad));
	for (i = 0; i < m->len && i < 64; i++)
		sprintf(text + 2 * i, "%02x", ((const uint8_t *)m->data)[i]);
	text[2 * i] = 0;
	json_object_set_new(j, "data", json_string(text));
	return j;
}

int cmd_send(int argc, char **argv)
{
	static uint8_t data[MSG_MAX], rx[MSG_MAX + 256];
	uint32_t dst = 0, pt = 0, te = 0, prio = 0, wait = 0;
	const char *dev = NULL, *v, *text = NULL;
	uint8_t route[PW_L2RH_MAX];
	struct pwl_eep m = {};
	struct pwl_sock *k;
	struct station st;
	int i = 0, n, err;
	bool have_pt = false;

	if (argc && !strcmp(argv[0], "help")) {
		printf("  pwctl send ADDR pt N [te N] [prio N] [dev NAME] [hex BYTES|text TEXT]\n"
		       "             [crc32] [crc64] [route BYTES] [wait MS]\n"
		       "        one EEP message; with wait, whatever comes back is shown\n");
		return EX_OK_;
	}
	while (i < argc) {
		if (keyword(argc, argv, &i, "dev", &v)) {
			dev = v;
		} else if (keyword(argc, argv, &i, "pt", &v)) {
			if (parse_u32(v, &pt) || pt > UINT16_MAX)
				return usage("pt: \"%s\" is not a packet type", v);
			have_pt = true;
		} else if (keyword(argc, argv, &i, "te", &v)) {
			if (parse_u32(v, &te) || te > UINT16_MAX)
				return usage("te: \"%s\" is not an extension", v);
		} else if (keyword(argc, argv, &i, "prio", &v)) {
			if (parse_u32(v, &prio) || prio > PW_EEP_P_MAX)
				return usage("prio: \"%s\" is not 0..63", v);
		} else if (keyword(argc, argv, &i, "wait", &v)) {
			if (parse_u32(v, &wait))
				return usage("wait: \"%s\" is not a number", v);
		} else if (keyword(argc, argv, &i, "hex", &v)) {
			n = hex(v, data, sizeof(data));
			if (n < 0)
				return usage("hex: \"%s\" is not pairs of digits", v);
			m.len = n;
		} else if (keyword(argc, argv, &i, "text", &v)) {
			m.len = strlen(v) < sizeof(data) ? strlen(v) : sizeof(data);
			memcpy(data, v, m.len);
		} else if (keyword(argc, argv, &i, "route", &v)) {
			n = hex(v, route, sizeof(route));
			if (n <= 0)
				return usage("route: 1 to %d bytes in hex", PW_L2RH_MAX);
			m.route = route;
			m.route_len = n;
		} else if (flagword(argc, argv, &i, "crc32")) {
			m.flags |= PWL_EEP_CRC32;
		} else if (flagword(argc, argv, &i, "crc64")) {
			m.flags |= PWL_EEP_CRC64;
		} else if (!text && !parse_addr(argv[i], &dst)) {
			text = argv[i++];
		} else {
			return usage("send: what is \"%s\"?", argv[i]);
		}
	}
	if (!text || !have_pt)
		return usage("send: an address and a packet type are needed");
	err = open_sock(dev, &k, &st);
	if (err)
		return err;
	m.dst = dst;
	m.pt = pt;
	m.te = te;
	m.prio = prio;
	m.data = data;
	err = pwl_send(k, &m);
	if (err) {
		pwl_sock_close(k);
		return fail(err, "%s", st.name);
	}
	if (wait) {
		n = 0;
		out_begin(true);
		while (pwl_recv(k, rx, sizeof(rx), &m, wait) > 0) {
			out_item("", message_json(&m));
			n++;
		}
		err = n ? EX_OK_ : EX_SILENCE_;
	}
	pwl_sock_close(k);
	return err;
}

/* ESP ---------------------------------------------------------------------- */

struct esp_word {
	const char *word;
	size_t off;
	uint8_t needed;		/* bit per opcode: must be given */
	uint8_t allowed;
};

#define OPC(x) (1U << PW_ESP_##x)
#define AT(m) offsetof(struct pwl_esp, m)
#define R_BOTH (OPC(RCHLD) | OPC(RCOLLECT))

static const struct esp_word esp_words[] = {
	{ "tag", AT(tag), OPC(COUNT) | OPC(COMPARE), OPC(COUNT) | OPC(COMPARE) },
	{ "thresh", AT(thresh), OPC(COUNT), OPC(COUNT) },
	{ "val", AT(val), OPC(COMPARE) | OPC(COLLECT) | OPC(RCOLLECT),
	  OPC(COMPARE) | OPC(COLLECT) | OPC(RCOLLECT) },
	{ "val-tag", AT(val_tag), OPC(COLLECT), OPC(COLLECT) },
	{ "cnt-tag", AT(cnt_tag), OPC(COLLECT), OPC(COLLECT) },
	{ "sib-tag", AT(sib_tag), R_BOTH, R_BOTH },
	{ "fwd-tag", AT(fwd_tag), R_BOTH, R_BOTH },
	{ "fwd-thresh", AT(fwd_thresh), R_BOTH, R_BOTH },
	{ "comp-tag", AT(comp_tag), OPC(RCOLLECT), OPC(RCOLLECT) },
	{ "pkt-id", AT(pkt_id), 0, R_BOTH },
};

static int run_esp(uint8_t opcode, int argc, char **argv)
{
	struct pwl_esp e = { .opcode = opcode, .ctl = PW_ESP_EXECUTE };
	const char *dev = NULL, *v, *text = NULL, *op = NULL;
	uint32_t dst = 0, timeout = 1000, given = 0;
	struct pwl_sock *k;
	struct station st;
	int i = 0, w, n, err;
	uint64_t x;
	json_t *j;

	while (i < argc) {
		if (keyword(argc, argv, &i, "dev", &v)) {
			dev = v;
			continue;
		}
		if (keyword(argc, argv, &i, "timeout", &v)) {
			if (parse_u32(v, &timeout))
				return usage("timeout: \"%s\" is not a number", v);
			continue;
		}
		if (keyword(argc, argv, &i, "op", &v)) {
			op = v;
			continue;
		}
		if (keyword(argc, argv, &i, "at", &v)) {
			n = !strcmp(v, "any") ? PW_ESP_LOC_ANY : !strcmp(v, "routers") ?
			    PW_ESP_LOC_ROUTERS : !strcmp(v, "ends") ? PW_ESP_LOC_ENDS : -1;
			if (n < 0)
				return usage("at: any, routers or ends");
			e.ctl = (e.ctl & ~PW_ESP_LOC_MASK) | n << PW_ESP_LOC_SHIFT;
			continue;
		}
		if (flagword(argc, argv, &i, "on-reflect")) {
			e.ctl &= ~PW_ESP_EXECUTE;
			e.ctl |= PW_ESP_EXEC_ON_REFLECT;
			continue;
		}
		for (w = 0; w < N(esp_words); w++)
			if (esp_words[w].allowed & 1U << opcode &&
			    !strcmp(esp_words[w].word, argv[i]))
				break;
		if (w < N(esp_words)) {
			if (i + 1 == argc || parse_u64(argv[i + 1], &x))
				return usage("%s needs a number", argv[i]);
			memcpy((char *)&e + esp_words[w].off, &x, sizeof(x));
			given |= 1U << w;
			i += 2;
			continue;
		}
		if (text || parse_addr(argv[i], &dst))
			return usage("esp %s: what is \"%s\"?", pwl_esp_name(opcode), argv[i]);
		text = argv[i++];
	}
	if (!text)
		return usage("esp: which address?");
	for (w = 0; w < N(esp_words); w++)
		if (esp_words[w].needed & 1U << opcode && !(given & 1U << w))
			return usage("esp %s: \"%s N\" is needed", pwl_esp_name(opcode),
				     esp_words[w].word);
	if (opcode == PW_ESP_COMPARE || opcode == PW_ESP_COLLECT || opcode == PW_ESP_RCOLLECT) {
		n = op ? pwl_esp_op_parse(opcode, op) : -EINVAL;
		if (n < 0)
			return usage("esp %s: `op` is %s", pwl_esp_name(opcode),
				     opcode == PW_ESP_COMPARE ? "lt, le, eq, ne, ge or gt" :
				     "add, and, or, max, min or xor");
		e.op = n;
	}
	err = open_sock(dev, &k, &st);
	if (err)
		return err;
	if (!e.pkt_id)
		e.pkt_id = pwl_sock_addr(k);
	n = pwl_esp_call(k, dst, &e, timeout);
	pwl_sock_close(k);
	if (n < 0)
		return n == -EHOSTUNREACH ? fail(0, "%s: an ERR came back", st.name) :
					    fail(n, "%s", st.name);
	j = json_object();
	json_object_set_new(j, "instruction", json_string(pwl_esp_name(opcode)));
	json_object_set_new(j, "outcome", json_string(!n ? "discarded" : e.ctl & PW_ESP_ERROR ?
						      "aborted" : "forwarded"));
	for (w = 0; n && w < N(esp_words); w++) {
		if (!(esp_words[w].allowed & 1U << opcode))
			continue;
		memcpy(&x, (char *)&e + esp_words[w].off, sizeof(x));
		json_object_set_new(j, esp_words[w].word, j_u64(x));
	}
	out_begin(false);
	out_item("", j);
	out_end();
	return EX_OK_;
}

#define ESP_OP(name, opcode)				\
static int esp_##name(int argc, char **argv)		\
{							\
	return run_esp(opcode, argc, argv);		\
}

ESP_OP(count, PW_ESP_COUNT)
ESP_OP(compare, PW_ESP_COMPARE)
ESP_OP(collect, PW_ESP_COLLECT)
ESP_OP(rchld, PW_ESP_RCHLD)
ESP_OP(rcollect, PW_ESP_RCOLLECT)

int cmd_esp(int argc, char **argv)
{
#define COMMON "[at any|routers|ends] [on-reflect] [dev NAME] [timeout MS]"
	static const struct verb v[] = {
		{ "show", esp_show, "[NAME | node ADDR]",
		  "stores of stations and half-routers: capacity, lifetime, bindings" },
		{ "set", esp_set, "[NAME | node ADDR] [capacity N] [lifetime MS]",
		  "of a station or half-router; of neither: defaults, from the next time one comes up" },
		{ "bindings", esp_bindings, "[NAME | node ADDR]",
		  "tags and values (CAP_NET_ADMIN)" },
		{ "count", esp_count, "ADDR tag N thresh N " COMMON,
		  "the first THRESH packets of a lifetime pass" },
		{ "compare", esp_compare, "ADDR tag N val N op lt|le|eq|ne|ge|gt " COMMON,
		  "passes, and is stored, where nothing is or `stored OP val` holds" },
		{ "collect", esp_collect,
		  "ADDR val-tag N cnt-tag N val N op add|and|or|max|min|xor " COMMON,
		  "reduce into val-tag; passes when cnt-tag has come down to 0" },
		{ "rchld", esp_rchld, "ADDR sib-tag N fwd-tag N fwd-thresh N [pkt-id N] " COMMON,
		  "count children once each, however often their packets come" },
		{ "rcollect", esp_rcollect,
		  "ADDR sib-tag N fwd-tag N fwd-thresh N comp-tag N val N op OP [pkt-id N] "
		  COMMON,
		  "reduce over the children that rchld counted" },
	};

	return dispatch("esp", v, N(v), argc, argv);
}
