// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as an EEP message: nothing is read past the end (the input is in a
 * block of its exact size), what is accepted is consistent and builds again to
 * the same bytes, and a head of any length never gives another verdict.
 */
#include "eep.h"
#include "../user/eep_gen.h"

#define CHECK(c) do { if (!(c)) abort(); } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pw_eep_view v, part;
	struct pw_eep_swapper sw;
	struct pw_eep_hop hop;
	size_t cut;
	u32 need;
	u8 *copy;
	int err, e2;

	err = pw_eep_parse(data, size, &v);
	CHECK(err >= 0 && err < PW_EEP_E_NUM);
	CHECK(!err || *pw_eep_err_field(err));

	/* the short parser and the general one agree, and it takes all messages that are plain */
	CHECK(plain_agrees(data, size, err, &v));

	cut = size ? data[0] * size / 256 : 0;
	copy = malloc(cut ? cut : 1);
	memcpy(copy, data, cut);
	e2 = pw_eep_parse_head(copy, cut, size, &part);
	CHECK(e2 != -EAGAIN || (part.need > cut && part.need <= size));
	if (e2 >= 0) {
		struct pw_eep_view all;

		CHECK(pw_eep_parse_head(data, size, size, &all) == e2);
	}
	e2 = pw_eep_consume_l2rh(copy, cut, size, &hop);
	CHECK(e2 != -EAGAIN || (hop.need > cut && hop.need <= size));
	CHECK(e2 || (hop.consumed <= cut && hop.route_off + hop.route_len <= hop.consumed));
	e2 = pw_eep_consume_symbols(copy, cut, size, &hop);
	CHECK(e2 || hop.consumed <= cut);
	e2 = pw_eep_find_header(copy, cut, size, 0, &need);
	CHECK(e2 != -EAGAIN || (need > cut && need <= size));
	CHECK(e2 < 0 || (size_t)e2 + PW_EEP_HDR_LEN <= cut);
	free(copy);

	if (!err) {
		copy = malloc(size);
		memcpy(copy, data, size);
		CHECK(!view_broken(copy, size, &v));
		if (v.hoptrace_off)
			pw_eep_hoptrace_append(copy + v.hoptrace_off, v.hoptrace_len, 0x1234);
		pw_eep_swap(copy + v.db_off, v.data_len, v.e);
		pw_eep_swap_init(&sw, v.e);
		pw_eep_swap_feed(&sw, copy + v.db_off, v.data_len / 3);
		pw_eep_swap_feed(&sw, copy + v.db_off + v.data_len / 3, v.data_len - v.data_len / 3);
		CHECK(!memcmp(copy + v.db_off, data + v.db_off, v.data_len));
		free(copy);
	}
	return 0;
}
