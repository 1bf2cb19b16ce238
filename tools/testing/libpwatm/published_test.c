// SPDX-License-Identifier: GPL-2.0
/* The published names of libpwatm, on ports that are joined by memory. */
#include <stdlib.h>

#include "link.h"
#include "published.h"
#include "tap.h"

#define WORKERS	3
#define PORTS	16

static struct atm_dev *unit[WORKERS + 1];

static int send_frame(void *ctx, const uint8_t *frame, int len, int bytes, int port,
		      const uint64_t *ns)
{
	int i, err = 0;

	for (i = 0; i <= WORKERS && !err; i++)
		if (port < 0 || i % PORTS == port)
			err = atm_input(unit[i], frame, len, &unit[i] == ctx, 0);
	return err;
}

static int wait_frame(void *ctx, int ms)
{
	return -ETIMEDOUT;
}

static void charge(void *ctx, uint64_t ns)
{
}

static uint64_t now(void *ctx)
{
	return 0;
}

static void close_link(void *ctx)
{
}

static const struct atm_link memory = { send_frame, wait_frame, charge, now, close_link };

/* every type there and back */
static void types(struct atmdev *a, struct atmdev *b, struct atm_proc *table)
{
	static const char bytes[] = { 1, 0, -1, 7, 9 };
	int i[2] = { -5, 2000000000 }, i2[2];
	int16_t s[3] = { 1, -2, 32767 }, s2[3];
	long l[2] = { -7, 2147483647 }, l2[2];
	float f = 1.5f, f2;
	double d = -0.1, d2;
	atm_cplx c = 1.0f + 2.0f * I, c2;
	atm_dcplx z = 3.0 - 4.0 * I, z2;
	char text[32], bytes2[sizeof(bytes)];
	int bad;

	bad = atminitsend(a) || atmputnint(a, i, 2) || atmputnshort(a, s, 3) ||
	      atmputnlong(a, l, 2) || atmputnfloat(a, &f, 1) || atmputndfloat(a, &d, 1) ||
	      atmputncplx(a, &c, 1) || atmputndcplx(a, &z, 1) ||
	      atmputbytes(a, bytes, sizeof(bytes)) || atmputstring(a, "text");
	ok(!bad && a->wlcked == 1, "all types are put");
	ok(atminitsend(a) == -EDEADLK && atmrcv(a, 9) == -EDEADLK, "the write lock is set");
	ok(!atmsnd(a, table, "wrk", 0, 9) && !a->wlcked, "and cleared with the message");
	bad = atmrcv(b, 9) || atmgetnint(b, i2, 2) || atmgetnshort(b, s2, 3) ||
	      atmgetnlong(b, l2, 2) || atmgetnfloat(b, &f2, 1) || atmgetndfloat(b, &d2, 1) ||
	      atmgetncplx(b, &c2, 1) || atmgetndcplx(b, &z2, 1) ||
	      atmgetbytes(b, bytes2, sizeof(bytes)) || atmgetstring(b, text);
	ok(!bad && b->rlcked == 1, "all types are taken");
	ok(!memcmp(i, i2, sizeof(i)) && !memcmp(s, s2, sizeof(s)) && !memcmp(l, l2, sizeof(l)) &&
	   f == f2 && d == d2 && c == c2 && z == z2 && !memcmp(bytes, bytes2, sizeof(bytes)) &&
	   !strcmp(text, "text"), "with their values");
	ok(atmgetnint(b, i2, 1) == -ENODATA, "and no more");
	ok(atmrcv(b, table, 9) == -EDEADLK && atminitsend(b) == -EDEADLK,
	   "the caller has to clear the read lock");
	b->rlcked = 0;
	l[0] = 1L << 31;
	if (sizeof(long) > 4) {
		atminitsend(a);
		ok(atmputnlong(a, l, 1) == -ERANGE, "a long has 32 bits in a message");
		atmsnd(a, table, "wrk", 0, 8);
	}
	ok(atmsnd(a, table + 1, "wrk", 0, 9) == -EINVAL, "another table is refused");
}

int main(void)
{
	static struct atm_proc table[WORKERS + 1] = { { "mas", 0 } };
	struct atmdev dev[WORKERS + 1];
	int i, right = 0;
	long at;

	for (i = 1; i <= WORKERS; i++)
		table[i] = (struct atm_proc) { "wrk", i - 1 };
	for (i = 0; i <= WORKERS; i++) {
		if (atm_open_link(&unit[i], &memory, &unit[i], PORTS, 0, table, WORKERS + 1, i))
			return 1;
		dev[i] = pwatm_record(unit[i], table);
	}
	types(&dev[0], &dev[1], table);
	master_sends(&dev[0], table, WORKERS);
	for (i = 1; i <= WORKERS; i++)
		worker_adds(&dev[i], table, i - 1);
	master_chooses(&dev[0], table, WORKERS);
	/* 2 + 2.5 + 3 + 3.5 */
	for (i = 1; i <= WORKERS; i++)
		right += worker_hears(&dev[i], table, &at) == 11 && at == 2;
	ok(right == WORKERS, "a program in the published form");
	for (i = 0; i <= WORKERS; i++)
		atm_close(unit[i]);
	return tap_done();
}
