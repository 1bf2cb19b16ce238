// SPDX-License-Identifier: GPL-2.0
/*
 * The table of parameters against the fabric: same defaults, same limits, and what the
 * table allows runs on both engines with the same result.
 */
#include "fabric/fabric_fault.h"
#include "fabric/fabric_param.h"
#include "fabric/fabric_priv.h"
#include "tap.h"

typedef unsigned long long ull;

#define CYCLES (TAP_EMULATED ? 8000 : 25000)	/* of a run */

static const u32 machines[] = { 0, PW_FABRIC_F_DEVICE };

static void no_deliver(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
		       const struct pw_fabric_times *t)
{
	u64 *hash = ctx;

	*hash = (*hash ^ cycle << 16 ^ dst << 8 ^ src ^ cookie << 40) * 0x9e3779b97f4a7c15ull;
	*hash ^= *hash >> 31;
}

static const struct pw_fabric_ops ops = { .deliver = no_deliver };

static struct pw_fabric *open_fabric(const struct pw_fabric_params *p, u64 *hash)
{
	void *mem = malloc(pw_fabric_size(p));

	if (!mem)
		abort();
	*hash = 1;
	return pw_fabric_init(mem, p, &ops, hash);
}

static void defaults(void)
{
	u32 i, m, v;
	u64 hash;

	for (m = 0; m < PW_FABRIC_MACHINES; m++) {
		struct pw_fabric_params p = { .flags = machines[m] };
		struct pw_fabric *f = open_fabric(&p, &hash);
		const struct pw_aal_cfg *c = &pw_fabric_aal(f, 0)->cfg;

		is(pw_fabric_machine_of(&p), m, "%s: the machine", pw_fabric_machine[m]);
		for (i = 0; i < pw_fabric_param_num; i++) {
			const struct pw_fabric_param *d = &pw_fabric_param[i];

			if (!pw_fabric_param_has(d, m)) {
				is(pw_fabric_param_get(&p, d), 0, "%s has no %s",
				   pw_fabric_machine[m], d->name);
				continue;
			}
			/* timers have their default in the unit */
			v = d->at == offsetof(struct pw_fabric_params, resend) ? c->resend :
			    d->at == offsetof(struct pw_fabric_params, keep) ? c->keep :
			    pw_fabric_param_get(&f->p, d);
			is(v, d->def[m], "%s: %s is %u", pw_fabric_machine[m], d->name, d->def[m]);
			is(pw_fabric_param_get(&p, d), d->def[m], "and so says the table");
		}
		free(f);
	}
}

static bool in_range(const struct pw_fabric_params *p, const struct pw_fabric_param *d, u32 v)
{
	struct pw_fabric_params q = *p;

	pw_fabric_param_set(&q, d, v);
	return !pw_fabric_check(&q);
}

/* the fabric allows the ends of each range, and where it has a limit of its own, no more */
static void ends(void)
{
	u32 i, m, lo, hi;

	for (m = 0; m < PW_FABRIC_MACHINES; m++) {
		for (i = 0; i < pw_fabric_param_num; i++) {
			const struct pw_fabric_param *d = &pw_fabric_param[i];
			struct pw_fabric_params p = { .flags = machines[m] };

			pw_fabric_param_range(&p, d, &lo, &hi);
			if (!pw_fabric_param_has(d, m)) {
				ok(hi < lo, "%s: no range of %s", pw_fabric_machine[m], d->name);
				pw_fabric_param_set(&p, d, d->min);
				ok(pw_fabric_param_wrong(&p) == d, "and it is refused");
				continue;
			}
			ok(lo >= d->min && hi <= d->max && in_range(&p, d, lo) && in_range(&p, d, hi),
			   "%s: %s may be %u and %u", pw_fabric_machine[m], d->name, lo, hi);
			pw_fabric_param_set(&p, d, hi + 1);
			ok(pw_fabric_param_wrong(&p) == d, "%u is refused", hi + 1);
			if (lo > 1) {
				pw_fabric_param_set(&p, d, lo - 1);
				ok(pw_fabric_param_wrong(&p) == d && pw_fabric_check(&p),
				   "%u is refused", lo - 1);
			}
		}
	}
	ok(!pw_fabric_param_find("port") && !pw_fabric_param_find("") &&
	   pw_fabric_param_find("gap-word"), "names");
}

static u32 rnd(ull *s, u32 n)
{
	return tap_rand(s) % n;
}

/* random sizes: what the table allows the fabric allows; what the fabric refuses it names */
static void agree(void)
{
	static const u32 some[] = { 0, 1, 2, 3, 16, 17, 63, 64, 65, 127, 128, 129, 200, 256, 4095,
				    4096, 65534, 65535, 65536, INT_MAX, 1U << 31, U32_MAX };
	u64 allowed = 0, refused = 0, wrong = 0, n, rounds = tap_scaled(200000);
	const struct pw_fabric_param *d;
	ull s = 7;
	u32 i;

	for (n = 0; n < rounds; n++) {
		struct pw_fabric_params p = { .flags = machines[rnd(&s, 2)] };

		for (i = rnd(&s, 4); i; i--)
			pw_fabric_param_set(&p, &pw_fabric_param[rnd(&s, pw_fabric_param_num)],
					    some[rnd(&s, ARRAY_SIZE(some))]);
		d = pw_fabric_param_wrong(&p);
		if (d)
			refused++;
		else
			allowed++;
		wrong += !d && pw_fabric_check(&p);
	}
	is(wrong, 0, "%llu sizes that the table allows suit the fabric", (ull)allowed);
	ok(allowed > rounds / 100 && refused > rounds / 100, "%llu are refused", (ull)refused);
}

static u64 run(struct pw_fabric_params p, bool fast, ull s, u32 *sent)
{
	struct pw_fabric *f;
	u32 i, ports;
	u64 hash;

	p.flags |= fast ? PW_FABRIC_F_FAST : 0;
	f = open_fabric(&p, &hash);
	ports = f->ports;
	*sent = 0;
	for (i = 0; i < 60; i++) {
		u32 src = rnd(&s, ports), dst = rnd(&s, ports), len = rnd(&s, 90), gap = rnd(&s, 200);

		*sent += !pw_fabric_send(f, src, dst, PW_FABRIC_AUTO, len, i, NULL);
		while (gap && pw_fabric_now(f) < 20 * i + gap)
			pw_fabric_run(f, 20 * i + gap, UINT_MAX);
	}
	while (pw_fabric_now(f) < CYCLES)
		pw_fabric_run(f, CYCLES, UINT_MAX);
	free(f);
	return hash;
}

/* each parameter at both ends of what is practical: rtl and fast agree */
static void engines(void)
{
	static const struct {
		const char *name;
		u32 v[2];
	} at[] = {
		{ "k", { 2, 5 } }, { "depth", { 1, 64 } }, { "og-blocks", { 4, 3000 } },
		{ "ic-blocks", { 3, 6000 } }, { "descs", { 1, 200 } }, { "credit", { 4, 1000 } },
		{ "resend", { 300, 2000000 } }, { "keep", { 200, 100000 } }, { "queue", { 2, 200 } },
		{ "gap-lock", { 1, 500 } }, { "gap-init", { 1, 500 } }, { "gap-get", { 1, 500 } },
		{ "gap-word", { 1, 100 } }, { "route", { 2, 3 } },
	};
	u32 i, j, m, a, b, lo, hi, same, differ;
	u64 h, base;

	is(ARRAY_SIZE(at), pw_fabric_param_num, "a case for each parameter");
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		const struct pw_fabric_param *d = pw_fabric_param_find(at[i].name);

		same = 0;
		differ = 0;
		for (m = 0; d && m < PW_FABRIC_MACHINES; m++) {
			struct pw_fabric_params p = { .flags = machines[m] };

			base = run(p, true, i + 1, &a);
			for (j = 0; j < 2; j++) {
				pw_fabric_param_range(&p, d, &lo, &hi);
				if (lo <= hi)
					pw_fabric_param_set(&p, d, max(at[i].v[j], lo));
				h = run(p, true, i + 1, &a);
				same += h == run(p, false, i + 1, &b) && a == b;
				differ += h != base;
			}
		}
		is(same, 4, "%s: rtl and fast agree, both machines", at[i].name);
		ok(differ, "%s has an effect", at[i].name);
	}
}

/* draws of one seed at 48 units in turn */
static void count(const struct pw_fabric_faults *c, u32 rounds, u32 *drop, u32 *corrupt)
{
	u32 i;

	*drop = 0;
	*corrupt = 0;
	for (i = 0; i < rounds; i++) {
		enum pw_bmx_fault what = pw_fabric_fault(c, i % 48, 1000 + i / 48 * 53ULL);

		*drop += what == PW_BMX_FAULT_DROP;
		*corrupt += what == PW_BMX_FAULT_CORRUPT;
	}
}

static bool near(u32 n, u32 ppm, u32 rounds)
{
	double want = (double)rounds * ppm / PW_FABRIC_FAULT_PPM;

	/* five standard deviations; the draws are fixed, so that this is so always or never */
	return (n - want) * (n - want) <= 25 * want + 1;
}

/* seeded faults: as many as asked for, other cells with another seed, unit or cycle */
static void faults(void)
{
	static const struct pw_fabric_faults some[] = {
		{ 1, 0, 1 }, { 0, 1, 0 }, { 1000, 1000, 2 }, { 3334, 3334, 4711 }, { 100000, 20000, 7 },
		{ PW_FABRIC_FAULT_MAX, PW_FABRIC_FAULT_MAX, U32_MAX },
	};
	struct pw_fabric_faults a = { PW_FABRIC_FAULT_MAX, 0, 1 }, b = a;
	u32 i, n, drop, corrupt, rounds = 4000000, same[4] = {};
	const struct pw_fabric_param *d;
	u32 hash = 0;

	for (i = 0; i < ARRAY_SIZE(some); i++) {
		count(&some[i], rounds, &drop, &corrupt);
		ok(near(drop, some[i].drop, rounds) && near(corrupt, some[i].corrupt, rounds),
		   "%u and %u ppm: %u and %u of %u cells", some[i].drop, some[i].corrupt, drop,
		   corrupt, rounds);
	}
	/* half of all cells: two independent draws agree in half of them */
	b.seed = 2;
	for (i = 0; i < 100000; i++) {
		n = pw_fabric_fault(&a, i % 7, i);
		same[0] += n == pw_fabric_fault(&b, i % 7, i);
		same[1] += n == pw_fabric_fault(&a, i % 7 + 1, i);
		same[2] += n == pw_fabric_fault(&a, i % 7, i + 1);
		same[3] += n == pw_fabric_fault(&a, i % 7, i + (1ULL << 32));
		hash = hash * 3 + n;
	}
	for (i = 0; i < 4; i++)
		ok(same[i] > 49000 && same[i] < 51000, "%u of 100000 cells agree by chance", same[i]);
	/* other draws would change every run with faults */
	is(hash, 649980173u, "the draws of seed 1");
	is(PW_FABRIC_FAULT_PARAMS * sizeof(u32), sizeof(a), "a line for each member");
	for (i = 0; i < PW_FABRIC_FAULT_PARAMS; i++) {
		d = &pw_fabric_fault_param[i];
		ok(pw_fabric_fault_find(d->name) == d && !pw_fabric_param_find(d->name), "%s", d->name);
		pw_fabric_fault_set(&a, d, 40 + i);
	}
	ok(a.drop == 40 && a.corrupt == 41 && a.seed == 42, "each sets its member");
	ok(!pw_fabric_fault_find("seed") && !pw_fabric_fault_find("depth"), "no other names");
}

int main(void)
{
	faults();
	defaults();
	ends();
	agree();
	engines();
	return tap_done();
}
