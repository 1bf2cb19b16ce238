// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "fabric/fabric.h"
#include "fabric/ref.h"

/* the kernel's prandom_u32_state(), from its definition as four shift registers */
static u32 lfsr[4];

static u32 lfsr_next(void)
{
	static const u8 a[4] = { 6, 2, 13, 3 }, b[4] = { 13, 27, 21, 12 }, d[4] = { 18, 2, 7, 13 };
	static const u32 c[4] = { ~1U, ~7U, ~15U, ~127U };
	u32 r = 0;
	int i;

	for (i = 0; i < 4; i++) {
		lfsr[i] = ((lfsr[i] & c[i]) << d[i]) ^ (((lfsr[i] << a[i]) ^ lfsr[i]) >> b[i]);
		r ^= lfsr[i];
	}
	return r;
}

static void lfsr_seed(u64 seed)
{
	static const u32 least[4] = { 2, 8, 16, 128 };
	u32 v = (u32)((seed >> 32) ^ (seed << 10) ^ seed);
	int i;

	for (i = 0; i < 4; i++)
		lfsr[i] = v < least[i] ? v + least[i] : v;
}

static const struct ref_msg *msgs;
static struct pw_fabric *f;
static struct ref_out *outs;
static int nout, maxout, *blocked, nblocked;
static u32 drop, corrupt;

static void deliver(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
		    const struct pw_fabric_times *t)
{
	if (nout < maxout)
		outs[nout] = (struct ref_out) { .cycle = cycle, .dst = dst, .id = (int)cookie };
	nout++;
}

static int offer(int id)
{
	const struct ref_msg *m = &msgs[id];

	return pw_fabric_send(f, m->src, m->dst < 0 ? PW_FABRIC_ALL : m->dst,
			      m->dst < 0 ? PW_FABRIC_AUTO : m->path, m->len, id, NULL);
}

static bool waits(int src)
{
	int i;

	for (i = 0; i < nblocked; i++)
		if (msgs[blocked[i]].src == src)
			return true;
	return false;
}

static void room(void *ctx, u16 src, u64 cycle)
{
	int i, id;

	for (i = 0; i < nblocked; ) {
		id = blocked[i];
		if (msgs[id].src != src) {
			i++;
			continue;
		}
		if (offer(id) == -EBUSY)
			return;
		nblocked--;
		memmove(blocked + i, blocked + i + 1, (nblocked - i) * sizeof(*blocked));
	}
}

static enum pw_bmx_fault fault_fn(void *ctx, u32 ppd, u64 t)
{
	u32 r;

	if (!drop && !corrupt)
		return PW_BMX_FAULT_NONE;
	r = lfsr_next() >> 12;
	if (r < drop)
		return PW_BMX_FAULT_DROP;
	return r < drop + corrupt ? PW_BMX_FAULT_CORRUPT : PW_BMX_FAULT_NONE;
}

int ref_run(const struct ref_msg *msg, int n, bool rtl, const struct ref_fault *fault,
	    struct ref_out *out, int max, uint64_t *resent)
{
	static const struct pw_fabric_ops ops = {
		.deliver = deliver, .room = room, .fault = fault_fn,
	};
	struct pw_fabric_params p = { .k = 4, .flags = PW_FABRIC_F_DEVICE |
						       (rtl ? 0 : PW_FABRIC_F_FAST) };
	struct pw_aal_stats st;
	void *mem = calloc(1, pw_fabric_size(&p));
	int i, err;

	blocked = calloc(n + 1, sizeof(*blocked));
	if (!mem || !blocked)
		return -1;
	msgs = msg;
	outs = out;
	maxout = max;
	nout = 0;
	nblocked = 0;
	drop = fault ? (u32)(((u64)fault->drop << 20) / 1000000) : 0;
	corrupt = fault ? (u32)(((u64)fault->corrupt << 20) / 1000000) : 0;
	lfsr_seed(fault ? fault->seed : 0);
	/* prandom_seed_state() draws nothing */
	f = pw_fabric_init(mem, &p, &ops, NULL);
	for (i = 0; i < n; i++) {
		while (pw_fabric_now(f) < msg[i].cycle)
			pw_fabric_run(f, msg[i].cycle, 1 << 20);
		err = waits(msg[i].src) ? -EBUSY : offer(i);
		if (err == -EBUSY)
			blocked[nblocked++] = i;
		else if (err)
			return -1;
	}
	while (pw_fabric_next(f) != PW_FABRIC_NEVER)
		pw_fabric_run(f, pw_fabric_next(f) + 1000, 1 << 20);
	if (resent) {
		*resent = 0;
		for (i = 0; i < 16; i++) {
			pw_fabric_port_stats(f, i, &st);
			*resent += st.resent;
		}
	}
	free(blocked);
	free(mem);
	return nblocked ? -1 : nout;
}
