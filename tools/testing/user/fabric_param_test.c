// SPDX-License-Identifier: GPL-2.0
/*
 * The table of parameters against the fabric: same defaults, same limits, and what the
 * table allows runs on both engines with the same result.
 */
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

int main(void)
{
	defaults();
	ends();
	agree();
	engines();
	return tap_done();
}
