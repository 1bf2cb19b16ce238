// SPDX-License-Identifier: GPL-2.0
/* EEP, ESP and POETS packets, and sockets to send and receive them. */
#include <arpa/inet.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <time.h>
#include <unistd.h>

#include "eep.h"
#include "esp.h"
#include "poets.h"
#include "packetway.h"

struct pwl_sock {
	int fd;
	uint32_t ifindex;
	uint32_t addr;
	uint32_t mtu;
	size_t route_len;
	u8 route[PWL_ROUTE_MAX];
};

const char *pwl_pt_name(uint16_t pt)
{
	return pw_eep_pt_name(pt);
}

const char *pwl_te_name(uint16_t pt, uint16_t te)
{
	return pw_eep_te_name(pt, te);
}

ssize_t pwl_eep_build(const struct pwl_eep *m, void *buf, size_t cap)
{
	struct pw_eep_prefix l2rh = {
		.kind = PW_EEP_L2RH, .data = m->route, .len = m->route_len,
	};
	static const u8 zeros[PWL_HOPS_MAX * PW_OH_HOPTRACE_SLOT];
	struct pw_eep_opt oh[4] = {}, ot[2] = {};
	struct pw_eep_msg k = {
		.hdr = {
			.dt = m->dst, .sa = m->src, .data_len = m->len, .te = m->te, .pt = m->pt,
			.p = m->prio, .e = m->e,
		},
		.oh = oh,
		.ot = ot,
		.data = m->data,
		.ei = m->ei,
	};
	u8 crc[2][PW_OH_CRC64_LEN], stamp[PW_OH_TIMESTAMP_LEN];
	struct pw_eep_crc sum;
	u64 types = 0;
	int len;

	if (m->prio > PW_EEP_P_MAX || m->len > PW_EEP_MAX_DATA ||
	    m->flags & ~(PWL_EEP_CRC32 | PWL_EEP_CRC64 | PWL_EEP_HOPS | PWL_EEP_STAMP) ||
	    (m->len && !m->data))
		return -EINVAL;
	if (m->route_len) {
		k.prefix = &l2rh;
		k.nprefix = 1;
	}
	if (m->flags & PWL_EEP_CRC32) {
		oh[k.noh].type = PW_OH_CRC32;
		ot[k.noh++].len = PW_OH_CRC32_LEN;
	}
	if (m->flags & PWL_EEP_CRC64) {
		oh[k.noh].type = PW_OH_CRC64;
		ot[k.noh++].len = PW_OH_CRC64_LEN;
	}
	for (k.nots = 0; k.nots < k.noh; k.nots++) {
		types |= BIT_ULL(oh[k.nots].type);
		ot[k.nots].type = oh[k.nots].type;
		ot[k.nots].data = crc[k.nots];
	}
	pw_eep_crc_init(&sum, types);
	pw_eep_crc_update(&sum, m->data ? m->data : zeros, m->len);
	pw_eep_crc_update(&sum, zeros, pw_eep_pl(m->len));
	for (k.nots = 0; k.nots < k.noh; k.nots++)
		pw_eep_crc_put(&sum, ot[k.nots].type, crc[k.nots]);

	/* these announce no trailer, so they come last */
	if (m->flags & PWL_EEP_STAMP) {
		put_unaligned_be64(m->stamp, stamp);
		oh[k.noh].type = PW_OH_TIMESTAMP;
		oh[k.noh].data = stamp;
		oh[k.noh++].len = sizeof(stamp);
	}
	if (m->flags & PWL_EEP_HOPS) {
		oh[k.noh].type = PW_OH_HOPTRACE;
		oh[k.noh].data = zeros;
		oh[k.noh++].len = sizeof(zeros);
	}
	len = pw_eep_msg_len(&k);
	if (len < 0)
		return -EINVAL;
	if ((size_t)len > cap)
		return -ENOSPC;
	len = pw_eep_build(&k, buf, cap);
	return len < 0 ? -EINVAL : len;
}

int pwl_eep_parse(const void *buf, size_t len, struct pwl_eep *m, const char **why)
{
	struct pw_eep_view v;
	u32 off, addr;
	int err;

	err = pw_eep_parse(buf, len, &v);
	if (err) {
		if (why)
			*why = pw_eep_err_str(err);
		return -EBADMSG;
	}
	*m = (struct pwl_eep) {
		.dst = v.dt,
		.src = v.sa,
		.pt = v.pt,
		.te = v.te,
		.prio = v.p,
		.e = v.e,
		.flags = (v.oh_mask & BIT_ULL(PW_OH_HOPTRACE) ? PWL_EEP_HOPS : 0) |
			 (v.stamp_off ? PWL_EEP_STAMP : 0) |
			 (v.oh_mask & BIT_ULL(PW_OH_CRC32) ? PWL_EEP_CRC32 : 0) |
			 (v.oh_mask & BIT_ULL(PW_OH_CRC64) ? PWL_EEP_CRC64 : 0),
		.ei = v.ei,
		.data = (const u8 *)buf + v.db_off,
		.len = v.data_len,
		.crc_bad = pw_eep_crc_verify(buf, &v) != 0,
		.stamp = v.stamp_off ? get_unaligned_be64((const u8 *)buf + v.stamp_off) : 0,
	};
	for (off = 0; off + PW_OH_HOPTRACE_SLOT <= v.hoptrace_len && m->nhops < PWL_HOPS_MAX;
	     off += PW_OH_HOPTRACE_SLOT) {
		addr = get_unaligned_be32((const u8 *)buf + v.hoptrace_off + off);
		if (!addr)
			break;
		m->hops[m->nhops++] = addr & PW_ADDR_MASK;
	}
	return 0;
}

/* Sockets */

int pwl_sock_open(struct pwl_sock **k, const char *station)
{
	struct sockaddr_ll sll = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_PACKETWAY),
	};
	struct ifreq ifr = {};
	struct pwl_sock *n;
	int err, one = 1;

	*k = NULL;
	if (strlen(station) >= sizeof(ifr.ifr_name))
		return -ENODEV;
	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	n->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (n->fd < 0) {
		err = -errno;
		free(n);
		return err;
	}
	strcpy(ifr.ifr_name, station);
	if (ioctl(n->fd, SIOCGIFINDEX, &ifr))
		goto fail;
	n->ifindex = ifr.ifr_ifindex;
	if (ioctl(n->fd, SIOCGIFMTU, &ifr))
		goto fail;
	n->mtu = ifr.ifr_mtu;
	if (ioctl(n->fd, SIOCGIFHWADDR, &ifr))
		goto fail;
	if (ifr.ifr_hwaddr.sa_family != ARPHRD_PACKETWAY) {
		errno = EMEDIUMTYPE;
		goto fail;
	}
	n->addr = get_unaligned_be32(ifr.ifr_hwaddr.sa_data) >> 8;
	setsockopt(n->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one));
	sll.sll_ifindex = n->ifindex;
	if (bind(n->fd, (void *)&sll, sizeof(sll)))
		goto fail;
	*k = n;
	return 0;

fail:
	err = -errno;
	pwl_sock_close(n);
	return err;
}

void pwl_sock_close(struct pwl_sock *k)
{
	if (!k)
		return;
	close(k->fd);
	free(k);
}

int pwl_sock_fd(const struct pwl_sock *k)
{
	return k->fd;
}

uint32_t pwl_sock_addr(const struct pwl_sock *k)
{
	return k->addr;
}

uint32_t pwl_sock_mtu(const struct pwl_sock *k)
{
	return k->mtu;
}

int pwl_sock_join(struct pwl_sock *k, uint32_t group)
{
	struct packet_mreq m = {
		.mr_ifindex = k->ifindex,
		.mr_type = PACKET_MR_MULTICAST,
		.mr_alen = PW_EEP_ALEN,
		.mr_address = { group >> 16, group >> 8, group },
	};

	if (setsockopt(k->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &m, sizeof(m)))
		return -errno;
	return 0;
}

int pwl_sock_route(struct pwl_sock *k, const void *l2rhs, size_t len)
{
	const u8 *p = l2rhs;
	size_t at, size;

	if (len > sizeof(k->route))
		return -EMSGSIZE;
	for (at = 0; at < len; at += size) {
		if (len - at < PW_EEP_WORD || (p[at + 1] & PW_EEP_B1_L2RH_MASK) != PW_EEP_B1_L2RH)
			return -EINVAL;
		size = pw_l2rh_size(p[at + 1] & PW_L2RH_LEN_MASK);
		if (!(p[at + 1] & PW_L2RH_LEN_MASK) || size > len - at)
			return -EINVAL;
	}
	if (len)
		memcpy(k->route, p, len);
	k->route_len = len;
	return 0;
}

int pwl_send(struct pwl_sock *k, const struct pwl_eep *m)
{
	struct pwl_eep own = *m;
	size_t front = k->route_len;
	size_t cap = front + m->len + m->route_len + 128 + PW_EEP_OPT_MAX_SIZE;
	ssize_t len;
	u8 *buf;

	if (!own.src)
		own.src = k->addr;
	buf = malloc(cap);
	if (!buf)
		return -ENOMEM;
	memcpy(buf, k->route, front);
	len = pwl_eep_build(&own, buf + front, cap - front);
	if (len > 0 && send(k->fd, buf, front + len, 0) < 0)
		len = -errno;
	free(buf);
	return len < 0 ? (int)len : 0;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

int pwl_recv(struct pwl_sock *k, void *buf, size_t cap, struct pwl_eep *m, int timeout_ms)
{
	struct pollfd p = { .fd = k->fd, .events = POLLIN };
	int64_t end = now_ms() + timeout_ms;
	ssize_t len;
	int left, n;

	for (;;) {
		left = timeout_ms < 0 ? -1 : (int)(end - now_ms());
		if (timeout_ms >= 0 && left < 0)
			left = 0;
		n = poll(&p, 1, left);
		if (n <= 0)
			return n < 0 ? -errno : 0;
		len = recv(k->fd, buf, cap, MSG_DONTWAIT | MSG_TRUNC);
		if (len < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (len < 0)
			return -errno;
		if ((size_t)len <= cap && !pwl_eep_parse(buf, len, m, NULL))
			return 1;
	}
}

/* ESP */

/* where the operands are in struct pwl_esp */
static const size_t esp_member[PW_ESP_F_COUNT] = {
	[PW_ESP_F_TAG] = offsetof(struct pwl_esp, tag),
	[PW_ESP_F_THRESH] = offsetof(struct pwl_esp, thresh),
	[PW_ESP_F_VAL] = offsetof(struct pwl_esp, val),
	[PW_ESP_F_VAL_TAG] = offsetof(struct pwl_esp, val_tag),
	[PW_ESP_F_CNT_TAG] = offsetof(struct pwl_esp, cnt_tag),
	[PW_ESP_F_SIB_TAG] = offsetof(struct pwl_esp, sib_tag),
	[PW_ESP_F_FWD_TAG] = offsetof(struct pwl_esp, fwd_tag),
	[PW_ESP_F_FWD_THRESH] = offsetof(struct pwl_esp, fwd_thresh),
	[PW_ESP_F_COMP_TAG] = offsetof(struct pwl_esp, comp_tag),
	[PW_ESP_F_PKT_ID] = offsetof(struct pwl_esp, pkt_id),
};

ssize_t pwl_esp_build(const struct pwl_esp *e, void *buf, size_t cap)
{
	struct pw_esp_insn in = { .ctl = e->ctl, .opcode = e->opcode, .op = e->op };
	size_t len, i;

	if (!e->opcode || e->opcode >= PW_ESP_OPCODES ||
	    (pw_esp_desc[e->opcode].op_kind != PW_ESP_OPK_NONE &&
	     !pw_esp_op_valid(pw_esp_desc[e->opcode].op_kind, e->op)))
		return -EINVAL;
	for (i = 0; i < PW_ESP_F_COUNT; i++)
		memcpy(&in.f[i], (const u8 *)e + esp_member[i], 8);
	len = pw_esp_build(buf, cap, &in);
	return len ? (ssize_t)len : -ENOSPC;
}

int pwl_esp_parse(const void *buf, size_t len, struct pwl_esp *e, const char **why)
{
	enum pw_esp_reason r;
	struct pw_esp_insn in;
	size_t i;

	r = pw_esp_parse(buf, len, &in);
	if (r != PW_ESP_R_OK) {
		if (why)
			*why = pw_esp_reason_name[r];
		return -EBADMSG;
	}
	*e = (struct pwl_esp) { .ctl = in.ctl, .opcode = in.opcode, .op = in.op };
	for (i = 0; i < PW_ESP_F_COUNT; i++)
		memcpy((u8 *)e + esp_member[i], &in.f[i], 8);
	return 0;
}

int pwl_esp_send(struct pwl_sock *k, uint32_t dst, const struct pwl_esp *e)
{
	u8 pkt[PWL_ESP_LEN_MAX];
	struct pwl_eep m = { .dst = dst, .pt = PW_PT_ESP, .data = pkt };
	ssize_t len;

	len = pwl_esp_build(e, pkt, sizeof(pkt));
	if (len < 0)
		return len;
	m.len = len;
	return pwl_send(k, &m);
}

int pwl_esp_call(struct pwl_sock *k, uint32_t dst, struct pwl_esp *e, int timeout_ms)
{
	/* what follows the operands is ours: a number to know the answer by */
	u8 pkt[PWL_ESP_LEN_MAX + 8], rx[2048];
	struct pwl_eep m = { .dst = dst, .pt = PW_PT_ESP, .data = pkt };
	int64_t end = now_ms() + timeout_ms;
	struct pwl_esp out = *e;
	struct timespec ts;
	ssize_t len;
	int left, n;

	out.ctl |= PW_ESP_REFLECT;
	len = pwl_esp_build(&out, pkt, PWL_ESP_LEN_MAX);
	if (len < 0)
		return len;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	put_unaligned_be64(ts.tv_sec * 1000000000ULL + ts.tv_nsec, pkt + len);
	m.len = len + 8;
	n = pwl_send(k, &m);
	if (n)
		return n;
	do {
		left = end > now_ms() ? (int)(end - now_ms()) : 0;
		n = pwl_recv(k, rx, sizeof(rx), &m, left);
		if (n < 0)
			return n;
		if (n && m.pt == PW_PT_ESP && m.len == (size_t)len + 8 &&
		    !memcmp((const u8 *)m.data + len, pkt + len, 8) &&
		    !pwl_esp_parse(m.data, m.len, &out, NULL)) {
			*e = out;
			return 1;
		}
		if (n && m.pt == PW_PT_ERR && m.src != dst && m.dst == k->addr)
			return -EHOSTUNREACH;
	} while (n);
	return 0;
}

const char *pwl_esp_name(uint8_t opcode)
{
	return opcode && opcode < PW_ESP_OPCODES ? pw_esp_desc[opcode].name : NULL;
}

int pwl_esp_parse_name(const char *name)
{
	int i;

	for (i = 1; i < PW_ESP_OPCODES; i++)
		if (!strcasecmp(pw_esp_desc[i].name, name))
			return i;
	return -EINVAL;
}

int pwl_esp_op_parse(uint8_t opcode, const char *name)
{
	const char *s;
	int i;

	if (!opcode || opcode >= PW_ESP_OPCODES)
		return -EINVAL;
	for (i = 1; i < 256 && pw_esp_op_valid(pw_esp_desc[opcode].op_kind, i); i++) {
		s = pw_esp_op_name(pw_esp_desc[opcode].op_kind, i);
		if (s && !strcasecmp(s, name))
			return i;
	}
	return -EINVAL;
}

/* POETS */

uint32_t pwl_poets_sw_addr(int mothership, int cnc, uint8_t task, uint8_t opcode,
			   uint16_t device)
{
	return pw_poets_sw_addr(mothership, cnc, task, opcode, device);
}

uint32_t pwl_poets_pin_addr(uint8_t pin, uint32_t edge)
{
	return pw_poets_pin_addr(pin, edge);
}

ssize_t pwl_poets_build(const struct pwl_poets *p, void *buf, size_t cap)
{
	size_t len;

	if (p->len > PW_POETS_MAX_PAYLOAD)
		return -EINVAL;
	len = pw_poets_build(buf, cap, p->sw_addr, p->pin_addr, p->payload, p->len);
	return len ? (ssize_t)len : -ENOSPC;
}

int pwl_poets_parse(const void *buf, size_t len, struct pwl_poets *p)
{
	struct pw_poets_pkt k;

	if (pw_poets_parse(buf, len, &k))
		return -EBADMSG;
	*p = (struct pwl_poets) {
		.sw_addr = k.sw_addr, .pin_addr = k.pin_addr, .payload = k.payload, .len = k.len,
	};
	return 0;
}
