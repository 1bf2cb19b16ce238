// SPDX-License-Identifier: GPL-2.0
/*
 * pwecho: one-way delay and throughput against message size. Process 0 (port 0)
 * sends to process 1 (port 4, on another switch) in the SAN's virtual time.
 *
 *	pwecho [-i STATIONS] [-b BIAS] [-l LOG] [-w NS] [-r RATE] [SIZE]...
 *
 * Prints bytes, cycles and bytes per cycle; a cycle is a nanosecond at the default
 * link rate. Each message arrives in an idle fabric.
 */
#include "prog.h"

/* the first arrival lies ahead of a fresh fabric's time, the others far apart */
#define FIRST 1000000ULL
#define APART 2000000ULL

int main(int argc, char **argv)
{
	static const int usual[] = {
		4, 1000, 5000, 10000, 15000, 20000, 25000, 30000, 35000, 40000, 45000, 50000, 55000,
		60000, 65000,
	};
	int at = options(argc, argv, "usage: pwecho " OPTIONS " [SIZE]...");
	int n = argc > at ? argc - at : (int)ARRAY_SIZE(usual), i, k, size;
	struct atm_proc t[5] = {
		{ "snd", 0 }, { "idle", 1 }, { "idle", 2 }, { "idle", 3 }, { "rcv", 4 },
	};
	static uint8_t out[ATM_MSG_MAX], in[ATM_MSG_MAX];
	struct atm_dev *snd, *rcv, *dev[2];
	uint64_t base = 0, delay;

	DO(atm_open(&snd, stations, PORTS, bias, t, 5, 0));
	DO(atm_open(&rcv, stations, PORTS, bias, t, 5, 4));
	dev[0] = snd;
	dev[1] = rcv;
	begin(dev, 2, 2 * n);
	/* what time is it in there? */
	DO(atm_initsend(snd));
	DO(atm_snd(snd, "rcv", 4, 0));
	DO(atm_rcv_wait(rcv, 0, WAIT_MS));
	base = atm_time(rcv) + FIRST;
	for (i = 0; i < n; i++) {
		size = argc > at ? atoi(argv[at + i]) : usual[i];
		if (size < 0 || size > ATM_MSG_MAX)
			die("%d bytes: 0..%d", size, ATM_MSG_MAX);
		for (k = 0; k < size; k++)
			out[k] = (uint8_t)(k * 7 + i);
		DO(atm_initsend(snd));
		DO(atm_putbytes(snd, out, size));
		DO(atm_snd_at(snd, "rcv", 4, i + 1, base));
		DO(atm_rcv_wait(rcv, i + 1, WAIT_MS));
		if (atm_left(rcv) != size)
			die("%d bytes came of %d", atm_left(rcv), size);
		DO(atm_getbytes(rcv, in, size));
		if (memcmp(in, out, size))
			die("%d bytes came changed", size);
		delay = atm_time(rcv) - base;
		atm_note_at(snd, 1, i + 1, 4, atm_now(rcv) - delay);
		atm_note_at(rcv, 0, i + 1, 0, atm_now(rcv));
		printf("%d,%llu,%.6f\n", size, (unsigned long long)delay, (double)size / delay);
		base += APART;
	}
	atm_close(snd);
	atm_close(rcv);
	write_log(t);
	return 0;
}
