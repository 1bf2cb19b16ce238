// SPDX-License-Identifier: GPL-2.0
/*
 * A resource finder: find STATION STATIONS SEED
 *                    find --sequential SEED
 *
 * Each station has some resources (memory, say) of different sizes and gives each of
 * them away once, to who claims it first.
 *
 * Best fit: processes have jobs, in turn. The need of a job goes to all by messages, each
 * station stores the size of the smallest free resource that is large enough, and MIN
 * names the best one of all and the station that has it, which gets the claim.
 *
 * Rush: all processes claim at once what is left. MAX names the largest free resource. It
 * may be gone when the claim arrives: the station that has it decides, and the others
 * that claimed it ask the ring again. The first resource is claimed by all of them.
 */
#include "apps.h"

#define RESOURCES	48
#define JOBS		24
#define NONE		UINT64_MAX

enum { FIT, LARGEST, READY, TAKEN, CHECKSUM, REGS };
enum { TE_NEED = 1, TE_CLAIM, TE_GRANTED, TE_REFUSED };

struct need {
	uint32_t job, size;
};

struct finder {
	struct app a;
	uint32_t size[RESOURCES];
	bool taken[RESOURCES];	/* known only to the station that has the resource */
	int answer;		/* TE_GRANTED, TE_REFUSED or 0: none yet */
	uint64_t rush, checksum, refused;
};

static void make_resources(uint32_t size[RESOURCES], uint64_t seed)
{
	uint32_t i;

	for (i = 0; i < RESOURCES; i++)
		size[i] = 1 + pick(seed, 0, i) % 40;	/* some are equal */
}

static uint32_t need(uint64_t seed, uint32_t job)
{
	return job == JOBS - 1 ? 41 : 1 + pick(seed, 1, job) % 40;	/* the last one is too large */
}

/* orders resources by size, and is another one for each */
static uint64_t key(const uint32_t *size, uint32_t i)
{
	return (uint64_t)size[i] << 32 | i;
}

static void print_job(uint32_t job, uint32_t need, uint64_t k)
{
	if (k == NONE)
		printf("job %u needs %u: nothing fits\n", job, need);
	else
		printf("job %u needs %u: resource %u of size %u\n", job, need, (uint32_t)k,
		       (uint32_t)(k >> 32));
}

static void print_rush(uint64_t n, uint64_t sum)
{
	printf("rush: %llu resources, checksum %016llx\n", (unsigned long long)n,
	       (unsigned long long)sum);
}

static void sequential(uint64_t seed)
{
	uint32_t size[RESOURCES], i, job;
	bool taken[RESOURCES] = {};
	uint64_t best, n = 0, sum = 0;

	make_resources(size, seed);
	for (job = 0; job < JOBS; job++) {
		best = NONE;
		for (i = 0; i < RESOURCES; i++)
			if (!taken[i] && size[i] >= need(seed, job) && key(size, i) < best)
				best = key(size, i);
		if (best != NONE)
			taken[(uint32_t)best] = true;
		print_job(job, need(seed, job), best);
	}
	for (i = 0; i < RESOURCES; i++) {
		if (taken[i])
			continue;
		n++;
		sum += mix(i);
	}
	print_rush(n, sum);
}

/* of the own free resources: the smallest one of at least @size, and the largest one of all */
static void store(struct finder *f, uint32_t size)
{
	uint64_t fit = NONE, largest = 0, k;
	uint32_t i;

	for (i = f->a.r.place; i < RESOURCES; i += f->a.r.n) {
		if (f->taken[i])
			continue;
		k = key(f->size, i);
		if (f->size[i] >= size && k < fit)
			fit = k;
		if (k > largest)
			largest = k;
	}
	set(&f->a.r, FIT, fit);
	set(&f->a.r, LARGEST, largest);
}

static void fit(struct finder *f, const struct need *n)
{
	store(f, n->size);
	set(&f->a.r, READY, n->job + 1);
}

/* the station that has resource @i decides */
static int decide(struct finder *f, uint32_t i)
{
	if (i >= RESOURCES || i % f->a.r.n != f->a.r.place || f->taken[i])
		return TE_REFUSED;
	f->taken[i] = true;
	store(f, 0);
	return TE_GRANTED;
}

static bool hear(void *program, int ms)
{
	struct finder *f = program;
	struct need n;
	struct pwl_eep m;
	uint32_t i;

	if (!collect(&f->a, &m, ms))
		return false;
	switch (m.te) {
	case TE_NEED:
		take(&m, &n, sizeof(n));
		fit(f, &n);
		break;
	case TE_CLAIM:
		take(&m, &i, sizeof(i));
		post(&f->a, m.src, decide(f, i), NULL, 0);
		break;
	case TE_GRANTED:
	case TE_REFUSED:
		f->answer = m.te;
		break;
	}
	return true;
}

static bool claim(struct finder *f, uint32_t station, uint32_t i)
{
	f->answer = 0;
	if (station == f->a.r.addr[f->a.r.place])
		f->answer = decide(f, i);
	else
		post(&f->a, station, TE_CLAIM, &i, sizeof(i));
	while (!f->answer)
		hear(f, 1000);
	return f->answer == TE_GRANTED;
}

static void place_job(struct finder *f, uint32_t job, uint32_t size)
{
	struct need n = { .job = job, .size = size };
	struct pwl_result best;

	post_others(&f->a, TE_NEED, &n, sizeof(n));
	fit(f, &n);
	await(&f->a.r, READY, job + 1);
	best = ask(&f->a.r, PW_ATON_OP_MIN, FIT);
	if (best.v1 != NONE && !claim(f, best.v2, best.v1))
		errx(1, "job %u: resource %u is gone", job, (uint32_t)best.v1);
	print_job(job, size, best.v1);
}

static void rush(struct finder *f)
{
	struct pwl_result best;

	best = ask(&f->a.r, PW_ATON_OP_MAX, LARGEST);
	meet(&f->a.r);		/* all have the same answer */
	for (; best.v1; best = ask(&f->a.r, PW_ATON_OP_MAX, LARGEST)) {
		if (claim(f, best.v2, best.v1)) {
			printf("# took resource %u\n", (uint32_t)best.v1);
			f->rush++;
			f->checksum += mix((uint32_t)best.v1);
		} else {
			f->refused++;
		}
		/* those that claim here are not kept waiting */
		while (hear(f, 0))
			;
	}
	set(&f->a.r, TAKEN, f->rush);
	set(&f->a.r, CHECKSUM, f->checksum);
	serve(&f->a, hear, f);
}

int main(int argc, char **argv)
{
	static struct finder f;
	struct ring *r = &f.a.r;
	uint64_t seed, taken, sum;
	uint32_t i;

	if (!app_start(&f.a, argc, argv, REGS, &seed)) {
		sequential(seed);
		return 0;
	}
	make_resources(f.size, seed);
	places(r);
	for (i = 0; i < JOBS; i++) {
		if (i % r->n == r->place)
			place_job(&f, i, need(seed, i));
		serve(&f.a, hear, &f);
	}
	store(&f, 0);
	meet(r);
	rush(&f);
	taken = ask(r, PW_ATON_OP_ADD, TAKEN).v1;
	sum = ask(r, PW_ATON_OP_ADD, CHECKSUM).v1;
	if (r->place == 0)
		print_rush(taken, sum);
	printf("# took %llu in the rush, refused %llu\n", (unsigned long long)f.rush,
	       (unsigned long long)f.refused);
	app_end(&f.a);
	return 0;
}
