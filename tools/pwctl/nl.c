// SPDX-License-Identifier: GPL-2.0
/* Netlink with the sentences that the kernel adds to its refusals. */
#include <time.h>

#include "pwctl.h"

int nl_open(struct nl *nl, int bus)
{
	int one = 1;

	memset(nl, 0, sizeof(*nl));
	nl->s = mnl_socket_open2(bus, SOCK_CLOEXEC);
	if (!nl->s)
		return -errno;
	if (mnl_socket_bind(nl->s, 0, MNL_SOCKET_AUTOPID)) {
		int err = -errno;

		nl_close(nl);
		return err;
	}
	mnl_socket_setsockopt(nl->s, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(nl->s, NETLINK_CAP_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(nl->s, NETLINK_GET_STRICT_CHK, &one, sizeof(one));
	nl->portid = mnl_socket_get_portid(nl->s);
	nl->seq = time(NULL);
	return 0;
}

void nl_close(struct nl *nl)
{
	if (nl->s)
		mnl_socket_close(nl->s);
	nl->s = NULL;
}

struct nlmsghdr *nl_request(struct nl *nl, void *buf, int type, int flags)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);

	h->nlmsg_type = type;
	h->nlmsg_flags = NLM_F_REQUEST | flags;
	return h;
}

enum status nl_put(struct nlmsghdr *h, int type, const void *data, size_t len)
{
	/* only a topology makes a request longer */
	size_t room = h->nlmsg_len > NL_WORDS ? NL_REQUEST : NL_WORDS;

	/* nests are closed later, and need no room then */
	return len < NL_WORDS && mnl_attr_put_check(h, room, type, len, data) ? ST_OK :
	       usage("words are too long, or too many");
}

enum status nl_put_long(struct nlmsghdr *h, int type, const void *data, size_t len)
{
	return len < NL_REQUEST && mnl_attr_put_check(h, NL_REQUEST, type, len, data) ? ST_OK :
	       usage("words are too long, or too many");
}

enum status nl_put_text(struct nlmsghdr *h, int type, const char *text)
{
	return nl_put(h, type, text, strlen(text) + 1);
}

static void nl_sentence(struct nl *nl, const struct nlmsghdr *h)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(h);
	size_t off = sizeof(*e);
	const struct nlattr *a;

	nl->ext[0] = 0;
	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (h->nlmsg_type == NLMSG_DONE)
		off = sizeof(int);
	else if (!(h->nlmsg_flags & NLM_F_CAPPED))
		off += e->msg.nlmsg_len - sizeof(e->msg);
	mnl_attr_for_each(a, h, off)
		if (mnl_attr_get_type(a) == NLMSGERR_ATTR_MSG)
			snprintf(nl->ext, sizeof(nl->ext), "%.*s",
				 (int)mnl_attr_get_payload_len(a),
				 (const char *)mnl_attr_get_payload(a));
}

/* the answer to a request; *@interrupted: of a dump, entries may be missing */
static int nl_answer(struct nl *nl, struct nlmsghdr *h, mnl_cb_t cb, void *data,
		     bool *interrupted)
{
	char buf[NL_BUF] __attribute__((aligned(8)));
	const struct nlmsghdr *a;
	ssize_t len;
	int n;

	h->nlmsg_seq = ++nl->seq;
	nl->ext[0] = 0;
	*interrupted = false;
	if (mnl_socket_sendto(nl->s, h, h->nlmsg_len) < 0)
		return -errno;
	for (;;) {
		len = mnl_socket_recvfrom(nl->s, buf, sizeof(buf));
		if (len < 0)
			return -errno;
		n = len;
		for (a = (void *)buf; mnl_nlmsg_ok(a, n); a = mnl_nlmsg_next(a, &n)) {
			if (a->nlmsg_seq != nl->seq || a->nlmsg_pid != nl->portid)
				continue;
			*interrupted |= a->nlmsg_flags & NLM_F_DUMP_INTR;
			if (a->nlmsg_type == NLMSG_ERROR || a->nlmsg_type == NLMSG_DONE) {
				nl_sentence(nl, a);
				return mnl_nlmsg_get_payload_len(a) >= sizeof(int) ?
				       *(int *)mnl_nlmsg_get_payload(a) : 0;
			}
			if (cb && cb(a, data) < 0)
				return -errno;
		}
	}
}

/* messages of a dump, until it is known whether it was interrupted */
struct nl_kept {
	char *buf;
	size_t len, room;
};

static int nl_keep(const struct nlmsghdr *h, void *data)
{
	size_t len = MNL_ALIGN(h->nlmsg_len);
	struct nl_kept *k = data;
	char *more;

	if (k->len + len > k->room) {
		k->room = 2 * k->room + NL_BUF;
		more = realloc(k->buf, k->room);
		if (!more)
			return MNL_CB_ERROR;
		k->buf = more;
	}
	memcpy(k->buf + k->len, h, h->nlmsg_len);
	k->len += len;
	return MNL_CB_OK;
}

static int nl_kept_each(const struct nl_kept *k, mnl_cb_t cb, void *data)
{
	const struct nlmsghdr *h;
	size_t at;

	for (at = 0; cb && at < k->len; at += MNL_ALIGN(h->nlmsg_len)) {
		h = (void *)(k->buf + at);
		if (cb(h, data) < 0)
			return -errno;
	}
	return 0;
}

/* what is listed changes now and then; a list that always changes is better than none */
#define NL_DUMPS 8

static int nl_dump(struct nl *nl, struct nlmsghdr *h, mnl_cb_t cb, void *data)
{
	struct nl_kept k = {};
	bool again = true;
	int i, err, ret;

	for (i = 0; i < NL_DUMPS && again; i++) {
		k.len = 0;
		err = nl_answer(nl, h, nl_keep, &k, &again);
	}
	if (again)
		fprintf(stderr, "pwctl: the list changed while it was read, entries may be missing\n");
	/* the entries before an error, then the error */
	ret = nl_kept_each(&k, cb, data);
	free(k.buf);
	return ret ? ret : err;
}

int nl_talk(struct nl *nl, struct nlmsghdr *h, mnl_cb_t cb, void *data)
{
	bool interrupted;

	if ((h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP) {
		nl->err = nl_dump(nl, h, cb, data);
	} else {
		h->nlmsg_flags |= NLM_F_ACK;
		nl->err = nl_answer(nl, h, cb, data, &interrupted);
	}
	return nl->err;
}

enum status nl_do(struct nl *nl, struct nlmsghdr *h, mnl_cb_t cb, void *data, const char *what)
{
	if (!nl_talk(nl, h, cb, data))
		return ST_OK;
	if (!nl->ext[0])
		return fail(nl->err, "%s", what);
	fprintf(stderr, "Error: %s.\n", nl->ext);
	return ST_REFUSED;
}

enum status rtnl_open(struct nl *nl)
{
	int err = nl_open(nl, NETLINK_ROUTE);

	return err ? fail(err, "rtnetlink") : ST_OK;
}

/* Generic netlink ---------------------------------------------------------- */

static int family_cb(const struct nlmsghdr *h, void *data)
{
	const struct nlattr *a, *grp, *m;
	struct genl *g = data;
	const char *name;
	int id;

	mnl_attr_for_each(a, h, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(a) == CTRL_ATTR_FAMILY_ID)
			g->family = mnl_attr_get_u16(a);
		if (mnl_attr_get_type(a) != CTRL_ATTR_MCAST_GROUPS)
			continue;
		mnl_attr_for_each_nested(grp, a) {
			name = "";
			id = 0;
			mnl_attr_for_each_nested(m, grp) {
				if (mnl_attr_get_type(m) == CTRL_ATTR_MCAST_GRP_NAME)
					name = mnl_attr_get_str(m);
				if (mnl_attr_get_type(m) == CTRL_ATTR_MCAST_GRP_ID)
					id = mnl_attr_get_u32(m);
			}
			if (!strcmp(name, PACKETWAY_MCGRP_EVENTS))
				g->group = id;
		}
	}
	return MNL_CB_OK;
}

static void genl_header(struct genl *g, int family, int cmd, int version, int flags)
{
	struct genlmsghdr *gh;

	g->h = nl_request(&g->nl, g->buf, family, flags);
	gh = mnl_nlmsg_put_extra_header(g->h, sizeof(*gh));
	gh->cmd = cmd;
	gh->version = version;
}

int genl_find(struct genl *g)
{
	int err;

	memset(g, 0, sizeof(*g));
	err = nl_open(&g->nl, NETLINK_GENERIC);
	if (err)
		return err;
	genl_header(g, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, 0);
	mnl_attr_put_strz(g->h, CTRL_ATTR_FAMILY_NAME, PACKETWAY_GENL_NAME);
	err = nl_talk(&g->nl, g->h, family_cb, g);
	if (err)
		nl_close(&g->nl);
	return err;
}

enum status genl_open(struct genl *g)
{
	int err = genl_find(g);

	if (err == -ENOENT)
		return fail(0, "this kernel has no packetway, see 'pwctl doctor'");
	return err ? fail(err, "generic netlink family " PACKETWAY_GENL_NAME) : ST_OK;
}

/* the family is looked up when the request is sent: wrong words are found without it */
void genl_begin(struct genl *g, int cmd, int flags, int nest)
{
	memset(g, 0, sizeof(*g));
	genl_header(g, 0, cmd, PACKETWAY_GENL_VERSION, flags);
	g->nest = nest ? mnl_attr_nest_start(g->h, nest) : NULL;
}

enum status genl_end(struct genl *g, enum status st, mnl_cb_t cb, void *data, const char *what)
{
	struct genl found;

	if (st)
		return st;
	if (g->nest)
		mnl_attr_nest_end(g->h, g->nest);
	st = genl_open(&found);
	if (st)
		return st;
	g->nl = found.nl;
	g->h->nlmsg_type = found.family;
	st = nl_do(&g->nl, g->h, cb, data, what);
	nl_close(&g->nl);
	return st;
}

enum status genl_dump(int cmd, mnl_cb_t cb, void *data, const char *what)
{
	struct genl g;

	genl_begin(&g, cmd, NLM_F_DUMP, 0);
	return genl_end(&g, ST_OK, cb, data, what);
}
