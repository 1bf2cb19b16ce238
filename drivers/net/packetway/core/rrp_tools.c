// SPDX-License-Identifier: GPL-2.0
/* RRP: what tools and tests use and the module does not. */
#include "rrp.h"

static const struct {
	const char *field;
	const char *str;
} pw_rrp_errs[PW_RRP_E_NUM] = {
	[PW_RRP_OK] = { "", "well formed" },
	[PW_RRP_E_LEN] = { "records", "not a whole number of words" },
	[PW_RRP_E_RTYP] = { "type", "unknown record type" },
	[PW_RRP_E_RL] = { "rl", "record runs past the end" },
	[PW_RRP_E_PL] = { "pl", "padding does not fit the record" },
	[PW_RRP_E_AT] = { "at", "address type may not stand here" },
	[PW_RRP_E_PAIR] = { "addr2", "half of an address pair is missing" },
	[PW_RRP_E_NEST] = { "records", "record may not lie inside an ADDR" },
	[PW_RRP_E_ROUTE] = { "route", "malformed L2RH" },
	[PW_RRP_E_MSG] = { "records", "not the records of this message" },
};

/**
 * pw_rrp_err_field - the field that an error is about
 * @err: enum pw_rrp_err, or its negative
 *
 * Return: its name.
 */
const char *pw_rrp_err_field(int err)
{
	err = err < 0 ? -err : err;
	return err < PW_RRP_E_NUM ? pw_rrp_errs[err].field : "?";
}

/**
 * pw_rrp_err_str - what is wrong with that field
 * @err: enum pw_rrp_err, or its negative
 *
 * Return: a few words.
 */
const char *pw_rrp_err_str(int err)
{
	err = err < 0 ? -err : err;
	return err < PW_RRP_E_NUM ? pw_rrp_errs[err].str : "unknown error";
}

static const char * const pw_rrp_names[] = {
	"ADDR", "NAME", "CAPA", "LADR", "SRQR", "MTUR", "RCVF", "RTHD",
};

/**
 * pw_rrp_rtyp_name - name of a record type
 * @rtyp: record type
 *
 * Return: the name, or NULL.
 */
const char *pw_rrp_rtyp_name(u8 rtyp)
{
	if (rtyp < PW_RRP_ADDR || rtyp > PW_RRP_RTHD)
		return NULL;
	return pw_rrp_names[rtyp - PW_RRP_ADDR];
}

/**
 * pw_rrp_next_l2rh - walk the L2RHs of an SRQR
 * @rec: the record
 * @pos: 0 for the first call
 * @route: routing bytes
 * @len: their number
 *
 * Return: false at the end.
 */
bool pw_rrp_next_l2rh(const struct pw_rrp_rec *rec, u32 *pos, const u8 **route, u32 *len)
{
	if (*pos >= rec->data_len)
		return false;
	*len = rec->data[*pos + 1] & PW_L2RH_LEN_MASK;
	*route = rec->data + *pos + PW_L2RH_HDR_LEN;
	*pos += pw_l2rh_size(*len);
	return true;
}

/**
 * pw_rrp_put_node - add a node's ADDR with NAME, CAPAs and LADR inside
 * @b: builder
 * @node: its description
 *
 * The ADDR stays open: in a routing table an SRQR follows.
 */
void pw_rrp_put_node(struct pw_rrp_buf *b, const struct pw_rrp_node *node)
{
	u32 i;

	pw_rrp_put_addr(b, PW_RRP_AT_SINGLE, node->addr, 0);
	if (node->name_len)
		pw_rrp_put_name(b, node->name, node->name_len);
	for (i = 0; i < node->ncapa; i++)
		pw_rrp_put_capa(b, node->capa[i].code, node->capa[i].params,
				node->capa[i].nparams);
	if (node->nladr)
		pw_rrp_put_entries(b, PW_RRP_LADR, node->ladr, node->nladr);
}

/**
 * pw_rrp_build_msg - put records into an EEP message
 * @pt: PW_PT_RRP or PW_PT_ERR
 * @te: which message
 * @dt: destination
 * @sa: source
 * @p: priority
 * @records: records, or NULL if they are at @out + PW_EEP_HDR_LEN already
 * @len: bytes of them
 * @out: where to
 * @cap: room there
 *
 * Return: bytes written, -EINVAL, -EMSGSIZE or -ENOSPC.
 */
int pw_rrp_build_msg(u16 pt, u16 te, u32 dt, u32 sa, u8 p, const u8 *records, u32 len, u8 *out,
		     size_t cap)
{
	struct pw_eep_hdr h = { .dt = dt, .sa = sa, .data_len = len, .te = te, .pt = pt, .p = p };
	int ret;

	if (len % PW_EEP_WORD)
		return -EINVAL;
	if (len > PW_EEP_MAX_DATA)
		return -EMSGSIZE;
	if (cap < (size_t)len + PW_EEP_MIN_LEN)
		return -ENOSPC;
	ret = pw_eep_build_header(&h, out, cap);
	if (ret < 0)
		return ret;
	if (records && len)
		memcpy(out + PW_EEP_HDR_LEN, records, len);
	pw_eep_put_tail(out + PW_EEP_HDR_LEN + len, PW_EEP_TAIL_LEN, 0);
	return len + PW_EEP_MIN_LEN;
}
