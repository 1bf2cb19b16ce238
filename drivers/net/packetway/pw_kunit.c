// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: what the cores and the glue between them and skbs do with the kernel's
 * own libraries, queues and buffers. The cores' logic has its tests in user
 * space, packets and users have theirs in the selftests; this is what neither can
 * reach. Built in if the kernel has KUnit built in; runs when the module comes in.
 */
#include <kunit/test.h>

#include "ring/ring.h"
#include "fabric/fabric.h"
#include "pw_priv.h"

#define PW_KUNIT_TE	7
#define PW_KUNIT_DATA	50

/* Check values of the two CRCs: what the digits 1 to 9 give */
static void pw_kunit_crc(struct kunit *test)
{
	static const u8 want32[] = { 0xe3, 0x06, 0x92, 0x83 };
	static const u8 want64[] = { 0x62, 0xec, 0x59, 0xe3, 0xf1, 0xa4, 0xf0, 0x0a };
	static const char digits[] = "123456789";
	unsigned int cut;
	u8 out[8];

	/* in one piece and in any two */
	for (cut = 0; cut <= 9; cut++) {
		struct pw_eep_crc crc;

		pw_eep_crc_init(&crc, PW_OH_ANNOUNCE_MASK);
		pw_eep_crc_update(&crc, digits, cut);
		pw_eep_crc_update(&crc, digits + cut, 9 - cut);
		pw_eep_crc_put(&crc, PW_OH_CRC32, out);
		KUNIT_EXPECT_EQ(test, 0, memcmp(out, want32, sizeof(want32)));
		pw_eep_crc_put(&crc, PW_OH_CRC64, out);
		KUNIT_EXPECT_EQ(test, 0, memcmp(out, want64, sizeof(want64)));
	}
}

/* a message with two L2RHs and a symbol before it */
static int pw_kunit_build(u8 *buf, size_t size)
{
	static const u8 route[] = { 1, 2, 3, 4, 5, 6, 7 };
	static u8 data[PW_KUNIT_DATA];
	const struct pw_eep_prefix prefix[] = {
		{ .kind = PW_EEP_L2RH, .data = route, .len = 3 },
		{ .kind = PW_EEP_SYMBOL, .type = 1, .data = route, .len = 1 },
		{ .kind = PW_EEP_L2RH, .data = route, .len = 7 },
	};
	const struct pw_eep_msg msg = {
		.hdr = { .dt = 3, .sa = 2, .pt = PW_PT_ECHO, .te = PW_KUNIT_TE, .p = 5,
			 .data_len = PW_KUNIT_DATA },
		.prefix = prefix, .nprefix = ARRAY_SIZE(prefix),
		.data = data,
	};

	memset(data, 0xa5, sizeof(data));
	return pw_eep_build(&msg, buf, size);
}

/* an skb with @linear bytes in its head and the rest in fragments of @piece bytes */
static struct sk_buff *pw_kunit_skb(struct kunit *test, const u8 *buf, unsigned int len,
				    unsigned int linear, unsigned int piece)
{
	struct sk_buff *skb = alloc_skb(len, GFP_KERNEL);
	unsigned int n;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_data(skb, buf, linear);
	for (; linear < len; linear += n) {
		struct page *page = alloc_page(GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, page);
		n = min(piece, len - linear);
		/* the last fragment takes what is left */
		if (skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS - 1)
			n = len - linear;
		memcpy(page_address(page), buf + linear, n);
		skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, 0, n, PAGE_SIZE);
	}
	return skb;
}

/* Does @skb, which holds the message of pw_kunit_build(), give the right ERR? */
static bool pw_kunit_err_right(struct sk_buff *skb, const u8 *buf, unsigned int len)
{
	struct pw_eep_view v, ev;
	struct sk_buff *err;
	bool right;

	if (!pw_skb_err_wanted(skb, &v) || v.dt != 3 || v.sa != 2 || v.te != PW_KUNIT_TE ||
	    v.nl2rh != 2 || v.data_len != PW_KUNIT_DATA)
		return false;
	err = pw_skb_err(skb, &v, PW_TE_ERR_GENERAL, 9, 0, false);
	if (!err)
		return false;
	/* it quotes the whole message */
	right = !pw_eep_parse(err->data, err->len, &ev) && ev.pt == PW_PT_ERR && ev.dt == 2 &&
		ev.sa == 9 && ev.data_len == len && !memcmp(err->data + ev.db_off, buf, len);
	kfree_skb(err);
	return right;
}

/* The ERR does not depend on how an skb is divided into fragments. */
static void pw_kunit_err_fragments(struct kunit *test)
{
	unsigned int linear, piece, wrong = 0, len;
	u8 buf[160];
	int ret;

	ret = pw_kunit_build(buf, sizeof(buf));
	KUNIT_ASSERT_GT(test, ret, 0);
	len = ret;
	for (piece = 1; piece < 20; piece += 3) {
		for (linear = 0; linear <= len; linear++) {
			struct sk_buff *skb = pw_kunit_skb(test, buf, len, linear, piece);

			wrong += !pw_kunit_err_right(skb, buf, len);
			kfree_skb(skb);
		}
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* A message that ends early is answered from the end of its header on. */
static void pw_kunit_err_short(struct kunit *test)
{
	unsigned int cut, linear, hdr_end, wrong = 0;
	struct pw_eep_view v;
	u8 buf[160];
	int len;

	len = pw_kunit_build(buf, sizeof(buf));
	KUNIT_ASSERT_GT(test, len, 0);
	KUNIT_ASSERT_EQ(test, pw_eep_parse(buf, len, &v), 0);
	hdr_end = v.hdr_off + PW_EEP_HDR_LEN;
	for (cut = 0; cut < len; cut++) {
		for (linear = 0; linear <= cut; linear += 5) {
			struct sk_buff *skb = pw_kunit_skb(test, buf, cut, linear, 7);

			wrong += pw_skb_err_wanted(skb, &v) != (cut >= hdr_end);
			kfree_skb(skb);
		}
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* Highest priority first, and first come first served within one. */
static void pw_kunit_rxq(struct kunit *test)
{
	struct pw_rxq *q = kunit_kzalloc(test, sizeof(*q), GFP_KERNEL);
	int i, last_prio = PW_PRIO_NUM, last = 0;
	struct sk_buff *skb;

	KUNIT_ASSERT_NOT_NULL(test, q);
	KUNIT_ASSERT_EQ(test, pw_rxq_init(q), 0);
	KUNIT_EXPECT_NULL(test, pw_rxq_pop(q));
	for (i = 0; i < 4 * PW_PRIO_NUM; i++) {
		skb = alloc_skb(0, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		pw_cb(skb)->prio = i * 37 % PW_PRIO_NUM;
		skb->mark = i;
		pw_rxq_push(q, skb);
	}
	for (i = 0; i < 4 * PW_PRIO_NUM; i++) {
		skb = pw_rxq_pop(q);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		KUNIT_EXPECT_LE(test, (int)pw_cb(skb)->prio, last_prio);
		if (pw_cb(skb)->prio == last_prio)
			KUNIT_EXPECT_GT(test, (int)skb->mark, last);
		last_prio = pw_cb(skb)->prio;
		last = skb->mark;
		kfree_skb(skb);
	}
	KUNIT_EXPECT_NULL(test, pw_rxq_pop(q));
	KUNIT_EXPECT_EQ(test, q->nonempty, 0);
	pw_rxq_free(q);
}

/* Every counter has a name of its own that fits where ethtool puts it. */
static void pw_kunit_stat_names(struct kunit *test)
{
	int i, j, same = 0;

	for (i = 0; i < PW_STAT_NUM; i++) {
		KUNIT_EXPECT_NE(test, pw_stat_names[i][0], 0);
		KUNIT_EXPECT_LT(test, strnlen(pw_stat_names[i], ETH_GSTRING_LEN),
				ETH_GSTRING_LEN);
		for (j = 0; j < i; j++)
			same += !strcmp(pw_stat_names[i], pw_stat_names[j]);
	}
	KUNIT_EXPECT_EQ(test, same, 0);
}

struct pw_kunit_arrival {
	u64 delay;
	u32 n;
};

static void pw_kunit_arrived(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
			     const struct pw_fabric_times *times)
{
	struct pw_kunit_arrival *a = ctx;

	a->delay = times->delivered - times->start;
	a->n++;
}

/* Both engines of the fabric take the time of the closed form. */
static void pw_kunit_fabric(struct kunit *test)
{
	static const struct pw_fabric_ops ops = { .deliver = pw_kunit_arrived };
	static const u32 lens[] = { 4, 100, 500 };
	unsigned int i, engine;

	for (engine = 0; engine < 2; engine++) {
		struct pw_fabric_params p = {
			.flags = PW_FABRIC_F_DEVICE | (engine ? PW_FABRIC_F_FAST : 0),
		};
		struct pw_kunit_arrival a = { };
		struct pw_fabric *f;
		void *mem;

		mem = kvzalloc(pw_fabric_size(&p), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, mem);
		f = pw_fabric_init(mem, &p, &ops, &a);
		pw_fabric_attach(f, 0, true);
		pw_fabric_attach(f, 5, true);
		for (i = 0; i < ARRAY_SIZE(lens); i++) {
			u64 until = pw_fabric_now(f) + 10000;

			KUNIT_EXPECT_EQ(test, 0, pw_fabric_send(f, 0, 5, PW_FABRIC_AUTO, lens[i],
								i, NULL));
			pw_fabric_run(f, until, U32_MAX);
			KUNIT_EXPECT_EQ(test, a.n, i + 1);
			KUNIT_EXPECT_EQ(test, a.delay, pw_fabric_delay(lens[i]));
		}
		kvfree(mem);
	}
}

/* One command on a ring of @n interfaces, operands 3, 6, 9, ... */
static void pw_kunit_ring_run(struct kunit *test, u8 engine, u32 n, u8 op,
			      struct pw_ring_cmd *cmd)
{
	struct pw_ring_params p = {
		.engine = engine, .nregs = 1, .capacity = n, .max_bytes = 64,
	};
	struct pw_ring_sender *port = kunit_kzalloc(test, sizeof(*port), GFP_KERNEL);
	struct pw_ring *ring;
	void *mem;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, port);
	mem = kvzalloc(pw_ring_size(&p), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mem);
	ring = pw_ring_init(mem, &p);
	pw_ring_attach(ring, 0, n, 1, 0);
	pw_ring_bind(ring, 0, port);
	for (i = 0; i < n; i++)
		pw_ring_set_operand(ring, i, 0, 3 * (i + 1));
	*cmd = (struct pw_ring_cmd){ .op = op, .dst = PW_ATON_RING };
	KUNIT_EXPECT_EQ(test, pw_ring_submit(ring, 0, cmd), 0);
	while (pw_ring_run(ring, U64_MAX, 1 << 20) == PW_RING_MORE)
		cond_resched();
	KUNIT_EXPECT_PTR_EQ(test, pw_ring_reap(ring), cmd);
	KUNIT_EXPECT_EQ(test, cmd->err, PW_ATON_OK);
	kvfree(mem);
}

/* Both engines of the ring, the same results after the same number of bits. */
static void pw_kunit_ring(struct kunit *test)
{
	static const struct {
		u8 op;
		u64 v1;
	} row[] = {
		/* of 3, 6, ..., 60 */
		{ PW_ATON_ADD, 630 }, { PW_ATON_OR, 63 }, { PW_ATON_AND, 0 },
		{ PW_ATON_MAX, 60 }, { PW_ATON_MIN, 3 },
	};
	struct pw_ring_cmd fast, rtl;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		pw_kunit_ring_run(test, PW_RING_RTL, 20, row[i].op, &rtl);
		pw_kunit_ring_run(test, PW_RING_FAST, 20, row[i].op, &fast);
		KUNIT_EXPECT_EQ(test, rtl.v1, row[i].v1);
		KUNIT_EXPECT_EQ(test, fast.v1, row[i].v1);
		KUNIT_EXPECT_EQ(test, rtl.counter, fast.counter);
		KUNIT_EXPECT_EQ(test, rtl.v2, fast.v2);
		KUNIT_EXPECT_EQ(test, rtl.ring_bits, 272 + 20);
		KUNIT_EXPECT_EQ(test, fast.ring_bits, 272 + 20);
	}
}

static struct kunit_case pw_kunit_cases[] = {
	KUNIT_CASE(pw_kunit_crc),
	KUNIT_CASE(pw_kunit_err_fragments),
	KUNIT_CASE(pw_kunit_err_short),
	KUNIT_CASE(pw_kunit_rxq),
	KUNIT_CASE(pw_kunit_stat_names),
	KUNIT_CASE(pw_kunit_fabric),
	KUNIT_CASE(pw_kunit_ring),
	{}
};

static struct kunit_suite pw_kunit_suite = {
	.name = "packetway",
	.test_cases = pw_kunit_cases,
};

kunit_test_suite(pw_kunit_suite);
