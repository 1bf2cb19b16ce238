// SPDX-License-Identifier: GPL-2.0
/*
 * ATON, rtl: remnants on the wires that no interface has sent. Whatever they look like, the active
 * monitor removes them, and a command that waits for the token ends well.
 *
 * And inputs of aton_fuzz on which the ring once hung, or the engines differed. Such an input
 * aborts the program.
 */
#include "tap.h"
#include "../fuzz/aton_fuzz.c"

/* symbols by name; _ stands for as many zeros as make a revolution */
#define SD	"JK0JK000"
#define TD	"JK0JK0KJ"
#define ED	"JK1JK111"
#define AC	"00010000"
#define TOKEN	TD AC ED

#define STATIONS	150
/* bit times in which every ring below has recovered */
#define LONG		100000

static struct pw_ring *ring;
static struct pw_ring_sender port[STATIONS];

static void *make_ring(u32 n, u32 release)
{
	struct pw_ring_params p = {
		.engine = PW_RING_RTL, .nregs = 1, .capacity = STATIONS, .propagation = 1,
		.release = release,
	};
	void *mem = malloc(pw_ring_size(&p));
	u32 i;

	if (!mem)
		abort();
	memset(port, 0, sizeof(port));
	ring = pw_ring_init(mem, &p);
	pw_ring_attach(ring, 0, n, 1, 0);
	for (i = 0; i < n; i++)
		pw_ring_bind(ring, i, &port[i]);
	return mem;
}

/* let @bits bit times pass */
static enum pw_ring_progress pass(u32 bits)
{
	return pw_ring_run(ring, ~0ULL, bits * ring->n);
}

/* in one revolution, replace all that is on the ring */
static void replace(const char *symbols)
{
	static const char names[] = "01JK";
	const char *p, *s = symbols;
	u64 k, fill = ring->turn + 1 - min_t(u64, strlen(symbols), ring->turn + 1);

	for (k = 0; k < ring->turn; k++) {
		pass(1);
		if (*s == '_' && fill) {
			fill--;
			p = names;
		} else {
			s += *s == '_';
			p = *s ? strchr(names, *s++) : names;
		}
		ring->rtl.wire[0] = p - names;
	}
}

/* @symbols instead of the token, before a command is due */
static bool recovers(const char *symbols, u32 n, u32 release, bool late)
{
	struct pw_ring_cmd c = { .op = PW_ATON_ADD, .dst = PW_ATON_RING, .when = 1000 };
	void *mem = make_ring(n, release);
	bool good;

	pw_ring_submit(ring, n / 2, &c);
	pass(ring->turn + PW_ATON_TOKEN);
	/* the active monitor lets nothing pass in the revolution behind a token */
	if (late)
		replace("");
	replace(symbols);
	good = pass(LONG) == PW_RING_IDLE && pw_ring_reap(ring) == &c && !c.err && c.counter == n;
	free(mem);
	return good;
}

static void test_free(const char *symbols, u32 n, u32 release, const char *what)
{
	ok(recovers(symbols, n, release, false), "%s, while the active monitor lets nothing pass",
	   what);
	ok(recovers(symbols, n, release, true), "%s, later", what);
}

/* @symbols instead of a packet whose sender has left */
static void test_orphan(const char *symbols, const char *what)
{
	struct pw_ring_cmd c = { .op = PW_ATON_ADD, .dst = PW_ATON_RING }, d = c;
	struct pw_ring_fault f = { .kind = PW_FAULT_LEAVE };
	void *mem = make_ring(STATIONS, PW_RING_BACK);

	pw_ring_fault(ring, &f);
	pw_ring_submit(ring, 9, &c);
	pw_ring_submit(ring, 20, &d);
	while (ring->state != PW_RING_ORPHAN)
		pass(1);
	/* nor in the one behind a packet, whose end it sees by the end of this one */
	replace("");
	replace("");
	replace(symbols);
	ok(pass(LONG) == PW_RING_IDLE && pw_ring_reap(ring) == &c && pw_ring_reap(ring) == &d &&
	   c.err == PW_ATON_E_DOWN && !d.err && d.counter == STATIONS - 1, "%s", what);
	free(mem);
}

/* an input of the fuzzer: the bytes that @seed gives */
static void replay(unsigned long seed)
{
	unsigned long long x = 0x9e3779b97f4a7c15ULL * (seed + 1);
	size_t n = 4 + (x >> 20) % 600, i;
	u8 data[604];

	for (i = 0; i < n; i++)
		data[i] = tap_rand(&x) >> 56;
	LLVMFuzzerTestOneInput(data, n);
}

int main(void)
{
	static const u32 hung[] = { 1017, 2204, 2728, 4278, 4496, 7578, 7860 };
	/* a symbol to flip that a packet does not have; a duplicate of a duplicate; overlap; time */
	static const u32 differed[] = {
		1747, 5104, 1614, 47084, 115599, 142392, 188905, 292631, 334393, 393393, 413023,
		453061, 455363, 588688, 429302,
	};
	u32 i;

	test_free("", 32, PW_RING_BACK, "silence");
	test_free(SD, 32, PW_RING_BACK, "a start delimiter, and no end");
	test_free(SD SD, 32, PW_RING_BACK, "two of them");
	test_free(SD TD, 32, PW_RING_BACK, "one, and a token without an end");
	test_free(SD TOKEN, 32, PW_RING_BACK, "one, and a token");
	test_free(TD, 32, PW_RING_BACK, "a token without an end");
	test_free(TD TOKEN, 32, PW_RING_BACK, "one, and a token");
	test_free("JK0JK0KK" AC ED, 32, PW_RING_BACK, "a damaged token");
	test_free(TOKEN TOKEN, 32, PW_RING_BACK, "two tokens");
	test_free(ED, 32, PW_RING_BACK, "an end delimiter");
	test_free(SD "01" ED, 32, PW_RING_BACK, "a short packet");
	test_free(SD "01" ED SD "01" ED, 32, PW_RING_APPENDED, "two, one behind the other");
	test_free(SD "_" ED, 32, PW_RING_BACK, "a packet as long as the ring");
	test_free(SD "_" ED, 32, PW_RING_APPENDED, "one that so follows itself");
	test_free(SD "_" ED SD "01" ED, 32, PW_RING_APPENDED, "two that follow each other");
	test_orphan("", "an orphan vanishes");
	test_orphan(TOKEN, "an orphan becomes a token");
	test_orphan(SD, "an orphan loses its end");
	for (i = 0; i < ARRAY_SIZE(hung); i++)
		replay(hung[i]);
	ok(true, "%zu inputs on which the ring hung", ARRAY_SIZE(hung));
	for (i = 0; i < ARRAY_SIZE(differed); i++)
		replay(differed[i]);
	ok(true, "%zu inputs on which the engines differed", ARRAY_SIZE(differed));
	return tap_done();
}
