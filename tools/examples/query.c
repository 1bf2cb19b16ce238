// SPDX-License-Identifier: GPL-2.0
/*
 * Queries to a distributed data base: query STATION STATIONS SEED
 *                                     query --sequential SEED
 *
 * A table of people, each row at one of the stations. A query selects by age. Processes
 * ask in turn: the query goes to all by messages, each station scans its rows and
 * stores what it found, and the ring puts that together, in one packet for each figure:
 *
 *   rows, sum of salaries, rows by department	ADD
 *   least and highest salary			MIN, MAX, which also name the station
 *   stations with such rows			a count
 *
 * The rows themselves come in order of salary: MAX names the station that has the
 * next one, which sends it and stores the key of the row that follows. So the ring
 * merges the lists of all stations.
 */
#include "apps.h"

#define ROWS	600
#define QUERIES	8
#define DEPTS	4
#define TOP	5	/* rows that a query shows */
#define NONE	UINT64_MAX

enum { COUNT, SUM, LEAST, MOST, DEPT, READY = DEPT + DEPTS, REGS };
enum { TE_QUERY = 1, TE_FETCH, TE_ROW };

struct row {
	uint32_t id, age, dept, salary;
};

struct query {
	uint32_t number, from, to;	/* ages */
};

struct answer {
	uint64_t count, sum, least, most, dept[DEPTS];
	struct row top[TOP];
	int n;				/* rows in @top */
};

struct base {
	struct app a;
	uint64_t seed;
	struct row row[ROWS];		/* of this process, those with the highest keys first */
	int rows;
	struct query q;			/* the last one */
	int next;			/* row: no selected one is before it */
	struct row fetched;
	bool has_fetched;
};

static struct row make_row(uint64_t seed, uint32_t id)
{
	uint64_t x = pick(seed, 0, id);

	return (struct row) {
		.id = id,
		.age = 18 + x % 50,
		.dept = (x >> 16) % DEPTS,
		.salary = 1000 + (x >> 32) % 500,	/* several people have the same */
	};
}

static struct query make_query(uint64_t seed, uint32_t number)
{
	uint64_t x = pick(seed, 1, number);
	uint32_t from = 15 + x % 52;

	if (number == QUERIES - 1)	/* selects no row */
		return (struct query) { .number = number, .from = 5, .to = 10 };
	return (struct query) { .number = number, .from = from, .to = from + (x >> 32) % 20 };
}

/* orders rows by salary, and is another one for each */
static uint64_t key(const struct row *r)
{
	return (uint64_t)r->salary << 32 | r->id;
}

static bool fits(const struct query *q, const struct row *r)
{
	return q->from <= r->age && r->age <= q->to;
}

static void print_end(const struct query *q, const char *what, uint64_t k)
{
	if (k != NONE)
		printf("query %u: %s salary %u, of %u\n", q->number, what, (unsigned int)(k >> 32),
		       (unsigned int)k);
}

static void print_answer(const struct query *q, const struct answer *a)
{
	int i;

	printf("query %u: age %u to %u: %llu rows, salaries %llu, by department", q->number, q->from,
	       q->to, (unsigned long long)a->count, (unsigned long long)a->sum);
	for (i = 0; i < DEPTS; i++)
		printf(" %llu", (unsigned long long)a->dept[i]);
	printf("\n");
	print_end(q, "least", a->least);
	print_end(q, "highest", a->most ? a->most : NONE);
	for (i = 0; i < a->n; i++)
		printf("query %u: %d. id %u, age %u, department %u, salary %u\n", q->number, i + 1,
		       a->top[i].id, a->top[i].age, a->top[i].dept, a->top[i].salary);
}

/* figures of the rows that fit */
static struct answer scan(const struct query *q, const struct row *row, int n)
{
	struct answer a = { .least = NONE };
	uint64_t k;

	for (; n--; row++) {
		if (!fits(q, row))
			continue;
		k = key(row);
		a.count++;
		a.sum += row->salary;
		a.dept[row->dept]++;
		if (k < a.least)
			a.least = k;
		if (k > a.most)
			a.most = k;
	}
	return a;
}

static int by_key(const void *a, const void *b)
{
	return key(a) < key(b) ? 1 : -1;
}

static void sequential(uint64_t seed)
{
	struct row all[ROWS];
	struct answer a;
	struct query q;
	int i, k;

	for (i = 0; i < ROWS; i++)
		all[i] = make_row(seed, i);
	qsort(all, ROWS, sizeof(all[0]), by_key);
	for (i = 0; i < QUERIES; i++) {
		q = make_query(seed, i);
		a = scan(&q, all, ROWS);
		for (k = 0; k < ROWS && a.n < TOP; k++)
			if (fits(&q, &all[k]))
				a.top[a.n++] = all[k];
		print_answer(&q, &a);
	}
}

/* go to the next row that fits; its key is in MOST */
static void store_next(struct base *b)
{
	while (b->next < b->rows && !fits(&b->q, &b->row[b->next]))
		b->next++;
	set(&b->a.r, MOST, b->next < b->rows ? key(&b->row[b->next]) : 0);
}

static void begin(struct base *b, const struct query *q)
{
	struct answer a = scan(q, b->row, b->rows);
	struct ring *r = &b->a.r;
	int i;

	b->q = *q;
	set(r, COUNT, a.count);
	set(r, SUM, a.sum);
	set(r, LEAST, a.least);
	for (i = 0; i < DEPTS; i++)
		set(r, DEPT + i, a.dept[i]);
	b->next = 0;
	store_next(b);
	set(r, READY, q->number + 1);
}

static struct row fetch(struct base *b)
{
	struct row row = b->row[b->next++];

	store_next(b);
	return row;
}

static bool hear(void *program, int ms)
{
	struct base *b = program;
	struct pwl_eep m;
	struct query q;
	struct row row;

	if (!collect(&b->a, &m, ms))
		return false;
	switch (m.te) {
	case TE_QUERY:
		take(&m, &q, sizeof(q));
		begin(b, &q);
		break;
	case TE_FETCH:
		row = fetch(b);
		post(&b->a, m.src, TE_ROW, &row, sizeof(row));
		break;
	case TE_ROW:
		take(&m, &b->fetched, sizeof(b->fetched));
		b->has_fetched = true;
		break;
	}
	return true;
}

static struct row fetch_from(struct base *b, uint32_t station)
{
	if (station == b->a.r.addr[b->a.r.place])
		return fetch(b);
	b->has_fetched = false;
	post(&b->a, station, TE_FETCH, NULL, 0);
	while (!b->has_fetched)
		hear(b, 1000);
	return b->fetched;
}

static void query(struct base *b, const struct query *q)
{
	struct ring *r = &b->a.r;
	struct pwl_result best;
	struct answer a = {};
	int i;

	post_others(&b->a, TE_QUERY, q, sizeof(*q));
	begin(b, q);
	await(r, READY, q->number + 1);
	a.count = ask(r, PW_ATON_OP_ADD, COUNT).v1;
	a.sum = ask(r, PW_ATON_OP_ADD, SUM).v1;
	a.least = ask(r, PW_ATON_OP_MIN, LEAST).v1;
	for (i = 0; i < DEPTS; i++)
		a.dept[i] = ask(r, PW_ATON_OP_ADD, DEPT + i).v1;
	printf("# query %u: at %llu stations\n", q->number,
	       (unsigned long long)count(r, COUNT, 1).v2);
	best = ask(r, PW_ATON_OP_MAX, MOST);
	a.most = best.v1;
	for (; a.n < TOP && best.v1; best = ask(r, PW_ATON_OP_MAX, MOST))
		a.top[a.n++] = fetch_from(b, best.v2);
	print_answer(q, &a);
}

int main(int argc, char **argv)
{
	static struct base b;
	struct query q;
	uint32_t i;

	if (!app_start(&b.a, argc, argv, REGS, &b.seed)) {
		sequential(b.seed);
		return 0;
	}
	places(&b.a.r);
	for (i = b.a.r.place; i < ROWS; i += b.a.r.n)
		b.row[b.rows++] = make_row(b.seed, i);
	qsort(b.row, b.rows, sizeof(b.row[0]), by_key);
	for (i = 0; i < QUERIES; i++) {
		q = make_query(b.seed, i);
		if (i % b.a.r.n == b.a.r.place)
			query(&b, &q);
		serve(&b.a, hear, &b);
	}
	app_end(&b.a);
	return 0;
}
