// SPDX-License-Identifier: GPL-2.0
/* EEP: what tools and tests use and the module does not. */
#include "eep.h"

static const struct {
	const char *name;
	const char *field;
	const char *str;
} pw_eep_errs[PW_EEP_E_NUM] = {
	[PW_EEP_OK] = { "ok", "", "well formed" },
	[PW_EEP_E_FRAME] = { "frame", "frame", "no bytes, or more than can be counted" },
	[PW_EEP_E_PREFIX_TRUNC] = { "prefix_trunc", "prefix",
		"frame ends where an L2RH, symbol or header must begin" },
	[PW_EEP_E_PREFIX_LIMIT] = { "prefix_limit", "prefix", "too many bytes of L2RHs, symbols" },
	[PW_EEP_E_L2RH_LEN] = { "l2rh_len", "prefix.l2rh", "length 0" },
	[PW_EEP_E_L2RH_OVERRUN] = { "l2rh_overrun", "prefix.l2rh", "runs past the frame" },
	[PW_EEP_E_SYM_OVERRUN] = { "symbol_overrun", "prefix.symbol", "runs past the frame" },
	[PW_EEP_E_VERSION] = { "version", "v", "version is not 0" },
	[PW_EEP_E_HDR_TRUNC] = { "header_trunc", "header", "frame ends inside the header" },
	[PW_EEP_E_DT_RESERVED] = { "dt_reserved", "dt", "reserved destination" },
	[PW_EEP_E_DT_UNDEF] = { "dt_undefined", "dt", "destination is 0" },
	[PW_EEP_E_ESIZE] = { "e_size", "e", "element size 5..7" },
	[PW_EEP_E_SA] = { "sa_msbit", "sa", "first bit is set" },
	[PW_EEP_E_PL] = { "pl", "pl", "padding without a data block" },
	[PW_EEP_E_DL] = { "dl", "dl", "data block runs past the frame" },
	[PW_EEP_E_OH_OVERRUN] = { "oh_overrun", "oh", "runs past the frame" },
	[PW_EEP_E_OH_LAST] = { "oh_last", "oh", "frame ends before the last one" },
	[PW_EEP_E_OH_LIMIT] = { "oh_limit", "oh", "too many" },
	[PW_EEP_E_OT_OVERRUN] = { "ot_overrun", "ot", "runs past the place of TAIL" },
	[PW_EEP_E_OT_LAST] = { "ot_last", "ot", "TAIL comes before the last one" },
	[PW_EEP_E_OT_LIMIT] = { "ot_limit", "ot", "too many" },
	[PW_EEP_E_OT_MISSING] = { "ot_missing", "ot", "announced by an OH and not there" },
	[PW_EEP_E_TAIL] = { "tail", "tail", "frame ends before TAIL does" },
	[PW_EEP_E_TRAILING] = { "trailing", "tail", "bytes after TAIL" },
	[PW_EEP_E_NO_L2RH] = { "no_l2rh", "prefix", "no L2RH" },
	[PW_EEP_E_CRC32] = { "crc32", "ot.crc32", "does not match the data block" },
	[PW_EEP_E_CRC64] = { "crc64", "ot.crc64", "does not match the data block" },
};

/**
 * pw_eep_err_field - the field that an error is about
 * @err: enum pw_eep_err
 *
 * Return: its name, as in the JSON form of a message.
 */
const char *pw_eep_err_field(int err)
{
	return err >= 0 && err < PW_EEP_E_NUM ? pw_eep_errs[err].field : "?";
}

/**
 * pw_eep_err_str - what is wrong with that field
 * @err: enum pw_eep_err
 *
 * Return: a few words.
 */
const char *pw_eep_err_str(int err)
{
	return err >= 0 && err < PW_EEP_E_NUM ? pw_eep_errs[err].str : "unknown error";
}

/**
 * pw_eep_err_name - short unique name of an error, for counters
 * @err: enum pw_eep_err
 *
 * Return: lower-case letters, digits and underscores.
 */
const char *pw_eep_err_name(int err)
{
	return err >= 0 && err < PW_EEP_E_NUM ? pw_eep_errs[err].name : "unknown";
}

/**
 * pw_eep_pt_name - name of a packet type
 * @pt: packet type
 *
 * Return: the name, or NULL.
 */
const char *pw_eep_pt_name(u16 pt)
{
	switch (pt) {
	case PW_PT_RRP:		return "RRP";
	case PW_PT_EMBEDDED:	return "EMBEDDED";
	case PW_PT_MEM_READ:	return "MEM_READ";
	case PW_PT_MEM_WRITE:	return "MEM_WRITE";
	case PW_PT_IP:		return "IP";
	case PW_PT_SNMP:	return "SNMP";
	case PW_PT_ATM:		return "ATM";
	case PW_PT_ETHERNET:	return "ETHERNET";
	case PW_PT_VME:		return "VME";
	case PW_PT_ATON:	return "ATON";
	case PW_PT_ESP:		return "ESP";
	case PW_PT_POETS:	return "POETS";
	case PW_PT_ECHO:	return "ECHO";
	case PW_PT_REDUCE:	return "REDUCE";
	case PW_PT_ERR:		return "ERR";
	default:		return NULL;
	}
}

static const char * const pw_te_rrp_names[] = {
	NULL, "GVL2", "L2SR", "RDRC", "TELL", "INFO", "HRTO", "WRU", "GVRT", "RTBL",
};

static const char * const pw_te_err_names[] = {
	NULL, "UNK", "HRDOWN", "LINKDOWN", "GENERAL", "TOOBIG", "BADOPT", "BADL2RH",
};

static const char * const pw_te_echo_names[] = { NULL, "REQUEST", "REPLY" };

static const char * const pw_te_reduce_names[] = { NULL, "ASK", "ANSWER" };

/**
 * pw_eep_te_name - name of a packet type extension
 * @pt: packet type
 * @te: its extension
 *
 * Return: the name, or NULL.
 */
const char *pw_eep_te_name(u16 pt, u16 te)
{
	switch (pt) {
	case PW_PT_RRP:
		return te < ARRAY_SIZE(pw_te_rrp_names) ? pw_te_rrp_names[te] : NULL;
	case PW_PT_ERR:
		return te < ARRAY_SIZE(pw_te_err_names) ? pw_te_err_names[te] : NULL;
	case PW_PT_ECHO:
		return te < ARRAY_SIZE(pw_te_echo_names) ? pw_te_echo_names[te] : NULL;
	case PW_PT_REDUCE:
		return te < ARRAY_SIZE(pw_te_reduce_names) ? pw_te_reduce_names[te] : NULL;
	default:
		return NULL;
	}
}

/**
 * pw_eep_iter_prefix - walk L2RHs and symbols
 * @it: iterator
 * @head: first bytes of the frame; offsets of elements count from here
 * @v: view of the accepted message
 */
void pw_eep_iter_prefix(struct pw_eep_iter *it, const u8 *head, const struct pw_eep_view *v)
{
	pw_eep_iter_init(it, head, 0, v->hdr_off, PW_EEP_L2RH);
}

/**
 * pw_eep_iter_oh - walk optional headers
 * @it: iterator
 * @head: first bytes of the frame; offsets of elements count from here
 * @v: view of the accepted message
 */
void pw_eep_iter_oh(struct pw_eep_iter *it, const u8 *head, const struct pw_eep_view *v)
{
	pw_eep_iter_init(it, head, v->oh_off, v->oh_off + v->oh_len, PW_EEP_OH);
}

/**
 * pw_eep_swap_init - begin a swap over fragments
 * @sw: state
 * @e: E of the message
 */
void pw_eep_swap_init(struct pw_eep_swapper *sw, u8 e)
{
	sw->size = pw_eep_elem_size(e);
	sw->have = 0;
}

/**
 * pw_eep_swap_feed - swap the next fragment in place
 * @sw: state
 * @data: fragment
 * @len: its length
 *
 * An element may begin in one fragment and end in a later one, so fragments
 * must stay mapped until the last one was fed.
 */
void pw_eep_swap_feed(struct pw_eep_swapper *sw, u8 *data, size_t len)
{
	size_t whole;
	u8 i;

	if (sw->size == 1)
		return;
	while (len) {
		if (!sw->have && len >= sw->size) {
			whole = len & ~((size_t)sw->size - 1);
			pw_eep_swap(data, whole, ilog2(sw->size));
			data += whole;
			len -= whole;
			continue;
		}
		sw->at[sw->have++] = data++;
		len--;
		if (sw->have < sw->size)
			continue;
		for (i = 0; i < sw->size / 2; i++)
			swap(*sw->at[i], *sw->at[sw->size - 1 - i]);
		sw->have = 0;
	}
}
