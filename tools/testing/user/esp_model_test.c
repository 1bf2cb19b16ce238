// SPDX-License-Identifier: GPL-2.0
/*
 * ESP against a naive model: the model is an array that is searched from end to
 * end, copied before every instruction and put back when it aborts.
 * 10,000,000 steps in the plain 64-bit build, fewer where everything is slow.
 */
#include <time.h>
#include "tap.h"
#include "esp.h"

#if defined(__SANITIZE_ADDRESS__) || __SIZEOF_LONG__ < 8
#define STEPS 2000000
#else
#define STEPS 10000000
#endif

#define CAP_MAX 24
#define SPREAD 0x9e3779b97f4a7c15ULL

struct model {
	u64 life, id;
	u32 cap, n;
	struct { u64 tag, val, born; bool mark; u64 sib; } b[CAP_MAX];
};

static const siphash_key_t key = { { 0x1122334455667788ULL, 0x99aabbccddeeff00ULL } };

static void m_expire(struct model *m, u64 now)
{
	u32 k = 0;

	for (u32 i = 0; i < m->n; i++)
		if (now < m->b[i].born + m->life)
			m->b[k++] = m->b[i];
	m->n = k;
}

/* a mark is found by the pair (sib, packet id), no hash involved */
static bool m_find(struct model *m, bool mark, u64 sib, u64 tag, u64 **val)
{
	for (u32 i = 0; i < m->n; i++)
		if (m->b[i].tag == tag && m->b[i].mark == mark && m->b[i].sib == sib) {
			*val = &m->b[i].val;
			return true;
		}
	return false;
}

static bool m_put(struct model *m, u64 now, bool mark, u64 sib, u64 tag, u64 val)
{
	u64 *v;

	if (m_find(m, mark, sib, tag, &v)) {
		*v = val;
		return true;
	}
	if (m->n == m->cap)
		return false;
	m->b[m->n].tag = tag;
	m->b[m->n].val = val;
	m->b[m->n].born = now;
	m->b[m->n].mark = mark;
	m->b[m->n++].sib = sib;
	return true;
}

static bool m_get(struct model *m, u64 tag, u64 *val)
{
	u64 *v;

	*val = 0;
	if (!m_find(m, false, 0, tag, &v))
		return false;
	*val = *v;
	return true;
}

static u64 m_op(u8 op, u64 a, u64 b)
{
	return op == PW_ESP_OP_ADD ? a + b : op == PW_ESP_OP_AND ? (a & b) :
	       op == PW_ESP_OP_OR ? (a | b) : op == PW_ESP_OP_XOR ? (a ^ b) :
	       op == PW_ESP_OP_MAX ? (a > b ? a : b) : (a < b ? a : b);
}

/* the table of the specification, line by line; false: abort */
static bool m_exec(struct model *m, u64 now, struct pw_esp_insn *in, bool *forward)
{
	u64 *f = in->f, v, c, *mark;

	switch (in->opcode) {
	case PW_ESP_COUNT:
		m_get(m, f[PW_ESP_F_TAG], &v);
		*forward = v + 1 <= f[PW_ESP_F_THRESH];
		return m_put(m, now, false, 0, f[PW_ESP_F_TAG], v + 1);
	case PW_ESP_COMPARE:
		c = f[PW_ESP_F_VAL];
		*forward = !m_get(m, f[PW_ESP_F_TAG], &v) ||
			   (in->op == 1 ? v < c : in->op == 2 ? v <= c : in->op == 3 ? v == c :
			    in->op == 4 ? v != c : in->op == 5 ? v >= c : v > c);
		return !*forward || m_put(m, now, false, 0, f[PW_ESP_F_TAG], c);
	case PW_ESP_COLLECT:
		v = m_get(m, f[PW_ESP_F_VAL_TAG], &v) ? m_op(in->op, v, f[PW_ESP_F_VAL]) :
		    f[PW_ESP_F_VAL];
		if (!m_put(m, now, false, 0, f[PW_ESP_F_VAL_TAG], v) ||
		    !m_get(m, f[PW_ESP_F_CNT_TAG], &c) ||
		    !m_put(m, now, false, 0, f[PW_ESP_F_CNT_TAG], c - 1))
			return false;
		*forward = c - 1 == 0;
		if (*forward)
			f[PW_ESP_F_VAL] = v;
		return true;
	case PW_ESP_RCHLD:
		if (!m_find(m, true, f[PW_ESP_F_SIB_TAG], f[PW_ESP_F_PKT_ID], &mark)) {
			m_get(m, f[PW_ESP_F_SIB_TAG], &v);
			if (!m_put(m, now, true, f[PW_ESP_F_SIB_TAG], f[PW_ESP_F_PKT_ID], 1) ||
			    !m_put(m, now, false, 0, f[PW_ESP_F_SIB_TAG], v + 1))
				return false;
		}
		m_get(m, f[PW_ESP_F_FWD_TAG], &v);
		*forward = v + 1 <= f[PW_ESP_F_FWD_THRESH];
		if (*forward)
			f[PW_ESP_F_PKT_ID] = m->id;
		return m_put(m, now, false, 0, f[PW_ESP_F_FWD_TAG], v + 1);
	default:
		if (!m_find(m, true, f[PW_ESP_F_SIB_TAG], f[PW_ESP_F_PKT_ID], &mark) ||
		    !m_get(m, f[PW_ESP_F_SIB_TAG], &c))
			return false;
		if (*mark == 1) {
			*mark = 0;
			m_put(m, now, false, 0, f[PW_ESP_F_SIB_TAG], --c);
			v = m_get(m, f[PW_ESP_F_COMP_TAG], &v) ?
			    m_op(in->op, v, f[PW_ESP_F_VAL]) : f[PW_ESP_F_VAL];
			if (!m_put(m, now, false, 0, f[PW_ESP_F_COMP_TAG], v))
				return false;
		}
		*forward = false;
		if (c)
			return true;
		if (!m_get(m, f[PW_ESP_F_COMP_TAG], &c))
			return false;
		m_get(m, f[PW_ESP_F_FWD_TAG], &v);
		if (!m_put(m, now, false, 0, f[PW_ESP_F_FWD_TAG], v + 1))
			return false;
		*forward = v + 1 <= f[PW_ESP_F_FWD_THRESH];
		if (*forward) {
			f[PW_ESP_F_PKT_ID] = m->id;
			f[PW_ESP_F_VAL] = c;
		}
		return true;
	}
}

/* every live binding of both, in order of creation */
static bool same(struct pw_esp_store *st, struct model *m, u64 now)
{
	u64 tag, val, left;

	if (pw_esp_store_live(st, now) != m->n)
		return false;
	for (u32 i = 0; i < m->n; i++) {
		u64 want = m->b[i].tag;

		if (m->b[i].mark)
			want = pw_esp_mark_tag(st, m->b[i].sib, m->b[i].tag);

		if (!pw_esp_store_peek(st, now, i, &tag, &val, &left) || tag != want ||
		    val != m->b[i].val || left != m->b[i].born + m->life - now)
			return false;
	}
	return true;
}

int main(void)
{
	unsigned long steps = tap_scaled(STEPS), done, wrong = 0, verdicts[3] = { 0 };
	unsigned long by_op[PW_ESP_OPCODES][3] = { { 0 } }, full = 0, expiries = 0;
	unsigned long long seed = 20240607;
	struct pw_esp_store st;
	static struct model m, old;
	u64 now = 0;
	void *mem = malloc(pw_esp_store_bytes(CAP_MAX));
	bool alive = true;

	for (done = 0; done < steps && !wrong; done++) {
		struct pw_esp_insn in = { 0 }, model_in;
		struct pw_esp_result res;
		const struct pw_esp_desc *d;
		bool forward = false, good;
		int want;

		if (done % 5000 == 0) {
			m.cap = 1 + tap_rand(&seed) % CAP_MAX;
			m.life = 1 + tap_rand(&seed) % 200;
			m.id = tap_rand(&seed) % 8;
			m.n = 0;
			if (pw_esp_store_init(&st, mem, pw_esp_store_bytes(m.cap), m.cap, m.life,
					      &key))
				break;
			now = tap_rand(&seed) >> 2;
		}
		switch (tap_rand(&seed) % 16) {
		case 0:
			now += tap_rand(&seed) % (m.life + 2);
			break;
		case 1:	/* to the very end of the oldest binding, or one before it */
			if (m.n) {
				now = max(now, m.b[0].born + m.life - (tap_rand(&seed) & 1));
				expiries++;
			}
			break;
		case 2:
			now += tap_rand(&seed) % 4;
			break;
		}
		m_expire(&m, now);
		if (tap_rand(&seed) % 8 == 0) {
			u64 tag = tap_rand(&seed) % 8, val = tap_rand(&seed) % 4, got, exp;
			bool g, e;

			if (tap_rand(&seed) & 1) {
				g = !pw_esp_store_put(&st, now, tag, val);
				e = m_put(&m, now, false, 0, tag, val);
				wrong += g != e;
			} else {
				g = pw_esp_store_get(&st, now, tag, &got);
				e = m_get(&m, tag, &exp);
				wrong += g != e || got != exp;
			}
		} else {
			in.opcode = 1 + tap_rand(&seed) % 5;
			d = &pw_esp_desc[in.opcode];
			in.op = d->op_kind ? 1 + tap_rand(&seed) % 6 : 0;
			for (int i = 0; i < d->n; i++)
				in.f[d->field[i]] = tap_rand(&seed) %
					(d->field[i] == PW_ESP_F_PKT_ID ? 4 : 8);
			model_in = in;
			old = m;
			good = m_exec(&m, now, &model_in, &forward);
			if (!good) {
				m = old;
				model_in = in;
			}
			pw_esp_exec(&st, m.id, now, &in, &res);
			want = !good ? PW_ESP_V_ABORT :
			       forward ? PW_ESP_V_FORWARD : PW_ESP_V_DISCARD;
			wrong += res.verdict != want || memcmp(in.f, model_in.f, sizeof(in.f));
			verdicts[want - PW_ESP_V_FORWARD]++;
			by_op[in.opcode][want - PW_ESP_V_FORWARD]++;
			full += res.reason == PW_ESP_R_FULL;
		}
		wrong += !same(&st, &m, now);
	}
	ok(!wrong && done == steps, "%lu random steps agree with the naive map", done);
	for (int i = 1; i < PW_ESP_OPCODES; i++)
		for (int j = 0; j < 3; j++)
			if (by_op[i][j] * 1000 < done / 10) {
				alive = false;
				diag("%s: verdict %d only %lu times", pw_esp_desc[i].name, j,
				     by_op[i][j]);
			}
	ok(alive, "every instruction met every verdict");
	ok(full > done / 1000 && expiries > done / 100, "full stores and exact expiries were met");
	diag("%lu steps: forward %lu, discard %lu, abort %lu (full %lu), expiries aimed at %lu",
	     done, verdicts[0], verdicts[1], verdicts[2], full, expiries);

	/* a large store: what counts here is speed, and that the ring wraps */
	{
		u32 cap = 1 << 16;
		unsigned long n = tap_scaled(2000000), bad = 0, refused = 0;
		void *big = malloc(pw_esp_store_bytes(cap));
		struct timespec a, b;
		u64 v;

		pw_esp_store_init(&st, big, pw_esp_store_bytes(cap), cap, 50000, &key);
		clock_gettime(CLOCK_MONOTONIC, &a);
		for (unsigned long i = 0; i < n; i++) {
			/* every tag lives 50000 steps: 50000 live ones of 65536 */
			refused += !!pw_esp_store_put(&st, i, i * SPREAD, i);
			if (i >= 50000) {
				bad += pw_esp_store_get(&st, i, (i - 50000) * SPREAD, &v);
				bad += !pw_esp_store_get(&st, i, (i - 49999) * SPREAD, &v) ||
				       v != i - 49999;
			}
		}
		clock_gettime(CLOCK_MONOTONIC, &b);
		ok(!bad && !refused && pw_esp_store_live(&st, n - 1) == min(n, 50000UL),
		   "%lu bindings go round a ring of %u", n, cap);
		diag("%.0f ns for a put and two gets",
		     ((b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec) / n);
		free(big);
	}
	free(mem);
	return tap_done();
}
