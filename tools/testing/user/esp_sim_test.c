// SPDX-License-Identifier: GPL-2.0
/*
 * What ESP is for, on a simulated tree of nodes: whole packets go from the
 * leaves through every node on the way to the root, in random order, some of
 * them twice.
 */
#include "tap.h"
#include "esp.h"

#define NODES_MAX 64
#define QUEUE_MAX 4096

static unsigned long long seed = 4711;

static u32 rnd(u32 n)
{
	return tap_rand(&seed) % n;
}

/* node 0 is the root; node i hangs below parent[i] < i */
static int nodes, parent[NODES_MAX], children[NODES_MAX];
static struct pw_esp_store st[NODES_MAX];
static void *mem[NODES_MAX];
static struct { int at; u8 pkt[PW_ESP_LEN_MAX]; size_t len; } queue[QUEUE_MAX];
static int queued, executed, aborted, dup_percent;
static struct pw_esp_insn sink[QUEUE_MAX];	/* what the source above the root gets */
static int sunk;

static void grow(u32 capacity)
{
	siphash_key_t key;

	nodes = 2 + rnd(NODES_MAX - 1);
	for (int i = 0; i < nodes; i++) {
		parent[i] = i ? rnd(i) : -1;
		children[i] = 0;
		if (i)
			children[parent[i]]++;
		key.key[0] = tap_rand(&seed);
		key.key[1] = tap_rand(&seed);
		free(mem[i]);
		mem[i] = malloc(pw_esp_store_bytes(capacity));
		pw_esp_store_init(&st[i], mem[i], pw_esp_store_bytes(capacity), capacity,
				  PW_ESP_LIFETIME_MS, &key);
	}
	queued = 0;
	executed = 0;
	aborted = 0;
	sunk = 0;
}

/* a packet sets out for node @at; links duplicate */
static void post(int at, const u8 *pkt, size_t len)
{
	int copies = 1 + (rnd(100) < dup_percent);

	while (copies-- && queued < QUEUE_MAX) {
		queue[queued].at = at;
		queue[queued].len = len;
		memcpy(queue[queued++].pkt, pkt, len);
	}
}

static void send(int at, const struct pw_esp_insn *in)
{
	struct pw_esp_insn copy = *in;
	u8 pkt[PW_ESP_LEN_MAX];

	copy.ctl = PW_ESP_EXECUTE;
	post(at, pkt, pw_esp_build(pkt, sizeof(pkt), &copy));
}

/* until no packet is under way */
static void settle(u64 now)
{
	while (queued) {
		int k = rnd(queued), at = queue[k].at;
		struct pw_esp_node node = { .store = &st[at], .id = 1 + at, .router = true };
		struct pw_esp_result res;
		u8 pkt[PW_ESP_LEN_MAX];
		size_t len = queue[k].len;

		memcpy(pkt, queue[k].pkt, len);
		queue[k] = queue[--queued];
		executed++;
		pw_esp_node_input(&node, now, pkt, len, &res);
		aborted += res.verdict == PW_ESP_V_ABORT;
		if (res.verdict == PW_ESP_V_DISCARD || res.verdict == PW_ESP_V_DROP)
			continue;
		if (at)
			post(parent[at], pkt, len);
		else if (sunk < QUEUE_MAX)
			pw_esp_parse(pkt, len, &sink[sunk++]);
	}
}

static struct pw_esp_insn make_rchld(u64 sib, u64 fwd, u64 thresh, u64 id)
{
	struct pw_esp_insn in = { .opcode = PW_ESP_RCHLD };

	in.f[PW_ESP_F_SIB_TAG] = sib;
	in.f[PW_ESP_F_FWD_TAG] = fwd;
	in.f[PW_ESP_F_FWD_THRESH] = thresh;
	in.f[PW_ESP_F_PKT_ID] = id;
	return in;
}

static struct pw_esp_insn make_rcollect(u64 sib, u64 fwd, u64 thresh, u64 comp, u8 op, u64 val,
					u64 id)
{
	struct pw_esp_insn in = { .opcode = PW_ESP_RCOLLECT, .op = op };

	in.f[PW_ESP_F_SIB_TAG] = sib;
	in.f[PW_ESP_F_FWD_TAG] = fwd;
	in.f[PW_ESP_F_FWD_THRESH] = thresh;
	in.f[PW_ESP_F_COMP_TAG] = comp;
	in.f[PW_ESP_F_VAL] = val;
	in.f[PW_ESP_F_PKT_ID] = id;
	return in;
}

#define COMPS 3		/* computations at the same time over the same tree */

/*
 * RCHLD from every contributor, then RCOLLECT: the source must see the exact sum
 * of each computation and nothing else. Where @thresh allows copies, all are right.
 */
static bool reduction(u64 thresh)
{
	struct { u64 sib, fwd, fwd2, comp, sum; int seen; } c[COMPS];
	struct { int at, comp; u64 val, id; } who[NODES_MAX * COMPS];
	int n = 0, members = 0;
	bool good = true;

	grow(1024);
	for (int k = 0; k < COMPS; k++) {
		c[k].sib = tap_rand(&seed);
		c[k].fwd = tap_rand(&seed);
		c[k].fwd2 = tap_rand(&seed);
		c[k].comp = tap_rand(&seed);
		c[k].sum = 0;
		c[k].seen = 0;
		for (int i = 0; i < nodes; i++)	/* leaves always, inner nodes maybe */
			if (!children[i] || !rnd(3)) {
				who[n].at = i;
				who[n].comp = k;
				who[n].val = tap_rand(&seed);
				who[n].id = tap_rand(&seed);
				c[k].sum += who[n++].val;
				members++;
			}
	}
	for (int i = 0; i < n; i++) {
		struct pw_esp_insn in = make_rchld(c[who[i].comp].sib, c[who[i].comp].fwd, thresh,
						   who[i].id);

		send(who[i].at, &in);
	}
	settle(0);
	sunk = 0;
	for (int i = 0; i < n; i++) {
		int k = who[i].comp;
		struct pw_esp_insn in = make_rcollect(c[k].sib, c[k].fwd2, thresh, c[k].comp,
						      PW_ESP_OP_ADD, who[i].val, who[i].id);

		send(who[i].at, &in);
	}
	settle(PW_ESP_LIFETIME_MS - 1);
	for (int i = 0; i < sunk; i++) {
		int k;

		for (k = 0; k < COMPS; k++)
			if (sink[i].f[PW_ESP_F_SIB_TAG] == c[k].sib)
				break;
		if (k == COMPS || sink[i].f[PW_ESP_F_VAL] != c[k].sum || sink[i].ctl & PW_ESP_ERROR)
			good = false;
		else
			c[k].seen++;
	}
	for (int k = 0; k < COMPS; k++)
		good &= c[k].seen >= 1 && c[k].seen <= thresh;
	return good && !aborted;
}

/* the plain COUNT/COLLECT pair is exact only where nothing is duplicated */
static bool bottleneck(u64 *got, u64 *want)
{
	struct pw_esp_insn in;
	u64 cnt = tap_rand(&seed), val = tap_rand(&seed);

	grow(16);
	for (int i = 0; i < nodes; i++)
		if (!children[i]) {
			in = (struct pw_esp_insn){ .opcode = PW_ESP_COUNT };
			in.f[PW_ESP_F_TAG] = cnt;
			in.f[PW_ESP_F_THRESH] = 1;
			send(i, &in);
		}
	settle(0);
	if (!dup_percent && sunk != 1)
		return false;
	sunk = 0;
	*want = U64_MAX;
	for (int i = 0; i < nodes; i++)
		if (!children[i]) {
			in = (struct pw_esp_insn){ .opcode = PW_ESP_COLLECT, .op = PW_ESP_OP_MIN };
			in.f[PW_ESP_F_VAL_TAG] = val;
			in.f[PW_ESP_F_CNT_TAG] = cnt;
			in.f[PW_ESP_F_VAL] = 1 + rnd(1000000);
			*want = min(*want, in.f[PW_ESP_F_VAL]);
			send(i, &in);
		}
	settle(1);
	*got = sunk ? sink[0].f[PW_ESP_F_VAL] : 0;
	return sunk == 1 && *got == *want;
}

static bool group_count(int *packets, int *members)
{
	u64 sib = tap_rand(&seed), fwd = tap_rand(&seed), fwd2 = tap_rand(&seed);
	u64 comp = tap_rand(&seed), cnt = tap_rand(&seed);
	struct pw_esp_insn in;
	int first;

	grow(256);
	*members = 0;
	for (int i = 0; i < nodes; i++)
		*members += !children[i];
	/* does a receiver exist? One answer is enough. */
	for (int i = 0; i < nodes; i++)
		if (!children[i]) {
			in = (struct pw_esp_insn){ .opcode = PW_ESP_COUNT };
			in.f[PW_ESP_F_TAG] = cnt;
			in.f[PW_ESP_F_THRESH] = 1;
			send(i, &in);
		}
	settle(0);
	first = sunk;
	/* how many? Every member adds 1. */
	for (int i = 0; i < nodes; i++)
		if (!children[i]) {
			in = make_rchld(sib, fwd, 1, 1000 + i);
			send(i, &in);
		}
	settle(0);
	*packets = sunk;
	sunk = 0;
	for (int i = 0; i < nodes; i++)
		if (!children[i]) {
			in = make_rcollect(sib, fwd2, 1, comp, PW_ESP_OP_ADD, 1, 1000 + i);
			send(i, &in);
		}
	settle(0);
	*packets += sunk;
	return first == 1 && sunk == 1 && sink[0].f[PW_ESP_F_VAL] == *members && !aborted;
}

/* receivers miss packets 1..20 and all complain; one complaint each is enough */
static bool nacks(int *sent, int *arrived)
{
	u64 tag = tap_rand(&seed);
	struct pw_esp_insn in;
	int lost = 0;

	grow(16);
	*sent = 0;
	*arrived = 0;
	for (u64 seq = 1; seq <= 20; seq++) {
		bool any = false;

		for (int i = 0; i < nodes; i++)
			if (!children[i] && rnd(4)) {
				in = (struct pw_esp_insn){ .opcode = PW_ESP_COMPARE,
							   .op = PW_ESP_REL_LT };
				in.f[PW_ESP_F_TAG] = tag;
				in.f[PW_ESP_F_VAL] = seq;
				send(i, &in);
				++*sent;
				any = true;
			}
		settle(seq);
		lost += any;
		if (sunk != any || (any && sink[0].f[PW_ESP_F_VAL] != seq))
			return false;
		*arrived += sunk;
		sunk = 0;
	}
	return lost == *arrived;
}

int main(void)
{
	unsigned long trials = tap_scaled(1000), good, steps = 0;
	u64 got, want;
	int a, b;
	long sent = 0, arrived = 0;

	dup_percent = 30;
	for (unsigned long i = good = 0; i < trials; i++) {
		good += reduction(1);
		steps += executed;
	}
	ok(good == trials, "RCHLD, RCOLLECT with 30%% duplicates: %lu of %lu exact", good, trials);
	diag("%lu instructions, %d computations at once in every tree", steps, COMPS);
	for (unsigned long i = good = 0; i < trials; i++)
		good += reduction(3);
	ok(good == trials, "with up to 3 copies forwarded: %lu of %lu exact", good, trials);
	for (unsigned long i = good = 0; i < trials; i++)
		good += group_count(&a, &b);
	ok(good == trials, "COUNT, RCHLD: a group is counted by single packets: %lu of %lu", good,
	   trials);
	for (unsigned long i = good = 0; i < trials; i++) {
		good += nacks(&a, &b);
		sent += a;
		arrived += b;
	}
	ok(good == trials, "COMPARE: one NACK per loss arrives: %lu of %lu", good, trials);
	diag("%ld NACKs sent, %ld arrived", sent, arrived);
	for (unsigned long i = good = 0; i < trials; i++)
		good += bottleneck(&got, &want);
	ok(good < trials || trials < 20,
	   "COLLECT with 30%% duplicates is not exact (%lu of %lu): RCOLLECT is needed", good,
	   trials);
	dup_percent = 0;
	for (unsigned long i = good = 0; i < trials; i++)
		good += bottleneck(&got, &want);
	ok(good == trials, "COLLECT MIN finds the bottleneck: %lu of %lu", good, trials);

	for (int i = 0; i < NODES_MAX; i++)
		free(mem[i]);
	return tap_done();
}
