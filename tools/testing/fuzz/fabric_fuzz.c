// SPDX-License-Identifier: GPL-2.0
/*
 * Two targets, chosen by the first byte: arbitrary cells into a unit, and a
 * script of messages and faults run on both engines, which must agree.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"

struct side {
	struct pw_fabric *f;
	u64 hash;
	u64 salt;
	unsigned int drop;
};

static void mix(struct side *s, u64 v)
{
	s->hash = (s->hash ^ v) * 0x9e3779b97f4a7c15ull;
	s->hash ^= s->hash >> 31;
}

static void deliver(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
		    const struct pw_fabric_times *t)
{
	mix(ctx, cycle << 20 | dst << 10 | src);
	mix(ctx, cookie);
}

static void done(void *ctx, u16 src, u64 cookie, u64 cycle, const struct pw_fabric_times *t)
{
	mix(ctx, cycle ^ cookie << 48);
}

static enum pw_bmx_fault fault(void *ctx, u32 ppd, u64 t)
{
	struct side *s = ctx;
	u64 v = (t * 31 + ppd + s->salt) * 0x9e3779b97f4a7c15ull >> 56;

	if (v >= s->drop)
		return PW_BMX_FAULT_NONE;
	return v & 1 ? PW_BMX_FAULT_DROP : PW_BMX_FAULT_CORRUPT;
}

static const struct pw_fabric_ops ops = { .deliver = deliver, .done = done, .fault = fault };

static u64 play(const u8 *p, size_t n, u32 flags, u32 salt)
{
	struct pw_fabric_params par = {
		.k = 2, .depth = 2 + (salt & 3), .og_blocks = 24, .ic_blocks = 160, .queue = 4,
		.resend = 1500, .keep = 2000, .flags = flags,
	};
	struct side s = { .hash = 1, .salt = salt, .drop = salt >> 4 & 31 };
	void *mem = malloc(pw_fabric_size(&par));
	u64 at = 0, cookie = 0;

	s.f = pw_fabric_init(mem, &par, &ops, &s);
	for (; n >= 4; p += 4, n -= 4) {
		u16 dst = p[0] & 0x80 ? PW_FABRIC_ALL : p[0] >> 2 & 3;

		at += p[3] * 4;
		while (pw_fabric_now(s.f) < at)
			pw_fabric_run(s.f, at, 100);
		mix(&s, pw_fabric_send(s.f, p[0] & 3, dst, (p[1] & 3) - 1 > 1 ? 0 : (p[1] & 3) - 1,
				       p[2] * (p[1] & 4 ? 2 : 1), cookie++, NULL));
	}
	at += 12000;
	while (pw_fabric_now(s.f) < at)
		pw_fabric_run(s.f, at, 1000);
	for (u32 i = 0; i < 4; i++) {
		struct pw_aal_stats st;

		pw_fabric_port_stats(s.f, i, &st);
		for (u32 j = 0; j < sizeof(st) / 8; j++)
			mix(&s, ((u64 *)&st)[j]);
	}
	free(mem);
	return s.hash;
}

/* bytes straight from the wire; every other cell gets a CRC that fits */
static void wire(const u8 *p, size_t n)
{
	static const struct pw_aal_ops none;
	struct pw_aal_cfg cfg = { .ports = 16, .port = 3, .og_blocks = 8, .ic_blocks = 8,
				  .keep = 200, .descs = 2, .engine = &pw_aal_rtl };
	struct pw_aal *u = pw_aal_init(malloc(pw_aal_size(&cfg)), &cfg, &none, NULL);
	u8 cell[PW_BMX_CELL];

	while (n >= 12) {
		memset(cell, 0, sizeof(cell));
		memcpy(cell + PW_CELL_TYPE, p, 10);
		if (p[10] & 1)
			put_unaligned_be16(3, cell + PW_CELL_DST);
		if (p[10] & 2)
			put_unaligned_be16(pw_cell_crc(cell), cell + PW_CELL_CRC);
		for (u32 i = 0; i < PW_BMX_CELL; i++) {
			u->icbytei = true;
			u->icbyte = cell[i];
			u->ogsuspend = p[11] == i;
			pw_aal_step(u);
			if (u->ogbblknum + u->ogfinum != 8 || u->icbblknum + u->icfinum != 8)
				abort();
		}
		for (u32 i = 0; i < p[11]; i++) {
			u->icbytei = false;
			u->ogsuspend = false;
			pw_aal_step(u);
		}
		p += 12;
		n -= 12;
	}
	free(u);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u32 flags;

	if (size < 3 || size > 300)
		return 0;
	if (data[0] & 1) {
		wire(data + 1, size - 1);
		return 0;
	}
	flags = data[0] & 2 ? PW_FABRIC_F_DEVICE : 0;
	flags |= data[0] & 4 ? PW_FABRIC_F_SELF : 0;
	if (play(data + 3, size - 3, flags, data[1] | data[2] << 8) !=
	    play(data + 3, size - 3, flags | PW_FABRIC_F_FAST, data[1] | data[2] << 8))
		abort();
	return 0;
}
