// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as RRP records: nothing is read past the end, what is accepted
 * builds again, and as a routing table it leaves the kept ones well formed.
 */
#include "rrp_table.h"
#include "../user/rrp_gen.h"

#define CHECK(c) do { if (!(c)) abort(); } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pw_rrp_table table[4];
	static u8 nodes[4][512];
	static struct pw_rrp_db db;
	struct pw_rrp_link link = { .from = 1, .peer = true, .q = 1 };
	const struct pw_rrp_table *t;
	struct pw_rrp_route r;
	u8 *out;
	int err;

	if (!db.table) {
		for (int i = 0; i < 4; i++) {
			table[i].nodes = nodes[i];
			table[i].nodes_cap = sizeof(nodes[i]);
		}
		pw_rrp_db_init(&db, 9, 1, table, 4, 2);
	}
	err = pw_rrp_check(data, size);
	CHECK(err >= 0 && err < PW_RRP_E_NUM);
	for (int te = 0; te <= 10; te++) {
		int e = pw_rrp_check_msg(te & 1 ? PW_PT_RRP : PW_PT_ERR, te, data, size);

		CHECK(!err || e == err);
	}
	if (!err) {
		out = malloc(size + 1);
		CHECK(!rgen_broken(data, size, out, false));
		free(out);
	}
	/* the sender that the table claims, so that some are taken */
	if (size >= 48)
		link.from = get_unaligned_be24(data + 45);
	if (pw_rrp_db_receive(&db, &link, data, size, &t) == PW_RRP_TAKEN) {
		CHECK(t->nrcvf <= PW_RRP_MAX_RCVF && t->csr_len <= PW_RRP_MAX_CSR &&
		      t->nodes_len <= t->nodes_cap && t->rcvf[0] == 9);
		CHECK(!pw_rrp_check(t->nodes, t->nodes_len));
		pw_rrp_db_lookup(&db, t->san + 1, &r);
	}
	if (size && data[size - 1] == 0xff)
		pw_rrp_db_hrdown(&db, 0, data[0], 0);
	return 0;
}
