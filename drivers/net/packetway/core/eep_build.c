// SPDX-License-Identifier: GPL-2.0
/* EEP: whole messages from a description. Not in the module, but for its KUnit tests. */
#include "eep.h"

/**
 * pw_eep_put_symbol - write a symbol
 * @out: where to
 * @cap: room there
 * @type: symbol type
 * @data: its data
 * @len: number of data bytes
 *
 * Return: bytes written, -EINVAL or -ENOSPC.
 */
int pw_eep_put_symbol(u8 *out, size_t cap, u32 type, const u8 *data, size_t len)
{
	int ret;

	if (type > PW_SYM_TYPE_MASK || len > PW_SYM_MAX)
		return -EINVAL;
	ret = pw_eep_put_body(out, cap, pw_sym_size(len), PW_SYM_HDR_LEN, data, len);
	if (ret > 0) {
		out[0] = PW_EEP_VERSION << PW_EEP_V_SHIFT;
		put_unaligned_be24((u32)PW_EEP_B1_SYMBOL << 16 | type, out + 1);
		out[4] = len;
	}
	return ret;
}

/**
 * pw_eep_put_opt - write an OH or OT
 * @out: where to
 * @cap: room there
 * @type: its type
 * @mandatory: T bit
 * @last: C bit
 * @data: its data
 * @len: number of data bytes
 *
 * Return: bytes written, -EINVAL or -ENOSPC.
 */
int pw_eep_put_opt(u8 *out, size_t cap, u8 type, bool mandatory, bool last, const u8 *data,
		   size_t len)
{
	int ret;

	if (type > PW_OPT_TYPE_MASK || len > PW_OPT_MAX)
		return -EINVAL;
	ret = pw_eep_put_body(out, cap, pw_opt_size(len), PW_OPT_HDR_LEN, data, len);
	if (ret > 0) {
		out[0] = (mandatory ? PW_OPT_T : 0) | (last ? PW_OPT_C : 0) | type;
		out[1] = len;
	}
	return ret;
}

/* bytes of a chain of options, or -EINVAL */
static int pw_eep_opts_len(const struct pw_eep_opt *opt, u32 n)
{
	int len = 0;
	u32 i;

	if (n > PW_EEP_MAX_OPTS)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		if (opt[i].type > PW_OPT_TYPE_MASK || opt[i].len > PW_OPT_MAX)
			return -EINVAL;
		len += pw_opt_size(opt[i].len);
	}
	return len;
}

/**
 * pw_eep_front_len - bytes before the data block
 * @m: message to build
 *
 * Return: bytes of prefixes, header and OHs, or -EINVAL.
 */
int pw_eep_front_len(const struct pw_eep_msg *m)
{
	u32 len = 0;
	int ohs;
	u32 i;

	for (i = 0; i < m->nprefix; i++) {
		const struct pw_eep_prefix *pf = &m->prefix[i];

		if (pf->kind == PW_EEP_L2RH) {
			if (!pf->len || pf->len > PW_L2RH_MAX)
				return -EINVAL;
			len += pw_l2rh_size(pf->len);
		} else if (pf->kind == PW_EEP_SYMBOL) {
			if (pf->type > PW_SYM_TYPE_MASK || pf->len > PW_SYM_MAX)
				return -EINVAL;
			len += pw_sym_size(pf->len);
		} else {
			return -EINVAL;
		}
		if (len > PW_EEP_MAX_PREFIX_LEN)
			return -EINVAL;
	}
	ohs = pw_eep_opts_len(m->oh, m->noh);
	return ohs < 0 ? ohs : (int)len + PW_EEP_HDR_LEN + ohs;
}

/**
 * pw_eep_back_len - bytes after the data
 * @m: message to build
 *
 * An OT that an OH announces must be there, in order; where none is announced
 * the first of several may not be empty, optional and of type 0.
 *
 * Return: bytes of padding, OTs and TAIL, or -EINVAL.
 */
int pw_eep_back_len(const struct pw_eep_msg *m)
{
	int ots = pw_eep_opts_len(m->ot, m->nots);
	bool announced = false;
	u32 i, j = 0;

	if (ots < 0)
		return ots;
	for (i = 0; i < m->noh; i++) {
		if (m->oh[i].type > PW_OPT_TYPE_MASK)
			return -EINVAL;
		if (!(BIT_ULL(m->oh[i].type) & PW_OH_ANNOUNCE_MASK))
			continue;
		while (j < m->nots && m->ot[j].type != m->oh[i].type)
			j++;
		if (j++ >= m->nots)
			return -EINVAL;
		announced = true;
	}
	/* it would be read as TAIL */
	if (!announced && m->nots > 1 && !m->ot[0].type && !m->ot[0].len && !m->ot[0].mandatory)
		return -EINVAL;
	return pw_eep_pl(m->hdr.data_len) + ots + PW_EEP_TAIL_LEN;
}

/**
 * pw_eep_msg_len - length of a message to build
 * @m: the message
 *
 * Return: bytes, -EINVAL for an element out of range, -EMSGSIZE for too much data.
 */
int pw_eep_msg_len(const struct pw_eep_msg *m)
{
	int front = pw_eep_front_len(m);
	int back = pw_eep_back_len(m);

	if (front < 0 || back < 0)
		return -EINVAL;
	if (m->hdr.data_len > PW_EEP_MAX_DATA)
		return -EMSGSIZE;
	return front + (int)m->hdr.data_len + back;
}

static int pw_eep_put_opts(const struct pw_eep_opt *opt, u32 n, u8 *out, size_t cap)
{
	size_t pos = 0;
	int ret;
	u32 i;

	for (i = 0; i < n; i++) {
		ret = pw_eep_put_opt(out + pos, cap - pos, opt[i].type, opt[i].mandatory,
				     i + 1 == n, opt[i].data, opt[i].len);
		if (ret < 0)
			return ret;
		pos += ret;
	}
	return pos;
}

/**
 * pw_eep_build_front - write what comes before the data block
 * @m: message to build
 * @out: where to
 * @cap: room there
 *
 * Return: bytes written, -EINVAL, -EMSGSIZE or -ENOSPC.
 */
int pw_eep_build_front(const struct pw_eep_msg *m, u8 *out, size_t cap)
{
	struct pw_eep_hdr hdr = m->hdr;
	size_t pos = 0;
	int ret;
	u32 i;

	ret = pw_eep_front_len(m);
	if (ret < 0)
		return ret;
	if (cap < (size_t)ret)
		return -ENOSPC;
	for (i = 0; i < m->nprefix; i++) {
		const struct pw_eep_prefix *pf = &m->prefix[i];

		if (pf->kind == PW_EEP_L2RH)
			ret = pw_eep_put_l2rh(out + pos, cap - pos, pf->data, pf->len);
		else
			ret = pw_eep_put_symbol(out + pos, cap - pos, pf->type, pf->data, pf->len);
		if (ret < 0)
			return ret;
		pos += ret;
	}
	hdr.h = m->noh > 0;
	ret = pw_eep_build_header(&hdr, out + pos, cap - pos);
	if (ret < 0)
		return ret;
	pos += ret;
	ret = pw_eep_put_opts(m->oh, m->noh, out + pos, cap - pos);
	return ret < 0 ? ret : (int)pos + ret;
}

/**
 * pw_eep_build_back - write what comes after the data
 * @m: message to build
 * @out: where to, right behind the last data byte
 * @cap: room there
 *
 * Return: bytes of padding, OTs and TAIL written, -EINVAL or -ENOSPC.
 */
int pw_eep_build_back(const struct pw_eep_msg *m, u8 *out, size_t cap)
{
	u32 pl = pw_eep_pl(m->hdr.data_len);
	int ret = pw_eep_back_len(m);

	if (ret < 0)
		return ret;
	if (cap < (size_t)ret)
		return -ENOSPC;
	memset(out, 0, pl);
	ret = pw_eep_put_opts(m->ot, m->nots, out + pl, cap - pl);
	if (ret < 0)
		return ret;
	pw_eep_put_tail(out + pl + ret, cap - pl - ret, m->ei);
	return pl + ret + PW_EEP_TAIL_LEN;
}

/**
 * pw_eep_build - write a whole message
 * @m: the message
 * @out: where to
 * @cap: room there
 *
 * Return: bytes written, -EINVAL, -EMSGSIZE or -ENOSPC.
 */
int pw_eep_build(const struct pw_eep_msg *m, u8 *out, size_t cap)
{
	size_t pos;
	int ret;

	ret = pw_eep_msg_len(m);
	if (ret < 0)
		return ret;
	if (cap < (size_t)ret)
		return -ENOSPC;
	ret = pw_eep_build_front(m, out, cap);
	if (ret < 0)
		return ret;
	pos = ret;
	if (m->hdr.data_len)
		memcpy(out + pos, m->data, m->hdr.data_len);
	pos += m->hdr.data_len;
	ret = pw_eep_build_back(m, out + pos, cap - pos);
	return ret < 0 ? ret : (int)pos + ret;
}
