// SPDX-License-Identifier: GPL-2.0
/* ESP: every row of the instruction table, the store, the packet, the bits. */
#include "tap.h"
#include "esp.h"

#define LIFE 10000ULL
#define NODE 0xA0DEULL
#define NONE 0xdeadULL		/* what have() returns for a tag that is not there */

static const siphash_key_t key = { { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL } };
static struct pw_esp_store st;
static void *mem;

static void fresh(u32 capacity)
{
	size_t n = pw_esp_store_bytes(capacity);

	free(mem);
	mem = malloc(n);
	if (pw_esp_store_init(&st, mem, n, capacity, LIFE, &key))
		abort();
}

static u64 have(u64 now, u64 tag)
{
	u64 v;

	return pw_esp_store_get(&st, now, tag, &v) ? v : NONE;
}

static struct pw_esp_insn in;
static struct pw_esp_result res;

/* a copy of everything live, to see whether an abort left a trace */
static struct snap {
	u32 n;
	u64 row[64][3];
} before;

static void snapshot(struct snap *s, u64 now)
{
	for (s->n = 0; s->n < 64; s->n++)
		if (!pw_esp_store_peek(&st, now, s->n, &s->row[s->n][0], &s->row[s->n][1],
				       &s->row[s->n][2]))
			break;
}

static bool untouched(u64 now)
{
	struct snap s;

	snapshot(&s, now);
	return s.n == before.n && !memcmp(s.row, before.row, s.n * sizeof(s.row[0]));
}

static enum pw_esp_verdict run(u64 now)
{
	snapshot(&before, now);
	return pw_esp_exec(&st, NODE, now, &in, &res);
}

static enum pw_esp_verdict count(u64 now, u64 tag, u64 thresh)
{
	in = (struct pw_esp_insn){ .opcode = PW_ESP_COUNT };
	in.f[PW_ESP_F_TAG] = tag;
	in.f[PW_ESP_F_THRESH] = thresh;
	return run(now);
}

static enum pw_esp_verdict cmp(u64 now, u64 tag, u8 op, u64 val)
{
	in = (struct pw_esp_insn){ .opcode = PW_ESP_COMPARE, .op = op };
	in.f[PW_ESP_F_TAG] = tag;
	in.f[PW_ESP_F_VAL] = val;
	return run(now);
}

static enum pw_esp_verdict collect(u64 now, u64 val_tag, u64 cnt_tag, u8 op, u64 val)
{
	in = (struct pw_esp_insn){ .opcode = PW_ESP_COLLECT, .op = op };
	in.f[PW_ESP_F_VAL_TAG] = val_tag;
	in.f[PW_ESP_F_CNT_TAG] = cnt_tag;
	in.f[PW_ESP_F_VAL] = val;
	return run(now);
}

static enum pw_esp_verdict rchld(u64 now, u64 sib, u64 fwd, u64 thresh, u64 id)
{
	in = (struct pw_esp_insn){ .opcode = PW_ESP_RCHLD };
	in.f[PW_ESP_F_SIB_TAG] = sib;
	in.f[PW_ESP_F_FWD_TAG] = fwd;
	in.f[PW_ESP_F_FWD_THRESH] = thresh;
	in.f[PW_ESP_F_PKT_ID] = id;
	return run(now);
}

static enum pw_esp_verdict rcollect(u64 now, u64 sib, u64 fwd, u64 thresh, u64 comp, u8 op,
				    u64 val, u64 id)
{
	in = (struct pw_esp_insn){ .opcode = PW_ESP_RCOLLECT, .op = op };
	in.f[PW_ESP_F_SIB_TAG] = sib;
	in.f[PW_ESP_F_FWD_TAG] = fwd;
	in.f[PW_ESP_F_FWD_THRESH] = thresh;
	in.f[PW_ESP_F_COMP_TAG] = comp;
	in.f[PW_ESP_F_VAL] = val;
	in.f[PW_ESP_F_PKT_ID] = id;
	return run(now);
}

static void test_store(void)
{
	unsigned long long seed = 5;
	u64 tag, val, left;
	struct pw_esp_store big;
	u32 i, longest = 0, n;
	void *mem2;

	/* SipHash-2-4 known answers, key 00..0f, message 00.. of 8 and 16 bytes */
	ok(siphash_1u64(0x0706050403020100ULL, &key) == 0x93f5f5799a932462ULL,
	   "siphash of 8 bytes is the published one");
	ok(siphash_2u64(0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL, &key) ==
	   0x3f2acc7f57c29bdbULL, "siphash of 16 bytes is the published one");

	is(pw_esp_store_bytes(0), 0, "capacity 0 is refused");
	is(pw_esp_store_bytes(PW_ESP_CAPACITY_MAX + 1), 0, "capacity above the maximum is refused");
	fresh(3);
	ok(pw_esp_store_init(&st, mem, pw_esp_store_bytes(3) - 1, 3, LIFE, &key) == -EINVAL,
	   "too little memory is refused");
	ok(pw_esp_store_init(&st, mem, pw_esp_store_bytes(3), 3, 0, &key) == -EINVAL,
	   "lifetime 0 is refused");
	ok(pw_esp_store_init(&st, (char *)mem + 4, pw_esp_store_bytes(2), 2, LIFE, &key) == -EINVAL,
	   "misaligned memory is refused");

	fresh(3);
	ok(pw_esp_store_next_expiry(&st) == U64_MAX, "an empty store never expires");
	ok(have(0, 7) == NONE, "a tag that was not put is not there");
	ok(!pw_esp_store_put(&st, 100, 7, 70) && have(100, 7) == 70, "put, get");
	ok(pw_esp_store_next_expiry(&st) == 100 + LIFE, "the next expiry is known");
	ok(!pw_esp_store_put(&st, 9000, 7, 71) && have(9000, 7) == 71, "put replaces");
	ok(have(100 + LIFE - 1, 7) == 71, "there one unit before its lifetime is over");
	ok(have(100 + LIFE, 7) == NONE,
	   "gone at exactly its lifetime; replacing did not extend it");
	ok(pw_esp_store_next_expiry(&st) == U64_MAX, "and given back");
	ok(!pw_esp_store_put(&st, 100 + LIFE, 7, 72) && have(100 + LIFE, 7) == 72,
	   "the same tag may be put again at once");
	ok(have(100 + 2 * LIFE - 1, 7) == 72 && have(100 + 2 * LIFE, 7) == NONE,
	   "and has a whole lifetime");
	fresh(3);
	pw_esp_store_put(&st, 500, 1, 1);
	ok(have(0, 1) == 1 && !pw_esp_store_put(&st, 3, 2, 2) && have(500 + LIFE - 1, 2) == 2 &&
	   have(500 + LIFE, 2) == NONE, "time that goes back counts as the latest time seen");

	fresh(3);
	for (i = 0; i < 3; i++)
		pw_esp_store_put(&st, i, i, i);
	is(pw_esp_store_put(&st, LIFE - 1, 3, 3), -ENOSPC, "a full store refuses a new tag");
	ok(have(5, 0) == 0 && have(5, 1) == 1 && have(5, 2) == 2 && have(5, 3) == NONE,
	   "and evicts nothing");
	is(pw_esp_store_put(&st, LIFE - 1, 1, 11), 0, "a full store takes a new value");
	is(pw_esp_store_live(&st, LIFE - 1), 3, "3 live");
	is(pw_esp_store_put(&st, LIFE, 3, 3), 0, "there is room the moment the oldest expires");
	ok(have(LIFE, 0) == NONE && have(LIFE, 1) == 11 && have(LIFE, 3) == 3, "the rest stays");
	is(pw_esp_store_live(&st, LIFE), 3, "3 live again");
	ok(pw_esp_store_peek(&st, LIFE, 0, &tag, &val, &left) && tag == 1 && val == 11 && left == 1,
	   "the oldest is listed first, with the time it has left");
	ok(!pw_esp_store_peek(&st, LIFE, 3, &tag, &val, &left), "no fourth one");
	is(pw_esp_store_live(&st, LIFE + 2), 1, "1 live two units later, without giving back");
	ok(pw_esp_store_last_expiry(&st) == 2 * LIFE, "all is gone at the end of the youngest");
	is(pw_esp_store_reap(&st, 2 * LIFE, 10), 3, "all given back");
	is(pw_esp_store_reap(&st, 2 * LIFE, 10), 0, "nothing left to give back");

	/* same tag over and over while the backlog of expired bindings is long */
	fresh(4096);
	for (i = 0; i < 4000; i++)
		pw_esp_store_put(&st, 0, 1000000 + i, i);
	for (i = 1, n = 0; i < 100; i++)
		n += pw_esp_store_put(&st, i * LIFE, 42, i) || have(i * LIFE, 42) != i;
	is(n, 0, "a tag reborn 99 times in front of a backlog always fits and is right");

	fresh(16);
	for (i = 0; i < 16; i++)
		pw_esp_store_put(&st, i, i, i);
	pw_esp_store_set_lifetime(&st, 20, 5);
	ok(have(20, 15) == NONE && pw_esp_store_live(&st, 20) == 0,
	   "a shorter lifetime holds for what exists");
	fresh(16);
	pw_esp_store_put(&st, 0, 1, 1);
	pw_esp_store_put(&st, LIFE - 1, 2, 2);
	pw_esp_store_set_lifetime(&st, LIFE, 100 * LIFE);
	ok(have(LIFE, 1) == NONE && have(50 * LIFE, 2) == 2,
	   "a longer lifetime does not bring back what has expired");
	pw_esp_store_set_lifetime(&st, 50 * LIFE, 200 * LIFE);
	pw_esp_store_set_lifetime(&st, 50 * LIFE, 10 * LIFE);
	pw_esp_store_set_lifetime(&st, 50 * LIFE, 200 * LIFE);
	ok(have(50 * LIFE, 1) == NONE && have(50 * LIFE, 2) == NONE &&
	   pw_esp_store_live(&st, 50 * LIFE) == 0,
	   "nor does one that follows a shorter one");
	fresh(4096);
	for (i = 0; i < 4096; i++)
		pw_esp_store_put(&st, 0, i, i);
	pw_esp_store_set_lifetime(&st, LIFE, 100 * LIFE);
	ok(st.used == 4096 && pw_esp_store_live(&st, LIFE) == 0 && have(LIFE, 4095) == NONE,
	   "it takes no time for each binding that has expired");
	for (i = 0, n = 0; i < 4096; i++)
		n += pw_esp_store_put(&st, LIFE, i, i + 1) || have(LIFE, i) != i + 1;
	is(n, 0, "the places of those are used again");

	fresh(16);
	for (i = 0; i < 16; i++)
		pw_esp_store_put(&st, i * 10, i, 100 + i);
	mem2 = malloc(pw_esp_store_bytes(64));
	pw_esp_store_init(&big, mem2, pw_esp_store_bytes(64), 64, 1, &(siphash_key_t){ { 1, 2 } });
	ok(!pw_esp_store_copy(&big, &st, LIFE), "copied into a larger store with another key");
	ok(pw_esp_store_live(&big, LIFE) == 15 && !pw_esp_store_get(&big, LIFE, 0, &val) &&
	   pw_esp_store_get(&big, LIFE + 9, 1, &val) && val == 101 &&
	   !pw_esp_store_get(&big, LIFE + 10, 1, &val), "bindings keep value and age");
	pw_esp_store_init(&big, mem2, pw_esp_store_bytes(8), 8, LIFE, &key);
	ok(pw_esp_store_copy(&big, &st, LIFE) == -ENOSPC && !pw_esp_store_live(&big, LIFE),
	   "a smaller store refuses, and is empty");
	free(mem2);

	/* sequential, shifted and random tags: chains stay short */
	for (n = 0; n < 3; n++) {
		u32 bad = 0;

		fresh(1 << 16);
		for (i = 0; i < 1 << 16; i++) {
			tag = n == 0 ? i : n == 1 ? (u64)i << 48 : tap_rand(&seed);
			bad += !!pw_esp_store_put(&st, 1, tag, i);
		}
		for (i = 0; i <= st.mask; i++) {
			u32 depth = 0;

			for (u32 b = st.bucket[i]; b != U32_MAX; b = pw_esp_at(&st, b)->next)
				depth++;
			longest = max(longest, depth);
		}
		is(bad, 0, "65536 %s tags fit into a store of 65536",
		   n == 0 ? "sequential" : n == 1 ? "shifted" : "random");
	}
	ok(longest <= 14, "longest chain is %u", longest);

	/* who knows the key can make a chain long: it ends at the bound */
	fresh(1 << 16);
	for (tag = 0, n = 0; n < PW_ESP_PROBE_MAX; tag++)
		if (!((u32)siphash_1u64(tag, &key) & 0xffff)) {
			n++;
			pw_esp_store_put(&st, 0, tag, tag);
		}
	is(pw_esp_store_live(&st, 0), PW_ESP_PROBE_MAX, "a chain takes as many as the bound");
	while ((u32)siphash_1u64(tag, &key) & 0xffff)
		tag++;
	is(pw_esp_store_put(&st, 0, tag, 0), -ENOSPC, "and no more");
	ok(count(0, tag, 9) == PW_ESP_V_ABORT && res.reason == PW_ESP_R_FULL && untouched(0),
	   "an instruction aborts on it");
	is(pw_esp_store_put(&st, LIFE, tag, 0), 0, "until they expire");

	/* room for one more in that chain, and an instruction with two new tags for it */
	fresh(1 << 16);
	for (tag = 0, n = 0; n < PW_ESP_PROBE_MAX - 1; tag++)
		if (!((u32)siphash_1u64(tag, &key) & 0xffff)) {
			n++;
			pw_esp_store_put(&st, 0, tag, tag);
		}
	while ((u32)siphash_1u64(tag, &key) & 0xffff)
		tag++;
	for (val = tag + 1; (u32)siphash_1u64(val, &key) & 0xffff; val++)
		;
	ok(rchld(0, tag, val, 9, 1) == PW_ESP_V_ABORT && res.reason == PW_ESP_R_FULL &&
	   untouched(0), "two new tags for one place in a chain: abort without a trace");
	ok(rchld(0, tag, tag, 9, 1) == PW_ESP_V_FORWARD, "one new tag takes it");
}

static void test_count(void)
{
	fresh(2);
	ok(count(0, 1, 2) == PW_ESP_V_FORWARD && have(0, 1) == 1, "COUNT: first of 2, value 1");
	ok(count(1, 1, 2) == PW_ESP_V_FORWARD && have(1, 1) == 2, "COUNT: second of 2");
	ok(count(2, 1, 2) == PW_ESP_V_DISCARD && have(2, 1) == 3,
	   "COUNT: third is counted, discarded");
	ok(count(LIFE - 1, 1, 2) == PW_ESP_V_DISCARD, "COUNT: still counted at lifetime - 1");
	ok(count(LIFE, 1, 2) == PW_ESP_V_FORWARD && have(LIFE, 1) == 1,
	   "COUNT: starts again at exactly the lifetime");
	ok(count(LIFE, 2, 0) == PW_ESP_V_DISCARD && have(LIFE, 2) == 1,
	   "COUNT: threshold 0 forwards none");
	ok(!res.changed, "COUNT changes no operand");
	ok(count(LIFE, 3, 9) == PW_ESP_V_ABORT && res.reason == PW_ESP_R_FULL && untouched(LIFE),
	   "COUNT: a full store aborts and is left alone");
	ok(count(LIFE, 2, 9) == PW_ESP_V_FORWARD, "COUNT: a full store still counts what it has");
	pw_esp_store_put(&st, LIFE, 1, U64_MAX - 1);
	ok(count(LIFE, 1, U64_MAX) == PW_ESP_V_FORWARD && have(LIFE, 1) == U64_MAX,
	   "COUNT: the largest threshold is reached");
	ok(count(LIFE, 1, 0) == PW_ESP_V_FORWARD && have(LIFE, 1) == 0,
	   "COUNT: the counter wraps to 0");
}

static void test_compare(void)
{
	static const struct {
		u8 op;
		const char *name;
		bool less, equal, more;	/* stored below, equal to, above carried */
	} t[] = {
		{ PW_ESP_REL_LT, "<", 1, 0, 0 }, { PW_ESP_REL_LE, "<=", 1, 1, 0 },
		{ PW_ESP_REL_EQ, "==", 0, 1, 0 }, { PW_ESP_REL_NE, "!=", 1, 0, 1 },
		{ PW_ESP_REL_GE, ">=", 0, 1, 1 }, { PW_ESP_REL_GT, ">", 0, 0, 1 },
	};

	for (int i = 0; i < ARRAY_SIZE(t); i++)
		for (int rel = -1; rel <= 1; rel++) {
			u64 carried = 1ULL << 63, stored = carried + rel;
			bool want = rel < 0 ? t[i].less : rel ? t[i].more : t[i].equal;

			fresh(4);
			pw_esp_store_put(&st, 0, 5, stored);
			ok(cmp(1, 5, t[i].op, carried) ==
			   (want ? PW_ESP_V_FORWARD : PW_ESP_V_DISCARD) &&
			   have(1, 5) == (want ? carried : stored) && !res.changed,
			   "COMPARE %s: stored %s carried: %s", t[i].name,
			   rel < 0 ? "below" : rel ? "above" : "equal to",
			   want ? "put and forward" : "left and discard");
			if (!rel)
				ok(cmp(1, 6, t[i].op, 9) == PW_ESP_V_FORWARD && have(1, 6) == 9,
				   "COMPARE %s: nothing stored: put and forward", t[i].name);
		}
	fresh(1);
	cmp(0, 1, PW_ESP_REL_LT, 5);
	ok(cmp(5, 1, PW_ESP_REL_LT, 6) == PW_ESP_V_FORWARD && have(LIFE - 1, 1) == 6 &&
	   cmp(LIFE, 1, PW_ESP_REL_LT, 1) == PW_ESP_V_FORWARD && have(LIFE, 1) == 1,
	   "COMPARE: replacing does not extend; none at exactly the lifetime");
	ok(cmp(LIFE, 2, PW_ESP_REL_LT, 1) == PW_ESP_V_ABORT && res.reason == PW_ESP_R_FULL &&
	   untouched(LIFE), "COMPARE: a full store aborts");
	ok(cmp(LIFE, 1, PW_ESP_REL_GT, 1) == PW_ESP_V_DISCARD && untouched(LIFE),
	   "COMPARE: discard changes nothing");
}

static void test_collect(void)
{
	static const struct {
		u8 op;
		const char *name;
		u64 want;	/* of 12, 10 */
	} t[] = {
		{ PW_ESP_OP_ADD, "ADD", 22 }, { PW_ESP_OP_AND, "AND", 8 },
		{ PW_ESP_OP_OR, "OR", 14 }, { PW_ESP_OP_MAX, "MAX", 12 },
		{ PW_ESP_OP_MIN, "MIN", 10 }, { PW_ESP_OP_XOR, "XOR", 6 },
	};

	for (int i = 0; i < ARRAY_SIZE(t); i++) {
		fresh(4);
		pw_esp_store_put(&st, 0, 2, 2);
		ok(collect(0, 1, 2, t[i].op, 12) == PW_ESP_V_DISCARD && have(0, 1) == 12 &&
		   have(0, 2) == 1 && in.f[PW_ESP_F_VAL] == 12 && !res.changed,
		   "COLLECT %s: first of two", t[i].name);
		ok(collect(0, 1, 2, t[i].op, 10) == PW_ESP_V_FORWARD && have(0, 1) == t[i].want &&
		   have(0, 2) == 0 && in.f[PW_ESP_F_VAL] == t[i].want &&
		   res.changed == BIT(PW_ESP_F_VAL), "COLLECT %s: last of two carries the result",
		   t[i].name);
		fresh(8);
		ok(rchld(0, 1, 2, 9, 100) == PW_ESP_V_FORWARD &&
		   rchld(0, 1, 2, 9, 101) == PW_ESP_V_FORWARD &&
		   rcollect(0, 1, 3, 1, 4, t[i].op, 12, 101) == PW_ESP_V_DISCARD &&
		   rcollect(0, 1, 3, 1, 4, t[i].op, 10, 100) == PW_ESP_V_FORWARD &&
		   in.f[PW_ESP_F_VAL] == t[i].want, "RCOLLECT %s: two children", t[i].name);
	}
	fresh(2);
	ok(collect(0, 1, 2, PW_ESP_OP_ADD, 1) == PW_ESP_V_ABORT && res.reason == PW_ESP_R_STATE &&
	   untouched(0) && have(0, 1) == NONE, "COLLECT: no count: abort without a trace");
	pw_esp_store_put(&st, 0, 1, 40);
	ok(collect(0, 1, 2, PW_ESP_OP_ADD, 1) == PW_ESP_V_ABORT && have(0, 1) == 40,
	   "COLLECT: no count: a value that exists stays");
	fresh(2);
	pw_esp_store_put(&st, 0, 2, 1);
	pw_esp_store_put(&st, 0, 3, 1);
	ok(collect(0, 1, 2, PW_ESP_OP_ADD, 1) == PW_ESP_V_ABORT && res.reason == PW_ESP_R_FULL &&
	   untouched(0) && have(0, 2) == 1, "COLLECT: no room for the value: the count stays");
	fresh(2);
	pw_esp_store_put(&st, 0, 2, 1);
	collect(0, 1, 2, PW_ESP_OP_ADD, 5);
	ok(collect(0, 1, 2, PW_ESP_OP_ADD, 5) == PW_ESP_V_DISCARD && have(0, 2) == U64_MAX &&
	   have(0, 1) == 10, "COLLECT: count already 0 wraps: discard");
	fresh(4);
	pw_esp_store_put(&st, 0, 2, 2);
	collect(5, 1, 2, PW_ESP_OP_ADD, 5);
	ok(collect(LIFE, 1, 2, PW_ESP_OP_ADD, 5) == PW_ESP_V_ABORT && have(LIFE, 1) == 5,
	   "COLLECT: count expired at exactly its lifetime: abort");
	fresh(4);
	pw_esp_store_put(&st, 0, 1, 3);
	ok(collect(0, 1, 1, PW_ESP_OP_ADD, 5) == PW_ESP_V_DISCARD && have(0, 1) == 7,
	   "COLLECT: valTag = cntTag: as if step by step");
	pw_esp_store_put(&st, 0, 1, U64_MAX);
	ok(collect(0, 1, 1, PW_ESP_OP_ADD, 2) == PW_ESP_V_FORWARD && have(0, 1) == 0 &&
	   in.f[PW_ESP_F_VAL] == 1, "COLLECT: sums are modulo 2^64");
}

/* values of the node: read, reduced and named, never stored; all else is aborted */
static void test_facts(void)
{
	const u64 facts[PW_ESP_FACTS] = { 7, 8000000000ULL, 1500, U64_MAX, 448 };
	const u64 rate = PW_ESP_TAG_NODE | PW_ESP_TAG_RATE;
	const u64 mtu = PW_ESP_TAG_NODE | PW_ESP_TAG_MTU;
	u8 p[PW_ESP_LEN_MAX];
	size_t n;

	fresh(8);
	pw_esp_store_put(&st, 0, rate, 5);
	ok(cmp(0, rate, PW_ESP_REL_EQ, 5) == PW_ESP_V_FORWARD,
	   "a node without values: a tag like others");
	fresh(8);
	st.facts = facts;
	ok(cmp(0, rate, PW_ESP_REL_GT, 1) == PW_ESP_V_FORWARD && untouched(0) && !res.changed,
	   "COMPARE: true of the node's rate: forward, nothing stored");
	ok(cmp(0, rate, PW_ESP_REL_LT, 1) == PW_ESP_V_DISCARD && untouched(0),
	   "COMPARE: not true: discard");
	pw_esp_store_put(&st, 0, 2, 3);
	ok(collect(0, mtu, 2, PW_ESP_OP_MIN, 9000) == PW_ESP_V_DISCARD && have(0, 2) == 2 &&
	   have(0, mtu) == NONE, "COLLECT: counts, and stores no value");
	collect(0, mtu, 2, PW_ESP_OP_MIN, 9000);
	ok(collect(0, mtu, 2, PW_ESP_OP_MIN, 9000) == PW_ESP_V_FORWARD &&
	   in.f[PW_ESP_F_VAL] == 1500 && res.changed == BIT(PW_ESP_F_VAL),
	   "COLLECT: the node's MTU with that of the packet");
	pw_esp_store_put(&st, 0, 3, 1);
	ok(collect(0, mtu | PW_ESP_TAG_NAMED, 3, PW_ESP_OP_MAX, 0) == PW_ESP_V_FORWARD &&
	   in.f[PW_ESP_F_VAL] == (1500ULL << 24 | NODE), "COLLECT: with the node's address");
	pw_esp_store_put(&st, 0, 4, 1);
	ok(collect(0, PW_ESP_TAG_NODE | PW_ESP_TAG_NAMED | PW_ESP_TAG_TIME, 4, PW_ESP_OP_MAX, 0) ==
	   PW_ESP_V_FORWARD && in.f[PW_ESP_F_VAL] == ((BIT_ULL(40) - 1) << 24 | NODE),
	   "COLLECT: a value of more than 40 bits is the largest");
	pw_esp_store_put(&st, 0, 5, 1);
	ok(collect(0, PW_ESP_TAG_NODE | PW_ESP_TAG_BYTES, 5, PW_ESP_OP_MAX, 0) ==
	   PW_ESP_V_FORWARD && in.f[PW_ESP_F_VAL] == 448, "COLLECT: the last one that is known");
#define REFUSED(what) ((what) == PW_ESP_V_ABORT && res.reason == PW_ESP_R_READONLY && untouched(0))
	ok(REFUSED(count(0, rate, 5)), "COUNT writes: refused");
	ok(REFUSED(collect(0, 1, rate, PW_ESP_OP_ADD, 5)), "a count of COLLECT: refused");
	ok(REFUSED(rchld(0, rate, 1, 5, 6)) && REFUSED(rchld(0, 1, rate, 5, 6)), "RCHLD: refused");
	ok(REFUSED(rcollect(0, 1, 2, 5, rate, PW_ESP_OP_ADD, 5, 6)) &&
	   REFUSED(rcollect(0, rate, 2, 5, 1, PW_ESP_OP_ADD, 5, 6)) &&
	   REFUSED(rcollect(0, 1, rate, 5, 2, PW_ESP_OP_ADD, 5, 6)), "RCOLLECT: refused");
	ok(REFUSED(cmp(0, PW_ESP_TAG_NODE, PW_ESP_REL_EQ, 5)) &&
	   REFUSED(cmp(0, PW_ESP_TAG_NODE + PW_ESP_FACTS + 1, PW_ESP_REL_EQ, 5)) &&
	   REFUSED(cmp(0, U64_MAX, PW_ESP_REL_EQ, 5)), "values that are not known: refused");
#undef REFUSED
	in = (struct pw_esp_insn){ .opcode = PW_ESP_COMPARE, .op = PW_ESP_REL_EQ };
	n = pw_esp_build(p, sizeof(p), &in);
	ok(!pw_esp_names_node(p, n), "a packet without such tags");
	in.f[PW_ESP_F_TAG] = PW_ESP_TAG_NODE;
	n = pw_esp_build(p, sizeof(p), &in);
	ok(pw_esp_names_node(p, n) && !pw_esp_names_node(p, n - 9), "and with one");
}

static void test_rchld(void)
{
	u64 m;

	fresh(8);
	m = pw_esp_mark_tag(&st, 1, 100);
	ok(rchld(0, 1, 2, 1, 100) == PW_ESP_V_FORWARD && have(0, 1) == 1 && have(0, 2) == 1 &&
	   have(0, m) == 1, "RCHLD: first child: marked, counted, forwarded");
	ok(in.f[PW_ESP_F_PKT_ID] == NODE && res.changed == BIT(PW_ESP_F_PKT_ID),
	   "RCHLD: pktId becomes the node id");
	ok(have(0, 100) == NONE, "RCHLD: pktId itself is not a tag");
	ok(rchld(0, 1, 2, 1, 100) == PW_ESP_V_DISCARD && have(0, 1) == 1 && have(0, 2) == 2,
	   "RCHLD: duplicate is no second sibling; over the threshold it is discarded");
	ok(in.f[PW_ESP_F_PKT_ID] == 100, "RCHLD: pktId of a discarded packet stays");
	ok(rchld(0, 1, 2, 3, 101) == PW_ESP_V_FORWARD && have(0, 1) == 2 && have(0, 2) == 3,
	   "RCHLD: second child");
	ok(rchld(0, 1, 2, 9, 100) == PW_ESP_V_FORWARD && have(0, 1) == 2,
	   "RCHLD: a duplicate below the threshold is forwarded, not counted");
	ok(rchld(0, 11, 12, 1, 100) == PW_ESP_V_FORWARD && have(0, 11) == 1,
	   "RCHLD: another computation with the same pktId does not interfere");
	ok(rchld(1, 21, 22, 1, 5) == PW_ESP_V_ABORT && res.reason == PW_ESP_R_FULL &&
	   untouched(1) &&
	   in.f[PW_ESP_F_PKT_ID] == 5, "RCHLD: 1 place for 3 bindings: abort without a trace");
	ok(rchld(LIFE, 1, 2, 1, 100) == PW_ESP_V_FORWARD && have(LIFE, 1) == 1,
	   "RCHLD: all is new at exactly the lifetime");
	fresh(8);
	rchld(0, 1, 2, 9, 100);
	rcollect(0, 1, 3, 1, 4, PW_ESP_OP_ADD, 7, 100);
	ok(rchld(0, 1, 2, 9, 100) == PW_ESP_V_FORWARD && have(0, 1) == 0 && have(0, m) == 0,
	   "RCHLD: a late duplicate after the reduction is not counted again");
	fresh(8);
	ok(rchld(0, 1, 1, 9, 100) == PW_ESP_V_FORWARD && have(0, 1) == 2,
	   "RCHLD: sibTag = fwdTag: as if step by step");
	fresh(8);
	ok(rchld(0, 1, 2, 0, 100) == PW_ESP_V_DISCARD && have(0, 1) == 1, "RCHLD: threshold 0");
}

static void test_rcollect(void)
{
	u64 m;

	fresh(8);
	m = pw_esp_mark_tag(&st, 1, 100);
	ok(rcollect(0, 1, 3, 1, 4, PW_ESP_OP_ADD, 7, 100) == PW_ESP_V_ABORT &&
	   res.reason == PW_ESP_R_STATE && untouched(0), "RCOLLECT: nothing there: abort");
	pw_esp_store_put(&st, 0, 1, 1);
	ok(rcollect(0, 1, 3, 1, 4, PW_ESP_OP_ADD, 7, 100) == PW_ESP_V_ABORT && untouched(0),
	   "RCOLLECT: pktId unseen: abort without a trace");
	fresh(8);
	pw_esp_store_put(&st, 0, m, 1);
	ok(rcollect(0, 1, 3, 1, 4, PW_ESP_OP_ADD, 7, 100) == PW_ESP_V_ABORT && untouched(0),
	   "RCOLLECT: no siblings: abort without a trace");

	fresh(8);
	rchld(0, 1, 2, 9, 100);
	rchld(0, 1, 2, 9, 101);
	ok(rcollect(1, 1, 3, 2, 4, PW_ESP_OP_ADD, 7, 100) == PW_ESP_V_DISCARD && have(1, 4) == 7 &&
	   have(1, 1) == 1 && have(1, m) == 0 && have(1, 3) == NONE && !res.changed,
	   "RCOLLECT: first of two children: mark 0, siblings 1, total 7");
	ok(rcollect(1, 1, 3, 2, 4, PW_ESP_OP_ADD, 7, 100) == PW_ESP_V_DISCARD && untouched(1),
	   "RCOLLECT: its duplicate changes nothing");
	ok(rcollect(1, 1, 3, 2, 4, PW_ESP_OP_ADD, 8, 101) == PW_ESP_V_FORWARD && have(1, 4) == 15 &&
	   have(1, 1) == 0 && have(1, 3) == 1 && in.f[PW_ESP_F_VAL] == 15 &&
	   in.f[PW_ESP_F_PKT_ID] == NODE &&
	   res.changed == (BIT(PW_ESP_F_VAL) | BIT(PW_ESP_F_PKT_ID)),
	   "RCOLLECT: last child: forwarded with total and node id");
	ok(rcollect(1, 1, 3, 2, 4, PW_ESP_OP_ADD, 7, 100) == PW_ESP_V_FORWARD &&
	   in.f[PW_ESP_F_VAL] == 15 && have(1, 4) == 15 && have(1, 3) == 2,
	   "RCOLLECT: a late duplicate repeats the total while below the threshold");
	ok(rcollect(1, 1, 3, 2, 4, PW_ESP_OP_ADD, 7, 101) == PW_ESP_V_DISCARD && have(1, 3) == 3 &&
	   in.f[PW_ESP_F_VAL] == 7, "RCOLLECT: and is discarded above it");
	ok(rcollect(LIFE, 1, 3, 9, 4, PW_ESP_OP_ADD, 7, 101) == PW_ESP_V_ABORT && untouched(LIFE),
	   "RCOLLECT: siblings expired at exactly their lifetime: abort");

	fresh(4);
	rchld(0, 1, 2, 9, 100);
	pw_esp_store_put(&st, 0, 50, 1);
	ok(rcollect(0, 1, 3, 1, 4, PW_ESP_OP_ADD, 7, 100) == PW_ESP_V_ABORT &&
	   res.reason == PW_ESP_R_FULL && untouched(0) && have(0, m) == 1 && have(0, 1) == 1,
	   "RCOLLECT: no room for total and forwarded: abort without a trace");
	fresh(5);
	rchld(0, 1, 2, 9, 100);
	pw_esp_store_put(&st, 0, 50, 1);
	ok(rcollect(0, 1, 3, 1, 4, PW_ESP_OP_ADD, 7, 100) == PW_ESP_V_ABORT && untouched(0),
	   "RCOLLECT: room for one of two: abort without a trace");
	fresh(8);
	rchld(0, 1, 2, 9, 100);
	pw_esp_store_put(&st, 0, 1, 0);
	ok(rcollect(0, 1, 3, 1, 4, PW_ESP_OP_ADD, 7, 100) == PW_ESP_V_DISCARD &&
	   have(0, 1) == U64_MAX, "RCOLLECT: siblings already 0 wrap: discard");
	fresh(8);
	pw_esp_store_put(&st, 0, m, 0);
	pw_esp_store_put(&st, 0, 1, 0);
	ok(rcollect(0, 1, 3, 1, 4, PW_ESP_OP_ADD, 7, 100) == PW_ESP_V_ABORT && untouched(0),
	   "RCOLLECT: complete but no total: abort without a trace");
}

static void test_packet(void)
{
	static const u8 wire[] = {	/* COLLECT, MIN, routers, execute and reflect */
		0x19, 3, 0, 7, 0, 0, 0, 5,
		1, 2, 3, 4, 5, 6, 7, 8,  0, 0, 0, 0, 0, 0, 0, 9,  0xff, 0, 0, 0, 0, 0, 0, 0xa,
	};
	static const u8 lengths[] = { 0, 5, 5, 7, 9, 13 };
	struct pw_esp_insn a, b;
	u8 buf[PW_ESP_LEN_MAX + 8], again[PW_ESP_LEN_MAX];
	unsigned long long seed = 9;
	size_t n;

	ok(pw_esp_parse(wire, sizeof(wire), &a) == PW_ESP_R_OK && a.ctl == 0x19 &&
	   a.opcode == PW_ESP_COLLECT && a.op == PW_ESP_OP_MIN &&
	   a.f[PW_ESP_F_VAL_TAG] == 0x0102030405060708ULL && a.f[PW_ESP_F_CNT_TAG] == 9 &&
	   a.f[PW_ESP_F_VAL] == 0xff0000000000000aULL, "packet layout: parse");
	ok(pw_esp_build(buf, sizeof(buf), &a) == sizeof(wire) && !memcmp(buf, wire, sizeof(wire)),
	   "packet layout: build");
	for (u8 opc = PW_ESP_COUNT; opc <= PW_ESP_RCOLLECT; opc++) {
		const struct pw_esp_desc *d = &pw_esp_desc[opc];
		bool cut = true;

		a = (struct pw_esp_insn){ .ctl = 0x2f, .opcode = opc,
					  .op = d->op_kind ? 1 + tap_rand(&seed) % 6 : 0 };
		for (int i = 0; i < d->n; i++)
			a.f[d->field[i]] = tap_rand(&seed);
		n = pw_esp_build(buf, sizeof(buf), &a);
		ok(n == 4 + 4 * lengths[opc] && n % 8 == 0 && buf[3] == lengths[opc] &&
		   pw_esp_parse(buf, n, &b) == PW_ESP_R_OK &&
		   !memcmp(a.f, b.f, sizeof(a.f)) && pw_esp_build(again, n, &b) == n &&
		   !memcmp(buf, again, n),
		   "%s: build, parse: the same; length %u words", d->name, lengths[opc]);
		ok(pw_esp_parse(buf, n + 8, &b) == PW_ESP_R_OK, "%s: data may follow", d->name);
		ok(!pw_esp_build(buf, n - 1, &a), "%s: too little room is refused", d->name);
		for (size_t k = 0; k < n; k++)
			cut &= pw_esp_parse(buf, k, &b) ==
			       (k < PW_ESP_HDR_LEN ? PW_ESP_R_SHORT : PW_ESP_R_LENGTH);
		ok(cut, "%s: cut anywhere: refused", d->name);
		buf[3]++;
		ok(pw_esp_parse(buf, n + 4, &b) == PW_ESP_R_LENGTH, "%s: wrong length", d->name);
		buf[3]--;
		buf[7] = d->op_kind ? 0 : 1;
		ok(pw_esp_parse(buf, n, &b) == PW_ESP_R_OPERATOR, "%s: wrong operator", d->name);
		buf[7] = 7;
		ok(pw_esp_parse(buf, n, &b) == PW_ESP_R_OPERATOR, "%s: operator 7", d->name);
		buf[7] = 1;
		buf[6] = 1;
		ok(pw_esp_parse(buf, n, &b) == PW_ESP_R_OPERATOR, "%s: operator 257", d->name);
	}
	memcpy(buf, wire, sizeof(wire));
	buf[1] = 0;
	ok(pw_esp_parse(buf, sizeof(wire), &a) == PW_ESP_R_OPCODE, "opcode 0 is refused");
	buf[1] = 6;
	ok(pw_esp_parse(buf, sizeof(wire), &a) == PW_ESP_R_OPCODE, "opcode 6 is refused");
	buf[0] = 0x31;
	ok(pw_esp_parse(buf, sizeof(wire), &a) == PW_ESP_R_LOCATION, "location 3 is refused");
	a = (struct pw_esp_insn){ .opcode = 6 };
	ok(!pw_esp_build(buf, sizeof(buf), &a), "opcode 6 is not built");
	a = (struct pw_esp_insn){ .opcode = PW_ESP_COUNT, .op = 1 };
	ok(!pw_esp_build(buf, sizeof(buf), &a), "COUNT with an operator is not built");
	a = (struct pw_esp_insn){ .opcode = PW_ESP_COUNT, .ctl = 0x30 };
	ok(!pw_esp_build(buf, sizeof(buf), &a), "location 3 is not built");
}

static u8 pkt[PW_ESP_LEN_MAX];
static size_t pkt_len;

static void make_count(u8 ctl, u64 tag, u64 thresh)
{
	struct pw_esp_insn a = { .ctl = ctl, .opcode = PW_ESP_COUNT };

	a.f[PW_ESP_F_TAG] = tag;
	a.f[PW_ESP_F_THRESH] = thresh;
	pkt_len = pw_esp_build(pkt, sizeof(pkt), &a);
}

static void test_node(void)
{
	struct pw_esp_node router = { .store = &st, .id = 77, .router = true };
	struct pw_esp_node end = { .store = &st, .id = 78 };
	struct pw_esp_insn a;
	u8 copy[PW_ESP_LEN_MAX];

	for (u8 loc = 0; loc <= 2; loc++)
		for (int r = 0; r <= 1; r++) {
			bool want = !loc || (loc == 1) == r;

			fresh(4);
			make_count(loc << 4 | PW_ESP_EXECUTE, 1, 1);
			memcpy(copy, pkt, pkt_len);
			ok(pw_esp_node_input(r ? &router : &end, 0, pkt, pkt_len, &res) ==
			   (want ? PW_ESP_V_FORWARD : PW_ESP_V_PASS) &&
			   have(0, 1) == (want ? 1 : NONE) && !memcmp(copy, pkt, pkt_len),
			   "location %u at %s: %s", loc, r ? "a router" : "an end system",
			   want ? "executed" : "passes");
		}
	fresh(1);
	make_count(0x08, 1, 1);
	ok(pw_esp_node_input(&router, 0, pkt, pkt_len, &res) == PW_ESP_V_PASS && have(0, 1) == NONE,
	   "without Execute a packet passes");
	make_count(PW_ESP_EXECUTE | PW_ESP_ERROR, 1, 1);
	ok(pw_esp_node_input(&router, 0, pkt, pkt_len, &res) == PW_ESP_V_PASS &&
	   have(0, 1) == NONE &&
	   pkt[0] == (PW_ESP_EXECUTE | PW_ESP_ERROR), "with Error it is executed nowhere");
	make_count(0, 1, 1);
	pkt[1] = 200;
	ok(pw_esp_node_input(&router, 0, pkt, pkt_len, &res) == PW_ESP_V_PASS,
	   "what is not executed is not inspected");
	make_count(PW_ESP_EXECUTE, 1, 1);
	pkt[1] = 200;
	ok(pw_esp_node_input(&router, 0, pkt, pkt_len, &res) == PW_ESP_V_ABORT &&
	   res.reason == PW_ESP_R_OPCODE && pkt[0] == PW_ESP_ERROR && res.opcode == 0,
	   "unknown opcode: Error set, Execute cleared, forwarded");
	make_count(PW_ESP_EXECUTE | 0x10, 1, 1);
	pkt[1] = 200;
	ok(pw_esp_node_input(&end, 0, pkt, pkt_len, &res) == PW_ESP_V_PASS,
	   "a node at another location leaves it to others to complain");
	make_count(PW_ESP_EXECUTE, 1, 1);
	pkt[0] |= 0x50;
	ok(pw_esp_node_input(&end, 0, pkt, pkt_len, &res) == PW_ESP_V_ABORT &&
	   res.reason == PW_ESP_R_LOCATION && pkt[0] == (0x50 | PW_ESP_ERROR),
	   "unknown location: abort");
	make_count(PW_ESP_EXECUTE, 1, 1);
	ok(pw_esp_node_input(&router, 0, pkt, 3, &res) == PW_ESP_V_DROP,
	   "3 bytes are no ESP packet");
	ok(pw_esp_node_input(&router, 0, pkt, pkt_len - 1, &res) == PW_ESP_V_ABORT &&
	   res.reason == PW_ESP_R_LENGTH && have(0, 1) == NONE && pkt[0] == PW_ESP_ERROR,
	   "operands cut off: abort, store untouched");
	pw_esp_store_put(&st, 0, 9, 9);
	make_count(PW_ESP_EXECUTE | PW_ESP_REFLECT | PW_ESP_EXEC_ON_REFLECT, 1, 1);
	ok(pw_esp_node_input(&router, 0, pkt, pkt_len, &res) == PW_ESP_V_ABORT &&
	   res.reason == PW_ESP_R_FULL &&
	   pkt[0] == (PW_ESP_ERROR | PW_ESP_REFLECT | PW_ESP_EXEC_ON_REFLECT),
	   "full store: Error, no Execute; the reflection bits stay");
	ok(pw_esp_reflect(pkt, pkt_len) && pkt[0] & PW_ESP_ERROR && !(pkt[0] & PW_ESP_REFLECT),
	   "it still reflects and the source sees Error");
	ok(pw_esp_node_input(&router, LIFE, pkt, pkt_len, &res) == PW_ESP_V_PASS &&
	   have(LIFE, 1) == NONE, "and is executed nowhere on the way back");

	fresh(4);
	make_count(0xA, 1, 1);
	ok(pw_esp_node_input(&router, 0, pkt, pkt_len, &res) == PW_ESP_V_PASS &&
	   pw_esp_reflect(pkt, pkt_len) && pkt[0] == (PW_ESP_EXECUTE | PW_ESP_EXEC_ON_REFLECT) &&
	   pw_esp_node_input(&router, 0, pkt, pkt_len, &res) == PW_ESP_V_FORWARD && have(0, 1) == 1,
	   "0xA: executed only on the way back");
	ok(!pw_esp_reflect(pkt, pkt_len), "reflected once only");
	make_count(PW_ESP_EXECUTE | PW_ESP_REFLECT, 1, 9);
	ok(pw_esp_node_input(&router, 0, pkt, pkt_len, &res) == PW_ESP_V_FORWARD &&
	   pw_esp_reflect(pkt, pkt_len) && pkt[0] == 0, "0x9: executed only on the way out");
	make_count(0x2f, 1, 9);
	ok(pw_esp_reflect(pkt, pkt_len) && pkt[0] == 0x27, "reflection keeps location and Error");
	ok(!pw_esp_reflect(pkt, 3), "3 bytes do not reflect");

	fresh(4);
	a = (struct pw_esp_insn){ .ctl = PW_ESP_EXECUTE, .opcode = PW_ESP_RCHLD };
	a.f[PW_ESP_F_SIB_TAG] = 1;
	a.f[PW_ESP_F_FWD_TAG] = 2;
	a.f[PW_ESP_F_FWD_THRESH] = 1;
	a.f[PW_ESP_F_PKT_ID] = 1234;
	pkt_len = pw_esp_build(pkt, sizeof(pkt), &a);
	pw_esp_node_input(&router, 0, pkt, pkt_len, &res);
	a.f[PW_ESP_F_PKT_ID] = 77;
	pw_esp_build(copy, sizeof(copy), &a);
	ok(res.verdict == PW_ESP_V_FORWARD && !memcmp(copy, pkt, pkt_len),
	   "RCHLD on the wire: only pktId changes, to the node id");
}

/* a sparse store gets memory as the kernel gives it, and answers as a full one does */
static struct pw_esp_store sparse;
static u32 given, given_max;

static void give(void)
{
	size_t n;

	while ((n = pw_esp_store_lacks(&sparse))) {
		pw_esp_store_give(&sparse, malloc(n));
		given++;
	}
	given_max = max(given_max, given);
}

static u32 take_all(void)
{
	u32 n = 0;
	void *p;

	while ((p = pw_esp_store_take(&sparse))) {
		free(p);
		n++;
	}
	return n;
}

/* steps in which both stores do the same; returns how many answers differ */
static unsigned long beside(u32 capacity, u64 life, u32 tags, unsigned long steps,
			    unsigned long long *seed)
{
	void *table = malloc(pw_esp_sparse_bytes(capacity));
	struct pw_esp_result other;
	unsigned long wrong = 0, i;
	struct pw_esp_insn again;
	u64 now = 0, a, b;
	u32 n;

	fresh(capacity);
	pw_esp_store_set_lifetime(&st, 0, life);
	wrong += !!pw_esp_sparse_init(&sparse, table, pw_esp_sparse_bytes(capacity), capacity, life,
				      &key);
	given = 0;
	for (i = 0; i < steps; i++) {
		now += tap_rand(seed) % 100 ? tap_rand(seed) % 3 : tap_rand(seed) % (2 * life);
		give();
		/* two new tags and a mark: RCHLD, or one tag */
		in = (struct pw_esp_insn){ .opcode = tap_rand(seed) & 1 ? PW_ESP_RCHLD :
									  PW_ESP_COUNT };
		in.f[PW_ESP_F_TAG] = tap_rand(seed) % tags;
		in.f[PW_ESP_F_THRESH] = 3;
		in.f[PW_ESP_F_SIB_TAG] = tap_rand(seed) % tags;
		in.f[PW_ESP_F_FWD_TAG] = tap_rand(seed) % tags;
		in.f[PW_ESP_F_FWD_THRESH] = 2;
		in.f[PW_ESP_F_PKT_ID] = tap_rand(seed) % 4;
		again = in;
		pw_esp_exec(&st, NODE, now, &in, &res);
		pw_esp_exec(&sparse, NODE, now, &again, &other);
		wrong += memcmp(&in, &again, sizeof(in)) || res.verdict != other.verdict ||
			 res.reason != other.reason;
		n = pw_esp_store_live(&st, now);
		wrong += n != pw_esp_store_live(&sparse, now) || sparse.used != st.used;
		if (n) {
			u64 left[2], val[2];
			u32 nth = tap_rand(seed) % n;

			wrong += !pw_esp_store_peek(&st, now, nth, &a, &val[0], &left[0]) ||
				 !pw_esp_store_peek(&sparse, now, nth, &b, &val[1], &left[1]) ||
				 a != b || val[0] != val[1] || left[0] != left[1];
		}
	}
	wrong += take_all() != given || pw_esp_store_take(&sparse);
	free(table);
	return wrong;
}

static void test_sparse(void)
{
	static const u32 capacity[] = { 1, 3, 4, 127, 128, 129, 130, 131, 132, 255, 256, 1000, 1024 };
	unsigned long long seed = 5;
	unsigned long wrong = 0;
	void *table = malloc(64);
	unsigned int i;

	ok(pw_esp_sparse_init(&sparse, table, pw_esp_sparse_bytes(1024) - 1, 1024, LIFE, &key) ==
	   -EINVAL && pw_esp_sparse_init(&sparse, table, 64, 4, 0, &key) == -EINVAL &&
	   !pw_esp_sparse_bytes(0), "too little memory and a lifetime of 0 are refused");
	ok(!pw_esp_sparse_init(&sparse, table, 64, 4, LIFE, &key) && !pw_esp_store_live(&sparse, 1) &&
	   !pw_esp_store_take(&sparse), "a sparse store has no memory at first, and can be asked");
	pw_esp_store_set_lifetime(&sparse, 1, 2);
	pw_esp_store_clear(&sparse);
	ok(pw_esp_store_lacks(&sparse) == 4 * sizeof(u32), "it needs buckets first");
	free(table);

	for (i = 0; i < ARRAY_SIZE(capacity); i++) {
		u32 most = 2 + capacity[i] / PW_ESP_CHUNK;

		given_max = 0;
		wrong += beside(capacity[i], capacity[i] + 2, 4 * capacity[i], tap_scaled(60000),
				&seed);
		/* full, then nearly empty, then full again */
		wrong += beside(capacity[i], 40, 1000000, tap_scaled(20000), &seed);
		ok(given_max <= most, "%u of %u pieces for %u bindings", given_max, most, capacity[i]);
	}
	is(wrong, 0, "sparse stores answer as full ones do");
	given_max = 0;
	is(beside(1024, 30, 1000000, tap_scaled(60000), &seed), 0, "so does one that is seldom full");
	ok(given_max <= 4, "which takes %u pieces of memory while its ring goes round", given_max);
	fresh(64);
	ok(!pw_esp_store_lacks(&st) && !pw_esp_store_take(&st), "a full store has all that it needs");
}

int main(void)
{
	test_store();
	test_sparse();
	test_count();
	test_compare();
	test_collect();
	test_facts();
	test_rchld();
	test_rcollect();
	test_packet();
	test_node();
	free(mem);
	return tap_done();
}
